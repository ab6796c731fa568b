"""Forward kinematics and Jacobians of a Panda arm, compared with Pinocchio and the Robotics Toolbox.

All libraries run in one process, on one core, in turns (A B C A B C ...), after their answers are compared. What counts
is the ratio within one run, since absolute times vary with the machine.

    python benchmarks/forward.py                  print the tables and update results.md
    python benchmarks/forward.py --no-write       print only
    python benchmarks/forward.py --json           JSON on stdout, messages on stderr
"""

from __future__ import annotations

import math
import os
import platform
import statistics
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from time import process_time
from timeit import Timer
from typing import Any

import numpy as np
from results import arguments, publish

import linkwork as lw

SECTION = "forward"
AGREEMENT = 1e-9
FRAME = "tip"
OURS = "linkwork"

TASKS = {
    "tip": "One call, the tip",
    "jacobian": "One call, the Jacobian of the tip",
    "frames": "One call, all frames",
    "tips": "Batch, the tips",
    "cold": "Batch, the tips, cold memory",
    "all": "Batch, all frames",
}
BATCHES = ("tips", "cold", "all")
SAME = {"cold": "tips"}  # other conditions, same statements as another task
BARE = "Pinocchio, nothing collected"


@dataclass
class Contender:
    """A library: the statements a user would write for each task; each assigns its answer to `T`.

    Args:
        collects: False if the answer stays inside the library and there is no `T`.
    """

    name: str
    version: str
    names: dict[str, Any]
    statements: dict[str, str]
    collects: bool = True

    def statement(self, task: str) -> str | None:
        """Return its statements for a task, or None if it does not take part."""
        return self.statements.get(SAME.get(task, task))


@dataclass
class Target:
    """A bound for linkwork: at most, or at least, a multiple of another library."""

    text: str
    task: str
    against: Callable[[dict[str, float]], float]
    bound: float
    at_least: bool = False

    def measured(self, times: dict[str, float]) -> float:
        ours, theirs = times[OURS], self.against({k: v for k, v in times.items() if k != OURS})
        return theirs / ours if self.at_least else ours / theirs

    def met(self, times: dict[str, float]) -> bool:
        return self.measured(times) >= self.bound if self.at_least else self.measured(times) <= self.bound


@dataclass
class Report:
    """Results of a run: seconds per call or per pose, for all rounds, by task and library."""

    machine: dict[str, Any]
    versions: dict[str, str]
    missing: list[str]
    size: str
    batch: dict[str, int] = field(default_factory=dict)
    seconds: dict[str, dict[str, list[float]]] = field(default_factory=dict)

    def typical(self, task: str) -> dict[str, float]:
        """Return the values for ratios: the best round, or with cold memory the median.

        Noise only adds time, so the best round is most accurate; but cold memory may happen to be warm in some round.
        """
        choose = statistics.median if task == "cold" else min
        return {name: choose(rounds) for name, rounds in self.seconds[task].items()}


def ours(arm: lw.Linkage) -> Contender:
    return Contender(
        OURS,
        lw.__version__,
        {"arm": arm},
        {
            "tip": f"T = arm.forward(q, frame='{FRAME}')",
            "jacobian": f"T = arm.jacobian(q, '{FRAME}')",
            "frames": "T = arm.forward(q).array",
            "tips": f"T = arm.forward(Q, frame='{FRAME}')",
            "all": "T = arm.forward(Q).array",
        },
    )


def hinge(arc: lw.Joint) -> bool:
    """Return whether a joint is revolute about z rather than fixed; the arm has no others, which suits all peers."""
    motion = arc.articulation
    if isinstance(motion, lw.Revolute) and motion.axis == (0.0, 0.0, 1.0):
        return True
    if isinstance(motion, lw.Fixed):
        return False
    raise SystemExit(f"only revolute joints about z and fixed joints are supported; joint {arc.name!r} is {motion}")


