"""Two rounds of the soak test: random calls of the whole public API, checked independently; and tests of the checks."""

from __future__ import annotations

from inspect import isfunction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

import linkwork as lw
from soak import ACTIONS, OFTEN, Soak, soak
from soak_judge import Wrong


def test_random_calls_come_back_or_are_refused() -> None:
    said: list[str] = []
    run, calls = Soak(3, rows=500), 2 * sum(OFTEN.get(name, 1) for name in ACTIONS)
    soak(run, lambda: run.calls.total() < calls, said.append)
    assert set(run.calls) == set(ACTIONS)
    assert run.successes > 0.8 * run.solves > 500
    assert f"{calls} calls" in said[-4]
    assert "linkwork.collision.surfaces._read" in said[-1]
    assert run.refused.total() < 0.3 * calls


class Calls(RuleBasedStateMachine):
    """Calls in any order on the results of earlier ones; Hypothesis reports the shortest failing sequence."""

    def __init__(self) -> None:
        super().__init__()
        self.soak = Soak(0, rows=50)

    @rule(name=st.sampled_from(ACTIONS), seed=st.integers(0, 2**31))
    def call(self, name: str, seed: int) -> None:
        self.soak.rng = np.random.default_rng(seed)
        self.soak.call(name)


TestCalls = Calls.TestCase
TestCalls.settings = settings(max_examples=6, stateful_step_count=15, deadline=None)


def test_every_public_function_is_called() -> None:
    texts = "".join(path.read_text(encoding="utf-8") for path in sorted(Path(__file__).parent.glob("soak_*.py")))
    functions = [name for name in lw.__all__ if isfunction(getattr(lw, name))]
    assert len(functions) > 40
    assert [name for name in functions if f"lw.{name}(" not in texts] == []


@pytest.mark.parametrize("wrong", ["elsewhere", "turned", "beyond limits"])
def test_a_false_success_is_found(wrong: str) -> None:
    arm, judge = lw.models.panda(), Soak(0)
    q = arm.random_pose(0, 5)
    targets = arm.forward(q, frame="tip")
    judge.judge(arm, "tip", q, np.ones(5, bool), targets)
    if wrong == "elsewhere":
        targets[3, 2, 3] += 1.1e-4
    elif wrong == "turned":
        targets[3] = targets[3] @ lw.transforms.transform(rotation=lw.transforms.axis_rotation(np.eye(3)[2], 1.1e-3))
    else:
        q[3, 0] = arm.upper[0] + 1e-9
        targets = arm.forward(q, frame="tip")
    judge.judge(arm, "tip", q, np.arange(5) != 3, targets)
    with pytest.raises(Wrong):
        judge.judge(arm, "tip", q, np.ones(5, bool), targets)
