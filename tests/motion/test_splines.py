"""Interpolations beyond those of `test_clips`: eased, with tension and bias, spherical, stepped, and mixed."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.interpolate import CubicHermiteSpline
from scipy.spatial.transform import Rotation, Slerp

import linkwork as lw
from linkages import JOINTS, one_joint
from linkwork.errors import KeyFrameError
from linkwork.motion.splines import KINDS, sample

TIMES = np.array([0.0, 0.4, 1.5, 1.9, 3.0])
HINGE = lw.models.planar([1.0])
BALL = lw.Builder("b").ball("s", "l").build()


def angles(kind: str, samples: np.ndarray, shape: np.ndarray | None = None) -> np.ndarray:
    values = np.array([[0.1], [0.9], [-0.4], [0.3], [1.2]])
    return sample(HINGE, TIMES, values, samples, kind=kind, shape=shape)[:, 0]


# Eases


@pytest.mark.parametrize(
    ("kind", "law"),
    [
        ("linear", lambda t: t),
        ("ease", lambda t: 3 * t**2 - 2 * t**3),
        ("ease-in", lambda t: t**2),
        ("ease-out", lambda t: 1 - (1 - t) ** 2),
        ("step", lambda t: np.floor(t)),
    ],
)
def test_eased_ways_follow_their_law(kind: str, law) -> None:
    t = np.linspace(0, 1, 21)
    assert_allclose(
        sample(HINGE, np.array([2.0, 6.0]), np.array([[1.0], [3.0]]), 2 + 4 * t, kind=kind)[:, 0], 1 + 2 * law(t)
    )
    turn = sample(BALL, np.array([0.0, 1.0]), np.array([[1, 0, 0, 0], [0, 0.6, 0.8, 0]], np.float64), t, kind=kind)
    assert_allclose(2 * np.arccos(np.clip(turn[:, 0], -1, 1)), np.pi * law(t), atol=1e-7)


# Tension, continuity, bias


def test_without_shape_tcb_is_catmull_rom() -> None:
    samples = np.linspace(0, 3, 101)
    assert_array_equal(angles("tcb", samples), angles("catmull-rom", samples))


@pytest.mark.parametrize(
    "shape", [(0.5, 0, 0), (-1, 0, 0), (0, 0, 1), (0, 0, -0.5), (0.3, 0, 0.4), (0, 0.6, 0), (0.2, -0.7, 0.3)]
)
def test_tcb_has_the_tangents_of_kochanek_and_bartels(shape: tuple[float, float, float]) -> None:
    """Outgoing, at uniform times: (1-T)(1+C)(1+B)/2 of the step before plus (1-T)(1-C)(1-B)/2 of the step after."""
    values, times = np.array([0.1, 0.9, -0.4, 0.3, 1.2]), np.arange(5.0)
    T, C, B = shape
    before, after = np.diff(values)[:-1], np.diff(values)[1:]
    leaving = (1 - T) / 2 * ((1 + C) * (1 + B) * before + (1 - C) * (1 - B) * after)
    coming = (1 - T) / 2 * ((1 - C) * (1 + B) * before + (1 + C) * (1 - B) * after)
    rows = np.zeros((5, 3))
    rows[1:-1] = shape
    for k in (1, 2):
        hermite = CubicHermiteSpline([k, k + 1], values[[k, k + 1]], [leaving[k - 1], coming[k]])
        samples = np.linspace(k, k + 1, 20, endpoint=False)
        found = sample(HINGE, times, values[:, None], samples, kind="tcb", shape=rows)[:, 0]
        assert_allclose(found, hermite(samples), atol=1e-12)


@pytest.mark.parametrize("joint", ["continuous-x", "ball", "floating"])
@pytest.mark.parametrize("shape", [(0.4, 0, 0.6), (0, 0.8, 0)], ids=["smooth", "corner"])
def test_only_continuity_makes_a_corner(joint: str, shape: tuple[float, float, float]) -> None:
    linkage, h = one_joint(JOINTS[joint]), 1e-6
    keys, rows = linkage.random_pose(4, 5), np.tile(shape, (5, 1))
    for time in TIMES[1:-1]:
        poses = sample(linkage, TIMES, keys, time + h * np.array([-1.0, 0.0, 1.0]), kind="tcb", shape=rows)
        before, after = linkage.difference(poses[:-1], poses[1:]) / h
        assert_allclose(linkage.difference(poses[1], keys[list(TIMES).index(time)]), 0.0, atol=1e-12)
        corner = np.abs(after - before).max() > 1e-3
        assert corner == (shape[1] != 0.0)


def test_full_tension_stops_at_the_key() -> None:
    rows = np.zeros((5, 3))
    rows[2, 0] = 1.0
    near = angles("tcb", TIMES[2] + np.array([-1e-6, 0.0, 1e-6]), rows)
    assert np.abs(np.diff(near)).max() < 1e-10


# Spherical quadrangles


def shoemake(keys: np.ndarray, k: int, t: np.ndarray) -> np.ndarray:
    """Return textbook squad for uniform times, with inner quaternions from the logarithms to both neighbours."""
    turns = Rotation.from_quat(keys, scalar_first=True)

    def inner(i: int) -> Rotation:
        ways = [(turns[i].inv() * turns[j]).as_rotvec() for j in (i - 1, i + 1)]
        return turns[i] * Rotation.from_rotvec(-(ways[0] + ways[1]) / 4.0)

    def slerp(a: Rotation, b: Rotation, s: float) -> Rotation:
        return Slerp([0, 1], Rotation.concatenate([a, b]))(s)

    found = [slerp(slerp(turns[k], turns[k + 1], s), slerp(inner(k), inner(k + 1), s), 2 * s * (1 - s)) for s in t]
    return Rotation.concatenate(found).as_matrix()


def test_squad_is_that_of_the_book_at_even_times() -> None:
    rng = np.random.default_rng(1)
    keys = (Rotation.random(rng=rng) * Rotation.from_rotvec(rng.normal(scale=0.8, size=(6, 3)))).as_quat(
        scalar_first=True
    )
    t = np.linspace(0, 1, 11)
    for k in (1, 2, 3):
        found = sample(BALL, np.arange(6.0), keys, k + t[:-1], kind="squad")
        matrices = Rotation.from_quat(found, scalar_first=True).as_matrix()
        assert_allclose(matrices, shoemake(keys, k, t[:-1]), atol=1e-9)


@pytest.mark.parametrize("kind", ["linear", "ease", "catmull-rom", "tcb", "squad", "cubic", "ease-in", "ease-out"])
def test_rotations_take_the_short_way(kind: str) -> None:
    """Between keys 80 degrees apart, with either sign, no path is much longer than the rotation itself."""
    keys = Rotation.from_euler("z", np.radians([[0], [80], [160], [240]])).as_quat(scalar_first=True)
    keys[1::2] *= -1.0
    samples = np.linspace(0, 3, 301)
    poses = sample(BALL, np.arange(4.0), keys, samples, kind=kind)
    way = np.linalg.norm(BALL.difference(poses[:-1], poses[1:]), axis=1).sum()
    assert way == pytest.approx(np.radians(240), rel=0.02)
    assert ((poses[1:] * poses[:-1]).sum(axis=1) > 0).all()


# Several kinds in one motion


def test_every_key_may_have_its_own_way_on() -> None:
    kinds = ["linear", "squad", "step", "ease-out", "linear"]
    samples = np.linspace(0, 3, 151)
    mixed = angles(kinds, samples)
    for k, kind in enumerate(kinds[:-1]):
        inside = (samples >= TIMES[k]) & (samples < TIMES[k + 1])
        assert_allclose(mixed[inside], angles(kind, samples)[inside], atol=1e-12)


def test_cubic_stretches_in_a_row_are_one_spline() -> None:
    kinds = ["linear", "cubic", "cubic", "cubic", "linear"]
    h, values = 1e-4, np.array([[0.1], [0.9], [-0.4], [0.3], [1.2]])
    for time in TIMES[2:4]:  # between two cubic stretches the acceleration is continuous
        q = sample(HINGE, TIMES, values, time + h * np.arange(-3.0, 4.0), kind=kinds)[:, 0]
        left, right = np.diff(q[:4], 2) / h**2, np.diff(q[3:], 2) / h**2
        assert_allclose(left[-1], right[0], rtol=1e-2)


@pytest.mark.parametrize("kind", KINDS)
def test_mixed_motions_pass_through_their_keys(kind: str) -> None:
    linkage = one_joint(JOINTS["floating"])
    keys = linkage.random_pose(0, 5)
    poses = sample(linkage, TIMES, keys, TIMES, kind=[kind, "linear", kind, "cubic", kind])
    assert_allclose(linkage.difference(keys, poses), 0.0, atol=1e-12)


def test_there_are_as_many_kinds_as_keys() -> None:
    with pytest.raises(KeyFrameError, match="5 keys but 2 kinds"):
        angles(["linear", "ease"], TIMES)
    with pytest.raises(KeyFrameError, match="no interpolation 'eese'"):
        angles(["linear"] * 4 + ["eese"], TIMES)
