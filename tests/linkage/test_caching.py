"""The cache: one entry per key, bounded per kind, shared by all threads."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

import linkwork as lw
from linkwork.linkage.caching import Cache


def test_a_thing_is_made_once():
    cache, made = Cache(), []
    for _ in range(3):
        cache.get("a", 1, lambda: made.append(1) or "made")
    assert made == [1]


def test_kinds_are_bounded_one_by_one():
    cache = Cache(most=2)
    other = cache.get("other", 0, object)
    first = cache.get("kind", 0, object)
    for key in (1, 2):
        cache.get("kind", key, object)
    assert cache.get("other", 0, object) is other
    assert cache.get("kind", 2, object) is cache.get("kind", 2, object)
    assert cache.get("kind", 0, object) is not first


def test_threads_that_ask_at_once_get_the_same():
    cache, together = Cache(), Barrier(8, timeout=30)

    def ask(_):
        return cache.get("kind", "key", lambda: (together.wait(), object())[1])

    with ThreadPoolExecutor(8) as pool:
        assert len(set(map(id, pool.map(ask, range(8))))) == 1


def test_what_fails_is_not_kept():
    cache = Cache()
    with pytest.raises(ZeroDivisionError):
        cache.get("kind", 0, lambda: 1 / 0)
    assert cache.get("kind", 0, lambda: 1) == 1


def test_every_linkage_has_its_own():
    one, other = lw.models.planar([1]), lw.models.planar([1])
    assert one.cache is not other.cache
    assert one == other
