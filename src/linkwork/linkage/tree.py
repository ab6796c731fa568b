"""The parts of a tree and their order: links, additional frames, depth-first order, indices in the pose."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from ..errors import (
    DuplicateNameError,
    FrameNotFoundError,
    JointNotFoundError,
    LinkageError,
    LinkNotFoundError,
    MimicError,
    TreeError,
    listed,
)
from ..transforms import IDENTITY, FloatArray, TransformLike, Value, as_transform, is_number, read_only
from .geometry import Inertia, Visual, Visuals, as_visuals
from .joints import ARTICULATIONS, Articulation, Joint, Mimic
from .motion_limits import MOTION_LIMITS

ROOT, WORLD = "root", "world"
LOOP_KINDS = ("point", "axis", "full")
CLOSED = 1e-10  # a smaller gap of a loop counts as zero [m, rad]
Part = TypeVar("Part")


@dataclass(frozen=True, eq=False, init=False)
class Link(Value):
    """A node of the tree: a rigid part of the linkage.

    Args:
        name: Name, unique among the links and frames of a linkage.
        visuals: Its visual and collision shapes; a shape may be shared by many links.
        matrix: The node transform of its shapes, used for drawing and not inherited by child links.
        inertia: Its mass properties, if known.
    """

    name: str
    visuals: tuple[Visual, ...]
    matrix: FloatArray
    inertia: Inertia | None

    def __init__(
        self,
        name: str,
        visuals: Visuals = (),
        matrix: TransformLike = IDENTITY,
        inertia: Inertia | None = None,
    ) -> None:
        ready = read_only(as_transform(matrix, f"node transform of link {name!r}"))
        if inertia is not None and not isinstance(inertia, Inertia):
            raise LinkageError(f"inertia of link {name!r} must be an Inertia, got {inertia!r}.")
        vars(self).update(name=name, visuals=as_visuals(visuals), matrix=ready, inertia=inertia)


@dataclass(frozen=True, eq=False, init=False)
class Frame(Value):
    """A named coordinate system fixed to a link: a tool tip, a palm, a sensor.

    Args:
        name: Name, unique among the links and frames of a linkage.
        link: Name of the link that carries it.
        placement: link_from_frame, 4x4 or a position.
    """

    name: str
    link: str
    placement: FloatArray

    def __init__(self, name: str, link: str, placement: TransformLike = IDENTITY) -> None:
        placed = read_only(as_transform(placement, f"placement of frame {name!r}"))
        vars(self).update(name=name, link=link, placement=placed)


@dataclass(frozen=True)
class Loop:
    """A closed loop: two frames of different links that must coincide.

    The tree itself stays open there; forward kinematics ignores loops.

    Args:
        name: Name, unique among the loops of a linkage.
        first: Name of one frame.
        second: Name of the other.
        kind: What must coincide: ``"point"`` the origins, ``"axis"`` origins and z axes, ``"full"`` the whole frames.
        tolerance: Largest gap of a closed loop [m, rad]. Loops are always closed as far as possible; an overconstrained
            mechanism with inaccurate dimensions keeps a small gap.
    """

    name: str
    first: str
    second: str
    kind: str = "point"
    tolerance: float = CLOSED

    def __post_init__(self) -> None:
        if self.kind not in LOOP_KINDS:
            raise LinkageError(f"kind of loop {self.name!r} is {', '.join(map(repr, LOOP_KINDS))}, got {self.kind!r}.")
        if not is_number(self.tolerance) or not 0.0 < self.tolerance < math.inf:
            raise LinkageError(f"tolerance of loop {self.name!r} must be positive and finite, got {self.tolerance!r}.")
        object.__setattr__(self, "tolerance", float(self.tolerance))


@dataclass(frozen=True)
class Drive:
    """The source of a joint's values: ``values = multiplier * pose[q : q + nq] + offset``; velocities likewise.

    A joint with values of its own has multiplier one and offset zero; a mimic joint points at its leader's entry.
    """

    q: int
    v: int
    nq: int = 1
    nv: int = 1
    multiplier: float = 1.0
    offset: float = 0.0

    @property
    def columns(self) -> slice:
        """Its columns of poses (..., nq)."""
        return slice(self.q, self.q + self.nq)

    @property
    def rates(self) -> slice:
        """Its columns of velocities (..., nv)."""
        return slice(self.v, self.v + self.nv)

    def values(self, poses: FloatArray) -> FloatArray:
        """Return the joint's values, shape (..., nq of the joint), in poses (..., nq)."""
        return self.multiplier * poses[..., self.columns] + self.offset


