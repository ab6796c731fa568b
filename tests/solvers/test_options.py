"""Options have the same name and type everywhere; unknown options and wrong linkages are refused with a message."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields
from typing import Any, get_args

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import OptionError
from linkwork.solvers import METHODS, Settings
from linkwork.solvers.options import BatchOptions, Limits, LoopOptions, PrepareOptions, SolveOptions, precision

GOAL = lw.Reach("tip", position=(0.4, 0.1, 0.5))


def test_typed_options_are_those_that_methods_take() -> None:
    common = {field.name for field in fields(Settings)}
    own = {field.name for method in METHODS.values() for field in fields(method)}
    assert LoopOptions.__annotations__.keys() == common
    assert SolveOptions.__annotations__.keys() == common | own


def test_prepared_and_batch_solves_share_names_and_types_with_solve() -> None:
    taken = inspect.signature(lw.prepare).parameters
    assert PrepareOptions.__annotations__.keys() == taken.keys() - {"linkage", "frame", "method", "options"}
    shared = PrepareOptions.__annotations__.keys() & SolveOptions.__annotations__.keys()
    assert shared == {"tolerance", "rotation_tolerance", "limits", "restarts", "seed"}
    for name in shared:
        said = {one.__annotations__[name].__forward_arg__ for one in (PrepareOptions, SolveOptions)}  # owners differ
        assert said == {taken[name].annotation}
    of_batches = {"dtype", "solutions", "apart"}
    assert BatchOptions.__annotations__.keys() == PrepareOptions.__annotations__.keys() | of_batches


@pytest.mark.parametrize(
    ("call", "meant"),
    [
        (lambda arm: lw.solve(arm, GOAL, tolerence=1e-3), "tolerance"),
        (lambda arm: lw.solve(arm, GOAL, method="damped", dampng=0.1), "damping"),
        (lambda arm: lw.solve_batch(arm, "tip", np.eye(4)[None], restart=3), "restarts"),
        (lambda arm: lw.track(arm, GOAL, limit="ignore"), "limits"),
        (lambda arm: lw.race(arm, GOAL, max_iteration=3), "max_iterations"),
        (lambda arm: lw.count_solutions(arm, GOAL, tolerances=1e-3), "tolerance"),
    ],
)
def test_a_misspelt_option_is_refused_with_what_was_meant(call: Callable[[lw.Linkage], Any], meant: str) -> None:
    with pytest.raises(OptionError, match=f"did you mean '{meant}'"):
        call(lw.models.panda())


@pytest.mark.parametrize("limits", [True, False, None, "Ignore", ""])
def test_limits_is_one_of_three_words_everywhere(limits: Any) -> None:
    arm = lw.models.panda()
    calls = (
        lambda: lw.solve(arm, GOAL, limits=limits),
        lambda: lw.prepare(arm, "tip", limits=limits),
        lambda: lw.solve_batch(arm, "tip", np.eye(4)[None], limits=limits),
        lambda: lw.solve_all(arm, GOAL, limits=limits),
        lambda: lw.track(arm, GOAL, limits=limits),
    )
    for call in calls:
        with pytest.raises(OptionError, match="limits is one of 'clamp', 'project', 'ignore'"):
            call()
    assert get_args(Limits) == ("clamp", "project", "ignore")


@pytest.mark.parametrize("dtype", ["float32", np.float32, np.dtype("float32"), "f4"])
def test_a_precision_is_a_numpy_dtype_or_its_name(dtype: Any) -> None:
    assert precision(dtype) == np.float32


def test_a_start_is_an_array_a_name_or_values_everywhere() -> None:
    arm, target = lw.models.panda(), lw.models.panda().forward("ready", frame="tip")
    values = dict(zip(arm.coordinates, arm.stored_pose("ready").tolist(), strict=True))
    goal, targets, ik = lw.Reach("tip", pose=target), target[None], lw.prepare(arm, "tip")
    calls: dict[str, Callable[[Any], np.ndarray]] = {
        "solve": lambda start: lw.solve(arm, goal, start=start).q,
        "solve a list": lambda start: lw.solve(arm, [goal, lw.Rest(arm.neutral())], start=start).q,
        "damped": lambda start: lw.solve(arm, goal, start=start, method="damped").q,
        "prepare": lambda start: ik(target, start=start).q,
        "batch": lambda start: lw.solve_batch(arm, "tip", targets, start=start).q,
        "track": lambda start: lw.track(arm, [goal], start=start).poses,
        "race": lambda start: lw.race(arm, goal, start=start, methods=["damped"])[0].poses,
    }
    for name, call in calls.items():
        for start in ("ready", values):
            np.testing.assert_array_equal(call(start), call(arm.stored_pose("ready")), err_msg=name)


def public_calls() -> list[Any]:
    """Return every public function that needs a linkage."""
    found = {}
    for module in (lw, lw.explain, lw.draw):
        for name in module.__all__:
            call = getattr(module, name)
            if inspect.isfunction(call):
                taken = inspect.signature(call).parameters.get("linkage")
                if taken is not None and taken.default is taken.empty:
                    found[f"{call.__module__}.{name}"] = call
    return [pytest.param(call, id=name) for name, call in found.items()]


@pytest.mark.parametrize("call", public_calls())
def test_a_model_is_not_its_name(call: Callable[..., Any]) -> None:
    parameters = inspect.signature(call).parameters.values()
    given = {"linkage": "panda", "clip": lw.models.motion("planar:2,1")}
    operands = [given.get(p.name) for p in parameters if p.default is p.empty and p.kind < 2]
    with pytest.raises(OptionError, match=r"expected a Linkage, such as lw\.models\.panda\(\), got 'panda'"):
        list(call(*operands))


# Default tolerances


@pytest.mark.parametrize("size", [1e-4, 1e-2, 1.0, 1e5])
def test_what_counts_as_reached_follows_the_size_of_small_linkages(size: float) -> None:
    arm = lw.models.planar([size, 0.8 * size, 0.5 * size])
    near = min(1e-4, 1e-3 * 2.3 * size)
    wanted, start = np.array([1.2 * size, 0.9 * size, 0.0]), [0.1, 0.2, 0.3]
    goal = lw.Reach("tip", position=wanted)
    found = {name: lw.solve(arm, goal, start=start, method=name) for name in lw.METHODS if name != "inverse"}
    found["quick"], found["body"] = lw.solve(arm, goal), lw.prepare(arm, [goal])([goal], start=start)
    found["prepared"] = lw.prepare(arm, "tip", orientation=False)(wanted, start=start)
    for name, solution in found.items():
        assert solution.success, name
        assert solution.settings.tolerance == pytest.approx(near), name
        assert np.abs(arm.forward(solution.q, frame="tip")[:3, 3] - wanted).max() <= near, name
    assert lw.solve_batch(arm, "tip", [wanted], orientation=False).residuals.max() <= near
    clip = lw.track(arm, goal, start=start, frames=3)
    assert clip.residuals is not None
    assert clip.residuals.max() <= near
    packed = arm.pack({"tip": goal}).data
    assert packed["assembly"]["tolerance"]["m"] == pytest.approx(near)
    assert lw.solve(arm, goal, start=start, tolerance=0.5 * size).settings.tolerance == 0.5 * size


def test_a_linkage_without_lengths_takes_the_usual_tolerance() -> None:
    slides = lw.Builder("slides").prismatic("x", "one", axis="x").prismatic("y", "two", axis="y").build()
    assert lw.solve(slides, lw.Reach("two", position=(0.3, 0.2, 0.0))).settings.tolerance == 1e-4
