"""All solutions of a UR10e and one of a Panda on an NVIDIA GPU, compared with jaik, which has closed forms in JAX.

Targets and answers stay on the GPU. A part of every run is checked with plain NumPy: solutions reach their targets, and
there are as many as on the CPU.

    python benchmarks/closed_form_card.py                print the tables and update results.md
    python benchmarks/closed_form_card.py --no-write     print only
"""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable
from datetime import date
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from results import arguments, publish

import linkwork as lw
from linkwork.kernels.devices import DeviceArray, to_host

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import six_joint_arms

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
SECTION, SEED, CHECKED = "closed_form_card", 5, 200_000
SIZES = (4_096, 1_000_000, 8_000_000)
WANTED = {"float32": 3e9, "float64": 1.5e9}
PANDA_WANTED = 2e9


def best(solve: Callable[[], Any], rounds: int = 15) -> float:
    """Return the shortest time of a call that waits for its result [s]."""
    times = []
    solve()
    for _ in range(rounds):
        begin = time.perf_counter()
        answer = solve()
        times.append(time.perf_counter() - begin)
        del answer
    return min(times)


def there(array: Any) -> DeviceArray:
    from numba import cuda

    return DeviceArray(cuda.to_device(np.ascontiguousarray(array).ravel()), array.shape)


def waiting(solve: Callable[[], Any]) -> Callable[[], Any]:
    from numba import cuda

    def run() -> Any:
        answer = solve()
        cuda.synchronize()
        return answer

    return run


def ours(name: str, dtype: str, targets: np.ndarray[Any, Any]) -> tuple[list[float], str]:
    """Return goals per second for every size, and the result of the checks."""
    arm, rates = six_joint_arms.linkage(name), []
    for size in SIZES:
        aims = there(targets[:size].astype(dtype))
        rates.append(size / best(waiting(partial(lw.solve_all_batch, arm, "tip", aims, device="cuda"))))
    found = lw.solve_all_batch(arm, "tip", aims, device="cuda")
    mask = to_host(found.mask)
    q, part = to_host(found.q)[:CHECKED].astype(float), mask[:CHECKED]
    reached = six_joint_arms.forward(name, q[part])
    wanted = np.broadcast_to(targets[:CHECKED, None], (*part.shape, 4, 4))[part]
    off = np.abs(reached - wanted).max()
    there_too = lw.solve_all_batch(arm, "tip", targets[:CHECKED]).mask
    differ = int((there_too.sum(1) != part.sum(1)).sum())
    none = int((~mask.any(1)).sum())
    said = (
        f"{name}, {dtype}: {mask.sum() / len(mask):.2f} solutions per goal, {none} of {len(mask):,} goals with none; "
        f"of {CHECKED:,} checked goals, {differ} have a different number than on the CPU, largest error {off:.1e}"
    )
    return rates, said


def _finished(solve: Callable[..., Any], *given: Any) -> Any:
    """Return the result of JAX once it is computed."""
    import jax

    return jax.block_until_ready(solve(*given))


def jaik(dtype: str) -> list[float | None]:
    """Return jaik's goals per second on a UR10e."""
    try:
        import jax
        from jaik import make_robot
    except ImportError:
        return [None] * len(SIZES)
    jax.config.update("jax_enable_x64", True)
    forward, inverse, _ = make_robot("ur10e")
    rates: list[float | None] = []
    for size in SIZES:
        key = jax.random.PRNGKey(SEED)
        q = jax.random.uniform(key, (size, 6), dtype=dtype, minval=-math.pi, maxval=math.pi)
        rotation, place = (x.astype(dtype) for x in jax.jit(jax.vmap(forward))(q))
        solve = jax.jit(jax.vmap(inverse))
        rates.append(size / best(partial(_finished, solve, rotation, place)))
    return rates


def panda() -> tuple[list[float], str]:
    """Return Panda goals per second, one solution each, in single precision."""
    arm, rates = lw.models.panda(), []
    targets = arm.forward(arm.random_pose(SEED, SIZES[-1]), frame="tip")
    aims = there(targets)
    for _ in range(450):  # until kernels for any chain are replaced by those for this chain
        lw.solve_batch(arm, "tip", aims, device="cuda")
    for size in SIZES:
        some = there(targets[:size])
        rates.append(size / best(waiting(partial(lw.solve_batch, arm, "tip", some, device="cuda"))))
    found = lw.solve_batch(arm, "tip", aims, device="cuda")
    success, q = to_host(found.success), to_host(found.q)[:CHECKED]
    off = np.abs(arm.forward(q, frame="tip") - targets[:CHECKED])[success[:CHECKED]].max()
    inside = ((q >= arm.lower) & (q <= arm.upper)).all()
    said = f"Panda: {success.mean():.6%} of {len(success):,} reached, largest error {off:.1e}, limits kept: {inside}"
    return rates, said


def main() -> None:
    options = arguments(__doc__).parse_args()
    q = np.random.default_rng(SEED).uniform(-math.pi, math.pi, (SIZES[-1], 6))
    targets = np.concatenate([six_joint_arms.forward("UR10e", part) for part in np.array_split(q, 80)])
    puma = np.concatenate([six_joint_arms.forward("Puma 560", part) for part in np.array_split(q, 80)])
    rows: list[tuple[str, list[Any]]] = []
    notes, met = list[str](), list[str]()
    for dtype, wanted in WANTED.items():
        theirs = jaik(dtype)
        for name, aims in (("UR10e", targets), ("Puma 560", puma)):
            rates, said = ours(name, dtype, aims)
            rows.append((f"linkwork, {name}, all solutions, {dtype}", rates))
            notes.append(said)
            if name == "UR10e":
                rows.append((f"jaik, {name}, all solutions, {dtype}", theirs))
                verdict = "met" if rates[-1] >= wanted else "MISSED"
                told = f"all solutions of {wanted / 1e9:.1f} billion goals, {dtype}; {rates[-1] / 1e9:.2f}"
                met.append(f"{verdict}: {told}")
    rates, said = panda()
    rows.append(("linkwork, Panda, one solution", rates))
    notes.append(said)
    verdict = "met" if rates[-1] >= PANDA_WANTED else "MISSED"
    met.append(f"{verdict}: one solution of 2 billion Panda goals; {rates[-1] / 1e9:.2f}")
    lines = ["## All solutions on a GPU", ""]
    lines += [f"{date.today()}, {_card()}, linkwork {lw.__version__}, NumPy {version('numpy')}. Made by"]
    lines += ["`python benchmarks/closed_form_card.py`. Millions of goals per second; all arrays are on the GPU.", ""]
    lines += [f"| | {' | '.join(f'{size:,} goals' for size in SIZES)} |", f"|---|{'---:|' * len(SIZES)}"]
    for name, rates in rows:
        lines.append(f"| {name} | {' | '.join('' if r is None else f'{r / 1e6:,.0f}' for r in rates)} |")
    lines += ["", *(f"- {note}" for note in notes), *(f"- {one}" for one in met)]
    publish(SECTION, "\n".join(lines), {"rates": dict(rows), "said": notes, "met": met}, options)


def _card() -> str:
    from numba import cuda

    name = cuda.get_current_device().name
    return name.decode() if isinstance(name, bytes) else str(name)


if __name__ == "__main__":
    main()
