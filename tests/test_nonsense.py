"""Arguments of wrong types and values raise errors of linkwork, or are accepted if they are valid."""

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
