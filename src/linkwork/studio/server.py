"""The server behind the page: a few files by HTTP and one socket for each page, in a thread of its own.

Whoever may not come in is refused in the handshake, before anything that they send is read: pages of other sites, hosts
that are not this machine, and, where the studio is open to a network, whoever has not the token of its address.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import hmac
import ipaddress
import logging
import secrets
import socket
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from importlib.util import find_spec
from typing import Any, Protocol
from urllib.parse import parse_qs, urlsplit

from ..errors import MissingExtraError, OptionError

HERE = ("127.0.0.1", "localhost", "::1")
SOCKET = "/socket"
COOKIE = "linkwork-studio"
LIMIT = 64 * 2**20  # bytes of an upload, packed and unpacked
TRIES = 50  # ports that are tried after one that is taken
BEAT = 20.0  # s between questions whether a page is still there; on this machine its socket closes when it goes
WAITING = 256  # messages that a page may be behind before it is let go: it does not read any more
NOTEBOOKS = "http://localhost:* http://127.0.0.1:* https://localhost:* https://127.0.0.1:* vscode-webview:"
NOWHERE = "'none'"
Message = str | bytes


@dataclass(frozen=True)
class File:
    """What is served at a path."""

    content: bytes
    kind: str
    name: str = ""  # that it is saved under; shown in the page without one


class Client(Protocol):
    """A page that is connected."""

    def send(self, message: Message) -> None:
        """Send a message; a page that is gone takes none."""


class Events(Protocol):
    """What happens at the server; called in its thread, so that nothing here may take long."""

    async def file(self, path: str, query: Mapping[str, str]) -> File | None:
        """Return what is at a path."""

    def opened(self, client: Client) -> None:
        """A page has come."""

    def received(self, client: Client, message: Message) -> None:
        """A page has said something."""

    def closed(self, client: Client) -> None:
        """A page has gone."""


class _Page:
    """One socket: messages wait in a line of its own, so that a slow page holds no one up."""

    def __init__(self, server: Server, connection: Any) -> None:
        self._server, self._connection = server, connection
        self.waiting: asyncio.Queue[Message | None] = asyncio.Queue(WAITING)

    def send(self, message: Message) -> None:
        self._server.call(self._put, message)

    def _put(self, message: Message) -> None:
        try:
            self.waiting.put_nowait(message)
        except asyncio.QueueFull:  # it has not read for a long time
            self._connection.transport.abort()

    async def write(self) -> None:
        while (message := await self.waiting.get()) is not None:
            await self._connection.send(message)


class Server:
    """Serves until it is closed.

    Args:
        events: What is served, and who is told.
        host: The address to bind; ``127.0.0.1`` is this machine alone.
        port: The port; the next free one if it is taken, any for 0.
        limit: Bytes of a message at most.

    Attributes:
        port: The port that it has.
        token: What the address must end with to come in, empty on this machine alone.
        framed: Whether a notebook of this machine may show the page in a frame.

    Raises:
        OptionError: If the address is not one of this machine.
        MissingExtraError: If websockets is not installed.
    """

    def __init__(self, events: Events, host: str, port: int, *, limit: int) -> None:
        if not isinstance(port, int) or not 0 <= port <= 65535:
            raise OptionError(f"a port goes from 0 to 65535, got {port!r}.")
        if find_spec("websockets") is None:
            raise MissingExtraError("websockets", "studio", "the studio")
        self._events, self.host, self._limit = events, host, limit
        self.token = "" if host in HERE else secrets.token_urlsafe(18)
        self.framed = False
        self._socket = _bound(host, port)
        self.port: int = self._socket.getsockname()[1]
        self._loop = asyncio.new_event_loop()
        self._end = asyncio.Event()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="linkwork studio server", daemon=True)
        self._thread.start()
        self._ready.wait()

    @property
    def url(self) -> str:
        """Where the page is."""
        shown = _own_address() if self.host in ("0.0.0.0", "::") else self.host
        shown = f"[{shown}]" if ":" in shown else shown
        return f"http://{shown}:{self.port}/{f'?token={self.token}' if self.token else ''}"

    def call(self, act: Callable[..., None], *given: Any) -> None:
        """Have something done in the server's thread; nothing is done after its end."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(act, *given)

    def close(self) -> None:
        """End all connections and the thread."""
        self.call(self._end.set)
        if threading.current_thread() is not self._thread:
            self._thread.join(10.0)

    # In the thread

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._serve())
        finally:
            self._ready.set()
            self._loop.close()

    async def _serve(self) -> None:
        from websockets.asyncio.server import serve

        silent = logging.getLogger("linkwork.studio.server")
        silent.addHandler(logging.NullHandler())
        silent.propagate = False
        serving = serve(
            self._page, sock=self._socket, process_request=self._asked, max_size=self._limit, compression=None,
            server_header=None, logger=silent, close_timeout=1.0, ping_interval=None if self.host in HERE else BEAT,
        )  # fmt: skip
        async with serving:
            self._ready.set()
            await self._end.wait()

    async def _page(self, connection: Any) -> None:
        from websockets.exceptions import ConnectionClosed

        page = _Page(self, connection)
        writing = asyncio.create_task(page.write())
        self._events.opened(page)
        try:
            async for message in connection:
                self._events.received(page, message)
        except ConnectionClosed:
            pass  # it went without a word, or said too much at once
        finally:
            self._events.closed(page)
            writing.cancel()
            with contextlib.suppress(asyncio.CancelledError, ConnectionClosed):
                await writing

    async def _asked(self, _: Any, request: Any) -> Any:
        """Answer a request: with a file, a refusal, or nothing, which lets a socket open."""
        place = urlsplit(request.path)
        query = {name: values[-1] for name, values in parse_qs(place.query).items()}
        wrong = self._refusal(request.headers, query, place.path == SOCKET)
        if wrong is not None:
            return self._answer(HTTPStatus.FORBIDDEN, File(wrong.encode(), "text/plain; charset=utf-8"))
        if place.path == SOCKET:
            return None
        found = await self._events.file(place.path, query)
        if found is None:
            return self._answer(HTTPStatus.NOT_FOUND, File(b"There is nothing here.", "text/plain; charset=utf-8"))
        return self._answer(HTTPStatus.OK, found, request.headers.get("Host", ""))

    def _refusal(self, headers: Any, query: Mapping[str, str], socket_asked: bool) -> str | None:
        """Return why a request is refused, or None."""
        hosts, origins = headers.get_all("Host"), headers.get_all("Origin")
        if len(hosts) != 1 or not self._is_this(hosts[0]):
            return "This studio does not answer to that host name."
        if len(origins) > 1 or any(not same_origin(origin, hosts[0]) for origin in origins):
            return "Pages of other sites may not use this studio."
        if not origins and socket_asked and headers.get("Sec-Fetch-Mode"):
            return "Pages of other sites may not use this studio."
        if not self.token:
            return None
        given = query.get("token") or _cookies(headers).get(f"{COOKIE}-{self.port}", "")
        fits = hmac.compare_digest(given.encode("utf-8", "replace"), self.token.encode())
        return None if fits else "The address of this studio ends with a token; use the whole of it."

    def _is_this(self, host: str) -> bool:
        """Return whether a Host header names this server; a name that was made to lead here does not."""
        try:
            asked = urlsplit(f"//{host}")
            name, port = asked.hostname or "", asked.port or 80
        except ValueError:
            return False
        if port != self.port:
            return False
        if self.host in HERE:
            return name in HERE
        return name in {*HERE, self.host, socket.gethostname()} or _is_address(name)

    def _answer(self, status: HTTPStatus, file: File, host: str = "") -> Any:
        from websockets.datastructures import Headers
        from websockets.http11 import Response

        headers = Headers(
            {
                "Content-Type": file.kind,
                "Content-Length": str(len(file.content)),
                "Connection": "close",
                "Cache-Control": "no-store",
                "X-Content-Type-Options": "nosniff",
                "Referrer-Policy": "no-referrer",
                "Cross-Origin-Resource-Policy": "same-origin",
                "Content-Security-Policy": self._policy(host),
            }
        )
        if file.name:
            headers["Content-Disposition"] = f'attachment; filename="{file.name}"'
        if self.token and status is HTTPStatus.OK:
            headers["Set-Cookie"] = f"{COOKIE}-{self.port}={self.token}; HttpOnly; SameSite=Strict; Path=/"
        return Response(status.value, status.phrase, headers, file.content)

    def _policy(self, host: str) -> str:
        """Return what a page may do: run the studio's own scripts, and talk to this server."""
        return (
            "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; "
            f"img-src 'self' data: blob:; connect-src 'self' ws://{host or 'localhost'}; form-action 'none'; "
            f"base-uri 'none'; frame-ancestors {NOTEBOOKS if self.framed else NOWHERE}"
        )


