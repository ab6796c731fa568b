"""Kernels as Python: the same results as machine code, and bounds of memory."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

import children
from linkwork.kernels.runtime import the_pack

HERE = Path(__file__).parents[1]
SOLVES = """
import kernels_in_python as twice  # first: what is declared before runs once
import linkwork as lw
arm = lw.models.ur5()
target = arm.forward(arm.random_pose(0, 9), frame="tip")
assert lw.solve_batch(arm, "tip", target, threads=1, progress=False).success.all()
assert lw.solve(arm, lw.Reach("tip", pose=target[0]), method="damped")
for name, found in twice.outcomes.items():
    assert set(found) <= {"same", "cut short"}, (name, found)
assert sum(found["same"] for found in twice.outcomes.values()) >= 3, twice.summary()
"""
BOUNDS = """
import numpy as np
import kernels_in_python as twice
from linkwork.kernels.lanes import beyond, cells, load
from linkwork.kernels.rotations import cross
twice._now.steps = 100
assert cross((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)) == (0.0, 0.0, 1.0)
memory = beyond(cells(np.arange(4.0)), 1)
assert load(memory, 2) == 3.0
for item in (3, -2):
    try:
        load(memory, item)
    except IndexError:
        continue
    raise AssertionError(item)
"""


@pytest.mark.skipif(isinstance(the_pack(), str), reason="there is no pack to compare with")
@pytest.mark.parametrize("program", [SOLVES, BOUNDS], ids=["solves", "bounds"])
def test_kernels_run_as_python(program: str) -> None:
    paths = os.pathsep.join((str(HERE), str(HERE.parent / "src")))
    done = children.run(
        [sys.executable, "-c", program], text=True, env=os.environ | {"PYTHONPATH": paths}, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr
