"""Layers: apply one motion over another in some joints, replacing it or adding to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..errors import KeyFrameError, MimicError
from ..linkage.linkage import Linkage
from ..linkage.poses import PoseLike, as_poses, clamped
from ..transforms import FloatArray, as_array
from .blending import SAME_TIME, Mixer, at_blocks, check_same
from .frame_files import Frames, block_of
from .keys import check_number
from .sample_blocks import continue_signs
from .splines import product, smooth, steady_signs, unit

if TYPE_CHECKING:
    from .clips import Clip

Weight = float | ArrayLike | Callable[[FloatArray], ArrayLike]
BACK = np.array([1.0, -1.0, -1.0, -1.0])  # factor that turns a quaternion into its inverse


def laid_over(
    base: Clip,
    over: Clip,
    joints: Iterable[str],
    *,
    weight: Weight = 1.0,
    additive: bool = False,
    reference: PoseLike | None = None,
    start: float = 0.0,
    fade: float = 0.0,
) -> Clip:
    """Return a motion with another laid over it in some joints, at the times of the base.

    Args:
        base: The motion below.
        over: The motion above, of the same linkage. Before it begins and after it ends, the base is played.
        joints: Names of the joints that it affects.
        weight: Weight of the layer: a number from 0 to 1, one for each frame of the base, or a function of the time
            since the base began [s].
        additive: Add the difference from its reference to the base, instead of covering the base.
        reference: The pose that adds nothing; its first pose by default.
        start: Start of the layer, after the start of the base [s].
        fade: Time to fade in and out [s].

    Returns:
        The combined motion. Values of an additive layer are clamped to limits.
    """
    check_same(base.linkage, over.linkage)
    linkage, since = base.linkage, base.times - base.times[0]
    within = since - check_number(start, "start of a layer")
    if check_number(fade, "fade") < 0.0 or 2.0 * fade > over.duration + SAME_TIME:
        raise KeyFrameError(
            f"a layer of {over.duration:g} s is too short to fade in and out in {fade!r} s each; give a shorter fade."
        )
    share = _shares(weight, since) * _envelope(within, over.duration, float(fade))
    inside = np.clip(over.times[0] + within, over.times[0], over.times[-1])
    neutral = np.array(over.poses[0]) if reference is None else as_poses(linkage, reference)
    columns, mixer, frames = columns_of(linkage, joints), Mixer(linkage), Frames(linkage.nq)
    last: FloatArray | None = None
    for above in at_blocks(over, inside, "linear"):
        rows = slice(frames.count, frames.count + len(above))
        values = np.array(block_of(base.poses, rows))
        added = _added(linkage, values, above, neutral) if additive else above
        values[:, columns] = mixer.mix(values, added, share[rows])[:, columns]
        if additive:
            values[:, columns] = clamped(linkage, values)[:, columns]
        values = steady_signs(linkage, values)
        if last is not None:
            continue_signs(linkage, values, last)
        last = values[-1].copy()
        frames.add(values)
    return replace(base, poses=frames.array(), residuals=None)


def columns_of(linkage: Linkage, joints: Iterable[str]) -> list[int]:
    """Return the pose indices of some joints."""
    result: set[int] = set()
    for name in joints:
        arc = linkage.arc_index(name)
        leader = linkage.arcs[arc].mimic
        if leader is not None:
            raise MimicError(f"joint {name!r} mimics {leader.joint!r}; name that one.")
        result |= set(range(linkage.nq)[linkage.drives[arc].columns])
    return sorted(result)


def _shares(weight: Weight, since: FloatArray) -> FloatArray:
    shares = as_array(weight(since) if callable(weight) else weight, "weight of a layer")
    if shares.shape not in ((), since.shape) or not ((shares >= 0.0) & (shares <= 1.0)).all():
        raise KeyFrameError(
            f"the weight of a layer is from 0 to 1: one number, or one for each of {len(since)} frames."
        )
    return np.broadcast_to(shares, since.shape)


def _envelope(within: FloatArray, duration: float, fade: float) -> FloatArray:
    """Return the weight of a layer at times since its beginning: 1 inside, fading smoothly in and out."""
    inside = (within >= -SAME_TIME) & (within <= duration + SAME_TIME)
    if fade <= 0.0:
        return inside.astype(np.float64)
    near = np.clip(np.minimum(within, duration - within) / fade, 0.0, 1.0)
    return np.where(inside, smooth(near), 0.0)


def _added(linkage: Linkage, base: FloatArray, above: FloatArray, reference: FloatArray) -> FloatArray:
    """Return poses (n, nq) with a difference from a reference added: ``base · reference⁻¹ · above``."""
    result = np.array(base)
    q = linkage.table.plain[0]
    result[:, q] = base[:, q] + above[:, q] - reference[q]
    for k, _ in linkage.table.quaternions:
        rest = np.broadcast_to(unit(reference[None, k : k + 4]) * BACK, (len(base), 4))
        turn = product(rest, unit(above[:, k : k + 4]))
        result[:, k : k + 4] = product(unit(base[:, k : k + 4]), turn)
    return result
