"""Chains packed for the compiled search: the same kinematics as the linkage, and bounds of their reach."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation

import linkwork as lw
from chains import errors, placed, random_chain, random_placement, reachable, serial
from linkages import JOINTS, one_joint, random_tree
from linkwork.kernels.chain_memory import LIMITS
from linkwork.kernels.joint_step import xyz_quaternion
from linkwork.kernels.search_many import REACHED
from linkwork.linkage.joints import Ball, Floating, Joint, Mimic, Prismatic, Revolute, Screw, Universal
from linkwork.solvers.chain import PARALLEL, SLANTED, Chain, dh_parts, screw, shells
from linkwork.transforms import quaternion_matrix

WIDE = {"tolerance": 1e6, "rotation_tolerance": 4.0}  # every pose is accepted, so that its errors are reported


def reported(chain: lw.Linkage, q: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return position and rotation errors of poses from the kernel, and independent ones."""
    ik = lw.prepare(chain, "tip", **WIDE)
    status = np.zeros(len(q), np.int64)
    values, report = ik.search(targets, status, given=ik.chain.values_of(q), restarts=0)
    away, angle = errors(chain, "tip", q, targets, "pose").T
    clear = angle < 3.14  # half a turn exceeds every tolerance
    assert (status[clear] == REACHED).all()
    assert_array_equal(values[clear], ik.chain.values_of(q)[clear])
    return report[clear, :2], np.stack([away**2, (2.0 * np.sin(angle / 2.0)) ** 2], axis=1)[clear]


X90, Z45 = (
    Rotation.from_euler("x", 90, degrees=True).as_matrix(),
    Rotation.from_euler("z", 45, degrees=True).as_matrix(),
)
TILT = {
    f"{angle:g}": Rotation.from_rotvec([angle, 0, 0]).as_matrix() for angle in (1e-15, 1e-13, 1e-11, 1e-6, 5e-3, 2e-2)
}
AHEAD = placed(None, (0.3, 0.1, 0.2))
HINGES = {
    "one joint": serial([Revolute("z")], [AHEAD], AHEAD),
    "parallel": serial([Revolute("z")] * 3, [AHEAD] * 3, AHEAD),
    "antiparallel": serial([Revolute("z"), Revolute("-z"), Revolute("z")], [placed(np.diag([1, -1, -1]))] * 3, AHEAD),
    "same axis": serial([Revolute("z")] * 2 + [Revolute("-y")], [placed()] * 3, AHEAD),
    "turned about one axis": serial([Revolute("z")] * 3, [placed(Z45, (0, 0, 0.3))] * 3, AHEAD),
    "crossing": serial([Revolute("z")] * 4, [placed(X90)] * 4, AHEAD),
    "skew": serial([Revolute("z")] * 4, [placed(X90 @ Z45, (0.1, 0.2, 0.3))] * 4, AHEAD),
    "negative axes": serial([Revolute(a) for a in ("-x", "-y", "-z", "y")], [AHEAD] * 4, AHEAD),
    "oblique axes": serial([Revolute((1, 2, -3)), Revolute((-1, 0.1, 0.1)), Revolute((1, 2, -3))], [AHEAD] * 3, AHEAD),
    **{f"tilted by {k}": serial([Revolute("z")] * 3, [placed(m, (0.3, 0, 0.1))] * 3, AHEAD) for k, m in TILT.items()},
    "slides": serial([Prismatic("x"), Revolute("z"), Prismatic("-z"), Revolute("x")], [AHEAD] * 4, AHEAD),
    "screw": serial([Revolute("z"), Screw("y", lead=0.3), Revolute("x")], [AHEAD] * 3, AHEAD),
    "screws": serial([Screw((1, 2, 2), lead=-0.4), Screw("-y", lead=0.3)], [placed(X90)] * 2, AHEAD),
    "screw first and last": serial([Screw("z", lead=0.2), Revolute("y"), Screw("x", lead=0.5)], [AHEAD] * 3, AHEAD),
    "ball": serial([Ball(), Revolute("y"), Ball()], [AHEAD] * 3, AHEAD),
    "ball of angles": serial([Ball("zxz"), Ball("YZX")], [AHEAD] * 2, AHEAD),
    "universal": serial([Universal("y", "-x"), Universal((1, 1, 0), (0, 1, 0.2))], [AHEAD] * 2, AHEAD),
    "floating": serial([Revolute("y")], [AHEAD], AHEAD, root=Joint("root", None, "l0", Floating(), AHEAD)),
    "follower": serial([Revolute("z"), Revolute("y"), Prismatic("x")], [AHEAD] * 3, AHEAD, {2: Mimic("j0", -0.2, 0.1)}),
    "screw follower": serial([Revolute("z"), Screw("y", lead=0.1)], [AHEAD] * 2, AHEAD, {1: Mimic("j0", -1.5, 0.4)}),
    "no length at all": serial([Revolute("z"), Revolute("y"), Revolute("x")], [placed()] * 3, placed()),
}  # fmt: skip


