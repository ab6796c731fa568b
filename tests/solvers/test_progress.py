"""Progress for logs: few lines of plain text if stderr is not a terminal."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.solvers import progress_lines
from linkwork.solvers.progress_lines import lines


@pytest.mark.parametrize(("hours", "fewest", "most"), [(0.001, 0, 0), (0.1, 5, 12), (1.0, 50, 100), (100.0, 100, 700)])
def test_a_log_gets_a_few_whole_lines_however_long_it_takes(hours, fewest, most, capsys):
    times = iter(np.linspace(0.0, 3600.0 * hours, 20_001))
    with lines("solving", clock=lambda: float(next(times))) as tell:
        for k in range(20_000):
            tell((k + 1) / 20_000, f"{k + 1:,} of 20,000")
    out, err = capsys.readouterr()
    said = err.splitlines()
    assert out == ""
    assert "\r" not in err
    assert "\x1b" not in err
    assert fewest <= len(said) <= most
    assert all(line.startswith("linkwork: solving: ") and line.endswith(" left") for line in said)


def test_the_time_left_is_that_of_what_is_done_now_not_of_what_was_found(capsys):
    times = iter([0.0, 10.0, 100.0, 190.0])
    with lines("solving", clock=lambda: next(times)) as tell:
        for share in (0.8, 0.85, 0.9):
            tell(share, "")
    assert capsys.readouterr().err.splitlines() == [
        "linkwork: solving: 85.0%, 0:04:30 left",
        "linkwork: solving: 90.0%, 0:03:00 left",
    ]


def test_a_batch_that_should_show_progress_writes_lines_to_a_log(monkeypatch, capsys):
    monkeypatch.setattr(progress_lines, "PAUSE", 0.0)
    arm = lw.models.planar([15, 10, 5])
    targets = arm.forward(arm.random_pose(0, 9000), frame="tip")[:, :3, 3]
    for progress, said in ((None, False), (False, False), (True, True)):
        lw.solve_batch(arm, "tip", targets, orientation=False, progress=progress)
        err = capsys.readouterr().err
        assert bool(err) is said
        assert "\r" not in err
    assert "of 9,000, " in err
