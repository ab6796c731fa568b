"""MJCF: the same kinematics as in MuJoCo, what is kept, remarks about losses, and hostile files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from linkwork import Box, Capsule, Cylinder, Hull, Linkage, Mesh, Sphere
from linkwork.errors import FormatError, MissingExtraError
from linkwork.formats import mjcf, mjcf_model, mjcf_source
from linkwork.formats.content import Content
from linkwork.formats.options import Options
from linkwork.transforms import quaternion_matrix
from robots import gymnasium
from symlinks import symlink

mujoco = pytest.importorskip("mujoco", reason="MuJoCo (extra formats) is not installed")


def content(folder: Path, text: str, name: str = "model.xml", **options: Any) -> Content:
    """Return the content of a model in a file."""
    (folder / name).write_text(text, encoding="utf-8")
    return mjcf.read(folder / name, Options(**options))


def body(inside: str, more: str = "") -> str:
    return f'<mujoco><worldbody><body name="b"><geom size=".1"/>{inside}</body></worldbody>{more}</mujoco>'


def uncoupled(linkage: Linkage) -> Linkage:
    """Return the linkage without couplings, which MuJoCo's forward kinematics ignores."""
    return linkage.replace(joints={arc.name: {"mimic": None} for arc in linkage.arcs if arc.mimic is not None})


def kinds(result: Content) -> list[str]:
    return [remark.kind for remark in result.remarks]


# The same kinematics


MODELS = {
    "hinge": body('<joint name="j" axis="1 2 3"/>'),
    "hinge beside the body": body('<joint name="j" axis="0 1 0" pos=".1 .2 .3"/>'),
    "hinge with a reference": body('<joint name="j" axis="0 1 1" pos="0 .2 0" ref="30"/>'),
    "slide with a reference": body('<joint name="j" type="slide" axis="0 1 1" pos="0 .2 0" ref=".4"/>'),
    "ball beside the body": body('<joint name="j" type="ball" pos=".1 0 .3"/>'),
    "free": body('<freejoint name="j"/><body name="c" pos="1 0 0"><joint/><geom size=".1"/></body>'),
    "free among others": body('<freejoint name="j"/>').replace("<body", '<body name="a" euler="0 20 0"/><body', 1),
    "many joints": body(
        '<joint name="x" type="slide" axis="1 0 0"/><joint name="j" pos="0 0 1" axis="0 1 0" ref="10"/>'
        '<joint name="k" axis="1 0 1"/><joint name="b" type="ball" pos="0 1 0"/>',
        '<default><joint armature="1"/></default>',  # so that the mass matrix is not singular
    ),
    "angles in radians, another Euler order": body(
        '<body name="c" euler="1 .2 .3" pos="1 2 3"><joint name="j" ref=".2"/><geom size=".1"/></body>',
        '<compiler angle="radian" eulerseq="zyx"/>',
    ),
    "defaults and frames": body(
        '<frame pos="1 0 0" euler="0 90 0"><body name="c" childclass="d"><joint/><geom size=".1"/></body></frame>',
        '<default><default class="d"><joint axis="1 0 0" pos="0 .1 0"/></default></default>',
    ),
    "stacked hinges, turned bodies, classes within classes": body(
        '<body name="c" quat=".6 0 .8 0" childclass="arm"><joint name="j"/><joint name="k" class="wrist"/>'
        '<joint name="l" axis="0 0 1"/><geom size=".1"/><site name="s" pos=".1 .2 .3"/>'
        '<body name="d" pos="0 0 .2" xyaxes="0 1 0 1 0 0"><joint name="m"/><geom size=".1"/><site name="b"/></body>'
        "</body>",
        '<default><default class="arm"><joint axis="0 1 0" range="-60 30" damping="1"/>'
        '<default class="wrist"><joint axis="1 0 0" pos="0 0 .1"/></default></default></default>',
    ),
    "planar root of slides and a hinge": body(
        '<joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/><joint name="j" '
        'axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 1" size=".05"/><camera name="side" pos="0 -3 1"/>',
        '<tendon><fixed name="t"><joint joint="j" coef="1"/></fixed></tendon>',
    ),
    "replicated": body(
        '<replicate count="3" offset="1 0 0" euler="0 0 20"><body name="c"><joint name="j"/><geom size=".1"/></body>'
        "</replicate>"
    ),
}


