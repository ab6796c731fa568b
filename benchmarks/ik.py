"""Inverse kinematics with the fast solver, compared with EAIK (closed form) and the Robotics Toolbox (`ik_LM`).

All libraries get the same goals, made beforehand, and every answer is checked by a chain in plain NumPy: position to
1e-4 m, rotation to 1e-3 rad, limits kept. They take turns on one core; what counts is the ratio within one run, since
absolute times vary with the machine.

    python benchmarks/ik.py                  print the tables and update results.md
    python benchmarks/ik.py --quick          fewer goals and rounds
    python benchmarks/ik.py --full           also ten million goals, to measure memory
    python benchmarks/ik.py --no-write       print only
    python benchmarks/ik.py --json           JSON on stdout, messages on stderr
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from forward import machine
from ik_peers import Array, Chain, Peer, Solve, eaik, toolbox
from ik_report import FRAMES, OURS, PLAIN, SECTION, Report, Sizes, section, verdicts
from results import arguments, publish, say

import linkwork as lw

ARMS: dict[str, tuple[Callable[[], lw.Linkage], str, bool]] = {  # model, frame, whether goals have orientations
    "Panda": (lw.models.panda, "tip", True),
    "UR5": (lw.models.ur5, "tip", True),
    "snake, 9 joints": (lambda: lw.models.snake(9), "head", True),
    "Stanford arm": (lw.models.stanford, "tip", True),
    "SCARA, position": (lw.models.scara, "tip", False),
}
SECONDS = 5.0  # least time that rounds are spread over
JUMP = 0.2  # joint change between frames that counts as a flip [rad]; the path needs a tenth of it
READY = [[1.0, 0.0, 0.0, 0.4], [0.0, -1.0, 0.0, 0.1], [0.0, 0.0, -1.0, 0.4], [0.0, 0.0, 0.0, 1.0]]
FIRST_ANSWER = f"import linkwork as lw; print(lw.solve(lw.models.panda(), lw.Reach('tip', pose={READY})).success)"
NARROW = {"LINKWORK_KERNELS": "pack", "LINKWORK_LEVEL": "v3"}
COMPILE = f"""
import json, time
import numpy as np
import linkwork as lw
import linkwork.kernels
arm, target = lw.models.panda(), np.array({READY})
began = time.process_time()
lw.solve(arm, lw.Reach("tip", pose=target))
one = time.process_time()
lw.solve_batch(arm, "tip", target[None])
many = time.process_time()
lw.solve_batch(arm, "tip", target[None], dtype="float32")
print(json.dumps({{"one goal": one - began, "batch": many - one, "float32": time.process_time() - many}}))
"""
MEMORY = """
import json, resource, time
import linkwork as lw
arm, block = lw.models.panda(), 100_000
blocks = (arm.forward(arm.random_pose(seed, block), frame="tip") for seed in range(100))
began, peaks, reached = time.perf_counter(), [], 0
for batch in lw.solve_blocks(arm, "tip", blocks):
    reached += int(batch.success.sum())
    peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
