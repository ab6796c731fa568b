"""The scene of a linkage in a world, with the pairs checked by default; built once and cached on the linkage."""

from __future__ import annotations

from ..linkage.linkage import Linkage, check_linkage
from ..linkage.tree import check_link
from .obstacles import World, check_world
from .packing import LinkPairs, Scene, pack_scene
from .pair_table import counted, looking


def scene_of(
    linkage: Linkage,
    world: World | None = None,
    *,
    self: bool = True,
    links: tuple[str, ...] | None = None,
    pairs: LinkPairs | None = None,
) -> Scene:
    """Return the scene of a linkage and a world.

    Args:
        linkage: The linkage.
        world: The world, or None.
        self: Whether to check pairs of its own links.
        links: Only check pairs with one of these links, or with an obstacle that one of them holds; by default all.
        pairs: The pairs of links to check, instead of those that `collision.pairs` lists.
    """
    check_linkage(linkage)
    if world is not None:
        check_world(world)
    given = None if pairs is None else tuple(pairs)
    return linkage.cache.get("scenes", (world, self, links, given), lambda: _scene(linkage, world, self, links, given))


def _scene(
    linkage: Linkage,
    world: World | None,
    self: bool,
    links: tuple[str, ...] | None,
    pairs: tuple[tuple[str, str], ...] | None,
) -> Scene:
    own = () if not self else counted(linkage) if pairs is None else pairs
    sees = looking(linkage)
    if links is not None:
        for link in links:
            check_link(link, linkage.links, f"linkage {linkage.name!r}")
        wanted = set(links)
        own = tuple(pair for pair in own if wanted & set(pair))
        sees = tuple(link for link in sees if link in wanted)
    return pack_scene(linkage, world, own, looking=sees)
