"""Linkages for contract tests: every articulation, small trees around one joint, random trees with all kinds.

A new kind of joint needs a row in `JOINTS`; then every contract tests it.
"""

from __future__ import annotations

import numpy as np

from linkwork.linkage.elements import EULER_ORDERS
from linkwork.linkage.joints import (
    Articulation,
    Ball,
    Continuous,
    Fixed,
    Floating,
    Joint,
    Mimic,
    Planar,
    Prismatic,
    Revolute,
    Screw,
    Universal,
)
from linkwork.linkage.linkage import Frame, Link, Linkage
from linkwork.transforms import quaternion_matrix

OBLIQUE = (0.48, -0.6, 0.64)

JOINTS: dict[str, Articulation] = {
    "fixed": Fixed(),
    "revolute-x": Revolute("x"),
    "revolute-y": Revolute("y"),
    "revolute-z": Revolute("z"),
    "revolute-minus-y": Revolute("-y"),
    "revolute-oblique": Revolute(OBLIQUE),
    "revolute-limited": Revolute("z", lower="-90deg", upper="30deg"),
    "revolute-limited-below": Revolute("x", lower=-0.4),
    "revolute-limited-above": Revolute("-z", upper=0.9),
    "continuous-x": Continuous("x"),
    "continuous-oblique": Continuous((1.0, 2.0, -3.0)),
    "prismatic-x": Prismatic("x"),
    "prismatic-minus-z": Prismatic("-z"),
    "prismatic-oblique": Prismatic((-1.0, 0.5, 0.25)),
    "prismatic-limited": Prismatic("y", lower=0.1, upper=0.7),
    "screw-z": Screw("z", lead=0.3),
    "screw-left-handed": Screw("-x", lead=-0.8),
    "screw-oblique-limited": Screw((2.0, -1.0, 2.0), -7.0, 9.0, 0.05),
    "screw-without-lead": Screw("y"),
    "universal": Universal(),
    "universal-skew": Universal((1.0, 1.0, 0.0), (0.0, 1.0, 0.2)),
    "universal-limited": Universal("z", "-x", (-1.0, -0.5), ("60deg", 0.5)),
    "planar-z": Planar(),
    "planar-x": Planar("x"),
    "planar-minus-y": Planar("-y"),
    "planar-oblique": Planar(OBLIQUE),
    "planar-limited": Planar("y", (-1.0, 0.0, -2.0), (1.0, 3.0, 2.0)),
    "ball": Ball(),
    **{f"ball-{order}": Ball(order) for order in EULER_ORDERS},
    "ball-limited": Ball("ZYX", (-1.0, -0.5, -2.0), ("45deg", 0.5, 1.0)),
    "floating": Floating(),
    **{f"floating-{order}": Floating(order) for order in EULER_ORDERS},
}


def random_rotation(rng: np.random.Generator) -> np.ndarray:
    """Return a uniformly random rotation matrix."""
    return quaternion_matrix(rng.normal(size=4))


def random_transform(rng: np.random.Generator, reach: float = 1.0) -> np.ndarray:
    """Return a random rigid transform with a position in a cube of half edge `reach`."""
    matrix = np.eye(4)
    matrix[:3, :3] = random_rotation(rng)
    matrix[:3, 3] = rng.uniform(-reach, reach, 3)
    return matrix


def one_joint(articulation: Articulation) -> Linkage:
    """Return a small tree around a joint: base, child, grandchild on a revolute joint, and its frame ``"tip"``."""
    rng = np.random.default_rng(7)
    return Linkage(
        [Link("base"), Link("child"), Link("grandchild")],
        [
            Joint("joint", "base", "child", articulation, random_transform(rng)),
            Joint("hinge", "child", "grandchild", Revolute((0.0, 0.6, 0.8)), random_transform(rng)),
        ],
        name="one-joint",
        frames=[Frame("tip", "grandchild", random_transform(rng))],
        root=random_transform(rng),
    )


def random_articulation(rng: np.random.Generator) -> Articulation:
    """Return a joint of any kind, about a coordinate axis or an oblique one, with or without limits."""
    axis = rng.choice(["x", "y", "z", "-x", "-y", "-z"]) if rng.random() < 0.4 else rng.normal(size=3)
    lower, upper = (-rng.uniform(0.5, 3.0), rng.uniform(0.5, 3.0)) if rng.random() < 0.5 else (-np.inf, np.inf)
    kind = rng.integers(10)
    match kind:
        case 0:
            return Fixed()
        case 1:
            return Continuous(axis)
        case 2:
            return Prismatic(axis, lower, upper)
        case 3:
            return Screw(axis, lower, upper, rng.uniform(-1.0, 1.0))
        case 4:
            return Universal(rng.normal(size=3), rng.normal(size=3), (lower, lower), (upper, upper))
        case 5:
            return Planar(axis, (lower,) * 3, (upper,) * 3)
        case 6:
            return Ball()
        case 7:
            return Ball(str(rng.choice(EULER_ORDERS)), (lower,) * 3, (upper,) * 3)
        case 8:
            return Floating()
        case _:
            return Revolute(axis, lower, upper)


def random_tree(rng: np.random.Generator, n: int) -> Linkage:
    """Return a tree of n joints of all kinds at random placements; about a third of the one-DOF joints mimic another.

    Joint k connects link k to a random link before it; every third link has a frame. The root joint has a random
    placement and is fixed, planar or floating.
    """
    links, joints, frames = [Link("link0")], [], []
    leaders: dict[str, int] = {}  # length of the chain of joints that each follows; short, so that limits hold
    for k in range(1, n + 1):
        articulation, mimic = random_articulation(rng), None
        if articulation.nq == 1:
            near = [name for name, depth in leaders.items() if depth < 2]
            if near and rng.random() < 0.35:
                mimic = Mimic(str(rng.choice(near)), rng.uniform(-2.0, 2.0), rng.uniform(-0.1, 0.1))
            leaders[f"joint{k}"] = 0 if mimic is None else leaders[mimic.joint] + 1
        parent = f"link{rng.integers(k)}"
        joints.append(Joint(f"joint{k}", parent, f"link{k}", articulation, random_transform(rng), mimic))
        links.append(Link(f"link{k}"))
        if k % 3 == 0:
            frames.append(Frame(f"frame{k}", f"link{k}", random_transform(rng)))
    motion = (Fixed(), Planar(OBLIQUE), Floating())[rng.integers(3)]
    root = Joint("root", None, "link0", motion, random_transform(rng))
    return Linkage(links, joints, name=f"random-{n}", frames=frames, root=root)
