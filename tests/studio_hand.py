"""A user of the studio's page in a browser: mouse, keyboard, and access to the state of the page."""

from __future__ import annotations

import time

ELEMENT = "document.querySelector('linkwork-studio')"
PATIENCE = 90.0
# Whether the stage is unchanged for two frames and has nothing left to draw.
STILL = f"""(patience) => new Promise((done) => {{
  const s = {ELEMENT}, end = performance.now() + patience;
  const look = (before) => requestAnimationFrame(() => {{
    const r = s.stage.canvas.getBoundingClientRect();
    const now = [r.top, r.width, r.height, s.stage.camera.height].join();
    if (now === before && !s.stage.asked && !s.asked) done(true);
    else if (performance.now() > end) done(false);
    else look(now);
  }});
  look("");
}})"""
# A point where a link is visible: along its bones, or else anywhere on the screen.
SEEN = f"""(link) => {{
  const s = {ELEMENT}, {{ stage }} = s, r = stage.canvas.getBoundingClientRect(), k = stage.scene.links.indexOf(link);
  const origin = (i) => [3, 7, 11].map((n) => stage.matrices[16 * i + n]);
  const seen = (x, y) => stage.pick(x, y, 0)?.name === link && !stage.handles.hit(stage.camera, x, y);
  const spots = [];
  for (const i of [k + 1, k - 1, k + 2].filter((i) => i >= 0 && 16 * i < stage.matrices.length)) {{
    for (const t of [0.5, 0.3, 0.7, 0.1]) {{
      const {{ x, y }} = stage.camera.project(origin(k).map((a, n) => a + t * (origin(i)[n] - a)));
      spots.push([x, y]);
    }}
  }}
  for (const gap of [48, 24, 12]) {{
    for (let y = 8; y < r.height; y += gap) for (let x = 8; x < r.width; x += gap) spots.push([x, y]);
  }}
  const found = spots.find(([x, y]) => x > 4 && y > 4 && x < r.width - 4 && y < r.height - 4 && seen(x, y));
  return found ? [found[0] + r.left, found[1] + r.top] : null;
}}"""


class Hand:
    """A user of the page."""

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
            self.page.wait_for_timeout(15)
        raise AssertionError(f"{what} did not come about: {self.numbers()['state'].get('history')}")

    def at(self, goal):
        """Return the position of a goal's handle on the screen."""
        self.stand_still()
        script = (
            f"(name) => {{ const s = {ELEMENT}; const at = s.holding.handles.get(name).position;"
            "const {x, y} = s.stage.camera.project(at); const r = s.stage.canvas.getBoundingClientRect();"
            "return [x + r.left, y + r.top]; }"
        )
        return self.page.evaluate(script, goal)

    def stand_still(self):
        """Wait until everything is drawn and the size of the stage is stable."""
        assert self.page.evaluate(STILL, 1000 * PATIENCE), "the page does not stand still."

    def link_at(self, link):
        """Return a point of the screen where a link is visible."""
        self.stand_still()
        return self.page.evaluate(SEEN, link)

    def drag(self, start, right, down):
        mouse = self.page.mouse
        mouse.move(*start)
        mouse.down()
        mouse.move(start[0] + right, start[1] + down, steps=4)
        mouse.up()

    def undone(self, what):
        """Wait until an action is the next that undo would revert, and return the state of the page."""
        return self.until(lambda n: n["state"]["history"]["undo"] == what and n, what)


def fresh(hand):
    """Open a Panda without traces of earlier actions, and return the user."""
    hand.page.mouse.up()  # in case a failed test held the button
    for key in ("r", "Alt", "Shift", "Control"):
        hand.page.keyboard.up(key)
    before = hand.numbers()["state"]["stage"]
    hand.ask(do="open model", name="panda")
    hand.until(lambda n: n["state"]["stage"] != before and len(n["q"]) == 7, "a fresh arm")
    hand.page.evaluate(
        f"() => {{ const s = {ELEMENT}; s.root.querySelectorAll('dialog[open]').forEach((one) => one.close());"
        "if (s.timeline.curves.open) s.timeline.curves.toggle();"
        "s.tour.end(); s.room.open('Goals'); s.stage.draw(); }"
    )
    return hand
