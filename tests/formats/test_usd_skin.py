"""Meshes that a USD skeleton moves: positions of USD's own skinning, and colours of materials."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import linkwork as lw
from linkwork.draw.sketch import Sketch
from linkwork.draw.triangles import of_meshes
from linkwork.formats.skins import bind_pose, skin_of

pytest.importorskip("pxr", reason="usd-core (extra formats) is not installed")
from pxr import Gf, Sdf, Usd, UsdGeom, UsdShade, UsdSkel, Vt

UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])  # z up from y up
JOINTS = ["hips", "hips/spine", "hips/spine/head"]
RED, PAINT = (1.0, 0.0, 0.0), [(255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255)]
SQUARES = 3
GREY = 0.735  # half of the light, as screens show it


def turned(axis: tuple[float, float, float], degrees: float, at: tuple[float, float, float]) -> Gf.Matrix4d:
    return Gf.Matrix4d().SetRotate(Gf.Rotation(Gf.Vec3d(*axis), degrees)).SetTranslateOnly(Gf.Vec3d(*at))


def character(path: Path) -> None:
    """Write a body in centimetres under a scaled armature: bound straight, bent at rest, moving differently."""
    stage = Usd.Stage.CreateNew(str(path))
    UsdGeom.SetStageUpAxis(stage, "Y")
    UsdGeom.SetStageMetersPerUnit(stage, 0.01)
    stage.SetTimeCodesPerSecond(10)
    root = UsdSkel.Root.Define(stage, "/figure")
    root.AddTransformOp().Set(Gf.Matrix4d().SetScale(0.5) * turned((0, 1, 0), 30, (5, 0, 2)))
    bones = UsdSkel.Skeleton.Define(stage, "/figure/bones")
    bones.GetJointsAttr().Set(JOINTS)
    bones.GetBindTransformsAttr().Set([Gf.Matrix4d().SetTranslate(Gf.Vec3d(0, y, 0)) for y in (0, 40, 80)])
    bent = [turned((1, 0, 0), angle, (0, y, 0)) for angle, y in ((0, 0), (25, 40), (-50, 40))]
    bones.GetRestTransformsAttr().Set(bent)
    motion = UsdSkel.Animation.Define(stage, "/figure/bones/wave")
    motion.GetJointsAttr().Set(JOINTS[1:])
    motion.GetTranslationsAttr().Set([(0, 40, 0), (0, 40, 0)])
    motion.GetScalesAttr().Set(Vt.Vec3hArray([Gf.Vec3h(1)] * 2))
    for code, angle in ((0, 0.0), (5, 60.0)):
        turn = Gf.Quatf(Gf.Rotation(Gf.Vec3d(0, 0, 1), angle).GetQuat())
        motion.GetRotationsAttr().Set([turn, turn], code)
    UsdSkel.BindingAPI.Apply(bones.GetPrim()).CreateAnimationSourceRel().SetTargets([motion.GetPath()])
    cloth(stage, bones)
    for name, hidden in (("loose", False), ("unseen", True)):  # without joint; invisible
        mesh = square(stage, f"/figure/{name}", bones, joints=hidden)
        if hidden:
            mesh.CreateVisibilityAttr().Set("invisible")
    stage.Save()


def square(stage: Usd.Stage, path: str, bones: UsdSkel.Skeleton, *, joints: bool) -> UsdGeom.Mesh:
    mesh = UsdGeom.Mesh.Define(stage, path)
    mesh.GetPointsAttr().Set([(0, 0, 0), (9, 0, 0), (9, 9, 0), (0, 9, 0)])
    mesh.GetFaceVertexCountsAttr().Set([4])
    mesh.GetFaceVertexIndicesAttr().Set([0, 1, 2, 3])
    if joints:
        binding = UsdSkel.BindingAPI.Apply(mesh.GetPrim())
        binding.CreateSkeletonRel().SetTargets([bones.GetPath()])
        binding.SetRigidJointInfluence(0)
    return mesh


def cloth(stage: Usd.Stage, bones: UsdSkel.Skeleton) -> None:
    """A strip of squares with its own order of joints; the first has one colour, the others a texture."""
    mesh = UsdGeom.Mesh.Define(stage, "/figure/cloth")
    rows = [(x, 30.0 * k, 0.2 * k) for k in range(SQUARES + 1) for x in (-5.0, 5.0)]
    mesh.GetPointsAttr().Set(rows)
    mesh.GetFaceVertexCountsAttr().Set([4] * SQUARES)
    mesh.GetFaceVertexIndicesAttr().Set([c for k in range(SQUARES) for c in (2 * k, 2 * k + 1, 2 * k + 3, 2 * k + 2)])
    binding = UsdSkel.BindingAPI.Apply(mesh.GetPrim())
    binding.CreateSkeletonRel().SetTargets([bones.GetPath()])
    binding.CreateGeomBindTransformAttr().Set(Gf.Matrix4d().SetTranslate(Gf.Vec3d(1, 2, 3)))
    binding.CreateJointsAttr().Set([JOINTS[2], JOINTS[0], JOINTS[1]])
    owners = np.stack([np.arange(len(rows)) % 3, (np.arange(len(rows)) + 1) % 3], axis=1)
    binding.CreateJointIndicesPrimvar(False, 2).Set(owners.ravel().tolist())
    binding.CreateJointWeightsPrimvar(False, 2).Set(np.tile([0.75, 0.25], len(rows)).tolist())
    picture = Image.new("RGB", (2, 2))
    picture.putdata(PAINT)  # rows from the top
    picture.save(Path(stage.GetRootLayer().realPath).with_name("paint.png"))
    uv = UsdGeom.PrimvarsAPI(mesh).CreatePrimvar("map", Sdf.ValueTypeNames.TexCoord2fArray, "uniform")
    uv.Set([(0.25, 0.25), (0.25, 0.75), (0.75, 0.25)])  # y up: the third is at the bottom right
    plain = material(stage, "plain", None)
    painted = material(stage, "painted", "./paint.png")
    UsdShade.MaterialBindingAPI.Apply(mesh.GetPrim()).Bind(painted)
    part = UsdGeom.Subset.CreateGeomSubset(mesh, "first", "face", Vt.IntArray([0]), "materialBind")
    UsdShade.MaterialBindingAPI.Apply(part.GetPrim()).Bind(plain)


def material(stage: Usd.Stage, name: str, file: str | None) -> UsdShade.Material:
    made = UsdShade.Material.Define(stage, f"/figure/looks/{name}")
    shader = UsdShade.Shader.Define(stage, f"/figure/looks/{name}/surface")
    shader.CreateIdAttr("UsdPreviewSurface")
    color = shader.CreateInput("diffuseColor", Sdf.ValueTypeNames.Color3f)
    if file is None:
        color.Set(RED)
    else:
        texture = UsdShade.Shader.Define(stage, f"/figure/looks/{name}/texture")
        texture.CreateIdAttr("UsdUVTexture")
        texture.CreateInput("file", Sdf.ValueTypeNames.Asset).Set(file)
        reader = UsdShade.Shader.Define(stage, f"/figure/looks/{name}/reader")
        reader.CreateIdAttr("UsdPrimvarReader_float2")
        reader.CreateInput("varname", Sdf.ValueTypeNames.String).Set("map")
        place = texture.CreateInput("st", Sdf.ValueTypeNames.Float2)
        place.ConnectToSource(reader.CreateOutput("result", Sdf.ValueTypeNames.Float2))
        color.ConnectToSource(texture.CreateOutput("rgb", Sdf.ValueTypeNames.Float3))
    made.CreateSurfaceOutput().ConnectToSource(shader.CreateOutput("surface", Sdf.ValueTypeNames.Token))
    return made


def skinned_by_usd(path: Path, code: float) -> np.ndarray:
    """Return the points of the cloth by USD's skinning [m], z up."""
    stage = Usd.Stage.Open(str(path))
    root, cache = UsdSkel.Root(stage.GetPrimAtPath("/figure")), UsdSkel.Cache()
    cache.Populate(root, Usd.TraverseInstanceProxies())
    bones = UsdSkel.Skeleton(stage.GetPrimAtPath("/figure/bones"))
    mesh = UsdGeom.Mesh(stage.GetPrimAtPath("/figure/cloth"))
    query = cache.GetSkinningQuery(mesh.GetPrim())
    moves = cache.GetSkelQuery(bones).ComputeSkinningTransforms(code)
    points = mesh.GetPointsAttr().Get()
    assert query.ComputeSkinnedPoints(moves, points, code)
    world = np.array(UsdGeom.XformCache(code).GetLocalToWorldTransform(bones.GetPrim()))
    return 0.01 * (np.array(points) @ world[:3, :3] + world[3, :3]) @ UP.T


