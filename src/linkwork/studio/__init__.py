"""The studio: a browser page to pose, solve and animate a linkage interactively.

websockets (extra ``studio``) is imported when a studio is opened.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from .. import found_later
from ..models import NAMED

if TYPE_CHECKING:
    from ..collision.obstacles import World
    from ..formats.options import ReadOptions
    from ..linkage.linkage import Linkage
    from .app import Studio as Studio
    from .door import Door

__all__ = ["Studio", "open_studio"]


_NAMES = {"app": "Studio"}
if not TYPE_CHECKING:
    __getattr__ = found_later(__name__, _NAMES)


def open_studio(
    thing: Linkage | str | Path | Any = "panda",
    *,
    world: World | None = None,
    host: str = "127.0.0.1",
    port: int = 8080,
    tell: Callable[[str], None] | None = None,
    **options: Unpack[ReadOptions],
) -> Studio:
    """Open the studio and return it while it serves its page at `url`.

    `wait` serves until interrupted, and `close` stops the server. A notebook shows the page as the result of a cell.

    Args:
        thing: A linkage, a file, or the name of a ready-made model.
        world: The obstacles; by default those of its scene file, if it has any.
        host: The address to bind; by default only this machine can reach it.
        port: The port; if it is taken, the next free one; 0 for any free port.
        tell: Called with the address before the studio is ready, so that a browser can already load the page. Steps
            that may fail, such as reading a file, are done before.
        **options: How to read a file, as in `load`.

    Raises:
        MissingExtraError: If websockets is not installed.
    """
    from .door import Door

    with _uncollected():
        door = Door(host, port)
        try:
            return _opened(thing, world, door, tell or (lambda _: None), options)
        except BaseException:
            door.close()
            raise


@contextmanager
def _uncollected() -> Iterator[None]:
    """Pause garbage collection: objects that modules make when they are imported are not garbage."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def _opened(thing: Any, world: World | None, door: Door, tell: Callable[[str], None], options: ReadOptions) -> Studio:
    """Import the modules of a studio, and open it behind a door."""
    sure = world is None and isinstance(thing, str) and thing in NAMED and not Path(thing).exists()
    if sure:
        tell(door.server.url)
    door.prepare()
    from ..formats.options import as_options
    from ..formats.registry import means_file
    from ..linkage.linkage import Linkage
    from ..models import build
    from .app import Studio
    from .saving import SCENES, read_scene
    from .scene import first_scene

    if not isinstance(thing, Linkage) and means_file(thing):
        scene, remarks = read_scene(Path(thing), as_options(options))
        path = Path(thing) if Path(thing).suffix.lower() in SCENES else None
    else:
        scene = first_scene(thing if isinstance(thing, Linkage) else build(str(thing)))
        remarks, path = (), None
    if world is not None:
        world.check(scene.linkage)
        scene = replace(scene, around=replace(scene.around, world=world))
    if not sure:
        tell(door.server.url)
    return Studio(scene, remarks=remarks, path=path, door=door)
