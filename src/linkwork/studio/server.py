"""The server of the page: a few files by HTTP and one socket for each page, in its own thread.

Unauthorized requests are refused in the handshake, before their data are read: pages of other sites, host names that
are not this machine and, if the studio is open to a network, requests without the token of its address.
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
TRIES = 50  # number of ports tried if one is taken
BEAT = 20.0  # s between pings over a network; on this machine the socket closes when a page goes
WAITING = 256  # unread messages after which a page is disconnected
NOTEBOOKS = "http://localhost:* http://127.0.0.1:* https://localhost:* https://127.0.0.1:* vscode-webview:"
NOWHERE = "'none'"
Message = str | bytes


@dataclass(frozen=True)
class File:
    """A file served at a path."""

    content: bytes
    kind: str
    name: str = ""  # file name for download; if empty, the page shows it


class Client(Protocol):
    """A connected page."""

    def send(self, message: Message) -> None:
        """Send a message; ignored if the page has disconnected."""


class Events(Protocol):
    """Handlers of the server's events; called in its thread, so they must not take long."""

    async def file(self, path: str, query: Mapping[str, str]) -> File | None:
        """Return the file at a path, or None."""

    def opened(self, client: Client) -> None:
        """Handle a page that has connected."""

    def received(self, client: Client, message: Message) -> None:
        """Handle a message of a page."""

    def closed(self, client: Client) -> None:
        """Handle a page that has disconnected."""


class _Page:
    """One socket with its own queue of messages, so that a slow page does not delay others."""

    def __init__(self, server: Server, connection: Any) -> None:
        self._server, self._connection = server, connection
        self.waiting: asyncio.Queue[Message | None] = asyncio.Queue(WAITING)

    def send(self, message: Message) -> None:
        self._server.call(self._put, message)

    def _put(self, message: Message) -> None:
        try:
            self.waiting.put_nowait(message)
        except asyncio.QueueFull:  # the page has not read for a long time
            self._connection.transport.abort()

    async def write(self) -> None:
        while (message := await self.waiting.get()) is not None:
            await self._connection.send(message)


class Server:
    """A server that runs until it is closed.

    Args:
        events: Handlers of its events.
        host: The address to bind; with ``127.0.0.1``, only this machine can reach it.
        port: The port; if it is taken, the next free one; 0 for any free port.
        limit: Largest message [bytes].

    Attributes:
        port: The port in use.
        token: The token that requests need; empty if only this machine can reach the server.
        framed: Whether a notebook on this machine may show the page in a frame.

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
        """The address of the page."""
        shown = _own_address() if self.host in ("0.0.0.0", "::") else self.host
        shown = f"[{shown}]" if ":" in shown else shown
        return f"http://{shown}:{self.port}/{f'?token={self.token}' if self.token else ''}"

    def call(self, act: Callable[..., None], *given: Any) -> None:
        """Call a function in the server's thread; ignored after its end."""
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
            pass  # the page left without closing, or sent too large a message
        finally:
            self._events.closed(page)
            writing.cancel()
            with contextlib.suppress(asyncio.CancelledError, ConnectionClosed):
                await writing

    async def _asked(self, _: Any, request: Any) -> Any:
        """Answer a request with a file or a refusal, or with None to open a socket."""
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
        return None if fits else "The address of this studio ends with a token; use the complete address."

    def _is_this(self, host: str) -> bool:
        """Return whether a Host header names this server, not another name that resolves to it (DNS rebinding)."""
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
        """Return the content security policy: a page may run the studio's scripts and connect to this server."""
        return (
            "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; "
            f"img-src 'self' data: blob:; connect-src 'self' ws://{host or 'localhost'}; form-action 'none'; "
            f"base-uri 'none'; frame-ancestors {NOTEBOOKS if self.framed else NOWHERE}"
        )


def same_origin(origin: str, host: str) -> bool:
    """Return whether a page comes from this server.

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
    """Return the address at which others most likely reach this machine."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("10.255.255.255", 1))  # sends nothing, only chooses a network interface
        return str(probe.getsockname()[0])
    return "127.0.0.1"


def _bound(host: str, port: int) -> socket.socket:
    """Return a socket bound to a port, or to the next free one."""
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError) as error:
        raise OptionError(f"host {host!r} is not an address of this machine: {error}; use 127.0.0.1.") from error
    for number in range(port, min(port + TRIES, 65536)):
        found = socket.socket(family, kind, protocol)
        try:
            found.bind((place[0], number, *place[2:]))
        except OSError as error:
            found.close()
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise OptionError(
                    f"host {host!r} is not an address of this machine: {error}; use 127.0.0.1."
                ) from error
            continue
        found.listen(64)
        return found
    raise OptionError(f"ports {port} to {min(port + TRIES, 65536) - 1} are all taken; give another, or 0 for any.")
