"""Words for relation names in both directions, from a table or by general rules.

`wording.py` finds the table of a graph.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from core.errors import BadInput

ENDING_PREPOSITIONS = frozenset("in of at on to from for with near into under over as".split())
_RELATION_WORD = re.compile(r"[^\W_]+")
_CAMEL_CASE = re.compile(r"(?<=[a-z])(?=[A-Z])")


def relation_words(
    relation: str, forward: bool = True, table: Mapping[str, tuple[str, str]] | None = None
) -> str:
    """Return a relation in words, along its triple (“directed by”) or against it (“directed”).

    `table` maps some relations to both texts. The words of another relation are those of its name.
    Of a dotted name, as in Freebase, or of an address only the last part is used.

    >>> from core.datasets.relations import relation_words
    >>> relation_words("film.film.directed_by"), relation_words("directedBy", forward=False)
    ('directed by', 'directed')
    """
    if table and relation in table:
        return table[relation][0 if forward else 1]
    last_part = relation.rsplit("/", 1)[-1].split("#")[-1].split(".")[-1]
    words = _RELATION_WORD.findall(_CAMEL_CASE.sub(" ", last_part))
    words = list(map(str.lower, words))
    text = " ".join(words)
    if forward or not words:
        return text or relation
    if words[-1] == "by" and len(words) > 1:
        return " ".join(words[:-1])
    if words[-1] in ENDING_PREPOSITIONS:
        return f"{text}, backwards"
    if words[0] in ("has", "have", "is", "in") and len(words) > 1:
        text = " ".join(words[1:])
    return f"{text} of"


def chain_words(
    steps: list[tuple[str, bool]], table: Mapping[str, tuple[str, str]] | None = None
) -> str:
    """Return a chain of relations in words, as in “starred in, then has genre”.

    A step is a relation, and True along its triple or False against it.
    """
    return ", then ".join(relation_words(relation, forward, table) for relation, forward in steps)


def read_relation_words(table: Mapping[str, object]) -> dict[str, tuple[str, str]]:
    """Check the table `relations` of a data set's description, and return it.

    It maps a relation to its words along the triple and against it. Raises BadInput if a relation
    does not have these two texts.
    """
    words_by_relation = {}
    for relation, pair in table.items():
        if (
            not isinstance(pair, list)
            or len(pair) != 2
            or not all(isinstance(text, str) and text.strip() for text in pair)
        ):
            raise BadInput(
                f"The words of the relation “{relation}” must be two texts: along the triple, and "
                "against it."
            )
        words_by_relation[relation] = (pair[0], pair[1])
    return words_by_relation
