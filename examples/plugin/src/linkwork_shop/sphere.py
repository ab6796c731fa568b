"""A goal: a frame at a distance from a point, such as a camera that circles what it films."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

import linkwork as lw


@dataclass(frozen=True, eq=False)
class OnSphere(lw.Goal):
    """Keep a frame's origin on a sphere.

    Args:
        frame: Name of the frame.
        center: Of the sphere [m].
        radius: Of the sphere [m].
    """

    units = (("m", 1),)  # one row of error, in metres
    about = ("frame",)  # the field that names a frame
    fixed = ("center", "radius")  # what else two goals must share to stand for each other in a prepared problem

    frame: str
    center: Any = field(default=(0.0, 0.0, 0.0), kw_only=True)
    radius: float = field(default=1.0, kw_only=True)

    def error(self, linkage: lw.Linkage, q: Any) -> Any:
        """Return how much farther from the center the frame should be, shape (..., 1)."""
        return self.radius - np.linalg.norm(self._away(linkage, q), axis=-1, keepdims=True)

    def jacobian(self, linkage: lw.Linkage, q: Any) -> Any:
        """Return how joints bring it farther away, shape (..., 1, nv)."""
        away = self._away(linkage, q)
        outward = away / np.maximum(np.linalg.norm(away, axis=-1, keepdims=True), 1e-12)
        return outward[..., None, :] @ linkage.jacobian(q, self.frame)[..., :3, :]

    def _away(self, linkage: lw.Linkage, q: Any) -> Any:
        return linkage.forward(q, frame=self.frame)[..., :3, 3] - np.asarray(self.center, dtype=float)
