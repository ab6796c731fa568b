"""The lane type: every operation gives the scalar result in each lane, on this processor and on older ones."""
# ruff: noqa: ARG005, SIM300 - an expression is a function of two operands, and numbers stand on either side

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError
from numpy.testing import assert_array_equal

import children
import linkwork
from linkwork.kernels import runtime
from linkwork.kernels.compiler import ARITHMETIC
from linkwork.kernels.emission import WIDTH
from linkwork.kernels.joint_step import LARGE_ANGLE, LARGE_ANGLE_32, sine_cosine
from linkwork.kernels.lanes import (
    beyond,
    bits,
    by_precision,
    cells,
    exact_cos,
    exact_sin,
    fabs,
    fill,
    flat,
    gather,
    load,
    lowest,
    mantissa_bit,
    scatter,
    select,
    sqrt,
    store,
)

WIDTHS = {str(dtype): width for dtype, width in WIDTH.items()}
dtypes = pytest.mark.parametrize("dtype", WIDTHS)
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, 3.0, 2.0, -7.25, 1e30, -1e-30, np.inf, -np.inf, np.nan, 1.0, 4.0, -2.0]


@cache
def elementwise(function: Callable[..., Any]) -> Any:
    """Return a kernel that applies a function of two numbers, or of two lanes, to every item of two arrays."""
    inner = njit(**ARITHMETIC)(function)

    @njit(**ARITHMETIC)
    def run(x, y, out):
        a, b, c = cells(x), cells(y), cells(out)
        for k in range(x.shape[0]):
            store(c, k, inner(load(a, k), load(b, k)))

    return run


