"""`OnPlane`: a frame's origin on a plane of the world."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .across import Across
from .base import as_direction


@dataclass(frozen=True, eq=False)
class OnPlane(Across):
    """Keep a frame's origin on a plane of the world: a pen on paper, a foot on the floor.

    Args:
        frame: Name of the frame.
        point: A point of the plane [m]; the origin by default.
        normal: Its normal, ``"z"`` or three numbers.

    Example:
        >>> import linkwork as lw
        >>> arm = lw.models.planar([2, 1])
        >>> lw.OnPlane("tip", point=(2, 0), normal="x").error(arm, arm.neutral()).tolist()
        [-1.0]
    """

    normal: Any = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        normal = as_direction(self.normal, f"normal of the plane for {self.frame!r}")
        self._set(normal=normal, directions=normal[None])
