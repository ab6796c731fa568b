"""A folder belongs to one run at a time, with and without file locks of system and disk."""

from __future__ import annotations

import errno
import os
import sys

import pytest

import children
from linkwork.errors import RunError
from linkwork.kernels import store
from linkwork.scale import holding
from linkwork.scale.runs import run_folder

HOLDER = """
import sys
from pathlib import Path
from linkwork.scale.holding import held
with held(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def refuse(folder, match):
    with pytest.raises(RunError, match=match), holding.held(folder):
        pass


def test_another_run_is_kept_out_and_nothing_is_left(tmp_path):
    with holding.held(tmp_path):
        refuse(tmp_path, "another run is at work")
    assert names(tmp_path) == []
    with holding.held(tmp_path):
        pass


def test_a_killed_process_lets_go(tmp_path):
    with children.started([sys.executable, "-c", HOLDER, tmp_path], stdin=-1) as process:
        assert process.stdout.readline().strip() == b"held"
        refuse(tmp_path, "another run is at work")
    with holding.held(tmp_path):
        pass
    assert names(tmp_path) == []


@pytest.fixture
def without_locks(monkeypatch):
    """Imitate a disk without locks, such as some network disks."""

    def refuse_lock(_handle):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(holding, "lock", refuse_lock)


def test_a_disk_without_locks_has_a_mark(tmp_path, without_locks):
    with holding.held(tmp_path):
        assert names(tmp_path) == [holding.MARK]
        refuse(tmp_path, f"was killed there; if so, remove .*{holding.MARK}")
    assert names(tmp_path) == []


@pytest.mark.skipif(os.name == "nt", reason="Windows has other locks")
def test_a_system_without_flock_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with pytest.raises(OSError, match="no locks"):
        store.lock(0)


@pytest.mark.parametrize("locked", [True, False])
def test_runs_begin_in_a_folder_that_is_held(tmp_path, locked, request):
    if not locked:
        request.getfixturevalue("without_locks")
    out = tmp_path / "out"
    with (
        run_folder(out, {"a": 1}, {}, resume=False),
        pytest.raises(RunError, match="another run is at work"),
        run_folder(out, {"a": 1}, {}, resume=True),
    ):
        pass
    assert names(out) == ["_manifest.json"]
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / holding.LOCK).touch()  # of a run that was killed at its start
    with run_folder(tmp_path / "empty", {"a": 1}, {}, resume=False):
        pass


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="permissions do not hold root back")
def test_a_folder_that_cannot_be_written_is_said(tmp_path):
    tmp_path.chmod(0o500)
    refuse(tmp_path, "cannot write to")
