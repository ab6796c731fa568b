"""The parts of a tree and how they are put in order: links, further frames, depth-first order, places in the pose.

Imports `errors`, `transforms`, `geometry` and `joints`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .errors import (
    DuplicateNameError,
    JointNotFoundError,
    LimitError,
    LinkageError,
    LinkNotFoundError,
    MimicError,
    TreeError,
    listed,
)
from .geometry import Visual, as_visuals
from .joints import ARTICULATIONS, Articulation, Joint
from .transforms import IDENTITY, FloatArray, as_transform

ROOT = "root"


@dataclass(frozen=True, eq=False)
class Link:
    """A node of the tree: an object part in position to be articulated.

    Args:
        name: Name, unique among the links and frames of a linkage.
        visuals: What it looks like; a shape may be shared by many links.
        matrix: The node transform that readies the data for articulation, used for drawing and never inherited.
    """

    name: str
    visuals: tuple[Visual, ...] = ()
    matrix: FloatArray = field(default_factory=lambda: IDENTITY)

    def __post_init__(self) -> None:
        object.__setattr__(self, "visuals", as_visuals(self.visuals))
        matrix = as_transform(self.matrix, f"node transform of link {self.name!r}")
        matrix.setflags(write=False)
        object.__setattr__(self, "matrix", matrix)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Link):
            return NotImplemented
        same = self.name == other.name and self.visuals == other.visuals
        return same and np.array_equal(self.matrix, other.matrix)

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, eq=False)
class Frame:
    """A named coordinate system fixed to a link: a tool tip, a palm, a sensor.

    Args:
        name: Name, unique among the links and frames of a linkage.
        link: Name of the link that carries it.
        placement: link_from_frame, 4x4 or a position.
    """

    name: str
    link: str
    placement: FloatArray = field(default_factory=lambda: IDENTITY)

    def __post_init__(self) -> None:
        placement = as_transform(self.placement, f"placement of frame {self.name!r}")
        placement.setflags(write=False)
        object.__setattr__(self, "placement", placement)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Frame):
            return NotImplemented
        same = (self.name, self.link) == (other.name, other.link)
        return same and np.array_equal(self.placement, other.placement)

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class Drive:
    """Where a joint's values come from: ``value = multiplier * pose[q] + offset``.

    A joint with a value of its own has multiplier one and offset zero; a mimic joint points at its leader's entry.
    """

    q: int
    v: int
    multiplier: float = 1.0
    offset: float = 0.0


def check_names(kind: str, names: list[str], where: str) -> None:
    """Raise if a name is missing or appears twice."""
    seen: set[str] = set()
    for name in names:
        if not isinstance(name, str) or not name:
            raise LinkageError(f"a {kind} in {where} needs a name of at least one letter, got {name!r}.")
        if name in seen:
            raise DuplicateNameError(kind, name, where)
        seen.add(name)


def depth_first(links: list[Link], joints: list[Joint], where: str) -> tuple[list[Link], list[Joint], list[int]]:
    """Return links, the joints that lead to all but the first, and parent indices, in depth-first order."""
    by_name = {link.name: link for link in links}
    below: dict[str, list[Joint]] = {link.name: [] for link in links}
    above: dict[str, Joint] = {}
    for joint in joints:
        for end in (joint.parent, joint.child):
            if end not in by_name:
                raise LinkNotFoundError(end, f"{where} (joint {joint.name!r})", list(by_name))
        if joint.child in above:
            first = above[joint.child].name
            raise TreeError(f"link {joint.child!r} in {where} hangs on two joints, {first!r} and {joint.name!r}.")
        above[joint.child] = joint
        below[str(joint.parent)].append(joint)
    roots = [name for name in by_name if name not in above]
    if not roots:
        raise TreeError(f"{where} has no root: {_cycle(above) or 'it has no links at all'}.")
    if len(roots) > 1:
        raise TreeError(f"{where} has {len(roots)} roots, {listed(roots)}; join them with joints to make one tree.")
    nodes, arcs, parents = [by_name[roots[0]]], [], [-1]
    stack = [(joint, 0) for joint in reversed(below[roots[0]])]
    while stack:
        joint, parent = stack.pop()
        here = len(nodes)
        nodes.append(by_name[joint.child])
        arcs.append(joint)
        parents.append(parent)
        stack += [(deeper, here) for deeper in reversed(below[joint.child])]
    if len(nodes) < len(links):
        raise TreeError(f"{where} is not one tree: {_cycle(above)}.")
    return nodes, arcs, parents


def _cycle(above: Mapping[str, Joint]) -> str:
    """Return a sentence naming the links of a cycle, if there is one."""
    done: set[str] = set()
    for start in above:
        path: dict[str, None] = {}
        name = start
        while name in above and name not in done and name not in path:
            path[name] = None
            name = str(above[name].parent)
        if name in path:
            ring = list(path)[list(path).index(name) :]
            return f"links {listed([*reversed(ring), ring[-1]])} form a cycle"
        done.update(path)
    return ""


def root_arc(root: Any, child: str) -> Joint:
    """Return the root arc from any of the forms that `Linkage` takes."""
    if root is None:
        return Joint(ROOT, None, child)
    if isinstance(root, Joint):
        if root.parent is not None:
            raise TreeError(f"the root arc hangs on the world, not on a link, got parent {root.parent!r}.")
        return Joint(root.name, None, child, root.articulation, root.placement)
    if isinstance(root, Articulation):
        return Joint(ROOT, None, child, root)
    if isinstance(root, str):
        if root not in ("fixed", "planar", "floating"):
            raise LinkageError(f"root is 'fixed', 'planar' or 'floating', got {root!r}.")
        return Joint(ROOT, None, child, ARTICULATIONS[root]())
    return Joint(ROOT, None, child, placement=root)


def layout(arcs: Sequence[Joint], where: str) -> dict[str, Any]:
    """Give every joint its place in the pose and velocity vectors; followers share their leader's."""
    index = {joint.name: i for i, joint in enumerate(arcs)}
    drives: list[Drive | None] = [None] * len(arcs)
    coordinates: list[str] = []
    lower: list[float] = []
    upper: list[float] = []
    nq = nv = 0
    for i, joint in enumerate(arcs):
        if joint.mimic is not None:
            continue
        drives[i] = Drive(nq, nv)
        coordinates += joint.coordinates
        low, high = joint.articulation.limits
        lower += low.tolist()
        upper += high.tolist()
        nq, nv = nq + joint.articulation.nq, nv + joint.articulation.nv
    for i, joint in enumerate(arcs):
        if joint.mimic is not None:
            drives[i] = drive = _leader(joint, arcs, index, drives, where)
            _narrow(joint, drive, coordinates[drive.q], lower, upper, where)
    bounds = (np.array(lower), np.array(upper))
    for bound in bounds:
        bound.setflags(write=False)
    names: dict[str, Any] = {"drives": tuple(drives), "coordinates": tuple(coordinates), "nq": nq, "nv": nv}
    check_names("pose coordinate", coordinates, where)
    return names | {"lower": bounds[0], "upper": bounds[1]}


