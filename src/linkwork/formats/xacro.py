"""xacro files to the URDF that they stand for, expanded by the `xacro` package.

`xacro_program` does it in a process of its own: expressions in such files are Python, and files include others. Nothing
outside the model's folder, its package, the packages that it names and the folders of the options is read.
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

SECONDS, MEMORY = 10.0, 512 * 2**20  # of computing, and bytes, for one expansion
MAX_PACKAGES = 50
MAX_BYTES = 16 * 2**20


@dataclass(frozen=True)
class Expanded:
    """What a xacro file stands for.

    Args:
        text: The URDF.
        arguments: The values of all arguments, given or by default.
        packages: Folders of the packages that it names.
    """

    text: str
    arguments: dict[str, str]
    packages: dict[str, str]


def expand(path: FilePath, options: Options) -> Expanded:
    """Return what a xacro file stands for.

    Args:
        path: The file.
        options: Of these, `arguments` are the file's, and `packages` and `folders` say where included files may lie.

    Raises:
        FormatError: If it cannot be expanded; with what xacro says.
        OptionError: If an argument is given that the file does not have.
        MissingExtraError: If xacro is not installed.
    """
    from .child import ask  # what starts a process is not loaded for files without macros

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
            advice = f"say where it is with packages={{{name!r}: ...}} (--package {name}=FOLDER)"
            raise FormatError(path, f"includes files of package {name!r}, which is not found; {advice}.")
        folder, linked = found
        request["packages"][name] = str(folder)
        request["linked" if linked else "folders"].append(str(folder))
    raise FormatError(path, f"includes files of more than {MAX_PACKAGES} packages.")


def _checked(answer: dict[str, Any], path: FilePath, options: Options, packages: dict[str, str]) -> Expanded:
    """Return a good answer, or say what is wrong."""
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
    """Return what to do about an argument that is missing."""
    if "Undefined substitution argument" not in answer["error"]:
        return ""
    asked = f"it asks for {listed(answer['asked'])}"
    return f" Give it with arguments={{name: value}} (--argument NAME=VALUE); {asked}."
