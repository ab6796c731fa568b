"""Geometry: shapes are validated values that links share; a bone ends at the given point."""

from __future__ import annotations

import copy
import dataclasses
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays

from linkages import random_transform
from linkwork.errors import LinkageError, LinkworkError, TransformError
from linkwork.linkage.geometry import (
    SHAPES,
    Box,
    Capsule,
    Cylinder,
    HalfSpace,
    HeightField,
    Hull,
    Inertia,
    Mesh,
    PointCloud,
    Polyline,
    Sphere,
    TriangleMesh,
    Visual,
    as_visuals,
    bone,
)

NAN, INF = math.nan, math.inf
PLACEMENT = random_transform(np.random.default_rng(1))
SQUARE = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]

EXAMPLES = {
    "box": Box((1, 2.0, 3)),
    "sphere": Sphere(0.5),
    "cylinder": Cylinder(0.1, 2),
    "capsule": Capsule(np.float32(0.5), 1.0),
    "polyline": Polyline(SQUARE, closed=True),
    "mesh": Mesh("meshes/hand.stl", (1, -1, 1)),
    "half_space": HalfSpace(),
    "hull": Hull([*SQUARE, [0.5, 0.5, 1]]),
    "triangles": TriangleMesh(SQUARE, [[0, 1, 2], [0, 2, 3]]),
    "height_field": HeightField([[0, 1, 0], [0, 2, 1]], (1, 2)),
    "point_cloud": PointCloud(SQUARE, 0.1),
}


def test_every_kind_of_shape_has_an_example():
    assert {kind: type(shape) for kind, shape in EXAMPLES.items()} == SHAPES


@pytest.mark.parametrize("shape", EXAMPLES.values(), ids=EXAMPLES)
def test_shapes_are_values(shape):
    again = type(shape)(**{field.name: getattr(shape, field.name) for field in dataclasses.fields(shape)})
    for other in (again, copy.copy(shape), copy.deepcopy(shape), pickle.loads(pickle.dumps(shape))):
        assert other == shape
        assert hash(other) == hash(shape)
    assert all(shape != other for other in EXAMPLES.values() if other is not shape)
    with pytest.raises(dataclasses.FrozenInstanceError):
        shape.kind = "other"


def test_sizes_are_plain_numbers():
    assert EXAMPLES["box"].size == (1.0, 2.0, 3.0)
    assert type(EXAMPLES["capsule"].radius) is float
    assert EXAMPLES["polyline"].points[2] == (1.0, 1.0, 0.0)
    assert Box(np.array([1, 2, 3])) == Box((1.0, 2.0, 3.0))


