"""`OnLine`: keep a frame's origin on a line of the world."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..transforms import plane_basis, read_only
from .base import as_direction
from .on_plane import Across


@dataclass(frozen=True, eq=False)
class OnLine(Across):
    """Keep a frame's origin on a line of the world: a hand on a rail, a piston in its cylinder.

    Args:
        frame: Name of the frame.
        point: A point of the line [m]; the origin by default.
        direction: Its direction, ``"z"`` or three numbers.

    Example:
        >>> import linkwork as lw
        >>> figure = lw.models.human()
        >>> lw.solve(figure, lw.OnLine("left_hand", point=(0.4, 0.3, 0), direction="z")).success
        True
    """

    direction: Any = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        direction = as_direction(self.direction, f"direction of the line for {self.frame!r}")
        self._set(direction=direction, directions=read_only(plane_basis(direction)[:, :2].T.copy()))
