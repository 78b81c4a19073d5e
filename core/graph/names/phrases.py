"""English phrases for relation names and relation chains, by rules that fit any graph."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.graph.algorithms.chains import Chain

ENTITY_PLACEHOLDER = "X"  # stands for the question entity
FALLBACK_NOUN = "thing"
PHRASE_PREPOSITIONS = frozenset("in of at on to from for with near into under over as".split())
NAME_WORD = re.compile(r"[^\W_]+")
LOWER_TO_UPPER = re.compile(r"(?<=[a-z])(?=[A-Z])")


@dataclass(frozen=True)
class Phrase:
    """English phrase for a relation.

    Parameters
    ----------
    noun : describes a triple's tail relative to its head, such as “director”.
    connector : connects the heads to the tail, such as “directed by”, “in language”, “with genre”.
    head_type : the type of the heads if the relation's name contains it, else empty.
    """

    noun: str
    connector: str
    head_type: str = ""

    def describe_tails(self, heads: str) -> str:
        """Return the phrase for the tails of some heads: “the director of X”."""
        return f"the {self.noun} of {heads}"

    def describe_heads(self, tails: str, types: str) -> str:
        """Return the phrase for the heads of some tails: “the films directed by X”.

        `types` is the type of the heads in the plural.
        """
        return f"the {types} {self.connector} {tails}"


def relation_phrase(relation: str) -> Phrase:
    """Return the phrase of a relation name.

    Names may look like “directed_by”, “has_genre”, “in_language”, “bornIn” or
    “film.film.release_date”. A dotted name with a domain and a type, as in Freebase, contains the
    type of the heads. Only the last part of an IRI counts. A “has”, “have” or “is” at the beginning
    is left out.

    >>> from core.graph.names.phrases import relation_phrase
    >>> relation_phrase("directed_by")
    Phrase(noun='director', connector='directed by', head_type='')
    >>> relation_phrase("film.film.genre")
    Phrase(noun='genre', connector='with genre', head_type='film')
    """
    parts = relation.rsplit("/", 1)[-1].split("#")[-1].split(".")
    head_type = spaced_words(parts[-2]) if len(parts) > 2 else ""
    words = _words(parts[-1]) or [FALLBACK_NOUN]
    if len(words) > 1 and words[0] in ("has", "have", "is"):
        words = words[1:]
    name = " ".join(words)
    if words[-1] == "by" and len(words) > 1:  # directed by -> director
        return Phrase(" ".join([*words[:-2], agent_noun(words[-2])]), name, head_type)
    if words[0] == "in" and len(words) > 1:
        return Phrase(" ".join(words[1:]), name, head_type)
    if words[-1] in PHRASE_PREPOSITIONS:
        noun = f"place or thing {name}" if len(words) > 1 else FALLBACK_NOUN
        return Phrase(noun, name, head_type)
    return Phrase(name, f"with {name}", head_type)


def agent_noun(participle: str) -> str:
    """Return the agent noun of a participle, such as “director” for “directed”.

    Irregular participles are returned unchanged.

    >>> from core.graph.names.phrases import agent_noun
    >>> agent_noun("directed"), agent_noun("written"), agent_noun("produced")
    ('director', 'writer', 'producer')
    """
    if participle.endswith("tten"):
        return participle[:-3] + "er"
    if participle.endswith("ed"):
        stem = participle[:-2]
        return stem + ("or" if stem.endswith(("ct", "at", "it")) else "er")
    return participle


def plural(noun: str) -> str:
    """Return the plural of an English noun, by the common rules.

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
    """Return a chain in words: “the genre of the films directed by X”.

    The last step is named first. If the first step goes from head to tail, the type of its heads is
    added: “the director of the film X”.

    Parameters
    ----------
    chain : a code for each step: twice the number of the relation, plus 1 for a step from tail to
        head.
    phrases : the phrase of each relation.
    head_types : the type of the heads of each relation, such as “film”.

    Examples
    --------
    >>> from core.graph.names.phrases import chain_text, relation_phrase
    >>> phrases = [relation_phrase("directed_by"), relation_phrase("has_genre")]
    >>> chain_text((1, 2), phrases, ["film", "film"])  # against the first, along the second
    'the genre of the films directed by X'
    """
    first_type = head_types[chain[0] >> 1]
    text = ENTITY_PLACEHOLDER
    if not chain[0] & 1 and first_type != FALLBACK_NOUN:
        text = f"the {first_type} {ENTITY_PLACEHOLDER}"
    for code in chain:
        phrase = phrases[code >> 1]
        if code & 1:
            text = phrase.describe_heads(text, plural(head_types[code >> 1]))
        else:
            text = phrase.describe_tails(text)
    return text


def spaced_words(relation: str) -> str:
    """Return the words of a relation's name, separated by spaces.

    >>> from core.graph.names.phrases import spaced_words
    >>> spaced_words("film.film.directed_by"), spaced_words("bornIn")
    ('film film directed by', 'born in')
    """
    return " ".join(_words(relation))


def _words(name: str) -> list[str]:
    return [word.lower() for word in NAME_WORD.findall(LOWER_TO_UPPER.sub(" ", name))]
