"""Clips: poses of one linkage over time, and clips interpolated from key frames.

The methods of `Clip` call modules of their own. Those make a new clip from the one they are given with
`dataclasses.replace`, so they do not import this module.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from ..errors import KeyFrameError, PoseShapeError, Remark
from ..linkage import poses
from ..linkage.linkage import Linkage, check_linkage
from ..linkage.showing import Shown
from ..transforms import FloatArray, as_array, read_only
from . import blending, checks, contacts, derivatives, mirrors, root_motion, timing
from .frame_files import block_of, is_in_file
from .keys import Key, play_keys
from .splines import KINDS, sample

if TYPE_CHECKING:
    from .checks import Finding
    from .contacts import Contact, Thresholds
    from .inspection import InspectOptions, Report

__all__ = ["KINDS", "Clip", "interpolate", "sample"]

BLOCK = 8192  # frames of a motion in a file that are processed together
STILL_FPS = 24.0  # frame rate of a clip with a single frame


class SaveOptions(TypedDict, total=False):
    """Options for writing a motion to a file.

    Attributes:
        into: The file with a mesh to write the motion into; by default the file of its linkage.
        bare: Write only a skeleton, without the other contents of the linkage's file.
        layout: Layout of a ``.npz`` or ``.csv`` file for training whole-body controllers, ``"mjlab"`` or
            ``"beyondmimic"``; or of a ``.bvh`` file with three rotations for every rotating joint, ``"blender"``.
        fps: Resample the motion at this number of frames per second.
        roles: Links by body part, for a VRM animation (``.vrma``) of a body that was not read from a VRM file;
            `linkwork.retargeting.recognise` finds them.
    """

    into: str | os.PathLike[str] | None
    bare: bool
    layout: Literal["mjlab", "beyondmimic", "blender"] | None
    fps: float | None
    roles: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class Clip(Shown):
    """A motion: poses of one linkage at increasing times.

    Args:
        linkage: The linkage that moves.
        times: Times [s], shape (n,).
        poses: One pose for each time, shape (n, nq).
        residuals: Errors of each frame's goals, if the clip is the result of a solve, shape (n, blocks).
        name: Name of the motion, for files with several.
        source: Its origin: a file, or the call that made it.
    """

    linkage: Linkage
    times: FloatArray
    poses: FloatArray
    residuals: FloatArray | Any = None  # set only for solved clips; typed loosely to avoid checks at every use
    name: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        times, values = as_array(self.times, "times of a clip"), self._checked()
        if times.ndim != 1 or len(times) == 0 or not np.isfinite(times).all() or (np.diff(times) <= 0.0).any():
            raise KeyFrameError("a clip needs at least one time, and increasing times.")
        if values.shape != (len(times), self.linkage.nq):
            raise PoseShapeError(self.linkage.nq, values.shape, self.linkage.name, what=f"clip of {len(times)} poses")
        for name in ("name", "source"):
            if not isinstance(getattr(self, name), str):
                raise KeyFrameError(f"the {name} of a clip is a string, got {getattr(self, name)!r}.")
        object.__setattr__(self, "times", read_only(times))
        object.__setattr__(self, "poses", read_only(values))

    def _checked(self) -> FloatArray:
        """Return the poses as an array of the clip's own; poses stored in a file stay there."""
        if not is_in_file(self.poses):
            return poses.as_poses(self.linkage, self.poses)
        for begin in range(0, len(self.poses), BLOCK):
            poses.as_poses(self.linkage, block_of(self.poses, slice(begin, begin + BLOCK)))
        return self.poses

    def __reduce__(self) -> tuple[Any, ...]:
        values = (getattr(self, field.name) for field in fields(self))
        return type(self), tuple(values)  # the constructor makes arrays read-only again after unpickling

    def __len__(self) -> int:
        return len(self.times)

    def __repr__(self) -> str:
        return f"<Clip of {self.linkage.name!r}: {len(self)} frames, {self.duration:.3g} s>"

    # Properties

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints that move."""
        return self.linkage.joints

    @property
    def duration(self) -> float:
        """Time from the first frame to the last [s]."""
        return float(self.times[-1] - self.times[0])

    @property
    def fps(self) -> float:
        """Frames per second, averaged over the clip; 24 for a clip of one frame."""
        return (len(self) - 1) / self.duration if len(self) > 1 else STILL_FPS

    def forward(self, *, frame: str | None = None) -> Any:
        """Return the transforms of frames over the whole clip: `Linkage.forward` with a leading time axis."""
        return self.linkage.forward(self.poses) if frame is None else self.linkage.forward(self.poses, frame=frame)

    @property
    def velocities(self) -> FloatArray:
        """Velocities (n, nv) at every frame [rad/s, m/s]; those of ball and floating joints in the child's axes."""
        return derivatives.derivative(self, 1)

    @property
    def accelerations(self) -> FloatArray:
        """Accelerations (n, nv) at every frame [rad/s², m/s²]."""
        return derivatives.derivative(self, 2)

    @property
    def jerk(self) -> FloatArray:
        """Derivatives of the accelerations (n, nv) at every frame [rad/s³, m/s³]."""
        return derivatives.derivative(self, 3)

    @property
    def jumps(self) -> tuple[Finding, ...]:
        """Frames at which a joint turns by more than 0.5 rad, or slides by more than 0.5 m, since the frame before."""
        return tuple(checks.leaps(self))

    # Cutting and retiming

    def at(self, times: ArrayLike, *, kind: str = "linear") -> FloatArray:
        """Return the poses (..., nq) at times within the clip.

        Args:
            times: Times [s], shape (...).
            kind: Interpolation between frames, as in `lw.interpolate`.

        Raises:
            KeyFrameError: If a time is before the first frame or after the last.
        """
        return blending.at(self, times, kind)

    def slice(self, start: float | None, end: float | None) -> Clip:
        """Return the frames between two times [s], both included; None means the start or the end of the clip."""
        return blending.cut(self, start, end)

    def __getitem__(self, span: Any) -> Clip:
        if not isinstance(span, slice) or span.step is not None:
            raise KeyFrameError(
                f"a clip is cut by seconds, as in clip[0.5:2.0], got {span!r}; clip.poses[k] is the pose of a frame, "
                "and clip.resample(fps=...) changes their number."
            )
        return self.slice(span.start, span.stop)

    def resample(self, *, fps: float | None = None, times: ArrayLike | None = None, kind: str = "catmull-rom") -> Clip:
        """Return the motion resampled at even or given times. Joint limits are kept.

        Args:
            fps: Frames per second; give this or `times`.
            times: Increasing times [s], shape (n,).
            kind: Interpolation between frames, as in `lw.interpolate`.
        """
        return blending.resample(self, fps, times, kind)

    def reverse(self) -> Clip:
        """Return the motion backwards, at the same times."""
        return blending.reverse(self)

    def retime(
        self,
        *,
        velocity: timing.Limits = None,
        acceleration: timing.Limits = None,
        fps: float | None = None,
        speed: float | None = None,
        duration: float | None = None,
        start: float | None = None,
    ) -> Clip:
        """Return the same motion at other times: as fast as limits allow, or by a factor.

        With limits, or without any argument, it follows the same path as fast as they allow, from rest to rest:
        time-optimal path parametrisation on the cubic spline through the poses. Pauses are removed. With `speed`,
        `duration` or `start` alone, the present timing is scaled or shifted.

        Args:
            velocity: Velocity limits [rad/s, m/s]: one number, one for each of nv, or by joint; by default those of the
                linkage.
            acceleration: Acceleration limits [rad/s², m/s²], likewise.
            fps: Resample the path at this number of frames per second; the last frame is up to one frame late. By
                default the poses are kept, each at its new time.
            speed: Factor on the present speed; with limits, a fraction of the fastest speed, from 0 to 1.
            duration: New duration [s]; with limits, at least the shortest that they allow.
            start: New start time [s].

        Example:
            >>> import linkwork as lw
            >>> clip = lw.Clip(lw.models.planar([1]), [0, 1, 2], [[0], [1], [2]])
            >>> round(clip.retime(velocity=1, acceleration=2).duration, 3)
            2.5
        """
        limited = not (velocity is None and acceleration is None and fps is None)
        if limited or (speed is None and duration is None and start is None):
            return timing.fastest(self, velocity, acceleration, fps=fps, speed=speed, duration=duration, start=start)
        return blending.retime(self, speed, duration, start)

    # Combining

    def concatenate(self, *others: Clip, fade: float = 0.0, align: bool = False, feet: bool = True) -> Clip:
        """Return this motion followed by others.

        Args:
            *others: Clips of the same linkage.
            fade: Duration of the cross-fade from one clip to the next [s]. With 0, the next clip begins one frame
                after the end of the one before.
            align: Move the root of each clip to where the one before ends, heading included.
            feet: Keep planted feet in place during transitions, if the root is floating.
        """
        return blending.concatenate((self, *(self._same_linkage(other) for other in others)), fade, align, feet)

    def blend(
        self,
        other: Clip,
        weight: float | ArrayLike | Callable[[FloatArray], ArrayLike],
        *,
        stretch: bool = False,
        feet: bool = True,
    ) -> Clip:
        """Return a blend of this motion and another, at the times of this one.

        Args:
            other: A clip of the same linkage.
            weight: Share of the other clip: a number from 0 to 1, one for each frame, or a function of the time since
                the start [s].
            stretch: Play the other clip slower or faster so that both have the same duration.
            feet: Synchronise the steps of the other clip with this one, and keep planted feet in place; for clips with
                a floating root and footsteps.
        """
        return blending.blend(self, self._same_linkage(other), weight, stretch, feet)

    def contacts(self, *, feet: str | Sequence[str] | None = None, rules: Thresholds | None = None) -> list[Contact]:
        """Return the ground contacts of feet, in order of time.

        The list can be edited and given to `plant` and `lw.retarget`.

        Args:
            feet: Names of frames; by default those of a body with a free root that are called feet, toes or ankles.
            rules: Thresholds of height and speed for a contact, relative to the size of the body.

        Example:
            >>> import linkwork as lw
            >>> lw.models.motion("human").contacts(feet="left_toe")[0]
            Contact(frame='left_toe', start=0.0, end=3.25)
        """
        return contacts.contacts_of(self, feet, rules)

    def plant(self, contacts: Sequence[Contact] | None = None, *, ease: float = 0.15) -> Clip:
        """Return the motion with planted feet kept in place; the legs are adjusted and the trunk hardly moves.

        Args:
            contacts: The contacts to keep; detected by default.
            ease: Time in which a foot moves to its contact position and back to its path [s].
        """
        from . import footing  # loads the solvers

        return footing.plant(self, contacts, ease)

    def _same_linkage(self, other: Any) -> Clip:
        if not isinstance(other, Clip):
            name = type(other).__name__
            raise KeyFrameError(f"expected a Clip, got {name}; lw.Clip(linkage, times, poses) makes one.")
        blending.check_same(self.linkage, other.linkage)
        return other

    def loop(self, *, fade: float, cycles: int = 1, travel: bool = True) -> Clip:
        """Return a seamlessly repeating motion: its end is blended into its beginning.

        Args:
            fade: Duration of that blend [s]; the cycle is this much shorter than the clip.
            cycles: Number of repetitions.
            travel: Let each cycle of a floating root continue where the one before ends; False returns it to the start.
        """
        return blending.loop(self, fade, cycles, travel)

    # Moving

    def offset(self, *, position: ArrayLike = (0.0, 0.0, 0.0), turn: float | str = 0.0) -> Clip:
        """Return the motion with the path of its floating root rotated about the vertical, then translated.

        Args:
            position: Displacement [m], (x, y) or (x, y, z).
            turn: Angle about the world's z axis [rad], or a text such as ``"90deg"``.
        """
        return root_motion.offset(self, position, turn)

    def in_place(self, *, sway: bool = False) -> Clip:
        """Return the motion in place: the root stays above its starting point. Height and heading are kept.

        Args:
            sway: Remove only the path of the root averaged over one second, and keep the sway about it.
        """
        return root_motion.in_place(self, sway)

    def mirror(
        self,
        *,
        pairs: Mapping[str, str] | None = None,
        normal: str | ArrayLike | None = None,
        point: ArrayLike = (0.0, 0.0, 0.0),
    ) -> Clip:
        """Return the mirror image of the motion, with left and right exchanged.

        Args:
            pairs: Joints to exchange, by name. By default they are found by name (left and right) and checked against
                the geometry; `mirrors.symmetry(linkage)` returns what was found.
            normal: Normal of the mirror plane, an axis or three numbers; by default from right to left.
            point: A point of the mirror plane [m].
        """
        return mirrors.mirror(self, pairs, normal, point)

    # Inspecting and saving

    def report(self, **options: Unpack[InspectOptions]) -> Report:
        """Return the faults of the motion: flips, spikes, limits, sliding feet and more; see `lw.inspect`."""
        from .inspection import inspect  # loads the solvers

        return inspect(self, **options)

    def named(self, name: str, *, source: str | None = None) -> Clip:
        """Return the clip under a name and, if given, another source."""
        return replace(self, name=name, source=self.source if source is None else source)

    def save(self, path: str | os.PathLike[str], **options: Unpack[SaveOptions]) -> tuple[Remark, ...]:
        """Write the motion to a file in the format of its suffix; see `linkwork.save`.

        Args:
            path: The file.
            **options: Options of the format; see `SaveOptions`.

        Returns:
            Remarks on what the format cannot store; they are also logged as warnings.
        """
        from .. import formats  # the only import of a later package

        return formats.save(self, path, **options)


