"""Linkages combined into one: every frame is where manual composition puts it, and nothing is lost."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linkwork as lw
from linkages import random_transform, random_tree
from linkwork.errors import FrameNotFoundError, LinkageError, OptionError
from linkwork.formats import scene
from linkwork.transforms import transform
from robots import pinocchio_model, same_as_pinocchio, shipped


@pytest.fixture(scope="module")
def gripper() -> lw.Linkage:
    """Two fingers, one following the other, with a mass, a shape, a loop, a frame and stored poses."""
    b = lw.Builder("gripper", base="palm", inertia=lw.Inertia(0.4, (0, 0, 0.02)), shape=lw.Mesh("palm.stl"))
    motor = {"velocity": 0.2, "acceleration": 1.5, "effort": 40.0}
    b.prismatic("left", "left_pad", axis="y", limits=(0, 0.04), at=(0, 0, 0.06), **motor)
    b.prismatic("right", "right_pad", axis="-y", limits=(0, 0.04), at=(0, 0, 0.06), parent="palm", mimic="left")
    b.frame("grasp", link="palm", at=(0, 0, 0.08)).loop("pads", "left_pad", "right_pad")
    return b.pose("open", left=0.04).pose("home", left=0.01).build()


@pytest.mark.parametrize("seed", range(12))
def test_every_frame_stands_where_both_linkages_put_it(seed: int) -> None:
    """Joints of all kinds, followers, and fixed, planar and floating roots."""
    rng = np.random.default_rng(seed)
    one, two = (random_tree(rng, int(rng.integers(1, 12))) for _ in range(2))
    frame, place = str(rng.choice(one.frames)), random_transform(rng)
    whole = one.attach(two, frame, prefix="other.", at=place)
    assert (whole.nq, whole.nv, whole.name) == (one.nq + two.nq, one.nv + two.nv, one.name)
    first, second = one.random_pose(rng, 5), two.random_pose(rng, 5)
    columns = dict(zip(one.coordinates, first.T, strict=True))
    columns |= {f"other.{name}": column for name, column in zip(two.coordinates, second.T, strict=True)}
    q = np.stack([columns[name] for name in whole.coordinates], axis=1)
    frames, ours, theirs = whole.forward(q), one.forward(first), two.forward(second)
    for name in one.frames:
        assert_allclose(frames[name], ours[name], atol=1e-12)
    for name in two.frames:
        assert_allclose(frames[f"other.{name}"], ours[frame] @ place @ theirs[name], atol=1e-12)
    for side, source, mark in ((whole.lower, one.lower, ""), (whole.upper, two.upper, "other.")):
        names = (one if source is one.lower else two).coordinates
        assert_allclose([side[whole.coordinate_index[mark + name]] for name in names], source)


def test_a_gripper_brings_everything_it_has(gripper: lw.Linkage) -> None:
    arm = lw.models.planar([2, 1]).replace(poses={"home": [0.1, 0.2], "up": [1.5, 0]})
    whole = arm.attach(gripper, "tip", at=(0.1, 0, 0))
    assert whole.joints == ("j1", "j2", "palm_mount", "left", "right")
    assert whole.links == ("link0", "link1", "link2", "palm", "left_pad", "right_pad")
    assert (whole.joint("palm_mount").parent, whole.joint("palm_mount").articulation) == ("link2", lw.Fixed())
    assert whole.joint("right").mimic == lw.Mimic("left")
    assert whole.link("palm") == gripper.link("palm")
    assert whole.loops == gripper.loops
    assert whole.upper.tolist() == [np.inf, np.inf, 0.04]
    assert [side[-1] for side in (whole.velocity, whole.acceleration, whole.effort)] == [0.2, 1.5, 40.0]
    assert {name: pose.tolist() for name, pose in whole.poses.items()} == {
        "home": [0.1, 0.2, 0.01],  # both linkages have this pose
        "up": [1.5, 0, 0.02],
        "open": [0, 0, 0.04],
    }
    assert whole.forward("home", frame="grasp")[0, 3] == pytest.approx(
        arm.forward("home", frame="tip")[0, 3] + 0.1 * np.cos(0.3)
    )
    assert lw.loads(scene.dump(whole, "yaml"), "yaml") == whole


def test_two_robots_stand_on_one_table_under_their_own_names(gripper: lw.Linkage) -> None:
    panda = lw.models.panda()
    cell = lw.Linkage([lw.Link("table")], name="cell")
    for side, y in (("left_", 0.5), ("right_", -0.5)):
        cell = cell.attach(panda, "table", prefix=side, at=(0, y, 0))
        cell = cell.attach(gripper, f"{side}{panda.frames[-1]}", prefix=f"{side}hand_")
    assert cell.nq == 2 * (panda.nq + gripper.nq)
    for side, y in (("left_", 0.5), ("right_", -0.5)):
        apart = cell.subtree(f"{side}{panda.links[0]}")
        assert apart.nq == panda.nq + gripper.nq
        pose = next(iter(panda.poses))
        ours = cell.forward(f"{side}{pose}", frame=f"{side}{panda.frames[-1]}")
        assert_allclose(ours, transform((0, y, 0)) @ panda.forward(pose, frame=panda.frames[-1]), atol=1e-12)
    assert cell.joint("right_hand_right").mimic == lw.Mimic("right_hand_left")
    assert cell.joint("right_hand_left").velocity == (0.2,)
    assert [loop.first for loop in cell.loops] == ["left_hand_left_pad", "right_hand_left_pad"]


def test_a_free_linkage_stays_free(gripper: lw.Linkage) -> None:
    room = lw.Linkage([lw.Link("room")], name="room")
    ball = lw.Linkage([lw.Link("ball", lw.Sphere(0.1))], name="ball", root="floating")
    whole = room.attach(ball, "room", at=(0, 0, 1)).attach(ball, "room", prefix="second_")
    assert whole.joints == ("root", "second_root")
    assert whole.coordinates[:3] + whole.coordinates[7:10] == (
        *("root.x", "root.y", "root.z"),
        *("second_root.x", "second_root.y", "second_root.z"),
    )
    assert whole.forward(whole.neutral(), frame="ball")[2, 3] == 1.0
    ship = room.replace(root="floating").attach(gripper, "room")
    assert ship.joints == ("root", "palm_mount", "left", "right")


def test_names_in_common_say_what_to_do(gripper: lw.Linkage) -> None:
    arm = lw.models.planar([2, 1])
    with pytest.raises(LinkageError, match=r"frames 'link0', .*are in 'planar' and in 'planar'.*prefix='planar_'"):
        arm.attach(arm, "tip")
    twice = arm.attach(gripper, "tip", prefix="hand_")
    with pytest.raises(LinkageError, match=r"'hand_' is taken as a prefix, so give another, such as prefix='gripper_'"):
        twice.attach(gripper, "tip", prefix="hand_")
    free = lw.Linkage([lw.Link("ball")], name="ball", root="planar")
    with pytest.raises(LinkageError, match="joints 'root' are in 'planar' and in 'ball'"):
        arm.replace(root="floating").attach(free, "tip")
    with pytest.raises(FrameNotFoundError, match="no frame 'flange' in linkage 'planar'"):
        arm.attach(gripper, "flange")
    with pytest.raises(OptionError, match="expected a Linkage"):
        arm.attach("gripper", "tip")
    with pytest.raises(LinkageError, match="the prefix of an attached linkage is a text"):
        arm.attach(gripper, "tip", prefix=3)


def test_a_frame_is_added_to_a_link_or_to_a_frame() -> None:
    arm, place = lw.models.planar([2, 1]), random_transform(np.random.default_rng(0))
    for carrier in ("link1", "tip"):
        more = arm.add_frame("tool", carrier, place)
        assert more.frames == (*arm.frames, "tool")
        q = [0.3, -0.4]
        assert_allclose(more.forward(q, frame="tool"), arm.forward(q, frame=carrier) @ place, atol=1e-15)
    with pytest.raises(LinkageError, match="frame 'tip' appears twice"):
        arm.add_frame("tip", "link1")
    with pytest.raises(FrameNotFoundError, match="no frame 'hand'"):
        arm.add_frame("tool", "hand")


def test_models_are_put_together_as_pinocchio_puts_them_together() -> None:
    pin = pytest.importorskip("pinocchio", exc_type=ImportError)
    arm, hand = (lw.load(shipped(name)) for name in ("ur5_robot", "allegro_left_hand"))
    models = [pinocchio_model(pin, shipped(name)) for name in ("ur5_robot", "allegro_left_hand")]
    place = random_transform(np.random.default_rng(4))
    flange = models[0].getFrameId("tool0")
    joined = pin.appendModel(models[0], models[1], flange, pin.SE3(place))
    whole, data = arm.attach(hand, "tool0", at=place), joined.createData()
    theirs = pin.computeGeneralizedGravity(joined, data, np.zeros(joined.nq))
    order = [joined.joints[joined.getJointId(name)].idx_v for name in whole.table.velocity_joints]
    assert_allclose(whole.gravity_torques(np.zeros(whole.nq)), theirs[order], atol=1e-9)
    same_as_pinocchio(pin, joined, whole)


def test_each_collides_with_what_it_collided_with_alone() -> None:
    felt = lw.Visual(lw.Sphere(0.05), role="collision")
    arm = lw.Builder("arm").revolute("turn", "upper", axis="y", shape=felt).frame("tip", at=(0, 0, 0.5)).build()
    seen = lw.Visual(lw.Box((0.1, 0.1, 0.2)), (0, 0, 0.1), (1, 0, 0))
    hand = lw.Builder("hand", base="palm", shape=seen).build()
    world = lw.World([lw.Obstacle(lw.Sphere(0.05), (0, 0, 0.65), name="ball")])
    for whole in (arm.attach(hand, "tip"), hand.attach(arm, "palm").attach(hand, "tip", prefix="b_")):
        assert "ball" in lw.clearance(whole, whole.neutral(), world).pair
        assert lw.collides(whole, whole.neutral(), world)
    assert [visual.role for visual in arm.attach(hand, "tip").link("palm").visuals] == ["visual", "collision"]
    assert hand.attach(hand, "palm", prefix="b_").link("b_palm").visuals == hand.link("palm").visuals
    assert arm.attach(arm, "tip", prefix="b_").link("b_upper").visuals == arm.link("upper").visuals
