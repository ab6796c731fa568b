"""Reading glTF: results of other programs, closed forms of the standard, and hostile files."""

from __future__ import annotations

import base64
import contextlib
import json
import struct
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.spatial.transform import Rotation, Slerp

import linkwork as lw
from gltf_files import UP, File, at, local_matrix, motion, random_node, rigged, worlds
from linkwork.errors import FormatError
from linkwork.formats import gltf
from linkwork.formats.content import Content
from linkwork.formats.options import Options
from symlinks import symlink

# Bodies in the style of exporters


@pytest.mark.parametrize("interpolation", ["STEP", "LINEAR", "CUBICSPLINE"])
@pytest.mark.parametrize("path", ["translation", "rotation", "scale"])
@pytest.mark.parametrize("name", ["figure.glb", "figure.gltf", "beside.gltf"])
def test_nodes_stand_where_the_products_of_their_matrices_put_them(name, path, interpolation, tmp_path):
    file, tracks = rigged(path, interpolation)
    content = gltf.read(file.save(tmp_path, name, buffer="figure.bin" if name == "beside.gltf" else ""))
    clip, nodes = content.clips["animation0"], file.document["nodes"]
    names = {k: node.get("name", f"node{k}") for k, node in enumerate(nodes)}
    assert set(content.linkage.links) == set(names.values())
    between = [] if interpolation == "CUBICSPLINE" else [0.1, 0.29, 0.65]  # the reader is linear between frames
    for time in (None, *between, *clip.times[::7]):
        q = content.linkage.neutral() if time is None else at(clip, time)
        frames, expected = content.linkage.forward(q), worlds(nodes, tracks, time)
        size = max(np.abs(matrix[:3, 3]).max() for matrix in expected.values())
        for k, matrix in expected.items():
            np.testing.assert_allclose(frames[names[k]][:3, 3], UP @ matrix[:3, 3], rtol=0, atol=1e-5 * size)
            axes = UP @ matrix[:3, :3] / np.linalg.norm(matrix[:3, :3], axis=0)
            if path != "scale":  # an uneven scale shears what turns below it: there is no rotation to compare
                np.testing.assert_allclose(frames[names[k]][:3, :3], axes, rtol=0, atol=1e-5)


# The standard, in closed form


def test_straight_keys_give_the_same_motion_everywhere_between_frames(tmp_path):
    turns = Rotation.random(3, random_state=1)
    file = File([{"name": "a", "children": [1]}, {"name": "b", "translation": [0, 1, 0]}])
    file.animate(
        (0, "rotation", np.array([0.0, 0.5, 2.0]), turns.as_quat(), "LINEAR"),
        (1, "translation", np.array([0.25, 1.0]), np.array([[0, 1.0, 0], [1, 2.0, 3]]), "LINEAR"),
    )
    clip = gltf.read(file.save(tmp_path)).clips["animation0"]
    assert clip.times.tolist() == [0.0, 0.25, 0.5, 1.0, 2.0]
    for time in np.linspace(0, 2, 17):
        turn = Slerp([0.0, 0.5, 2.0], turns)(time).as_matrix()
        offset = np.array([0, 1, 0]) + np.clip((time - 0.25) / 0.75, 0, 1) * np.array([1, 1, 3])
        frames = clip.linkage.forward(at(clip, time))
        np.testing.assert_allclose(frames["a"][:3, :3], UP @ turn, atol=2e-6)
        np.testing.assert_allclose(frames["b"][:3, 3], UP @ turn @ offset, atol=2e-6)


def test_steps_stay_until_the_next_key(tmp_path):
    places = np.array([[0.0, 0, 0], [1, 0, 0], [5, 0, 0]])
    file = File([{"name": "a"}]).animate((0, "translation", np.array([0.0, 1.0, 2.0]), places, "STEP"))
    clip = gltf.read(file.save(tmp_path)).clips["animation0"]
    for time, x in ((0.0, 0.0), (0.999, 0.0), (1.0, 1.0), (1.5, 1.0), (2.0, 5.0)):
        assert clip.linkage.forward(at(clip, time))["a"][0, 3] == pytest.approx(x, abs=1e-9)


