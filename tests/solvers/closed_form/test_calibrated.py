"""Arms with small deviations from their family: no solution is missing, and the deviation is reported."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from closed_form_arms import KUKA, PUMA, STANFORD, P, apart, dh
from linkwork.solvers.chain import Chain
from linkwork.solvers.closed_form import ClosedForm, closed_form
from linkwork.solvers.closed_form.axes import axes_of
from linkwork.solvers.closed_form.recognition import recognised

UR = [(0, 0.16, 0, P), (0, 0, -0.42, 0), (0, 0, -0.39, 0), (0, 0.13, 0, P), (0, 0.1, 0, -P), (0, 0.1, 0, 0)]


def wobbled(rows: list[tuple], amount: float) -> lw.Linkage:
    generator = np.random.default_rng(0)
    return dh([(*(np.array(row[:4]) + generator.normal(size=4) * amount), *row[4:]) for row in rows])


@pytest.mark.parametrize("rows", [PUMA, KUKA], ids=["puma", "kuka"])
@pytest.mark.parametrize("amount", [3e-4, 1e-5])
def test_a_calibrated_arm_is_solved_whole(rows: list[tuple], amount: float) -> None:
    arm = wobbled(rows, amount)
    form = closed_form(arm, "tip")
    assert isinstance(form, ClosedForm)
    assert 0.01 * amount < max(form.off) < 10.0 * amount
    assert "° off" in str(form)
    for q in arm.random_pose(1, 40):
        target = arm.forward(q, frame="tip")
        found = form.all(target)
        assert apart(form, found.values, q).min() < 1e-6
        assert np.abs(arm.forward(found.values, frame="tip") - target).max() < 1e-9


def test_a_calibrated_arm_stays_where_it_is() -> None:
    arm = wobbled(UR, 3e-4)
    poses = arm.random_pose(2, 30)
    poses[::2, 4] = 0.0  # a straight wrist, where branches of the family lead to different solutions
    targets, ik = arm.forward(poses, frame="tip"), lw.prepare(arm, "tip")
    for q, target in zip(poses, targets, strict=True):
        assert np.abs(ik(target, start=q).q - q).max() < 1e-3
    assert np.abs(lw.solve_batch(arm, "tip", targets, start=poses, progress=False).q - poses).max() < 1e-3


def test_a_calibrated_arm_with_a_slide_is_solved_by_its_family_and_polished() -> None:
    arm = wobbled(STANFORD, 2e-4)
    form = closed_form(arm, "tip")
    assert isinstance(form, ClosedForm)
    assert (form.family, form.exact, form.complete) == ("spherical wrist", False, False)
    missing = 0
    poses = arm.random_pose(1, 60)
    for q in poses:
        target = arm.forward(q, frame="tip")
        found = form.all(target)
        assert np.abs(arm.forward(found.values, frame="tip") - target).max(initial=0.0) < 1e-5
        missing += not len(found) or apart(form, found.values, q).min() > 1e-6
    assert missing <= 3
    _, mask = form.all_many(arm.forward(poses, frame="tip"))
    assert [len(form.all(arm.forward(q, frame="tip"))) for q in poses] == mask.sum(axis=1).tolist()


def test_an_arm_of_no_family_says_what_is_nearest() -> None:
    found = axes_of(Chain(wobbled(KUKA, 3e-2), "tip"))
    assert not isinstance(found, str)
    assert "pass" in str(recognised(found[0]))
