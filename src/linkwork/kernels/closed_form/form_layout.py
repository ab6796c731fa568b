"""The arrays of a closed form for six joints: the arm as lines, a goal, branches, and answers.

    codes     CODES
    numbers   NUMBERS: first the data for solving, then the arm itself, for checking every answer
    signs     in lanes: the roots to take, see `solve_six`
    goal      in lanes: GOAL
    found     in lanes: BRANCH for each branch
    answers   ANSWER for each solution

Joints are *solved* in an order and sense of their own: an arm may be seen from its end, and parallel axes are made to
point the same way. `place` and `sense` map back to the arm's own joints.
"""

from __future__ import annotations

from .. import inner, part
from ..joint_step import TRANSFORM, sine_cosine, vector
from ..lanes import fill, load, store
from ..layout import Layout
from .angles import atan2

JOINTS, BRANCHES = 6, 8
WRIST, PARALLEL = 0, 1  # families

LINE = Layout(("direction", 3), ("point", 3))
OWN_LINE = Layout(("direction", 3), ("point", 3), ("squares", 3), ("products", 3))  # of x, y and z; xy, yz and zx
CODES = Layout(
    "family",
    "backwards",  # whether the arm is seen from its end
    ("place", JOINTS),  # of each of the arm's joints in the order of solving
    ("slides", JOINTS),  # which joints are prismatic, in the order of solving
    "last",  # whether the last of the three positioning joints is found first, instead of the first
    "first_sphere",  # whether that joint brings its point onto a sphere, instead of a plane
    "second_sphere",  # the same for the joint found next
    "square",  # whether consecutive axes of the wrist are perpendicular
    "polish",  # largest number of Newton steps
    "level",  # whether parallel axes of the arm itself are parallel to rounding
    "held",  # number of the arm's last joints that must stay at zero, since they do not exist
    "merged",  # whether branches may give the same solution, and must be compared
)
# Constants of parallel axes, in the plane perpendicular to them: the vector from the fourth axis to the centre; the
# third joint with both links in line, a pair and an angle; their lengths; the direction of the first, a pair and an
# angle; whether a length is zero, so that any angle is a solution; and of the fifth joint,
# ``a cos + b sin = level - leaning``
PLANE = Layout(
    ("hand", 2),
    ("straight", 2),
    "bend",
    "upper_length",
    "fore_length",
    ("ahead", 2),
    "toward",
    "free",
    "leaning",
    ("middle", 2),  # a and b, their length squared, and the angle between the two roots
    "square",
    "between",
    ("axes", 6),  # positions of the arm's own parallel axes
)
NUMBERS = Layout(
    ("solved", JOINTS * LINE.size),  # lines, in the order of solving
    ("centre", 3),  # a point that the last joints do not move
    ("first", 3),  # normal of the plane, or centre of the sphere, of the joint found first
    ("second", 3),  # the same for the next joint
    ("across", 3),  # a unit vector perpendicular to the last axis
    ("aside", 3),  # and one perpendicular to the parallel axes
    ("plane", PLANE.size),  # constants of parallel axes
    ("sense", JOINTS),  # -1 for a joint solved in the opposite sense
    "extent",  # squared size of the arm
    "unreach",  # reciprocal of a length that no two points of the arm exceed
    "coarse",  # squared error, relative to the squared size, up to which an answer is polished
    "floor",  # smallest distance of roots that are complex or nearly so, as squared sine; for polishing
    ("own", JOINTS * OWN_LINE.size),  # the arm's own lines, in this order and sense; may be slightly off its family
    ("lines", JOINTS * LINE.size),  # of the arm itself, in its own order
    ("tip", TRANSFORM.size),
    ("untip", TRANSFORM.size),  # the inverse of the tip
    ("scale", JOINTS),  # motion of a joint per unit of its value
    ("unscale", JOINTS),  # and its inverse, in the sense of solving
    ("lower", JOINTS),
    ("upper", JOINTS),
    ("middle", JOINTS),  # of the limits: the copy of an angle nearest to it is within them, if any is
    ("period", JOINTS),  # a whole turn in values; if there is none, a huge number
    ("frequency", JOINTS),  # reciprocal of the period
)
GOAL = Layout(
    ("target", TRANSFORM.size),
    ("motion", TRANSFORM.size),  # the product of the solved joints' motions
    "flaw",  # half the squared deviation of the target's z axis from the cross product of the other two
    ("home", JOINTS),  # angles and travels of the solved joints where any value is a solution
)
BRANCH = Layout(
    ("amounts", JOINTS),  # of the solved joints: angles, up to whole turns, or travels
    ("same", 3),  # of each root: DISTINCT and so on
    ("miss", 3),  # how far each is from real: lengths, for spheres lower bounds of these; for the wrist, cosines
    ("values", JOINTS),  # of the arm's joints
    "position",  # squared errors
    "rotation",
)
# The two roots: both exist; there is only one; both, very close; they coincide; every value is a root
DISTINCT, SINGLE, CLOSE, DOUBLE, FREE = 0.0, 1.0, 2.0, 3.0, 4.0
ANSWER = Layout(("values", JOINTS), "position", "rotation", "same", "away")


@inner
def line(numbers, at, joint):
    """Return the direction and a point of a joint's line; the lines begin at `at`."""
    here = at + LINE.size * joint
    return vector(numbers, here + LINE.direction), vector(numbers, here + LINE.point)


@inner
def filled(memory, v):
    """Return a vector in the type that the memory holds: numbers, or lanes."""
    return fill(memory, v[0]), fill(memory, v[1]), fill(memory, v[2])


@inner
def columns(memory, at):
    """Return the axes and the origin of a transform."""
    a = at + TRANSFORM.axes
    return vector(memory, a), vector(memory, a + 3), vector(memory, a + 6), vector(memory, at + TRANSFORM.origin)


@inner
def amount(slides, pair):
    """Return the angle of a pair, or the travel of a prismatic joint."""
    if slides:
        return pair[0]
    return atan2(pair[1], pair[0])


@inner
def put_amounts(found, amounts):
    """Store the angles, or travels, of the six solved joints."""
    for joint in range(JOINTS):
        store(found, BRANCH.amounts + joint, amounts[joint])


@inner
def note(found, stage, miss, same):
    """Store the miss and the multiplicity of one of the three roots."""
    store(found, BRANCH.miss + stage, miss)
    store(found, BRANCH.same + stage, same)


@part
def pair_at_home(goal, joint):
    """Return the pair of a solved joint at its home value."""
    sine, cosine = sine_cosine(load(goal, GOAL.home + joint))
    return cosine, sine
