"""Find the fingers of a hand: by the names of their joints, or by where they branch off the palm.

A finger is a chain of links from the palm outwards. Its joints are numbered 1, 2, 3; a metacarpal, if there is one, is
0. A hand with fewer fingers has fewer roles; several joints in one place, as in robots, count once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from .names import DIGITS, FINGER, SIDES, Meaning, words_of
from .topology import Shape

METACARPALS = ("metacarpal", "carpal", "palm", "inhand")
LAST = 3  # a fourth joint is the tip of a finger, and has no bone
NEAR = 0.02  # joints closer than this, over the length of the finger, count as one


def find_fingers(shape: Shape, meanings: Sequence[Meaning], roles: Mapping[str, int | None]) -> dict[str, int]:
    """Return the first link of every joint of the fingers, by role such as ``"left_index_1"``."""
    result: dict[str, int] = {}
    for side in SIDES:
        hand, elbow = roles.get(f"{side}_hand"), roles.get(f"{side}_elbow")
        chains = {} if elbow is None else _named(shape, meanings, elbow)  # some thumbs branch off the forearm
        if not chains and hand is not None:
            chains = _named(shape, meanings, hand) or _shaped(shape, meanings, hand)
        for digit, chain in chains.items():
            for k, link in _joints(shape, chain, digit):
                result[f"{side}_{digit}_{k}"] = link
    return result


def _moving(shape: Shape, meanings: Sequence[Meaning], base: int) -> list[int]:
    """Return the descendants of a link that move and may be part of a finger."""
    linkage = shape.linkage
    below = [i for i in range(base + 1, len(linkage.links)) if base in shape.path(i)]
    return [i for i in below if linkage.arcs[i].articulation.nv and not meanings[i].aside]


def _named(shape: Shape, meanings: Sequence[Meaning], base: int) -> dict[str, list[int]]:
    """Return the moving links of each finger beyond a link, from the palm outwards, by name."""
    moving = _moving(shape, meanings, base)
    named = {digit: [i for i in moving if meanings[i].digit == digit] for digit in DIGITS}
    return {digit: _one_chain(shape, links) for digit, links in named.items() if links}


def _shaped(shape: Shape, meanings: Sequence[Meaning], hand: int) -> dict[str, list[int]]:
    """Return the same for a hand whose names do not distinguish fingers."""
    moving = set(_moving(shape, meanings, hand))
    ends = [i for i in moving if not any(i in shape.path(j)[:-1] for j in moving)]
    apart: dict[int, list[int]] = {}
    for end in sorted(ends, key=lambda i: (-len(shape.path(i)), i)):
        chain = [i for i in shape.path(end, hand) if i in moving]
        apart.setdefault(chain[0], chain)
    chains = [chain for chain in apart.values() if len(chain) > 1 or meanings[chain[0]].part == FINGER]
    if not chains or not all(meanings[i].part in ("", FINGER) for chain in chains for i in chain):
        return {}
    return _by_place(shape, chains)


def _one_chain(shape: Shape, links: Sequence[int]) -> list[int]:
    """Return those of some links that lie on the path to the deepest of them."""
    return [i for i in shape.path(max(links, key=lambda i: len(shape.path(i)))) if i in set(links)]


def _by_place(shape: Shape, chains: Sequence[list[int]]) -> dict[str, list[int]]:
    """Return chains by finger: the thumb points away from the others, which are ordered by their distance from it."""
    if len(chains) == 1:
        return {"middle": list(chains[0])}
    roots = np.stack([shape.places[chain[0]] for chain in chains])
    ways = np.stack([shape.ends.get(chain[-1], shape.places[chain[-1]]) - shape.places[chain[0]] for chain in chains])
    ways = ways / np.maximum(np.linalg.norm(ways, axis=1, keepdims=True), 1e-12)
    thumb = int((ways @ ways.sum(axis=0)).argmin())
    order = np.argsort(np.linalg.norm(roots - roots[thumb], axis=1))
    names = DIGITS if len(chains) > 2 else ("thumb", "middle")
    return {name: list(chains[k]) for name, k in zip(names, (thumb, *order[order != thumb]), strict=False)}


def _joints(shape: Shape, chain: Sequence[int], digit: str) -> list[tuple[int, int]]:
    """Return number and first link of every joint of a finger."""
    size = max(float(np.linalg.norm(shape.places[i] - shape.places[chain[0]])) for i in chain) or 1.0
    joints: list[int] = []
    for link in chain:
        if not joints or not np.linalg.norm(shape.places[link] - shape.places[joints[-1]]) < NEAR * size:
            joints.append(link)
    first = "".join(words_of(shape.linkage.links[joints[0]]))
    start = 0 if digit != "thumb" and len(joints) > 1 and any(word in first for word in METACARPALS) else 1
    return [(k, link) for k, link in enumerate(joints, start=start) if k <= LAST]
