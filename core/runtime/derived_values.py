"""Caches of values derived from an object, such as a graph.

They are kept as long as the object lives.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any

from cachetools import LRUCache

from core.runtime.slots import hold_lock

DEFAULT_CACHED_VALUES = 4  # values of one kind that are cached


class ValueCache:
    """A cache of values of one kind, with a lock.

    The lock is held while a value is made. The least recently used values are dropped first.
    """

    def __init__(self, size: int):
        self.lock = threading.Lock()
        self.values: LRUCache[Hashable, Any] = LRUCache(size)
        # The last key and its value, read without the lock.
        self.latest: tuple[Hashable, Any] | None = None


class DerivedValues:
    """Caches of derived values by name, safe between threads.

    The first thread that asks for a value makes it, and others wait. The latest value is returned
    without a lock: all threads look up some values for every path, and would otherwise queue for
    the lock.

    >>> from core.runtime.derived_values import DerivedValues
    >>> derived = DerivedValues()
    >>> derived.get_or_make("squares", 3, lambda: 9)
    9
    >>> derived.get_or_make("squares", 3, lambda: 1 / 0)  # cached, so not made again
    9
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._caches: dict[str, ValueCache] = {}

    def cache_of(self, name: str, size: int = DEFAULT_CACHED_VALUES) -> ValueCache:
        """Return the cache of a name, made at the first access."""
        cache = self._caches.get(name)
        if cache is not None:
            return cache
        with self._lock:
            return self._caches.setdefault(name, ValueCache(size))

    def get_or_make(
        self, name: str, key: Hashable, make: Callable[[], Any], size: int = DEFAULT_CACHED_VALUES
    ) -> Any:
        """Return the value of a key, making it at the first access.

        If `make` raises, the error is raised and nothing is cached.
        """
        cache = self.cache_of(name, size)
        latest = cache.latest
        if latest is None or latest[0] != key:
            with hold_lock(cache.lock):
                if key not in cache.values:
                    cache.values[key] = make()
                latest = cache.latest = key, cache.values[key]
        return latest[1]
