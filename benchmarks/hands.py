"""Hands that stay out of the body: captured fights, claps and the like, retargeted with and without `avoid`.

Every BVH file of some folders is retargeted to our human model, to robots with their own collision shapes, and to a
character with hulls of its skin. The motion is written to a file and read back; coal (MuJoCo for robots) then measures
how deep a hand or a forearm is in the rest of the body, in every frame and at three instants between frames. Times are
CPU time, on one core. The results are written to their section of results.md.

    python benchmarks/hands.py FOLDER [FOLDER ...] [--robot MJCF] [--character GLB]
        [--frames 300] [--rows] [--json] [--no-write]
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from forward import machine
from hands_judge import Coal, Judge, Mujoco, depths, links_below, with_skin_hulls
from ik import stay_on_one_core
from motion_judge import SIDES, Array
from results import arguments, publish, say

import linkwork as lw
from linkwork.retargeting import recognise, retarget_with_report

SECTION = "hands"
MARGIN = 0.005  # m: distance that links keep
INSIDE = 1e-4  # m: depth from which a hand counts as inside
BETWEEN = (0.25, 0.5, 0.75)  # fractions of the way from one frame to the next
FPS = 30.0  # motions with more frames per second are thinned out
SAID = ("frames do not keep", "overlap between", "jerk")  # parts of remarks on clearance
MEANS = ("slide", "jerk", "ms")


@dataclass(frozen=True)
class Body:
    """A target: a body, the suffix of its file, the judge, and the option `avoid`."""

    linkage: lw.Linkage
    suffix: str
    judge: Judge
    avoid: lw.Avoid


@dataclass(frozen=True)
class Motion:
    """A clip on a body, with or without `avoid`.

    Args:
        inside: Frames in which a hand is in the body.
        deepest: Largest depth [m].
        between: Largest depth between frames [m].
        slide: Mean slide of planted feet [m].
        jerk: Jerk relative to the source.
        ms: Time per frame [ms].
        remarks: Remarks of the report on distances and jumps.
    """

    inside: int
    deepest: float
    between: float
    slide: float
    jerk: float
    ms: float
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class Row:
    """A clip on a body without and with `avoid`, and how far hands moved [m]: where they were inside, and elsewhere."""

    family: str
    clip: str
    body: str
    frames: int
    off: Motion
    on: Motion
    moved: float
    moved_elsewhere: float


def bodies(options: Any) -> dict[str, Body]:
    """Return the targets by name."""
    figure = lw.models.human(root="floating")
    everything = lw.Avoid(margin=MARGIN)
    result = {"human": Body(figure, ".npz", Coal(figure), everything)}
    for name in options.robot:
        result[Path(name).stem] = Body(lw.load(name), ".npz", Mujoco(Path(name)), everything)
    for name in options.character:
        character = with_skin_hulls(lw.load(name), Path(name))
        roles = recognise(character).roles
        hands = sorted({link for side in SIDES for link in links_below(character, roles[f"{side}_elbow"])})
        solid = [link for link in hands if character.link(link).visuals]
        result[Path(name).stem] = Body(character, ".npz", Coal(character), lw.Avoid(margin=MARGIN, links=solid))
    return result


def clips(folders: Sequence[str], frames: int) -> Iterator[tuple[str, Path, lw.Clip]]:
    """Yield the motions of some folders, at about 30 frames per second, with folder names and paths."""
    for folder in folders:
        for path in sorted(Path(folder).rglob("*.bvh")):
            clip = lw.load_clip(path)
            part = slice(0, None, max(1, round(clip.fps / FPS)))
            yield Path(folder).name, path, lw.Clip(clip.linkage, clip.times[part][:frames], clip.poses[part][:frames])


def moved(clip: lw.Clip, body: Body, avoid: lw.Avoid | None, folder: Path) -> tuple[Motion, Array, Array]:
    """Return a clip on a body, the depth of hands in each frame, and the hand positions (frames, sides, 3)."""
    begin = process_time()
    made = retarget_with_report(clip, body.linkage, avoid=avoid)
    spent = process_time() - begin
    file = folder / f"made{body.suffix}"
    made.clip.save(file)
    written = lw.load_clip(file)
    depth = depths(body.linkage, body.judge, written.forward())
    times = np.concatenate([written.times[:-1] + share * np.diff(written.times) for share in BETWEEN])
    between = depths(body.linkage, body.judge, written.linkage.forward(written.at(np.sort(times))))
    roles = recognise(body.linkage).roles
    hands = np.stack([written.forward(frame=roles[f"{side}_hand"])[:, :3, 3] for side in SIDES], axis=1)
    remarks = tuple(text for text in made.remarks if any(word in text for word in SAID))
    motion = Motion(
        int((depth > INSIDE).sum()),
        float(depth.max()),
        float(between.max(initial=0.0)),
        made.report.slide,
        made.report.jerk,
        1e3 * spent / len(written),
        remarks,
    )
    return motion, depth, hands


def row(family: str, path: Path, clip: lw.Clip, name: str, body: Body, folder: Path) -> Row:
    """Return the results of a clip on a body without and with `avoid`."""
    off, depth, without = moved(clip, body, None, folder)
    on, _, hands = moved(clip, body, body.avoid, folder)
    way = np.linalg.norm(hands - without, axis=2).mean(axis=1)
    inside = depth > INSIDE
    far = [float(way[mask].mean()) if mask.any() else 0.0 for mask in (inside, ~inside)]
    return Row(family, path.stem, name, len(depth), off, on, *far)


COLUMNS = (
    "frames",
    "hand inside: clips",
    "frames",
    "deepest [mm]",
    "with `avoid`: clips",
    "frames",
    "deepest",
    "between frames",
    "hands moved [mm]",
    "elsewhere",
    "slide [mm]",
    "with",
    "jerk",
    "with",
    "ms per frame",
    "with",
)
HEAD = f"| clips | to | {' | '.join(COLUMNS)} |\n|---|---|{'---:|' * len(COLUMNS)}"


def line(title: str, body: str, rows: Sequence[Row]) -> str:
    """Return a row of the table: sums, worst values, and means over clips."""
    off, on = [one.off for one in rows], [one.on for one in rows]
    within = [one for one in rows if one.off.inside]
    means: Mapping[str, list[float]] = {
        name: [float(np.mean([getattr(one, name) for one in some])) for some in (off, on)] for name in MEANS
    }
    cells = [
        title,
        body,
        str(sum(one.frames for one in rows)),
        str(len(within)),
        str(sum(one.inside for one in off)),
        f"{1e3 * max(one.deepest for one in off):.0f}",
        str(sum(one.inside > 0 for one in on)),
        str(sum(one.inside for one in on)),
        f"{1e3 * max(one.deepest for one in on):.1f}",
        f"{1e3 * max(one.between for one in on):.1f}",
        f"{1e3 * np.mean([one.moved for one in within]):.0f}" if within else "",
        f"{1e3 * np.mean([one.moved_elsewhere for one in rows]):.1f}",
        *(f"{1e3 * value:.2f}" for value in means["slide"]),
        *(f"{value:.2f}" for value in means["jerk"]),
        *(f"{value:.1f}" for value in means["ms"]),
    ]
    return "| " + " | ".join(cells) + " |"


def section(rows: Sequence[Row], options: Any, one_core: bool) -> str:
    """Return the section of results.md."""
    here, core, lines = machine(one_core), "one used" if one_core else "all used", list[str]()
    for family, body in dict.fromkeys((one.family, one.body) for one in rows):
        chosen = [one for one in rows if (one.family, one.body) == (family, body)]
        lines.append(line(f"{family} ({len(chosen)})", body, chosen))
    return "\n".join(
        [
            "## Hands out of the body",
            "",
            f"{date.today().isoformat()}, {here['cpu']}, {here['cores']} cores ({core}), linkwork {lw.__version__}."
            " Made by `python benchmarks/hands.py`. "
            f"At most {options.frames} frames per clip, at about 30 per second; the margin is {1e3 * MARGIN:.0f} mm.",
            "",
            HEAD,
            *lines,
        ]
    )


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("folder", nargs="+", help="folders of BVH files")
    parser.add_argument("--robot", action="append", default=[], help="an MJCF file of a humanoid to retarget to")
    parser.add_argument("--character", action="append", default=[], help="a GLB file with a skin to retarget to")
    parser.add_argument("--frames", type=int, default=300, help="largest number of frames per clip")
    parser.add_argument("--rows", action="store_true", help="print every row when it is done")
    options = parser.parse_args()
    one_core, rows, targets = stay_on_one_core(), list[Row](), bodies(options)
    for body in targets.values():  # compile and sample once
        walk = lw.models.motion("human:floating")
        retarget_with_report(walk, body.linkage)
        retarget_with_report(walk, body.linkage, avoid=body.avoid)
    with tempfile.TemporaryDirectory() as folder:
        for family, path, clip in clips(options.folder, options.frames):
            for name, body in targets.items():
                rows.append(row(family, path, clip, name, body, Path(folder)))
                if options.rows:
                    say(line(rows[-1].clip, name, rows[-1:]) + " ".join(rows[-1].on.remarks))
    publish(SECTION, section(rows, options, one_core), {"rows": [asdict(one) for one in rows]}, options)


if __name__ == "__main__":
    main()
