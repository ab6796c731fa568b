"""Compiler processes: one per usable core, and none in a frozen application."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

import linkwork
from linkwork.kernels import threads, workers


def test_cores_are_those_that_the_process_may_use(monkeypatch):
    monkeypatch.delattr(os, "process_cpu_count", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3, 5}, raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    assert threads.cores() == 2
    monkeypatch.delattr(os, "sched_getaffinity")
    assert threads.cores() == 64
    monkeypatch.setattr(os, "process_cpu_count", lambda: 3, raising=False)
    assert threads.cores() == 3


def test_nobody_counts_the_cores_of_the_machine():
    package = Path(linkwork.__file__).parent
    counting = [path.name for path in package.rglob("*.py") if "cpu_count" in path.read_text(encoding="utf-8")]
    assert counting == ["threads.py"]


@pytest.mark.parametrize("setting", [("frozen", True), ("executable", "")])
def test_an_application_does_not_start_itself(setting, monkeypatch):
    monkeypatch.setattr(sys, *setting, raising=False)
    monkeypatch.setattr(workers, "ProcessPoolExecutor", None)
    told = []
    found = workers.work_on(["one", "two"], str.replace, "o", "0", progress=lambda *said: told.append(said))
    assert found == ["0ne", "tw0"]
    assert told == [(1, 2, "one"), (2, 2, "two")]


def test_there_are_as_many_processes_as_cores(monkeypatch):
    asked = []

    class Pool:
        def __init__(self, count, **_options):
            asked.append(count)
            raise InterruptedError

    monkeypatch.setattr(workers, "ProcessPoolExecutor", Pool)
    monkeypatch.setattr(workers, "cores", lambda: 5)
    with pytest.raises(InterruptedError):
        workers.work_on(["one"], str.upper)
    assert asked == [5]
