"""Singular curves of a parallel robot in a plane in which its platform moves.

There are two kinds (Gosselin and Angeles, 1990). Where a leg is stretched or folded, the platform loses a direction of
motion: this is the boundary of its workspace. Where the drivers no longer hold the platform, it gains one, inside the
workspace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import GoalError, OptionError
from ..kernels.limb_forms import FLOATING, SLIDES, TELESCOPE
from ..linkage.linkage import Linkage, check_linkage
from ..linkage.poses import PoseLike
from ..solvers.closing import assemble
from ..solvers.loops import Closure, coordinate, one_pose
from ..solvers.options import one_of, whole
from ..solvers.platform_form import PlatformForm, form_of
from ..transforms import FloatArray

PLANES = {"xy": (0, 1, 2), "xz": (0, 2, 1), "yz": (1, 2, 0)}
HALVINGS = 45  # enough to halve a step of the grid down to rounding
EDGE = 1e-3  # share below which legs count as stretched or folded, at edges located by bisection
NEAR = 1e-9
ROUNDS, FEWEST = 40, 20_000  # rounds of random positions, and smallest number per round
FAR = 1.5  # range of the first positions around the start, in sizes of the robot


@dataclass(frozen=True, eq=False)
class PlatformCurves:
    """Singular curves of a parallel robot in a plane, in one working mode.

    Attributes:
        linkage: The linkage.
        frame: The frame of its platform.
        drivers: The coordinates that are driven.
        places: Reachable points of the grid, (k, 3) [m].
        hold: For each, how well the drivers hold the platform: 0 on a singular curve, 1 at best; the sign differs on
            either side of it.
        stretched: Points where a leg is stretched or folded (type 1), (n, 3) [m].
        loose: Points where the drivers do not hold the platform (type 2), (n, 3) [m].
        limited: Points where a joint is at its limit, (n, 3) [m].

    Example:
        >>> import linkwork as lw
        >>> curves = lw.explain.platform_curves(lw.models.five_bar(), "tip", start="ready", resolution=41)
        >>> curves
        <Curves of 'five_bar' driven by left, right: 190 points stretched, 27 loose, 0 at limits>
    """

    linkage: Linkage
    frame: str
    drivers: tuple[str, ...]
    places: FloatArray
    hold: FloatArray
    stretched: FloatArray
    loose: FloatArray
    limited: FloatArray

    def __repr__(self) -> str:
        counts = f"{len(self.stretched)} points stretched, {len(self.loose)} loose, {len(self.limited)} at limits"
        return f"<Curves of {self.linkage.name!r} driven by {', '.join(self.drivers)}: {counts}>"


def platform_curves(
    linkage: Linkage,
    frame: str,
    *,
    plane: str = "xy",
    start: PoseLike | None = None,
    drivers: Iterable[str] = (),
    resolution: int = 121,
) -> PlatformCurves:
    """Return the singular curves of a platform in a plane, with its legs in the working mode of a start pose.

    Args:
        linkage: A parallel robot whose legs have closed forms: a Delta, a Stewart platform, a five-bar.
        frame: A frame of its platform.
        plane: ``"xy"``, ``"xz"`` or ``"yz"``: the plane through the frame at the start.
        start: A closed pose, or the name of a stored one. It gives the plane, the working mode of the legs and the
            orientation of the platform. Without one, the robot is assembled near its neutral pose.
        drivers: Names of the driven coordinates; by default the slide of every leg, or its first joint if it has no
            slide.
        resolution: Number of grid points along each axis.
    """
    check_linkage(linkage)
    one_of("plane", plane, PLANES)
    form = _form(linkage, frame)
    names = tuple(drivers) or usual_drivers(form)
    mode = _WorkingMode(form, begun(linkage, start))
    mode.drive_by(names)
    grid = mode.grid(PLANES[plane], whole("resolution", resolution, least=3))
    reached, hold = mode.at(grid.reshape(-1, 3))
    reached, hold = reached.reshape(grid.shape[:2]), hold.reshape(grid.shape[:2])
    edge = _between(grid, lambda a, b: reached[a] != reached[b], lambda a: reached[a])
    turn = _between(grid, lambda a, b: reached[a] & reached[b] & (hold[a] * hold[b] < 0.0), lambda a: hold[a] > 0.0)
    ends = _halved(*edge, lambda x: mode.at(x)[0])
    loose = _halved(*turn, lambda x: mode.at(x)[1] > 0.0)
    stretched = mode.serial(ends) < EDGE
    return PlatformCurves(linkage, frame, names, grid[reached], hold[reached], ends[stretched], loose, ends[~stretched])


def begun(linkage: Linkage, start: PoseLike | None) -> FloatArray:
    """Return the start pose: the given one, or an assembled pose of a robot with loops."""
    return assemble(linkage, most=1)[0] if start is None and linkage.loops else one_pose(linkage, start)


def sampled_places(
    linkage: Linkage, frame: str, start: FloatArray, samples: int, rng: np.random.Generator
) -> FloatArray:
    """Return positions (n, 3) that a platform reaches in the working mode of a closed pose, sampled evenly."""
    mode = _WorkingMode(_form(linkage, frame), start)
    at = linkage.forward(start, frame=frame)[:3, 3]
    far = np.where(linkage.evaluator.moving_rows(frame)[:3], FAR * linkage.loop_size, 0.0)
    low, high = at - far, at + far
    found: list[FloatArray] = []
    for k in range(ROUNDS):
        tried = rng.uniform(low, high, (max(samples, FEWEST), 3))
        reached = tried[mode.poses(tried)[1]]
        if k == 0 and len(reached):  # the reachable range is known now; add a little margin
            room = 0.05 * np.ptp(reached, axis=0)
            low, high = reached.min(axis=0) - room, reached.max(axis=0) + room
        elif k:
            found.append(reached)
        if sum(map(len, found)) >= samples:
            break
    return np.concatenate([np.zeros((0, 3)), *found])[:samples]


def _form(linkage: Linkage, frame: str) -> PlatformForm:
    form = form_of(linkage, frame)
    if isinstance(form, str):
        raise GoalError(
            f"{frame!r} of linkage {linkage.name!r} is not a platform on legs with closed forms: {form}; lw.drive "
            "follows frames of other loops."
        )
    return form


def usual_drivers(form: PlatformForm) -> tuple[str, ...]:
    """Return the coordinates that are usually driven: the slide of every leg, or its first joint."""
    paths = [limb for limb in form.limbs if limb.kind not in (SLIDES, FLOATING)]
    return tuple(form.linkage.coordinates[limb.places[2 if limb.kind == TELESCOPE else 0]] for limb in paths)


class _WorkingMode:
    """A robot in one working mode, evaluated for many positions at once."""

    def __init__(self, form: PlatformForm, start: FloatArray) -> None:
        self.form, self.start, self.linkage = form, start, form.linkage
        self.closure = Closure(self.linkage)
        if not self.closure.closed(start):
            name = self.linkage.name
            raise OptionError(f"the loops of {name!r} are open at the start; give a stored pose, or one from lw.close.")
        self.modes, self.target = form.modes_at(start), form.target_at(start)
        changed = [goal.changeable(self.linkage) for goal in self.closure.goals]
        self.rows = np.concatenate(changed)
        self.own = self.linkage.evaluator.moving_rows(form.frame) & ([True] * 3 + [form.oriented] * 3)
        self.passive = np.ones(self.linkage.nv, np.bool_)

    def drive_by(self, drivers: tuple[str, ...]) -> None:
        """Set the driven coordinates; the others follow."""
        self.passive[[coordinate(self.linkage, name)[1] for name in drivers]] = False
        if int(self.passive.sum()) != int(self.rows.sum()):
            raise OptionError(
                f"{len(drivers)} drivers leave {int(self.passive.sum())} coordinates to {int(self.rows.sum())} rows of "
                "loops; give as many as the robot has degrees of freedom, by drivers=."
            )

    def grid(self, axes: tuple[int, int, int], resolution: int) -> FloatArray:
        """Return a grid of positions (n, n, 3) in a plane through the start, around all reachable ones."""
        at = self.target.reshape(4, 4)[:3, 3] if self.form.oriented else self.target
        middle, far = at[list(axes[:2])], np.full(2, FAR * self.linkage.loop_size)
        for _ in range(2):  # first over the largest possible range, then over the reachable one
            result = np.tile(at, (resolution, resolution, 1))
            x, y = (np.linspace(m - f, m + f, resolution) for m, f in zip(middle, far, strict=True))
            result[..., axes[0]], result[..., axes[1]] = x[:, None], y
            inside = result[self.poses(result.reshape(-1, 3))[1].reshape(resolution, resolution)][:, list(axes[:2])]
            if not len(inside):
                break
            step = 2.0 * far / (resolution - 1)
            middle, far = (inside.max(axis=0) + inside.min(axis=0)) / 2.0, np.ptp(inside, axis=0) / 2.0 + 1.5 * step
        return result

    def poses(self, places: FloatArray) -> tuple[FloatArray, NDArray[np.bool_]]:
        """Return poses with the platform at positions (n, 3), and which of them are reached."""
        targets = places
        if self.form.oriented:
            targets = np.tile(self.target, (len(places), 1))
            targets[:, [3, 7, 11]] = places
        if not len(places):
            return np.zeros((0, self.linkage.nq)), np.zeros(0, np.bool_)
        near = NEAR * self.linkage.loop_size
        q, _, reached = self.form.solve(np.ascontiguousarray(targets), self.start[None], (near, NEAR), 1, self.modes)
        return q, reached

    def at(self, places: FloatArray) -> tuple[NDArray[np.bool_], FloatArray]:
        """Return which positions are reached, and the quality of the drivers' hold there; see `PlatformCurves.hold`."""
        q, reached = self.poses(places)
        return reached, _share(self.closure.jacobian(q)[:, self.rows][..., self.passive])

    def serial(self, places: FloatArray) -> FloatArray:
        """Return the quality of the legs' motion at positions: 0 where one of them is stretched or folded."""
        q, _ = self.poses(places)
        own = self.linkage.jacobian(q, self.form.frame)[:, self.own] * self.closure.units
        return np.abs(_share(np.concatenate([own, self.closure.jacobian(q)[:, self.rows]], axis=1)))