def same_as_mujoco(linkage: Linkage, model: Any) -> None:
    """Compare every body and site at three poses; MuJoCo's forward kinematics ignores couplings."""
    linkage, data = uncoupled(linkage), mujoco.MjData(model)
    assert linkage.nq == model.nq
    rng = np.random.default_rng(5)
    for _ in range(3):
        q = linkage.random_pose(rng)
        data.qpos[:] = q  # both are depth first
        mujoco.mj_kinematics(model, data)
        places = linkage.forward(q)
        for i in range(1, model.nbody):
            matrix = places[model.body(i).name or f"body{i}"]
            np.testing.assert_allclose(matrix[:3, 3], data.xpos[i], atol=1e-12)
            np.testing.assert_allclose(matrix[:3, :3].ravel(), data.xmat[i], atol=1e-12)
        for i in range(model.nsite):
            name = model.site(i).name or f"site{i}"
            place = places[f"{name}_" if name in linkage.links else name]
            np.testing.assert_allclose(place[:3, 3], data.site_xpos[i], atol=1e-12)


@pytest.mark.parametrize("text", MODELS.values(), ids=MODELS)
def test_small_models_agree_with_mujoco(text: str, tmp_path: Path) -> None:
    same_as_mujoco(content(tmp_path, text).linkage, mujoco.MjModel.from_xml_string(text))


REAL = (
    "ant",
    "half_cheetah",
    "hopper",
    "humanoid",
    "inverted_double_pendulum",
    "point",
    "pusher",
    "reacher",
    "swimmer",
)


@pytest.mark.parametrize("name", REAL)
def test_real_models_agree_with_mujoco(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # MuJoCo writes its log there
    path = gymnasium(name)
    same_as_mujoco(mjcf.read(path).linkage, mujoco.MjModel.from_xml_path(str(path)))


def test_a_lone_free_body_is_the_root_and_other_models_stand_on_the_world(tmp_path: Path) -> None:
    free = content(tmp_path, body("<freejoint/>")).linkage
    assert free.root.articulation.kind == "floating"
    assert free.links == ("b",)
    fixed = content(tmp_path, body("")).linkage
    assert (fixed.links, fixed.nq) == (("b",), 0)
    hinged = content(tmp_path, body("<joint/>")).linkage
    assert hinged.links == ("world", "b")
    table = content(tmp_path, body("<freejoint/>").replace("<body", '<geom type="box" size="1 1 1"/><body')).linkage
    assert table.links == ("world", "b")
    assert table.link("world").visuals[0].shape == Box((2.0, 2.0, 2.0))


# What is kept


def test_limits_keyframes_and_the_initial_pose_are_kept(tmp_path: Path) -> None:
    text = body(
        '<joint name="j" range="-90 45" ref="10"/>', '<keyframe><key name="home" qpos=".3"/><key qpos="-1"/></keyframe>'
    )
    linkage = content(tmp_path, text).linkage
    assert np.rad2deg([linkage.lower[0], linkage.upper[0]]).round(9).tolist() == [-90.0, 45.0]
    assert {name: pose.round(9).tolist() for name, pose in linkage.poses.items()} == {
        "qpos0": [round(np.deg2rad(10.0), 9)],
        "home": [0.3],
        "key1": [-1.0],
    }


def test_shapes_colors_roles_and_sites_are_kept(tmp_path: Path) -> None:
    text = body(
        '<geom type="box" size="1 2 3" rgba="1 0 0 1"/>'
        '<geom type="capsule" fromto="0 0 0 0 0 2" size=".1" material="m"/>'
        '<geom type="cylinder" size=".1 .5" group="3"/><site name="s" pos="1 2 3"/><site name="b"/>',
        '<asset><material name="m" rgba="0 1 0 1"/></asset>',
    )
    result = content(tmp_path, text)
    ball, box, capsule, cylinder = result.linkage.link("b").visuals
    assert [v.shape for v in (ball, box, capsule, cylinder)] == [
        *(Sphere(0.1), Box((2.0, 4.0, 6.0)), Capsule(0.1, 2.0), Cylinder(0.1, 1.0)),
    ]
    assert [v.color for v in (box, capsule)] == [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0)]
    assert [v.role for v in (box, cylinder)] == ["visual", "collision"]
    np.testing.assert_allclose(capsule.placement[:3, 3], (0.0, 0.0, 1.0))
    assert result.linkage.frames == ("b", "s", "b_")
    assert kinds(result) == ["renamed"]