def test_cubic_curves_are_hermite_splines(tmp_path):
    from scipy.interpolate import CubicHermiteSpline

    rng = np.random.default_rng(0)
    times = np.array([0.0, 0.4, 1.0])
    keys = rng.normal(size=(3, 3, 3)).astype(np.float32)
    file = File([{"name": "a"}]).animate((0, "translation", times, keys.reshape(9, 3), "CUBICSPLINE"))
    clip = gltf.read(file.save(tmp_path)).clips["animation0"]
    assert np.diff(clip.times).max() < 0.0101
    moved = clip.forward(frame="a")[:, :3, 3] @ UP  # back to y up
    for k in range(2):
        inside = (clip.times >= times[k]) & (clip.times <= times[k + 1])
        spline = CubicHermiteSpline(times[k : k + 2], keys[k : k + 2, 1], [keys[k, 2], keys[k + 1, 0]])
        np.testing.assert_allclose(moved[inside], spline(clip.times[inside]), atol=1e-5)


@pytest.mark.parametrize("kind", ["b", "B", "h", "H"])
def test_normalised_integers_are_fractions(tmp_path, kind):
    dtype = np.dtype(kind)
    quaternions = np.array([[0, 0, 0, 1], [0, 0, 0.6, 0.8]])
    file = File([{"name": "a"}])
    output = file.numbers(np.round(quaternions * np.iinfo(dtype).max).astype(dtype), normalized=True)
    file.animate((0, "rotation", np.array([0.0, 1.0]), output, "LINEAR"))
    clip = gltf.read(file.save(tmp_path)).clips["animation0"]
    turn = clip.forward(frame="a")[-1][:3, :3]
    np.testing.assert_allclose(
        turn, UP @ Rotation.from_quat(quaternions[1]).as_matrix(), atol=2.0 / np.iinfo(dtype).max
    )


def test_sparse_accessors_replace_elements(tmp_path):
    file = File([{"name": "a"}])
    sparse = {
        "count": 2,
        "indices": {"bufferView": file.view(np.array([1, 2], np.uint8)), "componentType": 5121},
        "values": {"bufferView": file.view(np.array([[1, 0, 0], [0, 0, 2]], np.float32))},
    }
    file.document["accessors"].append({"componentType": 5126, "count": 3, "type": "VEC3", "sparse": sparse})
    file.animate((0, "translation", np.array([0.0, 1.0, 2.0]), 0, "LINEAR"))
    clip = gltf.read(file.save(tmp_path)).clips["animation0"]
    np.testing.assert_allclose(clip.forward(frame="a")[:, :3, 3] @ UP, [[0, 0, 0], [1, 0, 0], [0, 0, 2]], atol=1e-12)


def test_interleaved_data_is_read_by_its_stride(tmp_path):
    rows = np.arange(8, dtype=np.float32).reshape(2, 4)  # a time, then a place
    file = File([{"name": "a"}])
    view = file.view(rows, byteStride=16)
    accessor = {"bufferView": view, "componentType": 5126, "count": 2}
    file.document["accessors"] = [accessor | {"type": "SCALAR"}, accessor | {"type": "VEC3", "byteOffset": 4}]
    sampler = {"input": 0, "output": 1}
    channel = {"sampler": 0, "target": {"node": 0, "path": "translation"}}
    file.document["animations"] = [{"samplers": [sampler], "channels": [channel]}]
    clip = gltf.read(file.save(tmp_path)).clips["animation0"]
    assert clip.times.tolist() == [0, 4]
    np.testing.assert_allclose(clip.forward(frame="a")[:, :3, 3] @ UP, rows[:, 1:], atol=1e-12)


# Nodes as links


SCALES = {"none": None, "uniform": (2, 2, 2), "mirrored": (-2, 2, 2), "turned": (-1, -1, 1), "uneven": (1, 2, 0.5)}


