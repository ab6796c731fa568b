"""What formats share about rotations: which way is up in a file, and quaternions that do not jump.

Imports `transforms`.
"""

from __future__ import annotations

import numpy as np

from ..transforms import FloatArray

# world_from_file: a turn that takes the file's up axis to z.
UP: dict[str, FloatArray] = {
    "x": np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]),
    "y": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]),
    "z": np.eye(3),
}


def steady(quaternions: FloatArray) -> FloatArray:
    """Return quaternions (frames, ..., 4) of the same rotations, each on the side of the one before.

    Example:
        >>> steady(np.array([[1.0, 0.0, 0.0, 0.0], [-0.8, 0.6, 0.0, 0.0]])).tolist()
        [[1.0, 0.0, 0.0, 0.0], [0.8, -0.6, -0.0, -0.0]]
    """
    signs = np.where((quaternions[1:] * quaternions[:-1]).sum(axis=-1) < 0.0, -1.0, 1.0)
    result: FloatArray = quaternions.copy()
    result[1:] *= np.cumprod(signs, axis=0)[..., None]
    return result
