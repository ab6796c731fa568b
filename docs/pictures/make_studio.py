"""Make the pictures of the studio: python docs/pictures/make_studio.py [name ...].

Opens the studio in Chromium, does what a person would do, and takes pictures of the page.
"""

from __future__ import annotations

import io
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from playwright.sync_api import Page, sync_playwright

import linkwork as lw
from linkwork.studio import open_studio

HERE = Path(__file__).parent
ARGUMENTS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]
Act = Callable[[Any, Page], None]


def moved(studio: Any, name: str, way: tuple[float, float, float]) -> None:
    """Drag a target by a way, as a gizmo would."""
    place = np.array(studio.session.target(name).place)
    place[:3, 3] += way
    studio.session.drag(name, place)
    studio.session.commit()


def posing(studio: Any, page: Page) -> None:
    """A figure that stands on both feet, reaches with one hand and looks at it."""

    def work() -> None:
        session = studio.session
        for kind, frame in (("pin", "left_foot"), ("pin", "right_foot"), ("reach", "right_hand"), ("look at", "eyes")):
            session.add_target(kind, frame)
        for _ in range(10):
            moved(studio, "right_hand", (0.03, -0.045, 0.06))
        hand = np.array(session.target("right_hand").place)
        hand[:3, 3] += (0.5, 0.5, 0.2)
        hand[:3, :3] = np.eye(3)
        session.drag("look at eyes", hand)
        studio.gizmos.rebuild()
        studio.tabs[0].rebuild_targets()

    studio.do(work)
    page.get_by_role("button", name="Add goal").wait_for()


def why(studio: Any, page: Page) -> None:  # noqa: ARG001
    """A goal out of reach: the sentence, and the circle it would have to lie in."""

    def work() -> None:
        studio.session.add_target("reach", "tip")
        for share in np.linspace(0.0, 1.0, 20):
            place = np.eye(4)
            place[:2, 3] = (10.0 + 18.0 * share, 15.0 + 9.0 * share)
            studio.session.drag("tip", place)
        studio.session.commit()
        studio.gizmos.rebuild()
        studio.tabs[0].rebuild_targets()

    studio.do(work)


def race(studio: Any, page: Page) -> None:
    """Every method on its way through a singularity."""
    studio.do(lambda: (studio.session.add_target("reach", "tip"), studio.gizmos.rebuild()))
    page.get_by_role("tab", name="Race").click()
    page.get_by_role("button", name="Through a singularity").click()
    end = time.monotonic() + 90.0
    while time.monotonic() < end and (studio.tabs[1].chase is None or studio.tabs[1].chase.steps < 148):
        time.sleep(0.1)
    studio.do(lambda: studio.worker.drop("race"), show=False)  # nobody goes on


def inside(studio: Any, page: Page) -> None:
    """A solve looked into."""

    def work() -> None:
        studio.session.add_target("reach", "tip")
        studio.session.set_method("damped")
        moved(studio, "tip", (-0.25, 0.35, 0.1))
        studio.gizmos.rebuild()

    studio.do(work)
    page.get_by_role("tab", name="Inside").click()
    page.get_by_role("button", name="Look into the last solve").click()
    page.get_by_text("Singular values").wait_for()
    studio.do(lambda: (setattr(studio.tabs[2].iteration, "value", 1), studio.tabs[2]._show(1)))


def timeline(studio: Any, page: Page) -> None:
    """A motion between key poses, with onion skins and curves."""

    def work() -> None:
        for k, name in enumerate(("ready", "reach", "pick", "look")):
            studio.session.set_pose(name)
            studio.session.set_key(float(k), kind="catmull-rom")
        studio.session.scrub(1.5)

    studio.do(work)
    page.get_by_role("tab", name="Time").click()
    page.get_by_text("Onion skins").click()


def overlays(studio: Any, page: Page) -> None:
    """Where the tip can be, and how fast it moves each way."""
    page.get_by_role("tab", name="View").click()
    view = studio.tabs[-1]
    studio.do(lambda: [studio.overlays.switch(name, True) for name in ("cloud", "ellipsoid")])
    studio.do(lambda: (setattr(view.cloud, "value", True), setattr(view.ellipsoid, "value", True)))


VIEWS: dict[str, tuple[lw.Linkage, Act]] = {
    "posing": (lw.models.build("human:floating"), posing),
    "why": (lw.models.planar([15, 10, 5]), why),
    "race": (lw.models.planar([15, 10, 5]), race),
    "inside": (lw.models.panda(), inside),
    "timeline": (lw.models.panda(), timeline),
    "overlays": (lw.models.ur5(), overlays),
}


def take(browser: Any, name: str) -> None:
    """Take one picture."""
    linkage, act = VIEWS[name]
    with open_studio(linkage, port=0) as studio:
        page = browser.new_page(viewport={"width": 1120, "height": 730}, locale="en-US")
        page.set_default_timeout(120_000)
        page.goto(studio.url)
        page.get_by_role("button", name="Add goal").wait_for()
        page.wait_for_timeout(2000)
        note = page.locator(".mantine-Notification-closeButton")
        if note.count():
            note.first.click()
        act(studio, page)
        studio.idle(60.0)
        page.wait_for_timeout(14000)
        image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
        image = image.quantize(256, kmeans=2, dither=Image.Dither.NONE) if name == "overlays" else image
        image.save(HERE / f"studio-{name}.png", optimize=True)
        page.close()


if __name__ == "__main__":
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        for view in sys.argv[1:] or VIEWS:
            take(chromium, view)
        chromium.close()
