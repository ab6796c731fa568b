"""The command line: one thin function for each command, over the functions that Python users call.

The library is imported when a command runs, so that ``linkwork --help`` is quick. Results go to stdout, as JSON with
``--json``; talk and progress to stderr. Exit 0 done, 1 goal not reached or remarks on a file, 2 wrong usage, 3
unreadable or invalid file.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from .. import __version__
from ..errors import FormatError, LinkworkError, OptionError
from . import batch, file, film, ik, layer, markers, report, retarget
from .console import BAD_FILE, WRONG_USAGE, console, print_columns, print_json, progress, say, writing
from .options import (
    EXAMPLES,
    PROGRAM,
    AsJson,
    ModelOperand,
    PoseOptions,
    Size,
    View,
    command,
    examples,
    flag,
    operand,
    takes,
    writes,
)
from .output import add_torques, description, placements, print_placement, tree_rows
from .parsing import is_file, read_size, read_view
from .reading import FileOptions

if TYPE_CHECKING:
    from ..motion.clips import Clip

INTERRUPTED, BROKEN_PIPE = 130, 141
TRY_NEXT = """Try next:
  linkwork info human
  linkwork pose panda --pose ready
  linkwork draw human --pose wave -o wave.png
And drag a hand in the browser:
  linkwork studio human"""
UsageError: Any = typer.BadParameter.__base__  # typer itself names only this kind of it

# The frame around every command


class Commands(TyperGroup):
    """The group of all commands: what goes wrong becomes one plain line on stderr and an exit status."""

    def main(self, *args: Any, **options: Any) -> Any:
        """Run a command line and exit."""
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")  # a name that the console cannot show is no crash
        try:
            status = super().main(*args, **{**options, "standalone_mode": False})
        except UsageError as error:
            say(_with_hint(error.format_message()))
            print(f"Try: {error.ctx.command_path if error.ctx else 'linkwork'} --help", file=sys.stderr)
            status = WRONG_USAGE
        except typer.Abort:
            status = INTERRUPTED
        sys.exit(status if isinstance(status, int) else 0)

    def invoke(self, ctx: Any) -> Any:
        """Run one command."""
        try:
            super().invoke(ctx)
            sys.stdout.flush()
        except KeyboardInterrupt:
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nothing is left to flush at exit
            raise typer.Exit(BROKEN_PIPE) from None
        except LinkworkError as error:
            say(error)
            raise typer.Exit(BAD_FILE if isinstance(error, FormatError) else WRONG_USAGE) from None
        except OSError as error:
            say(f"{error.filename}: {error.strerror}" if error.filename else error)
            raise typer.Exit(BAD_FILE) from None


def _with_hint(message: str) -> str:
    """Return what a command line was refused for, with how to write numbers that it took for something else."""
    number = re.search(r"No such option: -[\d.]|unexpected extra argument.*\([-+\d., eE]+\)$", message)
    hint = "The numbers of a position are one word after its option, with commas and no spaces: --position=-20,5."
    return f"{message.rstrip('.')}. {hint}" if number else message


app = typer.Typer(
    name="linkwork",
    cls=Commands,
    **PROGRAM,
    pretty_exceptions_enable=False,
    epilog=examples("info panda", "pose planar:15,10,5 j1=30deg --frame tip", "draw human --pose wave -o wave.png"),
)


@app.callback(invoke_without_command=True)
def linkwork(context: typer.Context, version: Annotated[bool, flag("--version", "Print the version.")] = False) -> None:
    """Build kinematic linkages, pose them, solve them and see them.

    MODEL is a file (.urdf, .xml, .bvh, .glb, .usd, .yaml, ...) or a ready-made model, with arguments after a colon:
    panda, planar:15,10,5, snake:9.
    """
    if version:
        print(f"linkwork {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help(), file=sys.stderr)
        raise typer.Exit(WRONG_USAGE)


# Commands


@command("info panda", "info planar:15,10,5 --json")
def info(model: ModelOperand, *, reading: FileOptions, as_json: AsJson = False) -> None:
    """Show a linkage: tree, joints, limits, frames, stored poses."""
    from ..explain.mobility import degrees_of_freedom

    linkage = reading.model(model)
    if as_json:
        print_json(description(linkage))
        return
    kinds = Counter(linkage.joint(name).articulation.kind for name in linkage.joints)
    counts = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    frames = [f"{frame.name} (on {frame.link})" for frame in linkage.extra_frames]
    freedom = degrees_of_freedom(linkage)
    print(f"{linkage.name}: {freedom} DOF, {len(linkage.links)} links, {len(linkage.joints)} joints ({counts})\n")
    print_columns(tree_rows(linkage, unicode=console().encoding.startswith("utf")))
    print(f"\nframes: {', '.join(frames) or 'none'}")
    if linkage.loops:
        print(f"loops: {', '.join(f'{loop.name} ({loop.first}, {loop.second})' for loop in linkage.loops)}")
    if linkage.groups:
        print(f"groups: {', '.join(linkage.groups)}")
    print(f"poses: {', '.join(linkage.poses) or 'none'}")


@command(
    "pose panda panda_joint1=30deg panda_joint4=-1.5 --frame tip",
    "pose panda --pose ready --all --json",
    "pose planar:2,1 j1=90deg --matrix",
)
def pose(
    model: ModelOperand,
    *,
    given: PoseOptions,
    frame: Annotated[list[str] | None, takes("NAME", "A frame to show; may be repeated.")] = None,
    every: Annotated[bool, flag("--all", "Show all frames, those of the links too.")] = False,
    matrix: Annotated[bool, flag("--matrix", "Print 4x4 matrices in place of quaternions.")] = False,
    torques: Annotated[bool, flag("--torques", "Show what joints bear to hold the pose, too.")] = False,
    reading: FileOptions,
    as_json: AsJson = False,
) -> None:
    """Show where frames are for given joint values.

    Prints positions [m] and quaternions w, x, y, z. Without --frame and --all, the frames are those that the linkage
    names besides its links, or else all links.

    Values are in radians or metres, angles also in degrees: 30deg. A joint with several takes hip=0.1,0.2,0.3; a
    rotation says its form: hip=wxyz:1,0,0,0 or hip=euler:xyz:10deg,0,0. What is not given is neutral, or as in --pose.

    On stdin, a JSON object of joint values gives one result, and a list of them gives a list of results.
    """
    linkage = reading.model(model)
    extra = [frame.name for frame in linkage.extra_frames]
    names = linkage.frames if every else frame or extra or linkage.links
    q = given.read(linkage)
    results = list(placements(linkage, q.reshape(-1, linkage.nq), names, matrix=matrix))
    if torques:
        add_torques(linkage, q.reshape(-1, linkage.nq), results)
    for k, result in enumerate(results):
        which = f"pose {k}" if q.ndim > 1 else "the pose"
        if result["outside_limits"]:
            say(f"{which} is outside the limits of {', '.join(result['outside_limits'])}")
        if result.get("too_heavy"):
            say(f"the motors of {', '.join(result['too_heavy'])} cannot hold {which}")
        if not as_json:
            print_placement(result, f"{which}:\n" if q.ndim > 1 else "")
    if as_json:
        print_json(results if q.ndim > 1 else results[0])


@command(
    "draw human --pose wave -o wave.png",
    "draw panda panda_joint2=40deg --show-frames --show-limits -o panda.svg",
    "draw planar:15,10,5 --strip 5 -o strip.pdf",
    "draw snake:9 -o snake.gif",
)
def draw(
    model: ModelOperand,
    *,
    given: PoseOptions,
    output: Annotated[Path | None, writes("A .png, .svg or .pdf, or a .gif of the motion.")] = None,
    frames: Annotated[bool, flag("--show-frames", "Show all frames, their axes x, y, z in red, green, blue.")] = False,
    limits: Annotated[bool, flag("--show-limits", "Show the ranges of the joints.")] = False,
    labels: Annotated[bool, flag("--labels", "Write the names of joints and frames.")] = False,
    strip: Annotated[int | None, takes("N", "Draw N pictures of the motion in a row.", min=1)] = None,
    view: View = None,
    size: Size = None,
    reading: FileOptions,
) -> None:
    """Draw a pose, or a motion as a strip of pictures or a film.

    Writes NAME.png if no file is given, and a PNG to stdout for -o -. Values are as in the command pose. The motion is
    the model's own; that of a file is the first it holds, or goes through its stored poses.
    """
    from .. import draw as pictures

    linkage = reading.model(model)
    film = output is not None and output.suffix.lower() == ".gif"
    with writing(output or Path(f"{linkage.name}.png"), (*pictures.IMAGES, ".gif")) as path:
        look: dict[str, Any] = {"view": read_view(view), "size": read_size(size, path.suffix.lower()), "path": path}
        if not film and strip is None:
            ready = next((name for name in ("ready", *linkage.poses) if name in linkage.poses), None)
            pictures.pose(linkage, given.read(linkage, ready), frames=frames, limits=limits, labels=labels, **look)
            return
        if given != PoseOptions() or frames or (film and (strip or limits or labels)):
            raise OptionError(
                "a strip or film shows the motion: give no pose, no --show-frames, and for a film no --show-limits"
            )
        clip = reading.motion(model, poses=True)
        if strip is None:
            pictures.film(clip, **look)
        else:
            panels = [round(k * (len(clip) - 1) / max(1, strip - 1)) for k in range(strip)]
            pictures.strip(clip, frames=panels, limits=limits, labels=labels, **look)


@command("demo", "demo panda snake:9 -o small")
def demo(
    models: Annotated[list[str] | None, operand("MODEL", "Ready-made models; by default all.")] = None,
    output: Annotated[Path, writes("Where to write.", "FOLDER")] = Path("gallery"),
    show: Annotated[bool, flag("--open", "Open the page in a browser.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write a gallery of models and figures in motion.

    It is one page, index.html, that opens from disk and needs no network.
    """
    from ..draw import gallery

    with progress("drawing") as shown:
        page = gallery.build(output, models, progress=shown)
    if as_json:
        print_json({"page": str(page.resolve()), "bytes": page.stat().st_size})
    else:
        print(f"The gallery is at {page} ({page.stat().st_size / 1e6:.1f} MB); open it in a browser.")
        print(TRY_NEXT, file=sys.stderr)
    if show:
        import webbrowser

        webbrowser.open(page.resolve().as_uri())


