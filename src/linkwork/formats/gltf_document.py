"""The schema of the glTF JSON, as far as linkages need it."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Raw, Struct

Index = Annotated[int, Meta(ge=0)]
Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]


class _Entry(Struct, rename="camel"):
    """Base of all objects; other fields are skipped."""


class Asset(_Entry):
    """The version of glTF."""

    version: str
    min_version: str | None = None


class Node(_Entry):
    """A node: its children and its placement on its parent."""

    name: str | None = None
    children: list[Index] = []
    matrix: Annotated[list[float], Meta(min_length=16, max_length=16)] | None = None
    translation: Vector = (0.0, 0.0, 0.0)
    rotation: Quaternion = (0.0, 0.0, 0.0, 1.0)
    scale: Vector = (1.0, 1.0, 1.0)
    mesh: Index | None = None


class GltfScene(_Entry):
    """The roots of a scene."""

    nodes: list[Index] = []
    extras: Raw = Raw(b"{}")


class Skin(_Entry):
    """The nodes that are joints of a mesh."""

    joints: list[Index] = []


class ChannelTarget(_Entry):
    """The target of a channel."""

    path: str
    node: Index | None = None


class Channel(_Entry):
    """A sampler and its target."""

    sampler: Index
    target: ChannelTarget


class Sampler(_Entry):
    """Accessors of key times and values, and the interpolation."""

    input: Index
    output: Index
    interpolation: str = "LINEAR"


class Animation(_Entry):
    """One motion."""

    channels: list[Channel] = []
    samplers: list[Sampler] = []
    name: str | None = None
    extras: Raw = Raw(b"{}")


class SparseValues(_Entry, kw_only=True):
    """The replacement values of a sparse accessor."""

    buffer_view: Index
    byte_offset: Index = 0


class SparseIndices(SparseValues, kw_only=True):
    """The indices of the replaced elements."""

    component_type: int


class Sparse(_Entry):
    """Replaced elements of an accessor."""

    count: Index
    indices: SparseIndices
    values: SparseValues


class Accessor(_Entry):
    """Numbers in a buffer view, or zeros without one."""

    component_type: int
    count: Index
    type: str
    buffer_view: Index | None = None
    byte_offset: Index = 0
    normalized: bool = False
    sparse: Sparse | None = None


class BufferView(_Entry):
    """A range of a buffer."""

    buffer: Index
    byte_length: Index
    byte_offset: Index = 0
    byte_stride: Index | None = None
    extensions: dict[str, Raw] = {}


class Compressed(_Entry):
    """The meshopt compression of a buffer view."""

    buffer: Index
    byte_length: Index
    byte_stride: Annotated[int, Meta(ge=1, le=256)]
    count: Index
    mode: str
    filter: str = "NONE"
    byte_offset: Index = 0


class Buffer(_Entry):
    """Bytes in the GLB file, in a ``data:`` URI or in a file beside it."""

    byte_length: Index
    uri: str | None = None


class Gltf(_Entry):
    """The JSON document, as far as linkages need it."""

    asset: Asset
    scene: Index | None = None
    scenes: list[GltfScene] = []
    nodes: list[Node] = []
    skins: list[Skin] = []
    animations: list[Animation] = []
    accessors: list[Accessor] = []
    buffer_views: list[BufferView] = []
    buffers: list[Buffer] = []
    meshes: list[Raw] = []
    extensions_required: list[str] = []
    extensions: dict[str, Raw] = {}
