"""What formats share about rotations: which way is up in a file.

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
