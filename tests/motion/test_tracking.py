"""Paths of goals, motions that follow them, the chapter's figures and the race of all methods."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.errors import GoalError, OptionError
from linkwork.explain.races import race
from linkwork.models.textbook import FIGURES, figure, largest_step
from linkwork.solvers import METHODS

START = [np.pi / 8, np.pi / 4, np.pi / 4]
ARM = lw.models.planar([15, 10, 5])


# Paths


def test_a_line_is_straight_even_and_turns_evenly() -> None:
    arm = lw.models.panda()
    goal = lw.Reach("tip", position=(0.4, 0.3, 0.4), orientation={"euler": ("xyz", [3.0, 0.2, 0.1])})
    goals = lw.paths.line(arm, goal, start=arm.neutral(), frames=11)
    world = arm.forward(arm.neutral(), frame="tip")
    places = np.array([g.position for g in goals])
    assert_allclose(places[0], world[:3, 3])
    assert_allclose(places[-1], goal.position)
    assert_allclose(np.diff(places, axis=0), np.tile((goal.position - world[:3, 3]) / 10, (10, 1)), atol=1e-12)
    turns = Rotation.from_matrix([g.orientation for g in goals])
    steps = (turns[:-1].inv() * turns[1:]).magnitude()
    assert_allclose(steps, steps[0], atol=1e-9)


def test_a_spline_passes_its_points_at_an_even_pace() -> None:
    corners = np.array([[0.0, 0.0], [1.0, 2.0], [3.0, 1.0], [4.0, 4.0]])
    places = np.array([g.position for g in lw.paths.spline("tip", corners, frames=400)])
    for corner in corners:
        assert np.linalg.norm(places - corner, axis=1).min() < 0.02
    steps = np.linalg.norm(np.diff(places, axis=0), axis=1)
    assert steps.std() < 0.02 * steps.mean()
    loop = np.array([g.position for g in lw.paths.spline("tip", corners, frames=100, closed=True)])
    assert_allclose(loop[0], loop[-1], atol=1e-9)


def test_any_function_is_a_path() -> None:
    goals = lw.paths.curve(lambda s: lw.Reach("tip", position=(np.cos(s), np.sin(s))), frames=5)
    assert_allclose(goals[-1].position, (np.cos(1), np.sin(1)))


@pytest.mark.parametrize(
    "call",
    [
        lambda: lw.paths.line(ARM, lw.Reach("tip", position=(1, 2)), start=START, frames=0),
        lambda: lw.paths.spline("tip", [[0, 0]]),
        lambda: lw.paths.spline("tip", [[0, 0], [0, 0]]),
        lambda: lw.paths.spline("tip", [[0, np.nan], [1, 1]]),
        lambda: lw.paths.curve(lambda s: s, frames=2.5),
    ],
)
def test_wrong_paths(call) -> None:
    with pytest.raises(GoalError):
        call()


# Tracks


@pytest.mark.parametrize("method", ["damped", "robust", "pseudoinverse"])
def test_a_track_keeps_to_its_path(method: str) -> None:
    arm = lw.models.panda()
    ready = arm.stored_pose("ready")
    world = arm.forward(ready, frame="tip")
    center = world[:3, 3]
    ring = [
        lw.Reach("tip", position=center + 0.1 * np.array([0, np.sin(a), np.cos(a) - 1]), orientation=world[:3, :3])
        for a in np.linspace(0, 2 * np.pi, 60)
    ]
    clip = lw.track(arm, ring, start=ready, method=method, fps=30)
    assert len(clip) == 60
    assert_allclose(clip.times[1], 1 / 30)
    assert (clip.residuals <= [1e-4, 1e-3]).all()
    assert_allclose(clip.forward(frame="tip")[:, :3, 3], [g.position for g in ring], atol=1e-4)
    assert np.abs(np.diff(clip.poses, axis=0)).max() < 0.3


def test_goals_may_be_a_function_of_time_or_several_a_frame() -> None:
    clip = lw.track(ARM, lambda t: lw.Reach("tip", position=(20 - 5 * t, 10)), frames=10, fps=5, start=START)
    assert_allclose(clip.forward(frame="tip")[-1, :2, 3], (20 - 5 * 9 / 5, 10), atol=1e-3)
    figure_ = lw.models.human()
    frames = ("left_hand", "right_hand")
    still = [[lw.Reach(f, position=figure_.forward(figure_.neutral(), frame=f)[:3, 3]) for f in frames]] * 3
    assert lw.track(figure_, still, method="damped").residuals.shape == (3, 2)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: lw.track(ARM, []), GoalError),
        (lambda: lw.track(ARM, None), GoalError),
        (lambda: lw.track(ARM, lambda t: lw.Reach("tip", position=(1, t)), frames=0), OptionError),
        (lambda: lw.track(ARM, lambda t: lw.Reach("tip", position=(1, t))), GoalError),
        (lambda: lw.track(ARM, lw.Reach("tip", position=(1, 2)), fps=0), OptionError),
        (lambda: lw.track(ARM, lw.Reach("tip", position=(1, 2)), steps=0), OptionError),
        (
            lambda: lw.track(
                ARM, [lw.Reach("tip", position=(1, 2)), lw.Reach("tip", position=(1, 2), orientation=np.eye(3))]
            ),
            GoalError,
        ),
    ],
)
def test_wrong_tracks(call, error) -> None:
    with pytest.raises(error):
        call()


# Looking ahead


def unwinding(frames: int = 40) -> tuple[lw.Linkage, np.ndarray, list[lw.Reach]]:
    """Return a UR5, a start, and a path that rotates the tool by 0.9 turns, past the wrist's limit."""
    arm = lw.models.ur5()
    start = np.array([0.3, -1.2, 1.5, -1.8, -1.5, 2.5])
    poses = np.tile(start, (frames, 1))
    poses[:, 0] += np.linspace(0.0, 0.5, frames)
    poses[:, 5] += np.linspace(0.0, 1.8 * np.pi, frames)
    return arm, start, [lw.Reach("tip", orientation=world) for world in arm.forward(poses, frame="tip")]


