"""A goal: a frame at a given distance from a point, such as a camera that circles an object."""

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
        center: Center of the sphere [m].
        radius: Radius of the sphere [m].
    """

    units = (("m", 1),)  # one row of error, in metres
    about = ("frame",)  # the field that names a frame
    fixed = ("center", "radius")  # must be equal in goals that replace each other in a prepared problem

    frame: str
    center: Any = field(default=(0.0, 0.0, 0.0), kw_only=True)
    radius: float = field(default=1.0, kw_only=True)

    def error(self, linkage: lw.Linkage, q: Any) -> Any:
        """Return the radius minus the distance from the center, shape (..., 1)."""
        return self.radius - np.linalg.norm(self._away(linkage, q), axis=-1, keepdims=True)

    def jacobian(self, linkage: lw.Linkage, q: Any) -> Any:
        """Return the derivative of the distance, shape (..., 1, nv)."""
        away = self._away(linkage, q)
        outward = away / np.maximum(np.linalg.norm(away, axis=-1, keepdims=True), 1e-12)
        return outward[..., None, :] @ linkage.jacobian(q, self.frame)[..., :3, :]

    def _away(self, linkage: lw.Linkage, q: Any) -> Any:
        return linkage.forward(q, frame=self.frame)[..., :3, 3] - np.asarray(self.center, dtype=float)
