"""Motions of people for the tests."""

from __future__ import annotations

from pathlib import Path

import pytest

import linkwork as lw

BVH = Path(__file__).parents[2] / "shared" / "data" / "bvh"


def recorded(name: str = "walk01") -> lw.Clip:
    path = BVH / f"{name}.bvh"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    return lw.load_clip(path)
