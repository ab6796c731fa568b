"""Keys with individual interpolations, and pins: held while everything else moves, blended in and out smoothly."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import linkwork as lw
from captures import recorded
from linkwork.errors import GoalError, KeyFrameError, LinkworkError
from linkwork.motion.nearest_pose import lead, stiffness
from linkwork.solvers import Problem

ARM = lw.models.planar([15, 10, 5])
KEYS = [(0, [0.1, 0.5, 0.5]), (1, [0.9, -0.3, 0.8]), (2, [1.5, 0.5, 0.5])]
TENTH = 1e-4  # [m]: allowed error of a pin, a tenth of a millimetre


# Keys


def test_keys_say_how_to_go_on() -> None:
    keys = [lw.Key(0, [0, 0, 0], "ease-in"), lw.Key(1, [1, 1, 1], "step"), lw.Key(2, [0, 0, 0]), (3, [1, 0, 0])]
    clip = lw.interpolate(ARM, keys, fps=4, kind="linear")
    assert_allclose(clip.poses[:, 0], [0, 1 / 16, 1 / 4, 9 / 16, 1, 1, 1, 1, 0, 0.25, 0.5, 0.75, 1], atol=1e-12)


def test_a_key_takes_values_by_name_and_stored_poses() -> None:
    panda = lw.models.panda()
    clip = lw.interpolate(panda, [lw.Key(0, "ready"), lw.Key(1, {"panda_joint1": "30deg"})], fps=1)
    assert_allclose(clip.poses[0], panda.stored_pose("ready"))
    assert clip.poses[1, 0] == pytest.approx(np.radians(30))


def test_tension_of_a_key_is_heard() -> None:
    def keys(**shape: float) -> lw.Clip:
        middle = lw.Key(1, [1, 0, 0], "tcb", **shape)
        return lw.interpolate(ARM, [lw.Key(0, [0, 0, 0], "tcb"), middle, lw.Key(2, [3, 0, 0])], fps=20)

    assert np.abs(keys().poses - keys(tension=0.9).poses).max() > 1e-2
    assert np.abs(keys().poses - keys(bias=0.9).poses).max() > 1e-2


@pytest.mark.parametrize(
    ("keys", "match"),
    [
        ([(1, [0, 0, 0]), (0, [0, 0, 0])], "put them in order"),
        ([lw.Key(1, [0, 0, 0]), lw.Key(1, [1, 0, 0])], "two keys at 1 s: keep one"),
        ([], "no keys"),
        ([lw.Key(None, [0, 0, 0])], "pairs"),
    ],
)
def test_keys_out_of_order_are_refused(keys: list, match: str) -> None:
    with pytest.raises(KeyFrameError, match=match):
        lw.interpolate(ARM, keys)


@pytest.mark.parametrize("values", [{"kind": "quintic"}, {"tension": "much"}, {"bias": np.nan}, {"continuity": True}])
def test_wrong_keys_are_refused_where_they_are_made(values: dict) -> None:
    with pytest.raises(KeyFrameError):
        lw.Key(0, [0, 0, 0], **values)


# Pins


def held(clip: lw.Clip, frame: str, start: float, end: float) -> np.ndarray:
    return clip[start:end].forward(frame=frame)[:, :3, 3]


def test_a_pin_holds_while_everything_else_moves() -> None:
    goal = lw.Reach("tip", position=(10, 15))
    clip = lw.Timeline(ARM, [*KEYS, lw.Pin(0.5, 1.2, goal)]).play()
    assert np.abs(held(clip, "tip", 0.5, 1.2)[:, :2] - (10, 15)).max() < TENTH
    assert np.abs(np.diff(clip[0.5:1.2].poses, axis=0)).max() > 0.01
    assert (clip.residuals < TENTH).all()


@pytest.mark.parametrize("name", ["walk", "march"])
def test_a_hand_pinned_while_a_recorded_body_plays(name: str) -> None:
    body = recorded(name)
    hand = "LeftHand" if "LeftHand" in body.linkage.links else "LeftWrist"
    start, end = body.times[10], body.times[40]
    place = body.forward(frame=hand)[25, :3, 3]
    clip = lw.Timeline(body.linkage, [lw.Pin(start, end, lw.Reach(hand, position=place))], body=body).play()
    assert np.abs(held(clip, hand, start, end) - place).max() < TENTH
    feet = [foot for foot in body.linkage.links if "Foot" in foot or "Ankle" in foot]
    for foot in feet:  # far from the hand, the body hardly notices
        away = np.linalg.norm(clip.forward(frame=foot)[:, :3, 3] - body.forward(frame=foot)[:, :3, 3], axis=1)
        assert away.max() < 0.05
    assert np.abs(np.diff(clip[start:end].poses, axis=0)).max() > 0.003  # the body still moves
    steps = np.abs(body.linkage.difference(clip.poses[:-1], clip.poses[1:])).max()
    assert steps < 2.0 * np.abs(body.linkage.difference(body.poses[:-1], body.poses[1:])).max() + 0.1


def test_outside_its_eases_a_pin_changes_nothing() -> None:
    body = lw.interpolate(ARM, KEYS, fps=24)
    pin = lw.Pin(0.9, 1.1, lw.Reach("tip", position=(10, 15)), ease=(0.5, 0.2))
    clip = lw.Timeline(ARM, [pin], body=body).play()
    free = (body.times <= 0.4) | (body.times >= 1.3)
    assert_array_equal(clip.poses[free], body.poses[free])
    assert np.abs(clip.poses - body.poses).max() > 0.1


def test_a_pin_is_taken_up_and_let_go_without_a_corner() -> None:
    """Twice the frames halve the change of velocity between frames; a corner would keep it."""
    near = ARM.forward(KEYS[1][1], frame="tip")[:2, 3] - (2, 1)
    pin, changes = lw.Pin(0.8, 1.2, lw.Reach("tip", position=near), ease=0.4), []
    for fps in (120, 240):
        clip = lw.Timeline(ARM, [*KEYS, pin], fps=fps).play()
        changes.append(np.abs(np.diff(clip.poses, 2, axis=0)).max() * fps)
    assert changes[1] < 0.6 * changes[0]


def test_where_the_nearest_pose_jumps_the_motion_does_not() -> None:
    far = lw.Pin(0.8, 1.2, lw.Reach("tip", position=(10, 15)), ease=0.4)
    steps = [np.abs(np.diff(lw.Timeline(ARM, [*KEYS, far], fps=fps).play().poses, axis=0)).max() for fps in (60, 240)]
    assert steps[1] < 0.4 * steps[0]


def test_two_pins_hold_at_once_and_orientations_are_held_too() -> None:
    human = lw.models.human()
    walk = lw.models.motion("human")
    hands = walk.forward(frame="left_hand")[20], walk.forward(frame="right_hand")[30]
    pins = [
        lw.Pin(0.5, 1.5, lw.Reach("left_hand", orientation=hands[0])),
        lw.Pin(1.0, 2.0, lw.Reach("right_hand", position=hands[1][:3, 3])),
    ]
    clip = lw.Timeline(walk.linkage, pins, body=walk).play()
    assert_allclose(clip[0.5:1.5].forward(frame="left_hand"), np.broadcast_to(hands[0], (25, 4, 4)), atol=TENTH)
    assert np.abs(held(clip, "right_hand", 1.0, 2.0) - hands[1][:3, 3]).max() < TENTH
    assert clip.residuals.shape == (len(walk), 2)
    assert ((clip.poses >= human.lower - 1e-12) & (clip.poses <= human.upper + 1e-12)).all()


def test_a_frame_by_name_stays_where_the_body_has_it_at_the_start() -> None:
    clip = lw.Timeline(ARM, [*KEYS, lw.Pin(1.0, 1.5, "link2")]).play()
    body = lw.interpolate(ARM, KEYS)
    place = ARM.forward(body.at(1.0), frame="link2")
    assert_allclose(clip[1.0:1.5].forward(frame="link2"), np.broadcast_to(place, (13, 4, 4)), atol=1e-6)


def test_any_goal_can_be_pinned_and_may_move() -> None:
    look = lw.Pin(0.5, 1.5, lw.LookAt("tip", at=(0, 30, 0), axis="x"))
    clip = lw.Timeline(ARM, [*KEYS, look]).play()
    for world in clip[0.5:1.5].forward(frame="tip"):
        way = np.array([0, 30, 0]) - world[:3, 3]
        assert np.cross(world[:3, 0], way / np.linalg.norm(way))[2] == pytest.approx(0.0, abs=1e-6)
    moving = lw.Pin(0.5, 1.5, lambda t: lw.Reach("tip", position=(12 - 2 * t, 12 + 2 * t)))
    clip = lw.Timeline(ARM, [*KEYS, moving]).play()
    assert_allclose(held(clip, "tip", 0.5, 1.5)[:, 0], 12 - 2 * clip[0.5:1.5].times, atol=TENTH)


def test_goal_keys_are_passed_at_their_times() -> None:
    places = [(0.5, (10, 15)), (1.0, (12, 14)), (1.5, (8, 18))]
    pin = lw.Pin.through([(t, lw.Reach("tip", position=p)) for t, p in places], kind="catmull-rom")
    clip = lw.Timeline(ARM, [*KEYS, pin]).play()
    for time, place in places:
        assert_allclose(ARM.forward(clip.at(time), frame="tip")[:2, 3], place, atol=TENTH)


def test_without_pins_the_body_plays_as_it_is() -> None:
    clip = lw.Timeline(ARM, KEYS).play()
    assert_array_equal(clip.poses, lw.interpolate(ARM, KEYS).poses)
    assert clip.residuals.shape == (49, 0)
    assert clip.report().ok


def test_a_pin_out_of_reach_is_told_by_its_residuals() -> None:
    clip = lw.Timeline(ARM, [*KEYS, lw.Pin(0.5, 1.5, lw.Reach("tip", position=(40, 0)))]).play()
    assert clip.residuals[12:37].min() == pytest.approx(10.0, abs=0.2)
    assert np.isfinite(clip.poses).all()


def test_limits_are_kept_under_pins() -> None:
    panda = lw.models.panda()
    ready = panda.stored_pose("ready")
    far = lw.Reach("tip", position=(-0.5, 0.4, 0.5))
    clip = lw.Timeline(panda, [(0, ready), (2, ready), lw.Pin(0.8, 1.2, far, ease=0.6)]).play()
    assert ((clip.poses >= panda.lower) & (clip.poses <= panda.upper)).all()
    assert np.abs(held(clip, "tip", 0.8, 1.2) - (-0.5, 0.4, 0.5)).max() < TENTH


@pytest.mark.parametrize(
    "call",
    [
        lambda: lw.Pin(1, 0, "tip"),
        lambda: lw.Pin(0, np.nan, "tip"),
        lambda: lw.Pin(0, 1, 5),
        lambda: lw.Pin(0, 1, "tip", ease=-1),
        lambda: lw.Pin("a", 1, "tip"),
        lambda: lw.Timeline(ARM, []),
        lambda: lw.Timeline(ARM, [*KEYS, lw.Pin(5, 6, "tip")]),
        lambda: lw.Timeline(ARM, [*KEYS, lw.Pin(0, 1, "nose")]).play(),
        lambda: lw.Timeline(ARM, [*KEYS, lw.Pin(0, 1, lambda t: t)]).play(),
        lambda: lw.Timeline(ARM, KEYS, body=lw.interpolate(ARM, KEYS)),
        lambda: lw.Timeline(ARM, [], body=lw.models.motion("panda")),
        lambda: lw.Timeline(ARM, KEYS, stiff={"j9": 2}),
        lambda: lw.Timeline(ARM, KEYS, stiff={"j1": 0}),
        lambda: lw.Pin.through([]),
        lambda: lw.Pin.through([1, 2]),
        lambda: lw.Pin.through([(0, lw.Reach("tip", position=(1, 2))), (1, lw.Reach("link1", position=(1, 2)))]),
        lambda: lw.Pin.through([(1, lw.Reach("tip", position=(1, 2))), (0, lw.Reach("tip", position=(1, 2)))]),
    ],
)
def test_wrong_pins_and_timelines_are_refused(call) -> None:
    with pytest.raises(LinkworkError):
        call()


def test_pins_of_other_things_say_so() -> None:
    with pytest.raises(GoalError, match="a frame by name"):
        lw.Pin(0, 1, 5)
    with pytest.raises(KeyFrameError, match="outside the motion, 0 to 2 s"):
        lw.Timeline(ARM, [*KEYS, lw.Pin(5, 6, "tip")])


# The nearest pose


def test_the_pose_led_to_a_goal_is_the_nearest_that_meets_it() -> None:
    base = np.array([0.3, 0.6, 0.4])
    problem = Problem(ARM, lw.Reach("tip", position=(10, 15)), base)
    found = lead(problem, base, base, stiffness(ARM), precision=1e-9)
    assert_allclose(ARM.forward(found, frame="tip")[:2, 3], (10, 15), atol=1e-7)
    slack = np.linalg.svd(ARM.jacobian(found, "tip")[:2])[2][-1]  # the direction that keeps the goal
    firm = stiffness(ARM)
    assert firm.tolist() == [3, 2, 1]  # the links that each joint carries
    assert abs((slack * firm**2) @ (found - base)) < 1e-5
