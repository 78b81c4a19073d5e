"""What was derived from an object in this process, kept on that object for as long as it lives."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any

from cachetools import LRUCache

KEPT = 4  # values of one sort, by key


class Shelf:
    """Values of one sort by key, the least recently used forgotten, with the lock under which they are made."""

    def __init__(self, size: int):
        self.lock = threading.Lock()
        self.values: LRUCache[Hashable, Any] = LRUCache(size)


class Derived:
    """Shelves by name. Safe between threads: a value is made by whoever asks first, while others wait for it.

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

    def shelf(self, name: str, size: int = KEPT) -> Shelf:
        """The shelf of that name, made of that size when first asked for."""
        with self._lock:
            return self._shelves.setdefault(name, Shelf(size))

    def once(self, name: str, key: Hashable, make: Callable[[], Any], size: int = KEPT) -> Any:
        """The value of that key, made where it is not there; what `make` raises is raised, and nothing kept."""
        shelf = self.shelf(name, size)
        with shelf.lock:
            if key not in shelf.values:
                shelf.values[key] = make()
            return shelf.values[key]
