"""The file that a linkage was read from, kept with it: a motion can be put into that file, and its skin be drawn.

Only the name is kept; the file is opened again when something of it is asked for.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal


@dataclass(frozen=True)
class Origin:
    """Where a linkage comes from, where a file holds more than a linkage can: meshes, skins, materials.

    Args:
        file: The file.
        units: Metres in one of its units.
        up: Which of its axes points up.
        folders: Further folders that what belongs to it may be read from.
        names: The names of links in the file, for links that were given others since.
        roles: Links by the part of the body that the file says they are, ``{"left_ankle": "J_Bip_L_Foot"}``.
        has_meshes: Whether there is something to see in it.
    """

    file: str | os.PathLike[str]
    units: float = 1.0
    up: Literal["x", "y", "z"] = "y"
    folders: tuple[str | os.PathLike[str], ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)
    has_meshes: bool = True

    def name_of(self, link: str) -> str:
        """Return the name that a link has in the file."""
        return self.names.get(link, link)

    def renamed(self, links: Mapping[str, str]) -> Origin:
        """Return the origin of a linkage whose links have other names.

        Args:
            links: New names by the old ones; a link that is not there is gone.

        Example:
            >>> Origin("xbot.glb").renamed({"hips": "pelvis", "head": "head"}).names
            {'pelvis': 'hips'}
        """
        names = {new: self.name_of(old) for old, new in links.items() if self.name_of(old) != new}
        roles = {role: links[link] for role, link in self.roles.items() if link in links}
        return replace(self, names=names, roles=roles)
