"""Two arms at a table, in a page that anyone can drag.

Both arms become one linkage. The page has a handle at each hand and needs only a browser. Python finds the same
solutions.
"""

import sys
from pathlib import Path

import linkwork as lw


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    table = lw.Builder("table", base="table").frame("left", at=(0, 0.45, 0)).frame("right", at=(0, -0.45, 0)).build()
    pair = table.attach(lw.models.panda(), "left", prefix="left_").attach(lw.models.panda(), "right", prefix="right_")
    ready = lw.models.panda().poses["ready"]
    hands = ["left_tip", "right_tip"]
    page = lw.draw.page(
        pair, out / "two_arms.html", goals=hands, start=[*ready, *ready], title="Two arms to drag", view=(25, -30)
    )
    print(page)

    target = pair.forward([*ready, *ready], frame="left_tip")
    target[:3, 3] += (0.05, -0.1, 0.05)  # as someone may drag it
    found = lw.prepare(pair, "left_tip")(target, start=[*ready, *ready], stay=True)
    print(found.reason)


if __name__ == "__main__":
    main(Path(*sys.argv[1:2] or ["gallery"]))
