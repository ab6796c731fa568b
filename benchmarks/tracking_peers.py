"""Libraries that follow a path one frame at a time: linkwork and three others, with the same arm.

A contender is made for an arm. Started at a pose, it is a function that takes a target and returns the next pose.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
from ik_peers import Array, Chain, toolbox

import linkwork as lw

DT = 0.1  # duration of a frame [s]: the paths need up to 1.4 rad/s, which the arms allow
SPEED = 0.25 / DT  # speed limit for libraries that take one [rad/s]
DAMPING = 1e-2  # `lm_damping` of pink: best of 1e-6 to 1, with the fewest jumps and misses
Frame = Callable[[Array], Array]


@dataclass(frozen=True)
class Contender:
    """A library that follows a path."""

    name: str
    version: str
    begin: Callable[[Array], Frame]


def ours(chain: Chain) -> list[Contender]:
    """`ik.step` from the previous step; the same from plain poses; and without time steps."""
    ik = lw.prepare(chain.arm, chain.frame)

    def from_steps(q: Array) -> Frame:
        step: Any = q

        def frame(target: Array) -> Array:
            nonlocal step
            step = ik.step(target, step, DT)
            return np.asarray(step.q)

        return frame

    def from_poses(q: Array) -> Frame:
        def frame(target: Array) -> Array:
            nonlocal q
            q = ik.step(target, q, DT).q
            return q

        return frame

    def staying(q: Array) -> Frame:
        def frame(target: Array) -> Array:
            nonlocal q
            q = ik(target, start=q, stay=True).q
            return q

        return frame

    def nearest(q: Array) -> Frame:
        def frame(target: Array) -> Array:
            nonlocal q
            q = ik(target, start=q).q
            return q

        return frame

    ways = {
        "linkwork, `ik.step(target, step, dt)`": from_steps,
        "linkwork, `ik.step(target, q, dt)`": from_poses,
        "linkwork, `ik(target, start=q, stay=True)`": staying,
        "linkwork, `ik(target, start=q)`, free to jump": nearest,
    }
    return [Contender(name, lw.__version__, begin) for name, begin in ways.items()]


def robotics_toolbox(chain: Chain) -> Contender:
    """Levenberg-Marquardt in C++ from the previous pose."""
    peer, follow = toolbox(chain)

    def begin(q: Array) -> Frame:
        def frame(target: Array) -> Array:
            nonlocal q
            q = follow(target, q)
            return q

        return frame

    return Contender(peer.name, peer.version, begin)


def ssik(chain: Chain, name: str) -> Contender:
    """Closed forms of a prebuilt arm with `Tracker`, in C++, which stops if the next pose is too far."""
    from ssik import Manipulator

    arm = Manipulator.from_prebuilt(name)
    poses = chain.arm.random_pose(0, 3)
    tools = [np.linalg.inv(chain.forward(q[None])[0]) @ arm.fk(q) for q in poses]
    if np.abs(np.stack(tools) - tools[0]).max() > 1e-9:
        raise SystemExit(f"ssik's {name!r} differs from {chain.arm.name!r}")

    def begin(q: Array) -> Frame:
        tracker, tool = arm.tracker(q), tools[0]

        def frame(target: Array) -> Array:
            return np.asarray(tracker.update(target @ tool).q)

        return frame

    return Contender("ssik, `Tracker`", version("ssik"), begin)


def pink(chain: Chain) -> Contender:
    """One step of differential inverse kinematics per frame, with Pinocchio and DAQP."""
    import pink as library
    import pinocchio as pin
    from pink.limits import ConfigurationLimit, VelocityLimit
    from pink.tasks import FrameTask

    model, parent, arm = pin.Model(), 0, chain.arm
    for k, (constant, hinge, axis) in enumerate(chain.joints):
        kind = pin.JointModelRevoluteUnaligned(axis) if hinge else pin.JointModelPrismaticUnaligned(axis)
        bounds = (np.array([x]) for x in (np.inf, SPEED, arm.lower[k], arm.upper[k]))  # effort, velocity, limits
        parent = model.addJoint(parent, kind, pin.SE3(constant), f"joint {k}", *bounds)
    model.addFrame(pin.Frame("end", parent, 0, pin.SE3(chain.tip), pin.FrameType.OP_FRAME))
    limits = [ConfigurationLimit(model, config_limit_gain=1.0), VelocityLimit(model)]
    task = FrameTask("end", position_cost=1.0, orientation_cost=1.0, lm_damping=DAMPING)

    def begin(q: Array) -> Frame:
        robot = library.Configuration(model, model.createData(), q.copy())

        def frame(target: Array) -> Array:
            task.set_target(pin.SE3(target))
            velocity = library.solve_ik(
                robot, [task], DT, solver="daqp", damping=1e-12, limits=limits, safety_break=False
            )
            robot.integrate_inplace(velocity, DT)
            return np.array(robot.q)

        return frame

    return Contender("pink, one step", version("pin-pink"), begin)
