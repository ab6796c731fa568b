"""Faults in the values of a motion: flips, spikes and exceeded limits, each with frames, joint and amount."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..linkage.coordinates import Coordinate
from ..linkage.euler_angles import euler_order, nearest
from ..linkage.joints import Joint
from ..linkage.poses import between, wrapped
from ..linkage.tree import Drive
from ..transforms import FloatArray

if TYPE_CHECKING:
    from .clips import Clip

KINDS = ("flip", "spike", "limit", "slide", "ground", "overlap", "path")
LEAP = 0.5  # smallest change between frames that counts as a jump [rad, m]
FLIP = 1.0  # larger jumps of an angle than this cannot be motion [rad]
RATIO = 6.0  # ratio of a spike to the motion around it
FASTEST = 4.0  # rate below which nothing is a spike [rad/s, or sizes of the body per second]
WHOLE, CROWD = 0.4, 5  # if at least this share and this number of joints jump at once, it is a cut
BODY = "whole body"
BEGINNING, SPARSE = 6, 0.1  # frames that show the initial speed of a motion; largest time between them for that [s]
AT_LIMIT, RESTING = 1e-9, 3  # distance within which a value is at its limit; frames in a row after which it is stuck


@dataclass(frozen=True)
class Finding:
    """One fault of a motion.

    Attributes:
        kind: ``"flip"`` (a joint jumps to another branch, or to other values of the same rotation), ``"spike"`` (far
            faster than before and after), ``"limit"`` (beyond a limit, or stuck at one), ``"slide"`` (a planted foot
            moves), ``"ground"`` (below the ground), ``"overlap"`` (two links overlap), ``"path"`` (a goal is
            missed).
        first: First frame concerned.
        last: Last frame concerned.
        where: The joint, link, two links or goal.
        amount: Its largest size.
        unit: Unit of the amount: ``"rad"``, ``"m"``, ``"rad/s"``, ``"m/s"``.
        text: A sentence on the fault.
    """

    kind: str
    first: int
    last: int
    where: str
    amount: float
    unit: str
    text: str

    def as_dict(self) -> dict[str, Any]:
        """Return the finding as plain data."""
        return asdict(self)

    def __str__(self) -> str:
        frames = f"frame {self.first}" if self.first == self.last else f"frames {self.first} to {self.last}"
        return f"{self.kind}: {frames}: {self.text}"


def runs(mask: NDArray[np.bool_] | np.bool_, least: int = 1) -> list[tuple[int, int]]:
    """Return the first and last index of every stretch of true values that is long enough.

    Example:
        >>> runs(np.array([True, True, False, True]))
        [(0, 1), (3, 3)]
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    return [(int(a), int(b) - 1) for a, b in zip(edges[::2], edges[1::2], strict=True) if b - a >= least]


def extent(clip: Clip) -> float:
    """Return the size of the linkage in the first frame [m]."""
    places = clip.linkage.forward(clip.poses[0]).array[:, :3, 3]
    return max(float(np.ptp(places, axis=0).max()), 1e-9)


def movers(clip: Clip) -> Iterator[tuple[Joint, Drive]]:
    """Yield the joints that have values of their own."""
    for arc, drive in zip(clip.linkage.arcs, clip.linkage.drives, strict=True):
        if arc.mimic is None and arc.articulation.nv:
            yield arc, drive


def outliers(clip: Clip, steps: FloatArray) -> NDArray[np.bool_]:
    """Return which steps between frames (n - 1, nv) stand out from the motion around them.

    The level of the motion around a step is the median of three steps, taken before and after it; the larger one
    counts, so that a motion may start and stop suddenly. Direct neighbours are left out, since one wrong frame gives
    two steps.
    """
    padded = np.pad(steps, ((4, 4), (0, 0)))
    count = len(steps)
    before = np.median([padded[k : k + count] for k in (0, 1, 2)], axis=0)
    after = np.median([padded[k : k + count] for k in (6, 7, 8)], axis=0)
    level = np.maximum(before, after)
    gaps = np.diff(clip.times)[:, None]
    floor = np.clip(FASTEST * gaps, 0.02, 0.15) * np.where(clip.linkage.table.slides, extent(clip) / 4.0, 1.0)
    result: NDArray[np.bool_] = steps > RATIO * level + floor
    return result


