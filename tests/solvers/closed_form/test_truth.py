"""Closed forms compared with a search from 10,000 starts: no solution is missing, wrong or duplicated.

The numbers of solutions come from an independent search in double precision from 10,000 starts; EAIK gives the same
numbers for every arm that it solves.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import six_joint_arms
from linkwork.solvers.closed_form import ClosedForm, closed_form

# For every arm: numbers of solutions for the tips of six random poses, and for six random goals within reach.
COUNTS = {
    "UR3": ([8, 8, 8, 6, 8, 2], [4, 0, 0, 8, 8, 6]),
    "UR5": ([4, 8, 8, 8, 8, 8], [8, 6, 2, 0, 8, 4]),
    "UR10e": ([8, 8, 4, 8, 8, 8], [0, 8, 0, 4, 0, 0]),
    "Trossen WXAI": ([8, 8, 8, 8, 6, 8], [2, 8, 8, 2, 0, 4]),
    "Unitree Z1": ([8, 8, 4, 4, 8, 8], [4, 0, 8, 8, 8, 8]),
    "Puma 560": ([8, 8, 8, 8, 8, 8], [8, 0, 8, 0, 8, 8]),
    "KUKA KR6 R900": ([8, 8, 8, 8, 8, 8], [8, 8, 8, 8, 8, 0]),
    "KUKA KR210": ([8, 4, 8, 8, 4, 8], [8, 8, 4, 4, 8, 8]),
    "ABB IRB 120": ([8, 8, 8, 8, 8, 8], [8, 8, 8, 8, 8, 8]),
    "ABB IRB 2400": ([8, 8, 4, 8, 8, 8], [8, 4, 8, 0, 0, 8]),
    "ABB IRB 4600": ([4, 8, 8, 8, 8, 4], [4, 8, 0, 0, 8, 8]),
    "Fanuc M-10iA": ([4, 8, 4, 8, 8, 8], [4, 0, 0, 8, 0, 4]),
    "Staubli TX2-60": ([8, 8, 8, 8, 8, 8], [8, 8, 8, 8, 8, 8]),
    "Motoman MH5": ([8, 8, 4, 8, 8, 8], [4, 8, 8, 0, 4, 4]),
    "Denso VS060": ([8, 8, 8, 8, 8, 8], [8, 8, 8, 8, 8, 8]),
    "Jaco, spherical": ([8, 8, 8, 8, 8, 8], [8, 8, 8, 8, 8, 8]),
    "ViperX 300": ([8, 8, 8, 8, 8, 8], [8, 8, 8, 8, 8, 8]),
    "ABB CRB 15000": ([8, 8, 10, 8, 8, 8], [4, 0, 0, 0, 0, 8]),
    "Fanuc CRX-10iA/L": ([4, 8, 8, 8, 8, 8], [4, 8, 8, 8, 8, 8]),
    "xArm6": ([8, 8, 8, 8, 8, 8], [8, 4, 4, 4, 8, 0]),
    "Jaco 2": ([4, 8, 8, 10, 8, 8], [4, 4, 0, 8, 4, 0]),
    "Mico": ([4, 4, 8, 4, 4, 6], [4, 8, 8, 4, 8, 8]),
}
EXACT = 1e-10  # largest error of positions [m] and rotation entries, by forward kinematics in plain NumPy


def form_of(name: str) -> ClosedForm:
    form = closed_form(six_joint_arms.linkage(name), "tip")
    assert isinstance(form, ClosedForm), str(form)
    return form


def apart(poses: np.ndarray, pose: np.ndarray) -> np.ndarray:
    """Return the differences of poses from one, modulo whole turns."""
    return np.abs((poses - pose + math.pi) % (2.0 * math.pi) - math.pi).max(axis=-1)


def check(name: str, form: ClosedForm, target: np.ndarray, count: int) -> np.ndarray:
    """Return all solutions, after checking their number, that they are correct, and that none is duplicated."""
    values = np.array(form.all(target).values)
    assert len(values) == count
    if count:
        assert np.abs(six_joint_arms.forward(name, values) - target).max() < EXACT
    for k in range(1, len(values)):
        assert apart(values[:k], values[k]).min() > 1e-4
    return values


@pytest.mark.parametrize("name", six_joint_arms.ARMS)
def test_all_solutions_are_found(name: str) -> None:
    form, poses = form_of(name), six_joint_arms.poses(name)
    reached, anywhere = COUNTS[name]
    for pose, target, count in zip(poses, six_joint_arms.forward(name, poses), reached, strict=True):
        assert apart(check(name, form, target, count), pose).min() < 1e-8
    for target, count in zip(six_joint_arms.somewhere(name), anywhere, strict=True):
        check(name, form, target, count)


@pytest.mark.parametrize("name", six_joint_arms.ARMS)
def test_many_targets_have_the_solutions_of_one(name: str) -> None:
    form = form_of(name)
    targets = np.concatenate([six_joint_arms.forward(name, six_joint_arms.poses(name)), six_joint_arms.somewhere(name)])
    values, mask = form.all_many(targets)
    assert mask.sum(axis=1).tolist() == [count for counts in COUNTS[name] for count in counts]
    for target, row, there in zip(targets, values, mask, strict=True):
        one = np.array(form.all(target).values)
        assert all(apart(row[there], pose).min() < 1e-8 for pose in one)


@pytest.mark.parametrize("name", ["UR5", "Puma 560", "Jaco 2"])
def test_targets_in_single_precision_have_as_many(name: str) -> None:
    form, targets = form_of(name), six_joint_arms.forward(name, six_joint_arms.poses(name))
    for target, count in zip(targets.astype(np.float32), COUNTS[name][0], strict=True):
        assert len(form.all(target.astype(np.float64)).values) == count
