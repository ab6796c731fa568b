"""Peers of inverse kinematics, and a chain in plain NumPy that checks every answer.

The peers are EAIK (closed forms) and the Robotics Toolbox (`ik_LM`, in C++). Both get this chain, so that all solve the
same arm, and both must keep the joint limits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

import linkwork as lw
from linkwork.transforms import plane_basis

Array = NDArray[np.float64]
Solve = Callable[[Any], Any]

POSITION, ROTATION = 1e-4, 1e-3  # largest errors of a reached goal [m, rad]
TURN = 2.0 * math.pi
SAMPLES = 255  # sampled values of the joint that is locked for a seven-joint arm
RESIDUAL = POSITION**2 / 2.0  # the toolbox adds metres and radians: the loosest bound that guarantees both
SEARCHES, GAIN = 1000, 0.1  # Chan's damping, with the fastest of several gains


class Chain:
    """The joints from the world to a frame, evaluated with matrix products in NumPy only."""

    def __init__(self, arm: lw.Linkage, frame: str) -> None:
        by_child = {arc.child: arc for arc in arm.arcs}
        last = next((extra for extra in arm.extra_frames if extra.name == frame), None)
        arcs, link = [], frame if last is None else last.link
        while link in by_child and by_child[link].parent is not None:
            arcs.append(by_child[link])
            link = str(by_child[link].parent)
        self.arm, self.frame = arm, frame
        self.base = by_child[link].placement if link in by_child else np.eye(4)
        self.joints: list[tuple[Array, bool, Array]] = []
        waiting = self.base
        for arc in reversed(arcs):
            waiting = waiting @ arc.placement
            motion = arc.articulation
            if isinstance(motion, lw.Revolute | lw.Prismatic):
                self.joints.append((waiting, isinstance(motion, lw.Revolute), np.array(motion.axis)))
                waiting = np.eye(4)
            elif not isinstance(motion, lw.Fixed):
                raise SystemExit(f"only revolute, prismatic and fixed joints: joint {arc.name!r} is {motion}")
        self.tip = waiting if last is None else waiting @ last.placement
        if len(self.joints) != arm.nq:
            raise SystemExit(f"every joint of {arm.name!r} must move {frame!r}")

    @property
    def length(self) -> float:
        """Sum of all segments and strokes: an upper bound of the reach [m]."""
        segments = sum(float(np.linalg.norm(constant[:3, 3])) for constant, _, _ in self.joints[1:])
        strokes = zip(self.joints, self.arm.lower, self.arm.upper, strict=True)
        slides = sum(max(abs(low), abs(high)) for (_, hinge, _), low, high in strokes if not hinge)
        return segments + float(slides) + float(np.linalg.norm(self.tip[:3, 3]))

    def forward(self, poses: Array) -> Array:
        """Return the frame at poses (m, nq), shape (m, 4, 4)."""
        world = np.tile(np.eye(4), (len(poses), 1, 1))
        for (constant, hinge, axis), value in zip(self.joints, poses.T, strict=True):
            motion = np.tile(np.eye(4), (len(poses), 1, 1))
            if hinge:  # Rodrigues
                x, y, z = axis
                K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
                motion[:, :3, :3] += np.sin(value)[:, None, None] * K + (1.0 - np.cos(value))[:, None, None] * (K @ K)
            else:
                motion[:, :3, 3] = value[:, None] * axis
            world = world @ constant @ motion
        return np.asarray(world @ self.tip)

    def goals(self, seed: int, count: int) -> Array:
        """Return targets of random poses within the limits."""
        low, high = self.arm.lower, self.arm.upper
        return self.forward(np.random.default_rng(seed).uniform(low, high, (count, len(low))))

    def verified(self, poses: Array, targets: Array, *, turned: bool = True) -> NDArray[np.bool_]:
        """Return which poses reach their targets within tolerance and keep the limits exactly."""
        world = self.forward(poses)
        good = np.linalg.norm(world[:, :3, 3] - targets[:, :3, 3], axis=1) <= POSITION
        if turned:  # the Frobenius distance of two rotations is 2 sqrt(2) sin(angle / 2)
            apart = np.linalg.norm(world[:, :3, :3] - targets[:, :3, :3], axis=(1, 2))
            good &= apart <= 2.0 * math.sqrt(2.0) * math.sin(ROTATION / 2.0)
        return np.asarray(good & (poses >= self.arm.lower).all(axis=1) & (poses <= self.arm.upper).all(axis=1))


@dataclass(frozen=True)
class Peer:
    """A library and its function that solves for one target: a pose, or None."""

    name: str
    version: str
    solve: Solve


def eaik(chain: Chain) -> list[Peer]:
    """Closed forms: for six joints, one call gives all branches; for seven, the last joint is locked and sampled.

    EAIK does not check limits. They are checked here with NumPy, and in a plain loop, which is faster for eight
    branches. For six joints there is a third peer, the call without checks.
    """
    from eaik.IK_Homogeneous import HomogeneousRobot

    frames, world = [], np.eye(4)
    for constant, _, axis in chain.joints:
        world = world @ constant
        turned = np.eye(4)
        turned[:3, :3] = plane_basis(axis)
        frames.append(world @ turned)
    zero = np.array([*frames, world @ chain.tip])
    low, high = chain.arm.lower, chain.arm.upper
    if chain.arm.nq == 6:
        robots = [HomogeneousRobot(zero)]
    else:
        shares = [_halving(k) for k in range(1, SAMPLES + 1)]
        locked = [float(low[-1] + share * (high[-1] - low[-1])) for share in shares]
        robots = [HomogeneousRobot(zero, fixed_axes=[(len(low) - 1, value)]) for value in locked]
    if not robots[0].hasKnownDecomposition():
        raise SystemExit(f"EAIK has no closed form for {chain.arm.name!r}")

    def with_numpy(target: Array) -> Any:
        for robot in robots:
            found = robot.IK(target)
            if found.num_solutions():
                poses = low + (found.Q - low) % TURN
                good = (poses <= high).all(axis=1) & ~found.is_LS
                k = good.argmax()
                if good[k]:
                    return poses[k]
        return None

    lowest, highest = low.tolist(), high.tolist()

    def in_a_loop(target: Array) -> Any:
        for robot in robots:
            found = robot.IK(target)
            for values, approximate in zip(found.Q.tolist(), found.is_LS, strict=True):
                if approximate:
                    continue
                for x, lower, upper in zip(values, lowest, highest, strict=True):
                    if not (lower <= x <= upper or lower <= x + TURN <= upper):
                        break
                else:
                    return [x if lower <= x else x + TURN for x, lower in zip(values, lowest, strict=True)]
        return None

    release = version("eaik")
    peers = [Peer("EAIK, limits in NumPy", release, with_numpy), Peer("EAIK, limits by hand", release, in_a_loop)]
    if len(robots) == 1:
        peers.append(Peer("EAIK, limits unchecked", release, lambda target: robots[0].IK(target).Q[0]))
    return peers


def _halving(k: int) -> float:
    """Return the k-th number of the sequence 1/2, 1/4, 3/4, 1/8, ..., which halves the gaps between those before."""
    value, part = 0.0, 0.5
    while k:
        value, part, k = value + part * (k & 1), part / 2.0, k >> 1
    return value


def toolbox(chain: Chain) -> tuple[Peer, Callable[[Array, Array], Array]]:
    """Levenberg-Marquardt in C++, with random restarts or from a given pose."""
    import roboticstoolbox as rtb

    sequence = rtb.ETS(rtb.ET.SE3(np.eye(4)))
    ranges = np.stack([chain.arm.lower, chain.arm.upper], axis=1)
    turned = np.eye(4)
    for (constant, hinge, axis), limits in zip(chain.joints, ranges, strict=True):
        basis = np.eye(4)
        basis[:3, :3] = plane_basis(axis)
        joint = rtb.ET.Rz(qlim=limits) if hinge else rtb.ET.tz(qlim=limits)
        sequence = sequence * rtb.ET.SE3(turned.T @ constant @ basis) * joint
        turned = basis
    sequence = sequence * rtb.ET.SE3(turned.T @ chain.tip)

    def fresh(target: Array) -> Any:
        found = sequence.ik_LM(target, slimit=SEARCHES, tol=RESIDUAL, k=GAIN)
        return found.q if found.success else None

    def follow(target: Array, start: Array) -> Array:
        return np.asarray(sequence.ik_LM(target, q0=start, slimit=SEARCHES, tol=RESIDUAL, k=GAIN).q)

    return Peer("Robotics Toolbox", rtb.__version__, fresh), follow
