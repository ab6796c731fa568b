"""Growth of memory over hours of use: the history, and caches of linkages that are no longer open."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

import linkwork as lw

pytest.importorskip("msgspec")

from linkwork.studio.history import HEAVIEST, LONGEST, History
from linkwork.studio.scene import first_scene
from linkwork.studio.session import Session
from linkwork.studio.studio_actions import OpenModel
from linkwork.studio.timeline import SceneKey, SceneTimeline
from linkwork.studio.weighing import weight


def test_a_history_forgets_the_oldest_where_it_grows_too_heavy():
    history = History(b"", weigh=lambda state, _: len(state), heaviest=100)
    for k in range(1, 60):
        history.record(b"x" * k, f"{k}")
    assert history.present == b"x" * 59
    assert len(history) == 2  # 59 + 58 exceeds 100, but one step is always kept
    history.record(b"y" * 30, "30")
    assert (len(history), history.undo(), history.weight) == (2, b"x" * 59, 89)
    history.record(b"z" * 1000, "more than all")
    assert (len(history), history.can_undo, history.present[:1]) == (2, "more than all", b"z")


def test_what_a_state_shares_with_the_one_before_counts_once():
    scene = first_scene(lw.models.panda())
    other = replace(scene, q=np.zeros(7))
    assert weight(other, scene) < 1000
    assert weight(other) > weight(scene.__class__(lw.models.planar([1, 1]), np.zeros(2)))
    rows = tuple(SceneKey(k / 100.0, np.zeros(7)) for k in range(2000))
    long = replace(scene, clips={"motion": SceneTimeline(rows)})
    assert 2000 * 7 * 8 < weight(long, scene) < 4_000_000
    assert weight(replace(long, q=np.zeros(7)), long) < 1000
    one = replace(long, clips={"motion": SceneTimeline((*rows[:-1], replace(rows[-1], time=30.0)))})
    assert weight(one, long) < 30_000  # the list of keys, and one key


def test_a_motion_of_hundreds_of_frames_weighs_what_its_poses_do_and_is_undone():
    body = lw.models.human(root="floating")
    poses = np.repeat(body.neutral()[None], 600, axis=0)
    scene = first_scene(body, {"walk": lw.Clip(body, np.arange(600) / 60.0, poses)})
    assert weight(scene) < weight(first_scene(body)) + 5 * poses.nbytes
    session = Session(first_scene(lw.models.panda()))
    session.open(scene, (), "walk.bvh")
    session.set_key(0.505)
    assert session.history.can_undo == "key at 0.505 s"
    session.undo()
    session.undo()
    assert session.linkage.name == "panda"


def test_dragging_all_keys_of_a_long_clip_for_hours_is_bounded(monkeypatch):
    monkeypatch.setattr("linkwork.studio.session.HEAVIEST", 2_000_000)
    session = Session(first_scene(lw.models.planar([2, 1])))
    keys = [SceneKey(k / 10.0, np.zeros(2)) for k in range(300)]
    for n in range(60):
        session.edit_clip(
            "keys", SceneTimeline(tuple(replace(key, time=key.time + n, pose=np.full(2, n)) for key in keys))
        )
    assert len(session.history) < 40
    assert session.history.weight <= 2_000_000
    assert session.history.can_undo == "keys"


def test_linkages_that_were_left_keep_no_solvers():
    rng = random.Random(0)
    session = Session(first_scene(lw.models.panda()))
    seen = [session.linkage]
    for k in range(12):
        session.open(first_scene(lw.models.panda() if k % 2 else lw.models.planar([2, 1])), (), f"{k}")
        target = session.scene.targets[0]
        session.drag(target.name, target.place)
        seen.append(session.linkage)
        assert len(session.linkage.cache) > 0
        if rng.random() < 0.4:
            session.undo()
            session.undo()
        assert [len(one.cache) for one in seen if one is not session.linkage] == [0] * (len({*map(id, seen)}) - 1)
    while session.history.can_undo:
        session.undo()
        for goal in session.goals:  # dropped solvers are made again
            assert lw.solve(session.linkage, goal, start=session.q).q.shape == session.q.shape


def test_a_model_that_is_opened_again_shares_its_linkage_with_the_history():
    with lw.studio.open_studio("panda", port=0) as studio:
        for name in ("ur5", "panda", "ur5", "ur5", "panda", "ur5"):
            studio.do(lambda _, name=name: OpenModel(name).act(studio))
        states = [state for (state, _), _ in studio.session.history._states]
        assert len({id(state.linkage) for state in states[1:]}) == 2
        assert max(studio._stages) > len(states) - 1  # each is shown again, also after itself


def test_the_limits_are_those_that_the_documentation_names():
    assert (LONGEST, HEAVIEST) == (500, 64 * 2**20)


def test_the_times_of_frames_are_not_kept_by_every_state():
    line = SceneTimeline((SceneKey(0.0, np.zeros(2)), SceneKey(3000.0, np.zeros(2))), fps=60.0)
    assert len(line.frame_times) == 180_001
    assert all(not isinstance(value, np.ndarray) for value in vars(line).values())
