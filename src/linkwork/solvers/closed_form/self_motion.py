"""All curves of solutions of a goal that leaves one dimension, and whether they are proven complete.

An arm of seven joints with one held is solved in closed form at angles between all folds: every curve is met there.
Curves of partial goals begin at angles of a free axis or of a joint. Curves of other chains begin at poses found by a
search.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...kernels.closed_form.curve import STUCK
from ...transforms import FloatArray
from ..chain import Chain
from ..chain_solver import Prepared
from .curves import Curve, within_limits
from .held import Held, held_of
from .partial_curves import HeldPoint, Spun, curves_form
from .seven import JOINTS, Seven, seven_form
from .seven_evidence import why_beyond_limits, why_no_pose
from .tracing import Tracer, Whole

HeldForm = Seven | Held | Spun | HeldPoint
ROUNDS, FIRST, SEEN = 4, 256, 4  # rounds and first starts of the search, which ends when every curve was met SEEN times


@dataclass(frozen=True, eq=False)
class SelfMotion:
    """The curves of solutions of a goal.

    Attributes:
        curves: The curves, longest first.
        complete: Whether it is proven that there are no others.
        remark: A text on what is proven and how, or why it is not.
        evidence: If there is no curve: what stops the arm, and by how much.
        family: The closed form that gave the beginnings of curves; empty if they are from a search.
    """

    curves: tuple[Curve, ...]
    complete: bool
    remark: str
    family: str = ""
    evidence: str | None = None


def held_form(chain: Chain) -> Seven | Held | str:
    """Return the closed form of a chain of seven joints with one held, or a text on why there is none."""
    form = seven_form(chain)
    beside = None if isinstance(form, str) else form
    sure = beside is not None and beside.exact
    if sure or chain.free is not None or chain.group is not None or chain.values != JOINTS:
        return form
    found: Held | str = chain.linkage.cache.get("held", chain.frame, lambda: held_of(chain, beside))
    return found if beside is None or not isinstance(found, str) else beside


def form_with_one_held(prepared: Prepared) -> HeldForm | str:
    """Return the closed form of curves of a chain's goals, with a joint or the free axis held, or why it has none."""
    if prepared.whole_pose:
        return held_form(prepared.chain)
    return prepared.cache.get("curves", "form", lambda: curves_form(prepared.chain, prepared.goal))


def self_motion(prepared: Prepared, target: FloatArray, form: HeldForm) -> SelfMotion:
    """Return the curves of solutions of a chain that has a closed form with a joint or the free axis held.

    `complete` tells whether they are proven to be all.
    """
    angles, proven = form.slices(target), form.proves_for(target)
    held = form.parameter(names(prepared))
    seeds, family = form.at(target, angles), f"{form.kind}, {held.strip(chr(39))} held"
    count = f"{len(angles)} angles of" if len(angles) > 1 else "one angle of"
    where = f"{count} {held}" + ", one between any two folds," * isinstance(form, Seven)
    if not len(seeds):
        told = names(prepared)
        evidence = why_no_pose(form, target, told) if isinstance(form, Seven) else form.why_no_pose(target)
        return SelfMotion((), proven, f"there is no pose at {where.rstrip(',')}", family, evidence)
    tracer = Tracer(prepared, target, seeds[:8])
    if not len(tracer.mix):
        return SelfMotion((), False, "the goal is singular: its solutions form no regular curves", family)
    seeds, errors = tracer.put_on(seeds, tracer.across(seeds) if form.held is None else one_held(seeds, form.held))
    lost = np.isnan(errors).any(axis=1)
    wholes, broken = traced(tracer, seeds[~lost])
    remarks = [f"all poses at {where} lie on these curves"]
    if not proven:
        more = tracer.nearest_on_curve(prepared.chain.values_of(prepared.candidates(target, FIRST)))
        wholes, _ = traced(tracer, more, wholes)
        remarks = [f"all poses at {where} and all from {FIRST} starts of a search lie on these curves"]
    if isinstance(form, Seven) and not form.exact:
        remarks.append(f"the arm is {1e3 * form.off.length:.2g} mm off its family, from which the folds are computed")
    if not proven and not isinstance(form, Seven):
        remarks.append("another curve is unlikely but not excluded")
    if broken or lost.any():
        remarks.append("some pass a singular pose, beyond which nothing is proven")
    curves = tuple(curve for one in wholes for curve in within_limits(tracer, one, names(prepared)))
    evidence = why_beyond_limits(tracer, wholes, names(prepared)) if wholes and not curves else None
    sure = proven and not (broken or lost.any())
    return SelfMotion(in_order(curves), sure, "; ".join(remarks), family, evidence)


def one_held(values: FloatArray, joint: int) -> FloatArray:
    """Return planes (m, n) in which values (m, n) move while a joint is held."""
    planes = np.zeros_like(values)
    planes[:, joint] = 1.0
    return planes


def searched_motion(prepared: Prepared, target: FloatArray) -> SelfMotion:
    """Return the curves of solutions that a search finds; the goal must leave one dimension."""
    chain, made = prepared.chain, 0
    wholes: list[Whole] = []
    curves: list[Curve] = []
    hits: list[int] = []
    tracer: Tracer | None = None
    for turn in range(ROUNDS):
        count = FIRST * 2**turn
        poses = prepared.candidates(target, count, first=made)
        made += count
        values = chain.values_of(poses)
        if not len(values):
            continue
        tracer = tracer or Tracer(prepared, target, values[:8])
        if not len(tracer.mix):
            return SelfMotion((), False, "solutions form no regular curves")
        seeds = tracer.nearest_on_curve(values)
        new, _ = traced(tracer, seeds, wholes)
        for one in new[len(wholes) :]:
            curves += within_limits(tracer, one, names(prepared))
        wholes = new
        seen = [*hits, *[0] * (len(curves) - len(hits))]
        hits = [before + int(curve.holds(seeds).sum()) for before, curve in zip(seen, curves, strict=True)]
        if hits and min(hits) >= SEEN:
            break
    remark = f"found by {made} starts of a search, which proves nothing"
    return SelfMotion(in_order(tuple(curves)), False, remark)


def traced(tracer: Tracer, seeds: FloatArray, known: list[Whole] | None = None) -> tuple[list[Whole], bool]:
    """Return the known curves and new ones through poses; and whether one could not be followed to its end."""
    wholes, left, broken = list(known or []), seeds, False
    for one in wholes:
        left = left[~tracer.on(one.pieces, left)] if len(left) else left
    while len(left):
        whole = tracer.trace(left[0])
        if whole is None:
            broken, left = True, left[1:]
            continue
        broken |= STUCK in whole.ends and not whole.closed
        wholes.append(whole)
        left = left[1:]
        left = left[~tracer.on(whole.pieces, left)] if len(left) else left
    return wholes, broken


def in_order(curves: tuple[Curve, ...]) -> tuple[Curve, ...]:
    """Return curves sorted by length, longest first."""
    return tuple(sorted(curves, key=lambda curve: -curve.length))


def names(prepared: Prepared) -> tuple[str, ...]:
    """Return the coordinate name of each of the chain's values; a ball's three angles share its name."""
    chain, coordinates = prepared.chain, prepared.linkage.coordinates
    found = [""] * chain.values
    for inside, outside in zip(*chain.plain, strict=True):
        found[inside] = coordinates[outside]
    for inside, outside in chain.balls:
        ball = coordinates[outside].rsplit(".", 1)[0]
        found[inside : inside + 3] = [ball] * 3
    return tuple(found)
