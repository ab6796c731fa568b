"""Datasets with several goals per row: columns by frame, status and errors of each goal, the rules of every run."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner

import linkwork as lw
from goal_tables import columns_of, write
from linkwork.cli import app as cli
from linkwork.errors import DeviceError, FormatError, GoalError, OptionError, RunError

pq = pytest.importorskip("pyarrow.parquet")

BODY = lw.models.human(root="floating").add_frame("left hand.grip", "left_hand", np.eye(4))
STAND = BODY.stored_pose("stand")
COUNT, ROWS = 60, 20
GAZE = lw.LookAt("eyes", at=(1, 0, 0))
ASKED = ["left hand.grip", "right_hand", GAZE]
ALSO = [lw.Hold("left_foot")]


@pytest.fixture(scope="module")
def targets() -> dict:
    poses = BODY.random_pose(0, COUNT)
    poses[:, :7] = STAND[:7]
    at = BODY.forward(lw.linkage.poses.start_pose(BODY, STAND + 0.3 * (poses - STAND)))
    points = np.random.default_rng(0).uniform(1.0, 3.0, (COUNT, 3))
    right = at["right_hand"][:, :3, 3].copy()
    right[7, 1], right[9, 2] = np.nan, 9.0
    return {"left hand.grip": at["left hand.grip"], "right_hand": right, GAZE: points}


def table_of(targets: dict) -> dict:
    grip = {f"left hand.grip.{name}": values for name, values in columns_of(targets["left hand.grip"]).items()}
    places = {"right_hand": targets["right_hand"], "eyes": targets[GAZE]}
    return grip | {f"{frame}.{axis}": at[:, k] for frame, at in places.items() for k, axis in enumerate("xyz")}


def solve(goals, out, **options):
    return lw.solve_dataset(BODY, ASKED, goals, out, **{"also": ALSO, "start": "stand", "block_rows": ROWS, **options})


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_answers_are_those_of_one_batch(suffix, targets, tmp_path):
    goals = write(tmp_path / f"goals{suffix}", table_of(targets), **({"row_group": 15} if suffix == ".parquet" else {}))
    result = solve(goals, tmp_path / "out", restarts=5)
    batch = lw.solve_batch(BODY, targets, also=ALSO, start="stand", restarts=5)
    table = pq.read_table(tmp_path / "out").to_pydict()
    names = ("left hand.grip", "right_hand", "eyes", "left_foot")
    assert [name for name in table if not name.startswith("q.")] == [
        *("id", "success", "status", "left hand.grip.position_error", "left hand.grip.rotation_error"),
        *("right_hand.position_error", "eyes.rotation_error", "left_foot.position_error", "left_foot.rotation_error"),
        *(f"{name}.status" for name in names),
        "restarts",
    ]
    assert result.counts == {"reached": 58, "closest": 1, "invalid": 1}
    assert table["status"] == batch.status.tolist()
    assert table["restarts"] == batch.restarts.tolist()
    for k, name in enumerate(names):
        assert table[f"{name}.status"] == batch.goal_status[:, k].tolist()
    q = np.transpose([np.array(table[f"q.{name}"], np.float64) for name in BODY.coordinates])
    np.testing.assert_allclose(q[batch.success], batch.q[batch.success], atol=1e-4)  # there is a quaternion in between
    assert table["right_hand.status"][7] == "invalid"
    assert table["right_hand.position_error"][7] is None
    assert batch[[7, 9]].to_arrow().column_names == list(table)


def test_runs_are_resumed_verified_and_described(targets, tmp_path):
    goals = write(tmp_path / "goals.parquet", table_of(targets), row_group=ROWS)
    solve(goals, tmp_path / "one", workers=1, restarts=5)
    solve(goals, tmp_path / "two", workers=2, restarts=5)
    parts = sorted(path.name for path in (tmp_path / "one").glob("part-*"))
    assert len(parts) == COUNT // ROWS
    assert all((tmp_path / "one" / n).read_bytes() == (tmp_path / "two" / n).read_bytes() for n in parts)
    (tmp_path / "two" / parts[1]).unlink()
    assert solve(goals, tmp_path / "two", resume=True, restarts=5).resumed == COUNT - ROWS
    assert (tmp_path / "one" / parts[1]).read_bytes() == (tmp_path / "two" / parts[1]).read_bytes()
    assert not lw.verify_dataset(tmp_path / "two").faults
    found = lw.describe_dataset(tmp_path / "two")
    assert found.errors["right_hand.position_error"].largest > 1.0
    assert found.errors["eyes.rotation_error"].count == COUNT - 1
    for change in ({"also": [lw.Hold("right_foot")]}, {"also": [lw.Hold("left_foot", weight=2.0)]}):
        with pytest.raises(RunError, match="also"):
            solve(goals, tmp_path / "two", resume=True, restarts=5, **change)


def test_every_row_may_have_a_start_of_its_own(tmp_path):
    arm = lw.models.planar([15, 10, 5])
    rows = {"tip.x": [15.0, 15.0], "tip.y": [10.0, 10.0], "start.j2": [1.0, -1.0], "id": ["left", "right"]}
    lw.solve_dataset(arm, ["tip"], write(tmp_path / "goals.csv", rows), tmp_path / "out")
    table = pq.read_table(tmp_path / "out").to_pydict()
    assert np.sign(table["q.j2"]).tolist() == [1.0, -1.0]
    assert table["id"] == ["left", "right"]
    assert table["tip.status"] == ["reached", "reached"]


def test_what_is_wrong_is_said_before_anything_is_written(targets, tmp_path):
    columns = table_of(targets)
    goals = write(tmp_path / "goals.csv", columns)
    spoilt = {name: values for name, values in columns.items() if name != "left hand.grip.qz"}
    short = write(tmp_path / "short.csv", spoilt)
    for asked, file, options, error, words in (
        (ASKED[:2], goals, {}, FormatError, "column 'eyes.x' is unknown"),
        ([*ASKED, "head"], goals, {}, FormatError, "no goals of 'head'"),
        (ASKED, short, {}, FormatError, "left hand.grip: has qw, qx, qy but no qz"),
        (ASKED, goals, {"engine": "cuda"}, DeviceError, "on the processor"),
        (ASKED, goals, {"dtype": "float32"}, OptionError, "no option 'dtype'"),
        (["right_hand", lw.Hold("right_hand")], goals, {}, GoalError, "there twice"),
        ([lw.Rest()], goals, {}, GoalError, "goals that have a frame"),
        ([], goals, {}, GoalError, "got nothing"),
        ("right_hand", goals, {}, OptionError, "also needs a list of frames, one for each goal of a row"),
    ):
        with pytest.raises(error, match=words):
            lw.solve_dataset(BODY, asked, file, tmp_path / "out", **{"also": ALSO, **options})
    assert not (tmp_path / "out").exists()


def test_frames_are_named_on_the_command_line(tmp_path):
    rows = {f"{side}_hand.{axis}": [0.4, v, 1.1][k : k + 1] for side, v in (("left", 0.3), ("right", -0.3))
            for k, axis in enumerate("xyz")}  # fmt: skip
    goals, out = write(tmp_path / "goals.csv", rows), tmp_path / "out"
    frames = ["--frame", "left_hand", "--frame", "right_hand", "--hold", "left_foot", "--start", "stand"]
    result = CliRunner().invoke(cli.app, ["batch", str(goals), "--model", "human", *frames, "-o", str(out)])
    assert result.exit_code == 0, result.output
    assert pq.read_table(out)["left_foot.status"].to_pylist() == ["reached"]
