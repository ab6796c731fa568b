"""linkwork: build kinematic linkages, pose them, solve them and see them.

Everything public is reachable from here and loaded when first used, so that ``import linkwork`` stays light.

    >>> import linkwork as lw
    >>> arm = lw.models.planar([15, 10, 5])
    >>> arm.forward(arm.pose(j1=0.3), frame="tip").shape
    (4, 4)
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"


def found_later(package: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a `__getattr__` for a package that imports each public name on first use.

    Type checkers read the same names from imports; a test compares the two lists.

    Args:
        package: Name of the package.
        names: Public names, separated by spaces, by the module of the package that defines them.
    """
    homes = {name: module for module, offered in names.items() for name in offered.split()}

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f".{homes[name]}", package), name)
        setattr(sys.modules[package], name, value)
        return value

    return find


# Public names by the module that they come from. A type checker reads the same from the imports below; a test compares.
_NAMES = {
    "errors": "LinkworkError",
    "collision.clearance": "Clearance NearPair clearance collides",
    "collision.obstacles": "Obstacle World",
    "linkage.builder": "Builder",
    "linkage.coordinates": "Coordinate CoordinateTable",
    "linkage.couplings": "Coupling",
    "linkage.curves": "CamFunction CamProgram CamTable CouplingCurve Geneva Polynomial",
    "linkage.dh": "from_dh",
    "linkage.dh_table": "DHRow DHTable",
    "linkage.elements": "Element",
    "linkage.geometry": "Box Capsule Cylinder HalfSpace HeightField Hull Inertia Mesh PointCloud Polyline Shape Sphere "
    "TriangleMesh Visual bone",
    "linkage.joints": "Articulation Ball Continuous Fixed Floating Joint Mimic Planar Prismatic Revolute Screw "
    "Universal",
    "linkage.kinematics": "FrameMap Visit",
    "linkage.linkage": "Frame Link Linkage Loop",
    "linkage.origin": "Origin",
    "goals": "GOALS Align Avoid Balance Bend Close Couple Dexterity Distance Follow Goal Hold LookAt OnLine OnPlane "
    "Reach Relate Rest",
    "solvers": "METHODS BodySolver Prepared PreparedMethod Solution solve",
    "solvers.batch": "solve_batch solve_blocks",
    "solvers.batch_answers": "Batch BatchRow",
    "solvers.body_answers": "BodyBatch",
    "solvers.chain_nearest": "AllPoses",
    "solvers.closed_form": "Answers ClosedForm NoForm closed_form",
    "solvers.closed_form.curves": "Curve",
    "solvers.closing": "Assemblies assemble close",
    "solvers.differentiable": "Derivative Differentiable",
    "solvers.differentiating": "differentiable",
    "solvers.loop_rates": "LoopRates loop_rates",
    "solvers.preparing": "prepare",
    "solvers.solutions_batch": "SolutionsBatch",
    "solvers.step": "Step",
    "explain.all_batches": "solve_all_batch",
    "explain.all_solutions": "Branches count_solutions solve_all",
    "explain.cam_outlines": "CamOutline cam_outline",
    "explain.diagnosis": "Diagnosis diagnose",
    "explain.mobility": "Mobility degrees_of_freedom mobility",
    "explain.singular_positions": "SingularPosition SingularPositions singular_positions",
    "explain.statics": "Statics statics",
    "explain.transmission": "mechanical_advantage transmission_angle",
    "explain.races": "Race RaceResult race",
    "explain.sampled_goals": "SampledGoals sample_goals",
    "explain.swivel": "Swivel swivel",
    "motion.checks": "Finding",
    "motion.contacts": "Contact",
    "motion.clips": "Clip interpolate",
    "motion.differential": "step",
    "motion.drive": "drive drive_rates",
    "motion.inspection": "InspectOptions Report inspect",
    "motion.keys": "Key",
    "motion.marker_fit": "MarkerFit solve_markers",
    "motion.markers": "Markers",
    "motion.repairs": "Repair repair",
    "motion.timeline": "Pin Timeline",
    "motion.tracking": "track",
    "formats": "load load_clip loads loads_clip save",
    "formats.markers": "load_markers",
    "formats.packed": "PackedLinkage",
    "formats.srdf_writer": "save_srdf",
    "formats.worlds": "load_world",
    "retargeting": "layer retarget",
    "scale.datasets": "DatasetResult solve_dataset",
    "scale.folders": "retarget_library",
    "scale.goal_rows": "MissingRows",
    "scale.description": "ColumnSpread Description describe_dataset",
    "scale.saved_goals": "save_goals",
    "scale.verification": "Verification verify_dataset",
}
_PACKAGES = "collision draw errors explain formats goals models retargeting solvers studio transforms"
_MODULES = {name: name for name in _PACKAGES.split()}
_MODULES |= {
    "doctor": "formats.doctor",
    "learn": "models.learn",
    "mass": "linkage.mass",
    "paths": "motion.paths",
    "synthesis": "models.synthesis",
    "textbook": "models.textbook",
}

