"""Why a solve failed, with evidence.

`reason` is one sentence from the result of the solve. `diagnose` makes experiments: it continues the solve, starts
elsewhere, removes limits, leaves goals out, and reports what helped.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import solvers  # imported lazily: the methods are needed for experiments only
from ..errors import OptionError
from ..goals import Block, Reach
from ..linkage.linkage import Linkage
from ..linkage.poses import mid_range, wrapped
from ..linkage.program import reach
from ..linkage.showing import Shown
from ..solvers import Group, Problem, Solution
from ..solvers.groups import random_poses
from ..solvers.solution import ending, errors_in_words
from ..transforms import FloatArray
from .collisions import avoids, in_the_way, lasting_contact, nearest
from .conflicts import Conflict, Experiments, amount, apart, called, joined, levels, missed_blocks
from .lost_directions import NEARLY, SINGULAR, bent_starts, lost_direction
from .proofs import Proof, proof_of

if TYPE_CHECKING:
    from ..solvers import Method

STARTS = 128
MORE = 1.01  # factor on an unavoidable error above which an error counts as larger
ALL_JOINTS = 64  # further starts of the solve that tests whether all joints together reach the goal
ELSEWHERE = "Give another start, or use the method 'robust', which tries several."
STOOD_STILL = 1e-2  # a solve whose values changed by less never left its start [rad, m]
BENDS = 4  # number of bent starts to try
SLOWLY = 0.99  # share of the error that must remain at most after 2000 more iterations, to count as progress


@dataclass(frozen=True, eq=False)
class Diagnosis(Shown):
    """Why a solve did not reach its goals.

    Attributes:
        cause: ``reached``, ``out-of-reach``, ``too-close``, ``out-of-plane``, ``over-constrained``, ``limits``,
            ``collision``, ``conflict``, ``open-loop``, ``singular``, ``local-minimum``, ``diverged``,
            ``iterations``, ``time``, ``following`` or ``unknown``.
        sentence: What happened, with numbers.
        advice: What to try.
        evidence: The numbers, by name.
    """

    cause: str
    sentence: str
    advice: str = ""
    evidence: dict[str, Any] = field(default_factory=dict)

    @property
    def paragraph(self) -> str:
        """What happened and what to try."""
        return " ".join(part for part in (self.sentence, self.advice) if part)


def reason(solution: Solution) -> str:
    """Return one sentence on how a solve ended."""
    if np.ndim(solution.success):
        names, counts = np.unique(solution.status, return_counts=True)
        ends = ", ".join(f"{count} {name}" for name, count in zip(names, counts, strict=True))
        return f"{np.size(solution.success)} starts: {ends}."
    if solution.success:
        return ending("reached", _missed(solution) or "nothing but wishes", _steps(solution.iterations))
    certain = _certain(solution)
    if certain is not None:
        return certain.sentence
    proof = proof_of(solution) if getattr(solution, "proven", False) else None
    return _ended(solution) if proof is None else f"{_ended(solution)} {proof.sentence}"


def explain(solution: Solution) -> str:
    """Return a paragraph: what happened, why, and what to try."""
    if np.ndim(solution.success):
        return f"{reason(solution)} solution[k].explain() explains one of them."
    return diagnose(solution).paragraph


def diagnose(solution: Solution) -> Diagnosis:
    """Return why a single solve ended as it did. If its result does not show the cause, further solves are tried."""
    if np.ndim(solution.success):
        raise OptionError("a diagnosis is of one solution; take one by its index, as in solution[0].")
    if solution.success:
        return _reached(solution)
    certain = _certain(solution)
    if certain is None:
        found = _experiments(solution)
    else:
        found = certain if len(solution.goals) == 1 else _beside_others(solution, certain)
    return found if solution.group is None or not solution.group.partial else _of_a_group(solution, found)


def freedom(solution: Solution) -> int:
    """Return the dimension of the set of solutions around a pose: velocities minus the rank of the goals' Jacobian."""
    q = solution.q.reshape(-1, solution.linkage.nq)[0]
    return solution.problem.freedom(q)


def _steps(count: int) -> str:
    return f"{count} iteration{'s' * (count != 1)}"


