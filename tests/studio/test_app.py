"""The studio served, without a browser: what its controls do, what overlays show, what it refuses, how it ends."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
import threading
import time
import urllib.error
import urllib.request
from types import SimpleNamespace

import numpy as np
import pytest

import children
import linkwork as lw
from linkwork import errors

pytest.importorskip("viser")

from linkwork.formats import Content
from linkwork.models import MODELS
from linkwork.studio import app, open_studio, saving
from linkwork.studio.files_tab import FilesTab
from linkwork.studio.inside_tab import InsideTab
from linkwork.studio.posing_tab import PosingTab
from linkwork.studio.race_tab import RaceTab
from linkwork.studio.timeline_tab import TimelineTab
from linkwork.studio.view_tab import ViewTab

PATIENCE = 60.0


def until(condition, what):
    """Wait for something to come true."""
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            pytest.fail(f"waited {PATIENCE:g} s for {what}")
        time.sleep(0.02)


class Client:
    """A page that keeps what is sent to it."""

    def __init__(self):
        self.files = {}

    def send_file_download(self, name, content, **_):
        self.files[name] = content


CLIENT = Client()


@pytest.fixture(scope="module")
def served():
    """A studio that shows every change at once; in a page (test_page) it spares those that no one could see."""
    with pytest.MonkeyPatch.context() as patch, open_studio(lw.models.panda(), port=0) as studio:
        patch.setattr(app, "FRAME", 0.0)
        patch.setattr(app, "SLOW", 0.0)
        yield studio


@pytest.fixture
def studio(served):
    show(served, lw.models.panda())
    return served


def show(studio, linkage):
    studio.do(lambda: studio.open_scene(saving.scene_of(Content(linkage))))
    assert studio.idle(PATIENCE)


def ask(studio, handle, value=None):
    """Do what a page does when a person changes a control, and wait until all is done."""
    if value is not None:
        handle._impl.value = value
    for listener in handle._impl.update_cb:
        answer = listener(SimpleNamespace(client=CLIENT, client_id=0, target=handle))
        if asyncio.iscoroutine(answer):
            asyncio.run(answer)
    assert studio.idle(PATIENCE)


def add_goal(studio, kind="reach", frame="tip"):
    tab = studio.tab(PosingTab)
    ask(studio, tab.kind, kind)
    ask(studio, tab.frame, frame)
    ask(studio, tab.add)


def drag(studio, name, way):
    """Take a gizmo, move it and let it go."""
    handle = studio.gizmos.handles[name]
    for phase, share in (("start", 0.0), ("update", 0.5), ("update", 1.0), ("end", 1.0)):
        if phase == "update":
            handle._impl.position = handle._impl.position + 0.5 * share / 0.75 * np.asarray(way)
        for listener in handle._impl_aux.update_cb:
            asyncio.run(listener(SimpleNamespace(target=handle, phase=phase)))
    assert studio.idle(PATIENCE)


# Posing


@pytest.mark.parametrize("name", MODELS)
def test_every_model_is_shown(served, name):
    show(served, MODELS[name].function())
    assert served.session.linkage.name in served.status.content
    assert served.linkage_view.missing == []


def test_no_node_of_another_linkage_is_used_again(served):
    names = []
    for _ in range(2):
        show(served, MODELS["two_link"].function())
        names += [node.name for node in served.linkage_view._nodes]
    assert len(set(names)) == len(names)


def test_a_slider_turns_its_joint_in_degrees_or_radians(studio):
    tab = studio.tab(PosingTab)
    k = studio.session.linkage.coordinate_index["panda_joint1"]
    ask(studio, tab._sliders[0][1], 30.0)
    assert studio.session.q[k] == pytest.approx(np.radians(30.0))
    ask(studio, tab.degrees, False)
    ask(studio, tab._sliders[0][1], 0.25)
    assert studio.session.q[k] == 0.25
    ask(studio, tab.degrees, True)
    ask(studio, tab.stored, "ready")
    np.testing.assert_array_equal(studio.session.q, studio.session.linkage.stored_pose("ready"))


def test_one_stroke_of_a_slider_is_undone_at_once(studio, monkeypatch):
    monkeypatch.setattr("linkwork.studio.posing_tab.STROKE", np.inf)  # however slow the machine
    tab, before = studio.tab(PosingTab), studio.session.q
    for value in (10.0, 20.0, 30.0):
        ask(studio, tab._sliders[0][1], value)
    one = studio.session.q
    for value in (-20.0, -30.0):
        ask(studio, tab._sliders[1][1], value)
    for expected in (one, before):
        ask(studio, studio.history_buttons, "Undo")
        np.testing.assert_array_equal(studio.session.q, expected)


def test_a_dragged_gizmo_is_followed_and_sliders_with_it(studio):
    add_goal(studio)
    before = studio.session.q
    drag(studio, "tip", (-0.1, 0.1, 0.05))
    assert studio.session.solution.success
    tip = studio.session.linkage.forward(studio.session.q, frame="tip")[:3, 3]
    np.testing.assert_allclose(tip, studio.session.target("tip").place[:3, 3], atol=1e-3)
    dial, slider = studio.tab(PosingTab)._sliders[0]
    assert slider.value == pytest.approx(np.degrees(dial.read(studio.session.q)), abs=0.06)
    ask(studio, studio.history_buttons, "Redo")
    assert "nothing to redo" in studio.status.content
    ask(studio, studio.history_buttons, "Undo")
    np.testing.assert_array_equal(studio.session.q, before)
    ask(studio, studio.history_buttons, "Redo")
    assert studio.session.q is not before


def test_targets_are_weighed_ranked_switched_and_removed(studio):
    add_goal(studio)
    add_goal(studio, "pin", "panda_link4")
    controls = studio.tab(PosingTab)._targets
    ask(studio, controls["tip"]["weight"], 2.5)
    ask(studio, controls["tip"]["priority"], 1)
    target = studio.session.target("tip")
    assert (target.weight, target.priority) == (2.5, 1)
    ask(studio, controls["pin panda_link4"]["active"], False)
    assert list(studio.gizmos.handles) == ["tip"]
    ask(studio, controls["tip"]["turn"], True)
    assert studio.session.target("tip").turn
    ask(studio, controls["tip"]["remove"])
    assert [target.name for target in studio.session.scene.targets] == ["pin panda_link4"]


def test_what_cannot_be_is_said_and_the_studio_lives_on(studio):
    add_goal(studio, "pole", "panda_link0")
    assert "neither a knee nor an elbow" in studio.status.content
    studio.do(lambda: 1 / 0)
    assert studio.idle(PATIENCE)
    assert "ZeroDivisionError" in studio.status.content
    add_goal(studio)
    assert list(studio.gizmos.handles) == ["tip"]


def test_out_of_reach_is_explained_with_its_boundary_and_guilty_joints(studio):
    add_goal(studio)
    drag(studio, "tip", (2.0, 0.0, 0.0))
    until(lambda: "Move the goal nearer" in studio.status.content, "the explanation")
    assert "boundary" in studio.overlays.shown
    drag(studio, "tip", (-2.0, 0.0, 0.0))
    assert "boundary" not in studio.overlays.shown


def test_joints_at_their_limits_turn_red(served):
    show(served, lw.models.two_link().replace(joints={"elbow": {"lower": 0.0, "upper": 0.5}}))
    add_goal(served)
    drag(served, "tip", (-1.5, 0.0, 0.0))
    assert "guilty" in served.overlays.shown
    assert "elbow" in served.status.content


# Looking


@pytest.mark.parametrize(("box", "shown"), [
    ("frames", "frames"), ("names", "names"), ("cloud", "cloud"), ("ellipsoid", "ellipsoid"), ("mass", "mass"),
])  # fmt: skip
@pytest.mark.parametrize("model", ["panda", "human:floating", "planar:3"])
def test_overlays_come_follow_and_go(served, model, box, shown):
    show(served, lw.models.build(model))
    view = served.tab(ViewTab)
    ask(served, getattr(view, box), True)
    until(lambda: shown in served.overlays.shown, f"the overlay {shown}")
    served.do(lambda: served.session.set_pose(served.session.linkage.random_pose(1)))
    assert served.idle(PATIENCE)
    assert shown in served.overlays.shown
    ask(served, getattr(view, box), False)
    assert shown not in served.overlays.shown


def test_ground_and_view_are_switched(studio):
    view = studio.tab(ViewTab)
    ask(studio, view.ground, False)
    assert not studio.ground.visible
    ask(studio, view.frame, "panda_link4")
    assert studio.overlays.frame == "panda_link4"
    ask(studio, view.home)


# Racing and looking into a solve


def test_a_race_has_ghosts_and_ends(studio):
    tab = studio.tab(RaceTab)
    ask(studio, tab.start)
    assert "needs a goal" in studio.status.content
    add_goal(studio)
    for listener in tab.through._impl.update_cb:
        asyncio.run(listener(SimpleNamespace(client=CLIENT, client_id=0, target=tab.through)))
    until(lambda: tab.chase is not None and tab.chase.steps > 12, "some steps")
    assert set(tab._ghosts) == set(tab.chase.runners)
    assert "pseudoinverse" in tab.table.content
    studio.do(tab.stop)
    assert studio.idle(PATIENCE)
    assert tab._ghosts == {}
    assert studio.linkage_view.root.visible


def test_iterations_are_scrubbed(studio):
    tab = studio.tab(InsideTab)
    ask(studio, tab.look)
    assert "nothing has been solved" in studio.status.content
    add_goal(studio)
    drag(studio, "tip", (-0.2, 0.2, 0.1))
    ask(studio, tab.look)
    ask(studio, tab.iteration, 0)
    assert "Iteration 0 of" in tab.panel.content
    assert "Null space: 4 free directions" in tab.panel.content


def test_the_elbow_swings_and_swivels_while_the_hand_stays(studio):
    tab = studio.tab(InsideTab)
    add_goal(studio)
    q, world = studio.session.q, studio.session.linkage.forward(studio.session.q, frame="tip")
    for slider, amount in ((tab.swing, 0.4), (tab.swivel, 15)):
        ask(studio, slider, amount)
        moved = studio.session.q
        assert np.abs(moved - q).max() > 0.05
        np.testing.assert_allclose(studio.session.linkage.forward(moved, frame="tip")[:3, 3], world[:3, 3], atol=2e-4)
    ask(studio, tab.hold)
    assert tab.swing.value == 0.0
    assert studio.session.history.present.q is studio.session.q


# The timeline


def test_keys_are_set_chosen_changed_deleted_and_played(studio):
    tab = studio.tab(TimelineTab)
    ask(studio, tab.play)
    assert "set a key first" in studio.status.content
    ask(studio, tab.set)
    ask(studio, tab.time, 1.0)
    studio.do(lambda: studio.session.set_pose("pick"))
    ask(studio, tab.what, "pose")
    ask(studio, tab.set)
    assert studio.session.scene.timeline.times == [0.0, 1.0]
    until(lambda: tab.curves.handle.visible, "the curves")
    ask(studio, tab.skins, True)
    until(lambda: len(tab._skins) == 5, "the skins")
    ask(studio, tab.keys, tab.keys.options[1])
    ask(studio, tab.key_kind, "step")
    assert studio.session.scene.timeline.keys[0].kind == "step"
    for listener in tab.play._impl.update_cb:
        asyncio.run(listener(SimpleNamespace(client=CLIENT, client_id=0, target=tab.play)))
    until(lambda: tab.playing and studio.session.scene.time > 0.1, "the motion")
    studio.do(tab.stop)
    assert studio.idle(PATIENCE)
    ask(studio, tab.loop, False)
    assert not studio.session.scene.timeline.loop
    ask(studio, tab.keys, tab.keys.options[1])
    ask(studio, tab.time, 0.5)
    ask(studio, tab.move)
    assert studio.session.scene.timeline.times == [0.5, 1.0]
    ask(studio, tab.keys, tab.keys.options[1])
    ask(studio, tab.delete)
    assert studio.session.scene.timeline.times == [1.0]


# Files


def test_a_key_between_two_shown_digits_is_found(studio):
    tab, time = studio.tab(TimelineTab), 31.0 / 30.0  # 1.03333 in the list
    studio.do(lambda: studio.session.set_key(time))
    assert studio.idle(PATIENCE)
    until(lambda: len(tab.keys.options) == 2, "the key in the list")
    ask(studio, tab.keys, tab.keys.options[1])
    ask(studio, tab.key_kind, "step")
    assert [key.kind for key in studio.session.scene.timeline.keys] == ["step"]


def test_the_scene_is_downloaded_and_the_motion_exported(studio):
    tab = studio.tab(FilesTab)
    ask(studio, tab.save)
    scene, _ = saving.read_upload("panda.yaml", CLIENT.files["panda.yaml"])
    assert scene.linkage == studio.session.linkage
    ask(studio, tab.export)
    assert "no keys" in studio.status.content
    studio.do(lambda: (studio.session.set_key(0.0), studio.session.set_pose("pick"), studio.session.set_key(0.5)))
    ask(studio, tab.export)
    until(lambda: "panda.bvh" in CLIENT.files, "the export")


def test_only_the_scene_that_was_opened_is_saved_over(tmp_path):
    path = tmp_path / "arm.yaml"
    lw.save(lw.models.two_link(), path)
    with open_studio(path, port=0) as studio:
        studio.do(lambda: studio.session.add_target("reach", "tip"))
        ask(studio, studio.tab(FilesTab).over)
        assert "Saved over arm.yaml" in studio.status.content
    assert [target.name for target in saving.read_scene(path)[0].targets] == ["tip"]
    lw.models.motion("two_link").save(tmp_path / "arm.bvh")
    with open_studio(tmp_path / "arm.bvh", port=0) as studio:
        assert studio.path is None
        assert not studio.tab(FilesTab).over.visible
        assert "linkwork-remarks" in studio.tab(FilesTab).remarks.content


def test_uploads_are_read_or_refused(studio):
    tab = studio.tab(FilesTab)
    ask(studio, tab.upload, SimpleNamespace(name="x.urdf", content=b"<robot"))
    assert "x.urdf:1: not XML" in tab.remarks.content
    text = b"<robot name='next'><link name='only'/></robot>"
    ask(studio, tab.upload, SimpleNamespace(name="y.urdf", content=text))
    assert studio.session.linkage.name == "next"
    ask(studio, tab.model, "scara")
    ask(studio, tab.open)
    assert studio.session.linkage.name == "scara"


# Safety


@pytest.mark.parametrize("path", ["../../../../../etc/passwd", "%2e%2e/%2e%2e/%2e%2e/etc/passwd", "/etc/passwd"])
def test_no_file_of_this_machine_is_served(studio, path):
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(f"{studio.url}/{path}", timeout=PATIENCE)
    assert caught.value.code == 404
    caught.value.close()


def test_pages_of_others_may_not_connect(studio):
    import viser
    from websockets.exceptions import ConnectionClosed
    from websockets.sync.client import connect

    address = studio.url.replace("http", "ws")
    protocol = f"viser-v{viser.__version__}"
    other = connect(address, origin="https://evil.example", subprotocols=[protocol])
    with other, pytest.raises(ConnectionClosed) as closed:
        other.recv(timeout=PATIENCE)  # the very first word is that it has to go
    assert closed.value.rcvd.code == 1008


def test_closing_leaves_no_thread_behind():
    before = set(threading.enumerate())
    with open_studio("two_link", port=0) as opened:
        assert opened.url.startswith("http://127.0.0.1:")
        opened.do(lambda: opened.session.set_pose("straight"))
    until(lambda: set(threading.enumerate()) <= before, "the threads to end")
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(opened.url, timeout=PATIENCE)


def test_the_page_cannot_open_a_way_from_the_internet(studio):
    assert studio.server.request_share_url() is None


def test_an_upload_that_says_it_is_too_large_is_dropped(studio):
    from viser import _messages as messages

    big = messages.FileTransferStartUpload(
        source_component_uuid=studio.tab(FilesTab).upload._impl.uuid,
        transfer_uuid="big",
        filename="big.urdf",
        mime_type="",
        part_count=99,
        size_bytes=2**30,
    )
    for listener in studio.server._websock_server._incoming_handlers[messages.FileTransferStartUpload]:
        listener(0, big)
    assert "big" not in studio.server.gui._current_file_upload_states


@pytest.mark.parametrize("port", [-1, 65536, "8080"])
def test_ports_that_cannot_be_are_refused(port):
    with pytest.raises(errors.OptionError, match="a port goes from 0"):
        open_studio("two_link", port=port)


@pytest.mark.parametrize("host", ["999.1.1.1", "192.0.2.1", "\x00"])
def test_an_address_that_cannot_be_bound_is_refused(host):
    with pytest.raises(errors.OptionError, match="is not an address of this machine"):
        open_studio("two_link", host=host, port=0)


def test_what_is_no_file_and_no_model_is_refused():
    with pytest.raises(errors.ModelNotFoundError, match="pnada"):
        open_studio("pnada", port=0)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals for another process")
@pytest.mark.parametrize(("heard", "end"), [(signal.SIG_DFL, signal.SIGINT), (signal.SIG_IGN, signal.SIGTERM)])
def test_the_command_serves_until_interrupted_and_leaves_nothing(heard, end):
    """Ctrl-C ends it, and SIGTERM where that is ignored, as under nohup."""
    command = [sys.executable, "-m", "linkwork", "studio", "two_link", "--no-browser", "--port", "0"]
    with contextlib.ExitStack() as stack:
        before = signal.signal(signal.SIGINT, heard)  # which a child inherits
        try:
            process = stack.enter_context(children.started(command, text=True))
        finally:
            signal.signal(signal.SIGINT, before)
        first = process.stdout.readline()
        url = first.split()[4].rstrip(";")
        with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
            assert b"<html" in answer.read()[:2000]
        process.send_signal(end)
        rest, wrong = process.communicate(timeout=PATIENCE)
    assert first == f"The studio is at {url}; Ctrl-C ends it.\n"
    assert (process.returncode, rest, wrong) == (0, "", "")
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(url, timeout=PATIENCE)


def test_it_shows_itself_in_a_notebook_until_it_is_closed(studio):
    html = studio._repr_html_()
    assert f'<iframe src="{studio.url}"' in html
    with open_studio(lw.models.planar([1]), port=0) as other:
        pass
    assert "<iframe" not in other._repr_html_()
