"""Fit a few spheres, capsules or convex hulls to each link, and measure how far they stick out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from ..errors import LinkageError, MissingExtraError, OptionError, Remark
from ..linkage.geometry import Mesh, Polyline, Visual
from ..linkage.linkage import Linkage, check_linkage
from ..linkage.tree import Link
from ..transforms import FloatArray, as_number, is_whole
from .fitted_parts import CapsulePart, Part, capsule_of, hull_of
from .samples import Samples, sampled
from .sphere_fit import SphereCover, Spheres, sphere_counts
from .splitting import Piece, piece_of, split
from .surfaces import triangles_of

Kind = Literal["spheres", "capsules", "hulls"]
USUAL = {"spheres": 8, "capsules": 3, "hulls": 4}  # default number of shapes for each link
MOST = {"spheres": 100, "capsules": 24, "hulls": 32}  # largest number for each link, if an error is given
KEPT = {
    "spheres": {"sphere"},
    "capsules": {"sphere", "capsule"},
    "hulls": {"box", "sphere", "capsule", "cylinder", "hull"},
}
LARGEST = 1e4  # largest plausible link [m]; beyond it, the numbers of a mesh are broken


@dataclass(frozen=True)
class FittedLink:
    """Quality of the fit of one link.

    Args:
        link: Name of the link.
        count: Number of shapes.
        sticks_out: Largest distance that the shapes stick out of the link [m].
        mean: Mean of that distance over the surface of the shapes [m].
        uncovered: Largest distance that the link sticks out of the shapes [m]; 0 for a conservative fit.
        share: Share of the link's surface outside the shapes.
    """

    link: str
    count: int
    sticks_out: float
    mean: float
    uncovered: float
    share: float


@dataclass(frozen=True)
class Fit:
    """A linkage whose links have simple collision shapes, and how well these fit.

    Args:
        linkage: The linkage; its fitted shapes have the role ``"collision"``.
        kind: Kind of the shapes: ``"spheres"``, ``"capsules"`` or ``"hulls"``.
        links: Quality of the fit for each fitted link.
        remarks: Notes on requests that could not be met.
    """

    linkage: Linkage
    kind: str
    links: tuple[FittedLink, ...]
    remarks: tuple[Remark, ...] = ()

    @property
    def count(self) -> int:
        """Number of shapes."""
        return sum(row.count for row in self.links)

    @property
    def error(self) -> float:
        """Largest distance that any shape sticks out of its link [m]."""
        return max((row.sticks_out for row in self.links), default=0.0)

    @property
    def uncovered(self) -> float:
        """Largest distance that any link sticks out of its shapes [m]."""
        return max((row.uncovered for row in self.links), default=0.0)

    def __str__(self) -> str:
        """Return the rows as a table, lengths in millimetres."""
        width = max((len(row.link) for row in self.links), default=4)
        lines = [f"{'link':<{width}}  {self.kind}  sticks out, at most  mean  uncovered [mm]"]
        for row in self.links:
            numbers = f"{row.count:>{len(self.kind)}}  {1e3 * row.sticks_out:>19.1f}  {1e3 * row.mean:>4.1f}"
            lines.append(f"{row.link:<{width}}  {numbers}  {1e3 * row.uncovered:>9.1f}")
        lines += [remark.text for remark in self.remarks]
        return "\n".join(lines)


def fit(
    linkage: Linkage,
    kind: Kind = "spheres",
    *,
    error: float | None = None,
    most: int | None = None,
    conservative: bool = True,
    links: Iterable[str] | None = None,
    role: str | None = None,
) -> Fit:
    """Return a linkage whose links have a few simple collision shapes instead of meshes.

    Spheres are fastest to check, capsules are fewer, hulls are nearest to the mesh. A conservative fit encloses every
    triangle and the inside of the mesh. Shapes that are already of the kind (a sphere of the file, for spheres) are
    kept.

    Args:
        linkage: The linkage.
        kind: ``"spheres"``, ``"capsules"`` or ``"hulls"``: convex parts of the mesh, split by planes.
        error: Largest distance that shapes may stick out [m]; the number of shapes follows from it.
        most: Largest number of shapes in all; by default 8 spheres, 3 capsules or 4 hulls per link, or what `error`
            needs. They are spread so that they stick out about equally far on all links; no link has more than twice
            its share.
        conservative: Whether the shapes enclose the links. Otherwise they are shrunk by half of the distance that they
            stick out, and leave as much of the link uncovered. Hulls enclose the links in either case.
        links: Names of the links to fit; all by default.
        role: Which shapes are fitted, ``"collision"`` or ``"visual"``; by default the former if any link has one.

    Returns:
        The linkage and, for each link, the number of shapes and how far they stick out, measured at sampled points.

    Raises:
        LinkageError: If there is nothing to fit.

    Example:
        >>> import linkwork as lw
        >>> arm = lw.Builder("arm", shape=lw.Box((0.1, 0.1, 0.4))).build()
        >>> found = fit(arm, most=4)
        >>> found.count, found.error < 0.06, found.uncovered
        (4, True, 0.0)
    """
    check_linkage(linkage)
    wanted = _checked(kind, error)
    names = linkage.links if links is None else tuple(linkage.links[linkage.link_index(name)] for name in links)
    sources, remarks = _sources(linkage, kind, names, role, wanted)
    loose = [source for source in sources if source.samples is not None]
    if most is not None and (not is_whole(most) or most < len(loose)):
        raise OptionError(f"most is a number of shapes, at least one for each of {len(loose)} links, got {most!r}.")
    allowed = int(most) if most is not None else (MOST if wanted is not None else USUAL)[kind] * len(loose)
    surfaces = [source.samples for source in loose if source.samples is not None]
    if kind == "spheres":
        found: list[list[Part]] = _spheres(surfaces, wanted, allowed, conservative)
    else:
        found = _parts([source.triangles for source in loose], surfaces, kind, wanted, allowed, conservative)
    return _fitted(linkage, kind, wanted, sources, found, remarks)


def _checked(kind: str, error: float | None) -> float | None:
    """Return the requested error, after checking it and the kind."""
    if kind not in get_args(Kind):
        raise OptionError(f"kind is one of {', '.join(get_args(Kind))}, got {kind!r}.")
    wanted = None if error is None else as_number(error, "error")
    if wanted is not None and not wanted > 0.0:
        raise OptionError(f"error is a length above zero [m], got {wanted:g}.")
    return wanted


def _fitted(
    linkage: Linkage,
    kind: Kind,
    wanted: float | None,
    sources: list[_Source],
    found: list[list[Part]],
    remarks: list[Remark],
) -> Fit:
    """Return the linkage with its parts, the quality of the fit, and remarks on unmet requests."""
    waiting = iter(found)
    parts = [next(waiting) if source.samples is not None else [] for source in sources]
    rows = tuple(_row(source, own) for source, own in zip(sources, parts, strict=True))
    changed = {source.link.name: {"visuals": source.visuals(own)} for source, own in zip(sources, parts, strict=True)}
    result = Fit(linkage.replace(links=changed), kind, rows, tuple(remarks))
    if wanted is None or result.error <= wanted:
        return result
    asked = f"{1e3 * wanted:.1f} mm were requested; allow more shapes with most=."
    text = f"{result.count} {kind} stick out by {1e3 * result.error:.1f} mm; {asked}"
    return Fit(result.linkage, kind, rows, (*remarks, Remark("error", text)))


# Shapes to fit


@dataclass(frozen=True, eq=False)
class _Source:
    """A link's shapes: those that are kept, and the surface of the others."""

    link: Link
    kept: tuple[Visual, ...]
    triangles: FloatArray
    samples: Samples | None

    def visuals(self, parts: list[Part]) -> tuple[Visual, ...]:
        """Return all shapes of the link after the fit."""
        shown = tuple(visual for visual in self.link.visuals if visual.role == "visual")
        return (*shown, *self.kept, *(part.visual() for part in parts))


