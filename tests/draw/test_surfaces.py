"""Geometry of drawings: surfaces, outlines, hidden parts, and planar linkages."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial import ConvexHull

import linkwork as lw
from linkages import one_joint, random_transform
from linkwork.draw import is_flat, surfaces
from linkwork.draw.gauges import gauges
from linkwork.draw.parts import Part
from linkwork.draw.sketch import Sketch
from linkwork.draw.visibility import Covers, Eye, hits, measures, visible

SOLIDS = {
    "box": (lw.Box((1.0, 0.6, 0.3)), 1.0 * 0.6 * 0.3),
    "sphere": (lw.Sphere(0.5), 4 / 3 * math.pi * 0.5**3),
    "cylinder": (lw.Cylinder(0.3, 0.8), math.pi * 0.3**2 * 0.8),
    "capsule": (lw.Capsule(0.3, 0.8), math.pi * 0.3**2 * 0.8 + 4 / 3 * math.pi * 0.3**3),
}
solids = pytest.mark.parametrize("kind", SOLIDS)


def enclosed(faces):
    """Return the volume that faces enclose: the sum of the pyramids from the origin to each of their triangles."""
    a, b, c, d = np.moveaxis(faces, 1, 0)
    triangles = [(a, b, c), (a, c, d)]
    return sum(float(np.einsum("ni,ni->", p, np.cross(q, r))) / 6.0 for p, q, r in triangles)


# Surfaces


@solids
@pytest.mark.parametrize("grain", [math.inf, 0.11])
def test_a_surface_faces_outwards_and_encloses_its_volume(kind, grain):
    shape, volume = SOLIDS[kind]
    faces = surfaces.surface(shape, sides=96, grain=grain, thickness=0.0)
    assert enclosed(faces) == pytest.approx(volume, rel=5e-3)
    across = np.cross(faces[:, 2] - faces[:, 0], faces[:, 3] - faces[:, 1]) / 2.0
    assert np.allclose(across.sum(axis=0), 0.0)  # closed: face areas cancel
    assert np.allclose(np.linalg.norm(surfaces.normals(faces), axis=1), 1.0)


@solids
def test_grain_is_the_longest_side_along_straight_lines(kind):
    faces = surfaces.surface(SOLIDS[kind][0], sides=64, grain=0.1, thickness=0.0)
    assert np.linalg.norm(faces - np.roll(faces, 1, axis=1), axis=2).max() <= 0.1 + 1e-9


@pytest.mark.parametrize("closed", [False, True])
def test_a_polyline_is_a_tube_around_each_of_its_segments(closed):
    points = [(0, 0, 0), (1, 0, 0), (1, 2, 0.5)]
    faces = surfaces.surface(lw.Polyline(points, closed), sides=8, grain=9.0, thickness=0.01)
    assert len(faces) == 6 * (3 if closed else 2)
    for k, tube in enumerate(faces.reshape(-1, 24, 3)):
        start, end = np.array(points[k]), np.array(points[(k + 1) % 3])
        along = (end - start) / np.linalg.norm(end - start)
        reach = (tube - start) @ along
        assert np.allclose(np.linalg.norm(tube - start - reach[:, None] * along, axis=1), 0.01)
        assert np.allclose([reach.min(), reach.max()], [0.0, np.linalg.norm(end - start)])


def test_a_bone_ends_at_its_joints():
    start, end = np.array([0.1, 0.2, 0.3]), np.array([0.4, -0.2, 0.9])
    faces = surfaces.spindle(start, end, 0.02)
    for joint in (start, end):
        assert np.isclose(faces, joint).all(axis=2).any()
    assert surfaces.spindle(start, start, 0.02).shape == (0, 4, 3)


def test_light_shows_what_faces_it():
    light = np.array([0.0, 0.0, 1.0])
    facing = np.array([[0, 0, 1.0], [1.0, 0, 0], [0, 0, -1.0]])
    lit = surfaces.shaded(np.full((3, 3), 0.6), facing, light)
    assert (np.diff(lit[:, 0]) < 0).all()
    white = surfaces.shaded(np.ones((3, 3)), facing, light)
    assert white.min() >= 0.0
    assert white.max() <= 1.0


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("count", [40, 800])  # most of many points are skipped
def test_an_outline_is_the_convex_hull(seed, count):
    points = np.random.default_rng(seed).normal(size=(count, 2)).round(1 if seed % 2 else 6)
    hull = ConvexHull(points)
    mine = points[surfaces.outline(points)]
    x, y = mine.T
    area = float(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2.0  # counter-clockwise: positive
    assert area == pytest.approx(hull.volume, rel=1e-12)
    assert set(map(tuple, mine)) == set(map(tuple, points[hull.vertices]))


@pytest.mark.parametrize("points", [[(0, 0)], [(0, 0), (1, 1)], [(0, 0), (0, 0), (2, 2), (1, 1)]])
def test_an_outline_of_a_line_is_its_ends(points):
    points = np.array(points, dtype=float)
    chosen = points[surfaces.outline(points)]
    assert np.array_equal(chosen.min(axis=0), points.min(axis=0))
    assert np.array_equal(chosen.max(axis=0), points.max(axis=0))


# Hidden parts


def inside(shape, points):
    """Return whether points in a solid's own coordinates are inside, from its definition."""
    x, y, z = np.moveaxis(points, -1, 0)
    match shape:
        case lw.Box(size=(a, b, c)):
            return (abs(x) < a / 2) & (abs(y) < b / 2) & (abs(z) < c / 2)
        case lw.Sphere(radius=r):
            return x**2 + y**2 + z**2 < r**2
        case lw.Cylinder(radius=r, length=h):
            return (x**2 + y**2 < r**2) & (abs(z) < h / 2)
        case lw.Capsule(radius=r, length=h):
            return x**2 + y**2 + (z - np.clip(z, -h / 2, h / 2)) ** 2 < r**2


