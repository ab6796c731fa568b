"""The command fit: simple collision shapes instead of meshes."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from ..errors import OptionError
from .commands import command, flag, operand, takes
from .console import print_columns, print_json, say
from .options import AsJson, ModelOperand, Picture
from .reading import FileOptions, read_length


@command("fit planar:0.3,0.2 arm.urdf --most 6", "fit panda panda.urdf --kind hulls --json")
def fit(
    model: ModelOperand,
    target: Annotated[Path | None, operand("TARGET", "The file to write.")] = None,
    kind: Annotated[str, takes("KIND", "spheres, capsules or hulls.")] = "spheres",
    error: Annotated[str | None, takes("LENGTH", "Largest distance that shapes may stick out: 2cm.")] = None,
    most: Annotated[int | None, takes("N", "Largest number of shapes in all.", least=1)] = None,
    tight: Annotated[
        bool, flag("--tight", "Smaller shapes: they stick out half as far, but leave as much uncovered.")
    ] = False,
    visual: Annotated[bool, flag("--visual", "Fit the visual meshes, not the collision meshes.")] = False,
    picture: Picture = None,
    *,
    reading: FileOptions,
    as_json: AsJson = False,
) -> None:
    """Replace meshes with a few simple collision shapes.

    The shapes enclose the links, unless --tight is given. Prints how far they stick out, in millimetres. TARGET, such
    as a .urdf or .yaml, is written with the new shapes.
    """
    from .. import draw
    from ..collision.fitting import fit as fitted
    from ..formats.files import save

    names: dict[str, Any] = {"spheres": "spheres", "capsules": "capsules", "hulls": "hulls"}
    if kind not in names:
        raise OptionError(f"--kind is {', '.join(names)}, got {kind!r}")
    limit = None if error is None else read_length("--error", error)
    role = "visual" if visual else None
    found = fitted(reading.model(model), names[kind], error=limit, most=most, conservative=not tight, role=role)
    if target is not None:
        save(found.linkage, target)
    if picture is not None:
        draw.pose(found.linkage, collision=True, path=picture)
    if as_json:
        rows = [asdict(row) for row in found.links]
        print_json({"kind": kind, "count": found.count, "error": found.error, "links": rows})
        return
    lengths = [[1e3 * x for x in (row.sticks_out, row.mean, row.uncovered)] for row in found.links]
    cells = [
        (row.link, str(row.count), *(f"{x:.1f}" for x in own)) for row, own in zip(found.links, lengths, strict=True)
    ]
    print_columns([("link", kind, "sticks out", "mean", "uncovered [mm]"), *cells])
    for remark in found.remarks:
        say(remark.text)
