"""The rest pose of a file does not matter: anatomy is determined from the motion."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwork as lw
from captures import recorded, write
from linkwork.errors import OptionError
from linkwork.formats.skins import bind_pose
from linkwork.models.characters import write_character
from linkwork.retargeting import recognise, retarget_with_report
from linkwork.retargeting.kin import kinship
from linkwork.retargeting.quaternion_form import without_angles
from linkwork.transforms import transform
from rewritten import rewritten

FIGURES = ("walk", "run", "march", "dance")


def angles(first: lw.Clip, second: lw.Clip) -> np.ndarray:
    """Return the angles between the links of two clips of one linkage [degrees]."""
    trace = np.einsum("tlij,tlij->tl", *(clip.forward().array[..., :3, :3] for clip in (first, second)))
    return np.degrees(np.arccos(np.clip((trace - 1.0) / 2.0, -1.0, 1.0)))


@pytest.mark.parametrize("turned", [False, True])
def test_a_motion_that_is_written_again_is_the_same_motion(turned):
    clip = recorded("run")
    again = rewritten(clip, 40, turned)
    places = [motion.forward().array[..., :3, 3] for motion in (clip, again)]
    assert np.abs(places[0] - places[1]).max() < 1e-9
    rest = again.linkage.forward(again.linkage.neutral())
    assert rest[clip.linkage.links[5]][:3, 3] == pytest.approx(clip.forward(frame=clip.linkage.links[5])[40, :3, 3])


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("frame", [7, -1])
def test_any_frame_may_be_the_rest_pose(name, frame):
    clip, human = recorded(name), lw.models.human()
    first = "keep"  # its first frame is not recognised as a T-pose if the rest pose differs
    plain = lw.retarget(clip, human, first=first)
    other = lw.retarget(rewritten(clip, frame, turned=True), human, first=first)
    assert angles(plain, other).max() < 1.0


@pytest.mark.parametrize("name", FIGURES)
def test_bones_point_as_those_of_the_source_do(name):
    clip = recorded(name)
    figure = recorded("march").linkage  # its arms hang down at rest, and have no limits
    outcome = retarget_with_report(rewritten(clip, 20, turned=True), figure, first="keep")
    source = recognise(clip.linkage)
    for start, end in (("shoulder", "elbow"), ("elbow", "hand"), ("hip", "knee"), ("knee", "ankle")):
        for side in ("left", "right"):
            ways = []
            for skeleton, motion in ((source, clip), (outcome.target, outcome.clip)):
                ends = [skeleton.path(f"{side}_{part}", motion.poses) for part in (start, end)]
                ways.append((ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0], axis=1, keepdims=True))
            apart = np.degrees(np.arccos(np.clip((ways[0] * ways[1]).sum(axis=1), -1.0, 1.0)))
            assert apart.mean() < 8.0, (side, start)


# A given pose


def test_a_frame_a_pose_or_a_t_pose_may_tell_what_the_source_is_like():
    clip, human = recorded("run"), lw.models.human()  # its first frame is a T-pose, and so is its rest pose
    plain = retarget_with_report(clip, human, first="keep", rest=0)
    for rest in ("t-pose", "rest", clip.poses[0]):
        assert angles(plain.clip, lw.retarget(clip, human, first="keep", rest=rest)).max() < 1e-3
    assert plain.source.posed == pytest.approx(clip.poses[0])
    again = rewritten(clip, 50, turned=True)
    assert angles(plain.clip, lw.retarget(again, human, first="keep", rest="t-pose")).max() < 1.0
    still = lw.Clip(clip.linkage, clip.times[:1], clip.poses[:1])
    for rest, words in (
        (4000, "frames 0 to 0"),
        ("a-pose", "needs arms 25 to 75 degrees"),
        ("u", "'t-pose', 'a-pose'"),
    ):
        with pytest.raises(OptionError, match=words):
            lw.retarget(still, human, rest=rest)
    with pytest.raises(OptionError, match="has no motion"):
        lw.retarget(clip, human, target_rest=3)


def test_a_target_that_rests_in_a_step_is_known_by_another_pose():
    clip = recorded("walk")
    own = recorded("march")
    odd = rewritten(own, 30, turned=True)
    plain, told, not_told = (
        retarget_with_report(clip, linkage, target_rest=rest)
        for linkage, rest in ((own.linkage, own.poses[0]), (odd.linkage, odd.poses[0]), (odd.linkage, None))
    )
    ways = [one.clip.forward(frame="LeftWrist")[:, :3, 3] for one in (plain, told, not_told)]
    assert np.linalg.norm(ways[0] - ways[1], axis=1).max() < 1e-3
    apart = [turned_apart(one.clip, plain.clip, "LeftKnee") for one in (told, not_told)]
    assert apart[0].max() < 1.0 < apart[1].max()


def turned_apart(first: lw.Clip, second: lw.Clip, name: str) -> np.ndarray:
    """Return the difference of a link's rotation since the first frame between two clips [degrees]."""
    turns = [clip.forward(frame=name)[:, :3, :3] for clip in (first, second)]
    turns = [turn @ turn[0].T for turn in turns]
    trace = np.einsum("tij,tij->t", *turns)
    return np.degrees(np.arccos(np.clip((trace - 1.0) / 2.0, -1.0, 1.0)))


