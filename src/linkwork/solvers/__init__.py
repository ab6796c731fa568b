"""Inverse kinematics: a table of methods with a common interface. Modules are imported on first use.

To add a method, write one class with a `step` and add one row to `METHODS` in `methods`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import found_later

if TYPE_CHECKING:
    from .body_solver import BodySolver as BodySolver
    from .chain_solver import Prepared as Prepared
    from .groups import Group as Group, group_of as group_of
    from .iterate import run as run
    from .jacobian import Damped as Damped
    from .method import Method as Method
    from .methods import METHODS as METHODS, configure as configure
    from .options import (
        BatchOptions as BatchOptions,
        LoopOptions as LoopOptions,
        PrepareOptions as PrepareOptions,
        Settings as Settings,
        SolveOptions as SolveOptions,
    )
    from .prepared_method import PreparedMethod as PreparedMethod
    from .preparing import prepare as prepare
    from .problem import Problem as Problem
    from .robust import Robust as Robust
    from .solution import Record as Record, Solution as Solution
    from .solving import solve as solve

_NAMES = {
    "body_solver": "BodySolver",
    "chain_solver": "Prepared",
    "groups": "Group group_of",
    "iterate": "run",
    "jacobian": "Damped",
    "method": "Method",
    "methods": "METHODS configure",
    "options": "BatchOptions LoopOptions PrepareOptions Settings SolveOptions",
    "prepared_method": "PreparedMethod",
    "preparing": "prepare",
    "problem": "Problem",
    "robust": "Robust",
    "solution": "Record Solution",
    "solving": "solve",
}
__all__ = sorted(" ".join(_NAMES.values()).split())
if not TYPE_CHECKING:
    __getattr__ = found_later(__name__, _NAMES)
