"""Motions for training whole-body controllers: arrays of joints and bodies in the world at a constant rate.

The arrays are those of mjlab and of BeyondMimic's whole_body_tracking, which their ``csv_to_npz`` computes in a
simulator. The two differ in the order of joints and bodies: depth-first in MuJoCo, breadth-first in Isaac Lab.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

import numpy as np

from ..errors import FormatError, OptionError, Remark
from ..linkage.linkage import Linkage
from ..motion.clips import Clip
from ..motion.contacts import FOOT, planted
from ..transforms import FloatArray, steady
from .atomic_files import replacing, write_text
from .options import FilePath

LAYOUTS = ("mjlab", "beyondmimic")
UNEVEN = 1e-3  # largest deviation of times from a constant rate [frames]


def write(clip: Clip, path: FilePath, layout: str) -> tuple[Remark, ...]:
    """Write a motion for training: ``.npz`` with all arrays, or ``.csv`` with only root and joints.

    Args:
        clip: The motion, at a constant rate.
        path: The file.
        layout: One of `LAYOUTS`.

    Raises:
        FormatError: If the suffix is neither, the rate is not constant, or a joint has more than one value.
        OptionError: If the layout is unknown.
    """
    if layout not in LAYOUTS:
        raise OptionError(f"no layout {layout!r}; there are {', '.join(LAYOUTS)}.")
    suffix = PurePath(path).suffix.lower()
    if suffix not in (".npz", ".csv"):
        raise FormatError(path, f"layout {layout!r} is written to .npz or .csv, not {suffix!r}.")
    _check(clip, path)
    if suffix == ".csv":
        text = io.StringIO()
        np.savetxt(text, rows(clip), delimiter=",", fmt="%.9g")
        write_text(path, text.getvalue())
        return (Remark("dropped", "columns have no names; bodies, velocities and contacts are left out.", "arrays"),)
    with replacing(path) as file:
        np.savez(file, allow_pickle=False, **arrays(clip, layout))
    return ()


def rows(clip: Clip) -> FloatArray:
    """Return rows of root position, root quaternion (x, y, z, w) and joint values, as read by ``csv_to_npz``."""
    world = clip.forward(frame=clip.linkage.links[0])
    joints = [clip.linkage.drives[i].values(clip.poses) for i in _joints(clip.linkage, "mjlab")]
    return np.hstack([world[:, :3, 3], _quaternions(world[:, :3, :3])[:, [1, 2, 3, 0]], *joints])


def arrays(clip: Clip, layout: str = "mjlab") -> dict[str, Any]:
    """Return a motion as arrays for training.

    Velocities of joints and root are central differences; velocities of the bodies are computed from them.

    Args:
        clip: The motion, at a constant rate.
        layout: One of `LAYOUTS`.

    Returns:
        fps (1,); joint_pos and joint_vel (frames, joints); body_pos_w, body_quat_w (w first), body_lin_vel_w of the
        origin of each body and body_ang_vel_w, all in the world, (frames, bodies, 3 or 4); joint_names, body_names;
        contacts (frames, feet) of bool and contact_names.

    Example:
        >>> import linkwork as lw
        >>> made = arrays(lw.models.motion("panda"))
        >>> made["joint_pos"].shape[1], made["joint_names"][0].item()
        (7, 'panda_joint1')
    """
    linkage, poses = clip.linkage, clip.poses
    joints, bodies = _joints(linkage, layout), _bodies(linkage, layout)
    rates = _rates(clip)
    world = [clip.forward(frame=linkage.links[i]) for i in bodies]
    twists = [np.einsum("tij,tj->ti", linkage.jacobian(poses, linkage.links[i]), rates) for i in bodies]
    drives = [linkage.drives[i] for i in joints]
    numbers = {
        "joint_pos": np.hstack([drive.values(poses) for drive in drives]),
        "joint_vel": np.hstack([drive.multiplier * rates[:, drive.rates] for drive in drives]),
        "body_pos_w": np.stack([one[:, :3, 3] for one in world], axis=1),
        "body_quat_w": np.stack([_quaternions(one[:, :3, :3]) for one in world], axis=1),
        "body_lin_vel_w": np.stack([one[:, :3] for one in twists], axis=1),
        "body_ang_vel_w": np.stack([one[:, 3:] for one in twists], axis=1),
    }
    feet = _feet(clip)
    return {
        "fps": np.array([clip.fps]),
        **{name: values.astype(np.float32) for name, values in numbers.items()},
        "joint_names": np.array([linkage.arcs[i].name for i in joints]),
        "body_names": np.array([linkage.links[i] for i in bodies]),
        "contacts": np.stack(list(feet.values()), axis=1) if feet else np.zeros((len(clip), 0), np.bool_),
        "contact_names": np.array(list(feet), dtype=np.str_),
    }


def _check(clip: Clip, path: FilePath) -> None:
    if len(clip) < 2:
        raise FormatError(path, "a motion for training needs at least two frames.")
    steps = np.diff(clip.times) * clip.fps
    if np.abs(steps - 1.0).max() > UNEVEN:
        raise FormatError(path, "its frames are not evenly spaced; resample it with clip.resample(fps=...) (--fps).")
    for joint in clip.linkage.arcs[1:]:
        if joint.articulation.nv > 1:
            raise FormatError(
                path, f"joint {joint.name!r} has {joint.articulation.nv} values; only joints with one are supported."
            )


def _order(linkage: Linkage, layout: str) -> list[int]:
    """Return the indices of links in the order of a layout."""
    if layout == "mjlab":
        return list(range(len(linkage.links)))
    result = [0]
    for link in result:  # it grows meanwhile: breadth-first
        result.extend(linkage.children[link])
    return result


def _joints(linkage: Linkage, layout: str) -> list[int]:
    """Return the indices of links with a moving joint, without the root."""
    return [i for i in _order(linkage, layout) if i > 0 and linkage.arcs[i].articulation.nv]


def _bodies(linkage: Linkage, layout: str) -> list[int]:
    """Return the indices of links that are bodies; Isaac Lab merges fixed links into their parents."""
    if layout == "mjlab":
        return _order(linkage, layout)
    return [i for i in _order(linkage, layout) if i == 0 or linkage.arcs[i].articulation.nv]


def _rates(clip: Clip) -> FloatArray:
    """Return velocities (frames, nv): central differences, one-sided at the ends."""
    linkage, poses, dt = clip.linkage, clip.poses, 1.0 / clip.fps
    inner = linkage.difference(poses[:-2], poses[2:]) / (2.0 * dt)
    ends = [linkage.difference(poses[a], poses[b])[None] / dt for a, b in ((0, 1), (-2, -1))]
    return np.concatenate([ends[0], inner, ends[1]])


def _quaternions(turns: FloatArray) -> FloatArray:
    from scipy.spatial.transform import Rotation

    return steady(Rotation.from_matrix(turns).as_quat(scalar_first=True))


def _feet(clip: Clip) -> Mapping[str, Any]:
    """Return contact flags by foot: last moving links with the name of a foot, else the two lowest last links."""
    linkage = clip.linkage
    if not linkage.root.articulation.nv:
        return {}
    moving = [i for i, joint in enumerate(linkage.arcs) if joint.articulation.nv]
    above = {parent for i in moving for parent in linkage.path_to(linkage.links[linkage.parents[i]])[0] if i > 0}
    ends = [i for i in moving if i not in above and i > 0]
    named = [linkage.links[i] for i in ends if FOOT.search(linkage.links[i]) or FOOT.search(linkage.arcs[i].name)]
    if not named:
        heights = {linkage.links[i]: float(clip.forward(frame=linkage.links[i])[:, 2, 3].mean()) for i in ends}
        named = sorted(heights, key=lambda link: heights[link])[:2]
    return {link: planted(clip, link) for link in named}
