"""What stands in the arrays of a closed form for six joints: the arm as lines, a goal, branches, and answers.

    codes     CODES
    numbers   NUMBERS: first what the family is solved with, then the arm itself, for the check of every answer
    signs     by lane: which roots are taken, see `solve_six`
    goal      by lane: GOAL
    found     by lane: BRANCH for each branch
    answers   ANSWER for each solution

Joints are *solved* in an order and sense of their own: an arm may be seen from its end, and parallel axes are made to
point the same way. `place` and `sense` lead back to the arm's own joints.
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
    ("place", JOINTS),  # of each of the arm's joints in the order in which they are solved
    ("slides", JOINTS),  # which joints are prismatic, in the order in which they are solved
    "last",  # of three that reach, whether the last is found first, and not the first
    "first_sphere",  # whether that one brings its point onto a sphere, and not onto a plane
    "second_sphere",  # the same of the joint that is found next
    "square",  # whether the axes of the wrist are at right angles, each to the next
    "polish",  # steps of Newton's method at most
    "level",  # whether parallel axes of the arm itself are parallel to rounding
    "held",  # how many of the arm's last joints must stay at zero, since they are none
    "merged",  # whether branches may end in the same solution, and must be compared
)
# Of parallel axes, what no goal changes: in the plane across them the way from the fourth axis to the centre; the third
# joint where both links are in line, a pair and an angle; their lengths; where the first one points, a pair and an
# angle; whether a length is zero, so that any angle serves; and of the fifth joint, ``a cos + b sin = level - leaning``
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
    ("axes", 6),  # where the arm's own parallel axes are
)
NUMBERS = Layout(
    ("solved", JOINTS * LINE.size),  # lines, in the order in which they are solved
    ("centre", 3),  # a point that the last joints do not move
    ("first", 3),  # normal of the plane, or centre of the sphere, of the joint found first
    ("second", 3),  # the same of the next one
    ("across", 3),  # a unit vector at right angles to the last axis
    ("aside", 3),  # and one at right angles to parallel axes
    ("plane", PLANE.size),  # that of parallel axes
    ("sense", JOINTS),  # -1 where a joint is solved the other way round
    "extent",  # size of the arm, squared
    "unreach",  # one over a length that no point of the arm is farther from another
    "coarse",  # squared error, as a share of the squared size, up to which an answer is polished
    "floor",  # of roots that are not real, or nearly so: how far apart they are put, as squared sines; for polishing
    ("own", JOINTS * OWN_LINE.size),  # the arm's own lines, in that order and sense; it may be a little off its family
    ("lines", JOINTS * LINE.size),  # of the arm itself, in its own order
    ("tip", TRANSFORM.size),
    ("untip", TRANSFORM.size),  # the inverse of the tip
    ("scale", JOINTS),  # how much a joint moves for its value
    ("unscale", JOINTS),  # and how much the value changes for that, in the sense in which it is solved
    ("lower", JOINTS),
    ("upper", JOINTS),
    ("middle", JOINTS),  # of the limits: the copy of an angle nearest to it is within them, if any is
    ("period", JOINTS),  # a whole turn, in values; where there is none, a number beyond all
    ("frequency", JOINTS),  # one over that
)
GOAL = Layout(
    ("target", TRANSFORM.size),
    ("motion", TRANSFORM.size),  # what the solved joints make together
    "flaw",  # half the squared length by which the target's z axis is not the product of the other two
    ("home", JOINTS),  # angles and travels of the solved joints that are chosen where any would do
)
BRANCH = Layout(
    ("amounts", JOINTS),  # of the solved joints: angles, whole turns aside, or travels
    ("same", 3),  # of each root: DISTINCT and so on
    ("miss", 3),  # by how much each is not there: lengths, for spheres no more than these; of the wrist, cosines
    ("values", JOINTS),  # of the arm's joints
    "position",  # squared errors
    "rotation",
)
# Of the two roots: both; there is only one; both, very close; two in one; every value is one
DISTINCT, SINGLE, CLOSE, DOUBLE, FREE = 0.0, 1.0, 2.0, 3.0, 4.0
ANSWER = Layout(("values", JOINTS), "position", "rotation", "same", "away")


@inner
def line(numbers, at, joint):
    """Return the direction and a point of a joint's line; lines stand from `at` on."""
    here = at + LINE.size * joint
    return vector(numbers, here + LINE.direction), vector(numbers, here + LINE.point)


@inner
def filled(memory, v):
    """Return a vector as what the memory holds: numbers, or lanes."""
    return fill(memory, v[0]), fill(memory, v[1]), fill(memory, v[2])


@inner
def columns(memory, at):
    """Return the axes and the origin of a transform."""
    a = at + TRANSFORM.axes
    return vector(memory, a), vector(memory, a + 3), vector(memory, a + 6), vector(memory, at + TRANSFORM.origin)


@inner
def amount(slides, pair):
    """Return the angle of a pair, or the travel of a slide."""
    if slides:
        return pair[0]
    return atan2(pair[1], pair[0])


@inner
def put_amounts(found, amounts):
    """Keep the angles, or travels, of the six solved joints."""
    for joint in range(JOINTS):
        store(found, BRANCH.amounts + joint, amounts[joint])


@inner
def note(found, stage, miss, same):
    """Keep what is known of one of the three roots."""
    store(found, BRANCH.miss + stage, miss)
    store(found, BRANCH.same + stage, same)


@part
def pair_at_home(goal, joint):
    """Return the pair of a solved joint where it is at home."""
    sine, cosine = sine_cosine(load(goal, GOAL.home + joint))
    return cosine, sine
