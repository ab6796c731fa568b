"""Closed forms: exact in all quadrants, at the edge of reach and at the base, for every way to build an arm."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.testing import assert_allclose

import linkwork as lw
from linkages import JOINTS, one_joint, random_transform
from linkwork.errors import GoalError, LinkageError, OptionError, OutOfReachError
from linkwork.goals import Goal
from linkwork.linkage.elements import EULER_ORDERS
from linkwork.solvers.analytic import Analytic, analytic_solutions, three_link_angles, two_link_angles
from linkwork.transforms import axis_rotation

sizes = st.floats(0.05, 20.0)
turns = st.floats(-math.pi, math.pi)
elbows = pytest.mark.parametrize("elbow", ["down", "up"])


def tip_of(lengths: tuple[float, ...], angles: tuple[float, ...]) -> np.ndarray:
    directions = np.cumsum(angles)
    return np.array([np.dot(lengths, np.cos(directions)), np.dot(lengths, np.sin(directions))])


# Two links


@elbows
@given(upper=sizes, lower=sizes, q1=turns, q2=turns)
def test_two_links_reach_every_target_with_either_elbow(
    elbow: str, upper: float, lower: float, q1: float, q2: float
) -> None:
    target = tip_of((upper, lower), (q1, q2))
    angles = two_link_angles(upper, lower, target, elbow=elbow)
    assert_allclose(tip_of((upper, lower), angles), target, atol=1e-13 * (upper + lower))
    assert angles[1] >= 0.0 if elbow == "down" else angles[1] <= 0.0
    assert -math.pi <= angles[0] <= math.pi


@given(upper=sizes, lower=sizes, q1=turns, q2=st.floats(0.01, 3.1))
def test_two_links_return_the_angles_they_came_from(upper: float, lower: float, q1: float, q2: float) -> None:
    again = two_link_angles(upper, lower, tip_of((upper, lower), (q1, q2)))
    distance = np.linalg.norm(tip_of((upper, lower), (q1, q2)))
    assert_allclose([math.cos(again[0] - q1), again[1]], [1.0, q2], atol=1e-9 * (upper + lower) / distance)


@pytest.mark.parametrize("quadrant", range(8))
def test_the_figure_s_slips_are_mended_in_every_quadrant(quadrant: int) -> None:
    direction = quadrant * math.pi / 4
    target = 1.5 * np.array([math.cos(direction), math.sin(direction)])
    q1, q2 = two_link_angles(1.0, 1.0, target)
    interior = math.acos((1.0 + 1.0 - 1.5**2) / 2.0)  # result of the figure's last line
    base = math.acos((1.0 + 1.5**2 - 1.0) / (2.0 * 1.5))
    assert q2 == pytest.approx(math.pi - interior, abs=1e-14)
    assert math.remainder(q1 - (direction - base), 2 * math.pi) == pytest.approx(0.0, abs=1e-14)


@elbows
@pytest.mark.parametrize(
    ("upper", "lower", "target", "expected"),
    [
        (2.0, 1.0, (3.0, 0.0), (0.0, 0.0)),  # outer edge
        (2.0, 1.0, (0.0, -3.0), (-math.pi / 2, 0.0)),
        (2.0, 1.0, (1.0, 0.0), (0.0, math.pi)),  # inner edge, folded back
        (1.0, 2.0, (1.0, 0.0), (-math.pi, math.pi)),  # inner edge, the first link away from the target
        (1.0, 1.0, (0.0, 0.0), (0.0, math.pi)),  # the base, where q1 is arbitrary
        (0.0, 1.0, (0.0, 1.0), (math.pi / 2, 0.0)),  # a link of length zero
        (1.0, 0.0, (-1.0, 0.0), (math.pi, 0.0)),
        (0.0, 0.0, (0.0, 0.0), (0.0, 0.0)),
    ],
)
def test_edges_and_degenerate_arms(
    elbow: str, upper: float, lower: float, target: tuple[float, float], expected: tuple[float, float]
) -> None:
    angles = two_link_angles(upper, lower, target, elbow=elbow)
    assert_allclose(tip_of((upper, lower), angles), target, atol=1e-15 * (1.0 + upper + lower))
    sign = 1.0 if elbow == "down" else -1.0
    assert_allclose(np.cos(np.array(angles) - np.array(expected) * (1.0, sign)), [1.0, 1.0], atol=1e-15)


@given(upper=sizes, lower=sizes, direction=turns, gap=st.floats(0.0, 1e-12))
def test_rounding_at_the_edge_of_reach_does_no_harm(upper: float, lower: float, direction: float, gap: float) -> None:
    far = upper + lower
    target = far * (1.0 - gap) * np.array([math.cos(direction), math.sin(direction)])
    assert_allclose(tip_of((upper, lower), two_link_angles(upper, lower, target)), target, atol=2e-12 * far)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((2.0, 1.0, (3.1, 0.0)), OutOfReachError, "target is 3.1 m .* from 1 to 3 m"),
        ((2.0, 1.0, (0.5, 0.0)), OutOfReachError, "target is 0.5 m"),
        ((2.0, 1.0, (1.0, 2.0, 3.0)), GoalError, "shape"),
        ((2.0, 1.0, (math.nan, 2.0)), GoalError, "finite"),
        ((-2.0, 1.0, (1.0, 2.0)), LinkageError, "negative"),
        ((math.inf, 1.0, (1.0, 2.0)), LinkageError, "finite"),
    ],
)
def test_two_links_refuse_what_cannot_be(arguments: tuple, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        two_link_angles(*arguments)


def test_an_elbow_is_down_or_up() -> None:
    for function, lengths in ((two_link_angles, (1, 1)), (three_link_angles, ((1, 1, 1),))):
        with pytest.raises(OptionError, match="'down' or 'up'"):
            function(*lengths, (1.0, 1.0), elbow="left")


# Three links


@elbows
@given(lengths=st.tuples(sizes, sizes, sizes), angles=st.tuples(turns, turns, turns))
def test_three_links_reach_a_position_and_a_direction(elbow: str, lengths: tuple, angles: tuple) -> None:
    target, direction = tip_of(lengths, angles), sum(angles)
    found = three_link_angles(lengths, target, direction=direction, elbow=elbow)
    assert_allclose(tip_of(lengths, found), target, atol=1e-12 * sum(lengths))
    assert math.cos(sum(found) - direction) == pytest.approx(1.0)
    assert found[1] >= 0.0 if elbow == "down" else found[1] <= 0.0


@elbows
@given(lengths=st.tuples(sizes, sizes, sizes), angles=st.tuples(turns, turns, turns))
def test_three_links_reach_every_position_and_point_outward_if_they_can(
    elbow: str, lengths: tuple, angles: tuple
) -> None:
    target = tip_of(lengths, angles)
    found = three_link_angles(lengths, target, elbow=elbow)
    assert_allclose(tip_of(lengths, found), target, atol=1e-12 * sum(lengths))
    wrist = np.linalg.norm(target) - lengths[2]
    if abs(lengths[0] - lengths[1]) + 1e-9 < abs(wrist) < lengths[0] + lengths[1]:
        assert math.cos(sum(found) - math.atan2(target[1], target[0])) == pytest.approx(1.0, abs=1e-9)


def test_three_links_refuse_what_cannot_be() -> None:
    with pytest.raises(GoalError, match="target is 4 m"):
        three_link_angles((1, 1, 1), (4, 0))
    with pytest.raises(GoalError, match="end of the second link would be 3 m"):
        three_link_angles((1, 1, 1), (2, 0), direction=math.pi)
    with pytest.raises(GoalError, match="finite"):
        three_link_angles((1, 1, 1), (2, 0), direction=math.nan)


# Planar arms as linkages


def oblique_arm(rng: np.random.Generator, hinges: int) -> lw.Linkage:
    """A planar arm in any plane: joint axes of either sign, shifted along themselves, with rotated frames."""
    b = lw.Builder("oblique", root=random_transform(rng))
    turned = np.eye(3)  # base_from_link at zero
    normal = rng.normal(size=3)
    normal /= np.linalg.norm(normal)
    for k in range(hinges):
        across = np.cross(normal, rng.normal(size=3))
        placement = random_transform(rng)
        placement[:3, 3] = turned.T @ (across + rng.normal() * normal)
        turned = turned @ placement[:3, :3]
        axis = turned.T @ normal * rng.choice([-1, 1])
        b.revolute(f"h{k}", f"l{k}", at=placement, axis=axis)
    return b.frame("tip", at=turned.T @ np.cross(normal, rng.normal(size=3))).build()


@pytest.mark.parametrize("hinges", [2, 3])
@pytest.mark.parametrize("seed", range(12))
def test_planar_arms_are_recognised_however_they_are_built(hinges: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    arm = oblique_arm(rng, hinges)
    world = arm.forward(arm.random_pose(rng), frame="tip")
    orientation = world[:3, :3] if hinges == 3 else None
    for goal in (
        lw.Reach("tip", position=world[:3, 3], orientation=orientation),
        lw.Reach("tip", position=world[:3, 3]),
    ):
        solution = lw.solve(arm, goal, start=arm.random_pose(rng), method=Analytic())
        assert solution.success
        assert solution.iterations == 1
        assert solution.residual < 1e-12
        assert len(analytic_solutions(arm, goal)) == 2


@pytest.mark.parametrize("target", [(1.2, 0.7), (-1.2, 0.7), (-1.2, -0.7), (1.2, -0.7)])
def test_all_solutions_are_distinct_and_reach(target: tuple[float, float]) -> None:
    for lengths in ((1, 1), (1, 0.8, 0.5)):
        arm = lw.models.planar(lengths)
        found = analytic_solutions(arm, lw.Reach("tip", position=target))
        assert len(found) == 2
        assert np.abs(found[0] - found[1]).max() > 0.1
        for pose in found:
            assert_allclose(arm.forward(pose, frame="tip")[:2, 3], target, atol=1e-14)


@pytest.mark.parametrize(("target", "count"), [((3.1, 0), 0), ((3, 0), 1), ((2, 1), 2), ((1, 0), 1), ((0.9, 0), 0)])
def test_none_one_or_two(target: tuple[float, float], count: int) -> None:
    assert len(analytic_solutions(lw.models.planar([2, 1]), lw.Reach("tip", position=target))) == count


def test_the_elbow_is_chosen_by_name_by_nearness_and_by_limits() -> None:
    arm, goal = lw.models.planar([1, 1]), lw.Reach("tip", position=(1, 1))
    assert_allclose(lw.solve(arm, goal, method=Analytic(elbow="down")).q, [0, math.pi / 2], atol=1e-12)
    assert_allclose(lw.solve(arm, goal, method=Analytic(elbow="up")).q, [math.pi / 2, -math.pi / 2], atol=1e-12)
    for start, sign in (([0.1, 1.0], 1), ([1.0, -1.0], -1)):
        assert np.sign(lw.solve(arm, goal, start=start, method=Analytic()).q[1]) == sign
    limited = arm.replace(joints={"j2": {"lower": -2.0, "upper": 0.5}})
    assert lw.solve(limited, goal, start=[0.1, 0.4], method=Analytic()).q[1] == pytest.approx(-math.pi / 2)
    assert len(analytic_solutions(limited, goal)) == 1
    assert len(analytic_solutions(limited, goal, limits="ignore")) == 2
    assert not lw.solve(limited, goal, method=Analytic(elbow="down")).success


def test_angles_take_the_turn_that_suits_limits_and_start() -> None:
    arm, goal = lw.models.planar([1, 1]), lw.Reach("tip", position=(1, 1))
    solution = lw.solve(arm, goal, start=[6.2, 1.5], method=Analytic())
    assert_allclose(solution.q, [2 * math.pi, math.pi / 2], atol=1e-12)
    wound = arm.replace(joints={"j1": {"lower": 3.0, "upper": 10.0}})
    assert_allclose(lw.solve(wound, goal, method=Analytic(elbow="down")).q, [2 * math.pi, math.pi / 2], atol=1e-12)


@pytest.mark.parametrize("lengths", [(2, 1), (1, 2), (1, 1, 1), (3, 1, 1), (1, 1, 3)])
@pytest.mark.parametrize("target", [(7, 1), (-6, -5), (0.3, 0.1), (-0.1, 0.2)])
def test_out_of_reach_the_arm_points_at_the_goal(lengths: tuple[float, ...], target: tuple[float, float]) -> None:
    arm = lw.models.planar(lengths)
    far, r = sum(lengths), np.hypot(*target)
    gap = max(r - far, 2 * max(lengths) - far - r, 0.0)
    solution = lw.solve(arm, lw.Reach("tip", position=target), method=Analytic())
    assert solution.residual == pytest.approx(gap, abs=1e-12)
    assert solution.success == (gap == 0.0)


def test_an_elbow_that_cannot_bend_far_enough_comes_as_close_as_it_can() -> None:
    arm = lw.models.planar([1, 1]).replace(joints={"j2": {"lower": -0.5, "upper": 0.5}})
    solution = lw.solve(arm, lw.Reach("tip", position=(0.6, 0.8)), method=Analytic())
    assert solution.residual == pytest.approx(2 * math.cos(0.25) - 1.0, abs=1e-12)
    assert_allclose(np.abs(solution.q[1]), 0.5)


def test_the_last_of_three_links_points_where_it_is_told_or_where_limits_let_it() -> None:
    arm, goal = lw.models.planar([1, 1, 0.5]), lw.Reach("tip", position=(1, 1))
    for direction in (0.3, -1.0):
        assert lw.solve(arm, goal, method=Analytic(direction=direction)).q.sum() == pytest.approx(direction)
    assert lw.solve(arm, goal, method=Analytic()).q.sum() == pytest.approx(math.pi / 4)
    limited = arm.replace(joints={"j3": {"lower": -0.1, "upper": 0.1}})
    solution = lw.solve(limited, goal, method=Analytic())
    assert solution.success
    assert abs(solution.q[2]) <= 0.1


# Limbs in space


def limb(shoulder: str, *, wrist: bool = False, limited: bool = False) -> lw.Linkage:
    """A limb with an elbow beside the line of its bones, on an oblique base."""
    b = lw.Builder("limb", base="body", root=random_transform(np.random.default_rng(3)))
    if shoulder == "quaternion":
        b.ball("shoulder", "upper", at=(0.1, 0.2, 0.3))
    elif shoulder == "offset-hinges":
        b.revolute("s0", "a", axis="z", at=(0, 0, 0.4)).revolute("s1", "b", axis="y").revolute("s2", "c", axis="-x")
        b.fixed("weld", "upper", rotation={"euler": ("z", [0.4])}, at=(0.1, 0, 0))
    elif shoulder.startswith("hinges"):
        for k, letter in enumerate(shoulder.removeprefix("hinges-")):
            b.revolute(f"s{k}", f"part{k}", axis=letter, at=(0, 0, 0 if k else 0.2))
    elif shoulder == "skew-hinges":
        for k, axis in enumerate(((0, 0, 1), (0, 1, 0.3), (1, 0.2, 0))):
            b.revolute(f"s{k}", f"part{k}", axis=axis)
    else:
        bounds = {"lower": (-2, -1.2, -2), "upper": (1.5, 1.2, 2)} if limited else {}
        b.ball("shoulder", "upper", euler=shoulder, rotation={"euler": ("xyz", [0.3, 0.2, 0.5])}, **bounds)
    b.revolute("elbow", "fore", axis=(0.1, 1, 0.2), at=(0.3, 0.02, 0.01), limits=(-2.6, 0.1) if limited else None)
    if wrist:
        b.ball("wrist", "hand", at=(0.25, 0, 0.01), euler="ZYZ").frame("tip", at=(0.1, 0.02, 0))
    else:
        b.frame("tip", at=(0.25, 0, 0.01))
    return b.build()


SHOULDERS = [
    "quaternion",
    "offset-hinges",
    "skew-hinges",
    *(f"hinges-{''.join(order)}" for order in permutations("xyz")),
    *EULER_ORDERS,
]


@pytest.mark.parametrize("wrist", [False, True], ids=["position", "pose"])
@pytest.mark.parametrize("shoulder", SHOULDERS)
def test_a_limb_reaches_with_every_kind_of_shoulder(shoulder: str, wrist: bool) -> None:
    arm = limb(shoulder, wrist=wrist)
    rng = np.random.default_rng(0)
    for _ in range(5):
        start, world = arm.random_pose(rng), arm.forward(arm.random_pose(rng), frame="tip")
        goal = lw.Reach("tip", position=world[:3, 3], orientation=world[:3, :3] if wrist else None)
        found = analytic_solutions(arm, goal, start=start)
        if shoulder == "skew-hinges" and not found:
            continue  # axes that are not perpendicular cannot make every rotation
        assert len(found) in {"quaternion": (2, 4)}.get(shoulder, (2, 4, 8))
        for k, pose in enumerate(found):
            assert_allclose(goal.error(arm, pose), 0.0, atol=1e-9 if shoulder == "skew-hinges" else 1e-13)
            assert all(np.abs(arm.difference(pose, other)).max() > 1e-7 for other in found[:k])
        assert lw.solve(arm, goal, start=start, method=Analytic()).success


def test_the_chosen_solution_is_the_one_nearest_to_the_start() -> None:
    arm = limb("XYZ")
    start, there = arm.random_pose(1), arm.random_pose(2)
    goal = lw.Reach("tip", position=arm.forward(there, frame="tip")[:3, 3])
    chosen = lw.solve(arm, goal, start=start, method=Analytic()).q
    distances = [np.linalg.norm(arm.difference(start, pose)) for pose in analytic_solutions(arm, goal, start=start)]
    assert np.linalg.norm(arm.difference(start, chosen)) == pytest.approx(min(distances))


def elbow_side(arm: lw.Linkage, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the directions from shoulder to tip, and from that line to the elbow, as unit vectors."""
    shoulder, elbow, tip = (arm.forward(q, frame=name)[:3, 3] for name in ("upper", "fore", "tip"))
    line = (tip - shoulder) / np.linalg.norm(tip - shoulder)
    side = elbow - shoulder - line * (line @ (elbow - shoulder))
    return line, side / np.linalg.norm(side)


