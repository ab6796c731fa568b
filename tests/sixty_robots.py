"""Sixty robots from packages of the dev extra: arms, hands, dogs, humanoids, drones and MuJoCo's own models.

`example-robot-data` is the collection that Pinocchio is tested with; `rtb-data` is that of the Robotics Toolbox, 45 MB
of industrial arms without dependencies; `gymnasium` has the MuJoCo models of reinforcement learning.
"""

from __future__ import annotations

import sys
from importlib.metadata import distribution, distributions
from pathlib import Path

FOLDERS = {
    "example-robot-data": "cmeel.prefix/share/example-robot-data/robots",
    "rtb-data": "rtbdata/xacro",
    "gymnasium": "gymnasium/envs/mujoco/assets",
}
FILES = {
    "example-robot-data": """
        a1_description/urdf/a1.urdf
        alex_description/urdf/alex_psyonic_hands.urdf
        alex_description/urdf/alex_sake_hands.urdf
        alexander_description/urdf/alexander_v1.lowerBodyOnly.urdf
        allegro_hand_description/urdf/allegro_right_hand.urdf
        anymal_b_simple_description/robots/anymal-kinova.urdf
        anymal_c_simple_description/urdf/anymal.urdf
        asr_twodof_description/urdf/TwoDofs.urdf
        b1_description/urdf/b1-z1.urdf
        baxter_description/urdf/baxter.urdf
        bolt_description/robots/bolt.urdf
        borinot_description/urdf/borinot_flying_arm_2.urdf
        centauro_description/urdf/centauro.urdf
        double_pendulum_description/urdf/double_pendulum_continuous.urdf
        finger_edu_description/robots/finger_edu.urdf
        g1_description/urdf/g1_29dof_with_hand_rev_1_0.urdf
        go1_description/urdf/go1.urdf
        go2_description/urdf/go2.urdf
        hextilt_description/urdf/hextilt_flying_arm_5.urdf
        human_description/robots/human.urdf
        hyq_description/robots/hyq_no_sensors.urdf
        icub_description/robots/icub.urdf
        iris_description/robots/iris.urdf
        kinova_description/robots/kinova.urdf
        laikago_description/urdf/laikago.urdf
        panda_description/urdf/panda.urdf
        pr2_description/urdf/pr2.urdf
        quadruped_description/urdf/quadruped.urdf
        romeo_description/urdf/romeo.urdf
        simple_humanoid_description/urdf/simple_humanoid.urdf
        so_arm_description/urdf/so100.urdf
        so_arm_description/urdf/so101.urdf
        solo_description/robots/solo.urdf
        solo_description/robots/solo12.urdf
        talos_data/robots/talos_full_v2.urdf
        talos_data/robots/talos_left_arm.urdf
        tiago_description/robots/tiago_dual.urdf
        tiago_description/robots/tiago_no_hand.urdf
        tiago_pro_description/robots/tiago_pro.urdf
        ur_description/urdf/ur3_robot.urdf
        ur_description/urdf/ur5_joint_limited_robot.urdf
        ur_description/urdf/ur10_robot.urdf
        xarm_description/urdf/xarm7.urdf
        z1_description/urdf/z1.urdf
        """,
    "rtb-data": """
        abb_irb140_description/urdf/irb140.urdf
        kuka_description/kuka_kr16/urdf/kr16_2.urdf
        kuka_description/kuka_kr120/urdf/kr120r2500pro.urdf
        kuka_description/kuka_kr210/urdf/kr210l150.urdf
        kuka_description/kuka_lbr_iiwa/urdf/lbr_iiwa_14_r820.urdf
        lynxmotion_al5d_description/urdf/al5d_robot.urdf
        unimation_puma560_description/urdf/puma560_robot.urdf
        """,
    "gymnasium": """
        ant.xml
        half_cheetah.xml
        hopper.xml
        humanoid.xml
        inverted_double_pendulum.xml
        pusher.xml
        reacher.xml
        swimmer.xml
        walker2d.xml
        """,
}
SIXTY = {Path(file).stem: (package, file) for package, files in FILES.items() for file in files.split()}


def installed(name: str) -> Path:
    """Return the file of one of the sixty robots."""
    return located(*SIXTY[name])


def located(package: str, file: str) -> Path:
    """Return the file of a robot in a package; skip the test on Windows if the package has no wheel there."""
    if sys.platform == "win32" and not any(distributions(name=package)):
        import pytest  # imported here because the fuzz extra does not have it

        pytest.skip(f"{package} has no wheel for Windows", allow_module_level=True)
    return Path(str(distribution(package).locate_file(f"{FOLDERS[package]}/{file}")))


def is_installed(name: str) -> bool:
    """Return whether the package of one of the sixty is installed."""
    return any(distributions(name=SIXTY[name][0]))
