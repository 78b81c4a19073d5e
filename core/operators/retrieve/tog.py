"""Think-on-Graph: a language model walks the graph until the facts that it has read suffice."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.graph.identifier_names import is_unnamed
from core.models.base import Task
from core.models.chooser_names import short_name
from core.models.rating import rate_texts
from core.operators.base import DIRECTIONS, Context, Operator, Recorder
from core.operators.extract import DIRECTION_HELP
from core.operators.stop import are_paths_sufficient
from core.parameters import param
from core.types import Frame, Path, Ranking, State, Subgraph

# `model` and `exhausted` if no language model may be asked
NO_MODEL_SETTINGS = ("encoder", "facts")
RATE_BY_MODEL = "rate"  # value of `model`: the language model named by `role` rates from 0 to 1
MIN_ENTITIES_TO_DRAW = 20  # with fewer entities behind a relation, all of them are rated
# relations of Freebase and other graphs that state no facts
INTERNAL_RELATION_PATTERN = re.compile(r"type\.object\.(type|name)|common\.|freebase\.|.*sameAs")
# with more entities behind one relation, the subgraph has only the drawn ones
MAX_ENTITIES_READ = 100_000
EXHAUSTED_HELP = "alone: no facts are handed on; facts: those that were found."
RELATION_HELP = (
    "An entity of several scores relation times entity, as in ToG's code; else entity alone."
)
ScoredPath = tuple[float, Path]
# the entities behind a relation, ascending, the first edge to each, and the direction
EntitiesBehind = tuple[np.ndarray, np.ndarray, bool]


@dataclass(frozen=True, repr=False)
class ThinkOnGraph(Operator):
    """The chains of triples that a language model keeps while it walks from the seeds.

    At most `width` chains are kept at each of `depth` hops. At each hop the model rates the
    relations to and from the end of each chain and keeps the best `width`. It then rates the
    entities behind each of them and again keeps the best `width`; of 20 or more entities only
    `sample` drawn ones are rated. The score of a chain is that of its last relation times that of
    its last entity; a single entity scores 1. The best `width` of all chains are extended at the
    next hop, but never those of score 0.

    After each hop a language model says if the facts suffice. If it says yes, or if no chain can be
    extended, the facts are returned, the longest chains first. If it never says yes, `exhausted`
    decides: with "alone" no facts are returned, so that the language model answers from its own
    knowledge, as in the paper. The subgraph is the part of the graph that was read.

    Think-on-Graph, ICLR 2024, and its code. Differences: replies are JSON over numbered lists;
    temperature is 0, while the code prunes at 0.4; literals are entities too; items of a list that
    the reply does not rate count 0.

    A reply without ratings of relations ends its chain. A reply without ratings of entities gives
    each of n entities 1 / n. A chain does not take its last relation back. `model` may also be a
    scorer: the code's BM25 and sentence embeddings. On documents, if no language model may be
    asked, the code's sentence embeddings rate, and the facts are returned after the last hop.

    >>> # the first of r0 and r1, then r2
    >>> first = says('{"ratings": [{"number": 1, "score": 10}], "sufficient": "no"}')
    >>> line = "ThinkOnGraph(depth=2, exhausted='facts', direction='out')"
    >>> answers(line, "A", models=first)
    ['A -> r0 -> B -> r2 -> C', 'A -> r0 -> B']
    """

    stage = "retrieve"
    title = "think on graph"
    plain = "follows the {width} relations and entities rated best, {depth} times"
    reads, writes = ("seeds",), ("subgraph", "paths")
    is_random = True
    without_model = True

    width: int = param(
        3, "Width", "How many relations, entities and chains are kept at each hop.", low=1, high=64
    )
    depth: int = param(3, "Depth", "Longest chain.", low=1, high=8)
    model: str = param(
        RATE_BY_MODEL,
        "Pruned by",
        "“rate”: the language model rates; or a scorer, such as bm25.",
        model=True,
        also=(RATE_BY_MODEL,),
    )
    role: str = param(
        "choose",
        "Language model",
        "Rates relations and entities, and says whether the facts suffice.",
        chat=True,
    )
    sample: int = param(
        5,
        "Entities drawn",
        "Of 20 or more entities behind a relation, so many are drawn and rated.",
        low=1,
        high=1000,
    )
    exhausted: str = param("alone", "Never enough", EXHAUSTED_HELP, choices=("alone", "facts"))
    relation: bool = param(True, "Relation counts", RELATION_HELP)
    direction: str = param("graph", "Direction", DIRECTION_HELP, choices=DIRECTIONS)

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        if self._lacks_model(ctx):
            recorder.notes.append(
                "No language model is asked: the encoder rates, and nobody says when the facts "
                "suffice."
            )
            model, exhausted = NO_MODEL_SETTINGS
            return replace(self, model=model, exhausted=exhausted).apply(state, ctx, recorder)
        walk = _QuestionWalk(self, state, ctx, recorder)
        hops, wants_more = walk.take_hops(state.seeds)
        ranking = _ranking_of_pairs(list(itertools.chain.from_iterable(reversed(hops))))
        if wants_more and self.exhausted == "alone":
            recorder.notes.append(
                f"After {self.depth} hops the model still wanted more; it answers from what it "
                "knows, as in the paper."
            )
            recorder.before_cut = ranking
            ranking = Ranking("path", (), ())
        return state.replace(subgraph=walk.subgraph_read(), paths=ranking)

    def _lacks_model(self, ctx: Context) -> bool:
        """Return whether a language model is needed for documents, and none may be asked."""
        needs_model = (self.model, self.exhausted) != NO_MODEL_SETTINGS
        return needs_model and not ctx.answering and ctx.graph.columns.has_texts

    def words(self) -> str:
        by = "" if self.model == RATE_BY_MODEL else f", {short_name(self.model)}"
        return f"think on graph, {self.width} wide, {self.depth} deep{by}"


class _QuestionWalk:
    """The search for one question, and the part of the graph that it read."""

    def __init__(self, operator: ThinkOnGraph, state: State, ctx: Context, recorder: Recorder):
        self.operator = operator
        self.ctx = ctx
        self.recorder = recorder
        self.task = Task(state.question.text, "relation", ctx.seed, ctx.watch)
        self.rng = ctx.rng(state.question.text, operator)
        self.read_nodes = set(state.seeds)
        self.read_edges: set[int] = set()

    def take_hops(self, seeds: Sequence[int]) -> tuple[list[list[ScoredPath]], bool]:
        """Search from the seeds.

        Returns
        -------
        The best chains of each hop, and True if the model still wants more after the last hop.
        """
        chains = [Path((seed,)) for seed in dict.fromkeys(seeds)]
        hops: list[list[ScoredPath]] = []
        while chains and len(hops) < self.operator.depth:
            best = self._take_hop(chains, len(hops) + 1)
            if not best:
                return hops, False
            hops.append(best)
            if self._is_enough([path for _, path in itertools.chain.from_iterable(hops)]):
                return hops, False
            chains = [path for _, path in best]
        return hops, bool(chains)

    def _take_hop(self, chains: list[Path], number: int) -> list[ScoredPath]:
        """Return the best chains with one more step, best first."""
        scored: list[ScoredPath] = []
        for chain in chains:
            name = self.ctx.graph.node_name(chain.end)
            self.ctx.watch.report(
                f"Think on graph, hop {number} of {self.operator.depth}: {name}",
                (number - 1) / self.operator.depth,
            )
            for relation_score, behind in self._rate_relations(chain, name):
                for score, step in self._rate_entities(behind, relation_score, name):
                    scored.append((score, chain.extended(*step)))
        scored.sort(key=lambda pair: (-pair[0], pair[1]))  # by (-score, path)
        best = [pair for pair in scored if pair[0] > 0][: self.operator.width]
        seeds = list(dict.fromkeys(path.start for _, path in scored))
        for seed in seeds:
            label = f" from {self.ctx.graph.node_name(seed)}" if len(seeds) > 1 else ""
            from_seed = _ranking_of_pairs([pair for pair in scored if pair[1].start == seed])
            selected = _ranking_of_pairs([pair for pair in best if pair[1].start == seed])
            self.recorder.frames.append(
                Frame(f"hop {number}{label}", selected, len(from_seed), from_seed)
            )
        return best

    def _is_enough(self, paths: list[Path]) -> bool:
        """Return whether the language model says that the facts found so far suffice.

        It is False on documents if no language model may be asked.
        """
        if not self.ctx.answering and self.ctx.graph.columns.has_texts:
            return False
        verdict, usage, clause = are_paths_sufficient(
            self.ctx.models.chat(self.operator.role), self.task, self.ctx.graph.texts(paths)
        )
        self.recorder.usage += usage
        self.recorder.notes.append(f"Hop {max(map(len, paths))}: {clause}.")
        return verdict

    def subgraph_read(self) -> Subgraph:
        """Return the part of the graph that was read."""
        return Subgraph(
            np.array(sorted(self.read_nodes), np.int64), np.array(sorted(self.read_edges), np.int64)
        )

    def _rate_relations(self, chain: Path, start: str) -> Iterator[tuple[float, EntitiesBehind]]:
        """Yield the scores of the best relations, with their entities.

        The relations are at the end of the chain. `start` is the name of the node at the end.
        """
        graph = self.ctx.graph
        steps = graph.steps_from(np.array([chain.end]), self.operator.direction)
        # a step along relation r has the code 2r, one against it 2r + 1
        codes = 2 * steps.relations + ~steps.forward
        way_back = None
        if len(chain):
            last_relation = int(graph.triples(np.array(chain.edges[-1:]))[1][0])
            way_back = 2 * last_relation + chain.forward[-1]
        names = {
            code: graph.relation_names[code >> 1]
            for code in np.unique(codes).tolist()
            if code != way_back
        }
        keys = sorted(
            (code for code in names if not INTERNAL_RELATION_PATTERN.match(names[code])),
            key=lambda code: (names[code], code & 1),
        )
        texts = [names[code] + ("_reverse" if code & 1 else "") for code in keys]
        for position, score in (self._rate("relation", start, texts) or {}).items():
            matches = np.flatnonzero(codes == keys[position])
            nodes, first = np.unique(steps.nodes[matches], return_index=True)
            yield score, (nodes, steps.edges[matches[first]], not keys[position] & 1)

    def _rate_entities(
        self, behind: EntitiesBehind, relation_score: float, start: str
    ) -> list[tuple[float, tuple[int, int, bool]]]:
        """Return the steps to the best entities behind a relation.

        They are (score, (node, edge, forward)). `start` is the name of the node before the
        relation.
        """
        nodes, edges, forward = behind
        n_entities = len(nodes)
        drawn = np.arange(n_entities)
        if n_entities >= MIN_ENTITIES_TO_DRAW:
            n_drawn = min(self.operator.sample, n_entities)
            drawn = np.sort(self.rng.choice(n_entities, n_drawn, replace=False))
        steps = [
            (node, edge, forward)
            for node, edge in zip(nodes[drawn].tolist(), edges[drawn].tolist())
        ]
        if n_entities > MAX_ENTITIES_READ:
            note = f"Of {n_entities:,} entities behind one relation only those drawn count as read."
            if note not in self.recorder.notes:
                self.recorder.notes.append(note)
            nodes, edges = nodes[drawn], edges[drawn]
        self.read_nodes.update(nodes.tolist())
        self.read_edges.update(edges.tolist())
        if n_entities == 1:
            return [(relation_score, steps[0])]
        names = self.ctx.graph.names(step[0] for step in steps)
        scores = None if all(map(is_unnamed, names)) else self._rate("node", start, names)
        if scores is None:
            scores = dict.fromkeys(range(len(steps)), 1 / len(steps))
        # the code of the In-depth Analysis ignores the score of the relation
        weight = relation_score if self.operator.relation else 1.0
        return [(weight * score, steps[position]) for position, score in scores.items()]

    def _rate(self, unit: str, start: str, texts: list[str]) -> dict[int, float] | None:
        """Return the scores of the best texts by position in `texts`.

        The best `width` texts have a score. The result is None if the model's reply cannot be read.

        Parameters
        ----------
        unit : "relation" or "node".
        start : the name of the node from which they lead.
        """
        if not texts:
            return {}
        operator = self.operator
        task = replace(self.task, unit=unit)
        if operator.model == RATE_BY_MODEL:
            chat = self.ctx.models.chat(operator.role)
            rated = rate_texts(chat, task, start, texts, operator.width)
            self.recorder.usage += rated.usage
            self.recorder.notes += [note for note in rated.notes if note not in self.recorder.notes]
            return rated.scores
        choice = self.recorder.record_choice(
            self.ctx.models.chooser(operator.model).choose(task, texts, operator.width)
        )
        # without positive scores all count the same
        if choice.scores is None or not any(score > 0 for score in choice.scores):
            return dict.fromkeys(choice.positions, 1 / max(1, len(choice.positions)))
        return {i: score for i, score in zip(choice.positions, choice.scores) if score > 0}


def _ranking_of_pairs(pairs: list[ScoredPath]) -> Ranking:
    return Ranking("path", tuple(path for _, path in pairs), tuple(score for score, _ in pairs))
