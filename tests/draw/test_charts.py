"""Charts of inverse kinematics: positions of elements, and agreement with the computed data."""

from __future__ import annotations

import math

import numpy as np
import pytest

import linkwork as lw
from linkwork import models
from linkwork.errors import FormatError, OptionError
from linkwork.explain import workspaces as analysis
from linkwork.explain.races import RaceResult, race
from linkwork.models import textbook as figures

pytest.importorskip("matplotlib")

from matplotlib.collections import LineCollection, QuadMesh
from matplotlib.colors import to_hex
from matplotlib.patches import Circle
from mpl_toolkits.mplot3d.art3d import Line3D

from linkwork.draw.panels import ORANGE, RED

START = (math.pi / 8, math.pi / 4, math.pi / 4)
SIGNATURES = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


@pytest.fixture(scope="module")
def arm():
    return models.planar([15, 10, 5])


@pytest.fixture(scope="module")
def two_rows():
    """Two rows of frames, made by a method that is always available."""
    linkage, goal = models.two_link(1.5, 1.0), (0.9, 1.4)
    rows = []
    for title, start in (("down", [0.2, 0.6]), ("up", [1.2, -0.6])):
        clip = lw.track(linkage, lw.Reach("tip", position=goal), start=start, frames=5, method="damped")
        rows.append(figures.Panel(title, "damped", goal, {}, clip, "tip", shown=(0, 2, 4)))
    return figures.Figure("5.14", "Two elbows.", tuple(rows))


@pytest.fixture(scope="module")
def laps(arm):
    goal = lw.Reach("tip", position=(-20, 5))
    return race(arm, goal, start=START, methods=("inverse", "pseudoinverse", "damped", "transpose"))


def texts(page):
    return [text.get_text() for text in page.texts]


def trails(ax):
    """Return the points of lines in the colour of trails."""
    found = [c for c in ax.collections if isinstance(c, LineCollection) and to_hex(c.get_colors()[0]).upper() == ORANGE]
    return [segment for lines in found if lines.get_visible() for segment in lines.get_segments()]


def crosses(ax):
    return [line for line in ax.lines if line.get_marker() == "x" and to_hex(line.get_markeredgecolor()).upper() == RED]


@pytest.mark.parametrize("number", ["5.20", "5.21", "5.23"])
def test_a_figure_shows_every_row_and_frame_under_one_set_of_limits(number):
    made = figures.figure(number)
    page = lw.draw.figure(made)
    assert len(page.axes) == sum(len(panel.shown) for panel in made.panels)
    assert len({(ax.get_xlim(), ax.get_ylim()) for ax in page.axes}) == 1
    assert f"Figure {number}.  {made.caption}" in texts(page)
    assert {panel.title for panel in made.panels} < set(texts(page))
    assert texts(page).count("frame 20") == len(made.panels)


def test_trails_follow_the_effector_up_to_the_frame_and_crosses_mark_the_goal(two_rows):
    page = lw.draw.figure(two_rows)
    shown = [(panel, number) for panel in two_rows.panels for number in panel.shown]
    for ax, (panel, number) in zip(page.axes, shown, strict=True):
        points = panel.clip.linkage.forward(panel.clip.poses[: number + 1], frame="tip")[:, :2, 3]
        behind = trails(ax)
        assert len(behind) == (number > 0)
        if behind:
            np.testing.assert_allclose(behind[0], points, atol=1e-12)
        (cross,) = crosses(ax)
        np.testing.assert_allclose(cross.get_xydata(), [panel.goal])


def test_a_race_shows_errors_on_a_log_scale_and_paths_of_the_effector(arm, laps):
    page = lw.draw.race(laps)
    errors, paths = page.axes
    ran = {lap.method: lap for lap in laps if lap.solution is not None}
    assert set(ran) == {"pseudoinverse", "damped", "transpose"}
    assert errors.get_yscale() == "log"
    drawn = {line.get_label(): line for line in errors.lines if line.get_label() in ran}
    ways = {line.get_label(): line for line in paths.lines if line.get_label() in ran}
    for method, lap in ran.items():
        np.testing.assert_allclose(drawn[method].get_ydata(), np.maximum(lap.errors, 1e-16))
        tips = arm.forward(lap.poses, frame="tip")[:, :2, 3]
        np.testing.assert_allclose(ways[method].get_xydata(), tips, atol=1e-12)
        assert drawn[method].get_color() == ways[method].get_color()
    (cross,) = crosses(paths)
    np.testing.assert_allclose(cross.get_xydata(), [[-20, 5]])


