"""The command warmup: compile the kernels ahead of use."""

from __future__ import annotations

from .commands import command
from .console import print_json, progress
from .options import AsJson


@command("warmup")
def warmup(as_json: AsJson = False) -> None:
    """Compile all kernels now, instead of at first use."""
    from ..kernels import runtime

    with progress("compiling") as shown:
        ready = runtime.warm(lambda count, total, name: shown(count / total, f"{name}, {count} of {total}"))
    if as_json:
        print_json({"seconds": ready.seconds, "from": ready.origin, "kept": ready.kept})
    else:
        print(f"kernels are ready: {ready.said}")
