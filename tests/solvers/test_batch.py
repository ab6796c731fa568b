"""Batches: bit-identical for any division into blocks; rows fail separately; memory, interruption, refused input."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import children
import linkwork as lw
import six_joint_arms
from chains import errors, placed, random_chain, within
from closed_form_arms import SEVEN, dh
from linkwork.errors import FrameNotFoundError, GoalError, LinkworkError, OptionError, PoseShapeError, PoseValueError
from linkwork.solvers.batch_answers import Batch
from linkwork.solvers.batch_work import SMALLEST
from linkwork.solvers.chain import Chain

PANDA = lw.models.panda()
COUNT = 8 * SMALLEST + 500
TARGETS = PANDA.forward(PANDA.random_pose(0, COUNT), frame="tip")
TARGETS[::50, 0, 3] += 2.0  # out of reach
TARGETS[7::97, :3, 3] *= 0.3  # near the base, where few poses reach
TARGETS[3::401, 1, 1] = np.nan
few = TARGETS[4:43]
dtypes = pytest.mark.parametrize("dtype", ["float64", "float32"])
SOURCE = str(Path(lw.__file__).parents[1])


def same(one: Batch, two: Batch) -> None:
    """Check that two batches are bit-identical."""
    for name in ("q", "success", "residuals", "restarts", "status"):
        assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)


def joined(batches: list[Batch]) -> Batch:
    names = ("q", "success", "residuals", "restarts", "codes")
    parts = {name: np.concatenate([getattr(batch, name) for batch in batches]) for name in names}
    return Batch(batches[0].linkage, batches[0].goal, **parts)


# The same answers


@dtypes
def test_the_number_of_threads_changes_no_bit(dtype: str) -> None:
    one, *others = (lw.solve_batch(lw.models.panda(), "tip", TARGETS, threads=n, dtype=dtype) for n in (1, 2, 7, None))
    for other in others:
        same(one, other)


@dtypes
@pytest.mark.parametrize("sizes", [(1, 1), (100, 400, 30), (512, 512), (511, 513), (3000, SMALLEST, 500)])
def test_blocks_of_any_size_give_the_answers_of_one_batch(sizes: tuple[int, ...], dtype: str) -> None:
    count = sum(sizes)
    whole = lw.solve_batch(lw.models.panda(), "tip", TARGETS[:count], dtype=dtype)
    cuts = np.split(TARGETS[:count], np.cumsum(sizes)[:-1])
    same(whole, joined(list(lw.solve_blocks(lw.models.panda(), "tip", iter(cuts), dtype=dtype))))


@pytest.mark.parametrize("name", ["panda", "gen3", "ur5", "five joints", "Jaco 2"])
def test_goals_without_a_pose_are_answered_alike_in_blocks_of_any_size(name: str) -> None:
    arm = {
        "panda": lw.models.panda,
        "gen3": lambda: dh(SEVEN),
        "ur5": lw.models.ur5,
        "five joints": lambda: lw.models.panda().freeze("panda_joint1", at=0.2).freeze("panda_joint3", at=-0.3),
        "Jaco 2": lambda: six_joint_arms.linkage("Jaco 2"),
    }[name]()
    targets = arm.forward(arm.random_pose(3, 400), frame="tip")
    targets[::2, :3, :3] = targets[::2, :3, :3] @ np.diag([1.0, -1.0, -1.0])
    targets[::5, :3, 3] *= 1.3
    whole = lw.solve_batch(arm, "tip", targets)
    assert 40 < (~whole.success).sum() < 360
    for size in (100, 37, 9):
        cuts = np.split(targets, range(size, len(targets), size))
        same(whole, joined(list(lw.solve_blocks(arm, "tip", iter(cuts)))))


def test_what_was_asked_before_changes_no_bit() -> None:
    arm = lw.models.panda()
    some = TARGETS[4:120]  # two of them out of reach
    first, single = (lw.solve_batch(arm, "tip", some, dtype=dtype) for dtype in ("float64", "float32"))
    lw.solve_batch(arm, "tip", TARGETS[:2000])
    assert not lw.solve(arm, lw.Reach("tip", orientation=TARGETS[50])).success
    same(first, lw.solve_batch(arm, "tip", some))
    same(single, lw.solve_batch(arm, "tip", some, dtype=np.float32))


def test_the_rows_beside_it_do_not_change_a_row() -> None:
    whole = lw.solve_batch(PANDA, "tip", few, restarts=16)
    for k in (0, 5, 38):
        others = TARGETS[60:99].copy()
        others[k] = few[k]
        assert_array_equal(lw.solve_batch(PANDA, "tip", others, restarts=16).q[k], whole.q[k])


def test_a_seed_repeats_and_another_may_not() -> None:
    arm = lw.models.ur5()  # for poses there is a closed form, without random starts
    targets = arm.forward(arm.random_pose(1, 3000), frame="tip")
    one, again, other = (lw.solve_batch(arm, "tip", targets, seed=seed, free="z") for seed in (4, 4, 5))
    same(one, again)
    assert (one.q != other.q).any()
    assert one.success.all()
    assert other.success.all()


# Rows


@dtypes
def test_every_row_is_judged_by_itself(dtype: str) -> None:
    batch = lw.solve_batch(PANDA, "tip", TARGETS, dtype=dtype)
    finite = np.isfinite(TARGETS).all(axis=(1, 2))
    assert_array_equal(batch.status == "invalid", ~finite)
    assert_array_equal(np.isnan(batch.residuals).any(axis=1), ~finite)
    found = errors(PANDA, "tip", batch.q[finite], TARGETS[finite], "pose")
    assert_allclose(batch.residuals[finite], found, rtol=1e-5, atol=2e-8)
    assert_array_equal(batch.success[finite], (found <= (1e-4, 1e-3)).all(axis=1))
    assert within(PANDA, batch.q).all()
    assert_array_equal(batch.residual, batch.residuals.max(axis=1))
    assert len(batch) == COUNT
    assert repr(batch) == f"<Batch of 'tip': {batch.success.sum()} of {COUNT} reached>"


BROKEN = {
    "nan": placed() * np.nan,
    "one nan": np.where(np.eye(4, k=3) > 0, np.nan, np.eye(4)),
    "infinite place": placed(None, (np.inf, 0, 0)),
    "infinite axis": np.where(np.eye(4, k=1) > 0, np.inf, np.eye(4)),
    "reflection": np.diag([1.0, 1.0, -1.0, 1.0]),
    "scaled": np.diag([2.0, 2.0, 2.0, 1.0]),
    "slightly scaled": np.diag([1.001, 1.0, 1.0, 1.0]),
    "sheared": np.eye(4) + 0.1 * np.eye(4, k=1),
    "zero": np.zeros((4, 4)),
    "last row": np.array([[1.0, 0, 0, 0.3], [0, 1, 0, 0], [0, 0, 1, 0.5], [1, 2, 3, 1]]),
    "no one in the corner": np.array([[1.0, 0, 0, 0.3], [0, 1, 0, 0], [0, 0, 1, 0.5], [0, 0, 0, 0]]),
    "huge": np.full((4, 4), 1e300),
}


@dtypes
@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_target_fails_alone(name: str, dtype: str) -> None:
    clean = lw.solve_batch(PANDA, "tip", few, dtype=dtype)
    targets = few.copy()
    targets[[0, 17, 38]] = BROKEN[name]
    batch = lw.solve_batch(PANDA, "tip", targets, dtype=dtype)
    bad = np.isin(np.arange(len(few)), [0, 17, 38])
    assert_array_equal(batch.status == "invalid", bad)
    assert not batch.success[bad].any()
    assert np.isnan(batch.residuals[bad]).all()
    assert_array_equal(batch.q[bad], np.tile(PANDA.neutral(), (3, 1)))
    assert_array_equal(batch.q[~bad], clean.q[~bad])
    assert_array_equal(batch.residuals[~bad], clean.residuals[~bad])
    assert batch.reason(17) == "not reached: the target is not a rigid transform of finite numbers."


def test_a_broken_target_keeps_its_start() -> None:
    targets, start = few.copy(), PANDA.random_pose(3, len(few))
    targets[4] = np.nan
    batch = lw.solve_batch(PANDA, "tip", targets, start=start)
    assert_array_equal(batch.q[4], start[4])
    assert batch.status[4] == "invalid"


def test_unreachable_rows_say_so_and_cost_few_starts() -> None:
    far = TARGETS[1:700].copy()
    far[:, :3, 3] += (4.0, 0.0, 0.0)
    far = far[np.isfinite(far).all(axis=(1, 2))]
    batch = lw.solve_batch(PANDA, "tip", far)
    assert not batch.success.any()
    assert set(batch.status) == {"beyond"}
    assert batch.restarts.max() <= 24
    assert lw.solve_batch(PANDA, "tip", far, closest=False).restarts.max() <= 2
    assert batch.reason(0).startswith("out of reach")
    assert f"after {batch.restarts[0]} starts" in batch.reason(0)
    reach = shells_of(PANDA)
    away = np.linalg.norm(far[:, :3, 3] - reach[0], axis=1)
    assert (batch.residuals[:, 0] >= away - reach[1]).all()


def shells_of(arm: lw.Linkage) -> tuple[np.ndarray, float]:
    """Return centre and radius of an arm's reach, from random poses."""
    from linkwork.solvers.chain import shells

    centre, _, extents = shells(Chain(arm, "tip"))
    return centre, float(extents[0, 1])


