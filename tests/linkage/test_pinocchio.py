"""Random trees of random joints, compared with Pinocchio: frames, Jacobians and their time derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linkwork as lw
from linkages import JOINTS, one_joint, random_tree
from linkwork.linkage.joints import (
    Ball,
    Continuous,
    Fixed,
    Floating,
    Joint,
    Planar,
    Prismatic,
    Revolute,
    Screw,
    Universal,
)

pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed")

ALIGNED = {
    (1.0, 0.0, 0.0): (pin.JointModelRX, pin.JointModelPX, pin.JointModelHX),
    (0.0, 1.0, 0.0): (pin.JointModelRY, pin.JointModelPY, pin.JointModelHY),
    (0.0, 0.0, 1.0): (pin.JointModelRZ, pin.JointModelPZ, pin.JointModelHZ),
}
LETTERS = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


def hinge(axis: tuple[float, ...]) -> Any:
    return ALIGNED[axis][0]() if axis in ALIGNED else pin.JointModelRevoluteUnaligned(np.array(axis))


def slider(axis: tuple[float, ...]) -> Any:
    return ALIGNED[axis][1]() if axis in ALIGNED else pin.JointModelPrismaticUnaligned(np.array(axis))


def hinges(order: str) -> list[Any]:
    """Return the revolute joints of Euler angles from the parent outwards; for fixed axes, in reverse order."""
    turns = [hinge(LETTERS[letter]) for letter in order.lower()]
    return turns if order.isupper() else turns[::-1]


def helix(axis: tuple[float, ...], lead: float) -> Any:
    pitch = lead / (2.0 * np.pi)
    return ALIGNED[axis][2](pitch) if axis in ALIGNED else pin.JointModelHelicalUnaligned(np.array(axis), pitch)


def in_plane(normal: tuple[float, ...]) -> tuple[Any, Any]:
    """Return sliders along the two directions of a plane that a planar joint documents."""
    u = np.eye(3)[(int(np.abs(normal).argmax()) + 1) % 3]
    u = u - (u @ normal) * np.array(normal)
    u /= np.linalg.norm(u)
    return slider(tuple(u)), slider(tuple(np.cross(normal, u)))


def peers(articulation: lw.joints.Articulation) -> list[Any]:
    """Return a sequence of Pinocchio's joints with the same motion.

    Its composite joint does not work, because its Jacobian's derivative rotates all axes with the whole joint.
    """
    match articulation:
        case Screw(axis=axis, lead=lead):
            return [helix(axis, lead)]
        case Revolute(axis=axis) | Continuous(axis=axis):
            return [hinge(axis)]
        case Prismatic(axis=axis):
            return [slider(axis)]
        case Universal(axis=first, second=second):
            return [hinge(first), hinge(second)]
        case Planar(axis=axis):
            return [*in_plane(axis), hinge(axis)]
        case Ball(euler=None):
            return [pin.JointModelSpherical()]
        case Ball(euler=order):
            return hinges(order)
        case Floating(euler=None):
            return [pin.JointModelFreeFlyer()]
        case Floating(euler=order):
            slides = [slider(axis) for axis in LETTERS.values()]
            return [*slides, *hinges(order)]
    raise AssertionError(f"no peer for {articulation!r}")


class Peer:
    """A linkage rebuilt in Pinocchio, where followers become independent joints."""

    def __init__(self, linkage: lw.Linkage) -> None:
        self.linkage, self.model, self.ids = linkage, pin.Model(), {}
        self.known: dict[bytes, tuple[np.ndarray, np.ndarray]] = {}  # results of `at`, by pose
        joint_of, place_of = [], []  # for each link: the last moving joint above it, and its placement there
        for i, arc in enumerate(linkage.arcs):
            parent = linkage.parents[i]
            above = 0 if parent < 0 else joint_of[parent]
            place = (np.eye(4) if parent < 0 else place_of[parent]) @ arc.placement
            if not isinstance(arc.articulation, Fixed):
                for k, model in enumerate(peers(arc.articulation)):
                    above = self.model.addJoint(above, model, pin.SE3(place), f"{arc.name} {k}")
                    self.ids.setdefault(i, above)  # the first joint has the index of their values
                    place = np.eye(4)
            joint_of.append(above)
            place_of.append(place)
        for name in linkage.frames:
            extra = next((frame for frame in linkage.extra_frames if frame.name == name), None)
            i = linkage.link_index(extra.link if extra else name)
            place = place_of[i] @ extra.placement if extra else place_of[i]
            self.model.addFrame(pin.Frame(f"frame {name}", joint_of[i], pin.SE3(place), pin.FrameType.OP_FRAME))
        self.data = self.model.createData()

    def at(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return Pinocchio's pose, and the matrix from our velocities to its; cached, since every frame needs them."""
        if q.tobytes() not in self.known:
            self.known[q.tobytes()] = self._pose(q), self._velocities(q)
        return self.known[q.tobytes()]

    def _pose(self, q: np.ndarray) -> np.ndarray:
        """Return Pinocchio's pose: followers have values, quaternions have w last, fixed-axis angles are reversed."""
        result = np.zeros(self.model.nq)
        for i, k in self.ids.items():
            arc, drive = self.linkage.arcs[i], self.linkage.drives[i]
            values = drive.multiplier * q[drive.q : drive.q + arc.articulation.nq] + drive.offset
            at = self.model.joints[k].idx_q
            result[at : at + len(values)] = reordered(arc, values)
        return result

    def _velocities(self, q: np.ndarray) -> np.ndarray:
        """Return the matrix from our velocities to Pinocchio's."""
        result = np.zeros((self.model.nv, self.linkage.nv))
        for i, k in self.ids.items():
            arc, drive = self.linkage.arcs[i], self.linkage.drives[i]
            nv, at = arc.articulation.nv, self.model.joints[k].idx_v
            block = drive.multiplier * np.eye(nv)
            if turns_about_fixed_axes(arc.articulation):
                block[-3:] = block[-3:][::-1].copy()
            if arc.articulation == Floating():  # linear velocity: ours in the parent's axes, theirs in the child's
                w, x, y, z = q[drive.q + 3 : drive.q + 7]
                block[:3, :3] = pin.Quaternion(w, x, y, z).normalized().matrix().T
            result[at : at + nv, drive.v : drive.v + nv] += block
        return result

    def velocities_dot(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return the time derivative of that matrix, which only floating joints change."""
        result = np.zeros((self.model.nv, self.linkage.nv))
        for i, k in self.ids.items():
            arc, drive = self.linkage.arcs[i], self.linkage.drives[i]
            if arc.articulation == Floating():
                w, x, y, z = q[drive.q + 3 : drive.q + 7]
                turn = pin.Quaternion(w, x, y, z).normalized().matrix().T
                at = self.model.joints[k].idx_v
                result[at : at + 3, drive.v : drive.v + 3] = -pin.skew(v[drive.v + 3 : drive.v + 6]) @ turn
        return result

    def jacobian_dot(self, q: np.ndarray, v: np.ndarray, name: str, axes: str) -> np.ndarray:
        reference = pin.LOCAL_WORLD_ALIGNED if axes == "world" else pin.LOCAL
        frame, (theirs, velocities) = self.model.getFrameId(f"frame {name}"), self.at(q)
        pin.computeJointJacobiansTimeVariation(self.model, self.data, theirs, velocities @ v)
        pin.updateFramePlacements(self.model, self.data)
        change = pin.getFrameJacobianTimeVariation(self.model, self.data, frame, reference)
        jacobian = pin.computeFrameJacobian(self.model, self.data, theirs, frame, reference)
        shape = 6, self.model.nv
        return change.reshape(shape) @ velocities + jacobian.reshape(shape) @ self.velocities_dot(q, v)

    def frame(self, q: np.ndarray, name: str) -> np.ndarray:
        pin.framesForwardKinematics(self.model, self.data, self.at(q)[0])
        return self.data.oMf[self.model.getFrameId(f"frame {name}")].homogeneous

    def jacobian(self, q: np.ndarray, name: str, axes: str) -> np.ndarray:
        reference = pin.LOCAL_WORLD_ALIGNED if axes == "world" else pin.LOCAL
        frame, (theirs, velocities) = self.model.getFrameId(f"frame {name}"), self.at(q)
        jacobian = pin.computeFrameJacobian(self.model, self.data, theirs, frame, reference)
        return jacobian.reshape(6, self.model.nv) @ velocities


def reordered(arc: Joint, values: np.ndarray) -> np.ndarray:
    match arc.articulation:
        case Ball(euler=None):
            return values[[1, 2, 3, 0]]
        case Floating(euler=None):
            return values[[0, 1, 2, 4, 5, 6, 3]]
    return np.append(values[:-3], values[-1:-4:-1]) if turns_about_fixed_axes(arc.articulation) else values


def turns_about_fixed_axes(articulation: lw.joints.Articulation) -> bool:
    return isinstance(articulation, Ball | Floating) and articulation.euler is not None and articulation.euler.islower()


def agree(linkage: lw.Linkage, seed: int, tolerance: float) -> None:
    """Compare all frames, Jacobians and their derivatives at nine poses, one by one and as a batch."""
    other, poses = Peer(linkage), linkage.random_pose(seed, 9)
    rates = np.random.default_rng(seed).normal(size=(9, linkage.nv))
    frames = linkage.forward(poses)
    for name in linkage.frames:
        tips = linkage.forward(poses, frame=name)
        jacobians = {axes: linkage.jacobian(poses, name, axes=axes) for axes in ("world", "local")}
        changes = {axes: linkage.jacobian_dot(poses, rates, name, axes=axes) for axes in jacobians}
        for i, q in enumerate(poses[:3]):
            expected = other.frame(q, name)
            assert_allclose(frames[name][i], expected, rtol=0, atol=tolerance)
            assert_allclose(tips[i], expected, rtol=0, atol=tolerance)
            assert_allclose(linkage.forward(q, frame=name), expected, rtol=0, atol=tolerance)
            for axes, jacobian in jacobians.items():
                theirs = other.jacobian(q, name, axes)
                assert_allclose(jacobian[i], theirs, rtol=0, atol=tolerance)
                assert_allclose(linkage.jacobian(q, name, axes=axes), theirs, rtol=0, atol=tolerance)
                if i:
                    continue
                turned = other.jacobian_dot(q, rates[i], name, axes)
                room = tolerance * max(1.0, float(np.abs(turned).max(initial=0.0)))
                assert_allclose(changes[axes][i], turned, rtol=0, atol=room)
                assert_allclose(linkage.jacobian_dot(q, rates[i], name, axes=axes), turned, rtol=0, atol=room)


@pytest.mark.parametrize("joint", JOINTS)
def test_every_joint_agrees_with_pinocchio(joint: str) -> None:
    agree(one_joint(JOINTS[joint]), 1, 1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_random_trees_agree_with_pinocchio(seed: int) -> None:
    rng = np.random.default_rng(seed)
    linkage = random_tree(rng, int(rng.integers(2, 41)))
    agree(linkage, seed, 1e-12)


def test_the_panda_arm_agrees_with_pinocchio() -> None:
    arm = lw.models.panda()
    assert arm.nq >= 7
    agree(arm, 3, 1e-12)
