"""Program that opens a USD file in a separate process, and returns what a linkage needs as plain arrays.

`usd` runs this file as a program, so it imports nothing of linkwork. Damaged crate files make usd-core use unlimited
memory or time, or crash, without harm to the caller.
"""

from __future__ import annotations

import io
import json
import os
import re
import runpy
import sys
from pathlib import Path
from typing import Any

import numpy as np

try:
    from pxr import Ar, Sdf, Tf, Usd, UsdGeom, UsdSkel
except ImportError:  # `_answer` reports it
    Usd = None

MAX_LAYERS = 100
MAX_PRIMS = 20_000
MAX_JOINTS = 10_000
MAX_VALUES = 400_000  # joints times frames of all animations: 5,000 frames of 80 joints
MAX_CHARACTERS = 2**24
SHAPES = {"Cube": ("size",), "Sphere": ("radius",), "Cylinder": ("radius", "height"), "Capsule": ("radius", "height")}
UNSEEN = ("Camera", "Scope")


class Refusal(Exception):  # noqa: N818 - internal: it becomes the answer
    """An error in the file."""


def main() -> None:
    """Answer the request on stdin with an NPZ archive on stdout."""
    answer = os.dup(1)
    os.dup2(2, 1)  # output of USD is not part of the answer
    header, arrays = _answer(json.load(sys.stdin))
    buffer = io.BytesIO()
    np.savez(buffer, header=np.frombuffer(json.dumps(header).encode(), np.uint8), **arrays)
    with os.fdopen(answer, "wb") as file:
        file.write(buffer.getvalue())
    os._exit(0)  # skips the slow shutdown of USD's threads and tables