def test_a_race_lists_every_method_with_how_it_ended_and_those_that_refused(laps):
    page = lw.draw.race(laps)
    written = texts(page)
    assert {lap.method for lap in laps} < set(written)
    assert written.count("reached") == sum(lap.solution is not None and lap.solution.success for lap in laps)
    assert written.count("refused this goal") == 1
    steps = [str(lap.solution.iterations) for lap in laps if lap.solution is not None]
    assert set(steps) < set(written)
    times = [f"{1e3 * lap.seconds:.3g}" for lap in laps if lap.solution is not None]
    assert set(times) < set(written)


def test_the_axes_of_a_race_are_honest(arm):
    """Iterations are integers, nonlinear scales are labelled, and errors below the axes have marks at the edge."""
    goal = lw.Reach("tip", position=(-20, 5))
    near, _ = lw.draw.race(race(arm, goal, start=START, methods=("analytic", "damped"))).axes
    assert all(tick == round(tick) for tick in near.get_xticks())
    marks = [line.get_xydata() for line in near.lines if line.get_marker() == "v"]
    assert [mark.tolist() for mark in marks] == [[[1.0, near.get_ylim()[0]]]]
    assert near.get_xlabel() == "iteration"
    slow = race(arm, goal, start=START, methods=("transpose",), max_iterations=None, tolerance=1e-12)
    assert "logarithmic" in lw.draw.race(slow).axes[0].get_xlabel()


def test_no_two_texts_of_a_race_overlap(laps):
    page = lw.draw.race(laps)
    page.canvas.draw()
    boxes = [text.get_window_extent() for text in page.texts]
    clashes = [(k, j) for k, a in enumerate(boxes) for j, b in enumerate(boxes[:k]) if a.overlaps(b)]
    assert not clashes, [(page.texts[k].get_text(), page.texts[j].get_text()) for k, j in clashes]


def test_a_race_out_of_reach_keeps_its_errors_in_sight(arm):
    far = race(arm, lw.Reach("tip", position=(-35, 5)), start=START, methods=("damped",))
    errors, paths = lw.draw.race(far, goal=(-35, 5)).axes
    low, high = errors.get_ylim()
    assert low < far[0].errors.min() < far[0].errors.max() < high
    assert low > 0.1
    np.testing.assert_allclose(crosses(paths)[0].get_xydata(), [[-35, 5]])


def test_a_race_in_space_shows_the_path_in_space():
    panda = models.panda()
    target = panda.forward(panda.stored_pose("pick"), frame="tip")
    found = race(panda, lw.Reach("tip", orientation=target), start="ready", methods=("damped",))
    errors, paths = lw.draw.race(found).axes
    assert errors.get_ylabel() == "largest error [m or rad]"
    (way,) = (line for line in paths.lines if isinstance(line, Line3D) and line.get_label() == "damped")
    np.testing.assert_allclose(np.array(way.get_data_3d()).T, panda.forward(found[0].poses, frame="tip")[:, :3, 3])


def clouds(ax, count):
    return [line for line in ax.lines if line.get_linestyle() == "None" and len(line.get_xdata()) == count]


def test_a_planar_workspace_shows_its_points_and_the_exact_ring():
    space = analysis.workspace(models.two_link(1.5, 1.0), "tip", samples=700)
    page = lw.draw.workspace(space)
    (ax,) = page.axes
    (cloud,) = clouds(ax, 700)
    np.testing.assert_allclose(cloud.get_xydata(), space.points[:, :2])
    assert sorted(patch.radius for patch in ax.patches if isinstance(patch, Circle)) == pytest.approx([0.5, 2.5])
    assert ax.get_aspect() == 1.0
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x [m]", "y [m]")
    assert any("from 0.5 to 2.5 m" in text for text in texts(page))


