"""The studio without a page: session, targets, timeline, history, worker, files, and what a solve looks like inside."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import linkwork as lw
from linkwork import errors
from linkwork.studio import saving
from linkwork.studio.dials import dials
from linkwork.studio.history import History
from linkwork.studio.inspection import free_directions, moments, swing
from linkwork.studio.racing import Chase, way_through_singularity
from linkwork.studio.serving import same_origin
from linkwork.studio.session import Session, explain, motion, sentence, timeline_of
from linkwork.studio.stage import circles, dressed, view_of
from linkwork.studio.targets import KINDS, limb
from linkwork.studio.timeline import SceneKey, SceneTimeline, sampled
from linkwork.studio.worker import Worker

PATIENCE = 60.0


def set_value(session, coordinate, value):
    """Turn one joint as a slider does."""
    session.turn(session.linkage.pose({coordinate: value}, base=session.q), coordinate.partition(".")[0])


def at(*position):
    place = np.eye(4)
    place[: len(position), 3] = position
    return place


@pytest.fixture
def arm():
    session = Session(lw.models.planar([15, 10, 5]))
    session.add_target("reach", "tip")
    return session


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
    arm.commit()
    before = arm.scene
    arm.drag("tip", at(5, 10))
    arm.commit()
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
    session = Session(linkage)
    session.add_target("reach", "tip")
    why = sentence(session.drag("tip", at(0.2, 0.1)))
    assert why.joints == ("elbow",)
    assert "elbow" in why.text


def test_a_reached_target_has_nobody_to_blame(arm):
    why = explain(arm.drag("tip", at(5, 10)))
    assert why.cause == "reached"
    assert why.joints == ()
    assert why.center is None


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_target_stands_where_nothing_has_to_move_and_can_be_dragged(figure, kind):
    session = Session(figure)
    frame = {"look at": "eyes", "pole": "left_shin"}.get(kind, "left_foot")
    target = session.add_target(kind, frame)
    assert session.solve().success
    if kind != "pole":  # a straight knee has no direction to start from
        moved = np.array(target.place)
        moved[:3, 3] += [0.01, 0.01, 0.02]
        assert session.drag(target.name, moved).success


def test_a_pole_needs_a_knee(figure):
    session = Session(figure)
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
    session = Session(figure)
    set_value(session, "left_knee", 100.0)
    k = figure.coordinate_index["left_knee"]
    assert session.q[k] == figure.upper[k]


def test_joints_of_a_closed_loop_follow_the_one_that_is_turned():
    linkage = lw.models.build("four_bar")
    session = Session(linkage)
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
        set_value(session, "rocker", 0.0)  # it only rocks
    assert session.scene is before


def test_settling_brings_targets_to_their_frames(arm):
    arm.set_pose("curl")
    arm.settle()
    np.testing.assert_allclose(arm.target("tip").place, arm.linkage.forward(arm.q, frame="tip"))


# Looking into a solve


def test_the_moments_of_a_solve_hold_what_the_equations_say(arm):
    arm.set_method("damped")
    arm.drag("tip", at(-20, 5))
    arm.set_pose(arm.history.present.q)
    arm.solve()
    solution = arm.traced()
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
    figure = Session(lw.models.human(root="floating"))
    hand = figure.add_target("reach", "right_hand")
    with pytest.raises(errors.GoalError, match="no end to its reach"):
        way_through_singularity(figure.linkage, hand, 0.5)


# Dials and the stage


@pytest.mark.parametrize("model", ["human:floating", "hand", "stanford", "quadruped", "planets"])
def test_every_dial_reads_what_it_wrote_and_leaves_the_others(model):
    linkage = lw.models.build(model)
    rng, q = np.random.default_rng(3), linkage.random_pose(3)
    every = dials(linkage)
    assert len(every) == linkage.nv
    assert len({dial.label for dial in every}) == len(every)
    for dial in every:
        value = dial.low + (0.2 + 0.6 * rng.random()) * (dial.high - dial.low)
        if dial.angle == 1:
            value *= 0.4  # the middle angle goes a quarter turn either way
        moved = dial.write(q, value)
        assert dial.read(moved) == pytest.approx(value, abs=1e-9)
        others = [other for other in every if other.index != dial.index]
        assert [other.read(moved) for other in others] == [other.read(q) for other in others]


def test_everything_has_something_to_show():
    bare = lw.Linkage(
        [lw.Link("base"), lw.Link("arm"), lw.Link("hand")],
        [lw.Joint("j1", "base", "arm", lw.Revolute("z")), lw.Joint("j2", "arm", "hand", lw.Revolute("z"), at(1.0))],
        frames=[lw.Frame("tip", "hand", at(0.5))],
    )
    shown = dressed(bare, 1.5)
    assert all(link.visuals for link in shown.nodes)
    kinds = [visual.shape.kind for visual in shown.link("arm").visuals]
    assert kinds == ["capsule", "sphere"]
    lost = bare.replace(links={"arm": {"visuals": (lw.Visual(lw.Mesh("lost.stl")),)}})
    assert [visual.shape.kind for visual in dressed(lost, 1.5).link("arm").visuals] == kinds


@pytest.mark.parametrize(("model", "flat"), [("planar:15,10,5", True), ("panda", False)])
def test_a_flat_linkage_is_looked_at_straight_and_with_hardly_any_perspective(model, flat):
    linkage = lw.models.build(model)
    view = view_of(linkage, linkage.stored_pose("ready"))
    way = view.look_at - view.position
    assert (np.abs(way[:2]).max() < 1e-9) == flat
    assert (view.fov < 0.2) == flat
    assert view.up == ((0, 1, 0) if flat else (0, 0, 1))


def test_circles_lie_on_their_sphere():
    for flat in (True, False):
        points = circles(np.array([1.0, 2.0, 3.0]), 5.0, flat=flat)
        np.testing.assert_allclose(np.linalg.norm(points - [1, 2, 3], axis=-1), 5.0)


@pytest.mark.parametrize(
    ("headers", "host", "good"),
    [
        ({"Host": "127.0.0.1:8080"}, "127.0.0.1", True),
        ({"Host": "localhost:8080", "Origin": "http://localhost:8080"}, "127.0.0.1", True),
        ({"Host": "localhost:8080", "Origin": "http://localhost:9000"}, "127.0.0.1", False),
        ({"Host": "evil.example:8080", "Origin": "http://evil.example:8080"}, "127.0.0.1", False),
        ({"Host": "robot.lan:8080", "Origin": "http://robot.lan:8080"}, "0.0.0.0", True),
        ({"Host": "robot.lan:8080", "Origin": "null"}, "0.0.0.0", False),
    ],
)
def test_only_pages_of_the_studio_itself_are_let_in(headers, host, good):
    assert same_origin(headers, host) is good


# The timeline


@pytest.mark.parametrize("kind", ["step", "linear", "ease", "cubic", "catmull-rom"])
def test_a_motion_passes_through_its_keys(kind):
    arm = lw.models.planar([2, 1])
    poses = [np.array([0.0, 0.3]), np.array([1.0, -1.0]), np.array([0.2, 2.0])]
    keys = [(float(k), pose, kind) for k, pose in enumerate(poses)]
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
    session = Session(lw.models.human())
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
    assert line.with_kind(0, "step").keys[0].kind == "step"
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
    session = Session(clip.linkage, clip=clip)
    np.testing.assert_allclose(motion(session.scene).poses, clip.poses, atol=1e-9)
    assert timeline_of(clip).duration == pytest.approx(clip.times[-1])


def test_an_empty_timeline_makes_no_clip(arm):
    with pytest.raises(errors.KeyFrameError, match="no keys"):
        motion(arm.scene)


def test_a_scene_whose_method_is_unknown_is_refused(arm):
    text = saving.scene_text(arm.scene).replace("studio:\n", "studio:\n  method: nope\n")
    with pytest.raises(errors.FormatError, match="nope"):
        saving.read_upload("scene.yaml", text.encode())


# History and worker


def test_history_forgets_the_oldest_and_what_was_undone():
    history = History(0, longest=3)
    for state in range(1, 6):
        history.record(state)
    assert [history.undo() for _ in range(4)] == [4, 3, 3, 3]
    history.record(9)
    assert not history.can_redo
    history.record(10, instead=True)
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
    worker.submit(lambda: wrong.append("dropped"), name="dropped", after=PATIENCE)
    worker.drop("dropped")
    assert ticks.wait(PATIENCE)
    worker.close()
    assert [type(error) for error in wrong] == [ZeroDivisionError]
    assert "studio test" not in [thread.name for thread in threading.enumerate()]
    worker.submit(lambda: pytest.fail("it is closed"))


# Files


@pytest.fixture
def full(figure):
    session = Session(figure)
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
    scene, remarks = saving.read_upload(f"scene.{kind}", text.encode())
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


BROKEN = {
    "no.urdf": b"<robot name='x'><link name='a'>",
    "no.bvh": b"HIERARCHY\nROOT hip\n{",
    "no.yaml": b"linkwork: 2\nstudio: {targets: [{name: a}]}\n",
    "no.json": b'{"linkwork": 2, "links": ["a"], "studio": {"keys": [{"time": -1, "pose": []}]}}',
    "frame.yaml": b"linkwork: 2\nlinks: [a]\nstudio: {targets: [{name: a, kind: reach, frame: b, place: [[1]]}]}\n",
    "strange.exe": b"MZ",
    "nothing": b"",
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_upload_is_refused_by_its_own_name_and_leaves_nothing(name, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(errors.FormatError) as caught:
        saving.read_upload(f"/etc/../{name}", BROKEN[name])
    assert str(caught.value).startswith(name)
    assert str(tmp_path) not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_large_upload_is_not_even_written():
    with pytest.raises(errors.FormatError, match=r"larger than 0\.001 MiB"):
        saving.read_upload("large.urdf", b" " * 2000, limit=1049)


def test_an_upload_shows_no_mesh_of_this_machine(tmp_path, monkeypatch):
    package = tmp_path / "arm"
    package.mkdir()
    (package / "package.xml").write_text("<package/>")
    (package / "secret.stl").write_bytes(b"solid\nendsolid\n")
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path))
    text = """<robot name="spy"><link name="a"><visual><geometry>
              <mesh filename="package://arm/secret.stl"/></geometry></visual></link></robot>"""
    scene, _ = saving.read_upload("spy.urdf", text.encode())
    assert scene.linkage.nodes[0].visuals[0].shape.file is None


@pytest.mark.parametrize(
    ("name", "safe"),
    [("../../x.urdf", "x.urdf"), ("C:\\a\\b c.bvh", "b_c.bvh"), ("..", "upload"), ("", "upload"), (".x\0y", "x_y")],
)
def test_names_of_uploads_are_harmless(name, safe):
    assert saving.safe_name(name) == safe


@pytest.mark.parametrize("suffix", saving.EXPORTS)
def test_the_motion_is_exported(suffix):
    if suffix == ".usda":
        pytest.importorskip("pxr")
    if suffix in (".gif", ".mp4"):
        pytest.importorskip("matplotlib")
    if suffix == ".mp4":
        pytest.importorskip("imageio_ffmpeg")
    session = Session(lw.models.planar([2, 1]))
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