def _leader(
    joint: Joint, arcs: Sequence[Joint], index: Mapping[str, int], drives: Sequence[Drive | None], where: str
) -> Drive:
    """Follow a chain of mimic joints to the one with a value of its own."""
    multiplier, offset, seen, here = 1.0, 0.0, [joint.name], joint
    while here.mimic is not None:
        mimic = here.mimic
        if mimic.joint not in index:
            raise JointNotFoundError(mimic.joint, f"{where} (mimicked by {here.name!r})", list(index))
        offset += multiplier * mimic.offset
        multiplier *= mimic.multiplier
        here = arcs[index[mimic.joint]]
        if here.name in seen:
            raise MimicError(f"joints {listed(seen)} of {where} mimic each other in a circle.")
        seen.append(here.name)
    drive = drives[index[here.name]]
    if drive is None or here.articulation.nq != 1:
        raise MimicError(
            f"joint {joint.name!r} mimics {here.name!r}, which has {here.articulation.nq} values, not one."
        )
    return Drive(drive.q, drive.v, multiplier, offset)


def _narrow(joint: Joint, drive: Drive, leader: str, lower: list[float], upper: list[float], where: str) -> None:
    """Narrow a leader's limits so that its follower keeps its own too."""
    low, high = (float(bound[0]) for bound in joint.articulation.limits)
    if drive.multiplier == 0.0:
        return
    ends = sorted(((low - drive.offset) / drive.multiplier, (high - drive.offset) / drive.multiplier))
    q = drive.q
    low, high = max(lower[q], ends[0]), min(upper[q], ends[1])
    if low <= high:
        lower[q], upper[q] = low, high
    elif low - high > 1e-12 * max(abs(low), abs(high)):  # less is the rounding of the division: the leader's stay
        raise LimitError(f"the limits of {joint.name!r}, which mimics {leader!r} in {where}, leave it no value at all.")
