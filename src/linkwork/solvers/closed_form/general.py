"""Prepare the elimination for any arm of six revolute joints.

`kernels.closed_form.general_elimination` describes the elimination. The arm can be seen from either end, and any of
three joints can be the unknown: six *ways*. Their accuracy depends on the arm and is measured on goals of this arm. The
best way is used, and another with a different unknown in doubtful cases.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...kernels import joint_step as steps
from ...kernels.closed_form import general as kernels, general_memory as memory
from ...transforms import FloatArray, axis_rotation, cross, inverse
from .axes import Axes

Order = tuple[int, int, int]  # which of joints 1, 2, 3 are the unknown, u and v
ORDERS: tuple[Order, ...] = ((1, 2, 3), (2, 1, 3), (3, 1, 2))
TURNS = np.array([0.0, 2.0, 4.0]) * np.pi / 3.0  # angles that tell a constant, a cosine and a sine apart
PARTS = np.linalg.inv(np.stack([np.ones(3), np.cos(TURNS), np.sin(TURNS)], axis=1))
AHEAD = (0.31, 0.73)  # offsets of the angles of u and v [rad]
HIGHEST, WHOLE = 8, 12  # largest degree of the polynomial, without and with the arm's own factor
PROBES, SEED = 48, 20
VANISHING = 1e-20  # determinants of unit rows below this are rounding errors
TINY = 1e-300  # instead of zero, to divide by
ALIKE = 1e-8  # singular value below which lines are dependent
NOTHING = 1e-10  # coefficients below this share of the largest are zero
GAP = 1e4  # ratio of singular values of polynomials to those of rounding errors
SOUND = 1e-5  # largest error of roots on goals with known poses, nine times out of ten [rad]


def line_numbers(point: FloatArray, direction: FloatArray) -> FloatArray:
    """Return the fourteen numbers of lines (..., 3), in the kernel's order, shape (..., 14)."""
    square = (point * point).sum(-1, keepdims=True)
    along = (point * direction).sum(-1, keepdims=True)
    moment, bent = cross(point, direction), square * direction - 2.0 * along * point
    z = (point[..., 2:], square, direction[..., 2:], moment[..., 2:], along, bent[..., 2:])
    rest = [one[..., k : k + 1] for k in (0, 1) for one in (point, direction, moment, bent)]
    return np.concatenate([*z, *rest], axis=-1)


def turned(line: FloatArray, angles: FloatArray, lines: FloatArray) -> FloatArray:
    """Return lines (..., 2, 3), each a direction and a point, rotated about a line by angles: (angles, ..., 2, 3)."""
    turns = axis_rotation(line[0], angles)
    turns = turns.reshape(len(angles), *(1,) * (lines.ndim - 2), 3, 3)
    there = np.stack([np.zeros(3), line[1]])
    return np.asarray((lines - there) @ np.swapaxes(turns, -1, -2) + there)


def half_tangents(block: FloatArray, axis: int, ahead: float) -> FloatArray:
    """Return coefficients of (1, cosine, sine) along an axis as those of (u², u, 1), the angle offset by `ahead`."""
    one, cosine, sine = np.moveaxis(block, axis, 0)
    c, s = np.cos(ahead), np.sin(ahead)
    cosine, sine = c * cosine + s * sine, c * sine - s * cosine
    return np.stack([one - cosine, 2.0 * sine, one + cosine], axis=axis)


def frame_on(line: FloatArray, near: FloatArray) -> FloatArray:
    """Return a frame, 4x4, whose z axis is a line (2, 3) and whose origin is the line's point nearest to another."""
    frame = np.eye(4)
    z = line[0]
    x = np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
    x /= np.linalg.norm(x)
    frame[:3, :3] = np.stack([x, np.cross(z, x), z], axis=1)
    frame[:3, 3] = line[1] + z * (z @ (near - line[1]))
    return frame


