"""Files: loading returns exactly what was saved, and a failed save leaves no trace."""

from __future__ import annotations

import json
import os
import pickle
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import given, reject, strategies as st

import linkwork as lw
from linkages import JOINTS, random_transform
from linkwork.errors import DuplicateNameError, FormatError, LinkageError
from linkwork.formats import FORMATS, atomic_files, load, save, scene, yaml_json
from linkwork.linkage.curves import CURVES
from linkwork.linkage.geometry import SHAPES
from linkwork.linkage.joints import ARTICULATIONS, Articulation
from linkwork.linkage.tree import LOOP_KINDS
from linkwork.transforms import transform
from scenes import LINKAGES, ODD_FLOATS, ODD_NAMES, bits, every_shape, firm_pose, odd_floats, odd_names, one, rotations
from symlinks import symlink

kinds = pytest.mark.parametrize("kind", yaml_json.KINDS)


# Writing and reading


def test_every_kind_of_joint_and_shape_is_in_the_table() -> None:
    kept = [scene.dump(build(), "json") for build in LINKAGES.values()]
    found = {kind for text in kept for kind in re.findall(r'"kind": "(\w+)"', text)}
    kinds = {*ARTICULATIONS, *SHAPES, *LOOP_KINDS, *CURVES} - {
        "fixed",
        "point",
        "function",
    }  # defaults are left out, a function cannot be written
    assert found == kinds


@kinds
@pytest.mark.parametrize("name", LINKAGES)
def test_a_linkage_is_the_same_after_writing_and_reading(name: str, kind: str) -> None:
    linkage = LINKAGES[name]()
    again = scene.parse(scene.dump(linkage, kind), "scene", kind)
    assert again == linkage
    assert bits(again) == bits(linkage)


@pytest.mark.parametrize("suffix", [suffix for suffix, row in FORMATS.items() if row.module == "scene"])
@pytest.mark.parametrize("name", ["floating", "every_shape", "odd_names"])
def test_a_linkage_is_the_same_after_saving_and_loading(name: str, suffix: str, tmp_path: Path) -> None:
    linkage = LINKAGES[name]()
    save(linkage, tmp_path / f"scene{suffix}")
    assert bits(load(tmp_path / f"scene{suffix}")) == bits(linkage)


@pytest.mark.parametrize("name", LINKAGES)
def test_other_readers_find_the_same_in_both_kinds(name: str) -> None:
    linkage = LINKAGES[name]()
    loaded = yaml.safe_load(scene.dump(linkage, "yaml"))
    assert loaded == json.loads(scene.dump(linkage, "json"))


def test_the_loader_without_a_compiled_parser_reads_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_json, "_LOADER", yaml.SafeLoader)
    for build in (every_shape, odd_floats, odd_names):
        assert bits(scene.parse(scene.dump(build(), "yaml"), "scene", "yaml")) == bits(build())


names = st.one_of(
    st.sampled_from(ODD_NAMES), st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
)
floats = st.one_of(st.sampled_from(ODD_FLOATS), st.floats(allow_nan=False, allow_infinity=False))


@st.composite
def linkages(draw: st.DrawFn) -> lw.Linkage:
    """Draw a tree of joints of all kinds with arbitrary names and numbers."""
    called = draw(st.lists(names, min_size=1, max_size=8, unique=True))
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    links, joints = [], []
    for k, name in enumerate(called):
        shape = draw(st.sampled_from([(), lw.Sphere(abs(draw(floats)) or 1.0), lw.Box((1, 2, 3))]))
        links.append(lw.Link(name, shape, transform([draw(floats) for _ in range(3)])))
        if k:
            placement = draw(st.sampled_from([np.eye(4), random_transform(rng)]))
            placement = placement.copy()
            placement[:3, 3] = [draw(floats) for _ in range(3)]
            articulation: Articulation = draw(st.sampled_from(list(JOINTS.values())))
            if draw(st.booleans()):
                lower, upper = sorted((draw(floats), draw(floats)))
                articulation = draw(st.sampled_from([lw.Prismatic, lw.Revolute]))(rng.normal(size=3), lower, upper)
            joints.append(lw.Joint(name, called[draw(st.integers(0, k - 1))], name, articulation, placement))
    frames = [lw.Frame(draw(names), called[-1], transform([draw(floats), 0.0, -0.0]))]
    try:
        linkage = lw.Linkage(links, joints, name=draw(names), frames=frames)
        q = firm_pose(linkage, rng) if linkage.nq < 500 else linkage.neutral()
        plain = linkage.table.plain[0]
        q[plain] = [draw(floats) for _ in plain]
        return linkage.replace(poses={draw(names): q})
    except DuplicateNameError:
        reject()


