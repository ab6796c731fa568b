"""Actions that a page may request: each is a class whose fields are checked before it is applied.

A page sends ``{"do": "drag", "name": "tip", "place": [16 numbers]}``. A new action is one class here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import msgspec
import numpy as np

from ..errors import KeyFrameError, OptionError
from ..transforms import FloatArray
from .scene import Scene
from .session import Session
from .timeline import FPS, SceneTimeline

Matrix = Annotated[list[float], msgspec.Meta(min_length=16, max_length=16)]
Name = Annotated[str, msgspec.Meta(max_length=200)]
Seconds = Annotated[float, msgspec.Meta(ge=0.0, le=3600.0)]
MOST_KEYS = 2000  # largest number of keys moved or removed at once


def _spelled(name: str) -> str:
    """Return the name of an action in messages: words in lower case.

    Example:
        >>> _spelled("AddGoal")
        'add goal'
    """
    return "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in name).strip()


class Action(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="do", tag=_spelled):
    """A change of a session, or a request to it."""

    def apply(self, session: Session) -> Any:
        """Apply the action, and return the answer to the page that sent it."""
        raise NotImplementedError


def _matrix(numbers: list[float]) -> FloatArray:
    return np.array(numbers, np.float64).reshape(4, 4)


# Poses and goals


class Settle(Action, frozen=True):
    """End a drag: take the pose that the page has found, and the new places of goals."""

    q: list[float]
    places: dict[Name, Matrix] = {}
    turned: list[Name] = []
    what: Annotated[str, msgspec.Meta(max_length=120)] = "drag"

    def apply(self, session: Session) -> None:
        places = {name: _matrix(place) for name, place in self.places.items()}
        session.settle(self.q, places, self.what, turned=self.turned)


class Drag(Action, frozen=True):
    """Move a goal, and solve on the server."""

    name: Name
    place: Matrix
    turn: bool = False
    goes_on: bool = False

    def apply(self, session: Session) -> None:
        session.drag(self.name, _matrix(self.place), turn=self.turn, instead=self.goes_on)


class Pull(Action, frozen=True):
    """Pull a point of a link to a place, or turn it there, and solve on the server."""

    link: Name
    point: Annotated[list[float], msgspec.Meta(min_length=3, max_length=3)]
    place: Matrix
    turn: bool = False
    goes_on: bool = False

    def apply(self, session: Session) -> None:
        session.pull(self.link, self.point, _matrix(self.place), turn=self.turn, instead=self.goes_on)


class Pose(Action, frozen=True):
    """Set the pose, by numbers or by its name."""

    q: list[float] | Name
    what: Annotated[str, msgspec.Meta(max_length=120)] = "pose"
    goes_on: bool = False

    def apply(self, session: Session) -> None:
        session.set_pose(self.q, self.what, instead=self.goes_on)


class StorePose(Action, frozen=True):
    """Store the pose under a name."""

    name: Name

    def apply(self, session: Session) -> None:
        session.store_pose(self.name)


class AddGoal(Action, frozen=True):
    """Add a goal at the present place of its frame."""

    kind: Name
    frame: Name

    def apply(self, session: Session) -> str:
        return session.add_target(self.kind, self.frame).name


class ChangeGoal(Action, frozen=True):
    """Change fields of a goal."""

    name: Name
    rename: Name | None = None
    turn: bool | None = None
    weight: float | None = None
    priority: Annotated[int, msgspec.Meta(ge=0, le=20)] | None = None
    active: bool | None = None

    def apply(self, session: Session) -> None:
        values = {"name": self.rename, "turn": self.turn, "weight": self.weight}
        values |= {"priority": self.priority, "active": self.active}
        session.change_target(self.name, **{key: value for key, value in values.items() if value is not None})


class RemoveGoal(Action, frozen=True):
    """Remove a goal."""

    name: Name

    def apply(self, session: Session) -> None:
        session.remove_target(self.name)


class Method(Action, frozen=True):
    """Choose a solver method."""

    name: Name

    def apply(self, session: Session) -> None:
        session.set_method(self.name)


class Undo(Action, frozen=True):
    """Undo the last change."""

    def apply(self, session: Session) -> str:
        what = session.history.can_undo
        session.undo()
        return what


class Redo(Action, frozen=True):
    """Redo the change that was undone last."""

    def apply(self, session: Session) -> str:
        what = session.history.can_redo
        session.redo()
        return what


# Obstacles


class AddObstacle(Action, frozen=True):
    """Add an obstacle beside the linkage."""

    kind: Name
    size: float

    def apply(self, session: Session) -> str:
        return session.add_obstacle(self.kind, self.size)


class MoveObstacle(Action, frozen=True):
    """Move an obstacle, and let the linkage give way."""

    name: Name
    place: Matrix
    goes_on: bool = False

    def apply(self, session: Session) -> None:
        around = session.scene.around.moved(self.name, _matrix(self.place))
        session.change_surroundings(f"move of {self.name}", around, instead=self.goes_on)


class ResizeObstacle(Action, frozen=True):
    """Change one of the sizes of an obstacle."""

    name: Name
    which: Annotated[int, msgspec.Meta(ge=0, le=2)]
    value: float

    def apply(self, session: Session) -> None:
        around = session.scene.around.resized(self.name, self.which, self.value)
        session.change_surroundings(f"size of {self.name}", around)


class RemoveObstacle(Action, frozen=True):
    """Remove an obstacle."""

    name: Name

    def apply(self, session: Session) -> None:
        session.change_surroundings(f"removal of {self.name}", session.scene.around.without(self.name))


class Surround(Action, frozen=True):
    """Change the margin, or what the linkage keeps clear of."""

    margin: float | None = None
    keeps: bool | None = None
    itself: bool | None = None

    def apply(self, session: Session) -> None:
        values: dict[str, Any] = {"margin": self.margin, "keeps": self.keeps, "itself": self.itself}
        around = replace(session.scene.around, **{name: value for name, value in values.items() if value is not None})
        session.change_surroundings("distance to keep", around)


# Clips and keys


class Time(Action, frozen=True):
    """Go to a time."""

    time: Seconds
    goes_on: bool = False

    def apply(self, session: Session) -> None:
        session.scrub(self.time)


class SetKey(Action, frozen=True):
    """Set a key: the pose, the places of goals, or both."""

    time: Seconds
    kind: Name = "cubic"
    pose: bool = True
    places: bool = False

    def apply(self, session: Session) -> None:
        session.set_key(self.time, kind=self.kind, pose=self.pose, places=self.places)


class MoveKeys(Action, frozen=True):
    """Shift keys in time, all by the same amount; keys at the new times are replaced."""

    times: Annotated[list[Seconds], msgspec.Meta(min_length=1, max_length=MOST_KEYS)]
    by: float
    copy: bool = False

    def apply(self, session: Session) -> None:
        line = session.scene.timeline
        keys = [line.at(time) for time in self.times]
        if any(key is None for key in keys):
            raise KeyFrameError("one of the keys no longer exists.")
        if min(self.times) + self.by < 0.0:
            raise KeyFrameError("a key cannot be before time 0.")
        if not self.copy:
            for time in self.times:
                line = line.without(time)
        for key in keys:
            if key is not None:
                line = line.with_key(replace(key, time=round(key.time + self.by, 6)))
        session.edit_clip("copy of keys" if self.copy else "move of keys", line)


class RemoveKeys(Action, frozen=True):
    """Remove keys."""

    times: Annotated[list[Seconds], msgspec.Meta(min_length=1, max_length=MOST_KEYS)]

    def apply(self, session: Session) -> None:
        line = session.scene.timeline
        for time in self.times:
            line = line.without(time)
        session.edit_clip("removal of keys", line)


class ChangeKeys(Action, frozen=True):
    """Change the interpolation after keys."""

    times: Annotated[list[Seconds], msgspec.Meta(min_length=1, max_length=MOST_KEYS)]
    kind: Name
    handles: Annotated[list[float], msgspec.Meta(min_length=4, max_length=4)] | None = None
    goes_on: bool = False

    def apply(self, session: Session) -> None:
        line = session.scene.timeline
        way: dict[str, Any] = {"kind": self.kind} | ({} if self.handles is None else {"handles": tuple(self.handles)})
        for time in self.times:
            line = line.with_way(time, **way)
        session.edit_clip("interpolation of keys", line, instead=self.goes_on)


class AddClip(Action, frozen=True):
    """Add an empty clip, or a copy of the current one."""

    name: Name
    copy: bool = False

    def apply(self, session: Session) -> None:
        scene = session.scene
        line = scene.timeline if self.copy else SceneTimeline(fps=scene.timeline.fps or FPS)
        with session.changing(f"clip {self.name}"):
            session.scene = scene.with_clip(self.name, line)


class ChooseClip(Action, frozen=True):
    """Choose another clip."""

    name: Name

    def apply(self, session: Session) -> None:
        if self.name not in session.scene.clips:
            raise OptionError(f"there is no clip {self.name!r}.")
        session.change(clip=self.name, time=0.0)
        if session.scene.timeline.keys:
            session.scrub(0.0)


class ChangeClip(Action, frozen=True):
    """Change the frame rate of the current clip, whether it loops, or its name."""

    fps: Annotated[float, msgspec.Meta(ge=1.0, le=1000.0)] | None = None
    loop: bool | None = None
    rename: Name | None = None

    def apply(self, session: Session) -> None:
        scene: Scene = session.scene
        line = scene.timeline
        line = replace(line, fps=line.fps if self.fps is None else self.fps)
        line = replace(line, loop=line.loop if self.loop is None else self.loop)
        with session.changing(f"change of {scene.clip}"):
            session.scene = scene.with_timeline(line)
            if self.rename is not None:
                session.scene = session.scene.with_clip_named(scene.clip, self.rename)


class RemoveClip(Action, frozen=True):
    """Remove the current clip."""

    def apply(self, session: Session) -> None:
        with session.changing(f"removal of {session.scene.clip}"):
            session.scene = session.scene.without_clip(session.scene.clip)
