"""Attacks: pages of other sites in a real browser, names with code, decompression bombs, links to other files."""

from __future__ import annotations

import json
import os
import socket

import numpy as np
import pytest

import linkwork as lw
from linkwork import errors
from linkwork.studio import saving
from linkwork.studio.scene import first_scene
from linkwork.studio.server import Server
from linkwork.studio.session import Session
from linkwork.studio.uploads import Uploads
from live_pages import site
from studio_hand import ELEMENT
from symlinks import symlink
from uploading import upload

pytest.importorskip("websockets")
PATIENCE = 30.0
EVIL = '<img src=x onerror="window.taken=1"><script>window.taken=1</script>'
SHORT = "<img src=x onerror=window.taken=1>"  # fits into 60 characters


# Other sites


@pytest.fixture
def stranger(browser):
    """A page that may request anything from this machine and other sites."""
    context = browser.new_context()
    with site("a page") as port:
        page = context.new_page()
        page.other = f"http://evil.localhost:{port}/"  # browsers resolve it to this machine
        page.notebook = f"http://localhost:{port}/"
        yield page
    context.close()


TRIES = {
    "a socket": "(url) => new Promise((done) => { const s = new WebSocket(url.replace('http', 'ws') + 'socket');"
    "s.onopen = () => { s.send(JSON.stringify({n: 1, ask: {do: 'add clip', name: 'stolen'}})); done('in'); };"
    "s.onerror = () => done('refused'); })",
    "reading": "(url) => fetch(url).then(() => 'in', () => 'refused')",
    "reading blindly": "(url) => fetch(url + 'studio.js', {mode: 'no-cors'}).then(() => 'in', () => 'refused')",
    "writing": "(url) => fetch(url, {method: 'POST', body: 'x'}).then(() => 'in', () => 'refused')",
    "its script": "(url) => new Promise((done) => { const s = document.createElement('script');"
    "s.src = url + 'studio.js'; s.onload = () => done('in'); s.onerror = () => done('refused');"
    "document.body.append(s); })",
    "its picture": "(url) => new Promise((done) => { const s = new Image(); s.src = url + 'icon.svg';"
    "s.onload = () => done('in'); s.onerror = () => done('refused'); })",
}


@pytest.mark.parametrize("attempt", TRIES)
def test_a_page_of_another_site_gets_nothing(stranger, opened, attempt):
    stranger.goto(stranger.other)
    assert stranger.evaluate(TRIES[attempt], opened.studio.url) == "refused"
    assert opened.studio.idle(PATIENCE)
    assert "stolen" not in opened.studio.session.scene.clips


def framed(page, url):
    """Show the studio in a frame of a page, and return whether it loads."""
    page.evaluate(
        "(url) => new Promise((done) => { const f = document.createElement('iframe'); f.onload = done; f.src = url;"
        "document.body.append(f); })",
        url,
    )
    frame = page.frames[-1]
    return frame.url == url and frame.evaluate("document.querySelector('linkwork-studio') !== null")


@pytest.mark.parametrize("kind", ["other", "notebook"])
def test_no_site_shows_it_in_a_frame(stranger, opened, kind):
    stranger.goto(getattr(stranger, kind))
    assert not framed(stranger, opened.studio.url)


def test_a_notebook_of_this_machine_may_and_another_site_still_not(stranger, opened):
    opened.studio._repr_html_()
    try:
        stranger.goto(stranger.notebook)
        assert framed(stranger, opened.studio.url)
        stranger.goto(stranger.other)
        assert not framed(stranger, opened.studio.url)
    finally:
        opened.studio.server.framed = False


def test_nothing_that_follows_a_refused_handshake_is_read():
    heard = []

    class Listener:
        async def file(self, *_):
            return None

        def opened(self, _):
            heard.append("opened")

        def received(self, _, message):
            heard.append(message)

        def closed(self, _):
            heard.append("closed")

    server = Server(Listener(), "127.0.0.1", 0, limit=1000)
    frame = bytes([0x81, 0x82, 0, 0, 0, 0]) + b"hi"  # a message of two letters with a zero mask
    try:
        for origin in ("https://evil.example", "null"):
            ask = (
                f"GET /socket HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nOrigin: {origin}\r\nUpgrade: websocket\r\n"
                "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
            )
            with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as link:
                link.sendall(ask.encode() + 20 * frame)
                link.settimeout(PATIENCE)
                assert link.recv(100).startswith(b"HTTP/1.1 403")
    finally:
        server.close()
    assert heard == []


