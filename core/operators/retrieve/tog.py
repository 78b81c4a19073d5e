"""Think-on-Graph: a language model walks the graph and says when it knows enough."""

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

NO_MODEL_SETTINGS = (
    "encoder",
    "facts",
)  # `model` and `exhausted` if no language model may be asked
RATE_BY_MODEL = "rate"  # value of `model`: the language model named by `role` rates from 0 to 1
MIN_ENTITIES_TO_DRAW = 20  # from this many entities behind one relation on, only a few are drawn
# Freebase's internal relations
INTERNAL_RELATION_PATTERN = re.compile(r"type\.object\.(type|name)|common\.|freebase\.|.*sameAs")
MAX_ENTITIES_READ = (
    100_000  # with more entities behind one relation, only the drawn ones count as read
)
EXHAUSTED_HELP = "alone: no facts are handed on; facts: those that were found."
RELATION_HELP = (
    "An entity of several scores relation times entity, as in ToG's code; else entity alone."
)
ScoredPath = tuple[float, Path]
# the entities behind a relation, ascending, the first edge to each, and the direction
EntitiesBehind = tuple[np.ndarray, np.ndarray, bool]


@dataclass(frozen=True, repr=False)
class ThinkOnGraph(Operator):
    """The chains of triples that a model keeps while it walks from the seeds.

    At most `width` chains are kept at each of `depth` hops. At each hop the model rates the
    relations to and from the end of each chain and keeps the best `width`. It then rates the
    entities behind each of them and again keeps the best `width`; of 20 or more entities only
    `sample` drawn ones are rated. The score of a chain is relation times entity; a single entity
    scores 1. The best `width` of all chains go on, but never those of score 0.

    Then a language model says whether the facts suffice. If it says yes, or if no chain can go on,
    the facts are returned, the longest chains first. If it never says yes, `exhausted` decides:
    with "alone" the language model answers from its own knowledge, as in the paper. The subgraph is
    the part that was read.

    Think-on-Graph, ICLR 2024, and its code. Differences: replies are JSON over numbered lists;
    temperature is 0, while the code prunes at 0.4; literals are entities too; the rest of a list
    counts 0 without a rating.

    A reply without ratings of relations ends its chain. A reply without ratings of entities gives
    each of n entities 1 / n. A relation is not walked back in the direction it just came. `model`
    may also be a scorer: the code's BM25 and sentence embeddings. On documents, if no language
    model may be asked, the code's sentence embeddings rate, and the facts are returned after the
    last hop.

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
        return state.replace(subgraph=walk.read(), paths=ranking)

    def _lacks_model(self, ctx: Context) -> bool:
        """Return whether this needs a language model and none may be asked."""
        needs_model = (self.model, self.exhausted) != NO_MODEL_SETTINGS
        return needs_model and not ctx.answering and ctx.graph.columns.of_texts

    def words(self) -> str:
        by = "" if self.model == RATE_BY_MODEL else f", {short_name(self.model)}"
        return f"think on graph, {self.width} wide, {self.depth} deep{by}"


class _QuestionWalk:
    """The walk of one question and the part of the graph it read."""

    def __init__(self, operator: ThinkOnGraph, state: State, ctx: Context, recorder: Recorder):
        self.operator, self.ctx, self.recorder = operator, ctx, recorder
        self.task = Task(state.question.text, "relation", ctx.seed, ctx.watch)
        self.rng = ctx.rng(state.question.text, operator)
        self.nodes = set(state.seeds)
        self.edges: set[int] = set()

    def take_hops(self, seeds: Sequence[int]) -> tuple[list[list[ScoredPath]], bool]:
        """Walk from the seeds; return the best chains of each hop, and whether more is wanted."""
        chains = [Path((seed,)) for seed in dict.fromkeys(seeds)]
        hops: list[list[ScoredPath]] = []
        while chains and len(hops) < self.operator.depth:
            best_pairs = self.hop(chains, len(hops) + 1)
            if not best_pairs:
                return hops, False
            hops.append(best_pairs)
            if self.enough([path for _, path in itertools.chain.from_iterable(hops)]):
                return hops, False
            chains = [path for _, path in best_pairs]
        return hops, bool(chains)

    def hop(self, chains: list[Path], number: int) -> list[ScoredPath]:
        """Return the best chains with one more step, best first."""
        scored: list[ScoredPath] = []
        for chain in chains:
            name = self.ctx.graph.node_name(chain.end)
            self.ctx.watch.report(
                f"Think on graph, hop {number} of {self.operator.depth}: {name}",
                (number - 1) / self.operator.depth,
            )
            for relation_score, behind in self._relations(chain, name):
                for score, (node, edge, forward) in self._entities(behind, relation_score, name):
                    scored.append((score, chain.extended(node, edge, forward)))
        scored.sort(key=lambda pair: (-pair[0], pair[1]))
        best_pairs = [pair for pair in scored if pair[0] > 0][: self.operator.width]
        seeds = list(dict.fromkeys(path.start for _, path in scored))
        for seed in seeds:
            every, selected = (
                [pair for pair in pairs if pair[1].start == seed] for pairs in (scored, best_pairs)
            )
            label = f" from {self.ctx.graph.node_name(seed)}" if len(seeds) > 1 else ""
            self.recorder.frames.append(
                Frame(
                    f"hop {number}{label}",
                    _ranking_of_pairs(selected),
                    len(every),
                    _ranking_of_pairs(every),
                )
            )
        return best_pairs

    def enough(self, paths: list[Path]) -> bool:
        """Return whether the language model says that the facts found so far suffice.

        It is False on documents if no language model may be asked.
        """
        if not self.ctx.answering and self.ctx.graph.columns.of_texts:
            return False
        texts = self.ctx.graph.texts(paths)
        verdict, usage, sentence = are_paths_sufficient(
            self.ctx.models.chat(self.operator.role), self.task, texts
        )
        self.recorder.usage += usage
        self.recorder.notes.append(f"Hop {max(map(len, paths))}: {sentence}.")
        return verdict

    def read(self) -> Subgraph:
        """Return the part of the graph that was read."""
        return Subgraph(
            np.array(sorted(self.nodes), np.int64), np.array(sorted(self.edges), np.int64)
        )

    def _relations(self, chain: Path, start: str) -> Iterator[tuple[float, EntitiesBehind]]:
        """Yield the relations kept at a chain's end, each with its score and entities."""
        graph = self.ctx.graph
        steps = graph.steps_from(np.array([chain.end]), self.operator.direction)
        codes = 2 * steps.relations + ~steps.forward
        previous = None
        if len(chain):
            # the relation that leads back
            previous = 2 * int(graph.triples(np.array(chain.edges[-1:]))[1][0]) + chain.forward[-1]
        names = {
            code: graph.relation_names[code >> 1]
            for code in np.unique(codes).tolist()
            if code != previous
        }
        keys = sorted(
            (code for code in names if not INTERNAL_RELATION_PATTERN.match(names[code])),
            key=lambda code: (names[code], code & 1),
        )
        texts = [names[code] + ("_reverse" if code & 1 else "") for code in keys]
        for position, score in (self._scores("relation", start, texts) or {}).items():
            matches = np.flatnonzero(codes == keys[position])
            nodes, first = np.unique(steps.nodes[matches], return_index=True)
            yield score, (nodes, steps.edges[matches[first]], not keys[position] & 1)

    def _entities(self, behind: EntitiesBehind, relation_score: float, start: str):
        """Return (score, step) for the entities kept behind one relation."""
        nodes, edges, forward = behind
        if len(nodes) >= MIN_ENTITIES_TO_DRAW:
            drawn_rows = np.sort(
                self.rng.choice(len(nodes), min(self.operator.sample, len(nodes)), replace=False)
            )
            if len(nodes) > MAX_ENTITIES_READ:
                note = (
                    f"Of {len(nodes):,} entities behind one relation only those drawn count as "
                    "read."
                )
                self.recorder.notes += [note] if note not in self.recorder.notes else []
                nodes, edges, drawn_rows = (
                    nodes[drawn_rows],
                    edges[drawn_rows],
                    np.arange(len(drawn_rows)),
                )
        else:
            drawn_rows = np.arange(len(nodes))
        self.nodes.update(nodes.tolist())
        self.edges.update(edges.tolist())
        steps = [
            (node, edge, forward)
            for node, edge in zip(nodes[drawn_rows].tolist(), edges[drawn_rows].tolist())
        ]
        if len(behind[0]) == 1:
            return [(relation_score, steps[0])]
        names = self.ctx.graph.names(step[0] for step in steps)
        scores = None if all(map(is_unnamed, names)) else self._scores("node", start, names)
        even = dict.fromkeys(range(len(steps)), 1 / len(steps))
        # weight 1 is the code of the In-depth Analysis
        weight = relation_score if self.operator.relation else 1.0
        return [
            (weight * score, steps[i]) for i, score in (even if scores is None else scores).items()
        ]

    def _scores(self, unit: str, start: str, texts: list[str]) -> dict[int, float] | None:
        """Return the score of each of the best `width` positions.

        Returns None if the model's reply cannot be read.
        """
        operator, task = self.operator, replace(self.task, unit=unit)
        if not texts:
            return {}
        if operator.model == RATE_BY_MODEL:
            rated = rate_texts(
                self.ctx.models.chat(operator.role), task, start, texts, operator.width
            )
            self.recorder.usage += rated.usage
            self.recorder.notes += [note for note in rated.notes if note not in self.recorder.notes]
            return rated.scores
        choice = self.recorder.choice(
            self.ctx.models.chooser(operator.model).choose(task, texts, operator.width)
        )
        if choice.scores is None or not any(score > 0 for score in choice.scores):
            return dict.fromkeys(choice.positions, 1 / max(1, len(choice.positions)))
        return {i: score for i, score in zip(choice.positions, choice.scores) if score > 0}


def _ranking_of_pairs(pairs: list[ScoredPath]) -> Ranking:
    return Ranking("path", tuple(path for _, path in pairs), tuple(score for score, _ in pairs))
