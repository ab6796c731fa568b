"""A chain: the joints from the world to a frame, packed for the compiled search.

Joints with several values become rotations and translations; revolute joints are put in Denavit-Hartenberg form, which
takes a third of the arithmetic. `kernels.chain_memory` describes the arrays.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import GoalError, listed
from ..goals import Reach
from ..kernels import chain_memory as memory, joint_step as steps
from ..linkage.couplings import couplings_of
from ..linkage.elements import moving_xyz
from ..linkage.linkage import Linkage
from ..linkage.poses import mid_range
from ..linkage.program import Motions, chain_motions, folded
from ..transforms import FloatArray, plane_basis
from .groups import Group

PARALLEL = 1e-12  # sine of the angle below which axes count as parallel
SLANTED = 1e-2  # sine of the angle below which the common normal is too far away to be used
TURNS = np.stack([plane_basis(axis) for axis in np.eye(3)])  # the last column of each is the axis
NARROW, WIDE = 0.6, 1.0  # shares of the range from which poses of the tables are drawn
TABLE_SEED = 7
PROBES, ROUNDS, MARGIN = 32, 6, 0.01
LONG = 4.0  # a slide longer than this many chain lengths is for travel, not a part of the arm
TURNS_ENOUGH = 8.0 * math.pi  # starts from a wider range of an angle would add nothing


@dataclass
class Row:
    """A joint with one value about, or along, its own z axis; ``constant`` is its placement on the joint before it."""

    motion: int
    value: int
    constant: FloatArray
    multiplier: float
    offset: float
    advance: float
    dh: tuple[float, float, float, float] | None = None

    def carry(self, angle: float, travel: float) -> None:
        """Add a screw about z after the joint; it commutes with the joint, so it can be stored before it."""
        if self.dh is None:
            self.constant = self.constant @ screw(angle, travel)
        else:
            self.offset += angle
            self.dh = (*self.dh[:3], self.dh[3] + travel)

    def numbers(self) -> FloatArray:
        """Return the numbers for the kernel."""
        held = steps.transform(self.constant)
        if self.dh is not None:
            held = np.pad(self.dh, (0, held.size - memory.DH.size))
        return steps.ROW_NUMBERS.pack(
            transform=held, multiplier=self.multiplier, offset=self.offset, advance=self.advance
        )


def screw(angle: float, travel: float) -> FloatArray:
    """Return the 4x4 rotation about z and translation along it."""
    result = np.eye(4)
    c, s = math.cos(angle), math.sin(angle)
    result[:2, :2] = (c, -s), (s, c)
    result[2, 3] = travel
    return result


def dh_parts(constant: FloatArray) -> tuple[tuple[float, float], tuple[float, float, float, float], float] | None:
    """Return a transform as a screw about z, its Denavit-Hartenberg part and a rotation about z.

    The part in the middle is a screw about x and a translation along the new z: cosine and sine, length, travel. The
    screw about x is along the common normal of the two z axes. The result is None if the axes are nearly, but
    not exactly, parallel, because the normal is then far away.

    Example:
        >>> before, dh, after = dh_parts(screw(0.5, 2.0))
        >>> before, dh, after
        ((0.0, 2.0), (1.0, 0.0, 0.0, 0.0), 0.5)
    """
    rotation, p = constant[:3, :3], constant[:3, 3].tolist()
    sine = math.hypot(rotation[0, 2], rotation[1, 2])
    cosine = float(rotation[2, 2])
    if sine < PARALLEL:
        length, cosine = math.hypot(p[0], p[1]), math.copysign(1.0, cosine)
        before = math.atan2(p[1], p[0]) if length else 0.0
        left = screw(-before, 0.0)[:3, :3] @ rotation
        return (before, p[2]), (cosine, 0.0, length, 0.0), math.atan2(cosine * left[1, 0], left[0, 0])
    if sine < SLANTED:
        return None
    before, after = math.atan2(rotation[0, 2], -rotation[1, 2]), math.atan2(rotation[2, 0], rotation[2, 1])
    c, s = math.cos(before), math.sin(before)
    length = c * p[0] + s * p[1]
    travel = (s * p[0] - c * p[1]) / sine  # along the second axis
    return (before, p[2] - travel * cosine), (cosine, sine, length, travel), after


@dataclass(frozen=True, eq=False)
class Chain:
    """The joints that move a frame, packed for the kernels.

    Args:
        linkage: The linkage.
        frame: Name of the frame at the end.
        free: The axis of the frame that it may spin about, a unit vector, or None.
        group: The joints that may move, or None for all of them.
        base: Pose (nq,) of the other joints; the neutral pose by default.

    Attributes:
        codes: Codes of the rows.
        numbers: Base, tip and rows.
        ends: The constant transforms before the first joint and after the last, 4x4.
        limits: LIMITS for every value, shape (n, 5).
        plain: Indices of values in the chain and in the pose.
        balls: Indices of three angles in the chain and of their quaternion in the pose.
        turning: Which values are angles of revolute joints only, so that whole turns change nothing.
        sliding: Which values drive only prismatic joints.
        length: Sum of the lengths of its segments, without slides [m]; 1 if there are none.
        carriers: Number of values, from the first on, that carry the rest over long distances: up to the last slide
            that is much longer than the chain. They are aimed at a goal before the others move.
        travel: Directions in the world that these slides can take, orthonormal, shape (k, 3).
    """

    linkage: Linkage
    frame: str
    free: FloatArray | None = None
    group: Group | None = None
    base: FloatArray | None = None
    codes: NDArray[np.int64] = field(init=False)
    numbers: FloatArray = field(init=False)
    ends: tuple[FloatArray, FloatArray] = field(init=False)
    limits: FloatArray = field(init=False)
    plain: tuple[NDArray[np.int64], NDArray[np.int64]] = field(init=False)
    balls: tuple[tuple[int, int], ...] = field(init=False)
    turning: NDArray[np.bool_] = field(init=False)
    sliding: NDArray[np.bool_] = field(init=False)
    length: float = field(init=False)
    carriers: int = field(init=False)
    travel: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        joints, tip, places = self.rows()
        axes = _axes(joints)
        if self.free is not None:
            spin = np.eye(4)
            spin[:3, :3] = plane_basis(self.free)
            tip = tip @ spin
        for before, row in pairwise(joints):
            parts = dh_parts(row.constant) if row.motion == steps.REVOLUTE else None
            if parts is not None:
                (angle, travel), row.dh, after = parts
                row.offset += after
                before.carry(angle, travel)
        forms = [steps.GENERAL if row.dh is None else memory.FORM_DH for row in joints]
        forms[:1] = [steps.IDENTITY] * len(joints[:1])
        base = joints[0].constant if joints else np.eye(4)
        ends = memory.ENDS.pack(base=steps.transform(base), tip=steps.transform(tip))
        codes = memory.CODE.pack(
            dtype=np.int64,
            shape=(len(joints),),
            motion=[row.motion for row in joints],
            value=[row.value for row in joints],
            form=forms,
        )
        plain = [(k, q) for k, (q, ball) in enumerate(places) if not ball]
        self.__dict__.update(
            codes=codes.reshape(-1),
            numbers=np.concatenate([ends, *(row.numbers() for row in joints)]),
            ends=(base, tip),
            plain=tuple(np.array(plain, np.int64).reshape(-1, 2).T.copy()),
            balls=tuple((k, q) for k, (q, ball) in enumerate(places) if ball and (k == 0 or places[k - 1][0] != q)),
        )
        count = len(places)
        motions = [{row.motion for row in joints if row.value == k} for k in range(count)]
        fractions = {row.value for row in joints if row.multiplier % 1.0}  # a whole turn turns another joint by less
        turning = np.array([m == {steps.REVOLUTE} and k not in fractions for k, m in enumerate(motions)], np.bool_)
        segments = [np.linalg.norm(m[:3, 3]) for m in (*(row.constant for row in joints[1:]), tip)]
        sliding = np.array([kinds == {steps.PRISMATIC} for kinds in motions], np.bool_)
        self.__dict__.update(turning=turning, sliding=sliding, length=float(sum(segments)) or 1.0)
        long = self._long()
        self.__dict__["limits"] = self._limits(long)
        alone = len(joints) == count and steps.SCREW not in {row.motion for row in joints}
        carriers = int(np.flatnonzero(long).max(initial=-1)) + 1 if alone else 0
        self.__dict__.update(carriers=carriers, travel=_travel(joints[:carriers], axes, long))

    @property
    def values(self) -> int:
        """Number of values that move the frame; 0 if there are loops or cones, which are not supported."""
        return len(self.limits)

    def rows(self) -> tuple[list[Row], FloatArray, list[tuple[int, bool]]]:
        """Return the joints about their z axes, the tip's transform, and the index of each value in a pose."""
        if why_unsupported(self.linkage, self.frame, self.group):
            return [], np.eye(4), []
        run = chain_motions(self.linkage, self.frame)
        return _rows(run if self.group is None else folded(run, self.group.free, self.rest))

    @cached_property
    def rest(self) -> FloatArray:
        """The default pose of joints outside the chain."""
        return self.linkage.neutral() if self.base is None else self.base

    def check(self) -> None:
        """Raise GoalError with the reason if the search does not support the chain."""
        if not self.values:
            why = why_unsupported(self.linkage, self.frame, self.group) or "nothing moves it"
            if self.group is not None and why == "nothing moves it":
                why = f"{self.group.words} do not move it"
            raise GoalError(
                f"the compiled search does not support frame {self.frame!r} of linkage {self.linkage.name!r}: {why}."
            )

    def _bounds(self) -> tuple[FloatArray, FloatArray]:
        inside, outside = self.plain
        lower, upper = np.full(len(self.sliding), -np.inf), np.full(len(self.sliding), np.inf)
        lower[inside], upper[inside] = self.linkage.lower[outside], self.linkage.upper[outside]
        return lower, upper

    def _long(self) -> NDArray[np.bool_]:
        """Return which values are slides that are much longer than the chain."""
        lower, upper = self._bounds()
        return np.asarray(self.sliding & (upper - lower > LONG * self.length))

    def _limits(self, long: NDArray[np.bool_]) -> FloatArray:
        lower, upper = self._bounds()
        wide = long | (self.turning & (upper - lower > TURNS_ENOUGH))  # starts are drawn around zero
        middle = np.where(wide, np.clip(0.0, lower, upper), mid_range(lower, upper))
        room = np.where(self.sliding, self.length, math.pi)
        low, high = np.minimum(middle, upper) - room, np.maximum(middle, lower) + room
        return memory.LIMITS.pack(
            shape=(len(long),),
            lower=lower,
            upper=upper,
            start_low=np.where(wide, np.maximum(low, lower), np.where(np.isfinite(lower), lower, low)),
            start_high=np.where(wide, np.minimum(high, upper), np.where(np.isfinite(upper), upper, high)),
            periodic=self.turning,
        )

    def spread(self, shares: FloatArray) -> FloatArray:
        """Return values (..., n) at given shares, 0 to 1, of the range of random starts."""
        limits = memory.LIMITS.view(self.limits)
        return np.asarray(limits.start_low + (limits.start_high - limits.start_low) * shares)

    def values_of(self, q: FloatArray) -> FloatArray:
        """Return the chain's values in poses (..., nq), shape (..., values)."""
        inside, outside = self.plain
        result = np.empty((*q.shape[:-1], self.values))
        result[..., inside] = q[..., outside]
        for k, place in self.balls:
            result[..., k : k + 3] = moving_xyz(q[..., place : place + 4])
        return result

    def put(self, values: FloatArray, q: FloatArray) -> FloatArray:
        """Write the chain's values (..., values) into poses (..., nq), and return these."""
        inside, outside = self.plain
        q[..., outside] = values[..., inside]
        for k, place in self.balls:
            halves = np.moveaxis(values[..., k : k + 3] / 2.0, -1, 0)
            q[..., place : place + 4] = np.stack(steps.xyz_quaternion(np.sin(halves), np.cos(halves)), axis=-1)
        return q

    def goals(self, targets: FloatArray) -> FloatArray:
        """Return targets (..., 4, 4) of the frame as the kernels' goals, shape (..., 12)."""
        goals = targets.copy()
        goals[..., :3, :3] = targets[..., :3, :3] @ self.goal_rotation
        return steps.transform(goals)

    @property
    def goal_rotation(self) -> FloatArray:
        """The rotation (3, 3) from a target's axes to those of the kernels' goals."""
        return self.ends[1][:3, :3].T if self.free is None else plane_basis(self.free)

    @cached_property
    def table(self) -> tuple[FloatArray, FloatArray]:
        """Start poses, as values of the chain (k, n), and the goals (k, 12) that they reach."""
        generator = np.random.default_rng(TABLE_SEED)
        spread = np.concatenate(
            [
                share * (generator.random((frames, self.values)) - 0.5)
                for share, frames in ((NARROW, memory.NARROW), (WIDE, memory.WIDE))
            ]
        )
        values = self.spread(0.5 + spread)
        poses = self.put(values, np.tile(self.rest, (len(values), 1)))
        return values, self.goals(self.linkage.forward(poses, frame=self.frame))


