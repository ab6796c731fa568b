"""Write USD files: a skeleton with the links as joints, skinned geometry, and an animation for each clip.

Files are in metres, z up. Rotations and positions are float32 in USD; the linkage and the exact frames are stored
beside them, for linkwork only.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path, PurePath
from typing import Any

import numpy as np

from ..errors import FormatError, MissingExtraError, Remark
from ..linkage.linkage import Linkage
from ..motion.clips import BLOCK, Clip
from ..motion.frame_files import block_of
from ..transforms import FloatArray, steady
from . import mesh_export, scene
from .atomic_files import replacing
from .content import Content, Remarks, UniqueNames
from .options import FilePath
from .skeletons import local_matrices

KEY = "linkwork"
FRAME = "linkwork:frame"  # the time [s] and the pose of a frame, as float64
RATE = 24.0  # default number of time codes per second
MAX_RATE = 1000.0
MAX_CHARACTERS = 2**24
LINE_WIDTH = 0.005  # relative to the size of the linkage
SHARE = 0.25  # fraction of new frames at which the draft is saved; each save leaves some unused bytes
_ODD = re.compile(r"[^A-Za-z0-9_]")


def write(content: Content, path: FilePath) -> tuple[Remark, ...]:
    """Write a linkage and its motions, completely or not at all; ``.usda`` is text, ``.usdz`` a package, else binary.

    Returns:
        Remarks on what the file cannot store.

    Raises:
        FormatError: If the file cannot be written.
        MissingExtraError: If usd-core is not installed.
    """
    with tempfile.TemporaryDirectory() as folder:
        draft = Path(folder) / "stage.usdc"
        writing = _UsdWriter(content, path, draft)
        suffix = PurePath(path).suffix.lower()
        try:
            writing.build()
            if suffix == ".usda":
                draft = draft.with_suffix(suffix)
                writing.layer.Export(str(draft))
        finally:
            writing.close()  # Windows does not delete files that are open
        with replacing(path) as file, (_packed(draft) if suffix == ".usdz" else draft).open("rb") as made:
            shutil.copyfileobj(made, file)
    return tuple(writing.remarks)


def _packed(layer: Path) -> Path:
    """Return a package that contains one layer."""
    from pxr import Sdf

    package = layer.with_suffix(".usdz")
    with Sdf.ZipFileWriter.CreateNew(str(package)) as archive:
        archive.AddFile(str(layer), layer.name)
    return package


def joint_paths(linkage: Linkage) -> list[str]:
    """Return the path of every link in a skeleton: identifiers from the root down, unique among siblings.

    Example:
        >>> import linkwork as lw
        >>> joint_paths(lw.models.planar([1, 1]))
        ['link0', 'link0/link1', 'link0/link1/link2']
    """
    paths: list[str] = []
    names = UniqueNames()
    for name, parent in zip(linkage.links, linkage.parents, strict=True):
        above = f"{paths[parent]}/" if parent >= 0 else ""
        paths.append(names.take(above + _identifier(name)))
    return paths


def _identifier(name: str) -> str:
    """Return a valid USD identifier: letters, digits and underscores, not starting with a digit."""
    text = _ODD.sub("_", name)
    return f"_{text}" if not text or text[0].isdigit() else text


def world_matrices(linkage: Linkage, poses: FloatArray) -> FloatArray:
    """Return world_from_link of all links, shape (..., n, 4, 4)."""
    frames = linkage.forward(poses)
    return np.stack([frames[name] for name in linkage.links], axis=-3)


class _UsdWriter:
    """Builds a stage."""

    def __init__(self, content: Content, path: FilePath, draft: Path) -> None:
        try:
            from pxr import Usd
        except ImportError as error:
            raise MissingExtraError("usd-core", "formats", "writing USD") from error
        self.linkage, self.clips, self.path = content.linkage, content.clips, path
        self.remarks = Remarks()
        self.stage: Any = Usd.Stage.CreateNew(str(draft))
        self.layer: Any = self.stage.GetRootLayer()
        self.saved = 0  # frames saved in the draft
        self.joints = joint_paths(self.linkage)
        self.names = UniqueNames()
        self.rest = world_matrices(self.linkage, self.linkage.neutral())
        self.low, self.high = self.rest[:, :3, 3].min(axis=0), self.rest[:, :3, 3].max(axis=0)
        if sum(map(len, self.joints)) > MAX_CHARACTERS:
            raise FormatError(path, "the linkage is too deep for USD, which names every joint by its full path.")

    def build(self) -> None:
        from pxr import Kind, Usd, UsdGeom, UsdSkel

        UsdGeom.SetStageUpAxis(self.stage, UsdGeom.Tokens.z)
        UsdGeom.SetStageMetersPerUnit(self.stage, 1.0)
        self.top = f"/{_identifier(self.linkage.name)}"
        root = UsdSkel.Root.Define(self.stage, self.top)
        self.stage.SetDefaultPrim(root.GetPrim())
        Usd.ModelAPI(root.GetPrim()).SetKind(Kind.Tokens.component)
        root.GetPrim().SetCustomDataByKey(KEY, scene.dump(self.linkage, "json"))
        skeleton = self._skeleton()
        animations = self._animations()
        binding = UsdSkel.BindingAPI.Apply(root.GetPrim())
        binding.CreateSkeletonRel().SetTargets([skeleton])
        if animations:
            binding.CreateAnimationSourceRel().SetTargets([animations[0]])
        reach = self._geometry()
        root.CreateExtentAttr(_vectors(np.stack([self.low - reach, self.high + reach])))
        self.layer.Save()

    def close(self) -> None:
        """Release the draft."""
        self.stage = self.layer = None

    def _skeleton(self) -> Any:
        from pxr import UsdSkel, Vt

        skeleton = UsdSkel.Skeleton.Define(self.stage, self._free("Skeleton"))
        local = local_matrices(self.linkage, self.linkage.neutral())
        skeleton.CreateJointsAttr(self.joints)
        skeleton.CreateJointNamesAttr(list(self.linkage.links))
        skeleton.CreateBindTransformsAttr(Vt.Matrix4dArray.FromNumpy(_rows(self.rest)))
        skeleton.CreateRestTransformsAttr(Vt.Matrix4dArray.FromNumpy(_rows(local)))
        skeleton.CreateExtentAttr(_vectors(np.stack([self.low, self.high])))
        return skeleton.GetPath()

    # Motion

    def _animations(self) -> list[Any]:
        rate = _rate([clip.times for clip in self.clips.values()])
        self.stage.SetTimeCodesPerSecond(rate)
        self.stage.SetFramesPerSecond(rate)
        if self.clips:
            self.stage.SetStartTimeCode(min(float(clip.times[0]) for clip in self.clips.values()) * rate)
            self.stage.SetEndTimeCode(max(float(clip.times[-1]) for clip in self.clips.values()) * rate)
        return [self._animation(name, clip, rate) for name, clip in self.clips.items()]

    def _animation(self, name: str, clip: Clip, rate: float) -> Any:
        from pxr import Sdf, UsdSkel, Vt

        animation = UsdSkel.Animation.Define(self.stage, self._free(name))
        prim = animation.GetPrim()
        prim.SetDisplayName(name)
        animation.CreateJointsAttr(self.joints)
        translations, rotations = animation.CreateTranslationsAttr(), animation.CreateRotationsAttr()
        animation.CreateScalesAttr(Vt.Vec3hArray.FromNumpy(np.ones((len(self.joints), 3), np.float16)))
        frames = prim.CreateAttribute(FRAME, Sdf.ValueTypeNames.DoubleArray, custom=True)
        last: FloatArray | None = None
        waiting = 0
        for begin in range(0, len(clip), BLOCK):
            rows = slice(begin, begin + BLOCK)
            poses = block_of(clip.poses, rows)
            moves, turns = self._places(poses, last)
            last = turns[-1]
            for time, pose, move, turn in zip(clip.times[rows].tolist(), poses, moves, turns, strict=True):
                code = time * rate
                translations.Set(Vt.Vec3fArray.FromNumpy(move), code)
                rotations.Set(Vt.QuatfArray.FromNumpy(_single(turn)), code)
                frames.Set(Vt.DoubleArray.FromNumpy(np.concatenate([[time], pose])), code)
            waiting += len(poses)
            if waiting >= max(BLOCK, SHARE * self.saved):
                self.layer.Save()  # saved frames need no memory
                self.saved, waiting = self.saved + waiting, 0
        return animation.GetPath()

    def _places(self, poses: FloatArray, last: FloatArray | None) -> tuple[Any, FloatArray]:
        """Return positions of links on their parents in some frames, as float32, and their quaternions.

        Args:
            poses: The poses.
            last: Quaternions of the frame before, for continuous signs.
        """
        from scipy.spatial.transform import Rotation

        worlds = world_matrices(self.linkage, poses)
        self.low = np.minimum(self.low, worlds[..., :3, 3].min(axis=(0, 1)))
        self.high = np.maximum(self.high, worlds[..., :3, 3].max(axis=(0, 1)))
        local = local_matrices(self.linkage, poses)
        flat = Rotation.from_matrix(local[..., :3, :3].reshape(-1, 3, 3)).as_quat()  # x, y, z, w, as in USD arrays
        turns = flat.reshape(*local.shape[:2], 4)
        turns = steady(turns) if last is None else steady(np.concatenate([last[None], turns]))[1:]
        return _narrowed(local[..., :3, 3], self.path), turns

    def _free(self, name: str) -> str:
        """Return an unused path directly below the root prim."""
        return self.names.take(f"{self.top}/{_identifier(name)}")

    # Geometry

    def _geometry(self) -> FloatArray:
        """Write the geometry of the links, and return its largest distance from their origins."""
        missing: list[str] = []
        reach = 0.0
        for part in mesh_export.parts(self.linkage, missing):
            self._part(part)
            reach = max(reach, float(np.linalg.norm(part.facets.corners, axis=1).max()))
        if missing:
            more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
            self.remarks.add("dropped", f"of mesh {missing[0]!r}{more}, only the name is in the file.", missing[0])
        return np.full(3, reach)

    def _part(self, part: mesh_export.MeshPart) -> None:
        """Write the facets of one link in the rest pose, bound only to its joint."""
        from pxr import Gf, UsdGeom, UsdSkel, Vt

        facets = mesh_export.placed(part.facets, self.rest[part.link])
        path = self._free(self.linkage.links[part.link])
        if facets.normals is None:
            shape = UsdGeom.BasisCurves.Define(self.stage, path)
            shape.CreateTypeAttr(UsdGeom.Tokens.linear)
            shape.CreateCurveVertexCountsAttr([2] * len(facets.indices))
            corners = facets.corners[facets.indices].reshape(-1, 3)
            shape.CreateWidthsAttr([LINE_WIDTH * (self.linkage.length or 1.0)])
            shape.SetWidthsInterpolation(UsdGeom.Tokens.constant)
        else:
            shape = UsdGeom.Mesh.Define(self.stage, path)
            corners = facets.corners
            shape.CreateFaceVertexCountsAttr([3] * len(facets.indices))
            shape.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(facets.indices.ravel().astype(np.int32)))
            shape.CreateNormalsAttr(_vectors(facets.normals))
            shape.SetNormalsInterpolation(UsdGeom.Tokens.vertex)
            shape.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
        shape.CreatePointsAttr(Vt.Vec3fArray.FromNumpy(_narrowed(corners, self.path)))
        shape.CreateExtentAttr(_vectors(np.stack([corners.min(axis=0), corners.max(axis=0)])))
        shape.CreateDisplayColorAttr([Gf.Vec3f(*part.color)])
        binding = UsdSkel.BindingAPI.Apply(shape.GetPrim())
        binding.CreateJointIndicesPrimvar(True, 1).Set([part.link])
        binding.CreateJointWeightsPrimvar(True, 1).Set([1.0])
        binding.CreateGeomBindTransformAttr(Gf.Matrix4d(1.0))


def _rows(matrices: FloatArray) -> FloatArray:
    """Return matrices in USD's convention, for row vectors."""
    return np.ascontiguousarray(np.swapaxes(matrices, -1, -2))


def _vectors(points: FloatArray) -> Any:
    from pxr import Vt

    return Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(points, np.float32))


def _narrowed(points: FloatArray, path: FilePath) -> Any:
    """Return positions as float32; raise if they are too large."""
    if np.abs(points).max(initial=0.0) > 1e38:
        raise FormatError(path, "positions beyond 1e38 m are too large for float32.")
    return _single(points)


def _single(values: FloatArray) -> Any:
    """Return values as float32, without -0: the sign of a value that rounds to zero depends on the processor."""
    return np.ascontiguousarray(values, np.float32) + np.float32(0.0)


def _rate(times: list[FloatArray]) -> float:
    """Return the time codes per second at which frames have whole numbers, if possible."""
    steps = np.concatenate([np.diff(row) for row in times if len(row) > 1] or [np.zeros(0)])
    if not len(steps):
        return RATE
    rate = float(np.round(1.0 / max(float(np.median(steps)), 1e-9), 6))
    whole = np.round(rate)
    rate = float(whole) if abs(rate - whole) < 1e-3 else rate
    return rate if 1.0 / MAX_RATE < rate <= MAX_RATE else RATE
