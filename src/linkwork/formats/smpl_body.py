"""The skeletons of the SMPL family: names, parents and joint positions in a T-pose, y up and x to the left.

Names and parents are those of the published models. Their shapes are not included, because their licences forbid it:
joint positions come from a model file of the user, or from anthropometric tables of an average adult, 1.7 m tall.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import FormatError
from ..transforms import FloatArray
from .npz_arrays import read_arrays
from .options import FilePath

MAX_MODEL = 2**28  # bytes of an array of a model: 400 shapes of 10,475 vertices are 100 MB
# Every joint with its parent and its position in an average body [m]. Left and right are symmetric.
BODY: dict[str, tuple[str | None, tuple[float, float, float]]] = {
    "pelvis": (None, (0.0, 0.97, 0.0)),
    "left_hip": ("pelvis", (0.09, 0.90, 0.0)),
    "right_hip": ("pelvis", (-0.09, 0.90, 0.0)),
    "spine1": ("pelvis", (0.0, 1.08, -0.02)),
    "left_knee": ("left_hip", (0.09, 0.485, 0.005)),
    "right_knee": ("right_hip", (-0.09, 0.485, 0.005)),
    "spine2": ("spine1", (0.0, 1.21, -0.02)),
    "left_ankle": ("left_knee", (0.09, 0.07, -0.03)),
    "right_ankle": ("right_knee", (-0.09, 0.07, -0.03)),
    "spine3": ("spine2", (0.0, 1.27, -0.01)),
    "left_foot": ("left_ankle", (0.10, 0.02, 0.10)),
    "right_foot": ("right_ankle", (-0.10, 0.02, 0.10)),
    "neck": ("spine3", (0.0, 1.46, -0.03)),
    "left_collar": ("spine3", (0.07, 1.38, -0.02)),
    "right_collar": ("spine3", (-0.07, 1.38, -0.02)),
    "head": ("neck", (0.0, 1.55, 0.01)),
    "left_shoulder": ("left_collar", (0.18, 1.39, -0.03)),
    "right_shoulder": ("right_collar", (-0.18, 1.39, -0.03)),
    "left_elbow": ("left_shoulder", (0.46, 1.39, -0.03)),
    "right_elbow": ("right_shoulder", (-0.46, 1.39, -0.03)),
    "left_wrist": ("left_elbow", (0.71, 1.39, -0.03)),
    "right_wrist": ("right_elbow", (-0.71, 1.39, -0.03)),
}
HANDS: dict[str, tuple[str | None, tuple[float, float, float]]] = {
    "left_hand": ("left_wrist", (0.80, 1.39, -0.03)),
    "right_hand": ("right_wrist", (-0.80, 1.39, -0.03)),
}
FACE: dict[str, tuple[str | None, tuple[float, float, float]]] = {
    "jaw": ("head", (0.0, 1.54, 0.03)),
    "left_eye_smplhf": ("head", (0.032, 1.61, 0.08)),
    "right_eye_smplhf": ("head", (-0.032, 1.61, 0.08)),
}
# For each finger: its start from the wrist along x (outwards) and z (forwards), and the lengths of its bones [m].
FINGERS = {
    "index": (0.095, 0.025, (0.042, 0.025)),
    "middle": (0.098, 0.0, (0.046, 0.028)),
    "pinky": (0.080, -0.042, (0.030, 0.020)),
    "ring": (0.092, -0.022, (0.041, 0.026)),
    "thumb": (0.030, 0.030, (0.036, 0.032)),
}


def _fingers() -> dict[str, tuple[str | None, tuple[float, float, float]]]:
    result: dict[str, tuple[str | None, tuple[float, float, float]]] = {}
    for side, sign in (("left", 1.0), ("right", -1.0)):
        x, y, z = BODY[f"{side}_wrist"][1]
        for finger, (start, forwards, lengths) in FINGERS.items():
            above, along = f"{side}_wrist", start
            for number, length in enumerate((0.0, *lengths), start=1):
                along += length
                ahead = forwards + (along - start if finger == "thumb" else 0.0)
                name = f"{side}_{finger}{number}"
                result[name] = (above, (x + sign * along, y, z + ahead))
                above = name
    return result


# By the number of joints in a file: the body alone, SMPL, SMPL-H, SMPL-X.
SKELETONS = {22: BODY, 24: BODY | HANDS, 52: BODY | _fingers(), 55: BODY | FACE | _fingers()}
TITLES = {22: "body of SMPL", 24: "SMPL", 52: "SMPL-H", 55: "SMPL-X"}


def parents_of(count: int) -> list[int]:
    """Return the index of the parent of each joint, -1 for the pelvis."""
    names = list(SKELETONS[count])
    return [-1 if above is None else names.index(above) for above, _ in SKELETONS[count].values()]


def average_joints(count: int) -> FloatArray:
    """Return the joint positions of an average body relative to its pelvis [m], shape (count, 3)."""
    places: FloatArray = np.array([place for _, place in SKELETONS[count].values()])
    return np.asarray(places - places[0])


def joints_of_model(model: FilePath, betas: FloatArray, count: int) -> FloatArray:
    """Return the joint positions of a body model: ``J = regressor @ (template + shapes @ betas)``.

    Args:
        model: A model file of SMPL, SMPL-H or SMPL-X (NPZ).
        betas: The shape coefficients; those that the model does not have are ignored.
        count: Number of joints of the motion; the model may have more.

    Raises:
        FormatError: If it is not such a file.
    """
    arrays = read_arrays(
        model, ("J_regressor", "v_template", "shapedirs", "kintree_table"), kinds="fiu", most=MAX_MODEL
    )
    missing = [name for name in ("J_regressor", "v_template") if name not in arrays]
    if missing:
        raise FormatError(model, f"is not a body model of SMPL: it has no array {missing[0]!r}.")
    regressor, corners = (arrays[name].astype(np.float64) for name in ("J_regressor", "v_template"))
    if corners.ndim != 2 or corners.shape[1] != 3 or regressor.ndim != 2 or regressor.shape[1] != len(corners):
        shapes = f"J_regressor {regressor.shape}, v_template {corners.shape}"
        raise FormatError(model, f"the shapes of its arrays do not match: {shapes}.")
    shapes = arrays.get("shapedirs", np.zeros((*corners.shape, 0)))
    if shapes.ndim != 3 or shapes.shape[:2] != corners.shape:
        raise FormatError(model, f"its shapedirs {shapes.shape} do not match its v_template {corners.shape}.")
    used = min(len(betas), shapes.shape[2])
    joints: FloatArray = regressor @ (corners + shapes[..., :used].astype(np.float64) @ betas[:used])
    _check_tree(model, arrays, len(joints), count)
    if not np.isfinite(joints).all():
        raise FormatError(model, "has numbers that are not finite.")
    return joints[_rows(len(joints), count)]


def _check_tree(model: FilePath, arrays: dict[str, FloatArray], has: int, count: int) -> None:
    """Raise if the skeleton of a model is not one of the family."""
    if has not in SKELETONS or has < count:
        raise FormatError(model, f"has {has} joints, the motion {count}; use a model of {TITLES[count]}.")
    tree = arrays.get("kintree_table")
    own = parents_of(has)
    if tree is not None and (tree.shape != (2, has) or tree[0, 1:].astype(np.int64).tolist() != own[1:]):
        raise FormatError(model, "connects its joints differently from SMPL.")


def _rows(has: int, count: int) -> Sequence[int]:
    """Return the indices of the joints of a motion in a model, by name; SMPL's hands are at the middle fingers."""
    names = list(SKELETONS[has])
    stand_in = {"left_hand": "left_middle1", "right_hand": "right_middle1"}
    return [names.index(name if name in names else stand_in[name]) for name in SKELETONS[count]]
