"""Options for reading files.

The `read` of every format takes all of them and uses those that apply to it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, TypedDict

import numpy as np

from ..errors import OptionError, listed
from ..transforms import FloatArray, as_number, is_whole

FilePath = str | os.PathLike[str]
# world_from_file: the rotation that takes the file's up axis to z.
UP: dict[str, FloatArray] = {
    "x": np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]),
    "y": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]),
    "z": np.eye(3),
}
POSITIONS = ("replace", "add")
LIMITS = ("own", "followers")


class ReadOptions(TypedDict, total=False):
    """The same options as keyword arguments; `Options` describes them."""

    packages: Mapping[str, FilePath]
    folders: FilePath | Sequence[FilePath]
    units: float | None
    up: Literal["x", "y", "z"] | None
    positions: Literal["replace", "add"] | None
    limits: Literal["own", "followers"]
    strict: bool
    loop_tolerance: float | None
    arguments: Mapping[str, str]
    srdf: FilePath | None
    joint_limits: FilePath | None
    max_values: int | None
    body_model: FilePath | None
    within: FilePath | None


@dataclass(frozen=True)
class Options:
    """Options for reading a file.

    Args:
        packages: Folders of packages by name, for ``package://name/...``.
        folders: Further folders that meshes may be read from; by default only the folder of the model.
        units: Metres per unit of the file; by default taken from the file, or guessed with a remark.
        up: The up axis of the file, ``"x"``, ``"y"`` or ``"z"``; by default taken from the file, or guessed.
        positions: Whether the position channels of a BVH file ``"replace"`` the offset of their joint or ``"add"`` to
            it; by default the choice that keeps the bone lengths of the file.
        limits: Whether a joint with mimic joints keeps its ``"own"`` limits, or gets tighter ones so that its
            ``"followers"`` stay within theirs.
        strict: Refuse a file with any error, instead of leaving out the faulty part with a remark.
        loop_tolerance: Largest gap of a closed loop [m, rad]; the default depends on the format.
        arguments: Values of the arguments of a xacro file, by name.
        srdf: The SRDF file of a URDF file; by default the file of the same name beside it, if it exists.
        joint_limits: MoveIt's ``joint_limits.yaml`` for a URDF file; its limits override those of the file.
        max_values: Largest number of values in a BVH motion, 8 million by default; reading needs about forty bytes for
            each.
        body_model: A model file of SMPL, SMPL-H or SMPL-X (``.npz``) with the bone lengths for an AMASS motion; by
            default those of an average body.
        within: The only folder to read meshes from, for untrusted files. By default the packages of this machine are
            searched too.
    """

    packages: Mapping[str, FilePath] = field(default_factory=dict)
    folders: tuple[FilePath, ...] = ()
    units: float | None = None
    up: Literal["x", "y", "z"] | None = None
    positions: Literal["replace", "add"] | None = None
    limits: Literal["own", "followers"] = "own"
    strict: bool = False
    loop_tolerance: float | None = None
    arguments: Mapping[str, str] = field(default_factory=dict)
    srdf: FilePath | None = None
    joint_limits: FilePath | None = None
    max_values: int | None = None
    body_model: FilePath | None = None
    within: FilePath | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.packages, Mapping):
            raise OptionError(f"packages maps names to folders, got {self.packages!r}.")
        object.__setattr__(self, "packages", MappingProxyType({str(k): os.fspath(v) for k, v in self.packages.items()}))
        given: Any = self.folders
        folders = (given,) if isinstance(given, str | os.PathLike) else tuple(given)
        object.__setattr__(self, "folders", tuple(os.fspath(folder) for folder in folders))
        if self.units is not None:
            units = as_number(self.units, "units (metres per unit of the file)")
            if units <= 0.0:
                raise OptionError(f"units is the length of one unit of the file in metres, above zero, got {units:g}.")
            object.__setattr__(self, "units", units)
        if self.up is not None and self.up not in UP:
            raise OptionError(f"up is {listed([repr(axis) for axis in UP])}, got {self.up!r}.")
        if self.positions is not None and self.positions not in POSITIONS:
            raise OptionError(f"positions is 'replace' or 'add', got {self.positions!r}.")
        if not isinstance(self.arguments, Mapping):
            raise OptionError(f"arguments maps names to values, got {self.arguments!r}.")
        arguments = {str(name): _as_argument(value) for name, value in self.arguments.items()}
        object.__setattr__(self, "arguments", MappingProxyType(arguments))
        for name in ("srdf", "joint_limits", "body_model"):
            file = getattr(self, name)
            if file is not None and not isinstance(file, str | os.PathLike):
                raise OptionError(f"{name} is the name of a file, got {file!r}.")
        if self.limits not in LIMITS:
            raise OptionError(f"limits is 'own' or 'followers', got {self.limits!r}.")
        if not isinstance(self.strict, bool):
            raise OptionError(f"strict is True or False, got {self.strict!r}.")
        if self.max_values is not None and (not is_whole(self.max_values) or self.max_values < 1):
            raise OptionError(f"max_values is the largest number of values to read, got {self.max_values!r}.")
        if self.loop_tolerance is not None:
            gap = as_number(self.loop_tolerance, "loop_tolerance (the largest gap that counts as closed)")
            if gap <= 0.0:
                raise OptionError(f"loop_tolerance is the largest gap that counts as closed, above zero, got {gap:g}.")
            object.__setattr__(self, "loop_tolerance", gap)

    def allows(self, file: FilePath, folder: FilePath) -> bool:
        """Return whether a file may be read for a model in `folder`: its real path is in there or in `folders`."""
        real = Path(os.path.realpath(file))
        return any(real.is_relative_to(os.path.realpath(one)) for one in (folder, *self.folders))


def _as_argument(value: object) -> str:
    """Return the value of an argument as xacro writes it, with truth values in lower case."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def as_options(given: Mapping[str, Any]) -> Options:
    """Return options from keyword arguments, or raise for an unknown one."""
    known = [option.name for option in fields(Options)]
    for name in given:
        if name not in known:
            raise OptionError(f"no option {name!r} for reading a file; there are {listed(known)}.")
    return Options(**given)


DEFAULTS = Options()
