"""Where a person is in a graph of texts: the entities looked at one after the other, and the
communities opened one within the other."""

from __future__ import annotations

from core.errors import shorten
from core.graph.columns import Rows, Table
from core.graph.store import Graph
from core.graph.texts import leaves
from pages.parts.shared.session_state import session
from pages.parts.shared.wording import tr
from pages.parts.texts.passage import where

# ways to look at a graph
ENTITIES, COMMUNITIES, CHUNKS, BESIDE = (
    tr("Entities"),
    tr("Communities"),
    tr("Chunk by chunk"),
    tr("Beside another graph"),
)
LONGEST = 40  # characters of a name on a button


def trail(graph: Graph) -> list[int]:
    """The entities that were looked at one after the other, the present one last."""
    return session.texts_trails.setdefault(graph.digest, [])


def go(graph: Graph, node: int) -> None:
    """Look at an entity; one of the way so far is gone back to."""
    been = trail(graph)
    if node in been:
        del been[been.index(node) + 1 :]
    else:
        been.append(node)
    session.texts_view = ENTITIES
    session.texts_near_page = session.texts_passage_page = 0


def of_chunks(graph: Graph) -> bool:
    """Whether the nodes of a graph are chunks, and summaries of such, as in a passage graph or a
    tree."""
    return graph.columns.nodes is not None and graph.columns.nodes.has("level")


def is_tree(graph: Graph) -> bool:
    """Whether some nodes are summaries of others."""
    return of_chunks(graph) and bool(graph.columns.tables()["nodes"].numbers("level").any())


def levels(graph: Graph) -> list[str]:
    """What each node of a tree is, in words."""
    return [
        tr("chunk") if level == 0 else tr("summary, level {level}", level=level)
        for level in graph.columns.tables()["nodes"].numbers("level").tolist()
    ]


def things(graph: Graph) -> str:
    """What the nodes of a graph are, in a word."""
    if is_tree(graph):
        return tr("Chunks and summaries")
    if of_chunks(graph):
        return tr("Chunks")
    return tr("Entities")


def own_chunks(graph: Graph, nodes) -> dict[int, int]:
    """Of some nodes those that are chunks themselves, each with its row."""
    return leaves(graph, nodes) if of_chunks(graph) else {}


def label(graph: Graph, node: int) -> str:
    """What a node is called: its name; of a chunk its title and place."""
    row = own_chunks(graph, [node]).get(node)
    if row is None:
        return graph.node_name(node)
    return ", ".join(filter(None, where(graph.columns.tables()["chunks"], row)))


def way_down(graph: Graph) -> list[int]:
    """The rows of the communities that were opened one within the other."""
    return session.texts_communities.setdefault(graph.digest, [])


def open_community(graph: Graph, way: list[int]) -> None:
    """Open the last of some communities that lie one within the other; all are closed where there
    is none."""
    way_down(graph)[:] = way
    session.texts_view, session.texts_member_page = COMMUNITIES, 0


def communities_of(graph: Graph, node: int) -> list[int]:
    """The rows of the communities that an entity is in, the coarsest first."""
    table = graph.columns.communities
    if table is None:
        return []
    rows: Rows = graph.derived.once(
        "communities of", "nodes", lambda: table.lists("members").inverse(graph.n_nodes)
    )
    levels = table.numbers("level")
    return sorted(rows[node].tolist(), key=lambda row: (levels[row], row))


def community_title(table: Table, row: int) -> str:
    """What a community is called."""
    return table.text("title", row) or tr("Community {number}", number=row + 1)


def short(name: str) -> str:
    """A name that fits on a button."""
    return shorten(name, LONGEST)
