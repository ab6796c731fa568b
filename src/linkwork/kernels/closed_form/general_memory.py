"""Layouts of the arrays of the elimination for any six revolute joints.

An arm has one or two *ways* of elimination, see `general`. All arrays have rows of eight, which kernels read as lanes
or as single numbers.
"""

from __future__ import annotations

from ..layout import Layout
from .form_layout import ANSWER, BRANCH

WIDTH = 8  # lanes
JOINTS = 6
MOST = 16  # largest number of solutions, and of roots
EQUATIONS = 14  # of Raghavan and Roth; the first six do not depend on the first joint
STILL = 6
COLUMNS = 4  # rows of eight for the 27 products of (1, cosine, sine) of three joints
NODES = 24  # angles at which the determinant is evaluated
COEFFICIENTS = 4  # rows of eight: 17 coefficients, and from MISFIT on the residuals of the determinants
MISFIT = 24
MISFITS = 7  # 24 nodes minus 17 coefficients

FIGURES = Layout(
    "turned",  # whether the arm is seen from its end
    "degree",  # of the determinant as a trigonometric polynomial, without its constant factor
    "shrink",  # factor on lengths
    ("before", 12),  # the target's motion in the frame of the way is before * motion * after, each a TRANSFORM
    ("after", 12),
    ("lines", 6 * JOINTS),  # direction and point of each joint, in the order of the way
    ("fifth", 18),  # the fifth line rotated by 0, 120 and 240 degrees about the sixth: three points, three directions
    ("across", 3),  # a unit vector perpendicular to the fifth line
    ("order", 3),  # which of the joints 1, 2, 3 (from 0) is the unknown angle, and which are u and v
    ("ahead", 4),  # pairs: offsets of u and v, so that their half tangents are rarely 0 or infinite
)
WAY = Layout(
    ("figures", -(-FIGURES.size // WIDTH)),
    ("triple", EQUATIONS * COLUMNS),  # the side of joints 1, 2, 3: products of (1, c, s) of the unknown, powers of u, v
    ("unity", COLUMNS),  # the number one, written in these products
    ("cosines", NODES // WIDTH),
    ("sines", NODES // WIDTH),
    ("fit", NODES * COEFFICIENTS),  # maps determinants at the nodes to coefficients and misfits
)
SOLUTION = Layout(
    ("angles", JOINTS), "position_error", "rotation_error", "pivot", "seen", "roots"
)  # attempt that found it, from how many roots
REPORT = Layout(
    "count",  # number of solutions
    "clear",  # whether the last attempt left no doubt that these are all
    "roots",  # near the unit circle, in the last attempt
    "doubts",  # number of these that gave no pose of their own
    "misfit",  # deviation of the determinants from a polynomial of the degree, relative to its largest coefficient
    "vanished",  # whether the polynomial was all rounding: every angle is a root, solutions form a continuum
    "steps",  # of the root iteration
    "attempts",
    "all_roots",  # number of real and complex roots
    "imaginary",  # smallest imaginary part of an angle that is a root [rad]
    "unknown",  # the joint of the arm whose angle that is
)
OUT = REPORT.size + MOST * SOLUTION.size

ROOM = Layout(
    ("answers", -(-MOST * ANSWER.size // WIDTH)),
    ("target", 2),
    ("equations", 6 * COLUMNS),  # the remaining ones: six rows
    ("sides", 6),  # the other side: for each equation its (1, cosine, sine) of the sixth joint
    ("reflections", 2),  # that eliminate the sixth joint from the first six equations
    ("goal", 2),  # the motion that is eliminated, a TRANSFORM
    ("aim", 2),  # the wanted motion: the same, or near it
    ("values", NODES // WIDTH),  # determinants
    ("coefficients", COEFFICIENTS),
    ("roots", 3 * MOST // WIDTH),  # real parts, imaginary parts, squares of the last steps
    ("near", 2 * MOST // WIDTH),  # cosines, then sines, of the roots to try
    ("off", MOST // WIDTH),  # how certain each of them is off the unit circle: real ones are below 1
    ("upper", 54),
    ("lower", 54),
    ("middle", 42),
    ("labels", 6),
    ("vector", 6),
    ("pairs", 2 * JOINTS),  # cosine and sine of each joint
    ("axes", 6 * JOINTS),  # direction and point of each joint at a pose
    ("errors", 3),  # squared, of position and rotation; the smallest pivot
    ("out", -(-OUT // WIDTH)),  # a REPORT and SOLUTIONs
    ("branch", BRANCH.size),  # eight solutions, in the layout of other closed forms
)
REFLECTIONS = Layout(("first", STILL), "first_factor", ("second", STILL), "second_factor")
REST = Layout(("triangle", 3), "swapped")  # of the two eliminated columns; stored after the goal
