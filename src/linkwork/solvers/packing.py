"""A linkage and its solvers as plain data, for programs without Python that run the same kernels.

Arrays are as the kernels read them, sizes are explicit, and positions in records are given by name, so that readers
need not know the memory layout of the kernels. `docs/web.md` describes the format; `formats.packed` writes it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import GoalError, OptionError
from ..goals import Balance, Goal, Hold, Reach, Relate
from ..kernels import body_search, body_step, chain_memory as memory, follow
from ..kernels.closest import closest_room
from ..kernels.goal_layout import AIM, AIMS, BALANCE, BALL_REST, REST, REST_ITEM, REST_NUMBERS
from ..kernels.layout import Layout
from ..kernels.search_many import INVALID, UNSOLVED
from ..linkage.linkage import Linkage
from ..linkage.program import tree_program
from ..transforms import FloatArray
from .assembly import PACE, assembly_data, assembly_layouts, fields_of
from .body_solver import BodySolver, body_solver_for, can_compile
from .body_step import LIMIT as BODY_LIMIT
from .chain import NARROW, TABLE_SEED, WIDE
from .chain_closest import INSIDE
from .chain_settings import frame_weights
from .chain_solution import NAMES
from .chain_solver import RESTARTS, Prepared, prepared_for
from .chain_step import LIMIT, STATUS
from .goal_arrays import PackedGoal, goal_records
from .options import Limits, Settings, given_tolerance, whole
from .problem import Problem, goal_names, with_closings
from .solution import ENDINGS
from .step import CYCLES
from .textbook_packing import textbook_data, textbook_layouts

Data = dict[str, Any]
Wanted = str | Goal | Sequence[Goal] | Sequence[str]
BODY = "body"  # default name of a solver for a list of goals


# The linkage


def linkage_data(linkage: Linkage) -> Data:
    """Return names, limits, stored poses and the tree of frames of a linkage."""
    program, parents = tree_program(linkage)
    table = linkage.table
    return {
        "name": linkage.name,
        "nq": linkage.nq,
        "nv": linkage.nv,
        "coordinates": list(linkage.coordinates),
        "units": list(table.units),
        "joints": [row.joint for row in table],
        "velocity_joints": list(table.velocity_joints),
        "lower": linkage.lower,
        "upper": linkage.upper,
        "velocity": linkage.velocity,
        "periodic": table.periodic,
        "pose_index": table.pose_index,
        "quaternions": np.array(table.quaternions, np.int64).reshape(-1, 2),
        "cones": [{"q": c.q, "axis": c.axis, "swing": c.swing, "low": c.low, "high": c.high} for c in linkage.cones],
        "neutral": linkage.neutral(),
        "poses": dict(linkage.poses),
        "length": float(linkage.length),
        "frames": list(linkage.frames),
        "links": len(linkage.links),
        "tree": {"parents": parents} | program._asdict(),
    }


def layouts() -> Data:
    """Return the field names, in order, of records that kernels write, and the meaning of their codes."""
    return {
        "search_report": list(memory.REPORT.names),
        "search_status": {str(code): name for code, name in NAMES.items()},
        "search_errors": {"target": INVALID, "start": UNSOLVED},
        "cycle_report": list(follow.CYCLE.names),
        "cycle_status": {str(code): name for code, name in STATUS.items()},
        "cycle_limits": list(LIMIT),
        "cycle_errors": {"target": follow.INVALID, "start": follow.UNFIT},
        "body_report": list(body_search.REPORT.names),
        "body_cycle": list(body_step.CYCLE.names),
        "body_limits": {str(code): name for code, name in BODY_LIMIT.items()},
        "body_speed": body_step.AT_SPEED,
        "body_slowed": body_step.SLOWED,
        "assembly": assembly_layouts(),
        "textbook": textbook_layouts(),
        "endings": ENDINGS,
    }


# Solvers of one frame


def chain_data(prepared: Prepared) -> Data:
    """Return a solver for one frame as data."""
    chain, goal = prepared.chain, prepared.goal
    lanes, books, notes = closest_room(prepared.rows, chain.values, int(INSIDE[0, 0]))
    answer, free = prepared.answer, goal.free
    return {
        "kind": "chain",
        "frame": goal.frame,
        "axes": [k in goal.rows for k in range(3)],
        "orientation": len(goal.rows) > goal.coordinates,
        "free": None if free is None else np.asarray(free),
        "turn": np.eye(3) if free is None else prepared.turn,
        "tolerance": prepared.settings.tolerance,
        "rotation_tolerance": prepared.settings.rotation_tolerance,
        "keeps_limits": prepared.settings.keeps_limits,
        "restarts": prepared.restarts,
        "seed": prepared.seed,
        "values": chain.values,
        "joints": list(prepared.follower.names),
        "plain": np.stack(chain.plain),
        "balls": np.array(chain.balls, np.int64).reshape(-1, 2),
        "open": prepared.open_places,
        "strays": prepared.strays,
        "rest": prepared.rest,
        "codes": prepared.codes,
        "numbers": prepared.numbers,
        "rough": prepared.packed(np.float32),
        "starts": _starts_data(prepared),
        "answer": _places(answer) | {"room": list(answer.room)},
        "closest": {"memory": list(lanes), "books": books, "notes": notes, "stages": INSIDE.ravel()},
        "follow": _follow_data(prepared),
        "textbook": textbook_data(prepared.linkage, goal, prepared.settings),
    }


def _places(record: Any) -> Data:
    """Return the offsets of the parts of a result, and its size."""
    return {name: getattr(record, name).start for name in ("values", "report", "start", "target")} | {
        "size": record.size
    }


def _starts_data(prepared: Prepared) -> Data:
    """Return how to make the table of starts, which is hundreds of times as large as all the rest.

    Poses are drawn by PCG-64 from its state, row by row, as shares of the range from `low` to `high`; then their frames
    are computed and weighted.
    """
    chain, limits = prepared.chain, memory.LIMITS.view(prepared.chain.limits)
    state: Any = np.random.default_rng(TABLE_SEED).bit_generator.state["state"]
    asked, weights = frame_weights(chain, prepared.goal)
    return {
        "state": str(state["state"]),
        "increment": str(state["inc"]),
        "shares": [NARROW, WIDE],
        "counts": [memory.NARROW, memory.WIDE],
        "low": limits.start_low,
        "high": limits.start_high,
        "rotation": chain.goal_rotation,
        "travel": chain.travel,
        "asked": asked,
        "weights": weights,
        "size": memory.FRAME.size,
    }


def _follow_data(prepared: Prepared) -> Data:
    follower = prepared.follower
    return _places(follower) | {
        "room": follower.room,
        "rates": follower.rates,
        "own": follower.own,
        "staying": follower.staying,
        "speeds": follow.PACE.size + follow.RATE.speed,
        "stride": follow.RATE.size,
        "cycles": CYCLES,
    }


# Solvers of a list of goals


def body_data(solver: BodySolver, goals: Sequence[Goal]) -> Data:
    """Return a solver for a list of goals as data; the goals are not resolved."""
    program, problem, follower = solver.program, solver.problem, solver.follower
    ranks = [int(problem.priorities[block.rows.start]) for block in problem.blocks]
    return {
        "kind": "body",
        "goals": _goals_data(solver, goals),
        "units": [block.unit for block in problem.blocks],
        "ranks": ranks,
        "tolerances": solver.settings.tolerances(problem),
        "keeps_limits": solver.settings.keeps_limits,
        "restarts": solver.restarts,
        "seed": solver.seed,
        "codes": program.codes,
        "numbers": program.numbers,
        "settings": solver.steering,
        "follow_settings": follower.settings,
        "aims": _aims(solver, goals),
        "size": program.size,
        "scratch": program.scratch_size,
        "joints": list(follower.joints),
        "turning": solver.turning,
        "pace": {
            "unit": follower.unit,
            "balls": follower.balls,
            "rates": program.columns,
            "stride": body_step.RATE.size,
            "calm": follower.calm,
            "staying": follower.staying,
            **PACE,
        },
        "above": _above_data(solver, goals),
        "carried": _carried_data(solver),
    }


def _aims(solver: BodySolver, goals: Sequence[Goal]) -> FloatArray:
    """Return the numbers of goals from the neutral pose; unused numbers are zero, so that packs are reproducible."""
    start = solver.linkage.neutral()
    numbers = solver.goal_numbers([goal.resolve(solver.linkage, start) for goal in goals])
    sets = numbers.reshape(len(solver.emphasis), -1)
    for packed, (record, _) in zip(solver.program.goals, goal_records(solver.program.goals, sets), strict=True):
        for name in set(AIMS[packed.kind].names) - set(AIM.names) - set(packed.values):
            setattr(record, name, 0.0)
    return numbers


def _goals_data(solver: BodySolver, goals: Sequence[Goal]) -> list[Data]:
    """Return, for each goal, its name, its frames, and the positions of its numbers in each set."""
    sets = len(solver.emphasis)
    found: list[Data] = []
    at = 0
    for packed, goal, name in zip(solver.program.goals, goals, goal_names(goals), strict=True):
        found.append(
            {
                "name": name,
                "kind": type(goal).__name__,
                "frames": list(packed.frames) if packed.kind != BALANCE else [],
                "fields": _fields(AIMS[packed.kind]),
                "at": [at + k * solver.program.size for k in range(sets)],
                "size": packed.size,
                "weights": AIM.size,
                "items": _rest_places(packed),
                "from_start": _from_start(goal),
            }
        )
        at += packed.size
    return found


def _fields(layout: Layout) -> dict[str, list[int]]:
    """Return the offset and the size of each field of a record, without the weights."""
    return {name: place for name, place in fields_of(layout).items() if name not in AIM.names}


def _rest_places(goal: PackedGoal) -> list[list[int]]:
    """Return, for each joint of a Rest, the index of its values in a pose, their number, and the index in the goal."""
    if goal.kind != REST:
        return []
    items, first = REST_ITEM.rows(goal.items), AIMS[REST].size + REST_NUMBERS.pose
    widths = np.where(items.kind == BALL_REST, 4, 1).tolist()
    pairs = zip(items.value.tolist(), widths, strict=True)
    return [[place, width, first + k * REST_NUMBERS.size] for k, (place, width) in enumerate(pairs)]


def _from_start(goal: Goal) -> str:
    """Return the part of a goal that comes from the start pose of a solve: a place, a relation, or nothing."""
    if isinstance(goal, Balance) and (goal.over is None or goal.margin):
        raise GoalError(
            "a Balance goal that takes its place or its margin from the start of a solve cannot be packed; give over=, "
            "the feet or points that the body stands on, and no margin."
        )
    if isinstance(goal, Hold) and goal.pose is None:
        return "place"
    return "relation" if isinstance(goal, Relate) and goal.target is None else ""


def _above_data(solver: BodySolver, goals: Sequence[Goal]) -> Data | None:
    """Return the solver of all levels except the last, for comparison with results that miss a goal."""
    if len(solver.emphasis) == 1:
        return None
    last = max(goal.priority for goal in goals)
    above = [goal for goal in goals if goal.priority < last]
    other = body_solver_for(Problem(solver.linkage, above), solver.settings, solver.restarts, solver.seed)
    return body_data(other, above) | {"which": [k for k, goal in enumerate(goals) if goal.priority < last]}


def _carried_data(solver: BodySolver) -> Data | None:
    """Return the chain that moves a mobile base to far goals, and the index of its goal."""
    if solver.carried is None:
        return None
    goal: Any = solver.problem.goals[solver.carried]
    place = Reach(goal.frame, position=np.zeros(3))
    chain = prepared_for(solver.linkage, place, solver.settings, 1, 0)
    return {"goal": solver.carried, "chain": chain_data(chain)}


# All of them


def solvers_data(
    linkage: Linkage,
    solvers: Wanted | Mapping[str, Wanted],
    *,
    tolerance: float | None = None,
    rotation_tolerance: float = 1e-3,
    limits: Limits = "clamp",
    restarts: int = RESTARTS,
    seed: int = 0,
) -> Data:
    """Return solvers by name, and the data for combining goals at run time; see `Linkage.pack`."""
    restarts, seed = whole("restarts", restarts, least=1), whole("seed", seed)
    settings = Settings(given_tolerance(linkage, tolerance), rotation_tolerance, limits=limits)
    named = solvers if isinstance(solvers, Mapping) else _named(solvers)
    made = {name: _solver_data(linkage, wanted, settings, restarts, seed) for name, wanted in named.items()}
    return {"solvers": made, "assembly": assembly_data(linkage, settings, restarts, seed)}


def _named(wanted: Any) -> dict[str, Wanted]:
    if isinstance(wanted, str):
        return {wanted: wanted}
    if isinstance(wanted, Goal):
        return {getattr(wanted, "frame", BODY): wanted}
    several = list(wanted)
    if several and all(isinstance(goal, Goal) for goal in several):
        return {BODY: several}
    if all(isinstance(name, str) for name in several):
        return {name: name for name in several}
    raise OptionError(
        f"pack takes the name of a frame, names of frames, goals, or solvers by name such as {{'hand': 'tip'}}, "
        f"got {wanted!r}."
    )


def _solver_data(linkage: Linkage, wanted: Any, settings: Settings, restarts: int, seed: int) -> Data:
    goal: Any = Reach(wanted, pose=np.eye(4)) if isinstance(wanted, str) else wanted
    if isinstance(goal, Reach) and goal.ranges is None:
        own = settings
        if goal.tolerance is not None and np.isfinite(goal.tolerance).all():
            own = replace(settings, tolerance=goal.tolerance[0], rotation_tolerance=goal.tolerance[1])
        prepared = prepared_for(linkage, goal, own, restarts, seed)
        if prepared.chain.values:
            return chain_data(prepared)
    goals = with_closings(linkage, goal)
    problem = Problem(linkage, goals)
    if not can_compile(problem):
        raise GoalError("only goals of linkwork's own kinds, on at most three priority levels, can be packed.")
    solver = body_solver_for(problem, settings, restarts, seed)
    if not solver.program.moving:
        raise GoalError(f"no joint of linkage {linkage.name!r} moves what the goals depend on.")
    return body_data(solver, goals)
