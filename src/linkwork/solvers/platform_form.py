"""Parallel robots whose paths have closed forms, recognised from their joint axes and solved by one kernel.

A path is described by the lines of its joints with all values at zero, taken from the Jacobian there. So robots built
from different joints about the same lines are solved in the same way.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..goals import Reach, closings
from ..kernels import limb_forms as forms
from ..kernels.chain import LANES
from ..kernels.joint_step import transform
from ..kernels.limb_forms import FIGURES, LIMB
from ..kernels.platforms import ANY, ENDS, ERRORS, TOLERANCES, WAY, Platform, platform_ways, room_rows, solve_platforms
from ..kernels.threads import dealt
from ..linkage.linkage import Linkage
from ..linkage.poses import zero_pose
from ..transforms import FloatArray, inverse
from .body_program import BodyProgram
from .leg_paths import Leg, legs_of
from .options import Settings
from .problem import Problem

SAME = 1e-9  # share of the robot's size: lines nearer than this meet, and points coincide
ASKEW = 1e-3  # smallest sine of the angle between two lines that are not parallel
BLOCK = 8192  # goals per block


class Lines(NamedTuple):
    """The joints of a path, with all values at zero.

    Attributes:
        places: Indices of their values in the pose, (n,).
        axes: Unit directions, (n, 3).
        points: A point of each line, (n, 3).
        scale: Change of the value per radian or metre, (n,).
        slides: Which of them are prismatic, (n,).
        end: Transform of the frame, 4x4.
    """

    places: list[int]
    axes: FloatArray
    points: FloatArray
    scale: FloatArray
    slides: list[bool]
    end: FloatArray


class Limb(NamedTuple):
    """A path in closed form: its kind, indices of its values in the pose, and figures by name; the others are zero."""

    kind: int
    places: Sequence[int]
    figures: dict[str, FloatArray]


def lines_of(linkage: Linkage, frame: str) -> Lines | str:
    """Return the lines of the joints that move a frame, in order, or a text on why they are not lines."""
    arcs = [arc for arc in linkage.path_to(frame)[0] if linkage.arcs[arc].articulation.nv]
    order = {linkage.arcs[arc].name: k for k, arc in enumerate(arcs)}
    rows = sorted((row for row in linkage.table if row.joint in order), key=lambda row: (order[row.joint], row.q))
    columns = [row.v for row in rows if row.v is not None]
    if len(columns) < len(rows):
        return "it has balls"
    zero = zero_pose(linkage)
    end, jacobian = linkage.forward(zero, frame=frame), linkage.jacobian(zero, frame)[:, columns]
    linear, angular = jacobian[:3].T, jacobian[3:].T
    slides = [not a.any() for a in angular]
    sizes = np.array([np.linalg.norm(v if s else a) for v, a, s in zip(linear, angular, slides, strict=True)])
    if len(rows) and (sizes < ASKEW).any():
        return "a joint does not move it"
    axes = np.array([(v if s else a) / size for v, a, s, size in zip(linear, angular, slides, sizes, strict=True)])
    if any(abs(a @ v) > SAME for a, v, s in zip(axes, linear, slides, strict=True) if not s):
        return "it has screws"
    points = end[:3, 3] + np.cross(axes, linear) / sizes[:, None] if len(rows) else np.zeros((0, 3))
    return Lines([row.q for row in rows], axes, points, 1.0 / sizes, slides, end)


def floating_limb(linkage: Linkage, frame: str) -> Limb | None:
    """Return the path of a frame that is moved by one floating joint alone, else None."""
    arcs = [arc for arc in linkage.path_to(frame)[0] if linkage.arcs[arc].articulation.nv]
    if len(arcs) != 1 or linkage.arcs[arcs[0]].articulation.nq != 7:
        return None
    zero, drive = zero_pose(linkage), linkage.drives[arcs[0]]
    end, jacobian = linkage.forward(zero, frame=frame), linkage.jacobian(zero, frame)[:, drive.v : drive.v + 6]
    turns = jacobian[3:, 3:].T
    base = np.eye(4)
    base[:3, :3] = jacobian[:3, :3]
    base[:3, 3] = end[:3, 3] + np.cross(turns, jacobian[:3, 3:].T).sum(axis=0) / 2.0  # where its three axes meet
    after = inverse(inverse(base) @ end)
    return Limb(forms.FLOATING, [drive.q] * 3, {"before": transform(inverse(base)), "after": transform(after)})


def meeting(one: FloatArray, at: FloatArray, two: FloatArray, there: FloatArray) -> tuple[FloatArray, float]:
    """Return the point where two lines (direction, point) are nearest, and their distance; infinity if parallel."""
    across = np.cross(one, two)
    square = float(across @ across)
    if square < ASKEW**2:
        return at, math.inf
    s, t = (np.linalg.det([there - at, other, across]) / square for other in (two, one))
    a, b = at + s * one, there + t * two
    return (a + b) / 2.0, float(np.linalg.norm(a - b))


def limb_of(linkage: Linkage, frame: str) -> Limb | str:
    """Return the path of a frame in closed form, or a text on why it has none."""
    lines, near = lines_of(linkage, frame), SAME * linkage.loop_size
    if isinstance(lines, str):
        return lines
    places, axes, points, scale, slides, end = lines
    tip = end[:3, 3]
    figures = {"scale": scale, "axes": axes.ravel()}
    if slides == [True, True, True]:
        moves = (axes / scale[:, None]).T
        if abs(np.linalg.det(axes)) < ASKEW:
            return "its slides lie in a plane"
        ways = np.asarray(np.linalg.inv(moves), np.float64).ravel()
        return Limb(forms.SLIDES, places, {"axes": ways, "base": tip, "scale": np.ones(3)})
    if slides == [False, False, True]:
        foot, off = meeting(axes[0], points[0], axes[1], points[1])
        if off < near:
            return Limb(forms.TELESCOPE, places, figures | {"base": foot, "end": tip - foot})
    if slides == [False, False, False]:
        elbow, off = meeting(axes[1], points[1], axes[2], points[2])
        if off < near and np.linalg.norm(np.cross(axes[0], elbow - points[0])) > near:
            return Limb(forms.ROD, places, figures | {"base": points[0], "arm": elbow - points[0], "end": tip - elbow})
    if slides == [False, False] and np.linalg.norm(np.cross(*axes)) < SAME:
        across = np.eye(3) - np.outer(axes[0], axes[0])
        arm, rod = across @ (points[1] - points[0]), across @ (tip - points[1])
        if np.linalg.norm(arm) > near and np.linalg.norm(rod) > near:
            return Limb(forms.ELBOW, places, figures | {"base": points[0], "arm": arm, "end": rod})
    return "its joints are not of a family with a closed form"


class PlatformForm:
    """A parallel robot in closed form: the path of its platform, and its legs.

    Args:
        linkage: The robot.
        frame: A frame of the platform.
        limbs: The path of the frame, then those of the legs, each with its point of the platform.
        ends: Both frames of every loop.
    """

    def __init__(
        self,
        linkage: Linkage,
        frame: str,
        limbs: Sequence[tuple[Limb, FloatArray]],
        ends: Sequence[tuple[str, str]],
    ) -> None:
        self.linkage, self.frame, self.limbs = linkage, frame, [limb for limb, _ in limbs]
        self.oriented = limbs[0][0].kind == forms.FLOATING
        body = BodyProgram(Problem(linkage, Reach(frame, position=(0.0, 0.0, 0.0))), Settings())
        codes = LIMB.view(np.zeros((len(limbs), LIMB.size), np.int64))
        figures = FIGURES.view(np.zeros((len(limbs), FIGURES.size)))
        for k, (limb, point) in enumerate(limbs):
            own, count = figures[k], 0 if limb.kind == forms.FLOATING else len(limb.places)
            places = [*limb.places, limb.places[0]][:3]
            codes[k].kind, codes[k].count, codes[k].places = limb.kind, count, places
            own.square = linkage.loop_size**2
            own.point, own.lower, own.upper = point, linkage.lower[places], linkage.upper[places]
            own.turn = [
                2.0 * math.pi * abs(s) if linkage.table[q].periodic else 0.0
                for q, s in zip(places, _padded(limb.figures.get("scale", np.ones(3)), 3), strict=True)
            ]
            for name, value in limb.figures.items():
                setattr(own, name, _padded(value, np.size(getattr(own, name))))
        head = ENDS.pack(dtype=np.int64, limbs=len(limbs), loops=len(ends), frame=body.index[frame])
        pairs = np.array([[body.index[name] for name in pair] for pair in ends], np.int64)
        tables, modes = (codes.array.ravel(), figures.array.ravel()), np.full(len(limbs), ANY)
        loops = np.concatenate([head, pairs.ravel()])
        self.platform = Platform(body.codes, body.numbers, tables[0], tables[1], loops, modes)

    def solve(
        self,
        targets: FloatArray,
        starts: FloatArray,
        near: tuple[float, float],
        threads: int,
        modes: NDArray[np.int64] | None = None,
    ) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
        """Return poses (n, nq) for targets (n, 3) or (n, 16), their errors, and which are closed, in reach and limits.

        Args:
            targets: Points or, if the platform rotates, frames.
            starts: A pose (1, nq), or one for each target (n, nq): legs take the solution nearest to it.
            near: Tolerances [m, rad].
            threads: Number of threads.
            modes: Which solution each path takes, see `modes_at`; the nearest by default.
        """
        if len(targets) < LANES:  # the last target fills the remaining lanes
            rows = np.minimum(np.arange(LANES), len(targets) - 1)
            found = self.solve(targets[rows], starts[rows] if len(starts) > 1 else starts, near, 1, modes)
            return tuple(part[: len(targets)] for part in found)  # type: ignore[return-value]
        count, nq = len(targets), self.linkage.nq
        q, errors, reached = np.empty((count, nq)), np.empty((count, ERRORS.size)), np.zeros(count, np.uint8)
        gap = min(float(goal.tolerance_of("m") or 0.0) for goal in closings(self.linkage))
        tolerances = TOLERANCES.pack(position=near[0], rotation=near[1], gap=gap)
        platform = self.platform if modes is None else self.platform._replace(modes=modes)
        height = room_rows(targets.shape[1], nq, self.platform.codes)

        def work(at: int) -> None:
            here, room = slice(min(at, count - LANES), at + BLOCK), np.empty((height, LANES))
            begin = starts[here] if len(starts) > 1 else starts
            results = q[here], errors[here], reached[here]
            solve_platforms(platform, tolerances, targets[here], self.oriented, begin, room, *results)

        blocks = range(0, count, BLOCK)
        if threads > 1 and len(blocks) > 1:
            for _ in dealt(work, blocks, threads):
                pass
        else:
            for at in blocks:
                work(at)
        return q, errors, reached.view(np.bool_)

    def ways(self, target: FloatArray, near: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return all solutions of each path for one target, (paths, 4, 3), and how far each is out of reach [m].

        The platform's own path is the first. Values are shifted by whole turns to be near a pose, within limits if
        possible. Missing solutions are NaN, as are those of paths with slides or a floating joint.
        """
        out = np.full((4 * len(self.limbs), WAY.size), np.nan)
        platform_ways(self.platform, np.ravel(target), self.oriented, near, out)
        found = WAY.view(out.reshape(-1, 4, WAY.size))
        return found.values, found.missing

    def target_at(self, q: FloatArray) -> FloatArray:
        """Return the platform's position (3,) or transform (16,) in a pose, as a target."""
        frame = self.linkage.forward(q, frame=self.frame)
        return np.ascontiguousarray(frame.ravel() if self.oriented else frame[:3, 3])

    def modes_at(self, q: FloatArray) -> NDArray[np.int64]:
        """Return the working mode of a closed pose: which of its solutions each path has."""
        values, _ = self.ways(self.target_at(q), q)
        modes = np.full(len(self.limbs), ANY)
        for k, limb in enumerate(self.limbs):
            if not np.isnan(values[k]).all():
                off = np.abs(values[k][:, : len(limb.places)] - q[list(limb.places)]).max(axis=-1)
                modes[k] = int(np.nanargmin(off))
        return modes