def missed(clip: lw.Clip) -> int:
    return int((clip.residuals > [1e-4, 1e-3]).any(axis=1).sum())


def test_who_looks_ahead_does_not_run_into_a_limit() -> None:
    arm, start, goals = unwinding()
    greedy = lw.track(arm, goals, start=start)
    ahead = lw.track(arm, goals, start=start, lookahead=True)
    assert missed(greedy) > 5  # stuck at the limit of the last wrist joint
    assert missed(ahead) == 0
    assert np.abs(np.diff(ahead.poses, axis=0)).max() < 0.3
    assert ((ahead.poses >= arm.lower) & (ahead.poses <= arm.upper)).all()


def test_a_search_that_reaches_every_goal_flips_where_looking_ahead_does_not() -> None:
    arm, start, goals = unwinding()
    flipping = lw.track(arm, goals, start=start, method="robust")
    assert missed(flipping) == 0
    assert np.abs(np.diff(flipping.poses, axis=0)).max() > 1.0
    jumps = ("flip", "spike")  # to the nearest other solution, in one joint or all
    assert any(finding.kind in jumps for finding in flipping.report().findings)
    assert not any(f.kind in jumps for f in lw.track(arm, goals, start=start, lookahead=True).report().findings)


def test_where_the_nearest_is_good_looking_ahead_takes_it_too() -> None:
    arm = lw.models.planar([2, 1])
    goals = [lw.Reach("tip", position=(1.5, y)) for y in np.linspace(0.5, 1.5, 12)]
    near = lw.track(arm, goals, start=[0.1, 0.9], tolerance=1e-8)
    ahead = lw.track(arm, goals, start=[0.1, 0.9], tolerance=1e-8, lookahead=True)
    assert_allclose(ahead.poses, near.poses, atol=1e-5)


def test_redundant_arms_and_goals_out_of_reach_can_be_looked_ahead_along() -> None:
    panda = lw.models.panda()
    world = panda.forward(panda.stored_pose("ready"), frame="tip")
    goals = [lw.Reach("tip", position=world[:3, 3] + (0, y, 0), orientation=world[:3, :3]) for y in (0, 0.02, 0.04)]
    clip = lw.track(panda, goals, start="ready", lookahead=True)
    assert missed(clip) == 0
    assert np.abs(np.diff(clip.poses, axis=0)).max() < 0.3
    far = [lw.Reach("tip", position=(2.5 + x, 0)) for x in np.linspace(0.0, 1.0, 6)]
    clip = lw.track(lw.models.planar([2, 1]), far, start=[0.0, 0.1], lookahead=True)
    assert_allclose(clip.residuals[[0, -1], 0], [0.0, 0.5], atol=1e-2)


@pytest.mark.parametrize(
    ("goals", "options", "error"),
    [
        ([[lw.Reach("tip", position=(1, 2)), lw.Reach("link2", position=(1, 2))]], {}, GoalError),
        ([lw.Hold("tip")], {}, GoalError),
        ([lw.Reach("tip", position=(1, 2))], {"steps": 1}, OptionError),
    ],
)
def test_what_cannot_be_looked_ahead_along_is_refused(goals: list, options: dict, error: type[Exception]) -> None:
    with pytest.raises(error, match="look"):
        lw.track(ARM, goals, lookahead=True, **options)


