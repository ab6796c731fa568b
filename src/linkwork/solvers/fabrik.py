"""FABRIK, forward and backward reaching (Aristidou and Lasenby 2011), for linkages with hinges and limits.

Imports `base`, `problem` and the best turn of `ccd`. The linkage is cut into bones, rigid bodies that each turn about one
point. Going inward from the goals and then outward from the root, every bone is turned so that its far end comes as near
as it can to where it should be; both ways through the real joints, so that hinges and limits hold in every pass.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from ..errors import GoalError, OptionError
from ..goals import Reach
from ..linkage import Linkage
from ..poses import advance
from ..transforms import FloatArray, axis_rotation, quaternion_matrix
from .base import Method, Settings
from .problem import Problem, State

SWEEPS = 4  # through the hinges of one point, each turned to its best in its turn
STEADY = 1e-3  # how much the present orientation counts where the points leave a turn free
FAR = 1e3  # times the length of all bones
BEND = 0.5  # [rad] at most, out of a straight line that runs through the goal
ROUND = 1e-9


@dataclass(frozen=True, eq=False)
class Turn:
    """One elementary turn of a bone.

    Attributes:
        axis: Unit axis, shape (3,); None for a ball, which turns about any.
        q: Index of its value in the pose; the first of four for a ball.
        v: Index of its velocity; the first of three for a ball.
    """

    axis: FloatArray | None
    q: int
    v: int

    def matrix(self, value: FloatArray) -> FloatArray:
        """Return the rotations (n, 3, 3) for angles (n,); a ball's value is its rotation."""
        return value if self.axis is None else axis_rotation(self.axis, value)


@dataclass(eq=False)
class Bone:
    """A rigid body that turns about one point of the bone it hangs on.

    Attributes:
        parent: Index of that bone, -1 for the ground.
        offset: The point it turns about, in the parent's frame, shape (3,).
        before: The constant rotation before each turn.
        turns: Its turns, from the parent outwards: three for a shoulder of three hinges through one point.
        children: Indices of the bones that hang on it.
        effectors: The goals whose frames it carries: number of the goal and bone_from_frame.
        inward: Indices of the bones from itself to the root.
    """

    parent: int
    offset: FloatArray
    before: list[FloatArray]
    turns: list[Turn]
    children: list[int] = field(default_factory=list)
    effectors: list[tuple[int, FloatArray]] = field(default_factory=list)
    inward: list[int] = field(default_factory=list)


def skeleton(linkage: Linkage, frames: Sequence[str]) -> list[Bone]:
    """Return the bones that move some frames, parents first; bones of no length are joined to the next."""
    paths = [path_to(linkage, frame) for frame in frames]
    bones: list[Bone] = []
    home: dict[int, tuple[int, FloatArray]] = {-1: (-1, np.eye(4))}  # of each link: its bone and bone_from_link
    for i in sorted({arc for path, _ in paths for arc in path}):
        arc, drive = linkage.arcs[i], linkage.drives[i]
        bone, matrix = home[linkage.parents[i]]
        matrix = matrix @ arc.placement
        if elements := arc.articulation.elements:
            axes = [None if e.kind == "ball" else e.axis for e in elements]
            turns = [Turn(axis, drive.q + e.value, drive.v + e.rate) for axis, e in zip(axes, elements, strict=True)]
            bones.append(Bone(bone, matrix[:3, 3], [matrix[:3, :3], *[np.eye(3)] * (len(turns) - 1)], turns))
            bone, matrix = len(bones) - 1, np.eye(4)
        home[i] = (bone, matrix)
    for goal, (path, link_from_frame) in enumerate(paths):
        bone, matrix = home[path[-1]]
        if bone >= 0:
            bones[bone].effectors.append((goal, matrix @ link_from_frame))
    return _joined(bones, ROUND * linkage.length)