def operands(dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Return every pair of special values, then random ones, a whole number of lanes."""
    rng = np.random.default_rng(0)
    x, y = (part.ravel() for part in np.meshgrid(SPECIAL, SPECIAL))
    return tuple(np.r_[part, rng.normal(size=256)].astype(dtype) for part in (x, y))


def by_number(function: Callable[..., Any], x: np.ndarray, y: np.ndarray) -> np.ndarray:
    out = np.empty_like(x)
    elementwise(function)(x, y, out)
    return out


def by_lanes(function: Callable[..., Any], x: np.ndarray, y: np.ndarray) -> np.ndarray:
    shape = (-1, WIDTHS[x.dtype.name])
    out = np.empty_like(x).reshape(shape)
    elementwise(function)(x.reshape(shape), y.reshape(shape), out)
    return out.ravel()


# Numbers in the expressions are exact in float32, so that both precisions read the same ones.
EXPRESSIONS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "x + y": (lambda x, y: x + y, lambda x, y: x + y),
    "x - y": (lambda x, y: x - y, lambda x, y: x - y),
    "x * y": (lambda x, y: x * y, lambda x, y: x * y),
    "x / y": (lambda x, y: x / y, lambda x, y: x / y),
    "x + 1.5": (lambda x, y: x + 1.5, lambda x, y: x + x.dtype.type(1.5)),
    "1.5 + x": (lambda x, y: 1.5 + x, lambda x, y: x.dtype.type(1.5) + x),
    "x - 3": (lambda x, y: x - 3, lambda x, y: x - x.dtype.type(3)),
    "3 - x": (lambda x, y: 3 - x, lambda x, y: x.dtype.type(3) - x),
    "x * 0.75": (lambda x, y: x * 0.75, lambda x, y: x * x.dtype.type(0.75)),
    "2 * x": (lambda x, y: 2 * x, lambda x, y: x.dtype.type(2) * x),
    "x / 4": (lambda x, y: x / 4, lambda x, y: x / x.dtype.type(4)),
    "2.5 / x": (lambda x, y: 2.5 / x, lambda x, y: x.dtype.type(2.5) / x),
    "-x": (lambda x, y: -x, lambda x, y: -x),
    "sqrt": (lambda x, y: sqrt(x), lambda x, y: np.sqrt(x)),
    "fabs": (lambda x, y: fabs(x), lambda x, y: np.abs(x)),
    "x < y": (lambda x, y: select(x < y, 1.0, 0.0), lambda x, y: (x < y).astype(x.dtype)),
    "x <= y": (lambda x, y: select(x <= y, 1.0, 0.0), lambda x, y: (x <= y).astype(x.dtype)),
    "x > y": (lambda x, y: select(x > y, 1.0, 0.0), lambda x, y: (x > y).astype(x.dtype)),
    "x >= y": (lambda x, y: select(x >= y, 1.0, 0.0), lambda x, y: (x >= y).astype(x.dtype)),
    "x < 1": (lambda x, y: select(x < 1, 1.0, 0.0), lambda x, y: (x < 1).astype(x.dtype)),
    "0.5 >= x": (lambda x, y: select(0.5 >= x, 1.0, 0.0), lambda x, y: (x <= 0.5).astype(x.dtype)),
    "select(m, x, y)": (lambda x, y: select(x > y, x, y), lambda x, y: np.where(x > y, x, y)),
    "select(m, x, 2)": (lambda x, y: select(x > y, x, 2), lambda x, y: np.where(x > y, x, x.dtype.type(2))),
    "select(m, 2, x)": (lambda x, y: select(x > y, 2, x), lambda x, y: np.where(x > y, x.dtype.type(2), x)),
    "select(m, 2, 0.5)": (lambda x, y: select(x > y, 2, 0.5), lambda x, y: np.where(x > y, 2.0, 0.5).astype(x.dtype)),
    "m & n": (lambda x, y: select((x > 0) & (y > 0), x, y), lambda x, y: np.where((x > 0) & (y > 0), x, y)),
    "m | n": (lambda x, y: select((x > 0) | (y > 0), x, y), lambda x, y: np.where((x > 0) | (y > 0), x, y)),
}
expressions = pytest.mark.parametrize("expression", EXPRESSIONS)


@cache
def all_at_once(dtype: str) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return results of all expressions with lanes and scalars; one kernel has them all, which compiles faster."""
    calls = [f"        store(c, {k} * n + i, f{k}(p, q))" for k in range(len(EXPRESSIONS))]
    lines = ["def run(x, y, out):", "    a, b, c, n = cells(x), cells(y), cells(out), x.shape[0]"]
    lines += ["    for i in range(n):", "        p, q = load(a, i), load(b, i)", *calls]
    names = {f"f{k}": njit(**ARITHMETIC)(function) for k, (function, _) in enumerate(EXPRESSIONS.values())}
    names |= {"cells": cells, "load": load, "store": store}
    exec("\n".join(lines), names)
    run, (x, y) = njit(**ARITHMETIC)(names["run"]), operands(dtype)
    found = []
    for shape in ((-1, WIDTHS[dtype]), (-1,)):
        out = np.empty((len(EXPRESSIONS), x.size), dtype)
        run(x.reshape(shape), y.reshape(shape), out.reshape(shape))
        found.append(out)
    return dict(zip(EXPRESSIONS, zip(*found, strict=True), strict=True))


@dtypes
@expressions
def test_each_lane_is_what_one_number_gives_and_what_numpy_says(expression: str, dtype: str) -> None:
    with np.errstate(all="ignore"):
        expected = EXPRESSIONS[expression][1](*operands(dtype))
    assert expected.dtype == dtype
    lanes, numbers = all_at_once(dtype)[expression]
    assert_array_equal(lanes, expected)
    assert_array_equal(numbers, expected)


@pytest.mark.parametrize("function", [exact_sin, exact_cos], ids=["sin", "cos"])
def test_the_exact_functions_are_the_same_in_lanes(function: Any) -> None:
    x = np.random.default_rng(0).uniform(-1e18, 1e18, 64)

    def call(x, y):
        return function(x)

    assert_array_equal(by_lanes(call, x, x), by_number(call, x, x))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda x, y: select((x > y) + (y > x), x, y),
        lambda x, y: select(-(x > y), x, y),
        lambda x, y: select((x > y) < (y > x), x, y),
        lambda x, y: x & y,
        lambda x, y: x + (x > y),
    ],
    ids=["mask + mask", "-mask", "mask < mask", "numbers & numbers", "number + mask"],
)
def test_masks_are_not_numbers_nor_numbers_masks(wrong: Callable[..., Any]) -> None:
    x, y = operands("float64")
    with pytest.raises(TypingError):
        by_lanes(wrong, x, y)


def test_a_number_becomes_lanes_where_a_loop_needs_it() -> None:
    def total(x, y):
        result = 0.0
        for _ in range(3):
            result = result + x
        return result

    x, y = operands("float64")
    finite = np.isfinite(x)
    assert_array_equal(by_lanes(total, x, y)[finite], (x + x + x)[finite])