@command("studio", "studio human --port 8123 --no-browser")
def studio(
    model: ModelOperand = "panda",
    port: Annotated[int, takes("N", "The port; the next free one if it is taken.", min=0, max=65535)] = 8080,
    no_browser: Annotated[bool, flag("--no-browser", "Serve only; open no browser.")] = False,
    host: Annotated[str, takes("ADDRESS", "The address to bind; others than this machine's open it to a network.")] = (
        "127.0.0.1"
    ),
    *,
    reading: FileOptions,
) -> None:
    """Open the studio, a page in the browser to pose and animate.

    It serves until interrupted with Ctrl-C. Everything stays on this machine, and it works without a network.
    """
    from ..studio import open_studio
    from ..studio.serving import HERE

    thing, how = (model, vars(reading.read())) if is_file(model) else (reading.model(model), {})
    with open_studio(thing, host=host, port=port, **how) as opened:
        print(f"The studio is at {opened.url}; Ctrl-C ends it.", flush=True)
        if host not in HERE:
            say(f"whoever reaches {host} can use the studio: there is no password.")
        if not no_browser:
            import webbrowser

            webbrowser.open(opened.url)
        with contextlib.suppress(KeyboardInterrupt):  # the way to end it
            opened.wait()


def compile_steps() -> None:
    """Compile forward kinematics, Jacobians and all methods that go step by step."""
    from .. import goals, models, solvers

    arm = models.planar([1.0, 1.0])
    goal = goals.Reach("tip", position=(1.0, 1.0))
    for q in (arm.neutral(), [arm.neutral()] * 2):  # one pose and many have kernels of their own
        arm.forward(q)
        arm.forward(q, frame="tip")
        arm.jacobian(q, "tip")
        for method in solvers.METHODS:
            if method != "robust":
                solvers.solve(arm, goal, start=q, method=method, max_iterations=2)