@pytest.mark.parametrize("name", HINGES)
def test_the_packed_chain_moves_as_the_linkage_does(name: str) -> None:
    chain, rng = HINGES[name], np.random.default_rng(3)
    got, expected = reported(chain, chain.random_pose(rng, 40), reachable(chain, rng, 40))
    assert_allclose(got, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("joint", JOINTS)
def test_every_kind_of_joint_moves_as_the_linkage_does(joint: str) -> None:
    chain, rng = one_joint(JOINTS[joint]), np.random.default_rng(4)
    got, expected = reported(chain, chain.random_pose(rng, 16), reachable(chain, rng, 16))
    assert_allclose(got, expected, rtol=0, atol=1e-11)


@given(st.integers(0, 2**32 - 1))
def test_random_chains_move_as_the_linkage_does(seed: int) -> None:
    rng = np.random.default_rng(seed)
    chain = random_chain(rng)
    if not Chain(chain, "tip").values:
        return
    got, expected = reported(chain, chain.random_pose(rng, 8), reachable(chain, rng, 8))
    assert_allclose(got, expected, rtol=0, atol=1e-11)


@pytest.mark.parametrize("seed", range(12))
def test_values_go_into_poses_and_come_back(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 10)
    for frame in tree.frames[-4:]:
        packed = Chain(tree, frame)
        poses, others = tree.random_pose(rng, (2, 5))
        back = packed.put(packed.values_of(poses), others.copy())
        assert_allclose(tree.forward(back, frame=frame), tree.forward(poses, frame=frame), atol=1e-12)
        inside, outside = packed.plain
        assert_array_equal(back[:, outside], poses[:, outside])
        touched = {*outside.tolist(), *(place + k for _, place in packed.balls for k in range(4))}
        apart = [k for k in range(tree.nq) if k not in touched]
        assert_array_equal(back[:, apart], others[:, apart])
        assert len(inside) + 3 * len(packed.balls) == packed.values


def test_moving_angles_make_the_quaternion_that_scipy_says() -> None:
    angles = np.random.default_rng(0).uniform(-4, 4, (200, 3))
    expected = Rotation.from_euler("XYZ", angles).as_matrix()
    quaternions = np.transpose(xyz_quaternion(np.sin(angles.T / 2.0), np.cos(angles.T / 2.0)))
    assert_allclose([quaternion_matrix(q) for q in quaternions], expected, atol=1e-14)


# Denavit-Hartenberg rows


def recomposed(matrix: np.ndarray) -> np.ndarray:
    (angle, travel), (cosine, sine, length, offset), after = dh_parts(matrix)
    twist = placed(np.array([[1, 0, 0], [0, cosine, -sine], [0, sine, cosine]]), (length, 0, 0))
    return screw(angle, travel) @ twist @ screw(after, offset)


@given(st.integers(0, 2**32 - 1))
def test_a_hinge_and_two_screws_make_the_transform_again(seed: int) -> None:
    matrix = random_placement(np.random.default_rng(seed))
    sine = np.hypot(matrix[0, 2], matrix[1, 2])
    if PARALLEL <= sine < SLANTED:
        assert dh_parts(matrix) is None
    else:
        assert_allclose(recomposed(matrix), matrix, rtol=0, atol=1e-12)


@pytest.mark.parametrize("angle", [0.0, np.pi, 1e-13, np.pi - 1e-13, 1.001e-2, np.pi / 2, 3.0])
@pytest.mark.parametrize("way", [(0, 0, 0), (1, 0, 0), (0, -2, 0), (0, 0, 3), (0.3, -0.2, 0.1)])
def test_hinges_are_exact_for_special_angles(angle: float, way: tuple[float, ...]) -> None:
    for axis in ("x", "y"):
        for turn in (0.0, 1.0, np.pi, -np.pi / 2):
            matrix = placed(Rotation.from_euler(f"z{axis}".upper(), [turn, angle]).as_matrix(), way)
            assert_allclose(recomposed(matrix), matrix, rtol=0, atol=1e-12)


# Reach


def outside(chain: lw.Linkage, rng: np.random.Generator, count: int) -> float:
    """Return the largest distance of the tip, and of the point on the last axis, outside of its bounds [m]."""
    packed = Chain(chain, "tip")
    centre, point, extents = shells(packed)
    low, high = packed.limits[:, 2], packed.limits[:, 3]
    share = np.clip(rng.uniform(-0.3, 1.3, (count, packed.values)), 0.0, 1.0)  # extremes are at joint limits
    poses = packed.put(low + (high - low) * share, np.tile(chain.neutral(), (count, 1)))
    goals = packed.goals(chain.forward(poses, frame="tip"))
    places = np.stack([goals[:, 9:], goals[:, 9:] - np.einsum("nij,i->nj", goals[:, :9].reshape(-1, 3, 3), point)])
    away = np.linalg.norm(places - centre, axis=-1)
    return float(max((extents[:, 0] - away.min(axis=1)).max(), (away.max(axis=1) - extents[:, 1]).max()))


@pytest.mark.parametrize("model", ["panda", "ur5", "stanford", "scara"])
def test_the_shells_of_a_model_hold_ten_thousand_poses(model: str) -> None:
    arm = getattr(lw.models, model)()
    frame, packed = "tip", Chain(arm, "tip")
    centre, _, extents = shells(packed)
    away = np.linalg.norm(arm.forward(arm.random_pose(0, 10_000), frame=frame)[:, :3, 3] - centre, axis=1)
    assert (away >= extents[0, 0]).all()
    assert (away <= extents[0, 1]).all()
    assert outside(arm, np.random.default_rng(0), 10_000) <= 0.0


@pytest.mark.parametrize("seed", range(60))
def test_the_shells_of_random_chains_hold_what_they_reach(seed: int) -> None:
    rng = np.random.default_rng(1000 + seed)
    assert outside(random_chain(rng, simple=bool(seed % 2)), rng, 2_000) <= 1e-9


@pytest.mark.parametrize("limits", [{"upper": -1.0}, {"lower": 1.0}, {"upper": 4.0}, {"lower": -9.0, "upper": -4.0}])
def test_a_limit_on_one_side_does_not_shorten_the_reach(limits: dict[str, float]) -> None:
    chain = serial([Revolute("z"), Revolute("y", **limits), Revolute("y", **limits)], [AHEAD] * 3, AHEAD)
    assert outside(chain, np.random.default_rng(0), 10_000) <= 1e-9


def test_the_shell_of_a_stretched_arm_is_its_length_and_a_margin() -> None:
    chain = serial(
        [Revolute("z"), Revolute("y"), Revolute("y")], [placed(None, (0, 0, 1))] * 3, placed(None, (0, 0, 0.5))
    )
    centre, _, extents = shells(Chain(chain, "tip"))
    assert_allclose(centre, (0, 0, 2), atol=1e-12)  # the intersection of the first two axes
    assert_allclose(extents[0], (0.5 * 0.99, 1.5 * 1.01), rtol=1e-9)


@pytest.mark.parametrize("name", ["slides", "screw", "follower", "floating"])
def test_where_reach_is_not_known_nothing_is_ruled_out(name: str) -> None:
    assert_array_equal(shells(Chain(HINGES[name], "tip"))[2], [[0, np.inf], [0, np.inf]])


# Starts


@pytest.mark.parametrize("seed", range(8))
def test_the_tables_hold_poses_within_limits_and_where_they_lead(seed: int) -> None:
    chain = random_chain(np.random.default_rng(seed), simple=True)
    packed = Chain(chain, "tip")
    values, frames = packed.table
    assert ((values >= packed.limits[:, 0]) & (values <= packed.limits[:, 1])).all()
    poses = packed.put(values, np.tile(chain.neutral(), (len(values), 1)))
    assert_allclose(frames, packed.goals(chain.forward(poses, frame="tip")), atol=1e-12)


def test_starts_are_drawn_between_limits_and_within_half_a_turn_where_there_are_none() -> None:
    chain = serial(
        [Revolute("z", -0.5, 0.25), Revolute("y"), Revolute("x", upper=-7.0), Prismatic("x")], [AHEAD] * 4, AHEAD
    )
    limits = LIMITS.view(Chain(chain, "tip").limits)
    low, high = limits.start_low, limits.start_high
    assert_allclose(low[:3], (-0.5, -np.pi, -7.0 - np.pi))
    assert_allclose(high[:3], (0.25, np.pi, -7.0))
    assert high[3] == -low[3] > 0.3
