"""BVH: captures compared with their rotations, written files with SciPy and bvhio, errors with their lines."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, strategies as st
from scipy.spatial.transform import Rotation

import captures
import linkwork as lw
from captures import CAPTURES
from fuzz_readers import feed
from linkages import JOINTS, one_joint, random_tree
from linkwork.errors import FormatError, OptionError
from linkwork.formats import bvh, bvh_text
from linkwork.formats.bvh_numbers import numbers
from linkwork.formats.bvh_scale import Seen, choose_unit, guess_unit, guess_up, stature
from linkwork.formats.content import Content
from linkwork.formats.options import UP, Options
from linkwork.linkage.elements import MOVING_ORDERS
from linkwork.motion.clips import Clip
from linkwork.retargeting import recognise
from rewritten import rewritten

AS_IT_IS = Options(units=1.0, up="z", positions="replace")

PLAIN = """HIERARCHY
ROOT hips
{
\tOFFSET 0 0 0
\tCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
\tJOINT knee
\t{
\t\tOFFSET 0 -90 0
\t\tCHANNELS 3 Zrotation Xrotation Yrotation
\t\tEnd Site
\t\t{
\t\t\tOFFSET 0 -80 5
\t\t}
\t}
}
MOTION
Frames: 2
Frame Time: 0.025
0 170 0 0 0 0 0 0 0
10 170.5 -2e-1 10 20 30 -40 .5 +6.25E1
"""


def put(folder: Path, text: str | bytes, name: str = "file.bvh") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def kinds(content: Content) -> list[str]:
    return [remark.kind for remark in content.remarks]


def only_clip(content: Content) -> Clip:
    (clip,) = content.clips.values()
    return clip


def places(clip: Clip, names) -> np.ndarray:
    """Return the positions of frames over a clip, shape (frames, names, 3)."""
    found = clip.forward()
    return np.stack([found[name][:, :3, 3] for name in names], axis=1)


# Captures in the dialects of capture systems


@pytest.mark.parametrize("name", CAPTURES)
@pytest.mark.parametrize("positions", ["replace", "add"])
def test_captures_are_where_their_rotations_put_them(name, positions, tmp_path):
    capture = CAPTURES[name]()
    content = bvh.read(captures.write(name, tmp_path), Options(units=1.0, up="y", positions=positions))
    linkage, clip, expected = content.linkage, only_clip(content), capture.places(positions)
    assert sorted(linkage.frames) == sorted(expected)
    assert len(clip) == len(capture.turns)
    assert np.diff(clip.times) == pytest.approx(1.0 / capture.fps, rel=1e-5)
    theirs = np.stack(list(expected.values()), axis=1)
    assert np.abs(places(clip, expected) @ UP["y"] - theirs).max() <= 1e-5 * np.abs(theirs).max()


@pytest.mark.parametrize("name", ["run", "march", "dance"])  # the root has no OFFSET, so all readers agree
def test_captures_are_where_another_reader_puts_them(name, tmp_path):
    bvhio = pytest.importorskip("bvhio")
    path = captures.write(name, tmp_path)
    clip, theirs = only_clip(bvh.read(path, Options(units=1.0, up="y"))), bvhio.readAsHierarchy(str(path))
    world = clip.forward()
    for frame in (0, 1, 40, len(clip) - 1):
        theirs.loadPose(frame, recursive=True)
        for joint, _, _ in theirs.layout():
            ours = world[joint.Name][frame, :3, 3] @ UP["y"]
            assert ours == pytest.approx(np.array(joint.PositionWorld), abs=1e-2)  # bvhio has 32 bits, in centimetres


@pytest.mark.parametrize("name", CAPTURES)
def test_captures_come_back_as_they_were(name, tmp_path):
    content = bvh.read(captures.write(name, tmp_path))
    path = tmp_path / "again" / f"{content.linkage.name}.bvh"
    path.parent.mkdir()
    remarks = bvh.write(content, path)
    again = bvh.read(path)
    assert {remark.kind for remark in remarks} <= {"units"}
    same_skeleton(again.linkage, content.linkage)
    assert only_clip(again).poses == pytest.approx(only_clip(content).poses, abs=1e-9)
    assert only_clip(again).times == pytest.approx(only_clip(content).times, abs=1e-9)


def same_skeleton(one: lw.Linkage, other: lw.Linkage) -> None:
    assert (one.name, one.links, one.frames, one.parents) == (other.name, other.links, other.frames, other.parents)
    assert [arc.articulation for arc in one.arcs] == [arc.articulation for arc in other.arcs]
    for a, b in zip((*one.arcs, *one.extra_frames), (*other.arcs, *other.extra_frames), strict=True):
        assert a.name == b.name
        assert a.placement == pytest.approx(b.placement, abs=1e-9)


# Reading


def test_a_plain_file(tmp_path):
    content = bvh.read(put(tmp_path, PLAIN))
    linkage, clip = content.linkage, only_clip(content)
    assert linkage.links == ("hips", "knee")
    assert linkage.frames == ("hips", "knee", "knee.end")
    assert linkage.coordinates[:6] == ("hips.x", "hips.y", "hips.z", "hips.rz", "hips.rx", "hips.ry")
    assert linkage.coordinates[6:] == ("knee.rz", "knee.rx", "knee.ry")
    assert list(content.clips) == ["file"]
    assert clip.times.tolist() == [0.0, 0.025]
    assert clip.poses[1, :3] == pytest.approx([0.1, 1.705, -0.002])
    assert np.degrees(clip.poses[1, 3:]) == pytest.approx([10, 20, 30, -40, 0.5, 62.5])
    assert places(clip, ["knee.end"])[0, 0] == pytest.approx([0, -0.05, 0])  # z up, and forward is -y
    assert kinds(content) == ["units", "up-axis"]
    assert "centimetres" in content.remarks[0].text
    assert bvh.read(tmp_path / "file.bvh", Options(units=0.01, up="y")).remarks == ()


VARIATIONS = {
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "CR": lambda text: text.replace("\n", "\r"),
    "byte order mark": lambda text: "\ufeff" + text,
    "no last newline": lambda text: text.rstrip(),
    "blank lines": lambda text: text.replace("\n", "\n \t\n"),
    "tabs": lambda text: text.replace(" ", "\t"),
    "trailing blanks": lambda text: text.replace("\n", "  \n"),
    "indented": lambda text: text.replace("\n", "\n   "),
    "small letters": lambda text: text.lower(),
    "braces on the line": lambda text: text.replace("\n{", " {").replace("\n\t{", " {"),
    "rows broken up": lambda text: text.replace("170 0 0", "170\n0 0"),
    "no room after the colon": lambda text: text.replace("Frames: ", "Frames:"),
}


@pytest.mark.parametrize("name", VARIATIONS)
def test_ways_of_writing_the_same(name, tmp_path):
    plain = bvh.read(put(tmp_path, PLAIN))
    varied = bvh.read(put(tmp_path, VARIATIONS[name](PLAIN)))
    assert varied.linkage == plain.linkage
    assert np.array_equal(only_clip(varied).poses, only_clip(plain).poses)
    assert varied.remarks == plain.remarks


def one_bone(channels: str, offset: str = "1 2 3") -> str:
    return f"HIERARCHY\nROOT a\n{{\nOFFSET {offset}\nCHANNELS {len(channels.split())} {channels}\n}}\n"


def motion(*rows: str) -> str:
    return f"MOTION\nFrames: {len(rows)}\nFrame Time: 0.1\n" + "\n".join(rows)


CHANNELS = {
    "": ["fixed"],
    "Xposition Yposition Zposition Zrotation Xrotation Yrotation": ["floating"],
    "Zrotation Xposition Xrotation Zposition Yposition Yrotation": ["floating"],
    "Yrotation Xrotation Zrotation": ["ball"],
    "Zrotation Xrotation Zrotation": ["ball"],
    "Zrotation Yrotation": ["universal"],
    "Yrotation": ["revolute"],
    "Yposition": ["prismatic"],
    "Yposition Xposition Zrotation": ["planar"],
    "Zposition Yrotation Xposition": ["planar"],
    "Zposition Xrotation Yposition": ["planar"],
    "Xposition Yposition Zposition": ["prismatic"] * 3,
    "Zposition Xrotation Yrotation Zrotation": ["prismatic", "ball"],
    "Xrotation Xrotation": ["revolute"] * 2,
    "Xrotation Xrotation Yrotation": ["revolute"] * 3,
    "Xrotation Yrotation Zrotation Xrotation": ["revolute"] * 4,
    "Xposition Yposition Zposition Xrotation Yrotation": ["prismatic"] * 3 + ["universal"],
}


def reference(offset, channels, row, replace: bool) -> np.ndarray:
    """The matrix of a joint by the definition of the format: positions, then one rotation after another."""
    matrix, place, turn = np.eye(4), np.array(offset, float), Rotation.identity()
    for channel, value in zip(channels, row, strict=True):
        axis = "xyz".index(channel[0].lower())
        if channel.lower().endswith("position"):
            place[axis] = value if replace else place[axis] + value
        else:
            turn = turn * Rotation.from_rotvec(np.radians(value) * np.eye(3)[axis])
    matrix[:3, :3], matrix[:3, 3] = turn.as_matrix(), place
    return matrix


@pytest.mark.parametrize("channels", CHANNELS)
@pytest.mark.parametrize("positions", ["replace", "add"])
def test_every_list_of_channels(channels, positions, tmp_path):
    names, row = channels.split(), [12.5, -30.0, 47.0, 80.0, -5.0, 120.0][: len(channels.split())]
    path = put(tmp_path, one_bone(channels) + motion(" ".join(map(str, row))))
    content = bvh.read(path, Options(units=1.0, up="z", positions=positions))
    assert [arc.articulation.kind for arc in content.linkage.arcs] == CHANNELS[channels]
    assert content.linkage.links[-1] == content.linkage.arcs[-1].name == "a"
    assert content.linkage.forward(content.linkage.neutral(), frame="a")[:3, 3].tolist() == [1, 2, 3]
    if names:
        expected = reference((1, 2, 3), names, row, positions == "replace")
        assert only_clip(content).forward(frame="a")[0] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("order", MOVING_ORDERS)
@pytest.mark.parametrize("root", [True, False])
def test_every_rotation_order(order, root, tmp_path):
    slides = ["Xposition", "Yposition", "Zposition"] if root else []
    names = [*slides, *(f"{axis}rotation" for axis in order)]
    content = bvh.read(put(tmp_path, one_bone(" ".join(names)) + motion("10 20 30 " * (len(names) // 3))), AS_IT_IS)
    expected = Rotation.from_euler(order, [10, 20, 30], degrees=True).as_matrix()
    assert only_clip(content).forward(frame="a")[0, :3, :3] == pytest.approx(expected, abs=1e-12)
    assert content.linkage.joint("a").articulation.euler == order


SIZES = {0.0: 1.0, 1.7: 1.0, 17.0: 0.1, 30.0: 0.0254 / 0.45, 68.0: 0.0254, 175.0: 0.01, 1750.0: 0.001}


@pytest.mark.parametrize("size", SIZES)
def test_units_are_guessed_and_said(size, tmp_path):
    path = put(tmp_path, PLAIN.replace("-90", str(-size)).replace("-80 5", "0 0"))
    content = bvh.read(path)
    assert content.linkage.length == pytest.approx(size * SIZES[size])
    assert f"{size:.4g}" in content.remarks[0].text
    assert bvh.read(path, Options(units=2.0)).linkage.length == pytest.approx(size * 2.0)


def test_the_up_axis_is_guessed_where_skeleton_and_root_agree_and_can_be_told(tmp_path):
    upright = PLAIN.replace("0 -90 0", "0 0 -90").replace("0 -80 5", "0 5 -80")
    moved = upright.replace("0 170 0 ", "0 0 170 ").replace("10 170.5", "10 1 170.5 0 0 0 0 0 0 #").split("#")[0]
    for text, up in ((PLAIN, "y"), (upright, "y"), (moved, "z")):
        content = bvh.read(put(tmp_path, text))
        assert content.remarks[1].text.startswith(f"The {up} axis")
        assert np.array_equal(content.linkage.root.placement[:3, :3], UP[up])
    for up, turn in UP.items():
        assert np.linalg.det(turn) == 1.0
        assert turn @ np.eye(3)["xyz".index(up)] == pytest.approx([0, 0, 1])
        told = bvh.read(put(tmp_path, PLAIN), Options(up=up))
        assert np.array_equal(told.linkage.root.placement[:3, :3], turn)


@pytest.mark.parametrize(
    ("change", "kind", "line", "frames"),
    [
        (("Frames: 2", "Frames: 5"), "frames", 17, 2),
        (("Frames: 2", "Frames: 1"), "frames", 17, 2),
        ((PLAIN[PLAIN.index("MOTION") :], ""), "frames", None, 0),
        ((PLAIN[PLAIN.index("0 170 0") :], ""), "frames", 17, 0),
        (("0.025", "0"), "frame-time", 18, 2),
        (("0.025", "-1"), "frame-time", 18, 2),
        (("OFFSET 0 0 0", "OFFSET 0 5 0"), "positions", 2, 2),
        (("knee", "hips"), "duplicate-name", 6, 2),
    ],
)
def test_oddities_are_said(change, kind, line, frames, tmp_path):
    content = bvh.read(put(tmp_path, PLAIN.replace(*change)))
    (remark,) = [remark for remark in content.remarks if remark.kind not in ("units", "up-axis")]
    assert (remark.kind, remark.line) == (kind, line)
    assert sum(map(len, content.clips.values())) == frames


def test_names_that_appear_twice_are_told_apart(tmp_path):
    limb = "JOINT end\n{\nOFFSET 0 1 0\nCHANNELS 1 Xrotation\nEnd Site\n{\nOFFSET 0 1 0\n}\n}\n"
    odd = "JOINT end_2\n{\nOFFSET 0 1 0\n}\n"
    text = f"HIERARCHY\nROOT end\n{{\nOFFSET 0 0 0\nCHANNELS 1 Xrotation\n{odd}{limb}{limb}}}\n"
    content = bvh.read(put(tmp_path, text))
    assert content.linkage.links == ("end", "end_2", "end_3", "end_4")
    assert content.linkage.frames[4:] == ("end_3.end", "end_4.end")


def test_several_roots_hang_on_one_link(tmp_path):
    bone = one_bone("Zrotation Xrotation Yrotation").removeprefix("HIERARCHY\n")
    text = "HIERARCHY\n" + bone + bone.replace("ROOT a", "ROOT b").replace("1 2 3", "4 5 6") + motion("0 " * 6)
    content = bvh.read(put(tmp_path, text), AS_IT_IS)
    assert content.linkage.links == ("origin", "a", "b")
    assert places(only_clip(content), ["a", "b"])[0].tolist() == [[1, 2, 3], [4, 5, 6]]
    assert "roots" in kinds(content)


def test_names_may_have_blanks_and_letters_of_any_script(tmp_path):
    content = bvh.read(put(tmp_path, PLAIN.replace("knee", "左 ひざ")))
    assert content.linkage.links == ("hips", "左 ひざ")


# Random skeletons

lengths = st.floats(-200, 200).map(lambda x: round(x, 4))
vectors = st.tuples(lengths, lengths, lengths)
turns = st.lists(st.sampled_from("XYZ"), max_size=4).map(lambda axes: [f"{axis}rotation" for axis in axes])
slides = st.lists(st.sampled_from("XYZ"), unique=True).map(lambda axes: [f"{axis}position" for axis in axes])
channel_lists = st.one_of(
    st.permutations(["Xrotation", "Yrotation", "Zrotation"]),
    st.permutations([f"{axis}{kind}" for axis in "XYZ" for kind in ("position", "rotation")]),
    st.tuples(turns, slides).map(lambda pair: pair[0] + pair[1]).flatmap(st.permutations),
)


@st.composite
def skeletons(draw):
    """Return bones as (parent, offset, channels, end offsets) and rows of values."""
    count = draw(st.integers(1, 6))
    bones = [
        (
            draw(st.integers(0, k - 1)) if k else -1,
            draw(vectors),
            draw(channel_lists),
            draw(st.lists(vectors, max_size=2)),
        )
        for k in range(count)
    ]
    width = sum(len(channels) for _, _, channels, _ in bones)
    rows = draw(st.lists(st.lists(lengths, min_size=width, max_size=width), min_size=1, max_size=3))
    return bones, rows


def as_text(bones, rows) -> tuple[str, list[int]]:
    """Return the text of a skeleton's file, and its bones in the order of the file."""
    lines, order = ["HIERARCHY"], []

    def add(k: int) -> None:
        _, offset, channels, ends = bones[k]
        order.append(k)
        lines.extend([f"{'JOINT' if order[1:] else 'ROOT'} bone{k}", "{", "OFFSET {} {} {}".format(*offset)])
        lines.append(f"CHANNELS {len(channels)} {' '.join(channels)}")
        for child in range(k + 1, len(bones)):
            if bones[child][0] == k:
                add(child)
        for end in ends:
            lines.append("End Site {{ OFFSET {} {} {}\n}}".format(*end))
        lines.append("}")

    add(0)
    starts = np.cumsum([0] + [len(channels) for _, _, channels, _ in bones])
    rows = [[row[c] for k in order for c in range(starts[k], starts[k + 1])] for row in rows]
    lines += ["MOTION", f"Frames: {len(rows)}", "Frame Time: 0.04", *(" ".join(map(repr, row)) for row in rows)]
    return "\n".join(lines), order


