"""All formats together: every format has a row, conversions keep the content, and every loss is reported."""

from __future__ import annotations

import importlib
import json
import logging
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import linkwork as lw
from fbx_files import Node, fbx_text
from goldens import DH, dh_table
from linkwork import formats
from linkwork.cli.app import app
from linkwork.cli.file import MOST_LISTED, MOST_SAID
from linkwork.errors import ClipNotFoundError, FormatError, MissingExtraError, OptionError
from linkwork.formats import CLIP, FORMATS, Content, Options
from linkwork.formats.registry import format_of
from linkwork.linkage.poses import zero_pose
from linkwork.transforms import transform

EXTRAS = {"usd": "pxr", "mjcf": "mujoco", "fbx": "ufbx"}
ANY = {suffix: row for suffix, row in FORMATS.items() if not row.humanoids}  # formats for humanoids only: test_vrm
MOTIONS = [suffix for suffix, row in ANY.items() if row.clips and row.writes and row.reads]
TREES = [suffix for suffix, row in ANY.items() if row.linkages and row.writes and row.reads]
READ = [suffix for suffix, row in ANY.items() if row.reads]
ONE_EACH = list({row.title: suffix for suffix, row in ANY.items()}.values())  # one suffix per format
TOLERANCE = 1e-5  # [m], for formats with 32 bits


def pairs(suffixes: list[str]) -> list[tuple[str, str]]:
    return [pair for pair in product(ONE_EACH, ONE_EACH) if {*pair} <= {*suffixes}]


pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the packages that read the formats


@pytest.fixture(autouse=True)
def quiet():
    """Silence the warnings about losses, which these tests check directly."""
    logging.getLogger("linkwork").setLevel(logging.ERROR)
    yield
    logging.getLogger("linkwork").setLevel(logging.NOTSET)


def need(*suffixes: str) -> None:
    for suffix in suffixes:
        row = FORMATS[suffix]
        if row.module in EXTRAS:
            pytest.importorskip(EXTRAS[row.module])
        if suffix == ".parquet":
            pytest.importorskip("pyarrow")


def figure() -> lw.Linkage:
    """Return a body that every format for motions supports: ball joints with Euler angles, a floating root."""
    b = lw.Builder("figure", base="pelvis", root=lw.Floating("ZXY"))
    b.ball("hip", "thigh", euler="ZXY", at=(0.1, 0, -0.1))
    b.ball("knee", "shin", euler="ZXY", at=(0, 0.02, -0.4))
    b.ball("ankle", "foot", euler="ZXY", at=(0, 0, -0.4)).frame("toe", at=(0, -0.2, 0))
    b.ball("spine", "chest", euler="ZXY", at=(-0.1, 0, 0.5), parent="pelvis")
    return b.frame("crown", at=(0, 0, 0.4)).build()


def motion(linkage: lw.Linkage) -> lw.Clip:
    rng = np.random.default_rng(1)
    keys = [(k / 2, 0.4 * linkage.random_pose(rng)) for k in range(3)]
    return lw.interpolate(linkage, keys, fps=20)


def arm() -> lw.Linkage:
    """Return an arm of revolute joints, which every format for linkages supports."""
    b = lw.Builder("arm").revolute("turn", "column", limits=(-2, 2))
    b.revolute("shoulder", "upper", axis="y", at=(0, 0, 0.3), limits=(-1, 2))
    b.revolute("elbow", "lower", axis="-y", at=(0.4, 0, 0), limits=(-2, 2.5))
    return b.fixed("weld", "hand", at=(0.3, 0, 0)).frame("tip", at=(0.1, 0, 0)).build()


def places(clip: lw.Clip) -> dict[str, np.ndarray]:
    """Return the positions of joints over time, by name: all formats keep names of joints."""
    frames = clip.forward()
    return {arc.name: frames[arc.child][:, :3, 3] for arc in clip.linkage.arcs}


