"""Board data of a comparison on a graph of triples: picture, subgraphs, funnels and answers.

`TripleView` has the same methods as `DocumentView`, which is for documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from core.datasets.wording import relation_table
from core.diagnosis.funnel import count_right_answers, funnel
from core.diagnosis.measure import counts_by_model, lane_counts_by_model
from core.diagnosis.missed_answers import lost_paths, read_paths
from core.diagnosis.targets import answers_of
from core.diagnosis.verdict.explanation import ComparisonVerdict, LaneExplanation
from core.engine import MethodComparison, MethodLane
from core.graph.algorithms.layout import Position
from core.sources import GraphSource
from core.types import State, Subgraph
from pages.parts.board.keys import drawn_item, node_and_edge_ids
from pages.parts.board.paths import AnswerWordPaths, PathsDrawing, retrieved_state
from pages.parts.board.picture import Picture, answer_nodes
from pages.parts.board.text_fates import hit_fates
from pages.parts.board.text_hits import hits_of, tables_of_hits
from pages.parts.board.verdict import lane_tone, stage_data, verdict_data
from pages.parts.shared.wording import tr


class TripleView:
    """Board data of a comparison on a graph of triples.

    The layout is kept as long as no further lane has retrieved. The `comparison` is drawn as it is
    at each call. `positions` are those of another view of the same graph, which may have other
    edits.
    """

    is_on_documents, source_word = False, tr("graph")
    node_buttons: tuple[str, ...] = ("walk", "start")  # buttons in the panel of a node

    def __init__(self, comparison: MethodComparison, positions: Mapping[Any, Position]):
        self._comparison = comparison
        self._shared_key: tuple | None = None
        self._shared: dict[str, Any] = {}
        self._words = AnswerWordPaths(node_and_edge_ids)
        self._paths = PathsDrawing(comparison, node_and_edge_ids)
        self._picture = Picture(comparison, relation_table(comparison.graph.name), positions)

    @property
    def positions(self) -> dict[Any, Position]:
        """Positions of the nodes.

        They are for a view of the same question with other edits.
        """
        return self._picture.positions

    def shared_data(self, verdict: ComparisonVerdict) -> dict[str, Any]:
        """Return the data that all lanes share: layout, paths and fates.

        It also has, for each lane, the best paths, the paths to lost answers, and the replays. The
        data is computed again when a lane has advanced, or when the sentence in `verdict` names
        other answers.
        """
        versions = tuple(lane.retrieved and lane.version for lane in self._comparison.lanes)
        key = (counts_by_model(self._comparison), verdict.named_answers, versions)
        if key != self._shared_key:
            self._shared = self._draw(verdict.named_answers)
            self._shared_key = key
        return self._shared

    def comparison_data(self, shared: dict[str, Any]) -> dict[str, Any]:
        """Return the evidence for each lane's answer."""
        evidence = {}
        for i, lane in enumerate(self._comparison.lanes):
            if lane.retrieved:
                evidence[f"lane-{i}"] = self._words.supported_words(i, lane, shared["keys"])
        return {"evidence": evidence}

    def shown_state(self, lane: MethodLane) -> State:
        """Return the state of a lane that is shown."""
        return retrieved_state(lane)

    def lane_data(self, i: int, lane: MethodLane, shared: dict[str, Any]) -> dict[str, Any]:
        """Return the data of one lane."""
        graph = self._comparison.graph
        state = self.shown_state(lane)
        answers = self._comparison.ask.question.answers
        by_model = lane_counts_by_model(self._comparison, lane)
        stages = self._stages(state, by_model)
        hits = [shared["hits"][hit.key] for hit in hits_of(lane)]
        nodes = _retrieved_nodes(hits, state.subgraph, shared["drawn"])
        drawn_edges = [edge["id"] for edge in shared["layout"]["edges"]]
        node_counts = None
        if state.subgraph is not None:
            node_counts = {"nodes": len(nodes), "of": len(state.subgraph.nodes)}
        hit_tables = shared["ranked"][i]
        return {
            **({"hits": hit_tables} if hit_tables else {}),
            "reader": None if state.reader is None else graph.names(state.reader),
            "verdict": verdict_data(
                count_right_answers(graph, state, answers, reader=False), answers
            ),
            "reader_verdict": verdict_data(
                count_right_answers(graph, state, answers, reader=True), answers
            ),
            "funnel": stages,
            "drawn": node_counts,
            "alive": None if state.paths is None else self._read_answers(state, by_model),
            "nodes": nodes,
            "edges": _retrieved_edges(hits, state.subgraph, drawn_edges),
            "lost": shared["missed"][i],
        }

    def _stages(self, state: State, by_model: bool) -> list[dict[str, Any]] | None:
        """Return the data of all stages of the funnel.

        It is None if no stage has an outcome yet.
        """
        ask = self._comparison.ask
        answers = answers_of(ask.question)
        stages = {
            stage.name: stage_data(stage)
            for stage in funnel(ask.source, self._comparison.graph, state, answers, by_model)
        }
        if not stages:
            return None
        # The data of a stage that is not reached yet, or that this method does not have.
        empty: dict[str, Any] = {"alive": None, "of": None, "lost": [], "aside": False}
        return [stages.get(name, {"stage": name, **empty}) for name in GraphSource.stages]

    def tone(self, explanation: LaneExplanation, data: dict[str, Any]) -> str:
        """Return the tone of a lane's sentence: good, warn or bad."""
        return lane_tone(explanation)

    def _draw(self, named_answers: Sequence[str]) -> dict[str, Any]:
        """Return all data that depends on retrieval: paths, nodes, positions and fates.

        The answers of `named_answers` come first among the lost ones, and are always drawn.
        """
        comparison = self._comparison
        by_model = [lane_counts_by_model(comparison, lane) for lane in comparison.lanes]
        lost = lost_paths(
            comparison.graph,
            [_retrieved_states(lane) for lane in comparison.lanes],
            comparison.ask.question.answers,
            by_model,
        )
        drawn_paths = self._paths.draw(
            [sorted(pairs, key=lambda pair: pair[0] not in named_answers) for pairs in lost],
            by_model,
        )
        hit_tables = [
            tables_of_hits(lane, (), dict(lane.state.prompt.hits) if lane.state.prompt else {})
            for lane in comparison.lanes
        ]
        hits = _hits_by_key(comparison)
        layout = self._picture.layout(
            list(drawn_paths.path_by_key.values()),
            best_paths=drawn_paths.paths_of_entries(drawn_paths.best),
            lost_paths=drawn_paths.paths_of_entries(drawn_paths.lost),
            named_answers=named_answers,
            hits=hits.values(),
        )
        return {
            "keys": drawn_paths.keys,
            "best": [part or [] for part in drawn_paths.best],
            "missed": drawn_paths.lost,
            "stories": drawn_paths.stories,
            "layout": layout,
            "drawn": [node["id"] for node in layout["nodes"]],
            "ranked": [part or None for part in hit_tables],
            "hits": hits,
            "paths": {**drawn_paths.paths, **hits},
            "fates": {**drawn_paths.fates, **hit_fates(comparison.lanes, ())},
        }

    def _read_answers(self, state: State, by_model: bool) -> list[int]:
        """Return the known answers' nodes on paths that are read.

        The language model reads the paths in its prompt; the graph reader reads its own paths.
        """
        nodes = chain.from_iterable(path.nodes for path in read_paths(state, by_model))
        return sorted(answer_nodes(self._comparison).intersection(nodes))