@elbows
@pytest.mark.parametrize("shoulder", ["quaternion", "ZYX"])
@pytest.mark.parametrize("seed", range(4))
def test_the_elbow_lies_on_the_side_of_the_pole(shoulder: str, elbow: str, seed: int) -> None:
    arm = limb(shoulder)
    rng = np.random.default_rng(seed)
    target, pole = arm.forward(arm.random_pose(rng), frame="tip")[:3, 3], rng.normal(size=3)
    goal = lw.Reach("tip", position=target)
    solution = lw.solve(arm, goal, start=arm.random_pose(rng), method=Analytic(pole=pole, elbow=elbow))
    assert solution.residual < 1e-12
    line, side = elbow_side(arm, solution.q)
    assert side @ pole == pytest.approx(np.linalg.norm(pole - line * (line @ pole)), abs=1e-9)


@pytest.mark.parametrize("swivel", [0.0, 0.5, -2.0, "90deg"])
def test_the_swivel_is_measured_from_where_the_elbow_is_lowest(swivel: float | str) -> None:
    arm = limb("quaternion")
    q = arm.random_pose(5)
    goal = lw.Reach("tip", position=arm.forward(q, frame="tip")[:3, 3])
    line, side = elbow_side(arm, lw.solve(arm, goal, start=q, method=Analytic(swivel=swivel)).q)
    down = np.array([0, 0, -1.0]) + line * line[2]
    angle = math.pi / 2 if swivel == "90deg" else swivel
    assert_allclose(side, axis_rotation(line, angle) @ down / np.linalg.norm(down), atol=1e-9)


