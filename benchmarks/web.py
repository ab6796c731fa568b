"""linkwork.js in node and in Chromium, compared with the Python library: same goals, same kernels, in one run.

    python benchmarks/web.py                  print the table and update results.md
    python benchmarks/web.py --no-write       print only

It needs the output of `make web`.
"""

from __future__ import annotations

import gzip
import json
import os
import platform
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from forward import machine
from results import arguments, publish, say

import linkwork as lw

SECTION = "web"
ROOT = Path(__file__).parents[1]
WEB = ROOT / "web"
GOALS, PROBLEMS, ROUNDS = 1000, 60, 15
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FEET = ("left_foot", "right_foot")


def goals_of(names: dict[str, list[float]]) -> list[lw.Goal]:
    """Return the goals of the body: it stands, reaches with both hands and looks somewhere."""
    hands = [lw.Reach(hand, position=names[hand]) for hand in ("left_hand", "right_hand")]
    return [*(lw.Hold(foot) for foot in FEET), *hands, lw.LookAt("eyes", at=names["eyes"])]


def tasks() -> dict[str, Any]:
    """Return the common input."""
    arm, rng = lw.models.panda(), np.random.default_rng(0)
    poses, starts = arm.random_pose(1, GOALS), arm.random_pose(2, GOALS)
    places = {"left_hand": (0.25, 0.25, 1.1), "right_hand": (0.25, -0.25, 1.1), "eyes": (1.5, 0.0, 1.5)}
    moved = [
        {name: (np.array(at) + rng.uniform(-0.2, 0.2, 3)).tolist() for name, at in places.items()}
        for _ in range(PROBLEMS)
    ]
    targets = arm.forward(poses, frame="tip").reshape(-1, 16)
    return {"targets": targets.tolist(), "starts": starts.tolist(), "poses": poses.tolist(), "goals": moved}


def timed(items: Sequence[Any], act: Callable[[Any], Any]) -> dict[str, float]:
    """Return the shortest time of a call [us], and the number of good answers."""
    best, found = np.inf, []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        found = [act(item) for item in items]
        best = min(best, (time.perf_counter() - began) * 1e6 / len(items))
    return {"us": best, "good": sum(bool(getattr(one, "success", True)) for one in found)}


def in_python(given: dict[str, Any]) -> dict[str, Any]:
    """Return the times of the Python library."""
    arm, body = lw.models.panda(), lw.models.human()
    targets = np.array(given["targets"]).reshape(-1, 4, 4)
    each = list(zip(targets, np.array(given["starts"]), np.array(given["poses"]), strict=True))
    problems = [goals_of(names) for names in given["goals"]]
    ik, whole = lw.prepare(arm, "tip"), lw.prepare(body, problems[0])
    ik(targets[0])
    whole(problems[0], start="stand")
    stand: Any = body.stored_pose("stand")
    state: dict[str, Any] = {"q": each[0][2], "stand": stand}

    def follow(target: Any) -> Any:
        state["q"] = ik.step(target, state["q"], dt=0.01)
        return state["q"]

    def move(goals: Any) -> Any:
        state["stand"] = whole.step(goals, state["stand"], dt=0.01, velocity=2.0)
        return state["stand"]

    return {
        "forward": timed(each, lambda one: arm.forward(one[2], frame="tip")),
        "jacobian": timed(each, lambda one: arm.jacobian(one[2], "tip")),
        "solve, no start": timed(each, lambda one: ik(one[0])),
        "solve, from a start": timed(each, lambda one: ik(one[0], start=one[1])),
        "follow": timed(each, lambda one: follow(one[0])),
        "body, solve": timed(problems, lambda goals: whole(goals, start=stand)),
        "body, follow": timed(problems, move),
    }


def packs(given: dict[str, Any]) -> dict[str, str]:
    """Return the linkages as JSON text."""
    return {
        "panda": lw.models.panda().pack("tip").to_json(),
        "human": lw.models.human().pack(goals_of(given["goals"][0])).to_json(),
    }