def test_a_mirrored_matrix_that_is_flat_is_read(tmp_path):
    flat = np.diag([1.0, 1.0, 0.0, 1.0]).ravel().tolist()
    content = gltf.read(
        File([{"name": "a", "matrix": flat, "children": [1]}, {"translation": [1, 1, 1]}]).save(tmp_path)
    )
    np.testing.assert_allclose(content.linkage.forward([])["node1"][:3, 3], UP @ [1, 1, 0], atol=1e-12)


def test_bytes_after_the_announced_end_are_said(tmp_path):
    path = File([{"name": "a"}]).save(tmp_path)
    path.write_bytes(path.read_bytes() + b"more")
    assert any(remark.kind == "length" for remark in gltf.read(path).remarks)


@pytest.mark.parametrize("as_matrix", [False, True])
@pytest.mark.parametrize("scale", SCALES.values(), ids=SCALES)
def test_scales_move_the_joints_below(tmp_path, scale, as_matrix):
    """Every joint is at the product of the file's matrices, also while joints turn."""
    rng = np.random.default_rng(5)
    nodes = [random_node(rng, scale if k in (0, 2) else None) | {"name": f"n{k}"} for k in range(5)]
    turns = Rotation.random(2, rng=rng).as_quat()
    expected = []
    for time in (None, 0, 1):
        worlds = [np.eye(4)]
        for k, node in enumerate(nodes):
            posed = node | ({"rotation": turns[time]} if k == 3 and time is not None else {})
            worlds.append(worlds[-1] @ local_matrix(posed))
        expected.append([UP @ world[:3, 3] for world in worlds[1:]])
    if as_matrix:
        nodes = [
            {"name": node["name"], "matrix": local_matrix(node).T.ravel().tolist()} if k != 3 else node
            for k, node in enumerate(nodes)
        ]
    for k in range(4):
        nodes[k]["children"] = [k + 1]
    content = gltf.read(File(nodes).animate((3, "rotation", np.array([0.0, 1.0]), turns, "LINEAR")).save(tmp_path))
    clip = content.clips["animation0"]
    for q, points in zip([content.linkage.neutral(), *clip.poses], expected, strict=True):
        frames = content.linkage.forward(q)
        np.testing.assert_allclose([frames[f"n{k}"][:3, 3] for k in range(5)], points, atol=1e-5)
    kinds = [joint.articulation.kind for joint in content.linkage.arcs]
    uneven = scale is not None and len({abs(factor) for factor in scale}) > 1
    assert kinds == ["fixed", "fixed", "fixed", "ball", "floating" if uneven else "fixed"]
    assert any(remark.kind == "scale" for remark in content.remarks) == uneven


def test_an_animated_scale_makes_the_joints_below_slide(tmp_path):
    nodes = [{"name": "a", "children": [1]}, {"name": "b", "translation": [0, 2, 0]}]
    growing = np.array([[1.0, 1, 1], [1, 3, 1]])
    content = gltf.read(File(nodes).animate((0, "scale", np.array([0.0, 1.0]), growing, "LINEAR")).save(tmp_path))
    clip = content.clips["animation0"]
    np.testing.assert_allclose(clip.forward(frame="b")[:, 2, 3], 2 + 4 * clip.times, atol=1e-6)
    assert "200.00%" in next(remark.text for remark in content.remarks if remark.kind == "scale")


def test_names_are_made_unique_and_roots_get_a_base(tmp_path):
    names = ["hand", None, "hand", "base", "node1", "hand"]
    nodes = [{"name": name} if name else {} for name in names]
    content = gltf.read(File(nodes).save(tmp_path))
    assert content.linkage.links == ("base_", "hand", "node1_2", "hand_2", "base", "node1", "hand_3")
    assert {remark.kind for remark in content.remarks} == {"base", "names", "up-axis"}
    np.testing.assert_allclose(content.linkage.root.placement[:3, :3], UP)


