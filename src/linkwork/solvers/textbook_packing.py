"""The textbook methods as plain data for `kernels.textbook_walk`, for programs without Python.

All methods of a solver share one plan: a method writes its own numbers into it, by the names given here, and appends
its data on the linkage.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import GoalError
from ..goals import Reach
from ..kernels import planar_arm, textbook
from ..kernels.fabrik_layout import BONES
from ..kernels.progress import REACHED
from ..kernels.textbook_plan import HEAD, OPTIONS, REPORT, VALUE, desk_size, real_places, record_places
from ..linkage.linkage import Linkage
from .ccd import CODES
from .closed_forms import ELBOWS
from .iterate import settled
from .jacobian import FORMS
from .method import Method
from .methods import METHODS
from .options import Settings
from .plans import NO_REALS, NO_WHOLES, Plan
from .problem import Problem
from .walk_packing import packed
from .walking import NAMES, walk_for

Data = dict[str, Any]
COMPILED = {name: cls for name, cls in METHODS.own.items() if "plan" in vars(cls)}
NOTES = {  # name of the number that a step notes
    "inverse": "singular",
    "pseudoinverse": "rank",
    "damped": "damping",
    "control": "rank",
    "alternative": "rank",
    "transpose": "scale",
    "ranked-ccd": "joint",
    "fabrik": "trial",
}


def textbook_layouts() -> Data:
    """Return the field names, in order, of a plan and a report, and the codes of methods' choices."""
    return {
        "head": list(HEAD.names),
        "options": list(OPTIONS.names),
        "report": list(REPORT.names),
        "value": {"size": VALUE.size, "desired": VALUE.desired},
        "status": {str(code): name for code, name in NAMES.items()},
        "reached": REACHED,
        "adaptive": textbook.ADAPTIVE,
        "forms": FORMS,
        "rankings": CODES,
        "elbows": [*ELBOWS, "nearest"],
        "arm": {name: getattr(planar_arm.PLACES, name) for name in ("elbow", "directed")}
        | {"direction": planar_arm.FIGURES.direction},
        "trials": BONES.trials,
        "notes": NOTES,
    }


def textbook_data(linkage: Linkage, goal: Reach, settings: Settings) -> Data:
    """Return the plan that the methods of a frame share, the data of each, and why other methods are refused."""
    problem = Problem(linkage, goal)
    own: Data = {}
    refused: dict[str, str] = {}
    shared: tuple[Any, Any] | None = None
    for name, cls in COMPILED.items():
        method = cls()
        complete = settled(settings, method)
        try:
            walk = walk_for(method, problem, complete)
            if walk is None:
                method.accept(problem)
        except GoalError as error:
            refused[name] = str(error)
            continue
        if walk is None:
            refused[name] = f"method {name!r} does not support this goal of frame {goal.frame!r} in a page."
            continue
        own[name] = _own(method, complete, walk.plan)
        bare = walk.plan._replace(places=NO_WHOLES, figures=NO_REALS, work=0)
        shared = packed(method, problem, complete, bare) if shared is None else shared
    found = {"methods": own, "refused": refused}
    if shared is None:
        return found
    wholes, reals = shared
    places = real_places(wholes)
    return found | {
        "wholes": wholes,
        "reals": reals,
        "values": places["values"],
        "gains": places["gains"],
        "record": record_places(wholes),
        "memory": desk_size(wholes),
    }


def _own(method: Method, settings: Settings, plan: Plan) -> Data:
    """Return the data of one method."""
    return {
        "head": {
            "method": plan.code,
            "iterations": settings.max_iterations,
            "halvings": settings.halvings if method.careful else 0,
            "patience": method.patience,
            "overshoots": int(method.may_overshoot),
            "choice": plan.choice,
            "work": plan.work,
            "places": len(plan.places),
            "figures": len(plan.figures),
        },
        "options": {
            "amount": float(plan.amount),
            "max_step": float(np.inf if settings.max_step is None else settings.max_step),
        },
        "gains": float(np.mean(plan.gains)),
        "places": plan.places,
        "figures": plan.figures,
    }