@solids
def test_rays_hit_a_solid_when_a_point_on_them_is_inside(kind):
    shape, rng = SOLIDS[kind][0], np.random.default_rng(3)
    origins = rng.uniform(-1.2, 1.2, (400, 3))
    directions = rng.uniform(-0.7, 0.7, (400, 3)) - origins
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    walk = origins[:, None] + np.linspace(0.0, 5.0, 4001)[:, None] * directions[:, None]
    expected = inside(shape, walk).any(axis=1)
    number, sizes = measures(shape)
    found = hits(number, np.array(sizes), origins, directions)
    assert (found >= expected).all()
    grazing = found & ~expected  # a step may jump over a corner
    assert grazing.mean() < 0.02
    assert 0.1 < expected.mean() < 0.9


def test_a_polyline_hides_nothing():
    assert measures(lw.Polyline([(0, 0, 0), (1, 0, 0)])) is None


def scene(seed):
    """Return parts that intersect and hide each other, with their faces and groups."""
    rng = np.random.default_rng(seed)
    shapes = [shape for shape, _ in SOLIDS.values()] * 2
    parts = [Part(0, random_transform(rng, 0.6), shape, (0.5, 0.5, 0.5)) for shape in shapes]
    pieces = [
        surfaces.surface(part.shape, sides=40, grain=0.08, thickness=0.0) @ part.matrix[:3, :3].T + part.matrix[:3, 3]
        for part in parts
    ]
    return parts, np.concatenate(pieces), np.repeat(np.arange(len(parts)), [len(piece) for piece in pieces])


def first_hits(parts, origins, directions):
    """Return the first part on each ray, found by small steps along it; -1 for none."""
    walk = origins[:, None] + np.linspace(0.0, 8.0, 2001)[:, None] * directions[:, None]
    found = np.full(len(origins), -1)
    first = np.full(len(origins), walk.shape[1])
    for k, part in enumerate(parts):
        within = inside(part.shape, (walk - part.matrix[:3, 3]) @ part.matrix[:3, :3])
        when = np.where(within.any(axis=1), within.argmax(axis=1), walk.shape[1])
        found = np.where(when < first, k, found)
        first = np.minimum(first, when)
    return found


