"""Calls with arguments of wrong types and values; each must raise an error of linkwork with a clear message."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import linkwork as lw

NONSENSE: list[Any] = [None, "", "no", float("nan"), float("inf"), -1, 10**9, [], {}, object(), b"x", [[]], ()]


def calls(linkage: lw.Linkage, what: Any) -> list[Callable[[], Any]]:
    """Return calls with a planar arm of two joints that all get the same wrong argument."""
    return [
        lambda: lw.solve(linkage, what),
        lambda: lw.solve(linkage, lw.Reach("tip", position=what)),
        lambda: lw.solve(linkage, lw.Reach("tip", position=(1, 1)), start=what),
        lambda: lw.solve(linkage, lw.Reach("tip", position=(1, 1)), method=what),
        lambda: lw.solve(linkage, lw.Reach(what, position=(1, 1))),
        lambda: lw.solve_batch(linkage, what, np.eye(4)[None]),
        lambda: lw.solve_batch(linkage, "tip", what, progress=False),
        lambda: lw.prepare(linkage, what),
        lambda: lw.prepare(linkage, "tip", orientation=False)(what),
        lambda: linkage.forward(what),
        lambda: linkage.forward(linkage.neutral(), frame=what),
        lambda: linkage.jacobian(what, "tip"),
        lambda: linkage.pose(what),
        lambda: linkage.freeze(what, at=0.0),
        lambda: linkage.freeze("j1", at=what),
        lambda: linkage.add_frame(what, "link1"),
        lambda: lw.models.planar(what),
        lambda: lw.interpolate(linkage, what),
        lambda: lw.track(linkage, what),
        lambda: lw.load(what),
        lambda: lw.loads("", what),
        lambda: lw.Revolute(what),
        lambda: lw.Box(what),
        lambda: lw.World(what),
        lambda: lw.from_dh(what),
    ]
