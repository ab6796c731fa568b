"""Seeds for fuzzing: small synthetic files that together reach every part of a reader."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

import numpy as np

import captures
import gltf_files
import linkwork as lw
import scenes
from fbx_files import Node, fbx_text
from linkages import random_tree
from marker_files import DEC, INTEL, SGI, c3d, trc
from robots import ODD

XACRO = """<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">
<xacro:arg name="parts" default="2"/><xacro:property name="length" value="0.5"/>
<xacro:macro name="part" params="k"><link name="link${k}"/>
<joint name="j${k}" type="revolute">
<parent link="${'base' if k == 1 else 'link' + str(k - 1)}"/><child link="link${k}"/>
<origin xyz="${length * k} 0 0"/><limit lower="${-pi / 2}" upper="${radians(90)}" velocity="2" effort="$(eval 10 + 1)"/>
</joint><xacro:if value="${k &lt; $(arg parts)}"><xacro:part k="${k + 1}"/></xacro:if></xacro:macro>
<link name="base"/><xacro:part k="1"/></robot>
"""
MJCF = """<mujoco model="arm"><compiler angle="degree" eulerseq="zyx" autolimits="true"/>
<default><geom density="100"/><default class="v"><geom type="mesh" contype="0"/><joint damping="1"/></default></default>
<asset><mesh name="inline" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/><material name="red" rgba="1 0 0 1"/>
<hfield name="h" nrow="2" ncol="3" size="1 2 0.5 0.1" elevation="5 6 7 1 2 3"/></asset>
<worldbody><geom type="plane" size="1 1 .1"/><geom type="hfield" hfield="h"/><light pos="0 0 3"/><site name="s"/>
<body name="a" pos="0 0 1" quat="1 0 .5 0"><freejoint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
<body name="b" pos=".1 0 0" euler="0 30 0" childclass="v"><joint name="x" axis="0 1 0" range="-90 45" ref="10"/>
<geom class="v" mesh="inline" material="red"/><body name="c" pos="0 .2 0" axisangle="0 1 0 20"><joint name="y"/>
<geom type="capsule" fromto="0 0 0 0 0 .2" size=".02"/><site name="tip" pos="0 0 .2"/>
<body name="d"><joint name="z" type="ball"/><geom size=".1"/></body></body></body></body>
<body name="e"><joint name="w" type="slide" limited="false"/><geom type="box" size=".1 .2 .3"/></body></worldbody>
<tendon><fixed name="t"><joint joint="x" coef=".5"/><joint joint="y" coef="-.4"/></fixed></tendon>
<equality><connect body1="c" body2="e" anchor="0 0 0"/><joint joint1="y" joint2="x" polycoef=".1 2 0 0 0"/></equality>
<actuator><position joint="w" kp="5" forcerange="-1 1"/></actuator>
<contact><exclude body1="a" body2="c"/></contact>
<keyframe><key name="home" qpos="0 0 1 1 0 0 0 .1 .2 1 0 0 0 .3"/></keyframe></mujoco>
"""
LOOPED = """<mujoco><worldbody><body name="a" pos="1 0 0"><joint name="x"/><geom size=".1"/>
<body name="c" pos="0 1 0"><joint name="y"/><geom size=".1"/></body></body>
<replicate count="2" offset="0 .1 0" euler="0 0 30">
<body name="d"><joint type="hinge"/><geom size=".1"/></body></replicate>
</worldbody><equality><weld body1="c" relpose="0 0 0 1 0 0 0"/></equality></mujoco>
"""
SRDF = """<robot name="arm"><group name="arm"><chain base_link="link0" tip_link="link2"/></group>
<group name="one"><joint name="j1"/></group><group name="all"><group name="arm"/><link name="link1"/></group>
<group_state name="up" group="arm"><joint name="j1" value="0.25"/><joint name="j2" value="1"/></group_state>
<virtual_joint name="floor" type="planar" parent_frame="odom" child_link="link0"/><passive_joint name="j2"/>
<end_effector name="hand" parent_link="link2" group="one"/>
<disable_collisions link1="link0" link2="link2" reason="Never"/></robot>
"""
PLANNING = """name: scene
robot_state: {attached_collision_objects: [{link_name: hand, touch_links: [hand], object: {header: {frame_id: hand},
  id: cup, pose: {position: {x: 0, y: 0, z: 0.1}}, primitives: [{type: 3, dimensions: [0.2, 0.03]}]}}]}
allowed_collision_matrix: {entry_names: [shelf, base], entry_values: [[false, true], {enabled: [true, false]}]}
fixed_frame_transforms: [{child_frame_id: camera, transform: {translation: {x: 1, y: 2, z: 3},
  rotation: {x: 0, y: 0, z: 0.6, w: 0.8}}}]
