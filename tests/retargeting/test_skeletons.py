"""Roles of links: from names, from shape, and as given."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import MappingError
from linkwork.retargeting import ROLES, recognise
from linkwork.retargeting.names import meaning

DATA = Path(__file__).parents[3] / "shared" / "data"


@pytest.mark.parametrize(
    ("name", "side", "part"),
    [
        ("LeftUpLeg", "left", "hip"),
        ("mixamorig:RightForeArm", "right", "elbow"),
        ("lShldr", "left", "shoulder"),
        ("RARM_SHOULDER_P", "right", "shoulder"),
        ("LLEG_HIP_R", "left", "hip"),
        ("upper_arm.R", "right", "shoulder"),
        ("thigh.L", "left", "hip"),
        ("Bip01 L Calf", "left", "knee"),
        ("left_ankle_pitch_joint", "left", "ankle"),
        ("rThumb2", "right", "finger"),
        ("LeftHandIndex1", "left", "finger"),
        ("lradius", "left", "elbow"),
        ("hip", "", "hips"),
        ("Spine1", "", "spine"),
        ("LeftToeBase", "left", "toe"),
        ("leftEye", "left", ""),
        ("link7", "", ""),
    ],
)
def test_names_tell_side_and_part(name, side, part):
    said = meaning(name)
    assert (said.side, said.part) == (side, part)


def test_a_human_has_every_role():
    skeleton = recognise(lw.models.human())
    assert set(skeleton.roles) == set(ROLES)
    assert skeleton.has_legs
    assert skeleton.forward == pytest.approx([1, 0, 0])
    assert skeleton.up == pytest.approx([0, 0, 1])
    assert skeleton.body("left_elbow") == "left_wrist"  # the forearm rolls: its bone is what the hand hangs on
    assert skeleton.length("left_hip", "left_knee", "left_ankle") == pytest.approx(0.43 + 0.425)


def nameless(linkage: lw.Linkage, turn: float = 0.0) -> lw.Linkage:
    """Return a linkage whose names say nothing, turned about z."""
    links = {name: {"name": f"n{k}"} for k, name in enumerate(linkage.links)}
    joints = {name: {"name": f"j{k}"} for k, name in enumerate(linkage.joints)}
    frames = [
        lw.Frame(f"f{k}", f"n{linkage.link_index(frame.link)}", frame.placement)
        for k, frame in enumerate(linkage.extra_frames)
    ]
    placement = np.eye(4)
    placement[:2, :2] = [[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]
    root = lw.Joint("root", None, "n0", lw.Fixed(), placement @ linkage.root.placement)
    return linkage.replace(links=links, joints=joints, frames=frames, root=root, poses={})


@pytest.mark.parametrize("turn", [0.0, 1.0, -2.5])
def test_shape_tells_limbs_and_sides_where_names_do_not(turn):
    human = lw.models.human()
    named, shaped = recognise(human), recognise(nameless(human, turn))
    for role in ("shoulder", "elbow", "hand", "hip", "knee", "ankle"):
        for side in ("left", "right"):
            index = human.link_index(named.roles[f"{side}_{role}"])
            assert shaped.roles[f"{side}_{role}"] == f"n{index}"
            assert shaped.reasons[f"{side}_{role}"] == "shape"
    assert shaped.forward == pytest.approx([np.cos(turn), np.sin(turn), 0.0], abs=1e-9)
    assert shaped.linkage.link_index(shaped.roles["chest"]) == human.link_index(named.roles["chest"])
    assert shaped.linkage.link_index(shaped.roles["head"]) == human.link_index("head")


def test_given_roles_come_first_and_none_takes_one_away():
    skeleton = recognise(lw.models.human(), {"left_hand": "left_fingers", "head": None})
    assert skeleton.roles["left_hand"] == "left_fingers"
    assert skeleton.reasons["left_hand"] == "map"
    assert "head" not in skeleton


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"left_paw": "x"}, "no role 'left_paw'"),
        ({"left_hand": "gripper"}, "no link 'gripper'"),
        (["left_hand"], "mapping from roles to links"),
    ],
)
def test_wrong_maps_are_explained(given, says):
    with pytest.raises(MappingError, match=says):
        recognise(lw.models.human(), given)


@pytest.mark.parametrize("model", ["planar:4", "snake:9", "engine", "panda"])
def test_what_has_no_limbs_is_refused_with_advice(model):
    with pytest.raises(MappingError, match=r"found no arms and no legs.*--write-map") as caught:
        recognise(lw.models.build(model), what="target")
    assert "map={'target'" in str(caught.value)
    assert "left_hand" in str(caught.value)


KNOWN = {
    "bvh/cmu_16_49.bvh": {"left_hip": "LeftUpLeg", "left_clavicle": "LeftShoulder", "right_elbow": "RightForeArm"},
    "bvh/mocapbank_crlf.bvh": {"left_hip": "LeftHip", "left_shoulder": "LeftShoulder", "right_hand": "RightWrist"},
    "bvh/pirouette.bvh": {"hips": "hip", "left_hip": "lThigh", "right_shoulder": "rShldr", "right_ankle": "rFoot"},
    "urdf/simple_humanoid.urdf": {"left_knee": "LLEG_LINK4", "right_hip": "RLEG_LINK1", "chest": "torso"},
    "urdf/humanoid_nonunit_axes.urdf": {"hips": "pelvis", "chest": "torso", "left_hip": "link1_16"},
    "urdf/baxter.urdf": {"left_elbow": "left_lower_elbow", "right_hand": "right_wrist", "head": "head"},
    "gltf/RiggedFigure/RiggedFigure.gltf": {"left_elbow": "arm_joint_L_2", "right_ankle": "leg_joint_R_3"},
}


@pytest.mark.parametrize("file", KNOWN)
def test_skeletons_of_others_are_recognised(file):
    if not (DATA / file).exists():
        pytest.skip("the shared data is not here")
    if file.endswith("gltf"):
        pytest.importorskip("pygltflib")
    roles = recognise(lw.load(DATA / file)).roles
    assert {role: roles[role] for role in KNOWN[file]} == KNOWN[file]


@pytest.mark.parametrize(
    "file",
    ["bvh/alien.bvh", "bvh/sinusoidal.bvh", "urdf/T12.URDF", "urdf/solo12.urdf", "mjcf/dm_control/quadruped.xml"],
)
def test_heads_snakes_and_animals_are_no_figures(file):
    if not (DATA / file).exists():
        pytest.skip("the shared data is not here")
    if file.endswith("xml"):
        pytest.importorskip("mujoco")
    with pytest.raises(MappingError):
        recognise(lw.load(DATA / file))
