"""Names of entities over the whole corpus, and the common key of their spellings."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from core.builds.extract.mentions import PHRASE_TYPE
from core.builds.merge_suggestions import fold_spelling
from core.builds.resolve.terms import commonness

PERSON_TYPE, ORGANISATION_TYPE, PLACE_TYPE = "person", "organisation", "place"
INITIAL_AND_DOT = re.compile(r"\b(\w)\.(?=\w\b|\s|$)")
COMPANY_SUFFIXES = frozenset(
    "inc ltd llc corp corporation co company plc gmbh ag limited incorporated".split()
)
ENGLISH_ARTICLES = ("the ", "a ", "an ")
# Lowest Zipf value (see `terms.commonness`) of a single capitalised word that counts as a term.
MIN_TERM_ZIPF = 4.0


@dataclass
class CorpusName:
    """A name over the whole corpus: mentions by spelling and by type, and its number of chunks."""

    spellings: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    chunks: int = 0

    @property
    def best_spelling(self) -> str:
        """Most frequent spelling; of equally frequent ones, the first in alphabetical order."""
        return min(self.spellings, key=lambda one: (-self.spellings[one], one))

    @property
    def kind(self) -> str:
        """Most frequent type.

        The type of a name is preferred to that of a phrase. A name that is mostly written without a
        capital letter is a phrase.
        """
        if self.best_spelling.islower():
            return PHRASE_TYPE
        if self.kinds:
            return min(self.kinds, key=lambda one: (one == PHRASE_TYPE, -self.kinds[one], one))
        return PHRASE_TYPE

    @property
    def is_term(self) -> bool:
        """True if it is a phrase of common nouns rather than a name.

        It has no capital letter, or it is a single common word without the type of a name.
        """
        name = self.best_spelling
        if self.kind != PHRASE_TYPE:
            return False
        if not any(map(str.isupper, name)):
            return True
        return " " not in name and commonness(name.lower()) >= MIN_TERM_ZIPF

    @property
    def burst(self) -> float:
        """Mean number of mentions in the chunks that have the name."""
        return self.spellings.total() / max(1, self.chunks)


def key_of_name(name: str, kind: str) -> str:
    """Return the common key of the spellings of a name.

    Case, accents, apostrophes, punctuation and a leading article are folded. For an organisation
    the legal form is removed too, for a term the plural.

    Parameters
    ----------
    name : the name as written.
    kind : type of the entity; empty if it is unknown.

    Returns
    -------
    The key; empty for a name without letters and digits.

    Examples
    --------
    >>> from core.builds.resolve.corpus_names import key_of_name
    >>> key_of_name("The U.S.", "place"), key_of_name("Apple Inc.", "organisation")
    ('us', 'apple')
    >>> key_of_name("Lymph nodes", "concept")
    'lymph node'
    """
    # “U.S.” becomes “US”, before punctuation becomes white space.
    *_, key, singular = fold_spelling(INITIAL_AND_DOT.sub(r"\1", name))
    if kind == PHRASE_TYPE and not any(letter.isupper() for letter in name[1:]):
        key = singular
    article = next(filter(key.startswith, ENGLISH_ARTICLES), "")
    words = key.removeprefix(article).split()
    while kind == ORGANISATION_TYPE and len(words) > 1 and words[-1] in COMPANY_SUFFIXES:
        words.pop()
    return " ".join(words)
