"""The search on a GPU, in numba-cuda's simulator: the same answers as on the CPU, for all ways to compute them."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import children
import linkwork as lw
import six_joint_arms
from cuda_cases import (
    AVOID,
    CASES,
    FAR_STARTS,
    FORMS,
    FREE,
    OBSTACLES,
    OTHERS,
    PANDA,
    TARGETS,
    UR5,
    case_of,
    form_targets,
    free_targets,
    starts_of,
    why_not,
)
from linkwork.errors import DeviceError, MissingExtraError, OptionError
from linkwork.kernels import cards
from linkwork.kernels.cards import require_card
from linkwork.kernels.chain_memory import REPORT
from linkwork.kernels.collision.outcomes import COLLIDES
from linkwork.kernels.damped import within
from linkwork.kernels.devices import DeviceArray, _Borrowed, as_library, on_card, to_host
from linkwork.kernels.search_many import BEYOND, CLOSEST, REACHED
from linkwork.kernels.symbolic import Trace
from linkwork.linkage.poses import distinct
from linkwork.solvers.chain import Chain

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]  # the first test waits for the whole simulation
HERE = Path(__file__).parents[1]
SOURCE = str(Path(lw.__file__).parents[1])
PARTS = ("q", "codes", "residuals", "restarts", "success")
simulated = pytest.mark.skipif(bool(why_not()), reason=why_not())


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Results of the simulator, by case and part."""
    path = tmp_path_factory.mktemp("cuda") / "found.npz"
    paths = os.pathsep.join((SOURCE, str(HERE)))
    environment = {**os.environ, "PYTHONPATH": paths, "NUMBA_ENABLE_CUDASIM": "1"}
    run = children.run(
        [sys.executable, str(HERE / "cuda_simulated.py"), str(path)],
        env=environment,
        text=True,
        encoding="utf-8",
    )
    assert run.returncode == 0, run.stderr[-4000:]
    return np.load(path)


@simulated
@pytest.mark.parametrize("name", CASES)
def test_flags_are_those_of_the_processor_and_answers_hold(name: str, found: Any) -> None:
    linkage, frame, targets, options = case_of(name)
    expected = lw.solve_batch(linkage, frame, targets, closest=False, **options)  # only the search, as on the GPU
    same = found[f"{name}.codes"] == expected.codes
    assert (same | ((found[f"{name}.codes"] == CLOSEST) & (expected.codes == BEYOND))).all()  # proved by a closed form
    assert_array_equal(found[f"{name}.success"], expected.success)
    good = expected.success
    tolerances = [options.get("tolerance", 1e-4), options.get("rotation_tolerance", 1e-3)]
    asked = [options.get("position", True), options.get("orientation", True)]
    limit = [tolerance for tolerance, wanted in zip(tolerances, asked, strict=True) if wanted]
    assert (found[f"{name}.residuals"][good] <= limit).all()
    q = found[f"{name}.q"]
    if options.get("limits") != "ignore":
        assert ((q >= linkage.lower) & (q <= linkage.upper)).all()
    if name in ("race", "tight", "double", "unlimited", *OTHERS):  # complete targets: search again
        again = linkage.forward(q[good], frame=frame) - targets[good]
        assert np.linalg.norm(again[:, :3, 3], axis=1).max() <= tolerances[0] + 1e-12
        assert np.linalg.norm(again[:, :3, :3], axis=(1, 2)).max() <= 1.5 * tolerances[1]


@simulated
@pytest.mark.parametrize("rounds", ["rounds", "written rounds"])
def test_rounds_take_the_starts_of_the_processor(rounds: str, found: Any) -> None:
    prepared, status = lw.prepare(PANDA, "tip"), np.zeros(len(TARGETS), np.int64)
    q, report = prepared.search(TARGETS, status, bounded=True, restarts=prepared.restarts)  # only the search
    assert_array_equal(found[f"{rounds}.codes"], status)
    assert_array_equal(found[f"{rounds}.restarts"], REPORT.view(report).starts)
    good, expected = status == REACHED, lw.solve_batch(PANDA, "tip", TARGETS, closest=True)
    assert_allclose(found[f"{rounds}.q"][good], q[good], atol=2e-3)  # single precision, with a different last step
    missed = ~good & np.isfinite(expected.residual)  # the CPU brings these closer
    chords = np.array([1.0, Chain(PANDA, "tip").length / 4.0])
    card, processor = (
        np.linalg.norm(x[missed] * chords, axis=1) for x in (found[f"{rounds}.residuals"], expected.residuals)
    )
    assert (card >= processor - 1e-4).all()
    assert_array_equal(found[f"{rounds}.q"][2], PANDA.neutral())
    assert np.isnan(found[f"{rounds}.residuals"][2]).all()


