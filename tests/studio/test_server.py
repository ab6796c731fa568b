"""The studio's server, tested over plain sockets: access, served and refused requests."""

from __future__ import annotations

import json
import socket
import threading

import pytest

import linkwork as lw

client = pytest.importorskip("websockets.sync.client")
exceptions = pytest.importorskip("websockets.exceptions")
ConnectionClosed = exceptions.ConnectionClosed
Server = pytest.importorskip("linkwork.studio.server").Server

PATIENCE = 30.0


@pytest.fixture(scope="module")
def studio():
    with lw.studio.open_studio("planar:15,10,5", port=0) as opened:
        yield opened


def asked(studio, text, *, port=None):
    """Send the text of a request and return the complete response."""
    with socket.create_connection(("127.0.0.1", port or studio.server.port), PATIENCE) as link:
        link.sendall(text.replace("\n", "\r\n").replace("PORT", str(studio.server.port)).encode())
        link.settimeout(PATIENCE)
        parts = []
        while part := link.recv(65536):
            parts.append(part)
            if b"101 Switching" in part:
                break
    return b"".join(parts).decode("utf-8", "replace")


def page(studio, path="/", host="127.0.0.1:PORT", more=""):
    return asked(studio, f"GET {path} HTTP/1.1\nHost: {host}\n{more}\n")


def handshake(studio, host="127.0.0.1:PORT", origin=None, more=""):
    own = "" if origin is None else f"Origin: {origin}\n"
    key = "Upgrade: websocket\nConnection: Upgrade\nSec-WebSocket-Version: 13\n"
    key += "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\n"
    return asked(studio, f"GET /socket HTTP/1.1\nHost: {host}\n{own}{key}{more}\n")


def connected(studio, **options):
    return client.connect(f"ws://127.0.0.1:{studio.server.port}/socket", max_size=None, **options)


def until(link, wanted):
    """Return the next message that has a field."""
    while True:
        message = link.recv(timeout=PATIENCE)
        if isinstance(message, str) and wanted in json.loads(message):
            return json.loads(message)


def drained(link, message=b""):
    """Send a message, and read until the end."""
    if message:
        link.send(message)
    while True:
        link.recv(timeout=PATIENCE)


def test_the_page_and_its_rules(studio):
    answer = page(studio)
    assert answer.startswith("HTTP/1.1 200")
    assert "<linkwork-studio>" in answer
    for rule in ("default-src 'none'", "script-src 'self' 'wasm-unsafe-eval'", "frame-ancestors 'none'"):
        assert rule in answer
    assert "unsafe-eval" not in answer.replace("'wasm-unsafe-eval'", "")
    assert "X-Content-Type-Options: nosniff" in answer


@pytest.mark.parametrize(
    "host",
    ["evil.example:PORT", "127.0.0.1:1", "localhost.evil:PORT", "", "[::1", "127.0.0.1:PORT\nHost: localhost:PORT"],
)
@pytest.mark.parametrize("ask", [page, handshake])
def test_other_hosts_are_refused(studio, host, ask):
    assert "403 Forbidden" in ask(studio, host=host) or "400 Bad Request" in ask(studio, host=host)


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "http://127.0.0.1:1",
        "http://localhost.evil:PORT",
        "null",
        "",
        "file://",
        "https://127.0.0.1:PORT",
    ],
)
def test_pages_of_other_sites_are_refused_in_the_handshake(studio, origin):
    before = studio.session.scene
    answer = handshake(studio, origin=origin.replace("PORT", str(studio.server.port)), more="Cookie: a=b\n")
    assert "403 Forbidden" in answer
    assert "101" not in answer.splitlines()[0]
    assert studio.session.scene is before


def test_own_pages_and_programs_are_let_in(studio):
    for name in ("127.0.0.1", "localhost"):
        own = f"{name}:{studio.server.port}"
        assert "101 Switching" in handshake(studio, host=own, origin=f"http://{own}")
    assert "101 Switching" in handshake(studio)


@pytest.mark.parametrize(
    "path",
    [
        "/../../etc/passwd",
        "/%2e%2e/etc/passwd",
        "/studio.js/../x",
        "//etc/passwd",
        "/download?file=../x",
        "/download",
        "/icon.svg%00",
        "/package://x",
    ],
)
def test_nothing_of_the_machine_is_served(studio, path):
    answer = page(studio, path)
    assert answer.startswith("HTTP/1.1 404")
    assert "There is nothing here." in answer


@pytest.mark.parametrize("method", ["POST", "HEAD", "PUT", "DELETE", "OPTIONS"])
def test_other_methods_are_refused(studio, method):
    answer = asked(studio, f"{method} / HTTP/1.1\nHost: 127.0.0.1:PORT\nContent-Length: 3\n\nabc")
    assert "200 OK" not in answer


