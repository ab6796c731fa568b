"""The parts of the suite: every test file is in exactly one of them."""

from __future__ import annotations

import io
from fnmatch import fnmatch
from types import SimpleNamespace

import pytest

import parts

FILES = sorted(parts.ROOT.glob("tests/**/test_*.py"))


def files_of(name):
    """Return the files of a part, selected as pytest does."""
    paths = [parts.ROOT / word for word in parts.words(name) if not word.startswith("-")]
    left_out = [word.partition("=")[2] for word in parts.words(name) if word.startswith("-")]
    patterns = [str(parts.ROOT / word) for word in left_out]
    return {
        file
        for file in FILES
        if any(path in (file, *file.parents) for path in paths)
        and not any(fnmatch(str(whole), pattern) for whole in (file, *file.parents) for pattern in patterns)
    }


def test_every_file_is_run_once():
    taken = [file for name in parts.COMPUTING | parts.WAITING for file in files_of(name)]
    assert sorted(taken) == FILES


def test_every_part_has_files_and_names_only_what_is_there():
    for name in parts.COMPUTING | parts.WAITING:
        assert files_of(name), name
        for word in parts.words(name):
            assert word.startswith("--ignore") or (parts.ROOT / word).exists(), f"{name}: {word}"


@pytest.mark.parametrize(
    ("options", "code", "failed"),
    [([], 0, False), ([], 1, True), ([], 5, True), (["--quick"], 5, False), (["--quick"], 1, True)],
)
def test_a_part_without_tests_fails_unless_a_quick_run_leaves_them_out(options, code, failed, monkeypatch):
    monkeypatch.setattr(parts.subprocess, "Popen", lambda *_, **__: SimpleNamespace(returncode=code))
    assert parts.Run("card", options, io.BytesIO()).failed == failed
