"""Mesh names: found in allowed folders, never followed outside, and all attempted paths are reported."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from linkwork.formats import meshes
from linkwork.formats.options import Options
from symlinks import symlink


@pytest.fixture(autouse=True)
def no_ros(monkeypatch):
    monkeypatch.delenv("ROS_PACKAGE_PATH", raising=False)
    monkeypatch.delenv("AMENT_PREFIX_PATH", raising=False)


def put(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("solid", encoding="utf-8")
    return Path(os.path.realpath(path))


@pytest.fixture
def model(tmp_path) -> Path:
    """A model in its own folder, inside a folder that it may not read."""
    put(tmp_path / "secret.stl")
    return put(tmp_path / "robots" / "arm.urdf")


def find(name: str, model: Path, **options) -> meshes.Resolved:
    return meshes.resolve(name, model, Options(**options))


@pytest.mark.parametrize(
    "name",
    ["meshes/hand.stl", "./meshes/hand.stl", "meshes/../meshes/hand.stl", "meshes\\hand.stl", "file://meshes/hand.stl"],
)
def test_a_relative_name_is_relative_to_the_model(model, name):
    file = put(model.parent / "meshes" / "hand.stl")
    assert find(name, model).file == file


def test_an_absolute_name_may_lie_in_the_model_s_folder(model):
    file = put(model.parent / "a b" / "hand.stl")
    assert find(str(file), model).file == file
    assert find(f"file://{file}", model).file == file
    assert find(file.as_uri().replace("///", "//localhost/"), model).file == file
    assert find(file.as_uri(), model).file == file  # blanks as %20


def test_a_percent_sign_in_a_name_is_first_taken_as_it_is(model):
    file = put(model.parent / "100%20.stl")
    put(model.parent / "100 .stl")
    assert find("100%20.stl", model).file == file


@pytest.mark.parametrize(
    "name",
    [
        "../secret.stl",
        "meshes/../../secret.stl",
        "..\\secret.stl",
        "%2e%2e/secret.stl",
        "{above}/secret.stl",
        "file://{above}/secret.stl",
        "file:///{above}/robots/../secret.stl",
        "package://robots/../secret.stl",
        "package://robots/%2e%2e/secret.stl",
        "package://../secret.stl",
        "package://./../secret.stl",
        "package://{above}/secret.stl",
        "model://robots/../secret.stl",
        "link.stl",
        "folder/secret.stl",
        "package://folder/secret.stl",
        "http://example.org/secret.stl",
        "",
        "package://",
        "package://robots",
        "secret\0.stl",
        "x" * 5000,
        "x" * 300,
        "package://" + "x" * 300 + "/a.stl",
        "%00.stl",
    ],
)
def test_nothing_leads_out_of_the_model_s_folder(model, name):
    above = model.parent.parent
    symlink(model.parent / "link.stl", above / "secret.stl")
    symlink(model.parent / "folder", above)
    found = find(name.format(above=above), model)
    assert found.file is None
    assert not any(os.path.realpath(path) == os.path.realpath(above / "secret.stl") for path in found.tried)
    assert found.refused or all("robots" in path or "(not a package)" in path for path in found.tried)
    assert found.reason


def test_folders_that_are_told_may_be_read(model):
    above = model.parent.parent
    secret = Path(os.path.realpath(above / "secret.stl"))
    assert find("../secret.stl", model, folders=(above,)).file == secret
    assert find("secret.stl", model, folders=(above,)).file == secret
    assert find(str(secret), model, folders=(above,)).file == secret
    other = put(above / "other" / "hand.stl")
    assert find("package://other/hand.stl", model, folders=(above,)).file == other
    assert find("package://other/hand.stl", model, folders=(above / "other",)).file == other


def test_packages_are_taken_from_the_map_then_ros_then_ament_then_around_the_model(model, tmp_path, monkeypatch):
    monkeypatch.setenv("ROS_PACKAGE_PATH", f"{tmp_path / 'ros1'}{os.pathsep}{tmp_path / 'ros2'}")
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "ament"))
    places = [
        tmp_path / "told",
        tmp_path / "ros1" / "arm",
        tmp_path / "ros2" / "arm",
        tmp_path / "ament" / "share" / "arm",
        model.parent / "arm",
        tmp_path / "arm",
    ]
    put(tmp_path / "arm" / "package.xml")
    options = {"packages": {"arm": tmp_path / "told"}}
    found = find("package://arm/meshes/hand.stl", model, **options)
    assert found.file is None
    assert list(found.tried[:6]) == [str(place / "meshes" / "hand.stl") for place in places]
    assert found.tried[6] == f"{tmp_path.parent / 'arm' / 'meshes' / 'hand.stl'} (not a package)"
    assert len(found.tried) == 6 + len(tmp_path.parents)
    assert all(path in found.reason for path in found.tried)
    for place in reversed(places):
        file = put(place / "meshes" / "hand.stl")
        assert find("package://arm/meshes/hand.stl", model, **options).file == file


def test_a_ros_path_may_name_the_package_itself(model, tmp_path, monkeypatch):
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path / "arm"))
    file = put(tmp_path / "arm" / "hand.stl")
    assert find("package://arm/hand.stl", model).file == file


def test_a_workspace_installed_as_links_is_followed(model, tmp_path, monkeypatch):
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "install"))
    file = put(tmp_path / "source" / "hand.stl")
    share = tmp_path / "install" / "share" / "arm"
    share.mkdir(parents=True)
    symlink(share / "hand.stl", file)
    assert find("package://arm/hand.stl", model).file == file
    assert find("package://arm/../../../secret.stl", model).file is None
    symlink(share / "far", model.parent)
    assert find("package://arm/far/../secret.stl", model).file is None  # not the parent of the link's target


def test_the_package_around_a_model_is_found_by_its_name_and_its_content(tmp_path):
    package = tmp_path / "src" / "arm_description"
    model, file = put(package / "deep" / "down" / "arm.urdf"), put(package / "meshes" / "hand.stl")
    assert find("package://arm_description/meshes/hand.stl", model).file is None  # any folder may have this name
    assert find("../../meshes/hand.stl", model).file is None
    put(package / "package.xml")
    assert find("package://arm_description/meshes/hand.stl", model).file == file
    assert find("../../meshes/hand.stl", model).file == file
    assert find("../../../hand_description/thumb.stl", model).file is None
    neighbour = put(tmp_path / "src" / "hand_description" / "thumb.stl")
    assert find("package://hand_description/thumb.stl", model).file is None
    put(tmp_path / "src" / "hand_description" / "package.xml")
    assert find("package://hand_description/thumb.stl", model).file == neighbour


def test_a_folder_that_keeps_models_as_packages_do_belongs_to_one(tmp_path):
    model, file = put(tmp_path / "T12" / "urdf" / "T12.URDF"), put(tmp_path / "T12" / "meshes" / "foot.stl")
    assert find("package://T12/meshes/foot.stl", model).file == file


def test_gazebo_models_are_found_like_packages(model, tmp_path):
    file = put(tmp_path / "cup" / "cup.stl")
    assert find("model://cup/cup.stl", model, packages={"cup": tmp_path / "cup"}).file == file


def test_a_folder_is_no_mesh(model):
    (model.parent / "hand.stl").mkdir()
    found = find("hand.stl", model)
    assert found.file is None
    assert found.tried == (str(model.parent / "hand.stl"),)


def test_very_many_names_are_not_looked_for(model):
    finder = meshes.MeshFinder(model, Options())
    found = [finder.find(f"hand{k}.stl") for k in range(meshes.MAX_MESHES + 1)]
    assert all(each.tried for each in found[:-1])
    assert "not searched for" in found[-1].reason
    assert finder.find("hand0.stl") is found[0]


def test_where_meshes_were_looked_for_is_said_once_for_every_package(tmp_path):
    finder = meshes.MeshFinder(tmp_path / "arm.urdf", Options(packages={"told": tmp_path}))
    names = ("a.stl", "b.stl", "a.stl", "package://p/a.stl", "package://p/b.stl", "package://told/a.stl", "../c.stl")
    said = [finder.remark(name, "link", 3) for name in names]
    assert said[2] is None
    texts = [remark.text for remark in said if remark is not None]
    assert ["; tried" in text for text in texts] == [True, False, True, False, True, False]
    assert ["either, in the same folders" in text for text in texts] == [False, True, False, True, False, False]
    assert ["--package p=FOLDER" in text for text in texts] == [False, False, True, False, False, False]
    assert "--folder" in texts[-1]


# Robots that were copied without their packages


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("package://hand_description/meshes/visual/palm.stl", "meshes/visual/palm.stl"),
        ("package://big/models/hand/meshes/palm.stl", "meshes/palm.stl"),
        ("package://meshes/palm.stl", "meshes/palm.stl"),
        ("package:///hand_description/meshes/palm.stl", "meshes/palm.stl"),
        ("model://hand/meshes/my%20palm.stl", "meshes/my palm.stl"),
    ],
)
def test_a_package_that_is_not_found_is_guessed_from_where_the_model_is(tmp_path, name, place):
    file, model = put(tmp_path / "copy" / place), tmp_path / "copy" / "urdf" / "hand.urdf"
    model.parent.mkdir()
    found = find(name, model)
    assert (found.file, found.guessed) == (file, tmp_path / "copy")
    finder = meshes.MeshFinder(model, Options())
    remark = finder.remark(name, "palm", 3)
    assert (remark.kind, remark.where, remark.line) == ("guessed-package", "palm", 3)
    assert f"was not found; its meshes are read from {tmp_path / 'copy'}; give its folder" in remark.text
    assert finder.remark(name, "palm", 4) is None


def test_a_package_that_is_told_is_not_guessed(tmp_path):
    model = tmp_path / "copy" / "urdf" / "hand.urdf"
    put(tmp_path / "copy" / "meshes" / "palm.stl")
    assert find("package://hand/meshes/palm.stl", model, packages={"hand": tmp_path}).file is None


@pytest.mark.parametrize(
    "name", ["package://a/../meshes/x.stl", "package://a/%2e%2e/meshes/x.stl", "package://a/x.stl"]
)
def test_names_that_climb_and_files_without_a_folder_are_not_guessed(tmp_path, name):
    put(tmp_path / "meshes" / "x.stl")
    put(tmp_path / "x.stl")
    assert find(name, tmp_path / "urdf" / "hand.urdf").file is None


def test_a_package_is_known_by_the_name_it_gives_itself(tmp_path):
    put(tmp_path / "src" / "package.xml").write_text(
        "<package><name>hand_description</name></package>", encoding="utf-8"
    )
    file = put(tmp_path / "src" / "meshes" / "palm.stl")
    found = find("package://hand_description/meshes/palm.stl", tmp_path / "src" / "robots" / "deep" / "hand.urdf")
    assert (found.file, found.guessed) == (file, None)
