"""Serial chains for tests of the compiled search: random ones, hard ones by name, and targets that they reach.

Errors are computed without the code under test: from `Linkage.forward` and SciPy's rotations.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from linkages import random_rotation
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

AXES = ("x", "y", "z", "-x", "-y", "-z")


def serial(
    articulations: list[Articulation],
    placements: list[np.ndarray],
    tip: np.ndarray,
    mimics: dict[int, Mimic] | None = None,
    root: Joint | np.ndarray | None = None,
) -> Linkage:
    """Return a chain whose joints are ``j0``, ``j1`` and so on, and the frame ``tip`` at its end."""
    joints = [
        Joint(f"j{k}", f"l{k}", f"l{k + 1}", articulation, placement, (mimics or {}).get(k))
        for k, (articulation, placement) in enumerate(zip(articulations, placements, strict=True))
    ]
    links = [Link(f"l{k}") for k in range(len(joints) + 1)]
    return Linkage(links, joints, name="chain", frames=[Frame("tip", links[-1].name, tip)], root=root)


def placed(
    rotation: np.ndarray | None = None, position: tuple[float, ...] | np.ndarray = (0.0, 0.0, 0.0)
) -> np.ndarray:
    """Return a 4x4 transform."""
    matrix = np.eye(4)
    matrix[:3, :3] = np.eye(3) if rotation is None else rotation
    matrix[:3, 3] = position
    return matrix


def random_placement(rng: np.random.Generator) -> np.ndarray:
    """Return the placement of a joint on the one before: random, parallel, nearly parallel, or at the same point."""
    kind = rng.integers(6)
    turn = {
        0: np.eye(3),
        1: Rotation.from_rotvec(rng.normal(size=3) * 10.0 ** -rng.uniform(1, 9)).as_matrix(),  # nearly parallel
        2: Rotation.from_euler(str(rng.choice(["x", "y", "z"])), rng.choice([90, -90, 180]), degrees=True).as_matrix(),
        3: np.diag([1.0, -1.0, -1.0]),
    }.get(int(kind), random_rotation(rng))
    length = 0.0 if rng.random() < 0.25 else rng.uniform(0.05, 0.5)
    way = np.eye(3)[rng.integers(3)] * rng.choice([-1, 1]) if rng.random() < 0.6 else rng.normal(size=3)
    return placed(turn, length * way / np.linalg.norm(way))


def random_limits(rng: np.random.Generator, reach: float, *, needed: bool = False) -> tuple[float, float]:
    """Return lower and upper limits: two-sided, on one side, none, or equal ones."""
    kind = rng.integers(7)
    if kind == 0:
        value = rng.uniform(-reach, reach)
        return value, value
    if kind == 1 and not needed:
        return -np.inf, np.inf
    if kind == 2 and not needed:
        return (-np.inf, rng.uniform(-1, 1) * reach) if rng.random() < 0.5 else (rng.uniform(-1, 1) * reach, np.inf)
    middle, room = rng.uniform(-0.5, 0.5) * reach, rng.uniform(0.05, 1.0) * reach
    return middle - room, middle + room


def random_joint(rng: np.random.Generator, *, simple: bool = False) -> Articulation:
    """Return a joint of any kind that a chain may have; with `simple`, a joint with one value."""
    axis = str(rng.choice(AXES)) if rng.random() < 0.6 else rng.normal(size=3)
    match int(rng.integers(8 if simple else 13)):
        case 0:
            return Prismatic(axis, *random_limits(rng, 0.4, needed=True))
        case 1:
            return Screw(axis, *random_limits(rng, 3.0), rng.uniform(-0.2, 0.2))
        case 2:
            return Continuous(axis)
        case 8:
            return Universal("x", "y", *zip(random_limits(rng, 2.0), random_limits(rng, 2.0), strict=True))
        case 9:
            return Ball()
        case 10:
            return Ball("ZYX", *zip(*(random_limits(rng, 1.5) for _ in range(3)), strict=True))
        case 11:
            return Planar("z", *zip(*(random_limits(rng, r, needed=True) for r in (0.3, 0.3, 2.0)), strict=True))
        case 12:
            return Fixed()
        case _:
            return Revolute(axis, *random_limits(rng, 2.5))


def random_chain(rng: np.random.Generator, count: int | None = None, *, simple: bool = False) -> Linkage:
    """Return a chain of 2 to 12 joints of all kinds with random limits; about one in eight follows another."""
    count = int(rng.integers(2, 13)) if count is None else count
    articulations = [random_joint(rng, simple=simple) for _ in range(count)]
    mimics: dict[int, Mimic] = {}
    for k, articulation in enumerate(articulations):
        leaders = [i for i in range(k) if articulations[i].nq == 1 and i not in mimics]
        if articulation.nq == 1 and leaders and rng.random() < 0.12:
            articulations[k] = type(articulation)(articulation.axis)  # its limits could leave its leader no range
            mimics[k] = Mimic(f"j{rng.choice(leaders)}", rng.choice([1.0, -1.0, 0.5]), rng.uniform(-0.3, 0.3))
    root = (
        Joint("root", None, "l0", Floating(), placed()) if not simple and rng.random() < 0.1 else random_placement(rng)
    )
    return serial(articulations, [random_placement(rng) for _ in range(count)], random_placement(rng), mimics, root)


# Kinds of goal, as the options of `prepare` and of `solve_batch`

KINDS: dict[str, dict[str, object]] = {
    "pose": {},
    "position": {"orientation": False},
    "xy": {"position": "xy", "orientation": False},
    "orientation": {"position": False},
    "axis": {"free": "z"},
    "axis only": {"position": False, "free": (1.0, 2.0, -2.0)},
}


def errors(linkage: Linkage, frame: str, q: np.ndarray, targets: np.ndarray, kind: str) -> np.ndarray:
    """Return the position and rotation errors (m, 2) of poses; errors that a goal does not constrain are zero."""
    world = linkage.forward(q, frame=frame)
    asked, free = KINDS[kind].get("position", True), KINDS[kind].get("free")
    away = (world - targets)[..., :3, 3]
    away = away[..., :2] if asked == "xy" else away if asked else np.zeros_like(away)
    turn = np.zeros(len(world))
    if free is not None:
        axis = np.array({"z": (0.0, 0.0, 1.0)}.get(free, free)) if isinstance(free, str) else np.array(free)
        ours, theirs = (m[:, :3, :3] @ (axis / np.linalg.norm(axis)) for m in (world, targets))
        turn = np.arctan2(np.linalg.norm(np.cross(ours, theirs), axis=1), (ours * theirs).sum(axis=1))
    elif KINDS[kind].get("orientation", True):
        turn = (Rotation.from_matrix(targets[:, :3, :3]) * Rotation.from_matrix(world[:, :3, :3]).inv()).magnitude()
    return np.stack([np.linalg.norm(away, axis=1), turn], axis=1)


def within(linkage: Linkage, q: np.ndarray) -> np.ndarray:
    """Return which poses keep all limits exactly."""
    return ((q >= linkage.lower) & (q <= linkage.upper)).all(axis=-1)


def reachable(linkage: Linkage, rng: np.random.Generator, count: int) -> np.ndarray:
    """Return the tip's transforms in random poses, shape (count, 4, 4)."""
    return linkage.forward(linkage.random_pose(rng, count), frame="tip")
