"""Names over the whole corpus, and what spellings of one have in common."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from core.builds.extract.mentions import PHRASE
from core.builds.mending import spellings
from core.builds.resolve.terms import commonness

PERSON, ORGANISATION, PLACE = "person", "organisation", "place"
INITIALS = re.compile(r"\b(\w)\.(?=\w\b|\s|$)")
SUFFIXES = frozenset(
    "inc ltd llc corp corporation co company plc gmbh ag limited incorporated".split()
)
ARTICLES = ("the ", "a ", "an ")
PLAIN_WORD = 4.0  # the Zipf value from which a single word with a capital counts as a term


@dataclass
class Known:
    """A name over the whole corpus: its spellings, its types, in how many chunks it is."""

    spellings: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    chunks: int = 0

    @property
    def shown(self) -> str:
        """Its most frequent spelling."""
        return min(self.spellings, key=lambda one: (-self.spellings[one], one))

    @property
    def kind(self) -> str:
        """Its most frequent type, that of a name before that of a phrase; what is mostly written without a capital is a phrase."""
        if self.shown.islower():
            return PHRASE
        if self.kinds:
            return min(self.kinds, key=lambda one: (one == PHRASE, -self.kinds[one], one))
        return PHRASE

    @property
    def is_term(self) -> bool:
        """Whether it is a phrase of common nouns rather than a name: without a capital, or one common word that the parser gave no type."""
        shown = self.shown
        if self.kind != PHRASE:
            return False
        return not any(c.isupper() for c in shown) or (
            " " not in shown and commonness(shown.lower()) >= PLAIN_WORD
        )

    @property
    def burst(self) -> float:
        """How often a chunk that has it names it."""
        return self.spellings.total() / max(1, self.chunks)


def key_of_name(name: str, kind: str) -> str:
    """What spellings of one name have in common: case, accents, apostrophes and marks; of an organisation its legal form too, of a term
    its plural.

    >>> from core.builds.resolve.known import key_of_name
    >>> key_of_name("The U.S.", "place"), key_of_name("Apple Inc.", "organisation"), key_of_name("Lymph nodes", "concept")
    ('us', 'apple', 'lymph node')
    """
    steps = spellings(INITIALS.sub(r"\1", name))
    if kind == PHRASE and not any(letter.isupper() for letter in name[1:]):
        key = steps[3]
    else:
        key = steps[2]
    key = next((key.removeprefix(article) for article in ARTICLES if key.startswith(article)), key)
    words = key.split()
    while kind == ORGANISATION and len(words) > 1 and words[-1] in SUFFIXES:
        words.pop()
    return " ".join(words)
