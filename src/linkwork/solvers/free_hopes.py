"""Detect that no pose of a chain can be collision-free: the colliding parts do not depend on the remaining freedom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..collision.near import near_records
from ..kernels.collision.piece_layout import NEAR
from ..transforms import FloatArray

if TYPE_CHECKING:
    from .free_chain import FreeChain


def why_hopeless(chain: FreeChain, pose: FloatArray) -> str:
    """Return a text on why every other pose that reaches the target collides too; empty if that is not certain.

    Two parts that no joint of the chain moves collide at every pose. A part that is fixed to the frame is placed by the
    target, within tolerances, so whatever it touches there it touches at every pose.

    Args:
        chain: The chain.
        pose: A pose (nq,) that reaches the target and collides.
    """
    scene, margin, frame = chain.scene, chain.avoid.margin, chain.goal.frame
    found, counts = near_records(scene, np.ascontiguousarray(pose[None]), margin, scene.most)
    records = NEAR.view(found[0, : counts[0]])
    moves = np.append(chain.moves, 0)  # no joint moves the world, -1
    first, second = moves[records.frame_a.astype(np.int64)], moves[records.frame_b.astype(np.int64)]
    still = np.flatnonzero((first == 0) & (second == 0))
    if len(still):
        return f"{_text(chain, records[still[0]])}, and the joints that move {frame!r} move neither"
    if not chain.whole_pose:
        return ""
    tip, settings = chain.linkage.forward(pose, frame=frame)[:3, 3], chain.settings
    arm = np.maximum(np.linalg.norm(records.a - tip, axis=-1), np.linalg.norm(records.b - tip, axis=-1))
    slack = 2.0 * (settings.tolerance + settings.rotation_tolerance * arm)  # this pose may be off, and another too
    held = (first == chain.rows) & (second == 0) | (second == chain.rows) & (first == 0)
    there = np.flatnonzero(held & (records.distance < margin - slack))
    if len(there):
        return f"{_text(chain, records[there[0]])} at all poses that reach the target: one of them moves with {frame!r}"
    return ""


def _text(chain: FreeChain, record: Any) -> str:
    return touching_in_words(chain.scene.names(record), float(record.distance), chain.avoid.margin)


def touching_in_words(pair: tuple[str, str], distance: float, margin: float) -> str:
    """Return the distance of two parts that are too near each other as text: ``"'forearm' is 3.1 mm inside 'shelf'"``.

    Example:
        >>> touching_in_words(("forearm", "shelf"), 0.004, 0.01)
        "'forearm' is 4 mm from 'shelf', where 10 mm are wanted"
    """
    where = f"{-1e3 * distance:.3g} mm inside" if distance < 0.0 else f"{1e3 * distance:.3g} mm from"
    wanted = f", where {1e3 * margin:g} mm are wanted" if distance >= 0.0 else ""
    return f"{pair[0]!r} is {where} {pair[1]!r}{wanted}"
