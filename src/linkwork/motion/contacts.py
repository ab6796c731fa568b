"""Ground contacts: when a point is planted, which frames are feet, the ground height, and contact faults.

A point is planted while it is low and slow. A contact begins at one threshold and ends at a looser one, so that noise
does not interrupt it. The ground is a height along the world's z axis.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import OptionError
from ..linkage.linkage import Linkage
from ..transforms import FloatArray, as_array, is_number
from .checks import Finding, extent, runs
from .root_motion import root_moves

if TYPE_CHECKING:
    from .clips import Clip

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Thresholds:
    """Thresholds for ground contacts, for a leg of one metre; heights and speeds scale with the leg.

    Args:
        height: A contact begins below this height above the ground [m].
        leave_height: It ends above this one.
        speed: It begins below this speed [m/s].
        leave_speed: It ends above this one.
        shortest: Shorter contacts are ignored [s].
        gap: Shorter gaps between contacts are closed [s]; 0 closes none.
    """

    height: float = 0.05
    leave_height: float = 0.08
    speed: float = 0.25
    leave_speed: float = 0.5
    shortest: float = 0.08
    gap: float = 0.08

    def __post_init__(self) -> None:
        for low, high in (("height", "leave_height"), ("speed", "leave_speed")):
            if not 0.0 < getattr(self, low) <= getattr(self, high) < np.inf:
                raise OptionError(f"thresholds of contacts need 0 < {low} <= {high}, got {self!r}.")
        for name in ("shortest", "gap"):
            if not 0.0 <= getattr(self, name) < np.inf:
                raise OptionError(f"the {name} of contacts is zero or more seconds, got {getattr(self, name)!r}.")


FOOT = re.compile(r"foot|feet|sole|toe|ankle", re.IGNORECASE)
# Thresholds for standing, in sizes of the body. There is no hysteresis and no gap is closed, so that neither the first
# centimetres of a step nor noise in a recording count as slides.
STANDING = Thresholds(height=0.03, leave_height=0.03, speed=0.15, leave_speed=0.15, gap=0.0)
INSTANT = 1e-9  # [s]
BELOW_GROUND = 5.0  # share of the frames in which a foot may be below the ground [%]
SLIDE, DEPTH = 0.012, 0.012  # default tolerances, in sizes of the body: 2 cm for a person


def ground_level(heights: FloatArray, share: float = 10.0) -> float:
    """Return the height of the ground under a point that is planted now and then: a low percentile of its heights.

    Args:
        heights: Heights of the point over time [m], shape (frames,).
        share: Share of the frames in which it may be lower [%].

    Example:
        >>> ground_level(np.array([0.1, 0.0, 0.0, 0.0, 0.2]))
        0.0
    """
    return float(np.percentile(heights, share))


@dataclass(frozen=True, eq=False)
class Trace:
    """Height and speed of a moving point over time.

    Args:
        heights: Its heights [m], shape (frames,).
        speeds: Its speeds [m/s], shape (frames,).
    """

    heights: FloatArray
    speeds: FloatArray

    @classmethod
    def of(cls, points: FloatArray, times: FloatArray) -> Trace:
        """Return the trace of positions (frames, 3), z up, at increasing times."""
        if len(points) < 2:
            return cls(points[:, 2], np.zeros(len(points)))
        return cls(points[:, 2], np.linalg.norm(np.gradient(points, times, axis=0), axis=1))


def find_contacts(
    points: FloatArray,
    times: FloatArray,
    *,
    leg: float = 1.0,
    ground: float | None = None,
    rules: Thresholds | None = None,
) -> Mask:
    """Return in which frames a moving point is planted on the ground, shape (frames,).

    Args:
        points: Its positions, z up [m], shape (frames, 3).
        times: Increasing times [s], shape (frames,).
        leg: Length of the leg [m]; the thresholds are multiplied by it.
        ground: Height of the ground below the point [m]; by default `ground_level` of its heights.
        rules: Thresholds.

    Example:
        >>> t = np.linspace(0, 1, 101)
        >>> x = np.where(t < 0.5, 0.0, 2.0 * (t - 0.5))
        >>> planted = find_contacts(np.stack([x, 0 * x, 0.1 * x], axis=1), t)
        >>> planted[:48].all().item(), planted[60:].any().item()
        (True, False)
    """
    points, times = as_array(points, "points"), as_array(times, "times")
    return contacts_in(Trace.of(points, times), times, leg=leg, ground=ground, rules=rules)


def contacts_in(
    trace: Trace, times: FloatArray, *, leg: float = 1.0, ground: float | None = None, rules: Thresholds | None = None
) -> Mask:
    """Return the result of `find_contacts` for a point with known heights and speeds."""
    rules = rules or Thresholds()
    if len(times) < 2:
        return np.ones(len(times), np.bool_)
    heights = (trace.heights - (ground_level(trace.heights) if ground is None else ground)) / leg
    speeds = trace.speeds / leg
    begins = (heights < rules.height) & (speeds < rules.speed)
    goes_on = (heights < rules.leave_height) & (speeds < rules.leave_speed)
    planted = np.zeros(len(times), np.bool_)
    for first, last in runs(goes_on):
        inside = np.flatnonzero(begins[first : last + 1])
        if len(inside):
            planted[first + inside[0] : last + 1] = True
    step = float(np.median(np.diff(times)))
    for first, last in runs(~planted) if rules.gap > 0.0 else ():  # close gaps first, then drop short contacts
        if first > 0 and last + 1 < len(planted) and last + 1 - first < max(2, round(rules.gap / step)):
            planted[first : last + 1] = True
    for first, last in runs(planted):
        if last + 1 - first < max(2, round(rules.shortest / step)):
            planted[first : last + 1] = False
    return planted


@dataclass(frozen=True)
class Contact:
    """A ground contact of a part of a body, from one time to another.

    A list of contacts can be edited: change one with `dataclasses.replace`, remove or add others.

    Args:
        frame: The link or frame in contact.
        start: Start time [s].
        end: End time [s].
    """

    frame: str
    start: float
    end: float

    def __post_init__(self) -> None:
        if not (is_number(self.start) and is_number(self.end)) or not self.start <= self.end < np.inf:
            raise OptionError(f"a contact needs an end later than its start, in seconds; got {self!r}.")


def contacts_of(clip: Clip, feet: str | Sequence[str] | None = None, rules: Thresholds | None = None) -> list[Contact]:
    """Return the ground contacts of feet, in order of time; see `Clip.contacts`."""
    names = ground_and_feet(clip, None, feet)[1]
    found = [
        Contact(name, float(clip.times[first]), float(clip.times[last]))
        for name in names
        for first, last in runs(planted(clip, name, rules or STANDING))
    ]
    return sorted(found, key=lambda contact: (contact.start, names.index(contact.frame)))


Contacts = Thresholds | Sequence[Contact]  # definition of standing: thresholds, or a list of contacts


def mask_of(contacts: Sequence[Contact], frame: str | None, times: FloatArray) -> Mask:
    """Return in which frames a part is in contact; with None, any part."""
    mask = np.zeros(len(times), np.bool_)
    for contact in contacts:
        if frame is None or contact.frame == frame:
            mask |= (times >= contact.start - INSTANT) & (times <= contact.end + INSTANT)
    return mask


def branch(linkage: Linkage, frame: str) -> int:
    """Return the first joint of the chain to a frame after the last branching of the tree."""
    path, _ = linkage.path_to(frame)
    return next((k for k in reversed(path) if len(linkage.children[max(linkage.parents[k], 0)]) > 1), path[0])


def planted(clip: Clip, foot: str, rules: Thresholds = STANDING) -> Mask:
    """Return in which frames a foot is planted: near its lowest height, slow, and long enough."""
    places = clip.forward(frame=foot)[:, :3, 3]
    ground = ground_level(places[:, 2], BELOW_GROUND)
    return find_contacts(places, clip.times, leg=extent(clip), ground=ground, rules=rules)


def slides(clip: Clip, feet: Sequence[str], allowed: float | None) -> list[Finding]:
    """Return planted feet that slide further than allowed."""
    found = []
    most_allowed = SLIDE * extent(clip) if allowed is None else allowed
    for foot in feet:
        places = clip.forward(frame=foot)[:, :2, 3]
        for first, last in runs(planted(clip, foot)):
            away = np.linalg.norm(places[first : last + 1] - np.median(places[first : last + 1], axis=0), axis=1)
            if away.max() > most_allowed:
                text = f"{foot} is planted and slides up to {away.max():.3g} m from its place."
                found.append(Finding("slide", first, last, foot, float(away.max()), "m", text))
    return found


def below(clip: Clip, ground: float, allowed: float | None, feet: Sequence[str] = ()) -> list[Finding]:
    """Return links that are further below the ground than allowed, except links that only hold the body."""
    found, empty = [], holders(clip.linkage, feet)
    depth = DEPTH * extent(clip) if allowed is None else allowed
    heights = clip.forward().array[..., 2, 3]
    for name, height in zip(clip.linkage.frames, heights.T, strict=True):
        under: FloatArray = ground - height
        for first, last in runs(under > depth) if name not in empty else ():
            most = float(under[first : last + 1].max())
            text = f"{name} is up to {most:.3g} m below the ground at {ground:.3g} m."
            found.append(Finding("ground", first, last, name, most, "m", text))
    return found


def holders(linkage: Linkage, feet: Sequence[str]) -> set[str]:
    """Return links without a shape that only hold a body, such as the armature of a glTF file, and links fixed to them.

    They are above the last link that all feet share, and invisible, so their position does not matter.
    """
    paths = [linkage.path_to(foot)[0] for foot in feet]
    common = [links[0] for links in zip(*paths, strict=False) if len(set(links)) == 1]
    if len(common) == max(map(len, paths), default=0):  # with only one foot, the links above it may be the body
        return set()
    held = set(common[:-1])
    for link, parent in enumerate(linkage.parents):
        if parent in held and link not in common and linkage.arcs[link].articulation.nv == 0:
            held.add(link)
    return {name for name in map(linkage.links.__getitem__, held) if not linkage.link(name).visuals}


def ground_and_feet(clip: Clip, ground: Any, feet: Any) -> tuple[float | None, tuple[str, ...]]:
    """Return the ground height and the names of the feet for a report; None and () if there are none.

    By default only a linkage with a moving root has feet, and the ground is at their lowest height.
    """
    if feet is None:
        names = tuple(name for name in clip.linkage.frames if FOOT.search(name)) if root_moves(clip.linkage) else ()
    else:
        names = (feet,) if isinstance(feet, str) else tuple(feet)
        for name in names:
            clip.linkage.frame_index(name)
    if ground is None:
        levels = [ground_level(clip.forward(frame=name)[:, 2, 3], BELOW_GROUND) for name in names]
        return min(levels, default=None), names
    if not is_number(ground) or not np.isfinite(ground):
        raise OptionError(f"the ground is a height in metres, got {ground!r}.")
    return float(ground), names