def test_masses_are_kept_in_the_axes_of_the_link(tmp_path: Path) -> None:
    text = body('<inertial mass="2" pos="1 0 0" quat="1 0 0 1" diaginertia="1 2 2.5"/><joint/>')
    inertia = content(tmp_path, text).linkage.link("b").inertia
    assert inertia is not None
    assert inertia.mass == 2.0
    np.testing.assert_allclose(inertia.center, (1.0, 0.0, 0.0))
    np.testing.assert_allclose(inertia.matrix, np.diag([2.0, 1.0, 2.5]), atol=1e-12)


def test_an_ellipsoid_becomes_the_nearest_round_shape(tmp_path: Path) -> None:
    result = content(tmp_path, body('<geom type="ellipsoid" size="2 .5 .5"/>'))
    visual = result.linkage.link("b").visuals[1]
    assert visual.shape == Capsule(0.5, 3.0)
    np.testing.assert_allclose(np.abs(visual.placement[:3, 2]), (1.0, 0.0, 0.0))
    assert kinds(result) == ["approximate"]


MESHES = """<mujoco><compiler meshdir="meshes"/>
<default><default class="v"><geom type="mesh"/></default></default>
<asset><mesh name="m" file="a.stl" scale=".1 .1 .1" refpos="0 0 1"/>
<mesh name="inline" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset>
<worldbody><body name="b"><joint/><geom class="v" mesh="m" pos="1 2 3" euler="0 90 0"/><geom class="v" mesh="inline"/>
</body></worldbody></mujoco>"""


def test_meshes_keep_their_place_whether_they_are_there_or_not(tmp_path: Path) -> None:
    result = content(tmp_path, MESHES)
    visual, inline = result.linkage.link("b").visuals
    assert inline.shape == Hull([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)])
    assert visual.shape == Mesh("meshes/a.stl", (0.1, 0.1, 0.1))
    np.testing.assert_allclose(visual.placement[:3, 3], (0.9, 2.0, 3.0), atol=1e-12)  # 0.1 m along the turned z
    assert sorted(kinds(result)) == ["inertia", "missing-mesh"]
    inertia = result.linkage.link("b").inertia
    assert inertia is not None
    assert not inertia.known
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "a.stl").write_bytes(b"not read here")
    found = content(tmp_path, MESHES)
    shape = found.linkage.link("b").visuals[0].shape
    assert isinstance(shape, Mesh)
    assert shape.file is not None
    assert Path(shape.file).samefile(tmp_path / "meshes" / "a.stl")
    assert "missing-mesh" not in kinds(found)


CORNERS = np.array([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 2.0, 0.0), (0.0, 0.0, 3.0)])


@pytest.mark.parametrize("reference", ["", 'refpos="1 2 3"', 'refquat="1 .3 0 .2"', 'refpos="0 0 1" refquat="1 1 0 0"'])
def test_mesh_corners_are_where_mujoco_puts_them(reference: str, tmp_path: Path) -> None:
    lines = [f"v {x} {y} {z}" for x, y, z in CORNERS] + ["f 1 3 2", "f 1 2 4", "f 1 4 3", "f 2 3 4"]
    (tmp_path / "a.obj").write_text("\n".join(lines), encoding="utf-8")
    text = (
        f'<mujoco><asset><mesh name="m" file="a.obj" scale=".1 .1 .1" {reference}/></asset><worldbody><body name="b">'
        '<joint/><geom type="mesh" mesh="m" pos="1 2 3" euler="10 20 30"/></body></worldbody></mujoco>'
    )
    (visual,) = content(tmp_path, text).linkage.link("b").visuals
    assert isinstance(visual.shape, Mesh)
    ours = CORNERS * visual.shape.scale @ visual.placement[:3, :3].T + visual.placement[:3, 3]
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "model.xml"))
    theirs = model.mesh_vert @ quaternion_matrix(model.geom_quat[0]).T + model.geom_pos[0]
    assert len(theirs) == 4
    for corner in ours:
        assert np.linalg.norm(theirs - corner, axis=1).min() < 1e-6  # MuJoCo keeps corners as float32


def test_names_made_here_make_way_for_those_of_the_file(tmp_path: Path) -> None:
    linkage = content(
        tmp_path, body('<body><joint/><joint name="joint0" axis="1 0 0"/></body><body name="body2"/>')
    ).linkage
    assert set(linkage.links) == {"b", "body2_", "body2_.joint0_", "body2"}


