"""Methods that compute steps from the Jacobian; each `step` is its equation.

J is the weighted Jacobian (..., m, n), V the weighted error (..., m); the result is the change of the pose (..., n).
Numbers in brackets are the chapter's equations; docstrings note its errors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..errors import GoalError, OptionError
from ..goals import Reach
from ..kernels import textbook
from ..linkage.poses import between
from ..transforms import FloatArray, as_array, cross_matrix, is_number, reraised_as
from .method import Method
from .options import Settings, one_of, positive
from .plans import Plan
from .problem import RANK, Problem, State

# Codes for the compiled loop.
FORMS = {"auto": textbook.PSEUDOINVERSE, "rows": textbook.ROWS, "columns": textbook.COLUMNS}
CROSSED = 1e-12  # share of the linkage's length by which a step must pass an edge to cross it


def transposed(matrix: FloatArray) -> FloatArray:
    """Return the transposes of matrices (..., m, n)."""
    return np.swapaxes(matrix, -1, -2)


def times(matrix: FloatArray, vector: FloatArray) -> FloatArray:
    """Return matrices (..., m, n) times vectors (..., n)."""
    product: FloatArray = (matrix @ vector[..., None])[..., 0]
    return product


def solved(matrix: FloatArray, vector: FloatArray) -> FloatArray:
    """Return the solutions x of ``matrix x = vector`` by LU decomposition."""
    solution: Any = np.linalg.solve(matrix, vector[..., None])
    return np.asarray(solution[..., 0], dtype=np.float64)


def pseudosolved(J: FloatArray, V: FloatArray, rank: float = RANK) -> FloatArray:
    """Return ``J^+ V`` by singular value decomposition, leaving out directions in which the rank is lost."""
    U, sigma, Vt = np.linalg.svd(J, full_matrices=False)
    kept = sigma > rank * sigma[..., :1]
    along = times(transposed(U), V) / np.where(kept, sigma, 1.0)
    return times(transposed(Vt), np.where(kept, along, 0.0))


def damped_step(J: FloatArray, V: FloatArray, squared_damping: Any) -> FloatArray:
    """Return ``J^T (J J^T + lambda² I)^-1 V``, or the equal ``(J^T J + lambda² I)^-1 J^T V`` if that is smaller."""
    m, n = J.shape[-2:]
    Jt = transposed(J)
    damping = np.asarray(squared_damping)[..., None, None]
    if m <= n:
        return times(Jt, solved(J @ Jt + damping * np.eye(m), V))
    return solved(Jt @ J + damping * np.eye(n), times(Jt, V))


def by_levels(
    J: FloatArray,
    V: FloatArray,
    levels: Sequence[NDArray[np.int64]],
    rank: float,
    solve: Callable[[FloatArray, FloatArray], FloatArray],
) -> FloatArray:
    """Return a step that solves levels of rows one after another, each in the null space of those before it.

    With N_k the projection onto changes that do not affect the rows above level k: ``x_k = x_(k-1) + (J_k N_k)^+ (V_k -
    J_k x_(k-1))`` (Siciliano and Slotine 1991). Singular values below `rank` times the largest are lost directions.
    """
    if len(levels) <= 1:
        return solve(J, V)
    n = J.shape[-1]
    change, open_to_it = np.zeros((*J.shape[:-2], n)), np.eye(n)
    for rows in levels:
        level = J[..., rows, :]
        within = level @ open_to_it
        change = change + times(open_to_it, solve(within, V[..., rows] - times(level, change)))
        _, sigma, Vt = np.linalg.svd(within, full_matrices=False)
        Vt = np.where((sigma > rank * np.maximum(sigma[..., :1], 1.0))[..., None], Vt, 0.0)
        open_to_it = open_to_it - transposed(Vt) @ Vt
    return change


def within_ranges(state: State, solve: Callable[[FloatArray, FloatArray], FloatArray]) -> FloatArray:
    """Return the step that solves levels one after another and stays within the ranges of goals.

    A goal with a range is an inequality, ``A x <= b``: an edge that the step would cross becomes a row of the goal's
    own level, ``A x = b``, and the step is computed again, until no edge is crossed.
    """
    J, V, levels = state.jacobian, state.weighted_error, state.problem.levels
    rank = state.problem.rank
    change = by_levels(J, V, levels, rank, solve)
    if state.edges is None:
        return change
    (room, rows), of_level = state.edges
    more = [np.append(level, J.shape[-2] + np.flatnonzero(of_level == k)) for k, level in enumerate(levels)]
    held = np.zeros(room.shape, np.bool_)
    for _ in range(room.shape[-1]):
        crossed = ~held & (times(rows, change) > np.maximum(room, 0.0) + CROSSED * state.linkage.length)
        if not crossed.any():
            break
        held |= crossed
        A, b = np.where(held[..., None], rows, 0.0), np.where(held, room, 0.0)
        change = by_levels(np.concatenate([J, A], axis=-2), np.concatenate([V, b], axis=-1), more, rank, solve)
    return change


@dataclass(frozen=True)
class Inverse(Method):
    """``theta' = J^-1 V``, for as many goal rows as velocities.

    Near a singularity the smallest singular value goes to zero and joint velocities grow without bound. There the
    pseudoinverse is used, and the size of steps is limited.

    Args:
        singular: Ratio of the smallest to the largest singular value below which the Jacobian counts as singular.
    """

    singular: float = 1e-4
    name: ClassVar[str] = "inverse"
    max_step: ClassVar[float | None] = 0.5

    def __post_init__(self) -> None:
        positive("singular", self.singular, finite=True)

    def check(self, problem: Problem) -> None:
        rows, velocities = len(problem.rows), problem.velocities
        if rows != velocities:
            raise GoalError(
                f"method 'inverse' needs a square Jacobian: the goal has {rows} rows and linkage "
                f"{problem.linkage.name!r} {velocities} velocities; use 'pseudoinverse'."
            )

    def plan(self, problem: Problem, settings: Settings) -> Plan | None:  # noqa: ARG002
        return Plan(textbook.INVERSE, self.singular, notes=lambda near: {"singular": np.array(near != 0.0)})

    def step(self, state: State) -> FloatArray:
        J, V = state.jacobian[..., state.free], state.weighted_error
        values = np.linalg.svd(J, compute_uv=False)
        near = ~(values[..., -1] > self.singular * values[..., 0])  # zero is not above zero
        state.notes["singular"] = near
        return state.spread(pseudosolved(J, V) if near.any() else solved(J, V))


@dataclass(frozen=True)
class Pseudoinverse(Method):
    """``theta' = J^+ V`` (5.20 to 5.23): the smallest of all changes that reach V.

    Args:
        form: ``"auto"`` is rank-aware. ``"rows"`` is the printed ``J^T (J J^T)^-1 V`` through beta and LU, for
            independent rows (a redundant arm); ``"columns"`` is ``(J^T J)^-1 J^T V``, for independent columns (5.20,
            without the stray J^T of its third line).
    """

    form: str = "auto"
    name: ClassVar[str] = "pseudoinverse"
    weighs_joints: ClassVar[bool] = True
    strict: ClassVar[bool] = True

    def __post_init__(self) -> None:
        one_of("form", self.form, FORMS)

    def plan(self, problem: Problem, settings: Settings) -> Plan | None:  # noqa: ARG002
        more_rows = len(problem.rows) - problem.velocities
        if (self.form == "rows" and more_rows > 0) or (self.form == "columns" and more_rows < 0):
            return None  # the matrix is singular up to rounding
        return Plan(FORMS[self.form])

    def step(self, state: State) -> FloatArray:
        J, V = state.jacobian, state.weighted_error
        if self.form == "auto":
            return within_ranges(state, lambda J, V: pseudosolved(J, V, state.problem.rank))
        J = J[..., state.free]
        Jt = transposed(J)
        try:
            return state.spread(times(Jt, solved(J @ Jt, V)) if self.form == "rows" else solved(Jt @ J, times(Jt, V)))
        except np.linalg.LinAlgError as error:
            other = "'columns'" if self.form == "rows" else "'rows'"
            raise GoalError(
                f"the printed form {self.form!r} of the pseudoinverse has a singular matrix here ({error}): the "
                f"Jacobian is {J.shape[-2]} x {J.shape[-1]}; use form={other} or form='auto'."
            ) from error


@dataclass(frozen=True)
class Damped(Method):
    """``theta' = J^T (J J^T + lambda² I)^-1 V`` (5.24): damped least squares.

    Args:
        damping: lambda, in the units of the Jacobian; or ``"adaptive"``: ``lambda² = 0.05 |V|²`` plus a small constant,
            which is strong far from the goal and vanishes near it.
    """

    damping: float | str = "adaptive"
    name: ClassVar[str] = "damped"
    weighs_joints: ClassVar[bool] = True
    strict: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.damping != "adaptive" and not (is_number(self.damping) and 0.0 <= self.damping < math.inf):
            raise OptionError(f"damping is 'adaptive' or a finite number, zero or more, got {self.damping!r}.")

    def plan(self, problem: Problem, settings: Settings) -> Plan | None:  # noqa: ARG002
        amount = textbook.ADAPTIVE if isinstance(self.damping, str) else float(self.damping)
        return Plan(textbook.DAMPED, amount, notes=lambda damping: {"damping": np.array(damping)})

    def step(self, state: State) -> FloatArray:
        state.notes["damping"] = np.sqrt(self._squared(state, state.weighted_error))
        return within_ranges(state, lambda J, V: damped_step(J, V, self._squared(state, V)))

    def _squared(self, state: State, V: FloatArray) -> Any:
        """Return lambda² for the remaining error of all rows or of a level."""
        if isinstance(self.damping, str):
            return textbook.GAIN * (V * V).sum(axis=-1) + textbook.LEAST * state.linkage.length**2 + 1e-300
        return np.asarray(float(self.damping) ** 2 + 1e-300)


@dataclass(frozen=True)
class SelectivelyDamped(Method):
    """Selectively damped least squares (Buss and Kim 2005): each singular direction has its own damping.

    With ``J = sum sigma_i u_i v_i^T``, direction i would change the pose by ``phi_i = (u_i . V) v_i / sigma_i``. It may
    move no joint by more than ``gamma_i = min(1, N_i / M_i) gamma``, where N_i is how far it moves the effectors, and
    M_i the sum of how far each joint alone would move them: large if the joints work against each other.

    Args:
        gamma: Largest change of one joint in a step [rad].
    """

    gamma: float = math.pi / 4
    name: ClassVar[str] = "selectively-damped"
    weighs_joints: ClassVar[bool] = True
    can_project_loops: ClassVar[bool] = True

    def __post_init__(self) -> None:
        positive("gamma", self.gamma, finite=True)

    def plan(self, problem: Problem, settings: Settings) -> Plan | None:  # noqa: ARG002
        return Plan(textbook.SELECTIVELY_DAMPED, self.gamma)

    def step(self, state: State) -> FloatArray:
        J, V = state.jacobian, state.weighted_error
        U, sigma, Vt = np.linalg.svd(J, full_matrices=False)
        starts = state.problem.block_starts
        reach = np.sqrt(np.add.reduceat(J * J, starts, axis=-2))  # |d effector_l / d theta_j|
        N = np.sqrt(np.add.reduceat(U * U, starts, axis=-2)).sum(axis=-2)
        safe = np.where(sigma > RANK * np.maximum(sigma[..., :1], 1e-300), sigma, np.inf)
        M = (np.abs(Vt) * reach.sum(axis=-2)[..., None, :]).sum(axis=-1) / safe
        gamma = self.gamma * np.minimum(1.0, N / np.maximum(M, 1e-300))
        along = times(transposed(U), V) / safe
        phi = clamped(along[..., None] * Vt, gamma[..., None])
        return clamped(phi.sum(axis=-2), np.full((*phi.shape[:-2], 1), self.gamma))


def clamped(vector: FloatArray, largest: FloatArray) -> FloatArray:
    """Return vectors (..., n) scaled down so that no entry exceeds a bound (..., 1)."""
    size = np.abs(vector).max(axis=-1, keepdims=True)
    result: FloatArray = vector * np.minimum(1.0, largest / np.maximum(size, 1e-300))
    return result


@dataclass(frozen=True)
class Control(Method):
    """``theta' = J^+ (V + J z) - z`` (5.25 to 5.31): the pseudoinverse, with a secondary term z in the null space.

    z moves the joints towards desired angles as far as this does not move the effector. The default is the gradient
    form, ``z_i = a_i (theta_i - theta_ci)``. The book prints its square (5.27), ``form="printed"``, which loses the
    sign and pushes a joint below its desired angle further away.

    Args:
        desired: Preferred pose; the neutral pose by default.
        gains: One number, or one for each velocity: the higher, the stiffer the joint.
        form: ``"gradient"`` or ``"printed"``.
        z: A function of poses (..., nq) that returns z (..., nv), instead of the above.
    """

    desired: Any = None
    gains: Any = 0.1
    form: str = "gradient"
    z: Callable[[FloatArray], FloatArray] | None = None
    name: ClassVar[str] = "control"
    weighs_joints: ClassVar[bool] = True
    max_step: ClassVar[float | None] = 0.5  # a z as large as a whole turn would wind joints up
    iterations: ClassVar[int] = 300  # z bends the path, so steps are halved and more are needed
    patience: ClassVar[int] = 60
    can_project_loops: ClassVar[bool] = True

    def __post_init__(self) -> None:
        one_of("form", self.form, ("gradient", "printed"))
        if self.z is not None and not callable(self.z):
            raise OptionError(f"z is a function of poses, got {self.z!r}.")
        with reraised_as(OptionError):
            vars(self)["gains"] = as_array(self.gains, "gains")

    def check(self, problem: Problem) -> None:
        gains, nv = self.gains, problem.linkage.nv
        if gains.shape not in ((), (nv,)) or not np.isfinite(gains).all():
            raise OptionError(f"gains are one finite number or {nv} of them, got {gains.tolist()}.")

    def plan(self, problem: Problem, settings: Settings) -> Plan | None:  # noqa: ARG002
        if self.z is not None:
            return None
        desired, printed = problem.linkage.pose(self.desired), self.form == "printed"
        return Plan(textbook.CONTROL, choice=int(printed), desired=desired, gains=self.gains)

    def wish(self, state: State) -> FloatArray:
        """Return z (..., nv)."""
        if self.z is not None:
            return np.asarray(self.z(state.q), dtype=np.float64)
        linkage = state.linkage
        if "desired" not in state.memory:
            state.memory["desired"] = linkage.pose(self.desired)
        away = between(linkage, state.memory["desired"], state.q)
        return np.asarray(self.gains * (away if self.form == "gradient" else away**2), dtype=np.float64)

    def step(self, state: State) -> FloatArray:
        J, V, z = state.jacobian, state.weighted_error, self.wish(state)
        z = state.narrowed_velocity(z)
        return pseudosolved(J, V + times(J, z)) - z


@dataclass(frozen=True)
class Alternative(Method):
    """The pseudoinverse of a Jacobian at the goal instead of the end effector: it pulls the goal to the effector."""

    name: ClassVar[str] = "alternative"
    weighs_joints: ClassVar[bool] = True

    def check(self, problem: Problem) -> None:
        for goal in problem.goals:
            if not isinstance(goal, Reach) or goal.position is None or goal.ranges is not None:
                raise GoalError(
                    "method 'alternative' needs goals with positions and without ranges: it uses the goal's position "
                    "instead of the effector's."
                )

    def plan(self, problem: Problem, settings: Settings) -> Plan | None:  # noqa: ARG002
        return Plan(textbook.ALTERNATIVE)

    def step(self, state: State) -> FloatArray:
        return pseudosolved(self.jacobian(state), state.weighted_error)

    def jacobian(self, state: State) -> FloatArray:
        """Return the Jacobian of the points of the links that currently coincide with the goals."""
        blocks, problem = [], state.problem
        for goal in (goal for goal in problem.goals if isinstance(goal, Reach)):
            J = state.linkage.jacobian(state.q, goal.frame)
            tip = state.linkage.forward(state.q, frame=goal.frame)[..., :3, 3]
            lever = np.zeros_like(tip)
            along = goal.rows[: goal.coordinates]
            lever[..., along] = goal.target[along, 3] - tip[..., along]
            J[..., :3, :] -= cross_matrix(lever) @ J[..., 3:, :]
            blocks.append(J[..., goal.rows, :])
        J = (np.concatenate(blocks, axis=-2) * problem.scale[:, None])[..., problem.rows, :]
        return state.narrowed(J if problem.group is None else np.where(problem.group.free, J, 0.0))


@dataclass(frozen=True)
class Transpose(Method):
    """``theta' = alpha J^T V``: each joint moves by how well its own motion agrees with V; nothing is inverted.

    Args:
        scale: alpha; with None the one that best fits V, ``(V . JJ^T V) / |JJ^T V|²``. A fixed value above
            ``2 / sigma_max²`` diverges, which the loop detects; a much smaller one converges slowly.
    """

    scale: float | None = None
    name: ClassVar[str] = "transpose"
    weighs_joints: ClassVar[bool] = True
    can_project_loops: ClassVar[bool] = True
    iterations: ClassVar[int] = 1000

    def __post_init__(self) -> None:
        if self.scale is not None:
            positive("scale", self.scale, finite=True)

    @property
    def careful(self) -> bool:
        return self.scale is None

    @property
    def may_overshoot(self) -> bool:
        return self.scale is not None

    def plan(self, problem: Problem, settings: Settings) -> Plan | None:  # noqa: ARG002
        if self.scale is not None:
            return Plan(textbook.TRANSPOSE, self.scale)
        return Plan(textbook.TRANSPOSE, notes=lambda scale: {"scale": np.array(scale)})

    def step(self, state: State) -> FloatArray:
        J, V = state.jacobian, state.weighted_error
        change = times(transposed(J), V)
        if self.scale is not None:
            return self.scale * change
        moved = times(J, change)
        length = (moved * moved).sum(axis=-1)
        alpha = (V * moved).sum(axis=-1) / np.where(length > 0.0, length, 1.0)
        state.notes["scale"] = alpha
        return np.asarray(alpha[..., None] * change, dtype=np.float64)
