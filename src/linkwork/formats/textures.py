"""Textures: images of meshes in linear light, sampled for the colours of vertices.

They are read with Pillow if it is installed (matplotlib requires it); otherwise a material has only its base colour.
"""

from __future__ import annotations

import io

import numpy as np

from ..transforms import FloatArray

MAX_PIXELS = 64_000_000  # of a texture
SMALL = 512  # textures are reduced to this size [pixels]


def opened(data: bytes) -> FloatArray | None:
    """Return an image file in linear light, shape (height, width, 3); None if it cannot be read."""
    try:
        from PIL import Image
    except ImportError:
        return None
    try:
        with Image.open(io.BytesIO(data), formats=("PNG", "JPEG", "WEBP")) as image:
            if image.width * image.height > MAX_PIXELS:
                return None
            image.draft("RGB", (SMALL, SMALL))
            small = (
                image.convert("RGBA")
                .convert("RGB")
                .resize((min(image.width, SMALL), min(image.height, SMALL)), Image.Resampling.BOX)
            )
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):  # a broken texture is ignored
        return None
    return linear(np.asarray(small, np.float64) / 255.0)


def sampled(pixels: FloatArray, places: FloatArray) -> FloatArray:
    """Return the pixels at texture coordinates, which repeat from 0 to 1, y down."""
    height, width = pixels.shape[:2]
    columns, rows = (np.floor((places % 1.0) * (width, height)).astype(np.int64) % (width, height)).T
    return np.asarray(pixels[rows, columns])


def linear(shown: FloatArray) -> FloatArray:
    """Convert sRGB colours to linear light."""
    return np.where(shown <= 0.04045, shown / 12.92, ((shown + 0.055) / 1.055) ** 2.4)


def encoded(light: FloatArray) -> FloatArray:
    """Convert linear light to sRGB colours."""
    return np.where(light <= 0.0031308, light * 12.92, 1.055 * np.maximum(light, 0.0) ** (1.0 / 2.4) - 0.055)
