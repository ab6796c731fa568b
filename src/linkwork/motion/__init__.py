"""Motions: clips, keys, splines, blending, tracking, timelines, contacts, inspection and repair."""
