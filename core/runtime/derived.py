"""What was derived from an object in this process, kept on that object for as long as it lives."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any

from cachetools import LRUCache

from core.runtime.places import waiting

VALUES = 4  # values of one sort, by key


class Shelf:
    """Values of one sort by key, the least recently used forgotten, with the lock under which they are made."""

    def __init__(self, size: int):
        self.lock = threading.Lock()
        self.values: LRUCache[Hashable, Any] = LRUCache(size)
        self.latest: tuple[Hashable, Any] | None = (
            None  # a key and its value, read without the lock
        )


class Derived:
    """Shelves by name. Safe between threads: a value is made by whoever asks first, while others wait for it. The one asked for last is
    found without a lock, as some are looked up for every path by all threads at once, who would else stand in line.

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
        """The shelf of that name, made of that size when first asked for."""
        found = self._shelves.get(name)
        if found is not None:
            return found
        with self._lock:
            return self._shelves.setdefault(name, Shelf(size))

    def once(self, name: str, key: Hashable, make: Callable[[], Any], size: int = VALUES) -> Any:
        """The value of that key, made where it is not there; what `make` raises is raised, and nothing kept."""
        shelf = self.shelf(name, size)
        latest = shelf.latest
        if latest is None or latest[0] != key:
            with waiting(shelf.lock):
                if key not in shelf.values:
                    shelf.values[key] = make()
                latest = shelf.latest = key, shelf.values[key]
        return latest[1]
