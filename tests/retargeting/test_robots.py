"""Humanoid robots as targets: roles from joints, soles on the floor, hands out of the body."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from humanoids import STANDINS, humanoid
from linkwork.draw.sketch import Sketch
from linkwork.draw.triangles import of_meshes
from linkwork.models.characters import write_character
from linkwork.retargeting import recognise, retarget_with_report
from linkwork.retargeting.clearance import kept_out
from linkwork.retargeting.outlines import outline
from linkwork.retargeting.soles import sole

SIDES = ("left", "right")
BONES = (("shoulder", "elbow"), ("elbow", "hand"), ("hip", "knee"), ("knee", "ankle"))
NEAR = 0.02  # [m]


@pytest.mark.parametrize("name", STANDINS)
def test_roles_come_from_joints(name):
    robot, linkage = STANDINS[name], humanoid(name)
    skeleton = recognise(linkage)
    assert skeleton.roles["left_elbow"] == f"{robot.elbow[0]}_link"
    assert skeleton.roles["left_knee"] == f"{robot.knee[0]}_link"
    wanted = {"shoulder": robot.shoulder, "elbow": robot.elbow[1], "hip": robot.hip, "knee": robot.knee[1]}
    for part, place in wanted.items():
        assert skeleton.reasons[f"left_{part}"] == "joints"
        assert skeleton.place(f"left_{part}") == pytest.approx(place, abs=NEAR)
        assert skeleton.place(f"right_{part}") == pytest.approx(np.multiply(place, (1, -1, 1)), abs=NEAR)
    rng = np.random.default_rng(1)  # distances of body joints do not depend on the pose
    poses = linkage.integrate(linkage.neutral(), 0.3 * rng.standard_normal((20, linkage.nv)))
    for start, end in (("shoulder", "elbow"), ("hip", "knee"), ("knee", "ankle")):
        ends = [skeleton.path(f"left_{part}", poses) for part in (start, end)]
        assert np.ptp(np.linalg.norm(ends[1] - ends[0], axis=1)) < 1e-9


@pytest.mark.parametrize("name", ["unitree_g1", "booster_t1", "nao"])
def test_elbows_fold_forward_and_knees_back(name):
    linkage = humanoid(name)
    skeleton = recognise(linkage)
    for side in SIDES:
        for role, ends in ((f"{side}_elbow", ("shoulder", "hand")), (f"{side}_knee", ("hip", "ankle"))):
            drive = linkage.drives[linkage.link_index(skeleton.roles[role])]
            axis = linkage.arcs[linkage.link_index(skeleton.roles[role])].articulation.elements[0].axis
            sign = np.sign(axis @ skeleton.hinges[role])
            pose = skeleton.rest.copy()
            far = []
            for value in (linkage.lower[drive.q], linkage.upper[drive.q])[:: int(sign)]:
                pose[drive.q] = value
                top, end = (skeleton.path(f"{side}_{part}", pose) for part in ends)
                far.append(np.linalg.norm(end - top))
            assert far[1] < far[0]  # the end of the joint's range is the folded one


def test_a_map_still_wins():
    linkage = humanoid("unitree_g1")
    given = {"left_hand": "left_wrist_roll_link", "left_shoulder": "left_shoulder_yaw_link"}
    skeleton = recognise(linkage, given)
    assert skeleton.roles["left_hand"] == "left_wrist_roll_link"
    assert skeleton.reasons["left_shoulder"] == "map"
    yaw = linkage.forward(skeleton.rest, frame="left_shoulder_yaw_link")[:3, 3]
    assert skeleton.place("left_shoulder") == pytest.approx(yaw)


def ahead(clip: lw.Clip) -> lw.Clip:
    """Return a walk whose root moves at the speed of its lower foot."""
    feet = np.stack([clip.forward(frame=f"{side}_foot")[:, :3, 3] for side in SIDES])
    speeds = np.gradient(feet[..., 0], clip.times, axis=1)[feet[..., 2].argmin(axis=0), np.arange(len(clip))]
    poses = clip.poses.copy()
    poses[:, clip.linkage.coordinate_index["root.x"]] -= np.cumsum(speeds) / clip.fps
    return lw.Clip(clip.linkage, clip.times, poses)


@pytest.fixture(scope="module")
def walk() -> lw.Clip:
    return ahead(lw.models.motion("human:floating").slice(0.0, 1.3).resample(fps=60))


def directions(skeleton, clip: lw.Clip) -> np.ndarray:
    """Return unit directions of all bones of arms and legs over a clip, (bones, frames, 3)."""
    ways = []
    for side in SIDES:
        for start, end in BONES:
            ends = [skeleton.point(f"{side}_{part}").over(clip.linkage, clip.poses) for part in (start, end)]
            ways.append((ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0], axis=1, keepdims=True))
    return np.stack(ways)


@pytest.mark.parametrize("name", ["unitree_g1", "unitree_h1", "booster_t1", "nao"])
def test_a_robot_walks_as_the_source_does(walk, name):
    outcome = retarget_with_report(walk, humanoid(name))
    clip, robot = outcome.clip, STANDINS[name]
    cosine = (directions(outcome.source, walk) * directions(outcome.target, clip)).sum(axis=-1)
    assert np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))).mean() < 5.0
    assert (clip.poses >= clip.linkage.lower - 1e-9).all()
    assert (clip.poses <= clip.linkage.upper + 1e-9).all()
    assert outcome.report.slide < 0.002
    lowest = []
    for side in SIDES:  # independent check with the corners of the foot's box
        link = outcome.target.body(f"{side}_ankle")
        world = clip.forward(frame=link)
        corners = _corners(robot)
        heights = (world[:, 2, :3] @ corners.T).min(axis=1) + world[:, 2, 3]
        assert heights.min() > -0.005
        lowest.append(heights)
        planted = outcome.plan.feet[side].flat
        if planted.any():
            assert abs(heights[planted]).max() < 0.003
    assert np.median(np.min(lowest, axis=0)) < 0.01  # and it does not float


def test_an_arm_on_three_axes_points_where_it_can_and_leaves_the_legs_alone(walk):
    """Two shoulder axes set the direction of the upper arm; the hand is not a goal, which would pull at the body."""
    robot = humanoid("unitree_g1")
    for side in SIDES:
        robot = robot.freeze(f"{side}_shoulder_yaw", at=0.0)
    limbs = retarget_with_report(walk, robot).report.limbs
    for side in SIDES:
        assert np.degrees(limbs[f"{side}_upper_arm"].mean) < 8.0
        assert np.degrees(limbs[f"{side}_thigh"].mean) < 5.0


def _corners(robot) -> np.ndarray:
    leg, low = -robot.sole, robot.sole - robot.leg[-1][2][2]
    signs = np.array(np.meshgrid(*([-1.0, 1.0],) * 3)).reshape(3, -1).T
    return signs * (0.12 * leg, 0.04 * leg, 0.01 * leg) + (0.05 * leg, 0.0, low + 0.01 * leg)


def test_the_sole_is_the_shape_of_the_foot():
    skeleton = recognise(humanoid("unitree_g1"))
    foot, robot = sole(skeleton, "left"), STANDINS["unitree_g1"]
    assert foot.height == pytest.approx(robot.leg[-2][2][2] - robot.sole, abs=1e-6)
    assert foot.toe[2] == pytest.approx(robot.sole - robot.leg[-1][2][2], abs=1e-6)
    assert foot.toe[0] == pytest.approx(0.17 * -robot.sole, abs=1e-4)
    turned = np.eye(3)[[0, 2, 1]] * (1, -1, 1)  # a quarter turn about x: the box stands on its side
    low = foot.planned(np.zeros((1, 3)), turned[None])
    assert low[0] == pytest.approx(((foot.shapes[foot.body] - foot.ankle) @ turned[2]).min())


def test_the_skin_of_a_character_stands_on_the_ground(walk, tmp_path):
    """Its joints end two centimetres above the soles of its shoes."""
    write_character(tmp_path / "character.glb")
    body = lw.load(tmp_path / "character.glb")
    made = lw.retarget(walk, body)
    triangles = of_meshes(Sketch(made.linkage))
    lowest = [triangles.placed(frames)[0][:, 2].min() for frames in made.linkage.forward(made.poses).array[::3]]
    assert min(lowest) > -0.005
    assert abs(np.median(lowest)) < 0.002


def test_outlines_hold_what_is_fixed_to_a_link():
    b = lw.Builder("foot", base="shin").revolute("ankle", "ankle_link")
    b.fixed("plate", "sole", at=(0.1, 0.0, -0.05), shape=lw.Box((0.2, 0.1, 0.02)))
    points = outline(b.build(), "ankle_link")
    assert points.min(axis=0) == pytest.approx((0.0, -0.05, -0.06))
    assert points.max(axis=0) == pytest.approx((0.2, 0.05, -0.04))
    assert len(outline(b.build(), "shin")) == 0


def test_hands_are_pushed_to_the_surface_and_no_farther():
    ends = np.zeros((60, 3)), np.tile((0.0, 0.0, 0.5), (60, 1))
    hand = np.stack([np.linspace(0.3, -0.3, 60), np.full(60, 0.001), np.full(60, 0.25)], axis=1)
    ahead_of = np.tile((1.0, 0.0, 0.0), (60, 1))
    least = np.full(60, 0.12)
    made = kept_out(ends, hand, ahead_of, least)
    away = np.linalg.norm(made[:, :2], axis=1)
    assert away.min() > 0.85 * 0.12 - 1e-9
    outside = np.linalg.norm(hand[:, :2], axis=1) > 0.12
    assert np.array_equal(made[outside], hand[outside])


def test_hands_of_a_robot_stay_out_of_its_trunk(walk):
    outcome = retarget_with_report(walk, humanoid("unitree_g1"))
    plan, poses = outcome.plan, outcome.clip.poses
    target = plan.target
    middle = [np.mean([target.path(f"{side}_{part}", poses) for side in SIDES], axis=0) for part in ("hip", "shoulder")]
    inside = dict.fromkeys(SIDES, 0.4 * middle[0] + 0.6 * middle[1])
    kept = plan.clearance.kept(inside, poses, walk.times)
    length = np.linalg.norm(middle[1] - middle[0], axis=1)
    for side in SIDES:
        way = kept[side] - inside[side]
        assert (np.linalg.norm(way, axis=1) > 0.24 * length).all()