print(json.dumps({"first": peaks[0], "last": peaks[-1], "reached": reached, "seconds": time.perf_counter() - began}))
"""


# Measuring


def stay_on_one_core() -> bool:
    """Bind this process to one core if the system can, so that no library uses two."""
    if not hasattr(os, "sched_setaffinity"):
        return False
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    return True


def share_verified(name: str, count: int) -> dict[str, Any]:
    """Solve random reachable goals of an arm in both precisions; count answers confirmed by the independent check."""
    make, frame, turned = ARMS[name]
    chain = Chain(make(), frame)
    targets = chain.goals(1, count)
    found: dict[str, Any] = {}
    for dtype in ("float64", "float32"):
        answer = lw.solve_batch(chain.arm, frame, targets, orientation=turned, dtype=dtype, progress=False)
        good = chain.verified(answer.q, targets, turned=turned)
        found[dtype] = {
            "goals": count,
            "verified": int(good.sum()),
            "false_success": int((answer.success & ~good).sum()),
            "starts": float(answer.restarts.mean()),
        }
    return found


def one_by_one(contenders: Sequence[Peer], targets: Sequence[Any], rounds: int) -> dict[str, dict[str, float]]:
    """Return mean, median and 99th percentile [us] of calls for single goals, each of its best round.

    Means are CPU time, without a clock in the loop; the others are wall time of each call.
    """
    found: dict[str, dict[str, list[float]]] = {peer.name: {"mean": [], "median": [], "p99": []} for peer in contenders}
    clock = time.perf_counter_ns
    gc.collect()
    gc.disable()
    for _ in range(rounds):
        for peer in contenders:
            solve, times, goals = peer.solve, [], targets
            if peer.name == PLAIN:
                goals = [lw.Reach("tip", pose=target) for target in targets]
            begin = time.process_time()
            for goal in goals:
                solve(goal)
            found[peer.name]["mean"].append((time.process_time() - begin) / len(goals) * 1e6)
            for goal in goals:
                start = clock()
                solve(goal)
                times.append(clock() - start)
            found[peer.name]["median"].append(statistics.median(times) / 1e3)
            found[peer.name]["p99"].append(float(np.percentile(times, 99)) / 1e3)
    gc.enable()
    return {name: {what: min(values) for what, values in row.items()} for name, row in found.items()}


def confirmed(chain: Chain, solve: Solve, targets: Array) -> float:
    """Return the share of targets for which a library returns a verified pose."""
    answers = [solve(target) for target in targets]
    there = [k for k, answer in enumerate(answers) if answer is not None]
    if not there:
        return 0.0
    poses = np.array([answers[k] for k in there], dtype=float)
    return float(chain.verified(poses, targets[there]).sum()) / len(targets)


def singles(chain: Chain, peers: Sequence[Peer], sizes: Sizes) -> dict[str, dict[str, float]]:
    """Time single goals with all libraries."""
    ik, arm = lw.prepare(chain.arm, chain.frame), chain.arm
    contenders = [Peer(OURS, lw.__version__, ik), Peer(PLAIN, lw.__version__, lambda goal: lw.solve(arm, goal)), *peers]
    targets = chain.goals(2, sizes.singles)
    found = one_by_one(contenders, list(targets), sizes.rounds)
    for peer in contenders:
        ours = peer.name in (OURS, PLAIN)
        solve: Solve = (lambda target: ik(target).q) if ours else peer.solve
        found[peer.name]["verified"] = confirmed(chain, solve, targets)
    return found


def path(chain: Chain) -> Array:
    """Return a smooth closed curve of 1,000 targets, with changing orientation, around the arm's ready pose."""
    target = chain.forward(chain.arm.stored_pose("ready")[None])[0]
    phase = np.linspace(0.0, 2.0 * math.pi, FRAMES)
    result = np.tile(target, (FRAMES, 1, 1))
    result[:, :3, 3] += 0.15 * np.stack([np.sin(2 * phase), np.sin(3 * phase), np.cos(phase) - 1.0], axis=1)
    tilt, c, s = np.tile(np.eye(3), (FRAMES, 1, 1)), np.cos(0.3 * np.sin(phase)), np.sin(0.3 * np.sin(phase))
    tilt[:, 0, 0], tilt[:, 0, 2], tilt[:, 2, 0], tilt[:, 2, 2] = c, s, -s, c
    result[:, :3, :3] = tilt @ target[:3, :3]
    return result


def tracking(chain: Chain, followers: dict[str, Callable[[Array, Array], Array]], rounds: int) -> dict[str, Any]:
    """Follow a path, each frame from the previous pose; return us per frame, and jumps of joints."""
    targets, ready = path(chain), chain.arm.stored_pose("ready")
    found: dict[str, dict[str, float]] = {}
    for name, follow in followers.items():
        times = []
        for _ in range(rounds):
            q, poses = ready, []
            begin = time.process_time()
            for target in targets:
                q = follow(target, q)
                poses.append(q)
            times.append((time.process_time() - begin) / FRAMES * 1e6)
        jumps = np.abs(np.diff(poses, axis=0)).max(axis=1)
        found[name] = {
            "us": min(times),
            "jump": float(jumps.max()),
            "flips": int((jumps > JUMP).sum()),
            "verified": float(chain.verified(np.array(poses), targets).mean()),
        }
    return found


def rates(count: int, rounds: int) -> dict[str, float]:
    """Return verified Panda solutions per second on one core, in both precisions."""
    chain = Chain(lw.models.panda(), "tip")
    targets = chain.goals(3, count)
    seconds: dict[str, list[float]] = {"float64": [], "float32": []}
    good = {}
    for turn in range(rounds + 1):
        for dtype, times in seconds.items():
            begin = time.process_time()
            answer = lw.solve_batch(chain.arm, "tip", targets, threads=1, dtype=dtype, progress=False)
            times.append(time.process_time() - begin)
            if turn == 0:  # may compile
                good[dtype] = int(chain.verified(answer.q, targets).sum())
                times.clear()
    return {dtype: good[dtype] / min(times) for dtype, times in seconds.items()}


