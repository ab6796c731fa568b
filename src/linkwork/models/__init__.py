"""Ready-made linkages, written here from facts and dimensions."""

from __future__ import annotations

from .arms import planar

__all__ = ["planar"]
