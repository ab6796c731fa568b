"""Colours of glTF meshes, one for every vertex: those of material, vertex and texture combined."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TypeVar

import msgspec
import numpy as np
from msgspec import Struct

from ..errors import FormatError
from ..transforms import FloatArray
from .atomic_files import read_bytes
from .gltf_data import MAX_BINARY, GltfSource
from .gltf_document import Index
from .textures import encoded, opened, sampled

WHITE = (1.0, 1.0, 1.0, 1.0)

T = TypeVar("T")


class TextureTransform(Struct):
    """The part of a texture that is used."""

    offset: tuple[float, float] = (0.0, 0.0)
    scale: tuple[float, float] = (1.0, 1.0)


class TextureExtensions(Struct):
    """Extensions of the use of a texture."""

    KHR_texture_transform: TextureTransform = msgspec.field(default_factory=TextureTransform)


class TextureUse(Struct, rename="camel"):
    """The use of a texture by a material."""

    index: Index
    tex_coord: Index = 0
    extensions: TextureExtensions = msgspec.field(default_factory=TextureExtensions)


class Surface(Struct, rename="camel"):
    """The base colour of a material."""

    base_color_factor: tuple[float, float, float, float] = WHITE
    base_color_texture: TextureUse | None = None


class Gloss(Struct, rename="camel"):
    """The base colour of a material in older files."""

    diffuse_factor: tuple[float, float, float, float] = WHITE
    diffuse_texture: TextureUse | None = None


class MaterialExtensions(Struct):
    """Extensions of a material."""

    KHR_materials_pbrSpecularGlossiness: Gloss | None = None


class Material(Struct, rename="camel"):
    """A material."""

    pbr_metallic_roughness: Surface = msgspec.field(default_factory=Surface)
    extensions: MaterialExtensions = msgspec.field(default_factory=MaterialExtensions)

    @property
    def factor(self) -> FloatArray:
        """Its colour, in linear light."""
        gloss = self.extensions.KHR_materials_pbrSpecularGlossiness
        return np.array((gloss.diffuse_factor if gloss else self.pbr_metallic_roughness.base_color_factor)[:3])

    @property
    def texture(self) -> TextureUse | None:
        """Its texture."""
        gloss = self.extensions.KHR_materials_pbrSpecularGlossiness
        return gloss.diffuse_texture if gloss else self.pbr_metallic_roughness.base_color_texture


class WebpSource(Struct):
    """An image in WebP."""

    source: Index | None = None


class ImageExtensions(Struct):
    """Extensions of a texture: other images."""

    EXT_texture_webp: WebpSource = msgspec.field(default_factory=WebpSource)


class Texture(Struct):
    """A texture and its image."""

    source: Index | None = None
    extensions: ImageExtensions = msgspec.field(default_factory=ImageExtensions)


class GltfImage(Struct, rename="camel"):
    """The location of an image."""

    uri: str | None = None
    buffer_view: Index | None = None


class Looks(Struct, dict=True):
    """The parts of a document for colours."""

    materials: list[Material] = []
    textures: list[Texture] = []
    images: list[GltfImage] = []

    @cached_property
    def pixels(self) -> dict[int, FloatArray | None]:
        """Images that were read, by index."""
        return {}


def decoded(source: GltfSource, kind: type[T]) -> T:
    """Return a part of a document.

    Raises:
        FormatError: If it is not valid glTF.
    """
    try:
        return msgspec.json.decode(source.text.removeprefix(b"\xef\xbb\xbf"), type=kind)
    except msgspec.ValidationError as error:
        source.refuse(f"its meshes are not valid glTF: {error}.")


def corner_colors(
    source: GltfSource, looks: Looks, attributes: Mapping[str, int], material: int | None, count: int
) -> FloatArray:
    """Return the sRGB colours of vertices, from 0 to 1, shape (count, 3)."""
    own = Material() if material is None else source.item(looks.materials, material, "material")
    light = np.tile(own.factor, (count, 1))
    if "COLOR_0" in attributes:
        accessor = source.item(source.document.accessors, attributes["COLOR_0"], "accessor of colours")
        painted = source.values(attributes["COLOR_0"], "colours", "VEC3" if accessor.type == "VEC3" else "VEC4")
        if len(painted) == count:
            light *= painted[:, :3]
    use = own.texture
    where = None if use is None else attributes.get(f"TEXCOORD_{use.tex_coord}")
    if use is not None and where is not None:
        pixels, places = _pixels(source, looks, use.index), source.values(where, "texture coordinates", "VEC2")
        if pixels is not None and len(places) == count:
            transform = use.extensions.KHR_texture_transform
            light *= sampled(pixels, places * transform.scale + transform.offset)
    return encoded(light.clip(0.0, 1.0))


def _pixels(source: GltfSource, looks: Looks, index: int) -> FloatArray | None:
    """Return a texture in linear light, shape (height, width, 3); None if it cannot be read."""
    texture = source.item(looks.textures, index, "texture")
    number = texture.extensions.EXT_texture_webp.source if texture.source is None else texture.source
    if number is None:
        return None
    if number not in looks.pixels:
        looks.pixels[number] = opened(_bytes(source, source.item(looks.images, number, "image")))
    return looks.pixels[number]


def _bytes(source: GltfSource, image: GltfImage) -> bytes:
    """Return the bytes of an image file; empty if it cannot be read."""
    if image.buffer_view is not None:
        view = source.item(source.document.buffer_views, image.buffer_view, "buffer view of an image")
        return source.buffer(view.buffer)[view.byte_offset : view.byte_offset + view.byte_length]
    if image.uri is None:
        return b""
    if image.uri.startswith("data:"):
        return source.data(image.uri, "an image")
    try:
        return read_bytes(source.beside(image.uri), MAX_BINARY)
    except FormatError:  # without the texture, the colour of the material is used
        return b""
