"""The entities at which retrieval begins: those that are named, or else those that a question mentions."""

from __future__ import annotations

from collections.abc import Sequence

from core.errors import BadInput, UnknownEntity
from core.graph.names.lookup import names
from core.graph.protocol import KnowledgeGraph

LONGEST_QUESTION = 2_000  # characters


def seeds_of(graph: KnowledgeGraph, text: str, entities: Sequence[str] = ()) -> tuple[int, ...]:
    """The nodes of the named entities, or of those mentioned in the text. Raises UnknownEntity, BadInput."""
    known = names(graph)
    if entities:
        return tuple(dict.fromkeys(known.find(entity) for entity in entities))
    found = tuple(dict.fromkeys(mention.node for mention in known.mentions(check_question(text))))
    if not found:
        near = tuple(graph.node_name(node) for node, _ in known.search(text, 3))
        raise UnknownEntity(
            text, near, "No entity of the graph was found in the question; name one to start from."
        )
    return found


def check_question(text: str) -> str:
    """The question, trimmed. Raises BadInput where it is empty or far too long."""
    text = " ".join(text.split())
    if not text:
        raise BadInput("Type a question first, or draw one from the set.")
    if len(text) > LONGEST_QUESTION:
        raise BadInput(
            f"A question of {len(text):,} characters is too long; at most {LONGEST_QUESTION:,}, please."
        )
    return text
