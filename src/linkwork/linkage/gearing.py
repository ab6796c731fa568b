"""Gears as sums of joint values: rotations relative to the carrier of both axles, and the leader of a follower."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import LinkageError, LinkNotFoundError, MimicError
from ..transforms import FloatArray, as_number, reraised_as
from .joints import Joint

PARALLEL = 1e-9  # largest deviation of a cosine from one for parallel axes
Terms = dict[str, float]  # factors by joint


def ratio_of(ratio: Any, sizes: Any, *, reversed_: bool, what: str) -> float:
    """Return a ratio, given directly or by the sizes (follower, driver) of two wheels: teeth or radii."""
    if (ratio is None) == (sizes is None):
        raise LinkageError(f"{what} needs a ratio, or the sizes of its two wheels: one of both.")
    with reraised_as(LinkageError):
        if ratio is not None:
            return as_number(ratio, f"ratio of {what}")
        own, other = (as_number(size, f"size of a wheel of {what}") for size in sizes)
    if not own > 0.0 or not other > 0.0:
        raise LinkageError(f"the sizes of the two wheels of {what} are positive, got {sizes!r}.")
    return -other / own if reversed_ else other / own


def meshed(joints: Mapping[str, Joint], follower: str, driver: str, ratio: float, carrier: str | None) -> Terms:
    """Return the factors that express a follower by other joints: ``follower = sum of factor * joint``.

    Without a carrier, this is the driver alone. With a carrier, both rotations are relative to it: ``rotation of the
    follower = ratio * rotation of the driver``. This is Willis' equation for planetary gears.

    Args:
        joints: All joints by name.
        follower: The joint that follows.
        driver: The joint that drives; with a carrier, also a link, such as the ground that a ring gear is fixed to.
        ratio: Turns of the follower for one of the driver.
        carrier: The link that carries both axles.
    """
    if carrier is None:
        return {driver: ratio}
    end = joints[driver].child if driver in joints else driver
    sums = _turn(joints, carrier, joints[follower].child), _turn(joints, carrier, end)
    terms: Terms = {}
    for name, factor in sums[1].items():
        terms[name] = ratio * factor
    for name, factor in sums[0].items():
        terms[name] = terms.get(name, 0.0) - factor
    own = -terms.pop(follower, 0.0)
    if not own:
        raise LinkageError(f"gear {follower!r} does not turn relative to its carrier {carrier!r}.")
    return {name: factor / own for name, factor in terms.items() if factor}


def leaders(joints: Mapping[str, Joint], terms: Terms) -> tuple[Terms, float]:
    """Return the sum in terms of joints that do not mimic others, and the constant from the offsets of mimic joints."""
    result: Terms = {}
    added = 0.0
    for name, factor in terms.items():
        seen: set[str] = set()
        while name in joints and (mimic := joints[name].mimic) is not None:
            if name in seen:
                raise MimicError(f"joints {', '.join(seen)} mimic each other in a circle.")
            seen.add(name)
            added += factor * mimic.offset
            name, factor = mimic.joint, factor * mimic.multiplier
        result[name] = result.get(name, 0.0) + factor
    return {name: factor for name, factor in result.items() if factor}, added


def _turn(joints: Mapping[str, Joint], carrier: str, link: str) -> Terms:
    """Return the joints, with signs, whose sum is the rotation of a link relative to the carrier about one axis."""
    above = {joint.child: joint for joint in joints.values()}
    known = {*above, *(joint.parent for joint in joints.values())}
    for name in (carrier, link):
        if name not in known:
            raise LinkNotFoundError(name, "this linkage", sorted(map(str, known)))
    down, up = _path(above, link), _path(above, carrier)
    shared = {joint.name for joint in down} & {joint.name for joint in up}
    terms: Terms = {}
    axis: FloatArray | None = None
    for path, sign in ((down, 1.0), (up, -1.0)):
        for joint in path:
            if joint.name in shared or not joint.articulation.nq:
                continue
            if joint.articulation.elements[0].kind != "revolute" or joint.articulation.nq != 1:
                raise LinkageError(f"joint {joint.name!r}, from {carrier!r} to {link!r}, is not revolute as gears are.")
            own = _world_axis(above, joint)
            axis = own if axis is None else axis
            along = float(axis @ own)
            if abs(abs(along) - 1.0) > PARALLEL:
                raise LinkageError(
                    f"joint {joint.name!r}, from {carrier!r} to {link!r}, has another axis than the gear."
                )
            terms[joint.name] = sign * (1.0 if along > 0.0 else -1.0)
    return terms


def _path(above: Mapping[str, Joint], link: str) -> list[Joint]:
    """Return the joints from a link up to the root."""
    path = []
    while link in above:
        path.append(above[link])
        link = str(above[link].parent)
    return path


def _world_axis(above: Mapping[str, Joint], joint: Joint) -> FloatArray:
    """Return the axis of a revolute joint in the root frame with all values zero."""
    axis: FloatArray = np.array(joint.articulation.elements[0].axis)
    for arc in _path(above, joint.child):
        axis = arc.placement[:3, :3] @ axis
    return axis
