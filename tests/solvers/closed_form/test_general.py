"""Any six revolute joints, by elimination: every pose that was drawn is found again, and nothing else but solutions."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.solvers.chain import Chain
from linkwork.solvers.closed_form.axes import Axes, axes_of
from linkwork.solvers.closed_form.general import General
from linkwork.solvers.closed_form.general_form import GeneralForm

P, T = np.pi / 2, np.pi / 3
JACO = [
    (0, 0.2755, 0, P),
    (0, 0, 0.41, 2 * P),
    (0, -0.0098, 0, P),
    (0, -0.25, 0, T),
    (0, -0.0855, 0, T),
    (0, -0.2, 0, 0),
]
CRX = [(0, 0.245, 0, -P), (0, 0, 0.71, 2 * P), (0, 0, 0, -P), (0, 0.54, 0, P), (0, -0.15, 0, -P), (0, 0.16, 0, 0)]


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
        if kind == "parallel" and generator.random() < 0.4:
            twist, a = 0.0, np.copysign(max(abs(a), 0.2), a)
        rows.append((0.0, d, a, twist))
    return rows


def arm_of(rows: list[tuple[float, ...]]) -> tuple[Axes, GeneralForm | None]:
    """Return the lines of an arm and its elimination, without the families that may serve it as well."""
    chain = Chain(lw.from_dh(rows, convention="standard"), "tip")
    found = axes_of(chain)
    assert not isinstance(found, str)
    general = General(found[0])
    return found[0], None if general.why_unsound else GeneralForm(chain, *found, general)


def apart(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.abs((a - b + np.pi) % (2.0 * np.pi) - np.pi).max(axis=-1)


def check(axes: Axes, form: GeneralForm, pose: np.ndarray) -> int:
    """Hold the solutions of where a pose leads to what they must be; return how many there are."""
    target = axes.forward(pose)
    found = form.all(target, limits="ignore").values
    assert apart(found, pose).min(initial=np.inf) < 1e-6, f"{pose} is missing"
    for k, values in enumerate(found):
        assert np.abs(axes.forward(values) - target).max() < 1e-8 * max(1.0, axes.size)
        assert apart(found[:k], values).min(initial=np.inf) > 1e-7, "one solution twice"
    assert len(found) % 2 == 0  # away from folds, solutions come in pairs
    return len(found)


@pytest.mark.parametrize("kind", ["generic", "zeros", "right angles", "parallel"])
def test_drawn_poses_are_found_again(kind: str) -> None:
    generator = np.random.default_rng(3)
    served = 0
    while served < 4:
        axes, form = arm_of(random_rows(kind, generator))
        if form is None:
            assert kind in ("parallel", "zeros")
            continue
        served += 1
        for pose in generator.uniform(-np.pi, np.pi, (30, 6)):
            check(axes, form, pose)


@pytest.mark.parametrize(("rows", "most"), [(JACO, 12), (CRX, 16)], ids=["jaco", "crx"])
def test_arms_with_parallel_and_meeting_neighbours(rows: list[tuple[float, ...]], most: int) -> None:
    generator = np.random.default_rng(5)
    axes, form = arm_of(rows)
    assert form is not None
    counts = [check(axes, form, pose) for pose in generator.uniform(-np.pi, np.pi, (150, 6))]
    assert max(counts) == most
