"""Notebook display of objects: one function for each type, as HTML and SVG with inline style."""

from __future__ import annotations

import math
from collections import Counter
from functools import singledispatch
from html import escape
from typing import Any

import numpy as np

from ..errors import listed
from ..explain.all_solutions import Branches
from ..explain.diagnosis import Diagnosis
from ..explain.mobility import degrees_of_freedom
from ..explain.races import Race, RaceResult
from ..goals import Goal, Reach
from ..kernels.devices import to_host
from ..linkage.coordinates import Coordinate, CoordinateTable
from ..linkage.couplings import coupling_text
from ..linkage.dh_table import DHRow, DHTable
from ..linkage.kinematics import FrameMap
from ..linkage.linkage import Linkage
from ..linkage.tree_text import tree_rows
from ..models.lessons.answers import Verdict
from ..motion.clips import Clip
from ..motion.inspection import Report
from ..solvers import Solution
from ..solvers.batch_answers import Batch
from ..solvers.body_answers import BodyBatch
from ..solvers.solution import errors_in_words
from ..transforms import FloatArray, matrix_quaternion
from . import clip_cells
from .arguments import one_pose
from .markup import (
    BLUE,
    FAINT,
    Safe,
    badge,
    bar,
    beside,
    card,
    code,
    folded,
    joined,
    muted,
    sentence,
    side_by_side,
    styled,
    table,
)
from .stills import still

FEW_ROWS = 14  # largest number of rows of an unfolded table
MOST_STILLS = 8
NOTHING = 1e-9  # rounding error [deg or m]
SMALL = 150  # width of a picture beside others [pixel]


@singledispatch
def shown(thing: Any) -> str:
    """Return the notebook display of an object."""
    return f"<code>{escape(repr(thing))}</code>"


# Linkages


@shown.register
def _linkage(linkage: Linkage) -> str:
    titles, *rows = tree_rows(linkage, unicode=True)
    tree = table(titles, [(code(link), *rest) for link, *rest in rows])
    frames = [f"{frame.name} (on {frame.link})" for frame in linkage.extra_frames]
    lists = {"frames": frames, "stored poses": linkage.poses, "groups": linkage.groups}
    lists["loops"] = [f"{loop.name} ({loop.first}, {loop.second})" for loop in linkage.loops]
    lists["couplings"] = [coupling_text(coupling) for coupling in linkage.couplings]
    lines = [styled(joined([muted(name), few(names)], " "), "", "div") for name, names in lists.items() if names]
    picture = still(linkage, one_pose(linkage, None)[None])
    tree = tree if len(rows) <= FEW_ROWS else folded(f"tree of {len(rows)} links", tree)
    return card(linkage.name, counts(linkage), beside(picture, joined([tree, *lines])))


def counts(linkage: Linkage) -> str:
    """Return the size of a linkage in words."""
    numbers = {"link": len(linkage.links), "joint": len(linkage.joints)}
    words = [f"{n} {name}{'s' * (n != 1)}" for name, n in numbers.items()]
    freedom = degrees_of_freedom(linkage)
    return ", ".join([*words, f"{freedom} degree{'s' * (freedom != 1)} of freedom"])


def few(names: Any, most: int = 12) -> str:
    """Return names with commas; if there are many, the first ones and the number of the others."""
    every = list(names)
    return ", ".join(every[:most]) + f" and {len(every) - most} more" * (len(every) > most)


@shown.register
def _frames(frames: FrameMap) -> str:
    matrices = to_host(frames.array).reshape(-1, len(frames), 4, 4)
    note = f"{len(frames)} frames in the world" + f", the first of {len(matrices)} poses" * (len(matrices) != 1)
    rows = []
    for name, matrix in zip(frames.names, matrices[0] if len(matrices) else (), strict=False):
        numbers = (*matrix[:3, 3].tolist(), *matrix_quaternion(matrix[:3, :3]).tolist())
        rows.append((name, *(f"{round(number, 4) + 0.0:.4f}" for number in numbers)))  # avoids -0
    return card("frames", note, table(("frame", "x [m]", "y [m]", "z [m]", "qw", "qx", "qy", "qz"), rows))


@shown.register
def _coordinates(coordinates: CoordinateTable) -> str:
    titles = ("coordinate", "joint", "kind", "lower", "upper", "fastest")
    rows = [(r.name, r.joint, r.kind, *map(amount, (r.lower, r.upper, r.velocity), (r.unit,) * 3)) for r in coordinates]
    return card("coordinates", f"{len(rows)} values of a pose", table(titles, rows))


