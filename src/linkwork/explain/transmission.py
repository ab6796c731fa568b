"""Transmission angle and mechanical advantage of mechanisms."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..errors import OptionError, listed
from ..linkage.linkage import Linkage
from ..linkage.poses import PoseLike
from ..solvers.loop_rates import loop_rates
from ..solvers.loops import coordinate
from ..transforms import FloatArray, as_vector
from .statics import Statics, statics


def transmission_angle(
    linkage: Linkage, q: PoseLike, driver: str, output: str, *, through: str | None = None
) -> FloatArray:
    """Return the transmission angle of a mechanism in closed poses, shape (...) [rad].

    It is a right angle minus the angle between the force on the output link, for a load on that link, and the velocity
    of the point where the force acts. A right angle is best: all of the force does work. Near zero the force only loads
    the bearing; below 40 degrees is considered poor. In a four-bar it is the angle between coupler and rocker.

    Args:
        linkage: A linkage with loops.
        q: Closed poses of shape (..., nq), or the name of a stored one.
        driver: Joint that drives.
        output: Joint of the driven link, usually on the ground.
        through: Name of the loop or joint at which the output link is pushed; by default the one that does most of the
            work, summed over all poses.

    Raises:
        LoopError: If the loops are open, or the driver is at a dead centre. If only some of many poses are at a dead
            centre, their angles are NaN.

    Example:
        >>> import linkwork as lw
        >>> bars = lw.models.four_bar()
        >>> np.degrees(lw.transmission_angle(bars, "start", "crank", "rocker")).round(2).item()
        75.52
    """
    held = statics(linkage, q, driver, efforts={output: -1.0})
    pushed = _pushes(held, output)
    if not pushed:
        link = linkage.joint(_joint_of(linkage, output)).child
        raise OptionError(f"nothing pushes {link!r}, the link of {output!r}: it has no other joint and no loop.")
    if through is not None and through not in pushed:
        raise OptionError(f"{through!r} does not push the link of {output!r}; choose from: {listed(list(pushed))}.")
    work = {name: np.abs((force * way).sum(axis=-1)) for name, (force, way) in pushed.items()}
    name = max(work, key=lambda name: float(np.nansum(work[name]))) if through is None else through
    force, way = pushed[name]
    across = np.linalg.norm(np.cross(force, way), axis=-1)
    angle: FloatArray = np.arctan2(work[name], across)
    return angle


def mechanical_advantage(
    linkage: Linkage, q: PoseLike, driver: str, output: str, *, direction: ArrayLike | None = None
) -> FloatArray:
    """Return the mechanical advantage from a driver to another joint or a frame: output over input effort, shape (...).

    Without friction no work is lost, so it is the input speed over the output speed. It is infinite where the output
    stands still, and negative where the output moves in the opposite direction.

    Args:
        linkage: A linkage with loops.
        q: Closed poses of shape (..., nq), or the name of a stored one.
        driver: Joint that drives.
        output: Joint, or a frame if a direction is given.
        direction: Direction in the world along which the frame pushes, shape (3,).

    Example:
        >>> import linkwork as lw
        >>> round(float(lw.mechanical_advantage(lw.models.four_bar(), "start", "crank", "rocker")), 3)
        2.386
    """
    rates = loop_rates(linkage, q, driver)
    if direction is None:
        out = rates.of(output)[0]
    else:
        along = as_vector(direction, "direction")
        size = float(np.linalg.norm(along))
        if not size > 0.0:
            raise OptionError(f"the direction in which {output!r} pushes has no length: {direction!r}.")
        out = rates.velocity(output)[..., :3] @ (along / size)
    with np.errstate(divide="ignore"):
        result: FloatArray = 1.0 / np.asarray(out)
    return result


def _joint_of(linkage: Linkage, name: str) -> str:
    """Return the joint that a coordinate belongs to."""
    return linkage.table[coordinate(linkage, name)[0]].joint


def pins_of(linkage: Linkage, output: str) -> dict[str, str]:
    """Return the frames at which the link of a joint can be pushed (its pins), by the name of loop or joint."""
    node = linkage.arc_index(_joint_of(linkage, output))
    ends = [(loop.name, frame) for loop in linkage.loops for frame in (loop.first, loop.second)]
    found = {name: frame for name, frame in ends if linkage.path_to(frame)[0][-1] == node}
    return found | {linkage.arcs[child].name: linkage.links[child] for child in linkage.children[node]}


def _pushes(held: Statics, output: str) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Return the force on the output link at each of its pins, and the pin's velocity, (..., 3), by loop or joint."""
    linkage, column = held.linkage, coordinate(held.linkage, output)[1]
    firsts = {loop.name: loop.first for loop in linkage.loops}
    found = {}
    for name, frame in pins_of(linkage, output).items():
        force = held.loops[name] if name in firsts else -held.joints[name]
        sign = -1.0 if name in firsts and frame != firsts[name] else 1.0
        found[name] = sign * force[..., :3], linkage.jacobian(held.q, frame)[..., :3, column]
    return found
