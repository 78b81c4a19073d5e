"""Folding of entity names to a common form. The facts of several chunks are merged by this form."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

NAME_READINGS = ("unicode", "code")  # values of `reading` in `fold_name`
NON_CODE_CHARACTERS = re.compile(r"[^a-z0-9 ]")
MAX_CACHED_NAME_CHARACTERS = 100  # longer texts are not cached, because they rarely recur


def fold_name(name: str, reading: str = "unicode") -> str:
    """Return the common form of names of one entity: case and white space folded.

    This is not `core.languages.spelling.fold`, because saved facts and shipped graphs depend on
    this form. Names in other typography are joined by a person's entity merge.

    Parameters
    ----------
    name : the name.
    reading : “unicode” keeps all letters. With “code”, as in the code published with the In-depth
        Analysis, everything but A-Z, a-z and 0-9 first becomes white space.

    Returns
    -------
    The folded name; with “code” it is empty for a name in other letters.

    Examples
    --------
    >>> from core.builds.name_folding import fold_name
    >>> fold_name(" José  DÍAZ-2 "), fold_name(" José  DÍAZ-2 ", "code")
    ('josé díaz-2', 'jos d az 2')
    """
    fold = _cached_fold if len(name) <= MAX_CACHED_NAME_CHARACTERS else _fold
    return fold(name, reading)


def _fold(name: str, reading: str) -> str:
    if reading == "code":
        return " ".join(NON_CODE_CHARACTERS.sub(" ", name.lower()).split())
    return " ".join(unicodedata.normalize("NFC", name).split()).casefold()


_cached_fold = lru_cache(maxsize=1 << 15)(_fold)
