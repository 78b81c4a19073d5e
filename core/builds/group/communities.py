"""Operator of stage “group” that finds a hierarchy of communities of entities by Leiden."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.builds.base import BuildContext, BuildState, SampledOperator
from core.graph.algorithms.hierarchy import hierarchical_communities, nest_communities
from core.graph.algorithms.igraph_library import community_notes
from core.graph.building.text_graph import with_tables
from core.graph.columns import Table
from core.graph.store import Graph
from core.graph.texts import edge_weights
from core.parameters import param

MAX_TITLE_MEMBERS = 3  # members in the title of a community


@dataclass(frozen=True, repr=False)
class Communities(SampledOperator):
    """Communities by hierarchical Leiden on edge weights.

    Communities with more than `max_size` entities are split again, on the next level. Microsoft's
    GraphRAG uses 10, on the largest connected component. The title of a community names its best
    connected members. Its report is empty until `Reports` writes it. Communities that ship with the
    corpus are taken from there, so that shipped reports fit them.
    """

    stage = "group"
    title = "communities by Leiden"
    reads, writes = ("graph",), ("graph", "communities")
    draws = True

    max_size: int = param(
        10,
        "Largest community",
        "Larger ones are split where possible.",
        low=2,
        high=100_000,
    )
    component: str = param(
        "largest",
        "Component",
        "Group all entities, or only the largest component.",
        choices=("largest", "all"),
    )

    def apply(self, state: BuildState, ctx: BuildContext) -> BuildState:
        assert state.graph is not None  # a line without a graph is refused
        graph = state.graph
        ctx.watch.report("Finding communities")
        groups = ctx.clusters.find_or_make(
            repr(self), [graph.digest], lambda: self._find_members(graph, ctx)
        )
        communities = nest_communities(graph.n_nodes, groups)
        ctx.report.counts["communities"] = len(communities)
        table = Table.from_columns(
            level=[community.level for community in communities],
            parent=[community.parent for community in communities],
            title=[title_of(graph, community.members) for community in communities],
            members=[community.members for community in communities],
            report=[""] * len(communities),
            rating=[0.0] * len(communities),
        )
        return state.replace(graph=with_tables(graph, communities=table))

    def words(self) -> str:
        return f"communities of {self.max_size:,} at most"

    def _find_members(self, graph: Graph, ctx: BuildContext) -> list[np.ndarray]:
        """Return the members of each community, coarsest level first."""
        for note in community_notes():
            ctx.report.note(note)
        heads, _, tails = graph.triples(np.arange(graph.n_edges))
        communities = hierarchical_communities(
            graph.n_nodes,
            heads,
            tails,
            edge_weights(graph),
            self.max_size,
            self.component == "largest",
            ctx.watch,
            self.seed,
        )
        return [community.members for community in communities]


def best_connected(graph: Graph, members: np.ndarray, limit: int) -> list[int]:
    """Return the nodes of highest degree among some nodes.

    Parameters
    ----------
    graph : the graph.
    members : node ids, int64.
    limit : largest number of nodes.

    Returns
    -------
    Node ids, ordered by (-degree, id).
    """
    return members[np.lexsort((members, -graph.degrees(members)))][:limit].tolist()


def title_of(graph: Graph, members: np.ndarray) -> str:
    """Return the names of the best connected members.

    Parameters
    ----------
    graph : the graph.
    members : node ids of a community, int64.

    Returns
    -------
    At most `MAX_TITLE_MEMBERS` names, separated by commas.
    """
    return ", ".join(graph.names(best_connected(graph, members, MAX_TITLE_MEMBERS)))
