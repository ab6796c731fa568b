"""Why and what else: diagnosis, conflicts, all solutions, workspaces, singularities, mobility, races."""

from __future__ import annotations

from .workspaces import Workspace, is_singular, joint_map, manipulability, workspace

__all__ = ["Workspace", "is_singular", "joint_map", "manipulability", "workspace"]
