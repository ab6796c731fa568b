"""One implementation of a solve: a goal, a list of one, the command line and the studio give bit-identical poses."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.testing import assert_array_equal

import linkwork as lw
from chains import random_chain
from linkwork.cli import app
from linkwork.studio.scene import Scene
from linkwork.studio.session import Session

MODELS = {
    "planar:15,10,5": lambda: lw.models.planar([15, 10, 5]),
    "panda": lw.models.panda,
    "scara": lw.models.scara,
    "human": lw.models.human,
    "pantograph": lw.models.pantograph,
}
FRAMES = {"human": "right_hand", "pantograph": "pen"}
PATIENT = 1e3  # seconds, so that no test depends on a clock
METHODS = ("robust", "damped", "selectively-damped", "transpose", "prioritized")


def goals_of(linkage: lw.Linkage, frame: str, turned: bool) -> list[lw.Reach]:
    """Return goals near, far off and out of reach."""
    near, far = linkage.forward(linkage.random_pose(5, 2), frame=frame)
    beyond = np.array(far)
    beyond[:3, 3] *= 3.0
    flat = not linkage.evaluator.moving_rows(frame)[2]
    result = []
    for place in (near, far, beyond):
        turn = place[:3, :3] if turned else None
        result.append(lw.Reach(frame, position=place[: 2 if flat else 3, 3], orientation=turn))
    return result


def by_command_line(model: str, goal: lw.Reach, start: np.ndarray | None, method: str) -> np.ndarray:
    words = ["solve", model, "--frame", goal.frame, "--json"]
    words += ["--position", ",".join(repr(float(x)) for x in goal.position)]
    if goal.orientation is not None:
        words += ["--orientation", "matrix=" + ",".join(repr(float(x)) for x in goal.orientation.ravel())]
    if start is not None:
        words += ["--start", ",".join(repr(float(x)) for x in start)]
    if method != "robust":
        words += ["--method", method]
    result = CliRunner().invoke(app.app, words, prog_name="linkwork")
    data = json.loads(result.stdout)
    assert result.exit_code == (0 if data["success"] else 1)
    return np.array(list(data["pose"].values()))


def by_studio(linkage: lw.Linkage, goal: lw.Reach, start: np.ndarray, method: str) -> np.ndarray:
    session = Session(Scene(linkage, start))
    session.set_method(method)
    target = session.add_target("reach", goal.frame)
    place = np.array(target.place)
    place[: len(goal.position), 3] = goal.position
    if goal.orientation is not None:
        place[:3, :3] = goal.orientation
    session.change(targets=(replace(target, place=place, turn=goal.orientation is not None),))
    return session.solve(time_budget=PATIENT).q


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("model", MODELS)
def test_all_roads_lead_to_the_same_pose(model: str, method: str, turned: bool) -> None:
    linkage = MODELS[model]()
    frame, start = FRAMES.get(model, "tip"), linkage.interpolate(linkage.neutral(), linkage.random_pose(1), 0.5)
    if linkage.loops:
        start = linkage.stored_pose("ready")
    for goal in goals_of(linkage, frame, turned):
        alone = lw.solve(linkage, goal, start=start, method=method).q
        assert_array_equal(lw.solve(linkage, [goal], start=start, method=method).q, alone)
        assert_array_equal(by_command_line(model, goal, start, method), alone)
        assert_array_equal(by_studio(linkage, goal, start, method), alone)


@pytest.mark.parametrize("model", MODELS)
def test_without_a_start_they_do_too(model: str) -> None:
    linkage = MODELS[model]()
    for goal in goals_of(linkage, FRAMES.get(model, "tip"), True):
        alone = lw.solve(linkage, goal).q
        assert_array_equal(lw.solve(linkage, [goal]).q, alone)
        assert_array_equal(by_command_line(model, goal, None, "robust"), alone)


def test_a_time_budget_that_is_not_used_up_changes_no_bit() -> None:
    rng = np.random.default_rng(0)
    missed, far = 0, 0
    for arm in (lw.models.panda(), random_chain(np.random.default_rng(4), 8)):  # with and without a closed form
        targets, starts = arm.forward(arm.random_pose(rng, 60), frame="tip"), arm.random_pose(rng, 60)
        targets[::3, :3, 3] *= 1.3  # near the edge of reach, where the search needs many starts
        for target, start in zip(targets, starts, strict=True):
            goal = lw.Reach("tip", pose=target)
            for goals in (goal, [goal, lw.Rest(arm.neutral())]):
                plain = lw.solve(arm, goals, start=start)
                assert_array_equal(lw.solve(arm, goals, start=start, time_budget=PATIENT).q, plain.q)
                missed += not plain
                far += getattr(plain, "starts", 0) > 20
    assert missed > 20
    assert far > 5