def same_motion(found: lw.Clip, expected: lw.Clip) -> None:
    np.testing.assert_allclose(found.times - found.times[0], expected.times - expected.times[0], atol=1e-6)
    there, here = places(found), places(expected)
    assert set(here) <= set(there)
    for name in here:
        np.testing.assert_allclose(there[name], here[name], atol=TOLERANCE, err_msg=name)


def first(content: Content) -> lw.Clip:
    return next(iter(content.clips.values()))


def read_back(path: Path, linkage: lw.Linkage) -> Content:
    return formats.read(path, linkage=linkage if FORMATS[formats.suffix_of(path)].homeless else None)


# The table


@pytest.mark.parametrize("suffix", FORMATS)
def test_every_row_names_a_module_that_reads_and_writes_as_it_says(suffix: str) -> None:
    row = FORMATS[suffix]
    module = row.load_module()
    assert module is importlib.import_module(f"linkwork.formats.{row.module}")
    assert callable(getattr(module, "read", None)) is row.reads
    assert callable(getattr(module, "write", None)) or not row.writes
    assert row.linkages or not row.reads or callable(module.read_for)


@pytest.mark.parametrize("suffix", READ)
@pytest.mark.parametrize("junk", ["empty", "missing", "folder", "text", "bytes"])
def test_what_is_no_such_file_is_an_error_with_its_name(suffix: str, junk: str, tmp_path: Path) -> None:
    need(suffix)
    path = tmp_path / f"junk{suffix}"
    match junk:
        case "empty":
            path.write_bytes(b"")
        case "folder":
            path.mkdir()
        case "text":
            path.write_text("once upon a time\n{<[ there was\n", encoding="utf-8")
        case "bytes":
            path.write_bytes(np.random.default_rng(0).bytes(4000))
    linkage = arm() if FORMATS[suffix].homeless else None
    with pytest.raises(FormatError, match=f"junk{suffix}"):
        formats.read(path, linkage=linkage)
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name] * (junk != "missing")


def test_folders_are_named_as_such(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="is a folder"):
        lw.load(tmp_path)


def test_xml_is_told_apart_by_its_outermost_element(tmp_path: Path) -> None:
    path = tmp_path / "arm.xml"
    lw.save(arm(), tmp_path / "arm.urdf")
    text = (tmp_path / "arm.urdf").read_text(encoding="utf-8")
    path.write_text(
        "\ufeff" + text.replace("<robot", "<!-- <mujoco> -->\n <!DOCTYPE robot>\n<robot", 1), encoding="utf-8"
    )
    assert format_of(path) is FORMATS[".urdf"]
    for other in ("<mujoco/>", "<robots/>", "<!-- <robot>", "", "<?xml version='1.0'?>"):
        path.write_text(other, encoding="utf-8")
        assert format_of(path) is FORMATS[".xml"]


# Any to any


@pytest.mark.parametrize("suffix", MOTIONS)
def test_a_motion_is_the_same_after_saving_and_loading(suffix: str, tmp_path: Path) -> None:
    need(suffix)
    clip = motion(figure())
    clip.save(tmp_path / f"walk{suffix}")
    linkage = clip.linkage if FORMATS[suffix].homeless else None
    same_motion(lw.load_clip(tmp_path / f"walk{suffix}", linkage=linkage), clip)


@pytest.mark.parametrize(("source", "target"), pairs(MOTIONS))
def test_a_motion_passes_through_any_two_formats(source: str, target: str, tmp_path: Path) -> None:
    need(source, target)
    clip = motion(figure())
    formats.write(Content(clip.linkage, {CLIP: clip}), tmp_path / f"a{source}")
    between = read_back(tmp_path / f"a{source}", clip.linkage)
    formats.write(between, tmp_path / f"b{target}")
    same_motion(first(read_back(tmp_path / f"b{target}", between.linkage)), clip)


