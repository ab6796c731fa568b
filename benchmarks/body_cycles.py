"""Control cycles of a whole body, compared with mink, pink and PlaCo: Talos walks, five frames are followed.

A gait of smooth joint angles and a moving base gives the targets of all cycles beforehand. Each library takes one step
per cycle from its own last pose. On the first path all targets are within reach; on the second, both hand targets move
30 cm outwards and back. Pinocchio checks the errors, and how far a joint moves in one cycle.

    python benchmarks/body_cycles.py                  print the tables and update results.md
    python benchmarks/body_cycles.py --no-write       print only
    python benchmarks/body_cycles.py --json           JSON on stdout, messages on stderr
"""

from __future__ import annotations

import gc
import platform
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from forward import machine
from ik import stay_on_one_core
from results import arguments, publish, say
from whole_body_peers import FRAMES, POSITION, ROTATION, Array, Body, Peer, linkwork, mink, pink, placo

import linkwork as lw

SECTION = "body-cycles"
OURS = "linkwork, `ik.step(goals, q, dt)`"
RATE, SECONDS, ROUNDS = 200, 4.0, 3
PERIOD, FORWARD, SWAY, BOB = 1.2, 0.3, 0.03, 0.02  # period of the gait [s], and motion of the base [m/s, m, m]
AWAY = 0.3  # how far the hand targets move outwards [m]
GAIT = {  # mean, amplitude [rad] and phase [turns] of joints
    "leg_{}_3_joint": (-0.45, 0.30, 0.0),
    "leg_{}_4_joint": (0.90, 0.35, 0.2),
    "leg_{}_5_joint": (-0.45, 0.20, 0.4),
    "arm_{}_1_joint": (0.0, 0.15, 0.5),
    "arm_{}_2_joint": (0.3, 0.10, 0.1),
    "arm_{}_4_joint": (-1.2, 0.35, 0.5),
    "torso_1_joint": (0.0, 0.15, 0.25),
}
SIDES = {"left": 0.0, "right": 0.5}


def gait(body: Body) -> Array:
    """Return the poses of a walk in Pinocchio's order, one per cycle."""
    times = np.arange(0.0, SECONDS, 1.0 / RATE)
    poses = np.tile(body.zero, (len(times), 1))
    turn = times / PERIOD
    poses[:, 0], poses[:, 1] = FORWARD * times, SWAY * np.sin(2 * np.pi * turn)
    poses[:, 2] = BOB * np.cos(4 * np.pi * turn)
    for pattern, (middle, swing, phase) in GAIT.items():
        for side, shift in SIDES.items() if "{}" in pattern else {"": 0.0}.items():
            place = body.places([pattern.format(side)])[0]
            sign = -1.0 if side == "right" and pattern.startswith("arm") and "_4_" not in pattern else 1.0
            angles = sign * (middle + swing * np.sin(2 * np.pi * (turn + shift + phase)))
            poses[:, place] = np.clip(angles, body.lower[place - 7], body.upper[place - 7])
    return poses


def targets_of(body: Body, poses: Array, *, away: float) -> Array:
    """Return the targets of the five frames in every cycle, shape (n, 5, 4, 4); the hands move outwards and back."""
    targets = np.array([body.forward(pose) for pose in poses])
    share = np.sin(np.pi * np.linspace(0.0, 1.0, len(poses))) ** 2
    for k, frame in enumerate(FRAMES):
        if frame.startswith("arm"):
            out = targets[:, k, :3, 3] - targets[:, FRAMES.index("head_2_link"), :3, 3]
            out /= np.linalg.norm(out, axis=1, keepdims=True)
            targets[:, k, :3, 3] += away * share[:, None] * out
    return targets


Cycle = Callable[[Any, Any], Any]  # targets in the library's form, last pose -> next pose


