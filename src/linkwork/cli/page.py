"""The command page: a web page in which a linkage can be dragged."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from .commands import command, flag, takes, writes
from .console import named_after, print_json, say, writing
from .options import AsJson, ModelOperand, PoseOptions, View
from .parsing import read_view
from .reading import FileOptions


@command(
    "page human:floating -o human.html",
    "page panda --pose ready -o panda.html",
    "page planar:15,10,5 j1=30deg -o arm.html --title 'Three links'",
    "page human:floating -o hands.html --frame left_hand --frame right_hand --pin pelvis",
)
def page(
    model: ModelOperand,
    *,
    given: PoseOptions,
    output: Annotated[Path | None, writes("Page to write: .html.")] = None,
    frame: Annotated[
        list[str] | None, takes("NAME", "Frame to drag; may be repeated. By default the ends of limbs.")
    ] = None,
    pin: Annotated[
        list[str] | None, takes("NAME", "Frame to hold in place; may be repeated. By default the feet.")
    ] = None,
    meshes: Annotated[bool, flag("--meshes", "Show the meshes and the skin of the file.")] = False,
    title: Annotated[str | None, takes("TEXT", "Title above the picture.", "--title")] = None,
    view: View = None,
    reading: FileOptions,
    as_json: AsJson = False,
) -> None:
    """Make a web page in which a linkage can be dragged.

    Writes NAME.html if no file is given: one file that opens in any browser, works offline and solves in the page. With
    -o - the page goes to stdout.

    The first pose is given as for the command pose.
    """
    from .. import draw

    linkage = reading.model(model)
    start = given.read(linkage) if given.values or given.stored else None
    target = output or named_after(linkage.name, ".html")
    with writing(target, (".html",)) as path:
        made = draw.page(
            linkage, path, goals=frame, pins=pin, start=start, title=title, meshes=meshes, view=read_view(view)
        )
    if str(output) == "-":
        return
    size = len(made.html.encode())
    if as_json:
        print_json({"file": str(target), "bytes": size, "linkage": linkage.name})
    else:
        say(f"the page of {linkage.name!r} is in {target} ({size / 1e3:.0f} kB)")
