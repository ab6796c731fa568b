"""What can be shown about a linkage on its stage. Guilty joints and the boundary of reach come by themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..draw.surfaces import outline
from ..errors import LinkworkError
from ..explain.workspaces import manipulability, workspace
from ..linkage.linkage import Linkage
from ..linkage.mass import center_of_mass
from ..transforms import FloatArray
from . import stage
from .session import Why

if TYPE_CHECKING:
    from .app import Studio

SAMPLES = 8_000
ELLIPSOID = 0.14  # largest half axis, of the size of the linkage
FLAT = 0.02  # least half axis, of the largest
NEAR = 0.03  # of the size: what is that near the lowest point stands on the ground


class Overlays:
    """Everything beside the linkage itself.

    Attributes:
        frame: The frame that workspace and ellipsoid are about.
        shown: What is on the stage, by name.
    """

    def __init__(self, studio: Studio) -> None:
        self.studio, self._scene = studio, studio.scene_view
        self.frame = ""
        self.shown: dict[str, Any] = {}
        self._on: set[str] = set()
        self._guilty: tuple[str, ...] = ()
        self._draw = {
            "frames": self._draw_frames,
            "names": self._draw_names,
            "cloud": self._draw_cloud,
            "ellipsoid": self._draw_ellipsoid,
            "mass": self._draw_mass,
        }

    def rebuild(self) -> None:
        """Begin anew with another linkage."""
        for name in list(self.shown):
            self._remove(name)
        self._on, self._guilty = set(), ()

    def _remove(self, name: str) -> None:
        if name in self.shown:
            self.shown.pop(name).remove()

    def switch(self, name: str, on: bool) -> None:
        """Show an overlay, or not: ``frames``, ``names`` of joints, ``cloud``, ``ellipsoid`` or centre of ``mass``."""
        if on:
            self._on.add(name)
            self._draw[name]()
        else:
            self._on.discard(name)
            self._remove(name)

    def set_frame(self, name: str) -> None:
        """Choose the frame."""
        self.frame = name
        if "cloud" in self._on:
            self._draw_cloud()
        self.refresh()

    def refresh(self) -> None:
        """Bring what follows the pose in line with it: all but the cloud."""
        for name in self._on - {"cloud"}:
            self._draw[name]()
        self._draw_guilty()

    # Each of them

    def _group(self, name: str) -> str:
        self._remove(name)
        self.shown[name] = self._scene.add_frame(f"/overlays/{name}", show_axes=False)
        return f"/overlays/{name}"

    def _draw_frames(self) -> None:
        linkage, q, size = self.studio.session.linkage, self.studio.session.q, self.studio.size
        world = linkage.forward(q).array
        wxyz = np.array([stage.wxyz_of(place) for place in world])
        self._remove("frames")
        self.shown["frames"] = self._scene.add_batched_axes(
            "/overlays/frames", wxyz, world[:, :3, 3], axes_length=0.05 * size, axes_radius=0.002 * size
        )

    def _draw_names(self) -> None:
        linkage, q = self.studio.session.linkage, self.studio.session.q
        places, root = linkage.forward(q), self._group("names")
        for k, joint in enumerate(linkage.joints):
            point = places[linkage.joint(joint).child][:3, 3]
            self._scene.add_label(f"{root}/{k}", joint, position=point)

    def _draw_cloud(self) -> None:
        session, frame = self.studio.session, self.frame
        linkage = session.linkage

        def sampled() -> Callable[[], None]:
            points = workspace(linkage, frame, samples=SAMPLES).points
            return lambda: self._show_cloud(linkage, frame, points)

        self.studio.think(sampled, name="cloud")

    def _show_cloud(self, linkage: Linkage, frame: str, points: FloatArray) -> None:
        if "cloud" not in self._on or frame != self.frame or linkage is not self.studio.session.linkage:
            return  # meanwhile something else is wanted
        far = np.linalg.norm(points - points.mean(axis=0), axis=1)
        share = (far / max(float(far.max()), 1e-12))[:, None]
        colors = (1.0 - share) * np.array([77, 171, 247]) + share * np.array([132, 94, 247])
        self._remove("cloud")
        self.shown["cloud"] = self._scene.add_point_cloud(
            "/overlays/cloud",
            points.astype(np.float32),
            colors.astype(np.uint8),
            point_size=0.0035 * self.studio.size,
            point_shape="circle",
        )

    def _draw_ellipsoid(self) -> None:
        session, frame = self.studio.session, self.frame
        root = self._group("ellipsoid")
        try:
            found = manipulability(session.linkage, session.q, frame)
        except LinkworkError as error:
            self.studio.say(str(error), "bad")
            return
        rows = np.flatnonzero(session.linkage.evaluator.moving_rows(frame)[:3])
        axes = np.zeros((3, len(rows)))
        axes[rows] = found.axes
        basis, _ = np.linalg.qr(axes, mode="complete")
        basis[:, 2] *= np.sign(np.linalg.det(basis))  # right-handed: a rotation
        lengths = np.full(3, FLAT)
        lengths[: len(rows)] = found.singular_values / max(float(found.singular_values[0]), 1e-12)
        self._scene.add_icosphere(
            f"{root}/body",
            color=(18, 184, 134),
            scale=tuple((ELLIPSOID * self.studio.size * np.maximum(lengths, FLAT)).tolist()),
            opacity=0.45,
            cast_shadow=False,
            wxyz=stage.wxyz_of(basis),
            position=session.linkage.forward(session.q, frame=frame)[:3, 3],
        )

    def _draw_mass(self) -> None:
        session, size, root = self.studio.session, self.studio.size, self._group("mass")
        try:
            center = center_of_mass(session.linkage, session.q)
        except LinkworkError as error:  # no mass, or one that is not known
            self.studio.say(str(error), "bad")
            return
        points = session.linkage.forward(session.q).array[:, :3, 3]
        ground = float(points[:, 2].min())
        below = np.array([center[0], center[1], ground])
        for name, radius, point in (("center", 0.022, center), ("below", 0.012, below)):
            self._scene.add_icosphere(f"{root}/{name}", radius * size, color=(250, 176, 5), position=point)
        self._scene.add_label(f"{root}/label", "centre of mass", position=center)
        stage.add_lines(self._scene, f"{root}/plumb", np.array([[center, below]]), (250, 176, 5))
        standing = points[points[:, 2] < ground + NEAR * size]
        hull = standing[outline(standing[:, :2])]
        edges = np.stack([hull, np.roll(hull, -1, axis=0)], axis=1)
        along, way = (edges[:, 1] - edges[:, 0]).T, (center - hull).T
        inside = len(hull) > 2 and bool((along[0] * way[1] >= along[1] * way[0]).all())  # left of every edge
        edges[..., 2] = ground + 0.002 * size
        color = (47, 158, 68) if inside else stage.GUILTY
        stage.add_lines(self._scene, f"{root}/support", edges, color, thickness=4.0)

    # Saying why

    def show_why(self, why: Why | None) -> None:
        """Colour the guilty joints and draw the boundary of reach; None clears both."""
        self._guilty = () if why is None else why.joints
        self._draw_guilty()
        self._remove("boundary")
        if why is None or why.center is None:
            return
        root = self._group("boundary")
        for k, radius in enumerate(why.radii):
            if radius > 1e-9:
                rings = stage.circles(why.center, radius, flat=self.studio.flat)
                stage.add_lines(self._scene, f"{root}/{k}", rings, stage.GUILTY, thickness=1.5)

    def _draw_guilty(self) -> None:
        self._remove("guilty")
        if not self._guilty:
            return
        linkage, root = self.studio.session.linkage, self._group("guilty")
        places = linkage.forward(self.studio.session.q)
        for k, joint in enumerate(self._guilty):
            if joint in linkage.joints:
                point = places[linkage.joint(joint).child][:3, 3]
                radius = 1.9 * stage.KNOB * self.studio.size
                self._scene.add_icosphere(f"{root}/{k}", radius, color=stage.GUILTY, opacity=0.75, position=point)