def pinocchio(arm: lw.Linkage) -> list[Contender]:
    """The same arm as a Pinocchio model, with results as arrays and with results left inside the library."""
    import pinocchio as pin

    model = pin.Model()
    held = {arm.links[0]: (0, np.eye(4))}  # for each link: its joint, and its placement there
    for arc in arm.arcs[1:]:
        carrier, place = held[str(arc.parent)]
        place = place @ arc.placement
        if hinge(arc):
            carrier, place = model.addJoint(carrier, pin.JointModelRZ(), pin.SE3(place), arc.name), np.eye(4)
        held[arc.child] = carrier, place
    places = {link: (link, np.eye(4)) for link in arm.links}
    places |= {frame.name: (frame.link, frame.placement) for frame in arm.extra_frames}
    for name, (link, offset) in places.items():
        carrier, place = held[link]
        model.addFrame(pin.Frame(name, carrier, pin.SE3(place @ offset), pin.FrameType.OP_FRAME))
    data = model.createData()
    placed = [data.oMf[model.getFrameId(name)] for name in arm.frames]  # references, updated by every call
    names = {
        "np": np,
        "pin": pin,
        "model": model,
        "data": data,
        "fk": pin.framesForwardKinematics,
        "tip": data.oMf[model.getFrameId(FRAME)],
        "tip_id": model.getFrameId(FRAME),
        "placed": placed,
        "rotations": [frame.rotation for frame in placed],
        "positions": [frame.translation for frame in placed],
        "aligned": pin.ReferenceFrame.LOCAL_WORLD_ALIGNED,
    }
    collected = {
        "tip": "fk(model, data, q)\nT = tip.homogeneous",
        "jacobian": "T = pin.computeFrameJacobian(model, data, q, tip_id, aligned)",
        "frames": "fk(model, data, q)\nT = [frame.homogeneous for frame in placed]",
        "tips": "T = np.empty((len(Q), 4, 4))\n"
        "for i, x in enumerate(Q):\n    fk(model, data, x)\n    T[i] = tip.homogeneous",
        "all": "T = np.empty((len(Q), len(placed), 4, 4))\nT[:, :, 3] = 0, 0, 0, 1\n"
        "for i, x in enumerate(Q):\n    fk(model, data, x)\n"
        "    T[i, :, :3, :3] = rotations\n    T[i, :, :3, 3] = positions",
    }
    bare = {
        "tip": "fk(model, data, q)",
        "frames": "fk(model, data, q)",
        "tips": "for x in Q:\n    fk(model, data, x)",
        "all": "for x in Q:\n    fk(model, data, x)",
    }
    return [
        Contender("Pinocchio", pin.__version__, names, collected),
        Contender(BARE, pin.__version__, names, bare, collects=False),
    ]


def robotics_toolbox(arm: lw.Linkage) -> list[Contender]:
    """The same arm as an elementary transform sequence, which the toolbox evaluates in C."""
    import roboticstoolbox as rtb

    reached = {arm.links[0]: rtb.ETS(rtb.ET.SE3(np.eye(4)))}
    for arc in arm.arcs[1:]:
        step = reached[str(arc.parent)] * rtb.ET.SE3(arc.placement)
        reached[arc.child] = step * rtb.ET.Rz() if hinge(arc) else step
    reached |= {frame.name: reached[frame.link] * rtb.ET.SE3(frame.placement) for frame in arm.extra_frames}
    sequences = [reached[name] for name in arm.frames[1:]]  # the root link is fixed
    names = {"np": np, "ets": reached[FRAME], "sequences": sequences}
    statements = {
        "tip": "T = ets.eval(q)",
        "jacobian": "T = ets.jacob0(q)",
        "frames": "T = [np.eye(4), *(ets.eval(q) for ets in sequences)]",
        "tips": "T = ets.eval(Q)",
        "all": "T = np.empty((len(Q), len(sequences) + 1, 4, 4))\nT[:, 0] = np.eye(4)\n"
        "for k, ets in enumerate(sequences, start=1):\n    T[:, k] = ets.eval(Q)",
    }
    return [Contender("Robotics Toolbox", rtb.__version__, names, statements)]


def contenders(arm: lw.Linkage) -> tuple[list[Contender], list[str]]:
    """Return linkwork and the peers that can be imported, and a line for each that cannot."""
    found, missing = [ours(arm)], []
    for name, build in (("Pinocchio", pinocchio), ("Robotics Toolbox", robotics_toolbox)):
        try:
            found += build(arm)
        except ImportError as error:
            missing.append(f"{name} is not installed ({error}); install it with: pip install 'linkwork[bench]'")
    return found, missing


