"""Keys of the items that the board draws on documents.

A key is made of the kind and the id of an item. The same item has the same key in every lane, even
if the lanes run on different graphs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.types import Path


class Key(str):
    """Key of an item, made of its kind and its id.

    The `id` of a passage is the passage's id; that of an entity is its name. A key is a string,
    because it is a key of JSON objects, and has its parts as attributes.

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


def sorted_pair(first: Key, second: Key) -> tuple[Key, Key]:
    """Return two keys in sorted order, the same for both directions of an edge."""
    return (first, second) if first < second else (second, first)


def edge_id(first: Key, second: Key) -> str:
    """Return the id of the edge between two keys, in either order."""
    return " | ".join(sorted_pair(first, second))


def drawn_item(nodes: Sequence[Any], edges: Sequence[Any] = ()) -> dict[str, list]:
    """Return the nodes and edges by which an item is drawn.

    They are given by keys, or by ids in the picture of one graph.
    """
    return {"nodes": list(nodes), "edges": list(edges)}


def node_and_edge_ids(graph, path: Path) -> tuple[list[int], list[int]]:
    """Return the ids of a path's nodes and edges.

    They identify them in a picture of one graph. The function is a `PathPlacement`, so it has a
    parameter `graph`, which it does not need.
    """
    return list(path.nodes), list(path.edges)
