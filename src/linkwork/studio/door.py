"""The door of a studio: accepts pages before the studio is ready, and hands them over when it is.

A browser takes as long to start as Python does. So the address is given first, and both start in parallel.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING

from .page import PREPARED, asset
from .server import LIMIT, Client, File, Message, Server

if TYPE_CHECKING:
    from .app import Studio

MOST = 64  # largest number of events kept until the studio is ready


class Door:
    """The server and its events, which are handed on to the studio at once.

    Args:
        host: The address to bind.
        port: The port.

    Raises:
        OptionError: If the address is not one of this machine.
        MissingExtraError: If websockets is not installed.
    """

    def __init__(self, host: str, port: int) -> None:
        self._studio: Studio | None = None
        self._early: list[Callable[[Studio], None]] = []
        self._lock = threading.Lock()
        self._prepared: dict[str, Future[File | None]] = {path: Future() for path in PREPARED}
        self.server = Server(self, host, port, limit=LIMIT + 2**20)

    def prepare(self) -> None:
        """Make the files that pages load; modules are imported only in the thread that opens the studio.

        Raises:
            PageError: If the page cannot be made from this installation.
        """
        for path, file in self._prepared.items():
            file.set_result(asset(path))

    def lead_to(self, studio: Studio) -> None:
        """Hand on events to a studio, first those that have happened so far."""
        with self._lock:
            self._studio, early, self._early = studio, self._early, []
            for act in early:
                act(studio)

    def close(self) -> None:
        """Stop the server."""
        for file in self._prepared.values():
            file.cancel()
        self.server.close()

    # In the server's thread

    async def file(self, path: str, query: Mapping[str, str]) -> File | None:
        """Return the file at a path, or None."""
        if path == "/download":
            return None if self._studio is None else self._studio._downloads.get(query.get("file", ""))
        return await asyncio.wrap_future(self._prepared[path]) if path in self._prepared else asset(path)

    def opened(self, client: Client) -> None:
        """Send everything to a page that has connected, as soon as the studio is ready."""
        self._hand_on(lambda studio: studio._arrived(client))

    def closed(self, client: Client) -> None:
        """Forget a page that has disconnected."""
        self._hand_on(lambda studio: studio._left(client))

    def received(self, client: Client, message: Message) -> None:
        """Handle a message of a page: an action, or files as bytes."""
        if len(self._early) >= MOST:
            client.send(json.dumps({"refused": "the studio is being prepared; ask again in a moment."}))
            return
        self._hand_on(lambda studio: studio._received(client, message))

    def _hand_on(self, act: Callable[[Studio], None]) -> None:
        """Hand an event to the studio, or keep it until the studio is ready."""
        with self._lock:
            if self._studio is None:
                self._early.append(act)
                return
        act(self._studio)
