"""Draw the pictures of the studio: python docs/pictures/make_studio.py (it needs Chromium and playwright)."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

from made import recorded
from playwright.sync_api import sync_playwright

import linkwork as lw

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from live_pages import BROWSERS, SOFTWARE

HERE = Path(__file__).parent
SIZE = {"width": 1280, "height": 800}
PATIENCE = 180_000  # ms: software draws it
STUDIO = "document.querySelector('linkwork-studio')"


def drag(page: Any, goal: str, right: float, down: float) -> None:
    """Drag the handle of a goal by pixels."""
    script = (
        f"(name) => {{ const s = {STUDIO}; const at = s.holding.handles.get(name).position;"
        "const {x, y} = s.stage.camera.project(at); const r = s.stage.canvas.getBoundingClientRect();"
        "return [x + r.left, y + r.top]; }"
    )
    x, y = page.evaluate(script, goal)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + right, y + down, steps=8)
    page.mouse.up()
    page.wait_for_timeout(800)


def posing(page: Any) -> None:
    """A human reaches, and looks at what it reaches for."""
    page.evaluate(f"{STUDIO}.link.ask({{do: 'add goal', kind: 'look at', frame: 'eyes'}})")
    page.wait_for_timeout(500)
    drag(page, "left_hand", 150, -190)


def timeline(page: Any) -> None:
    """A Panda with three keys, curves, and skins."""
    for time, pose in (
        (0.0, "ready"),
        (1.5, [0.8, 0.2, 0.3, -1.2, 0.1, 1.9, 0.5]),
        (3.0, [-0.8, -0.6, 0.3, -2.2, 0.1, 1.2, 0.5]),
    ):
        page.evaluate(f"(q) => {STUDIO}.link.ask({{do: 'pose', q}})", pose)
        page.evaluate(f"(time) => {STUDIO}.link.ask({{do: 'set key', time, kind: 'bezier'}})", time)
    page.wait_for_timeout(1500)
    page.get_by_role("button", name="Skins").click()
    page.get_by_role("button", name="Curves").click()
    page.evaluate(f"{STUDIO}.timeline.go(0.8)")
    page.wait_for_timeout(1500)


def main() -> None:
    """Draw them all."""
    with sync_playwright() as play:
        found = next(path for path in map(shutil.which, BROWSERS) if path)
        browser = play.chromium.launch(executable_path=found, args=SOFTWARE)
        for name, model, act in (("posing", "human:floating", posing), ("timeline", "panda", timeline)):
            with lw.studio.open_studio(model, port=0) as studio:
                page = browser.new_page(viewport=SIZE)
                page.goto(studio.url)
                page.evaluate(f"{STUDIO}.ready")
                page.evaluate(f"{STUDIO}.tour.end()")
                page.wait_for_timeout(800)
                act(page)
                page.screenshot(path=HERE / f"studio-{name}.png", timeout=PATIENCE)
                page.close()
        browser.close()


if __name__ == "__main__":
    with recorded(__file__):
        main()
