"""Inverse kinematics of the Panda on an NVIDIA GPU, from one goal to millions, compared with a solver in JAX.

Goals and answers stay on the GPU, except in one column: NumPy in, NumPy out. Every answer is checked afterwards by a
chain in plain NumPy, in float64: position to 1e-4 m, rotation to 1e-3 rad, limits kept.

    python benchmarks/gpu.py                  print the tables and update results.md
    python benchmarks/gpu.py --quick          up to a hundred thousand goals
    python benchmarks/gpu.py --no-write       print only
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from functools import partial
from importlib.metadata import version
from typing import Any

import numpy as np
from ik_peers import Chain
from results import say, write

import linkwork as lw
from linkwork.kernels.devices import DeviceArray, to_host

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
SECTION, FRAME, SEED = "gpu", "tip", 11
SIZES = (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 8_000_000)
WANTED = {1: ("one goal under 200 us", 1 / 200e-6), 10_000: ("20 million per second at 10,000", 20e6)} | {
    1_000_000: ("300 million per second at 1 million", 300e6),
    8_000_000: ("1,000 million per second at 8 million", 1000e6),
}
CHUNK = 100_000
ENOUGH = 450  # batches of the largest size after which a chain has kernels of its own
STARTS, STEPS, BASELINE = 8, 24, 10_000  # solver in JAX: starts per goal, steps, goals


def timed(solve: Callable[[], Any], count: int) -> tuple[float, float, Any]:
    """Return the best and the median time of a call that waits for its result, and the result."""
    answer = solve()  # compiles, and allocates memory
    took = []
    for _ in range(50 if count <= 10_000 else 15):
        began = time.perf_counter()
        answer = solve()
        took.append(time.perf_counter() - began)
    return min(took), statistics.median(took), answer


def verified(chain: Chain, q: Any, targets: Any) -> int:
    """Return the number of poses that reach their targets, checked with NumPy."""

    def part(at: int) -> int:
        return int(chain.verified(q[at : at + CHUNK], targets[at : at + CHUNK]).sum())

    with ThreadPoolExecutor() as pool:
        return sum(pool.map(part, range(0, len(q), CHUNK)))


def batches(chain: Chain, sizes: list[int]) -> list[dict[str, Any]]:
    """Return times and checks by number of goals: with kernels for any chain, then with those of this chain."""
    given = {count: reachable(chain, count) for count in sizes}
    solve = partial(lw.solve_batch, chain.arm, FRAME, device="cuda")
    first = {}
    for count, targets in given.items():
        say(f"{count:,} goals, kernels for any chain ...")
        first[count] = timed(partial(solve, targets), count)[0]
    say("kernels for one chain ...")
    largest = reachable(chain, SIZES[-1])
    for _ in range(ENOUGH):
        solve(largest)
    rows = []
    for count, targets in given.items():
        say(f"{count:,} goals ...")
        best, median, batch = timed(partial(solve, targets), count)
        there = to_host(targets)
        by_numpy = timed(partial(solve, there), count)[0]
        found = batch.on_host()
        row = {"count": count, "any": first[count], "best": best, "median": median, "numpy": by_numpy}
        rows.append(row | {"good": verified(chain, found.q, there)})
    return rows


def reachable(chain: Chain, count: int) -> Any:
    """Return targets on the GPU."""
    from numba import cuda

    host = chain.arm.random_pose(SEED, count)
    return chain.arm.forward(DeviceArray(cuda.to_device(host.ravel()), host.shape), frame=FRAME)


def kinematics(chain: Chain, count: int) -> dict[str, float]:
    """Return frames and Jacobians per second."""
    from numba import cuda

    host = chain.arm.random_pose(SEED, count)
    poses = DeviceArray(cuda.to_device(host.ravel()), host.shape)
    calls = {
        "frames": lambda: chain.arm.forward(poses, frame=FRAME),
        "Jacobians": lambda: chain.arm.jacobian(poses, FRAME),
    }
    return {name: count / timed(call, count)[0] for name, call in calls.items()}


def baseline(chain: Chain, count: int) -> dict[str, Any] | None:
    """Solve with damped least squares in JAX: many starts per goal, a fixed number of steps; the best one counts."""
    try:
        import jax
        import jax.numpy as jnp
    except ImportError as missing:
        say(f"JAX is not installed ({missing})")
        return None
    jax.config.update("jax_default_matmul_precision", "highest")  # the default on GPUs is ten bits
    constants = [jnp.asarray(constant, jnp.float32) for constant, _, _ in chain.joints]
    tip = jnp.asarray(chain.tip, jnp.float32)
    low, high = jnp.asarray(chain.arm.lower, jnp.float32), jnp.asarray(chain.arm.upper, jnp.float32)

    def error(q: Any, target: Any) -> Any:
        world = jnp.eye(4)
        for k, constant in enumerate(constants):  # the Panda's joints turn about z
            c, s = jnp.cos(q[k]), jnp.sin(q[k])
            turn = jnp.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
            world = world @ constant @ turn
        world = world @ tip
        half = jnp.maximum((1.0 + (world[:3, :3] * target[:3, :3]).sum()) / 4.0, 1e-6)  # avoids zero at a half turn
        turn = jnp.cross(world[:3, :3].T, target[:3, :3].T).sum(axis=0) / 2.0 / jnp.sqrt(half)
        return jnp.concatenate([target[:3, 3] - world[:3, 3], 0.3 * turn])

    def step(q: Any, target: Any) -> Any:
        e, J = error(q, target), jax.jacfwd(error)(q, target)
        damping = 0.05 * (e @ e) + 1e-6
        return jnp.clip(q - J.T @ jnp.linalg.solve(J @ J.T + damping * jnp.eye(6), e), low, high)

    def one(target: Any, seeds: Any) -> Any:
        ends = jax.vmap(lambda q: jax.lax.fori_loop(0, STEPS, lambda _, x: step(x, target), q))(seeds)
        misses = jax.vmap(lambda q: jnp.sum(error(q, target) ** 2))(ends)
        return ends[jnp.argmin(misses)]

    solve = jax.jit(jax.vmap(one))
    targets = chain.goals(SEED, count)
    seeds = low + (high - low) * jax.random.uniform(jax.random.key(0), (count, STARTS, len(low)))
    there = jnp.asarray(targets, jnp.float32)
    best, _, q = timed(lambda: solve(there, seeds).block_until_ready(), CHUNK)
    poses = np.clip(np.asarray(q, np.float64), chain.arm.lower, chain.arm.upper)
    return {"count": count, "rate": count / best, "good": verified(chain, poses, targets), "version": jax.__version__}


def million(rate: float) -> str:
    """Return a rate in millions with three digits."""
    return f"{rate / 1e6:,.0f}" if rate >= 100e6 else f"{rate / 1e6:.3g}"


def section(rows: list[dict[str, Any]], others: dict[str, Any]) -> str:
    from numba import cuda

    device = cuda.get_current_device()
    name = device.name if isinstance(device.name, str) else device.name.decode()
    names = ("numba", "numba-cuda", "numpy")
    driver = ".".join(map(str, cuda.cudadrv.driver.driver.get_version()))
    lines = [
        "## On a GPU",
        "",
        f"{name}, driver for CUDA {driver}, Python {platform.python_version()}, "
        + ", ".join(f"{package} {version(package)}" for package in names)
        + f"; linkwork {lw.__version__}; {date.today().isoformat()}. Panda, full pose, limits, random reachable goals; "
        "targets and answers in GPU memory, whole calls of `solve_batch`, best of many (median in brackets), and "
        "million solutions per second. A chain begins with kernels for any chain; its own are compiled after some "
        "3 billion targets, or 25,000 batches.",
        "",
        "| goals | any chain | per second | one chain | per second | verified | NumPy in and out, per second |",
        "|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        count, best = row["count"], row["best"]
        lines.append(
            f"| {count:,} | {row['any'] * 1e6:,.0f} us | {million(count / row['any'])} "
            f"| {best * 1e6:,.0f} us ({row['median'] * 1e6:,.0f}) | {million(count / best)} "
            f"| {row['good']:,} of {count:,} | {million(count / row['numpy'])} |"
        )
    rates = ", ".join(f"{rate / 1e9:.1f} billion {what}" for what, rate in others["kinematics"].items())
    lines += ["", f"`forward` and `jacobian` on the GPU, float64: {rates} per second.", ""]
    if others["baseline"]:
        jax = others["baseline"]
        lines += [
            f"Damped least squares in JAX {jax['version']} on the same GPU, {STARTS} starts and {STEPS} steps for "
            f"each of {jax['count']:,} goals: {jax['rate'] / 1e6:.3g} million goals per second, "
            f"{jax['good'] / jax['count']:.2%} of them reached.",
            "",
        ]
    for row in rows:
        if row["count"] in WANTED:
            text, rate = WANTED[row["count"]]
            here = row["count"] / row["best"]
            seen = f"{row['best'] * 1e6:.0f} us" if row["count"] == 1 else f"{here / 1e6:,.0f} million"
            lines.append(f"- {'met' if here >= rate else 'MISSED'}: {text}; here {seen}")
    good, count = sum(row["good"] for row in rows), sum(row["count"] for row in rows)
    lines.append(f"- {'met' if good == count else 'MISSED'}: all verified; here {good:,} of {count:,}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="up to 100,000 goals")
    parser.add_argument("--no-write", action="store_true", help="do not change results.md")
    options = parser.parse_args()
    chain = Chain(lw.models.panda(), FRAME)
    rows = batches(chain, [count for count in SIZES if not options.quick or count <= CHUNK])
    others = {"kinematics": kinematics(chain, CHUNK if options.quick else 8_000_000)}
    say("JAX ...")
    text = section(rows, others | {"baseline": baseline(chain, BASELINE)})
    print(text)
    if not options.no_write:
        write(SECTION, text)


if __name__ == "__main__":
    main()
