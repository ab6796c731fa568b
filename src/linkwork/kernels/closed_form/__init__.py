"""Closed forms of arms: one file for each family, all made of a few subproblems; for numbers, lanes and GPUs."""