TWO = """<mujoco><worldbody><body name="a" pos="1 0 0"><joint name="x" ref="10"/><geom size=".1"/>
<body name="c" pos="0 1 0" euler="0 0 30"><joint name="y" ref="20"/><geom size=".1"/></body></body>
<body name="d" pos="0 0 1" euler="40 0 0"><joint name="z"/><geom size=".1"/><site name="s1"/></body>
<site name="s2"/></worldbody><equality>{}</equality></mujoco>"""


def test_connected_and_welded_bodies_are_loops_that_close_in_the_initial_pose(tmp_path: Path) -> None:
    linkage = content(
        tmp_path,
        TWO.format(
            '<connect name="p" body1="c" body2="d" anchor=".1 .2 .3"/><weld name="w" body1="c" body2="d"/>'
            '<weld body1="a" anchor="1 1 1"/><connect site1="s1" site2="s2"/>'
        ),
    ).linkage
    assert [(loop.name, loop.kind) for loop in linkage.loops] == [
        *(("p", "point"), ("w", "full"), ("loop2", "full"), ("loop3", "point")),
    ]
    places = linkage.forward(linkage.poses["qpos0"])
    for loop in linkage.loops[:3]:
        first, second = places[loop.first], places[loop.second]
        np.testing.assert_allclose(first[:3, 3], second[:3, 3], atol=1e-12)
        if loop.kind == "full":
            np.testing.assert_allclose(first, second, atol=1e-12)
    assert (linkage.loops[3].first, linkage.loops[3].second) == ("s1", "s2")


def test_a_linear_coupling_is_a_follower_about_the_references(tmp_path: Path) -> None:
    linkage = content(tmp_path, TWO.format('<joint joint1="y" joint2="x" polycoef=".1 2 0 0 0"/>')).linkage
    mimic = linkage.joint("y").mimic
    assert mimic is not None
    assert mimic.joint == "x"
    x = 0.7
    expected = np.deg2rad(20.0) + 0.1 + 2.0 * (x - np.deg2rad(10.0))  # MuJoCo: y - y0 = a0 + a1 (x - x0)
    assert mimic.multiplier * x + mimic.offset == pytest.approx(expected, abs=1e-12)


def test_a_polynomial_coupling_is_held_as_mujoco_holds_it(tmp_path: Path) -> None:
    text = TWO.format('<joint name="bent" joint1="y" joint2="x" polycoef=".1 .5 -.3 .2 .05"/>')
    linkage = content(tmp_path, text).linkage
    assert [coupling.name for coupling in linkage.couplings] == ["bent"]
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    for x in (-0.8, 0.0, 0.4, 1.3):
        q = linkage.pose(x=x)
        for name in ("x", "y"):
            data.joint(name).qpos[:] = q[linkage.coordinate_index[name]]
        mujoco.mj_forward(model, data)
        assert abs(data.efc_pos[0]) < 1e-12  # MuJoCo's gap
        data.joint("y").qpos[:] += 0.01
        mujoco.mj_forward(model, data)
        assert data.efc_pos[0] == pytest.approx(0.01)


TIED = """<mujoco><worldbody><body><geom size=".1"/><joint name="x" ref="10"/>
<body pos=".1 0 0"><geom size=".1"/><joint name="y" ref="20"/><body pos=".1 0 0"><geom size=".1"/><joint name="z"/>
<body pos=".1 0 0"><geom size=".1"/><joint name="w"/></body></body></body></body></worldbody>
<tendon><fixed name="t"><joint joint="x" coef=".5"/><joint joint="y" coef="-.4"/></fixed>
<fixed name="s"><joint joint="z" coef="2"/></fixed>
<fixed name="r"><joint joint="x" coef="1"/><joint joint="y" coef="3"/></fixed>
<spatial name="idle"><site site="no"/><site site="no"/></spatial></tendon>
<equality>{}</equality></mujoco>"""


