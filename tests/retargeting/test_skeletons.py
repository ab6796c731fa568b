"""Roles of links: from names, from shape, and given by the user."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from captures import CAPTURES, recorded
from conventions import CONVENTIONS, DECOYS, body_of
from linkwork.errors import MappingError
from linkwork.retargeting import FINGERS, ROLES, recognise
from linkwork.retargeting.names import meaning
from robots import SHIPPED, gymnasium, shipped


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
        ("BackLeg.L", "left", "leg"),
        ("MidFrontLeg.L", "left", "leg"),
        ("link7", "", ""),
    ],
)
def test_names_tell_side_and_part(name, side, part):
    said = meaning(name)
    assert (said.side, said.part) == (side, part)


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_every_convention_tells_every_role_and_no_decoy_hides_one(convention):
    names = CONVENTIONS[convention]
    skeleton = recognise(body_of(convention))
    assert {**skeleton.roles, **skeleton.fingers} == names
    assert set(skeleton.missing) == {role for role in ROLES if role not in names}


@pytest.mark.parametrize("convention", [name for name in CONVENTIONS if DECOYS.get(name)])
def test_decoys_say_that_they_are_no_part_of_a_body(convention):
    moving = [name for name, _, _, moves in DECOYS[convention] if moves]
    bones = set(CONVENTIONS[convention].values())
    assert not [name for name in moving if name not in bones and meaning(name).part not in ("", "hand", "ankle")]


def test_fingers_are_told_by_their_places_where_names_do_not():
    assert not recognise(body_of("Unity")).fingers
    named = recognise(body_of("Unreal"))
    count = {role: k for k, role in enumerate(FINGERS)}
    links = {link: {"name": f"j{count[role]}"} for role, link in named.fingers.items()}
    joints = {link: {"name": f"k{count[role]}"} for role, link in named.fingers.items()}
    shaped = recognise(body_of("Unreal").replace(links=links, joints=joints))
    assert shaped.fingers == {role: f"j{count[role]}" for role in named.fingers}
    assert {shaped.reasons[role] for role in shaped.fingers} == {"shape"}


def test_a_human_has_every_role():
    skeleton = recognise(lw.models.human())
    assert set(skeleton.roles) == set(ROLES)
    assert skeleton.has_legs
    assert skeleton.forward == pytest.approx([1, 0, 0])
    assert skeleton.up == pytest.approx([0, 0, 1])
    assert skeleton.body("left_elbow") == "left_wrist"  # the forearm rolls: its bone is the parent of the hand
    assert skeleton.length("left_hip", "left_knee", "left_ankle") == pytest.approx(0.43 + 0.425)


def nameless(linkage: lw.Linkage, turn: float = 0.0) -> lw.Linkage:
    """Return a linkage with meaningless names, rotated about z."""
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


CAPTURED = {
    "run": {"left_hip": "LeftUpLeg", "left_clavicle": "LeftShoulder", "right_elbow": "RightForeArm"},
    "march": {"left_hip": "LeftHip", "left_shoulder": "LeftShoulder", "right_hand": "RightWrist"},
    "dance": {"hips": "hip", "left_hip": "lThigh", "right_shoulder": "rShldr", "right_ankle": "rFoot"},
}
ROBOTS = {
    "baxter": {"left_elbow": "left_lower_elbow", "right_hand": "right_lower_forearm", "head": "head"},
    "human": {"hips": "middle_pelvis", "chest": "middle_thorax", "left_knee": "left_lowerleg"},
    "icub": {"hips": "root_link", "chest": "chest", "left_hip": "l_hip_1", "left_elbow": "l_elbow_1"},
    "simple_humanoid": {"left_knee": "LLEG_LINK4", "right_hip": "RLEG_LINK1", "chest": "torso"},
    "talos_full_v2": {"hips": "base_link", "left_knee": "leg_left_4_link", "left_elbow": "arm_left_4_link"},
}


def numbered() -> lw.Linkage:
    """Return a body whose limbs are numbered from the trunk outwards, in the style of some glTF exporters."""
    b = lw.Builder("figure", base="torso_joint_1", root=lw.Floating())
    b.ball("s2", "torso_joint_2", at=(0, 0, 0.2)).ball("s3", "torso_joint_3", at=(0, 0, 0.2))
    b.ball("n1", "neck_joint_1", at=(0, 0, 0.2)).ball("n2", "neck_joint_2", at=(0, 0, 0.1))
    for side, sign in (("L", 1), ("R", -1)):
        for limb, parent, first, step in (
            ("arm", "torso_joint_3", (0, 0.18 * sign, 0.1), (0, 0.27 * sign, 0)),
            ("leg", "torso_joint_1", (0, 0.1 * sign, -0.05), (0, 0, -0.42)),
        ):
            for k in (1, 2, 3):
                name, last = f"{limb}_joint_{side}_{k}", f"{limb}_joint_{side}_{k - 1}"
                b.ball(f"j_{name}", name, parent=last if k > 1 else parent, at=step if k > 1 else first)
            if limb == "leg":
                b.ball(f"toe{side}", f"leg_joint_{side}_5", at=(0.15, 0, -0.05))
    return b.build()


@pytest.mark.parametrize("name", [*CAPTURED, *ROBOTS])
def test_skeletons_of_others_are_recognised(name):
    expected = CAPTURED.get(name) or ROBOTS[name]
    roles = recognise(recorded(name).linkage if name in CAPTURED else lw.load(shipped(name))).roles
    assert {role: roles[role] for role in expected} == expected


def test_limbs_that_are_only_numbered_are_recognised():
    roles = recognise(numbered()).roles
    assert (roles["left_elbow"], roles["right_ankle"]) == ("arm_joint_L_2", "leg_joint_R_3")


@pytest.mark.parametrize("name", ["head", "worm", "solo12", "allegro_left_hand", "half_cheetah", "swimmer"])
def test_heads_worms_hands_and_animals_are_no_figures(name):
    if name in SHIPPED:
        linkage = lw.load(shipped(name))
    elif name in CAPTURES:
        linkage = recorded(name).linkage
    else:
        pytest.importorskip("mujoco")
        linkage = lw.load(gymnasium(name))
    with pytest.raises(MappingError):
        recognise(linkage)
