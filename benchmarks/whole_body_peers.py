"""Peers of whole-body inverse kinematics, and a humanoid in Pinocchio that checks answers.

The peers are mink, pink and PlaCo, each with the same plain URDF, the same tasks of equal weight, the same stopping
rule and the same number of steps. Their steps are quadratic programs with limits as bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

import linkwork as lw

Array = NDArray[np.float64]
Attempt = Callable[[Array, Any, int], tuple[Any, bool]]  # targets (5, 4, 4), start, steps -> pose, whether reached

PACKAGE, ROBOT = "example-robot-data", "talos_reduced.urdf"
FRAMES = ("arm_left_7_link", "arm_right_7_link", "left_sole_link", "right_sole_link", "head_2_link")
POSITION, ROTATION = 1e-3, 1e-2  # largest errors of a reached goal [m, rad]
ROOM = 0.9  # fraction of these at which a peer stops: its rotation error differs slightly
LIMITS = 1e-6  # allowed excess over a limit: zero for a quadratic program
SHIFT, TILT = 0.2, 0.5  # largest motion of the base along each axis and about any [m, rad]
DAMPING = 1e-2  # `lm_damping` of mink and pink: best of 1e-6 to 1
LIGHT = 1e-6  # keeps the quadratic programs definite


def plain_urdf() -> str:
    """Return Talos without shapes and with closed grippers, which all libraries read equally."""
    try:
        files = distribution(PACKAGE).files or ()
    except PackageNotFoundError as error:
        raise SystemExit(f"{PACKAGE} is not installed; install it with: pip install 'linkwork[bench]'") from error
    path = next(Path(str(file.locate())) for file in files if file.name == ROBOT)
    robot = ElementTree.fromstring(path.read_text(encoding="utf-8"))  # from an installed package
    for part in list(robot):
        if part.tag not in ("link", "joint"):
            robot.remove(part)
        drop = ["visual", "collision"]
        if part.tag == "joint" and part.get("name", "").startswith("gripper"):
            part.set("type", "fixed")
            drop += ["mimic", "limit", "axis"]
        for shape in [child for child in part if child.tag in drop]:
            part.remove(shape)
    return ElementTree.tostring(robot, encoding="unicode")


class Body:
    """A floating humanoid in Pinocchio, which makes the goals and checks the answers."""

    def __init__(self, folder: Path) -> None:
        import pinocchio

        self.pin, self.text = pinocchio, plain_urdf()
        self.path = folder / "talos.urdf"
        self.path.write_text(self.text, encoding="utf-8")
        self.model = pinocchio.buildModelFromXML(self.text, pinocchio.JointModelFreeFlyer())
        self._data = self.model.createData()
        self._frames = [self.model.getFrameId(frame) for frame in FRAMES]
        self.lower, self.upper = self.model.lowerPositionLimit[7:], self.model.upperPositionLimit[7:]
        self.middle = np.concatenate([np.eye(7)[6], (self.lower + self.upper) / 2.0])
        self.zero = np.concatenate([np.eye(7)[6], np.clip(0.0, self.lower, self.upper)])

    def places(self, names: Sequence[str]) -> list[int]:
        """Return the indices of joint values in a pose."""
        return [self.model.joints[self.model.getJointId(name)].idx_q for name in names]

    def forward(self, pose: Array) -> Array:
        """Return the five frames at a pose, shape (5, 4, 4)."""
        self.pin.framesForwardKinematics(self.model, self._data, pose)
        return np.array([self._data.oMf[frame].homogeneous for frame in self._frames])

    def random_pose(self, rng: np.random.Generator, about: Array, share: float) -> Array:
        """Return a random pose: joints anywhere in their range, moved towards `about`; the base moved and tilted."""
        tilt = rng.normal(size=3)
        tilt *= rng.uniform(0.0, TILT) / np.linalg.norm(tilt)
        turn = self.pin.Quaternion(self.pin.exp3(tilt)).coeffs()
        joints = about[7:] + share * (rng.uniform(self.lower, self.upper) - about[7:])
        return np.concatenate([rng.uniform(-SHIFT, SHIFT, 3), turn, joints])

    def verified(self, pose: Array, targets: Array) -> bool:
        """Return whether a pose reaches its five targets and keeps the limits."""
        if (pose[7:] < self.lower - LIMITS).any() or (pose[7:] > self.upper + LIMITS).any():
            return False
        found = self.forward(self.pin.normalize(self.model, pose))
        apart = np.linalg.norm(found[:, :3, 3] - targets[:, :3, 3], axis=1)
        turned = [np.linalg.norm(self.pin.log3(a[:3, :3].T @ b[:3, :3])) for a, b in zip(found, targets, strict=True)]
        return bool((apart <= POSITION).all() and max(turned) <= ROTATION)


@dataclass(frozen=True)
class Peer:
    """A library: its attempt at five targets from a start, and conversions of poses from and to Pinocchio's order."""

    name: str
    version: str
    attempt: Attempt
    begin: Callable[[Array], Any]
    pose: Callable[[Any], Array]