@pytest.mark.parametrize(
    ("equality", "followers", "couplings"),
    [
        ('<tendon tendon1="t"/>', ["y"], 0),
        ('<tendon tendon1="t" polycoef=".1 0 0 0 0"/>', ["y"], 0),
        ('<tendon tendon1="s" tendon2="r" polycoef=".1 .5 0 0 0"/>', [], 1),
        ('<tendon tendon1="s" tendon2="r" polycoef=".1 .5 -.2 .1 0"/>', [], 1),
        ('<tendon tendon1="t"/><tendon tendon1="s" tendon2="r"/>', ["y"], 1),
    ],
)
def test_joints_that_tendons_tie_follow_as_mujoco_has_it(
    equality: str, followers: list[str], couplings: int, tmp_path: Path
) -> None:
    text = TIED.format(equality)
    linkage = content(tmp_path, text).linkage
    assert [arc.name for arc in linkage.arcs if arc.mimic is not None] == followers
    assert len(linkage.couplings) == couplings
    model = mujoco.MjModel.from_xml_string(
        text.replace('<spatial name="idle"><site site="no"/><site site="no"/></spatial>', "")
    )
    data = mujoco.MjData(model)
    for x in (-0.7, 0.3, 1.1):
        free = {name: x + 0.1 * k for k, name in enumerate(("x", "y", "w")) if name not in followers}
        q = linkage.pose(free)
        for arc, drive in zip(linkage.arcs, linkage.drives, strict=True):
            if drive.nq:
                data.joint(arc.name).qpos[:] = drive.values(q)
        mujoco.mj_forward(model, data)
        np.testing.assert_allclose(data.efc_pos[: data.ne], 0.0, atol=1e-12)


@pytest.mark.parametrize(
    ("equality", "said"),
    [
        ('<joint joint1="y" polycoef=".1 0 0 0 0"/>', "locks it"),
        ('<joint joint1="y" joint2="x"/><joint joint1="y" joint2="z"/>', "already"),
        ('<joint joint1="y" joint2="x"/><joint joint1="x" joint2="y"/>', "circle"),
        ('<connect body1="c" body2="d" anchor="0 0 0" active="false"/>', "is inactive"),
        ('<tendon tendon1="gone"/>', "<tendon>"),
        ('<joint joint1="y" joint2="x" polycoef=".5 1 0 0 0"/>', "violates the coupling"),
    ],
)
def test_what_cannot_be_held_is_said(equality: str, said: str, tmp_path: Path) -> None:
    result = content(tmp_path, TWO.format(equality))
    assert any(said in remark.text for remark in result.remarks)
    result.linkage.forward(result.linkage.neutral())


ACTUATED = """<mujoco><default><default class="strong"><motor gear="20" ctrlrange="-1 1"/></default></default>
<worldbody><body><geom size="1" mass="1"/><joint name="nan_j" {joint}/></body></worldbody>
<actuator>{actuators}</actuator></mujoco>"""


@pytest.mark.parametrize(
    ("joint", "actuators", "effort"),
    [
        ("", "", np.inf),
        ('actuatorfrcrange="-8 5"', "", 8.0),
        ("", '<motor joint="nan_j" forcerange="-3 3" gear="2"/>', 6.0),
        ("", '<motor joint="nan_j" class="strong"/>', 20.0),
        ('actuatorfrcrange="-8 5"', '<motor joint="nan_j" class="strong"/>', 8.0),
        ("", '<position joint="nan_j" kp="10" ctrlrange="-1 1"/>', np.inf),
        ("", '<position joint="nan_j" kp="10" forcerange="-4 4"/>', 4.0),
        ("", '<general joint="nan_j" gainprm="10" biastype="affine" biasprm="0 -10 -1" ctrlrange="-1 1"/>', np.inf),
        ("", '<motor joint="nan_j" class="strong"/><motor joint="nan_j" forcerange="-1 1"/>', 21.0),
        ("", '<motor joint="nan_j" class="strong"/><motor joint="nan_j"/>', np.inf),
        ("", '<general joint="nan_j" gaintype="muscle" biastype="muscle" ctrlrange="0 1"/>', np.inf),
        ("", '<motor tendon="t" ctrlrange="-1 1"/><adhesion body="b" ctrlrange="0 1"/>', np.inf),
        ('type="ball"', '<motor joint="nan_j" class="strong"/>', np.inf),
        ("", '<motor joint="gone" class="strong"/>', np.inf),
    ],
)
def test_actuators_limit_the_effort_of_joints(joint: str, actuators: str, effort: float, tmp_path: Path) -> None:
    linkage = content(tmp_path, ACTUATED.format(joint=joint, actuators=actuators)).linkage
    assert linkage.effort.tolist() == [effort] * linkage.nv


def test_sections_without_a_place_in_a_linkage_are_named(tmp_path: Path) -> None:
    text = body('<joint name="j"/><camera/>', '<sensor><jointpos joint="j"/></sensor><option timestep="1"/>')
    (remark,) = content(tmp_path, text).remarks
    assert remark.kind == "dropped"
    assert all(tag in remark.text for tag in ("<sensor>", "<option>", "<camera>"))


def test_without_mujoco_it_is_said_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(MissingExtraError, match="mujoco"):
        content(tmp_path, body(""))


# Files in files