@pytest.mark.parametrize(("source", "target"), pairs(TREES))
def test_a_linkage_passes_through_any_two_formats(source: str, target: str, tmp_path: Path) -> None:
    need(source, target)
    linkage = arm()
    formats.write(Content(linkage), tmp_path / f"a{source}")
    formats.write(formats.read(tmp_path / f"a{source}"), tmp_path / f"b{target}")
    found = lw.load(tmp_path / f"b{target}")
    zero = zero_pose(found)
    there, here = (places(lw.Clip(k, [0.0], [q])) for k, q in ((found, zero), (linkage, np.zeros(3))))
    for name in ("turn", "shoulder", "elbow", "weld"):
        np.testing.assert_allclose(there[name], here[name], atol=TOLERANCE, err_msg=name)


@pytest.mark.parametrize("suffix", [suffix for suffix in TREES if FORMATS[suffix].module in ("scene", "urdf", "gltf")])
def test_formats_for_machines_keep_every_pose(suffix: str, tmp_path: Path) -> None:
    need(suffix)
    linkage = arm()
    lw.save(linkage, tmp_path / f"arm{suffix}")
    found = lw.load(tmp_path / f"arm{suffix}")
    q = linkage.random_pose(0, 20)
    assert found.coordinates == linkage.coordinates
    np.testing.assert_allclose(found.lower, linkage.lower, atol=1e-9)
    for frame in linkage.frames:
        np.testing.assert_allclose(found.forward(q, frame=frame), linkage.forward(q, frame=frame), atol=1e-9)


# What Python users call


def test_a_clip_of_a_name_is_found_and_one_that_is_not_there_is_said(tmp_path: Path) -> None:
    clip = motion(figure())
    formats.write(Content(clip.linkage, {"walk": clip}), tmp_path / "walk.npz")
    assert len(lw.load_clip(tmp_path / "walk.npz", name="walk")) == len(clip)
    with pytest.raises(ClipNotFoundError, match="did you mean 'walk'"):
        lw.load_clip(tmp_path / "walk.npz", name="wlak")


def test_a_motion_is_carried_over_to_a_linkage_with_the_same_coordinates(tmp_path: Path) -> None:
    clip = motion(figure())
    clip.save(tmp_path / "walk.npz")
    other = figure().replace(name="other", links={"foot": {"visuals": lw.Sphere(0.1)}})
    found = lw.load_clip(tmp_path / "walk.npz", linkage=other)
    assert found.linkage is other
    np.testing.assert_array_equal(found.poses, clip.poses)
    with pytest.raises(FormatError, match="has no column"):
        lw.load_clip(tmp_path / "walk.npz", linkage=arm())


def test_a_motion_that_brings_its_own_skeleton_is_carried_over_by_names(tmp_path: Path) -> None:
    clip = motion(figure())
    clip.save(tmp_path / "walk.bvh")
    own = lw.load(tmp_path / "walk.bvh")
    found = lw.load_clip(tmp_path / "walk.bvh", linkage=own.replace(name="twin"))
    assert found.linkage.name == "twin"
    same_motion(found, clip)
    with pytest.raises(FormatError, match="does not fit linkage 'arm': only linkage 'arm' has turn"):
        lw.load_clip(tmp_path / "walk.bvh", linkage=arm())


@pytest.mark.parametrize("suffix", MOTIONS)
@pytest.mark.parametrize("name", ["\ud800", "\0", "a\0b"])
def test_names_that_are_no_text_come_back_or_are_refused_before_anything_is_written(
    suffix: str, name: str, tmp_path: Path
) -> None:
    need(suffix)
    linkage = lw.Builder("arm").revolute(name, "hand").build()
    clip = lw.Clip(linkage, [0.0, 1.0], [[0.0], [0.5]])
    path = tmp_path / f"file{suffix}"
    try:
        lw.save(clip, path)
    except lw.LinkworkError:
        assert not list(tmp_path.iterdir())
    else:
        found = lw.load_clip(path, linkage=linkage if FORMATS[suffix].homeless else None)
        np.testing.assert_allclose(found.poses, clip.poses, atol=1e-12)


