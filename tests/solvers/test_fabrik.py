"""FABRIK: it reaches reachable goals, keeps every limit, and equals the published method where that applies."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest
from numba import njit
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkages import JOINTS, one_joint, random_rotation
from linkwork.errors import GoalError, OptionError
from linkwork.goals import Goal
from linkwork.kernels.compiler import ARITHMETIC
from linkwork.kernels.lanes import flat
from linkwork.kernels.rotations import best_rotation
from linkwork.solvers import Settings
from linkwork.solvers.fabrik import Fabrik, skeleton
from linkwork.solvers.problem import Problem, State

FABRIK = Fabrik()
PUBLISHED = Fabrik(foresight=0.0, overshoot=0.0)
SLIDING = [kind for kind in JOINTS if kind.split("-")[0] in ("prismatic", "screw", "planar", "floating")]
TURNING = [kind for kind in JOINTS if kind.split("-")[0] in ("revolute", "continuous", "universal", "ball")]


def limited_planar() -> lw.Linkage:
    return lw.models.planar(5).replace(joints={f"j{k}": {"lower": -1.2, "upper": 1.2} for k in range(2, 6)})


def ball_snake(count: int = 10) -> lw.Linkage:
    b = lw.Builder("snake")
    for k in range(count):
        b.ball(f"ball{k}", f"bone{k}", at=(0.1 if k else 0.0, 0, 0))
    return b.frame("tip", at=(0.1, 0, 0)).build()


def human_arm() -> lw.Linkage:
    """A ball joint with limits, an elbow that bends one way, a wrist with two axes: six values, like a pose."""
    b = lw.Builder("arm", base="torso")
    b.ball("shoulder", "upper", euler="XYZ", lower=(-1.5, -1.5, -1.5), upper=(1.5, 1.5, 1.5), at=(0, 0.2, 1.4))
    b.revolute("elbow", "fore", at=(0.3, 0, 0), axis="y", limits=(-2.5, 0.0))
    b.universal("wrist", "hand", at=(0.26, 0, 0), axis="z", second="y")
    return b.frame("tip", at=(0.1, 0, 0)).build()


def three_hinged_arm() -> lw.Linkage:
    """The same with three revolute joints at the shoulder, one of them shifted along its axis, without limits."""
    b = lw.Builder("hinges", base="torso")
    b.revolute("yaw", "a", axis="z").revolute("pitch", "b", axis="y")
    b.revolute("roll", "upper", axis="x", at=(0.1, 0, 0))
    b.revolute("elbow", "fore", at=(0.2, 0, 0), axis="y")
    return b.frame("tip", at=(0.26, 0, 0)).build()


def seven_values() -> lw.Linkage:
    b = lw.Builder("seven", base="torso").ball("shoulder", "upper")
    b.revolute("elbow", "fore", at=(0.3, 0, 0), axis="y", limits=(-2.5, 0.0)).ball("wrist", "hand", at=(0.26, 0, 0))
    return b.frame("tip", at=(0.1, 0, 0)).build()


def two_armed() -> lw.Linkage:
    b = lw.Builder("two-armed", base="pelvis")
    b.ball("spine", "chest", euler="ZYX", lower=(-1, -1, -1), upper=(1, 1, 1), at=(0, 0, 0.1))
    for side, y in (("left", 0.2), ("right", -0.2)):
        b.ball(f"{side}_shoulder", f"{side}_upper", parent="chest", at=(0, y, 0.4))
        b.revolute(f"{side}_elbow", f"{side}_fore", at=(0.3, 0, 0), axis="y", limits=(-2.5, 0.0))
        b.frame(f"{side}_hand", at=(0.25, 0, 0))
    return b.build()


# Linkage, and the share of random goals that must be reached from random starts: positions, whole poses.
LINKAGES: dict[str, tuple[Callable[[], lw.Linkage], float, float]] = {
    "planar": (lambda: lw.models.planar(5), 1.0, 0.95),
    "planar-limited": (limited_planar, 0.97, 0.0),
    "snake": (ball_snake, 1.0, 1.0),
    "human-arm": (human_arm, 0.9, 0.3),
    "three-hinged": (three_hinged_arm, 0.95, 0.0),
    "seven": (seven_values, 0.95, 0.9),
    "panda": (lw.models.panda, 0.9, 0.5),
    "ur5": (lw.models.ur5, 0.9, 0.4),
}
every_linkage = pytest.mark.parametrize("name", LINKAGES)


def goal_of(world: np.ndarray, kind: str = "position") -> lw.Reach:
    wanted = {"position": world[:3, 3], "orientation": world[:3, :3]}
    return lw.Reach("tip", **{key: value for key, value in wanted.items() if kind in (key, "pose")})


def trials(linkage: lw.Linkage, count: int, kind: str, method: Fabrik | str = FABRIK) -> list[lw.Solution]:
    starts = linkage.random_pose(101, count)
    worlds = linkage.forward(linkage.random_pose(102, count), frame="tip")
    return [
        lw.solve(linkage, goal_of(world, kind), start=start, method=method)
        for world, start in zip(worlds, starts, strict=True)
    ]


@every_linkage
@pytest.mark.parametrize("kind", ["position", "pose"])
def test_it_reaches_random_goals_and_keeps_its_word(name: str, kind: str) -> None:
    make, positions, poses = LINKAGES[name]
    linkage = make()
    solutions = trials(linkage, 60, kind)
    assert np.mean([solution.success for solution in solutions]) >= (positions if kind == "position" else poses)
    for solution in solutions:
        world, goal = linkage.forward(solution.q, frame="tip"), solution.goals[0]
        errors = [np.linalg.norm(goal.position - world[:3, 3])]
        if kind == "pose":
            errors.append((Rotation.from_matrix(goal.orientation @ world[:3, :3].T)).magnitude())
        assert_allclose(solution.residuals, errors, atol=1e-9)
        assert solution.success == all(e <= t for e, t in zip(errors, (1e-4, 1e-3), strict=False))
        assert (solution.q >= linkage.lower).all()
        assert (solution.q <= linkage.upper).all()


@pytest.mark.parametrize("name", ["planar", "snake", "human-arm", "seven", "panda", "ur5"])
def test_an_orientation_alone_is_reached(name: str) -> None:
    solutions = trials(LINKAGES[name][0](), 30, "orientation")
    assert np.mean([solution.success for solution in solutions]) >= 0.9


@pytest.mark.parametrize("name", ["planar", "snake", "three-hinged"])
def test_it_does_no_worse_than_damped_least_squares(name: str) -> None:
    linkage = LINKAGES[name][0]()
    ours, theirs = (trials(linkage, 60, "position", method) for method in (FABRIK, "damped"))
    assert sum(s.success for s in ours) >= sum(s.success for s in theirs) - 2
    assert np.median([s.iterations for s in ours]) <= 1.0 + np.median([s.iterations for s in theirs])


def test_the_same_question_has_the_same_answer_alone_or_in_a_batch() -> None:
    for make in (limited_planar, human_arm, ball_snake):
        linkage = make()
        goal = goal_of(linkage.forward(linkage.random_pose(5), frame="tip"))
        starts = linkage.random_pose(6, (2, 3))
        batch = lw.solve(linkage, goal, start=starts, method=FABRIK)
        assert batch.q.shape == (2, 3, linkage.nq)
        for index in np.ndindex(2, 3):
            alone = lw.solve(linkage, goal, start=starts[index], method=FABRIK)
            assert_array_equal(alone.q, batch.q[index])
            assert alone.iterations == batch.iterations[index]


# Out of reach


@pytest.mark.parametrize("start", ["straight", "ready", "curl"])
@pytest.mark.parametrize(
    ("lengths", "goal"),
    [
        ((1, 1, 1), (5, 0)),
        ((1, 1, 1), (-4, -3)),
        ((15, 10, 5), (-35, 5)),
        ((3, 1, 1), (0.2, 0.1)),
        ((3, 1, 1), (0, 0)),
        ((1, 1, 3), (-0.3, 0.4)),
        ((2, 1), (0.5, 0.2)),
    ],
)
def test_beyond_reach_or_inside_the_hole_it_ends_at_the_nearest_point(
    lengths: tuple[float, ...], goal: tuple[float, float], start: str
) -> None:
    arm = lw.models.planar(lengths)
    r, far = np.hypot(*goal), sum(lengths)
    solution = lw.solve(arm, lw.Reach("tip", position=goal), start=start, method=FABRIK)
    assert not solution.success
    assert solution.residual == pytest.approx(max(r - far, 2 * max(lengths) - far - r), abs=1e-5)


def test_a_snake_stretches_towards_what_it_cannot_reach() -> None:
    snake = ball_snake()
    for goal in ((2, 0, 0), (0, 2, 1), (-3, 0, 0), (0.3, -2, 0.9)):
        solution = lw.solve(snake, lw.Reach("tip", position=goal), start=snake.random_pose(3), method=FABRIK)
        assert solution.residual == pytest.approx(np.linalg.norm(goal) - 1.0, abs=1e-6)
        tip = snake.forward(solution.q, frame="tip")[:3, 3]
        assert_allclose(tip, goal / np.linalg.norm(goal), atol=1e-4)


def test_limits_leave_a_nearest_point_that_an_optimizer_finds_too() -> None:
    arm = lw.models.planar(3).replace(joints={f"j{k}": {"lower": -0.8, "upper": 0.8} for k in (1, 2, 3)})
    bounds = [(-0.8, 0.8)] * 3
    for goal in ((-1.0, 1.0), (0.5, 3.0), (4.0, 0.5), (0.2, 0.1)):
        solution = lw.solve(arm, lw.Reach("tip", position=goal), method=FABRIK)
        best = min(
            minimize(lambda q, g=goal: np.sum((arm.forward(q, frame="tip")[:2, 3] - g) ** 2), start, bounds=bounds).fun
            for start in arm.random_pose(1, 6)
        )
        assert solution.residual == pytest.approx(np.sqrt(best), abs=2e-3)


@pytest.mark.parametrize("goal", [(3, 0), (-3, 0), (0, 3), (1.5, 0), (-1.5, 0), (1, 0), (0, 0)])
def test_a_straight_arm_gets_out_of_its_line(goal: tuple[float, float]) -> None:
    arm = lw.models.planar(3)
    assert lw.solve(arm, lw.Reach("tip", position=goal), start="straight", method=FABRIK).success


def test_limits_are_ignored_only_on_request() -> None:
    arm = lw.models.planar(2).replace(joints={"j1": {"lower": 0.0, "upper": 0.5}})
    goal = lw.Reach("tip", position=(-1.2, 0.5))
    free = lw.solve(arm, goal, method=FABRIK, limits="ignore")
    assert free.success
    assert not 0.0 <= free.q[0] <= 0.5
    for limits in ("clamp", "project"):
        held = lw.solve(arm, goal, method=FABRIK, limits=limits)
        assert not held.success
        assert 0.0 <= held.q[0] <= 0.5


# Several goals


def test_two_hands_reach_two_goals_at_once() -> None:
    body = two_armed()
    starts, there = body.random_pose(3, 40), body.random_pose(4, 40)
    reached = 0
    for start, q in zip(starts, there, strict=True):
        goals = [lw.Reach(f, position=body.forward(q, frame=f)[:3, 3]) for f in ("left_hand", "right_hand")]
        solution = lw.solve(body, goals, start=start, method=FABRIK)
        reached += solution.success
        assert (solution.q >= body.lower).all()
        assert (solution.q <= body.upper).all()
    assert reached >= 38


def test_the_heavier_of_two_goals_that_cannot_both_be_met_comes_nearer() -> None:
    body = two_armed()
    left, right = (0.2, 1.6, 0.5), (0.2, -1.6, 0.5)
    errors = []
    for weight in (0.1, 1.0, 10.0):
        goals = [lw.Reach("left_hand", position=left, weight=weight), lw.Reach("right_hand", position=right)]
        errors.append(lw.solve(body, goals, method=FABRIK).residuals[0])
    assert errors[0] > errors[1] > errors[2]


def test_two_frames_of_one_bone_and_one_of_the_bone_above() -> None:
    arm = lw.Builder("arm").ball("a", "one").frame("middle", at=(0.5, 0, 0)).ball("b", "two", at=(1, 0, 0))
    arm = arm.frame("tip", at=(1, 0, 0)).frame("thumb", at=(0.8, 0.3, 0)).build()
    q = arm.random_pose(0)
    goals = [lw.Reach(f, position=arm.forward(q, frame=f)[:3, 3]) for f in ("tip", "thumb", "middle")]
    assert lw.solve(arm, goals, start=arm.random_pose(1), method=FABRIK).success


def test_a_goal_that_no_joint_moves_is_told_to_be_missed() -> None:
    arm = lw.models.planar(2)
    solution = lw.solve(arm, lw.Reach("link0", position=(1, 1)), method=FABRIK)
    assert solution.residual == pytest.approx(np.sqrt(2))
    assert not solution.success


# Refused input


@pytest.mark.parametrize("kind", SLIDING)
def test_joints_that_slide_are_refused_by_name(kind: str) -> None:
    linkage = one_joint(JOINTS[kind])
    with pytest.raises(GoalError, match=r"'joint' on the way to frame 'tip' is \w+: use .*'damped'"):
        lw.solve(linkage, lw.Reach("tip", position=(1, 1, 1)), method=FABRIK)


@pytest.mark.parametrize("kind", TURNING)
def test_joints_that_turn_are_served(kind: str) -> None:
    linkage = one_joint(JOINTS[kind])
    start = linkage.neutral()
    goal = goal_of(linkage.forward(linkage.clamp(linkage.integrate(start, np.full(linkage.nv, 0.2))), frame="tip"))
    assert lw.solve(linkage, goal, start=start, method=FABRIK).success


def test_followers_are_refused_and_joints_off_the_way_do_not_matter() -> None:
    b = lw.Builder("gripper").revolute("wrist", "hand").revolute("left", "finger", at=(1, 0, 0))
    b.frame("tip", at=(1, 0, 0))
    b.revolute("right", "thumb", parent="hand", mimic="left").frame("thumb_tip", at=(1, 0, 0))
    linkage = b.prismatic("slide", "tray", parent="base").build()
    with pytest.raises(GoalError, match="'right' on the way to frame 'thumb_tip' follows 'left'"):
        lw.solve(linkage, lw.Reach("thumb_tip", position=(1, 1)), method=FABRIK)
    assert lw.solve(linkage, lw.Reach("tip", position=(1, 1)), method=FABRIK).success


def test_goals_that_are_no_places_are_refused() -> None:
    with pytest.raises(GoalError, match="Reach goals only, got Goal"):
        FABRIK.check(SimpleNamespace(linkage=lw.models.planar(2), goals=(Goal(),)))


@pytest.mark.parametrize("value", [(), -1.0, (0.5, np.nan), "fast", np.inf])
@pytest.mark.parametrize("option", ["foresight", "overshoot"])
def test_wrong_options_are_refused(option: str, value: object) -> None:
    with pytest.raises(OptionError, match=option):
        Fabrik(**{option: value})


# The method as published


def published_pass(points: np.ndarray, goal: np.ndarray) -> np.ndarray:
    """The two loops of the paper's algorithm 1, on points alone."""
    p, lengths = points.copy(), np.linalg.norm(np.diff(points, axis=0), axis=1)
    p[-1] = goal
    for i in reversed(range(len(lengths))):
        p[i] = p[i + 1] + lengths[i] * (p[i] - p[i + 1]) / np.linalg.norm(p[i] - p[i + 1])
    p[0] = points[0]
    for i in range(len(lengths)):
        p[i + 1] = p[i] + lengths[i] * (p[i + 1] - p[i]) / np.linalg.norm(p[i + 1] - p[i])
    return p


