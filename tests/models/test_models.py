"""Ready-made models: one contract over the whole table, then known facts about each."""

from __future__ import annotations

import inspect
import math
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from goldens import DH
from linkwork import models
from linkwork.errors import LinkageError, ModelNotFoundError
from linkwork.models.animals import LEGS
from linkwork.models.mechanisms import CRANK, MOON_DISTANCE, PLANETS, ROD
from robots import shipped

DOCS = Path(__file__).parents[2] / "docs" / "models.md"
TEXTS = sorted(
    {*models.MODELS, *(model.example for model in models.MODELS.values())}
    | {"planar:1", "planar:40", "snake:1", "snake:2", "snake:7,planar", "ferris_wheel:2", "engine:3", "engine:12"}
    | {"human:fixed", "human:planar", "human:1.2,floating", "quadruped:floating", "hand:left", "hand:left,floating"}
)
MIRROR = np.diag([1.0, -1.0, 1.0])


@pytest.fixture(scope="module", params=TEXTS)
def text(request):
    return request.param


@pytest.fixture(scope="module")
def linkage(text):
    return models.build(text)


@pytest.fixture(scope="module")
def clip(text):
    return models.motion(text)


def within_limits(linkage, poses, tolerance=1e-12):
    return bool(np.all(poses >= linkage.lower - tolerance) and np.all(poses <= linkage.upper + tolerance))


# Every model


def test_row_is_complete(text):
    name = text.partition(":")[0]
    model = models.MODELS[name]
    assert model.function is getattr(models, name)
    assert model.category in models.CATEGORIES
    assert model.description.endswith(".")
    assert "\n" not in model.description
    assert model.example.partition(":")[0] == name
    assert inspect.signature(model.motion).parameters.keys() == {"linkage"}


def test_is_named_after_its_row_and_has_poses_of_its_own(text, linkage):
    assert linkage.name == text.partition(":")[0]
    assert len({tuple(pose) for pose in linkage.poses.values()}) > 1


def test_default_arguments_are_the_bare_name(text):
    name = text.partition(":")[0]
    assert models.build(name) == models.MODELS[name].function()


def test_every_link_that_is_not_a_mere_step_can_be_seen(linkage):
    seen = sum(bool(link.visuals) for link in linkage.nodes)
    assert seen >= len(linkage.nodes) - 2


def test_poses_are_within_limits_and_give_finite_frames(linkage):
    for name, pose in linkage.poses.items():
        assert within_limits(linkage, pose), name
        assert np.isfinite(linkage.forward(pose).array).all(), name


def test_walk_over_the_tree_agrees_with_forward(linkage):
    q = linkage.random_pose(3)
    frames = linkage.forward(q)
    for visit in linkage.traverse(q):
        np.testing.assert_allclose(visit.matrix, frames[visit.node.name], atol=1e-12)


def test_jacobian_agrees_with_finite_differences(linkage):
    q, step = linkage.random_pose(5), 1e-6
    frame = linkage.frames[-1]
    jacobian = linkage.jacobian(q, frame)
    moves = step * np.eye(linkage.nv)
    ahead = linkage.forward(linkage.integrate(q, moves), frame=frame)
    behind = linkage.forward(linkage.integrate(q, -moves), frame=frame)
    linear = (ahead - behind)[:, :3, 3] / (2.0 * step)
    spin = (ahead - behind)[:, :3, :3] @ np.swapaxes(linkage.forward(q, frame=frame)[:3, :3], 0, 1) / (2.0 * step)
    angular = np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], axis=1)
    np.testing.assert_allclose(jacobian, np.concatenate([linear, angular], axis=1).T, atol=2e-7)


def test_motion_is_a_loop_of_two_to_four_seconds(clip):
    assert 2.0 <= clip.times[-1] - clip.times[0] <= 4.0
    np.testing.assert_allclose(np.diff(clip.times), 1.0 / 24.0, atol=1e-9)
    np.testing.assert_allclose(clip.linkage.difference(clip.poses[0], clip.poses[-1]), 0.0, atol=1e-9)


