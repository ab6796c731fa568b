"""Spatial mechanisms with their closed forms, as `mechanisms` has them for the plane."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

import linkwork as lw
from mechanisms import SIDES, TURN, Array, Mechanism, Sized, model

LOOP = np.linspace(0.0, 2.0 * np.pi, 13)


def points(*parts: Array | float) -> Array:
    """Return points (n, 3) from their coordinates."""
    return np.stack(np.broadcast_arrays(*parts), axis=-1)


def turned(axis: str, angle: float) -> Array:
    """Return the rotation about an axis, as a matrix."""
    c, s, k = np.cos(angle), np.sin(angle), "xyz".index(axis)
    result = np.eye(3)
    i, j = (k + 1) % 3, (k + 2) % 3
    result[[i, j], [i, j]], result[i, j], result[j, i] = c, -s, s
    return result


# Overconstrained rings of revolute joints, immobile by the count of their degrees of freedom


def ring(name: str, size: float, rows: Sequence[tuple[float, float]]) -> Sized:
    """Return a ring of revolute joints; each link has a length along x and a twist about it."""
    b, parent, at, rotation = Sized(name, size), "ground", np.zeros(3), np.eye(3)
    for k, (length, twist) in enumerate(rows[:-1], start=1):
        b.continuous(f"j{k}", f"l{k}", parent=parent, at=at, rotation=rotation)
        parent, at, rotation = f"l{k}", np.array([length, 0.0, 0.0]), turned("x", twist)
    length, twist = rows[-1]
    home = turned("x", -twist)
    b.frame("end", link=parent, at=at, rotation=rotation)
    b.frame("home", link="ground", at=home @ [-length, 0.0, 0.0], rotation=home)
    b.loop("ring", "end", "home", kind="axis")
    return b


def pins_of(rows: Sequence[tuple[float, float]], angles: Sequence[Array]) -> dict[str, Array]:
    """Return the origins of the links of a ring, from the product of its joint transforms."""
    result: dict[str, Array] = {}
    for n, values in enumerate(zip(*angles, strict=True)):
        at, rotation = np.zeros(3), np.eye(3)
        for k, ((length, twist), angle) in enumerate(zip(rows, values, strict=False), start=1):
            result.setdefault(f"l{k}", np.zeros((len(angles[0]), 3)))[n] = at
            rotation = rotation @ turned("z", angle)
            at, rotation = at + rotation @ [length, 0.0, 0.0], rotation @ turned("x", twist)
    return result


def bennett(size: float) -> Mechanism:
    """Return Bennett's ring: lengths proportional to sines of twists; tan(first / 2) tan(second / 2) is constant."""
    one = 0.8
    two = np.arcsin(0.6 * np.sin(one))
    half = np.sin((two + one) / 2.0) / np.sin((two - one) / 2.0) / np.tan(TURN / 2.0)
    pins = pins_of([(1.0, one), (0.6, two)] * 2, [TURN, 2.0 * np.arctan(half), -TURN])
    way = dict(zip(("crank", "coupler", "follower"), pins.values(), strict=True))
    return model(lw.models.bennett(size, 0.6 * size, one), size, {"crank": TURN}, [way])


def by_frames(ring: lw.Linkage) -> lw.Linkage:
    """Return a ring that closes by an axis, with a joint added there so that it closes by a whole frame."""
    (loop,) = ring.loops
    ends = {frame.name: frame.placement for frame in ring.extra_frames}
    b = lw.Builder(ring.name, base="ground")
    for name in ring.joints:
        joint = ring.joint(name)
        b.continuous(name, joint.child, parent=joint.parent, at=joint.placement)
    b.continuous("last", "last", at=ends[loop.first]).frame("end").frame("home", link="ground", at=ends[loop.second])
    return b.loop("ring", "end", "home", kind="full").build()


def bricard(size: float) -> Mechanism:
    """Return Bricard's ring of six joints at right angles: cos a + cos b + cos a cos b = 0, with alternating angles."""
    path = np.linspace(-1.5, 1.5, 13)
    rows = [(1.0, np.pi / 2), (1.0, -np.pi / 2)] * 3
    other = np.arccos(-np.cos(path) / (1.0 + np.cos(path)))
    ways = [pins_of(rows, [path, side * other] * 2 + [path]) for side in SIDES]
    return ring("bricard", size, rows).made({"j1": path}, ways)


