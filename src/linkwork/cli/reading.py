"""How files are read: one group of options for every command that reads a linkage or a motion."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from ..errors import OptionError, listed
from .commands import flag, takes
from .options import given
from .parsing import read_model, read_motion

if TYPE_CHECKING:
    from ..formats import Options
    from ..formats.options import ReadOptions
    from ..linkage.linkage import Linkage
    from ..motion.clips import Clip

UNITS = {"m": 1.0, "dm": 0.1, "cm": 0.01, "mm": 0.001, "in": 0.0254, "ft": 0.3048}


@dataclass(frozen=True)
class FileOptions:
    """How files are read. Of a motion and its linkage in two files, the first three and last two are the motion's."""

    units: Annotated[str | None, takes("UNIT", "Unit of the file: m, cm, mm, in, ft, or how many metres.")] = None
    up: Annotated[str | None, takes("AXIS", "Which axis of the file points up: x, y or z.")] = None
    positions: Annotated[str | None, takes("RULE", "BVH positions replace the offset, or add to it.")] = None
    packages: Annotated[
        list[str] | None, takes("NAME=FOLDER", "Where package://NAME is; may be repeated.", "--package")
    ] = None
    folders: Annotated[list[str] | None, takes("FOLDER", "Meshes may be there; may be repeated.", "--folder")] = None
    follower_limits: Annotated[
        bool, flag("--follower-limits", "Hold joints so that those that follow them keep their limits too.")
    ] = False
    strict: Annotated[bool, flag("--strict", "Refuse a file for anything wrong in it.")] = False
    srdf: Annotated[str | None, takes("FILE", "SRDF of a URDF file: groups, poses, pairs of links.")] = None
    joint_limits: Annotated[str | None, takes("FILE", "MoveIt's joint_limits.yaml of a URDF file.")] = None
    arguments: Annotated[
        list[str] | None, takes("NAME=VALUE", "An argument of a xacro file; may be repeated.", "--argument", "--arg")
    ] = None
    loop_tolerance: Annotated[float | None, takes("GAP", "Gap of a loop that counts as closed [m, rad].")] = None
    max_values: Annotated[int | None, takes("N", "The most numbers of a BVH motion: 8 million by default.")] = None
    body_model: Annotated[str | None, takes("FILE", "Model of SMPL (.npz) for the bones of an AMASS motion.")] = None

    def read(self) -> Options:
        """Return the options as the readers of files take them."""
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
        """Those for a motion whose linkage is read from another file."""
        own = FileOptions(units=self.units, up=self.up, positions=self.positions, max_values=self.max_values)
        return replace(own, strict=self.strict, body_model=self.body_model)

    @property
    def of_model(self) -> FileOptions:
        """Those for a linkage whose motion is read from another file."""
        return replace(self, units=None, up=None, positions=None, max_values=None, body_model=None)

    @property
    def given(self) -> ReadOptions:
        """Those that are given, as keywords of `load`."""
        from ..formats.options import DEFAULTS

        found: Any = {name: value for name, value in vars(self.read()).items() if value != getattr(DEFAULTS, name)}
        options: ReadOptions = found
        return options

    def model(self, text: str) -> Linkage:
        """Return the linkage of a file, or a ready-made one."""
        return read_model(text, self.read())

    def motion(self, text: str, *, clip: str | None = None, linkage: str | None = None, poses: bool = False) -> Clip:
        """Return the motion of a file, or of a ready-made model; see `parsing.read_motion`."""
        if linkage is None:
            return read_motion(text, self.read(), clip=clip, poses=poses)
        return read_motion(text, self.of_motion.read(), clip=clip, linkage=self.of_model.model(linkage), poses=poses)


def _pairs(rule: str, words: list[str] | None, *, empty: bool = False) -> dict[str, str]:
    """Return the names and values of words ``NAME=VALUE``."""
    pairs: dict[str, str] = {}
    for word in words or ():
        name, equals, value = word.partition("=")
        if not name or not equals or not (value or empty):
            raise OptionError(f"{rule}, got {word!r}")
        pairs[name] = value
    return pairs
