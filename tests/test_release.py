"""What is released: wheels with packs and one without, and what each asks pip to install."""

from __future__ import annotations

import importlib.util
import itertools
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from linkwork.kernels.targets import TARGETS, host

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LISTING = '{"size": 0, "crc32": 0, "sources": "", "target": "other", "levels": [], "functions": {}}'
pytest.importorskip("hatchling")


@pytest.fixture(scope="module")
def wheels() -> Any:
    """The script that builds and checks wheels."""
    spec = importlib.util.spec_from_file_location("wheels", ROOT / "release/wheels.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_numba_is_asked_for_where_no_wheel_has_kernels() -> None:
    needed = next(one for one in map(Requirement, PROJECT["dependencies"]) if one.name == "numba")
    assert needed.marker is not None
    packed = [Requirement(f"linkwork; {target.marker}").marker for target in TARGETS.values() if target.marker]
    systems, machines = ("linux", "darwin", "win32", "freebsd14", "emscripten"), ("x86_64", "aarch64", "arm64", "AMD64")
    for system, machine in itertools.product(systems, (*machines, "ARM64", "riscv64", "i686", "x86", "wasm32")):
        place = {"sys_platform": system, "platform_machine": machine}
        has_pack = any(marker is not None and marker.evaluate(place) for marker in packed)
        assert needed.marker.evaluate(place) != has_pack, place
    assert str(needed.specifier) == str(Requirement(PROJECT["optional-dependencies"]["jit"][0]).specifier)


def test_the_wheel_of_a_platform_is_the_plain_one_and_its_pack(wheels: Any, tmp_path: Path) -> None:
    target = TARGETS["windows-x86_64"]
    packs, first, second = (tmp_path / name for name in ("packs", "first", "second"))
    for one in (target, TARGETS["wasm"]):
        (packs / one.name).mkdir(parents=True)
        for name in (one.file, "pack.json"):
            (packs / one.name / name).write_text(LISTING)
    plain, built = wheels.build(packs, first, None), wheels.build(packs, second, target)
    assert plain.name.endswith("-py3-none-any.whl")
    assert built.name.endswith("-py3-none-win_amd64.whl")
    assert list(wheels.wheel_faults(plain, None, plain)) == []
    faults = list(wheels.wheel_faults(built, None, plain))
    assert "has linkwork/kernels/pack/pack.dll too" in faults
    assert "is not tagged py3-none-any" in faults
    assert "has a library that is not the one of its listing" in list(wheels.wheel_faults(built, target, plain))


def test_this_machine_is_a_target_or_none() -> None:
    assert host() is None or host() in TARGETS.values()