def compile_search() -> None:
    """Compile the search of the robust method and control cycles: for one goal, for many and for whole bodies."""
    from .. import goals, models, solvers
    from ..solvers import batch

    arm = models.planar([1.0, 1.0])
    solvers.solve(arm, goals.Reach("tip", position=(1.0, 1.0)), start=arm.neutral(), method="robust")
    target = arm.forward([[0.5, 1.0]] * 2, frame="tip")
    ik = solvers.prepare(arm, "tip")
    ik(target[0])
    ik.step(target[0], arm.neutral(), 0.01)
    far = target[0].copy()
    far[0, 3] = 9.0
    ik(far, start=arm.neutral())  # out of reach: the closest pose has a kernel of its own
    for precision in ("float64", "float32"):
        batch.solve_batch(arm, "tip", target, dtype=precision)
    several = [goals.Reach("tip", position=(1.0, 1.0)), goals.Rest()]
    solvers.solve(arm, several, start=arm.neutral(), method="robust")
    solvers.prepare(arm, several).step(several, arm.neutral(), 0.01)


def compile_motion() -> None:
    """Compile what a motion of a whole body is solved with."""
    from .. import models, retargeting
    from ..motion.clips import Clip

    body = models.human(root="floating")
    stand = Clip(body, [0.0], body.stored_pose("stand")[None])  # type: ignore[arg-type]
    retargeting.retarget(stand, models.human(root="floating", height=1.2))
    compile_film(Clip(body, [0.0, 0.1], [stand.poses[0], stand.poses[0]]))  # type: ignore[arg-type]


