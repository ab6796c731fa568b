"""Gradients with PyTorch on the CPU and on a GPU, compared with each other and finite differences; and their times.

    python benchmarks/gradients.py [--count 100000]

Without a GPU, or without PyTorch's support for it, only the CPU is measured.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
import torch

import linkwork as lw

STEP = 1e-5


def shifted(T: Any, x: Any) -> Any:
    """Return poses (n, 4, 4) with origins moved by x (n, 3)."""
    return torch.cat([T[..., :3], torch.cat([T[..., :3, 3:] + x[..., None], T[..., 3:, 3:]], -2)], -1)


def measured(ik: Any, T: Any, q: Any) -> tuple[Any, Any, float, float]:
    """Return the gradient of the squared poses by target shifts, which targets were reached, and both times [s]."""
    x = torch.zeros(len(T), 3, dtype=T.dtype, device=T.device, requires_grad=True)
    seconds = []
    for _ in range(2):  # the first may compile
        x.grad = None
        began = time.perf_counter()
        poses, success = ik(shifted(T, x), start=q)
        there = time.perf_counter()
        (poses**2).sum().backward()
        if T.is_cuda:
            torch.cuda.synchronize()
        seconds = [there - began, time.perf_counter() - there]
    return x.grad, success, *seconds


def differences(ik: Any, T: Any, q: Any) -> Any:
    """Return the same gradient by central differences."""
    rows = []
    for axis in torch.eye(3, dtype=T.dtype, device=T.device):
        ends = [(ik(shifted(T, s * STEP * axis.expand(len(T), 3)), start=q)[0] ** 2).sum(-1) for s in (-1.0, 1.0)]
        rows.append((ends[1] - ends[0]) / (2.0 * STEP))
    return torch.stack(rows, -1)


def worst(a: Any, b: Any, rows: Any) -> str:
    """Return the median and largest relative difference of gradients."""
    away = ((a - b).abs().amax(-1) / a.abs().amax(-1).clamp(min=1.0))[rows].cpu().numpy()
    return f"median {np.median(away):.1e}, largest {away.max():.1e}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    count = parser.parse_args().count
    for arm in (lw.models.ur5(), lw.models.panda()):
        ik = lw.differentiable(arm, "tip", library="torch")
        poses = arm.random_pose(0, count)
        gains = np.abs((told := ik.derivative(poses)).matrix).max(axis=(-1, -2))
        q = torch.tensor(poses[~told.singular & (gains < 30.0)])  # elsewhere finite differences are inaccurate
        T = torch.tensor(arm.forward(q.numpy(), frame="tip"))
        here, reached, solve, back = measured(ik, T, q)
        print(f"{arm.name}, {len(q)} targets, CPU: solve {solve:.3f} s, backward {back:.3f} s")
        some = slice(0, 2000)
        told = differences(ik, T[some], q[some])
        print(f"  reached {reached.double().mean():.2%}; finite differences: {worst(here[some], told, reached[some])}")
        if not torch.cuda.is_available():
            continue
        there, success, solve, back = measured(ik, T.cuda(), q.cuda())
        print(f"  GPU: solve {solve:.3f} s, backward {back:.3f} s, reached {success.double().mean():.2%}")
        print(f"  GPU from CPU: {worst(here, there.cpu(), reached & success.cpu())}")
        told = differences(ik, T[some].cuda(), q[some].cuda())
        print(f"  GPU from its own finite differences: {worst(there[some], told, success[some])}")


if __name__ == "__main__":
    main()
