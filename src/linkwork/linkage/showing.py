"""HTML representation of values for notebooks; `draw` creates it on demand."""

from __future__ import annotations


class Shown:
    """Base of objects that notebooks display: a linkage with its tree, a clip that plays."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        from ..draw import notebook  # pictures belong to a later package

        return notebook.shown(self)
