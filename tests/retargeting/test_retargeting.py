"""Retargeting from one body to another: what is kept, what is scaled, what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwork as lw
from captures import recorded
from linkwork.errors import FormatError, FrameNotFoundError, MappingError, OptionError
from linkwork.goals import turn_between
from linkwork.kernels.revolute_fit import fit_revolute, memory_size
from linkwork.motion.checks import runs
from linkwork.motion.contacts import Thresholds, find_contacts
from linkwork.motion.derivatives import jerk
from linkwork.motion.frame_goals import GoalTrack, follow
from linkwork.retargeting import read_map, recognise, retarget_file, retarget_with_report, write_map
from linkwork.retargeting.quaternion_form import without_angles
from linkwork.solvers.problem import metres_per_radian
from robots import shipped

SIDES = ("left", "right")
LIMBS = [(f"{side}_{a}", f"{side}_{b}") for side in SIDES for a, b in (("shoulder", "elbow"), ("elbow", "hand"))]
LIMBS += [(f"{side}_{a}", f"{side}_{b}") for side in SIDES for a, b in (("hip", "knee"), ("knee", "ankle"))]


@pytest.fixture(scope="module")
def walk() -> lw.Clip:
    """Return two steps of a walk whose root moves at the speed of its feet, at 60 frames per second."""
    still = lw.models.motion("human:floating")
    keys = [(float(t), q) for t, q in zip(still.times, still.poses, strict=True) if t <= 1.3]
    clip = lw.interpolate(still.linkage, keys, fps=60, kind="cubic")
    feet = np.stack([clip.forward(frame=f"{side}_foot")[:, :3, 3] for side in SIDES])
    speeds = np.gradient(feet[..., 0], clip.times, axis=1)
    lower = np.take_along_axis(speeds, feet[None, ..., 2].argmin(axis=1), axis=0)[0]
    poses = clip.linkage.clamp(clip.poses)
    forward = clip.linkage.coordinate_index["root.x"]
    poses[:, forward] += np.concatenate([[0.0], np.cumsum(-(lower[1:] + lower[:-1]) / 2.0 * np.diff(clip.times))])
    return lw.Clip(clip.linkage, clip.times, poses)


def t_posed(*, euler: str | None, turn: float = 0.0, size: float = 1.0) -> lw.Linkage:
    """Return a body of ball joints in a T-pose that faces a direction."""
    parts = [("hips", None, (0, 0, 1.0)), ("chest", "hips", (0, 0, 0.3)), ("head", "chest", (0, 0, 0.3))]
    for side, sign in (("left", 1), ("right", -1)):
        parts += [
            (f"{side}_upper_arm", "chest", (0, 0.2 * sign, 0.2)),
            (f"{side}_forearm", f"{side}_upper_arm", (0, 0.3 * sign, 0)),
            (f"{side}_hand", f"{side}_forearm", (0, 0.25 * sign, 0)),
            (f"{side}_thigh", "hips", (0, 0.1 * sign, 0)),
            (f"{side}_shin", f"{side}_thigh", (0, 0, -0.45)),
            (f"{side}_foot", f"{side}_shin", (0, 0, -0.45)),
            (f"{side}_toe", f"{side}_foot", (0.15, 0, -0.08)),
        ]
    c, s = np.cos(turn), np.sin(turn)
    about = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    joints = []
    for name, parent, at in parts[1:]:
        joints.append(lw.Joint(name, parent, name, lw.Ball(euler), size * about @ np.array(at, float)))
    root = lw.Joint("root", None, "hips", lw.Floating(euler), (0.0, 0.0, size))
    return lw.Linkage([lw.Link(name) for name, _, _ in parts], joints, name="doll", root=root)


def directions(clip: lw.Clip, roles: dict[str, str]) -> np.ndarray:
    """Return the directions of all bones of the limbs over a clip."""
    world = clip.forward()
    ways = np.stack([world[roles[b]][:, :3, 3] - world[roles[a]][:, :3, 3] for a, b in LIMBS])
    return ways / np.linalg.norm(ways, axis=-1, keepdims=True)


def angles_between(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.degrees(np.arccos(np.clip((a * b).sum(axis=-1), -1.0, 1.0)))


def with_t_pose_first(clip: lw.Clip) -> lw.Clip:
    """Return a motion with an additional first frame: a T-pose, away from the start of the motion."""
    linkage = clip.linkage
    arms = {"left_shoulder": (1.5, 0.0, 0.0), "right_shoulder": (-1.5, 0.0, 0.0), "left_elbow": 0.0, "right_elbow": 0.0}
    pose = linkage.pose(arms, base="stand")
    pose[:2] -= 1.0
    times = np.concatenate([clip.times[:1], clip.times + 1 / 60])
    return lw.Clip(linkage, times, np.vstack([pose[None], clip.poses]), source="walk.bvh")


def test_a_motion_onto_its_own_figure_stays_what_it_is(walk):
    """Exactly, unless smoothing or contacts are requested; then it is placed on the ground like any other."""
    outcome = retarget_with_report(walk, lw.models.human())
    assert (outcome.clip.poses == walk.poses).all()
    assert "own skeleton" in outcome.remarks[0]
    solved = retarget_with_report(walk, lw.models.human(), smooth=0.0, contacts=Thresholds())
    for name in ("left_palm", "right_palm", "head"):
        apart = solved.clip.forward(frame=name)[:, :3, 3] - walk.forward(frame=name)[:, :3, 3]
        level = apart - np.median(apart, axis=0)  # placing it on the ground moves everything
        assert np.linalg.norm(level, axis=1).max() < 0.03
    assert solved.report.scale == pytest.approx(1.0)
    roles = solved.source.roles
    assert angles_between(directions(solved.clip, roles), directions(walk, roles)).mean() < 3


@pytest.mark.parametrize("height", [1.2, 1.7, 2.1])
def test_planted_feet_stay_and_hands_limits_and_calm_are_kept(walk, height):
    outcome = retarget_with_report(walk, lw.models.human(height=height))
    made, clip = outcome.report, outcome.clip
    assert made.contacts >= 2
    assert made.slide < 0.005
    assert made.hands < 0.02
    assert made.jerk < 1.5
    assert made.outside == made.flips == 0
    assert (clip.poses >= clip.linkage.lower).all()
    assert (clip.poses <= clip.linkage.upper).all()
    for side in SIDES:  # independent check: where the source stands, the ball of the target's foot rests
        planted = find_contacts(walk.forward(frame=f"{side}_ball")[:, :3, 3], walk.times, leg=0.855)
        places = clip.forward(frame=f"{side}_ball")[:, :3, 3]
        for first, last in runs(planted):
            inside = places[first + 3 : last - 2]
            if len(inside) > 3:
                assert np.ptp(inside, axis=0).max() < 0.01
                assert abs(inside[:, 2]).max() < 0.01  # and on the ground


def test_the_inspector_of_motions_finds_no_slides_and_no_flips(walk):
    kinds = {finding.kind for finding in lw.inspect(lw.retarget(walk, lw.models.human(height=1.5))).findings}
    assert not kinds & {"slide", "flip", "spike"}


def test_a_retargeted_motion_says_where_it_comes_from(walk):
    clip = lw.retarget(walk.named("walk", source="walk.bvh"), lw.models.human())
    assert (clip.name, clip.source) == ("walk", "retargeted from walk.bvh")


def test_the_path_is_scaled_by_the_legs(walk):
    outcome = retarget_with_report(walk, lw.models.human(height=1.2))
    ratio = 1.2 / 1.75
    assert outcome.report.scale == pytest.approx(ratio)
    before, after = (c.forward(frame="pelvis")[:, :2, 3] for c in (walk, outcome.clip))
    assert np.linalg.norm(after[-1] - after[0]) == pytest.approx(
        ratio * np.linalg.norm(before[-1] - before[0]), rel=0.05
    )


@pytest.mark.parametrize("euler", [None, "ZXY", "xyz"])
@pytest.mark.parametrize("turn", [0.0, 2.0])
def test_bones_point_as_the_source_does_whatever_the_rest_pose_and_the_joints(walk, euler, turn):
    outcome = retarget_with_report(walk, t_posed(euler=euler, turn=turn), smooth=0.0)
    source, target = directions(walk, outcome.source.roles), directions(outcome.clip, outcome.target.roles)
    assert angles_between(source[:4], target[:4]).max() < 6.0  # arms
    assert angles_between(source, target).mean() < 4.0
    assert outcome.report.slide < 0.005
    assert outcome.report.flips == 0


@pytest.mark.parametrize("euler", ["ZXY", "xyz"])
def test_how_joints_store_rotations_changes_nothing(walk, euler):
    plain, angles = (lw.retarget(walk, t_posed(euler=one)) for one in (None, euler))
    assert angles.linkage.root.articulation.euler == euler
    for name in angles.linkage.links:
        assert angles.forward(frame=name) == pytest.approx(plain.forward(frame=name), abs=1e-9)
    assert np.abs(np.diff(angles.poses, axis=0)).max() < 1.0  # angles are continuous


def test_angles_with_limits_stay_angles():
    hinge = lw.Ball("ZXY", lower=(-1.0, -1.0, -1.0), upper=(1.0, 1.0, 1.0))
    arm = lw.Linkage([lw.Link("base"), lw.Link("hand")], [lw.Joint("wrist", "base", "hand", hinge)])
    assert without_angles(arm) is arm


def test_back_and_forth_comes_near_the_start(walk):
    there = lw.retarget(walk, t_posed(euler="ZXY", size=0.8))
    back = lw.retarget(there, lw.models.human())
    roles = recognise(walk.linkage).roles
    assert angles_between(directions(walk, roles), directions(back, roles)).mean() < 5.0


def test_hands_that_meet_stay_together():
    human = lw.models.human(root="floating")
    clap = human.pose(
        {
            "left_shoulder": (0.1, -0.6, -0.8),
            "right_shoulder": (-0.1, -0.6, 0.8),
            "left_elbow": 1.2,
            "right_elbow": 1.2,
        },
        base="stand",
    )
    clip = lw.Clip(human, np.arange(20) / 30, np.repeat(clap[None], 20, axis=0))
    outcome = retarget_with_report(clip, t_posed(euler=None))
    places = [outcome.clip.forward(frame=outcome.target.roles[f"{side}_hand"])[:, :3, 3] for side in SIDES]
    before = [clip.forward(frame=outcome.source.roles[f"{side}_hand"])[:, :3, 3] for side in SIDES]
    scale = 0.55 / 0.555
    assert np.linalg.norm(before[0] - before[1], axis=1).max() < 0.2
    assert np.linalg.norm(places[0] - places[1], axis=1) == pytest.approx(
        scale * np.linalg.norm(before[0] - before[1], axis=1), abs=0.02
    )


def test_a_fixed_figure_floats_unless_it_is_kept(walk):
    floating = lw.retarget(walk, lw.models.human())
    assert floating.linkage.root.articulation.kind == "floating"
    kept = lw.retarget(walk, lw.models.human(), root="keep")
    assert kept.linkage.nq == lw.models.human().nq
    assert np.abs(np.diff(kept.poses, axis=0)).max() > 0.0


def test_an_arm_follows_a_hand(walk):
    panda = lw.models.panda()
    outcome = retarget_with_report(walk, panda)
    assert outcome.target is None
    assert outcome.frame == "tip"
    assert outcome.report.hands < 1e-3
    assert outcome.report.outside == outcome.report.flips == 0
    path = outcome.clip.forward(frame="tip")[:, :3, 3]
    hand = walk.forward(frame="right_palm")[:, :3, 3] - walk.forward(frame="right_upper_arm")[:, :3, 3]
    moved, led = np.ptp(path, axis=0), np.ptp(hand, axis=0)
    assert moved == pytest.approx(outcome.report.scale * led, abs=0.02)  # the walk faces x, as the arm does
    other = retarget_with_report(
        walk, panda, role="left_hand", frame="panda_link8" if "panda_link8" in panda.frames else "tip"
    )
    assert not np.allclose(other.clip.poses, outcome.clip.poses)


def test_the_first_frame_alone_can_be_retargeted(walk):
    one = lw.Clip(walk.linkage, walk.times[:1], walk.poses[:1])
    assert len(lw.retarget(one, lw.models.human(height=1.5))) == 1
    assert len(lw.retarget(one, lw.models.panda())) == 1


@pytest.mark.parametrize("target", [lw.models.human(height=1.4), lw.models.panda()], ids=["figure", "arm"])
def test_a_first_frame_that_is_no_part_of_the_motion_is_left_out_unless_it_is_kept(walk, target):
    posed = with_t_pose_first(walk)
    outcome, plain = retarget_with_report(posed, target), retarget_with_report(walk, target)
    assert outcome.remarks[0].startswith("frame 0 left out: it is a separate pose, not part of the motion")
    assert outcome.clip.source == "retargeted from walk.bvh without its first frame"
    assert outcome.clip.times == pytest.approx(walk.times)
    assert outcome.clip.poses == pytest.approx(plain.clip.poses)
    assert plain.remarks == ()
    kept = retarget_with_report(posed, target, first="keep")
    assert (len(kept.clip), kept.remarks) == (len(walk) + 1, ())
    with pytest.raises(OptionError, match="first is 'auto' or 'keep'"):
        retarget_with_report(posed, target, first="drop")


def test_few_poses_far_apart_in_time_are_all_part_of_the_motion(walk):
    slow = with_t_pose_first(walk)
    keys = lw.Clip(
        slow.linkage, np.arange(8.0), np.concatenate([slow.poses[:1], np.repeat(slow.poses[1:2], 7, axis=0)])
    )
    short = lw.Clip(slow.linkage, slow.times[:4], slow.poses[:4])
    for clip in (keys, short):
        assert len(lw.retarget(clip, lw.models.human())) == len(clip)


# Refused input


def test_wrong_input_is_explained(walk):
    human = lw.models.human()
    with pytest.raises(OptionError, match="clip and then a linkage"):
        lw.retarget(human, walk)
    with pytest.raises(OptionError, match=r"expected a Linkage, such as lw\.models\.human\(\)"):
        lw.retarget(walk, "human")
    with pytest.raises(MappingError, match="no role 'tail'"):
        lw.retarget(walk, human, role="tail")
    with pytest.raises(OptionError, match="'auto' or 'keep'"):
        lw.retarget(walk, human, root="planar")
    with pytest.raises(OptionError, match="smooth"):
        lw.retarget(walk, human, smooth=-1.0)
    with pytest.raises(FrameNotFoundError, match="did you mean"):
        lw.retarget(walk, lw.models.panda(), frame="tipp")
    with pytest.raises(MappingError, match="target 'engine'"):
        lw.retarget(walk, lw.models.engine())
    with pytest.raises(MappingError, match="source 'snake'"):
        lw.retarget(lw.models.motion("snake:9"), human)
    with pytest.raises(MappingError, match="'source' and a 'target'"):
        lw.retarget(walk, human, map={"sources": {}})
    with pytest.raises(MappingError, match="or the name of a file"):
        lw.retarget(walk, human, map=["left_hand"])


def test_a_map_that_gives_one_link_to_two_parts_of_limbs_is_refused(walk):
    human = lw.models.human()
    with pytest.raises(MappingError, match="target names one link, 'left_palm', for 'left_hand' and 'right_hand'"):
        lw.retarget(walk, human, map={"target": {"left_hand": "left_palm", "right_hand": "left_palm"}})
    shared = {"source": {"spine": "chest", "chest": "chest", "neck": "chest", "left_toe": None, "right_toe": None}}
    assert len(lw.retarget(walk, human, map=shared)) == len(walk)


def test_skeletons_without_a_limb_in_common_are_refused(walk):
    arms = {role: None for role in recognise(lw.models.human()).roles if role.endswith(("_elbow", "_hand"))}
    legs = {role: None for role in recognise(lw.models.human()).roles if role.endswith(("_knee", "_ankle", "_toe"))}
    with pytest.raises(MappingError, match="no limb in common"):
        lw.retarget(walk, lw.models.human(), map={"source": arms, "target": legs})


# Maps and files


def test_a_map_can_be_written_edited_and_given_back(walk, tmp_path):
    path = tmp_path / "map.yaml"
    skeleton = recognise(walk.linkage)
    write_map(path, skeleton, lw.models.panda())
    text = path.read_text(encoding="utf-8")
    assert "  left_hand: left_palm  # by name" in text
    assert "  # left_hand:" in text  # a role of the arm, for the user to fill in
    read = read_map(path)
    assert read["source"] == {**skeleton.roles, **skeleton.fingers}
    path.write_text(text.replace("left_hand: left_palm", "left_hand: left_fingers"), encoding="utf-8")
    outcome = retarget_with_report(walk, lw.models.human(), map=path)
    assert outcome.source.roles["left_hand"] == "left_fingers"
    assert outcome.source.reasons["left_hand"] == "map"


@pytest.mark.parametrize(
    ("text", "says"), [("a: [", "not YAML"), ("- left_hand", "not a joint map"), ("source: 3", "mapping from roles")]
)
def test_broken_maps_are_explained(walk, tmp_path, text, says):
    path = tmp_path / "map.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises((FormatError, MappingError), match=says):
        lw.retarget(walk, lw.models.human(), map=path)


def test_a_file_is_retargeted_whole_or_not_at_all(walk, tmp_path):
    source = tmp_path / "walk.bvh"
    walk.save(source)
    outcome = retarget_file(source, lw.models.human(height=1.4), tmp_path / "small.bvh")
    again = lw.load_clip(tmp_path / "small.bvh")
    assert len(again) == len(outcome.clip) == len(walk)
    hand = again.forward(frame="left_wrist")[:, :3, 3]
    assert hand == pytest.approx(outcome.clip.forward(frame="left_palm")[:, :3, 3], abs=1e-5)
    with pytest.raises(FormatError):
        retarget_file(source, lw.models.human(), tmp_path / "walk.urdf")
    assert not (tmp_path / "walk.urdf").exists()


def run(*words: str, command: tuple[str, ...] = ("retarget",)) -> int:
    """Run the command and return its exit code."""
    from linkwork.cli.app import app

    with pytest.raises(SystemExit) as caught:
        app([*command, *words])
    return int(caught.value.code or 0)


def test_the_command_writes_reports_and_shows_the_map(walk, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    walk.save("walk.bvh")
    assert run("walk.bvh", "--to", "human:1.4", "--range", "5:40", "--write-map", "map.yaml", "--json") == 0
    data = json.loads(capsys.readouterr().out)
    assert data["output"] == "walk-human.bvh"
    assert len(lw.load_clip("walk-human.bvh")) == data["report"]["frames"] == 36
    assert data["map"]["target"]["left_knee"] == "left_shin"
    assert run("walk.bvh", "--to", "human", "--map", "map.yaml", "-o", "again.bvh") == 0
    out = capsys.readouterr().out
    assert "left_elbow" in out
    assert "limits kept; no flips" in out
    assert run("walk.bvh", "--to", "engine", "--write-map", "empty.yaml") == 2
    assert "cannot map target 'engine'" in capsys.readouterr().err
    assert "# left_hand:" in Path("empty.yaml").read_text(encoding="utf-8")
    assert run("walk.bvh", "--to", "human", "--range", "90:4") == 2
    assert run("walk.bvh", "--to", "human", "-o", "walk.urdf") == 2
    assert run("none.bvh", "--to", "human") == 3


def test_the_command_exits_with_1_and_says_what_is_wrong(walk, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with_t_pose_first(walk).save("walk.bvh")
    assert run("walk.bvh", "--to", "human", "-o", "good.bvh") == 0
    assert "frame 0 left out" in capsys.readouterr().err
    assert len(lw.load_clip("good.bvh")) == len(walk)
    stiff = lw.models.human(root="floating")
    limits = {f"{side}_elbow": {"lower": 1.8, "upper": 2.0} for side in SIDES}
    lw.save(stiff.replace(joints=limits), "stiff.yaml")
    assert run("walk.bvh", "--to", "stiff.yaml", "-o", "bad.npz", "--keep-first", "--json") == 1
    said = capsys.readouterr()
    made = json.loads(said.out)
    assert (made["report"]["frames"], made["remarks"]) == (len(walk) + 1, [])
    assert made["report"]["hands"] > 0.02
    assert "linkwork: hands are off their scaled paths by" in said.err
    assert "slide" not in said.err
    assert Path("bad.npz").exists()
    monkeypatch.setattr("linkwork.retargeting.report.SLID", 1e-5)
    assert run("walk.bvh", "--to", "human", "-o", "good.bvh") == 1
    assert "linkwork: planted feet slide by" in capsys.readouterr().err


def test_libraries_leave_out_or_keep_first_frames_alike(walk, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("clips").mkdir()
    with_t_pose_first(walk).save("clips/walk.bvh")
    for folder, options, more in (("out", (), 0), ("kept", ("--keep-first",), 1)):
        assert run("clips", "--to", "human", "-o", folder, *options, command=("batch", "retarget")) == 0
        assert len(lw.load_clip(f"{folder}/walk.bvh")) == len(walk) + more


# Parts


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_hinges_take_over_rotations_that_they_can_make(count):
    from scipy.spatial.transform import Rotation

    rng = np.random.default_rng(count)
    constants = Rotation.random(count + 1, random_state=count).as_matrix()
    axes = rng.normal(size=(count, 3))
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    angles = 0.8 * np.sin(np.linspace(0.0, 2.0, 50)[:, None] + np.arange(count))

    def turned(values: np.ndarray) -> np.ndarray:
        result = np.broadcast_to(constants[0], (len(values), 3, 3))
        for k in range(count):
            result = result @ Rotation.from_rotvec(values[:, k, None] * axes[k]).as_matrix() @ constants[k + 1]
        return result

    found = np.repeat(angles[:1] + 0.1, 50, axis=0)
    bounds = np.full(count, 1.0)
    memory, wanted = np.full(memory_size(count), np.nan), np.ascontiguousarray(turned(angles))
    fit_revolute(constants, axes, -bounds, bounds, wanted, found, memory, 1e-3, 0.15)
    assert np.abs(turned(found) - turned(angles)).max() < 1e-4
    assert (np.abs(found) <= bounds).all()
    assert np.abs(np.diff(found, axis=0)).max() < 0.3


def test_the_shortest_turn_turns_one_vector_onto_another():
    rng = np.random.default_rng(0)
    for _ in range(20):
        a, b = rng.normal(size=(2, 3))
        a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
        for end in (b, a, -a):
            turn = Rotation.from_rotvec(turn_between(a, end)).as_matrix()
            assert turn @ a == pytest.approx(end)
            assert np.linalg.det(turn) == pytest.approx(1.0)


def test_goal_tracks_are_solved_as_their_goals_are(walk):
    human = walk.linkage
    frames, ones = 8, np.ones(8)
    tracks = [
        GoalTrack("place", "left_hand", walk.forward(frame="left_hand")[:frames, :3, 3], 2.0 * ones),
        GoalTrack("turn", "right_foot", walk.forward(frame="right_foot")[:frames, :3, :3], 0.7 * ones),
        GoalTrack(
            "direction", "head", walk.forward(frame="head")[:frames, :3, 0], ones, axis=np.array([1.0, 0.0, 0.0])
        ),
        GoalTrack("pose", "", walk.poses[:frames], 0.1 * ones),
    ]
    poses = follow(human, tracks, human.stored_pose("stand"))
    arm = metres_per_radian(human)
    ik = lw.prepare(human, [track.goal(0, arm) for track in tracks], restarts=0)
    other = ik.follow([[track.goal(k, arm) for track in tracks] for k in range(frames)], start="stand")
    assert poses == pytest.approx(other.q, abs=1e-9)
    assert poses == pytest.approx(walk.poses[:frames], abs=0.02)


# Captures, and other robots


@pytest.mark.parametrize("name", ["walk", "run", "march"])
def test_captured_motions_keep_their_promises(name):
    clip = recorded(name)
    for target in (lw.models.human(), recorded("dance").linkage):
        made = retarget_with_report(clip, target).report
        assert made.contacts >= 4
        assert made.slide < 0.005
        assert made.hands < 0.02
        assert made.jerk < 1.5
        assert made.outside == made.flips == 0


def test_joints_that_pass_a_gimbal_lock_do_not_flip():
    march = recorded("march")
    assert march.report().of("flip")  # knees and thighs in the file
    made = retarget_with_report(march, recorded("dance").linkage).report
    assert made.slide < 0.005
    assert made.hands < 0.02
    assert made.flips == 0


@pytest.mark.parametrize("name", ["simple_humanoid", "human"])
def test_a_humanoid_robot_walks(name):
    clip = recorded("walk")
    outcome = retarget_with_report(clip, lw.load(shipped(name), root="floating"))
    assert outcome.report.slide < 0.005
    assert outcome.report.hands < 0.02
    assert outcome.report.jerk < 1.5
    assert outcome.report.outside == 0
    assert jerk(outcome.clip.forward(frame=outcome.target.roles["hips"])[:, :3, 3], clip.times) < 200.0
