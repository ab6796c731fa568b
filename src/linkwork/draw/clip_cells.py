"""Show a clip in a notebook: its film, or stills if the film would be too large."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..linkage.geometry import Mesh
from ..linkage.linkage import Linkage
from ..motion.clips import Clip
from . import player
from .embedding import embedded
from .film_range import FilmRange, film_frames
from .markup import Safe, card, side_by_side
from .stills import still

MOST_BYTES = 2_000_000  # largest page in a notebook, whose file stores it
MOST_FRAMES = 600
RATE = 30.0  # largest frame rate [1/s]; the page interpolates
PANELS, SMALL = 5, 170
TALL = 380  # height of the film [pixel]


def cell(clip: Clip) -> str:
    """Return the notebook cell of a clip: a film, without meshes if they are too large, or stills."""
    linkage, note = clip.linkage, f"{len(clip)} frames, {clip.duration:.3g} s"
    title = clip.name or linkage.name
    film = _page(clip) if _mesh_bytes(linkage) <= MOST_BYTES else None
    if film is None and (film := _page(clip, meshes=False)) is not None:
        note += "; its meshes are too large to play here"
    if film is not None:
        return card(title, note, Safe(embedded(film, f"a film of {linkage.name}", TALL)))
    numbers = np.linspace(0, len(clip) - 1, min(PANELS, len(clip))).round().astype(int)
    pictures = [still(linkage, clip.poses[k][None], width=SMALL) for k in numbers]
    note += '; too large to play here: lw.draw.film(clip, "clip.html") writes a page that plays it'
    return card(title, note, side_by_side(*pictures))


def _page(clip: Clip, *, meshes: bool = True) -> str | None:
    """Return the page of a film, with a lower frame rate for a long motion; None if it would be too large."""
    rate = min(RATE, MOST_FRAMES / max(clip.duration, 1e-9))
    part = FilmRange() if clip.fps <= rate else FilmRange(fps=rate)
    shown = film_frames(clip, part, most=RATE, what="a page", even=False)
    page = player.page(clip, shown, meshes=meshes)
    return page if len(page) <= MOST_BYTES else None


def _mesh_bytes(linkage: Linkage) -> int:
    """Return the size of a linkage's mesh and skin files, without reading them."""
    origin = linkage.origin
    meshes = [v.shape for node in linkage.nodes for v in node.visuals if isinstance(v.shape, Mesh)]
    paths = {mesh.file for mesh in meshes if mesh.file is not None}
    paths |= {str(origin.file)} if origin is not None and origin.has_meshes else set()
    return sum(Path(path).stat().st_size for path in paths if Path(path).is_file())
