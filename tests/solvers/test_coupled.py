"""Couplings in solves: closing, assembly, driving, rates and forces, alone and together with loops."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linkwork as lw
from linkwork.errors import GoalError, LoopError
from linkwork.goals import closings
from linkwork.solvers.goal_arrays import packable
from linkwork.solvers.loops import Closure
from linkwork.solvers.options import Settings
from linkwork.solvers.problem import Problem
from linkwork.solvers.tangents import solved_by_tangents

LIFT = lw.CamProgram([("cycloidal", "150deg", 0.4), ("dwell", "30deg"), ("3-4-5", "180deg", 0.0)])


def pushed_slider() -> lw.Linkage:
    """Return a cam that swings the crank of a slider-crank: a coupling and a loop."""
    b = lw.Builder("pushed", base="ground").continuous("cam", "disc", at=(-0.5, 0, 0))
    b.continuous("crank", "crank", parent="ground").continuous("rod", "rod", at=(0.3, 0, 0)).frame(
        "end", at=(0.7, 0, 0)
    )
    b.prismatic("slide", "slider", parent="ground", axis="x").frame("pin")
    return b.cam("crank", "cam", LIFT, offset=0.5).loop("loop", "end", "pin").build()


def geared_five_bar() -> lw.Linkage:
    b = lw.Builder("geared", base="ground")
    b.continuous("left", "left").continuous("left_rod", "left_rod", at=(0.1, 0, 0)).frame("tip", at=(0.3, 0, 0))
    b.continuous("right", "right", parent="ground", at=(0.2, 0, 0))
    b.continuous("right_rod", "right_rod", at=(0.1, 0, 0)).frame("other", at=(0.3, 0, 0))
    return b.gear("right", "left", ratio=-1.0, phase=math.pi).loop("loop", "tip", "other").build()


def differential() -> lw.Linkage:
    b = lw.Builder("differential", base="frame").continuous("carrier", "carrier", axis="z")
    b.continuous("ring", "ring", parent="frame").continuous("sun", "sun", parent="frame")
    b.revolute("arm", "arm", parent="sun", axis="x", at=(0, 0, 0.2)).frame("hand", at=(0.0, 0.0, 0.5))
    return b.couple("sun", {"carrier": 3.5, "ring": -2.5}).build()


COUPLED = {
    "cam": lw.models.cam_follower(),
    "oscillating": lw.models.cam_follower(0.02, "oscillating"),
    "geneva": lw.models.geneva(4),
    "pushed slider": pushed_slider(),
    "differential": differential(),
}


@pytest.mark.parametrize("linkage", COUPLED.values(), ids=COUPLED)
def test_rows_of_couplings_have_the_jacobian_and_drift_of_finite_differences(linkage: lw.Linkage) -> None:
    rng, h = np.random.default_rng(1), 1e-6
    closure = Closure(linkage)
    for _ in range(5):
        q, v = linkage.random_pose(rng), rng.normal(size=linkage.nv)
        found = [
            (closure.error(linkage.integrate(q, -h * e)) - closure.error(linkage.integrate(q, h * e))) / (2.0 * h)
            for e in np.eye(linkage.nv)
        ]
        rows = np.concatenate([goal.jacobian(linkage, q) for goal in closings(linkage)])
        assert_allclose(rows, np.transpose(found), atol=1e-7)
        ahead, behind = (
            np.concatenate([goal.jacobian(linkage, linkage.integrate(q, s * h * v)) for goal in closings(linkage)])
            for s in (1.0, -1.0)
        )
        drift = np.concatenate([goal.drift(linkage, q, v) for goal in closings(linkage)])
        assert_allclose((ahead - behind) @ v / (2.0 * h), drift, atol=1e-5)


@pytest.mark.parametrize("linkage", COUPLED.values(), ids=COUPLED)
def test_any_pose_can_be_closed_and_assembled(linkage: lw.Linkage) -> None:
    driver = linkage.coordinates[0]
    q = lw.close(linkage, linkage.pose({driver: 0.6}), keep=driver)
    assert q[0] == 0.6
    assert Closure(linkage).closed(q)
    anyhow = lw.close(linkage, None)
    assert Closure(linkage).closed(anyhow)
    assert lw.degrees_of_freedom(linkage) == (3 if linkage.name == "differential" else 1)


def test_a_mechanism_with_a_cam_and_a_loop_is_driven_as_its_closed_form_says() -> None:
    linkage, angles = pushed_slider(), np.linspace(0.0, 4.0 * np.pi, 97)
    start = lw.close(linkage, linkage.pose(cam=0.0, slide=0.9, rod=-0.6), keep="cam")
    clip = lw.drive(linkage, "cam", angles, start=start)
    crank = LIFT.value(angles) + 0.5
    slide = 0.3 * np.cos(crank) + np.sqrt(0.7**2 - (0.3 * np.sin(crank)) ** 2)
    assert_allclose(clip.poses[:, linkage.coordinate_index["slide"]], slide, atol=1e-12)
    assert clip.residuals.shape == (97, 2)
    rates, h = lw.drive_rates(clip, "cam", speed=2.0), 1e-5
    speed, more = rates.of("slide")

    def slides(at: np.ndarray) -> np.ndarray:
        turned = LIFT.value(at) + 0.5
        return np.asarray(0.3 * np.cos(turned) + np.sqrt(0.7**2 - (0.3 * np.sin(turned)) ** 2))

    assert_allclose(speed, 2.0 * (slides(angles + h) - slides(angles - h)) / (2.0 * h), atol=1e-8)
    inner = slice(1, -1, 1)
    differences = 4.0 * (slides(angles + 1e-4) - 2.0 * slides(angles) + slides(angles - 1e-4)) / 1e-8
    assert_allclose(more[inner], differences[inner], atol=1e-4)


def test_rates_of_a_geneva_wheel_are_those_of_the_book() -> None:
    drive = lw.models.geneva(6)
    angles = np.linspace(-1.0, 1.0, 21)
    rates = lw.loop_rates(drive, drive.follow(np.stack([angles, 0 * angles], axis=1)), {"crank": 10.0})
    lam = math.sin(math.pi / 6.0)
    below = 1.0 + lam**2 - 2.0 * lam * np.cos(angles)
    assert_allclose(rates.of("wheel")[0], -10.0 * lam * (np.cos(angles) - lam) / below, atol=1e-12)
    book = 100.0 * lam * (1.0 - lam**2) * np.sin(angles) / below**2
    assert_allclose(rates.of("wheel")[1], book, atol=1e-10)


def test_a_geared_five_bar_is_symmetric_and_has_one_freedom() -> None:
    linkage = geared_five_bar()
    assert lw.degrees_of_freedom(linkage) == 1
    clip = lw.drive(
        linkage, "left", np.linspace(1.0, 2.5, 16), start=linkage.pose(left=1.0, left_rod=0.3, right_rod=-0.3)
    )
    assert_allclose(clip.forward(frame="tip")[:, 0, 3], 0.1, atol=1e-10)


def test_trees_of_gears_are_driven_from_either_end() -> None:
    train = lw.models.gear_train((20, 40, 30))
    values = np.linspace(0.0, 3.0, 7)
    assert_allclose(lw.drive(train, "gear1", values).poses[:, 0], values)
    clip = lw.drive(train, "gear3", values)
    assert_allclose(clip.poses[:, 0], values * 30.0 / 20.0, atol=1e-12)
    assert clip.residuals.shape == (7, 0)
    rates = lw.drive_rates(clip, "gear1", speed=2.0)
    assert_allclose(rates.velocity("tooth3")[:, 5], 2.0 * 20.0 / 30.0)
    held = lw.statics(train, [0.4], "gear1", loads={"wheel3": (0, 0, 0, 0, 0, 1.5)})
    assert float(held.drivers["gear1"]) == pytest.approx(-1.5 * 20.0 / 30.0)


def test_a_follower_drives_its_cam_until_the_dwell() -> None:
    linkage = lw.models.cam_follower(0.02)
    up = lw.drive(linkage, "follower", np.linspace(0.001, 0.019, 10), start=linkage.pose(cam=0.5))
    assert_allclose(linkage.follow(up.poses), up.poses, atol=1e-12)
    assert np.all(np.diff(up.poses[:, 0]) > 0.0)
    with pytest.raises(LoopError):
        lw.drive(linkage, "follower", np.linspace(0.001, 0.03, 10), start=linkage.pose(cam=0.5))


def test_limits_of_a_follower_stop_its_driver() -> None:
    linkage = lw.models.cam_follower(0.02).replace(joints={"follower": {"lower": 0.0, "upper": 0.01}})
    with pytest.raises(LoopError, match="follower at a limit"):
        lw.drive(linkage, "cam", np.linspace(0.0, 2.0, 9), start=linkage.pose(cam=0.0))


def test_power_goes_through_a_coupling() -> None:
    linkage = lw.models.cam_follower(0.02)
    q = linkage.pose(cam=0.7)
    held = lw.statics(linkage, q, "cam", loads={"roller": (0, -100.0, 0)})
    slope = float(linkage.couplings[0].curve.slope(0.7))
    assert float(held.couplings["follower"]) == pytest.approx(100.0)
    assert float(held.drivers["cam"]) == pytest.approx(100.0 * slope)  # virtual work


@pytest.mark.parametrize("method", ["robust", "damped", "pseudoinverse", "prioritized"])
@pytest.mark.parametrize("name", ["cam", "differential", "pushed slider"])
def test_goals_are_reached_with_couplings_held(name: str, method: str) -> None:
    linkage = COUPLED[name]
    frame = {"cam": "roller", "differential": "hand", "pushed slider": "pin"}[name]
    wanted = lw.close(linkage, linkage.pose({linkage.coordinates[0]: 0.9}), keep=linkage.coordinates[0])
    goal = lw.Reach(frame, position=linkage.forward(wanted, frame=frame)[:3, 3])
    start = lw.close(linkage, linkage.pose({linkage.coordinates[0]: 1.2}), keep=linkage.coordinates[0])
    solution = lw.solve(linkage, goal, start=start, method=method)
    assert solution.success, solution.explain()
    assert Closure(linkage).closed(solution.q)


def knee() -> lw.Linkage:
    """Return a leg whose knee translates as it bends, by polynomials, as in models of the human body."""
    b = lw.Builder("leg", base="pelvis").ball("hip", "thigh", euler="XYZ")
    b.prismatic("forward", "a", axis="x", at=(0, 0, -0.4)).prismatic("down", "b", axis="z")
    b.revolute("knee", "shin", axis="y", limits=(0.0, 2.2)).frame("foot", at=(0, 0, -0.4))
    b.couple("forward", "knee", curve=lw.Polynomial((0.0, 0.02, -0.015, 0.003)))
    return b.couple("down", "knee", curve=lw.Polynomial((0.0, -0.01, 0.004))).build()


def test_the_compiled_solver_follows_curves_by_their_tangents() -> None:
    leg, rng = knee(), np.random.default_rng(2)
    for _ in range(10):
        wanted = leg.follow(leg.random_pose(rng))
        goal = lw.Reach("foot", position=leg.forward(wanted, frame="foot")[:3, 3])
        problem = Problem(leg, goal)
        found = solved_by_tangents(problem, leg.neutral(), Settings(), lw.METHODS["robust"]().body)
        assert found is not None
        assert found.success
        assert_allclose(leg.follow(found.q), found.q, atol=1e-10)
        assert_allclose(leg.forward(found.q, frame="foot")[:3, 3], goal.target[:3, 3], atol=1e-4)
    q = leg.neutral()
    for goal in closings(leg):  # the tangent has the same error and Jacobian there
        straight = goal.tangent(leg, q)
        assert_allclose(straight.error(leg, q), goal.error(leg, q), atol=1e-15)
        assert_allclose(straight.jacobian(leg, q), goal.jacobian(leg, q), atol=1e-15)


def test_linear_couplings_are_compiled_and_curves_are_not() -> None:
    assert all(map(packable, closings(differential())))
    assert not all(map(packable, closings(lw.models.geneva(4))))


def test_batches_and_chains_say_that_they_hold_no_couplings() -> None:
    linkage = lw.models.cam_follower()
    with pytest.raises(GoalError, match="coupled"):
        lw.solve_batch(linkage, "roller", np.eye(4)[None])
    leg = knee()  # couplings beyond a frame do not affect it
    targets = leg.forward(leg.random_pose(0, 4), frame="thigh")
    assert lw.solve_batch(leg, "thigh", targets).success.all()
    assert lw.explain.workspace(linkage, "roller", samples=50).points[:, 1].max() <= 0.08 + 1e-12
    with pytest.raises(GoalError, match="takes a Coupling"):
        lw.Follow("cam")
    with pytest.raises(GoalError, match="no such coupling"):
        lw.Follow(lw.models.geneva(4).couplings[0]).error(linkage, linkage.neutral())


def test_steps_and_tracks_hold_couplings() -> None:
    linkage = lw.models.geneva(4)
    ways = [linkage.pose(crank=angle) for angle in (0.4, 0.5, 0.6)]
    goals = [lw.Reach("slot", position=linkage.forward(q, frame="slot")[:3, 3]) for q in ways]
    clip = lw.track(linkage, goals, fps=24, start=ways[0])
    assert_allclose(linkage.follow(clip.poses), clip.poses, atol=1e-10)
    q = ways[0]
    for _ in range(30):
        q = lw.step(linkage, goals[-1], q, dt=0.05).q
    assert_allclose(q, ways[-1], atol=1e-6)
    with pytest.raises(GoalError, match="couplings along curves"):
        lw.prepare(linkage, goals[:1])


# Outlines


def test_the_outline_of_a_cam_touches_its_roller_everywhere() -> None:
    for follower in ("translating", "oscillating"):
        linkage = lw.models.cam_follower(0.02, follower)
        outline = lw.cam_outline(linkage, "cam", "roller", roller=0.01, count=720)
        assert not outline.undercut
        for angle in (0.3, 1.7, 3.0, 5.1):
            q = linkage.pose(cam=angle)
            world = linkage.convert(outline.points, q, source="disc")
            away = np.linalg.norm(world - linkage.forward(q, frame="roller")[:3, 3], axis=1)
            assert away.min() == pytest.approx(0.01, abs=1e-5)  # touches, never intersects
    assert lw.cam_outline(lw.models.cam_follower(0.02), "cam", "roller", roller=0.2).undercut


def test_the_pressure_angle_is_that_of_the_book() -> None:
    linkage = lw.models.cam_follower(0.02)
    outline = lw.cam_outline(linkage, "cam", "roller", roller=0.01)
    curve = linkage.couplings[0].curve
    book = np.arctan(np.abs(curve.slope(outline.angles)) / (0.06 + curve.value(outline.angles)))
    assert_allclose(outline.pressure, book, atol=1e-6)


# Dwells


def test_dwells_are_singular_positions_of_what_dwells_and_of_nothing_else() -> None:
    cam = lw.models.cam_follower(0.02)
    assert lw.singular_positions(cam, "cam", start="start") == ()
    found = lw.singular_positions(cam, "follower", start="start")
    assert found.complete
    assert {one.kind for one in found} == {"dwell"}
    edges = sorted(np.degrees([one.q[0] for one in found]) % 360.0)
    assert_allclose(edges, [0.0, 120.0, 180.0, 300.0], atol=1e-2)
    wheel = lw.models.geneva(4)
    assert lw.singular_positions(wheel, "crank", start="start").complete
    turned = [math.remainder(one.q[0], 2.0 * math.pi) for one in lw.singular_positions(wheel, "wheel", start="start")]
    assert_allclose(np.abs(turned), math.pi / 4.0, atol=1e-6)
    yoke = lw.models.scotch_yoke()
    assert {one.kind for one in lw.singular_positions(yoke, "yoke", start="start")} == {"dead-centre"}
