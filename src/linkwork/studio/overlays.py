"""Overlays that are drawn on demand, as numbers: the workspace of a frame, its manipulability, the centre of mass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..draw.surfaces import outline
from ..explain.workspaces import manipulability, workspace
from ..linkage.mass import center_of_mass
from .scene import Scene

SAMPLES = 3000  # points of a workspace
FLAT = 0.02  # thickness of an ellipsoid where the frame cannot move, over its longest axis
ELLIPSOID = 0.18  # longest half axis of the ellipsoid, over the linkage's size
NEAR = 0.03  # height above the lowest point up to which links touch the ground, over the size


def size_of(scene: Scene) -> float:
    """Return the size of a linkage in its pose [m]."""
    return float(np.linalg.norm(np.ptp(scene.linkage.forward(scene.q).array[:, :3, 3], axis=0))) or 1.0


def cloud(scene: Scene, frame: str) -> dict[str, Any]:
    """Return points of the workspace of a frame."""
    return {"points": workspace(scene.linkage, frame, samples=SAMPLES).points.round(5).tolist()}


def ellipsoid(scene: Scene, frame: str) -> dict[str, Any]:
    """Return the manipulability ellipsoid of a frame: how fast it moves in each direction."""
    from scipy.spatial.transform import Rotation

    linkage, q = scene.linkage, scene.q
    found = manipulability(linkage, q, frame)
    rows = np.flatnonzero(linkage.evaluator.moving_rows(frame)[:3])
    axes = np.zeros((3, len(rows)))
    axes[rows] = found.axes
    basis, _ = np.linalg.qr(axes, mode="complete")
    basis[:, 2] *= np.sign(np.linalg.det(basis))  # right-handed: a rotation
    lengths = np.full(3, FLAT)
    lengths[: len(rows)] = found.singular_values / max(float(found.singular_values[0]), 1e-12)
    radii = ELLIPSOID * size_of(scene) * np.maximum(lengths, FLAT)
    return {
        "center": linkage.forward(q, frame=frame)[:3, 3].tolist(),
        "turn": Rotation.from_matrix(basis).as_quat(scalar_first=True).tolist(),
        "radii": radii.tolist(),
        "axes": (basis * radii).T.tolist(),
    }


def mass(scene: Scene, _: str) -> dict[str, Any]:
    """Return the centre of mass, the point below it, and the outline of the links on the ground."""
    center = center_of_mass(scene.linkage, scene.q)
    points = scene.linkage.forward(scene.q).array[:, :3, 3]
    ground = float(points[:, 2].min())
    standing = points[points[:, 2] < ground + NEAR * size_of(scene)]
    hull = standing[outline(standing[:, :2])]
    along, way = (np.roll(hull, -1, axis=0) - hull).T, (center - hull).T
    inside = len(hull) > 2 and bool((along[0] * way[1] >= along[1] * way[0]).all())  # left of every edge
    return {
        "center": center.tolist(), "foot": [*center[:2].tolist(), ground], "support": hull.tolist(), "inside": inside,
    }  # fmt: skip


OVERLAYS: dict[str, Callable[[Scene, str], dict[str, Any]]] = {"workspace": cloud, "ellipsoid": ellipsoid, "mass": mass}
