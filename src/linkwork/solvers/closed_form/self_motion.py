"""All curves of solutions of a goal that leaves one dimension, and what is proven of them.

An arm of seven joints with one held is solved in closed form at angles between all folds: every curve is met there.
Goals that ask for less begin at angles of a free axis or of a joint. Curves of other chains begin where a search has
arrived.
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
ROUNDS, FIRST, SEEN = 4, 256, 4  # of the search for beginnings: until every curve was met so often


@dataclass(frozen=True, eq=False)
class SelfMotion:
    """The curves of solutions of a goal.

    Attributes:
        curves: The curves, the longest first.
        complete: Whether it is proven that there are no others.
        remark: What is proven and how, or why it is not, in words.
        evidence: Where there is no curve: what stops the arm, and by how much.
        family: The closed form that the curves begin at; empty where a search gave their beginnings.
    """

    curves: tuple[Curve, ...]
    complete: bool
    remark: str
    family: str = ""
    evidence: str | None = None


def held_form(chain: Chain) -> Seven | Held | str:
    """Return the closed form of a chain of seven joints with one held, of a family or by elimination, or why not."""
    form = seven_form(chain)
    beside = None if isinstance(form, str) else form
    sure = beside is not None and beside.exact
    if sure or chain.free is not None or chain.group is not None or chain.values != JOINTS:
        return form
    found: Held | str = chain.linkage.cache.get("held", chain.frame, lambda: held_of(chain, beside))
    return found if beside is None or not isinstance(found, str) else beside


def form_with_one_held(prepared: Prepared) -> HeldForm | str:
    """Return the closed form of the curves of a chain's goals, with a joint or the free axis held, or why not."""
    if prepared.whole_pose:
        return held_form(prepared.chain)
    return prepared.cache.get("curves", "form", lambda: curves_form(prepared.chain, prepared.goal))


def self_motion(prepared: Prepared, target: FloatArray, form: HeldForm) -> SelfMotion:
    """Return the curves of solutions of a chain that is solved in closed form with one thing held.

    They are all where that is proven.
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
        remarks = [f"all poses at {where} and all that {FIRST} starts of a search met lie on these curves"]
    if isinstance(form, Seven) and not form.exact:
        remarks.append(f"the arm is {1e3 * form.off.length:.2g} mm off its family, which is what the folds are of")
    if not proven and not isinstance(form, Seven):
        remarks.append("another one is unlikely, and not excluded")
    if broken or lost.any():
        remarks.append("some pass a singular pose, beyond which nothing is proven")
    curves = tuple(curve for one in wholes for curve in within_limits(tracer, one, names(prepared)))
    evidence = why_beyond_limits(tracer, wholes, names(prepared)) if wholes and not curves else None
    sure = proven and not (broken or lost.any())
    return SelfMotion(in_order(curves), sure, "; ".join(remarks), family, evidence)


def one_held(values: FloatArray, joint: int) -> FloatArray:
    """Return planes (m, n) that values (m, n) move in while a joint is held."""
    planes = np.zeros_like(values)
    planes[:, joint] = 1.0
    return planes


def searched_motion(prepared: Prepared, target: FloatArray) -> SelfMotion:
    """Return the curves of solutions that a search meets; the goal must leave one dimension."""
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
    remark = f"met by {made} starts of a search, which proves nothing"
    return SelfMotion(in_order(tuple(curves)), False, remark)


def traced(tracer: Tracer, seeds: FloatArray, known: list[Whole] | None = None) -> tuple[list[Whole], bool]:
    """Return the whole curves through poses, after those known; and whether one could not be followed to its end."""
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
    """Return curves, the longest first."""
    return tuple(sorted(curves, key=lambda curve: -curve.length))


def names(prepared: Prepared) -> tuple[str, ...]:
    """Return the coordinate of each of the chain's values; a ball's three angles share its name."""
    chain, coordinates = prepared.chain, prepared.linkage.coordinates
    found = [""] * chain.values
    for inside, outside in zip(*chain.plain, strict=True):
        found[inside] = coordinates[outside]
    for inside, outside in chain.balls:
        ball = coordinates[outside].rsplit(".", 1)[0]
        found[inside : inside + 3] = [ball] * 3
    return tuple(found)
