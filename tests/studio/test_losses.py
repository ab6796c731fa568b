"""Nothing is lost without a question: every way to lose work asks first or can be undone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import linkwork as lw
from linkwork import errors
from linkwork.studio import autosave, saving
from linkwork.studio.history import History
from linkwork.studio.own_file import OwnFile
from linkwork.studio.scene import first_scene
from studio_hand import ELEMENT, fresh

pytest.importorskip("websockets")

PATIENCE = 60.0


def work(hand):
    """Drag a goal and set a key; return the work that must not be lost: pose, goals, keys."""
    hand.drag(hand.at("tip"), 40, -30)
    hand.undone("drag of tip")
    hand.ask(do="set key", time=1.0)
    return done(hand.undone("key at 1 s"))


def done(numbers):
    state = numbers["state"]
    return state["pose"]["q"], [goal["name"] for goal in state["goals"]], state["clip"]["keys"], state["clips"]


def undo(hand, before):
    """Press Ctrl+Z, and wait for the former state."""
    hand.page.keyboard.press("Control+z")
    hand.until(lambda n: done(n) == before, "what was there before")


# Undo


def test_another_model_is_undone(hand):
    before = work(hand)
    hand.page.evaluate(f"{ELEMENT}.room.open('Files')")
    hand.page.get_by_label("Model").select_option("ur5")
    hand.until(lambda n: n["state"]["file"]["linkage"] == "ur5" and len(n["q"]) == 6, "the other model")
    undo(hand, before)
    hand.until(lambda n: n["q"] == before[0], "the pose on the stage")


def test_a_file_that_is_dropped_is_undone(hand, tmp_path):
    before = work(hand)
    lw.save(lw.models.planar([2, 1]), tmp_path / "arm.urdf")
    script = (
        "([name, text]) => { const data = new DataTransfer(); data.items.add(new File([text], name));"
        f"{ELEMENT}.room.root.dispatchEvent(new DragEvent('drop', {{ dataTransfer: data, bubbles: true }})); }}"
    )
    hand.page.evaluate(script, ["arm.urdf", (tmp_path / "arm.urdf").read_text(encoding="utf-8")])
    hand.until(lambda n: n["state"]["file"]["linkage"] == "planar", "what was dropped")
    undo(hand, before)


@pytest.mark.parametrize(
    ("act", "gone"),
    [
        ({"do": "remove clip"}, lambda state: state["clip"]["keys"] == []),
        ({"do": "remove goal", "name": "tip"}, lambda state: state["goals"] == []),
        ({"do": "remove keys", "times": [1.0]}, lambda state: state["clip"]["keys"] == []),
        ({"do": "pose", "q": "ready", "what": "pose ready"}, lambda state: state["history"]["undo"] == "pose ready"),
    ],
    ids=lambda one: one["do"] if isinstance(one, dict) else "",
)
def test_what_is_removed_is_undone(hand, act, gone):
    before = work(hand)
    hand.ask(**act)
    hand.until(lambda n: gone(n["state"]), "that it is gone")
    undo(hand, before)


def test_a_pose_without_a_key_is_brought_back_by_undo_and_redo(hand):
    hand.ask(do="set key", time=1.0)
    hand.drag(hand.at("tip"), 50, -20)
    dragged = hand.undone("drag of tip")["state"]["pose"]["q"]
    hand.page.keyboard.press("Home")
    hand.until(lambda n: n["state"]["pose"]["q"] != dragged, "another time")
    hand.page.keyboard.press("Control+z")
    hand.undone("key at 1 s")
    hand.page.keyboard.press("Control+Shift+z")
    hand.until(lambda n: n["state"]["pose"]["q"] == dragged, "what was dragged")


def test_however_heavy_a_state_is_one_goes_back_from_it():
    history = History(b"work", weigh=lambda state, _: len(state), heaviest=10)
    history.record(b"x" * 1000, "opening of a large file")
    assert (history.can_undo, history.undo()) == ("opening of a large file", b"work")


# Pages that close and open


def test_a_page_that_is_reloaded_or_closed_loses_nothing(hand, shown):
    before = work(hand)
    hand.page.reload()
    hand.page.evaluate(f"{ELEMENT}.ready")
    assert done(hand.numbers()) == before
    other = hand.page.context.new_page()
    other.goto(hand.studio.url)
    other.evaluate(f"{ELEMENT}.ready")
    other.close()
    assert done(hand.numbers()) == before
    hand.page.keyboard.press("Control+z")
    hand.undone("drag of tip")  # the history is kept
    fresh(hand)


# Overwritten files


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "arm.yaml"
    saving.write_scene(first_scene(lw.models.planar([2, 1])), path)
    path.write_text(f"# by hand\n{path.read_text(encoding='utf-8')}", encoding="utf-8")
    return path


def test_saving_over_a_file_asks_first_and_when_something_else_has_changed_it(browser, file):
    with lw.studio.open_studio(file, port=0) as studio:
        page = browser.new_page()
        page.goto(studio.url)
        page.evaluate(f"{ELEMENT}.ready")
        studio.q = [0.3, 0.4]
        assert studio.unsaved
        page.evaluate(f"{ELEMENT}.room.open('Files')")
        question = page.locator("dialog.ask")
        page.get_by_role("button", name="Save over arm.yaml").click()
        question.get_by_text("Comments and fields").wait_for()
        question.get_by_role("button", name="Cancel").click()
        assert file.read_text(encoding="utf-8").startswith("# by hand")
        page.keyboard.press("Control+s")
        question.get_by_role("button", name="Save over arm.yaml").click()
        page.locator(".note").get_by_text("Saved over arm.yaml.").wait_for()
        assert saving.read_scene(file)[0].q.tolist() == [0.3, 0.4]
        assert not studio.unsaved
        studio.q = [0.5, 0.4]
        page.keyboard.press("Control+s")  # the file was saved from here: no question
        end = time.monotonic() + PATIENCE
        while studio.unsaved and time.monotonic() < end:
            page.wait_for_timeout(20)
        assert saving.read_scene(file)[0].q.tolist() == [0.5, 0.4]
        file.write_text(file.read_text(encoding="utf-8") + "\n# by somebody else\n", encoding="utf-8")
        page.keyboard.press("Control+s")
        question.get_by_text("Another program has changed arm.yaml").wait_for()
        page.keyboard.press("Escape")
        assert "somebody else" in file.read_text(encoding="utf-8")
        page.close()


def test_a_file_that_is_gone_is_written_without_a_question(file):
    scene = saving.read_scene(file)[0]
    own = OwnFile(file, scene)
    assert "Comments" in own.question(scene.linkage)
    file.unlink()
    assert own.question(scene.linkage) == ""
    assert own.write(scene, scene) == "arm.yaml"
    assert own.question(scene.linkage) == ""
    assert OwnFile(None, scene).question(scene.linkage) == ""


# End of a studio


@pytest.fixture
def kept(tmp_path, monkeypatch):
    monkeypatch.setattr(autosave, "recovery_folder", lambda: tmp_path)
    return lambda: autosave.lost_scenes(tmp_path)


def test_what_was_not_saved_is_kept_when_a_studio_ends_and_nothing_else_is(kept, file):
    with lw.studio.open_studio(file, port=0) as studio:
        assert not studio.close(keep=True)
        assert kept() == []
    with lw.studio.open_studio(file, port=0) as studio:
        studio.q = [0.3, 0.4]
        studio.save()
        assert not studio.close(keep=True)
        assert kept() == []
    with lw.studio.open_studio(file, port=0) as studio:
        studio.q = [0.1, 0.2]
        studio.do(lambda session: session.undo())
        assert not studio.close(keep=True)
        assert kept() == []
    with lw.studio.open_studio(file, port=0) as studio:
        studio.q = [0.5, 0.6]
        assert studio.close(keep=True)  # at once, not after a while
    [path] = kept()
    assert saving.read_scene(path)[0].q.tolist() == [0.5, 0.6]


def test_a_scene_that_was_taken_stays_until_what_became_of_it_is_kept(kept):
    for keep, left in ((False, 1), (True, 1)):
        if not kept():
            with lw.studio.open_studio("planar:2,1", port=0) as studio:
                studio.q = [0.5, 0.6]
                studio.close(keep=True)
        [before] = kept()
        with lw.studio.open_studio("planar:2,1", port=0) as studio:
            studio.do(lambda _, one=studio: one.recover(0))
            assert studio.q.tolist() == [0.5, 0.6]
            assert studio.close(keep=keep) == keep
        assert len(kept()) == left
        assert (kept()[0] == before) != keep  # the same file, or its replacement


def test_a_scene_of_an_earlier_process_with_the_same_number_is_offered(kept, tmp_path):
    lost = tmp_path / f"studio-{os.getpid()}-1.yaml"  # containers reuse process ids soon
    saving.write_scene(first_scene(lw.models.planar([2, 1])), lost)
    with lw.studio.open_studio("planar:2,1", port=0) as studio:
        assert kept() == [lost]
        assert studio.autosave.path != lost


def test_a_scene_that_is_too_large_to_be_kept_is_said_to_be(kept, tmp_path, monkeypatch):
    monkeypatch.setattr(autosave, "LARGEST", 10)
    monkeypatch.setattr(autosave, "AFTER", 0.0)
    wrong = []
    keeper = autosave.Autosave(wrong.append, tmp_path)
    scene = first_scene(lw.models.planar([2, 1]))
    for _ in range(3):
        keeper._write(scene, autosave.LARGEST)
    assert [type(error) for error in wrong] == [errors.OptionError]
    assert "save or download it" in str(wrong[0])
    assert keeper.close(scene)
    assert keeper.path.exists()


@pytest.mark.skipif(os.name == "nt", reason="signals are another matter there")
@pytest.mark.parametrize("way", ["SIGINT", "SIGTERM"])
def test_ctrl_c_keeps_what_was_not_saved_and_the_next_studio_offers_it(tmp_path, way):
    client = pytest.importorskip("websockets.sync.client")
    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    command = [sys.executable, "-m", "linkwork", "studio", "planar:2,1", "--no-browser", "--port", "0"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env=env, **pipes) as process:
        url = process.stdout.readline().split("; ")[0].split()[-1]
        with client.connect(url.replace("http", "ws") + "socket", max_size=None) as link:
            link.send('{"n": 1, "ask": {"do": "pose", "q": [0.5, 0.6]}}')
            while '"done"' not in str(link.recv(timeout=PATIENCE)):
                continue
        process.send_signal(getattr(signal, way))
        said = process.communicate(timeout=PATIENCE)[1]
    assert "unsaved changes are kept" in said
    assert process.returncode == 0
    [path] = autosave.lost_scenes(Path(tmp_path) / "linkwork" / "studio")
    assert saving.read_scene(path)[0].q.tolist() == [0.5, 0.6]


def test_forgetting_a_kept_scene_asks(browser, kept, tmp_path):
    saving.write_scene(first_scene(lw.models.planar([2, 1])), tmp_path / "studio-999999999-1.yaml")
    with lw.studio.open_studio("planar:2,1", port=0) as studio:
        page = browser.new_page()
        page.goto(studio.url)
        page.evaluate(f"{ELEMENT}.ready")
        page.evaluate(f"{ELEMENT}.room.open('Files')")
        page.get_by_role("button", name="Delete it ...").click()
        question = page.locator("dialog.ask")
        question.get_by_text("never saved").wait_for()
        question.get_by_role("button", name="Cancel").click()
        assert len(kept()) == 1
        page.get_by_role("button", name="Delete it ...").click()
        question.get_by_role("button", name="Delete it", exact=True).click()
        page.get_by_text("before its scene was saved").wait_for(state="detached")
        assert kept() == []
        page.close()
