"""The compiled solver of whole bodies: its normal matrix, compared with Jacobians of goals; limits, levels, motions."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

import linkwork as lw
from goal_variants import LINKAGES, VARIANTS, heavy, make, variant_of
from linkwork.errors import FrameNotFoundError, GoalError, OptionError
from linkwork.goals import GOALS, Block, Goal
from linkwork.kernels import kernel
from linkwork.kernels.body_layout import HEADER, slice_scratch
from linkwork.kernels.body_search import REPORT, assemble, evaluate, search_bodies
from linkwork.kernels.lanes import cells
from linkwork.linkage.joints import Joint, Planar
from linkwork.solvers import Problem, Settings
from linkwork.solvers.body_solver import EMPHASIS, BodySolver, body_solver_for, can_compile
from linkwork.solvers.goal_arrays import PACKERS


@kernel("i8[] f8[] f8[] i8 f8[] f8[] f8[] f8[] f8[]")
def body_normal(codes, numbers, aims, level, q, memory, matrix, gradient, errors):
    """Write the normal matrix, the gradient and the errors at one pose."""
    c = cells(codes)
    scratch, n = slice_scratch(c, cells(memory)), c[HEADER.columns]
    evaluate(c, cells(numbers), cells(aims), level, cells(q), scratch)
    assemble(c, cells(numbers), cells(aims), level, cells(q), scratch)
    for i in range(n):
        gradient[i] = scratch.gradient[i]
        for j in range(i + 1):
            matrix[n * i + j] = matrix[n * j + i] = scratch.matrix[n * i + j]
    for k in range(c[HEADER.errors]):
        errors[k] = scratch.errors[k]


FEET = [f"{side}_{part}" for side in ("left", "right") for part in ("heel", "toe")]
HUMAN = lw.models.human(root="floating")
STAND = HUMAN.stored_pose("stand")


def body_goals(height: float = 1.2, **options: Any) -> list[Goal]:
    """Return goals of a body that stands, looks and reaches."""
    sides = (("left", 0.25), ("right", -0.25))
    hands = [lw.Reach(f"{side}_hand", position=(0.35, y, height), **options) for side, y in sides]
    feet = [lw.Hold(f"{side}_foot", pose=HUMAN.forward(STAND, frame=f"{side}_foot")) for side, _ in sides]
    return [*hands, *feet, lw.LookAt("eyes", at=(2, 0, 1)), lw.Balance(over=FEET)]


def check_normal(linkage: lw.Linkage, goals: list[Goal], q: NDArray[np.float64]) -> None:
    """Compare the kernels' errors, normal matrix and gradient with those of the goals themselves."""
    problem = Problem(linkage, goals, linkage.neutral())
    prepared = BodySolver(problem, Settings(), restarts=1, seed=0)
    columns, n = prepared.program.columns, len(prepared.program.columns)
    matrix, gradient, errors = np.zeros(n * n), np.zeros(n), np.zeros(problem.blocks[-1].rows.stop)
    program, memory = prepared.program, np.full(prepared.program.scratch_size, np.nan)
    aims = prepared.goal_numbers(problem.goals)
    body_normal(program.codes, program.numbers, aims, 1, q, memory, matrix, gradient, errors)
    lower = problem.priorities > problem.priorities.min()
    scale = problem.scale * np.where(lower, EMPHASIS[1], 1.0)
    jacobian, error = problem.all_rows_jacobian(q) * scale[:, None], problem.error(q)
    assert_allclose(errors, error, atol=1e-12)
    assert_allclose(matrix.reshape(n, n), (jacobian.T @ jacobian)[np.ix_(columns, columns)], atol=1e-10)
    assert_allclose(gradient, (jacobian.T @ (error * scale))[columns], atol=1e-10)
    assert not np.abs(np.delete(jacobian, columns, axis=1)).max(initial=0.0) > 1e-12  # omitted columns are zero


# Kernels agree with goals


def test_every_goal_has_a_compiled_form() -> None:
    build, frames = LINKAGES["human"]
    figure = build()
    made = [make(kind, figure, frames, figure.neutral()) for kind in GOALS]
    assert {type(goal.resolve(figure, figure.neutral())) for goal in made} <= set(PACKERS)


