"""Robots by their names in robot_descriptions, with a stand-in for that package, so that nothing is cloned."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import linkwork as lw
from command_line import run
from linkwork import formats
from linkwork.errors import FormatError, MissingExtraError, ModelNotFoundError
from linkwork.formats.descriptions import description_names, is_description
from linkwork.formats.options import Options
from linkwork.formats.registry import means_file
from linkwork.studio.saving import read_scene
from robots import gymnasium, shipped

ROBOTS = shipped("panda").parents[3]  # the root of a clone of example-robot-data
# Like the real modules: importing them clones a repository, and names in capitals are paths in it.
MODULE = """
from ._cache import clone_to_cache
from os import path as _path
REPOSITORY_PATH = clone_to_cache({repository!r})
PACKAGE_PATH = _path.join(REPOSITORY_PATH, *{package!r})
{more}
"""
LIFT = """<robot name="lift" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="height" default="1"/> <xacro:arg name="width" default="1"/>
  <link name="base"/> <link name="table">
    <visual><geometry><mesh filename="package://lift_parts/table.stl"/></geometry></visual></link>
  <joint name="rise" type="prismatic"><parent link="base"/><child link="table"/><axis xyz="0 0 1"/>
    <origin xyz="$(arg width) 0 0"/><limit lower="0" upper="$(arg height)" effort="1" velocity="1"/></joint>
</robot>"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a stand-in for robot_descriptions first on the path, and remove it at the end."""
    folder = tmp_path / "site" / "robot_descriptions"
    folder.mkdir(parents=True)
    lift = tmp_path / "clones" / "lift"
    (lift / "parts").mkdir(parents=True)
    (lift / "lift.urdf.xacro").write_text(LIFT, encoding="utf-8")
    (lift / "parts" / "table.stl").write_bytes(b"solid")
    clones = {"example-robot-data": str(ROBOTS), "walkers": str(gymnasium("ant").parent), "lift": str(lift)}
    (folder / "_cache.py").write_text(
        f"CLONES, asked = {clones!r}, []\n"
        "def clone_to_cache(name):\n"
        "    asked.append(name)\n"
        "    if name not in CLONES:\n"
        "        raise OSError('Cmd(git) failed!\\n  could not resolve host: github.com')\n"
        "    return CLONES[name]\n",
        encoding="utf-8",
    )
    panda = "URDF_PATH = _path.join(PACKAGE_PATH, 'urdf', 'panda.urdf')\n"
    panda += "SRDF_PATH = _path.join(PACKAGE_PATH, 'srdf', 'panda.srdf')"
    xacro = "XACRO_PATH = _path.join(PACKAGE_PATH, 'lift.urdf.xacro')\nXACRO_ARGS = {'height': '0.5', 'width': '2'}\n"
    xacro += "XACRO_PACKAGE_PATHS = {'lift_parts': _path.join(PACKAGE_PATH, 'parts')}"
    modules = {
        "panda_description": ("example-robot-data", ("robots", "panda_description"), panda),
        "ant_mj_description": ("walkers", (), "MJCF_PATH = _path.join(PACKAGE_PATH, 'ant.xml')"),
        "lift_description": ("lift", (), xacro),
        "pair_description": ("lift", (), "URDF_PATH_LEFT = URDF_PATH_RIGHT = 'none'"),
        "away_description": ("away", (), ""),
    }
    (folder / "__init__.py").write_text(f"DESCRIPTIONS = dict.fromkeys({list(modules)!r})\n", encoding="utf-8")
    for name, (repository, inside, more) in modules.items():
        (folder / f"{name}.py").write_text(
            MODULE.format(repository=repository, package=inside, more=more), encoding="utf-8"
        )
    _forget(monkeypatch)
    monkeypatch.syspath_prepend(folder.parent)
    yield folder
    _forget(monkeypatch)


def _forget(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "robot_descriptions"]:
        monkeypatch.delitem(sys.modules, name)


def cloned() -> list[str]:
    module = sys.modules.get("robot_descriptions._cache")
    return [] if module is None else module.asked


