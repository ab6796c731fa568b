"""The studio: a page in the browser where a linkage is posed, solved and animated by hand.

viser (extra ``studio``) is imported when a studio is opened.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from .. import found_later

if TYPE_CHECKING:
    from ..formats.options import ReadOptions
    from ..linkage.linkage import Linkage
    from .app import Studio as Studio

__all__ = ["Studio", "open_studio"]


_NAMES = {"app": "Studio"}
if not TYPE_CHECKING:
    __getattr__ = found_later(__name__, _NAMES)


def open_studio(
    thing: Linkage | str | Path | Any = "panda",
    *,
    host: str = "127.0.0.1",
    port: int = 8080,
    **options: Unpack[ReadOptions],
) -> Studio:
    """Open the studio and return it, serving: `url` says where, `wait` serves until interrupted, `close` ends it.

    As the last line of a notebook's cell it shows itself below it.

    Args:
        thing: A linkage, a file, or the name of a ready-made model.
        host: The address to bind; by default only this machine can reach it.
        port: The port; the next free one if it is taken, any for 0.
        **options: How to read a file, as in `load`.

    Raises:
        MissingExtraError: If viser is not installed.
    """
    from ..formats import FORMATS
    from ..formats.options import as_options
    from ..linkage.linkage import Linkage
    from ..models import build
    from .app import Studio
    from .saving import SCENES, read_scene
    from .session import first_scene

    if not isinstance(thing, Linkage) and (Path(thing).suffix.lower() in FORMATS or Path(thing).exists()):
        scene, remarks = read_scene(Path(thing), as_options(options))
        path = Path(thing) if Path(thing).suffix.lower() in SCENES else None
        return Studio(scene, remarks=remarks, path=path, host=host, port=port)
    return Studio(first_scene(thing if isinstance(thing, Linkage) else build(str(thing))), host=host, port=port)