def test_a_start_that_is_there_already_still_moves_to_the_elbow_asked_for() -> None:
    arm, starts = lw.models.planar([1, 1]), np.array([[0.0, math.pi / 2], [0.3, 0.2]])
    solution = lw.solve(arm, lw.Reach("tip", position=(1, 1)), start=starts, method=Analytic(elbow="up"))
    assert_allclose(solution.q, [[math.pi / 2, -math.pi / 2]] * 2, atol=1e-12)
    assert solution.iterations.tolist() == [1, 1]
    assert_allclose(solution.start, starts)
    stays = lw.solve(arm, lw.Reach("tip", position=(1, 1)), start=starts[0], method=Analytic())
    assert_allclose(stays.q, starts[0])


def test_limits_of_a_limb_hold_and_its_swivel_gives_way_to_them() -> None:
    arm = limb("XYZ", limited=True)
    rng = np.random.default_rng(4)
    for _ in range(30):
        goal = lw.Reach("tip", position=arm.forward(arm.random_pose(rng), frame="tip")[:3, 3])
        solution = lw.solve(arm, goal, start=arm.random_pose(rng), method=Analytic())
        assert solution.residual < 1e-12
        assert (solution.q >= arm.lower).all()
        assert (solution.q <= arm.upper).all()


def test_limits_may_leave_no_swivel_at_all() -> None:
    b = lw.Builder("leg").ball("hip", "thigh", euler="XYZ", lower=(-0.1, -0.1, -0.1), upper=(0.1, 0.1, 0.1))
    leg = b.revolute("knee", "shin", at=(0, 0, -0.4), axis="y").frame("foot", at=(0, 0, -0.4)).build()
    goal = lw.Reach("foot", position=(0, 0.5, 0.1))
    assert analytic_solutions(leg, goal) == []
    assert len(analytic_solutions(leg, goal, limits="ignore")) == 4
    assert not lw.solve(leg, goal, method=Analytic()).success
    assert lw.solve(leg, goal, method=Analytic(), limits="ignore").success


