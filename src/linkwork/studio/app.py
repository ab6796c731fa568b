"""The studio: a session, the server of its pages, and the two threads that do all the work.

Every page shows the same session. One worker handles the requests of pages and scripts, one after another, so that
pages cannot corrupt each other. A second worker does long computations (explanations, motions, films) on an immutable
scene and hands the results back. Dragging and playing are computed in the page itself, by the same kernels.
"""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections.abc import Callable
from functools import cached_property, partial, reduce
from operator import or_
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import msgspec

from ..draw.embedding import window
from ..errors import LinkworkError, OptionError
from ..formats import Remark
from ..linkage.linkage import Linkage
from ..models import build
from ..solvers import Solution
from . import sight
from .actions import Action
from .autosave import Autosave, forget, lost_scenes
from .door import Door
from .jobs import Jobs
from .judging import explain, sentence
from .own_file import OwnFile
from .saving import read_scene
from .scene import Scene
from .server import LIMIT, Client, File, Message
from .session import Session, motion
from .studio_actions import StudioAction
from .targets import Target
from .uploads import Uploads
from .worker import Worker

if TYPE_CHECKING:
    from .racing import Chase

IN_NOTEBOOK = 640  # height in a notebook [pixel]
KEPT = 16  # number of files kept for download
SETTLED = 0.15  # time without a change after which motions and explanations are computed [s]


