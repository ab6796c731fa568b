"""A person at the studio's page, in a browser: a mouse, a keyboard, and eyes for what the page knows."""

from __future__ import annotations

import time

ELEMENT = "document.querySelector('linkwork-studio')"
PATIENCE = 90.0


class Hand:
    """A person at the page."""

    def __init__(self, studio, page) -> None:
        self.studio, self.page = studio, page

    def numbers(self):
        return self.page.evaluate(f"{ELEMENT}.numbers()")

    def ask(self, **action):
        return self.page.evaluate(f"(ask) => {ELEMENT}.link.ask(ask)", action)

    def until(self, true, what="it"):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            found = true(self.numbers())
            if found:
                return found
            self.page.wait_for_timeout(30)
        raise AssertionError(f"{what} did not come about: {self.numbers()['state'].get('history')}")

    def at(self, goal):
        """Return where the handle of a goal is on the screen."""
        self.stand_still()
        script = (
            f"(name) => {{ const s = {ELEMENT}; const at = s.holding.handles.get(name).position;"
            "const {x, y} = s.stage.camera.project(at); const r = s.stage.canvas.getBoundingClientRect();"
            "return [x + r.left, y + r.top]; }"
        )
        return self.page.evaluate(script, goal)

    def stand_still(self):
        """Wait until everything is drawn, and the stage stays as large as it is."""
        script = (
            f"() => {{ const s = {ELEMENT}; const r = s.stage.canvas.getBoundingClientRect();"
            "return [s.stage.asked || s.asked ? Math.random() : 0, r.top, r.width, r.height, s.stage.camera.height]; }"
        )
        before = None
        for _ in range(1500):
            now = self.page.evaluate(script)
            if now == before:
                return
            before = now
            self.page.wait_for_timeout(60)
        raise AssertionError("the page does not stand still.")

    def link_at(self, link):
        """Return a point of the screen where a link is seen."""
        self.stand_still()
        script = (
            f"(link) => {{ const s = {ELEMENT}; const r = s.stage.canvas.getBoundingClientRect();"
            "for (const gap of [48, 24, 12])"
            "for (let y = 8; y < r.height; y += gap) for (let x = 8; x < r.width; x += gap)"
            "{ const p = s.stage.pick(x, y, 0); if (p?.name === link && !s.stage.handles.hit(s.stage.camera, x, y)) "
            "return [x + r.left, y + r.top]; } return null; }"
        )
        return self.page.evaluate(script, link)

    def drag(self, start, right, down):
        mouse = self.page.mouse
        mouse.move(*start)
        mouse.down()
        mouse.move(start[0] + right, start[1] + down, steps=4)
        mouse.up()

    def undone(self, what):
        """Wait until a thing is what undo would take back, and return the numbers."""
        return self.until(lambda n: n["state"]["history"]["undo"] == what and n, what)


def fresh(hand):
    """Open a Panda, with nothing left of what was done before, and return the person."""
    before = hand.numbers()["state"]["stage"]
    hand.ask(do="open model", name="panda")
    hand.until(lambda n: n["state"]["stage"] != before and len(n["q"]) == 7, "a fresh arm")
    hand.page.evaluate(
        f"() => {{ const s = {ELEMENT}; s.root.querySelectorAll('dialog[open]').forEach((one) => one.close());"
        "if (s.timeline.curves.open) s.timeline.curves.toggle();"
        "s.tour.end(); s.room.open('Goals'); s.stage.draw(); }"
    )
    return hand
