"""Gears, belts, racks and couplings: textbook ratios, planetary gears by Willis, and edits that keep couplings."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linkwork as lw
from linkwork.errors import JointNotFoundError, LinkageError, MimicError

PARTS = [("cycloidal", "180deg", 0.02), ("cycloidal", "180deg", 0.0)]


def shafts(*names: str, axis: str = "z") -> lw.Builder:
    b = lw.Builder("shafts", base="frame")
    for k, name in enumerate(names):
        b.continuous(name, f"{name}_wheel", parent="frame", at=(0.1 * k, 0, 0), axis=axis)
    return b


# Gears, belts and racks


def test_a_gear_turns_another_by_its_teeth() -> None:
    train = shafts("a", "b", "c").gear("b", "a", teeth=(60, 20), phase="5deg").gear("c", "b", teeth=(15, 60)).build()
    assert train.coordinates == ("a",)
    turned = train.forward([1.2])
    for name, angle in (("a", 1.2), ("b", -0.4 + np.radians(5)), ("c", 1.6 - np.radians(20))):
        assert_allclose(turned[f"{name}_wheel"][:2, 0], [np.cos(angle), np.sin(angle)], atol=1e-12)
    assert_allclose(train.jacobian([0.3], "c_wheel")[5], 20.0 / 15.0)


@pytest.mark.parametrize(
    ("call", "ratio"),
    [
        (lambda b: b.gear("b", "a", ratio=-0.25), -0.25),
        (lambda b: b.gear("b", "a", teeth=(40, 10)), -0.25),
        (lambda b: b.gear("b", "a", teeth=(40, 10), internal=True), 0.25),
        (lambda b: b.belt("b", "a", radii=(0.2, 0.05)), 0.25),
        (lambda b: b.belt("b", "a", radii=(0.2, 0.05), crossed=True), -0.25),
        (lambda b: b.belt("b", "a", ratio=2.0), 2.0),
        (lambda b: b.couple("b", "a", phase=0.5), 1.0),
    ],
)
def test_ratios_have_the_sign_of_the_book(call, ratio: float) -> None:  # type: ignore[no-untyped-def]
    linkage = call(shafts("a", "b")).build()
    assert linkage.drive("b").multiplier == pytest.approx(ratio)
    assert linkage.couplings == ()


def test_a_rack_slides_by_the_pinions_arc_and_turns_it() -> None:
    b = shafts("pinion").prismatic("rack", "bar", parent="frame", axis="x")
    pushed = b.rack("rack", "pinion", radius=0.03, offset=0.1).build()
    assert pushed.forward([2.0], frame="bar")[0, 3] == pytest.approx(0.16)
    b = lw.Builder("x").prismatic("rack", "bar", axis="x").continuous("pinion", "wheel", parent="base")
    turning = b.rack("pinion", "rack", radius=0.03).build()
    assert turning.drive("pinion").multiplier == pytest.approx(1.0 / 0.03)


@pytest.mark.parametrize("held", ["ring", "sun", "none"])
def test_planets_turn_by_the_equation_of_willis(held: str) -> None:
    s, p = 24, 18
    r = s + 2 * p
    b = lw.Builder("epicycle", base="frame").continuous("carrier", "carrier")
    b.continuous("planet", "planet", at=(0.1, 0, 0))
    if held != "sun":
        b.continuous("sun", "sun", parent="frame")
    if held != "ring":
        b.continuous("ring", "ring", parent="frame")
    if held == "ring":
        b.gear("planet", "frame", teeth=(p, r), internal=True, carrier="carrier")
        b.gear("sun", "planet", teeth=(s, p), carrier="carrier")
    elif held == "sun":
        b.gear("planet", "frame", teeth=(p, s), carrier="carrier")
        b.gear("ring", "planet", teeth=(r, p), internal=True, carrier="carrier")
    else:
        b.gear("planet", "sun", teeth=(p, s), carrier="carrier")
        b.gear("ring", "planet", teeth=(r, p), internal=True, carrier="carrier")
    gear = b.build()
    assert gear.nq == (1 if held != "none" else 4)
    q = gear.pose(carrier=0.7) if held != "none" else gear.pose(carrier=0.7, sun=-1.1)
    turns = {arc.name: float(drive.values(q)[0]) for arc, drive in zip(gear.arcs, gear.drives, strict=True) if drive.nq}
    sun, ring, carrier = turns.get("sun", 0.0), turns.get("ring", 0.0), turns["carrier"]
    assert (sun - carrier) / (ring - carrier) == pytest.approx(-r / s)  # Willis
    assert turns["planet"] == pytest.approx(-s / p * (sun - carrier))
    if held == "none":
        assert lw.degrees_of_freedom(gear) == 2


def test_the_differential_of_a_car_halves_the_sum_of_its_wheels() -> None:
    b = lw.Builder("car", base="axle").continuous("left", "left", axis="y")
    b.continuous("right", "right", parent="axle", axis="-y").continuous("case", "case", parent="axle", axis="y")
    b.continuous("spider", "spider", parent="case", axis="x")
    b.gear("spider", "left", teeth=(10, 20), carrier="case")
    b.gear("right", "spider", teeth=(20, 10), carrier="case")
    car = b.build()
    q = car.pose(left=0.5, case=2.0)
    left, right, case = (q[car.coordinate_index[name]] for name in ("left", "right", "case"))
    assert (left - right) / 2.0 == pytest.approx(case)  # right turns about -y
    assert lw.degrees_of_freedom(car) == 2


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda b: b.gear("b", "a"), LinkageError, "a ratio, or the sizes"),
        (lambda b: b.gear("b", "a", ratio=1.0, teeth=(2, 1)), LinkageError, "one of both"),
        (lambda b: b.gear("b", "a", teeth=(0, 1)), LinkageError, "positive"),
        (lambda b: b.gear("x", "a", ratio=1.0), JointNotFoundError, "'x'"),
        (lambda b: b.gear("b", "x", ratio=1.0).build(), JointNotFoundError, "'x'"),
        (lambda b: b.gear("b", "a", ratio=1.0).gear("b", "c", ratio=1.0), MimicError, "already"),
        (lambda b: b.gear("b", "a", ratio=1.0).gear("a", "b", ratio=1.0).build(), MimicError, "circle|each other"),
        (lambda b: b.gear("b", "a", ratio=1.0, carrier="nothing"), lw.LinkworkError, "'nothing'"),
        (lambda b: b.rack("b", "a", radius=1.0), LinkageError, "prismatic joint and a revolute"),
        (lambda b: b.couple("b", "a", curve="x"), LinkageError, "points, parts"),
        (lambda b: b.couple("b", {"a": 1.0, "c": 2.0}).couple("c", {"a": 1.0, "b": 1.0}).build(), MimicError, "circle"),
        (lambda b: b.cam("b", "a", PARTS).cam("b", "c", PARTS, name="two").build(), MimicError, "two couplings"),
        (lambda b: b.cam("b", "a", PARTS).gear("b", "c", ratio=1.0).build(), MimicError, "mimics"),
        (lambda b: b.cam("b", "b", PARTS), MimicError, "twice"),
        (lambda b: b.cam("b", "x", PARTS).build(), JointNotFoundError, "coupling 'b'"),
    ],
)
def test_couplings_that_cannot_be_are_refused(call, error, said: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(error, match=said):
        call(shafts("a", "b", "c"))


# Couplings with values of their own


def valve() -> lw.Linkage:
    b = shafts("shaft", "cam").gear("cam", "shaft", ratio=-0.5, phase=0.2)
    b.prismatic("lift", "stem", parent="frame", axis="y").cam("lift", "cam", PARTS, phase="10deg", offset=0.1)
    return (
        b.couple("extra", {"shaft": 0.3, "lift": 2.0}, offset=1.0).continuous("extra", "dial", parent="frame").build()
    )


def test_followers_are_set_with_their_drivers() -> None:
    linkage = valve()
    angle = -0.5 * 1.4 + 0.2 + np.radians(10)
    lift = float(lw.CamProgram(PARTS).value(angle)) + 0.1
    assert_allclose(linkage.pose(shaft=1.4), [1.4, lift, 0.42 + 2.0 * lift + 1.0], atol=1e-15)
    assert_allclose(linkage.forward({"shaft": 1.4}, frame="stem")[1, 3], lift)
    assert linkage.pose(shaft=1.4, lift=0.0)[1] == 0.0  # a given value is kept
    assert linkage.pose([1.4, 0.0, 0.0])[1] == 0.0  # a complete pose is not changed
    poses = linkage.follow(np.zeros((3, 2, 3)))
    assert_allclose(poses, np.broadcast_to(linkage.neutral(), (3, 2, 3)))


def test_turns_are_alike_only_where_no_follower_can_tell() -> None:
    b = shafts("cam", "wheel", "crank").prismatic("lift", "stem", parent="frame").cam("lift", "cam", PARTS)
    table = b.geneva("wheel", "crank", slots=4).build().table
    assert [row.wraps for row in table] == [True, False, False, False]


def test_couplings_are_kept_by_edits_files_and_copies() -> None:
    linkage = valve()
    assert pickle.loads(pickle.dumps(linkage)) == linkage
    assert linkage.replace(couplings=()) != linkage
    renamed = linkage.replace(joints={"shaft": {"name": "motor"}, "lift": {"name": "rise"}})
    assert renamed.couplings[1].drivers == (("motor", 0.3), ("rise", 2.0))
    both = linkage.attach(valve(), "frame", prefix="other_")
    q = both.pose(shaft=1.4, other_shaft=0.3)
    assert_allclose(q[:3], linkage.pose(shaft=1.4))
    assert_allclose(q[3:], linkage.pose(shaft=0.3))
    assert linkage.subtree("stem").couplings == ()
    other = lw.Builder("other", base="stand").continuous("crank", "disc").continuous("rocker", "lever", parent="stand")
    with pytest.raises(LinkageError, match="couplings 'lift' are in 'shafts' and in 'other'"):
        linkage.attach(other.cam("rocker", "crank", PARTS, name="lift").build(), "frame")


def test_what_follows_a_frozen_joint_alone_is_frozen_too() -> None:
    linkage = valve()
    still = linkage.freeze("shaft", at=1.4)
    assert (still.nq, still.couplings) == (0, ())
    assert_allclose(still.forward([])["stem"], linkage.forward({"shaft": 1.4})["stem"], atol=1e-15)
    gear = shafts("a", "b", "c").couple("c", {"a": 2.0, "b": -1.0}, offset=0.5).build().freeze("a", at=0.25)
    assert_allclose(gear.pose(b=0.1), [0.1, 0.9])
    with pytest.raises(MimicError, match="freeze that first"):
        linkage.freeze("lift", at=0.1)


def test_coordinates_of_joints_can_be_coupled() -> None:
    b = lw.Builder("x").planar("floor", "table").continuous("dial", "needle", parent="base")
    linkage = b.couple("dial", {"floor.x": 2.0}).build()
    assert linkage.pose({"floor.x": 0.4})[3] == pytest.approx(0.8)
    with pytest.raises(MimicError, match=r"takes one value; joint 'floor' has floor\.x, floor\.y"):
        lw.Builder("x").planar("floor", "table").continuous("dial", "needle").cam("dial", "floor", PARTS).build()
    with pytest.raises(MimicError, match="quaternion"):
        lw.Builder("x").ball("hip", "leg").continuous("dial", "needle").couple("dial", {"hip.w": 1.0}).build()


def test_a_coupling_is_written_as_an_equation() -> None:
    first, second = valve().couplings
    assert repr(first) == "<Coupling 'lift': lift = program(cam + 0.174533) + 0.1>"
    assert repr(second) == "<Coupling 'extra': extra = 0.3 shaft + 2 lift + 1>"
