# ruff: noqa: ARG005
"""One contract over every method, linkage and kind of goal; then the properties of each method."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkages import JOINTS, one_joint
from linkwork.errors import FrameNotFoundError, GoalError, LinkworkError, MethodNotFoundError, OptionError
from linkwork.explain.diagnosis import diagnose
from linkwork.solvers import METHODS, Settings, configure
from linkwork.solvers.jacobian import Control, times
from linkwork.solvers.problem import Problem, State

START = np.array([np.pi / 8, np.pi / 4, np.pi / 4])


def human_arm() -> lw.Linkage:
    figure = lw.models.human()
    shoulder = figure.nodes[figure.parents[figure.link_index("right_upper_arm")]].name
    return figure.subtree(shoulder)


LINKAGES = {
    "planar": lambda: lw.models.planar([15, 10, 5]),
    "panda": lw.models.panda,
    "ur5": lw.models.ur5,
    "stanford": lw.models.stanford,
    "human arm": human_arm,
    "snake": lambda: lw.models.snake(8),
    "balls": lambda: (
        lw.Builder("balls").ball("a", "l1").ball("b", "l2", at=(0, 0, 0.4)).ball("c", "l3", at=(0, 0, 0.3))
        .frame("tip", at=(0, 0, 0.3)).build()
    ),
}  # fmt: skip
SLOW = {"transpose", "ccd", "ranked-ccd"}
every_method = pytest.mark.parametrize("method", METHODS)
every_linkage = pytest.mark.parametrize("name", LINKAGES)


def end(linkage: lw.Linkage) -> str:
    return "tip" if "tip" in linkage.frames else linkage.frames[-1]


def goal_at(linkage: lw.Linkage, q: np.ndarray, kind: str) -> lw.Reach:
    world = linkage.forward(q, frame=end(linkage))
    wanted = {"position": world[:3, 3], "orientation": world[:3, :3]}
    return lw.Reach(end(linkage), **{key: value for key, value in wanted.items() if kind in (key, "pose")})


def true_errors(linkage: lw.Linkage, goal: lw.Reach, q: np.ndarray) -> list[float]:
    """Return the position and rotation error of a pose, computed without the code under test."""
    world = linkage.forward(q, frame=goal.frame)
    errors = []
    if goal.position is not None:
        errors.append(float(np.linalg.norm(goal.position - world[: len(goal.position), 3])))
    if goal.orientation is not None:
        errors.append(
            float((Rotation.from_matrix(goal.orientation) * Rotation.from_matrix(world[:3, :3]).inv()).magnitude())
        )
    return errors


def nearby(linkage: lw.Linkage, rng: np.random.Generator, spread: float = 0.3) -> tuple[np.ndarray, np.ndarray]:
    """Return a start and a pose not far from it, both well within limits."""
    start = linkage.random_pose(rng)
    start = linkage.interpolate(linkage.neutral(), start, 0.6)
    return start, linkage.clamp(linkage.integrate(start, spread * rng.uniform(-1, 1, linkage.nv)))


# The contract

# Cases that a method must refuse, and cases that it may miss once because it converges slowly or gets stuck.
SERVED = {
    "inverse": lambda name, kind: kind == "pose" and name in ("planar", "ur5", "stanford"),  # a square Jacobian
    "alternative": lambda name, kind: kind != "orientation",
    "fabrik": lambda name, kind: name != "stanford",  # it has a prismatic joint
    "analytic": lambda name, kind: (
        (kind == "position" and name in ("planar", "panda", "human arm")) or (kind, name) == ("pose", "planar")
    ),
}
MAY_MISS_ONE = {
    "transpose": {("panda", "pose"), ("ur5", "pose"), ("stanford", "pose")},
    "ccd": {("ur5", "pose")},
    "ranked-ccd": {("panda", "pose"), ("ur5", "pose")},
    "fabrik": {("panda", "pose"), ("ur5", "pose"), ("snake", "orientation")},
}


@every_method
@every_linkage
@pytest.mark.parametrize("kind", ["position", "orientation", "pose"])
def test_a_method_reaches_what_is_near_or_says_why_not(method: str, name: str, kind: str) -> None:
    linkage = LINKAGES[name]()
    rng = np.random.default_rng(7)
    missed = 0
    for _ in range(2 if method in SLOW else 4):
        start, there = nearby(linkage, rng)
        goal = goal_at(linkage, there, kind)
        if method in SERVED and not SERVED[method](name, kind):
            with pytest.raises(GoalError, match=f"method '{method}'"):
                lw.solve(linkage, goal, start=start, method=method)
            continue
        solution = lw.solve(linkage, goal, start=start, method=method)
        missed += not solution
        assert_allclose(solution.residuals, true_errors(linkage, goal, solution.q), rtol=1e-6, atol=1e-9)
        within = (solution.q >= linkage.lower).all() and (solution.q <= linkage.upper).all()
        assert within
        tolerances = [1e-4 if block.unit == "m" else 1e-3 for block in goal.blocks]
        assert solution.success == bool((solution.residuals <= tolerances).all())
        assert (solution.status == "reached") == solution.success
        if solution:
            assert solution.reason.startswith("reached: ")
            assert f" after {solution.iterations} iteration" in solution.reason
        else:
            assert solution.reason.startswith(("not reached: ", "out of reach: ", "over-constrained: ", "too close: "))
    assert missed <= ((name, kind) in MAY_MISS_ONE.get(method, ()))


@every_method
def test_the_same_question_has_the_same_answer(method: str) -> None:
    arm = LINKAGES["planar"]()
    goal = lw.Reach("tip", position=(-20, 5), orientation={"euler": ("z", [2.0])}) if method == "inverse" else (
        lw.Reach("tip", position=(-20, 5))
    )  # fmt: skip
    answers = [lw.solve(arm, goal, start=START, method=method) for _ in range(2)]
    assert_array_equal(answers[0].q, answers[1].q)
    assert answers[0].iterations == answers[1].iterations


def test_a_redundant_arm_has_no_square_jacobian() -> None:
    with pytest.raises(GoalError, match="needs a square Jacobian: the goal has 2 rows and linkage 'planar' 3"):
        lw.solve(LINKAGES["planar"](), lw.Reach("tip", position=(-35, 5)), start=START, method="inverse")
    with pytest.raises(GoalError, match="needs a square Jacobian: the goal has 3 rows and linkage 'panda' 7"):
        lw.solve(lw.models.panda(), lw.Reach("tip", position=(0.5, 0.6, 0.2)), method="inverse")


@pytest.mark.parametrize("method", [name for name in METHODS if name != "inverse"])
def test_out_of_reach_ends_stretched_and_calm(method: str) -> None:
    arm = LINKAGES["planar"]()
    solution = lw.solve(arm, lw.Reach("tip", position=(-35, 5)), start=START, method=method, trace=True)
    assert not solution
    assert "35.36 m" in solution.reason
    assert "30 m" in solution.reason
    tip = arm.forward(solution.q, frame="tip")[:2, 3]
    nearest = 30.0 * np.array([-35.0, 5.0]) / np.hypot(35.0, 5.0)
    if method in ("damped", "selectively-damped", "robust", "transpose", "ccd", "fabrik", "analytic"):
        assert np.linalg.norm(tip - nearest) < 0.5
    if method in ("damped", "selectively-damped", "robust"):
        assert max(np.abs(record.step).max() for record in solution.trace) < 2.0


@pytest.mark.parametrize("method", [name for name in METHODS if name != "inverse"])
@pytest.mark.parametrize("limits", ["clamp", "project"])
def test_limits_hold_to_the_last_bit_at_every_step(method: str, limits: str) -> None:
    arm = lw.models.panda()
    goal = lw.Reach("tip", position=(0.5, 0.6, 0.2))
    solution = lw.solve(arm, goal, method=method, limits=limits, trace=True, max_iterations=40)
    for q in [record.q for record in solution.trace] + [solution.q]:
        assert (q >= arm.lower).all()
        assert (q <= arm.upper).all()


def test_ignored_limits_are_ignored() -> None:
    arm = LINKAGES["planar"]().replace(joints={"j1": {"lower": -0.1, "upper": 0.1}})
    solution = lw.solve(arm, lw.Reach("tip", position=(-20, 5)), method="damped", limits="ignore")
    assert solution.success
    assert abs(solution.q[0]) > 0.1


@pytest.mark.parametrize(
    "method", ["pseudoinverse", "damped", "selectively-damped", "control", "alternative", "transpose"]
)
def test_a_thousand_starts_in_one_call(method: str) -> None:
    arm = LINKAGES["planar"]()
    goal = lw.Reach("tip", position=(-20, 5))
    starts = arm.random_pose(0, (10, 100))
    many = lw.solve(arm, goal, start=starts, method=method)
    assert many.q.shape == (10, 100, 3)
    assert many.success.shape == many.iterations.shape == many.status.shape == (10, 100)
    assert many.residuals.shape == (10, 100, 1)
    one = lw.solve(arm, goal, start=starts[3, 7], method=method)
    assert_allclose(many.q[3, 7], one.q, atol=1e-9)
    assert many.iterations[3, 7] == one.iterations
    assert many.reason.startswith("1000 starts: ")
    assert many[3, 7].reason == one.reason
    assert many.explain().startswith(many.reason)


def test_several_effectors_at_once() -> None:
    figure = lw.models.human()
    there = figure.clamp(figure.neutral() + 0.1)
    goals = [lw.Reach(f, position=figure.forward(there, frame=f)[:3, 3]) for f in ("left_hand", "right_hand")]
    for method in ("pseudoinverse", "damped", "selectively-damped", "transpose", "robust", "ccd"):
        solution = lw.solve(figure, goals, method=method, max_iterations=400)
        assert solution.residuals.shape == (2,)
        assert solution.residual < 0.02, method


@pytest.mark.parametrize(
    "joint", ["prismatic-oblique", "screw-z", "universal", "planar-z", "ball", "ball-zxz", "floating"]
)
@pytest.mark.parametrize("method", ["damped", "pseudoinverse", "robust"])
def test_every_kind_of_joint_can_be_solved(joint: str, method: str) -> None:
    linkage = one_joint(JOINTS[joint])
    rng = np.random.default_rng(1)
    for _ in range(3):
        start, there = nearby(linkage, rng, 0.2)
        goal = lw.Reach("tip", position=linkage.forward(there, frame="tip")[:3, 3])
        assert lw.solve(linkage, goal, start=start, method=method).success


@pytest.mark.parametrize("method", ["pseudoinverse", "damped", "transpose"])
def test_steps_that_stray_from_the_way_are_halved(method: str) -> None:
    arm, goal = LINKAGES["planar"](), lw.Reach("tip", position=(-20, 5))

    def strayed(**options: float) -> float:
        solution = lw.solve(arm, goal, start=START, method=method, trace=True, halvings=12, **options)
        assert solution.success
        path = arm.forward(np.array([r.q for r in solution.trace] + [solution.q]), frame="tip")[:, :2, 3]
        way = np.array([-20, 5]) - path[:-1]
        way /= np.linalg.norm(way, axis=1, keepdims=True)
        step = np.diff(path, axis=0)
        return float(np.abs(step[:, 0] * way[:, 1] - step[:, 1] * way[:, 0]).max())

    assert strayed(stray=0.5) <= 0.5 + 1e-9 < strayed()


def test_budgets_end_a_solve() -> None:
    arm, goal = lw.models.panda(), lw.Reach("tip", position=(0.4, 0.3, 0.5))
    assert lw.solve(arm, goal, method="damped", max_iterations=0).iterations == 0
    few = lw.solve(arm, goal, method="transpose", max_iterations=2)
    assert few.status == "iterations"
    assert few.iterations == 2
    assert lw.solve(arm, goal, method="transpose", time_budget=1e-9).status == "time"


def test_the_trace_holds_every_iteration() -> None:
    arm = LINKAGES["planar"]()
    solution = lw.solve(arm, lw.Reach("tip", position=(-20, 5)), start=START, method="damped", trace=True)
    assert len(solution.trace) == solution.iterations
    assert_array_equal(solution.trace[0].q, START)
    for record in solution.trace:
        J = arm.jacobian(record.q, "tip")[:2]
        assert_allclose(record.singular_values, np.linalg.svd(J, compute_uv=False), rtol=1e-9)
        assert record.notes["damping"] > 0.0
    assert_allclose(solution.trace[0].residuals, [np.linalg.norm([-20, 5] - arm.forward(START, frame="tip")[:2, 3])])


# Properties of methods


def test_the_null_space_term_leaves_the_effector_alone() -> None:
    arm = lw.models.panda()
    rng = np.random.default_rng(0)
    problem = Problem(arm, lw.Reach("tip", position=(0.3, 0.2, 0.6)))
    for form in ("gradient", "printed"):
        for q in arm.random_pose(rng, 20):
            state = State(problem, q, problem.error(q))
            with_wish = Control(gains=rng.uniform(0, 1, 7), form=form).step(state)
            without = Control(gains=0.0).step(state)
            assert_allclose(times(state.jacobian, with_wish), times(state.jacobian, without), atol=1e-10)
            assert np.abs(with_wish - without).max() > 1e-4


def test_the_gradient_moves_towards_the_desired_angles_and_the_printed_form_does_not() -> None:
    arm = LINKAGES["planar"]()
    goal = lw.Reach("tip", position=arm.forward(START, frame="tip")[:2, 3])
    below = [1.0, 1.6, 1.0]
    problem = Problem(arm, goal)
    state = State(problem, START, problem.error(START))
    gradient = Control(desired=below, gains=0.1).step(state)
    printed = Control(desired=below, gains=0.1, form="printed").step(state)
    towards = np.array(below) - START
    assert gradient @ towards > 0.0
    assert printed @ towards < 0.0


def test_stiffer_joints_stay_nearer_their_desired_angle() -> None:
    ends = [lw.textbook.figure("5.22").panels[k].clip.poses[-1] for k in (0, 1)]
    assert abs(ends[0][1]) < abs(ends[1][1])
    assert abs(ends[1][2]) < abs(ends[0][2])


def test_any_wish_can_be_given_as_a_function() -> None:
    arm, goal = LINKAGES["planar"](), lw.Reach("tip", position=(-20, 5))
    by_function = lw.solve(arm, goal, start=START, method="control", z=lambda q: 0.1 * arm.difference([0, 0, 0], q))
    by_gains = lw.solve(arm, goal, start=START, method="control", gains=0.1, desired=[0, 0, 0])
    assert_allclose(by_function.q, by_gains.q, atol=1e-12)


def test_both_printed_forms_of_the_pseudoinverse() -> None:
    arm = LINKAGES["planar"]()
    goal = lw.Reach("tip", position=(-20, 5))
    rank_aware, rows = (
        lw.solve(arm, goal, start=START, method="pseudoinverse", form=form, max_iterations=1).q
        for form in ("auto", "rows")
    )
    assert_allclose(rank_aware, rows, atol=1e-12)
    two = lw.models.planar([2, 1])
    goal = lw.Reach("tip", position=(1, 2), orientation=np.eye(3))
    auto, columns = (
        lw.solve(two, goal, start=[0.3, 0.4], method="pseudoinverse", form=form, max_iterations=1).q
        for form in ("auto", "columns")
    )
    assert_allclose(auto, columns, atol=1e-12)
    with pytest.raises(GoalError, match="form='auto'"):
        lw.solve(arm, lw.Reach("tip", position=(1, 2)), start=[0, 0, 0], method="pseudoinverse", form="columns")


def test_the_inverse_finds_singularities_and_clamps() -> None:
    two = lw.models.planar([2, 1])
    solution = lw.solve(two, lw.Reach("tip", position=(2, 0.5)), start=[0.0, 1e-6], method="inverse", trace=True)
    assert solution.trace[0].notes["singular"]
    assert max(np.abs(record.step).max() for record in solution.trace) <= 0.5 + 1e-12
    assert solution.success
    with pytest.raises(GoalError, match=r"2 rows.*3 velocities"):
        lw.solve(LINKAGES["planar"](), lw.Reach("tip", position=(1, 2)), method="inverse")


def test_a_diverging_scale_of_the_transpose_is_noticed() -> None:
    arm, goal = LINKAGES["planar"](), lw.Reach("tip", position=(-20, 5))
    wild = lw.solve(arm, goal, start=START, method="transpose", scale=0.1)
    assert wild.status == "diverged"
    assert "diverged" in wild.reason
    assert lw.solve(arm, goal, start=START, method="transpose", scale=0.001).success


@pytest.mark.parametrize("name", ["planar", "panda", "ur5", "snake"])
def test_every_scale_of_the_transpose_reaches_or_is_told_what_is_wrong_with_it(name: str) -> None:
    arm = LINKAGES[name]() if name == "planar" else lw.models.build(name)
    frame = "head" if name == "snake" else "tip"
    start, there = (arm.interpolate(arm.neutral(), arm.random_pose(seed), 0.3) for seed in (1, 2))
    goal = lw.Reach(frame, position=arm.forward(there, frame=frame)[: 2 if name == "planar" else 3, 3])
    ends = []
    for power in range(-3, 7):
        solution = lw.solve(arm, goal, start=start, method="transpose", scale=10.0**power)
        ends.append(diagnose(solution).cause)
        if ends[-1] == "diverged":
            assert f"smaller scale than {10.0**power:g}" in solution.explain()
    assert set(ends) <= {"reached", "iterations", "diverged"}
    assert ends[-5:] == ["diverged"] * 5
    assert sorted(ends, key=["iterations", "reached", "diverged"].index) == ends


@pytest.mark.parametrize("method", ["control", "pseudoinverse", "alternative", "transpose"])
def test_answers_are_not_wound_up(method: str) -> None:
    arm, rng = LINKAGES["planar"](), np.random.default_rng(0)
    for goal in arm.forward(arm.random_pose(rng, 12), frame="tip")[:, :2, 3] * 1.1:
        start = arm.random_pose(rng) / 2.0
        solution = lw.solve(arm, lw.Reach("tip", position=goal), start=start, method=method)
        assert np.abs(solution.q - start).max() <= np.pi + 1e-9


def test_control_takes_no_wild_steps_and_reaches() -> None:
    arm, rng = LINKAGES["planar"](), np.random.default_rng(0)
    for goal in arm.forward(arm.random_pose(rng, 12), frame="tip")[:, :2, 3]:
        start = arm.random_pose(rng) / 2.0
        solution = lw.solve(arm, lw.Reach("tip", position=goal), start=start, method="control", trace=True)
        assert solution.success
        assert max(np.abs(record.step).max() for record in solution.trace) <= 0.5 + 1e-12
        assert max(np.abs(record.q - start).max() for record in solution.trace) < 2.0 * np.pi


def test_the_alternative_jacobian_puts_the_goal_in_place_of_the_tip() -> None:
    arm = lw.models.planar([2, 1])
    goal = lw.Reach("tip", position=(1, 2))
    problem = Problem(arm, goal)
    q = np.array([0.3, 0.5])
    state = State(problem, q, problem.error(q))
    elbow = arm.forward(q, frame="link2")[:2, 3]
    expected = np.array([[-2.0, -(2.0 - elbow[1])], [1.0, 1.0 - elbow[0]]])
    assert_allclose(METHODS["alternative"]().jacobian(state), expected, atol=1e-12)


@pytest.mark.parametrize("ranking", ["usefulness", "recency", "limits", lambda joints: joints.gain])
def test_rankings_change_one_joint_a_step(ranking: object) -> None:
    arm = LINKAGES["planar"]()
    solution = lw.solve(
        arm,
        lw.Reach("tip", position=(-20, 5)),
        start=START,
        method="ranked-ccd",
        ranking=ranking,
        trace=True,
        tolerance=0.5,
    )
    assert solution.success
    for record in solution.trace:
        assert np.count_nonzero(record.step) <= 1
        assert np.count_nonzero(record.step) == 0 or record.step[record.notes["joint"]] != 0.0


def test_ccd_puts_each_joint_at_its_best() -> None:
    arm = lw.models.panda()
    goal = goal_at(arm, arm.random_pose(3), "pose")
    settings = Settings()
    problem = Problem(arm, goal)
    q = arm.neutral()
    change = METHODS["ccd"]().propose(State(problem, q, problem.error(q)), settings)
    outermost = q.copy()
    outermost[6] = np.clip(q[6] + change[6], arm.lower[6], arm.upper[6])
    scale = arm.length / 4.0

    def cost(angle: float) -> float:
        pose = q.copy()
        pose[6] = angle
        world = arm.forward(pose, frame="tip")
        twist = scale**2 * (3.0 - np.trace(world[:3, :3].T @ goal.orientation))
        return float(np.sum((world[:3, 3] - goal.position) ** 2) / 2.0 + twist)

    costs = [cost(angle) for angle in np.linspace(arm.lower[6], arm.upper[6], 2001)]
    assert cost(outermost[6]) <= min(costs) + 1e-9


@pytest.mark.parametrize("method", ["damped", "selectively-damped", "robust"])
def test_damped_methods_stay_bounded_through_singularities(method: str) -> None:
    arm = lw.models.panda()
    rng = np.random.default_rng(5)
    for _ in range(6):
        folded = arm.random_pose(rng)
        folded[3] = arm.upper[3]  # elbow straight: the edge of reach
        through = arm.forward(folded, frame="tip")[:3, 3]
        direction = through - arm.forward(folded, frame=arm.links[2])[:3, 3]
        direction /= np.linalg.norm(direction)
        path = [lw.Reach("tip", position=through + s * direction) for s in np.linspace(-0.15, 0.1, 26)]
        clip = lw.track(arm, path, start=folded, method=method, **({"restarts": 0} if method == "robust" else {}))
        assert np.isfinite(clip.poses).all()
        assert np.abs(np.diff(clip.poses, axis=0)).max() < 1.5


# Wrong input


WRONG = {
    "no goal": (lambda a: lw.solve(a, []), GoalError, "needs a goal"),
    "not a goal": (lambda a: lw.solve(a, "tip"), GoalError, "needs a goal"),
    "nan": (lambda a: lw.Reach("tip", position=(np.nan, 0)), GoalError, "finite"),
    "infinite": (lambda a: lw.Reach("tip", position=(np.inf, 0, 0)), GoalError, "finite"),
    "one number": (lambda a: lw.Reach("tip", position=3.0), GoalError, "2 or 3"),
    "nothing asked": (lambda a: lw.Reach("tip"), GoalError, "asks for nothing"),
    "no rotation": (lambda a: lw.Reach("tip", orientation=2 * np.eye(3)), GoalError, "not a rotation"),
    "bare quaternion": (lambda a: lw.Reach("tip", orientation=[1, 0, 0, 0]), GoalError, "wxyz"),
    "weight": (lambda a: lw.Reach("tip", position=(1, 2), weight=-1), GoalError, "weight"),
    "frame": (lambda a: lw.solve(a, lw.Reach("tipp", position=(1, 2))), FrameNotFoundError, "did you mean 'tip'"),
    "method": (
        lambda a: lw.solve(a, lw.Reach("tip", position=(1, 2)), method="dampd"),
        MethodNotFoundError,
        "'damped'",
    ),
    "no name": (
        lambda a: lw.solve(a, lw.Reach("tip", position=(1, 2)), method=["damped"]),
        MethodNotFoundError,
        r"no method \['damped'\] in linkwork",
    ),
    "option": (lambda a: lw.solve(a, lw.Reach("tip", position=(1, 2)), dampin=1), OptionError, "no option 'dampin'"),
    "foreign option": (
        lambda a: lw.solve(a, lw.Reach("tip", position=(1, 2)), method="ccd", damping=1),
        OptionError,
        "'ccd' has no option 'damping'",
    ),
    "zero tolerance": (lambda a: lw.solve(a, lw.Reach("tip", position=(1, 2)), tolerance=0), OptionError, "tolerance"),
    "nan tolerance": (
        lambda a: lw.solve(a, lw.Reach("tip", position=(1, 2)), rotation_tolerance=np.nan),
        OptionError,
        "rotation_tolerance",
    ),
    "iterations": (
        lambda a: lw.solve(a, lw.Reach("tip", position=(1, 2)), max_iterations=2.5),
        OptionError,
        "max_iterations",
    ),
    "limits": (lambda a: lw.solve(a, lw.Reach("tip", position=(1, 2)), limits="hold"), OptionError, "'clamp'"),
    "start": (lambda a: lw.solve(a, lw.Reach("tip", position=(1, 2)), start=[0, 0]), LinkworkError, "shape"),
    "empty path": (lambda a: lw.track(a, []), GoalError, "empty"),
    "gains": (
        lambda a: lw.solve(a, lw.Reach("tip", position=(1, 2)), method="control", gains=[1, 2]),
        OptionError,
        "gains",
    ),
    "damping": (
        lambda a: lw.solve(a, lw.Reach("tip", position=(1, 2)), method="damped", damping=-1),
        OptionError,
        "damping",
    ),
}


@pytest.mark.parametrize(("call", "error", "message"), WRONG.values(), ids=WRONG)
def test_wrong_input_is_met_with_a_clear_error(call, error, message) -> None:
    with pytest.raises(error, match=message):
        call(LINKAGES["planar"]())


def test_a_method_may_be_made_beforehand() -> None:
    method, settings = configure("damped", {"damping": 2.0, "tolerance": 1e-3}, lw.models.panda())
    assert method.damping == 2.0
    assert settings.tolerance == 1e-3
    arm, goal = LINKAGES["planar"](), lw.Reach("tip", position=(-20, 5))
    assert_array_equal(
        lw.solve(arm, goal, start=START, method=method, tolerance=1e-3).q,
        lw.solve(arm, goal, start=START, method="damped", damping=2.0, tolerance=1e-3).q,
    )


@pytest.mark.parametrize("method", ["robust", "damped", "transpose", "ccd", "fabrik"])
def test_a_linkage_in_which_nothing_moves_is_refused(method: str) -> None:
    stone = lw.Builder("stone").fixed("weld", "top", at=(0, 0, 1)).frame("tip", at=(0.1, 0, 0)).build()
    for start in (None, stone.neutral(), np.zeros((3, 0))):
        with pytest.raises(GoalError, match="nothing moves in linkage 'stone'"):
            lw.solve(stone, lw.Reach("tip", position=(1, 0, 0)), start=start, method=method)
