"""The session: one linkage with its pose, targets, method and timeline, and what a person does to them.

Nothing here knows of a page. One thread at a time may use a session: the studio gives all work to one `Worker`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import KeyFrameError, MethodNotFoundError, OptionError, TargetNotFoundError
from ..explain.diagnosis import at_limits, diagnose
from ..explain.proofs import reach
from ..formats import Remark
from ..linkage.linkage import Linkage
from ..motion.clips import Clip
from ..solvers import METHODS, Solution, solve
from ..transforms import FloatArray, read_only
from .history import History
from .targets import Target, new_target
from .timeline import LONGEST, SceneKey, SceneTimeline, closed

TIME_BUDGET = 0.05  # seconds for a solve while something is dragged: twenty a second at the very least


@dataclass(frozen=True, eq=False)
class Scene:
    """Everything that is undone and redone, and saved."""

    linkage: Linkage
    q: FloatArray
    targets: tuple[Target, ...] = ()
    method: str = "robust"
    timeline: SceneTimeline = field(default_factory=SceneTimeline)
    time: float = 0.0


@dataclass(frozen=True, eq=False)
class Why:
    """Why the targets were not reached.

    Attributes:
        cause: As in `linkwork.explain.diagnosis.Diagnosis`.
        text: The sentence, and what to try.
        joints: The joints at their limits, or that would have to go beyond them.
        center: Where the limb of a target out of reach begins, shape (3,), or None.
        radii: The least and largest distance it reaches from there [m].
    """

    cause: str
    text: str
    joints: tuple[str, ...] = ()
    center: FloatArray | None = None
    radii: tuple[float, float] = (0.0, 0.0)


class Session:
    """A linkage at work.

    Args:
        linkage: The linkage.
        clip: A motion that came with it, which becomes keys.

    Attributes:
        scene: Everything that is saved and undone.
        solution: The last solve, or None when nothing was solved since the scene changed.
        remarks: What is to be known about the file.

    Example:
        >>> import linkwork as lw
        >>> session = Session(lw.models.planar([15, 10, 5]))
        >>> session.add_target("reach", "tip").name
        'tip'
        >>> place = np.eye(4); place[:2, 3] = -20, 5
        >>> session.drag("tip", place).success
        True
        >>> session.commit(); session.undo(); session.scene.targets[0].place[:2, 3].round(3).tolist() != [-20, 5]
        True
    """

    def __init__(self, linkage: Linkage, *, clip: Clip | None = None) -> None:
        self.load(first_scene(linkage, clip))

    def load(self, scene: Scene, remarks: tuple[Remark, ...] = ()) -> None:
        """Begin anew with another scene; what was before cannot be undone."""
        self.scene, self.remarks = scene, remarks
        self.history: History[Scene] = History(scene)
        self.solution: Solution | None = None

    @property
    def linkage(self) -> Linkage:
        """The linkage."""
        return self.scene.linkage

    @property
    def q(self) -> FloatArray:
        """The pose."""
        return self.scene.q

    # Undo and redo

    def change(self, **values: Any) -> None:
        """Change the scene without a place in the history: it gets one from `commit`."""
        self.scene = replace(self.scene, **values)

    def commit(self, *, instead: bool = False) -> None:
        """Keep the scene as it is in the history, or `instead` of the last one there if the same change goes on."""
        self.history.record(self.scene, instead=instead)

    def undo(self) -> None:
        """Go back to the state before."""
        self.scene, self.solution = self.history.undo(), None

    def redo(self) -> None:
        """Go forward to the state that was undone."""
        self.scene, self.solution = self.history.redo(), None

    # The pose

    def set_pose(self, q: ArrayLike | str) -> None:
        """Take a pose, or a stored one by name; targets stay where they are until the next solve."""
        pose = self.linkage.pose(q)
        self.change(q=read_only(self.linkage.clamp(pose)))
        self.solution = None

    def turn(self, q: FloatArray, joint: str) -> None:
        """Take a pose in which one joint was turned, and let the other joints of closed loops follow it.

        Raises:
            LoopError: If a loop cannot be closed with that joint there; the pose stays as it was.
        """
        self.set_pose(closed(self.linkage, q, keep=(joint,)))

    def settle(self) -> None:
        """Move what reaches to where the pose has it: after that only pins pull."""
        places = self.linkage.forward(self.q)
        moved = [t.moved(places[t.frame]) if t.kind == "reach" else t for t in self.scene.targets]
        self.change(targets=tuple(moved))
        self.solution = None

    # Targets

    def target(self, name: str) -> Target:
        """Return the target of a name."""
        for target in self.scene.targets:
            if target.name == name:
                return target
        raise TargetNotFoundError(name, "the studio", [target.name for target in self.scene.targets])

    def add_target(self, kind: str, frame: str) -> Target:
        """Add a target where the pose has its frame, and return it."""
        taken = tuple(target.name for target in self.scene.targets)
        target = new_target(self.linkage, self.q, kind, frame, taken)
        self.change(targets=(*self.scene.targets, target))
        self.commit()
        return target

    def change_target(self, name: str, **values: Any) -> None:
        """Change fields of a target, such as its weight."""
        old = self.target(name)
        new = replace(old, **values)
        new.goal(self.linkage)  # says now if it cannot be
        self.change(targets=tuple(new if target is old else target for target in self.scene.targets))

    def remove_target(self, name: str) -> None:
        """Take a target away."""
        old = self.target(name)
        self.change(targets=tuple(target for target in self.scene.targets if target is not old))
        self.solution = None
        self.commit()

    @property
    def goals(self) -> list[Any]:
        """The goals of the targets that are switched on."""
        return [target.goal(self.linkage) for target in self.scene.targets if target.active]

    # Solving

    def set_method(self, method: str) -> None:
        """Choose a method by its name."""
        if method not in METHODS:
            raise MethodNotFoundError(method, "linkwork", METHODS)
        self.change(method=method)
        self.commit()

    def drag(self, name: str, place: FloatArray) -> Solution:
        """Move a target and let the linkage follow."""
        self.change_target(name, place=place)
        solution = self.solve()
        if solution is None:
            raise OptionError(f"target {name!r} is switched off, and so are all others.")
        return solution

    def solve(self, *, time_budget: float | None = TIME_BUDGET) -> Solution | None:
        """Solve for the targets from the present pose, and take the pose found; None if there are no targets."""
        goals = self.goals
        if not goals:
            self.solution = None
            return None
        budget: dict[str, Any] = {} if time_budget is None else {"time_budget": time_budget}
        self.solution = solve(self.linkage, goals, start=self.q, method=self.scene.method, **budget)
        self.change(q=read_only(self.solution.q))
        return self.solution

    def traced(self) -> Solution | None:
        """Return the last solve once more from the same start, with every iteration kept; the pose stays."""
        if self.solution is None:
            return None
        return solve(
            self.linkage, self.goals, start=self.solution.start, method=self.scene.method, trace=True, time_budget=2.0
        )

    # The timeline

    def set_key(self, time: float, *, kind: str = "cubic", pose: bool = True, places: bool = True) -> None:
        """Set a key at a time: the present pose, the places of all targets, or both."""
        stand = {target.name: target.place for target in self.scene.targets if target.active} if places else {}
        if not pose and not stand:
            raise KeyFrameError("there is no target to key; add one, or key the pose.")
        key = SceneKey(round(float(time), 6), self.q if pose else None, stand, kind)
        self.change(timeline=self.scene.timeline.with_key(key), time=key.time)
        self.commit()

    def scrub(self, time: float) -> None:
        """Go to a time: the pose and the places of keyed targets are those of the keys there, or of the last one."""
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


def motion(scene: Scene) -> Clip:
    """Return the motion of a scene's timeline."""
    return scene.timeline.bake(scene.linkage, scene.targets, start=scene.q)


