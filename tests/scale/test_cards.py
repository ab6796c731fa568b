"""Datasets on GPUs: distribution of work, with stand-ins that compute on the CPU."""

from __future__ import annotations

import threading
from collections import Counter

import pytest
from click.testing import CliRunner

import linkwork as lw
from goal_tables import columns_of, write
from linkwork.cli import app as cli
from linkwork.errors import DeviceError, OptionError, RunError
from linkwork.kernels import cards as kernel_cards
from linkwork.scale import block_solver
from linkwork.scale.stopwatch import KINDS

pq = pytest.importorskip("pyarrow.parquet")

ARM = lw.models.panda()
COUNT, ROWS = 600, 50
TARGETS = ARM.forward(ARM.random_pose(0, COUNT), frame="tip")


@pytest.fixture
def goals(tmp_path):
    return write(tmp_path / "goals.parquet", columns_of(TARGETS), row_group=ROWS)


class Cards:
    """Stand-ins for GPUs that record their calls and the largest number of concurrent ones."""

    def __init__(self, count):
        self.count, self.calls, self.settled, self.most = count, Counter(), [], Counter()
        self.busy, self.together = Counter(), threading.Barrier(count)

    def solve(self, *operands, device, **options):
        if device == "cpu" or not len(operands[2]):
            return lw.solve_batch(*operands, **options)
        self.busy[device] += 1
        self.most[device] = max(self.most[device], self.busy[device])
        self.calls[device] += 1
        if self.calls[device] == 1:
            self.together.wait(60.0)  # until every GPU has work
        try:
            return lw.solve_batch(*operands, **options)
        finally:
            self.busy[device] -= 1

    def settle(self, *operands, device, **_options):
        self.settled.append((device, operands[-1]))


@pytest.fixture
def cards(request, monkeypatch):
    found = Cards(request.param)
    monkeypatch.setattr(block_solver, "solve_batch", found.solve)
    monkeypatch.setattr(block_solver, "settle_card", found.settle)
    monkeypatch.setattr(block_solver, "card_count", lambda: found.count)
    monkeypatch.setattr(block_solver, "AT_ONCE", 1)
    return found


def solve(goals, out, **options):
    return lw.solve_dataset(ARM, "tip", goals, out, **{"block_rows": ROWS, **options})


def rows(folder):
    return pq.read_table(folder).to_pydict()


@pytest.mark.parametrize("cards", [1, 2], indirect=True)
def test_all_cards_work_at_once_and_the_answers_are_the_same(cards, goals, tmp_path):
    solve(goals, tmp_path / "one", workers=1)
    result = solve(goals, tmp_path / "out", engine="cuda", workers=5)
    assert rows(tmp_path / "one") == rows(tmp_path / "out")
    names = [f"cuda:{number}" for number in range(cards.count)]
    assert sorted(cards.calls) == names
    assert cards.calls.total() == COUNT // ROWS
    assert cards.most == dict.fromkeys(names, 1)  # one of five workers at a time per GPU
    assert cards.settled == [(name, COUNT) for name in names]  # kernels are chosen once for the run
    assert set(result.times) == set(KINDS)
    assert min(result.times.values()) >= 0.0


@pytest.mark.parametrize("cards", [3], indirect=True)
def test_cards_are_chosen_by_number(cards, goals, tmp_path):
    cards.together = threading.Barrier(2)
    solve(goals, tmp_path / "out", engine="cuda", workers=4, devices=[2, 0])
    assert sorted(cards.calls) == ["cuda:0", "cuda:2"]
    with pytest.raises(RunError, match=r'another device \("cuda", not "cpu"\)'):
        solve(goals, tmp_path / "out", engine="local", resume=True)


@pytest.mark.parametrize("cards", [2], indirect=True)
def test_the_command_takes_cards_and_says_where_the_time_went(cards, goals, tmp_path):
    words = ["batch", str(goals), "--model", "panda", "--frame", "tip", "-o", str(tmp_path / "out"), "--profile"]
    words += ["--engine", "cuda", "--device", "0", "--device", "1", "--workers", "3", "--block-rows", str(ROWS)]
    done = CliRunner().invoke(cli.app, words)
    assert done.exit_code == 0, done.output
    assert sorted(cards.calls) == ["cuda:0", "cuda:1"]
    first = [line.split()[0] for line in done.output.splitlines() if line.strip()]
    assert [word for word in first if word in KINDS] == [*KINDS]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"engine": "local", "devices": [0]}, "devices needs the engine cuda"),
        ({"engine": "cuda", "devices": []}, "each once"),
        ({"engine": "cuda", "devices": [1, 1]}, "each once"),
        ({"engine": "cuda", "devices": [-1]}, "devices"),
    ],
)
def test_devices_are_checked_before_anything_is_written(options, message, goals, tmp_path):
    with pytest.raises(OptionError, match=message):
        solve(goals, tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_names_of_cards(monkeypatch):
    monkeypatch.setattr(kernel_cards, "card_count", lambda: 2)
    assert [kernel_cards.card_number(name) for name in ("cuda", "cuda:0", "cuda:1")] == [None, 0, 1]
    with pytest.raises(DeviceError, match="no card 'cuda:2' here: there are 2"):
        kernel_cards.card_number("cuda:2")
    with pytest.raises(OptionError, match="called 'cuda', 'cuda:0'"):
        kernel_cards.card_number("cuda1")
