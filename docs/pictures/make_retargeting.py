"""Make the pictures of the page on retargeting: python docs/pictures/make_retargeting.py [FOLDER].

Motions and bodies are those of the tests, so that anyone can make them. With a FOLDER of files of others (`bvh` and
`mjcf` in it), which are not in the repository, one more is made. Each shows the same frames of motions.
"""

from __future__ import annotations

import functools
import logging
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from made import recorded
from make import INK, shrink
from matplotlib.figure import Figure
from PIL import Image
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.retargeting import Outcome, retarget_with_report

HERE = Path(__file__).parent
sys.path.append(str(HERE.parents[1] / "tests"))
import captures  # noqa: E402
from four_legs import fox  # noqa: E402
from humanoids import humanoid  # noqa: E402
from rewritten import rewritten  # noqa: E402

Row = tuple[str, lw.Clip, dict[str, Any]]  # a title, a motion, and options of its strip
STRIDE = (2, 8, 13, 18, 24)  # frames of one stride of the captured walk
COLOURS = {"LeftFoot": "#1f77b4", "RightFoot": "#d95f02"}
LOW = 0.02  # a foot prints while its toe is lower [m]


def strips(path: Path, rows: Sequence[Row], frames: Sequence[int], *, height: float = 2.9) -> None:
    """Draw motions below each other, the same frames of all."""
    images = []
    with tempfile.TemporaryDirectory() as folder:
        for k, (title, clip, options) in enumerate(rows):
            part = Path(folder, f"{k}.png")
            chosen = {"view": (6, -30), "frames": list(frames), "size": (9.6, height)} | options
            lw.draw.strip(clip, title=title, **chosen).savefig(part, dpi=80)
            images.append(np.asarray(Image.open(part).convert("RGB")))
    Image.fromarray(np.concatenate(images)).save(path)
    shrink(path)


def spread(clip: lw.Clip, count: int = 5) -> list[int]:
    """Return the numbers of frames that are evenly spaced."""
    return [round(k * (len(clip) - 1) / count) for k in range(count)]


def titled(name: str, outcome: Outcome) -> str:
    """Return the title of a strip: who moves, how far its limbs are off and how far planted feet slide."""
    made = outcome.report
    return f"{name}: limbs {np.degrees(made.direction):.1f} degrees off, feet slide {1e3 * made.slide:.2g} mm at most"


def read(capture: captures.Capture) -> lw.Clip:
    """Return a capture as it is read from its file."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "walk.bvh")
        file.write_text(capture.text(), encoding="utf-8")
        return lw.load_clip(file)


def lying(capture: captures.Capture) -> lw.Clip:
    """Return a capture that rests as LAFAN1's files do: every bone along x, so that the figure lies."""
    bones = capture.bones
    worlds: dict[str | None, np.ndarray] = {None: np.eye(3)}
    turns = np.empty((1, len(bones), 3, 3))
    for k, bone in enumerate(bones):
        along = next((other.offset for other in bones if other.parent == bone.name), bone.end)
        worlds[bone.name] = Rotation.align_vectors([[1.0, 0.0, 0.0]], [along])[0].as_matrix()
        turns[0, k] = worlds[bone.parent].T @ worlds[bone.name]
    places = capture.positions
    more = replace(
        capture, turns=np.concatenate([capture.turns, turns]), positions=np.concatenate([places, places[-1:]])
    )
    clip = rewritten(read(more), -1)
    return lw.Clip(clip.linkage, clip.times[:-1], clip.poses[:-1])


def rest_pose(path: Path) -> None:
    """Draw a walk whose file rests lying, on a figure that is told to believe the rest pose and on one that is not."""
    walk, figure = lying(captures.walk()), lw.models.human()
    before, after = (retarget_with_report(walk, figure, rest=rest, in_place=True) for rest in ("rest", None))
    still = lw.Clip(walk.linkage, [0.0], walk.linkage.neutral()[None])
    rows: list[Row] = [
        ("The file's rest pose", still, {"frames": [0], "size": (9.6, 2.0), "view": (8, -50)}),
        ("The file's motion", walk.in_place(), {}),
        (titled('Before, rest="rest"', before), before.clip, {}),
        (titled("After", after), after.clip, {}),
    ]
    strips(path, rows, STRIDE)


def robot(path: Path) -> None:
    """Draw a walk on a robot whose soles stand on the floor."""
    walk = captures.recorded("walk")
    made = retarget_with_report(walk, humanoid("unitree_g1"), in_place=True)
    rows: list[Row] = [
        ("A captured walk", walk.in_place(), {}),
        (titled("A robot with the joints of a Unitree G1", made), made.clip, {}),
    ]
    strips(path, rows, STRIDE)