def test_a_urdf_robot_is_its_file_with_its_meshes_groups_and_poses(package: Path) -> None:
    robot = lw.load("panda_description")
    file = lw.load(shipped("panda"))
    assert (robot.links, robot.joints, robot.nq) == (file.links, file.joints, file.nq)
    assert robot.groups
    assert robot.poses
    meshes = [visual.shape for node in robot.nodes for visual in node.visuals if visual.shape.kind == "mesh"]
    assert meshes
    assert all(mesh.file is not None and Path(mesh.file).is_file() for mesh in meshes)
    assert cloned() == ["example-robot-data"]  # and no other
    assert lw.load("panda_description", root="floating").root.articulation.kind == "floating"


def test_an_mjcf_robot_is_its_file(package: Path) -> None:
    pytest.importorskip("mujoco")
    assert lw.load("ant_mj_description").coordinates == lw.load(gymnasium("ant")).coordinates
    assert cloned() == ["walkers"]


def test_a_xacro_robot_has_the_arguments_of_its_module_and_those_given_go_before(package: Path) -> None:
    pytest.importorskip("xacro")
    robot = lw.load("lift_description")
    assert robot.upper.tolist() == [0.5]
    assert robot.nodes[1].visuals[0].shape.file is not None
    assert lw.load("lift_description", arguments={"height": 3}).upper.tolist() == [3.0]
    assert lw.load("lift_description", arguments={"height": 3}).joint("rise").placement[0, 3] == 2.0


def test_names_are_listed_and_misspelt_ones_corrected_without_a_clone(package: Path) -> None:
    assert "panda_description" in description_names()
    with pytest.raises(ModelNotFoundError, match="in robot_descriptions; did you mean 'panda_description'"):
        lw.load("pnada_description")
    for name in ("panda_desciption", "panda"):
        with pytest.raises(FormatError, match=r"did you mean 'panda_description'\? Known formats: \.yaml"):
            lw.load(name)
    assert cloned() == []


def test_what_cannot_be_cloned_or_has_no_such_file_says_so(package: Path) -> None:
    with pytest.raises(FormatError, match=r"cannot get it: Cmd\(git\) failed! could not resolve host.*ROBOT_DESC"):
        lw.load("away_description")
    with pytest.raises(FormatError, match=r"has no URDF_PATH, XACRO_PATH, MJCF_PATH for it, only .*URDF_PATH_LEFT"):
        lw.load("pair_description")


def test_a_file_goes_before_and_strangers_clone_nothing(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(FormatError, match="no suffix"):
        lw.load("panda_description", within=tmp_path)
    (tmp_path / "panda_description").mkdir()
    monkeypatch.chdir(tmp_path)
    assert not is_description("panda_description")
    with pytest.raises(FormatError, match="is a folder"):
        lw.load("panda_description")
    assert cloned() == []


def test_the_package_is_asked_for_where_it_is_not(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _forget(monkeypatch)
    monkeypatch.setattr("linkwork.formats.descriptions.find_spec", lambda _name: None)
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    said = r"'panda_description' is not a file; looking for a robot of that name needs .*linkwork\[descriptions\]"
    with pytest.raises(MissingExtraError, match=said):
        lw.load("panda_description")
    with pytest.raises(FormatError, match="no suffix"):
        lw.load("Panda_description")
    assert description_names() == ()


def test_the_command_line_and_the_studio_take_the_same_names(package: Path) -> None:
    result = run("info", "panda_description")
    assert result.exit_code == 0, result.output
    assert "panda: " in result.output
    assert "groups: " in result.output
    assert run("doctor", "panda_description").exit_code in (0, 1)
    wrong = run("info", "pnda_desciption")
    assert wrong.exit_code == 2
    assert "neither a file nor a model name; did you mean 'panda_description'?" in wrong.output
    assert run("info", "away_description").exit_code == 3
    assert run("info", "panda").output.startswith("panda: 7 ")  # a ready-made model takes precedence
    scene, _ = read_scene(Path("panda_description"), Options())
    assert means_file("panda_description")
    assert scene.linkage.name == "panda"


def test_a_motion_is_not_among_them(package: Path) -> None:
    with pytest.raises(FormatError, match="holds no motion"):
        lw.load_clip("panda_description")
    assert formats.read("panda_description").clips == {}
