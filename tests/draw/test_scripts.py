"""Modules of a web page joined into one script: each has its own scope, and nothing else is loaded."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from linkwork.draw import scripts
from linkwork.errors import PageError

MODULES = {
    "main.js": """// @ts-check
/** Adds. */
import { size as much, Box } from "./parts/box.js";
import * as sums from "./sums.js";
import "./noise.js";

const own = "/* kept */ // kept";

/** @param {number} x */
export function total(x) {
  /** @type {number} */ const most = much;
  return sums.add(new Box(x).volume(), most);
}
/** @type {string} */
export const text = own;
""",
    "parts/box.js": """import {
  cubed,
} from "../sums.js";
export const size = 2;
const own = 5;
export class Box { constructor(x) { this.x = x; } volume() { return cubed(this.x) + own; } }
""",
    "sums.js": """export function add(a, b) { return a + b; }
export function cubed(x) { return x ** 3; }
export const here = import.meta.url;
""",
    "noise.js": "globalThis.noise = 1;\n",
}


@pytest.fixture
def web(tmp_path, monkeypatch):
    """A folder of scripts."""
    for name, text in MODULES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(scripts, "folder", lambda: tmp_path)
    return tmp_path


def test_modules_become_one_script(web):
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node; try: apt-get install nodejs")
    script = scripts.bundle(["main.js", "sums.js"])
    assert "import " not in script
    assert "@param" not in script
    say = "console.log(JSON.stringify([linkwork.total(3), linkwork.text, linkwork.add(1, 2), noise, linkwork.size]));"
    done = subprocess.run([node, "-e", script + say], capture_output=True, text=True, check=True, encoding="utf-8")
    assert json.loads(done.stdout) == [34, "/* kept */ // kept", 3, 1, None]


def test_a_circle_is_refused(web):
    (web / "sums.js").write_text('import { size } from "./main.js";\n', encoding="utf-8")
    with pytest.raises(PageError, match=r"circle: .*main\.js"):
        scripts.bundle(["main.js"])


def test_every_script_can_be_joined():
    found = [path.relative_to(scripts.folder()).as_posix() for path in scripts.folder().rglob("*.js")]
    hand_written = [
        name for name in found if not name.startswith(("linkwork.inline", "linkwork.view", "example.", "node_modules"))
    ]
    script = scripts.bundle(hand_written)
    assert not scripts.IMPORT.search(script)
    assert not scripts.EXPORT.search(script)


def test_what_is_missing_is_said(tmp_path):
    from linkwork.kernels.web import web_code

    with pytest.raises(PageError, match=r"python -m linkwork\.kernels wasm"):
        web_code(tmp_path)
