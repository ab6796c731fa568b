"""FABRIK, forward and backward reaching (Aristidou and Lasenby 2011), for linkages with hinges and limits.

Imports `base`. The linkage is cut into bones, rigid bodies that each turn about one point. Going inward from the goals,
and then outward from the root, every bone is turned so that its far end comes as near as it can to where it should be;
both ways through the real joints, so that hinges and limits hold in every pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from ..errors import GoalError
from ..goals import Reach
from ..linkage import Linkage
from ..transforms import FloatArray, axis_rotation
from .base import Method, Problem, Settings, State

SWEEPS = 4
NEAR = 0.1
STEADY = 1e-3
ORIENT = 1.0
COINCIDENT = 1e-9
INSTEAD = {"prismatic": "'ccd' or 'damped'"}


@dataclass(frozen=True, eq=False)
class Turn:
    """One elementary turn: about an axis, or about any (a ball, whose axis is None)."""

    axis: FloatArray | None
    q: int
    v: int
    lower: float
    upper: float


@dataclass(eq=False)
class Bone:
    """A rigid body that turns about one point of its parent by one or several turns.

    Attributes:
        parent: Index of the bone it hangs on, -1 for the ground.
        offset: The point it turns about, in the parent's frame, shape (3,).
        before: The constant rotation before each turn.
        turns: The turns, from the parent outwards.
        children: Indices of the bones that hang on it.
        effectors: Goals whose frames it carries: index, and bone_from_frame.
    """

    parent: int
    offset: FloatArray
    before: list[FloatArray]
    turns: list[Turn]
    children: list[int] = field(default_factory=list)
    effectors: list[tuple[int, FloatArray]] = field(default_factory=list)
    weight: float = 0.0


def limb_arcs(linkage: Linkage, frame: str) -> tuple[list[int], FloatArray]:
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


@lru_cache(maxsize=32)
def skeleton(linkage: Linkage, frames: tuple[str, ...]) -> tuple[tuple[Bone, ...], float]:
    """Return the bones that move frames, parents first, and their mean length."""
    paths = [limb_arcs(linkage, frame) for frame in frames]
    bones: list[Bone] = []
    place: dict[int, tuple[int, FloatArray]] = {-1: (-1, np.eye(4))}  # of a link: its bone and bone_from_link
    for i in sorted({arc for path, _ in paths for arc in path}):
        arc, drive = linkage.arcs[i], linkage.drives[i]
        bone, matrix = place[linkage.parents[i]]
        matrix = matrix @ arc.placement
        if arc.articulation.nq:
            turns = [
                Turn(
                    None if e.kind == "ball" else e.axis,
                    drive.q + e.value,
                    drive.v + e.rate,
                    float(linkage.lower[drive.q + e.value]),
                    float(linkage.upper[drive.q + e.value]),
                )
                for e in arc.articulation.elements
            ]
            before = [matrix[:3, :3]] + [np.eye(3)] * (len(turns) - 1)
            bones.append(Bone(bone, matrix[:3, 3], before, turns))
            bone, matrix = len(bones) - 1, np.eye(4)
        place[i] = (bone, matrix)
    for k, (path, placement) in enumerate(paths):
        bone, matrix = place[path[-1]]
        if bone >= 0:
            bones[bone].effectors.append((k, matrix @ placement))
    bones = _joined(bones, linkage.length)
    sizes = [float(np.linalg.norm(bone.offset)) for bone in bones if bone.parent >= 0]
    sizes += [float(np.linalg.norm(m[:3, 3])) for bone in bones for _, m in bone.effectors]
    return tuple(bones), max(float(np.mean(sizes)) if sizes else 0.0, 1e-300)


def _joined(bones: list[Bone], length: float) -> list[Bone]:
    """Join bones of no length to the one that follows: hinges through one point turn as one joint."""
    for i, bone in enumerate(bones):
        if bone.parent >= 0:
            bones[bone.parent].children.append(i)
    result: list[Bone] = []
    new: dict[int, int] = {-1: -1}
    for i, bone in enumerate(bones):
        above = bones[bone.parent] if bone.parent >= 0 else None
        together = (
            above is not None
            and len(above.children) == 1
            and not above.effectors
            and np.linalg.norm(bone.offset) <= COINCIDENT * length
        )
        if together:
            target = result[new[bone.parent]]
            target.before += bone.before
            target.turns += bone.turns
            target.effectors = bone.effectors
            new[i] = new[bone.parent]
        else:
            result.append(replace(bone, parent=new[bone.parent], children=[]))
            new[i] = len(result) - 1
    for i, bone in enumerate(result):
        if bone.parent >= 0:
            result[bone.parent].children.append(i)
    return result


@dataclass(frozen=True)
class Fabrik(Method):
    """Forward and backward reaching: points on lines, brought to joints by the turns that fit best."""

    name: ClassVar[str] = "fabrik"
    careful: ClassVar[bool] = False

    def check(self, problem: Problem) -> None:
        for goal in problem.goals:
            if not isinstance(goal, Reach):
                raise GoalError(f"method 'fabrik' serves Reach goals only, got {goal!r}.")

    def propose(self, state: State, settings: Settings) -> FloatArray:
        bones, size = skeleton(state.linkage, tuple(goal.frame for goal in state.problem.goals))
        q = state.q.reshape(-1, state.linkage.nq)
        work = _Pass(bones, size, state.problem.goals, q, settings.limits != "ignore")
        work.backward()
        work.forward()
        change = work.change(state.linkage.nv)
        return change.reshape(*state.q.shape[:-1], state.linkage.nv)


class _Pass:
    def __init__(self, bones, size, goals, q, limited):
        self.bones, self.size, self.goals, self.q, self.limited = bones, size, goals, q, limited
        self.n = len(q)
        self.values = [[self._value(t) for t in b.turns] for b in bones]
        self.R, self.p = [], []
        for b, values in zip(bones, self.values):
            R, p = self._parent(b)
            for before, turn, value in zip(b.before, b.turns, values):
                R = R @ before @ rotation(turn, value)
            self.R.append(R)
            self.p.append(p)
        for b in reversed(bones):
            b.weight = sum(goals[k].weight for k, _ in b.effectors) + sum(bones[c].weight for c in b.children)

    def _value(self, turn):
        from ..transforms import quaternion_matrix
        if turn.axis is None:
            return quaternion_matrix(self.q[:, turn.q : turn.q + 4])
        return self.q[:, turn.q]

    def _parent(self, b):
        if b.parent < 0:
            return np.broadcast_to(np.eye(3), (self.n, 3, 3)), np.broadcast_to(b.offset, (self.n, 3))
        R = self.R[b.parent]
        return R, self.p[b.parent] + R @ b.offset

    def target(self, k, bone, matrix):
        """goal point"""
        goal = self.goals[k]
        point = self.p[bone] + self.R[bone] @ matrix[:3, 3]
        if goal.position is not None:
            point = point.copy()
            point[:, : len(goal.position)] = goal.position
        return point

    def backward(self):
        bones = self.bones
        self.goal_points = {k: self.target(k, i, m) for i, b in enumerate(bones) for k, m in b.effectors}
        self.bR, self.bp = [None] * len(bones), [None] * len(bones)
        for i in range(len(bones) - 1, -1, -1):
            b, R, p = bones[i], self.R[i], self.p[i]
            oriented = [(k, m) for k, m in b.effectors if self.goals[k].orientation is not None]
            if oriented:
                k, m = oriented[0]
                bR = np.broadcast_to(self.goals[k].orientation @ m[:3, :3].T, R.shape)
                self.bR[i], self.bp[i] = bR, self.goal_points[k] - bR @ m[:3, 3]
                continue
            if len(b.children) == 1 and not b.effectors:
                self._through(i, b.children[0])
                continue
            offsets = [m[:3, 3] for _, m in b.effectors] + [bones[c].offset for c in b.children]
            wants = [self.goal_points[k] for k, _ in b.effectors] + [self.bp[c] for c in b.children]
            w = np.array([self.goals[k].weight for k, _ in b.effectors] + [bones[c].weight for c in b.children])
            w = w / w.sum()
            mean = sum(wk * o for wk, o in zip(w, offsets))
            center = sum(wk * t for wk, t in zip(w, wants))
            M = NEAR * outer(-(R @ mean), p - center) + STEADY * self.size**2 * np.eye(3)
            for wk, o, t in zip(w, offsets, wants):
                M = M + wk * outer(R @ (o - mean), t - center)
            self.bR[i] = best_rotation(M) @ R
            self.bp[i] = center - self.bR[i] @ mean

    def _through(self, i, c):
        """Backward through the joint of child c."""
        child = self.bones[c]
        before = [np.eye(3)] + [m.T for m in child.before[:0:-1]]
        turns = [t if t.axis is None else replace(t, axis=-t.axis) for t in child.turns[::-1]]
        values = [v if t.axis is not None else np.swapaxes(v, 1, 2) for v, t in zip(self.values[c], child.turns)][::-1]
        R = self.bR[c]
        for b, t, v in zip(before, turns, values):
            R = R @ b @ rotation(t, v)
        R = R @ child.before[0].T
        M = outer(-(R @ child.offset), self.p[i] - self.bp[c])
        M = M + NEAR2 * self.size**2 * R @ np.swapaxes(self.R[i], 1, 2)
        _, R = fitted(before, turns, child.before[0].T, values, self.bR[c], M, self.limited)
        self.bR[i], self.bp[i] = R, self.bp[c] - R @ child.offset

    def forward(self):
        bones = self.bones
        for i, b in enumerate(bones):
            Rp, p = self._parent(b)
            R = Rp
            for before, turn, value in zip(b.before, b.turns, self.values[i]):
                R = R @ before @ rotation(turn, value)
            M = FORIENT * self.size**2 * b.weight * R @ np.swapaxes(self.bR[i], 1, 2)
            for k, m in b.effectors:
                M = M + self.goals[k].weight * outer(R @ m[:3, 3], self.goal_points[k] - p)
                if self.goals[k].orientation is not None:
                    M = M + ORIENT * self.goals[k].weight * self.size**2 * R @ np.swapaxes(self.bR[i], 1, 2)
            for c in b.children:
                M = M + bones[c].weight * outer(R @ bones[c].offset, self.bp[c] - p)
            self.new = None
            values, R = fitted(b.before, b.turns, np.eye(3), self.values[i], Rp, M, self.limited)
            self.R[i], self.p[i] = R, p
            self.values[i] = values

    def change(self, nv):
        from scipy.spatial.transform import Rotation
        out = np.zeros((self.n, nv))
        for b, values in zip(self.bones, self.values):
            for t, v in zip(b.turns, values):
                old = self._value(t)
                if t.axis is None:
                    out[:, t.v : t.v + 3] = Rotation.from_matrix(np.swapaxes(old, 1, 2) @ v).as_rotvec()
                else:
                    out[:, t.v] = v - old
        return out

NEAR2 = 0.01
FORIENT = 0.01

def rotation(turn, value):
    return value if turn.axis is None else axis_rotation(turn.axis, value)


def outer(a, b):
    return a[:, :, None] * b[:, None, :]


def best_rotation(M):
    """argmax tr(Q M)."""
    U, _, Vt = np.linalg.svd(M)
    V, Ut = np.swapaxes(Vt, 1, 2), np.swapaxes(U, 1, 2)
    sign = np.linalg.det(V @ Ut)
    V = V.copy()
    V[:, :, 2] *= sign[:, None]
    return V @ Ut


def fitted(before, turns, after, values, base, M, limited):
    values = list(values)
    for _ in range(1 if len(turns) == 1 else SWEEPS):
        R = base
        for k, (b, turn) in enumerate(zip(before, turns)):
            R = R @ b
            if turn.axis is None:
                Q = best_rotation(M)
                values[k] = np.swapaxes(R, 1, 2) @ Q @ R @ values[k]
            else:
                a = R @ turn.axis
                t = best_turn(M, a, values[k], turn, limited)
                values[k] = values[k] + t
                Q = turn_matrix(a, t)
            M = Q @ M
            R = R @ rotation(turn, values[k])
    return values, R @ after


def turn_matrix(axis, angle):
    K = np.zeros((len(axis), 3, 3))
    K[:, 0, 1], K[:, 0, 2], K[:, 1, 2] = -axis[:, 2], axis[:, 1], -axis[:, 0]
    K[:, 1, 0], K[:, 2, 0], K[:, 2, 1] = axis[:, 2], -axis[:, 1], axis[:, 0]
    return np.eye(3) + np.sin(angle)[:, None, None] * K + (1 - np.cos(angle))[:, None, None] * (K @ K)


def best_turn(M, a, value, turn, limited):
    A = np.trace(M, axis1=1, axis2=2) - np.einsum("ni,nij,nj->n", a, M, a)
    B = a[:, 0] * (M[:, 1, 2] - M[:, 2, 1]) + a[:, 1] * (M[:, 2, 0] - M[:, 0, 2]) + a[:, 2] * (M[:, 0, 1] - M[:, 1, 0])
    t = np.arctan2(B, A)
    if not limited or not (np.isfinite(turn.lower) or np.isfinite(turn.upper)):
        return t
    low, high = turn.lower - value, turn.upper - value
    out = (t < low) | (t > high)
    for shift in (2 * np.pi, -2 * np.pi):
        other = t + shift
        use = out & (other >= low) & (other <= high)
        t = np.where(use, other, t)
        out &= ~use
    if out.any():
        def merit(x):
            return np.where(np.isfinite(x), A * np.cos(np.where(np.isfinite(x), x, 0)) + B * np.sin(np.where(np.isfinite(x), x, 0)), -np.inf)
        best = np.where(merit(low) >= merit(high), low, high)
        t = np.where(out, best, t)
    return t
