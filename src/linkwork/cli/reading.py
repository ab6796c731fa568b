"""Options for reading files, shared by every command that reads a linkage or a motion."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from ..errors import OptionError, listed
from .commands import flag, takes
from .options import given
from .parsing import read_model, read_motion

if TYPE_CHECKING:
    from ..collision.obstacles import World
    from ..formats import Options
    from ..formats.options import ReadOptions
    from ..goals import Avoid
    from ..linkage.linkage import Linkage
    from ..motion.clips import Clip

UNITS = {"m": 1.0, "dm": 0.1, "cm": 0.01, "mm": 0.001, "in": 0.0254, "ft": 0.3048}


@dataclass(frozen=True)
class FileOptions:
    """Options for reading files. If a motion and its linkage are in two files, see `of_motion` and `of_model`."""

    units: Annotated[
        str | None, takes("UNIT", "Length unit of the file: m, cm, mm, in, ft, or its size in metres.")
    ] = None
    up: Annotated[str | None, takes("AXIS", "Up axis of the file: x, y or z.")] = None
    positions: Annotated[str | None, takes("RULE", "BVH position channels: replace the offset, or add to it.")] = None
    packages: Annotated[
        list[str] | None, takes("NAME=FOLDER", "Folder of package://NAME; may be repeated.", "--package")
    ] = None
    folders: Annotated[
        list[str] | None, takes("FOLDER", "Further folder to read meshes from; may be repeated.", "--folder")
    ] = None
    follower_limits: Annotated[
        bool, flag("--follower-limits", "Tighten limits so that mimic joints stay within theirs.")
    ] = False
    strict: Annotated[bool, flag("--strict", "Refuse a file with any error, instead of skipping that part.")] = False
    srdf: Annotated[str | None, takes("FILE", "SRDF file of a URDF: groups, poses, disabled collisions.")] = None
    joint_limits: Annotated[str | None, takes("FILE", "MoveIt joint_limits.yaml of a URDF.")] = None
    arguments: Annotated[
        list[str] | None, takes("NAME=VALUE", "Argument of a xacro file; may be repeated.", "--argument", "--arg")
    ] = None
    loop_tolerance: Annotated[float | None, takes("GAP", "Largest gap of a closed loop [m, rad].")] = None
    max_values: Annotated[int | None, takes("N", "Largest count of numbers in a BVH motion; 8 million by default.")] = (
        None
    )
    body_model: Annotated[str | None, takes("FILE", "SMPL model (.npz) with bone lengths for an AMASS motion.")] = None

    def read(self) -> Options:
        """Return the options in the form that the readers of files take."""
        from ..formats.options import as_options

        named = _pairs("--package takes NAME=FOLDER", self.packages)
        arguments = _pairs("--argument takes NAME=VALUE", self.arguments, empty=True)
        try:
            units = None if self.units is None else UNITS.get(self.units) or float(self.units)
        except ValueError:
            raise OptionError(f"--units is {listed(list(UNITS))} or a number of metres, got {self.units!r}") from None
        own = given(
            limits="followers" if self.follower_limits else None,
            strict=self.strict,
            loop_tolerance=self.loop_tolerance,
            srdf=self.srdf,
            joint_limits=self.joint_limits,
            max_values=self.max_values,
            body_model=self.body_model,
        )
        more = given(up=self.up, positions=self.positions, units=units) | own
        return as_options({"packages": named, "arguments": arguments, "folders": tuple(self.folders or ()), **more})

    @property
    def of_motion(self) -> FileOptions:
        """The options for a motion whose linkage is read from another file."""
        own = FileOptions(units=self.units, up=self.up, positions=self.positions, max_values=self.max_values)
        return replace(own, strict=self.strict, body_model=self.body_model)

    @property
    def of_model(self) -> FileOptions:
        """The options for a linkage whose motion is read from another file."""
        return replace(self, units=None, up=None, positions=None, max_values=None, body_model=None)

    @property
    def given(self) -> ReadOptions:
        """The options that are given, as keywords of `load`."""
        from ..formats.options import DEFAULTS

        found: Any = {name: value for name, value in vars(self.read()).items() if value != getattr(DEFAULTS, name)}
        options: ReadOptions = found
        return options

    def model(self, text: str) -> Linkage:
        """Return the linkage of a file, or a ready-made one."""
        return read_model(text, self.read())

    def world(self, text: str | None) -> World | None:
        """Return the obstacles of a file, if one is given."""
        from ..formats.worlds import load_world

        options = self.read()
        return None if text is None else load_world(text, packages=options.packages, folders=options.folders)

    def motion(self, text: str, *, clip: str | None = None, linkage: str | None = None, poses: bool = False) -> Clip:
        """Return the motion of a file, or of a ready-made model; see `parsing.read_motion`."""
        if linkage is None:
            return read_motion(text, self.read(), clip=clip, poses=poses)
        return read_motion(text, self.of_motion.read(), clip=clip, linkage=self.of_model.model(linkage), poses=poses)


@dataclass(frozen=True)
class WorldOptions:
    """Obstacles, and the margin to keep."""

    world: Annotated[str | None, takes("FILE", "File of obstacles to keep clear of.", "--world")] = None
    margin: Annotated[str | None, takes("LENGTH", "Least distance to keep: 0.01, or 1cm.")] = None
    alone: Annotated[bool, flag("--no-self", "Ignore collisions of the linkage with itself.")] = False

    def read_world(self, reading: FileOptions) -> World | None:
        """Return the given obstacles."""
        return reading.world(self.world)

    def read_margin(self, usual: float) -> float:
        """Return the margin [m]."""
        return usual if self.margin is None else read_length("--margin", self.margin)

    def avoid(self, reading: FileOptions, *, always: bool = False) -> Avoid | None:
        """Return the goal of keeping clear, if any of these options is given, or always."""
        from ..goals import Avoid

        if self.world is None and self.margin is None and not self.alone and not always:
            return None
        if self.world is None and self.alone:
            raise OptionError("--no-self leaves nothing to keep clear of; give obstacles with --world FILE")
        return Avoid(self.read_world(reading), not self.alone, self.read_margin(Avoid.margin))


def read_length(option: str, text: str) -> float:
    """Return a length in metres from a text such as ``1cm``, ``12mm`` or ``0.01``."""
    unit = next((unit for unit in sorted(UNITS, key=len, reverse=True) if text.endswith(unit)), "")
    try:
        length = float(text.removesuffix(unit)) * UNITS.get(unit, 1.0)
    except ValueError:
        length = math.nan
    if not math.isfinite(length):
        raise OptionError(f"{option} takes a length such as 0.01 or 1cm ({', '.join(UNITS)}), got {text!r}")
    return length


def _pairs(rule: str, words: list[str] | None, *, empty: bool = False) -> dict[str, str]:
    """Return the names and values of words ``NAME=VALUE``."""
    pairs: dict[str, str] = {}
    for word in words or ():
        name, equals, value = word.partition("=")
        if not name or not equals or not (value or empty):
            raise OptionError(f"{rule}, got {word!r}")
        pairs[name] = value
    return pairs
