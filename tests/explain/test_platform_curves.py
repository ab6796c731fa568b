"""Workspaces and singular curves of parallel robots, compared with geometry."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linkwork as lw
from linkwork.errors import GoalError, OptionError

GROUND, CRANK, LINK = 0.3, 0.25, 0.35


def five_bar() -> lw.Linkage:
    return lw.models.five_bar(GROUND, CRANK, LINK)


def test_a_five_bar_is_stretched_on_circles_and_loose_where_its_bars_are_in_line() -> None:
    robot = five_bar()
    found = lw.explain.platform_curves(robot, "tip", start="ready", resolution=61)
    away = np.linalg.norm(found.stretched[:, None, :2] - [[0.0, 0.0], [GROUND, 0.0]], axis=-1)
    circles = np.minimum(np.abs(away - (CRANK + LINK)), np.abs(away - (LINK - CRANK))).min(axis=-1)
    assert len(found.stretched) > 100
    assert_allclose(circles, 0.0, atol=1e-9)
    assert len(found.limited) == 0
    # the working mode is that of the start: left elbow to the left, right elbow to the right
    elbows = []
    for x, side in ((0.0, 1.0), (GROUND, -1.0)):
        way = found.loose[:, :2] - [x, 0.0]
        far = np.linalg.norm(way, axis=1, keepdims=True)
        along = (far**2 + CRANK**2 - LINK**2) / (2.0 * far)
        across = np.column_stack([-way[:, 1], way[:, 0]]) / far
        elbows.append([x, 0.0] + along * way / far + side * np.sqrt(CRANK**2 - along**2) * across)
    a, b = (found.loose[:, :2] - elbow for elbow in elbows)
    assert len(found.loose) > 20
    assert_allclose(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0], 0.0, atol=1e-9)


def test_a_delta_reaches_where_its_arms_do() -> None:
    robot = lw.models.delta()
    space = lw.explain.workspace(robot, "platform", samples=500)  # finds an assembled pose itself
    assert len(space.points) == 500
    assert (space.planar, space.curves) == (False, None)
    assert lw.solve_batch(robot, "platform", space.points, orientation=False, start="ready").success.all()
    low, high = space.extent
    assert low[2] < -0.6
    assert high[0] > 0.3
    curves = lw.explain.platform_curves(robot, "platform", plane="xz", start="ready", resolution=41)
    assert curves.drivers == ("arm1", "arm2", "arm3")
    lowest = curves.stretched[np.argmin(curves.stretched[:, 2])]  # straight down, arms and rods are in line
    assert_allclose(lowest[2], -np.sqrt(0.72**2 - 0.14**2), atol=2e-3)


def test_others_are_refused() -> None:
    robot = five_bar()
    with pytest.raises(GoalError, match="'foot' of linkage 'jansen_leg' is not a platform on legs"):
        lw.explain.workspace(lw.models.jansen_leg(), "foot")
    with pytest.raises(OptionError, match="open at the start"):
        lw.explain.platform_curves(robot, "tip", start=robot.pose(left=0.3))
    with pytest.raises(OptionError, match="1 drivers leave 3 coordinates to 2 rows"):
        lw.explain.platform_curves(robot, "tip", start="ready", drivers=["left"])