def test_saving_what_a_format_cannot_hold_at_all_is_refused(tmp_path: Path) -> None:
    clip = motion(figure())
    for act, words in (
        (lambda: clip.save(tmp_path / "walk.urdf"), "URDF files hold no motion"),
        (lambda: lw.save(clip.linkage, tmp_path / "walk.csv"), "hold motions, but there is none to write"),
        (lambda: lw.load_clip(_saved(arm(), tmp_path / "arm.yaml")), "holds no motion"),
        (lambda: lw.save(clip.linkage, tmp_path / "walk.xml"), "read, not written"),
    ):
        with pytest.raises(FormatError, match=words):
            act()
    with pytest.raises(OptionError, match="a Linkage or a Clip"):
        lw.save("arm", tmp_path / "arm.yaml")  # type: ignore[arg-type]
    assert [path.name for path in tmp_path.iterdir()] == ["arm.yaml"]


def _saved(linkage: lw.Linkage, path: Path) -> Path:
    lw.save(linkage, path)
    return path


def test_losses_are_returned_and_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    logging.getLogger("linkwork").setLevel(logging.WARNING)
    remarks = motion(figure()).save(tmp_path / "walk.csv")
    assert [remark.kind for remark in remarks] == ["dropped"]
    assert [record.getMessage() for record in caplog.records] == [f"{tmp_path / 'walk.csv'}: {remarks[0].text}"]


def test_missing_meshes_are_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    logging.getLogger("linkwork").setLevel(logging.WARNING)
    here, outside = tmp_path / "model", tmp_path / "secret.stl"
    here.mkdir()
    outside.write_bytes(b"solid")
    (here / "hand.stl").write_bytes(b"solid")
    paths = ("hand.stl", "lost.stl", "../secret.stl", str(outside))
    linkage = lw.Linkage([lw.Link("base", tuple(lw.Mesh(path) for path in paths))])
    lw.save(linkage, here / "arm.yaml")
    found = lw.load(here / "arm.yaml")
    assert found == linkage
    files = [visual.shape.file for visual in found.nodes[0].visuals]
    assert files == [str((here / "hand.stl").resolve()), None, None, None]
    assert "arm.yaml: mesh lost.stl was not found, and 2 more; linkwork doctor lists the paths" in caplog.text
    told = lw.load(here / "arm.yaml", folders=[tmp_path])
    assert [visual.shape.file is not None for visual in told.nodes[0].visuals] == [True, False, True, True]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"unit": 0.01}, "no option 'unit'; there are packages"),
        ({"units": 0}, "the length of one unit of the file in metres, above zero, got 0"),
        ({"up": "w"}, "up is 'x', 'y', 'z'"),
        ({"positions": "keep"}, "'replace' or 'add'"),
        ({"packages": ["a"]}, "maps names to folders"),
        ({"limits": "all"}, "limits is 'own' or 'followers', got 'all'"),
        ({"strict": 1}, "strict is True or False"),
    ],
)
def test_wrong_options_are_refused(given: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=words.replace("; there", " for reading a file; there")):
        lw.load(tmp_path / "arm.yaml", **given)


