"""A short looping motion for every ready-made model: the last pose equals the first.

A motion is a function of the linkage, so it works for a model of any size. It uses closed forms if there are any, key
poses otherwise. The modules it needs are imported only when a motion is made.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ..linkage.linkage import Linkage
from ..transforms import FloatArray
from .animals import LEGS, slither
from .classics import inversor_values, scissor_values
from .closed import FLOWER, flower
from .mechanisms import engine_pose

if TYPE_CHECKING:
    from ..motion.clips import Clip

Motion = Callable[[Linkage], "Clip"]

FPS = 24
GRAVITY = 9.81


def sampled(linkage: Linkage, seconds: float, pose: Callable[[float], FloatArray]) -> Clip:
    """Return the clip of a pose given as a function of the phase, which runs from 0 to 1."""
    from ..motion.clips import Clip

    count = round(seconds * FPS)
    poses = np.stack([pose(k / count) for k in range(count + 1)])
    return Clip(linkage, np.arange(count + 1) / FPS, poses)


def through(*names: str, pause: float = 0.25, stretch: float = 0.75) -> Motion:
    """Return the motion that eases from one named pose to the next, rests there, and ends at the first."""

    def motion(linkage: Linkage) -> Clip:
        from ..motion.clips import interpolate

        keys, time = [], 0.0
        for name in (*names, names[0]):
            keys += [(time, linkage.stored_pose(name)), (time + pause, linkage.stored_pose(name))]
            time += pause + stretch
        return interpolate(linkage, keys[:-1], fps=FPS, kind="ease")

    return motion


def walk_or_wave(linkage: Linkage) -> Clip:
    """Let a human walk if it floats, else wave: with the pelvis held, both feet stay on the ground."""
    return walk(linkage) if "root.z" in linkage.coordinates else wave(linkage)


def wave(linkage: Linkage) -> Clip:
    """Raise the right hand and wave three times."""
    from ..motion.clips import interpolate

    raised = linkage.stored_pose("wave")
    out, back = (linkage.pose({"right_elbow": angle}, base=raised) for angle in ("62deg", "105deg"))
    stand = linkage.stored_pose("stand")
    poses = (stand, stand, back, out, back, out, back, out, stand)
    times = (0.0, 0.2, 0.9, 1.2, 1.5, 1.8, 2.1, 2.4, 3.25)
    return interpolate(linkage, list(zip(times, poses, strict=True)), fps=FPS, kind="ease")


# Angles of a leg over one stride from heel strike: fractions of the stride, then degrees. They are rounded averages of
# level walking. Positive: hip forward, knee bent, ankle down, toes up.
STRIDE = {
    "hip.ry": ((0.0, 0.15, 0.3, 0.5, 0.6, 0.72, 0.85), (-28, -22, -6, 12, 4, -18, -30)),
    "knee": ((0.0, 0.13, 0.3, 0.4, 0.5, 0.6, 0.72, 0.85, 0.95), (4, 17, 8, 5, 10, 35, 60, 30, 5)),
    "ankle.first": ((0.0, 0.07, 0.2, 0.4, 0.5, 0.61, 0.72, 0.85), (0, 6, -4, -10, -6, 18, 6, 0)),
    "toes": ((0.0, 0.4, 0.5, 0.58, 0.68, 0.8), (0, 2, 20, 35, 6, 0)),
}
STRIDE_SECONDS = 1.125


def walk(linkage: Linkage) -> Clip:
    """Walk on the spot, two strides, with the lower foot on the ground all the time."""
    from scipy.interpolate import CubicSpline

    from ..motion.clips import Clip

    strides, seconds = 2, 2 * STRIDE_SECONDS
    phases = strides * np.arange(round(seconds * FPS) + 1) / round(seconds * FPS)
    poses = np.repeat(linkage.stored_pose("stand")[None], len(phases), axis=0)
    column = linkage.coordinate_index
    for side, sign, shift in (("left", 1.0, 0.0), ("right", -1.0, 0.5)):
        for name, (fractions, degrees) in STRIDE.items():
            curve = CubicSpline([*fractions, 1.0], np.radians([*degrees, degrees[0]]), bc_type="periodic")
            k = column[f"{side}_{name}"]
            poses[:, k] = np.clip(curve((phases + shift) % 1.0), linkage.lower[k], linkage.upper[k])
        swing = np.cos(2.0 * math.pi * (phases + shift))  # the arm swings opposite to the leg of its side
        poses[:, column[f"{side}_shoulder.ry"]] = math.radians(20.0) * swing + math.radians(3.0)
        poses[:, column[f"{side}_elbow"]] = math.radians(22.0) - math.radians(12.0) * swing
        poses[:, column[f"{side}_hip.rx"]] = sign * math.radians(-1.5)
    turning = np.cos(2.0 * math.pi * phases)
    poses[:, column["chest.rz"]] = math.radians(7.0) * turning
    poses[:, column["head.rz"]] = math.radians(-7.0) * turning
    soles = [f"{side}_{part}" for side in ("left", "right") for part in ("heel", "ball", "toe")]
    frames = linkage.forward(poses)
    poses[:, column["root.z"]] -= np.min([frames[sole][:, 2, 3] for sole in soles], axis=0)
    return Clip(linkage, np.arange(len(phases)) / FPS, poses)


def trot(linkage: Linkage) -> Clip:
    """Trot on the spot: diagonal paws together, on the ground while they move back and lifted while they move on."""
    stand = linkage.stored_pose("stand")
    strides, seconds = 3, 2.25

    def pose(phase: float) -> FloatArray:
        angle = 2.0 * math.pi * strides * phase
        nod = math.radians(4.0) * math.cos(2.0 * angle)
        values = {"neck.ry": math.radians(14.0) + nod, "head.first": -nod, "tail.second": 0.3 * math.sin(angle)}
        for leg in LEGS:
            x, z = leg.end
            for side in ("left", "right"):
                here = angle + (math.pi if (side == "left") == (leg.kind == "hind") else 0.0)
                lift = max(0.0, -math.sin(here)) ** 2
                angles = leg.reaching(x + 0.07 * math.cos(here), z + 0.07 * lift, 0.7 * lift)
                names = (f"{leg.joints[0]}.second", *leg.joints[1:])
                values |= {f"{side}_{leg.kind}_{name}": v for name, v in zip(names, angles, strict=True)}
        return linkage.pose(values, base=stand)

    return sampled(linkage, seconds, pose)


def slithering(linkage: Linkage) -> Clip:
    """Slither for one wave."""
    return sampled(linkage, 2.0, lambda phase: slither(linkage, phase))


TURNS = {"mercury": 8, "venus": 3, "earth": 2, "mars": 1}


def orbiting(linkage: Linkage) -> Clip:
    """Let two years pass: whole numbers of orbits near nature's 8.3, 3.25, 2 and 1.06, so that the loop closes.

    The moon, which would go round 25 times, is slowed to 8 so that the eye can follow it.
    """
    start, turns = linkage.stored_pose("spread"), np.full(linkage.nq, 8)  # turns of the moon, and of each planet's spin
    for name, orbits in TURNS.items():
        turns[linkage.coordinate_index[f"{name}_orbit"]] = orbits
    return sampled(linkage, 4.0, lambda phase: start + 2.0 * math.pi * turns * phase)


def riding(linkage: Linkage) -> Clip:
    """Turn the wheel once."""
    return sampled(linkage, 4.0, lambda phase: linkage.pose(wheel=2.0 * math.pi * phase))


def hopping(linkage: Linkage) -> Clip:
    """Hop four times: free fall in the air, half a swing of the spring on the ground, one speed where they meet."""
    hops, seconds, depth = 4, 3.0, 0.18
    period = seconds / hops
    # Flight takes 2 v / g and contact pi depth / v, together one period: a quadratic equation for the speed v.
    speed = GRAVITY * (period + math.sqrt(period**2 - 8.0 * math.pi * depth / GRAVITY)) / 4.0
    flight = 2.0 * speed / GRAVITY

    def pose(phase: float) -> FloatArray:
        time = (phase * seconds) % period
        values = {"lean": math.radians(5.0) * math.sin(2.0 * math.pi * phase), "hop": 0.0, "spring": 0.0, "travel": 0.0}
        if time < flight:
            values["hop"] = speed * time - GRAVITY * time**2 / 2.0
        else:
            values["spring"] = -depth * math.sin(math.pi * (time - flight) / (period - flight))
        return linkage.clamp(linkage.pose(values))  # rounding may exceed a limit at the lowest point

    return sampled(linkage, seconds, pose)


def running(linkage: Linkage) -> Clip:
    """Turn the crank twice, every rod and piston in its place."""
    return sampled(linkage, 2.0, lambda phase: engine_pose(linkage, 4.0 * math.pi * phase))


def cranking(linkage: Linkage) -> Clip:
    """Turn the crank of a mechanism with closed loops once round; if it cannot, to and fro between its ends."""
    from ..explain.singular_positions import singular_positions
    from ..motion.drive import drive

    start = linkage.stored_pose("start")
    place = linkage.coordinate_index["crank"]
    ends = [one.value for one in singular_positions(linkage, "crank", start=start) if one.kind == "dead-centre"]
    phases = np.linspace(0.0, 1.0, 2 * FPS + 1)
    if not ends:
        turns = 2.0 * math.pi * phases
    else:
        room = min((end - start[place] for end in ends), key=abs)
        turns = 0.95 * room * np.sin(2.0 * math.pi * phases)
    return drive(linkage, "crank", start[place] + turns, start=start, fps=FPS)


def turning_to_and_fro(joint: str) -> Motion:
    """Return the motion that turns a joint once round and back, since one turn of a gear may not close the loop."""

    def motion(linkage: Linkage) -> Clip:
        begin = linkage.stored_pose("start")[linkage.coordinate_index[joint]]
        return sampled(
            linkage, 4.0, lambda phase: linkage.pose({joint: begin + math.pi * (1.0 - math.cos(2.0 * math.pi * phase))})
        )

    return motion


def turning_once(joint: str) -> Motion:
    """Return the motion that turns a joint once round; coupled joints follow."""
    return lambda linkage: sampled(linkage, 2.0, lambda phase: linkage.pose({joint: 2.0 * math.pi * phase}))


def inverting(linkage: Linkage) -> Clip:
    """Swing the crank of an inversor to and fro; its pen goes up and down its line."""
    ends = {frame.name: float(frame.placement[0, 3]) for frame in linkage.extra_frames}
    arm, side, crank = ends["corner1"], ends["pen"], float(linkage.joint("crank").placement[0, 3])
    most = float(linkage.stored_pose("up")[0])

    def pose(phase: float) -> FloatArray:
        return linkage.pose(inversor_values(1.5 * most * math.sin(2.0 * math.pi * phase), arm, side, crank))

    return sampled(linkage, 4.0, pose)


def rising(linkage: Linkage) -> Clip:
    """Let scissors rise and sink again."""
    stages = len(linkage.loops)
    length = next(float(frame.placement[0, 3]) for frame in linkage.extra_frames if frame.name == "top")
    low, high = (math.acos(linkage.stored_pose(name)[0] / length) for name in ("low", "high"))

    def pose(phase: float) -> FloatArray:
        angle = low + (high - low) * (1.0 - math.cos(2.0 * math.pi * phase)) / 2.0
        return linkage.pose(scissor_values(stages, angle, length))

    return sampled(linkage, 4.0, pose)


def carrying(frame: str, radius: float) -> Motion:
    """Return the function that moves the platform of a parallel robot in a circle, up and down, by its legs.

    Args:
        frame: A frame of the platform.
        radius: Radius of the circle, as a share of the robot's size.
    """

    def motion(linkage: Linkage) -> Clip:
        from ..motion.clips import Clip
        from ..solvers.batch import solve_batch

        ready, times = linkage.stored_pose("ready"), np.arange(4 * FPS + 1) / FPS
        phase = 2.0 * math.pi * times / times[-1]
        targets = np.repeat(linkage.forward(ready, frame=frame)[None], len(times), axis=0)
        flat = linkage.name == "five_bar"
        way = [np.sin(phase), np.sin(2.0 * phase) / 2.0 - flat, np.zeros_like(phase) if flat else np.cos(phase) - 1.0]
        targets[:, :3, 3] += radius * linkage.loop_size * np.stack(way, axis=1)
        turning = linkage.nv - 3 * len(linkage.loops) >= 6
        found = solve_batch(
            linkage, frame, targets if turning else targets[:, :3, 3], orientation=turning, start=ready, progress=False
        )
        return Clip(linkage, times, found.q)

    return motion


def tracing(linkage: Linkage) -> Clip:
    """Let the tracer of a pantograph follow a flower; its pen draws it larger."""
    from ..solvers.closed_forms import two_link_angles

    ready = linkage.stored_pose("ready")
    center = linkage.forward(ready, frame="tracer")[:2, 3]
    first, second = (float(linkage.joint("arm").placement[0, 3]), float(linkage.extra_frames[-1].placement[0, 3]))

    def pose(phase: float) -> FloatArray:
        turn, bend = two_link_angles(first, second, center + flower(phase, FLOWER * second))
        return linkage.pose(shoulder=turn, elbow=bend, arm=bend, link=math.pi - bend)

    return sampled(linkage, 4.0, pose)
