"""Closed loops: gaps and their Jacobian, solves that keep loops closed, closing, driving and singular positions."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import linkwork as lw
from linkwork.errors import GoalError, JointNotFoundError, LinkageError, LoopError, OptionError
from linkwork.goals import closings
from linkwork.linkage.poses import advance
from linkwork.solvers.analytic import analytic_solutions

CLOSED = 1e-9
KINDS = ("point", "axis", "full")
STRICT = ("damped", "prioritized", "pseudoinverse", "robust")
ALONG = ("selectively-damped", "control", "transpose")
four_bars = pytest.mark.parametrize("lengths", [(0.4, 0.15, 0.35, 0.3), (1.0, 2.0, 1.9, 1.5), (4.0, 3.0, 2.0, 3.5)])


def gap(linkage: lw.Linkage, q: np.ndarray) -> float:
    return max(float(np.abs(goal.error(linkage, q)).max()) for goal in closings(linkage))


def spatial(kind: str) -> lw.Linkage:
    """Return two arms from one base whose hands are to meet."""
    b = lw.Builder("arms")
    for side, y in (("left", 0.2), ("right", -0.2)):
        b.ball(f"{side}_shoulder", f"{side}_upper", parent="base", at=(0, y, 0))
        b.revolute(f"{side}_elbow", f"{side}_lower", at=(0.3, 0, 0), axis="y", limits=("-150deg", "150deg"))
        b.ball(f"{side}_wrist", f"{side}_palm", at=(0.25, 0, 0))
        b.frame(f"{side}_hand", at=(0.05, 0.01, 0.02), rotation={"euler": ("xyz", (0.3, -0.2, 0.5))})
    return b.loop("grip", "left_hand", "right_hand", kind=kind).build()


# The goal


@pytest.mark.parametrize("kind", KINDS)
def test_the_jacobian_is_how_the_gap_shrinks(kind: str) -> None:
    linkage, rng, step = spatial(kind), np.random.default_rng(0), 1e-6
    goal = lw.Close(linkage.loops[0])
    for _ in range(4):
        near = lw.close(linkage, linkage.random_pose(rng))
        for q, exact in (
            (advance(linkage, near, rng.normal(0, 1e-7, linkage.nv)), True),
            (linkage.random_pose(rng), False),
        ):
            ways = np.eye(linkage.nv) * step
            slope = (
                goal.error(linkage, advance(linkage, q, -ways)) - goal.error(linkage, advance(linkage, q, ways))
            ) / (2 * step)
            jacobian, error = goal.jacobian(linkage, q), goal.error(linkage, q)
            if exact or kind == "point":
                assert_allclose(jacobian, slope.T, atol=2e-6)
            assert_allclose(error @ jacobian, slope @ error, atol=1e-5 * (1 + np.abs(error).max()))


@pytest.mark.parametrize("kind", KINDS)
def test_many_poses_give_what_each_gives(kind: str) -> None:
    linkage = spatial(kind)
    goal, q = lw.Close(linkage.loops[0]), linkage.random_pose(0, (2, 3))
    for k in np.ndindex(2, 3):
        assert_allclose(goal.error(linkage, q)[k], goal.error(linkage, q[k]), atol=1e-14)
        assert_allclose(goal.jacobian(linkage, q)[k], goal.jacobian(linkage, q[k]), atol=1e-14)


def test_only_a_loop_can_be_closed() -> None:
    with pytest.raises(GoalError, match="takes a Loop"):
        lw.Close("grip")  # type: ignore[arg-type]
    with pytest.raises(GoalError, match="priority"):
        lw.Reach("tip", position=(0, 0, 0), priority=-1)


# Solving


@pytest.mark.parametrize("method", STRICT + ALONG)
@pytest.mark.parametrize("kind", KINDS)
def test_a_solve_reaches_its_goal_and_closes_the_loops(method: str, kind: str) -> None:
    linkage = spatial(kind)
    q = lw.close(linkage, linkage.random_pose(3))
    place = linkage.forward(q, frame="left_hand")[:3, 3]
    start = advance(linkage, q, np.random.default_rng(0).normal(0, 0.1, linkage.nv))
    solution = lw.solve(linkage, lw.Reach("left_hand", position=place), start=start, method=method)
    assert solution.success, solution.reason
    assert gap(linkage, solution.q) < CLOSED
    assert_allclose(linkage.forward(solution.q, frame="right_hand")[:3, 3], place, atol=2e-4)


@pytest.mark.parametrize("method", sorted(set(lw.METHODS) - {*STRICT, *ALONG}))
def test_other_methods_say_that_they_cannot_close_loops(method: str) -> None:
    bars = lw.models.four_bar()
    with pytest.raises(GoalError, match=f"{method!r} cannot close loops"):
        lw.solve(bars, lw.Reach("point", position=(0.1, 0.3)), start="start", method=method)


@pytest.mark.parametrize("method", STRICT + ALONG)
def test_an_unreachable_goal_leaves_the_loops_closed(method: str) -> None:
    bars = lw.models.four_bar()
    solution = lw.solve(bars, lw.Reach("point", position=(3.0, 3.0)), start="start", method=method)
    assert not solution.success
    assert gap(bars, solution.q) < CLOSED


def test_a_pose_that_reaches_with_an_open_loop_is_no_success() -> None:
    bars = lw.models.four_bar()
    q = bars.pose(rocker=0.3, base="start")
    place = bars.forward(q, frame="point")[:2, 3]
    solution = lw.solve(bars, lw.Reach("point", position=place), start=q, max_iterations=0, method="damped")
    assert not solution.success


def test_loops_come_before_the_first_level_and_once() -> None:
    bars = lw.models.four_bar()
    solution = lw.solve(bars, [lw.Reach("point", position=(0.12, 0.25)), lw.Close(bars.loops[0])], start="start")
    assert [type(goal).__name__ for goal in solution.goals] == ["Reach", "Close"]
    assert solution.goals[1].priority < 0
    assert solution.freedom == 0


def test_many_starts_are_closed_together() -> None:
    bars = lw.models.four_bar()
    place = bars.forward(bars.stored_pose("start"), frame="point")[:2, 3]
    solution = lw.solve(bars, lw.Reach("point", position=place), start=bars.random_pose(0, 20), method="robust")
    assert solution.success.all()
    assert gap(bars, solution.q) < CLOSED


def test_tracking_keeps_loops_closed() -> None:
    board = lw.models.pantograph()
    center = board.forward(board.stored_pose("ready"), frame="tracer")[:2, 3]
    goals = [
        lw.Reach("tracer", position=center + 0.02 * np.array([math.cos(a), math.sin(a)])) for a in np.linspace(0, 6, 13)
    ]
    clip = lw.track(board, goals, start="ready")
    assert gap(board, clip.poses) < CLOSED
    assert clip.residuals is not None
    assert clip.residuals.max() < 1e-4


def test_the_compiled_search_refuses_loops() -> None:
    bars = lw.models.four_bar()
    goal = lw.Reach("point", position=(0.1, 0.3))
    for door in (
        lambda: lw.prepare(bars, "point", orientation=False),
        lambda: lw.solve_batch(bars, "point", np.zeros((3, 3)), orientation=False),
        lambda: lw.solve_all(bars, goal),
        lambda: analytic_solutions(bars, goal),
        lambda: lw.explain.workspace(bars, "point"),
    ):
        with pytest.raises(GoalError, match="loops"):
            door()


# Closing


@pytest.mark.parametrize("kind", KINDS)
def test_a_closed_pose_is_near_and_keeps_what_it_should(kind: str) -> None:
    linkage, rng = spatial(kind), np.random.default_rng(1)
    for _ in range(5):
        q = advance(linkage, lw.close(linkage, linkage.random_pose(rng)), rng.normal(0, 0.1, linkage.nv))
        closed = lw.close(linkage, q, keep=("left_elbow", "right_wrist"))
        assert gap(linkage, closed) < CLOSED
        kept = [
            linkage.coordinate_index[name]
            for name in linkage.coordinates
            if name.startswith(("left_elbow", "right_wrist"))
        ]
        assert_array_equal(closed[kept], q[kept])
        jacobian = lw.Close(linkage.loops[0]).jacobian(linkage, closed)
        free = np.ones(linkage.nv, bool)
        free[[3, 11, 12, 13]] = False  # hold the left elbow and the right wrist
        way = linkage.difference(closed, q)[free]
        along = way - np.linalg.pinv(jacobian[:, free], rcond=1e-9) @ (jacobian[:, free] @ way)
        assert np.abs(along).max() < 1e-3  # no motion along closed poses comes closer


def test_a_closed_pose_stays_as_it_is() -> None:
    leg = lw.models.jansen_leg()
    assert_allclose(lw.close(leg, "start"), leg.stored_pose("start"), atol=1e-9)


def test_loops_that_cannot_close_say_how_far_apart_they_stay() -> None:
    far = lw.Builder("far").revolute("a", "arm").frame("hand", at=(1, 0, 0)).frame("hook", link="base", at=(3, 0, 0))
    linkage = far.loop("gap", "hand", "hook").build()
    with pytest.raises(LoopError, match="stay 2 m apart") as caught:
        lw.close(linkage, [0.5])
    assert caught.value.gap == pytest.approx(2.0, abs=1e-3)
    assert pickle.loads(pickle.dumps(caught.value)).gap == caught.value.gap
    solution = lw.solve(linkage, lw.Couple({"a": 1.0}, value=0.4))
    assert not solution.success
    assert np.isfinite(solution.q).all()


def test_closing_refuses_what_has_no_meaning() -> None:
    bars = lw.models.four_bar()
    with pytest.raises(GoalError, match="no loops"):
        lw.close(lw.models.planar([1, 1]), [0, 0])
    with pytest.raises(JointNotFoundError, match="'crnak'"):
        lw.close(bars, "start", keep=("crnak",))
    with pytest.raises(OptionError, match="beyond its limits"):
        lw.close(lw.models.pantograph(), lw.models.pantograph().pose(elbow=3.1, base="ready"), keep="elbow")
    with pytest.raises(OptionError, match="one pose"):
        lw.close(bars, bars.random_pose(0, 3))


# Driving


@four_bars
def test_a_driven_four_bar_follows_the_closed_form(lengths: tuple[float, float, float, float]) -> None:
    ground, crank, coupler, rocker = lengths
    bars = lw.models.four_bar(*lengths)
    start = bars.stored_pose("start")
    ends = [one.value for one in lw.singular_positions(bars, "crank", start="start")]
    turn = np.linspace(0, 2 * math.pi, 97)
    if ends:
        turn = 0.9 * np.sin(turn) * min(abs(end - start[0]) for end in ends)
    clip = lw.drive(bars, "crank", start[0] + turn, start="start")
    assert_array_equal(clip.poses[:, 0], start[0] + turn)
    assert clip.residuals is not None
    assert clip.residuals.max() < CLOSED
    # Freudenstein: the rocker's angle t solves A cos t + B sin t = C
    x, y = ground - crank * np.cos(clip.poses[:, 0]), -crank * np.sin(clip.poses[:, 0])
    angle = clip.poses[:, 2]
    assert_allclose((x + rocker * np.cos(angle)) ** 2 + (y + rocker * np.sin(angle)) ** 2, coupler**2, atol=1e-9)
    assert np.abs(np.diff(clip.poses, axis=0)).max() < 0.6  # one branch, without a jump


def test_a_driven_joint_stops_at_the_angle_of_its_dead_centre() -> None:
    ground, crank, coupler, rocker = 0.4, 0.3, 0.3, 0.25
    bars = lw.models.four_bar(ground, crank, coupler, rocker)
    end = math.acos((crank**2 + ground**2 - (coupler + rocker) ** 2) / (2 * crank * ground))
    with pytest.raises(LoopError, match=r"cannot be closed beyond crank = 1\.79133 \(102\.63\d+ deg\)") as caught:
        lw.drive(bars, "crank", np.linspace(1.0, 3.0, 21), start="start")
    assert caught.value.value == pytest.approx(end, abs=1e-6)


def test_a_limit_in_the_way_is_named() -> None:
    bars = lw.models.four_bar().replace(joints={"rocker": lw.Revolute("z", 1.7, 2.5)})
    with pytest.raises(LoopError, match="rocker at a limit"):
        lw.drive(bars, "crank", np.linspace(1.4, 8.0, 40), start="start")


def test_a_parallelogram_goes_straight_through_its_change_points() -> None:
    bars = lw.models.four_bar(0.4, 0.2, 0.4, 0.2)
    begin = lw.close(bars, bars.pose(crank=0.5, coupler=-0.5, rocker=0.5), keep=("crank",))
    clip = lw.drive(bars, "crank", np.linspace(0.5, 0.5 + 2 * math.pi, 73), start=begin)
    assert_allclose(clip.poses[:, 2], clip.poses[:, 0], atol=1e-6)  # crank and rocker stay parallel
    exact = lw.drive(
        bars, "crank", np.linspace(-1, 1, 21), start=bars.pose(crank=-1, coupler=1, rocker=-1)
    )  # zero on the path
    assert_allclose(exact.poses[:, 2], exact.poses[:, 0], atol=1e-6)


def test_driving_refuses_what_has_no_meaning() -> None:
    bars, board = lw.models.four_bar(), lw.models.pantograph()
    with pytest.raises(JointNotFoundError, match="did you mean 'crank'"):
        lw.drive(bars, "crnak", [0, 1])
    with pytest.raises(OptionError, match="does not have exactly one value"):
        lw.drive(spatial("point"), "left_shoulder", [0, 1])
    with pytest.raises(OptionError, match="limits"):
        lw.drive(board, "elbow", [1.0, 4.0], start="ready")
    with pytest.raises(OptionError, match="fps"):
        lw.drive(bars, "crank", [0, 1], fps=0)
    for values in ([], [[1.0]], [math.nan], "abc", 3.0):
        with pytest.raises(OptionError, match="crank"):
            lw.drive(bars, "crank", values, start="start")


# Loops at poses


def test_the_doctor_says_which_poses_leave_a_loop_open() -> None:
    bars = lw.models.four_bar()
    open_pose = bars.pose(rocker=1.0, base="start")
    remarks = lw.doctor.examine(lw.formats.Content(bars.replace(poses={**bars.poses, "broken": open_pose})))
    assert [remark.kind for remark in remarks] == ["loop", "open-loop"]
    assert "'broken'" in remarks[1].text


def test_loops_are_told_by_their_first_frame() -> None:
    bars = lw.models.four_bar()
    assert lw.Close(bars.loops[0]).frame == "coupler_end"
    frames = [*bars.extra_frames, lw.Frame("away", "ground", (9.0, 0, 0))]
    far = bars.replace(frames=frames, loops=[lw.Loop("far", "coupler_end", "away")])
    solution = lw.solve(far, lw.Reach("point", position=(0.1, 0.3)), start="start")
    assert not solution.success
    assert "the loops stay open: the loop of 'coupler_end' and 'away' by 8.5 m" in solution.reason


# Mobility and singular positions


def test_degrees_of_freedom_are_those_of_the_textbook() -> None:
    known = {"four_bar": 1, "jansen_leg": 1, "engine:4": 1, "pantograph": 2, "panda": 7}
    assert {text: lw.degrees_of_freedom(lw.models.build(text)) for text in known} == known
    assert [lw.degrees_of_freedom(spatial(kind)) for kind in KINDS] == [11, 9, 8]  # 14, less 3, 5 and 6
    flat = lw.models.four_bar(0.4, 0.2, 0.4, 0.2)
    assert lw.degrees_of_freedom(flat, at=[0.0, 0.0, 0.0]) == 2  # where branches meet


def closed_form(lengths: tuple[float, float, float, float]) -> list[float]:
    """Return the crank angles at which coupler and rocker are in line, where the crank of a four-bar reverses."""
    ground, crank, coupler, rocker = lengths
    cosines = [(crank**2 + ground**2 - (coupler + sign * rocker) ** 2) / (2 * crank * ground) for sign in (1, -1)]
    angles = [math.acos(c) for c in cosines if -1.0 < c < 1.0]
    return sorted([*angles, *(-a for a in angles)])


@pytest.mark.parametrize(
    "lengths",
    [
        (0.4, 0.15, 0.35, 0.3),  # Grashof, crank and rocker
        (1.0, 2.0, 1.9, 1.5),  # Grashof, both cranks turn
        (0.4, 0.3, 0.3, 0.25),  # non-Grashof
        (4.0, 3.0, 2.0, 3.5),
        (1.0, 1.3, 1.1, 0.4),
    ],
)
def test_dead_centres_of_a_four_bar_are_those_of_the_closed_form(lengths: tuple[float, float, float, float]) -> None:
    bars = lw.models.four_bar(*lengths)
    expected = closed_form(lengths)
    starts = [sign * pose for pose in bars.poses.values() for sign in (1.0, -1.0)]  # each and its mirror image
    found = {one.value for start in starts for one in lw.singular_positions(bars, "crank", start=start)}
    assert all(min(abs(value - other) for other in expected) < 1e-7 for value in found)
    assert all(min(abs(value - other) for other in found) < 1e-7 for value in expected)


def test_a_rocker_drives_a_crank_up_to_its_dead_centres() -> None:
    ground, crank, coupler, rocker = 0.4, 0.15, 0.35, 0.3
    found = lw.singular_positions(lw.models.four_bar(), "rocker", start="start")
    cosines = [(rocker**2 + ground**2 - (coupler + sign * crank) ** 2) / (2 * rocker * ground) for sign in (1, -1)]
    assert_allclose([one.value for one in found], sorted(math.pi - math.acos(c) for c in cosines), atol=1e-9)
    for one in found:
        assert one.kind == "dead-centre"
        jacobian = lw.Close(lw.models.four_bar().loops[0]).jacobian(lw.models.four_bar(), one.q)[:2, :2]
        assert np.linalg.svd(jacobian, compute_uv=False)[-1] < 1e-7  # crank and coupler alone are singular


def test_a_parallelogram_has_change_points_where_it_is_flat() -> None:
    found = lw.singular_positions(lw.models.four_bar(0.4, 0.2, 0.4, 0.2), "crank", start="start")
    assert {one.kind for one in found} == {"change-point"}
    assert_allclose(sorted(abs(one.value) for one in found), [0.0, math.pi], atol=1e-5)


def test_singular_positions_are_those_of_one_degree_of_freedom() -> None:
    with pytest.raises(GoalError, match="2 degrees of freedom"):
        lw.singular_positions(lw.models.pantograph(), "shoulder", start="ready")


# Loops that cannot close exactly


OFF = 1e-8


def parallel_rods(off: float, tolerance: float = 1e-10) -> lw.Linkage:
    """Return a plate on three parallel rods, one of them redundant and slightly too long."""
    b = lw.Builder("rods", base="floor")
    for k, x in enumerate((0.0, 0.2, 0.5)):
        b.revolute(f"j{k}", f"rod{k}", parent="floor", axis="y", at=(x, 0, 0), limits=("-80deg", "80deg"))
        b.frame(f"end{k}", at=(0, 0, 0.3 + off * (k == 2)))
    b.revolute("plate", "plate", parent="rod0", axis="y", at=(0, 0, 0.3))
    for k, x in enumerate((0.2, 0.5), start=1):
        b.frame(f"hole{k}", link="plate", at=(x, 0, 0))
        b.loop(f"loop{k}", f"end{k}", f"hole{k}", tolerance=tolerance)
    return b.build()


def test_redundant_loops_close_in_the_least_squares_sense() -> None:
    rods = parallel_rods(OFF)
    level = rods.pose(j0=0.4, plate=-0.4, j1=0.4, j2=0.4)
    start = rods.pose(j0=0.4, plate=-0.42, j1=0.45, j2=0.35)
    with pytest.raises(LoopError, match="apart") as error:
        lw.close(rods, start, keep=("j0",))
    assert error.value.gap is not None
    assert 1e-10 < error.value.gap < OFF
    q = lw.close(rods, start, keep=("j0",), tolerance=1e-7)
    assert np.abs(q - level).max() < 10 * OFF  # no large step along redundant directions
    gaps = np.concatenate([goal.error(rods, level) for goal in closings(rods)])
    slope = np.concatenate([goal.jacobian(rods, level) for goal in closings(rods)])[:, 1:]
    left = gaps - slope @ np.linalg.lstsq(slope, gaps, rcond=1e-6)[0]  # the gap that no small change closes
    found = np.concatenate([goal.error(rods, q) for goal in closings(rods)])
    assert np.linalg.norm(found) == pytest.approx(np.linalg.norm(left), rel=1e-3)


def test_rods_of_one_length_close_as_tightly_whatever_the_tolerance() -> None:
    for tolerance in (1e-10, 1e-5):
        rods = parallel_rods(0.0, tolerance)
        q = lw.close(rods, rods.pose(j0=0.4, j1=0.45, j2=0.35, plate=-0.42), keep=("j0",))
        assert gap(rods, q) < 1e-13


def test_the_tolerance_is_the_loops_own_or_the_calls() -> None:
    loose, tight = parallel_rods(OFF, 1e-7), parallel_rods(OFF)
    start = loose.pose(j0=0.4, j1=0.4, j2=0.4, plate=-0.4)
    assert gap(loose, lw.close(loose, start)) < OFF
    assert lw.degrees_of_freedom(loose, at=start) == 1
    clip = lw.drive(loose, "j0", np.linspace(0.4, 1.0, 7), start=start)
    assert_allclose(clip.poses[-1], [1.0, -1.0, 1.0, 1.0], atol=1e-6)
    with pytest.raises(LoopError, match="apart"):
        lw.close(loose, start, tolerance=1e-10)
    goal = lw.Reach("hole2", position=loose.forward(clip.poses[3], frame="hole2")[:3, 3])
    for method in STRICT + ALONG:
        assert lw.solve(loose, goal, start=start, method=method).success, method
        assert lw.solve(tight, goal, start=start, method=method, loop_tolerance=1e-7).success, method
        assert not lw.solve(tight, goal, start=start, method=method).success, method


def test_tolerances_that_are_none_are_refused() -> None:
    for wrong in (0.0, -1.0, math.inf, "loose"):
        with pytest.raises(LinkageError, match="tolerance of loop 'a'"):
            lw.Loop("a", "b", "c", tolerance=wrong)  # type: ignore[arg-type]
    with pytest.raises(GoalError, match="tolerance of a goal is a positive number"):
        lw.solve(parallel_rods(0.0), lw.Reach("hole2", position=(0.4, 0, 0.3)), loop_tolerance=0.0)