def test_skin_joints_are_balls_and_the_rest_pose_is_neutral(tmp_path):
    nodes = [{"name": "mesh"}, {"name": "hip", "children": [2]}, {"name": "knee", "rotation": [0.6, 0, 0, 0.8]}]
    content = gltf.read(File(nodes, skins=[{"joints": [1, 2]}], scenes=[{"nodes": [1]}]).save(tmp_path))
    assert [joint.articulation.kind for joint in content.linkage.arcs] == ["ball", "ball"]
    assert np.array_equal(content.linkage.poses["rest"], content.linkage.neutral())
    turn = content.linkage.forward(content.linkage.neutral())["knee"][:3, :3]
    np.testing.assert_allclose(turn, UP @ Rotation.from_quat([0.6, 0, 0, 0.8]).as_matrix(), atol=1e-12)


def test_what_a_file_requires_and_its_odd_size_are_said(tmp_path):
    nodes = [{"name": "a", "children": [1]}, {"name": "b", "translation": [0, 170, 0]}]
    content = gltf.read(File(nodes, extensionsRequired=["KHR_something"]).save(tmp_path))
    texts = {remark.kind: remark.text for remark in content.remarks}
    assert "KHR_something" in texts["extensions"]
    assert "170 m" in texts["units"]


def test_units_and_up_axis_can_be_told(tmp_path):
    path = File([{"name": "a", "children": [1]}, {"name": "b", "translation": [1, 2, 3]}]).save(tmp_path)
    linkage = gltf.read(path, Options(units=0.01, up="z")).linkage
    np.testing.assert_allclose(linkage.forward([])["b"][:3, 3], [0.01, 0.02, 0.03])


# Files beside the file


def with_buffer(uri: str) -> dict:
    file = File([{"name": "a"}]).animate((0, "translation", np.array([0.0, 1]), np.eye(3)[:2], "LINEAR"))
    return file.document | {"buffers": [{"byteLength": len(file.binary), "uri": uri}]}, file.binary


def test_buffers_beside_the_file_are_read(tmp_path):
    document, binary = with_buffer("my%20data/a.bin")
    (tmp_path / "my data").mkdir()
    (tmp_path / "my data" / "a.bin").write_bytes(binary)
    (tmp_path / "a.gltf").write_text("\ufeff" + json.dumps(document), encoding="utf-8")
    assert len(gltf.read(tmp_path / "a.gltf").clips["animation0"]) == 2


def test_no_buffer_outside_the_folder_is_read_unless_told(tmp_path):
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir(), outside.mkdir()
    (outside / "a.bin").touch()
    symlink(inside / "link.bin", outside / "a.bin")
    for uri in ("../out/a.bin", str(outside / "a.bin"), "link.bin", "..%2Fout%2Fa.bin"):
        document, binary = with_buffer(uri)
        (outside / "a.bin").write_bytes(binary)
        (inside / "a.gltf").write_text(json.dumps(document), encoding="utf-8")
        with pytest.raises(FormatError, match="refers to"):
            gltf.read(inside / "a.gltf")
        if not Path(uri).is_absolute():
            assert gltf.read(inside / "a.gltf", Options(folders=(outside,))).clips


@pytest.mark.parametrize("uri", ["http://example.org/a.bin", "file:///etc/passwd", "C:\\a.bin", "no.bin", "a\0b", "."])
def test_other_addresses_are_refused(tmp_path, uri):
    (tmp_path / "a.gltf").write_text(json.dumps(with_buffer(uri)[0]), encoding="utf-8")
    with pytest.raises(FormatError):
        gltf.read(tmp_path / "a.gltf")


# Hostile files


