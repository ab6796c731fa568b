"""Work that starts in this process before workers take over."""

from __future__ import annotations

import threading

import pytest

from linkwork.scale.head_start import HeadStart


def test_items_under_way_are_ended_and_no_others_are_begun():
    begun, go_on = threading.Semaphore(0), threading.Event()

    def work(item):
        begun.release()
        assert go_on.wait(60.0)
        return -item

    early = HeadStart(work, range(100), 2)
    assert begun.acquire(timeout=60.0)
    assert begun.acquire(timeout=60.0)
    answers = early.finish()
    threading.Timer(0.1, go_on.set).start()
    assert sorted(answers) == [-1, 0]
    assert early.done == 2
    assert list(early.finish()) == []


def test_all_may_be_done_before_anyone_takes_over():
    last = threading.Event()

    def work(item):
        if item == 4:
            last.set()
        return item

    early = HeadStart(work, range(5), 2)
    assert last.wait(60.0)
    assert sorted(early.finish()) == [*range(5)]
    assert early.done == 5


def test_what_work_raises_is_raised():
    begun = threading.Event()

    def work(item):
        begun.set()
        return 1 // item

    early = HeadStart(work, [0], 1)
    assert begun.wait(60.0)
    with pytest.raises(ZeroDivisionError):
        list(early.finish())
    assert list(early.finish()) == []
