"""The commands of inverse kinematics: solve, track, workspace, race and figure."""

from __future__ import annotations

import csv
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from click.exceptions import Exit

from ..errors import OptionError
from .all_solutions import find_all, print_all
from .commands import command, flag, operand, takes, writes
from .console import NOT_DONE, print_columns, print_json, progress, say, writing
from .options import (
    AsJson,
    FrameCount,
    FrameName,
    GoalOptions,
    MethodName,
    ModelOperand,
    Picture,
    Seed,
    SolverOptions,
    given,
)
from .output import (
    motion_data,
    print_figure,
    print_laps,
    print_motion,
    print_solution,
    solution_data,
    solution_rows,
    write_motion,
)
from .parsing import position_hint, read_frame, read_goals, read_points
from .reading import FileOptions, WorldOptions

if TYPE_CHECKING:
    from ..linkage.linkage import Linkage


@command(
    "solve planar:15,10,5 --position -20,5 --start ready",
    "solve panda --position 0.4,0.2,0.5 --orientation wxyz=0,1,0,0 --start ready --explain",
    "solve planar:15,10,5 --position -20,5 --method damped --set damping=5 --json",
    "solve ur5 --position 0.4,0.2,0.3 --orientation euler=xyz:180deg,0,0 --all",
    "solve panda --position 0.4,0.2,0.5 --margin 2cm",
)
def solve(
    model: ModelOperand,
    goals: Annotated[str | None, operand("GOALS", "A .json or .csv file of goals; - reads stdin.")] = None,
    *,
    goal: GoalOptions,
    method: MethodName = None,
    options: SolverOptions,
    stay: Annotated[bool, flag("--stay", "Stay on the solution branch of --start.")] = False,
    every: Annotated[bool, flag("--all", "Find every pose that reaches the goal.")] = False,
    windings: Annotated[
        bool, flag("--windings", "With --all: also list solutions that differ by whole turns.")
    ] = False,
    around: WorldOptions,
    reading: FileOptions,
    explain: Annotated[bool, flag("--explain", "Explain why a goal is not reached, and what to try.")] = False,
    as_csv: Annotated[bool, flag("--csv", "Print CSV, one row per goal.")] = False,
    as_json: AsJson = False,
) -> None:
    """Find joint values that bring a frame to a goal.

    If a goal is not reached, prints the closest pose found and the reason, and exits with 1. An orientation is
    wxyz=1,0,0,0, xyzw=0,0,0,1, euler=xyz:0,0,90deg, rotvec=0,0,1.57 or matrix= with nine numbers, row by row.

    GOALS holds JSON, an object or a list of them, {"frame": "tip", "position": [1, 2], "orientation": {"wxyz":
    [1, 0, 0, 0]}}, or CSV with the columns x,y[,z][,qw,qx,qy,qz][,frame]. Each goal is solved on its own, from the same
    start. Goals in a nested list are solved together, by one pose.

    With --all, prints every pose that reaches the goal, and whether they are proven to be all. If the arm has a closed
    form, the nearest to --start comes first. Exits with 1 if there is none.

    With --world or --margin, a solution keeps clear of all obstacles, and of itself, by the margin, 1 cm by default.
    """
    from .. import solvers

    if as_csv and as_json:
        raise OptionError("give --csv or --json, not both")
    linkage = reading.model(model)
    problems, many = _problems(linkage, goal, goals)
    avoid = around.avoid(reading)
    settings, begin = options.read() | given(method=method, stay=stay or None), options.read_start(linkage)
    if every or windings:
        found = find_all(linkage, problems, begin, settings | given(avoid=avoid), windings=windings)
        print_all(found, many, "json" if as_json else "csv" if as_csv else "text")
        raise Exit(0 if all(map(len, found)) else NOT_DONE)
    with progress("solving", shown=many) as report:
        solutions = []
        for k, problem in enumerate(problems):
            wanted = problem if avoid is None else [*problem, avoid]
            solutions.append(solvers.solve(linkage, wanted, start=begin, **settings))
            report((k + 1) / len(problems), f"goal {k}")
    results = [solution_data(solution, explain=explain) for solution in solutions]
    if as_json:
        print_json(results if many else results[0])
    elif as_csv:
        csv.writer(sys.stdout, lineterminator="\n").writerows(solution_rows(linkage, results))
    else:
        for k, result in enumerate(results):
            print_solution(linkage, result, f"goal {k}:\n" if many else "")
    if not all(solution.success for solution in solutions):
        raise Exit(NOT_DONE)


