"""The elbow circle and the null space: elbows move while hands stay."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linkwork as lw
from linkwork.errors import GoalError, OptionError

UPPER, LOWER = 0.32, 0.27
HANDS = 1e-9


def hinged(limit: float = math.inf) -> lw.Linkage:
    """Return an arm of seven revolute joints: three through the shoulder, the elbow, three through the wrist."""
    b = lw.Builder("arm")
    b.revolute("s1", "a", axis="z", at=(0.1, 0.2, 0.3)).revolute("s2", "b", axis="y")
    b.revolute("s3", "upper", axis="z", limits=(-limit, limit))
    b.revolute("elbow", "lower", axis="y", at=(0, 0, UPPER)).revolute("w1", "c", axis="z", at=(0, 0, LOWER))
    b.revolute("w2", "d", axis="y").revolute("w3", "hand", axis="z")
    return b.frame("tool", at=(0.03, 0.01, 0.1)).build()


def balled() -> lw.Linkage:
    """Return an arm of two ball joints and a revolute joint."""
    b = lw.Builder("arm").ball("shoulder", "upper", at=(0.1, 0.2, 0.3))
    b.revolute("elbow", "lower", axis="y", at=(0, 0, UPPER)).ball("wrist", "hand", at=(0, 0, LOWER))
    return b.frame("tool", at=(0.03, 0.01, 0.1)).build()


ARMS = {"hinged": hinged, "balled": balled}
arms = pytest.mark.parametrize("name", ARMS)


def swivel_angle(arm: lw.Linkage, q: np.ndarray) -> float:
    """Return the angle of the elbow about the line from shoulder to wrist, from straight down, in closed form."""
    shoulder, elbow, wrist = (arm.forward(q, frame=frame)[:3, 3] for frame in ("upper", "lower", "hand"))
    line = (wrist - shoulder) / np.linalg.norm(wrist - shoulder)
    down = np.array([0.0, 0.0, -1.0]) - line * -line[2]
    out = (elbow - shoulder) - line * (line @ (elbow - shoulder))
    return math.atan2(line @ np.cross(down, out), down @ out)


def bent(arm: lw.Linkage, seed: int) -> np.ndarray:
    return arm.pose(elbow=1.0 + 0.1 * seed, base=arm.random_pose(seed))


@arms
@pytest.mark.parametrize("amount", [0.0, 0.4, -1.3, 3.0, 2 * math.pi, -9.0])
def test_the_swivel_angle_changes_by_exactly_the_amount_and_the_hand_stays(name: str, amount: float) -> None:
    arm = ARMS[name]()
    for seed in range(3):
        q = bent(arm, seed)
        moved = lw.swivel(arm, q, amount)
        assert moved.success
        assert moved.elbow == "lower"
        change = swivel_angle(arm, moved.q) - swivel_angle(arm, q)
        assert abs(math.remainder(change - amount, 2 * math.pi)) < 1e-9
        assert_allclose(arm.forward(moved.q, frame="tool"), arm.forward(q, frame="tool"), rtol=0, atol=HANDS)
        assert_allclose(moved.q[arm.coordinate_index["elbow"]], q[arm.coordinate_index["elbow"]], atol=1e-9)


def test_there_and_back_is_where_it_was() -> None:
    arm = hinged()
    q = bent(arm, 1)
    back = lw.swivel(arm, lw.swivel(arm, q, "50deg").q, "-50deg")
    assert_allclose(arm.difference(q, back.q), 0.0, atol=1e-8)


def test_a_limit_stops_the_elbow_and_is_named() -> None:
    arm = hinged(0.8)
    q = bent(arm, 0)
    moved = lw.swivel(arm, q, 2 * math.pi)
    assert not moved.success
    assert 0.0 <= moved.turned < 2 * math.pi
    assert moved.held == ("s3",)
    assert "s3 at a limit" in moved.reason
    assert (moved.q >= arm.lower).all()
    assert (moved.q <= arm.upper).all()
    assert_allclose(abs(moved.q[2]), 0.8, atol=1e-6)
    assert_allclose(arm.forward(moved.q, frame="tool"), arm.forward(q, frame="tool"), rtol=0, atol=HANDS)


@pytest.mark.parametrize("amount", [0.5, -0.5, 8.0, -8.0])
def test_a_panda_moves_its_elbow_within_limits(amount: float) -> None:
    arm = lw.models.panda()
    q = arm.stored_pose("ready")
    moved = lw.swivel(arm, q, amount)
    assert moved.success == (abs(amount) < 1.0)
    assert_allclose(arm.forward(moved.q, frame="tip"), arm.forward(q, frame="tip"), rtol=0, atol=HANDS)
    assert (moved.q >= arm.lower).all()
    assert (moved.q <= arm.upper).all()
    assert np.linalg.norm(arm.forward(moved.q, frame="panda_link4") - arm.forward(q, frame="panda_link4")) > 0.05


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("amount", ["25deg", "-25deg"])
def test_a_human_moves_an_elbow_and_nothing_else(side: str, amount: str) -> None:
    figure = lw.models.human()
    q = figure.clamp(figure.stored_pose("wave"))
    moved = lw.swivel(figure, q, amount, frame=f"{side}_hand")
    before, after = figure.forward(q), figure.forward(moved.q)
    for frame in figure.frames:
        if not frame.startswith(tuple(f"{side}_{part}" for part in ("upper_arm", "forearm", "wrist"))):
            assert_allclose(after[frame], before[frame], rtol=0, atol=HANDS, err_msg=frame)
    assert moved.turned != 0.0
    assert moved.success or moved.held


def test_a_larger_arm_moves_as_a_whole_from_the_shoulder_named() -> None:
    figure = lw.models.human()
    q = figure.clamp(figure.stored_pose("wave"))
    moved = lw.swivel(figure, q, 0.2, frame="left_hand", shoulder="left_clavicle")
    assert_allclose(figure.forward(moved.q, frame="left_hand"), figure.forward(q, frame="left_hand"), atol=HANDS)


def test_what_has_no_elbow_says_so() -> None:
    arm = hinged()
    with pytest.raises(GoalError, match="6 degrees of freedom"):
        lw.swivel(lw.models.ur5(), "ready", 0.1)
    with pytest.raises(GoalError, match="closed loops"):
        lw.swivel(lw.models.jansen_leg(), "start", 0.1, frame="foot")
    with pytest.raises(GoalError, match="stretched straight"):
        lw.swivel(arm, arm.pose(s2=0.4, elbow=0.0, w2=0.5), 0.1)
    with pytest.raises(GoalError, match="not on the way"):
        lw.swivel(lw.models.human(), "wave", 0.1, frame="left_hand", shoulder="right_shoulder")
    with pytest.raises(OptionError, match="finite"):
        lw.swivel(arm, bent(arm, 0), math.inf)
    with pytest.raises(OptionError, match="exceeds the limits"):
        lw.swivel(hinged(0.1), [0, 0.3, 1.0, 1.0, 0, 0.2, 0], 0.1)
    with pytest.raises(OptionError, match="one pose"):
        lw.swivel(arm, arm.random_pose(0, 2), 0.1)


# The null space of a solution


def test_null_space_is_orthonormal_and_leaves_all_goals_alone() -> None:
    figure = lw.models.human(root="floating")
    goals = [lw.Hold("left_foot"), lw.Hold("right_foot"), lw.Reach("left_hand", position=(0.3, 0.3, 1.1)), lw.Rest()]
    solution = lw.solve(figure, goals, start="stand")
    basis = solution.null_space()
    assert basis.shape == (figure.nv, figure.nv - 15)  # Rest has a lower priority
    assert_allclose(basis.T @ basis, np.eye(basis.shape[1]), atol=1e-12)
    for goal in solution.goals[:3]:
        assert_allclose(goal.jacobian(figure, solution.q) @ basis, 0.0, atol=1e-9)


def test_null_space_of_a_panda_is_its_elbow_circle() -> None:
    arm = lw.models.panda()
    q = arm.stored_pose("ready")
    solution = lw.solve(arm, lw.Reach("tip", orientation=arm.forward(q, frame="tip")), start=q)
    basis = solution.null_space()
    way = arm.difference(solution.q, lw.swivel(arm, solution.q, 1e-5).q)
    assert basis.shape == (7, 1)
    assert abs(basis[:, 0] @ way) / np.linalg.norm(way) > 1.0 - 1e-8


def test_null_space_of_a_mechanism_is_how_it_moves() -> None:
    bars = lw.models.four_bar()
    solution = lw.solve(bars, lw.Rest(bars.stored_pose("start")), start="start")
    basis = solution.null_space()
    rates = np.diff(lw.drive(bars, "crank", solution.q[0] + np.array([0.0, 1e-6]), start=solution.q).poses, axis=0)[0]
    assert basis.shape == (3, 1)
    assert abs(basis[:, 0] @ rates) / np.linalg.norm(rates) > 1.0 - 1e-9


def test_null_space_is_that_of_one_problem() -> None:
    arm = lw.models.planar([2, 1])
    assert lw.solve(arm, lw.Reach("tip", position=(1, 2))).null_space().shape == (2, 0)
    with pytest.raises(OptionError, match="one solution"):
        lw.solve(arm, lw.Reach("tip", position=(1, 2)), start=arm.random_pose(0, 3)).null_space()