# Names


def test_names_are_never_run(hand, tmp_path):
    page = hand.page
    rod = lw.bone((0, 0, 0), (1, 0, 0), 0.05)
    arm = (
        lw.Builder(EVIL)
        .revolute(f"j{EVIL}", f"hand{EVIL}", axis="z", shape=rod)
        .frame(f"tip{EVIL}", at=(1, 0, 0))
        .build()
    )
    hand.studio.do(lambda session: session.open(first_scene(arm), (), EVIL))
    hand.until(lambda n: len(n["q"]) == 1, "the evil arm")
    goal = hand.numbers()["state"]["goals"][0]["name"]
    hand.ask(do="change goal", name=goal, rename=SHORT)
    hand.ask(do="add clip", name=SHORT)
    hand.ask(do="store pose", name=SHORT)
    hand.ask(do="add obstacle", kind="box", size=1.0)
    for moment, angle in ((0.0, 0.1), (0.5, 0.9)):
        hand.ask(do="pose", q=[angle])
        hand.ask(do="set key", time=moment, places=True)
    hand.ask(do="export", kind=".csv")
    hand.until(lambda n: any(job["state"] == "done" for job in n["state"]["jobs"]), "the export")
    (tmp_path / f"{SHORT}.urdf").write_text(
        f"<robot name='{SHORT.replace('<', '&lt;')}'><link name='a'>", encoding="utf-8"
    )
    page.set_input_files("input[type=file]", str(tmp_path / f"{SHORT}.urdf"))
    page.locator(".note:not([hidden])").wait_for()
    for name in ("Joints", "Goals", "Obstacles", "Race", "View", "Files", "Inside"):
        page.get_by_role("tab", name=name).click()
    page.get_by_role("button", name="Inspect the last solve").click()
    page.evaluate(f"() => {{ const s = {ELEMENT}; s.choose(s.state.goals[0].name); s.timeline.curves.toggle(); }}")
    hand.drag(hand.at(SHORT), 30, -20)
    hand.undone(f"drag of {SHORT}")
    page.mouse.move(*hand.link_at(f"hand{EVIL}"))  # hovering shows its name
    for refused in ({"do": "choose clip", "name": EVIL[:60]}, {"do": "overlay", "kind": "mass", "frame": EVIL[:60]}):
        page.evaluate(f"(ask) => {ELEMENT}.link.tell(ask)", refused)
    page.keyboard.press("Control+k")
    page.keyboard.type("img")
    page.wait_for_timeout(300)
    assert SHORT in page.locator(".palette").inner_text()
    page.keyboard.press("Escape")
    page.evaluate(f"{ELEMENT}.timeline.curves.toggle()")
    assert page.evaluate("window.taken") is None
    assert page.evaluate(f"{ELEMENT}.root.querySelectorAll('img, script').length") == 0
    assert page.evaluate("document.images.length") == 0
    assert EVIL in page.title()


@pytest.mark.parametrize("name", ["", " ", "x" * 61, "two\nlines", "a\0b", "\u202etxt"])
def test_names_that_nobody_could_read_are_refused(name):
    session = Session(first_scene(lw.models.planar([2, 1])))
    before = session.scene
    with pytest.raises(errors.OptionError, match="1 to 60 characters"):
        session.store_pose(name)
    with pytest.raises(errors.OptionError, match="1 to 60 characters"):
        session.change_target("tip", name=name)
    assert session.scene is before


@pytest.mark.parametrize("name", ['x"; filename="y.exe', "a\r\nSet-Cookie: b=c", "../../up", "\u202e", "CON", ""])
def test_names_of_downloads_are_harmless(name):
    found = saving.file_name(name)
    assert found
    assert all(letter.isalnum() or letter in "._-" for letter in found)
    assert not found.startswith(".")