def test_reasons_of_all_ends() -> None:
    targets = np.array([few[0], placed(None, (9, 0, 0)), placed(np.diag([1.0, -1.0, -1.0]), (0, 0, 0.25))])
    batch = lw.solve_batch(PANDA, "tip", targets)
    assert batch.status[0] == "reached"
    assert batch.reason(0).startswith("reached: position error ")
    assert "rotation error" in batch.reason(0)
    assert batch.status[2] == "closest"
    assert "not reached" in batch.reason(2)
    for row in range(3):
        assert batch.reason(row).endswith(".")
    several = lw.solve_batch(PANDA, "tip", targets, solutions=2)
    assert several.reason(0).startswith("reached: position error ")
    body = lw.solve_batch(PANDA, {"tip": targets})
    for found in (batch, several, body):
        for row in (3, -4):
            with pytest.raises(OptionError, match=rf"no row {row}: the batch has rows 0 to 2"):
                found.reason(row)
    late = lw.solve_batch(PANDA, "tip", TARGETS, time_budget=1e-9, threads=1)
    assert (late.status == "time").all()
    assert "time" in late.reason(0)
    assert not late.success.any()
    assert_array_equal(late.q, np.tile(PANDA.neutral(), (COUNT, 1)))


# Starts


@dtypes
def test_a_start_beyond_limits_is_no_answer(dtype: str) -> None:
    start = PANDA.random_pose(5, 200)
    start[:, 1] = PANDA.upper[1] + 0.2
    targets = PANDA.forward(start, frame="tip")
    for begin in (start, start[0]):
        batch = lw.solve_batch(PANDA, "tip", targets, start=begin, dtype=dtype)
        assert within(PANDA, batch.q).all()
        assert (errors(PANDA, "tip", batch.q, targets, "pose")[batch.success] <= (1e-4, 1e-3)).all()


