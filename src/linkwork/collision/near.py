"""Records of the nearest pairs of a scene for each pose. Only this module calls the kernel."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..errors import PoseValueError
from ..kernels.collision.piece_layout import NEAR
from ..kernels.collision.scene_distance import clearance_many, room_size
from ..kernels.threads import cores, dealt
from ..linkage.poses import as_poses
from ..transforms import FloatArray
from .packing import Scene

BLOCK = 1024  # poses per task of a thread


def near_records(scene: Scene, poses: FloatArray, within: float, most: int) -> tuple[FloatArray, NDArray[np.int64]]:
    """Return the nearest pairs at poses (n, nq): records (n, most, NEAR.size), and their numbers.

    Missing records hold NaN. Many poses are distributed to one thread per core.
    """
    poses = np.ascontiguousarray(poses, np.float64)
    records = np.full((len(poses), most, NEAR.size), np.nan)
    counts = np.zeros(len(poses), np.int64)

    def look(first: int) -> int:
        end, room = min(first + BLOCK, len(poses)), np.empty(room_size(scene.codes))
        rows, out = records[first:end].reshape(-1), counts[first:end]
        done = clearance_many(scene.codes, scene.numbers, poses[first:end], within, most, rows, out, room)
        return -1 if done == end - first else first + int(done)

    blocks = range(0, len(poses) if most else 0, BLOCK)
    for bad in map(look, blocks) if len(blocks) < 2 else dealt(look, blocks, cores()):
        if bad >= 0:
            as_poses(scene.linkage, poses)  # its error names the value and the pose
            raise PoseValueError(f"pose {bad} takes linkage {scene.linkage.name!r} beyond the largest number.")
    return records, counts