def amount(value: float, unit: str) -> str:
    """Return a value with its unit, angles in degrees; empty if it is infinite."""
    if not math.isfinite(value):
        return ""
    number, sign = (math.degrees(value), "°") if unit == "rad" else (value, f" {unit}" * bool(unit))
    return f"{0.0 if abs(number) < NOTHING else number:.4g}{sign}"


@shown.register
def _dh(dh: DHTable) -> str:
    names = dh.joints or ("",) * len(dh.rows)
    rows = [_dh_row(k, name, row) for k, (name, row) in enumerate(zip(names, dh.rows, strict=True), start=1)]
    ends = [f"{name} {where(matrix)}" for name, matrix in (("base", dh.base), ("tool", dh.tool)) if is_moved(matrix)]
    found = table(("row", "joint", "θ", "d", "a", "α"), rows)
    return card("Denavit-Hartenberg table", f"{dh.convention}, {len(rows)} rows", found, muted("; ".join(ends)))


def _dh_row(k: int, name: str, row: DHRow) -> tuple[object, ...]:
    """Return the cells of a row; the parameter that the joint changes is coloured, with q added."""
    theta, d, a, alpha = (amount(x, unit) for x, unit in zip((row.theta, row.d, row.a, row.alpha), UNITS, strict=True))
    moves = row.theta if row.kind == "R" else row.d
    varied = styled(f"q{k}" + f" + {theta if row.kind == 'R' else d}" * (moves != 0.0), f"color:{BLUE};font-weight:600")
    return (k, name, *((varied, d) if row.kind == "R" else (theta, varied)), a, alpha)


UNITS = ("rad", "m", "m", "rad")


def is_moved(matrix: FloatArray) -> bool:
    """Return whether a transform differs from the identity."""
    return bool(np.abs(matrix - np.eye(4)).max() > 1e-12)


def where(matrix: FloatArray) -> str:
    """Return a transform in words: its translation, and whether it rotates."""
    place = ", ".join(f"{x:.4g}" for x in matrix[:3, 3].tolist())
    return f"at ({place}) m" + ", turned" * bool(np.abs(matrix[:3, :3] - np.eye(3)).max() > 1e-12)


# Solutions


@shown.register
def _solution(solution: Solution) -> str:
    linkage, many = solution.linkage, bool(np.ndim(solution.success))
    title = f"{solution.method} on {linkage.name}"
    if many:
        good = int(np.sum(solution.success))
        words = badge(good == np.size(solution.success), f"{good} of {np.size(solution.success)} reached")
        return card(title, words, table(("ended", "starts"), Counter(np.ravel(solution.status).tolist()).most_common()))
    words = badge(bool(solution.success), "reached" if solution.success else solution.status)
    picture = still(linkage, np.array([solution.start, solution.q]), goals=places(solution.goals))
    units = [block.unit for goal in solution.problem.goals for block in goal.blocks]
    errors = muted(errors_in_words(solution.residuals.tolist(), units)) if len(units) > 1 else Safe("")
    lines = [styled(solution.reason, "", "div"), styled(errors, "", "div"), pose_table(linkage, solution.q)]
    return card(title, words, beside(picture, joined(lines)))


def places(goals: tuple[Goal, ...]) -> list[FloatArray]:
    """Return the target positions of goals that have one."""
    return [goal.target[:3, 3] for goal in goals if isinstance(goal, Reach) and goal.coordinates]


def pose_table(linkage: Linkage, q: FloatArray) -> Safe:
    """Return the values of a pose and their positions between limits; folded if there are many."""
    rows = [_value(row, value) for row, value in zip(linkage.table, q.tolist(), strict=True)]
    found = table(("joint", "value", "", "limits"), rows)
    return found if len(rows) <= FEW_ROWS else folded(f"{len(rows)} values", found)


def _value(row: Coordinate, value: float) -> tuple[object, ...]:
    limited = math.isfinite(row.lower) and math.isfinite(row.upper)
    limits = f"{amount(row.lower, row.unit) or '−∞'} … {amount(row.upper, row.unit) or '∞'}"
    number = f"{value:.4f} {row.unit}".strip()
    degrees = muted(amount(value, "rad")) if row.unit == "rad" else ""
    values = joined([number, degrees], " ")
    return row.name, values, bar(row.lower, row.upper, value) if limited else "", muted(limits) if limited else ""