def as_parts(kind: type[Part], given: Iterable[Part], where: str) -> list[Part]:
    """Return links, joints or frames as a list; raise LinkageError if one has another type."""
    parts = list(given)
    for part in parts:
        if not isinstance(part, kind):  # callers may have no type checker
            raise LinkageError(f"a {kind.__name__.lower()} of {where} must be a {kind.__name__}, got {part!r}.")
    return parts


def check_name(kind: str, name: str, taken: Collection[str], where: str) -> None:
    """Raise LinkageError if a name is not a text with letters, or is already used."""
    if not isinstance(name, str) or not name:
        raise LinkageError(f"a {kind} in {where} needs a name of at least one letter, got {name!r}.")
    if name in taken:
        raise DuplicateNameError(kind, name, where)


def check_names(kind: str, names: Iterable[str], where: str) -> None:
    """Raise if one is not a name, or appears twice."""
    seen: set[str] = set()
    for name in names:
        check_name(kind, name, seen, where)
        seen.add(name)


def check_link(name: str | None, links: Collection[str], where: str) -> None:
    """Raise LinkNotFoundError if a joint or frame refers to a link that does not exist."""
    if not isinstance(name, str) or name not in links:
        raise LinkNotFoundError(name, where, links)


def check_loops(loops: Sequence[Loop], frames: Mapping[str, str], where: str) -> None:
    """Raise if a loop's name is used twice, or it does not connect two links; `frames` maps frames to their links."""
    check_names("loop", [loop.name for loop in loops], where)
    for loop in loops:
        for name in (loop.first, loop.second):
            if not isinstance(name, str) or name not in frames:
                raise FrameNotFoundError(name, f"{where} (loop {loop.name!r})", frames)
        if frames[loop.first] == frames[loop.second]:
            link = frames[loop.first]
            raise LinkageError(f"loop {loop.name!r} in {where} joins two frames of one link, {link!r}.")


def fresh(name: str, taken: Collection[str]) -> str:
    """Return a name, lengthened until it is unique."""
    while name in taken:
        name += "_"
    return name


def depth_first(links: list[Link], joints: list[Joint], where: str) -> tuple[list[Link], list[Joint], list[int]]:
    """Return the links, the joints to all but the first link, and parent indices, in depth-first order."""
    by_name = {link.name: link for link in links}
    below: dict[str, list[Joint]] = {link.name: [] for link in links}
    above: dict[str, Joint] = {}
    for joint in joints:
        if joint.parent is None:
            raise TreeError(
                f"joint {joint.name!r} in {where} has no parent link; pass the joint to the world as root=."
            )
        check_link(joint.parent, by_name, f"{where} (joint {joint.name!r})")
        check_link(joint.child, by_name, f"{where} (joint {joint.name!r})")
        if joint.child in above:
            first = above[joint.child].name
            raise TreeError(
                f"link {joint.child!r} in {where} is the child of two joints, {first!r} and {joint.name!r}."
            )
        above[joint.child] = joint
        below[joint.parent].append(joint)
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