OPTIONS = {
    "packages": {"a": "b"},
    "folders": ["b"],
    "units": 0.5,
    "up": "x",
    "positions": "add",
    "limits": "followers",
    "arguments": {"a": "b"},
    "max_values": 1000,
    "body_model": "model.npz",
    "strict": True,
}


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("suffix", [suffix for suffix in ONE_EACH if FORMATS[suffix].reads])
def test_an_option_changes_what_is_read_or_is_said_to_be_of_no_use(suffix: str, option: str, tmp_path: Path) -> None:
    need(suffix)
    path, clip = tmp_path / f"file{suffix}", motion(figure())
    if suffix == ".xacro":
        script = "<xacro:arg name='a' default=''/><link name='l'/>"
        path.write_text(f"<robot name='r' xmlns:xacro='http://x'>{script}</robot>", encoding="utf-8")
    elif suffix == ".fbx":
        path.write_text(fbx_text([Node("base"), Node("arm", 0, {"Lcl Translation": (1, 2, 3)})]), encoding="utf-8")
    elif suffix == ".xml":
        path.write_text(
            "<mujoco><worldbody><body><joint/><geom size='1'/></body></worldbody></mujoco>", encoding="utf-8"
        )
    else:
        formats.write(Content(clip.linkage, {CLIP: clip} if FORMATS[suffix].clips else {}), path)
    mover = clip.linkage if FORMATS[suffix].homeless else None
    plain = formats.read(path, linkage=mover)
    found = formats.read(path, Options(**{option: OPTIONS[option]}), linkage=mover)
    said = [remark for remark in found.remarks if remark.kind == "ignored-option"]
    assert [remark.where for remark in said] == ([] if option in (*FORMATS[suffix].options, "strict") else [option])
    if said:
        assert found.linkage == plain.linkage
    elif option in ("units", "up"):
        assert found.linkage != plain.linkage


def test_options_are_plain_values() -> None:
    options = Options(packages={"a": Path("x")}, folders="y", units=1)  # type: ignore[arg-type]
    assert (options.packages["a"], options.folders, options.units) == ("x", ("y",), 1.0)


def test_a_missing_package_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'linkwork\[formats\]'"):
        motion(figure()).save(tmp_path / "walk.parquet")
    assert not list(tmp_path.iterdir())


# Tables of Denavit-Hartenberg rows


@pytest.mark.parametrize("name", DH)
def test_tables_of_others_agree_with_what_they_computed(name: str, tmp_path: Path) -> None:
    path, golden = tmp_path / f"{name}.json", DH[name]
    path.write_text(dh_table(name), encoding="utf-8")
    linkage = lw.load(path)
    np.testing.assert_allclose(linkage.forward(golden["q"], frame="tip"), golden["T_end"], atol=1e-9)
    limits = [row["qlim"] or [-np.inf, np.inf] for row in golden["rows"]]
    np.testing.assert_array_equal(np.stack([linkage.lower, linkage.upper], axis=1), limits)


ROWS = """
name: scara
convention: %s
rows:
  - {theta: 90deg, d: 0.1, a: 0.4, alpha: 0, limits: [-2, 2]}
  - {a: 0.3, alpha: 180deg, offset: 0.2, flip: true}
  - {kind: P, theta: 0.1, d: 0.5, offset: 0.1}
"""


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_a_table_holds_offsets_and_values_that_count_backwards(convention: str, tmp_path: Path) -> None:
    (tmp_path / "scara.yaml").write_text(ROWS % convention, encoding="utf-8")
    found = lw.load(tmp_path / "scara.yaml")
    plain = [(np.pi / 2, 0.1, 0.4, 0), (0.2, 0, 0.3, np.pi), (0.1, 0.6, 0, 0, "P")]
    expected = lw.from_dh(plain, convention=convention)
    q = np.random.default_rng(0).uniform(-1, 1, (9, 3))
    np.testing.assert_allclose(found.forward(q, frame="tip"), expected.forward(q * [1, -1, 1], frame="tip"), atol=1e-12)
    assert (found.name, found.upper[0]) == ("scara", 2.0)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("a: 0.3", "b: 0.3", r":6: rows\[1\]: a DH row has no field 'b'"),
        ("kind: P", "kind: Q", r"kind of DH row 3 is 'R' or 'P'"),
        ("90deg", "ninety", r":5: rows\[0\]: not an angle"),
        ("flip: true", "flip: 1", r":6: rows\[1\]: flip is true or false"),
        ("flip: true", "mdh: true", r":6: rows\[1\]: this row has another convention"),
        ("standard", "strange", "a DH convention is"),
        ("limits: [-2, 2]", "limits: [2, -2]", "lower limit 2"),
        ("name: scara", "named: scara", "has no field 'named'"),
        ("rows:", "rows:" + "\n  - {a: 1}" * 2_000, "at most 2,000 rows, got 2,003"),
    ],
)
def test_a_table_that_is_none_is_refused(old: str, new: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "scara.yaml").write_text((ROWS % "standard").replace(old, new), encoding="utf-8")
    with pytest.raises(FormatError, match=words):
        lw.load(tmp_path / "scara.yaml")


