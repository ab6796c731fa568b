"""Solves with derivatives, for NumPy arrays; the PyTorch and JAX versions build on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import OptionError
from ..linkage.linkage import Linkage, check_linkage
from ..linkage.poses import PoseLike, start_pose
from ..transforms import FloatArray
from .batch import solve_batch
from .batch_shapes import leading_axes
from .batch_work import prepared_batch
from .chain_targets import as_targets
from .implicit import Implicit
from .options import DerivativeOptions, positive
from .twists import nearest_rotations, pose_change, same_part, same_signs, stepped, twist_of

TIGHT = 1e-8  # tolerance of solves [m, rad]; one Newton step then removes the remaining error
RUNNING = ("threads", "dtype", "device", "closest")  # options of the batch, not of the solver


class Derivative(NamedTuple):
    """Derivative of poses by their targets.

    Attributes:
        matrix: Change of the pose by a twist of its target, shape (..., nq, 6): three columns for the velocity of the
            target's origin, three for its angular velocity, both along the world's axes.
        singular: Whether a direction that the linkage can otherwise follow is damped or lost, near a singular pose or
            at a limit, shape (...).
    """

    matrix: FloatArray
    singular: NDArray[np.bool_]


class Differentiable:
    """Inverse and forward kinematics of a frame with derivatives, as returned by `differentiable`.

    Call it with targets to get poses and whether they reach them, ``q, success = ik(targets, start=q)``, as arrays of
    its library. Arrays of PyTorch and JAX carry gradients; with NumPy, use `derivative`.

    Attributes:
        linkage: The linkage.
        frame: Name of the frame.
        options: Options of `solve_batch`.
    """

    def __init__(
        self, linkage: Linkage, frame: str, *, damping: float = 1e-3, **options: Unpack[DerivativeOptions]
    ) -> None:
        check_linkage(linkage)
        positive("damping", damping)
        if damping >= 1.0:
            raise OptionError(f"damping is a share of the largest singular value, below 1, got {damping!r}.")
        given: Any = {"tolerance": TIGHT, "rotation_tolerance": TIGHT, **options}
        running: Any = {name: given.pop(name) for name in RUNNING if name in given}
        self.linkage, self.frame, self.options = linkage, frame, {**running, **given}
        self.implicit = Implicit(prepared_batch(linkage, frame, given), damping)

    def __call__(self, targets: ArrayLike, *, start: PoseLike | None = None) -> tuple[Any, Any]:
        """Return poses (..., nq) that bring the frame to targets, and whether they do, shape (...).

        Args:
            targets: Poses (..., 4, 4); positions (..., 3) with ``orientation=False``, rotations (..., 3, 3) with
                ``position=False``. Any leading axes. Rotations that are off by less than 1e-3 are replaced by the
                nearest rotation; other matrices fail.
            start: Start pose (nq,), or one for each target: the solution is then near it, and stays on its branch while
                targets move. It has no gradient.
        """
        array = as_targets(np.asarray(targets)[None], self.frame)[0]
        return self.solved(np, array.astype(np.float64), None if start is None else start_pose(self.linkage, start))

    def forward(self, q: PoseLike) -> Any:
        """Return the frame's transforms (..., 4, 4) at poses (..., nq)."""
        return self.linkage.forward(q, frame=self.frame)

    def derivative(self, q: PoseLike) -> Derivative:
        """Return the derivative of poses (..., nq) that reach their targets by these targets, as NumPy arrays.

        Example:
            >>> import linkwork as lw
            >>> arm = lw.models.planar([2, 1])
            >>> ik = lw.differentiable(arm, "tip", orientation=False)
            >>> ik.derivative([0.0, 1.5707963]).matrix[:, :2].round(3).tolist()
            [[0.0, 0.5], [-1.0, -0.5]]
        """
        poses = start_pose(self.linkage, q)
        velocities, singular = self.implicit(np, poses, *self._kinematics(poses))
        by_twist = pose_change(np, self.linkage.table, poses[..., None, :], velocities.mT)
        return Derivative(by_twist.mT, singular)

    def solved(self, xp: Any, targets: Any, begin: Any, **options: Any) -> tuple[Any, Any]:
        """Return poses and successes for arrays of `numpy`, or of `torch` on a GPU; `begin` is one start or one each.

        One Newton step removes the error that tolerances leave, so poses follow the smallest motions of targets.
        """
        lead, every = self.lead(targets.shape), {**self.options, **options}
        own = tuple(targets.shape[len(lead) :])
        aims = nearest_rotations(xp, targets, own)
        rows: Any = aims if lead else aims[None]
        found = solve_batch(self.linkage, self.frame, rows, start=begin, progress=False, **every).reshaped(lead)
        q, success = found.q, xp.asarray(found.success) != 0
        there, jacobian = self._kinematics(q)
        now = same_part(there, own)
        change = xp.where(success[(..., *[None] * len(own))], aims - now, 0.0)
        velocities = self.implicit(xp, q, there, jacobian)[0] @ twist_of(xp, now, change, own)[..., None]
        near = stepped(xp, self.linkage.table, q, velocities[..., 0])
        near = near if begin is None else same_signs(xp, self.linkage.table, near, begin)
        return self.implicit.clamped(xp, near), success

    def lead(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Return the leading axes of targets of a shape."""
        return leading_axes(shape, bool(self.options.get("orientation", True)))

    def _kinematics(self, q: Any) -> tuple[Any, Any]:
        """Return the frame's transforms and Jacobians at poses; for poses on a GPU, on the GPU."""
        return self.linkage.forward(q, frame=self.frame), self.linkage.jacobian(q, self.frame)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.frame!r} of {self.linkage.name!r}>"
