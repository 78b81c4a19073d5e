"""Where the recorded indexes lie, and how one is read."""

from __future__ import annotations

from pathlib import Path

from core.corpus.indexes.files import files_at_path
from core.corpus.indexes.index import IndexContent
from core.corpus.indexes.index_assembly import AssembledIndex, assemble_index
from core.corpus.indexes.tools import TOOLS, recognise_tool
from tests.peers.encoder import Encoder

RECORDED = Path(__file__).with_name("recorded")
HARBOUR = "Ann Lee built the harbour of Varna in 1902. The harbour lies on the Black Sea."
SHIP = "The Marie is a ship. Ann Lee owns the Marie, and Bo Holm is its captain. Bo Holm was born in Varna."
ENCODER = Encoder([HARBOUR, SHIP])  # that of the tools when they made the indexes that are recorded


def index_in(folder: Path) -> tuple[str, IndexContent]:
    """Which tool's index lies in a folder, and what its reader finds."""
    tool, files = recognise_tool(files_at_path(folder)[0], folder.name)
    return tool, TOOLS[tool].read(files)


def opened_from(folder: Path) -> AssembledIndex:
    """The documents and the graph of the index in a folder."""
    tool, index = index_in(folder)
    return assemble_index(index, tool, "index")


def nodes_of(opened: AssembledIndex) -> dict[str, tuple[str, str, list[int]]]:
    """The type, the description and the rows of the chunks of each entity by name."""
    graph, table = opened.graph, opened.graph.columns.nodes
    columns = zip(table.texts("type"), table.texts("description"), table.lists("chunks").lists())
    return dict(zip(graph.names(range(graph.n_nodes)), columns))


def edges_of(
    opened: AssembledIndex,
) -> dict[frozenset[str], tuple[str, str, str, float, list[int]]]:
    """The name, the description, the keywords, the weight and the rows of the chunks of each relation by its ends."""
    graph, table = opened.graph, opened.graph.columns.edges
    heads, relations, tails = graph.triples(range(graph.n_edges))
    names = graph.names(range(graph.n_nodes))
    columns = zip(
        table.texts("description"),
        table.texts("keywords"),
        table.numbers("weight").tolist(),
        table.lists("chunks").lists(),
    )
    ends = zip(heads.tolist(), relations.tolist(), tails.tolist(), columns)
    return {
        frozenset((names[head], names[tail])): (graph.relation_names[relation], *about)
        for head, relation, tail, about in ends
    }