def _sources(
    linkage: Linkage, kind: Kind, names: tuple[str, ...], role: str | None, error: float | None
) -> tuple[list[_Source], list[Remark]]:
    """Return the links that have shapes to fit, and remarks on shapes that cannot be read."""
    nodes = [linkage.nodes[linkage.link_index(name)] for name in names]
    if role is None:
        collides = any(visual.role == "collision" for node in linkage.nodes for visual in node.visuals)
        role = "collision" if collides else "visual"
    elif role not in ("collision", "visual"):
        raise OptionError(f"role is 'collision' or 'visual', got {role!r}.")
    sources, remarks = [], []
    for node in nodes:
        kept, surfaces = [], []
        for visual in node.visuals:
            if visual.role != role or isinstance(visual.shape, Polyline):
                continue
            if visual.shape.kind in KEPT[kind]:
                kept.append(Visual(visual.shape, visual.placement, visual.color, "collision"))
            elif isinstance(found := _surface(visual, node.name), Remark):
                remarks.append(found)
            else:
                surfaces.append(found)
        if kept or surfaces:
            triangles = np.concatenate([np.zeros((0, 3, 3)), *surfaces])
            samples = sampled(triangles, error=error) if surfaces else None
            sources.append(_Source(node, tuple(kept), triangles, samples))
    if not sources:
        _refuse(linkage, role, remarks)
    return sources, remarks


def _surface(visual: Visual, link: str) -> FloatArray | Remark:
    """Return the triangles of a shape in the axes of its link, or a remark on why there are none."""
    triangles, name = triangles_of(visual.shape, outside=True), getattr(visual.shape, "path", visual.shape.kind)
    if triangles is None:
        where = "was not found" if isinstance(visual.shape, Mesh) and visual.shape.file is None else "cannot be read"
        return Remark("missing-mesh", f"link {link!r}: mesh {name} {where}; it is left out of the fit.", link)
    size = float(np.ptp(triangles, axis=(0, 1)).max())
    if not 0.0 < size <= LARGEST:
        text = f"link {link!r}: mesh {name} is {size:.3g} m large; it is left out of the fit. Is its scale right?"
        return Remark("size", text, link)
    placed: FloatArray = triangles @ visual.placement[:3, :3].T + visual.placement[:3, 3]
    return placed


