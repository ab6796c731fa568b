"""Symbolic links for tests; most users of Windows may make none."""

from __future__ import annotations

from pathlib import Path

import pytest


def symlink(path: Path, target: Path) -> None:
    """Make a symbolic link; the test is skipped where none can be made."""
    try:
        path.symlink_to(target, target_is_directory=target.is_dir())
    except OSError as error:
        pytest.skip(f"no symbolic links can be made here: {error}")
    if target.exists() and not (path.exists() and path.samefile(target)):
        pytest.skip("symbolic links lead nowhere here")
