"""What stands where in the arrays of the elimination for any six revolute joints.

An arm has one or two *ways* of elimination, see `general`. All arrays have rows of eight, which kernels read as lanes
or as numbers.
"""

from __future__ import annotations

from ..layout import Layout
from .form_layout import ANSWER, BRANCH

WIDTH = 8  # lanes
JOINTS = 6
MOST = 16  # solutions, and roots
EQUATIONS = 14  # of Raghavan and Roth; the first six do not see the first joint
STILL = 6
COLUMNS = 4  # rows of eight for the 27 products of (1, cosine, sine) of three joints
NODES = 24  # angles at which the determinant is taken
COEFFICIENTS = 4  # rows of eight: 17 coefficients, and from MISFIT on what the determinants have beside them
MISFIT = 24
MISFITS = 7  # 24 nodes less 17 coefficients

FIGURES = Layout(
    "turned",  # whether the arm is seen from its end
    "degree",  # of the determinant as a trigonometric polynomial, without its constant factor
    "shrink",  # lengths are multiplied by it
    ("before", 12),  # the target's motion as seen in the way's frame is before * motion * after, each a TRANSFORM
    ("after", 12),
    ("lines", 6 * JOINTS),  # direction and point of each joint, in the way's order
    ("fifth", 18),  # the fifth line turned by 0, 120 and 240 degrees about the sixth: three points, three directions
    ("across", 3),  # a unit vector at right angles to the fifth line
    ("order", 3),  # which of the joints 1, 2, 3 (from 0) is the unknown angle, and which are u and v
    ("ahead", 4),  # pairs: by how much u and v are turned on, so that their half tangents are rarely 0 or infinite
)
WAY = Layout(
    ("figures", -(-FIGURES.size // WIDTH)),
    ("triple", EQUATIONS * COLUMNS),  # the side of joints 1, 2, 3: products of (1, c, s) of the unknown, powers of u, v
    ("unity", COLUMNS),  # the number one, written in these products
    ("cosines", NODES // WIDTH),
    ("sines", NODES // WIDTH),
    ("fit", NODES * COEFFICIENTS),  # from determinants at the nodes to coefficients and misfits
)
SOLUTION = Layout(
    ("angles", JOINTS), "position_error", "rotation_error", "pivot", "seen", "roots"
)  # seen in this attempt, from roots
REPORT = Layout(
    "count",  # solutions
    "clear",  # whether the last attempt left no doubt that these are all
    "roots",  # near the unit circle, of the last attempt
    "doubts",  # of these, roots that gave no pose of their own
    "misfit",  # how far determinants are from a polynomial of the degree, against its largest coefficient
    "vanished",  # whether the polynomial was all rounding: every angle is a root, solutions form a continuum
    "steps",  # of the roots
    "attempts",
    "all_roots",  # real and complex
    "imaginary",  # least imaginary part of an angle that is a root [rad]
    "unknown",  # whose angle that is: a joint of the arm
)
OUT = REPORT.size + MOST * SOLUTION.size

ROOM = Layout(
    ("answers", -(-MOST * ANSWER.size // WIDTH)),
    ("target", 2),
    ("equations", 6 * COLUMNS),  # what is left of them: six rows
    ("sides", 6),  # the other side: for each equation its (1, cosine, sine) of the sixth joint
    ("reflections", 2),  # how the sixth joint is taken out of the first six equations
    ("goal", 2),  # the motion that is eliminated, a TRANSFORM
    ("aim", 2),  # the motion that is wanted: the same, or near it
    ("values", NODES // WIDTH),  # determinants
    ("coefficients", COEFFICIENTS),
    ("roots", 3 * MOST // WIDTH),  # real parts, imaginary parts, squares of the last steps
    ("near", 2 * MOST // WIDTH),  # cosines, then sines, of the roots to look at
    ("off", MOST // WIDTH),  # how certain each of them is off the unit circle: real ones are below 1
    ("upper", 54),
    ("lower", 54),
    ("middle", 42),
    ("labels", 6),
    ("vector", 6),
    ("pairs", 2 * JOINTS),  # cosine and sine of each joint
    ("axes", 6 * JOINTS),  # direction and point of each joint at a pose
    ("errors", 3),  # squared, of position and rotation; the least pivot
    ("out", -(-OUT // WIDTH)),  # a REPORT and SOLUTIONs
    ("branch", BRANCH.size),  # eight solutions, as other closed forms have them
)
REFLECTIONS = Layout(("first", STILL), "first_factor", ("second", STILL), "second_factor")
REST = Layout(("triangle", 3), "swapped")  # of the two columns that are taken out; stands behind the goal