def turns_and_slides(clip: Clip, first: Any = slice(None, -1), last: Any = slice(1, None)) -> FloatArray:
    """Return the rotation and travel of joints between pairs of frames (m, nv), for any storage of rotations.

    Whole turns are ignored. For Euler angles, the first column is the angle of the rotation and the others are zero,
    because near gimbal lock the angles change fast while the joint hardly moves.
    """
    from scipy.spatial.transform import Rotation

    linkage = clip.linkage
    here, there = clip.poses[first], clip.poses[last]
    way = np.abs(between(linkage, here, there, wrap=False))
    for row in linkage.table:
        if row.kind == "revolute":
            way[:, row.v] = np.abs(wrapped(there[:, row.q] - here[:, row.q]))
    for arc, drive in movers(clip):
        order = euler_order(arc.articulation)
        if order is not None:
            one, two = (Rotation.from_euler(order, poses[:, drive.columns][:, -3:]) for poses in (here, there))
            way[:, drive.rates][:, -3:] = np.stack([(one.inv() * two).magnitude()] + [np.zeros(len(way))] * 2, axis=1)
    return way


def jumps(clip: Clip) -> list[Finding]:
    """Return flips and spikes."""
    if len(clip) < 3 or not clip.linkage.nv:
        return []
    steps, turning = turns_and_slides(clip), ~clip.linkage.table.slides
    wild = outliers(clip, steps)
    found = [*_signs(clip), *_numbers(clip), *_cuts(clip, wild, steps)]
    for arc, drive in movers(clip):
        columns = slice(drive.v, drive.v + arc.articulation.nv)
        for first, last in runs(wild[:, columns].any(axis=1)):
            part = np.where(wild[first : last + 1, columns], steps[first : last + 1, columns], 0.0)
            row, column = np.unravel_index(int(part.argmax()), part.shape)
            angular, most = bool(turning[drive.v + int(column)]), float(part.max())
            stays = turns_and_slides(clip, [first], [last + 1])[0, columns].max() > FLIP / 2.0
            if angular and most >= FLIP and stays:
                text = f"{arc.name} jumps by {most:.3g} rad to another branch."
                found.append(Finding("flip", first, last + 1, arc.name, most, "rad", text))
                continue
            gap = float(clip.times[first + int(row) + 1] - clip.times[first + int(row)])
            unit, speed = "rad/s" if angular else "m/s", most / gap
            text = f"{arc.name} moves at {speed:.3g} {unit}, far faster than before and after."
            inner = (first + 1, last) if last > first else (first, last + 1)
            found.append(Finding("spike", *inner, arc.name, speed, unit, text))
    return found


def leaps(clip: Clip) -> Iterator[Finding]:
    """Yield the largest change at every jump between frames; whole turns count for angles that do not wrap around."""
    linkage = clip.linkage
    way = np.abs(between(linkage, clip.poses[:-1], clip.poses[1:]))
    for k in np.flatnonzero((way > LEAP).any(axis=1)).tolist():
        most = int(way[k].argmax())
        joint, unit = linkage.table.velocity_joints[most], linkage.table.velocity_units[most]
        text = f"{joint} jumps by {way[k, most]:.3g} {unit} from frame {k} to frame {k + 1}."
        yield Finding("flip", k, k + 1, joint, float(way[k, most]), unit, text)


def has_stray_first_frame(clip: Clip, found: Iterable[Finding] | None = None) -> bool:
    """Return whether frame 0 is not part of the motion, such as a T-pose from which everything jumps away.

    Args:
        clip: The motion.
        found: Its flips and spikes, if known; by default the first frames are searched for them. A motion with few
            frames, or with less than ten frames per second, has none.
    """
    if found is None:
        if len(clip) < BEGINNING or clip.times[1] - clip.times[0] > SPARSE:
            return False
        found = jumps(replace(clip, times=clip.times[:BEGINNING], poses=clip.poses[:BEGINNING], residuals=None))
    return any(
        one.kind in ("flip", "spike")
        and (one.first, one.last) == (0, 1)
        and one.where in (BODY, clip.linkage.root.name)
        and "same rotation" not in one.text
        for one in found
    )