def _share(matrix: FloatArray) -> FloatArray:
    """Return determinants (n,) of matrices (n, k, k), divided by the product of their columns' lengths."""
    lengths = np.linalg.norm(matrix, axis=1).prod(axis=-1)
    found: FloatArray = np.linalg.det(matrix) / np.maximum(lengths, 1e-300)
    return found


def _between(
    grid: FloatArray, differ: Callable[..., NDArray[np.bool_]], inside: Callable[..., NDArray[np.bool_]]
) -> tuple[FloatArray, FloatArray]:
    """Return pairs of neighbouring grid points (n, m, 3) that differ: those inside and those outside, each (k, 3)."""
    ins, outs = [], []
    for a, b in (
        ((slice(None, -1),), (slice(1, None),)),
        ((slice(None), slice(None, -1)), (slice(None), slice(1, None))),
    ):
        apart, first = differ(a, b), inside(a)
        one, two = grid[a][apart], grid[b][apart]
        order = first[apart][:, None]
        ins.append(np.where(order, one, two))
        outs.append(np.where(order, two, one))
    return np.concatenate(ins), np.concatenate(outs)


def _halved(inside: FloatArray, outside: FloatArray, test: Callable[[FloatArray], NDArray[np.bool_]]) -> FloatArray:
    """Return the last points inside on the segments to points outside, by bisection."""
    for _ in range(HALVINGS if len(inside) else 0):
        middle = (inside + outside) / 2.0
        good = test(middle)[:, None]
        inside, outside = np.where(good, middle, inside), np.where(good, outside, middle)
    return inside
