"""FBX: text files, compared with closed forms of FBX's definition of node properties."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwork as lw
from fbx_files import Node, fbx_text
from linkwork import formats
from linkwork.errors import FormatError, MissingExtraError
from linkwork.formats import child, fbx

pytest.importorskip("ufbx")

Y_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
ORDERS = ("xyz", "xzy", "yzx", "yxz", "zxy", "zyx")  # FBX's numbers 0 to 5, the first axis is applied first


def written(folder: Path, nodes: list[Node], **settings: object) -> Path:
    path = folder / "figure.fbx"
    path.write_text(fbx_text(nodes, **settings), encoding="utf-8")  # type: ignore[arg-type]
    return path


def swing(first: tuple[float, float, float], last: tuple[float, float, float]) -> dict:
    return {"Lcl Rotation": ((0.0, 1.0), (first, last))}


def leg(**knee: object) -> list[Node]:
    """Return hips at 1 m, and a knee 40 cm below them, turning about x from 0 to 90 degrees in a second."""
    return [
        Node("hips", properties={"Lcl Translation": (0, 100, 0)}),
        Node("knee", 0, {"Lcl Translation": (0, -40, 0), **knee}, swing((0, 0, 0), (90, 0, 0))),
        Node("ankle", 1, {"Lcl Translation": (0, -50, 0)}),
    ]


def test_a_skeleton_and_its_motion_are_in_metres_with_z_up(tmp_path: Path) -> None:
    content = formats.read(written(tmp_path, leg()))
    linkage, clip = content.linkage, content.clips["turn"]
    assert linkage.links == ("hips", "knee", "ankle")
    assert [type(arc.articulation).__name__ for arc in linkage.arcs] == ["Floating", "Ball", "Ball"]
    np.testing.assert_allclose(linkage.forward(linkage.neutral())["ankle"][:3, 3], [0, 0, 0.1], atol=1e-12)
    assert (len(clip), clip.times[-1]) == (31, 1.0)
    angles = np.radians(90.0) * clip.times
    expected = np.stack([0 * angles, 0.5 * np.sin(angles), 0.6 - 0.5 * np.cos(angles)], axis=1)
    np.testing.assert_allclose(linkage.forward(clip.poses)["ankle"][:, :3, 3], expected, atol=1e-6)
    assert any("y points up, 0.01 m per unit (as in the file)" in remark.text for remark in content.remarks)


def test_rotation_orders_and_pre_rotations(tmp_path: Path) -> None:
    angles, before, after = (20.0, -35.0, 50.0), (10.0, 0.0, 80.0), (0.0, 15.0, -30.0)
    around = {"RotationActive": 1, "PreRotation": before, "PostRotation": after}
    knees = [Node(name, 0, {**around, "RotationOrder": k}, swing(angles, angles)) for k, name in enumerate(ORDERS)]
    clip = lw.load_clip(written(tmp_path, [Node("hips"), *knees]))
    places = clip.linkage.forward(clip.poses[4])
    pre, post = (Rotation.from_euler("xyz", triple, degrees=True) for triple in (before, after))
    for name in ORDERS:
        turn = Rotation.from_euler(name, [angles["xyz".index(axis)] for axis in name], degrees=True)
        expected = Y_UP @ (pre * turn * post.inv()).as_matrix()
        np.testing.assert_allclose(places[name][:3, :3], expected, atol=1e-6)


def test_pivots_and_scales_of_nodes_above_move_what_is_below(tmp_path: Path) -> None:
    nodes = [
        Node("group", kind="Null", properties={"Lcl Scaling": (2, 2, 2), "Lcl Rotation": (0, 90, 0)}),
        Node("hips", 0, {"Lcl Translation": (10, 0, 0), "RotationPivot": (0, 30, 0), "Lcl Rotation": (0, 0, 90)}),
        Node("knee", 1, {"Lcl Translation": (0, 30, 0)}),
    ]
    linkage = lw.load(written(tmp_path, nodes))
    assert linkage.root.articulation.nq == 0  # the group is fixed
    places = linkage.forward(linkage.neutral())
    # About its pivot, 30 above it, hips turn by 90 degrees: to (10 + 30, 30), the knee to the pivot (10, 30).
    for link, (x, y) in {"hips": (40, 30), "knee": (10, 30)}.items():
        expected = Y_UP @ (0.02 * np.array([0.0, y, -x]))  # twice as large, x turned to -z
        np.testing.assert_allclose(places[link][:3, 3], expected, atol=1e-9)


def test_the_file_says_its_unit_and_what_points_up(tmp_path: Path) -> None:
    path = written(tmp_path, [Node("hips", properties={"Lcl Translation": (1, 2, 3)})], up="z", unit=2.54)
    linkage = lw.load(path)
    np.testing.assert_allclose(linkage.forward(linkage.neutral())["hips"][:3, 3], np.multiply(0.0254, (1, 2, 3)))
    told = lw.load(path, units=1.0, up="y")
    np.testing.assert_allclose(told.forward(told.neutral())["hips"][:3, 3], [1, -3, 2], atol=1e-9)


def test_the_bind_pose_of_a_skin_is_the_rest_pose(tmp_path: Path) -> None:
    def placed(height: float) -> np.ndarray:
        matrix = np.eye(4)
        matrix[1, 3] = height
        return matrix

    nodes = leg(**{"Lcl Rotation": (90, 0, 0)})  # without animation, the knee is bent
    for node, height in zip(nodes, (100, 60, 10), strict=True):
        node.bind = placed(height)
    content = formats.read(written(tmp_path, nodes))
    rest = content.linkage.forward(content.linkage.neutral())
    np.testing.assert_allclose(rest["ankle"][:3, 3], [0, 0, 0.1], atol=1e-9)
    assert any("the bind pose of the skin" in remark.text for remark in content.remarks)
    last = content.linkage.forward(content.clips["turn"].poses[-1])
    np.testing.assert_allclose(last["ankle"][:3, 3], [0, 0.5, 0.6], atol=1e-6)
    nodes[2].bind = placed(500)  # a skin of another body
    other = formats.read(written(tmp_path, nodes))
    assert any("another shape" in remark.text for remark in other.remarks)
    rest = other.linkage.forward(other.linkage.neutral())
    np.testing.assert_allclose(rest["ankle"][:3, 3], [0, 0.5, 0.6], atol=1e-9)


def test_a_motion_with_more_keys_than_frames_is_read_at_the_rate_of_its_keys(tmp_path: Path) -> None:
    nodes, times = leg(), np.linspace(0.0, 1.0, 121)
    nodes[1].curves = {"Lcl Rotation": (times, np.stack([40.0 * np.sin(40 * times), 0 * times, 0 * times], axis=1))}
    content = formats.read(written(tmp_path, nodes, rate=30))
    clip = content.clips["turn"]
    np.testing.assert_allclose(clip.times, times, atol=1e-9)
    assert any("120 keys per second" in remark.text for remark in content.remarks)


def test_nodes_beside_the_skeleton_are_left_out_and_names_are_given_once(tmp_path: Path) -> None:
    nodes = [*leg(), Node("shirt", kind="Mesh"), Node("toe", 2, kind="Null"), Node("knee", 2, kind="LimbNode")]
    content = formats.read(written(tmp_path, nodes))
    assert content.linkage.links == ("hips", "knee", "ankle", "toe", "knee_2")
    assert any("1 node outside the skeleton" in remark.text for remark in content.remarks)


def test_what_is_no_fbx_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "figure.fbx"
    for text, why in (
        ("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "a Git LFS pointer"),
        ("o cube\nv 0 0 0\n", "ufbx cannot read it"),
        (fbx_text([]), "no nodes"),
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(FormatError, match=why):
            lw.load(path)
    path.write_text(fbx_text([Node("hips", properties={"Lcl Translation": ("1e400", 0, 0)})]), encoding="utf-8")
    with pytest.raises(FormatError, match="not finite"):
        lw.load(path)
    with pytest.raises(FormatError, match="FBX files are read, not written"):
        lw.save(lw.models.planar([1]), path)


def test_long_motions_are_thinned_and_that_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fbx, "MAX_VALUES", 40)
    content = formats.read(written(tmp_path, leg()))
    clip = content.clips["turn"]
    np.testing.assert_allclose(clip.times, np.arange(0, 31, 3) / 30.0, atol=1e-9)
    assert [
        "10 of its 30 frames per second" in remark.text for remark in content.remarks if remark.kind == "thinned"
    ] == [True]


def test_without_ufbx_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "START", "import sys; sys.modules['ufbx'] = None\n" + child.START)
    with pytest.raises(MissingExtraError, match=r"pip install 'linkwork\[fbx\]'"):
        lw.load(written(tmp_path, leg()))
