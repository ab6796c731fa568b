"""A table of a driven mechanism: poses, rates, paths of frames and the transmission angle, for each frame."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from ..errors import LoopError, OptionError
from ..explain.singular_positions import singular_positions
from ..explain.transmission import pins_of, transmission_angle
from ..linkage.coordinates import coordinate_table
from ..linkage.linkage import Linkage
from ..linkage.poses import PoseLike, start_pose
from ..transforms import FloatArray
from .clips import Clip
from .drive import drive, drive_rates

AXES = "xyz"
AROUND, NEARLY = 25, 2.0 * math.pi - 1e-4  # frames and angle of a test turn; `drive` would check a whole one


def drive_table(
    clip: Clip, joint: str, *, frames: Iterable[str] = (), output: str | None = None, speed: ArrayLike | None = None
) -> dict[str, FloatArray]:
    """Return a driven motion as columns by name, each of shape (n,), in radians, metres and seconds.

    Every coordinate has a column with its name, and columns with ``.velocity`` and ``.acceleration`` after its name.
    Every requested frame has ``.x``, ``.y``, ``.z`` (position), ``.vx`` ... (velocity) and ``.ax`` ... (acceleration).

    Args:
        clip: Closed poses, as `drive` returns them.
        joint: The joint that drives.
        frames: Frames whose paths to include: coupler curves.
        output: The output joint; ``transmission_angle`` is the angle at its link.
        speed: Speed of the driving joint [rad/s, m/s]; by default that of the clip.

    Example:
        >>> import linkwork as lw
        >>> clip = lw.drive(lw.models.four_bar(), "crank", [0.0, 0.1, 0.2], start="start")
        >>> list(drive_table(clip, "crank", output="rocker", speed=1.0))[:4]
        ['time', 'crank', 'crank.velocity', 'crank.acceleration']
    """
    linkage, rates = clip.linkage, drive_rates(clip, joint, speed=speed)
    table: dict[str, FloatArray] = {"time": clip.times}
    for row in linkage.table:
        table[row.name] = clip.poses[:, row.q]
        if row.v is not None:
            table[f"{row.name}.velocity"] = rates.velocities[:, row.v]
            table[f"{row.name}.acceleration"] = rates.accelerations[:, row.v]
    for frame in frames:
        moving = clip.forward(frame=frame)[:, :3, 3], rates.velocity(frame), rates.acceleration(frame)
        for letter, values in zip(("", "v", "a"), moving, strict=True):
            table |= {f"{frame}.{letter}{axis}": values[:, k] for k, axis in enumerate(AXES)}
    if output is not None:
        table["transmission_angle"] = transmission_angle(linkage, clip.poses, joint, output)
    return table


def turning_joint(linkage: Linkage, start: PoseLike | None = None) -> str:
    """Return the first coordinate of a mechanism that can make a full turn.

    Raises:
        OptionError: If there is none.

    Example:
        >>> import linkwork as lw
        >>> turning_joint(lw.models.four_bar(0.4, 0.3, 0.25, 0.15), "start")
        'rocker'
    """
    followers = {row.q for row in linkage.coupling_rows}
    endless = (row for row in linkage.table if (row.lower, row.upper) == (-math.inf, math.inf))
    rows = [row for row in endless if row.kind == "revolute" and row.q not in followers]
    begin = linkage.neutral() if start is None else start_pose(linkage, start)
    for row in rows:
        found = singular_positions(linkage, row.name, start=start)
        if any(one.kind == "dead-centre" for one in found):
            continue
        try:  # limits, and singular poses at which every branch ends, are in no list
            drive(linkage, row.name, begin[row.q] + np.linspace(0.0, NEARLY, AROUND), start=start)
        except LoopError:
            continue
        return row.name
    tried = ", ".join(row.name for row in rows) or "no joint that turns without limits"
    raise OptionError(
        f"no joint of linkage {linkage.name!r} can be turned all the way round (tried: {tried}); give the input joint, "
        "and its first and last value."
    )


def ground_joint(linkage: Linkage, driver: str) -> str | None:
    """Return the first other coordinate of a pushed link on the ground, which is usually the output."""
    base = linkage.links[0]
    coupled = {row.q for row in linkage.coupling_rows}  # no pin pushes coupled joints
    rows = [row for row in linkage.table if row.name != driver and row.v is not None and row.q not in coupled]
    on_ground = (row.name for row in rows if linkage.joint(row.joint).parent == base)
    return next((name for name in on_ground if pins_of(linkage, name)), None)


def turns_alike(linkage: Linkage, joint: str) -> bool:
    """Return whether every turn of a joint moves a mechanism in the same way.

    This is false for a steering wheel on a rack. It is true for the crank of a Geneva drive, although the wheel
    advances.

    Example:
        >>> import linkwork as lw
        >>> turns_alike(lw.models.geneva(6), "crank")
        True
    """
    place = linkage.coordinates.index(joint)
    if linkage.loops or not linkage.couplings:
        return linkage.table[place].wraps
    alone = all(len(one.drivers) == 1 and one.drivers[0][0] == joint for one in linkage.couplings)
    whole = all(one.drivers[0][1] % 1.0 == 0.0 for one in linkage.couplings)
    again = all(one.curve is not None and one.curve.advance is not None for one in linkage.couplings)
    return alone and whole and again and coordinate_table(linkage.arcs, linkage.drives)[place].wraps
