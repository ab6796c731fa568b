"""The device functions of a GPU search, generated for one chain and one kind of target.

`cuda_generic` has the same functions for any chain; both get the data of a chain, `card`, which these ignore.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import lanes
from .chain_memory import CODE, FRAME, LIMITS, SETTINGS
from .cuda import KINDS, PLACE, cast, choose, device, items, put, shared, written
from .cuda_parts import Parts
from .damped import TURN, damped_step, tip_error
from .joint_step import TRANSFORM, xyz_quaternion
from .starts import TABLE_STARTS, in_reach, random_value, read_goal
from .symbolic import Cells, Symbol, Trace, compiled, rebuilt

NOTHING = 1e-15  # numbers below this are rounding errors of zero
PLACES: dict[tuple[int, ...], Sequence[int]] = {  # indices of a target's numbers in a 4x4 matrix, by its shape
    (4, 4): range(16),
    (3, 3): (0, 1, 2, 4, 5, 6, 8, 9, 10),
    (3,): (3, 7, 11),
    (2,): (3, 7),
}
SORTING = (  # a sorting network of eight: the pairs to compare
    (0, 1), (2, 3), (4, 5), (6, 7), (0, 2), (1, 3), (4, 6), (5, 7), (1, 2), (5, 6),
    (0, 4), (1, 5), (2, 6), (3, 7), (2, 4), (3, 5), (1, 2), (3, 4), (5, 6),
)  # fmt: skip


@dataclass(frozen=True)
class Task:
    """What a search is generated for.

    Attributes:
        codes: The chain's codes.
        settings: Settings of a search, in double precision and in that of its descents.
        limits: The chain's limits, (values, 5).
        numbers: The chain's numbers.
        table: The narrow table's frames, a row each; see `starts.rank`.
        turn: Rotation applied to targets if a frame may spin; or None.
        shape: Shape of one target: (4, 4), (3, 3), (3,) or (2,).
        neutral: The pose of joints that nothing moves.
        bounds: Limits of the whole pose, (2, nq); infinite if they are ignored.
        plain: Indices of values in the chain and in the pose, (n, 2).
        balls: Indices of three angles in the chain and of their quaternion in the pose.
        open: Indices in the pose of angles that are brought near to those of the start.
        whole: Whether the chain's values are the pose.
        given: Whether each target has its own start.
        asked: Whether position and rotation count.
        dtype: Precision of descents.
    """

    codes: NDArray[np.int64]
    settings: tuple[NDArray[Any], NDArray[Any]]
    limits: NDArray[Any]
    numbers: NDArray[Any]
    table: NDArray[Any]
    turn: NDArray[Any] | None
    shape: tuple[int, ...]
    neutral: NDArray[Any]
    bounds: NDArray[Any]
    plain: NDArray[np.int64]
    balls: tuple[tuple[int, int], ...]
    open: tuple[int, ...]
    whole: bool
    given: bool
    asked: tuple[bool, bool]
    dtype: Any

    @property
    def values(self) -> int:
        """Number of values of the chain."""
        return len(self.limits)

    @property
    def nq(self) -> int:
        """Size of a pose."""
        return len(self.neutral)


def known_numbers(numbers: NDArray[Any]) -> Cells:
    """Return known numbers as memory, with values within rounding of -1, 0 and 1 made exact."""
    flat = np.asarray(numbers, np.float64).ravel().copy()
    for exact in (-1.0, 0.0, 1.0):
        flat[np.abs(flat - exact) < NOTHING] = exact
    return Cells(flat.tolist())


def truth(value: Any) -> str:
    """Return the text of a boolean, known now or when the code runs."""
    return value.name if isinstance(value, Symbol) else str(bool(value))


@dataclass
class WrittenParts(Parts):
    """The functions for one chain; `key` identifies what they were generated from."""

    task: Task
    key: str = field(init=False, default="")

    def __post_init__(self) -> None:
        task, kind = self.task, np.dtype(self.task.dtype).name
        self.dtype = task.dtype
        self.step = self._step(task.dtype, task.settings[1], known_caution=True)
        self.exact_step = self._step(np.float64, task.settings[0], known_caution=False)
        self.exact_error, self.within = self._error(), self._within()
        self.read, (self.write, self.refuse) = self._read(), self._write()
        self.ranked, self.ranked_widely = self._ranked(), ranked_widely(task.dtype)
        self.random_start, self.given_up = self._random_start(kind), self._given_up()
        self.take, self.put = self._memory()
        rough, exact = (settings[SETTINGS.rotation_weight] ** 2 for settings in task.settings)
        self.weight, self.exact_weight = always(task.dtype(rough)), always(float(exact))
        self.caution = always(float(task.settings[0][SETTINGS.caution]))
        self.given, self.asked = always(task.given), always(task.asked)
        self.single, self.exact = cast("single", task.values, kind), cast("exact", task.values, "float64")
        self.rounded = cast("rounded", TRANSFORM.size, kind)
        read = ("rotation_weight", "most_steps", "check_after", "stalled", "close", "caution")
        rules = [float(settings[SETTINGS.items[name]]) for settings in task.settings for name in read]
        whole = f"{self.key} {task.given} {task.asked} {task.shape} {task.values} {task.nq} {kind} {rules}"
        self.key = hashlib.sha256(whole.encode()).hexdigest()

    def _written(self, trace: Trace, name: str, parameters: list[str], results: list[str], **options: Any) -> Any:
        function, text = written(trace, name, parameters, results, **options)
        self.key += text
        return function

    def _rows(self) -> int:
        return len(self.task.codes) // CODE.size

    def _step(self, dtype: Any, settings: NDArray[Any], *, known_caution: bool) -> Any:
        task, trace, n = self.task, Trace(dtype), self.task.values
        work, after = Cells([0.0] * 6 * max(self._rows(), n)), Cells([0.0] * n)
        caution: Any = 0.0 if known_caution else Symbol(trace, "caution")
        p, r = trace.of(damped_step)(
            Cells(task.codes.tolist()),
            known_numbers(task.numbers),
            self._rows(),
            known_numbers(settings),
            Cells(task.limits.ravel().tolist()),
            n,
            trace.memory("goal", TRANSFORM.size),
            trace.memory("q", n),
            work,
            after,
            caution,
        )
        parameters = ["card", "q", "goal"] if known_caution else ["card", "q", "goal", "caution"]
        turning = bool(np.abs(task.limits[:, [LIMITS.lower, LIMITS.upper]]).max() > 7.0)
        results = [trace.tuple(after), trace.text(p), trace.text(r)]
        return self._written(trace, "step", parameters, results, turning=turning)

    def _error(self) -> Any:
        task, trace, n = self.task, Trace(np.float64), self.task.values
        _, _, _, p, r = trace.of(tip_error)(
            Cells(task.codes.tolist()),
            known_numbers(task.numbers),
            self._rows(),
            known_numbers(task.settings[0]),
            trace.memory("goal", TRANSFORM.size),
            trace.memory("q", n),
            Cells([0.0] * 6 * self._rows()),
        )
        return self._written(trace, "exact_error", ["card", "q", "goal"], [trace.text(p), trace.text(r)])

    def _within(self) -> Any:
        trace = Trace(np.float64)
        results = []
        for k, x in enumerate(trace.memory("q", self.task.values)):
            lower, upper = self.task.limits[k, [LIMITS.lower, LIMITS.upper]].tolist()
            at_least = trace.select(x > lower, x, lower)
            results.append(trace.select(at_least < upper, at_least, upper))
        return self._written(trace, "within", ["card", "q"], [trace.tuple(results)])

    def _read(self) -> Any:
        task, trace = self.task, Trace(np.float64)
        matrix: list[Any] = np.eye(4).ravel().tolist()
        places = PLACES[task.shape]
        for k, place in enumerate(places):
            matrix[place] = trace.line(f"targets[{len(places)} * problem + {k}]")
        if task.turn is not None:
            rows = [matrix[4 * i : 4 * i + 3] for i in range(3)]
            for i, row in enumerate(rows):
                for j in range(3):
                    column = task.turn[:, j].tolist()
                    matrix[4 * i + j] = row[0] * column[0] + row[1] * column[1] + row[2] * column[2]
        known = task.settings[0].tolist()
        shells = range(SETTINGS.centre, SETTINGS.point_shell + 2)
        settings = Cells(trace.line(f"settings[{k}]") if k in shells else x for k, x in enumerate(known))
        goal = Cells([0.0] * TRANSFORM.size)
        valid = trace.of(read_goal)(known_numbers(task.numbers), known[SETTINGS.spin], Cells(matrix), 0, goal)
        reach = trace.of(in_reach)(settings, goal)
        results = [trace.tuple(goal), truth(valid), truth(reach)]
        return self._written(trace, "read", ["card", "targets", "problem", "settings"], results)

    def _write(self) -> tuple[Any, Any]:
        answer, nq, given = self._answer(), self.task.nq, self.task.given
        take_base, put_pose = items("take_base", nq), put("put_pose", nq)

        def write(_card, answers, problem, q, base):
            put_pose(answers, nq * problem, answer(q, take_base(base, nq * problem if given else 0)))

        def refuse(_card, answers, problem, base):
            put_pose(answers, nq * problem, take_base(base, nq * problem if given else 0))

        return device(write), device(refuse)

    def _memory(self) -> tuple[Any, Any]:
        values = self.task.values
        take_values, put_values = items("take_values", values), put("put_values", values)

        def take(_card, memory, place):
            return take_values(memory, values * place)

        def give(_card, memory, place, q):
            put_values(memory, values * place, q)

        return device(take), device(give)

    def _given_up(self) -> Any:
        settings, real = self.task.settings[1], self.task.dtype
        close, stalled = real(settings[SETTINGS.close]), real(settings[SETTINGS.stalled])
        most, check = int(settings[SETTINGS.most_steps]), int(settings[SETTINGS.check_after])

        def given_up(_card, taken, now, before):
            return taken >= most or (taken > check and now > close and now > before * stalled)

        return device(given_up, fast=real is np.float32)

    def _answer(self) -> Any:
        task, trace = self.task, Trace(np.float64)
        values = trace.memory("values", task.values)
        base: list[Any] = trace.memory("base", task.nq) if task.given else task.neutral.tolist()
        q = list(base)
        for inside, outside in task.plain.tolist():
            q[outside] = values[inside]
            lower, upper, periodic = task.limits[inside, [LIMITS.lower, LIMITS.upper, LIMITS.periodic]].tolist()
            if task.given and periodic and upper - lower >= TURN and outside not in task.open:
                numbers = (values[inside], base[outside], lower, upper)
                q[outside] = trace.line(f"nearest_copy({', '.join(map(trace.text, numbers))})")
        for inside, outside in task.balls:
            halves = (trace.sine_cosine(angle * 0.5) for angle in values[inside : inside + 3])
            q[outside : outside + 4] = xyz_quaternion(*zip(*halves, strict=True))
        for k in () if task.whole else range(task.nq):
            lower, upper = task.bounds[:, k].tolist()
            q[k] = trace.select(q[k] > lower, q[k], lower)
            q[k] = trace.select(q[k] < upper, q[k], upper)
        for k in task.open:
            q[k] = base[k] + trace.line(f"wrapped({trace.text(q[k] - base[k])})")
        return self._written(trace, "answer", ["values", "base"], [trace.tuple(q)])

    def _ranked(self) -> Any:
        """Generate the ranking of the narrow table, which becomes part of the function."""
        table, names = self.task.table, {}
        terms = "".join(f" + goal[{m}] * frame[{m + 1}]" for m in range(FRAME.size - 1) if table[:, m + 1].any())
        away = compiled("away", f"def away(goal, frame):\n    return frame[0]{terms}\n", {})
        names["away"] = device(away, fast=self.task.dtype is np.float32)
        lines = []
        for frame, row in enumerate(table):
            names[f"k{frame}"] = tuple(row)
            lines += _nearer(f"away(goal, k{frame})", f"{frame}", frame % TABLE_STARTS, "")
        self.key += f"{terms} {table.tolist()}"
        return _ranking("card, goal", lines, names, self.task.dtype)

    def _random_start(self, kind: str) -> Any:
        one = rebuilt(random_value, {lanes.load: shared(limit_of)}, device)
        listed = ", ".join(f"{kind}(one(known, seed, problem, start, {k}))" for k in range(self.task.values))
        text = f"def random_start(card, known, seed, problem, start):\n    return ({listed},)\n"
        return device(compiled("random_start", text, {"one": one, **KINDS}))


def always(value: Any) -> Any:
    """Return a device function of a card that returns a constant."""

    def constant(_card):
        return value

    return device(constant)


# The ranking of a table: its nearest frame for each of eight lanes, in order; see `starts.rank`


def ranked_widely(dtype: Any) -> Any:
    """Return the ranking of a table that is an array, processed block by block."""
    lines = ["for block in range(first, end):", f"    at = {TABLE_STARTS * FRAME.size} * block"]
    for k in range(TABLE_STARTS):
        terms = "".join(f" + table[place(at + {k * FRAME.size + 1 + m})] * goal[{m}]" for m in range(FRAME.size - 1))
        lines += _nearer(f"table[place(at + {k * FRAME.size})]{terms}", f"{TABLE_STARTS} * block + {k}", k, "    ")
    return _ranking("goal, table, first, end", lines, {"place": PLACE}, dtype)


def _ranking(parameters: str, search: list[str], names: dict[str, Any], dtype: Any) -> Any:
    lines = [*(f"b{k}, w{k} = far, 0" for k in range(TABLE_STARTS)), *search]
    for a, b in SORTING:
        lines.append(f"less = b{b} < b{a}")
        for x in "bw":
            lines.append(f"{x}{a}, {x}{b} = choose(less, {x}{b}, {x}{a}), choose(less, {x}{a}, {x}{b})")
    words = [" | ".join(f"(w{4 * half + k} << {16 * k})" for k in range(4)) for half in range(2)]
    body = "".join(f"    {line}\n" for line in lines)
    text = f"def ranked({parameters}):\n{body}    return {words[0]}, {words[1]}\n"
    known = {"choose": shared(choose), "far": dtype(math.inf), **names}
    return device(compiled("ranked", text, known), fast=dtype is np.float32)


def _nearer(distance: str, frame: str, lane: int, indent: str) -> list[str]:
    """Return lines that keep a frame if it is the nearest of its lane."""
    lines = (
        f"d = {distance}",
        f"w{lane} = choose(d < b{lane}, {frame}, w{lane})",
        f"b{lane} = choose(d < b{lane}, d, b{lane})",
    )
    return [indent + line for line in lines]


def limit_of(memory, item):
    """Return one of the limits, which follow the settings."""
    return memory[SETTINGS.size + item]
