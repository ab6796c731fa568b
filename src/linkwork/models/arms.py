"""Robot arms."""

from __future__ import annotations

from collections.abc import Sequence

from ..builder import Builder
from ..geometry import bone
from ..linkage import Linkage


def planar(lengths: Sequence[float] | int) -> Linkage:
    """Return a planar chain."""
    sizes = [1.0] * lengths if isinstance(lengths, int) else list(lengths)
    thick = 0.02 * sum(sizes)
    b = Builder("planar", base="link0")
    at = 0.0
    for k, length in enumerate(sizes, start=1):
        b.revolute(f"j{k}", f"link{k}", at=(at, 0, 0), shape=bone((0, 0, 0), (length, 0, 0), thick))
        at = length
    return b.frame("tip", at=(at, 0, 0)).build()
