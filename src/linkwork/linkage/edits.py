"""Edits of an immutable linkage: each returns a new linkage of the same class."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace as replaced
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import LimitError, LinkageError, MimicError
from ..transforms import IDENTITY, FloatArray, TransformLike, as_transform
from .couplings import Coupling, kept_below, welded
from .groups import carried
from .joints import Articulation, Fixed, Joint
from .motion_limits import MOTION_LIMITS, NO_MOTION_LIMITS
from .poses import PoseLike, as_poses, pose
from .tree import ROOT, Frame, Link, Loop, as_root, fresh

if TYPE_CHECKING:
    from .linkage import Linkage

JOINT_FIELDS = ("name", "placement", "mimic", *MOTION_LIMITS)


def replace(
    linkage: Linkage,
    *,
    name: str | None = None,
    root: Any = None,
    links: Mapping[str, Link | Mapping[str, Any]] | None = None,
    joints: Mapping[str, Joint | Articulation | Mapping[str, Any]] | None = None,
    frames: Iterable[Frame] | None = None,
    poses: Mapping[str, PoseLike] | None = None,
    loops: Iterable[Loop] | None = None,
    couplings: Iterable[Coupling] | None = None,
    groups: Mapping[str, Iterable[str]] | None = None,
    disabled_pairs: Mapping[tuple[str, str], str] | Iterable[tuple[str, str]] | None = None,
) -> Linkage:
    """Return a linkage with parts changed.

    Args:
        linkage: The linkage to start from.
        name: A new name.
        root: A new root arc, as in `Linkage`; name and placement are kept when only an articulation is given.
        links: Changes by link name: a `Link`, or fields of it (``{"hand": {"visuals": Sphere(0.05)}}``).
        joints: Changes by joint name: an articulation, fields of it (``{"j2": {"upper": 1.2}}``), fields of the joint
            (``{"j2": {"placement": ..., "velocity": 2.0}}``), or a `Joint`. References to a joint follow its new
            ``name``.
        frames: All further frames.
        poses: All named poses. By default they are kept. A value is kept if there is still a coordinate with its name
            and unit (a quaternion only as a whole); all others are neutral.
        loops: All loops.
        couplings: All couplings.
        groups: All groups of joints.
        disabled_pairs: All pairs of links that may touch.
    """
    new_links = _changed(linkage.nodes, links or {}, linkage.link_index, _changed_link)
    new_joints = _changed(linkage.arcs, joints or {}, linkage.arc_index, _changed_joint)
    link_names = {old.name: new.name for old, new in zip(linkage.nodes, new_links, strict=True)}
    joint_names = {old.name: new.name for old, new in zip(linkage.arcs, new_joints, strict=True)}
    new_joints = [_renamed(joint, link_names, "parent", "child") for joint in new_joints]
    new_joints = [
        joint if joint.mimic is None else replaced(joint, mimic=_renamed(joint.mimic, joint_names, "joint"))
        for joint in new_joints
    ]
    if frames is None:
        frames = [replaced(frame, link=link_names[frame.link]) for frame in linkage.extra_frames]
    if loops is None:
        loops = [_renamed(loop, link_names, "first", "second") for loop in linkage.loops]
    if couplings is None:
        couplings = [coupling.renamed(joint_names) for coupling in linkage.couplings]
    if isinstance(root, str | Articulation):
        root = new_joints[0].with_articulation(as_root(root))
    name, root = linkage.name if name is None else name, new_joints[0] if root is None else root
    parts = carried(linkage, {old: (new,) for old, new in joint_names.items()}, link_names)
    parts |= {"loops": loops, "couplings": couplings}
    parts |= {"groups": groups} if groups is not None else {}
    parts |= {"disabled_pairs": disabled_pairs} if disabled_pairs is not None else {}
    result = type(linkage)(new_links, new_joints[1:], name=name, frames=frames, root=root, **parts)
    if poses is None:
        return _with_poses_of(linkage, result, joint_names)
    return _with_poses(result, poses)


def _changed(old: Iterable[Any], changes: Mapping[str, Any], index: Callable[[str], int], change: Any) -> list[Any]:
    result = list(old)
    for name, value in changes.items():
        i = index(name)
        result[i] = change(result[i], value)
    return result


def _changed_link(link: Link, change: Any) -> Link:
    if isinstance(change, Link):
        return change
    _check_fields(change, {f.name for f in fields(Link)}, f"link {link.name!r}")
    return replaced(link, **change)


def _changed_joint(joint: Joint, change: Any) -> Joint:
    if isinstance(change, Joint):
        return change
    if isinstance(change, Articulation):
        return joint.with_articulation(change)
    given = dict(change) if isinstance(change, Mapping) else {}
    new = joint.with_articulation(given["articulation"]) if "articulation" in given else joint
    new = replaced(new, **{key: given[key] for key in JOINT_FIELDS if key in given})
    inside = {f.name for f in fields(new.articulation)}
    known = inside.union(JOINT_FIELDS, ["articulation"])
    _check_fields(change, known, f"joint {joint.name!r} ({joint.articulation.kind})")
    motion = {key: value for key, value in given.items() if key in inside}
    return new.with_articulation(replaced(new.articulation, **motion)) if motion else new


def _check_fields(change: Any, known: set[str], what: str) -> None:
    if not isinstance(change, Mapping):
        raise LinkageError(f"a change of {what} is a mapping of fields, got {change!r}.")
    for key in change:
        if key not in known:
            raise LinkageError(f"{what} has no field {key!r}; it has {', '.join(sorted(known))}.")


def _renamed(part: Any, names: Mapping[str, str], *references: str) -> Any:
    """Update the references of a part to renamed parts; the linkage rejects values that are not names later."""
    old = {field: getattr(part, field) for field in references}
    return replaced(part, **{field: names.get(name, name) for field, name in old.items() if isinstance(name, str)})


def _with_poses(linkage: Linkage, poses: Mapping[str, PoseLike]) -> Linkage:
    return _rebuilt(linkage, linkage.nodes, linkage.arcs, poses=poses) if poses else linkage


def _rebuilt(linkage: Linkage, nodes: Sequence[Link], arcs: Sequence[Joint], **parts: Any) -> Linkage:
    """Return a linkage with other links and arcs, the root arc first; all other parts are copied unless given."""
    kept: dict[str, Any] = {"name": linkage.name, "frames": linkage.extra_frames, "loops": linkage.loops}
    kept |= {"groups": linkage.groups, "disabled_pairs": linkage.disabled_pairs, "origin": linkage.origin}
    kept |= {"couplings": linkage.couplings}
    return type(linkage)(nodes, arcs[1:], root=arcs[0], **(kept | parts))


def _with_poses_of(old: Linkage, new: Linkage, joint_names: Mapping[str, str] | None = None) -> Linkage:
    """Copy the named poses of the original linkage to an edited one, value by value."""
    source, target = _places(old, joint_names or {}), _places(new, {})
    kept = [place for place in target if place in source]
    poses = {}
    for name, stored in old.poses.items():
        values = new.neutral()
        for place in kept:
            values[target[place]] = stored[source[place]]
        poses[name] = values
    return _with_poses(new, poses)


def _places(linkage: Linkage, names: Mapping[str, str]) -> dict[tuple[str, str, str], int]:
    """Return pose indices by joint (with its new name), coordinate and unit."""
    return {
        (names.get(row.joint, row.joint), row.name.removeprefix(row.joint), row.unit): row.q for row in linkage.table
    }


def add_frame(linkage: Linkage, name: str, link: str, placement: TransformLike = IDENTITY) -> Linkage:
    """Return a linkage with one more frame, fixed to a link or to another frame."""
    owner, link_from_frame = carrier(linkage, link)
    added = Frame(name, owner, link_from_frame @ as_transform(placement, f"placement of frame {name!r}"))
    return replace(linkage, frames=[*linkage.extra_frames, added])


def carrier(linkage: Linkage, frame: str) -> tuple[str, FloatArray]:
    """Return the link that carries a frame, and link_from_frame. The frame of a link is carried by the link itself."""
    index = linkage.frame_index(frame) - len(linkage.links)
    if index < 0:
        return frame, IDENTITY
    extra = linkage.extra_frames[index]
    return extra.link, extra.placement


def freeze(linkage: Linkage, joint: str, *, at: Any) -> Linkage:
    """Return a linkage with a joint fixed at a value, together with the joints that follow only this joint."""
    i = linkage.arc_index(joint)
    leader = linkage.arcs[i].mimic
    if leader is not None:
        raise MimicError(f"joint {joint!r} mimics {leader.joint!r}; freeze that one.")
    if not linkage.drives[i].nq:
        return linkage
    q = pose(linkage, {joint: at})
    still = set(range(linkage.nq)[linkage.drives[i].columns])
    couplings = welded(linkage, still, q)
    arcs = []
    for arc, drive in zip(linkage.arcs, linkage.drives, strict=True):
        if drive.nq and drive.q in still:
            placement = arc.placement @ arc.articulation.matrix(drive.values(q))
            arc = replaced(arc, articulation=Fixed(), placement=placement, mimic=None, **NO_MOTION_LIMITS)
        arcs.append(arc)
    return _with_poses_of(linkage, _rebuilt(linkage, linkage.nodes, arcs, couplings=couplings))


def subtree(linkage: Linkage, link: str) -> Linkage:
    """Return the part of a linkage below a link. The link becomes the root, at the origin.

    A loop is kept if both of its frames are kept, a coupling if all of its joints are.
    """
    top = linkage.link_index(link)
    end = top + 1
    while end < len(linkage.nodes) and linkage.parents[end] >= top:  # depth-first order: a subtree is contiguous
        end += 1
    inside = {arc.name for arc in linkage.arcs[top + 1 : end]}
    for arc in linkage.arcs[top + 1 : end]:
        if arc.mimic is not None and arc.mimic.joint not in inside:
            raise MimicError(f"{arc.name!r} below {link!r} mimics {arc.mimic.joint!r} above it; freeze that first.")
    couplings = kept_below(linkage, inside, link)
    nodes = linkage.nodes[top:end]
    names = {node.name for node in nodes}
    frames = [frame for frame in linkage.extra_frames if frame.link in names]
    names.update(frame.name for frame in frames)
    loops = [loop for loop in linkage.loops if {loop.first, loop.second} <= names]
    parts = carried(linkage, {name: (name,) for name in inside}, {node.name: node.name for node in nodes})
    parts |= {"loops": loops, "couplings": couplings}
    result = type(linkage)(nodes, linkage.arcs[top + 1 : end], name=link, frames=frames, **parts)
    return _with_poses_of(linkage, result)


def split(linkage: Linkage) -> Linkage:
    """Return a linkage of one-DOF joints: complex joints become several, joined by zero-length links.

    A joint ``hip`` with three rotations becomes ``hip.rx``, ``hip.ry`` and ``hip.rz``, with links of the same names in
    between. A moving root arc with several values gets a new fixed root link, ``root``. If a new name is already used,
    it is lengthened.
    """
    links, joints, root = list(linkage.nodes), [], linkage.root
    arcs = list(linkage.arcs[1:])
    link_names, joint_names = set(linkage.frames), {arc.name for arc in linkage.arcs}
    parts_of = {root.name: [root.name]}
    if root.articulation.nq > 1:
        base = Link(fresh(root.name, link_names))
        links.insert(0, base)
        link_names.add(base.name)
        arcs.insert(0, replaced(root, parent=base.name, placement=IDENTITY))
        root = Joint(ROOT, None, base.name, placement=root.placement)
    for arc in arcs:
        parts_of[arc.name] = names = []
        if arc.articulation.nq <= 1:
            joints.append(arc)
            names.append(arc.name)
            continue
        if any(getattr(arc.articulation, name, None) is not None for name in ("swing", "twist")):
            what = f"swing and twist of joint {arc.name!r} of linkage {linkage.name!r}"
            raise LimitError(f"the {what} are not limits of single turns; replace them by None first.")
        parent, placement, parts = arc.parent, arc.placement, arc.articulation.split()
        limits = arc.part_limits()
        for k, (suffix, articulation) in enumerate(parts, start=1):
            name, child = fresh(f"{arc.name}.{suffix}", joint_names), arc.child
            if k < len(parts):
                child = fresh(f"{arc.name}.{suffix}", link_names)
                links.append(Link(child))
            joints.append(Joint(name, parent, child, articulation, placement, **limits[k - 1]))
            names.append(name)
            joint_names.add(name)
            link_names.add(child)
            parent, placement = child, IDENTITY
    result = _rebuilt(linkage, links, [root, *joints], **carried(linkage, parts_of, {n: n for n in linkage.links}))
    return _with_poses(result, {name: split_pose(linkage, name) for name in linkage.poses})


def split_pose(linkage: Linkage, q: PoseLike) -> FloatArray:
    """Return the pose of the split linkage in which every link is where it is at `q`, shape (..., nq of the split)."""
    values = as_poses(linkage, q)
    columns = [
        arc.articulation.split_values(drive.values(values))
        for arc, drive in zip(linkage.arcs, linkage.drives, strict=True)
        if arc.mimic is None
    ]
    return np.concatenate(columns, axis=-1)
