"""Figures 5.14 to 5.19: the analytic solution for two links, and the effect of each joint on the end effector."""

from __future__ import annotations

import math

import numpy as np

from ...goals import Reach
from ...linkage.linkage import Linkage
from ...solvers import solve
from ...transforms import FloatArray
from ..arms import two_link
from . import linkages
from .diagrams import Angle, Arrow, Diagram, Formulas, Length, Mark, Plate, RightAngle, Ring, Spot, point

X, Y, Z = np.eye(3)
UPPER, LOWER = 1.5, 1.0
GOAL = (1.5, 1.1)
ROLES = ("first", "second", "third")
SHORTER = 0.5  # scale of the drawn vectors of change
STRETCHED_GOAL = (21.0, 0.0)
SPACE = (20.0, -50.0)
BENDS = (10.0, 1.0, 0.1)  # [deg]

Rows = tuple[tuple[Plate, ...], ...]


def origin(linkage: Linkage, q: FloatArray, frame: str) -> FloatArray:
    """Return the position of a frame, shape (3,)."""
    place: FloatArray = linkage.forward(q, frame=frame)[:3, 3]
    return place


def direction(vector: FloatArray) -> FloatArray:
    """Return the unit vector of a vector."""
    return np.asarray(vector / np.linalg.norm(vector))


# Two links


def elbow_up() -> tuple[Linkage, FloatArray]:
    """Return the two-link arm and the pose that reaches the goal of figures 5.14 and 5.15 with its elbow up."""
    arm = two_link(UPPER, LOWER)
    found = solve(arm, Reach("tip", position=GOAL), method="analytic", elbow="up")
    return arm, found.q


def two_links() -> Rows:
    """Return figure 5.14: the names of the parts, and the ring of reachable points."""
    arm, q = elbow_up()
    base, elbow, tip = (origin(arm, q, frame) for frame in ("upper", "lower", "tip"))
    along = direction(elbow - base)
    names = (
        Length(base, elbow, "$L_1$"),
        Length(elbow, tip, "$L_2$"),
        Arrow(base, 1.1 * X, "", "axis", dashed=True),
        Arrow(elbow, 0.75 * along, "", "axis", dashed=True),
        Angle(base, X, float(q[0]), 0.55, r"$\theta_1$"),
        Angle(elbow, along, float(q[1]), 0.45, r"$\theta_2$"),
        Spot(base, "$(0, 0)$", "none"),
        Spot(tip, "$(X, Y)$", "goal"),
    )
    folded, stretched = np.array([2.5, math.pi]), np.array([-0.6, 0.0])
    inner, outer = origin(arm, folded, "tip"), origin(arm, stretched, "tip")
    ring = (
        Ring(base, abs(UPPER - LOWER), UPPER + LOWER),
        Length(base, outer, "$L_1 + L_2$", line=True),
        Length(base, inner, "$|L_1 - L_2|$", line=True),
        Spot(tip, "", "goal"),
    )
    other = solve(arm, Reach("tip", position=GOAL), method="analytic", elbow="down").q
    return (
        (
            Diagram("Two links, two angles, one goal", arm, q, names, height=3.5),
            Diagram("Within the ring, two poses reach a goal", arm, q, ring, (other,), height=3.5),
        ),
    )


def analysis() -> Rows:
    """Return figure 5.15: the triangle that the law of cosines solves, and its formulas with numbers."""
    arm, q = elbow_up()
    base, elbow, tip = (origin(arm, q, frame) for frame in ("upper", "lower", "tip"))
    towards = math.atan2(GOAL[1], GOAL[0])
    inside = math.pi - abs(float(q[1]))
    marks = (
        Length(base, elbow, "$L_1$"),
        Length(elbow, tip, "$L_2$"),
        Length(base, tip, r"$\sqrt{X^2 + Y^2}$", line=True),
        Length(base, point((tip[0], 0.0)), "$X$", line=True),
        Length(point((tip[0], 0.0)), tip, "$Y$", line=True),
        Angle(base, X, towards, 0.62, r"$\theta_T$", role="second"),
        Angle(base, X, float(q[0]), 0.40, r"$\theta_1$"),
        Angle(elbow, direction(base - elbow), inside, 0.3, r"$180° - |\theta_2|$", role="third"),
        Angle(elbow, direction(elbow - base), float(q[1]), 0.42, r"$\theta_2$"),
        Arrow(elbow, 0.65 * direction(elbow - base), "", "axis", dashed=True),
        Spot(tip, "$(X, Y)$", "goal"),
    )
    return ((Diagram("", arm, q, marks, height=4.0), _solution(q, towards)),)


