"""MotionBenchMaker's problems, if they are beside the repository: every answer is collision-free according to coal.

Goals that touch something, according to coal and these spheres, are left out; all others are solved.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import linkwork as lw

pytest.importorskip("coal")
DATA = Path(__file__).parents[3] / "shared" / "data" / "collision"
if not DATA.is_dir():
    pytest.skip("problems of others are not beside the repository", allow_module_level=True)

from free_judge import Judge  # noqa: E402 - it needs coal
from free_problems import SCENES, problems, world_of  # noqa: E402

EVERY = 10  # one problem in this many is used; the benchmark uses all


@pytest.mark.parametrize("scene", SCENES)
def test_every_problem_is_solved_and_free_by_coal(scene: str) -> None:
    (arm, every), tip, solved = problems(DATA, scene), SCENES[scene], 0
    for problem in every[::EVERY]:
        judge, q = Judge(arm, problem), arm.pose(problem["goal"])
        target = arm.forward(q, frame=tip)
        avoid = lw.Avoid(world_of(problem), margin=0.0)
        solution = lw.prepare(arm, tip, tolerance=1e-4, rotation_tolerance=1e-3, avoid=avoid)(target)
        if judge.distance(q) < 0.0 and not solution.success:
            assert solution.status == "collides"
            continue
        assert solution.success, (problem["id"], solution.reason)
        assert judge.distance(solution.q) >= 0.0, problem["id"]
        reached = arm.forward(solution.q, frame=tip)
        assert np.linalg.norm(reached[:3, 3] - target[:3, 3]) <= 1e-4
        assert np.arccos(min((np.trace(reached[:3, :3].T @ target[:3, :3]) - 1.0) / 2.0, 1.0)) <= 1e-3
        solved += 1
    assert solved >= 7
