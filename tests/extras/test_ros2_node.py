"""The node for ROS 2, run with stand-ins for rclpy and the messages, with the names and defaults of the real ones."""

from __future__ import annotations

import logging
import runpy
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwork as lw
from robots import shipped

NODE = Path(__file__).parents[2] / "extras/ros2/follow_target.py"


def message(title: str, /, **fields: Any) -> type:
    """Return a message class with fields as keywords, new defaults for each message, and no other attributes."""

    def init(self: Any, **given: Any) -> None:
        for field, make in fields.items():
            setattr(self, field, given.pop(field) if field in given else make())
        assert not given, given

    return type(title, (), {"__slots__": tuple(fields), "__init__": init})


Time = message("Time", sec=int, nanosec=int)
Header = message("Header", stamp=Time, frame_id=str)
Point = message("Point", x=float, y=float, z=float)
Quaternion = message("Quaternion", x=float, y=float, z=float, w=lambda: 1.0)
Pose = message("Pose", position=Point, orientation=Quaternion)
MESSAGES = {
    "std_msgs": [message("String", data=str)],
    "geometry_msgs": [message("PoseStamped", header=Header, pose=Pose)],
    "sensor_msgs": [message("JointState", header=Header, name=list, position=list, velocity=list, effort=list)],
    "trajectory_msgs": [
        message("JointTrajectory", header=Header, joint_names=list, points=list),
        message(
            "JointTrajectoryPoint",
            **dict.fromkeys(("positions", "velocities", "accelerations", "effort"), list),
            time_from_start=Time,
        ),
    ],
}


class Node:
    """A node without a network: `say` passes a message to subscribers, `sent` has the published messages."""

    parameters: dict[str, Any] = {}  # noqa: RUF012 - set by each test

    def __init__(self, _name: str) -> None:
        self.listeners, self.sent, self.warned = {}, [], []

    def declare_parameter(self, name: str, default: Any) -> Any:
        return SimpleNamespace(value=self.parameters.get(name, default))

    def create_subscription(self, kind: type, topic: str, call: Any, _qos: Any) -> None:
        self.listeners[topic] = kind, call

    def create_publisher(self, _kind: type, _topic: str, _depth: int) -> Any:
        return SimpleNamespace(publish=lambda sent: self.sent.append(sent))

    def create_timer(self, period: float, call: Any) -> None:
        self.period, self.tick = period, call

    def get_logger(self) -> Any:
        return SimpleNamespace(warning=self.warned.append, info=lambda _text: None)

    def say(self, topic: str, **fields: Any) -> None:
        kind, call = self.listeners[topic]
        call(kind(**fields))


@pytest.fixture
def make_node(monkeypatch: pytest.MonkeyPatch) -> Any:
    def module(name: str, **names: Any) -> None:
        made = ModuleType(name)
        vars(made).update(names)
        monkeypatch.setitem(sys.modules, name, made)

    module("rclpy")
    module("rclpy.node", Node=Node)
    module("rclpy.qos", QoSProfile=SimpleNamespace, DurabilityPolicy=SimpleNamespace(TRANSIENT_LOCAL=1))
    for package, kinds in MESSAGES.items():
        module(package)
        module(f"{package}.msg", **{kind.__name__: kind for kind in kinds})
    logging.getLogger("linkwork").setLevel(logging.ERROR)  # meshes are not found

    def make(**parameters: Any) -> Any:
        monkeypatch.setattr(Node, "parameters", parameters)
        return runpy.run_path(str(NODE))["FollowTarget"]()

    yield make
    logging.getLogger("linkwork").setLevel(logging.NOTSET)


def as_pose(matrix: np.ndarray) -> Any:
    x, y, z, w = Rotation.from_matrix(matrix[:3, :3]).as_quat().tolist()  # SciPy's order is ROS's
    return Pose(
        position=Point(**dict(zip("xyz", matrix[:3, 3].tolist(), strict=True))),
        orientation=Quaternion(x=x, y=y, z=z, w=w),
    )


