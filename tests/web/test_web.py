"""linkwork.js: the answers of Python in node, the example page in a browser from disk, and the package metadata."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import PageError
from linkwork.kernels.web import FUNCTIONS, WEB_HOME, web_code
from live_pages import wait_for
from web_cases import searching

ROOT = Path(__file__).parents[2]
WEB = ROOT / "web"
PLACE = """([name, frame]) => { const view = document.getElementById(name), m = view.session.place(frame);
  const at = view.stage.camera.project([m[3], m[7], m[11]]), box = view.stage.canvas.getBoundingClientRect();
  return [at.x + box.left, at.y + box.top]; }"""
LARGEST = 30_000  # bytes of linkwork.js
GOALS = 24  # goals per chain, each with and without a start


def built() -> Any:
    """Return the script that builds the generated files."""
    spec: Any = importlib.util.spec_from_file_location("web_build", WEB / "build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def wasm() -> Path:
    """The machine code, built with the pack of this machine."""
    try:
        web_code()
    except PageError as error:
        pytest.skip(str(error))
    return WEB_HOME / "linkwork.wasm"


def test_answers_in_node_are_those_of_python(wasm: Path, tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node; try: apt-get install nodejs")
    subprocess.run([sys.executable, ROOT / "tests" / "web_cases.py", tmp_path, "--goals", str(GOALS)], check=True)
    names = {"LINKWORK_CASES": str(tmp_path), "LINKWORK_WASM": str(wasm)}
    words = [node, "--test", WEB / "test" / "linkwork.test.mjs"]
    done = subprocess.run(
        words, env={**os.environ, **names}, capture_output=True, text=True, check=False, encoding="utf-8"
    )
    told = dict(re.findall(r"^(?:#|ℹ) (pass|fail|skipped) (\d+)$", done.stdout, re.MULTILINE))
    assert done.returncode == 0, done.stdout[-4000:]
    assert told["fail"] == told["skipped"] == "0"
    assert int(told["pass"]) > 50


@pytest.fixture(scope="module")
def page(wasm: Path, browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The example page, opened from disk."""
    folder = tmp_path_factory.mktemp("page")
    built().write_page(folder)
    shutil.copy(WEB / "example.html", folder)
    page = browser.new_page(viewport={"width": 1440, "height": 640})
    page.trouble = []
    page.on("pageerror", lambda error: page.trouble.append(str(error)))
    page.goto((folder / "example.html").as_uri())
    page.evaluate("Promise.all([...document.querySelectorAll('linkwork-view')].map((v) => v.ready.then(() => 1)))")
    yield page
    page.close()


def test_the_example_opens_from_disk_and_follows_the_pointer(page: Any) -> None:
    for name, frame in (("planar", "tip"), ("panda", "tip"), ("human", "left_hand")):
        x, y = page.evaluate(PLACE, [name, frame])
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x - 30, y - 20, steps=2)
        wait_for(page, f"document.getElementById('{name}').state().told?.status === 'reached'")
        page.mouse.up()
        page.locator(f"#{name} + figcaption", has_text="reached").wait_for()
    assert page.trouble == []


def test_a_browser_solves_as_python_does(page: Any) -> None:
    arm = lw.models.panda()
    ik, poses = searching(lw.prepare(arm, "tip")), arm.random_pose(3, 20)
    targets = arm.forward(poses, frame="tip").reshape(-1, 16)
    arm_there = "document.getElementById('panda').session.linkage"
    found = page.evaluate(
        f"targets => targets.map(t => [...{arm_there}.solve(t, {{solver: 'tip, turned'}}).q])", targets.tolist()
    )
    known = [ik(target.reshape(4, 4)).q for target in targets]
    np.testing.assert_allclose(found, known, atol=1e-9)


def test_the_package_says_what_it_is() -> None:
    package = json.loads((WEB / "package.json").read_text(encoding="utf-8"))
    text = (WEB / "linkwork.js").read_text(encoding="utf-8")
    assert package["version"] == lw.__version__
    assert f'VERSION = "{lw.__version__}"' in text
    assert package["license"] in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    made = {"linkwork.wasm", *built().SCRIPTS, "example.packs.js"}
    assert all((WEB / name).exists() for name in set(package["files"]) - made)
    assert set(package["files"]) >= made | set(built().MODULES)
    assert len(text.encode()) < LARGEST


def test_kernels_that_are_called_are_built() -> None:
    called = {
        name
        for path in WEB.glob("*.js")
        for name in re.findall(r'(?:call\(|run\(solver, )"(\w+)"', path.read_text(encoding="utf-8"))
    }
    assert called == set(FUNCTIONS)