def test_motion_moves_within_limits_and_without_jumps(clip):
    assert within_limits(clip.linkage, clip.poses)
    steps = np.abs(clip.linkage.difference(clip.poses[:-1], clip.poses[1:])).max(axis=0)
    assert steps.max() > 0.01
    assert steps.max() < 0.6


# Building from a text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("planar:15,10,5", lambda: models.planar([15, 10, 5])),
        ("planar: 15, 10, 5", lambda: models.planar([15, 10, 5])),
        ("planar:4", lambda: models.planar(4)),
        ("planar:4.0", lambda: models.planar([4.0])),
        ("snake:9", lambda: models.snake(9)),
        ("snake:floating,9", lambda: models.snake(9, root="floating")),
        ("two_link:1,0.8", lambda: models.two_link(1.0, 0.8)),
        ("two-link:2", lambda: models.two_link(2.0)),
        ("ferris-wheel:12", lambda: models.ferris_wheel(12)),
        ("human:floating", lambda: models.human(root="floating")),
        ("human:1.6", lambda: models.human(height=1.6)),
        ("hand:left", lambda: models.hand("left")),
        ("panda:", lambda: models.panda()),
    ],
)
def test_text_builds_what_the_function_builds(text, expected):
    assert models.build(text) == expected()


def test_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(ModelNotFoundError, match="did you mean 'panda'") as caught:
        models.build("pnada:3")
    assert caught.value.known == tuple(models.MODELS)
    with pytest.raises(ModelNotFoundError, match="no model"):
        models.motion("")


@pytest.mark.parametrize(
    "text",
    [
        "panda:7", "planar:0", "planar:-3", "planar:a", "planar:1,,2", "planar:1,nan", "planar:inf", "planar:1,-2",
        "planar:100001", "two_link:1,2,3", "two_link:0", "snake:0", "snake:2.5", "snake:9,9", "ferris_wheel:1",
        "engine:13", "human:hovering", "human:-1", "quadruped:4", "hand:middle",
    ],
)  # fmt: skip
def test_wrong_argument_is_answered_with_what_the_model_takes(text):
    model = models.MODELS[text.partition(":")[0]]
    with pytest.raises(LinkageError) as caught:
        models.build(text)
    assert repr(text) in str(caught.value)
    assert f"takes {model.takes}" in str(caught.value)
    assert repr(model.example) in str(caught.value)


@pytest.mark.parametrize("text", [None, 3, ["panda"]])
def test_not_a_text_is_refused(text):
    with pytest.raises(LinkageError, match="named by a text"):
        models.build(text)


@pytest.mark.parametrize(
    "make",
    [
        lambda: models.planar([]),
        lambda: models.planar(0),
        lambda: models.planar(True),
        lambda: models.planar(2.5),
        lambda: models.planar("3"),
        lambda: models.planar([1.0, "a"]),
        lambda: models.planar([1.0, math.nan]),
        lambda: models.planar([[1.0, 2.0]]),
        lambda: models.snake(1.5),
        lambda: models.snake("9"),
        lambda: models.human(height=0.0),
        lambda: models.human(root="loose"),
        lambda: models.hand("both"),
        lambda: models.engine(True),
    ],
)
def test_wrong_sizes_are_refused_by_the_functions_too(make):
    with pytest.raises(LinkageError):
        make()


def test_documentation_lists_every_model():
    page = DOCS.read_text(encoding="utf-8")
    for name, model in models.MODELS.items():
        assert f"| `{name}` |" in page, name
        assert f"`{model.example}`" in page, name


# Arms