@simulated
def test_the_closed_form_of_seven_joints_answers_first(found: Any) -> None:
    expected = lw.solve_batch(PANDA, "tip", TARGETS)
    assert_array_equal(found["form.success"], expected.success)
    by_form = found["form.success"] & (found["form.restarts"] == 0)
    assert by_form.sum() >= 4
    q, residuals = found["form.q"][by_form], found["form.residuals"][by_form]
    assert ((q >= PANDA.lower) & (q <= PANDA.upper)).all()
    again = PANDA.forward(q, frame="tip") - TARGETS[by_form]
    assert np.abs(again).max() < 5e-6  # single precision
    assert_allclose(residuals[:, 0], np.linalg.norm(again[:, :3, 3], axis=1), atol=1e-12)


@simulated
@pytest.mark.parametrize("name", FREE)
def test_answers_are_free_of_collisions(name: str, found: Any) -> None:
    arm, options = FREE[name]
    targets, success, q = free_targets(name), found[f"free {name}.success"], found[f"free {name}.q"]
    assert success.tolist() == [True, name != "searched"]
    assert found[f"free {name}.codes"][1] == (COLLIDES if name == "searched" else REACHED)
    assert (lw.clearance(arm, q[success], OBSTACLES).distance >= AVOID.margin).all()
    assert ((q >= arm.lower) & (q <= arm.upper)).all()
    again = arm.forward(q[success], frame="tip") - targets[success]
    assert np.linalg.norm(again[:, :3, 3], axis=1).max() <= 1e-4
    assert not options.get("orientation", True) or np.abs(again[:, :3, :3]).max() <= 1e-3


@simulated
def test_the_processor_sees_to_targets_that_the_card_has_no_free_answer_to(found: Any) -> None:
    arm, options = FREE["searched"]
    expected = lw.solve_batch(arm, "tip", free_targets("searched")[1:], avoid=AVOID, **options)
    assert found["free there and back.codes"].tolist() == expected.codes.tolist() == [COLLIDES]
    assert_array_equal(found["free there and back.q"], expected.q)


@simulated
def test_a_start_that_is_given_is_followed_first(found: Any) -> None:
    prepared, status = lw.prepare(PANDA, "tip"), np.zeros(4, np.int64)
    restarts = prepared.restarts  # only the search
    q, report = prepared.search(TARGETS[:4], status, given=starts_of(4), bounded=True, restarts=restarts)
    first = (status == REACHED) & (REPORT.view(report).starts == 0)
    assert first.any()
    for name in ("starts", "starts there", "written starts"):
        assert_array_equal(found[f"{name}.codes"], status)
        assert_array_equal(found[f"{name}.restarts"] == 0, REPORT.view(report).starts == 0)
        assert_allclose(found[f"{name}.q"][first], q[first], atol=2e-3)


@simulated
def test_angles_are_at_the_copy_nearest_to_their_start(found: Any) -> None:
    q = found["turns.q"]
    assert found["turns.success"].all()
    for turns in (-1, 1):
        other = q + 2.0 * np.pi * turns
        inside = (other >= UR5.lower) & (other <= UR5.upper)
        assert not (inside & (np.abs(other - FAR_STARTS) < np.abs(q - FAR_STARTS) - 1e-9)).any()


