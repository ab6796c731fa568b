"""Inspection of a motion: all its faults in one report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from ..errors import GoalError, KeyFrameError, OptionError
from ..goals import Goal
from ..linkage.showing import Shown
from ..solvers import Problem, Settings
from ..solvers.options import usual_tolerance
from ..transforms import FloatArray, is_number
from . import checks, contacts
from .checks import KINDS, Finding, runs
from .overlaps import overlaps

if TYPE_CHECKING:
    from .clips import Clip

ROOM = 10.0  # tolerance factor for goals of motions relative to those of single poses
SHOWN = 2  # worst findings of each kind in the text of a report


class InspectOptions(TypedDict, total=False):
    """The options of `inspect`, for calls that pass them on."""

    goals: Any
    ground: float | None
    feet: str | Sequence[str] | None
    tolerance: float
    rotation_tolerance: float
    slide: float | None
    depth: float | None
    overlap: float | None


@dataclass(frozen=True, eq=False)
class Report(Shown):
    """The faults found in a clip.

    Attributes:
        clip: The clip.
        findings: The faults, sorted by kind, then by frame.
        ground: Height of the ground [m], or None.
        feet: Names of the frames taken as feet.
        options: The options that the report was made with.
    """

    clip: Clip
    findings: tuple[Finding, ...]
    ground: float | None
    feet: tuple[str, ...]
    options: InspectOptions = field(default_factory=InspectOptions)

    @property
    def ok(self) -> bool:
        """Whether no fault was found."""
        return not self.findings

    @property
    def counts(self) -> dict[str, int]:
        """Number of findings of each kind."""
        counted = Counter(finding.kind for finding in self.findings)
        return {kind: counted[kind] for kind in KINDS}

    def of(self, kind: str) -> tuple[Finding, ...]:
        """Return the findings of one kind."""
        return tuple(finding for finding in self.findings if finding.kind == kind)

    def as_dict(self) -> dict[str, Any]:
        """Return the report as plain data."""
        clip = self.clip
        return {
            "clip": clip.name,
            "linkage": clip.linkage.name,
            "frames": len(clip),
            "seconds": clip.duration,
            "fps": clip.fps,
            "ground": self.ground,
            "feet": list(self.feet),
            "counts": self.counts,
            "findings": [finding.as_dict() for finding in self.findings],
        }

    def __str__(self) -> str:
        if self.ok:
            return f"nothing wrong in {len(self.clip)} frames"
        lines = []
        for kind, count in self.counts.items():
            found = sorted(self.of(kind), key=lambda finding: -finding.amount)[:SHOWN]
            lines += [str(finding) for finding in sorted(found, key=lambda finding: finding.first)]
            if count > SHOWN:
                lines.append(f"{kind}: {count - SHOWN} more, none of them worse; `findings` has all.")
        return "\n".join(lines)


def inspect(
    clip: Clip,
    *,
    goals: Any = None,
    ground: float | None = None,
    feet: str | Sequence[str] | None = None,
    tolerance: float | None = None,
    rotation_tolerance: float = 1e-2,
    slide: float | None = None,
    depth: float | None = None,
    overlap: float | None = None,
) -> Report:
    """Return the faults of a motion: jumps, exceeded limits, sliding feet, links below the ground, overlaps.

    Args:
        clip: The motion.
        goals: Goals it should follow, as for `lw.track`: one goal, or list of goals, for each frame; or a function of
            the time [s]. By default the residuals of the clip are checked, if it has any.
        ground: Height of the ground [m]; by default the lowest height of the feet of a floating body.
        feet: Names of the frames that should not slide while they are planted; by default found by name.
        tolerance: Largest allowed position error of a goal [m]; 1e-3 by default, less for linkages below 10 cm.
        rotation_tolerance: Largest allowed rotation error [rad].
        slide: Largest allowed displacement of a planted foot [m]; 1.2 % of the body's size by default.
        depth: Largest allowed depth of a link below the ground [m]; 1.2 % of the body's size by default.
        overlap: Largest allowed overlap of two links [m]; 1.2 % of the body's size by default. Links without shapes are
            treated as slim capsules.

    Example:
        >>> import linkwork as lw
        >>> clip = lw.interpolate(lw.models.planar([2, 1]), [(0, [0, 0]), (1, [1, 2])])
        >>> print(lw.inspect(clip))
        nothing wrong in 25 frames
    """
    if not hasattr(clip, "times"):  # clips calls this module, so Clip cannot be imported here
        raise KeyFrameError(f"a report is of a Clip, got {type(clip).__name__}; lw.load_clip(path) reads one.")
    for name, value in (("slide", slide), ("depth", depth), ("overlap", overlap)):
        if value is not None and (not is_number(value) or not value >= 0.0):
            raise OptionError(f"{name} is a number of metres, zero or more, got {value!r}.")
    tolerance = ROOM * usual_tolerance(clip.linkage) if tolerance is None else tolerance
    settings = Settings(tolerance, rotation_tolerance)
    height, names = contacts.ground_and_feet(clip, ground, feet)
    found = [*checks.jumps(clip), *checks.limits(clip), *contacts.slides(clip, names, slide)]
    found += [] if height is None else contacts.below(clip, height, depth, names)
    found += overlaps(clip, overlap)
    for (where, unit), row in errors(clip, goals).items():
        for first, last in runs(row > (settings.rotation_tolerance if unit == "rad" else settings.tolerance)):
            most = float(row[first : last + 1].max())
            text = f"{where} misses its goal by up to {most:.3g} {unit}."
            found.append(Finding("path", first, last, where, most, unit, text))
    found.sort(key=lambda finding: (KINDS.index(finding.kind), finding.first))
    options = InspectOptions(
        goals=goals, ground=ground, feet=feet, tolerance=tolerance, rotation_tolerance=rotation_tolerance, slide=slide,
        depth=depth, overlap=overlap,
    )  # fmt: skip
    return Report(clip, tuple(found), height, names, options)


def errors(clip: Clip, goals: Any) -> dict[tuple[str, str], FloatArray]:
    """Return the error of every goal over time (n,), by frame name and unit."""
    if goals is None:
        rows = clip.residuals
        return {} if rows is None else {(f"goal {k}", "m"): row for k, row in enumerate(rows.T)}
    result: dict[tuple[str, str], FloatArray] = {}
    for k, several in enumerate(series(clip, goals)):
        problem = Problem(clip.linkage, several, clip.poses[0])
        residuals = problem.residuals(problem.error(clip.poses[k])).tolist()
        names = [(getattr(goal, "frame", type(goal).__name__), b.unit) for goal in problem.goals for b in goal.blocks]
        for name, error in zip(names, residuals, strict=True):
            row = result.setdefault(name, np.zeros(len(clip)))
            row[k] = max(row[k], error)
    return result


def series(clip: Clip, goals: Any | Callable[[float], Any]) -> list[Any]:
    """Return the goals of every frame."""
    if callable(goals) and not isinstance(goals, Goal):
        return [goals(float(time)) for time in clip.times]
    listed = list(goals) if not isinstance(goals, Goal) else [goals] * len(clip)
    if len(listed) != len(clip):
        raise GoalError(f"a clip of {len(clip)} frames is compared with one goal for each, got {len(listed)}.")
    return listed