@dtypes
def test_bits_hold_one_bit_a_lane(dtype: str) -> None:
    @njit(**ARITHMETIC)
    def run(x, out):
        for k in range(x.shape[0]):
            out[k] = bits(load(cells(x), k) > 0.0)

    width = WIDTHS[dtype]
    x = np.random.default_rng(0).normal(size=(50, width)).astype(dtype)
    x[0], x[1] = 1.0, -1.0
    out = np.zeros(50, np.int64)
    run(x, out)
    assert_array_equal(out, (x > 0) @ (1 << np.arange(width)))
    assert (out[0], out[1]) == (2**width - 1, 0)
    run(x.ravel()[:50], out)
    assert_array_equal(out, x.ravel()[:50] > 0)


@dtypes
def test_the_lowest_of_all_lanes(dtype: str) -> None:
    @njit(**ARITHMETIC)
    def run(x, out):
        for k in range(x.shape[0]):
            out[k] = lowest(load(cells(x), k))

    x = np.random.default_rng(0).normal(size=(50, WIDTHS[dtype])).astype(dtype)
    x[0, -1], x[1, 0] = -np.inf, -9.0
    out = np.zeros(50, dtype)
    run(x, out)
    assert_array_equal(out, x.min(axis=1))


@dtypes
@pytest.mark.parametrize("position", [0, 1, 5, 22])
def test_mantissa_bits_are_those_of_the_pattern(dtype: str, position: int) -> None:
    def chosen(x, y):
        return select(mantissa_bit(x, position), 1.0, 0.0)  # a constant in the kernel, so a literal

    x, y = operands(dtype)
    expected = (x.view(f"u{x.itemsize}") >> position) & 1
    assert_array_equal(by_lanes(chosen, x, y), expected.astype(dtype))
    assert_array_equal(by_number(chosen, x, y), expected.astype(dtype))


@dtypes
def test_constants_are_chosen_by_precision(dtype: str) -> None:
    def chosen(x, y):
        return x * 0.0 + by_precision(x, 1.0 / 3.0, 0.25)

    x, y = (np.nan_to_num(part, posinf=1.0, neginf=1.0) for part in operands(dtype))
    expected = np.full_like(x, {"float64": 1.0 / 3.0, "float32": 0.25}[dtype])
    assert_array_equal(by_lanes(chosen, x, y), expected)
    assert_array_equal(by_number(chosen, x, y), expected)


# Memory


@dtypes
def test_memory_that_is_flat_holds_numbers_whatever_the_axes(dtype: str) -> None:
    @njit(**ARITHMETIC)
    def run(x, out):
        memory = flat(x)
        for k in range(x.size):
            out[k] = load(memory, k)

    x = np.arange(3 * WIDTHS[dtype], dtype=dtype)
    for shape in ((-1,), (3, -1), (1, 3, -1)):
        out = np.zeros(x.size, dtype)
        run(x.reshape(shape), out)
        assert_array_equal(out, x)
    with pytest.raises(TypingError):
        run(x.reshape(3, -1).T, out)


@dtypes
def test_memory_further_on_begins_whole_items_later(dtype: str) -> None:
    @njit(**ARITHMETIC)
    def run(x, items, out):
        store(cells(out), 0, load(beyond(cells(x), items), 1))

    width = WIDTHS[dtype]
    x = np.random.default_rng(0).normal(size=(5, width)).astype(dtype)
    for items in (0, 1, 3):
        lanes, number = np.zeros((1, width), dtype), np.zeros(1, dtype)
        run(x, items, lanes)
        assert_array_equal(lanes[0], x[items + 1])
        run(x.ravel(), items, number)
        assert number[0] == x.ravel()[items + 1]


@dtypes
def test_gather_and_scatter_step_by_their_stride(dtype: str) -> None:
    @njit(**ARITHMETIC)
    def run(x, first, stride, out):
        scatter(cells(out), first, stride, gather(cells(x), first, stride))

    width = WIDTHS[dtype]
    for first, stride in ((0, 1), (3, 2), (5, 7), (width * 7, -3), (2, 0)):
        x = np.arange(200, dtype=dtype)
        out = np.full(200, -1.0, dtype)
        run(x, first, stride, out)
        expected = np.full(200, -1.0, dtype)
        touched = first + stride * np.arange(width)
        expected[touched] = x[touched]
        assert_array_equal(out, expected)


@dtypes
def test_scatter_spreads_one_number_over_all_lanes(dtype: str) -> None:
    @njit(**ARITHMETIC)
    def run(out):
        scatter(cells(out), 1, 2, 5)

    out = np.zeros(64, dtype)
    run(out)
    assert_array_equal(np.flatnonzero(out), 1 + 2 * np.arange(WIDTHS[dtype]))
    assert set(out) == {0.0, 5.0}


