"""`Dexterity`: stay away from singular poses, as far as the other goals allow."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import GoalError
from ..linkage.linkage import Linkage
from ..linkage.poses import random_pose
from ..transforms import FloatArray, as_number
from .base import Edges, Goal, metres_per_radian, reading
from .joint_goal import velocities_of

ROWS = {"position": range(3), "orientation": range(3, 6), "both": range(6)}
MEASURES = ("manipulability", "condition")
PROBES = 256  # random poses; the best measure among them is scaled to one
STILL = 1e-12  # smallest change that counts as a motion [m, rad]
FLAT = 1e-12  # lower bound of singular values, as a share of the largest


class Counted(NamedTuple):
    """Data of a Dexterity goal for a linkage: rows and velocities that count, weights of rows, the best measure."""

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    weights: FloatArray
    best: float


@dataclass(frozen=True, eq=False)
class Dexterity(Goal):
    """Keep a frame able to move in every direction: prefer a dexterous pose among those that meet the other goals.

    It is a wish: it has a lower priority than the others and does not affect success, unless `priority` and `tolerance`
    are given. With a `Reach` of higher priority, a redundant arm uses its null space, such as the swivel of its elbow.

    Args:
        frame: Name of the frame.
        rows: Velocities to measure: of its ``"position"``, its ``"orientation"`` or ``"both"``; a radian counts as a
            quarter of the linkage's length. Directions in which no joint ever moves it are left out.
        measure: ``"manipulability"``, Yoshikawa's ``sqrt(det(J J^T))``, the product of the singular values, as a share
            of the best of some random poses; or ``"condition"``, the smallest singular value over the largest.
        enough: The measure at which the error is zero. One is the best for "condition", and about the best for
            "manipulability".
        joints: Names of the joints that count; by default all that move the frame.

    Example:
        >>> import linkwork as lw
        >>> arm = lw.models.planar([1, 1])
        >>> lw.Dexterity("tip", measure="condition", rows="position").error(arm, np.zeros(2)).tolist()
        [1.0]
    """

    units = (("rad", 1),)
    about = ("frame",)
    fixed = ("rows", "measure", "joints")

    frame: str
    rows: str = field(default="both", kw_only=True)
    measure: str = field(default="manipulability", kw_only=True)
    enough: float = field(default=1.0, kw_only=True)
    joints: Any = field(default=None, kw_only=True)
    tolerance: Any = field(default=math.inf, kw_only=True)
    priority: int = field(default=1, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, known in (("rows", ROWS), ("measure", MEASURES)):
            if getattr(self, name) not in known:
                what = f"{name} of the dexterity of {self.frame!r}"
                raise GoalError(f"{what} is one of {', '.join(map(repr, known))}, got {getattr(self, name)!r}.")
        with reading:
            enough = as_number(self.enough, f"enough dexterity of {self.frame!r}")
        if enough <= 0.0:
            raise GoalError(f"enough dexterity of {self.frame!r} is above zero, got {enough:g}.")
        joints = self.joints
        if joints is not None:
            names = (joints,) if isinstance(joints, str) or not isinstance(joints, Iterable) else tuple(joints)
            if not names:
                raise GoalError(f"the dexterity of {self.frame!r} counts at least one joint; leave joints out for all.")
            joints = names
        self._set(enough=enough, joints=joints)

    def _counted(self, linkage: Linkage) -> Counted:
        """Return the rows and columns that count, and the best measure; cached on the linkage."""
        key = (self.frame, self.rows, self.measure, self.joints)
        return linkage.cache.get("dexterity", key, lambda: self._found(linkage))

    def _found(self, linkage: Linkage) -> Counted:
        poses = random_pose(linkage, 0, PROBES)
        largest = np.abs(linkage.jacobian(poses, self.frame)).max(axis=0)
        asked = np.array(ROWS[self.rows])
        counted: Iterable[int] = range(linkage.nv)
        if self.joints is not None:
            counted = [v for name in self.joints for v in velocities_of(linkage, name, plain=False)]
        columns = np.array(sorted({v for v in counted if largest[asked, v].max() > STILL}), np.int64)
        rows = asked[largest[np.ix_(asked, columns)].max(axis=1, initial=0.0) > STILL]
        if not len(columns) or not len(rows):
            what = "position or the orientation" if self.rows == "both" else self.rows
            raise GoalError(f"none of the joints that count changes the {what} of frame {self.frame!r}.")
        weights = np.where(rows < 3, 1.0, metres_per_radian(linkage))
        found = Counted(rows, columns, weights, 1.0)
        if self.measure == "condition":
            return found
        best = float(np.prod(self._ellipsoid(linkage, poses, found)[1], axis=-1).max())
        return found._replace(best=max(best, 1e-300))

    def _ellipsoid(self, linkage: Linkage, q: FloatArray, known: Counted) -> tuple[FloatArray, ...]:
        """Return the singular value decomposition of the weighted Jacobian of the selected rows and columns."""
        jacobian = linkage.jacobian(q, self.frame)[..., known.rows, :][..., known.columns]
        return tuple(np.linalg.svd(jacobian * known.weights[:, None], full_matrices=False))

    def value(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the measure at poses (..., nq), in the scale of `enough`, shape (...)."""
        known = self._counted(linkage)
        _, sigma, _ = self._ellipsoid(linkage, q, known)
        if self.measure == "condition":
            return np.asarray(sigma[..., -1] / np.maximum(sigma[..., 0], 1e-300))
        return np.asarray(sigma.prod(axis=-1) / known.best)

    def error(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return `enough` minus the measure; zero if the measure is larger."""
        return np.maximum(self.enough - self.value(linkage, q), 0.0)[..., None]

    def jacobian(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the rates at which velocities increase the measure; zero if it is at least `enough`."""
        poses = np.asarray(q, np.float64)
        there = self.value(linkage, poses) >= self.enough
        return np.where(there[..., None, None], 0.0, self._rate(linkage, poses))

    def edges(self, linkage: Linkage, q: FloatArray) -> Edges:
        """Return how far the measure is above `enough`, and the rates at which velocities reduce this."""
        room = (self.value(linkage, q) - self.enough)[..., None]
        return Edges(np.where(room >= 0.0, room, np.inf), -self._rate(linkage, np.asarray(q, np.float64)))

    def _rate(self, linkage: Linkage, poses: FloatArray) -> FloatArray:
        """Return the rates of the measure, shape (..., 1, nv).

        A singular value changes by ``u^T J' v``, with its singular vectors u and v, and J' from `Linkage.jacobian_dot`.
        """
        known = self._counted(linkage)
        U, sigma, Vt = self._ellipsoid(linkage, poses, known)
        floor = np.maximum(sigma, FLAT * sigma[..., :1])
        if self.measure == "condition":
            shares, last = np.zeros_like(sigma), np.maximum(sigma[..., 0], 1e-300)
            shares[..., -1] += 1.0 / last
            shares[..., 0] -= sigma[..., -1] / last**2
        else:
            shares = floor.prod(axis=-1, keepdims=True) / floor / known.best
        along = (U * shares[..., None, :]) @ Vt * known.weights[:, None]
        turning = linkage.jacobian_dot(poses[..., None, :], np.eye(linkage.nv), self.frame)
        changes = turning[..., known.rows, :][..., known.columns]
        rate: FloatArray = (changes * along[..., None, :, :]).sum(axis=(-2, -1))[..., None, :]
        return rate