@pytest.mark.parametrize("name", LINKAGES)
@pytest.mark.parametrize("kind", GOALS)
def test_normal_matrix_of_every_goal(name: str, kind: str) -> None:
    build, frames = LINKAGES[name]
    linkage, rng = heavy(build()), np.random.default_rng(3)
    goal = make(kind, linkage, frames, linkage.random_pose(rng), weight=1.7)
    for q in linkage.random_pose(rng, 3):
        check_normal(linkage, [goal], q)


@pytest.mark.parametrize("name", LINKAGES)
@pytest.mark.parametrize("variant", VARIANTS)
def test_normal_matrix_of_every_variant(name: str, variant: str) -> None:
    build, frames = LINKAGES[name]
    linkage, rng = heavy(build()), np.random.default_rng(4)
    check_normal(linkage, [variant_of(variant, linkage, frames, linkage.random_pose(rng))], linkage.random_pose(rng))


@pytest.mark.parametrize("name", LINKAGES)
def test_normal_matrix_of_all_goals_together(name: str) -> None:
    build, frames = LINKAGES[name]
    linkage, rng = heavy(build()), np.random.default_rng(5)
    q = linkage.random_pose(rng)
    several = [make(kind, linkage, frames, linkage.random_pose(rng), priority=k % 2) for k, kind in enumerate(GOALS)]
    check_normal(linkage, several, q)


def test_followers_count_in_their_leaders_column() -> None:
    lead, half, back = lw.Revolute("z", -1.0, 1.0), lw.Mimic("lead", 0.7, 0.1), lw.Mimic("lead", -0.3)
    hand = lw.Linkage(
        [lw.Link(name) for name in ("palm", "one", "two", "three")],
        [
            lw.Joint("lead", "palm", "one", lead, placement=lw.transforms.translation((0.1, 0.0, 0.0))),
            lw.Joint("tip", "one", "two", lw.Revolute("y"), mimic=half),
            lw.Joint("thumb", "palm", "three", lw.Prismatic("x"), mimic=back),
        ],
        frames=[lw.Frame("end", "two", lw.transforms.translation((0.1, 0.0, 0.05)))],
        root="floating",
    )
    goals: list[Goal] = [lw.Reach("end", orientation=np.eye(4)), lw.Reach("three", position=(0.1, 0.2, 0.3))]
    check_normal(hand, goals, hand.random_pose(1))
    check_normal(hand, [*goals, lw.Relate("end", "three", position=(0, 0, 0))], hand.random_pose(2))


# Solving


def test_a_figure_stands_looks_and_reaches() -> None:
    solution = lw.solve(HUMAN, body_goals(), start=STAND)
    assert solution.success
    assert solution.method == "robust"
    feet = [np.linalg.norm((HUMAN.forward(solution.q, frame=f) - HUMAN.forward(STAND, frame=f))[:3, 3]) for f in FEET]
    assert max(feet) < 1e-4
    assert_allclose(
        solution.residuals,
        Problem(HUMAN, solution.goals).residuals(Problem(HUMAN, solution.goals).error(solution.q)),
        atol=1e-12,
    )


@pytest.mark.parametrize("seed", range(5))
def test_bounds_hold_to_the_last_bit(seed: int) -> None:
    rng = np.random.default_rng(seed)
    hands = [lw.Reach(f"{side}_hand", position=rng.uniform(-1.5, 1.5, 3)) for side in ("left", "right")]
    solution = lw.solve(HUMAN, [*hands, lw.Hold("left_foot")], start=STAND, restarts=3)
    assert (solution.q >= HUMAN.lower).all()
    assert (solution.q <= HUMAN.upper).all()
    for k, _ in HUMAN.table.quaternions:
        assert_allclose(np.linalg.norm(solution.q[k : k + 4]), 1.0)