def _retrieved_nodes(
    hits: Iterable[Mapping[str, Any]], subgraph: Subgraph | None, drawn_nodes: Iterable[int]
) -> list[int]:
    """Return the drawn nodes that are in a hit or in the subgraph."""
    in_hits = set(chain.from_iterable(hit["nodes"] for hit in hits))
    if subgraph is None:
        return [node for node in drawn_nodes if node in in_hits]
    return [node for node in drawn_nodes if node in in_hits or node in subgraph]


def _retrieved_edges(
    hits: Iterable[Mapping[str, Any]], subgraph: Subgraph | None, drawn_edges: Iterable[int]
) -> list[int]:
    """Return the drawn edges that are in a hit or in the subgraph."""
    in_hits = set(chain.from_iterable(hit["edges"] for hit in hits))
    if subgraph is None:
        return [edge for edge in drawn_edges if edge in in_hits]
    return [edge for edge in drawn_edges if edge in in_hits or subgraph.has_edge(edge)]


def _hits_by_key(comparison: MethodComparison) -> dict[str, dict[str, Any]]:
    """Return the drawn form of all ranked items by key.

    A ranked relation has both ends and its edge, a ranked node only itself.
    """
    hits_by_key: dict[str, dict[str, Any]] = {}
    for hit in chain.from_iterable(map(hits_of, comparison.lanes)):
        if hit.kind == "triple":
            heads, _, tails = comparison.graph.triples([hit.item])
            hits_by_key[hit.key] = drawn_item([int(heads[0]), int(tails[0])], [hit.item])
        else:
            hits_by_key[hit.key] = drawn_item([hit.item])
    return hits_by_key


def _retrieved_states(lane: MethodLane) -> tuple[State, ...]:
    """Return the states of a lane that has retrieved.

    The result is empty before that and during a preview.
    """
    return lane.states if lane.retrieved and lane.preview is None else ()