def test_a_limb_turns_right_round_to_what_lies_behind_it() -> None:
    b = lw.Builder("leg").ball("hip", "thigh").revolute("knee", "shin", at=(0, 0, -0.4), axis="y")
    leg = b.frame("foot", at=(0, 0, -0.4)).build()
    assert lw.solve(leg, lw.Reach("foot", position=(0, 0, 0.8)), method=Analytic()).residual < 1e-12


@pytest.mark.parametrize("distance", [0.9, 5.0])
def test_a_limb_stretches_towards_what_is_out_of_reach(distance: float) -> None:
    b = lw.Builder("leg").ball("hip", "thigh", at=(0, 0, 1)).revolute("knee", "shin", at=(0, 0, -0.45), axis="y")
    leg = b.frame("foot", at=(0, 0, -0.4)).build()
    towards = np.array([0.36, -0.48, 0.8])
    goal = lw.Reach("foot", position=(0, 0, 1) + distance * towards)
    solution = lw.solve(leg, goal, start=leg.random_pose(2), method=Analytic())
    assert solution.residual == pytest.approx(distance - 0.85, abs=1e-12)
    assert_allclose(leg.forward(solution.q, frame="foot")[:3, 3], (0, 0, 1) + 0.85 * towards, atol=1e-12)
    assert analytic_solutions(leg, goal) == []