def _near(errors: Sequence[Array]) -> bool:
    return all(
        error[:3] @ error[:3] < (ROOM * POSITION) ** 2 and error[3:] @ error[3:] < (ROOM * ROTATION) ** 2
        for error in errors
    )


def pink(body: Body) -> Peer:
    """Differential inverse kinematics with Pinocchio, and DAQP for its quadratic programs."""
    import pink as library
    from pink.limits import ConfigurationLimit
    from pink.tasks import FrameTask

    robot = library.Configuration(body.model, body.model.createData(), body.zero)
    tasks = [FrameTask(frame, position_cost=1.0, orientation_cost=1.0, lm_damping=DAMPING) for frame in FRAMES]
    limits = [ConfigurationLimit(body.model, config_limit_gain=1.0)]

    def attempt(targets: Array, start: Array, steps: int) -> tuple[Array, bool]:
        robot.update(start)
        for task, target in zip(tasks, targets, strict=True):
            task.set_target(body.pin.SE3(target))
        for _ in range(steps):
            velocity = library.solve_ik(
                robot, tasks, 1.0, solver="daqp", damping=LIGHT, limits=limits, safety_break=False
            )
            robot.integrate_inplace(velocity, 1.0)
            if _near([task.compute_error(robot) for task in tasks]):
                return robot.q, True
        return robot.q, False

    return Peer("pink", version("pin-pink"), attempt, np.copy, np.copy)


def mink(body: Body) -> Peer:
    """Differential inverse kinematics with MuJoCo, and DAQP for its quadratic programs."""
    import mink as library
    import mujoco

    settings = '<mujoco><compiler fusestatic="false" boundmass="1e-6" boundinertia="1e-9"/></mujoco>'
    spec = mujoco.MjSpec.from_string(body.text.replace("</robot>", f"{settings}</robot>"))
    spec.worldbody.first_body().add_freejoint()
    model = spec.compile()
    joints = [model.joint(k) for k in range(1, model.njnt)]
    inside, outside = [int(joint.qposadr[0]) for joint in joints], body.places([joint.name for joint in joints])
    robot = library.Configuration(model)
    tasks = [library.FrameTask(frame, "body", 1.0, 1.0, lm_damping=DAMPING) for frame in FRAMES]
    limits = [library.ConfigurationLimit(model, gain=1.0)]

    def begin(pose: Array) -> Array:
        own = np.empty(model.nq)
        own[:3], own[3], own[4:7], own[inside] = pose[:3], pose[6], pose[3:6], pose[outside]
        return own

    def back(own: Array) -> Array:
        pose = np.empty(len(own))
        pose[:3], pose[6], pose[3:6], pose[outside] = own[:3], own[3], own[4:7], own[inside]
        return pose

    def attempt(targets: Array, start: Array, steps: int) -> tuple[Array, bool]:
        robot.update(start)
        for task, target in zip(tasks, targets, strict=True):
            task.set_target(library.SE3.from_matrix(target))
        for _ in range(steps):
            velocity = library.solve_ik(robot, tasks, 1.0, "daqp", damping=LIGHT, limits=limits)
            robot.integrate_inplace(velocity, 1.0)
            if _near([task.compute_error(robot) for task in tasks]):
                return robot.q, True
        return robot.q, False

    return Peer("mink", version("mink"), attempt, begin, back)


def placo(body: Body) -> Peer:
    """Whole-body inverse kinematics in C++, with Pinocchio and EiQuadProg."""
    import placo as library

    robot = library.RobotWrapper(str(body.path), library.Flags.ignore_collisions)
    solver = library.KinematicsSolver(robot)
    solver.dt = 1.0
    solver.enable_joint_limits(True)
    solver.enable_velocity_limits(False)
    solver.add_regularization_task(LIGHT)
    tasks = []
    for frame in FRAMES:
        task = solver.add_frame_task(frame, np.eye(4))
        task.configure(frame, "soft", 1.0, 1.0)
        tasks.append((task, task.position(), task.orientation()))

    def attempt(targets: Array, start: Array, steps: int) -> tuple[Array, bool]:
        robot.state.q = start
        robot.update_kinematics()
        for (task, _, _), target in zip(tasks, targets, strict=True):
            task.T_world_frame = target
        for _ in range(steps):
            solver.solve(True)
            robot.update_kinematics()
            if all(
                place.error_norm() < ROOM * POSITION and turn.error_norm() < ROOM * ROTATION for _, place, turn in tasks
            ):
                return robot.state.q, True
        return robot.state.q, False

    return Peer("PlaCo", version("placo"), attempt, np.copy, np.copy)


def linkwork(body: Body) -> tuple[lw.Linkage, Callable[[Array], Array], Callable[[Array], Array]]:
    """Return the same body in linkwork, and conversions of poses from and to Pinocchio's order."""
    own = lw.load(body.path, root="floating")
    places = body.places(own.coordinates[7:])

    def begin(pose: Array) -> Array:
        return np.concatenate([pose[:3], pose[6:7], pose[3:6], pose[places]])

    def back(q: Array) -> Array:
        pose = np.empty(len(q))
        pose[:3], pose[3:6], pose[6], pose[places] = q[:3], q[4:7], q[3], q[7:]
        return pose

    return own, begin, back