def path_to(linkage: Linkage, frame: str) -> tuple[list[int], FloatArray]:
    """Return the arcs from the root to a frame, and last_link_from_frame."""
    index, placement = linkage.frame_index(frame), np.eye(4)
    if index >= len(linkage.links):
        extra = linkage.extra_frames[index - len(linkage.links)]
        index, placement = linkage.link_index(extra.link), extra.placement
    path = []
    while index >= 0:
        path.append(index)
        index = linkage.parents[index]
    return path[::-1], placement


def _joined(bones: list[Bone], tiny: float) -> list[Bone]:
    count = [sum(b.parent == i for b in bones) + len(bone.effectors) for i, bone in enumerate(bones)]
    result: list[Bone] = []
    new = {-1: -1}
    for i, bone in enumerate(bones):
        above = new[bone.parent]
        if above >= 0 and count[bone.parent] == 1 and np.linalg.norm(bone.offset) <= tiny:
            whole = result[above]
            whole.before, whole.turns, whole.effectors = (
                whole.before + bone.before,
                whole.turns + bone.turns,
                bone.effectors,
            )
            new[i] = above
        else:
            new[i] = len(result)
            result.append(replace(bone, parent=above, inward=[new[i], *(result[above].inward if above >= 0 else ())]))
            if above >= 0:
                result[above].children.append(new[i])
    return result


@dataclass(frozen=True)
class Fabrik(Method):
    """Forward and backward reaching: inward from the goals, outward from the root, each bone along the line it should lie on.

    A hinge leaves little choice, and what is best for the next point may be bad for all that follow: so a bone looks
    ahead, at all points it carries, by weights that fall by a factor from one to the next. And near the edge of reach the
    plain method creeps: so it also aims beyond the goal. Several such passes are made side by side and the best is taken.

    Args:
        foresight: Factors to try, from 0 (the next point only) to 1 (all points alike).
        overshoot: How far beyond the goal to aim, as multiples of the way still to go.

    With ``foresight=(0,)`` and ``overshoot=(0,)`` it is the method as published.
    """

    foresight: Sequence[float] = (0.0, 0.5, 1.0)
    overshoot: Sequence[float] = (0.0, 2.0, 8.0, 50.0)
    name: ClassVar[str] = "fabrik"
    iterations: ClassVar[int] = 200
    patience: ClassVar[int] = 20

    def __post_init__(self) -> None:
        for name, top in (("foresight", 1.0), ("overshoot", math.inf)):
            numbers = np.atleast_1d(np.asarray(getattr(self, name), dtype=np.float64))
            if not len(numbers) or not ((numbers >= 0.0) & (numbers <= top) & (numbers < math.inf)).all():
                raise OptionError(f"{name} takes numbers from 0 to {top:g}, at least one, got {getattr(self, name)!r}.")

    @property
    def careful(self) -> bool:
        return False

    def check(self, problem: Problem) -> None:
        linkage = problem.linkage
        for goal in problem.goals:
            if not isinstance(goal, Reach):
                raise GoalError(f"method 'fabrik' serves Reach goals only, got {type(goal).__name__}; use 'damped'.")
            for arc in (linkage.arcs[i] for i in path_to(linkage, goal.frame)[0]):
                slides = [e.kind for e in arc.articulation.elements if e.kind not in ("revolute", "ball")]
                if arc.mimic is None and not slides:
                    continue
                what = f"is {arc.articulation.kind}" if arc.mimic is None else f"follows {arc.mimic.joint!r}"
                instead = "'ccd' or 'damped'" if arc.mimic is None and "screw" not in slides else "'damped'"
                raise GoalError(
                    f"method 'fabrik' turns bones about points, by hinges, universal and ball joints; joint {arc.name!r} "
                    f"on the way to frame {goal.frame!r} {what}: use {instead}."
                )

    def propose(self, state: State, settings: Settings) -> FloatArray:
        linkage, goals = state.linkage, [goal for goal in state.problem.goals if isinstance(goal, Reach)]
        if "bones" not in state.memory:
            state.memory["bones"] = skeleton(linkage, [goal.frame for goal in goals])
        q = state.q.reshape(-1, linkage.nq)
        pairs = [(f, o) for o in np.atleast_1d(self.overshoot) for f in np.atleast_1d(self.foresight)]
        foresight, overshoot = np.repeat(np.array(pairs, dtype=np.float64).T, len(q), axis=1)
        poses = np.tile(q, (len(pairs), 1))
        reaching = Reaching(state.memory["bones"], goals, linkage, poses, settings, foresight, overshoot)
        reaching.inward()
        reaching.outward()
        change = reaching.change(settings.max_step)
        errors = state.problem.error(advance(linkage, poses, change)) * state.problem.scale
        best = (errors * errors).sum(axis=-1).reshape(len(pairs), len(q)).argmin(axis=0)
        state.notes["foresight"], state.notes["overshoot"] = np.array(pairs)[best].T
        return change.reshape(len(pairs), len(q), -1)[best, np.arange(len(q))].reshape(*state.q.shape[:-1], linkage.nv)


