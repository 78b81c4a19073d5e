"""Path retrieval by relation chains from two entities that meet at a node."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations

import numpy as np

from core.graph.algorithms.chains import Chain, WalkFront, ranked_ends, walk_chain
from core.indexes.chains import ChainIndex, TokenSimilarity
from core.operators.base import DIRECTIONS, Context, Operator, Recorder
from core.operators.extract import DIRECTION_HELP
from core.operators.retrieve.chains import (
    CHAIN_PATHS_HELP,
    CHAIN_PRICE_HELP,
    CHAIN_STEPS_HELP,
    ENCODER_HELP,
    ChainRanking,
    chains_in_words,
    named_nodes,
    rows_of_chains,
    subgraph_of_paths,
)
from core.parameters import param
from core.types import Frame, Path, Ranking, State

MAX_CHAIN_PAIRS = 4_000  # pairs of chains that are tried, best first
# Price of a step in a pair's score. Of equally similar pairs the shorter ones come first, so that
# neighbours of the entities are preferred.
STEP_PRICE = 0.04
WALKED_PAIRS_HELP = (
    "The best pairs of chains that meet are followed; the graph reader answers the ends of the "
    "first."
)
BEAM_HELP = "Of the chains that start at an entity, so many are held against those of the other."


@dataclass(frozen=True, repr=False)
class ChainIntersection(Operator):
    """Paths along relation chains from one question entity that meet chains from another.

    A question such as "which films directed by A star B" or "the genre of the films that A directed
    and B wrote" names a chain to the answer and a constraint on a node of the chain. These are the
    queries 2i, ip and pi of complex query answering.

    For every two entities, the `beam` chains of each entity that are most similar to the question
    in words (as in `ChainRanking`) are paired. A pair is scored as one text, by the F1 of late
    interaction minus 0.04 a step. Of the pairs whose walks meet, the `chains` best are followed. If
    there is only one entity, or no chains meet, chain ranking decides. This is Hopscope's own. The
    0.04 was chosen on development questions of CWQ and on constructed questions about films.

    >>> line, question = "ChainIntersection(chains=1)", "the r5 of E and the r3 of C"
    >>> answers(line, "E", "C", question=question, models=scores({}))
    ['E -> r5 -> A', 'C -> r3 -> A']
    """

    stage = "retrieve"
    title = "chain intersection"
    plain = "finds where sequences of relations from each entity meet"
    reads, writes = ("seeds",), ("subgraph", "paths")

    steps: int = param(3, "Steps", CHAIN_STEPS_HELP, low=1, high=4)
    beam: int = param(64, "Chains of an entity", BEAM_HELP, low=1, high=1000)
    chains: int = param(3, "Pairs walked", WALKED_PAIRS_HELP, low=1, high=100)
    price: float = param(
        0.06,
        "Price of a step too many",
        f"Where chain ranking decides. {CHAIN_PRICE_HELP}",
        low=0,
        high=1,
    )
    keep: int = param(1000, "Keep", CHAIN_PATHS_HELP, low=1, high=100_000)
    encoder: str = param("encoder", "Encoder", ENCODER_HELP, model=True)
    direction: str = param("graph", "Direction", DIRECTION_HELP, choices=DIRECTIONS)

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        seeds = list(dict.fromkeys(state.seeds))
        meetings = []
        if len(seeds) > 1:
            meetings = _find_meetings(state, ctx, recorder, seeds, self)
            if not meetings:
                recorder.notes.append(
                    "No chains from two of the entities meet; chain ranking decides."
                )
        if not meetings:
            return ChainRanking(
                self.steps, self.chains, self.price, self.keep, self.encoder, self.direction
            ).apply(state, ctx, recorder)
        paths: dict[Path, float] = {}
        for meeting, score in meetings:
            new_paths = meeting.paths(self.keep - len(paths))
            for path in new_paths:
                paths.setdefault(path, score)
            if new_paths:
                frame_paths = Ranking("path", tuple(new_paths), (score,) * len(new_paths))
                recorder.frames.append(Frame(meeting.words, frame_paths, len(meeting.ends)))
        texts = [f"{meeting.words} ({score:.2f})" for meeting, score in meetings]
        recorder.notes.append(f"Chains that meet: {'; '.join(texts)}.")
        ranking = Ranking("path", tuple(paths), tuple(paths.values()))
        return state.replace(paths=ranking, subgraph=subgraph_of_paths(state.seeds, ranking))

    def words(self) -> str:
        return f"chain intersection, {self.steps} steps"


@dataclass(frozen=True, eq=False)
class EntityChains:
    """The chains from one entity, most similar to the question first.

    Attributes
    ----------
    seed : the entity.
    texts : the chains in words, aligned with `chains`.
    similarity : token similarities of the question and the chains, aligned with `chains`.
    fronts : cache of `walk_front`.
    """

    seed: int
    chains: list[Chain]
    texts: list[str]
    similarity: TokenSimilarity
    fronts: dict[Chain, WalkFront | None]
    ctx: Context
    direction: str

    def walk_front(self, chain: Chain) -> WalkFront | None:
        """Return the walks along a chain, cached; None if there is none."""
        if chain not in self.fronts:
            self.fronts[chain] = walk_chain(
                self.ctx.graph, (self.seed,), chain, self.direction, self.ctx.watch
            )
        return self.fronts[chain]


@dataclass(frozen=True, eq=False)
class MeetingChains:
    """Two chains from two entities that may meet at a node.

    `ends` is empty if they do not meet.

    Attributes
    ----------
    main : the entity of the chain to the answers.
    other : the entity of the constraint.
    chain : the chain to the answers.
    constraint : the chain from the other entity to the node at which both meet.
    meeting_step : number of steps of `chain` before that node.
    words : both chains in words.
    """

    main: EntityChains
    other: EntityChains
    chain: Chain
    constraint: Chain
    meeting_step: int
    words: str

    @property
    def chains_to_answers(self) -> tuple[Chain, Chain]:
        """The chains from each of the two entities to the answers."""
        return self.chain, self.constraint + self.chain[self.meeting_step :]

    @cached_property
    def meeting_nodes(self) -> np.ndarray:
        """The nodes at which the chains meet, ascending, without the two entities."""
        main_front = self.main.walk_front(self.chain[: self.meeting_step])
        other_front = self.other.walk_front(self.constraint)
        if main_front is None or other_front is None:
            return np.empty(0, np.int64)
        common_nodes = np.intersect1d(main_front.nodes, other_front.nodes)
        return common_nodes[~np.isin(common_nodes, (self.main.seed, self.other.seed))]

    @cached_property
    def front_to_answers(self) -> WalkFront | None:
        """The walks from the meeting nodes along the rest of the chain.

        None if there are none.
        """
        if not len(self.meeting_nodes):
            return None
        return walk_chain(
            self.main.ctx.graph,
            self.meeting_nodes,
            self.chain[self.meeting_step :],
            self.main.direction,
            self.main.ctx.watch,
        )

    @cached_property
    def ends(self) -> np.ndarray:
        """The answers: named nodes at the end of the chain.

        They are ordered by (-number of walks from the meeting nodes, id).
        """
        if self.front_to_answers is None:
            return np.empty(0, np.int64)
        return named_nodes(
            self.main.ctx.graph,
            ranked_ends(self.front_to_answers, (self.main.seed, self.other.seed)),
        )

    def paths(self, max_paths: int) -> list[Path]:
        """Return for each answer two paths through a meeting node, one from each entity.

        There are at most `max_paths` paths, in the order of the answers. The answers exist, as only
        pairs with `ends` are kept.
        """
        parts = ((self.main, self.chain[: self.meeting_step]), (self.other, self.constraint))
        joined_paths: list[Path] = []
        assert self.front_to_answers is not None  # there are ends
        n_answers = max(0, max_paths) // 2  # an answer has two paths
        for onward_path in self.front_to_answers.paths(self.ends[:n_answers]):
            for side, chain in parts:
                front = side.walk_front(chain)
                assert front is not None  # the chains have met
                (first_part,) = front.paths([onward_path.nodes[0]])
                joined_paths.append(
                    Path(
                        (*first_part.nodes, *onward_path.nodes[1:]),
                        first_part.edges + onward_path.edges,
                        first_part.forward + onward_path.forward,
                    )
                )
        return joined_paths


def _find_meetings(
    state: State,
    ctx: Context,
    recorder: Recorder,
    seeds: Sequence[int],
    operator: ChainIntersection,
) -> list[tuple[MeetingChains, float]]:
    """Return the best pairs of chains that meet, with their scores.

    No two pairs share a chain to the answers, so that the relations of a path identify its pair.
    """
    index, question = chains_in_words(state, ctx, recorder, operator)
    sides = [_rank_entity_chains(ctx, index, question, seed, operator) for seed in seeds]
    ctx.watch.report("Looking where relation chains meet")
    meetings: list[tuple[MeetingChains, float]] = []
    used_chains: set[Chain] = set()
    for meeting, score in _pair_chains(sides):
        ctx.watch.check()
        if used_chains.isdisjoint(meeting.chains_to_answers) and len(meeting.ends):
            used_chains.update(meeting.chains_to_answers)
            meetings.append((meeting, score))
            if len(meetings) == operator.chains:
                break
    return meetings


def _rank_entity_chains(
    ctx: Context, index: ChainIndex, question: np.ndarray, seed: int, operator: ChainIntersection
) -> EntityChains:
    """Return the `beam` chains from an entity that are most similar to the question."""
    rows = np.array(rows_of_chains(ctx, index, (seed,), operator), np.int64)
    alike = index.compare_tokens(question, rows)
    best = np.argsort(-np.round(alike.f1(), 9), kind="stable")[: operator.beam]
    return EntityChains(
        seed,
        [index.chains[row] for row in rows[best]],
        [index.texts[row] for row in rows[best]],
        alike[best],
        {},
        ctx,
        operator.direction,
    )


def _pair_chains(sides: Sequence[EntityChains]) -> Iterator[tuple[MeetingChains, float]]:
    """Yield the best `MAX_CHAIN_PAIRS` pairs of chains from two entities, with their scores.

    A pair includes the step after which the chains may meet. Of equal scores the shorter pair comes
    first, then the pair that meets nearer to the answer.
    """
    # Each column is a pair, and the rows are its sort keys, the first one most important: -score,
    # steps, -meeting step, then the indices of both entities and of both chains.
    columns = []
    for main_index, other_index in permutations(range(len(sides)), 2):
        main, other = sides[main_index], sides[other_index]
        lengths = np.array([len(chain) for chain in other.chains], np.int64)
        other_rows = np.arange(len(lengths))
        for main_row, chain in enumerate(main.chains):
            steps = len(chain) + lengths
            alike = main.similarity[np.full(len(steps), main_row)].combine(other.similarity)
            scores = np.round(alike.f1() - STEP_PRICE * steps, 9)
            # If both chains end at the answer, the pair is the same the other way round, and is
            # taken once.
            for meeting_step in range(1, len(chain) + (main_index < other_index)):
                constants = (-meeting_step, main_index, other_index, main_row)
                repeated = np.broadcast_to(np.array(constants)[:, None], (4, len(steps)))
                columns.append(np.stack([-scores, steps, *repeated, other_rows]))
    pairs = np.concatenate(columns, axis=1) if columns else np.zeros((7, 0))
    for column in np.lexsort(pairs[::-1])[:MAX_CHAIN_PAIRS]:  # lexsort takes the last key first
        meeting_step = -int(pairs[2, column])
        main_index, other_index, main_row, other_row = pairs[3:, column].astype(int).tolist()
        main, other = sides[main_index], sides[other_index]
        meeting = MeetingChains(
            main,
            other,
            main.chains[main_row],
            other.chains[other_row],
            meeting_step,
            f"{main.texts[main_row]}, {other.texts[other_row]}",
        )
        yield meeting, -float(pairs[0, column])
