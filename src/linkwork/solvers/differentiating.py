"""The public function for solves with derivatives, for NumPy, PyTorch and JAX."""

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

    Derivatives follow from the implicit function theorem, ``dq = J^+ t`` for a twist t of the target: the shortest
    motion of redundant arms, without joints that are at a limit, damped near singular poses. Poses that miss their
    targets have derivative zero. ``ik.forward(q)`` is differentiable too.

    Args:
        linkage: The linkage.
        frame: Name of the frame that targets are for.
        library: Library of the arrays: ``"torch"`` and ``"jax"`` have gradients, forward mode and vmap; with
            ``"numpy"``, ``ik.derivative(q)`` returns the matrix.
        damping: Share of the Jacobian's largest singular value below which singular values are damped; angles are
            weighted with a quarter of the linkage's length.
        **options: As in `solve_batch`: position, orientation, free, limits, joints, restarts, seed, avoid, threads,
            dtype, device, closest; tolerance and rotation_tolerance, both 1e-8 by default: with larger tolerances,
            poses do not follow small motions of their targets.

    Raises:
        MissingExtraError: If the library is not installed.
        GoalError: If the frame depends on loops, cones or curved couplings, or does not move.

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
