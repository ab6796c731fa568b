"""Differentiable solves for PyTorch: CPU tensors are solved on the CPU, GPU tensors stay on the GPU.

`torch` is loaded on first use. The differentiable functions are `torch.autograd.Function` classes, with rules for
gradients, forward mode and `torch.func.vmap`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple, Unpack

import numpy as np

from ..errors import DeviceError, OptionError, require
from ..kernels.cards import at_card
from ..linkage.linkage import Linkage
from ..linkage.poses import PoseLike, start_pose
from .differentiable import Differentiable
from .options import DerivativeOptions
from .twists import (
    change_of,
    pose_change,
    pose_gradient,
    target_gradient,
    twist_gradient,
    twist_of,
    velocity_gradient,
    velocity_of,
)


class TorchDifferentiable(Differentiable):
    """Inverse and forward kinematics of a frame as PyTorch functions."""

    def __init__(
        self, linkage: Linkage, frame: str, *, damping: float = 1e-3, **options: Unpack[DerivativeOptions]
    ) -> None:
        require("torch", "gradients of PyTorch")
        super().__init__(linkage, frame, damping=damping, **options)

    def __call__(self, targets: Any, *, start: PoseLike | None = None) -> tuple[Any, Any]:
        """Return poses (..., nq) and whether they reach their targets, shape (...), on the device of the targets."""
        import torch

        aims = torch.as_tensor(targets)
        if not aims.is_floating_point():
            aims = aims.to(torch.get_default_dtype())
        return tuple(functions().solve.apply(self, aims, self._start(aims, start)))

    def forward(self, q: PoseLike) -> Any:
        """Return the frame's transforms (..., 4, 4) at poses (..., nq)."""
        import torch

        return functions().forward.apply(self, torch.as_tensor(q))

    def _start(self, targets: Any, start: Any) -> Any:
        """Return a start for each target, on the same device; None without a start."""
        import torch

        if start is None:
            return None
        pose = start.detach() if isinstance(start, torch.Tensor) else torch.as_tensor(start_pose(self.linkage, start))
        if tuple(pose.shape[-1:]) != (self.linkage.nq,):
            raise OptionError(f"start has shape (..., {self.linkage.nq}), got {tuple(pose.shape)}.")
        return pose.to(targets).expand(*self.lead(targets.shape), self.linkage.nq)

    def solved_tensors(self, targets: Any, start: Any) -> tuple[Any, Any]:
        """Return poses and successes for plain tensors."""
        import torch

        aims, begin = targets.detach().double(), None if start is None else start.double()
        if not _on_card(aims):
            q, success = self.solved(np, aims.numpy(), None if begin is None else begin.numpy())
            return torch.as_tensor(q).to(targets.dtype), torch.as_tensor(success)
        begin, card = None if begin is None else begin.contiguous(), aims.device.index
        with at_card(card):
            q, success = self.solved(torch, aims, begin, device=f"cuda:{card}")
        return q.to(targets.dtype), success

    def evaluated(self, what: Callable[..., Any], q: Any) -> Any:
        """Return the result of a function of the linkage, `forward` or `jacobian`, for plain tensors, in double."""
        import torch

        poses = q.detach().double().contiguous()
        if not _on_card(poses):
            return torch.as_tensor(what(poses.numpy(), frame=self.frame))
        with at_card(poses.device.index):
            return what(poses, frame=self.frame)

    def velocities(self, targets: Any, q: Any) -> Any:
        """Return velocities by the twists of targets, shape (..., nv, 6), in double."""
        import torch

        jacobian = functions().jacobian.apply(self, q)
        return self.implicit(torch, q.double(), targets.double(), jacobian)[0]


def _on_card(tensor: Any) -> bool:
    """Return whether a tensor is on a GPU, after waiting for its stream; raise DeviceError for other devices."""
    if tensor.device.type not in ("cpu", "cuda"):
        raise DeviceError(f"tensors must be on the CPU or an NVIDIA GPU, got {tensor.device}; move them.")
    if tensor.is_cuda:
        import torch

        torch.cuda.current_stream(tensor.device).synchronize()  # our kernels do not wait for it
    return bool(tensor.is_cuda)


class Functions(NamedTuple):
    """Differentiable functions: poses by targets, frames by poses, and the Jacobians that both need."""

    solve: Any
    forward: Any
    jacobian: Any


@cache
def functions() -> Functions:
    """Return the functions, created on first use."""
    return Functions(_solve_function(), _forward_function(), _jacobian_function())


