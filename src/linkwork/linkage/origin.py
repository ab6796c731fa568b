"""The file that a linkage was read from, so that its skin can be drawn and motions can be written into it.

Only the name is kept; the file is opened again when it is needed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal


@dataclass(frozen=True)
class Origin:
    """The source file of a linkage, if it contains more than a linkage stores: meshes, skins, materials.

    Args:
        file: The file.
        units: Length of one file unit [m].
        up: The axis of the file that points up.
        folders: Further folders from which its resources may be read.
        names: The names in the file of links that were renamed.
        roles: Links by body part, as the file states them, ``{"left_ankle": "J_Bip_L_Foot"}``.
        has_meshes: Whether it contains meshes.
    """

    file: str | os.PathLike[str]
    units: float = 1.0
    up: Literal["x", "y", "z"] = "y"
    folders: tuple[str | os.PathLike[str], ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)
    has_meshes: bool = True

    def name_of(self, link: str) -> str:
        """Return the name of a link in the file."""
        return self.names.get(link, link)

    def renamed(self, links: Mapping[str, str]) -> Origin:
        """Return the origin after links were renamed.

        Args:
            links: New names by old names; links that are not listed were removed.

        Example:
            >>> Origin("xbot.glb").renamed({"hips": "pelvis", "head": "head"}).names
            {'pelvis': 'hips'}
        """
        names = {new: self.name_of(old) for old, new in links.items() if self.name_of(old) != new}
        roles = {role: links[link] for role, link in self.roles.items() if link in links}
        return replace(self, names=names, roles=roles)
