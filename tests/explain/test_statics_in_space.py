"""Forces in spatial mechanisms: MuJoCo's inverse dynamics at rest, its constraints, and virtual work."""

from __future__ import annotations

from collections.abc import Callable

import mujoco
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

import linkwork as lw
from mechanisms_in_space import SPACE, by_frames, ring

GRAVITY = np.array([0.4, -1.5, -9.81])  # down and sideways, so that every direction is loaded
TWO_POINTS = 0.1  # a revolute joint is two points at this distance: MuJoCo has no constraint for an axis


def with_masses(linkage: lw.Linkage) -> lw.Linkage:
    """Return a linkage whose moving links have different masses, off their origins."""
    rng = np.random.default_rng(4)
    parts = {name: (rng.uniform(0.5, 2.0), tuple(rng.uniform(-0.1, 0.1, 3))) for name in linkage.links[1:]}
    return linkage.replace(links={name: {"inertia": lw.Inertia(*part)} for name, part in parts.items()})


def numbers(values: object) -> str:
    return " ".join(f"{float(value):.17g}" for value in np.ravel(values))  # type: ignore[arg-type]


def placed(matrix: np.ndarray) -> str:
    x, y, z, w = Rotation.from_matrix(matrix[:3, :3]).as_quat()
    return f'pos="{numbers(matrix[:3, 3])}" quat="{numbers([w, x, y, z])}"'


def joints_of(joint: lw.Joint) -> str:
    """Return a joint in MJCF; a universal joint becomes two hinges."""
    moves, name = joint.articulation, joint.name
    if moves.kind in ("floating", "ball"):
        return f'<joint name="{name}" type="{"free" if moves.kind == "floating" else "ball"}"/>'
    kind = "slide" if moves.kind == "prismatic" else "hinge"
    text = f'<joint name="{name}" type="{kind}" axis="{numbers(moves.axis)}"/>'
    return text + (f'<joint type="hinge" axis="{numbers(moves.second)}"/>' if moves.kind == "universal" else "")


def to_mujoco(linkage: lw.Linkage) -> mujoco.MjModel:
    """Return the same mechanism in MuJoCo: loops of points, axes and frames become connects and welds of sites."""

    def body(link: str) -> str:
        text = "".join(
            f'<site name="{frame.name}{k}" {placed(frame.placement @ away)}/>'
            for frame in linkage.extra_frames
            if frame.link == link
            for k, away in enumerate((np.eye(4), lw.transforms.translation((0.0, 0.0, TWO_POINTS))))
        )
        for name in linkage.joints:
            joint = linkage.joint(name)
            if joint.parent == link:
                weight = linkage.link(joint.child).inertia
                assert weight is not None
                text += f'<body name="{joint.child}" {placed(joint.placement)}>{joints_of(joint)}'
                text += f'<inertial pos="{numbers(weight.center)}" mass="{weight.mass}" diaginertia=".01 .01 .01"/>'
                text += f"{body(joint.child)}</body>"
        return text

    ties = ""
    for loop in linkage.loops:
        kind = "weld" if loop.kind == "full" else "connect"
        for k in range(2 if loop.kind == "axis" else 1):
            ties += f'<{kind} site1="{loop.first}{k}" site2="{loop.second}{k}"/>'
    option = f'<option gravity="{numbers(GRAVITY)}"/><compiler angle="radian"/>'
    return mujoco.MjModel.from_xml_string(
        f"<mujoco>{option}<worldbody>{body(linkage.links[0])}</worldbody><equality>{ties}</equality></mujoco>"
    )


def rod_between_balls() -> lw.Linkage:
    """Return crank, rod and rocker; the rod is on a universal joint, so that it cannot spin."""
    b = lw.Builder("rod", base="ground").continuous("crank", "crank", axis="z")
    b.universal("neck", "rod", axis="y", second="z", at=(0.1, 0, 0)).frame("rod_end", at=(0.5, 0, 0))
    b.continuous("rocker", "rocker", parent="ground", axis="x", at=(0.4, 0.2, 0.0)).frame("pin", at=(0, 0, 0.3))
    return b.loop("ball", "rod_end", "pin").build()


