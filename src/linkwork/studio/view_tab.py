"""The tab for looking: what else is shown on the stage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .app import Studio


class ViewTab:
    """Switches for ground, frames and overlays, and a way back to the first view."""

    def __init__(self, studio: Studio) -> None:
        self.studio, gui = studio, studio.gui
        with gui.add_folder("Stage"):
            self.home = studio.on(gui.add_button("Look at the linkage"), lambda _: self._home())
            self.ground = studio.on(gui.add_checkbox("Ground", True), self._show_ground)
            self.frames = self._switch("frames", "Frames")
            self.names = self._switch("names", "Names")
        with gui.add_folder("Overlays"):
            self.frame = studio.on(gui.add_dropdown("Of frame", ("",)), studio.overlays.set_frame)
            self.cloud = self._switch("cloud", "Workspace", "where the frame can be")
            self.ellipsoid = self._switch("ellipsoid", "Manipulability", "how fast the frame moves each way")
            self.mass = self._switch("mass", "Centre of mass", "and the support below it")

    def _switch(self, overlay: str, label: str, hint: str | None = None) -> Any:
        box = self.studio.gui.add_checkbox(label, False, hint=hint)
        return self.studio.on(box, lambda on: self.studio.overlays.switch(overlay, on))

    def rebuild(self) -> None:
        """Show another linkage: everything is switched off again."""
        linkage = self.studio.session.linkage
        extra = [frame.name for frame in linkage.extra_frames]
        self.frame.options = (*extra, *linkage.links)
        self.frame.value = "tip" if "tip" in linkage.frames else [*extra, linkage.links[-1]][0]
        self.studio.overlays.frame = self.frame.value
        for box in (self.frames, self.names, self.cloud, self.ellipsoid, self.mass):
            box.value = False
        self.ground.value = True

    def _show_ground(self, shown: bool) -> None:
        self.studio.ground.visible = bool(shown)

    def _home(self) -> None:
        for client in self.studio.server.get_clients().values():
            self.studio.aim(client)
