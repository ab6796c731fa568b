"""Synthetic motion capture: a gait with planted feet, in the BVH dialects of common capture systems.

Y is up and the walk begins along z, as in those files. Feet are planted by the law of cosines, arms swing opposite to
the legs. Joint positions are computed from rotation matrices, not from the angles in the text, so that they are an
independent reference for the reader.
"""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

import linkwork as lw

DOWN = np.array([0.0, -1.0, 0.0])
ROTATIONS, POSITIONS = ("Zrotation", "Xrotation", "Yrotation"), ("Xposition", "Yposition", "Zposition")


@dataclass(frozen=True)
class Bone:
    """A joint of a skeleton: `part` names its motion (empty: moves with its parent), `end` places its end site."""

    name: str
    parent: str | None
    part: str
    offset: tuple[float, float, float]
    end: tuple[float, float, float] | None = None


@dataclass(frozen=True)
class Capture:
    """A skeleton and its motion: local rotations (frames, bones, 3, 3) and position channels (frames, bones, 3)."""

    bones: tuple[Bone, ...]
    turns: np.ndarray
    positions: np.ndarray
    fps: float
    root: tuple[str, ...] = (*POSITIONS, *ROTATIONS)
    joints: tuple[str, ...] = ROTATIONS
    number: str = "{:.6f}"
    frame_time: str = "{:.7f}"
    newline: str = "\n"
    row: str = "{}\n"

    def channels(self, k: int) -> tuple[str, ...]:
        return self.joints if k else self.root

    def places(self, positions: str = "replace") -> dict[str, np.ndarray]:
        """Return the position of every joint and end site, shape (frames, 3), in the units and axes of the file."""
        worlds: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        found = {}
        for k, bone in enumerate(self.bones):
            turn, place = worlds[bone.parent] if bone.parent else (np.eye(3)[None], np.zeros((1, 3)))
            offset = np.tile(np.array(bone.offset, float), (len(self.turns), 1))
            if "Xposition" in self.channels(k):
                offset = self.positions[:, k] + (offset if positions == "add" else 0.0)
            place = place + np.einsum("...ij,...j->...i", turn, offset)
            worlds[bone.name] = (turn @ self.turns[:, k], place)
            found[bone.name] = place
            if bone.end is not None:
                found[f"{bone.name}.end"] = place + worlds[bone.name][0] @ np.array(bone.end)
        return found

    def text(self) -> str:
        lines = ["HIERARCHY"]
        self._open(0, lines, "")
        columns = []
        for k in range(len(self.bones)):
            names = self.channels(k)
            order = "".join(name[0] for name in names if name.endswith("rotation"))
            angles = iter(Rotation.from_matrix(self.turns[:, k]).as_euler(order, degrees=True).T)
            columns += [
                next(angles) if name.endswith("rotation") else self.positions[:, k, "XYZ".index(name[0])]
                for name in names
            ]
        lines += ["MOTION", f"Frames: {len(self.turns)}", f"Frame Time: {self.frame_time.format(1.0 / self.fps)}"]
        rows = (" ".join(map(self.number.format, row)) for row in np.array(columns).T)
        return self.newline.join(lines) + self.newline + "".join(self.row.format(row) for row in rows)

    def _open(self, k: int, lines: list[str], indent: str) -> None:
        bone, names = self.bones[k], self.channels(k)
        lines += [f"{indent}{'JOINT' if k else 'ROOT'} {bone.name}", indent + "{"]
        lines.append(f"{indent}\tOFFSET {' '.join(f'{x:.6f}' for x in bone.offset)}")
        lines.append(f"{indent}\tCHANNELS {len(names)} {' '.join(names)}")
        for child, other in enumerate(self.bones):
            if other.parent == bone.name:
                self._open(child, lines, indent + "\t")
        if bone.end is not None:
            offset = " ".join(f"{x:.6f}" for x in bone.end)
            lines += [f"{indent}\tEnd Site", f"{indent}\t{{", f"{indent}\t\tOFFSET {offset}", f"{indent}\t}}"]
        lines.append(indent + "}")


# Skeletons

