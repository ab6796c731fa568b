"""A prepared chain that keeps clear of a world and of itself: of all poses that reach a target, one that is free.

Closed forms give candidates first, then the search does; where all of them touch something, they are moved within the
chain's self-motion. No answer is called a success whose clearance, computed from the answer, is less than the margin.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..collision.near import near_records
from ..collision.scenes import scene_of
from ..errors import GoalError
from ..goals import Avoid
from ..kernels.chain_memory import REPORT
from ..kernels.collision.free import WIDTH, free_room
from ..kernels.collision.free_poses import free_poses
from ..kernels.collision.free_repair import free_repair_one, repair_room
from ..kernels.collision.free_search import KEPT, free_search_many, free_search_one
from ..kernels.collision.outcomes import COLLIDES
from ..kernels.collision.piece_layout import NEAR
from ..kernels.search_many import INVALID, REACHED, UNSOLVED
from ..linkage.poses import PoseLike
from ..linkage.program import joint_motions
from ..transforms import FloatArray
from .chain_nearest import AllPoses
from .chain_solution import Found
from .chain_solver import ARRAY, EMPTY, FLOAT64, NEW, Prepared
from .free_forms import FreeForm, free_form
from .free_hopes import why_hopeless
from .free_solution import FreeFound
from .solution import Solution

HAIR = 1e-9  # beyond the margin [m]: what rounding may take off between the kernels' clearance and that of Python
STARTS, FEW = 2048, 64  # of the search for poses, where closed forms have none that is free; FEW tell what is hopeless
ONLY_START = 0
NO_PLACES = np.zeros(0, np.int64)


class FreeChain(Prepared):
    """Inverse kinematics of one frame, clear of obstacles and of itself: call it with a target.

    It is a prepared chain in all else, and shares what that has packed.

    Attributes:
        avoid: What it keeps clear of.
        scene: That, packed for the kernels.
    """

    avoid: Avoid

    def __init__(self, prepared: Prepared, avoid: Avoid) -> None:
        vars(self).update(vars(prepared))
        vars(self).pop("follower", None)
        linkage, chain = self.linkage, self.chain
        self.avoid = avoid
        self.scene = scene_of(linkage, avoid.world, self=avoid.self, links=avoid.links)
        self.places = np.empty(chain.values, np.int64)
        self.places[chain.plain[0]] = chain.plain[1]
        self._known = self.scene.codes, self.scene.numbers, float(avoid.margin) + HAIR
        self._check_room = free_room(self.scene.codes)
        self._free_rooms: list[tuple[FloatArray, FloatArray]] = []
        self._own_base = self._base(self.rest)

    @cached_property
    def _form(self) -> FreeForm | None:
        """The closed form that gives candidates, and its kernels."""
        return free_form(self)

    @cached_property
    def _shape_of_room(self) -> tuple[int, int]:
        form = self._form
        return self._room if form is None else max(self._room, form.room)

    def _base(self, pose: FloatArray) -> FloatArray:
        """Return a pose (nq,) with the values outside the chain as answers have them: within limits."""
        return np.ascontiguousarray(self.put(self.chain.values_of(pose), pose))

    def _take_rooms(self) -> tuple[FloatArray, FloatArray]:
        """Return rooms that are this call's alone until they are given back."""
        try:
            return self._free_rooms.pop()
        except IndexError:
            return np.zeros(self._shape_of_room), np.zeros(self._check_room)

    def _search_one(self, target: FloatArray, start: PoseLike | None, seed: int, tries: int) -> Found:
        """Return a free pose for a contiguous target; see `Prepared`. Every line counts."""
        form, outcome, proven, base = self._form, UNSOLVED, False, self._own_base
        out, given = EMPTY(self._size), start is not None
        pose: Any = self.rest
        rooms = self._take_rooms()
        if given:
            pose = start
            if start.__class__ is not ARRAY or pose.dtype is not FLOAT64 or pose.shape != self._shape:
                pose = self.checked_start(start)
            if self.stiff is not None and not self.fits(pose):
                return self.held_at(pose)._search_one(target, pose, seed, tries)
            out[self._start_at] = pose if self.whole else self.chain.values_of(pose)
            base = base if self.whole else self._base(pose)
            if form is None or not form.nearest:  # where a continuous way leads, if that is free
                outcome = self._descend(target, rooms, base, seed, ONLY_START, given, out)[0]
        if outcome != REACHED and form is not None:
            outcome = form.one(*form.known, *self._known, *form.more, self.places, base, *rooms, target, given, out)
            proven = form.proves and outcome == COLLIDES
        if outcome != REACHED and not proven:
            return self._search_further(target, start, seed, tries, base, rooms, out)
        self._free_rooms.append(rooms)
        return self._found(target, outcome, proven, pose, given, out)

    def _descend(
        self, target: FloatArray, rooms: Any, base: FloatArray, seed: int, tries: int, given: bool, out: FloatArray
    ) -> tuple[int, FloatArray]:
        """Search from a start and from others; return how that ended, and the poses kept that touch something."""
        kept = np.empty(KEPT * self.chain.values)
        aim = target if self.turn is None else self.spun(target)
        known = self.codes, self.known, *self._known, self.places, base
        return free_search_one(*known, *rooms, kept, aim, seed, tries, given, out), kept

    def _found(
        self, target: FloatArray, outcome: int, proven: bool, pose: Any, given: bool, out: FloatArray
    ) -> FreeFound:
        solution: FreeFound = NEW(FreeFound)
        known = solution.__dict__
        known["prepared"], known["out"] = self, out
        if outcome != REACHED:
            known["outcome"], known["success"] = outcome, False
        if proven:
            known["proven"] = True
        values = out[self._values_at]
        known["q"] = values if self._plain else self.pose(values, pose)
        if self.turn is not None:
            known["target"] = target.copy()
        if not given:
            known["start"] = self.rest
        elif not self.whole:
            known["start"] = np.array(pose)
        return solution

    def _search_further(
        self, target: FloatArray, start: Any, seed: int, tries: int, base: FloatArray, rooms: Any, out: FloatArray
    ) -> Found:
        """Return what the search finds where closed forms have nothing free, or there are none.

        Poses that reach the target and touch something are repaired; of those that cannot be, the one that is nearest
        to being free is the answer.
        """
        given, pose = start is not None, self.rest if start is None else self.checked_start(start)
        outcome, kept = self._descend(target, rooms, base, seed, min(tries, FEW), given, out)
        if outcome == INVALID:
            raise GoalError(f"the target of {self.goal.frame!r} is no rigid transform of finite numbers.")
        if outcome == COLLIDES:
            values = kept[: self.chain.values]
            hopeless = why_hopeless(self, self.put(values, base))
            if hopeless:
                out[self._values_at] = values
                found = self._found(target, outcome, True, pose, given, out)
                vars(found)["hopeless"] = hopeless
                return found
            outcome, kept = self._descend(target, rooms, base, seed, min(tries, STARTS), given, out)
        self._free_rooms.append(rooms)
        if outcome == UNSOLVED:  # no pose reaches it, as far as these starts know
            usual = Prepared._search_one(self, target, start, seed, tries)
            values = usual.out[self._values_at]
            if usual.success and not self.is_free(values, pose):
                outcome, kept, out = COLLIDES, np.array(values), usual.out
            else:
                return self._found(target, usual.outcome, usual.proven, pose, given, usual.out)
        if outcome == COLLIDES:
            outcome = self._repaired(target, kept, base, out)
        return self._found(target, outcome, False, pose, given, out)

    def _repaired(self, target: FloatArray, kept: FloatArray, base: FloatArray, out: FloatArray) -> int:
        """Write a free pose that repairs one of those kept, or the one nearest to being free; return how it ended."""
        values, aim = self.chain.values, target if self.turn is None else self.spun(target)
        looked = max(int(REPORT.view(out[self.answer.report]).starts), 1)
        poses = kept.reshape(-1, values)[:looked]
        room = np.zeros(repair_room(self.scene.codes, self.rows, values))
        known = self.codes, self.numbers, *self._known, self.places, self.moves, base
        outcome = free_repair_one(*known, room, aim, poses.reshape(-1), len(poses), out)
        if outcome == REACHED:
            return REACHED
        best = int(np.argmax(self.clearances(self.put(poses, base))))
        out[self._values_at] = poses[best]
        self.check(target[None], out[self._values_at][None], out[self.answer.report][None])
        return COLLIDES

    def is_free(self, values: FloatArray, base: FloatArray) -> Any:
        """Return which of the chain's values (..., n) are free, the rest of the pose as in `base`."""
        q = self.pose(values, base)
        poses = q.reshape(-1, self.linkage.nq)
        full = np.ascontiguousarray(np.resize(poses, (max(len(poses), WIDTH), poses.shape[1])))
        found = np.zeros(len(full), np.uint8)
        free_poses(*self._known, full, NO_PLACES, np.zeros(self._check_room), found)
        return found[: len(poses)].reshape(q.shape[:-1]).astype(np.bool_)

    def residuals_at(self, poses: FloatArray, report: FloatArray) -> FloatArray:
        """Return the frame's residuals at poses (..., nq), and what the clearance lacks to the margin [m]."""
        lacking = np.maximum(self.avoid.margin - self.clearances(poses.reshape(-1, self.linkage.nq)), 0.0)
        return np.concatenate([self.residuals(report), lacking.reshape(*poses.shape[:-1], 1)], axis=-1)

    def clearances(self, poses: FloatArray) -> FloatArray:
        """Return the least signed distance of poses (n, nq) from anything they avoid [m]; infinity for none."""
        records, counts = near_records(self.scene, np.ascontiguousarray(poses), np.inf, 1)
        found: FloatArray = np.where(counts > 0, NEAR.view(records[:, 0]).distance, np.inf)
        return found

    @cached_property
    def moves(self) -> NDArray[np.int64]:
        """How many of the chain's rows, from the first on, move each frame of the scene."""
        linkage, joints = self.linkage, joint_motions(self.linkage)
        free = np.ones(linkage.nv, np.bool_) if self.group is None else self.group.free
        path, _ = linkage.path_to(self.goal.frame)
        counts = {arc: sum(bool(free[motion.v]) for motion in joints[arc].motions) for arc in path}
        moved = [sum(counts.get(arc, 0) for arc in linkage.path_to(frame)[0]) for frame in self.scene.frames]
        return np.array(moved, np.int64)

    def held_at(self, pose: FloatArray) -> Prepared:
        """Return the same with the joints that stay as a pose (nq,) has them."""
        return self if self.fits(pose) else free_chain(super().held_at(pose), self.avoid)

    def nearest(self, target: ArrayLike, start: PoseLike, *, starts: int = 256) -> Solution:  # noqa: ARG002
        """Return the nearest free solution to a pose that is found, as a call does."""
        return self(target, start=start)

    def all(self, target: ArrayLike, *, start: PoseLike | None = None, windings: bool = False) -> AllPoses:  # noqa: ARG002
        """Refuse: closed forms know no obstacles."""
        raise GoalError("closed forms know no obstacles; solve_all(arm, goal, avoid=...) leaves out what collides.")

    # Many targets

    def search_free(
        self, targets: FloatArray, base: FloatArray, given: FloatArray, first: int
    ) -> tuple[FloatArray, FloatArray, NDArray[np.int64]]:
        """Return values (m, n), reports (m, 4) and status of targets (m, 4, 4), as the search for many does.

        Args:
            targets: The targets.
            base: Whole poses (m, nq), or one for all (nq,): the values outside the chain.
            given: Starts, values of the chain (m, n), or none.
            first: Number of the first target.
        """
        count, form = len(targets), self._form
        values, report = np.zeros((count, self.chain.values)), np.zeros((count, REPORT.size))
        status, bases = np.zeros(count, np.int64), self._base(base).reshape(-1)
        rooms, aims = (np.zeros(self._shape_of_room), np.zeros(self._check_room)), self.spun(targets).reshape(-1)
        answers = values.reshape(-1), report.reshape(-1), status
        if form is not None:
            known = *form.known, *self._known, *form.more, self.places, bases
            form.many(*known, *rooms, targets.reshape(-1), given.reshape(-1), *answers)
        if (status == UNSOLVED).any():
            kept = np.empty(KEPT * self.chain.values)
            known = self.codes, self.known, *self._known, self.places, bases
            free_search_many(*known, *rooms, kept, aims, given.reshape(-1), first, self.seed, FEW, *answers)
        settled = REACHED, INVALID, *((COLLIDES,) if form is not None and form.proves else ())
        for row in np.flatnonzero(~np.isin(status, settled)):
            start = base if base.ndim == 1 else base[row]
            found = self._search_one(np.array(targets[row]), start if given.size else None, self.seed, self.restarts)
            values[row], report[row], status[row] = found.out[self._values_at], found.report, found.outcome
        return values, report, status


def free_chain(prepared: Prepared, avoid: Avoid) -> FreeChain:
    """Return a prepared chain that keeps clear; it is kept with the chain, by what it avoids and by its value."""
    known: FreeChain | None = prepared.cache.find("free", avoid)
    if known is not None:
        return known
    key = avoid.world, avoid.self, avoid.margin, avoid.links
    made = prepared.cache.get("free worlds", key, lambda: FreeChain(prepared, avoid))
    return prepared.cache.get("free", avoid, lambda: made)
