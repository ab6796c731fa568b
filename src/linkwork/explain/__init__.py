"""Why and what else: diagnosis, conflicts, all solutions, workspaces, singularities, mobility, races."""

from __future__ import annotations

from .all_solutions import Count
from .conflicts import Conflict
from .diagnosis import Diagnosis
from .workspaces import Manipulability, Workspace, is_singular, joint_map, manipulability, workspace

__all__ = [
    "Conflict",
    "Count",
    "Diagnosis",
    "Manipulability",
    "Workspace",
    "is_singular",
    "joint_map",
    "manipulability",
    "workspace",
]
