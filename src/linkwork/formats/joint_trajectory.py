"""Motions for ROS: the message trajectory_msgs/JointTrajectory as YAML or JSON.

It contains names, numbers and times but no linkage, so one must be given for reading. Its joints have one value each,
so quaternions cannot be stored.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct

from ..errors import FormatError, Remark, listed
from ..linkage.linkage import Linkage
from ..motion.clips import Clip
from ..transforms import FloatArray
from . import yaml_json
from .atomic_files import read_text, write_text
from .content import Content, Remarks, file_errors
from .options import DEFAULTS, FilePath, Options

NAME = "clip"
NANO = 1_000_000_000
MAX_VALUES = 2**23  # positions: 64 MiB of numbers
WRAPPERS = ("trajectory", "joint_trajectory")  # keys in a goal of FollowJointTrajectory and in MoveIt's RobotTrajectory


class _Duration(Struct):
    """A duration as in ROS 2 or ROS 1."""

    sec: float = 0.0
    nanosec: float = 0.0
    secs: float = 0.0
    nsecs: float = 0.0

    @property
    def seconds(self) -> float:
        return self.sec + self.secs + (self.nanosec + self.nsecs) / NANO


class _Point(Struct):
    positions: list[float]
    time_from_start: _Duration | float


class _Message(Struct):
    joint_names: list[str]
    points: list[_Point]


# Reading


def read(path: FilePath, options: Options = DEFAULTS) -> Content:  # noqa: ARG001 - no options apply
    """Raise an error: reading a trajectory requires a linkage."""
    what = "a joint trajectory contains only names and numbers"
    raise FormatError(path, f"{what}; give the linkage with linkage=..., on the command line with --linkage.")


def read_for(linkage: Linkage, path: FilePath) -> Content:
    """Return the motion of a linkage in a trajectory, which may have only some of its joints, in any order.

    Joints without positions stay neutral, and unknown names are ignored, both with a remark.
    """
    message = _read_message(path)
    remarks = Remarks()
    table = np.array([point.positions for point in message.points], np.float64)
    times = np.array([_seconds(point.time_from_start) for point in message.points])
    places = linkage.coordinate_index
    strange = [name for name in message.joint_names if name not in places]
    if len(strange) == len(message.joint_names):
        has = listed(list(linkage.coordinates))
        raise FormatError(path, f"has none of the joints of linkage {linkage.name!r}, which has {has}.")
    if strange:
        remarks.add(
            "ignored", f"not joints of {linkage.name!r}: {listed([repr(name) for name in strange])}.", strange[0]
        )
    missing = [name for name in linkage.coordinates if name not in message.joint_names]
    if missing:
        remarks.add("missing", f"no positions of {listed(missing)}, which stay neutral.", missing[0])
    poses = np.repeat(linkage.neutral()[None], len(times), axis=0)
    for k, name in enumerate(message.joint_names):
        if name in places:
            poses[:, places[name]] = table[:, k]
    with file_errors(path):
        return Content(linkage, {NAME: Clip(linkage, times, poses)}, tuple(remarks))


def _read_message(path: FilePath) -> _Message:
    """Return the message in a file, after checking it."""
    text = read_text(path)
    data = yaml_json.read(text, path, _kind(path))
    steps: yaml_json.Path = ()
    for name in WRAPPERS:
        if isinstance(data, dict) and "points" not in data and isinstance(data.get(name), dict):
            data, steps = data[name], (*steps, name)
    if not isinstance(data, dict) or not {"joint_names", "points"} <= set(data):
        raise FormatError(path, "is not a JointTrajectory: it has no joint_names and points.")
    try:
        message = msgspec.convert(data, _Message)
    except msgspec.ValidationError as error:
        raise FormatError(path, f"is not a JointTrajectory: {error}.") from error
    names = message.joint_names
    if len(set(names)) < len(names) or not names:
        twice = next((name for name in names if names.count(name) > 1), None)
        raise FormatError(path, "names no joints." if twice is None else f"names joint {twice!r} twice.")
    if not message.points:
        raise FormatError(path, "has no points.")
    if len(names) * len(message.points) > MAX_VALUES:
        raise FormatError(path, f"contains more than {MAX_VALUES} positions, the largest number that is read.")
    for k, point in enumerate(message.points):
        if len(point.positions) != len(names):
            what = f"point {k} has {len(point.positions)} positions for {len(names)} joints."
            raise FormatError(path, what, line=yaml_json.line_of(text, (*steps, "points", k)))
    return message


def _seconds(time: _Duration | float) -> float:
    return time.seconds if isinstance(time, _Duration) else time


def _kind(path: FilePath) -> str:
    return "json" if PurePath(path).suffix.lower() == ".json" else "yaml"


# Writing


def write(content: Content, path: FilePath) -> tuple[Remark, ...]:
    """Write the first motion of content: positions, velocities and accelerations at the times of its frames."""
    clip = next(iter(content.clips.values()))
    linkage, remarks = clip.linkage, Remarks()
    plain = linkage.table.plain
    turning = dict.fromkeys(row.joint for row in linkage.table if row.v is None)
    if not len(plain.q):
        raise FormatError(path, "a JointTrajectory stores joints with one value, but the linkage has none.")
    if turning:
        text = f"a JointTrajectory cannot store quaternions: {listed([repr(name) for name in turning])} left out."
        remarks.add("dropped", text, next(iter(turning)))
    remarks.add("dropped", "a JointTrajectory stores only names and numbers: the linkage is left out.", "linkage")
    if clip.residuals is not None:
        remarks.add("dropped", "a JointTrajectory cannot store residuals: they are left out.", "residuals")
    names = [linkage.coordinates[k] for k in plain.q]
    write_text(path, yaml_json.write(_message(clip, names, plain.q, plain.v), _kind(path)))
    return tuple(remarks)


def _message(clip: Clip, names: list[str], q: Any, v: Any) -> dict[str, Any]:
    """Return a motion as the fields of the message; times count from its first frame, in nanoseconds."""
    nothing: list[list[float]] = [[]] * len(clip)
    rates = _rows(clip.velocities, v) if len(clip) > 1 else nothing
    pushes = _rows(clip.accelerations, v) if len(clip) > 2 else nothing
    stamps = np.rint((clip.times - clip.times[0]) * NANO).astype(np.int64).tolist()
    points = [
        {
            "positions": position,
            "velocities": rate,
            "accelerations": push,
            "effort": [],
            "time_from_start": {"sec": stamp // NANO, "nanosec": stamp % NANO},
        }
        for position, rate, push, stamp in zip(_rows(clip.poses, q), rates, pushes, stamps, strict=True)
    ]
    header = {"stamp": {"sec": 0, "nanosec": 0}, "frame_id": ""}
    return {"header": header, "joint_names": names, "points": points}


def _rows(values: FloatArray, columns: Any) -> list[list[float]]:
    rows: list[list[float]] = values[:, columns].tolist()
    return rows
