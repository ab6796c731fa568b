"""The commands that show a linkage: info, pose and draw."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ..errors import LoopError, OptionError
from .commands import command, flag, takes, writes
from .console import named_after, print_columns, print_json, say, writing
from .options import AsJson, ModelOperand, PoseOptions, Size, View, WorldFile
from .output import add_torques, description, freedom_of, placements, print_placement
from .parsing import read_size, read_values, read_view
from .reading import FileOptions

if TYPE_CHECKING:
    from ..linkage.linkage import Linkage
    from ..motion.clips import Clip
    from ..transforms import FloatArray

MOVING = (".gif", ".mp4", ".html")  # films of a mechanism


@command("info panda", "info planar:15,10,5 --json")
def info(model: ModelOperand, *, reading: FileOptions, as_json: AsJson = False) -> None:
    """Show a linkage: tree, joints, limits, frames, stored poses."""
    from ..linkage.couplings import coupling_text
    from ..linkage.tree_text import tree_rows

    linkage = reading.model(model)
    if as_json:
        print_json(description(linkage))
        return
    kinds = Counter(linkage.joint(name).articulation.kind for name in linkage.joints)
    counts = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    frames = [f"{frame.name} (on {frame.link})" for frame in linkage.extra_frames]
    print(
        f"{linkage.name}: {freedom_of(linkage)}, {len(linkage.links)} links, {len(linkage.joints)} joints ({counts})\n"
    )
    print_columns(tree_rows(linkage, unicode=(sys.stdout.encoding or "").lower().startswith("utf")))
    print(f"\nframes: {', '.join(frames) or 'none'}")
    if linkage.couplings:
        print(f"couplings: {', '.join(map(coupling_text, linkage.couplings))}")
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
    frame: Annotated[list[str] | None, takes("NAME", "Frame to show; may be repeated.")] = None,
    every: Annotated[bool, flag("--all", "Show all frames, including those of the links.")] = False,
    matrix: Annotated[bool, flag("--matrix", "Print 4x4 matrices instead of quaternions.")] = False,
    torques: Annotated[bool, flag("--torques", "Also show the joint torques that hold the pose.")] = False,
    reading: FileOptions,
    as_json: AsJson = False,
) -> None:
    """Show where frames are for given joint values.

    Prints positions [m] and quaternions w, x, y, z. Without --frame or --all, it shows the named frames of the linkage,
    or all links if there are none.

    Values are in radians or metres; angles may be in degrees: 30deg. A joint with several values takes
    hip=0.1,0.2,0.3. A rotation names its form: hip=wxyz:1,0,0,0 or hip=euler:xyz:10deg,0,0. Joints that are not given
    keep their value in --pose, or in the neutral pose.

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
    "draw four_bar crank=1.2 --mechanism --dimensions -o four_bar.svg",
    "draw engine --mechanism -o engine.dxf",
    "draw klann --mechanism --strip 5 -o klann.svg",
)
def draw(
    model: ModelOperand,
    *,
    given: PoseOptions,
    output: Annotated[Path | None, writes("A .png, .svg or .pdf, or a .gif of the motion.")] = None,
    mechanism: Annotated[
        bool, flag("--mechanism", "Draw a mechanism in textbook style; also .dxf, .mp4, .html.")
    ] = False,
    dimensions: Annotated[bool, flag("--dimensions", "Label a mechanism with its lengths and angles.")] = False,
    frames: Annotated[bool, flag("--show-frames", "Show all frames, with axes x, y, z in red, green, blue.")] = False,
    limits: Annotated[bool, flag("--show-limits", "Show the ranges of the joints.")] = False,
    labels: Annotated[bool, flag("--labels", "Show the names of joints and frames.")] = False,
    strip: Annotated[int | None, takes("N", "Draw N pictures of the motion in a row.", least=1)] = None,
    world: WorldFile = None,
    view: View = None,
    size: Size = None,
    reading: FileOptions,
) -> None:
    """Draw a pose, or a motion as a strip of pictures or a GIF.

    Writes NAME.png if no file is given; -o - writes a PNG to stdout. Joint values are given as for the command pose.
    The motion is the model's own. For a file, it is its first motion, or else one through its stored poses.
    """
    from .. import draw as pictures

    linkage = reading.model(model)
    suffix = "" if output is None else output.suffix.lower()
    film = suffix == ".gif"
    if mechanism:
        if frames or limits or view or world:
            raise OptionError("a mechanism is drawn in its plane: no --show-frames, --show-limits, --view, --world")
        clip = reading.motion(model, poses=True) if strip is not None or suffix in MOVING else None
        draw_mechanism(linkage, given, clip, dimensions, strip, size, output)
        return
    if dimensions:
        raise OptionError("--dimensions belongs to --mechanism")
    with writing(output or named_after(linkage.name, ".png"), (*pictures.IMAGES, ".gif")) as path:
        look: dict[str, Any] = {"view": read_view(view), "size": read_size(size, path.suffix.lower()), "path": path}
        look["world"] = reading.world(world)
        if not film and strip is None:
            q = asked_pose(linkage, given)
            try:
                q = closed_pose(linkage, q, given)
            except LoopError as error:
                say(f"drawn as it is: {error}")
            pictures.pose(linkage, q, frames=frames, limits=limits, labels=labels, **look)
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


def asked_pose(linkage: Linkage, given: PoseOptions) -> FloatArray | None:
    """Return the requested pose, or None."""
    usual = next((name for name in ("ready", *linkage.poses) if name in linkage.poses), None)
    return None if given == PoseOptions() else given.read(linkage, usual)


def closed_pose(linkage: Linkage, q: FloatArray | None, given: PoseOptions) -> FloatArray | None:
    """Return the requested pose with its loops closed; given joint values are kept."""
    if q is None or q.ndim != 1 or not linkage.constrained:
        return q
    from ..solvers.closing import close

    return close(linkage, q, keep=tuple(read_values([w for w in given.values or () if w != "-"], linkage)))


def draw_mechanism(
    linkage: Linkage,
    given: PoseOptions,
    clip: Clip | None,
    dimensions: bool,
    strip: int | None,
    size: str | None,
    output: Path | None,
) -> None:
    """Draw a mechanism in a pose with closed loops, given joint values kept; or its motion as a film or a strip."""
    from .. import draw as pictures

    if clip is not None and (given != PoseOptions() or dimensions):
        raise OptionError("a film or a strip shows the motion: give no pose and no --dimensions")
    q = closed_pose(linkage, asked_pose(linkage, given), given)
    moments = 0 if clip is None or strip is None else [round(k * (len(clip) - 1) / strip) for k in range(strip)]
    with writing(output or named_after(linkage.name, ".png"), (*pictures.IMAGES, *MOVING, ".dxf")) as path:
        room, motion = read_size(size, path.suffix.lower()), linkage if clip is None else clip
        pictures.mechanism(motion, q, frame=moments, dimensions=dimensions, size=room, path=path)
