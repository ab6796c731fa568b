"""Quality of retargeted motions: every clip of some folders to our human model, to characters and to robots, judged.

The judge (`motion_judge.py`) sees only positions of joints and does not know how they were made. If a checkout of GMR
is given, GMR runs on clips in LAFAN1's skeleton, for which it has tables. The results are written to their section of
results.md.

    python benchmarks/retarget_quality.py FOLDER [FOLDER ...] [--character FILE] [--robot MJCF] [--gmr FOLDER]
        [--every 1] [--frames 600] [--rows] [--json] [--no-write]
"""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from motion_bodies import Robot, moving
from motion_judge import Moving, Verdict, judge
from results import arguments, publish, say
from retarget_peers import Gmr, is_lafan

import linkwork as lw
from linkwork.retargeting import retarget_with_report

SECTION = "retarget-quality"
SUFFIXES = (".bvh", ".glb", ".gltf", ".fbx")
FIGURE = "human"
DIRECTION, SLIDE, FAST = 8.0, 1e-3, 1000.0  # bounds [degrees], [m], [frames per second]


@dataclass(frozen=True)
class Row:
    """One clip of a folder on one body by one retargeter."""

    family: str
    clip: str
    body: str
    by: str
    frames: int
    speed: float
    outside: int
    verdict: Verdict


def clips(folders: Sequence[str], every: int, frames: int) -> Iterator[tuple[str, Path, lw.Clip]]:
    """Yield the motions of some folders with folder names and paths, each cut to a number of frames."""
    for folder in folders:
        files = sorted(path for path in Path(folder).rglob("*") if path.suffix.lower() in SUFFIXES)
        for path in files[::every]:
            try:
                clip = lw.load_clip(path)
            except lw.LinkworkError as error:
                say(f"{path.name}: cannot be read: {error}")
                continue
            if len(clip) >= 10:
                part = clip if len(clip) <= frames else lw.Clip(clip.linkage, clip.times[:frames], clip.poses[:frames])
                yield Path(folder).name, path, part


def ours(family: str, path: Path, clip: lw.Clip, source: Moving, name: str, body: lw.Linkage | Robot) -> Row:
    """Return the result of retargeting a clip to a body with linkwork."""
    linkage = body.linkage if isinstance(body, Robot) else body
    spent = np.inf
    for _ in range(2):  # the first compiles, or loads kernels
        begin = process_time()
        made = retarget_with_report(clip, linkage, first="keep").clip
        spent = min(spent, process_time() - begin)
    if isinstance(body, Robot):
        values = body.qpos(made)
        target, outside = body.moving(source.times, values), body.outside(values)
    else:
        low, high = made.linkage.lower - 1e-9, made.linkage.upper + 1e-9
        target, outside = moving(made), int(((made.poses < low) | (made.poses > high)).sum())
    return Row(family, path.name, name, "linkwork", len(clip), len(clip) / spent, outside, judge(source, target))


def gmrs(family: str, path: Path, clip: lw.Clip, source: Moving, gmr: Gmr, robot: Robot) -> Row:
    """Return the result of retargeting a clip to its robot with GMR."""
    values, spent = gmr.retarget(path)
    speed = len(values) / spent
    values = values[: len(clip)]
    verdict = judge(source, robot.moving(source.times, values))
    return Row(family, path.name, gmr.robot, "GMR", len(clip), speed, robot.outside(values), verdict)


def run(options: Any) -> list[Row]:
    bodies: dict[str, lw.Linkage | Robot] = {FIGURE: lw.models.human(root="floating")}
    bodies |= {Path(name).stem: lw.load(name) for name in options.character}
    bodies |= {Path(name).stem: Robot(name) for name in options.robot}
    gmr = Gmr(options.gmr, options.gmr_robot) if options.gmr else None
    if gmr is not None:
        bodies[gmr.robot] = Robot(gmr.path)
    rows: list[Row] = []
    for family, path, clip in clips(options.folder, options.every, options.frames):
        try:
            source = moving(clip)
        except KeyError as missing:
            say(f"{path.name}: the judge finds no {missing}")
            continue
        for name, body in bodies.items():
            try:
                rows.append(ours(family, path, clip, source, name, body))
            except lw.LinkworkError as error:
                say(f"{path.name} to {name}: refused: {error}")
                continue
            if gmr is not None and name == gmr.robot and isinstance(body, Robot) and is_lafan(path):
                rows.append(gmrs(family, path, clip, source, gmr, body))
        if options.rows:
            for row in (row for row in rows if (row.family, row.clip) == (family, path.name)):
                say(line(row.clip, row.body, row.by, [row]))
    return rows