def sarrus(size: float) -> Mechanism:
    """Return Sarrus's linkage: two folding legs in planes at right angles move a plate along a straight line."""
    path = np.linspace(0.2, 1.3, 9)
    b = Sized("sarrus", size)
    b.continuous("low1", "low1", axis="-y", at=(1, 0, 0)).continuous("high1", "high1", axis="-y", at=(0.7, 0, 0))
    b.continuous("plate", "plate", axis="-y", at=(0.7, 0, 0)).frame("center", at=(-1, 0, 0))
    b.frame("hinge", at=(-1, 1, 0), rotation=turned("y", np.pi / 2))
    b.continuous("low2", "low2", axis="x", parent="ground", at=(0, 1, 0))
    b.continuous("high2", "high2", axis="x", at=(0, 0.7, 0))
    b.frame("end", at=(0, 0.7, 0), rotation=turned("y", np.pi / 2)).loop("lift", "end", "hinge", kind="axis")
    rise = 0.7 * np.sin(path)
    knees = [points(0.0, 1.0 + side * 0.7 * np.cos(path), rise) for side in SIDES]
    ways = [{"center": points(0.0, 0.0, 2.0 * rise), "high2": knee} for knee in knees]
    return b.made({"low1": path}, ways)


# Shafts and rods


def rssr(size: float) -> Mechanism:
    """Return a crank and a rocker, connected by a rod with ball joints: A cos r + B sin r = C."""
    pivot, crank, rod, rocker = np.array([0.6, 0.5, 0.1]), 0.3, 1.0, 0.7
    b = Sized("rssr", size).continuous("crank", "crank", axis="z")
    b.ball("first", "rod", at=(crank, 0, 0)).frame("rod_end", at=(rod, 0, 0))
    b.continuous("rocker", "rocker", parent="ground", axis="x", at=pivot).frame("pin", at=(0, 0, rocker))
    way = pivot - points(crank * np.cos(TURN), crank * np.sin(TURN), 0.0)
    flat, up = -2.0 * rocker * way[:, 1], 2.0 * rocker * way[:, 2]
    wanted = rod**2 - rocker**2 - (way**2).sum(axis=1)
    ways = []
    for side in SIDES:
        angle = np.arctan2(flat, up) + side * np.arccos(wanted / np.hypot(flat, up))
        ways.append({"pin": pivot + rocker * points(0.0, -np.sin(angle), np.cos(angle))})
    return b.loop("ball", "rod_end", "pin").made({"crank": TURN}, ways, degrees=2, modes=2)


def cardan(size: float) -> Mechanism:
    """Return a universal joint between two shafts; the arms of its cross are perpendicular."""
    bend = 0.6
    b = Sized("cardan", size).continuous("shaft", "shaft", axis="z")
    b.continuous("cross", "cross", axis="x").continuous("yoke", "yoke", axis="y")
    b.frame("arm", at=(0, 0.2, 0)).frame("end", at=(0, 0, 1))
    out = turned("x", bend)
    b.frame("bearing", link="ground", at=out @ [0, 0, 1.0], rotation=out).loop("bearing", "end", "bearing", kind="axis")
    arms = np.cross(out[:, 2], points(np.cos(TURN), np.sin(TURN), 0.0))
    arms *= 0.2 / np.linalg.norm(arms, axis=1, keepdims=True)
    return b.made({"shaft": TURN}, [{"arm": arms}, {"arm": -arms}], modes=2)


def spherical(size: float) -> Mechanism:
    """Return four revolute joints whose axes meet in a point: A cos r + B sin r = C on the sphere."""
    ground, crank, coupler, rocker = 1.2, 0.4, 1.0, 0.9  # arcs
    b = Sized("spherical", size)
    b.continuous("crank", "crank").continuous("coupler", "coupler", rotation=turned("x", crank))
    b.frame("end", at=turned("x", coupler) @ [0, 0, 1.0])
    b.continuous("rocker", "rocker", parent="ground", rotation=turned("x", ground))
    b.frame("rocker_end", at=turned("x", rocker) @ [0, 0, 1.0]).loop("loop", "end", "rocker_end")
    pin = points(np.sin(crank) * np.sin(TURN), -np.sin(crank) * np.cos(TURN), np.cos(crank))
    basis = turned("x", ground)  # the rocker's end is basis @ (sin c sin r, -sin c cos r, cos c)
    x, y, z = (pin @ basis).T
    angles = [
        np.arctan2(x, -y) + side * np.arccos((np.cos(coupler) - z * np.cos(rocker)) / (np.sin(rocker) * np.hypot(x, y)))
        for side in SIDES
    ]
    ends = [points(np.sin(rocker) * np.sin(r), -np.sin(rocker) * np.cos(r), np.cos(rocker)) @ basis.T for r in angles]
    return b.made({"crank": TURN}, [{"end": end} for end in ends], modes=2)


