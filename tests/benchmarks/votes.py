"""Two rejected attempts to improve first answers on Freebase-like questions of one entity.

No language model is used. Both are compared with chain votes (results are in docs/figures.md). By
type: an end's votes are weighted by the similarity of its type (`person` or `country`, from the
relations that it is the head of) to the words that ask, and the graph reader looks for the expected
type of answer only among almost equally good paths. By fusion: the best paths are ordered by
reciprocal rank (Cormack, Clarke and Büttcher, SIGIR 2009) of their votes and of the encoder's
cosine of the question and the whole path with its entities.

Questions whose text has an odd MD5 are asked, by type. HOPSCOPE_BENCHMARK_TYPES=0.1,0.2 tries these
weights of the type, and the fusion without and with each, on the half used for choices.
HOPSCOPE_BENCHMARK_QUESTIONS and HOPSCOPE_BENCHMARK_SEED set the sample of each set.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np

from core.comparison.lane_run import LaneListener, LaneRun, PrefixCache
from core.engine import Engine
from core.evaluation.metrics.statistics import holm, paired_test
from core.graph.algorithms.mediators import mediator_step_mask
from core.graph.names.phrases import relation_phrase
from core.graph.names.word_index import words_of
from core.graph.protocol import KnowledgeGraph
from core.indexes.chain_cache import index_chain_texts
from core.indexes.chains import token_vectors
from core.indexes.question_masks import mask_entities
from core.operators import ChainVotes, GraphReader
from core.operators.base import Context, Line, Recorder
from core.operators.retrieve.chain_votes import ChainBallot, _make_ballots, _rank_paths
from core.sources import SourceQuestion
from core.types import Ranking, State
from tests.benchmarks.against import BEST, _asks, found
from tests.benchmarks.chains import _told
from tests.benchmarks.memory import DEVELOPMENT, HELD_OUT

TRIED = tuple(
    float(value) for value in os.environ.get("HOPSCOPE_BENCHMARK_TYPES", "").split(",") if value
)
TYPE_WEIGHT = 0.2  # Weight of the type, chosen on the half with an even MD5.
NEAR_FRACTION = 0.5  # Fraction of the best path's votes at which a path counts as almost as good.
# Number of paths that the encoder reads, and offset of ranks in the fusion.
READ, RANK_OFFSET = (48, 60)
SETS = ("webqsp-answerable", "cwq-answerable")
ASKING = frozenset("who whom whose what whats which where when how".split())


def run() -> list[dict]:
    """Fraction of right first answers per set and attempt, and questions won and lost.

    The baseline is chain votes.
    """
    engine, rows, tests = Engine(), [], []
    for name in SETS:
        here = list(_asks(engine, name, 1, DEVELOPMENT if TRIED else HELD_OUT))
        before = _score_each(engine, here, ChainVotes(), lambda lane: None)
        for told, now in _attempts(engine, here).items():
            test = paired_test("hit@1", "now", "before", now[:, 0], before[:, 0])
            won, lost = int((now > before)[:, 0].sum()), int((now < before)[:, 0].sum())
            note = (
                f"{len(here)} questions{_told(list(now[:, 0]))}, chain votes "
                f"{before[:, 0].mean():.3f}: {won} won, {lost} lost, "
            )
            note += f"{test.difference:+.3f} [{test.low:+.3f}, {test.high:+.3f}], p = {test.p:.2g}"
            note += f"; in the best {BEST} {before[:, 1].mean():.3f} and {now[:, 1].mean():.3f}"
            tests.append(test.p)
            rows.append(
                {
                    "name": f"{name}, {told}",
                    "value": float(now[:, 0].mean()),
                    "unit": "hit@1",
                    "note": note,
                }
            )
    for row, p in zip(rows, holm(tests), strict=True):
        row["note"] += f"; p over all rows {p:.2g}"
    return rows


def _attempts(engine, here: list[SourceQuestion]) -> dict[str, np.ndarray]:
    if not TRIED:
        return {
            f"type {TYPE_WEIGHT:g}": _score_each(
                engine, here, TypedVotes(types=TYPE_WEIGHT), _read_near_paths
            )
        }
    made = {
        f"type {worth:g}": _score_each(engine, here, TypedVotes(types=worth), _read_near_paths)
        for worth in (0.0, *TRIED)
    }
    return made | {
        f"fusion, type {worth:g}": _score_each(engine, here, TypedVotes(types=worth), _fuse_paths)
        for worth in (0.0, *TRIED)
    }


def _score_each(
    engine, here: list[SourceQuestion], votes: ChainVotes, change: Callable[[LaneRun], None]
) -> np.ndarray:
    """Correct first answers, and fractions of known answers in the best paths, float64 [n, 2]."""
    lanes = [LaneRun(ask, Line((votes,)), engine.environment, PrefixCache()) for ask in here]
    for lane in lanes:
        lane.retrieve(LaneListener())
        change(lane)
    return np.array([found(lane) for lane in lanes], float)


@dataclass(frozen=True, eq=False)
class TypedBallot(ChainBallot):
    """A ballot that multiplies the votes of ends by the weights of their types."""

    worth: dict[int, float]

    def votes(self, top: float, close: float, share: float) -> dict[int, tuple[float, int]]:
        return {
            end: (weight * self.worth.get(end, 1.0), place)
            for end, (weight, place) in super().votes(top, close, share).items()
        }


@dataclass(frozen=True, repr=False)
class TypedVotes(ChainVotes):
    """Chain votes, times exp(types * (fit - best fit) / close).

    The fit compares the end's type with the words that ask.
    """

    types: float = 0.0

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        ballots = _make_ballots(state, ctx, recorder, self, mediator_step_mask(ctx.graph))
        words = question_words(mask_entities(ctx.graph, state.question.text, state.seeds))
        worth: dict[int, float] = {}
        if self.types and words and ballots:
            encoder = ctx.models.encoder(self.encoder)
            nodes = np.unique(np.concatenate([ends for ballot in ballots for ends in ballot.ends]))
            fit = type_fit(ctx.graph, nodes, token_vectors(encoder, [words])[0], encoder)
            worth = dict(
                zip(nodes.tolist(), np.exp(self.types * (fit - fit.max()) / self.close).tolist())
            )
        typed = [
            TypedBallot(
                **{field.name: getattr(ballot, field.name) for field in fields(ChainBallot)},
                worth=worth,
            )
            for ballot in ballots
        ]
        paths = _rank_paths(typed, ctx, recorder, self)
        return state.replace(paths=Ranking("path", tuple(paths), tuple(paths.values())))


def question_words(question: str) -> str:
    """The first question word and the two words after it, in lower case, or an empty text."""
    words = [word.text for word in words_of(question)]
    first = next((at for at, word in enumerate(words) if word in ASKING), None)
    return "" if first is None else " ".join(words[first : first + 3])


def type_fit(graph: KnowledgeGraph, nodes: np.ndarray, asked: np.ndarray, encoder) -> np.ndarray:
    """Similarity of the words that ask to the types of nodes, float64 [len(nodes)].

    The words are given as token vectors. The types of a node follow from the relations that it is the head of (`film` by
    `film.film.genre`). Its fit is that of the most similar type: the mean over the type's tokens of
    the best cosine to a token of `asked`. A node without a type has the mean fit of the others.
    """
    types = [relation_phrase(name).head_type for name in graph.relation_names]
    steps = graph.steps_from(nodes, "out")
    there = [relation for relation in np.unique(steps.relations).tolist() if types[relation]]
    if not there:
        return np.zeros(len(nodes))
    alike = index_chain_texts(
        encoder, [()] * len(there), [types[relation] for relation in there]
    ).compare_tokens(asked, range(len(there)))
    of_relation = np.full(graph.n_relations, -np.inf)
    of_relation[there] = alike.sums / np.maximum(alike.lengths, 1)
    fit = np.full(len(nodes), -np.inf)
    np.maximum.at(fit, steps.rows, of_relation[steps.relations])
    return np.where(np.isfinite(fit), fit, fit[np.isfinite(fit)].mean())


def _read_near_paths(lane: LaneRun) -> None:
    """Restrict the graph reader to paths almost as good as the best one."""
    state = lane.state
    scores = state.paths.scores or ()
    near = tuple(
        path for path, score in zip(state.paths.items, scores) if score >= NEAR_FRACTION * scores[0]
    )
    context = Context(lane.graph, lane.environment)
    read = GraphReader()(state.replace(paths=Ranking("path", near), reader=None), context)
    lane.states[-1] = state.replace(reader=read.reader)


def _fuse_paths(lane: LaneRun) -> None:
    """Reorder the first `READ` paths by the reciprocal rank fusion of votes and cosine.

    The cosine is that of the encoder, and the end of the first path is the answer.
    """
    paths = lane.state.paths.items[:READ]
    if paths:
        encoder = lane.environment.models.encoder()
        question, *read = encoder.encode([lane.ask.question.text, *lane.graph.texts(paths)])
        rank = np.argsort(np.argsort(-(np.array(read) @ question), kind="stable"), kind="stable")
        fused = 1 / (RANK_OFFSET + 1 + np.arange(len(paths))) + 1 / (RANK_OFFSET + 1 + rank)
        order = np.argsort(-fused, kind="stable").tolist()
        best = tuple(paths[at] for at in order)
        lane.states[-1] = lane.state.replace(
            paths=Ranking("path", best, tuple(fused[order].tolist())), reader=(best[0].end,)
        )
