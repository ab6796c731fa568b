"""Forces in mechanisms: virtual work, equilibrium of every link, closed forms, and MuJoCo at rest."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from numpy.testing import assert_allclose

import linkwork as lw
from linkwork.errors import LoopError, OptionError

DOWN = (0.0, -9.81, 0.0)
LENGTHS = 0.4, 0.15, 0.35, 0.3


def heavy_bars() -> lw.Linkage:
    """Return a four-bar with masses beside the lines of its bars."""
    bars = lw.models.four_bar(*LENGTHS)
    parts = {"crank": (0.5, (0.06, 0.01, 0.0)), "coupler": (1.2, (0.2, 0.05, 0.0)), "rocker": (0.8, (0.1, -0.02, 0.0))}
    return bars.replace(links={name: {"inertia": lw.Inertia(*part)} for name, part in parts.items()})


def moved(wrench: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Return a wrench at a point as a wrench about the world's origin."""
    return np.concatenate([wrench[:3], wrench[3:] + np.cross(place, wrench[:3])])


def on_link(held: lw.Statics, link: str, loads: dict[str, np.ndarray], gravity: tuple[float, ...]) -> np.ndarray:
    """Return the sum of all wrenches on a link about the world's origin; zero in equilibrium."""
    linkage, frames = held.linkage, held.linkage.forward(held.q)
    carried = {frame.name: frame.link for frame in linkage.extra_frames} | {name: name for name in linkage.links}
    total = np.zeros(6)
    for name, wrench in held.joints.items():
        joint = linkage.joint(name)
        sign = (joint.child == link) * 1.0 - (joint.parent == link) * 1.0
        total += sign * moved(wrench, frames[joint.child][:3, 3])
    for loop in linkage.loops:
        for frame, sign in ((loop.first, 1.0), (loop.second, -1.0)):
            total += sign * (carried[frame] == link) * moved(held.loops[loop.name], frames[frame][:3, 3])
    for frame, force in loads.items():
        total += (carried[frame] == link) * moved(np.append(force, np.zeros(3)), frames[frame][:3, 3])
    inertia = linkage.link(link).inertia
    if inertia is not None:
        weight = np.append(inertia.mass * np.array(gravity), np.zeros(3))
        total += moved(weight, (frames[link] @ np.append(inertia.center, 1.0))[:3])
    return total


@pytest.mark.parametrize("angle", [0.2, 1.3, 2.9, 4.6])
def test_every_link_is_in_equilibrium_and_drivers_do_the_work(angle: float) -> None:
    bars = heavy_bars()
    q = lw.close(bars, bars.pose({"crank": angle}, base="start"), keep="crank")
    loads = {"point": np.array([3.0, -20.0, 0.5]), "rocker_end": np.array([-4.0, 1.0, 0.0])}
    held = lw.statics(bars, q, "crank", loads=loads, gravity=DOWN)
    for link in bars.links[1:]:
        assert_allclose(on_link(held, link, loads, DOWN), 0.0, atol=1e-11)
    assert_allclose([held.joints[name][5] for name in ("coupler", "rocker")], 0.0, atol=1e-11)  # they turn freely
    assert_allclose(held.joints["crank"][5], held.drivers["crank"], atol=1e-11)
    rates = lw.loop_rates(bars, q, "crank")
    work = sum(force @ rates.velocity(frame)[:3] for frame, force in loads.items())
    work -= bars.gravity_torques(q, gravity=DOWN) @ rates.velocities
    assert_allclose(held.drivers["crank"], -work, rtol=1e-10)
    assert held.undetermined == ()


def test_a_piston_is_held_as_in_the_book() -> None:
    """``torque = force r sin(t + lean) / cos(lean)``; the wall of the cylinder bears ``force tan(lean)``."""
    motor, angles = lw.models.engine(), np.linspace(0.2, 6.0, 9)
    poses = np.array([lw.models.engine_pose(motor, t) for t in angles])
    held = lw.statics(motor, poses, "crank", loads={"pin": (0.0, 0.0, -1000.0)})
    lean = np.arcsin(0.045 * np.sin(angles) / 0.15)
    assert_allclose(held.drivers["crank"], -1000.0 * 0.045 * np.sin(angles + lean) / np.cos(lean), rtol=1e-10)
    assert_allclose(held.joints["piston"][:, 0], 1000.0 * np.tan(lean), rtol=1e-10)
    assert_allclose(held.joints["piston"][:, 2], 0.0, atol=1e-9)
    assert_allclose(np.linalg.norm(held.joints["rod"][:, :3], axis=-1), 1000.0 / np.cos(lean), rtol=1e-10)