def _solve_function() -> Any:
    import torch

    class Solve(torch.autograd.Function):  # type: ignore[misc]
        """Map targets to poses and successes. The derivative of a pose that misses its target is zero."""

        @staticmethod
        def forward(ik: TorchDifferentiable, targets: Any, start: Any) -> tuple[Any, Any]:
            return ik.solved_tensors(targets, start)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.ik, targets, _ = inputs
            ctx.mark_non_differentiable(output[1])
            ctx.save_for_backward(targets, *output)
            ctx.save_for_forward(targets, *output)

        @staticmethod
        def backward(ctx: Any, gradients: Any, _: Any) -> tuple[Any, ...]:
            targets, q, success = ctx.saved_tensors
            own, good = tuple(targets.shape[success.dim() :]), success[..., None]
            aims = _reached(targets, success, own)
            by_velocity = velocity_gradient(torch, ctx.ik.linkage.table, q.double(), gradients.double())
            by_twist = (ctx.ik.velocities(aims, q).mT @ by_velocity[..., None])[..., 0]
            by_target = target_gradient(torch, aims, torch.where(good, by_twist, 0.0), own)
            return None, by_target.to(targets.dtype), None

        @staticmethod
        def jvp(ctx: Any, _: Any, changes: Any, __: Any) -> tuple[Any, None]:
            targets, q, success = ctx.saved_tensors
            own, good = tuple(targets.shape[success.dim() :]), success[..., None]
            aims = _reached(targets, success, own)
            twists = torch.where(good, twist_of(torch, aims, changes.double(), own), 0.0)
            velocities = (ctx.ik.velocities(aims, q) @ twists[..., None])[..., 0]
            return pose_change(torch, ctx.ik.linkage.table, q.double(), velocities).to(q.dtype), None

        @staticmethod
        def vmap(info: Any, places: Any, ik: Any, targets: Any, start: Any) -> tuple[Any, Any]:
            aims = _batched(info, targets, places[1])
            begin = None if start is None else _batched(info, start, places[2])
            return Solve.apply(ik, aims, begin), (0, 0)

    return Solve


def _forward_function() -> Any:
    import torch

    class Forward(torch.autograd.Function):  # type: ignore[misc]
        """Map poses to the transforms of the frame."""

        @staticmethod
        def forward(ik: TorchDifferentiable, q: Any) -> Any:
            return ik.evaluated(ik.linkage.forward, q).to(q.dtype)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.ik, q = inputs
            ctx.save_for_backward(q, output)
            ctx.save_for_forward(q, output)

        @staticmethod
        def backward(ctx: Any, gradients: Any) -> tuple[Any, ...]:
            (q, there), table = ctx.saved_tensors, ctx.ik.linkage.table
            by_twist = twist_gradient(torch, there.double(), gradients.double())
            by_velocity = (functions().jacobian.apply(ctx.ik, q).mT @ by_twist[..., None])[..., 0]
            return None, pose_gradient(torch, table, q.double(), by_velocity).to(q.dtype)

        @staticmethod
        def jvp(ctx: Any, _: Any, changes: Any) -> Any:
            (q, there), table = ctx.saved_tensors, ctx.ik.linkage.table
            velocities = velocity_of(torch, table, q.double(), changes.double())
            twists = (functions().jacobian.apply(ctx.ik, q) @ velocities[..., None])[..., 0]
            return change_of(torch, there.double(), twists, (4, 4)).to(q.dtype)

        @staticmethod
        def vmap(info: Any, places: Any, ik: Any, q: Any) -> tuple[Any, int]:
            return Forward.apply(ik, _batched(info, q, places[1])), 0

    return Forward


def _jacobian_function() -> Any:
    import torch

    class Jacobian(torch.autograd.Function):  # type: ignore[misc]
        """Map poses to Jacobians, in double. Second derivatives are not supported, so they have no derivatives."""

        @staticmethod
        def forward(ik: TorchDifferentiable, q: Any) -> Any:
            return ik.evaluated(ik.linkage.jacobian, q)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            """Keep nothing."""

        @staticmethod
        def backward(*_: Any) -> Any:
            raise OptionError("gradients of solves have no gradients of their own; leave create_graph=True out.")

        @staticmethod
        def vmap(info: Any, places: Any, ik: Any, q: Any) -> tuple[Any, int]:
            return Jacobian.apply(ik, _batched(info, q, places[1])), 0

    return Jacobian


def _reached(targets: Any, success: Any, own: tuple[int, ...]) -> Any:
    """Return targets in double precision, with zeros for missed targets, which may not be finite."""
    import torch

    return torch.where(success[(..., *[None] * len(own))], targets.double(), 0.0)


def _batched(info: Any, tensor: Any, place: int | None) -> Any:
    """Return a tensor with the axis of `vmap` first."""
    return tensor.expand(info.batch_size, *tensor.shape) if place is None else tensor.movedim(place, 0)
