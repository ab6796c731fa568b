"""Requests of pages, without a page: actions, jobs, downloads, recovery; and actions of scripts."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import numpy as np
import pytest

import linkwork as lw
from linkwork import errors
from linkwork.studio import autosave, saving
from linkwork.studio.scene import first_scene

client = pytest.importorskip("websockets.sync.client")
PATIENCE = 60.0


class Page:
    """A stand-in for a page: sends requests and stores messages."""

    def __init__(self, studio) -> None:
        self.studio, self.state, self.count = studio, {}, 0
        self.link = client.connect(f"ws://127.0.0.1:{studio.server.port}/socket", max_size=None)
        self.wait("goals")

    def hear(self):
        message = self.link.recv(timeout=PATIENCE)
        if isinstance(message, bytes):
            return {}
        found = json.loads(message)
        self.state |= found.get("state", {})
        return found

    def wait(self, part, true=lambda _: True):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if part in self.state and true(self.state[part]):
                return self.state[part]
            self.hear()
        raise AssertionError(f"{part} did not come: {self.state.get(part)}")

    def ask(self, do, **values):
        self.count += 1
        self.link.send(json.dumps({"n": self.count, "ask": {"do": do, **values}}))
        while True:
            found = self.hear()
            if found.get("n") == self.count:
                if "refused" in found:
                    raise errors.LinkworkError(found["refused"])
                return found["done"]


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(autosave, "recovery_folder", lambda: tmp_path_factory.mktemp("kept"))
        with lw.studio.open_studio("planar:15,10,5", port=0) as opened:
            yield opened


@pytest.fixture
def page(studio):
    made = Page(studio)
    made.ask("open model", name="planar:15,10,5")
    yield made
    made.link.close()


def test_keys_are_moved_copied_changed_and_removed(page):
    for k in range(3):
        page.ask("set key", time=k * 1.0)
    page.ask("move keys", times=[1.0, 2.0], by=0.5)
    page.ask("move keys", times=[0.0], by=0.25, copy=True)
    page.ask("change keys", times=[0.0], kind="bezier", handles=[0.1, 0.0, 0.5, 1.5])
    page.wait("clip", lambda clip: [key[0] for key in clip["keys"]] == [0, 0.25, 1.5, 2.5])
    page.wait("clip", lambda clip: clip["keys"][0][1] == "bezier")
    page.ask("remove keys", times=[0.25, 1.5])
    page.wait("clip", lambda clip: len(clip["keys"]) == 2)
    for wrong in ({"times": [9.0], "by": 1.0}, {"times": [0.0], "by": -1.0}):
        with pytest.raises(errors.LinkworkError, match="key"):
            page.ask("move keys", **wrong)
    assert page.wait("motion", lambda number: number > 0)


def test_clips_come_go_and_keep_their_names(page):
    page.ask("add clip", name="walk")
    page.ask("set key", time=0.5)
    page.ask("change clip", fps=30.0, loop=False, rename="run")
    page.ask("choose clip", name="motion")
    assert page.wait("clips", lambda names: names == ["motion", "run"])
    page.wait("clip", lambda clip: clip["keys"] == [])
    page.ask("choose clip", name="run")
    assert page.wait("clip", lambda clip: clip["name"] == "run")["fps"] == 30.0
    page.ask("remove clip")
    page.wait("clips", lambda names: names == ["motion"])
    with pytest.raises(errors.LinkworkError, match="no clip"):
        page.ask("choose clip", name="run")


def test_a_solve_is_looked_into_and_methods_race(page):
    place = np.eye(4)
    place[:2, 3] = -20.0, 5.0
    page.ask("method", name="damped")
    page.ask("drag", name="tip", place=place.ravel().tolist())
    seen = page.ask("inside")
    assert seen["count"] > 1
    assert seen["moments"][0]["residual"] > seen["moments"][-1]["residual"]
    found = page.ask("race", methods=["damped", "ccd", "inverse"], begin=True, steps=5)
    assert set(found["racers"]) == {"damped", "ccd"}
    assert "inverse" in found["refused"]
    page.ask("end race")
    swung = page.ask("swing", q=page.wait("pose")["q"], direction=0, amount=0.3)
    tips = [page.studio.session.linkage.forward(q, frame="tip")[:2, 3] for q in (swung, page.state["pose"]["q"])]
    np.testing.assert_allclose(tips[0], tips[1], atol=0.01)


@pytest.mark.parametrize(("kind", "frame"), [("workspace", "tip"), ("ellipsoid", "tip")])
def test_overlays_are_numbers(page, kind, frame):
    assert np.isfinite(json.dumps(page.ask("overlay", kind=kind, frame=frame)).count(","))
    with pytest.raises(errors.LinkworkError, match="no overlay"):
        page.ask("overlay", kind="nothing", frame=frame)


def test_a_motion_is_exported_as_a_job_and_offered_once_made(page):
    page.ask("set key", time=0.0)
    page.ask("pose", q=[0.5, 0.4, 0.3])
    page.ask("set key", time=0.2)
    number = page.ask("export", kind=".csv", first=0.0, last=0.1)
    job = page.wait("jobs", lambda jobs: any(job["number"] == number and job["state"] != "working" for job in jobs))[-1]
    assert (job["state"], job["share"]) == ("done", 1)
    with pytest.raises(errors.LinkworkError, match="Expected"):
        page.ask("export", kind=".csv", width=1)
    page.ask("export", kind=".exe")
    failed = page.wait("jobs", lambda jobs: jobs[-1]["state"] == "failed")[-1]
    assert "not written" in failed["said"]


def test_only_the_scene_that_was_opened_is_saved_over(tmp_path):
    path = tmp_path / "arm.yaml"
    lw.save(lw.models.planar([2, 1]), path)
    with lw.studio.open_studio(path, port=0) as studio:
        page = Page(studio)
        assert page.wait("file")["name"] == "arm.yaml"
        assert "Comments" in page.ask("save")["asks"]
        assert page.ask("save", anyway=True) == {"saved": "arm.yaml"}
        page.ask("open model", name="panda")
        assert page.wait("file", lambda file: file["linkage"] == "panda")["name"] == ""
        with pytest.raises(errors.LinkworkError, match="download the scene"):
            page.ask("save")
        page.link.close()
    assert lw.load(path).name != "panda"


def test_what_a_crash_would_lose_is_kept_and_taken_again(tmp_path, monkeypatch):
    monkeypatch.setattr(autosave, "AFTER", 0.0)
    wrong = []
    keeper = autosave.Autosave(wrong.append, tmp_path)
    session = lw.studio.open_studio("planar:2,1", port=0)
    first = session.session.scene
    keeper.soon(first)
    session.do(lambda one: one.set_pose([0.3, 0.4]))
    keeper.soon(session.session.scene)
    assert keeper._worker.idle(PATIENCE)
    session.close()
    lost = tmp_path / "studio-999999999-1.yaml"  # of a process that has ended
    keeper.path.rename(lost)
    assert autosave.lost_scenes(tmp_path) == [lost]
    assert saving.read_scene(lost)[0].q.tolist() == [0.3, 0.4]
    autosave.forget([lost])
    assert autosave.lost_scenes(tmp_path) == []
    assert not keeper.close()
    assert wrong == []


def test_a_page_takes_what_a_crash_left_or_forgets_it(tmp_path, monkeypatch):
    monkeypatch.setattr(autosave, "recovery_folder", lambda: tmp_path)
    scene = first_scene(lw.models.planar([2, 1]))
    for k in (1, 2):
        saving.write_scene(replace(scene, q=np.array([0.1 * k, 0.2])), tmp_path / f"studio-99999999{k}-1.yaml")
    with lw.studio.open_studio("planar:15,10,5", port=0) as studio:
        page = Page(studio)
        assert len(page.wait("lost")) == 2
        page.ask("open", recovered=0)
        page.wait("lost", lambda lost: len(lost) == 1)
        assert studio.q[1] == 0.2
        assert page.wait("history", lambda one: "recovered" in one["undo"])
        page.ask("forget", recovered=0)
        page.wait("lost", lambda lost: lost == [])
        assert len(list(tmp_path.glob("studio-9*"))) == 1  # the recovered file, until another is saved
        with pytest.raises(errors.LinkworkError, match="that scene no longer exists"):
            page.ask("open", recovered=0)
        page.link.close()


def test_scripts_are_told_what_goes_wrong(studio):
    with pytest.raises(errors.LinkworkError, match="no frame"):
        studio.add_goal("nowhere")
    studio.q = [0.1, 0.2, 0.3]
    assert studio.q.tolist() == [0.1, 0.2, 0.3]
    assert saving.file_name("../x y") == "x_y"