# On the command line


def run(*words: object) -> Any:
    return CliRunner().invoke(app, [str(word) for word in words])


def test_convert_writes_the_motion_and_says_what_is_lost(tmp_path: Path) -> None:
    result = run("convert", "human", tmp_path / "walk.bvh")
    assert (result.exit_code, result.stdout.rpartition(": ")[0]) == (0, str(tmp_path / "walk.bvh"))
    assert "limits" in result.stderr
    assert "shapes" in result.stderr
    result = run("convert", tmp_path / "walk.bvh", tmp_path / "walk.npz", "--json", "--up", "y", "--units", "cm")
    data = json.loads(result.stdout)
    assert (data["clips"][0]["frames"], data["dropped"]) == (79, [])
    same_motion(lw.load_clip(tmp_path / "walk.npz"), lw.models.motion("human"))


def test_convert_says_which_motion_is_written_where_one_is_held(tmp_path: Path) -> None:
    clip = lw.models.motion("planar:1,1")
    lw.save(Content(clip.linkage, {"run": clip, "walk": clip}), tmp_path / "two.glb")
    result = run("convert", tmp_path / "two.glb", tmp_path / "one.bvh")
    assert result.stdout.endswith(f"; motion run, {len(clip)} frames\n")
    assert "linkwork: dropped: BVH holds one motion, 'run': 'walk' left out." in result.stderr
    result = run("convert", tmp_path / "two.glb", tmp_path / "one.npz", "--json")
    assert [entry["name"] for entry in json.loads(result.stdout)["clips"]] == ["run"]
    assert run("convert", tmp_path / "two.glb", tmp_path / "two.gltf").stdout.endswith("; 2 motions: run, walk\n")


@pytest.mark.parametrize(("command", "shown"), [("convert", MOST_SAID), ("doctor", MOST_LISTED)])
def test_many_remarks_of_one_kind_are_cut_short_for_people_and_whole_in_json(
    command: str, shown: int, tmp_path: Path
) -> None:
    meshes = "".join(f'<visual><geometry><mesh filename="m{k}.stl"/></geometry></visual>' for k in range(40))
    (tmp_path / "arm.urdf").write_text(f'<robot name="arm"><link name="base">{meshes}</link></robot>', encoding="utf-8")
    target = [tmp_path / "arm.yaml"] if command == "convert" else []
    result = run(command, tmp_path / "arm.urdf", *target)
    said = [line for line in result.output.splitlines() if "missing-mesh" in line]
    assert len(said) == shown + 1
    assert f"{40 - shown} more like these; --json lists them all." in said[-1]
    assert sum("tried" in line for line in said) == 1
    result = run(command, tmp_path / "arm.urdf", *target, "--json")
    data = json.loads(result.stdout)
    assert len(data["assumed" if command == "convert" else "remarks"]) == 40
    assert result.stderr == ""


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), [1.0, 0.0, 0.0]),
        (("--positions", "add"), [2.0, 0.0, 3.0]),
        (("--up", "z"), [1.0, 0.0, 0.0]),
        (("--positions", "add", "--up", "z"), [2.0, 3.0, 0.0]),
        (("--units", "cm", "--positions", "add"), [0.02, 0.0, 0.03]),
        (("--units", "0.5", "--up", "x"), [0.0, 0.0, 0.5]),
    ],
)
def test_options_reach_the_reader_through_the_command_line(
    words: tuple[str, ...], expected: list[float], tmp_path: Path
) -> None:
    (tmp_path / "a.bvh").write_text(
        "HIERARCHY\nROOT hip\n{\nOFFSET 1 3 0\nCHANNELS 3 Xposition Yposition Zposition\n"
        "JOINT knee\n{\nOFFSET 0 0 0\nCHANNELS 1 Xrotation\nEnd Site\n{\nOFFSET 0 0 0\n}\n}\n}\n"
        "MOTION\nFrames: 1\nFrame Time: 0.1\n1 0 0 0\n",
        encoding="utf-8",
    )
    units = () if "--units" in words else ("--units", "m")
    assert run("convert", tmp_path / "a.bvh", tmp_path / "a.npz", *words, *units).exit_code == 0
    clip = lw.load_clip(tmp_path / "a.npz")
    np.testing.assert_allclose(clip.forward(frame="knee")[0, :3, 3], expected, atol=1e-12)


