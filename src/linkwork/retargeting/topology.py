"""Find limbs by the shape of a skeleton at rest, z up: chains that mirror each other, and the joints along one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np

from ..linkage.linkage import Linkage
from ..linkage.poses import rest_pose
from ..transforms import FloatArray
from .names import FINGER, LIMBS, WORDS, Meaning, words_of

SAME_PLACE = 0.02  # over limb length: joints closer than this count as one
MIRRORED = 0.06  # over the skeleton's size: largest distance of a limb from its mirror image
SKIPPED = 0.8  # factor on the score of a limb for every joint between its three
ALONGSIDE, ACROSS = 0.7, 0.6  # cosines: least between forelegs and hind legs, largest between these and the trunk
LEAST_REACH = 0.15  # over the skeleton's size: shorter chains are not limbs


@dataclass(frozen=True)
class Shape:
    """A linkage at rest: positions and orientations of its links, positions of its ends, and its tree."""

    linkage: Linkage
    rest: FloatArray
    places: FloatArray
    turns: FloatArray
    ends: dict[int, FloatArray]

    @classmethod
    def of(cls, linkage: Linkage, pose: FloatArray | None = None) -> Shape:
        """Return the shape of a linkage at rest, or in another pose."""
        rest = rest_pose(linkage) if pose is None else pose
        world = linkage.forward(rest)
        stacked = np.stack([world[name] for name in linkage.links])
        places, turns = stacked[:, :3, 3], stacked[:, :3, :3]
        ends = {i: places[i] for i, below in enumerate(linkage.children) if not below}
        for frame in linkage.extra_frames:
            i = linkage.link_index(frame.link)
            point = world[frame.name][:3, 3]
            if i in ends and np.linalg.norm(point - places[i]) >= np.linalg.norm(ends[i] - places[i]):
                ends[i] = point
        return cls(linkage, rest, places, turns, ends)

    @property
    def size(self) -> float:
        """Largest extent along an axis [m]."""
        points = np.concatenate([self.places, list(self.ends.values())])
        return float((points.max(axis=0) - points.min(axis=0)).max())

    def path(self, link: int, above: int = -1) -> list[int]:
        """Return the links on the path to a link, which is the last; after `above`, or from the root by default."""
        result = []
        while link not in (above, -1):
            result.append(link)
            link = self.linkage.parents[link]
        return result[::-1]

    def meeting(self, links: Sequence[int]) -> int:
        """Return the last common ancestor of some links, or -1."""
        paths = [self.path(self.linkage.parents[link]) for link in links]
        result = -1
        for step in zip(*paths, strict=False):
            if len(set(step)) > 1:
                break
            result = step[0]
        return result

    def same(self, a: int, b: int, length: float) -> bool:
        """Return whether two links are in one place, compared with the length of a limb."""
        return float(np.linalg.norm(self.places[a] - self.places[b])) < SAME_PLACE * length


def mirrored_limbs(shape: Shape) -> dict[str, dict[str, int]]:
    """Return the last links of arms and legs by limb and side, for a skeleton without telling names.

    Of all pairs of chains that mirror each other in a vertical plane through the root, the lowest are the legs, and the
    widest of those that start elsewhere are the arms. Toes define where it faces, and so which side is left; without
    toes it is assumed to face -y, as bodies do that face z in files with y up.
    """
    root, size = shape.places[0], shape.size
    points = {i: point for i, point in shape.ends.items() if len(shape.path(i)) > 1}
    found: list[tuple[FloatArray, int, int, int]] = []
    for a, b in combinations(points, 2):
        across = points[a] - points[b]
        width = float(np.linalg.norm(across))
        if width < MIRRORED * size or abs(across[2]) > MIRRORED * size:
            continue
        middle = (points[a] + points[b]) / 2.0 - root
        meeting = shape.meeting([a, b])
        reach = np.linalg.norm(points[a] - shape.places[meeting])
        if abs(middle @ across) < MIRRORED * size * width and meeting >= 0 and reach > LEAST_REACH * size:
            found.append((across / width, a, b, meeting))
    if not found:
        return {}
    low = min(found, key=lambda pair: round(float(points[pair[1]][2] / size), 2))
    level = points[low[1]][2] + MIRRORED * size
    branches = {shape.path(i, low[3])[0] for i, point in points.items() if point[2] < level and low[3] in shape.path(i)}
    if len(branches) > len(low[1:3]):  # it has more than two legs
        return {}
    result = {"leg": _sides(shape, low[1], low[2], low)}
    others = [pair for pair in found if pair[3] != low[3] and not set(pair[1:3]) & set(low[1:3])]
    if others:
        far = max(others, key=lambda pair: float(np.linalg.norm(points[pair[1]] - points[pair[2]])))
        result["arm"] = _sides(shape, far[1], far[2], low)
    return result


def _sides(shape: Shape, a: int, b: int, legs: tuple[FloatArray, int, int, int]) -> dict[str, int]:
    across, first, _, meeting = legs
    chain = shape.path(first, meeting)
    foot = shape.ends[first] - shape.places[chain[-1]]
    if np.linalg.norm(foot) < 1e-9 and len(chain) > 1:
        foot = shape.places[chain[-1]] - shape.places[chain[-2]]
    ahead = foot - across * (foot @ across)
    ahead[2] = 0.0
    if np.linalg.norm(ahead) < 0.01 * shape.size:
        ahead = np.array([0.0, -1.0, 0.0])
    left = np.cross((0.0, 0.0, 1.0), ahead)
    if (shape.ends[a] - shape.ends[b]) @ left > 0.0:
        return {"left": a, "right": b}
    return {"left": b, "right": a}


def parts_along(shape: Shape, chain: Sequence[int], meanings: Sequence[Meaning], limb: str) -> dict[str, int]:
    """Return the joints of a limb among the links of a chain from the trunk to its end, by part.

    Names decide if they can; otherwise lengths: the three joints are those with the longest two bones between them.
    """
    names = LIMBS[limb]
    points = [shape.places[i] for i in chain]
    length = sum(float(np.linalg.norm(b - a)) for a, b in pairwise(points)) or 1.0
    result = _by_names(shape, chain, meanings, names, length)
    if any(part not in result for part in names[1:3]) or (limb == "leg" and "hip" not in result):
        result = _by_lengths(shape, chain, names, limb) | result
    order = [part for part in names if part in result]
    for before, after in pairwise(order):
        if chain.index(result[before]) >= chain.index(result[after]):
            return _by_lengths(shape, chain, names, limb)
    return result


def _by_names(
    shape: Shape, chain: Sequence[int], meanings: Sequence[Meaning], names: Sequence[str], length: float
) -> dict[str, int]:
    """Return the parts found by names; if several links have the same part, the most certain word decides."""
    said = {part: [i for i in chain if meanings[i].part == part] for part in names}
    upper, middle = ("shoulder", "elbow") if "elbow" in names else ("hip", "knee")
    sure = [i for i in said[upper] if meanings[i].word != upper]
    loose = [i for i in chain if meanings[i].part in LIMBS]  # "LeftLeg", "LeftArm": the others decide which bone it is
    if loose and not sure and (said[middle] or upper == "shoulder"):
        sure = loose[:1]
    elif loose and not said[middle]:
        said[middle] = loose[-1:]
    result: dict[str, int] = {}
    for part in reversed(names):
        found = _surest(sure if part == upper and sure else said[part], meanings, part)
        if part in (upper, names[0]):  # the last of three revolute joints may be at the elbow
            below = result.get(middle if part == upper else upper)
            found = [i for i in found if below is None or not shape.same(i, below, length)]
        if found:
            several = (part == upper and not sure) or (part == middle and meanings[found[0]].word == middle)
            others = {i for other in names if other != part for i in said[other]}
            result[part] = _first_there(shape, chain, found[-1 if several else 0], length, others)
    if "toe" in names and "toe" not in result and "ankle" in result:  # a "foot" below the ankle: SMPL's toes
        toes = [i for i in said["ankle"] if i > result["ankle"] and not shape.same(i, result["ankle"], length)]
        result |= {"toe": toes[0]} if toes else {}
    if "clavicle" in names and "clavicle" not in result and upper in result:  # a "shoulder" above the shoulder
        above = [i for i in said[upper] if i < result[upper] and not shape.same(i, result[upper], length)]
        result |= {"clavicle": above[-1]} if above else {}
    return result


def _surest(links: Sequence[int], meanings: Sequence[Meaning], part: str) -> list[int]:
    """Return the links that are named by the most certain word of a part."""
    words = (*WORDS[part], *LIMBS)
    best = min((words.index(meanings[i].word) for i in links if meanings[i].word in words), default=0)
    return [i for i in links if meanings[i].word == words[best]] or list(links)


def _first_there(shape: Shape, chain: Sequence[int], link: int, length: float, taken: set[int]) -> int:
    """Return the first link of a chain in the same place as a link: the first of three shoulder joints."""
    k = chain.index(link)
    while k > 0 and chain[k - 1] not in taken and shape.same(chain[k - 1], link, length):
        k -= 1
    return chain[k]


def _by_lengths(shape: Shape, chain: Sequence[int], names: Sequence[str], limb: str) -> dict[str, int]:
    firsts = [chain[0]]
    reach = float(np.linalg.norm(shape.places[chain[-1]] - shape.places[chain[0]])) or 1.0
    firsts += [b for a, b in pairwise(chain) if not shape.same(a, b, reach)]
    if len(firsts) < 3:
        return {}

    def likely(triple: tuple[int, int, int]) -> tuple[float, int]:
        a, b, c = (shape.places[firsts[k]] for k in triple)
        bone = float(min(np.linalg.norm(b - a), np.linalg.norm(c - b))) / reach
        return round(bone * SKIPPED ** (triple[2] - triple[0] - 2), 3), triple[0]

    i, j, k = max(combinations(range(len(firsts)), 3), key=likely)
    first, second, third = names[1:4] if limb == "arm" else names[:3]
    result = {first: firsts[i], second: firsts[j], third: firsts[k]}
    if limb == "arm" and i > 0:
        result[names[0]] = firsts[i - 1]
    if limb == "leg" and k + 1 < len(firsts):
        result[names[3]] = firsts[k + 1]
    return result


def end_of_limb(shape: Shape, links: Sequence[int], meanings: Sequence[Meaning], last: str) -> int:
    """Return the link at the end of a limb: one that is named as such, else the deepest in the tree."""
    depth = {i: len(shape.path(i)) for i in links}
    named = [i for i in links if meanings[i].part == last]
    if named:
        return max(named, key=lambda i: (depth[i], -i)) if last == "toe" else min(named, key=lambda i: (depth[i], i))
    plain = [i for i in links if meanings[i].part != FINGER] or list(links)
    ends = {i for i in plain if "end" in words_of(shape.linkage.links[i])}  # preferred to a mesh on the same bone
    return max(plain, key=lambda i: (depth[i], i in ends, -i))


def on_four_legs(shape: Shape, roles: Mapping[str, int | None], seen: FloatArray | None = None) -> bool:
    """Return whether the arms are legs too: they point like the legs, and the trunk lies across them.

    A person's trunk points away from the legs, whichever way arms point; in files that rest with all bones along one
    axis, it points along them. A quadruped must stand on four legs at rest and, if poses of its motion (frames, nq) are
    given, on average in these: a person's rest pose may be on all fours, but not the motion.
    """
    limbs = [f"{side}_{part}" for side in ("left", "right") for part in ("shoulder", "hand", "hip", "ankle")]
    links = {role: link for role in limbs if (link := roles.get(role)) is not None}
    if len(links) < len(limbs):
        return False
    trunk, arms, legs = _ways({role: shape.places[link][None] for role, link in links.items()})
    if not (arms[0] @ legs[0] > ALONGSIDE and max(abs(trunk[0] @ legs[0]), abs(trunk[0] @ arms[0])) < ACROSS):
        return False
    if seen is None:
        return True
    world = shape.linkage.forward(seen)
    trunk, arms, legs = _ways({role: world[shape.linkage.links[link]][:, :3, 3] for role, link in links.items()})
    return bool(max(abs((trunk * way).sum(axis=1).mean()) for way in (arms, legs)) < ACROSS)


def _ways(places: Mapping[str, FloatArray]) -> list[FloatArray]:
    """Return the directions (frames, 3) of trunk, arms and legs from positions of their joints, (frames, 3) each."""
    middle = {
        part: (places[f"left_{part}"] + places[f"right_{part}"]) / 2.0 for part in ("shoulder", "hand", "hip", "ankle")
    }
    ends = (("hip", "shoulder"), ("shoulder", "hand"), ("hip", "ankle"))
    ways = [middle[end] - middle[start] for start, end in ends]
    return [way / np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-12) for way in ways]


def legs_a_side(shape: Shape, meanings: Sequence[Meaning]) -> int:
    """Return the number of legs on one side, by names; a detached foot is not a leg."""
    counts = []
    for side in ("left", "right"):
        legs = {
            i
            for i, said in enumerate(meanings)
            if said.side == side and said.limb == "leg" and shape.linkage.arcs[i].articulation.nv
        }
        tops = [i for i in attached(shape, meanings, sorted(legs)) if not legs & set(shape.path(i)[:-1])]
        counts.append(sum(any(top in shape.path(i)[:-1] for i in legs) for top in tops))  # a foot alone is not a leg
    return min(counts)


def attached(shape: Shape, meanings: Sequence[Meaning], links: Sequence[int]) -> list[int]:
    """Return those links of a limb that descend from its upper bones, if these are named: not feet on the root."""
    upper = {i for i in links if meanings[i].part not in ("ankle", "toe", "hand", FINGER)}
    return [i for i in links if not upper or upper & set(shape.path(i))]
