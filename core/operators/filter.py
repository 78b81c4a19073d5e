"""Filtering of a subgraph: a model picks its relations, triples or nodes by meaning."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.models.base import Task
from core.models.chooser_names import short_name
from core.operators.base import MAX_TEXTS, Context, Operator, Recorder
from core.parameters import param
from core.types import State, Subgraph


@dataclass(frozen=True, repr=False)
class FilterSubgraph(Operator):
    """The part of the subgraph whose relations, triples or nodes a model picks.

    The seeds stay in any case. With `unit` "relation" the distinct relation names are ranked, and
    the edges of the best `keep` stay (LEGO-GraphRAG, technical report, SAE: its max_edge 64 counts
    relation types). With "triple" each edge is read as `A -> r -> B` (the report's code for
    MetaQA). With "node" the names of nodes are read, and the edges between the best nodes stay.

    Section 4.1 of v1 scores nodes and edges against the question's entities and relations, S(v,
    e_q), and keeps those above two thresholds. Its code ranks relations against the whole question
    and keeps the best. This operator follows the code, because an entity's name alone says little
    about the question. `model="above(encoder, 0.3)"` sets a threshold.

    With `mode` "edges" the picked edges and their ends stay (the report), with "induced" every edge
    between these ends (v1).

    >>> part = retrieve(
    ...     "EgoNetwork() >> FilterSubgraph(keep=2)", "A", models=scores({"r1": 0.9, "r4": 0.8})
    ... ).subgraph
    >>> toy.triple_texts(part.edges)
    ['A -> r1 -> C', 'C -> r4 -> D']
    """

    stage = "filter"
    title = "filter"
    plain = "keeps the {keep:,} best {unit}s {by}"
    reads, writes = ("seeds", "subgraph"), ("subgraph",)

    model: str = param(
        "encoder",
        "Model",
        "What ranks or picks: a scorer, a language model, or a combination.",
        model=True,
    )
    keep: int = param(64, "Keep", "How many relations, triples or nodes stay.", low=1, high=100_000)
    unit: str = param(
        "relation", "Unit", "What is read and picked.", choices=("relation", "triple", "node")
    )
    mode: str = param(
        "edges",
        "Mode",
        "edges: only the picked edges; induced: every edge between their ends.",
        choices=("edges", "induced"),
    )

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        graph, subgraph = ctx.graph, state.subgraph
        assert subgraph is not None
        candidates = self._candidates(graph, subgraph)
        if len(candidates) > MAX_TEXTS:
            recorder.notes.append(
                f"Of {len(candidates):,} {self.unit}s the first {MAX_TEXTS:,} were read."
            )
            candidates = candidates[:MAX_TEXTS]
        texts = self._texts(graph, candidates)
        ctx.watch.report(f"Choosing from {len(texts):,} {self.unit}s")
        entities = tuple(graph.names(state.seeds))
        task = Task(state.question.text, self.unit, ctx.seed, ctx.watch, entities)
        chooser = ctx.models.chooser(self.model)
        choice = recorder.record_choice(chooser.choose(task, texts, self.keep))
        selected = candidates[np.sort(np.asarray(choice.positions, np.int64))]
        return state.replace(subgraph=self._restrict(graph, subgraph, selected, state.seeds))

    def _candidates(self, graph, subgraph: Subgraph) -> np.ndarray:
        """Return the ids of the relations, nodes or edges of a subgraph, ascending."""
        if self.unit == "relation":
            return np.unique(graph.triples(subgraph.edges)[1])
        return subgraph.nodes if self.unit == "node" else subgraph.edges

    def _texts(self, graph, candidates: np.ndarray) -> list[str]:
        if self.unit == "relation":
            return [graph.relation_names[relation] for relation in candidates]
        return graph.names(candidates) if self.unit == "node" else graph.triple_texts(candidates)

    def _restrict(
        self, graph, subgraph: Subgraph, selected: np.ndarray, seeds: tuple[int, ...]
    ) -> Subgraph:
        """Return the part of a subgraph with the selected relations, edges or nodes.

        `selected` holds ids of the operator's `unit`. The seeds are added.
        """
        edges = subgraph.edges
        heads, relations, tails = graph.triples(edges)
        nodes = selected
        if self.unit != "node":
            is_chosen = np.isin(relations if self.unit == "relation" else edges, selected)
            nodes = np.concatenate([heads[is_chosen], tails[is_chosen]])
        nodes = np.union1d(nodes, np.asarray(seeds, np.int64))
        if self.unit == "node" or self.mode == "induced":
            is_chosen = np.isin(heads, nodes) & np.isin(tails, nodes)
        return Subgraph(nodes, edges[is_chosen], _former_scores(subgraph, nodes))

    def words(self) -> str:
        return f"{self.keep:,} {self.unit}s by {short_name(self.model)}"


def _former_scores(subgraph: Subgraph, nodes: np.ndarray) -> np.ndarray | None:
    """Return the scores of nodes in the subgraph, or None if it has none.

    A seed outside the subgraph gets 0. The nodes of a subgraph are ascending.
    """
    if subgraph.scores is None or not len(subgraph.nodes):
        return None
    rows = np.clip(np.searchsorted(subgraph.nodes, nodes), 0, len(subgraph.nodes) - 1)
    return np.where(subgraph.nodes[rows] == nodes, subgraph.scores[rows], 0.0)
