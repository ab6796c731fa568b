"""Masses of MJCF bodies: equal to MuJoCo's, also of meshes; and remarks about meshes whose mass is unknown."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import FormatError, GoalError, LinkageError
from linkwork.formats import mjcf, mjcf_masses
from linkwork.formats.content import Content
from linkwork.formats.options import Options

mujoco = pytest.importorskip("mujoco", reason="MuJoCo (extra formats) is not installed")

CORNERS = np.array([(0.0, 0.0, 0.0), (0.3, 0.0, 0.0), (0.0, 0.2, 0.0), (0.0, 0.0, 0.4)])
FACES = ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))
VERTICES = " ".join(f"{x:g}" for x in CORNERS.ravel())


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # MuJoCo writes its log there


def write_obj(path: Path, corners: np.ndarray = CORNERS) -> None:
    lines = [f"v {x} {y} {z}" for x, y, z in corners] + [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in FACES]
    path.write_text("\n".join(lines), encoding="utf-8")


def write_stl(path: Path) -> None:
    triangles = b"".join(struct.pack("<12fH", 0, 0, 0, *CORNERS[list(face)].ravel(), 0) for face in FACES)
    path.write_bytes(bytes(80) + struct.pack("<I", len(FACES)) + triangles)


def model(geoms: str, *, compiler: str = "", mesh: str = "", more: str = "") -> str:
    """Return an arm of two bodies whose first has some geoms."""
    return (
        f'<mujoco><compiler {compiler}/><asset><mesh name="m" file="a.obj" {mesh}/>{more}</asset><worldbody>'
        f'<body name="b"><joint name="j" axis="0 1 0"/>{geoms}<body name="c" pos="0 0 .5"><joint name="k"/>'
        '<geom type="box" size=".1 .2 .3"/></body></body></worldbody></mujoco>'
    )


def written(folder: Path, text: str) -> Path:
    write_obj(folder / "a.obj")
    write_stl(folder / "s.stl")
    (folder / "model.xml").write_text(text, encoding="utf-8")
    return folder / "model.xml"


MESH = '<geom type="mesh" mesh="m" pos=".1 0 .2" euler="10 20 30"/>'
MODELS = {
    "density": model(MESH.replace("mesh=", 'density="3000" mesh=')),
    "a given mass": model(MESH.replace("mesh=", 'mass="7.5" mesh=')),
    "a mass of the default class": model(MESH).replace("<asset>", '<default><geom mass="2"/></default><asset>'),
    "scaled and mirrored": model(MESH, mesh='scale="2 -1 .5"'),
    "with a reference": model(MESH, mesh='refpos=".1 .2 .3" refquat="1 .2 0 .4"'),
    "exact": model(MESH, mesh='inertia="exact"'),
    "convex": model(MESH, mesh='inertia="convex"'),
    "a shell": model(MESH, mesh='inertia="shell"'),
    "beside other shapes": model(MESH + '<geom size=".1"/><geom type="capsule" size=".1 .2" mass="3"/>'),
    "another file": model(MESH.replace('"m"', '"s"'), more='<mesh name="s" file="s.stl"/>'),
    "vertices in the model": model(MESH.replace('"m"', '"v"'), more=f'<mesh name="v" vertex="{VERTICES}"/>'),
    "a box around the mesh": model(MESH.replace('"mesh"', '"box"')),
    "only some groups": model(MESH + MESH.replace("mesh=", 'group="4" mesh='), compiler='inertiagrouprange="0 2"'),
    "a total": model(MESH, compiler='settotalmass="12"'),
    "an inertial, which counts": model('<inertial pos="0 0 1" mass="2" diaginertia="1 1 1"/>' + MESH),
    "an inertial, which does not": model(
        '<inertial pos="0 0 1" mass="2" diaginertia="1 1 1"/>' + MESH, compiler='inertiafromgeom="true"'
    ),
    "no mass at all": model('<geom size=".1"/>' + MESH.replace("mesh=", 'mass="0" mesh=')),
}


@pytest.mark.parametrize("text", MODELS.values(), ids=MODELS)
def test_bodies_weigh_what_mujoco_says(text: str, tmp_path: Path) -> None:
    path = written(tmp_path, text)
    theirs, result = mujoco.MjModel.from_xml_path(str(path)), mjcf.read(path)
    arm, data = result.linkage, mujoco.MjData(theirs)
    assert not [remark for remark in result.remarks if remark.kind == "inertia"]
    for name in ("b", "c"):
        inertia, body = arm.link(name).inertia, theirs.body(name)
        assert inertia is not None
        assert inertia.mass == pytest.approx(body.mass[0], rel=1e-12)
        np.testing.assert_allclose(inertia.center, body.ipos, atol=1e-12)
        moments = np.linalg.eigvalsh(inertia.matrix)
        np.testing.assert_allclose(moments, np.sort(body.inertia), rtol=1e-9, atol=1e-15)
    data.qpos[:] = (0.3, -0.8)
    mujoco.mj_kinematics(theirs, data)
    mujoco.mj_comPos(theirs, data)
    np.testing.assert_allclose(lw.mass.center_of_mass(arm, data.qpos), data.subtree_com[0], atol=1e-12)


def test_shapes_stand_where_they_do_without_their_masses(tmp_path: Path) -> None:
    weighed = mjcf.read(written(tmp_path, model(MESH))).linkage
    light = mjcf.read(written(tmp_path, model(MESH.replace("mesh=", 'mass="0" mesh=')))).linkage
    assert weighed.link("b").visuals == light.link("b").visuals


# Unknown masses


def unknown(result: Content) -> str:
    """Return the remark about unknown masses."""
    (text,) = (remark.text for remark in result.remarks if remark.kind == "inertia")
    return text


def broken(folder: Path, text: str, content: bytes | None) -> Content:
    path = written(folder, text)
    (folder / "a.obj").unlink()
    if content is not None:
        (folder / "a.obj").write_bytes(content)
    return mjcf.read(path)


BROKEN = {
    "missing": (None, "a.obj was not found"),
    "empty": (b"", "MuJoCo refuses mesh 'm'"),
    "no mesh": (b"f 7 8 9\n", "MuJoCo refuses mesh 'm'"),
    "flat": (b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 2 4 3\n", "MuJoCo refuses mesh 'm'"),
}


@pytest.mark.parametrize(("content", "said"), BROKEN.values(), ids=BROKEN)
def test_a_mesh_that_cannot_be_weighed_costs_the_mass_of_its_body(
    content: bytes | None, said: str, tmp_path: Path
) -> None:
    result = broken(tmp_path, model(MESH), content)
    text = unknown(result)
    assert "the mass of 1 body is unknown (b)" in text
    assert said in text
    arm = result.linkage
    inertia, other = arm.link("b").inertia, arm.link("c").inertia
    assert inertia is not None
    assert not inertia.known
    assert other is not None
    assert other.known
    assert other.mass == pytest.approx(48.0)


def test_a_broken_mesh_is_refused_where_a_file_is_read_strictly(tmp_path: Path) -> None:
    path = written(tmp_path, model(MESH))
    assert mjcf.read(path, Options(strict=True)).linkage.link("b").inertia is not None
    (tmp_path / "a.obj").write_bytes(b"f 7 8 9\n")
    with pytest.raises(FormatError, match=r"model.xml: MuJoCo refuses mesh 'm' \("):
        mjcf.read(path, Options(strict=True))


def test_a_given_mass_is_known_even_where_its_place_is_not(tmp_path: Path) -> None:
    arm = broken(tmp_path, model(MESH.replace("mesh=", 'mass="7.5" mesh=')), None).linkage
    inertia = arm.link("b").inertia
    assert inertia is not None
    assert (inertia.known, inertia.mass) == (False, pytest.approx(7.5))


def test_where_the_total_is_set_no_mass_is_known_unless_all_are(tmp_path: Path) -> None:
    result = broken(tmp_path, model(MESH, compiler='settotalmass="12"'), None)
    assert "the mass of 2 bodies is unknown (b, c)" in unknown(result)


def test_what_asks_for_the_mass_is_told_that_it_is_not_known(tmp_path: Path) -> None:
    arm = broken(tmp_path, model(MESH), None).linkage
    said = r"not known: 1 of its 2 links with a mass \(b\) .* 48 kg are known.*replace\(links=\{'b'"
    for ask in (lw.mass.total_mass, lambda a: lw.mass.center_of_mass(a, a.neutral())):
        with pytest.raises(LinkageError, match=said):
            ask(arm)
    with pytest.raises(GoalError, match=said):
        lw.solve(arm, [lw.Reach("c", position=(0, 0, 0.5)), lw.Balance(over=(0, 0, 0))])
    whole = arm.replace(links={"b": {"inertia": lw.Inertia(2.0)}})
    assert lw.mass.total_mass(whole) == pytest.approx(50.0)


def test_an_unknown_mass_is_kept_in_scene_files_and_left_out_of_urdf(tmp_path: Path) -> None:
    arm = broken(tmp_path, model(MESH), None).linkage
    lw.save(arm, tmp_path / "arm.yaml")
    assert lw.load(tmp_path / "arm.yaml").link("b").inertia == arm.link("b").inertia
    remarks = lw.save(arm, tmp_path / "arm.urdf")
    assert any("unknown mass" in remark.text for remark in remarks)
    assert lw.load(tmp_path / "arm.urdf").link("b").inertia is None


def test_many_broken_meshes_are_given_up_together(tmp_path: Path) -> None:
    count = mjcf_masses.MOST_BROKEN + 3
    assets = "".join(f'<mesh name="m{k}" file="a.obj"/>' for k in range(count))
    geoms = "".join(MESH.replace('"m"', f'"m{k}"') for k in range(count))
    result = broken(tmp_path, model(geoms, more=assets), b"f 7 8 9\n")
    assert "unknown (b)" in unknown(result)


def test_meshes_outside_the_folder_are_not_weighed(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    write_obj(tmp_path / "a.obj")
    (inside / "model.xml").write_text(model(MESH).replace("a.obj", "../a.obj"), encoding="utf-8")
    assert "is outside the model's folder" in unknown(mjcf.read(inside / "model.xml"))
    allowed = lw.load(inside / "model.xml", folders=[tmp_path])
    assert lw.mass.total_mass(allowed) == pytest.approx(48.0 + 1000.0 * 0.3 * 0.2 * 0.4 / 6.0)
