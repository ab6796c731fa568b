"""What stands in a USD file about its skeleton: asked of another process, and put into matrices.

`usd` makes a linkage of it, and `usd_append` finds its joints again.
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

SECONDS = 1.0  # of computing, and one more for every 8 MiB
MEMORY = 450 * 2**20  # bytes that the other process may claim, and sixteen times the size of the file
MAX_SIZE = 256 * 2**20


def surroundings() -> dict[str, str]:
    """Return the variables that a process with USD sees: no search path, one thread."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PXR_AR_")}
    return kept | {"PXR_WORK_THREAD_LIMIT": "1"}


def opened(
    path: FilePath, real: Path, folders: Sequence[FilePath], times: Sequence[float] = (), *, skin: bool = False
) -> tuple[dict[str, Any], dict[str, FloatArray]]:
    """Return what the other process found in the file.

    Args:
        path: The file.
        real: Where it really lies, if it was given as text.
        folders: Further folders that it may take files in from.
        times: Times [s] at which the place of the skeleton is wanted, as the array ``"placed"``.
        skin: Whether the meshes that the skeleton moves are wanted too; see `usd_meshes`.
    """
    size = len(read_bytes(path, MAX_SIZE))
    request: dict[str, Any] = {"path": str(real), "folders": [str(real.parent), *map(str, folders)]}
    request |= {"bytes": MEMORY + 16 * size, "seconds": SECONDS + size / 2**23, "times": list(times), "skin": skin}
    missing = MissingExtraError("usd-core", "formats", "reading USD")
    return ask_arrays("usd_stage.py", request, path, "USD", surroundings(), missing)


def link_names(header: dict[str, Any]) -> list[str]:
    """Return the names that the joints of a skeleton have as links."""
    joints, names = header["joints"], header["joint_names"]
    if not (len(names) == len(joints) == len(set(names)) and all(names)):
        names = unique_names([joint.rpartition("/")[2] for joint in joints])
    return list(names)


def unique_names(given: list[str]) -> list[str]:
    """Return names that are given once each."""
    names = UniqueNames(given)
    return [names.take(name, "joint") for name in given]


def parents_of(joints: list[str], path: FilePath) -> list[int]:
    """Return the index of every joint's nearest ancestor by path; parents must come first."""
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
            raise FormatError(path, f"joint {joint!r} comes before the one it hangs on.")
        parents.append(above)
    return parents


def rest_of(arrays: dict[str, FloatArray], parents: list[int], path: FilePath) -> FloatArray:
    """Return parent_from_joint at rest, with scale; from the bind pose where there is no rest pose."""
    if "rest" in arrays:
        return arrays["rest"]
    if "bind" not in arrays:
        raise FormatError(path, "has a skeleton without rest or bind transforms for its joints.")
    bind = arrays["bind"]
    above = np.stack([bind[parent] if parent >= 0 else np.eye(4) for parent in parents])
    return np.linalg.solve(above, bind)


def composed(steps: FloatArray, parents: list[int], top: FloatArray) -> FloatArray:
    """Turn transforms (..., n, 4, 4) to the parents into those to the root of all, in their place, and return them."""
    for k, parent in enumerate(parents):
        steps[..., k, :, :] = (steps[..., parent, :, :] if parent >= 0 else top) @ steps[..., k, :, :]
    return steps