WRONG_SHAPES = {
    "box of two edges": (lambda: Box((1, 2)), TransformError, r"box size.*shape \(3,\)"),
    "box without an edge": (lambda: Box((1, 2, 0)), LinkageError, "box size must be positive, got 0"),
    "box inside out": (lambda: Box((1, -2, 3)), LinkageError, "box size must be positive"),
    "box of nan": (lambda: Box((1, NAN, 3)), TransformError, "box size must be finite"),
    "box without end": (lambda: Box((1, INF, 3)), TransformError, "box size must be finite"),
    "box of texts": (lambda: Box(("1", "2", "3")), TransformError, "box size must be numbers"),
    "box of bools": (lambda: Box((True, True, True)), TransformError, "box size must be numbers"),
    "point": (lambda: Sphere(0), LinkageError, "sphere radius must be positive"),
    "sphere of nan": (lambda: Sphere(NAN), TransformError, "sphere radius must be finite"),
    "sphere without end": (lambda: Sphere(INF), TransformError, "sphere radius must be finite"),
    "sphere of none": (lambda: Sphere(None), TransformError, "sphere radius must be numbers"),
    "sphere of a list": (lambda: Sphere([1.0]), TransformError, "sphere radius"),
    "complex sphere": (lambda: Sphere(1j), TransformError, "sphere radius must be numbers"),
    "thin cylinder": (lambda: Cylinder(0.0, 1.0), LinkageError, "cylinder radius must be positive"),
    "flat cylinder": (lambda: Cylinder(1.0, -1.0), LinkageError, "cylinder length must be positive"),
    "capsule of nan": (lambda: Capsule(1.0, NAN), TransformError, "capsule length must be finite"),
    "one point": (lambda: Polyline([[0, 0, 0]]), LinkageError, r"polyline points.*shape \(1, 3\)"),
    "no points": (lambda: Polyline([]), LinkageError, "polyline points"),
    "plane points": (lambda: Polyline([[0, 0], [1, 1]]), LinkageError, r"polyline points.*shape \(2, 2\)"),
    "ragged points": (lambda: Polyline([[0, 0, 0], [1, 1]]), TransformError, "polyline points must be numbers"),
    "points of nan": (lambda: Polyline([[0, 0, 0], [1, 1, NAN]]), LinkageError, "polyline points must be finite"),
    "mesh scale": (lambda: Mesh("a.stl", (1, 1)), TransformError, r"mesh scale.*shape \(3,\)"),
    "mesh scale nan": (lambda: Mesh("a.stl", (1, NAN, 1)), TransformError, "mesh scale must be finite"),
    "mesh number": (lambda: Mesh(5), LinkworkError, "mesh.*path"),
    "mesh nowhere": (lambda: Mesh(""), LinkworkError, "mesh.*path"),
    "visual of nothing": (lambda: Visual(None), LinkageError, r"needs a shape \(box, .*mesh.*\), got None"),
    "visual of a class": (lambda: Visual(Sphere), LinkageError, "needs a shape"),
    "visual of a role": (lambda: Visual(Sphere(1), role="physics"), LinkageError, "'visual' or 'collision'.*'physics'"),
    "visual placement": (lambda: Visual(Sphere(1), np.eye(3)), TransformError, "visual placement"),
    "visual nan": (lambda: Visual(Sphere(1), (0, 0, NAN)), TransformError, "visual placement.*finite"),
    "bright color": (lambda: Visual(Sphere(1), color=(255, 0, 0)), LinkageError, "from 0 to 1, got"),
    "negative color": (lambda: Visual(Sphere(1), color=(-0.1, 0, 0)), LinkageError, "from 0 to 1"),
    "color of nan": (lambda: Visual(Sphere(1), color=(NAN, 0, 0)), TransformError, "color must be finite"),
    "color by name": (lambda: Visual(Sphere(1), color="red"), TransformError, "color must be numbers"),
    "color of four": (lambda: Visual(Sphere(1), color=(1, 0, 0, 1)), TransformError, r"color.*shape \(3,\)"),
    "visuals by name": (lambda: as_visuals("box"), LinkageError, "needs a shape .*got 'box'"),
    "visuals of none": (lambda: as_visuals(None), LinkageError, "needs a shape .*got None"),
    "bone of no length": (lambda: bone((1, 2, 3), (1, 2, 3), 0.1), LinkageError, "different points"),
    "bone of nan": (lambda: bone((1, 2, 3), (1, 2, NAN), 0.1), TransformError, "bone end must be finite"),
    "bone without width": (lambda: bone((0, 0, 0), (0, 0, 1), 0.0), LinkageError, "radius must be positive"),
}


@pytest.mark.parametrize(("make", "error", "message"), WRONG_SHAPES.values(), ids=WRONG_SHAPES)
def test_wrong_shapes_are_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_visuals_are_read_from_shapes_and_sequences():
    ball = Sphere(1.0)
    seen = Visual(ball, (0, 0, 1))
    assert as_visuals(ball) == (Visual(ball),)
    assert as_visuals(seen) == (seen,)
    assert as_visuals([ball, seen]) == (Visual(ball), seen)
    assert as_visuals(()) == ()
    assert all(visual.shape is ball for visual in as_visuals((ball, seen, ball)))