BARS = """
<mujoco><option gravity="0 -9.81 0" timestep="1e-4" tolerance="0" iterations="200"/><compiler angle="radian"/>
<worldbody>
<body name="crank"><joint name="crank" axis="0 0 1"/><inertial pos=".06 .01 0" mass=".5" diaginertia=".01 .01 .01"/>
  <body name="coupler" pos=".15 0 0"><joint axis="0 0 1"/>
  <inertial pos=".2 .05 0" mass="1.2" diaginertia=".02 .02 .02"/>
</body></body>
<body name="rocker" pos=".4 0 0"><joint axis="0 0 1"/><inertial pos=".1 -.02 0" mass=".8" diaginertia=".01 .01 .01"/>
</body></worldbody><equality><connect body1="coupler" body2="rocker" anchor=".35 0 0" solimp=".9999 .9999 .001"/>
</equality></mujoco>"""


@pytest.mark.parametrize("angle", [0.2, 1.3, 2.9, 4.6])
def test_mujoco_at_rest_asks_for_the_same(angle: float) -> None:
    bars = heavy_bars()
    q = lw.close(bars, bars.pose({"crank": angle}, base="start"), keep="crank")
    held = lw.statics(bars, q, "crank", gravity=DOWN)
    # MuJoCo's anchor is where the two bodies meet in the reference pose of the model, so it is set here by hand.
    model = mujoco.MjModel.from_xml_string(BARS)
    model.eq_data[0, :6] = [0.35, 0, 0, 0.3, 0, 0]
    data = mujoco.MjData(model)
    data.qpos[:] = q
    mujoco.mj_forward(model, data)
    rows = data.efc_J.reshape(-1, model.nv)[: data.ne]
    data.qacc[:] = 0.0
    data.eq_active[:] = 0
    mujoco.mj_inverse(model, data)
    way = np.linalg.svd(rows)[2][-1]  # the only velocity that keeps the loop closed
    assert_allclose(rows @ way, 0.0, atol=1e-12)
    assert_allclose(held.drivers["crank"], way @ data.qfrc_inverse / way[0], rtol=1e-9)
    # With that torque it stays at rest, and forces between bodies agree up to MuJoCo's soft constraints.
    data.eq_active[:] = 1
    data.qfrc_applied[0] = held.drivers["crank"]
    mujoco.mj_forward(model, data)
    mujoco.mj_rnePostConstraint(model, data)
    assert np.abs(data.qacc).max() < 0.05
    for name in ("crank", "coupler", "rocker"):
        body = model.body(name).id
        assert_allclose(held.joints[name][:3], data.cfrc_int[body, 3:], atol=0.02)


def test_what_is_held_twice_is_told() -> None:
    b = lw.Builder("rods", base="floor")
    for k, x in enumerate((0.0, 0.2, 0.5)):
        b.revolute(f"j{k}", f"rod{k}", parent="floor", axis="y", at=(x, 0, 0)).frame(f"end{k}", at=(0, 0, 0.3))
    b.revolute("plate", "plate", parent="rod0", axis="y", at=(0, 0, 0.3))
    for k, x in enumerate((0.2, 0.5), start=1):
        b.frame(f"hole{k}", link="plate", at=(x, 0, 0)).loop(f"loop{k}", f"end{k}", f"hole{k}")
    rods = b.build()
    q = rods.pose(j0=0.4, j1=0.4, j2=0.4, plate=-0.4)
    held = lw.statics(rods, q, "j0", loads={"plate": (10.0, 0.0, 0.0)})
    assert held.undetermined == ("loop1", "loop2")
    assert_allclose(held.drivers["j0"], -10.0 * 0.3 * np.cos(0.4), rtol=1e-10)


def test_efforts_and_torques_are_loads_too() -> None:
    bars = lw.models.four_bar(*LENGTHS)
    ratio = lw.loop_rates(bars, "start", "crank").of("rocker")[0]
    by_effort = lw.statics(bars, "start", "crank", efforts={"rocker": 5.0})
    by_torque = lw.statics(bars, "start", "crank", loads={"rocker_end": (0, 0, 0, 0, 0, 5.0)})
    assert_allclose([held.drivers["crank"] for held in (by_effort, by_torque)], -5.0 * ratio, rtol=1e-12)
    advantage = lw.mechanical_advantage(bars, "start", "crank", "rocker")
    assert_allclose(advantage, -5.0 / by_effort.drivers["crank"], rtol=1e-12)


def test_forces_are_said_in_a_line_and_for_many_loads() -> None:
    bars = lw.models.four_bar(*LENGTHS)
    held = lw.statics(bars, "start", "crank", loads={"point": np.eye(3) * 10.0})
    assert held.drivers["crank"].shape == (3,)
    assert repr(held) == "<Forces in 'four_bar' in 3 poses>"