@given(skeletons())
def test_random_skeletons_are_read_right_and_come_back(tmp_path_factory, skeleton):
    bones, rows = skeleton
    folder = tmp_path_factory.mktemp("bvh")
    text, _ = as_text(bones, rows)
    content = bvh.read(put(folder, text), AS_IT_IS)
    linkage = content.linkage
    assert len(linkage.extra_frames) == sum(len(ends) for *_, ends in bones)
    if not content.clips:
        assert linkage.nq == 0
        return
    clip = only_clip(content)
    names = [f"bone{k}" for k in range(len(bones))]
    starts = np.cumsum([0] + [len(channels) for _, _, channels, _ in bones])
    found = clip.forward()
    for frame, row in enumerate(rows):
        world: list[np.ndarray] = []
        for k, (parent, offset, channels, _) in enumerate(bones):
            local = reference(offset, channels, row[starts[k] : starts[k + 1]], True)
            world.append(local if parent < 0 else world[parent] @ local)
            assert found[names[k]][frame] == pytest.approx(world[k], abs=1e-9)
    said = bvh.write(content, folder / "again.bvh")
    guessed = {remark.kind for remark in said}
    told = Options(up="y" if "up-axis" in guessed else None, positions="replace" if "positions" in guessed else None)
    again = bvh.read(folder / "again.bvh", told)
    assert places(only_clip(again), linkage.frames) == pytest.approx(places(clip, linkage.frames), abs=1e-9)


