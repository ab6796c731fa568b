"""The skin of a character on the stage: one mesh for each of a few colours, moved by the links as bones."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..linkage.linkage import Linkage
from ..linkage.skin import IntArray, Skin
from ..transforms import FloatArray

MOST_COLORS = 6  # a skinned mesh of viser has one colour
ROUNDS = 8  # of looking for colours that suit
STILL = 1e-7


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
        first = np.linalg.inv(rigid)
        groups = np.zeros(len(skin.triangles), np.int64)
        shades = np.zeros((1, 3))
        if color is None:
            groups, shades = few_colors(skin.colors[skin.triangles].mean(axis=1))
        self._handles: list[tuple[Any, IntArray]] = []
        for k, shade in enumerate(shades):
            used, indices = np.unique(skin.triangles[groups == k], return_inverse=True)
            bones, places = np.unique(skin.bones[used], return_inverse=True)
            weights = np.zeros((len(used), len(bones)))
            np.add.at(weights, (np.arange(len(used))[:, None], places.reshape(len(used), -1)), skin.weights[used])
            handle = scene.add_mesh_skinned(
                f"{name}/skin{k}",
                corners[used].astype(np.float32),
                indices.reshape(-1, 3).astype(np.uint32),
                bone_wxyzs=_quaternions(first[bones]),
                bone_positions=first[bones, :3, 3],
                skin_weights=weights,
                color=color or tuple(round(255 * channel) for channel in shade),
                opacity=opacity,
                side="double",
                cast_shadow=opacity is None,
            )
            self._handles.append((handle, links[bones]))
        self._last: FloatArray | None = None

    def pose(self, frames: FloatArray) -> None:
        """Move it to where links are: world_from_link, shape (links, 4, 4); only what has moved is sent."""
        turns = _quaternions(frames)
        before = np.full_like(frames, np.nan) if self._last is None else self._last
        moved = np.atleast_1d(~(np.abs(frames - before) <= STILL).all(axis=(1, 2)))
        for handle, links in self._handles:
            for bone, link in zip(handle.bones, links.tolist(), strict=True):
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


def few_colors(colors: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return a few colours (k, 3) that stand for many (n, 3), and which of them each is.

    It begins with the colours that differ most from each other, and goes on to the means of those nearest to each.

    Example:
        >>> which, few = few_colors(np.array([[1.0, 0, 0], [0, 0, 1.0], [1.0, 0, 0]]))
        >>> which.tolist(), few.tolist()
        ([0, 1, 0], [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    """
    chosen = colors[:1]
    while len(chosen) < MOST_COLORS:
        away = ((colors[:, None] - chosen) ** 2).sum(axis=2).min(axis=1)
        if away.max() < 1e-3:
            break
        chosen = np.concatenate([chosen, colors[[int(away.argmax())]]])
    for _ in range(ROUNDS):
        which = ((colors[:, None] - chosen) ** 2).sum(axis=2).argmin(axis=1)
        counts = np.bincount(which, minlength=len(chosen))
        sums = np.stack([np.bincount(which, colors[:, k], len(chosen)) for k in range(3)], axis=1)
        chosen = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], chosen)
    return which, chosen
