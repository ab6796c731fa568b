"""Films and live figures inside a notebook, under the content security policy of VS Code's outputs."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from live_pages import quiet_page, running_browser, wait_for

# VS Code's policy for outputs of notebooks (microsoft/vscode, backLayerWebView.ts); embedded pages inherit it.
RULES = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; "
    "img-src https: http: data:; font-src https:; connect-src https:; child-src https: data:"
)
HOSTILE = '</script><script>parent.document.title = "taken"</script><img src=x onerror="alert(1)">'


@pytest.fixture(scope="module")
def notebook(tmp_path_factory):
    """A page with three outputs of cells: a linkage with a hostile name, its clip, and a live figure."""
    evil = lw.Builder(HOSTILE).revolute(f"j{HOSTILE}", f"hand{HOSTILE}", axis="z").frame("tip", at=(1, 0, 0)).build()
    clip = lw.interpolate(evil, [(0, [0]), (1, [1])], fps=10)
    cells = "".join(thing._repr_html_() for thing in (evil, clip, lw.draw.live("jacobian-columns")))
    rules = f'<meta http-equiv="Content-Security-Policy" content="{RULES}">'
    path = tmp_path_factory.mktemp("notebook") / "notebook.html"
    page = f"<!doctype html><meta charset=utf-8>{rules}<title>notebook</title><body>{cells}"
    path.write_text(page, encoding="utf-8")
    with running_browser() as browser, quiet_page(browser, width=900, height=1300) as page:
        page.goto(path.as_uri())
        yield page


def frame_with(page, element):
    """Return the frame that contains an element, once the element exists."""
    for _ in range(100):
        for frame in page.frames[1:]:
            if frame.evaluate(f"!!document.querySelector('{element}')?.shadowRoot"):
                return frame
        page.wait_for_timeout(50)
    raise AssertionError(f"no frame holds {element}")


def test_a_film_plays_inside(notebook):
    frame = frame_with(notebook, "linkwork-film")
    drawn = "document.querySelector('linkwork-film').shadowRoot.querySelector('canvas').width > 100"
    wait_for(frame, drawn)  # it may be drawn after the element exists


def test_a_live_figure_solves_inside(notebook):
    frame = frame_with(notebook, "linkwork-figure")
    frame.evaluate("document.querySelector('linkwork-figure').ready")
    state = frame.evaluate("document.querySelector('linkwork-figure').state()")
    arm = lw.models.planar([15, 10, 5])
    tip = arm.forward(np.array(state["q"]), frame="tip")[:2, 3]
    np.testing.assert_allclose(tip, state["tip"][:2], atol=1e-9)


def test_names_reach_neither_the_notebook_nor_its_frames(notebook):
    assert notebook.title() == "notebook"
    for frame in notebook.frames:
        assert frame.evaluate("document.querySelectorAll('img').length") == 0
    inside = frame_with(notebook, "linkwork-film")
    closed = "() => { try { return parent.document.title } catch (refused) { return refused.name } }"
    assert inside.evaluate(closed) == "SecurityError"
