"""The compiled search for a frame and a kind of goal, packed once; used by control loops, batches and `robust`.

Use `prepare` to create one.
"""

from __future__ import annotations

import time
from copy import copy
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import GoalError, OptionError
from ..goals import Avoid, Reach
from ..kernels import chain_memory as memory
from ..kernels.rooms import new_room, zero_room
from ..kernels.search_many import INVALID, REACHED, UNSOLVED, room, search_many
from ..kernels.search_one import Answer, pack, search_one
from ..linkage.linkage import Linkage
from ..linkage.poses import PoseLike, start_pose
from ..transforms import FloatArray, inverse
from .chain import Chain, stiff_base, stiff_places
from .chain_closest import NO_STARTS, bring_closer
from .chain_forms import FormedChain
from .chain_nearest import AllPoses, nearest_solution
from .chain_packing import WIDTHS
from .chain_solution import Found
from .chain_step import ChainStep, Follower, is_ready
from .groups import Group, within_limits
from .options import Settings
from .solution import Solution
from .step import check_cycle

RESTARTS = 2000
TURN = 2.0 * np.pi
ROUND = 64  # number of starts before the first check of the clock
FLOAT64, SQUARE = np.dtype(np.float64), (4, 4)
ARRAY, EMPTY = np.ndarray, np.empty
NEW = object.__new__  # filling in a solution by hand takes half the time of a constructor


