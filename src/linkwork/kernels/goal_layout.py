"""Arrays of a body's goals: for each goal a record of codes, `GOAL`, and its numbers, laid out by kind in `AIMS`.

Some kinds (balance, joint goals, avoidance) have a list of items after their codes and after their numbers.
"""

from __future__ import annotations

from .layout import Layout

GOAL = Layout(
    "kind", "frame", "other", "third", "fourth", "mask", "error", "row", "number", "item", "count", "level"
)  # frame indices or -1; offsets of its first error, explicit row, number and item; item or direction count; level

AIM = Layout("metres", "radians")  # common to all kinds: weights of a metre and a radian; then the fields of the kind
PLACE_AIM = Layout(*AIM.names, ("target", 12), ("free", 3))
POINTING_AIM = Layout(*AIM.names, ("point", 3), "nearest", ("axis", 3))
BEND_AIM = Layout(*AIM.names, ("point", 3))
ACROSS_AIM = Layout(*AIM.names, ("point", 3), ("normals", 6))
DISTANCE_AIM = Layout(*AIM.names, ("point", 3), "least", "largest")
BALANCE_AIM = Layout(*AIM.names, "scale", ("ground", 6))
COUPLE_AIM = Layout(*AIM.names, "value")
DEXTERITY_AIM = Layout(*AIM.names, "enough", "best", "arm", "rank")
AVOID_AIM = Layout(*AIM.names, "wanted")  # the distance to keep [m]
RANGE_AIM = Layout(*AIM.names, ("target", 12), ("low", 6), ("high", 6))
AIMS = (
    PLACE_AIM,
    POINTING_AIM,
    BEND_AIM,
    ACROSS_AIM,
    DISTANCE_AIM,
    BALANCE_AIM,
    AIM,
    COUPLE_AIM,
    RANGE_AIM,
    DEXTERITY_AIM,
    AVOID_AIM,
)
# Kinds of goals
PLACE, POINTING, BEND, ACROSS, DISTANCE, BALANCE, REST, COUPLE, RANGE, DEXTERITY, AVOID = range(len(AIMS))

REST_ITEM = Layout("kind", "value", "column", "error")
REST_NUMBERS = Layout(("gains", 3), ("pose", 4))
COUPLE_ITEM = Layout("value", "column")
AVOID_ITEM = Layout("code", "number")  # offsets of the scene in the tables of codes and numbers; its frames follow
CORNER_SIZE = 3  # coordinates of a support point

BY_CONDITION = 64  # bit of the mask of dexterity: the ratio of the smallest half axis to the largest, not their product
WORLD_AXES = 64  # bit of the mask of a range: intervals are along the axes of the world, not of the target
ROTATION_ROWS = 56  # bits of the mask of a place goal for its rotation rows
ANY_SPIN = 64  # bit of the same mask: the frame may spin about its axis; only the axis direction counts
LOOKING = 1  # mask of a pointing goal: look at a point or frame, not along a direction
PLAIN_REST, WRAPPED_REST, BALL_REST, FIRST_CONE_REST = range(4)  # kinds of items; from the last on: balls with a cone
