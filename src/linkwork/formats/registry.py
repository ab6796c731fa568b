"""The table of formats: the module that reads and writes a file, by the suffix of the file name."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import PurePath
from typing import Any

from ..errors import FormatError
from ..linkage.plugins import Table
from .atomic_files import read_bytes
from .descriptions import is_description, meant_description
from .options import FilePath
from .texts import TextFile, root_tag


@dataclass(frozen=True)
class Format:
    """A file format.

    Args:
        module: The module that reads and writes it: its name in this package, or its full dotted name in another.
        title: Name of the format for users.
        linkages: Whether it can store a linkage without a motion.
        clips: Whether it can store motions.
        several: Whether it can store more than one motion.
        options: Names of the reading options that it uses.
        reads: Whether it can be read.
        writes: Whether it can be written.
        binary: Whether it is binary, not text.
        homeless: Whether it never contains the linkage of its motion, so that one must be given for reading.
        hosts: Whether a motion can be added to an existing file, keeping everything else in it.
        humanoids: Whether it stores only humanoids, by the names of their bones; others are refused.
    """

    module: str
    title: str
    linkages: bool = True
    clips: bool = False
    several: bool = False
    options: tuple[str, ...] = ()
    reads: bool = True
    writes: bool = True
    binary: bool = False
    homeless: bool = False
    hosts: bool = False
    humanoids: bool = False

    def load_module(self) -> Any:
        """Import and return the module."""
        return import_module(self.module if "." in self.module else f".{self.module}", __package__)


def _wrong(_name: str, row: object) -> str:
    if not isinstance(row, Format):
        return f"it is a {type(row).__name__}, not a Format"
    return "" if "." in row.module else f"its module {row.module!r} is not a full name such as 'package.module'"


_MESHES, _SCALE = ("packages", "folders", "limits"), ("units", "up", "folders")
_ROBOT = (*_MESHES, "arguments", "srdf", "joint_limits")
_SCENE = Format("scene", "scene", options=_MESHES)
_TRAJECTORY = Format("joint_trajectory", "JointTrajectory", linkages=False, clips=True, homeless=True)
_USD = Format("usd", "USD", clips=True, several=True, options=_SCALE, hosts=True)
_OWN = {
    ".yaml": _SCENE,
    ".yml": _SCENE,
    ".json": _SCENE,
    ".trajectory.yaml": _TRAJECTORY,
    ".trajectory.json": _TRAJECTORY,
    ".urdf": Format("urdf", "URDF", options=_ROBOT),
    ".xacro": Format("urdf", "xacro", options=_ROBOT, writes=False),
    ".xml": Format("mjcf", "MJCF", options=(*_MESHES, "loop_tolerance"), writes=False),
    ".bvh": Format("bvh", "BVH", clips=True, options=("units", "up", "positions", "max_values")),
    ".gltf": Format("gltf", "glTF", clips=True, several=True, options=_SCALE, hosts=True),
    ".glb": Format("gltf", "GLB", clips=True, several=True, options=_SCALE, binary=True, hosts=True),
    ".vrm": Format("gltf", "VRM", clips=True, several=True, options=_SCALE, binary=True, hosts=True, humanoids=True),
    ".vrma": Format("vrma", "VRMA", clips=True, options=_SCALE, binary=True, humanoids=True),
    ".usd": _USD,
    ".usda": _USD,
    ".usdc": replace(_USD, binary=True),
    ".usdz": replace(_USD, binary=True),
    ".fbx": Format("fbx", "FBX", clips=True, several=True, options=("units", "up"), writes=False),
    ".csv": Format("tables", "CSV", linkages=False, clips=True, homeless=True),
    ".npz": Format("tables", "NPZ", linkages=False, clips=True, binary=True),
    ".parquet": Format("tables", "Parquet", linkages=False, clips=True, binary=True),
    ".rrd": Format("rerun_recording", "Rerun", linkages=False, clips=True, reads=False, binary=True),
}

FORMATS: Table[Format] = Table("linkwork.formats", _OWN, _wrong, prefix=".")

# The other format of .npz files; `format_in` tells them apart.
SMPL = Format("smpl", "SMPL", clips=True, options=("up", "body_model"), writes=False, binary=True)
PICKLES = (".pkl", ".pickle", ".pt", ".joblib")


def suffix_of(path: FilePath) -> str:
    """Return the suffix that selects the format, ``.urdf`` or ``.trajectory.yaml``, in lower case."""
    name = PurePath(path).name.lower()
    double = (suffix for suffix in FORMATS.own if suffix.count(".") > 1 and name.endswith(suffix))
    return next(double, PurePath(path).suffix.lower())


def format_of(path: FilePath) -> Format:
    """Return the format of a file, by its suffix and, for XML, by its first element.

    Raises:
        FormatError: If the format is unknown.
    """
    suffix = suffix_of(path)
    if suffix not in FORMATS and os.path.isdir(path):  # noqa: PTH112 - Path.is_dir raises for names that no file can have
        raise FormatError(path, "is a folder, not a file.")
    if suffix in PICKLES:
        advice = "save its content with numpy.savez instead; poses and trans of SMPL bodies are read from .npz"
        raise FormatError(path, f"is a pickle file, which can run arbitrary code when opened; {advice}.")
    if suffix not in FORMATS:
        got = f"unknown format {suffix!r}" if suffix else "has no suffix to select a format"
        hint = meant_description(str(path)).removesuffix(".")
        raise FormatError(path, f"{got}{hint}{' Known' if hint else '; known'} formats: {', '.join(FORMATS)}.")
    if suffix == ".xml" and not (isinstance(path, TextFile) and path.kind == "mjcf"):
        try:
            tag = root_tag(read_bytes(path).removeprefix(b"\xef\xbb\xbf").decode("latin-1"))
        except FormatError:  # the reader raises it again
            tag = None
        suffix = ".urdf" if tag == "robot" else suffix
    return FORMATS[suffix]


def means_file(name: FilePath) -> bool:
    """Return whether a name that may also be a model's is a file: it exists, or it has the suffix of a format.

    Names of robots that `load` accepts count as files too; these are downloaded when they are read.
    """
    return PurePath(name).suffix.lower() in FORMATS or os.path.exists(name) or is_description(name)  # noqa: PTH110 - as above


def format_in(path: FilePath) -> Format:
    """Return the format of a file to be read, by its suffix and, for NPZ files, by the names of its arrays."""
    row = format_of(path)
    if row is not FORMATS[".npz"]:
        return row
    from .npz_arrays import names_in
    from .smpl import is_smpl

    try:
        names = names_in(path)
    except FormatError:  # the reader raises it again
        return row
    return SMPL if is_smpl(names) else row


def suffixes(*abilities: str) -> tuple[str, ...]:
    """Return the suffixes of formats with all given abilities: fields of `Format` such as ``"clips", "writes"``."""
    return tuple(suffix for suffix, row in FORMATS.items() if all(getattr(row, one) for one in abilities))