def state(robot: lw.Linkage, q: np.ndarray) -> dict[str, list[Any]]:
    """Return the fields of a JointState, in another order and with an additional joint."""
    return {"name": ["lamp", *robot.coordinates[::-1]], "position": [0.0, *q[::-1].tolist()]}


@pytest.mark.parametrize("base", ["", "panda_link4"])
def test_the_frame_reaches_its_target_within_limits(make_node: Any, base: str) -> None:
    node, text = make_node(frame="panda_hand", speed=0.8), shipped("panda").read_text(encoding="utf-8")
    robot = lw.loads(text, "urdf")
    start = robot.pose(panda_joint2=0.3, panda_joint4=-1.8, panda_joint6=2.0)
    end = robot.pose(panda_joint1=0.5, panda_joint2=0.6, panda_joint4=-1.4, panda_joint5=0.3, panda_joint6=2.2)
    target = robot.forward(end, frame="panda_hand")
    seen = np.linalg.inv(robot.forward(start, frame=base)) @ target if base else target
    node.say("robot_description", data=text)
    node.say("joint_states", **state(robot, start))
    node.say("target_pose", header=Header(frame_id=base), pose=as_pose(seen))
    for _ in range(400):
        node.tick()
    assert 20 < len(node.sent) < 400  # it stops at the target
    poses = np.array([sent.points[0].positions for sent in node.sent])
    reached = robot.forward(poses[-1], frame="panda_hand")
    np.testing.assert_allclose(reached, target, atol=1e-4)
    moved = np.diff(np.vstack([start, poses]), axis=0) / node.period
    assert (np.abs(moved) <= 0.8 * robot.velocity + 1e-9).all()
    assert (poses >= robot.lower - 1e-9).all()
    assert (poses <= robot.upper + 1e-9).all()
    np.testing.assert_allclose([sent.points[0].velocities for sent in node.sent], moved, atol=1e-9)
    assert {sent.points[0].time_from_start.nanosec for sent in node.sent} == {10_000_000}
    assert {tuple(sent.joint_names) for sent in node.sent} == {robot.coordinates}


def test_a_second_target_begins_where_the_robot_is_measured(make_node: Any) -> None:
    node, text = make_node(frame="panda_hand"), shipped("panda").read_text(encoding="utf-8")
    robot = lw.loads(text, "urdf")
    start = robot.pose(panda_joint2=0.3, panda_joint4=-1.8, panda_joint6=2.0)
    node.say("robot_description", data=text)
    for q in (start, robot.pose(panda_joint1=1.0, base=start)):
        node.say("joint_states", **state(robot, q))
        node.say("target_pose", header=Header(), pose=as_pose(robot.forward(q, frame="panda_hand")))
        node.tick()
        np.testing.assert_allclose(node.sent[-1].points[0].positions, q, atol=1e-6)


def test_nothing_is_sent_before_all_is_known_or_for_a_frame_that_is_not_there(make_node: Any) -> None:
    node, text = make_node(frame="panda_hand"), shipped("panda").read_text(encoding="utf-8")
    robot = lw.loads(text, "urdf")
    goal = {"header": Header(), "pose": Pose()}
    node.say("target_pose", **goal)
    node.say("robot_description", data=text)
    node.say("joint_states", name=["panda_joint1"], position=[0.0])
    node.say("target_pose", **goal)
    node.say("joint_states", **state(robot, robot.neutral()))
    node.say("target_pose", header=Header(frame_id="panda_link44"), pose=Pose())
    node.say("target_pose", header=Header(), pose=Pose(orientation=Quaternion(w=0.0)))
    node.tick()
    assert node.sent == []
    assert len(node.warned) == 4
    assert "xyzw" in node.warned.pop()
    assert "did you mean 'panda_link4'?" in node.warned[-1]