class Prepared(FormedChain):
    """Prepared inverse kinematics of one frame: call it with a target.

    Attributes:
        goal: A goal of the prepared kind; its target is ignored.
        chain: The joints that move the frame.
        settings: Tolerances and limits.
        restarts: Largest number of starts for one target.
        seed: Seed of the random starts.
        group: The joints that may move, or None for all of them.
        rest: The pose of the other joints if no start is given.
        avoid: What to keep clear of; always None in this class.
    """

    avoid: Avoid | None = None

    def __init__(
        self,
        linkage: Linkage,
        goal: Reach,
        settings: Settings,
        *,
        restarts: int,
        seed: int,
        group: Group | None = None,
        rest: FloatArray | None = None,
    ) -> None:
        if goal.ranges is not None:
            raise GoalError(
                f"the search for {goal.frame!r} alone does not support ranges; solve(...) and prepare(arm, [goal]) do."
            )
        self.linkage, self.restarts, self.seed = linkage, restarts, seed
        self.group, self.rest = group, linkage.neutral() if rest is None else np.array(rest)
        self.stiff = None if group is None else stiff_places(linkage, goal.frame, group)
        self.base = None if group is None else stiff_base(linkage, goal, group)
        super().__init__(Chain(linkage, goal.frame, goal.free, group, self.rest), goal, settings)
        self.numbers = self.packed(np.float64)
        self.search_settings = memory.SETTINGS.view(self.numbers[: memory.SETTINGS.size])
        inside, outside = self.chain.plain
        self.whole = (
            not self.chain.balls and np.array_equal(outside, np.arange(linkage.nq)) and len(inside) == linkage.nq
        )
        limits = memory.LIMITS.view(self.chain.limits)
        self.open = np.flatnonzero(np.isinf(limits.lower) & np.isinf(limits.upper) & self.chain.turning)
        self.open_places = outside[np.isin(inside, self.open)]
        self._plain = self.whole and not len(self.open)
        self.rows = len(self.codes) // memory.CODE.size
        self.answer = answer = Answer(self.rows, self.chain.values)
        self._size, self._room, self._start_at, self._values_at = answer.size, answer.room, answer.start, answer.values
        self.known = pack(self.numbers, self.starts(np.float64))
        self._rooms: list[FloatArray] = []
        self._shape = (linkage.nq,)
        self._resting = b"" if self.stiff is None else self.rest[self.stiff].tobytes()
        loose = np.ones(linkage.nq, np.bool_) if group is None else group.values.copy()
        loose[outside] = False
        for _, q in self.chain.balls:
            loose[q : q + 4] = False
        self.strays = settings.keeps_limits and bool(loose.any())

    def __repr__(self) -> str:
        return f"<Prepared {self.goal.frame!r} of {self.linkage.name!r}: {self.chain.values} values>"

    @cached_property
    def follower(self) -> Follower:
        """The chain in a control loop."""
        follower = Follower(self)
        if self.avoid is not None:
            from .clear_step import ClearFollower  # only needed with obstacles

            follower.clear = ClearFollower(follower, self.avoid)
        return follower

    # One target

    def __call__(self, target: ArrayLike, *, start: PoseLike | None = None, stay: bool = False) -> Solution:
        """Return the solution that brings the frame to a target, or the closest pose found.

        Args:
            target: A 4x4 matrix; a position (3,) or a 3x3 rotation if the solver was prepared for only that.
            start: Start pose: an array (nq,), the name of a stored pose, or values by joint. With a closed form, the
                result is the solution nearest to it, otherwise one nearby. Joints that do not move the frame keep its
                values. Without a start, the result may be any solution.
            stay: Never jump: follow a continuous motion from the start, on its branch, with no joint turned by more
                than 0.49 rad. If that does not reach the target, the solve fails, with status ``following`` if further
                calls from the result come nearer, else ``held``. Needs a start.

        Example:
            >>> import linkwork as lw
            >>> arm = lw.models.panda()
            >>> ik = lw.prepare(arm, "tip")
            >>> ik(arm.forward(arm.stored_pose("ready"), frame="tip")).success
            True
        """
        aim: Any = target
        if target.__class__ is not ARRAY or aim.shape != SQUARE:
            aim = self.as_target(target)
        try:
            return self.stay(aim, start) if stay else self._search_one(aim, start, self.seed, self.restarts)
        except TypeError:  # kernels raise for arrays of another type or order, so that valid ones need no check
            if is_ready(aim):
                raise
        return self(self.as_target(target), start=start, stay=stay)

    def stay(self, target: FloatArray, start: PoseLike | None) -> Solution:
        """Return the solution that a continuous motion from a start reaches; see `stay` in a call."""
        if start is None:
            raise OptionError("stay=True keeps to the branch of a start; give start=, the pose to go on from.")
        pose: Any = start if self._is_pose(start) else self.checked_start(start)
        follower = self.follower if self.stiff is None else self.held_at(pose).follower
        return follower.stay(target, pose)

    def step(
        self, target: ArrayLike, q: PoseLike, dt: float, *, velocity: ArrayLike | None = None, scale: float = 1.0
    ) -> ChainStep:
        """Return the next pose of a control loop: one cycle towards a target, without a jump.

        No joint moves by more than its velocity limit times `dt`; one without such a limit turns by at most 0.25 rad,
        or slides by a sixteenth of the chain's length. Limits are kept, singularities are passed slowly, and if the
        target is out of reach the chain comes as near as it can without a jump.

        Args:
            target: As for a call.
            q: The current pose, or the step before. A step also holds the current motion, which is continued where
                possible, so that the chain passes smoothly through poses where branches meet.
            dt: Duration of a cycle [s].
            velocity: Speed limits [rad/s, m/s], one for all joints or one for each velocity; those of the linkage by
                default.
            scale: Factor on the speed limits: 0.5 moves at half the allowed speed.

        Returns:
            A `Step`: the pose `q`, a `status` and numbers. It can be used in place of its pose, as below.

        Example:
            >>> import linkwork as lw
            >>> arm = lw.models.panda()
            >>> ik, q = lw.prepare(arm, "tip"), arm.stored_pose("ready")
            >>> target = arm.forward(q, frame="tip")
            >>> target[2, 3] += 0.05
            >>> for _ in range(20):
            ...     q = ik.step(target, q, dt=0.01)
            >>> q.status
            'reached'
        """
        check_cycle(dt)
        aim: Any = target
        if target.__class__ is not ARRAY or aim.shape != SQUARE:
            aim = self.as_target(target)
        last: Any = q if isinstance(q, ChainStep) else None
        pose: Any = q if last is None else last.q
        if not self._is_pose(pose):
            pose = self.checked_start(pose)
        follower = self.follower if self.stiff is None else self.held_at(pose).follower
        pace = follower.own if velocity is None and scale == 1.0 else follower.pace(velocity, scale)
        try:
            return follower.step(aim, pose, pace, float(dt), last)
        except TypeError:  # see `__call__`
            if is_ready(aim):
                raise
        return self.step(self.as_target(target), q, dt, velocity=velocity, scale=scale)

    def nearest(self, target: ArrayLike, start: PoseLike, *, starts: int = 256) -> Solution:
        """Return the solution nearest to a pose, of those found from many `starts`; more thorough than a call."""
        pose, aim = self.checked_start(start), self.as_target(target)
        if not self.fits(pose):
            return self.held_at(pose).nearest(aim, pose, starts=starts)
        return nearest_solution(self, aim, pose, starts)

    def all(self, target: ArrayLike, *, start: PoseLike | None = None, windings: bool = False) -> AllPoses:
        """Return all poses that bring the frame to a target, by the chain's closed form.

        The result is complete; if there is no solution, `evidence` says why. A chain without a closed form raises
        `GoalError`; see `closed_form` and `solve_all`.

        Args:
            target: A 4x4 matrix.
            start: A pose: the solution nearest to it comes first. Joints that do not move the frame keep its values.
            windings: Whether to list copies that differ by whole turns, all within limits.

        Example:
            >>> import linkwork as lw
            >>> arm = lw.models.ur5()
            >>> ik = lw.prepare(arm, "tip")
            >>> len(ik.all(arm.forward([0.3, -1.0, 1.2, -0.8, 0.9, 0.4], frame="tip")))
            8
        """
        form = self.form
        if not form:
            raise GoalError(f"no closed form gives all solutions. {form} solve_all(arm, goal) searches for them.")
        base: Any = self.rest if start is None else start
        if start is not None and not self._is_pose(start):
            base = self.checked_start(start)
        if self.stiff is not None and not self.fits(base):
            return self.held_at(base).all(target, start=start, windings=windings)
        given = None if start is None else self.chain.values_of(base)
        answers: Any = form
        found = NEW(AllPoses)
        found.answers = answers.all(target, start=given, windings=windings, limits=self.settings.limits)
        found.prepared, found.base = self, base
        return found

    def solve_within(self, seconds: float, target: FloatArray, *, start: PoseLike | None = None) -> Solution:
        """Return the solution for a target (4, 4), or the closest pose found in time.

        The compiled search cannot be interrupted, so it is repeated with twice as many starts each time. They are the
        same starts in the same order: a solution found in time is the one that `solve` finds.
        """
        deadline, tries = time.perf_counter() + seconds, min(ROUND, self.restarts)
        while True:
            began = time.perf_counter()
            solution = self._search_one(np.array(target), start, self.seed, tries)
            if solution.success or solution.starts < tries or tries == self.restarts:
                return solution
            now = time.perf_counter()
            if now + 2.0 * (now - began) > deadline:  # the next round would end too late
                solution.__dict__["outcome"] = UNSOLVED
                return solution
            tries = min(2 * tries, self.restarts)

    def solve(self, target: FloatArray, *, start: PoseLike | None = None) -> Found:
        """Return the solution for a target (4, 4), which may be read-only."""
        return self._search_one(np.array(target), start, self.seed, self.restarts)

    def _search_one(self, target: FloatArray, start: PoseLike | None, seed: int, tries: int) -> Found:
        """Return the solution for a contiguous target. Control loops call this, so it is optimised for speed."""
        answering, outcome, proven = self._answering, UNSOLVED, False  # first: it may enlarge the room
        out = EMPTY(self._size)
        try:
            room = self._rooms.pop()  # exclusive to this call until it is returned
        except IndexError:
            room = new_room(self._room)
        given = start is not None
        if given:
            pose: Any = start
            if start.__class__ is not ARRAY or pose.dtype is not FLOAT64 or pose.shape != self._shape:
                pose = self.checked_start(start)
            if self.stiff is not None and not self.fits(pose):
                return self._elsewhere(target, pose, seed, tries)
            out[self._start_at] = pose if self.whole else self.chain.values_of(pose)
        aim = target if self.turn is None else self.spun(target)
        if answering is not None and (answering.proves or not given):
            outcome = answering.one(*answering.known, room, aim, given, out)
            proven = outcome != UNSOLVED and answering.proves
        elif given and self._eliminate is not None and self._eliminate(aim, out):
            outcome = REACHED
        if outcome == UNSOLVED:
            few = tries if answering is None else min(tries, answering.edge_starts)
            outcome = search_one(self.codes, self.known, room, aim, seed, few, given, out)
            if given and outcome == REACHED and answering is not None and answering.known_nearer is not None:
                answering.nearer(*answering.known_nearer, room, aim, out)
        self._rooms.append(room)
        solution: Found = NEW(Found)
        known = solution.__dict__
        if outcome != REACHED:
            if outcome == INVALID:
                raise GoalError(f"the target of {self.goal.frame!r} is not a finite rigid transform.")
            if outcome == UNSOLVED:
                self.checked_start(start)  # raises a clear error for an invalid start
            outcome = self._closest_one(aim, outcome, given, out)
            known["outcome"], known["success"] = outcome, outcome == REACHED  # else class defaults
        known["prepared"], known["out"] = self, out
        if proven:
            known["proven"] = True
        values = out[self._values_at]
        known["q"] = values if self._plain else self.pose(values, pose if given else self.rest)
        if self.turn is not None:
            known["target"] = target.copy()
        if not given:
            known["start"] = self.rest
        elif not self.whole:
            known["start"] = np.array(pose)
        return solution

    def fits(self, pose: FloatArray) -> bool:
        """Return whether the held joints that lead to the frame have the same values in a pose as here."""
        return self.stiff is None or pose[self.stiff].tobytes() == self._resting

    def _elsewhere(self, target: FloatArray, pose: FloatArray, seed: int, tries: int) -> Found:
        """Return the solution for other values of held joints; if these only carry the rest, transform the target."""
        if self.base is None:
            return self.held_at(pose)._search_one(target, pose, seed, tries)
        here, place = pose.copy(), self.stiff
        here[place] = self.rest[place]
        moved = self._rest_base @ inverse(self.linkage.forward(pose, frame=self.base))
        solution = self._search_one(np.ascontiguousarray(moved @ target), here, seed, tries)
        known = solution.__dict__
        known["q"][place], known["start"], known["target"] = pose[place], np.array(pose), np.array(target)
        return solution

    @cached_property
    def _rest_base(self) -> FloatArray:
        """Pose of the link that carries the moving joints, with held joints at rest."""
        return self.linkage.forward(self.rest, frame=str(self.base))

    def held_at(self, pose: FloatArray) -> Prepared:
        """Return the same solver with the held joints at their values in a pose (nq,); it is cached on the linkage."""
        if self.fits(pose):
            return self
        given = self.linkage, self.goal, self.settings, self.restarts, self.seed
        return prepared_for(*given, self.group, pose)

    def resting_at(self, pose: FloatArray) -> Prepared:
        """Return the same solver with held joints, and joints outside the chain, at their values in a pose (nq,)."""
        held = self.held_at(pose)
        if held.whole:
            return held
        own = copy(held)
        own.rest = np.array(pose)
        return own

    def _closest_one(self, aim: FloatArray, outcome: int, given: bool, out: FloatArray) -> int:
        """Bring the pose of a missed target as close as possible; return the outcome."""
        status, answer = np.array([outcome]), self.answer
        start = out[answer.start] if given else NO_STARTS
        bring_closer(self, aim, status, out[answer.values], out[answer.report], given=start, alone=True)
        return int(status[0])

    def _is_pose(self, start: Any) -> bool:
        """Return whether a start is a valid array in double precision, so that it needs no check in Python."""
        return start.__class__ is np.ndarray and start.dtype is FLOAT64 and start.shape == self._shape

    def checked_start(self, start: PoseLike | None) -> FloatArray:
        """Return the start pose of a solve; raise an error if it is not valid."""
        pose = start_pose(self.linkage, start)
        if pose.ndim != 1:
            raise OptionError(f"one target takes one start of shape ({self.linkage.nq},), got shape {pose.shape}.")
        return pose

    def put(self, values: FloatArray, base: FloatArray) -> FloatArray:
        """Return whole poses from the chain's values, with the other joints as in `base`."""
        q = self.chain.put(values, np.array(np.broadcast_to(base, (*values.shape[:-1], self.linkage.nq))))
        if self.strays:  # joints outside the chain may start beyond their limits
            q = within_limits(self.linkage, q, self.group)
        return q

    def pose(self, values: FloatArray, base: FloatArray) -> FloatArray:
        """Return whole poses from the chain's values: unlimited angles within half a turn of those of `base`."""
        if self._plain:
            return values
        q = values.copy() if self.whole else self.put(values, base)  # the search has kept the limits of a whole pose
        if len(self.open_places):
            there = q[..., self.open_places]
            turns = np.rint((there - base[..., self.open_places]) / TURN)
            q[..., self.open_places] = there - TURN * turns
        return q

    # Many targets

    def search_free(
        self, targets: FloatArray, base: FloatArray, given: FloatArray, first: int
    ) -> tuple[FloatArray, FloatArray, NDArray[np.int64]]:
        """Return values, reports and status of targets with collision avoidance; implemented by `FreeChain`."""
        raise NotImplementedError

    def search(
        self,
        targets: FloatArray,
        status: NDArray[np.int64],
        *,
        given: FloatArray = NO_STARTS,
        first: int = 0,
        dtype: Any = np.float64,
        restarts: int | None = None,
        bounded: bool = False,
        leave: bool = False,
    ) -> tuple[FloatArray, FloatArray]:
        """Return values (m, n) and reports (m, 4) for targets (m, 4, 4) whose status is 0; their status is written.

        With `bounded`, goals out of reach are given up early; with `leave` too, they are only marked.
        """
        count, values, kind = len(status), self.chain.values, np.dtype(dtype)
        poses, report = np.zeros((count, values)), np.zeros((count, memory.REPORT.size))
        answering = self._answering if restarts is None else None
        if answering is not None and (answering.near_starts or not given.size):
            answering.many(targets, given, poses, report, status, leave=leave)
            if not (status == UNSOLVED).any():
                return poses, report
            restarts = int(min(self.restarts, answering.edge_starts))
            if answering.edge_starts_of_many is not None and not given.size:
                restarts, given = min(restarts, answering.edge_starts_of_many), poses.copy()
        lanes, books, state = room(self.rows, values, WIDTHS[kind])
        short, last = self._first_tries if restarts is None else 0, self.restarts if restarts is None else restarts
        for tries in (short, last) if short else (last,):
            search_many(
                self.codes,
                self.packed(kind, bounded=bounded),
                self.starts(kind),
                self.spun(targets).reshape(-1),
                given.reshape(-1),
                first,
                self.seed,
                tries,
                leave,
                zero_room(lanes, kind),
                np.zeros(books),
                np.full(state, -1, np.int64),
                poses.reshape(-1),
                report.reshape(-1),
                status,
            )
            if short and tries == short and kind == FLOAT64:
                self._settle(targets, given, poses, report, status)
            if not (status == UNSOLVED).any():
                break
        return poses, report

    def candidates(
        self, target: FloatArray, count: int, *, first: int = 0, base: FloatArray | None = None
    ) -> FloatArray:
        """Return the poses (k, nq) reached from `count` random starts; many may be the same.

        Joints outside the chain have their values in `base`.
        """
        generator = np.random.default_rng([self.seed, first])
        given = self.chain.spread(generator.random((count, self.chain.values)))
        status = np.zeros(count, np.int64)
        values, _ = self.search(np.tile(target, (count, 1, 1)), status, given=given, restarts=0)
        return self.pose(values[status == REACHED], self.rest if base is None else base)


def prepared_for(
    linkage: Linkage,
    goal: Reach,
    settings: Settings,
    restarts: int,
    seed: int,
    group: Group | None = None,
    rest: FloatArray | None = None,
) -> Prepared:
    """Return the prepared solver for goals of one kind; it is cached on the linkage.

    With a group, `rest` is the pose of held joints that move the frame; the neutral pose by default. The pose of other
    joints is not stored; see `Prepared.resting_at`.
    """
    ignored = settings.limits == "ignore"
    key: Any = (goal.signature, settings.tolerance, settings.rotation_tolerance, ignored, restarts, seed)
    if group is None:
        rest = None
    else:
        rest = linkage.neutral() if rest is None else rest
        key = (*key, group.key, rest[stiff_places(linkage, goal.frame, group)].tobytes())
    return linkage.cache.find("chain", key) or linkage.cache.get(
        "chain",
        key,
        lambda: Prepared(linkage, goal, settings, restarts=max(restarts, 1), seed=seed, group=group, rest=rest),
    )
