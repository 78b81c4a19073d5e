"""The words of a text by which it is searched: case-folded, cut where a script puts no blanks, and stemmed but in English."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any

from core.languages.language import Language, language
from core.languages.scripts import UNSPACED_LETTERS
from core.languages.spelling import SIGNS, fold

WORD = re.compile(r"[^\W_]+")
LETTER = f"{UNSPACED_LETTERS}\uac00-\ud7af"  # of scripts whose words are cut into letters: those without blanks, and Korean, of long words
PARTS, LETTERS = re.compile(f"[{LETTER}]+|[^{LETTER}]+"), re.compile(f"[{LETTER}]")
MARKED_WORD = rf"(?:[^\W_]|[{SIGNS}])+"
MARKED, WORDS = re.compile(f"[{SIGNS}]"), re.compile(MARKED_WORD)
CONTENT = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff々〇ァ-ヶー]+|[a-z0-9]+")
STEMS = 1 << 16  # words whose stems are remembered


def plain_words(text: str) -> list[str]:
    """The case-folded words of a text, split at everything that is neither letter nor digit; a mark over or under a letter is of its word.

    >>> from core.languages.terms import plain_words
    >>> plain_words("who.directed_by -> X"), plain_words("हिन्दी में"), plain_words("كَتَبَ")
    (['who', 'directed', 'by', 'x'], ['हिन्दी', 'में'], ['كتب'])
    """
    folded = fold(text)
    if folded.isascii() or not MARKED.search(folded):
        return WORD.findall(folded)
    return WORDS.findall(folded)


def terms(text: str, code: str = "") -> list[str]:
    """The words of a text, for search: in a script that writes no blanks (and in Korean) each letter and each pair of neighbours; in a
    language with a stemmer, English aside, their stems.

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
    """The words of a text in a language that say what it is about, case-folded: without function and question words. In a script without
    blanks as rjieba cuts Chinese where it is installed, else what lies between these words.

    >>> from core.languages.terms import content_words
    >>> content_words("Welche Brücke führt über den Fluss?", "de"), content_words("東京タワーはどこにありますか", "ja")
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
    # content words are in Chinese characters and katakana, what joins them in hiragana
    if known.code == "ja":
        return CONTENT.findall(_without(text, known))
    return plain_words(_without(text, known))


def _without(text: str, known: Language) -> str:
    """A text with blanks in the place of question and function words."""
    return re.sub(
        "|".join(map(re.escape, sorted(known.asks, key=len, reverse=True))) or "$^", " ", text
    )


@cache
def _chinese() -> Any:
    """rjieba, which cuts Chinese by a dictionary; None where it is not installed."""
    try:
        import rjieba
    except ImportError:
        return None
    return rjieba


def stemmed(word: str, code: str) -> str:
    """A word without its endings, by the Snowball stemmer of a language; as it is where there is none, and in English.

    >>> from core.languages.terms import stemmed
    >>> stemmed("gebaut", "de"), stemmed("построил", "ru"), stemmed("directed", "en")
    ('gebaut', 'постро', 'directed')
    """
    stemmer = _stemmer(code)
    return word if stemmer is None else stemmer(word)


@cache
def _stemmer(code: str) -> Any:
    """A stemmer that remembers; None for English, whose rules are the graphs' own, and where snowballstemmer is absent."""
    known = language(code)
    if known is None or not known.stemmer:
        return None
    try:
        import snowballstemmer
    except ImportError:
        return None
    return lru_cache(STEMS)(snowballstemmer.stemmer(known.stemmer).stemWord)
