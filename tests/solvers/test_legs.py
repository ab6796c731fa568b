"""Parallel robots in batches: legs solved separately, closed loops, and agreement with closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.errors import GoalError
from linkwork.goals import closings
from linkwork.solvers import legs
from linkwork.solvers.leg_paths import legs_of
from linkwork.solvers.platform_form import form_of, platform_form


def gap(linkage: lw.Linkage, q: np.ndarray) -> float:
    return max(float(np.abs(goal.error(linkage, q)).max()) for goal in closings(linkage))


def test_arms_of_a_delta_are_those_of_the_closed_form() -> None:
    b, p, a, r = 0.2, 0.06, 0.22, 0.5
    robot, rng = lw.models.delta(b, p, a, r), np.random.default_rng(0)
    places = rng.uniform((-0.12, -0.12, -0.55), (0.12, 0.12, -0.4), (300, 3))
    batch = lw.solve_batch(robot, "platform", places, orientation=False, start="ready")
    assert batch.success.all()
    assert gap(robot, batch.q) < 1e-9
    for k in range(3):  # the elbow: intersection of the arm's circle and the rod's sphere
        turn = Rotation.from_rotvec([0, 0, -2 * np.pi * k / 3]).as_matrix()
        x, y, z = (places @ turn.T + [p - b, 0, 0]).T
        reach = np.hypot(x, z)
        bend = np.arccos((x**2 + y**2 + z**2 + a**2 - r**2) / (2 * a * reach))
        known = np.arctan2(-z, x) - bend  # the elbow outside
        assert_allclose(batch.q[:, robot.coordinates.index(f"arm{k + 1}")], known, atol=1e-8)


def test_legs_of_a_stewart_platform_are_as_long_as_they_must_be() -> None:
    robot, rng = lw.models.stewart(), np.random.default_rng(1)
    ready = robot.stored_pose("ready")
    home = robot.forward(ready, frame="platform")
    targets = np.repeat(home[None], 200, axis=0)
    targets[:, :3, 3] += rng.uniform(-0.08, 0.08, (200, 3))
    targets[:, :3, :3] = Rotation.from_rotvec(rng.uniform(-0.2, 0.2, (200, 3))).as_matrix()
    batch = lw.solve_batch(robot, "platform", targets)
    assert batch.success.all()
    assert gap(robot, batch.q) < 1e-9
    for k in range(1, 7):
        head = np.linalg.inv(home) @ robot.forward(ready, frame=f"joint{k}")[:, 3]
        foot = robot.forward(ready, frame=f"foot{k}")[:3, 3]
        known = np.linalg.norm((targets @ head)[:, :3] - foot, axis=1)
        assert_allclose(batch.q[:, robot.coordinates.index(f"leg{k}")], known, atol=1e-9)


def test_both_cranks_of_a_five_bar_are_found_and_its_two_ways_forward() -> None:
    robot = lw.models.five_bar()
    batch = lw.solve_batch(robot, "tip", [[0.15, 0.4, 0.0], [0.05, 0.45, 0.0]], orientation=False, start="ready")
    assert batch.success.all()
    assert_allclose(robot.forward(batch.q, frame="right_end")[:, :2, 3], [[0.15, 0.4], [0.05, 0.45]], atol=1e-9)
    ways = lw.assemble(robot, start="ready", keep=("left", "right"))
    tips = robot.forward(ways.poses, frame="tip")[:, :2, 3]
    assert len(ways) == 2
    assert_allclose(np.linalg.norm(tips[0] - tips[1]) > 0.1, True)


def test_what_is_out_of_reach_is_no_success() -> None:
    robot = lw.models.delta()
    batch = lw.solve_batch(robot, "platform", [[0.0, 0.0, -0.5], [0.6, 0.0, -0.2]], orientation=False)
    assert batch.success.tolist() == [True, False]


def test_other_loops_are_refused_with_the_reason() -> None:
    leg = lw.models.jansen_leg()
    assert isinstance(legs_of(leg, "foot"), str)
    with pytest.raises(GoalError, match=r"cannot close the loops .* not a platform on independent legs: .*`solve`"):
        lw.solve_batch(leg, "foot", [[0.0, 0.0, 0.0]], orientation=False)


# Closed forms


def oblique(seed: int) -> tuple[lw.Linkage, np.ndarray]:
    """Return a platform on three oblique prismatic joints, with legs of randomly oriented joints, and a closed pose.

    The legs are a rod, a telescope and a rod.
    """
    rng = np.random.default_rng(seed)
    b, values = lw.Builder("oblique", base="ground"), {}
    for k, axis in enumerate(np.linalg.qr(rng.normal(size=(3, 3)))[0] + 0.1):
        b.prismatic(f"slide{k}", f"carriage{k}", axis=axis, limits=(-2, 2))
    for k, kinds in enumerate(("rrr", "rrp", "rrr")):
        b.continuous(f"a{k}", f"A{k}", parent="ground", axis=rng.normal(size=3), at=rng.normal(size=3))
        b.continuous(f"b{k}", f"B{k}", axis=rng.normal(size=3), at=(0, 0, 0) if kinds == "rrp" else rng.normal(size=3))
        if kinds == "rrr":
            b.continuous(f"c{k}", f"C{k}", axis=rng.normal(size=3)).frame(f"end{k}", at=rng.normal(size=3))
        else:
            b.prismatic(f"c{k}", f"C{k}", axis=rng.normal(size=3), limits=(-5, 5)).frame(
                f"end{k}", at=rng.normal(size=3)
            )
        values |= {f"{letter}{k}": rng.uniform(0.3, 1.2) for letter in "abc"}
    tree = b.build()
    at = tree.forward(tree.pose(values))
    for k in range(3):
        b.frame(f"joint{k}", link="carriage2", at=at[f"end{k}"][:3, 3] - at["carriage2"][:3, 3])
        b.loop(f"loop{k}", f"end{k}", f"joint{k}")
    robot = b.build()
    return robot, robot.pose(values)


@pytest.mark.parametrize("seed", range(6))
def test_legs_whose_joints_point_anywhere_have_closed_forms(seed: int) -> None:
    robot, home = oblique(seed)
    form = platform_form(robot, "carriage2", legs_of(robot, "carriage2"))
    assert not isinstance(form, str), form
    legs_alone = [robot.jacobian(home, f"end{k}")[:3, 3 + 3 * k : 6 + 3 * k] for k in range(3)]
    reach = 0.05 * min(np.linalg.svd(leg, compute_uv=False).min() for leg in legs_alone) ** 2  # some legs are stretched
    near = np.random.default_rng(seed).uniform(-reach, reach, (20, 3)) + robot.forward(home, frame="carriage2")[:3, 3]
    q, errors, reached = form.solve(near, home[None], (1e-10, 1e-10), 1)
    assert gap(robot, home) < 1e-12
    assert reached.all(), errors
    assert gap(robot, q) < 1e-12
    assert_allclose(robot.forward(q, frame="carriage2")[:, :3, 3], near, atol=1e-12)
    assert np.abs(q - home).max() < 0.2  # the nearby solution


def test_a_stewart_platform_and_a_five_bar_need_no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = []
    searched = legs._searched
    monkeypatch.setattr(legs, "_searched", lambda *a: counts.append(len(a[3])) or searched(*a))
    bar, six = lw.models.five_bar(), lw.models.stewart()
    home = six.forward(six.stored_pose("tilted"), frame="platform")
    assert lw.solve_batch(bar, "tip", [[0.15, 0.4, 0.0]], orientation=False, start="ready")
    assert lw.solve_batch(six, "platform", home[None], start="ready")
    assert counts == [0, 0]
    turned = home.copy()
    turned[:3, :3] *= 2.0  # not a rigid transform
    assert lw.solve_batch(six, "platform", np.stack([home, turned])).status.tolist() == ["reached", "invalid"]


@pytest.mark.parametrize("start", [None, "ready"])
def test_closed_forms_agree_with_the_search_leg_by_leg(start: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    robot, rng = lw.models.delta(), np.random.default_rng(2)
    places = rng.uniform((-0.2, -0.2, -0.6), (0.2, 0.2, -0.3), (60, 3))
    form = lw.solve_batch(robot, "platform", places, orientation=False, start=start)
    monkeypatch.setattr(legs, "form_of", lambda *_: "not now")
    searched = lw.solve_batch(lw.models.delta(), "platform", places, orientation=False, start=start)
    assert_allclose(form.success, searched.success)
    assert form.status.tolist() == searched.status.tolist()
    assert gap(robot, form.q[form.success]) < 1e-12
    if start is not None:
        assert_allclose(form.q[form.success], searched.q[form.success], atol=1e-6)


def test_a_tracked_platform_keeps_its_mode() -> None:
    robot = lw.models.five_bar()
    around = [(0.15 + 0.1 * np.cos(t), 0.35 + 0.1 * np.sin(t), 0.0) for t in np.linspace(0.0, 2.0 * np.pi, 25)]
    begin = lw.solve_batch(robot, "tip", around[:1], orientation=False, start="ready").q[0]
    clip = lw.track(robot, [lw.Reach("tip", position=place) for place in around], start=begin)
    form = form_of(robot, "tip")
    assert not isinstance(form, str)
    modes = [form.modes_at(q).tolist() for q in clip.poses]
    assert modes == [modes[0]] * len(around)
    assert gap(robot, clip.poses) < 1e-9


# All solutions


def test_all_forty_postures_of_dietmaiers_platform_are_found() -> None:
    """P. Dietmaier, The Stewart-Gough platform of general geometry can have 40 real postures (1998): its numbers."""
    feet = np.reshape(
        [0, 0, 0, 1.107915, 0, 0, 0.549094, 0.756063, 0, 0.735077, -0.223935, 0.525991,
         0.514188, -0.526063, -0.368418, 0.590473, 0.094733, -0.205018], (6, 3)
    )  # fmt: skip
    heads = np.reshape(
        [0, 0, 0, 0.542805, 0, 0, 0.956919, -0.528915, 0, 0.665885, -0.353482, 1.402538,
         0.478359, 1.158742, 0.107672, -0.137087, -0.235121, 0.353913], (6, 3)
    )  # fmt: skip
    legs_long = [1, 0.645275, 1.086284, 1.503439, 1.281933, 0.771071]
    b = lw.Builder("dietmaier", base="base").floating("platform", "platform")
    for k, (foot, head) in enumerate(zip(feet, heads, strict=True)):
        b.frame(f"head{k}", link="platform", at=head)
        b.continuous(f"turn{k}", f"foot{k}", parent="base", axis="x", at=foot)
        b.revolute(f"tilt{k}", f"shin{k}", axis="y", limits=("-90deg", "90deg"))  # avoids 64 copies of every posture
        b.prismatic(f"leg{k}", f"leg{k}", axis="z", limits=(0.1, 3)).frame(f"end{k}").loop(
            f"l{k}", f"end{k}", f"head{k}"
        )
    robot, names = b.build(), [f"leg{k}" for k in range(6)]
    ways = lw.assemble(robot, start=robot.pose(dict(zip(names, legs_long, strict=True))), keep=names, most=40)
    places = robot.forward(ways.poses, frame="platform").reshape(-1, 16)
    assert len(ways) == 40
    assert (np.abs(places[:, None] - places).max(axis=-1) + np.eye(40)).min() > 1e-3
    reach = robot.forward(ways.poses, frame="platform")[:, :3, :3] @ heads.T + places.reshape(-1, 4, 4)[:, :3, 3:]
    assert_allclose(np.linalg.norm(reach - feet.T, axis=1), np.broadcast_to(legs_long, (40, 6)), atol=1e-9)


@pytest.mark.parametrize(("name", "within", "ever"), [("delta", 1, 64), ("five_bar", 4, 4), ("oblique", None, None)])
def test_the_solutions_of_legs_are_multiplied(name: str, within: int | None, ever: int | None) -> None:
    """A Delta has elbows in or out, and flipped rods; a five-bar has each elbow left or right."""
    robot, home = oblique(1) if name == "oblique" else (getattr(lw.models, name)(), "aside")
    frame = {"delta": "platform", "five_bar": "tip", "oblique": "carriage2"}[name]
    goal = lw.Reach(frame, position=robot.forward(home, frame=frame)[:3, 3])
    found, every = lw.solve_all(robot, goal), lw.solve_all(robot, goal, limits="ignore")
    assert found.complete
    assert every.complete
    if within is not None:
        assert (len(found), len(every)) == (within, ever)
    assert len(every) >= len(found) > 0
    assert gap(robot, every.q) < 1e-12
    apart = np.abs(every.q[:, None] - every.q).max(axis=-1) + np.eye(len(every))
    assert apart.min() > 0.01
    for seed in range(8):  # all results of searches are among them
        solution = lw.solve(robot, goal, start=robot.random_pose(seed))
        away = [np.abs(robot.difference(one, solution.q)).max() for one in every.q]
        assert min(away) < 1e-2 or not solution, away


def test_what_no_leg_reaches_is_proven_and_said() -> None:
    robot = lw.models.delta()
    none = lw.solve_all(robot, lw.Reach("platform", position=(0.6, 0.0, -0.45)))
    assert len(none) == 0
    assert none.complete
    assert none.evidence is not None
    assert none.evidence == "out of reach of the path of 'arm2', 0.161 m at the nearest"
    beyond = lw.solve_all(robot, lw.Reach("platform", position=(0.0, 0.0, 0.45)))
    assert (len(beyond), beyond.evidence) == (0, "its legs reach, but only beyond limits")
    with pytest.raises(GoalError, match=r"'foot' of 'jansen.* is not one: loop .* lw.assemble"):
        lw.solve_all(lw.models.jansen_leg(), lw.Reach("foot", position=(0, 0, 0)))
