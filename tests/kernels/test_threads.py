"""Work in threads: all of it is done, and an interrupt ends it at any moment."""

from __future__ import annotations

import _thread
import contextlib
import gc
import signal
import threading
import time

import pytest

from linkwork.kernels.threads import cores, dealt


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("count", [0, 1, 2, 40])
def test_every_item_is_done_once(count, threads):
    assert sorted(dealt(lambda item: -item, range(count), threads)) == [*range(1 - count, 1)]


def test_there_are_cores():
    assert cores() >= 1


def test_as_many_work_at_a_time_as_there_are_threads():
    together = threading.Barrier(3, timeout=60)  # released when three threads wait
    assert sorted(dealt(lambda item: together.wait() * 0 + item, range(9), 3)) == [*range(9)]


def test_work_keeps_close_to_who_takes_the_answers():
    begun = []
    answers = dealt(begun.append, range(100), 2)
    for _ in range(3):
        next(answers)
    time.sleep(0.05)  # time for threads that would continue
    assert len(begun) <= 2 + 2 * 2
    answers.close()


def test_an_error_in_the_work_is_raised_and_ends_it():
    begun = []

    def work(item):
        begun.append(item)
        raise LookupError(f"at {item}")

    with pytest.raises(LookupError, match="at 0"):
        list(dealt(work, range(100), 1))
    assert len(begun) <= 2


def test_who_ends_early_waits_for_what_is_under_way_and_for_nothing_else():
    begun, may_end, ended = [], threading.Event(), []

    def work(item):
        begun.append(item)
        if item:
            threading.Timer(0.05, may_end.set).start()
            may_end.wait()
        ended.append(item)

    answers = dealt(work, range(100), 1)
    next(answers)
    while len(begun) < 2:
        time.sleep(0.001)
    answers.close()
    assert begun == ended == [0, 1]


def interrupted(moment):
    """Interrupt work some microseconds after its start, and return the tasks that still run afterwards."""
    under_way = set()

    def work(item):
        under_way.add(item)
        sum(range(50))
        under_way.discard(item)

    with contextlib.suppress(KeyboardInterrupt):
        signal.setitimer(signal.ITIMER_REAL, 1e-6 * moment, 1.0)  # and again: Python drops errors raised in finalisers
        while True:
            with contextlib.closing(dealt(work, range(8), 2)) as answers:
                assert len([*answers]) == 8
    return under_way


@pytest.mark.timeout(120, method="thread")  # the test itself needs the alarm
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a signal that comes by itself")
def test_an_interrupt_at_any_moment_ends_it():
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    gc.disable()  # Hypothesis hooks into collections, where Python drops interrupts
    try:
        assert not any(interrupted(moment) for moment in range(20, 1020))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        gc.enable()
        gc.collect()  # an interrupt may leave a generator to the collector
    for _ in range(1000):  # its idle threads end soon after
        if _thread._count() < threading.active_count():
            break
        time.sleep(0.01)
    assert _thread._count() < threading.active_count()  # which counts the main thread too
