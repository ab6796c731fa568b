"""URDF files to linkages: links, joints of every kind, and remarks on what is assumed or odd.

What a linkage cannot hold (efforts, transmissions, simulator settings) is counted and said.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from ..errors import LimitError, LinkNotFoundError, listed
from ..linkage.joints import ARTICULATIONS, Articulation, Joint, Mimic, Prismatic, Revolute
from ..linkage.linkage import Linkage
from ..linkage.tree import Link
from . import xml
from .content import Content, file_errors
from .options import DEFAULTS, FilePath, Options
from .urdf_links import read_links
from .urdf_source import UrdfSource
from .urdf_writer import write as write
from .xml import XmlElement

HOLLOW = ("gazebo", "transmission", "mujoco", "sensor")  # nothing in them is read
OTHERS = {"mujoco": "an MJCF model; give it the suffix .xml", "sdf": "an SDF file, which is not read"}
XACRO = (b"xacro:", b"${", b"$(")
UNIT_TOLERANCE = 1e-6
DEFAULT_AXIS = (1.0, 0.0, 0.0)
MAX_SUGGESTED, LONGEST_SUGGESTED = 500, 100  # names that are compared with one that does not exist
JOINT_PARTS = ("parent", "child", "origin", "axis", "limit", "mimic")

WITH_LIMITS, WITH_AXIS = ("revolute", "prismatic"), ("continuous", "planar")
JOINT_TYPES = (*WITH_LIMITS, *WITH_AXIS, "fixed", "floating", "spherical", "ball")
ARTICULATION_OF: dict[str, Callable[..., Articulation]] = {**ARTICULATIONS, "spherical": ARTICULATIONS["ball"]}


def read(path: FilePath, options: Options = DEFAULTS) -> Content:
    """Return the content of a URDF file.

    Args:
        path: The file.
        options: Of these, `packages` and `folders` say where meshes may lie.

    Raises:
        FormatError: If the file is not URDF, or its links and joints make no linkage; with the line where there is one.
    """
    document = xml.read(path, hollow=HOLLOW)
    source, root = UrdfSource(path, options), document.root
    if any(mark in document.text for mark in XACRO):
        _refuse_xacro(source, root)
    if root.tag != "robot":
        what = OTHERS.get(root.tag, "not a URDF file, in which that is <robot>")
        source.fail(root, f"the outermost element is <{root.tag}>: this is {what}.")
    if document.blanks:
        source.remark("blank-lines", "blanks stand before the XML declaration; strict readers refuse that.")
    name = root.attributes.get("name", "")
    if not name:
        name = Path(source.path).stem
        source.remark("missing-name", f"the robot has no name; it is called {name!r} after its file.", element=root)
    source.drop_rest(root, "link", "joint", "material")
    links = read_links(source, root, name)
    joints = _joints(source, root, name, links)
    with file_errors(path):
        linkage = _linkage(source, name, list(links.values()), joints)
    return Content(linkage, {}, (*source.remarks, *source.dropped()))


def _refuse_xacro(source: UrdfSource, root: XmlElement) -> None:
    """Refuse a file that is still to be expanded; the marks of xacro may also stand in comments."""
    for element in root.walk():
        found = f"<{element.tag}>" if element.tag.startswith("xacro:") else ""
        if not found and element.tag not in HOLLOW:
            found = next((v for v in element.attributes.values() if "${" in v or "$(" in v), "")
        if found:
            name = Path(source.path).name
            command = f"xacro {name} > {name.removesuffix('.xacro').removesuffix('.urdf')}-expanded.urdf"
            source.fail(element, f"this is xacro, still to be expanded: {found[:80]}. Expand it first: {command}")


def _linkage(source: UrdfSource, name: str, links: Sequence[Link], joints: Sequence[Joint]) -> Linkage:
    try:
        linkage = Linkage(links, joints, name=name)
    except LimitError as error:  # each joint has good limits, but followers and their leader contradict each other
        source.remark("mimic-limits", f"limits of joints that follow others are left out: {error}")
        linkage = Linkage(links, [_unlimited(joint) for joint in joints], name=name)
    for row in linkage.table:
        lower, upper = linkage.joint(row.joint).articulation.limits
        if row.mimicked and row.lower == row.upper and lower != upper:
            text = f"the limits of joints that follow {row.joint!r} leave it the value {row.lower:g} alone."
            source.remark("mimic-limits", text, row.joint)
    return linkage


def _unlimited(joint: Joint) -> Joint:
    if joint.mimic is None or not isinstance(joint.articulation, Revolute | Prismatic):
        return joint
    return replace(joint, articulation=replace(joint.articulation, lower=-math.inf, upper=math.inf))


def _joints(source: UrdfSource, root: XmlElement, robot: str, links: Collection[str]) -> list[Joint]:
    joints: dict[str, Joint] = {}
    above: dict[str, str] = {}
    followers: list[tuple[XmlElement, str]] = []
    for element in root.all("joint"):
        name = source.name(element)
        if name in joints:
            source.fail(element, f"joint {name!r} appears twice in robot {robot!r}; names must be unique.")
        parent, child = (_end(source, element, end, name, links) for end in ("parent", "child"))
        if child in above:
            source.fail(element, f"link {child!r} hangs on two joints, {above[child]!r} and {name!r}.")
        above[child] = name
        source.drop_rest(element, *JOINT_PARTS)
        articulation = _articulation(source, element, name)
        mimic = _mimic(source, element, name, articulation)
        if mimic is not None:
            followers.append((element, mimic.joint))
        joints[name] = Joint(name, parent, child, articulation, source.origin(element), mimic)
    for element, leader in followers:
        if leader not in joints:
            source.fail(element, f"joint {source.name(element)!r} mimics {leader!r}, and there is no such joint.")
        if (count := joints[leader].articulation.nq) != 1:
            what = f"joint {source.name(element)!r} mimics {leader!r}"
            source.fail(element, f"{what}, which has {count} values, not one.")
    return list(joints.values())


def _end(source: UrdfSource, joint: XmlElement, end: str, name: str, links: Collection[str]) -> str:
    element = joint.first(end)
    link = None if element is None else element.attributes.get("link")
    if element is None or not link:
        source.fail(element or joint, f'joint {name!r} needs <{end} link="..."/>.')
    if link not in links:
        known = [link for link in islice(links, MAX_SUGGESTED) if len(link) < LONGEST_SUGGESTED]
        source.fail(element, str(LinkNotFoundError(link, f"the file ({end} of joint {name!r})", known)))
    return link


def _articulation(source: UrdfSource, joint: XmlElement, name: str) -> Articulation:
    kind = joint.attributes.get("type", "")
    if kind not in JOINT_TYPES:
        got = f"type {kind!r}" if kind else "no type"
        source.fail(joint, f"joint {name!r} has {got}; there are {listed(JOINT_TYPES)}.")
    if kind not in (*WITH_LIMITS, *WITH_AXIS):
        return ARTICULATION_OF[kind]()
    axis = _axis(source, joint, name, kind)
    limit = joint.first("limit")
    if limit is not None:
        for key in ("effort", "velocity"):
            if key in limit.attributes:
                source.drop(f"the {key} limit of a joint", limit)
    limits: tuple[float, ...] = ()
    if kind in WITH_LIMITS:
        limits = _limits(source, joint, name, kind)
    elif limit is not None and ("lower" in limit.attributes or "upper" in limit.attributes):
        source.drop(f"<limit lower= upper=> of a {kind} joint", limit)
    return ARTICULATION_OF[kind](axis, *limits)


def _axis(source: UrdfSource, joint: XmlElement, name: str, kind: str) -> Sequence[float]:
    """Return the axis of a moving joint, of any length but zero."""
    element = joint.first("axis")
    if element is None:
        source.remark("missing-axis", f"{kind} joint {name!r} has no axis; x is assumed.", name, joint)
        return DEFAULT_AXIS
    axis = source.numbers(element, "xyz", 3, DEFAULT_AXIS)
    length = math.hypot(*axis)
    if not any(axis):
        source.fail(element, f"the axis of {kind} joint {name!r} is zero; it needs a direction to move.")
    if abs(length - 1.0) > UNIT_TOLERANCE:
        text = f"the axis of joint {name!r} has length {length:.6g}, not one; only its direction is used."
        source.remark("non-unit-axis", text, name, element)
    return axis


def _limits(source: UrdfSource, joint: XmlElement, name: str, kind: str) -> tuple[float, float]:
    element = joint.first("limit")
    if element is None or not ("lower" in element.attributes or "upper" in element.attributes):
        text = f"{kind} joint {name!r} has no lower and upper limit; none is assumed."
        source.remark("missing-limits", text, name, joint)
        return -math.inf, math.inf
    lower, upper = source.bound(element, "lower"), source.bound(element, "upper")
    if lower > upper or lower == math.inf or upper == -math.inf:
        source.fail(element, f"the limits of joint {name!r} leave it no value: lower {lower:g}, upper {upper:g}.")
    if lower == upper:
        text = f"both limits of {kind} joint {name!r} are {lower:g}; it cannot move."
        source.remark("zero-range", text, name, element)
    return lower, upper


def _mimic(source: UrdfSource, joint: XmlElement, name: str, articulation: Articulation) -> Mimic | None:
    element = joint.first("mimic")
    if element is None:
        return None
    if articulation.nq == 0:
        source.drop("<mimic> of a fixed joint", element)
        return None
    if articulation.nq > 1:
        source.fail(element, f"joint {name!r} has {articulation.nq} values; only joints with one can mimic another.")
    leader = element.attributes.get("joint", "")
    if not leader:
        source.fail(element, f'joint {name!r} mimics nothing: <mimic joint="..."/> is meant.')
    return Mimic(leader, source.number(element, "multiplier", 1.0), source.number(element, "offset", 0.0))
