"""A motion inserted into the USD file of its body, checked with usd-core."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import FormatError
from linkwork.formats import usd

pytest.importorskip("pxr", reason="usd-core (extra formats) is not installed")
from pxr import Sdf, Usd, UsdGeom, UsdSkel

PICTURE = b"\x89PNG\r\n\x1a\nnot much of a picture"
UNIT = "( (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1) )"
UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])  # z up from y up

# As Blender writes it: the armature's transform has a single time sample, and joints have scale 100.
CHARACTER = f"""#usda 1.0
(
  defaultPrim = "root"
  metersPerUnit = 1
  timeCodesPerSecond = 25
  upAxis = "Y"
)
def Xform "root"
{{
  def SkelRoot "Armature"
  {{
    float3 xformOp:rotateXYZ.timeSamples = {{ 1: (-90, 20, 0) }}
    float3 xformOp:scale.timeSamples = {{ 1: (0.01, 0.01, 0.01) }}
    uniform token[] xformOpOrder = ["xformOp:rotateXYZ", "xformOp:scale"]
    def Skeleton "bones" (
      prepend apiSchemas = ["SkelBindingAPI"]
    )
    {{
      uniform token[] joints = ["hips", "hips/spine", "hips/spine/head"]
      uniform matrix4d[] bindTransforms = [{UNIT}, {UNIT}, {UNIT}]
      uniform matrix4d[] restTransforms = [
        ( (0, 1, 0, 0), (-1, 0, 0, 0), (0, 0, 1, 0), (0, 0, 100, 1) ),
        ( (2, 0, 0, 0), (0, 2, 0, 0), (0, 0, 2, 0), (0, 0, 30, 1) ),
        ( (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 5, 10, 1) )]
      rel skel:animationSource = </root/Armature/bones/old>
      def SkelAnimation "old"
      {{
        uniform token[] joints = ["hips"]
        quatf[] rotations.timeSamples = {{ 0: [(1, 0, 0, 0)], 50: [(0, 0, 0, 1)] }}
        float3[] translations = [(0, 0, 100)]
        half3[] scales = [(1, 1, 1)]
      }}
    }}
    def Skeleton "nothing"
    {{
    }}
    def Mesh "skin" (
      prepend apiSchemas = ["SkelBindingAPI"]
    )
    {{
      int[] faceVertexCounts = [3]
      int[] faceVertexIndices = [0, 1, 2]
      point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]
      int[] primvars:skel:jointIndices = [0, 1, 2] (
        elementSize = 1
        interpolation = "vertex"
      )
      float[] primvars:skel:jointWeights = [1, 1, 1] (
        elementSize = 1
        interpolation = "vertex"
      )
      rel skel:skeleton = </root/Armature/bones>
    }}
  }}
  def Shader "texture"
  {{
    uniform token info:id = "UsdUVTexture"
    asset inputs:file = @./art/skin.png@
  }}
}}
"""


def saved(folder: Path, text: str = CHARACTER) -> Path:
    (folder / "art").mkdir(parents=True)
    (folder / "art" / "skin.png").write_bytes(PICTURE)
    path = folder / "body.usda"
    path.write_text(text, encoding="utf-8")
    return path


def walk(body: lw.Linkage) -> lw.Clip:
    rng = np.random.default_rng(3)
    keys = [(0.0, body.neutral()), (0.5, body.random_pose(rng)), (1.0, body.random_pose(rng))]
    return lw.interpolate(body, keys, fps=10).named("a walk")


def check_motion(path: Path, clip: lw.Clip, prim: str = "a_walk") -> None:
    """Compare the joints that UsdSkel computes with the links of a clip."""
    stage = Usd.Stage.Open(str(path))
    bones = UsdSkel.Skeleton(stage.GetPrimAtPath("/root/Armature/bones"))
    query = UsdSkel.Cache().GetSkelQuery(bones)
    assert query.GetAnimQuery().GetPrim().GetName() == prim
    frames = clip.forward()
    for k, time in enumerate(clip.times):
        code = time * stage.GetTimeCodesPerSecond()
        found = np.array(query.ComputeJointWorldTransforms(UsdGeom.XformCache(code))).transpose(0, 2, 1)
        for matrix, link in zip(found, ("hips", "spine", "head"), strict=True):
            np.testing.assert_allclose(UP @ matrix[:3, 3], frames[link][k, :3, 3], atol=1e-5)
            turned = matrix[:3, :3] / np.linalg.norm(matrix[:3, :3], axis=0)
            np.testing.assert_allclose(UP @ turned, frames[link][k, :3, :3], atol=1e-5)


def texture_of(path: Path) -> str:
    """Return the file that USD resolves for the texture of a character."""
    stage = Usd.Stage.Open(str(path))
    return stage.GetPrimAtPath("/root/texture").GetAttribute("inputs:file").Get().resolvedPath


def test_a_place_said_at_one_time_alone_is_the_place(tmp_path):
    content = usd.read(saved(tmp_path))
    hips = content.linkage.forward(content.linkage.neutral())["hips"]
    np.testing.assert_allclose(hips[:3, 3], UP @ [0.0, 1.0, 0.0], atol=1e-6)
    assert [arc.articulation.kind for arc in content.linkage.arcs] == ["floating", "ball", "ball"]
    assert len(content.clips["old"]) == 2
    assert any("/root/Armature/nothing has no joints" in remark.text for remark in content.remarks)


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> tuple[Path, Path, lw.Clip]:
    """A character whose armature moves too, a folder with the written files, and the motion."""
    old, new = tmp_path_factory.mktemp("old"), tmp_path_factory.mktemp("new")
    turning = CHARACTER.replace("{ 1: (-90, 20, 0) }", "{ 0: (-90, 20, 0), 25: (-90, 80, 0) }")
    path = saved(old / "model", turning)
    clip = walk(lw.load(path))
    assert clip.save(new / "out.usda") == ()
    assert clip.save(new / "out.usdz") == ()
    return path, new, clip


@pytest.mark.parametrize("suffix", [".usda", ".usdz"])
def test_usd_moves_the_joints_as_the_clip_moves_its_links(written, suffix):
    _, new, clip = written
    check_motion(new / f"out{suffix}", clip)


def test_all_that_was_in_the_file_is_still_there(written):
    path, new, _ = written
    before, after = Sdf.Layer.FindOrOpen(str(path)), Sdf.Layer.FindOrOpen(str(new / "out.usda"))
    known: list = []
    before.Traverse("/", known.append)
    changed = []
    for spec in known:
        old, now = before.GetObjectAtPath(spec), after.GetObjectAtPath(spec)
        keys = old.ListInfoKeys() if old else []
        changed += [(str(spec), key) for key in keys if str(old.GetInfo(key)) != str(now.GetInfo(key))]
    names = {spec for spec, _ in changed}
    assert names == {"/root/Armature/bones.skel:animationSource", "/root/texture.inputs:file"}


def test_files_beside_it_are_found_from_elsewhere_or_are_in_the_package(written):
    _, new, _ = written
    for out in (new / "out.usda", new / "out.usdz"):
        assert texture_of(out)
    assert PICTURE in (new / "out.usdz").read_bytes()


@pytest.mark.parametrize("suffix", [".usdz", ".usda"])
def test_a_package_is_read_and_written_again(written, tmp_path, suffix):
    _, new, clip = written
    body = lw.load(new / "out.usdz")
    assert body.origin.file == new / "out.usdz"
    back = lw.Clip(body, clip.times, clip.poses[::-1], name="a walk")
    out = tmp_path / f"back{suffix}"
    back.save(out)
    check_motion(out, back, "a_walk_2")
    assert texture_of(out)
    if suffix == ".usdz":
        names = [Sdf.ZipFile.Open(str(path)).GetFileNames() for path in (new / "out.usdz", out)]
        assert names[0] == names[1]


def test_what_lies_elsewhere_is_not_packed_and_another_body_is_refused(tmp_path):
    (tmp_path / "secret.png").write_bytes(PICTURE)
    path = saved(tmp_path / "in", CHARACTER.replace("./art/skin.png", "../secret.png"))
    clip = walk(lw.load(path))
    with pytest.raises(FormatError, match="outside the model's folder"):
        clip.save(tmp_path / "out.usdz")
    assert not (tmp_path / "out.usdz").exists()
    with pytest.raises(FormatError, match="lacks 7 of 7 moving links of 'panda'"):
        lw.models.motion("panda").save(tmp_path / "out.usda", into=path)