def _missed(solution: Solution) -> str:
    """Return the errors in words: ``"position error 2.1e-05 m, rotation error 0.3 rad"``; the largest of many goals."""
    blocks = missed_blocks(solution)
    if len(solution.goals) == 1:
        return errors_in_words(solution.residuals, [unit for _, unit, _ in blocks])
    parts = []
    for unit in ("m", "rad"):
        judged = [(value, goal) for goal, of, value in blocks if of == unit and goal.tolerance_of(unit) != np.inf]
        if judged:
            value, goal = max(judged, key=itemgetter(0))
            parts.append(f"largest {errors_in_words([value], [unit])} ({called(goal)})")
    return ", ".join(parts)


def _ended(solution: Solution) -> str:
    text = ending(solution.status, _missed(solution), _steps(solution.iterations))[:-1]
    ranks = levels(solution)
    if len(ranks) > 1:
        text += f"; {', '.join(rank.words for rank in ranks)}"
    if (pair := nearest(solution.linkage, avoids(solution), solution.q)) is not None:
        text += f"; {pair.words}"
    held = at_limits(solution.linkage, solution.q, solution.group)
    if held:
        text += f"; at their limits: {', '.join(held)}"
    lost = lost_direction(solution.problem, solution.q) if _never_left(solution) else None
    return f"{text}; the start is singular: {lost.sentence}." if lost is not None else f"{text}."


def _never_left(solution: Solution) -> bool:
    """Return whether a solve ended where it started."""
    gone = np.abs(solution.linkage.difference(solution.start, solution.q)).max(initial=0.0)
    return solution.status in ("stalled", "iterations") and bool(gone < STOOD_STILL)


def _reached(solution: Solution) -> Diagnosis:
    left = freedom(solution)
    more = f" The goal leaves {left} degree{'s' * (left != 1)} of freedom open." if left else ""
    return Diagnosis("reached", f"{reason(solution)}{more}", evidence={"freedom": left})


def at_limits(linkage: Linkage, q: FloatArray, group: Group | None = None) -> list[str]:
    """Return the coordinates that may move and are at a limit, as texts."""
    result = []
    moves = np.ones(linkage.nq, np.bool_) if group is None else group.values
    rows = zip(linkage.coordinates, q, linkage.lower, linkage.upper, moves, strict=True)
    for name, value, low, high, may_move in rows:
        if may_move and low < high and value <= low + 1e-9:
            result.append(f"{name} (lower {low:.4g})")
        elif may_move and low < high and value >= high - 1e-9:
            result.append(f"{name} (upper {high:.4g})")
    return result


def _of_a_group(solution: Solution, found: Diagnosis) -> Diagnosis:
    """Return the diagnosis for a group of joints, and whether all joints together would reach the goal."""
    group: Any = solution.group
    everyone = Problem(solution.linkage, solution.goals, solution.start)
    settings = replace(solution.settings, trace=False, max_iterations=None)
    reached = bool(solvers.Robust(restarts=ALL_JOINTS).solve(everyone, solution.q, settings).success)
    told = f"Only {group.words} may move"
    text = f"{found.sentence} {told}; with all joints, the goal is {'' if reached else 'not '}reached."
    advice = "Give more joints= that may move, or other start values for the others." if reached else found.advice
    return replace(found, sentence=text, advice=advice, evidence=found.evidence | {"all_joints": reached})


# Causes proven by geometry alone


def _certain(solution: Solution) -> Diagnosis | None:
    """Return a cause that is certain without experiments; None if there is none."""
    for goal in solution.goals:
        if isinstance(goal, Reach) and goal.position is not None:
            found = _beyond_reach(solution, goal)
            if found is not None:
                return found
    lasting = lasting_contact(solution)
    stuck = None if lasting is None else Diagnosis("collision", *lasting)
    return stuck or _contradiction(solution) or _unchangeable(solution)


def _contradiction(solution: Solution) -> Diagnosis | None:
    """Return the pair of goals that contradict each other at every pose, if there is one."""
    pair = apart(solution)
    if pair is None:
        return None
    places = [solution.goals.index(goal) for goal in (pair.first, pair.second)]
    evidence = {"goals": places, "wanted": pair.wanted, "most": pair.most, "unit": pair.unit}
    return Diagnosis("conflict", pair.sentence, "Leave one of them out, or bring them nearer to each other.", evidence)


