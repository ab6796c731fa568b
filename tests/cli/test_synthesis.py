"""`linkwork synthesis`: four-bars from tables of requirements."""

from __future__ import annotations

import json

import pytest
from numpy.testing import assert_allclose

import linkwork as lw
from command_line import run


def test_a_path_becomes_a_linkage_in_a_file(tmp_path):
    table, out = tmp_path / "points.csv", tmp_path / "bars.yaml"
    table.write_text("x,y\n" + "".join(f"0.2,0.{y}\n" for y in range(20, 50, 5)), encoding="utf-8")
    result = run("synthesis", "path", table, "-o", out, "--json")
    assert result.exit_code == 0, result.output
    best = json.loads(result.stdout)[0]
    assert best["worst"] < 1e-8
    bars = lw.load(out)
    clip = lw.drive(bars, "crank", best["angles"], start="start")
    passed = bars.forward(clip.poses, frame="point")[:, :2, 3]
    assert_allclose(passed, [(0.2, 0.01 * y) for y in range(20, 50, 5)], atol=1e-7)


def test_a_motion_with_pivots(tmp_path):
    table = tmp_path / "positions.csv"
    table.write_text("0,0,0deg\n1,0.5,20deg\n2,0.6,50deg\n", encoding="utf-8")
    result = run("synthesis", "motion", table, "--pivots", "0,-1.5,1.5,-1.6", "--json")
    (design,) = json.loads(result.stdout)
    assert_allclose(design["pivots"], [(0.0, -1.5), (1.5, -1.6)])
    assert result.exit_code == (1 if design["defects"] else 0)


def test_strokes_and_swings_need_no_table(tmp_path):
    out = tmp_path / "pump.yaml"
    result = run("synthesis", "slider-crank", "--stroke", "0.1", "--ratio", "1.2", "-o", out, "--json")
    (design,) = json.loads(result.stdout)
    assert (result.exit_code, design["stroke"]) == (0, pytest.approx(0.1))
    ends = lw.singular_positions(lw.load(out), "slide", start="start")
    assert ends[1].value - ends[0].value == pytest.approx(0.1)
    rocker = run("synthesis", "crank-rocker", "--swing", "80deg", "--ratio", "1.1", "--ground", "0.5")
    assert "crank-rocker: ground 0.5" in rocker.stdout
    assert "quick return: ground" in run("synthesis", "quick-return", "--stroke", "0.3", "--ratio", "2").stdout
    for words, message in (
        (("path",), "a path needs a table"),
        (("slider-crank",), "a slider-crank needs --stroke"),
        (("slider-crank", "--stroke", "1", "--ground", "2"), "--ground does not apply to a slider-crank"),
        (("quick-return", "points.csv"), "a quick-return takes no file"),
    ):
        refused = run("synthesis", *words)
        assert (refused.exit_code, message in refused.stderr) == (2, True), refused.output


@pytest.mark.parametrize(
    ("words", "text", "status", "message"),
    [
        (["path"], "0,0\n1,1,1\n2,2\n", 3, "points.csv:2: a row has x, y"),
        (["path"], "0,0\n1,one\n", 3, "points.csv:2"),
        (["path"], "\n", 3, "there are no rows"),
        (["walk"], "0,0\n", 2, "give one of path, motion, function"),
        (["path", "--dials"], "0,0\n1,1\n2,0\n", 2, "--dials does not apply to a path"),
        (["motion", "--kind", "crank"], "0,0,0\n1,1,0.4\n2,0,0.8\n", 2, "no four-bar is a 'crank'"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, words, text, status, message):
    table = tmp_path / "points.csv"
    table.write_text(text, encoding="utf-8")
    result = run("synthesis", words[0], table, *words[1:])
    assert result.exit_code == status, result.output
    assert message in result.stderr
