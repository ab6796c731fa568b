"""Every private part of viser that the studio uses, and the check that it is there.

viser has no public way to see where a connection comes from, to refuse an upload or to hand over a script. A version
without one of these parts would leave the studio open to any website, so that it does not serve at all then.
"""

from __future__ import annotations

from typing import Any

from ..errors import VersionError

# Fields of messages, by the class in `viser._messages`.
MESSAGES = {
    "RunJavascriptMessage": ("source",),
    "FileTransferStartUpload": ("transfer_uuid", "filename", "size_bytes"),
}
# Attributes of a running server.
SERVER = (
    "_websock_server._live_connections",
    "_websock_server.queue_message",
    "_websock_server.on_client_connect",
    "_websock_server.register_handler",
    "_websock_server.disconnect_all_clients",
    "gui._current_file_upload_states",
    "_thread_executor.shutdown",
)


def checked_messages(viser: Any) -> Any:
    """Return viser's messages.

    Raises:
        VersionError: If one that the studio uses is missing, or a field of it.
    """
    messages = getattr(viser, "_messages", None)
    for name, fields in MESSAGES.items():
        known = getattr(getattr(messages, name, None), "__dataclass_fields__", {})
        for field in fields:
            if field not in known:
                raise _missing(viser, f"_messages.{name}.{field}")
    return messages


def check_server(viser: Any, server: Any) -> None:
    """Raise VersionError if a running server lacks a part that the studio uses."""
    for path in SERVER:
        owner = server
        for name in path.split("."):
            owner = getattr(owner, name, None)
        if owner is None:
            raise _missing(viser, f"ViserServer.{path}")


def connections(server: Any) -> Any:
    """Return what holds the connections of a server."""
    return server._websock_server


def request_headers(server: Any, client_id: int) -> Any:
    """Return the headers that a connection began with, or None if they cannot be read."""
    live = connections(server)._live_connections.get(client_id)
    return getattr(getattr(live, "request", None), "headers", None)


async def refuse(server: Any, client_id: int, reason: str) -> None:
    """Close a connection, or fail so that viser ends it."""
    await connections(server)._live_connections[client_id].close(1008, reason)


def drop_upload(server: Any, transfer: str) -> None:
    """Forget an upload that was announced: what comes of it is not kept."""
    server.gui._current_file_upload_states.pop(transfer, None)


def stop(server: Any) -> None:
    """End a server and wait for its threads."""
    server.stop()
    server._thread_executor.shutdown(wait=True)


def _missing(viser: Any, part: str) -> VersionError:
    return VersionError("viser", getattr(viser, "__version__", "unknown"), part, "studio", "the studio does not start")