@dtypes
def test_fill_gives_what_the_memory_holds(dtype: str) -> None:
    @njit(**ARITHMETIC)
    def run(out, number):
        memory = cells(out)
        for k in range(out.shape[0]):
            store(memory, k, fill(memory, number) + fill(memory, 1))

    for shape in ((7,), (3, WIDTHS[dtype])):
        out = np.zeros(shape, dtype)
        run(out, 2.5)
        assert_array_equal(out, np.full(shape, 3.5, dtype))


@dtypes
def test_load_and_store_touch_nothing_beside_their_item(dtype: str) -> None:
    @njit(**ARITHMETIC)
    def run(x, out, k):
        store(cells(out), k, load(cells(x), k))

    width = WIDTHS[dtype]
    x = np.random.default_rng(0).normal(size=(5, width)).astype(dtype)
    for k in range(5):
        out = np.zeros((5, width), dtype)
        run(x, out, k)
        assert_array_equal(np.flatnonzero(out.any(axis=1)), [k])
        assert_array_equal(out[k], x[k])


def test_lanes_need_no_alignment_beyond_that_of_one_number() -> None:
    x = np.arange(41.0)
    out = np.zeros(41)
    elementwise(EXPRESSIONS["x + y"][0])(x[1:].reshape(5, 8), x[1:].reshape(5, 8), out[1:].reshape(5, 8))
    assert_array_equal(out, 2.0 * x)


@pytest.mark.parametrize(
    "array", [np.zeros((2, 2, 8)), np.zeros((8, 8)).T, np.zeros(16)[::2], np.asfortranarray(np.zeros((2, 8)))]
)
def test_cells_are_of_one_or_two_contiguous_axes(array: np.ndarray) -> None:
    @njit(**ARITHMETIC)
    def run(x):
        return load(cells(x), 0)

    with pytest.raises(TypingError):
        run(array)


# Sine and cosine


@njit(**ARITHMETIC)
def sines(x, sine, cosine):
    a, b, c = cells(x), cells(sine), cells(cosine)
    for k in range(x.shape[0]):
        s, t = sine_cosine(load(a, k))
        store(b, k, s)
        store(c, k, t)


def worst_error(x: np.ndarray, *, lanes: bool) -> float:
    """Return the largest error of sines and cosines in units of the last place."""
    shape = (-1, WIDTHS[x.dtype.name]) if lanes else (-1,)
    sine, cosine = np.empty_like(x).reshape(shape), np.empty_like(x).reshape(shape)
    sines(x.reshape(shape), sine, cosine)
    exact = x.astype(np.longdouble)
    errors = [
        np.abs(got.ravel() - want) / np.spacing(np.abs(want).astype(x.dtype))
        for got, want in ((sine, np.sin(exact)), (cosine, np.cos(exact)))
    ]
    return float(np.max(errors))


extended = pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="no longer number to compare with here")
RANGES = [
    1e-300,
    1e-20,
    1e-8,
    0.8,
    3.2,
    100.0,
    1e3,
    1e4,
    0.999 * LARGE_ANGLE,
    2.0 * LARGE_ANGLE,
    1e9,
    1e15,
    1e22,
    1e300,
]


@extended
@pytest.mark.parametrize("lanes", [False, True], ids=["numbers", "lanes"])
@pytest.mark.parametrize("reach", RANGES)
def test_sines_and_cosines_are_right_to_the_last_places(reach: float, lanes: bool) -> None:
    assert worst_error(np.random.default_rng(0).uniform(-reach, reach, 80_000), lanes=lanes) < 2.5


@extended
@pytest.mark.parametrize("lanes", [False, True], ids=["numbers", "lanes"])
def test_sines_keep_their_precision_next_to_every_quarter_turn(lanes: bool) -> None:
    quarters = np.arange(1, 63_657) * (np.arccos(np.longdouble(0.0)))
    nearest = quarters.astype(np.float64)
    assert nearest.max() < LARGE_ANGLE
    for x in (nearest, -nearest, np.nextafter(nearest, 0.0), np.nextafter(nearest, 1e9)):
        assert worst_error(x, lanes=lanes) < 2.5


