"""Reads MotionBenchMaker's problems from a folder of JSON files; `free_judge` checks answers.

The folder has one file per scene, with a hundred problems, and for each robot a URDF with links of spheres and an SRDF
with the pairs that need no check.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import linkwork as lw
from linkwork.transforms import FloatArray, quaternion_matrix

SCENES = {
    "bookshelf_small_panda": "panda_grasptarget",
    "cage_panda": "panda_grasptarget",
    "table_pick_panda": "panda_grasptarget",
    "box_ur5": "tool0",
    "table_pick_ur5": "tool0",
}


@cache
def robot(folder: Path, name: str) -> lw.Linkage:
    """Return an arm of spheres, without the pairs that its SRDF disables."""
    arm = lw.load(folder / f"{name}_spherized.urdf")
    text = (folder / f"{name}.srdf").read_text(encoding="utf-8")
    pairs = re.findall(r'disable_collisions link1="([^"]+)" link2="([^"]+)"', text)
    return arm.replace(disabled_pairs=[pair for pair in pairs if set(pair) <= set(arm.links)])


def problems(folder: Path, scene: str) -> tuple[lw.Linkage, list[dict[str, Any]]]:
    """Return the robot and the problems of a scene."""
    data = json.loads((folder / f"{scene}.json").read_text(encoding="utf-8"))
    return robot(folder, data["robot"]), data["problems"]


def placed(obstacle: dict[str, Any]) -> FloatArray:
    """Return world_from_obstacle."""
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = quaternion_matrix(np.array(obstacle["wxyz"])), obstacle["position"]
    return pose


def world_of(problem: dict[str, Any]) -> lw.World:
    """Return the obstacles of a problem."""

    def shape(kind: str, sizes: list[float]) -> Any:
        return lw.Box(tuple(sizes)) if kind == "box" else lw.Cylinder(radius=sizes[1], length=sizes[0])

    return lw.World(
        lw.Obstacle(shape(one["kind"], one["dimensions"]), placed(one), name=one["id"]) for one in problem["obstacles"]
    )