def _answer(request: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    if Usd is None:
        return {"missing": "usd-core"}, {}
    limits = runpy.run_path(str(Path(__file__).with_name("child_limits.py")))
    limits["limit"](request["seconds"], request["bytes"])
    try:
        return _Extract(request["path"], request["folders"]).everything(request["times"], skin=request["skin"])
    except Refusal as refusal:
        return {"error": str(refusal)}, {}
    except Tf.ErrorException as error:
        return _complaint(str(error)), {}
    except (ValueError, TypeError, RuntimeError, OverflowError, MemoryError) as error:
        return {"error": f"USD cannot read it: {type(error).__name__} {str(error)[:200]}"}, {}


def _complaint(text: str) -> dict[str, Any]:
    """Return the message of USD and, if given, the line of the file."""
    said = re.search(r" : '(.*)'", text, re.DOTALL)
    message = " ".join((said[1] if said else text).split())
    place = re.match(r"\S+?:(\d+):\d+: (.*)", message)
    line, message = (int(place[1]), place[2]) if place else (None, message)
    return {"error": f"USD cannot read it: {message[:200]}", "line": line}


class _Extract:
    """Extracts plain arrays from a stage."""

    def __init__(self, path: str, folders: list[str]) -> None:
        self.path, self.folders = path, [os.path.realpath(folder) for folder in folders]
        self.absent: list[str] = []
        layer = Sdf.Layer.FindOrOpen(path)
        if layer is None:
            raise Refusal("USD cannot read it")
        self._check_layers(layer)
        self.stage = Usd.Stage.Open(layer)
        self.prims = self._prims()
        self.arrays: dict[str, Any] = {}
        self.values = 0
        self.header: dict[str, Any] = {
            "up": str(UsdGeom.GetStageUpAxis(self.stage)).lower(),
            "unit_is_said": self.stage.HasAuthoredMetadata("metersPerUnit"),
            "unit": float(UsdGeom.GetStageMetersPerUnit(self.stage)),
            "rate": float(self.stage.GetTimeCodesPerSecond()),
            "name": str(self.stage.GetDefaultPrim().GetName()) if self.stage.HasDefaultPrim() else "",
        }

    def everything(self, times: list[float], *, skin: bool) -> tuple[dict[str, Any], dict[str, Any]]:
        found = [prim for prim in self.prims if prim.IsA(UsdSkel.Skeleton)]
        skeletons = [prim for prim in found if UsdSkel.Skeleton(prim).GetJointsAttr().Get()]
        named = [str(prim.GetTypeName()) for prim in self.prims]
        self.header["skeletons"] = [str(prim.GetPath()) for prim in skeletons]
        self.header["empty"] = [str(prim.GetPath()) for prim in found if prim not in skeletons]
        self.header["meshes"] = sum(name in ("Mesh", "BasisCurves", "Points") for name in named)
        self.header["scene"] = self._scene_text()
        self.header["absent"] = self.absent
        if skeletons:
            self._skeleton(skeletons[0])
            if times:
                codes = [time * self.header["rate"] for time in times]
                self.arrays["placed"] = self._worlds([skeletons[0]], codes)[:, 0]
            if skin:
                self._skin(skeletons[0])
        else:
            self._transforms()
        return self.header, self.arrays

    # Access control

    def _check_layers(self, layer: Any) -> None:
        """Raise if the file would make USD read a file outside the allowed folders."""
        waiting, seen = [layer], {layer.identifier}
        while waiting:
            here = waiting.pop()
            for name in filter(None, here.GetCompositionAssetDependencies()):  # an empty name is the file itself
                full = here.ComputeAbsolutePath(name)
                outer = Ar.SplitPackageRelativePathOuter(full)[0] if Ar.IsPackageRelativePath(full) else full
                real = Path(os.path.realpath(outer))
                if not any(real.is_relative_to(folder) for folder in self.folders):
                    advice = "allow it with folders=[...] (--folder)"
                    raise Refusal(f"refers to {name!r}, which is outside the model's folder; {advice}")
                if full in seen:
                    continue
                seen.add(full)
                if len(seen) > MAX_LAYERS:
                    raise Refusal(f"refers to more than {MAX_LAYERS} other files")
                if not real.is_file():
                    self.absent.append(name)
                elif (inner := Sdf.Layer.FindOrOpen(full)) is not None:
                    waiting.append(inner)

    def _prims(self) -> list[Any]:
        result = []
        for prim in Usd.PrimRange(self.stage.GetPseudoRoot(), Usd.TraverseInstanceProxies()):
            if prim.HasAuthoredMetadata("clips"):
                raise Refusal("has value clips (motion in other files), which are not read")
            result.append(prim)
            if len(result) > MAX_PRIMS:
                raise Refusal(f"has more than {MAX_PRIMS} prims, the largest number that is read")
        return result[1:]

    def _scene_text(self) -> str | None:
        for prim in self.prims:
            if prim.HasAuthoredCustomDataKey("linkwork"):
                text = prim.GetCustomDataByKey("linkwork")
                return text if isinstance(text, str) and len(text) <= MAX_CHARACTERS else None
        return None

    # A skeleton

    def _skeleton(self, prim: Any) -> None:
        skeleton = UsdSkel.Skeleton(prim)
        joints = [str(token) for token in skeleton.GetJointsAttr().Get() or ()]
        if len(joints) > MAX_JOINTS or sum(map(len, joints)) > MAX_CHARACTERS:
            raise Refusal(f"has a skeleton of {len(joints)} joints, more than are read")
        self.header["joints"] = joints
        self.header["joint_names"] = [str(name) for name in skeleton.GetJointNamesAttr().Get() or ()]
        for name, attribute in (("rest", skeleton.GetRestTransformsAttr()), ("bind", skeleton.GetBindTransformsAttr())):
            matrices = np.array(attribute.Get() or np.zeros((0, 4, 4)), np.float64).reshape(-1, 4, 4)
            if len(matrices) == len(joints):
                self.arrays[name] = matrices.transpose(0, 2, 1)
        bound = UsdSkel.BindingAPI(prim).GetInheritedAnimationSource()
        others = [other for other in self.prims if other.IsA(UsdSkel.Animation) and other != bound]
        animations = [bound] if bound and bound.IsA(UsdSkel.Animation) else []
        self.header["animations"] = [
            self._animation(UsdSkel.Animation(other), k, prim) for k, other in enumerate([*animations, *others])
        ]
        self.arrays["world"] = self._worlds([prim], [None])[0, 0]

    def _animation(self, animation: Any, k: int, skeleton: Any) -> dict[str, Any]:
        """Extract one animation; its times include those at which the skeleton as a whole moves."""
        joints = [str(token) for token in animation.GetJointsAttr().Get() or ()]
        tracks = {
            "translations": (animation.GetTranslationsAttr(), 3),
            "rotations": (animation.GetRotationsAttr(), 4),
            "scales": (animation.GetScalesAttr(), 3),
        }
        times = {time for attribute, _ in tracks.values() for time in attribute.GetTimeSamples()}
        moving = self._moving_times(skeleton)
        codes: list[Any] = sorted(times | moving) or [None]
        self.values += max(len(joints), 1) * len(codes)
        if len(joints) > MAX_JOINTS or self.values > MAX_VALUES:
            raise Refusal(f"has motion of more than {MAX_VALUES} joints times frames, the limit")
        for name, (attribute, width) in tracks.items():
            rows = [np.array(_at(attribute, code), np.float64).reshape(-1, width) for code in codes]
            if all(len(row) == len(joints) for row in rows) and joints:
                values = np.stack(rows)
                self.arrays[f"{name}{k}"] = values[..., [3, 0, 1, 2]] if width == 4 else values
        prim = animation.GetPrim()
        frames = prim.GetAttribute("linkwork:frame")
        if frames and (found := frames.GetTimeSamples() or [None]):
            exact = [np.array(_at(frames, code), np.float64).ravel() for code in found[: len(codes)]]
            if len(found) == len(codes) and len({len(row) for row in exact}) == 1:
                self.arrays[f"frames{k}"] = np.stack(exact)
        if moving:
            self.arrays[f"worlds{k}"] = self._worlds([skeleton], codes)[:, 0]
        name = prim.GetDisplayName() if prim.HasAuthoredDisplayName() else prim.GetName()
        return {"name": str(name), "joints": joints, "times": [0.0 if code is None else float(code) for code in codes]}

    def _skin(self, skeleton: Any) -> None:
        """Extract the skinned meshes of the skeleton."""
        program = runpy.run_path(str(Path(__file__).with_name("usd_meshes.py")))
        meshes = program["SkinnedMeshes"](self.stage, skeleton, self.folders)
        self.header |= {"skin": meshes.entries, "materials": meshes.materials}
        self.arrays |= meshes.arrays

    # Transforms

    def _moving_times(self, prim: Any) -> set[float]:
        times: set[float] = set()
        while prim and not prim.IsPseudoRoot():
            if prim.IsA(UsdGeom.Xformable):
                times |= _moving_times(prim)
            prim = prim.GetParent()
        return times

    def _first_time(self, prims: list[Any]) -> Any:
        """Return the time code of prims at rest: the default, or the earliest if they have only time samples."""
        seen: set[Any] = set()
        for prim in prims:
            while prim and not prim.IsPseudoRoot() and prim not in seen:
                seen.add(prim)
                if prim.IsA(UsdGeom.Xformable):
                    steps = UsdGeom.Xformable(prim).GetOrderedXformOps()
                    if any(step.GetNumTimeSamples() and step.Get(Usd.TimeCode.Default()) is None for step in steps):
                        return Usd.TimeCode.EarliestTime()
                prim = prim.GetParent()
        return Usd.TimeCode.Default()

    def _worlds(self, prims: list[Any], codes: list[Any]) -> Any:
        """Return world_from_prim at time codes, shape (codes, prims, 4, 4)."""
        worlds = np.zeros((len(codes), len(prims), 4, 4))
        for row, code in zip(worlds, codes, strict=True):
            cache = UsdGeom.XformCache(self._first_time(prims) if code is None else code)
            for k, prim in enumerate(prims):
                row[k] = np.array(cache.GetLocalToWorldTransform(prim), np.float64).T
        return worlds

    def _transforms(self) -> None:
        """Extract the transforms of a file without skeleton, and their simple shapes."""
        entries: list[dict[str, Any]] = []
        index: dict[str, int] = {}
        times: set[float] = set()
        kept = []
        for prim in self.prims:
            if not prim.IsA(UsdGeom.Xformable) or str(prim.GetTypeName()) in UNSEEN:
                continue
            samples = _moving_times(prim)
            times |= samples
            parent = prim.GetParent()
            while parent and str(parent.GetPath()) not in index:
                parent = parent.GetParent()
            index[str(prim.GetPath())] = len(entries)
            above = index[str(parent.GetPath())] if parent else -1
            entries.append({"name": str(prim.GetName()), "parent": above, "moves": bool(samples), **self._shape(prim)})
            kept.append(prim)
        codes: list[Any] = sorted(times) or [None]
        if len(entries) * len(codes) > MAX_VALUES:
            raise Refusal(f"has motion of more than {MAX_VALUES} transforms times frames, the limit")
        self.header["transforms"], self.header["times"] = entries, [0.0 if c is None else float(c) for c in codes]
        self.header["moves"] = bool(times)
        self.arrays["worlds"] = self._worlds(kept, codes)

    def _shape(self, prim: Any) -> dict[str, Any]:
        kind = str(prim.GetTypeName())
        if kind not in SHAPES:
            return {"shape": None}
        sizes = [float(_first(prim.GetAttribute(name))) for name in SHAPES[kind]]
        axis = prim.GetAttribute("axis").Get() if prim.HasAttribute("axis") else "Z"
        color = (
            _first(prim.GetAttribute("primvars:displayColor")) if prim.HasAttribute("primvars:displayColor") else None
        )
        rgb = [float(part) for part in color[0]] if color is not None and len(color) else None
        return {"shape": kind, "sizes": sizes, "axis": str(axis).lower(), "color": rgb}


def _moving_times(prim: Any) -> set[float]:
    """Return the sample times of a transform; empty if it is constant."""
    transform = UsdGeom.Xformable(prim)
    moves = any(step.MightBeTimeVarying() for step in transform.GetOrderedXformOps())
    return set(transform.GetTimeSamples()) if moves else set()


def _first(attribute: Any) -> Any:
    """Return the default value of an attribute, or else its earliest sample."""
    value = attribute.Get()
    return attribute.Get(Usd.TimeCode.EarliestTime()) if value is None else value


def _at(attribute: Any, code: Any) -> Any:
    value = attribute.Get() if code is None else attribute.Get(code)
    return () if value is None else value


if __name__ == "__main__":
    main()
