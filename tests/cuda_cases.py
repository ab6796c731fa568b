"""Small batches of every kind, for the GPU simulator and the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np

import linkwork as lw
import six_joint_arms
from chains import random_chain
from linkwork.errors import DeviceError, MissingExtraError
from linkwork.kernels.cards import require_library

PANDA = lw.models.panda()
OTHERS = {
    "balls": (random_chain(np.random.default_rng(18), 5), "tip"),  # with revolute joints, a screw and a universal joint
    "slides": (random_chain(np.random.default_rng(20), 5), "tip"),  # with a ball, and a joint that turns without limit
    "human": (lw.models.human(), "left_hand"),
}
TARGETS = PANDA.forward(PANDA.random_pose(0, 6), frame="tip")
TARGETS[1, 0, 3] += 2.0  # out of reach
TARGETS[2, 1, 1] = np.nan
UR5 = lw.models.ur5()  # with joint ranges of two turns
TURNED, FAR_STARTS = UR5.forward(UR5.random_pose(1, 4), frame="tip"), UR5.random_pose(2, 4)
FEW = 12  # starts for an unreachable target: the simulator takes seconds for a hundred
CASES: dict[str, dict[str, Any]] = {
    "race": {},
    "single": {"dtype": "float32"},
    "double": {"dtype": "float64", "restarts": FEW},
    "positions": {"orientation": False, "restarts": FEW},
    "rotations": {"position": False},
    "spinning": {"free": "z", "restarts": FEW},
    "unlimited": {"limits": "ignore", "restarts": FEW},
    "tight": {"tolerance": 1e-9, "rotation_tolerance": 1e-9, "restarts": FEW},
    "one start": {"restarts": 1},
    "planar": {"position": "xy", "orientation": False, "restarts": FEW},
    **{name: {} for name in OTHERS},
}


def why_not() -> str:
    """Return why numba-cuda and its simulator cannot be used here; empty if they can."""
    try:
        require_library()
    except (DeviceError, MissingExtraError) as error:
        return str(error)
    return ""


def _beads(arm: lw.Linkage, radius: float) -> lw.Linkage:
    """Return an arm whose links are spheres; pairs with one link between them may touch."""
    frames, made = arm.forward(np.zeros(arm.nq)), {}
    for link, parent in zip(arm.links[1:], arm.parents[1:], strict=True):
        way = (np.linalg.inv(frames[arm.links[parent]]) @ frames[link])[:3, 3]
        made.setdefault(arm.links[parent], []).append(lw.Visual(lw.Sphere(radius), way / 2.0, role="collision"))
    near = [(one, two) for k, one in enumerate(arm.links) for two in arm.links[k + 1 : k + 4]]
    return arm.replace(links={name: {"visuals": balls} for name, balls in made.items()}, disabled_pairs=near)


# Arms with obstacles: made of spheres, of capsules and cylinders, and one without a closed form
OBSTACLES = lw.World(
    [
        lw.Obstacle(lw.Box((0.3, 0.3, 0.5)), (0.5, 0.25, 0.4), name="box"),
        lw.Obstacle(lw.Cylinder(0.1, 0.6), (-0.4, 0.3, 0.5), name="can"),
        lw.Obstacle(lw.Capsule(0.05, 0.3), (0.3, -0.45, 0.5), name="pill"),
        lw.Obstacle(lw.HalfSpace(), (0.0, 0.0, -0.1), name="floor"),
    ]
)
AVOID = lw.Avoid(OBSTACLES, margin=0.01)
FREE: dict[str, tuple[lw.Linkage, dict[str, Any]]] = {
    "seven": (_beads(PANDA, 0.06), {}),
    "six": (_beads(UR5, 0.04), {}),
    "shapes": (PANDA, {}),
    "searched": (_beads(PANDA, 0.06), {"orientation": False, "restarts": FEW}),
}


def free_targets(name: str) -> Any:
    """Return targets of collision-free poses; without a closed form, the last one is inside the box."""
    arm, options = FREE[name]
    poses = arm.random_pose(1, 60)
    targets = arm.forward(poses[~lw.collides(arm, poses, OBSTACLES, margin=AVOID.margin)][:2], frame="tip")
    if options:
        targets[1, :3, 3] = 0.5, 0.25, 0.4
    return targets


FORMS = ("UR10e", "Puma 560", "KUKA KR6 R900")  # arms in closed form, of `six_joint_arms`


def form_targets(name: str) -> Any:
    """Return targets of an arm: some reached, a straight elbow, a straight wrist, one too far, one invalid.

    A straight wrist has a continuum of solutions.
    """
    poses = six_joint_arms.poses(name, 7)
    poses[3, 4], poses[4, 2] = 0.0, 0.0
    targets = six_joint_arms.forward(name, poses)
    targets[5, :3, 3] += 9.0
    targets[6, 0, 0] = np.nan
    return targets


def case_of(name: str) -> tuple[lw.Linkage, str, Any, dict[str, Any]]:
    """Return linkage, frame, targets and options of a case."""
    options = dict(CASES[name])
    if name == "planar":
        return lw.models.planar([15, 10, 5]), "tip", np.array([[-20.0, 5.0], [3.0, 4.0], [100.0, 0.0]]), options
    if name in OTHERS:
        linkage, frame = OTHERS[name]
        return linkage, frame, linkage.forward(linkage.random_pose(0, 2), frame=frame), options
    targets = TARGETS[:, :3, 3].copy() if name == "positions" else TARGETS
    targets = TARGETS[:, :3, :3].copy() if name == "rotations" else targets
    return PANDA, "tip", targets, options


def starts_of(count: int) -> Any:
    """Return a start for each target."""
    return PANDA.random_pose(4, count)
