"""Curves of couplings, compared with closed forms, SciPy's splines, geometry and finite differences."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.interpolate import CubicSpline

import linkwork as lw
from linkwork.errors import LinkageError
from linkwork.linkage.curves import CURVES, LAWS, as_curve

TURN = 2.0 * math.pi
PARTS = [("cycloidal", "120deg", 0.02), ("dwell", "60deg"), ("3-4-5", "90deg", 0.005), ("4-5-6-7", "90deg", 0.0)]
INDEXING = [("cycloidal", "90deg", TURN / 3.0), ("dwell", "270deg")]
TABLE = [("0deg", 0.0), ("50deg", 0.004), ("120deg", 0.02), ("200deg", 0.017), ("300deg", 0.003)]
SMOOTH = {
    "polynomial": lw.Polynomial((0.3, -0.2, 0.05, 0.01)),
    "table": lw.CamTable(TABLE),
    "table that goes on": lw.CamTable([(0.0, 0.0), (2.0, 0.3), (4.0, 1.0), (TURN, 1.5)]),
    "table used once": lw.CamTable([(-1.0, 0.0), (0.0, 0.3), (1.0, 0.1), (2.0, 0.4)], period=None),
    "program": lw.CamProgram(PARTS),
    "program that goes on": lw.CamProgram(INDEXING, start=0.1),
    "function": lw.CamFunction(lambda x: 0.01 * math.sin(x) ** 2),
    "function with derivatives": lw.CamFunction(math.sin, (math.cos, lambda x: -math.sin(x))),
}
GENEVAS = [lw.Geneva(3), lw.Geneva(4), lw.Geneva(6, pins=2), lw.Geneva(5, internal=True)]
CASES = {**SMOOTH, **{repr(wheel): wheel for wheel in GENEVAS}}


@pytest.mark.parametrize("curve", CASES.values(), ids=CASES)
def test_derivatives_are_those_of_finite_differences(curve: lw.CouplingCurve) -> None:
    x, h = np.random.default_rng(0).uniform(-9.0, 9.0, (40, 5)), 1e-6
    assert_allclose((curve.value(x + h) - curve.value(x - h)) / (2 * h), curve.slope(x), atol=1e-7)
    if not isinstance(curve, lw.Geneva):  # its acceleration has jumps
        assert_allclose((curve.slope(x + 1e-5) - curve.slope(x - 1e-5)) / 2e-5, curve.bend(x), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("curve", CASES.values(), ids=CASES)
def test_every_turn_adds_what_the_curve_says(curve: lw.CouplingCurve) -> None:
    x = np.linspace(-7.0, 7.0, 57)
    if curve.advance is None:
        assert isinstance(curve, lw.Polynomial) or getattr(curve, "period", 0.0) is None
    else:
        assert_allclose(curve.value(x + TURN) - curve.value(x), curve.advance, atol=1e-9)


@pytest.mark.parametrize("curve", [case for case in CASES.values() if not isinstance(case, lw.CamFunction)])
def test_curves_are_values(curve: lw.CouplingCurve) -> None:
    curve.value(0.3)
    again = pickle.loads(pickle.dumps(curve))
    assert again == curve
    assert hash(again) == hash(curve)
    assert CURVES[curve.kind] is type(curve)


def test_a_table_is_the_periodic_spline_of_scipy() -> None:
    x = np.radians([0, 50, 120, 200, 300, 360])
    y = np.array([0.0, 0.004, 0.02, 0.017, 0.003, 0.0])
    spline, at = CubicSpline(x, y, bc_type="periodic"), np.linspace(0.0, TURN, 101)
    curve = lw.CamTable(TABLE)
    assert_allclose(curve.value(at), spline(at), atol=1e-15)
    assert_allclose(curve.slope(at + TURN), spline(at, 1), atol=1e-13)
    assert_allclose(curve.bend(at - 3 * TURN), spline(at, 2), atol=1e-12)
    once = lw.CamTable(tuple(zip(x, y, strict=True)), period=None)
    assert_allclose(once.value(at), CubicSpline(x, y)(at), atol=1e-15)
    assert_allclose(once.value(TURN + 2.0), CubicSpline(x, y)(TURN, 1) * 2.0, atol=1e-12)  # linear beyond the end


@pytest.mark.parametrize("law", [law for law in LAWS if law != "dwell"])
def test_a_law_goes_from_nothing_to_one_and_is_symmetric(law: str) -> None:
    u = np.linspace(0.0, 1.0, 21)
    value = LAWS[law].value(u)
    assert_allclose([value[0], value[-1]], [0.0, 1.0], atol=1e-15)
    assert_allclose(value + value[::-1], 1.0, atol=1e-14)
    if law in ("cycloidal", "3-4-5", "4-5-6-7"):
        ends = np.array([0.0, 1.0])
        assert_allclose([LAWS[law].slope(ends), LAWS[law].bend(ends)], 0.0, atol=1e-12)


def test_a_program_is_what_the_book_says_of_its_laws() -> None:
    cam = lw.CamProgram([("harmonic", "90deg", 0.02), ("dwell", "90deg"), ("parabolic", "180deg", 0.0)])
    degrees = np.array([0, 30, 45, 90, 135, 180, 225, 270, 315])
    u = np.array([30, 45]) / 90.0
    rise = 0.01 * (1.0 - np.cos(np.pi * u))
    expected = [0.0, *rise, 0.02, 0.02, 0.02, 0.02 * (1 - 2 * 0.25**2), 0.01, 0.02 * 2 * 0.25**2]
    assert_allclose(cam.value(np.radians(degrees)), expected, atol=1e-15)


@pytest.mark.parametrize("wheel", GENEVAS, ids=repr)
def test_a_pin_of_a_geneva_drive_is_in_its_slot(wheel: lw.Geneva) -> None:
    apart, radius = 1.0, math.sin(math.pi / wheel.slots)
    crank = np.linspace(-wheel.engaged, wheel.engaged, 41)
    pin = radius * np.exp(1j * crank) + (apart if wheel.internal else -apart)  # seen from the wheel's axle
    slot = np.exp(1j * wheel.value(crank)) * (1.0 if wheel.internal else -1.0)
    assert_allclose((pin / slot).imag, 0.0, atol=1e-15)
    assert (pin / slot).real.min() > 0.0
    dwell = np.linspace(wheel.engaged, TURN / wheel.pins - wheel.engaged, 11)
    assert_allclose(wheel.value(dwell), wheel.value(dwell[0]), atol=1e-15)
    assert_allclose(wheel.slope(dwell[1:-1]), 0.0, atol=0.0)
    ratio = (math.pi - TURN / wheel.slots) / TURN  # textbook share of a turn in which the wheel moves
    moving = 2.0 * wheel.engaged / TURN
    assert moving == pytest.approx(1.0 - ratio if wheel.internal else ratio)


def test_the_fastest_a_geneva_wheel_turns_is_as_in_the_book() -> None:
    for slots in (3, 4, 6, 8):
        share = math.sin(math.pi / slots)
        assert float(lw.Geneva(slots).slope(0.0)) == pytest.approx(-share / (1.0 - share))


def test_what_a_person_has_is_taken_as_a_curve() -> None:
    assert as_curve(PARTS) == lw.CamProgram(PARTS)
    assert as_curve(TABLE) == lw.CamTable(TABLE)
    assert as_curve(np.array([0.0, 0.01, 0.02, 0.01])).value(math.pi) == pytest.approx(0.02)
    assert isinstance(as_curve(math.sin), lw.CamFunction)
    sampled = lw.CamTable.sampled(math.sin)
    at = np.linspace(0.0, 9.0, 77)
    assert_allclose(sampled.value(at), np.sin(at), atol=1e-9)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: lw.Polynomial(()), "at least one coefficient"),
        (lambda: lw.Polynomial((1.0, math.nan)), "finite"),
        (lambda: lw.CamTable([(0, 0), (1, 1)]), "three or more"),
        (lambda: lw.CamTable([(0, 0), (2, 1), (1, 0)]), "ascending"),
        (lambda: lw.CamTable([(0, 0), (2, 1), (7, 0)]), "more than its period"),
        (lambda: lw.CamTable([0, 1, 2]), "pairs"),
        (lambda: as_curve([("cycloid", "360deg", 1.0)]), "is a law .*'cycloidal'"),
        (lambda: lw.CamProgram([("cycloidal", "90deg", 1.0)]), "one turn, 360 deg, got 90 deg"),
        (lambda: lw.CamProgram([("wavy", "360deg", 1.0)]), "harmonic"),
        (lambda: lw.CamProgram([("dwell", "360deg", 1.0)]), "a dwell of a cam has an angle"),
        (lambda: lw.CamProgram([("uniform", -1.0, 1.0)]), "positive"),
        (lambda: lw.Geneva(2), "from 3 on"),
        (lambda: lw.Geneva(4, pins=5), "4 pins at most"),
        (lambda: lw.Geneva(4, internal=True, pins=2), "1 pins at most"),
        (lambda: lw.CamFunction(3), "function"),
        (lambda: as_curve("sine"), "points, parts, a function"),
    ],
)
def test_what_is_no_curve_is_refused(made, said: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(LinkageError, match=said):
        made()
