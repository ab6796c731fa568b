"""Real arms as Denavit-Hartenberg tables, with their forward kinematics in plain NumPy, and goals.

The numbers are those of the makers' data sheets, from published URDF and MJCF files. Zero offsets of joints are left
out, since they do not change the number of solutions. Nothing here uses the kinematics of the library.
"""

from __future__ import annotations

import math

import numpy as np

import linkwork as lw

Array = np.ndarray
Row = tuple[float, float, float]  # d [m], a [m], alpha [deg]; the joint is about z, the link along x

THREE_PARALLEL: dict[str, list[Row]] = {
    "UR3": [(0, 0, 90), (0, 0.24365, 0), (0, 0.21325, 0), (0.11235, 0, 90), (0.08535, 0, 90), (0, 0, 0)],
    "UR5": [(0, 0, 90), (0, 0.425, 0), (0, 0.39225, 0), (0.10915, 0, 90), (0.09465, 0, 90), (0, 0, 0)],
    "UR10e": [(0, 0, 90), (0, 0.6127, 0), (0, 0.57155, 0), (0.17415, 0, 90), (0.11985, 0, 90), (0, 0, 0)],
    "Trossen WXAI": [(0, 0.02, -90), (0, 0.264, 180), (0, 0.25224, 0), (0, 0.06775, 90), (0, 0, 90), (0, 0, 0)],
    "Unitree Z1": [(0, 0, 90), (0, 0.35, 0), (0, 0.225329, 0), (0, 0.07, 90), (0, 0, 90), (0, 0, 0)],
}
WRIST: dict[str, list[Row]] = {
    "Puma 560": [(0, 0, 90), (0, 0.4318, 0), (0.15005, 0.0203, -90), (0.4318, 0, 90), (0, 0, -90), (0, 0, 0)],
    "KUKA KR6 R900": [(0, 0.025, 90), (0, 0.455, 0), (0, 0.035, 90), (-0.42, 0, 90), (0, 0, 90), (0, 0, 0)],
    "KUKA KR210": [(0, 0.35, -90), (0, 1.25, 0), (0, 0.055, 90), (1.5, 0, 90), (0, 0, 90), (0, 0, 0)],
    "ABB IRB 120": [(0, 0, 90), (0, 0.27, 0), (0, 0.07, -90), (0.302, 0, 90), (0, 0, 90), (0, 0, 0)],
    "ABB IRB 2400": [(0, 0.1, -90), (0, 0.705, 0), (0, 0.135, -90), (0.755, 0, 90), (0, 0, 90), (0, 0, 0)],
    "ABB IRB 4600": [(0, 0.175, -90), (0, 0.9, 0), (0, 0.175, -90), (0.96, 0, 90), (0, 0, 90), (0, 0, 0)],
    "Fanuc M-10iA": [(0, 0.15, -90), (0, 0.6, 180), (0, 0.2, -90), (-0.64, 0, 90), (0, 0, 90), (0, 0, 0)],
    "Staubli TX2-60": [(0, 0, 90), (0, 0.29, 0), (0.02, 0, 90), (0.31, 0, 90), (0, 0, 90), (0, 0, 0)],
    "Motoman MH5": [(0, 0.088, -90), (0, 0.31, 180), (0, 0.04, -90), (-0.305, 0, 90), (0, 0, 90), (0, 0, 0)],
    "Denso VS060": [(0, 0, 90), (0, 0.305, 0), (0, -0.01, -90), (0.3, 0, 90), (0, 0, 90), (0, 0, 0)],
    "Jaco, spherical": [(0, 0, 90), (0, 0.41, 180), (-0.0098, 0, 90), (-0.31105, 0, 90), (0, 0, 90), (0, 0, 0)],
    "ViperX 300": [(0, 0, 90), (0, 0.305853, 0), (0, 0, 90), (0.3, 0, 90), (0, 0, 90), (0, 0, 0)],
}
GENERAL: dict[str, list[Row]] = {
    "ABB CRB 15000": [(0, 0, 90), (0, 0.444, 0), (0, 0.11, -90), (0.47, 0, 90), (0, 0.08, -90), (0, 0, 0)],
    "Fanuc CRX-10iA/L": [(0, 0, 90), (0, 0.71, 180), (0, 0, 90), (-0.54, 0, 90), (0.15, 0, 90), (0, 0, 0)],
    "xArm6": [(0, 0, 90), (0, 0.289489, 0), (0, 0.0775, -90), (0.3425, 0, 90), (0, 0.076, -90), (0, 0, 0)],
    "Jaco 2": [(0, 0, 90), (0, 0.41, 180), (-0.0098, 0, 90), (-0.250061, 0, 60), (-0.0855193, 0, 60), (0, 0, 0)],
    "Mico": [(0, 0, 90), (0, 0.29, 180), (-0.007, 0, 90), (-0.165861, 0, 60), (-0.0855193, 0, 60), (0, 0, 0)],
}
ARMS = {**THREE_PARALLEL, **WRIST, **GENERAL}


def linkage(name: str) -> lw.Linkage:
    """Return an arm without limits; its tip is at the last joint."""
    return lw.from_dh([(0.0, d, a, math.radians(alpha)) for d, a, alpha in ARMS[name]], name=name)


def forward(name: str, poses: Array) -> Array:
    """Return the tip at poses (m, 6) by products of matrices, shape (m, 4, 4)."""
    world = np.tile(np.eye(4), (len(poses), 1, 1))
    for (d, a, alpha), theta in zip(ARMS[name], poses.T, strict=True):
        c, s = np.cos(theta), np.sin(theta)
        ca, sa = math.cos(math.radians(alpha)), math.sin(math.radians(alpha))
        step = np.zeros((len(poses), 4, 4))
        step[:, 0] = np.stack([c, -s * ca, s * sa, a * c], axis=1)
        step[:, 1] = np.stack([s, c * ca, -c * sa, a * s], axis=1)
        step[:, 2] = 0.0, sa, ca, d
        step[:, 3, 3] = 1.0
        world = world @ step
    return world


def poses(name: str, count: int = 6) -> Array:
    """Return random poses of an arm, which make reachable goals."""
    return np.random.default_rng([ord(letter) for letter in name]).uniform(-math.pi, math.pi, (count, 6))


def somewhere(name: str, count: int = 6) -> Array:
    """Return goals at random positions within reach and random orientations; some have no solution."""
    rng = np.random.default_rng([len(ARMS[name]), *(ord(letter) for letter in name)])
    reach = sum(math.hypot(d, a) for d, a, _ in ARMS[name])
    way = rng.normal(size=(count, 3))
    turns = np.linalg.qr(rng.normal(size=(count, 3, 3)))[0]
    goals = np.tile(np.eye(4), (count, 1, 1))
    goals[:, :3, :3] = turns * np.linalg.det(turns)[:, None, None]
    goals[:, :3, 3] = way / np.linalg.norm(way, axis=1)[:, None] * reach * rng.random(count)[:, None] ** (1 / 3)
    return goals
