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
        analysis as analysis,
        doctor as doctor,
        draw as draw,
        errors as errors,
        figures as figures,
        formats as formats,
        mass as mass,
        models as models,
        paths as paths,
        retargeting as retargeting,
        studio as studio,
        transforms as transforms,
    )
    from .batch import Batch as Batch, solve_batch as solve_batch, solve_blocks as solve_blocks
    from .branches import Branches as Branches, solve_all as solve_all
    from .builder import Builder as Builder
    from .clips import Clip as Clip, interpolate as interpolate
    from .dh import DHRow as DHRow, DHTable as DHTable, from_dh as from_dh
    from .diagnosis import count_solutions as count_solutions, diagnose as diagnose
    from .elbows import Swivel as Swivel, swivel as swivel
    from .errors import LinkworkError as LinkworkError
    from .farm import Harvest as Harvest, solve_dataset as solve_dataset
    from .formats import load as load, load_clip as load_clip, save as save
    from .geometry import (
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
    from .joints import (
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
    from .keys import Key as Key
    from .libraries import retarget_library as retarget_library
    from .linkage import Frame as Frame, Link as Link, Linkage as Linkage, Loop as Loop
    from .loops import close as close, drive as drive
    from .mobility import degrees_of_freedom as degrees_of_freedom, singular_positions as singular_positions
    from .races import race as race
    from .repairs import repair as repair
    from .report import Report as Report, inspect as inspect
    from .retargeting import retarget as retarget
    from .solvers import (
        METHODS as METHODS,
        Prepared as Prepared,
        Solution as Solution,
        prepare as prepare,
        solve as solve,
    )
    from .timeline import Pin as Pin, Timeline as Timeline
    from .tracking import track as track

_MODULES = (
    "analysis",
    "doctor",
    "draw",
    "errors",
    "figures",
    "formats",
    "mass",
    "models",
    "paths",
    "retargeting",
    "studio",
    "transforms",
)
_NAMES = {
    "batch": ("Batch", "solve_batch", "solve_blocks"),
    "branches": ("Branches", "solve_all"),
    "builder": ("Builder",),
    "clips": ("Clip", "interpolate"),
    "diagnosis": ("count_solutions", "diagnose"),
    "dh": ("DHRow", "DHTable", "from_dh"),
    "elbows": ("Swivel", "swivel"),
    "errors": ("LinkworkError",),
    "farm": ("Harvest", "solve_dataset"),
    "formats": ("load", "load_clip", "save"),
    "geometry": ("Box", "Capsule", "Cylinder", "Inertia", "Mesh", "Polyline", "Sphere", "Visual", "bone"),
    "joints": (
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
    "keys": ("Key",),
    "libraries": ("retarget_library",),
    "linkage": ("Frame", "Link", "Linkage", "Loop"),
    "loops": ("close", "drive"),
    "mobility": ("degrees_of_freedom", "singular_positions"),
    "races": ("race",),
    "repairs": ("repair",),
    "report": ("Report", "inspect"),
    "retargeting": ("retarget",),
    "solvers": ("METHODS", "Prepared", "Solution", "prepare", "solve"),
    "timeline": ("Pin", "Timeline"),
    "tracking": ("track",),
}
_HOME = {name: module for module, names in _NAMES.items() for name in names}

__all__ = sorted((*_MODULES, *_HOME, "__version__"))


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    if name in _HOME:
        value = getattr(import_module(f".{_HOME[name]}", __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
