"""Check which of many targets are rigid transforms: the test of `starts.read_goal`, without writing a goal."""

from __future__ import annotations

from . import kernel
from .joint_step import vector
from .lanes import flat, load
from .rotations import cross, dot
from .starts import OVERFLOW, RIGID


@kernel("f8[,,] i8[]", nogil=True)
def rigid_targets(targets, good):
    """Write for each target (4, 4) whether it is a finite rigid transform that is not too far away."""
    numbers = flat(targets)
    for i in range(targets.shape[0]):
        at, flaw = 16 * i, 0.0
        for row in range(3):
            axes, other = vector(numbers, at + 4 * row), vector(numbers, at + 4 * ((row + 1) % 3))
            p = load(numbers, at + 4 * row + 3)
            flaw += (dot(axes, axes) - 1.0) ** 2 + dot(axes, other) ** 2 + 0.0 * (OVERFLOW * p)
        last = vector(numbers, at + 12)
        flaw += dot(last, last) + (load(numbers, at + 15) - 1.0) ** 2
        turn = dot(vector(numbers, at), cross(vector(numbers, at + 4), vector(numbers, at + 8)))
        good[i] = 1 if flaw < RIGID and turn > 0.0 else 0
