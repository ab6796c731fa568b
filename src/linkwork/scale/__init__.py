"""Solve datasets of goals and retarget folders of motions, with threads, GPUs or a cluster."""
