"""Path retrieval in graphs with mediator nodes: relation chains vote for their ends."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.graph.algorithms.chains import Chain, chains_from, walk_chain
from core.graph.algorithms.mediators import count_verbal_steps, mediator_steps
from core.indexes.chain_cache import index_chain_texts
from core.indexes.chains import token_vectors
from core.indexes.mediator_texts import mediated_text, plain_phrase
from core.indexes.question_masks import mask_entities
from core.operators.base import DIRECTIONS, Context, Operator, Recorder
from core.operators.extract import DIRECTION_HELP
from core.operators.retrieve.chain_intersection import ChainIntersection
from core.operators.retrieve.chains import (
    CHAIN_PATHS_HELP,
    ENCODER_HELP,
    MAX_PAIRS_CONTINUED,
    named_nodes,
    subgraph_of_paths,
)
from core.parameters import param
from core.types import Frame, Path, Ranking, State, Usage

NAMED_STEPS_HELP = (
    "The longest chain in words: a passage through a node without a name is one step."
)
RELATIONS_HELP = (
    "The longest chain in relations, those into and out of nodes without a name counted."
)
WALKED_ENDS_HELP = (
    "The ends of so many chains, an entity's each counted, have paths; the best are walked first."
)
STEP_PRICE_HELP = (
    "What a chain's score loses with each step, so that of chains as alike the shorter comes first."
)
CLOSE_HELP = (
    "Scores so far apart make votes 2.7 times apart: the smaller, the less do chains count that "
    "are not the best."
)
SHARE_HELP = "What all chains of an entity to an end count beside the best of them."
Way = tuple[int, int]  # index of a ballot, and of one of its chains
RankedWays = list[tuple[float, Way]]  # best first, each with its negative score


@dataclass(frozen=True, repr=False)
class ChainVotes(Operator):
    """The ends of the relation chains most similar to the question.

    Ends of chains from several entities come first. All chains that start at an entity are put into
    words and encoded now. A passage through a mediator counts as one step. Chains are scored by
    late interaction as in `ChainRanking`, minus `price` a step. A chain of score s has the weight
    exp((s - best) / close).

    The votes of an end are summed over the entities: the weight of the entity's best chain to it,
    plus `share` of the weight of all its chains to it. Each end has a path for each entity, along
    the best chain. A path's score is the votes of its end. In a graph without mediators chain
    intersection decides.

    No training is needed. This is Hopscope's own. The constants were chosen on questions of WebQSP
    and CWQ whose text has an even MD5.

    >>> from core.graph.building.build import build_in_memory
    >>> triples = [("Ann", "job", "m.01"), ("m.01", "firm", "Ace"), ("m.01", "since", "1999")]
    >>> jobs = build_in_memory(triples, "jobs")
    >>> line, question = "ChainVotes(chains=1)", "the firm of the job of Ann"
    >>> answers(line, "Ann", graph=jobs, question=question, models=scores({}))
    ['Ann -> job -> m.01 -> firm -> Ace']
    """

    stage = "retrieve"
    title = "chain votes"
    plain = "lets sequences of up to {steps} relations vote for where they end"
    reads, writes = ("seeds",), ("subgraph", "paths")

    steps: int = param(2, "Steps", NAMED_STEPS_HELP, low=1, high=3)
    relations: int = param(4, "Relations", RELATIONS_HELP, low=1, high=6)
    chains: int = param(64, "Chains walked", WALKED_ENDS_HELP, low=1, high=1000)
    price: float = param(0.04, "Price of a step", STEP_PRICE_HELP, low=0, high=1)
    close: float = param(0.05, "Close scores", CLOSE_HELP, low=0.001, high=10)
    share: float = param(0.01, "Share of further chains", SHARE_HELP, low=0, high=1)
    keep: int = param(1000, "Keep", CHAIN_PATHS_HELP, low=1, high=100_000)
    encoder: str = param("encoder", "Encoder", ENCODER_HELP, model=True)
    direction: str = param("graph", "Direction", DIRECTION_HELP, choices=DIRECTIONS)

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        into = mediator_steps(ctx.graph)
        if not into.any():
            recorder.notes.append("No node is without a name; chain intersection decides.")
            return ChainIntersection(
                keep=self.keep, encoder=self.encoder, direction=self.direction
            ).apply(state, ctx, recorder)
        ballots = _ballots_of_entities(state, ctx, recorder, self, into)
        paths = _paths(ballots, ctx, recorder, self)
        ranking = Ranking("path", tuple(paths), tuple(paths.values()))
        return state.replace(paths=ranking, subgraph=subgraph_of_paths(state.seeds, ranking))

    def words(self) -> str:
        return f"chain votes, {self.steps} steps"


@dataclass(frozen=True, eq=False)
class ChainBallot:
    """The chains from one entity, with their named ends, words and scores."""

    seed: int
    chains: list[Chain]
    ends: list[np.ndarray]
    texts: list[str]
    scores: np.ndarray

    def votes(self, top: float, close: float, share: float) -> dict[int, tuple[float, int]]:
        """Return the votes of each end, and the position of its best chain.

        `top` is the best score of the chains of all entities.
        """
        order = np.argsort(-self.scores, kind="stable").tolist()
        weights = np.exp((self.scores - top) / close)
        best_chain: dict[int, int] = {}
        sums: dict[int, float] = defaultdict(float)
        for row in order:
            for end_node in self.ends[row].tolist():
                best_chain.setdefault(end_node, row)
                sums[end_node] += float(weights[row])
        return {
            end: (float(weights[chain]) + share * sums[end], chain)
            for end, chain in best_chain.items()
        }


def _ballots_of_entities(
    state: State, ctx: Context, recorder: Recorder, by: ChainVotes, into: np.ndarray
) -> list[ChainBallot]:
    """Return the ballots of the entities that have chains."""
    encoder = ctx.models.encoder(by.encoder)
    (question,) = token_vectors(
        encoder, [mask_entities(ctx.graph, state.question.text, state.seeds)], ctx.watch
    )
    phrases = [plain_phrase(name) for name in ctx.graph.relation_names]
    is_short = lambda chain: count_verbal_steps(chain, into) <= by.steps
    ballots = []
    for seed in dict.fromkeys(state.seeds):
        ctx.watch.report("Ranking relation chains")
        listed_chains = chains_from(
            ctx.graph, (seed,), by.relations, by.direction, MAX_PAIRS_CONTINUED, is_short, ctx.watch
        )
        chains_with_ends = [
            (chain, _possible_answers(ctx.graph, ends, state.seeds))
            for chain, ends in listed_chains
            if not into[chain[-1]]
        ]
        chains_with_ends = [(chain, ends) for chain, ends in chains_with_ends if len(ends)]
        if chains_with_ends:
            chains, end_nodes = map(list, zip(*chains_with_ends))
            texts = [mediated_text(chain, phrases, into) for chain in chains]
            index = index_chain_texts(encoder, chains, texts, ctx.watch)
            steps = np.array([count_verbal_steps(chain, into) for chain in chains])
            ballots.append(
                ChainBallot(
                    seed,
                    chains,
                    end_nodes,
                    texts,
                    np.round(index.scores(question, range(len(index))) - by.price * steps, 9),
                )
            )
    recorder.usage += Usage(texts=1 + sum(len(ballot.chains) for ballot in ballots))
    recorder.sizes["chains"] = sum(len(ballot.chains) for ballot in ballots)
    return ballots


def _possible_answers(graph, end_nodes: np.ndarray, seeds: Sequence[int]) -> np.ndarray:
    return named_nodes(graph, end_nodes[~np.isin(end_nodes, seeds)])


def _paths(
    ballots: Sequence[ChainBallot], ctx: Context, recorder: Recorder, by: ChainVotes
) -> dict[Path, float]:
    """Return the paths with their votes, by (-votes of their end, end).

    Of one end, the path along the best chain comes first.
    """
    votes, ways_to_end = _count_votes(ballots, by)
    order = sorted(votes, key=lambda end: (-round(votes[end], 9), end))
    ends_by_way = _choose_ways(order, ways_to_end, by)
    paths_by_way = {
        way: _paths_along_chain(ballots[way[0]], way[1], ends, votes, ctx, recorder, by)
        for way, ends in ends_by_way.items()
    }
    if ends_by_way:
        recorder.notes.append(_name_best_ways(ballots, list(ends_by_way)))
    ranked_paths: dict[Path, float] = {}
    for end_node in order:
        for _, way in ways_to_end[end_node]:
            path = paths_by_way.get(way, {}).get(end_node)
            if path is not None:
                ranked_paths[path] = votes[end_node]
    return ranked_paths


def _count_votes(
    ballots: Sequence[ChainBallot], by: ChainVotes
) -> tuple[dict[int, float], dict[int, RankedWays]]:
    """Return the votes of each end over all entities, and each entity's best way to it."""
    top = max((float(ballot.scores.max()) for ballot in ballots), default=0.0)
    votes: dict[int, float] = defaultdict(float)
    ways_to_end: dict[int, RankedWays] = defaultdict(list)
    for ballot_index, ballot in enumerate(ballots):
        for end_node, (weight, chain) in ballot.votes(top, by.close, by.share).items():
            votes[end_node] += weight
            score = float(ballot.scores[chain])
            ways_to_end[end_node].append((-score, (ballot_index, chain)))
    for ways in ways_to_end.values():
        ways.sort()
    return votes, ways_to_end


