"""Closed forms of arms: one file a family, all made of a few subproblems; for numbers, lanes and graphics cards."""
