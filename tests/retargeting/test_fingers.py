"""Fingers and twist bones: directions relative to the palm, joints of all kinds, twist shared along a limb."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwork as lw
from conventions import BODY, body_of
from linkwork.retargeting import recognise, retarget
from linkwork.retargeting.core import core_of, widened
from linkwork.retargeting.finger_motion import hand_of, move_fingers
from linkwork.retargeting.names import meaning
from linkwork.retargeting.twists import share_twist


def grasp(linkage: lw.Linkage, frames: int = 5) -> lw.Clip:
    """Return a clip in which all fingers of a body of ball joints curl, each joint about another axis."""
    rng = np.random.default_rng(7)
    poses = np.repeat(linkage.neutral()[None], frames, axis=0)
    for name in linkage.joints:
        if meaning(name).part == "finger":
            k = linkage.drives[linkage.arc_index(name)].q
            turn = Rotation.from_rotvec(np.linspace(0, 1, frames)[:, None] * rng.uniform(-0.7, 0.7, 3))
            poses[:, k : k + 4] = turn.as_quat(scalar_first=True)
    return lw.Clip(linkage, np.arange(frames) / 10, poses)


def knuckle_ways(clip: lw.Clip, fingers: dict[str, str]) -> dict[str, np.ndarray]:
    """Return the vector from each joint of a finger to the next, (frames, 3), relative to the left and right palms.

    The palm's axes follow from positions of knuckles in the world, frame by frame.
    """
    world = clip.forward()
    ways = {}
    for side in ("left", "right"):
        at = {role: world[fingers[f"{side}_{role}"]][:, :3, 3] for role in ("index_1", "little_1", "middle_1")}
        wrist = world[recognise(clip.linkage).roles[f"{side}_hand"]][:, :3, 3]
        ahead = (at["index_1"] + at["little_1"]) / 2 - wrist
        across = at["index_1"] - at["little_1"]
        out = np.cross(ahead, across)
        axes = [v / np.linalg.norm(v, axis=1, keepdims=True) for v in (ahead, np.cross(out, ahead), out)]
        for role in fingers:
            after = f"{role[:-1]}{int(role[-1]) + 1}"
            if role.startswith(side) and after in fingers:
                way = world[fingers[after]][:, :3, 3] - world[fingers[role]][:, :3, 3]
                way = way / np.linalg.norm(way, axis=1, keepdims=True)
                ways[role] = np.stack([(way * axis).sum(axis=1) for axis in axes], axis=1)
    return ways


@pytest.mark.parametrize("convention", ["Unreal", "VRM", "MikuMikuDance", "3ds Max Biped"])
def test_fingers_point_as_the_source_does_whatever_their_names(convention):
    clip = grasp(body_of("Mixamo"))
    result = retarget(clip, body_of(convention), smooth=0)
    before = knuckle_ways(clip, recognise(clip.linkage).fingers)
    after = knuckle_ways(result, recognise(result.linkage).fingers)
    assert set(before) == set(after)
    for role, ways in before.items():
        assert after[role] == pytest.approx(ways, abs=1e-9), role


def without(linkage: lw.Linkage, roles: set[str]) -> lw.Linkage:
    """Return a body of ball joints without the fingers of some roles."""
    names = recognise(linkage).fingers
    gone = {names[role] for role in names if role in roles}
    joints = [arc for arc in linkage.arcs[1:] if arc.child not in gone]
    return lw.Linkage(
        [link for link in linkage.nodes if link.name not in gone], joints, name=linkage.name, root=linkage.root
    )


def test_a_hand_with_three_fingers_takes_those_and_one_without_source_follows_its_neighbour():
    whole = body_of("Mixamo")
    clip = grasp(whole)
    three = without(
        body_of("Unreal"),
        {f"{side}_{d}_{k}" for side in ("left", "right") for d in ("ring", "little") for k in (1, 2, 3)},
    )
    poses = move_fingers(clip, recognise(whole), recognise(three), np.repeat(three.neutral()[None], len(clip), axis=0))
    assert np.abs(poses - three.neutral()).max() > 0.1
    few = without(whole, {f"{side}_little_{k}" for side in ("left", "right") for k in (1, 2, 3)})
    target = body_of("Unreal")
    result = move_fingers(grasp(few), recognise(few), recognise(target), np.repeat(target.neutral()[None], 5, axis=0))
    last = lw.Clip(target, np.arange(5) / 10, result).forward()
    one, other = (
        hand_of(recognise(target), "left").fingers["ring"],
        hand_of(recognise(target), "left").fingers["little"],
    )
    ways = [last[target.links[bones[0].path[-1]]][:, :3, :3] @ bones[0].way for bones in (one, other)]
    assert ways[0] == pytest.approx(ways[1], abs=1e-9)


def test_fingers_rest_where_the_source_has_none():
    clip = retarget(grasp(body_of("Unity")), body_of("Mixamo"))
    for link in recognise(clip.linkage).fingers.values():
        drive = clip.linkage.drives[clip.linkage.link_index(link)]
        assert clip.poses[:, drive.columns] == pytest.approx(np.tile([1.0, 0, 0, 0], (len(clip), 1)))


def hinged(limit: float) -> lw.Linkage:
    """Return a body whose fingers are revolute joints that fold down, two axes at every knuckle of the left hand."""
    b = lw.Builder("robot", base="hips", root=lw.Floating())
    place = {role: np.array(at) for role, (_, at) in BODY.items()}
    for role, (above, at) in BODY.items():
        if role == "hips":
            continue
        step = tuple(np.subtract(at, place[above]))
        side, _, k = (*role.split("_"), "", "")[:3]
        if k.isdigit():
            out = 1 if side == "left" else -1
            parent = above
            if k == "1" and side == "left":
                b.revolute(f"{role}_spread", f"{role}_base", axis="z", limits=(-limit, limit), parent=above, at=step)
                parent, step = f"{role}_base", (0.0, 0.0, 0.0)
            name = role if parent == above else f"{role}_bend"
            b.revolute(name, role, axis=(0, out, 0), limits=(-0.2, limit), parent=parent, at=step)
        else:
            b.ball(role, role, parent=above, at=step)
    return b.build()


def test_revolute_fingers_come_as_near_as_they_can_and_keep_their_limits():
    source = hinged(1.4)
    rng = np.random.default_rng(3)
    poses = np.repeat(source.neutral()[None], 8, axis=0)
    bends = [k for k, name in enumerate(source.coordinates) if name.split("_")[1:2] and name.split("_")[2:3]]
    poses[:, bends] = rng.uniform(0.0, 0.6, (8, len(bends)))
    clip = lw.Clip(source, np.arange(8) / 10, poses)
    start = np.repeat(source.neutral()[None], 8, axis=0)
    skeleton = recognise(source)
    assert move_fingers(clip, skeleton, skeleton, start) == pytest.approx(poses, abs=2e-3)
    stiff = hinged(0.3)
    result = move_fingers(clip, skeleton, recognise(stiff), np.repeat(stiff.neutral()[None], 8, axis=0))
    assert (result >= stiff.lower - 1e-12).all()
    assert (result <= stiff.upper + 1e-12).all()


def test_the_core_of_a_body_leaves_fingers_and_twist_bones_alone():
    skeleton = recognise(body_of("Unreal"))
    core = core_of(skeleton)
    assert {"lowerarm_l.w", "thigh_r.w"} <= set(core.linkage.coordinates)
    assert not {"index_01_l.w", "upperarm_twist_01_l.w", "ik_foot_l.x"} & set(core.linkage.coordinates)
    poses = core.linkage.random_pose(0, 4)
    wide = widened(skeleton, core.linkage, poses)
    for link in ("hand_l", "index_03_l", "ball_r"):
        assert skeleton.linkage.forward(wide, frame=link) == pytest.approx(core.linkage.forward(poses, frame=link))


def test_twist_bones_share_the_turn_and_move_no_joint():
    linkage = body_of("Unreal")
    skeleton = recognise(linkage)
    poses = np.repeat(linkage.neutral()[None], 3, axis=0)
    angles = np.array([0.0, 0.6, 1.2])
    for joint, share in (("upperarm_l", 1.0), ("lowerarm_l", 0.5), ("hand_l", 1.0)):
        k = linkage.drives[linkage.arc_index(joint)].q
        turn = Rotation.from_rotvec(share * angles[:, None] * [1.0, 0.0, 0.0])  # arms point along x
        poses[:, k : k + 4] = turn.as_quat(scalar_first=True)
    result = share_twist(skeleton, poses)
    for link in ("lowerarm_l", "hand_l", "index_03_l"):
        assert linkage.forward(result, frame=link) == pytest.approx(linkage.forward(poses, frame=link), abs=1e-12)

    def turned(joint: str) -> np.ndarray:
        k = linkage.drives[linkage.arc_index(joint)].q
        return Rotation.from_quat(result[:, k : k + 4], scalar_first=True).as_rotvec()[:, 0]

    along = 0.07 / 0.28  # share of the upper arm, from the shoulder
    assert turned("upperarm_twist_01_l") == pytest.approx((along - 1.0) * angles)
    along = 0.16 / 0.26  # share of the forearm, whose end turns with the hand
    assert turned("lowerarm_twist_01_l") == pytest.approx(along * 1.5 * angles - 0.5 * angles)


def test_twist_bones_in_a_chain_take_equal_parts():
    linkage = body_of("Daz")
    skeleton = recognise(linkage)
    assert skeleton.roles["left_shoulder"] == "lShldrBend"
    poses = np.repeat(linkage.neutral()[None], 2, axis=0)
    k = linkage.drives[linkage.arc_index("lShldrBend")].q
    poses[1, k : k + 4] = Rotation.from_euler("ZX", [0.4, 0.8]).as_quat(scalar_first=True)
    result = share_twist(skeleton, poses)
    assert linkage.forward(result, frame="lHand") == pytest.approx(linkage.forward(poses, frame="lHand"), abs=1e-12)
    m = linkage.drives[linkage.arc_index("lShldrTwist")].q
    assert Rotation.from_quat(result[1, m : m + 4], scalar_first=True).as_rotvec() == pytest.approx([0.4, 0, 0])
    assert Rotation.from_quat(result[1, k : k + 4], scalar_first=True).as_matrix() == pytest.approx(
        Rotation.from_euler("ZX", [0.4, 0.4]).as_matrix()
    )


def test_a_map_names_fingers():
    body = body_of("Mixamo")
    named = recognise(body, {"left_index_1": "mixamorig:LeftHandMiddle1", "left_index_2": None})
    assert named.fingers["left_index_1"] == "mixamorig:LeftHandMiddle1"
    assert named.reasons["left_index_1"] == "map"
