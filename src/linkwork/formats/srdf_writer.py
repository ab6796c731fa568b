"""Write SRDF files: groups of joints, stored poses and pairs of links that may touch, for MoveIt and others."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..errors import Remark
from ..linkage.groups import Groups
from ..linkage.linkage import Linkage, check_linkage
from ..linkage.poses import rest_pose
from ..transforms import FloatArray
from .atomic_files import write_text
from .content import Remarks
from .options import FilePath
from .xml import quoted


def save_srdf(linkage: Linkage, path: FilePath) -> tuple[Remark, ...]:
    """Write the SRDF file of a linkage, completely or not at all.

    It contains the linkage's `groups`, stored `poses` and `disabled_pairs`; ``lw.collision.find_pairs`` finds the
    latter. In SRDF, every pose belongs to a group. If the linkage has no groups, one with all joints is written, named
    "all".

    Args:
        linkage: The linkage.
        path: The file, ``.srdf``; `load` finds it beside a URDF file of the same name.

    Returns:
        Remarks on omitted poses, whose moved joints are in no single group.

    Example:
        ``lw.save_srdf(arm.replace(disabled_pairs=lw.collision.find_pairs(arm).disabled(never=True)), "arm.srdf")``
    """
    check_linkage(linkage)
    remarks, groups = Remarks(), dict(linkage.groups)
    if linkage.poses and not groups:
        drives = zip(linkage.arcs, linkage.drives, strict=True)
        groups = {"all": tuple(arc.name for arc, drive in drives if arc.mimic is None and drive.nq)}
    lines = ['<?xml version="1.0"?>', f"<robot name={quoted(linkage.name)}>"]
    for name, joints in groups.items():
        members = [f"    <joint name={quoted(joint)}/>" for joint in joints]
        lines += [f"  <group name={quoted(name)}>", *members, "  </group>"]
    for name, pose in linkage.poses.items():
        lines += _state(linkage, groups, name, pose, remarks)
    for (first, second), reason in linkage.disabled_pairs.items():
        why = quoted(reason or "User")
        lines.append(f"  <disable_collisions link1={quoted(first)} link2={quoted(second)} reason={why}/>")
    write_text(path, "\n".join([*lines, "</robot>", ""]))
    return tuple(remarks)


def _state(linkage: Linkage, groups: Groups, name: str, pose: FloatArray, remarks: Remarks) -> Iterator[str]:
    """Yield the lines of a pose, as a state of the first group that contains all joints moved by it."""
    rest = rest_pose(linkage)
    drives = dict(zip((arc.name for arc in linkage.arcs), linkage.drives, strict=True))
    moving = [arc.name for arc in linkage.arcs if arc.mimic is None and drives[arc.name].nq]
    away = {joint for joint in moving if not np.array_equal(pose[drives[joint].columns], rest[drives[joint].columns])}
    group = next((group for group, joints in groups.items() if away <= set(joints)), None)
    if group is None:
        remarks.add("dropped", f"pose {name!r} is left out: no group contains all joints that it moves.", name)
        return
    yield f"  <group_state name={quoted(name.removeprefix(f'{group}/'))} group={quoted(group)}>"
    for joint in groups[group]:
        values = pose[drives[joint].columns].tolist()
        if linkage.joint(joint).articulation.kind == "floating":
            values = [*values[:3], *values[4:], values[3]]  # SRDF writes w of a quaternion last
        text = " ".join(f"{value:.17g}" for value in values)
        yield f'    <joint name={quoted(joint)} value="{text}"/>'
    yield "  </group_state>"