def _refuse(linkage: Linkage, role: str, remarks: list[Remark]) -> None:
    """Raise the error that explains why there is nothing to fit."""
    if any(remark.kind == "missing-mesh" for remark in remarks):
        try:
            import trimesh  # noqa: F401
        except ImportError as missing:
            raise MissingExtraError("trimesh", "formats", "reading meshes") from missing
    why = " ".join(remark.text for remark in remarks[:3]) or f"no link has a shape of role {role!r}."
    raise LinkageError(f"linkage {linkage.name!r} has nothing to fit: {why}")


# The fit


def _share(most: int, links: int) -> int:
    """Return the largest number of shapes of a link: twice its share, so that one sharp-edged link cannot take all."""
    return most if links <= 1 else max(1, min(most - links + 1, math.ceil(2 * most / links)))


def _spheres(surfaces: list[Samples], error: float | None, most: int, conservative: bool) -> list[list[Part]]:
    """Return spheres for every surface: a total number, or as many as an error needs."""
    covers, share = [SphereCover(samples) for samples in surfaces], _share(most, len(surfaces))
    counts = sphere_counts(covers, most, share, error)
    if error is None:
        spheres = [cover.best(count) for cover, count in zip(covers, counts, strict=True)]
        _spend(covers, spheres, most, share)
    else:
        spheres = [cover.within(error, count) for cover, count in zip(covers, counts, strict=True)]
    found: list[list[Part]] = []
    for centres, radii, excess in spheres:
        small = radii if conservative else radii - np.maximum(excess, 0.0) / 2.0
        found.append([CapsulePart(place, place, float(radius)) for place, radius in zip(centres, small, strict=True)])
    return found


def _spend(covers: list[SphereCover], spheres: list[Spheres], most: int, share: int) -> None:
    """Give the remaining spheres, one by one, to the link whose spheres stick out most."""
    full: set[int] = set()
    for _ in range(most - sum(len(radii) for _, radii, _ in spheres)):
        errors = {k: float(own[2].max()) for k, own in enumerate(spheres) if k not in full and len(own[1]) < share}
        if not errors:
            break
        worst = max(errors, key=errors.__getitem__)
        better = covers[worst].best(len(spheres[worst][1]) + 1)
        if float(better[2].max()) < errors[worst]:
            spheres[worst] = better
        else:
            full.add(worst)


def _parts(
    triangles: list[FloatArray], surfaces: list[Samples], kind: Kind, error: float | None, most: int, conservative: bool
) -> list[list[Part]]:
    """Return convex parts of every surface, by repeatedly splitting the part that sticks out most."""
    around: Callable[[FloatArray], Part] = hull_of if kind == "hulls" else capsule_of
    pieces = [[piece_of(all_, samples, around)] for all_, samples in zip(triangles, surfaces, strict=True)]
    stuck, share = set[int](), _share(most, len(surfaces))
    while sum(map(len, pieces)) < most:
        every = [
            (piece.error, k, n)
            for k, own in enumerate(pieces)
            for n, piece in enumerate(own)
            if id(piece) not in stuck and len(own) < share
        ]
        worst, k, n = max(every, default=(0.0, 0, 0))
        if worst <= (error or 0.0) or worst <= surfaces[k].cell:
            break
        halves = split(pieces[k][n], surfaces[k], around)
        if halves is None:
            stuck.add(id(pieces[k][n]))
        else:
            pieces[k][n : n + 1] = halves
    return [[_tight(piece, conservative) for piece in own] for own in pieces]


def _tight(piece: Piece, conservative: bool) -> Part:
    part = piece.part
    if conservative or not isinstance(part, CapsulePart):
        return part
    return CapsulePart(part.start, part.end, part.radius - min(piece.error, part.radius) / 2.0)


# Quality of the fit


def _row(source: _Source, parts: list[Part]) -> FittedLink:
    """Return how far the parts stick out of a surface, and the surface out of the parts, measured at sampled points."""
    count = len(parts) + len(source.kept)
    if source.samples is None:
        return FittedLink(source.link.name, count, 0.0, 0.0, 0.0, 0.0)
    points = np.concatenate([part.boundary() for part in parts])
    owners = np.repeat(np.arange(len(parts)), [len(part.boundary()) for part in parts])
    seen = np.ones(len(points), np.bool_)
    for k, part in enumerate(parts):
        seen &= (owners == k) | (part.distances(points) >= 0.0)
    away = source.samples.outside(points[seen])
    surface, area = source.samples.points
    left = np.min([part.distances(surface) for part in parts], axis=0)
    hair = 1e-7 * math.sqrt(max(float(area.sum()), 1e-12))
    left[left < hair] = 0.0
    share = float(area[left > 0.0].sum() / max(float(area.sum()), 1e-300))
    return FittedLink(
        source.link.name,
        count,
        float(away.max(initial=0.0)),
        float(away.mean()) if len(away) else 0.0,
        float(left.max()),
        share,
    )
