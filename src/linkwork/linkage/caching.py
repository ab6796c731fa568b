"""A bounded, thread-safe cache of values computed once for an object."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, TypeVar

T = TypeVar("T")


class Cache:
    """Values, never None, by kind and key. When a kind is full, its oldest value is dropped.

    Args:
        most: Largest number of values of one kind.

    Example:
        >>> cache = Cache(most=1)
        >>> cache.get("squares", 3, lambda: 9), cache.get("squares", 3, lambda: 0), cache.get("squares", 2, lambda: 4)
        (9, 9, 4)
    """

    def __init__(self, most: int = 64) -> None:
        self._most, self._lock = most, Lock()
        self._kinds: dict[str, dict[Hashable, Any]] = {}

    def find(self, kind: str, key: Hashable) -> Any:
        """Return the value of a key, or None."""
        kinds = self._kinds
        return kinds[kind].get(key) if kind in kinds else None

    def get(self, kind: str, key: Hashable, make: Callable[[], T]) -> T:
        """Return the value of a key; create it if it is missing.

        It is created outside the lock. Threads that need the same value at once may each create one; all get the first.
        """
        known: T | None = self.find(kind, key)
        if known is not None:
            return known
        made = make()
        with self._lock:
            kept = self._kinds.setdefault(kind, {})
            while key not in kept and len(kept) >= self._most:
                del kept[next(iter(kept))]
            first: T = kept.setdefault(key, made)
        return first

    def __len__(self) -> int:
        return sum(map(len, self._kinds.values()))

    def clear(self) -> None:
        """Drop all values; they are created again when needed."""
        with self._lock:
            self._kinds = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return Cache, (self._most,)  # a copy starts empty
