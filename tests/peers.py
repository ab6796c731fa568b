"""Robot files read by other libraries, Pinocchio (URDF) and MuJoCo (MJCF), as references for kinematics and masses.

A peer takes poses in linkwork's order and returns results for the links that both models have.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from linkwork.linkage.joints import Floating
from linkwork.linkage.linkage import Linkage
from linkwork.transforms import quaternion_matrix
from robots import pinocchio_model, pinocchio_pose

Array = np.ndarray
SLACK = 1e-9  # allowed excess over a limit by rounding [rad or m]


class Peer(Protocol):
    """Another library's model of a file.

    Attributes:
        links: Names of the links that both models have.
        mass: Total mass [kg].
        whole: Whether all files were found; missing meshes contribute no mass.
    """

    links: tuple[str, ...]
    mass: float
    whole: bool

    def places(self, q: Array) -> Array:
        """Return the transforms of the links at a pose (nq,), shape (links, 4, 4)."""

    def place(self, q: Array, link: str) -> Array:
        """Return the transform of a link at a pose (nq,), shape (4, 4)."""

    def jacobian(self, q: Array, link: str) -> Array:
        """Return the Jacobian of a link by linkwork's velocities, linear rows first, shape (6, nv)."""

    def center(self, q: Array) -> Array:
        """Return the centre of mass, shape (3,)."""

    def keeps_limits(self, q: Array) -> bool:
        """Return whether a pose keeps the limits of all joints that are not followers."""


def peer_name(path: Path) -> str:
    """Return the name of the reference library: MuJoCo for its own models, Pinocchio for all others."""
    mujoco = path.suffix == ".xml" and b"<mujoco" in path.read_bytes()
    return "MuJoCo" if mujoco else "Pinocchio"


def peer_model(path: Path) -> Any:
    """Return the other library's model of a file; any error means that it cannot read it."""
    if peer_name(path) == "MuJoCo":
        return _mujoco_model(path)
    import pinocchio as pin

    return pinocchio_model(pin, path)


def peer_of(model: Any, linkage: Linkage) -> Peer:
    """Return the peer of a linkage from the other library's model."""
    return _MuJoCo(*model, linkage) if isinstance(model, tuple) else _Pinocchio(model, linkage)


def _rates(linkage: Linkage, their_nv: int, starts: dict[int, int]) -> Array:
    """Return the matrix from our velocities to theirs; `starts` has their first velocity index by our joint number."""
    result = np.zeros((their_nv, linkage.nv))
    for i, start in starts.items():
        drive, nv = linkage.drives[i], linkage.arcs[i].articulation.nv
        result[start : start + nv, drive.v : drive.v + nv] += drive.multiplier * np.eye(nv)
    return result


class _Pinocchio:
    whole = True

    def __init__(self, model: Any, linkage: Linkage) -> None:
        import pinocchio as pin

        self.pin, self.model, self.linkage = pin, model, linkage
        self.data = self.model.createData()
        self.frames = {name: self.model.getFrameId(name, pin.FrameType.BODY) for name in linkage.links}
        self.links = linkage.links
        self.starts = {
            i: self.model.joints[self.model.getJointId(arc.name)].idx_v
            for i, arc in enumerate(linkage.arcs)
            if arc.articulation.nv
        }
        fixed = self.model.inertias[0]  # links welded to the world, which is not a body there
        moving = sum(inertia.mass for inertia in list(self.model.inertias)[1:])
        self.mass = float(moving + fixed.mass)
        self.fixed, self.share = fixed.lever, moving / self.mass if self.mass else 0.0

    def _pose(self, q: Array) -> Array:
        return pinocchio_pose(self.pin, self.model, self.linkage, q)

    def places(self, q: Array) -> Array:
        self.pin.framesForwardKinematics(self.model, self.data, self._pose(q))
        return np.array([self.data.oMf[self.frames[name]].homogeneous for name in self.links])

    def place(self, q: Array, link: str) -> Array:
        self.pin.framesForwardKinematics(self.model, self.data, self._pose(q))
        return self.data.oMf[self.frames[link]].homogeneous

    def jacobian(self, q: Array, link: str) -> Array:
        theirs, aligned = self._pose(q), self.pin.LOCAL_WORLD_ALIGNED
        jacobian = self.pin.computeFrameJacobian(self.model, self.data, theirs, self.frames[link], aligned)
        rates = _rates(self.linkage, self.model.nv, self.starts)
        for i, start in self.starts.items():
            if isinstance(self.linkage.arcs[i].articulation, Floating):  # their velocity is along the child's axes
                drive = self.linkage.drives[i]
                turn = quaternion_matrix(q[drive.q + 3 : drive.q + 7])
                rates[start : start + 3, drive.v : drive.v + 3] = turn.T
        return jacobian.reshape(6, self.model.nv) @ rates

    def center(self, q: Array) -> Array:
        if self.share == 0.0:
            return self.fixed
        moving = self.pin.centerOfMass(self.model, self.data, self._pose(q))
        return self.share * moving + (1.0 - self.share) * self.fixed

    def keeps_limits(self, q: Array) -> bool:
        theirs, model = self._pose(q), self.model
        for i in self.starts:
            arc = self.linkage.arcs[i]
            joint = model.joints[model.getJointId(arc.name)]
            if arc.mimic is None and joint.nq == 1:
                low, high = model.lowerPositionLimit[joint.idx_q], model.upperPositionLimit[joint.idx_q]  # 0, 0: none
                if low < high and not low - SLACK <= theirs[joint.idx_q] <= high + SLACK:
                    return False
        return True