@pytest.mark.parametrize(
    "message",
    ["", "{", "[]",
     '{"ask": 3}', '{"n": 1, "ask": {"do": "nothing"}}', '{"n": 1, "ask": {"do": "drag", "name": "tip"}}',
     '{"n": 1, "ask": {"do": "undo", "more": 1}}', '{"n": 1, "ask": {"do": "settle", "q": [1e999, 0, 0]}}', "[" * 5000,
     '{"n": 1, "ask": {"do": "set key", "time": -1}}',
     '{"n": 1, "ask": {"do": "drag", "name": "tip", "place": [1, 2]}}'],
)  # fmt: skip
def test_what_does_not_fit_is_refused_and_changes_nothing(studio, message):
    before = studio.session.scene
    with connected(studio) as link:
        until(link, "state")
        link.send(message)
        assert until(link, "refused")["refused"]
        link.send('{"n": 2, "ask": {"do": "undo"}}')
        assert until(link, "n")["n"] == 2
    assert studio.session.scene is before


class Listener:
    """A stand-in for the handler of server events, which stores them."""

    def __init__(self):
        self.heard = []

    def file(self, *_):
        return None

    def opened(self, page):
        page.send("welcome")

    def received(self, _, message):
        self.heard.append(message)

    def closed(self, _):
        self.heard.append(None)


def test_a_message_over_the_limit_ends_its_connection_alone():
    listener = Listener()
    server = Server(listener, "127.0.0.1", 0, limit=1000)
    try:
        address = f"ws://127.0.0.1:{server.port}/socket"
        with client.connect(address) as other, client.connect(address) as link:
            assert [one.recv(timeout=PATIENCE) for one in (other, link)] == ["welcome", "welcome"]
            with pytest.raises(ConnectionClosed):
                drained(link, b"\0" * 1001)
            other.send(b"\0" * 1000)
    finally:
        server.close()
    assert [message for message in listener.heard if message is not None] == [b"\0" * 1000]


def test_twenty_pages_see_one_session(studio):
    links = [connected(studio) for _ in range(20)]
    try:
        for link in links:
            until(link, "state")
        links[0].send('{"n": 1, "ask": {"do": "add clip", "name": "second"}}')
        for link in links[1:]:
            while "second" not in until(link, "state")["state"].get("clips", []):
                continue
        links[0].send('{"n": 2, "ask": {"do": "undo"}}')
        assert until(links[0], "n")["n"] in (1, 2)
    finally:
        for link in links:
            link.close()


def test_off_this_machine_a_token_is_asked_for():
    with lw.studio.open_studio("planar:2,1", host="0.0.0.0", port=0) as open_to_all:
        token, port = open_to_all.server.token, open_to_all.server.port
        assert len(token) > 20
        assert token in open_to_all.url
        for path in ("/", "/studio.js", "/?token=wrong", f"/?token={token[:-1]}"):
            assert page(open_to_all, path).startswith("HTTP/1.1 403")
        assert "403" in handshake(open_to_all).splitlines()[0]
        answer = page(open_to_all, f"/?token={token}")
        assert answer.startswith("HTTP/1.1 200")
        assert "HttpOnly; SameSite=Strict" in answer
        cookie = f"Cookie: linkwork-studio-{port}={token}\n"
        assert page(open_to_all, "/studio.css", more=cookie).startswith("HTTP/1.1 200")
        assert "101 Switching" in handshake(open_to_all, more=cookie)
        assert page(open_to_all, "/studio.css", host="evil.example:PORT", more=cookie).startswith("HTTP/1.1 403")


def test_a_notebook_may_frame_it_once_it_was_shown(studio):
    assert "frame-ancestors 'none'" in page(studio)
    html = studio._repr_html_()
    assert str(studio.server.port) in html
    assert "frame-ancestors http://localhost:*" in page(studio)
    studio.server.framed = False


def test_it_ends_with_all_its_threads():
    before = set(threading.enumerate())
    opened = lw.studio.open_studio("planar:2,1", port=0)
    with client.connect(f"ws://127.0.0.1:{opened.server.port}/socket", max_size=None) as link:
        until(link, "state")
        opened.close()
        with pytest.raises(ConnectionClosed):
            drained(link)
    assert {thread for thread in threading.enumerate() if "linkwork" in thread.name} <= before
    assert "closed" in opened._repr_html_()


@pytest.mark.parametrize("port", [-1, 65536, 1.5, "8080"])
def test_ports_that_cannot_be_are_refused(port):
    with pytest.raises(lw.errors.OptionError, match="a port goes from 0"):
        lw.studio.open_studio("planar:2,1", port=port)


@pytest.mark.parametrize("host", ["203.0.113.1", "no such host"])
def test_an_address_that_cannot_be_bound_is_refused(host):
    with pytest.raises(lw.errors.OptionError, match="not an address of this machine"):
        lw.studio.open_studio("planar:2,1", host=host, port=0)


def test_a_taken_port_gives_the_next(studio):
    with lw.studio.open_studio("planar:2,1", port=studio.server.port) as other:
        assert other.server.port > studio.server.port


def test_a_refused_status_is_no_socket(studio):
    with pytest.raises(exceptions.InvalidStatus):
        connected(studio, origin="https://evil.example")