def _solution(q: FloatArray, towards: float) -> Formulas:
    """Return the formulas of the analytic solution, each with its value for this goal."""
    first, second = np.degrees(q).tolist()
    reach = math.hypot(*GOAL)
    return Formulas(
        "By the law of cosines, elbow up",
        (
            rf"$\theta_T = \mathrm{{atan2}}(Y, X) = {math.degrees(towards):.1f}°$",
            "",
            r"$\cos(\theta_1 - \theta_T) = \dfrac{L_1^2 + X^2 + Y^2 - L_2^2}{2\,L_1\sqrt{X^2 + Y^2}}$",
            rf"$\theta_1 = \theta_T + \mathrm{{acos}}(\cdots) = {first:.1f}°$",
            "",
            r"$\cos(180° - |\theta_2|) = \dfrac{L_1^2 + L_2^2 - X^2 - Y^2}{2\,L_1 L_2}$",
            rf"$\theta_2 = -(180° - \mathrm{{acos}}(\cdots)) = {second:.1f}°$",
            "",
            f"Here $L_1 = {UPPER:g}$, $L_2 = {LOWER:g}$, $X = {GOAL[0]:g}$, $Y = {GOAL[1]:g}$,",
            rf"and $\sqrt{{X^2 + Y^2}} = {reach:.3f}$. Elbow down: the other signs.",
        ),
    )


# The effect of a joint on the end effector


def induced_velocities() -> Rows:
    """Return figure 5.16: the velocities that a revolute and a prismatic joint give to the end effector."""
    lever, pusher = linkages.lever(), linkages.pusher()
    turned, slid = np.array([-0.1]), np.array([0.0])
    tip = origin(lever, turned, "tip")
    change = lever.jacobian(turned, "tip")[:3, 0]
    radius = float(np.hypot(*tip[:2]))
    arm = direction(tip * (1.0, 1.0, 0.0))
    revolute = (
        Arrow(np.zeros(3), 0.95 * Z, r"$\omega_i$", "second"),
        Arrow(np.zeros(3), tip, "$V_i$", "axis", dashed=True),
        Angle(point((0, 0, tip[2])), _turned(arm, -0.5), 1.4, radius, "", arrow=False, role="axis"),
        Arrow(tip, change, r"$g_i = \omega_i \times V_i$", "first", 0.55),
        Spot(np.zeros(3), "$J_i$", "none"),
        Spot(tip, "$E$", "dot"),
    )
    end = origin(pusher, slid, "tip")
    push = pusher.jacobian(slid, "tip")[:3, 0]
    prismatic = (
        Arrow(point((0.25, 0.0, 0.0)), push, "$v_i$", "second", 0.5),
        Arrow(end, push, "$g_i = v_i$", "first", 0.5),
        Spot(point((-0.25, -0.1, -0.1)), "$J_i$", "none"),
        Spot(end, "$E$", "dot"),
    )
    return (
        (
            Diagram("Revolute: it turns and moves the end effector", lever, turned, revolute, (), SPACE, 3.4),
            Diagram("Prismatic: it moves it, and turns nothing", pusher, slid, prismatic, (), SPACE, 2.6),
        ),
    )


def _turned(vector: FloatArray, angle: float) -> FloatArray:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([c * vector[0] - s * vector[1], s * vector[0] + c * vector[1], 0.0])


