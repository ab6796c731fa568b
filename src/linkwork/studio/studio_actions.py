"""Actions that a page may request beyond the session: files, exports, details of a solve, races."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import numpy as np

from ..errors import OptionError, listed
from .actions import Action, Matrix, Name
from .saving import Film, export, file_name, scene_text
from .scene import first_scene
from .server import File
from .session import Session, motion

if TYPE_CHECKING:
    from .app import Studio

MOST_MOMENTS = 400  # iterations of a solve that are shown
MOST_NUMBERS = 200_000  # in all Jacobians that are sent


class StudioAction(Action, frozen=True):
    """An action that needs more than the session."""

    def act(self, studio: Studio) -> Any:
        """Apply the action, and return the answer to the page that sent it."""
        raise NotImplementedError

    def apply(self, session: Session) -> Any:
        """Refuse: the studio applies it."""
        raise NotImplementedError


class OpenModel(StudioAction, frozen=True):
    """Open a ready-made model."""

    name: Name

    def act(self, studio: Studio) -> None:
        studio.session.open(first_scene(studio.model(self.name)), (), self.name)
        studio.show_anew()


class Save(StudioAction, frozen=True):
    """Overwrite the file that the studio was opened with, or return the question to ask first."""

    anyway: bool = False

    def act(self, studio: Studio) -> dict[str, str]:
        asks = "" if self.anyway else studio.file.question(studio.session.linkage)
        return {"asks": asks} if asks else {"saved": studio.save()}


class Download(StudioAction, frozen=True):
    """Download the scene as a file."""

    def act(self, studio: Studio) -> str:
        scene = studio.session.scene
        name = f"{file_name(scene.linkage.name)}.yaml"
        return studio.offer(File(scene_text(scene).encode(), "application/yaml", name))


class Export(StudioAction, frozen=True):
    """Export the motion, or a part of it, to a file, in a job."""

    kind: Name
    first: Annotated[float, msgspec.Meta(ge=0.0)] | None = None
    last: Annotated[float, msgspec.Meta(ge=0.0)] | None = None
    fps: Annotated[float, msgspec.Meta(ge=1.0, le=240.0)] | None = None
    width: Annotated[int, msgspec.Meta(ge=64, le=3840)] | None = None
    height: Annotated[int, msgspec.Meta(ge=64, le=2160)] | None = None
    view: Annotated[list[float], msgspec.Meta(min_length=2, max_length=2)] | Name | None = None

    def act(self, studio: Studio) -> int:
        scene = studio.session.scene

        def work(progress: Callable[[float], None]) -> str:
            clip = motion(scene)
            size = None if self.width is None or self.height is None else (self.width, self.height)
            view = tuple(self.view) if isinstance(self.view, list) else self.view
            how = Film(self.first, self.last, self.fps, size, view)
            name, content = export(clip, self.kind, how, progress)
            return studio.offer(File(content, "application/octet-stream", name))

        return studio.jobs.begin(f"{scene.clip}{self.kind}", work)


class Cancel(StudioAction, frozen=True):
    """Cancel a job."""

    job: int

    def act(self, studio: Studio) -> None:
        studio.jobs.cancel(self.job)


class Inside(StudioAction, frozen=True):
    """Return the iterations of the last solve, with Jacobians and damping factors."""

    start: list[float] | None = None

    def act(self, studio: Studio) -> dict[str, Any]:
        from .inspection import moments

        session = studio.session
        start = None if self.start is None else session.linkage.pose(self.start)
        solution = session.traced(start)
        if solution is None:
            raise OptionError("there is no goal to inspect; add one, and drag it.")
        seen = moments(solution)
        every = max(1, -(-len(seen) // MOST_MOMENTS))
        shown = [*seen[:-1:every], seen[-1]] if len(seen) > 1 else seen
        numbers = sum(moment.jacobian.size for moment in shown) <= MOST_NUMBERS
        return {
            "method": solution.method,
            "reason": solution.reason,
            "count": len(seen) - 1,
            "every": every,
            "joints": list(seen[0].joints),
            "moments": [
                {
                    "q": moment.q.tolist(),
                    "residual": moment.residual,
                    "singular": moment.singular_values.tolist(),
                    "filters": None if moment.filters is None else moment.filters.tolist(),
                    "free": len(moment.free),
                    "step": None if moment.step is None else moment.step.tolist(),
                    "jacobian": moment.jacobian.tolist() if numbers else None,
                    "notes": {key: float(value) for key, value in moment.notes.items()},
                }
                for moment in shown
            ],
        }


class Overlay(StudioAction, frozen=True):
    """Compute an overlay."""

    kind: Name
    frame: Name

    def act(self, studio: Studio) -> dict[str, Any]:
        from .overlays import OVERLAYS

        if self.kind not in OVERLAYS:
            raise OptionError(f"no overlay {self.kind!r}; there are {listed(list(OVERLAYS))}.")
        return OVERLAYS[self.kind](studio.session.scene, self.frame)


class Swing(StudioAction, frozen=True):
    """Move along the null space of the goals, from the pose that is shown."""

    q: list[float]
    direction: Annotated[int, msgspec.Meta(ge=0, le=1000)]
    amount: Annotated[float, msgspec.Meta(ge=-20.0, le=20.0)]
    keep: bool = False
    goes_on: bool = False

    def act(self, studio: Studio) -> list[float]:
        from .inspection import swing

        session = studio.session
        q = session.linkage.pose(self.q)
        found = swing(session.linkage, session.goals, q, self.amount, direction=self.direction)
        if self.keep:
            session.set_pose(found, "swing")
        return [float(x) for x in found]


class Race(StudioAction, frozen=True):
    """Let methods follow the goals, each from its own pose, and return their poses and curves.

    The page drives the race: it requests steps at the rate at which it draws.
    """

    methods: Annotated[list[Name], msgspec.Meta(max_length=20)]
    steps: Annotated[int, msgspec.Meta(ge=0, le=50)] = 1
    begin: bool = False
    places: dict[Name, Matrix] = msgspec.field(default_factory=dict)

    def act(self, studio: Studio) -> dict[str, Any]:
        from .racing import Chase

        session = studio.session
        if self.begin or studio.chase is None:
            studio.chase = Chase(session.linkage, session.goals, session.q, methods=self.methods)
        chase: Chase = studio.chase
        placed = {name: np.array(place).reshape(4, 4) for name, place in self.places.items()}
        goals = [
            (replace(target, place=placed[target.name]) if target.name in placed else target).goal(session.linkage)
            for target in session.scene.targets
            if target.active
        ]
        for _ in range(self.steps):
            chase.step(goals)
        return {
            "refused": dict(chase.refusals),
            "settled": chase.settled,
            "racers": {
                name: {
                    "q": racer.q.tolist(),
                    "curves": {what: [float(value) for value in curve] for what, curve in racer.curves.items()},
                }
                for name, racer in chase.runners.items()
            },
        }


class EndRace(StudioAction, frozen=True):
    """End the race; the scene is unchanged."""

    def act(self, studio: Studio) -> None:
        studio.chase = None


class Open(StudioAction, frozen=True):
    """Open a scene that an earlier studio left unsaved."""

    recovered: Annotated[int, msgspec.Meta(ge=0, le=20)]

    def act(self, studio: Studio) -> None:
        studio.recover(self.recovered)


class Forget(StudioAction, frozen=True):
    """Delete a scene that an earlier studio left unsaved."""

    recovered: Annotated[int, msgspec.Meta(ge=0, le=20)]

    def act(self, studio: Studio) -> None:
        studio.forget(self.recovered)
