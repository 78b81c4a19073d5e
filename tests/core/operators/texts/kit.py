"""A document graph of five entities: A Christmas Carol in four chunks, with three communities.

Relations with their weights:

    Cratchit --works for (3)--> Scrooge --partner of (2)--> Marley
    Fred --nephew of (1)--> Scrooge
    Tim --son of (1)--> Cratchit
"""

from __future__ import annotations

from core.graph.building.text_graph import assemble, with_tables
from core.graph.columns import Table
from core.graph.store import Graph

NODES = {
    "Cratchit": ("person", "Scrooge's poor clerk.", [1, 2]),
    "Fred": ("person", "Scrooge's cheerful nephew.", [1]),
    "Marley": ("person", "Dead for seven years.", [0]),
    "Scrooge": ("person", "A rich and lonely man.", [0, 1, 2]),
    "Tim": ("person", "A lame son.", [2]),
}
TRIPLES = {
    ("Cratchit", "works for", "Scrooge"): (
        "Cratchit copies letters for Scrooge.",
        "work",
        3.0,
        [1, 2],
    ),
    ("Fred", "nephew of", "Scrooge"): ("Fred is the nephew of Scrooge.", "family", 1.0, [1]),
    ("Scrooge", "partner of", "Marley"): ("They shared a firm.", "work", 2.0, [0]),
    ("Tim", "son of", "Cratchit"): ("Tim is the youngest son.", "family", 1.0, [2]),
}
CHUNKS = (
    "Marley was dead, to begin with. Scrooge was his partner.",
    "Fred, the nephew of Scrooge, wished his uncle and the clerk Cratchit a merry Christmas.",
    "Tiny Tim, the son of Cratchit, who works for Scrooge, was lame.",
    "The turkey was as big as a boy.",
)
COMMUNITIES = (
    ("Scrooge and his circle", 0, -1, [0, 1, 2, 3, 4], "A miser and those around him.", 5.0),
    ("Firm", 1, 0, [2, 3], "The firm of Scrooge and Marley.", 8.0),
    ("Family", 1, 0, [0, 1, 4], "The family Cratchit and Fred.", 6.0),
)


def chunk_table() -> Table:
    """Four chunks of two documents: carol (0, 1, 2) and turkey (3)."""
    ids = ["carol#0", "carol#1", "carol#2", "turkey"]
    return Table.from_columns(
        id=ids,
        document=["carol", "carol", "carol", "turkey"],
        title=["", "", "", "The turkey"],
        text=CHUNKS,
        tokens=[len(text.split()) for text in CHUNKS],
    )


def story() -> Graph:
    """The document graph with its chunks and communities."""
    types, told, chunks = zip(*NODES.values())
    described, keywords, weights, sources = zip(*TRIPLES.values())
    edges = {"description": described, "keywords": keywords, "weight": weights, "chunks": sources}
    graph = assemble(
        "story",
        list(NODES),
        list(TRIPLES),
        {"type": types, "description": told, "chunks": chunks},
        edges,
        chunk_table(),
    )
    title, level, parent, members, report, rating = zip(*COMMUNITIES)
    table = Table.from_columns(
        title=title, level=level, parent=parent, members=members, report=report, rating=rating
    )
    return with_tables(graph, communities=table)


def plain() -> Graph:
    """A graph of the chunks alone."""
    return assemble("chunks", [], [], {}, {}, chunk_table())
