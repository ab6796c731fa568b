"""The pose in which a file rests does not matter: anatomy is told from what is seen."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from captures import recorded
from linkwork.retargeting import recognise, retarget_with_report
from rewritten import rewritten

FIGURES = ("walk", "run", "march", "dance")


def angles(first: lw.Clip, second: lw.Clip) -> np.ndarray:
    """Return by how much the links of two clips of one linkage are turned against each other [degrees]."""
    worlds = [np.stack([clip.forward()[name][:, :3, :3] for name in clip.linkage.links]) for clip in (first, second)]
    trace = np.einsum("ltij,ltij->lt", *worlds)
    return np.degrees(np.arccos(np.clip((trace - 1.0) / 2.0, -1.0, 1.0)))


@pytest.mark.parametrize("turned", [False, True])
def test_a_motion_that_is_written_again_is_the_same_motion(turned):
    clip = recorded("run")
    again = rewritten(clip, 40, turned)
    for name in clip.linkage.frames:
        assert again.forward(frame=name)[:, :3, 3] == pytest.approx(clip.forward(frame=name)[:, :3, 3], abs=1e-9)
    rest = again.linkage.forward(again.linkage.neutral())
    assert rest[clip.linkage.links[5]][:3, 3] == pytest.approx(clip.forward(frame=clip.linkage.links[5])[40, :3, 3])


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("frame", [7, -1])
def test_any_frame_may_be_the_rest_pose(name, frame):
    clip, human = recorded(name), lw.models.human()
    first = "keep"  # a first frame that was a pose of its own is none where the rest pose is another
    plain = lw.retarget(clip, human, first=first)
    other = lw.retarget(rewritten(clip, frame, turned=True), human, first=first)
    assert angles(plain, other).max() < 1.0


@pytest.mark.parametrize("name", FIGURES)
def test_bones_point_as_those_of_the_source_do(name):
    clip = recorded(name)
    figure = recorded("march").linkage  # whose arms rest hanging down, and have no limits
    outcome = retarget_with_report(rewritten(clip, 20, turned=True), figure, first="keep")
    source = recognise(clip.linkage)
    for start, end in (("shoulder", "elbow"), ("elbow", "hand"), ("hip", "knee"), ("knee", "ankle")):
        for side in ("left", "right"):
            ways = []
            for skeleton, motion in ((source, clip), (outcome.target, outcome.clip)):
                ends = [skeleton.path(f"{side}_{part}", motion.poses) for part in (start, end)]
                ways.append((ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0], axis=1, keepdims=True))
            apart = np.degrees(np.arccos(np.clip((ways[0] * ways[1]).sum(axis=1), -1.0, 1.0)))
            assert apart.mean() < 8.0, (side, start)