def _beside_others(solution: Solution, certain: Diagnosis) -> Diagnosis:
    """Return a certain cause with its consequences for the other goals, and the state of the levels."""
    trials = Experiments(solution)
    found = trials.conflict([solution.goals[k] for k in certain.evidence["goals"]])
    ranks = levels(solution)
    told = f"Of the levels, {joined([rank.words for rank in ranks])}." if len(ranks) > 1 else ""
    text = " ".join(part for part in (certain.sentence, found.help, told) if part)
    return replace(certain, sentence=text, evidence=certain.evidence | _evidence(trials, found))


def _beyond_reach(solution: Solution, goal: Reach) -> Diagnosis | None:
    origin, least, most, joint = reach(solution.linkage, goal.frame)
    if goal.position is None or not np.isfinite(most):
        return None
    along = goal.rows[: goal.coordinates]
    distance = float(np.linalg.norm(goal.target[along, 3] - origin[along]))
    numbers = {"distance": distance, "least": least, "most": most, "from": joint}
    evidence = {**numbers, "goals": [solution.goals.index(goal)]}
    place = f"goal of {goal.frame!r} is {distance:.4g} m from {joint!r}"
    room = goal.tolerance_of("m") or solution.settings.tolerance
    if goal.ranges is not None:
        room += float(np.linalg.norm(np.maximum(-goal.ranges.low, goal.ranges.high)[:3]))
    if distance > most + room:
        text = f"out of reach: the {place}, the chain reaches {most:.4g} m: {distance - most:.3g} m too far"
        text += _more_left(solution, distance - most)
        return Diagnosis("out-of-reach", f"{text}.", "Move the goal nearer or the base towards it.", evidence)
    planar = not goal.masked and not solution.linkage.evaluator.moving_rows(goal.frame)[2]
    if (goal.coordinates == 3 or planar) and distance < least - room:
        text = f"too close: the {place}, the chain cannot fold nearer than {least:.4g} m"
        return Diagnosis("too-close", f"{text}.", "Move the goal further away.", evidence)
    return None


def _more_left(solution: Solution, least: float) -> str:
    """Return a text on the remaining error of one goal, if it exceeds the distance that no pose can avoid."""
    position, *turn = solution.residuals.tolist()
    if len(solution.goals) > 1 or (position <= MORE * least and max(turn, default=0.0) < MORE - 1.0):
        return ""
    return f"; the pose found has {_missed(solution)}"


def _unchangeable(solution: Solution) -> Diagnosis | None:
    problem = solution.problem
    error = problem.error(solution.q)
    fixed = np.setdiff1d(np.arange(len(error)), problem.rows)
    for block, limit in zip(problem.blocks, solution.settings.tolerances(problem).tolist(), strict=True):
        inside = [row for row in fixed if block.rows.start <= row < block.rows.stop]
        missing = float(np.linalg.norm(error[inside]))
        if missing > limit:
            what = "position" if block.unit == "m" else "orientation"
            away = f"{missing:.3g} {block.unit} away from anything the joints can reach"
            text = f"over-constrained: the goal's {what} is {away}"
            evidence = {"missing": missing, "goals": [_owner(solution, block)]}
            return Diagnosis("out-of-plane", f"{text}.", "Leave that component out of the goal.", evidence)
    return None


def _owner(solution: Solution, block: Block) -> int:
    """Return the index of the goal that a block of the stacked rows belongs to."""
    ends = np.cumsum([goal.blocks[-1].rows.stop for goal in solution.goals])
    return int(np.searchsorted(ends, block.rows.start, side="right"))


# Causes found by experiments


