"""Several goals that conflict, in problems with known answers; and input that must not produce NaN."""

import contextlib
import json
import math

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose

import linkwork as lw
from linkwork.cli.app import app
from linkwork.errors import FrameNotFoundError, GoalError
from linkwork.explain.conflicts import Experiments, apart, called, joined, levels, pushed_limits, span
from linkwork.explain.diagnosis import diagnose
from linkwork.solvers import METHODS

ARM = lw.models.planar([1, 1, 1])
BENT = [0.5, 0.5, 0.5]
SERVING = ("robust", "damped", "pseudoinverse", "selectively-damped", "control", "transpose")


def two_arms(root: str = "fixed") -> lw.Linkage:
    """Return two arms of two bones of 0.5 m each, their shoulders 0.4 m apart."""
    b = lw.Builder("two arms")
    for side, y in (("left", 0.2), ("right", -0.2)):
        b.ball(f"{side}_shoulder", f"{side}_upper", parent="base", at=(0, y, 0))
        b.revolute(f"{side}_elbow", f"{side}_lower", parent=f"{side}_upper", axis="z", at=(0.5, 0, 0))
        b.frame(f"{side}_hand", at=(0.5, 0, 0))
    return b.build().replace(root=lw.Floating()) if root == "floating" else b.build()


def walker() -> lw.Linkage:
    """Return a floating body with a leg and an arm: the foot is 0.9 m below the hip, the hand 0.6 m from it."""
    b = lw.Builder("walker").ball("hip", "leg", parent="base").frame("foot", at=(0, 0, -0.9))
    b.ball("shoulder", "arm", parent="base").frame("hand", at=(0, 0, 0.6))
    return b.build().replace(root=lw.Floating())


# By geometry


@pytest.mark.parametrize(("first", "second", "most"), [("left_hand", "right_hand", 2.4), ("left_hand", "base", 1.2)])
def test_span_is_the_limbs_between_two_frames_laid_straight(first, second, most) -> None:
    assert span(two_arms(), first, second) == pytest.approx(most)
    assert span(two_arms(), second, first) == pytest.approx(most)


def test_no_pose_brings_frames_further_apart_than_their_span() -> None:
    figure = lw.models.human(root="floating")
    frames = figure.forward(figure.random_pose(0, 200))
    for first, second in (("left_hand", "right_foot"), ("eyes", "left_toe"), ("left_hand", "right_hand")):
        away = np.linalg.norm(frames[first][:, :3, 3] - frames[second][:, :3, 3], axis=-1)
        assert away.max() <= span(figure, first, second)


def test_a_slider_without_end_has_no_span() -> None:
    slide = lw.Builder("slide").prismatic("s", "a", axis="x").frame("tip", at=(0, 0, 1)).build()
    assert span(slide, "base", "tip") == math.inf


def test_hands_wanted_further_apart_than_the_arms_reach() -> None:
    goals = [lw.Reach("left_hand", position=(0, 1.5, 0)), lw.Reach("right_hand", position=(0, -1.5, 0))]
    solution = lw.solve(two_arms("floating"), goals)
    assert not solution.success
    assert solution.reason == (
        "conflict: Reach 'left_hand' and Reach 'right_hand' are to be 3 m apart, the chains between them extend 2.4 m: "
        "0.6 m too far."
    )
    found = diagnose(solution)
    assert found.cause == "conflict"
    assert found.evidence["removable"] == [0, 1]
    assert [way["m"] for way in found.evidence["gives_way"].values()] == pytest.approx([0.6, 0.6], abs=2e-3)


def test_a_planted_foot_and_a_hand_out_of_reach_by_31_centimetres() -> None:
    figure = walker()
    goals = [lw.Hold("foot"), lw.Reach("hand", position=(0, 0, 0.6 + 0.31))]
    solution = lw.solve(figure, goals, start=figure.neutral())
    assert "Hold 'foot' and Reach 'hand'" in solution.reason
    assert "0.31 m too far" in solution.reason
    found = diagnose(solution)
    assert found.evidence["gives_way"][1]["m"] == pytest.approx(0.31, abs=1e-3)
    assert "Reach 'hand' misses by 0.31 m" in solution.explain()