def _axes(joints: list[Row]) -> FloatArray:
    """Return the joints' axes in the world, with all values zero, shape (n, 3)."""
    world, axes = np.eye(4), np.zeros((len(joints), 3))
    for axis, row in zip(axes, joints, strict=True):
        world = world @ row.constant
        axis[:] = world[:3, 2]
        if row.motion != steps.PRISMATIC:
            world = world @ screw(row.offset, 0.0)
    return axes


def _travel(carriers: list[Row], axes: FloatArray, long: NDArray[np.bool_]) -> FloatArray:
    """Return an orthonormal basis (k, 3) of the directions of long slides, rotated by the joints before them."""
    ways = []
    for k, row in enumerate(carriers):
        if long[row.value]:
            ways.append(axes[k])
            ways += [np.cross(axes[i], axes[k]) for i in range(k) if carriers[i].motion == steps.REVOLUTE]
    _, sizes, basis = np.linalg.svd(np.array(ways).reshape(-1, 3))
    return np.asarray(basis[: int((sizes > 1e-9).sum())])


def stiff_places(linkage: Linkage, frame: str, group: Group) -> NDArray[np.int64]:
    """Return the pose indices of the values that move a frame and are outside a group."""
    path, _ = linkage.path_to(frame)
    places = {q for i in path for q in range(linkage.nq)[linkage.drives[i].columns]}
    return np.array(sorted(q for q in places if not group.values[q]), np.int64)