def test_the_transmission_angle_of_a_four_bar_is_between_coupler_and_rocker() -> None:
    g, a, b, c = LENGTHS
    clip = lw.drive(lw.models.four_bar(*LENGTHS), "crank", np.linspace(0, 2 * np.pi, 49), start="start")
    across = np.sqrt(g**2 + a**2 - 2 * g * a * np.cos(clip.poses[:, 0]))
    known = np.arccos((b**2 + c**2 - across**2) / (2 * b * c))
    found = lw.transmission_angle(clip.linkage, clip.poses, "crank", "rocker")
    assert_allclose(found, np.minimum(known, np.pi - known), atol=1e-9)


def test_the_transmission_angle_of_a_piston_is_what_the_rod_leaves_of_a_right_angle() -> None:
    motor, angles = lw.models.engine(), np.linspace(0.2, 6.0, 9)
    poses = np.array([lw.models.engine_pose(motor, t) for t in angles])
    lean = np.abs(np.arcsin(0.045 * np.sin(angles) / 0.15))
    assert_allclose(lw.transmission_angle(motor, poses, "crank", "piston"), np.pi / 2 - lean, atol=1e-9)


def test_a_toggle_has_no_end_of_advantage() -> None:
    motor = lw.models.engine()
    found = lw.mechanical_advantage(motor, lw.models.engine_pose(motor, np.pi), "crank", "pin", direction=(0, 0, 2))
    assert abs(found) > 1e12
    sideways = lw.models.engine_pose(motor, 1.0)
    along = lw.mechanical_advantage(motor, sideways, "crank", "pin", direction=(0, 0, 1))
    assert_allclose(along, lw.mechanical_advantage(motor, sideways, "crank", "piston"), rtol=1e-12)


def test_what_cannot_be_held_or_asked_is_said() -> None:
    bars = lw.models.four_bar(*LENGTHS)
    dead = lw.singular_positions(bars, "rocker", start="start")[0].q
    with pytest.raises(
        LoopError, match="rocker cannot hold the loads on linkage 'four_bar' here: it is at a dead centre"
    ):
        lw.statics(bars, dead, "rocker", efforts={"crank": 1.0})
    with pytest.raises(OptionError, match=r"the load on 'point' is a force .* got \(2,\)"):
        lw.statics(bars, "start", "crank", loads={"point": (1.0, 2.0)})
    with pytest.raises(OptionError, match="'crank' does not push the link of 'rocker'; choose from: four_bar"):
        lw.transmission_angle(bars, "start", "crank", "rocker", through="crank")
    with pytest.raises(OptionError, match="has no length"):
        lw.mechanical_advantage(bars, "start", "crank", "point", direction=(0, 0, 0))


def test_gears_that_follow_have_rates_and_efforts_of_their_own() -> None:
    """With the ring fixed, a sun turns 1 + ring / sun times as fast as its carrier."""
    b = lw.Builder("box", base="case").continuous("arm", "carrier").continuous("planet", "pinion", at=(0.025, 0, 0))
    b = b.continuous("sun", "shaft", parent="case").gear(
        "planet", "case", teeth=(20, 70), internal=True, carrier="carrier"
    )
    box = b.gear("sun", "planet", teeth=(30, 20), carrier="carrier").build()
    ratio, q = 1.0 + 70.0 / 30.0, box.pose(arm=0.3)
    assert_allclose(lw.loop_rates(box, q, {"arm": 3.0}).of("sun"), [3.0 * ratio, 0.0], rtol=1e-12)
    assert_allclose(lw.loop_rates(box, q, {"sun": 10.0}).of("arm")[0], 10.0 / ratio, rtol=1e-12)
    assert_allclose(lw.mechanical_advantage(box, q, "sun", "arm"), ratio, rtol=1e-12)
    assert_allclose(lw.statics(box, q, "arm", efforts={"sun": 2.0}).drivers["arm"], -2.0 * ratio, rtol=1e-12)
    assert repr(lw.statics(box, q, "sun", efforts={"arm": 10.0})) == "<Forces in 'box': sun -3 N m>"
    clip = lw.drive(box, "sun", np.linspace(0.0, 1.0, 7), fps=6.0)
    assert_allclose(lw.drive_rates(clip, "sun").of("sun")[0], 1.0, rtol=1e-9)
    with pytest.raises(OptionError, match="joint 'sun' follows 'arm' and has no value of its own; take that one"):
        lw.singular_positions(box, "sun")