def covering(polygons, points):
    """Return which polygons (m, k, 2), convex and counter-clockwise, contain each point (n, 2), shape (n, m)."""
    after = np.roll(polygons, -1, axis=1)
    size = (polygons[..., 0] * after[..., 1] - polygons[..., 1] * after[..., 0]).sum(axis=1)
    edge, to = after - polygons, points[:, None, None] - polygons
    return (edge[..., 0] * to[..., 1] - edge[..., 1] * to[..., 0] >= -1e-9).all(axis=2) & (size > 1e-9)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("distance", [math.inf, 4.0])
def test_what_is_seen_along_a_ray_is_the_solid_it_meets_first(seed, distance):
    parts, faces, groups = scene(seed)
    towards = np.array([0.36, -0.48, 0.8])
    eye = Eye(towards, 0.0) if math.isinf(distance) else Eye(distance * towards, 1.0)
    right = np.array([0.8, 0.6, 0.0])
    up = np.cross(towards, right)

    def page(points):  # perspective or orthographic projection
        depth = 1.0 if math.isinf(distance) else (distance - points @ towards)[..., None] / distance
        return np.stack([points @ right, points @ up], axis=-1) / depth

    seen = np.flatnonzero((eye.from_points(faces.mean(axis=1)) * surfaces.normals(faces)).sum(axis=1) > 0.0)
    covers = Covers(parts, np.eye(4)[None], eye, 1e-6, 0.005)
    polygons, index = visible(faces[seen], groups[seen], page(faces[seen]), covers, eye)
    grid = np.stack(np.meshgrid(*[np.linspace(-1.0, 1.0, 29)] * 2), axis=-1).reshape(-1, 2)
    targets = grid @ np.stack([right, up])  # on the plane through the origin
    origins = targets + (4.0 * towards if math.isinf(distance) else eye.position - targets)
    directions = np.broadcast_to(-towards, origins.shape) if math.isinf(distance) else targets - origins
    directions = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    expected = first_hits(parts, origins, directions)
    holds = np.concatenate([covering(page(polygons), some) for some in np.array_split(grid, 29)])  # saves memory
    shown = [set(groups[seen][index[row]].tolist()) or {-1} for row in holds]
    right_ones = [want in got for want, got in zip(expected.tolist(), shown, strict=True)]
    alone = [got == {want} for want, got in zip(expected.tolist(), shown, strict=True)]
    assert np.mean(right_ones) > 0.99  # flat faces approximate round ones
    assert np.mean(alone) > 0.97
    assert len(set(expected)) >= 5


