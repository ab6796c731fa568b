"""Pairs of links to check: by the tree, by a table, by sampled poses; compared with MoveIt."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import LinkNotFoundError, OptionError
from sixty_robots import located

BALL = lw.Sphere(0.1)


def chain(*places: float, radius: float = 0.1) -> lw.Linkage:
    """Return spheres along x, each on a revolute joint about z at the one before; the first is the base."""
    b = lw.Builder("chain", base="l0", shape=lw.Sphere(radius))
    for k, place in enumerate(places, start=1):
        b.revolute(f"j{k}", f"l{k}", at=(place, 0, 0), shape=lw.Sphere(radius), limits=(-1.0, 1.0))
    return b.build()


def test_neighbours_and_welded_links_do_not_count() -> None:
    b = lw.Builder("arm", base="base", shape=BALL).fixed("f", "post", at=(0, 0, 1), shape=BALL)
    b.revolute("j1", "upper", at=(1, 0, 0), shape=BALL).fixed("g", "plate", at=(0, 0, 1), shape=BALL)
    b.fixed("empty", "nothing").revolute("j2", "lower", at=(1, 0, 0), shape=BALL)
    table = lw.collision.pairs(b.build())
    assert {row.names: row.reason for row in table} == {
        ("base", "post"): "welded",
        ("base", "upper"): "adjacent",
        ("base", "plate"): "adjacent",  # links welded to a neighbour count as one
        ("base", "lower"): "never",
        ("post", "upper"): "adjacent",
        ("post", "plate"): "adjacent",
        ("post", "lower"): "never",
        ("upper", "plate"): "welded",
        ("upper", "lower"): "adjacent",
        ("plate", "lower"): "adjacent",
    }
    assert table.counted == (("base", "lower"), ("post", "lower"))
    assert table["lower", "base"].counts


def test_a_table_says_what_counts_and_only_joined_links_are_neighbours_then() -> None:
    b = lw.Builder("arm", base="base", shape=BALL).fixed("f", "post", at=(0, 0, 1), shape=BALL)
    b.revolute("j1", "hollow", at=(1, 0, 0)).fixed("g", "upper", at=(1, 0, 0), shape=BALL)
    b.revolute("j2", "lower", at=(1, 0, 0), shape=BALL)
    arm = b.build().replace(disabled_pairs={("base", "lower"): "Never"})
    assert {row.names: row.text.partition(":")[0] for row in lw.collision.pairs(arm)} == {
        ("base", "post"): "welded",
        ("base", "upper"): "they touch in none of 100 poses",  # the post is between them
        ("base", "lower"): "disabled by the linkage",
        ("post", "upper"): "adjacent",  # through a link without a shape
        ("post", "lower"): "they touch in none of 100 poses",
        ("upper", "lower"): "adjacent",
    }
    found = lw.collision.find_pairs(arm, samples=10)
    assert found["base", "lower"].reason == "never"  # regardless of the table
    assert arm.replace(disabled_pairs=found.disabled()).disabled_pairs == {
        ("base", "post"): "Adjacent",
        ("base", "upper"): "Adjacent",
        ("post", "upper"): "Adjacent",
        ("upper", "lower"): "Adjacent",
    }
    assert len(found.disabled(never=True)) == 6


def test_a_loop_joins_two_links_as_a_joint_does() -> None:
    b = lw.Builder("four bars", shape=lw.bone((0, 0, 0), (2, 0, 0), 0.1))
    b.revolute("in", "crank", axis="z", shape=lw.bone((0, 0, 0), (0, 1, 0), 0.1)).frame("pin", at=(0, 1, 0))
    b.revolute("out", "rocker", parent="base", at=(2, 0, 0), axis="z", shape=lw.bone((0, 0, 0), (0, 1, 0), 0.1))
    b.revolute("elbow", "coupler", at=(0, 1, 0), axis="z", shape=lw.bone((0, 0, 0), (-2, 0, 0), 0.1))
    linkage = b.frame("eye", at=(-2, 0, 0)).loop("pinned", "pin", "eye").build()
    for one in (linkage, linkage.replace(disabled_pairs={("crank", "rocker"): "by hand"})):
        table = lw.collision.pairs(one)
        assert table["crank", "coupler"].reason == "adjacent"
        assert table["base", "coupler"].counts
        assert lw.clearance(one, one.neutral()).distance > 0.0


def test_what_touches_in_every_pose_is_left_out() -> None:
    always = lw.collision.pairs(chain(0.05, 0.05))
    assert always["l0", "l2"].text == "always: they touch in all of 1000 poses"
    assert always.counted == ()
    held = chain(0.05, 0.05).replace(disabled_pairs={("l0", "l1"): ""})
    assert lw.collision.pairs(held)["l0", "l2"].reason == "always"  # a table does not change that


@pytest.mark.parametrize(("radius", "reason"), [(0.1, "default"), (0.05, "sometimes"), (0.2, "always")])
def test_what_touches_at_rest_and_often_is_left_out_where_there_is_no_table(radius: float, reason: str) -> None:
    arm = chain(0.3, -0.3, radius=radius)  # folded at rest; the two are 0.6 sin(angle / 2) apart
    share = min(1.0, 2.0 * np.arcsin(radius / 0.3))
    row = lw.collision.find_pairs(arm, samples=500)["l0", "l2"]
    assert row.reason == reason
    if reason != "always":
        said = float(row.text.split("in ")[-1].split("%")[0]) / 100.0
        assert said == pytest.approx(share, abs=4.0 * np.sqrt(share * (1.0 - share) / 500))  # error of sampling
    with_table = arm.replace(disabled_pairs={("l0", "l1"): ""})
    assert lw.collision.pairs(with_table)["l0", "l2"].counts == (reason != "always")


def test_the_same_seed_finds_the_same() -> None:
    arm = chain(0.3, -0.3, radius=0.05)
    assert lw.collision.find_pairs(arm, samples=500) == lw.collision.find_pairs(arm, samples=500)
    assert lw.collision.find_pairs(arm, samples=500, seed=3) != lw.collision.find_pairs(arm, samples=500)


def test_links_and_obstacles() -> None:
    arm = chain(1.0, 1.0)
    floor = lw.Obstacle(lw.HalfSpace(), (0, 0, -1), "floor", touches=["l1"])
    cup = lw.Obstacle(BALL, (0.3, 0, 0), "cup", link="l2")
    table = lw.collision.pairs(arm, lw.World([floor, cup]))
    assert {row.names: row.reason for row in table.rows[3:]} == {
        ("l0", "floor"): "unmoved",
        ("l1", "floor"): "may",
        ("l2", "floor"): "sometimes",
        ("l0", "cup"): "sometimes",
        ("l1", "cup"): "sometimes",
        ("l2", "cup"): "held",
    }
    with pytest.raises(LinkNotFoundError, match="'l9'"):
        lw.collision.pairs(arm, lw.World([lw.Obstacle(BALL, link="l9")]))


def test_an_obstacle_around_the_base_is_said_and_hinders_only_what_moves() -> None:
    arm = chain(1.0, 1.0)
    around = lw.World([lw.Obstacle(lw.Box((1, 1, 1)), name="block")])
    row = lw.collision.pairs(arm, around)["l0", "block"]
    assert (row.counts, row.text) == (False, "unmoved: no joint moves either of them")
    assert not lw.collides(arm, arm.neutral(), around)
    assert lw.collides(arm, arm.neutral(), around.moved("block", (1, 0, 0)))


def test_wrong_questions() -> None:
    with pytest.raises(OptionError, match="1 or more; got 0"):
        lw.collision.find_pairs(chain(1.0), samples=0)
    with pytest.raises(LinkNotFoundError, match="l0 and l7"):
        lw.collision.pairs(chain(1.0))["l0", "l7"]


def test_an_srdf_file_holds_what_was_found(tmp_path: Path) -> None:
    arm = chain(1.0, 0.05, 0.05).replace(groups={"arm": ["j1", "j2"]})
    arm = arm.replace(disabled_pairs=lw.collision.find_pairs(arm, samples=50).disabled(never=True))
    arm = arm.replace(poses={"bent": arm.pose(j1=0.3, j2=1 / 3), "other": arm.pose(j3=0.1)})
    lw.save(arm.replace(groups={}, disabled_pairs={}, poses={}), tmp_path / "chain.urdf")
    remarks = lw.save_srdf(arm, tmp_path / "chain.srdf")
    assert [remark.where for remark in remarks] == ["other"]
    again = lw.load(tmp_path / "chain.urdf")
    assert again.disabled_pairs == arm.disabled_pairs
    assert again.groups == arm.groups
    assert dict(again.poses) == {"bent": pytest.approx(arm.poses["bent"], abs=0)}
    assert lw.save_srdf(arm.replace(groups={}), tmp_path / "chain.srdf") == ()
    assert set(lw.load(tmp_path / "chain.urdf").poses) == {"bent", "other"}


# Results of MoveIt's setup assistant, which uses meshes; linkwork uses their hulls


@pytest.mark.parametrize("robot", ["panda_description/urdf/panda.urdf", "xarm_description/urdf/xarm7.urdf"])
def test_what_moveit_found_of_real_robots(robot: str) -> None:
    file = located("example-robot-data", robot)
    arm = lw.load(file, srdf=next((file.parents[1] / "srdf").glob("*.srdf")))
    found = lw.collision.find_pairs(arm, samples=300)
    reasons: Counter[tuple[str, str]] = Counter()
    for row in found:
        reasons[arm.disabled_pairs.get(row.names, "counts"), row.reason] += 1
        if arm.disabled_pairs.get(row.names) == "Adjacent":
            assert row.reason in ("adjacent", "welded")
        if row.reason in ("adjacent", "always", "welded"):
            assert row.names in arm.disabled_pairs
        if arm.disabled_pairs.get(row.names) == "Never" and row.reason == "sometimes":
            assert float(row.text.split("in ")[1].split("%")[0]) < 2.0  # a hull is larger than its mesh
    agree = sum(n for (srdf, own), n in reasons.items() if (srdf == "counts") == (own == "sometimes"))
    assert agree >= 0.8 * len(found)  # 300 poses miss rare contacts