def stiff_base(linkage: Linkage, goal: Reach, group: Group) -> str | None:
    """Return the link that carries the moving part of a chain if all joints before it are held and all after it move.

    The result is also None if a goal constrains only some world axes, which differ in the coordinates of the link.
    """
    path, _ = linkage.path_to(goal.frame)
    moves = [group.free[linkage.drives[i].rates] for i in path]
    first = next((k for k, free in enumerate(moves) if free.any()), 0)
    whole = all(free.all() for free in moves[first:])
    return linkage.links[path[first - 1]] if first and whole and goal.coordinates in (0, 3) else None


def why_unsupported(linkage: Linkage, frame: str, group: Group | None = None) -> str:
    """Return why the compiled search does not support the joints that move a frame; empty if it does."""
    linkage.frame_index(frame)
    coupled = couplings_of(linkage, frame)
    if linkage.loops or coupled:
        what = (
            f"closes {len(linkage.loops)} loops" if linkage.loops else f"is moved by coupled joints, {listed(coupled)}"
        )
        return f"it {what}, which `solve` keeps with method 'damped' or 'robust'"
    path, _ = linkage.path_to(frame)
    places = {linkage.drives[i].q for i in path}
    if group is not None:
        places = {q for q in places if q < linkage.nq and group.values[q]}
    held = [linkage.coordinates[cone.q].rsplit(".", 1)[0] for cone in linkage.cones if cone.q in places]
    return f"the swing or twist of {listed(held)} is limited, which `solve` keeps" if held else ""


