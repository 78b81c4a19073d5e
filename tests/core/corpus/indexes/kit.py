"""Recorded indexes of other tools, and helpers to read them."""

from __future__ import annotations

from pathlib import Path

from core.corpus.indexes.files import files_at_path
from core.corpus.indexes.index import IndexContent
from core.corpus.indexes.index_assembly import AssembledIndex, assemble_index
from core.corpus.indexes.tools import TOOLS, recognise_tool
from tests.peers.encoder import Encoder

RECORDED = Path(__file__).with_name("recorded")
HARBOUR = "Ann Lee built the harbour of Varna in 1902. The harbour lies on the Black Sea."
SHIP = (
    "The Marie is a ship. Ann Lee owns the Marie, and Bo Holm is its captain. Bo Holm was "
    "born in Varna."
)
ENCODER = Encoder([HARBOUR, SHIP])  # The encoder that the tools used for the recorded indexes.


def index_in(folder: Path) -> tuple[str, IndexContent]:
    """Name of the tool whose index lies in a folder, and the content of the index."""
    tool, files = recognise_tool(files_at_path(folder)[0], folder.name)
    return tool, TOOLS[tool].read_files(files)


def opened_from(folder: Path) -> AssembledIndex:
    """Documents and graph of the index in a folder."""
    tool, index = index_in(folder)
    return assemble_index(index, tool, "index")


def nodes_of(opened: AssembledIndex) -> dict[str, tuple[str, str, list[int]]]:
    """Type, description and chunk rows of each entity, by name."""
    graph, table = opened.graph, opened.graph.columns.nodes
    columns = zip(
        table.texts("type"), table.texts("description"), table.id_lists("chunks").to_lists()
    )
    return dict(zip(graph.names(range(graph.n_nodes)), columns))


def edges_of(
    opened: AssembledIndex,
) -> dict[frozenset[str], tuple[str, str, str, float, list[int]]]:
    """Columns of each relation, by the set of its two ends.

    The columns are name, description, keywords, weight and chunk rows.
    """
    graph, table = opened.graph, opened.graph.columns.edges
    heads, relations, tails = graph.triples(range(graph.n_edges))
    names = graph.names(range(graph.n_nodes))
    columns = zip(
        table.texts("description"),
        table.texts("keywords"),
        table.numbers("weight").tolist(),
        table.id_lists("chunks").to_lists(),
    )
    ends = zip(heads.tolist(), relations.tolist(), tails.tolist(), columns)
    return {
        frozenset((names[head], names[tail])): (graph.relation_names[relation], *about)
        for head, relation, tail, about in ends
    }