def two_threads(count: int, rounds: int) -> float:
    """Return the speed of two threads relative to one."""
    chain = Chain(lw.models.panda(), "tip")
    targets = chain.goals(3, count)
    seconds: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(rounds):
        for threads, times in seconds.items():
            begin = time.perf_counter()
            lw.solve_batch(chain.arm, "tip", targets, threads=threads, progress=False)
            times.append(time.perf_counter() - begin)
    return min(seconds[1]) / min(seconds[2])


def outside(chain: Chain, targets: Array) -> Array:
    """Return targets moved outwards, to 1.05 to 1.5 times the length of the whole arm from its first joint."""
    centre = chain.joints[0][0][:3, 3]
    away = targets[:, :3, 3] - centre
    radius = chain.length * np.random.default_rng(4).uniform(1.05, 1.5, len(targets))
    result = targets.copy()
    result[:, :3, 3] = centre + away * (radius / np.linalg.norm(away, axis=1))[:, None]
    return result


def impossible(chain: Chain, count: int, exact: Solve | None) -> tuple[Array, dict[str, float]]:
    """Return targets within reach with random orientations that no start reaches; the closed form checks a sample."""
    rng = np.random.default_rng(5)
    seen = chain.goals(6, 2000)[:, :3, 3]
    centre = chain.joints[0][0][:3, 3]
    way = rng.normal(size=(count, 3))
    way *= (np.linalg.norm(seen - centre, axis=1).max() * rng.random(count) ** (1 / 3) / np.linalg.norm(way, axis=1))[
        :, None
    ]
    turns = np.linalg.qr(rng.normal(size=(count, 3, 3)))[0]
    turns *= np.linalg.det(turns)[:, None, None]
    targets = np.tile(np.eye(4), (count, 1, 1))
    targets[:, :3, :3], targets[:, :3, 3] = turns, centre + way
    given_up = ~lw.solve_batch(chain.arm, chain.frame, targets, progress=False).success
    left = targets[given_up]
    counts = {"given_up": float(given_up.mean())}
    if exact is not None:
        sample = left[:300]
        counts["closed_form_says_otherwise"] = round(confirmed(chain, exact, sample) * len(sample))
        counts["sample"] = len(sample)
    return left, counts


def spread_out(rounds: int) -> Iterator[int]:
    """Yield at least this many rounds, for at least some seconds. A shared machine may be slow for a second or two."""
    begin, done = time.perf_counter(), 0
    while done < rounds or time.perf_counter() - begin < SECONDS:
        yield done
        done += 1


