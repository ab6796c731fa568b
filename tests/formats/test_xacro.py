"""xacro files: expanded with arguments, packages and includes; expressions that access the system are refused."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

import linkwork as lw
from linkwork.errors import FormatError, MissingExtraError, OptionError, VersionError
from linkwork.formats import child, urdf, xacro
from linkwork.formats.options import Options
from robots import kinds
from symlinks import symlink

ARM = """<?xml version="1.0"?>
<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="prefix" default=""/>
  <xacro:arg name="parts" default="2"/>
  <xacro:property name="length" value="0.5"/>
  <xacro:macro name="part" params="k">
    <link name="link${k}"/>
    <joint name="j${k}" type="revolute">
      <parent link="${'base' if k == 1 else 'link' + str(k - 1)}"/><child link="link${k}"/>
      <origin xyz="${length * k} 0 0"/><axis xyz="0 0 1"/>
      <limit lower="${-pi / 2}" upper="${radians(90)}" velocity="${2 * k}" effort="$(eval 10 + 1)"/>
    </joint>
    <xacro:if value="${k &lt; $(arg parts)}"><xacro:part k="${k + 1}"/></xacro:if>
  </xacro:macro>
  <link name="base"/><link name="$(arg prefix)tool"/>
  <joint name="weld" type="fixed"><parent link="base"/><child link="$(arg prefix)tool"/></joint>
  <xacro:part k="1"/>