def test_planar_chain_reaches_the_sum_of_its_turned_links():
    lengths, q = np.array([15.0, 10.0, 5.0]), np.array([0.3, -0.5, 1.1])
    angles = np.cumsum(q)
    arm = models.planar(lengths)
    expected = [lengths @ np.cos(angles), lengths @ np.sin(angles), 0.0]
    np.testing.assert_allclose(arm.forward(q, frame="tip")[:3, 3], expected, atol=1e-12)
    assert arm.joints == ("j1", "j2", "j3")
    assert arm.frames == ("link0", "link1", "link2", "link3", "tip")
    np.testing.assert_allclose(arm.poses["ready"], [math.pi / 8, math.pi / 4, math.pi / 4])


def test_cabins_share_their_shapes():
    ride = models.ferris_wheel(12)
    cabins = [link for link in ride.nodes if link.name.startswith("cabin")]
    assert len({id(visual.shape) for link in cabins for visual in link.visuals}) == len(cabins[0].visuals)


def test_links_of_equal_length_share_their_shape():
    arm = models.planar(9)
    assert len({id(visual.shape) for link in arm.nodes[1:] for visual in link.visuals}) == 3  # two colours and the pin


def pinocchio_frames(name, poses):
    """Return Pinocchio's transforms of the links of a shipped robot, one mapping per pose."""
    pin = pytest.importorskip("pinocchio", exc_type=ImportError)
    model = pin.buildModelFromUrdf(str(shipped(name)))
    data = model.createData()
    for pose in poses:
        q = pin.neutral(model)
        for joint, value in pose.items():
            q[model.joints[model.getJointId(joint)].idx_q] = value
        pin.framesForwardKinematics(model, data, q)
        yield {f.name: data.oMf[i].homogeneous for i, f in enumerate(model.frames) if f.type == pin.FrameType.BODY}


def test_panda_agrees_with_pinocchio():
    arm = models.panda()
    poses = arm.random_pose(4, 3)
    named = [dict(zip(arm.coordinates, q, strict=True)) for q in poses]
    for q, theirs in zip(poses, pinocchio_frames("panda", named), strict=True):
        frames = arm.forward(q)
        for name in [f"panda_link{k}" for k in range(9)] + ["panda_hand"]:
            np.testing.assert_allclose(frames[name], theirs[name], atol=1e-9)
        np.testing.assert_allclose(frames["tip"][:3, 3], theirs["panda_hand_tcp"][:3, 3], atol=1e-9)


def test_panda_agrees_with_its_table():
    record = DH["Panda"]
    arm = models.panda()
    frames = arm.forward(record["q"])
    for k, matrix in enumerate(record["T_links"][:7]):
        np.testing.assert_allclose(frames[f"panda_link{k}"], matrix, atol=1e-9)
    np.testing.assert_allclose(
        frames["panda_link8"], record["T_links"][7], atol=1e-9
    )  # the last row ends at the flange
    tool = lw.transforms.translation((0, 0, 0.103))  # the table's tool is 0.4 mm shorter than the description's
    np.testing.assert_allclose(frames["panda_hand"] @ tool, record["T_end"], atol=1e-9)
    limits = [row["qlim"] for row in record["rows"]]
    np.testing.assert_array_equal(np.stack([arm.lower, arm.upper], axis=1), limits)


def test_ur5_agrees_with_pinocchio():
    arm = models.ur5()
    poses = arm.random_pose(4, 3)
    named = [dict(zip(arm.coordinates, q, strict=True)) for q in poses]
    for q, theirs in zip(poses, pinocchio_frames("ur5_robot", named), strict=True):
        frames = arm.forward(q)
        assert len(theirs) > 9
        for name in set(theirs) - {"world"}:
            np.testing.assert_allclose(frames[name], theirs[name], atol=1e-9)
        np.testing.assert_array_equal(frames["tip"], frames["tool0"])


