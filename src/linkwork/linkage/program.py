"""Pack the joints of a linkage as elementary motions, computed once, and as arrays for the kernels.

Every joint becomes motions about coordinate axes, each after a constant transform; an oblique axis is rotated onto z by
these constants. Trees, chains and bodies pack the same motions in different orders::

    motions = joint_motions(linkage)                  # of each arc, kept on the linkage
    chain = chain_motions(linkage, "tip")             # from the world to a frame, constants folded together
    codes, numbers, rates, starts, owned = program_of([chain])
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels import joint_step as steps
from ..transforms import FloatArray, axis_rotation, plane_basis, quaternion_matrix
from .elements import Element
from .joints import Joint
from .tree import Drive

if TYPE_CHECKING:
    from .linkage import Linkage

KINDS = {"revolute": steps.REVOLUTE, "prismatic": steps.PRISMATIC, "screw": steps.SCREW, "ball": steps.BALL}
EYE4 = np.eye(4)


@dataclass(frozen=True, eq=False)
class Motion:
    """A motion about or along a coordinate axis by ``multiplier * pose[q] + offset``, after a constant transform.

    Attributes:
        kind: steps.REVOLUTE, steps.PRISMATIC, steps.SCREW or steps.BALL of `kernels.joint_step`.
        axis: 0, 1 or 2 for x, y or z.
        q: Index of its value in the pose; the first of the four of a ball.
        v: Index of its velocity; the first of the three of a ball.
        multiplier: Factor of the value; negative if the joint's axis points the other way.
        offset: Constant added to the scaled value.
        advance: Travel per unit of the amount: 1 for a prismatic joint, the lead of a screw [m/rad], else 0.
        before: The constant transform, 4x4, from the end of the motion before it to the start of this one.
    """

    kind: int
    axis: int
    q: int
    v: int
    multiplier: float
    offset: float
    advance: float
    before: FloatArray

    @property
    def rates(self) -> range:
        """Indices of its velocities."""
        return range(self.v, self.v + (3 if self.kind == steps.BALL else 1))

    def matrix(self, pose: FloatArray) -> FloatArray:
        """Return the motion alone, without the constant before it, at a pose (nq,): a 4x4 transform."""
        result = np.eye(4)
        if self.kind == steps.BALL:
            result[:3, :3] = quaternion_matrix(pose[self.q : self.q + 4])
            return result
        amount, axis = self.multiplier * float(pose[self.q]) + self.offset, EYE4[self.axis, :3]
        if self.kind != steps.PRISMATIC:
            result[:3, :3] = axis_rotation(axis, amount)
        result[:3, 3] = self.advance * amount * axis
        return result

    def same_as(self, other: Motion) -> bool:
        """Return whether another motion is the same motion driven by the same value."""
        *one, before = vars(self).values()
        *two, after = vars(other).values()
        return one == two and np.array_equal(before, after)

    def stroke(self, linkage: Linkage) -> float:
        """Return the largest translation within the limits of a linkage [m]; 0 for a rotation."""
        if self.kind not in (steps.PRISMATIC, steps.SCREW) or self.advance == 0.0:
            return 0.0
        limits = np.array([linkage.lower[self.q], linkage.upper[self.q]])  # for a follower, the limits of its leader
        ends = (self.multiplier * limits if self.multiplier else 0.0) + self.offset
        return float(np.abs(ends).max() * abs(self.advance))


class Motions(NamedTuple):
    """Motions in sequence, and the constant transform, 4x4, after the last."""

    motions: tuple[Motion, ...] = ()
    after: FloatArray = EYE4

    @property
    def offsets(self) -> FloatArray:
        """Start of each motion relative to the end of the one before, and the final offset; shape (n + 1, 3)."""
        return np.array([*(motion.before[:3, 3] for motion in self.motions), self.after[:3, 3]])


class Program(NamedTuple):
    """Rows for `kernels.joint_step`, for one or several runs of motions.

    Attributes:
        codes: Codes of the rows, flat; named by steps.ROW_CODES.
        numbers: Numbers of the rows, flat; named by steps.ROW_NUMBERS.
        rates: Index of the velocity of every motion; three for a ball.
        starts: First row of each run, and the end of the last.
        owned: First rate of each run, and the end of the last.
    """

    codes: NDArray[np.int64]
    numbers: FloatArray
    rates: NDArray[np.int64]
    starts: NDArray[np.int64]
    owned: NDArray[np.int64]


def joint_motions(linkage: Linkage) -> tuple[Motions, ...]:
    """Return the motions of every arc of a linkage, including its placement; cached on the linkage."""
    return linkage.cache.get("motions", None, lambda: tuple(map(_joint, linkage.arcs, linkage.drives)))


def chain_motions(linkage: Linkage, frame: str) -> Motions:
    """Return the motions from the world to a frame, with the constants between them combined."""
    path, end = linkage.path_to(frame)
    joints = joint_motions(linkage)
    return joined([*(joints[i] for i in path), Motions(after=end)])


def reach(linkage: Linkage, frame: str) -> tuple[FloatArray, float, float, str]:
    """Return the point where a chain begins to move, smallest and largest distance of its end from it, and the joint.

    Distances are for segments in a straight line, ignoring limits of revolute joints: nothing beyond can be reached.
    """
    chain = chain_motions(linkage, frame)
    joint = linkage.table.velocity_joints[chain.motions[0].v] if chain.motions else linkage.root.name
    origin = chain.offsets[0]  # the first constant is before any motion
    segments = np.linalg.norm(chain.offsets[1:], axis=1)
    slack = sum(motion.stroke(linkage) for motion in chain.motions)
    total = float(segments.sum()) + slack
    return origin, max(0.0, 2.0 * float(segments.max(initial=0.0)) - total), total, joint


def joined(runs: Iterable[Motions]) -> Motions:
    """Return several runs of motions as one."""
    motions: list[Motion] = []
    waiting = EYE4
    for run in runs:
        for motion in run.motions:
            if waiting is not EYE4:
                motion = replace(motion, before=waiting @ motion.before)
                waiting = EYE4
            motions.append(motion)
        waiting = run.after if waiting is EYE4 else waiting @ run.after
    return Motions(tuple(motions), waiting)


def folded(run: Motions, free: NDArray[np.bool_], pose: FloatArray) -> Motions:
    """Return a run in which motions whose velocities are not free (nv,) become constants, at their values in a pose."""
    kept: list[Motion] = []
    waiting = EYE4
    for motion in run.motions:
        before = waiting @ motion.before
        if free[motion.v]:
            kept.append(replace(motion, before=before))
            waiting = EYE4
        else:
            waiting = before @ motion.matrix(pose)
    return Motions(tuple(kept), waiting @ run.after)


def program_of(runs: Sequence[Motions]) -> Program:
    """Return runs of motions as rows; a transform after the last motion of a run becomes a row without motion."""
    rows: list[Motion] = []
    rates: list[int] = []
    starts, owned = [0], [0]
    for run in runs:
        rows += run.motions
        rates += [v for motion in run.motions for v in motion.rates]
        if not np.array_equal(run.after, EYE4):
            rows.append(Motion(steps.STAY, 0, 0, 0, 1.0, 0.0, 1.0, run.after))
        starts.append(len(rows))
        owned.append(len(rates))
    before = np.array([row.before for row in rows]).reshape(-1, 4, 4)
    turned, shifted = (before[:, :3, :3] != EYE4[:3, :3]).any(axis=(1, 2)), before[:, :3, 3].any(axis=1)
    codes = steps.ROW_CODES.pack(
        dtype=np.int64,
        shape=(len(rows),),
        motion=[row.kind for row in rows],
        axis=[row.axis for row in rows],
        value=[row.q for row in rows],
        constant=np.where(turned, steps.GENERAL, np.where(shifted, steps.SHIFT, steps.IDENTITY)),
    )
    numbers = steps.ROW_NUMBERS.pack(
        shape=(len(rows),),
        transform=steps.transform(before),
        multiplier=[row.multiplier for row in rows],
        offset=[row.offset for row in rows],
        advance=[row.advance for row in rows],
    )
    counts = (np.array(places, np.int64) for places in (rates, starts, owned))
    return Program(codes.reshape(-1), numbers.reshape(-1), *counts)


def chain_program(linkage: Linkage, frame: str) -> Program:
    """Return the rows from the world to a frame."""
    return program_of([chain_motions(linkage, frame)])


def tree_program(linkage: Linkage) -> tuple[Program, NDArray[np.int64]]:
    """Return one run of rows for every frame, links first, and the parent frame of each, -1 if it has none."""
    extra = [Motions(after=frame.placement) for frame in linkage.extra_frames]
    parents = [*linkage.parents, *(linkage.link_index(frame.link) for frame in linkage.extra_frames)]
    return program_of([*joint_motions(linkage), *extra]), np.array(parents, np.int64)


def _joint(joint: Joint, drive: Drive) -> Motions:
    motions: list[Motion] = []
    waiting: FloatArray = joint.placement
    for element in joint.articulation.elements:
        axis, sign, basis = _axis(element)
        places = drive.q + element.value, drive.v + element.rate
        advance = 1.0 if element.kind == "prismatic" else element.advance
        amount = sign * drive.multiplier, sign * drive.offset, advance
        before = waiting if basis is EYE4 else waiting @ basis
        motions.append(Motion(KINDS[element.kind], axis, *places, *amount, before))
        waiting = EYE4 if basis is EYE4 else basis.T
    return Motions(tuple(motions), waiting)


def _axis(element: Element) -> tuple[int, float, FloatArray]:
    """Return the coordinate axis of an element, its sign, and the rotation that maps an oblique axis to z."""
    if element.kind == "ball":
        return 2, 1.0, EYE4
    axis = int(np.abs(element.axis).argmax())
    if np.abs(element.axis[axis]) == 1.0 and np.count_nonzero(element.axis) == 1:
        return axis, float(element.axis[axis]), EYE4
    basis = np.eye(4)
    basis[:3, :3] = plane_basis(element.axis)
    return 2, 1.0, basis
