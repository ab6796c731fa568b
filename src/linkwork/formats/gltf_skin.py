"""Read the meshes of a glTF file with the links that move them: skins, and meshes on single nodes.

Files are untrusted, as in `gltf_data`. Only triangles are read. Morph targets are applied with their default weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec
import numpy as np
from msgspec import Raw

from ..linkage.linkage import Linkage
from ..linkage.origin import Origin
from ..linkage.skin import IntArray, Skin
from ..transforms import FloatArray
from .gltf_colors import Looks, corner_colors, decoded
from .gltf_data import GltfSource
from .gltf_document import Index
from .gltf_draco import supply
from .gltf_nodes import NodeTree
from .options import Options
from .skin_pieces import BONES, MAX_CORNERS, Piece, joined, mean_normals, strongest

TRIANGLES, STRIP, FAN = 4, 5, 6  # primitive modes of glTF
TINY = 1e-12


class Primitive(msgspec.Struct, rename="camel"):
    """A part of a mesh with one material."""

    attributes: dict[str, Index] = {}
    indices: Index | None = None
    material: Index | None = None
    mode: int = TRIANGLES
    targets: list[dict[str, Index]] = []
    extensions: dict[str, Raw] = {}


class GltfMesh(msgspec.Struct, rename="camel"):
    """A mesh, and the weights of its morph targets."""

    primitives: list[Primitive] = []
    weights: list[float] = []


class GltfSkin(msgspec.Struct, rename="camel"):
    """The joints of a mesh and their inverse bind matrices."""

    joints: list[Index] = []
    inverse_bind_matrices: Index | None = None


class Wearer(msgspec.Struct, rename="camel"):
    """A node with a mesh, and its own weights of morph targets."""

    mesh: Index | None = None
    skin: Index | None = None
    weights: list[float] = []


class Shown(msgspec.Struct, rename="camel"):
    """The parts of a document for meshes."""

    nodes: list[Wearer] = []
    meshes: list[GltfMesh] = []
    skins: list[GltfSkin] = []


def read_skin(linkage: Linkage, origin: Origin) -> Skin | None:
    """Return the meshes in the file of a linkage as a skin; None if it has none that can be drawn.

    Args:
        linkage: The linkage.
        origin: Its file, and how it was read.

    Raises:
        FormatError: If the file no longer exists or cannot be read.
    """
    source = GltfSource(origin.file, Options(units=origin.units, up=origin.up, folders=origin.folders))
    return _SkinReader(source, {origin.name_of(link): link for link in linkage.links}, origin.units).skin()


def read_binds(linkage: Linkage, origin: Origin) -> dict[str, FloatArray]:
    """Return link_from_bound by link, of the skin with the most joints; empty if no skin has bind matrices."""
    source = GltfSource(origin.file, Options(units=origin.units, up=origin.up, folders=origin.folders))
    return _SkinReader(source, {origin.name_of(link): link for link in linkage.links}, origin.units).bound()


class _SkinReader:
    """Converts the meshes of a file to a skin.

    Args:
        source: The file.
        names: Links of the linkage by their names in the file.
        unit: Metres per unit of the file.
    """

    def __init__(self, source: GltfSource, names: Mapping[str, str], unit: float) -> None:
        self.source, self.names, self.unit = source, names, unit
        self.shown, self.looks = decoded(source, Shown), decoded(source, Looks)
        self.tree = NodeTree(source)
        self.place = {node: k for k, node in enumerate(self.tree.order)}
        self.links: list[str] = []
        self.binds: list[FloatArray] = []
        self.left = MAX_CORNERS

    def skin(self) -> Skin | None:
        worn = {self.shown.nodes[node].mesh for node in self.tree.order}
        meshes = [mesh for k, mesh in enumerate(self.shown.meshes) if k in worn]
        supply(self.source, [primitive for mesh in meshes for primitive in mesh.primitives])
        pieces = [piece for node in self.tree.order for piece in self._pieces(self.shown.nodes[node], node)]
        return joined(pieces, self.links, self.binds)

    def bound(self) -> dict[str, FloatArray]:
        skins = [skin for skin in self.shown.skins if skin.inverse_bind_matrices is not None]
        if not skins:
            return {}
        skin = max(skins, key=lambda skin: len(skin.joints))
        self._bones(skin.joints, self._bind_matrices(skin))
        return dict(zip(self.links, self.binds, strict=True))

    def _pieces(self, node: Wearer, index: int) -> Iterator[Piece]:
        """Yield the pieces of the mesh of a node."""
        if node.mesh is None:
            return
        mesh = self.source.item(self.shown.meshes, node.mesh, "mesh")
        if node.skin is None:
            bones = self._bones([index], np.eye(4)[None])
        else:
            skin = self.source.item(self.shown.skins, node.skin, "skin")
            bones = self._bones(skin.joints, self._bind_matrices(skin))
        for primitive in mesh.primitives:
            piece = self._piece(primitive, bones, node.weights or mesh.weights, skinned=node.skin is not None)
            if piece is not None:
                yield piece

    def _bind_matrices(self, skin: GltfSkin) -> FloatArray:
        count = len(skin.joints)
        if skin.inverse_bind_matrices is None:
            return np.tile(np.eye(4), (count, 1, 1))
        values = self.source.values(skin.inverse_bind_matrices, "inverse bind matrices", "MAT4")
        if len(values) < count:
            self.source.refuse(f"a skin of {count} joints has {len(values)} inverse bind matrices.")
        return np.swapaxes(values[:count].reshape(-1, 4, 4), 1, 2)

    def _bones(self, nodes: Sequence[int], bound: FloatArray) -> IntArray:
        """Return the indices of new bones, -1 for a node that is not a link any more.

        The matrix of a node is that of its link times a stretch, which is put into the bind matrix.
        """
        numbers = []
        for node, matrix in zip(nodes, bound, strict=True):
            k = self.place.get(node)
            link = None if k is None else self.names.get(self.tree.names[k])
            if k is None or link is None:
                numbers.append(-1)
                continue
            stretch = np.eye(4)
            stretch[:3, :3] = self.unit * self.tree.steps[k].stretch
            numbers.append(len(self.links))
            self.links.append(link)
            self.binds.append(stretch @ matrix)
        return np.array(numbers, dtype=np.int64)

    def _piece(self, primitive: Primitive, bones: IntArray, morphs: Sequence[float], *, skinned: bool) -> Piece | None:
        place = primitive.attributes.get("POSITION")
        if place is None or primitive.mode not in (TRIANGLES, STRIP, FAN):
            return None
        corners = self._morphed(self.source.values(place, "positions", "VEC3"), primitive, "POSITION", morphs)
        self.left -= len(corners)
        if self.left < 0:
            self.source.refuse(f"has meshes with more than {MAX_CORNERS} vertices, the largest number that is drawn.")
        triangles = self._triangles(primitive, len(corners))
        owners, weights = self._weights(primitive, bones, len(corners), skinned=skinned)
        triangles = triangles[(weights.sum(axis=1) > 0.0)[triangles].all(axis=1)]
        if len(bones) and bones[0] >= 0 and np.linalg.det(self.binds[bones[0]][:3, :3]) < 0.0:
            triangles = triangles[:, ::-1]  # a reflection turns them inside out
        if not len(triangles):
            return None
        normals = self._vectors(primitive, "NORMAL", len(corners))
        if normals is None:
            normals = mean_normals(corners, triangles)
        else:
            normals = self._morphed(normals, primitive, "NORMAL", morphs)
            normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), TINY)
        colors = corner_colors(self.source, self.looks, primitive.attributes, primitive.material, len(corners))
        return Piece(corners, normals, colors, triangles, owners, weights)

    def _triangles(self, primitive: Primitive, count: int) -> IntArray:
        if primitive.indices is None:
            order = np.arange(count)
        else:
            order = self.source.values(primitive.indices, "indices", "SCALAR")[:, 0].astype(np.int64)
        if order.min(initial=0) < 0 or order.max(initial=-1) >= count:
            self.source.refuse(f"a mesh of {count} vertices refers to vertex {order.max()}.")
        if primitive.mode == TRIANGLES:
            return order[: len(order) - len(order) % 3].reshape(-1, 3)
        ends = np.arange(max(len(order) - 2, 0))
        if primitive.mode == FAN:
            return np.stack(
                [np.full(len(ends), order[0] if len(order) else 0), order[ends + 1], order[ends + 2]], axis=1
            )
        odd = ends % 2
        return np.stack([order[ends], order[ends + 1 + odd], order[ends + 2 - odd]], axis=1)

    def _morphed(self, values: FloatArray, primitive: Primitive, name: str, morphs: Sequence[float]) -> FloatArray:
        """Return vertices or normals with weighted morph targets added."""
        for target, weight in zip(primitive.targets, morphs, strict=False):
            if weight and name in target:
                more = self.source.values(target[name], "morph targets", "VEC3")
                if len(more) != len(values):
                    self.source.refuse(f"a morph target has {len(more)} vertices, but its mesh has {len(values)}.")
                values = values + weight * more
        return values

    def _vectors(self, primitive: Primitive, name: str, count: int, shape: str = "VEC3") -> FloatArray | None:
        """Return an attribute, or None if it does not exist for every vertex."""
        if name not in primitive.attributes:
            return None
        values = self.source.values(primitive.attributes[name], name.lower(), shape, finite=False)
        return values if len(values) == count else None

    def _weights(
        self, primitive: Primitive, bones: IntArray, count: int, *, skinned: bool
    ) -> tuple[IntArray, FloatArray]:
        """Return the bones of every vertex, largest weight first, and their weights; zero if no bone is left."""
        groups = []
        for k in range(2 if skinned else 0):
            joints = self._vectors(primitive, f"JOINTS_{k}", count, "VEC4")
            weights = self._vectors(primitive, f"WEIGHTS_{k}", count, "VEC4")
            if joints is not None and weights is not None:
                groups.append((joints.astype(np.int64), weights))
        if not groups:
            rigid = np.zeros((count, BONES))
            rigid[:, 0] = 1.0 if len(bones) and bones[0] >= 0 else 0.0
            return np.full((count, BONES), max(int(bones[0]) if len(bones) else 0, 0)), rigid
        joints, weights = (np.concatenate(parts, axis=1) for parts in zip(*groups, strict=True))
        if joints.max(initial=0) >= len(bones):
            self.source.refuse(f"a mesh refers to joint {joints.max()} of a skin with {len(bones)} joints.")
        return strongest(bones[joints], weights)
