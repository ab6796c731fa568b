"""Data with which a program without Python can combine goals itself, for frames chosen at run time.

A packed linkage contains solvers for goals defined in Python. In a web page a user may drag any link and pin any other:
``web/goals.js`` makes the arrays of `BodyProgram` for such goals from the columns listed here.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from ..goals import Close, Rest, closings
from ..goals.base import metres_per_radian
from ..kernels import body_layout as body, goal_layout
from ..kernels.body_search import EMPHASIS, SETTINGS
from ..kernels.body_step import RATE
from ..kernels.goal_layout import REST_ITEM, REST_NUMBERS
from ..kernels.joint_step import BALL, ROW_CODES, ROW_NUMBERS, TRANSFORM
from ..kernels.layout import Layout
from ..linkage.linkage import Linkage
from ..linkage.program import Motions, program_of
from ..transforms import translation
from .body_solver import WISH, body_solver_for
from .body_step import calm_travel
from .options import Settings
from .problem import Problem
from .step import CYCLES, LEAP, MOST, STRIDE

Data = dict[str, Any]
OF_COLUMNS = ("lower", "upper", "start_lower", "start_upper", "metric")  # tables with one number per column
PLACE = goal_layout.AIMS[goal_layout.PLACE]
PACE = {"reach": RATE.reach, "most": MOST, "leap": LEAP / STRIDE, "cycles": CYCLES}  # pace of control cycles


def assembly_data(linkage: Linkage, settings: Settings, restarts: int, seed: int) -> Data | None:
    """Return the numbers of every column, of loops and of settings; None for a linkage without moving joints."""
    if not linkage.nv:
        return None
    solver = body_solver_for(Problem(linkage, Rest()), settings, restarts, seed)  # a goal that depends on all columns
    program, follower, count = solver.program, solver.follower, linkage.nv
    begin = body.HEADER.view(program.codes[: body.HEADER.size])
    tables = {name: program.numbers[(at := int(getattr(begin, name))) : at + count] for name in OF_COLUMNS}
    loops = [
        {"frames": goal.places, "kind": goal.loop.kind, "tolerance": [goal.tolerance_of("m"), goal.tolerance_of("rad")]}
        for goal in closings(linkage)
        if isinstance(goal, Close)
    ]
    rest = program.goals[0]
    return {
        **tables,
        "rest": {"items": rest.items, "numbers": rest.item_numbers, "turning": rest.mask, "rows": count},
        "unit": follower.unit,
        "staying": follower.staying[: RATE.size * count],
        "pace": PACE,
        "settings": solver.steering,
        "follow_settings": follower.settings,
        "calm": {unit: calm_travel(linkage, unit, wished=False) for unit in ("m", "rad")},
        "calm_wished": {unit: calm_travel(linkage, unit, wished=True) for unit in ("m", "rad")},
        "tolerance": {"m": settings.tolerance, "rad": settings.rotation_tolerance},
        "keeps_limits": settings.keeps_limits,
        "restarts": solver.restarts,
        "seed": solver.seed,
        "arm": metres_per_radian(linkage),
        "loops": loops,
    }


def assembly_layouts() -> Data:
    """Return the layout of the arrays of a body: names of tables and records in order, sizes, and codes."""
    shift = program_of([Motions(after=translation((1.0, 1.0, 1.0)))])  # a row without motion, for a point on a link
    place = {"kind": goal_layout.PLACE, "any_spin": goal_layout.ANY_SPIN, "size": PLACE.size}
    rest: Data = {"kind": goal_layout.REST, "ball": goal_layout.BALL_REST, "first_cone": goal_layout.FIRST_CONE_REST}
    rest |= {"item": list(REST_ITEM.names), "numbers": REST_NUMBERS.size, "pose": REST_NUMBERS.pose}
    row: Data = {"codes": list(ROW_CODES.names), "numbers": ROW_NUMBERS.size}
    return {
        "counts": list(body.COUNTS),
        "code_tables": list(body.CODE_TABLES),
        "number_tables": list(body.NUMBER_TABLES),
        "empty": ["near", "scene_codes", "scene_numbers"],  # empty tables: goals chosen in a page cannot include Avoid
        "scratch": _scratch(),
        "goal": list(goal_layout.GOAL.names),
        "block": list(body.BLOCK.names),
        "quaternion": list(body.QUATERNION.names),
        "mass": body.MASS.size,
        "aim": {"size": goal_layout.AIM.size, "fields": fields_of(goal_layout.AIM)},
        "rest": rest | {"wish": WISH},
        "place": place | {"fields": fields_of(PLACE)},
        "row": row | {"ball": BALL, "first_cone": body.FIRST_CONE},
        "shift": {"codes": shift.codes, "numbers": shift.numbers, "origin": ROW_NUMBERS.transform + TRANSFORM.origin},
        "settings": list(SETTINGS.names),
        "emphasis": list(EMPHASIS),
        "rate": RATE.size,
    }


def fields_of(layout: Layout) -> dict[str, list[int]]:
    """Return the offset and the size of each field of a record."""
    places = zip(layout.names, layout, layout[1:], strict=False)
    return {name: [at, end - at] for name, at, end in places}


def _scratch() -> list[list[Any]]:
    """Return the size of a solve's working memory: a sum of products, each a factor and the names of counts."""

    def size(**counts: int) -> int:
        codes = np.zeros(body.HEADER.size, np.int64)
        for name, count in counts.items():
            codes[getattr(body.HEADER, name)] = count
        return body.scratch_size(codes)

    constant = size()
    terms: list[list[Any]] = [[constant]]
    for name in body.COUNTS:
        square = (size(**{name: 2}) - 2 * size(**{name: 1}) + constant) // 2
        terms += [[size(**{name: 1}) - constant - square, name], [square, name, name]]
    for one, two in combinations(body.COUNTS, 2):
        both = size(**{one: 1, two: 1}) - size(**{one: 1}) - size(**{two: 1}) + constant
        terms.append([both, one, two])
    return [term for term in terms if term[0]]