def test_a_limb_folds_onto_its_own_shoulder_or_stays_at_the_edge_of_its_hole() -> None:
    for thigh, shin in ((0.4, 0.4), (0.5, 0.4)):
        b = lw.Builder("leg").ball("hip", "thigh").revolute("knee", "shin", at=(0, 0, -thigh), axis="y")
        leg = b.frame("foot", at=(0, 0, -shin)).build()
        solution = lw.solve(leg, lw.Reach("foot", position=(0, 0, 0)), start=leg.random_pose(2), method=Analytic())
        assert solution.residual == pytest.approx(thigh - shin, abs=1e-12)


def test_a_knee_that_bends_one_way_comes_as_close_as_it_can() -> None:
    b = lw.Builder("leg").ball("hip", "thigh")
    b.revolute("knee", "shin", at=(0, 0, -0.4), axis="y", limits=(0.0, 1.0))
    leg = b.frame("foot", at=(0, 0, -0.4)).build()
    goal = lw.Reach("foot", position=(0.3, 0, 0))
    solution = lw.solve(leg, goal, method=Analytic())
    assert solution.residual == pytest.approx(0.8 * math.cos(0.5) - 0.3, abs=1e-12)


@pytest.mark.parametrize("frame", ["left_hand", "right_hand", "left_foot", "right_foot"])
def test_a_figure_s_limbs_are_found_and_the_rest_of_it_stays(frame: str) -> None:
    figure = lw.models.human()
    side = frame.split("_")[0]
    own = [f"{side}_{part}" for part in (("shoulder", "elbow") if "hand" in frame else ("hip", "knee"))]
    mine = np.array([name.split(".")[0] in own for name in figure.coordinates])
    rng = np.random.default_rng(1)
    for _ in range(5):
        start, other = figure.random_pose(rng), figure.random_pose(rng)
        goal = lw.Reach(frame, position=figure.forward(np.where(mine, other, start), frame=frame)[:3, 3])
        solution = lw.solve(figure, goal, start=start, method=Analytic())
        assert solution.success
        assert solution.residual < 1e-12
        assert_allclose(solution.q[~mine], start[~mine], atol=0)


