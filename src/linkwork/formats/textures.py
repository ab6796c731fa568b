"""Textures: pictures that a file has for its meshes, in linear light, and the colours of corners taken from them.

They are read with Pillow where it is installed (matplotlib brings it); elsewhere a material has its colour alone.
"""

from __future__ import annotations

import io

import numpy as np

from ..transforms import FloatArray

MAX_PIXELS = 64_000_000  # of a texture
SMALL = 512  # pixels along a texture's side: it is read no finer than that


def opened(data: bytes) -> FloatArray | None:
    """Return a picture file in linear light, shape (height, width, 3); None where it cannot be read."""
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
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):  # a broken texture is no texture
        return None
    return linear(np.asarray(small, np.float64) / 255.0)


def sampled(pixels: FloatArray, places: FloatArray) -> FloatArray:
    """Return the pixels at places that repeat from 0 to 1, y down."""
    height, width = pixels.shape[:2]
    columns, rows = (np.floor((places % 1.0) * (width, height)).astype(np.int64) % (width, height)).T
    return np.asarray(pixels[rows, columns])


def linear(shown: FloatArray) -> FloatArray:
    """Return colours of a screen in linear light (sRGB)."""
    return np.where(shown <= 0.04045, shown / 12.92, ((shown + 0.055) / 1.055) ** 2.4)


def encoded(light: FloatArray) -> FloatArray:
    """Return linear light as colours of a screen (sRGB)."""
    return np.where(light <= 0.0031308, light * 12.92, 1.055 * np.maximum(light, 0.0) ** (1.0 / 2.4) - 0.055)
