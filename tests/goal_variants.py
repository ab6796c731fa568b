"""A goal of every class, and of every form of a class, for tests of goals and solvers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import linkwork as lw
from linkwork.goals import GOALS, Goal
from linkwork.goals.avoid import HAIR
from linkwork.transforms import inverse

ARM = ("left_upper_arm", "left_forearm", "left_hand", "right_foot")
LINKAGES: dict[str, tuple[Callable[[], lw.Linkage], tuple[str, str, str, str]]] = {
    "human": (lw.models.human, ARM),
    "floating": (lambda: lw.models.human(root="floating"), ARM),
    "panda": (lw.models.panda, ("panda_link2", "panda_link4", "tip", "panda_link3")),
}


def heavy(linkage: lw.Linkage) -> lw.Linkage:
    """Return a linkage whose links have masses."""
    if any(link.visuals for link in linkage.nodes):
        return linkage
    links = {name: {"inertia": lw.Inertia(1.0 + k, (0.1, 0.02 * k, -0.05))} for k, name in enumerate(linkage.links)}
    return linkage.replace(links=links)


def make(kind: str, linkage: lw.Linkage, frames: tuple[str, str, str, str], q: np.ndarray, **options: Any) -> Goal:
    """Return a goal of a kind that is met at a pose; a new row of GOALS needs one here."""
    root, middle, tip, other = frames
    worlds = {frame: linkage.forward(q, frame=frame) for frame in frames}
    world, point = worlds[tip], worlds[tip][:3, 3]
    axis = np.array([0.6, 0.0, -0.8])
    plain, _, _ = linkage.table.plain
    first, second = plain[len(plain) // 2], plain[-1]
    terms = {linkage.coordinates[first]: 2.0, linkage.coordinates[second]: -0.5}
    total = sum(value * q[linkage.coordinate_index[name]] for name, value in terms.items())
    gains = np.linspace(0.5, 2.0, linkage.nv)
    for _, v in linkage.table.quaternions:
        gains[v : v + 3] = 0.8
    line = point - worlds[root][:3, 3]
    bent = worlds[middle][:3, 3] - worlds[root][:3, 3]
    aside = bent - line * (line @ bent) / (line @ line)
    away = point - worlds[other][:3, 3]
    bearer = linkage.links[linkage.path_to(tip)[0][-1]]
    ball = lw.Obstacle(lw.Sphere(0.2), point + 1.5 * world[:3, :3] @ axis, name="ball")
    held = lw.Obstacle(lw.Sphere(0.05), (0.1, 0.0, 0.02), name="held", link=bearer)  # for links without shapes
    balls = lw.World([ball, held])

    def kept_clear() -> lw.Avoid:
        least = float(lw.Avoid(balls, self=False).clearance(linkage, q))
        given = {name: value for name, value in options.items() if name != "tolerance"}  # it has a margin instead
        return lw.Avoid(balls, self=False, margin=least - HAIR, **given)

    makers: dict[str, Callable[[], Goal]] = {
        "Reach": lambda: lw.Reach(tip, pose=world, **options),
        "Hold": lambda: lw.Hold(tip, pose=world, **options),
        "LookAt": lambda: lw.LookAt(tip, at=point + 0.7 * world[:3, :3] @ axis, axis=axis, **options),
        "Align": lambda: lw.Align(tip, axis=axis, direction=world[:3, :3] @ axis, **options),
        "Bend": lambda: lw.Bend(root, middle, tip, towards=worlds[root][:3, 3] + 0.3 * line + 2.0 * aside, **options),
        "Rest": lambda: lw.Rest(q, gains=gains, **options),
        "Balance": lambda: lw.Balance(over=lw.mass.center_of_mass(linkage, q), **options),
        "Relate": lambda: lw.Relate(tip, other, pose=inverse(worlds[other]) @ world, **options),
        "Distance": lambda: lw.Distance(tip, other, float(np.linalg.norm(away)), **options),
        "OnPlane": lambda: lw.OnPlane(tip, point=point, normal=(1, 2, -2), **options),
        "OnLine": lambda: lw.OnLine(tip, point=point, direction=(1, 2, -2), **options),
        "Couple": lambda: lw.Couple(terms, value=total, **options),
        "Dexterity": lambda: lw.Dexterity(
            tip, rows="position", enough=float(lw.Dexterity(tip, rows="position").value(linkage, q)), **options
        ),
        "Avoid": kept_clear,
    }
    assert set(makers) == set(GOALS)
    return makers[kind]()


def variant_of(variant: str, linkage: lw.Linkage, frames: tuple[str, str, str, str], q: np.ndarray) -> Goal:
    """Return another form of a goal, which may not be met at any pose."""
    tip, other = frames[2:]
    path = [linkage.arcs[k].name for k in linkage.path_to(tip)[0] if linkage.arcs[k].articulation.nv]
    world = linkage.forward(q, frame=tip)
    place, turned = world[:3, 3], world[:3, :3]
    makers: dict[str, Callable[[], Goal]] = {
        "reach-xz": lambda: lw.Reach(tip, position=place, axes="xz"),
        "reach-y-free": lambda: lw.Reach(tip, position=place, orientation=turned, axes="y", free="x"),
        "reach-ranges": lambda: lw.Reach(tip, pose=world, position_range=(0.3, 0.0, (-0.1, 0.2)), rotation_range=0.4),
        "reach-ranges-world": lambda: lw.Reach(
            tip, pose=world, rotation_range=(0, (-0.7, 0.1), np.inf), range_axes="world"
        ),
        "reach-ranges-place": lambda: lw.Reach(tip, position=place, position_range=(np.inf, 0.2, 0)),
        "look-at-frame": lambda: lw.LookAt(tip, at=other),
        "bend-to-frame": lambda: lw.Bend(*frames[:3], towards=other),
        "relate-position": lambda: lw.Relate(tip, other, position=(0.1, 0.2, 0.3)),
        "distance-point": lambda: lw.Distance(tip, (0.3, -0.2, 0.4), 0.5),
        "distance-too-far": lambda: lw.Distance(tip, other, (0.0, 0.01)),
        "distance-too-near": lambda: lw.Distance(tip, other, (7.0, np.inf)),
        "balance-frame": lambda: lw.Balance(over=other),
        "balance-segment": lambda: lw.Balance(over=[other, (3.0, -1.0, 0.0)]),
        "balance-triangle": lambda: lw.Balance(over=[(3, 0, 0), (4, 0, 1), (3, 1.0, 0)], up=(0.1, 0.2, 1.0)),
        "balance-moving": lambda: lw.Balance(over=[tip, (30, -1, 0), (30, 1, 1)]),
        "balance-margin": lambda: lw.Balance(over=[tip, (30, -1, 0), (30, 1, 1)], margin=1e-3),
        "rest-named": lambda: lw.Rest(gains={linkage.coordinates[-1]: 2.0, linkage.joints[0]: 1.0}),
        "dexterity-both": lambda: lw.Dexterity(tip),
        "dexterity-condition": lambda: lw.Dexterity(tip, measure="condition"),
        "dexterity-turn": lambda: lw.Dexterity(tip, rows="orientation", measure="condition"),
        "dexterity-joints": lambda: lw.Dexterity(tip, rows="position", joints=path[-3:]),
        "avoid-itself": lambda: lw.Avoid(margin=0.3),
        "avoid-held": lambda: lw.Avoid(_held(frames[1]), margin=2.0, links=frames[1]),
        "couple-pair": lambda: lw.Couple(linkage.coordinates[-2:], ratio=0.4, value=0.1),
    }
    assert list(makers) == VARIANTS
    return makers[variant]()


def _held(link: str) -> lw.World:
    """Return a world with a cup held by a link, a wall and a floor."""
    cup = lw.Obstacle(lw.Cylinder(0.04, 0.1), (0.0, 0.05, 0.1), name="cup", link=link)
    wall = lw.Obstacle(lw.Box((0.1, 3.0, 3.0)), (1.5, 0, 1), name="wall")
    return lw.World([cup, wall, lw.Obstacle(lw.HalfSpace(), (0, 0, -2))])


VARIANTS = [
    "reach-xz",
    "reach-y-free",
    "reach-ranges",
    "reach-ranges-world",
    "reach-ranges-place",
    "look-at-frame",
    "bend-to-frame",
    "relate-position",
    "distance-point",
    "distance-too-far",
    "distance-too-near",
    "balance-frame",
    "balance-segment",
    "balance-triangle",
    "balance-moving",
    "balance-margin",
    "rest-named",
    "dexterity-both",
    "dexterity-condition",
    "dexterity-turn",
    "dexterity-joints",
    "avoid-itself",
    "avoid-held",
    "couple-pair",
]