def same_origin(origin: str, host: str) -> bool:
    """Return whether a page is one of this server.

    Example:
        >>> [same_origin(page, "localhost:8080") for page in ("http://localhost:8080", "https://evil.example")]
        [True, False]
    """
    try:
        page = urlsplit(origin)
    except ValueError:
        return False
    return page.scheme == "http" and page.netloc == host


def _cookies(headers: Any) -> dict[str, str]:
    pairs = (part.split("=", 1) for text in headers.get_all("Cookie") for part in text.split(";") if "=" in part)
    return {name.strip(): value.strip() for name, value in pairs}


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _own_address() -> str:
    """Return the address by which others most likely reach this machine."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("10.255.255.255", 1))  # sends nothing: it only chooses a way out
        return str(probe.getsockname()[0])
    return "127.0.0.1"


def _bound(host: str, port: int) -> socket.socket:
    """Return a socket at a port, or at the next that is free."""
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError) as error:
        raise OptionError(
            f"host {host!r} is not an address of this machine: {error}; 127.0.0.1 is this one."
        ) from error
    for number in range(port, min(port + TRIES, 65536)):
        found = socket.socket(family, kind, protocol)
        try:
            found.bind((place[0], number, *place[2:]))
        except OSError as error:
            found.close()
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise OptionError(
                    f"host {host!r} is not an address of this machine: {error}; 127.0.0.1 is this one."
                ) from error
            continue
        found.listen(64)
        return found
    raise OptionError(f"ports {port} to {min(port + TRIES, 65536) - 1} are all taken; give another, or 0 for any.")
