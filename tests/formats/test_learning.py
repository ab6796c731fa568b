"""Motions for learning whole-body control, compared with MuJoCo's results for the same poses."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import FormatError, OptionError
from linkwork.formats import learning

WALKER = """
<mujoco model="walker">
  <worldbody>
    <body name="pelvis" pos="0 0 1">
      <freejoint name="root"/>
      <geom size="0.1"/>
      <body name="left_thigh" pos="0 0.1 0">
        <joint name="left_hip" axis="0 1 0.2"/>
        <geom size="0.05"/>
        <body name="left_foot" pos="0.02 0 -0.4" euler="10 0 20">
          <joint name="left_knee" axis="0 1 0"/>
          <geom size="0.05"/>
        </body>
      </body>
      <body name="right_thigh" pos="0 -0.1 0">
        <joint name="right_hip" axis="0 1 -0.2"/>
        <geom size="0.05"/>
        <body name="right_foot" pos="0.02 0 -0.4">
          <joint name="right_knee" axis="0 1 0"/>
          <geom size="0.05"/>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""
FPS = 50.0
DEPTH_FIRST = ["pelvis", "left_thigh", "left_foot", "right_thigh", "right_foot"]
BY_LEVEL = ["pelvis", "left_thigh", "right_thigh", "left_foot", "right_foot"]


@pytest.fixture(scope="module")
def walk() -> lw.Clip:
    pytest.importorskip("mujoco")
    linkage = lw.loads(WALKER, "mjcf")
    rng = np.random.default_rng(3)
    keys = [(float(k), linkage.integrate(linkage.neutral(), 0.5 * rng.standard_normal(linkage.nv))) for k in range(4)]
    return lw.interpolate(linkage, keys, fps=FPS)


def test_arrays_are_those_of_mujoco(walk, tmp_path):
    mujoco = pytest.importorskip("mujoco")
    walk.save(tmp_path / "walk.npz", layout="mjlab")
    with np.load(tmp_path / "walk.npz") as file:  # without pickle
        made = dict(file)
    assert made["fps"].tolist() == pytest.approx([FPS])
    assert made["body_names"].tolist() == DEPTH_FIRST
    assert made["joint_names"].tolist() == ["left_hip", "left_knee", "right_hip", "right_knee"]
    model = mujoco.MjModel.from_xml_string(WALKER)
    data, values = mujoco.MjData(model), walk.poses  # in MuJoCo's order
    for k in (1, 40, len(walk) - 2):
        data.qpos[:] = values[k]
        mujoco.mj_differentiatePos(model, data.qvel, 2.0 / FPS, values[k - 1], values[k + 1])
        mujoco.mj_forward(model, data)
        assert made["joint_pos"][k] == pytest.approx(data.qpos[7:], abs=1e-6)
        assert made["joint_vel"][k] == pytest.approx(data.qvel[6:], abs=1e-5)
        for i, name in enumerate(DEPTH_FIRST):
            body = model.body(name).id
            assert made["body_pos_w"][k, i] == pytest.approx(data.xpos[body], abs=1e-6)
            assert abs(made["body_quat_w"][k, i] @ data.xquat[body]) == pytest.approx(1.0, abs=1e-6)
            twist = np.zeros(6)
            mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, body, twist, 0)
            assert made["body_ang_vel_w"][k, i] == pytest.approx(twist[:3], abs=1e-4)
            assert made["body_lin_vel_w"][k, i] == pytest.approx(twist[3:], abs=1e-4)


def test_isaac_lab_goes_level_by_level(walk):
    made = learning.arrays(walk, "beyondmimic")
    assert made["body_names"].tolist() == BY_LEVEL
    assert made["joint_names"].tolist() == ["left_hip", "right_hip", "left_knee", "right_knee"]
    assert made["contact_names"].tolist() == ["left_foot", "right_foot"]
    assert made["contacts"].shape == (len(walk), 2)


def test_rows_are_what_csv_to_npz_reads(walk, tmp_path):
    walk.save(tmp_path / "walk.csv", layout="mjlab", fps=25.0)
    rows = np.loadtxt(tmp_path / "walk.csv", delimiter=",")
    values = walk.poses[::2]
    assert rows.shape == (len(values), 11)
    assert rows[:, [0, 1, 2, 7, 8, 9, 10]] == pytest.approx(values[:, [0, 1, 2, 7, 8, 9, 10]], abs=1e-6)
    assert np.abs((rows[:, [6, 3, 4, 5]] * values[:, 3:7]).sum(axis=1)) == pytest.approx(1.0, abs=1e-6)  # w is last


def test_what_learners_cannot_load_is_refused(walk, tmp_path):
    with pytest.raises(FormatError, match=r"\.npz or \.csv"):
        walk.save(tmp_path / "walk.bvh", layout="mjlab")
    with pytest.raises(OptionError, match="mjlab, beyondmimic"):
        walk.save(tmp_path / "walk.npz", layout="gymlab")
    uneven = lw.Clip(walk.linkage, walk.times**2, walk.poses)
    with pytest.raises(FormatError, match="evenly spaced"):
        uneven.save(tmp_path / "walk.npz", layout="mjlab")
    human = lw.models.motion("human:floating")
    with pytest.raises(FormatError, match="has 3 values"):
        human.save(tmp_path / "human.npz", layout="mjlab")