def _problems(linkage: Linkage, goal: GoalOptions, goals: str | None) -> tuple[list[list[Any]], bool]:
    """Return the goals of every problem, and whether they were given as a list."""
    if goals is None:
        return [[goal.read(linkage)]], False
    if not goal.given:
        return read_goals(linkage, goals, goal.frame)
    if goal.position is not None and position_hint(f"{goal.position} {goals}"):
        raise OptionError(f"--position takes one word, got two: {position_hint(f'{goal.position} {goals}')}")
    raise OptionError("give the goal with --position and --orientation or in GOALS, not both")


@command(
    "track planar:15,10,5 --position -20,5 --start ready -o reach.gif",
    "track panda --position 0.4,0.2,0.5 --start ready --steps 1 --method transpose --json",
)
def track(
    model: ModelOperand,
    *,
    goal: GoalOptions,
    points: Annotated[
        str | None, takes("FILE", "Points to pass through: CSV with x,y[,z]; - reads stdin.", "--path")
    ] = None,
    closed: Annotated[bool, flag("--closed", "Close the path: return to its first point.")] = False,
    frames: FrameCount = None,
    fps: Annotated[float, takes("RATE", "Frames per second.", "--fps")] = 24.0,
    method: MethodName = None,
    steps: Annotated[int | None, takes("N", "Take exactly N solver steps per frame.", "--steps")] = None,
    lookahead: Annotated[bool, flag("--lookahead", "Plan the whole path over all solution branches.")] = False,
    options: SolverOptions,
    around: WorldOptions,
    reading: FileOptions,
    output: Annotated[Path | None, writes("Motion (.json, .csv, .glb), strip (.png) or film (.html, .mp4).")] = None,
    as_json: AsJson = False,
) -> None:
    """Move a frame in a straight line to a goal, or through points.

    Exits with 1 if a frame of the motion misses its goal. With --steps, each frame takes that many solver steps and is
    kept whether or not it reached its goal; the first frame is the start pose.
    """
    from .. import draw, formats
    from ..motion import paths, tracking
    from ..solvers import Problem, configure

    goals: Any
    linkage, chosen = reading.model(model), method or "damped"
    name, begin, settings = read_frame(linkage, goal.frame), options.read_start(linkage), options.read()
    end = goal.read(linkage) if goal.given else None
    with _writing(output, (*draw.IMAGES, *draw.FILMS, ".json", *formats.suffixes("clips", "writes")), as_json) as path:
        if end is not None and points is None and not closed:
            goals, first = end, end
        elif end is None and points is not None:
            goals = paths.spline(name, read_points(points), closed=closed, **given(frames=frames))
            first = goals[0]
        else:
            raise OptionError("give a goal with --position and --orientation, or points to pass with --path [--closed]")
        with progress("solving") as report:
            clip = tracking.track(
                linkage, goals, frames=frames, start=begin, method=chosen, fps=fps, steps=steps, lookahead=lookahead,
                progress=lambda done, total: report(done / total, f"frame {done}"), **settings,
                **given(avoid=around.avoid(reading)),
            )  # fmt: skip
        _, loop = configure(chosen, {k: v for k, v in settings.items() if k not in ("joints", "weights")}, linkage)
        data = motion_data(clip, name, loop.tolerances(Problem(linkage, first)))
        if path is not None:
            write_motion(clip, data, end, path)
    if as_json:
        print_json(data)
    elif str(output) != "-":
        print_motion(clip, data)
    if steps is None and data["missed"]:
        raise Exit(NOT_DONE)


