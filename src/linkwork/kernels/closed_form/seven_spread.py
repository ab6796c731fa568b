"""All poses of seven-joint arms at many angles of the held joint, spread over the arcs where joint c can reach.

The geometry is in `seven`. Only poses within limits are written, from which `spread` then picks.
"""

from __future__ import annotations

from .. import inner, kernel, part
from ..joint_step import sine_cosine, vector
from ..lanes import beyond, bits, cells, flat, load, store
from .seven import ARC, ARM, GOAL, JOINTS, LIMIT, angle_near_middle, branch, put_arc, put_goal, within
from .seven_answers import WIDTH, arc_angle, arc_of, place_of

POSES = 8  # per angle


@inner
def inside(arm, joint, pair):
    """Return the lanes in which a pair is within the limits of a joint."""
    at = ARM.limits + LIMIT.size * joint
    along = pair[0] * load(arm, at + LIMIT.middle_cosine) + pair[1] * load(arm, at + LIMIT.middle_sine)
    return along >= load(arm, at + LIMIT.half_cosine)


@part
def put_branch(arm, goal, held, pose, values):
    """Write the values of one of the eight poses, in lanes; return which of them are poses within limits, as bits."""
    elbow, side, flip = 1.0 - 0.5 * (pose & 4), 1.0 - (pose & 2), 1.0 - 2.0 * (pose & 1)
    pairs, roots = branch(arm, goal, held, elbow, side, flip)
    good = (roots[0] >= 0.0) & (roots[1] >= 0.0) & (roots[2] >= 0.0)
    for joint in range(JOINTS):
        good = good & inside(arm, joint, pairs[joint])
    found = bits(good)
    if found != 0:
        for joint in range(JOINTS):
            store(values, joint, within(arm, joint, angle_near_middle(arm, joint, pairs[joint])))
    return found


@kernel("f8[] f8[,] f8[] f8[,] f8[] i8[]", nogil=True)
def seven_spread(arm, tries, targets, memory, values, counts):
    """Write the poses of targets (m * 16,) within limits, at shares of the arcs of each: values (m * c * 7,).

    Args:
        arm: The arm: ARM.
        tries: Shares and sides of the arcs, eight to a row, in alternating rows, shape (2 r, 8).
        targets: The targets, rigid transforms.
        memory: Workspace of lanes, see `spread_room`.
        values: Receives the chain's values: at most c poses of each target, in the order of the tries.
        counts: Receives the number of poses of each target, shape (m,).
    """
    numbers, goal, out, shares, t = cells(arm), cells(memory), cells(values), cells(tries), cells(targets)
    arc, found = beyond(goal, GOAL.size), beyond(goal, GOAL.size + ARC.size)
    single = beyond(flat(memory), WIDTH * (GOAL.size + ARC.size))
    room = values.size // (JOINTS * counts.size)
    for problem in range(counts.size):
        at, count, row = 16 * problem, 0, 0
        rows = vector(t, at), vector(t, at + 4), vector(t, at + 8)
        put_goal(numbers, rows, (load(t, at + 3), load(t, at + 7), load(t, at + 11)), goal)
        put_arc(numbers, goal, arc)
        while row < tries.shape[0] // 2 and count < room:
            angle = arc_angle(numbers, arc_of(arc, 0, 1), load(shares, 2 * row), load(shares, 2 * row + 1))
            s, c = sine_cosine(angle)
            for pose in range(POSES):
                there = put_branch(numbers, goal, (c, s), pose, found)
                for lane in range(WIDTH):
                    if (there >> lane) & 1 and count < room:
                        for joint in range(JOINTS):
                            place = JOINTS * (room * problem + count) + place_of(numbers, joint)
                            store(out, place, load(single, WIDTH * joint + lane))
                        count += 1
            row += 1
        counts[problem] = count


def spread_room() -> tuple[int, int]:
    """Return the shape of the workspace."""
    return GOAL.size + ARC.size + JOINTS, WIDTH
