"""Many problems of one body with several goals each: lists of goals and arrays by frame, with one and two threads.

Goals come from random poses; every answer is verified by forward kinematics. Rates of one thread use CPU time, those of
two threads wall time, so the machine should be idle; the best round counts.

    python benchmarks/body_batches.py                  print the table and update results.md
    python benchmarks/body_batches.py --no-write       print only
    python benchmarks/body_batches.py --json           the same as JSON on stdout
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import date
from functools import partial
from importlib.metadata import distribution
from typing import Any

import numpy as np
from forward import machine
from results import arguments, publish

import linkwork as lw

SECTION = "body-batches"
ROBOTS = "cmeel.prefix/share/example-robot-data/robots/"
TALOS = ("gripper_left_base_link", "gripper_right_base_link", "left_sole_link", "right_sole_link", "head_2_link")
ROUNDS, LISTED, SHARE = 4, 1000, 0.5  # rounds; problems as lists; part of the way to random poses


@dataclass(frozen=True)
class Case:
    """A body, its start pose, and the frames with goals."""

    name: str
    body: lw.Linkage
    start: Any
    frames: tuple[str, ...]


@dataclass
class Rates:
    """Problems per second, and the share reached."""

    name: str
    goals: int
    objects: float
    lists: float
    arrays: float
    two: float
    one: float
    reached: float

    @property
    def scaling(self) -> float:
        """Speed of two threads relative to one, by wall time."""
        return self.two / self.one


def cases() -> list[Case]:
    """Return the bodies."""
    human = lw.models.human(root="floating")
    hands, rest = ("left_hand", "right_hand"), ("left_foot", "right_foot", "head")
    stand = human.stored_pose("stand")
    talos = lw.load(
        str(distribution("example-robot-data").locate_file(f"{ROBOTS}talos_data/robots/talos_full_v2.urdf"))
    )
    return [
        Case("human, two hands", human, stand, hands),
        Case("human, hands, feet and head", human, stand, hands + rest),
        Case("Talos, hands, feet and head", talos, talos.neutral(), TALOS),
    ]


def best(work: Callable[[], Any], clock: Callable[[], float], rounds: int = ROUNDS) -> float:
    """Return the shortest time of several rounds [s]."""
    times = []
    for _ in range(rounds):
        begin = clock()
        work()
        times.append(clock() - begin)
    return min(times)


def measured(case: Case, count: int) -> Rates:
    """Return the rates of one body."""
    body, start = case.body, case.start
    poses = body.random_pose(0, count)
    poses = np.where(np.isfinite(body.upper - body.lower), poses, start)  # unlimited values stay
    at = body.forward(start + SHARE * (poses - start))
    targets = {frame: at[frame] for frame in case.frames}

    def objects() -> list[list[lw.Reach]]:
        return [[lw.Reach(frame, pose=targets[frame][k]) for frame in case.frames] for k in range(LISTED)]

    problems = objects()
    ik = lw.prepare(body, problems[0])

    def arrays(threads: int) -> lw.BodyBatch:
        return lw.solve_batch(body, targets, start=start, threads=threads, progress=False)

    batch = arrays(2)
    for frame in case.frames:
        away = np.linalg.norm((body.forward(batch.q, frame=frame) - targets[frame])[:, :3, 3], axis=1)
        if (away[batch.success] > 1.1e-4).any():
            raise SystemExit(f"{case.name}: an answer misses its goals")
    used, clock = time.process_time, time.perf_counter
    turns = [[best(partial(arrays, n), clock, 1) for n in (1, 2)] for _ in range(ROUNDS)]  # alternately
    one, two = np.min(turns, axis=0).tolist()
    return Rates(
        case.name,
        len(case.frames),
        LISTED / best(objects, used),
        LISTED / best(lambda: ik.batch(problems, start=start, threads=1), used),
        count / best(lambda: arrays(1), used),
        count / two,
        count / one,
        float(batch.success.mean()),
    )


def section(found: list[Rates]) -> str:
    """Return the section of results.md."""
    where = f"{machine(one_core=False)['cpu']}, Python {platform.python_version()}"
    lines = [
        "## Bodies with several goals per row",
        "",
        f"{date.today().isoformat()}, linkwork {lw.__version__}, {where}. Pose targets of random poses, problems "
        "per second. *Objects* is the creation of `Reach` goals alone, which lists of goals need. CPU time for one "
        "thread, wall time for two.",
        "",
        "| | objects | lists of goals | arrays | two threads | times one | reached |",
        "|---|---|---|---|---|---|---|",
    ]
    for one in found:
        rates = (one.objects, one.lists, one.arrays, one.two)
        text = " | ".join(f"{rate:,.0f}" for rate in rates)
        lines.append(f"| {one.name} | {text} | {one.scaling:.2f} | {100.0 * one.reached:.4g} % |")
    least = min(one.scaling for one in found)
    lines += ["", f"- {'met' if least >= 1.8 else 'MISSED'}: two threads at least 1.8 times one; here {least:.2f}"]
    return "\n".join(lines)


def main() -> None:
    """Measure, and write the section."""
    parser = arguments(__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer problems")
    options = parser.parse_args()
    found = [measured(case, 2000 if options.quick else 8000) for case in cases()]
    publish(SECTION, section(found), {"bodies": [asdict(one) | {"scaling": one.scaling} for one in found]}, options)


if __name__ == "__main__":
    main()
