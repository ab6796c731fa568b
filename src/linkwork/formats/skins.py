"""What a file shows of a linkage beyond its shapes: triangles that hang on bones, read when something draws them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath

from ..linkage.linkage import Linkage
from ..linkage.skin import Skin
from .gltf_skin import read_skin

GLTF = (".gltf", ".glb", ".vrm")


def skin_of(linkage: Linkage) -> Skin | None:
    """Return what the file that a linkage came from shows of it; None where it shows nothing.

    Raises:
        FormatError: If the file is gone or cannot be read.
    """
    origin = linkage.origin
    if origin is None or PurePath(origin.file).suffix.lower() not in GLTF:
        return None
    return linkage.cache.get("skin", str(origin.file), lambda: _Kept(read_skin(linkage, origin))).skin


@dataclass(frozen=True, eq=False)
class _Kept:
    """A skin in a cache, which keeps no None."""

    skin: Skin | None
