"""`linkwork inspect` finds and repairs faults of a motion in a file; `retime` makes it as fast as limits allow."""

from __future__ import annotations

import json

import numpy as np
import pytest

import linkwork as lw
from command_line import run

KEYS = [(0, [0.2, 0.4]), (1, [0.9, 1.2]), (2, [0.4, 0.6])]


@pytest.fixture
def arm(tmp_path):
    path = tmp_path / "arm.yaml"
    lw.save(lw.models.planar([2, 1]), path)
    return path


@pytest.fixture
def spiked(tmp_path):
    """A table of numbers with an outlier in one frame."""
    clip = lw.interpolate(lw.models.planar([2, 1]), KEYS, fps=24)
    poses = clip.poses.copy()
    poses[20, 1] += 0.8
    lw.Clip(clip.linkage, clip.times, poses).save(tmp_path / "spiked.csv")
    return tmp_path / "spiked.csv"


def test_a_clean_motion_exits_with_zero():
    result = run("inspect", "panda")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "nothing wrong" in result.stdout


def test_what_is_wrong_is_printed_and_told_by_the_exit_status(spiked, arm):
    result = run("inspect", spiked, "--linkage", arm)
    assert result.exit_code == 1
    assert "spike  20-20   j2 moves at" in result.stdout


def test_json_lists_every_finding(spiked, arm):
    result = run("inspect", spiked, "--linkage", arm, "--json")
    data = json.loads(result.stdout)
    assert result.exit_code == 1
    assert data["counts"]["spike"] == 1
    assert (data["findings"][0]["first"], data["findings"][0]["where"]) == (20, "j2")


def test_fix_writes_a_motion_that_has_no_faults(spiked, arm, tmp_path):
    out = tmp_path / "fixed.csv"
    result = run("inspect", spiked, "--linkage", arm, "--fix", "-o", out)
    assert result.exit_code == 0, result.output
    assert "bridged" in result.stdout
    assert "what remains:" in result.stdout
    assert run("inspect", out, "--linkage", arm).exit_code == 0
    fixed = lw.load_clip(out, linkage=lw.load(arm))
    clean = lw.interpolate(lw.models.planar([2, 1]), KEYS, fps=24)
    assert np.abs(fixed.poses - clean.poses).max() < 0.02


def test_fix_as_json_says_what_was_done(spiked, arm, tmp_path):
    result = run("inspect", spiked, "--linkage", arm, "--fix", "-o", tmp_path / "fixed.npz", "--json")
    data = json.loads(result.stdout)
    assert result.exit_code == 0
    assert data["counts"]["spike"] == 1
    assert data["after"]["counts"]["spike"] == 0
    assert len(data["done"]) == 1


def test_goals_are_compared_frame_by_frame(arm, tmp_path):
    clip = lw.interpolate(lw.models.planar([2, 1]), KEYS, fps=24)
    clip.save(tmp_path / "clip.csv")
    places = clip.forward(frame="tip")[:, :2, 3].copy()
    places[30] += 0.1
    goals = tmp_path / "goals.csv"
    goals.write_text("x,y\n" + "".join(f"{x!r},{y!r}\n" for x, y in places.tolist()), encoding="utf-8")
    result = run("inspect", tmp_path / "clip.csv", "--linkage", arm, "--goals", goals)
    assert result.exit_code == 1
    assert "path  30-30   tip misses its goal by up to 0.141 m." in result.stdout


def test_a_picture_is_drawn(spiked, arm, tmp_path):
    pytest.importorskip("matplotlib")
    picture = tmp_path / "report.svg"
    assert run("inspect", spiked, "--linkage", arm, "--picture", picture).exit_code == 1
    assert "nothing wrong" not in picture.read_text(encoding="utf-8")