# Bombs

LAUGHS = "".join(f'<!ENTITY l{k} "{10 * f"&l{k - 1};"}">' for k in range(1, 12))
BOMBS = {
    "laughs.urdf": f'<!DOCTYPE r [<!ENTITY l0 "ha">{LAUGHS}]><robot name="&l11;"><link name="a"/></robot>'.encode(),
    "outside.urdf": b'<!DOCTYPE r [<!ENTITY e SYSTEM "file:///etc/passwd">]><robot name="&e;"><link name="a"/></robot>',
    "anchors.yaml": b"a: &a [x,x,x,x,x,x,x,x,x]\n"
    + b"".join(b"%c: &%c [%s]\n" % (98 + k, 98 + k, b",".join(9 * [b"*%c" % (97 + k)])) for k in range(9)),
    "deep.json": b"[" * 200_000,
    "deep.urdf": b"<robot name='x'>" + b"<a>" * 100_000,
    "numbers.urdf": b"<robot name='x'><link name='a'/><link name='b'/><joint name='j' type='revolute'>"
    b"<parent link='a'/><child link='b'/><origin xyz='1e300 1e300 1e300'/>"
    b"<limit lower='-1e300' upper='1e300'/></joint></robot>",
    "frames.bvh": b"HIERARCHY\nROOT hip\n{\nOFFSET 0 0 0\nCHANNELS 3 Xrotation Yrotation Zrotation\n"
    b"End Site\n{\nOFFSET 0 1 0\n}\n}\n"
    b"MOTION\nFrames: 999999999999\nFrame Time: 0.01\n0 0 0\n",
    "loop.gltf": json.dumps({"asset": {"version": "2.0"}, "nodes": [{"children": [1]}, {"children": [0]}]}).encode(),
}


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_are_refused_in_words(name):
    reader = Uploads()
    try:
        with pytest.raises(errors.FormatError) as caught:
            reader.read(upload({name: BOMBS[name]}))
        assert name in str(caught.value)
        assert len(str(caught.value)) < 500
        assert "root:" not in str(caught.value)
    finally:
        reader.close()


# Links


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege on Windows")
def test_saving_never_follows_a_link_out_of_its_folder(tmp_path):
    home, other = tmp_path / "home", tmp_path / "other"
    home.mkdir()
    other.mkdir()
    lw.save(lw.models.planar([2, 1]), other / "arm.yaml")
    before = (other / "arm.yaml").read_bytes()
    symlink(home / "arm.yaml", other / "arm.yaml")
    with lw.studio.open_studio(home / "arm.yaml", port=0) as studio:
        studio.q = [0.3, 0.4]
        with pytest.raises(errors.OptionError, match="a link that leads out of its folder"):
            studio.save()
    assert (other / "arm.yaml").read_bytes() == before
    (home / "arm.yaml").unlink()
    (home / "real.yaml").write_bytes(before)
    symlink(home / "arm.yaml", home / "real.yaml")
    with lw.studio.open_studio(home / "arm.yaml", port=0) as studio:
        studio.q = [0.3, 0.4]
        assert studio.save() == "arm.yaml"
    assert saving.read_scene(home / "real.yaml")[0].q.tolist() == [0.3, 0.4]


def test_numbers_that_are_none_never_reach_a_page(hand):
    """The page reads all of Python's answers, also infinite numbers; failures are reported to the page that asked."""
    hand.ask(do="add obstacle", kind="sphere", size=1.0)
    ask = "{do: 'resize obstacle', name: 'sphere1', which: 2, value: 1}"
    text = hand.page.evaluate(f"{ELEMENT}.link.ask({ask}).then(() => 'done', (error) => error.message)")
    assert text != "done"
    found = hand.ask(do="race", methods=["damped", "pseudoinverse"], begin=True, steps=1)
    curves = [value for racer in found["racers"].values() for curve in racer["curves"].values() for value in curve]
    assert all(value is None or np.isfinite(value) for value in curves)
    hand.ask(do="end race")