def test_limits_hold_to_the_last_bit_where_goals_lie_on_them() -> None:
    for seed in range(10):
        chain = random_chain(np.random.default_rng(seed), 6, simple=True)
        poses = chain.random_pose(seed, 200)
        edge = np.where(np.random.default_rng(seed).random(poses.shape) < 0.5, chain.lower, chain.upper)
        poses = np.where(np.isfinite(edge), edge, poses)
        for dtype in ("float64", "float32"):
            batch = lw.solve_batch(chain, "tip", chain.forward(poses, frame="tip"), dtype=dtype)
            assert within(chain, batch.q).all()


@dtypes
def test_answers_stay_near_their_starts(dtype: str) -> None:
    arm = lw.models.ur5()
    rng = np.random.default_rng(0)
    start = arm.random_pose(rng, 500) * 0.4
    start = start[np.linalg.svd(arm.jacobian(start, "tip"), compute_uv=False)[:, -1] > 0.05]
    there = start + rng.uniform(-0.03, 0.03, start.shape)
    batch = lw.solve_batch(arm, "tip", arm.forward(there, frame="tip"), start=start, dtype=dtype)
    assert batch.success.all()
    assert np.abs(batch.q - start).max() < 0.3
    one = lw.solve_batch(arm, "tip", arm.forward(there[:1], frame="tip"), start=start[0], dtype=dtype)
    assert_array_equal(one.q, batch.q[:1])


@dtypes
def test_starts_that_are_there_already_come_back_as_they_are(dtype: str) -> None:
    q = PANDA.random_pose(9, 300)
    batch = lw.solve_batch(PANDA, "tip", PANDA.forward(q, frame="tip"), start=q, dtype=dtype)
    assert_allclose(batch.q, q, rtol=0, atol=0.0 if dtype == "float64" else 1e-5)