class Reaching:
    """One pass inward and one outward, for many problems at once.

    Where every bone stands is kept as its point (n, 3) and its rotation (n, 3, 3), three times: as the pass begins
    (`points`, `frames`), as the goals would have it (`wanted_points`, `wanted_frames`), and as the joints follow.
    """

    def __init__(
        self,
        bones: list[Bone],
        goals: list[Reach],
        linkage: Linkage,
        q: FloatArray,
        settings: Settings,
        foresight: FloatArray,
        overshoot: FloatArray,
    ) -> None:
        self.bones, self.goals, self.linkage, self.q = bones, goals, linkage, q
        self.limited, self.foresight = settings.limits != "ignore", foresight
        sizes = [float(np.linalg.norm(bone.offset)) for bone in bones if bone.parent >= 0]
        sizes += [float(np.linalg.norm(m[:3, 3])) for bone in bones for _, m in bone.effectors]
        self.size = float(np.mean(sizes)) if any(sizes) else 1.0
        self.chains = {k: bone.inward[::-1] for bone in bones for k, _ in bone.effectors}
        self.reach = {
            k: float(np.linalg.norm(m[:3, 3]) + sum(np.linalg.norm(bones[i].offset) for i in bone.inward[:-1]))
            for bone in bones
            for k, m in bone.effectors
        }
        self.values = [[self._value(turn, q) for turn in bone.turns] for bone in bones]
        self._place()
        self._loosen()
        self.aims = {k: self._beyond(k, aim, overshoot[:, None]) for k, aim in self._aims().items()}
        self.weights = [0.0] * len(bones)
        for bone in bones:
            for above in bone.inward:
                self.weights[above] += sum(goals[k].weight for k, _ in bone.effectors)

    def _value(self, turn: Turn, q: FloatArray) -> FloatArray:
        return quaternion_matrix(q[:, turn.q : turn.q + 4]) if turn.axis is None else q[:, turn.q]

    def _place(self) -> None:
        """Put every bone and effector where the values say."""
        self.points: list[FloatArray] = []
        self.frames: list[FloatArray] = []
        self.tips: dict[int, FloatArray] = {}
        for bone, values in zip(self.bones, self.values, strict=True):
            frame, point = self._base(bone, self.points, self.frames)
            frame = chained(frame, bone.before, bone.turns, values)
            self.points.append(point)
            self.frames.append(frame)
            self.tips.update({k: point + frame @ matrix[:3, 3] for k, matrix in bone.effectors})

    def _base(self, bone: Bone, points: list[FloatArray], frames: list[FloatArray]) -> tuple[FloatArray, FloatArray]:
        """Return the frame a bone hangs on and the point it turns about."""
        if bone.parent < 0:
            return np.broadcast_to(np.eye(3), (len(self.q), 3, 3)), np.broadcast_to(bone.offset, (len(self.q), 3))
        return frames[bone.parent], points[bone.parent] + frames[bone.parent] @ bone.offset

    def _aims(self) -> dict[int, FloatArray]:
        """Return where each effector should be; a coordinate that its goal leaves alone stays as it is."""
        aims = {k: tip.copy() for k, tip in self.tips.items()}
        for k, aim in aims.items():
            position = self.goals[k].position
            if position is not None:
                aim[:, : len(position)] = position
        return aims

    def _beyond(self, k: int, aim: FloatArray, overshoot: FloatArray) -> FloatArray:
        """Return a place beyond an aim, further on from the tip; one out of reach is also sought far out from the root.

        There the bones lie on one line, as in the paper; the plain passes would come to it ever more slowly.
        """
        root, reach = self.chains[k][0], self.reach[k]
        if self.goals[k].position is None:
            return aim
        ray = aim - self.points[root]
        size = np.linalg.norm(ray, axis=-1, keepdims=True)
        stretch = (overshoot == overshoot.max()) & (size >= reach * (1.0 - ROUND))
        beyond = np.where(stretch, FAR * reach / np.maximum(size, 1e-300) * ray, overshoot * (aim - self.tips[k]))
        return np.asarray(aim + beyond)

    def _loosen(self) -> None:
        """Bend the chains that lie, with their goal, on one line: no pass would move a point out of it."""
        aims = self._aims()
        bent = False
        for k, chain in self.chains.items():
            rays = np.stack([*(self.points[i] for i in chain), self.tips[k], aims[k]], axis=1)
            rays -= self.points[chain[0]][:, None]
            sizes = np.linalg.norm(rays, axis=-1)
            longest = np.take_along_axis(rays, sizes.argmax(axis=1)[:, None, None], axis=1)
            away = np.linalg.norm(np.cross(rays, longest), axis=-1).max(axis=1)
            straight = away <= ROUND * sizes.max(axis=1) ** 2
            if len(chain) > 1 and self.reach[k] > 0.0 and straight.any():
                gap = np.linalg.norm(aims[k] - self.tips[k], axis=-1)
                bend = np.sqrt(24.0 * gap / self.reach[k]) / len(chain)  # an arc that is shorter by the gap
                self._bend(chain, np.where(straight, np.minimum(bend, BEND), 0.0))
                bent = True
        if bent:
            self._place()

    def _bend(self, chain: list[int], angles: FloatArray) -> None:
        """Turn the joints of a chain by small angles (n,), the other way where a limit is too near."""
        for i in chain:
            for k, turn in enumerate(self.bones[i].turns):
                value = self.values[i][k]
                if turn.axis is None:
                    self.values[i][k] = value @ axis_rotation(np.array([0.36, 0.48, 0.8]), angles)
                else:
                    low, high = self._range(turn, value)
                    self.values[i][k] = value + np.where(angles <= high, angles, np.maximum(-angles, low))

    def _range(self, turn: Turn, value: FloatArray) -> tuple[FloatArray, FloatArray]:
        if not self.limited:
            return np.full_like(value, -np.inf), np.full_like(value, np.inf)
        return self.linkage.lower[turn.q] - value, self.linkage.upper[turn.q] - value

    # Inward

    def inward(self) -> None:
        """Put the effectors on their goals and draw the bones after them, the root last."""
        count = len(self.bones)
        self.wanted_points: list[Any] = [None] * count
        self.wanted_frames: list[Any] = [None] * count
        for i in reversed(range(count)):
            bone = self.bones[i]
            pinned = [(k, matrix) for k, matrix in bone.effectors if self.goals[k].orientation is not None]
            if pinned:
                k, matrix = pinned[0]
                frame = np.broadcast_to(self.goals[k].orientation @ matrix[:3, :3].T, self.frames[i].shape)
                offset, center = matrix[:3, 3], self.aims[k]
            elif len(bone.children) == 1 and not bone.effectors:
                child = self.bones[bone.children[0]]
                frame = self._through(i, bone.children[0])
                offset, center = child.offset, self.wanted_points[bone.children[0]]
            else:
                frame, offset, center = self._between(i)
            self.wanted_frames[i], self.wanted_points[i] = frame, center - frame @ offset

    def _through(self, i: int, c: int) -> FloatArray:
        """Return the frame of a bone drawn after its only child, through the joint between them."""
        child = self.bones[c]
        before = [np.eye(3), *(constant.T for constant in child.before[:0:-1])]
        turns = [replace(turn, axis=None if turn.axis is None else -turn.axis) for turn in reversed(child.turns)]
        values = [transposed(v) if v.ndim == 3 else v for v in reversed(self.values[c])]
        frame = chained(self.wanted_frames[c], before, turns, values) @ child.before[0].T
        moved = frame @ transposed(self.frames[i])
        M = self._toward_root(i, moved, self.points[c], self.wanted_points[c]) + STEADY * self.size**2 * moved
        _, fitted = self._fitted(before, turns, values, self.wanted_frames[c], M)
        return fitted @ child.before[0].T

    def _between(self, i: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return frame, point of the bone and place for it, of a bone that several branches or an effector pull at."""
        bone, now = self.bones[i], self.frames[i]
        pulls = [(m[:3, 3], self.aims[k], self.goals[k].weight) for k, m in bone.effectors]
        pulls += [(self.bones[c].offset, self.wanted_points[c], self.weights[c]) for c in bone.children]
        total = sum(weight for _, _, weight in pulls)
        offset = sum((weight / total * point for point, _, weight in pulls), np.zeros(3))
        center = sum((weight / total * place for _, place, weight in pulls), np.zeros_like(self.points[i]))
        M = STEADY * self.size**2 * np.eye(3) + 0.1 * self._toward_root(
            i, np.eye(3), self.points[i] + now @ offset, center
        )
        for point, place, weight in pulls:
            M = M + weight / total * outer(now @ (point - offset), place - center)
        return best_rotation(M) @ now, offset, center

    def _toward_root(self, i: int, moved: FloatArray, origin: FloatArray, place: FloatArray) -> FloatArray:
        """Return how the points from a bone inward, seen from a point, agree with where they are now."""
        M = np.zeros((len(self.q), 3, 3))
        for depth, a in enumerate(self.bones[i].inward):
            ray = (moved @ (self.points[a] - origin)[:, :, None])[:, :, 0]
            M += (self.foresight**depth)[:, None, None] * outer(ray, self.points[a] - place)
        return M

    # Outward

    def outward(self) -> None:
        """Put the root back in its place and turn bone after bone towards what was wanted."""
        points: list[FloatArray] = []
        frames: list[FloatArray] = []
        for i, bone in enumerate(self.bones):
            base, point = self._base(bone, points, frames)
            M = self._toward_goals(i, chained(base, bone.before, bone.turns, self.values[i]), point)
            self.values[i], frame = self._fitted(bone.before, bone.turns, self.values[i], base, M)
            points.append(point)
            frames.append(frame)

    def _toward_goals(self, i: int, frame: FloatArray, origin: FloatArray) -> FloatArray:
        """Return how the points that a bone carries, seen from its own, agree with where they are wanted."""
        moved = frame @ transposed(self.frames[i])
        M = STEADY * self.size**2 * np.broadcast_to(np.eye(3), moved.shape)
        for j, bone in enumerate(self.bones):
            if i not in bone.inward:
                continue
            depth = bone.inward.index(i)
            if depth:
                pull = (self.weights[j] * self.foresight ** (depth - 1))[:, None, None]
                ray = (moved @ (self.points[j] - self.points[i])[:, :, None])[:, :, 0]
                M = M + pull * outer(ray, self.wanted_points[j] - origin)
            for k, _ in bone.effectors:
                pull = (self.goals[k].weight * self.foresight**depth)[:, None, None]
                if self.goals[k].position is not None:
                    ray = (moved @ (self.tips[k] - self.points[i])[:, :, None])[:, :, 0]
                    M = M + pull * outer(ray, self.aims[k] - origin)
                if self.goals[k].orientation is not None:
                    M = M + pull * self.size**2 * (moved @ self.frames[j] @ transposed(self.wanted_frames[j]))
        return M

    def _fitted(
        self, before: list[FloatArray], turns: list[Turn], values: list[FloatArray], base: FloatArray, M: FloatArray
    ) -> tuple[list[FloatArray], FloatArray]:
        """Return values and frame after the turns that bring rays nearest to where they should be.

        M is the sum of ``weight * ray place^T`` over all rays; turned by Q, they agree by ``trace(Q M)``.
        """
        values, frame = list(values), base
        for _ in range(SWEEPS if len(turns) > 1 else 1):
            frame = base
            for k, (constant, turn) in enumerate(zip(before, turns, strict=True)):
                frame = frame @ constant
                if turn.axis is None:
                    Q = best_rotation(M)
                    values[k] = transposed(frame) @ Q @ frame @ values[k]
                else:
                    axis = frame @ turn.axis
                    along = (axis * (M @ axis[:, :, None])[:, :, 0]).sum(axis=-1)
                    sine = (axis * twist(M)).sum(axis=-1)
                    angle = best_turn(M.trace(axis1=1, axis2=2) - along, sine, *self._range(turn, values[k]))
                    values[k] = values[k] + angle
                    Q = turn_matrix(axis, angle)
                M = Q @ M
                frame = frame @ turn.matrix(values[k])
        return values, frame

    def change(self, max_step: float | None) -> FloatArray:
        """Return the change of the pose (n, nv), held to the largest allowed."""
        result = np.zeros((len(self.q), self.linkage.nv))
        for bone, values in zip(self.bones, self.values, strict=True):
            for turn, value in zip(bone.turns, values, strict=True):
                begin = self._value(turn, self.q)
                if turn.axis is None:
                    result[:, turn.v : turn.v + 3] = Rotation.from_matrix(transposed(begin) @ value).as_rotvec()
                else:
                    result[:, turn.v] = value - begin
        if max_step is not None:
            largest = np.abs(result).max(axis=-1, keepdims=True, initial=0.0)
            result *= np.minimum(1.0, max_step / np.maximum(largest, 1e-300))
        return result


TURN = 2.0 * math.pi


def best_turn(cosine, sine, low, high):
    free = np.arctan2(sine, cosine)
    fl, fh = (np.where(np.isfinite(b), b, 0.0) for b in (low, high))
    result = np.where(cosine * np.cos(fl) + sine * np.sin(fl) > cosine * np.cos(fh) + sine * np.sin(fh), low, high)
    for turn in (-TURN, TURN, 0.0):
        angle = free + turn
        result = np.where((low <= angle) & (angle <= high), angle, result)
    return result


def turn_matrix(axis, angle):
    x, y, z = np.moveaxis(axis, -1, 0)
    zero = np.zeros_like(x)
    rows = [[zero, -z, y], [z, zero, -x], [-y, x, zero]]
    cross = np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
    return np.eye(3) + np.sin(angle)[..., None, None] * cross + (1.0 - np.cos(angle))[..., None, None] * (cross @ cross)


def chained(frame: FloatArray, before: list[FloatArray], turns: list[Turn], values: list[FloatArray]) -> FloatArray:
    """Return the frame that follows another by constant rotations and turns."""
    for constant, turn, value in zip(before, turns, values, strict=True):
        frame = frame @ constant @ turn.matrix(value)
    return frame


def transposed(matrix: FloatArray) -> FloatArray:
    """Return the transposes of matrices (n, 3, 3)."""
    return np.swapaxes(matrix, -1, -2)


def outer(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the products ``a b^T`` of vectors (n, 3)."""
    return a[:, :, None] * b[:, None, :]


def twist(M: FloatArray) -> FloatArray:
    """Return the sum of ``ray x place`` from the sum of ``ray place^T``."""
    return (M - transposed(M))[:, [1, 2, 0], [2, 0, 1]]


def best_rotation(M: FloatArray) -> FloatArray:
    """Return the rotations Q (n, 3, 3) with the largest ``trace(Q M)``, by singular values (Wahba's problem)."""
    U, _, Vt = np.linalg.svd(M)
    V, Ut = transposed(Vt).copy(), transposed(U)
    V[:, :, 2] *= np.sign(np.linalg.det(V @ Ut))[:, None]
    return V @ Ut