def test_visuals_are_equal_by_value():
    visual = Visual(Sphere(1.0), PLACEMENT, (1, 0, 0), "collision")
    assert visual == Visual(Sphere(1.0), PLACEMENT.tolist(), [1.0, 0.0, 0.0], "collision")
    different = (
        Visual(Sphere(2.0), PLACEMENT, (1, 0, 0), "collision"),
        Visual(Sphere(1.0), np.eye(4), (1, 0, 0), "collision"),
        Visual(Sphere(1.0), PLACEMENT, None, "collision"),
        Visual(Sphere(1.0), PLACEMENT, (1, 0, 0)),
    )
    assert all(visual != other for other in different)
    assert visual != Sphere(1.0)
    with pytest.raises(TypeError, match="unhashable"):
        hash(visual)


@pytest.mark.parametrize("travel", [lambda v: v, copy.copy, copy.deepcopy, lambda v: pickle.loads(pickle.dumps(v))])
def test_placements_of_visuals_are_read_only(travel):
    given_placement = PLACEMENT.copy()
    visual = travel(Visual(Sphere(1.0), given_placement))
    given_placement[0, 3] = 99.0
    np.testing.assert_array_equal(visual.placement, PLACEMENT)
    with pytest.raises(ValueError, match="read-only"):
        visual.placement[0, 3] = 1.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        visual.shape = Sphere(2.0)


POINTS = arrays(np.float64, 3, elements=st.floats(-10.0, 10.0, allow_subnormal=False))


@given(POINTS, POINTS)
def test_a_bone_reaches_from_end_to_end(start, end):
    if np.linalg.norm(end - start) < 1e-6:
        return
    visual = bone(start, end, 0.1)
    half = np.array([0.0, 0.0, visual.shape.length / 2, 1.0])
    np.testing.assert_allclose((visual.placement @ (half * [1, 1, -1, 1]))[:3], start, atol=1e-12)
    np.testing.assert_allclose((visual.placement @ half)[:3], end, atol=1e-12)


# Masses, and paths of meshes


def test_where_a_mesh_was_found_is_kept_but_is_no_part_of_it(tmp_path):
    found = Mesh("hand.stl", file=tmp_path / "hand.stl")
    assert found == Mesh("hand.stl")
    assert repr(found) == repr(Mesh("hand.stl"))
    assert hash(found) == hash(Mesh("hand.stl"))
    assert pickle.loads(pickle.dumps(found)).file == str(tmp_path / "hand.stl")


def test_masses_are_values():
    spread = np.array([[1.0, 0.1, 0.0], [0.1, 2.0, 0.0], [0.0, 0.0, 2.5]])
    body = Inertia(3, (0.1, 0.2, 0.3), spread)
    for other in (
        copy.deepcopy(body),
        pickle.loads(pickle.dumps(body)),
        Inertia(3.0, [0.1, 0.2, 0.3], spread.tolist()),
    ):
        assert other == body
        assert not other.center.flags.writeable
        assert not other.matrix.flags.writeable
    for other in (Inertia(2, body.center, spread), Inertia(3, (0, 0, 0), spread), Inertia(3, body.center)):
        assert other != body
    assert Inertia(1).matrix.tolist() == np.zeros((3, 3)).tolist()


def test_rounding_in_a_matrix_of_inertia_is_evened_out():
    matrix = np.eye(3)
    matrix[0, 1], matrix[1, 0] = 0.1, 0.1 + 1e-12
    assert np.array_equal(Inertia(1, matrix=matrix).matrix, Inertia(1, matrix=matrix.T).matrix)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"mass": -1}, "mass must not be negative, got -1"),
        ({"mass": math.nan}, "mass must be finite"),
        ({"mass": "heavy"}, "mass must be numbers"),
        ({"center": (0, 0)}, r"center of mass must have shape \(3,\)"),
        ({"matrix": np.eye(4)}, r"of shape \(3, 3\)"),
        ({"matrix": np.full((3, 3), math.inf)}, "must be finite"),
        ({"matrix": [[1, 2, 0], [0, 1, 0], [0, 0, 1]]}, "must be symmetric"),
    ],
)
def test_wrong_masses_are_refused(given, message):
    with pytest.raises((LinkageError, TransformError), match=message):
        Inertia(**{"mass": 1.0} | given)
