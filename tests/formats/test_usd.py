"""USD: written files evaluated by usd-core, load(save(x)) = x, files of other programs, and hostile files."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork import Clip, Linkage, formats
from linkwork.errors import FormatError, MissingExtraError
from linkwork.formats import child, scene, usd
from linkwork.formats.content import Content
from linkwork.formats.options import Options
from linkwork.formats.usd_writer import joint_paths
from symlinks import symlink

pytest.importorskip("pxr", reason="usd-core (extra formats) is not installed")
from pxr import Gf, Usd, UsdGeom, UsdSkel, UsdValidation

NAMES = ("planar", "panda", "human", "planets", "engine")
SUFFIXES = (".usda", ".usd", ".usdc", ".usda", ".usdz")
HEADER = '#usda 1.0\n(\n  metersPerUnit = 1\n  upAxis = "Z"\n)\n'
UNIT = "( (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1) )"


def moving(linkage: Linkage, seed: int = 3) -> Clip:
    rng = np.random.default_rng(seed)
    return lw.interpolate(linkage, [(k / 4, linkage.random_pose(rng)) for k in range(3)], fps=12)


def model(name: str) -> Linkage:
    return lw.models.planar([2, 1]) if name == "planar" else lw.models.build(name)


def text(folder: Path, content: str, **options: Any) -> Content:
    """Return the content of a USD text."""
    path = folder / "file.usda"
    path.write_text(content, encoding="utf-8")
    return usd.read(path, Options(**options))


def skeleton(joints: list[str], rest: list[str], more: str = "", root: str = "", inside: str = "") -> str:
    tokens = ", ".join(f'"{joint}"' for joint in joints)
    return f"""{HEADER}def SkelRoot "body" {root}
{{
  def Skeleton "skel"
  {{
    uniform token[] joints = [{tokens}]
    uniform matrix4d[] restTransforms = [{", ".join(rest)}]
    {inside}
  }}
  {more}
}}
"""


def moved(x: float, y: float, z: float, scale: float = 1.0) -> str:
    return f"( ({scale}, 0, 0, 0), (0, {scale}, 0, 0), (0, 0, {scale}, 0), ({x}, {y}, {z}, 1) )"


# Writing


@pytest.mark.parametrize(("name", "suffix"), list(zip(NAMES, SUFFIXES, strict=True)))
def test_a_file_comes_back_as_it_was(name: str, suffix: str, tmp_path: Path) -> None:
    linkage = model(name)
    clip = moving(linkage)
    path = tmp_path / f"file{suffix}"
    formats.write(Content(linkage, {"one": clip, "another one": moving(linkage, 4)}), path)
    content = formats.read(path)
    assert scene.dump(content.linkage, "json") == scene.dump(linkage, "json")
    assert list(content.clips) == ["one", "another one"]
    np.testing.assert_array_equal(content.clips["one"].poses, clip.poses)
    np.testing.assert_array_equal(content.clips["one"].times, clip.times)
    assert content.remarks == ()
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("name", NAMES)
def test_usd_itself_sees_the_joints_where_the_clip_has_them(name: str, tmp_path: Path) -> None:
    linkage = model(name)
    clip = moving(linkage)
    path = tmp_path / "file.usdc"
    lw.save(clip, path)
    stage = Usd.Stage.Open(str(path))
    root = UsdSkel.Root(stage.GetDefaultPrim())
    cache = UsdSkel.Cache()
    assert cache.Populate(root, Usd.TraverseInstanceProxies())
    (binding,) = cache.ComputeSkelBindings(root, Usd.TraverseInstanceProxies())
    query = cache.GetSkelQuery(binding.GetSkeleton())
    frames = clip.forward()
    for k, time in enumerate(clip.times):
        worlds = np.array(query.ComputeJointSkelTransforms(time * stage.GetTimeCodesPerSecond())).transpose(0, 2, 1)
        expected = np.stack([frames[link][k] for link in linkage.links])
        assert np.abs(worlds - expected).max() < 1e-5
    box = UsdGeom.BBoxCache(0.0, [UsdGeom.Tokens.default_]).ComputeWorldBound(root.GetPrim()).GetRange()
    for link in linkage.links:
        assert all(box.Contains(Gf.Vec3d(*position)) for position in frames[link][:, :3, 3].tolist())


@pytest.mark.parametrize("name", NAMES)
def test_skinned_geometry_follows_its_link(name: str, tmp_path: Path) -> None:
    linkage = model(name)
    clip = moving(linkage)
    lw.save(clip, tmp_path / "file.usdc")
    stage = Usd.Stage.Open(str(tmp_path / "file.usdc"))
    root = UsdSkel.Root(stage.GetDefaultPrim())
    cache = UsdSkel.Cache()
    cache.Populate(root, Usd.TraverseInstanceProxies())
    (binding,) = cache.ComputeSkelBindings(root, Usd.TraverseInstanceProxies())
    query = cache.GetSkelQuery(binding.GetSkeleton())
    turning = query.ComputeSkinningTransforms(clip.times[-1] * stage.GetTimeCodesPerSecond())
    targets = binding.GetSkinningTargets()
    assert len(targets) >= len(linkage.links)
    rest, last = linkage.forward(linkage.neutral()), linkage.forward(clip.poses[-1])
    for target in targets:
        prim = UsdGeom.PointBased(target.GetPrim())
        points = prim.GetPointsAttr().Get()
        link = linkage.links[target.GetJointIndicesPrimvar().Get()[0]]
        local = (np.array(points) - rest[link][:3, 3]) @ rest[link][:3, :3]
        assert target.ComputeSkinnedPoints(turning, points)
        np.testing.assert_allclose(np.array(points), local @ last[link][:3, :3].T + last[link][:3, 3], atol=1e-5)


@pytest.mark.parametrize("suffix", [".usda", ".usdc", ".usdz"])
@pytest.mark.parametrize("name", NAMES)
def test_the_validators_of_usd_find_nothing(name: str, suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"file{suffix}"
    lw.save(moving(model(name)), path)
    validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
    errors = UsdValidation.ValidationContext(validators).Validate(Usd.Stage.Open(str(path)))
    assert [error.GetMessage() for error in errors] == []


def test_odd_names_get_identifiers_and_come_back(tmp_path: Path) -> None:
    names = ["1st", "a b", "a-b", "ä", "skel/x"]
    links = [lw.Link("base"), *map(lw.Link, names)]
    linkage = Linkage(links, [lw.Joint(name, "base", name) for name in names], name="7 of 9")
    paths = joint_paths(linkage)
    assert len(set(paths)) == len(paths)
    assert paths[1:4] == ["base/_1st", "base/a_b", "base/a_b_2"]
    lw.save(linkage, tmp_path / "odd.usda")
    assert lw.load(tmp_path / "odd.usda").links == linkage.links


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file.usda"
    path.write_text("old", encoding="utf-8")
    linkage = Linkage([lw.Link("a"), lw.Link("b")], [lw.Joint("j", "a", "b", lw.Prismatic("x"))])
    clip = Clip(linkage, np.array([0.0]), np.array([[1e300]]))
    with pytest.raises(FormatError, match="float32"):
        lw.save(clip, path)
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_mesh_is_said(tmp_path: Path) -> None:
    linkage = Linkage([lw.Link("a", lw.Mesh("nowhere.stl"))])
    (remark,) = lw.save(linkage, tmp_path / "file.usda")
    assert (remark.kind, remark.where) == ("dropped", "nowhere.stl")
    assert lw.load(tmp_path / "file.usda").link("a").visuals[0].shape == lw.Mesh("nowhere.stl")


# Files of other programs


@pytest.mark.parametrize("name", NAMES)
def test_without_its_linkage_a_file_is_read_like_that_of_others(name: str, tmp_path: Path) -> None:
    linkage = model(name)
    clip = moving(linkage)
    lw.save(clip, tmp_path / "file.usda")
    stage = Usd.Stage.Open(str(tmp_path / "file.usda"))
    stage.GetDefaultPrim().ClearCustomDataByKey("linkwork")
    stage.GetRootLayer().Export(str(tmp_path / "bare.usdc"))
    content = usd.read(tmp_path / "bare.usdc")
    read = content.clips["clip"]
    assert read.linkage.root.articulation.kind == "floating"
    expected, found = clip.forward(), read.forward()
    for link in linkage.links:
        assert np.abs(expected[link] - found[link]).max() < 1e-5
    np.testing.assert_allclose(read.times, clip.times, atol=1e-9)


def test_a_skeleton_that_was_changed_is_believed_before_the_linkage_beside_it(tmp_path: Path) -> None:
    linkage = lw.models.planar([2, 1])
    lw.save(moving(linkage), tmp_path / "file.usda")
    stage = Usd.Stage.Open(str(tmp_path / "file.usda"))
    animation = UsdSkel.Animation(stage.GetPrimAtPath(f"{stage.GetDefaultPrim().GetPath()}/clip"))
    animation.GetTranslationsAttr().Set([(5, 0, 0)] * len(linkage.links), 0.0)
    stage.Save()
    content = usd.read(tmp_path / "file.usda")
    assert "extras" in [remark.kind for remark in content.remarks]
    np.testing.assert_allclose(content.clips["clip"].forward(frame="link0")[0, :3, 3], (5.0, 0.0, 0.0), atol=1e-6)


def test_units_and_the_up_axis_are_converted(tmp_path: Path) -> None:
    content = skeleton(["hip", "hip/knee"], [moved(0, 100, 0), moved(0, 10, 0)])
    content = content.replace("metersPerUnit = 1", "metersPerUnit = 0.01").replace('"Z"', '"Y"')
    linkage = text(tmp_path, content).linkage
    assert (linkage.links, linkage.joints) == (("hip", "knee"), ("hip", "knee"))
    assert [linkage.joint(name).articulation.kind for name in linkage.joints] == ["floating", "ball"]
    places = linkage.forward(linkage.neutral())
    np.testing.assert_allclose(places["knee"][:3, 3], (0.0, 0.0, 1.1), atol=1e-12)
    np.testing.assert_allclose(linkage.joint("knee").placement[:3, 3], (0.0, 0.1, 0.0), atol=1e-12)  # its own axes
    linkage = text(tmp_path, content, units=1.0, up="z").linkage
    np.testing.assert_allclose(linkage.forward(linkage.neutral())["knee"][:3, 3], (0.0, 110.0, 0.0), atol=1e-9)


def test_a_unit_that_is_not_said_is_remarked(tmp_path: Path) -> None:
    content = text(tmp_path, skeleton(["a"], [UNIT]).replace("metersPerUnit = 1", ""))
    assert [remark.kind for remark in content.remarks] == ["units"]


ANIMATION = """def SkelAnimation "wave"
  {
    uniform token[] joints = ["a/b"]
    quatf[] rotations.timeSamples = { 0: [(1, 0, 0, 0)], 48: [(0, 0, 0, 1)] }
    float3[] translations = [(0, 0, 2)]
    half3[] scales = [(1, 1, 1)]
  }
