"""Links that go through each other in a motion are found, and led apart without a jump."""

from __future__ import annotations

import numpy as np

import linkwork as lw


def dipping() -> lw.Clip:
    """Return two arms side by side, of which one dips into the other for half a second."""
    b = lw.Builder("arms")
    for name, y in (("left", 0.2), ("right", -0.2)):
        b.revolute(f"{name}_swing", f"{name}_mount", parent="base", at=(0, y, 0), axis="z")
        b.revolute(f"{name}_lift", name, axis="y", shape=lw.bone((0, 0, 0), (1, 0, 0), 0.05))
    linkage = b.build()
    times = np.arange(90) / 30.0
    poses = np.zeros((90, 4))
    poses[:, 0] = -0.42 * np.exp(-(((times - 1.5) / 0.35) ** 2))
    return lw.Clip(linkage, times, poses)


def test_two_links_inside_each_other_are_found_and_led_apart() -> None:
    clip = dipping()
    (found,) = lw.inspect(clip).of("overlap")
    assert found.where == "left, right"
    deep = -lw.clearance(clip.linkage, clip.poses).distance
    assert abs(found.amount - deep.max()) < 1e-12
    assert found.first <= 45 <= found.last
    repaired = lw.repair(clip)
    assert repaired.after.ok, str(repaired)
    steps = np.abs(np.diff(repaired.clip.poses, axis=0))
    assert steps.max() < 2.0 * np.abs(np.diff(clip.poses, axis=0)).max()
    np.testing.assert_allclose(repaired.clip.poses[[0, -1]], clip.poses[[0, -1]], atol=1e-3)
