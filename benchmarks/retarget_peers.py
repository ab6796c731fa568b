"""GMR, a retargeter for humanoid robots, run from a checkout, on motions in LAFAN1's skeleton."""

from __future__ import annotations

import importlib
import sys
import types
from pathlib import Path
from time import process_time

import numpy as np
from motion_judge import Array

LAFAN = ("LeftUpLeg", "LeftToe", "Spine2", "LeftForeArm")  # joints that identify LAFAN1's skeleton
HEIGHT = 1.75  # [m]: height that GMR assumes for all performers of LAFAN1


class Gmr:
    """GMR for one robot.

    Args:
        folder: A checkout of GMR.
        robot: A robot in its tables, such as ``"unitree_g1"``.
    """

    def __init__(self, folder: str | Path, robot: str) -> None:
        name = "general_motion_retargeting"
        package = types.ModuleType(name)  # its __init__ imports a viewer, which needs a screen
        package.__path__ = [str(Path(folder) / name)]
        sys.modules[name] = package
        self.params = importlib.import_module(f"{name}.params")
        self.solver = importlib.import_module(f"{name}.motion_retarget").GeneralMotionRetargeting
        self.read = importlib.import_module(f"{name}.utils.lafan1").load_lafan1_file
        self.robot = robot
        self.path = Path(self.params.ROBOT_XML_DICT[robot])

    def retarget(self, bvh: str | Path) -> tuple[Array, float]:
        """Return MuJoCo's values of every frame of a file, and the CPU time without reading [s]."""
        frames, height = self.read(str(bvh))
        solver = self.solver(src_human="bvh", tgt_robot=self.robot, actual_human_height=height or HEIGHT)
        begin = process_time()
        values = np.array([solver.retarget(frame) for frame in frames])
        return values, process_time() - begin


def is_lafan(bvh: str | Path) -> bool:
    """Return whether a BVH file has LAFAN1's skeleton."""
    head = Path(bvh).read_bytes()[:20_000].decode(errors="replace").replace("\r", "")
    return all(f"JOINT {joint}\n" in head for joint in LAFAN)
