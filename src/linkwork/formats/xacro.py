"""Expand xacro files to URDF, with the `xacro` package.

`xacro_program` does so in a separate process, because expressions in such files are Python and files include others.
Only the folder of the model, its package, the packages that it names and the folders in the options are read.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import FormatError, MissingExtraError, OptionError, VersionError, listed
from . import meshes
from .atomic_files import read_bytes
from .options import FilePath, Options

SECONDS, MEMORY = 10.0, 512 * 2**20  # limits of CPU time [s] and memory [bytes] of one expansion
MAX_PACKAGES = 50
MAX_BYTES = 16 * 2**20


@dataclass(frozen=True)
class Expanded:
    """An expanded xacro file.

    Args:
        text: The URDF.
        arguments: The values of all arguments, including defaults.
        packages: Folders of the packages that it names.
    """

    text: str
    arguments: dict[str, str]
    packages: dict[str, str]


def expand(path: FilePath, options: Options) -> Expanded:
    """Expand a xacro file.

    Args:
        path: The file.
        options: Used are `arguments` of the file, and `packages` and `folders` (locations of included files).

    Raises:
        FormatError: If it cannot be expanded; with the message of xacro.
        OptionError: If a given argument is not one of the file.
        MissingExtraError: If xacro is not installed.
    """
    from .child import ask  # not imported for files without macros

    try:
        text = read_bytes(path, MAX_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(path, f"is not UTF-8: {error}.") from error
    file = meshes.absolute(path)
    own = meshes.own_package(file.parent)
    request: dict[str, Any] = {"text": text, "path": str(file), "arguments": dict(options.arguments)}
    request |= {"seconds": SECONDS, "bytes": MEMORY, "packages": {}, "linked": []}
    request["folders"] = [str(folder) for folder in (file.parent, own, *map(meshes.absolute, options.folders))]
    for _ in range(MAX_PACKAGES):
        answer = json.loads(ask("xacro_program.py", request, path, "xacro", {}))
        if "package" not in answer:
            return _checked(answer, path, options, request["packages"])
        name = str(answer["package"])
        found = meshes.package_folder(name, path, options)
        if found is None:
            advice = f"give its folder with packages={{{name!r}: ...}} (--package {name}=FOLDER)"
            raise FormatError(path, f"includes files of package {name!r}, which is not found; {advice}.")
        folder, linked = found
        request["packages"][name] = str(folder)
        request["linked" if linked else "folders"].append(str(folder))
    raise FormatError(path, f"includes files of more than {MAX_PACKAGES} packages.")


def _checked(answer: dict[str, Any], path: FilePath, options: Options, packages: dict[str, str]) -> Expanded:
    """Return the expanded file from an answer, or raise its error."""
    if "missing" in answer:
        raise MissingExtraError("xacro", "xacro", "reading xacro files")
    if "version" in answer:
        raise VersionError("xacro", answer["version"], "safe_eval", "xacro", "xacro files are not read")
    if "error" in answer:
        raise FormatError(path, f"xacro cannot expand it: {answer['error'].rstrip('.')}.{_advice(answer)}")
    asked = answer["asked"]
    spare = [name for name in options.arguments if name not in asked]
    if spare:
        there = f"it has {listed(asked)}" if asked else "it has none"
        raise OptionError(f"{Path(path).name} has no argument {listed([repr(name) for name in spare])}; {there}.")
    return Expanded(answer["text"], answer["arguments"], packages)


def _advice(answer: dict[str, Any]) -> str:
    """Return advice about a missing argument."""
    if "Undefined substitution argument" not in answer["error"]:
        return ""
    asked = f"it asks for {listed(answer['asked'])}"
    return f" Give it with arguments={{name: value}} (--argument NAME=VALUE); {asked}."
