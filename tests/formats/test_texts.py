"""Robot descriptions as text: the same as from a file, for every format; and texts passed as file names."""

from __future__ import annotations

import contextlib
import logging
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

import linkwork as lw
from fbx_files import Node, fbx_text
from linkwork.errors import FormatError, LinkworkError, OptionError
from linkwork.formats import FORMATS, atomic_files
from linkwork.formats.texts import guessed_kind

MJCF = """<mujoco model="arm"><worldbody><body name="upper"><joint name="j1" type="hinge" axis="0 0 1"/>
<geom type="capsule" size=".02" fromto="0 0 0 .3 0 0"/></body></worldbody></mujoco>"""
URDF = """<?xml version="1.0"?>
<robot name="arm">
  <link name="base"><visual><geometry><mesh filename="{mesh}"/></geometry></visual></link>
  <link name="upper"/>
  <joint name="j1" type="revolute">
    <parent link="base"/><child link="upper"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="2"/>
  </joint>
</robot>
"""
TRIANGLE = (
    "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid"
)
NEEDS = {".usd": "pxr", ".usda": "pxr", ".usdc": "pxr", ".xml": "mujoco", ".parquet": "pyarrow", ".fbx": "ufbx"}
formats = pytest.mark.parametrize(
    "suffix", [suffix for suffix, row in FORMATS.items() if row.reads and not row.humanoids]
)


def arm() -> lw.Linkage:
    return lw.Builder("arm").revolute("j1", "upper", limits=(-1, 1)).revolute("j2", "fore", at=(0.3, 0, 0)).build()


def written(suffix: str, folder: Path) -> Path:
    """Return a file with the name that texts have in messages, with a linkage and, if possible, its motion."""
    if suffix in NEEDS:
        pytest.importorskip(NEEDS[suffix])
    path = folder / f"text{suffix}"
    if suffix == ".xacro":
        path.write_text('<robot name="r" xmlns:xacro="http://x"><link name="l${1 + 1}"/></robot>', encoding="utf-8")
    elif suffix == ".fbx":
        turn = {"Lcl Rotation": ((0.0, 1.0), ((0, 0, 0), (90, 0, 0)))}
        path.write_text(fbx_text([Node("base"), Node("upper", 0, curves=turn)]), encoding="utf-8")
    elif not FORMATS[suffix].writes:
        path.write_text(MJCF, encoding="utf-8")
    elif FORMATS[suffix].clips:
        lw.interpolate(arm(), [(0, [0, 0]), (1, [0.5, 1])], fps=4).save(path)
    else:
        lw.save(arm(), path)
    return path


@formats
def test_a_text_gives_what_its_file_gives(suffix: str, tmp_path: Path) -> None:
    path, row = written(suffix, tmp_path), FORMATS[suffix]
    data = path.read_bytes()
    binary = row.binary or suffix == ".usd"  # usd-core writes the binary form
    kind = "mjcf" if suffix == ".xml" else suffix[1:]
    for content in (data,) if binary else (data, data.decode()):
        if row.linkages and (row.module not in ("usd", "fbx") or content is not data):  # each starts a process
            assert lw.loads(content, kind) == lw.load(path)
        if row.clips:
            linkage = arm() if row.homeless else None
            clip, expected = lw.loads_clip(content, kind, linkage=linkage), lw.load_clip(path, linkage=linkage)
            assert clip.linkage == expected.linkage
            np.testing.assert_array_equal(clip.poses, expected.poses)
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("kind", ["yaml", ".yaml", "YAML", ".Yml"])
def test_a_kind_is_a_suffix_with_or_without_its_dot(kind: str, tmp_path: Path) -> None:
    path = written(".yaml", tmp_path)
    assert lw.loads(path.read_text(encoding="utf-8"), kind, root="floating") == lw.load(path, root="floating")