def test_one_frame_in_two_places_is_a_conflict_not_the_edge_of_reach() -> None:
    near, far = np.eye(4), np.eye(4)
    near[:3, 3], far[:3, 3] = (1.0, 1.0, 0.0), (1.0, 1.5, 0.0)
    for goals in (
        [lw.Hold("tip", pose=near), lw.Hold("tip", pose=far)],
        [lw.Hold("tip", pose=near), lw.Reach("tip", position=(1.0, 1.5))],
    ):
        solution = lw.solve(ARM, goals, start=BENT)
        found = diagnose(solution)
        assert found.cause == "conflict"
        assert "one frame in two places, 0.5 m apart" in solution.reason
        assert "edge of reach" not in solution.explain()
        assert found.evidence["goals"] == [0, 1]


def test_goals_of_one_name_are_told_apart_by_their_place() -> None:
    goals = [lw.Reach("tip", position=(1, 1)), lw.Reach("tip", position=(1, 2))]
    assert "Reach 'tip' (goal 0) and Reach 'tip' (goal 1)" in lw.solve(ARM, goals, start=BENT).reason


def test_one_frame_turned_in_two_ways() -> None:
    goals = [lw.Reach("tip", orientation={"euler": ("z", [angle])}) for angle in (0.2, 0.2 + math.radians(30))]
    assert "turned in two ways, 30 deg apart" in lw.solve(ARM, goals, start=BENT).reason
    panda = lw.models.panda()
    down, tilted = np.diag([1.0, -1.0, -1.0]), {"euler": ("x", [math.pi - math.radians(40)])}
    spun = [lw.Reach("tip", orientation=turn, free="z") for turn in (down, tilted)]
    assert "40 deg apart" in lw.solve(panda, spun, start="ready").reason


def test_goals_that_agree_within_their_tolerances_do_not_conflict() -> None:
    goals = [lw.Reach("tip", position=(1, 1), tolerance=0.06), lw.Reach("tip", position=(1, 1.1), tolerance=0.06)]
    solution = lw.solve(ARM, goals, start=BENT)
    assert solution.success
    assert apart(solution) is None


# By solving without single goals


def conflicting() -> lw.Solution:
    """Return a solve for a position 1.414 m from the base and at least 2 m from it, with one unrelated goal."""
    goals = [
        lw.Reach("tip", position=(1, 1)),
        lw.OnPlane("link2", point=(0.3, 0, 0), normal="x"),
        lw.Distance("tip", (0, 0), (2, 3)),
    ]
    return lw.solve(ARM, goals, start=BENT)


def test_the_smallest_set_leaves_out_who_only_stands_by() -> None:
    solution = conflicting()
    found = diagnose(solution)
    assert found.cause == "conflict"
    assert found.evidence["goals"] == [0, 2]
    assert found.evidence["removable"] == [0, 2]
    missed = [way["m"] for way in found.evidence["gives_way"].values()]
    assert missed == pytest.approx([2 - math.sqrt(2)] * 2, abs=1e-3)
    assert "Reach 'tip' and Distance 'tip' cannot be met together" in solution.explain()


def test_what_is_called_removable_is_so() -> None:
    solution = conflicting()
    for k in diagnose(solution).evidence["removable"]:
        rest = [goal for i, goal in enumerate(solution.goals) if i != k]
        assert lw.solve(ARM, rest, start=BENT).success


def test_where_two_pairs_conflict_no_single_goal_can_be_left_out() -> None:
    goals = [
        *(lw.Reach("tip", position=p) for p in ((1, 1), (1, 2))),
        *(lw.Couple({"j1": 1.0}, value=v) for v in (0.1, 0.4)),
    ]
    found = diagnose(lw.solve(ARM, goals, start=BENT))
    assert found.evidence["removable"] == []
    assert "not enough" in found.sentence


def test_a_goal_out_of_reach_alone_is_told_with_what_the_others_get() -> None:
    goals = [lw.Reach("tip", position=(1, 1)), lw.Reach("link2", position=(2.5, 0))]
    found = diagnose(lw.solve(ARM, goals, start=BENT))
    assert found.cause == "out-of-reach"
    assert found.evidence["goals"] == found.evidence["removable"] == [1]
    assert "Without Reach 'link2' all other goals are reached" in found.sentence