@pytest.mark.parametrize("make", [lambda: lw.models.planar(5), ball_snake], ids=["planar", "snake"])
@pytest.mark.parametrize("seed", range(5))
def test_one_step_is_one_pass_of_the_paper(make: Callable[[], lw.Linkage], seed: int) -> None:
    linkage = make()
    q, there = linkage.random_pose(seed), linkage.random_pose(seed + 50)
    goal = goal_of(linkage.forward(there, frame="tip"))
    problem = Problem(linkage, goal)
    change = PUBLISHED.propose(State(problem, q, problem.error(q)), Settings())
    frames = [*linkage.links[1:], "tip"]

    def points(pose: np.ndarray) -> np.ndarray:
        return np.array([linkage.forward(pose, frame=frame)[:3, 3] for frame in frames])

    after = points(linkage.integrate(q, change))
    assert_allclose(after, published_pass(points(q), goal.target[:3, 3]), atol=2e-4 * linkage.length)


def test_the_largest_step_is_held() -> None:
    arm = lw.models.planar(5)
    solution = lw.solve(arm, lw.Reach("tip", position=(-2, 2)), method=FABRIK, max_step=0.1, trace=True)
    assert solution.success
    assert max(np.abs(record.step).max() for record in solution.trace) <= 0.1 + 1e-12
    assert {"foresight", "overshoot"} <= set(solution.trace[0].notes)


