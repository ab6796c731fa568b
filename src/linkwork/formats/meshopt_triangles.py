"""Decode triangles compressed by meshopt in glTF files: the codecs of triangles and of indices, both versions.

A triangle usually shares an edge with one of the sixteen before it, and its third vertex is new or recent; one byte
encodes which. Other vertices are stored separately, as differences.
"""

from __future__ import annotations

import numpy as np

TRIANGLES, INDICES = 0xE0, 0xD0  # first bytes, with the version in the low half
RECENT = 16  # edges and vertices remembered
TABLE = 16  # bytes at the end: the most frequent pairs of vertices
NEW, FREE = 0, 15  # codes of a vertex: the next one, or one stored explicitly
VALUES = 2**32


class _Bytes:
    """Reads compressed bytes in order, up to an end."""

    def __init__(self, data: bytes, place: int, end: int) -> None:
        self.data, self.place, self.end = data, place, end

    def byte(self) -> int:
        if self.place >= self.end:
            raise ValueError("they end too early")
        self.place += 1
        return self.data[self.place - 1]

    def number(self) -> int:
        """Return a number of seven bits per byte, lowest first."""
        value = 0
        for shift in range(0, 35, 7):
            byte = self.byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise ValueError("they contain a number that is too long")

    def step(self) -> int:
        """Return a difference, with the sign in the lowest bit."""
        value = self.number()
        return (value >> 1) ^ -(value & 1)


def decode_triangles(data: bytes, count: int, stride: int) -> bytes:
    """Return the vertex indices of triangles.

    Args:
        data: The compressed bytes.
        count: Number of indices, three for each triangle.
        stride: Bytes of each index, 2 or 4.

    Raises:
        ValueError: If the data are invalid.
    """
    version = _version(data, TRIANGLES, stride)
    end = len(data) - TABLE
    if count % 3 or end < 1 + count // 3:
        raise ValueError("they end too early")
    codes, table = data[1 : 1 + count // 3], data[end:]
    rest, lately = _Bytes(data, 1 + len(codes), end), 13 if version else 15
    edges, corners = [(0, 0)] * RECENT, [0] * RECENT  # the most recent last
    result: list[int] = []
    following = last = 0
    for code in codes:
        if code < 0xF0:
            a, b = edges[-1 - (code >> 4)]
            which = code & 15
            if which == NEW:
                c, following = following, following + 1
            elif which < lately:
                c = corners[-1 - which]
            else:  # one less or more than the last explicit one, or explicit
                last = c = last + (rest.step() if which == FREE else 1 if which == 14 else -1)
            if which == NEW or which >= lately:
                corners = [*corners[1:], c]
            edges = [*edges[2:], (c, b), (a, c)]
        else:
            pair = table[code & 15] if code < 0xFE else rest.byte()
            if code >= 0xFE and pair == 0:
                following = 0
            own = [FREE if code == 0xFF else NEW, pair >> 4, pair & 15]
            found = []
            for k, which in enumerate(own):
                if which == NEW:
                    found.append(following)
                    following += 1
                else:
                    found.append(corners[-which] if k else 0)
            if code >= 0xFE:
                for k, which in enumerate(own):
                    if which == FREE:
                        last = found[k] = last + rest.step()
            a, b, c = found
            for k, which in enumerate(own):
                if k == 0 or which == NEW or (which == FREE and code >= 0xFE):
                    corners = [*corners[1:], found[k]]
            edges = [*edges[3:], (b, a), (c, b), (a, c)]
        result += (a, b, c)
    return _packed(result, stride, rest)


def decode_indices(data: bytes, count: int, stride: int) -> bytes:
    """Return indices in any order, stored as differences from one of two before; see `decode_triangles`."""
    _version(data, INDICES, stride)
    rest, last = _Bytes(data, 1, len(data) - 4), [0, 0]
    result = []
    for _ in range(count):
        value = rest.number()
        which, value = value & 1, value >> 1
        last[which] += (value >> 1) ^ -(value & 1)
        result.append(last[which])
    return _packed(result, stride, rest)


def _version(data: bytes, kind: int, stride: int) -> int:
    first = data[0] if data else 0
    if first & 0xF0 != kind or first & 0x0F > 1 or stride not in (2, 4):
        raise ValueError("they have an unknown version")
    return first & 0x0F


def _packed(values: list[int], stride: int, rest: _Bytes) -> bytes:
    if rest.place != rest.end:
        raise ValueError("they do not end where they should")
    return (np.array(values, np.int64) % VALUES).astype(np.uint16 if stride == 2 else np.uint32).tobytes()
