"""What is drawn, by kind and id: the same item has the same key in every lane, whatever graph the
lane is on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.types import Path


class Key(str):
    """The key of an item: of a passage its id, of an entity its name. A text, as data of a browser
    needs it, that knows its parts.

    >>> from pages.parts.board.keys import Key
    >>> key = Key("chunk", "carol#0")
    >>> key, key.kind, key.id
    ('chunk carol#0', 'chunk', 'carol#0')
    """

    kind: str
    id: str

    def __new__(cls, kind: str, id: str) -> Key:
        key = super().__new__(cls, f"{kind} {id}")
        key.kind, key.id = kind, id
        return key


def pair(one: Key, other: Key) -> tuple[Key, Key]:
    """Two keys in the order that both directions of an edge between them share."""
    return (one, other) if one < other else (other, one)


def edge_id(one: Key, other: Key) -> str:
    """The id of the edge between two keys, in either order."""
    return " | ".join(pair(one, other))


def at(nodes: Sequence[Any], edges: Sequence[Any] = ()) -> dict[str, list]:
    """Where an item is in the picture."""
    return {"nodes": list(nodes), "edges": list(edges)}


def placed_by_id(graph, path: Path) -> tuple[list[int], list[int]]:
    """The nodes and edges of a path in a picture of one graph."""
    return list(path.nodes), list(path.edges)
