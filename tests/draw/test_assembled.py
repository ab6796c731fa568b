"""Pictures of mechanisms have closed loops, or state that loops are open."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import linkwork as lw
from command_line import run
from linkwork.draw.arguments import one_pose
from linkwork.draw.assembled import open_by

pytest.importorskip("matplotlib")


@pytest.fixture
def bars() -> lw.Linkage:
    """A four-bar without stored poses, whose neutral pose is open."""
    return lw.models.four_bar().replace(poses={})


def test_a_mechanism_is_drawn_assembled(bars: lw.Linkage, caplog: pytest.LogCaptureFixture) -> None:
    assert open_by(bars, bars.neutral()[None]) > 0.1
    q = one_pose(bars, None)
    assert open_by(bars, q[None]) == 0.0
    figure = lw.draw.pose(bars, shapes=False)
    assert len(figure.axes) == 1
    assert not caplog.records
    arm = lw.models.planar([2, 1])
    assert_array_equal(one_pose(arm.replace(poses={}), None), arm.neutral())


def test_a_closed_stored_pose_stays_as_it_is() -> None:
    linkage = lw.models.four_bar()
    assert_array_equal(one_pose(linkage, None), linkage.stored_pose("start"))


def test_open_poses_that_are_asked_for_are_said(bars: lw.Linkage, caplog: pytest.LogCaptureFixture) -> None:
    lw.draw.pose(bars, bars.neutral())
    lw.draw.strip([bars.neutral()] * 2, linkage=bars)
    assert [record.levelno for record in caplog.records] == [logging.WARNING] * 2
    assert all("are open by 0.2 m in this pose; lw.close" in record.getMessage() for record in caplog.records)


def test_what_cannot_be_assembled_is_drawn_and_said(caplog: pytest.LogCaptureFixture) -> None:
    b = lw.Builder("apart", base="ground")
    b.continuous("one", "one").frame("end", at=(0.2, 0, 0))
    b.continuous("two", "two", parent="ground", at=(1, 0, 0)).frame("pin", at=(0.3, 0, 0))
    linkage = b.loop("loop", "end", "pin").build()
    assert_array_equal(one_pose(linkage, None), linkage.neutral())
    assert "apart is drawn as it is: no pose of linkage 'apart' closes its loops" in caplog.text


def test_the_command_closes_what_it_draws(bars: lw.Linkage, tmp_path) -> None:
    scene = tmp_path / "bars.yaml"
    lw.save(bars, scene)
    for words in ([], ["crank=1.2"]):
        done = run("draw", scene, *words, "-o", tmp_path / "bars.svg")
        assert done.exit_code == 0, done.output
        assert "open" not in done.output
    b = lw.Builder("rod", base="ground")
    b.continuous("crank", "crank").continuous("rod", "rod", at=(2.0, 0, 0)).frame("end", at=(0.5, 0, 0))
    b.prismatic("slide", "slider", axis="x", parent="ground").frame("pin")
    lw.save(b.loop("loop", "end", "pin").build(), tmp_path / "rod.yaml")
    done = run("draw", tmp_path / "rod.yaml", f"crank={np.pi / 2}", "-o", tmp_path / "rod.svg")
    assert done.exit_code == 0, done.output
    assert "drawn as it is: the loops of linkage 'rod' cannot be closed from this pose with 'crank' kept" in done.output
