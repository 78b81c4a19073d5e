"""A person's own solved questions, as the case memory asks for them. The floor above says where they are, so that imports only go down."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from core.types import Question

_read: Callable[[str], Sequence[Question]] = lambda digest: ()


def come_from(read: Callable[[str], Sequence[Question]]) -> None:
    """From now on, own solved questions of the graph with a digest are what `read(digest)` gives."""
    global _read
    _read = read


def solved(digest: str) -> tuple[Question, ...]:
    """The person's own solved questions of a graph, none where nobody said where they are."""
    return tuple(_read(digest))