def ours(
    body: Body, first: Array
) -> tuple[Cycle, Callable[[Array], Any], Callable[[Array], Any], Callable[..., Array]]:
    """Return linkwork's cycle, its conversion of targets, and those of poses."""
    own, begin, back = linkwork(body)

    def goals(targets: Array) -> list[lw.Reach]:
        return [lw.Reach(frame, pose=target) for frame, target in zip(FRAMES, targets, strict=True)]

    ik = lw.prepare(own, goals(first), tolerance=POSITION, rotation_tolerance=ROTATION)
    return lambda wanted, q: ik.step(wanted, q, 1.0 / RATE).q, goals, begin, back


def of_peer(peer: Peer) -> tuple[Cycle, Callable[[Array], Any], Callable[[Array], Any], Callable[..., Array]]:
    """Return a cycle that is one step of a peer."""
    return lambda targets, q: peer.attempt(targets, q, 1)[0].copy(), np.copy, peer.begin, peer.pose


def followed(body: Body, cycle: Any, start: Array, targets: Array) -> dict[str, float]:
    """Return the time per cycle [us], misses, and largest joint motion in a cycle of a library on a path."""
    step, ready, begin, back = cycle
    wanted = [ready(each) for each in targets]
    best = np.full(len(wanted), np.inf)
    for _ in range(ROUNDS):
        q, poses = begin(start), [start]
        gc.collect()
        gc.disable()
        for k, each in enumerate(wanted):
            before = time.process_time_ns()
            q = step(each, q)
            best[k] = min(best[k], time.process_time_ns() - before)
            poses.append(back(q))
        gc.enable()
    missed = [not body.verified(pose, each) for pose, each in zip(poses[1:], targets, strict=True)]
    found = np.array([body.forward(body.pin.normalize(body.model, pose)) for pose in poses[1:]])
    apart = np.linalg.norm(found[..., :3, 3] - targets[..., :3, 3], axis=-1)
    moves = np.abs(np.diff(np.array(poses)[:, 7:], axis=0)).max()
    return {
        "us": float(best.mean() / 1e3),
        "missed": float(np.mean(missed)),
        "worst": float(apart.max()),
        "move": float(moves),
    }


def section(report: dict[str, Any]) -> str:
    """Return the section of results.md."""
    where = f"{machine(one_core=True)['cpu']}, one core, Python {platform.python_version()}"
    lines = [
        "## A body in a control loop",
        "",
        f"{date.today().isoformat()}, linkwork {lw.__version__}, {where}. Talos with a free base walks for {SECONDS:g} "
        f"s at {RATE} Hz; five frames are followed, one step per cycle from the previous pose. In the gait itself, a "
        f"joint moves by at most {report['gait']:.2g} rad per cycle.",
        "",
        "| | us per cycle | missed cycles | largest error | largest joint motion | with hands out of reach |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, row in report["cycles"].items():
        near, far = row["near"], row["far"]
        lines.append(
            f"| {name} | {near['us']:,.0f} | {near['missed']:.1%} | {1e3 * near['worst']:.2g} mm | "
            f"{near['move']:.2g} rad | {far['move']:.2g} rad |"
        )
    return "\n".join(lines)


def contenders(body: Body, first: Array) -> dict[str, Any]:
    """Return the installed libraries by name."""
    found: dict[str, Any] = {OURS: ours(body, first)}
    makers: Sequence[Callable[[Body], Peer]] = (pink, mink, placo)
    for make in makers:
        try:
            peer = make(body)
        except ImportError as error:
            say(f"skipped: {error}")
            continue
        found[f"{peer.name} {peer.version}"] = of_peer(peer)
    return found


def main() -> None:
    options = arguments(__doc__).parse_args()
    stay_on_one_core()
    with tempfile.TemporaryDirectory() as folder:
        body = Body(Path(folder))
        poses = gait(body)
        paths = {"near": targets_of(body, poses, away=0.0), "far": targets_of(body, poses, away=AWAY)}
        report: dict[str, Any] = {"gait": float(np.abs(np.diff(poses[:, 7:], axis=0)).max()), "cycles": {}}
        for name, cycle in contenders(body, paths["near"][0]).items():
            say(f"{name} ...")
            rows = {path: followed(body, cycle, poses[0], targets) for path, targets in paths.items()}
            report["cycles"][name] = rows
    publish(SECTION, section(report), report, options)


if __name__ == "__main__":
    main()