def test_ur5_agrees_with_its_table():
    record = DH["UR5"]
    arm = models.ur5()
    frames = arm.forward(record["q"])
    base_from_flange = lw.transforms.inverse(frames["base"]) @ frames["tip"]
    base_from_flange[2, 3] += record["rows"][0]["d"] - 0.089159  # the table's first link is 0.3 mm taller
    np.testing.assert_allclose(base_from_flange, record["T_end"], atol=1e-9)


def test_stanford_agrees_with_its_table():
    record = DH["Stanford"]
    arm = models.stanford()
    np.testing.assert_allclose(arm.forward(record["q"], frame="flange"), record["T_end"], atol=1e-9)
    np.testing.assert_allclose(arm.jacobian(record["q"], "flange"), record["J0"], atol=1e-9)
    limits = [row["qlim"] for row in record["rows"]]
    np.testing.assert_allclose(np.stack([arm.lower, arm.upper], axis=1), limits, atol=1e-12)
    assert [joint.articulation.kind for joint in arm.arcs[1:]].index("prismatic") == 2


def test_scara_is_hinge_hinge_slider_hinge_and_keeps_its_tool_upright():
    arm = models.scara()
    assert [joint.articulation.kind for joint in arm.arcs[1:]] == ["revolute", "revolute", "prismatic", "revolute"]
    tips = arm.forward(arm.random_pose(1, 20), frame="tip")
    np.testing.assert_allclose(tips[:, :3, 2], np.broadcast_to([0.0, 0.0, -1.0], (20, 3)), atol=1e-12)


# Figures


def mirrored(linkage, q):
    """Return the mirror image of a pose: every joint gets the value of its partner, about the mirrored axis."""
    result = q.copy()
    for arc, drive in zip(linkage.arcs, linkage.drives, strict=True):
        swap = {"left_": "right_", "right_": "left_"}
        side = next((key for key in swap if arc.name.startswith(key)), "")
        partner = linkage.arc_index(arc.name.replace(side, swap[side], 1) if side else arc.name)
        if arc.mimic is not None or not arc.articulation.nq:
            continue
        for mine, theirs in zip(arc.articulation.elements, linkage.arcs[partner].articulation.elements, strict=True):
            sign = -(MIRROR @ mine.axis) @ theirs.axis  # mirror image of a rotation axis
            result[linkage.drives[partner].q + theirs.value] = round(sign) * q[drive.q + mine.value]
    return result


@pytest.mark.parametrize("name", ["human", "quadruped"])
def test_left_and_right_are_mirror_images(name):
    figure = models.build(name)
    q = figure.random_pose(11)
    reflected = mirrored(figure, q)
    assert within_limits(figure, reflected)
    frames, images = figure.forward(q), figure.forward(reflected)
    for frame in figure.frames:
        image = frame.replace("left", "RIGHT").replace("right", "left").replace("RIGHT", "right")
        np.testing.assert_allclose(images[image][:3, 3], MIRROR @ frames[frame][:3, 3], atol=1e-12)


def test_left_hand_is_the_right_hand_in_a_mirror():
    right, left = models.hand("right"), models.hand("left")
    assert list(right.poses) == list(left.poses)
    q = right.random_pose(2)
    a, b = right.forward(q), left.forward(q)
    for frame in right.frames:
        np.testing.assert_allclose(b[frame][:3, 3], MIRROR @ a[frame][:3, 3], atol=1e-12)