# Writing


def swing(linkage: lw.Linkage, frames: int = 12) -> Clip:
    """A motion between random poses, through angles of any size."""
    start, end = linkage.random_pose(3, 2)
    times = np.arange(frames) / 25.0
    return Clip(linkage, times, linkage.interpolate(start, end, np.linspace(0, 1, frames)))


def written(content: Content, path: Path) -> Content:
    bvh.write(content, path)
    return bvh.read(path)


def named_as_written(linkage: lw.Linkage) -> list[str]:
    return [arc.name for arc in linkage.arcs]


@pytest.mark.parametrize("name", JOINTS)
def test_every_joint_is_written_so_that_it_moves_the_same(name, tmp_path):
    linkage = one_joint(JOINTS[name])
    clip = swing(linkage)
    again = only_clip(written(Content(linkage, {"swing": clip}), tmp_path / "joint.bvh"))
    ends = [*named_as_written(linkage), "hinge.end"]
    assert places(again, ends) == pytest.approx(places(clip, [*linkage.links, "tip"]), abs=1e-9)
    assert again.times == pytest.approx(clip.times, abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_trees_of_all_joints_are_written_so_that_they_move_the_same(seed, tmp_path):
    linkage = random_tree(np.random.default_rng(seed), 25)
    clip = swing(linkage)
    again = only_clip(written(Content(linkage, {"swing": clip}), tmp_path / "tree.bvh"))
    assert places(again, named_as_written(linkage)) == pytest.approx(places(clip, linkage.links), abs=1e-9)


@pytest.mark.parametrize("linkage", [lw.models.human(), lw.models.panda(), one_joint(JOINTS["ball"])], ids=str)
def test_another_reader_shows_the_same_positions(linkage, tmp_path):
    bvhio = pytest.importorskip("bvhio")
    clip, path = swing(linkage, 5), tmp_path / "other.bvh"
    remarks = bvh.write(Content(linkage, {"swing": clip}), path)
    metres = 1.0 if any("written in metres" in remark.text for remark in remarks) else 0.01
    theirs = bvhio.readAsHierarchy(str(path))
    ours = places(clip, linkage.links)
    index = {arc.name: i for i, arc in enumerate(linkage.arcs)}
    for frame in range(len(clip)):
        theirs.loadPose(frame, recursive=True)
        joints = [joint for joint, _, _ in theirs.layout()]
        assert sorted(joint.Name for joint in joints) == sorted(index)
        for joint in joints:
            place = UP["y"] @ np.array(joint.PositionWorld) * metres
            assert place == pytest.approx(ours[frame, index[joint.Name]], abs=1e-5)  # bvhio has 32 bits


def test_quaternions_become_angles_without_jumps_even_through_gimbal_lock(tmp_path):
    """Two turns about the second of the three axes pass gimbal lock four times, twice exactly."""
    linkage = lw.Linkage([lw.Link("a"), lw.Link("b")], [lw.Joint("j", "a", "b", lw.Ball(), [0, 0, 1])])
    angles = np.radians(np.linspace(0.0, 720.0, 97))
    turned = Rotation.from_rotvec(angles[:, None] * [1, 0, 0]) * Rotation.from_rotvec([0, 0, 0.5])
    clip = Clip(linkage, np.arange(97) / 24.0, turned.as_quat(scalar_first=True))
    again = only_clip(written(Content(linkage, {"turn": clip}), tmp_path / "turn.bvh"))
    assert np.abs(np.diff(again.poses, axis=0)).max() < np.radians(7.6)
    back = UP["y"].T @ turned.as_matrix() @ UP["y"]  # in the axes of the file, which are those of its root
    assert UP["y"].T @ again.forward(frame="j")[:, :3, :3] == pytest.approx(back, abs=1e-9)


SCALES = (0.001, 0.05, 0.9, 1.8, 5.0, 7.0, 30.0, 1e4)


@pytest.mark.parametrize("scale", SCALES)
def test_the_unit_written_is_the_one_that_is_guessed(scale, tmp_path):
    assert guess_unit(scale / choose_unit(scale).metres) is choose_unit(scale)
    arm = lw.models.planar([scale / 2, scale / 2])
    again = written(Content(arm, {"swing": swing(arm)}), tmp_path / "arm.bvh")
    assert again.linkage.length == pytest.approx(arm.length, rel=1e-12)
    assert places(only_clip(again), ["j2.end"]) == pytest.approx(
        places(swing(arm), ["tip"]), rel=1e-9, abs=1e-9 * scale
    )


def test_without_a_clip_the_neutral_pose_is_written(tmp_path):
    human = lw.models.human()
    remarks = bvh.write(Content(human), tmp_path / "human.bvh")
    assert remarks[0].kind == "frames"
    clip = only_clip(bvh.read(tmp_path / "human.bvh"))
    assert len(clip) == 1
    neutral = human.forward(human.neutral())
    expected = [neutral[link][:3, 3] for link in human.links]
    assert places(clip, named_as_written(human))[0] == pytest.approx(np.array(expected), abs=1e-9)


def test_uneven_times_are_made_even_and_said(tmp_path):
    arm = lw.models.planar([1, 1])
    clip = Clip(arm, np.array([2.0, 2.1, 2.5]), np.array([[0.0, 0.0], [0.1, 0.3], [0.5, -0.5]]))
    remarks = bvh.write(Content(arm, {"uneven": clip}), tmp_path / "uneven.bvh")
    assert [remark.kind for remark in remarks[:2]] == ["dropped", "resampled"]
    again = only_clip(bvh.read(tmp_path / "uneven.bvh"))
    assert again.times == pytest.approx(np.arange(6) * 0.1)
    assert again.poses[[0, 1, 5]] == pytest.approx(clip.poses)
    assert again.poses[3] == pytest.approx([0.3, -0.1])


def seen(low, high, root) -> Seen:
    """Return the bounds of a motion from two corners, relative to the root."""
    root = np.asarray(root)
    return Seen(("trunk",) * 3, np.stack([root, root + low, root + high], axis=1), 1.5)


def test_a_beast_that_runs_along_z_does_not_stand_on_its_tail(tmp_path):
    """A running dog is long along z and moves along z, but z is only up if it also stands on the floor there."""
    low, high = np.array([-0.2, -0.6, -0.5]), np.array([0.2, 0.2, 1.0])
    run = np.linspace([0.0, 0.6, 0.0], [0.0, 0.6, 6.0], 20)
    assert guess_up(seen(low, high, run))[0] == "y"
    assert guess_up(seen(low, high, np.array([[3.0, 0.1, 0.5]])))[0] == "z"


@pytest.mark.filterwarnings("ignore:Gimbal lock")
@pytest.mark.parametrize("up", ["x", "y", "z"])
@pytest.mark.parametrize("name", ["walk", "run", "march", "dance"])
def test_what_is_up_is_told_from_head_and_feet_whatever_the_rest_pose(name, up, tmp_path):
    """The motion is rotated so that another axis points up; the rest pose still has y up."""
    capture = CAPTURES[name]()
    turn = UP[up].T @ UP["y"]  # from the axes of the old file to those of the new
    turns, positions = capture.turns.copy(), capture.positions.copy()
    turns[:, 0], positions[:, 0] = turn @ turns[:, 0], positions[:, 0] @ turn.T
    capture = replace(capture, turns=turns, positions=positions)
    path = tmp_path / "turned.bvh"
    path.write_text(capture.text(), encoding="utf-8")
    content = bvh.read(path)
    (remark,) = (remark for remark in content.remarks if remark.kind == "up-axis")
    assert remark.text.startswith(f"The {up} axis is taken to point up, since the head is above the feet")
    clip = only_clip(content)
    roles = recognise(clip.linkage).roles
    head, foot = roles["head"], roles["left_ankle"]
    assert (clip.forward(frame=head)[:, 2, 3] - clip.forward(frame=foot)[:, 2, 3]).min() > 0.8


def test_whether_positions_replace_offsets_is_told_from_the_lengths_of_bones(tmp_path):
    """Six joints in a row with all channels: if these are zero and replaced offsets, bones would have no length."""
    six = "CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation"
    head = "ROOT hips\n{\nOFFSET 0 0 0\n" + six + "\n"
    head += "".join(f"JOINT bone{k}\n{{\nOFFSET 0 0.3 0\n{six}\n" for k in range(6)) + "}" * 7 + "\n"
    for place, rule, said in (("0 0.3 0.01", "replace", "replace the"), ("0 0.01 0.01", "add", "are added to the")):
        path = put(tmp_path, "HIERARCHY\n" + head + motion("0 1 0 0 0 0" + f" {place} 0 0 0" * 6))
        content = bvh.read(path)
        assert said in next(remark.text for remark in content.remarks if remark.kind == "positions")
        told = only_clip(bvh.read(path, Options(positions=rule)))
        assert only_clip(content).forward(frame="bone5") == pytest.approx(told.forward(frame="bone5"))
        assert 1.7 < np.linalg.norm(told.forward(frame="bone5")[0, :3, 3] - told.forward(frame="hips")[0, :3, 3]) < 1.9


def test_a_skeleton_is_as_tall_whatever_it_rests_in(tmp_path):
    clip, tall = captures.recorded("run"), []
    for frame in (1, 30, 90):
        rewritten(clip, frame).save(tmp_path / "again.bvh")
        bones = bvh_text.parse(tmp_path / "again.bvh").bones
        tall.append(stature(bones, [bone.parent for bone in bones]))
    assert tall == pytest.approx(tall[:1] * 3, rel=1e-6)
    assert 160.0 < tall[0] < 190.0


def test_a_file_whose_up_axis_would_be_guessed_wrong_is_written_with_a_remark(tmp_path):
    hanging = lw.Linkage(
        [lw.Link("a"), lw.Link("b")], [lw.Joint("b", "a", "b", lw.Fixed(), [0.0, 1.0, 0.0])], root=lw.Floating("ZXY")
    )
    pose = hanging.pose({"root.y": -1.0})
    content = Content(hanging, {"still": Clip(hanging, np.array([0.0, 1.0]), np.stack([pose, pose]))})
    (remark,) = (remark for remark in bvh.write(content, tmp_path / "h.bvh") if remark.kind == "up-axis")
    assert "--up y" in remark.text
    assert bvh.read(tmp_path / "h.bvh").linkage.root.placement[:3, :3].tolist() == UP["z"].tolist()
    again = only_clip(bvh.read(tmp_path / "h.bvh", Options(up="y")))
    assert again.forward(frame="b")[:, :3, 3] == pytest.approx(content.clips["still"].forward(frame="b")[:, :3, 3])


def test_what_bvh_cannot_hold_is_said(tmp_path):
    human = lw.models.human()
    clip = swing(human)
    remarks = bvh.write(Content(human, {"one": clip}), tmp_path / "human.bvh")
    said = " ".join(remark.text for remark in remarks if remark.kind == "dropped")
    for loss in ("shapes", "limits", "named poses", "names of links", "Frames"):
        assert loss in said


def test_names_that_cannot_stand_on_a_line_are_changed_and_said(tmp_path):
    names = ["two  blanks", " {", " }", "one blank", "(", "\ud800", "\n"]
    links = [lw.Link("base"), *(lw.Link(f"l{k}") for k in range(len(names)))]
    joints = [lw.Joint(name, "base", f"l{k}", lw.Revolute("x")) for k, name in enumerate(names)]
    remarks = bvh.write(Content(lw.Linkage(links, joints)), tmp_path / "names.bvh")
    assert [remark.kind for remark in remarks].count("renamed") == 1
    expected = ("root", "two blanks", "(", ")", "one blank", "(_2", "?", "joint")
    assert bvh.read(tmp_path / "names.bvh").linkage.links == expected


# Broken and hostile files


def after(text: str, mark: str) -> str:
    return text[: text.index(mark)]


BROKEN = {
    "empty": ("", 1, "no joint"),
    "another format": ("<robot/>", 1, "begins with '<robot/>'"),
    "binary": (b"glTF\x02\x00\x00\x00", 1, "instead of HIERARCHY"),
    "not UTF-8": (PLAIN.replace("knee", "kn\xe9e").encode("latin-1"), 6, "UTF-8"),
    "no joint": ("HIERARCHY\nMOTION\nFrames: 0\nFrame Time: 1", 2, "MOTION"),
    "no brace": (PLAIN.replace("knee\n\t{", "knee"), 7, "followed by '{'"),
    "brace too many": (PLAIN.replace("MOTION", "}\nMOTION"), 16, "too many"),
    "brace without joint": (PLAIN.replace("hips\n{", "hips\n{\n{"), 4, "without ROOT, JOINT or End Site before it"),
    "brace missing": (PLAIN.replace("\t}\n}\n", "\t}\n"), 15, "'MOTION' is not"),
    "ends in the hierarchy": (after(PLAIN, "\t\tEnd"), 9, "'knee' is still open"),
    "ends in a row": (PLAIN.rstrip()[:-10], 20, "7 values, but the joints have 9"),
    "no name": (PLAIN.replace("JOINT knee", "JOINT"), 6, "without a name"),
    "root in a root": (PLAIN.replace("JOINT", "ROOT"), 6, "misplaced"),
    "joint outside": (PLAIN.replace("ROOT", "JOINT"), 2, "misplaced"),
    "no offset": (PLAIN.replace("\t\tOFFSET 0 -90 0\n", ""), 13, "'knee' has no OFFSET"),
    "two offsets": (PLAIN.replace("OFFSET 0 -90 0", "OFFSET 0 0 0\nOFFSET 0 0 0"), 9, "second OFFSET"),
    "offset of two": (PLAIN.replace("0 -90 0", "0 -90"), 8, "three numbers"),
    "offset of words": (PLAIN.replace("0 -90 0", "0 a 0"), 8, "three numbers"),
    "offset of NaN": (PLAIN.replace("0 -90 0", "0 nan 0"), 8, "three numbers"),
    "offset outside": ("HIERARCHY\nOFFSET 0 0 0", 2, "outside"),
    "channels less": (PLAIN.replace("CHANNELS 3", "CHANNELS 4"), 9, "says 4 but names 3"),
    "channels negative": (PLAIN.replace("CHANNELS 3", "CHANNELS -3"), 9, "takes a number"),
    "channels absurd": (PLAIN.replace("CHANNELS 3", "CHANNELS 99999999999999999999"), 9, "takes a number"),
    "channels without number": (PLAIN.replace("CHANNELS 3 Z", "CHANNELS Z"), 9, "takes a number"),
    "channels unknown": (PLAIN.replace("3 Zrotation", "3 Wrotation"), 9, "unknown channel 'Wrotation'"),
    "channels too many": (one_bone("Xrotation " * 13), 5, "13 channels"),
    "channels twice": (PLAIN.replace("6 Xpos", "6 Ypos"), 5, "twice"),
    "channels again": (PLAIN.replace("\t\tEnd", "CHANNELS 0\n\t\tEnd"), 10, "second CHANNELS"),
    "channels of an end": (PLAIN.replace("\t\t\tOFFSET", "CHANNELS 1 Xrotation\nOFFSET"), 12, "End Site"),
    "end in an end": (PLAIN.replace("\t\t\tOFFSET", "End Site\nOFFSET"), 12, "End Site"),
    "end outside": (PLAIN.replace("MOTION", "End Site\nMOTION"), 16, "outside"),
    "unknown word": (PLAIN.replace("\tJOINT", "\tBONE"), 6, "'BONE knee' is not"),
    "no frames": (PLAIN.replace("Frames: 2\n", ""), 16, "Frames"),
    "frames in words": (PLAIN.replace("Frames: 2", "Frames: two"), 17, "whole number"),
    "frames negative": (PLAIN.replace("Frames: 2", "Frames: -2"), 17, "whole number"),
    "frames absurd": (PLAIN.replace("Frames: 2", "Frames: 1000000000000"), 17, "more than a file can hold"),
    "frames endless": (PLAIN.replace("Frames: 2", "Frames: " + "9" * 5000), 17, "more than a file can hold"),
    "frame time in words": (PLAIN.replace("0.025", "fast"), 18, "number of seconds"),
    "frame time NaN": (PLAIN.replace("0.025", "nan"), 18, "number of seconds"),
    "word in a row": (PLAIN.replace("170.5", "17O.5"), 20, "'17O.5'"),
    "comma in a row": (PLAIN.replace("170.5", "170,5"), 20, "'170,5'"),
    "NaN in a row": (PLAIN.replace("170.5", "nan"), 20, "'nan'"),
    "infinity in a row": (PLAIN.replace("170.5", "1e999"), 20, "'1e999'"),
    "row short": (PLAIN.replace("170 0 ", "170 "), 19, "8 values, but the joints have 9"),
    "row after a blank line": (PLAIN.replace("10 170.5", "\n\n170.5"), 22, "8 values"),
    "values without channels": (one_bone("") + motion("1 2 3"), 9, "no joint has channels"),
    "coordinates of one name": (
        PLAIN.replace("knee", "hips.x").replace("3 Zrotation Xrotation Yrotation", "1 Xrotation")
        + "0 0 0",  # two rows of nine and one of three are three rows of seven
        None,
        "hips.x",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_are_refused_with_their_line(name, tmp_path):
    text, line, words = BROKEN[name]
    with pytest.raises(FormatError) as caught:
        bvh.read(put(tmp_path, text))
    assert (caught.value.line, words in str(caught.value)) == (line, True), str(caught.value)
    assert "file.bvh" in str(caught.value)


def chain(joints: int) -> str:
    inner = "".join(f"JOINT a{k}\n{{\nOFFSET 0 1 0\nCHANNELS 1 Xrotation\n" for k in range(1, joints))
    return f"HIERARCHY\nROOT a0\n{{\nOFFSET 0 1 0\nCHANNELS 1 Xrotation\n{inner}{'}' * joints}\n"


def test_a_very_long_chain_is_refused_and_a_long_one_comes_back(tmp_path):
    with pytest.raises(FormatError, match="more than 10000 joints"):
        bvh.read(put(tmp_path, chain(100_000)))
    content = bvh.read(put(tmp_path, chain(2000)))
    assert content.linkage.nq == 2000
    assert written(content, tmp_path / "file.bvh").linkage == content.linkage


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (one_bone("Xrotation") + motion("0 " * 3000), "more than 1000 values"),
        ("HIERARCHY\nROOT " + "a" * 20_000, "more than 10000 characters"),
        ("HIERARCHY\nROOT a\n{\n" + "End Site\n{\nOFFSET 0 0 0\n}\n" * 10_001, "more than 10000 end sites"),
    ],
)
def test_what_is_beyond_all_measure_is_refused(text, words, tmp_path, monkeypatch):
    monkeypatch.setattr(bvh_text, "MAX_VALUES", 1000)
    monkeypatch.setattr(bvh_text, "CHUNK", 500)
    with pytest.raises(FormatError, match=words):
        bvh.read(put(tmp_path, text))


@pytest.mark.parametrize("size", [1, 2, 3, 7, 50])
def test_numbers_are_read_whole_wherever_the_text_is_cut(size, tmp_path, monkeypatch):
    rows = np.random.default_rng(0).uniform(-1e3, 1e3, (40, 3))
    text = one_bone("Zrotation Xrotation Yrotation") + motion(*(" ".join(map(repr, row.tolist())) for row in rows))
    monkeypatch.setattr(bvh_text, "CHUNK", size)
    clip = only_clip(bvh.read(put(tmp_path, text)))
    assert clip.poses == pytest.approx(np.radians(rows), rel=1e-15)
    with pytest.raises(FormatError, match=r"file\.bvh:50: 'x'"):
        bvh.read(put(tmp_path, text + "\n x"))
    with pytest.raises(FormatError, match=r"file\.bvh:51: a frame of 2 values"):
        bvh.read(put(tmp_path, text + "\n\n 1 2"))


words = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.decimals(-1000, 1000, places=6).map(str),
    st.from_regex(r"[+-]?[0-9]{0,20}[.]?[0-9]{0,20}([eE][+-]?[0-9]{1,3})?", fullmatch=True, alphabet="0123456789+-.eE"),
    st.sampled_from(["nan", "-inf", "1_0", "1,5", "--1", "e5", "1e", ".", "0x1", "1d5", "1\0", "1\x1c2", "1.2.3"]),
)