def hostile() -> dict[str, bytes]:
    good = File([{"name": "a"}]).animate((0, "translation", np.array([0.0, 1]), np.eye(3)[:2], "LINEAR"))
    glb, binary = good.glb(), base64.b64encode(good.binary).decode()

    def changed(**changes) -> bytes:
        document = json.loads(json.dumps(good.document))
        document["buffers"] = [{"byteLength": len(good.binary), "uri": f"data:;base64,{binary}"}]
        for where, value in changes.items():
            *path, last = (int(step) if step.isdigit() else step for step in where.split("__"))
            part = document
            for step in path:
                part = part[step]
            part[last] = value
        return json.dumps(document).encode()

    chain = [{"children": [k + 1]} for k in range(99_999)] + [{}]
    sampler = "animations__0__samplers__0__"
    return {
        "empty": b"",
        "magic alone": b"glTF",
        "a version that is not": b"glTF" + struct.pack("<II", 9, len(glb)) + glb[12:],
        "a length that lies": glb[:8] + struct.pack("<I", 2**32 - 1) + glb[12:],
        "a chunk that lies": glb[:12] + struct.pack("<I", 2**31) + glb[16:],
        "truncated": glb[: len(glb) // 2],
        "no JSON": glb[:16] + b"BIN\0" + glb[20:],
        "not JSON": b"{nodes: 1}",
        "an array": b"[1, 2]",
        "wrong encoding": json.dumps({"asset": {"version": "2.0"}, "nodes": [{"name": "a"}]}).encode("utf-16"),
        "NaN": b'{"asset": {"version": "2.0"}, "nodes": [{"translation": [NaN, 0, 0]}]}',
        "too large a number": b'{"asset": {"version": "2.0"}, "nodes": [{"translation": [1e999, 0, 0]}]}',
        "glTF 1": changed(asset__version="1.0"),
        "no version": changed(asset={}),
        "deep JSON": b'{"asset": {"version": "2.0"}, "extras": ' + b"[" * 10**6 + b"]" * 10**6 + b"}",
        "deep JSON that is used": b'{"asset": {"version": "2.0"}, "nodes": ' + b"[" * 10**6 + b"]" * 10**6 + b"}",
        "very many things": b'{"asset": {"version": "2.0"}, "nodes": [' + b"{}," * 10**6 + b"{}]}",
        "no nodes": changed(nodes=[]),
        "an empty scene": changed(scenes=[{}]),
        "a scene that is not": changed(scenes=[{"nodes": [0]}], scene=4),
        "a node that is not": changed(scenes=[{"nodes": [7]}]),
        "a node below itself": changed(nodes=[{"children": [1]}, {"children": [0]}], scenes=[{"nodes": [0]}]),
        "all nodes in a circle": changed(nodes=[{"children": [1]}, {"children": [0]}]),
        "a node below two": changed(nodes=[{"children": [2]}, {"children": [2]}, {}]),
        "100,000 nodes in a chain": changed(nodes=chain),
        "a quaternion of nothing": changed(nodes=[{"rotation": [0, 0, 0, 0]}]),
        "a matrix of nine": changed(nodes=[{"matrix": [1] * 9}]),
        "a matrix beyond numbers": changed(nodes=[{"matrix": [1e300] * 16}]),
        "places beyond numbers": changed(
            nodes=[{"scale": [1e200] * 3, "children": [1]}, {"translation": [1e200] * 3}], scenes=[{"nodes": [0]}]
        ),
        "children of text": changed(nodes=[{"children": "ab"}]),
        "a billion elements": changed(accessors__1__count=10**9),
        "a million million elements of nothing": changed(
            accessors__1={"componentType": 5126, "count": 10**12, "type": "VEC3"}
        ),
        "a count below nothing": changed(accessors__1__count=-1),
        "keys without values": changed(accessors__1__count=1),
        "no keys": changed(accessors__0__count=0, accessors__1__count=0),
        "values beyond the view": changed(bufferViews__1__byteLength=4),
        "a view beyond the buffer": changed(bufferViews__1__byteOffset=10**15),
        "a stride of one": changed(bufferViews__1__byteStride=1),
        "a buffer that is shorter": changed(buffers__0__byteLength=10**15),
        "not base64": changed(buffers__0__uri="data:;base64,!!"),
        "a data address without data": changed(buffers__0__uri="data:hello"),
        "no component type": changed(accessors__1__componentType=1),
        "another type": changed(accessors__1__type="VEC2"),
        "no interpolation": changed(**{sampler + "interpolation": "BEZIER"}),
        "no sampler": changed(animations__0__channels__0__sampler=9),
        "no accessor": changed(**{sampler + "input": 99}),
        "no such node moves": changed(animations__0__channels__0__target__node=9),
        "one thing moved twice": changed(animations__0__channels=good.document["animations"][0]["channels"] * 2),
        "very many channels": changed(animations__0__channels=good.document["animations"][0]["channels"] * 60_000),
        "NaN in a buffer": changed(buffers__0__uri="data:;base64," + base64.b64encode(b"\xff" * 64).decode()),
        "a sparse index beyond": changed(
            accessors__0__sparse={
                "count": 1,
                "indices": {"bufferView": 0, "componentType": 5125},
                "values": {"bufferView": 0, "byteOffset": 4},
            }
        ),
        "more sparse than there is": changed(
            accessors__0__sparse={
                "count": 9,
                "indices": {"bufferView": 0, "componentType": 5125},
                "values": {"bufferView": 0},
            }
        ),
        "sparse indices of floats": changed(
            accessors__0__sparse={
                "count": 1,
                "indices": {"bufferView": 0, "componentType": 5126},
                "values": {"bufferView": 0},
            }
        ),
        "half a letter of base64": changed(buffers__0__uri="data:;base64,A"),
        "a buffer that is nowhere": changed(buffers=[{"byteLength": 4}]),
        "a GLB without chunks": b"glTF" + struct.pack("<II", 2, 12) + b"\0" * 8,
        "a key of no rotation": changed(
            animations__0__channels__0__target__path="rotation",
            accessors__0={"componentType": 5126, "count": 2, "type": "VEC4"},
        ),
        "meshopt": changed(bufferViews__1__extensions={"EXT_meshopt_compression": {}}),
    }


HOSTILE = hostile()


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
def test_files_that_mean_harm_are_refused_with_their_name(tmp_path, data):
    path = tmp_path / "hostile.glb"
    path.write_bytes(data)
    with pytest.raises(FormatError, match=r"hostile\.glb"):
        gltf.read(path)


def test_mistakes_in_json_have_their_line(tmp_path):
    (tmp_path / "a.gltf").write_text('{"asset": {"version": "2.0"},\n "nodes": [}\n', encoding="utf-8")
    with pytest.raises(FormatError) as caught:
        gltf.read(tmp_path / "a.gltf")
    assert caught.value.line == 2


def test_key_times_that_fall_are_left_out(tmp_path):
    places = np.array([[0.0, 0, 0], [1, 0, 0], [9, 9, 9], [2, 0, 0]])
    file = File([{"name": "a"}]).animate((0, "translation", np.array([0, 1, 0.5, 2.0]), places, "LINEAR"))
    content = gltf.read(file.save(tmp_path))
    assert content.clips["animation0"].times.tolist() == [0, 1, 2]
    assert any(remark.kind == "keys" for remark in content.remarks)


def test_a_motion_that_needs_too_many_frames_is_thinned(tmp_path):
    keys = np.zeros((6, 3))
    keys[4] = 1.0
    file = File([{"name": "a"}]).animate((0, "translation", np.array([0.0, 1e9]), keys, "CUBICSPLINE"))
    content = gltf.read(file.save(tmp_path))
    assert any(remark.kind == "thinned" for remark in content.remarks)


def seeds() -> list[bytes]:
    rng = np.random.default_rng(0)
    file = File([random_node(rng, (1, 2, 1)) | {"children": [1]}, random_node(rng, None)], skins=[{"joints": [1]}])
    file.animate((0, "rotation", np.array([0.0, 1]), rng.normal(size=(6, 4)), "CUBICSPLINE"))
    file.animate((1, "translation", np.array([0.0, 1]), rng.normal(size=(2, 3)), "STEP"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "arm.glb"
        arm = lw.models.planar([1, 1])
        gltf.write(Content(arm, {"wave": motion(arm)}), path)
        return [file.glb(), path.read_bytes()]


SEEDS = seeds()
WORDS = [b"0", b"-1", b"1e999", b"99999999999", b"null", b"[]", b"{}", b'""', b"\xff", b"\0\0\0\0", b"\xff\xff\xff\x7f"]


def read_or_refused(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fuzzed.glb"
        path.write_bytes(data)
        try:
            content = gltf.read(path)
        except FormatError:
            return
        assert np.isfinite(content.linkage.arcs[-1].placement).all()
        assert all(np.isfinite(clip.poses).all() for clip in content.clips.values())


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(SEEDS),
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 8), st.sampled_from(WORDS) | st.binary(max_size=6)), max_size=6),
)
def test_mutated_bytes_are_read_or_refused(seed, edits):
    data = bytearray(seed)
    for where, length, word in edits:
        start = int(where * len(data))
        data[start : start + length] = word
    read_or_refused(bytes(data))