@pytest.mark.parametrize(
    ("coordinate", "frame", "direction"),
    [
        ("waist.rx", "crown", "-y"), ("waist.ry", "crown", "x"), ("head.rz", "eyes", "y"),
        ("left_clavicle.first", "left_upper_arm", "z"), ("left_clavicle.second", "left_upper_arm", "x"),
        ("left_shoulder.rx", "left_hand", "y"), ("left_shoulder.ry", "left_hand", "-x"),
        ("left_elbow", "left_hand", "x"), ("left_forearm_roll", "left_hand", "x"),
        ("left_wrist.first", "left_fingertips", "-y"),
        ("left_wrist.second", "left_fingertips", "x"), ("left_fingers", "left_fingertips", "-y"),
        ("left_hip.ry", "left_foot", "-x"), ("left_hip.rx", "left_foot", "y"), ("left_hip.rz", "left_toe", "y"),
        ("left_knee", "left_foot", "-x"), ("left_ankle.first", "left_toe", "-z"),
        ("left_ankle.second", "left_foot", "-y"), ("left_toes", "left_toe", "z"),
    ],
)  # fmt: skip
def test_values_of_the_human_move_it_the_way_the_documentation_says(coordinate, frame, direction):
    figure = models.human()
    rest = np.clip(np.zeros(figure.nq), figure.lower, figure.upper)
    velocity = figure.jacobian(rest, frame)[:3, figure.coordinate_index[coordinate]]
    assert velocity @ lw.transforms.as_axis(direction) > 0.7 * np.linalg.norm(velocity) > 0.005


@pytest.mark.parametrize("height", [1.2, 1.75, 2.0])
@pytest.mark.parametrize("root", ["fixed", "floating"])
def test_human_stands_on_the_ground_and_is_as_tall_as_asked(height, root):
    figure = models.human(height=height, root=root)
    frames = figure.forward(figure.stored_pose("stand"))
    for side in ("left", "right"):
        for part in ("foot", "heel", "ball", "toe"):
            assert abs(frames[f"{side}_{part}"][2, 3]) < 1e-3
    assert frames["crown"][2, 3] == pytest.approx(height, abs=1e-9)


def test_human_has_the_proportions_of_an_adult():
    figure = models.human()
    frames = figure.forward(figure.stored_pose("t-pose"))
    height = {name: frames[name][2, 3] / 1.75 for name in frames}
    assert len(figure.joints) == 25
    assert height["left_thigh"] == pytest.approx(0.53, abs=0.01)  # hip, knee, ankle and shoulder over body height
    assert height["left_shin"] == pytest.approx(0.285, abs=0.01)
    assert height["left_tarsus"] == pytest.approx(0.039, abs=0.005)
    assert height["left_upper_arm"] == pytest.approx(0.818, abs=0.01)
    span = frames["left_fingertips"][1, 3] - frames["right_fingertips"][1, 3]
    assert span / 1.75 == pytest.approx(1.0, abs=0.06)
    assert (frames["eyes"][:3, 3] - frames["head"][:3, 3])[0] > 0.0  # it faces x


def test_lowest_part_of_every_shoe_is_its_sole():
    figure = models.human()
    corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    for visit in figure.traverse(figure.stored_pose("stand")):
        if visit.node.name.endswith(("_tarsus", "_toes")):
            boxes = [(visual.shape, matrix) for visual, matrix in visit.data if visual.shape.kind == "box"]
            for shape, matrix in boxes:
                lowest = (corners * shape.size @ matrix[:3, :3].T + matrix[:3, 3])[:, 2].min()
                assert abs(lowest) < 1e-3


def test_sitting_human_has_level_thighs_and_feet_on_the_ground_if_it_floats():
    figure = models.human(root="floating")
    frames = figure.forward(figure.stored_pose("sit"))
    assert frames["left_thigh"][2, 3] == pytest.approx(frames["left_shin"][2, 3], abs=1e-9)
    assert abs(frames["left_foot"][2, 3]) < 1e-3


def test_walking_human_always_has_a_foot_on_the_ground():
    clip = models.motion("human:floating")
    frames = clip.forward()
    soles = [f"{side}_{part}" for side in ("left", "right") for part in ("heel", "ball", "toe")]
    np.testing.assert_allclose(np.min([frames[sole][:, 2, 3] for sole in soles], axis=0), 0.0, atol=1e-12)
    assert np.ptp(frames["pelvis"][:, 2, 3]) < 0.08  # as in human gait