@pytest.mark.parametrize("name", FIGURES)
def test_onto_its_own_skeleton_a_motion_stays_as_it_is(name):
    clip = recorded(name)
    quaternions = without_angles(clip.linkage)  # the same skeleton with quaternions
    for linkage in (clip.linkage, quaternions):
        made = retarget_with_report(clip, linkage, first="keep").clip
        assert np.abs(made.forward().array - clip.forward().array).max() < 1e-9


def test_people_of_one_system_share_what_the_motion_tells():
    clip = rewritten(recorded("run"), 50)  # its rest pose, and that of the taller body, is in mid-step
    joints = [clip.linkage.joint(name) for name in clip.linkage.joints]
    longer = {
        joint.name: {"placement": transform(1.2 * joint.placement[:3, 3], joint.placement[:3, :3])}
        for joint in joints
        if joint.parent is not None
    }
    taller = clip.linkage.replace(joints=longer)
    found = kinship(clip, taller)
    assert found is not None
    assert not found.same
    made = lw.retarget(clip, taller, first="keep", smooth=0.0)
    roles = recognise(clip.linkage).roles
    for role in ("hips", "chest", "left_shoulder", "left_elbow", "right_hip", "right_knee"):
        turns = [motion.forward(frame=roles[role])[:, :3, :3] for motion in (clip, made)]
        trace = np.einsum("tij,tij->t", *turns)
        assert np.degrees(np.arccos(np.clip((trace - 1.0) / 2.0, -1.0, 1.0))).mean() < 5.0, role


def test_a_character_is_known_by_the_pose_its_skin_was_bound_in(tmp_path):
    """The nodes rest in mid-dance; the skin was bound in a T-pose, which is the rest pose of another file."""
    write_character(tmp_path / "bound.gltf")
    document = json.loads((tmp_path / "bound.gltf").read_text(encoding="utf-8"))
    rng = np.random.default_rng(0)
    for node in document["nodes"][1:-1]:
        node["rotation"] = Rotation.from_rotvec(0.6 * rng.normal(size=3)).as_quat().tolist()
    (tmp_path / "odd.gltf").write_text(json.dumps(document), encoding="utf-8")
    plain, odd = (lw.load(tmp_path / f"{name}.gltf") for name in ("bound", "odd"))
    pose = bind_pose(odd)
    assert np.abs(odd.forward(pose).array - plain.forward(plain.neutral()).array).max() < 1e-6
    first, second = (lw.retarget(recorded("walk"), body) for body in (plain, odd))
    assert np.abs(first.forward().array - second.forward().array)[..., :3, 3].max() < 0.002
    assert bind_pose(lw.models.human()) is None


def test_knees_that_were_fitted_too_straight_fold_back_all_the_same():
    """The body stands with knees that bend forward by ten degrees, as in some fits."""
    march = recorded("march")
    figure, height = march.linkage, march.linkage.coordinate_index["Hips.y"]
    pose = 0.0 * march.poses[0]
    pose[height] = march.poses[0, height]
    for side in ("Left", "Right"):
        pose[figure.coordinate_index[f"{side}Knee.rx"]] = -np.radians(10.0)
    clip = lw.Clip(figure, np.arange(20) / 30.0, np.repeat(pose[None], 20, axis=0))
    skeleton = replace(recognise(figure), seen=clip)
    thigh, hips = (
        skeleton.worlds[skeleton.body(role)][0, :3, :3] @ skeleton.anatomy[role] for role in ("left_hip", "hips")
    )
    assert thigh[:, 1] @ hips[:, 1] > 0.9
    ankle, knee = (skeleton.path(f"left_{part}", clip.poses)[0] for part in ("ankle", "knee"))
    assert (ankle - knee) @ hips[:, 0] > 0.05


def test_a_source_that_never_stands_is_told_apart(tmp_path):
    """Most likely the file was read with the wrong up axis."""
    path = write("walk", tmp_path)
    outcomes = [retarget_with_report(lw.load_clip(path, up=up), lw.models.human()) for up in ("y", "x")]
    assert outcomes[0].remarks == ()
    assert "another axis up" in outcomes[1].remarks[-1]
