"""The arrays of a body's goals: for each a record of codes, `GOAL`, and an aim, numbers as its kind has in `AIMS`.

Goals over places that a body stands on, and goals of joints, have items behind their codes and behind their numbers.
"""

from __future__ import annotations

from .layout import Layout

GOAL = Layout(
    "kind", "frame", "other", "third", "fourth", "mask", "error", "row", "number", "item", "count", "level"
)  # frames or -1; its first error, explicit row, number and item; how many items or directions; its level

AIM = Layout("metres", "radians")  # of every goal: what a metre and a radian weigh; then follows what its kind needs
PLACE_AIM = Layout(*AIM.names, ("target", 12), ("free", 3))
POINTING_AIM = Layout(*AIM.names, ("point", 3), "nearest", ("axis", 3))
BEND_AIM = Layout(*AIM.names, ("point", 3))
ACROSS_AIM = Layout(*AIM.names, ("point", 3), ("normals", 6))
DISTANCE_AIM = Layout(*AIM.names, ("point", 3), "least", "largest")
BALANCE_AIM = Layout(*AIM.names, "scale", ("ground", 6))
COUPLE_AIM = Layout(*AIM.names, "value")
DEXTERITY_AIM = Layout(*AIM.names, "enough", "best", "arm", "rank")
AVOID_AIM = Layout(*AIM.names, "wanted")  # the distance that is aimed at
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
AVOID_ITEM = Layout("code", "number")  # where its scene begins, in both tables; then the frames of the scene
CORNER_SIZE = 3  # a corner's point

BY_CONDITION = 64  # bit of the mask of dexterity: the smallest half axis over the largest, not their product
WORLD_AXES = 64  # bit of the mask of a range: along the axes of the world, not of the target
ROTATION_ROWS = 56  # bits of the mask of a place
ANY_SPIN = 64  # bit of that mask: only where an axis points matters
LOOKING = 1  # mask of a pointing goal: at a point or a frame, not along a direction
PLAIN_REST, WRAPPED_REST, BALL_REST, FIRST_CONE_REST = range(4)  # kinds of items; the last, and more: balls with a cone