# Platforms


def delta(size: float) -> Mechanism:
    """Return a Delta robot; its platform is at the intersection of three spheres about the arms' ends."""
    base, plate, arm, rod = 0.2, 0.05, 0.25, 0.6
    angles = {f"arm{k}": 0.3 + 0.3 * np.sin(LOOP + k) for k in range(3)}
    b, spheres = Sized("delta", size), []
    for k, values in enumerate(angles.values()):
        around = turned("z", 2.0 * np.pi * k / 3.0)
        at = around @ [base, 0, 0]
        b.continuous(f"arm{k}", f"arm{k}", axis="y", parent="ground", at=at, rotation=around)
        b.universal(f"rod{k}", f"rod{k}", axis="x", second="y", at=(arm, 0, 0)).frame(f"end{k}", at=(0, 0, -rod))
        out = base - plate + arm * np.cos(values)
        spheres.append(points(out, 0.0, -arm * np.sin(values)) @ around.T)
    b.prismatic("x", "px", axis="x", parent="ground").prismatic("y", "py", axis="y")
    b.prismatic("z", "platform", axis="z")
    for k in range(3):
        at = turned("z", 2.0 * np.pi * k / 3.0) @ [plate, 0, 0]
        b.frame(f"hole{k}", link="platform", at=at).loop(f"loop{k}", f"end{k}", f"hole{k}")
    ways = [{"platform": three_spheres(*spheres, rod, side)} for side in SIDES]
    below = {"z": -0.5 * size}
    above = {"z": 0.5 * size} | {f"rod{k}": (np.pi, 0.0) for k in range(3)}
    return b.made(angles, ways, degrees=3, hints=[below, above])


def three_spheres(one: Array, two: Array, three: Array, radius: float, side: float) -> Array:
    """Return the intersection of three equal spheres, above or below the circle through their centres."""
    u, v = two - one, three - one
    w = np.cross(u, v)
    square = (w**2).sum(axis=1, keepdims=True)
    uu, vv = (u**2).sum(axis=1, keepdims=True), (v**2).sum(axis=1, keepdims=True)
    middle = (uu * np.cross(v, w) + vv * np.cross(w, u)) / (2.0 * square)
    height = np.sqrt(radius**2 - (middle**2).sum(axis=1, keepdims=True))
    return one + middle - side * height * w / np.sqrt(square)


def stewart(size: float) -> Mechanism:
    """Return a platform on six legs, driven by leg lengths that follow from a path of the platform."""
    angles = np.pi / 3.0 * np.arange(6)
    pairs = (-1.0) ** np.arange(6)
    feet = points(np.cos(angles + 0.2 * pairs), np.sin(angles + 0.2 * pairs), 0.0)
    pins = 0.6 * points(np.cos(angles - 0.3 * pairs), np.sin(angles - 0.3 * pairs), 0.0)
    centers = points(0.1 * np.cos(LOOP), 0.1 * np.sin(LOOP), 1.0 + 0.1 * np.sin(LOOP))
    tilts = [turned("x", 0.2 * np.sin(a)) @ turned("z", 0.2 * np.cos(a)) for a in LOOP]
    holes = np.array([center + pins @ tilt.T for center, tilt in zip(centers, tilts, strict=True)])
    b = Sized("stewart", size)
    for k, foot in enumerate(feet):
        b.universal(f"foot{k}", f"low{k}", axis="x", second="y", parent="ground", at=foot)
        b.prismatic(f"leg{k}", f"high{k}", axis="z").frame(f"end{k}")
    b.floating("free", "platform", parent="ground")
    for k, pin in enumerate(pins):
        b.frame(f"hole{k}", at=pin).loop(f"loop{k}", f"end{k}", f"hole{k}")
    lengths = {f"leg{k}": np.linalg.norm(holes[:, k] - feet[k], axis=1) for k in range(6)}
    way = {f"hole{k}": holes[:, k] for k in range(6)}
    return b.made(lengths, [way], degrees=6, hints=[{"free": size * centers[0]}])


SPACE: dict[str, Callable[[float], Mechanism]] = {
    "bennett": bennett,
    "bricard": bricard,
    "sarrus": sarrus,
    "RSSR": rssr,
    "cardan": cardan,
    "spherical four-bar": spherical,
    "delta": delta,
    "stewart": stewart,
}
