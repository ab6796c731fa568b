"""The studio in a notebook cell: a kernel shows it in a frame of the browser, and changes pass in both directions."""

from __future__ import annotations

import re
from contextlib import ExitStack

import numpy as np
import pytest

from live_pages import site, wait_for
from studio_hand import ELEMENT, PATIENCE

pytest.importorskip("websockets")
nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
CELLS = (
    "import linkwork as lw\nstudio = lw.studio.open_studio(lw.models.planar([15, 10, 5]), port=0)\nstudio",
    "print(studio.add_goal('link2', kind='pin'))",
    "assert studio.idle(30.0)\nprint(*studio.q)",
    "studio.close()\nstudio",
)


@pytest.mark.filterwarnings("ignore:Proactor event loop:RuntimeWarning")  # of ZeroMQ on Windows
def test_a_cell_shows_the_studio_and_script_and_page_see_each_other(browser, tmp_path):
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in CELLS])
    client = nbclient.NotebookClient(book, timeout=120, resources={"metadata": {"path": str(tmp_path)}})
    context = browser.new_context(viewport={"width": 1000, "height": 800}, reduced_motion="reduce")
    page = context.new_page()

    def run(number):
        client.execute_cell(book.cells[number], number)
        (output,) = book.cells[number].outputs
        return output.data["text/html"] if "data" in output else output.text

    with ExitStack() as stack:
        stack.enter_context(client.setup_kernel())
        html = run(0)
        (url,) = set(re.findall(r'src="(http://127\.0\.0\.1:\d+/)"', html))
        port = stack.enter_context(site(html))
        page.goto(f"http://localhost:{port}/")
        frame = next(one for one in page.frames if one.url == url)
        wait_for(frame, f"{ELEMENT}?.solving?.pins.size")
        name = run(1).strip()  # the script adds a goal, and the page gets it
        wait_for(frame, f"(name) => {ELEMENT}.solving.pins.has(name)", name, PATIENCE)
        frame.evaluate(  # a joint is turned in the page, and the script gets it
            f"() => {{ const s = {ELEMENT}; s.tour.end(); return s.link.ask({{do: 'remove goal', name: '{name}'}})"
            ".then(() => s.link.ask({do: 'settle', q: [0.3, 0.2, 0.1]})); }"
        )
        np.testing.assert_allclose([float(x) for x in run(2).split()], [0.3, 0.2, 0.1])
        assert "This studio is closed" in run(3)
    context.close()