def test_the_arm_of_a_robot_reaches_by_its_first_four_joints() -> None:
    panda = lw.models.panda()
    start = panda.stored_pose("ready")
    solution = lw.solve(panda, lw.Reach("tip", position=(0.4, 0.2, 0.5)), start=start, method=Analytic())
    assert solution.residual < 1e-12
    assert_allclose(solution.q[4:], start[4:], atol=0)


def test_many_problems_are_solved_in_one_call() -> None:
    arm = limb("quaternion")
    starts = arm.random_pose(0, (2, 3))
    goal = lw.Reach("tip", position=arm.forward(arm.random_pose(1), frame="tip")[:3, 3])
    solution = lw.solve(arm, goal, start=starts, method=Analytic())
    assert solution.success.shape == (2, 3)
    assert solution.success.all()
    assert_allclose(solution.q[1, 2], lw.solve(arm, goal, start=starts[1, 2], method=Analytic()).q, atol=1e-15)


def test_the_largest_step_is_held() -> None:
    arm = lw.models.planar([1, 1])
    solution = lw.solve(arm, lw.Reach("tip", position=(-1, 1)), method=Analytic(), max_step=0.2, trace=True)
    assert solution.success
    assert max(np.abs(record.step).max() for record in solution.trace) <= 0.2 + 1e-12