def seen(lines: FloatArray, frame: FloatArray, shrink: float) -> FloatArray:
    """Return lines (n, 2, 3) in the coordinates of a frame, with lengths scaled by `shrink`."""
    direction = lines[:, 0] @ frame[:3, :3]
    return np.stack([direction, shrink * (lines[:, 1] - frame[:3, 3]) @ frame[:3, :3]], axis=1)


def left_side(lines: FloatArray) -> FloatArray:
    """Return the left side: numbers of the fifth line moved by joints 1, 2, 3, shape (14, 3, 3, 3).

    The last three axes are the coefficients of (1, cosine, sine) of each joint.
    """
    moved = lines[4]
    for joint in (3, 2, 1):
        moved = turned(lines[joint], TURNS, moved)
    numbers = line_numbers(moved[..., 1, :], moved[..., 0, :])
    return np.asarray(np.einsum("abcn,xa,yb,zc->nxyz", numbers, PARTS, PARTS, PARTS, optimize=True))


def in_powers(left: FloatArray, order: Order) -> FloatArray:
    """Return the left side by (1, cosine, sine) of the unknown joint and by powers of the others' half tangents."""
    parts = np.transpose(left, (0, *order))
    return half_tangents(half_tangents(parts, 2, AHEAD[0]), 3, AHEAD[1])


