"""Random pairs of convex pieces, distances from the kernels, and two checks: a certificate in NumPy, and coal.

A certificate needs no other library. The distance of two convex pieces is at most that of any two of their points, and
at least that of two separating planes normal to a direction; if both are equal, they are the distance. For overlapping
pieces, the direction gives a translation that separates them, and coal must not find a shorter one.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from linkwork.kernels.collision.pair_distance import PAIR_WORK, pair_distances
from linkwork.kernels.collision.piece_layout import (
    BOX,
    CYLINDER,
    HALFSPACE,
    HULL,
    PIECE,
    PIECE_CODE,
    POINT,
    SEGMENT,
)

Array = Any
NAMES = {POINT: "sphere", SEGMENT: "capsule", BOX: "box", CYLINDER: "cylinder", HULL: "hull", HALFSPACE: "half-space"}
PAIRS = [(a, b) for a, b in itertools.combinations_with_replacement(NAMES, 2) if a != HALFSPACE]
CORNERS = 10  # vertices of a hull


class Pairs(NamedTuple):
    """Pairs of pieces: records of PIECE_CODE (n, 2, ...) and PIECE (n, 2, ...), and the vertices of hulls."""

    codes: Array
    numbers: Array
    points: Array


class Found(NamedTuple):
    """Results for pairs: distance (n,), nearest points and normals (n, 3)."""

    distance: Array
    a: Array
    b: Array
    normal: Array


def random_pairs(a: int, b: int, count: int, rng: np.random.Generator, *, spread: float = 1.2) -> Pairs:
    """Return randomly rotated pairs of two kinds, about one metre large, with centres within `spread` of the origin."""
    codes = np.zeros((count, 2, PIECE_CODE.size), np.int64)
    numbers = np.zeros((count, 2, PIECE.size))
    points = []
    for side, kind in enumerate((a, b)):
        code, piece = PIECE_CODE.view(codes[:, side]), PIECE.view(numbers[:, side])
        turns = Rotation.random(count, random_state=rng.integers(2**31)).as_matrix()
        places = rng.uniform(-spread, spread, (count, 3, 1))
        piece.transform = np.concatenate([turns, places], axis=2).reshape(count, 12)
        piece.sizes = sizes_of(kind, rng.uniform(0.1, 1.0, (count, 3)))
        piece.radius = rng.uniform(0.05, 0.3, count) if kind in (POINT, SEGMENT) else 0.0
        code.kind, code.edges = kind, -1
        if kind == HULL:
            code.first, code.count = CORNERS * (np.arange(count) + len(points) * count), CORNERS
            points.append(0.5 * rng.normal(size=(count, CORNERS, 3)))
    return Pairs(codes, numbers, np.concatenate([np.zeros((1, 1, 3)), *points][bool(points) :]).reshape(-1, 3))


def sizes_of(kind: int, sizes: Array) -> Array:
    """Return half sizes (n, 3) in the form of a kind of piece."""
    sizes = np.array(sizes)
    if kind in (POINT, HULL, HALFSPACE):
        sizes[:] = 0.0
    elif kind == SEGMENT:
        sizes[:, :2] = 0.0
    elif kind == CYLINDER:
        sizes[:, 1] = sizes[:, 0]
    return sizes


def kernel_says(pairs: Pairs) -> Found:
    """Return the results of the kernels."""
    out = np.empty((len(pairs.codes), 10))
    room = np.full(PAIR_WORK, np.nan)
    pair_distances(*(np.ascontiguousarray(part).reshape(-1) for part in pairs), room, out.reshape(-1))
    return Found(out[:, 0], out[:, 1:4], out[:, 4:7], out[:, 7:])


def transforms(pairs: Pairs, side: int) -> Array:
    """Return world_from_piece (n, 3, 4)."""
    return PIECE.view(pairs.numbers[:, side]).transform.reshape(-1, 3, 4)


def furthest(pairs: Pairs, side: int, ways: Array) -> Array:
    """Return the extent of one piece of each pair along directions (n, 3), from the world's origin."""
    code, piece = PIECE_CODE.view(pairs.codes[:, side]), PIECE.view(pairs.numbers[:, side])
    pose = transforms(pairs, side)
    local = np.einsum("nij,ni->nj", pose[:, :, :3], ways)
    kind = code.kind[0]
    if kind == HULL:
        own = pairs.points[code.first[:, None] + np.arange(code.count[0])]
        reach = np.einsum("nkj,nj->nk", own, local).max(axis=1)
    elif kind == CYLINDER:
        reach = piece.sizes[:, 0] * np.hypot(local[:, 0], local[:, 1]) + piece.sizes[:, 2] * np.abs(local[:, 2])
    elif kind == HALFSPACE:
        reach = np.where(local[:, 2] > 1.0 - 1e-9, 0.0, np.inf)
    else:
        reach = (piece.sizes * np.abs(local)).sum(axis=1)
    return reach + np.einsum("ni,ni->n", pose[:, :, 3], ways) + piece.radius


def apart_along(pairs: Pairs, normals: Array) -> Array:
    """Return the distance of the pieces along directions, between normal planes; negative if they overlap there."""
    return -furthest(pairs, 0, normals) - furthest(pairs, 1, -normals)


def flaws(pairs: Pairs, found: Found) -> dict[str, float]:
    """Return the errors of results relative to the certificate: of distances, normals and nearest points."""
    gap = np.abs(apart_along(pairs, found.normal) - found.distance).max()
    points = np.abs(found.b - found.a - found.distance[:, None] * found.normal).max()
    return {"gap": gap, "unit": np.abs(np.linalg.norm(found.normal, axis=1) - 1.0).max(), "points": points}


def coal_says(pairs: Pairs, *, tolerance: float = 1e-10) -> Found:
    """Return coal's results for the same pairs."""
    import coal

    request = coal.DistanceRequest()
    request.gjk_tolerance, request.epa_tolerance = tolerance, tolerance
    request.gjk_max_iterations, request.epa_max_iterations = 1000, 1000
    out = np.empty((len(pairs.codes), 10))
    for k in range(len(out)):
        shapes = [_coal_shape(coal, pairs, k, side) for side in (0, 1)]
        poses = []
        for side in (0, 1):
            pose = transforms(pairs, side)[k]
            poses.append(coal.Transform3s(pose[:, :3].copy(), pose[:, 3].copy()))
        result = coal.DistanceResult()
        out[k, 0] = coal.distance(shapes[0], poses[0], shapes[1], poses[1], request, result)
        out[k, 1:] = np.concatenate([result.getNearestPoint1(), result.getNearestPoint2(), result.normal])
    return Found(out[:, 0], out[:, 1:4], out[:, 4:7], out[:, 7:])


def _coal_shape(coal: Any, pairs: Pairs, k: int, side: int) -> Any:
    code, piece = PIECE_CODE.view(pairs.codes[k, side]), PIECE.view(pairs.numbers[k, side])
    x, _, z = piece.sizes
    match int(code.kind):
        case 0:  # POINT
            return coal.Sphere(float(piece.radius))
        case 1:  # SEGMENT
            return coal.Capsule(float(piece.radius), 2.0 * z)
        case 2:  # BOX
            return coal.Box(*(2.0 * piece.sizes))
        case 3:  # CYLINDER
            return coal.Cylinder(x, 2.0 * z)
        case 4:  # HULL
            corners = coal.StdVec_Vec3s()
            for corner in pairs.points[code.first : code.first + code.count]:
                corners.append(corner)
            return coal.ConvexBase.convexHull(corners, False, "")
    return coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
