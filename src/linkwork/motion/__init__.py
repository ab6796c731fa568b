"""Clips, keys, splines, blending, tracking, the timeline, contacts, inspection and repair."""