def test_limits_strict_and_arguments_reach_the_reader_through_the_command_line(tmp_path: Path) -> None:
    script = tmp_path / "arm.xacro"
    joint = "<joint name='{0}' type='revolute'><parent link='a'/><child link='{0}'/>{1}{2}</joint><link name='{0}'/>"
    limit = "<axis xyz='1 0 0'/><limit lower='{}' upper='{}' velocity='1' effort='1'/>"
    text = "<robot name='r' xmlns:xacro='http://x'><xacro:arg name='end' default='1'/><link name='a'/>{}{}{}</robot>"
    parts = [
        joint.format("j", limit.format("0", "$(arg end)"), ""),
        joint.format("k", limit.format("0", "0.5"), "<mimic joint='j'/>"),
        joint.format("l", limit.format("1", "0"), ""),
    ]
    script.write_text(text.format(*parts), encoding="utf-8")
    out = tmp_path / "arm.yaml"
    result = run("convert", script, out, "--argument", "end=2")
    assert result.exit_code == 0
    assert "mimic-limits: 'k' follows 'j' and goes from 0 to 2" in result.stderr
    assert lw.load(out).upper.tolist() == [2.0, np.inf]
    assert run("convert", script, out, "--follower-limits").exit_code == 0
    assert lw.load(out).upper.tolist() == [0.5, np.inf]
    assert run("convert", script, out, "--strict").exit_code == 3
    assert run("convert", script, out, "--argument", "end").exit_code == 2
    assert run("doctor", script).exit_code == 1


def test_convert_drops_a_motion_aloud_where_it_cannot_be_held(tmp_path: Path) -> None:
    motion(figure()).save(tmp_path / "walk.npz")
    result = run("convert", tmp_path / "walk.npz", tmp_path / "figure.yaml")
    assert result.exit_code == 0
    assert "dropped: scene holds no motion: 'clip' left out." in result.stderr
    assert lw.load(tmp_path / "figure.yaml") == figure()


