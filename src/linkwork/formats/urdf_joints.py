"""Read the joints of a URDF file: kinds, axes, position and motion limits, and mimic joints.

An impossible limit or coupling is left out with a remark, and the joint is then free.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from ..errors import LinkNotFoundError, listed
from ..linkage.joints import ARTICULATIONS, Articulation, Joint, Mimic
from ..linkage.motion_limits import MOTION_LIMITS
from .urdf_source import UrdfSource
from .xml import XmlElement

UNIT_TOLERANCE = 1e-6
DEFAULT_AXIS = (1.0, 0.0, 0.0)
MAX_SUGGESTED, LONGEST_SUGGESTED = 500, 100  # names considered as suggestions for an unknown one
JOINT_PARTS = ("parent", "child", "origin", "axis", "limit", "mimic")

WITH_LIMITS, WITH_AXIS = ("revolute", "prismatic"), ("continuous", "planar")
JOINT_TYPES = (*WITH_LIMITS, *WITH_AXIS, "fixed", "floating", "spherical", "ball")
ARTICULATION_OF: dict[str, Callable[..., Articulation]] = {**ARTICULATIONS, "spherical": ARTICULATIONS["ball"]}


def read_joints(source: UrdfSource, root: XmlElement, robot: str, links: Collection[str]) -> dict[str, Joint]:
    """Return the joints of a robot by name, in file order."""
    joints: dict[str, Joint] = {}
    above: dict[str, str] = {}
    mimics: dict[str, XmlElement] = {}
    for element in root.all("joint"):
        name = source.name(element)
        if name in joints:
            source.fail(element, f"joint {name!r} appears twice in robot {robot!r}; names must be unique.")
        parent, child = (_end(source, element, end, name, links) for end in ("parent", "child"))
        if child in above:
            source.fail(element, f"link {child!r} is the child of two joints, {above[child]!r} and {name!r}.")
        above[child] = name
        source.drop_rest(element, *JOINT_PARTS)
        articulation = _articulation(source, element, name)
        mimic = _mimic(source, element, name, articulation)
        if mimic is not None:
            mimics[name] = element
        limits = _motion_limits(source, element, name, articulation)
        joints[name] = Joint(name, parent, child, articulation, source.origin(element), mimic, **limits)
    _free_lost_followers(source, joints, mimics)
    return joints


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
        source.fail(joint, f"joint {name!r} has {got}; known types are {listed(JOINT_TYPES)}.")
    if kind not in (*WITH_LIMITS, *WITH_AXIS):
        return ARTICULATION_OF[kind]()
    axis = _axis(source, joint, name, kind)
    limit = joint.first("limit")
    limits: tuple[float, ...] = ()
    if kind in WITH_LIMITS:
        limits = _limits(source, joint, name, kind)
    elif limit is not None and ("lower" in limit.attributes or "upper" in limit.attributes):
        source.drop(f"<limit lower= upper=> of a {kind} joint", limit)
    return ARTICULATION_OF[kind](axis, *limits)


def _axis(source: UrdfSource, joint: XmlElement, name: str, kind: str) -> Sequence[float]:
    """Return the axis of a moving joint, of any nonzero length."""
    element = joint.first("axis")
    if element is None:
        source.remark("missing-axis", f"{kind} joint {name!r} has no axis; x is assumed.", name, joint)
        return DEFAULT_AXIS
    axis = source.numbers(element, "xyz", 3, DEFAULT_AXIS)
    length = math.hypot(*axis)
    if not any(axis):
        source.fail(element, f"the axis of {kind} joint {name!r} is zero; it needs a direction.")
    if abs(length - 1.0) > UNIT_TOLERANCE:
        text = f"the axis of joint {name!r} has length {length:.6g}, not 1; only its direction is used."
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
        text = f"the limits of joint {name!r} allow no value: lower {lower:g}, upper {upper:g}; it is left free."
        source.forgive("bad-limits", text, name, element)
        return -math.inf, math.inf
    if lower == upper:
        text = f"both limits of {kind} joint {name!r} are {lower:g}; it cannot move."
        source.remark("zero-range", text, name, element)
    return lower, upper


def _motion_limits(source: UrdfSource, joint: XmlElement, name: str, articulation: Articulation) -> dict[str, float]:
    """Return limits of velocity, acceleration and effort. Zero or -1 means none: files use it for unknown limits."""
    limit = joint.first("limit")
    result: dict[str, float] = {}
    if limit is None or not articulation.nv:
        return result
    for key in [key for key in MOTION_LIMITS if key in limit.attributes]:
        value = source.bound(limit, key)
        if articulation.nv > 1:
            source.drop(f"the {key} limit of a {articulation.kind} joint", limit)
        elif value > 0.0:
            result[key] = value
        else:
            source.count_zero(key, value, name, limit)
    return result


def _mimic(source: UrdfSource, joint: XmlElement, name: str, articulation: Articulation) -> Mimic | None:
    element = joint.first("mimic")
    if element is None:
        return None
    if articulation.nq == 0:
        source.drop("<mimic> of a fixed joint", element)
        return None
    leader, problem = element.attributes.get("joint", ""), ""
    if articulation.nq > 1:
        problem = f"has {articulation.nq} values; only joints with one can mimic another"
    elif not leader:
        problem = 'mimics no joint: <mimic joint="..."/> is expected'
    if problem:
        source.forgive("bad-mimic", f"joint {name!r} {problem}; it is left free.", name, element)
        return None
    return Mimic(leader, source.number(element, "multiplier", 1.0), source.number(element, "offset", 0.0))


def _free_lost_followers(source: UrdfSource, joints: dict[str, Joint], mimics: Mapping[str, XmlElement]) -> None:
    """Remove the mimic of joints whose leader does not exist, has several values, or follows them."""
    settled: set[str] = set()
    for name in mimics:
        path: dict[str, None] = {}
        while name not in settled and (mimic := joints[name].mimic) is not None:
            path[name] = None
            if problem := _mimic_problem(joints, mimic.joint, path):
                text = f"joint {name!r} mimics {mimic.joint!r}, {problem}; it is left free."
                source.forgive("bad-mimic", text, name, mimics[name])
                joints[name] = replace(joints[name], mimic=None)
                break
            name = mimic.joint
        settled.update(path)


def _mimic_problem(joints: Mapping[str, Joint], leader: str, path: Collection[str]) -> str:
    """Return why the last joint of a path cannot follow a leader; empty if it can."""
    if leader not in joints:
        return "which does not exist"
    if leader in path:
        return "and thereby itself"
    count = joints[leader].articulation.nq
    return "" if count == 1 else f"which has {count} values, not one"
