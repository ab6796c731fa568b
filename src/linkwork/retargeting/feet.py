"""Plan the feet of the target, frame by frame: scaled, flat and still while planted, and out of the ground.

The ground is z = 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..motion.contacts import Mask
from ..motion.smoothing import SpanMemory, faded, frame_time, over_spans, smooth_cover, smoothed
from ..motion.splines import smooth as smooth_step
from ..transforms import FloatArray, rotation_vector
from .anatomy import levelled, mean_axes, nearest_rotation
from .skeletons import Skeleton
from .soles import Sole, sole
from .strides import Stride

BLEND = 0.15  # [s]: time in which the correction of a planted foot fades away
LIFTING = 0.05  # [s]: time in which a swinging foot is lifted off ground that it would enter
YIELDING = 0.05  # [s]: smoothing time of feet that give way to joint limits
LIFTED, FIRM = 0.005, 0.3  # [m]: a foot that was lifted by LIFTED keeps to its path with a grip of at least FIRM
TOE_TIPS = 0.5  # fraction of the toes' length: points beyond are raised by bending the toes, others by the foot
MOST_RAISED = 1.5  # [rad]: largest upward bend of toes
SHORT = 1e-6  # [m]
HIGH = 0.25  # height over leg length above which the position of a foot has little weight


@dataclass(frozen=True)
class FootPlan:
    """A foot of the target over time.

    Args:
        sole: The foot.
        ankle: Goal positions of the ankle, (frames, 3).
        toe: Goal positions of the toes, (frames, 3).
        rotation: Goal orientations of its link, (frames, 3, 3).
        planted: Whether its toes are on the ground, (frames,).
        flat: Whether the whole sole is on the ground, (frames,).
        still: Whether the heel is at rest, on the ground or above it, (frames,).
        toe_grip: Grip of the toes on the ground, smooth from 0 to 1, (frames,).
        heel_grip: The same for the heel.
        toes_down: Contact of the whole toes, smooth from 0 to 1; 0 while standing on tiptoe, (frames,).
        strain: Rotation of its shank beyond the source's, needed for a flat sole, (frames, 3, 3).
    """

    sole: Sole
    ankle: FloatArray
    toe: FloatArray
    rotation: FloatArray
    planted: Mask
    flat: Mask
    still: Mask
    toe_grip: FloatArray
    heel_grip: FloatArray
    toes_down: FloatArray
    strain: FloatArray

    def near_ground(self, leg: float) -> FloatArray:
        """Return the weight of the foot's position, (frames,): 1 at the ground, where positions matter most.

        High above the ground, in a kick or a somersault, the orientations of the leg's bones matter more.

        Args:
            leg: Length of the leg [m].
        """
        height = np.maximum(self.ankle[:, 2] - self.sole.height, 0.0)
        result: FloatArray = 1.0 / (1.0 + (height / (HIGH * leg)) ** 4)
        return result

    def lifted(self, higher: FloatArray) -> FootPlan:
        """Return a foot raised by `higher` (frames,) [m], with a firmer grip on its path there."""
        up = higher[:, None] * (0.0, 0.0, 1.0)
        grips = [np.maximum(grip, FIRM * np.minimum(higher / LIFTED, 1.0)) for grip in (self.toe_grip, self.heel_grip)]
        return replace(self, ankle=self.ankle + up, toe=self.toe + up, toe_grip=grips[0], heel_grip=grips[1])


def levelling(axes: FloatArray, flat: Mask) -> FloatArray | None:
    """Return the rotation (3, 3) that makes the axes of a foot (frames, 3, 3) level on average while its sole is flat.

    The source's foot counts as level while its sole is on the ground. None if it never is.
    """
    return mean_axes(axes[flat], levelled(axes[flat])) if flat.any() else None


def plan_foot(
    target: Skeleton,
    side: str,
    steps: Stride,
    axes: FloatArray,
    scale: float,
    times: FloatArray,
    memory: SpanMemory | None = None,
) -> FootPlan:
    """Return the plan of a foot of the target: scaled, and flat and still while it is planted.

    Args:
        target: The skeleton of the foot.
        side: Its side.
        steps: Motion and contacts of the source's foot.
        axes: Anatomical axes of the source's foot over time, (frames, 3, 3), after `levelling`.
        scale: Length of the target's legs over that of the source's.
        times: Times of the frames.
        memory: Values that are constant over each contact, if these are frames of a longer motion.
    """
    from scipy.spatial.transform import Rotation

    stands = steps.footing
    foot, local = sole(target, side), target.anatomy[f"{side}_ankle"]
    blend = _blend(times)
    kept = over_spans(axes, stands.still, _mean_turn, f"{side} turn", memory)
    kept = np.where(stands.flat[:, None, None], levelled(kept), kept)
    turns = rotation_vector(kept @ np.swapaxes(axes, -1, -2))
    axes = Rotation.from_rotvec(faded(turns, stands.still, blend)).as_matrix() @ axes
    rotation = axes @ local.T
    ankle = scale * steps.ankle
    ankle[:, 2] = scale * (steps.ankle[:, 2] - stands.level) + foot.height
    way = rotation @ (foot.toe - foot.ankle)
    drop = float((foot.toe - foot.ankle) @ local[:, 2])
    toe = over_spans(ankle + way, stands.planted, lambda part: part.mean(axis=0)[None], f"{side} toe", memory)
    tiptoe = scale * stands.tiptoe if f"{side}_toe" in target else np.zeros(len(times))
    toe[stands.planted, 2] = foot.height + drop + tiptoe[stands.planted]
    ankle = ankle + faded(toe - way - ankle, stands.planted, blend)
    masks = (stands.planted, stands.still, stands.planted & (tiptoe == 0.0))
    toe_grip, heel_grip, toes_down = (_grip(mask, blend) for mask in masks)
    strain = np.broadcast_to(np.eye(3), rotation.shape)
    return FootPlan(
        foot,
        ankle,
        ankle + way,
        rotation,
        stands.planted,
        stands.flat,
        stands.still,
        toe_grip,
        heel_grip,
        toes_down,
        strain,
    )


def within_reach(
    foot: FootPlan, reached: FloatArray, times: FloatArray, side: str = "", memory: SpanMemory | None = None
) -> FootPlan:
    """Return a foot with orientations that its leg can reach; a flat sole stays flat, and its shank follows.

    Args:
        foot: The foot.
        reached: Orientations on a leg that points as the source's does, within limits, (frames, 3, 3).
        times: Times of the frames.
        side: Side of the foot, the key in the memory.
        memory: Values that are constant over each contact, if these are frames of a longer motion.
    """
    from scipy.spatial.transform import Rotation

    kept = over_spans(reached, foot.still & ~foot.flat, _mean_turn, f"{side} reach", memory)
    kept = np.where(foot.flat[:, None, None], foot.rotation, kept)
    short = rotation_vector(kept @ np.swapaxes(foot.rotation, -1, -2))
    softly = smoothed(short, times, YIELDING)  # limits cause kinks
    softly = softly + faded(short - softly, foot.still, _blend(times))
    rotation = Rotation.from_rotvec(softly).as_matrix() @ foot.rotation
    way = foot.sole.toe - foot.sole.ankle
    ankle = foot.ankle + foot.toe_grip[:, None] * ((foot.rotation - rotation) @ way)  # planted toes stay
    ankle[:, 2] += lift(-foot.sole.planned(ankle, rotation), foot.toe_grip, times)
    strain = rotation @ np.swapaxes(reached, -1, -2)
    return replace(foot, ankle=ankle, toe=ankle + rotation @ way, rotation=rotation, strain=strain)


def _mean_turn(rotations: FloatArray) -> FloatArray:
    """Return the mean of rotations (frames, 3, 3), (1, 3, 3)."""
    return nearest_rotation(rotations.mean(axis=0))[None]


def _blend(times: FloatArray) -> int:
    """Return the number of frames over which corrections of planted feet fade."""
    return max(2, round(BLEND / frame_time(times)))


def _grip(mask: Mask, blend: int) -> FloatArray:
    """Return 1 where a mask holds, falling smoothly to 0 within some frames of it, (frames,)."""
    from scipy.ndimage import distance_transform_edt

    if not mask.any():
        return np.zeros(len(mask))
    away = distance_transform_edt(~mask) / blend
    return 1.0 - smooth_step(away.clip(0.0, 1.0))


def lift(depth: FloatArray, grip: FloatArray, times: FloatArray) -> FloatArray:
    """Return the lift (frames,) of a foot that would be `depth` below the ground: smooth while it swings."""
    depth = np.maximum(depth, 0.0)
    return np.maximum(depth, (1.0 - grip) * smooth_cover(depth, times, LIFTING))


def plan_toes(target: Skeleton, side: str, foot: FootPlan, bend: FloatArray, times: FloatArray) -> FloatArray:
    """Return the wanted orientations of the toes of a foot, (frames, 3, 3).

    They bend like the source's, are flat while planted, and are raised where they would be in the ground.

    Args:
        target: The skeleton of the foot.
        side: Its side.
        foot: The plan of the foot.
        bend: Orientations of the source's toes relative to its foot, (frames, 3, 3).
        times: Times of the frames.
    """
    from scipy.spatial.transform import Rotation

    local = target.anatomy
    ankle = foot.rotation @ local[f"{side}_ankle"]
    axes = ankle @ bend
    flat = rotation_vector(levelled(axes) @ np.swapaxes(axes, -1, -2))
    axes = Rotation.from_rotvec(foot.toes_down[:, None] * flat).as_matrix() @ axes
    points = foot.sole.shapes.get(target.body(f"{side}_toe"), np.zeros((0, 3))) @ local[f"{side}_toe"]
    raised = smooth_cover(_raised(axes, points, foot.toe[:, 2]), times, LIFTING)
    axes = Rotation.from_rotvec(-raised[:, None] * axes[:, :, 1]).as_matrix() @ axes
    turned: FloatArray = axes @ local[f"{side}_toe"].T
    return turned


def _raised(axes: FloatArray, points: FloatArray, height: FloatArray) -> FloatArray:
    """Return the upward bend of toes that brings their tips out of the ground, (frames,) [rad].

    A point at a distance r from the joint, which is at height h, and at an angle a above the horizontal, is out of the
    ground after a rotation t if ``h + r sin(a + t) >= 0``.

    Args:
        axes: Anatomical axes of the toes, (frames, 3, 3).
        points: Points of their surface in these axes, (points, 3).
        height: Height of their joint above the ground, (frames,).
    """
    tips = points[points[:, 0] > TOE_TIPS * points[:, 0].max(initial=0.0)]
    if not len(tips):
        return np.zeros(len(axes))
    ahead, left, up = axes[:, 2].T[..., None]  # vertical components of these axes
    x, y, z = tips.T
    cosine, sine = x * ahead + z * up, x * up - z * ahead
    need = -(height[:, None] + y * left) / np.maximum(np.hypot(cosine, sine), SHORT)
    turns = np.arcsin(np.clip(need, -1.0, 1.0)) - np.arctan2(cosine, sine)
    return np.asarray(turns.max(axis=1).clip(0.0, MOST_RAISED))


def widened(mask: Mask, times: FloatArray) -> Mask:
    """Return a mask that begins earlier and ends later, by the time over which corrections fade."""
    from scipy.ndimage import binary_dilation

    width = _blend(times)
    return np.asarray(binary_dilation(mask, iterations=width)) if mask.any() else mask
