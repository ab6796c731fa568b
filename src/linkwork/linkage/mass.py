"""Mass and centre of mass of a linkage, from the links' inertia or from the volume of their shapes.

All functions broadcast over leading axes of poses.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import LinkageError, listed
from ..transforms import FloatArray, as_vector, cross_matrix, read_only
from .geometry import Box, Capsule, Cylinder, Shape, Sphere
from .poses import PoseLike
from .tree import Link

if TYPE_CHECKING:
    from .linkage import Linkage

_LOG = logging.getLogger("linkwork")
DENSITY = 1000.0  # assumed density of shapes if the model has no masses [kg/m³]: that of water, close to that of people

VOLUMES: dict[type[Shape], Callable[[Any], float]] = {
    Box: lambda box: math.prod(box.size),
    Sphere: lambda ball: 4.0 / 3.0 * math.pi * ball.radius**3,
    Cylinder: lambda rod: math.pi * rod.radius**2 * rod.length,
    Capsule: lambda rod: math.pi * rod.radius**2 * (rod.length + 4.0 / 3.0 * rod.radius),
}


class Masses:
    """The masses of a linkage, packed: only links that have mass.

    Attributes:
        links: Names of the links that have a mass.
        masses: Their masses [kg], shape (n,).
        centers: Their centres of mass in their own axes [m], shape (n, 3).
        total: The total mass [kg].
        by_volume: Whether the model has no masses, so that they were computed from the shapes.
    """

    def __init__(self, linkage: Linkage) -> None:
        parts = [link.inertia for link in linkage.nodes]
        if not all(part is None or part.known for part in parts):
            raise _not_known(linkage)
        rows = [(0.0, np.zeros(3)) if part is None else (part.mass, part.center) for part in parts]
        self.by_volume = not any(mass for mass, _ in rows)
        if self.by_volume:
            rows = [_by_volume(link) for link in linkage.nodes]
        heavy = [k for k, (mass, _) in enumerate(rows) if mass > 0.0]
        if not heavy:
            raise LinkageError(
                f"linkage {linkage.name!r} has no mass: none of its links has an Inertia or a solid shape "
                f"({', '.join(shape.kind for shape in VOLUMES)}); give links an Inertia(mass, center)."
            )
        self.linkage = linkage
        self.links = tuple(linkage.links[k] for k in heavy)
        self.masses = read_only(np.array([rows[k][0] for k in heavy]))
        self.centers = read_only(np.array([rows[k][1] for k in heavy]))
        self.total = float(self.masses.sum())
        self._index, self._shares = np.array(heavy), self.masses / self.total

    def center(self, q: PoseLike) -> FloatArray:
        """Return the centre of mass in the world, shape (..., 3)."""
        points = self._points(q)
        result: FloatArray = np.einsum("i,...ij->...j", self._shares, points[0] + points[1])
        return result

    def jacobian(self, q: PoseLike) -> FloatArray:
        """Return the Jacobian of the centre of mass, shape (..., 3, nv)."""
        arms = cross_matrix(self._points(q)[1])
        result = np.zeros((*arms.shape[:-3], 3, self.linkage.nv))
        for k, link in enumerate(self.links):
            moving = self.linkage.jacobian(q, link)
            result += self._shares[k] * (moving[..., :3, :] - arms[..., k, :, :] @ moving[..., 3:, :])
        return result

    def _points(self, q: PoseLike) -> tuple[FloatArray, FloatArray]:
        """Return the origins of the links, and the vectors from there to their centres of mass, in world axes."""
        frames = self.linkage.forward(q).array[..., self._index, :, :]
        return frames[..., :3, 3], np.einsum("...nij,nj->...ni", frames[..., :3, :3], self.centers)


def masses(linkage: Linkage) -> Masses:
    """Return the packed masses of a linkage; they are cached on it.

    Raises:
        LinkageError: If no link has a mass or a solid shape.
    """
    return linkage.cache.get("masses", None, lambda: Masses(linkage))


def total_mass(linkage: Linkage) -> float:
    """Return the mass of a linkage [kg], from the volume of its shapes if no link has a mass.

    Example:
        >>> import linkwork as lw
        >>> round(total_mass(lw.Linkage([lw.Link("brick", lw.Box((0.24, 0.115, 0.05)))])), 2)
        1.38
    """
    return masses(linkage).total


def center_of_mass(linkage: Linkage, q: PoseLike) -> FloatArray:
    """Return the centre of mass in the world for poses (..., nq), shape (..., 3) [m].

    Example:
        >>> import linkwork as lw
        >>> center_of_mass(lw.models.human(), "stand").round(2).tolist()
        [0.0, 0.0, 0.99]
    """
    return masses(linkage).center(q)


def center_of_mass_jacobian(linkage: Linkage, q: PoseLike) -> FloatArray:
    """Return the Jacobian of the centre of mass for poses (..., nq), shape (..., 3, nv)."""
    return masses(linkage).jacobian(q)


def gravity_torques(linkage: Linkage, q: PoseLike, gravity: ArrayLike = (0.0, 0.0, -9.81)) -> FloatArray:
    """Return the joint efforts that hold poses (..., nq) against gravity, (..., nv); see `Linkage.gravity_torques`.

    They are the gradient of the potential energy, ``-mass * jacobian(center of mass).T @ gravity``.
    """
    fall = as_vector(gravity, "gravity")
    weights = weighed(linkage)
    result: FloatArray = np.einsum("i,...ij->...j", -weights.total * fall, weights.jacobian(q))
    return result


def weighed(linkage: Linkage) -> Masses:
    """Return the masses for gravity; warn once if they were computed from the volume of shapes."""
    weights = masses(linkage)
    if weights.by_volume:
        linkage.cache.get("said", "gravity of volumes", lambda: _warn_by_volume(weights))
    return weights


def _warn_by_volume(weights: Masses) -> bool:
    name, total = weights.linkage.name, weights.total
    text = "linkage %r names no mass: its shapes are weighed as water, %.3g kg; give links an Inertia(mass, center)."
    _LOG.warning(text, name, total)
    return True


def _not_known(linkage: Linkage) -> LinkageError:
    """Return the error that lists the links whose mass could not be read, and the mass of the others."""
    parts = [(link.name, link.inertia) for link in linkage.nodes if link.inertia is not None]
    names = [name for name, part in parts if not part.known]
    known = sum(part.mass for _, part in parts)
    fix = f"replace(links={{{names[0]!r}: {{'inertia': Inertia(mass, center)}}}}) gives a link its mass"
    return LinkageError(
        f"the mass of linkage {linkage.name!r} is not known: {len(names)} of its {len(parts)} links with a mass "
        f"({listed(names)}) weigh something that could not be read, such as a missing mesh; {known:.4g} kg "
        f"are known. Load it where its meshes are found, or give them: {fix}."
    )


def _by_volume(link: Link) -> tuple[float, FloatArray]:
    """Return mass and centre from visual shapes, or from collision shapes if none is solid; overlaps count twice."""
    for role in ("visual", "collision"):
        solid = [v for v in link.visuals if v.role == role and type(v.shape) in VOLUMES]
        if solid:
            weights = np.array([DENSITY * VOLUMES[type(v.shape)](v.shape) for v in solid])
            places = np.array([(link.matrix @ v.placement)[:3, 3] for v in solid])
            return float(weights.sum()), weights @ places / weights.sum()
    return 0.0, np.zeros(3)
