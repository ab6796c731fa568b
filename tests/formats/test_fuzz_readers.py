"""Damaged files of every kind are either read or refused: a short run of `fuzz_readers`, without atheris."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from fuzz_readers import KINDS, feed
from fuzz_seeds import seeds

PIECES = (
    b"",
    b"0",
    b"-1",
    b"nan",
    b"1e999",
    b"99999999999999999999",
    b"\xff",
    b"\0",
    b"<",
    b">",
    b'"',
    b"{",
    b"}",
    b"[",
)


def damaged(data: bytes, draw: random.Random) -> bytes:
    """Return a file with some parts changed, repeated or removed."""
    result = bytearray(data)
    for _ in range(draw.choice((1, 1, 2, 4))):
        at, length = draw.randrange(len(result) + 1), draw.choice((0, 1, 4, 30))
        copied = draw.randrange(len(result) + 1)
        new = draw.choice((*PIECES, bytes(result[copied : copied + length]), bytes([draw.randrange(256)])))
        result[at : at + length] = new
    return bytes(result[: draw.randrange(len(result) + 1)] if draw.random() < 0.1 else result)


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_file_is_read_or_refused(kind: str, tmp_path: Path) -> None:
    if kind == "fbx":
        pytest.importorskip("ufbx")
    draw, apart = random.Random(kind), KINDS[kind].apart  # starting a process for each file is slow
    whole = seeds(kind)[: 1 if apart else None]
    assert all(feed(kind, data, tmp_path) for data in whole)
    for _ in range(1 if apart else 25):
        feed(kind, damaged(draw.choice(whole), draw), tmp_path)
