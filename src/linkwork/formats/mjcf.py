"""Read MJCF, the models of MuJoCo: they are compiled by MuJoCo, then converted joint by joint.

`mjcf_source` sanitises the file, `mjcf_model` compiles it, `mjcf_shapes` reads shapes and `mjcf_masses` masses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import MimicError
from ..linkage.couplings import Coupling
from ..linkage.curves import Polynomial
from ..linkage.joints import Articulation, Ball, Fixed, Floating, Joint, Mimic, Prismatic, Revolute
from ..linkage.linkage import Frame, Link, Linkage, Loop
from ..linkage.tree import fresh
from ..transforms import IDENTITY, FloatArray, axis_rotation, transform
from .content import Content, Remarks, file_errors
from .followers import held
from .meshes import MeshFinder
from .mjcf_masses import weigh
from .mjcf_model import MeshGeom, compiled, placed
from .mjcf_shapes import Looks
from .mjcf_source import MjcfSource, read_source
from .options import DEFAULTS, FilePath, Options

WORLD = "world"
JOINT_KINDS = ("free", "ball", "slide", "hinge")
COORDINATES = [cls().coordinates for cls in (Floating, Ball, Prismatic, Revolute)]  # by kind of joint
SLIDE = JOINT_KINDS.index("slide")  # this kind and the next have one value
ON_JOINT = 1  # kinds of transmission up to this one act on a joint
CONNECT, JOINT, TENDON = 0, 2, 3  # kinds of equality constraints; 1 is a weld
SITE = 6  # object type of a site
POSE_TOLERANCE = 1e-6
CLOSED = 1e-6  # largest gap of a closed loop [m, rad]: MuJoCo's loops are soft, and files have few digits


def read(path: FilePath, options: Options = DEFAULTS) -> Content:
    """Return the content of an MJCF file: links, joints, shapes, sites as frames, keyframes as poses, closed loops.

    Raises:
        FormatError: If the file cannot be read, or MuJoCo refuses it; with its message and, if known, the line.
        MissingExtraError: If MuJoCo is not installed.
    """
    source = read_source(path, options)
    model, meshes = compiled(path, source)
    finder = MeshFinder(Path(path), options)
    with file_errors(path), np.errstate(all="ignore"):  # numbers that are not finite are refused later
        return _MjcfReader(source, model, meshes, finder, options).content()


def _named(kind: str, given: list[str]) -> list[str]:
    """Return names, made from kind and index where missing."""
    taken = set(given)
    return [name or fresh(f"{kind}{i}", taken) for i, name in enumerate(given)]


class _MjcfReader:
    """Converts a compiled model to a linkage."""

    def __init__(
        self,
        source: MjcfSource,
        model: Any,
        meshes: Mapping[int, MeshGeom],
        finder: MeshFinder,
        options: Options = DEFAULTS,
    ) -> None:
        self.closed = CLOSED if options.loop_tolerance is None else options.loop_tolerance
        self.model, self.options, self.remarks = model, options, Remarks(source.remarks)
        self.joints_of: list[Sequence[int]] = [
            range(start, start + number) if number else ()
            for start, number in zip(model.body_jntadr.tolist(), model.body_jntnum.tolist(), strict=True)
        ]
        self.names = _named("body", [model.body(i).name for i in range(model.nbody)])
        self.joint_names = _named("joint", [model.joint(i).name for i in range(model.njnt)])
        self.looks = Looks(model, meshes, self.names, finder)
        self.masses = weigh(source, model, meshes, self.names, finder)
        self.taken = set(self.names)
        self.arc_names = set(self.joint_names)
        self.links: list[Link] = []
        self.joints: list[Joint] = []
        self.frames: list[Frame] = []
        self.loops: list[Loop] = []
        self.mimics: dict[int, Mimic] = {}
        self.couplings: dict[int, Coupling] = {}

    def content(self) -> Content:
        self.visuals = self.looks.visuals()
        self._equalities(self._site_frames())
        linkage = held(self._linkage(self._bodies()), self.options, self.remarks)
        return Content(linkage, {}, (*self.remarks, *self.looks.remarks, *self.masses.remarks()))

    # The tree

    def _bodies(self) -> Joint | None:
        """Create links and joints of all bodies; return the root arc if the world is not a link."""
        top = [i for i in range(1, self.model.nbody) if self.model.body_parentid[i] == 0]
        bare = not self.visuals[0] and not any(frame.link == WORLD for frame in self.frames)  # apart from the floor
        lone = top[0] if len(top) == 1 and bare else None
        if lone is not None and any(JOINT_KINDS[self.model.jnt_type[k]] != "free" for k in self.joints_of[lone]):
            lone = None
        if lone is None:
            self.links.append(Link(WORLD, tuple(self.visuals[0])))
        for i in range(1, self.model.nbody):
            self.links.append(Link(self.names[i], tuple(self.visuals[i]), inertia=self.masses.inertia(i)))
            if i != lone:
                self._arcs(i, self.names[self.model.body_parentid[i]])
        if lone is None:
            return None
        placement = placed(self.model.body_pos[lone], self.model.body_quat[lone])
        if not self.joints_of[lone]:
            return Joint(fresh("root", self.arc_names), None, self.names[lone], Fixed(), placement)
        name = self.model.joint(self.joints_of[lone][0]).name or fresh("root", self.arc_names)
        self.joint_names[self.joints_of[lone][0]] = name
        return Joint(name, None, self.names[lone], Floating())

    def _arcs(self, body: int, parent: str) -> None:
        """Create the joints of a body: one for each MuJoCo joint, connected by links without extent."""
        model, name = self.model, self.names[body]
        placement = placed(model.body_pos[body], model.body_quat[body])
        for k in self.joints_of[body]:
            articulation, anchor, start = self._articulation(k)
            if isinstance(articulation, Floating):
                self.joints.append(Joint(self.joint_names[k], parent, name, articulation))
                return
            last = k == self.joints_of[body][-1] and not anchor.any()
            child = name if last else fresh(f"{name}.{self.joint_names[k]}", self.taken)
            if not last:
                self.taken.add(child)
                self.links.append(Link(child))
            placement = placement @ transform(anchor) @ start
            mimic = self.mimics.get(k)
            effort = self._effort(k)
            self.joints.append(Joint(self.joint_names[k], parent, child, articulation, placement, mimic, effort=effort))
            if last:
                return
            parent, placement = child, transform(-anchor)
        joint = fresh(name, self.arc_names)
        self.arc_names.add(joint)
        self.joints.append(Joint(joint, parent, name, Fixed(), placement))

    def _articulation(self, k: int) -> tuple[Articulation, FloatArray, FloatArray]:
        """Return the articulation of a joint, its position in the body, and the transform due to its `ref`."""
        model = self.model
        kind, axis, anchor = JOINT_KINDS[model.jnt_type[k]], model.jnt_axis[k].copy(), model.jnt_pos[k].copy()
        limited = bool(model.jnt_limited[k])
        if kind == "free":
            return Floating(), anchor, IDENTITY
        if kind == "ball":
            if limited:
                self.remarks.add("dropped", "the range of a ball joint (a cone) is not kept.", self.joint_names[k])
            return Ball(), anchor, IDENTITY
        lower, upper = (float(end) for end in model.jnt_range[k]) if limited else (-np.inf, np.inf)
        ref = float(model.qpos0[model.jnt_qposadr[k]])
        if kind == "slide":
            return Prismatic(axis, lower, upper), anchor, transform(-ref * axis)
        return Revolute(axis, lower, upper), anchor, transform((0.0, 0.0, 0.0), axis_rotation(axis, -ref))

    def _effort(self, k: int) -> float | None:
        """Return the largest total torque or force of the actuators of a joint; None if unlimited."""
        model = self.model
        limits = [float(np.abs(model.jnt_actfrcrange[k]).max())] if model.jnt_actfrclimited[k] else []
        on_joint = (model.actuator_trntype <= ON_JOINT) & (model.actuator_trnid[:, 0] == k)
        if on_joint.any():
            limits.append(sum(self._strength(int(i)) for i in np.flatnonzero(on_joint)))
        most = min(limits, default=np.inf)
        return most if 0.0 < most < np.inf and model.jnt_type[k] >= SLIDE else None

    def _strength(self, i: int) -> float:
        """Return the largest force of an actuator; infinite if unlimited."""
        model, gear = self.model, abs(float(self.model.actuator_gear[i, 0]))
        if model.actuator_forcelimited[i]:
            return gear * float(np.abs(model.actuator_forcerange[i]).max())
        if model.actuator_ctrllimited[i] and model.actuator_gaintype[i] == model.actuator_biastype[i] == 0:  # a motor
            return gear * float(np.abs(model.actuator_gainprm[i, 0] * model.actuator_ctrlrange[i]).max())
        return np.inf

    def _site_frames(self) -> list[str]:
        """Add a frame for each site, and return their names."""
        model = self.model
        placements = map(placed, model.site_pos, model.site_quat)
        rows = enumerate(zip(model.site_bodyid, placements, strict=True))
        return [self._frame(model.site(i).name or f"site{i}", body, placement) for i, (body, placement) in rows]

    def _frame(self, name: str, body: int, placement: FloatArray) -> str:
        """Add a frame and return its name, which is changed if a link has the same."""
        free = fresh(name, self.taken)
        if free != name:
            self.remarks.add("renamed", f"frame {name!r} is renamed {free!r}: the name is already taken.", free)
        self.taken.add(free)
        self.frames.append(Frame(free, self.names[body], placement))
        return free

    # Closed loops and couplings

    def _equalities(self, sites: list[str]) -> None:
        """Convert connect and weld constraints to loops, and joint constraints to followers."""
        model = self.model
        for i in range(model.neq):
            kind, name = int(model.eq_type[i]), model.equality(i).name or f"loop{i}"
            if not model.eq_active0[i]:
                self.remarks.add("dropped", f"the equality constraint {name!r} is inactive and is left out.", name)
            elif kind == TENDON:
                self._tie(name, int(model.eq_obj1id[i]), int(model.eq_obj2id[i]), model.eq_data[i])
            elif kind == JOINT:
                self._couple(name, int(model.eq_obj1id[i]), int(model.eq_obj2id[i]), model.eq_data[i])
            else:
                first, second = self._loop_ends(i, name, sites)
                name = fresh(name, {loop.name for loop in self.loops})
                self.loops.append(Loop(name, first, second, "point" if kind == CONNECT else "full", self.closed))

    def _loop_ends(self, i: int, name: str, sites: list[str]) -> tuple[str, str]:
        """Return the two frames that an equality constraint connects."""
        model = self.model
        ends = int(model.eq_obj1id[i]), int(model.eq_obj2id[i])
        if model.eq_objtype[i] == SITE:
            return sites[ends[0]], sites[ends[1]]
        data = model.eq_data[i]
        if model.eq_type[i] == CONNECT:  # the anchor in the first body, then in the second
            places = transform(data[0:3]), transform(data[3:6])
        else:  # the anchor in the second body, then the pose of the second in the first
            places = placed(data[3:6], data[6:10]), transform(data[0:3])
        return self._frame(f"{name}.first", ends[0], places[0]), self._frame(f"{name}.second", ends[1], places[1])

    def _couple(self, name: str, follower: int, leader: int, coefficients: FloatArray) -> None:
        """Couple a joint to another: ``y - y0 = a0 + a1 (x - x0) + ... + a4 (x - x0)^4``, with references x0, y0."""
        model, what = self.model, self.joint_names[follower]
        if leader < 0:
            self.remarks.add("dropped", f"the constraint {name!r} on joint {what!r} locks it and is left out.", what)
            return
        if follower in self.mimics or follower in self.couplings or follower == leader:
            self.remarks.add("dropped", f"joint {what!r} already follows another; {name!r} is left out.", what)
            return
        y0, x0 = (float(model.qpos0[model.jnt_qposadr[k]]) for k in (follower, leader))
        if coefficients[2:5].any():
            curve, drivers = Polynomial(tuple(coefficients[:5].tolist())), ((self.joint_names[leader], 1.0),)
            name = fresh(name, {coupling.name for coupling in self.couplings.values()})
            self.couplings[follower] = Coupling(name, what, drivers, curve, -x0, y0, self.closed)
            return
        offset, multiplier = float(coefficients[0]), float(coefficients[1])
        self.mimics[follower] = Mimic(self.joint_names[leader], multiplier, y0 + offset - multiplier * x0)

    def _tie(self, name: str, first: int, second: int, coefficients: FloatArray) -> None:
        """Couple a joint to others by tendons: ``L1 - L10 = a0 + a1 (L2 - L20) + ...``, with lengths as sums of joints.

        The follower is the last joint of the first tendon that does not follow another yet.
        """
        own, other = self._tendon(first), self._tendon(second)
        rest, length, a = float(self.model.tendon_length0[first]), 0.0, coefficients[:5].tolist()
        if second >= 0:
            length = float(self.model.tendon_length0[second])
        free = [k for k in own if k not in self.mimics and k not in self.couplings]
        alone = len(own) + len(other) < 2
        if not free or alone or set(own) & set(other) or (any(a[2:]) and len(own) > 1):
            text = f"the tendon constraint {name!r} cannot be expressed by one follower joint and is left out."
            self.remarks.add("dropped", text, name)
            return
        follower = free[-1]
        factor = own.pop(follower)
        drivers = {self.joint_names[k]: -c / factor for k, c in own.items()}
        curve, phase, offset = None, 0.0, (rest + a[0] - a[1] * length) / factor
        if any(a[2:]):
            curve, phase, offset = Polynomial(tuple(c / factor for c in a)), -length, rest / factor
        share = 1.0 if curve is not None else a[1] / factor
        drivers |= {self.joint_names[k]: share * c for k, c in other.items() if share}
        if len(drivers) == 1 and curve is None:
            ((leader, ratio),) = drivers.items()
            self.mimics[follower] = Mimic(leader, ratio, offset)
        elif drivers:
            name = fresh(name, {coupling.name for coupling in self.couplings.values()})
            given = self.joint_names[follower], tuple(drivers.items())
            self.couplings[follower] = Coupling(name, *given, curve, phase, offset, self.closed)

    def _tendon(self, tendon: int) -> dict[int, float]:
        """Return the joints of a fixed tendon, with their coefficients in its length."""
        if tendon < 0:
            return {}
        model, result = self.model, dict[int, float]()
        begin = int(model.tendon_adr[tendon])
        for k in range(begin, begin + int(model.tendon_num[tendon])):
            joint = int(model.wrap_objid[k])
            result[joint] = result.get(joint, 0.0) + float(model.wrap_prm[k])
        return {joint: factor for joint, factor in result.items() if factor}

    # The linkage

    def _linkage(self, root: Joint | None) -> Linkage:
        name = self.model.names[: self.model.names.index(b"\0")].decode(errors="replace") or "model"
        poses = self._poses()
        parts: dict[str, Any] = {"name": name, "frames": self.frames, "loops": self.loops, "root": root}
        try:
            return Linkage(self.links, self.joints, poses=poses, couplings=self.couplings.values(), **parts)
        except MimicError as error:
            if not (self.mimics or self.couplings) or self.options.strict:
                raise
            self.remarks.add("dropped", f"couplings of joints are left out: {error}")
            self.mimics, self.couplings = {}, {}
            joints = [replace(joint, mimic=None) for joint in self.joints]
            return Linkage(self.links, joints, poses=self._poses(), **parts)

    def _poses(self) -> dict[str, Any]:
        """Return the model's own pose as ``"qpos0"``, and its keyframes."""
        model = self.model
        rows = {"qpos0": model.qpos0}
        for i in range(model.nkey):
            rows[fresh(model.key(i).name or f"key{i}", rows)] = model.key_qpos[i]
        poses = {name: self._pose(row) for name, row in rows.items()}
        for name, row in rows.items():
            for k, mimic in self.mimics.items():
                leader = row[model.jnt_qposadr[self.joint_names.index(mimic.joint)]]
                miss = float(row[model.jnt_qposadr[k]] - mimic.multiplier * leader - mimic.offset)
                if abs(miss) > POSE_TOLERANCE:
                    what = self.joint_names[k]
                    text = f"pose {name!r} violates the coupling of joint {what!r} by {miss:.3g}; the coupling is kept."
                    self.remarks.add("pose", text, what)
        return poses

    def _pose(self, row: FloatArray) -> dict[str, float]:
        values = {}
        for k, name in enumerate(self.joint_names):
            if k in self.mimics:
                continue
            start = int(self.model.jnt_qposadr[k])
            for place, coordinate in enumerate(COORDINATES[self.model.jnt_type[k]], start=start):
                values[f"{name}.{coordinate}" if coordinate else name] = float(row[place])
        return values
