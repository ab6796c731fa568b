"""Distances of convex pieces: proved by certificates, compared with coal, also in degenerate cases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from linkwork.kernels.collision.piece_layout import BOX, CYLINDER, HALFSPACE, HULL, PIECE, PIECE_CODE, POINT, SEGMENT
from random_pieces import (
    NAMES,
    PAIRS,
    Found,
    Pairs,
    apart_along,
    coal_says,
    flaws,
    furthest,
    kernel_says,
    random_pairs,
    sizes_of,
)

CORES = [pair for pair in PAIRS if HALFSPACE not in pair]
CUBE = np.array([(x, y, z) for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
EXACT = 1e-9


def name(pair: tuple[int, int]) -> str:
    return "-".join(NAMES[kind] for kind in pair)


@pytest.mark.parametrize("pair", PAIRS, ids=name)
@pytest.mark.parametrize("spread", [1.2, 0.4], ids=["apart", "deep"])
def test_distances_are_proved(pair: tuple[int, int], spread: float) -> None:
    pairs = random_pairs(*pair, 500, np.random.default_rng(0), spread=spread)
    assert max(flaws(pairs, kernel_says(pairs)).values()) < EXACT


@pytest.mark.parametrize("pair", PAIRS, ids=name)
def test_points_lie_on_the_pieces(pair: tuple[int, int]) -> None:
    pairs = random_pairs(*pair, 200, np.random.default_rng(1), spread=0.8)
    found = kernel_says(pairs)
    for side, point, way in ((0, found.a, found.normal), (1, found.b, -found.normal)):
        assert np.abs(furthest(pairs, side, way) - (point * way).sum(axis=1)).max() < EXACT


@pytest.mark.parametrize("pair", PAIRS, ids=name)
def test_coal_finds_nothing_nearer_and_no_shorter_way_out(pair: tuple[int, int]) -> None:
    pytest.importorskip("coal")
    pairs = random_pairs(*pair, 120, np.random.default_rng(2), spread=0.9)
    found, judged = kernel_says(pairs), coal_says(pairs)
    apart = found.distance > 1e-6
    assert apart.sum() > 10
    assert np.abs(found.distance - judged.distance)[apart].max() < (1e-6 if CYLINDER in pair else EXACT)
    both = (found.distance < -1e-6) & (np.linalg.norm(judged.normal, axis=1) > 0.5)
    assert both.sum() >= (0 if pair == (POINT, POINT) else 3)
    out = -apart_along(pairs, judged.normal)  # depth along coal's normal
    assert (-found.distance - out)[both].max(initial=0.0) < EXACT


@pytest.mark.parametrize("pair", CORES, ids=name)
def test_depths_are_the_least_of_many_directions(pair: tuple[int, int]) -> None:
    pairs = random_pairs(*pair, 60, np.random.default_rng(3), spread=0.3)
    found = kernel_says(pairs)
    rng = np.random.default_rng(4)
    for _ in range(400):
        ways = rng.normal(size=(60, 3))
        ways /= np.linalg.norm(ways, axis=1)[:, None]
        assert (apart_along(pairs, ways) <= found.distance + EXACT).all()


@pytest.mark.parametrize("pair", CORES, ids=name)
def test_the_order_of_two_pieces_does_not_matter(pair: tuple[int, int]) -> None:
    pairs = random_pairs(*pair, 100, np.random.default_rng(5))
    one = kernel_says(pairs)
    two = kernel_says(Pairs(pairs.codes[:, ::-1], pairs.numbers[:, ::-1], pairs.points))
    assert np.abs(one.distance - two.distance).max() < EXACT


def on_a_grid(pair: tuple[int, int], count: int, rng: np.random.Generator) -> Pairs:
    """Return axis-aligned pieces on a grid: parallel edges and faces, touching pieces, common centres."""
    pairs = random_pairs(*pair, count, rng)
    turns = Rotation.create_group("O").as_matrix()
    for side, kind in enumerate(pair):
        piece = PIECE.view(pairs.numbers[:, side])
        places = rng.integers(-3, 4, (count, 3, 1)) * 0.25
        piece.transform = np.concatenate([turns[rng.integers(24, size=count)], places], axis=2).reshape(count, 12)
        piece.sizes, piece.radius = sizes_of(kind, rng.choice([0.25, 0.5, 1.0], (count, 3))), 0.0
    sizes = rng.choice([0.25, 0.5, 1.0], (max(len(pairs.points) // len(CUBE), 1), 1, 1))
    points = (CUBE * sizes).reshape(-1, 3)
    for side in (0, 1):
        code = PIECE_CODE.view(pairs.codes[:, side])
        code.first, code.count = np.arange(count) % (len(points) // 8) * 8, np.where(code.kind == HULL, 8, 0)
    return Pairs(pairs.codes, pairs.numbers, points)


@pytest.mark.parametrize("pair", CORES, ids=name)
@pytest.mark.parametrize("off", [0.0, 1e-12, 1e-6])
def test_parallel_and_touching_pieces_have_the_right_sign_and_a_sound_normal(pair: tuple[int, int], off: float) -> None:
    rng = np.random.default_rng(6)
    pairs = on_a_grid(pair, 300, rng)
    PIECE.view(pairs.numbers).transform += off * rng.normal(size=(300, 2, 12)) * (np.arange(12) % 4 == 3)
    found = kernel_says(pairs)
    flaw = flaws(pairs, found)
    assert flaw["unit"] < 1e-12
    assert flaw["points"] < EXACT
    assert flaw["gap"] < max(1e-7, 10.0 * off)  # normals between nearly touching corners are less accurate
    ways = rng.normal(size=(300, 3))
    ways /= np.linalg.norm(ways, axis=1)[:, None]
    assert (apart_along(pairs, ways) <= found.distance + EXACT).all()


@pytest.mark.parametrize("pair", CORES, ids=name)
def test_sizes_from_a_tenth_of_a_millimetre_to_a_kilometre(pair: tuple[int, int]) -> None:
    rng = np.random.default_rng(7)
    pairs = random_pairs(*pair, 200, rng)
    piece = PIECE.view(pairs.numbers)
    factors = 10.0 ** rng.uniform(-4.0, 3.0, (200, 2))
    piece.sizes *= factors[..., None]
    piece.radius *= factors
    piece.transform *= np.where(np.arange(12) % 4 == 3, 10.0 ** rng.uniform(-4.0, 3.0, (200, 1, 1)), 1.0)
    size = np.abs(pairs.numbers).max(axis=(1, 2))
    found = kernel_says(pairs)
    assert (np.abs(apart_along(pairs, found.normal) - found.distance) / size).max() < 1e-9
    assert np.isfinite(np.concatenate(found[1:], axis=1)).all()


def test_flat_pieces_and_pieces_without_any_size() -> None:
    rng = np.random.default_rng(8)
    for pair in CORES:
        pairs = on_a_grid(pair, 300, rng)
        piece = PIECE.view(pairs.numbers)
        piece.sizes *= rng.random(piece.sizes.shape) > 0.4
        flat = Pairs(pairs.codes, pairs.numbers, pairs.points * rng.integers(0, 2, (1, 3)))
        for side, kind in enumerate(pair):
            PIECE.view(flat.numbers[:, side]).sizes = sizes_of(kind, PIECE.view(flat.numbers[:, side]).sizes)
        flaw = flaws(flat, kernel_says(flat))
        assert flaw["gap"] < 1e-7, pair
        assert flaw["unit"] < 1e-12, pair


def test_two_pieces_in_one_place() -> None:
    for kind in (POINT, SEGMENT, BOX, CYLINDER, HULL):
        pairs = random_pairs(kind, kind, 50, np.random.default_rng(9))
        pairs.codes[:, 1], pairs.numbers[:, 1] = pairs.codes[:, 0], pairs.numbers[:, 0]
        found = kernel_says(pairs)
        assert max(flaws(pairs, found).values()) < EXACT, NAMES[kind]
        assert (found.distance < (0.0 if kind != POINT else -0.09)).all()


def test_numbers_that_are_none_end_too() -> None:
    for pair in CORES:
        pairs = random_pairs(*pair, 8, np.random.default_rng(10))
        PIECE.view(pairs.numbers[:, 0]).transform = np.nan
        found: Any = kernel_says(pairs)
        assert isinstance(found, Found)
