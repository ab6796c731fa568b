"""Mirror images of motions: the joints to exchange, the mirror plane, and the mirrored values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..errors import JointNotFoundError, LinkageError, listed
from ..linkage.euler_angles import turn_values
from ..linkage.joints import Ball, Fixed, Joint
from ..linkage.linkage import Linkage
from ..linkage.poses import zero_pose
from ..transforms import FloatArray, as_axis, as_vector
from . import root_motion
from .splines import steady_signs

if TYPE_CHECKING:
    from .clips import Clip

ALIKE, EXACT = 0.05, 1e-6  # tolerances for mirrored positions, as a share of the size, and for mirrored axes
SIDES = (("left", "right"), ("l", "r"))
BONES = ("hip", "femur", "tibia", "foot", "toe", "clav", "humerus", "radius", "wrist", "hand", "thumb", "fing")
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^A-Za-z\d]+")


@dataclass(frozen=True, eq=False)
class Symmetry:
    """Left and right in a linkage, and its plane of symmetry.

    Attributes:
        linkage: The linkage.
        pairs: The partner of every joint that moves; a joint in the middle is its own partner.
        normal: Direction across the plane of symmetry, from right to left, in the pose of all zeros.
        point: A point of that plane [m].
        mismatch: Largest distance of a joint from the mirror image of its partner [m].
    """

    linkage: Linkage
    pairs: Mapping[str, str]
    normal: FloatArray
    point: FloatArray
    mismatch: float

    def __str__(self) -> str:
        sides = [f"{a} - {b}" for a, b in self.pairs.items() if a < b]
        middle = [a for a, b in self.pairs.items() if a == b]
        across = ", ".join(f"{x:.3g}" for x in self.normal.tolist())
        return (
            f"pairs: {listed(sides) or 'none'}; alone: {listed(middle) or 'none'}; across: ({across}); "
            f"mirror images to {self.mismatch:.3g} m"
        )


def symmetry(
    linkage: Linkage, *, pairs: Mapping[str, str] | None = None, normal: str | ArrayLike | None = None
) -> Symmetry:
    """Return the joints of a linkage that are mirror images: found by name, checked against the geometry.

    Args:
        linkage: The linkage.
        pairs: Joints to exchange, which override those found by name; a joint paired with itself is in the middle.
        normal: Direction across the plane of symmetry; by default from the joints on the right to those on the left.

    Example:
        >>> import linkwork as lw
        >>> symmetry(lw.models.human()).pairs["left_elbow"]
        'right_elbow'
    """
    moving = [arc.name for arc in linkage.arcs if not isinstance(arc.articulation, Fixed) and arc.mimic is None]
    if not moving:
        raise LinkageError(f"nothing moves in linkage {linkage.name!r}; there is nothing to mirror.")
    found = {name: other_side(name) for name in moving}
    found = {a: b if b in found and found[b] == a else a for a, b in found.items()}
    for a, b in (pairs or {}).items():
        for name in (a, b):
            if name not in found:
                raise JointNotFoundError(name, f"linkage {linkage.name!r}", moving)
        for old in {found[a], found[b]} - {a, b}:
            found[old] = old
        found[a], found[b] = b, a
    rest = linkage.forward(zero_pose(linkage))
    spots = {name: rest[linkage.joint(name).child][:3, 3] for name in moving}
    ways = np.array([spots[a] - spots[b] for a, b in found.items() if is_left(a, b)]).reshape(-1, 3)
    if normal is not None:
        across = as_axis(normal, "normal of a mirror")
    elif len(ways) and np.linalg.norm(ways.sum(axis=0)) > 0.0:
        across = ways.sum(axis=0) / np.linalg.norm(ways.sum(axis=0))
        across = np.where(np.abs(across) < ALIKE, 0.0, across)
        across = across / np.linalg.norm(across) + 0.0
    else:
        raise LinkageError(
            f"no left and no right found among the joints of linkage {linkage.name!r} ({listed(moving)}); say which "
            "change places with pairs={'this': 'that'}, or across which direction to mirror with normal='y'."
        )
    one, other = (np.array([spots[name] for name in names]) for names in (found, found.values()))
    middle = (one + other).mean(axis=0) / 2.0
    far = np.linalg.norm(_reflected(other, across, middle) - one, axis=1)
    return Symmetry(linkage, found, across, middle, float(far.max(initial=0.0)))


def other_side(name: str) -> str:
    """Return a name with left and right exchanged, or the same name.

    Example:
        >>> [other_side(name) for name in ("left_elbow", "RightUpLeg", "l_knee", "LThumb", "spine", "arm.R")]
        ['right_elbow', 'LeftUpLeg', 'r_knee', 'RThumb', 'spine', 'arm.L']
    """
    words = _WORDS.findall(name)
    for left, right in SIDES:
        for k, word in enumerate(words):
            for one, two in ((left, right), (right, left)):
                if word.lower() == one:
                    return "".join([*words[:k], _cased(two, word), *words[k + 1 :]])
                if k == 0 and len(one) > 1 and word.lower().startswith(one) and len(word) > len(one):  # such as leftarm
                    return "".join([_cased(two, word[: len(one)]) + word[len(one) :], *words[1:]])
    first, rest = name[:1], name[1:]
    if first and first in "lr" and rest.startswith(BONES):
        return ("r" if first == "l" else "l") + rest  # for example lhipjoint in the CMU library
    if first and first in "LR" and rest[:1].isupper():
        return ("R" if first == "L" else "L") + rest
    return name


def is_left(name: str, other: str) -> bool:
    """Return whether a joint of a pair is the left one, by the first letter that differs."""
    first = next(((a, b) for a, b in zip(name.lower(), other.lower(), strict=False) if a != b), ("", ""))
    return first == ("l", "r") or (first != ("r", "l") and name < other)


def _cased(word: str, like: str) -> str:
    if like.isupper() and (len(like) > 1 or len(word) == 1):
        return word.upper()
    return word.capitalize() if like[:1].isupper() else word


def _reflected(points: FloatArray, normal: FloatArray, through: FloatArray) -> FloatArray:
    """Return the mirror images of points (n, 3) in a plane."""
    result: FloatArray = points - 2.0 * ((points - through) @ normal)[:, None] * normal
    return result


def mirror(clip: Clip, pairs: Mapping[str, str] | None, normal: str | ArrayLike | None, point: ArrayLike) -> Clip:
    """Return the mirror image of a motion; see `Clip.mirror`."""
    linkage, through = clip.linkage, as_vector(point, "point of a mirror")
    own = not root_motion.root_moves(linkage)  # a fixed linkage can be mirrored only in its own plane
    try:
        found = symmetry(linkage, pairs=pairs, normal=normal if own else None)
    except LinkageError:
        if normal is None or own:
            raise
        found = symmetry(linkage, pairs=pairs, normal=normal)
    if found.mismatch > ALIKE * max(linkage.length, 1e-300):
        raise LinkageError(
            f"linkage {linkage.name!r} is not symmetric about the plane found; {found}. Say which joints change places "
            "with pairs=, or across which direction to mirror with normal=."
        )
    flip = np.eye(3) - 2.0 * np.outer(found.normal, found.normal)
    rest, values = linkage.forward(zero_pose(linkage)), np.empty_like(clip.poses)
    for arc, drive in zip(linkage.arcs, linkage.drives, strict=True):
        if arc.mimic is None and arc.articulation.nq and (own or arc is not linkage.root):
            values[:, drive.columns] = _joint_values(clip, arc.name, found.pairs[arc.name], flip, rest)
    if own:
        return replace(clip, poses=steady_signs(linkage, values), residuals=None)
    across = found.normal if normal is None else as_axis(normal, "normal of a mirror")
    world, zero = root_motion.places(linkage, clip.poses), rest[linkage.links[0]]
    image = world.copy()
    body = zero[:3, :3].T @ flip @ zero[:3, :3]
    image[:, :3, :3] = (np.eye(3) - 2.0 * np.outer(across, across)) @ world[:, :3, :3] @ body
    image[:, :3, 3] = _reflected(world[:, :3, 3], across, through)
    values[:, : linkage.root.articulation.nq] = clip.poses[:, : linkage.root.articulation.nq]
    return root_motion.replaced(replace(clip, poses=steady_signs(linkage, values)), image)


def _joint_values(clip: Clip, name: str, partner: str, flip: FloatArray, rest: Mapping[str, FloatArray]) -> FloatArray:
    """Return the values of a joint from those of its partner.

    If the axes of a pair are mirror images, a value keeps its size: rotations change their sign in a mirror,
    translations do not. The rotation vector w of a ball becomes ``-F w``, with the reflection F between the joints' own
    axes.
    """
    linkage = clip.linkage
    here, there = linkage.joint(name), linkage.joint(partner)
    theirs = clip.poses[:, linkage.drive(partner).columns]
    elements = here.articulation.elements, there.articulation.elements
    change = rest[here.child][:3, :3].T @ flip @ rest[there.child][:3, :3]
    if [e.kind for e in elements[0]] != [e.kind for e in elements[1]]:
        raise LinkageError(f"joints {name!r} and {partner!r} are of different kinds and cannot change places.")
    result = theirs.copy()
    for one, other in zip(*elements, strict=True):
        if one.kind == "ball":
            result[:, one.value + 1 : one.value + 4] = -theirs[:, other.value + 1 : other.value + 4] @ change.T
            continue
        sense = 1.0 if one.kind == "prismatic" else -1.0
        sign = float(sense * (np.asarray(one.axis) @ change @ np.asarray(other.axis)))
        if abs(abs(sign) - 1.0) > EXACT:
            return _turned(theirs, here, there, change)
        result[:, one.value] = np.sign(sign) * theirs[:, other.value]
    return result


def _turned(theirs: FloatArray, here: Joint, there: Joint, change: FloatArray) -> FloatArray:
    """Return the values of a ball joint whose Euler axes are not mirror images, from its rotations."""
    if not isinstance(here.articulation, Ball):
        raise LinkageError(
            f"the axes of joints {here.name!r} and {there.name!r} are not mirror images, so they cannot change "
            "places; give other pairs with pairs=, or another plane with normal=."
        )
    local = there.articulation.matrix(theirs)[:, :3, :3]
    return turn_values(here.articulation, change @ local @ change.T)
