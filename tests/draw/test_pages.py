"""Pages that solve: the data that Python writes, and the handles of a linkage."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.draw.holds import begin, limb_ends, standing, with_ends
from linkwork.errors import FormatError, FrameNotFoundError, LoopError


@pytest.mark.parametrize(
    ("make", "ends"),
    [
        (lw.models.panda, {"tip"}),
        (lw.models.human, {"left_hand", "right_hand", "left_foot", "right_foot", "crown"}),
        (lw.models.hand, {"thumb_tip", "index_tip", "middle_tip", "ring_tip", "little_tip"}),
        (lw.models.four_bar, {"point"}),
        (lw.models.ferris_wheel, set()),  # its ends have no handles
    ],
)
def test_limbs_are_held_by_their_ends(make, ends) -> None:
    assert set(limb_ends(make())) == ends


def test_many_limbs_are_marked_by_the_longest_of_them() -> None:
    builder = lw.Builder("brush")
    for k in range(20):
        builder.revolute(f"j{k}", f"bristle{k}", parent="base", axis="y").frame(f"end{k}", at=(0, 0, 1 + k))
    assert limb_ends(builder.build()) == [f"end{k}" for k in range(19, 7, -1)]


def test_what_stands_is_held_and_what_is_fixed_needs_no_pin() -> None:
    body = lw.models.human(root="floating")
    q = body.stored_pose("stand")
    assert set(standing(body, q, limb_ends(body))) == {"left_foot", "right_foot"}
    assert standing(lw.models.human(), q[7:], limb_ends(body)) == []
    assert standing(body, q, []) == [body.links[0]]


def test_a_long_last_link_is_held_by_its_far_end() -> None:
    ball = lw.Visual(lw.Sphere(0.02), (0, 0, -0.4))
    builder = lw.Builder("leg").revolute("hip", "thigh", axis="y")
    leg = builder.revolute("knee", "shank", axis="y", at=(0, 0, -0.4), shape=ball).build()
    held, ends = with_ends(leg)
    assert ends == ["shank.end"]
    np.testing.assert_allclose(held.forward(np.zeros(2), frame="shank.end")[:3, 3], (0, 0, -0.8), atol=1e-12)


def test_a_straight_arm_is_bent_where_a_page_begins() -> None:
    arm = lw.Builder("arm").revolute("j1", "upper", axis="y").revolute("j2", "lower", axis="y", at=(1, 0, 0))
    arm = arm.frame("tip", at=(1, 0, 0)).build()
    q = begin(arm, ["tip"])
    assert np.linalg.norm(arm.forward(q, frame="tip")[:3, 3]) == pytest.approx(0.9, abs=1e-3)
    assert (begin(lw.models.panda(), ["tip"]) == lw.models.panda().stored_pose("ready")).all()


def test_a_page_is_one_small_file(tmp_path: Path) -> None:
    page = lw.draw.page(lw.models.human(root="floating"), tmp_path / "human.html", title="A <figure>")
    text = (tmp_path / "human.html").read_text(encoding="utf-8")
    assert text == page.html
    assert len(text) < 1e6
    assert "<title>A &lt;figure&gt;</title>" in text
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "<iframe" in page._repr_html_()


def test_what_a_page_shows_is_chosen() -> None:
    arm = lw.models.panda()
    data = json.loads(lw.draw.page_data(arm, goals=["panda_link4", "tip"], pins=["tip"], start=np.zeros(7)))
    assert [handle["frame"] for handle in data["handles"]] == ["panda_link4", "tip"]
    assert data["pins"] == [{"frame": "tip", "turn": True}]
    assert data["start"] == [0.0] * 7
    assert set(data["pack"]["solvers"]) == {"panda_link4", "tip"}
    with pytest.raises(FrameNotFoundError, match="tip"):
        lw.draw.page_data(arm, goals=["tipp"])
    with pytest.raises(FormatError, match="html"):
        lw.draw.page(arm, "arm.png")


def test_loops_are_closed_where_a_page_begins() -> None:
    bars = lw.models.four_bar()
    data = json.loads(lw.draw.page_data(bars, start=bars.stored_pose("start") + 0.05))
    gap = lw.Close(bars.loops[0]).error(bars, np.array(data["start"]))
    assert np.abs(gap).max() < 1e-9
    assert len(data["pack"]["assembly"]["loops"]) == 1
    with pytest.raises(LoopError, match="cannot be closed"):
        lw.draw.page_data(bars, start=bars.neutral())