def explain(solution: Solution) -> Why:
    """Return why a solve ended as it did, with what can be shown of it."""
    found = diagnose(solution)
    beyond = [name for name, amount in found.evidence.get("violations", {}).items() if amount > 0.0]
    return _why(solution, found.cause, found.paragraph, beyond)


def sentence(solution: Solution) -> Why:
    """Return in one sentence how a solve ended, without experiments: fast enough for every step of a drag."""
    return _why(solution, "reached" if solution.success else solution.status, solution.reason, [])


def _why(solution: Solution, cause: str, text: str, beyond: list[str]) -> Why:
    """Return a cause with the joints to blame, and the reach of a limb whose goal is outside it."""
    if solution.success:
        return Why(cause, text)
    linkage = solution.linkage
    names = [limit.rsplit(" (", 1)[0] for limit in at_limits(linkage, solution.q)] + beyond
    joints = tuple(dict.fromkeys(name if name in linkage.joints else name.rsplit(".", 1)[0] for name in names))
    for goal in solution.goals:
        position = getattr(goal, "position", None)
        if position is None:
            continue
        center, least, most, _ = reach(linkage, goal.frame)  # type: ignore[attr-defined]
        distance = float(np.linalg.norm(position - center[: len(position)]))
        if np.isfinite(most) and not least <= distance <= most:
            return Why(cause, text, joints, center, (least, most))
    return Why(cause, text, joints)


def first_scene(linkage: Linkage, clip: Clip | None = None) -> Scene:
    """Return the scene that one begins with: the ready pose, or a motion that came with the linkage, as keys."""
    q = ready_pose(linkage) if clip is None else clip.poses[0]
    return Scene(linkage, read_only(np.array(q)), timeline=SceneTimeline() if clip is None else timeline_of(clip))


def ready_pose(linkage: Linkage) -> FloatArray:
    """Return the pose to begin with: the stored one called ready, else the first, else the neutral one."""
    name = "ready" if "ready" in linkage.poses else next(iter(linkage.poses), None)
    return linkage.neutral() if name is None else linkage.stored_pose(name)


def timeline_of(clip: Clip) -> SceneTimeline:
    """Return a timeline that has a key for each frame of a motion: it plays as the clip does."""
    times = clip.times - clip.times[0]
    keys = tuple(SceneKey(float(time), q, kind="linear") for time, q in zip(times, clip.poses, strict=True))
    fps = (len(times) - 1) / times[-1] if len(times) > 1 else SceneTimeline().fps
    return SceneTimeline(keys, fps=float(fps))
