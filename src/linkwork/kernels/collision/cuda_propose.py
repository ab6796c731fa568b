"""Free answers on a GPU: closed forms propose poses, the collision check filters them, double precision decides.

    propose     by a closed form: a thread for each goal and angle of the held joint, or for six joints each half of
                the branches, looks for a free pose within limits, with slightly more than the margin
    settle      checks proposals in double precision, and writes those that reach their goals
    judge       checks answers in double precision: a goal whose answer is not free, or that has none, is left

The host launches them again on the remaining goals, with more angles per goal the fewer goals there are. The order of
threads does not matter: of a goal's proposals, the one of the first angle is taken. If all pieces are balls, poses are
proposed in single precision.
"""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

import numpy as np
from numba import cuda, float32, float64
from numpy.typing import NDArray

from ..chain_memory import SETTINGS
from ..closed_form.cuda_seven import WrittenSeven
from ..closed_form.cuda_six import HALF, WIDTH, WrittenForm, goal_with
from ..closed_form.form_layout import JOINTS
from ..closed_form.seven import JOINTS as SEVEN
from ..cuda import KINDS, PLACE, device, kernel
from ..cuda_answers import finish_with, refuse_with
from ..cuda_parts import Parts, arguments
from ..search_many import REACHED, UNSOLVED
from .cuda_free import check_with, only_balls
from .outcomes import COLLIDES
from .piece_layout import HEADER

LONG = 2  # blocks per multiprocessor if pieces are not all balls: distances are calls that take all registers


class FreeKernels(NamedTuple):
    """The kernels; `propose` is None if there is no closed form."""

    propose: Any
    settle: Any
    judge: Any


def free_kernels(codes: NDArray[np.int64], parts: Parts, form: WrittenSeven | WrittenForm | None) -> FreeKernels:
    """Return the kernels for scenes like one, the parts of a search, and a closed form in single precision."""
    real, nq = rough_kind(codes), int(codes[HEADER.values])
    short = "f4" if real is np.float32 else "f8"
    kinds = arguments("f4") | {"scene": "i8[]", "places": "i8[]", "shapes": "f8[]", "margin": "f8", "angles": "f4[]"}
    kinds |= {"rough": f"{short}[]", "outside": f"{short}[]", "wide": short}
    like = f"{nq} {codes[HEADER.frames]} {short}"
    key = hashlib.sha256(f"{parts.key} {like} {form.key if form else ''}".encode()).hexdigest()
    exact, propose = check_with(codes, np.float64), None
    if form is not None:
        known = exact if real is np.float64 else check_with(codes, real), nq, KINDS[np.dtype(real).name]
        made = _by_seven(form, *known) if isinstance(form, WrittenSeven) else _by_six(form, *known)
        propose = kernel(made, kinds, key, fast=short == "f4", blocks=4 if short == "f4" else LONG)
    judge = _judge(exact, nq)
    settle, blocks = kernel(_settle(parts), kinds, key, blocks=4), 3 if short == "f4" else LONG
    return FreeKernels(propose, settle, kernel(judge, kinds, key, blocks=blocks))


def rough_kind(codes: NDArray[np.int64]) -> Any:
    """Return the precision in which poses of a scene are proposed."""
    return np.float32 if only_balls(codes) else np.float64


def _put_pose(pose, outside, nq, places, q, values):
    """Write a whole pose: the chain's values, and the others."""
    for k in range(nq):
        pose[k] = outside[k]
    for k in range(values):
        pose[places[k]] = q[k]


