"""Make the pictures of the page on how it works: python docs/pictures/make_how_it_works.py.

Boxes name functions and, below them, the files they are in. `tests/test_docs_names.py` looks for both in the sources.
"""

from __future__ import annotations

from pathlib import Path

from made import recorded

HERE = Path(__file__).parent
INK, QUIET, PAPER = "#263238", "#607d8b", "#ffffff"
FILLS = {"call": "#dfe3f7", "python": "#eceff1", "kernel": "#ffe0b2", "answer": "#c8e6c9"}
LANES = ("#3949ab", "#00897b", "#c2185b", "#6d4c41", "#e65100", "#5e35b1", "#0277bd", "#558b2f", "#9e9d24", "#ad1457")


class Sheet:
    """A drawing of boxes and arrows.

    Args:
        width: Its width [px].
        height: Its height [px].
    """

    def __init__(self, width: int, height: int) -> None:
        self.size = width, height
        self.parts: list[str] = []

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        size: int = 12,
        colour: str = INK,
        anchor: str = "start",
        bold: bool = False,
    ) -> None:
        """Write a line of text; y is its baseline."""
        weight = ' font-weight="bold"' if bold else ""
        self.parts.append(
            f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{colour}" text-anchor="{anchor}"{weight}>{text}</text>'
        )

    def box(self, x: float, y: float, width: float, kind: str, title: str, *lines: str) -> None:
        """Draw a box with a title, and lines below it in small print."""
        height = 26 + 15 * len(lines)
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height}" rx="5" fill="{FILLS[kind]}" '
            f'stroke="{QUIET}"/>'
        )
        self.text(x + width / 2, y + 18, title, size=13, anchor="middle", bold=True)
        for k, line in enumerate(lines):
            self.text(x + width / 2, y + 34 + 15 * k, line, size=11, colour="#455a64", anchor="middle")

    def arrow(self, *points: tuple[float, float], note: str = "", at: tuple[float, float] | None = None) -> None:
        """Draw a line through points with a head at its end, and perhaps a note."""
        places = " ".join(f"{x:g},{y:g}" for x, y in points)
        self.parts.append(
            f'<polyline points="{places}" fill="none" stroke="{QUIET}" stroke-width="1.5" marker-end="url(#head)"/>'
        )
        if note and at is not None:
            self.text(*at, note, size=11, colour=QUIET)

    def bar(self, x: float, y: float, width: float, colour: str, label: str, *, open_end: bool = False) -> None:
        """Draw a stretch of one lane."""
        dashes = ' stroke-dasharray="4 3" fill-opacity=".35"' if open_end else ""
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="18" rx="3" fill="{colour}" '
            f'stroke="{colour}"{dashes}/>'
        )
        self.text(x + width / 2, y + 13, label, size=11, colour=INK if open_end else PAPER, anchor="middle")

    def save(self, name: str) -> None:
        """Write the drawing on its paper."""
        width, height = self.size
        text = "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif">',
                '<rect width="100%" height="100%" rx="6" fill="#fff"/>',
                '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
                f'orient="auto"><path d="M0 0 8 4 0 8z" fill="{QUIET}"/></marker></defs>',
                *self.parts,
                "</svg>\n",
            ]
        )
        (HERE / name).write_text(text, encoding="utf-8")
        print(f"{name}: {len(text) / 1000:.1f} kB")


