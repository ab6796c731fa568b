"""The server fails closed: without a private part of viser it does not serve, an origin it cannot read is refused."""

from __future__ import annotations

import asyncio
import dataclasses
import sys
from types import SimpleNamespace

import pytest

from linkwork.errors import VersionError
from linkwork.studio import viser_privates
from linkwork.studio.serving import make_server, same_origin

PARTS = [f"ViserServer.{path}" for path in viser_privates.SERVER]
PARTS += [f"_messages.{name}.{field}" for name, fields in viser_privates.MESSAGES.items() for field in fields]


class Live:
    """A connection: what it asked with, if that can be read, and how it was closed."""

    def __init__(self, **headers):
        self.request, self.closed = SimpleNamespace(headers=headers) if headers else None, None

    async def close(self, code, reason):
        self.closed = code, reason


class FakeServer:
    """A server of viser's with the parts that the studio uses, and none that is named in `lacking`."""

    lacking = ""
    made: FakeServer

    def __init__(self, **options):
        FakeServer.made, self.options = self, options
        self.stopped, self.callbacks, self.handlers, self.notes = False, [], {}, []
        sockets = SimpleNamespace(
            _live_connections={},
            queue_message=self.notes.append,
            on_client_connect=self.callbacks.append,
            register_handler=self.handlers.__setitem__,
            disconnect_all_clients=lambda: self.notes.append("all have to come again"),
        )
        self.gui = SimpleNamespace(_current_file_upload_states={"big": 1, "small": 1})
        self._websock_server, self._thread_executor = sockets, SimpleNamespace(shutdown=self.notes.append)
        owner, _, name = self.lacking.rpartition(".")
        if self.lacking:
            delattr({"": self, "_websock_server": sockets, "gui": self.gui}.get(owner, self._thread_executor), name)

    def stop(self):
        self.stopped = True

    def get_clients(self):
        return {}


def fake_viser(monkeypatch, lacking=""):
    """Put a viser in place that lacks one part."""
    owner, _, rest = lacking.partition(".")
    messages = {
        name: dataclasses.make_dataclass(name, [field for field in fields if f"_messages.{name}.{field}" != lacking])
        for name, fields in viser_privates.MESSAGES.items()
    }
    server = type("FakeServer", (FakeServer,), {"lacking": rest if owner == "ViserServer" else ""})
    module = SimpleNamespace(ViserServer=server, _messages=SimpleNamespace(**messages), __version__="9.8.7")
    monkeypatch.setitem(sys.modules, "viser", module)
    FakeServer.made = None
    return module


def serve():
    return make_server("127.0.0.1", 0, label="test", upload_limit=100)


@pytest.mark.parametrize("part", PARTS)
def test_without_a_private_part_of_viser_nothing_is_served(part, monkeypatch):
    fake_viser(monkeypatch, part)
    with pytest.raises(VersionError, match=r"viser 9\.8\.7 has no .*the studio does not start") as caught:
        serve()
    assert caught.value.part == part
    assert FakeServer.made is None or FakeServer.made.stopped


def test_whoever_connected_before_the_check_must_come_again(monkeypatch):
    fake_viser(monkeypatch)
    assert serve().notes[0] == "all have to come again"


HOST = {"Host": "127.0.0.1:8080"}
CONNECTIONS = {
    "a program": (Live(**HOST), None),
    "its own page": (Live(**HOST, Origin="http://127.0.0.1:8080"), None),
    "another page": (Live(**HOST, Origin="https://evil.example"), 1008),
    "no request": (Live(), 1008),
    "no address": (Live(**HOST, Origin="http://[evil"), 1008),
}


@pytest.mark.parametrize(("live", "code"), CONNECTIONS.values(), ids=CONNECTIONS)
def test_an_origin_that_is_foreign_or_cannot_be_read_is_refused(live, code, monkeypatch):
    fake_viser(monkeypatch)
    server = serve()
    server._websock_server._live_connections[7] = live
    asyncio.run(server.callbacks[0](SimpleNamespace(client_id=7)))
    assert (live.closed and live.closed[0]) == code


def test_a_connection_that_is_not_listed_is_ended_by_an_error(monkeypatch):
    fake_viser(monkeypatch)
    server = serve()
    with pytest.raises(KeyError):
        asyncio.run(server.callbacks[0](SimpleNamespace(client_id=7)))


def test_an_upload_above_the_limit_is_forgotten(monkeypatch):
    viser = fake_viser(monkeypatch)
    server = serve()
    handle = server.handlers[viser._messages.FileTransferStartUpload]
    for name, size in (("big", 101), ("small", 100)):
        handle(0, viser._messages.FileTransferStartUpload(transfer_uuid=name, filename=name, size_bytes=size))
    assert list(server.gui._current_file_upload_states) == ["small"]


@pytest.mark.parametrize("origin", ["null", "", "http://[", "file://"])
def test_an_origin_without_an_address_is_no_page_of_the_studio(origin):
    assert not same_origin({"Origin": origin}, "0.0.0.0")
