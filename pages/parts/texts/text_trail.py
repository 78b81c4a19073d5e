"""Position of the user in a graph of texts: visited entities and opened communities."""

from __future__ import annotations

from core.errors import shorten
from core.graph.columns import IdLists, Table
from core.graph.store import Graph
from core.graph.texts import chunk_nodes
from pages.parts.shared.session_state import session
from pages.parts.shared.wording import tr
from pages.parts.texts.passage import passage_position

# Views of a graph, chosen above it.
MAP_VIEW = tr("Picture")
ENTITIES_VIEW = tr("Table")
COMMUNITIES_VIEW = tr("Communities")
# Views that a card opens in their place.
CHUNKS_VIEW = tr("How it was built")
COMPARISON_VIEW = tr("Compare with another graph")
MERGES_VIEW = tr("Duplicate names")
ADVICE_VIEW = tr("Do I need a graph?")
MAX_BUTTON_CHARACTERS = 40  # most characters of a name on a button


def visited_entities(graph: Graph) -> list[int]:
    """Return the entities that were visited, the present one last.

    The list is the one in the session, so changes of it are kept.
    """
    return session.texts_trails.setdefault(graph.digest, [])


def go_to_entity(graph: Graph, node: int) -> None:
    """Go to an entity, or back to it if it was visited before."""
    visited = visited_entities(graph)
    if node in visited:
        del visited[visited.index(node) + 1 :]
    else:
        visited.append(node)
    session.texts_near_page = session.texts_passage_page = 0


def has_passage_nodes(graph: Graph) -> bool:
    """Return whether the nodes are passages and summaries, as in passage graphs and trees."""
    return graph.columns.nodes is not None and graph.columns.nodes.has_column("level")


def is_tree(graph: Graph) -> bool:
    """Return whether some nodes are summaries of others."""
    return has_passage_nodes(graph) and bool(graph.columns.tables()["nodes"].numbers("level").any())


def level_names(graph: Graph) -> list[str]:
    """Return the name of the level of each node of a tree."""
    return [
        tr("chunk") if level == 0 else tr("summary, level {level}", level=level)
        for level in graph.columns.tables()["nodes"].numbers("level").tolist()
    ]


def node_noun(graph: Graph) -> str:
    """Return the plural noun for the nodes of a graph."""
    if is_tree(graph):
        return tr("Chunks and summaries")
    if has_passage_nodes(graph):
        return tr("Chunks")
    return tr("Entities")


def rows_of_passage_nodes(graph: Graph, nodes) -> dict[int, int]:
    """Return the row of each node that is a passage.

    The rows are by node. Other nodes are left out.
    """
    return chunk_nodes(graph, nodes) if has_passage_nodes(graph) else {}


def node_label(graph: Graph, node: int) -> str:
    """Return the name of a node.

    A passage is named by its title and position.
    """
    row = rows_of_passage_nodes(graph, [node]).get(node)
    if row is None:
        return graph.node_name(node)
    return ", ".join(filter(None, passage_position(graph.columns.tables()["chunks"], row)))


def opened_communities(graph: Graph) -> list[int]:
    """Return the rows of the communities that were opened, outer first.

    The list is the one in the session, so changes of it are kept.
    """
    return session.texts_communities.setdefault(graph.digest, [])


def open_community(graph: Graph, rows: list[int]) -> None:
    """Open the last of some nested communities, given outer first.

    An empty list closes all.
    """
    opened_communities(graph)[:] = rows
    session.texts_view, session.texts_member_page = COMMUNITIES_VIEW, 0


def communities_of(graph: Graph, node: int) -> list[int]:
    """Return the rows of the communities of an entity, coarsest first."""
    table = graph.columns.communities
    if table is None:
        return []
    rows: IdLists = graph.derived.get_or_make(
        "communities of", "nodes", lambda: table.id_lists("members").invert(graph.n_nodes)
    )
    levels = table.numbers("level")
    return sorted(rows[node].tolist(), key=lambda row: (levels[row], row))


def community_title(table: Table, row: int) -> str:
    """Return the title of the community in a row.

    Without one, it is its number.
    """
    return table.text("title", row) or tr("Community {number}", number=row + 1)


def button_name(name: str) -> str:
    """Return a name that fits on a button."""
    return shorten(name, MAX_BUTTON_CHARACTERS)