def _experiments(solution: Solution) -> Diagnosis:
    problem = solution.problem
    base = _ended(solution)
    if solution.status == "following":
        return Diagnosis(
            "following", base, "Call it again with this pose as the start, or follow a path with track.", {}
        )
    if solution.status == "diverged" and solution.options.get("scale") is not None:
        return _diverged(solution, problem, base)
    longer = _continued(solution, problem)
    if longer is not None:
        return longer
    trials = Experiments(solution)
    if (blocked := in_the_way(trials)) is not None:
        return Diagnosis("collision", f"{base} {blocked.sentence}", *blocked[1:])
    if len(trials.goals) > 1:
        return _several(trials, base)
    proof = proof_of(solution)
    if proof is not None:
        return _proven(trials, base, proof)
    settings = replace(solution.settings, trace=False, time_budget=None, max_iterations=200)
    others = random_poses(solution.linkage, 0, STARTS, solution.group, solution.start)
    starts = np.concatenate([solution.q[None], others])
    project = replace(settings, limits="project" if settings.keeps_limits else "ignore")
    tried = solvers.run(solvers.Damped(), problem, starts, project)
    if tried.success.any():
        singular = _singular(solution, problem, base)
        if singular is not None:
            return singular
        if solution.status == "diverged" and solution.method != "robust":
            return _diverged(solution, problem, base)
        return _local_minimum(solution, base, tried)
    free = solvers.run(solvers.Damped(), problem, starts, replace(settings, limits="ignore"))
    if settings.keeps_limits and free.success.any():
        return _limits(trials, base, free.q[free.success])
    found = _nowhere(problem, base, tried if settings.keeps_limits else free)
    if found.cause != "unknown" or not settings.keeps_limits:
        return found
    beyond = _nowhere(problem, base, free, where="Without limits, at the closest pose")
    return beyond if beyond.cause != "unknown" else found


def _proven(trials: Experiments, base: str, proof: Proof) -> Diagnosis:
    """Return why a goal that no pose reaches is missed: limits, if poses without limits reach it, else the geometry."""
    text, evidence = f"{base} {proof.sentence}", {"proof": proof.evidence, "family": proof.family}
    if len(proof.free):
        found = _limits(trials, text, proof.free)
        return replace(found, evidence=found.evidence | evidence)
    return Diagnosis("out-of-reach", text, "Move the goal to within its reach, or turn it.", evidence)


def _several(trials: Experiments, base: str) -> Diagnosis:
    """Return why several goals were missed."""
    again = trials.together()
    singular = _singular(trials.solution, trials.solution.problem, base) if again.success else None
    if singular is not None:
        return singular
    if again.success:
        text = f"{base} It is a local minimum of this start: from another the goals are reached."
        return Diagnosis("local-minimum", text, ELSEWHERE, {"pose": again.q})
    if trials.settings.keeps_limits:
        free = trials.together(limits="ignore")
        if free.success:
            return _limits(trials, base, free.q[None])
    return _conflict(trials, base)


def _continued(solution: Solution, problem: Problem) -> Diagnosis | None:
    """Continue a solve whose iterations or time were used up."""
    if solution.status not in ("iterations", "time") or solution.method not in solvers.METHODS:
        return None
    settings = replace(solution.settings, trace=False, time_budget=None, max_iterations=2000)
    further = _method(solution).solve(problem, solution.q, settings)
    needed = solution.iterations + further.iterations
    if further.success:
        text = f"{_ended(solution)[:-1]}; it succeeds after {_steps(needed)} in all."
        return Diagnosis(solution.status, text, f"Give it max_iterations={needed}.", {"needed": needed})
    advice = _length_advice(solution, problem)
    if further.status != "iterations" or not (advice or further.residual < SLOWLY * solution.residual):
        return None
    text = f"{_ended(solution)[:-1]}; after {needed}, with {_missed(further)}, it still comes nearer, but slowly."
    return Diagnosis(solution.status, text, f"{advice or 'Give it more iterations'}, or use the method 'damped'.", {})


def _method(solution: Solution) -> Method:
    """Return the method of a solution, with its options, to solve again."""
    return solvers.METHODS[solution.method](**solution.options)


def _diverged(solution: Solution, problem: Problem, base: str) -> Diagnosis:
    advice = _length_advice(solution, problem) or "Use smaller steps (max_step=)"
    return Diagnosis("diverged", base, f"{advice}, or the method 'damped'.", {})