world: {collision_objects: [{header: {frame_id: camera}, id: shelf, primitives: [{type: 1, dimensions: [1, 2, 3]},
  {type: 4, dimensions: [0.2, 0.1]}], primitive_poses: [{position: [1, 0, 0]}, {}], planes: [{coef: [1, 0, 0, -2]}],
  meshes: [{vertices: [[0, 0, 0], [1, 0, 0], [0, 1, 0]], triangles: [{vertex_indices: [0, 1, 2]}]}]}]}
"""
SCENE_TEXT = "old\n* box\n1\nbox\n1 2 3\n0 0 1\n0 0 0 1\n0 0 0 0\n* ball\n1\nsphere\n0.5\n1 1 1\n0 0 0 1\n1 0 0 1\n.\n"
TRAJECTORY = """joint_names: [j1, j2]
points:
- {positions: [0.1, 0.2], time_from_start: {sec: 0, nanosec: 0}}
- {positions: [0.3, 0.1], velocities: [0, 0], time_from_start: {sec: 1, nanosec: 500000000}}
"""


def arm() -> lw.Linkage:
    """The linkage for files that hold only poses, groups or motions."""
    return lw.models.planar([2, 1])


def seeds(kind: str) -> list[bytes]:
    """Return files of a kind, as bytes."""
    match kind:
        case "urdf":
            return [_saved(make(), ".urdf") for make in (lw.models.ur5, lw.models.engine)] + [ODD.encode()]
        case "xacro":
            return [XACRO.encode()]
        case "mjcf":
            return [MJCF.encode(), LOOPED.encode()]
        case "bvh":
            return [captures.CAPTURES[name]().text().encode() for name in ("head", "worm")] + [_saved(waving(), ".bvh")]
        case "gltf" | "glb":
            files = [gltf_files.character(), gltf_files.rigged("rotation", "CUBICSPLINE")[0], gltf_files.dressed()[0]]
            made = [_saved(waving(), f".{kind}"), _saved(lw.models.engine(), f".{kind}")]
            with tempfile.TemporaryDirectory() as folder:
                return made + [file.save(Path(folder), f"file.{kind}").read_bytes() for file in files]
        case "usda" | "usdc":
            return [_saved(waving(), f".{kind}"), _saved(random_tree(np.random.default_rng(0), 4), f".{kind}")]
        case "fbx":
            return [text.encode() for text in (_fbx(None), _fbx(np.eye(4)))]
        case "yaml" | "json":
            things = [scenes.every_shape(), scenes.loops(), scenes.couplings(), scenes.odd_floats(), lw.models.ur5()]
            return [_saved(thing, f".{kind}") for thing in things]
        case "npz":
            return [_saved(waving(), ".npz")]
        case "smpl":
            return [_archive(poses=np.zeros((2, 72)), trans=np.zeros((2, 3)), mocap_framerate=30.0, betas=np.zeros(10))]
        case "csv":
            return [_saved(waving(), ".csv")]
        case "trajectory":
            return [TRAJECTORY.encode()]
        case "srdf":
            return [SRDF.encode()]
        case "c3d":
            return [c3d(maker, whole=whole) for maker in (INTEL, DEC, SGI) for whole in (True, False)]
        case "trc":
            return [trc().encode(), trc(",").encode()]
        case "planning":
            return [PLANNING.encode()]
        case "scene":
            return [SCENE_TEXT.encode()]
    raise LookupError(kind)


def waving() -> lw.Clip:
    """A short motion of a small arm."""
    linkage = arm()
    return lw.interpolate(linkage, [(0.0, linkage.neutral()), (0.2, linkage.pose(j1=0.5))], fps=10)


def _saved(thing: lw.Linkage | lw.Clip, suffix: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"seed{suffix}")
        lw.save(thing, path)
        return path.read_bytes()


def _archive(**arrays: object) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


def _fbx(bind: np.ndarray | None) -> str:
    turn = {"Lcl Rotation": ((0.0, 0.5, 1.0), ((0, 0, 0), (0, 0, 45), (10, 20, 30)))}
    nodes = [
        Node("root", kind="Null", properties={"Lcl Scaling": (2.0, 2.0, 2.0)}),
        Node("hip", 0, {"Lcl Translation": (0.0, 90.0, 0.0), "RotationOrder": 2}, turn, bind=bind),
        Node("knee", 1, {"Lcl Translation": (0.0, -40.0, 0.0), "PreRotation": (0.0, 0.0, 10.0)}, turn, bind=bind),
    ]
    return fbx_text(nodes)