@given(st.lists(words.filter(bool), min_size=1, max_size=20))
@example(["9007199254740993", "0.3", "1e22", "1e23", "123456789e-22", "-0"])
def test_the_compiled_reader_of_numbers_agrees_with_the_plain_one(texts):
    text = "\n".join(texts)
    plain, compiled = bvh_text._plain(text), numbers(text)
    if plain is None:
        assert compiled is None
    else:
        assert compiled is not None
        assert np.array_equal(compiled, plain, equal_nan=True)


def test_files_read_by_the_compiled_reader_are_the_same(monkeypatch, tmp_path):
    path = captures.write("dance", tmp_path)
    monkeypatch.setattr(bvh_text, "LONG", 2**40)
    plain = only_clip(bvh.read(path))
    monkeypatch.setattr(bvh_text, "LONG", 0)
    assert np.array_equal(only_clip(bvh.read(path)).poses, plain.poses)


def test_nothing_is_written_when_writing_fails(tmp_path):
    with pytest.raises(FormatError, match="cannot be written"):
        bvh.write(Content(lw.models.planar([1, 1])), tmp_path / "no folder" / "file.bvh")
    assert list(tmp_path.iterdir()) == []


pieces = st.sampled_from(
    [*PLAIN.split(" "), *PLAIN.splitlines(keepends=True), "}", "{", "\n", "nan", "-1", "1e400", "\0"]
)