def test_a_bvh_file_is_put_right_and_read_again(tmp_path):
    human = lw.models.motion("human")
    human.save(tmp_path / "clean.bvh")
    clip = lw.load_clip(tmp_path / "clean.bvh")
    poses = clip.poses.copy()
    k = clip.linkage.coordinate_index[next(name for name in clip.linkage.coordinates if "shoulder" in name)]
    poses[30:, k] += 2.0 * np.pi
    lw.Clip(clip.linkage, clip.times, poses).save(tmp_path / "wound.bvh")
    found = run("inspect", tmp_path / "wound.bvh", "--json")
    fixed = run("inspect", tmp_path / "wound.bvh", "--fix", "-o", tmp_path / "fixed.bvh")
    assert (found.exit_code, json.loads(found.stdout)["counts"]["flip"]) == (1, 1)
    assert fixed.exit_code == 0, fixed.output
    again = lw.load_clip(tmp_path / "fixed.bvh")
    assert np.abs(again.forward().array - clip.forward().array).max() < 1e-4


@pytest.mark.parametrize(
    ("words", "status", "text"),
    [
        (["panda", "--fix"], 2, "need each other"),
        (["panda", "-o", "x.bvh"], 2, "need each other"),
        (["panda", "--foot", "hoof"], 2, "no frame 'hoof'"),
        (["nothing.bvh"], 3, "nothing.bvh"),
        (["pnada"], 2, "did you mean 'panda'"),
        (["panda", "--fix", "-o", "out.urdf"], 2, "its name must end in"),
        (["panda", "--fix", "-o", "nowhere/out.bvh"], 2, "no folder"),
        (["panda", "--picture", "report.txt"], 2, "its name must end in"),
        (["panda", "--slide", "-1"], 2, "slide"),
    ],
)
def test_wrong_usage_is_said_in_a_line(words, status, text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run("inspect", *words)
    assert result.exit_code == status
    assert text in result.stderr
    assert not list(tmp_path.iterdir())


def test_a_file_without_a_motion_says_so(arm):
    result = run("inspect", arm)
    assert result.exit_code == 3
    assert "holds no motion" in result.stderr


def test_of_several_motions_one_is_chosen_by_name(tmp_path):
    pytest.importorskip("pygltflib")
    linkage = lw.models.planar([2, 1])
    clips = {name: lw.interpolate(linkage, KEYS, fps=24) for name in ("one", "two")}
    lw.save(lw.formats.Content(linkage, clips), tmp_path / "both.glb")
    assert json.loads(run("inspect", tmp_path / "both.glb", "--clip", "two", "--json").stdout)["clip"] == "two"
    assert run("inspect", tmp_path / "both.glb", "--clip", "three").exit_code == 2


def test_a_motion_is_timed_anew_as_the_library_does(tmp_path):
    clip = lw.interpolate(lw.models.planar([2, 1]), KEYS, fps=24)
    clip.save(tmp_path / "slow.npz")
    words = ("--velocity", "2", "--velocity", "j2=60deg", "--acceleration", "4", "--fps", "50", "--speed", "0.5")
    result = run("retime", tmp_path / "slow.npz", "-o", tmp_path / "fast.npz", *words, "--json")
    data = json.loads(result.stdout)
    expected = clip.retime(velocity={"j1": 2.0, "j2": np.pi / 3}, acceleration=4.0, fps=50, speed=0.5)
    assert (result.exit_code, data["frames"], data["before"]) == (0, len(expected), clip.duration)
    assert data["seconds"] == pytest.approx(expected.duration)
    assert np.array_equal(lw.load_clip(tmp_path / "fast.npz").poses, expected.poses)
    plain = run("retime", tmp_path / "slow.npz", "-o", tmp_path / "fast.csv", *words)
    assert f"{len(expected)} frames, {expected.duration:.4g} s; before: 2 s" in plain.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "no velocity limit is known of joints 'j1', 'j2'"),
        (("--velocity", "fast"), "--velocity fast: "),
        (("--velocity", "1,2"), "--velocity takes one number, or JOINT=NUMBER"),
        (("--velocity", "j7=1"), "no joint 'j7'"),
    ],
)
def test_limits_that_are_none_are_refused(words, message, tmp_path):
    lw.interpolate(lw.models.planar([2, 1]), KEYS, fps=24).save(tmp_path / "slow.npz")
    result = run("retime", tmp_path / "slow.npz", "-o", tmp_path / "fast.npz", *words)
    assert result.exit_code == 2
    assert message in result.stderr
