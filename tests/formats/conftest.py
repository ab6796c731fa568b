"""Fixtures of the tests of file formats."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from pathlib import Path

import pytest

import children
from robots import ODD, ROBOTS, SHIPPED, shipped


@pytest.fixture(params=ROBOTS)
def robot(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return the file of each robot in turn."""
    if request.param in SHIPPED:
        return shipped(request.param)
    path = tmp_path / "odd.URDF"  # a suffix of any case
    path.write_bytes(ODD.encode())
    return path


def from_npm(package: str) -> Path:
    """Return a folder with a package from npm, cached between runs."""
    npm = shutil.which("npm")
    if not npm or not shutil.which("node"):
        pytest.skip("node and npm are not installed")
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "linkwork-tests" / package
    if not cache.exists():
        cache.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache.parent, ignore_cleanup_errors=True) as draft:
            target = Path(draft) / "package"
            target.mkdir()
            done = children.run(
                [npm, "install", "--silent", "--prefix", str(target), package], text=True, encoding="utf-8"
            )
            if done.returncode:
                pytest.skip(f"npm could not install {package}: {done.stderr[-200:]}")
            with contextlib.suppress(OSError):  # another process was faster
                target.rename(cache)
    return cache


@pytest.fixture(scope="session")
def validator() -> Path:
    """A folder with Khronos' glTF validator."""
    return from_npm("gltf-validator@2.0.0-dev.3.10")


@pytest.fixture(scope="session")
def three() -> Path:
    """A folder with three.js."""
    return from_npm("three@0.187.0")
