"""Links that pass through each other in a motion are found, and separated without a jump."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import linkwork as lw

TIMES = np.arange(90) / 30.0
DIP = -0.42 * np.exp(-(((TIMES - 1.5) / 0.35) ** 2))  # [rad]


def dipping() -> lw.Clip:
    """Return two arms side by side, of which one dips into the other for half a second."""
    b = lw.Builder("arms")
    for name, y in (("left", 0.2), ("right", -0.2)):
        b.revolute(f"{name}_swing", f"{name}_mount", parent="base", at=(0, y, 0), axis="z")
        b.revolute(f"{name}_lift", name, axis="y", shape=lw.bone((0, 0, 0), (1, 0, 0), 0.05))
    linkage = b.build()
    poses = np.zeros((90, 4))
    poses[:, 0] = DIP
    return lw.Clip(linkage, TIMES, poses)


def dipping_on_balls() -> lw.Clip:
    """Return the same arms on ball joints, with quaternions of the other sign in the second half."""
    b = lw.Builder("arms")
    for name, y in (("left", 0.2), ("right", -0.2)):
        b.ball(f"{name}_ball", name, parent="base", at=(0, y, 0), shape=lw.bone((0, 0, 0), (1, 0, 0), 0.05))
    linkage = b.build()
    poses = np.tile(linkage.neutral(), (90, 1))
    poses[:, 0], poses[:, 3] = np.cos(DIP / 2.0), np.sin(DIP / 2.0)
    poses[50:, :4] *= -1.0
    return lw.Clip(linkage, TIMES, poses)


@pytest.mark.parametrize("made", [dipping, dipping_on_balls])
def test_two_links_inside_each_other_are_found_and_led_apart(made: Callable[[], lw.Clip]) -> None:
    clip = made()
    linkage = clip.linkage
    (found,) = lw.inspect(clip).of("overlap")
    assert found.where == "left, right"
    deep = -lw.clearance(linkage, clip.poses).distance
    assert abs(found.amount - deep.max()) < 1e-12
    assert found.first <= 45 <= found.last
    repaired = lw.repair(clip)
    assert repaired.after.ok, str(repaired)
    steps, before = (
        np.abs(linkage.difference(poses[:-1], poses[1:])).max() for poses in (repaired.clip.poses, clip.poses)
    )
    assert steps < 2.0 * before
    ends = linkage.difference(repaired.clip.poses[[0, -1]], clip.poses[[0, -1]])
    np.testing.assert_allclose(ends, 0.0, atol=1e-3)
