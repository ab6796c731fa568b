"""Robots as files: those of other people with what was computed for them, and small ones written here."""

from __future__ import annotations

from pathlib import Path

import pytest
from numpy.testing import assert_allclose

from linkwork.formats import urdf
from linkwork.formats.content import Content
from linkwork.formats.options import Options
from linkwork.linkage.linkage import Linkage
from linkwork.linkage.poses import zero_pose

DATA = Path(__file__).parents[2] / "shared" / "data"
GOLDENS = sorted((DATA / "golden").glob("urdf__*.json"))
goldens = pytest.mark.parametrize(
    "golden",
    GOLDENS or [pytest.param(None, marks=pytest.mark.skip(reason="the folder of real files is not here"))],
    ids=lambda path: path.stem.removeprefix("urdf__") if path else "none",
)


def read(path: Path, text: str | bytes, **options) -> Content:
    path = path / "robot.urdf" if path.is_dir() else path
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return urdf.read(path, Options(**options))


def kinds(remarks) -> list[str]:
    return sorted({remark.kind for remark in remarks})


def agrees(linkage: Linkage, golden: dict) -> None:
    assert golden["poses"]
    for pose in golden["poses"]:
        values = {name: value for name, value in pose["q"].items() if linkage.joint(name).mimic is None}
        frames = linkage.forward(linkage.pose(values, base=zero_pose(linkage)))
        for name, place in pose["links"].items():
            assert_allclose(frames[name][:3, 3], place["pos"], rtol=0, atol=1e-9)
            assert_allclose(frames[name][:3, :3], place["R"], rtol=0, atol=1e-9)


ARM = """<?xml version="1.0"?>
<robot name="arm">
  <link name="base"/>
  <link name="hand"/>
  <joint name="j" {joint}>
    <parent link="base"/>
    <child link="hand"/>
    {inside}
  </joint>
  {more}
</robot>
"""


def arm(joint: str = 'type="fixed"', inside: str = "", more: str = "") -> str:
    return ARM.format(joint=joint, inside=inside, more=more)


STEEL = '<material name="steel"><color rgba="0.1 0.2 0.3 1"/></material>'
LINK = f'<robot name="r">{STEEL}{{before}}<link name="a">{{inside}}</link></robot>'
MESH = '<visual><geometry><mesh filename="{}"/></geometry></visual>'