def _choose_ways(
    order: Sequence[int], ways_to_end: dict[int, RankedWays], by: ChainVotes
) -> dict[Way, list[int]]:
    """Return the ways that are walked, with the ends to which each is walked.

    The ends are served in order, until there are `keep` paths. There are at most `chains` ways.
    """
    ends_by_way: dict[Way, list[int]] = {}
    paths_left = by.keep
    for end_node in order:
        for _, way in ways_to_end[end_node][:paths_left]:
            if way in ends_by_way or len(ends_by_way) < by.chains:
                ends_by_way.setdefault(way, []).append(end_node)
                paths_left -= 1
        if not paths_left:
            break
    return ends_by_way


def _name_best_ways(ballots: Sequence[ChainBallot], ways: Sequence[Way]) -> str:
    """Return a note on the first ways, in words and with their scores."""
    n_chains = sum(len(ballot.chains) for ballot in ballots)
    texts = [
        f"{ballots[index].texts[chain]} ({ballots[index].scores[chain]:.2f})"
        for index, chain in ways[:3]
    ]
    return f"Best of {n_chains:,} chains: {'; '.join(texts)}."


def _paths_along_chain(
    ballot: ChainBallot,
    chain_index: int,
    end_nodes: Sequence[int],
    votes: dict[int, float],
    ctx: Context,
    recorder: Recorder,
    by: ChainVotes,
) -> dict[int, Path]:
    """Return the paths to these ends along one chain of an entity."""
    front = walk_chain(
        ctx.graph, (ballot.seed,), ballot.chains[chain_index], by.direction, ctx.watch
    )
    ends_reached = [end for end in end_nodes if end in front.now] if front is not None else []
    paths = front.paths(ends_reached) if front is not None and ends_reached else []
    ranking = Ranking("path", tuple(paths), tuple(votes[end] for end in ends_reached))
    recorder.frames.append(Frame(ballot.texts[chain_index], ranking, len(ballot.ends[chain_index])))
    return dict(zip(ends_reached, paths, strict=True))
