"""FABRIK, forward and backward reaching (Aristidou and Lasenby 2011), for revolute and ball joints with limits.

The linkage is divided into bones, rigid bodies that each turn about one point. Going inward from the goals and then
outward from the root, every bone is turned to bring its far end as near as possible to its wanted position. Both passes
move the real joints, so their axes and limits are kept.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from ..errors import GoalError, OptionError
from ..goals import Reach
from ..goals.base import metres_per_radian
from ..kernels.fabrik import reach
from ..kernels.fabrik_layout import Goals, Skeleton, flat_skeleton, memory_size
from ..kernels.joint_step import BALL
from ..kernels.textbook_steps import FABRIK
from ..linkage.linkage import Linkage
from ..linkage.program import Motion, Motions, folded, joint_motions
from ..transforms import FloatArray
from .method import Method, shortened
from .options import Settings
from .plans import Plan
from .problem import Problem, State

COINCIDENT = 1e-9  # share of the linkage's length below which a bone has no length


@dataclass(eq=False)
class Bone:
    """A rigid body that turns about one point of its parent bone.

    Attributes:
        above: Index of the parent bone, -1 for the ground.
        offset: The point it turns about, in the frame of the parent bone, shape (3,).
        turns: Its rotations, from the parent bone outwards: three for a shoulder with three axes through one point.
        effectors: The goals whose frames it carries: number of the goal and bone_from_frame.
        inward: Indices of the bones from itself to the root.
    """

    above: int
    offset: FloatArray
    turns: list[Motion]
    effectors: list[tuple[int, FloatArray]] = field(default_factory=list)
    inward: list[int] = field(default_factory=list)


def skeleton(linkage: Linkage, frames: Sequence[str], joints: Sequence[Motions] | None = None) -> list[Bone]:
    """Return the bones that move some frames, parents first; bones of no length are joined to the next.

    Args:
        linkage: The linkage.
        frames: Names of the frames.
        joints: The motions of every arc; those of the linkage by default.
    """
    paths, joints = [linkage.path_to(frame) for frame in frames], joint_motions(linkage) if joints is None else joints
    bones: list[Bone] = []
    home: dict[int, tuple[int, FloatArray]] = {-1: (-1, np.eye(4))}  # by link: its bone and bone_from_link
    for i in sorted({arc for path, _ in paths for arc in path}):
        bone, matrix = home[linkage.parents[i]]
        for motion in joints[i].motions:
            before = matrix @ motion.before
            bones.append(Bone(bone, before[:3, 3], [replace(motion, before=before)]))
            bone, matrix = len(bones) - 1, np.eye(4)
        home[i] = (bone, matrix @ joints[i].after)
    for goal, (path, link_from_frame) in enumerate(paths):
        bone, matrix = home[path[-1]]
        if bone >= 0:
            bones[bone].effectors.append((goal, matrix @ link_from_frame))
    return _joined(bones, COINCIDENT * linkage.length)


def _joined(bones: list[Bone], tiny: float) -> list[Bone]:
    loads = [sum(b.above == i for b in bones) + len(bone.effectors) for i, bone in enumerate(bones)]
    result: list[Bone] = []
    new = {-1: -1}
    for i, bone in enumerate(bones):
        above = new[bone.above]
        if above >= 0 and loads[bone.above] == 1 and np.linalg.norm(bone.offset) <= tiny:
            result[above].turns += bone.turns
            result[above].effectors = bone.effectors
            new[i] = above
        else:
            new[i] = len(result)
            inward = [new[i], *(result[above].inward if above >= 0 else ())]
            result.append(replace(bone, above=above, turns=list(bone.turns), inward=inward))
    return result


def pack(problem: Problem, start: FloatArray, *, limited: bool) -> tuple[Any, Any]:
    """Return the `Skeleton` at a start (nq,) and the `Goals`, packed for the kernel."""
    linkage, group = problem.linkage, problem.group
    goals = [goal for goal in problem.goals if isinstance(goal, Reach)]
    frames = tuple(goal.frame for goal in goals)
    key = (frames, None if group is None else (group.key, start[~group.values].tobytes()))
    bones = linkage.cache.get("bones", key, lambda: skeleton(linkage, frames, _stiffened(problem, start)))
    turns = [turn for bone in bones for turn in bone.turns]
    starts = np.cumsum([0, *(len(bone.turns) for bone in bones)], dtype=np.int64)
    depth = np.full((len(bones), len(bones)), -1)
    holder, tool = np.full(len(goals), -1), np.tile(np.eye(4), (len(goals), 1, 1))
    weight, load, reaches = np.array([float(goal.weight) for goal in goals]), np.zeros(len(bones)), np.zeros(len(goals))
    for i, bone in enumerate(bones):
        depth[i, bone.inward] = np.arange(len(bone.inward))
        for k, matrix in bone.effectors:
            holder[k], tool[k] = i, matrix
            load[bone.inward] += weight[k]
            reaches[k] = np.linalg.norm(matrix[:3, 3]) + sum(np.linalg.norm(bones[b].offset) for b in bone.inward[:-1])
    value, rate = (np.array([getattr(turn, name) for turn in turns], np.int64) for name in "qv")
    lower, upper = linkage.lower[value], linkage.upper[value]
    if not limited:
        lower, upper = np.full(len(turns), -np.inf), np.full(len(turns), np.inf)
    lengths = [float(np.linalg.norm(bone.offset)) for bone in bones if bone.above >= 0]
    lengths += [float(np.linalg.norm(m[:3, 3])) for bone in bones for _, m in bone.effectors]
    (tools, grips), (aims, spots) = _parts(tool), _parts(np.stack([goal.target for goal in goals]))
    return Skeleton(
        count=len(bones),
        turns=len(turns),
        effectors=len(goals),
        above=np.array([bone.above for bone in bones], np.int64),
        first=starts[:-1].copy(),
        end=starts[1:].copy(),
        depth=depth,
        offset=np.array([bone.offset for bone in bones], np.float64).reshape(-1, 3),
        value=value,
        rate=rate,
        before=np.array([turn.before[:3, :3] for turn in turns], np.float64).reshape(-1, 3, 3),
        axis=np.array([_axis(turn) for turn in turns], np.float64).reshape(-1, 3),
        low=lower,
        high=upper,
        holder=holder,
        tool=tools,
        grip=grips,
    ), Goals(
        coordinates=np.array([int((goal.rows < 3).sum()) for goal in goals]),
        oriented=np.array([int(goal.rows[-1] >= 3) for goal in goals]),
        aim=aims,
        spot=spots,
        weight=weight,
        reach=reaches,
        load=load,
        size=float(np.mean(lengths)) if any(lengths) else 1.0,
        radius=metres_per_radian(linkage),
    )


def _stiffened(problem: Problem, start: FloatArray) -> Sequence[Motions]:
    """Return the motions of every arc; joints outside the problem's group are fixed at their start values."""
    joints, group = joint_motions(problem.linkage), problem.group
    return joints if group is None else [folded(run, group.free, start) for run in joints]


