"""Words of a text for search: case-folded, split or stemmed."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any

from core.languages.language import Language, language
from core.languages.scripts import UNSPACED_LETTERS
from core.languages.spelling import COMBINING_MARKS, fold

UNMARKED_WORD = re.compile(r"[^\W_]+")  # a word of letters and digits without marks on them
# Letters of scripts whose words are split into letters: those without blanks, and Korean, whose
# words are long.
SPLIT_SCRIPT_LETTERS = f"{UNSPACED_LETTERS}\uac00-\ud7af"
SPLIT_SCRIPT_PART = re.compile(f"[{SPLIT_SCRIPT_LETTERS}]+|[^{SPLIT_SCRIPT_LETTERS}]+")
SPLIT_SCRIPT_LETTER = re.compile(f"[{SPLIT_SCRIPT_LETTERS}]")
MARK_PATTERN = re.compile(f"[{COMBINING_MARKS}]")
MARKED_WORD = rf"(?:[^\W_]|[{COMBINING_MARKS}])+"
WORD_WITH_MARKS = re.compile(MARKED_WORD)
# Chinese characters, katakana, or ASCII letters and digits.
JAPANESE_CONTENT_WORD = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff々〇ァ-ヶー]+|[a-z0-9]+")
MAX_CACHED_STEMS = 1 << 16


def plain_words(text: str) -> list[str]:
    """Return the case-folded words of a text.

    They are split at all characters but letters and digits. Marks over or under a letter belong to
    its word.

    >>> from core.languages.terms import plain_words
    >>> plain_words("who.directed_by -> X"), plain_words("हिन्दी में"), plain_words("كَتَبَ")
    (['who', 'directed', 'by', 'x'], ['हिन्दी', 'में'], ['كتب'])
    """
    folded = fold(text)
    if folded.isascii() or not MARK_PATTERN.search(folded):
        return UNMARKED_WORD.findall(folded)
    return WORD_WITH_MARKS.findall(folded)


def search_terms(text: str, code: str = "") -> list[str]:
    """Return the words of a text as an index of words has them.

    The text is split at all characters but letters and digits, thus at `.`, `_` and `->` too. In
    scripts without blanks, and in Korean, the words are each letter and each pair of neighbours. In
    a language with a stemmer, except English, they are stems. `code` is the code of the language;
    with an empty one, words are not stemmed.

    >>> from core.languages.terms import search_terms
    >>> search_terms("Scrooge's 圣诞节"), search_terms("Die Brücken der Stadt", "de")
    (['scrooge', 's', '圣', '诞', '节', '圣诞', '诞节'], ['die', 'bruck', 'der', 'stadt'])
    """
    text_words = plain_words(text)
    if SPLIT_SCRIPT_LETTER.search(text):
        return [piece for word in text_words for piece in _split_word(word)]
    stemmer = _stemmer(code)
    return text_words if stemmer is None else [stemmer(word) for word in text_words]


def _split_word(word: str) -> list[str]:
    """Split the parts of a word in `SPLIT_SCRIPT_LETTERS` into letters and pairs of neighbours."""
    pieces: list[str] = []
    for part in SPLIT_SCRIPT_PART.findall(word):
        if SPLIT_SCRIPT_LETTER.match(part):
            pieces += [*part, *map("".join, pairwise(part))]
        else:
            pieces.append(part)
    return pieces


def content_words(text: str, code: str) -> list[str]:
    """Return the case-folded words of a text without function words and question words.

    Words of one letter are left out too. Chinese is split by rjieba if it is installed. Japanese is
    split at hiragana, and other scripts without blanks at question words. An unknown language has
    all words of the text.

    >>> from core.languages.terms import content_words
    >>> (content_words("Welche Brücke führt über den Fluss?", "de"),
    ...  content_words("東京タワーはどこにありますか", "ja"))
    (['brücke', 'führt', 'fluss'], ['東京タワー'])
    """
    known_language = language(code)
    if known_language is None:
        return plain_words(text)
    if known_language.spaced:
        text_words = plain_words(text)
    else:
        text_words = _split_unspaced(fold(text), known_language)
    return [word for word in text_words if word not in known_language.stop_words and len(word) > 1]


def _split_unspaced(text: str, known_language: Language) -> list[str]:
    """Return the words of a folded text in a script without blanks."""
    rjieba = _load_rjieba() if known_language.code == "zh" else None
    if rjieba is not None:
        return [word for word in rjieba.cut(text) if UNMARKED_WORD.fullmatch(word)]
    # The longest phrase comes first, as the first alternative that fits is matched. Without any
    # phrase, the pattern matches nothing.
    question_words = "|".join(map(re.escape, known_language.kinds_by_question_phrase)) or "$^"
    text = re.sub(question_words, " ", text)
    # Content words are in Chinese characters and katakana, function words in hiragana.
    if known_language.code == "ja":
        return JAPANESE_CONTENT_WORD.findall(text)
    return plain_words(text)


@cache
def _load_rjieba() -> Any:
    """Return rjieba, which splits Chinese by a dictionary. None if it is not installed."""
    try:
        import rjieba
    except ImportError:
        return None
    return rjieba


def stem_word(word: str, code: str) -> str:
    """Return the stem of a word by the Snowball stemmer of a language.

    In English, and without a stemmer, the word is returned unchanged.

    >>> from core.languages.terms import stem_word
    >>> stem_word("gebaut", "de"), stem_word("построил", "ru"), stem_word("directed", "en")
    ('gebaut', 'постро', 'directed')
    """
    stemmer = _stemmer(code)
    return word if stemmer is None else stemmer(word)


@cache
def _stemmer(code: str) -> Any:
    """Return the function that stems words of a language, with a cache.

    The result is None for a language without a stemmer, or if snowballstemmer is not installed.
    `languages.toml` gives English no stemmer, as graphs have stemming rules of their own.
    """
    known_language = language(code)
    if known_language is None or not known_language.stemmer:
        return None
    try:
        import snowballstemmer
    except ImportError:
        return None
    return lru_cache(MAX_CACHED_STEMS)(snowballstemmer.stemmer(known_language.stemmer).stemWord)
