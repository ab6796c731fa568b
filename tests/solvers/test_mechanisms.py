"""Textbook mechanisms: assembly, driving and mobility agree with closed forms at every size."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.goals import closings
from mechanisms import PLANE, Mechanism
from mechanisms_in_space import SPACE

SIZES = (1e-4, 1.0, 250.0, 1e5)
ALL = PLANE | SPACE


def first_poses(made: Mechanism) -> tuple[lw.Assemblies | None, list[np.ndarray]]:
    """Return the assembly modes of a mechanism, and a pose for each one with a closed form."""
    linkage = made.linkage
    values = {name: float(path[0]) for name, path in made.drivers.items()}
    if made.hints:
        return None, [lw.close(linkage, linkage.pose(values | dict(hint)), keep=list(values)) for hint in made.hints]
    found = lw.assemble(linkage, start=linkage.pose(values), keep=list(values))
    poses = []
    for way in made.ways:
        off = [away(linkage, q, {name: points[0] for name, points in way.items()}) for q in found]
        assert min(off) < 1e-9, f"closed form not among {found}: {min(off):.3g} off"
        poses.append(found[int(np.argmin(off))])
    return found, poses


def away(linkage: lw.Linkage, q: np.ndarray, known: dict[str, np.ndarray]) -> float:
    """Return the largest position error of frames, relative to the mechanism's size."""
    frames = linkage.forward(q)
    return max(float(np.abs(frames[name][..., :3, 3] - at).max()) for name, at in known.items()) / linkage.loop_size


def driven(made: Mechanism, q: np.ndarray) -> np.ndarray:
    """Return the poses of a mechanism along the values of its drivers."""
    linkage, names = made.linkage, list(made.drivers)
    if len(names) == 1:
        return lw.drive(linkage, names[0], made.drivers[names[0]], start=q).poses
    poses = []
    for values in zip(*made.drivers.values(), strict=True):
        q = lw.close(linkage, linkage.pose(dict(zip(names, values, strict=True)), base=q), keep=names)
        poses.append(q)
    return np.array(poses)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", ALL)
def test_it_goes_where_its_closed_form_says(name: str, size: float) -> None:
    made = ALL[name](size)
    linkage = made.linkage
    found, starts = first_poses(made)
    if made.modes is not None and found is not None:
        assert len(found) == made.modes
    for way, start in zip(made.ways, starts, strict=True):
        poses = driven(made, start)
        gaps = max(float(np.abs(goal.error(linkage, poses)).max()) for goal in closings(linkage))
        assert gaps < 1e-12 * max(linkage.loop_size, 1.0)
        assert away(linkage, poses, dict(way)) < 1e-9


@pytest.mark.parametrize("name", ALL)
def test_it_moves_as_freely_as_the_book_says(name: str) -> None:
    made = ALL[name](1.0)
    assert lw.degrees_of_freedom(made.linkage) == made.degrees
