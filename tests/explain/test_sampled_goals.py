"""Random goals: uniform over the reachable set, with the share of the region that is reachable."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import linkwork as lw
from linkwork.cli import app
from linkwork.errors import FormatError, GoalError, OptionError

PANDA = lw.models.panda()
TWO = lw.models.planar([2, 1])


def test_positions_of_a_planar_arm_are_uniform_over_its_ring() -> None:
    goals = lw.sample_goals(TWO, "tip", 4000, orientation=False)
    assert goals.targets.shape == (4000, 3)
    radius = np.linalg.norm(goals.targets, axis=1)
    assert 0.999 < radius.min() < 1.02
    assert 2.98 < radius.max() < 3.001
    shares = np.sort((radius**2 - 1.0) / 8.0)  # of the ring's area: uniform from 0 to 1
    assert np.abs(shares - np.linspace(0.0, 1.0, 4000)).max() < 0.035  # Kolmogorov-Smirnov test, level 0.001
    by_joints = np.linalg.norm(lw.sample_goals(TWO, "tip", 4000, uniform="joints", orientation=False).targets, axis=1)
    assert np.mean((by_joints**2 - 1.0) / 8.0) > 0.45
    assert np.abs(np.sort((by_joints**2 - 1.0) / 8.0) - np.linspace(0.0, 1.0, 4000)).max() > 0.05  # not uniform
    assert goals.share == pytest.approx(np.pi * 8.0 / 36.0, abs=0.03)  # of the box around it


def test_every_reachable_goal_has_a_pose_that_reaches_it() -> None:
    goals = lw.sample_goals(PANDA, "tip", 300, seed=3)
    assert goals.reachable.all()
    placed = PANDA.forward(goals.q, frame="tip")
    np.testing.assert_allclose(placed, goals.targets, atol=1e-3)
    assert (goals.q >= PANDA.lower - 1e-9).all()
    assert (goals.q <= PANDA.upper + 1e-9).all()
    again = lw.sample_goals(PANDA, "tip", 300, seed=3)
    np.testing.assert_array_equal(goals.targets, again.targets)
    assert repr(goals) == "<SampledGoals: 300, 300 reachable>"


def test_orientations_are_uniform_over_all_rotations() -> None:
    """Entries of uniform rotations have mean 0, and their squares have mean 1/3."""
    drawn = lw.sample_goals(PANDA, "tip", 4000, uniform="box", low=(-1, -1, 0), high=(1, 1, 1)).targets
    assert np.abs(drawn[:, :3, :3].mean(axis=0)).max() < 0.05
    assert np.abs((drawn[:, :3, :3] ** 2).mean(axis=0) - 1.0 / 3.0).max() < 0.02


def test_goals_of_a_box_say_which_can_be_reached() -> None:
    goals = lw.sample_goals(PANDA, "tip", 500, uniform="box", low=(-1, -1, -1), high=(1, 1, 1))
    assert 0.1 < goals.reachable.mean() < 0.6
    assert np.isnan(goals.q[~goals.reachable]).all()
    assert (np.abs(goals.targets[:, :3, 3]) <= 1.0).all()
    assert goals.share == goals.reachable.mean()


def test_goals_are_labelled_where_there_are_obstacles() -> None:
    shelf = lw.World([lw.Obstacle(lw.Box((0.6, 2.0, 0.3)), (0.6, 0.0, 0.4), "shelf")])
    goals = lw.sample_goals(PANDA, "tip", 200, avoid=shelf)
    assert goals.free is not None
    assert 10 < goals.free.sum() < 190
    clear = lw.clearance(PANDA, goals.q[goals.free], shelf).distance
    assert (clear >= lw.Avoid(shelf).margin).all()
    inside = (np.abs(goals.targets[:, :3, 3] - [0.6, 0.0, 0.4]) < [0.3, 1.0, 0.15]).all(axis=1)
    assert inside.any()
    assert not goals.free[inside].any()


def test_what_cannot_be_drawn_is_said() -> None:
    with pytest.raises(OptionError, match="uniform"):
        lw.sample_goals(TWO, "tip", 5, uniform="sphere")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="low and high are x, y, z"):
        lw.sample_goals(TWO, "tip", 5, low=(1, 2))
    with pytest.raises(OptionError, match="drawn between low and high"):
        lw.sample_goals(TWO, "tip", 5, low=(9, 0, 0))
    assert len(lw.sample_goals(TWO, "tip", 0)) == 0
    three = lw.sample_goals(lw.models.planar([2, 1, 0.5]), "tip", 50)  # with an angle
    assert three.reachable.all()
    with pytest.raises(OptionError, match=r"in 3 dimensions, of which its joints have 2 .* Use orientation=False"):
        lw.sample_goals(TWO, "tip", 5)
    with pytest.raises(OptionError, match=r"of [\d,]+ goals drawn for 'tip' 0 can be reached"):
        lw.sample_goals(TWO, "tip", 5, orientation=False, low=(9, 9, 0), high=(10, 10, 0))


# On surfaces

CELL = lw.World([
    lw.Obstacle(lw.Box((0.5, 0.8, 0.04)), (0.5, 0.0, 0.2), "table"),
    lw.Obstacle(lw.Sphere(0.12), (0.35, 0.3, 0.5), "ball"),
])  # fmt: skip


@pytest.mark.parametrize(
    ("approach", "axis"), [("z", [0, 0, 1]), ("-x", [-1, 0, 0]), ((1, 1, 0), [0.7071068, 0.7071068, 0])]
)
def test_goals_on_a_surface_point_at_it(approach: Any, axis: Any) -> None:
    ball = CELL["ball"]
    goals = lw.sample_goals(PANDA, "tip", 60, on=ball, standoff=0.03, approach=approach, only_reachable=False)
    centre = ball.pose[:3, 3]
    outward = goals.targets[:, :3, 3] - centre
    np.testing.assert_allclose(np.linalg.norm(outward, axis=1), 0.15)
    np.testing.assert_allclose(goals.targets[:, :3, :3] @ axis, -outward / 0.15, atol=1e-7)
    np.testing.assert_allclose(np.linalg.det(goals.targets[:, :3, :3]), 1.0)
    spin = goals.targets[:, :3, :3] @ [0.0, 1.0, 0.0]
    assert np.abs(spin.mean(axis=0)).max() < 0.25
    assert goals.reachable.any()


def test_goals_on_a_surface_are_labelled() -> None:
    goals = lw.sample_goals(PANDA, "tip", 120, on="table", standoff=0.05, avoid=CELL, seed=1)
    assert goals.reachable.all()
    np.testing.assert_allclose(PANDA.forward(goals.q, frame="tip"), goals.targets, atol=1e-3)
    assert goals.free is not None
    assert goals.touching is not None
    assert 5 < goals.free.sum() < 115
    assert (goals.touching[goals.free] == "").all()
    near = lw.clearance(PANDA, goals.q, CELL)
    assert ((near.distance >= lw.Avoid(CELL).margin) == goals.free).all()
    for k in np.flatnonzero(~goals.free)[:20]:
        assert goals.touching[k] == " - ".join(near.pair[k])
    assert "table" in " ".join(goals.touching.tolist())
    same = lw.sample_goals(PANDA, "tip", 120, on=CELL["table"], standoff=0.05, avoid=lw.Avoid(CELL), seed=1)
    np.testing.assert_array_equal(same.targets, goals.targets)


def test_surfaces_that_do_not_fit_are_refused() -> None:
    with pytest.raises(OptionError, match="give its world as avoid="):
        lw.sample_goals(PANDA, "tip", 5, on="table")
    with pytest.raises(OptionError, match="leave out uniform, low and high"):
        lw.sample_goals(PANDA, "tip", 5, on=lw.Sphere(1.0), uniform="joints")
    cup = lw.Obstacle(lw.Sphere(0.05), name="cup", link="panda_hand")
    with pytest.raises(OptionError, match="'cup' is held by link 'panda_hand'"):
        lw.sample_goals(PANDA, "tip", 5, on=cup)
    with pytest.raises(OptionError, match=r"on Obstacle\(.* 0 can be reached"):
        lw.sample_goals(PANDA, "tip", 5, on=lw.Obstacle(lw.Sphere(0.1), (5.0, 0.0, 0.0)), orientation=False)


def test_goals_are_saved_as_a_dataset(tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    goals = lw.sample_goals(PANDA, "tip", 40, on="ball", standoff=0.05, avoid=CELL)
    lw.save_goals(tmp_path / "goals.parquet", goals, columns={"id": [f"g{k}" for k in range(40)]}, starts=PANDA)
    table = pq.read_table(tmp_path / "goals.parquet")
    assert table["touching"].to_pylist() == goals.touching.tolist()
    assert table["free"].to_pylist() == goals.free.tolist()
    result = lw.solve_dataset(
        PANDA, "tip", tmp_path / "goals.parquet", tmp_path / "out", keep=["free"], ignore=["reachable", "touching"]
    )
    assert result.reached == 40
    answers = pq.read_table(tmp_path / "out")
    assert answers["free"].to_pylist() == goals.free.tolist()
    np.testing.assert_allclose(answers["q.panda_joint1"].to_numpy(), goals.q[:, 0], atol=1e-6)  # solved from there
    lw.save_goals(tmp_path / "turns.csv", goals.targets[:, :3, :3])
    assert lw.solve_dataset(PANDA, "tip", tmp_path / "turns.csv", tmp_path / "turned").reached == 40
    with pytest.raises(GoalError, match=r"shape \(n, 4, 4\)"):
        lw.save_goals(tmp_path / "odd.csv", np.zeros((2, 7)))
    with pytest.raises(OptionError, match=r"each of the 40 goals; got mark \(\(2,\)\)"):
        lw.save_goals(tmp_path / "odd.csv", goals, columns={"mark": [1, 2]})
    with pytest.raises(OptionError, match="rename x"):
        lw.save_goals(tmp_path / "odd.csv", goals, columns={"x": np.zeros(40)})
    with pytest.raises(FormatError, match=r"must end in .parquet, .csv"):
        lw.save_goals(tmp_path / "odd.npz", goals)
    with pytest.raises(OptionError, match=r"columns start\.COORDINATE"):
        lw.save_goals(tmp_path / "odd.csv", goals.targets, starts=PANDA)
    assert not [*tmp_path.glob("odd*")]


def test_the_command_draws_goals_and_solves_them(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    CELL.save(tmp_path / "cell.yaml")
    words = [
        "batch",
        "sample",
        str(tmp_path / "goals.csv"),
        "--model",
        "panda",
        "--frame",
        "tip",
        "--count",
        "30",
        "--on",
        "table",
    ]
    words += ["--world", str(tmp_path / "cell.yaml"), "--standoff", "5cm"]
    done = CliRunner().invoke(app.app, words, prog_name="linkwork")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith(f"{tmp_path / 'goals.csv'}: 30 goals, 30 reachable, ")
    rest = ["--keep", "free", "--ignore", "reachable", "--ignore", "touching", "-o", str(tmp_path / "out")]
    words = ["batch", str(tmp_path / "goals.csv"), "--model", "panda", "--frame", "tip", *rest]
    solved = CliRunner().invoke(app.app, words, prog_name="linkwork")
    assert solved.exit_code == 0, solved.output
    assert "reached  30" in solved.stdout
