"""Bodies for the judge of retargeting: body parts from a table of names, or from the joints of a robot in MuJoCo."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from motion_judge import SIDES, Array, Moving

import linkwork as lw

# Names of parts in motion capture, characters and our human model; {L} is Left or left, {l} is L or l.
NAMES = {
    "hip": ("{L}UpLeg", "UpperLeg_{l}", "{L}_thigh", "thigh.{l}", "upperleg.{l}", "thigh_{l}", "{L}Hip", "{l}Thigh"),
    "knee": ("{L}Leg", "LowerLeg_{l}", "{L}_shin", "shin.{l}", "lowerleg.{l}", "calf_{l}", "{L}Knee", "{l}Shin"),
    "ankle": ("{L}Foot", "Foot_{l}", "{L}_tarsus", "foot.{l}", "foot_{l}", "{L}Ankle", "{l}Foot"),
    "toe": ("{L}ToeBase", "{L}Toe", "Toes_{l}", "{L}_toes", "toes.{l}", "ball_{l}"),
    "shoulder": ("{L}Arm", "UpperArm_{l}", "{L}_upper_arm", "upperarm.{l}", "upperarm_{l}", "{L}UpArm", "{l}Shldr"),
    "elbow": ("{L}ForeArm", "LowerArm_{l}", "{L}_forearm", "lowerarm.{l}", "lowerarm_{l}", "{L}Elbow", "{l}ForeArm"),
    "hand": ("{L}Hand", "Hand_{l}", "{L}_palm", "hand.{l}", "wrist.{l}", "hand_{l}", "{L}Wrist", "{l}Hand"),
}
HEADS = ("Head", "head")
NECKS = ("Neck", "neck")


def moving(clip: lw.Clip) -> Moving:
    """Return the positions of the parts of a clip over time, by name."""
    plain = {name.rpartition(":")[2].removeprefix("mixamorig"): name for name in clip.linkage.links}
    world = clip.forward()
    places: dict[str, Array] = {}
    for side in SIDES:
        for part, patterns in NAMES.items():
            for pattern in patterns:
                words = [pattern.format(L=word, l=letter) for word, letter in _sides(side)]
                found = next((plain[word] for word in words if word in plain), None)
                if found is not None:
                    places[f"{side}_{part}"] = world[found][:, :3, 3]
                    break
    for part, known in (("head", HEADS), ("neck", NECKS)):
        found = next((plain[word] for word in known if word in plain), None)
        if found is not None:
            places[part] = world[found][:, :3, 3]
    places["hips"] = (places["left_hip"] + places["right_hip"]) / 2.0
    return Moving(np.asarray(clip.times), places, _ends(clip))


def _sides(side: str) -> list[tuple[str, str]]:
    return [(side.capitalize(), side[0].upper()), (side, side[0]), (side, side[0].upper())]


def _ends(clip: lw.Clip) -> Array | None:
    """Return the height of the lowest point of the human model's feet."""
    ends = [f"{side}_{point}" for side in SIDES for point in ("heel", "ball", "toe")]
    if not all(name in clip.linkage.frames for name in ends):
        return None
    lowest: Array = np.min([clip.forward(frame=name)[:, 2, 3] for name in ends], axis=0)
    return lowest


