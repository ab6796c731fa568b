"""Four-legged bodies: roles by name and shape, a retargeted gait, and refused bodies."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from four_legs import fox, robot
from linkwork.errors import MappingError
from linkwork.retargeting import find_quadruped, read_map, recognise, retarget_with_report, write_map

LEGS = [(side, end) for end in ("fore", "hind") for side in ("left", "right")]


def walk() -> lw.Clip:
    """Return the dog's own motion, on a floating root."""
    return lw.models.motion("quadruped:floating")


def test_the_dog_the_robot_and_the_fox_have_their_roles():
    dog = find_quadruped(lw.models.quadruped())
    assert [dog.roles[role] for role in ("hips", "neck", "head", "tail")] == ["trunk", "neck", "head", "tail"]
    assert dog.missing == tuple(f"{side}_{end}_{part}" for side, end in LEGS for part in ("blade", "toe"))
    machine = find_quadruped(robot())
    assert machine.roles["left_fore_blade"] == "FL_hip"
    assert machine.roles["right_hind_lower"] == "RR_calf"
    assert 0.213 + 0.213 < machine.length("left", "fore") <= 0.213 + 0.235  # down to the lowest point of the sole
    animal = find_quadruped(fox())
    assert animal.roles["left_fore_upper"] == "LeftUpperArm"
    assert animal.roles["right_hind_toe"] == "RightToe"
    assert animal.tail == ("Tail1", "Tail2")
    assert animal.axes == pytest.approx(np.array([[-1.0, 0, 0], [0, -1, 0], [0, 0, 1]]), abs=0.1)


def test_left_is_where_it_is_in_the_world_whatever_a_mirrored_file_says():
    assert find_quadruped(fox(mirrored=True)).roles["left_hind_upper"] == "RightUpLeg"


@pytest.mark.parametrize("name", ["human", "panda", "snake:9"])
def test_what_does_not_stand_on_four_legs_is_no_quadruped(name):
    assert find_quadruped(lw.models.build(name)) is None


def test_onto_itself_is_the_identity():
    clip = walk()
    outcome = retarget_with_report(clip, clip.linkage, smooth=0)
    for link in clip.linkage.links:
        places = outcome.clip.forward(frame=link)[:, :3, 3]
        assert np.linalg.norm(places - clip.forward(frame=link)[:, :3, 3], axis=1).max() < 0.005, link
    assert outcome.report.contacts > 0
    assert outcome.report.flips == 0


@pytest.mark.parametrize("target", [robot, fox])
def test_paws_stand_where_they_are_planted_and_limits_hold(target):
    outcome = retarget_with_report(walk(), target())
    report = outcome.report
    assert report.contacts > 0
    assert report.slide < 1e-3
    assert report.hands < 0.01
    assert report.outside == report.flips == 0
    lowest = min(outcome.target.tip(*leg).over(outcome.clip.linkage, outcome.clip.poses)[:, 2].min() for leg in LEGS)
    assert lowest > -0.005


def test_bones_point_as_those_of_the_source_do():
    source, outcome = find_quadruped(walk().linkage), retarget_with_report(walk(), fox())
    apart = []
    for leg in (("left", "fore"), ("right", "fore")):
        ways = []
        for figure, clip in ((source, walk()), (outcome.target, outcome.clip)):
            ends = [figure.points(*leg)[k].over(clip.linkage, clip.poses) for k in (0, -1)]
            ways.append((ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0], axis=1, keepdims=True))
        apart.append(np.degrees(np.arccos(np.clip((ways[0] * ways[1]).sum(axis=1), -1, 1))).mean())
    assert max(apart) < 12.0


@pytest.mark.parametrize(("motion", "target"), [("human:floating", "quadruped"), ("quadruped:floating", "human")])
def test_two_legs_and_four_do_not_go_together(motion, target):
    with pytest.raises(MappingError, match=r"stands on four legs, '\w+' does not"):
        lw.retarget(lw.models.motion(motion), lw.models.build(target))


def test_six_legs_are_refused_with_their_number():
    b = lw.Builder("beetle", base="body", root=lw.Floating())
    for side, sign in (("left", 1.0), ("right", -1.0)):
        for k, x in enumerate((0.2, 0.0, -0.2)):
            b.ball(f"{side}_thigh{k}", f"{side}_thigh{k}", parent="body", at=(x, 0.1 * sign, 0))
            b.ball(f"{side}_shin{k}", f"{side}_shin{k}", at=(0, 0.2 * sign, -0.1))
    beetle = b.build()
    assert find_quadruped(beetle) is None
    with pytest.raises(MappingError, match="it has 6 legs"):
        recognise(beetle)


def test_a_map_names_parts_of_four_legs_and_wins(tmp_path):
    clip = walk()
    named = find_quadruped(clip.linkage, {"left_fore_foot": None, "neck": "head"})
    assert "left_fore_foot" not in named
    assert (named.roles["neck"], named.reasons["neck"]) == ("head", "map")
    path = tmp_path / "map.yaml"
    write_map(path, find_quadruped(clip.linkage), find_quadruped(fox()))
    assert read_map(path)["target"]["left_fore_upper"] == "LeftUpperArm"
    with pytest.raises(MappingError, match="no role 'left_wing' of a four-legged figure"):
        find_quadruped(clip.linkage, {"left_fore_foot": None, "left_wing": "neck"})
    with pytest.raises(MappingError, match="role 'left_fore_foot': no link 'paw'"):
        find_quadruped(clip.linkage, {"left_fore_foot": "paw"})
