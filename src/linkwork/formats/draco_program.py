"""Program that decodes meshes compressed by Draco, with the `DracoPy` package, in a separate process.

`gltf_draco` runs this file as a program, so it imports nothing of linkwork.
"""

from __future__ import annotations

import base64
import io
import json
import os
import runpy
import sys
from pathlib import Path
from typing import Any

import numpy as np

try:
    import DracoPy
except ImportError:  # `_answer` reports it
    DracoPy = None


def main() -> None:
    """Answer the request on stdin with an NPZ archive on stdout."""
    answer = os.dup(1)
    os.dup2(2, 1)  # output of Draco is not part of the answer
    header, arrays = _answer(json.load(sys.stdin))
    buffer = io.BytesIO()
    np.savez(buffer, header=np.frombuffer(json.dumps(header).encode(), np.uint8), **arrays)
    with os.fdopen(answer, "wb") as file:
        file.write(buffer.getvalue())


def _answer(request: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the triangles of every mesh, and its attributes by id."""
    if DracoPy is None:
        return {"missing": "DracoPy"}, {}
    limits = runpy.run_path(str(Path(__file__).with_name("child_limits.py")))
    limits["limit"](request["seconds"], request["bytes"])
    arrays = {}
    for k, text in enumerate(request["meshes"]):
        try:
            mesh = DracoPy.decode(base64.b64decode(text))
            arrays[f"triangles{k}"] = np.asarray(mesh.faces, np.uint32)
            arrays |= {f"attribute{k}_{own['unique_id']}": own["data"] for own in mesh.attributes}
        except (DracoPy.FileTypeException, ValueError, TypeError, AttributeError, MemoryError) as error:
            return {"error": f"mesh {k} is damaged: Draco cannot decode it ({type(error).__name__})"}, {}
    return {}, arrays


if __name__ == "__main__":
    main()
