"""The tab for looking: what else is shown on the stage."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .app import Studio


class ViewTab:
    """Switches for ground, frames and overlays, and a way back to the first view."""

    def __init__(self, studio: Studio) -> None:
        self.studio, gui = studio, studio.gui
        overlays = studio.overlays
        with gui.add_folder("Stage"):
            self.home = gui.add_button("Look at the linkage")
            studio.on(self.home.on_click, lambda _: self._home())
            self.ground = gui.add_checkbox("Ground", True)
            studio.on(self.ground.on_update, self._show_ground)
            self.frames = gui.add_checkbox("Frames", False)
            studio.on(self.frames.on_update, overlays.set_frames)
            self.names = gui.add_checkbox("Names", False)
            studio.on(self.names.on_update, overlays.set_names)
        with gui.add_folder("Overlays"):
            self.frame = gui.add_dropdown("Of frame", ("",))
            studio.on(self.frame.on_update, overlays.set_frame)
            self.cloud = gui.add_checkbox("Workspace", False, hint="where the frame can be")
            studio.on(self.cloud.on_update, overlays.set_cloud)
            self.ellipsoid = gui.add_checkbox("Manipulability", False, hint="how fast the frame moves each way")
            studio.on(self.ellipsoid.on_update, overlays.set_ellipsoid)
            self.mass = gui.add_checkbox("Centre of mass", False, hint="and the support below it")
            studio.on(self.mass.on_update, overlays.set_mass)

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

    def refresh(self) -> None:
        """Nothing here follows the pose."""
