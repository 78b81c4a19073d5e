"""DALK's evidence: relations around the linked entities, and a model's choice among evidence.

Another operator turns paths into hits.

The in-depth analysis is the paper "In-depth Analysis of Graph-based RAG in a Unified Framework".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from core.graph.protocol import KnowledgeGraph
from core.graph.texts import edge_weights
from core.models.base import Task
from core.models.chooser_names import short_name
from core.models.combine import uses_chat
from core.operators.base import DIRECTIONS, Context, Operator, Recorder
from core.operators.extract import DIRECTION_HELP
from core.operators.model_replies import skips_model_call
from core.operators.texts.hits import best_hits
from core.operators.texts.merge import score_by_position
from core.parameters import param
from core.types import Ranking, State

EVIDENCE_KEEP_HELP = "How many are kept at most."
EVIDENCE_MODEL_HELP = "What picks: a language model, a scorer, or a combination."


@dataclass(frozen=True, repr=False)
class NeighbourRelations(Operator):
    """The relations at the linked entities, those of the best linked entity first.

    If there are at most `few` of them, the relations at the neighbours follow. This is DALK's
    neighbour evidence. The heaviest relations of an entity come first. The in-depth analysis' code
    drops the last five of the list; this operator returns all. DALK's own code follows relations
    only from head to tail, as `direction` "out" does.

    >>> line = "NamesInQuestion() >> LinkNames() >> NeighbourRelations(few=1)"
    >>> found = retrieve(line, graph=story, question="Fred", models=scores({})).relations
    >>> story.triple_texts(found.items)[:2]
    ['Fred -> nephew of -> Scrooge', 'Cratchit -> works for -> Scrooge']
    """

    stage = "retrieve"
    title = "relations about the entities"
    plain = "takes the relations around them"
    reads, writes = ("linked",), ("relations",)

    few: int = param(
        5,
        "Few",
        "Where so many or fewer are found, those at the neighbours follow.",
        low=0,
        high=1000,
    )
    keep: int = param(200, "Relations at most", "The first ones.", low=1, high=10_000)
    direction: str = param("both", "Direction", DIRECTION_HELP, choices=DIRECTIONS)

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        linked = list(state.linked.items if state.linked else ())
        edges = _edges_by_node(ctx.graph, linked, self.direction)
        if linked and len(edges) <= self.few:
            heads, _, tails = ctx.graph.triples(np.array(edges, np.int64))
            ends = dict.fromkeys((*heads.tolist(), *tails.tolist()))
            neighbours = [node for node in ends if node not in linked]
            recorder.notes.append(
                f"Only {len(edges)} at the entities themselves; those at {len(neighbours)} "
                "neighbours follow."
            )
            edges += _edges_by_node(ctx.graph, neighbours, self.direction)
        recorder.before_cut = score_by_position("triple", edges)
        return state.replace(relations=recorder.before_cut.head(self.keep))


class EvidenceChoice(Operator):
    """Base of operators with which a model chooses retrieved items.

    At most `keep` items are chosen. If `model` is a language model and none may be asked, the first
    `keep` items are kept.
    """

    stage = "refine"
    without_model = True
    field: ClassVar[str]  # the field of the state with the items: "paths" or "relations"
    keep: int
    model: str

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        candidates: Ranking = getattr(state, self.field)
        recorder.before_cut = candidates
        if not len(candidates):
            return state
        substitute = f"the first {self.keep} {self.field} are kept"
        if uses_chat(self.model, ctx.models.is_chat) and skips_model_call(
            ctx, recorder, substitute
        ):
            return state.replace(**{self.field: candidates.head(self.keep)})
        ctx.watch.report(f"Choosing among {len(candidates):,} {self.field}")
        if self.field == "paths":
            texts = ctx.graph.texts(candidates.items)
        else:
            texts = ctx.graph.triple_texts(np.array(candidates.items, np.int64))
        task = Task(state.question.text, candidates.kind, ctx.seed, ctx.watch)
        chooser = ctx.models.chooser(self.model)
        choice = recorder.record_choice(chooser.choose(task, texts, self.keep))
        items = [candidates.items[index] for index in choice.positions]
        if choice.scores is None:
            selected = score_by_position(candidates.kind, items)
        else:
            selected = Ranking(candidates.kind, tuple(items), choice.scores)
        return state.replace(**{self.field: selected})

    def words(self) -> str:
        return f"{self.keep} {self.field} by {short_name(self.model)}"


@dataclass(frozen=True, repr=False)
class ChoosePaths(EvidenceChoice):
    """At most `keep` of the paths, chosen and ordered by a language model.

    In-depth analysis, subgraph operator AgentPath: DALK's rerank. If a reply cannot be read, the
    first paths are kept, with a note. `model` may also be a scorer. If no language model may be
    asked, the first paths are kept.

    >>> line = "NamesInQuestion() >> LinkNames() >> KhopPaths() >> ChoosePaths()"
    >>> models = picks("Cratchit -> works for -> Scrooge")
    >>> state = retrieve(line, graph=story, question="Cratchit and Scrooge", models=models)
    >>> story.texts(state.paths.items)
    ['Cratchit -> works for -> Scrooge']
    """

    title = "paths chosen"
    plain = "lets {by_whom} choose {keep} paths"
    field, reads, writes = "paths", ("paths",), ("paths",)

    keep: int = param(5, "Paths", EVIDENCE_KEEP_HELP, low=1, high=1000)
    model: str = param("choose", "Model", EVIDENCE_MODEL_HELP, model=True)


@dataclass(frozen=True, repr=False)
class ChooseRelations(EvidenceChoice):
    """At most `keep` of the relations, chosen and ordered by a language model.

    This is DALK's rerank of neighbour evidence, with the same rules as `ChoosePaths`.

    >>> line = "NamesInQuestion() >> LinkNames() >> NeighbourRelations() >> ChooseRelations()"
    >>> models = picks("Fred -> nephew of -> Scrooge")
    >>> found = retrieve(line, graph=story, question="Fred", models=models).relations
    >>> story.triple_texts(found.items)
    ['Fred -> nephew of -> Scrooge']
    """

    title = "relations chosen"
    plain = "lets {by_whom} choose {keep} relations"
    field, reads, writes = "relations", ("relations",), ("relations",)

    keep: int = param(5, "Relations", EVIDENCE_KEEP_HELP, low=1, high=1000)
    model: str = param("choose", "Model", EVIDENCE_MODEL_HELP, model=True)


@dataclass(frozen=True, repr=False)
class HitsOfPaths(Operator):
    """The entities and relations of the paths, as hits.

    With this, operators on paths (PageRank paths, beams, Think-on-Graph) can be followed by
    operators that read hits. For example, `ChunksFromRelations` returns the passages of the paths.
    The operator follows no paper. Each hit has the score of its best path. Paths without scores
    count 1, 1/2, 1/3 and so on.

    >>> line = "NamesInQuestion() >> LinkNames() >> KhopPaths() >> HitsOfPaths()"
    >>> state = retrieve(line, graph=story, question="Tim, Scrooge")
    >>> sorted(story.names(state.nodes.items)), len(state.relations)
    (['Cratchit', 'Scrooge', 'Tim'], 2)
    """

    stage = "retrieve"
    title = "entities and relations of the paths"
    plain = "takes the entities and relations of the paths"
    reads, writes = ("paths",), ("nodes", "relations")

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        assert state.paths is not None
        node_scores: dict[int, float] = {}
        edge_scores: dict[int, float] = {}
        for index, path in enumerate(state.paths.items):
            score = state.paths.scores[index] if state.paths.scores else 1.0 / (index + 1)
            for items, best_scores in ((path.nodes, node_scores), (path.edges, edge_scores)):
                for item in items:
                    best_scores[item] = max(score, best_scores.get(item, score))
        return state.replace(
            nodes=best_hits("node", node_scores, node_scores.values()),
            relations=best_hits("triple", edge_scores, edge_scores.values()),
        )


def _edges_by_node(graph: KnowledgeGraph, nodes: list[int], direction: str) -> list[int]:
    """Return the edges of each node in turn, each edge once.

    The edges of one node are ordered by weight, the heaviest first.
    """
    weights = edge_weights(graph)
    ordered: dict[int, None] = {}
    for node in nodes:
        edges = np.unique(graph.steps(node, direction)[1])
        if weights is not None:
            edges = edges[np.argsort(-weights[edges], kind="stable")]
        ordered |= dict.fromkeys(edges.tolist())
    return list(ordered)