def test_of_two_surfaces_in_one_place_the_later_is_seen():
    parts = [Part(0, np.eye(4), lw.Sphere(1.0), (1.0, 0.0, 0.0)), Part(0, np.eye(4), lw.Sphere(1.0), (0.0, 1.0, 0.0))]
    faces = np.tile(surfaces.ball(1.0, 24), (2, 1, 1))
    groups = np.repeat([0, 1], len(faces) // 2)
    eye = Eye(np.array([0.0, 0.0, 1.0]), 0.0)
    front = np.flatnonzero(surfaces.normals(faces)[:, 2] > 0.0)
    covers = Covers(parts, np.eye(4)[None], eye, 1e-6, 0.01)
    _, index = visible(faces[front], groups[front], faces[front][..., :2], covers, eye)
    assert set(groups[front][index].tolist()) == {1}


@pytest.mark.parametrize("kind", ["ortho", "persp"])
def test_the_eye_of_a_projection_sees_a_line_as_a_point(kind):
    figure = pytest.importorskip("matplotlib.figure").Figure()
    ax = figure.add_subplot(projection="3d", proj_type=kind, elev=30, azim=40)
    towards = np.array([math.cos(math.pi / 6) * math.cos(math.radians(40)), 0.0, 0.5])
    towards[1] = math.cos(math.pi / 6) * math.sin(math.radians(40))
    eye = Eye.of(ax.get_proj(), towards)
    point = np.array([0.3, 0.6, 0.2])
    line = point + np.linspace(0.0, 0.5, 5)[:, None] * eye.from_points(point)
    x, y, _ = pytest.importorskip("mpl_toolkits.mplot3d.proj3d").proj_transform(*line.T, ax.get_proj())
    assert np.allclose(x, x[0])
    assert np.allclose(y, y[0])
    assert (np.diff(eye.nearness(line)) > 0).all()
    assert eye.from_points(point) @ towards > 0


# Planar linkages

FLAT = {
    "chain": (lw.Builder("a").revolute("j", "b").revolute("k", "c", at=(1, 0, 0)).frame("tip", at=(1, 0, 0)), True),
    "backwards": (lw.Builder("a").revolute("j", "b", axis="-z").frame("tip", at=(1, 0, 0)), True),
    "layers": (lw.Builder("a").revolute("j", "b").revolute("k", "c", at=(1, 0, 0.1)).frame("t", at=(1, 0, 0)), True),
    "slider in the plane": (lw.Builder("a").prismatic("j", "b", axis="x").frame("tip", at=(1, 0, 0)), True),
    "planar joint": (lw.Builder("a").planar("j", "b").frame("tip", at=(1, 0, 0)), True),
    "planar root": (lw.Builder("a", root="planar").frame("tip", at=(1, 0, 0)), True),
    "a wheel of no lead": (lw.Builder("a").screw("j", "b", lead=0.0).frame("tip", at=(1, 0, 0)), True),
    "on a still tower": (
        lw.Builder("a").fixed("f", "t", at=(0, 0, 9)).revolute("j", "b").frame("tip", at=(1, 0, 0)),
        True,
    ),
    "nothing moves": (lw.Builder("a").frame("tip", at=(1, 0, 0)), True),
    "ends up level": (
        lw.Builder("a", root=np.diag([1.0, -1.0, -1.0, 1.0])).revolute("j", "b").frame("tip", at=(1, 0, 0)),
        True,
    ),
    "door on its side": (lw.Builder("a").revolute("j", "b", axis="x").frame("tip", at=(0, 1, 0)), False),
    "lift": (lw.Builder("a").prismatic("j", "b", axis="z").frame("tip", at=(1, 0, 0)), False),
    "ball": (lw.Builder("a").ball("j", "b").frame("tip", at=(1, 0, 0)), False),
    "two turns": (lw.Builder("a").universal("j", "b").frame("tip", at=(1, 0, 0)), False),
    "screw": (lw.Builder("a").screw("j", "b", lead=0.1).frame("tip", at=(1, 0, 0)), False),
    "free": (lw.Builder("a", root="floating").frame("tip", at=(1, 0, 0)), False),
    "carousel": (lw.Builder("a").revolute("j", "b").frame("horse", at=(1, 0, 1)), False),
    "crane": (lw.Builder("a").revolute("j", "b", shape=lw.Visual(lw.Box((1, 1, 4)), (0, 0, 2))), False),
    "mast of wire": (lw.Builder("a").revolute("j", "b", shape=lw.Polyline([(0, 0, 0), (0, 0, 2)])), False),
    "tilted as a whole": (
        lw.Builder("a", root=lw.transforms.transform(rotation={"euler": ("xyz", (0.5, 0, 0))})).revolute("j", "b"),
        False,
    ),
}


@pytest.mark.parametrize("name", FLAT)
def test_a_linkage_is_flat_when_all_that_moves_stays_in_one_level_plane(name):
    builder, flat = FLAT[name]
    assert is_flat(builder.build()) is flat


@pytest.mark.parametrize("name", [name for name, (_, flat) in FLAT.items() if flat])
def test_a_flat_linkage_keeps_its_height_in_every_pose(name):
    linkage = FLAT[name][0].build()
    heights = linkage.forward(linkage.random_pose(0, 20)).array[..., 2, 3]
    assert np.ptp(heights, axis=0).max() < 1e-12


# Ranges of joints


@pytest.mark.parametrize("end", ["lower", "upper"])
@pytest.mark.parametrize("axis", ["z", "-y", (0.48, -0.6, 0.64)])
def test_a_sector_ends_where_the_link_would_be_at_its_limit(end, axis):
    placement = random_transform(np.random.default_rng(2))
    b = (
        lw.Builder("arm")
        .revolute("j", "b", at=placement, axis=axis, limits=(-0.7, 1.9))
        .frame("tip", at=(0.3, 0.5, 0.2))
    )
    arm = b.build()
    (gauge,) = gauges(arm, np.array([0.4]), arm.forward([0.4]).array, scale=10.0)
    centre = gauge.needle[0]
    world_axis = arm.forward([0.0], frame="b")[:3, :3] @ lw.transforms.as_axis(axis)

    def heading(q):
        arrow = arm.forward([q], frame="tip")[:3, 3] - centre
        arrow -= (arrow @ world_axis) * world_axis
        return arrow / np.linalg.norm(arrow)

    rim = gauge.rims[0] - centre
    at_limit = rim[0 if end == "lower" else -1]
    assert np.allclose(at_limit / np.linalg.norm(at_limit), heading(getattr(arm, end)[0]))
    arrow = gauge.needle[1] - centre
    assert np.allclose(arrow / np.linalg.norm(arrow), heading(0.4))


def test_a_bar_runs_from_limit_to_limit_beside_its_slider():
    b = lw.Builder("press").prismatic("j", "b", at=(1, 2, 3), axis="x", limits=(-0.5, 2.0))
    press = b.build()
    (gauge,) = gauges(press, np.array([1.25]), press.forward([1.25]).array, scale=10.0)
    assert gauge.area[:, 0].min() == pytest.approx(0.5)
    assert gauge.area[:, 0].max() == pytest.approx(3.0)
    assert np.allclose(gauge.needle[:, 0], press.forward([1.25], frame="b")[0, 3])
    assert len(gauge.rims) == 4  # two sides, two stops


@pytest.mark.parametrize(
    ("value", "beyond"), [(-1.0, True), (-0.999, False), (0.0, False), (2.0, True), (2.1, True), (-1.2, True)]
)
@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_a_value_at_or_beyond_a_limit_is_noticed(kind, value, beyond):
    b = lw.Builder("a")
    getattr(b, kind)("j", "b", limits=(-1.0, 2.0))
    linkage = b.build()
    (gauge,) = gauges(linkage, np.array([value]), linkage.forward([value]).array, scale=1.0)
    assert gauge.beyond is beyond


def test_a_follower_is_measured_by_its_own_value():
    b = lw.Builder("a").revolute("lead", "b", limits=(-1, 1))
    linkage = b.revolute("follow", "c", limits=(-2, 2), mimic=lw.Mimic("lead", -2.0, 0.0)).build()
    q = np.array([0.999999999999])
    assert [gauge.beyond for gauge in gauges(linkage, q, linkage.forward(q).array, scale=1.0)] == [True, True]


@pytest.mark.parametrize(
    ("joint", "count"),
    [
        (lw.Universal(lower=(-1, -1), upper=(1, 1)), 2),
        (lw.Ball("XYZ", lower=(-1, -1, -1), upper=(1, 1, 1)), 3),
        (lw.Ball(), 0),
        (lw.Floating(), 0),
        (lw.Planar(), 1),  # its turn; slides without limits have no range to show
        (lw.Planar(lower=(-1, -1, -1), upper=(1, 1, 1)), 3),
        (lw.Continuous(), 1),
        (lw.Prismatic(), 0),
        (lw.Prismatic(lower=0.0), 1),
        (lw.Fixed(), 0),
    ],
    ids=lambda value: getattr(value, "kind", str(value)),
)
def test_every_value_with_a_range_has_a_gauge(joint, count):
    linkage = one_joint(joint)
    q = linkage.random_pose(1)
    found = gauges(linkage, q, linkage.forward(q).array, scale=1.0)
    assert [gauge.joint for gauge in found].count("joint") == count
    assert all(np.isfinite(gauge.area).all() and np.isfinite(gauge.needle).all() for gauge in found)


# Extent of a drawing


def test_the_extent_holds_every_pose_and_more():
    arm = lw.models.planar([2, 1])
    poses = np.stack([np.linspace(0, np.pi, 50), np.zeros(50)], axis=1)
    sketch = Sketch(arm, shapes=False)
    extent = sketch.extent(poses, np.array([5.0, 0.0, 0.0]))
    assert np.allclose(extent.low, (-3, 0, 0), atol=1e-2)
    assert np.allclose(extent.high, (5, 3, 0), atol=1e-2)
