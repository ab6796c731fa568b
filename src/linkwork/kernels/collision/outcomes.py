"""How a search that keeps clear may end, beside the ways that `search_many` has: outcomes are numbered without gaps."""

COLLIDES = 5  # poses reach the goal, and none of those found is free