@command("workspace planar:15,10,5 -o workspace.png", "workspace ur5 --samples 5000 --json")
def workspace(
    model: ModelOperand,
    frame: FrameName = None,
    samples: Annotated[int, takes("N", "Number of random poses to try.", "--samples")] = 20_000,
    orientations: Annotated[
        int, takes("K", "Also try K orientations at each point, for the dexterous workspace.", "--orientations")
    ] = 0,
    seed: Seed = 0,
    *,
    reading: FileOptions,
    output: Picture = None,
    as_json: AsJson = False,
) -> None:
    """Show the workspace of a frame: where it can be."""
    from .. import draw
    from ..explain import workspaces as analysis

    linkage = reading.model(model)
    name = read_frame(linkage, frame)
    counts = {"samples": samples, "orientations": orientations, "seed": seed}
    with _writing(output, draw.IMAGES, as_json) as path:
        with progress("trying") as report:
            found = analysis.workspace(linkage, name, **counts, progress=lambda share: report(share, name))
        if path is not None:
            draw.workspace(found, path=path)
    lower, upper = found.extent
    share = None if found.dexterity is None else float((found.dexterity >= 1.0).mean())
    if as_json:
        print_json(
            {
                "linkage": linkage.name,
                "frame": name,
                "points": len(found.points),
                "planar": found.planar,
                "extent": {"lower": lower.tolist(), "upper": upper.tolist()},
                "center": found.center.tolist(),
                "annulus": None if found.annulus is None else list(found.annulus),
                "dexterous_share": share,
                "dexterous_rings": None if found.dexterous_rings is None else [list(r) for r in found.dexterous_rings],
            }
        )
    if as_json or str(output) == "-":
        return
    rows = [("", "from [m]", "to [m]")]
    rows += [(axis, f"{low:.6g}", f"{high:.6g}") for axis, low, high in zip("xyz", lower, upper, strict=True)]
    print_columns(rows)
    if found.annulus is not None:
        print(f"exactly: a ring about the first joint, {found.annulus[0]:.6g} to {found.annulus[1]:.6g} m from it")
    if share is not None and found.dexterous_rings is not None:
        rings = " and ".join("{:.6g} to {:.6g} m".format(*ring) for ring in found.dexterous_rings)
        print(f"exactly, in every orientation: {rings or 'nowhere'}")
    if share is not None:
        print(f"all tried orientations can be reached at {share:.1%} of {len(found.points)} points")


@command(
    "race planar:15,10,5 --position -20,5 --start ready",
    "race panda --position 0.4,0.2,0.5 -o race.png",
    "race planar:15,10,5 --position -20,5 --start ready --strips strips.png",
    "race planar:15,10,5 --position -20,5 --start ready -o race.html",
)
def race(
    model: ModelOperand,
    *,
    goal: GoalOptions,
    methods: Annotated[
        list[str] | None, takes("NAME", "Method to run; may be repeated. By default all.", "--method")
    ] = None,
    options: SolverOptions,
    reading: FileOptions,
    output: Annotated[Path | None, writes("Picture to write: .png, .svg, .pdf; or a live page: .html.")] = None,
    strips: Annotated[Path | None, takes("FILE", "Also draw a strip of frames for each method.", "--strips")] = None,
    as_json: AsJson = False,
) -> None:
    """Solve the same problem with every method, and compare.

    Exits with 1 if no method reaches the goal. A method that cannot solve this kind of goal says why. On a page
    (-o race.html), the race of a planar arm is live: the goal can be dragged.
    """
    from .. import draw
    from ..explain.races import Race, race as compare
    from ..models import textbook as figures
    from ..solvers import METHODS

    linkage = reading.model(model)
    wanted, begin, settings = goal.read(linkage), options.read_start(linkage), options.read()
    with _writing(output, (*draw.IMAGES, ".html"), as_json) as path:
        laps, names = Race([]), methods or list(METHODS)
        with progress("solving") as report:
            for k, name in enumerate(names):
                report(k / len(names), name)
                laps += compare(linkage, wanted, start=begin, methods=[name], **settings)
        if path is not None and path.suffix == ".html":
            draw.live_race(linkage, wanted, start=begin, methods=methods or (), path=path)
        elif path is not None:
            draw.race(laps, goal=wanted.position, path=path)
    if strips is not None:
        draw.figure(figures.of_race(laps), path=strips)
    if as_json:
        print_json([lap.as_dict() for lap in laps])
    elif str(output) != "-":
        print_laps(laps)
    if not any(lap.success for lap in laps):
        raise Exit(NOT_DONE)


