"""Relation names and chains of relations as English phrases, by rules that know no graph."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.graph.algorithms.chains import Chain

PLACEHOLDER = "X"  # stands for the question's entity, in questions and in chains
THING = "thing"
PREPOSITIONS = frozenset("in of at on to from for with near into under over as".split())
_PARTS = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


@dataclass(frozen=True)
class Phrase:
    """How a relation is said: `noun` is what a triple's tail is to its head; `tie` joins the things that hold it, to the
    tail (`directed by`, `in language`, `with genre`); `head_type` is the head's type where the name tells it, else empty."""

    noun: str
    tie: str
    head_type: str = ""

    def along(self, what: str) -> str:
        """What the relation leads to from `what`: `the director of X`."""
        return f"the {self.noun} of {what}"

    def against(self, what: str, things: str) -> str:
        """What leads by the relation to `what`: `the films directed by X`."""
        return f"the {things} {self.tie} {what}"


def phrase(relation: str) -> Phrase:
    """The phrase of a relation name such as `directed_by`, `has_genre`, `in_language`, `bornIn` or `film.film.release_date`.

    A dotted name with a domain and a type, as in Freebase, tells its head's type.

    >>> from core.graph.names.phrases import phrase
    >>> phrase("directed_by"), phrase("film.film.genre")
    (Phrase(noun='director', tie='directed by', head_type=''), Phrase(noun='genre', tie='with genre', head_type='film'))
    """
    dotted = relation.rsplit("/", 1)[-1].split("#")[-1].split(".")
    head_type = _words(dotted[-2]) if len(dotted) > 2 else []
    words = _words(dotted[-1]) or [THING]
    if len(words) > 1 and words[0] in ("has", "have", "is"):
        words = words[1:]
    noun = " ".join(words)
    if words[-1] == "by" and len(words) > 1:
        return Phrase(" ".join([*words[:-2], doer(words[-2])]), noun, " ".join(head_type))
    if words[0] == "in" and len(words) > 1:
        return Phrase(" ".join(words[1:]), noun, " ".join(head_type))
    if words[-1] in PREPOSITIONS:
        return Phrase(
            f"place or thing {noun}" if len(words) > 1 else THING, noun, " ".join(head_type)
        )
    return Phrase(noun, f"with {noun}", " ".join(head_type))


def doer(participle: str) -> str:
    """Who does what a participle says: directed -> director, written -> writer, produced -> producer.

    >>> from core.graph.names.phrases import doer
    >>> doer("directed"), doer("written"), doer("produced")
    ('director', 'writer', 'producer')
    """
    if participle.endswith("tten"):
        return participle[:-3] + "er"
    if participle.endswith("ed"):
        stem = participle[:-2]
        return stem + ("or" if stem.endswith(("ct", "at", "it")) else "er")
    return participle


def plural(noun: str) -> str:
    """The plural of an English noun, by the common rules.

    >>> from core.graph.names.phrases import plural
    >>> plural("film"), plural("country"), plural("person")
    ('films', 'countries', 'people')
    """
    if noun.endswith("person"):
        return noun[: -len("person")] + "people"
    if noun.endswith("y") and noun[-2:-1] not in tuple("aeiou"):
        return noun[:-1] + "ies"
    if noun.endswith(("s", "x", "z", "ch", "sh")):
        return noun if noun.endswith(("series", "species")) else noun + "es"
    return noun + "s"


def chain_text(chain: Chain, phrases: Sequence[Phrase], head_types: Sequence[str]) -> str:
    """A chain from X in words, from the last step to the first: `the genre of the films directed by X`.

    `phrases[r]` is how relation `r` is said and `head_types[r]` what its heads are (`film`), for which `X` stands where the
    first step starts from one: `the director of the film X`.

    >>> from core.graph.names.phrases import chain_text, phrase
    >>> chain_text((1, 2), [phrase("directed_by"), phrase("has_genre")], ["film", "film"])  # against the first, along the second
    'the genre of the films directed by X'
    """
    first = head_types[chain[0] >> 1]
    text = PLACEHOLDER if chain[0] & 1 or first == THING else f"the {first} {PLACEHOLDER}"
    for code in chain:
        said = phrases[code >> 1]
        text = said.against(text, plural(head_types[code >> 1])) if code & 1 else said.along(text)
    return text


def spaced(relation: str) -> str:
    """The words of a relation's name with blanks between them.

    >>> from core.graph.names.phrases import spaced
    >>> spaced("film.film.directed_by"), spaced("bornIn")
    ('film film directed by', 'born in')
    """
    return " ".join(_words(relation))


def _words(name: str) -> list[str]:
    return [word.lower() for word in _PARTS.findall(_CAMEL.sub(" ", name))]