def test_joints_that_do_not_move_the_frame_keep_their_start() -> None:
    figure = lw.models.human()
    start = figure.interpolate(figure.neutral(), figure.random_pose(0, 30), np.full(30, 0.3)[0])
    hands = figure.forward(figure.interpolate(figure.neutral(), figure.random_pose(1, 30), 0.4), frame="left_hand")
    batch = lw.solve_batch(figure, "left_hand", hands[:, :3, 3], start=start, orientation=False)
    apart = np.setdiff1d(np.arange(figure.nq), Chain(figure, "left_hand").plain[1])
    assert_array_equal(batch.q[:, apart], start[:, apart])
    assert batch.success.mean() > 0.9
    plain = lw.solve_batch(figure, "left_hand", hands[:, :3, 3], orientation=False)
    assert_array_equal(plain.q[:, apart], np.tile(figure.neutral()[apart], (30, 1)))


def test_read_only_targets_and_starts_of_any_kind_are_taken() -> None:
    q = PANDA.random_pose(0, len(few))
    frozen = few.copy()
    frozen.setflags(write=False)
    same(lw.solve_batch(PANDA, "tip", frozen, start=q), lw.solve_batch(PANDA, "tip", few, start=q))
    same(lw.solve_batch(PANDA, "tip", frozen, start=q[0]), lw.solve_batch(PANDA, "tip", few, start=q[0]))


# Sizes


@dtypes
@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 15, 16, 17, 33])
def test_batches_of_any_size(count: int, dtype: str) -> None:
    batch = lw.solve_batch(PANDA, "tip", few[:count], dtype=dtype)
    assert batch.q.shape == (count, 7)
    assert batch.success.shape == batch.restarts.shape == batch.status.shape == batch.residual.shape == (count,)
    assert batch.residuals.shape == (count, 2)
    assert_array_equal(batch.q, lw.solve_batch(PANDA, "tip", few, dtype=dtype).q[:count])


def test_no_blocks_and_empty_blocks() -> None:
    assert list(lw.solve_blocks(PANDA, "tip", [])) == []
    batches = list(lw.solve_blocks(PANDA, "tip", [few[:0], few[:5], few[:0]]))
    assert [len(batch) for batch in batches] == [0, 5, 0]


def test_blocks_are_asked_for_one_at_a_time() -> None:
    asked = []

    def blocks():
        for k in range(5):
            asked.append(k)
            yield few[:3]

    stream = lw.solve_blocks(PANDA, "tip", blocks())
    next(stream)
    assert asked == [0]
    next(stream)
    assert asked == [0, 1]


@pytest.mark.parametrize(
    ("options", "shape"),
    [({"orientation": False}, (3,)), ({"position": False}, (3, 3)), ({"position": "xy", "orientation": False}, (2,))],
)
def test_short_forms_of_targets_are_the_long_ones(options: dict[str, object], shape: tuple[int, ...]) -> None:
    short = {(3,): few[:, :3, 3], (2,): few[:, :2, 3], (3, 3): few[:, :3, :3]}[shape]
    assert_array_equal(
        lw.solve_batch(PANDA, "tip", short, **options).q[1:], lw.solve_batch(PANDA, "tip", few, **options).q[1:]
    )
    with pytest.raises(GoalError, match="4x4 matrices"):
        lw.solve_batch(PANDA, "tip", short)


def test_the_error_of_a_wrong_shape_says_what_to_do() -> None:
    with pytest.raises(GoalError, match=r"single 4x4 matrix goes in as targets\[None\]"):
        lw.solve_batch(PANDA, "tip", few[0])
    with pytest.raises(GoalError, match="Positions alone need orientation=False"):
        lw.solve_batch(PANDA, "tip", few[:, :3, 3])


@pytest.mark.parametrize("form", ["list", "fortran", "strided", "float32", "big-endian", "read-only"])
def test_targets_come_in_any_form_of_numbers(form: str) -> None:
    frozen = few.copy()
    frozen.setflags(write=False)
    targets = {
        "list": few.tolist(),
        "fortran": np.asfortranarray(few),
        "strided": np.repeat(few, 2, axis=0)[::2],
        "float32": few.astype(np.float32),
        "big-endian": few.astype(">f8"),
        "read-only": frozen,
    }[form]
    before = np.array(targets)
    batch = lw.solve_batch(PANDA, "tip", targets)
    assert batch.success.sum() == lw.solve_batch(PANDA, "tip", few).success.sum()
    assert_array_equal(np.array(targets), before)


