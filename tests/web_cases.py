"""Cases for `linkwork.js`: linkages packed by Python, problems, and Python's answers.

    python tests/web_cases.py FOLDER [--goals 250]

writes them; ``node --test`` in ``web/`` reads them from the folder in the variable LINKWORK_CASES.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import linkwork as lw
from linkwork.kernels.pack import Pack
from linkwork.kernels.runtime import the_pack
from linkwork.linkage.linkage import Linkage
from linkwork.solvers.iterate import follow, settled
from linkwork.solvers.methods import METHODS
from linkwork.solvers.options import Settings
from linkwork.solvers.problem import Problem

ORIGIN = (0.0, 0.0, 0.0)
CHAINS: dict[str, tuple[Callable[[], Linkage], Any, dict[str, Any]]] = {  # model, goal, options of prepare
    "panda": (lw.models.panda, "tip", {}),
    "ur5": (lw.models.ur5, "tip", {}),
    "stanford": (lw.models.stanford, "tip", {}),
    "scara": (lw.models.scara, lw.Reach("tip", position=ORIGIN), {"orientation": False}),
    "panda, free axis": (lw.models.panda, lw.Reach("tip", pose=np.eye(4), free="z"), {"free": "z"}),
    "planar": (
        lambda: lw.models.planar([15, 10, 5]),
        lw.Reach("tip", position=(0, 0)),
        {"position": "xy", "orientation": False},
    ),
    "floating hand": (
        lambda: lw.models.human(root="floating"),
        lw.Reach("left_hand", position=ORIGIN),
        {"orientation": False},
    ),
}
RUNS = 4  # complete solves by each textbook method
UNSTEADY = ("floating hand",)  # far more joints than goals: rounding errors of a hundred cycles add up
STEPS: dict[str, tuple[dict[str, Any], ...]] = {  # methods, with options under their names in Python
    "inverse": ({},),
    "pseudoinverse": ({}, {"form": "rows"}),
    "damped": ({}, {"damping": 0.3}),
    "selectively-damped": ({}, {"gamma": 0.2}),
    "control": ({}, {"gains": 0.3, "form": "printed"}),
    "alternative": ({},),
    "transpose": ({}, {"scale": 0.01}),
    "ccd": ({},),
    "ranked-ccd": ({}, {"ranking": "recency"}),
    "fabrik": ({}, {"foresight": 0.0, "overshoot": 0.0}),
    "analytic": ({}, {"elbow": "up"}),
}


def plain(found: Any) -> dict[str, Any]:
    """Return a solution or a step in the form of a page."""
    kept = {"q": found.q, "residuals": found.residuals}
    return {name: value.tolist() for name, value in kept.items()} | {
        "success": bool(found.success),
        "status": found.status,
    }


def cycle(found: lw.Step) -> dict[str, Any]:
    """Return a control cycle in the form of a page."""
    return plain(found) | {"joint": found.joint, "limit": found.limit, "share": float(found.share)}


def searching(ik: Any) -> Any:
    """Return a prepared solver that never uses a closed form, since pages have none."""
    ik.__dict__["_answering"] = None
    return ik


def chain_case(name: str, count: int) -> dict[str, Any]:
    """Return targets within reach, with and without starts, some out of reach, a path, and textbook steps."""
    make, goal, options = CHAINS[name]
    arm = make()
    frame = goal if isinstance(goal, str) else goal.frame
    ik = searching(lw.prepare(arm, frame, **options))
    poses, starts = arm.random_pose(1, count), arm.random_pose(2, count)
    targets = arm.forward(poses, frame=frame)
    far = targets[: max(count // 20, 2)].copy()
    far[:, :3, 3] *= 3.0
    case = {
        "name": name,
        "frame": frame,
        "poses": poses.tolist(),
        "starts": starts.tolist(),
        "targets": targets.reshape(count, 16).tolist(),
        "jacobians": [arm.jacobian(q, frame).ravel().tolist() for q in poses[:20]],
        "local": [arm.jacobian(q, frame, axes="local").ravel().tolist() for q in poses[:20]],
        "frames": {key: value.ravel().tolist() for key, value in arm.forward(poses[0]).items()},
        "fresh": [plain(ik(target)) for target in targets],
        "near": [plain(ik(target, start=q)) for target, q in zip(targets, starts, strict=True)],
        "stay": [plain(ik(target, start=q, stay=True)) for target, q in zip(targets[:40], starts, strict=False)],
        "far": far.reshape(-1, 16).tolist(),
        "missed": [plain(ik(target, start=q)) for target, q in zip(far, starts, strict=False)],
        "cycles": [cycle(ik.step(t, q, dt=0.02)) for t, q in zip(targets[:100], starts, strict=False)],
        "path": [],
    }
    if name not in UNSTEADY:
        q: Any = starts[0]
        for k in range(100):
            q = ik.step(targets[k // 20], q, dt=0.02, velocity=1.5, scale=0.5)
            case["path"].append(cycle(q))
    return case | {"textbook": textbook_steps(arm, ik.goal, targets[:20], starts) if "free" not in options else []}


def textbook_steps(arm: Linkage, goal: Any, targets: Any, starts: Any) -> list[dict[str, Any]]:
    """Return one step of each method by NumPy and the result of the loop, or why the method does not apply."""
    found: list[dict[str, Any]] = []
    for name, several in STEPS.items():
        for options in several:
            method, case = METHODS[name](**options), {"method": name, "options": options}
            try:
                method.accept(Problem(arm, goal))
            except lw.errors.GoalError as error:
                found.append(case | {"refused": str(error)})
                continue
            settings = settled(Settings(), method)
            pairs = list(zip(targets, starts, strict=False))
            steps = [follow(method, Problem(arm, goal.moved(t)), q, settings, 1, {}).tolist() for t, q in pairs]
            ends = [lw.solve(arm, goal.moved(t), start=q, method=method) for t, q in pairs[:RUNS]]
            runs = [plain(end) | {"iterations": end.iterations} for end in ends]
            found.append(case | {"steps": steps, "runs": runs, "exact": isinstance(the_pack(), Pack)})
    return found


def standing(rng: np.random.Generator, size: float) -> dict[str, Any]:
    """Return random targets around a standing body, for two hands and the eyes."""
    return {
        "left_hand": (np.array([0.25, 0.25, 1.1]) + rng.uniform(-size, size, 3)).tolist(),
        "right_hand": (np.array([0.25, -0.25, 1.1]) + rng.uniform(-size, size, 3)).tolist(),
        "eyes": (np.array([1.5, 0.0, 1.5]) + rng.uniform(-0.5, 0.5, 3)).tolist(),
    }


def travelling(rng: np.random.Generator, size: float) -> dict[str, Any]:
    """Return targets for the hands of a body that may go anywhere."""
    left = rng.uniform(-size, size, 3)
    return {"left_hand": left.tolist(), "right_hand": (left + rng.uniform(-0.3, 0.3, 3)).tolist()}


def goals_of(given: dict[str, Any]) -> list[lw.Goal]:
    """Return goals from their names; a body with eyes also keeps its feet in place."""
    hands: list[lw.Goal] = [lw.Reach(hand, position=given[hand]) for hand in ("left_hand", "right_hand")]
    if "eyes" not in given:
        return hands
    return [lw.Hold("left_foot"), lw.Hold("right_foot"), *hands, lw.LookAt("eyes", at=given["eyes"])]


BODIES: dict[str, tuple[Callable[[], Linkage], list[lw.Goal], Any, float]] = {  # model, further goals, targets, scale
    "figure": (lw.models.human, [], standing, 0.2),
    "figure with a wish": (lw.models.human, [lw.Rest("stand")], standing, 0.3),
    "figure out of reach": (lw.models.human, [], standing, 1.5),
    "figure that travels": (lambda: lw.models.human(root="floating"), [], travelling, 6.0),
}


HOPELESS = 4  # problems out of reach, which take all their starts


def body_case(name: str, count: int) -> dict[str, Any]:
    """Return problems of a body, each with its own start, and single control cycles towards them."""
    make, more, place, size = BODIES[name]
    count = min(count, HOPELESS) if "out of reach" in name else count
    body, rng = make(), np.random.default_rng(3)
    given = [place(rng, size) for _ in range(count)]
    starts = body.interpolate(body.stored_pose("stand"), body.random_pose(5, count), np.full(count, 0.2))
    ik = lw.prepare(body, [*goals_of(given[0]), *more])
    wanted = [[*goals_of(names), *more] for names in given]
    pairs = list(zip(wanted, starts, strict=True))
    return {
        "name": name,
        "goals": given,
        "starts": starts.tolist(),
        "found": [plain(ik(goals, start=q)) for goals, q in pairs],
        "stay": [plain(ik(goals, start=q, stay=True)) for goals, q in pairs[:10]],
        "cycles": [cycle(ik.step(goals, q, dt=0.02, velocity=2.0)) for goals, q in pairs],
    }


def write(folder: Path, goals: int) -> None:
    """Write all cases, each with its linkage as text and as bytes."""
    for name, (make, goal, _) in CHAINS.items():
        _put(folder, chain_case(name, goals), make().pack(goal))
    for name, (make, more, place, _) in BODIES.items():
        packed = make().pack([*goals_of(place(np.random.default_rng(0), 0.0)), *more])
        _put(folder, body_case(name, max(goals // 8, 12)), packed)


def _put(folder: Path, case: dict[str, Any], packed: lw.PackedLinkage) -> None:
    stem = case["name"].replace(" ", "-").replace(",", "")
    packed.save(folder / f"{stem}.linkwork")
    packed.save(folder / f"{stem}.linkwork.json")
    (folder / f"{stem}.case.json").write_text(json.dumps(case), encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--goals", type=int, default=150)
    words = parser.parse_args()
    words.folder.mkdir(parents=True, exist_ok=True)
    write(words.folder, words.goals)
