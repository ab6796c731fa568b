"""Write URDF files: the same motion with the same coordinate names, and remarks on differences.

Joints of kinds that URDF does not have are split into several.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np

from ..errors import FormatError, Remark
from ..linkage.geometry import Box, Capsule, Cylinder, Mesh, Shape, Sphere, Visual
from ..linkage.joints import Articulation, Fixed, Joint, Mimic, Prismatic, Revolute, Screw
from ..linkage.motion_limits import MOTION_LIMITS
from ..linkage.tree import ROOT, Link, fresh
from ..transforms import IDENTITY, FloatArray
from . import meshes
from .atomic_files import write_text
from .content import Content
from .options import DEFAULTS, FilePath
from .urdf_links import capsule_parts
from .urdf_source import UNLIMITED, turn
from .xml import quoted

WORLD = "world"  # the parent link of the root arc
NONE = (math.inf,)  # motion limit of a joint without one
ROTATION_TOLERANCE = 1e-9
DIGITS = range(1, 17)

_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write(content: Content, path: FilePath) -> tuple[Remark, ...]:
    """Write a linkage as URDF and return remarks on what the file stores differently, or not at all.

    Raises:
        FormatError: If a name contains a character that XML cannot store, or the file cannot be written.
    """
    writer = _Writer(content, path)
    write_text(path, "\n".join(writer.lines()) + "\n")
    return tuple(writer.remarks.values())


def roll_pitch_yaw(rotation: FloatArray) -> tuple[float, float, float]:
    """Return the angles of a rotation about fixed x, y and z axes, with the fewest digits that give the same matrix.

    Near gimbal lock only the sum or difference of roll and yaw is well defined. So roll is computed from the rotation
    with yaw removed; then the three angles give the rotation for any yaw.

    Example:
        >>> roll_pitch_yaw(np.array(turn(0.1, 1.5708, -3.0)))
        (0.1, 1.5708, -3.0)
    """
    rows = rotation.tolist()
    yaw = math.atan2(rows[1][0], rows[0][0])
    pitch = math.atan2(-rows[2][0], math.hypot(rows[0][0], rows[1][0]))
    c, s = math.cos(yaw), math.sin(yaw)
    roll = math.atan2(s * rows[0][2] - c * rows[1][2], c * rows[1][1] - s * rows[0][1])
    roll, pitch, yaw = roll + 0.0, pitch + 0.0, yaw + 0.0  # no negative zeros
    half = [math.copysign(math.pi, angle) for angle in (roll, pitch, yaw)]
    both = (roll, pitch, yaw), (roll - half[0], half[1] - pitch, yaw - half[2])  # and the other solution
    for digits, angles in product(DIGITS, both):
        short = round(angles[0], digits) + 0.0, round(angles[1], digits) + 0.0, round(angles[2], digits) + 0.0
        if turn(*short) == rows:
            return short
    for angles in both:
        around = [(angle, math.nextafter(angle, math.inf), math.nextafter(angle, -math.inf)) for angle in angles]
        for near in product(*around):
            if turn(*near) == rows:
                return near[0], near[1], near[2]
    return both[0]


def _number(value: float) -> str:
    return repr(value).removesuffix(".0") if math.isfinite(value) else repr(math.copysign(UNLIMITED, value))


def _numbers(values: Iterable[float]) -> str:
    return " ".join(map(_number, values))


class _Writer:
    """Converts the parts of a linkage to lines of XML, and collects remarks."""

    def __init__(self, content: Content, path: FilePath) -> None:
        self.content, self.path = content, path
        self.linkage = content.linkage
        self.remarks: dict[str, Remark] = {}
        self.link_names = set(self.linkage.frames)
        self.joint_names = {arc.name for arc in self.linkage.arcs}
        self.colors: dict[tuple[float, float, float], str] = {}
        self.links: list[Link] = []
        self.joints: list[Joint] = []

    # Remarks

    def remark(self, key: str, kind: str, text: str, where: str = "") -> None:
        """Add a remark unless one with this key exists; the first may name an example."""
        self.remarks.setdefault(key, Remark(kind, text, where))

    def check_lost(self) -> None:
        """Add remarks on what URDF cannot store."""
        lost = (
            ("poses", len(self.linkage.poses), "named pose"),
            ("loops", len(self.linkage.loops), "closed loop"),
            ("couplings", len(self.linkage.couplings), "coupling"),
            ("cones", len(self.linkage.cones), "swing and twist limit"),
            ("clips", len(self.content.clips), "clip"),
            ("groups", len(self.linkage.groups), "joint group"),
            ("pairs", len(self.linkage.disabled_pairs), "disabled pair"),
        )
        for key, count, what in lost:
            if count:
                self.remark(key, "dropped", f"{count} {what}{'s' * (count > 1)} left out: URDF cannot store any.")
        root = self.linkage.root
        others = {arc.name for arc in self.linkage.arcs[1:]}
        if self.links[0] is self.linkage.nodes[0] and root.name != fresh(ROOT, others):
            self.remark("root", "dropped", f"the name {root.name!r} of the root arc is left out: URDF cannot store it.")

    # Links and joints

    def arrange(self) -> None:
        """Collect the links and joints to write, with those added for a root arc, split joints and frames."""
        root, nodes = self.linkage.root, self.linkage.nodes
        if not (isinstance(root.articulation, Fixed) and np.array_equal(root.placement, IDENTITY)):
            world = self.new_link(WORLD)
            text = f"the root arc is written as joint {root.name!r} below a new link {world!r}."
            self.remark("root", "split", text, root.name)
            self.add(replace(root, parent=world))
        self.links.append(nodes[0])
        for node, arc in zip(nodes[1:], self.linkage.arcs[1:], strict=True):
            self.add(arc)
            self.links.append(node)
        for frame in self.linkage.extra_frames:
            self.links.append(Link(frame.name))
            self.joints.append(
                Joint(self.new_joint(f"{frame.name}_joint"), frame.link, frame.name, Fixed(), frame.placement)
            )
            text = f"frames ({len(self.linkage.extra_frames)}) are written as links without shape, on fixed joints."
            self.remark("frames", "split", text, frame.name)

    def new_link(self, name: str) -> str:
        name = fresh(name, self.link_names)
        self.link_names.add(name)
        self.links.append(Link(name))
        return name

    def new_joint(self, name: str) -> str:
        name = fresh(name, self.joint_names)
        self.joint_names.add(name)
        return name

    def add(self, arc: Joint) -> None:
        """Add a joint, split into parts if URDF does not have its kind."""
        motion = arc.articulation
        if isinstance(motion, Screw):
            self.add_screw(arc, motion)
        elif _urdf_type(motion):
            self.joints.append(arc)
        else:
            parts = motion.split()
            names = [self.new_joint(f"{arc.name}.{suffix}") for suffix, _ in parts]
            text = f"joint {arc.name!r} ({motion.kind}) is written as joints {', '.join(names)}."
            self.remark(f"split {arc.name}", "split", text, arc.name)
            parent, placement, limits = arc.parent, arc.placement, arc.part_limits()
            for k, (name, (_, part)) in enumerate(zip(names, parts, strict=True), start=1):
                child = self.new_link(name) if k < len(parts) else arc.child
                self.joints.append(Joint(name, parent, child, part, placement, **limits[k - 1]))
                parent, placement = child, IDENTITY

    def add_screw(self, arc: Joint, screw: Screw) -> None:
        """Add a screw joint as a revolute joint and a prismatic joint that follows it."""
        turn = Revolute(screw.axis, screw.lower, screw.upper)
        advance = screw.elements[0].advance
        if advance == 0.0:
            self.joints.append(replace(arc, articulation=turn))
            return
        between, slide = self.new_link(f"{arc.name}.turn"), self.new_joint(f"{arc.name}.travel")
        lead = Mimic(arc.name, advance)
        if arc.mimic is not None:
            lead = Mimic(arc.mimic.joint, advance * arc.mimic.multiplier, advance * arc.mimic.offset)
        self.joints.append(replace(arc, child=between, articulation=turn))
        self.joints.append(Joint(slide, between, arc.child, Prismatic(screw.axis), mimic=lead))
        text = f"joint {arc.name!r} (screw) is written as a revolute joint and joint {slide!r}, which follows it."
        self.remark(f"split {arc.name}", "split", text, arc.name)

    # Lines

    def lines(self) -> Iterator[str]:
        self.arrange()
        self.check_lost()
        body = [*self.link_lines(), *self.joint_lines()]
        yield '<?xml version="1.0" encoding="utf-8"?>'
        yield f"<robot name={self.quoted(self.linkage.name)}>"
        for color, name in self.colors.items():
            yield f'  <material name="{name}"><color rgba="{_numbers(color)} 1"/></material>'
        yield from body
        yield "</robot>"

    def quoted(self, text: str) -> str:
        if bad := _UNWRITABLE.search(text):
            raise FormatError(self.path, f"the name {text!r} contains {bad[0]!r}, which XML cannot store; rename it.")
        return quoted(text)

    def origin(self, placement: FloatArray) -> str:
        """Return the origin element for a placement."""
        angles = roll_pitch_yaw(placement[:3, :3])
        if np.abs(turn(*angles) - placement[:3, :3]).max() > ROTATION_TOLERANCE:
            text = "rotations that are not exactly orthonormal are written as the nearest rotation."
            self.remark("rotation", "rounded", text)
        return f'<origin xyz="{_numbers(placement[:3, 3].tolist())}" rpy="{_numbers(angles)}"/>'

    def link_lines(self) -> Iterator[str]:
        for link in self.links:
            inside = [*self.inertial_lines(link), *self.visual_lines(link)]
            yield f"  <link name={self.quoted(link.name)}{'' if inside else '/'}>"
            if inside:
                yield from (f"    {line}" for line in inside)
                yield "  </link>"

    def inertial_lines(self, link: Link) -> Iterator[str]:
        inertia = link.inertia
        if inertia is not None and not inertia.known:
            text = "links of unknown mass are written without a mass: URDF cannot mark it as unknown."
            self.remark("unknown mass", "dropped", text, link.name)
        if inertia is None or not inertia.known:
            return
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = inertia.matrix.tolist()
        moments = {"ixx": xx, "ixy": xy, "ixz": xz, "iyy": yy, "iyz": yz, "izz": zz}
        attributes = " ".join(f'{key}="{_number(value)}"' for key, value in moments.items())
        yield "<inertial>"
        yield f'  <origin xyz="{_numbers(inertia.center.tolist())}"/>'
        yield f'  <mass value="{_number(inertia.mass)}"/>'
        yield f"  <inertia {attributes}/>"
        yield "</inertial>"

    def visual_lines(self, link: Link) -> Iterator[str]:
        folded = not np.array_equal(link.matrix, IDENTITY)
        for number, visual in enumerate(link.visuals, start=1):
            if folded:
                text = "node transforms of links are merged into the origins of their shapes."
                self.remark("node", "dropped", text, link.name)
                visual = replace(visual, placement=link.matrix @ visual.placement)
            if isinstance(visual.shape, Capsule):
                text = "capsules are written as a cylinder and two spheres: URDF has no capsules."
                self.remark("capsule", "split", text, link.name)
                for name, part in capsule_parts(visual, f"{link.name}.capsule{number}").items():
                    yield from self.part_lines(link, part, f" name={self.quoted(name)}")
            else:
                yield from self.part_lines(link, visual)

    def part_lines(self, link: Link, visual: Visual, name: str = "") -> Iterator[str]:
        """Yield the lines of one shape; `name` is its name attribute."""
        shape = self.shape(visual.shape)
        if shape is None:
            text = f"shapes of kind {visual.shape.kind!r} are left out: URDF has no such shape."
            self.remark(f"shape {visual.shape.kind}", "dropped", text, link.name)
            return
        yield f"<{visual.role}{name}>"
        yield f"  {self.origin(visual.placement)}"
        yield f"  <geometry>{shape}</geometry>"
        if visual.color is not None and visual.role == "collision":
            self.remark("color", "dropped", "colours of collision shapes are left out: URDF has none.", link.name)
        elif visual.color is not None:
            color = self.colors.setdefault(visual.color, f"color{len(self.colors) + 1}")
            yield f'  <material name="{color}"/>'
        yield f"</{visual.role}>"

    def shape(self, shape: Shape) -> str | None:
        """Return the element of a shape; None if URDF does not have it."""
        match shape:
            case Box():
                return f'<box size="{_numbers(shape.size)}"/>'
            case Sphere():
                return f'<sphere radius="{_number(shape.radius)}"/>'
            case Cylinder():
                return f'<cylinder radius="{_number(shape.radius)}" length="{_number(shape.length)}"/>'
            case Mesh():
                return self.mesh(shape)
        return None

    def mesh(self, mesh: Mesh) -> str:
        if mesh.file is not None and meshes.resolve(mesh.path, Path(self.path), DEFAULTS).file is None:
            text = f"mesh {mesh.path} is not found from {os.fspath(self.path)}; copy the mesh files too."
            self.remark(f"mesh {mesh.path}", "missing-mesh", text)
        scale = "" if mesh.scale == (1.0, 1.0, 1.0) else f' scale="{_numbers(mesh.scale)}"'
        return f"<mesh filename={self.quoted(mesh.path)}{scale}/>"

    def joint_lines(self) -> Iterator[str]:
        for joint in self.joints:
            kind = _urdf_type(joint.articulation)
            if kind == "spherical":
                text = "ball joints are written as type spherical, which not every URDF reader supports."
                self.remark("spherical", "extension", text, joint.name)
            yield f"  <joint name={self.quoted(joint.name)} type={self.quoted(kind)}>"
            yield f"    {self.origin(joint.placement)}"
            yield f"    <parent link={self.quoted(str(joint.parent))}/>"
            yield f"    <child link={self.quoted(joint.child)}/>"
            yield from (f"    {line}" for line in self.motion_lines(joint, kind))
            yield "  </joint>"

    def motion_lines(self, joint: Joint, kind: str) -> Iterator[str]:
        motion = joint.articulation
        if kind in ("revolute", "continuous", "prismatic", "planar"):
            yield f'<axis xyz="{_numbers(motion.elements[-1].axis.tolist())}"/>'
        if kind in ("revolute", "prismatic"):
            low, high = (_number(float(end[0])) for end in motion.limits)
            yield f'<limit lower="{low}" upper="{high}" {self.motion_limits(joint)}/>'
        elif kind == "continuous" and _has_motion_limits(joint):
            yield f"<limit {self.motion_limits(joint)}/>"
        elif _has_motion_limits(joint):
            text = f"limits of velocity, acceleration and effort of {kind} joints are left out: URDF has none."
            self.remark(f"limits {kind}", "dropped", text, joint.name)
        if kind == "continuous" and motion.kind == "revolute":
            text = "revolute joints without limits are written as continuous."
            self.remark("continuous", "changed", text, joint.name)
        if joint.mimic is not None:
            multiplier, offset = _number(joint.mimic.multiplier), _number(joint.mimic.offset)
            leader = self.quoted(joint.mimic.joint)
            yield f'<mimic joint={leader} multiplier="{multiplier}" offset="{offset}"/>'

    def motion_limits(self, joint: Joint) -> str:
        """Return the attributes of motion limits; URDF requires effort and velocity."""
        effort, velocity, acceleration = joint.effort, joint.velocity, joint.acceleration
        if effort is None or velocity is None:
            text = f"URDF requires limits of effort and velocity; missing ones are written as {UNLIMITED:g}."
            self.remark("effort", "assumed", text, joint.name)
        result = f'effort="{_number((effort or NONE)[0])}" velocity="{_number((velocity or NONE)[0])}"'
        if acceleration is None:
            return result
        self.remark("acceleration", "extension", "acceleration limits are written, which not every reader supports.")
        return f'{result} acceleration="{_number(acceleration[0])}"'


def _has_motion_limits(joint: Joint) -> bool:
    return any(getattr(joint, what) is not None for what in MOTION_LIMITS)


def _urdf_type(motion: Articulation) -> str:
    """Return the URDF type of an articulation with its limits; empty if URDF has none."""
    limited = bool(np.isfinite(motion.limits).any())
    match motion.kind:
        case "revolute":
            return "revolute" if limited else "continuous"
        case "ball" | "floating" if getattr(motion, "euler", None) is None:
            return "spherical" if motion.kind == "ball" else "floating"
        case "planar" if not limited:
            return "planar"
        case "fixed" | "continuous" | "prismatic":
            return motion.kind
    return ""
