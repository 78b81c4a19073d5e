"""Evidence from a knowledge graph: relations, chosen evidence, and paths as hits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from core.graph.protocol import KnowledgeGraph
from core.graph.texts import weights
from core.models.base import Task
from core.models.combine import uses_chat
from core.models.words import short_name
from core.operators.asking import unasked
from core.operators.base import DIRECTIONS, Context, Operator, Recorder
from core.operators.extract import DIRECTION_HELP
from core.operators.texts.hits import ranked
from core.operators.texts.merge import placed
from core.parameters import param
from core.types import Ranking, State

KEEP_HELP = "How many are kept at most."
MODEL_HELP = "What picks: a language model, a scorer, or a combination."


@dataclass(frozen=True, repr=False)
class NeighbourRelations(Operator):
    """The relations at the linked entities, those of the best linked entity first.

    If there are `few` or fewer, the relations at their neighbours follow. This is DALK's neighbour
    evidence. The heaviest relations of an entity come first. The in-depth analysis' code drops the
    last five of the list; here all are kept. DALK's own code follows relations only in their
    direction, as `direction` "out" does.

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
        found = _at(ctx.graph, linked, self.direction)
        if linked and len(found) <= self.few:
            heads, _, tails = ctx.graph.triples(np.array(found, np.int64))
            further = [
                node
                for node in dict.fromkeys((*heads.tolist(), *tails.tolist()))
                if node not in linked
            ]
            recorder.notes.append(
                f"Only {len(found)} at the entities themselves; those at {len(further)} "
                "neighbours follow."
            )
            found = list(dict.fromkeys([*found, *_at(ctx.graph, further, self.direction)]))
        recorder.before_cut = placed("triple", found)
        return state.replace(relations=recorder.before_cut.head(self.keep))


class Chosen(Operator):
    """Base of operators that keep at most `keep` items by `model`.

    The first items are kept if no language model may be asked.
    """

    stage = "refine"
    without_model = True
    field: ClassVar[str]
    keep: int
    model: str

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        found: Ranking = getattr(state, self.field)
        recorder.before_cut = found
        if not len(found):
            return state
        if uses_chat(self.model, ctx.models.is_chat) and unasked(
            ctx, recorder, f"the first {self.keep} {self.field} are kept"
        ):
            return state.replace(**{self.field: found.head(self.keep)})
        ctx.watch.report(f"Choosing among {len(found):,} {self.field}")
        if self.field == "paths":
            texts = ctx.graph.texts(found.items)
        else:
            texts = ctx.graph.triple_texts(np.array(found.items, np.int64))
        task = Task(state.question.text, found.kind, ctx.seed, ctx.watch)
        choice = recorder.choice(ctx.models.chooser(self.model).choose(task, texts, self.keep))
        items = [found.items[place] for place in choice.positions]
        if choice.scores is None:
            selected = placed(found.kind, items)
        else:
            selected = Ranking(found.kind, tuple(items), choice.scores)
        return state.replace(**{self.field: selected})

    def words(self) -> str:
        return f"{self.keep} {self.field} by {short_name(self.model)}"


@dataclass(frozen=True, repr=False)
class ChoosePaths(Chosen):
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

    keep: int = param(5, "Paths", KEEP_HELP, low=1, high=1000)
    model: str = param("choose", "Model", MODEL_HELP, model=True)


@dataclass(frozen=True, repr=False)
class ChooseRelations(Chosen):
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

    keep: int = param(5, "Relations", KEEP_HELP, low=1, high=1000)
    model: str = param("choose", "Model", MODEL_HELP, model=True)


@dataclass(frozen=True, repr=False)
class HitsOfPaths(Operator):
    """The entities and relations of the paths, as hits.

    With this, operators on paths (PageRank paths, beams, Think-on-Graph) can be followed by
    operators that read hits. `ChunksFromRelations` after it gives the passages that the paths rest
    on. This is Hopscope's own. Each hit has the score of its best path. In an order without scores
    these are 1, 1/2, 1/3.

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
        best: dict[str, dict[Any, float]] = {"node": {}, "triple": {}}
        for place, path in enumerate(state.paths.items, 1):
            score = state.paths.score(place - 1) if state.paths.scores else 1.0 / place
            for kind, items in (("node", path.nodes), ("triple", path.edges)):
                for item in items:
                    best[kind][item] = max(score or 0.0, best[kind].get(item, score or 0.0))
        hits = {
            kind: ranked(kind, list(found), list(found.values()))  # type: ignore[arg-type]
            for kind, found in best.items()
        }
        return state.replace(nodes=hits["node"], relations=hits["triple"])


def _at(graph: KnowledgeGraph, nodes: list[int], direction: str) -> list[int]:
    """Return the edges at each node in turn, each edge once.

    Of one node the heaviest edges come first.
    """
    heavy, found = weights(graph), dict[int, None]()
    for node in nodes:
        edges = np.unique(graph.steps(node, direction)[1]).tolist()
        found |= dict.fromkeys(
            sorted(edges, key=lambda edge: (-(heavy[edge] if heavy is not None else 0.0), edge))
        )
    return list(found)
