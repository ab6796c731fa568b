"""Symbolic links for tests; most users of Windows have no permission to make them."""

from __future__ import annotations

from pathlib import Path

import pytest


def symlink(path: Path, target: Path) -> None:
    """Make a symbolic link; skip the test if that is not possible."""
    try:
        path.symlink_to(target, target_is_directory=target.is_dir())
    except OSError as error:
        pytest.skip(f"no symbolic links can be made here: {error}")
    if target.exists() and not (path.exists() and path.samefile(target)):
        pytest.skip("symbolic links lead nowhere here")