# Refused input


PLACE = {"position": (0.3, 0.2, 0.4)}
POSE = {**PLACE, "orientation": np.eye(3)}


@pytest.mark.parametrize(
    ("linkage", "wanted", "message"),
    [
        (lambda: lw.models.planar(5), {"position": (1, 1)}, "5 revolute axes \\(all parallel\\)"),
        (lambda: lw.models.planar(1), {"position": (1, 0)}, "no arm with a closed form"),
        (lambda: lw.models.planar(2), {"position": (1, 1), "orientation": np.eye(3)}, "two revolute joints"),
        (lambda: lw.models.planar(3), {"orientation": np.eye(3)}, "needs a position"),
        (lw.models.ur5, PLACE, "no arm with a closed form"),
        (lw.models.stanford, PLACE, "'boom' .* is prismatic"),
        (lw.models.panda, POSE, "wrist of three revolute joints"),
        (lambda: limb("quaternion"), POSE, "wrist of three revolute joints"),
        (lambda: limb("quaternion"), {"orientation": np.eye(3)}, "wrist|position"),
        (lambda: limb("quaternion"), {"position": (0.1, 0.2)}, "position \\(x, y, z\\)"),
    ],
)
def test_it_says_what_it_cannot_serve(linkage, wanted: dict, message: str) -> None:
    with pytest.raises(GoalError, match=message):
        lw.solve(linkage(), lw.Reach("tip", **wanted), method=Analytic())