def root_arc(root: Any, child: str, taken: Collection[str], where: str) -> Joint:
    """Return the root arc from any of the forms that `Linkage` takes.

    Args:
        root: The given value.
        child: Name of the root link.
        taken: Names of the other joints. A fixed root arc is renamed if a joint is called ``"root"``, as in many files;
            nothing refers to the arc.
        where: Name of the linkage in errors.
    """
    name, articulation, placement = ROOT, ARTICULATIONS["fixed"](), root
    limits: dict[str, Any] = {}
    if isinstance(root, Joint):
        if root.parent is not None:
            raise TreeError(f"the parent of the root arc is the world, not a link; got parent {root.parent!r}.")
        if root.child not in ("", child):
            raise TreeError(f"the root arc leads to {root.child!r}, but the root of {where} is {child!r}.")
        name, articulation, placement = root.name, root.articulation, root.placement
        limits = {what: getattr(root, what) for what in MOTION_LIMITS}
    elif isinstance(root, str | Articulation):
        articulation, placement = as_root(root), IDENTITY
    elif root is None:
        placement = IDENTITY
    if name == ROOT and articulation.nq == 0:
        name = fresh(name, taken)
    check_name("joint", name, taken, where)
    return Joint(name, None, child, articulation, placement, **limits)


def as_root(root: str | Articulation) -> Articulation:
    """Return the articulation of a root arc, given as such or by the name of its kind."""
    if isinstance(root, Articulation):
        return root
    if root not in ("fixed", "planar", "floating"):
        raise LinkageError(f"root is 'fixed', 'planar' or 'floating', got {root!r}.")
    return ARTICULATIONS[root]()


def layout(arcs: Sequence[Joint], where: str) -> dict[str, Any]:
    """Assign indices in pose and velocity to every joint; followers share their leader's indices and limits."""
    drives: dict[str, Drive] = {}
    own = [joint for joint in arcs if joint.mimic is None]
    coordinates = [name for joint in own for name in joint.coordinates]
    limits = [joint.articulation.limits for joint in own]
    lower, upper = (np.concatenate(side) for side in zip(*limits, strict=True))
    nq = nv = 0
    for joint in own:
        drives[joint.name] = drive = Drive(nq, nv, joint.articulation.nq, joint.articulation.nv)
        nq, nv = nq + drive.nq, nv + drive.nv
    by_name = {joint.name: joint for joint in arcs}
    for joint in arcs:
        if joint.mimic is not None:
            _follow(joint, by_name, drives, where)
    check_names("pose coordinate", coordinates, where)
    places: dict[str, Any] = {"drives": tuple(drives[joint.name] for joint in arcs), "coordinates": tuple(coordinates)}
    places |= {what: _motion_limits(own, what) for what in MOTION_LIMITS}
    return places | {"nq": nq, "nv": nv, "lower": read_only(lower), "upper": read_only(upper)}


def _motion_limits(own: Sequence[Joint], what: str) -> FloatArray:
    """Return the motion limits of the joints that follow no other, shape (nv,)."""
    rows = [getattr(joint, what) or (math.inf,) * joint.articulation.nv for joint in own]
    return read_only(np.array([limit for row in rows for limit in row], np.float64))


def _follow(joint: Joint, by_name: Mapping[str, Joint], drives: dict[str, Drive], where: str) -> None:
    """Find the drive of a mimic joint, following the chain of leaders."""
    followers: dict[str, Mimic] = {}
    leader = joint
    while leader.mimic is not None and leader.name not in drives:
        if leader.name in followers:
            raise MimicError(f"joints {listed(list(followers))} of {where} mimic each other in a circle.")
        followers[leader.name] = leader.mimic
        if leader.mimic.joint not in by_name:
            raise JointNotFoundError(leader.mimic.joint, f"{where} (mimicked by {leader.name!r})", by_name)
        leader = by_name[leader.mimic.joint]
    drive, count = drives[leader.name], leader.articulation.nq
    for name, mimic in reversed(followers.items()):
        if count != 1:
            raise MimicError(f"joint {name!r} mimics {leader.name!r}, which has {count} values, not one.")
        multiplier, offset = mimic.multiplier * drive.multiplier, mimic.multiplier * drive.offset + mimic.offset
        if not math.isfinite(multiplier) or not math.isfinite(offset):
            raise MimicError(f"joint {name!r} in {where} follows {leader.name!r} by a factor that is too large.")
        drives[name] = drive = Drive(drive.q, drive.v, 1, 1, multiplier, offset)