def test_waving_human_keeps_its_feet_where_they_are():
    frames = models.motion("human").forward()
    for foot in ("left_foot", "right_foot"):
        np.testing.assert_allclose(frames[foot], np.broadcast_to(frames[foot][0], frames[foot].shape), atol=1e-12)
    assert frames["right_hand"][:, 2, 3].max() > frames["crown"][:, 2, 3].max()


@pytest.mark.parametrize("leg", LEGS, ids=lambda leg: leg.kind)
def test_leg_reaches_the_point_asked_for(leg):
    dog, (x, z) = models.quadruped(), leg.end
    first, second, third = leg.reaching(x + 0.05, z + 0.06, 0.3)
    names = [f"left_{leg.kind}_{joint}" for joint in leg.joints]
    q = dog.pose({names[0]: (0.0, first), names[1]: second, names[2]: third})
    frames = dog.forward(q)
    last = np.array([-math.sin(0.3), 0.0, -math.cos(0.3)])
    expected = frames[f"left_{leg.kind}_upper"][:3, 3] + [x + 0.05, 0.0, z + 0.06] + 0.03 * last
    np.testing.assert_allclose(frames[f"left_{leg.kind}_foot"][:3, 3], expected, atol=1e-12)


def test_quadruped_stands_and_trots_on_the_ground():
    clip = models.motion("quadruped")
    frames, stand = clip.forward(), clip.linkage.forward(clip.linkage.stored_pose("stand"))
    heights = {}
    for foot in [f"{side}_{kind}_foot" for side in ("left", "right") for kind in ("front", "hind")]:
        assert abs(stand[foot][2, 3]) < 1e-12
        heights[foot] = frames[foot][:, 2, 3]
        assert heights[foot].min() > -1e-9
        assert heights[foot].max() > 0.05
    np.testing.assert_allclose(heights["left_front_foot"] > 1e-9, heights["right_hind_foot"] > 1e-9)
    assert np.min(list(heights.values()), axis=0).max() < 1e-9


def test_last_finger_joints_follow_the_middle_ones():
    hand = models.hand()
    followers = {joint.name: joint.mimic.joint for joint in hand.arcs if joint.mimic is not None}
    assert followers == {f"{name}_end": f"{name}_middle" for name in ("index", "middle", "ring", "little")}


def test_poses_of_the_hand_do_what_they_say():
    hand = models.hand()
    palm = hand.forward(hand.stored_pose("open"), frame="palm_center")[:3, 3]
    reach = {}
    for pose in hand.poses:
        frames = hand.forward(hand.stored_pose(pose))
        reach[pose] = {
            name: np.linalg.norm(frames[f"{name}_tip"][:3, 3] - palm) for name in ("index", "middle", "ring", "little")
        }
    for name in ("middle", "ring", "little"):
        assert reach["fist"][name] < 0.06 < 0.09 < reach["open"][name]
        assert reach["point"][name] == pytest.approx(reach["fist"][name])
    assert reach["point"]["index"] > 0.1 > 0.06 > reach["fist"]["index"]
    pinch = hand.forward(hand.stored_pose("pinch"))
    assert np.linalg.norm(pinch["thumb_tip"][:3, 3] - pinch["index_tip"][:3, 3]) < 0.02


@pytest.mark.parametrize("joints", [1, 2, 9, 24])
def test_snake_turns_sideways_and_upwards_in_turns(joints):
    snake = models.snake(joints)
    axes = [joint.articulation.axis for joint in snake.arcs[1:]]
    assert [abs(axis[2]) for axis in axes] == [(k + 1) % 2 for k in range(joints)]
    np.testing.assert_allclose(snake.forward(np.zeros(joints), frame="head")[0, 3], 0.1 * (joints + 1))


def test_slithering_snake_keeps_to_its_course():
    clip = models.motion("snake:25")
    heads = clip.forward(frame="head")[:, :2, 3]
    assert heads[:, 0].min() > 1.5  # of 2.6 m of snake
    assert np.abs(heads[:, 1]).max() < 0.5


