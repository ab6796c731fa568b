"""The tab of files: models, uploads, scenes to save, motions to export, and what there is to say about a file.

Nothing is read or written on the server but the scene file that the studio was opened with.
"""

from __future__ import annotations

from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any

from ..errors import FormatError
from ..formats import Remark, suffixes
from ..models import MODELS, build
from .saving import EXPORTS, export, read_upload, safe_name, scene_text, write_scene
from .session import first_scene, motion

if TYPE_CHECKING:
    from .app import Studio

MOST_REMARKS = 12


class FilesTab:
    """Open, save, export."""

    def __init__(self, studio: Studio) -> None:
        self.studio, gui = studio, studio.gui
        with gui.add_folder("Open"):
            self.model = gui.add_dropdown("Model", tuple(model.example for model in MODELS.values()))
            self.open = studio.on(gui.add_button("Open model"), lambda _: self._open_model())
            self.upload = gui.add_upload_button("Upload a file", mime_type=",".join(suffixes("reads", "linkages")))
            self.upload.on_upload(self._uploaded)
            self.remarks = gui.add_html("")
        with gui.add_folder("Save"):
            self.save = gui.add_button("Download the scene", color="blue")
            self.save.on_click(self._download_scene)
            shown = "" if studio.path is None else studio.path.name
            self.over = studio.on(
                gui.add_button(f"Save over {shown}", visible=studio.path is not None), lambda _: self._save_over()
            )
        with gui.add_folder("Export the motion"):
            self.kind = gui.add_dropdown("As", EXPORTS)
            self.export = gui.add_button("Export")
            self.export.on_click(self._export)

    def rebuild(self) -> None:
        """Show the remarks on what was opened."""
        self.remarks.content = _listed(self.studio.session.remarks)

    def _open_model(self) -> None:
        self.studio.open_scene(first_scene(build(self.model.value)))

    async def _uploaded(self, event: Any) -> None:
        file = event.target.value

        def read() -> Any:
            try:
                scene, remarks = read_upload(file.name, file.content)
            except FormatError as error:
                return partial(self._refused, str(error))
            return partial(self.studio.open_scene, scene, remarks)

        self.studio.think(read, name="upload")

    def _refused(self, message: str) -> None:
        self.remarks.content = _listed((Remark("error", message),), color="#c92a2a")
        self.studio.say(message, "bad")

    async def _download_scene(self, event: Any) -> None:
        client = event.client

        def send() -> None:
            scene = self.studio.session.scene
            name = safe_name(f"{scene.linkage.name}.yaml")
            client.send_file_download(name, scene_text(scene).encode(), save_immediately=True)
            self.studio.say(f"Saved as {name}.")

        self.studio.do(send, show=False)

    def _save_over(self) -> None:
        if self.studio.path is not None:
            write_scene(self.studio.session.scene, self.studio.path)
            self.studio.say(f"Saved over {self.studio.path.name}.")

    async def _export(self, event: Any) -> None:
        client, suffix = event.client, self.kind.value

        def begin() -> None:
            scene = self.studio.session.scene
            self.studio.say(f"Writing {suffix} ...")

            def write() -> Any:
                name, content = export(motion(scene), suffix)
                client.send_file_download(name, content, save_immediately=True)
                return lambda: self.studio.say(f"Exported as {name}.")

            self.studio.think(write, name="export")

        self.studio.do(begin, show=False)


def _listed(remarks: tuple[Remark, ...], *, color: str = "#495057") -> str:
    if not remarks:
        return ""
    lines = [f"<li>{escape(remark.text)}</li>" for remark in remarks[:MOST_REMARKS]]
    if len(remarks) > MOST_REMARKS:
        lines.append(f"<li>and {len(remarks) - MOST_REMARKS} more</li>")
    style = f"font-size:12px;color:{color};padding:0 14px 0 30px;margin:4px 0;overflow-wrap:anywhere"
    return f'<ul class="linkwork-remarks" style="{style}">{"".join(lines)}</ul>'
