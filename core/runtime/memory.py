"""Memory: the size of values, the free memory, and the release of unused memory."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from itertools import chain
from typing import Any

import numpy as np

# Types that contain no other values. They are checked first, as most values are of these types.
LEAF_TYPES = (int, float, str, bytes, type(None))
SAMPLED_ITEMS = 8  # the size of a long tuple or list is estimated from so many, evenly spaced


def memory_bytes(value: Any) -> int:
    """Return roughly how many bytes a value takes.

    Arrays, texts, numbers and their containers (tuples, lists, mappings, dataclasses) are counted.
    An object that occurs several times counts once. Objects of other classes count without their
    contents. The size of a long tuple or list is estimated from a few items.

    >>> import numpy as np
    >>> from core.runtime.memory import memory_bytes
    >>> held = np.zeros(1000)
    >>> 8000 <= memory_bytes((held, [held, held])) < 8500
    True
    """
    return int(_weigh(value, set()))


def _weigh(value: Any, seen_ids: set[int]) -> float:
    """Return the bytes of a value.

    Objects whose ids are in `seen_ids` are left out, and the value's own ids are added.
    """
    if id(value) in seen_ids:
        return 0
    seen_ids.add(id(value))
    if isinstance(value, LEAF_TYPES):
        return sys.getsizeof(value)
    if isinstance(value, np.ndarray):
        return value.nbytes
    size = sys.getsizeof(value, 0)
    if isinstance(value, tuple | list):
        sample = value[:: max(1, len(value) // SAMPLED_ITEMS)]
        sampled_size = sum(_weigh(item, seen_ids) for item in sample)
        return size + sampled_size * len(value) / max(1, len(sample))
    parts: Iterable[Any] = ()
    if isinstance(value, Mapping):
        parts = chain.from_iterable(value.items())
    elif is_dataclass(value) and not isinstance(value, type):
        if hasattr(value, "__dict__"):
            parts = vars(value).values()
        else:  # a dataclass with slots
            parts = [getattr(value, field.name, None) for field in fields(value)]
    return size + sum(_weigh(part, seen_ids) for part in parts)


def free_memory() -> int:
    """Return the bytes of memory that are free on this computer.

    Those that can be freed at once are included.
    """
    import psutil

    return int(psutil.virtual_memory().available)


def release_unused_memory() -> None:
    """Return unused memory to the operating system.

    This covers Arrow's memory pool and, with glibc, the memory of many small objects. The process
    would otherwise keep both.
    """
    import pyarrow as pa

    pa.default_memory_pool().release_unused()
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # a C library other than glibc
            ctypes.CDLL(None).malloc_trim(0)