# Figures


def test_the_worked_examples_come_out_as_computed_from_the_equations() -> None:
    plain, damped = figure("5.20").panels
    assert_allclose(plain.clip.poses[-1], [2.1311, 1.3710, 0.6588], atol=1e-4)
    assert_allclose(plain.path[-1], [-19.9485, 4.9201], atol=1e-4)
    assert_allclose(damped.clip.poses[-1], [2.1104, 1.3992, 0.6733], atol=1e-4)
    assert_allclose(damped.path[-1], [-19.5628, 4.9566], atol=1e-4)
    plain, damped = figure("5.21").panels
    assert_allclose(largest_step(plain.clip), 1.36, atol=5e-3)
    assert_allclose(largest_step(damped.clip), 0.30, atol=5e-3)


@pytest.mark.parametrize("number", [number for number, entry in FIGURES.items() if entry.panels])
def test_every_figure_in_motion_has_21_frames_and_plain_numbers(number: str) -> None:
    found = figure(number)
    data = json.loads(json.dumps(found.as_dict()))
    assert data["figure"] == number
    assert data["panels"]
    for panel, numbers in zip(found.panels, data["panels"], strict=True):
        assert set(numbers) >= {"method", "goal", "options", "poses", "effector"}
        assert np.shape(numbers["poses"]) == (21, panel.clip.linkage.nq)
        assert len(numbers["effector"]) == 21
        assert numbers["method"] in METHODS or numbers["method"] == "forward"
        lower, upper = panel.clip.linkage.lower, panel.clip.linkage.upper
        assert ((panel.clip.poses >= lower) & (panel.clip.poses <= upper)).all()
        assert max(panel.shown) <= 20


def test_the_worked_example_starts_where_the_book_does() -> None:
    for number in ("5.20", "5.21", "5.22", "5.23", "5.24", "5.25"):
        for panel in figure(number).panels:
            assert_allclose(panel.clip.poses[0], START, atol=1e-12)
            assert panel.goal == ((-35.0, 5.0) if number == "5.21" else (-20.0, 5.0))
            if number not in ("5.21", "5.25"):
                assert np.linalg.norm(panel.path[-1] - panel.goal) < 1.0


def test_a_singular_arm_does_not_move() -> None:
    stuck, nearly = figure("5.19").panels
    assert np.abs(stuck.clip.poses).max() < 1e-12
    assert largest_step(nearly.clip) > 1.0


# The race


def test_the_race_runs_every_method_on_the_same_problem() -> None:
    laps = race(ARM, lw.Reach("tip", position=(-20, 5)), start=START)
    assert [lap.method for lap in laps] == list(METHODS)
    for lap in laps:
        row = json.loads(json.dumps(lap.as_dict()))
        if not row["served"]:
            assert row["method"] == "inverse"
            continue
        assert row["success"], row
        assert row["seconds"] > 0.0
        assert row["violations"] == 0
        assert len(lap.poses) == row["iterations"] + 1
        assert len(lap.errors) == row["iterations"] + 1
        assert_allclose(lap.poses[0], START)
        assert row["largest_step"] > 0.0


def test_the_race_beyond_reach_and_through_a_singularity() -> None:
    far = {
        lap.method: lap
        for lap in race(ARM, lw.Reach("tip", position=(-35, 5)), start=START, methods=["pseudoinverse", "damped"])
    }
    assert not any(lap.solution.success for lap in far.values())
    assert far["damped"].largest_step < far["pseudoinverse"].largest_step
    two = lw.models.two_link(1.5, 1.0)
    laps = race(
        two, lw.Reach("tip", position=(-2.0, 0.3)), start=[0.0, 1e-3], methods=["pseudoinverse", "damped"], halvings=0
    )
    assert laps[0].largest_step > 1.5 * laps[1].largest_step


def test_a_race_as_rows_of_frames() -> None:
    laps = race(ARM, lw.Reach("tip", position=(-20, 5)), start=START, methods=["inverse", "damped", "ccd"])
    rows = lw.textbook.of_race(laps)
    assert [panel.method for panel in rows.panels] == ["damped", "ccd"]
    for panel, lap in zip(rows.panels, laps[1:], strict=True):
        assert_allclose(panel.clip.poses, lap.poses)
        assert panel.shown[0] == 0
        assert panel.shown[-1] == len(lap.poses) - 1
        assert "reached" in panel.title
    assert rows.title == rows.caption
    assert len(lw.draw.figure(rows).axes) == sum(len(panel.shown) for panel in rows.panels)
    with pytest.raises(GoalError, match="nothing to show"):
        lw.textbook.of_race(laps[:1])
