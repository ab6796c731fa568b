"""The command page: a page in which a linkage is dragged."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from .commands import command, flag, takes, writes
from .console import print_json, say, writing
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
    output: Annotated[Path | None, writes("A .html.")] = None,
    frame: Annotated[list[str] | None, takes("NAME", "A frame to drag; may be repeated. Ends of limbs.")] = None,
    pin: Annotated[list[str] | None, takes("NAME", "A frame that is held; may be repeated. Feet.")] = None,
    meshes: Annotated[bool, flag("--meshes", "Show meshes and the skin of its file.")] = False,
    title: Annotated[str | None, takes("TEXT", "A line above the picture.", "--title")] = None,
    view: View = None,
    reading: FileOptions,
    as_json: AsJson = False,
) -> None:
    """Make a page in which a linkage is dragged.

    Writes NAME.html if no file is given: one file that opens in any browser, from disk and without a network, and
    solves there. With -o - the page goes to stdout.

    The pose to begin with is given as in the command pose.
    """
    from .. import draw

    linkage = reading.model(model)
    start = given.read(linkage) if given.values or given.stored else None
    target = output or Path(f"{linkage.name}.html")
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
