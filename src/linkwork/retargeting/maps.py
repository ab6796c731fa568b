"""Read and write joint maps: files of the roles that were found, which can be edited by hand."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ..errors import FormatError, MappingError
from ..formats import yaml_json
from ..formats.atomic_files import read_text, write_text
from ..linkage.linkage import Linkage
from .names import FINGERS, ROLES
from .quadrupeds import QUADRUPED_ROLES, Quadruped
from .skeletons import Skeleton

SIDES_OF_MAP = ("source", "target")
HEAD = """# Links by role: of the skeleton with the motion (source), and of the body to move (target).
# Edit the name of a link, remove a # to name a role that was not found, or write null to remove a role.
"""


def as_map(given: Mapping[str, Any] | str | os.PathLike[str] | None) -> dict[str, Mapping[str, Any]]:
    """Return roles by side from a mapping, a file or nothing.

    Example:
        >>> as_map({"target": {"left_hand": "gripper"}})
        {'source': {}, 'target': {'left_hand': 'gripper'}}
    """
    if given is None:
        return {side: {} for side in SIDES_OF_MAP}
    if not isinstance(given, Mapping | str | os.PathLike):
        raise MappingError(f"a map is a mapping {{'source': ..., 'target': ...}} or the name of a file, got {given!r}.")
    content = given if isinstance(given, Mapping) else read_map(given)
    unknown = [key for key in content if key not in SIDES_OF_MAP]
    if unknown:
        raise MappingError(f"a map has a 'source' and a 'target', each with roles and links; got {unknown[0]!r}.")
    result: dict[str, Mapping[str, Any]] = {}
    for side in SIDES_OF_MAP:
        roles = content.get(side) or {}
        if not isinstance(roles, Mapping):
            raise MappingError(f"{side!r} of a map is a mapping from roles to links, got {roles!r}.")
        result[side] = roles
    return result


def read_map(path: str | os.PathLike[str]) -> Mapping[str, Any]:
    """Return the content of a map file.

    Raises:
        FormatError: If it is not YAML, or not a mapping.
    """
    content = yaml_json.read(read_text(path), path, "yaml")
    if not isinstance(content, Mapping):
        raise FormatError(path, "is not a joint map: it needs 'source:' and 'target:', each with roles and links.")
    return content


def write_map(
    path: str | os.PathLike[str], source: Skeleton | Quadruped | Linkage, target: Skeleton | Quadruped | Linkage
) -> None:
    """Write the roles of two skeletons; those that were not found are comments.

    No roles are known for a linkage in place of a skeleton; its links are listed to choose from.
    """
    lines = [HEAD]
    for side, one in zip(SIDES_OF_MAP, (source, target), strict=True):
        linkage, roles, reasons = (one, {}, {}) if isinstance(one, Linkage) else (one.linkage, one.roles, one.reasons)
        known: tuple[str, ...] = QUADRUPED_ROLES if isinstance(one, Quadruped) else ROLES
        if isinstance(one, Skeleton):
            roles, known = {**roles, **one.fingers}, (*ROLES, *(role for role in FINGERS if role in one.fingers))
        names = ", ".join(linkage.links)
        lines += ["# Links: " + "".join(c if c.isprintable() else "?" for c in names), f"{side}:"]
        for role in known:
            if role in roles:
                lines.append(f"  {yaml_json.write({role: roles[role]}, 'yaml').strip()}  # by {reasons[role]}")
            else:
                lines.append(f"  # {role}:")
    write_text(path, "\n".join(lines) + "\n")
