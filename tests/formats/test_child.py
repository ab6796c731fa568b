"""Readers in separate processes: which Python they run, and what they can import."""

from __future__ import annotations

import subprocess
import sys

import pytest

from linkwork.errors import FormatError
from linkwork.formats import child


@pytest.fixture
def asked(monkeypatch):
    """The arguments with which a process would have been started."""
    calls = []

    def run(command, **options):
        calls.append((command, options))
        return subprocess.CompletedProcess(command, 0, b"answer", None)

    monkeypatch.setattr(child.subprocess, "run", run)
    monkeypatch.delenv(child.NAMED, raising=False)
    return calls


def ask():
    return child.ask("usd_stage.py", {}, "a.usda", "USD", {"A": "1"})


def test_an_application_is_not_started_again(asked, monkeypatch):
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    with pytest.raises(FormatError, match=r"has no Python to start; set LINKWORK_PYTHON to a Python"):
        ask()
    assert not asked
    monkeypatch.setenv(child.NAMED, "/opt/python")
    assert ask() == b"answer"
    assert asked[0][0][0] == "/opt/python"


def test_the_process_sees_what_it_is_given_and_what_windows_needs(asked, monkeypatch):
    monkeypatch.setenv("SYSTEMROOT", "C:\\Windows")
    monkeypatch.setenv("SECRET", "x")
    ask()
    assert asked[0][0][0] == sys.executable
    assert asked[0][1]["env"] == {"A": "1", "SYSTEMROOT": "C:\\Windows"}


def test_a_program_that_was_left_out_of_an_application_is_said(asked):
    with pytest.raises(FormatError, match=r"nothing\.py is missing"):
        child.ask("nothing.py", {}, "a.usda", "USD", {})
    assert not asked
