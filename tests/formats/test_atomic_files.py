"""Atomic writing of files: a complete file is never reported as failed, and virus scanners are waited for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from linkwork.errors import FormatError
from linkwork.formats import atomic_files


def test_a_folder_that_cannot_be_flushed_is_no_failure(tmp_path, monkeypatch):
    def refuse(path, flags, *more):
        if flags & getattr(os, "O_DIRECTORY", 0):
            raise PermissionError(13, "Permission denied", path)
        return opened(path, flags, *more)

    opened = os.open
    monkeypatch.setattr(atomic_files.os, "open", refuse)
    atomic_files.write_text(tmp_path / "a.txt", "whole")
    assert (tmp_path / "a.txt").read_text(encoding="utf-8") == "whole"
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


@pytest.fixture
def scanned(monkeypatch):
    """Imitate Windows with a virus scanner that blocks files for some attempts."""
    waits = []

    class Scanner:
        tries = 0

    def replace(self, target):
        if len(waits) < Scanner.tries:
            raise PermissionError(13, "Access is denied", str(self))
        return replaced(self, target)

    replaced = Path.replace
    monkeypatch.setattr(Path, "replace", replace)
    monkeypatch.setattr(atomic_files.time, "sleep", waits.append)
    monkeypatch.setattr(atomic_files, "WINDOWS", True)
    return Scanner, waits


def test_a_scanner_is_waited_for(tmp_path, scanned):
    scanner, waits = scanned
    scanner.tries = 3
    atomic_files.write_text(tmp_path / "a.txt", "whole")
    assert (tmp_path / "a.txt").read_text(encoding="utf-8") == "whole"
    assert len(waits) == 3


def test_but_not_for_long(tmp_path, scanned):
    scanner, waits = scanned
    scanner.tries = 100
    (tmp_path / "a.txt").write_text("before", encoding="utf-8")
    with pytest.raises(FormatError, match="access is denied"):
        atomic_files.write_text(tmp_path / "a.txt", "after")
    assert (tmp_path / "a.txt").read_text(encoding="utf-8") == "before"
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
    assert sum(waits) < 2.0