@given(linkage=linkages(), kind=st.sampled_from(yaml_json.KINDS))
def test_any_linkage_is_the_same_after_writing_and_reading(linkage: lw.Linkage, kind: str) -> None:
    assert bits(scene.parse(scene.dump(linkage, kind), "scene", kind)) == bits(linkage)


@given(value=floats)
def test_every_float_is_a_number_to_every_reader(value: float) -> None:
    text = yaml_json.write({"x": value}, "yaml")
    assert yaml.safe_load(text) == yaml_json.read(text, "", "yaml") == json.loads(yaml_json.write({"x": value}, "json"))
    assert repr(float(yaml_json.read(text, "", "yaml")["x"])) == repr(value)


def test_a_shape_that_is_used_twice_is_written_once_and_shared_again() -> None:
    text = scene.dump(every_shape(), "yaml")
    assert text.count("kind: capsule") == 2  # the shared one and the bone
    again = scene.parse(text, "scene", "yaml")
    first, second, third = (again.nodes[i].visuals[k].shape for i, k in ((0, 2), (1, 0), (2, 0)))
    assert first is second is third


def test_short_angles_are_written_in_degrees_and_quarter_turns_as_whole_numbers() -> None:
    text = scene.dump(rotations(), "yaml")
    assert "rotation: {euler: [xyz, [90deg, 0, 0]]}" in text
    assert "rotation: {euler: [xyz, [30deg, 60deg, -120deg]]}" in text
    assert "rotation: {matrix: [[0, -1, 0], [1, 0, 0], [0, 0, 1]]}" in text


