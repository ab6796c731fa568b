"""Peers of the closed forms: EAIK, ssik, jaik (compiled by Numba) and frankik, each called as its users would.

All get the same arm. If a library has its own arm, it gets our targets, transformed beforehand by the difference
between the two bases and the two tips.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
from ik_peers import Array, Chain

from linkwork.transforms import inverse

Call = Callable[[Any], Any]


@dataclass(frozen=True)
class Lister:
    """A way to solve for one target.

    Attributes:
        name: Library and variant.
        version: Release of the library.
        call: The timed function; takes a target in the library's form.
        adapt: Converts our target to that form.
        poses: Converts the result of the call to poses, shape (k, n); not timed.
    """

    name: str
    version: str
    call: Call
    adapt: Callable[[Array], Array]
    poses: Callable[[Any], Array]


def upright(turned: Array) -> Array:
    """Return the rotation that makes our tip upright at zero: these libraries have no tip orientation."""
    result = np.eye(4)
    result[:3, :3] = turned.T
    return result


def lines(chain: Chain) -> tuple[Array, Array, Array]:
    """Return axes (n, 3), offsets between them (n + 1, 3) and the orientation of the tip, all at zero."""
    world, axes, places = np.eye(4), [], []
    for constant, _, axis in chain.joints:
        world = world @ constant
        axes.append(world[:3, :3] @ axis)
        places.append(world[:3, 3])
    tip = world @ chain.tip
    return np.array(axes), np.diff([np.zeros(3), *places, tip[:3, 3]], axis=0), tip[:3, :3]


def eaik(chain: Chain) -> Lister:
    """All branches of six joints, limits unchecked."""
    from eaik.IK_HP import HPRobot

    axes, steps, turned = lines(chain)
    robot = HPRobot(axes, steps)
    if not robot.hasKnownDecomposition():
        raise LookupError(f"EAIK has no closed form for {chain.arm.name!r}")

    def poses(found: Any) -> Array:
        answers = np.asarray(found.Q, dtype=float).reshape(-1, len(axes))
        return np.asarray(answers[~np.asarray(found.is_LS, dtype=bool)])

    return Lister("EAIK", version("eaik"), robot.IK, lambda target: target @ upright(turned), poses)


def ssik(name: str) -> tuple[Lister, Callable[[Array], Array], Array]:
    """All solutions within limits of an arm that the library ships, without whole turns.

    Arms built at run time are fifty times slower, so this is its own arm of that name, with its own forward kinematics
    and limits (n, 2) for making goals and checking answers.
    """
    from ssik import Manipulator

    arm = Manipulator.from_prebuilt(name)

    def call(target: Array) -> Any:
        return arm.solve(target, enumerate_windings=False)

    def poses(found: Any) -> Array:
        return np.array([one.q for one in found]).reshape(-1, arm.dof)

    limits = np.array([(-math.pi, math.pi) if one is None else one for one in arm.joint_limits], dtype=float)
    return Lister("ssik, its own arm", version("ssik"), call, lambda target: target, poses), arm.fk, limits


def jaik(chain: Chain, name: str) -> tuple[Lister, Callable[[Array], Any]]:
    """All eight branches of a Universal Robots arm, by its generated code, for one target and for many."""
    from jaik import make_robot
    from numba import njit

    forward, inverse_all, _ = make_robot(name, solver="numba", format="T")
    before, after = _between(forward, chain)

    @njit  # type: ignore[untyped-decorator]
    def many(targets: Any) -> Any:
        angles, valid = np.empty((len(targets), 6, 8)), np.empty((len(targets), 8), np.bool_)
        for k in range(len(targets)):
            angles[k], valid[k] = inverse_all(targets[k])
        return angles, valid

    def adapt(targets: Array) -> Array:
        return np.ascontiguousarray(before @ targets @ after)

    def poses(found: Any) -> Array:
        angles, valid = found
        return np.asarray(angles.T[valid])

    many(np.tile(np.eye(4), (1, 1, 1)))
    return Lister("jaik, Numba", version("jaik"), inverse_all, adapt, poses), many


def frankik(chain: Chain) -> list[Lister]:
    """Panda: one solution with joint 7 sampled over its whole range, and a single call with one value of joint 7.

    By default, frankik samples 40 degrees around a given angle and solves a third of these goals.
    """
    from frankik import FrankaKinematics, RobotType
    from frankik._core import ik

    kinematics = FrankaKinematics(robot_type=RobotType.PANDA)
    before, after = _between(kinematics.forward, chain)
    middle = chain.arm.stored_pose("ready")
    hand = np.eye(4)  # `inverse` takes the flange, `forward` returns the hand
    hand[:2, :2], hand[2, 3] = np.sqrt(0.5) * np.array([[1.0, 1.0], [-1.0, 1.0]]), 0.1034
    after = after @ inverse(hand)

    def adapt(targets: Array) -> Array:
        return np.asarray(before @ targets @ after)

    def poses(found: Any) -> Array:
        return np.zeros((0, 7)) if found is None or np.isnan(found).any() else np.asarray(found)[None]

    def sampled(target: Array) -> Any:
        return kinematics.inverse(target, q7_sample_interval=332, global_solution=True)

    release = version("frankik")
    return [
        Lister("frankik, joint 7 sampled", release, sampled, adapt, poses),
        Lister("frankik, joint 7 given, one value tried", release, lambda target: ik(target, middle), adapt, poses),
    ]


def _between(forward: Callable[[Array], Array], chain: Chain) -> tuple[Array, Array]:
    """Return ``before`` and ``after`` in ``theirs(q) = before @ ours(q) @ after``, for the poses of both tips.

    The tips are on the same link, and the bases differ by a rotation about the first axis, which is vertical.
    """
    poses = np.random.default_rng(0).uniform(-1.0, 1.0, (8, len(chain.joints)))
    ours, theirs = chain.forward(poses), np.array([forward(q) for q in poses])
    for quarter in range(4):
        before = np.eye(4)
        before[:2, :2] = np.linalg.matrix_power(np.array([[0.0, -1.0], [1.0, 0.0]]), quarter)
        after = inverse(before @ ours[0]) @ theirs[0]
        if np.abs(before @ ours @ after - theirs).max() < 1e-4:  # their dimensions have four digits
            return before, after
    raise LookupError(f"this arm differs from {chain.arm.name!r}")
