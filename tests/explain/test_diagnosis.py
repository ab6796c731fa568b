"""A table of hand-made cases, one for each diagnosis, in two and three dimensions."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linkwork as lw
from linkwork.errors import OptionError
from linkwork.explain.diagnosis import at_limits, diagnose, reach

PLANAR = lw.models.planar([15, 10, 5])
START = [math.pi / 8, math.pi / 4, math.pi / 4]
TIGHT = PLANAR.replace(joints={name: {"lower": -0.5, "upper": 0.5} for name in PLANAR.joints})
PANDA = lw.models.panda()
DOWN = np.diag([1.0, -1.0, -1.0])


def limb() -> lw.Linkage:
    """Return a spatial limb with two bones of 0.5 m: a ball joint and a revolute joint."""
    b = (
        lw.Builder("limb")
        .ball("shoulder", "upper")
        .revolute("elbow", "lower", axis="y", at=(0.5, 0, 0), limits=(0, 2.0))
    )
    return b.frame("tip", at=(0.5, 0, 0)).build()


CASES = {
    "reached, 2-D": (PLANAR, {"position": (-20, 5)}, {"start": START}, "reached", ["1 degree of freedom"]),
    "reached, 3-D": (PANDA, {"position": (0.4, 0.2, 0.5)}, {}, "reached", ["4 degrees of freedom"]),
    "too far, 2-D": (PLANAR, {"position": (-35, 5)}, {"start": START}, "out-of-reach", ["35.36 m", "30 m", "5.36 m"]),
    "too far, 3-D": (limb(), {"position": (0, 0, 1.31)}, {}, "out-of-reach", ["1.31 m from 'shoulder'", "reaches 1 m"]),
    "too near, 2-D": (lw.models.planar([10, 2, 2]), {"position": (1, 1)}, {}, "too-close", ["1.414 m", "6 m"]),
    "too near, 3-D": (
        lw.Builder("limb").ball("a", "l").ball("b", "m", at=(0.6, 0, 0)).frame("tip", at=(0.2, 0, 0)).build(),
        {"position": (0.1, 0.1, 0.1)},
        {},
        "too-close",
        ["0.1732 m", "0.4 m"],
    ),
    "out of its plane": (
        PLANAR,
        {"position": (-20, 5, 1)},
        {"start": START},
        "out-of-plane",
        ["position is 1 m away from anything the joints can reach"],
    ),
    "turned as it cannot turn": (
        lw.models.scara(),
        {"position": (0.3, 0.2, 0.1), "orientation": {"euler": ("x", [0.5])}},
        {},
        "out-of-plane",
        ["the goal's orientation is 2.64 rad away from anything the joints can reach"],
    ),
    "limits, 2-D": (TIGHT, {"position": (-20, 5)}, {}, "limits", ["Without limits the goal is reached", "0.5"]),
    "limits, 3-D": (limb(), {"position": (0.02, 0, 0)}, {}, "limits", ["elbow would be", "2"]),
    "local minimum, 3-D": (
        PANDA,
        {"position": (0.3, 0, 0.5), "orientation": DOWN},
        {"start": PANDA.random_pose(5), "method": "pseudoinverse"},
        "local-minimum",
        ["random starts reach the goal"],
    ),
    "local minimum, 2-D": (
        PLANAR.replace(
            joints={"j1": {"lower": -1, "upper": 1}, **{j: {"lower": -2.5, "upper": 2.5} for j in ("j2", "j3")}}
        ),
        {"position": (8.7, 4.9)},
        {"start": [-0.28, 0.36, -0.89], "method": "damped"},
        "local-minimum",
        ["random starts reach the goal"],
    ),
    "diverged": (
        PLANAR,
        {"position": (-20, 5)},
        {"start": START, "method": "transpose", "scale": 0.1},
        "diverged",
        ["smaller"],
    ),
    "iterations": (
        PLANAR,
        {"position": (-20, 5)},
        {"start": START, "method": "transpose", "max_iterations": 3},
        "iterations",
        ["it succeeds after", "max_iterations="],
    ),
    "time": (
        PLANAR,
        {"position": (-20, 5)},
        {"start": START, "method": "transpose", "time_budget": 1e-9},
        "time",
        ["used up its time"],
    ),
    "a step too short": (
        PLANAR,
        {"position": (-20, 5)},
        {"start": START, "method": "transpose", "scale": 1e-7},
        "iterations",
        ["it still comes nearer, but slowly", "larger scale than 1e-07"],
    ),
    "singular, 2-D": (
        PLANAR,
        {"position": (22, 0)},
        {"start": [0, 0, 0], "method": "damped"},
        "singular",
        ["the start is singular: no joint moves 'tip' along x", "singular values 33.9, 0", "'j2' at 0.3"],
    ),
    "singular, 3-D": (
        limb(),
        {"position": (0.6, 0, 0)},
        {"start": [1, 0, 0, 0, 0], "method": "damped"},
        "singular",
        ["no joint moves 'tip' along x", "'elbow' at 0.3"],
    ),
    "too near within its limits and without": (
        lw.models.scara(),
        {"position": (0, 0, 0)},
        {"method": "damped"},
        "out-of-reach",
        ["Without limits, at the closest pose the linkage is singular"],
    ),
    "over-constrained": (
        lw.models.two_link(1.0, 1.0),
        {"position": (1.0, 1.0), "orientation": {"euler": ("z", [0.3])}},
        {"method": "damped"},
        "over-constrained",
        ["3 numbers", "2"],
    ),
    "the edge of reach": (
        PANDA,
        {"position": (0.0, 0.0, -0.55)},
        {},
        "limits",
        ["beyond its limit"],
    ),
}


@pytest.mark.parametrize(("linkage", "goal", "options", "cause", "words"), CASES.values(), ids=CASES)
def test_each_cause_is_named_with_numbers(linkage, goal, options, cause, words) -> None:
    solution = lw.solve(linkage, lw.Reach("tip", **goal), **{"method": "robust", **options})
    found = diagnose(solution)
    assert found.cause == cause, found.sentence
    text = solution.explain()
    for word in words:
        assert word in text
    assert solution.success == (cause == "reached")
    assert text.startswith(found.sentence)


@pytest.mark.parametrize("method", [name for name in lw.METHODS if name not in ("inverse", "analytic", "robust")])
def test_figure_19_is_called_singular_by_every_method_that_sticks_there(method: str) -> None:
    goal = lw.Reach("tip", position=(22, 0))
    solution = lw.solve(PLANAR, goal, start=[0, 0, 0], method=method)
    if solution.success:
        assert method in ("ccd", "fabrik")
        return
    found = diagnose(solution)
    assert found.cause == "singular"
    assert_allclose(np.abs(found.evidence["direction"]), [1, 0], atol=1e-9)
    assert found.evidence["singular_values"][1] < 1e-9
    assert found.evidence["joint"] in ("j2", "j3")
    assert "bent pose" in found.advice
    assert lw.solve(PLANAR, goal, start=found.evidence["start"], method=method).success


def test_a_stretched_arm_in_space_is_called_singular() -> None:
    arm = lw.models.ur5()
    stretched = lw.solve(arm, lw.Reach("tip", position=(3, 0, 0.6)), method="damped", max_iterations=3000).q
    axes, values, _ = np.linalg.svd(arm.jacobian(stretched, "tip")[:3])
    assert values[2] < 1e-3 * values[0]
    place = arm.forward(stretched, frame="tip")[:3, 3]
    inward = -axes[:, 2] * np.sign(axes[0, 2])
    solution = lw.solve(
        arm, lw.Reach("tip", position=place + 0.25 * inward), start=stretched, method="selectively-damped"
    )
    found = diagnose(solution)
    assert found.cause == "singular"
    assert abs(found.evidence["direction"] @ inward) > 0.999
    assert found.evidence["joint"] == "elbow_joint"


def test_singular_directions_are_evidence() -> None:
    arm = lw.Builder("arm").ball("a", "l").revolute("b", "m", axis="y", at=(0.5, 0, 0)).build()
    arm = arm.replace(frames=[lw.Frame("tip", "m", (0.5, 0.2, 0))])
    solution = lw.solve(arm, lw.Reach("tip", position=(0.0, 0.0, 1.035)))
    found = diagnose(solution)
    assert found.cause == "out-of-reach"
    assert "singular" in found.sentence
    assert_allclose(np.abs(found.evidence["direction"]), [0, 0, 1], atol=0.05)
    assert found.evidence["share"] > 0.9


def test_another_start_given_as_evidence_works() -> None:
    solution = lw.solve(
        PANDA,
        lw.Reach("tip", position=(0.3, 0, 0.5), orientation=DOWN),
        start=PANDA.random_pose(5),
        method="pseudoinverse",
    )
    pose = diagnose(solution).evidence["pose"]
    assert_allclose(PANDA.forward(pose, frame="tip")[:3, 3], (0.3, 0, 0.5), atol=1e-3)


def test_a_batch_is_summed_up_and_not_diagnosed() -> None:
    many = lw.solve(PLANAR, lw.Reach("tip", position=(-35, 5)), start=PLANAR.random_pose(0, 5), method="damped")
    assert many.reason == "5 starts: 5 stalled."
    assert all("out of reach" in many[k].reason for k in range(5))
    assert many.explain().startswith(many.reason)
    with pytest.raises(OptionError, match="one solution"):
        diagnose(many)


def test_reach_bounds_hold_for_every_pose() -> None:
    for linkage in (PLANAR, PANDA, lw.models.stanford(), lw.models.ur5(), limb()):
        origin, least, most, joint = reach(linkage, "tip")
        assert joint == linkage.joints[0]
        distance = np.linalg.norm(linkage.forward(linkage.random_pose(0, 2000), frame="tip")[:, :3, 3] - origin, axis=1)
        assert distance.max() <= most + 1e-12
        assert distance.min() >= least - 1e-12
    assert reach(PLANAR, "tip")[1:3] == (0.0, 30.0)
    assert reach(lw.models.planar([10, 2, 2]), "tip")[1:3] == (6.0, 14.0)


def test_coordinates_at_their_limits_are_named() -> None:
    assert at_limits(TIGHT, np.array([0.5, 0.0, -0.5])) == ["j1 (upper 0.5)", "j3 (lower -0.5)"]


@pytest.mark.parametrize(
    ("linkage", "goal", "number", "dimension"),
    [
        (lw.models.two_link(2.0, 1.0), {"position": (1, 2)}, 2, 0),
        (lw.models.two_link(2.0, 1.0), {"position": (3, 1)}, 0, -1),
        (PLANAR, {"position": (-20, 5)}, math.inf, 1),
        (PLANAR, {"position": (-20, 5), "orientation": {"euler": ("z", [2.9])}}, 2, 0),
        (PANDA, {"position": (0.4, 0.2, 0.5)}, math.inf, 4),
        (PANDA, {"position": (0.4, 0.2, 0.5), "orientation": DOWN}, math.inf, 1),
    ],
)
def test_zero_one_many(linkage: lw.Linkage, goal: dict, number: float, dimension: int) -> None:
    count = lw.count_solutions(linkage, lw.Reach("tip", **goal))
    assert (count.number, count.dimension) == (number, dimension)
    for q in count.poses[:5]:
        world = linkage.forward(q, frame="tip")[:3, 3]
        assert_allclose(world[: len(goal["position"])], goal["position"], atol=1e-6)


def test_a_ur5_has_eight() -> None:
    arm = lw.models.ur5()
    world = arm.forward(arm.interpolate(arm.neutral(), arm.random_pose(3), 0.7), frame="tip")
    unlimited = arm.replace(
        joints={name: {"lower": -math.inf, "upper": math.inf} for name in arm.joints if arm.joint(name).articulation.nq}
    )
    count = lw.count_solutions(unlimited, lw.Reach("tip", position=world[:3, 3], orientation=world[:3, :3]), starts=512)
    assert 2 <= count.number <= 8
    assert count.number % 2 == 0


def test_that_an_arm_of_seven_joints_has_no_pose_is_proven() -> None:
    arm = lw.models.panda()
    for place, cause in (((0.75, 0.0, 0.6), "out-of-reach"), ((-0.1, 0.0, 0.2), "limits")):
        target = np.diag([1.0, -1.0, -1.0, 1.0])
        target[:3, 3] = place
        goal = lw.Reach("tip", pose=target)
        every, found = lw.solve_all(arm, goal), diagnose(lw.solve(arm, goal))
        assert every.complete
        assert len(every) == 0
        assert found.cause == cause
        assert f"No pose reaches the goal: {every.evidence}." in found.sentence


@pytest.mark.parametrize("lead", [0.0, 0.02])
def test_a_screw_without_limits_reaches_as_far_as_its_lead_says(lead: float) -> None:
    b = lw.Builder("drill").revolute("turn", "upper").joint("screw", "bit", lw.Screw("z", lead=lead), at=(0.4, 0, 0))
    _, _, farthest, _ = reach(b.frame("tip", at=(0.1, 0, 0)).build(), "tip")
    assert farthest == (0.5 if lead == 0.0 else math.inf)
