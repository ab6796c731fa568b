"""Make the table and the pictures of the page on retargeting: python docs/pictures/make_retargeting.py FOLDER.

Motions and bodies are files of others, kept outside the repository: FOLDER has them in `bvh`, `urdf` and `mjcf`.
The table goes into the page, between its marks, and the pictures show source above target.
"""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import Any

import numpy as np
from make import shrink
from PIL import Image

import linkwork as lw
from linkwork.retargeting import Outcome, retarget_with_report
from linkwork.retargeting.transfer import place_root

HERE = Path(__file__).parent
DATA = Path(sys.argv[1] if len(sys.argv) > 1 else "data")
PANELS = 6
PAGE = HERE.parent / "retargeting.md"
BEGIN, END = "<!-- table: made by docs/pictures/make_retargeting.py -->", "<!-- end of table -->"

CLIPS = {
    "a walk": ("walk01.bvh", 0),
    "CMU 16_49": ("cmu_16_49.bvh", 1),
    "CMU 78_11": ("cmu_78_11.bvh", 1),
    "CMU 82_01": ("cmu_82_01.bvh", 1),
    "CMU 106_28": ("cmu_106_28.bvh", 1),
    "a bow and a kneel": ("mocapbank_crlf.bvh", 0),
    "a pirouette": ("pirouette.bvh", 1),
}  # the first frame of the others is a T-pose, far from the second

# The file of this robot gives limits to other joints than they fit; here they are where they belong.
LEG = {"HIP_R": (-0.6, 0.6), "HIP_P": (-2.1, 0.7), "HIP_Y": (-0.52, 0.52), "KNEE": (0.0, 2.62)}
LEG |= {"ANKLE_P": (-1.27, 0.68), "ANKLE_R": (-0.6, 0.6)}
ARM = {"SHOULDER_P": (-2.43, 0.79), "SHOULDER_Y": (-1.57, 1.57), "ELBOW": (-2.23, 0.0), "WRIST_Y": (-2.51, 2.51)}
ARM |= {"WRIST_P": (-1.37, 1.37), "WRIST_R": (-0.68, 0.68)}


def motion(name: str) -> lw.Clip:
    """Return a motion without its T-pose."""
    file, first = CLIPS[name]
    clip = lw.load_clip(DATA / "bvh" / file)
    return lw.Clip(clip.linkage, clip.times[first:] - clip.times[first], clip.poses[first:])


def repaired() -> lw.Linkage:
    """Return the humanoid robot with limits that fit its joints."""
    robot = lw.load(DATA / "urdf" / "simple_humanoid.urdf")
    limits = {f"{side}LEG_{joint}": pair for side in "LR" for joint, pair in LEG.items()}
    limits |= {f"{side}ARM_{joint}": pair for side in "LR" for joint, pair in ARM.items()}
    limits |= {"LARM_SHOULDER_R": (0.01, 2.87), "RARM_SHOULDER_R": (-2.87, -0.01)}
    return robot.replace(joints={name: {"lower": low, "upper": high} for name, (low, high) in limits.items()})


def targets() -> dict[str, tuple[lw.Linkage, tuple[str, ...], str]]:
    """Return every target by name: its linkage, the motions it takes, and which of them is drawn."""
    return {
        "`lw.models.human()`": (lw.models.human(), tuple(CLIPS), "a walk"),
        "skeleton of CMU 16_49": (lw.load(DATA / "bvh" / "cmu_16_49.bvh"), ("a walk", "a pirouette"), "a pirouette"),
        "skeleton of the walk": (
            lw.load(DATA / "bvh" / "walk01.bvh"), ("CMU 106_28", "a bow and a kneel"), "CMU 106_28",
        ),
        "simple_humanoid.urdf, limits put right": (
            repaired(), tuple(CLIPS), "a walk",
        ),
        "simple_humanoid.urdf as it is": (
            lw.load(DATA / "urdf" / "simple_humanoid.urdf"), ("a walk", "CMU 106_28", "a pirouette"), "",
        ),
        "dm_control's humanoid.xml": (
            lw.load(DATA / "mjcf" / "dm_control" / "humanoid.xml"),
            ("a walk", "CMU 106_28", "a bow and a kneel", "a pirouette"), "a bow and a kneel",
        ),
        "`lw.models.panda()`, right hand": (lw.models.panda(), ("a walk", "a bow and a kneel"), "a bow and a kneel"),
        "skeleton of the pirouette": (
            lw.load(DATA / "bvh" / "pirouette.bvh"), ("a walk", "CMU 106_28", "a bow and a kneel"), "",
        ),
    }  # fmt: skip


def row(target: str, name: str, outcome: Outcome) -> str:
    """Return a line of the table."""
    made = outcome.report
    slide = f"{1e3 * made.slide:.2f}" if made.contacts else "-"
    numbers = f"{made.frames} | {made.scale:.2f} | {made.contacts or '-'} | {slide} | {1e2 * made.hands:.2f}"
    return f"| {target} | {name} | {numbers} | {made.jerk:.2f} | {made.outside} | {made.flips} |"


def on_the_spot(clip: lw.Clip, hips: str) -> lw.Clip:
    """Return a motion that does not travel, so that every panel shows it large."""
    poses = clip.poses.copy()
    places = clip.forward(frame=hips)[:, :3, 3] * (0.0, 0.0, 1.0)
    place_root(clip.linkage, poses, [hips], places)
    return lw.Clip(clip.linkage, clip.times, poses)


def picture(path: Path, source: lw.Clip, outcome: Outcome) -> None:
    """Draw the source above the target, the same frames of both."""
    frames = [round(k * (len(source) - 1) / (PANELS - 1)) for k in range(PANELS)]
    clips = [on_the_spot(source, outcome.source.roles["hips"]), outcome.clip]
    if outcome.target is not None:
        clips[1] = on_the_spot(outcome.clip, outcome.target.roles["hips"])
    images = []
    for k, clip in enumerate(clips):
        part = path.with_name(f"{path.stem}-{k}.png")
        trail: dict[str, Any] = {"trail": outcome.frame} if k and outcome.frame else {}
        lw.draw.strip(clip, frames=frames, view=(8, -50), size=(12.0, 3.4), **trail).savefig(part, dpi=80)
        images.append(np.asarray(Image.open(part).convert("RGB")))
        part.unlink()
    width = max(image.shape[1] for image in images)
    rows = [np.pad(i, ((0, 0), (0, width - i.shape[1]), (0, 0)), constant_values=255) for i in images]
    Image.fromarray(np.concatenate(rows)).save(path)
    shrink(path)


def main() -> None:
    """Make them all and say how large they are."""
    if not DATA.is_dir():
        sys.exit(f"there is no folder {DATA}; name the one that has the motions: {__doc__.splitlines()[0]}")
    logging.getLogger("linkwork").setLevel(logging.ERROR)
    head = "| onto | motion | frames | scale | steps | slide [mm] | hands [cm] | jerk | outside | flips |"
    lines = [head, "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|"]
    for number, (target, (linkage, names, drawn)) in enumerate(targets().items()):
        for name in names:
            clip = motion(name)
            outcome = retarget_with_report(clip, linkage)
            lines.append(row(target, name, outcome))
            print(lines[-1])
            if name == drawn:
                path = HERE / f"retargeting-{number + 1}.png"
                picture(path, clip, outcome)
                print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")
    before, _, rest = PAGE.read_text().partition(BEGIN)
    PAGE.write_text("\n".join([before + BEGIN, "", *lines, "", END + rest.partition(END)[2]]))


if __name__ == "__main__":
    main()
