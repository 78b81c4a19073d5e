"""Which names of entities mean the same."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

READINGS = ("unicode", "code")
OTHERS = re.compile(r"[^a-z0-9 ]")
LONGEST_CACHED = 100  # characters: names come again and again, texts do not


def folded(name: str, reading: str = "unicode") -> str:
    """Return what names of one entity have in common: case and white space folded, all letters kept.

    Read as the published code does, everything but A-Z, a-z, 0-9 becomes white space first, so that a
    name in other letters is empty. It is not `core.languages.spelling.fold`, as saved facts and graphs
    that ship are put together by it; names in other typography are joined by a mend.

    >>> from core.builds.naming import folded
    >>> folded(" José  DÍAZ-2 "), folded(" José  DÍAZ-2 ", "code")
    ('josé díaz-2', 'jos d az 2')
    """
    return _cached(name, reading) if len(name) <= LONGEST_CACHED else _folded(name, reading)


def _folded(name: str, reading: str) -> str:
    if reading == "code":
        return " ".join(OTHERS.sub(" ", name.lower()).split())
    return " ".join(unicodedata.normalize("NFC", name).split()).casefold()


_cached = lru_cache(maxsize=1 << 15)(_folded)
