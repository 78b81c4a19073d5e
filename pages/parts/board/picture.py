"""Picture of the graph of a comparison: its nodes, their positions and their panels."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from core.datasets.relations import relation_words
from core.diagnosis.funnel import gold_nodes
from core.engine import MethodComparison
from core.graph.algorithms.layout import Position, layered_positions, node_positions
from core.graph.algorithms.neighbourhood import induced_edges
from core.types import Path
from pages.parts.board.main_nodes import main_nodes
from pages.parts.board.node_panel import RelationWords, lane_fates, node_relations
from pages.parts.board.paths import retrieved_state

USUAL_PICTURE_NODES = 48  # nodes of a picture, unless paths, seeds and answers need more
MAX_PICTURE_NODES = 150  # most nodes of a picture, unless the shown paths have more
MAX_SCANNED_EDGES = 200_000  # edges of the drawn nodes up to which numpy finds those between them

PathLists = Sequence[Sequence[Path]]  # paths of each lane
Data = Collection[Mapping[str, Any]]
NO_DATA: Data = ()


def answer_nodes(comparison: MethodComparison, answers: Sequence[str] | None = None) -> set[int]:
    """Return the nodes with a name of the known answers.

    If answers are given, they replace the known ones.
    """
    question = comparison.ask.question
    some = question.answers if answers is None else answers
    return {
        node for answer in some for node in gold_nodes(comparison.graph, *question.names(answer))
    }


class Picture:
    """Picture of one comparison, drawn again as its lanes advance.

    A node that was drawn once keeps its position.
    """

    def __init__(
        self,
        comparison: MethodComparison,
        words: RelationWords,
        places: Mapping[tuple[str, int], Position] | None = None,
    ):
        """Make the picture.

        `places` are the positions in another picture of the same graph, which may have other edits.
        """
        self._comparison, self._words = comparison, words
        self._before = dict(places or {})
        self._places: dict[int, Position] = self._known(self._before)
        self._joined: dict[int, dict[str, Any]] = {}

    @property
    def places(self) -> dict[tuple[str, int], Position]:
        """Positions by the digest and node id of the graph without edits.

        Nodes that were drawn earlier are included, in case they return.
        """
        digest, rows = self._rows()
        return self._before | {
            (digest, rows[node] if rows is not None else node): place
            for node, place in self._places.items()
        }

    def _known(self, places: Mapping[tuple[str, int], Position]) -> dict[int, Position]:
        """Return the positions of another picture by the node ids of this graph."""
        digest, rows = self._rows()
        node_of = None if rows is None else {row: node for node, row in enumerate(rows)}
        known_places = {
            row if node_of is None else node_of.get(row): place
            for (whole, row), place in places.items()
            if whole == digest
        }
        return {node: place for node, place in known_places.items() if node is not None}

    def _rows(self) -> tuple[str, list[int] | None]:
        """Return the digest and the node ids of the graph without edits.

        The ids are None if the graph has no edits.
        """
        graph = self._comparison.graph
        origin = getattr(graph, "edited_from", None)
        return (
            (graph.digest, None) if origin is None else (origin.graph.digest, origin.nodes.tolist())
        )

    def layout(
        self,
        every: list[Path],
        best: PathLists,
        missed: PathLists,
        named: Sequence[str] = (),
        hits: Data = NO_DATA,
    ) -> dict[str, Any]:
        """Return the nodes and edges to draw.

        Parameters
        ----------
        every : all paths, those of the replays too.
        best, missed : for each lane the paths that it shows, and the paths to the answers that it
            lost.
        named : the known answers that the sentence for all lanes names.
        hits : other ranked items, with their `nodes` and `edges`.
        """
        comparison, graph = self._comparison, self._comparison.graph
        nodes = self._nodes(
            [path for part in (*best, *missed) for path in part],
            every,
            [node for hit in hits for node in hit["nodes"]],
        )
        if not nodes:
            return {"nodes": [], "edges": []}
        drawn_nodes = set(nodes)
        ids = edges_between(graph, np.sort(np.asarray(nodes, np.int64)))
        heads, relations, tails = (part.tolist() for part in graph.triples(ids))
        triples = {edge: triple for edge, *triple in zip(ids.tolist(), heads, tails, relations)}
        used = {
            edge for path in every for edge in path.edges if drawn_nodes.issuperset(path.nodes)
        } | {e for hit in hits for e in hit["edges"]}
        within = [
            part
            for lane in comparison.lanes
            if (part := retrieved_state(lane).subgraph) is not None
        ]
        edges = [
            edge
            for edge in triples
            if edge in used or any(subgraph.has_edge(edge) for subgraph in within)
        ]
        # A picture of seeds only is no reason to keep their positions.
        fixed = self._places if len(self._places) > len(comparison.ask.seeds) else None
        self._places = node_positions(nodes, [tuple(triples[edge][:2]) for edge in edges], fixed)
        named_nodes = answer_nodes(comparison, named)
        main = main_nodes(comparison.ask.seeds, best, missed, answer_nodes(comparison), named_nodes)
        large = layered_positions(
            main, [tuple(triples[edge][:2]) for edge in edges if edge in used], comparison.ask.seeds
        )
        return {
            "nodes": self._drawn(nodes, large, named_nodes),
            "edges": [self._edge(edge, *triples[edge]) for edge in edges],
        }

    def _drawn(
        self, nodes: list[int], large: dict[int, Position], named: set[int]
    ) -> list[dict[str, Any]]:
        """Return the data of the nodes.

        Nodes of the large picture have a second position `at`. Named answers are marked `named`.
        """
        comparison, graph = self._comparison, self._comparison.graph
        self._joined |= node_relations(
            graph, [node for node in nodes if node not in self._joined], self._words
        )
        answers = answer_nodes(comparison)
        seeds = set(comparison.ask.seeds)
        lanes = lane_fates(comparison.lanes, nodes)
        node_rows = []
        for node, name in zip(nodes, graph.names(nodes)):
            x, y = self._places[node]
            role = "question" if node in seeds else "answer" if node in answers else "plain"
            at: dict[str, Any] = {"at": list(large[node])} if node in large else {}
            at |= {"named": True} if node in named else {}
            node_rows.append(
                {
                    "id": node,
                    "name": name,
                    "x": x,
                    "y": y,
                    **at,
                    "role": role,
                    "about": {**self._joined[node], "lanes": lanes[node]},
                }
            )
        return node_rows

    def _edge(self, edge: int, source: int, target: int, relation: int) -> dict[str, Any]:
        name = self._comparison.graph.relation_names[relation]
        return {
            "id": edge,
            "source": source,
            "target": target,
            "relation": name,
            "words": relation_words(name, True, self._words),
        }

    def _nodes(self, shown: list[Path], every: list[Path], hits: list[int]) -> list[int]:
        """Return the nodes to draw, in order of importance.

        They are seeds, nodes of shown paths, answers, nodes of replayed paths, hits, nodes that are
        drawn already, and the best-scored neighbours.
        """
        comparison, graph = self._comparison, self._comparison.graph
        chosen = dict.fromkeys(comparison.ask.seeds)
        chosen |= dict.fromkeys(node for path in shown for node in path.nodes)
        extracted = [
            part
            for lane in comparison.lanes
            if (part := retrieved_state(lane).subgraph) is not None
        ]
        for answer in comparison.ask.question.answers:
            chosen |= dict.fromkeys(
                n
                for n in sorted(answer_nodes(comparison, [answer]))
                if any(n in subgraph for subgraph in extracted)
            )
        for node in (node for path in every for node in path.nodes):
            if len(chosen) >= MAX_PICTURE_NODES:
                break
            chosen.setdefault(node)
        for node in hits:
            if len(chosen) < USUAL_PICTURE_NODES:
                chosen.setdefault(node)
        for node in self._places:  # Nodes that are drawn already stay.
            if len(chosen) < USUAL_PICTURE_NODES and any(
                node in subgraph for subgraph in extracted
            ):
                chosen.setdefault(node)
        for subgraph in extracted:
            for node in _neighbours(graph, subgraph, chosen):
                if len(chosen) >= USUAL_PICTURE_NODES:
                    break
                chosen.setdefault(node)
        return list(chosen)[
            : max(MAX_PICTURE_NODES, len({node for path in shown for node in path.nodes}))
        ]


def edges_between(graph, nodes: np.ndarray) -> np.ndarray:
    """Return the edges between these nodes, ascending.

    The compiled functions take seconds to load, so they are used only if a hub is among the nodes.
    """
    if graph.degrees(nodes, "out").sum() > MAX_SCANNED_EDGES:
        return induced_edges(graph, nodes)
    steps = graph.steps_from(nodes, "out")
    return np.unique(steps.edges[np.isin(steps.nodes, nodes)])


def _neighbours(graph, subgraph, chosen: dict[int, None]) -> list[int]:
    """Return neighbours of the chosen nodes in the subgraph, best score first."""
    heads, _, tails = graph.triples(subgraph.edges)
    here = np.fromiter(chosen, np.int64, len(chosen))
    beside = np.union1d(tails[np.isin(heads, here)], heads[np.isin(tails, here)])
    beside = np.setdiff1d(beside, here)
    if subgraph.scores is None or not len(beside):
        return [int(node) for node in beside]
    scores = subgraph.scores[np.searchsorted(subgraph.nodes, beside)]
    return [int(beside[i]) for i in np.lexsort((beside, -scores))]
