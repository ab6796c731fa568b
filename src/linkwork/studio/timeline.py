"""The timeline: keys of poses and of targets' places, each with its interpolation, and the resulting motion.

A timeline is immutable; edits return a new one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..errors import KeyFrameError
from ..goals import Goal
from ..linkage.linkage import Link, Linkage
from ..linkage.poses import as_poses
from ..motion import timeline
from ..motion.clips import KINDS, Clip, sample
from ..motion.keys import check_handles
from ..motion.splines import HANDLES
from ..solvers.closing import close
from ..transforms import FloatArray, read_only
from .targets import Target

FPS = 24.0
LONGEST = 3600.0  # seconds: beyond it, a typing error would fill the memory
EASE = 0.25  # seconds in which a target with keys fades in and out
SAME = 1e-6  # seconds: keys closer than this are the same

# The places of a target are interpolated as poses of a single floating link.
_BODY = Linkage([Link("target")], root="floating")


@dataclass(frozen=True, eq=False)
class SceneKey:
    """A key: a pose, places of targets, or both, at a time.

    Args:
        time: Its time [s].
        pose: The pose of the linkage, or None if the key has only places of targets.
        places: Places of targets, by name, as 4x4 transforms.
        kind: Interpolation after this key: one of `KINDS`.
        handles: For ``"bezier"``, as in `Key`.
    """

    time: float
    pose: FloatArray | None = None
    places: dict[str, FloatArray] = field(default_factory=dict)
    kind: str = "cubic"
    handles: tuple[float, float, float, float] = HANDLES

    def __post_init__(self) -> None:
        check_handles(self.handles)
        if not isinstance(self.time, int | float) or not 0.0 <= self.time <= LONGEST:
            raise KeyFrameError(f"a key's time goes from 0 to {LONGEST:g} s, got {self.time!r}.")
        if self.kind not in KINDS:
            raise KeyFrameError(f"no interpolation {self.kind!r}; there is {', '.join(KINDS)}.")
        if self.pose is None and not self.places:
            raise KeyFrameError(f"the key at {self.time:g} s is empty; give it a pose or the place of a target.")


@dataclass(frozen=True, eq=False)
class SceneTimeline:
    """Keys in order of time.

    Example:
        >>> import linkwork as lw
        >>> arm = lw.models.planar([2, 1])
        >>> line = SceneTimeline().with_key(SceneKey(0, np.zeros(2), kind="linear")).with_key(SceneKey(2, np.ones(2)))
        >>> line.pose_at(arm, 0.5).tolist()
        [0.25, 0.25]
    """

    keys: tuple[SceneKey, ...] = ()
    fps: float = FPS
    loop: bool = True

    @property
    def times(self) -> list[float]:
        """The times of the keys [s]."""
        return [key.time for key in self.keys]

    @property
    def duration(self) -> float:
        """The time of the last key [s]."""
        return self.keys[-1].time if self.keys else 0.0

    def at(self, time: float) -> SceneKey | None:
        """Return the key at a time, if there is one."""
        return next((key for key in self.keys if abs(key.time - time) <= SAME), None)

    # Edits: each returns a new timeline

    def with_key(self, key: SceneKey) -> SceneTimeline:
        """Return a timeline with one more key; a key at its time is replaced."""
        others = [other for other in self.keys if abs(other.time - key.time) > SAME]
        return replace(self, keys=tuple(sorted([*others, key], key=lambda one: one.time)))

    def without(self, time: float) -> SceneTimeline:
        """Return a timeline without the key at a time."""
        return replace(self, keys=tuple(key for key in self.keys if key is not self._key(time)))

    def moved(self, time: float, to: float) -> SceneTimeline:
        """Return a timeline whose key at a time is moved to another."""
        return self.without(time).with_key(replace(self._key(time), time=to))

    def with_way(self, time: float, **way: Any) -> SceneTimeline:
        """Return a timeline whose key at a time has another interpolation: its `kind`, its `handles`."""
        return self.with_key(replace(self._key(time), **way))

    def with_target_named(self, name: str, new: str) -> SceneTimeline:
        """Return a timeline with a target renamed in all keys."""
        keys = tuple(
            replace(key, places={new if other == name else other: place for other, place in key.places.items()})
            for key in self.keys
        )
        return replace(self, keys=keys)

    def _key(self, time: float) -> SceneKey:
        key = self.at(time)
        if key is None:
            listed = ", ".join(f"{one:g}" for one in self.times) or "none"
            raise KeyFrameError(f"there is no key at {time:g} s; keys are at: {listed}.")
        return key

    # The motion

    def wrapped(self, time: float) -> float:
        """Return a time within the motion: wrapped around if it loops, else clamped."""
        if self.loop and self.duration > 0.0:
            return math.fmod(time, self.duration) if time >= 0.0 else 0.0
        return min(max(time, 0.0), self.duration)

    def pose_at(self, linkage: Linkage, time: float) -> FloatArray | None:
        """Return the interpolated pose at a time; None if no key has a pose."""
        keys = [(key.time, key.pose, key) for key in self.keys if key.pose is not None]
        return sampled(linkage, keys, np.array([time]))[0] if keys else None

    def places_at(self, time: float) -> dict[str, FloatArray]:
        """Return the places of the targets with keys at a time, by name."""
        found = {}
        for name in dict.fromkeys(name for key in self.keys for name in key.places):
            keys = [(key.time, _as_pose(key.places[name]), key) for key in self.keys if name in key.places]
            found[name] = _BODY.forward(sampled(_BODY, keys, np.array([time]))[0], frame="target")
        return found

    @property
    def frame_times(self) -> FloatArray:
        """The times of the frames from zero to the last key [s]."""
        count = math.floor(self.duration * self.fps + 1e-9) + 1
        return read_only(np.minimum(np.arange(count) / self.fps, self.duration))

    def bake(
        self,
        linkage: Linkage,
        targets: Sequence[Target],
        *,
        start: FloatArray,
    ) -> Clip:
        """Return the motion as a clip: poses from pose keys, adapted so that targets with keys are reached.

        A target applies from its first key to its last, and fades in and out; if any target has keys, targets with
        fewer than two apply all the time.

        Args:
            linkage: The linkage.
            targets: The targets; inactive ones are ignored.
            start: The pose if no key has one.

        Raises:
            KeyFrameError: If there are no keys.
        """
        if not self.keys:
            raise KeyFrameError("the timeline has no keys; set one first.")
        times = self.frame_times
        keys = [(key.time, key.pose, key) for key in self.keys if key.pose is not None]
        poses = sampled(linkage, keys, times) if keys else np.repeat(start[None], len(times), axis=0)
        body = Clip(linkage, times, np.stack([closed(linkage, pose) for pose in poses]), source="keys")
        aims = [target for target in targets if target.active]
        if not aims or not any(key.places for key in self.keys):
            return body
        return timeline.Timeline(linkage, [self._pin(linkage, aim) for aim in aims], body=body).play()

    def _pin(self, linkage: Linkage, aim: Target) -> timeline.Pin:
        """Return the pin of a target: from its first key to its last, or all the time if it has fewer than two."""
        held = [(key.time, _as_pose(key.places[aim.name]), key) for key in self.keys if aim.name in key.places]
        if len(held) < 2:
            place = aim.place if not held else _BODY.forward(held[0][1], frame="target")
            return timeline.Pin(0.0, self.duration, aim.moved(place).goal(linkage), ease=0.0)

        def goal(time: float) -> Goal:
            place = _BODY.forward(sampled(_BODY, held, np.array([time]))[0], frame="target")
            return aim.moved(place).goal(linkage)

        return timeline.Pin(held[0][0], held[-1][0], goal, ease=EASE)


def sampled(linkage: Linkage, keys: Sequence[tuple[float, FloatArray, SceneKey]], times: FloatArray) -> FloatArray:
    """Return poses (n, nq) at times (n,) from times, poses and keys; each key sets the interpolation after it.

    Example:
        >>> import linkwork as lw
        >>> arm = lw.models.planar([2, 1])
        >>> keys = [SceneKey(0.0, np.zeros(2), kind="step"), SceneKey(1.0, np.ones(2), kind="linear")]
        >>> sampled(arm, [(key.time, key.pose, key) for key in keys], np.array([0.5, 1.0]))[:, 0].tolist()
        [0.0, 1.0]
    """
    at = np.array([time for time, _, _ in keys])
    poses = as_poses(linkage, np.stack([pose for _, pose, _ in keys]))
    kinds, handles = [key.kind for *_, key in keys], np.array([key.handles for *_, key in keys])
    return sample(linkage, at, poses, np.clip(times, at[0], at[-1]), kind=kinds, handles=handles)


def closed(linkage: Linkage, q: FloatArray, keep: Sequence[str] = ()) -> FloatArray:
    """Return the nearest pose in which the loops of a linkage close; the pose itself without loops."""
    return close(linkage, q, keep=keep) if linkage.constrained else q


def _as_pose(place: FloatArray) -> FloatArray:
    return _BODY.pose({"root": place})
