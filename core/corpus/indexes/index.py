"""An index of another tool as plain data, whatever the tool: the common form into which every reader puts what it finds."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from core.corpus.indexes.vectors import IndexVectors


@dataclass(frozen=True)
class Text:
    """A document of an index: the tool's `key`, a title, the text and the name of its file.

    What the index does not have is empty.
    """

    key: str
    title: str = ""
    text: str = ""
    file: str = ""


@dataclass(frozen=True)
class Chunk:
    """A chunk with the key of its document, empty where the index names none. Chunks come in the order of their documents."""

    key: str
    text: str
    document: str = ""


@dataclass(frozen=True)
class Entity:
    """An entity, and the keys of the chunks that speak of it."""

    name: str
    type: str = ""
    description: str = ""
    chunks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Relation:
    """A relation between two entities by their names; `name` is its own, empty where the tool gives none."""

    head: str
    tail: str
    name: str = ""
    description: str = ""
    keywords: str = ""
    weight: float = 1.0
    chunks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Community:
    """A community with the names of its members; `parent` is the key of the one that it is a part of, `level` 0 for the coarsest, `rating`
    from 0 to 10."""

    key: str
    level: int
    parent: str = ""
    title: str = ""
    members: tuple[str, ...] = ()
    report: str = ""
    rating: float = 0.0


@dataclass
class Index:
    """What a reader found. `form` says which form of the tool's files it was, `left_out` counts what was there and is not taken, `notes`
    are sentences on what was guessed."""

    form: str = ""
    documents: list[Text] = field(default_factory=list)
    chunks: list[Chunk] = field(default_factory=list)
    entities: list[Entity] = field(default_factory=list)
    relations: list[Relation] = field(default_factory=list)
    communities: list[Community] = field(default_factory=list)
    vectors: list[IndexVectors] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
