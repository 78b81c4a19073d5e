"""Path retrieval from a corpus of walks: the nearest nodes, then their nearest walks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.graph.algorithms.walk_corpus import WALK_STRATEGIES, WalkPlan, walks_from
from core.indexes.walk_sentences import WalkSentences
from core.indexes.walks import TemplateWording, WalkWording, walk_corpus
from core.models.base import question_vectors
from core.operators.base import DIRECTIONS, Context, Operator, Recorder
from core.operators.extract import DIRECTION_HELP
from core.operators.retrieve.chains import subgraph_of_paths
from core.parameters import param
from core.types import Path, Ranking, State, Usage, WrittenReport

STRATEGY_HELP = (
    "random: walks drawn at random; breadth-first: the walk to each node around, nearest first."
)
WALKS_HELP = "How many walks a node has; breadth-first, at most so many, 0 for all."
LENGTH_HELP = "Longest walk, in steps."
UNIQUE_HELP = "Whether a random walk that is drawn twice counts once. The paper counts it twice."
WALKS_RETAINED_HELP = "How many walks are kept of each node, or of all."
WALKS_PER_HELP = (
    "node: so many walks of each node (the paper); all: so many over all nodes (its code)."
)
VERBALISER_HELP = (
    "Who puts walks into sentences: a template, or a chat model by its role or name, asked once "
    "for each walk that is read."
)
TEMPLATE_VERBALISER = "template"
SEED_HELP = "Of the draws of random walks; another one has vectors of its own."


@dataclass(frozen=True, repr=False)
class NodesThenWalks(Operator):
    """The `keep` nearest walks of each of the `nodes` nodes nearest to the question.

    Walk&Retrieve, section 2: every node of the graph has a corpus of walks, each written as a
    sentence. A node's vector is that of its joined sentences, cut at the length that the encoder
    reads. The question entities are ignored. The `verbaliser` that writes the sentences is a
    template or, as in the paper, a language model. The model is called once for each different walk
    that is encoded, its sentences are stored on disk, and the answer's prompt shows them.

    The walks of the chosen nodes are encoded for the question, so only the nodes' vectors are
    stored. A walk that was drawn several times counts several times among the `keep` and is listed
    once. Paths are ordered by (-cosine, path), nodes by their own cosine. StoreError is raised if
    the walks of a large graph are not encoded yet.

    >>> line = "NodesThenWalks(strategy='breadth-first', length=1, nodes=1, keep=2)"
    >>> answers(line, question="what does E r5", models=scores({}))
    ['E -> r5 -> A']
    """

    stage = "retrieve"
    title = "nodes, then walks"
    plain = "walks from the {nodes} nodes closest in meaning"
    writes = ("subgraph", "nodes", "paths", "reports")
    has_untargeted_paths = True

    strategy: str = param("random", "Walks", STRATEGY_HELP, choices=WALK_STRATEGIES)
    walks: int = param(60, "Walks of a node", WALKS_HELP, low=0, high=10_000)
    length: int = param(4, "Length", LENGTH_HELP, low=1, high=8)
    nodes: int = param(3, "Nodes", "How many nodes are taken.", low=1, high=1000)
    keep: int = param(3, "Keep", WALKS_RETAINED_HELP, low=1, high=1000)
    per: str = param("node", "Kept of", WALKS_PER_HELP, choices=("node", "all"))
    unique: bool = param(False, "Each walk once", UNIQUE_HELP)
    direction: str = param("graph", "Direction", DIRECTION_HELP, choices=DIRECTIONS)
    seed: int = param(0, "Seed of the walks", SEED_HELP, low=0, high=1_000_000)
    verbaliser: str = param(
        TEMPLATE_VERBALISER, "Sentences by", VERBALISER_HELP, chat=True, also=(TEMPLATE_VERBALISER,)
    )
    encoder: str = param(
        "encoder",
        "Encoder",
        "The sentence encoder that reads the question and the walks.",
        model=True,
    )

    @property
    def plan(self) -> WalkPlan:
        """The settings that decide which walks each node has."""
        return WalkPlan(
            self.strategy, self.walks, self.length, self.direction, self.unique, self.seed
        )

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        encoder = ctx.models.encoder(self.encoder)
        verbalise = self._make_verbaliser(ctx)
        wording: WalkWording = verbalise or TemplateWording(ctx.graph)
        corpus = walk_corpus(ctx.graph, encoder, self.plan, wording, ctx.watch)
        ctx.watch.report("Searching walks")
        question = question_vectors(encoder, [state.question.text], ctx.watch)[0]
        recorder.usage += Usage(texts=1)
        chosen_nodes, scores = corpus.nearest(question, self.nodes)
        nodes = Ranking("node", tuple(chosen_nodes.tolist()), tuple(scores.tolist()))
        recorder.notes.append(
            f"The nearest of {len(corpus.nodes):,} nodes with walks: "
            f"{', '.join(ctx.graph.names(chosen_nodes))}."
        )
        walks: list[Path] = []
        for node in nodes.items:
            walks += walks_from(ctx.graph, node, self.plan)
        scored = self._score_walks(question, walks, encoder, wording, ctx, recorder)
        recorder.before_cut = _rank_walks(scored)
        best = _first_walks_of_nodes(scored, self.keep)
        if self.per == "all":
            best = scored[: self.keep]
        ranking = _rank_walks(best)
        if len(ranking) < len(best):
            recorder.notes.append(
                f"Of the {len(best)} walks kept, {len(best) - len(ranking)} are copies of others."
            )
        state = state.replace(
            nodes=nodes, paths=ranking, subgraph=subgraph_of_paths(nodes.items, ranking)
        )
        if verbalise is None:
            return state
        reports = tuple(WrittenReport("Walk", text) for text in verbalise(ranking.items))
        recorder.usage += verbalise.usage
        if verbalise.n_failed:
            recorder.notes.append(
                f"Of {verbalise.n_failed} walks the language model told nothing; the template says "
                "them."
            )
        return state.replace(reports=reports)

    def _make_verbaliser(self, ctx: Context) -> WalkSentences | None:
        """Return the function by which a language model writes sentences; None for the template."""
        if self.verbaliser == TEMPLATE_VERBALISER:
            return None
        role = self.verbaliser
        return WalkSentences(
            ctx.graph,
            lambda: ctx.models.chat(role),
            ctx.models.signature(role),
            ctx.watch,
            ctx.seed,
        )

    def _score_walks(
        self,
        question: np.ndarray,
        walks: list[Path],
        encoder,
        wording: WalkWording,
        ctx: Context,
        recorder: Recorder,
    ) -> list[tuple[Path, float]]:
        """Return all walks of the chosen nodes with their cosines, by (-cosine, path).

        A walk that occurs several times in `walks` does so in the result, but is encoded once.
        """
        unique = list(dict.fromkeys(walks))
        vectors = encoder.encode(wording(unique), ctx.watch)
        recorder.usage += Usage(texts=len(unique))
        cosine = dict(zip(unique, np.round(vectors.astype(np.float64) @ question, 6).tolist()))
        order = sorted(walks, key=lambda walk: (-cosine[walk], walk))
        return [(walk, cosine[walk]) for walk in order]

    def words(self) -> str:
        how = "random walks" if self.strategy == "random" else "breadth-first walks"
        return f"{how} of the {self.nodes} nearest nodes"


def _first_walks_of_nodes(walks: list[tuple[Path, float]], keep: int) -> list[tuple[Path, float]]:
    """Return the first `keep` walks of each start node, in the given order."""
    count_of_node: dict[int, int] = {}
    selected = []
    for walk, score in walks:
        count_of_node[walk.start] = count_of_node.get(walk.start, 0) + 1
        if count_of_node[walk.start] <= keep:
            selected.append((walk, score))
    return selected


def _rank_walks(walks: list[tuple[Path, float]]) -> Ranking:
    """Return the ranking of the walks without repeats, with their scores."""
    scores = dict(walks)
    return Ranking("path", tuple(scores), tuple(scores.values()))
