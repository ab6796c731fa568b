"""Releases: wheels with packs and one without, and their dependencies."""

from __future__ import annotations

import importlib.util
import itertools
import re
import tomllib
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
import yaml
from packaging.requirements import Requirement

import linkwork as lw
from linkwork.kernels.targets import TARGETS, host

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LISTING = '{"size": 0, "crc32": 0, "sources": "", "target": "other", "levels": [], "functions": {}}'
pytest.importorskip("hatchling")


def script(name: str) -> Any:
    """Return a script of the folder `release` as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / f"release/{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "release")  # as for a script that is run
        spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def wheels() -> Any:
    """The script that builds and checks wheels."""
    return script("wheels")


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


def test_every_dependency_of_users_has_one_smallest_version(tmp_path: Path) -> None:
    minimums = script("minimums").minimums
    found = minimums()
    assert {"numpy", "scipy", "numba", "click", "mujoco", "usd-core", "websockets"} <= found.keys()
    assert not {"pytest", "linkwork", "ruff"} & found.keys()
    for extra in ("a", "a>=1", "a>=1,>=2"):
        copy = tmp_path / "pyproject.toml"
        copy.write_text(
            f"[project]\nname = 'x'\ndependencies = ['a>=2']\noptional-dependencies = {{e = ['{extra}']}}\n",
            encoding="utf-8",
        )
        with pytest.raises(ValueError, match="one smallest version"):
            minimums(copy)


def test_classifiers_name_every_python_from_the_oldest_on() -> None:
    said = [one.rpartition(" ")[2] for one in PROJECT["classifiers"] if "Python :: 3." in one]
    oldest = int(PROJECT["requires-python"].rpartition(".")[2])
    assert said == [f"3.{minor}" for minor in range(oldest, oldest + len(said))]
    assert len(said) >= 4


def test_files_about_the_project_agree_with_it() -> None:
    said = [one.rpartition(" ")[2] for one in PROJECT["classifiers"] if "Python :: 3." in one]
    tests = yaml.safe_load((ROOT / ".github/workflows/tests.yml").read_text(encoding="utf-8"))
    matrix = tests["jobs"]["suite"]["strategy"]["matrix"]
    assert matrix["python"] == [said[0], said[-1]]
    assert {*matrix["python"], *(row["python"] for row in matrix["include"])} == {*said}
    assert {name.partition("-")[0] for name in matrix["system"]} == {"ubuntu", "macos", "windows"}


def test_the_version_is_written_down_the_same_everywhere(tmp_path: Path) -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    sections = re.findall(r"^## \[(.+?)\](?: - (\S+))?$", changes, re.MULTILINE)
    assert sections[:2] == [("Unreleased", ""), (lw.__version__, str(citation["date-released"]))]
    assert citation["version"] == lw.__version__
    assert citation["license"] == PROJECT["license"]

    faults = script("check").history_faults
    cited = "version: 2.0.0\ndate-released: 2031-02-03\n"
    for cff, text, said in (
        (cited, "## [Unreleased]\n\n## [2.0.0] - 2031-02-03\n", []),
        (cited, "## [Unreleased]\n\n## [1.9.0] - 2030-02-03\n", ["no section '## [2.0.0] - DATE'"]),
        (cited, "## [Unreleased]\n- A new thing.\n\n## [2.0.0] - 2031-02-03\n", ["no empty section '## [Unreleased]'"]),
        (cited, "## [Unreleased]\n\n## [2.0.0] - 2031-02-04\n", ["no line 'date-released: 2031-02-04'"]),
        ("", "## [2.0.0] - 2031-02-03\n", ["no empty section", "'version: 2.0.0'", "'date-released: 2031-02-03'"]),
    ):
        (tmp_path / "CITATION.cff").write_text(cff, encoding="utf-8")
        (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n{text}", encoding="utf-8")
        found = list(faults(tmp_path, "2.0.0"))
        assert len(found) == len(said)
        assert all(part in fault for part, fault in zip(said, found, strict=True))


def test_wheels_without_kernels_for_cards_are_not_released(tmp_path: Path) -> None:
    check = script("check")
    for name, inside in (("a.whl", "linkwork/kernels/pack/cards.zip"), ("b.whl", "linkwork/__init__.py")):
        with ZipFile(tmp_path / name, "w") as wheel:
            wheel.writestr(inside, "")
    (tmp_path / "c.tar.gz").touch()
    (fault,) = check.card_faults(sorted(tmp_path.iterdir()))
    assert fault.startswith("b.whl: no kernels for GPUs")


def test_nothing_is_released_before_the_address_is_written_down_in_its_one_place(tmp_path: Path) -> None:
    check, address = script("check"), script("address")
    assert "release/address.py" in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (tmp_path / "README.md").write_text(
        "![A](docs/a.png) [b](docs/b.md#c), [d](#d), [e](https://e.org)", encoding="utf-8"
    )
    for line, home in (
        ("title: linkwork", None),
        ("repository-code: somewhere", None),
        ("repository-code: https://forge.org/us/linkwork", "https://forge.org/us/linkwork"),
        ('repository-code: "https://forge.org/us/linkwork/"', "https://forge.org/us/linkwork"),
    ):
        (tmp_path / "CITATION.cff").write_text(f"cff-version: 1.2.0\n{line}\nversion: 1.0\n", encoding="utf-8")
        assert address.address(tmp_path) == home
        assert ["no line 'repository-code" in fault for fault in check.address_faults(tmp_path)] == [True] * (
            home is None
        )
        made: dict[str, Any] = {}
        address.AddressHook(str(tmp_path), {}).update(made)
        assert ("urls" in made) == (home is not None)
    assert made["urls"]["Source"] == home
    assert made["readme"]["text"] == (
        f"![A]({home}/raw/main/docs/a.png) [b]({home}/blob/main/docs/b.md#c), [d](#d), [e](https://e.org)"
    )


def test_workflows_run_nothing_that_can_change_under_them() -> None:
    for path in sorted((ROOT / ".github/workflows").glob("*.yml")):
        text = path.read_text(encoding="utf-8")
        used = re.findall(r"uses: (\S+)(.*)", text)
        assert used
        for action, comment in used:
            assert re.fullmatch(r"[\w.-]+/[\w.-]+@[0-9a-f]{40}", action), f"{path.name}: {action} is not pinned"
            assert re.fullmatch(r" # v\d+\.\d+\.\d+", comment), f"{path.name}: which version is {action}?"
        assert yaml.safe_load(text)["permissions"] == {"contents": "read"}
        assert text.count("actions/checkout@") == text.count("persist-credentials: false")


def test_a_wheel_of_this_machine_takes_the_packs_beside_the_kernels(
    wheels: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, home, packs = TARGETS["linux-x86_64"], tmp_path / "pack", tmp_path / "packs"
    packs.mkdir()
    monkeypatch.setattr(wheels, "host", lambda: target)
    monkeypatch.setattr(wheels, "HOME", home)
    monkeypatch.setattr(wheels, "WEB_HOME", home / "web")
    for folder, one in ((home, target), (home / "web", TARGETS["wasm"])):
        folder.mkdir()
        for name in (one.file, "pack.json"):
            (folder / name).write_text(f"{name} of {one.name}", encoding="utf-8")
    assert wheels.copy_own(packs) is target
    found = sorted(path.relative_to(packs).as_posix() for path in packs.rglob("*.*"))
    assert found == ["linux-x86_64/pack.json", "linux-x86_64/pack.so", "wasm/linkwork.wasm", "wasm/pack.json"]
    assert (packs / "wasm/pack.json").read_text(encoding="utf-8") == "pack.json of wasm"
    monkeypatch.setattr(wheels, "host", lambda: None)
    with pytest.raises(FileNotFoundError, match="plain wheel"):
        wheels.copy_own(packs)


def test_the_wheel_of_a_platform_is_the_plain_one_and_its_pack(wheels: Any, tmp_path: Path) -> None:
    target = TARGETS["windows-x86_64"]
    packs, first, second = (tmp_path / name for name in ("packs", "first", "second"))
    for one in (target, TARGETS["wasm"]):
        (packs / one.name).mkdir(parents=True)
        for name in (one.file, "pack.json"):
            (packs / one.name / name).write_text(LISTING, encoding="utf-8")
    plain, built = wheels.build(packs, first, None), wheels.build(packs, second, target)
    assert plain.name.endswith("-py3-none-any.whl")
    assert built.name.endswith("-py3-none-win_amd64.whl")
    assert list(wheels.wheel_faults(plain, None, plain)) == []
    faults = list(wheels.wheel_faults(built, None, plain))
    assert "has linkwork/kernels/pack/pack.dll too" in faults
    assert "is not tagged py3-none-any" in faults
    assert "has a library that differs from its listing" in list(wheels.wheel_faults(built, target, plain))


def test_this_machine_is_a_target_or_none() -> None:
    assert host() is None or host() in TARGETS.values()
