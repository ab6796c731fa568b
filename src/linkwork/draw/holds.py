"""Default frames to drag, the ends of limbs, and default frames to pin, the feet."""

from __future__ import annotations

from collections import Counter
from functools import cache

import numpy as np

from ..goals import Reach
from ..linkage.geometry import Capsule, Cylinder, Visual
from ..linkage.linkage import Linkage
from ..linkage.program import reach
from ..solvers import solve
from ..transforms import FloatArray

SHORT = 0.1  # over the linkage's size: shorter limbs, such as fingers and toes, belong to the limb that carries them
LONG = 0.12  # over the size: a last link of at least this length is held by its far end
STRAIGHT = 0.2  # an arm is straight if its smallest singular value is below this share of the largest
BENT = 0.45  # over the reach: distance to which the end of a straight arm is moved
READY = ("ready", "home", "stand")  # names of preferred start poses
ZERO = "qpos0"  # name of the default pose in MuJoCo's files
MOST = 12  # largest number of marked ends; any link can be dragged
LOW = 0.2  # over the height: ends up to this height above the lowest point stand on the ground
FREE = ("floating", "planar")  # kinds of joints of a free root
FEET = 2  # up to this number of feet are pinned with their orientations, more only in position


def limb_ends(linkage: Linkage) -> list[str]:
    """Return a frame at the end of every limb, the longest limbs first; twelve at most.

    A limb ends at its last moving link. Limbs shorter than a tenth of the linkage, such as fingers, count as parts of
    the limb that carries them. A named frame near the end is preferred to the last link.

    Example:
        >>> import linkwork as lw
        >>> limb_ends(lw.models.panda())
        ['tip']
    """
    moving = [k for k, arc in enumerate(linkage.arcs) if k and arc.articulation.nq]
    places = linkage.forward(linkage.neutral()).array[:, :3, 3]
    short_length = SHORT * float(np.linalg.norm(np.ptp(places, axis=0)))
    above = {k: _moving_above(linkage, k) for k in moving}
    counts = Counter(above.values())

    @cache
    def length(k: int) -> float:
        return _length(linkage, places, k, above, counts)

    ends = {k for k in moving if k not in above.values()}
    while True:
        short = {k for k in ends if length(k) < short_length and above[k] >= 0 and len(ends) > 1}
        if not short:
            break
        kept = ends - short
        merged = {above[k] for k in short}
        within = {top for k in kept for top in _all_above(above, k)}
        ends = kept | {k for k in merged if k not in within}
    ordered = sorted(ends, key=lambda k: (-length(k), k))[:MOST]
    names = dict.fromkeys(_grasp(linkage, places, k, above, short_length) for k in ordered)
    return [name for name in names if linkage.evaluator.moving_rows(name)[:3].any()]


def with_ends(linkage: Linkage) -> tuple[Linkage, list[str]]:
    """Return a linkage and the ends of its limbs, with frames such as ``shank.end`` where a last link is long.

    Such a link is held at its furthest shape, not at its origin.
    """
    ends = limb_ends(linkage)
    far = LONG * float(np.linalg.norm(np.ptp(linkage.forward(linkage.neutral()).array[:, :3, 3], axis=0)))
    for k, name in enumerate(ends):
        if name not in linkage.links or linkage.children[linkage.link_index(name)]:
            continue
        points = [p for visual in linkage.nodes[linkage.link_index(name)].visuals for p in _far_points(visual)]
        point = max(points, key=np.linalg.norm, default=np.zeros(3))
        if np.linalg.norm(point) > far and f"{name}.end" not in linkage.frames:
            linkage, ends[k] = linkage.add_frame(f"{name}.end", name, point), f"{name}.end"
    return linkage, ends


def _far_points(visual: Visual) -> list[FloatArray]:
    """Return points of a shape in its link: its centre and, for a capsule or a cylinder, both ends."""
    middle, axis = visual.placement[:3, 3], visual.placement[:3, 2]
    half = visual.shape.length / 2.0 if isinstance(visual.shape, Capsule | Cylinder) else 0.0
    return [middle, middle + half * axis, middle - half * axis]


