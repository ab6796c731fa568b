"""Tables that other packages extend by entry points: formats, models, goals, methods.

Built-in rows are found without looking at other packages. These are searched only when a name is not built in, or when
all rows are listed. A row of another package is imported when it is used.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Generic, TypeVar

from ..errors import PluginError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

Row = TypeVar("Row")
Check = Callable[[str, object], str]
SWITCH = "LINKWORK_PLUGINS"  # set to "0" to ignore other packages
_LOG = logging.getLogger("linkwork")


class Table(MutableMapping[str, Row], Generic[Row]):
    """A table by name: built-in rows first, then rows of other packages.

    Args:
        group: Group of the entry points: ``"linkwork.models"``.
        rows: The built-in rows.
        check: Takes a name and a row of another package, and returns a text on the fault of the row, or an empty text.
        prefix: Prefix that turns the name of an entry point into a name of this table.
    """

    def __init__(self, group: str, rows: Mapping[str, Row], check: Check, prefix: str = "") -> None:
        self.group, self._rows, self._check, self._prefix = group, dict(rows), check, prefix
        self._ours = frozenset(self._rows)
        self._waiting: dict[str, EntryPoint] | None = None
        self._broken: dict[str, PluginError] = {}

    @property
    def own(self) -> Mapping[str, Row]:
        """The rows known without searching other packages."""
        return MappingProxyType(self._rows)

    def __getitem__(self, name: str) -> Row:
        if name in self._rows:
            return self._rows[name]
        if name in self._broken:
            raise self._broken[name]
        entry = self._others().pop(name, None)
        if entry is None:
            raise KeyError(name)
        try:
            self._rows[name] = self._loaded(entry)
        except PluginError as error:
            self._broken[name] = error
            raise
        return self._rows[name]

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str):  # callers may have no type checker
            return False
        return name in self._rows or name in self._broken or (bool(name) and name in self._others())

    def __setitem__(self, name: str, row: Row) -> None:
        self._rows[name] = row

    def __delitem__(self, name: str) -> None:
        del self._rows[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())

    def __repr__(self) -> str:
        return f"<Table of {self.group}: {', '.join(self)}>"

    def _names(self) -> list[str]:
        """Return the names of all rows, after loading those of other packages."""
        for name in [*self._others()]:
            try:
                self[name]
            except PluginError as error:  # leave out only the broken row; using it by name raises the error
                _LOG.warning("%s It is left out.", error)
        return [*self._rows]

    def _others(self) -> dict[str, EntryPoint]:
        """Return the entry points of other packages that are not loaded yet, by name."""
        if self._waiting is not None:
            return self._waiting
        self._waiting = {}
        if os.environ.get(SWITCH) == "0":
            return self._waiting
        from importlib.metadata import entry_points

        for entry in sorted(entry_points(group=self.group), key=_package):
            name = f"{self._prefix}{entry.name}"
            if name in self._ours or name in self._waiting:
                _LOG.warning("%r of the package %r is left out: there is one already.", name, _package(entry))
            elif name not in self._rows:
                self._waiting[name] = entry
        return self._waiting

    def _loaded(self, entry: EntryPoint) -> Row:
        try:
            row: Row = entry.load()
        except Exception as error:  # a package of others may raise anything
            raise PluginError(entry.name, self.group, _package(entry), f"{type(error).__name__}: {error}") from error
        if why := self._check(entry.name, row):
            raise PluginError(entry.name, self.group, _package(entry), why)
        return row


def _package(entry: EntryPoint) -> str:
    """Return the name of the package that an entry point belongs to."""
    return entry.dist.name if entry.dist is not None else entry.value