def platform_form(linkage: Linkage, frame: str, legs: Sequence[Leg]) -> PlatformForm | str:
    """Return a parallel robot in closed form, or a text on why it has none.

    Args:
        linkage: The robot.
        frame: A frame of its platform.
        legs: Its legs, see `legs_of`.
    """
    own = floating_limb(linkage, frame) or limb_of(linkage, frame)
    if isinstance(own, str):
        return f"the path of {frame!r}: {own}"
    frames = linkage.forward(zero_pose(linkage))
    limbs, ends = [(own, np.zeros(3))], []
    for leg in legs:
        limb = limb_of(linkage, leg.end) if leg.kind == "point" else "more than a point is joined"
        if isinstance(limb, str) or limb.kind == forms.SLIDES:
            return f"the leg that ends at {leg.end!r}: {limb}"
        point = (inverse(frames[frame]) @ frames[leg.platform])[:3, 3]
        if own.kind == forms.SLIDES:  # it never rotates, so the offset is constant in the world
            point = (frames[leg.platform] - frames[frame])[:3, 3]
        elif own.kind != forms.FLOATING and np.linalg.norm(point) > SAME * linkage.loop_size:
            return f"{leg.platform!r} rotates with {frame!r}, but not about it"
        limbs.append((limb, point))
        ends.append((leg.end, leg.platform))
    return PlatformForm(linkage, frame, limbs, ends)


def form_of(linkage: Linkage, frame: str) -> PlatformForm | str:
    """Return a parallel robot in closed form, or a text on why it has none; cached on the linkage."""
    legs = linkage.cache.get("legs", frame, lambda: legs_of(linkage, frame))
    if isinstance(legs, str):
        return legs
    return linkage.cache.get("platform form", frame, lambda: platform_form(linkage, frame, legs))


def _padded(values: FloatArray, count: int) -> FloatArray:
    """Return numbers padded with zeros."""
    flat = np.ravel(values)
    return np.concatenate([flat, np.zeros(count - len(flat))])
