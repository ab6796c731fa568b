"""What the columns of a table of goals mean, told once from their names: for datasets and for the command line."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import FormatError, listed
from ..linkage.linkage import Linkage

POSITION = ("x", "y", "z")
QUATERNION = ("qw", "qx", "qy", "qz")
ROTATION = tuple(f"r{row}{column}" for row in "123" for column in "123")
NUMBERS = (*POSITION, *QUATERNION, *ROTATION)
ID, START = "id", "start."


@dataclass(frozen=True)
class Columns:
    """What the columns of a table of goals ask for.

    Attributes:
        position: True, False, or ``"xy"`` where there is no column z.
        turn: The columns that give the orientation, none if it does not matter.
        starts: Coordinates of the pose to start from, each in a column ``start.NAME``.
        identified: Whether rows have an id of their own.
    """

    position: bool | str
    turn: tuple[str, ...]
    starts: tuple[str, ...]
    identified: bool

    @property
    def place(self) -> tuple[str, ...]:
        """The columns that give the position."""
        return POSITION[: {True: 3, "xy": 2, False: 0}[self.position]]

    @property
    def numbers(self) -> tuple[str, ...]:
        """All columns that hold numbers, in the order in which they are read."""
        return (*self.place, *self.turn, *(START + name for name in self.starts))

    @property
    def names(self) -> tuple[str, ...]:
        """All columns that are read."""
        return (*self.numbers, *((ID,) if self.identified else ()))


def read_columns(
    source: str | os.PathLike[str],
    names: Sequence[str],
    linkage: Linkage | None = None,
    *,
    position: bool = True,
    orientation: bool = True,
) -> Columns:
    """Return what columns ask for.

    Args:
        source: Where they are from.
        names: Their names.
        linkage: Whose coordinates columns ``start.COORDINATE`` name; without one, those and ``id`` are unknown.
        position: Whether positions are to be read.
        orientation: Whether orientations are.

    Raises:
        FormatError: If a column is missing, unknown, or there twice.
    """
    if len({*names}) < len(names):
        raise FormatError(source, f"names a column twice: {listed(names)}.")
    starts = {} if linkage is None else {START + name: name for name in linkage.coordinates}
    more = () if linkage is None else (ID, *starts)
    for name in names:
        if linkage is not None and name.startswith(START) and name not in starts:
            have = listed(linkage.coordinates)
            raise FormatError(source, f"column {name!r} is not a start: linkage {linkage.name!r} has {have}.")
        if name not in (*NUMBERS, *more):
            have = f"{listed((*POSITION, *QUATERNION))}, r11 to r33{', id and start.COORDINATE' if more else ''}"
            raise FormatError(source, f"column {name!r} is unknown; columns are {have}. Rename it, or leave it out.")
    given = {*names}
    for group, least in ((POSITION, ("x", "y")), (QUATERNION, QUATERNION), (ROTATION, ROTATION)):
        missing = [name for name in least if name not in given]
        if given & {*group} and missing:
            raise FormatError(source, f"has {listed([n for n in group if n in given])} but no {listed(missing)}.")
    if {"qw", "r11"} <= given:
        raise FormatError(source, "gives orientations twice, as qw to qz and as r11 to r33; leave one of them out.")
    place: bool | str = position and "x" in given and ("z" in given or "xy")
    turn = QUATERNION if "qw" in given else ROTATION if "r11" in given else ()
    if not place and not (orientation and turn):
        raise FormatError(source, f"has no goals: it needs the columns x, y, z or qw, qx, qy, qz; got {listed(names)}.")
    return Columns(place, turn if orientation else (), tuple(starts[n] for n in starts if n in given), ID in given)