def interpolate(
    linkage: Linkage,
    keys: Sequence[Key | tuple[float, Any]],
    *,
    fps: float = 24.0,
    kind: str = "cubic",
    wrap: bool = True,
) -> Clip:
    """Return the motion through key poses, at even times from the first key to the last.

    Args:
        linkage: The linkage.
        keys: (time, pose) pairs with increasing times [s], or `Key` objects with their own kind; a pose may be the name
            of a stored one.
        fps: Frames per second. The last frame is on the last key or less than one frame before it.
        kind: ``"linear"``; ``"ease"`` (slow out of and into every key), ``"ease-in"`` (slow out of it), ``"ease-out"``
            (slow into the next); ``"cubic"`` (a spline with continuous acceleration); ``"catmull-rom"`` (continuous
            velocity, each stretch shaped by its four nearest keys); ``"tcb"`` (the same, with tension, continuity and
            bias at each key); ``"squad"`` (the same velocities, rotations by spherical quadrangles); ``"bezier"``
            (straight, with timing by the handles of each key); ``"step"``. Splines may swing a little beyond their
            keys, and so beyond limits: `Linkage.clamp` brings them back.
        wrap: Let unlimited angles take the shorter rotation between keys; False keeps whole turns.

    Example:
        >>> import linkwork as lw
        >>> arm = lw.models.planar([2, 1])
        >>> lw.interpolate(arm, [(0, [0, 0]), (1, [1, 2])], fps=2, kind="linear").poses.tolist()
        [[0.0, 0.0], [0.5, 1.0], [1.0, 2.0]]
    """
    check_linkage(linkage)
    times, values = play_keys(linkage, keys, fps=fps, kind=kind, wrap=wrap)
    return Clip(linkage, times, values, source="keys")
