"""The session: a scene, its history, and the operations of users and scripts.

This module does not depend on a page. Only one thread at a time may use a session: the studio gives all work to one
`Worker`. Every change is a transaction: if it fails, it raises and leaves the scene unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import GoalError, KeyFrameError, MethodNotFoundError, OptionError, TargetNotFoundError
from ..formats import Remark
from ..goals import Goal
from ..linkage.linkage import Linkage
from ..motion.clips import Clip
from ..solvers import METHODS, Solution, solve
from ..transforms import FloatArray, read_only
from .history import HEAVIEST, History
from .judging import judged
from .scene import Scene, checked_name
from .targets import Target, new_target
from .timeline import LONGEST, SceneKey, SceneTimeline, closed
from .weighing import weight

State = tuple[Scene, tuple[Remark, ...]]
TIME_BUDGET = 0.05  # seconds for a solve during a drag: at least twenty per second


class Session:
    """A scene that is being edited.

    Args:
        scene: The first scene.
        remarks: Remarks on its file.

    Attributes:
        scene: Everything that is saved and undone.
        solution: The last solve, or None if the scene has changed since.
        remarks: Remarks on the file.

    Example:
        >>> import linkwork as lw
        >>> from linkwork.studio.scene import first_scene
        >>> session = Session(first_scene(lw.models.planar([15, 10, 5])))
        >>> [target.name for target in session.scene.targets]
        ['tip']
        >>> place = np.eye(4); place[:2, 3] = -20, 5
        >>> session.drag("tip", place).success
        True
        >>> session.history.can_undo
        'drag of tip'
        >>> session.undo(); session.scene.targets[0].place[:2, 3].round(3).tolist() != [-20, 5]
        True
    """

    def __init__(self, scene: Scene, remarks: tuple[Remark, ...] = ()) -> None:
        self.scene, self.remarks = scene, remarks
        self.history: History[State] = History((scene, remarks), weigh=_weight, heaviest=HEAVIEST)
        self.solution: Solution | None = None
        self._grip: tuple[Any, ...] = ()

    @property
    def linkage(self) -> Linkage:
        """The linkage."""
        return self.scene.linkage

    @property
    def q(self) -> FloatArray:
        """The pose."""
        return self.scene.q

    # Changes

    @contextmanager
    def changing(self, what: str, *, instead: bool = False) -> Iterator[None]:
        """Record the changes made inside as one step of the history; an error reverts all of them."""
        before, remarks, solution = self.scene, self.remarks, self.solution
        try:
            yield
        except BaseException:
            self.scene, self.remarks, self.solution = before, remarks, solution
            raise
        if self.scene is not before:
            self.history.record((self.scene, self.remarks), what, instead=instead)
            self._leave(before.linkage)

    def change(self, **values: Any) -> None:
        """Change the scene without recording it; use `changing` to record."""
        self.scene = replace(self.scene, **values)

    def undo(self) -> None:
        """Go back to the state before."""
        self._go(self.history.undo())

    def redo(self) -> None:
        """Go forward to the state that was undone."""
        self._go(self.history.redo())

    def _go(self, state: State) -> None:
        before = self.linkage
        (self.scene, self.remarks), self.solution = state, None
        self._leave(before)

    def _leave(self, linkage: Linkage) -> None:
        """Empty the cache of a linkage that is no longer shown: the history may hold hundreds of them."""
        if linkage is not self.linkage:
            linkage.cache.clear()

    def open(self, scene: Scene, remarks: tuple[Remark, ...], what: str) -> None:
        """Open another scene; undo returns to this one."""
        with self.changing(f"opening of {what}"):
            scene.around.nearest(scene.linkage, scene.q)  # refuses invalid shapes now
            self.scene, self.remarks, self.solution = scene, remarks, None

    # The pose

    def set_pose(self, q: ArrayLike | str, what: str = "pose", *, instead: bool = False) -> None:
        """Set the pose, or a stored one by name; reach targets move along, pins stay."""
        pose = self.linkage.pose(self.scene.poses.get(q, q) if isinstance(q, str) else q)
        if not np.isfinite(pose).all():
            raise OptionError("a pose needs finite numbers.")
        with self.changing(what, instead=instead):
            self.change(q=read_only(self.linkage.clamp(pose)))
            self._bring_along()

    def turn(self, q: FloatArray, joint: str) -> None:
        """Set a pose in which one joint was turned, and let the other joints of closed loops follow.

        Raises:
            LoopError: If a loop cannot be closed with this value of the joint; the pose is unchanged.
        """
        self.set_pose(closed(self.linkage, q, keep=(joint,)), f"turn of {joint}", instead=True)

    def _bring_along(self) -> None:
        """Move reach targets to their frames in the present pose; then only pins pull."""
        places = self.linkage.forward(self.q)
        moved = [t.moved(places[t.frame]) if t.kind == "reach" else t for t in self.scene.targets]
        self.change(targets=tuple(moved))
        self.solution = None

    def store_pose(self, name: str) -> None:
        """Store the present pose under a name."""
        checked_name(name, (), "a pose")
        with self.changing(f"stored pose {name}"):
            self.change(poses=MappingProxyType({**self.scene.poses, name: self.q}))

    # Targets

    def target(self, name: str) -> Target:
        """Return a target by name."""
        for target in self.scene.targets:
            if target.name == name:
                return target
        raise TargetNotFoundError(name, "the studio", [target.name for target in self.scene.targets])

    def add_target(self, kind: str, frame: str) -> Target:
        """Add a target at the present place of its frame, and return it.

        Raises:
            GoalError: If no joint moves the frame.
        """
        taken = tuple(target.name for target in self.scene.targets)
        target = new_target(self.linkage, self.q, kind, frame, taken)
        if kind != "balance" and not self.linkage.evaluator.moving_rows(frame).any():
            raise GoalError(f"no joint moves {frame!r}; choose a frame of a link that moves.")
        with self.changing(f"goal {target.name}"):
            self.change(targets=(*self.scene.targets, target))
        return target

    def change_target(self, name: str, /, **values: Any) -> None:
        """Change fields of a target, such as its weight, and let the linkage follow."""
        old = self.target(name)
        new = replace(old, **values)
        if new.name != old.name:
            checked_name(new.name, tuple(target.name for target in self.scene.targets), "a goal")
        new.goal(self.linkage)  # raises now if it is invalid
        with self.changing(f"change of {name}"):
            scene = self.scene
            self._exchange(old, new)
            if new.name != old.name:
                lines = {key: line.with_target_named(name, new.name) for key, line in scene.clips.items()}
                self.change(clips=MappingProxyType(lines))
            self.solve()

    def remove_target(self, name: str) -> None:
        """Remove a target."""
        old = self.target(name)
        with self.changing(f"removal of {name}"):
            self.change(targets=tuple(target for target in self.scene.targets if target is not old))
            self.solution = None

    @property
    def goals(self) -> list[Goal]:
        """Goals of the active targets, after the one that keeps the linkage clear."""
        wanted = [target.goal(self.linkage) for target in self.scene.targets if target.active]
        return self.scene.around.goals(self.linkage, wanted)

    def settle(self, q: ArrayLike, places: Mapping[str, FloatArray], what: str, *, turned: Sequence[str] = ()) -> None:
        """Take a pose and places of targets that a page has found, and judge them again here.

        Args:
            q: The pose.
            places: New places of targets, by name.
            what: Name of the change.
            turned: Targets that were turned by hand, and keep their orientation from now on.
        """
        pose = self.linkage.pose(q)
        if not np.isfinite(pose).all():
            raise OptionError("a pose needs finite numbers.")
        with self.changing(what):
            for name, place in places.items():
                self._exchange(self.target(name), self.target(name).moved(place))
            for name in turned:
                self._exchange(self.target(name), replace(self.target(name), turn=True))
            start = self.q
            self.change(q=read_only(self.linkage.clamp(pose)))
            self._judge(start)

    def _exchange(self, old: Target, new: Target) -> None:
        self.change(targets=tuple(new if target is old else target for target in self.scene.targets))

    def _judge(self, start: FloatArray) -> None:
        """Evaluate the goals in the present pose, without changing it."""
        goals = self.goals
        self.solution = judged(self.linkage, goals, start, self.q, self.scene.method) if goals else None

    # Obstacles

    def add_obstacle(self, kind: str, size: float) -> str:
        """Add an obstacle beside the linkage and return its name; `size` is that of the linkage."""
        place = np.eye(4)
        origins = self.linkage.forward(self.q).array[:, :3, 3]
        low, high = origins.min(axis=0), origins.max(axis=0)
        count = len(self.scene.around.world)
        aside = 0.4 * size * ((count + 1) // 2) * (-1) ** count  # in a row
        place[:3, 3] = high[0] + 0.3 * size, (low[1] + high[1]) / 2.0 + aside, (low[2] + high[2]) / 2.0  # in sight
        if not self.linkage.evaluator.moving_rows(self.linkage.frames[-1])[2]:
            place[2, 3] = 0.0  # beside a planar arm, not above it
        around, name = self.scene.around.added(kind, place, size)
        around.check(self.linkage)
        with self.changing(f"obstacle {name}"):
            self.change(around=around)
        return name

    def change_surroundings(self, what: str, around: Any, *, instead: bool = False) -> None:
        """Change the surroundings, and let the linkage give way."""
        if around.itself and not self.scene.around.itself:
            around.check(self.linkage)
        with self.changing(what, instead=instead):
            self.change(around=around)
            self.solve()

    # Solving

    def set_method(self, method: str) -> None:
        """Choose a method by its name."""
        if method not in METHODS:
            raise MethodNotFoundError(method, "linkwork", METHODS)
        with self.changing(f"method {method}"):
            self.change(method=method)

    def drag(self, name: str, place: FloatArray, *, turn: bool = False, instead: bool = False) -> Solution:
        """Move a target and let the linkage follow; a target turned by hand keeps its orientation from now on."""
        old = self.target(name)
        with self.changing(f"{'turn' if turn else 'drag'} of {name}", instead=instead):
            self._exchange(old, replace(old, place=place, turn=old.turn or turn))
            solution = self.solve()
            if solution is None:
                raise OptionError(f"goal {name!r} is switched off, and so are all others.")
        return solution

    def pull(
        self, link: str, point: ArrayLike, place: FloatArray, *, turn: bool = False, instead: bool = False
    ) -> None:
        """Pull a point of a link to a place, or turn it there; reach targets follow, all others resist."""
        linkage, frame = self._held_at(link, tuple(np.asarray(point, np.float64).tolist()))
        with self.changing(f"{'turn' if turn else 'drag'} of {link}", instead=instead):
            hand = Target(frame, "reach", frame, place, turn=turn)
            others = [target for target in self.scene.targets if target.active and target.kind != "reach"]
            goals = self.scene.around.goals(linkage, [target.goal(linkage) for target in (hand, *others)])
            start = self.q
            self.change(q=read_only(solve(linkage, goals, start=start, time_budget=TIME_BUDGET).q))
            self._bring_along()
            self._judge(start)

    def _held_at(self, link: str, point: tuple[float, ...]) -> tuple[Linkage, str]:
        """Return the linkage with a frame at a point of a link, cached while the same point is held."""
        frame = f"{link}, where it is held"
        if self._grip[:3] != (self.linkage, link, point):
            place = np.eye(4)
            place[:3, 3] = point
            self._grip = self.linkage, link, point, self.linkage.add_frame(frame, link, place)
        return self._grip[3], frame

    def solve(self, *, time_budget: float | None = TIME_BUDGET) -> Solution | None:
        """Solve for the targets from the present pose, and set the pose found; None if there are no goals."""
        goals = self.goals
        if not goals:
            self.solution = None
            return None
        budget: dict[str, Any] = {} if time_budget is None else {"time_budget": time_budget}
        self.solution = solve(self.linkage, goals, start=self.q, method=self.scene.method, **budget)
        self.change(q=read_only(self.solution.q))
        return self.solution

    def traced(self, start: FloatArray | None = None) -> Solution | None:
        """Repeat the last solve with a trace, without changing the pose; None if there are no goals.

        Args:
            start: Start pose of the solve, if the page knows it; by default that of the last solve here.
        """
        goals = self.goals
        if not goals:
            return None
        begun = start if start is not None else self.q if self.solution is None else self.solution.start
        method = "damped" if self.scene.method == "robust" else self.scene.method  # robust has no trace
        return solve(self.linkage, goals, start=begun, method=method, trace=True, time_budget=2.0)

    # The clips

    def edit_clip(self, what: str, line: SceneTimeline, *, instead: bool = False) -> None:
        """Replace the timeline of the current clip."""
        with self.changing(what, instead=instead):
            self.scene = self.scene.with_timeline(line)

    def set_key(self, time: float, *, kind: str = "cubic", pose: bool = True, places: bool = True) -> None:
        """Set a key at a time: the present pose, the places of all targets, or both."""
        stand = {target.name: target.place for target in self.scene.targets if target.active} if places else {}
        if not pose and not stand:
            raise KeyFrameError("there is no goal to key; add one, or key the pose.")
        key = SceneKey(round(float(time), 6), self.q if pose else None, stand, kind)
        with self.changing(f"key at {key.time:g} s"):
            self.scene = replace(self.scene.with_timeline(self.scene.timeline.with_key(key)), time=key.time)

    def scrub(self, time: float) -> None:
        """Go to a time: pose and places of keyed targets come from the keys. This is not recorded for undo."""
        line = self.scene.timeline
        time = float(min(max(time, 0.0), LONGEST))
        places = line.places_at(time)
        targets = tuple(target.moved(places.get(target.name, target.place)) for target in self.scene.targets)
        pose = line.pose_at(self.linkage, time)
        q = self.q if pose is None else read_only(closed(self.linkage, self.linkage.clamp(pose)))
        self.change(time=time, targets=targets, q=q)
        self.solution = None
        if places:
            self.solve()
        else:
            self._bring_along()


def _weight(state: State, before: State | None) -> int:
    """Return the bytes of a state of the history, without those shared with the one before."""
    return weight(state[0], None if before is None else before[0])


def motion(scene: Scene) -> Clip:
    """Return the motion of a scene's current clip."""
    return scene.timeline.bake(scene.linkage, scene.targets, start=scene.q)
