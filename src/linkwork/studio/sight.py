"""The data of a session that pages show: parts of plain data, each sent again only when it has changed."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..draw.holds import limb_ends
from ..draw.pages import page_data
from ..errors import LinkworkError
from ..formats import Remark
from ..formats.packed import json_text
from ..goals import Goal
from ..linkage.linkage import Linkage
from ..models import MODELS
from ..motion.clips import KINDS as WAYS, Clip
from ..solvers import METHODS
from ..solvers.packing import solvers_data
from .judging import Why
from .saving import EXPORTS
from .scene import Scene
from .session import Session
from .surroundings import KINDS as OBSTACLES, sizes_of
from .targets import KINDS as GOALS
from .timeline import SceneTimeline

MOST_REMARKS = 200
OPTIONS = re.compile(r"; [^;]*(?:=\.\.\.|\(--)[^;]*$")  # the end of a remark if it names options
COLUMNS = 250  # largest number of velocities for which the page can solve at the screen's refresh rate
RESTARTS = 24  # other starts that a page tries at the end of a drag: a blink for the largest body


def choices() -> dict[str, Any]:
    """Return the choices that a page offers, which never change, and the size limit for solving in the page."""
    return {
        "columns": COLUMNS,
        "models": [model.example for model in MODELS.values()],
        "methods": list(METHODS),
        "goals": list(GOALS),
        "ways": list(WAYS),
        "obstacles": {kind: {"sizes": list(names)} for kind, (_, names, _) in OBSTACLES.items()},
        "exports": list(EXPORTS),
    }


def stage_text(scene: Scene, meshes: bool = True) -> str:
    """Return the linkage of a scene for the stage, as JSON: packed, with its shapes."""
    ends = limb_ends(scene.linkage)
    return page_data(scene.linkage, goals=ends, pins=(), start=scene.q, meshes=meshes, methods=False)


def solver_text(linkage: Linkage, goals: list[Goal], names: list[str | None]) -> str | None:
    """Return a solver of goals for the page as JSON, with the name of the target of each goal.

    None if the page cannot solve them; they are then solved on the server.
    """
    if not goals or linkage.nv > COLUMNS:
        return None
    try:
        packed = solvers_data(linkage, {"goals": goals}, restarts=RESTARTS)["solvers"]["goals"]
    except LinkworkError:
        return None
    return json_text({"names": names, "data": packed})


def parts_of(session: Session, revision: int) -> dict[str, Any]:
    """Return all parts of a session as plain data."""
    scene = session.scene
    return {
        "pose": {"q": scene.q.tolist(), "time": scene.time},
        "goals": [
            {
                "name": target.name, "kind": target.kind, "frame": target.frame, "place": target.place.ravel().tolist(),
                "turn": target.turn, "weight": target.weight, "priority": target.priority, "active": target.active,
            }
            for target in scene.targets
        ],
        "method": scene.method,
        "poses": [*scene.linkage.poses, *(name for name in scene.poses if name not in scene.linkage.poses)],
        "clips": list(scene.clips),
        "clip": clip_part(scene.clip, scene.timeline),
        "around": {
            "obstacles": [
                {
                    "name": one.name, "kind": one.shape.kind, "sizes": list(sizes_of(one.shape)),
                    "place": one.pose.ravel().tolist(),
                }
                for one in scene.around.world
            ],
            "margin": scene.around.margin, "keeps": scene.around.keeps, "itself": scene.around.itself,
        },
        "history": {"undo": session.history.can_undo, "redo": session.history.can_redo},
        "remarks": [remark_part(remark) for remark in session.remarks[:MOST_REMARKS]],
        "stage": revision,
    }  # fmt: skip


def clip_part(name: str, line: SceneTimeline) -> dict[str, Any]:
    """Return a clip for the page's timeline: its keys without their poses."""
    keys = [[key.time, key.kind, int(key.pose is not None), list(key.places), list(key.handles)] for key in line.keys]
    return {"name": name, "fps": line.fps, "loop": line.loop, "duration": line.duration, "keys": keys}


def remark_part(remark: Remark) -> dict[str, str]:
    """Return a remark on a file, without options for scripts: the page has buttons instead.

    Example:
        >>> remark_part(Remark("up-axis", "y is assumed to point up; up=... (--up) says otherwise."))["text"]
        'y is assumed to point up.'
    """
    return {"kind": remark.kind, "text": OPTIONS.sub(".", remark.text), "where": remark.where}


def why_part(why: Why | None) -> dict[str, Any] | None:
    """Return why goals were not reached, with data for the stage."""
    if why is None:
        return None
    center = None if why.center is None else why.center.tolist()
    return {
        "cause": why.cause, "text": why.text, "joints": list(why.joints), "center": center, "radii": list(why.radii),
    }  # fmt: skip


def near_part(scene: Scene) -> dict[str, Any] | None:
    """Return the nearest pair, if it is near enough to be shown."""
    near = scene.around.nearest(scene.linkage, scene.q)
    if near is None:
        return None
    return {
        "names": list(near.names), "distance": near.distance, "points": near.points.tolist(), "too_near": near.too_near,
    }  # fmt: skip


def motion_packet(clip: Clip, fps: float, number: int) -> bytes:
    """Return the frames of a motion for the page: a header, and the poses in single precision."""
    head = {
        "motion": {
            "id": number,
            "frames": len(clip),
            "nq": clip.linkage.nq,
            "fps": fps,
            "duration": float(clip.times[-1]),
        }
    }
    return packet(head, np.ascontiguousarray(clip.poses, "<f4").tobytes())


def packet(head: Mapping[str, Any], content: bytes) -> bytes:
    """Return a binary message: the length of its header, the header as JSON, and the content aligned to eight bytes.

    Example:
        >>> list(packet({"a": 1}, b"12345678")[:4])
        [12, 0, 0, 0]
    """
    text = json.dumps(head).encode()
    text += b" " * (-(len(text) + 4) % 8)
    return struct.pack("<I", len(text)) + text + content


@dataclass
class Sight:
    """The parts that pages have: only parts that differ are sent again."""

    known: dict[str, str] = field(default_factory=dict)

    def news(self, parts: Mapping[str, Any]) -> str | None:
        """Return a message with the parts that have changed, or None."""
        texts = {name: json.dumps(value) for name, value in parts.items()}
        changed = {name: text for name, text in texts.items() if self.known.get(name) != text}
        self.known |= changed
        return _message(changed) if changed else None

    def everything(self) -> str:
        """Return a message with all parts, for a page that has just connected."""
        return _message(self.known)


def _message(texts: Mapping[str, str]) -> str:
    return '{"state":{' + ",".join(f"{json.dumps(name)}:{text}" for name, text in texts.items()) + "}}"
