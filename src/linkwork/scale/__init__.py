"""Datasets of goals and folders of motions: threads, a graphics card, a cluster."""
