# ruff: noqa: ARG005
"""Workspaces compared with geometry, manipulability compared with determinants."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.errors import FrameNotFoundError, JointNotFoundError, OptionError, TransformError
from linkwork.explain.workspaces import (
    dexterous_rings,
    euler_jacobian,
    is_singular,
    joint_map,
    manipulability,
    workspace,
)


def test_the_two_link_arm_fills_its_annulus() -> None:
    arm = lw.models.two_link(2.0, 1.0)
    found = workspace(arm, "tip", samples=20_000)
    radius = np.linalg.norm(found.points[:, :2], axis=1)
    assert found.planar
    assert found.annulus == (1.0, 3.0)
    assert radius.min() >= 1.0 - 1e-12
    assert radius.max() <= 3.0 + 1e-12
    assert radius.min() < 1.001
    assert radius.max() > 2.999
    angle = np.arctan2(found.points[:, 1], found.points[:, 0])
    assert np.histogram2d(radius, angle, bins=(5, 12))[0].min() > 0


def test_limits_make_it_smaller_and_inexact() -> None:
    arm = lw.models.two_link(2.0, 1.0).replace(joints={"elbow": {"lower": 0.0, "upper": 1.0}})
    found = workspace(arm, "tip", samples=5000)
    assert found.annulus is None
    nearest = math.sqrt(5.0 + 4.0 * math.cos(1.0))
    assert np.linalg.norm(found.points, axis=1).min() >= nearest - 1e-9


def test_the_dexterous_workspace_of_a_three_link_arm() -> None:
    found = workspace(lw.models.planar([2, 1, 0.5]), "tip", samples=600, orientations=24)
    assert len(found.points) == len(found.dexterity) == 600
    assert found.dexterous_rings == ((1.5, 2.5),)  # the ring of the first two links, less half a metre on both sides
    radius = np.linalg.norm(found.points[:, :2], axis=1)
    inside = (radius > 1.5 + 1e-6) & (radius < 2.5 - 1e-6)
    assert (found.dexterity[inside] == 1.0).all()
    assert (found.dexterity[(radius < 1.45) | (radius > 2.55)] < 1.0).all()
    assert len(found.dexterous) == int((found.dexterity == 1.0).sum())


@pytest.mark.parametrize("lengths", [(15, 10, 5), (2, 1.5, 1), (1, 1, 0.5), (1, 0.2, 3), (1, 1), (3, 1, 1, 0.5)])
def test_dexterous_rings_are_where_a_circle_of_the_last_link_is_reached(lengths) -> None:
    """A point is dexterous if the links before the last reach all positions of the last joint, a circle around it."""
    rings, before = dexterous_rings(lengths), lengths[:-1]
    least, most = max(0.0, 2 * max(before) - sum(before)), sum(before)
    turns = np.linspace(0.0, np.pi, 721)
    for radius in np.linspace(0.0, 1.2 * sum(lengths), 400):
        away = np.hypot(radius + lengths[-1] * np.cos(turns), lengths[-1] * np.sin(turns))
        everywhere = bool((away >= least - 1e-9).all() and (away <= most + 1e-9).all())
        edge = any(abs(radius - bound) < 1e-9 for ring in rings for bound in ring)
        assert edge or radius == 0.0 or everywhere == any(low <= radius <= high for low, high in rings)


def test_a_scara_is_tried_in_the_orientations_it_has() -> None:
    found = workspace(lw.models.scara(), "tip", samples=200, orientations=5)
    assert not found.planar
    assert found.dexterity.mean() > 0.5


def test_rings_count_lengths_in_the_plane_and_need_free_joints() -> None:
    raised = lw.Builder("raised").revolute("a", "upper", axis="z", at=(0, 0, 2))
    raised = raised.revolute("b", "lower", axis="z", at=(2, 0, 0.3)).frame("tip", at=(0.5, 0, 1)).build()
    assert workspace(raised, "tip", samples=10).annulus == (1.5, 2.5)
    stiff = raised.replace(joints={"b": {"lower": -1.0, "upper": 1.0}})
    found = workspace(stiff, "tip", samples=10)
    assert found.annulus is None
    assert found.dexterous_rings is None


def test_spatial_workspaces_and_progress() -> None:
    seen: list[float] = []
    found = workspace(lw.models.panda(), "tip", samples=2000)
    assert not found.planar
    low, high = found.extent
    assert (low < high).all()
    workspace(lw.models.planar([1, 1, 1]), "tip", samples=20, orientations=2, progress=seen.append)
    assert seen[-1] == 1.0
    with pytest.raises(OptionError, match="orientations="):
        _ = found.dexterous


def test_the_same_seed_gives_the_same_points() -> None:
    a, b, c = (workspace(lw.models.panda(), "tip", samples=50, seed=seed).points for seed in (1, 1, 2))
    assert (a == b).all()
    assert not (a == c).all()


def test_yoshikawas_measure_of_the_two_link_arm() -> None:
    arm = lw.models.two_link(2.0, 1.0)
    q = arm.random_pose(0, 30)
    found = manipulability(arm, q, "tip")
    assert_allclose(found.measure, np.abs(2.0 * np.sin(q[:, 1])), atol=1e-12)
    J = arm.jacobian(q, "tip")[:, :2]
    assert_allclose(found.measure, np.sqrt(np.linalg.det(J @ np.swapaxes(J, 1, 2))), atol=1e-9)
    assert_allclose(np.abs(np.linalg.det(found.axes)), 1.0)
    assert_allclose(found.condition, found.singular_values[:, 0] / found.singular_values[:, 1])


@pytest.mark.parametrize("order", ["xyz", "ZYX", "zyx", "YXZ", "zxz", "XYX"])
@pytest.mark.parametrize("batch", [(), (4,)])
def test_the_jacobian_of_euler_rates_against_differences(order: str, batch: tuple[int, ...]) -> None:
    arm = lw.models.panda()
    q = arm.random_pose(11, batch)

    def angles(poses: np.ndarray) -> np.ndarray:
        world = arm.forward(poses, frame="tip")[..., :3, :3]
        return Rotation.from_matrix(world.reshape(-1, 3, 3)).as_euler(order).reshape(*batch, 3)

    found = euler_jacobian(arm, q, "tip", order=order)
    assert found.shape == (*batch, 6, 7)
    assert_allclose(found[..., :3, :], arm.jacobian(q, "tip")[..., :3, :])
    for k in range(7):
        step = 1e-6 * np.eye(7)[k]
        change = angles(q + step) - angles(q - step)
        change = (change + np.pi) % (2 * np.pi) - np.pi
        assert_allclose(found[..., 3:, k], change / 2e-6, rtol=1e-5, atol=1e-5)


def test_gimbal_lock_has_no_euler_rates() -> None:
    locked = lw.Builder("b").ball("s", "l").frame("tip").build()
    q = locked.pose(s={"euler": ("XYZ", [0.3, "90deg", 0.1])})
    with pytest.raises(TransformError, match="gimbal lock"):
        euler_jacobian(locked, q, "tip", order="XYZ")
    assert np.isfinite(euler_jacobian(locked, q, "tip", order="XZY")).all()
    with pytest.raises(TransformError, match="order is three axes"):
        euler_jacobian(locked, q, "tip", order="xyq")


def test_singularities() -> None:
    arm = lw.models.two_link(2.0, 1.0)
    assert is_singular(arm, [0.3, 0.0], "tip")
    assert is_singular(arm, [[0.3, math.pi], [0.1, 0.2]], "tip").tolist() == [True, False]
    assert manipulability(arm, [0.0, 0.0], "tip").condition == math.inf
    assert manipulability(arm, [0.0, 0.0], "tip").measure == 0.0


def test_maps_over_two_joints() -> None:
    arm = lw.models.planar([2, 1, 1])
    first, second, measure = joint_map(arm, ("j2", "j3"), "tip", resolution=9, base=[0.1, 0, 0])
    assert measure.shape == (9, 9)
    assert_allclose(first, np.linspace(-np.pi, np.pi, 9))
    here = manipulability(arm, [0.1, first[2], second[5]], "tip").measure
    assert_allclose(measure[2, 5], here)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda a: workspace(a, "tipp"), FrameNotFoundError),
        (lambda a: workspace(a, "tip", samples=0), OptionError),
        (lambda a: workspace(a, "tip", samples=2.5), OptionError),
        (lambda a: workspace(a, "tip", orientations=-1), OptionError),
        (lambda a: manipulability(a, [0, 0, 0], "tip", rows="all"), OptionError),
        (lambda a: joint_map(a, ("j1", "j9"), "tip"), JointNotFoundError),
        (lambda a: joint_map(a, ("j1", "j2"), "tip", resolution=1), OptionError),
        (lambda a: manipulability(lw.Linkage([lw.Link("tip")]), [], "tip"), OptionError),
    ],
)
def test_wrong_input(call, error) -> None:
    with pytest.raises(error):
        call(lw.models.planar([1, 1, 1]))
