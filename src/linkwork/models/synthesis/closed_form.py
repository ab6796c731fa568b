"""Closed form of the four-bar, vectorised: points of the plane are complex numbers, and derivatives are exact.

A row of nine numbers is a four-bar: both coordinates of the crank's pivot and of the rocker's, the lengths of crank,
coupler and rocker, and both coordinates of the coupler point, seen from the crank pin with x along the coupler.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...transforms import FloatArray

ComplexArray = NDArray[np.complex128]
IndexArray = NDArray[np.intp]
NUMBERS = 9


class Placed(NamedTuple):
    """Positions of the parts of four-bars, shape (n, angles).

    Attributes:
        turn: The crank's direction, a unit number.
        pin: The pin of crank and coupler.
        along: The coupler's direction, a unit number.
        end: The pin of coupler and rocker.
        point: The coupler point.
        room: How far the loop is from coming apart: the squared sine that must be positive, and is the sine of the
            angle between coupler and the way to the rocker's pivot.
    """

    turn: ComplexArray
    pin: ComplexArray
    along: ComplexArray
    end: ComplexArray
    point: ComplexArray
    room: FloatArray


def place(rows: FloatArray, side: FloatArray, angles: FloatArray) -> Placed:
    """Return the positions of four-bars at angles of their cranks from x.

    Args:
        rows: The four-bars, shape (n, 9).
        side: 1 if the rocker's pin is to the left of the line from crank pin to rocker pivot, else -1, shape (n,).
        angles: Angles of the cranks [rad], shape (n, angles).

    Example:
        >>> row = np.array([[0, 0, 4.0, 0, 2, 4, 2, 2, 0]])  # a parallelogram
        >>> place(row, np.ones(1), np.array([[np.pi / 2]])).point.round(6).tolist()
        [[(2+2j)]]
    """
    base, pivot, coupler_point = pairs(rows)
    crank, coupler, rocker = (rows[:, k, None] for k in (4, 5, 6))
    turn = np.exp(1j * angles)
    pin = base + crank * turn
    way = pivot - pin
    distance = np.maximum(np.abs(way), 1e-300)
    cosine = (distance**2 + coupler**2 - rocker**2) / (2.0 * distance * coupler)
    room = 1.0 - cosine**2
    along = way / distance * (cosine + 1j * side[:, None] * np.sqrt(np.maximum(room, 0.0)))
    return Placed(turn, pin, along, pin + coupler * along, pin + coupler_point * along, room)


def pairs(rows: FloatArray) -> tuple[ComplexArray, ComplexArray, ComplexArray]:
    """Return crank pivot, rocker pivot and coupler point of rows as complex numbers, shape (n, 1)."""
    first, second, third = (rows[:, k : k + 1] + 1j * rows[:, k + 1 : k + 2] for k in (0, 2, 7))
    return first, second, third


def derivatives(rows: FloatArray, placed: Placed) -> tuple[ComplexArray, ComplexArray]:
    """Return the derivatives of coupler points by the nine numbers, shape (n, angles, 9), and by the crank's angle.

    The vector f from the rocker's pivot to its pin has the rocker's length, so Re(conj(f) df) = rocker · d(rocker).
    This gives the rotation of the coupler. The motion of the point is the sum of that of the crank pin, this rotation,
    and the change of the point on the coupler.
    """
    _, pivot, coupler_point = pairs(rows)
    crank, coupler, rocker = (rows[:, k, None] for k in (4, 5, 6))
    turn, along = placed.turn, placed.along
    rod = np.conj(placed.end - pivot)
    lever = np.real(rod * 1j * coupler * along)
    lever = np.where(np.abs(lever) < 1e-12, 1e-12, lever)
    one, none = np.ones_like(turn), np.zeros_like(turn)
    pin = np.stack([one, 1j * one, none, none, turn, none, none, none, none, 1j * crank * turn], axis=-1)
    shift = pin.copy()  # motion of the rocker's pin relative to its pivot, for a coupler that does not rotate
    shift[..., 2], shift[..., 3], shift[..., 5] = -1.0, -1j, along
    pull = -np.real(rod[..., None] * shift)
    pull[..., 6] += rocker
    moved = pin + (1j * coupler_point * along)[..., None] * (pull / lever[..., None])
    moved[..., 7] += along
    moved[..., 8] += 1j * along
    return moved[..., :NUMBERS], moved[..., NUMBERS]