def cost_of_unreachable(chain: Chain, exact: Solve | None, count: int, rounds: int) -> dict[str, float]:
    """Return the relative cost of a goal if every tenth cannot be reached, for two kinds of such goals."""
    targets = chain.goals(7, count)
    tenth = slice(0, count, 10)
    hopeless, counts = impossible(chain, max(count // 10, 500), exact)
    batches = {"none": targets, "outside": targets.copy(), "impossible": targets.copy()}
    batches["outside"][tenth] = outside(chain, targets[tenth])
    batches["impossible"][tenth] = np.resize(hopeless, batches["impossible"][tenth].shape)
    seconds: dict[str, list[float]] = {name: [] for name in batches}
    for _ in spread_out(rounds):
        for name, goals in batches.items():
            begin = time.process_time()
            lw.solve_batch(chain.arm, chain.frame, goals, threads=1, progress=False)
            seconds[name].append(time.process_time() - begin)
    base = min(seconds.pop("none"))
    return {**{name: min(times) / base for name, times in seconds.items()}, **counts}


# Other processes


def child(*arguments: str, **environment: str) -> str:
    """Run Python with this library in its path; return its output."""
    here = os.pathsep.join([str(Path(lw.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    own = {**os.environ, "PYTHONPATH": here, **environment}
    own.pop("PYTHONDONTWRITEBYTECODE", None)  # as for users: Python caches its bytecode
    done = subprocess.run(
        [sys.executable, *arguments], env=own, capture_output=True, text=True, check=False, encoding="utf-8"
    )
    if done.returncode:
        raise SystemExit(f"a child process failed:\n{done.stderr}")
    return done.stdout


def first_answer(rounds: int) -> float:
    """Return the median wall time from the start of a process to its first answer, kernels cached [s]."""
    times = []
    for _ in range(rounds + 1):
        begin = time.perf_counter()
        if child("-c", FIRST_ANSWER).strip() != "True":
            raise SystemExit("the first answer is wrong")
        times.append(time.perf_counter() - begin)
    return statistics.median(times[1:])


def other_processes(sizes: Sizes, full: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"first_answer": first_answer(max(5, sizes.rounds))}
    say("a first compile ...")
    with tempfile.TemporaryDirectory() as folder:
        found["compile"] = json.loads(child("-c", COMPILE, LINKWORK_KERNELS="jit", LINKWORK_CACHE_DIR=folder))
    say("the same under AVX2 ...")
    options = ("--child", "--goals", str(sizes.goals), "--rounds", str(sizes.rounds))
    found["avx2"] = json.loads(child(__file__, *options, **NARROW))
    if full:
        say("ten million goals ...")
        found["memory"] = json.loads(child("-c", MEMORY))
    return found


# The whole run


def run(sizes: Sizes, *, full: bool) -> Report:
    whole = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
    one_core = stay_on_one_core()
    report = Report(machine(one_core), {"linkwork": lw.__version__}, sizes)
    for name in ARMS:
        say(f"{name}: {sizes.goals:,} goals ...")
        report.verified[name] = share_verified(name, sizes.goals)
    peer_goals: dict[str, Solve] = {}
    for name in ("Panda", "UR5"):
        make, frame, _ = ARMS[name]
        chain = Chain(make(), frame)
        peers: list[Peer] = []
        followers: dict[str, Any] = {}
        for build in (eaik, toolbox):
            try:
                if build is eaik:
                    peers += eaik(chain)
                    peer_goals[name] = peers[1].solve
                else:
                    peer, followers["Robotics Toolbox"] = toolbox(chain)
                    peers.append(peer)
            except ImportError as error:
                line = f"{build.__name__} is not installed ({error}); install it with: pip install 'linkwork[bench]'"
                report.missing += [] if line in report.missing else [line]
        report.versions |= {peer.name.split(",")[0]: peer.version for peer in peers}
        say(f"{name}: single goals ...")
        report.single[name] = singles(chain, peers, sizes)
        if name == "Panda":
            ik = lw.prepare(chain.arm, frame)
            followers = {"linkwork, `ik(target, start=q)`": lambda target, q, ik=ik: ik(target, start=q).q, **followers}
            report.tracking = tracking(chain, followers, sizes.rounds)
        say(f"{name}: goals that cannot be reached ...")
        report.unreachable[name] = cost_of_unreachable(chain, peer_goals.get(name), sizes.goals // 5, sizes.rounds)
    say("batches ...")
    report.batch = rates(sizes.goals, sizes.rounds)
    if whole:
        os.sched_setaffinity(0, whole)
    report.processes = {} if (os.cpu_count() or 1) < 2 else {"two_threads": two_threads(sizes.goals, sizes.rounds)}
    say("other processes ...")
    report.processes |= other_processes(sizes, full)
    report.versions |= {"Python": platform.python_version(), "NumPy": np.__version__}
    return report


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--goals", type=int, help="goals in a batch (100,000)")
    parser.add_argument("--singles", type=int, help="goals solved one by one (2,000)")
    parser.add_argument("--rounds", type=int, help="number of rounds; the best counts (5)")
    parser.add_argument("--quick", action="store_true", help="10,000 goals, 500 one by one, 2 rounds")
    parser.add_argument("--full", action="store_true", help="also ten million goals, to measure memory")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    sizes = Sizes(10_000, 500, 2) if options.quick else Sizes()
    for name in ("goals", "singles", "rounds"):
        value = getattr(options, name)
        if value is not None:
            if value < (100 if name != "rounds" else 1):
                parser.error("--goals and --singles must be at least 100, --rounds at least 1")
            setattr(sizes, name, value)
    if options.child:
        stay_on_one_core()
        print(json.dumps(rates(sizes.goals, sizes.rounds)))
        return
    report = run(sizes, full=options.full)
    found = {**vars(report), "sizes": vars(sizes), "verdicts": list(map(str, verdicts(report)))}
    publish(SECTION, section(report), found, options)


if __name__ == "__main__":
    main()