def in_node(script: str, folder: Path) -> dict[str, Any] | None:
    """Return the times in node, or None if it is not installed."""
    node = shutil.which("node")
    if node is None:
        return None
    (folder / "run.cjs").write_text(
        f"{script}\nrun().then((found) => console.log(JSON.stringify(found)));\n", encoding="utf-8"
    )
    done = subprocess.run([node, folder / "run.cjs"], capture_output=True, text=True, check=True, encoding="utf-8")
    version = subprocess.run(
        [node, "--version"], capture_output=True, text=True, check=True, encoding="utf-8"
    ).stdout.strip()
    return {"name": f"node {version.lstrip('v')}", "times": json.loads(done.stdout)}


def in_browser(script: str, folder: Path) -> dict[str, Any] | None:
    """Return the times in Chromium, in a page from disk, or None if it is not installed."""
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    if found is None:
        return None
    (folder / "run.js").write_text(script, encoding="utf-8")
    (folder / "run.html").write_text("<!doctype html><script src='run.js'></script>", encoding="utf-8")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=found, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto((folder / "run.html").as_uri())
        times = page.evaluate("run()")
        name = f"Chromium {browser.version.split('.')[0]}"
        browser.close()
    return {"name": name, "times": times}


def section(report: dict[str, Any]) -> str:
    """Return the section of results.md."""
    columns = [report["python"], *(one for one in (report["node"], report["browser"]) if one)]
    rows = [name for name in columns[-1]["times"] if any(name in one["times"] for one in columns)]
    parts = (f"{name} {size / 1000:.0f} kB ({zipped / 1000:.0f} zipped)" for name, size, zipped in report["sizes"])
    head = machine(one_core=False)

    def cell(one: dict[str, Any], row: str) -> str:
        found = one["times"].get(row)
        if found is None:
            return ""
        amount = f"{found['us'] / 1000:.1f} ms" if found["us"] >= 1000 else f"{found['us']:.1f} us"
        return amount + (f", {found['good']} reached" if "solve" in row else "")

    return "\n".join(
        [
            "## In a web page",
            "",
            f"{date.today().isoformat()}, {head['cpu']}, {head['cores']} cores, {head['system']}; linkwork "
            f"{lw.__version__}. Made by `python benchmarks/web.py`. {GOALS:,} goals of the Panda for position and "
            f"orientation, {PROBLEMS} of a body with 49 values (feet held, two hands, eyes). Time of a call, best of "
            f"{ROUNDS} rounds.",
            "",
            f"Sizes: {', '.join(parts)}.",
            "",
            f"| | {' | '.join(one['name'] for one in columns)} |",
            f"|---|{'---:|' * len(columns)}",
            *(f"| {row} | {' | '.join(cell(one, row) for one in columns)} |" for row in rows),
        ]
    )


def main() -> None:
    options = arguments(__doc__).parse_args()
    given = tasks()
    inline = (WEB / "linkwork.inline.js").read_text(encoding="utf-8")
    texts = ", ".join(f"{name}: {text}" for name, text in packs(given).items())
    measuring = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
    call = f"const run = () => measure(linkwork, {{ {texts} }}, {json.dumps(given)}, {ROUNDS});"
    script = f"{inline}\n{measuring}\n{call}"
    files = [WEB / name for name in ("linkwork.wasm", "linkwork.js", "bodies.js", "textbook.js", "linkwork.inline.js")]
    sizes = [(file.name, file.stat().st_size, len(gzip.compress(file.read_bytes(), 9))) for file in files]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        say("in Python ...")
        python = {"name": f"Python {platform.python_version()}", "times": in_python(given)}
        say("in node and in Chromium ...")
        node, browser = in_node(script, folder), in_browser(script, folder)
    report = {"python": python, "node": node, "browser": browser, "sizes": sizes}
    publish(SECTION, section(report), report, options)


if __name__ == "__main__":
    main()