def _by_seven(form: WrittenSeven, is_free: Any, nq: int, real: Any) -> Any:
    take, aim, best, pose_of = form.take, form.aim, form.best, form.pose_of
    put_pose = device(_put_pose)

    def propose(
        targets, angles, scene, rough, places, outside, listed, pose, found, count, crowd, cursor, whole, wide
    ):  # fmt: skip
        slot, whole_pose, q = cuda.grid(1), cuda.local.array(nq, real), cuda.local.array(SEVEN, float32)
        if slot >= count * crowd:
            return
        place = slot // crowd
        problem, angle = place if whole else listed[place], cursor + slot - place * crowd
        cosine, sine = angles[PLACE(2 * angle)], angles[PLACE(2 * angle + 1)]
        target, there = take(targets, 16 * problem), 0
        _, left = best(aim(target), cosine, sine)
        number = 0
        while left != 0 and there == 0:
            while left & 1 == 0:
                left, number = left >> 1, number + 1
            one = pose_of(target, cosine, sine, number)
            for k in range(SEVEN):
                q[k] = one[k]
            put_pose(whole_pose, outside, nq, places, q, SEVEN)
            if is_free(scene, rough, wide, whole_pose):
                there = 1
                for k in range(SEVEN):
                    pose[PLACE(SEVEN * slot + k)] = q[k]
            left, number = left >> 1, number + 1
        found[PLACE(slot)] = there

    return propose


def _by_six(form: WrittenForm, is_free: Any, nq: int, real: Any) -> Any:
    goal_of, branches, put_pose = goal_with(form), form.branches, device(_put_pose)

    def propose(
        targets, angles, scene, rough, places, outside, listed, pose, found, count, crowd, cursor, whole, wide
    ):  # fmt: skip
        slot, whole_pose, q = cuda.grid(1), cuda.local.array(nq, real), cuda.local.array(JOINTS, float32)
        room = cuda.local.array(WIDTH, float32)
        if slot >= count * crowd:
            return
        place, there = slot // crowd, 0
        problem, half = place if whole else listed[place], cursor + slot - place * crowd
        solved, _, _ = branches(goal_of(targets, 16 * problem), angles[PLACE(2 * half)], room, 0)
        for branch in range(HALF):
            if there == 0 and (solved >> (8 * branch)) & 1:
                for k in range(JOINTS):
                    q[k] = room[JOINTS * branch + k]
                put_pose(whole_pose, outside, nq, places, q, JOINTS)
                if is_free(scene, rough, wide, whole_pose):
                    there = 1
                    for k in range(JOINTS):
                        pose[PLACE(JOINTS * slot + k)] = q[k]
        found[PLACE(slot)] = there

    return propose


def _settle(parts: Parts) -> Any:
    read, exact, within, error_of, take = parts.read, parts.exact, parts.within, parts.exact_error, parts.take
    finish, refuse = finish_with(parts), refuse_with(parts)

    def settle(card, targets, known, base, listed, pose, found, out, count, crowd, whole):
        place = cuda.grid(1)
        if place >= count:
            return
        problem, slot = place if whole else listed[place], crowd * place
        goal, valid, _ = read(card, targets, problem, known)
        if not valid:
            refuse(card, problem, base, out)
            return
        out.codes[problem] = UNSOLVED
        while slot < crowd * place + crowd - 1 and found[slot] == 0:
            slot += 1
        if found[slot] != 0:
            q = within(card, exact(take(card, pose, slot)))
            p, r = error_of(card, q, goal)
            if p <= known[SETTINGS.near] and r <= known[SETTINGS.aligned]:
                finish(card, problem, q, p, r, 0, REACHED, base, out)

    return settle


def _judge(is_free: Any, nq: int) -> Any:
    def judge(scene, shapes, listed, following, counters, out, count, whole, tally, other, margin):
        place, q = cuda.grid(1), cuda.local.array(nq, float64)
        if place == 0:
            counters[other] = 0  # for the next time
        if place >= count:
            return
        problem = place if whole else listed[place]
        left = out.codes[problem] == UNSOLVED
        if out.codes[problem] == REACHED:
            for k in range(nq):
                q[k] = out.q[PLACE(nq * problem + k)]
            left = not is_free(scene, shapes, margin, q)
        if left:
            out.codes[problem], out.reached[problem] = COLLIDES, False
            following[cuda.atomic.add(counters, tally, 1)] = problem

    return judge
