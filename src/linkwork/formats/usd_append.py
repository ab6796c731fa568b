"""Add a motion to an existing USD file, as one more animation of its skeleton; all else is unchanged.

The file is changed by `usd_edit`, in a separate process.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path, PurePath
from typing import Any

import numpy as np

from ..errors import FormatError, MissingExtraError, Remark
from ..linkage.origin import Origin
from ..motion.clips import Clip
from ..transforms import FloatArray, steady
from .atomic_files import on_disk, read_bytes, replacing
from .child import ask
from .content import Content, Remarks, file_errors
from .hosts import check_absent
from .options import UP, FilePath
from .skeletons import rigid
from .usd_skeleton import MAX_SIZE, MEMORY, SECONDS, link_names, opened, parents_of, rest_of, surroundings

WORK = 32  # memory for each byte of a file while it is rewritten [bytes]
SLOWEST = 2**22  # slowest writing speed [bytes/s]


def write_into(content: Content, path: FilePath, origin: Origin) -> tuple[Remark, ...]:
    """Write a copy of a USD file with motions added to its skeleton; the first of them is bound to it.

    Args:
        content: The linkage and the motions to add.
        path: The file to write. References to other files are adapted to it, or the files are packed into a .usdz.
        origin: The file to copy.

    Returns:
        Remarks on omissions.

    Raises:
        FormatError: If the file cannot be read or written, or does not have the links of the linkage.
        MissingExtraError: If usd-core is not installed.
    """
    remarks = Remarks()
    with on_disk(origin.file) as real, tempfile.TemporaryDirectory() as folder:
        appending = _Appending(content, origin, real, remarks)
        arrays = Path(folder) / "motion.npz"
        draft = Path(folder).resolve() / f"draft{PurePath(path).suffix.lower()}"
        with file_errors(origin.file):
            motions = [appending.motion(name, clip) for name, clip in content.clips.items()]
        np.savez(arrays, **{f"{key}{k}": value for k, one in enumerate(motions) for key, value in one.items()})
        size = len(read_bytes(origin.file, MAX_SIZE)) + arrays.stat().st_size
        request: dict[str, Any] = {
            "path": str(real),
            "folders": [str(real.parent), *map(str, origin.folders)],
            "draft": str(draft),
            "output": str(Path(path).absolute().resolve().parent),
            "skeleton": appending.header["skeletons"][0],
            "joints": appending.header["joints"],
            "names": list(content.clips),
            "arrays": str(arrays),
            "bytes": MEMORY + WORK * size,
            "seconds": SECONDS + size / SLOWEST,
        }
        answer = json.loads(ask("usd_edit.py", request, origin.file, "USD", surroundings()))
        if "missing" in answer:
            raise MissingExtraError("usd-core", "formats", "writing USD")
        if "error" in answer:
            raise FormatError(origin.file, f"{answer['error'].rstrip('.')}.")
        for name in answer["absent"]:
            remarks.add("missing-file", f"{name!r} does not exist and is not in the package.", name)
        data = draft.read_bytes()
    with replacing(path) as file:
        file.write(data)
    return tuple(remarks)


class _Appending:
    """Converts clips to animations of the skeleton in a file."""

    def __init__(self, content: Content, origin: Origin, real: Path, remarks: Remarks) -> None:
        self.linkage, self.origin, self.remarks = content.linkage, origin, remarks
        times = np.concatenate([clip.times for clip in content.clips.values()] or [np.zeros(1)])
        self.header, arrays = opened(origin.file, real, origin.folders, times.tolist())
        header = self.header
        if not header["skeletons"]:
            raise FormatError(origin.file, "has no skeleton to animate.")
        self.placed = dict(zip(times.tolist(), arrays["placed"], strict=True))
        self.parents = parents_of(header["joints"], origin.file)
        self.rest = rest_of(arrays, self.parents, origin.file)
        names = {name: k for k, name in enumerate(link_names(header))}
        self.links = {names[own]: link for link in self.linkage.links if (own := origin.name_of(link)) in names}
        present = set(self.links.values())
        arcs = zip(self.linkage.links[1:], self.linkage.arcs[1:], strict=True)
        absent = [link for link, arc in arcs if link not in present and arc.articulation.nq]
        check_absent(absent, len(present), self.linkage, origin, list(names), remarks)

    def motion(self, name: str, clip: Clip) -> dict[str, Any]:
        """Return time codes, translations, rotations (x, y, z, w) and scales of all joints for a clip."""
        from scipy.spatial.transform import Rotation

        if clip.linkage != self.linkage:
            raise FormatError(self.origin.file, f"clip {name!r} moves another linkage, {clip.linkage.name!r}.")
        if clip.residuals is not None:
            self.remarks.add("dropped", f"the residuals of clip {name!r} are not written.", name)
        steps, scales = self._steps(clip, np.stack([self.placed[time] for time in clip.times.tolist()]))
        turned = Rotation.from_matrix(steps[..., :3, :3].reshape(-1, 3, 3)).as_quat().reshape(*steps.shape[:2], 4)
        moved = steps[..., :3, 3]
        if np.abs(moved).max(initial=0.0) > 1e38:
            raise FormatError(self.origin.file, f"positions of clip {name!r} are too large for float32.")
        numbers = {"translations": moved, "rotations": steady(turned), "scales": scales}
        return {"codes": clip.times * self.header["rate"]} | {
            key: value.astype(np.float32) for key, value in numbers.items()
        }

    def _steps(self, clip: Clip, top: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return parent_from_joint without scale, shape (frames, n, 4, 4), and the scales (n, 3) of all joints.

        Joints have the positions of the links in the clip, whatever scales are above them.
        """
        frames, upright = clip.linkage.forward(clip.poses), UP[self.origin.up].T
        scales = np.linalg.norm(self.rest[:, :3, :3], axis=1)
        still = rigid(self.rest)
        worlds: list[FloatArray] = []
        steps = []
        for k, parent in enumerate(self.parents):
            above = worlds[parent] if parent >= 0 else top
            step = np.broadcast_to(still[k], above.shape)
            if k in self.links:
                world = frames[self.links[k]].copy()
                world[..., :3, :] = upright @ world[..., :3, :]
                world[..., :3, 3] /= self.origin.units
                step = rigid(np.asarray(np.linalg.solve(above, world), np.float64))  # without the scales above
            steps.append(step)
            worlds.append(above @ (step * np.append(scales[k], 1.0)))
        return np.stack(steps, axis=1), scales
