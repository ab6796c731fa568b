"""Goals with individual frames, named in a column: solved by frame, answered in order, with separate failures."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner

import linkwork as lw
from goal_tables import columns_of, write
from linkwork.cli import app as cli
from linkwork.errors import DeviceError, FormatError, FrameNotFoundError, OptionError

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

PANDA = lw.models.panda()
NAMES = ["tip", "panda_link6", "panda_hand", "panda_link6", "tip"] * 12


@pytest.fixture
def goals(tmp_path):
    q = PANDA.random_pose(0, len(NAMES))
    targets = np.stack([PANDA.forward(pose, frame=name) for pose, name in zip(q, NAMES, strict=True)])
    return write(tmp_path / "goals.parquet", {**columns_of(targets), "frame": NAMES}, row_group=17), targets


def solve(path, out, **options):
    return lw.solve_dataset(PANDA, None, path, out, **{"workers": 2, "block_rows": 25, **options})


def test_every_row_is_for_its_own_frame(goals, tmp_path):
    path, targets = goals
    assert solve(path, tmp_path / "out").reached == len(NAMES)
    answers = pq.read_table(tmp_path / "out")
    assert answers["frame"].to_pylist() == NAMES
    q = np.stack([answers[f"q.{name}"] for name in PANDA.coordinates], axis=1)
    for pose, name, target in zip(q, NAMES, targets, strict=True):
        assert np.abs(PANDA.forward(pose, frame=name) - target).max() < 1e-3
    assert lw.verify_dataset(tmp_path / "out").faults == {}


def test_answers_depend_on_neither_workers_nor_interruptions(goals, tmp_path):
    path, _ = goals
    for k in (1, 2):
        solve(path, tmp_path / f"{k}", workers=k)
    (tmp_path / "2" / "part-0000000001.parquet").unlink()
    solve(path, tmp_path / "2", resume=True)
    one, other = ({p.name: p.read_bytes() for p in (tmp_path / f"{k}").glob("part-*")} for k in (1, 2))
    assert one == other


def test_a_row_whose_frame_is_of_no_use_fails_alone(goals, tmp_path):
    path, _ = goals
    table = pq.read_table(path)
    names = ["nose", None, "panda_link0", *NAMES[3:]]
    pq.write_table(table.set_column(table.column_names.index("frame"), "frame", pa.array(names)), path)
    result = solve(path, tmp_path / "out")
    assert result.counts == {"reached": len(NAMES) - 3, "invalid": 3}
    answers = pq.read_table(tmp_path / "out")
    assert answers["status"].to_pylist()[:4] == ["invalid"] * 3 + ["reached"]
    assert answers["frame"].to_pylist() == names
    assert "row 0: no frame 'nose' in linkage 'panda'" in result.notes[0]
    assert result.notes[1] == "row 1: no frame is given"
    assert "row 2: " in result.notes[2]


def test_a_folder_may_name_the_frame(tmp_path):
    for name in ("tip", "panda_hand"):
        (tmp_path / "goals" / f"frame={name}").mkdir(parents=True)
        targets = PANDA.forward(PANDA.random_pose(1, 5), frame=name)
        write(tmp_path / "goals" / f"frame={name}" / "1.csv", columns_of(targets))
    assert solve(tmp_path / "goals", tmp_path / "out").reached == 10
    assert pq.read_table(tmp_path / "out")["frame"].to_pylist() == ["panda_hand"] * 5 + ["tip"] * 5


def test_what_does_not_fit_is_refused(goals, tmp_path):
    path, _ = goals
    plain = write(tmp_path / "plain.csv", {"x": [0.5], "y": [0.0], "z": [0.4]})
    with pytest.raises(FormatError, match="has no column frame to keep"):
        solve(plain, tmp_path / "out")
    numbers = write(tmp_path / "numbers.parquet", {"x": [0.5], "y": [0.0], "z": [0.4], "frame": [3]})
    with pytest.raises(FormatError, match="names the frame of each goal; it holds int64, not texts"):
        solve(numbers, tmp_path / "out")
    with pytest.raises(OptionError, match="solutions needs one frame for all rows"):
        solve(path, tmp_path / "out", solutions=2)
    with pytest.raises(DeviceError, match="rows with different frames are solved on the processor"):
        solve(path, tmp_path / "out", engine="cuda")
    with pytest.raises(OptionError, match="tolerance"):
        solve(path, tmp_path / "out", tolerance=-1.0)
    with pytest.raises(FormatError, match="column 'frame' is unknown"):
        lw.solve_dataset(PANDA, "tip", path, tmp_path / "out")
    with pytest.raises(FrameNotFoundError):
        lw.solve_dataset(PANDA, "nose", path, tmp_path / "out", keep=["frame"])
    assert not (tmp_path / "out").exists()


def test_the_command_takes_the_column(goals, tmp_path):
    words = ["batch", str(goals[0]), "--model", "panda", "-o", str(tmp_path / "out")]
    done = CliRunner().invoke(cli.app, [*words, "--frame-column"], prog_name="linkwork")
    assert done.exit_code == 0, done.output
    assert "reached  60" in done.stdout
    assert CliRunner().invoke(cli.app, [*words, "--frame-column", "--frame", "tip"], prog_name="linkwork").exit_code