@shown.register
def _branches(branches: Branches) -> str:
    linkage, found = branches.linkage, len(branches)
    if not found:
        return card(f"solutions of {linkage.name}", badge(False, "none"), _how_sure(branches))
    kind = "isolated" if branches.dimension == 0 else f"samples of a {branches.dimension}-dimensional set"
    pictures = [still(linkage, q[None], goals=places((branches.goal,)), width=SMALL) for q in branches.q[:MOST_STILLS]]
    searched = bool(branches.starts)
    names = [*linkage.coordinates, *["starts that led there"] * searched]
    values = [[*map(amount, q.tolist(), linkage.table.units)] for q in branches.q]
    rows = [(k, *row, *[hits] * searched) for k, (row, hits) in enumerate(zip(values, branches.hits, strict=True))]
    poses = table(("", *names), rows, most=16)
    return card(
        f"solutions of {linkage.name}", f"{found} {kind}, {_how_sure(branches)}", side_by_side(*pictures), poses
    )


def _how_sure(branches: Branches) -> str:
    """Return a text on the source of solutions, and whether there may be others."""
    if branches.complete:
        told = "" if branches.evidence is None else f": {branches.evidence}"
        return f"proven by the closed form of the family {branches.family!r}{told}"
    return f"from {branches.starts} starts; there may be others"


@shown.register
def _race(race: Race) -> str:
    titles = ("method", "", "error", "iterations", "time [ms]", "largest step", "error over iterations", "")
    return card("race", f"{sum(lap.success for lap in race)} of {len(race)} reached", table(titles, map(_lap, race)))


@shown.register
def _race_result(lap: RaceResult) -> str:
    return shown(Race([lap])) if lap.solution is None else shown(lap.solution)


def _lap(lap: RaceResult) -> tuple[object, ...]:
    if lap.solution is None:
        return (lap.method, muted("refused"), "", "", "", "", "", sentence(lap.refusal))
    found = lap.solution
    mark = badge(lap.success, "reached" if lap.success else found.status)
    numbers = (f"{found.residual:.2g}", found.iterations, f"{1e3 * lap.seconds:.2f}", f"{lap.largest_step:.3g}")
    return (lap.method, mark, *numbers, curve(lap.errors), "" if lap.success else sentence(found.reason))


def curve(errors: FloatArray, width: int = 120, height: int = 22) -> Safe:
    """Return errors over iterations as a small curve with a logarithmic scale."""
    logs = np.log10(np.maximum(errors, 1e-12))
    low, span = float(logs.min()), max(float(np.ptp(logs)), 1e-9)
    across = np.linspace(2.0, width - 2.0, len(logs))
    points = " ".join(
        f"{x:.1f},{height - 3 - (height - 6) * (y - low) / span:.1f}" for x, y in zip(across, logs, strict=True)
    )
    base = f'<line x1="0" y1="{height - 1}" x2="{width}" y2="{height - 1}" stroke="{FAINT}"/>'
    line = f'<polyline points="{points}" fill="none" stroke="{BLUE}" stroke-width="1.6"/>'
    return Safe(f'<svg width="{width}" height="{height}" style="vertical-align:middle">{base}{line}</svg>')


@shown.register
def _batch(batch: Batch) -> str:
    total, good = batch.on_host().success.size, int(np.sum(batch.on_host().success))
    counted = Counter(batch.status.ravel().tolist()).most_common()
    words = badge(good == total, f"{good:,} of {total:,} reached")
    return card(f"{batch.linkage.name}, {listed(batch.frame_names)}", words, table(("ended", "targets"), counted))


@shown.register
def _body_batch(batch: BodyBatch) -> str:
    total, good = len(batch), int(batch.success.sum())
    words, kinds = batch.goal_status, ("reached", "missed", "wish", "invalid", "unsolved")
    rows = [(name, *((words[:, k] == kind).sum() for kind in kinds)) for k, name in enumerate(batch.names)]
    told = badge(good == total, f"{good:,} of {total:,} reached")
    return card(batch.linkage.name, told, table(("goal", *kinds), rows))


@shown.register
def _diagnosis(diagnosis: Diagnosis) -> str:
    cause = badge(diagnosis.cause == "reached", diagnosis.cause)
    return card("why", cause, *(styled(text, "", "div") for text in (diagnosis.sentence, muted(diagnosis.advice))))


# Lessons


@shown.register
def _verdict(verdict: Verdict) -> str:
    words = badge(verdict.right, "right" if verdict.right else "not yet") if verdict.given else Safe("")
    return card(f"Exercise {verdict.number}", words, verdict.text)


# Motions


@shown.register
def _clip(clip: Clip) -> str:
    return clip_cells.cell(clip)


@shown.register
def _report(report: Report) -> str:
    words = badge(report.ok, "nothing wrong" if report.ok else f"{len(report.findings)} findings")
    rows = [(f.kind, f"{f.first} … {f.last}", f.where, sentence(f.text)) for f in report.findings]
    return card(
        f"report of {report.clip.linkage.name}",
        joined([words, muted(f"{len(report.clip)} frames")], " "),
        Safe("") if report.ok else table(("what", "frames", "where", ""), rows),
    )
