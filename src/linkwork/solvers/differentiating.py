"""The public way to solves with derivatives, for NumPy, PyTorch and JAX."""

from __future__ import annotations

from typing import Literal, Unpack

from ..linkage.linkage import Linkage
from .differentiable import Differentiable
from .options import DerivativeOptions, one_of

LIBRARIES = ("numpy", "torch", "jax")


def differentiable(
    linkage: Linkage,
    frame: str,
    *,
    library: Literal["numpy", "torch", "jax"] = "numpy",
    damping: float = 1e-3,
    **options: Unpack[DerivativeOptions],
) -> Differentiable:
    """Return inverse kinematics with derivatives by the target: ``q, success = ik(targets, start=q)``.

    Poses move with their targets by the implicit function theorem, ``dq = J^+ t`` for a twist t: for redundant arms the
    shortest motion, without joints that are at a limit, damped near singular poses. Poses that are not at their targets
    have derivative zero. ``ik.forward(q)`` is differentiable too.

    Args:
        linkage: The linkage.
        frame: Name of the frame that targets are for.
        library: Whose arrays it takes and returns: ``"torch"`` and ``"jax"`` have gradients, forward mode and vmap;
            with ``"numpy"``, ``ik.derivative(q)`` is the matrix.
        damping: Singular values of the Jacobian, angles weighed with a quarter of the linkage's length, below this
            share of the largest are damped.
        **options: As in `solve_batch`: position, orientation, free, limits, joints, restarts, seed, avoid, threads,
            dtype, device, closest; tolerance and rotation_tolerance, both 1e-9 by default: a looser answer does not
            follow small motions of its target.

    Raises:
        MissingExtraError: If the library is not installed.
        GoalError: If the frame hangs on loops, cones or curved couplings, or does not move.

    Example:
        >>> import linkwork as lw
        >>> arm = lw.models.planar([2, 1])
        >>> ik = lw.differentiable(arm, "tip", orientation=False)
        >>> q, success = ik([[2.0, 1.0, 0.0], [1.0, 1.0, 0.0]])
        >>> success.all(), ik.derivative(q).matrix.shape
        (np.True_, (2, 2, 6))
    """
    one_of("library", library, LIBRARIES)
    if library == "torch":
        from .torch_gradients import TorchDifferentiable

        return TorchDifferentiable(linkage, frame, damping=damping, **options)
    if library == "jax":
        from .jax_gradients import JaxDifferentiable

        return JaxDifferentiable(linkage, frame, damping=damping, **options)
    return Differentiable(linkage, frame, damping=damping, **options)
