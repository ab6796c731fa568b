"""Motions of a human with a floating root: a walk, a squat and a jump, all without foot sliding.

They serve as sources for retargeting.
"""

from __future__ import annotations

import math

import numpy as np

from ..linkage.linkage import Linkage
from ..motion.clips import Clip
from ..transforms import FloatArray
from .motions import FPS, GRAVITY, trot, walk, wave

SOLES = tuple(f"{side}_{part}" for side in ("left", "right") for part in ("heel", "ball", "toe"))
PAWS = tuple(f"{side}_{kind}_foot" for side in ("left", "right") for kind in ("front", "hind"))
BENT = {  # angles at the bottom of a squat [deg]; those of hip, knee and ankle keep the soles level
    "hip.ry": -88.0, "knee": 108.0, "ankle.first": -20.0,
}  # fmt: skip
LEAN = {"waist.ry": 22.0, "spine.ry": 14.0, "chest.ry": 8.0, "head.ry": -12.0}
NEAR = 0.02  # soles up to this height above the ground carry weight [m]
FLIGHT = 0.46  # time in the air [s]


def walk_across(linkage: Linkage) -> Clip:
    """Walk ahead."""
    return _ahead(walk(linkage), SOLES)


def trot_across(linkage: Linkage) -> Clip:
    """Let a four-legged animal trot ahead."""
    return _ahead(trot(linkage), PAWS)


def _ahead(clip: Clip, soles: tuple[str, ...]) -> Clip:
    """Return a motion on the spot as one that moves ahead: a sole on the ground that moves backward stays in place."""
    linkage, poses = clip.linkage, clip.poses.copy()
    frames = linkage.forward(poses)
    places = np.stack([frames[sole][:, :3, 3] for sole in soles], axis=1)
    low = places[:-1, :, 2] < places[:, :, 2].min() + NEAR
    back = np.where(low, places[:-1, :, 0] - places[1:, :, 0], 0.0)
    poses[1:, linkage.coordinate_index["root.x"]] += np.cumsum(back.max(axis=1))
    return Clip(linkage, clip.times, poses)


def squat(linkage: Linkage) -> Clip:
    """Go down twice and come up again, arms ahead."""
    phase = np.linspace(0.0, 2.0, round(3.2 * FPS) + 1)
    depth = 0.5 - 0.5 * np.cos(2.0 * math.pi * phase)
    return _on_the_ground(linkage, depth, -80.0 * depth)


def jump(linkage: Linkage) -> Clip:
    """Crouch, jump up with raised arms, and land softly."""
    times = np.arange(round(2.4 * FPS) + 1) / FPS
    start = 0.95
    moments = [0.0, 0.2, 0.7, start, start + FLIGHT / 2, start + FLIGHT, start + FLIGHT + 0.25, 2.2, 2.4]
    depth = _eased(times, moments, [0.0, 0.0, 0.75, 0.0, 0.2, 0.05, 0.6, 0.0, 0.0])
    arms = _eased(times, moments, [0.0, 0.0, 40.0, -100.0, -125.0, -90.0, -20.0, 0.0, 0.0])
    clip = _on_the_ground(linkage, depth, arms)
    air = np.clip(times - start, 0.0, FLIGHT)
    poses = clip.poses.copy()
    poses[:, linkage.coordinate_index["root.z"]] += 0.5 * GRAVITY * air * (FLIGHT - air)
    return Clip(linkage, clip.times, poses)


def _eased(times: FloatArray, moments: list[float], values: list[float]) -> FloatArray:
    """Return a curve through values at given times, with zero slope at each."""
    from scipy.interpolate import PchipInterpolator

    return np.asarray(PchipInterpolator(moments, values)(times))


def _on_the_ground(linkage: Linkage, depth: FloatArray, arms: FloatArray) -> Clip:
    """Return a motion with bent legs, from 0 (standing) to 1 (deep), and swung arms [deg]; the feet stay in place."""
    column = linkage.coordinate_index
    poses = np.repeat(linkage.stored_pose("stand")[None], len(depth), axis=0)
    for name, degrees in LEAN.items():
        poses[:, column[name]] += np.radians(degrees) * depth
    for side in ("left", "right"):
        for name, degrees in BENT.items():
            poses[:, column[f"{side}_{name}"]] += np.radians(degrees) * depth
        poses[:, column[f"{side}_shoulder.ry"]] += np.radians(arms)
        poses[:, column[f"{side}_elbow"]] += np.radians(15.0) * depth
    frames = linkage.forward(poses)
    for name, k in (("root.x", 0), ("root.z", 2)):
        moved = frames["left_ball"][:, k, 3]
        poses[:, column[name]] -= moved - moved[0]
    return Clip(linkage, np.arange(len(depth)) / FPS, linkage.clamp(poses))


EXERCISES = {"walk": walk_across, "wave": wave, "squat": squat, "jump": jump}  # of a human
