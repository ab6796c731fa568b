"""Explanations: diagnosis, conflicts, all solutions, workspaces, singularities, mobility, races."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import found_later

if TYPE_CHECKING:
    from .all_solutions import Count as Count
    from .conflicts import Conflict as Conflict
    from .diagnosis import Diagnosis as Diagnosis
    from .platform_singularities import PlatformCurves as PlatformCurves, platform_curves as platform_curves
    from .workspaces import (
        Manipulability as Manipulability,
        Workspace as Workspace,
        is_singular as is_singular,
        joint_map as joint_map,
        manipulability as manipulability,
        workspace as workspace,
    )

_NAMES = {
    "all_solutions": "Count",
    "conflicts": "Conflict",
    "diagnosis": "Diagnosis",
    "platform_singularities": "PlatformCurves platform_curves",
    "workspaces": "Manipulability Workspace is_singular joint_map manipulability workspace",
}
__all__ = sorted(" ".join(_NAMES.values()).split())
if not TYPE_CHECKING:
    __getattr__ = found_later(__name__, _NAMES)
