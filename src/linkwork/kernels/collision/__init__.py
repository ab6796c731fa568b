"""Distances between convex pieces of links and obstacles, and searches for near pairs."""
