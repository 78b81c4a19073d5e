"""Seed entities of a question: those chosen by the user, else those found in the question."""

from __future__ import annotations

from collections.abc import Sequence

from core.errors import BadInput, UnknownEntity
from core.graph.names.lookup import name_lookup
from core.graph.protocol import KnowledgeGraph

# Largest number of characters of a question.
MAX_QUESTION_CHARACTERS = 2_000


def seeds_of(graph: KnowledgeGraph, text: str, entities: Sequence[str] = ()) -> tuple[int, ...]:
    """Return the nodes of `entities`, or without entities, those that the question `text` names.

    Raises
    ------
    UnknownEntity
        If an entity is not in the graph, or none is found in the text.
    BadInput
        If the question is empty or too long.
    """
    lookup = name_lookup(graph)
    if entities:
        return tuple(dict.fromkeys(lookup.find(entity) for entity in entities))
    nodes = tuple(
        dict.fromkeys(mention.node for mention in lookup.find_mentions(check_question(text)))
    )
    if not nodes:
        names = tuple(graph.node_name(node) for node, _ in lookup.search(text, 3))
        raise UnknownEntity(
            text, names, "Nothing in this graph matches the question; pick an entity to start at."
        )
    return nodes


def check_question(text: str) -> str:
    """Return the question without superfluous spaces.

    Raises
    ------
    BadInput
        If it is empty or too long.
    """
    text = " ".join(text.split())
    if not text:
        raise BadInput("Type a question first, or draw one from the set.")
    if len(text) > MAX_QUESTION_CHARACTERS:
        raise BadInput(
            f"A question of {len(text):,} characters is too long; at most {MAX_QUESTION_CHARACTERS:,}, "
            "please."
        )
    return text
