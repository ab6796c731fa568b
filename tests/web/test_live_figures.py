"""Live figures show what Python computes: by mouse, keyboard and slider, from disk, offline."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.draw.live_figures import names
from linkwork.errors import OptionError
from linkwork.models import figure_linkages


def test_columns_of_the_jacobian(figure):
    """Dragging moves the end effector; each column is the joint axis crossed with the vector to the end effector."""
    shown = figure("jacobian-columns")
    arm = figure_linkages.linkage("planar-3")
    before = shown.state()
    np.testing.assert_allclose(before["q"], [np.pi / 8, np.pi / 4, np.pi / 4], atol=1e-15)
    shown.drag(-150, 20)
    after = shown.state()
    assert after["tip"][0] < before["tip"][0] - 5
    frames = arm.forward(after["q"])
    np.testing.assert_allclose(after["tip"], frames["tip"][:2, 3], atol=1e-12)
    ways = [frames["tip"][:3, 3] - frames[f"link{k}"][:3, 3] for k in (1, 2, 3)]
    columns = np.transpose([np.cross((0, 0, 1), way) for way in ways])[:2]
    np.testing.assert_allclose(after["J"], columns, atol=1e-12)


def test_sliders_and_keys_move_the_same_arm(figure):
    shown = figure("jacobian-columns", screen={"width": 360})
    shown.slide("θ1", 90)
    np.testing.assert_allclose(shown.state()["q"][0], np.pi / 2, atol=1e-12)
    x, y = shown.state()["tip"]
    shown.page.locator(".goal").focus()
    shown.page.keyboard.press("ArrowDown")
    assert shown.state()["tip"][1] < y
    assert shown.state()["tip"][0] == pytest.approx(x, abs=1e-6)
    shown.press("2")
    assert "One radian per second at joint 2" in shown.page.locator(".say").inner_text()


def test_an_unknown_figure_is_refused():
    with pytest.raises(OptionError, match="jacobian-columns"):
        lw.draw.live("jacobian-colums")


def test_every_figure_of_the_table_has_a_page(tmp_path):
    assert len(set(names())) == len(names())
    page = lw.draw.live(names()[0], tmp_path / "figure.html", title="A <figure>", pose=(0.1, 0.2, 0.3)).html
    assert (tmp_path / "figure.html").read_text(encoding="utf-8") == page
    assert 'pose="0.1, 0.2, 0.3"' in page
    assert "A &lt;figure&gt;" in page
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")
    assert len(page) < 1e6
