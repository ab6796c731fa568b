"""Fixtures of the tests of files."""

from __future__ import annotations

from pathlib import Path

import pytest

from robots import ODD, ROBOTS, SHIPPED, shipped


@pytest.fixture(params=ROBOTS)
def robot(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return the file of a robot, one after another."""
    if request.param in SHIPPED:
        return shipped(request.param)
    path = tmp_path / "odd.URDF"  # a suffix of any case
    path.write_bytes(ODD.encode())
    return path