class Robot:
    """A robot in MuJoCo: parts from the names and axes of its joints, soles from the shapes of its feet.

    Args:
        path: MJCF file of the robot, with a free root.
    """

    def __init__(self, path: str | Path) -> None:
        import mujoco

        self.path = Path(path)
        self.linkage = lw.load(path)
        self.model = mujoco.MjModel.from_xml_path(str(path))
        self.data = mujoco.MjData(self.model)
        self.mujoco = mujoco
        count = self.model.njnt
        self.joints = [mujoco.mj_id2name(self.model, mujoco.mjtObj.mjOBJ_JOINT, i) or "" for i in range(count)]

    def qpos(self, clip: lw.Clip) -> Array:
        """Return a clip as MuJoCo's values: the free root, then joints by name."""
        from scipy.spatial.transform import Rotation

        qpos = np.tile(self.model.qpos0, (len(clip), 1))
        for i, name in enumerate(self.joints):
            at = self.model.jnt_qposadr[i]
            if self.model.jnt_type[i] == self.mujoco.mjtJoint.mjJNT_FREE:
                body = self.mujoco.mj_id2name(self.model, self.mujoco.mjtObj.mjOBJ_BODY, self.model.jnt_bodyid[i])
                world = clip.forward(frame=body)
                qpos[:, at : at + 3] = world[:, :3, 3]
                qpos[:, at + 3 : at + 7] = Rotation.from_matrix(world[:, :3, :3]).as_quat(scalar_first=True)
            else:
                qpos[:, at] = clip.poses[:, clip.linkage.coordinate_index[name]]
        return qpos

    def moving(self, times: Array, qpos: Array) -> Moving:
        """Return the positions of its parts over time."""
        places: dict[str, list[Array]] = {}
        soles = []
        feet = self._feet()
        for row in qpos:
            self.data.qpos[:] = row
            self.mujoco.mj_kinematics(self.model, self.data)
            for part, place in self._parts().items():
                places.setdefault(part, []).append(place)
            soles.append(
                min(float((self.data.xmat[b].reshape(3, 3)[2] @ p.T).min() + self.data.xpos[b, 2]) for b, p in feet)
            )
        return Moving(times, {part: np.array(rows) for part, rows in places.items()}, np.array(soles))

    def outside(self, qpos: Array) -> int:
        """Return the number of values outside their limits."""
        at = self.model.jnt_qposadr[self.model.jnt_limited == 1]
        low, high = self.model.jnt_range[self.model.jnt_limited == 1].T
        return int(((qpos[:, at] < low - 1e-6) | (qpos[:, at] > high + 1e-6)).sum())

    def _parts(self) -> dict[str, Array]:
        result: dict[str, Array] = {}
        for side in SIDES:
            arm = [i for i, name in enumerate(self.joints) if side in name.lower()]
            named = {
                word: [i for i in arm if word in self.joints[i].lower()]
                for word in ("shoulder", "elbow", "hip", "knee", "ankle")
            }
            result[f"{side}_shoulder"] = self._meeting(named["shoulder"][:3])
            result[f"{side}_elbow"] = self.data.xanchor[named["elbow"][0]].copy()
            result[f"{side}_hand"] = self.data.xpos[self._last(self.model.jnt_bodyid[named["elbow"][-1]])].copy()
            result[f"{side}_hip"] = self._meeting(named["hip"][:3])
            result[f"{side}_knee"] = self.data.xanchor[named["knee"][0]].copy()
            result[f"{side}_ankle"] = self.data.xanchor[named["ankle"]].mean(axis=0)
        return result

    def _meeting(self, joints: Sequence[int]) -> Array:
        """Return the point nearest to the axes of some joints."""
        axes, anchors = self.data.xaxis[list(joints)], self.data.xanchor[list(joints)]
        across = np.eye(3) - axes[:, :, None] * axes[:, None, :]
        point: Array = np.linalg.solve(across.sum(axis=0), (across @ anchors[..., None]).sum(axis=0)[:, 0])
        return point

    def _last(self, body: int) -> int:
        """Return the last body of the chain that begins with a body."""
        while (below := np.flatnonzero(self.model.body_parentid == body)).size:
            body = int(below[0])
        return body

    def _feet(self) -> list[tuple[int, Array]]:
        """Return the bodies of the feet and the points of their shapes, in their coordinates."""
        result = []
        for i, name in enumerate(self.joints):
            if "ankle" in name.lower():
                body = int(self.model.jnt_bodyid[i])
                points = [self._points(int(g)) for g in np.flatnonzero(self.model.geom_bodyid == body)]
                if points:
                    result.append((body, np.concatenate(points)))
        return result

    def _points(self, geom: int) -> Array:
        """Return points of a shape's hull, in the coordinates of its body."""
        kinds, size = self.mujoco.mjtGeom, self.model.geom_size[geom]
        kind = self.model.geom_type[geom]
        if kind == kinds.mjGEOM_MESH:
            mesh = self.model.geom_dataid[geom]
            start, count = self.model.mesh_vertadr[mesh], self.model.mesh_vertnum[mesh]
            points = np.asarray(self.model.mesh_vert[start : start + count], float)
        else:
            way = _sphere() * size[0]
            if kind == kinds.mjGEOM_BOX:
                way = np.array(np.meshgrid(*([-1.0, 1.0],) * 3)).reshape(3, -1).T * size
            elif kind in (kinds.mjGEOM_CAPSULE, kinds.mjGEOM_CYLINDER):
                flat = way * [1.0, 1.0, float(kind == kinds.mjGEOM_CAPSULE)]
                half = np.array([0.0, 0.0, size[1]])
                way = np.concatenate([flat + half, flat - half])
            elif kind == kinds.mjGEOM_ELLIPSOID:
                way = _sphere() * size
            points = way
        turn = np.zeros(9)
        self.mujoco.mju_quat2Mat(turn, self.model.geom_quat[geom])
        moved: Array = points @ turn.reshape(3, 3).T + self.model.geom_pos[geom]
        return moved


def _sphere() -> Array:
    """Return points on the unit sphere."""
    k = np.arange(200) + 0.5
    polar, around = np.arccos(1.0 - 2.0 * k / 200.0), np.pi * (1.0 + 5.0**0.5) * k
    return np.stack([np.cos(around) * np.sin(polar), np.sin(around) * np.sin(polar), np.cos(polar)], axis=1)
