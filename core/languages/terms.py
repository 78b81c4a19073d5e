"""Search words of a text: case-folded, split in scripts without blanks, and stemmed.

English words are not stemmed.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any

from core.languages.language import Language, language
from core.languages.scripts import UNSPACED_LETTERS
from core.languages.spelling import SIGNS, fold

WORD = re.compile(r"[^\W_]+")
# Letters of scripts whose words are split into letters: those without blanks, and Korean, whose
# words are long.
LETTER = f"{UNSPACED_LETTERS}\uac00-\ud7af"
PARTS, LETTERS = re.compile(f"[{LETTER}]+|[^{LETTER}]+"), re.compile(f"[{LETTER}]")
MARKED_WORD = rf"(?:[^\W_]|[{SIGNS}])+"
MARKED, WORDS = re.compile(f"[{SIGNS}]"), re.compile(MARKED_WORD)
CONTENT = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff々〇ァ-ヶー]+|[a-z0-9]+")
STEMS = 1 << 16  # words whose stems are cached


def plain_words(text: str) -> list[str]:
    """Return the case-folded words of a text, split at all characters but letters and digits.

    Marks over or under a letter belong to its word.

    >>> from core.languages.terms import plain_words
    >>> plain_words("who.directed_by -> X"), plain_words("हिन्दी में"), plain_words("كَتَبَ")
    (['who', 'directed', 'by', 'x'], ['हिन्दी', 'में'], ['كتب'])
    """
    folded = fold(text)
    if folded.isascii() or not MARKED.search(folded):
        return WORD.findall(folded)
    return WORDS.findall(folded)


def terms(text: str, code: str = "") -> list[str]:
    """Return the words of a text for search.

    In scripts without blanks, and in Korean, they are each letter and each pair of neighbours. In a
    language with a stemmer, except English, they are stems.

    >>> from core.languages.terms import terms
    >>> terms("Scrooge's 圣诞节"), terms("Die Brücken der Stadt", "de")
    (['scrooge', 's', '圣', '诞', '节', '圣诞', '诞节'], ['die', 'bruck', 'der', 'stadt'])
    """
    found = plain_words(text)
    if LETTERS.search(text):
        return [piece for word in found for piece in _cut(word)]
    stemmer = _stemmer(code)
    return found if stemmer is None else [stemmer(word) for word in found]


def _cut(word: str) -> list[str]:
    pieces: list[str] = []
    for part in PARTS.findall(word):
        pieces += (
            [*part, *(a + b for a, b in zip(part, part[1:], strict=False))]
            if LETTERS.match(part)
            else [part]
        )
    return pieces


def content_words(text: str, code: str) -> list[str]:
    """Return the case-folded words of a text without function words and question words.

    Chinese is split by rjieba if it is installed. Other scripts without blanks are split at
    function words and question words.

    >>> from core.languages.terms import content_words
    >>> (content_words("Welche Brücke führt über den Fluss?", "de"),
    ...  content_words("東京タワーはどこにありますか", "ja"))
    (['brücke', 'führt', 'fluss'], ['東京タワー'])
    """
    known = language(code)
    if known is None:
        return plain_words(text)
    found = plain_words(text) if known.spaced else _unspaced_words(fold(text), known)
    return [word for word in found if word not in known.common and len(word) > 1]


def _unspaced_words(text: str, known: Language) -> list[str]:
    if known.code == "zh" and (cutter := _chinese()):
        return [word for word in cutter.cut(text) if WORD.fullmatch(word)]
    # Content words are in Chinese characters and katakana, function words in hiragana.
    if known.code == "ja":
        return CONTENT.findall(_without(text, known))
    return plain_words(_without(text, known))


def _without(text: str, known: Language) -> str:
    """Replace question words and phrases in a text by blanks."""
    return re.sub(
        "|".join(map(re.escape, sorted(known.asks, key=len, reverse=True))) or "$^", " ", text
    )


@cache
def _chinese() -> Any:
    """Return rjieba, which splits Chinese by a dictionary; None where it is not installed."""
    try:
        import rjieba
    except ImportError:
        return None
    return rjieba


def stemmed(word: str, code: str) -> str:
    """Return the stem of a word by the Snowball stemmer of a language.

    In English, and without a stemmer, the word is returned unchanged.

    >>> from core.languages.terms import stemmed
    >>> stemmed("gebaut", "de"), stemmed("построил", "ru"), stemmed("directed", "en")
    ('gebaut', 'постро', 'directed')
    """
    stemmer = _stemmer(code)
    return word if stemmer is None else stemmer(word)


@cache
def _stemmer(code: str) -> Any:
    """Return a stemmer with a cache; None for English and where snowballstemmer is absent.

    English has no stemmer here, as graphs have stemming rules of their own.
    """
    known = language(code)
    if known is None or not known.stemmer:
        return None
    try:
        import snowballstemmer
    except ImportError:
        return None
    return lru_cache(STEMS)(snowballstemmer.stemmer(known.stemmer).stemWord)
