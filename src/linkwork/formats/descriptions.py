"""Robots of the package ``robot_descriptions``, by names such as ``panda_description``.

That package lists two hundred robots on GitHub and clones a robot when its module is imported. Only the module of the
requested robot is imported here.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..errors import FormatError, ModelNotFoundError, listed, meant, require
from .options import FilePath, Options

PACKAGE = "robot_descriptions"
ENDING = "_description"  # of all its names
NAME = re.compile(f"[a-z][a-z0-9_]*{ENDING}")
PATHS = ("URDF_PATH", "XACRO_PATH", "MJCF_PATH")  # names of files in a module; the first that exists is read


def is_description(name: object) -> bool:
    """Return whether a name may be one of robot_descriptions: it has their form, and there is no such file.

    Whether the robot exists is not checked.

    Example:
        >>> [is_description(name) for name in ("panda_description", "panda_description.urdf", "_description")]
        [True, False, False]
    """
    text = str(name) if isinstance(name, str | Path) else ""
    return NAME.fullmatch(text) is not None and not os.path.lexists(text)


def description_names() -> tuple[str, ...]:
    """Return the names in robot_descriptions; none if it is not installed. Nothing is cloned."""
    return tuple(import_module(PACKAGE).DESCRIPTIONS) if find_spec(PACKAGE) is not None else ()


def meant_description(name: str) -> str:
    """Return the end of a message about an unknown name, with a suggestion if a robot has a similar name."""
    known = description_names() if name.isidentifier() else ()
    hint = meant(name, known)
    return meant(name + ENDING, known) if hint == "." else hint


def find_description(name: str, options: Options) -> tuple[FilePath, Options]:
    """Return the file of a robot, cloned if needed, and options that locate its meshes.

    Given packages, xacro arguments and SRDF file take precedence over those of the robot's module.

    Raises:
        MissingExtraError: If robot_descriptions is not installed.
        ModelNotFoundError: If it has no such robot.
        FormatError: If the robot cannot be cloned, or has neither URDF, xacro nor MJCF.
    """
    require(PACKAGE, f"{name!r} is not a file; looking for a robot of that name")
    known = description_names()
    if name not in known:
        raise ModelNotFoundError(name, PACKAGE, known)
    module = _cloned(name)
    file = next((getattr(module, path) for path in PATHS if hasattr(module, path)), None)
    if file is None:
        others = listed([other for other in dir(module) if "PATH" in other])
        raise FormatError(name, f"{PACKAGE} has no {listed(PATHS)} for it, only {others}; lw.load takes such a path.")
    repository, package = Path(module.REPOSITORY_PATH), Path(module.PACKAGE_PATH)
    folders = [package, repository, *(above for above in (package.parent,) if above.is_relative_to(repository))]
    srdf = getattr(module, "SRDF_PATH", None)
    return file, replace(
        options,
        packages=dict(getattr(module, "XACRO_PACKAGE_PATHS", {})) | dict(options.packages),
        folders=(*options.folders, *dict.fromkeys(folders)),
        arguments=dict(getattr(module, "XACRO_ARGS", {})) | dict(options.arguments),
        srdf=srdf if options.srdf is None and srdf is not None and Path(srdf).is_file() else options.srdf,
    )


def _cloned(name: str) -> Any:
    """Return the module of a robot, which clones its repository on first import."""
    try:
        return import_module(f"{PACKAGE}.{name}")
    except Exception as error:  # git, network and disk raise different errors
        said = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        where = "from GitHub into ~/.cache/robot_descriptions, or the folder in ROBOT_DESCRIPTIONS_CACHE"
        raise FormatError(name, f"{PACKAGE} cannot get it: {said}. A robot is cloned on first use, {where}.") from error
