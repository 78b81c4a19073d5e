"""The known languages, as `languages.toml` describes them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from core.errors import BadParameter, nearest, shorten

ENGLISH = "en"
QUESTION_WORD_KINDS = ("person", "time", "number", "thing", "other")  # kinds of question words


@dataclass(frozen=True, eq=False)
class Language:
    """A language by its ISO 639-1 code: its script, function words and question words.

    Parameters
    ----------
    code, name : the code and the English name.
    script : the name of its script.
    spaced : True if blanks separate its words.
    stemmer : the name of Snowball's stemmer for it.
    models : spaCy's packages for it, the best first.
    abbreviations : abbreviations whose full stop ends no sentence.
    words : function words.
    asking : question words and phrases by what they ask for.
    """

    code: str
    name: str
    script: str
    spaced: bool = True
    stemmer: str = ""
    models: tuple[str, ...] = ()
    abbreviations: tuple[str, ...] = ()
    words: frozenset[str] = frozenset()
    asking: Mapping[str, tuple[str, ...]] | None = None

    @cached_property
    def asks(self) -> dict[str, str]:
        """Question words and phrases with what they ask for, the longest first."""
        every = (
            (phrase, kind) for kind, phrases in (self.asking or {}).items() for phrase in phrases
        )
        return dict(sorted(every, key=lambda one: (-len(one[0]), one[0])))

    @cached_property
    def common(self) -> frozenset[str]:
        """Function words and words of question phrases, which say nothing about a subject."""
        return self.words.union(word for phrase in self.asks for word in phrase.split())

    @property
    def cased(self) -> bool:
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
    return {code: _language(code, row) for code, row in rows.items()}


def _language(code: str, row: dict) -> Language:
    asking = {kind: tuple(row.pop(kind, ())) for kind in QUESTION_WORD_KINDS}
    words = row.pop("words", "").split()
    models = row.pop("models", ())
    abbreviations = row.pop("abbreviations", ())
    return Language(
        code,
        **row,
        models=tuple(models),
        abbreviations=tuple(abbreviations),
        words=frozenset(words),
        asking=asking,
    )


def language(code: str) -> Language | None:
    """Return the language of a code; None for an unknown or empty code."""
    return languages().get(code)


def name_of(code: str) -> str:
    """Return the name of a language; the code itself where it is unknown."""
    entry = language(code)
    return entry.name if entry is not None else code


def known_code(text: str) -> str:
    """Return the code of a language that is given by code or name.

    Raises BadParameter, which names the most similar one.

    >>> from core.languages import known_code
    >>> known_code("German"), known_code("ZH")
    ('de', 'zh')
    """
    key = text.strip().casefold()
    by_name = {one.name.casefold(): code for code, one in languages().items()}
    if key in languages():
        return key
    if key not in by_name:
        codes_and_names = [*languages(), *(one.name for one in languages().values())]
        raise BadParameter(
            f"“{shorten(text)}” is no language that is known here; give a code such as "
            f"de.{nearest(text, codes_and_names)}"
        )
    return by_name[key]