"""


def test_an_animation_of_some_joints_leaves_the_others_at_rest(tmp_path: Path) -> None:
    root = '(\n  prepend apiSchemas = ["SkelBindingAPI"]\n)'
    content = text(
        tmp_path,
        skeleton(["a", "a/b", "a/b/c"], [moved(1, 0, 0), moved(0, 0, 2), moved(3, 0, 0)], ANIMATION, root),
    )
    clip = content.clips["wave"]
    assert clip.times.tolist() == [0.0, 2.0]
    tip = clip.forward(frame="c")[:, :3, 3]
    np.testing.assert_allclose(tip, [(4.0, 0.0, 2.0), (-2.0, 0.0, 2.0)], atol=1e-6)  # half a turn about z
    assert clip.linkage.joint("b").articulation.kind == "ball"


def test_scales_above_a_joint_count_in_its_place(tmp_path: Path) -> None:
    linkage = text(tmp_path, skeleton(["a", "a/b"], [moved(0, 0, 1, scale=0.5), moved(0, 0, 2)])).linkage
    np.testing.assert_allclose(linkage.forward(linkage.neutral())["b"][:3, 3], (0.0, 0.0, 2.0), atol=1e-12)


def test_joints_without_a_common_root_stand_on_one_link(tmp_path: Path) -> None:
    linkage = text(tmp_path, skeleton(["a", "b", "b/a"], [UNIT, UNIT, UNIT])).linkage
    assert linkage.links == ("base", "a", "b", "a_2")


def test_of_several_skeletons_the_first_is_read_and_it_is_said(tmp_path: Path) -> None:
    first = skeleton(["a"], [UNIT])
    second = skeleton(["b"], [UNIT]).removeprefix(HEADER).replace('"body"', '"other"')
    content = text(tmp_path, first + second)
    assert content.linkage.links == ("a",)
    assert [remark.kind for remark in content.remarks] == ["skeletons"]


TRANSFORMS = f"""{HEADER}def Xform "base"
{{
  double3 xformOp:translate = (1, 0, 0)
  uniform token[] xformOpOrder = ["xformOp:translate"]
  def Cylinder "drum"
  {{
    double radius = 0.5
    double height = 3
    uniform token axis = "X"
    color3f[] primvars:displayColor = [(1, 0, 0)]
  }}
  def Xform "arm"
  {{
    double3 xformOp:translate = (0, 0, 2)
    double xformOp:rotateZ.timeSamples = {{ 0: 0, 24: 90 }}
    uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:rotateZ"]
    def Xform "tip"
    {{
      double3 xformOp:translate = (1, 0, 0)
      uniform token[] xformOpOrder = ["xformOp:translate"]
    }}
  }}
}}
"""


def test_transforms_without_a_skeleton_are_links(tmp_path: Path) -> None:
    content = text(tmp_path, TRANSFORMS)
    linkage = content.linkage
    assert linkage.links == ("base", "arm", "tip")
    assert linkage.joints == ("arm", "tip")
    tip = content.clips["motion"].forward(frame="tip")[:, :3, 3]
    np.testing.assert_allclose(tip, [(2.0, 0.0, 2.0), (1.0, 1.0, 2.0)], atol=1e-9)
    (drum,) = linkage.link("base").visuals
    assert (drum.shape, drum.color) == (lw.Cylinder(0.5, 3.0), (1.0, 0.0, 0.0))
    np.testing.assert_allclose(drum.placement[:3, 2], (1.0, 0.0, 0.0), atol=1e-12)


# Other files


def test_files_inside_the_folder_are_taken_in_and_others_are_not(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    for folder in (inside, outside):
        folder.mkdir()
        (folder / "part.usda").write_text(skeleton(["a"], [UNIT]), encoding="utf-8")
    symlink(inside / "link.usda", outside / "part.usda")
    arc = '{}def "x" (\n  {} = @{}@</body>\n)\n{{\n}}\n'
    assert text(inside, arc.format(HEADER, "references", "./part.usda")).linkage.links == ("a",)
    for name in ("../outside/part.usda", str(outside / "part.usda"), "./link.usda"):
        with pytest.raises(FormatError, match="outside the model's folder"):
            text(inside, arc.format(HEADER, "references", name))
    for content in (arc.format(HEADER, "payload", name), f"#usda 1.0\n(\n  subLayers = [@{name}@]\n)\n"):
        with pytest.raises(FormatError, match="outside the model's folder"):
            text(inside, content)
        assert text(inside, content, folders=(outside,)).linkage.links == ("a",)
    absent = text(inside, skeleton(["a"], [UNIT]) + arc.format("", "references", "./nothing.usda"))
    assert "missing-file" in [remark.kind for remark in absent.remarks]


HOSTILE = {
    "empty": ("", "USD cannot read it"),
    "no USD": ("hello", "USD cannot read it"),
    "cut short": (skeleton(["a"], [UNIT])[:-20], "USD cannot read it"),
    "nothing in it": (HEADER, "neither a skeleton nor transforms"),
    "nested without end": (HEADER + 'def Xform "a" {\n' * 100_000, "damaged or malicious"),
    "references that double forty times": (
        HEADER
        + 'def Xform "p0"\n{\n}\n'
        + "".join(
            f'def Xform "p{i + 1}"\n{{\n def "a" (references = </p{i}>)\n {{\n }}\n'
            f' def "b" (references = </p{i}>)\n {{\n }}\n}}\n'
            for i in range(40)
        ),
        "malicious|prims",
    ),
    "not a number": (skeleton(["a"], [moved(float("nan"), 0, 0)]), "not finite"),
    "the same joint twice": (skeleton(["a", "a"], [UNIT, UNIT]), "twice"),
    "a child before its parent": (skeleton(["a/b", "a"], [UNIT, UNIT]), "before"),
    "too few places": (skeleton(["a", "a/b"], [UNIT]), "without rest"),
    "no unit": (skeleton(["a"], [UNIT]).replace("metersPerUnit = 1", "metersPerUnit = -1"), "metres per unit"),
    "no up axis": (skeleton(["a"], [UNIT]).replace('"Z"', '"Q"'), "up axis"),
    "no rotation": (
        skeleton(["a", "a/b"], [UNIT, UNIT], ANIMATION.replace("(1, 0, 0, 0)", "(0, 0, 0, 0)")),
        "quaternion of invalid length",
    ),
    "value clips": (
        f'{HEADER}def Xform "a" (\n clips = {{\n  dictionary default = {{\n   asset[] assetPaths = [@../x.usda@]\n'
        '   string primPath = "/s"\n  }\n }\n)\n{\n}\n',
        "value clips",
    ),
}


@pytest.mark.parametrize(("content", "said"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_files_are_refused_with_a_reason(content: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=said):
        text(tmp_path, content)


def test_a_false_linkage_beside_a_skeleton_is_not_believed(tmp_path: Path) -> None:
    root = "(\n  customData = {{\n    string linkwork = '''{}'''\n  }}\n)"
    for document in ("{}", "[", '{"linkwork": 2, "links": ["a", "a"]}', '{"linkwork": 2, "links": ["other"]}'):
        content = text(tmp_path, skeleton(["a"], [UNIT], root=root.format(document)))
        assert content.linkage.links == ("a",)
        assert [remark.kind for remark in content.remarks] == ["extras"]


def test_an_error_in_a_text_file_names_its_line(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"file.usda:6: ") as caught:
        text(tmp_path, f"{HEADER}nonsense\n")
    assert caught.value.line == 6


def test_damaged_binary_files_do_no_harm(tmp_path: Path) -> None:
    lw.save(moving(lw.models.planar([2, 1])), tmp_path / "file.usdc")
    whole = (tmp_path / "file.usdc").read_bytes()
    rng = random.Random(1)
    for k in range(9):
        data = bytearray(whole)
        if k % 3 == 0:  # truncate
            del data[rng.randrange(len(data)) :]
        for _ in range(4):  # the head of the file, or anywhere
            data[rng.randrange(min(len(data), 88 if k % 3 == 1 else len(data)))] = rng.randrange(256)
        (tmp_path / "damaged.usdc").write_bytes(data)
        try:
            content = usd.read(tmp_path / "damaged.usdc")
        except FormatError:
            continue
        assert content.linkage.links


def test_without_usd_core_it_is_said_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lw.save(lw.models.planar([1]), tmp_path / "file.usda")
    monkeypatch.setattr(child, "START", "import sys; sys.modules['pxr'] = None\n" + child.START)
    with pytest.raises(MissingExtraError, match="usd-core"):
        usd.read(tmp_path / "file.usda")
    monkeypatch.setitem(sys.modules, "pxr", None)
    with pytest.raises(MissingExtraError, match="usd-core"):
        lw.save(lw.models.planar([1]), tmp_path / "other.usda")


def test_a_module_of_the_users_hides_none_of_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reading process must not import modules beside a user's script or in PYTHONPATH."""
    (tmp_path / "enum.py").write_text("raise RuntimeError('not the one')", encoding="utf-8")
    (tmp_path / "numpy.py").write_text("raise RuntimeError('nor this')", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    lw.save(lw.models.planar([1]), tmp_path / "file.usda")
    assert usd.read(tmp_path / "file.usda").linkage == lw.models.planar([1])


def test_what_is_no_file_is_an_error(tmp_path: Path) -> None:
    for path in (tmp_path / "nothing.usda", tmp_path):
        with pytest.raises(FormatError, match="cannot be read"):
            usd.read(path)


def test_a_skeleton_beyond_all_numbers_is_refused(tmp_path: Path) -> None:
    large = UNIT.replace("( (1,", "( (1e160,")
    with pytest.raises(FormatError, match=r"beyond 1e\+100"):
        text(tmp_path, skeleton(["hip", "hip/knee"], [large, large]))