def verify(found: list[Contender], task: str, q: Any, Q: Any) -> None:
    """Compare every answer with ours before timing."""
    answers = {}
    for contender in found:
        statement = contender.statement(task)
        if contender.collects and statement is not None:
            scope = {**contender.names, "q": q, "Q": Q}
            exec(statement, scope)
            answers[contender.name] = np.asarray(scope["T"])
    for name, answer in answers.items():
        gap = float(np.abs(answer - answers[OURS]).max())
        if answer.shape != answers[OURS].shape or not gap <= AGREEMENT:
            raise SystemExit(f"{name} disagrees with {OURS} on '{task}': shape {answer.shape}, largest gap {gap:.3g}")


def measure(found: list[Contender], task: str, q: Any, Q: Any, *, rounds: int, room: int) -> dict[str, list[float]]:
    """Time one task for all libraries in turns; return seconds per call, or per pose of a batch.

    Times are CPU time, which excludes other processes. Before each turn, `room` numbers are written and freed, so that
    the memory for the results is warm. Without room, the memory is as the system provides it: on a virtual machine that
    reports idle memory to its host, the same page faults then cost several times more.
    """
    batched = task in BATCHES
    scope = {"np": np, "q": q, "Q": Q, "room": room}
    taking_part, timers = [], []
    for contender in found:
        statement = contender.statement(task)
        if statement is not None:
            taking_part.append(contender)
            names = {**contender.names, **scope}
            timers.append(Timer(statement, setup="np.ones(room)", timer=process_time, globals=names))
    repeats = [1 if batched else max(1, round(0.02 / timer.timeit(1000) * 1000)) for timer in timers]
    seconds: dict[str, list[float]] = {contender.name: [] for contender in taking_part}
    for _ in range(rounds):
        for contender, timer, repeat in zip(taking_part, timers, repeats, strict=True):
            seconds[contender.name].append(timer.timeit(repeat) / (repeat * (len(Q) if batched else 1)))
    return seconds


