"""Calls of machine code from Python: accepted and refused arguments, messages, references, threads."""

from __future__ import annotations

import gc
import sys
import threading
from typing import Any

import numpy as np
import pytest

from linkwork.kernels import kernel
from linkwork.kernels.binding import check_arrays
from linkwork.kernels.chain import tip_one
from linkwork.kernels.decimals import read_decimals
from linkwork.kernels.declarations import all_kernels
from linkwork.kernels.machine_emission import SLOTS
from linkwork.kernels.search_many import search_many
from linkwork.kernels.signatures import parse, symbols


@kernel("f8[] f8 i8 b1 -> f8", "f4[] f8 i8 b1 -> f8")
def weighted(values, factor, first, negative):
    total = 0.0
    for k in range(first, values.size):
        total += factor * values[k]
    return -total if negative else total


@kernel("i8[,] -> b1")
def rises(table):
    for row in range(1, table.shape[0]):
        for column in range(table.shape[1]):
            if table[row, column] <= table[row - 1, column]:
                return False
    return True


@kernel("i8[] i8[]", nogil=True)
def wait_for(flag, rounds):
    while flag[0] == 0 and rounds[0] < 4_000_000_000:
        rounds[0] += 1


VALUES = np.arange(5.0)


def test_numbers_and_arrays_arrive_and_results_return() -> None:
    assert weighted(VALUES, 2.0, 1, False) == 20.0
    assert weighted(VALUES, 2, np.int64(3), np.True_) == -14.0
    assert weighted(VALUES, np.float32(0.5), True, []) == 5.0
    assert weighted(VALUES[:0], 1.0, 0, False) == 0.0
    assert rises(np.array([[1, 2], [3, 4]])) is True
    assert rises(np.array([[1, 2], [3, 2]])) is False
    assert wait_for(np.array([1]), np.array([0])) is None


def test_the_signature_that_fits_is_taken() -> None:
    assert weighted(VALUES.astype(np.float32), 1.0, 0, False) == 10.0


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        (VALUES, 1.0, 0),
        (VALUES, 1.0, 0, False, 1),
        (VALUES.astype(np.int64), 1.0, 0, False),
        (VALUES.astype(">f8"), 1.0, 0, False),
        pytest.param(
            (VALUES.astype(np.longdouble), 1.0, 0, False),
            marks=pytest.mark.skipif(np.dtype(np.longdouble).itemsize == 8, reason="they are doubles here"),
        ),
        (VALUES.astype(np.complex64), 1.0, 0, False),
        (VALUES.reshape(1, 5), 1.0, 0, False),
        (np.array(1.0), 1.0, 0, False),
        (VALUES[::2], 1.0, 0, False),
        (np.zeros(41, np.uint8)[1:].view(np.float64), 1.0, 0, False),  # not aligned
        (VALUES.tolist(), 1.0, 0, False),
        (None, 1.0, 0, False),
        (np.float64(1.0), 1.0, 0, False),
    ],
)
def test_what_does_not_fit_is_refused(arguments: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError, match=r"^weighted takes f8\[\] f8 i8 b1 -> f8 or f4\[\] f8 i8 b1 -> f8\.$"):
        weighted(*arguments)


class Odd:
    def __bool__(self) -> bool:
        raise ZeroDivisionError("no truth")

    def __index__(self) -> int:
        raise LookupError("no number")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((VALUES, "2", 0, False), TypeError),
        ((VALUES, 1.0, 2**63, False), OverflowError),
        ((VALUES, 1.0, 1.5, False), TypeError),
        ((VALUES, 1.0, Odd(), False), LookupError),
        ((VALUES, 1.0, 0, Odd()), ZeroDivisionError),
    ],
)
def test_errors_of_numbers_are_those_of_python(arguments: tuple[Any, ...], error: type[Exception]) -> None:
    with pytest.raises(error):
        weighted(*arguments)
    assert weighted(VALUES, -1.0, 0, False) == -10.0  # the value that marks a failed conversion is a valid number
    assert weighted(VALUES, 1.0, -1, False) == 10.0 + VALUES[-1]


def test_no_reference_is_lost_or_kept() -> None:
    values, factor = np.arange(3.0), 1234.5
    gc.collect()  # leftovers of other tests have thousands of references to None
    counts = sys.getrefcount(values), sys.getrefcount(factor), sys.getrefcount(None)
    for _ in range(1000):
        weighted(values, factor, 0, False)
        wait_for(np.array([1]), np.array([0]))
        with pytest.raises(TypeError):
            weighted(values, factor)
    gc.collect()
    after = sys.getrefcount(values), sys.getrefcount(factor), sys.getrefcount(None)
    assert after[:2] == counts[:2]
    assert abs(after[2] - counts[2]) < 900  # other code uses None too


def test_read_only_arrays_are_read() -> None:
    frozen = VALUES.copy()
    frozen.setflags(write=False)
    assert weighted(frozen, 1.0, 0, False) == 10.0


def test_other_threads_run_while_a_long_kernel_does() -> None:
    flag, rounds = np.zeros(1, np.int64), np.zeros(1, np.int64)
    thread = threading.Thread(target=wait_for, args=(flag, rounds))
    wait_for(np.ones(1, np.int64), rounds)  # compiled before it is timed
    thread.start()
    while rounds[0] == 0:
        pass
    flag[0] = 1  # this line runs while the kernel does
    thread.join(60)
    assert not thread.is_alive()
    assert 0 < rounds[0] < 4_000_000_000


def test_kernels_have_names_and_words() -> None:
    assert (tip_one.__name__, search_many.__name__) == ("tip_one", "search_many")
    assert "pose" in tip_one.__doc__
    assert "words" in read_decimals.__doc__


def test_every_block_of_arguments_has_room() -> None:
    kernels = all_kernels()
    assert len(kernels) > 24
    assert max(signature.slots for one in kernels.values() for signature in one.signatures) <= SLOTS
    assert len({symbol for one in kernels.values() for symbol in one.symbols}) == sum(
        len(one.signatures) for one in kernels.values()
    )


def test_arrays_are_laid_out_as_they_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    check_arrays.__wrapped__()
    monkeypatch.setattr("linkwork.kernels.binding.DATA", 8)
    with pytest.raises(ImportError, match="its objects do not have the memory layout"):
        check_arrays.__wrapped__()


@pytest.mark.parametrize("text", ["", "-> f8", "i8", "f8[] f4[,] i4[,,] u1[] b1[] -> i8", "Goals(i8 f8[,]) f8 -> b1"])
def test_signatures_are_read_and_written(text: str) -> None:
    assert str(parse(text)).strip() == text


@pytest.mark.parametrize("text", ["f2[]", "f4", "x", "f8[3]", "f8 -> f4", "f8[] -> i8[]", "i8,f8", "Goals(f8"])
def test_signatures_that_cannot_be_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"argument|returns"):
        parse(text)


def test_each_signature_has_a_symbol() -> None:
    assert symbols("go", (parse("f8[] f8[,]"), parse("f4[] f8[,]"), parse("f8[] i8[,]"))) == ("go", "go_f4", "go_i8")
