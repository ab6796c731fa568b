"""Data for MuJoCo's viewer, checked with MuJoCo's own kinematics. No window is opened."""

from __future__ import annotations

import logging
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.draw.mujoco_window import mujoco_poses
from linkwork.errors import FormatError, LinkageError, OptionError
from robots import gymnasium

mujoco = pytest.importorskip("mujoco")

# A ball joint, a slide with a reference, a follower, and a joint without a name.
CHAIN = """<mujoco><worldbody><body name="a"><joint name="ball" type="ball"/><geom size=".1"/>
  <body name="b" pos=".3 0 0"><joint name="slide" type="slide" axis="0 0 1" ref=".2"/><geom size=".1"/>
    <body name="c" pos=".3 0 0"><joint name="lead" axis="0 1 0" pos="0 0 .1"/><geom size=".1"/>
      <body name="d" pos=".3 0 0"><joint name="follow" axis="0 1 0"/><joint axis="1 0 0"/><geom size=".1"/></body>
</body></body></body></worldbody>
<equality><joint joint1="follow" joint2="lead" polycoef=".1 -2 0 0 0"/></equality></mujoco>"""


class Window:
    """A stand-in for the window, which stores what it is shown and is closed after some frames."""

    def __init__(self, most: int) -> None:
        self.most, self.shown = most, []

    def __call__(self, model: Any, data: Any) -> Window:
        self.model, self.data = model, data
        return self

    def __enter__(self) -> Window:
        return self

    def __exit__(self, *reason: object) -> None:
        self.closed = True

    def is_running(self) -> bool:
        return len(self.shown) < self.most

    def lock(self) -> Any:
        return nullcontext()

    def sync(self) -> None:
        self.shown.append(
            {self.model.body(k).name or f"body{k}": place(self.data, k) for k in range(1, self.model.nbody)}
        )


def place(data: Any, body: int) -> np.ndarray:
    result = np.eye(4)
    result[:3, :3], result[:3, 3] = data.xmat[body].reshape(3, 3), data.xpos[body]
    return result


def shaken(linkage: lw.Linkage, frames: int) -> lw.Clip:
    return lw.Clip(linkage, np.arange(frames) / 50.0, linkage.random_pose(3, frames))


@pytest.mark.parametrize("name", ["ant", "humanoid", "chain"])
def test_bodies_are_where_the_clip_has_them(name: str, tmp_path: Path) -> None:
    path = gymnasium(name) if name != "chain" else tmp_path / "chain.xml"
    if name == "chain":
        path.write_text(CHAIN, encoding="utf-8")
    clip = shaken(lw.load(path), 4)
    window = Window(100)
    lw.draw.mujoco_viewer(clip, path, speed=1e9, repeat=False, launch=window)
    assert len(window.shown) == 4
    assert window.closed
    world = clip.forward()
    for k, places in enumerate(window.shown):
        for body, found in places.items():
            np.testing.assert_allclose(found, world[body][k], atol=1e-9, err_msg=body)


def test_it_begins_again_until_the_window_is_closed() -> None:
    path = gymnasium("ant")
    clip, window = shaken(lw.load(path), 3), Window(8)
    lw.draw.mujoco_viewer(clip, mujoco.MjModel.from_xml_path(str(path)), speed=1e9, launch=window)
    tips = [shown["torso"] for shown in window.shown]
    assert len(tips) == 8
    np.testing.assert_array_equal(tips[7], tips[1])


def test_joints_that_the_clip_lacks_stay_and_are_named(caplog: pytest.LogCaptureFixture) -> None:
    model = mujoco.MjModel.from_xml_string(CHAIN)
    b = lw.Builder("part").revolute("lead", "one", axis="y").prismatic("slide", "two", axis="z")
    clip = lw.Clip(b.build(), [0.0], [[0.5, 0.7]])
    with caplog.at_level(logging.WARNING, "linkwork"):
        rows = mujoco_poses(clip, model)
    assert rows.tolist() == [[1, 0, 0, 0, 0.7, 0.5, 0, 0]]
    assert "does not move ball, follow, joint4" in caplog.text


def test_wrong_input_is_refused(tmp_path: Path) -> None:
    model, arm = mujoco.MjModel.from_xml_string(CHAIN), lw.models.planar([1, 1])
    still = lw.Clip(arm, [0.0], [[0.0, 0.0]])
    with pytest.raises(LinkageError, match=r"none of the joints of 'planar' \(j1, j2\); it has ball, slide"):
        mujoco_poses(still, model)
    with pytest.raises(LinkageError, match="'ball' has 4 values in the MuJoCo model, but 1 in 'one'"):
        mujoco_poses(lw.Clip(lw.Builder("one").revolute("ball", "a").build(), [0.0], [[0.0]]), model)
    with pytest.raises(OptionError, match="speed is a positive number, 2 for twice the speed of the clip, got 0"):
        lw.draw.mujoco_viewer(still, model, speed=0)
    (tmp_path / "bad.xml").write_text("<mujoco><nothing/></mujoco>", encoding="utf-8")
    with pytest.raises(FormatError, match=r"bad.xml: MuJoCo cannot read it: .* 'nothing', line 1.$"):
        lw.draw.mujoco_viewer(still, tmp_path / "bad.xml")