@simulated
@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("name", FORMS)
def test_all_solutions_of_closed_forms(name: str, kind: str, found: Any) -> None:
    values, mask, targets = found[f"{name}.{kind}.values"], found[f"{name}.{kind}.mask"], form_targets(name)
    expected, there, proven = lw.closed_form(six_joint_arms.linkage(name), "tip").all_many_proven(targets)
    assert_array_equal(found[f"{name}.{kind}.complete"][[0, 1, 2, 5]], proven[[0, 1, 2, 5]])
    if kind == "float64":
        assert_array_equal(found[f"{name}.{kind}.complete"][3], proven[3])
    clear = [0, 1, 2, 5, 6]  # at double roots, rounded targets have two solutions, one or none
    assert_array_equal(mask[clear], there[clear])
    assert mask[4].any()
    assert not mask[5:].any()
    assert np.isnan(values[~mask]).all()
    exact = kind == "float64"
    both = (mask & there)[:3]
    assert_allclose(values[:3][both], expected[:3][both], atol=1e-9 if exact else 1e-4)
    owners = np.broadcast_to(targets[:, None], (*mask.shape, 4, 4))[mask]
    assert_allclose(six_joint_arms.forward(name, values[mask].astype(float)), owners, atol=1e-6 if exact else 4e-5)
    assert found[f"{name}.{kind}.valid"].tolist() == 6 * [True] + [False]


@simulated
def test_several_solutions_of_a_closed_form_are_those_of_the_processor(found: Any) -> None:
    arm, targets = six_joint_arms.linkage(FORMS[0]), form_targets(FORMS[0])[:4]
    expected = lw.solve_batch(arm, "tip", targets, solutions=3, apart=0.05)
    assert_array_equal(found["several formed.counts"], expected.counts)
    isolated = expected.complete
    assert_allclose(found["several formed.q"][isolated], expected.q[isolated], atol=1e-3)


@simulated
def test_several_solutions_from_starts_reach_and_are_distinct(found: Any) -> None:
    (poses,), (count,) = found["several started.q"], found["several started.counts"]
    assert count > 1
    places = PANDA.forward(poses[:count], frame="tip")[:, :3, 3]
    assert_allclose(places, np.broadcast_to(TARGETS[0, :3, 3], places.shape), atol=1e-4)
    assert len(distinct(PANDA, poses[:count], 0.05)) == count


@simulated
def test_all_solutions_of_targets_on_the_card_stay_there(found: Any) -> None:
    host = found[f"{FORMS[-1]}.float64.values"], found[f"{FORMS[-1]}.float64.mask"]
    assert_array_equal(found["stays.values"], host[0])
    assert_array_equal(found["stays.mask"], host[1])


@simulated
def test_kernels_that_differ_are_kept_under_different_names(found: Any) -> None:
    assert len(set(found["keys"])) == len(found["keys"])


@simulated
def test_kernels_of_a_run_are_chosen_once_for_good(found: Any) -> None:
    assert found["settled"].tolist() == [True, True]  # kernels for any chain


@simulated
@pytest.mark.parametrize("other", ["single", "there", "split", "blocks"])
def test_answers_do_not_depend_on_where_targets_lie_or_how_they_are_split(other: str, found: Any) -> None:
    assert_array_equal(found[f"{other}.codes"], found["race.codes"])
    same = found["race.success"].copy()
    same[:] |= other in ("single", "blocks")  # in GPU arrays, misses are not improved
    for part in PARTS:
        assert_array_equal(found[f"{other}.{part}"][same], found[f"race.{part}"][same], err_msg=part)


@simulated
def test_answers_on_a_card_have_the_leading_axes_of_their_targets(found: Any) -> None:
    for part in PARTS:
        one, other = found[f"folded.{part}"], found[f"starts there.{part}"]
        assert one.shape == (2, 2, *other.shape[1:])
        assert_array_equal(one.reshape(other.shape), other, err_msg=part)


@simulated
def test_kernels_for_one_chain_reach_what_those_for_any_do(found: Any) -> None:
    assert_array_equal(found["written balls.codes"], found["balls.codes"])
    assert (found["written balls.residuals"][found["balls.success"]] <= [1e-4, 1e-3]).all()


@simulated
@pytest.mark.parametrize("name", ["panda", *OTHERS])
def test_frames_and_jacobians_are_those_of_the_processor(name: str, found: Any) -> None:
    linkage, frame = OTHERS.get(name, (PANDA, "tip"))
    q = linkage.random_pose(3, 3)
    assert_allclose(found[f"{name}.frames"], linkage.forward(q, frame=frame), atol=1e-14)
    for axes in ("world", "local"):
        assert_allclose(found[f"{name}.{axes}"], linkage.jacobian(q, frame, axes=axes), atol=1e-14)