@given(st.one_of(st.binary(max_size=200), st.lists(pieces, max_size=40).map(lambda parts: " ".join(parts).encode())))
@example(PLAIN.encode())
def test_anything_is_read_or_refused(tmp_path_factory, data):
    feed("bvh", data, tmp_path_factory.mktemp("any"))


@given(st.integers(0, len(PLAIN)), st.integers(0, 30), pieces)
def test_a_file_with_a_piece_changed_is_read_or_refused(tmp_path_factory, at, length, piece):
    feed("bvh", (PLAIN[:at] + piece + PLAIN[at + length :]).encode(), tmp_path_factory.mktemp("any"))


@given(st.integers(0, PLAIN.rindex(" ") - 1))
def test_a_truncated_file_is_refused_or_has_fewer_frames(tmp_path_factory, end):
    path = put(tmp_path_factory.mktemp("cut"), PLAIN[:end])
    try:
        content = bvh.read(path)
    except FormatError as error:
        line = error.line
    else:
        line = content.remarks[-1].line or 16
        assert sum(map(len, content.clips.values())) < 2
        assert "frames" in kinds(content)
    assert line is not None
    assert 1 <= line <= 20


def test_how_much_motion_is_read_is_an_option(tmp_path):
    path = tmp_path / "walk.bvh"
    lw.save(lw.models.motion("human"), path)
    clip = lw.load_clip(path)
    values = len(clip) * clip.linkage.nq
    assert len(lw.load_clip(path, max_values=values)) == len(clip)
    with pytest.raises(FormatError, match=r"more than 100 values.*--max-values"):
        lw.load_clip(path, max_values=100)
    with pytest.raises(OptionError, match="max_values is the largest number"):
        lw.load_clip(path, max_values=0)


def test_blender_gets_three_rotations_or_none(tmp_path):
    walk = lw.models.motion("human")
    for name, layout in (("own", None), ("blender", "blender")):
        walk.save(tmp_path / f"{name}.bvh", layout=layout)
    text = (tmp_path / "blender.bvh").read_text(encoding="utf-8")
    assert {line.count("rotation") for line in text.splitlines() if "CHANNELS" in line} == {0, 3}
    own, full = (lw.load_clip(tmp_path / f"{name}.bvh") for name in ("own", "blender"))
    for link in own.linkage.links:
        assert full.forward(frame=link) == pytest.approx(own.forward(frame=link), abs=1e-9)
    with pytest.raises(FormatError, match="layout 'blender' is for BVH files"):
        walk.save(tmp_path / "walk.csv", layout="blender")
