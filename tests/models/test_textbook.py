"""The chapter's figures: their numbers against forward kinematics, Jacobians and closed forms."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linkwork as lw
from linkwork.models.textbook import FIGURES, NEAR, START, figure, traversal
from linkwork.models.textbook.diagrams import Angle, Arrow, Diagram, Formulas, Length, Spot, Stack, Tree, hierarchy
from linkwork.models.textbook.linkages import three_links, two_appendages

DIAGRAMS = [number for number, entry in FIGURES.items() if entry.plates is not None]


def plates(number, kind):
    return [plate for row in figure(number).plates for plate in row if isinstance(plate, kind)]


def marks(diagram, kind):
    return [mark for mark in diagram.marks if isinstance(mark, kind)]


def labelled(diagram, label):
    (mark,) = (mark for mark in diagram.marks if getattr(mark, "label", "") == label)
    return mark


def test_all_figures_of_the_chapter_are_there() -> None:
    assert list(FIGURES) == [f"5.{k}" for k in range(1, 26)]
    for number, entry in FIGURES.items():
        assert entry.panels or entry.plates, number
        assert entry.caption.endswith("."), number


@pytest.mark.parametrize("number", DIAGRAMS)
def test_every_diagram_is_plain_numbers(number: str) -> None:
    found = figure(number)
    data = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert len(data["diagrams"]) == sum(map(len, found.plates)) > 0
    for diagram in plates(number, Diagram):
        assert diagram.q.shape == (diagram.linkage.nq,)
        for mark in diagram.marks:
            assert np.isfinite(mark.points()).all()
            assert mark.points().shape[1] == 3


# Joints and hierarchies


def test_an_angle_ends_where_the_joint_has_turned_to() -> None:
    for diagram in (*plates("5.9", Diagram), *plates("5.11", Diagram), *plates("5.17", Diagram)):
        linkage = diagram.linkage
        turned = marks(diagram, Angle)
        assert len(turned) == linkage.nq
        for angle, joint, value in zip(turned, linkage.arcs[1:], diagram.q, strict=True):
            frame = linkage.forward(diagram.q, frame=joint.child)
            assert angle.angle == pytest.approx(value)
            assert_allclose(angle.points()[-1], frame[:3, 3] + angle.radius * frame[:3, 0], atol=1e-12)


def test_the_axes_of_the_gimbal_are_those_of_its_joints() -> None:
    planar, ball, rings = plates("5.4", Diagram)
    assert planar.linkage.nv == ball.linkage.nv == rings.linkage.nv == 3
    angular = rings.linkage.jacobian(rings.q, "link")[3:]
    for arrow, column in zip(marks(rings, Arrow), angular.T, strict=True):
        assert_allclose(arrow.vector / np.linalg.norm(arrow.vector), column, atol=1e-12)
    split, whole = rings.linkage.forward(rings.q, frame="link"), ball.linkage.forward(ball.q, frame="link")
    assert_allclose(split[:3, :3], whole[:3, :3], atol=1e-12)
    (tree,) = plates("5.4", Tree)
    assert [node.label for node in tree.nodes].count("zero length") == 2


def test_placements_lead_from_frame_to_frame() -> None:
    whole = plates("5.7", Diagram)[-1]
    model = whole.linkage
    assert_allclose(labelled(whole, "$T_0$").vector, model.root.placement[:3, 3])
    assert_allclose(
        labelled(whole, "$T_{1,1}$").points()[1], model.forward(whole.q, frame="link1,1")[:3, 3], atol=1e-12
    )


def test_trees_have_the_arcs_of_their_linkage() -> None:
    (tree,) = plates("5.10", Tree)
    assert [node.parent for node in tree.nodes] == list(three_links().parents)
    assert tree.nodes[2].arc == ("$T_{1,1}$", r"$R_{1,1}(\theta_{1,1})$")
    assert tree.nodes[2].note == (
        r"$V'_{1,1} = T_{0}\,T_{1}\,R_{1}(\theta_{1})\,T_{1,1}\,R_{1,1}(\theta_{1,1})\,V_{1,1}$".replace("T_{0}", "T_0")
    )
    (branching,) = plates("5.12", Tree)
    assert [node.parent for node in branching.nodes] == [-1, 0, 1, 0, 3]
    assert [node.label for node in hierarchy(two_appendages()).nodes] == list(two_appendages().links)


def test_the_listing_is_the_walk_that_runs() -> None:
    model, q = two_appendages(), np.array([0.3, -0.4, 0.5, 0.2])
    space: dict[str, object] = {}
    code = "\n".join(line for line in traversal.listing() if not line.startswith("traverse("))
    exec(code, space)
    seen = {}
    space["traverse"](
        traversal.as_arcs(model, q), np.eye(4), [], lambda node, matrix: seen.setdefault(node.number, matrix)
    )
    for number, link in enumerate(model.links):
        assert_allclose(seen[number], model.forward(q, frame=link), atol=1e-12)
    assert list(seen) == [0, 1, 2, 3, 4]


def test_the_stack_holds_what_is_restored_on_the_way_back() -> None:
    first, second, third = plates("5.13", Stack)
    assert first.entries == ("$T_0$", r"$T_0\,T_{1}\,R_{1}$")
    assert first.current == r"$T_0\,T_{1}\,R_{1}\,T_{1,1}\,R_{1,1}$"
    assert second.entries == ("$T_0$",)
    assert third.entries == ("$T_0$", r"$T_0\,T_{2}\,R_{2}$")
    assert [node.tone for node in second.tree.nodes] == ["done", "done", "done", "now", "plain"]


# Two links


def test_the_two_link_arm_reaches_its_goal_with_the_angles_shown() -> None:
    (diagram,) = plates("5.15", Diagram)
    upper, lower = labelled(diagram, "$L_1$").length, labelled(diagram, "$L_2$").length
    x, y = labelled(diagram, "$X$").length, labelled(diagram, "$Y$").length
    first, second = labelled(diagram, r"$\theta_1$").angle, labelled(diagram, r"$\theta_2$").angle
    assert_allclose(upper * np.cos(first) + lower * np.cos(first + second), x)
    assert_allclose(upper * np.sin(first) + lower * np.sin(first + second), y)
    inside = labelled(diagram, r"$180° - |\theta_2|$")
    assert math.cos(inside.angle) == pytest.approx((upper**2 + lower**2 - x**2 - y**2) / (2 * upper * lower))
    assert_allclose(inside.points()[-1] - inside.center, 0.3 * _unit(labelled(diagram, "$L_2$")), atol=1e-12)
    assert labelled(diagram, r"$\theta_T$").angle == pytest.approx(math.atan2(y, x))
    (formulas,) = plates("5.15", Formulas)
    assert f"{math.degrees(first):.1f}°" in " ".join(formulas.lines)
    assert f"{math.degrees(second):.1f}°" in " ".join(formulas.lines)


def _unit(length: Length):
    return (length.end - length.start) / length.length


def test_the_ring_is_what_two_links_reach() -> None:
    _, ring = plates("5.14", Diagram)
    assert labelled(ring, "$L_1 + L_2$").length == pytest.approx(2.5)
    assert labelled(ring, "$|L_1 - L_2|$").length == pytest.approx(0.5)
    goal = marks(ring, Spot)[-1].place
    for q in (ring.q, *ring.ghosts):
        assert_allclose(ring.linkage.forward(q, frame="tip")[:3, 3], goal, atol=1e-9)


# Vectors of change


@pytest.mark.parametrize("number", ["5.18", "5.19"])
def test_vectors_of_change_are_columns_of_the_jacobian(number: str) -> None:
    for diagram in plates(number, Diagram):
        linkage, step = diagram.linkage, 1e-6
        tip = linkage.forward(diagram.q, frame="tip")[:3, 3]
        for k in range(3):
            arrow = labelled(diagram, f"$g_{k + 1}$")
            assert_allclose(arrow.tail, tip, atol=1e-12)
            assert_allclose(arrow.vector, linkage.jacobian(diagram.q, "tip")[:3, k], atol=1e-12)
            assert_allclose(
                arrow.vector, np.cross((0, 0, 1), tip - linkage.forward(diagram.q, frame=f"link{k + 1}")[:3, 3])
            )
            moved = linkage.forward(diagram.q + step * np.eye(3)[k], frame="tip")[:3, 3]
            assert_allclose((moved - tip) / step, arrow.vector, atol=1e-4)


def test_the_arm_of_5_17_wants_to_go_to_its_goal() -> None:
    (diagram,) = plates("5.17", Diagram)
    assert_allclose(diagram.q, START)
    assert_allclose(labelled(diagram, "$V = G - E$").points()[1][:2], NEAR)
    lengths = [mark.length for mark in marks(diagram, Length)]
    assert_allclose(lengths, [15, 10, 5])


def test_a_stretched_arm_cannot_go_towards_its_goal() -> None:
    stretched, bent = plates("5.19", Diagram)
    wanted = labelled(stretched, "$V$").vector
    for k in (1, 2, 3):
        assert labelled(stretched, f"$g_{k}$").vector @ wanted == pytest.approx(0.0, abs=1e-12)
    assert any(abs(labelled(bent, f"$g_{k}$").vector @ wanted) > 1.0 for k in (1, 2, 3))


def test_a_joint_turns_or_pushes_the_end_effector() -> None:
    lever, pusher = plates("5.16", Diagram)
    axis, way = labelled(lever, r"$\omega_i$").vector, labelled(lever, "$V_i$").vector
    change = labelled(lever, r"$g_i = \omega_i \times V_i$").vector
    assert_allclose(change, np.cross(axis / np.linalg.norm(axis), way), atol=1e-12)
    assert_allclose(labelled(pusher, "$g_i = v_i$").vector, [1, 0, 0], atol=1e-12)


def test_an_unknown_figure_says_what_there_is() -> None:
    with pytest.raises(lw.textbook.FigureNotFoundError, match=r"5\.1, 5\.2"):
        figure("5.26")
