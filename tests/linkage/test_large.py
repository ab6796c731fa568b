"""A chain of 20,000 links and a tree of 20,000 leaves: built, traversed and evaluated with linear effort."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linkwork as lw

pytestmark = pytest.mark.slow
MANY = 20_000
HINGE = lw.Revolute("z")


def chain(n: int) -> lw.Linkage:
    """Return n revolute joints in a row, a millimetre apart."""
    links = [lw.Link(f"link{k}") for k in range(n + 1)]
    joints = [lw.Joint(f"j{k}", f"link{k - 1}", f"link{k}", HINGE, (0.001, 0, 0)) for k in range(1, n + 1)]
    return lw.Linkage(links, joints, name="chain", frames=[lw.Frame("tip", f"link{n}", (0.001, 0, 0))])


def bush(n: int) -> lw.Linkage:
    """Return one link with n leaves on revolute joints."""
    links = [lw.Link("trunk"), *(lw.Link(f"link{k}") for k in range(n))]
    joints = [lw.Joint(f"j{k}", "trunk", f"link{k}", HINGE, (k, 0, 0)) for k in range(n)]
    return lw.Linkage(links, joints, name="bush", frames=[lw.Frame("tip", f"link{n - 1}", (1, 0, 0))])


def ladder(n: int) -> lw.Linkage:
    """Return a chain of n revolute joints with a leaf on each link: deep and wide."""
    links = [lw.Link("link0")]
    joints = []
    for k in range(1, n + 1):
        links += [lw.Link(f"link{k}"), lw.Link(f"leaf{k}")]
        joints.append(lw.Joint(f"j{k}", f"link{k - 1}", f"link{k}", HINGE, (0.001, 0, 0)))
        joints.append(lw.Joint(f"l{k}", f"link{k - 1}", f"leaf{k}", HINGE, (0, 0.001, 0)))
    return lw.Linkage(links, joints, name="ladder", frames=[lw.Frame("tip", f"leaf{n}")])


TREES: dict[str, Callable[[int], lw.Linkage]] = {"chain": chain, "bush": bush, "ladder": ladder}


@cache
def built(shape: str, n: int) -> lw.Linkage:
    return TREES[shape](n)


@pytest.fixture(scope="module", params=["chain", "bush"])
def large(request: pytest.FixtureRequest) -> lw.Linkage:
    return TREES[request.param](MANY)


def test_the_walk_and_the_arrays_agree(large: lw.Linkage) -> None:
    q = np.random.default_rng(0).uniform(-0.05, 0.05, large.nq)
    assert len(large.joints) == large.nq == MANY
    frames = large.forward(q)
    walked = np.stack([visit.matrix for visit in large.traverse(q)])
    assert walked.shape[0] == len(large.links)
    scale = max(1.0, float(np.abs(walked).max()))
    assert_allclose(frames.array[: len(walked)], walked, rtol=0, atol=1e-11 * scale)
    assert_allclose(large.forward(q, frame="tip"), frames["tip"], rtol=0, atol=1e-11 * scale)


def test_the_tip_is_where_the_plane_says(large: lw.Linkage) -> None:
    q = np.random.default_rng(1).uniform(-0.1, 0.1, large.nq)
    tip, jacobian = large.forward(q, frame="tip"), large.jacobian(q, "tip")
    if large.name == "chain":  # in the complex plane: each link turns all that follow
        steps = 0.001 * np.exp(1j * np.r_[0.0, np.cumsum(q)])
        expected = steps.sum()
        arms = expected - np.cumsum(steps)[:-1]
        turns = np.ones(large.nq)
    else:  # only the last leaf turns its own tip
        turns = np.zeros(large.nq)
        turns[-1] = 1.0
        arms = np.exp(1j * q[-1]) * turns
        expected = MANY - 1 + arms[-1]
    assert_allclose(tip[:2, 3], [expected.real, expected.imag], rtol=1e-12, atol=1e-10)
    assert_allclose(jacobian[:2], [-arms.imag, arms.real], rtol=0, atol=1e-10)
    assert_allclose(jacobian[5], turns, rtol=0, atol=1e-10)
    assert not jacobian[2:5].any()


def test_a_batch_of_a_large_linkage(large: lw.Linkage) -> None:
    q = np.random.default_rng(2).uniform(-0.05, 0.05, (9, large.nq))
    assert_allclose(large.forward(q, frame="tip")[4], large.forward(q[4], frame="tip"), rtol=1e-11, atol=1e-11)
    assert_allclose(large.jacobian(q, "tip")[8], large.jacobian(q[8], "tip"), rtol=1e-10, atol=1e-10)


def test_poses_of_a_large_linkage(large: lw.Linkage) -> None:
    rng = np.random.default_rng(3)
    a, b = rng.uniform(-3.0, 3.0, (2, large.nq))
    assert_allclose(np.exp(1j * large.integrate(a, large.difference(a, b))), np.exp(1j * b), rtol=0, atol=1e-12)
    last = large.joints[-1]
    assert large.pose({last: 0.25})[large.coordinate_index[last]] == 0.25
    assert large.clamp(large.random_pose(0)).shape == (large.nq,)


def calls(work: Callable[[], Any]) -> int:
    """Return the number of calls of Python and C functions in a piece of work."""
    count = 0

    def tally(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(tally)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


WORK: dict[str, Callable[[lw.Linkage, np.ndarray], Any]] = {
    "children": lambda linkage, _: linkage.children,
    "walk": lambda linkage, q: sum(1 for _ in linkage.traverse(q)),
    "all frames": lambda linkage, q: linkage.forward(q),
    "one frame": lambda linkage, q: linkage.forward(q, frame="tip"),
    "jacobian": lambda linkage, q: linkage.jacobian(q, "tip"),
    "difference": lambda linkage, q: linkage.difference(q, q),
    "pose of all": lambda linkage, q: linkage.pose(dict(zip(linkage.joints, q, strict=True))),
    "replace": lambda linkage, _: linkage.replace(name="other"),
    "freeze": lambda linkage, _: linkage.freeze(linkage.joints[-1], at=0.1),
    "subtree": lambda linkage, _: linkage.subtree(linkage.links[1]),
    "split": lambda linkage, _: linkage.split(),
}


@pytest.mark.parametrize("shape", TREES)
def test_building_takes_work_in_step_with_size(shape: str) -> None:
    TREES[shape](10)
    few, many = calls(lambda: TREES[shape](1_000)), calls(lambda: TREES[shape](4_000))
    assert few > 1_000
    assert many < 4.2 * few


@pytest.mark.parametrize("work", WORK)
@pytest.mark.parametrize("shape", TREES)
def test_using_takes_work_in_step_with_size(shape: str, work: str) -> None:
    def amount(n: int) -> int:
        linkage = built(shape, n)
        q = linkage.random_pose(0)
        linkage.forward(q, frame="tip")  # imports and caches
        fresh = linkage.replace(name="fresh")
        return calls(lambda: WORK[work](fresh, q))

    amount(10)
    few, many = amount(250), amount(1_000)
    assert many < 4.2 * few + 100


def test_deep_trees_need_no_deep_stack() -> None:
    limit = sys.getrecursionlimit()
    arm = chain(5 * limit)
    q = np.zeros(arm.nq)
    copied = arm.replace(name="copy").split()
    assert copied.nq == arm.nq
    assert sum(1 for _ in copied.traverse(q)) == arm.nq + 1
    assert_allclose(copied.forward(q, frame="tip")[0, 3], 0.001 * (arm.nq + 1))
    assert repr(arm).startswith("<Linkage 'chain'")
    assert arm != copied
