"""Limits of followers: find leaders that drive a follower beyond its limits, and narrow the leaders' limits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..transforms import FloatArray
from .joints import Continuous, Revolute

if TYPE_CHECKING:
    from .linkage import Linkage

SLACK = 1e-9  # relative tolerance for rounding at limits
Range = tuple[float, float]


@dataclass(frozen=True)
class Overrun:
    """A joint that follows another beyond its own limits.

    Args:
        joint: The follower.
        leader: The joint whose value drives it.
        multiplier: ``value = multiplier * value of the leader + offset``.
        offset: See `multiplier`.
        own: The follower's own limits.
        reached: The values that it takes while its leader goes from limit to limit.
        left: The range of the leader in which the follower keeps its own limits; lower above upper if there is none.
    """

    joint: str
    leader: str
    multiplier: float
    offset: float
    own: Range
    reached: Range
    left: Range

    @property
    def text(self) -> str:
        """One sentence, with its numbers."""
        times = "" if self.multiplier == 1.0 else f" times {self.multiplier:.6g}"
        plus = "" if self.offset == 0.0 else f" {'plus' if self.offset > 0.0 else 'minus'} {abs(self.offset):.6g}"
        follows = f"{self.joint!r} follows {self.leader!r}{times}{plus} and goes {_span(self.reached)}"
        hold = f"holds {self.leader!r} {_span(self.left)}" if self.left[0] <= self.left[1] else "cannot hold it"
        return f"{follows}, beyond its own limits {_span(self.own)}: they are ignored; limits='followers' {hold}."


def _span(ends: Range) -> str:
    low, high = ends
    if ends == (-math.inf, math.inf):
        return "without end"
    return f"at {low:.6g}" if low == high else f"from {low:.6g} to {high:.6g}"


def overruns(linkage: Linkage) -> list[Overrun]:
    """Return the followers that leave their own limits while their leaders stay within theirs."""
    found = []
    leaders = {drive.q: arc for arc, drive in zip(linkage.arcs, linkage.drives, strict=True) if arc.mimic is None}
    for arc, drive in zip(linkage.arcs, linkage.drives, strict=True):
        if arc.mimic is None:
            continue
        own = _ends(*arc.articulation.limits)
        leader = _ends(linkage.lower[drive.columns], linkage.upper[drive.columns])
        reached = _mapped(leader, drive.multiplier, drive.offset)
        if reached[0] < own[0] - SLACK * (1.0 + abs(own[0])) or reached[1] > own[1] + SLACK * (1.0 + abs(own[1])):
            low, high = _kept(own, drive.multiplier, drive.offset)
            left = max(leader[0], low), min(leader[1], high)
            follows = leaders[drive.q].name, drive.multiplier, drive.offset
            found.append(Overrun(arc.name, *follows, own, reached, left))
    return found


def narrowed(linkage: Linkage) -> tuple[Linkage, list[Overrun]]:
    """Return a linkage with narrower limits of leaders, and the followers that still leave their own limits.

    Example:
        >>> import linkwork as lw
        >>> b = lw.Builder("gripper").prismatic("left", "finger", limits=(0, 0.04))
        >>> b = b.prismatic("right", "thumb", parent="base", limits=(0, 0.03), mimic="left")
        >>> narrowed(b.build())[0].upper.tolist()
        [0.03]
    """
    ranges: dict[str, Range] = {}
    beyond = []
    for overrun in overruns(linkage):
        low, high = ranges.get(overrun.leader, (-math.inf, math.inf))
        low, high = max(low, overrun.left[0]), min(high, overrun.left[1])
        if low > high:
            beyond.append(overrun)
        else:
            ranges[overrun.leader] = low, high
    changes: dict[str, dict[str, Any]] = {}
    for name, (low, high) in ranges.items():
        articulation = linkage.joint(name).articulation
        if isinstance(articulation, Continuous):
            changes[name] = {"articulation": Revolute(articulation.axis, low, high)}
        else:
            changes[name] = {"lower": low, "upper": high}
    return linkage.replace(joints=changes) if changes else linkage, beyond


def _ends(lower: FloatArray, upper: FloatArray) -> Range:
    return float(lower[0]), float(upper[0])


def _mapped(ends: Range, multiplier: float, offset: float) -> Range:
    """Return the range of a follower for a range of its leader."""
    low, high = sorted(offset if multiplier == 0.0 else multiplier * end + offset for end in ends)
    return low, high


def _kept(own: Range, multiplier: float, offset: float) -> Range:
    """Return the range of a leader in which its follower keeps its own limits."""
    if multiplier == 0.0:  # a constant follower is either always within its limits or never
        return (-math.inf, math.inf) if own[0] <= offset <= own[1] else (math.inf, -math.inf)
    low, high = sorted((end - offset) / multiplier + 0.0 for end in own)  # adding zero removes negative zeros
    return low, high
