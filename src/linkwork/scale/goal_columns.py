"""Meaning of the columns of a table of goals, from their names: for datasets and the command line."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import FormatError, listed
from ..linkage.linkage import Linkage
from ..solvers.answer_tables import ERRORS, ID

POSITION = ("x", "y", "z")
QUATERNION = ("qw", "qx", "qy", "qz")
ROTATION = tuple(f"r{row}{column}" for row in "123" for column in "123")
NUMBERS = (*POSITION, *QUATERNION, *ROTATION)
START = "start."


@dataclass(frozen=True)
class Columns:
    """The meaning of the columns of a table of goals.

    Attributes:
        position: True, False, or ``"xy"`` if there is no column z.
        turn: The columns of the orientation; empty if it does not matter.
        starts: Coordinates of the pose to start from, each in a column ``start.NAME``.
        identified: Whether rows have an id of their own.
        frame: The frame whose name the columns begin with, as in ``left_hand.x``; empty for plain x, y, z.
    """

    position: bool | str
    turn: tuple[str, ...]
    starts: tuple[str, ...] = ()
    identified: bool = False
    frame: str = ""

    @property
    def place(self) -> tuple[str, ...]:
        """The columns of the position."""
        return _of_frame(self.frame, POSITION[: {True: 3, "xy": 2, False: 0}[self.position]])

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one target: a transform, a rotation, or a position."""
        return ((4, 4) if self.position else (3, 3)) if self.turn else (len(self.place),)

    @property
    def errors(self) -> tuple[str, ...]:
        """The columns of the errors in the answers."""
        return tuple(name for name, asked in zip(ERRORS, (self.position, self.turn), strict=True) if asked)

    @property
    def numbers(self) -> tuple[str, ...]:
        """All columns that hold numbers, in the order in which they are read."""
        return (*self.place, *self.turn, *(START + name for name in self.starts))

    @property
    def names(self) -> tuple[str, ...]:
        """All columns that are read."""
        return (*self.numbers, *((ID,) if self.identified else ()))


@dataclass(frozen=True)
class BodyColumns:
    """The meaning of the columns of a table of goals with several frames per row.

    Attributes:
        frames: The columns of each frame, which begin with its name and a dot.
        starts: Coordinates of the pose to start from, each in a column ``start.NAME``.
        identified: Whether rows have an id of their own.
    """

    frames: tuple[Columns, ...]
    starts: tuple[str, ...]
    identified: bool

    @property
    def numbers(self) -> tuple[str, ...]:
        """All columns that hold numbers, in the order in which they are read."""
        return (*(name for one in self.frames for name in one.numbers), *(START + name for name in self.starts))

    @property
    def names(self) -> tuple[str, ...]:
        """All columns that are read."""
        return (*self.numbers, *((ID,) if self.identified else ()))


def _of_frame(frame: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return the column names of a frame: frame, dot, name. Names of frames may contain dots."""
    return tuple(f"{frame}.{name}" if frame else name for name in names)


def read_columns(
    source: str | os.PathLike[str],
    names: Sequence[str],
    linkage: Linkage | None = None,
    *,
    position: bool = True,
    orientation: bool = True,
) -> Columns:
    """Return the meaning of columns.

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
    _refuse_wrong_starts(source, names, linkage)
    for name in names:
        if name not in (*NUMBERS, *more):
            have = f"{listed((*POSITION, *QUATERNION))}, r11 to r33{', id and start.COORDINATE' if more else ''}"
            raise FormatError(source, f"column {name!r} is unknown; columns are {have}. {_mended(name, bool(more))}")
    place, turn = _asked(source, names)
    place = position and place
    if not place and not (orientation and turn):
        raise FormatError(source, f"has no goals: it needs the columns x, y, z or qw, qx, qy, qz; got {listed(names)}.")
    given = {*names}
    return Columns(place, turn if orientation else (), tuple(starts[n] for n in starts if n in given), ID in given)


def read_body_columns(
    source: str | os.PathLike[str], names: Sequence[str], linkage: Linkage, frames: Sequence[str]
) -> BodyColumns:
    """Return the meaning of columns of several frames.

    A column belongs to the frame whose whole name stands before its last dot: ``left hand.x`` to ``left hand``,
    ``arm.tip.qw`` to ``arm.tip``. What begins with ``start.`` and names a coordinate is the pose to start from.

    Args:
        source: Where they are from.
        names: Their names.
        linkage: Whose coordinates columns ``start.COORDINATE`` name.
        frames: The frames.

    Raises:
        FormatError: If a column is missing, unknown, or there twice.
    """
    starts = {START + name: name for name in linkage.coordinates}
    own: dict[str, list[str]] = {frame: [] for frame in frames}
    _refuse_wrong_starts(source, [name for name in names if name.rpartition(".")[0] not in own], linkage)
    for name in names:
        frame, _, number = name.rpartition(".")
        if name in starts or name == ID:
            continue
        if frame not in own or number not in NUMBERS:
            have = f"FRAME.x, ... FRAME.qz, FRAME.r11 to FRAME.r33 of {listed(frames)}, id and start.COORDINATE"
            raise FormatError(source, f"column {name!r} is unknown; columns are {have}. {_mended(name, True)}")
        own[frame].append(number)
    asked = []
    for frame, given in own.items():
        place, turn = _asked(source, given, f"{frame}: ")
        if not place and not turn:
            raise FormatError(source, f"has no goals of {frame!r}: it needs the columns {frame}.x and so on.")
        asked.append(Columns(place, _of_frame(frame, turn), frame=frame))
    there = {*names}
    return BodyColumns(tuple(asked), tuple(starts[name] for name in starts if name in there), ID in there)


def _mended(name: str, may_be_kept: bool) -> str:
    """Return advice on a column that does not belong to goals."""
    if not may_be_kept:
        return "Rename it, or leave it out."
    return f"Copy it to answers, keep=[{name!r}] (--keep {name}), or ignore it, ignore=[{name!r}] (--ignore {name})."


def _refuse_wrong_starts(source: str | os.PathLike[str], names: Sequence[str], linkage: Linkage | None) -> None:
    for name in names:
        if linkage is not None and name.startswith(START) and name.removeprefix(START) not in linkage.coordinates:
            have = listed(linkage.coordinates)
            raise FormatError(source, f"column {name!r} is not a start: linkage {linkage.name!r} has {have}.")


def _asked(source: str | os.PathLike[str], names: Sequence[str], what: str = "") -> tuple[bool | str, tuple[str, ...]]:
    """Return whether columns give positions (``"xy"`` for x and y only), and the columns of the orientation."""
    given = {*names}
    for group, least in ((POSITION, ("x", "y")), (QUATERNION, QUATERNION), (ROTATION, ROTATION)):
        missing = [name for name in least if name not in given]
        if given & {*group} and missing:
            raise FormatError(source, f"{what}has {listed([n for n in group if n in given])} but no {listed(missing)}.")
    if {"qw", "r11"} <= given:
        raise FormatError(source, f"{what}gives orientations twice, as qw to qz and as r11 to r33; leave one out.")
    turn = QUATERNION if "qw" in given else ROTATION if "r11" in given else ()
    return "x" in given and ("z" in given or "xy"), turn