def test_a_goal_unreachable_in_a_way_lengths_do_not_show_is_named_alone() -> None:
    bent = ARM.replace(joints={"j2": {"lower": 1.0, "upper": 1.2}, "j3": {"lower": 1.0, "upper": 1.2}})
    goals = [lw.Couple({"j1": 1.0}, value=0.3), lw.Reach("tip", position=(2.9, 0), axes="x")]
    found = diagnose(lw.solve(bent, goals, limits="project"))
    assert found.cause == "limits"
    whole = [lw.Couple({"j1": 1.0}, value=0.3), lw.Distance("link2", (0, 0), (2, 3))]
    found = diagnose(lw.solve(ARM, whole, start=BENT))
    assert "Distance 'link2' cannot be reached even alone" in found.sentence
    assert found.evidence["goals"] == [1]


def test_a_limit_that_blocks_is_named_and_lifting_it_helps() -> None:
    tight = ARM.replace(joints={"j2": {"lower": -0.3, "upper": 0.3}})
    goals = [lw.Reach("tip", position=(0.5, 1.0)), lw.Couple({"j3": 1.0}, value=0.4)]
    solution = lw.solve(tight, goals, start=[0.5, 0.2, 0.4])
    assert not solution.success
    assert pushed_limits(solution) == ["j2"]
    found = diagnose(solution)
    assert found.cause == "limits"
    assert list(found.evidence["alone"]) == ["j2"]
    assert "It is enough to remove one limit: that of j2" in found.sentence
    assert found.evidence["goals"] == [0, 1]
    beyond = found.evidence["alone"]["j2"]
    wider = ARM.replace(joints={"j2": {"lower": -0.3 - beyond - 1e-3, "upper": 0.3 + beyond + 1e-3}})
    assert lw.solve(wider, goals, start=[0.5, 0.2, 0.4]).success


def test_a_local_minimum_of_several_goals_is_told_as_one() -> None:
    bounds = {"j1": {"lower": -1, "upper": 1}, **{name: {"lower": -2.5, "upper": 2.5} for name in ("j2", "j3")}}
    arm = lw.models.planar([15, 10, 5]).replace(joints=bounds)
    goals = [lw.Reach("tip", position=(8.7, 4.9)), lw.Distance("tip", (0, 0), (5, 20))]
    solution = lw.solve(arm, goals, start=[-0.28, 0.36, -0.89], method="damped")
    assert not solution.success
    assert diagnose(solution).cause == "local-minimum"


def test_experiments_end_with_their_time() -> None:
    found = Experiments(conflicting(), seconds=0.0).conflict()
    assert not found.finished
    assert "no time" in found.sentence
    assert len(found.goals) == 3


# Levels


def test_the_upper_level_is_reached_and_the_lower_gives_way_by_a_known_amount() -> None:
    goals = [lw.Reach("tip", position=(1, 1)), lw.Distance("tip", (0, 0), (2, 3), priority=1)]
    solution = lw.solve(ARM, goals, start=BENT)
    upper, lower = levels(solution)
    assert upper.reached
    assert not lower.reached
    assert lower.missed == pytest.approx(2 - math.sqrt(2), abs=1e-4)
    assert "level 0 is reached, level 1 is missed: Distance 'tip' by 0.586 m" in solution.reason
    assert diagnose(solution).evidence["levels"][1]["missed"] == pytest.approx(lower.missed)


# Loops


@pytest.mark.parametrize("method", ["robust", "damped", "prioritized"])
def test_a_loop_that_cannot_close_is_told_with_its_gap(method) -> None:
    b = lw.Builder("short").revolute("a", "crank", axis="z").revolute("b", "rod", axis="z", at=(1, 0, 0))
    b.frame("end", at=(1, 0, 0)).frame("pin", link="base", at=(2.31, 0, 0)).loop("loop", "end", "pin")
    solution = lw.solve(b.build(), lw.Reach("end", position=(1, 1)), method=method)
    assert not solution.success
    assert np.isfinite(solution.q).all()
    assert "the loops stay open: the loop of 'end' and 'pin' by 0.31 m" in solution.reason
    found = diagnose(solution)
    assert found.cause == "open-loop"
    assert found.evidence["gap"] == pytest.approx(0.31, abs=1e-6)


