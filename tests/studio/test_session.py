"""The studio without a page: session, targets, timeline, history, worker, files, and traces of solves."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import linkwork as lw
from linkwork import errors
from linkwork.studio import saving
from linkwork.studio.history import History
from linkwork.studio.inspection import free_directions, moments, swing
from linkwork.studio.judging import explain, sentence
from linkwork.studio.racing import Chase, way_through_singularity
from linkwork.studio.scene import Scene, begun_pose, first_scene, timeline_of
from linkwork.studio.session import Session, motion
from linkwork.studio.targets import KINDS, limb
from linkwork.studio.timeline import SceneKey, SceneTimeline, sampled
from linkwork.studio.uploads import Uploads
from linkwork.studio.worker import Worker
from uploading import upload

PATIENCE = 60.0


def set_value(session, coordinate, value):
    """Turn one joint as a slider does."""
    session.turn(session.linkage.pose({coordinate: value}, base=session.q), coordinate.partition(".")[0])


def saved(text, name):
    """Return the scene in a text, as if it were dropped on a page as a file."""
    uploads = Uploads()
    found = uploads.read(upload({name: text.encode()}))
    uploads.close()
    return found.scene, found.remarks


def begun(linkage):
    """Return a session without goals."""
    return Session(Scene(linkage, begun_pose(linkage)))


def at(*position):
    place = np.eye(4)
    place[: len(position), 3] = position
    return place


@pytest.fixture
def arm():
    return Session(first_scene(lw.models.planar([15, 10, 5])))


@pytest.fixture(scope="module")
def figure():
    return lw.models.human()


# The session


def test_a_new_target_pulls_nowhere(arm):
    before = arm.q
    assert arm.solve().success
    np.testing.assert_allclose(arm.q, before, atol=1e-9)


@pytest.mark.parametrize("method", [name for name in lw.METHODS if name not in ("inverse",)])
def test_the_body_follows_a_dragged_target_by_every_method(arm, method):
    arm.set_method(method)
    for x in np.linspace(0.0, 1.0, 12):
        start = np.array([11.0, 18.0])
        arm.drag("tip", at(*(start + x * (np.array([2.0, 14.0]) - start))))
    tip = arm.linkage.forward(arm.q, frame="tip")[:2, 3]
    np.testing.assert_allclose(tip, [2.0, 14.0], atol=0.2)


def test_undo_and_redo_give_back_pose_and_targets(arm):
    before = arm.scene
    arm.drag("tip", at(5, 10))
    after = arm.scene
    arm.undo()
    assert arm.scene is before
    arm.redo()
    assert arm.scene is after


def test_a_target_out_of_reach_says_so_and_shows_how_far_the_limb_goes(arm):
    solution = arm.drag("tip", at(50, 0))
    for why in (sentence(solution), explain(solution)):
        assert "the chain reaches 30 m" in why.text
        assert why.radii == (0.0, 30.0)
        assert why.center.tolist() == [0, 0, 0]
    assert "Move the goal nearer" in explain(solution).text


def test_joints_at_their_limits_are_named():
    linkage = lw.models.two_link().replace(joints={"elbow": {"lower": 0.0, "upper": 0.5}})
    session = begun(linkage)
    session.add_target("reach", "tip")
    why = sentence(session.drag("tip", at(0.2, 0.1)))
    assert why.joints == ("elbow",)
    assert "elbow" in why.text


def test_reasons_call_goals_by_the_names_that_people_gave_them(arm):
    arm.add_target("reach", "tip")
    arm.change_target("tip", name="apple")
    arm.change_target("tip 2", name="pear")
    arm.drag("apple", at(10, 15))
    solution = arm.drag("pear", at(-10, 15))
    text = explain(solution, arm.scene.targets).text
    assert "'apple'" in text
    assert "'pear'" in text
    assert "Reach" not in text
    assert text[0].isupper()


def test_a_reached_target_has_nobody_to_blame(arm):
    why = explain(arm.drag("tip", at(5, 10)))
    assert why.cause == "reached"
    assert why.joints == ()
    assert why.center is None


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_target_stands_where_nothing_has_to_move_and_can_be_dragged(figure, kind):
    session = begun(figure)
    frame = {"look at": "eyes", "pole": "left_shin"}.get(kind, "left_foot")
    target = session.add_target(kind, frame)
    assert session.solve().success
    if kind != "pole":  # a straight knee has no direction to start from
        moved = np.array(target.place)
        moved[:3, 3] += [0.01, 0.01, 0.02]
        assert session.drag(target.name, moved).success


def test_a_pole_needs_a_knee(figure):
    session = begun(figure)
    assert limb(figure, "left_shin")[0] == "left_thigh"
    with pytest.raises(errors.GoalError, match="neither a knee nor an elbow"):
        session.add_target("pole", figure.links[0])


def test_targets_have_names_of_their_own(arm):
    assert arm.add_target("reach", "tip").name == "tip 2"
    arm.remove_target("tip")
    with pytest.raises(errors.TargetNotFoundError, match="tip 2"):
        arm.target("tip")


@pytest.mark.parametrize("values", [{"weight": 0.0}, {"weight": np.inf}, {"priority": -1}, {"kind": "push"}])
def test_a_target_that_cannot_be_is_refused_and_nothing_changes(arm, values):
    before = arm.scene
    with pytest.raises(errors.LinkworkError):
        arm.change_target("tip", **values)
    assert arm.scene is before


def test_no_target_means_nothing_to_solve(arm):
    arm.change_target("tip", active=False)
    assert arm.solve() is None
    with pytest.raises(errors.OptionError, match="switched off"):
        arm.drag("tip", at(1, 2))


def test_values_are_kept_within_limits(figure):
    session = begun(figure)
    set_value(session, "left_knee", 100.0)
    k = figure.coordinate_index["left_knee"]
    assert session.q[k] == figure.upper[k]


def test_joints_of_a_closed_loop_follow_the_one_that_is_turned():
    linkage = lw.models.build("four_bar")
    session = begun(linkage)
    q = session.q.copy()
    k, loop = linkage.coordinate_index["crank"], linkage.loops[0]
    set_value(session, "crank", q[k] + 0.1)
    assert session.q[k] == pytest.approx(q[k] + 0.1)
    ends = [linkage.forward(session.q, frame=frame)[:3, 3] for frame in (loop.first, loop.second)]
    np.testing.assert_allclose(*ends, atol=1e-9)
    session.set_key(0.0)
    set_value(session, "crank", q[k] - 0.3)
    session.set_key(1.0)
    clip = motion(session.scene)
    ends = [clip.forward(frame=frame)[:, :3, 3] for frame in (loop.first, loop.second)]
    np.testing.assert_allclose(*ends, atol=1e-9)
    before = session.scene
    with pytest.raises(errors.LoopError, match="cannot be closed"):
        set_value(session, "rocker", 0.0)  # its range is limited
    assert session.scene is before


def test_goals_that_reach_go_along_with_a_pose_and_pins_stay(arm):
    arm.set_pose("curl")
    np.testing.assert_allclose(arm.target("tip").place, arm.linkage.forward(arm.q, frame="tip"))


def test_what_a_page_has_found_is_judged_here(arm):
    tip = arm.linkage.forward([0.3, 0.2, 0.1], frame="tip")
    arm.settle([0.3, 0.2, 0.1], {"tip": tip}, "drag of tip")
    assert arm.solution.success
    arm.settle([0.3, 0.2, 0.1], {"tip": at(1, 2)}, "drag of tip")
    assert not arm.solution.success
    assert arm.q.tolist() == [0.3, 0.2, 0.1]
    before = arm.scene
    for q in ([np.nan, 0, 0], [0, 0]):
        with pytest.raises(errors.LinkworkError):
            arm.settle(q, {}, "drag")
    with pytest.raises(errors.TargetNotFoundError):
        arm.settle([0, 0, 0], {"nobody": at(1, 2)}, "drag")
    assert arm.scene is before


def test_a_goal_that_was_turned_by_hand_keeps_its_turn_and_one_undo_takes_all_back(arm):
    before, q = arm.scene, [0.3, 0.2, 0.1]
    arm.settle(q, {"tip": arm.linkage.forward(q, frame="tip")}, "turn of tip", turned=["tip"])
    assert arm.target("tip").turn
    assert arm.solution.success
    arm.settle([0.3, 0.2, 0.2], {}, "drag of link1")
    assert not arm.solution.success  # orientation now counts
    arm.undo()
    arm.undo()
    assert arm.scene is before
    arm.drag("tip", arm.linkage.forward(q, frame="tip"), turn=True)
    assert (arm.target("tip").turn, arm.history.can_undo) == (True, "turn of tip")


def test_a_link_is_pulled_by_a_point_and_turned_while_other_goals_hold():
    session = begun(lw.models.panda())
    session.add_target("look at", "panda_hand")
    session.add_target("reach", "tip")
    other = session.linkage.pose({"panda_joint2": session.q[1] + 0.15}, base=session.q)
    place = np.array(session.linkage.forward(other, frame="panda_link4"))
    point = np.array([0.0, 0.05, 0.0, 1.0])
    place[:3, 3] = (place @ point)[:3]
    session.pull("panda_link4", point[:3], place)
    there = session.linkage.forward(session.q, frame="panda_link4") @ point
    np.testing.assert_allclose(there[:3], place[:3, 3], atol=5e-3)
    np.testing.assert_allclose(session.target("tip").place, session.linkage.forward(session.q, frame="tip"))
    assert session.history.can_undo == "drag of panda_link4"
    hand = np.array(session.linkage.forward(session.q, frame="panda_hand"))
    session.remove_target("look at panda_hand")
    turned = hand.copy()
    turned[:3, :3] = [[np.cos(0.3), -np.sin(0.3), 0], [np.sin(0.3), np.cos(0.3), 0], [0, 0, 1]] @ hand[:3, :3]
    session.pull("panda_hand", (0, 0, 0), turned, turn=True)
    np.testing.assert_allclose(session.linkage.forward(session.q, frame="panda_hand"), turned, atol=2e-3)
    assert session.history.can_undo == "turn of panda_hand"


def test_each_change_of_a_goal_is_undone_by_itself(arm):
    arm.change_target("tip", weight=3.0)
    arm.change_target("tip", priority=2)
    arm.undo()
    assert (arm.target("tip").weight, arm.target("tip").priority) == (3.0, 0)


def test_a_goal_on_a_frame_that_cannot_move_is_refused():
    session = begun(lw.models.panda())
    with pytest.raises(errors.GoalError, match="no joint moves 'panda_link0'"):
        session.add_target("reach", "panda_link0")


@pytest.mark.parametrize(
    "model", ["hand", "panda", "human:floating", "planar:15,10,5", "snake:16", "quadruped", "scara"]
)
def test_the_first_goal_is_on_a_frame_that_follows(model):
    session = Session(first_scene(lw.models.build(model)))
    target = session.scene.targets[0]
    before = session.linkage.forward(session.q, frame=target.frame)[:3, 3].copy()
    place = np.array(target.place)
    place[:3, 3] += 0.02 * session.linkage.length * np.array([-0.5, -0.3, 0.0])
    solution = session.drag(target.name, place)
    after = session.linkage.forward(session.q, frame=target.frame)[:3, 3]
    assert np.linalg.norm(after - before) > 1e-3 * session.linkage.length
    assert solution.success == (np.linalg.norm(after - place[:3, 3]) < 2e-4 * max(session.linkage.length, 1.0))


def test_everything_is_undone_in_words_files_too(arm):
    first = arm.scene
    arm.drag("tip", at(5, 10))
    arm.add_obstacle("box", 30.0)
    arm.store_pose("mine")
    arm.set_key(0.5)
    arm.set_method("damped")
    arm.open(first_scene(lw.models.panda()), (), "panda")
    said = []
    while arm.history.can_undo:
        said.append(arm.history.can_undo)
        arm.undo()
    assert said == [
        "opening of panda",
        "method damped",
        "key at 0.5 s",
        "stored pose mine",
        "obstacle box1",
        "drag of tip",
    ]
    assert arm.scene is first
    for _ in said:
        arm.redo()
    assert arm.linkage.name == "panda"


def test_names_are_changed_in_keys_too(arm):
    arm.set_key(0.0)
    arm.change_target("tip", name="the hand")
    assert list(arm.scene.timeline.keys[0].places) == ["the hand"]
    with pytest.raises(errors.OptionError, match="1 to 60 characters"):
        arm.change_target("the hand", name=" ")


# Traces of solves


def test_the_moments_of_a_solve_hold_what_the_equations_say(arm):
    arm.set_method("damped")
    arm.drag("tip", at(-20, 5))
    solution = arm.traced()
    assert len(solution.trace) > 1  # the solve that led to this pose, not one that starts from it
    seen = moments(solution)
    assert len(seen) == len(solution.trace) + 1
    for moment in seen[:-1]:
        values = np.linalg.svd(arm.linkage.jacobian(moment.q, "tip")[:2], compute_uv=False)
        np.testing.assert_allclose(moment.singular_values, values, rtol=1e-9)
        damping = moment.notes["damping"]
        np.testing.assert_allclose(moment.filters, values**2 / (values**2 + damping**2), rtol=1e-6)
        assert moment.free.shape == (1, 3)
        np.testing.assert_allclose(moment.jacobian @ moment.free.T, 0.0, atol=1e-9)
    assert seen[-1].residual < 1e-4


def test_the_elbow_swings_and_the_hand_stays():
    panda = lw.models.panda()
    q = panda.stored_pose("ready")
    world = panda.forward(q, frame="tip")
    goals = [lw.Reach("tip", orientation=world)]
    assert free_directions(panda, goals, q).shape == (1, 7)
    for amount in (0.5, -0.5):
        swung = swing(panda, goals, q, amount)
        assert 0.2 < np.linalg.norm(panda.difference(q, swung)) < 1.0
        there = panda.forward(swung, frame="tip")
        assert np.linalg.norm(there[:3, 3] - world[:3, 3]) < 1e-4
        np.testing.assert_allclose(there[:3, :3], world[:3, :3], atol=2e-3)


def test_what_is_held_fully_does_not_swing():
    arm = lw.models.two_link()
    q = np.array([0.3, 0.8])
    goals = [lw.Reach("tip", position=arm.forward(q, frame="tip")[:2, 3])]
    assert swing(arm, goals, q, 0.5).tolist() == q.tolist()


def test_through_a_singularity_the_pseudoinverse_explodes_and_damping_does_not(arm):
    home = arm.target("tip")
    chase = Chase(arm.linkage, arm.goals, arm.q)
    for k in range(120):
        arm.change_target("tip", place=way_through_singularity(arm.linkage, home, (k + 1) / 120))
        chase.step(arm.goals)
    speeds = {name: max(runner.curves["joint speed"]) for name, runner in chase.runners.items()}
    assert speeds["pseudoinverse"] > 1.0  # whole turns in one step
    assert max(speeds[name] for name in ("damped", "selectively-damped")) < 0.3
    assert "needs a square Jacobian" in chase.refusals["inverse"]
    steps, rows = chase.curve("smallest singular value")
    assert {len(row) for row in rows.values()} == {len(steps)} == {120}
    assert rows["pseudoinverse"].min() < 0.3 * rows["pseudoinverse"][0]


def test_a_way_through_a_singularity_leads_out_of_reach_and_back(arm):
    target = arm.target("tip")
    out = [np.linalg.norm(way_through_singularity(arm.linkage, target, share)[:2, 3]) for share in (0.0, 0.5, 1.0)]
    np.testing.assert_allclose(out[::2], np.linalg.norm(target.place[:2, 3]))
    assert out[1] > 30.0
    figure = begun(lw.models.human(root="floating"))
    hand = figure.add_target("reach", "right_hand")
    with pytest.raises(errors.GoalError, match="has unlimited reach"):
        way_through_singularity(figure.linkage, hand, 0.5)


# The timeline


@pytest.mark.parametrize("kind", ["step", "linear", "ease", "cubic", "catmull-rom", "bezier"])
def test_a_motion_passes_through_its_keys(kind):
    arm = lw.models.planar([2, 1])
    poses = [np.array([0.0, 0.3]), np.array([1.0, -1.0]), np.array([0.2, 2.0])]
    keys = [(float(k), pose, SceneKey(float(k), pose, kind=kind)) for k, pose in enumerate(poses)]
    np.testing.assert_allclose(sampled(arm, keys, np.arange(3.0)), poses, atol=1e-12)


def test_each_stretch_goes_as_its_first_key_says():
    arm = lw.models.planar([2, 1])
    zero, one = np.zeros(2), np.ones(2)
    line = SceneTimeline(
        (
            SceneKey(0, zero, kind="step"),
            SceneKey(1, one, kind="linear"),
            SceneKey(2, zero, kind="ease"),
            SceneKey(3, one),
        )
    )
    samples = [line.pose_at(arm, time)[0] for time in (0.9, 1.25, 2.25, 9.0)]
    np.testing.assert_allclose(samples, [0.0, 0.75, 0.25**2 * (3 - 0.5), 1.0])


def test_a_target_with_keys_is_met_while_the_body_plays():
    session = begun(lw.models.human())
    session.add_target("pin", "left_hand")
    session.set_key(0.0)
    set_value(session, "waist.rz", 0.3)
    session.set_key(0.5, places=False)
    clip = motion(session.scene)
    assert len(clip) == 13
    hand = clip.forward(frame="left_hand")[:, :3, 3]
    assert np.linalg.norm(hand - hand[0], axis=1).max() < 2e-4
    assert abs(np.ptp(clip.poses[:, clip.linkage.coordinate_index["waist.rz"]])) > 0.05


def test_goal_keys_alone_move_the_effector_along(arm):
    arm.change_target("tip", place=at(20, 5))
    arm.solve()
    arm.set_key(0.0, pose=False, kind="linear")
    arm.change_target("tip", place=at(10, 15))
    arm.set_key(1.0, pose=False)
    clip = motion(arm.scene)
    np.testing.assert_allclose(clip.forward(frame="tip")[12, :2, 3], [15, 10], atol=1e-3)


def test_scrubbing_shows_the_key_and_solves_for_its_targets(arm):
    arm.change_target("tip", place=at(20, 5))
    arm.set_key(0.0, pose=False)
    arm.change_target("tip", place=at(10, 15))
    arm.set_key(1.0, pose=False)
    arm.scrub(0.0)
    np.testing.assert_allclose(arm.linkage.forward(arm.q, frame="tip")[:2, 3], [20, 5], atol=1e-3)
    assert arm.scene.time == 0.0


def test_keys_are_edited_one_by_one():
    line = (
        SceneTimeline()
        .with_key(SceneKey(1, np.zeros(1)))
        .with_key(SceneKey(0, np.ones(1)))
        .with_key(SceneKey(1, np.ones(1)))
    )
    assert line.times == [0, 1]
    assert line.moved(1, 3).times == [0, 3]
    assert line.with_way(0, kind="step").keys[0].kind == "step"
    assert line.without(0).times == [1]
    with pytest.raises(errors.KeyFrameError, match=r"no key at 0\.5 s; keys are at: 0, 1"):
        line.without(0.5)


def test_a_loop_begins_again_and_otherwise_it_stays_at_the_end():
    line = SceneTimeline((SceneKey(0, np.zeros(1)), SceneKey(2, np.zeros(1))))
    assert line.wrapped(2.5) == pytest.approx(0.5)
    assert SceneTimeline(line.keys, loop=False).wrapped(2.5) == 2.0
    assert SceneTimeline().wrapped(3.0) == 0.0


@pytest.mark.parametrize("values", [(-1.0, np.zeros(1)), (np.nan, np.zeros(1)), (1e9, np.zeros(1)), (0.0, None)])
def test_keys_that_cannot_be_are_refused(values):
    with pytest.raises(errors.KeyFrameError):
        SceneKey(*values)


def test_a_clip_becomes_keys_that_play_as_it_does():
    clip = lw.models.motion("engine:4")
    session = Session(first_scene(clip.linkage, {"engine": clip}))
    np.testing.assert_allclose(motion(session.scene).poses, clip.poses, atol=1e-9)
    assert timeline_of(clip).duration == pytest.approx(clip.times[-1])


def test_an_empty_timeline_makes_no_clip(arm):
    with pytest.raises(errors.KeyFrameError, match="no keys"):
        motion(arm.scene)


def test_a_scene_whose_method_is_unknown_is_refused(arm):
    text = saving.scene_text(arm.scene).replace("studio:\n", "studio:\n  method: nope\n")
    with pytest.raises(errors.FormatError, match="nope"):
        saved(text, "scene.yaml")


# History and worker


def test_history_forgets_the_oldest_and_what_was_undone():
    history = History(0, longest=3)
    for state in range(1, 6):
        history.record(state, f"step {state}")
    assert [history.undo() for _ in range(4)] == [4, 3, 3, 3]
    assert history.can_redo == "step 4"
    history.record(9, "nine")
    assert not history.can_redo
    history.record(10, "nine", instead=True)
    assert (history.present, history.undo()) == (10, 3)
    assert history.undo() == 3


def test_only_the_newest_of_one_name_is_done():
    done, hold, begun = [], threading.Event(), threading.Event()
    worker = Worker("test", pytest.fail)
    worker.submit(lambda: (begun.set(), hold.wait(PATIENCE)))
    assert begun.wait(PATIENCE)
    for k in range(100):
        worker.submit(lambda k=k: done.append(k), name="drag")
    worker.submit(lambda: done.append("other"))
    hold.set()
    assert worker.idle(PATIENCE)
    worker.close()
    assert done == [99, "other"]


def test_a_worker_outlives_what_goes_wrong_and_ends_when_closed():
    wrong, ticks = [], threading.Event()
    worker = Worker("studio test", wrong.append)
    worker.submit(lambda: 1 / 0)
    worker.submit(ticks.set, after=0.01)
    worker.submit(lambda: wrong.append("dropped"), after=PATIENCE)
    assert ticks.wait(PATIENCE)
    worker.close()
    assert [type(error) for error in wrong] == [ZeroDivisionError]
    assert "studio test" not in [thread.name for thread in threading.enumerate()]
    worker.submit(lambda: pytest.fail("it is closed"))


# Files


@pytest.fixture
def full(figure):
    session = begun(figure)
    session.add_target("reach", "right_hand")
    session.add_target("look at", "eyes")
    session.change_target("right_hand", weight=3.0, priority=1, turn=True)
    session.set_key(0.0, kind="step")
    session.set_pose("wave")
    session.set_key(1.5)
    return session


@pytest.mark.parametrize("kind", ["yaml", "json"])
def test_a_scene_comes_back_to_the_last_bit(full, kind, tmp_path):
    text = saving.scene_text(full.scene, kind)
    scene, remarks = saved(text, f"scene.{kind}")
    assert saving.scene_text(scene, kind) == text
    assert remarks == ()
    assert scene.linkage == full.linkage
    path = tmp_path / f"scene.{kind}"
    saving.write_scene(full.scene, path)
    assert lw.load(path) == full.linkage  # any other reader sees the linkage


def test_a_plain_file_opens_with_its_motion_and_remarks(tmp_path):
    path = tmp_path / "walk.bvh"
    lw.models.motion("human").save(path)
    scene, remarks = saving.read_scene(path)
    assert len(scene.timeline.keys) > 10
    assert remarks


@pytest.mark.parametrize("suffix", saving.EXPORTS)
def test_the_motion_is_exported(suffix):
    if suffix == ".usda":
        pytest.importorskip("pxr")
    if suffix in (".gif", ".mp4"):
        pytest.importorskip("matplotlib")
    if suffix == ".mp4":
        pytest.importorskip("imageio_ffmpeg")
    session = begun(lw.models.planar([2, 1]))
    session.set_key(0.0)
    session.set_pose("curl")
    session.set_key(0.1)
    name, content = saving.export(motion(session.scene), suffix)
    assert name == f"planar{suffix}"
    assert len(content) > 100


def test_unknown_exports_are_refused(arm):
    arm.set_key(0.0)
    with pytest.raises(errors.FormatError, match="not written"):
        saving.export(motion(arm.scene), ".exe")
