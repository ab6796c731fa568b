"""Scenes: a linkage's shapes, the checked pairs and a world, packed as arrays for the collision kernels."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import LinkageError
from ..kernels.collision.piece_layout import BODY, HALFSPACE, PIECE_CODE, pack_scene_tables
from ..linkage.geometry import Visual
from ..linkage.linkage import Linkage
from ..linkage.program import Program, joined as joined_motions, joint_motions, program_of
from ..linkage.tree import Link, check_link
from ..transforms import FloatArray
from .boxes import tree_of_boxes
from .obstacles import Obstacle, World
from .pieces import MOST_PIECES, Pieces, joined, pieces_of
from .rigid import rigid_groups

if TYPE_CHECKING:
    from ..kernels.layout import Record

LinkPairs = Iterable[tuple[str, str]]


@dataclass(frozen=True, eq=False)
class Scene:
    """A linkage, its checked pairs and a world, packed for the kernels.

    Args:
        linkage: The linkage.
        world: The world, or None.
        codes: Integers, laid out by `kernels.collision.piece_layout`.
        numbers: All other numbers.
        frames: Names of the links whose transforms it needs, in the order of its frames.
        owners: Names of links with pieces, then of obstacles; records refer to them by index.
        link_owners: Number of links among them.
        most: Largest number of records.
    """

    linkage: Linkage
    world: World | None
    codes: NDArray[np.int64] = field(repr=False)
    numbers: FloatArray = field(repr=False)
    frames: tuple[str, ...]
    owners: tuple[str, ...] = field(repr=False)
    link_owners: int
    most: int

    def names(self, record: Record) -> tuple[str, str]:
        """Return the names of the pair of a record of NEAR."""
        return self.owners[int(record.owner_a)], self.owners[int(record.owner_b)]


@dataclass(frozen=True, eq=False)
class Body:
    """All pieces of a link, or of an obstacle that a link holds.

    Args:
        name: Name of the link or obstacle.
        link: Position of the link.
        pieces: Its pieces, in the coordinates of the link.
        touches: Names of links that it may touch; None for a link.
    """

    name: str
    link: int
    pieces: Pieces
    touches: tuple[str, ...] | None = None


def shapes_of(linkage: Linkage) -> Mapping[str, Pieces]:
    """Return the pieces of every link with shapes, in its coordinates; they are cached on the linkage.

    If any link has a shape of the role "collision", only such shapes count; otherwise visual shapes do.
    """
    return linkage.cache.get("pieces", None, lambda: _shapes_of(linkage))


def counted_visuals(linkage: Linkage, node: Link) -> list[Visual]:
    """Return the shapes of a link that count."""
    return [visual for visual in node.visuals if visual.role == _role(linkage)]


def _role(linkage: Linkage) -> str:
    felt = any(visual.role == "collision" for node in linkage.nodes for visual in node.visuals)
    return "collision" if felt else "visual"


def _shapes_of(linkage: Linkage) -> Mapping[str, Pieces]:
    role, found = _role(linkage), {}
    for node in linkage.nodes:
        what = f"a {role} shape of link {node.name!r} of linkage {linkage.name!r}"
        parts = [
            pieces_of(visual.shape, surface=False, what=what).placed(node.matrix @ visual.placement)
            for visual in node.visuals
            if visual.role == role
        ]
        if any(map(len, parts)):
            found[node.name] = joined(parts).by_kind()
    return found


def pack_scene(
    linkage: Linkage,
    world: World | None = None,
    pairs: LinkPairs = (),
    *,
    looking: Collection[str] | None = None,
) -> Scene:
    """Return a linkage and a world packed for the kernels.

    Args:
        linkage: The linkage.
        world: The world, or None.
        pairs: Pairs of links to check; those without shapes are ignored.
        looking: Links that are checked against the world and against obstacles held by other links; None for all.

    Raises:
        LinkageError: If no link has a shape.
    """
    bodies = _bodies(linkage, world)
    looks = set(linkage.links if looking is None else looking)
    for link in looks:
        check_link(link, linkage.links, f"linkage {linkage.name!r}")
    standing = [obstacle for obstacle in world or () if obstacle.link is None]
    planes, order, leaves, nodes = _standing(standing, len(bodies))
    wanted = frozenset(body.link for body in bodies)
    tree = linkage.cache.get("scene trees", wanted, lambda: _tree(linkage, wanted))
    body_pairs = _pairs(linkage, bodies, pairs, looks)
    pieces = _piece_tables(bodies, tree.places, order)
    looking_bodies = [linkage.links[body.link] in looks for body in bodies]
    codes, numbers = pack_scene_tables(
        {
            "values": linkage.nq,
            "frames": len(tree.names),
            "bodies": len(bodies),
            "pairs": len(body_pairs),
            "world": pieces.ends[-1],
            "bounded": pieces.ends[-1] + planes,
            "pieces": len(pieces.codes),
            "leaves": leaves,
        },
        {
            "starts": tree.program.starts,
            "parents": tree.parents,
            "row_codes": tree.program.codes,
            **_body_tables(bodies, standing, tree.places, pieces.ends, looking_bodies),
            "pair_codes": np.array(body_pairs, np.int64),
            "piece_codes": pieces.codes,
        },
        {
            "row_numbers": tree.program.numbers,
            "bounds": np.array([body.pieces.ball for body in bodies]),
            "piece_numbers": pieces.numbers,
            "points": pieces.points,
            "nodes": nodes,
        },
    )
    most = len(body_pairs) + len(standing) * sum(looking_bodies)
    owners = (*(body.name for body in bodies), *(str(obstacle.name) for obstacle in standing))
    links = sum(body.touches is None for body in bodies)
    return Scene(linkage, world, codes, numbers, tree.names, owners, links, most)


def _bodies(linkage: Linkage, world: World | None) -> list[Body]:
    """Return the bodies of links in order, then those of obstacles that links hold."""
    if world is not None:
        world.check(linkage)
    bodies = [Body(name, linkage.link_index(name), pieces) for name, pieces in shapes_of(linkage).items()]
    for obstacle in world or ():
        if obstacle.link is not None:
            pieces = _pieces_of(obstacle, surface=False).by_kind()
            bodies.append(Body(str(obstacle.name), linkage.link_index(obstacle.link), pieces, obstacle.touches))
    if not bodies:
        raise LinkageError(
            f"no link of linkage {linkage.name!r} has a shape, so that it cannot touch anything: give links visuals, "
            "such as lw.bone(start, end, radius) or lw.Visual(shape, role='collision'); "
            "lw.collision.thick_bones(linkage) gives them capsules."
        )
    return bodies


def _pieces_of(obstacle: Obstacle, *, surface: bool) -> Pieces:
    return pieces_of(obstacle.shape, surface=surface, what=f"obstacle {obstacle.name!r}").placed(obstacle.pose)


class Tree(NamedTuple):
    """The links whose transforms a scene needs, and their tree.

    Attributes:
        names: Their names, parents before children.
        places: Index of each among them, by its position in the linkage.
        program: Their rows.
        parents: Index of the parent of each, -1 for the world.
    """

    names: tuple[str, ...]
    places: Mapping[int, int]
    program: Program
    parents: NDArray[np.int64]


def _tree(linkage: Linkage, wanted: Collection[int]) -> Tree:
    """Return the tree of the wanted links and of those where paths to them branch.

    The joints of all other links are composed into the motions between these.
    """
    below = [0] * len(linkage.nodes)  # number of children that lead to a wanted link
    kept = set(wanted)
    for k in range(len(below) - 1, -1, -1):
        if below[k] > 1:
            kept.add(k)
        if (below[k] or k in kept) and linkage.parents[k] >= 0:
            below[linkage.parents[k]] += 1
    motions, runs, parents = joint_motions(linkage), [], []
    places = {link: place for place, link in enumerate(sorted(kept))}
    for link in places:
        way = [link]
        while linkage.parents[way[-1]] >= 0 and linkage.parents[way[-1]] not in kept:
            way.append(linkage.parents[way[-1]])
        runs.append(joined_motions([motions[arc] for arc in reversed(way)]))
        parents.append(places.get(linkage.parents[way[-1]], -1))
    names = tuple(linkage.links[link] for link in places)
    return Tree(names, places, program_of(runs), np.array(parents, np.int64))


def _pairs(linkage: Linkage, bodies: list[Body], pairs: LinkPairs, looks: set[str]) -> list[tuple[int, int]]:
    """Return the pairs of bodies to check: the given pairs of links, and each held obstacle with all other bodies.

    An obstacle is rigid with the link that holds it and with links fixed to that one, so these pairs are left out.
    """
    groups, links = rigid_groups(linkage), linkage.links
    places = {body.name: k for k, body in enumerate(bodies) if body.touches is None}
    result = [(places[a], places[b]) for a, b in pairs if a in places and b in places]
    for k, held in enumerate(bodies):
        if held.touches is None:
            continue
        for j, other in enumerate(bodies[:k]):
            apart = groups[held.link] != groups[other.link]
            counts = links[held.link] in looks or links[other.link] in looks
            if apart and counts and links[other.link] not in held.touches:
                result.append((j, k))
    return result


def _standing(obstacles: list[Obstacle], first: int) -> tuple[int, tuple[Pieces, NDArray[np.int64]], int, FloatArray]:
    """Return the pieces of obstacles fixed in the world, in the order of their tree of boxes.

    Returns:
        The number of half-spaces, which come first; the pieces with their owners; the number of leaves; and the nodes.
    """
    parts = [_pieces_of(obstacle, surface=True) for obstacle in obstacles]
    pieces, owners = joined(parts), first + np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    endless = pieces.kinds == HALFSPACE
    low, high = pieces.sorted(np.flatnonzero(~endless)).boxes()
    order, leaves, nodes = tree_of_boxes(low, high)
    places = np.concatenate([np.flatnonzero(endless), np.flatnonzero(~endless)[order]])
    return int(endless.sum()), (pieces.sorted(places), owners[places]), leaves, nodes


class PieceTables(NamedTuple):
    """Records of all pieces, bodies first, and the first piece of each body and of the world."""

    codes: NDArray[np.int64]
    numbers: FloatArray
    points: FloatArray
    ends: NDArray[np.int64]


def _piece_tables(
    bodies: list[Body], places: Mapping[int, int], world: tuple[Pieces, NDArray[np.int64]]
) -> PieceTables:
    every = [*(body.pieces for body in bodies), world[0]]
    counts = [len(pieces) for pieces in every]
    ends = np.cumsum([0, *counts])
    if ends[-1] > MOST_PIECES:
        raise LinkageError(f"a scene holds {MOST_PIECES:,} convex pieces, got {ends[-1]:,}: fit something simpler.")
    corners = np.concatenate([pieces.points for pieces in every]).ravel()
    codes = np.concatenate([pieces.records[0] for pieces in every])
    columns = PIECE_CODE.view(codes)
    columns.frame = np.repeat([*(places[body.link] for body in bodies), -1], counts)
    columns.owner = np.concatenate([np.repeat(np.arange(len(bodies)), counts[:-1]), world[1]])
    columns.first += np.repeat(np.cumsum([0, *(len(pieces.points) for pieces in every[:-1])]), counts)
    edges = corners.size + np.repeat(np.cumsum([0, *(len(pieces.edges) for pieces in every[:-1])]), counts)
    columns.edges += np.where(columns.edges >= 0, edges, 0)  # edges are stored after all points
    numbers = np.concatenate([pieces.records[1] for pieces in every])
    return PieceTables(codes, numbers, np.concatenate([corners, *(pieces.edges for pieces in every)]), ends[:-1])


def _body_tables(
    bodies: list[Body],
    standing: list[Obstacle],
    places: Mapping[int, int],
    ends: NDArray[np.int64],
    looking: list[bool],
) -> dict[str, NDArray[np.int64]]:
    links = [body.name if body.touches is None else None for body in bodies]
    ignored = [[len(bodies) + k for k, obstacle in enumerate(standing) if link in obstacle.touches] for link in links]
    stops = np.cumsum([0, *map(len, ignored)])
    codes = BODY.pack(
        dtype=np.int64,
        shape=(len(bodies),),
        frame=[places[body.link] for body in bodies],
        owner=np.arange(len(bodies)),
        first=ends[:-1],
        end=ends[1:],
        looks=looking,
        ignored=stops[:-1],
        ignored_end=stops[1:],
    )
    return {"body_codes": codes, "ignored": np.array([one for row in ignored for one in row], np.int64)}
