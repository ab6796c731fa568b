"""Motions of SMPL bodies with random shapes, compared with the equations of the published model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork import formats
from linkwork.errors import FormatError
from linkwork.formats.registry import format_in
from linkwork.formats.smpl_body import SKELETONS, average_joints, parents_of

CORNERS, SHAPES, FRAMES = 60, 10, 5
STANDING = np.array([np.pi / 2, 0.0, 0.0])  # from y up to z up
# The tree of the published models, from their kintree_table.
SMPL_PARENTS = [-1, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 12, 13, 14, 16, 17, 18, 19, 20, 21]
HAND = [0, 22, 23, 0, 25, 26, 0, 28, 29, 0, 31, 32, 0, 34, 35]
LEFT, RIGHT = ([k or 20 for k in HAND], [k + 15 if k else 21 for k in HAND])
PARENTS = {
    22: SMPL_PARENTS[:22],
    24: SMPL_PARENTS,
    52: SMPL_PARENTS[:22] + LEFT + RIGHT,
    55: SMPL_PARENTS[:22] + [15, 15, 15] + [k + 3 if k > 21 else k for k in LEFT + RIGHT],
}


def turns(count: int) -> np.ndarray:
    result = np.random.default_rng(count).normal(scale=0.4, size=(FRAMES, count, 3))
    result[:, 0] += STANDING
    return result


def way() -> np.ndarray:
    return np.random.default_rng(1).normal(size=(FRAMES, 3))


def saved(folder: Path, **arrays: object) -> Path:
    path = folder / "walk.npz"
    np.savez(path, **arrays)  # type: ignore[arg-type]
    return path


def body(folder: Path, count: int, **changes: object) -> tuple[Path, dict[str, np.ndarray]]:
    """Return a body model of random shape."""
    random = np.random.default_rng(7)
    tree = np.array([PARENTS[count], range(count)], np.int64)
    tree[0, 0] = 2**32 - 1  # as the published files have it
    arrays = {
        "J_regressor": random.dirichlet(np.ones(CORNERS), count),
        "v_template": random.normal(size=(CORNERS, 3)),
        "shapedirs": random.normal(scale=0.1, size=(CORNERS, 3, SHAPES)),
        "kintree_table": tree,
    } | changes
    np.savez(folder / "model.npz", **arrays)
    return folder / "model.npz", arrays


def joints_of(model: dict[str, np.ndarray], betas: np.ndarray) -> np.ndarray:
    return model["J_regressor"] @ (model["v_template"] + model["shapedirs"] @ betas)


def places(joints: np.ndarray, parents: list[int], turn: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """Return joint positions at a frame by the model's equations: rotated about parent joints, from the pelvis on."""
    matrices = Rotation.from_rotvec(turn).as_matrix()
    worlds, points = [matrices[0]], [joints[0] + shift]
    for k in range(1, len(joints)):
        above = parents[k]
        points.append(points[above] + worlds[above] @ (joints[k] - joints[above]))
        worlds.append(worlds[above] @ matrices[k])
    return np.array(points)


@pytest.mark.parametrize("count", PARENTS)
def test_joints_are_where_the_model_has_them(count: int, tmp_path: Path) -> None:
    assert parents_of(count) == PARENTS[count]
    betas, gender = np.linspace(-1.0, 1.0, SHAPES), np.array("female") if count == 24 else np.array(b"female")
    flat = turns(count).reshape(FRAMES, -1)
    path = saved(tmp_path, poses=flat, trans=way(), betas=betas, gender=gender, mocap_framerate=120.0)
    joints, options = average_joints(count), {}
    if count != 22:  # no model has only these joints
        file, model = body(tmp_path, count)
        joints, options = joints_of(model, betas), {"body_model": file}
    clip = lw.load_clip(path, **options)
    np.testing.assert_allclose(clip.times, np.arange(FRAMES) / 120.0)
    found = clip.linkage.forward(clip.poses)
    for frame in range(FRAMES):
        expected = places(joints, PARENTS[count], turns(count)[frame], way()[frame])
        ours = np.array([found[name][frame, :3, 3] for name in SKELETONS[count]])
        np.testing.assert_allclose(ours, expected, atol=1e-9)


def test_parts_of_smpl_x_are_put_together(tmp_path: Path) -> None:
    flat = turns(55).reshape(FRAMES, -1)
    whole = lw.load_clip(saved(tmp_path, poses=flat, trans=way(), mocap_frame_rate=30.0))
    parts = {"root_orient": flat[:, :3], "pose_body": flat[:, 3:66], "pose_jaw": flat[:, 66:69]}
    parts |= {"pose_eye": flat[:, 69:75], "pose_hand": flat[:, 75:]}
    np.testing.assert_array_equal(lw.load_clip(saved(tmp_path, **parts, trans=way())).poses, whole.poses)
    del parts["pose_jaw"]
    with pytest.raises(FormatError, match="only the eyes"):
        lw.load_clip(saved(tmp_path, **parts, trans=way()))


