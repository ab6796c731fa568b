"""Kernels from a pack compared with the same kernels compiled on the fly: times of a call, a goal, a batch and a body.

Two processes, one for each, take turns; the best round of each counts. `make test` builds the pack.

    python benchmarks/machine_code.py [--rounds 7] [--json] [--no-write]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

from forward import machine
from results import arguments, publish, say

SECTION = "machine-code"
CHILD = """
import gc, json, sys, time
import numpy as np
import linkwork as lw
from linkwork.kernels.runtime import the_pack
from linkwork.kernels.pack import Pack

arm, body = lw.models.panda(), lw.models.human(root="floating")
rng = np.random.default_rng(0)
poses = arm.random_pose(rng, 400)
targets, q = arm.forward(poses, frame="tip"), arm.stored_pose("ready")
many = arm.forward(arm.random_pose(rng, 40_000), frame="tip")
ik = lw.prepare(arm, "tip")
hands = [lw.Reach(f"{side}_hand", position=(0.3, y, 1.2)) for side, y in (("left", 0.2), ("right", -0.2))]
goals = [*hands, lw.Hold("left_foot"), lw.Hold("right_foot"), lw.Balance()]
stand, whole = body.stored_pose("stand"), lw.prepare(body, goals)
path = [arm.forward(q + 0.3 * np.sin(0.03 * k + np.arange(7)), frame="tip") for k in range(400)]

def follow():
    pose = ik(path[0], start=q).q
    for target in path:
        pose = ik(target, start=pose).q

WORK = {
    "forward, one frame of one pose [us]": (lambda: [arm.forward(q, frame="tip") for _ in range(400)], 400, 1e6),
    "Jacobian of one pose [us]": (lambda: [arm.jacobian(q, "tip") for _ in range(400)], 400, 1e6),
    "one goal, no start [us]": (lambda: [ik(target) for target in targets], 400, 1e6),
    "one tracked frame [us]": (follow, 401, 1e6),
    "`lw.solve` of one goal [us]": (lambda: [lw.solve(arm, lw.Reach("tip", pose=t)) for t in targets], 400, 1e6),
    "batch in double precision, a goal [us]": (lambda: lw.solve_batch(arm, "tip", many, threads=1), 40_000, 1e6),
    "batch in single precision, a goal [us]":
        (lambda: lw.solve_batch(arm, "tip", many, threads=1, dtype="float32"), 40_000, 1e6),
    "whole body, five goals [us]": (lambda: [whole(goals, start=stand) for _ in range(20)], 20, 1e6),
}
for work, _, _ in WORK.values():
    work()
gc.disable()
for line in sys.stdin:
    found = {}
    for name, (work, count, unit) in WORK.items():
        best = 1e9
        for _ in range(3):
            begin = time.process_time()
            work()
            best = min(best, time.process_time() - begin)
        found[name] = unit * best / count
    print(json.dumps({"from": "pack" if isinstance(the_pack(), Pack) else "compiler", "found": found}), flush=True)
"""


def run(rounds: int) -> dict[str, dict[str, float]]:
    """Return the best of all rounds, by measurement and by source of the kernels."""
    children = {
        choice: subprocess.Popen(
            [sys.executable, "-c", CHILD],
            env=os.environ | {"LINKWORK_KERNELS": choice},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        for choice in ("pack", "jit")
    }
    best: dict[str, dict[str, float]] = {}
    for number in range(rounds):
        say(f"round {number + 1} of {rounds} ...")
        for choice, child in children.items():
            assert child.stdin is not None
            assert child.stdout is not None
            child.stdin.write("go\n")
            child.stdin.flush()
            for name, value in json.loads(child.stdout.readline())["found"].items():
                known = best.setdefault(name, {}).get(choice, value)
                best[name][choice] = min(known, value)
    for child in children.values():
        assert child.stdin is not None
        child.stdin.close()
        child.wait(60)
    return best


def section(best: dict[str, dict[str, float]], rounds: int) -> str:
    lines = [
        "## Machine code from a pack, and compiled on the fly", "",
        f"{machine(one_core=False)['cpu']}.",
        f"Made by `python benchmarks/machine_code.py`: {rounds} rounds, in turns, on one core; the best counts.", "",
        "| Panda, and a body | pack | compiled | ratio |",
        "|---|---:|---:|---:|",
    ]  # fmt: skip
    for name, found in best.items():
        lines.append(f"| {name} | {found['pack']:.3g} | {found['jit']:.3g} | {found['pack'] / found['jit']:.2f} |")
    worst = max(found["pack"] / found["jit"] for found in best.values())
    met = "met" if worst <= 1.03 else "MISSED"
    return "\n".join([*lines, "", f"- {met}: a pack within 3 % of the compiler; here {worst:.2f} at worst"])


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="number of rounds")
    options = parser.parse_args()
    best = run(options.rounds)
    publish(SECTION, section(best, options.rounds), best, options)


if __name__ == "__main__":
    main()