</robot>
"""
HEAD = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'


def written(folder: Path, text: str, name: str = "arm.urdf.xacro") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_is_expanded_with_its_arguments(tmp_path):
    content = urdf.read(written(tmp_path, ARM))
    assert content.linkage.joints == ("weld", "j1", "j2")
    assert content.linkage.joint("j2").placement[0, 3] == 1.0
    assert content.linkage.upper.tolist() == pytest.approx([1.5707963, 1.5707963])
    assert content.linkage.velocity.tolist() == [2, 4]
    assert content.linkage.effort.tolist() == [11, 11]
    (remark,) = content.remarks
    assert (remark.kind, remark.line) == ("xacro", None)
    assert remark.text == "expanded by xacro with prefix=, parts=2."
    more = lw.load(tmp_path / "arm.urdf.xacro", arguments={"parts": 3, "prefix": "left_"})
    assert (more.nq, "left_tool" in more.links) == (3, True)


def test_a_script_is_expanded_whatever_its_name_is_and_as_text(tmp_path):
    assert lw.load(written(tmp_path, ARM, "arm.urdf")).nq == 2
    assert lw.loads(ARM, "xacro", arguments={"parts": "1"}).nq == 1
    assert lw.loads(ARM, "urdf").nq == 2


def test_includes_and_tables_come_from_the_models_folder_and_its_package(tmp_path):
    package = tmp_path / "ws" / "src"
    written(package, "<package><name>arm_description</name></package>", "package.xml")
    written(package, "length: 0.75\n", "config/sizes.yaml")
    written(
        package,
        ARM.replace('value="0.5"', "value=\"${xacro.load_yaml('../config/sizes.yaml')['length']}\""),
        "urdf/arm.xacro",
    )
    top = f'{HEAD}<xacro:include filename="$(find arm_description)/urdf/arm.xacro"/></robot>'
    linkage = lw.load(written(package, top, "robots/top.urdf.xacro"))
    assert linkage.joint("j1").placement[0, 3] == 0.75


def test_packages_are_found_as_those_of_meshes_are(tmp_path, monkeypatch):
    written(tmp_path, ARM, "elsewhere/parts/arm.xacro")
    top = written(tmp_path, f'{HEAD}<xacro:include filename="$(find parts)/arm.xacro"/></robot>', "here/top.xacro")
    with pytest.raises(FormatError, match=r"package 'parts', which is not found; give its .*--package parts=FOLDER"):
        lw.load(top)
    assert lw.load(top, packages={"parts": tmp_path / "elsewhere/parts"}).nq == 2
    assert lw.load(top, folders=[tmp_path / "elsewhere"]).nq == 2
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path / "elsewhere"))
    assert lw.load(top).nq == 2
    monkeypatch.delenv("ROS_PACKAGE_PATH")
    share = tmp_path / "install/share"
    share.mkdir(parents=True)
    (share / "parts").mkdir()
    symlink(share / "parts/arm.xacro", tmp_path / "elsewhere/parts/arm.xacro")  # as colcon installs it
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "install"))
    assert lw.load(top).nq == 2


def test_meshes_of_a_found_package_are_found(tmp_path):
    written(tmp_path, "solid", "parts/meshes/a.stl")
    mesh = '<mesh filename="file://$(find parts)/meshes/a.stl"/>'
    text = f'{HEAD}<link name="a"><visual><geometry>{mesh}</geometry></visual></link></robot>'
    content = urdf.read(written(tmp_path, text, "here/top.xacro"), Options(packages={"parts": tmp_path / "parts"}))
    assert kinds(content.remarks) == ["xacro"]


# Errors


def test_arguments_that_are_missing_or_spare(tmp_path):
    needs = ARM.replace('<xacro:arg name="prefix" default=""/>', "")
    with pytest.raises(FormatError, match=r"argument prefix\. Give it with .*--argument.*it asks for .*prefix"):
        lw.load(written(tmp_path, needs))
    with pytest.raises(OptionError, match=r"no argument 'part'; it has prefix, parts"):
        lw.load(written(tmp_path, ARM), arguments={"part": 3})
    with pytest.raises(OptionError, match="arguments maps names"):
        lw.load(tmp_path / "arm.urdf.xacro", arguments=["a"])


@pytest.mark.parametrize(
    ("inside", "said"),
    [
        ('<link name="${x}"/>', "name 'x' is not defined"),
        ('<xacro:include filename="gone.xacro"/>', "No such file"),
        ('<xacro:macro name="m"/>', "defines no links with no arguments; a file of macros is included by others"),
        ('<link name="a"/><xacro:part/>', "part"),
        ('<xacro:macro name="m"><xacro:m/></xacro:macro><xacro:m/>', "endlessly|recursion"),
        ('<link name="a"/><link name="${1 / 0}"/>', "division by zero"),
    ],
)
def test_what_xacro_refuses_is_said(tmp_path, inside, said):
    with pytest.raises(FormatError, match=said) as caught:
        lw.load(written(tmp_path, f"{HEAD}{inside}</robot>"))
    assert "arm.urdf.xacro" in str(caught.value)


def test_a_problem_of_the_expanded_text_is_told_as_such(tmp_path):
    with pytest.raises(FormatError, match=r"arm\.urdf\.xacro, expanded.*needs the attribute|needs a name"):
        lw.load(written(tmp_path, f'{HEAD}<xacro:property name="x" value="1"/><link name=""/></robot>'))


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("${().__class__.__mro__}", "'__mro__', which is not allowed"),
        ("${(lambda: ().__class__)()}", "'__class__', which is not allowed"),
        ("${[x.__class__ for x in [1]]}", "'__class__', which is not allowed"),
        ("${(x for x in [1]).gi_frame}", "'gi_frame', which is not allowed"),
        ("${python.vars(python.type)}", "'vars', which is not allowed"),
        ("$(eval open)", "'open'"),
        ("$(eval [exec])", "'exec'"),
        ("$(eval [c._x for c in [int]])", "'_x', which is not allowed"),
        ("$(env HOME)", "HOME' is not set"),
        ("${xacro.load_yaml('/etc/hostname')}", "reads '/etc/hostname', outside the model's folder"),
        ("${xacro.load_yaml('../outside.yaml')}", "reads .*outside.yaml', outside the model's folder"),
        ("${xacro.load_yaml('link.yaml')}", "reads .*link.yaml', outside the model's folder"),
    ],
)
def test_expressions_that_reach_for_the_machine_are_refused(tmp_path, expression, said):
    written(tmp_path, "a: 1", "outside.yaml")
    path = written(tmp_path, f'{HEAD}<link name="a" x="{expression}"/></robot>', "model/arm.xacro")
    symlink(path.parent / "link.yaml", tmp_path / "outside.yaml")
    with pytest.raises(FormatError, match=f"xacro cannot expand it: .*{said}"):
        lw.load(path)


@pytest.mark.parametrize("name", ["../outside.xacro", "link.xacro", "{}/outside.xacro", "../*.xacro"])
def test_files_outside_are_not_included(tmp_path, name):
    written(tmp_path, ARM, "outside.xacro")
    text = f'{HEAD}<xacro:include filename="{name.format(tmp_path)}"/></robot>'
    path = written(tmp_path, text, "model/arm.xacro")
    symlink(path.parent / "link.xacro", tmp_path / "outside.xacro")
    with pytest.raises(FormatError, match=r"outside the model's folder|lists"):
        lw.load(path)
    assert lw.load(path, folders=tmp_path, arguments={"parts": "1"}).nq == 1


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limits")
@pytest.mark.parametrize("bomb", ["${9 ** 9 ** 9}", "${len('x' * 2 ** 40)}"])
def test_expressions_without_end_are_ended(tmp_path, monkeypatch, bomb):
    monkeypatch.setattr(xacro, "SECONDS", 0.1)
    with pytest.raises(FormatError, match=r"too much time or memory|cannot expand it"):
        lw.load(written(tmp_path, f'{HEAD}<link name="a" x="{bomb}"/></robot>'))


def test_entities_and_documents_that_are_too_large_are_refused(tmp_path):
    text = '<!DOCTYPE r [<!ENTITY a "b">]>' + ARM.partition("?>")[2]
    with pytest.raises(FormatError, match="DOCTYPE"):
        lw.load(written(tmp_path, text))
    deep = "<a>" * 70 + "</a>" * 70
    with pytest.raises(FormatError, match="nested deeper"):
        lw.load(written(tmp_path, f"{HEAD}{deep}</robot>"))


def test_without_the_package_the_extra_is_named(tmp_path, monkeypatch):
    for answer, error, said in (
        ({"missing": "xacro"}, MissingExtraError, r"pip install 'linkwork\[xacro\]'"),
        ({"version": "1.0"}, VersionError, "xacro 1.0 has no safe_eval"),
    ):
        monkeypatch.setattr(child, "ask", lambda *_, answer=answer: json.dumps(answer).encode())
        with pytest.raises(error, match=said):
            lw.load(written(tmp_path, ARM))


def test_the_variables_of_this_process_are_not_seen(tmp_path, monkeypatch):
    monkeypatch.setitem(os.environ, "SECRET", "x")
    text = f"""{HEAD}<link name="$(optenv SECRET none)"/></robot>"""
    assert lw.load(written(tmp_path, text)).links == ("none",)