def line(clip: str, body: str, by: str, rows: Sequence[Row]) -> str:
    """Return a row of the table: means over clips."""
    verdicts = [row.verdict for row in rows]
    sunk = [v for v in verdicts if v.penetration is not None]
    cells = [
        clip,
        body,
        by,
        f"{np.mean([v.mean for v in verdicts]):.1f}",
        f"{max(v.mean for v in verdicts):.1f}",
        f"{1e3 * np.mean([v.slide for v in verdicts]):.2f}",
        f"{100 * np.mean([v.skating for v in verdicts]):.1f}",
        f"{100 * np.mean([v.penetration for v in sunk]):.1f}" if sunk else "",
        f"{1e3 * max(v.deepest or 0.0 for v in sunk):.0f}" if sunk else "",
        f"{100 * np.mean([v.hands[0] for v in verdicts]):.1f} ({100 * np.mean([v.hands[1] for v in verdicts]):.1f})",
        f"{np.mean([v.facing for v in verdicts]):.1f}",
        f"{np.median([v.jerk for v in verdicts]):.2f}",
        str(sum(row.outside for row in rows)),
        f"{np.median([row.speed for row in rows]):,.0f}",
        str(sum(len(v.missing) for v in verdicts)),
    ]
    return "| " + " | ".join(cells) + " |"


COLUMNS = (
    "limbs off, mean",
    "worst clip",
    "slide, mm",
    "skating, %",
    "below the floor, %",
    "deepest, mm",
    "hands in the body (source), %",
    "facing",
    "jerk",
    "outside limits",
    "frames/s",
    "limbs missing",
)
HEAD = f"| clips | to | by | {' | '.join(COLUMNS)} |\n|---|---|---|{'---:|' * len(COLUMNS)}"


def families(rows: Sequence[Row]) -> Iterator[str]:
    """Yield a line for every folder, body and retargeter."""
    both = {(row.family, row.clip) for row in rows if row.by != "linkwork"}
    robots = {row.body for row in rows if row.by != "linkwork"}
    for family, body, by in dict.fromkeys((row.family, row.body, row.by) for row in rows):
        chosen = [row for row in rows if (row.family, row.body, row.by) == (family, body, by)]
        yield line(f"{family} ({len(chosen)})", body, by, chosen)
        shared = [row for row in chosen if (row.family, row.clip) in both]
        if by == "linkwork" and body in robots and shared and len(shared) < len(chosen):
            yield line(f"{family}, those of GMR ({len(shared)})", body, by, shared)


def verdicts(rows: Sequence[Row]) -> list[str]:
    mine = [row for row in rows if row.by == "linkwork"]
    figure = [row for row in mine if row.body == FIGURE]
    checks = [
        ("limbs within 8 degrees on every clip, to our model", max(r.verdict.mean for r in figure), DIRECTION, ""),
        ("sliding under 1 mm, mean", 1e3 * float(np.mean([r.verdict.slide for r in mine])), 1e3 * SLIDE, " mm"),
        (
            "no frame more than 5 mm below the floor",
            100 * max((r.verdict.penetration or 0.0 for r in mine), default=0.0),
            0.0,
            " %",
        ),
    ]
    lines = [
        f"- {'met' if got <= want else 'MISSED'}: {text}; here {got:.3g}{unit}" for text, got, want, unit in checks
    ]
    slowest = min(r.speed for r in mine)
    return [
        *lines,
        f"- {'met' if slowest >= FAST else 'MISSED'}: 1,000 frames per second on one core; slowest {slowest:,.0f}",
    ]


def section(rows: Sequence[Row], options: Any) -> str:
    return "\n".join(
        [
            "## Retargeting, judged",
            "",
            f"{date.today().isoformat()}, linkwork {lw.__version__}, Python {platform.python_version()}. Made by "
            "`python benchmarks/retarget_quality.py`. Means over clips; angles in degrees. "
            f"One clip in {options.every}, at most {options.frames} frames of each.",
            "",
            HEAD,
            *families(rows),
            "",
            *verdicts(rows),
        ]
    )


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("folder", nargs="+", help="folders of motions")
    parser.add_argument("--character", action="append", default=[], help="a character file to retarget to")
    parser.add_argument("--robot", action="append", default=[], help="an MJCF file of a humanoid to retarget to")
    parser.add_argument("--gmr", help="a checkout of GMR")
    parser.add_argument("--gmr-robot", default="unitree_g1", help="robot for GMR and linkwork")
    parser.add_argument("--every", type=int, default=1, help="take every n-th clip")
    parser.add_argument("--frames", type=int, default=600, help="largest number of frames per clip")
    parser.add_argument("--rows", action="store_true", help="print every row when it is done")
    options = parser.parse_args()
    rows = run(options)
    if not rows:
        parser.error("no motion could be read")
    found = {"rows": [asdict(row) | {"mean": row.verdict.mean} for row in rows], "verdicts": verdicts(rows)}
    publish(SECTION, section(rows, options), found, options)


if __name__ == "__main__":
    main()
