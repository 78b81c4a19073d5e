"""The content of an index in a form common to all tools.

Every reader returns this form.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from core.corpus.indexes.vectors import IndexVectors


@dataclass(frozen=True)
class IndexDocument:
    """A document of an index: the tool's `key`, title, text and file name.

    A field that the index lacks is empty.
    """

    key: str
    title: str = ""
    text: str = ""
    file: str = ""


@dataclass(frozen=True)
class IndexChunk:
    """A chunk with the key of its document, empty if the index names none.

    Readers return the chunks of a document in their order in it.
    """

    key: str
    text: str
    document: str = ""


@dataclass(frozen=True)
class IndexEntity:
    """An entity, and the keys of the chunks that mention it."""

    name: str
    type: str = ""
    description: str = ""
    chunks: tuple[str, ...] = ()


@dataclass(frozen=True)
class IndexRelation:
    """A relation between two named entities, and the keys of its chunks.

    `name` is empty if the tool gives the relation none. `keywords` are separated by commas.
    """

    head: str
    tail: str
    name: str = ""
    description: str = ""
    keywords: str = ""
    weight: float = 1.0
    chunks: tuple[str, ...] = ()


@dataclass(frozen=True)
class IndexCommunity:
    """A community with the names of its members.

    Parameters
    ----------
    level : 0 for the coarsest communities.
    parent : the key of the community that contains it; empty for none.
    report : the text of its report; empty for none.
    rating : importance from 0 to 10 by the report; 0 if it has none.
    """

    key: str
    level: int
    parent: str = ""
    title: str = ""
    members: tuple[str, ...] = ()
    report: str = ""
    rating: float = 0.0


@dataclass
class IndexContent:
    """The content of an index as read.

    Parameters
    ----------
    form : the form of the tool's files, such as a version; empty if there is only one.
    left_out : number of things that were found but left out, by a phrase that names them.
    notes : sentences on what was guessed.
    """

    form: str = ""
    documents: list[IndexDocument] = field(default_factory=list)
    chunks: list[IndexChunk] = field(default_factory=list)
    entities: list[IndexEntity] = field(default_factory=list)
    relations: list[IndexRelation] = field(default_factory=list)
    communities: list[IndexCommunity] = field(default_factory=list)
    vectors: list[IndexVectors] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
