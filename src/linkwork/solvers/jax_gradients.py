"""Differentiable solves for JAX: JAX calls the compiled solver on the CPU through callbacks.

`jax` is loaded on first use. The derivative rules use `jax.custom_jvp`, which JAX transposes for gradients; they work
under `jit`, `vmap`, `grad`, `jacfwd` and `jacrev`.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any, NamedTuple, Unpack

import numpy as np

from ..errors import OptionError, require
from ..linkage.linkage import Linkage
from ..linkage.poses import PoseLike, start_pose
from ..transforms import FloatArray
from .differentiable import Differentiable
from .options import DerivativeOptions
from .twists import change_of, twist_of, velocity_of


class JaxDifferentiable(Differentiable):
    """Inverse and forward kinematics of a frame as JAX functions."""

    def __init__(
        self, linkage: Linkage, frame: str, *, damping: float = 1e-3, **options: Unpack[DerivativeOptions]
    ) -> None:
        require("jax", "gradients of JAX")
        super().__init__(linkage, frame, damping=damping, **options)

    def __call__(self, targets: Any, *, start: PoseLike | None = None) -> tuple[Any, Any]:
        """Return poses (..., nq) and whether they reach their targets, shape (...), as JAX arrays."""
        import jax.numpy as jnp

        aims = jnp.asarray(targets)
        if not jnp.issubdtype(aims.dtype, jnp.floating):
            aims = aims.astype(jnp.result_type(float))
        return tuple(functions().solve(self, aims, self._start(aims, start)))

    def forward(self, q: PoseLike) -> Any:
        """Return the frame's transforms (..., 4, 4) at poses (..., nq)."""
        import jax.numpy as jnp

        return functions().forward(self, jnp.asarray(q))

    def _start(self, targets: Any, start: Any) -> Any:
        """Return a start for each target; None without a start."""
        import jax
        import jax.numpy as jnp

        if start is None:
            return None
        pose = start if isinstance(start, jax.Array) else jnp.asarray(start_pose(self.linkage, start))
        if tuple(pose.shape[-1:]) != (self.linkage.nq,):
            raise OptionError(f"start has shape (..., {self.linkage.nq}), got {tuple(pose.shape)}.")
        lead = self.lead(targets.shape)
        return jnp.broadcast_to(jax.lax.stop_gradient(pose.astype(targets.dtype)), (*lead, self.linkage.nq))

    # Callbacks, with arrays that NumPy can read

    def solved_arrays(self, targets: Any, start: Any = None) -> tuple[FloatArray, Any]:
        """Return poses and successes."""
        aims, begin = np.asarray(targets), None if start is None else np.asarray(start, np.float64)
        q, success = self.solved(np, aims.astype(np.float64), begin)
        return q.astype(aims.dtype), success

    def matrices(self, q: Any) -> FloatArray:
        """Return the derivatives of poses by the twists of their targets."""
        poses = np.asarray(q)
        return self.derivative(poses).matrix.astype(poses.dtype)

    def frames(self, q: Any) -> FloatArray:
        """Return the frame's transforms at poses."""
        poses = np.asarray(q)
        return self.linkage.forward(poses, frame=self.frame).astype(poses.dtype)

    def jacobians(self, q: Any) -> FloatArray:
        """Return the frame's Jacobians at poses."""
        poses = np.asarray(q)
        return self.linkage.jacobian(poses, self.frame).astype(poses.dtype)


class Functions(NamedTuple):
    """Differentiable functions: poses by targets, and frames by poses."""

    solve: Any
    forward: Any


@cache
def functions() -> Functions:
    """Return the functions, created on first use."""
    return Functions(_solve_function(), _forward_function())


def _solve_function() -> Any:
    import jax
    import jax.numpy as jnp

    @partial(jax.custom_jvp, nondiff_argnums=(0,))
    def solve(ik: JaxDifferentiable, targets: Any, start: Any) -> tuple[Any, Any]:
        lead = ik.lead(targets.shape)
        shapes = jax.ShapeDtypeStruct((*lead, ik.linkage.nq), targets.dtype), jax.ShapeDtypeStruct(lead, jnp.bool_)
        given = (targets,) if start is None else (targets, start)
        q, success = _called(ik.solved_arrays, shapes, *given)
        return q, success

    @solve.defjvp  # type: ignore[untyped-decorator]
    def changed(ik: JaxDifferentiable, given: Any, changes: Any) -> tuple[Any, Any]:
        targets, start = given
        q, success = solve(ik, targets, start)
        own = tuple(targets.shape[len(success.shape) :])
        aims = jnp.where(success[(..., *[None] * len(own))], targets, 0.0)  # missed targets may not be finite
        twists = jnp.where(success[..., None], twist_of(jnp, aims, changes[0], own), 0.0)
        matrices = _called(ik.matrices, jax.ShapeDtypeStruct((*q.shape, 6), q.dtype), q)
        moved = (matrices @ twists[..., None])[..., 0]
        return (q, success), (moved, np.zeros(success.shape, jax.dtypes.float0))

    return solve


def _forward_function() -> Any:
    import jax
    import jax.numpy as jnp

    @partial(jax.custom_jvp, nondiff_argnums=(0,))
    def forward(ik: JaxDifferentiable, q: Any) -> Any:
        return _called(ik.frames, jax.ShapeDtypeStruct((*q.shape[:-1], 4, 4), q.dtype), q)

    @forward.defjvp  # type: ignore[untyped-decorator]
    def changed(ik: JaxDifferentiable, given: Any, changes: Any) -> tuple[Any, Any]:
        (q,), (change,) = given, changes
        there = forward(ik, q)
        jacobians = _called(ik.jacobians, jax.ShapeDtypeStruct((*q.shape[:-1], 6, ik.linkage.nv), q.dtype), q)
        velocities = velocity_of(jnp, ik.linkage.table, q, change)
        return there, change_of(jnp, there, (jacobians @ velocities[..., None])[..., 0], (4, 4))

    return forward


def _called(function: Any, shapes: Any, *given: Any) -> Any:
    """Return the result of a function of NumPy arrays; it takes any leading axes, so also those of `vmap`."""
    import jax

    return jax.pure_callback(function, shapes, *given, vmap_method="broadcast_all")
