"""Linkages for contract tests of files: all joints, shapes, odd names and odd numbers that a file must keep."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

import linkwork as lw
from linkages import JOINTS, OBLIQUE, one_joint, random_rotation, random_transform, random_tree
from linkwork.linkage.joints import Articulation
from linkwork.transforms import transform

ODD_NAMES = (
    "yes",
    "null",
    "1.0",
    "1e5",
    "~",
    "a: b",
    "- c",
    "#d",
    "two\nlines",
    "größe 😀",
    '"q"',
    "\0\x7f",
    " ",
    "x" * 2000,
)
ODD_FLOATS = (0.1, 1e-5, 1e300, -0.0, 5e-324, 2.2250738585072014e-308, 1 / 3, 1e15, 1e16, 123456789.0, -1e22)


def bits(linkage: lw.Linkage) -> object:
    """Return all data of a linkage in a form in which 0.0 and -0.0 differ."""
    visuals = [
        [(repr(v.shape), v.placement.tobytes(), repr(v.color), v.role) for v in link.visuals] for link in linkage.nodes
    ]
    return (
        linkage.name,
        [(link.name, link.matrix.tobytes(), weight(link.inertia)) for link in linkage.nodes],
        visuals,
        [(j.name, j.parent, j.child, repr(j.articulation), j.placement.tobytes(), repr(j.mimic)) for j in linkage.arcs],
        [(frame.name, frame.link, frame.placement.tobytes()) for frame in linkage.extra_frames],
        linkage.loops,
        [(c.name, c.follower, repr(c.drivers), repr(c.phase), repr(c.offset), c.curve) for c in linkage.couplings],
        [(name, pose.tobytes()) for name, pose in linkage.poses.items()],
    )


def weight(inertia: lw.Inertia | None) -> object:
    return inertia and (repr(inertia.mass), inertia.center.tobytes(), inertia.matrix.tobytes())


def firm_pose(linkage: lw.Linkage, rng: np.random.Generator) -> np.ndarray:
    """Return a random pose whose quaternions have unit length to the last bit."""
    while True:
        q = linkage.pose(linkage.random_pose(rng))
        if linkage.pose(q).tobytes() == q.tobytes():
            return q


def posed(linkage: lw.Linkage, seed: int = 0) -> lw.Linkage:
    """Return a linkage with two stored poses, one of them random within its limits."""
    rng = np.random.default_rng(seed)
    return linkage.replace(poses={"neutral": linkage.neutral(), "any": firm_pose(linkage, rng)})


def every_shape() -> lw.Linkage:
    """Return links with every kind of shape: placed, coloured, for collision, shared and equal."""
    shared = lw.Capsule(0.1, 0.5)
    points = [[0.0, 0.1, -0.0], [1e-5, 1e300, 5e-324], [1.0, 2.0, 3.0]]
    place = random_transform(np.random.default_rng(3))
    shapes = [
        lw.Visual(lw.Box((0.1, 2.0, 1e-5)), place, (0.25, 1.0, 1 / 3)),
        lw.Visual(lw.Sphere(0.1), role="collision"),
        lw.Visual(shared, (0.0, -0.0, 1.0)),
        lw.Cylinder(1e300, 5e-324),
        lw.Polyline(points, closed=True),
        lw.Polyline([[0, 0, 0], [0, 0, 1]]),
        lw.Mesh("meshes/hand: 1.stl", (0.001, 0.001, 0.001)),
        lw.Visual(lw.HalfSpace(), place, role="collision"),
        lw.Visual(lw.Hull([[0, 0, 1e-5], [1 / 3, 0, 0], [0, 0.1, 0], [0, 0, 0.3]]), role="collision"),
        lw.TriangleMesh(points, [[0, 1, 2], [2, 1, 0]]),
        lw.HeightField([[0.1, 1 / 3], [1e-5, -7]], (0.1, 1 / 3), 0.3),
        lw.PointCloud(points, 1 / 3),
    ]
    b = lw.Builder("shapes", shape=shapes, node=place)
    b.fixed("f1", "same object", shape=[shared, lw.bone((0, 0, 0), (0, 0, 1), 0.1)])
    b.fixed("f2", "equal object", shape=lw.Capsule(0.1, 0.5), node=(0.0, 0.0, -0.0))
    return b.build()


def odd_names() -> lw.Linkage:
    """Return a linkage whose names all need quotes in YAML to remain strings."""
    b = lw.Builder("no", base="true", root=lw.Joint("off", None, "true", lw.Floating()))
    for name in ODD_NAMES:
        b.revolute(name, name, axis="y")
        b.frame(f"frame {name}")
    poses = {name: b.build().pose({name: 0.5}) for name in ODD_NAMES}
    return b.build().replace(poses=poses)


def odd_floats() -> lw.Linkage:
    """Return a linkage whose positions, limits, leads, offsets and values are hard to write exactly."""
    b = lw.Builder("floats", root=transform((0.1, -0.0, 1e-5)))
    for k, x in enumerate(ODD_FLOATS):
        axis = (0.0, -0.0, 1.0) if k % 2 else OBLIQUE
        b.screw(f"s{k}", f"a{k}", lead=x, at=(x, -x, 0.0), axis=axis, limits=(-abs(x), abs(x)))
        b.prismatic(f"p{k}", f"b{k}", limits=(x, math.inf))
        b.revolute(f"m{k}", f"c{k}", mimic=lw.Mimic("s0", x, -0.0), limits=(-math.inf, math.inf))
        b.frame(f"f{k}", at=(0.0, 0.0, x))
    return b.pose("values", {f"p{k}": x for k, x in enumerate(ODD_FLOATS)}).build()


def open_limits() -> lw.Linkage:
    """Return joints with several values, limited on some sides only."""
    inf = math.inf
    b = lw.Builder("open")
    b.joint("u", "a", lw.Universal("x", "y", (-inf, -0.5), (0.5, inf)))
    b.joint("p", "b", lw.Planar("z", (-inf, 0.0, -inf), (inf, inf, 1.0)))
    b.ball("e", "c", euler="zxz", lower=(-inf, -1.0, -inf))
    return b.build()


def rotations() -> lw.Linkage:
    """Return rotations as users write them: round angles in degrees, quarter turns, gimbal lock, random ones."""
    angles = [(90, 0, 0), (0, 0, -45), (30, 60, -120), (10, 90, 20), (10, -90, 0), (180, 0, 180), (0.5, 12.25, 0)]
    b = lw.Builder("rotations")
    for k, three in enumerate(angles):
        b.fixed(f"e{k}", f"e{k}", rotation={"euler": ("xyz", [f"{angle}deg" for angle in three])})
    b.fixed("quarter", "quarter", rotation=[[0, -1, 0], [1, 0, 0], [0, 0, 1]])
    b.fixed("signed zero", "signed zero", rotation=[[1, 0, -0.0], [0, 1, 0], [0, -0.0, 1]])
    b.fixed("any", "any", rotation=random_rotation(np.random.default_rng(5)))
    return b.build()


def heavy() -> lw.Linkage:
    """Return links with all kinds of masses: unknown, zero, a point mass, with inertia, hard to write exactly."""
    spread = np.diag([0.1, 5e-324, 1e300])
    spread[0, 1] = spread[1, 0] = -0.0
    b = lw.Builder("heavy", inertia=lw.Inertia(0.0))
    b.revolute("a", "point", inertia=lw.Inertia(1 / 3, (0.1, -0.0, 1e-5)))
    b.revolute("b", "spread", inertia=lw.Inertia(2, matrix=spread))
    b.revolute("c", "signed zero", inertia=lw.Inertia(-0.0, (-0.0, 0.0, 0.0), -np.zeros((3, 3))))
    return b.revolute("d", "unknown").build()


def loops() -> lw.Linkage:
    """Return a mechanism with three kinds of loops, one of them at an additional frame."""
    b = lw.Builder("loops")
    b.revolute("a", "crank", axis="y").ball("b", "rod", euler="ZXY").frame("pin", at=(1, 0, 0))
    b.floating("c", "slide", euler="ZXZ", parent="base")
    b.loop("1.0", "pin", "slide").loop("yes", "slide", "crank", kind="axis").loop("last", "pin", "base", kind="full")
    return posed(b.build())


def couplings() -> lw.Linkage:
    """Return joints coupled by every kind of curve, by several drivers, and by numbers that are hard to write."""
    b = lw.Builder("couplings")
    for name in "abcdefg":
        b.continuous(name, f"link {name}", parent="base")
    b.cam("b", "a", [("0deg", 0.0), (1 / 3, 0.1), (2.0, -0.0), (5.0, 1e-5)], phase=-1 / 3, offset=1e-300, name="1.0")
    b.couple("c", {"b": 0.1}, curve=lw.CamTable([(0.0, 0.0), (1.0, 2.0), (3.0, 1 / 3)], period=None), name="yes")
    b.cam("d", "c", [("cycloidal", "100deg", 1 / 3), ("dwell", "100deg"), ("3-4-5", "160deg", 0.1)], name="null")
    b.geneva("e", "a", slots=5, internal=True).couple("f", "e", curve=lw.Polynomial((1 / 3, -0.0, 1e22)))
    return b.couple("g", {"a": -1 / 3, "b": 2.0, "f": 1.0}, offset="30deg").pose("set", a=1.0).build()


def one(articulation: Articulation, placement: object = None, **more: object) -> lw.Linkage:
    joint = lw.Joint("j", "a", "b", articulation, np.eye(4) if placement is None else placement)
    return lw.Linkage([lw.Link("a"), lw.Link("b")], [joint], **more)


LINKAGES: dict[str, Callable[[], lw.Linkage]] = {
    **{name: lambda joint=joint: posed(one_joint(joint)) for name, joint in JOINTS.items()},
    **{f"tree {n}": lambda n=n: posed(random_tree(np.random.default_rng(n), n)) for n in (1, 5, 20, 60)},
    **{build.__name__: build for build in (every_shape, odd_names, odd_floats, open_limits, rotations, heavy)},
    **{build.__name__: build for build in (loops, couplings)},
    **{f"model {name}": lambda name=name: lw.models.build(name) for name in lw.models.MODELS},
    "one link": lambda: lw.Linkage([lw.Link("alone")]),
}
