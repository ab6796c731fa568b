"""Masses of models or of their shapes; centre of mass and its Jacobian compared with Pinocchio and differences."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linkwork as lw
from linkwork.errors import LinkageError
from linkwork.linkage.poses import advance
from robots import SHIPPED, shipped


def test_masses_are_those_of_the_model_or_of_its_shapes() -> None:
    brick, ball = lw.Box((0.2, 0.1, 0.05)), lw.Sphere(0.1)
    link = lw.Link("a", (lw.Visual(brick, (0.3, 0, 0)), lw.Visual(ball, (-0.3, 0, 0))))
    weights = lw.mass.masses(lw.Linkage([link]))
    volumes = np.array([0.001, 4 / 3 * np.pi * 0.001])
    assert weights.by_volume
    assert weights.total == pytest.approx(1000.0 * volumes.sum())
    assert_allclose(weights.centers, [[0.3 * (volumes[0] - volumes[1]) / volumes.sum(), 0, 0]], atol=1e-15)
    capsule, rod = lw.Capsule(0.1, 0.4), lw.Cylinder(0.1, 0.4)
    total = lw.mass.total_mass(lw.Linkage([lw.Link("a", (capsule, rod))]))
    assert total == pytest.approx(1000.0 * (2 * np.pi * 0.01 * 0.4 + 4 / 3 * np.pi * 0.001))
    known = lw.Linkage([lw.Link("a", brick, inertia=lw.Inertia(3.0, (0, 0, 0.2)))])
    assert lw.mass.total_mass(known) == 3.0
    assert not lw.mass.masses(known).by_volume
    bumper = lw.Linkage([lw.Link("a", lw.Visual(brick, role="collision"))])
    assert lw.mass.total_mass(bumper) == pytest.approx(1.0)


@pytest.mark.parametrize("name", SHIPPED)
def test_the_centre_of_mass_is_that_of_pinocchio(name: str) -> None:
    pin = pytest.importorskip("pinocchio", exc_type=ImportError)
    path = shipped(name)
    model, robot = pin.buildModelFromUrdf(str(path)), lw.load(path)
    data, rng = model.createData(), np.random.default_rng(8)
    fixed = model.inertias[0]  # links welded to the world, which is not a body there
    moving = sum(inertia.mass for inertia in list(model.inertias)[1:])
    assert lw.mass.total_mass(robot) == pytest.approx(moving + fixed.mass, rel=1e-9)
    for _ in range(3):
        q = robot.random_pose(rng)
        theirs, rates = pin.neutral(model), np.zeros((model.nv, robot.nv))
        for name, joint in zip(list(model.names)[1:], list(model.joints)[1:], strict=True):
            drive = robot.drives[robot.arc_index(name)]
            value = drive.multiplier * q[drive.q] + drive.offset
            theirs[joint.idx_q : joint.idx_q + joint.nq] = [value] if joint.nq == 1 else [np.cos(value), np.sin(value)]
            rates[joint.idx_v, drive.v] = drive.multiplier
        share = moving / (moving + fixed.mass)
        center = share * pin.centerOfMass(model, data, theirs) + (1.0 - share) * fixed.lever
        assert_allclose(lw.mass.center_of_mass(robot, q), center, atol=1e-9)
        jacobian = share * pin.jacobianCenterOfMass(model, data, theirs).reshape(3, -1) @ rates
        assert_allclose(lw.mass.center_of_mass_jacobian(robot, q), jacobian, atol=1e-9)
        holding = pin.computeGeneralizedGravity(model, data, theirs) @ rates
        assert_allclose(robot.gravity_torques(q), holding, rtol=1e-9, atol=1e-8)


@pytest.mark.parametrize("root", ["fixed", "planar", "floating"])
def test_the_jacobian_is_how_the_centre_of_mass_moves(root: str) -> None:
    figure, step = lw.models.human(root=root), 1e-6
    q = figure.random_pose(np.random.default_rng(0), (2, 3))
    jacobian = lw.mass.center_of_mass_jacobian(figure, q)
    assert jacobian.shape == (2, 3, 3, figure.nv)
    for k in range(figure.nv):
        way = np.eye(figure.nv)[k] * step
        ends = [lw.mass.center_of_mass(figure, advance(figure, q, side * way)) for side in (1, -1)]
        assert_allclose(jacobian[..., k], (ends[0] - ends[1]) / (2 * step), atol=1e-8)


@pytest.mark.parametrize("root", ["fixed", "floating"])
def test_gravity_torques_are_the_slope_of_the_energy_in_any_field(root: str) -> None:
    figure, gravity = lw.models.human(root=root), np.array([0.3, -1.0, -1.62])
    q, step = figure.random_pose(1, (2, 2)), 1e-6
    torques = figure.gravity_torques(q, gravity=gravity)
    assert torques.shape == (2, 2, figure.nv)

    def energy(poses: np.ndarray) -> np.ndarray:
        return -lw.mass.total_mass(figure) * lw.mass.center_of_mass(figure, poses) @ gravity

    for k in range(figure.nv):
        way = np.eye(figure.nv)[k] * step
        slope = (energy(advance(figure, q, way)) - energy(advance(figure, q, -way))) / (2 * step)
        assert_allclose(torques[..., k], slope, atol=1e-6)
    if root == "floating":  # the ground bears the weight
        assert_allclose(torques[..., :3], np.broadcast_to(-75.0 * gravity, (2, 2, 3)), rtol=1e-12)


def test_torques_of_shapes_weighed_as_water_say_so_once(caplog: pytest.LogCaptureFixture) -> None:
    arm = lw.Builder("rod").revolute("j", "a", axis="-y", shape=lw.Visual(lw.Box((1, 0.1, 0.1)), (0.5, 0, 0))).build()
    for _ in range(2):
        assert arm.gravity_torques([0.0]) == pytest.approx([10.0 * 9.81 * 0.5])
    assert [record.message for record in caplog.records] == [
        "linkage 'rod' names no mass: its shapes are weighed as water, 10 kg; give links an Inertia(mass, center)."
    ]
    with pytest.raises(LinkageError, match="has no mass"):
        lw.models.planar([1]).replace(links={"link1": {"visuals": ()}, "link0": {"visuals": ()}}).gravity_torques([0.0])


def test_what_weighs_nothing_has_no_centre() -> None:
    line = lw.Polyline(((0, 0, 0), (1, 0, 0)))
    for link in (lw.Link("a"), lw.Link("a", line), lw.Link("a", inertia=lw.Inertia(0.0))):
        with pytest.raises(LinkageError, match="'linkage' has no mass"):
            lw.mass.total_mass(lw.Linkage([link]))


LEG = ("thigh", "shin", "tarsus", "toes")


@pytest.mark.parametrize("height", [1.5, 1.75, 2.0])
def test_a_human_weighs_what_people_do_and_has_its_centre_where_theirs_is(height: float) -> None:
    figure = lw.models.human(height=height)
    stand = figure.stored_pose("stand")
    assert lw.mass.total_mass(figure) == pytest.approx(75.0 * (height / 1.75) ** 3)
    assert 0.55 < lw.mass.center_of_mass(figure, stand)[2] / height < 0.58  # standing adults: 0.55 to 0.58
    weights = lw.mass.masses(figure)
    legs = sum(m for name, m in zip(weights.links, weights.masses, strict=True) if name.split("_")[-1] in LEG)
    assert legs / weights.total == pytest.approx(0.3972)  # de Leva 1996: two legs of 19.86 %


def test_every_moment_of_inertia_of_the_human_is_one_that_a_body_can_have() -> None:
    for link in lw.models.human().nodes:
        if link.inertia is not None:
            a, b, c = np.linalg.eigvalsh(link.inertia.matrix)
            assert 0.0 < a <= b <= c < a + b
