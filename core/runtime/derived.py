"""Values derived from an object, kept on it for as long as it lives."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any

from cachetools import LRUCache

from core.runtime.places import waiting

VALUES = 4  # values of one kind that are kept


class Shelf:
    """Cache of values of one kind by key (least recently used), with the lock for making them."""

    def __init__(self, size: int):
        self.lock = threading.Lock()
        self.values: LRUCache[Hashable, Any] = LRUCache(size)
        # The last key and its value, read without the lock.
        self.latest: tuple[Hashable, Any] | None = None


class Derived:
    """Caches of derived values, by name. Safe between threads.

    The first thread that asks for a value makes it, and others wait. The value asked for last is
    returned without a lock: some values are looked up for every path by all threads at once, which
    would otherwise queue for the lock.

    >>> from core.runtime.derived import Derived
    >>> derived = Derived()
    >>> derived.once("squares", 3, lambda: 9)
    9
    >>> derived.once("squares", 3, lambda: 1 / 0)  # known
    9
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._shelves: dict[str, Shelf] = {}

    def shelf(self, name: str, size: int = VALUES) -> Shelf:
        """Return the cache of that name, creating it with that size at the first access."""
        found = self._shelves.get(name)
        if found is not None:
            return found
        with self._lock:
            return self._shelves.setdefault(name, Shelf(size))

    def once(self, name: str, key: Hashable, make: Callable[[], Any], size: int = VALUES) -> Any:
        """Return the value of a key, making it at the first access.

        If `make` raises, the error is raised here and nothing is kept.
        """
        shelf = self.shelf(name, size)
        latest = shelf.latest
        if latest is None or latest[0] != key:
            with waiting(shelf.lock):
                if key not in shelf.values:
                    shelf.values[key] = make()
                latest = shelf.latest = key, shelf.values[key]
        return latest[1]