# Mechanisms


@pytest.mark.parametrize("earth", [0.0, 0.7, 3.0])
@pytest.mark.parametrize("moon", [0.0, 2.1])
def test_moon_goes_about_the_earth_about_the_sun(earth, moon):
    system = models.planets()
    frames = system.forward(system.pose(earth_orbit=earth, moon_orbit=moon, earth_spin=0.4))
    place = PLANETS["earth"].distance * np.array([math.cos(earth), math.sin(earth), 0.0])
    np.testing.assert_allclose(frames["earth"][:3, 3], place, atol=1e-12)
    about = MOON_DISTANCE * np.array([math.cos(earth + moon), math.sin(earth + moon), 0.0])
    np.testing.assert_allclose(frames["moon"][:3, 3], place + about, atol=1e-12)


@pytest.mark.parametrize("cabins", [2, 8, 13])
def test_cabins_stay_upright_on_their_circle(cabins):
    ride = models.ferris_wheel(cabins)
    assert ride.nq == 1
    frames = ride.forward(np.linspace(0.0, 7.0, 9)[:, None])
    hub = frames["wheel"][0, :3, 3]
    for k in range(1, cabins + 1):
        cabin = frames[f"cabin{k}"]
        np.testing.assert_allclose(cabin[:, :3, :3], np.broadcast_to(np.eye(3), (9, 3, 3)), atol=1e-12)
        np.testing.assert_allclose(np.linalg.norm(cabin[:, :3, 3] - hub, axis=1), 5.0, atol=1e-12)


def test_rings_of_the_spring_share_its_length_evenly():
    stick = models.pogo_stick()
    for spring in (0.0, -0.18):
        frames = stick.forward(stick.pose({"travel": 0, "hop": 0, "lean": 0, "spring": spring}))
        heights = [frames[f"coil{k}"][2, 3] for k in range(1, 9)] + [frames["body"][2, 3]]
        np.testing.assert_allclose(np.diff(heights), (heights[-1] - heights[0]) / 8, atol=1e-12)


def test_pogo_stick_falls_freely_in_the_air_and_touches_the_ground_when_pressed():
    clip = models.motion("pogo_stick")
    hop, spring = (clip.poses[:, clip.linkage.coordinate_index[name]] for name in ("hop", "spring"))
    np.testing.assert_array_equal(hop[spring < 0.0], 0.0)
    flying = (hop[:-2] > 0.0) & (hop[1:-1] > 0.0) & (hop[2:] > 0.0)
    assert flying.sum() > 20
    np.testing.assert_allclose((hop[:-2] - 2.0 * hop[1:-1] + hop[2:])[flying] * 24.0**2, -9.81, atol=1e-6)


@pytest.mark.parametrize("angle", [0.0, 0.4, math.pi / 2, 2.9, math.pi, 5.5])
def test_piston_height_is_that_of_the_slider_crank(angle):
    motor = models.engine()
    frames = motor.forward(models.engine_pose(motor, angle))
    height = CRANK * math.cos(angle) + math.sqrt(ROD**2 - (CRANK * math.sin(angle)) ** 2)
    np.testing.assert_allclose(frames["pin"][:3, 3], [0.0, 0.0, height], atol=1e-12)


@pytest.mark.parametrize("cylinders", [1, 2, 3, 4, 6])
def test_running_engine_keeps_every_rod_on_its_piston(cylinders):
    frames = models.motion(f"engine:{cylinders}").forward()
    for suffix in [""] if cylinders == 1 else range(1, cylinders + 1):
        rod, pin = frames[f"rod_end{suffix}"], frames[f"pin{suffix}"]
        np.testing.assert_allclose(rod[:, :3, 3], pin[:, :3, 3], atol=1e-12)
        stroke = np.ptp(pin[:, 2, 3])
        assert stroke == pytest.approx(2.0 * CRANK, rel=0.02)
