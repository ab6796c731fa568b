"""Runs the cases of `test_cuda` in numba-cuda's simulator, in a separate process, and writes the results to a file.

The simulator needs ``NUMBA_ENABLE_CUDASIM=1`` from the start of a process.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from numba import cuda

import linkwork as lw
import six_joint_arms
from cuda_cases import (
    AVOID,
    CASES,
    FAR_STARTS,
    FORMS,
    FREE,
    OTHERS,
    PANDA,
    TARGETS,
    TURNED,
    UR5,
    case_of,
    form_targets,
    free_targets,
    starts_of,
)
from linkwork.kernels.closed_form.cuda_seven import tried
from linkwork.kernels.cuda_codegen import WrittenParts
from linkwork.kernels.devices import DeviceArray
from linkwork.solvers import cuda_engine as search, cuda_free as keeping_clear, solution_sources as sources
from linkwork.solvers.batch import settle_card
from linkwork.solvers.batch_work import work_on


def there(array: Any) -> DeviceArray:
    """Return an array on the GPU."""
    return DeviceArray(cuda.to_device(np.ascontiguousarray(array).ravel()), array.shape)


def kept(found: dict[str, Any], name: str, batch: lw.Batch) -> None:
    for part in ("q", "codes", "residuals", "restarts", "success"):
        found[f"{name}.{part}"] = getattr(batch.on_host(), part)


def in_rounds(found: dict[str, Any]) -> None:
    """Search as for many targets: rounds without races, with the same starts as on the CPU."""
    search.FEW, search.RACERS, search.CROWD, search.RACE_STARTS, search.STRAGGLERS = 0, 1, 1, 0, 0
    search.FORM_TRIES = 0  # no closed form
    kept(found, "rounds", lw.solve_batch(PANDA, "tip", TARGETS, device="cuda"))
    kept(found, "starts", lw.solve_batch(PANDA, "tip", TARGETS[:4], start=starts_of(4), device="cuda"))


def written_out(found: dict[str, Any]) -> None:
    """Search in rounds with kernels generated for a chain, as after very many targets."""
    search.COMPILING = 0.0
    kept(found, "written rounds", lw.solve_batch(PANDA, "tip", TARGETS, device="cuda"))
    kept(found, "written starts", lw.solve_batch(PANDA, "tip", TARGETS[:4], start=starts_of(4), device="cuda"))
    linkage, frame, targets, options = case_of("balls")
    kept(found, "written balls", lw.solve_batch(linkage, frame, targets, device="cuda", **options))


def formed(found: dict[str, Any]) -> None:
    """Solve by the closed form of seven joints, as after very many targets; the search takes the rest."""
    search.FEW, search.FORM_TRIES, search.COMPILING = 0, 6, 0.0
    panda = PANDA.replace()  # with its own search
    kept(found, "form", lw.solve_batch(panda, "tip", TARGETS, device="cuda"))


def free_answers(found: dict[str, Any]) -> None:
    """Avoid obstacles: targets stay on the GPU, so the CPU does not solve the rest."""
    keeping_clear.FINER, keeping_clear.ROUNDS, keeping_clear.SURE, search.RACE_STARTS = 0, 2, 1, 8
    keeping_clear.tried = lambda tries: tried(tries[:2])
    for name, (arm, options) in FREE.items():
        targets = there(free_targets(name))
        kept(found, f"free {name}", lw.solve_batch(arm, "tip", targets, avoid=AVOID, device="cuda", **options))
    arm, options = FREE["searched"]
    targets = free_targets("searched")[1:]
    kept(found, "free there and back", lw.solve_batch(arm, "tip", targets, avoid=AVOID, device="cuda", **options))


def all_solutions(found: dict[str, Any]) -> None:
    """Find all solutions of arms in closed form, for targets in host and GPU memory."""
    for name in FORMS:
        arm, targets = six_joint_arms.linkage(name), form_targets(name)
        for dtype in (np.float32, np.float64):
            key = f"{name}.{np.dtype(dtype).name}"
            every = lw.solve_all_batch(arm, "tip", targets.astype(dtype), device="cuda")
            found[f"{key}.values"], found[f"{key}.mask"], found[f"{key}.valid"] = every.q, every.mask, every.valid
            found[f"{key}.complete"] = every.complete
    stays = lw.solve_all_batch(arm, "tip", there(targets), device="cuda")
    found["stays.values"], found["stays.mask"] = np.asarray(stays.q), np.asarray(stays.mask)


def several(found: dict[str, Any]) -> None:
    """Find several solutions: all of a closed form, and those of a few starts."""
    sources.STARTS = 4
    arm, targets = six_joint_arms.linkage(FORMS[0]), form_targets(FORMS[0])[:4]
    given = {"formed": (arm, targets, {}), "started": (PANDA, TARGETS[:1], {"orientation": False, "seed": 3})}
    for name, (linkage, aims, options) in given.items():
        batch = lw.solve_batch(linkage, "tip", aims, solutions=3, apart=0.05, device="cuda", **options)
        found[f"several {name}.q"], found[f"several {name}.counts"] = batch.q, batch.counts


def keys() -> Iterator[str]:
    """Yield the cache keys of kernels, for searches that differ in one property each."""
    for given in (False, True):
        for options in ({}, {"orientation": False}, {"position": False}, {"free": "z"}, {"limits": "ignore"}):
            prepared = lw.prepare(PANDA, "tip", **options)
            for dtype in (np.float32, np.float64):
                yield WrittenParts(search.Engine(prepared, (4, 4), given, dtype).task).key
    yield WrittenParts(search.Engine(lw.prepare(PANDA, "tip", orientation=False), (3,), False, np.float32).task).key


def settled(found: dict[str, Any]) -> None:
    """Choose kernels for few targets for good: a later large batch does not change them."""
    arm = PANDA.replace()
    settle_card(arm, "tip", TARGETS[:1], None, 10, device="cuda:0")
    engine = work_on("cuda:0", arm, "tip", None, None, None, {}).card.engine((4, 4), False, 10**12)
    found["settled"] = np.array([engine.settled, engine.bound > 0])


def main(path: str) -> None:
    found: dict[str, Any] = {}
    for name in CASES:
        linkage, frame, targets, options = case_of(name)
        kept(found, name, lw.solve_batch(linkage, frame, targets, device="cuda", **options))
    kept(found, "there", lw.solve_batch(PANDA, "tip", there(TARGETS), device="cuda"))
    folded = lw.solve_batch(
        PANDA, "tip", there(TARGETS[:4].reshape(2, 2, 4, 4)), start=starts_of(4).reshape(2, 2, 7), device="cuda"
    )
    kept(found, "folded", folded)
    starts = there(starts_of(4))
    kept(found, "starts there", lw.solve_batch(PANDA, "tip", there(TARGETS[:4]), start=starts, device="cuda"))
    kept(found, "turns", lw.solve_batch(UR5, "tip", TURNED, start=FAR_STARTS, device="cuda"))
    search.LITTLE, search.SMALL, free = 0, 0, search.free_memory
    search.free_memory = lambda: 5 * 400  # memory for a few targets
    kept(found, "split", lw.solve_batch(PANDA, "tip", there(TARGETS), device="cuda"))
    search.free_memory = free
    kept(found, "blocks", next(iter(lw.solve_blocks(PANDA, "tip", [TARGETS], device="cuda"))))
    for name, (linkage, frame) in {"panda": (PANDA, "tip"), **OTHERS}.items():
        q = there(linkage.random_pose(3, 3))
        found[f"{name}.frames"] = np.asarray(linkage.forward(q, frame=frame))
        for axes in ("world", "local"):
            found[f"{name}.{axes}"] = np.asarray(linkage.jacobian(q, frame, axes=axes))
    found["keys"] = np.array(list(keys()))
    settled(found)
    all_solutions(found)
    several(found)
    free_answers(found)
    in_rounds(found)
    written_out(found)
    formed(found)
    np.savez(path, **found)


if __name__ == "__main__":
    if hasattr(os, "sched_setaffinity"):  # on several cores, its threads compete for the GIL
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    with np.errstate(over="ignore"):  # hashing overflows on purpose
        main(sys.argv[1])