@extended
@pytest.mark.parametrize("lanes", [False, True], ids=["numbers", "lanes"])
@pytest.mark.parametrize("reach", [1e-30, 1e-8, 0.8, 3.2, 30.0, 0.999 * LARGE_ANGLE_32, 1e6])
def test_single_sines_and_cosines_are_right_to_a_few_parts_in_ten_million(reach: float, lanes: bool) -> None:
    x = np.random.default_rng(0).uniform(-reach, reach, 80_000).astype(np.float32)
    shape = (-1, WIDTHS["float32"]) if lanes else (-1,)
    sine, cosine = np.empty_like(x).reshape(shape), np.empty_like(x).reshape(shape)
    sines(x.reshape(shape), sine, cosine)
    exact = x.astype(np.longdouble)
    assert np.abs(sine.ravel() - np.sin(exact)).max() < 2e-7
    assert np.abs(cosine.ravel() - np.cos(exact)).max() < 2e-7
    if reach < 1.0:  # away from zeros of the sine, to the last places
        assert worst_error(x, lanes=lanes) < 2.5


def test_special_angles() -> None:
    x = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 5e-324, LARGE_ANGLE, -LARGE_ANGLE])
    for shape in ((8,), (1, 8)):
        sine, cosine = np.empty(shape), np.empty(shape)
        sines(x.reshape(shape), sine, cosine)
        assert_array_equal(np.isnan(sine.ravel()), [False, False, True, True, True, False, False, False])
        assert_array_equal(np.isnan(cosine.ravel()), [False, False, True, True, True, False, False, False])
        assert_array_equal(sine.ravel()[[0, 1, 5]], [0.0, 0.0, 5e-324])
        assert_array_equal(cosine.ravel()[[0, 1, 5]], 1.0)


def test_the_neighbours_of_an_angle_do_not_change_its_sine() -> None:
    x = np.random.default_rng(0).uniform(-10.0, 10.0, 8_000).reshape(-1, 8)
    mixed = x.copy()
    mixed[:, 3] = 1e12
    results = []
    for angles in (x, mixed):
        sine, cosine = np.empty_like(x), np.empty_like(x)
        sines(angles, sine, cosine)
        results.append(np.delete(np.stack([sine, cosine]), 3, axis=-1))
    assert_array_equal(*results)


# Other processors

PROBE = """
import numpy as np
import linkwork as lw
b = lw.Builder("probe", root="floating").ball("hip", "thigh", at=(0, 0.1, 0)).revolute("knee", "shin", axis=(1, 2, 2))
leg = b.screw("foot", "toe", lead=0.1, axis="y", at=(0, 0, -0.4)).build()
for reach in (1.0, 1e4, 1e9):
    q = reach * leg.random_pose(0, 21)
    expected = list(leg.traverse(q))[-1].matrix
    for got in (leg.forward(q, frame="toe"), [leg.forward(one, frame="toe") for one in q]):
        np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12)
arm = lw.models.panda()
targets = arm.forward(arm.random_pose(0, 600), frame="tip")
targets[::10, 0, 3] += 3.0
reachable = np.arange(600) % 10 != 0
for dtype in ("float64", "float32"):
    batch = lw.solve_batch(arm, "tip", targets, dtype=dtype)
    away = np.linalg.norm((arm.forward(batch.q, frame="tip") - targets)[:, :3, 3], axis=1)
    turned = arm.forward(batch.q, frame="tip")[:, :3, :3].swapaxes(1, 2) @ targets[:, :3, :3]
    angle = np.arccos(np.clip((np.trace(turned, axis1=1, axis2=2) - 1) / 2, -1, 1))
    np.testing.assert_array_equal(batch.success, reachable)
    assert (away[reachable] <= 1e-4).all() and (angle[reachable] <= 1e-3).all()
    assert ((batch.q >= arm.lower) & (batch.q <= arm.upper)).all()
print("agreed")
"""


@pytest.mark.parametrize("level", ["v2", "v3"])
def test_kernels_agree_on_lesser_processors(level: str) -> None:
    pack = runtime.the_pack()
    if isinstance(pack, str) or level not in pack.listing["levels"]:
        pytest.skip("no pack for this processor is built here: python -m linkwork.kernels")
    choice = {"LINKWORK_KERNELS": "pack", "LINKWORK_LEVEL": level}
    environment = os.environ | choice | {"PYTHONPATH": str(Path(linkwork.__file__).parents[1])}
    done = children.run([sys.executable, "-W", "error", "-c", PROBE], env=environment, text=True, encoding="utf-8")
    assert (done.returncode, done.stdout) == (0, "agreed\n"), done.stderr
