"""Whatever is given where something else belongs is refused by an error of ours, or is taken for what it is."""

from __future__ import annotations

import contextlib

import pytest

import linkwork as lw
from nonsense import NONSENSE, calls


@pytest.mark.parametrize("what", NONSENSE, ids=repr)
def test_nonsense_is_refused_in_words(what: object) -> None:
    for call in calls(lw.models.planar([2, 1]), what):
        with contextlib.suppress(lw.LinkworkError):
            call()
