"""Distances between convex pieces of links and obstacles, and which of many are near."""