# Progress, time and interruption


@pytest.mark.parametrize("threads", [1, 3])
def test_progress_rises_to_the_total(threads: int) -> None:
    calls: list[tuple[int, int]] = []
    lw.solve_batch(PANDA, "tip", TARGETS, threads=threads, progress=lambda done, total: calls.append((done, total)))
    done = [call[0] for call in calls]
    assert done == sorted(set(done))
    assert calls[-1] == (COUNT, COUNT)
    assert {total for _, total in calls} == {COUNT}
    assert len(calls) >= 3


@pytest.mark.parametrize("threads", [1, 2])
def test_a_progress_that_raises_stops_the_batch(threads: int) -> None:
    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lw.solve_batch(PANDA, "tip", TARGETS, threads=threads, progress=stop)


def test_nothing_is_said_where_there_is_no_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    lw.solve_batch(PANDA, "tip", few)
    lw.solve_batch(PANDA, "tip", few, progress=False)
    assert capfd.readouterr() == ("", "")
    lw.solve_batch(PANDA, "tip", few, progress=True)  # a progress bar, never on stdout
    assert capfd.readouterr().out == ""


def test_what_is_done_in_time_is_kept() -> None:
    batch = lw.solve_batch(PANDA, "tip", TARGETS, time_budget=1e9)
    assert "time" not in batch.status
    assert batch.success.mean() > 0.9


LONG = """
import sys, numpy as np, linkwork as lw
arm = lw.models.panda()
targets = arm.forward(arm.random_pose(0, 4096), frame="tip")
lw.solve_batch(arm, "tip", targets, threads=2)
many = np.broadcast_to(targets[0], (4_000_000, 4, 4))  # seconds of work
try:
    print("begun", flush=True)
    {call}
    print("finished", flush=True)
except KeyboardInterrupt:
    print("stopped", flush=True)
"""
CALLS = {
    "one thread": "lw.solve_batch(arm, 'tip', many, threads=1)",
    "two threads": "lw.solve_batch(arm, 'tip', many, threads=2)",
    "blocks": "all(True for _ in lw.solve_blocks(arm, 'tip', (many[:99_000] for _ in range(999))))",
}


@pytest.mark.skipif(os.name == "nt", reason="signals are sent in another way there")
@pytest.mark.parametrize("call", CALLS)
def test_ctrl_c_stops_a_batch_within_moments(call: str) -> None:
    script = LONG.format(call=CALLS[call])
    environment = os.environ | {"PYTHONPATH": SOURCE}
    with children.started([sys.executable, "-c", script], text=True, env=environment) as process:
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)  # only whether it stops, not how fast
        assert out == "stopped\n", err


