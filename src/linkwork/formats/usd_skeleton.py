"""The skeleton of a USD file, read in a separate process, as matrices.

`usd` converts it to a linkage, and `usd_append` uses it to find the joints for new animations.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import FormatError, MissingExtraError
from ..transforms import FloatArray
from .atomic_files import read_bytes
from .child import ask_arrays
from .content import UniqueNames
from .options import FilePath

SECONDS = 1.0  # CPU time of the process [s], and one more for every 8 MiB
MEMORY = 450 * 2**20  # memory of the process [bytes], in addition to sixteen times the size of the file
MAX_SIZE = 256 * 2**20


def surroundings() -> dict[str, str]:
    """Return the environment of a process with USD: no search path, one thread."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PXR_AR_")}
    return kept | {"PXR_WORK_THREAD_LIMIT": "1"}


def opened(
    path: FilePath, real: Path, folders: Sequence[FilePath], times: Sequence[float] = (), *, skin: bool = False
) -> tuple[dict[str, Any], dict[str, FloatArray]]:
    """Return the header and arrays of a file, read in a separate process.

    Args:
        path: The file.
        real: Its real path; a temporary file if it was given as text.
        folders: Further folders that it may refer to.
        times: Times [s] at which to return the transform of the skeleton, as the array ``"placed"``.
        skin: Whether to return the skinned meshes too; see `usd_meshes`.
    """
    size = len(read_bytes(path, MAX_SIZE))
    request: dict[str, Any] = {"path": str(real), "folders": [str(real.parent), *map(str, folders)]}
    request |= {"bytes": MEMORY + 16 * size, "seconds": SECONDS + size / 2**23, "times": list(times), "skin": skin}
    missing = MissingExtraError("usd-core", "formats", "reading USD")
    return ask_arrays("usd_stage.py", request, path, "USD", surroundings(), missing)


def link_names(header: dict[str, Any]) -> list[str]:
    """Return the link names of the joints of a skeleton."""
    joints, names = header["joints"], header["joint_names"]
    if not (len(names) == len(joints) == len(set(names)) and all(names)):
        names = unique_names([joint.rpartition("/")[2] for joint in joints])
    return list(names)


def unique_names(given: list[str]) -> list[str]:
    """Return names made unique."""
    names = UniqueNames(given)
    return [names.take(name, "joint") for name in given]


def parents_of(joints: list[str], path: FilePath) -> list[int]:
    """Return the index of the nearest ancestor of every joint, by path; parents must precede their children."""
    tree: dict[str | None, Any] = {}
    for k, joint in enumerate(joints):
        branch = tree
        for step in joint.split("/"):
            branch = branch.setdefault(step, {})
        if branch.setdefault(None, k) != k:
            raise FormatError(path, f"joint {joint!r} appears twice in the skeleton.")
    parents = []
    for k, joint in enumerate(joints):
        branch, above = tree, -1
        for step in joint.split("/")[:-1]:
            branch = branch[step]
            above = branch.get(None, above)
        if above >= k:
            raise FormatError(path, f"joint {joint!r} comes before its parent.")
        parents.append(above)
    return parents


def rest_of(arrays: dict[str, FloatArray], parents: list[int], path: FilePath) -> FloatArray:
    """Return parent_from_joint at rest, with scale; from the bind pose if there is no rest pose."""
    if "rest" in arrays:
        return arrays["rest"]
    if "bind" not in arrays:
        raise FormatError(path, "has a skeleton without rest or bind transforms for its joints.")
    bind = arrays["bind"]
    above = np.stack([bind[parent] if parent >= 0 else np.eye(4) for parent in parents])
    return np.linalg.solve(above, bind)


def composed(steps: FloatArray, parents: list[int], top: FloatArray) -> FloatArray:
    """Convert transforms (..., n, 4, 4) relative to parents to world transforms, in place, and return them."""
    for k, parent in enumerate(parents):
        steps[..., k, :, :] = (steps[..., parent, :, :] if parent >= 0 else top) @ steps[..., k, :, :]
    return steps