def _axis(turn: Motion) -> FloatArray:
    """Return the axis of a rotation, times its multiplier; zero for a ball, which turns about any axis."""
    return np.zeros(3) if turn.kind == BALL else turn.multiplier * np.eye(3)[turn.axis]


def _parts(matrices: FloatArray) -> tuple[FloatArray, FloatArray]:
    return np.ascontiguousarray(matrices[:, :3, :3]), np.ascontiguousarray(matrices[:, :3, 3])


def _skeletons(problem: Problem, q: FloatArray, *, limited: bool) -> list[tuple[slice, tuple[Any, Any]]]:
    """Return a skeleton for all poses (n, nq) or, if held joints may differ, one for each; with their rows."""
    if problem.group is None or len(q) == 1:
        return [(slice(None), pack(problem, q[0], limited=limited))] if len(q) else []
    return [(slice(k, k + 1), pack(problem, pose, limited=limited)) for k, pose in enumerate(q)]


@dataclass(frozen=True)
class Fabrik(Method):
    """Forward and backward reaching: bones follow their goals inward, then their root outward.

    A revolute joint leaves little choice, and what is best for the next point may be bad for all later ones. So a bone
    considers all points that it carries, with weights that fall by a factor from one to the next. Near the edge of
    reach the plain method converges slowly, so it also aims beyond the goal. All pairs of both factors are tried and
    the best is taken; for positions alone, the first that is good. A single trial, ``foresight=0`` and ``overshoot=0``,
    is the plain method of the paper: as good in a plane and for chains of balls, but with revolute joints in space it
    usually gets stuck.

    Args:
        foresight: Factor, or factors to try, from 0 (the next point only) to 1 (all points alike).
        overshoot: How far to aim beyond the goal, as a multiple of the remaining distance, or multiples to try.
    """

    foresight: float | Sequence[float] = (0.0, 0.5, 1.0)
    overshoot: float | Sequence[float] = (0.0, 2.0, 8.0, 50.0)
    name: ClassVar[str] = "fabrik"
    iterations: ClassVar[int] = 200
    patience: ClassVar[int] = 20

    def __post_init__(self) -> None:
        for name, top in (("foresight", 1.0), ("overshoot", 1e6)):
            value = getattr(self, name)
            try:
                numbers = np.atleast_1d(np.asarray(value, np.float64))
            except (TypeError, ValueError):
                numbers = np.array([math.nan])
            if numbers.ndim != 1 or not len(numbers) or not ((numbers >= 0.0) & (numbers <= top)).all():
                raise OptionError(f"{name} is a number from 0 to {top:g}, or several of them, got {value!r}.")

    @property
    def careful(self) -> bool:
        return False

    def check(self, problem: Problem) -> None:
        linkage = problem.linkage
        for goal in problem.goals:
            if not isinstance(goal, Reach):
                raise GoalError(f"method 'fabrik' supports Reach goals only, got {type(goal).__name__}; use 'damped'.")
            if goal.partial:
                raise GoalError(f"method 'fabrik' cannot bring frame {goal.frame!r} with {goal.partial}: use 'damped'.")
            for i in linkage.path_to(goal.frame)[0]:
                arc, rates = linkage.arcs[i], linkage.drives[i].rates
                if problem.group is not None and not problem.group.free[rates].any():
                    continue
                others = [e.kind for e in arc.articulation.elements if e.kind not in ("revolute", "ball")]
                if arc.mimic is None and not others:
                    continue
                what = f"is {arc.articulation.kind}" if arc.mimic is None else f"follows {arc.mimic.joint!r}"
                instead = "'ccd' or 'damped'" if arc.mimic is None and "screw" not in others else "'damped'"
                raise GoalError(
                    f"method 'fabrik' supports revolute, universal and ball joints; joint {arc.name!r} on the way to "
                    f"frame {goal.frame!r} {what}: use {instead}."
                )

    @property
    def _trials(self) -> FloatArray:
        """All pairs of foresight and overshoot to try."""
        return np.array(
            [(f, o) for o in np.atleast_1d(self.overshoot) for f in np.atleast_1d(self.foresight)], np.float64
        )

    def plan(self, problem: Problem, settings: Settings) -> Plan | None:
        if problem.group is not None:  # bones then depend on the held joints of each start
            return None
        bones, goals = pack(problem, problem.linkage.neutral(), limited=settings.keeps_limits)
        places, figures = flat_skeleton(bones, goals, self._trials)
        pairs, work = self._trials.tolist(), 12 * bones.effectors + memory_size(bones)
        names = ("foresight", "overshoot")
        notes = lambda k: {n: np.array(x) for n, x in zip(names, pairs[int(k)], strict=True)}  # noqa: E731
        return Plan(FABRIK, places=places, figures=figures, work=work, notes=notes)

    def propose(self, state: State, settings: Settings) -> FloatArray:
        linkage, trials = state.linkage, self._trials
        q = np.ascontiguousarray(state.q.reshape(-1, linkage.nq))
        change, chosen = np.zeros((len(q), linkage.nv)), np.zeros(len(q), np.int64)
        goals_now = state.problem.goals
        if state.memory.get("goals") is not goals_now:  # each frame of a track has its own goals
            skeletons = _skeletons(state.problem, q, limited=settings.limits != "ignore")
            state.memory.update(goals=goals_now, skeletons=skeletons)
        for rows, (bones, goals) in state.memory["skeletons"]:
            reach(bones, goals, q[rows], trials, np.empty(memory_size(bones)), change[rows], chosen[rows])
        state.notes["foresight"], state.notes["overshoot"] = trials[chosen].T
        return shortened(change, settings.max_step).reshape(*state.q.shape[:-1], linkage.nv)