class Studio:
    """The studio of one linkage, served until it is closed.

    Args:
        scene: The first scene.
        remarks: Remarks on the file that the scene came from.
        path: The scene file that may be overwritten, if one was opened.
        door: Accepts pages; some may be waiting already.

    Attributes:
        session: The session that all pages show.
    """

    def __init__(
        self,
        scene: Scene,
        *,
        remarks: tuple[Remark, ...] = (),
        path: Path | None = None,
        door: Door,
    ) -> None:
        self.session, self.file = Session(scene, remarks), OwnFile(path, scene)
        self._closed = threading.Event()
        self._clients: list[Client] = []
        self._sight = sight.Sight()
        self._stages: dict[int, tuple[Any, str]] = {}
        self._models: WeakValueDictionary[str, Linkage] = WeakValueDictionary()
        self._revision = self._newest = 0
        self._solver: tuple[Any, str | None] = None, None
        self._motion: tuple[Any, bytes | None] = None, None
        self._motions = 0
        self._why: tuple[Solution | None, Any] = None, None
        self._downloads: dict[str, File] = {}
        self._uploads = Uploads()
        self.jobs = Jobs(self._tell_jobs)
        self.worker = Worker("linkwork studio", self._failed)
        self.thinker = Worker("linkwork thinking", self._failed)
        self._lost = lost_scenes()
        self._taken: list[Path] = []
        self.autosave = Autosave(self._failed)
        self.chase: Chase | None = None
        self._show()
        self.door, self.server = door, door.server
        door.lead_to(self)

    # In the server's thread

    def _arrived(self, client: Client) -> None:
        """Send everything to a page that has connected."""
        self.worker.submit(partial(self._welcome, client))

    def _left(self, client: Client) -> None:
        """Forget a page that has disconnected."""
        self.worker.submit(partial(self._forget, client))

    def _received(self, client: Client, message: Message) -> None:
        """Handle a message of a page: an action, or files as bytes."""
        number = 0
        if isinstance(message, bytes):
            self.thinker.submit(partial(self._upload, client, message))
            return
        try:
            head = msgspec.json.decode(message, type=_Head)
            number = head.n
            action = ACTIONS.decode(head.ask)
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            refused = f"this page sent what the studio does not understand; reload the page: {error}"
            client.send(json.dumps({"n": number, "refused": refused}))
            return
        name = f"{type(action).__name__} {id(client)}" if getattr(action, "goes_on", False) else None
        self.worker.submit(partial(self._act, client, number, action), name=name)

    # In the worker's thread

    def _welcome(self, client: Client) -> None:
        self._clients.append(client)
        client.send(json.dumps({"choices": sight.choices(), "limit": LIMIT}))
        client.send(self._stage_message)
        for message in (self._solver[1], self._motion[1]):
            if message is not None:
                client.send(message)
        client.send(self._sight.everything())

    def _forget(self, client: Client) -> None:
        if client in self._clients:
            self._clients.remove(client)

    def _act(self, client: Client, number: int, action: Action) -> None:
        try:
            result = action.act(self) if isinstance(action, StudioAction) else action.apply(self.session)
        except Exception as error:  # any error is reported to the page that asked; the studio goes on
            client.send(json.dumps({"n": number, "refused": in_words(error)}))
            self._show()
            client.send(self._sight.everything())  # the page may have changed its view in advance; this restores it
            return
        try:
            self._show()
        finally:  # the page is answered after the change is shown
            client.send(msgspec.json.encode({"n": number, "done": result}).decode())  # NaN becomes null

    @property
    def _stage_message(self) -> str:
        return f'{{"stage":{self._revision},"scene":{self._stages[self._revision][1]}}}'

    def _show(self) -> None:
        """Send all changes to all pages."""
        scene = self.session.scene
        self._show_stage(scene)
        self._show_solver(scene)
        news = self._sight.news(sight.parts_of(self.session, self._revision) | self._own_parts())
        if news is not None:
            self.broadcast(news)
            self.thinker.submit(partial(self._work_out, scene, self.session.solution), name="work out", after=SETTLED)
            self.autosave.soon(scene)

    def _own_parts(self) -> dict[str, Any]:
        solution, (known, why) = self.session.solution, self._why
        if solution is not None and known is not solution:
            why = sentence(solution)
        shown = None if solution is None else sight.why_part(why) | {"success": bool(solution.success)}  # type: ignore[operator]
        name = self.file.name(self.session.linkage)
        lost = [path.stat().st_mtime for path in self._lost if path.exists()]
        fits = self._motions if self._has_motion(self.session.scene) else 0
        file = {"name": name, "linkage": self.session.linkage.name}
        near = sight.near_part(self.session.scene)
        return {"status": shown, "file": file, "lost": lost, "motion": fits, "near": near}

    def _show_stage(self, scene: Scene) -> None:
        """Send the linkage if it has changed; data of linkages shown before are reused."""
        if self._revision and self._stages[self._revision][0] is scene.linkage:
            return
        for revision, (linkage, _) in self._stages.items():
            if linkage is scene.linkage:
                self._revision = revision
                break
        else:
            self._revision = self._keep_stage(scene.linkage, sight.stage_text(scene))
            for old in sorted(self._stages)[:-4]:
                del self._stages[old]
        self._motion = self._solver = None, None  # with a new linkage, pages discard these
        self.broadcast(self._stage_message)

    def _keep_stage(self, linkage: Linkage, text: str) -> int:
        """Keep the data of a linkage for pages, and return their number."""
        self._newest += 1
        self._stages[self._newest] = linkage, text
        return self._newest

    def show_anew(self) -> None:
        """Make pages load the scene again, even if they show the same linkage."""
        self._stages = {k: shown for k, shown in self._stages.items() if shown[0] is not self.session.linkage}
        self._revision = 0

    def _show_solver(self, scene: Scene) -> None:
        """Send the solver of the goals if the goals have changed in more than their positions."""
        goals = self.session.goals
        asks = tuple(_asked_of(target, where=target.kind == "balance") for target in scene.targets)
        key = (scene.linkage, asks, scene.around)
        if self._solver[0] is not None and all(a is b or a == b for a, b in zip(self._solver[0], key, strict=True)):
            return
        active: list[str | None] = [target.name for target in scene.targets if target.active]
        names = [*(None for _ in range(len(goals) - len(active))), *active]
        text = sight.solver_text(scene.linkage, goals, names)
        self._solver = key, f'{{"solver":{text or "null"}}}'
        self.broadcast(f'{{"solver":{text or "null"}}}')

    def broadcast(self, message: Message) -> None:
        """Send a message to all pages."""
        for client in self._clients:
            client.send(message)

    # In the thinker's thread, on immutable scenes and solutions

    def _work_out(self, scene: Scene, solution: Solution | None) -> None:
        """Compute the motion, and why goals were not reached."""
        if scene.timeline.keys and not self._has_motion(scene):
            self._motions += 1
            try:
                baked = sight.motion_packet(motion(scene), scene.timeline.fps, self._motions)
            except Exception as error:  # any error is reported, so that no page waits for a result
                self.broadcast(json.dumps({"failed": in_words(error), "unmade": in_words(error)}))
            else:
                self.worker.submit(partial(self._moved, _motion_key(scene), baked))
        if solution is not None and not solution.success and self._why[0] is not solution:
            why = explain(solution, scene.targets)
            self.worker.submit(partial(self._explained, solution, why))

    def _has_motion(self, scene: Scene) -> bool:
        """Return whether pages have the motion of a scene."""
        known = self._motion[0]
        return known is not None and all(a is b or a == b for a, b in zip(known, _motion_key(scene), strict=True))

    def _moved(self, key: Any, baked: bytes) -> None:
        self._motion = key, baked
        self.broadcast(baked)
        self._tell_own()

    def _explained(self, solution: Solution, why: Any) -> None:
        if self.session.solution is solution:
            self._why = solution, why
            self._tell_own()

    def _tell_own(self) -> None:
        news = self._sight.news(self._own_parts())
        if news is not None:
            self.broadcast(news)

    def _upload(self, client: Client, message: bytes) -> None:
        """Read files that were dropped on a page, and open their scene."""
        try:
            upload = self._uploads.read(message)
            stage = sight.stage_text(upload.scene)  # raises if it cannot be shown, before anything is changed
        except Exception as error:  # any error in a file is reported to the page that sent it
            client.send(json.dumps({"uploaded": None, "refused": in_words(error)}))
            return

        def take() -> None:
            self._keep_stage(upload.scene.linkage, stage)
            self.session.open(upload.scene, upload.remarks, upload.name)
            client.send(json.dumps({"uploaded": upload.name, "others": upload.others}))
            self._show()

        self.worker.submit(take)

    def _tell_jobs(self, shown: list[dict[str, Any]]) -> None:
        self.worker.submit(partial(self._told_jobs, shown), name="jobs")

    def _told_jobs(self, shown: list[dict[str, Any]]) -> None:
        news = self._sight.news({"jobs": shown})
        if news is not None:
            self.broadcast(news)

    def save(self) -> str:
        """Write the scene over the file that the studio was opened with, and return its name.

        Raises:
            OptionError: If the studio shows another linkage by now, so that saving would lose the one in the file; or
                if the file is a link that leads out of its folder.
        """
        return self.file.write(self.session.scene, self.session.history.present[0])

    @property
    def unsaved(self) -> bool:
        """Whether there are changes that are not saved."""
        return self.session.history.present[0] is not self.file.saved

    def recover(self, number: int) -> None:
        """Open a scene that an earlier studio left unsaved; its file stays until the scene is saved again."""
        path = self._left_behind(number)
        self.session.open(*read_scene(path), "a recovered scene")
        self._taken.append(path)
        self._lost.remove(path)

    def forget(self, number: int) -> None:
        """Delete a scene that an earlier studio left unsaved."""
        path = self._left_behind(number)
        path.unlink(missing_ok=True)
        self._lost.remove(path)

    def _left_behind(self, number: int) -> Path:
        if not 0 <= number < len(self._lost):
            raise OptionError("that scene no longer exists.")
        return self._lost[number]

    def model(self, name: str) -> Linkage:
        """Return a ready-made model, built once."""
        made = self._models.get(name)
        if made is None:
            made = self._models[name] = build(name)
        return made

    def offer(self, file: File) -> str:
        """Return the URL at which pages can download a file."""
        token = secrets.token_urlsafe(18)
        self._downloads[token] = file
        for old in list(self._downloads)[:-KEPT]:
            del self._downloads[old]
        return f"/download?file={token}"

    def _failed(self, error: Exception) -> None:
        """Report an error to all pages; the studio goes on."""
        self.broadcast(json.dumps({"failed": in_words(error)}))

    # For scripts and notebooks

    def do(self, work: Callable[[Session], Any]) -> Any:
        """Call a function with the session, update all pages, and return its result."""
        done = threading.Event()
        found: dict[str, Any] = {}

        def act() -> None:
            try:
                found["result"] = work(self.session)
            except Exception as error:
                found["error"] = error
            finally:
                self._show()
                done.set()

        self.worker.submit(act)
        while not done.wait(0.1):
            if self._closed.is_set():
                raise OptionError("the studio is closed.")
        if "error" in found:
            raise found["error"]
        return found.get("result")

    def add_goal(self, frame: str, *, kind: str = "reach") -> str:
        """Add a goal for a frame, in all pages, and return its name."""
        name: str = self.do(lambda session: session.add_target(kind, frame).name)
        return name

    @property
    def q(self) -> Any:
        """The pose. Setting it updates all pages."""
        return self.session.q.copy()

    @q.setter
    def q(self, pose: Any) -> None:
        self.do(lambda session: session.set_pose(pose, "pose of a script"))

    @cached_property
    def url(self) -> str:
        """The address of the page."""
        return self.server.url

    def wait(self) -> None:
        """Serve until interrupted or closed."""
        while not self._closed.wait(3600.0):
            continue

    def idle(self, timeout: float) -> bool:
        """Wait until all work is done; return False if the timeout [s] passes first."""
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            left = max(0.0, end - time.monotonic())
            if self.worker.idle(left) and self.thinker.idle(left) and self.worker.idle(0.0) and self.thinker.idle(0.0):
                return True
        return False

    def close(self, *, keep: bool = False) -> bool:
        """Stop the server and its threads.

        Args:
            keep: Whether to keep unsaved changes: the next studio offers to recover them.

        Returns:
            Whether changes were kept.
        """
        if self._closed.is_set():
            return False
        self._closed.set()
        self.door.close()
        self.jobs.close()
        self.worker.close()
        self.thinker.close()
        kept = self.autosave.close(self.session.scene if keep and self.unsaved else None)
        if kept or self.file.written:
            forget(self._taken)
        self._uploads.close()
        return kept

    def _repr_html_(self) -> str:
        """Return the page in a frame, for a notebook."""
        if self._closed.is_set():
            return "<em>This studio is closed; lw.studio.open_studio(...) opens another.</em>"
        self.server.framed = True
        return window(self.url, "linkwork studio", IN_NOTEBOOK)

    def __enter__(self) -> Studio:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def in_words(error: Exception) -> str:
    """Return the text of an error for a page, with its type unless it is one of linkwork's own.

    Example:
        >>> in_words(KeyError("a")), in_words(OptionError("no clip."))
        ("KeyError: 'a'", 'no clip.')
    """
    return str(error) if isinstance(error, LinkworkError) else f"{type(error).__name__}: {error}"


def _motion_key(scene: Scene) -> tuple[Any, ...]:
    """Return the data that determine a motion: goals count if any has keys, and their positions if they have none."""
    line = scene.timeline
    keyed = {name for key in line.keys for name in key.places}
    aims = tuple(_asked_of(t, where=t.name not in keyed) for t in scene.targets if t.active) if keyed else ()
    return scene.linkage, line, aims


def _asked_of(target: Target, *, where: bool) -> tuple[Any, ...]:
    """Return a target as comparable values, with its position if that matters."""
    place = target.place.tobytes() if where else b""
    return target.name, target.kind, target.frame, target.turn, target.weight, target.priority, target.active, place


class _Head(msgspec.Struct):
    """A message of a page: its number, for the answer, and its action."""

    ask: msgspec.Raw
    n: int = 0


def _kinds(kind: type[Any]) -> list[type[Any]]:
    """Return the subclasses of an action that have no subclasses themselves."""
    return [leaf for child in kind.__subclasses__() for leaf in (_kinds(child) or [child])]


ACTIONS: msgspec.json.Decoder[Action] = msgspec.json.Decoder(reduce(or_, _kinds(Action)))
