"""Statuses of collision-free searches, besides those of `search_many`; they are numbered without gaps."""

COLLIDES = 5  # poses reach the goal, but none of those found is free
