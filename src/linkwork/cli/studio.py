"""The commands demo and studio."""

from __future__ import annotations

import contextlib
import shutil
import sys
from pathlib import Path
from threading import Thread
from typing import Annotated

from .commands import command, flag, operand, takes, writes
from .console import print_json, progress, say
from .options import AsJson, ModelOperand
from .parsing import is_file
from .reading import FileOptions

TRY_NEXT = """Try next:
  {linkwork} info human
  {linkwork} pose panda --pose ready
  {linkwork} draw human --pose wave -o wave.png
And drag a hand in the browser:
  {linkwork} studio human"""


@command("demo", "demo panda snake:9 -o small")
def demo(
    models: Annotated[list[str] | None, operand("MODEL", "Ready-made models; by default all.")] = None,
    output: Annotated[Path, writes("Folder to write.", "FOLDER")] = Path("gallery"),
    show: Annotated[bool, flag("--open", "Open the page in a browser.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write a gallery page of moving models and figures.

    The page, index.html, opens from disk and works offline.
    """
    from ..draw import gallery

    with progress("drawing") as shown:
        page = gallery.build(output, models, progress=shown)
    if as_json:
        print_json({"page": str(page.resolve()), "bytes": page.stat().st_size})
    else:
        print(f"The gallery is at {page} ({page.stat().st_size / 1e6:.1f} MB); open it in a browser.")
        print(TRY_NEXT.format(linkwork=own_name()), file=sys.stderr)
    if show:
        import webbrowser

        webbrowser.open(page.resolve().as_uri())


def own_name() -> str:
    """Return what to type to call linkwork: its path if a shell does not find the name, as after ``make demo``."""
    called = Path(sys.argv[0])
    return str(called) if called.stem == "linkwork" and shutil.which("linkwork") is None else "linkwork"


@command("studio", "studio human --port 8123 --no-browser")
def studio(
    model: ModelOperand = "panda",
    port: Annotated[int, takes("N", "Port; if it is taken, the next free one.", least=0, most=65535)] = 8080,
    no_browser: Annotated[bool, flag("--no-browser", "Do not open a browser.")] = False,
    host: Annotated[str, takes("ADDRESS", "Address to bind; any other than the default opens it to a network.")] = (
        "127.0.0.1"
    ),
    *,
    reading: FileOptions,
) -> None:
    """Open the studio in the browser, to pose and animate.

    Runs until interrupted with Ctrl-C. Everything stays on this machine, and it works offline.
    """
    from ..models import NAMED
    from ..studio import open_studio
    from ..studio.server import HERE

    def tell(url: str) -> None:
        print(f"The studio is at {url}; Ctrl-C ends it.", flush=True)
        if host not in HERE:
            say(f"anyone who has this address and can reach {host} can use the studio.")
        if not no_browser:
            import webbrowser

            Thread(target=webbrowser.open, args=(url,), daemon=True).start()  # as it takes a while

    sure = model in NAMED and reading == FileOptions()  # nothing can fail: print the address first
    how = vars(reading.read()) if not sure and is_file(model) else {}
    thing = model if sure or how else reading.model(model)
    with open_studio(thing, host=host, port=port, tell=tell, **how) as opened:
        with contextlib.suppress(KeyboardInterrupt):  # the way to end it
            opened.wait()
        if opened.close(keep=True):
            say("unsaved changes are kept; the next studio offers to recover them.")