def without_first_frame(clip: Clip) -> Clip:
    """Return a motion without its first frame, starting at the same time."""
    return clip.slice(float(clip.times[1]), None).retime(start=float(clip.times[0]))


def _numbers(clip: Clip) -> Iterator[Finding]:
    """Yield jumps to other values of the same rotation, where closer values exist."""
    for arc, drive in movers(clip):
        values = clip.poses[:, drive.q : drive.q + arc.articulation.nq]
        steps = np.abs(np.diff(values, axis=0))
        if steps.max(initial=0.0) < FLIP:
            continue
        turned = np.abs(np.diff(unwound_joint(arc, values), axis=0))
        for k in np.flatnonzero((steps - turned > FLIP).any(axis=1)).tolist():
            most = float(steps[k].max())
            text = f"{arc.name} jumps by {most:.3g} rad to other numbers of the same rotation."
            yield Finding("flip", k, k + 1, arc.name, most, "rad", text)


def unwound_joint(joint: Joint, values: FloatArray) -> FloatArray:
    """Return values of a joint (n, nq) for the same rotations, each row nearest to the previous one."""
    result, order = values.copy(), euler_order(joint.articulation)
    if order is not None:
        result[:, -3:] = nearest(values[:, -3:], order, values[0, -3:])
        return result
    for element in joint.articulation.elements:
        if element.kind == "revolute":
            result[:, element.value] = np.unwrap(values[:, element.value])
    return result


def _cuts(clip: Clip, wild: NDArray[np.bool_], steps: FloatArray) -> Iterator[Finding]:
    """Yield steps at which most joints stand out at once, and clear them in `wild`."""
    joints = np.stack([wild[:, drive.rates].any(axis=1) for _, drive in movers(clip)])
    counts = joints.sum(axis=0)
    for k in np.flatnonzero((counts >= CROWD) & (counts >= WHOLE * len(joints))).tolist():
        wild[k] = False
        what = "frame 0 is a pose of its own, not of the motion" if k == 0 else "a cut"
        speed = float(steps[k].max() / (clip.times[k + 1] - clip.times[k]))
        text = f"{counts[k]} of {len(joints)} joints jump at once: {what}."
        yield Finding("spike", k, k + 1, BODY, speed, "rad/s", text)


def _signs(clip: Clip) -> Iterator[Finding]:
    """Yield quaternions that change sign: the same rotation, but a jump for code that interpolates the values."""
    for start, _ in clip.linkage.table.quaternions:
        joint, values = clip.linkage.table[start].joint, clip.poses[:, start : start + 4]
        for k in np.flatnonzero((values[1:] * values[:-1]).sum(axis=1) < 0.0).tolist():
            text = f"the quaternion of {joint} jumps to its other sign: other numbers of the same rotation."
            yield Finding("flip", k, k + 1, joint, float(2.0 * np.pi), "rad", text)


def limits(clip: Clip) -> list[Finding]:
    """Return values beyond their limits, and values stuck at a limit: moving into it and then held there."""
    found = list[Finding]()
    for row in clip.linkage.table:
        for bound, side in ((row.lower, -1.0), (row.upper, 1.0)):
            if np.isfinite(bound):
                found += _at_limit(clip, row, bound, side)
    return found


def _at_limit(clip: Clip, row: Coordinate, bound: float, side: float) -> Iterator[Finding]:
    over = side * (clip.poses[:, row.q] - bound)
    name, joint, unit = row.name, row.joint, row.unit
    for first, last in runs(over > AT_LIMIT):
        most = float(over[first : last + 1].max())
        text = f"{name} is up to {most:.3g} {unit} beyond its limit {bound:.4g} {unit}."
        yield Finding("limit", first, last, joint, most, unit, text)
    steps = np.abs(np.diff(over))
    for first, last in runs(np.abs(over) <= AT_LIMIT, RESTING):
        entering = steps[first - 1] if first > 0 else 0.0
        leaving = steps[last] if last < len(steps) else 0.0
        if max(entering, leaving) > FASTEST / 20.0 * float(np.diff(clip.times).mean()):  # clipped, not at rest
            text = f"{name} is stuck at its limit {bound:.4g} {unit}."
            yield Finding("limit", first, last, joint, 0.0, unit, text)
