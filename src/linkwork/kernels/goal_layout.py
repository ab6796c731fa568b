"""The arrays of a body's goals: for each a record of codes, `GOAL`, and numbers, laid out by its kind in `NUMBERS`.

Goals over places that a body stands on, and goals of joints, have items behind their codes and behind their numbers.
"""

from __future__ import annotations

from .layout import Layout

PLACE, POINTING, BEND, ACROSS, DISTANCE, BALANCE, REST, COUPLE = range(8)  # kinds of goals
GOAL = Layout(
    "kind", "frame", "other", "third", "fourth", "mask", "error", "row", "number", "item", "count", "level"
)  # frames or -1; its first error, explicit row, number and item; how many items or directions; its level
(
    AT_KIND, AT_FRAME, AT_OTHER, AT_THIRD, AT_FOURTH, AT_MASK, AT_ERROR, AT_ROW, AT_NUMBER, AT_ITEM, AT_COUNT, AT_LEVEL
) = GOAL.places  # fmt: skip
GOAL_SIZE = GOAL.size


def numbers_of(*fields: str | tuple[str, int]) -> Layout:
    """Return the layout of a goal's numbers: what a metre and a radian weigh, then what its kind needs."""
    return Layout("metres", "radians", *fields)


NUMBERS = {
    PLACE: numbers_of(("target", 12), ("free", 3)),
    POINTING: numbers_of(("point", 3), "nearest", ("axis", 3)),
    BEND: numbers_of(("point", 3)),
    ACROSS: numbers_of(("point", 3), ("normals", 6)),
    DISTANCE: numbers_of(("point", 3), "least", "largest"),
    BALANCE: numbers_of("size", ("ground", 6)),
    REST: numbers_of(),
    COUPLE: numbers_of("value"),
}
AT_METRES, AT_RADIANS, AT_TARGET, AT_FREE = NUMBERS[PLACE].places
_, _, AT_POINT, AT_NEAREST, AT_AXIS = NUMBERS[POINTING].places  # a point stands at the same place in all kinds
_, _, _, AT_NORMALS = NUMBERS[ACROSS].places
_, _, _, AT_LEAST, AT_LARGEST = NUMBERS[DISTANCE].places
_, _, AT_SIZE, AT_GROUND = NUMBERS[BALANCE].places
_, _, AT_VALUE = NUMBERS[COUPLE].places
# What the numbers of items follow
BALANCE_SIZE, REST_SIZE, COUPLE_SIZE = NUMBERS[BALANCE].size, NUMBERS[REST].size, NUMBERS[COUPLE].size
CORNER_SIZE = 3  # a corner's point
REST_ITEM = Layout("kind", "value", "column", "error")
AT_REST_ITEM_KIND, AT_REST_ITEM_VALUE, AT_REST_ITEM_COLUMN, AT_REST_ITEM_ERROR = REST_ITEM.places
REST_NUMBERS = Layout(("gains", 3), ("pose", 4))
AT_GAINS, AT_POSE = REST_NUMBERS.places
REST_ITEM_SIZE, REST_NUMBERS_SIZE = REST_ITEM.size, REST_NUMBERS.size
COUPLE_ITEM = Layout("value", "column")
AT_COUPLE_ITEM_VALUE, AT_COUPLE_ITEM_COLUMN = COUPLE_ITEM.places
COUPLE_ITEM_SIZE = COUPLE_ITEM.size

ROTATION_ROWS = 56  # bits of the mask of a place
ANY_SPIN = 64  # bit of that mask: only where an axis points matters
LOOKING = 1  # mask of a pointing goal: at a point or a frame, not along a direction
PLAIN_REST, WRAPPED_REST, BALL_REST, FIRST_CONE_REST = range(4)  # kinds of items; the last, and more: balls with a cone
