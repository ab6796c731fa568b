"""A prepared chain that avoids collisions with a world and with itself: it finds poses that are collision-free.

Closed forms give candidates first, then the search. If all of them collide, they are moved along the chain's
self-motion. A solution is a success only if its clearance, computed from the returned pose, is at least the margin.
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

HAIR = 1e-9  # added to the margin [m]: clearances computed by kernels and by Python may differ by rounding
STARTS, FEW = 2048, 64  # starts of the search after closed forms; FEW before hopeless goals are detected
ONLY_START = 0
NO_PLACES = np.zeros(0, np.int64)


class FreeChain(Prepared):
    """Collision-free inverse kinematics of one frame: call it with a target.

    Otherwise it is the same as the prepared chain that it is made from, and shares its packed arrays.

    Attributes:
        avoid: What to keep clear of.
        scene: The same, packed for the kernels.
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
        """The closed form that gives candidates, with its kernels."""
        return free_form(self)

    @cached_property
    def _shape_of_room(self) -> tuple[int, int]:
        form = self._form
        return self._room if form is None else max(self._room, form.room)

    def _base(self, pose: FloatArray) -> FloatArray:
        """Return a pose (nq,) with the values outside the chain within limits, as in results."""
        return np.ascontiguousarray(self.put(self.chain.values_of(pose), pose))

    def _take_rooms(self) -> tuple[FloatArray, FloatArray]:
        """Return buffers for the exclusive use of this call, until it returns them."""
        try:
            return self._free_rooms.pop()
        except IndexError:
            return np.zeros(self._shape_of_room), np.zeros(self._check_room)

    def _search_one(self, target: FloatArray, start: PoseLike | None, seed: int, tries: int) -> Found:
        """Return a collision-free pose for a contiguous target; see `Prepared`. This code is optimised for speed."""
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
            if form is None or not form.nearest:  # first the pose that a continuous motion reaches
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
        """Search from a start and from others; return the outcome, and the colliding poses that were kept."""
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
        """Return the result of the search, if closed forms gave no collision-free pose or there are none.

        Poses that reach the target but collide are repaired. If none can be, the one with the largest clearance is
        returned.
        """
        given, pose = start is not None, self.rest if start is None else self.checked_start(start)
        outcome, kept = self._descend(target, rooms, base, seed, min(tries, FEW), given, out)
        if outcome == INVALID:
            raise GoalError(f"the target of {self.goal.frame!r} is not a finite rigid transform.")
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
        if outcome == UNSOLVED:  # no pose that reaches it was found from these starts
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
        """Write a pose repaired from a kept one, or the kept one with the largest clearance; return the outcome."""
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
        """Return which of the chain's values (..., n) are collision-free, with the other joints as in `base`."""
        q = self.pose(values, base)
        poses = q.reshape(-1, self.linkage.nq)
        full = np.ascontiguousarray(np.resize(poses, (max(len(poses), WIDTH), poses.shape[1])))
        found = np.zeros(len(full), np.uint8)
        free_poses(*self._known, full, NO_PLACES, np.zeros(self._check_room), found)
        return found[: len(poses)].reshape(q.shape[:-1]).astype(np.bool_)

    def residuals_at(self, poses: FloatArray, report: FloatArray) -> FloatArray:
        """Return the frame's residuals at poses (..., nq), and by how much clearances are below the margin [m]."""
        lacking = np.maximum(self.avoid.margin - self.clearances(poses.reshape(-1, self.linkage.nq)), 0.0)
        return np.concatenate([self.residuals(report), lacking.reshape(*poses.shape[:-1], 1)], axis=-1)

    def clearances(self, poses: FloatArray) -> FloatArray:
        """Return the smallest signed distance of poses (n, nq) to anything they avoid [m]; infinity for none."""
        records, counts = near_records(self.scene, np.ascontiguousarray(poses), np.inf, 1)
        found: FloatArray = np.where(counts > 0, NEAR.view(records[:, 0]).distance, np.inf)
        return found

    @cached_property
    def moves(self) -> NDArray[np.int64]:
        """The number of the chain's rows, counted from the first, that move each frame of the scene."""
        linkage, joints = self.linkage, joint_motions(self.linkage)
        free = np.ones(linkage.nv, np.bool_) if self.group is None else self.group.free
        path, _ = linkage.path_to(self.goal.frame)
        counts = {arc: sum(bool(free[motion.v]) for motion in joints[arc].motions) for arc in path}
        moved = [sum(counts.get(arc, 0) for arc in linkage.path_to(frame)[0]) for frame in self.scene.frames]
        return np.array(moved, np.int64)

    def held_at(self, pose: FloatArray) -> Prepared:
        """Return the same solver with the held joints at their values in a pose (nq,)."""
        return self if self.fits(pose) else free_chain(super().held_at(pose), self.avoid)

    def nearest(self, target: ArrayLike, start: PoseLike, *, starts: int = 256) -> Solution:  # noqa: ARG002
        """Return the nearest collision-free solution to a pose that a call finds."""
        return self(target, start=start)

    def all(self, target: ArrayLike, *, start: PoseLike | None = None, windings: bool = False) -> AllPoses:  # noqa: ARG002
        """Raise an error: closed forms ignore obstacles."""
        raise GoalError("closed forms ignore obstacles; solve_all(arm, goal, avoid=...) omits poses that collide.")

    # Many targets

    def search_free(
        self, targets: FloatArray, base: FloatArray, given: FloatArray, first: int
    ) -> tuple[FloatArray, FloatArray, NDArray[np.int64]]:
        """Return values (m, n), reports (m, 4) and status of targets (m, 4, 4), like the search for many targets.

        Args:
            targets: The targets.
            base: Whole poses (m, nq), or one for all (nq,), with the values outside the chain.
            given: Starts, values of the chain (m, n), or empty.
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
    """Return a collision-free version of a prepared chain; it is cached with the chain, by object and by value."""
    known: FreeChain | None = prepared.cache.find("free", avoid)
    if known is not None:
        return known
    key = avoid.world, avoid.self, avoid.margin, avoid.links
    made = prepared.cache.get("free worlds", key, lambda: FreeChain(prepared, avoid))
    return prepared.cache.get("free", avoid, lambda: made)
