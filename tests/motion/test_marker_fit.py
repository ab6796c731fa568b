"""Motions from markers: markers on a known motion must recover it."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import FrameNotFoundError, LinkageError, OptionError

PARTS = ("upper_arm", "forearm", "palm", "thigh", "shin", "tarsus")
LINKS = ("pelvis", "chest", "head", *(f"{side}_{part}" for side in ("left", "right") for part in PARTS))


@pytest.fixture(scope="module")
def walk() -> lw.Clip:
    return lw.models.motion("human")


def worn(clip: lw.Clip) -> tuple[lw.Markers, dict[str, tuple[str, np.ndarray]]]:
    """Return markers on a motion, three on each link, and their positions on the links."""
    random, places = np.random.default_rng(0), clip.linkage.forward(clip.poses)
    on = {f"{link}{k}": (link, random.normal(scale=0.05, size=3)) for link in LINKS for k in range(3)}
    paths = [places[link][:, :3, :3] @ offset + places[link][:, :3, 3] for link, offset in on.values()]
    return lw.Markers(tuple(on), clip.times, np.stack(paths, axis=1)), on


def places_off(found: lw.Clip, clip: lw.Clip) -> float:
    ours, theirs = found.linkage.forward(found.poses), clip.linkage.forward(clip.poses)
    return max(float(np.linalg.norm((ours[link] - theirs[link])[:, :3, 3], axis=-1).max()) for link in LINKS)


def test_markers_whose_places_are_known_give_the_motion_back_through_gaps(walk: lw.Clip) -> None:
    markers, on = worn(walk)
    points = markers.points.copy()
    points[5:20, ::3] = np.nan  # a third of them out of sight for 15 of 79 frames
    fit = lw.solve_markers(walk.linkage, lw.Markers(markers.names, markers.times, points), on)
    assert np.nanmax(fit.errors) < 1e-3
    assert places_off(fit.clip, walk) < 2e-3
    np.testing.assert_array_equal(np.isnan(fit.errors), np.isnan(points[..., 0]))
    assert fit.report().splitlines()[0].split() == ["marker", "rms", "[mm]", "worst", "[mm]", "missing"]
    assert "19.0%" in fit.report()


def test_places_on_links_are_found_where_they_are_not_known(walk: lw.Clip) -> None:
    markers, on = worn(walk)
    fit = lw.solve_markers(walk.linkage, markers, {name: link for name, (link, _) in on.items()})
    assert np.sqrt(np.mean(fit.errors**2)) < 3e-3
    assert places_off(fit.clip, walk) < 0.08  # markers 9 cm from a joint leave it uncertain by centimetres
    assert list(fit.offsets) == list(markers.names)


def test_a_marker_that_counts_less_is_followed_less() -> None:
    arm = lw.models.planar([1.0])
    markers = lw.Markers(("a", "b"), [0.0], [[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
    on = {"a": ("tip", (0, 0, 0)), "b": ("tip", (0, 0, 0))}
    fits = [lw.solve_markers(arm, markers, on, weights={"b": weight}, start=[0.6]) for weight in (0.1, 1, 10)]
    angles = [fit.clip.poses[0, 0] for fit in fits]
    assert angles[0] < angles[1] < angles[2]
    assert angles[1] == pytest.approx(np.pi / 4, abs=0.02)


def test_what_cannot_be_followed_is_refused() -> None:
    arm, markers = lw.models.planar([1.0]), lw.Markers(("a",), [0.0], [[[np.nan] * 3]])
    for on, error, why in (
        ({}, OptionError, "empty"),
        ({"b": "tip"}, LinkageError, "no marker 'b'; there are a"),
        ({"a": "tpi"}, FrameNotFoundError, "tip"),
        ({"a": "tip"}, LinkageError, "none of the markers is seen"),
    ):
        with pytest.raises(error, match=why):
            lw.solve_markers(arm, markers, on)
