"""The languages with resources for names and questions, as `languages.toml` describes them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from core.errors import BadParameter, shorten, suggest_name

ENGLISH = "en"
QUESTION_WORD_KINDS = ("person", "time", "number", "thing", "other")  # what they ask for


@dataclass(frozen=True, eq=False)
class Language:
    """A language with its script, function words and question words.

    Parameters
    ----------
    code, name : the ISO 639-1 code and the English name.
    script : name of the script, as in `core.languages.scripts.SCRIPTS`.
    spaced : True if blanks separate the words.
    stemmer : name of Snowball's stemmer; empty if it has none.
    models : spaCy's packages for the language, the best first.
    abbreviations : abbreviations, without their full stop, after which a sentence may go on.
    words : function words.
    question_words : question words and phrases by what they ask for, of `QUESTION_WORD_KINDS`.
    """

    code: str
    name: str
    script: str
    spaced: bool = True
    stemmer: str = ""
    models: tuple[str, ...] = ()
    abbreviations: tuple[str, ...] = ()
    words: frozenset[str] = frozenset()
    question_words: Mapping[str, tuple[str, ...]] | None = None

    @cached_property
    def kinds_by_question_phrase(self) -> dict[str, str]:
        """Kinds by question word or phrase, the longest phrase first."""
        kinds_by_phrase: dict[str, str] = {}
        for kind, phrases in (self.question_words or {}).items():
            kinds_by_phrase |= dict.fromkeys(phrases, kind)
        ordered_phrases = sorted(kinds_by_phrase, key=lambda phrase: (-len(phrase), phrase))
        return {phrase: kinds_by_phrase[phrase] for phrase in ordered_phrases}

    @cached_property
    def stop_words(self) -> frozenset[str]:
        """Function words and the words of question phrases, which do not name a subject."""
        return self.words.union(*map(str.split, self.kinds_by_question_phrase))

    @property
    def has_case(self) -> bool:
        """True if its script has capital letters."""
        return self.script in ("Latin", "Cyrillic", "Greek")


@cache
def languages() -> dict[str, Language]:
    """Return the known languages by code.

    >>> from core.languages import languages
    >>> languages()["de"].name, languages()["zh"].spaced
    ('German', False)
    """
    rows = tomllib.loads(Path(__file__).with_name("languages.toml").read_text("utf-8"))
    return {code: _make_language(code, row) for code, row in rows.items()}


def _make_language(code: str, row: dict) -> Language:
    """Return the language of a table of `languages.toml`, whose lists are made immutable."""
    phrases = {kind: tuple(row.pop(kind, ())) for kind in QUESTION_WORD_KINDS}
    words = frozenset(row.pop("words", "").split())
    models = tuple(row.pop("models", ()))
    abbreviations = tuple(row.pop("abbreviations", ()))
    return Language(
        code, **row, models=models, abbreviations=abbreviations, words=words, question_words=phrases
    )


def language(code: str) -> Language | None:
    """Return the language of a code. None for an unknown or empty code."""
    return languages().get(code)


def name_of(code: str) -> str:
    """Return the name of a language. The code itself if it is unknown."""
    entry = language(code)
    return entry.name if entry is not None else code


def known_code(text: str) -> str:
    """Return the code of a language from its code or English name.

    Raises BadParameter for any other text; the message suggests the most similar code or name.

    >>> from core.languages import known_code
    >>> known_code("German"), known_code("ZH")
    ('de', 'zh')
    """
    key = text.strip().casefold()
    if key in languages():
        return key
    names = {entry.name: code for code, entry in languages().items()}
    for name, code in names.items():
        if name.casefold() == key:
            return code
    raise BadParameter(
        f"“{shorten(text)}” is no language that is known here; give a code such as "
        f"de.{suggest_name(text, [*languages(), *names])}"
    )