def run(*, rounds: int, tips: int, frames: int) -> Report:
    arm = lw.models.panda()
    found, missing = contenders(arm)
    one_core = _stay_on_one_core()
    rng = np.random.default_rng(0)
    batches = {"tips": arm.random_pose(rng, tips), "all": arm.random_pose(rng, frames)}
    batches["cold"] = batches["tips"]
    q = batches["tips"][0]
    size = f"{arm.nq} revolute joints, {len(arm.frames)} frames"
    report = Report(machine(one_core), {c.name: c.version for c in found if c.collects}, missing, size)
    report.versions |= {"Python": platform.python_version(), "NumPy": np.__version__}
    for task in TASKS:
        Q = batches.get(task, batches["tips"][:1000])
        verify(found, task, q, Q[:1000])
        print(f"{TASKS[task]} ...", file=sys.stderr)
        turns, room = rounds, 1
        if task in batches:
            report.batch[task] = len(Q)
            turns, room = max(3, rounds // 3), 16 * len(Q) * {"tips": 1, "cold": 0, "all": len(arm.frames)}[task]
        report.seconds[task] = measure(found, task, q, Q, rounds=turns, room=room)
    return report


def _stay_on_one_core() -> bool:
    """Bind this process to one core if the system can, so that no library uses two."""
    if not hasattr(os, "sched_setaffinity"):
        return False
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    return True


def machine(one_core: bool) -> dict[str, Any]:
    import llvmlite.binding as llvm

    features = dict(llvm.get_host_cpu_features())
    widths = {"avx512f": "AVX-512", "avx2": "AVX2", "avx": "AVX", "neon": "NEON", "sse2": "SSE2"}
    simd = next((name for key, name in widths.items() if features.get(key)), "none")
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = [line for line in info.read_text(encoding="utf-8").splitlines() if line.startswith("model name")]
        cpu = lines[0].split(":", 1)[1].strip() if lines else cpu
    return {
        "cpu": f"{cpu} ({llvm.get_host_cpu_name()})",
        "cores": os.cpu_count(),
        "simd": simd,
        "system": platform.system(),
        "one_core": one_core,
        "date": date.today().isoformat(),
    }


def targets() -> list[Target]:
    """Return the bounds. A bound with two possible readings is listed for both."""

    def pinocchio_of(times: dict[str, float]) -> float:
        return times.get("Pinocchio", math.nan)

    def bare(times: dict[str, float]) -> float:
        return times.get(BARE, math.nan)

    def best_peer(times: dict[str, float]) -> float:
        return min(time for name, time in times.items() if name != BARE)

    many, few, limit = (
        "a batch of tips at least 20 times the best peer",
        "all frames of a batch at least 5 times",
        2.5 / 0.87,
    )
    return [
        Target("one tip at most 2.9 times Pinocchio's, both giving a 4x4 array", "tip", pinocchio_of, limit),
        Target("one tip at most 2.9 times Pinocchio's call alone, nothing collected", "tip", bare, limit),
        Target("one Jacobian at most 2.9 times Pinocchio's", "jacobian", pinocchio_of, limit),
        Target(f"{many}, warm memory", "tips", best_peer, 20.0, at_least=True),
        Target(f"{many}, cold memory", "cold", best_peer, 20.0, at_least=True),
        Target(f"{few} the best peer", "all", best_peer, 5.0, at_least=True),
    ]


def tables(report: Report) -> list[str]:
    """Return two tables of tasks by libraries: times, and how many times faster linkwork is."""
    names = list(report.seconds["tip"])
    peers = names[1:]
    times = [f"| best (median) | {' | '.join(names)} |", "|---" + "|---:" * len(names) + "|"]
    ratios = [f"| times faster than | {' | '.join(peers)} |", "|---" + "|---:" * len(peers) + "|"]
    for task, title in TASKS.items():
        count, rounds, typical = report.batch.get(task), report.seconds[task], report.typical(task)
        what = f"{title}, {count:,} poses" if count else title
        shown = {name: _shown(min(s), statistics.median(s), bool(count)) for name, s in rounds.items()}
        times.append(f"| {what} | {' | '.join(shown.get(name, '') for name in names)} |")
        faster = {name: f"{typical[name] / typical[OURS]:.2f}" for name in rounds}
        ratios.append(f"| {what} | {' | '.join(faster.get(name, '') for name in peers)} |")
    return [*times, "", *ratios] if peers else times


def _shown(best: float, median: float, batched: bool) -> str:
    """Return times of a call in microseconds, or rates of a batch in millions of poses per second."""
    return f"{1e-6 / best:.2f} M/s ({1e-6 / median:.2f})" if batched else f"{1e6 * best:.2f} us ({1e6 * median:.2f})"


def verdicts(report: Report) -> list[str]:
    if len(report.typical("tip")) == 1:
        return ["No other library is installed, so there is nothing to compare with."]
    lines = []
    for target in targets():
        times = report.typical(target.task)
        measured = target.measured(times)
        word = "not measured" if math.isnan(measured) else "met" if target.met(times) else "MISSED"
        lines.append(f"- {word}: {target.text}; here {measured:.2f}")
    return lines


def section(report: Report) -> str:
    where = report.machine
    versions = ", ".join(f"{name} {version}" for name, version in report.versions.items())
    core = "bound to one core" if where["one_core"] else "single-threaded calls (this system cannot bind to a core)"
    lines = [
        f"## Forward kinematics and Jacobian: Panda, {report.size}",
        "",
        f"{where['date']}, {where['cpu']}, {where['cores']} cores, {where['simd']}, {where['system']}; {core}.",
        f"{versions}. Made by `python benchmarks/forward.py`.",
        "",
        f"Answers agree to {AGREEMENT:g}. Times are CPU time for one call, rates are poses per second. With",
        "nothing collected, every result stays inside the library and is overwritten by the next pose, which is less",
        "work than the other columns do. Memory is warm if as much was written and freed just before each turn, and",
        "cold otherwise: then times include first-touch page faults, which weigh most for the fastest library.",
        "Ratios are those of the best rounds; with cold memory, of the medians.",
        "",
        *tables(report),
        "",
        *verdicts(report),
        *(["", *(f"- {line}" for line in report.missing)] if report.missing else []),
    ]
    return "\n".join(lines)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--rounds", type=int, default=15, help="rounds for single calls; a third of that for batches")
    parser.add_argument("--tips", type=int, default=1_000_000, help="poses in the batch of tips")
    parser.add_argument("--frames", type=int, default=100_000, help="poses in the batch of all frames")
    options = parser.parse_args()
    if min(options.rounds, options.tips, options.frames) < 1:
        parser.error("--rounds, --tips and --frames must be at least 1")
    report = run(rounds=options.rounds, tips=options.tips, frames=options.frames)
    publish(SECTION, section(report), {**vars(report), "verdicts": verdicts(report)}, options)


if __name__ == "__main__":
    main()