class _MuJoCo:
    def __init__(self, model: Any, whole: bool, linkage: Linkage) -> None:
        import mujoco

        self.mujoco, self.model, self.whole, self.linkage = mujoco, model, whole, linkage
        self.data = mujoco.MjData(self.model)
        names = {self.model.body(i).name or f"body{i}": i for i in range(1, self.model.nbody)}
        self.bodies = {name: names[name] for name in linkage.links if name in names}
        self.links = tuple(self.bodies)
        self.arcs = [i for i, arc in enumerate(linkage.arcs) if arc.articulation.nq]  # both are depth first
        if len(self.arcs) != self.model.njnt:
            raise ValueError(f"{self.model.njnt} joints there, {len(self.arcs)} here")
        self.rates = _rates(linkage, self.model.nv, dict(zip(self.arcs, self.model.jnt_dofadr.tolist(), strict=True)))
        self.mass = float(self.model.body_subtreemass[0])

    def _set(self, q: Array) -> None:
        for i, start in zip(self.arcs, self.model.jnt_qposadr.tolist(), strict=True):
            drive, nq = self.linkage.drives[i], self.linkage.arcs[i].articulation.nq
            self.data.qpos[start : start + nq] = drive.multiplier * q[drive.q : drive.q + nq] + drive.offset
        self.mujoco.mj_kinematics(self.model, self.data)

    def places(self, q: Array) -> Array:
        self._set(q)
        return np.array([self._body(self.bodies[name]) for name in self.links]).reshape(-1, 4, 4)

    def place(self, q: Array, link: str) -> Array:
        self._set(q)
        return self._body(self.bodies[link])

    def _body(self, body: int) -> Array:
        result = np.eye(4)
        result[:3, :3], result[:3, 3] = self.data.xmat[body].reshape(3, 3), self.data.xpos[body]
        return result

    def jacobian(self, q: Array, link: str) -> Array:
        self._set(q)
        self.mujoco.mj_comPos(self.model, self.data)
        linear, angular = np.zeros((3, self.model.nv)), np.zeros((3, self.model.nv))
        self.mujoco.mj_jacBody(self.model, self.data, linear, angular, self.bodies[link])
        return np.vstack([linear, angular]) @ self.rates

    def center(self, q: Array) -> Array:
        self._set(q)
        self.mujoco.mj_comPos(self.model, self.data)
        return self.data.subtree_com[0].copy()

    def keeps_limits(self, q: Array) -> bool:
        self._set(q)
        for k, i in enumerate(self.arcs):
            if self.linkage.arcs[i].mimic is None and self.model.jnt_limited[k] and self.model.jnt_type[k] >= 2:
                value, (low, high) = self.data.qpos[self.model.jnt_qposadr[k]], self.model.jnt_range[k]
                if not low - SLACK <= value <= high + SLACK:
                    return False
        return True


def _mujoco_model(path: Path) -> tuple[Any, bool]:
    """Return MuJoCo's model, and whether all its files were found."""
    import mujoco

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return mujoco.MjModel.from_xml_path(str(path)), True
        except ValueError as error:
            if "Error opening file" not in str(error):
                raise
        spec = mujoco.MjSpec.from_file(str(path))
        folder = path.parent / spec.meshdir
        missing = {mesh.name for mesh in spec.meshes if mesh.file and not (folder / mesh.file).is_file()}
        for geom in spec.geoms:
            if geom.meshname in missing or geom.hfieldname:
                geom.type, geom.meshname, geom.hfieldname = mujoco.mjtGeom.mjGEOM_SPHERE, "", ""
                geom.size, geom.mass = [1e-3, 0.0, 0.0], 0.0
            geom.material = ""
        parts = [mesh for mesh in spec.meshes if mesh.name in missing]
        for part in (*parts, *spec.hfields, *spec.skins, *spec.textures, *spec.materials):
            spec.delete(part)
        for part in (*spec.sites, *spec.tendons, *spec.meshes):
            part.material = ""
        spec.compiler.boundmass = spec.compiler.boundinertia = 1e-14
        return spec.compile(), not missing