def test_a_plane_goal_needs_an_arm_in_that_plane() -> None:
    b = lw.Builder("upright").revolute("a", "one", axis="y").revolute("b", "two", axis="y", at=(1, 0, 0))
    with pytest.raises(GoalError, match="another plane: give x, y and z"):
        lw.solve(b.frame("tip", at=(1, 0, 0)).build(), lw.Reach("tip", position=(1, 1)), method=Analytic())


def test_one_goal_only_and_no_followers() -> None:
    arm = lw.models.planar(2)
    with pytest.raises(GoalError, match="Reach goals only, got Goal"):
        Analytic().arm(arm, Goal(), arm.neutral())
    goal = lw.Reach("tip", position=(1, 1))
    with pytest.raises(GoalError, match="supports one goal, got 2"):
        lw.solve(arm, [goal, goal], method=Analytic())
    b = lw.Builder("pair").revolute("a", "one").revolute("b", "two", at=(1, 0, 0), mimic="a")
    with pytest.raises(GoalError, match=r"'b' .* follows 'a'"):
        lw.solve(b.frame("tip", at=(1, 0, 0)).build(), goal, method=Analytic())


@pytest.mark.parametrize("kind", [kind for kind in JOINTS if kind.split("-")[0] in ("prismatic", "screw", "floating")])
def test_joints_that_slide_are_refused_by_name(kind: str) -> None:
    with pytest.raises(GoalError, match="'joint' on the way to frame 'tip'"):
        lw.solve(one_joint(JOINTS[kind]), lw.Reach("tip", **PLACE), method=Analytic())


@pytest.mark.parametrize(
    "options",
    [
        {"elbow": "left"},
        {"pole": (0, 0, 0)},
        {"pole": (1, 2)},
        {"pole": (1, math.nan, 0)},
        {"swivel": math.inf},
        {"swivel": "far"},
        {"direction": math.nan},
        {"pole": (1, 0, 0), "swivel": 0.0},
    ],
)
def test_wrong_options_are_refused(options: dict) -> None:
    with pytest.raises(OptionError):
        Analytic(**options)


@pytest.mark.parametrize(
    ("linkage", "options"),
    [
        (lambda: lw.models.planar(3), {"pole": (0, 0, 1)}),
        (lambda: lw.models.planar(2), {"direction": 0.0}),
        (lambda: limb("quaternion"), {"direction": 0.0}),
    ],
)
def test_options_that_say_nothing_here_are_refused(linkage, options: dict) -> None:
    with pytest.raises(OptionError, match=r"is for|are for"):
        lw.solve(linkage(), lw.Reach("tip", **PLACE), method=Analytic(**options))
