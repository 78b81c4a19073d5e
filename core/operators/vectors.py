"""Extraction by vectors: a subgraph around the nodes or triples nearest to the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from core.graph.algorithms.expansion import connecting_paths, expand_nodes, mark_connected
from core.graph.algorithms.neighbourhood import seed_array
from core.indexes.vector_blocks import texts_of_items
from core.indexes.vectors import vector_index
from core.models.base import question_vectors
from core.operators.base import DIRECTIONS, Context, Operator, Recorder
from core.operators.extract import DIRECTION_HELP, subgraph_on
from core.parameters import param
from core.types import State, Subgraph, Usage

MAX_MATCHES_NAMED = 5  # matches that are named in the trace
OF_HELP = (
    "Which vectors are searched: those of the entities' names, or those of the triples as texts."
)
CONNECTED_HELP = (
    "no: in pieces, as found; seeds: pieces without an entity of the question are left out; "
    "paths: each match is joined to these entities by a shortest path, and left out where none is "
    "short enough."
)


@dataclass(frozen=True, repr=False)
class VectorSearch(Operator):
    """The subgraph around the question entities and the nodes or triples nearest to the question.

    `of` says if nodes or triples are searched, and `matches` how many are taken. The subgraph is
    induced on the question entities, the matches, and all nodes at most `hops` steps from a match.

    LEGO-GraphRAG, technical report, B.7 (3): the names of nodes are encoded, the most similar ones
    retrieved, and their one-hop neighbours merged. It also proposes triples and more hops. It says
    neither how many are retrieved nor in which direction neighbours lie. The report's subgraph does
    not include the question entities. This operator adds them, because paths start at them.

    A node's score is the cosine of the match that leads to it; the score of the question entities
    is 1. If there are more than `keep` nodes, these entities come first, then the matches, then
    nodes by the number of steps from a match and its score. `connected` is Hopscope's own. The
    report's subgraphs have 12.86 components on average, which it leaves unconnected.

    >>> part = retrieve(
    ...     "VectorSearch(matches=1, hops=0)", "A", question="D", models=scores({})
    ... ).subgraph
    >>> toy.names(part.nodes), part.scores  # in two pieces, as no triple joins A and D
    (['A', 'D'], array([1., 1.]))
    """

    stage = "extract"
    title = "vector search"
    plain = "looks around the {matches:,} {of} closest in meaning"
    reads, writes = ("seeds",), ("subgraph",)

    of: Literal["nodes", "triples"] = param(
        "nodes", "Vectors of", OF_HELP, choices=("nodes", "triples")
    )
    matches: int = param(32, "Matches", "How many of the nearest are taken.", low=1, high=10_000)
    hops: int = param(1, "Hops", "How many steps are taken from the matches.", low=0, high=4)
    keep: int = param(
        1000, "Nodes at most", "How many nodes the subgraph may have.", low=1, high=1_000_000
    )
    direction: str = param("graph", "Direction", DIRECTION_HELP, choices=DIRECTIONS)
    connected: str = param("no", "Connected", CONNECTED_HELP, choices=("no", "seeds", "paths"))
    reach: int = param(
        4,
        "Longest join",
        "How many steps a match may lie away where it is joined by a path.",
        low=1,
        high=8,
    )
    encoder: str = param(
        "encoder",
        "Encoder",
        "The sentence encoder that reads the question and what is searched.",
        model=True,
    )

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        seeds = dict.fromkeys(seed_array(ctx.graph, state.seeds).tolist(), 1.0)
        matches = self._match_nodes(state.question.text, ctx, recorder)
        start = {**seeds, **{node: score for node, score in matches.items() if node not in seeds}}
        if self.connected == "paths":
            matches, start = self._join_to_seeds(seeds, matches, ctx, recorder)
        ctx.watch.report("Looking around what was found")
        nodes, capped = expand_nodes(
            ctx.graph, start, matches, self.hops, self.direction, self.keep, ctx.watch
        )
        if capped:
            recorder.notes.append(
                f"There is more than {self.keep:,} nodes; those around the best matches were kept."
            )
        subgraph = subgraph_on(
            ctx.graph,
            np.fromiter(nodes, np.int64, len(nodes)),
            np.fromiter(nodes.values(), float, len(nodes)),
        )
        if self.connected == "seeds":
            subgraph = _connected_part(ctx.graph, subgraph, list(seeds), recorder)
        return state.replace(subgraph=subgraph)

    def _match_nodes(self, text: str, ctx: Context, recorder: Recorder) -> dict[int, float]:
        """Return the matching nodes with their best cosine.

        If triples are searched, these are both ends of the matching triples. The best come first.
        """
        encoder = ctx.models.encoder(self.encoder)
        index = vector_index(ctx.graph, encoder, self.of, ctx.watch)
        ctx.watch.report("Searching vectors")
        items, scores = index.nearest(question_vectors(encoder, [text], ctx.watch)[0], self.matches)
        recorder.usage += Usage(texts=1)
        names = texts_of_items(ctx.graph, self.of, items[:MAX_MATCHES_NAMED])
        best = "; ".join(f"{name} ({score:.2f})" for name, score in zip(names, scores))
        recorder.notes.append(f"The nearest of {len(index):,} {self.of}: {best}.")
        if self.of == "nodes":
            return dict(zip(items.tolist(), scores.tolist()))
        match_scores: dict[int, float] = {}
        heads, _, tails = ctx.graph.triples(items)
        for head, tail, score in zip(heads.tolist(), tails.tolist(), scores.tolist()):
            match_scores.setdefault(head, score)
            match_scores.setdefault(tail, score)
        return match_scores

    def _join_to_seeds(
        self, seeds: dict[int, float], matches: dict[int, float], ctx: Context, recorder: Recorder
    ) -> tuple[dict[int, float], dict[int, float]]:
        """Return the matches near a seed, and the seeds.

        The nodes of the paths to the matches are added to the seeds. Both are scores by node. A
        node on a path has the score of the match at its end.
        """
        ctx.watch.report("Joining what was found to the question's entities")
        paths = connecting_paths(
            ctx.graph, list(seeds), list(matches), self.reach, self.direction, ctx.watch
        )
        start = dict(seeds)
        for end, path in paths.items():
            start |= {node: matches[end] for node in path if node not in start}
        if len(paths) < len(matches):
            recorder.notes.append(
                f"{len(matches) - len(paths):,} of {len(matches):,} nodes that matched lie more "
                f"than {self.reach} steps away from the question's entities and were left out."
            )
        return {node: score for node, score in matches.items() if node in paths}, start

    def words(self) -> str:
        return (
            f"{self.matches:,} {self.of} by vectors, {self.hops} hop{'s' * (self.hops != 1)} around"
        )


def _connected_part(
    graph, subgraph: Subgraph, seeds: Sequence[int], recorder: Recorder
) -> Subgraph:
    """Return the part of a subgraph that is connected with a seed."""
    is_connected = mark_connected(graph, subgraph.nodes, subgraph.edges, seeds)
    if not is_connected.all():
        recorder.notes.append(
            f"{int((~is_connected).sum()):,} nodes in pieces without an entity of the question "
            "were left out."
        )
    assert subgraph.scores is not None  # the subgraph was made with scores
    return subgraph_on(graph, subgraph.nodes[is_connected], subgraph.scores[is_connected])