ANKLE, BALL = 0.06, np.array([0.0, -0.06, 0.15])  # the height of an ankle, and the ball of its foot from there [m]
LIMBS = ("thigh", "shin", "upper_arm", "forearm")


def figure(names: Iterable[str], *, unit: float = 1.0, splay: float = 0.0, arms: str = "out") -> list[Bone]:
    """Return a figure of 1.75 m: names of hips, spine, chest, neck, head, and a clavicle, arm and leg for each side.

    With `splay`, the legs rest apart by that angle; with ``arms="out"``, the arms rest stretched out.
    """
    hips, spine, chest, neck, head, *limbs = names
    bones = [
        Bone(hips, None, "hips", (0.0, 0.0, 0.0)),
        Bone(spine, hips, "spine", (0.0, 0.09, 0.0)),
        Bone(chest, spine, "chest", (0.0, 0.17, 0.0)),
        Bone(neck, chest, "", (0.0, 0.23, 0.0)),
        Bone(head, neck, "", (0.0, 0.1, 0.02), (0.0, 0.18, 0.0)),
    ]
    legs: list[Bone] = []  # added after both arms: files are depth first
    for side, sign, (clavicle, upper, lower, hand, thigh, shin, foot) in (
        ("left", 1.0, limbs[: len(limbs) // 2]),
        ("right", -1.0, limbs[len(limbs) // 2 :]),
    ):
        along = np.array([sign, 0.0, 0.0]) if arms == "out" else DOWN
        way = np.array([sign * np.sin(splay), -np.cos(splay), 0.0])
        bones += [
            Bone(clavicle, chest, "", (0.03 * sign, 0.17, 0.0)),
            Bone(upper, clavicle, f"{side} upper_arm", (0.15 * sign, 0.0, 0.0)),
            Bone(lower, upper, f"{side} forearm", tuple(0.28 * along)),
            Bone(hand, lower, f"{side} hand", tuple(0.25 * along), tuple(0.15 * along)),
        ]
        legs += [
            Bone(thigh, hips, f"{side} thigh", (0.09 * sign, -0.05, 0.0)),
            Bone(shin, thigh, f"{side} shin", tuple(0.42 * way)),
            Bone(foot, shin, f"{side} foot", tuple(0.41 * way), tuple(BALL)),
        ]
    return [
        replace(bone, offset=scaled(bone.offset, unit), end=bone.end and scaled(bone.end, unit))
        for bone in (*bones, *legs)
    ]


def scaled(offset: Iterable[float], unit: float) -> tuple[float, float, float]:
    x, y, z = (float(value) / unit for value in offset)
    return x, y, z


def under(bones: list[Bone], parent: str, *added: Bone) -> list[Bone]:
    """Return a skeleton with bones added at a joint, which loses its own end site."""
    k = next(k for k, bone in enumerate(bones) if bone.name == parent)
    return [*bones[:k], replace(bones[k], end=None), *added, *bones[k + 1 :]]


# The gait


def about(axis: str, angle: np.ndarray | float) -> np.ndarray:
    return Rotation.from_euler(axis, np.reshape(angle, (-1, 1))).as_matrix()


def footsteps(phase: np.ndarray, stance: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of a foot's stride, growing smoothly while it swings, and the phase of the swing."""
    swing = np.clip((phase % 1.0 - stance) / (1.0 - stance), 0.0, 1.0)
    return np.floor(phase) + swing**3 * (10.0 - 15.0 * swing + 6.0 * swing**2), swing


def gait(
    bones: list[Bone],
    fps: float,
    frames: int,
    *,
    unit: float = 1.0,
    lift: float = 0.1,
    turn: float = 0.0,
    cycle: float = 1.1,
    arms: float = 0.5,
) -> tuple[np.ndarray, np.ndarray]:
    """Return local rotations and root positions of a walk: `turn` [rad/s], `lift` of the feet [m], `cycle` [s].

    Arms swing by `arms` [rad] to either side; from 3 rad on they rotate fully. Knees bend in the plane of the leg.
    """
    times = np.arange(frames) / fps
    rest = {bone.part: np.array(bone.offset) * unit for bone in bones}
    long = [np.linalg.norm(rest[f"left {part}"]) for part in ("shin", "foot")]  # of thigh and shin
    reach, stance = sum(long), 0.67
    speed, phase = 0.75 * reach / cycle, times / cycle

    def path(time: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return position and heading of the body at some times: along a circle or a straight line."""
        heading = turn * time
        if turn == 0.0:
            return np.stack([0.0 * time, 0.0 * time, speed * time], axis=-1), heading
        radius = speed / turn
        return radius * np.stack([1.0 - np.cos(heading), 0.0 * time, np.sin(heading)], axis=-1), heading

    body, heading = path(times)
    body[:, 1] = 0.95 * reach - rest["left thigh"][1] + ANKLE + 0.01 * np.cos(4.0 * np.pi * phase)
    body += np.random.default_rng(0).normal(scale=0.03 / fps, size=body.shape)  # noise of markers
    parts = {"hips": about("Y", heading) @ about("Y", 0.06 * np.sin(2.0 * np.pi * phase))}
    parts["spine"] = parts["hips"] @ about("X", np.full(frames, 0.05))
    parts["chest"] = parts["spine"] @ about("Y", -0.12 * np.sin(2.0 * np.pi * phase))
    for side, sign, shift in (("left", 1.0, 0.0), ("right", -1.0, 0.5)):
        stride, swing = footsteps(phase + shift, stance)
        where, facing = path((stride - shift + stance / 2.0) * cycle)
        aside = sign * abs(rest["left thigh"][0])
        heel = 0.7 * np.sin(np.pi * np.clip(((phase + shift) % 1.0 - 0.35) / 0.5, 0.0, 1.0)) ** 2
        foot = about("Y", facing) @ about("X", heel)  # the heel rises before the ball
        ankle = where + np.stack([aside * np.cos(facing), 0.0 * facing, -aside * np.sin(facing)], axis=-1)
        ankle += about("Y", facing) @ BALL - foot @ BALL
        ankle[:, 1] += ANKLE + lift * np.sin(np.pi * swing) ** 2
        hip = body + np.einsum("tij,j->ti", parts["hips"], rest[f"{side} thigh"])
        way = ankle - hip
        far = np.linalg.norm(way, axis=1)
        across = np.cross(way, parts["hips"][:, :, 2])
        across /= np.linalg.norm(across, axis=1)[:, None]
        for part, cosine, bend in (
            ("thigh", (long[0] ** 2 + far**2 - long[1] ** 2) / (2.0 * long[0] * far), 1.0),
            ("shin", (long[1] ** 2 + far**2 - long[0] ** 2) / (2.0 * long[1] * far), -1.0),
        ):
            angle = bend * np.arccos(np.clip(cosine, -1.0, 1.0))
            along = Rotation.from_rotvec(across * angle[:, None]).apply(way / far[:, None])
            parts[f"{side} {part}"] = np.stack([-across, -along, np.cross(-across, -along)], axis=-1)
        parts[f"{side} foot"] = foot
        swung = 2.0 * np.pi * (phase + shift) if arms >= 3.0 else arms * np.cos(2.0 * np.pi * (phase + shift))
        parts[f"{side} upper_arm"] = parts["chest"] @ about("Z", 0.15 * sign) @ about("X", swung)
        parts[f"{side} forearm"] = parts[f"{side} upper_arm"] @ about("X", -0.4 + 0.2 * np.sin(2.0 * np.pi * phase))
        parts[f"{side} hand"] = parts[f"{side} forearm"] @ about("Y", 0.1 * np.sin(2.0 * np.pi * phase))
    return local(bones, parts), body / unit


def local(bones: list[Bone], parts: dict[str, np.ndarray]) -> np.ndarray:
    """Return joint rotations from orientations of parts; the identity means a limb that hangs straight down."""
    worlds: dict[str | None, np.ndarray] = {None: np.eye(3)[None]}
    turns = np.empty((len(parts["hips"]), len(bones), 3, 3))
    for k, bone in enumerate(bones):
        worlds[bone.name] = worlds[bone.parent]
        if bone.part:
            worlds[bone.name] = parts[bone.part] @ hanging(bone, bones)
        turns[:, k] = np.swapaxes(worlds[bone.parent], -1, -2) @ worlds[bone.name]
    return turns


def hanging(bone: Bone, bones: list[Bone]) -> np.ndarray:
    """Return the rotation that makes a limb's bone hang straight down from its rest pose."""
    kind = bone.part.split()[-1]
    if kind not in (*LIMBS, "hand"):
        return np.eye(3)
    along = bone.offset if kind == "hand" else next(b.offset for b in bones if b.parent == bone.name and b.part)
    return Rotation.align_vectors(DOWN[None], np.array([along]))[0].as_matrix()


def walking(bones: list[Bone], fps: float, frames: int, *, moves: dict[str, float], **style: object) -> Capture:
    turns, root = gait(bones, fps, frames, **moves)
    positions = np.tile(np.array([bone.offset for bone in bones], float), (frames, 1, 1))
    positions[:, 0] = root
    return Capture(tuple(bones), turns, positions, fps, **style)


# Dialects of capture systems


def walk() -> Capture:
    """A clean walk at 24 Hz in centimetres: the root has an OFFSET and positions; exponents, blanks at line ends."""
    sides = [
        f"{side}{bone}"
        for side in ("Left", "Right")
        for bone in ("Shoulder", "Arm", "ForeArm", "Hand", "UpLeg", "Leg", "Foot")
    ]
    bones = figure(["Hips", "Spine", "Spine1", "Neck", "Head", *sides], unit=0.01)
    bones[0] = replace(bones[0], offset=(1.0, 95.0, -2.0))
    return walking(bones, 24.0, 101, moves={"unit": 0.01, "arms": 0.3}, number="{:.8e}", row="{} \n")


def run() -> Capture:
    """A run at 120 Hz in the style of CMU: ZYX, hip joints and fingers of zero length, legs resting apart, CRLF.

    Frame 0 is a separate T-pose at the origin, and a toe jumps, as after a lost marker.
    """
    unit = 0.0254 / 0.45
    sides = [
        f"{side}{bone}"
        for side in ("Left", "Right")
        for bone in ("Shoulder", "Arm", "ForeArm", "Hand", "UpLeg", "Leg", "Foot")
    ]
    bones = figure(["Hips", "LowerBack", "Spine", "Neck", "Head", *sides], unit=unit, splay=0.35)
    none = (0.0, 0.0, 0.0)
    for side in ("Left", "Right"):
        k = next(k for k, bone in enumerate(bones) if bone.name == f"{side}UpLeg")
        bones[k : k + 1] = [
            Bone(f"{side[0]}HipJoint", "Hips", "", none),
            replace(bones[k], parent=f"{side[0]}HipJoint"),
        ]
        toe = Bone(f"{side}ToeBase", f"{side}Foot", "", scaled(BALL, unit), scaled((0, 0, 0.05), unit))
        bones = under(bones, f"{side}Foot", toe)
        reach = scaled((0.08 if side == "Left" else -0.08, 0.0, 0.0), unit)
        fingers = [
            Bone(f"{side}FingerBase", f"{side}Hand", "", none),
            Bone(f"{side}HandIndex1", f"{side}FingerBase", "", reach, reach),
            Bone(f"{side[0]}Thumb", f"{side}Hand", "", none, scaled((0.0, 0.0, 0.06), unit)),
        ]
        bones = under(bones, f"{side}Hand", *fingers)
    moves = {"unit": unit, "lift": 0.2, "cycle": 0.75, "arms": 0.7}
    joints = ("Zrotation", "Yrotation", "Xrotation")
    made = walking(
        bones,
        120.0,
        128,
        moves=moves,
        root=(*POSITIONS, *joints),
        joints=joints,
        number="{:.4f}",
        frame_time="{:.7f}",
        newline="\r\n",
        row="{}\r\n",
    )
    made.turns[0], made.positions[0, 0] = np.eye(3), 0.0
    made.turns[60, [bone.name for bone in bones].index("LeftToeBase")] = about("X", 0.4)[0]
    return made


def march() -> Capture:
    """A march with high knees at 30 Hz in centimetres: thighs pass through gimbal lock, so their angles jump. CRLF."""
    sides = [
        f"{side}{bone}"
        for side in ("Left", "Right")
        for bone in ("Collar", "Shoulder", "Elbow", "Wrist", "Hip", "Knee", "Ankle")
    ]
    bones = figure(["Hips", "Chest", "Chest2", "Neck", "Head", *sides], unit=0.01, arms="down")
    moves = {"unit": 0.01, "lift": 0.55, "cycle": 1.8}
    return walking(bones, 30.0, 150, moves=moves, number="{:.4f}", newline="\r\n", row="{}\r\n")


def dance() -> Capture:
    """A round dance at 120 Hz with circling arms and five fingers a hand; the root's angles are ZYX, others ZXY."""
    limbs = ("Collar", "Shldr", "ForeArm", "Hand", "Thigh", "Shin", "Foot")
    bones = figure(
        ["hip", "abdomen", "chest", "neck", "head", *(f"{side}{limb}" for side in "lr" for limb in limbs)], unit=0.01
    )
    for side, sign in (("l", 1.0), ("r", -1.0)):
        fingers = []
        for k, finger in enumerate(("Thumb", "Index", "Mid", "Ring", "Pinky")):
            at, on = (8.0 * sign, 0.0, 4.0 - 2.0 * k), (3.0 * sign, 0.0, 0.0)
            fingers += [
                Bone(f"{side}{finger}1", f"{side}Hand", "", at),
                Bone(f"{side}{finger}2", f"{side}{finger}1", "", on, on),
            ]
        bones = under(bones, f"{side}Hand", *fingers)
    moves = {"unit": 0.01, "turn": 0.8, "arms": 3.0, "cycle": 1.4}
    return walking(
        bones, 120.0, 240, moves=moves, root=(*POSITIONS, "Zrotation", "Yrotation", "Xrotation"), number="{:g}"
    )


def worm() -> Capture:
    """Four joints that wind like a worm, without end sites; rows are indented, and the last has no newline."""
    bones = [Bone("base", None, "", (0, 0, 0)), *(Bone(f"child{k}", f"child{k - 1}", "", (0, 1, 0)) for k in (1, 2, 3))]
    bones[1] = replace(bones[1], parent="base")
    times = np.arange(120) / 60.0
    turns = np.stack([about("X", 0.5 * np.sin(3.0 * times + k)) @ about("Z", 0.3 * times) for k in range(4)], axis=1)
    xyz = ("Xrotation", "Yrotation", "Zrotation")
    return Capture(tuple(bones), turns, np.zeros((120, 4, 3)), 60.0, root=(*POSITIONS, *xyz), joints=xyz, row="   {}\n")


def head() -> Capture:
    """A head on its neck in metres, with six channels for every joint, also the eyes, and an OFFSET of the root."""
    names = ["Root", "Neck", "SkullBase", "Head"]
    chain = [Bone(name, names[k - 1] if k else None, "", (0.0, 0.1 + 0.05 * k, 0.1)) for k, name in enumerate(names)]
    eyes = [Bone(f"Eye{s}", "Head", "", (0.07 * x, 0.1, 0.1), (0, 0, 0.1)) for s, x in (("Left", 1), ("Right", -1))]
    times = np.arange(160) / 24.0
    turns = np.stack([about("Y", 0.4 * np.sin(times + k)) @ about("X", 0.2 * np.cos(times)) for k in range(6)], axis=1)
    positions = np.tile(np.array([bone.offset for bone in (*chain, *eyes)], float), (160, 1, 1))
    positions[:, 3, 1] += 0.02 * np.sin(times)
    six = (*POSITIONS, "Xrotation", "Yrotation", "Zrotation")
    return Capture((*chain, *eyes), turns, positions, 24.0, root=six, joints=six, frame_time="{:.6f}")


CAPTURES = {make.__name__: functools.cache(make) for make in (walk, run, march, dance, worm, head)}


def write(name: str, folder: Path) -> Path:
    """Write a capture to a file named after it."""
    path, text = folder / f"{name}.bvh", CAPTURES[name]().text()
    path.write_bytes((text.rstrip() if name == "worm" else text).encode())
    return path


@functools.cache
def recorded(name: str = "walk") -> lw.Clip:
    """Return a capture, read from its file."""
    with tempfile.TemporaryDirectory() as folder:
        return lw.load_clip(write(name, Path(folder)))