@pytest.fixture(scope="module")
def figure(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("usd") / "figure.usda"
    character(path)
    return path


@pytest.fixture(scope="module")
def clip(figure) -> lw.Clip:
    return lw.load_clip(figure)  # its linkage caches the skin


def test_corners_stand_where_usd_has_them(figure, clip):
    triangles = of_meshes(Sketch(clip.linkage))
    assert len(triangles.indices) == 2 * SQUARES  # without the loose and the invisible mesh
    for code, q in ((0.0, clip.poses[0]), (5.0, clip.poses[-1])):
        places, _ = triangles.placed(clip.linkage.forward(q).array)
        wanted = skinned_by_usd(figure, code)
        away = np.linalg.norm(places[:, None] - wanted, axis=2)
        assert away.min(axis=1).max() < 1e-6
        assert set(away.argmin(axis=1)) == set(range(len(wanted)))


def test_colours_are_those_of_materials_and_pictures(clip):
    skin = skin_of(clip.linkage)
    shown = skin.colors[skin.triangles].mean(axis=1).round(2)
    assert shown[::2].tolist() == [[1, 0, 0], [1, 0, 0], [1, 1, 1]]
    assert shown[1::2].tolist() == shown[::2].tolist()
    along = skin.corners[skin.triangles]
    out = np.cross(along[:, 1] - along[:, 0], along[:, 2] - along[:, 0])
    assert (out[:, 2] > 0.0).all()  # counter-clockwise, as the file has them


def test_pictures_outside_the_folder_are_not_opened(figure, tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "paint.png").write_bytes(figure.with_name("paint.png").read_bytes())
    (inner / "figure.usda").write_text(
        figure.read_text(encoding="utf-8").replace("./paint.png", "../paint.png"), encoding="utf-8"
    )
    skin = skin_of(lw.load(inner / "figure.usda"))
    np.testing.assert_allclose(skin.colors[skin.triangles[-1]], GREY, atol=0.01)


def test_the_pose_of_the_bind_is_known(figure, clip, tmp_path):
    """The body is bent at rest and was bound straight; retargeting gets the bind pose, also without meshes."""
    stage = Usd.Stage.Open(str(figure))
    for name in ("cloth", "loose", "unseen"):
        stage.RemovePrim(f"/figure/{name}")
    stage.Export(str(tmp_path / "bare.usda"))
    bare = lw.load(tmp_path / "bare.usda")
    assert not bare.origin.has_meshes
    assert skin_of(bare) is None
    for body in (clip.linkage, bare):
        straight = body.forward(bind_pose(body))
        up = [straight[name][:3, :3] @ [0, 1, 0] for name in body.links]
        np.testing.assert_allclose(up, np.tile([0.0, 0.0, 1.0], (3, 1)), atol=1e-6)
        assert abs(body.forward(body.neutral())["spine"][2, 1] - 1.0) > 0.05
