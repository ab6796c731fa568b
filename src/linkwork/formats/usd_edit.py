"""Program that adds animations to a copy of a USD file, in a separate process.

`usd_append` runs this file as a program, so it imports nothing of linkwork.
"""

from __future__ import annotations

import json
import os
import re
import runpy
import sys
import tempfile
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

try:
    from pxr import Ar, Sdf, Tf, Usd, UsdSkel, UsdUtils, Vt
except ImportError:  # `_answer` reports it
    Usd = None


class Refusal(Exception):  # noqa: N818 - internal: it becomes the answer
    """An error in the file."""


def main() -> None:
    """Answer the request on stdin with JSON on stdout."""
    answer = os.dup(1)
    os.dup2(2, 1)  # output of USD is not part of the answer
    said = json.dumps(_answer(json.load(sys.stdin))).encode()
    with os.fdopen(answer, "wb") as file:
        file.write(said)
    os._exit(0)  # skips the slow shutdown of USD's threads and tables


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    if Usd is None:
        return {"missing": "usd-core"}
    limits = runpy.run_path(str(Path(__file__).with_name("child_limits.py")))
    limits["limit"](request["seconds"], request["bytes"])
    try:
        return _Edit(request).done()
    except Refusal as refusal:
        return {"error": str(refusal)}
    except (Tf.ErrorException, ValueError, TypeError, RuntimeError, OverflowError, MemoryError, OSError) as error:
        return {"error": f"USD cannot write it: {type(error).__name__} {' '.join(str(error).split())[:200]}"}


class _Edit:
    """Adds animations to a layer, and adapts it to its new location."""

    def __init__(self, request: dict[str, Any]) -> None:
        self.request = request
        self.path, self.draft, self.output = (Path(request[key]) for key in ("path", "draft", "output"))
        self.folders = [Path(os.path.realpath(folder)) for folder in request["folders"]]
        self.absent: list[str] = []
        layer = Sdf.Layer.FindOrOpen(str(self.path))
        if layer is None:
            raise Refusal("USD cannot read it")
        self.stage = Usd.Stage.Open(layer)

    def done(self) -> dict[str, Any]:
        self._animate()
        layer = Sdf.Layer.CreateAnonymous(".usda")  # a copy: layers in a package cannot be changed
        layer.TransferContent(self.stage.GetRootLayer())
        packed, packs = self.path.suffix.lower() == ".usdz", self.draft.suffix == ".usdz"
        if packed and packs:
            self._repacked(layer)
        elif packs:
            self._packed(layer)
        else:
            if packed or self.output != self.path.parent:
                UsdUtils.ModifyAssetPaths(layer, self._from_package if packed else self._from_there)
            self._export(layer, self.draft)
        return {"absent": sorted(set(self.absent))}

    # The motion

    def _animate(self) -> None:
        prim = self.stage.GetPrimAtPath(self.request["skeleton"])
        if prim.IsInstanceProxy():
            raise Refusal(f"its skeleton {prim.GetPath()} is inside an instance; make it an ordinary prim first")
        names, first = self.request["names"], None
        with np.load(self.request["arrays"], allow_pickle=False) as arrays:
            for k, name in enumerate(names):
                parts = {key: arrays[f"{key}{k}"] for key in ("codes", "translations", "rotations", "scales")}
                path = self._animation(prim, name, parts)
                if first is None:
                    first = path
                    UsdSkel.BindingAPI.Apply(prim).CreateAnimationSourceRel().SetTargets([path])
                    self.stage.SetStartTimeCode(float(parts["codes"][0]))
                    self.stage.SetEndTimeCode(float(parts["codes"][-1]))

    def _animation(self, prim: Any, name: str, parts: dict[str, Any]) -> Any:
        identifier = re.sub(r"[^A-Za-z0-9_]", "_", name) or "motion"
        identifier = f"_{identifier}" if identifier[0].isdigit() else identifier
        path, number = prim.GetPath().AppendChild(identifier), 1
        while self.stage.GetPrimAtPath(path):
            number += 1
            path = prim.GetPath().AppendChild(f"{identifier}_{number}")
        animation = UsdSkel.Animation.Define(self.stage, path)
        animation.GetPrim().SetDisplayName(name)
        animation.CreateJointsAttr(self.request["joints"])
        animation.CreateScalesAttr(Vt.Vec3hArray.FromNumpy(parts["scales"].astype(np.float16)))
        translations, rotations = animation.CreateTranslationsAttr(), animation.CreateRotationsAttr()
        for k, code in enumerate(parts["codes"].tolist()):
            translations.Set(Vt.Vec3fArray.FromNumpy(parts["translations"][k]), code)
            rotations.Set(Vt.QuatfArray.FromNumpy(parts["rotations"][k]), code)
        return path

    # Files beside it

    def _from_there(self, name: str) -> str:
        """Return the name of a file beside the original, relative to the new location."""
        full = Path(self.path.parent, name)
        if Path(name).is_absolute() or ":" in name or not full.parent.exists():
            return name
        return Path(os.path.relpath(full, self.output)).as_posix()

    def _from_package(self, name: str) -> str:
        """Return the name of a file in the original package, relative to the new location."""
        package = Path(os.path.relpath(self.path, self.output)).as_posix()
        return name if Path(name).is_absolute() else f"{package}[{PurePosixPath(name)}]"

    # Packages

    def _export(self, layer: Any, path: Path) -> None:
        if not layer.Export(str(path)):
            raise Refusal("USD cannot write it")

    def _packed(self, layer: Any) -> None:
        """Write a package of the layer and all files that it refers to."""
        layers, files, self.absent = UsdUtils.ComputeAllDependencies(Sdf.AssetPath(str(self.path)))
        for file in [*(layer.realPath for layer in layers), *files]:
            real = Path(os.path.realpath(Ar.SplitPackageRelativePathOuter(file)[0]))
            if not any(real.is_relative_to(folder) for folder in self.folders):
                advice = "allow it with folders=[...] (--folder)"
                raise Refusal(f"refers to {file!r}, which is outside the model's folder; {advice}")
        UsdUtils.ModifyAssetPaths(layer, self.stage.GetRootLayer().ComputeAbsolutePath)
        root = self.draft.with_suffix(".usdc")
        self._export(layer, root)
        if not UsdUtils.CreateNewUsdzPackage(Sdf.AssetPath(str(root)), str(self.draft)):
            raise Refusal("USD cannot pack it")

    def _repacked(self, layer: Any) -> None:
        """Rewrite the package with the changed first layer and all other files unchanged."""
        old = Sdf.ZipFile.Open(str(self.path))
        first, *others = old.GetFileNames()
        with tempfile.TemporaryDirectory(dir=self.draft.parent) as folder:
            root = Path(folder) / f"root{PurePosixPath(first).suffix}"
            self._export(layer, root)
            with Sdf.ZipFileWriter.CreateNew(str(self.draft)) as archive:
                archive.AddFile(str(root), first)
                for k, name in enumerate(others):
                    part = Path(folder) / f"part{k}"
                    part.write_bytes(old.GetFile(name))
                    archive.AddFile(str(part), name)


if __name__ == "__main__":
    main()