def fifth(lines: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return points and directions of the fifth line rotated back about the sixth by each of TURNS, (3, 3) each."""
    moved = turned(lines[5], -TURNS, lines[4])
    return moved[:, 1], moved[:, 0]


# The arm's own factor of the determinant


def determinants(left: FloatArray, sides: FloatArray, angles: FloatArray) -> FloatArray:
    """Return determinants of the twelve equations at angles, for right sides (n, 14, 3), shape (n, angles).

    This does the same as the kernel, by singular value decomposition.
    """
    still = np.linalg.svd(sides[:, :6, 1:])[0][:, :, 2:]
    turning = np.conj(np.linalg.svd(sides[:, 6:10] + 1j * sides[:, 10:])[0][:, :, 3])
    null = np.zeros((len(sides), 6, memory.EQUATIONS))
    null[:, :4, :6] = np.swapaxes(still, 1, 2)
    null[:, 4, 6:10], null[:, 4, 10:] = turning.real, -turning.imag
    null[:, 5, 6:10], null[:, 5, 10:] = turning.imag, turning.real
    block = np.einsum("nek,kxyz->nexyz", null, left)
    constant = np.einsum("nek,nk->ne", null[:, :4, :6], sides[:, :6, 0])
    block[:, :4, 0, ::2, ::2] -= constant[..., None, None]
    block = np.swapaxes(block, 1, 2).reshape(len(sides), 3, 6, 9)
    block /= np.maximum(np.linalg.norm(block, axis=(1, 3), keepdims=True), TINY)
    parts = np.stack([np.ones_like(angles), np.cos(angles), np.sin(angles)])
    at = np.einsum("nmek,ma->naek", block, parts)
    matrix = np.zeros((*at.shape[:2], 12, 12))
    matrix[..., :6, :9], matrix[..., 6:, 3:] = at, at
    return np.asarray(np.linalg.det(matrix))


def waves(angles: FloatArray, degree: int) -> FloatArray:
    """Return the basis for coefficients ``Re C0 ... Re Cn, Im C1 ... Im Cn`` at angles, shape (angles, 2 n + 1)."""
    k = np.arange(1, degree + 1) * angles[:, None]
    return np.concatenate([np.ones((len(angles), 1)), 2.0 * np.cos(k), -2.0 * np.sin(k)], axis=1)


def own_factor(lines: FloatArray, order: Order) -> FloatArray | None:
    """Return the coefficients of the factor that every determinant of an arm has; None if it cannot be determined.

    It depends on joints 1 to 4 only. With random lines instead of joints 0 and 5 the determinants span the space of its
    multiples, and the factor is the multiple of lowest degree.
    """
    if order[0] == 1:
        return np.ones(1)
    generator = np.random.default_rng(SEED)
    angles = 2.0 * np.pi * (np.arange(32) + 0.5) / 32
    other = generator.normal(size=(2, 2, 3))
    other[:, 0] /= np.linalg.norm(other[:, 0], axis=1, keepdims=True)
    lines = np.stack([other[0], *lines[1:5], other[1]])
    lines = seen(lines, frame_on(lines[0], np.zeros(3)), 1.0)
    points, directions = fifth(lines)
    motions = random_motions(generator, PROBES, 1.0)
    values = determinants(in_powers(left_side(lines), order), right_sides(motions, points, directions), angles)
    if np.abs(values).max() < VANISHING:
        return None
    values /= np.maximum(np.linalg.norm(values, axis=1, keepdims=True), TINY)
    found = np.linalg.lstsq(waves(angles, WHOLE), values.T, rcond=None)[0].T
    degree = degree_of(found, WHOLE)
    _, sizes, span = np.linalg.svd(found)
    sizes = np.append(sizes, 0.0)
    ranks = np.arange(1, 2 * degree + 2, 2)
    gaps = sizes[ranks - 1] / np.maximum(sizes[ranks], 1e-16 * sizes[0])
    rank = int(ranks[np.argmax(gaps)])
    own = degree - (rank - 1) // 2
    if gaps.max() < GAP or degree - own > HIGHEST:
        return None
    if own == 0:
        return np.ones(1)
    low = np.r_[0 : own + 1, WHOLE + 1 : WHOLE + own + 1]
    high = np.setdiff1d(np.arange(2 * WHOLE + 1), low)
    least = np.linalg.svd(span[:rank, high].T)[2][-1]
    return np.asarray((least @ span[:rank])[low])


def degree_of(coefficients: NDArray[np.floating[Any]], highest: int) -> int:
    """Return the degree of trigonometric polynomials (n, 2 highest + 1)."""
    largest = np.maximum(np.abs(coefficients).max(axis=1, keepdims=True), TINY)
    sizes = np.abs(coefficients / largest).max(axis=0)
    sizes = np.maximum(sizes[1 : highest + 1], sizes[highest + 1 :])
    return int(np.flatnonzero(sizes > NOTHING).max(initial=-1)) + 1


def random_motions(generator: np.random.Generator, count: int, size: float) -> FloatArray:
    """Return random motions (n, 4, 4), with any rotation and translations of about a size."""
    turns, _ = np.linalg.qr(generator.normal(size=(count, 3, 3)))
    turns *= np.sign(np.linalg.det(turns))[:, None, None]
    motions = np.tile(np.eye(4), (count, 1, 1))
    motions[:, :3, :3], motions[:, :3, 3] = turns, size * generator.normal(size=(count, 3))
    return motions


def right_sides(motions: FloatArray, points: FloatArray, directions: FloatArray) -> FloatArray:
    """Return the right sides of motions (n, 4, 4): coefficients of (1, cosine, sine) of joint 5, shape (n, 14, 3)."""
    turn, shift = motions[:, None, :3, :3], motions[:, None, :3, 3]
    numbers = line_numbers((turn @ points[..., None])[..., 0] + shift, (turn @ directions[..., None])[..., 0])
    return np.asarray(np.einsum("nak,xa->nkx", numbers, PARTS))


# Ways


@dataclass(frozen=True, eq=False)
class Way:
    """One way to eliminate, packed for the kernels.

    Attributes:
        unknown: Index of the joint whose angle is the unknown, from 0.
        packed: Data for the kernels, rows of eight.
        blur: Error of roots on goals with known poses, nine times out of ten [rad].
    """

    unknown: int
    packed: FloatArray
    blur: float


class View:
    """An arm seen from one of its ends, with poses for measuring the accuracy of ways.

    Args:
        axes: The arm's lines.
        poses: Poses, shape (n, 6).
        targets: Transforms of the frame at these poses, shape (n, 4, 4).
        backwards: Whether it is seen from the tip.
    """

    def __init__(self, axes: Axes, poses: FloatArray, targets: FloatArray, *, backwards: bool) -> None:
        self.poses, self.targets, self.backwards, self.shrink = poses, targets, backwards, 1.0 / axes.size
        arm, tip = axes.reversed() if backwards else axes, inverse(axes.tip)
        lines = np.stack([arm.direction, arm.point], axis=1)
        frame = frame_on(lines[0], lines[:, 1].mean(axis=0))
        self.lines = seen(lines, frame, self.shrink)
        self.left, self.fifth = left_side(self.lines), fifth(self.lines)
        self.ends = (inverse(frame) @ axes.tip, frame) if backwards else (inverse(frame), tip @ frame)
        motions = targets @ tip
        motions = inverse(frame) @ (inverse(motions) if backwards else motions) @ frame
        motions[:, :3, 3] *= self.shrink
        self.sides = right_sides(motions, *self.fifth)

    def way(self, order: Order) -> Way | None:
        """Return a way with its measured accuracy; None if its determinants vanish."""
        factor = own_factor(self.lines, order)
        if factor is None:
            return None
        left = in_powers(self.left, order)
        angles, degree, fit = fitted(left, self.sides, factor)
        if degree == 0:
            return None
        before, after = self.ends
        figures = memory.FIGURES.pack(
            turned=float(self.backwards),
            degree=degree,
            shrink=self.shrink,
            before=shrunk(before, self.shrink),
            after=shrunk(after, self.shrink),
            lines=self.lines.reshape(-1),
            fifth=np.concatenate(self.fifth).reshape(-1),
            across=frame_on(self.lines[4], np.zeros(3))[:3, 0],
            order=order,
            ahead=np.stack([np.cos(AHEAD), np.sin(AHEAD)], axis=1).reshape(-1),
        )
        unknown = memory.JOINTS - 1 - order[0] if self.backwards else order[0]
        packed = packed_way(figures, left, angles, fit)
        return Way(unknown, packed, blur_of(packed, self.targets, self.poses[:, unknown]))


def shrunk(motion: FloatArray, shrink: float) -> FloatArray:
    """Return a motion as a TRANSFORM, with lengths scaled by `shrink`."""
    result = motion.copy()
    result[:3, 3] *= shrink
    return np.asarray(steps.transform(result))


def fitted(left: FloatArray, sides: FloatArray, factor: FloatArray) -> tuple[FloatArray, int, FloatArray]:
    """Return the nodes, the degree of the remaining polynomial, and the matrix from determinants to its coefficients.

    Nodes are shifted away from zeros of the factor. Coefficients are by least squares, with determinants weighted by
    the factor.
    """
    own = (len(factor) - 1) // 2
    steps_between = 2.0 * np.pi * np.arange(memory.NODES) / memory.NODES
    starts = 2.0 * np.pi * (np.arange(16) + 0.5) / (16 * memory.NODES)
    weakest = [np.abs(waves(steps_between + start, own) @ factor).min() for start in starts]
    angles = steps_between + starts[int(np.argmax(weakest))]
    weights = waves(angles, own) @ factor
    weights /= np.abs(weights).max()
    values = determinants(left, sides, angles)
    if np.abs(values).max() < VANISHING:
        return angles, 0, values
    values /= np.maximum(np.linalg.norm(values, axis=1, keepdims=True), TINY)
    whole = weights[:, None] * waves(angles, HIGHEST)
    degree = degree_of(np.linalg.lstsq(whole, values.T, rcond=None)[0].T, HIGHEST)
    basis = weights[:, None] * waves(angles, degree)
    found = np.linalg.pinv(basis)
    beside = np.linalg.svd(basis)[0][:, 2 * degree + 1 :][:, : memory.MISFITS]
    fit = np.zeros((memory.NODES, memory.WIDTH * memory.COEFFICIENTS))
    fit[:, : degree + 1], fit[:, HIGHEST + 1 : HIGHEST + 1 + degree] = found[: degree + 1].T, found[degree + 1 :].T
    fit[:, memory.MISFIT : memory.MISFIT + beside.shape[1]] = beside
    return angles, degree, fit


def packed_way(figures: FloatArray, left: FloatArray, angles: FloatArray, fit: FloatArray) -> FloatArray:
    """Return a way packed for the kernels."""
    columns = memory.WIDTH * memory.COLUMNS
    wide = np.zeros((memory.EQUATIONS, columns))
    wide[:, :27] = left.reshape(memory.EQUATIONS, 27)
    unity = np.zeros((3, 3, 3))
    unity[0, ::2, ::2] = 1.0
    head = np.zeros(memory.WIDTH * (memory.WAY.triple - memory.WAY.figures))
    head[: len(figures)] = figures
    parts = (head, wide.reshape(-1), np.pad(unity.reshape(-1), (0, columns - 27)), np.cos(angles), np.sin(angles))
    return np.concatenate([*parts, fit.reshape(-1)]).reshape(memory.WAY.size, memory.WIDTH)


def blur_of(packed: FloatArray, targets: FloatArray, angles: FloatArray) -> float:
    """Return the distance of the nearest roots from known angles of solutions, nine times out of ten [rad]."""
    room, out, misses = np.zeros((memory.ROOM.size, memory.WIDTH)), np.zeros(2 * memory.MOST), []
    for target, angle in zip(targets, angles, strict=True):
        kernels.general_roots(packed, np.ascontiguousarray(target), room, out)
        away = np.hypot(out[: memory.MOST] - np.cos(angle), out[memory.MOST :] - np.sin(angle))
        misses.append(np.nan_to_num(away, nan=np.inf).min())
    return float(np.sort(misses)[int(0.9 * len(misses))])


class General:
    """The elimination of an arm of six revolute joints.

    Args:
        axes: The arm's lines.
    """

    def __init__(self, axes: Axes) -> None:
        self.axes = axes

    @cached_property
    def ways(self) -> tuple[Way, ...]:
        """The ways to use, at most two, the more accurate first; the second has another unknown."""
        poses = np.random.default_rng(SEED).uniform(-np.pi, np.pi, (PROBES, memory.JOINTS))
        targets = np.array([self.axes.forward(pose) for pose in poses])
        views = [View(self.axes, poses, targets, backwards=backwards) for backwards in (False, True)]
        found = [way for view in views for order in ORDERS if (way := view.way(order)) is not None]
        found.sort(key=lambda way: way.blur)
        others = [way for way in found[1:] if way.unknown != found[0].unknown]
        return (*found[:1], *others[:1])

    @cached_property
    def freedom(self) -> int:
        """Number of directions in which the joints move the frame: the rank of their lines at a generic pose."""
        held = self.axes
        pose = np.random.default_rng(SEED).uniform(-np.pi, np.pi, len(held))
        moved, lines = np.eye(4), []
        for joint, value in enumerate(pose.tolist()):
            direction = moved[:3, :3] @ held.direction[joint]
            point = moved[:3, :3] @ held.point[joint] + moved[:3, 3]
            lines.append(np.concatenate([direction, np.cross(point, direction) / held.size]))
            moved = moved @ held.motion(joint, value)
        return int(np.linalg.matrix_rank(np.array(lines), tol=ALIKE))

    @cached_property
    def why_unsound(self) -> str:
        """A text on why elimination does not work for the arm; empty if it does."""
        if len(self.axes) != memory.JOINTS or self.axes.slides.any():
            return "elimination takes six revolute joints"
        if self.freedom < memory.JOINTS:
            return f"its joints move the frame in {self.freedom} directions only, so that solutions form continua"
        if not self.ways:
            return "elimination gives no usable polynomial"
        blur = self.ways[0].blur
        return f"elimination is too inaccurate for it: its angles are off by {blur:.1e} rad" if blur > SOUND else ""

    @cached_property
    def packed(self) -> FloatArray:
        """The ways, packed for the kernels."""
        return np.concatenate([way.packed for way in self.ways])