def test_a_goal_that_a_closed_loop_does_not_reach_conflicts_with_it() -> None:
    bars = lw.models.four_bar()
    place = bars.forward(bars.stored_pose("start"), frame="point")[:2, 3]
    solution = lw.solve(bars, lw.Reach("point", position=place - (0.0, 0.04)), start="start")
    found = diagnose(solution)
    assert found.cause == "conflict"
    assert found.evidence["removable"] == [0]
    assert "Reach 'point' and the loop of 'coupler_end' and 'rocker_end' cannot be met together" in found.sentence
    assert "the loops are closed" in solution.reason


def test_a_wish_never_gives_way() -> None:
    solution = lw.solve(ARM, [lw.Reach("tip", position=(1, 1)), lw.Rest([0, 0, 0])], start=BENT)
    assert [level.rank for level in levels(solution)] == [0]


def test_a_hold_keeps_its_name_in_the_solution() -> None:
    goal = lw.solve(ARM, lw.Hold("tip"), start=BENT).goals[0]
    assert called(goal) == "Hold 'tip'"
    assert repr(goal).startswith("Hold('tip'")


def test_lists_are_joined_as_one_says_them() -> None:
    assert [joined(["a"]), joined(["a", "b"]), joined(["a", "b", "c"], "or")] == ["a", "a and b", "a, b or c"]


# Wrong input: a clear error or a diagnosis, never a NaN pose


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: lw.solve(ARM, [lw.Hold("tip"), lw.Hold("tipp")]), FrameNotFoundError, "did you mean 'tip'"),
        (lambda: lw.solve(ARM, lw.LookAt("tip", at="nose")), FrameNotFoundError, "no frame 'nose'"),
        (lambda: lw.Reach("tip", position=(1, 1), weight=-1.0), GoalError, "weight of a goal must be positive"),
        (lambda: lw.Hold("tip", weight=math.nan), GoalError, "weight of a goal must be positive"),
        (lambda: lw.Reach("tip", position=(1, math.nan)), GoalError, "finite"),
        (lambda: lw.Reach("tip", position=(1, 1e200)), GoalError, "below 1e"),
        (lambda: lw.Hold("tip", pose=np.full((4, 4), math.nan)), GoalError, "finite"),
        (lambda: lw.solve(walker(), lw.Balance()), GoalError, "has no mass"),
        (lambda: lw.Balance(over=(math.inf, 0, 0)), GoalError, "finite"),
    ],
)
def test_wrong_input_is_named(make, error, words) -> None:
    with pytest.raises(error, match=words):
        make()


def test_a_mass_of_zero_is_no_mass() -> None:
    empty = ARM.replace(links={"link1": {"inertia": lw.Inertia(0.0)}, **{n: {"visuals": ()} for n in ARM.links}})
    with pytest.raises(GoalError, match="has no mass"):
        lw.solve(empty, lw.Balance(over=(0, 0)))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "goals",
    [
        [lw.Hold("tip"), lw.Reach("tip", position=(1, 2))],
        [lw.Reach("tip", position=(1e99, 1e99))],
        [lw.Reach("tip", position=(1, 1), weight=1e200), lw.Reach("link2", position=(1, 1), weight=1e-200)],
    ],
    ids=["contradiction", "far beyond", "weights"],
)
def test_no_method_ends_in_a_pose_of_nan(method, goals) -> None:
    solution = None
    with np.errstate(all="ignore"), contextlib.suppress(GoalError):  # some methods refuse these goals
        solution = lw.solve(ARM, goals, start=BENT, method=method)
    if method in SERVING:
        assert solution is not None
    if solution is not None:
        assert np.isfinite(solution.q).all()
        assert np.isfinite(solution.residuals).all()
        assert solution.reason


def test_the_command_line_tells_a_conflict(tmp_path) -> None:
    file = tmp_path / "goals.json"
    file.write_text(json.dumps([[{"frame": "tip", "position": p} for p in ([1, 1], [1, 1.5])]]), encoding="utf-8")
    result = CliRunner().invoke(app, ["solve", "planar:1,1,1", str(file), "--explain", "--json"])
    assert result.exit_code == 1
    data = json.loads(result.stdout)[0]
    assert "one frame in two places, 0.5 m apart" in data["reason"]
    assert "all other goals are reached" in data["explanation"]
    assert_allclose([row["error"] for row in data["residuals"]], 0.25, atol=1e-3)