@command(
    "figure 5.20",
    "figure 5.21 -o slow.gif",
    "figure 5.18 -o live.html",
    "figure 5.8 --json",
    "figure all -o figures.zip --format svg",
)
def figure(
    number: Annotated[str, operand("NUMBER", "Number of the figure, 5.1 to 5.25, or all.")],
    output: Annotated[Path | None, writes("A .png, .svg, .pdf, .gif or .html; for all, a folder or a .zip.")] = None,
    formats: Annotated[
        list[str] | None,
        takes("NAME", "For all: svg, png, pdf, gif, html; may be repeated. By default the first 3.", "--format"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Draw a textbook figure, computed from its numbers.

    Writes figure-NUMBER.png if no file is given. A .gif shows the motion of a moving figure; a .html is an interactive
    page that opens from disk. All figures go into a folder, named figures by default, or into one ZIP. --json prints
    the numbers: poses and end effector positions of every row, and angles, lengths and vectors of every diagram; it
    draws only if a file is given.
    """
    from ..models import textbook as figures

    if number == "all":
        _all_figures(output, formats, as_json)
        return
    if formats:
        raise OptionError("--format is for all figures; one figure is drawn as its file is named, as in -o arm.svg")
    from .. import draw
    from ..draw import figure_films
    from ..formats.atomic_files import replacing

    target = output or Path(f"figure-{number}.png")
    wanted, suffixes = None if as_json and output is None else target, (*draw.IMAGES, ".gif", ".html")
    with progress("computing") as report, _writing(wanted, suffixes, as_json) as path:
        report(0.0, f"figure {number}")
        made = figures.figure(number)
        if path is not None and path.suffix.lower() == ".gif":
            film = figure_films.figure_film(made)
            with replacing(path) as file:
                file.write(film)
        elif path is not None and path.suffix.lower() == ".html":
            draw.live(number, path)
        elif path is not None:
            draw.figure(made, path=path)
    if as_json:
        print_json(made.as_dict())
    elif str(output) != "-":
        print_figure(made)
        say(f"figure {number} is in {target}")


def _all_figures(output: Path | None, formats: list[str] | None, as_json: bool) -> None:
    """Draw every figure into a folder or a ZIP, or print their numbers."""
    from .. import draw
    from ..draw.chapter import FORMATS
    from ..models import textbook as figures

    if str(output) == "-":
        raise OptionError("all figures go into a folder or a .zip, not to stdout")
    target = output or Path("figures")
    if output is not None or not as_json:
        with progress("drawing") as report:
            draw.figures(target, formats=formats or FORMATS, progress=report)
    if as_json:
        print_json([figures.figure(one).as_dict() for one in figures.FIGURES])
        return
    for one, entry in figures.FIGURES.items():
        print(f"Figure {one}: {entry.caption}")
    say(f"all figures are in {target}")


def _writing(output: Path | None, suffixes: Sequence[str], as_json: bool) -> AbstractContextManager[Path | None]:
    """Yield a path to write to, checked beforehand, or None if no file is requested."""
    if as_json and str(output) == "-":
        raise OptionError("--json and -o - both write to stdout; give one of them")
    return nullcontext() if output is None else writing(output, suffixes)