def _rows(chain: Motions) -> tuple[list[Row], FloatArray, list[tuple[int, bool]]]:
    """Return the joints of a chain as rows about z axes, the tip's transform, and the pose index of each value.

    A ball becomes three rotations about moving x, y and z axes.
    """
    joints: list[Row] = []
    places: list[tuple[int, bool]] = []
    waiting = np.eye(4)
    for motion in chain.motions:
        waiting = waiting @ motion.before
        ball = motion.kind == steps.BALL
        for axis in (0, 1, 2) if ball else (motion.axis,):
            follows = not ball and (motion.q, False) in places
            value = places.index((motion.q, False)) if follows else len(places)
            if not follows:
                places.append((motion.q, ball))
            basis = np.eye(4)
            basis[:3, :3] = TURNS[axis]
            kind = steps.REVOLUTE if ball else motion.kind
            joints.append(Row(kind, value, waiting @ basis, motion.multiplier, motion.offset, motion.advance))
            waiting = basis.T
    waiting = waiting @ chain.after
    return joints, waiting, places


def shells(chain: Chain) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the centre, the point of the last axis in the kernels' goal frame, and the extents of tip and point.

    The centre is the point of the first axis nearest to the second. The last joint does not move points on its own
    axis, so a goal for the frame determines the position of such a point. The extents (2, 2) are the smallest and
    largest distances of the tip and of the point from the centre. They are found by optimising one value at a time from
    many poses, plus a margin. With unlimited slides, screws or followers they are unknown: 0 and infinity.
    """
    joints, _, _ = chain.rows()
    motions, followed = {row.motion for row in joints}, len(joints) != chain.values
    base, tip = chain.ends
    in_dh = len(joints) > 1 and memory.CODE.rows(chain.codes).form[-1] == memory.FORM_DH
    rows = steps.ROW_NUMBERS.rows(chain.numbers[memory.ENDS.size :])
    travel = rows.transform[-1, memory.DH.travel] if in_dh else 0.0
    point, centre = tip[:3, 3] + np.array([0.0, 0.0, travel]), base[:3, 3]
    extents = np.array([[0.0, np.inf], [0.0, np.inf]])
    if not joints or followed or steps.SCREW in motions or joints[-1].motion != steps.REVOLUTE:
        return centre, point, extents
    slides = np.array([row.motion == steps.PRISMATIC for row in joints])
    limits = memory.LIMITS.view(chain.limits)
    if not np.isfinite([limits.lower[slides], limits.upper[slides]]).all() or joints[0].motion != steps.REVOLUTE:
        return centre, point, extents

    def distance(values: FloatArray) -> FloatArray:
        """Return the squared distances of tip (first half of the poses) and point (second half)."""
        poses = chain.put(values, np.tile(chain.rest, (len(values), 1)))
        goals = steps.TRANSFORM.view(chain.goals(chain.linkage.forward(poses, frame=chain.frame)))
        places = goals.origin.copy()
        half = len(values) // 2
        axes = goals.axes[half:].reshape(-1, 3, 3)
        places[half:] -= np.einsum("nij,i->nj", axes, point)
        return np.asarray(((places - centre) ** 2).sum(axis=1))

    generator = np.random.default_rng(TABLE_SEED)
    for side in (0, 1):
        values = chain.spread(generator.random((2 * PROBES, chain.values)))
        for _ in range(ROUNDS):
            for k in range(chain.values):
                values[:, k] = _best(distance, values, k, limits[k], bool(slides[k]), largest=side == 1)
        found = np.sqrt(distance(values)).reshape(2, PROBES)
        extents[:, side] = found.max(axis=1) * (1.0 + MARGIN) if side else found.min(axis=1) * (1.0 - MARGIN)
    if chain.free is not None:
        extents[1] = 0.0, np.inf
    return centre, point, extents


def _best(distance: Any, values: FloatArray, k: int, limits: Any, slides: bool, *, largest: bool) -> FloatArray:
    """Return the best value of one coordinate, others fixed; the squared distance is a parabola or a cosine in it."""
    lower, upper = limits.lower, limits.upper
    probe = values.copy()
    if slides:
        step = max(upper - lower, 1e-6) / 2.0
        knots = (lower, lower + step, lower + 2.0 * step)
    else:
        knots = (0.0, math.pi / 2.0, math.pi)
    a, b, c = (distance(_with(probe, k, x)) for x in knots)
    if slides:
        bend, slope = (a - 2.0 * b + c) / 2.0, (c - a) / 2.0
        best = lower + step - step * slope / np.where(np.abs(bend) > 1e-12, 2.0 * bend, np.inf)
    else:
        cosine, sine = (a - c) / 2.0, b - (a + c) / 2.0
        best = np.arctan2(sine, cosine) + (0.0 if largest else math.pi)
        if np.isfinite(lower):
            best = lower + np.mod(best - lower, 2.0 * math.pi)
        elif np.isfinite(upper):
            best = upper - np.mod(upper - best, 2.0 * math.pi)
    choices = [np.clip(best, lower, upper)]
    choices += [np.full(len(values), x) for x in (lower, upper) if np.isfinite(x)]
    scores = np.stack([distance(_with(probe, k, x)) for x in choices])
    chosen = scores.argmax(axis=0) if largest else scores.argmin(axis=0)
    return np.asarray(np.stack(choices)[chosen, np.arange(len(values))])


def _with(values: FloatArray, k: int, x: Any) -> FloatArray:
    values[:, k] = x
    return values
