"""Feet of motions that are blended and joined stay where they stand; contacts can be edited."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import captures
import numpy as np
import pytest

import linkwork as lw
from linkwork.motion import footing
from linkwork.motion.checks import runs
from linkwork.motion.contacts import Contact, mask_of


def slide(clip: lw.Clip, masks: dict[str, np.ndarray]) -> float:
    """Return how far the parts of a motion get from where they stand, on the ground [m]."""
    farthest = 0.0
    for name, mask in masks.items():
        places = clip.forward(frame=name)[:, :2, 3]
        for first, last in runs(mask):
            inside = places[first : last + 1]
            farthest = max(farthest, float(np.linalg.norm(inside - np.median(inside, axis=0), axis=1).max()))
    return farthest