def test_goals_from_random_poses_are_found_again() -> None:
    rng, frames = np.random.default_rng(7), ("left_hand", "right_hand", "left_foot", "right_foot", "head")
    ik = lw.prepare(HUMAN, [lw.Reach(frame, orientation=np.eye(4)) for frame in frames])
    problems = []
    for q in HUMAN.random_pose(rng, 20):
        problems.append([lw.Reach(frame, orientation=HUMAN.forward(q, frame=frame)) for frame in frames])
    answers = ik.batch(problems, start=STAND)
    assert answers.success.all()
    for goals, q in zip(problems, answers.q, strict=True):
        for goal in goals:
            assert np.linalg.norm(goal.error(HUMAN, q)[:3]) <= 1e-4
            assert np.linalg.norm(goal.error(HUMAN, q)[3:]) <= 1e-3


def test_success_is_what_the_goals_say_of_the_pose() -> None:
    rng = np.random.default_rng(8)
    for _ in range(10):
        goals = [
            lw.Reach("left_hand", position=rng.uniform(-1, 1, 3)),
            lw.Reach("right_hand", position=rng.uniform(-1, 1, 3)),
        ]
        solution = lw.solve(lw.models.human(), goals, restarts=5)
        problem = Problem(solution.linkage, solution.goals)
        residuals = problem.residuals(problem.error(solution.q))
        assert_allclose(solution.residuals, residuals, atol=1e-12)
        assert solution.success == bool((residuals <= 1e-4).all())


def test_the_same_seed_gives_the_same_answer_for_any_threads() -> None:
    ik = lw.prepare(HUMAN, body_goals())
    problems = [body_goals(height) for height in np.linspace(0.3, 2.2, 12)]
    one, two = ik.batch(problems, start=STAND, threads=1), ik.batch(problems, start=STAND, threads=3)
    assert_array_equal(one.q, two.q)
    assert_array_equal(one.success, two.success)
    assert not one.success.all()  # the highest are out of reach


def test_eight_threads_share_a_prepared_solver() -> None:
    ik = lw.prepare(HUMAN, [*body_goals(), lw.Rest(STAND)])
    problems = [[*body_goals(height), lw.Rest(STAND)] for height in np.linspace(0.4, 2.4, 8)]  # the last out of reach
    alone = [ik(goals, start=STAND) for goals in problems]
    with ThreadPoolExecutor(8) as pool:
        shared = list(pool.map(lambda goals: ik(goals, start=STAND), problems * 2))
    for one, many in zip(alone * 2, shared, strict=True):
        assert_array_equal(one.q, many.q)
        assert_array_equal(one.residuals, many.residuals)
        assert (one.status, one.iterations) == (many.status, many.iterations)


def test_a_time_budget_is_no_reason_to_prepare_again() -> None:
    problem = Problem(HUMAN, body_goals())
    one, other = (body_solver_for(problem, Settings(time_budget=budget), 10, 0) for budget in (1.0, 2.0))
    assert one is other
    assert one.settings.time_budget is None
    assert one.solve(problem.goals, STAND, time_budget=2.0).settings.time_budget == 2.0


def test_the_kernel_keeps_to_its_scratch_memory() -> None:
    goals = [*body_goals(), lw.Rest(STAND), lw.Relate("left_hand", "right_hand", position=(0, 0, 0), priority=1)]
    problem = Problem(HUMAN, goals, STAND)
    ik = BodySolver(problem, Settings(), restarts=2, seed=0)
    program, guard = ik.program, 64
    memory, status = np.full(program.scratch_size + guard, np.nan), np.zeros(1, np.int64)
    search_bodies(
        program.codes,
        program.numbers,
        ik.steering,
        ik.goal_numbers(problem.goals),
        program.size,
        0,
        False,
        0,
        2,
        memory,
        STAND.copy(),
        np.zeros(REPORT.size + len(problem.blocks)),
        status,
    )
    assert np.isnan(memory[-guard:]).all()


def test_following_is_solving_from_the_pose_before() -> None:
    heights = np.linspace(1.0, 1.3, 8)
    ik = lw.prepare(HUMAN, body_goals())
    followed = ik.follow([body_goals(height) for height in heights], start=STAND)
    assert followed.success.all()
    q = STAND
    for height, pose in zip(heights, followed.q, strict=True):
        q = ik(body_goals(height), start=q).q
        assert_array_equal(q, pose)
    assert np.abs(np.diff(followed.q, axis=0)).max() < 0.3


