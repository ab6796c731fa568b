"""Start of the studio: the address is available first, pages wait for the rest, and failures leave nothing open."""

from __future__ import annotations

import json
import socket
import threading
import urllib.request

import pytest

import linkwork as lw
from linkwork.errors import FormatError, LinkworkError
from linkwork.models import MODELS, NAMED, build, catalogue

client = pytest.importorskip("websockets.sync.client")
door = pytest.importorskip("linkwork.studio.door")

PATIENCE = 60.0


def answered(link, number):
    """Return the messages of the studio until it answers."""
    heard = []
    while not heard or heard[-1].get("n") != number:
        message = link.recv(timeout=PATIENCE)
        heard += [json.loads(message)] if isinstance(message, str) else []
    return heard


def is_open(url):
    port = int(url.split(":")[2].split("/")[0])
    try:
        socket.create_connection(("127.0.0.1", port), PATIENCE).close()
    except OSError:
        return False
    return True


def test_a_page_that_comes_early_is_shown_everything_and_has_done_what_it_asked_for():
    links = []

    def tell(url):
        link = client.connect(url.replace("http", "ws") + "socket", max_size=None)
        link.send(json.dumps({"n": 7, "ask": {"do": "method", "name": "ccd"}}))
        links.append(link)

    with lw.studio.open_studio("panda", port=0, tell=tell) as studio, links[0] as link:
        heard = answered(link, 7)
        assert [name for name in ("choices", "stage", "solver", "state") if any(name in one for one in heard)] == [
            "choices", "stage", "solver", "state",
        ]  # fmt: skip
        assert heard[-1] == {"n": 7, "done": None}
        assert studio.session.scene.method == "ccd"


def test_a_page_that_has_gone_again_is_forgotten():
    def tell(url):
        client.connect(url.replace("http", "ws") + "socket", max_size=None).close()

    with lw.studio.open_studio("panda", port=0, tell=tell) as studio:
        assert studio.idle(PATIENCE)
        assert studio._clients == []


def test_what_a_page_loads_is_waited_for_in_order():
    got = {}

    def load(url):
        for path in ("", "studio.js", "linkwork.wasm"):
            got[path] = urllib.request.urlopen(url + path, timeout=PATIENCE).read()

    loading = []

    def tell(url):
        loading.append(threading.Thread(target=load, args=(url,)))
        loading[0].start()

    with lw.studio.open_studio("panda", port=0, tell=tell):
        loading[0].join(PATIENCE)
    assert b"<linkwork-studio>" in got[""]
    assert b"customElements.define" in got["studio.js"]
    assert got["linkwork.wasm"].startswith(b"\0asm")


def test_too_many_messages_before_there_is_a_studio_are_refused():
    waits = door.Door("127.0.0.1", 0)
    try:
        with client.connect(waits.server.url.replace("http", "ws") + "socket") as link:
            for number in range(door.MOST + 1):
                link.send(json.dumps({"n": number, "ask": {"do": "undo"}}))
            assert "being prepared" in json.loads(link.recv(timeout=PATIENCE))["refused"]
    finally:
        waits.close()


def test_the_address_of_a_file_is_told_when_it_was_read(tmp_path):
    told = []
    (tmp_path / "broken.urdf").write_text("<robot>", encoding="utf-8")
    with pytest.raises(FormatError):
        lw.studio.open_studio(tmp_path / "broken.urdf", port=0, tell=told.append)
    with pytest.raises(LinkworkError):
        lw.studio.open_studio("planar:x", port=0, tell=told.append)
    assert told == []
    lw.save(build("planar:2,1"), tmp_path / "arm.yaml")
    with lw.studio.open_studio(tmp_path / "arm.yaml", port=0, tell=told.append) as studio:
        assert told == [studio.url]


def test_what_fails_after_the_address_was_told_closes_the_door(monkeypatch):
    told = []
    monkeypatch.setattr("linkwork.studio.app.Studio.__init__", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        lw.studio.open_studio("panda", port=0, tell=told.append)
    assert not is_open(told[0])


def test_models_that_are_known_by_name_are_those_of_the_catalogue_and_can_be_built():
    assert set(catalogue._OWN) == NAMED
    assert set(MODELS) >= NAMED
    for name in sorted(NAMED):
        assert build(name).nq
