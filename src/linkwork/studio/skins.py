"""The skin of a character on the stage: one mesh, moved by the links as bones, every corner in its colour."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..linkage.linkage import Linkage
from ..linkage.skin import Skin
from ..transforms import FloatArray, inverse

STILL = 1e-7
# A skinned mesh of viser has one colour. Those of its corners travel as points that are not shown, below its own node,
# and the page puts them on. Where it cannot, as in a viser whose page keeps its nodes to itself, the mesh has its mean.
# And the page of viser 1.1 breaks when a skinned mesh is taken away: it looks for its node, which is null by then, and
# minds only undefined.
PAINTING = """
if (!window.linkworkPaints) {
  window.linkworkPaints = true;
  const light = (value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  const first = (node, kind) => {
    let found = null;
    node.traverse((one) => { if (found === null && one[kind]) found = one; });
    return found;
  };
  setInterval(() => {
    const viewer = window.__viserMutable;
    if (viewer && !viewer.linkworkGuards) {
      viewer.linkworkGuards = true;
      viewer.nodeRefFromName = new Proxy(viewer.nodeRefFromName, { get: (nodes, name) => nodes[name] ?? undefined });
    }
    for (const [name, node] of Object.entries(viewer ? viewer.nodeRefFromName : {})) {
      const mesh = node && name.endsWith("/skin") ? first(node, "isSkinnedMesh") : null;
      const paint = mesh && !mesh.material.vertexColors ? viewer.nodeRefFromName[name + "/colors"] : null;
      const colors = paint ? first(paint, "isPoints")?.geometry.attributes.color : null;
      const places = mesh ? mesh.geometry.attributes.position : null;
      if (!colors || colors.count !== places.count) continue;
      const values = Float32Array.from(colors.array, (value) => light(value / 255));
      mesh.geometry.setAttribute("color", new places.constructor(values, 3));
      mesh.material.vertexColors = true;
      mesh.material.color.set(1, 1, 1);
      mesh.material.needsUpdate = true;
      viewer.requestRender();
    }
  }, 200);
}
"""


class SkinView:
    """A skin on the stage.

    A bone of viser is rigid, and moves what was bound at its first place. A bone here binds with a scale too, which is
    given to the corners instead: ``link_from_bound = rigid @ scale``. Bones begin at the inverse of ``rigid``, and go
    to where their links are.

    Args:
        scene: The page's scene.
        name: The name of the node that holds it.
        linkage: The linkage that wears it.
        skin: The skin.
        color: One colour for all of it, red, green and blue from 0 to 255, or None for its own.
        opacity: From 0 to 1, or None for solid.
    """

    def __init__(
        self,
        scene: Any,
        name: str,
        linkage: Linkage,
        skin: Skin,
        color: tuple[int, int, int] | None = None,
        opacity: float | None = None,
    ) -> None:
        links = np.array([linkage.link_index(link) for link in skin.links])
        rigid, scales = _split(skin.binds)
        corners = skin.corners * scales[skin.bones[:, 0], None]
        first = inverse(rigid)
        used, indices = np.unique(skin.triangles, return_inverse=True)
        bones, places = np.unique(skin.bones[used], return_inverse=True)
        weights = np.zeros((len(used), len(bones)))
        np.add.at(weights, (np.arange(len(used))[:, None], places.reshape(len(used), -1)), skin.weights[used])
        shades = np.round(255.0 * skin.colors[used]).astype(np.uint8)
        self._handle = scene.add_mesh_skinned(
            f"{name}/skin",
            corners[used].astype(np.float32),
            indices.reshape(-1, 3).astype(np.uint32),
            bone_wxyzs=_quaternions(first[bones]),
            bone_positions=first[bones, :3, 3],
            skin_weights=weights,
            color=color or tuple(shades.mean(axis=0).round().astype(int).tolist()),
            opacity=opacity,
            side="double",
            cast_shadow=opacity is None,
        )
        self._links = links[bones].tolist()
        if color is None:
            scene.add_point_cloud(f"{name}/skin/colors", np.zeros((len(used), 3)), shades, visible=False)
        self._last: FloatArray | None = None

    def pose(self, frames: FloatArray) -> None:
        """Move it to where links are: world_from_link, shape (links, 4, 4); only what has moved is sent."""
        turns = _quaternions(frames)
        before = np.full_like(frames, np.nan) if self._last is None else self._last
        moved = np.atleast_1d(~(np.abs(frames - before) <= STILL).all(axis=(1, 2)))
        for bone, link in zip(self._handle.bones, self._links, strict=True):
            if moved[link]:
                bone.wxyz, bone.position = turns[link], frames[link, :3, 3]
        self._last = frames.copy()


def _split(binds: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return transforms (n, 4, 4) as rigid ones after a scale: the nearest rotation, and the mean stretch."""
    left, sizes, right = np.linalg.svd(binds[:, :3, :3])
    turned = left @ right
    left[np.linalg.det(turned) < 0.0, :, 2] *= -1.0
    rigid = binds.copy()
    rigid[:, :3, :3] = left @ right
    return rigid, sizes.mean(axis=1)


def _quaternions(matrices: FloatArray) -> FloatArray:
    from scipy.spatial.transform import Rotation

    return np.asarray(Rotation.from_matrix(matrices[:, :3, :3]).as_quat(scalar_first=True))
