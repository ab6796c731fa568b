"""Layers: parts of a body by name, motions that replace or add to others, also on the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwork as lw
from conventions import body_of
from linkwork.errors import KeyFrameError, LinkworkError, MappingError, MimicError, OptionError
from linkwork.retargeting import joints_of, recognise, retarget_with_report


@pytest.fixture(scope="module")
def wave() -> lw.Clip:
    return lw.models.motion("human:floating")


def still(clip: lw.Clip) -> lw.Clip:
    return lw.Clip(clip.linkage, clip.times, np.repeat(clip.poses[:1], len(clip), axis=0))


def columns(linkage: lw.Linkage, names: tuple[str, ...]) -> list[int]:
    return [k for name in names for k in range(linkage.nq)[linkage.drives[linkage.arc_index(name)].columns]]


def test_parts_are_the_joints_below_their_first_role_and_upper_and_lower_body_make_the_whole():
    human = lw.models.human(root="floating")
    moving = {arc.name for i, arc in enumerate(human.arcs) if human.drives[i].nq}
    upper, lower = joints_of(human, "upper_body"), joints_of(human, "lower_body")
    assert set(upper) | set(lower) == moving
    assert not set(upper) & set(lower)
    assert set(joints_of(human, ["arms"])) == set(joints_of(human, ["left_arm", "right_arm"]))
    assert joints_of(human, "fingers") == ("left_fingers", "right_fingers")
    assert set(joints_of(human, "left_hand")) < set(joints_of(human, "left_arm"))
    assert joints_of(human) == tuple(name for name in human.joints if name in moving and name != human.arcs[0].name)


def test_fingers_of_a_character_are_parts_and_roles_are_too():
    body = body_of("Mixamo")
    skeleton = recognise(body)
    assert set(joints_of(body, "left_fingers")) == {
        link for role, link in skeleton.fingers.items() if role.startswith("left")
    }
    assert joints_of(body, "left_elbow") == ("mixamorig:LeftForeArm",)
    assert joints_of(body, "left_elbow", ["mixamorig:Head"]) == ("mixamorig:Head", "mixamorig:LeftForeArm")


def test_animals_have_fore_and_hind_legs_and_a_tail():
    dog = lw.models.quadruped()
    assert set(joints_of(dog, "legs")) == set(joints_of(dog, ["fore_legs", "hind_legs"]))
    assert joints_of(dog, "tail") == ("tail", "tail_end")
    with pytest.raises(MappingError, match=r"no part 'arms' in 'quadruped'. It has root, trunk, head, tail"):
        joints_of(dog, "arms")


def test_a_layer_covers_its_parts_and_leaves_the_rest(wave):
    base = still(wave)
    both = lw.layer(base, wave, parts="right_arm")
    arm = columns(wave.linkage, joints_of(wave.linkage, "right_arm"))
    rest = [k for k in range(wave.linkage.nq) if k not in arm]
    assert both.poses[:, arm] == pytest.approx(wave.poses[:, arm])
    assert (both.poses[:, rest] == base.poses[:, rest]).all()


def test_a_layer_comes_and_goes_smoothly_and_begins_when_it_should(wave):
    base, over = still(wave), wave.slice(0.5, 1.5)
    both = lw.layer(base, over, parts="arms", start=0.25, fade=0.25)
    away = np.linalg.norm(both.poses - base.poses, axis=1)
    before = both.times - both.times[0]
    assert (away[(before < 0.25 - 1e-9) | (before > 1.25 + 1e-9)] == 0.0).all()
    middle = (before > 0.5) & (before < 1.0)
    arms = columns(wave.linkage, joints_of(wave.linkage, "arms"))
    assert both.poses[middle][:, arms] == pytest.approx(over.at(0.5 + before[middle] - 0.25)[:, arms])
    speed = np.abs(np.diff(both.poses, axis=0)).max() * both.fps
    assert speed < 3.0 * np.abs(np.diff(over.poses, axis=0)).max() * over.fps + 8.0
    half = lw.layer(base, wave, parts="arms", weight=0.5)
    quarter = lw.layer(base, wave, parts="arms", weight=lambda t: 0.25 + 0.0 * t)
    assert np.abs(half.poses - base.poses).max() > 1.5 * np.abs(quarter.poses - base.poses).max()


def test_additive_layers_add_turns_to_turns():
    arm = lw.Builder("arm", base="palm").ball("wrist", "hand").revolute("bend", "tip", limits=(-1.0, 1.0)).build()
    times = np.array([0.0, 1.0, 2.0])

    def clip(turns: list[list[float]], bends: list[float]) -> lw.Clip:
        quaternions = Rotation.from_rotvec(turns).as_quat(scalar_first=True)
        return lw.Clip(arm, times, np.column_stack([quaternions, bends]))

    base = clip([[0.1, 0, 0], [0.2, 0.3, 0], [0, 0, 0.5]], [0.2, 0.4, 0.9])
    over = clip([[0, 0.2, 0], [0, 0.6, 0], [0.3, 0.2, 0]], [0.1, 0.2, 0.4])
    both = lw.layer(base, over, additive=True)
    one, two = (Rotation.from_quat(c.poses[:, :4], scalar_first=True) for c in (base, over))
    wanted = one * two[0].inv() * two
    assert Rotation.from_quat(both.poses[:, :4], scalar_first=True).as_matrix() == pytest.approx(wanted.as_matrix())
    assert both.poses[:, 4] == pytest.approx([0.2, 0.5, 1.0])  # the last is clamped to its limit
    nothing = lw.layer(base, still(over), additive=True)
    assert nothing.poses == pytest.approx(base.poses)
    from_zero = lw.layer(base, over, additive=True, joints=["bend"], reference=arm.neutral())
    assert from_zero.poses[:2, 4] == pytest.approx([0.3, 0.6])
    assert (from_zero.poses[:, :4] == base.poses[:, :4]).all()


def test_retargeting_moves_parts_alone_over_another_motion(wave):
    body = lw.models.human(height=1.2, root="floating")
    walk = lw.retarget(wave.reverse(), body)
    outcome = retarget_with_report(wave, body, parts=["arms", "head"], over=walk)
    arms = columns(body, joints_of(body, ["arms", "head"]))
    rest = [k for k in range(body.nq) if k not in arms]
    assert (outcome.clip.poses[:, rest] == walk.poses[:, rest]).all()
    assert outcome.whole is not None
    assert outcome.clip.poses[:, arms] == pytest.approx(outcome.whole.poses[:, arms])
    alone = lw.retarget(wave, body, parts="arms")
    legs = columns(body, joints_of(body, "lower_body"))
    assert np.ptp(alone.poses[:, legs], axis=0).max() == 0.0


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"parts": "wings"}, MappingError, "no part 'wings' in 'human'"),
        ({"joints": ["elbow"]}, LinkworkError, "no joint 'elbow'"),
        ({"weight": 1.5}, KeyFrameError, "from 0 to 1"),
        ({"fade": 9.0}, KeyFrameError, "too short to fade"),
    ],
)
def test_wrong_layers_are_explained(wave, options, error, says):
    with pytest.raises(error, match=says):
        lw.layer(wave, wave, **options)


def test_layers_of_what_is_no_clip_or_follows_are_refused(wave):
    with pytest.raises(OptionError, match="takes two clips"):
        lw.layer(wave, wave.poses)
    with pytest.raises(OptionError, match="over= needs parts="):
        lw.retarget(wave, lw.models.human(root="floating"), over=wave)
    with pytest.raises(OptionError, match="for bodies"):
        lw.retarget(wave, lw.models.panda(), parts="arms")
    b = lw.Builder("pair", base="palm").revolute("lead", "one")
    pair = b.revolute("follow", "two", parent="palm", mimic=lw.Mimic("lead")).build()
    clip = lw.Clip(pair, [0, 1], [[0.0], [1.0]])
    with pytest.raises(MimicError, match="joint 'follow' mimics 'lead'; name that one"):
        lw.layer(clip, clip, joints=["follow"])


def test_the_commands_lay_motions_over_others(tmp_path, monkeypatch, capsys):
    from linkwork.cli.app import app

    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> dict:
        with pytest.raises(SystemExit) as done:
            app([*words, "--json"])
        assert done.value.code in (0, None), capsys.readouterr().err
        return json.loads(capsys.readouterr().out)

    shown = run("layer", "human:floating", "human:floating", "-o", "both.bvh", "--parts", "right_arm", "--fade", "0.2")
    assert shown["frames"] == 55
    assert all(name.startswith("right") for name in shown["joints"])
    run("retarget", "human:floating", "--to", "human:1.2", "-o", "arms.bvh", "--parts", "arms,head")
    assert (tmp_path / "arms.bvh").exists()