MEMORY = """
import resource, numpy as np, linkwork as lw
arm = lw.models.panda()
targets = arm.forward(arm.random_pose(0, 8192), frame="tip")
def blocks(count):
    for _ in range(count):
        yield targets
def most():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
reached = sum(int(b.success.sum()) for b in lw.solve_blocks(arm, "tip", blocks(3), threads=2))
first = most()
reached += sum(int(b.success.sum()) for b in lw.solve_blocks(arm, "tip", blocks(ROUNDS), threads=2))
print(8192 * (ROUNDS + 3) - reached, most() - first)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is counted in other units there")
def test_memory_does_not_grow_with_the_number_of_blocks() -> None:
    rounds = 1200 if os.environ.get("LINKWORK_MILLION") else 30  # ten million goals, or a quarter of one
    script = MEMORY.replace("ROUNDS", str(rounds))
    done = children.run(
        [sys.executable, "-c", script],
        text=True,
        env=os.environ | {"PYTHONPATH": SOURCE},
        check=True,
        encoding="utf-8",
    )
    missed, growth = done.stdout.split()
    assert int(missed) <= rounds // 30  # in a million, one or two goals at the edge of reach
    assert float(growth) < 12.0  # MiB; the targets of thirty blocks have 30


# Wrong input


@pytest.mark.parametrize(
    "targets",
    [
        None, "far", 3.0, [], np.zeros(0), np.zeros(3), np.zeros((2, 3)), np.zeros((2, 3, 3)), np.zeros((2, 4)),
        np.zeros((4, 4)),
        np.zeros((2, 2, 4, 5)), np.zeros((2, 4, 5)), few.astype(object), few.astype(complex), few.astype(str), few > 0,
        [[1], [1, 2]], {"a": 1}, np.array(["2020-01-01"], "datetime64[D]"),
    ],
    ids=lambda targets: f"{getattr(targets, 'dtype', targets)} {getattr(targets, 'shape', type(targets).__name__)}",
)  # fmt: skip
def test_targets_of_a_wrong_kind_are_refused(targets: object) -> None:
    with pytest.raises(GoalError):
        lw.solve_batch(PANDA, "tip", targets)
    with pytest.raises(GoalError):
        list(lw.solve_blocks(PANDA, "tip", [targets]))


@pytest.mark.parametrize(
    ("error", "options"),
    [
        *((OptionError, {"threads": value}) for value in (0, -1, 1.5, "two", True, [1])),
        *((OptionError, {"dtype": value}) for value in ("float16", "half", int, 64, ["float32"])),
        *((OptionError, {"time_budget": value}) for value in (0, -1, np.nan, "soon", True, [1])),
        *((OptionError, {"seed": value}) for value in (-1, 0.5, "one", None, True, [1], 10**30)),
        *((OptionError, {"restarts": value}) for value in (-1, 0.5, "one", None, True, [1], 10**30)),
        *((OptionError, {"tolerance": value}) for value in (0, -1e-4, np.nan, "fine", [1e-4])),
        *((OptionError, {"progress": value}) for value in (5, "yes")),
        (OptionError, {"limits": False}),
        (OptionError, {"position": "z"}),
        (OptionError, {"orientation": 3}),
        (OptionError, {"tolerence": 1e-3}),
        (OptionError, {"max_iterations": 5}),
        (GoalError, {"free": "q"}),
        (GoalError, {"position": False, "orientation": False}),
        (PoseShapeError, {"start": np.zeros(6)}),
        (PoseShapeError, {"start": 0.0}),
        (OptionError, {"start": np.zeros((2, 7))}),
        (OptionError, {"start": np.zeros((1, len(few), 7))}),
        (PoseValueError, {"start": np.full(7, np.nan)}),
        (PoseValueError, {"start": ["a"] * 7}),
        (LinkworkError, {"start": "nowhere"}),
    ],
    ids=str,
)
def test_wrong_options_are_refused(error: type[Exception], options: dict[str, object]) -> None:
    with pytest.raises(error):
        lw.solve_batch(PANDA, "tip", few, **options)


def test_an_unknown_option_is_answered_with_those_there_are() -> None:
    with pytest.raises(OptionError, match=r"'tolerence'.*tolerance.*seed"):
        lw.solve_batch(PANDA, "tip", few, tolerence=1e-3)


@pytest.mark.parametrize(
    ("error", "frame"), [(FrameNotFoundError, "nose"), (GoalError, 3), (GoalError, None), (GoalError, PANDA.frames[0])]
)
def test_a_frame_that_cannot_be_brought_anywhere_is_refused(error: type[Exception], frame: object) -> None:
    with pytest.raises(error):
        lw.solve_batch(PANDA, frame, few)


def test_numbers_of_numpy_are_numbers() -> None:
    plain = lw.solve_batch(PANDA, "tip", few, threads=2, seed=3, restarts=50, time_budget=100.0)
    same(plain, lw.solve_batch(PANDA, "tip", few, threads=np.int64(2), seed=np.int32(3), restarts=np.int64(50),
                               time_budget=np.float64(100.0)))  # fmt: skip


def test_a_stored_pose_is_a_start_here_too() -> None:
    named = lw.solve_batch(PANDA, "tip", few, start="ready")
    same(named, lw.solve_batch(PANDA, "tip", few, start=PANDA.stored_pose("ready")))


@pytest.mark.parametrize("model", ["panda", "ur5", "planar:2,1,0.5"])
def test_targets_whose_squares_are_not_finite_are_refused_alike(model: str) -> None:
    arm = lw.models.build(model)
    targets = np.tile(np.eye(4), (3, 1, 1))
    targets[:, 0, 3] = 1e99, 1e101, -1e155
    batch = lw.solve_batch(arm, "tip", targets, closest=False)
    assert batch.status.tolist() == ["beyond", "invalid", "invalid"]
    assert np.isnan(batch.residuals[1:]).all()
    ik = lw.prepare(arm, "tip")
    for target in targets[1:]:
        with pytest.raises(lw.errors.GoalError):
            ik(target)
        with pytest.raises(lw.errors.GoalError):
            lw.Reach("tip", pose=target)
