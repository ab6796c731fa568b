"""Rasterize triangles: skinning of corners, projection, a depth buffer, and averaging to pixels.

A page has x to the right, y downwards and a depth that decreases towards the eye. It is drawn at a higher resolution
than the picture and averaged, for smooth edges.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import inner, kernel

HALF = 0.5 + 1e-9  # of a pixel, and a little more, so that two triangles with a common edge leave no gap


@kernel("f8[,] f8[,] i8[,] f8[,] f8[,,] f8[,] f8[,] f8[,]", nogil=True)
def skinned(
    corners: Any, normals: Any, bones: Any, weights: Any, moves: Any, places: Any, facing: Any, blend: Any
) -> None:
    """Transform corners and normals by the weighted mean of their bones' transforms (linear blend skinning).

    Args:
        corners: Corners in the bind pose, shape (n, 3).
        normals: Their unit normals, likewise.
        bones: The bones of each corner, shape (n, k).
        weights: Their weights; a zero ends the list, shape (n, k).
        moves: world_from_bound of every bone, shape (bones, 3, 4).
        places: Receives the corners in the world, shape (n, 3).
        facing: Receives the unit normals in the world.
        blend: Workspace for a transform, shape (3, 4).
    """
    for i in range(corners.shape[0]):
        blend[:] = 0.0
        for j in range(bones.shape[1]):
            weight = weights[i, j]
            if weight <= 0.0:
                break
            move = moves[bones[i, j]]
            for row in range(3):
                for column in range(4):
                    blend[row, column] += weight * move[row, column]
        length = 0.0
        for row in range(3):
            turn = blend[row]
            places[i, row] = turn[0] * corners[i, 0] + turn[1] * corners[i, 1] + turn[2] * corners[i, 2] + turn[3]
            way = turn[0] * normals[i, 0] + turn[1] * normals[i, 1] + turn[2] * normals[i, 2]
            facing[i, row] = way
            length += way * way
        if length > 0.0:
            for row in range(3):
                facing[i, row] /= math.sqrt(length)


@kernel("f8[,] f8[,] f8[,] f8[]", nogil=True)
def projected(points: Any, projection: Any, pages: Any, bounds: Any) -> None:
    """Project points onto a page.

    Args:
        points: Points in the world, shape (n, 3).
        projection: Homogeneous projection, shape (4, 4).
        pages: Receives x, y and depth of each, shape (n, 3); NaN behind the eye.
        bounds: Receives the lowest x and y on the page, then the highest.
    """
    left, top, right, bottom = np.inf, np.inf, -np.inf, -np.inf
    for i in range(points.shape[0]):
        x, y, z = points[i, 0], points[i, 1], points[i, 2]
        row = projection[3]
        w = row[0] * x + row[1] * y + row[2] * z + row[3]
        for k in range(3):
            row = projection[k]
            pages[i, k] = (row[0] * x + row[1] * y + row[2] * z + row[3]) / w if w > 0.0 else np.nan
        if w > 0.0:
            left, right = min(left, pages[i, 0]), max(right, pages[i, 0])
            top, bottom = min(top, pages[i, 1]), max(bottom, pages[i, 1])
    bounds[0], bounds[1], bounds[2], bounds[3] = left, top, right, bottom


@kernel("f8[,] f8[,] f8[] f8[,,]", nogil=True)
def lit(colors: Any, facing: Any, light: Any, shown: Any) -> None:
    """Compute the lit colours of corners on both sides, as `surfaces.shaded` does for one.

    Args:
        colors: Colours from 0 to 1, shape (n, 3).
        facing: Unit normals, shape (n, 3).
        light: Unit vector to the light.
        shown: Receives the colours of the outside and of the inside, from 0 to 255, shape (2, n, 3).
    """
    for i in range(colors.shape[0]):
        along = facing[i, 0] * light[0] + facing[i, 1] * light[1] + facing[i, 2] * light[2]
        for side in range(2):
            share = min(max(along if side == 0 else -along, -1.0), 1.0)
            gleam = 0.16 * max(share, 0.0) ** 2
            for channel in range(3):
                dim = colors[i, channel] * (0.74 + 0.24 * share)
                shown[side, i, channel] = 255.0 * min(max(dim + (1.0 - dim) * gleam, 0.0), 1.0)


@inner
def _bounded(low: float, high: float, level: float, slope: float, inverse: float) -> Any:
    """Return the part of a row where a barycentric coordinate, level plus slope times x, is not negative."""
    if slope > 0.0:
        return max(low, -level * inverse), high
    if slope < 0.0:
        return low, min(high, -level * inverse)
    return low, high if level >= 0.0 else -np.inf


@kernel("f8[,] i8[,] b1[] f4[,] i4[,]", nogil=True)
def fill(pages: Any, triangles: Any, shells: Any, depth: Any, owners: Any) -> None:
    """Find the triangle that each pixel of a page shows: the nearest.

    Args:
        pages: Corners on the page [pixel] and their depth, shape (n, 3); not finite behind the eye.
        triangles: Three corners each, counter-clockwise from outside, shape (m, 3).
        shells: Whether each belongs to a closed surface, whose inside is never seen, shape (m,).
        depth: Depth of each pixel, infinite if it shows nothing yet, shape (height, width); updated.
        owners: Receives the triangle that each pixel shows, likewise; unchanged where there is none.
    """
    height, width = depth.shape
    for t in range(triangles.shape[0]):
        i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        cx, cy, cz = pages[k, 0], pages[k, 1], pages[k, 2]
        ax, ay, az = pages[i, 0] - cx, pages[i, 1] - cy, pages[i, 2] - cz
        bx, by, bz = pages[j, 0] - cx, pages[j, 1] - cy, pages[j, 2] - cz
        double = ax * by - ay * bx
        if not abs(double) > 1e-9 or (shells[t] and double > 0.0) or not math.isfinite(az + bz):
            continue
        top = max(math.ceil(cy + min(ay, by, 0.0) - 0.5), 0)
        bottom = min(math.floor(cy + max(ay, by, 0.0) - 0.5), height - 1)
        if top > bottom:
            continue
        # The barycentric coordinates u, v, w are linear in x and y, measured from corner c.
        ux, uy, vx, vy = by / double, -bx / double, -ay / double, ax / double
        wx, wy = -ux - vx, -uy - vy
        iu = 1.0 / ux if ux != 0.0 else 0.0
        iv = 1.0 / vx if vx != 0.0 else 0.0
        iw = 1.0 / wx if wx != 0.0 else 0.0
        zx = ux * az + vx * bz
        for row in range(top, bottom + 1):
            y = row + 0.5 - cy
            low, high = _bounded(-cx, width - cx, uy * y, ux, iu)
            low, high = _bounded(low, high, vy * y, vx, iv)
            low, high = _bounded(low, high, 1.0 + wy * y, wx, iw)
            first = max(math.ceil(cx + low - HALF), 0)
            last = min(math.floor(cx + high - 1.0 + HALF), width - 1) if high > -np.inf else -1
            far = cz + (uy * az + vy * bz) * y + zx * (first + 0.5 - cx)
            for column in range(first, last + 1):
                if far < depth[row, column]:
                    depth[row, column] = far
                    owners[row, column] = t
                far += zx


@inner
def _blended(pages: Any, corners: Any, t: int, colors: Any, x: float, y: float, color: Any) -> None:
    """Interpolate the colours of a triangle's corners at a point of the page, or at its nearest point of the triangle.

    Seen from outside, its corners are clockwise, as y points down.
    """
    i, j, k = corners[t, 0], corners[t, 1], corners[t, 2]
    x, y = x - pages[k, 0], y - pages[k, 1]
    ax, ay = pages[i, 0] - pages[k, 0], pages[i, 1] - pages[k, 1]
    bx, by = pages[j, 0] - pages[k, 0], pages[j, 1] - pages[k, 1]
    double = ax * by - ay * bx
    side, inverse = 0 if double < 0.0 else 1, 1.0 / double
    u = min(max((x * by - y * bx) * inverse, 0.0), 1.0)
    v = min(max((ax * y - ay * x) * inverse, 0.0), 1.0 - u)
    for channel in range(3):
        first, second, third = colors[side, i, channel], colors[side, j, channel], colors[side, k, channel]
        color[channel] = u * first + v * second + (1.0 - u - v) * third


@kernel("f8[,] i8[,] f8[,,] i4[,] i8 u1[,,] f8[]", nogil=True)
def averaged(pages: Any, triangles: Any, colors: Any, owners: Any, grain: int, pixels: Any, color: Any) -> None:
    """Average squares of a fine page to the pixels of a picture, with their coverage.

    Args:
        pages: Corners on the fine page, as in `fill`.
        triangles: Three corners each.
        colors: Colours of the corners from outside and from inside, from 0 to 255, shape (2, n, 3).
        owners: The triangle that each fine pixel shows, or -1.
        grain: Number of fine pixels along the side of a pixel.
        pixels: Receives red, green, blue and coverage from 0 to 255, shape (height, width, 4).
        color: Workspace for a colour, shape (3,).
    """
    height, width = pixels.shape[:2]
    cover = 255.0 / (grain * grain)
    for row in range(height):
        for column in range(width):
            red, green, blue, count, last = 0.5, 0.5, 0.5, 0, -1
            for below in range(grain):
                for beside in range(grain):
                    t = owners[row * grain + below, column * grain + beside]
                    if t < 0:
                        continue
                    if t != last:
                        last = t
                        _blended(pages, triangles, t, colors, (column + 0.5) * grain, (row + 0.5) * grain, color)
                    red, green, blue, count = red + color[0], green + color[1], blue + color[2], count + 1
            share = 1.0 / max(count, 1)
            pixels[row, column, 0], pixels[row, column, 1] = np.uint8(red * share), np.uint8(green * share)
            pixels[row, column, 2], pixels[row, column, 3] = np.uint8(blue * share), np.uint8(count * cover)
