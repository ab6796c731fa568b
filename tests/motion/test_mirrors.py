"""Mirror images: of every frame's position, for all joints and axes; and which joints are swapped."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linkwork as lw
from captures import recorded
from linkwork.errors import JointNotFoundError, LinkageError
from linkwork.motion.mirrors import other_side, symmetry


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("left_elbow", "right_elbow"),
        ("RightUpLeg", "LeftUpLeg"),
        ("LHipJoint", "RHipJoint"),
        ("lThumb1", "rThumb1"),
        ("arm.L", "arm.R"),
        ("hip_r", "hip_l"),
        ("LEFT_KNEE", "RIGHT_KNEE"),
        ("leftarm", "rightarm"),
        ("lhipjoint", "rhipjoint"),
        ("mixamorig:LeftHand", "mixamorig:RightHand"),
        ("spine", "spine"),
        ("lower_back", "lower_back"),
        ("ring", "ring"),
        ("", ""),
    ],
)
def test_left_and_right_in_names(name: str, other: str) -> None:
    assert other_side(name) == other
    assert other_side(other) == name


def test_the_mirror_image_of_a_figure_is_where_a_mirror_shows_it() -> None:
    clip = lw.models.motion("human")
    here, there = clip.forward(), clip.mirror().forward()
    for name in ("left_hand", "right_foot", "head", "left_toes"):
        image = here[name][:, :3, 3] * (1.0, -1.0, 1.0)
        assert_allclose(there[other_side(name)][:, :3, 3], image, atol=1e-12)


@pytest.mark.parametrize("name", ["walk", "run", "march", "dance"])
def test_mirrored_twice_a_recorded_motion_is_itself(name: str) -> None:
    clip = recorded(name)
    mirrored = clip.mirror()
    assert np.abs(mirrored.forward().array - clip.forward().array).max() > 0.1
    assert_allclose(mirrored.mirror().forward().array, clip.forward().array, rtol=0, atol=1e-10)


def test_a_floating_figure_is_mirrored_in_any_upright_plane() -> None:
    clip = recorded()
    normal, point = np.array([0.6, 0.8, 0.0]), np.array([0.3, 0.0, 0.0])
    root = clip.linkage.links[0]
    path = clip.forward(frame=root)[:, :3, 3]
    image = path - 2.0 * ((path - point) @ normal)[:, None] * normal
    mirrored = clip.mirror(normal=normal, point=point)
    assert_allclose(mirrored.forward(frame=root)[:, :3, 3], image, atol=1e-9)
    assert_allclose(mirrored.mirror(normal=normal, point=point).forward().array, clip.forward().array, atol=1e-9)


def test_quaternions_are_mirrored_as_rotations() -> None:
    b = lw.Builder("wings", root="floating")
    b.ball("left_wing", "left", at=(0, 0.2, 0)).frame("left_tip", at=(0.3, 0.4, 0.1))
    b.ball("right_wing", "right", parent="base", at=(0, -0.2, 0)).frame("right_tip", at=(0.3, -0.4, 0.1))
    linkage = b.build()
    clip = lw.interpolate(linkage, list(enumerate(linkage.random_pose(3, 4))), fps=10)
    mirrored = clip.mirror()
    image = clip.forward(frame="left_tip")[:, :3, 3] * (1, -1, 1)
    assert_allclose(mirrored.forward(frame="right_tip")[:, :3, 3], image, atol=1e-9)


def test_an_arm_without_sides_is_mirrored_across_a_direction() -> None:
    arm = lw.models.planar([2, 1])
    clip = lw.interpolate(arm, [(0, [0.1, 0.2]), (1, [1.0, 2.0])], fps=4)
    assert_allclose(clip.mirror(normal="y").poses, -clip.poses, atol=1e-12)
    with pytest.raises(LinkageError, match=r"no left and no right .*normal='y'"):
        clip.mirror()


def test_pairs_may_be_given_and_must_exist() -> None:
    human = lw.models.human()
    swapped = symmetry(human, pairs={"left_wrist": "left_wrist"})
    assert swapped.pairs["left_wrist"] == "left_wrist"
    assert swapped.pairs["right_wrist"] == "right_wrist"
    assert "left_elbow - right_elbow" in str(swapped)
    with pytest.raises(JointNotFoundError, match="left_elbow"):
        symmetry(human, pairs={"left_elbw": "right_elbow"})


def test_what_is_not_symmetric_is_not_mirrored() -> None:
    b = lw.Builder("odd")
    b.revolute("left_arm", "left", at=(0, 0.2, 0), axis="x").frame("hand", at=(0, 1, 0))
    b.revolute("right_arm", "right", parent="base", at=(0, -0.2, 0.9), axis="y")
    linkage = b.build()
    clip = lw.interpolate(linkage, [(0, [0, 0]), (1, [1, 1])], fps=4)
    with pytest.raises(LinkageError, match=r"not mirror images|not symmetric"):
        clip.mirror()
