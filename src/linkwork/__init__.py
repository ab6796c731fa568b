"""linkwork: build kinematic linkages, pose them, solve them and see them.

Everything public is reachable from here and loaded when first used, so that ``import linkwork`` stays light.

    >>> import linkwork as lw
    >>> arm = lw.models.planar([15, 10, 5])
    >>> arm.forward(arm.pose(j1=0.3), frame="tip").shape
    (4, 4)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from . import (
        draw as draw,
        errors as errors,
        explain as explain,
        formats as formats,
        models as models,
        retargeting as retargeting,
        studio as studio,
        transforms as transforms,
    )
    from .errors import LinkworkError as LinkworkError
    from .explain.all_solutions import Branches as Branches, solve_all as solve_all
    from .explain.diagnosis import count_solutions as count_solutions, diagnose as diagnose
    from .explain.mobility import degrees_of_freedom as degrees_of_freedom, singular_positions as singular_positions
    from .explain.races import race as race
    from .explain.swivel import Swivel as Swivel, swivel as swivel
    from .formats import (
        doctor as doctor,
        load as load,
        load_clip as load_clip,
        loads as loads,
        loads_clip as loads_clip,
        save as save,
    )
    from .goals import (
        GOALS as GOALS,
        Align as Align,
        Balance as Balance,
        Bend as Bend,
        Close as Close,
        Couple as Couple,
        Distance as Distance,
        Goal as Goal,
        Hold as Hold,
        LookAt as LookAt,
        OnLine as OnLine,
        OnPlane as OnPlane,
        Reach as Reach,
        Relate as Relate,
        Rest as Rest,
    )
    from .linkage import mass as mass
    from .linkage.builder import Builder as Builder
    from .linkage.dh import from_dh as from_dh
    from .linkage.dh_table import DHRow as DHRow, DHTable as DHTable
    from .linkage.geometry import (
        Box as Box,
        Capsule as Capsule,
        Cylinder as Cylinder,
        Inertia as Inertia,
        Mesh as Mesh,
        Polyline as Polyline,
        Sphere as Sphere,
        Visual as Visual,
        bone as bone,
    )
    from .linkage.joints import (
        Ball as Ball,
        Continuous as Continuous,
        Fixed as Fixed,
        Floating as Floating,
        Joint as Joint,
        Mimic as Mimic,
        Planar as Planar,
        Prismatic as Prismatic,
        Revolute as Revolute,
        Screw as Screw,
        Universal as Universal,
    )
    from .linkage.linkage import Frame as Frame, Link as Link, Linkage as Linkage, Loop as Loop
    from .models import textbook as textbook
    from .motion import paths as paths
    from .motion.clips import Clip as Clip, interpolate as interpolate
    from .motion.drive import drive as drive
    from .motion.inspection import Report as Report, inspect as inspect
    from .motion.keys import Key as Key
    from .motion.repairs import repair as repair
    from .motion.timeline import Pin as Pin, Timeline as Timeline
    from .motion.tracking import track as track
    from .retargeting import retarget as retarget
    from .scale.datasets import Harvest as Harvest, solve_dataset as solve_dataset
    from .scale.folders import retarget_library as retarget_library
    from .solvers import (
        METHODS as METHODS,
        Prepared as Prepared,
        Solution as Solution,
        prepare as prepare,
        solve as solve,
    )
    from .solvers.batch import Batch as Batch, solve_batch as solve_batch, solve_blocks as solve_blocks
    from .solvers.loops import close as close

_MODULES = {
    "doctor": "formats.doctor",
    "draw": "draw",
    "errors": "errors",
    "explain": "explain",
    "formats": "formats",
    "mass": "linkage.mass",
    "models": "models",
    "paths": "motion.paths",
    "retargeting": "retargeting",
    "studio": "studio",
    "textbook": "models.textbook",
    "transforms": "transforms",
}
_NAMES = {
    "solvers.batch": ("Batch", "solve_batch", "solve_blocks"),
    "explain.all_solutions": ("Branches", "solve_all"),
    "linkage.builder": ("Builder",),
    "motion.clips": ("Clip", "interpolate"),
    "explain.diagnosis": ("count_solutions", "diagnose"),
    "linkage.dh": ("from_dh",),
    "linkage.dh_table": ("DHRow", "DHTable"),
    "explain.swivel": ("Swivel", "swivel"),
    "errors": ("LinkworkError",),
    "scale.datasets": ("Harvest", "solve_dataset"),
    "formats": ("load", "load_clip", "loads", "loads_clip", "save"),
    "linkage.geometry": ("Box", "Capsule", "Cylinder", "Inertia", "Mesh", "Polyline", "Sphere", "Visual", "bone"),
    "linkage.joints": (
        "Ball",
        "Continuous",
        "Fixed",
        "Floating",
        "Joint",
        "Mimic",
        "Planar",
        "Prismatic",
        "Revolute",
        "Screw",
        "Universal",
    ),
    "goals": (
        "GOALS",
        "Align",
        "Balance",
        "Bend",
        "Close",
        "Couple",
        "Distance",
        "Goal",
        "Hold",
        "LookAt",
        "OnLine",
        "OnPlane",
        "Reach",
        "Relate",
        "Rest",
    ),
    "motion.keys": ("Key",),
    "scale.folders": ("retarget_library",),
    "linkage.linkage": ("Frame", "Link", "Linkage", "Loop"),
    "solvers.loops": ("close",),
    "motion.drive": ("drive",),
    "explain.mobility": ("degrees_of_freedom", "singular_positions"),
    "explain.races": ("race",),
    "motion.repairs": ("repair",),
    "motion.inspection": ("Report", "inspect"),
    "retargeting": ("retarget",),
    "solvers": ("METHODS", "Prepared", "Solution", "prepare", "solve"),
    "motion.timeline": ("Pin", "Timeline"),
    "motion.tracking": ("track",),
}
_HOME = {name: module for module, names in _NAMES.items() for name in names}

__all__ = sorted((*_MODULES, *_HOME, "__version__"))


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f".{_MODULES[name]}", __name__)
    if name in _HOME:
        value = getattr(import_module(f".{_HOME[name]}", __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