def test_a_trace_leaves_out_what_is_known() -> None:
    trace = Trace(np.float64)
    (x,) = trace.memory("x", 1)
    assert x * 0.0 == 0.0
    assert x * 1.0 is x
    assert x + 0.0 is x
    assert (x > -np.inf) is True
    assert trace.of(within)((-np.inf, np.inf), 0, x) is x
    assert trace.of(within)((2.0, np.inf), 0, x) is trace.of(within)((2.0, np.inf), 0, x)  # cached
    assert trace.lines == ["t0 = x[0] > k0", "t1 = choose(t0, x[0], k0)"]
    with pytest.raises(TypeError, match="branch"):
        bool(x > 0.0)


class Memory:
    """Host memory with the description of GPU memory."""

    def __init__(self, array: Any) -> None:
        self.array, self.dtype = array, array.dtype

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {**self.array.__array_interface__, "version": 3}

    def copy_to_host(self) -> Any:
        return self.array.copy()


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32, np.int8, np.bool_])
def test_arrays_go_to_other_libraries_and_come_from_them_without_a_copy(dtype: Any) -> None:
    memory = Memory(np.arange(6).astype(dtype))
    array = DeviceArray(memory, (2, 3))
    interface = _Borrowed(array.__dlpack__(stream=None)).__cuda_array_interface__
    assert interface["shape"] == (2, 3)
    assert np.dtype(interface["typestr"]) == dtype
    assert interface["data"][0] == memory.array.ctypes.data == array.__cuda_array_interface__["data"][0]
    assert on_card(array)
    assert not on_card(memory.array)
    assert_array_equal(np.asarray(array), memory.array.reshape(2, 3))
    assert_array_equal(to_host(memory.array), memory.array)
    assert as_library(array, memory) is array
    with pytest.raises(ValueError, match="copied"):
        np.asarray(array, copy=False)


def test_missing_parts_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    require_card.cache_clear()
    monkeypatch.setattr(cards.importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(MissingExtraError, match=r"linkwork\[cuda\]"):
        lw.solve_batch(PANDA, "tip", TARGETS, device="cuda")


def test_what_does_not_work_without_a_library_of_cuda_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        """A module whose attributes raise errors, like numba.cuda without CUDA's runtime."""

        def __getattr__(self, name: str) -> Any:
            raise RuntimeError('Failure finding "libcudart.so.13"\nNo such file')

    require_card.cache_clear()
    monkeypatch.setattr(cards.importlib.util, "find_spec", lambda _name: "found")
    monkeypatch.setitem(sys.modules, "numba", Broken())
    with pytest.raises(DeviceError, match=r'"libcudart.so.13"\)\. .*numba-cuda\[cu13\].*device=.cpu.'):
        lw.solve_batch(PANDA, "tip", TARGETS, device="cuda")
    require_card.cache_clear()


@simulated
def test_no_card_and_too_old_a_driver_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from numba import cuda

    require_card.cache_clear()
    monkeypatch.setattr(cuda, "is_available", lambda: False)
    with pytest.raises(DeviceError, match="nvidia-smi"):
        lw.solve_batch(PANDA, "tip", TARGETS, device="cuda")
    monkeypatch.setattr(cuda, "is_available", lambda: True)
    monkeypatch.setattr(type(cuda.cudadrv.driver.driver), "get_version", lambda _driver: (11, 4))
    with pytest.raises(DeviceError, match=r"11\.4; 12\.0 or newer"):
        lw.solve_batch(PANDA, "tip", TARGETS, device="cuda")


def test_arrays_of_a_card_are_not_for_the_processor() -> None:
    there = DeviceArray(Memory(TARGETS.ravel()), TARGETS.shape)
    with pytest.raises(DeviceError, match="device='cuda'"):
        lw.solve_batch(PANDA, "tip", there)
    with pytest.raises(DeviceError, match="one frame at a time"):
        PANDA.forward(DeviceArray(Memory(np.zeros(7)), (1, 7)))


def test_unknown_devices_are_refused() -> None:
    with pytest.raises(OptionError, match="'cpu' or 'cuda'"):
        lw.solve_batch(PANDA, "tip", TARGETS, device="tpu")
