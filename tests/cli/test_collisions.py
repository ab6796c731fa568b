"""`linkwork collisions`, and `--world` of commands that solve."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import linkwork as lw
from command_line import run

BALL = lw.Sphere(0.1)


@pytest.fixture
def arm(tmp_path: Path) -> Path:
    """A planar arm of three balls that can fold onto its base."""
    b = lw.Builder("arm", base="base", shape=BALL)
    for k in (1, 2, 3):
        b.revolute(f"j{k}", f"l{k}", at=(0.5 if k > 1 else 0.3, 0, 0), shape=BALL, limits=(-3.0, 3.0))
    lw.save(b.frame("tip").pose("fold", j1=0.0, j2=3.0, j3=0.0).build(), tmp_path / "arm.yaml")
    return tmp_path / "arm.yaml"


@pytest.fixture
def post(tmp_path: Path) -> Path:
    lw.World([lw.Obstacle(lw.Cylinder(0.1, 1.0), (0.8, 0.3, 0), "post")]).save(tmp_path / "post.yaml")
    return tmp_path / "post.yaml"


def test_a_free_pose_exits_with_zero_and_names_the_nearest(arm: Path, post: Path) -> None:
    result = run("collisions", arm, "j1=0", "j2=0", "j3=0", "--world", post, "--within", "15cm")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[0] == "arm: l2 and post are the nearest, 100 mm apart"
    data = json.loads(run("collisions", arm, "j1=0", "j2=0", "j3=0", "--world", post, "--json").stdout)
    assert not data["collides"]
    assert data["nearest"]["names"] == ["l2", "post"]
    assert data["nearest"]["distance"] == pytest.approx(0.1)


def test_a_pose_that_touches_exits_with_one(arm: Path, post: Path) -> None:
    result = run("collisions", arm, "j1=30deg", "j2=0", "j3=0", "--world", post)
    assert result.exit_code == 1
    assert "l2 and post touch" in result.stdout
    assert run("collisions", arm, "j1=0", "j2=0", "j3=0", "--world", post, "--margin", "12cm").exit_code == 1
    assert run("collisions", arm, "--pose", "fold").exit_code == 1
    assert run("collisions", arm, "--pose", "fold", "--world", post, "--no-self").exit_code == 0


def test_a_motion_is_looked_at_frame_by_frame(arm: Path, post: Path, tmp_path: Path) -> None:
    linkage = lw.load(arm)
    keys = [(0, linkage.pose(j1=-0.5, j2=0, j3=0)), (1, linkage.pose(j1=1.5, j2=0, j3=0))]
    lw.interpolate(linkage, keys, fps=20).save(tmp_path / "swing.csv")
    result = run("collisions", tmp_path / "swing.csv", "--linkage", arm, "--world", post, "--json")
    assert result.exit_code == 1
    data = json.loads(result.stdout)
    expected = lw.collides(linkage, lw.load_clip(tmp_path / "swing.csv", linkage=linkage).poses, lw.load_world(post))
    frames = sorted({frame for pair in data["pairs"] for frame in pair["frames"]})
    assert frames == expected.nonzero()[0].tolist()
    assert {tuple(pair["names"]) for pair in data["pairs"]} == {("l2", "post")}
    shown = run("collisions", tmp_path / "swing.csv", "--linkage", arm, "--world", post).stdout
    assert f"{len(frames)} of 21 frames touch" in shown
    assert run("collisions", tmp_path / "swing.csv", "--linkage", arm).exit_code == 0


def test_a_skeleton_without_shapes_has_bones(tmp_path: Path) -> None:
    lw.models.motion("human").save(tmp_path / "walk.bvh")
    result = run("collisions", tmp_path / "walk.bvh")
    assert result.exit_code == 0, result.output
    assert "bones count as capsules" in result.stderr
    assert run("collisions", tmp_path / "walk.bvh", "--bones", "20cm").exit_code == 1
    assert run("collisions", "panda", "--bones", "20cm").exit_code == 2


def test_pairs_are_listed_and_written(arm: Path, tmp_path: Path) -> None:
    data = json.loads(run("collisions", arm, "--pairs", "--json").stdout)
    assert {tuple(row["names"]): row["counts"] for row in data["pairs"]} == {
        ("base", "l1"): False,
        ("base", "l2"): True,
        ("base", "l3"): True,
        ("l1", "l2"): False,
        ("l1", "l3"): True,
        ("l2", "l3"): False,
    }
    assert run("collisions", arm, "--pairs", "--samples", "50", "-o", tmp_path / "arm.srdf").exit_code == 0
    assert 'link1="base" link2="l1" reason="Adjacent"' in (tmp_path / "arm.srdf").read_text(encoding="utf-8")


def test_solve_and_batch_keep_clear(arm: Path, post: Path, tmp_path: Path) -> None:
    words = ["solve", arm, "--position", "0.9,0.6", "--world", post, "--margin", "5cm", "--json"]
    result = run(*words)
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    assert data["clearance"]["distance"] >= 0.05
    assert lw.clearance(lw.load(arm), list(data["pose"].values()), lw.load_world(post)).distance >= 0.05
    inside = run("solve", arm, "--position", "0.8,0.3", "--world", post, "--no-self", "--explain")
    assert inside.exit_code == 1
    assert "'post'" in inside.stdout
    (tmp_path / "goals.csv").write_text("x,y\n0.9,0.6\n0.8,0.3\n", encoding="utf-8")
    told = run("batch", tmp_path / "goals.csv", "--model", arm, "--world", post, "-o", tmp_path / "out", "--json")
    counts = json.loads(told.stdout)["counts"]
    assert counts["reached"] == 1
    assert sum(counts.values()) == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--no-self"], "leaves nothing to keep clear of"),
        (["--margin", "2parsec"], "such as 0.01 or 1cm"),
        (["--margin", "nan"], "such as 0.01 or 1cm"),
        (["--world", "nowhere.yaml"], "nowhere.yaml: cannot be read"),
    ],
)
def test_wrong_words(words: list[str], said: str, arm: Path) -> None:
    result = run("solve", arm, "--position", "1,0", *words)
    assert result.exit_code in (2, 3)
    assert said in result.stderr


def test_a_margin_that_is_no_number_hides_no_collision(arm: Path, post: Path) -> None:
    words = ("collisions", arm, "j1=0", "j2=0", "j3=0", "--world", post)
    for margin in ("nan", "inf", "nancm"):
        result = run(*words, "--margin", margin)
        assert result.exit_code == 2
        assert f"got '{margin}'" in result.stderr


def test_obstacles_are_drawn(arm: Path, post: Path, tmp_path: Path) -> None:
    assert run("draw", arm, "--pose", "fold", "--world", post, "-o", tmp_path / "with.svg").exit_code == 0
    assert run("draw", arm, "--pose", "fold", "-o", tmp_path / "without.svg").exit_code == 0
    assert (tmp_path / "with.svg").stat().st_size > (tmp_path / "without.svg").stat().st_size
    assert run("animate", arm, "--world", post, "--frames", "3", "-o", tmp_path / "film.html").exit_code == 0
    assert run("animate", arm, "--world", post, "-o", tmp_path / "film.glb").exit_code == 2


def test_samples_belong_to_pairs(arm: Path) -> None:
    assert "belong to --pairs" in run("collisions", arm, "--samples", "9").stderr
