"""Bodies of other proportions: bones keep their lengths and directions; feet that are children of the root move too."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwork as lw
from captures import recorded
from conventions import BODY, step_from
from linkwork.retargeting import recognise, retarget_with_report
from linkwork.retargeting.feet import MOST_RAISED, _raised


def figure(
    *, hips: float = 0.1, back: float = 0.0, elbow: float = 0.46, sliding: bool = False, apart: bool = False
) -> lw.Linkage:
    """Return a body in a T-pose.

    Args:
        hips: Half the width of its hips.
        back: Distance of the origin of its hips behind the hip joints.
        elbow: Position of its elbows, between shoulders at 0.18 and hands at 0.72.
        sliding: Whether every bone also translates, as in files of some capture systems.
        apart: Whether its feet are children of the root, and its legs end in nodes without a bone.
    """
    places = {role: at for role, (_, at) in BODY.items() if role[-1] not in "123"}
    for side, out in (("left", 1.0), ("right", -1.0)):
        places[f"{side}_elbow"] = (elbow * out, 0.0, 1.45)
        for part in ("hip", "knee", "ankle", "toe"):
            places[f"{side}_{part}"] = (hips * out, *places[f"{side}_{part}"][1:])
    places["hips"] = (0.0, places["hips"][1] + back, places["hips"][2])
    b = lw.Builder("figure", base="armature", root=lw.Floating())
    kind = lw.Floating() if sliding else lw.Ball()
    b.joint("hips", "hips", kind, at=places["hips"])
    for role, at in places.items():
        parent = BODY[role][0]
        if role == "hips":
            continue
        if apart and role.endswith("ankle"):
            end = f"{parent}_end"
            b.joint(end, end, lw.Fixed(), parent=parent, at=step_from(places[parent], at))
            b.joint(role, role, lw.Floating(), parent="armature", at=at)
        else:
            b.joint(role, role, kind, parent=parent, at=step_from(places[parent], at))
    return b.build()


def off(outcome, part: str) -> float:
    """Return the largest error of the directions of some limbs [degrees]."""
    return max(np.degrees(error.mean) for limb, error in outcome.report.limbs.items() if part in limb)


def test_bones_that_may_slide_keep_their_lengths():
    outcome = retarget_with_report(recorded("run"), figure(sliding=True))
    world = outcome.clip.forward()
    for role, (parent, at) in BODY.items():
        if role in outcome.target and parent:
            length = np.linalg.norm(np.subtract(at, BODY[parent][1]))
            way = world[role][:, :3, 3] - world[parent][:, :3, 3]
            assert np.linalg.norm(way, axis=1) == pytest.approx(np.full(len(way), length), abs=1e-6), role


@pytest.mark.parametrize("hips", [0.06, 0.16])
def test_thighs_point_as_the_source_s_do_whatever_the_width_of_the_hips(hips):
    outcome = retarget_with_report(recorded("run"), figure(hips=hips))
    assert off(outcome, "thigh") < 4.0
    assert outcome.report.slide < 1e-3


def test_the_trunk_points_as_the_source_s_does_wherever_the_origin_of_the_hips_is():
    assert off(retarget_with_report(recorded("run"), figure(back=0.1)), "trunk") < 3.0


def test_toes_are_raised_until_their_tips_are_on_the_ground():
    """The angle in closed form, compared with small steps; also for tips that point down or never touch."""
    rng = np.random.default_rng(5)
    tips = np.array([[0.06, -0.04, -0.02], [0.06, 0.04, -0.02], [0.05, 0.0, 0.02], [-0.01, 0.0, -0.09]])
    heights = rng.uniform(0.0, 0.08, 40)
    axes = Rotation.from_euler("ZYX", rng.uniform(-1.0, 1.0, (40, 3)) * (3.0, 0.8, 0.3)).as_matrix()
    angles = _raised(axes, tips, heights)
    small = np.linspace(0.0, MOST_RAISED, 3001)
    for turned, height, angle in zip(axes, heights, angles, strict=True):
        higher = Rotation.from_rotvec(-small[:, None] * turned[:, 1]).as_matrix() @ turned @ tips[:3].T
        out = (height + higher[:, 2] >= 0.0).all(axis=1)
        assert angle == pytest.approx(small[out.argmax()] if out.any() else MOST_RAISED, abs=1e-3)


@pytest.mark.parametrize("elbow", [0.36, 0.56])
def test_arms_point_as_the_source_s_do_whatever_the_proportions_of_their_bones(elbow):
    outcome = retarget_with_report(recorded("run"), figure(elbow=elbow))
    assert off(outcome, "arm") < 4.0
    assert outcome.report.hands < 0.01


def test_feet_that_hang_on_the_root_go_along_with_their_legs_and_lie_flat_where_they_stand():
    body = figure(apart=True)
    assert recognise(body).roles["left_ankle"] == "left_knee_end"
    outcome = retarget_with_report(recorded("walk"), body)
    world = outcome.clip.forward()
    for side in ("left", "right"):
        away = world[f"{side}_ankle"][:, :3, 3] - world[f"{side}_knee_end"][:, :3, 3]
        assert np.abs(away).max() < 1e-9
        flat = outcome.plan.feet[side].flat
        if flat.any():
            assert world[f"{side}_ankle"][flat][:, 2, 2].min() > 0.99  # its z axis is up at rest
    back = retarget_with_report(outcome.clip, figure())
    assert back.source.roles["left_ankle"] == "left_ankle"
    assert off(back, "shank") < 5.0