def test_options_are_those_of_load(tmp_path: Path) -> None:
    path = written(".bvh", tmp_path)
    text = path.read_text(encoding="utf-8")
    assert (
        lw.loads(text, "bvh", units=0.01, up="y") == lw.load(path, units=0.01, up="y") != lw.loads(text, "bvh", units=1)
    )
    with pytest.raises(OptionError, match="no option 'unit'"):
        lw.loads(text, "bvh", unit=0.01)
    with pytest.raises(LinkworkError, match="root is 'fixed'"):
        lw.loads(text, "bvh", root="flying")


def test_a_urdf_in_an_xml_text_is_seen_and_mjcf_is_taken_at_its_word() -> None:
    text = URDF.format(mesh="")
    assert lw.loads(text, "xml") == lw.loads(text, "urdf")
    pytest.importorskip("mujoco")
    with pytest.raises(FormatError, match="is not MJCF"):
        lw.loads(text, "mjcf")


# Files beside it


def test_meshes_are_read_from_the_folder_that_is_given(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "part.stl").write_text(TRIANGLE, encoding="utf-8")
    text = URDF.format(mesh="part.stl")
    found = lw.loads(text, "urdf", folder=tmp_path).link("base").visuals[0].shape
    assert isinstance(found, lw.Mesh)
    assert found.file == str((tmp_path / "part.stl").resolve())
    assert not caplog.records
    with caplog.at_level(logging.WARNING):
        missing = lw.loads(text, "urdf").link("base").visuals[0].shape
    assert isinstance(missing, lw.Mesh)
    assert missing.file is None
    assert "<urdf text>: mesh part.stl was not found; folder=... sets the folder of meshes." in caplog.text


def test_without_a_folder_nothing_beside_the_text_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "part.stl").write_text(TRIANGLE, encoding="utf-8")
    (tmp_path / "data.bin").write_bytes(bytes(64))
    for name in ("part.stl", "./part.stl", str(tmp_path / "part.stl"), f"file://{tmp_path}/part.stl", "../part.stl"):
        shape = lw.loads(URDF.format(mesh=name), "urdf").link("base").visuals[0].shape
        assert isinstance(shape, lw.Mesh)
        assert shape.file is None, name
    path = written(".gltf", tmp_path)
    assert lw.loads(path.read_text(encoding="utf-8"), "gltf") == lw.load(path)
    outside = re.sub(r'"data:[^"]*"', '"data.bin"', path.read_text(encoding="utf-8"))
    with pytest.raises(FormatError, match=r"data.bin: cannot be read: no such file"):
        lw.loads_clip(outside, "gltf")
    pytest.importorskip("mujoco")
    (tmp_path / "more.xml").write_text("<mujoco/>", encoding="utf-8")
    including = MJCF.replace("<worldbody>", '<include file="more.xml"/><worldbody>')
    with pytest.raises(FormatError, match=r"<mjcf text>:1: includes 'more.xml', which does not exist"):
        lw.loads(including, "mjcf")
    assert lw.loads(including, "mjcf", folder=tmp_path) == lw.loads(MJCF, "mjcf")


# Errors


@pytest.mark.parametrize(("text", "kind", "words"), [
    ("<robot>\n<link>\n", "urdf", r"<urdf text>:\d: not XML"),
    ("<robot name='a'>\n<link/></robot>", "urdf", r"<urdf text>:2: "),
    ("linkwork: 2\njoints: 3", "yaml", r"<yaml text>:2: "),
    ("{", "json", "<json text>"),
    ("{", "gltf", "<gltf text>"),
    ("HIERARCHY\nROOT", "bvh", "<bvh text>"),
    ("", "urdf", "<urdf text>: is empty"),
    ("\0", "yaml", "<yaml text>"),
    ("half \ud83d", "yaml", "which is not a character"),
    (b"linkwork: 2\nname: gr\xf6\xdfe", "yaml", "<yaml text>:2: is not UTF-8"),
    ("<!DOCTYPE r [<!ENTITY a 'aa'>]><robot name='&a;'/>", "urdf", "neither is read"),
    (b"PK", "glb", "<glb text>"),
    (b"PK", "npz", "<npz text>"),
])  # fmt: skip
def test_what_is_wrong_with_a_text_is_said_with_its_line(text: str | bytes, kind: str, words: str) -> None:
    read = lw.loads_clip if kind == "npz" else lw.loads
    with pytest.raises(FormatError, match=words):
        read(text, kind)


