"""Picture of a comparison on a graph of triples.

It has nodes with positions and panels, and edges.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from core.datasets.relations import relation_words
from core.diagnosis.funnel import gold_nodes
from core.engine import MethodComparison
from core.graph.algorithms.layout import Position, layered_positions, node_positions
from core.graph.algorithms.neighbourhood import induced_edges
from core.types import Path, Subgraph
from pages.parts.board.main_nodes import main_nodes
from pages.parts.board.node_panel import RelationWords, lane_fates, node_relations
from pages.parts.board.paths import retrieved_state

USUAL_PICTURE_NODES = 48  # nodes of a picture, unless paths, seeds and answers need more
MAX_PICTURE_NODES = 150  # most nodes of a picture, unless the shown paths have more
MAX_SCANNED_EDGES = 200_000  # with more outgoing edges, a compiled function is used

PathLists = Sequence[Sequence[Path]]  # paths of each lane
DrawnItems = Collection[Mapping[str, Any]]  # ranked items, as data with `nodes` and `edges`
NO_ITEMS: DrawnItems = ()


def answer_nodes(comparison: MethodComparison, answers: Sequence[str] | None = None) -> set[int]:
    """Return the nodes that are named like an answer.

    By default the known answers count.
    """
    question = comparison.ask.question
    nodes: set[int] = set()
    for answer in question.answers if answers is None else answers:
        nodes.update(gold_nodes(comparison.graph, *question.answer_names(answer)))
    return nodes


class Picture:
    """Picture of one comparison, drawn again as its lanes advance.

    A node that was drawn once keeps its position.
    """

    def __init__(
        self,
        comparison: MethodComparison,
        words: RelationWords,
        positions: Mapping[tuple[str, int], Position] | None = None,
    ):
        """Make the picture.

        Parameters
        ----------
        words : by relation, its words forward and backward.
        positions : the `positions` of another picture of the same graph, which may have other
            edits.
        """
        self._comparison = comparison
        self._words = words
        self._old_positions = dict(positions or {})
        self._positions: dict[int, Position] = self._map_positions(self._old_positions)
        self._node_data: dict[int, dict[str, Any]] = {}

    @property
    def positions(self) -> dict[tuple[str, int], Position]:
        """Positions by the unedited graph's digest and node id.

        Nodes that are no longer drawn are included, in case they return.
        """
        digest, original_ids = self._unedited_graph()
        positions = dict(self._old_positions)
        for node, position in self._positions.items():
            original_id = node if original_ids is None else original_ids[node]
            positions[digest, original_id] = position
        return positions

    def _map_positions(self, positions: Mapping[tuple[str, int], Position]) -> dict[int, Position]:
        """Return the positions of another picture by the node ids of this graph."""
        digest, original_ids = self._unedited_graph()
        position_by_id = {
            original_id: position
            for (graph_digest, original_id), position in positions.items()
            if graph_digest == digest
        }
        if original_ids is None:
            return position_by_id
        node_by_id = {original_id: node for node, original_id in enumerate(original_ids)}
        # In the order of the other picture, because nodes with a position are drawn in this order.
        return {
            node_by_id[original_id]: position
            for original_id, position in position_by_id.items()
            if original_id in node_by_id
        }

    def _unedited_graph(self) -> tuple[str, list[int] | None]:
        """Return the unedited graph's digest, and each node's id there.

        The ids are None if the graph has no edits, because they are then the same.
        """
        graph = self._comparison.graph
        origin = graph.edited_from
        if origin is None:
            return graph.digest, None
        return origin.graph.digest, origin.nodes.tolist()

    def layout(
        self,
        all_paths: list[Path],
        best_paths: PathLists,
        lost_paths: PathLists,
        named_answers: Sequence[str] = (),
        hits: DrawnItems = NO_ITEMS,
    ) -> dict[str, Any]:
        """Return the data of the nodes and edges to draw.

        Parameters
        ----------
        all_paths : all paths, also those of the replays.
        best_paths, lost_paths : for each lane the paths that it shows, and paths to the known
            answers that it lost.
        named_answers : the known answers that the summary of all lanes mentions.
        hits : other ranked items, with their `nodes` and `edges`.
        """
        ask = self._comparison.ask
        nodes = self._nodes_to_draw(
            shown_paths=list(chain(*best_paths, *lost_paths)),
            all_paths=all_paths,
            hits=list(chain.from_iterable(hit["nodes"] for hit in hits)),
        )
        if not nodes:
            return {"nodes": [], "edges": []}
        triples = _triples_between(self._comparison.graph, nodes)
        used = _used_edges(nodes, all_paths, hits)
        subgraphs = self._subgraphs()
        edges = [edge for edge in triples if edge in used or _has_edge(subgraphs, edge)]
        # If only the seeds were drawn so far, the graph is laid out anew.
        old_positions = self._positions if len(self._positions) > len(ask.seeds) else None
        self._positions = node_positions(
            nodes, [triples[edge][:2] for edge in edges], old_positions
        )
        named_nodes = answer_nodes(self._comparison, named_answers)
        main_node_ids = main_nodes(
            ask.seeds, best_paths, lost_paths, answer_nodes(self._comparison), named_nodes
        )
        used_pairs = [triples[edge][:2] for edge in edges if edge in used]
        main_positions = layered_positions(main_node_ids, used_pairs, ask.seeds)
        return {
            "nodes": self._drawn_nodes(nodes, main_positions, named_nodes),
            "edges": [self._edge_data(edge, *triples[edge]) for edge in edges],
        }

    def _drawn_nodes(
        self, nodes: list[int], main_positions: dict[int, Position], named_nodes: set[int]
    ) -> list[dict[str, Any]]:
        """Return the data of the nodes.

        Main nodes have a second position `at`, for the picture of the main nodes alone. Answers
        that the summary mentions are marked `named`. The content of a node's panel is in `about`.
        """
        comparison, graph = self._comparison, self._comparison.graph
        self._node_data |= node_relations(
            graph, [node for node in nodes if node not in self._node_data], self._words
        )
        answers = answer_nodes(comparison)
        seeds = set(comparison.ask.seeds)
        lanes = lane_fates(comparison.lanes, nodes)
        node_rows = []
        for node, name in zip(nodes, graph.names(nodes)):
            x, y = self._positions[node]
            role = "plain"
            if node in seeds:
                role = "question"
            elif node in answers:
                role = "answer"
            extras: dict[str, Any] = {}
            if node in main_positions:
                extras["at"] = list(main_positions[node])
            if node in named_nodes:
                extras["named"] = True
            node_rows.append(
                {
                    "id": node,
                    "name": name,
                    "x": x,
                    "y": y,
                    **extras,
                    "role": role,
                    "about": {**self._node_data[node], "lanes": lanes[node]},
                }
            )
        return node_rows

    def _edge_data(self, edge: int, source: int, target: int, relation: int) -> dict[str, Any]:
        name = self._comparison.graph.relation_names[relation]
        return {
            "id": edge,
            "source": source,
            "target": target,
            "relation": name,
            "words": relation_words(name, True, self._words),
        }

    def _nodes_to_draw(
        self, shown_paths: list[Path], all_paths: list[Path], hits: list[int]
    ) -> list[int]:
        """Return the nodes to draw, in order of importance.

        They are the seeds, the nodes of shown paths, the retrieved answers, the nodes of all other
        paths, the hits, the nodes that are drawn already, and the best-scored neighbours. The last
        four are added only as long as the picture is small enough.
        """
        shown_nodes = _nodes_of(shown_paths)
        subgraphs = self._subgraphs()
        chosen = dict.fromkeys([*self._comparison.ask.seeds, *shown_nodes])
        chosen |= dict.fromkeys(self._retrieved_answers(subgraphs))
        _add_up_to(chosen, _nodes_of(all_paths), MAX_PICTURE_NODES)
        _add_up_to(chosen, hits, USUAL_PICTURE_NODES)
        old_nodes = (node for node in self._positions if _has_node(subgraphs, node))
        _add_up_to(chosen, old_nodes, USUAL_PICTURE_NODES)
        for subgraph in subgraphs:
            neighbours = _neighbours(self._comparison.graph, subgraph, chosen)
            _add_up_to(chosen, neighbours, USUAL_PICTURE_NODES)
        return list(chosen)[: max(MAX_PICTURE_NODES, len(set(shown_nodes)))]

    def _subgraphs(self) -> list[Subgraph]:
        """Return the subgraphs that the lanes have retrieved."""
        subgraphs = (retrieved_state(lane).subgraph for lane in self._comparison.lanes)
        return [subgraph for subgraph in subgraphs if subgraph is not None]

    def _retrieved_answers(self, subgraphs: Sequence[Subgraph]) -> list[int]:
        """Return the nodes of the known answers that are in a retrieved subgraph."""
        retrieved = []
        for answer in self._comparison.ask.question.answers:
            for node in sorted(answer_nodes(self._comparison, [answer])):
                if _has_node(subgraphs, node):
                    retrieved.append(node)
        return retrieved


def _nodes_of(paths: Iterable[Path]) -> list[int]:
    """Return the nodes of all paths in order, with repeats."""
    return list(chain.from_iterable(path.nodes for path in paths))


def _has_node(subgraphs: Iterable[Subgraph], node: int) -> bool:
    """Return whether a node is in one of the subgraphs."""
    return any(node in subgraph for subgraph in subgraphs)


def _has_edge(subgraphs: Iterable[Subgraph], edge: int) -> bool:
    """Return whether an edge is in one of the subgraphs."""
    return any(subgraph.has_edge(edge) for subgraph in subgraphs)


def _add_up_to(chosen: dict[int, None], nodes: Iterable[int], limit: int) -> None:
    """Add nodes to the chosen nodes until there are `limit` of them."""
    for node in nodes:
        if len(chosen) >= limit:
            break
        chosen.setdefault(node)


def _used_edges(nodes: Iterable[int], paths: Iterable[Path], hits: DrawnItems) -> set[int]:
    """Return the edges of hits and of completely drawn paths."""
    drawn_nodes = set(nodes)
    used: set[int] = set()
    for path in paths:
        if drawn_nodes.issuperset(path.nodes):
            used.update(path.edges)
    for hit in hits:
        used.update(hit["edges"])
    return used


def _triples_between(graph, nodes: list[int]) -> dict[int, tuple[int, int, int]]:
    """Return head, tail and relation of each edge between these nodes, by edge."""
    edges = edges_between(graph, np.sort(np.asarray(nodes, np.int64)))
    heads, relations, tails = (part.tolist() for part in graph.triples(edges))
    return dict(zip(edges.tolist(), zip(heads, tails, relations)))


def edges_between(graph, nodes: np.ndarray) -> np.ndarray:
    """Return the edges between these nodes, ascending.

    `induced_edges` is compiled and takes seconds to load, so it is used only if the nodes have more
    than `MAX_SCANNED_EDGES` outgoing edges.
    """
    if graph.degrees(nodes, "out").sum() > MAX_SCANNED_EDGES:
        return induced_edges(graph, nodes)
    steps = graph.steps_from(nodes, "out")
    return np.unique(steps.edges[np.isin(steps.nodes, nodes)])


def _neighbours(graph, subgraph, chosen: dict[int, None]) -> list[int]:
    """Return neighbours of the chosen nodes in the subgraph, best score first."""
    heads, _, tails = graph.triples(subgraph.edges)
    start_nodes = np.fromiter(chosen, np.int64, len(chosen))
    neighbours = np.union1d(tails[np.isin(heads, start_nodes)], heads[np.isin(tails, start_nodes)])
    neighbours = np.setdiff1d(neighbours, start_nodes)
    if subgraph.scores is None or not len(neighbours):
        return [int(node) for node in neighbours]
    scores = subgraph.scores[np.searchsorted(subgraph.nodes, neighbours)]
    return [int(neighbours[i]) for i in np.lexsort((neighbours, -scores))]
