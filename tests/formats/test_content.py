"""Names that files omit or repeat: made unique, without taking a name that another part has."""

from __future__ import annotations

from hypothesis import given, strategies as st

from linkwork.formats.content import UniqueNames

SHORT = st.lists(st.sampled_from(["", "a", "b", "a_2", "a_3", "a_2_2", "x0", "x1"]), max_size=12)


@given(SHORT)
def test_every_name_is_given_once_and_a_lone_one_stays(given):
    names = UniqueNames(given)
    taken = [names.take(name, f"x{k}") for k, name in enumerate(given)]
    assert len(set(taken)) == len(taken)
    assert all(new == old for old, new in zip(given, taken, strict=True) if old and given.count(old) == 1)
    assert all(name in names for name in taken)


def test_a_name_that_is_given_a_hundred_thousand_times_takes_no_time_to_speak_of():
    names = UniqueNames()
    assert len({names.take("a") for _ in range(100_000)}) == 100_000