def test_points_with_every_orientation_stand_out():
    space = analysis.workspace(models.planar([2, 1, 0.5]), "tip", samples=12, orientations=3)
    page = lw.draw.workspace(space)
    good = space.dexterous
    assert 0 < len(good) < 12
    shown = [line for line in clouds(page.axes[0], len(good)) if line.get_color() == ORANGE]
    np.testing.assert_allclose(shown[0].get_xydata(), good[:, :2])
    assert f"in every orientation tried: {len(good)}" in texts(page)
    circles = [patch.radius for patch in page.axes[0].patches if isinstance(patch, Circle) and not patch.get_fill()]
    assert set(circles) == {0.5, 3.5, 1.5, 2.5}  # the exact rings: reached, and in every orientation
    assert any("in every orientation 1.5 to 2.5 m" in text for text in texts(page))


def test_a_workspace_in_space_has_three_projections_of_equal_aspect():
    space = analysis.workspace(models.panda(), "tip", samples=300)
    main, *projections = lw.draw.workspace(space).axes
    (cloud,) = (line for line in main.lines if isinstance(line, Line3D) and len(line.get_data_3d()[0]) == 300)
    np.testing.assert_allclose(np.array(cloud.get_data_3d()).T, space.points)
    assert len(projections) == 3
    for ax, columns in zip(projections, ([0, 1], [1, 2], [0, 2]), strict=True):
        (flat,) = clouds(ax, 300)
        np.testing.assert_allclose(flat.get_xydata(), space.points[:, columns])
        assert ax.get_aspect() == 1.0
        assert (ax.get_xlabel(), ax.get_ylabel()) == tuple(f"{'xyz'[k]} [m]" for k in columns)


def test_a_map_has_the_first_joint_along_x_and_its_valleys_outlined(arm):
    first, second, measure = analysis.joint_map(arm, ("j2", "j3"), "tip", resolution=31)
    page = lw.draw.map(first, second, measure, names=("j2", "travel [m]"))
    ax, bar = page.axes
    (mesh,) = (c for c in ax.collections if isinstance(c, QuadMesh))
    np.testing.assert_allclose(mesh.get_array().reshape(31, 31), measure.T)
    assert mesh.get_clim() == (0.0, pytest.approx(measure.max()))
    (contour,) = (c for c in ax.collections if not isinstance(c, QuadMesh))
    assert sum(len(path.vertices) for path in contour.get_paths()) > 0
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("j2 [rad]", "travel [m]")
    assert "manipulability" in bar.get_ylabel()
    page.canvas.draw()
    ticks = {round(2 * tick.get_position()[0] / math.pi): tick.get_text() for tick in ax.get_xticklabels()}
    assert [ticks[k] for k in range(-2, 3)] == ["−π", "−π/2", "0", "π/2", "π"]


@pytest.mark.parametrize("suffix", SIGNATURES)
def test_charts_are_saved_in_every_format(tmp_path, laps, suffix):
    target = tmp_path / f"race{suffix}"
    lw.draw.race(laps, path=target)
    assert target.read_bytes().startswith(SIGNATURES[suffix])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: lw.draw.figure("5.20"), "lw.textbook.figure"),
        (lambda: lw.draw.figure(figures.Figure("5.0", "nothing")), "no rows"),
        (lambda: lw.draw.race([]), "no method took"),
        (lambda: lw.draw.race([RaceResult("inverse", None, "not square")]), "no method took"),
        (lambda: lw.draw.workspace(None), "lw.explain.workspace"),
        (lambda: lw.draw.map([0, 1], [0, 1, 2], np.ones((3, 2)), names=("a", "b")), r"\(3, 2\)"),
        (lambda: lw.draw.map([0, 1], [0, 1], -np.ones((2, 2)), names=("a", "b")), "not negative"),
        (lambda: lw.draw.map([0, 1], [0, 1], np.ones((2, 2)), names="ab"), "two joints"),
    ],
)
def test_what_cannot_be_drawn_is_refused(call, message):
    with pytest.raises(OptionError, match=message):
        call()


def test_a_chart_is_not_saved_under_a_name_that_is_no_picture(tmp_path, laps):
    with pytest.raises(FormatError, match=r"\.png"):
        lw.draw.race(laps, path=tmp_path / "race.txt")
