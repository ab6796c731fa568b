"""Options that several commands share, single or in groups.

A group is a dataclass: a command function takes it as one parameter, and each field is an option or argument.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ..errors import OptionError, listed
from .commands import flag, operand, takes, writes
from .parsing import (
    read_frame,
    read_model,
    read_motion,
    read_new_frame,
    read_orientation,
    read_position,
    read_quantities,
    read_ranges,
    read_setting,
    read_stdin,
    read_values,
)

if TYPE_CHECKING:
    from ..goals import Reach
    from ..linkage.linkage import Linkage
    from ..transforms import FloatArray

ARGUMENTS = (  # options of a solve, not of a method
    "linkage", "goals", "start", "method", "methods", "fps", "frames", "steps", "joints", "weights",
)  # fmt: skip


# Single options and arguments

ModelOperand = Annotated[str, operand("MODEL", "A file, or a ready-made model.")]
MotionOperand = Annotated[str, operand("MOTION", "A motion file, or a ready-made model.")]
AsJson = Annotated[bool, flag("--json", "Print JSON.")]
Quiet = Annotated[bool, flag("--quiet", "Show no progress.")]
FrameName = Annotated[str | None, takes("NAME", "Name of the frame; by default tip, or else the last one.", "--frame")]
MethodName = Annotated[str | None, takes("NAME", "Solver method: damped, ccd, fabrik, ...", "--method")]
ClipName = Annotated[str | None, takes("NAME", "Motion to use, if the file has several.", "--clip")]
MoverName = Annotated[str | None, takes("MODEL", "Linkage that a .csv motion belongs to.", "--linkage")]
PartNames = Annotated[
    str | None, takes("PART,...", "Parts of the body: arms, head, upper_body, left_hand ...", "--parts")
]
JointNames = Annotated[str | None, takes("JOINT,...", "Names of joints.", "--joints")]
FrameCount = Annotated[int | None, takes("N", "Number of frames.", "--frames")]
Seed = Annotated[int, takes("N", "Seed of the random numbers.", "--seed", least=0)]
Picture = Annotated[Path | None, writes("Picture to write: .png, .svg or .pdf.")]
View = Annotated[str | None, takes("VIEW", "front, side, top, or elevation and azimuth: 20,-60.", "--view")]
Size = Annotated[str | None, takes("WxH", "Width and height in pixels: 960x540.", "--size")]
WorldFile = Annotated[str | None, takes("FILE", "File of obstacles to draw as well.", "--world")]
To = Annotated[str, takes("MODEL", "Body or robot to move: a file, or a ready-made model.", "--to")]


# Groups of options


@dataclass(frozen=True)
class PoseOptions:
    """A pose by its values."""

    values: Annotated[list[str] | None, operand("JOINT=VALUE", "Joint values; - reads stdin.")] = None
    stored: Annotated[str | None, takes("NAME", "Start from a stored pose.", "--pose")] = None

    def read(self, linkage: Linkage, usual: str | None = None) -> FloatArray:
        """Return the pose (nq,), or poses (n, nq) if stdin holds a list of them.

        Starts from the stored pose, else from `usual`, else from the neutral one. Values on stdin, if ``-`` is among
        the words, come next, and those on the command line last.
        """
        import numpy as np

        words, stored = self.values or [], self.stored or usual
        base = linkage.neutral() if stored is None else linkage.stored_pose(stored)
        values = read_values([word for word in words if word != "-"], linkage)
        given = read_stdin() if "-" in words else {}
        if not isinstance(given, dict | list):
            raise OptionError("stdin must hold a JSON object of joint values, or a list of poses.")
        items = given if isinstance(given, list) else [given]
        starts = [linkage.pose(item, base=base if isinstance(item, dict) else None) for item in items]
        poses = np.array([linkage.pose(values, base=start) for start in starts]).reshape(-1, linkage.nq)
        return poses if isinstance(given, list) else poses[0]


@dataclass(frozen=True)
class GoalOptions:
    """One goal: a frame, with its position and orientation."""

    frame: FrameName = None
    position: Annotated[str | None, takes("X,Y[,Z]", "Target position [m].")] = None
    orientation: Annotated[str | None, takes("FORM=...", "Target orientation: euler=xyz:0,0,90deg.")] = None
    position_range: Annotated[str | None, takes("X,Y,Z", "Allowed offset along each axis [m]: 0.01,0,0.")] = None
    rotation_range: Annotated[str | None, takes("X,Y,Z", "Allowed rotation about each axis: 0,0,30deg.")] = None
    range_axes: Annotated[str | None, takes("AXES", "Axes of both ranges: goal (default) or world.")] = None

    @property
    def given(self) -> bool:
        """Whether a goal is given."""
        return self.position is not None or self.orientation is not None

    def read(self, linkage: Linkage) -> Reach:
        """Return the goal."""
        from ..goals import Reach

        if not self.given:
            raise OptionError("there is no goal; give --position, --orientation or both, such as --position 1,2")
        place = None if self.position is None else read_position(self.position)
        turn = None if self.orientation is None else read_orientation(self.orientation)
        room = given(
            position_range=read_ranges("--position-range", self.position_range, "m"),
            rotation_range=read_ranges("--rotation-range", self.rotation_range, "rad"),
            range_axes=self.range_axes,
        )
        return Reach(read_frame(linkage, self.frame), position=place, orientation=turn, **room)


@dataclass(frozen=True)
class ToleranceOptions:
    """Start pose, tolerances of a reached goal, and joints that may move."""

    start: Annotated[list[str] | None, takes("POSE", "Start pose: its stored name, all values, or JOINT=VALUE.")] = None
    tolerance: Annotated[float | None, takes("M", "Largest position error of a reached goal [m].")] = None
    rotation_tolerance: Annotated[float | None, takes("RAD", "Largest rotation error of a reached goal [rad].")] = None
    joints: Annotated[str | None, takes("NAMES", "Joints that may move: J1,J2,... or a group's name.")] = None

    def read_start(self, linkage: Linkage) -> FloatArray | None:
        """Return the start pose, if one is given: a name or all values in order, then ``JOINT=VALUE``."""
        if not self.start:
            return None
        whole = [word for word in self.start if "=" not in word]
        if len(whole) > 1:
            raise OptionError(f"--start takes one pose, got {listed(whole)}")
        base: Any = whole[0] if whole else None
        if whole and base not in linkage.poses and base[:1] in "+-.0123456789":
            base = read_quantities(base, linkage.table.units, f"--start {base}")
        return linkage.pose(read_values([word for word in self.start if "=" in word], linkage), base=base)

    def read(self) -> dict[str, Any]:
        """Return the tolerances and joints that are given, by their names in `solve`."""
        names = None if self.joints is None else [name for name in self.joints.split(",") if name]
        return given(tolerance=self.tolerance, rotation_tolerance=self.rotation_tolerance, joints=names)


@dataclass(frozen=True)
class SolverOptions(ToleranceOptions):
    """Options of every method, and those of a single method."""

    weights: Annotated[list[str] | None, takes("JOINT=W", "Cost of moving a joint; may be repeated.", "--weight")] = (
        None
    )
    max_iterations: Annotated[int | None, takes("N", "Largest number of iterations.")] = None
    limits: Annotated[str | None, takes("RULE", "Joint limits: clamp, project or ignore.")] = None
    settings: Annotated[list[str] | None, takes("NAME=VALUE", "An option of the method; may be repeated.", "--set")] = (
        None
    )

    def read(self) -> dict[str, Any]:
        """Return the given options of `solve`, and those of the method, such as ``damping=5``."""
        settings = super().read() | given(max_iterations=self.max_iterations, limits=self.limits)
        if self.weights:
            settings["weights"] = read_values(self.weights)
        for word in self.settings or ():
            name, _, text = word.partition("=")
            name = name.replace("-", "_")
            if not name or not text:
                raise OptionError(f"--set takes NAME=VALUE, such as damping=5, got {word!r}")
            if name in ARGUMENTS:
                raise OptionError(f"--set is for options of a method, and {name!r} is not one, got {word!r}")
            if name in settings:
                raise OptionError(f"option {name!r} is given twice, the second time as {word!r}")
            settings[name] = read_setting(text)
        return settings


@dataclass(frozen=True)
class EditOptions:
    """Additions to a linkage: first frames, then other linkages attached to frames."""

    frames: Annotated[
        list[str] | None,
        takes("NAME=LINK:X,Y,Z[:FORM]", "Add a frame at a position in a link; may be repeated.", "--add-frame"),
    ] = None
    parts: Annotated[
        list[str] | None, takes("FRAME=MODEL", "Attach another linkage to a frame; may be repeated.", "--attach")
    ] = None
    prefixes: Annotated[
        list[str] | None, takes("TEXT", "Prefix for the names of each --attach, in order.", "--prefix")
    ] = None

    def edit(self, linkage: Linkage) -> Linkage:
        """Return the linkage with the additions."""
        for word in self.frames or ():
            linkage = linkage.add_frame(*read_new_frame(word))
        parts, prefixes = self.parts or [], self.prefixes or []
        if len(prefixes) > len(parts):
            raise OptionError(f"there are more --prefix than --attach, got {listed(prefixes)}")
        for word, prefix in zip_longest(parts, prefixes, fillvalue=""):
            frame, equals, model = word.partition("=")
            if not frame or not equals or not model:
                raise OptionError(f"--attach takes FRAME=MODEL, such as flange=gripper.urdf, got {word!r}")
            linkage = linkage.attach(read_model(model), frame, prefix=prefix)
        return linkage


@dataclass(frozen=True)
class RetargetOptions:
    """Options of retargeting."""

    map_file: Annotated[Path | None, takes("FILE", "Joint map to use, as --write-map writes it.", "--map")] = None
    role: Annotated[str | None, takes("ROLE", "Body part a robot arm follows; right_hand by default.")] = None
    smooth: Annotated[float | None, takes("SECONDS", "Time to smooth over; 0 turns smoothing off.")] = None
    keep_first: Annotated[bool, flag("--keep-first", "Keep a first frame that is a separate rest pose.")] = False
    rest: Annotated[
        str | None, takes("POSE", "Reference pose of the source: a frame, t-pose, a-pose, rest or stored.")
    ] = None
    target_rest: Annotated[str | None, takes("POSE", "Reference pose of the target.")] = None
    parts: PartNames = None
    over: Annotated[str | None, takes("MOTION", "Base motion of the target, for all but --parts.")] = None
    contacts: Annotated[Path | None, takes("FILE", "Foot contacts, as --write-contacts writes them.")] = None
    in_place: Annotated[bool, flag("--in-place", "Keep the body above its starting point.")] = False

    def read(self) -> dict[str, Any]:
        """Return the given options of `retarget`."""
        from ..retargeting.contact_files import read_contacts

        rests = [int(text) if text is not None and text.isdecimal() else text for text in (self.rest, self.target_rest)]
        return given(
            map=self.map_file,
            role=self.role,
            smooth=self.smooth,
            first="keep" if self.keep_first else None,
            rest=rests[0],
            target_rest=rests[1],
            parts=split_words(self.parts),
            over=None if self.over is None else read_motion(self.over),
            contacts=None if self.contacts is None else read_contacts(self.contacts),
            in_place=self.in_place or None,
        )


@dataclass(frozen=True)
class SaveOptions:
    """Options for writing a motion."""

    into: Annotated[
        Path | None, takes("FILE", "File with a mesh to write the motion into; by default the body's own.")
    ] = None
    bare: Annotated[bool, flag("--bare", "Write the skeleton only, without the mesh of its file.")] = False
    layout: Annotated[
        str | None,
        takes(
            "NAME",
            "Layout of a .npz or .csv for reinforcement learning: mjlab or beyondmimic; of a .bvh: blender.",
            "--layout",
        ),
    ] = None
    fps: Annotated[float | None, takes("RATE", "Resample the motion at this many frames per second.", "--fps")] = None

    def read(self) -> dict[str, Any]:
        """Return the options of `formats.write`."""
        return given(into=self.into, bare=self.bare, layout=self.layout, fps=self.fps)


@dataclass(frozen=True)
class RunOptions:
    """Options of a long run."""

    workers: Annotated[int | None, takes("N", "Threads, or Ray workers; by default one per core.", least=1)] = None
    address: Annotated[str | None, takes("ADDRESS", "Ray cluster: auto or host:port; by default a local one.")] = None
    resume: Annotated[bool, flag("--resume", "Continue an interrupted run.")] = False


def split_words(text: str | None) -> list[str] | None:
    """Return the words of a text between commas."""
    return None if text is None else [word.strip() for word in text.split(",") if word.strip()]


def given(**options: Any) -> dict[str, Any]:
    """Return the options that are not None; the library has defaults for the others."""
    return {name: value for name, value in options.items() if value is not None}