def test_weights_may_change_from_frame_to_frame() -> None:
    ik = lw.prepare(HUMAN, body_goals())
    light, strong = (ik(body_goals(2.5, weight=w), start=STAND) for w in (0.01, 100.0))  # out of reach: a compromise
    assert light.residuals[0] > strong.residuals[0] + 0.01


@pytest.mark.parametrize("away", [100.0, 1e6])
@pytest.mark.parametrize("root", ["planar", "floating"])
def test_a_body_with_a_free_root_goes_to_goals_far_away(root: str, away: float) -> None:
    body, rng = lw.models.human(root=root), np.random.default_rng(6)
    problems = []
    for pose in body.random_pose(rng, 8):
        frames, shift = body.forward(pose), (*rng.uniform(-away, away, 2), 0.0)
        names = ("left_hand", "right_hand", "left_foot", "right_foot")
        problems.append([lw.Reach(name, position=frames[name][:3, 3] + shift) for name in names])
        assert lw.solve(body, problems[-1]).success
    assert lw.prepare(body, problems[0]).batch(problems).success.all()


def test_goals_on_an_arm_whose_slides_are_endless_are_reached() -> None:
    far, rng = (1e6, 1e6, 3.0), np.random.default_rng(7)
    base = Joint("base", None, "panda_link0", Planar("z", tuple(-x for x in far), far))
    arm = lw.models.panda().replace(root=base)
    for pose in arm.random_pose(rng, 8):
        frames = arm.forward(pose)
        goals = [lw.Reach("tip", pose=frames["tip"]), lw.Reach("panda_link4", position=frames["panda_link4"][:3, 3])]
        assert lw.solve(arm, goals).success


def test_joints_that_no_goal_depends_on_stay() -> None:
    figure = lw.models.human()
    start = figure.random_pose(3)
    solution = lw.solve(
        figure, [lw.Reach("left_hand", position=(0.3, 0.3, 1)), lw.LookAt("eyes", at=(2, 1, 1))], start=start
    )
    legs = [figure.coordinate_index[name] for name in figure.coordinates if "knee" in name or "hip" in name]
    assert legs
    assert_array_equal(solution.q[legs], start[legs])


def test_a_wish_is_followed_as_far_as_the_goals_let_it() -> None:
    near = lw.solve(HUMAN, [*body_goals(), lw.Rest(STAND)], start=HUMAN.random_pose(4))
    far = lw.solve(HUMAN, body_goals(), start=HUMAN.random_pose(4))
    assert near.success
    away = [np.linalg.norm(HUMAN.difference(STAND, solution.q)) for solution in (near, far)]
    assert away[0] < 0.7 * away[1]
    assert near.residuals[:8].max() < 1e-8  # the lower level does not affect the one above


def test_a_time_budget_is_kept_and_told() -> None:
    goals = [lw.Reach("left_hand", position=(5, 0, 0)), lw.Reach("right_hand", position=(-5, 0, 0))]
    assert lw.solve(HUMAN, goals, start=STAND, time_budget=1e-6).status == "time"
    assert lw.solve(HUMAN, goals, start=STAND, restarts=2).status == "closest"
    assert lw.solve(HUMAN, body_goals(), start=STAND, time_budget=60.0).success


def test_many_starts_in_one_call() -> None:
    starts = HUMAN.random_pose(5, (2, 3))
    many = lw.solve(HUMAN, body_goals(), start=starts)
    assert many.q.shape == starts.shape
    assert many.success.shape == (2, 3)
    first = lw.solve(HUMAN, body_goals(), start=starts[0, 0])  # problem number 0 of the many
    assert_array_equal(many.q[0, 0], first.q)


# Unsupported goals