def life_of_a_solve() -> Sheet:
    """The way from a call of `solve` to its answer."""
    s = Sheet(860, 640)
    s.box(330, 14, 200, "call", "lw.solve", "solvers/solving.py")
    s.arrow((430, 55), (430, 84))
    s.box(300, 86, 260, "python", "which way?", "_alone, _searched, _walked, configure")
    # The four ways
    s.arrow((340, 127), (340, 146), (125, 146), (125, 178), note="one Reach, robust", at=(20, 166))
    s.arrow((400, 127), (400, 146), (345, 146), (345, 178), note="several goals, robust", at=(222, 166))
    s.arrow((460, 127), (460, 146), (553, 146), (553, 178), note="a textbook method", at=(443, 166))
    s.arrow((520, 127), (520, 146), (756, 146), (756, 178), note="anything else", at=(672, 166))
    # A chain
    s.box(20, 180, 210, "python", "prepared_for", "solvers/chain_solver.py:", "packed once, kept on the linkage")
    s.arrow((125, 236), (125, 262))
    s.box(20, 264, 210, "kernel", "answer_one", "kernels/closed_form/answers.py", "if the arm has a closed form")
    s.arrow((125, 320), (125, 346), note="no answer", at=(131, 337))
    s.box(20, 348, 210, "kernel", "search_one", "kernels/search_one.py", "rounds of eight starts")
    s.arrow((125, 404), (125, 430), note="missed", at=(131, 421))
    s.box(20, 432, 210, "kernel", "closest_many", "kernels/closest.py", "the closest pose, by Newton")
    # A body
    s.box(250, 180, 190, "python", "body_solver_for", "solvers/body_solver.py:", "the tree below the goals, packed")
    s.arrow((345, 236), (345, 346))
    s.box(250, 348, 190, "kernel", "search_bodies", "kernels/body_search.py", "damped steps of a tree")
    # A textbook method
    s.box(458, 180, 190, "python", "walk_for", "solvers/walking.py:", "goals and method as arrays")
    s.arrow((553, 236), (553, 346))
    s.box(458, 348, 190, "kernel", "walk", "kernels/textbook_walk.py", "one loop, the method's step")
    # NumPy
    s.box(666, 180, 180, "python", "Problem", "solvers/problem.py:", "errors and Jacobians of goals")
    s.arrow((756, 236), (756, 346))
    s.box(666, 348, 180, "python", "run", "solvers/iterate.py", "the same loop in NumPy")
    # Together again
    for y in (292, 376):
        s.arrow((230, y), (240, y), (240, 510))
    s.text(236, 504, "reached", size=11, colour=QUIET, anchor="end")
    for x, y in ((125, 488), (345, 404), (553, 404), (756, 404)):
        s.arrow((x, y), (x, 512), (430, 512), (430, 534))
    s.box(300, 536, 260, "answer", "Solution", "solvers/solution.py: a pose, judged anew")
    s.arrow((560, 557), (640, 557), note="when asked", at=(568, 549))
    s.box(642, 536, 204, "python", "reason, explain", "explain/diagnosis.py")
    for x, kind, label in (
        (20, "call", "public"),
        (110, "python", "Python"),
        (200, "kernel", "machine code"),
        (330, "answer", "answer"),
    ):
        s.parts.append(f'<rect x="{x}" y="606" width="16" height="16" rx="3" fill="{FILLS[kind]}" stroke="{QUIET}"/>')
        s.text(x + 22, 619, label)
    return s


