"""Pairs of links that are checked for collisions, and why the others are not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from ..errors import LinkNotFoundError, OptionError
from ..linkage.edits import carrier
from ..linkage.groups import Pairs
from ..linkage.linkage import Linkage
from ..linkage.poses import rest_pose
from ..transforms import is_whole
from .obstacles import World, check_world
from .packing import shapes_of
from .rigid import rigid_groups
from .touching import touch_counts

Reason = Literal["welded", "adjacent", "disabled", "always", "default", "never", "sometimes", "unmoved", "held", "may"]
NamePair = tuple[str, str]
FEW, MANY = 100, 1000  # number of poses for all pairs, and for those that touch in every one of the FEW
OFTEN = 0.5  # pairs that touch at rest and in a larger share of poses are ignored: their shapes are probably too large
IN_SRDF = {"adjacent": "Adjacent", "welded": "Adjacent", "always": "Always", "default": "Default", "never": "Never"}


@dataclass(frozen=True)
class Pair:
    """Two links, or a link and an obstacle, and whether they are checked for collisions.

    Attributes:
        names: The names of both.
        counts: Whether the pair is checked.
        reason: Why: ``"welded"`` (nothing moves between them), ``"adjacent"`` (one joint is between them),
            ``"disabled"`` (in the linkage's table of disabled pairs, as from an SRDF file), ``"always"`` (they touch in
            every sampled pose), ``"default"`` (they touch at rest and in more than half of the poses), ``"never"`` and
            ``"sometimes"`` (they touch in none or in some poses: the pair is checked), ``"unmoved"`` (neither link nor
            obstacle moves), ``"held"`` (the link holds the obstacle), ``"may"`` (the link may touch the obstacle).
        text: The reason as a sentence, with numbers.
    """

    names: NamePair
    counts: bool
    reason: Reason
    text: str


@dataclass(frozen=True)
class PairTable:
    """Every pair of links with shapes, and why it is checked or not.

    Attributes:
        rows: The pairs.
        samples: Number of random poses that were sampled.
        seed: Seed of the random poses.
    """

    rows: tuple[Pair, ...]
    samples: int
    seed: int

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Pair]:
        return iter(self.rows)

    def __getitem__(self, names: NamePair) -> Pair:
        """Return the row of two names, in either order."""
        wanted = set(names)
        for row in self.rows:
            if set(row.names) == wanted:
                return row
        known = dict.fromkeys(name for row in self.rows for name in row.names)
        raise LinkNotFoundError(" and ".join(map(str, names)), "the table of pairs", known)

    @property
    def counted(self) -> tuple[NamePair, ...]:
        """The pairs that are checked."""
        return tuple(row.names for row in self.rows if row.counts)

    def disabled(self, *, never: bool = False) -> dict[NamePair, str]:
        """Return the pairs of links that are not checked, as ``linkage.replace(disabled_pairs=...)`` takes them.

        Args:
            never: Also disable pairs that touched in none of the poses, as MoveIt's setup assistant does. This does not
                prove that they never can; more poses are more certain.
        """
        left = (row for row in self.rows if not row.counts or (never and row.reason == "never"))
        return {row.names: IN_SRDF.get(row.reason, row.text) for row in left}

    def __str__(self) -> str:
        names = [" - ".join(row.names) for row in self.rows]
        wide = max(map(len, names), default=0)
        words = ["counts" if row.counts else "" for row in self.rows]
        rows = zip(names, words, self.rows, strict=True)
        return "\n".join(f"{name:{wide}}  {word:6}  {row.text}" for name, word, row in rows)


def pairs(linkage: Linkage, world: World | None = None) -> PairTable:
    """Return every pair of links that have shapes, whether it is checked, and why.

    Links of one rigid body are not checked, nor are neighbours, with one moving joint between them. If the linkage has
    a table of disabled pairs, as from an SRDF file, those pairs are not checked either, and only links that a joint
    connects directly are neighbours, as in MoveIt. Pairs that touch in all of 1000 random poses are not checked;
    without a table, nor are pairs that touch at rest and in more than half of the poses, since their shapes are too
    large. ``linkage.replace(disabled_pairs=...)`` changes the table.

    Args:
        linkage: The linkage.
        world: Also list pairs of links and obstacles of this world.

    Example:
        >>> import linkwork as lw
        >>> print(pairs(lw.models.planar([2, 1, 1])))
        link0 - link1          adjacent: one joint moves between them
        link0 - link2  counts  they touch in none of 100 poses
        link0 - link3  counts  they touch in none of 100 poses
        link1 - link2          adjacent: one joint moves between them
        link1 - link3  counts  they touch in some poses
        link2 - link3          adjacent: one joint moves between them
    """
    table: PairTable = linkage.cache.get("pairs", None, lambda: _table(linkage, linkage.disabled_pairs, None, 0))
    if world is None:
        return table
    return PairTable((*table.rows, *_with_world(linkage, world)), table.samples, table.seed)


def find_pairs(linkage: Linkage, *, samples: int = 10_000, seed: int = 0) -> PairTable:
    """Return every pair of links that have shapes, judged by random poses within the limits; the table is ignored.

    Args:
        linkage: The linkage.
        samples: Number of poses.
        seed: Seed of the poses; the same seed gives the same result.

    Example:
        >>> import linkwork as lw
        >>> arm = lw.models.planar([2, 1, 1])
        >>> found = find_pairs(arm, samples=100)
        >>> found["link2", "link1"].reason
        'adjacent'
        >>> arm = arm.replace(disabled_pairs=found.disabled(never=True))
    """
    if not is_whole(samples) or samples < 1:
        raise OptionError(f"samples is a number of poses, 1 or more; got {samples!r}.")
    return _table(linkage, {}, int(samples), seed)


def counted(linkage: Linkage) -> tuple[NamePair, ...]:
    """Return the pairs of links that are checked."""
    found: tuple[NamePair, ...] = linkage.cache.get("counted pairs", None, lambda: pairs(linkage).counted)
    return found


def looking(linkage: Linkage) -> tuple[str, ...]:
    """Return the links that are checked against the world: those that can move in it."""
    return tuple(name for name, group in zip(linkage.links, rigid_groups(linkage), strict=True) if group >= 0)


def _table(linkage: Linkage, table: Pairs, samples: int | None, seed: int) -> PairTable:
    """Judge all pairs by the poses in which they touch, except those that the tree or a table excludes.

    By default all pairs are checked in a few poses, and those that touch in all of them in many more.
    """
    known = dict(_known(linkage, table))
    open_pairs = [pair for pair in _all_pairs(linkage) if pair not in known]
    first = FEW if samples is None else samples
    poses = np.concatenate([rest_pose(linkage)[None], linkage.random_pose(np.random.default_rng(seed), first)])
    at_rest, often = touch_counts(linkage, open_pairs, poses)
    rows = {pair: Pair(pair, False, *why) for pair, why in known.items()}
    suspects = [pair for pair in open_pairs if often[pair] == first]
    if samples is None and suspects:
        more = linkage.random_pose(np.random.default_rng(seed + 1), MANY - FEW)
        _, further = touch_counts(linkage, suspects, np.concatenate([poses[:1], more]))
        suspects = [pair for pair in suspects if further[pair] == len(more)]
        first = MANY
    for pair in open_pairs:
        rows[pair] = _judged(pair, pair in suspects, pair in at_rest, often[pair], not table, samples)
    return PairTable(tuple(rows[pair] for pair in _all_pairs(linkage)), MANY if samples is None else samples, seed)


def _judged(pair: NamePair, always: bool, rest: bool, touched: int, large: bool, samples: int | None) -> Pair:
    """Return the row of a pair from how often it touches; `large` if its shapes may be larger than the real links."""
    number = FEW if samples is None else samples
    if always:
        return Pair(pair, False, "always", f"always: they touch in all of {samples or MANY} poses")
    share = touched / number
    if large and rest and share > OFTEN:
        return Pair(pair, False, "default", f"default: they touch at rest, and in {share:.0%} of {number} poses")
    if touched or rest:
        often = "some poses" if samples is None else f"{share:.2%} of {number} poses"
        return Pair(pair, True, "sometimes", f"they touch in {often}")
    return Pair(pair, True, "never", f"they touch in none of {number} poses")


def _all_pairs(linkage: Linkage) -> list[NamePair]:
    """Return all pairs of links that have shapes, in the order of the linkage."""
    shown = shapes_of(linkage)
    return list(combinations((name for name in linkage.links if name in shown), 2))


def _known(linkage: Linkage, table: Pairs) -> Iterator[tuple[NamePair, tuple[Reason, str]]]:
    """Yield the pairs that the tree or a table excludes, with the reason."""
    groups, parents = rigid_groups(linkage), linkage.parents
    index = {name: k for k, name in enumerate(linkage.links)}
    shown = shapes_of(linkage)
    near = {(groups[parent], groups[k]) for k, parent in enumerate(parents) if parent >= 0}
    direct = {(linkage.links[_shown_above(k, parents, linkage.links, shown)], name) for name, k in index.items() if k}
    for loop in linkage.loops:  # a loop joins two links like a joint
        ends = sorted(index[carrier(linkage, frame)[0]] for frame in (loop.first, loop.second))
        near.add((groups[ends[0]], groups[ends[1]]))
        direct.add((linkage.links[ends[0]], linkage.links[ends[1]]))
    for first, second in _all_pairs(linkage):
        a, b = groups[index[first]], groups[index[second]]
        if a == b:
            yield (first, second), ("welded", "welded: nothing moves between them")
        elif (first, second) in direct if table else near & {(a, b), (b, a)}:
            yield (first, second), ("adjacent", "adjacent: one joint moves between them")
        elif (first, second) in table:
            why = table[first, second]
            yield (first, second), ("disabled", f"disabled by the linkage{f': {why}' if why else ''}")


def _shown_above(link: int, parents: tuple[int, ...], names: tuple[str, ...], shown: Mapping[str, object]) -> int:
    """Return the nearest ancestor with a shape; the first link if none has."""
    above = parents[link]
    while above > 0 and names[above] not in shown:
        above = parents[above]
    return above


def _with_world(linkage: Linkage, world: World) -> Iterator[Pair]:
    """Yield the pairs of links and obstacles."""
    check_world(world)
    world.check(linkage)
    groups = dict(zip(linkage.links, rigid_groups(linkage), strict=True))
    for obstacle in world:
        for link in shapes_of(linkage):
            names = (link, str(obstacle.name))
            if obstacle.link is not None and groups[link] == groups[obstacle.link]:
                yield Pair(names, False, "held", f"held: link {obstacle.link!r} holds it")
            elif link in obstacle.touches:
                yield Pair(names, False, "may", "it may touch the obstacle")
            elif obstacle.link is None and groups[link] < 0:
                yield Pair(names, False, "unmoved", "unmoved: no joint moves either of them")
            else:
                yield Pair(names, True, "sometimes", "they may touch")
