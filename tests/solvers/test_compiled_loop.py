"""The compiled loop, compared with the NumPy loop: every method, many linkages, all kinds of goals for frames."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkages import JOINTS, one_joint, random_tree
from linkwork.errors import GoalError, OptionError
from linkwork.solvers import METHODS, Settings, iterate
from linkwork.solvers.groups import group_of
from linkwork.solvers.iterate import limited_step, moved, settled
from linkwork.solvers.problem import Problem, State
from linkwork.solvers.textbook_packing import COMPILED
from linkwork.solvers.walking import FIRST, Walked, targets_of, walk_for

OPTIONS: dict[str, tuple[dict[str, Any], ...]] = {
    "inverse": ({}, {"singular": 0.5}),
    "pseudoinverse": ({}, {"form": "rows"}, {"form": "columns"}),
    "damped": ({}, {"damping": 0.3}),
    "selectively-damped": ({}, {"gamma": 0.1}),
    "control": ({}, {"form": "printed", "gains": 0.4}),
    "alternative": ({},),
    "transpose": ({}, {"scale": 0.01}),
    "ccd": ({},),
    "ranked-ccd": ({}, {"ranking": "recency"}, {"ranking": "limits"}),
    "fabrik": ({}, {"foresight": 0.3, "overshoot": [0.0, 1.0]}),
    "analytic": ({}, {"elbow": "up"}, {"direction": 1.0}),
}
LINKAGES = {
    "two links": lambda: lw.models.planar([2, 1]),
    "planar": lambda: lw.models.planar([15, 10, 5]),
    "panda": lw.models.panda,
    "stanford": lw.models.stanford,
    "human": lw.models.human,
    "floating": lambda: lw.models.human(root="floating"),
    "snake": lambda: lw.models.snake(6),
    "tree": lambda: random_tree(np.random.default_rng(5), 6),
    **{name: lambda joint=JOINTS[name]: one_joint(joint) for name in ("planar-z", "screw-z", "ball", "ball-limited")},
}
every_method = pytest.mark.parametrize("name", COMPILED)
GAP = 1e-3  # least gap of singular values: for equal ones, directions of selective damping are not unique


def end(linkage: lw.Linkage) -> str:
    return next(name for name in ("tip", "left_hand", linkage.frames[-1]) if name in linkage.frames)


def problems(linkage: lw.Linkage, rng: np.random.Generator) -> list[tuple[list[lw.Reach], np.ndarray]]:
    """Return goals of all kinds, one and two at once, and starts."""
    found, frame = [], end(linkage)
    for kind in ("position", "orientation", "pose", "two"):
        world = linkage.forward(linkage.random_pose(rng))
        place = world[frame]
        goals = [lw.Reach(frame, position=place[:3, 3])]
        if kind == "orientation":
            goals = [lw.Reach(frame, orientation=place[:3, :3])]
        if kind == "pose":
            goals = [lw.Reach(frame, pose=place)]
        if kind == "two":
            other = linkage.frames[len(linkage.frames) // 2]
            goals.append(lw.Reach(other, position=world[other][:3, 3], weight=0.5))
        found += [(goals, linkage.random_pose(rng)) for _ in range(2)]
    return found


def distinct(values: np.ndarray) -> bool:
    """Return whether singular values are well separated and nonzero."""
    return bool(np.all(-np.diff(values) > GAP * values[0]) and values[-1] > GAP * values[0])


@every_method
def test_steps_are_those_of_numpy(name: str) -> None:
    rng, compared = np.random.default_rng(3), 0
    for make in LINKAGES.values():
        linkage = make()
        cases = problems(linkage, rng)
        for options in OPTIONS[name]:
            method = METHODS[name](**options)
            settings = settled(Settings(), method)
            for goals, q in cases:
                problem = Problem(linkage, goals, q)
                try:
                    method.accept(problem)
                except (GoalError, OptionError):
                    continue
                walk, state = walk_for(method, problem, settings), State(problem, q, problem.error(q))
                values = np.linalg.svd(state.jacobian, compute_uv=False)
                if walk is None or not distinct(values):
                    continue
                compared += 1
                trace = np.empty((1, walk.record))
                found = walk.run(targets_of([problem.goals] * 2), 1, q[None], 2, trace)
                step = limited_step(method, state, settings)
                near = 1e-12 * (values[0] / values[-1]) * max(1.0, np.abs(step).max())
                if options.get("form") in ("rows", "columns"):
                    near *= values[0] / values[-1]
                (record,) = walk.records(problem, trace)
                np.testing.assert_allclose(record.step, step, rtol=0.0, atol=near)
                np.testing.assert_allclose(found[0][1], moved(problem, q, step, settings), rtol=0.0, atol=10 * near)
                np.testing.assert_allclose(record.residuals, problem.residuals(state.error), rtol=0.0, atol=1e-12)
                assert record.notes.keys() == state.notes.keys()
                for note, value in state.notes.items():
                    assert float(record.notes[note]) == pytest.approx(float(np.ravel(value)[0]), rel=1e-9)
    assert compared >= (4 if name in ("inverse", "analytic") else 20)


@every_method
@pytest.mark.parametrize("limits", ["clamp", "ignore"])
def test_solves_are_those_of_numpy(name: str, limits: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {"method": name, "limits": limits, "max_iterations": 40}
    cases = [
        (LINKAGES["planar"](), lw.Reach("tip", position=(-20, 5)), [0.39, 0.79, 0.79]),
        (LINKAGES["planar"](), lw.Reach("tip", position=(-35, 5)), [0.39, 0.79, 0.79]),
        (LINKAGES["two links"](), lw.Reach("tip", position=(0.5, 2)), [0.2, 0.4]),
    ]
    arm = lw.models.panda()
    ready = arm.stored_pose("ready")
    world = arm.forward(ready, frame="tip")
    cases.append((arm, lw.Reach("tip", position=world[:3, 3] + 0.05, orientation=world[:3, :3]), ready))
    for linkage, goal, start in cases:
        try:
            with monkeypatch.context() as patch:
                patch.setattr(iterate, "walk_for", lambda *_: None)
                known = lw.solve(linkage, goal, start=start, trace=True, **given)
        except GoalError:
            continue
        found = lw.solve(linkage, goal, start=start, trace=True, **given)
        several = lw.solve(linkage, goal, start=[start, start], **given)
        assert (found.status, found.iterations) == (known.status, known.iterations)
        assert (found.options, found.settings) == (known.options, known.settings)
        np.testing.assert_allclose(found.q, known.q, rtol=0.0, atol=1e-7)
        np.testing.assert_array_equal(several.q, [found.q, found.q])
        assert len(found.trace) == len(known.trace)
        for one, two in zip(found.trace[:8], known.trace, strict=False):  # out of reach, rounding errors grow
            np.testing.assert_allclose(one.singular_values, two.singular_values, rtol=1e-6, atol=1e-6)
            np.testing.assert_allclose(one.step, two.step, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", [name for name in COMPILED if METHODS[name].weighs_joints])
def test_joints_that_stay_and_weights(name: str) -> None:
    arm = lw.models.panda()
    group = group_of(arm, ["panda_joint1", "panda_joint2", "panda_joint4", "panda_joint6"], {"panda_joint1": 9.0})
    q = arm.stored_pose("ready")
    goal = lw.Reach("tip", position=arm.forward(q, frame="tip")[:3, 3] + (0.05, 0.1, -0.05))
    method = METHODS[name]()
    problem, settings = Problem(arm, goal, q, group), settled(Settings(), method)
    walk = walk_for(method, problem, settings)
    assert walk is not None
    trace = np.empty((1, walk.record))
    walk.run(targets_of([problem.goals] * 2), 1, q[None], 2, trace)
    step = limited_step(method, State(problem, q, problem.error(q)), settings)
    np.testing.assert_allclose(walk.records(problem, trace)[0].step, step, rtol=0.0, atol=1e-12)
    assert step[2] == step[4] == 0.0


def test_what_numpy_serves_is_left_to_it() -> None:
    arm, method, settings = lw.models.panda(), METHODS["damped"](), Settings(max_iterations=10)
    reach = lw.Reach("tip", position=(0.4, 0.1, 0.5))
    assert walk_for(method, Problem(arm, reach), settings) is not None
    for goals in (
        lw.Reach("tip", pose=np.eye(4), free="z"),
        lw.Reach("tip", position=(0.4, 0.1, 0.5), position_range=0.1),
        lw.LookAt("tip", at=(1, 0, 0)),
        [reach, lw.Rest(arm.neutral())],
        lw.Reach("tip", position=(0.4, 0.1, 0.5), tolerance=np.inf),
    ):
        assert walk_for(method, Problem(arm, goals), settings) is None
    assert walk_for(method, Problem(arm, reach), Settings(limits="project", max_iterations=9)) is None
    assert walk_for(METHODS["control"](z=lambda q: q), Problem(arm, reach), settings) is None
    assert walk_for(METHODS["ranked-ccd"](ranking=lambda joints: joints.gain), Problem(arm, reach), settings) is None

    class Halved(METHODS["damped"]):  # type: ignore[misc]
        def step(self, state: State) -> Any:
            return 0.5 * super().step(state)

    assert walk_for(Halved(), Problem(arm, reach), settings) is None


def test_a_time_budget_changes_no_bit_or_stops_the_walk() -> None:
    arm, goal = lw.models.planar([15, 10, 5]), lw.Reach("tip", position=(-20, 5))
    given: dict[str, Any] = {"start": [0.39, 0.79, 0.79], "method": "transpose", "scale": 1e-5, "max_iterations": 3000}
    plain, patient = lw.solve(arm, goal, **given), lw.solve(arm, goal, time_budget=1e3, **given)
    assert plain.iterations > 500
    np.testing.assert_array_equal(patient.q, plain.q)
    assert (patient.status, patient.iterations) == (plain.status, plain.iterations)
    hasty = lw.solve(arm, goal, time_budget=1e-9, **given)
    assert (hasty.status, hasty.success, hasty.iterations) == ("time", False, FIRST)
    assert "used up its time" in hasty.reason
    several = lw.solve(arm, goal, time_budget=1e-9, **given | {"start": [[0.39, 0.79, 0.79], plain.q]})
    assert several.status[0] == "time"


@every_method
def test_a_prepared_method_answers_as_solve_does(name: str) -> None:
    arm, start = lw.models.planar([15, 10, 5]), np.array([0.39, 0.79, 0.79])
    turned = name == "inverse"
    ik = lw.prepare(arm, "tip", method=name, position="xy", orientation=turned)
    target = arm.forward([0.6, 1.0, 0.5], frame="tip")
    goal = lw.Reach("tip", position=target[:2, 3], orientation=target[:3, :3] if turned else None)
    known = lw.solve(arm, goal, start=start, method=name)
    for found in (ik(target, start=start), ik(target, start=start.tolist())):
        np.testing.assert_array_equal(found.q, known.q)
        assert (found.status, found.iterations, found.reason) == (known.status, known.iterations, known.reason)
        assert (found.success, found.method) == (known.success, name)
        np.testing.assert_array_equal(found.start, start)


@pytest.mark.parametrize(
    "again",
    [copy.copy, copy.deepcopy, lambda solution: pickle.loads(pickle.dumps(solution)), dataclasses.replace],
    ids=["copy", "deepcopy", "pickle", "replace"],
)
def test_a_solution_of_the_compiled_loop_is_copied_as_any_other(again: Any) -> None:
    arm = lw.models.panda()
    solution = lw.solve(arm, lw.Reach("tip", position=(0.4, 0.1, 0.5)), start=arm.stored_pose("ready"), method="damped")
    assert isinstance(solution, Walked)
    other = again(solution)
    for name in ("q", "start", "residuals"):
        np.testing.assert_array_equal(getattr(other, name), getattr(solution, name))
    assert (other.success, other.status, other.iterations, other.method) == (
        True,
        "reached",
        solution.iterations,
        "damped",
    )
    assert other.reason == solution.reason
    np.testing.assert_array_equal(other.goals[0].target, solution.goals[0].target)


def test_a_prepared_method_says_what_is_wrong() -> None:
    arm = lw.models.panda()
    ik = lw.prepare(arm, "tip", method="damped", damping=0.1, max_iterations=7)
    assert repr(ik) == "<PreparedMethod 'damped' for 'tip' of 'panda'>"
    assert ik(arm.forward(arm.neutral(), frame="tip") + 0.0).settings.max_iterations == 7
    assert isinstance(ik(arm.forward(arm.neutral(), frame="tip"), start=arm.stored_pose("ready")), Walked)
    with pytest.raises(GoalError, match="not a finite rigid transform"):
        ik(np.full((4, 4), 0.5), start=arm.neutral())
    with pytest.raises(GoalError, match="targets of 'tip' are 4x4 matrices"):
        ik([1.0, 2.0, 3.0])
    with pytest.raises(lw.errors.PoseValueError, match="must be finite"):
        ik(np.eye(4), start=np.full(7, np.nan))
    with pytest.raises(OptionError, match="takes one start"):
        ik(np.eye(4), start=np.zeros((2, 7)))
    with pytest.raises(OptionError, match="is prepared for a frame by its name"):
        lw.prepare(arm, lw.Reach("tip", pose=np.eye(4)), method="damped")  # type: ignore[call-overload]
    with pytest.raises(OptionError, match="options of methods; name the method"):
        lw.prepare(arm, "tip", damping=0.1)  # type: ignore[call-overload]
    with pytest.raises(OptionError, match="has no option 'restarts'"):
        lw.prepare(arm, "tip", method="damped", restarts=3)
    with pytest.raises(GoalError, match="needs a square Jacobian"):
        lw.prepare(arm, "tip", method="inverse")


@pytest.mark.parametrize("name", [name for name in COMPILED if name != "inverse"])
def test_frames_of_a_track_are_steps_of_numpy(name: str) -> None:
    arm, goal = lw.models.planar([15, 10, 5]), lw.Reach("tip", position=(-20, 5))
    start = np.array([np.pi / 8, np.pi / 4, np.pi / 4])
    seen: list[Any] = []
    clip = lw.track(arm, goal, start=start, method=name, steps=1, progress=lambda *told: seen.append(told))
    assert seen == [(k + 1, 21) for k in range(21)]
    method, memory, q = METHODS[name](), {}, start
    for k, aimed in enumerate(lw.paths.line(arm, goal, start=start, frames=21)):
        problem = Problem(arm, aimed, start)
        q = iterate.follow(method, problem, q, settled(Settings(), method), int(k > 0), memory)
        np.testing.assert_allclose(clip.poses[k], q, rtol=0.0, atol=1e-9)
        np.testing.assert_allclose(clip.residuals[k], problem.residuals(problem.error(q)), rtol=0.0, atol=1e-8)