@pytest.mark.parametrize(
    ("linkage", "message"),
    [
        (lw.Linkage([lw.Link("half \ud83d")]), "which is not a character"),
        (lw.Linkage([lw.Link("a", lw.Polyline(np.eye(3), closed=1j))]), "can store texts and numbers, not"),
    ],
    ids=["half a character", "a number that no file holds"],
)
def test_what_a_file_cannot_hold_is_not_written(linkage: lw.Linkage, message: str, tmp_path: Path) -> None:
    path = tmp_path / "arm.json"
    save(one(lw.Ball()), path)
    with pytest.raises(LinkageError, match=message):
        save(linkage, path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["arm.json"]
    assert load(path) == one(lw.Ball())


@pytest.mark.parametrize("names", [{"name": 5}, {"poses": {5: []}}], ids=lambda names: next(iter(names)))
def test_a_name_that_is_no_text_never_comes_to_a_file(names: dict[str, Any]) -> None:
    with pytest.raises(LinkageError, match="got 5"):
        lw.Linkage([lw.Link("a")], **names)


# Files


@pytest.mark.parametrize("name", ["arm.txt", "arm", "arm.yaml.bak"])
def test_an_unknown_suffix_lists_the_known_ones(name: str, tmp_path: Path) -> None:
    for act in (lambda: load(tmp_path / name), lambda: save(one(lw.Fixed()), tmp_path / name)):
        with pytest.raises(FormatError, match=re.escape(", ".join(FORMATS))):
            act()
    assert not list(tmp_path.iterdir())


def test_suffixes_are_known_in_capitals_too(tmp_path: Path) -> None:
    save(one(lw.Ball()), str(tmp_path / "ARM.JSON"))
    assert (tmp_path / "ARM.JSON").read_text(encoding="utf-8").startswith('{\n  "linkwork": 2,')
    assert lw.load(tmp_path / "ARM.JSON") == one(lw.Ball())


@pytest.mark.parametrize("missing", ["reads", "writes"])
def test_a_format_may_be_read_only_or_write_only(missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FORMATS, ".odd", replace(FORMATS[".yaml"], **{missing: False}))
    known = ", ".join(suffix for suffix, row in FORMATS.items() if getattr(row, missing))
    with pytest.raises(FormatError, match=re.escape(f"{known} are")):
        load(tmp_path / "a.odd") if missing == "reads" else save(one(lw.Fixed()), tmp_path / "a.odd")
    assert not list(tmp_path.iterdir())


def test_a_missing_file_and_a_directory_are_format_errors(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"missing.yaml: cannot be read: no such file"):
        load(tmp_path / "missing.yaml")
    (tmp_path / "folder.yaml").mkdir()
    with pytest.raises(FormatError, match=r"folder.yaml: cannot be read"):
        load(tmp_path / "folder.yaml")
    with pytest.raises(FormatError, match=r"cannot be read: embedded null"):
        load("a\0.yaml")


def test_text_that_is_not_utf8_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "latin.yaml"
    path.write_bytes("linkwork: 2\nname: größe".encode("latin-1"))
    with pytest.raises(FormatError, match=r"latin.yaml:2: is not UTF-8 text: byte 0xf6"):
        load(path)


@kinds
def test_a_byte_order_mark_is_accepted(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"bom.{kind}"
    path.write_bytes(b"\xef\xbb\xbf" + scene.dump(one(lw.Ball()), kind).encode())
    assert load(path) == one(lw.Ball())
    assert scene.parse(path.read_text(encoding="utf-8"), "stdin", kind) == one(lw.Ball())


def test_a_file_over_the_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "large.yaml"
    text = scene.dump(one(lw.Ball()), "yaml")
    monkeypatch.setattr(atomic_files, "MAX_BYTES", 2 * 2**20)
    path.write_bytes((text + "#" * (atomic_files.MAX_BYTES - len(text))).encode())
    assert load(path) == one(lw.Ball())
    path.write_bytes((text + "#" * (atomic_files.MAX_BYTES - len(text) + 1)).encode())
    with pytest.raises(FormatError, match="larger than 2 MiB"):
        load(path)


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()], ids=repr)
def test_a_save_that_fails_leaves_the_old_file_and_nothing_else(
    step: str, failure: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "arm.yaml"
    save(one(lw.Ball()), path)

    def fail(*_: object) -> None:
        raise failure

    monkeypatch.setattr(*((os, "fsync") if step == "fsync" else (Path, "replace")), fail)
    expected = FormatError if isinstance(failure, OSError) else KeyboardInterrupt
    with pytest.raises(expected, match="no space left" if expected is FormatError else None):
        save(one(lw.Fixed()), path)
    monkeypatch.undo()
    assert [entry.name for entry in tmp_path.iterdir()] == ["arm.yaml"]
    assert load(path) == one(lw.Ball())


def test_saving_where_there_is_no_folder_is_a_format_error(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="cannot be written: no such file or directory"):
        save(one(lw.Fixed()), tmp_path / "none" / "arm.yaml")
    (tmp_path / "arm.yaml").mkdir()
    with pytest.raises(FormatError, match="cannot be written"):
        save(one(lw.Fixed()), tmp_path / "arm.yaml")
    assert [entry.name for entry in tmp_path.iterdir()] == ["arm.yaml"]


@pytest.mark.skipif(sys.platform == "win32", reason="links and permissions of POSIX")
def test_saving_follows_a_link_and_keeps_permissions(tmp_path: Path) -> None:
    target, alias = tmp_path / "target.yaml", tmp_path / "link.yaml"
    save(one(lw.Fixed()), target)
    target.chmod(0o640)
    symlink(alias, target)
    save(one(lw.Ball()), alias)
    assert alias.is_symlink()
    assert load(target) == one(lw.Ball())
    assert target.stat().st_mode & 0o777 == 0o640


# Another root


@pytest.mark.parametrize("root", ["fixed", "planar", "floating"])
@pytest.mark.parametrize("own", ["fixed", "planar", "floating"])
def test_load_gives_another_root_in_the_same_place_and_keeps_the_poses(root: str, own: str, tmp_path: Path) -> None:
    arc = lw.Joint("foot", None, "a", ARTICULATIONS[own](), (0, 0, 1))
    linkage = one(lw.Revolute("z"), root=arc)
    linkage = linkage.replace(poses={"bent": linkage.pose(j=0.5)})
    save(linkage, tmp_path / "arm.yaml")
    again = load(tmp_path / "arm.yaml", root=root)
    assert again.root.name == "foot"
    assert again.root.articulation == ARTICULATIONS[root]()
    np.testing.assert_array_equal(again.root.placement, linkage.root.placement)
    np.testing.assert_array_equal(again.poses["bent"], again.pose(j=0.5))


def test_load_refuses_an_unknown_root(tmp_path: Path) -> None:
    with pytest.raises(LinkageError, match="root is 'fixed', 'planar', 'floating', got 'flying'"):
        load(tmp_path / "arm.yaml", root="flying")


def test_a_scene_of_many_links_goes_through_both_kinds() -> None:
    links = [lw.Link(f"l{k}", lw.Sphere(0.1)) for k in range(2001)]
    joints = [lw.Joint(f"j{k}", f"l{k}", f"l{k + 1}", lw.Revolute("y"), (0.1, 0.0, k / 7)) for k in range(2000)]
    linkage = lw.Linkage(links, joints)
    for kind in yaml_json.KINDS:
        again = scene.parse(scene.dump(linkage, kind), "", kind)
        assert pickle.loads(pickle.dumps(again)) == linkage
        assert len({id(link.visuals[0].shape) for link in again.nodes}) == 1
