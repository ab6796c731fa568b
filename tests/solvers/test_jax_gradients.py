"""Differentiable solves in JAX, compared with finite differences and NumPy, under JAX's transformations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from gradient_arms import ARMS
from linkwork.errors import OptionError

jax = pytest.importorskip("jax")  # 100 MB and more: not in the dev extra
jnp = jax.numpy


@pytest.fixture(autouse=True)
def _double() -> Iterator[None]:
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


def as_pose(T: Any, x: Any) -> Any:
    """Return a pose (4, 4) moved by a small twist (6,), with a quaternion, as a user may write it."""
    vector = x[3:] / 2.0
    w, (a, b, c) = 1.0 - vector @ vector, vector
    cross = jnp.array([[0.0, -c, b], [c, 0.0, -a], [-b, a, 0.0]])
    turn = jnp.eye(3) + (2.0 * w * cross + 2.0 * cross @ cross) / (w * w + vector @ vector)
    return T.at[:3, :3].set(turn @ T[:3, :3]).at[:3, 3].add(x[:3])


def case(name: str, count: int = 3, seed: int = 0, **options: Any) -> tuple[Any, Any, Any]:
    """Return a solver, poses away from singular ones, and their targets."""
    arm = ARMS[name]()
    ik = lw.differentiable(arm, "tip", library="jax", **options)
    q = arm.random_pose(seed, 40)
    told = ik.derivative(q)
    q = q[~told.singular & (np.abs(told.matrix).max(axis=(-1, -2)) < 10.0)][:count]
    assert len(q) == count
    return ik, jnp.asarray(q), jnp.asarray(arm.forward(q, frame="tip"))


@pytest.mark.parametrize("name", ["panda", "ur5"])
def test_gradients_of_poses(name: str) -> None:
    from jax.test_util import check_grads

    ik, q, T = case(name)
    moved = jax.vmap(as_pose)
    check_grads(lambda x: ik(moved(T, x), start=q)[0], (jnp.zeros((3, 6)),), order=1, eps=1e-5, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("name", ["planar", "scara", "slides", "balls"])
def test_gradients_of_poses_that_other_joints_lead_to(name: str) -> None:
    from jax.test_util import check_grads

    ik, q, _ = case(name)
    x = jnp.zeros_like(q)
    check_grads(lambda x: ik(ik.forward(q + x), start=q)[0], (x,), order=1, eps=1e-5, atol=1e-4, rtol=1e-4)
    check_grads(lambda x: ik.forward(q + x), (x,), order=1, eps=1e-5, atol=1e-6, rtol=1e-6)


def test_all_transformations_agree_with_numpy() -> None:
    ik, q, T = case("panda", 4)
    told = ik.derivative(np.asarray(q)).matrix

    def solved(x: Any, T: Any, q: Any) -> Any:
        return ik(as_pose(T, x), start=q)[0]

    x = jnp.zeros((4, 6))
    for derivative in (jax.jacrev, jax.jacfwd):
        assert np.asarray(jax.jit(jax.vmap(derivative(solved)))(x, T, q)) == pytest.approx(told, abs=1e-9)
    assert np.asarray(jax.jacrev(solved)(x[0], T[0], q[0])) == pytest.approx(told[0], abs=1e-9)


def test_under_jit_with_and_without_starts() -> None:
    ik, q, T = case("ur5", 4)
    for start in (None, q, q[0], "zero", [0.1] * 6):
        found, success = jax.jit(lambda T, start=start: ik(T, start=start))(T)
        assert success.all()
        assert np.abs(np.asarray(ik.forward(found) - T)).max() < 1e-9
    loss = jax.jit(jax.value_and_grad(lambda T: (ik(T, start=q)[0] ** 2).sum()))
    value, grown = loss(T)
    assert float(value) == pytest.approx(float((q**2).sum()))
    assert grown.shape == T.shape
    with pytest.raises(OptionError, match=r"start has shape \(..., 6\), got \(5,\)"):
        ik(T, start=jnp.zeros(5))


def test_single_precision() -> None:
    ik, q, T = case("panda", 6)
    whole = jax.grad(lambda T: (ik(T, start=q)[0] ** 2).sum())(T)
    jax.config.update("jax_enable_x64", False)
    single, start = jnp.asarray(T, jnp.float32), jnp.asarray(q, jnp.float32)
    found, success = ik(single, start=start)
    assert (found.dtype, bool(success.all())) == (jnp.float32, True)
    grown = jax.grad(lambda T: (ik(T, start=start)[0] ** 2).sum())(single)
    assert grown.dtype == jnp.float32
    assert np.asarray(grown) == pytest.approx(np.asarray(whole), rel=1e-3, abs=1e-3)
    assert ik(np.eye(4, dtype=np.int64))[0].dtype == jnp.float32


def test_what_is_not_reached_has_no_gradient_and_spoils_no_other() -> None:
    ik, q, T = case("panda", 4, free="z")
    targets = T.at[1, 0, 3].set(9.0).at[2].set(jnp.nan)
    assert np.asarray(ik(targets, start=q)[1]).tolist() == [True, False, False, True]
    grown = np.asarray(jax.grad(lambda T: (ik(T, start=q)[0] ** 2).sum())(targets))
    assert np.isfinite(grown).all()
    assert (np.abs(grown).max(axis=(1, 2)) > 0).tolist() == [True, False, False, True]
