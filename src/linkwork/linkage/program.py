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
    """A motion about or along a coordinate axis by ``multiplier * pose[q] + offset``, after a constant steps.transform.

    Attributes:
        kind: steps.REVOLUTE, steps.PRISMATIC, steps.SCREW or steps.BALL of `kernels.joint_step`.
        axis: 0, 1 or 2 for x, y or z.
        q: Place of its value in the pose; the first of four of a ball.
        v: Place of its velocity; the first of three of a ball.
        multiplier: Factor of the value; negative where the joint's axis points the other way.
        offset: What is added to it.
        advance: Travel for each unit of the amount: 1 for a slide, the lead of a screw [m/rad], else 0.
        before: The constant steps.transform, 4x4: from where the motion before it ends to where this one begins.
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
        """Places of its velocities."""
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
        """Return whether another motion does the same by the same value."""
        *one, before = vars(self).values()
        *two, after = vars(other).values()
        return one == two and np.array_equal(before, after)

    def stroke(self, linkage: Linkage) -> float:
        """Return how far it slides at most within the limits of a linkage [m]; 0 for a turn."""
        if self.kind not in (steps.PRISMATIC, steps.SCREW) or self.advance == 0.0:
            return 0.0
        limits = np.array([linkage.lower[self.q], linkage.upper[self.q]])  # of the one that it follows
        ends = (self.multiplier * limits if self.multiplier else 0.0) + self.offset
        return float(np.abs(ends).max() * abs(self.advance))


class Motions(NamedTuple):
    """Motions one after another, and the constant steps.transform, 4x4, that follows the last."""

    motions: tuple[Motion, ...] = ()
    after: FloatArray = EYE4

    @property
    def offsets(self) -> FloatArray:
        """Where each motion begins, seen from the end of the one before, and the end of all; shape (n + 1, 3)."""
        return np.array([*(motion.before[:3, 3] for motion in self.motions), self.after[:3, 3]])


class Program(NamedTuple):
    """Rows as `kernels.joint_step` reads them, of one or several runs of motions.

    Attributes:
        codes: Codes of the rows, flat; named by steps.ROW_CODES.
        numbers: Numbers of the rows, flat; named by steps.ROW_NUMBERS.
        rates: Place of the velocity for every motion, three for a ball.
        starts: Where the rows of each run begin, and the end of the last.
        owned: Where the rates of each run begin, and the end of the last.
    """

    codes: NDArray[np.int64]
    numbers: FloatArray
    rates: NDArray[np.int64]
    starts: NDArray[np.int64]
    owned: NDArray[np.int64]


def joint_motions(linkage: Linkage) -> tuple[Motions, ...]:
    """Return the motions of every arc of a linkage, its placement before them; they are kept on the linkage."""
    return linkage.cache.get("motions", None, lambda: tuple(map(_joint, linkage.arcs, linkage.drives)))


def chain_motions(linkage: Linkage, frame: str) -> Motions:
    """Return the motions from the world to a frame, constants between them folded together."""
    path, end = linkage.path_to(frame)
    joints = joint_motions(linkage)
    return joined([*(joints[i] for i in path), Motions(after=end)])


def reach(linkage: Linkage, frame: str) -> tuple[FloatArray, float, float, str]:
    """Return where a chain begins to move, the least and largest distance its end can have from there, and the joint.

    These are the lengths of its segments laid straight, limits of revolute joints aside: nothing outside is reached.
    """
    chain = chain_motions(linkage, frame)
    joint = linkage.table.velocity_joints[chain.motions[0].v] if chain.motions else linkage.root.name
    origin = chain.offsets[0]  # the first constant lies before anything moves
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
    """Return a run with the motions whose velocities are not free (nv,) put into the constants, as a pose has them."""
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
    """Return runs of motions as rows; what follows the last motion of a run is a row that does not move."""
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
    """Return the rows of all frames, links first, a run for each; and the frame that each hangs on, -1 for none."""
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
    """Return the coordinate axis of an element, its sign, and the turn that puts an oblique one onto z."""
    if element.kind == "ball":
        return 2, 1.0, EYE4
    axis = int(np.abs(element.axis).argmax())
    if np.abs(element.axis[axis]) == 1.0 and np.count_nonzero(element.axis) == 1:
        return axis, float(element.axis[axis]), EYE4
    basis = np.eye(4)
    basis[:3, :3] = plane_basis(element.axis)
    return 2, 1.0, basis
