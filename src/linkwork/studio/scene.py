"""A scene: one linkage with its pose, goals, clips and surroundings. It is immutable; edits return a new one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np

from ..draw.holds import begin, limb_ends, standing
from ..errors import OptionError, listed
from ..linkage.linkage import Linkage
from ..motion.clips import Clip
from ..transforms import FloatArray, read_only
from .surroundings import Surroundings, usual_margin
from .targets import Target, new_target
from .timeline import SceneKey, SceneTimeline

FIRST = "motion"  # name of the first clip
LONGEST_NAME = 60
MOST_CLIPS = 64
LARGEST = 1e9  # m


@dataclass(frozen=True, eq=False)
class Scene:
    """Everything that is undone, redone and saved.

    Args:
        linkage: The linkage.
        q: Its pose.
        targets: Its targets.
        method: The solver method.
        clips: Its motions by name.
        clip: Name of the current clip.
        time: Current time in this clip [s].
        around: Obstacles and margins.
        poses: Poses that were stored in the studio, in addition to those of the linkage.
    """

    linkage: Linkage
    q: FloatArray
    targets: tuple[Target, ...] = ()
    method: str = "robust"
    clips: Mapping[str, SceneTimeline] = field(default_factory=lambda: MappingProxyType({FIRST: SceneTimeline()}))
    clip: str = FIRST
    time: float = 0.0
    around: Surroundings = field(default_factory=Surroundings)
    poses: Mapping[str, FloatArray] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def whole(self) -> Linkage:
        """The linkage with all stored poses, for files."""
        return self.linkage.replace(poses={**self.linkage.poses, **self.poses}) if self.poses else self.linkage

    @property
    def timeline(self) -> SceneTimeline:
        """The timeline of the current clip."""
        return self.clips[self.clip]

    def with_timeline(self, line: SceneTimeline) -> Scene:
        """Return the scene with the current clip changed."""
        return replace(self, clips=MappingProxyType({**self.clips, self.clip: line}))

    def with_clip(self, name: str, line: SceneTimeline) -> Scene:
        """Return the scene with one more clip, which becomes the current one."""
        checked_name(name, self.clips, "a clip")
        if len(self.clips) >= MOST_CLIPS:
            raise OptionError(f"a scene has at most {MOST_CLIPS} clips.")
        return replace(self, clips=MappingProxyType({**self.clips, name: line}), clip=name, time=0.0)

    def without_clip(self, name: str) -> Scene:
        """Return the scene without a clip; the last one is emptied."""
        left = {other: line for other, line in self.clips.items() if other != name}
        left = left or {FIRST: SceneTimeline()}
        clip = self.clip if self.clip in left else next(iter(left))
        return replace(self, clips=MappingProxyType(left), clip=clip, time=0.0 if clip != self.clip else self.time)

    def with_clip_named(self, name: str, new: str) -> Scene:
        """Return the scene with a clip under another name."""
        if name == new:
            return self
        checked_name(new, self.clips, "a clip")
        clips = {new if other == name else other: line for other, line in self.clips.items()}
        return replace(self, clips=MappingProxyType(clips), clip=new if self.clip == name else self.clip)


def checked_name(name: str, taken: Mapping[str, object] | tuple[str, ...], what: str) -> str:
    """Return a name given by the user, or raise if it is invalid or taken."""
    if not name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
        raise OptionError(f"the name of {what} has 1 to {LONGEST_NAME} characters, got {name!r}.")
    if name in taken:
        raise OptionError(f"{name!r} exists already; there are {listed(list(taken))}.")
    return name


def first_scene(linkage: Linkage, clips: Mapping[str, Clip] | None = None) -> Scene:
    """Return the first scene: a goal at the end of the longest limb, pins on standing feet, and the linkage's motions.

    A linkage with motions gets no pins, because they would hold its feet at their first places. Goals are on frames
    that can move.
    """
    check_size(linkage)
    q = begun_pose(linkage) if not clips else next(iter(clips.values())).poses[0]
    lines = {name: timeline_of(clip) for name, clip in (clips or {}).items()} or {FIRST: SceneTimeline()}
    around = Surroundings(margin=usual_margin(linkage, np.asarray(q)))
    scene = Scene(linkage, read_only(np.array(q)), clips=MappingProxyType(lines), clip=next(iter(lines)), around=around)
    found = first_targets(linkage, scene.q)
    return replace(scene, targets=tuple(target for target in found if not clips or target.kind == "reach"))


def check_size(linkage: Linkage) -> None:
    """Raise if a linkage is larger than a page can show: its units or its numbers are wrong."""
    places = linkage.forward(linkage.neutral()).array[:, :3, 3]
    largest = float(np.abs(places).max(initial=0.0))
    if not largest <= LARGEST:
        raise OptionError(f"{linkage.name!r} extends {largest:.3g} m; the limit is {LARGEST:.0e} m. Check its units.")


def first_targets(linkage: Linkage, q: FloatArray) -> tuple[Target, ...]:
    """Return the first goals: reach with the end of the longest limb that moves, and hold the feet."""
    ends = limb_ends(linkage)
    feet = standing(linkage, q, ends)
    hands = [frame for frame in ends if frame not in feet] or ends
    found: list[Target] = []
    for kind, frames in (("reach", hands[:1]), ("pin", [frame for frame in feet if frame not in hands[:1]])):
        for frame in frames:
            found.append(new_target(linkage, q, kind, frame, tuple(target.name for target in found)))
    return tuple(found)


def begun_pose(linkage: Linkage) -> FloatArray:
    """Return the start pose: a stored one, ready or home first; else zero, with a single arm bent."""
    return begin(linkage, limb_ends(linkage))


def timeline_of(clip: Clip) -> SceneTimeline:
    """Return a timeline with a key for each frame of a motion, so that it plays like the clip."""
    times = clip.times - clip.times[0]
    poses = [read_only(np.array(q)) for q in clip.poses]  # copies: one key must not keep the whole clip in memory
    keys = tuple(SceneKey(float(time), q, kind="linear") for time, q in zip(times, poses, strict=True))
    return SceneTimeline(keys, fps=float(np.clip(clip.fps, 1.0, 1000.0)) if len(times) > 1 else SceneTimeline().fps)