def child(path: Path) -> None:
    """Draw a march with high knees on a child."""
    march = captures.recorded("march")
    made = retarget_with_report(march, lw.models.human(height=1.2), in_place=True)
    rows: list[Row] = [
        ("A march of someone 1.75 m tall", march.in_place(), {}),
        (titled("A child of 1.2 m", made), made.clip, {}),
    ]
    strips(path, rows, (20, 31, 42, 53, 64))


def four_legs(path: Path) -> None:
    """Draw a dog's walk on a fox."""
    dog = lw.models.motion("quadruped:floating")
    view = {"view": (8, -65)}
    rows: list[Row] = [
        ("The dog of lw.models", dog, view),
        ("The skeleton of a fox, with one bone more in each hind leg", lw.retarget(dog, fox()), view),
    ]
    strips(path, rows, spread(dog), height=2.1)


def arm(path: Path) -> None:
    """Draw a robot arm that follows a hand."""
    walk = captures.recorded("walk")
    rows: list[Row] = [
        ("A captured walk", walk.in_place(), {}),
        ("A Panda follows its right hand", lw.retarget(walk, lw.models.panda()), {"trail": "tip", "view": (12, -50)}),
    ]
    strips(path, rows, STRIDE)


def blend(path: Path) -> None:
    """Draw foot prints of two walks out of step, blended: with feet that stay where they stand, and without."""
    walk = captures.walk()
    moves = {"unit": 0.01, "arms": 0.3, "cycle": 1.3, "lift": 0.15}
    slow = read(captures.walking(list(walk.bones), 24.0, 130, moves=moves))
    first = read(walk)
    second = lw.Clip(first.linkage, slow.times, slow.poses)
    figure = Figure(figsize=(9.6, 3.6))
    for k, (call, feet) in enumerate((("feet=False", False), ("feet=True, which is the default", True))):
        axes = figure.add_subplot(2, 1, k + 1)
        both = first.blend(second, 0.5, feet=feet)
        for foot, colour in COLOURS.items():
            ankle, toe = (both.forward(frame=name)[:, :3, 3] for name in (foot, f"{foot}.end"))
            axes.plot(-toe[:, 1], toe[:, 0], color=colour, linewidth=0.8, alpha=0.6)
            for here in np.flatnonzero(toe[:, 2] < LOW):
                ends = np.stack([ankle[here], toe[here]])
                axes.plot(-ends[:, 1], ends[:, 0], color=colour, linewidth=9, alpha=0.12, solid_capstyle="round")
        title = f"walk.blend(other, 0.5), {call}: toes that stand slide up to {1e3 * slide(both):.1f} mm"
        axes.set_title(title, fontsize=10, color=INK, loc="left")
        axes.set(xlim=(-0.2, 2.7), ylim=(-0.2, 0.2), yticks=[-0.09, 0.09], yticklabels=["right", "left"])
        axes.tick_params(labelsize=8)
    axes.set_xlabel("ahead [m]", fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=80)
    shrink(path)


def slide(clip: lw.Clip) -> float:
    """Return how far toes get from where they stand [m]."""
    farthest = 0.0
    for contact in clip.contacts(feet=[f"{foot}.end" for foot in COLOURS]):
        standing = (clip.times >= contact.start) & (clip.times <= contact.end)
        places = clip.forward(frame=contact.frame)[standing, :2, 3]
        farthest = max(farthest, float(np.linalg.norm(places - np.median(places, axis=0), axis=1).max()))
    return farthest


def kneel(path: Path, data: Path) -> None:
    """Draw a bow and a kneel on a humanoid with limits."""
    clip = lw.load_clip(data / "bvh" / "mocapbank_crlf.bvh")
    made = retarget_with_report(clip, lw.load(data / "mjcf" / "dm_control" / "humanoid.xml"), in_place=True)
    rows: list[Row] = [
        ("A bow and a kneel", clip.in_place(), {}),
        (titled("The humanoid of dm_control", made), made.clip, {}),
    ]
    strips(path, rows, spread(clip))


OWN = {"rest": rest_pose, "robot": robot, "child": child, "four-legs": four_legs, "blend": blend, "arm": arm}


def main() -> None:
    """Make them all and say how large they are."""
    logging.getLogger("linkwork").setLevel(logging.ERROR)
    made = [(HERE / f"retargeting-{name}.png", make) for name, make in OWN.items()]
    if len(sys.argv) > 1:
        made.append((HERE / "retargeting-kneel.png", functools.partial(kneel, data=Path(sys.argv[1]))))
    else:
        print("retargeting-kneel.png is not made again: it needs the FOLDER with files of others.", file=sys.stderr)
    for path, make in made:
        make(path)
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    with recorded(__file__):
        main()