if TYPE_CHECKING:
    from . import (
        collision as collision,
        draw as draw,
        errors as errors,
        explain as explain,
        formats as formats,
        goals as goals,
        models as models,
        retargeting as retargeting,
        solvers as solvers,
        studio as studio,
        transforms as transforms,
    )
    from .collision.clearance import (
        Clearance as Clearance,
        NearPair as NearPair,
        clearance as clearance,
        collides as collides,
    )
    from .collision.obstacles import Obstacle as Obstacle, World as World
    from .errors import LinkworkError as LinkworkError
    from .explain.all_batches import solve_all_batch as solve_all_batch
    from .explain.all_solutions import Branches as Branches, count_solutions as count_solutions, solve_all as solve_all
    from .explain.cam_outlines import CamOutline as CamOutline, cam_outline as cam_outline
    from .explain.diagnosis import Diagnosis as Diagnosis, diagnose as diagnose
    from .explain.mobility import (
        Mobility as Mobility,
        degrees_of_freedom as degrees_of_freedom,
        mobility as mobility,
    )
    from .explain.races import Race as Race, RaceResult as RaceResult, race as race
    from .explain.sampled_goals import SampledGoals as SampledGoals, sample_goals as sample_goals
    from .explain.singular_positions import (
        SingularPosition as SingularPosition,
        SingularPositions as SingularPositions,
        singular_positions as singular_positions,
    )
    from .explain.statics import Statics as Statics, statics as statics
    from .explain.swivel import Swivel as Swivel, swivel as swivel
    from .explain.transmission import (
        mechanical_advantage as mechanical_advantage,
        transmission_angle as transmission_angle,
    )
    from .formats import (
        doctor as doctor,
        load as load,
        load_clip as load_clip,
        loads as loads,
        loads_clip as loads_clip,
        save as save,
    )
    from .formats.markers import load_markers as load_markers
    from .formats.packed import PackedLinkage as PackedLinkage
    from .formats.srdf_writer import save_srdf as save_srdf
    from .formats.worlds import load_world as load_world
    from .goals import (
        GOALS as GOALS,
        Align as Align,
        Avoid as Avoid,
        Balance as Balance,
        Bend as Bend,
        Close as Close,
        Couple as Couple,
        Dexterity as Dexterity,
        Distance as Distance,
        Follow as Follow,
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
    from .linkage.coordinates import Coordinate as Coordinate, CoordinateTable as CoordinateTable
    from .linkage.couplings import Coupling as Coupling
    from .linkage.curves import (
        CamFunction as CamFunction,
        CamProgram as CamProgram,
        CamTable as CamTable,
        CouplingCurve as CouplingCurve,
        Geneva as Geneva,
        Polynomial as Polynomial,
    )
    from .linkage.dh import from_dh as from_dh
    from .linkage.dh_table import DHRow as DHRow, DHTable as DHTable
    from .linkage.elements import Element as Element
    from .linkage.geometry import (
        Box as Box,
        Capsule as Capsule,
        Cylinder as Cylinder,
        HalfSpace as HalfSpace,
        HeightField as HeightField,
        Hull as Hull,
        Inertia as Inertia,
        Mesh as Mesh,
        PointCloud as PointCloud,
        Polyline as Polyline,
        Shape as Shape,
        Sphere as Sphere,
        TriangleMesh as TriangleMesh,
        Visual as Visual,
        bone as bone,
    )
    from .linkage.joints import (
        Articulation as Articulation,
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
    from .linkage.kinematics import FrameMap as FrameMap, Visit as Visit
    from .linkage.linkage import Frame as Frame, Link as Link, Linkage as Linkage, Loop as Loop
    from .linkage.origin import Origin as Origin
    from .models import learn as learn, synthesis as synthesis, textbook as textbook
    from .motion import paths as paths
    from .motion.checks import Finding as Finding
    from .motion.clips import Clip as Clip, interpolate as interpolate
    from .motion.contacts import Contact as Contact
    from .motion.differential import step as step
    from .motion.drive import drive as drive, drive_rates as drive_rates
    from .motion.inspection import InspectOptions as InspectOptions, Report as Report, inspect as inspect
    from .motion.keys import Key as Key
    from .motion.marker_fit import MarkerFit as MarkerFit, solve_markers as solve_markers
    from .motion.markers import Markers as Markers
    from .motion.repairs import Repair as Repair, repair as repair
    from .motion.timeline import Pin as Pin, Timeline as Timeline
    from .motion.tracking import track as track
    from .retargeting import layer as layer, retarget as retarget
    from .scale.datasets import DatasetResult as DatasetResult, solve_dataset as solve_dataset
    from .scale.description import (
        ColumnSpread as ColumnSpread,
        Description as Description,
        describe_dataset as describe_dataset,
    )
    from .scale.folders import retarget_library as retarget_library
    from .scale.goal_rows import MissingRows as MissingRows
    from .scale.saved_goals import save_goals as save_goals
    from .scale.verification import Verification as Verification, verify_dataset as verify_dataset
    from .solvers import (
        METHODS as METHODS,
        BodySolver as BodySolver,
        Prepared as Prepared,
        PreparedMethod as PreparedMethod,
        Solution as Solution,
        solve as solve,
    )
    from .solvers.batch import solve_batch as solve_batch, solve_blocks as solve_blocks
    from .solvers.batch_answers import Batch as Batch, BatchRow as BatchRow
    from .solvers.body_answers import BodyBatch as BodyBatch
    from .solvers.chain_nearest import AllPoses as AllPoses
    from .solvers.closed_form import (
        Answers as Answers,
        ClosedForm as ClosedForm,
        NoForm as NoForm,
        closed_form as closed_form,
    )
    from .solvers.closed_form.curves import Curve as Curve
    from .solvers.closing import Assemblies as Assemblies, assemble as assemble, close as close
    from .solvers.differentiable import Derivative as Derivative, Differentiable as Differentiable
    from .solvers.differentiating import differentiable as differentiable
    from .solvers.loop_rates import LoopRates as LoopRates, loop_rates as loop_rates
    from .solvers.preparing import prepare as prepare
    from .solvers.solutions_batch import SolutionsBatch as SolutionsBatch
    from .solvers.step import Step as Step

__all__ = sorted((*_MODULES, *" ".join(_NAMES.values()).split(), "__version__"))


if not TYPE_CHECKING:  # which would take any name for a public one
    _find = found_later(__name__, _NAMES)

    def __getattr__(name: str) -> Any:
        return import_module(f".{_MODULES[name]}", __name__) if name in _MODULES else _find(name)


def __dir__() -> list[str]:
    return __all__
