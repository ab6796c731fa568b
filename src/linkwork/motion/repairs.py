"""Repair motions: unwind, solve again, bridge, pin.

There is one function for each kind of finding; `repair` tries them in turn and keeps those that help.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from ..goals import Goal, Reach
from ..linkage.linkage import Linkage
from ..linkage.poses import advance, between
from ..solvers import Problem
from ..transforms import FloatArray
from .checks import BODY, Finding, extent, has_stray_first_frame, movers, unwound_joint, without_first_frame
from .clips import Clip
from .contacts import branch
from .inspection import InspectOptions, Report, inspect, series
from .leading_apart import led_apart
from .nearest_pose import lead, stiffness
from .splines import sample, steady_signs
from .timeline import PRECISION, Pin, Timeline

REACHED = 1e-3  # largest error of a branch on the old path [m, or rad times a length]
BESIDE = 0.05  # largest motion of the end of a chain during a flip, in sizes of the body
REJOINED = 1e-2  # distance from the old pose that counts as the same [rad, m]
HOMING, SLOWLY = 0.1, 0.03  # return to the old pose per frame: share of the way, and largest change [rad]
RIGID = 1e4  # stiffness of the rest of a body while a chain is solved again
WIDTHS = (0, 2, 4, 8)  # numbers of additional frames on either side for bridging a spike, tried in turn
SMOOTHING = 4  # frames on both sides over which a corner at a limit is rounded
EASE = 0.2  # time in which feet move to their positions, and back [s]

Repaired = tuple[Clip, str]


@dataclass(frozen=True, eq=False)
class Repair:
    """A repaired motion.

    Attributes:
        clip: The motion, repaired as far as possible.
        done: Sentences on what was done.
        before: The report before the repair.
        after: The report after it: what remains.
    """

    clip: Clip
    done: tuple[str, ...]
    before: Report
    after: Report

    def __str__(self) -> str:
        return "\n".join([*self.words, f"what remains: {self.after}"])

    @property
    def words(self) -> tuple[str, ...]:
        """Sentences on what was done, or that nothing was."""
        nothing = "there was nothing to do" if self.before.ok else "nothing could be done"
        return self.done or (nothing,)


def repair(clip: Clip, **options: Unpack[InspectOptions]) -> Repair:
    """Return a repaired motion, what was done to it and what remains.

    Flips to other values of the same rotation are unwound. Flips to another branch are solved again from the frame
    before, with the end of the chain on its old path. Spikes are bridged, values beyond limits are clamped and
    smoothed, sliding feet are pinned, links below the ground are lifted onto it, overlapping links are separated, and
    missed goals are solved again. A step that increases the number of faults is undone.

    Args:
        clip: The motion.
        **options: As for `lw.inspect`.

    Example:
        >>> import linkwork as lw
        >>> arm = lw.models.planar([2, 1])
        >>> clip = lw.interpolate(arm, [(0, [3, 0]), (1, [3.5, 1])])
        >>> wound = lw.Clip(arm, clip.times, (clip.poses + 3.14159265) % 6.2831853 - 3.14159265)
        >>> print(lw.repair(wound))
        1 joint unwound: the same rotations in numbers that do not jump.
        what remains: nothing wrong in 25 frames
    """
    before = report = inspect(clip, **options)
    done: list[str] = []
    for step in STEPS:
        if report.ok:
            break
        changed, words = step(report)
        if not words or (len(changed) != len(clip) and options.get("goals") is not None):
            continue
        again = inspect(changed, **options)
        if _weight(again.findings) < _weight(report.findings):
            report, clip = again, changed
            done.append(words)
    return Repair(clip, tuple(done), before, report)


def _weight(findings: Sequence[Finding]) -> tuple[int, int]:
    """Return the severity of findings: their number, then the number of frames."""
    return len(findings), sum(finding.last - finding.first + 1 for finding in findings)


# Repairs of values


def _first_frame(report: Report) -> Repaired:
    """Drop a first frame that is not part of the motion."""
    clip = report.clip
    if not has_stray_first_frame(clip, report.findings):
        return clip, ""
    return without_first_frame(clip), "frame 0 left out: it was a separate pose, not part of the motion."


def _unwound(report: Report) -> Repaired:
    """Replace the values of every rotation by those nearest to the previous frame."""
    clip = report.clip
    values, changed = clip.poses.copy(), 0
    lower, upper = clip.linkage.lower, clip.linkage.upper
    wanted = {finding.where for finding in report.of("flip")}
    for arc, drive in movers(clip):
        if arc.name not in wanted:
            continue
        own = unwound_joint(arc, values[:, drive.columns])
        if ((own >= lower[drive.columns] - 1e-9) & (own <= upper[drive.columns] + 1e-9)).all():
            values[:, drive.columns] = own
            changed += 1
    values = steady_signs(clip.linkage, values)
    if np.array_equal(values, clip.poses):
        return clip, ""
    count = "1 joint" if changed == 1 else f"{changed} joints"
    return replace(clip, poses=values), f"{count} unwound: the same rotations in numbers that do not jump."


def _branches(report: Report) -> Repaired:
    """Solve the path of a flipped chain again, from the previous frame, with the nearest poses."""
    clip, linkage, done = report.clip, report.clip.linkage, 0
    values = clip.poses.copy()
    for first in sorted({finding.first for finding in report.of("flip")}):
        names = [f.where for f in report.of("flip") if f.first == first and linkage.joint(f.where).parent is not None]
        chains = {chain_end(linkage, name): name for name in reversed(names)}  # the uppermost joint of each
        for end, name in chains.items():
            if np.abs(between(linkage, values[first], values[first + 1])[chain(linkage, name, end)]).max() > REJOINED:
                solved = _followed(report, values, first, name, end)
                values, done = (values, done) if solved is None else (solved, done + 1)
    words = f"flips solved again, so that the chain keeps its branch and its end keeps its path: {done}."
    return replace(clip, poses=steady_signs(linkage, values), residuals=None), words if done else ""


def chain(linkage: Linkage, joint: str, end: str) -> NDArray[np.bool_]:
    """Return which velocities belong to the joints from one joint to the end of its chain."""
    path, _ = linkage.path_to(end)
    names = {linkage.arcs[k].name for k in path[path.index(linkage.arc_index(joint)) :]}
    return np.array([name in names for name in linkage.table.velocity_joints], np.bool_)


def chain_end(linkage: Linkage, joint: str) -> str:
    """Return the frame at the end of the chain below a joint; a chain ends where the tree branches."""
    index = linkage.link_index(linkage.joint(joint).child)
    while len(linkage.children[index]) == 1:
        index = linkage.children[index][0]
    link = linkage.links[index]
    return next((frame.name for frame in reversed(linkage.extra_frames) if frame.link == link), link)


def _followed(report: Report, values: FloatArray, first: int, joint: str, end: str) -> FloatArray | None:
    """Return poses in which a chain continues from a frame without a jump, or None if its path cannot be followed.

    It meets the goals of the motion if they are known. Otherwise its end keeps position and orientation or, if that is
    impossible, its position.
    """
    clip, linkage = report.clip, report.clip.linkage
    places, own = linkage.forward(values, frame=end), chain(linkage, joint, end)
    if np.linalg.norm(places[first + 1, :3, 3] - places[first, :3, 3]) > BESIDE * extent(clip):
        return None  # the end jumps too, so this is not another branch of the same path
    turned: list[Any] = [Reach(end, pose=place) for place in places]
    paths = [turned, [Reach(end, position=place[:3, 3]) for place in places]]
    if report.options.get("goals") is not None:
        paths.insert(0, series(clip, report.options["goals"]))
    firm = np.where(own, 1.0, RIGID)
    for path in paths:
        result = values.copy()
        for k in range(first + 1, len(clip)):
            step = np.where(own, between(linkage, values[k], result[k - 1], wrap=False), 0.0)
            start = advance(linkage, values[k], step)  # the chain of the previous frame on the body of this one
            base = advance(linkage, values[k], step - np.clip(HOMING * step, -SLOWLY, SLOWLY))
            problem = Problem(linkage, path[k], start)
            result[k] = lead(problem, base, start, firm, precision=PRECISION)
            if np.linalg.norm(problem.weighted_error(problem.error(result[k]))) > REACHED * (1.0 + linkage.length):
                break
            if k > first + 1 and np.abs(between(linkage, values[k], result[k])).max() < REJOINED:
                return result  # flipped back: the old motion continues from here
        else:
            return result
    return None


def _bridged(report: Report) -> Repaired:
    """Interpolate each joint across its spikes, from the good frames before to the good ones after."""
    clip = report.clip
    found = [f for f in (*report.of("spike"), *report.of("flip")) if f.where != BODY]
    best, count = clip, len(found)
    for width in WIDTHS:
        values = clip.poses.copy()
        for finding in found:
            values = _across(clip, values, finding, width)
        tried = replace(clip, poses=steady_signs(clip.linkage, values), residuals=None)
        left = len([f for f in inspect(tried, ground=report.ground).findings if f.kind in ("spike", "flip")])
        if left < count:
            best, count = tried, left
        if not left:
            break
    return best, f"spikes and jumps bridged from the frames around them: {len(found)}." if best is not clip else ""


def _across(clip: Clip, values: FloatArray, finding: Finding, width: int) -> FloatArray:
    if finding.kind == "flip" or finding.last == finding.first + 1:  # a single step, both frames of which may be good
        width = max(0, width - 1)
    bad = np.zeros(len(clip), np.bool_)
    bad[max(finding.first - width, 1) : min(finding.last + width, len(clip) - 2) + 1] = True
    if not bad.any():
        return values
    columns = clip.linkage.drive(finding.where).columns
    filled = sample(clip.linkage, clip.times[~bad], values[~bad], clip.times[bad], kind="catmull-rom", wrap=False)
    result = values.copy()
    result[bad, columns] = np.clip(filled, clip.linkage.lower, clip.linkage.upper)[:, columns]
    return result


def _within(report: Report) -> Repaired:
    """Clamp values to their limits and round the corners where they reach them."""
    clip, linkage = report.clip, report.clip.linkage
    names = sorted({finding.where for finding in report.of("limit")})
    if not names:
        return clip, ""
    values = clip.poses.copy()
    kernel = np.hanning(2 * SMOOTHING + 3)[1:-1]
    kernel /= kernel.sum()
    for finding in report.of("limit"):
        near = np.zeros(len(clip))
        near[max(0, finding.first - 2 * SMOOTHING) : finding.last + 2 * SMOOTHING + 1] = 1.0
        share = np.convolve(np.pad(near, SMOOTHING, mode="edge"), kernel, mode="valid")
        for column in range(linkage.nq)[linkage.drive(finding.where).columns]:
            if np.isfinite(linkage.lower[column]) or np.isfinite(linkage.upper[column]):
                own = np.clip(values[:, column], linkage.lower[column], linkage.upper[column])
                smooth = np.convolve(np.pad(own, SMOOTHING, mode="edge"), kernel, mode="valid")
                values[:, column] = np.clip(own + share * (smooth - own), linkage.lower[column], linkage.upper[column])
    words = f"brought within limits and smoothed: {', '.join(names)}."
    return replace(clip, poses=values, residuals=None), words


# Repairs of positions


def _grounded(report: Report) -> Repaired:
    """Pin sliding feet at their most frequent position, and lift links below the ground onto it."""
    clip, pins = report.clip, list[Pin]()
    for finding in report.of("slide"):
        places = clip.forward(frame=finding.where)[finding.first : finding.last + 1, :3, 3]
        spot = np.median(places, axis=0)
        if report.ground is not None:
            spot[2] = max(float(spot[2]), report.ground)
        pins.append(_pin(clip, finding, Reach(finding.where, position=spot)))
    held = {(branch(clip.linkage, f.where), k) for f in report.of("slide") for k in range(f.first, f.last + 1)}
    for finding in sorted(report.of("ground"), key=lambda f: -f.amount):  # of each chain, the deepest first
        frames = {(branch(clip.linkage, finding.where), k) for k in range(finding.first, finding.last + 1)}
        if not frames & held:
            held |= frames
            pins.append(_pin(clip, finding, _lifted(clip, finding.where, report.ground or 0.0)))
    if not pins:
        return clip, ""
    played = Timeline(clip.linkage, pins, body=clip).play()
    slid, sunk = len(report.of("slide")), len(report.of("ground"))
    words = [f"sliding feet pinned: {slid}"] * bool(slid) + [f"stretches lifted onto the ground: {sunk}"] * bool(sunk)
    return replace(played, residuals=None, source=clip.source), f"{', '.join(words)}; the rest of the body follows."


def _pin(clip: Clip, finding: Finding, goal: Goal | Callable[[float], Goal]) -> Pin:
    return Pin(float(clip.times[finding.first]), float(clip.times[finding.last]), goal, ease=EASE)


def _lifted(clip: Clip, frame: str, ground: float) -> Callable[[float], Goal]:
    """Return the goal that keeps a frame in its pose but not below the ground."""

    def goal(time: float) -> Goal:
        place = clip.linkage.forward(clip.at(np.clip(time, clip.times[0], clip.times[-1])), frame=frame).copy()
        place[2, 3] = max(float(place[2, 3]), ground)
        return Reach(frame, pose=place)

    return goal


def _apart(report: Report) -> Repaired:
    """Separate links that pass through each other, fading in and out."""
    found = report.of("overlap")
    if not found:
        return report.clip, ""
    clip = led_apart(report.clip, report.options.get("overlap"))
    return clip, f"overlapping pairs of links moved apart: {len({one.where for one in found})}."


def _resolved(report: Report) -> Repaired:
    """Solve missed goals again, from the poses that missed them."""
    clip, goals = report.clip, report.options.get("goals")
    found = report.of("path")
    if goals is None or not found:
        return clip, ""
    values, wanted, firm = clip.poses.copy(), series(clip, goals), stiffness(clip.linkage)
    for k in sorted({k for finding in found for k in range(finding.first, finding.last + 1)}):
        problem = Problem(clip.linkage, wanted[k], values[k])
        values[k] = lead(problem, values[k], values[k], firm, precision=PRECISION)
    words = f"stretches of missed goals solved again: {len(found)}."
    return replace(clip, poses=steady_signs(clip.linkage, values), residuals=None), words


STEPS: tuple[Callable[[Report], Repaired], ...] = (
    _first_frame,
    _unwound,
    _branches,
    _bridged,
    _within,
    _grounded,
    _within,  # pinned legs may reach their limits abruptly
    _apart,
    _resolved,
)
