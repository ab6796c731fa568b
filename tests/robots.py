"""Robot files: real ones from a package, one with many oddities, and small ones for single rules.

`example-robot-data` is the collection that Pinocchio is tested with; Pinocchio computes the reference placements.
"""

from __future__ import annotations

import math
from pathlib import Path
from types import ModuleType

import numpy as np
from numpy.testing import assert_allclose

from linkwork.formats import urdf
from linkwork.formats.content import Content
from linkwork.formats.options import Options
from linkwork.linkage.joints import Floating
from linkwork.linkage.linkage import Linkage
from sixty_robots import located

# Oddities of real robots in one file: a blank line before the XML declaration, CRLF, names with dots and hyphens, a
# floating joint in the file, axes that are zero, not of unit length, skew or missing, numbers with exponents, followers
# with multiplier and offset, a prismatic joint in mid chain, limits without bounds.
ODD = """
<?xml version="1.0"?>
<robot name="odd robot" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <!-- a comment -->
  <link name="world"/>
  <link name="base_link"><inertial><origin xyz="1e-2 0 -.5E-1"/><mass value="4.5"/>
    <inertia ixx="0.1" ixy="1e-3" ixz="0" iyy="0.2" iyz="-2e-3" izz="0.25"/></inertial></link>
  <link name="arm-1"><inertial><origin xyz="0 0 .1" rpy="0.2 0 1"/><mass value="1"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.02"/></inertial></link>
  <link name="slide_2.0"/> <link name="arm-3"/> <link name="finger.0"/> <link name="finger.1"/> <link name="wheel"/>
  <link name="tool"><inertial><mass value="0.25"/>
    <inertia ixx="1e-4" ixy="0" ixz="0" iyy="1e-4" iyz="0" izz="1e-4"/></inertial></link>
  <joint name="free" type="floating"><parent link="world"/><child link="base_link"/><axis xyz="0 0 0"/></joint>
  <joint name="base_link-arm" type="revolute"><origin xyz="0 .1 0.2" rpy="0 0.3 -1.5707963267948966"/>
    <parent link="base_link"/><child link="arm-1"/><axis xyz="2 1 1"/>
    <limit lower="-2" upper="1.5" effort="1" velocity="1"/></joint>
  <joint name="joint_2.0" type="prismatic"><origin xyz="0 0 0.3"/><parent link="arm-1"/><child link="slide_2.0"/>
    <axis xyz="1 0 .5"/><limit upper="0.4" lower="-1e-1" effort="1" velocity="1"/></joint>
  <joint name="joint_3.0" type="revolute"><parent link="slide_2.0"/><child link="arm-3"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
  <joint name="leader" type="revolute"><origin rpy="1 0 0"/><parent link="arm-3"/><child link="finger.0"/>
    <axis xyz="0 0 1"/><limit lower="0" upper="1" effort="1" velocity="1"/></joint>
  <joint name="follower" type="revolute"><origin xyz="0.1 0 0"/><parent link="arm-3"/><child link="finger.1"/>
    <axis xyz="0 -1 0"/>
    <limit lower="-6" upper="6" effort="1" velocity="1"/><mimic joint="leader" multiplier="-0.5" offset="0.25"/></joint>
  <joint name="rolls" type="continuous"><origin xyz="-0.2 0 0"/><parent link="base_link"/><child link="wheel"/></joint>
  <joint name="weld" type="fixed"><origin xyz="0 0 1e-1"/><parent link="arm-3"/><child link="tool"/>
    <axis xyz="0 0 0"/></joint>
</robot>
""".replace("\n", "\r\n")

SHIPPED = {
    path.rpartition("/")[2]: path
    for path in (
        "allegro_hand_description/urdf/allegro_left_hand",  # names with dots
        "baxter_description/urdf/baxter",  # two arms, fingers that follow
        "double_pendulum_description/urdf/double_pendulum",  # CRLF, limits that are both zero
        "human_description/robots/human",
        "icub_description/robots/icub",
        "kinova_description/robots/kinova",  # wheels without limits
        "panda_description/urdf/panda",  # tabs, a namespace, a follower
        "pr2_description/urdf/pr2",  # ten followers, wheels
        "simple_humanoid_description/urdf/simple_humanoid",  # comments everywhere
        "so_arm_description/urdf/so101",
        "solo_description/robots/solo12",
        "talos_data/robots/talos_full_v2",
        "ur_description/urdf/ur5_robot",  # names with hyphens
    )
}
ROBOTS = (*SHIPPED, "odd")


def shipped(name: str) -> Path:
    """Return the file of a robot in the package."""
    return located("example-robot-data", f"{SHIPPED[name]}.urdf")


def gymnasium(name: str) -> Path:
    """Return the file of a MuJoCo model in the package of environments."""
    return located("gymnasium", f"{name}.xml")


def pinocchio_model(pin: ModuleType, path: Path) -> object:
    return pin.buildModelFromXML(
        path.read_text(encoding="utf-8").lstrip()
    )  # Pinocchio's reader refuses a blank line before the declaration


def pinocchio_pose(pin: ModuleType, model: object, linkage: Linkage, q: np.ndarray) -> np.ndarray:
    """Return a pose in Pinocchio's form: followers have values, and joints without limits have cosine and sine."""
    theirs = pin.neutral(model)
    for arc, drive in zip(linkage.arcs, linkage.drives, strict=True):
        if arc.articulation.nq == 0:
            continue
        joint = model.joints[model.getJointId(arc.name)]
        values = drive.multiplier * q[drive.q : drive.q + arc.articulation.nq] + drive.offset
        if isinstance(arc.articulation, Floating):
            values = values[[0, 1, 2, 4, 5, 6, 3]]
        elif joint.nq == 2:  # a wheel
            values = [math.cos(values[0]), math.sin(values[0])]
        elif joint.nq == 4:  # in a plane
            values = [*values[:2], math.cos(values[2]), math.sin(values[2])]
        theirs[joint.idx_q : joint.idx_q + joint.nq] = values
    return theirs


def same_as_pinocchio(pin: ModuleType, model: object, linkage: Linkage) -> None:
    """Compare every link at three poses."""
    data = model.createData()
    for q in linkage.random_pose(5, 3):
        pin.framesForwardKinematics(model, data, pinocchio_pose(pin, model, linkage, q))
        frames = linkage.forward(q)
        for name in linkage.links:
            place = data.oMf[model.getFrameId(name, pin.FrameType.BODY)].homogeneous
            assert_allclose(frames[name], place, rtol=0, atol=1e-9)


def read(path: Path, text: str | bytes, **options) -> Content:
    path = path / "robot.urdf" if path.is_dir() else path
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return urdf.read(path, Options(**options))


def kinds(remarks) -> list[str]:
    return sorted({remark.kind for remark in remarks})


ARM = """<?xml version="1.0"?>
<robot name="arm">
  <link name="base"/>
  <link name="hand"/>
  <joint name="j" {joint}>
    <parent link="base"/>
    <child link="hand"/>
    {inside}
  </joint>
  {more}
</robot>
"""


def arm(joint: str = 'type="fixed"', inside: str = "", more: str = "") -> str:
    return ARM.format(joint=joint, inside=inside, more=more)


STEEL = '<material name="steel"><color rgba="0.1 0.2 0.3 1"/></material>'
LINK = f'<robot name="r">{STEEL}{{before}}<link name="a">{{inside}}</link></robot>'
MESH = '<visual><geometry><mesh filename="{}"/></geometry></visual>'