def test_the_rest_pose_stands_on_the_ground_and_the_remarks_say_whose_bones_they_are(tmp_path: Path) -> None:
    content = formats.read(saved(tmp_path, poses=turns(24).reshape(FRAMES, -1), trans=way()))
    rest = content.linkage.forward(content.linkage.neutral())
    assert min(matrix[2, 3] for matrix in rest.values()) == pytest.approx(0.0, abs=1e-12)
    assert rest["head"][2, 3] > 1.4
    assert rest["left_wrist"][0, 3] > 0.6  # a T-pose, x to the left
    said = {remark.kind: remark.text for remark in content.remarks}
    assert "average body" in said["bones"]
    assert "30 frames per second are assumed" in said["rate"]


def test_a_body_that_stands_along_y_is_taken_for_y_up_unless_told(tmp_path: Path) -> None:
    poses = np.zeros((FRAMES, 72))
    path = saved(tmp_path, poses=poses, trans=np.tile([0.0, 0.9, 0.0], (FRAMES, 1)), fps=30)
    for options, head in (({}, (0.9, 2)), ({"up": "y"}, (0.9, 2)), ({"up": "z"}, (0.9, 1))):
        clip = lw.load_clip(path, **options)
        height, axis = head
        assert clip.linkage.forward(clip.poses[0])["pelvis"][axis, 3] == pytest.approx(height)
    assert any("up=..." in remark.text for remark in formats.read(path).remarks)


def test_names_are_those_that_retargeting_knows(tmp_path: Path) -> None:
    clip = lw.load_clip(saved(tmp_path, poses=turns(52).reshape(FRAMES, -1), trans=way()))
    found = lw.retargeting.recognise(clip.linkage)
    for role, link in {"left_hip": "left_hip", "right_knee": "right_knee", "left_shoulder": "left_shoulder"}.items():
        assert found.roles[role] == link
    assert len(found.fingers) >= 20


def test_files_of_linkwork_and_of_others_are_told_apart(tmp_path: Path) -> None:
    own = tmp_path / "own.npz"
    lw.models.motion("human").save(own)
    assert format_in(own).title == "NPZ"
    path = saved(tmp_path, poses=turns(24).reshape(FRAMES, -1), trans=way())
    assert format_in(path).title == "SMPL"
    clip = lw.load_clip(path)
    clip.save(path)  # over it, as linkwork's own
    np.testing.assert_array_equal(lw.load_clip(path).poses, clip.poses)
    with pytest.raises(FormatError, match=r"is a pickle.*numpy\.savez"):
        lw.load(tmp_path / "smpl.pkl")
    with pytest.raises(FormatError, match="of linkwork and AMASS"):
        lw.load(saved(tmp_path, positions=way(), quaternions=way()))


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"poses": np.zeros((FRAMES, 70))}, "70 numbers per frame; bodies of the SMPL family have 66"),
        ({"poses": np.zeros((FRAMES, 69))}, "pelvis is missing"),
        ({"poses": np.zeros(0)}, "poses of shape"),
        ({"poses": np.full((FRAMES, 72), np.nan)}, "not finite"),
        ({"poses": np.array([None])}, "array 'poses.npy' cannot be read"),
        ({"trans": np.zeros((FRAMES + 1, 3))}, "translations of shape"),
        ({"mocap_framerate": 0.0}, "0 frames per second"),
    ],
)
def test_what_does_not_go_together_is_refused(changes: dict, why: str, tmp_path: Path) -> None:
    path = saved(tmp_path, **({"poses": np.zeros((FRAMES, 72)), "trans": way()} | changes))
    with pytest.raises(FormatError, match=why):
        lw.load_clip(path)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"J_regressor": np.ones((24, CORNERS + 1))}, "do not match"),
        ({"shapedirs": np.ones((3, 3, 3))}, "do not match its v_template"),
        ({"J_regressor": np.ones((20, CORNERS))}, "has 20 joints, the motion 24"),
        ({"kintree_table": np.zeros((2, 24), np.int64)}, "connects its joints differently"),
        ({"v_template": np.full((CORNERS, 3), np.inf)}, "not finite"),
        ({"v_template": np.array([None])}, "cannot be read"),
    ],
)
def test_what_is_no_body_model_is_refused(changes: dict, why: str, tmp_path: Path) -> None:
    model, _ = body(tmp_path, 24, **changes)
    path = saved(tmp_path, poses=np.zeros((FRAMES, 72)), trans=way())
    with pytest.raises(FormatError, match=why), np.errstate(all="ignore"):
        lw.load_clip(path, body_model=model)