def test_a_broken_usd_text_is_refused() -> None:
    pytest.importorskip("pxr")
    with pytest.raises(FormatError, match="<usda text>"):
        lw.loads("#usda 1.0\n(", "usda")


def test_kinds_and_contents_that_are_none_are_refused() -> None:
    with pytest.raises(OptionError, match=r"no format 'udrf'; did you mean 'urdf'. Known formats: yaml, "):
        lw.loads("", "udrf")
    with pytest.raises(OptionError, match="no format None"):
        lw.loads("", None)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="GLB files are binary: give bytes"):
        lw.loads("glTF", "glb")
    with pytest.raises(OptionError, match=r"lw.load takes a file name"):
        lw.loads(Path("arm.urdf"), "urdf")  # type: ignore[arg-type]


def test_a_text_over_the_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(atomic_files, "MAX_BYTES", 1000)
    for content in ("#" * 1001, b"#" * 1001, "ö" * 501):
        with pytest.raises(FormatError, match="<yaml text>: is larger than"):
            lw.loads(content, "yaml")


@given(text=st.text(max_size=40), kind=st.sampled_from(["yaml", "json", "urdf", "bvh", "gltf"]))
def test_any_text_is_a_linkage_or_a_format_error(text: str, kind: str) -> None:
    with contextlib.suppress(FormatError):
        assert isinstance(lw.loads(text, kind), lw.Linkage)


# Texts instead of file names


@pytest.mark.parametrize(("text", "kind"), [
    (URDF, "urdf"),
    ("<robot name='a.urdf'/>", "urdf"),
    ("\ufeff <!-- an arm --> <robot name='a'/>", "urdf"),
    (MJCF, "mjcf"),
    ("<sdf/>", "xml"),
    ("HIERARCHY\nROOT hips\n", "bvh"),
    ("#usda 1.0\n", "usda"),
    ('{"linkwork": 2}', "json"),
    ('{"asset": {"version": "2.0"}}', "gltf"),
    ("linkwork: 2\nname: arm\n", "yaml"),
    ("linkwork: 2", "yaml"),
    ("name: arm\nlinkwork: 2\n", "yaml"),
    ("x" * 5000, "yaml"),
    ("<robot>" + "<a/>" * 100_000, "urdf"),
    ("<!--" * 100_000, "yaml"),
    ("<!a>" * 100_000, "yaml"),
])  # fmt: skip
def test_a_text_given_as_the_name_of_a_file_is_told_what_to_do(text: str, kind: str) -> None:
    assert guessed_kind(text) == kind
    for act in (lw.load, lw.load_clip, lw.formats.read):
        with pytest.raises(FormatError, match="<text>: this looks like the text of a ") as caught:
            act(text)
        assert f"use lw.loads(text, {kind!r})" in str(caught.value)
        assert len(str(caught.value)) < 200


@pytest.mark.parametrize("name", ["arm.urdf", "arm", "", "~/robots/arm.xml", "a b.yaml", "C:\\robots\\arm.urdf"])
def test_names_of_files_are_left_alone(name: str) -> None:
    assert guessed_kind(name) is None


@pytest.mark.parametrize("thing", [b"<robot/>", 3, None])
def test_what_is_no_name_of_a_file_is_refused(thing: object) -> None:
    with pytest.raises(OptionError, match=r"lw.loads takes content"):
        lw.load(thing)  # type: ignore[arg-type]
