"""Goals of whole bodies: errors and Jacobians compared with finite differences, priority levels, wrong input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import linkwork as lw
from goal_variants import ARM, LINKAGES, VARIANTS, heavy, make, variant_of
from linkages import JOINTS, one_joint
from linkwork.errors import FrameNotFoundError, GoalError, JointNotFoundError, LinkworkError
from linkwork.goals import GOALS, Goal
from linkwork.goals.support import inner_radius
from linkwork.linkage.poses import advance
from linkwork.solvers import Problem
from linkwork.transforms import inverse

linkages = pytest.mark.parametrize("name", LINKAGES)
goals = pytest.mark.parametrize("kind", GOALS)
STEP = 1e-6


variants = pytest.mark.parametrize("variant", VARIANTS)

# Rotation vectors: their Jacobian is the angular velocity, which equals their derivative only near the goal.
INEQUALITIES = {"Avoid", "Dexterity"}  # one-sided: Jacobians are compared where the error is not zero
ROTATION_VECTORS = {"Reach", "Hold", "LookAt", "Align", "Relate", "Rest"}


def slope(function: Callable[[np.ndarray], np.ndarray], linkage: lw.Linkage, q: np.ndarray) -> np.ndarray:
    """Return the derivative of a function of poses by velocities, by central differences, velocities last."""
    ways = np.eye(linkage.nv) * STEP
    return np.moveaxis((function(advance(linkage, q, ways)) - function(advance(linkage, q, -ways))) / (2 * STEP), 0, -1)


def half_square(goal: Goal, linkage: lw.Linkage) -> Callable[[np.ndarray], np.ndarray]:
    return lambda q: 0.5 * (goal.error(linkage, q) ** 2).sum(axis=-1)


@linkages
@goals
def test_a_goal_that_holds_has_no_error_and_its_jacobian_is_how_the_error_shrinks(name: str, kind: str) -> None:
    builder, frames = LINKAGES[name]
    linkage, rng = heavy(builder()), np.random.default_rng(0)
    for _ in range(3):
        q = linkage.random_pose(rng)
        goal = make(kind, linkage, frames, q).resolve(linkage, q)
        assert_allclose(goal.error(linkage, q), 0.0, atol=1e-12)
        if kind in INEQUALITIES:
            continue
        near = advance(linkage, q, rng.uniform(-1e-8, 1e-8, linkage.nv))  # away from the kink of a norm
        expected = -slope(lambda poses, goal=goal: goal.error(linkage, poses), linkage, near)
        got = goal.jacobian(linkage, near)
        assert_allclose(got, expected, rtol=0, atol=2e-6 * max(1.0, np.abs(expected).max()))
        assert np.abs(got).max() > 1e-3


@linkages
@goals
def test_far_from_the_goal_the_jacobian_leads_straight_down(name: str, kind: str) -> None:
    builder, frames = LINKAGES[name]
    linkage, rng = heavy(builder()), np.random.default_rng(1)
    for _ in range(3):
        goal = make(kind, linkage, frames, linkage.random_pose(rng))
        q = linkage.random_pose(rng)
        goal = goal.resolve(linkage, q)
        error, jacobian = goal.error(linkage, q), goal.jacobian(linkage, q)
        expected = -slope(half_square(goal, linkage), linkage, q)
        assert_allclose(error @ jacobian, expected, rtol=0, atol=1e-6 * max(1.0, np.abs(expected).max()))
        if kind not in ROTATION_VECTORS:
            rows = -slope(lambda poses, goal=goal: goal.error(linkage, poses), linkage, q)
            assert_allclose(jacobian, rows, rtol=0, atol=1e-6 * max(1.0, np.abs(rows).max()))


@linkages
@variants
def test_every_form_of_a_goal_leads_straight_down(name: str, variant: str) -> None:
    builder, frames = LINKAGES[name]
    linkage, rng = heavy(builder()), np.random.default_rng(2)
    largest = 0.0
    for _ in range(4):
        goal = variant_of(variant, linkage, frames, linkage.random_pose(rng))
        q = linkage.random_pose(rng)
        goal = goal.resolve(linkage, q)
        largest = max(largest, np.abs(goal.error(linkage, q)).max())
        expected = -slope(half_square(goal, linkage), linkage, q)
        got = goal.error(linkage, q) @ goal.jacobian(linkage, q)
        assert_allclose(got, expected, rtol=0, atol=2e-6 * max(1.0, np.abs(expected).max()))
    assert largest > 1e-3


@goals
@pytest.mark.parametrize(
    "joint", ["ball", "prismatic-oblique", "screw-left-handed", "planar-oblique", "universal-skew"]
)
def test_goals_serve_every_kind_of_joint(kind: str, joint: str) -> None:
    chain = heavy(one_joint(JOINTS[joint]))
    frames = (chain.frames[0], chain.frames[1], "tip", chain.frames[0])
    rng = np.random.default_rng(3)
    q = chain.random_pose(rng)
    goal = make(kind, chain, frames, chain.random_pose(rng)).resolve(chain, q)
    expected = -slope(half_square(goal, chain), chain, q)
    assert_allclose(goal.error(chain, q) @ goal.jacobian(chain, q), expected, rtol=0, atol=1e-5)


@linkages
@goals
def test_many_poses_give_what_each_gives(name: str, kind: str) -> None:
    builder, frames = LINKAGES[name]
    linkage, rng = heavy(builder()), np.random.default_rng(4)
    start = linkage.random_pose(rng)
    goal = make(kind, linkage, frames, start).resolve(linkage, start)
    q = linkage.random_pose(rng, (2, 3))
    error, jacobian = goal.error(linkage, q), goal.jacobian(linkage, q)
    count = goal.blocks[-1].rows.stop
    assert error.shape == (2, 3, count)
    assert jacobian.shape == (2, 3, count, linkage.nv)
    assert goal.changeable(linkage).shape == (count,)
    for k in np.ndindex(2, 3):
        assert_allclose(error[k], goal.error(linkage, q[k]), atol=1e-13)
        assert_allclose(jacobian[k], goal.jacobian(linkage, q[k]), atol=1e-13)
    assert goal.error(linkage, q[:0]).shape == (0, 3, count)


@goals
@pytest.mark.parametrize("name", ["human", "planar"])
def test_rows_that_cannot_change_never_do(name: str, kind: str) -> None:
    if name == "planar":
        linkage, frames = heavy(lw.models.planar([3, 2, 1])), ("link1", "link2", "tip", "link0")
    else:
        linkage, frames = lw.models.human(), ARM
    rng = np.random.default_rng(5)
    q = linkage.random_pose(rng)
    goal = make(kind, linkage, frames, q).resolve(linkage, q)
    still = ~goal.changeable(linkage)
    jacobian = goal.jacobian(linkage, linkage.random_pose(rng, 20))
    assert_allclose(jacobian[:, still], 0.0, atol=1e-12)
    assert not still.all()


@goals
def test_goals_of_one_make_take_each_others_place(kind: str) -> None:
    figure = lw.models.human()
    first, second = figure.random_pose(0, 2)
    one, two = (make(kind, figure, ARM, q).resolve(figure, q) for q in (first, second))
    if kind == "Align":  # both directions of an axis count
        assert one.signature == two.signature
    problem = Problem(figure, one, first)
    again = problem.aimed(two)
    assert again.blocks == problem.blocks
    assert_array_equal(again.error(second), problem.aimed(two).error(second))
    assert_allclose(again.error(second), 0.0, atol=1e-12)
    heavier = make(kind, figure, ARM, first, weight=2.0).resolve(figure, first)
    assert heavier.signature != one.signature
    assert_allclose(problem.aimed(heavier).scale, 2.0 * problem.scale)


@goals
@pytest.mark.parametrize("method", ["damped", "pseudoinverse", "selectively-damped", "control", "transpose", "robust"])
def test_methods_of_linear_algebra_serve_every_goal(kind: str, method: str) -> None:
    figure, rng = lw.models.human(root="floating"), np.random.default_rng(6)
    start = figure.pose(base="reach")
    there = figure.clamp(advance(figure, start, rng.uniform(-0.1, 0.1, figure.nv)))
    goal = make(kind, figure, ARM, there, priority=0, tolerance=(1e-3, 1e-2))
    solution = lw.solve(figure, goal, start=start, method=method)
    assert solution.success, solution.reason
    assert np.isfinite(solution.q).all()
    error = solution.goals[0].error(figure, solution.q)
    for block, residual in zip(solution.goals[0].blocks, solution.residuals, strict=True):
        assert np.linalg.norm(error[block.rows]) == pytest.approx(residual, abs=1e-12)
        assert residual <= (1e-3 if block.unit == "m" else 1e-2)
    assert solution.explain().startswith("reached")


def test_methods_that_move_bone_by_bone_say_what_they_cannot_serve() -> None:
    figure = lw.models.human()
    for method in ("ccd", "ranked-ccd", "fabrik", "analytic"):
        masked = lw.Reach("left_hand", position=(0.3, 0.3, 1.0), axes="xz")
        both = [lw.Reach("left_hand", position=(0.3, 0.3, 1)), lw.Avoid()]
        for goal in (lw.LookAt("eyes", at=(1, 1, 1)), masked, both):
            with pytest.raises(GoalError, match="use 'damped'"):
                lw.solve(figure, goal, method=method)
    with pytest.raises(GoalError, match="position"):
        lw.solve(figure, lw.Align("left_hand", axis="x", direction="z"), method="alternative")


# Single goals


def test_axes_left_out_are_left_alone_by_the_compiled_search_too() -> None:
    arm = lw.models.panda()
    start = arm.stored_pose("ready")
    for axes in ("x", "y", "z", "xz", "yz", "zx", "xy", "xyz"):
        goal = lw.Reach("tip", position=(0.4, 0.2, 0.6), axes=axes)
        for options in ({}, {"trace": True}, {"method": "damped"}, {"method": "alternative"}):
            solution = lw.solve(arm, goal, start=start, **options)
            assert solution.success, (axes, options)
            tip = arm.forward(solution.q, frame="tip")[:3, 3]
            asked = ["xyz".index(letter) for letter in axes]
            assert np.linalg.norm((tip - (0.4, 0.2, 0.6))[asked]) <= 1e-4
        assert len(solution.goals[0].error(arm, start)) == len(axes)
    far = lw.solve(arm, lw.Reach("tip", position=(0.4, 99, 5.0), axes="xz"), start=start, method="damped")
    assert "out of reach" in far.reason
    assert lw.solve(arm, lw.Reach("tip", position=(0.4, 99, 0.5), axes="xz"), start=start, method="damped").success


def test_hold_keeps_a_frame_where_it_is_at_the_start() -> None:
    figure = lw.models.human(root="floating")
    start = figure.stored_pose("sit")
    foot = figure.forward(start, frame="left_foot")
    hand = lw.Reach("left_hand", position=(0.5, 0.3, 0.6))
    solution = lw.solve(figure, [lw.Hold("left_foot"), hand], start=start, method="damped")
    assert solution.success
    assert_allclose(figure.forward(solution.q, frame="left_foot"), foot, atol=2e-3)
    assert isinstance(solution.goals[0], lw.Reach)
    assert_allclose(solution.goals[0].target, foot, atol=1e-15)
    by_descent = lw.solve(lw.models.human(), [lw.Hold("left_foot"), hand], method="ccd", max_iterations=50)
    assert by_descent.residuals[0] < 1e-6  # the legs of a body with a fixed root do not move its hands
    clip = lw.track(figure, lambda t: [lw.Hold("left_foot"), lw.Reach("left_hand", position=(0.4, 0.3, 0.6 + 0.1 * t))],
                    frames=5, fps=5, start=start, method="damped")  # fmt: skip
    assert clip.residuals.max() < 1e-3
    assert_allclose(figure.forward(clip.poses, frame="left_foot"), np.tile(foot, (5, 1, 1)), atol=2e-3)


def test_what_waits_for_a_start_says_so() -> None:
    figure = lw.models.human()
    q = figure.neutral()
    for goal in (lw.Hold("left_foot"), lw.Relate("left_hand", "right_hand"), lw.Balance()):
        with pytest.raises(GoalError, match="from the start of a solve"):
            goal.error(figure, q)
        bound = goal.resolve(figure, q)
        assert_allclose(bound.error(figure, q), 0.0, atol=1e-12)
        many = np.tile(q, (3, 1))
        assert_allclose(goal.resolve(figure, many).error(figure, many), 0.0, atol=1e-12)
        with pytest.raises(GoalError, match="starts"):
            goal.resolve(figure, figure.random_pose(0, 3))
    for waiting in (lw.Rest(), lw.Couple(("left_knee", "right_knee"))):
        with pytest.raises(GoalError, match="depend on the linkage"):
            _ = waiting.blocks
        assert waiting.error(figure, q).shape[-1] == waiting.resolve(figure, q).blocks[-1].rows.stop


def test_a_line_of_sight_passes_through_the_point() -> None:
    figure, ball = lw.models.human(), np.array([2.0, 0.8, 1.1])
    solution = lw.solve(figure, lw.LookAt("eyes", at=ball), method="damped", rotation_tolerance=1e-9)
    assert solution.success
    eyes = figure.forward(solution.q, frame="eyes")
    way = ball - eyes[:3, 3]
    assert np.linalg.norm(np.cross(eyes[:3, 0], way)) < 1e-8 * np.linalg.norm(way)
    assert eyes[:3, 0] @ way > 0.0
    here = figure.forward(figure.neutral(), frame="eyes")[:3, 3]
    at_itself = lw.LookAt("eyes", at=here)
    assert_array_equal(at_itself.error(figure, figure.neutral()), np.zeros(3))
    assert np.isfinite(at_itself.jacobian(figure, figure.neutral())).all()


def test_bend_is_the_angle_about_the_line_from_root_to_end() -> None:
    figure = lw.models.human()
    q = figure.pose(base="stand", left_knee="60deg")
    root, knee, foot = (figure.forward(q, frame=f)[:3, 3] for f in ("left_thigh", "left_shin", "left_foot"))
    line = (foot - root) / np.linalg.norm(foot - root)
    aside = knee - root - line * (line @ (knee - root))
    for angle in (-3.0, -1.0, 0.0, 0.5, 2.5):
        turned = aside * np.cos(angle) + np.cross(line, aside) * np.sin(angle)
        goal = lw.Bend("left_thigh", "left_shin", "left_foot", towards=root + 0.2 * line + 3.0 * turned)
        assert goal.error(figure, q).item() == pytest.approx(angle, abs=1e-12)
    straight = figure.pose(base=np.zeros(figure.nq))
    limb = lw.Bend("left_thigh", "left_shin", "left_tarsus", towards=(1, 0, 0))
    assert_array_equal(limb.error(figure, straight), [0.0])
    assert_array_equal(limb.jacobian(figure, straight), np.zeros((1, figure.nv)))


def test_relations_hold_wherever_the_other_frame_goes() -> None:
    figure = lw.models.human()
    start = figure.pose(base="reach", left_shoulder=(0.3, -1.0, 0.2), left_elbow=0.7)
    before = inverse(figure.forward(start, frame="right_hand")) @ figure.forward(start, frame="left_hand")
    box = [lw.Relate("left_hand", "right_hand"), lw.Reach("right_hand", position=(0.45, -0.1, 1.2))]
    solution = lw.solve(figure, box, start=start, tolerance=1e-6, rotation_tolerance=1e-6)
    assert solution.success
    after = inverse(figure.forward(solution.q, frame="right_hand")) @ figure.forward(solution.q, frame="left_hand")
    assert_allclose(after, before, atol=1e-5)


def test_a_range_of_distances_asks_for_nothing_within() -> None:
    arm = lw.models.planar([2, 1])
    goal = lw.Distance("tip", (0, 0), (1.5, 2.5))
    bent = arm.pose(j2=np.pi / 2)
    assert_array_equal(goal.error(arm, bent), [0.0])
    assert_array_equal(goal.jacobian(arm, bent), np.zeros((1, 2)))
    assert goal.error(arm, np.zeros(2)).item() == pytest.approx(-0.5)
    assert goal.error(arm, [0.0, np.pi]).item() == pytest.approx(0.5)
    assert lw.Distance("tip", (1, 0, 0), (1.0, np.inf)).error(arm, np.zeros(2)).item() == 0.0
    together = lw.Distance("tip", (3, 0), 1.0)  # the direction is undefined at zero distance
    assert np.isfinite(together.jacobian(arm, np.zeros(2))).all()
    assert lw.solve(arm, together, start=[0.0, 0.3], method="damped").success


# Balance


def polygon_distance(point: np.ndarray, corners: np.ndarray) -> float:
    """Return the distance of a point from a convex polygon, by another method than that of the goal."""
    from scipy.optimize import nnls
    from scipy.spatial import ConvexHull

    hull = ConvexHull(corners)
    if (hull.equations[:, :2] @ point + hull.equations[:, 2] <= 1e-12).all():
        return 0.0
    big = 1e6
    shares, _ = nnls(np.vstack([corners.T, np.full(len(corners), big)]), np.append(point, big))
    return float(np.linalg.norm(corners.T @ shares / shares.sum() - point))


def test_the_support_is_the_convex_hull_of_its_points() -> None:
    figure, rng = lw.models.human(), np.random.default_rng(7)
    inside = 0
    for _ in range(60):
        corners = rng.uniform(-0.3, 0.3, (rng.integers(3, 7), 3))
        q = figure.random_pose(rng)
        center = lw.mass.center_of_mass(figure, q)
        distance = polygon_distance(center[:2], corners[:, :2])
        error = lw.Balance(over=list(corners)).error(figure, q)
        assert np.linalg.norm(error) == pytest.approx(distance, abs=1e-6)
        inside += distance == 0.0
    assert 5 < inside < 55


def test_within_the_support_balance_asks_for_nothing() -> None:
    figure = lw.models.human()
    q = figure.stored_pose("stand")
    goal = lw.Balance(over=["left_heel", "left_ball", "right_heel", "right_ball"])
    assert_array_equal(goal.error(figure, q), np.zeros(2))
    assert_array_equal(goal.jacobian(figure, q), np.zeros((2, figure.nv)))
    leaning = figure.pose(base="stand", waist=(0.0, 0.6, 0.0), chest=(0.0, 0.3, 0.0), left_hip=(-0.5, 0, 0))
    edge = lw.Balance(over=[(-1, 0), (-0.5, 0.1), (-0.5, -0.1)])
    assert edge.error(figure, leaning)[0] < -0.4


@pytest.mark.parametrize("kind", ["balance", "balance with a margin", "distance"])
def test_the_room_to_an_edge_shrinks_as_its_rows_say(kind: str) -> None:
    figure = lw.models.human(root="floating")
    feet = [f"{side}_{part}" for side in ("left", "right") for part in ("heel", "ball")]
    q = figure.stored_pose("stand")
    goals = {
        "balance": lw.Balance(over=[*feet, (0.3, 0.1, 0.0)]),
        "balance with a margin": lw.Balance(over=feet, margin=0.01).resolve(figure, q),
        "distance": lw.Distance("left_hand", "right_foot", (0.1, 2.0)),
    }
    goal, step = goals[kind], 1e-6
    room, rows = goal.edges(figure, q)
    known = np.isfinite(room)
    assert known.any()
    assert (room[known] > 0.0).all()
    for v in range(figure.nv):
        near = [goal.edges(figure, figure.integrate(q, s * step * np.eye(figure.nv)[v])).room[known] for s in (1, -1)]
        np.testing.assert_allclose(rows[known, v], (near[1] - near[0]) / (2.0 * step), atol=1e-7)
    none = lw.Balance(over=[(0.0, 0.0, 0.0), (1.0, 0.0, 0.0)]).edges(figure, q)
    assert np.isinf(none.room).all()
    assert lw.Distance("left_hand", "right_foot", 0.5).edges(figure, q) is None


@pytest.mark.parametrize("margin", [0.0, 0.01, 0.03])
def test_a_margin_keeps_the_centre_of_mass_within_the_edge(margin: float) -> None:
    figure = lw.models.human(root="floating")
    corners = [(-0.1, -0.2, 0), (0.1, -0.2, 0), (0.1, 0.2, 0), (-0.1, 0.2, 0)]
    goals = [
        lw.Hold("left_foot"), lw.Hold("right_foot"), lw.Balance(over=corners, margin=margin),
        lw.Reach("right_hand", position=(1.05, -0.2, 0.8), priority=1, tolerance=np.inf),
    ]  # fmt: skip
    solution = lw.solve(figure, goals, start="stand", method="damped", limits="project")
    assert solution.success
    x, y, _ = lw.mass.center_of_mass(figure, solution.q)
    assert x == pytest.approx(0.1 - margin, abs=1e-3)  # as far as it may lean
    assert abs(y) <= 0.2 - margin


def test_a_margin_that_leaves_no_support_is_refused() -> None:
    figure = lw.models.human()
    triangle = [(0, 0), (0.3, 0), (0, 0.4)]
    assert inner_radius(np.array(triangle, float), np.array([(0, 1), (0, 2), (1, 2)])) == pytest.approx(0.08)
    for over in (triangle, (0, 0), ["left_heel", "left_toe"]):
        with pytest.raises(GoalError, match="no support left"):
            lw.solve(figure, lw.Balance(over=over, margin=0.1), method="damped")
    with pytest.raises(GoalError, match="resolve"):
        lw.Balance(over=triangle, margin=0.01).error(figure, figure.neutral())


# Whole bodies


def figure_goals(**hands: Any) -> list[Goal]:
    return [
        lw.Reach("right_hand", position=hands.get("right", (0.45, -0.25, 1.25))),
        lw.Reach("left_hand", position=hands.get("left", (0.3, 0.3, 0.9))),
        lw.Hold("left_foot"),
        lw.Hold("right_foot"),
        lw.LookAt("eyes", at=(1.5, -0.5, 1.2)),
        lw.Balance(over=["left_heel", "left_ball", "right_heel", "right_ball"]),
    ]


@pytest.mark.parametrize("method", ["damped", "pseudoinverse", "selectively-damped", "robust"])
def test_a_figure_reaches_stands_looks_and_keeps_its_balance(method: str) -> None:
    figure = lw.models.human(root="floating")
    start = figure.stored_pose("stand")
    feet = {side: figure.forward(start, frame=f"{side}_foot") for side in ("left", "right")}
    solution = lw.solve(figure, figure_goals(), start=start, method=method)
    assert solution.success, solution.reason
    q = solution.q
    assert (q >= figure.lower).all()
    assert (q <= figure.upper).all()
    for side, foot in feet.items():
        assert np.linalg.norm(figure.forward(q, frame=f"{side}_foot")[:3, 3] - foot[:3, 3]) <= 1e-4
    assert np.linalg.norm(figure.forward(q, frame="right_hand")[:3, 3] - (0.45, -0.25, 1.25)) <= 1e-4
    corners = ("left_heel", "left_ball", "right_heel", "right_ball")
    corners_xy = np.array([figure.forward(q, frame=name)[:2, 3] for name in corners])
    assert polygon_distance(lw.mass.center_of_mass(figure, q)[:2], corners_xy) <= 1e-4
    assert solution.freedom > 20
    assert "reached" in solution.explain()


def test_many_starts_are_one_call() -> None:
    figure = lw.models.human(root="floating")
    rng = np.random.default_rng(9)
    starts = advance(figure, figure.stored_pose("stand"), rng.uniform(-0.1, 0.1, (5, figure.nv)))
    place = figure.forward(figure.stored_pose("stand"), frame="left_foot")
    goals = [lw.Hold("left_foot", pose=place), lw.LookAt("eyes", at=(2, 1, 1)), lw.Balance(over="left_foot")]
    solution = lw.solve(figure, goals, start=starts, method="damped")
    assert solution.success.all()
    assert solution.q.shape == starts.shape


def test_what_fails_says_so_without_a_frame_or_a_position() -> None:
    figure = lw.models.human()
    behind = lw.solve(figure, [lw.LookAt("eyes", at=(-3, 0, 1.5)), lw.Hold("left_foot")], method="damped")
    assert not behind.success
    assert np.isfinite(behind.q).all()
    assert "not reached" in behind.explain()
    apart = lw.solve(figure, lw.Distance("left_hand", "right_hand", 9.0), method="damped")
    assert not apart.success
    assert apart.residual > 5.0
    assert "not reached" in apart.explain()
    contradiction = [lw.Hold("pelvis", pose=lw.transforms.translation((1, 0, 1))), lw.Rest(tolerance=1e-3, priority=0)]
    stuck = lw.solve(figure, contradiction, method="damped")
    assert not stuck.success
    assert "out of reach" in stuck.reason


# Levels of priority


@pytest.mark.parametrize("method", ["damped", "pseudoinverse", "robust"])
def test_a_lower_level_leaves_the_upper_one_alone(method: str) -> None:
    figure = lw.models.human()
    hand = lw.Reach("left_hand", position=(0.4, 0.3, 1.2), tolerance=1e-10)
    alone = lw.solve(figure, hand, start="stand", method=method)
    wish = lw.Reach("left_forearm", position=(0.4, 0.3, 1.2), priority=1)  # the elbow cannot be at the hand's position
    both = lw.solve(figure, [hand, wish], start="stand", method=method)
    assert alone.residuals[0] < 1e-9
    assert both.residuals[0] < 1e-9
    assert not both.success
    weighed = lw.solve(figure, [hand, lw.Reach("left_forearm", position=(0.4, 0.3, 1.2))], start="stand", method=method)
    assert weighed.residuals[0] > 1e-2
    assert both.residuals[1] > 0.2


@pytest.mark.parametrize("limits", ["clamp", "project"])
@pytest.mark.parametrize("far", [1.0, 3.0], ids=["within reach", "out of reach"])
@pytest.mark.parametrize("method", ["damped", "pseudoinverse", "robust"])
def test_priority_is_strict_whatever_the_lower_level_asks_for(method: str, far: float, limits: str) -> None:
    arm, rng = lw.models.panda(), np.random.default_rng(10)
    for _ in range(4):
        start, place = arm.random_pose(rng), far * arm.forward(arm.random_pose(rng), frame="tip")[:3, 3]
        below = lw.Reach("panda_link4", position=rng.uniform(-0.5, 0.5, 3), priority=3)
        options = {"start": start, "method": method, "limits": limits}
        alone = lw.solve(arm, lw.Reach("tip", position=place, tolerance=1e-13), **options)
        both = lw.solve(arm, [below, lw.Reach("tip", position=place)], **options)
        assert both.residuals[1] < alone.residuals[0] + 1e-8
        three = lw.solve(arm, [lw.Rest(priority=7), below, lw.Reach("tip", position=place)], **options)
        assert three.residuals[2] < alone.residuals[0] + 1e-8
        if alone.success:  # otherwise the first level still converges slowly, at the cost of the second
            assert three.residuals[1] < both.residuals[0] + 1e-8


def test_the_lower_level_does_what_is_left_to_it() -> None:
    arm = lw.models.planar([1, 1, 1])
    hand = lw.Reach("tip", position=(1.5, 0.8))
    elbow = lw.Reach("link2", position=(0.6, 0.8), priority=1)
    solution = lw.solve(arm, [elbow, hand], start=[0.4, 0.4, 0.4], method="damped", tolerance=1e-6)
    assert solution.success  # both can be met: the four numbers are consistent for three joints
    third = lw.Reach("tip", orientation=np.eye(3), priority=2)
    three = lw.solve(arm, [third, elbow, hand], start=[0.4, 0.4, 0.4], method="damped")
    assert three.residuals[1] < 1e-8
    assert three.residuals[2] < 1e-8


def test_rest_picks_among_the_poses_that_serve() -> None:
    figure = lw.models.human(root="floating")
    start = figure.stored_pose("stand")
    plain = lw.solve(figure, figure_goals(), start=start, method="damped", limits="project")
    rested = lw.solve(figure, [*figure_goals(), lw.Rest("stand")], start=start, method="damped", limits="project")
    assert plain.success
    assert rested.success
    away = [np.linalg.norm(figure.difference(start, q)) for q in (plain.q, rested.q)]
    assert away[1] < 0.95 * away[0]
    assert rested.residuals[:6].max() < 1e-8


def test_methods_without_levels_say_which_have_them() -> None:
    arm = lw.models.planar([1, 1, 1])
    goals = [lw.Reach("tip", position=(1, 1)), lw.Rest()]
    for method in set(lw.METHODS) - {"damped", "pseudoinverse", "robust", "prioritized"}:
        with pytest.raises(GoalError, match="'damped', 'pseudoinverse' or 'robust'"):
            lw.solve(arm, goals, method=method)
    assert lw.solve(arm, lw.Rest([0.1, 0.2, 0.3], tolerance=1e-6), method="transpose").success  # a single level


def test_a_goals_own_tolerance_is_the_one_that_counts() -> None:
    arm = lw.models.panda()
    target = arm.forward(arm.random_pose(3), frame="tip")
    for options in ({}, {"trace": True}, {"method": "damped"}, {"seed": 1}):
        fine = lw.solve(arm, lw.Reach("tip", orientation=target, tolerance=(1e-9, 1e-8)), start="ready", **options)
        assert (fine.residuals <= (1e-9, 1e-8)).all() == fine.success
        if not options.get("method"):
            assert fine.success
        coarse = lw.Reach("tip", orientation=target, tolerance=(10.0, 10.0))
        assert lw.solve(arm, coarse, start="ready", **options).success
    wish = lw.Reach("tip", position=(5, 5, 5), tolerance=np.inf)
    assert lw.solve(arm, wish, start="ready").success
    assert lw.solve(arm, wish, start="ready").residual > 5.0


# Wrong input

WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "weight negative": (lambda: lw.LookAt("eyes", (1, 1, 1), weight=-1), "weight"),
    "weight zero": (lambda: lw.Balance(weight=0), "weight"),
    "weight NaN": (lambda: lw.Rest(weight=np.nan), "weight"),
    "weight true": (lambda: lw.Hold("eyes", weight=True), "weight"),
    "tolerance": (lambda: lw.Hold("eyes", tolerance=-1e-3), "tolerance"),
    "tolerance three": (lambda: lw.Hold("eyes", tolerance=(1, 2, 3)), "tolerance"),
    "tolerance text": (lambda: lw.Hold("eyes", tolerance="fine"), "tolerance"),
    "priority": (lambda: lw.Hold("eyes", priority=-1), "priority"),
    "priority broken": (lambda: lw.Hold("eyes", priority=0.5), "priority"),
    "axes": (lambda: lw.Reach("tip", position=(1, 2, 3), axes="xw"), "axes"),
    "axes twice": (lambda: lw.Reach("tip", position=(1, 2, 3), axes="xx"), "axes"),
    "axes beyond": (lambda: lw.Reach("tip", position=(1, 2), axes="z"), "axes"),
    "axes none": (lambda: lw.Reach("tip", position=(1, 2, 3), axes=""), "axes"),
    "axes without": (lambda: lw.Reach("tip", orientation=np.eye(3), axes="x"), "axes"),
    "hold frame": (lambda: lw.Hold(3), "name of a frame"),
    "hold at": (lambda: lw.Hold("a", pose=np.ones((4, 4))), "place to hold"),
    "hold NaN": (lambda: lw.Hold("a", pose=np.eye(4) * [1, 1, np.nan, 1]), "finite"),
    "hold position": (lambda: lw.Hold("a", pose=(1, 2, 3)), "4x4"),
    "relate twice": (lambda: lw.Relate("a", "b", pose=np.eye(4), position=(1, 2, 3)), "leave those out"),
    "relate 4x4 and position": (
        lambda: lw.Relate("a", "b", orientation=np.eye(4), position=(1, 2, 3)),
        "two positions",
    ),
    "look at": (lambda: lw.LookAt("a", at=(1, 2, 3, 4)), "look at"),
    "look NaN": (lambda: lw.LookAt("a", at=(1, np.nan, 3)), "finite"),
    "look axis": (lambda: lw.LookAt("a", at=(1, 2, 3), axis="w"), "axis"),
    "align": (lambda: lw.Align("a", axis="x", direction=(0, 0, 0)), "direction"),
    "align axis": (lambda: lw.Align("a", axis=None, direction="x"), "axis"),
    "bend": (lambda: lw.Bend("a", "b", 3, towards=(1, 2, 3)), "name of a frame"),
    "bend pole": (lambda: lw.Bend("a", "b", "c", towards=np.inf), "pole"),
    "balance": (lambda: lw.Balance(over=[]), "over"),
    "balance shape": (lambda: lw.Balance(over=[(1, 2, 3, 4)]), "over"),
    "balance NaN": (lambda: lw.Balance(over=(0, np.nan)), "finite"),
    "balance margin": (lambda: lw.Balance(over=(0, 0), margin=-0.1), "margin"),
    "balance up": (lambda: lw.Balance(up=(0, 0, 0)), "up"),
    "relate self": (lambda: lw.Relate("a", "a"), "itself"),
    "relate short": (lambda: lw.Relate("a", "b", position=(1, 2)), "3 numbers"),
    "relate frame": (lambda: lw.Relate("a", None), "name of a frame"),
    "distance negative": (lambda: lw.Distance("a", "b", -1), "distance"),
    "distance order": (lambda: lw.Distance("a", "b", (2, 1)), "distance"),
    "distance NaN": (lambda: lw.Distance("a", "b", np.nan), "distance"),
    "distance infinite": (lambda: lw.Distance("a", "b", np.inf), "distance"),
    "distance three": (lambda: lw.Distance("a", "b", (1, 2, 3)), "distance"),
    "distance self": (lambda: lw.Distance("a", "a", 1), "itself"),
    "plane": (lambda: lw.OnPlane("a", point=(0, 0, 0), normal=(0, 0, 0)), "normal"),
    "line": (lambda: lw.OnLine("a", point="here", direction="x"), "point"),
    "couple one": (lambda: lw.Couple(("a",)), "two joints"),
    "couple text": (lambda: lw.Couple("ab"), "two joints"),
    "couple same": (lambda: lw.Couple(("a", "a")), "two joints"),
    "couple zero": (lambda: lw.Couple({"a": 0.0}), "other than zero"),
    "couple NaN": (lambda: lw.Couple({"a": np.nan}), "coefficient"),
    "couple value": (lambda: lw.Couple(("a", "b"), value=np.inf), "value"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_a_goal_cannot_be_is_refused_when_it_is_made(case: str) -> None:
    build, words = WRONG[case]
    with pytest.raises(GoalError, match=words):
        build()


HUMAN_WRONG: dict[str, tuple[Callable[[], Goal], type[Exception], str]] = {
    "hold": (lambda: lw.Hold("foot"), FrameNotFoundError, "'foot'"),
    "look": (lambda: lw.LookAt("eye", at=(1, 1, 1)), FrameNotFoundError, "did you mean 'eyes'"),
    "look at": (lambda: lw.LookAt("eyes", at="ball"), FrameNotFoundError, "'ball'"),
    "align": (lambda: lw.Align("palm", axis="x", direction="x"), FrameNotFoundError, "'palm'"),
    "bend": (lambda: lw.Bend("left_thigh", "knee", "left_foot", towards=(1, 1, 1)), FrameNotFoundError, "'knee'"),
    "relate": (lambda: lw.Relate("left_hand", "hat"), FrameNotFoundError, "'hat'"),
    "distance": (lambda: lw.Distance("left_hand", "hat", 1), FrameNotFoundError, "'hat'"),
    "plane": (lambda: lw.OnPlane("hat", normal="z"), FrameNotFoundError, "'hat'"),
    "balance": (lambda: lw.Balance(over=["left_heel", "hoof"]), FrameNotFoundError, "'hoof'"),
    "rest length": (lambda: lw.Rest([1, 2, 3]), LinkworkError, "shape"),
    "rest name": (lambda: lw.Rest("lie"), LinkworkError, "'lie'"),
    "rest gains": (lambda: lw.Rest(gains=[1, 2]), GoalError, "gains"),
    "rest negative": (lambda: lw.Rest(gains=-1), GoalError, "zero or more"),
    "rest joint": (lambda: lw.Rest(gains={"tail": 1}), JointNotFoundError, "'tail'"),
    "rest nothing": (lambda: lw.Rest(gains=0), GoalError, "nothing"),
    "couple": (lambda: lw.Couple(("left_knee", "tail")), JointNotFoundError, "'tail'"),
    "couple ball": (lambda: lw.Couple(("left_knee", "left_hip")), GoalError, "left_hip.ry"),
}


@pytest.mark.parametrize("case", HUMAN_WRONG)
def test_what_a_linkage_does_not_have_is_named(case: str) -> None:
    build, error, words = HUMAN_WRONG[case]
    figure = lw.models.human()
    with pytest.raises(error, match=words):
        lw.solve(figure, [build(), lw.Reach("left_hand", position=(0.3, 0.3, 1.0))], start="stand", method="damped")


def test_what_weighs_nothing_cannot_balance() -> None:
    arm = lw.Builder("wire").revolute("j", "a").frame("tip", at=(1, 0, 0)).build()
    for linkage in (arm, arm.replace(links={"a": {"inertia": lw.Inertia(0.0)}})):
        with pytest.raises(GoalError, match="no mass"):
            lw.solve(linkage, lw.Balance(over=(0, 0)), method="damped")


def test_quaternions_and_followers_are_coupled_as_wholes() -> None:
    figure = lw.models.human(root="floating")
    with pytest.raises(GoalError, match="quaternion"):
        lw.solve(figure, lw.Couple(("root.qw", "left_knee")), method="damped")
    gripper = lw.Builder("gripper").prismatic("left", "l", limits=(0, 0.1)).prismatic(
        "right", "r", parent="base", axis="-x", limits=(0, 0.1), mimic="left").build()  # fmt: skip
    with pytest.raises(GoalError, match="follows 'left'"):
        lw.solve(gripper, lw.Couple({"right": 1.0}), method="damped")


@pytest.mark.parametrize("goals", [[], None, 3, "tip", [None], [lw.Reach("tip", position=(1, 2)), "tip"]])
def test_what_is_no_goal_is_refused(goals: Any) -> None:
    with pytest.raises(GoalError, match="a solve needs a goal"):
        lw.solve(lw.models.planar([2, 1]), goals, method="damped")
