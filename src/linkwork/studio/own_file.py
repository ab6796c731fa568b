"""The scene file that a studio was opened with: overwritten only for its own linkage, and after a question."""

from __future__ import annotations

from pathlib import Path

from ..errors import OptionError
from ..linkage.linkage import Linkage
from .saving import write_scene
from .scene import Scene


class OwnFile:
    """A scene file, or none.

    Args:
        path: Its path; None if no scene file was opened.
        scene: The scene that was read from it.

    Attributes:
        saved: The scene in the file.
        written: Whether it was overwritten.
    """

    def __init__(self, path: Path | None, scene: Scene) -> None:
        self._path, self._owner = path, scene.linkage
        self.saved, self.written = scene, False
        self._agreed: bytes | None = None  # content last written here

    def name(self, linkage: Linkage) -> str:
        """Return the name of the file; empty if it is not that of a linkage."""
        return "" if self._path is None or linkage is not self._owner else self._path.name

    def question(self, linkage: Linkage) -> str:
        """Return the question to ask before the file is overwritten; empty if nothing would be lost."""
        if self._path is None or linkage is not self._owner:
            return ""
        try:
            there = self._path.read_bytes()
        except OSError:  # the file is gone; other errors are reported when writing
            return ""
        if there == self._agreed:
            return ""
        if self._agreed is None:
            return f"{self._path.name} will be rewritten. Comments and fields unknown to the studio will be lost."
        return f"Another program has changed {self._path.name} since it was saved here. That change will be lost."

    def write(self, scene: Scene, state: Scene) -> str:
        """Overwrite the file with a scene, and return its name.

        Args:
            scene: The scene to write.
            state: The state of the history that it belongs to.

        Raises:
            OptionError: If the scene has another linkage by now, so that saving would lose the one in the file; or if
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
