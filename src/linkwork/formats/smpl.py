"""Read motions of SMPL bodies in NPZ files, as in AMASS: rotations of the joints, and the path of the body.

A file contains no skeleton, only rotations and shape coefficients; `smpl_body` gives the joint positions.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath
from typing import Any

import numpy as np

from ..errors import FormatError
from ..linkage.joints import Articulation, Ball, Floating
from ..linkage.linkage import Link, Linkage
from ..motion.clips import Clip
from ..transforms import FloatArray, transform
from .content import Content, Remarks, file_errors
from .npz_arrays import read_arrays
from .options import DEFAULTS, UP, FilePath, Options
from .skeletons import linkage_at_rest, move_link
from .smpl_body import SKELETONS, TITLES, average_joints, joints_of_model, parents_of

# Names of arrays in AMASS and in datasets derived from it.
NAMES = {
    "poses": ("poses",),
    "root": ("root_orient", "global_orient"),
    "body": ("pose_body", "body_pose"),
    "jaw": ("pose_jaw", "jaw_pose"),
    "eyes": ("pose_eye",),
    "hands": ("pose_hand",),
    "way": ("trans", "transl"),
    "rate": ("mocap_framerate", "mocap_frame_rate", "fps"),
    "betas": ("betas",),
}
PARTS = {"jaw": 1, "eyes": 2, "hands": 30}
RATE = 30.0
MAX_VALUES = 12_000_000  # numbers in the poses of the clip
UPRIGHT = 0.7  # mean component of the body axis along y above which the body stands along y


def is_smpl(names: Iterable[str]) -> bool:
    """Return whether arrays of these names are a motion of an SMPL body, not one written by linkwork."""
    found = set(names)
    whole = "poses" in found and "coordinates" not in found
    parts = any(name in found for name in NAMES["root"]) and any(name in found for name in NAMES["body"])
    return (whole or parts) and any(name in found for name in NAMES["way"])


def read(path: FilePath, options: Options = DEFAULTS) -> Content:
    """Return the motion in an AMASS file, and a linkage with the joints of its SMPL body.

    Args:
        path: The file.
        options: `body_model` (a model file of SMPL with bone lengths) and `up` are used.

    Raises:
        FormatError: If it is not such a file.
    """
    given = read_arrays(path, [name for names in NAMES.values() for name in names], kinds="fiu")
    arrays = {key: given[name] for key, names in NAMES.items() for name in names if name in given}
    remarks = Remarks()
    turns = _turns(arrays, path)
    frames, count = turns.shape[:2]
    way = np.asarray(arrays["way"], np.float64)
    if way.shape != (frames, 3):
        raise FormatError(path, f"has {frames} frames, but translations of shape {way.shape} instead of ({frames}, 3).")
    if not (np.isfinite(turns).all() and np.isfinite(way).all()):
        raise FormatError(path, "has numbers that are not finite.")
    rate = _rate(arrays, path, remarks)
    joints = _joints(arrays, options, count, path, remarks)
    with file_errors(path):
        linkage = _linkage(PurePath(path).stem or "body", joints, count)
        poses = _poses(linkage, turns, way + joints[0], _upright(turns[:, 0], options, remarks))
        clip = Clip(linkage, np.arange(frames) / rate, poses)
    return Content(linkage, {"motion": clip}, tuple(remarks))


def _turns(arrays: dict[str, Any], path: FilePath) -> FloatArray:
    """Return rotation vectors of all joints, shape (frames, joints, 3)."""
    if "poses" in arrays:
        flat = arrays["poses"]
    else:
        frames = len(arrays["root"]) if arrays["root"].ndim else 0
        parts = [arrays["root"], arrays["body"]]
        if "hands" in arrays:
            faces = [key for key in ("jaw", "eyes") if key in arrays]
            if len(faces) == 1:
                raise FormatError(path, f"rotates only the {faces[0]} of the face; SMPL-X has the jaw and both eyes.")
            parts += [arrays[key] for key in (*faces, "hands")]
        if any(part.ndim < 2 or len(part) != frames for part in parts):
            shapes = ", ".join(str(part.shape) for part in parts)
            raise FormatError(path, f"its parts have the shapes {shapes}, not one row per frame.")
        flat = np.concatenate([part.reshape(frames, -1) for part in parts], axis=1)
    if flat.ndim < 2 or not len(flat) or flat.size > MAX_VALUES:
        raise FormatError(path, f"has poses of shape {flat.shape}; a table of at most {MAX_VALUES} numbers is read.")
    flat = flat.reshape(len(flat), -1)
    if flat.shape[1] == 69:  # SMPL without its root
        raise FormatError(path, "has 69 numbers per frame: the rotation of the pelvis is missing.")
    if flat.shape[1] % 3 or flat.shape[1] // 3 not in SKELETONS:
        known = ", ".join(f"{3 * count} ({TITLES[count]})" for count in SKELETONS)
        raise FormatError(path, f"has {flat.shape[1]} numbers per frame; bodies of the SMPL family have {known}.")
    return np.array(flat, np.float64).reshape(len(flat), -1, 3)


def _rate(arrays: dict[str, Any], path: FilePath, remarks: Remarks) -> float:
    if "rate" not in arrays:
        remarks.add("rate", f"the file does not state its frame rate; {RATE:g} frames per second are assumed.")
        return RATE
    rate = float(arrays["rate"].reshape(-1)[0]) if arrays["rate"].size else 0.0
    if not 0.0 < rate < 1e5:
        raise FormatError(path, f"has {rate:g} frames per second.")
    return round(rate, 3) if abs(rate - round(rate)) > 1e-3 else float(round(rate))


def _joints(arrays: dict[str, Any], options: Options, count: int, path: FilePath, remarks: Remarks) -> FloatArray:
    betas = np.asarray(arrays.get("betas", np.zeros(0)), np.float64)
    betas = betas.reshape(-1) if betas.ndim < 2 else betas.reshape(len(betas), -1)[0]
    if options.body_model is not None:
        if not np.isfinite(betas).all():
            raise FormatError(path, "has shape coefficients that are not finite.")
        return joints_of_model(options.body_model, betas, count)
    text = "bone lengths are those of an average body, 1.7 m tall, not of the captured person"
    remarks.add("bones", f"{text}; body_model=... (--body-model) takes a model file of SMPL, which has them.")
    return average_joints(count)


def _linkage(name: str, joints: FloatArray, count: int) -> Linkage:
    """Return a body that stands on the ground in a T-pose, z up."""
    links, parents = [Link(link) for link in SKELETONS[count]], parents_of(count)
    places = [transform(joints[k] - joints[above]) for k, above in enumerate(parents)]
    places[0] = transform((0.0, joints[0, 1] - joints[:, 1].min(), 0.0))
    kinds: list[Articulation] = [Floating(), *(Ball() for _ in links[1:])]
    return linkage_at_rest(name, links, parents, places, kinds, transform(rotation=UP["y"]))


def _upright(roots: FloatArray, options: Options, remarks: Remarks) -> FloatArray:
    """Return world_from_file: by `options.up`, else z up as in AMASS, unless the body stands along y."""
    from scipy.spatial.transform import Rotation

    if options.up is not None:
        return UP[options.up]
    mean = Rotation.from_rotvec(roots).apply([0.0, 1.0, 0.0]).mean(axis=0)
    if mean[1] > UPRIGHT > mean[2]:
        remarks.add("up-axis", "the body stands along y, so y is taken as the up axis; up=... says otherwise (--up).")
        return UP["y"]
    remarks.add("up-axis", "z points up, as in AMASS; lengths are in metres.")
    return UP["z"]


def _poses(linkage: Linkage, turns: FloatArray, pelvis: FloatArray, world_from_file: FloatArray) -> FloatArray:
    """Return poses from rotation vectors (frames, joints, 3) and positions of the pelvis (frames, 3)."""
    from scipy.spatial.transform import Rotation

    poses: FloatArray = np.tile(linkage.neutral(), (len(turns), 1))
    rest = linkage.root.placement
    for k, link in enumerate(SKELETONS[turns.shape[1]]):
        turn = Rotation.from_rotvec(turns[:, k]).as_matrix()
        shift = np.zeros(3)
        if k == 0:
            turn = rest[:3, :3].T @ world_from_file @ turn
            shift = (pelvis @ world_from_file.T - rest[:3, 3]) @ rest[:3, :3]
        move_link(linkage, poses, link, shift, turn)
    return poses