def test_included_files_are_read_from_the_models_folder(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "arm.xml").write_text(
        '<mujocoinclude><body name="arm"><joint/></body></mujocoinclude>', encoding="utf-8"
    )
    text = '<mujoco><worldbody><include file="parts/arm.xml"/></worldbody></mujoco>'
    assert content(tmp_path, text).linkage.links == ("world", "arm")


def test_an_error_names_the_file_and_line_it_is_in(tmp_path: Path) -> None:
    (tmp_path / "arm.xml").write_text(
        '<mujocoinclude>\n<body name="arm">\n<joint type="x"/></body></mujocoinclude>', encoding="utf-8"
    )
    with pytest.raises(FormatError, match=r"arm.xml:3: MuJoCo refuses it: invalid keyword: 'x'"):
        content(tmp_path, '<mujoco><worldbody><include file="arm.xml"/></worldbody></mujoco>')
    with pytest.raises(FormatError, match=r"model.xml:4: .*repeated name 'a'"):
        content(tmp_path, '\n<mujoco>\n<worldbody><body name="a"/>\n<body name="a"/></worldbody></mujoco>')


def test_files_outside_are_read_only_if_allowed(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (outside / "arm.xml").write_text('<mujocoinclude><body name="arm"/></mujocoinclude>', encoding="utf-8")
    symlink(inside / "link.xml", outside / "arm.xml")
    for name in ("../outside/arm.xml", str(outside / "arm.xml"), "link.xml"):
        text = f'<mujoco><worldbody><include file="{name}"/></worldbody></mujoco>'
        with pytest.raises(FormatError, match="outside the model's folder"):
            content(inside, text)
        assert content(inside, text, folders=(outside,)).linkage.links == ("arm",)


@pytest.mark.parametrize("rest", ["</mujoco>", "<mujoco/>", "words", "<"])
def test_what_stands_after_the_end_is_left_out(rest: str, tmp_path: Path) -> None:
    result = content(tmp_path, body("") + f"\n{rest}\n")
    (remark,) = result.remarks
    assert (remark.kind, remark.line) == ("rest", 2)
    with pytest.raises(FormatError, match=r"model.xml:2: content after </mujoco>"):
        content(tmp_path, body("") + f"\n{rest}\n", strict=True)


# Models in models

CHILD = """<mujoco model="finger"><compiler angle="degree" meshdir="shapes"/>
<asset><mesh name="m" file="a.obj"/></asset>
<worldbody><body name="near" euler="0 0 30"><joint name="j" range="-30 60"/><geom type="mesh" mesh="m"/>
<body name="far" pos="1 0 0"><joint name="k" axis="0 1 0"/><geom size=".1"/><site name="tip"/></body></body></worldbody>
<equality><joint joint1="k" joint2="j"/></equality><keyframe><key name="bent" qpos=".1 .1"/></keyframe></mujoco>"""
HAND = """<mujoco model="hand"><compiler angle="radian"/><asset><model {name} file="parts/finger.xml"/></asset>
<worldbody><body name="palm" euler="0.1 0 0"><joint name="wrist"/><geom size=".1"/>
<attach model="finger" body="near" prefix="a_"/>
<frame pos="0 1 0"><attach model="finger" body="near" prefix="b_"/></frame></body></worldbody></mujoco>"""


def finger(folder: Path) -> None:
    (folder / "parts" / "shapes").mkdir(parents=True)
    (folder / "parts" / "finger.xml").write_text(CHILD, encoding="utf-8")
    lines = [f"v {x} {y} {z}" for x, y, z in CORNERS] + ["f 1 3 2", "f 1 2 4", "f 1 4 3", "f 2 3 4"]
    (folder / "parts" / "shapes" / "a.obj").write_text("\n".join(lines), encoding="utf-8")


@pytest.mark.parametrize("name", ['name="finger"', ""])
def test_bodies_of_other_models_are_attached_as_mujoco_does(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    finger(tmp_path)
    result = content(tmp_path, HAND.format(name=name))
    theirs = mujoco.MjModel.from_xml_path(str(tmp_path / "model.xml"))
    same_as_mujoco(result.linkage, theirs)
    assert result.linkage.joint("b_k").mimic is not None
    assert np.rad2deg(result.linkage.joint("a_j").articulation.limits).round(9).ravel().tolist() == [-30.0, 60.0]
    (shape,) = (visual.shape for visual in result.linkage.link("a_near").visuals)
    assert shape == Mesh("parts/shapes/a.obj")
    masses = {link.name: link.inertia.mass for link in result.linkage.nodes if link.inertia is not None}
    assert masses == pytest.approx({name: float(theirs.body(name).mass[0]) for name in masses})
    assert len(masses) == 5


def test_models_in_models_are_held_to_the_same_limits(tmp_path: Path) -> None:
    finger(tmp_path)
    part = tmp_path / "parts" / "finger.xml"
    part.write_text(CHILD.replace('type="mesh"', 'type="knee"'), encoding="utf-8")
    with pytest.raises(FormatError, match=r"finger.xml:3: MuJoCo refuses it: invalid keyword: 'knee'"):
        content(tmp_path, HAND.format(name=""))
    part.write_text(CHILD.replace("<asset>", '<asset><model file="../model.xml"/>'), encoding="utf-8")
    with pytest.raises(FormatError, match="and vice versa"):
        content(tmp_path, HAND.format(name=""))
    many = '<replicate count="999">' + "<body/>" + "</replicate>"
    part.write_text(CHILD.replace('<body name="far"', f'{many}<body name="far"'), encoding="utf-8")
    with pytest.raises(FormatError, match="more than 2000 <body>"):
        content(tmp_path, HAND.format(name=""))
    for file, said in (
        ("../finger.xml", "outside the model's folder"),
        ("none.xml", "does not exist"),
        ("", "without a file"),
    ):
        with pytest.raises(FormatError, match=said):
            content(tmp_path, HAND.format(name="").replace("parts/finger.xml", file))


@pytest.mark.parametrize("place", ["meshes/a.obj", "sub/a.obj"])
def test_meshes_of_included_files_are_found_where_mujoco_finds_them(place: str, tmp_path: Path) -> None:
    for folder in ("sub", "meshes"):
        (tmp_path / folder).mkdir()
    (tmp_path / place).write_text("", encoding="utf-8")
    (tmp_path / "sub" / "part.xml").write_text(
        '<mujoco><asset><mesh name="m" file="a.obj"/></asset></mujoco>', encoding="utf-8"
    )
    text = body('<geom type="mesh" mesh="m"/>', '<compiler meshdir="meshes"/><include file="sub/part.xml"/>')
    shape = content(tmp_path, text).linkage.link("b").visuals[-1].shape
    assert shape == Mesh(place)
    assert isinstance(shape, Mesh)
    assert shape.file is not None


# Hostile files

HOSTILE = {
    "empty": ("", "is empty"),
    "cut short": ("<mujoco><worldbody>", "not XML"),
    "not MJCF": ("<robot/>", "URDF"),
    "entities": ('<!DOCTYPE m [<!ENTITY a "b">]><mujoco model="&a;"/>', "entities"),
    "an external entity": ('<!DOCTYPE m [<!ENTITY a SYSTEM "file:///etc/passwd">]><mujoco model="&a;"/>', "entities"),
    "a million replicas": (body('<replicate count="1000000"><body/></replicate>'), "more than"),
    "replicas of replicas": (
        body('<replicate count="900"><replicate count="900"><geom/></replicate></replicate>'),
        "more",
    ),
    "a count that is none": (body('<replicate count="many"><body/></replicate>'), "not a number"),
    "very deep": ("<mujoco><worldbody>" + "<body>" * 100_000, "deeper"),
    "very many": ("<mujoco><worldbody>" + "<body/>" * 5_000 + "</worldbody></mujoco>", "more than 2000 <body>"),
    "very many more": ("<mujoco><actuator>" + "<motor/>" * 200_000, "more than 50,000"),
    "not a number": (body('<joint axis="nan 0 1"/>'), "finite"),
    "not a number in C": (body('<joint damping="-NaN(1)"/>'), "finite"),
    "an infinite place": (body('<body pos="inf 0 0"/>'), "finite"),
    "a number too large": (body('<body pos="1e999 0 0"/>'), "finite"),
    "no axis": (body('<joint axis="0 0 0"/>'), "axis"),
    "no rotation": (body('<body quat="0 0 0 0"/>'), "quaternion"),
    "the same name twice": (body('<body name="b"/>'), "repeated name"),
    "nothing to include": (body('<include file="nothing.xml"/>'), "does not exist"),
    "an include of nothing": (body("<include/>"), "without a file"),
    "itself": (body('<include file="model.xml"/>'), "itself"),
    "another model": (body('<attach model="m" prefix="p"/>'), "attach"),
    "a key of the wrong size": (body("<joint/>", '<keyframe><key qpos="1 2 3"/></keyframe>'), "qpos size"),
    "too many joints in one body": (body("<joint/>" * 7), "6 dofs"),
}


@pytest.mark.parametrize(("text", "said"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_files_are_refused_with_a_reason(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=said):
        content(tmp_path, text)


def test_mujoco_leaves_no_log_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for text, _ in HOSTILE.values():
        with pytest.raises(FormatError):
            content(tmp_path, text)
    text = body('<joint axis="nan 0 1"/>')  # `read_source` refuses this
    mjcf_model.compiled("model.xml", mjcf_source.MjcfSource("model.xml", text, ()))
    assert [file.name for file in tmp_path.iterdir()] == ["model.xml"]
    assert mujoco.get_mju_user_warning() is None


def test_a_mass_without_measure_is_refused_and_not_warned_about(tmp_path: Path) -> None:
    text = body("").replace("<worldbody>", '<compiler settotalmass="1e308"/><worldbody>').replace(".1", "1e100")
    with pytest.raises(FormatError, match="finite"):
        content(tmp_path, text)


def test_includes_that_go_in_circles_or_pile_up_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text('<mujocoinclude><include file="b.xml"/></mujocoinclude>', encoding="utf-8")
    (tmp_path / "b.xml").write_text('<mujocoinclude><include file="a.xml"/></mujocoinclude>', encoding="utf-8")
    with pytest.raises(FormatError, match="second time"):
        content(tmp_path, body('<include file="a.xml"/>'))
    depth = mjcf_source.MAX_DEPTH - 2
    for k in range(3):
        nest = "<body>" * depth + f'<include file="n{k + 1}.xml"/>' + "</body>" * depth
        (tmp_path / f"n{k}.xml").write_text(f"<mujocoinclude>{nest}</mujocoinclude>", encoding="utf-8")
    (tmp_path / "n3.xml").write_text("<mujocoinclude/>", encoding="utf-8")
    with pytest.raises(FormatError, match="deeper"):
        content(tmp_path, body('<include file="n0.xml"/>'))


def test_nothing_that_a_model_names_is_opened_by_mujoco(tmp_path: Path) -> None:
    (tmp_path / "secret.xml").write_text("<mujoco/>", encoding="utf-8")
    text = body(
        '<geom type="hfield" hfield="h"/><flexcomp name="f" type="mesh" file="secret.obj"/>',
        '<asset><texture name="t" type="2d" file="secret.png"/><hfield name="h" file="secret.png"/>'
        '<model name="m" file="secret.xml"/>'
        '<skin name="s" file="secret.skn"/><mesh name="x" file="secret.stl"/></asset>'
        '<extension><plugin plugin="x"/></extension>',
    )
    handed_over = mjcf_source.read_source(_written(tmp_path, text), Options()).text
    assert [line for line in handed_over.splitlines() if "secret" in line] == ['<mesh name="x" file="secret.stl"/>']
    assert content(tmp_path, text).linkage.links == ("b",)  # and the mesh is taken out before MuJoCo compiles


def _written(folder: Path, text: str) -> Path:
    path = folder / "model.xml"
    path.write_text(text, encoding="utf-8")
    return path


PIECES = st.sampled_from(
    [
        *(
            "<body>",
            '<body name="a" pos="1 0 0">',
            "</body>",
            "<joint/>",
            '<joint type="ball" pos="1 0 0"/>',
            "<geom/>",
        ),
        *("<freejoint/>", '<geom size="1"/>', '<site name="a"/>', '<replicate count="3">', "</replicate>", "<frame>"),
        *("</frame>", "</worldbody>", "<worldbody>", '<inertial mass="0"/>', '<geom type="mesh" mesh="a"/>', "<"),
        *('<key qpos="1"/>', "\0", "&amp;", '<include file="model.xml"/>', '<compiler angle="nan"/>', "<equality>"),
        *('<weld body1="a"/>', "</equality>", '<joint range="1 -1"/>', '<body quat="1e-300 0 0 0">'),
    ]
)


@given(st.lists(PIECES, max_size=12))
def test_whatever_stands_in_a_file_it_is_a_linkage_or_an_error_of_ours(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[str]
) -> None:
    folder = tmp_path_factory.getbasetemp()
    try:
        linkage = content(folder, f"<mujoco><worldbody>{''.join(pieces)}</worldbody></mujoco>", "fuzz.xml").linkage
    except FormatError:
        return
    assert np.isfinite(linkage.forward(linkage.neutral(), frame=linkage.links[-1])).all()
