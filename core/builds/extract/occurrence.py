"""Whether what a language model names is in the text that it read."""

from __future__ import annotations

import re

from core.builds.naming import folded

WORD = re.compile(r"\w+")


class Occurrence:
    """Looks for names in one text: as they are, or all of their words anywhere in it; case and white space do not count.

    >>> from core.builds.extract.occurrence import Occurrence
    >>> here = Occurrence("Lincoln, Abraham, was  born in Kentucky.")
    >>> here("Abraham Lincoln"), here("kentucky"), here("Marie Curie"), here(" ")
    (True, True, False, False)
    """

    def __init__(self, text: str):
        self._text = folded(text)
        self._words = frozenset(WORD.findall(self._text))

    def __call__(self, name: str) -> bool:
        key = folded(name)
        words = WORD.findall(key)
        return bool(words) and (key in self._text or self._words.issuperset(words))
