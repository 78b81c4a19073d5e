"""In which letters a text is written, as far as it matters here."""

from __future__ import annotations

import unicodedata

SAMPLE = 2000  # characters looked at


def latin(text: str) -> bool:
    """Whether at least half of a text's letters are Latin ones; a text without letters is.

    >>> from core.builds.extract.scripts import latin
    >>> latin("Ann in Zürich"), latin("安住在罗马。"), latin("1999")
    (True, False, True)
    """
    letters = [character for character in text[:SAMPLE] if character.isalpha()]
    return 2 * sum(unicodedata.name(character, "").startswith("LATIN") for character in letters) >= len(letters)