# Parts


def test_hinges_through_one_point_make_one_bone() -> None:
    bones = skeleton(lw.models.panda(), ["tip"])
    assert [len(bone.turns) for bone in bones] == [2, 1, 1, 2, 1]
    assert [bone.above for bone in bones] == [-1, 0, 1, 2, 3]


def test_branches_keep_their_bones_apart() -> None:
    bones = skeleton(two_armed(), ["left_hand", "right_hand"])
    assert [bone.above for bone in bones] == [-1, 0, 1, 0, 3]
    assert [[k for k, _ in bone.effectors] for bone in bones] == [[], [], [0], [], [1]]


@njit(**ARITHMETIC)
def fit_rotation(M, room, out):
    """Call a function that only kernels call."""
    best_rotation(flat(M), flat(room), flat(out))


def test_the_best_rotation_solves_wahbas_problem() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        rays, weights, turned = rng.normal(size=(4, 3)), rng.uniform(0.1, 1.0, 4), random_rotation(rng)
        places = rays @ turned.T + 0.1 * rng.normal(size=(4, 3))
        out = np.empty((3, 3))
        fit_rotation(np.einsum("k,ki,kj->ij", weights, rays, places), np.empty(32), out)
        expected, _ = Rotation.align_vectors(places, rays, weights=weights)
        assert_allclose(out, expected.as_matrix(), atol=1e-9)