def _length_advice(solution: Solution, problem: Problem) -> str:
    """Return advice on a fixed scale, from the largest singular value; empty for methods without a scale."""
    scale = solution.options.get("scale")
    if scale is None:
        return ""
    most = max(float(np.linalg.svd(problem.jacobian(q), compute_uv=False)[0]) for q in (solution.start, solution.q))
    bound = 2.0 / max(most**2, 1e-300)
    size = "smaller" if scale > bound / 4.0 else "larger"
    return f"Use a {size} scale than {scale:g}, such as {bound / 4.0:.2g} (from 2/sigma² = {bound:.3g} on it diverges)"


def _singular(solution: Solution, problem: Problem, base: str) -> Diagnosis | None:
    """Return a diagnosis if the start or the result is singular and other starts reach the goal; else None."""
    poses = {"start": solution.start, "pose found": solution.q}
    found = {where: lost for where, q in poses.items() if (lost := lost_direction(problem, q)) is not None}
    if not found:
        return None
    where, lost = next(iter(found.items()))
    evidence = {"direction": lost.direction, "share": lost.share, "singular_values": lost.singular_values}
    text = base if _never_left(solution) else f"{base} The {where} is singular: {lost.sentence}."
    text += " The goal is within reach: other starts reach it."
    settings = replace(solution.settings, trace=False, time_budget=None)
    starts = bent_starts(problem, solution.start, keep_limits=settings.keeps_limits)
    for bent in starts[:BENDS] if solution.method in solvers.METHODS else ():
        if _method(solution).solve(problem, bent.q, settings).success:
            evidence |= {"joint": bent.joint, "start": bent.q}
            way = f"Start from a bent pose: with {bent.joint!r} at {bent.value:.3g}, {solution.method!r} reaches it."
            return Diagnosis("singular", text, way, evidence)
    return Diagnosis("singular", text, f"Start from a bent pose. {ELSEWHERE}", evidence)


def _local_minimum(solution: Solution, base: str, others: Solution) -> Diagnosis:
    share = float(np.mean(others.success[1:]))
    away = np.abs(solution.linkage.difference(solution.start, others.q)).max(axis=-1)
    best = int(np.argmin(np.where(others.success, away, np.inf)))
    text = f"{base} It is a local minimum of this start: {share:.0%} of {STARTS} random starts reach the goal."
    evidence = {"share": share, "pose": others.q[best]}
    lost = lost_direction(solution.problem, solution.start, ratio=NEARLY)
    if lost is not None:
        text += f" The start is nearly singular: hardly any joint {lost.words} there, in the direction of the goal."
        evidence |= {"direction": lost.direction, "singular_values": lost.singular_values}
    return Diagnosis("local-minimum", text, ELSEWHERE, evidence)


def _limits(trials: Experiments, base: str, free: FloatArray) -> Diagnosis:
    """Return the limits that exclude the poses (n, nq) found without limits."""
    linkage, many = trials.linkage, len(trials.goals) > 1
    poses, angles = free.copy(), linkage.table.periodic
    middle = mid_range(linkage.lower, linkage.upper)
    poses[:, angles] = middle[angles] + wrapped(poses[:, angles] - middle[angles])
    over = np.maximum(np.maximum(linkage.lower - poses, poses - linkage.upper), 0.0)
    if trials.solution.group is not None:
        over = np.where(trials.solution.group.values, over, 0.0)
    best = int(np.argmin(over.sum(axis=-1)))
    broken = [
        f"{linkage.coordinates[k]} would be {poses[best, k]:.4g}, beyond its limit "
        f"{linkage.lower[k] if poses[best, k] < linkage.lower[k] else linkage.upper[k]:.4g}"
        for k in np.flatnonzero(over[best] > 0.0)
    ]
    text = (
        f"{base} Without limits the goal{'s are' if many else ' is'} reached{': ' * bool(broken)}{'; '.join(broken)}."
    )
    alone = trials.limits_alone()
    if alone:
        units = {row.name: row.unit for row in linkage.table}
        ways = [f"that of {name} (exceeded by {amount(value, units[name])})" for name, value in alone.items()]
        text += f" It is enough to remove one limit: {joined(ways, 'or')}."
    evidence = {"pose": poses[best], "violations": dict(zip(linkage.coordinates, over[best].tolist(), strict=True))}
    evidence |= {"alone": alone, **_evidence(trials)}
    if many:
        found = trials.conflict()
        evidence |= _evidence(trials, found)
        if len(found.goals) > 1:
            text += f" Within limits: {found.sentence[0].lower()}{found.sentence[1:]}"
    return Diagnosis("limits", text, "Widen those limits or move the goal.", evidence)


