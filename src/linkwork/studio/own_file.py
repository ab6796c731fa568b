"""The scene file that a studio was opened with: saved over for its own linkage alone, when a person agrees."""

from __future__ import annotations

from pathlib import Path

from ..errors import OptionError
from ..linkage.linkage import Linkage
from .saving import write_scene
from .scene import Scene


class OwnFile:
    """A scene file, or none.

    Args:
        path: Where it is; None where no scene file was opened.
        scene: What was read from it.

    Attributes:
        saved: The scene that it holds.
        written: Whether it was saved over.
    """

    def __init__(self, path: Path | None, scene: Scene) -> None:
        self._path, self._owner = path, scene.linkage
        self.saved, self.written = scene, False
        self._agreed: bytes | None = None  # what was last written here

    def name(self, linkage: Linkage) -> str:
        """Return the name of the file, empty where it is not one of a linkage."""
        return "" if self._path is None or linkage is not self._owner else self._path.name

    def question(self, linkage: Linkage) -> str:
        """Return what to ask before a linkage is saved over it; empty where the file has nothing to lose."""
        if self._path is None or linkage is not self._owner:
            return ""
        try:
            there = self._path.read_bytes()
        except OSError:  # it is gone, or writing says what is wrong
            return ""
        if there == self._agreed:
            return ""
        if self._agreed is None:
            return f"{self._path.name} is written anew. Comments in it, and what the studio does not know, are lost."
        return f"Something else has changed {self._path.name} since it was saved here. That change is lost."

    def write(self, scene: Scene, state: Scene) -> str:
        """Write a scene over the file, and return its name.

        Args:
            scene: What is written.
            state: The state of the history that it belongs to.

        Raises:
            OptionError: If another linkage is at hand by now, so that saving over the file would lose its own; or if
                the file is a link that leads out of its folder.
        """
        path = self._path
        if path is None or scene.linkage is not self._owner:
            raise OptionError("no scene file was opened for this linkage; download the scene instead.")
        if path.resolve().parent != path.parent.resolve():
            raise OptionError(f"{path.name} is a link that leads out of its folder; download the scene instead.")
        write_scene(scene, path)
        self._agreed, self.saved, self.written = path.read_bytes(), state, True
        return path.name
