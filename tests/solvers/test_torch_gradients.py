"""Differentiable solves in PyTorch, compared with finite differences, NumPy and each other."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from gradient_arms import ARMS
from linkwork.errors import DeviceError, OptionError
from linkwork.solvers import differentiable

torch = pytest.importorskip("torch")  # 200 MB and more: not in the dev extra
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated")  # PyTorch's forward mode uses it


def as_pose(T: Any, x: Any) -> Any:
    """Return poses (..., 4, 4) moved by twists (..., 6), as a user may write it."""
    zero = torch.zeros_like(x[..., 0])
    rows = ((zero, -x[..., 5], x[..., 4]), (x[..., 5], zero, -x[..., 3]), (-x[..., 4], x[..., 3], zero))
    turn = torch.linalg.matrix_exp(torch.stack([torch.stack(row, -1) for row in rows], -2))
    top = torch.cat([turn @ T[..., :3, :3], (T[..., :3, 3] + x[..., :3])[..., None]], -1)
    return torch.cat([top, torch.broadcast_to(T[..., 3:, :], (*top.shape[:-2], 1, 4))], -2)


def case(name: str, count: int = 3, seed: int = 0, **options: Any) -> tuple[Any, Any, Any]:
    """Return a solver, poses away from singular ones, and their targets, as tensors."""
    arm = ARMS[name]()
    ik = lw.differentiable(arm, "tip", library="torch", **options)
    q = arm.random_pose(seed, 40)
    told = ik.derivative(q)
    q = q[~told.singular & (np.abs(told.matrix).max(axis=(-1, -2)) < 10.0)][:count]
    assert len(q) == count
    return ik, torch.tensor(q), torch.tensor(arm.forward(q, frame="tip"))


@pytest.mark.parametrize("name", ["panda", "ur5", "stanford"])
def test_gradients_of_poses(name: str) -> None:
    ik, q, T = case(name)
    x = torch.zeros(3, 6, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: ik(as_pose(T, x), start=q)[0], (x,), check_forward_ad=True)


@pytest.mark.parametrize("name", ["panda", "planar", "scara", "slides", "balls", "five"])
def test_gradients_of_poses_that_other_joints_lead_to(name: str) -> None:
    """Targets come from moving joints, so arms with few joints can reach them."""
    ik, q, _ = case(name)
    x = torch.zeros(3, q.shape[-1], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: ik(ik.forward(q + x), start=q)[0], (x,), check_forward_ad=True, atol=1e-4)


def test_gradients_of_positions() -> None:
    ik, q, T = case("planar", orientation=False)
    plane = torch.tensor([1.0, 1.0, 0.0])
    p = T[:, :3, 3].clone().requires_grad_()
    assert torch.autograd.gradcheck(lambda p: ik(p * plane, start=q)[0], (p,), check_forward_ad=True)


@pytest.mark.parametrize("name", ["panda", "slides", "balls"])
def test_gradients_of_forward_kinematics(name: str) -> None:
    ik, q, _ = case(name)
    q.requires_grad_()
    assert torch.autograd.gradcheck(ik.forward, (q,), check_forward_ad=True)


def test_the_same_numbers_as_with_numpy() -> None:
    ik, q, T = case("panda", 5)
    x = torch.zeros(5, 6, dtype=torch.float64)

    def solved(x: Any, T: Any, q: Any) -> Any:
        return ik(as_pose(T, x), start=q)[0]

    told = ik.derivative(q.numpy()).matrix
    for derivative in (torch.func.jacrev, torch.func.jacfwd):
        assert torch.func.vmap(derivative(solved))(x, T, q).numpy() == pytest.approx(told, abs=1e-9)
    one = torch.autograd.functional.jacobian(lambda x: solved(x, T[0], q[0]), x[0])
    assert one.numpy() == pytest.approx(told[0], abs=1e-9)


def test_vmap_takes_apart_what_is_shared() -> None:
    ik, q, T = case("ur5", 4)

    def loss(T: Any, start: Any) -> Any:
        return (ik(T, start=start)[0] ** 2).sum()

    whole = T.clone().requires_grad_()
    (ik(whole, start=q[0])[0] ** 2).sum().backward()
    apart = torch.func.vmap(torch.func.grad(loss), (0, None))(T, q[0])
    assert torch.allclose(apart, whole.grad)
    last = torch.func.vmap(torch.func.grad(loss), (2, None), 2)(T.movedim(0, 2), q[0])
    assert torch.allclose(last.movedim(2, 0), whole.grad)
    shared = torch.func.vmap(lambda start: ik(T[0], start=start)[0])(q)
    assert torch.allclose(shared, ik(T[0].expand(4, 4, 4), start=q)[0])


def test_single_precision() -> None:
    ik, q, T = case("panda", 8)
    grown = []
    for dtype in (torch.float64, torch.float32):
        targets = T.to(dtype).clone().requires_grad_()
        poses, success = ik(targets, start=q.to(dtype))
        assert success.all()
        assert poses.dtype == dtype
        (poses**2).sum().backward()
        grown.append(targets.grad)
    assert grown[1].dtype == torch.float32
    assert torch.allclose(grown[0].float(), grown[1], rtol=1e-3, atol=1e-3)


def test_leading_axes_and_starts() -> None:
    ik, q, T = case("ur5", 6)
    found, success = ik(T.reshape(2, 3, 4, 4), start=q.reshape(2, 3, 6))
    assert (found.shape, success.shape) == ((2, 3, 6), (2, 3))
    assert success.all()
    assert torch.allclose(found.reshape(6, 6), q)
    assert ik(T[0], start=q[0].clone().requires_grad_())[0].requires_grad is False
    assert torch.allclose(ik(T[0], start=q[0].tolist())[0], q[0])
    assert ik(T[:0])[0].shape == (0, 6)
    assert ik(np.eye(4))[0].shape == (6,)
    assert ik(torch.eye(4, dtype=torch.int64))[0].dtype == torch.get_default_dtype()
    with pytest.raises(OptionError, match=r"start has shape \(..., 6\), got \(5,\)"):
        ik(T, start=torch.zeros(5))
    with pytest.raises(DeviceError, match="got meta; move them"):
        ik(T.to("meta"))


# Targets that are missed


def test_what_is_not_reached_has_no_gradient_and_spoils_no_other() -> None:
    ik, q, T = case("panda", 4, free="z")
    targets = T.clone()
    targets[1, 0, 3] = 9.0
    targets[2] = torch.nan
    targets.requires_grad_()
    poses, success = ik(targets, start=q)
    assert success.tolist() == [True, False, False, True]
    (poses**2).sum().backward()
    assert torch.isfinite(targets.grad).all()
    assert targets.grad.abs().amax((1, 2)).gt(0).tolist() == [True, False, False, True]


def test_the_distance_of_a_miss_has_its_gradient() -> None:
    """The closest pose is stationary to first order, so only the derivative of the target remains."""
    ik = lw.differentiable(lw.models.planar([2.0, 1.0]), "tip", library="torch", orientation=False)

    def distance(p: Any) -> Any:
        return (ik.forward(ik(p)[0])[..., :3, 3] - p).norm(dim=-1)

    p = torch.tensor([[4.0, 0.5, 0.0], [-1.0, 5.0, 0.0]], dtype=torch.float64, requires_grad=True)
    distance(p).sum().backward()
    assert torch.allclose(p.grad, p.detach() / p.detach().norm(dim=-1, keepdim=True), atol=1e-6)


# In a training loop


def test_a_base_is_learnt() -> None:
    """Joints move to the middle of their ranges while the targets stay."""
    ik, q, T = case("ur5", 6)
    base = torch.zeros(6, dtype=torch.float64, requires_grad=True)
    worker = torch.optim.Adam([base], lr=0.02)
    away = []
    for _ in range(25):
        poses, success = ik(torch.linalg.inv(as_pose(torch.eye(4, dtype=torch.float64), base)) @ T, start=q)
        loss = ((poses - q.mean(0)) ** 2)[success].mean()
        worker.zero_grad()
        loss.backward()
        worker.step()
        away.append(loss.item())
    assert away[-1] < 0.97 * away[0]


def test_modules_hold_it() -> None:
    ik, q, T = case("ur5")

    class Policy(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.ik, self.shift = ik, torch.nn.Parameter(torch.zeros(4, 4, dtype=torch.float64))

        def forward(self, targets: Any) -> Any:
            return self.ik(targets + self.shift, start=q)[0]

    for policy in (copy.deepcopy(Policy()), Policy()):
        policy(T).sum().backward()
        assert policy.shift.grad.abs().max() > 0
    assert torch.equal(pickle.loads(pickle.dumps(ik))(T, start=q)[0], ik(T, start=q)[0])


def test_there_is_no_second_derivative() -> None:
    ik, q, T = case("ur5")
    x = torch.zeros(3, 6, dtype=torch.float64, requires_grad=True)
    (first,) = torch.autograd.grad((ik(as_pose(T, x), start=q)[0] ** 2).sum(), x, create_graph=True)
    with pytest.raises(OptionError, match="gradients of solves have no gradients of their own"):
        first.sum().backward()


@pytest.mark.parametrize("name", ["panda", "balls"])
@pytest.mark.parametrize("options", [{}, {"free": "z"}, {"orientation": False}], ids=["pose", "free", "position"])
def test_tensors_of_a_card_take_the_same_way(name: str, options: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in computes the solver's part on the CPU; everything else uses tensors only."""
    ik, q, T = case(name, 4, **options)
    targets = T[:, :3, 3] if "orientation" in options else T
    plain = differentiable.solve_batch

    def there(linkage: Any, frame: str, rows: Any, *, start: Any, **others: Any) -> Any:
        assert isinstance(rows, torch.Tensor)
        found = plain(linkage, frame, rows.numpy(), start=start.numpy(), **others)
        return replace(found, **{n: torch.as_tensor(getattr(found, n)) for n in differentiable_arrays(found)})

    def kinematics(q: Any) -> Any:
        return ik.evaluated(ik.linkage.forward, q), ik.evaluated(ik.linkage.jacobian, q)

    expected = ik(targets, start=q)
    monkeypatch.setattr(differentiable, "solve_batch", there)
    monkeypatch.setattr(ik, "_kinematics", kinematics)
    found = ik.solved(torch, targets, q)
    assert torch.allclose(found[0], expected[0], atol=1e-12)
    assert torch.equal(found[1], expected[1])


def differentiable_arrays(batch: lw.Batch) -> tuple[str, ...]:
    """Return the names of the arrays of a batch."""
    return tuple(name for name, value in vars(batch).items() if isinstance(value, np.ndarray))