def lanes() -> Sheet:
    """What the eight lanes of a vector register do in the two searches, and what a card does instead."""
    s = Sheet(860, 470)
    s.text(20, 26, "One goal: search_one", size=14, bold=True)
    s.text(20, 44, "Eight starts of the goal race. The first to arrive wins.", colour=QUIET)
    s.text(450, 26, "Many goals: search_many", size=14, bold=True)
    s.text(450, 44, "Each lane has its own goal. When it is done, it takes the next.", colour=QUIET)
    steps = (9, 9, 7, 9, 4, 9, 9, 9)
    for lane, length in enumerate(steps):
        y = 58 + 23 * lane
        s.text(20, y + 13, f"lane {lane}", size=11, colour=QUIET)
        won = lane == 4
        name = f"start {lane + 1}" + (": arrived" if won else "")
        s.bar(70, y, 150 if won else 150 * min(length, 4) / 4, LANES[1] if won else QUIET, name, open_end=not won)
    s.parts.append(f'<line x1="222" y1="54" x2="222" y2="242" stroke="{INK}" stroke-dasharray="3 3"/>')
    s.text(228, 70, "all lanes stop", size=11)
    runs = (
        (90, 120, 80),
        (60, 60, 70, 100),
        (150, 90, 50),
        (40, 90, 60, 100),
        (110, 70, 110),
        (70, 130, 90),
        (130, 60, 100),
        (50, 80, 160),
    )
    ends = []
    for lane, lengths in enumerate(runs):
        at = 500.0
        for length in lengths:
            ends.append((at, lane, length))
            at += length
    for goal, (at, lane, length) in enumerate(sorted(ends), start=1):  # in the order in which lanes become free
        s.bar(at + 1, 58 + 23 * lane, length - 2, LANES[goal % len(LANES)], str(goal))
    for lane in range(8):
        s.text(450, 71 + 23 * lane, f"lane {lane}", size=11, colour=QUIET)
    s.arrow((70, 254), (222, 254), note="steps", at=(130, 268))
    s.arrow((500, 254), (790, 254), note="steps", at=(630, 268))
    s.text(20, 306, "On a graphics card: a thread for each descent", size=14, bold=True)
    s.text(20, 324, "The same functions, with one number where the processor has a vector of lanes.", colour=QUIET)
    for block in range(4):
        for thread in range(16):
            x, y = 20 + 205 * block + 24 * (thread % 8), 340 + 22 * (thread // 8)
            s.bar(x, y, 20, LANES[(16 * block + thread) % len(LANES)], str(16 * block + thread + 1))
        s.text(
            20 + 205 * block,
            402,
            ("descents 1 to 16", "17 to 32", "33 to 48", "49 to 64, and so on")[block],
            size=11,
            colour=QUIET,
        )
    s.text(
        20, 436, "A vector has 8 lanes of doubles or 16 of singles. Kernels are written once: the memory that they are"
    )
    s.text(20, 453, "called with decides whether a name in them holds one number or a vector of lanes.")
    return s


def packs() -> Sheet:
    """How the Python of a kernel becomes machine code."""
    s = Sheet(890, 306)
    s.box(20, 86, 170, "kernel", "@kernel", "kernels/__init__.py", "Python, with a signature")
    s.box(250, 86, 190, "python", "Numba's front end", "kernels/compiler.py,", "kernels/emission.py: lanes")
    s.box(250, 230, 190, "python", "numba-cuda", "kernels/cuda.py,", "kernels/symbolic.py: one chain")
    s.arrow((190, 114), (248, 114))
    s.arrow((105, 142), (105, 258), (248, 258), note="its parts", at=(112, 250))
    ways = (
        (14, "a pack", "kernels/build.py, kernels/pack.py", "ahead of time, for each platform"),
        (86, "compiled on the fly", "kernels/jit.py, kernels/store.py", "at the first call, kept on disk"),
        (158, "linkwork.wasm", "kernels/web.py", "for web pages and node"),
        (230, "code for cards", "kernels/cuda_pack.py: PTX", "or compiled for one chain"),
    )
    for y, title, files, note in ways:
        s.box(500, y, 220, "call", title, files, note)
    for y in (42, 114, 186):
        s.arrow((440, 114), (470, 114), (470, y), (498, y))
    s.arrow((440, 258), (498, 258))
    for y in (42, 114):
        s.arrow((720, y), (740, y), (740, 78), (758, 78))
    for k, line in enumerate(("callable_of", "kernels/runtime.py", "takes one of them")):
        s.text(764, 68 + 15 * k, line, size=11 if k else 12, colour="#455a64" if k else INK)
    return s


if __name__ == "__main__":
    with recorded(__file__):
        life_of_a_solve().save("life-of-a-solve.svg")
        lanes().save("lanes.svg")
        packs().save("packs.svg")