def begin(linkage: Linkage, ends: list[str]) -> FloatArray:
    """Return the first pose of a page: a stored one, ``ready`` or ``home`` first, else joints at zero.

    Robots and characters are designed with joints at zero. An arm that is straight there could not be pulled further,
    so its end is moved to about half of its reach.
    """
    names = [name for name in linkage.poses if name != ZERO]
    if names:
        return linkage.stored_pose(next((name for name in READY if name in names), names[0]))
    q = linkage.neutral()
    plain = linkage.table.plain[0]
    q[plain] = np.clip(0.0, linkage.lower[plain], linkage.upper[plain])
    if len(ends) != 1 or linkage.constrained or standing(linkage, q, ends):
        return q
    origin, _, most, _ = reach(linkage, ends[0])
    rows = linkage.jacobian(q, ends[0])[:3][linkage.evaluator.moving_rows(ends[0])[:3]]
    sizes = np.linalg.svd(rows, compute_uv=False)
    if not np.isfinite(most) or sizes[-1] > STRAIGHT * sizes[0]:
        return q
    flat = not linkage.evaluator.moving_rows(ends[0])[2]
    for way in ([0.8, 0.6, 0.0],) if flat else ([0.8, 0.0, 0.6], [0.0, 0.8, 0.6]):
        there = origin + BENT * most * np.array(way)
        found = solve(linkage, Reach(ends[0], position=there[:2] if flat else there), start=q)
        if found.success:
            return found.q
    return q


def _moving_above(linkage: Linkage, link: int) -> int:
    """Return the nearest ancestor with a moving joint, -1 for none."""
    link = linkage.parents[link]
    while link > 0 and not linkage.arcs[link].articulation.nq:
        link = linkage.parents[link]
    return link if link > 0 else -1


def _all_above(above: dict[int, int], link: int) -> list[int]:
    found = []
    while (link := above[link]) >= 0:
        found.append(link)
    return found


def _length(linkage: Linkage, places: FloatArray, link: int, above: dict[int, int], counts: Counter[int]) -> float:
    """Return the length of the limb that ends with a link, from the last branching above it."""
    end = places[linkage.frame_index(_frame(linkage, places, link))]
    total = 0.0
    while True:
        total += float(np.linalg.norm(end - places[link]))
        end, parent = places[link], above[link]
        if parent < 0 or counts[parent] > 1:
            return total
        link = parent


def _grasp(linkage: Linkage, places: FloatArray, link: int, above: dict[int, int], short: float) -> str:
    """Return the frame to drag a limb by: at its end or, if that is a short finger, a named frame of the palm."""
    while True:
        end = _frame(linkage, places, link)
        upper = above[link]
        stub = np.linalg.norm(places[linkage.frame_index(end)] - places[link]) < short
        if not stub or upper < 0 or not _named(linkage, _rigid(linkage, upper)):
            return end
        link = upper


def _rigid(linkage: Linkage, link: int) -> set[int]:
    """Return a link and the descendants that are fixed to it."""
    found = {link}
    for k in range(link + 1, len(linkage.links)):
        if linkage.parents[k] in found and not linkage.arcs[k].articulation.nq:
            found.add(k)
    return found


def _named(linkage: Linkage, links: set[int]) -> list[str]:
    """Return the additional frames on some links, without those that close loops."""
    closing = {name for loop in linkage.loops for name in (loop.first, loop.second)}
    frames = [extra for extra in linkage.extra_frames if extra.name not in closing]
    return [extra.name for extra in frames if linkage.link_index(extra.link) in links]


def _frame(linkage: Linkage, places: FloatArray, link: int) -> str:
    """Return a frame at the end of a limb's last link: a named one, else the furthest."""
    rigid = _rigid(linkage, link)
    if named := _named(linkage, rigid):
        return named[0]
    moved_on = any(linkage.parents[k] in rigid for k in range(len(linkage.links)) if k not in rigid)
    far = link if moved_on else max(rigid, key=lambda k: (float(np.linalg.norm(places[k] - places[link])), -k))
    return linkage.links[far]


def standing(linkage: Linkage, q: FloatArray, ends: list[str]) -> list[str]:
    """Return the ends that a linkage with a free root stands on in a pose; its first link if none is low."""
    free = next((k for k, arc in enumerate(linkage.arcs) if arc.articulation.kind in FREE), None)
    if free is None or any(arc.articulation.nq for arc in linkage.arcs[:free]):
        return []
    places = linkage.forward(q)
    heights = places.array[:, 2, 3]
    low, high = float(heights.min()), float(heights.max())
    feet = [name for name in ends if places[name][2, 3] <= low + LOW * (high - low)]
    return feet if feet and high > low else [linkage.links[free]]
