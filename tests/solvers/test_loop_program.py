"""The compiled closure agrees with the one in NumPy, and returns unusual cases to it."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linkwork as lw
from linkwork.errors import LoopError
from linkwork.solvers.closure_side import Side
from linkwork.solvers.loops import Closure, coordinate, link_places
from mechanisms import PLANE
from mechanisms_in_space import SPACE

ALL = PLANE | SPACE
ONE = [name for name, make in ALL.items() if len(make(1.0).drivers) == 1]


def begun(name: str) -> tuple[lw.Linkage, str, np.ndarray, np.ndarray]:
    """Return a mechanism, its driver, the driver's values, and a closed pose at the first value."""
    made = ALL[name](1.0)
    linkage, (driver, path) = made.linkage, next(iter(made.drivers.items()))
    hint = dict(made.hints[0]) if made.hints else {}
    q = linkage.pose({driver: float(path[0])} | hint)
    start = lw.close(linkage, q, keep=driver) if hint else lw.assemble(linkage, start=q, keep=driver, most=1)[0]
    return linkage, driver, path[:: max(len(path) // 16, 1)], start


def driven(linkage: lw.Linkage, driver: str, path: np.ndarray, start: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the poses of a drive, and where it stopped, since some assembly modes get stuck."""
    try:
        return lw.drive(linkage, driver, path, start=start).poses, float(path[-1])
    except LoopError as error:
        return start, error.value or 0.0


@pytest.mark.parametrize("name", ONE)
def test_it_goes_where_numpy_goes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    begin = begun(name)
    compiled, end = driven(*begin)
    monkeypatch.setattr(Closure, "program", None)
    slow, stop = driven(*begin)
    assert_allclose(end, stop, atol=1e-9)
    places = link_places(begin[0], slow)  # not joints: a rod between two ball joints may spin
    assert_allclose(link_places(begin[0], compiled), places, atol=1e-9 * begin[0].loop_size)


@pytest.mark.parametrize("name", ["crank and rocker", "watt one", "bennett", "RSSR"])
def test_ordinary_turns_are_compiled_from_end_to_end(name: str) -> None:
    linkage, driver, path, start = begun(name)
    closure, (_, v) = Closure(linkage), coordinate(linkage, driver)
    free = np.arange(linkage.nv) != v
    poses = np.zeros((len(path), linkage.nq))
    poses[0] = start
    program = closure.program
    assert program is not None
    count, rates = program.drive(v, free, Side(closure.jacobian(start)[:, free]).rank(), path, poses, 0)
    assert count == len(path)
    assert np.abs(closure.error(poses)).max() < 1e-12
    assert_allclose(closure.jacobian(poses[-1]) @ rates, 0.0, atol=1e-4)  # at the predicted pose, near the last one
    assert rates[v] == 1.0


@pytest.mark.parametrize("name", ["jansen", "bennett", "cardan", "RSSR", "stewart"])
def test_gaps_and_their_jacobian_are_those_of_the_goals(name: str) -> None:
    linkage = ALL[name](3.0).linkage
    closure, poses = Closure(linkage), linkage.random_pose(0, 5)
    errors = [goal.error(linkage, poses) for goal in closure.goals]
    assert_allclose(closure.error(poses), np.concatenate(errors, axis=-1), atol=1e-12)
    assert_allclose(closure.widths(poses), np.stack([np.linalg.norm(e, axis=-1) for e in errors], -1), atol=1e-12)
    jacobian = closure.jacobian(poses)
    assert_allclose(closure.jacobian(poses[2]), jacobian[2], atol=1e-14)
    metres = np.concatenate([[b.unit == "m"] * (b.rows.stop - b.rows.start) for g in closure.goals for b in g.blocks])
    rows = np.concatenate([goal.jacobian(linkage, poses) for goal in closure.goals], axis=-2)
    assert_allclose(jacobian, rows * np.where(metres, 1.0 / closure.size, 1.0)[:, None] * closure.units, atol=1e-12)


@pytest.mark.parametrize("name", ONE)
def test_rates_are_those_of_numpy(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    linkage, driver, path, start = begun(name)
    poses = lw.drive(linkage, driver, path[:3], start=start).poses if name != "parallelogram" else start[None]
    given = {"accelerations": {driver: np.full(len(poses), 0.7)}}
    compiled = lw.loop_rates(linkage, poses, {driver: 2.0}, **given)
    monkeypatch.setattr(Closure, "program", None)
    slow = lw.loop_rates(linkage, poses, {driver: 2.0}, **given)
    assert_allclose(compiled.velocities, slow.velocities, rtol=1e-8, atol=1e-8)
    assert_allclose(compiled.accelerations, slow.accelerations, rtol=1e-7, atol=1e-7)
    assert (compiled.determined == slow.determined).all()


def test_what_has_no_usual_rank_is_handed_back() -> None:
    linkage = lw.models.four_bar(0.4, 0.2, 0.4, 0.2)  # a parallelogram: branches meet in the flat pose
    closure = Closure(linkage)
    flat = linkage.pose(crank=0.0, coupler=0.0, rocker=0.0)
    assert closure.closed(flat)
    program, poses = closure.program, np.stack([flat, np.full(3, 9.0)])
    assert program is not None
    count, rates = program.drive(0, np.array([False, True, True]), 2, np.array([0.0, 0.1]), poses, 0)
    assert count == 1
    assert not rates.any()
    assert_allclose(poses[1], flat)