def columns(arm: Linkage, q: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the joints' places (n, 3), V_i = E - P_i (n, 3) and g_i = axis x V_i (n, 3) of a planar arm."""
    tip = origin(arm, q, "tip")
    places = np.array([origin(arm, q, joint.child) for joint in arm.arcs[1:]])
    ways = tip - places
    return places, ways, np.cross(Z, ways)


def lengths(arm: Linkage, q: FloatArray) -> tuple[Mark, ...]:
    """Return the lengths of a planar arm's links, beside them at a pose."""
    places, _, _ = columns(arm, q)
    ends = [*places[1:], origin(arm, q, "tip")]
    pairs = zip(places, ends, strict=True)
    return tuple(Length(start, end, f"{np.linalg.norm(end - start):.3g}") for start, end in pairs)


def three_joints() -> Rows:
    """Return figure 5.17: the planar arm of three joints, its end effector and its goal."""
    arm, q = linkages.arm(), np.array(linkages.START)
    places, _, _ = columns(arm, q)
    tip, goal = origin(arm, q, "tip"), point(linkages.NEAR)
    marks: list[Mark] = []
    for k, place in enumerate(places):
        along = direction(place - places[k - 1]) if k else X
        marks += [
            Spot(place, f"$P_{k}$", "axis"),
            Arrow(place, (7.0 - k) * along, "", "axis", dashed=True),
            Angle(place, along, float(q[k]), 5.0 - 0.6 * k, rf"$\theta_{k + 1}$"),
        ]
    ends = [*places[1:], tip]
    marks += [Length(a, b, f"$L_{k}$") for k, (a, b) in enumerate(zip(places, ends, strict=True), start=1)]
    marks += [Spot(tip, "$E$", "dot"), Spot(goal, "$G$", "goal"), Arrow(tip, goal - tip, "$V = G - E$", "goal")]
    return ((Diagram("", arm, q, tuple(marks), height=4.2),),)


def changes() -> Rows:
    """Return figure 5.18: the vector of change that each joint gives to the end effector."""
    arm, q = linkages.arm(), np.array(linkages.START)
    places, ways, change = columns(arm, q)
    tip = origin(arm, q, "tip")
    marks: list[Mark] = []
    for k, (place, way, g) in enumerate(zip(places, ways, change, strict=True)):
        role = ROLES[k]
        marks += [
            Spot(place, f"$P_{k}$", "axis"),
            Arrow(place, way, f"$V_{k + 1}$", role, dashed=True),
            Arrow(tip, g, f"$g_{k + 1}$", role, SHORTER),
        ]
    marks.append(RightAngle(tip, direction(-ways[0]), direction(change[0]), 1.7))
    marks.append(Spot(tip, "$E$", "dot"))
    title = "At the end effector: $g_i$, drawn half as long"
    return ((Diagram(title, arm, q, tuple(marks), height=4.4), _columns(change)),)


def _columns(change: FloatArray) -> Formulas:
    """Return the vectors of change as the columns of the Jacobian, with their lengths."""
    rows = ["  ".join(f"{g[i]:8.2f}" for g in change) for i in range(2)]
    lengths = [rf"$|g_{k}| = |V_{k}| = {np.linalg.norm(g):.2f}$" for k, g in enumerate(change, start=1)]
    return Formulas(
        "They are the columns of the Jacobian",
        (
            r"$g_i = (0, 0, 1) \times V_i$,   $V_i = E - P_{i-1}$",
            "",
            "$J = [\\; g_1 \\;\\; g_2 \\;\\; g_3 \\;]$",
            "`" + rows[0],
            "`" + rows[1],
            "",
            *lengths,
            "",
            "The further the joint, the longer its vector.",
            "Every axis comes out of the page.",
        ),
    )


def singular() -> Rows:
    """Return figure 5.19: a stretched arm, whose joints all move the end effector across the way to the goal."""
    arm = linkages.arm()
    stretched, bent = np.zeros(3), np.radians([-BENDS[0], BENDS[0], BENDS[0]])
    return (
        (_stuck("(a) Stretched: every $g_i$ is at right angles to $V$", arm, stretched),),
        (_stuck(f"(b) Bent by {BENDS[0]:g}° at each joint: they lean, a little", arm, bent), _cost(arm)),
    )


def _stuck(title: str, arm: Linkage, q: FloatArray) -> Diagram:
    """Return the arm with its vectors of change side by side, and the vector to the goal below it."""
    places, _, change = columns(arm, q)
    tip, goal = origin(arm, q, "tip"), point(STRETCHED_GOAL)
    marks: list[Mark] = [Spot(place, f"$P_{k}$", "axis") for k, place in enumerate(places)]
    for k, g in enumerate(change):
        marks.append(Arrow(tip, g, f"$g_{k + 1}$", ROLES[k], 0.3, aside=9.0 * (k - 1)))
    below = 0.0 if q.any() else 15.0  # offset of the vector, which would otherwise lie on the straight arm
    marks += [Arrow(tip, goal - tip, "$V$", "goal", aside=below), Spot(goal, "$G$", "goal"), Spot(tip, "$E$", "dot")]
    if not q.any():
        marks.append(RightAngle(tip, -X, Y, 1.6))
    return Diagram(title, arm, q, tuple(marks), scale=0.22)


def _cost(arm: Linkage) -> Formulas:
    """Return the joint rates for one unit towards the goal, for smaller and smaller bends of the arm."""
    lines = []
    for bend in BENDS:
        q = np.radians([-bend, bend, bend])
        J = arm.jacobian(q, "tip")[:2]
        wanted = direction(point(STRETCHED_GOAL) - origin(arm, q, "tip"))[:2]
        rates = np.linalg.pinv(J) @ wanted
        lines.append(rf"bent by {bend:g}°:   $|\dot\theta| = {np.linalg.norm(rates):.2f}$")
    return Formulas(
        r"Joint speeds $\dot\theta = J^{+}V$ for $|V| = 1$",
        (
            *lines,
            r"stretched:  no $\dot\theta$ gives $V$",
            "",
            "Near a singular configuration,",
            "joints must turn very fast.",
        ),
    )
