"""Pack a problem, a method and settings into the two arrays that the compiled loop reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..goals.base import metres_per_radian
from ..kernels.swing_twist import CONE
from ..kernels.textbook_plan import ROW, VALUE, Reals, Wholes, plan_arrays
from ..linkage.program import Program, chain_motions, program_of
from ..linkage.swing_twist import Cone
from ..transforms import FloatArray
from .plans import Plan
from .problem import Problem

if TYPE_CHECKING:
    from .method import Method
    from .options import Settings


def packed(method: Method, problem: Problem, settings: Settings, plan: Plan) -> tuple[Any, FloatArray]:
    """Return the arrays of `kernels.textbook_plan`: integers, and other numbers."""
    linkage, goals, group = problem.linkage, _goals(problem), problem.group
    program = program_of([chain_motions(linkage, goal.frame) for goal in goals])
    kept = np.full(linkage.nq, settings.keeps_limits) & (True if group is None else group.values)
    cones = [cone for cone in linkage.cones if kept[cone.q]]
    wholes, reals = _wholes(problem, program, cones, plan), _reals(problem, settings, program, kept, cones, plan)
    head = {
        "method": plan.code,
        "nq": linkage.nq,
        "nv": linkage.nv,
        "free": len(wholes.columns),
        "errors": len(problem.scale),
        "changing": len(problem.rows),
        "blocks": len(problem.blocks),
        "starts": len(problem.block_starts),
        "goals": len(goals),
        "motions": program.starts[-1],
        "rates": len(program.rates),
        "balls": len(linkage.table.quaternions),
        "cones": len(cones),
        "periodic": len(wholes.periodic),
        "places": len(plan.places),
        "figures": len(plan.figures),
        "iterations": settings.max_iterations,
        "halvings": settings.halvings if method.careful else 0,
        "patience": method.patience,
        "overshoots": method.may_overshoot,
        "limited": settings.keeps_limits,
        "choice": plan.choice,
        "work": plan.work,
    }
    options = {
        "amount": plan.amount,
        "length": linkage.length,
        "radius": metres_per_radian(linkage),
        "rank": problem.rank,
        "max_step": np.inf if settings.max_step is None else settings.max_step,
        "stray": np.inf if settings.stray is None else settings.stray,
    }
    return plan_arrays(head, options, wholes, reals)


def _goals(problem: Problem) -> tuple[Any, ...]:
    """Return the goals, all of them `Reach`."""
    return problem.goals


def _wholes(problem: Problem, program: Program, cones: list[Cone], plan: Plan) -> Wholes:
    linkage, goals, table = problem.linkage, _goals(problem), problem.linkage.table
    free = np.ones(linkage.nv, np.bool_) if problem.group is None else problem.group.free
    owners = np.repeat(np.arange(len(goals)), [len(goal.rows) for goal in goals])
    place = np.full(len(owners), -1)
    place[problem.rows] = np.arange(len(problem.rows))
    six = np.concatenate([goal.rows for goal in goals])
    return Wholes(
        codes=program.codes,
        rates=program.rates,
        first=program.starts,
        owned=program.owned,
        row=ROW.pack(dtype=np.int64, shape=(len(owners),), goal=owners, six=six, place=place),
        block=[*(block.rows.start for block in problem.blocks), len(owners)],
        starts=problem.block_starts,
        coordinates=[goal.coordinates for goal in goals],
        oriented=[goal.orientation is not None for goal in goals],
        columns=np.flatnonzero(free),
        moving=free,
        value=table.pose_index,
        kind=table.slides,
        periodic=np.flatnonzero(table.periodic),
        balls=np.array(table.quaternions, np.int64),
        cones=[cone.q for cone in cones],
        places=plan.places,
    )


def _reals(problem: Problem, settings: Settings, program: Program, kept: Any, cones: list[Cone], plan: Plan) -> Reals:
    linkage, group, (_, velocities, wraps) = problem.linkage, problem.group, problem.linkage.table.plain
    around = np.zeros(linkage.nv)
    around[velocities] = wraps
    values = VALUE.pack(
        shape=(linkage.nq,),
        lower=np.where(kept, linkage.lower, -np.inf),
        upper=np.where(kept, linkage.upper, np.inf),
        desired=linkage.neutral() if plan.desired is None else plan.desired,
    )
    turns = [CONE.pack(axis=cone.axis, swing=cone.swing, low=cone.low, high=cone.high) for cone in cones]
    return Reals(
        numbers=program.numbers,
        weights=problem.scale,
        tolerances=settings.tolerances(problem),
        counts=[goal.weight for goal in _goals(problem)],
        values=values,
        measures=np.ones(linkage.nv) if group is None or group.scale is None else group.scale,
        gains=np.broadcast_to(plan.gains, (linkage.nv,)),
        wraps=around,
        cones=np.array(turns),
        figures=plan.figures,
    )
