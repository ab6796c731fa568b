"""Any six revolute joints, by elimination: every random pose is found again, and all results are solutions."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linkwork as lw
from linkwork.kernels.closed_form import general as kernels, general_memory as memory
from linkwork.solvers.chain import Chain
from linkwork.solvers.closed_form import ClosedForm, closed_form
from linkwork.solvers.closed_form.axes import axes_of
from linkwork.solvers.closed_form.general import General, View, determinants, in_powers
from linkwork.solvers.closed_form.general_form import GeneralForm

P, T = np.pi / 2, np.pi / 3
JACO = [(0, 0.28, 0, P), (0, 0, 0.41, 2 * P), (0, -0.01, 0, P), (0, -0.25, 0, T), (0, -0.085, 0, T), (0, -0.2, 0, 0)]
CRX = [(0, 0.245, 0, -P), (0, 0, 0.71, 2 * P), (0, 0, 0, -P), (0, 0.54, 0, P), (0, -0.15, 0, -P), (0, 0.16, 0, 0)]
SKEW = [(0, 0.3, 0.1, 1.1), (0, 0.1, 0.4, 0.3), (0, 0.1, 0.3, 1.4), (0, 0.2, 0.1, 0.5), (0, 0, 0.2, 1), (0, 0.2, 0, 0)]


def random_rows(kind: str, generator: np.random.Generator) -> list[tuple[float, ...]]:
    """Return a DH table of six revolute joints: generic, or with zeros, right angles or parallel neighbours."""
    rows = []
    for _ in range(6):
        d, a = generator.uniform(-1.0, 1.0, 2)
        twist = generator.uniform(-np.pi, np.pi)
        if kind == "zeros":
            d, a = d * (generator.random() < 0.6), a * (generator.random() < 0.6)
        if kind == "right angles":
            twist = generator.choice([-P, P])
        if kind == "parallel" and generator.random() < 0.3:
            twist, a = 0.0, np.copysign(max(abs(a), 0.2), a)
        rows.append((0.0, d, a, twist))
    return rows


def arm_of(rows: list[tuple[float, ...]]) -> tuple[lw.Linkage, GeneralForm | str]:
    """Return an arm and its elimination, or why it has none, also if the arm belongs to a family."""
    arm = lw.from_dh(rows, convention="standard")
    chain = Chain(arm, "tip")
    found = axes_of(chain)
    assert not isinstance(found, str)
    general = General(found[0])
    return arm, general.why_unsound or GeneralForm(chain, *found, general)


def form_of(rows: list[tuple[float, ...]]) -> tuple[lw.Linkage, GeneralForm]:
    arm, form = arm_of(rows)
    assert isinstance(form, GeneralForm), form
    return arm, form


def apart(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.abs((a - b + np.pi) % (2.0 * np.pi) - np.pi).max(axis=-1)


def check(arm: lw.Linkage, form: GeneralForm, pose: np.ndarray) -> int:
    """Check the solutions for the target of a pose; return their number."""
    target = arm.forward(pose, frame="tip")
    found = form.all(target, limits="ignore").values
    assert apart(found, pose).min(initial=np.inf) < 1e-6, f"{pose} is missing"
    assert_allclose(arm.forward(found, frame="tip"), np.broadcast_to(target, (len(found), 4, 4)), atol=1e-8)
    for k, values in enumerate(found):
        assert apart(found[:k], values).min(initial=np.inf) > 1e-7, "one solution twice"
    return len(found)


@pytest.mark.parametrize("kind", ["generic", "zeros", "right angles", "parallel"])
def test_drawn_poses_are_found_again(kind: str) -> None:
    generator = np.random.default_rng(3)
    for _ in range(3):
        arm, form = form_of(random_rows(kind, generator))
        for pose in generator.uniform(-np.pi, np.pi, (25, 6)):
            assert check(arm, form, pose) % 2 == 0  # away from double roots, solutions come in pairs


@pytest.mark.parametrize(("rows", "most"), [(JACO, 12), (CRX, 16)], ids=["jaco", "crx"])
def test_arms_with_parallel_and_meeting_neighbours(rows: list[tuple[float, ...]], most: int) -> None:
    generator = np.random.default_rng(5)
    arm, form = form_of(rows)
    counts = [check(arm, form, pose) for pose in generator.uniform(-np.pi, np.pi, (150, 6))]
    assert max(counts) == most
    for pose in generator.integers(-1, 3, (12, 6)) * P + np.array([0.0, 0.2, 0.1, 0.0, 0.3, 0.0]):
        check(arm, form, pose)  # right angles, where several solutions share a root


def test_a_joint_at_zero_leaves_no_doubt() -> None:
    arm, form = form_of(CRX)  # with the fourth joint at zero, axes 3 and 5 are parallel
    for pose in np.random.default_rng(4).uniform(-1.5, 1.5, (8, 6)) * np.array([1, 1, 1, 0, 1, 1]):
        check(arm, form, pose)
        assert form.all(arm.forward(pose, frame="tip")).complete


def test_a_search_finds_no_more() -> None:
    arm, form = form_of(SKEW)
    for pose in np.random.default_rng(8).uniform(-np.pi, np.pi, (3, 6)):
        target = arm.forward(pose, frame="tip")
        searched = lw.solve_all(arm, lw.Reach("tip", pose=target), starts=1000)
        found = form.all(target)
        assert found.complete
        assert len(found) == len(searched)


def test_roots_are_where_the_determinant_vanishes() -> None:
    _, form = form_of(SKEW)
    general, pose = form.general, np.array([[0.3, -1.0, 0.7, 2.0, -0.4, 1.1]])
    target = general.axes.forward(pose[0])
    view = View(general.axes, pose, target[None], backwards=False)
    way = view.way((1, 2, 3))
    assert way is not None
    out = np.empty(2 * memory.MOST)
    misfit = kernels.general_roots(way.packed, target, np.empty((memory.ROOM.size, memory.WIDTH)), out)
    assert misfit < 1e-12
    roots = out[: memory.MOST] + 1j * out[memory.MOST :]
    assert_allclose(np.sort(np.abs(roots)), np.sort(1.0 / np.abs(roots)), rtol=1e-9)  # pairs z, 1 / conj z
    real = np.angle(roots[np.abs(np.abs(roots) - 1.0) < 1e-9])
    assert len(real) == len(form.all(target, limits="ignore"))
    assert np.abs(real - pose[0, 1]).min() < 1e-11
    everywhere = np.linspace(0.0, 2.0 * np.pi, 50)
    values = determinants(in_powers(view.left, (1, 2, 3)), view.sides, np.concatenate([real, everywhere]))[0]
    assert np.abs(values[: len(real)]).max() < 1e-12 * np.abs(values).max()


def test_limits_and_starts() -> None:
    arm = lw.from_dh(JACO, convention="standard").replace(joints={"j2": {"lower": -1.0, "upper": 1.0}})
    form = closed_form(arm, "tip")
    assert isinstance(form, GeneralForm)
    pose = np.array([0.4, 0.7, -1.1, 0.5, 1.3, -0.2])
    target, start = arm.forward(pose, frame="tip"), np.array([6.0, 0.0, 0.0, -6.0, 0.0, 0.0])
    every, kept = form.all(target, limits="ignore"), form.all(target, start=start)
    assert len(kept) == np.sum(np.abs(every.values[:, 1]) <= 1.0) < len(every)
    away = np.linalg.norm(kept.values - start, axis=1)
    assert (np.diff(away) >= 0.0).all()
    assert (np.abs(kept.values - start) <= np.pi + 1e-9)[:, [0, 3]].all()


def test_nothing_is_proven_and_said() -> None:
    arm, form = form_of(CRX)
    target = arm.forward(np.array([0.4, 0.7, -1.1, 0.5, 1.3, -0.2]), frame="tip").copy()
    target[:3, 3] = 0.0, 0.1, 5.0
    found = form.all(target)
    assert len(found) == 0
    assert found.complete
    assert found.evidence is not None
    assert "all 16 solutions of the elimination are complex" in found.evidence


def test_solutions_at_a_fold_are_marked() -> None:
    arm, form = form_of(SKEW)
    pose = np.array([0.3, -1.0, 0.7, 2.0, -0.4, 1.1])

    def side(angle: float) -> float:
        return float(np.linalg.det(arm.jacobian(np.array([0.3, -1.0, angle, 2.0, -0.4, 1.1]), "tip")))

    angles = np.linspace(-3.0, 3.0, 60)
    signs = np.sign([side(angle) for angle in angles])
    k = int(np.flatnonzero(signs[1:] != signs[:-1])[0])
    low, high = angles[k], angles[k + 1]
    for _ in range(60):
        middle = (low + high) / 2.0
        low, high = (middle, high) if np.sign(side(middle)) == signs[k] else (low, middle)
    pose[2] = low
    found = form.all(arm.forward(pose, frame="tip"), limits="ignore")
    nearest = int(np.argmin(apart(found.values, pose)))
    assert apart(found.values, pose)[nearest] < 1e-4
    assert found.doubles[nearest]
    assert found.doubles.sum() <= 2


def test_targets_of_single_precision_and_many_at_once() -> None:
    arm, form = form_of(JACO)
    poses = np.random.default_rng(2).uniform(-np.pi, np.pi, (6, 6))
    targets = arm.forward(poses, frame="tip")
    values, mask, proven = form.all_many_proven(targets)
    assert proven.all()
    for k, target in enumerate(targets):
        alone = form.all(target)
        assert_allclose(values[k, mask[k]], alone.values, atol=1e-12)
        assert np.isnan(values[k, ~mask[k]]).all()
        assert len(form.all(target.astype(np.float32))) == len(alone)


def test_batches_know_goals_without_a_pose() -> None:
    arm, form = form_of(JACO)
    generator = np.random.default_rng(6)
    targets = arm.forward(generator.uniform(-np.pi, np.pi, (300, 6)), frame="tip")
    targets[::3, :3, 3] = generator.uniform(-0.6, 0.6, (100, 3))  # many of these have no solution
    for start in (None, np.zeros(6)):
        batch = lw.solve_batch(arm, "tip", targets, start=start, progress=False)
        _, mask, proven = form.all_many_proven(targets)
        assert proven.all()
        assert (batch.success == mask.any(axis=1)).all()
        assert 20 < np.sum(~batch.success) < 100
        assert_allclose(arm.forward(batch.q[batch.success], frame="tip"), targets[batch.success], atol=2e-3)


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([(0, 0, 0.5, 0)] * 6, "in 3 directions only"),
        ([(0, 0, 0, P)] * 6, "in 3 directions only"),
        ([*SKEW[:4], (0, 0.1, 0, 0), (0, 0.2, 0.1, 0.3)], "in 5 directions only"),
        ([(0, 0.1, 0.2, 0.3, "P"), *SKEW[1:]], "six revolute joints"),
    ],
)
def test_arms_that_it_does_not_serve(rows: list[tuple[float, ...]], why: str) -> None:
    _, form = arm_of(rows)
    assert isinstance(form, str)
    assert why in form


def test_arms_of_no_family_have_this_form() -> None:
    form = closed_form(lw.from_dh(SKEW, convention="standard"), "tip")
    assert isinstance(form, ClosedForm)
    assert form.family == "general six"
    assert str(form) == "Closed form for 'tip': general six; joints j1, j2, j3, j4, j5, j6."