def _conflict(trials: Experiments, base: str) -> Diagnosis:
    """Diagnose several goals that no start reaches, with or without limits."""
    found = trials.conflict()
    evidence = _evidence(trials, found)
    if all(goal.priority < 0 for goal in found.goals):
        return _open_loop(trials, found, base, evidence)
    if len(found.goals) > 1:
        advice = "Leave one of them out, bring them nearer to each other, or give one a lower priority."
        return Diagnosis("conflict", f"{base} {found.sentence}", advice, evidence)
    alone = trials.solved(found.goals)
    why = diagnose(alone) if not alone.success else _reached(alone)
    text = f"{base} {called(found.goals[0])} cannot be reached even alone: {why.sentence}"
    return Diagnosis(why.cause, text, why.advice, evidence | why.evidence)


def _open_loop(trials: Experiments, found: Conflict, base: str, evidence: dict[str, Any]) -> Diagnosis:
    """Diagnose loops that no pose closes, for any goals."""
    worst = levels(trials.solved(found.goals))[0]
    evidence["gap"] = worst.missed
    text = f"{base} No pose was found that closes {worst.worst}: {amount(worst.missed, worst.unit)} are left."
    return Diagnosis("open-loop", text, "Make links of the loop longer, or bring its ends together.", evidence)


def _evidence(trials: Experiments, found: Conflict | None = None) -> dict[str, Any]:
    """Return the levels and a conflict as evidence; goals are given by their index in the solution."""
    ranks = levels(trials.solution)
    rows = [{"level": r.rank, "reached": r.reached, "missed": r.missed, "unit": r.unit} for r in ranks]
    if found is None:
        return {"levels": rows}
    place = trials.solution.goals.index
    removable = [place(goal) for goal in found.removable]
    gives_way = dict(zip(removable, found.gives_way, strict=True))
    conflict = {"goals": [place(goal) for goal in found.goals], "removable": removable, "gives_way": gives_way}
    return {"levels": rows, **conflict, "finished": found.finished}


def _nowhere(problem: Problem, base: str, others: Solution, where: str = "At the closest pose") -> Diagnosis:
    """Diagnose a goal that nothing reached: over-constrained, or out of reach in a way that lengths do not show."""
    asked, velocities = len(problem.rows), problem.velocities
    costs = np.linalg.norm(problem.error(others.q) * problem.scale, axis=-1)
    best = others.q[int(np.argmin(costs))]
    left, values, _ = np.linalg.svd(problem.jacobian(best), full_matrices=True)
    rank = int((values > SINGULAR * values[0]).sum())
    evidence: dict[str, Any] = {"rows": asked, "velocities": velocities, "rank": rank, "pose": best}
    if asked > velocities:
        text = f"{base} Over-constrained: the goals ask for {asked} numbers, the linkage can change {velocities}."
        return Diagnosis("over-constrained", text, "Ask for less, or give the goals weights.", evidence)
    if rank < asked:
        wanted = problem.weighted_error(problem.error(best))
        lost = left[:, rank:]
        share = float(np.linalg.norm(lost.T @ wanted)) / max(float(np.linalg.norm(wanted)), 1e-300)
        evidence |= {"direction": lost[:, -1], "share": share, "singular_values": values}
        text = (
            f"{base} {where} the linkage is singular (singular values {values[0]:.3g} to "
            f"{values[-1]:.3g}); {share:.0%} of the error is in a direction it cannot move in: the edge of reach."
        )
        return Diagnosis("out-of-reach", text, "Move the goal to within its reach.", evidence)
    text = f"{base} None of {STARTS} other starts reached it, with or without limits."
    turned = " in this orientation" if any(block.unit == "rad" for block in problem.blocks) else ""
    return Diagnosis("unknown", text, f"The goal is probably out of reach{turned}.", evidence)
