"""The up axis from free fall: in somersaults, head and feet do not tell which axis points up."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.formats import bvh_flight

FPS, AIR = 30.0, 12  # frames in the air, and the same number on the ground
BONES = {"Head": (0.0, 75.0), "LeftFoot": (12.0, -90.0), "RightFoot": (-12.0, -90.0)}  # [cm] aside and up
JOINT = """  JOINT {name}
  {{
    OFFSET {offset}
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {{
      OFFSET 0 0 0
    }}
  }}
"""


def tumbling(up: str, pull: float) -> str:
    """Return a file [cm] of a body that turns head over heels, in the air and on the ground, far from the origin.

    Args:
        up: The axis that points up.
        pull: Gravity [m/s²].
    """
    way = np.eye(3)["xyz".index(up)]
    ahead = np.roll(way, 1)
    side = np.cross(way, ahead)
    offsets = {name: aside * side + high * way for name, (aside, high) in BONES.items()}
    lengths = {name: np.linalg.norm(offset) for name, offset in offsets.items()}
    middle = sum(lengths[name] * offset / 2.0 for name, offset in offsets.items()) / sum(lengths.values())
    frames = np.arange(4 * AIR)
    time = (np.minimum(frames % (2 * AIR), AIR) - AIR / 2) / FPS
    heights = 300.0 - 50.0 * pull * time**2
    turns = Rotation.from_rotvec((2.0 * np.pi * frames[:, None] / AIR + 0.1) * side)
    hips = heights[:, None] * way + 150.0 * frames[:, None] / FPS * ahead + 250.0 - turns.apply(middle)
    values = np.concatenate([hips, turns.as_euler("ZXY", degrees=True), np.zeros((len(frames), 9))], axis=1)
    joints = "".join(JOINT.format(name=name, offset=" ".join(map(str, offset))) for name, offset in offsets.items())
    root = "  OFFSET 0 0 0\n  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n"
    rows = "\n".join(" ".join(f"{value:.6f}" for value in row) for row in values)
    head = f"HIERARCHY\nROOT Hips\n{{\n{root}{joints}}}\nMOTION\nFrames: {len(values)}\nFrame Time: {1 / FPS:.9f}\n"
    return f"{head}{rows}\n"


def said(text: str) -> str:
    content = lw.formats.read(lw.formats.texts.TextFile(text, "bvh", ".bvh", None))
    return next(remark.text for remark in content.remarks if remark.kind == "up-axis")


@pytest.mark.parametrize("up", ["x", "y", "z"])
def test_who_tumbles_falls_down(up):
    words = f"The {up} axis is taken to point up, since the body falls against it in flight"
    assert said(tumbling(up, 9.81)).startswith(words)


def test_the_writer_knows_what_the_reader_will_take_for_up(tmp_path):
    """A motion that is written with y up is read with y up, without a remark."""
    clip = lw.loads_clip(tumbling("z", 9.81), "bvh")
    assert [remark for remark in clip.save(tmp_path / "tumbling.bvh") if remark.kind == "up-axis"] == []
    assert said((tmp_path / "tumbling.bvh").read_text(encoding="utf-8")).startswith(
        "The y axis is taken to point up, since the body"
    )


def test_what_falls_slower_does_not_fall_freely():
    """On the moon or in slow motion there is no conclusion, and y is up as in most files."""
    assert said(tumbling("z", 1.62)).startswith("The y axis is taken to point up, since the head")


def test_who_is_pushed_up_stands_on_something():
    """A body that pushes off accelerates like one that falls upwards, but one of its feet stands still."""
    time = np.arange(40) / 60.0
    places = np.zeros((40, 3, 3))  # of a foot, hips and a head
    places[:, 1:, 2] = 0.5 * 9.81 * time[:, None] ** 2 * (1.0, 1.2)
    ways, falling = bvh_flight.falls(places[:, 1], 1.0 / 60.0, 13)
    assert falling.all()
    assert ways[:, 2].max() < -0.99
    assert bvh_flight._standing(places, 13).all()
    places[:, 0] = places[:, 1]
    assert not bvh_flight._standing(places, 13)[8:].any()