def test_convert_takes_a_linkage_for_numbers_alone(tmp_path: Path) -> None:
    clip = motion(figure())
    clip.save(tmp_path / "walk.csv")
    lw.save(clip.linkage, tmp_path / "figure.yaml")
    result = run("convert", tmp_path / "walk.csv", tmp_path / "walk.npz")
    assert (result.exit_code, "--linkage" in result.stderr) == (3, True)
    result = run("convert", tmp_path / "walk.csv", tmp_path / "walk.npz", "--linkage", tmp_path / "figure.yaml")
    assert result.exit_code == 0
    assert lw.load_clip(tmp_path / "walk.npz").poses.tobytes() == clip.poses.tobytes()


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("panda", "panda.doc"), 2, "its name must end in"),
        (("panda", "panda.xml"), 2, "MJCF is read, not written"),
        (("nothing", "a.yaml"), 2, "is neither a file nor a model name"),
        (("gone.urdf", "a.yaml"), 3, "cannot be read"),
        (("panda", "a.yaml", "--units", "furlong"), 2, "--units is m,"),
        (("panda", "a.yaml", "--up", "w"), 2, "up is 'x'"),
        (("panda", "a.yaml", "--package", "name"), 2, "--package takes NAME=FOLDER"),
        (("human", "a.bvh", "--clip", "run"), 2, "no clip 'run'"),
        (("panda", "none/a.yaml"), 3, "cannot be written"),
    ],
)
def test_convert_says_what_is_wrong(
    words: tuple[str, ...], status: int, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("convert", *words)
    assert result.exit_code == status, result.output
    assert said in result.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", [".urdf", ".bvh", ".npz"])
def test_the_other_commands_take_such_files_too(suffix: str, tmp_path: Path) -> None:
    clip = motion(figure())
    if FORMATS[suffix].clips:
        clip.save(tmp_path / f"model{suffix}")
    else:
        lw.save(arm(), tmp_path / f"model{suffix}")
    assert "joint" in run("info", tmp_path / f"model{suffix}").stdout
    assert run("pose", tmp_path / f"model{suffix}", "--all", "--json").exit_code == 0


def test_track_writes_files_for_motions(tmp_path: Path) -> None:
    path = tmp_path / "reach.npz"
    result = run("track", "planar:15,10,5", "--position", "-20,5", "--start", "ready", "-o", path)
    assert result.exit_code == 0, result.output
    assert len(lw.load_clip(path)) == 21


def test_convert_adds_frames_and_hangs_linkages_on_them(tmp_path):
    b = lw.Builder("gripper", base="palm").prismatic("jaw", "pad", axis="y", limits=(0, 0.04))
    lw.save(b.frame("grasp", at=(0, 0, 0.1)).build(), tmp_path / "gripper.yaml")
    motion(arm()).save(tmp_path / "reach.npz")
    frame = "flange=hand:0,0.1,0.2:euler=xyz:0,90deg,0"
    words = ("--add-frame", frame, "--attach", f"flange={tmp_path / 'gripper.yaml'}", "--attach", "tip=planar:1")
    result = run("convert", tmp_path / "reach.npz", tmp_path / "out.npz", *words, "--prefix", "", "--prefix", "rod_")
    assert (result.exit_code, result.stderr) == (0, "")
    clip, before = lw.load_clip(tmp_path / "out.npz"), lw.load_clip(tmp_path / "reach.npz")
    gripper, place = lw.load(tmp_path / "gripper.yaml"), {"euler": ("xyz", [0, np.pi / 2, 0])}
    whole = before.linkage.add_frame("flange", "hand", transform((0, 0.1, 0.2), place))
    assert clip.linkage == whole.attach(gripper, "flange").attach(lw.models.planar([1]), "tip", prefix="rod_")
    np.testing.assert_array_equal(clip.poses[:, :3], before.poses)
    np.testing.assert_array_equal(clip.poses[:, 3:], np.broadcast_to([0.02, 0.0], (len(before), 2)))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--add-frame", "tool"), "--add-frame takes NAME=LINK:X,Y,Z"),
        (("--add-frame", "tool=link9"), "no frame 'link9'"),
        (("--add-frame", "tool=link1:0,90deg,0"), "--add-frame tool=link1:0,90deg,0: "),
        (("--attach", "tip"), "--attach takes FRAME=MODEL"),
        (("--attach", "tip=planar:1"), "give the second a prefix, such as prefix='planar_'"),
        (("--prefix", "a"), "more --prefix than --attach"),
    ],
)
def test_what_cannot_be_added_is_refused(words, message, tmp_path):
    result = run("convert", "planar:2,1", tmp_path / "out.yaml", *words)
    assert result.exit_code == 2
    assert message in result.stderr