def seven_hinges() -> lw.Linkage:
    """Return a ring of seven revolute joints, which is not overconstrained."""
    twists, lengths = (1.2, -0.9, 1.1, 0.8, -1.3, 1.0, 0.7), (0.5, 0.4, 0.6, 0.3, 0.5, 0.4, 0.6)
    return ring("seven", 1.0, list(zip(lengths, twists, strict=True))).build()


def posed(linkage: lw.Linkage) -> np.ndarray:
    stored = linkage.poses.get("start", linkage.poses.get("tilted", linkage.poses.get("aside")))
    return lw.close(linkage, None) if stored is None else np.asarray(stored)


SPATIAL: dict[str, tuple[Callable[[], lw.Linkage], tuple[str, ...]]] = {
    "rod between balls": (rod_between_balls, ("crank",)),
    "bennett, by its axis": (lw.models.bennett, ("crank",)),
    "bennett, by frames": (lambda: by_frames(lw.models.bennett()), ("crank",)),
    "seven hinges, by an axis": (seven_hinges, ("j1",)),
    "seven hinges, by frames": (lambda: by_frames(seven_hinges()), ("j1",)),
    "bricard": (lambda: SPACE["bricard"](1.0).linkage, ("j1",)),
    "cardan": (lambda: SPACE["cardan"](1.0).linkage, ("shaft",)),
    "delta": (lw.models.delta, ("arm1", "arm2", "arm3")),
    "stewart": (lw.models.stewart, tuple(f"leg{k}" for k in range(1, 7))),
}


@pytest.mark.parametrize("name", SPATIAL)
def test_mujoco_asks_drivers_and_pins_for_the_same(name: str) -> None:
    build, drivers = SPATIAL[name]
    linkage = with_masses(build())
    q = posed(linkage)
    held = lw.statics(linkage, q, drivers, gravity=GRAVITY)
    model = to_mujoco(linkage)
    data = mujoco.MjData(model)
    data.qpos[:] = q
    mujoco.mj_forward(model, data)
    for frame in linkage.extra_frames:
        assert_allclose(data.site(f"{frame.name}0").xpos, linkage.forward(q, frame=frame.name)[:3, 3], atol=1e-9)
    rows = data.efc_J.reshape(-1, model.nv)[: data.ne].copy()
    data.eq_active[:] = 0
    data.qacc[:] = 0.0
    mujoco.mj_inverse(model, data)  # joint efforts that hold the weights without loops
    push = np.zeros((model.nv, len(drivers)))
    for k, driver in enumerate(drivers):
        push[model.joint(driver).dofadr[0], k] = 1.0
    found, *_ = np.linalg.lstsq(np.column_stack([push, rows.T]), data.qfrc_inverse, rcond=1e-10)
    assert_allclose(push @ found[: len(drivers)] + rows.T @ found[len(drivers) :], data.qfrc_inverse, atol=1e-8)
    assert_allclose([held.drivers[driver] for driver in drivers], found[: len(drivers)], rtol=1e-7, atol=1e-8)
    if not held.undetermined:
        for loop, force in zip(linkage.loops, _forces(linkage, found[len(drivers) :]), strict=True):
            assert_allclose(held.loops[loop.name][:3], force, rtol=1e-6, atol=1e-7)


def _forces(linkage: lw.Linkage, rows: np.ndarray) -> list[np.ndarray]:
    """Return the force on the first frame of each loop, summed over both points of an axis."""
    forces, start = [], 0
    for loop in linkage.loops:
        count = 2 if loop.kind == "axis" else 1
        forces.append(rows[start : start + 3 * count].reshape(count, 3).sum(axis=0))
        start += 6 if loop.kind == "full" else 3 * count
    return forces


@pytest.mark.parametrize("name", SPATIAL)
def test_drivers_do_the_work_of_loads_and_weights(name: str) -> None:
    build, drivers = SPATIAL[name]
    linkage = with_masses(build())
    q, frame = posed(linkage), linkage.extra_frames[0].name
    load = np.array([3.0, -20.0, 7.0, 0.5, -0.2, 0.1])
    held = lw.statics(linkage, q, drivers, loads={frame: load}, gravity=GRAVITY)
    for driver in drivers:
        rates = lw.loop_rates(linkage, q, {other: float(other == driver) for other in drivers})
        work = load @ rates.velocity(frame) - linkage.gravity_torques(q, gravity=GRAVITY) @ rates.velocities
        assert_allclose(held.drivers[driver], -work, rtol=1e-8, atol=1e-9)