def places(value, path=()):
    """Yield every path into a document."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*path, key)
        yield from places(inner, (*path, key))


def parts_of(glb: bytes) -> tuple[dict, bytes]:
    size = struct.unpack("<I", glb[12:16])[0]
    return json.loads(glb[20 : 20 + size]), glb[28 + size :]


DOCUMENTS = [parts_of(seed) for seed in SEEDS]
PLACES = [sorted(places(document), key=str) for document, _ in DOCUMENTS]
ODD = [
    "0",
    "-1",
    "1",
    "2",
    "7",
    "0.5",
    "1e300",
    "-1e-300",
    "1099511627776",
    "1e30",
    "true",
    "null",
    '""',
    '"x"',
    '"VEC4"',
    '"STEP"',
    "[]",
    "{}",
    "[[]]",
    "[0,0,0]",
]


@settings(max_examples=300, deadline=None)
@given(st.integers(0, len(SEEDS) - 1), st.data())
def test_documents_with_odd_values_are_read_or_refused(which, data):
    document, binary = DOCUMENTS[which]
    document = json.loads(json.dumps(document))
    for *path, last in data.draw(st.lists(st.sampled_from(PLACES[which]), min_size=1, max_size=3)):
        odd = data.draw(st.sampled_from(ODD))
        part = document
        with contextlib.suppress(LookupError, TypeError):  # an earlier change removed the path
            for step in path:
                part = part[step]
            part[last] = json.loads(odd)
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(binary), 0x4E4942) + binary
    read_or_refused(b"glTF" + struct.pack("<II", 2, 12 + len(chunks)) + chunks)


@pytest.mark.parametrize(("quarter", "lies"), [(0.0, False), (0.5**0.5, True)])
def test_a_body_that_lies_all_the_time_is_remarked(tmp_path, quarter, lies):
    """Some programs write z up, contrary to glTF: the file is read literally, and a remark gives the remedy."""
    nodes = [{"name": "Hips", "children": [1, 2]}, {"name": "Head", "translation": [0, 0.7, 0]}]
    file = File([*nodes, {"name": "LeftFoot", "translation": [0, -0.9, 0.1]}], skins=[{"joints": [0, 1, 2]}])
    file.document["nodes"][0]["rotation"] = [quarter, 0.0, 0.0, (1.0 - quarter**2) ** 0.5]
    path = file.save(tmp_path)
    remarks = [remark.text for remark in gltf.read(path).remarks if "above the feet" in remark.text]
    assert [text.endswith("up='z' (--up z) reads it so.") for text in remarks] == [True] * lies
    assert not [remark for remark in gltf.read(path, Options(up="z")).remarks if "above the feet" in remark.text]


def test_a_head_that_moves_beside_one_that_stays_is_no_trouble(tmp_path):
    """Characters may have further heads, such as that of a helmet, whose parents do not move."""
    nodes = [{"name": "Hips", "children": [1, 2]}, {"name": "Head", "translation": [0, 0.7, 0]}]
    nodes += [{"name": "LeftFoot", "translation": [0, -0.9, 0.1]}, {"name": "Helmet_head", "translation": [0, 0.8, 0]}]
    file = File(nodes, skins=[{"joints": [0, 1, 2, 3]}])
    file.animate((0, "translation", np.array([0.0, 1.0]), np.array([[0.0, 0.9, 0.0], [0.2, 0.9, 0.0]]), "LINEAR"))
    assert not [remark for remark in gltf.read(file.save(tmp_path)).remarks if "above the feet" in remark.text]