@dataclass(frozen=True, eq=False)
class Still(Goal):
    """A user-defined goal: a joint at zero."""

    @property
    def blocks(self) -> tuple[Block, ...]:
        return (Block(slice(0, 1), "rad"),)

    @property
    def signature(self) -> tuple[Any, ...]:
        return "Still", *self.common

    def error(self, linkage: lw.Linkage, q: NDArray[np.float64]) -> NDArray[np.float64]:  # noqa: ARG002
        return -np.asarray(q)[..., :1]

    def jacobian(self, linkage: lw.Linkage, q: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.broadcast_to(np.eye(1, linkage.nv), (*np.shape(q)[:-1], 1, linkage.nv)).copy()

    def changeable(self, linkage: lw.Linkage) -> NDArray[np.bool_]:  # noqa: ARG002
        return np.ones(1, np.bool_)


def test_a_goal_of_ones_own_is_solved_in_numpy() -> None:
    arm = lw.models.planar([1, 1, 1])
    goals = [Still(), lw.Reach("tip", position=(1, 1))]
    assert not can_compile(Problem(arm, goals))
    assert lw.solve(arm, goals, start=[0.4, 0.4, 0.4]).success
    with pytest.raises(GoalError, match=r"solve\(\.\.\.\) takes all"):
        lw.prepare(arm, goals)


@pytest.mark.parametrize("levels", [2, 3, 4])
def test_levels_are_strict_compiled_or_not(levels: int) -> None:
    arm = lw.models.planar([1, 1, 1, 1])
    hand, elbow = lw.Reach("tip", position=(1, 1)), lw.Reach("link2", position=(3, 0.5), priority=1)
    rest = [lw.Rest([0.1, 0.2, 0.3, 0.4], priority=2), lw.Rest(priority=3)]
    goals = [hand, elbow, *rest][:levels]
    assert can_compile(Problem(arm, goals)) == (levels < 4)
    few, more = (lw.solve(arm, some, start=[0.4, 0.4, 0.4, 0.4]) for some in (goals[:2], goals))
    assert few.residuals[0] < 1e-8
    assert more.residuals[0] < 1e-8
    assert abs(more.residuals[1] - few.residuals[1]) < 1e-8


def test_wrong_use_is_told() -> None:
    ik = lw.prepare(HUMAN, body_goals())
    with pytest.raises(GoalError, match="prepare another one"):
        ik(body_goals()[:2])
    with pytest.raises(GoalError, match="prepare another one"):
        ik([lw.Reach("left_foot", position=(0, 0, 0)), *body_goals()[1:]])
    with pytest.raises(GoalError, match="at least one"):
        ik.follow([])
    with pytest.raises(OptionError, match="one start"):
        ik(body_goals(), start=[STAND, STAND])
    with pytest.raises(OptionError, match="one pose or 2"):
        ik.batch([body_goals(), body_goals()], start=[STAND] * 3)
    with pytest.raises(OptionError, match="goals have their own"):
        lw.prepare(HUMAN, body_goals(), orientation=False)
    with pytest.raises(FrameNotFoundError):
        lw.prepare(HUMAN, [lw.Reach("left_hnad", position=(0, 0, 0))])
    fixed = lw.Linkage([lw.Link("stone")])
    with pytest.raises(GoalError, match="nothing moves"):
        lw.prepare(fixed, [lw.Reach("stone", position=(0, 0, 1))])
    assert "6 goals" in repr(ik)


def test_success_counts_what_the_levels_above_a_wish_reach() -> None:
    arm, rng = lw.models.panda(), np.random.default_rng(1)
    for _ in range(30):
        place, start, rest = arm.forward(arm.random_pose(rng), frame="tip")[:3, 3], *arm.random_pose(rng, 2)
        pointing = lw.Align("tip", axis="z", direction=rng.normal(size=3), priority=1)
        goals = [lw.Reach("tip", position=place), pointing, lw.Rest(rest, priority=2)]
        solution = lw.solve(arm, goals, start=start)
        place_error, turn_error = (np.linalg.norm(goal.error(arm, solution.q)) for goal in goals[:2])
        assert solution.success == (place_error <= 1e-4 and turn_error <= 1e-3)


def test_goals_out_of_reach_end_where_no_step_helps() -> None:
    figure, rng = lw.models.human(), np.random.default_rng(5)
    for _ in range(4):
        left, right = rng.normal(size=(2, 3)) * 2 + (0, 0, 1)
        hands = [lw.Reach("left_hand", position=left), lw.Reach("right_hand", position=right)]
        first = lw.solve(figure, [*hands, lw.Hold("left_foot")], start="stand", restarts=20)
        again = lw.solve(figure, first.goals, start=first.q, restarts=0)
        assert not first.success
        assert_allclose(again.residuals, first.residuals, atol=1e-3)


@pytest.mark.parametrize("weight", [1e-300, 1e-30, 1e30, 1e300])
def test_weights_of_a_level_count_beside_each_other(weight: float) -> None:
    arm = lw.models.planar([1, 1, 1])
    plane = lw.OnPlane("link2", point=(0.5, 0, 0), normal="x", weight=weight)
    assert lw.solve(arm, [lw.Reach("tip", position=(1, 1), weight=weight), plane], start=[0.1, 0.2, 0.3]).success


def test_a_time_budget_counts_for_all_starts_together() -> None:
    far = [lw.Reach("right_hand", position=(0, 0, 4)), *body_goals()[2:]]
    solution = lw.solve(HUMAN, far, start=np.tile(STAND, (20, 1)), time_budget=1e-9)
    assert set(solution.status.tolist()) == {"time"}
    assert solution.iterations.max() < 500  # one descent each; 300 further starts would take thousands of steps


def test_problems_may_come_from_a_generator() -> None:
    ik = lw.prepare(HUMAN, body_goals())
    for solve in (ik.batch, ik.follow):
        assert solve((body_goals(height) for height in (1.1, 1.2)), start=STAND).success.all()
    with pytest.raises(GoalError, match="there are no starts"):
        lw.solve(HUMAN, [lw.Hold("left_foot"), lw.Hold("right_foot")], start=np.zeros((0, HUMAN.nq)))


def test_answers_have_unit_quaternions_also_of_joints_that_stay() -> None:
    start = STAND.copy()
    start[3:7] *= 7.3
    ratio = lw.Couple({"left_elbow": 1.0, "right_elbow": -1.0})
    solution = lw.solve(HUMAN, [ratio, lw.Rest("stand", gains={"left_elbow": 1.0})], start=start, limits="ignore")
    assert_allclose(np.linalg.norm(solution.q[3:7]), 1.0, atol=1e-15)


def test_levels_above_a_wish_are_as_well_off_in_many_problems_as_in_one() -> None:
    arm, rng = lw.models.panda(), np.random.default_rng(1)
    problems, starts = [], arm.random_pose(rng, 30)
    for _ in starts:
        place = arm.forward(arm.random_pose(rng), frame="tip")[:3, 3]
        pointing = lw.Align("tip", axis="z", direction=rng.normal(size=3), priority=1)
        problems.append([lw.Reach("tip", position=place), pointing, lw.Rest(arm.random_pose(rng), priority=2)])
    ik = lw.prepare(arm, problems[0])
    alone = [ik(goals, start=start) for goals, start in zip(problems, starts, strict=True)]
    together, three = (ik.batch(problems, start=starts, threads=threads) for threads in (1, 3))
    assert_array_equal(together.q, three.q)
    for k, (goals, start, one) in enumerate(zip(problems, starts, alone, strict=True)):
        followed, many = ik.follow([goals], start=start), lw.solve(arm, goals, start=start[None])
        for success, residuals in (
            (together.success[k], together.residuals[k]),
            (followed.success[0], followed.residuals[0]),
            (many.success[0], many.residuals[0]),
        ):
            assert success or not one.success
            assert success or residuals[1] <= one.residuals[1] + 1e-6


def test_a_solve_of_wishes_alone_says_so() -> None:
    reach = lw.Reach("right_hand", position=(0.3, -0.2, 1.2), tolerance=np.inf)
    assert lw.solve(HUMAN, [reach, lw.Rest("stand", tolerance=np.inf)], start=STAND).reason.startswith(
        "reached: nothing but wishes after"
    )