def compile_film(clip: Clip) -> None:
    """Compile what solids are drawn with."""
    from .. import draw

    with tempfile.TemporaryDirectory() as folder:
        draw.film(clip, Path(folder) / "film.gif", size=(0.5, 0.5))


@command("warmup")
def warmup(as_json: AsJson = False) -> None:
    """Compile all kernels now, not at their first use."""
    start = time.perf_counter()
    code = f"from {__name__} import compile_search; compile_search()"
    with (
        progress("compiling") as shown,
        subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL) as other,  # on a second core
    ):
        try:
            for k, part in enumerate((compile_steps, compile_motion)):
                shown(k / 3, f"part {k + 1} of 3")
                part()
            shown(2 / 3, "part 3 of 3")
            other.wait()
        except BaseException:
            other.kill()
            raise
        compile_search()  # finds what the other process has kept; compiles it only where nothing could be kept
    seconds = time.perf_counter() - start
    if as_json:
        print_json({"seconds": seconds})
    else:
        print(f"kernels are ready; it took {seconds:.1f} s")


FAMILIES = (
    (info, pose, draw),
    (ik.solve, ik.track, ik.workspace, ik.race, ik.figure),
    (
        file.convert,
        file.doctor,
        film.animate,
        report.inspect,
        report.retime,
        retarget.retarget,
        layer.layer,
        markers.markers,
    ),
    (demo, studio, warmup),
)
for function in (one for family in FAMILIES for one in family):
    app.command(epilog=EXAMPLES[function])(function)
app.add_typer(batch.batch)


def main() -> None:
    """Run the command line; SIGTERM ends it as Ctrl-C does, also where that is ignored: nothing is left behind."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    app()
