"""The table of formats: which module of this folder reads and writes a file, by the suffix of its name."""

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
    """How one kind of file is read and written.

    Args:
        module: The module of this folder that does it; that of another package by its whole name, with a dot in it.
        title: What people call it.
        linkages: Whether it can hold a linkage without a motion.
        clips: Whether it can hold motions.
        several: Whether it can hold more than one.
        options: Which of the options mean something to it.
        reads: Whether it is read.
        writes: Whether it is written.
        binary: Whether it is bytes, not text.
        homeless: Whether it never says whose motion it holds, so that a linkage is given when it is read.
        hosts: Whether a motion can be put into a file that is there, which keeps all else.
        humanoids: Whether it holds humanoids alone, whose bones it names; others are refused.
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
        """Return the module, imported when it is first needed."""
        return import_module(self.module if "." in self.module else f".{self.module}", __package__)


def _wrong(_name: str, row: object) -> str:
    if not isinstance(row, Format):
        return f"it is a {type(row).__name__}, not a Format"
    return (
        "" if "." in row.module else f"its module {row.module!r} is not the whole name of one, as in 'package.module'"
    )


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

# What an .npz file also may be; `format_in` tells.
SMPL = Format("smpl", "SMPL", clips=True, options=("up", "body_model"), writes=False, binary=True)
PICKLES = (".pkl", ".pickle", ".pt", ".joblib")


def suffix_of(path: FilePath) -> str:
    """Return the end of a file's name that says its format, ``.urdf`` or ``.trajectory.yaml``, in lower case."""
    name = PurePath(path).name.lower()
    double = (suffix for suffix in FORMATS.own if suffix.count(".") > 1 and name.endswith(suffix))
    return next(double, PurePath(path).suffix.lower())


def format_of(path: FilePath) -> Format:
    """Return the format of a file: its suffix says it, and in XML the first element too.

    Raises:
        FormatError: If it has none that is known.
    """
    suffix = suffix_of(path)
    if suffix not in FORMATS and os.path.isdir(path):  # noqa: PTH112 - Path.is_dir raises for names that no file can have
        raise FormatError(path, "is a folder, not a file.")
    if suffix in PICKLES:
        advice = "save what it holds with numpy.savez instead; poses and trans of SMPL bodies are read from .npz"
        raise FormatError(path, f"is a pickle, which runs whatever is in it when it is opened; {advice}.")
    if suffix not in FORMATS:
        got = f"no format {suffix!r}" if suffix else "no suffix that says its format"
        hint = meant_description(str(path)).removesuffix(".")
        raise FormatError(path, f"{got}{hint}{' Known' if hint else '; known'} are {', '.join(FORMATS)}.")
    if suffix == ".xml" and not (isinstance(path, TextFile) and path.kind == "mjcf"):
        try:
            tag = root_tag(read_bytes(path).removeprefix(b"\xef\xbb\xbf").decode("latin-1"))
        except FormatError:  # whoever reads it will say so
            tag = None
        suffix = ".urdf" if tag == "robot" else suffix
    return FORMATS[suffix]


def means_file(name: FilePath) -> bool:
    """Tell whether a name that may also be a model's means a file: it is there, or ends as names of files do.

    Names of robots that `load` takes mean files too: those are got when they are read.
    """
    return PurePath(name).suffix.lower() in FORMATS or os.path.exists(name) or is_description(name)  # noqa: PTH110 - as above


def format_in(path: FilePath) -> Format:
    """Return the format of a file that is read: its suffix says it, and in an NPZ file the names of its arrays too."""
    row = format_of(path)
    if row is not FORMATS[".npz"]:
        return row
    from .npz_arrays import names_in
    from .smpl import is_smpl

    try:
        names = names_in(path)
    except FormatError:  # whoever reads it will say so
        return row
    return SMPL if is_smpl(names) else row


def suffixes(*abilities: str) -> tuple[str, ...]:
    """Return the suffixes of formats with all of some abilities, fields of `Format` such as ``"clips", "writes"``."""
    return tuple(suffix for suffix, row in FORMATS.items() if all(getattr(row, one) for one in abilities))
