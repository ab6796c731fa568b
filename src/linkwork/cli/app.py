"""The command line: one thin function for each command, over the functions that Python users call.

Only the command that runs is imported, and the library when it runs, so that both start quickly. Results go to stdout,
as JSON with ``--json``; messages and progress to stderr. Exit status 0: done; 1: goal not reached, or remarks on a
file; 2: wrong usage; 3: unreadable or invalid file.
"""

from __future__ import annotations

import re
import shutil
import signal
import sys
from importlib import import_module
from typing import Any

import click
from click.exceptions import Exit

from .. import __version__
from ..errors import FormatError, LinkworkError, meant
from .commands import HELP_NAMES, build, examples
from .console import BAD_FILE, WRONG_USAGE, say
from .streams import forget_output, is_closed_pipe, open_closed

INTERRUPTED, BROKEN_PIPE = 130, 141
NARROW = 52  # columns: below this, click would write help that is wider than the terminal

# The module of each command, in the order of the help.
MODULES = {
    **dict.fromkeys(("info", "pose", "draw"), "show"),
    **dict.fromkeys(("solve", "track", "workspace", "race", "figure"), "ik"),
    **dict.fromkeys(("convert", "pack", "doctor"), "file"),
    "animate": "film",
    "drive": "drive",
    "synthesis": "synthesis",
    "page": "page",
    **dict.fromkeys(("inspect", "retime"), "report"),
    "collisions": "collisions",
    "fit": "fit",
    "retarget": "retarget",
    "layer": "layer",
    "markers": "markers",
    **dict.fromkeys(("demo", "studio"), "studio"),
    "learn": "learn",
    "warmup": "warmup",
    "batch": "batch",
}


class Commands(click.Group):
    """The group of all commands: an error becomes one line on stderr and an exit status."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # as click calls it
        """Return the names of all commands."""
        return list(MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Return a command by name; only its module is imported."""
        if cmd_name not in MODULES:
            return None
        found = getattr(import_module(f".{MODULES[cmd_name]}", __package__), cmd_name)
        return found if isinstance(found, click.Command) else build(found)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[Any, Any, list[str]]:
        """Return the command of the given words, or fail with a suggestion."""
        if args[0] not in MODULES:
            ctx.fail(f"No such command {args[0]!r}{meant(args[0], MODULES)}")
        return super().resolve_command(ctx, args)

    def main(self, *args: Any, **options: Any) -> Any:
        """Run a command line and exit."""
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")  # so that names the console cannot show do not crash
        columns = shutil.get_terminal_size().columns
        narrow = {"terminal_width": columns} if columns < NARROW else {}
        try:
            status = super().main(*args, **{**narrow, **options, "standalone_mode": False})
        except click.exceptions.NoArgsIsHelpError as error:
            error.show()
            status = WRONG_USAGE
        except click.UsageError as error:
            say(_with_hint(error.format_message()))
            print(f"Try: {error.ctx.command_path if error.ctx else 'linkwork'} --help", file=sys.stderr)
            status = WRONG_USAGE
        except click.Abort:
            status = INTERRUPTED
        sys.exit(status if isinstance(status, int) else 0)

    def invoke(self, ctx: click.Context) -> Any:
        """Run one command."""
        try:
            super().invoke(ctx)
            sys.stdout.flush()
        except KeyboardInterrupt:
            raise Exit(INTERRUPTED) from None
        except LinkworkError as error:
            say(error)
            raise Exit(BAD_FILE if isinstance(error, FormatError) else WRONG_USAGE) from None
        except OSError as error:
            if is_closed_pipe(error):
                forget_output()
                raise Exit(BROKEN_PIPE) from None
            say(f"{error.filename}: {error.strerror}" if error.filename else error)
            raise Exit(BAD_FILE) from None


def _with_hint(message: str) -> str:
    """Return an error message, with a hint on how to write numbers if they were misread."""
    number = re.search(r"No such option:? '?-[\d.]|unexpected extra argument.*\([-+\d., eE]+\)\.?$", message)
    hint = "The numbers of a position are one word after its option, with commas and no spaces: --position=-20,5."
    return f"{message.rstrip('.')}. {hint}" if number else message


@click.group(
    "linkwork",
    cls=Commands,
    invoke_without_command=True,
    subcommand_metavar="COMMAND [ARGS]...",
    context_settings=HELP_NAMES,
    epilog=examples("info panda", "pose planar:15,10,5 j1=30deg --frame tip", "draw human --pose wave -o wave.png"),
)
@click.option("--version", is_flag=True, help="Print the version.")
@click.pass_context
def app(context: click.Context, version: bool) -> None:
    """Build, pose, solve and draw kinematic linkages.

    MODEL is a file (.urdf, .xml, .bvh, .glb, .usd, .yaml, ...) or a ready-made model, with arguments after a colon:
    panda, planar:15,10,5, snake:9.
    """
    if version:
        print(f"linkwork {__version__}")
        raise Exit
    if context.invoked_subcommand is None:
        print(context.get_help(), file=sys.stderr)
        raise Exit(WRONG_USAGE)


def main() -> None:
    """Run the command line; SIGTERM ends it like Ctrl-C, also if that is ignored, so that it can clean up."""
    open_closed()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    app()
