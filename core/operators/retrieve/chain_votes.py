"""Path retrieval in graphs with mediator nodes: relation chains vote for their ends.

A mediator is a node without a name that joins several entities, as in Freebase.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.graph.algorithms.chains import Chain, chains_from, walk_chain
from core.graph.algorithms.mediators import count_named_hops, mediator_step_mask
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
BallotChain = tuple[int, int]  # index of a ballot, and index of a chain in it
RankedChains = list[tuple[float, BallotChain]]  # (-score, chain), best first


@dataclass(frozen=True, repr=False)
class ChainVotes(Operator):
    """Paths to the nodes for which the relation chains most similar to the question vote.

    Nodes at which chains from several entities end come first. All chains that start at an entity
    are put into words and encoded for the question. A passage through a mediator counts as one
    step. Chains are scored by late interaction as in `ChainRanking`, minus `price` a step. A chain
    of score s has the weight exp((s - best) / close).

    The votes of an end are summed over the entities. An entity gives the weight of its best chain
    to the end, plus `share` of the summed weight of all its chains to it. Each end has a path for
    each entity, along the best chain. A path's score is the votes of its end. In a graph without
    mediators chain intersection decides.

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
        is_mediator_step = mediator_step_mask(ctx.graph)
        if not is_mediator_step.any():
            recorder.notes.append("No node is without a name; chain intersection decides.")
            return ChainIntersection(
                keep=self.keep, encoder=self.encoder, direction=self.direction
            ).apply(state, ctx, recorder)
        ballots = _make_ballots(state, ctx, recorder, self, is_mediator_step)
        paths = _rank_paths(ballots, ctx, recorder, self)
        ranking = Ranking("path", tuple(paths), tuple(paths.values()))
        return state.replace(paths=ranking, subgraph=subgraph_of_paths(state.seeds, ranking))

    def words(self) -> str:
        return f"chain votes, {self.steps} steps"


@dataclass(frozen=True, eq=False)
class ChainBallot:
    """The chains from one entity, with their named ends, texts and scores.

    `ends`, `texts` and `scores` are aligned with `chains`. `ends` holds the node ids of each
    chain's ends.
    """

    seed: int
    chains: list[Chain]
    ends: list[np.ndarray]
    texts: list[str]
    scores: np.ndarray

    def votes(self, best_score: float, close: float, share: float) -> dict[int, tuple[float, int]]:
        """Return the votes of each end, and its best chain's position.

        `best_score` is that of the chains of all entities. `close` and `share` are parameters of
        `ChainVotes`.
        """
        weights = np.exp((self.scores - best_score) / close)
        best_chain: dict[int, int] = {}
        sums: dict[int, float] = defaultdict(float)
        for chain in np.argsort(-self.scores, kind="stable").tolist():
            for end in self.ends[chain].tolist():
                best_chain.setdefault(end, chain)
                sums[end] += float(weights[chain])
        return {
            end: (float(weights[chain]) + share * sums[end], chain)
            for end, chain in best_chain.items()
        }


def _make_ballots(
    state: State,
    ctx: Context,
    recorder: Recorder,
    operator: ChainVotes,
    is_mediator_step: np.ndarray,
) -> list[ChainBallot]:
    """Return the ballots of the entities that have chains to named nodes.

    `is_mediator_step` marks, by code of a relation and its direction, the steps to a mediator.
    """
    encoder = ctx.models.encoder(operator.encoder)
    masked_question = mask_entities(ctx.graph, state.question.text, state.seeds)
    (question,) = token_vectors(encoder, [masked_question], ctx.watch)
    phrases = [plain_phrase(name) for name in ctx.graph.relation_names]
    ballots = []
    for seed in dict.fromkeys(state.seeds):
        ctx.watch.report("Ranking relation chains")
        chains = []
        ends_of_chains = []
        for chain, nodes in chains_from(
            ctx.graph,
            (seed,),
            operator.relations,
            operator.direction,
            MAX_PAIRS_CONTINUED,
            lambda chain: count_named_hops(chain, is_mediator_step) <= operator.steps,
            ctx.watch,
        ):
            if not is_mediator_step[chain[-1]]:
                ends = named_nodes(ctx.graph, nodes[~np.isin(nodes, state.seeds)])
                if len(ends):
                    chains.append(chain)
                    ends_of_chains.append(ends)
        if chains:
            texts = [mediated_text(chain, phrases, is_mediator_step) for chain in chains]
            index = index_chain_texts(encoder, chains, texts, ctx.watch)
            steps = np.array([count_named_hops(chain, is_mediator_step) for chain in chains])
            scores = index.scores(question, range(len(index))) - operator.price * steps
            ballots.append(ChainBallot(seed, chains, ends_of_chains, texts, np.round(scores, 9)))
    n_chains = sum(len(ballot.chains) for ballot in ballots)
    recorder.usage += Usage(texts=1 + n_chains)
    recorder.sizes["chains"] = n_chains
    return ballots


def _rank_paths(
    ballots: Sequence[ChainBallot], ctx: Context, recorder: Recorder, operator: ChainVotes
) -> dict[Path, float]:
    """Return the paths with the votes of their ends, by (-votes, end).

    Of several paths to one end, the path along the best chain comes first.
    """
    votes, chains_to_end = _count_votes(ballots, operator)
    order = sorted(votes, key=lambda end: (-round(votes[end], 9), end))
    ends_by_chain = _choose_chains(order, chains_to_end, operator)
    paths_by_chain = {
        chain: _walk_to_ends(ballots, chain, ends, votes, ctx, recorder, operator)
        for chain, ends in ends_by_chain.items()
    }
    if ends_by_chain:
        recorder.notes.append(_name_best_chains(ballots, list(ends_by_chain)))
    ranked_paths: dict[Path, float] = {}
    for end in order:
        for _, chain in chains_to_end[end]:
            path = paths_by_chain.get(chain, {}).get(end)
            if path is not None:
                ranked_paths[path] = votes[end]
    return ranked_paths


def _count_votes(
    ballots: Sequence[ChainBallot], operator: ChainVotes
) -> tuple[dict[int, float], dict[int, RankedChains]]:
    """Return the votes of each end, and the best chains to it.

    The votes are over all entities. Each entity has one best chain to an end.
    """
    best_score = max((float(ballot.scores.max()) for ballot in ballots), default=0.0)
    votes: dict[int, float] = defaultdict(float)
    chains_to_end: dict[int, RankedChains] = defaultdict(list)
    for ballot_index, ballot in enumerate(ballots):
        for end, (vote, chain) in ballot.votes(best_score, operator.close, operator.share).items():
            votes[end] += vote
            score = float(ballot.scores[chain])
            chains_to_end[end].append((-score, (ballot_index, chain)))
    for ranked_chains in chains_to_end.values():
        ranked_chains.sort()
    return votes, chains_to_end


def _choose_chains(
    order: Sequence[int], chains_to_end: dict[int, RankedChains], operator: ChainVotes
) -> dict[BallotChain, list[int]]:
    """Return the chains to walk, each with the ends to reach.

    The ends of `order` get paths one after the other, until there are `keep` paths. At most
    `operator.chains` chains are walked.
    """
    ends_by_chain: dict[BallotChain, list[int]] = {}
    paths_left = operator.keep
    for end in order:
        for _, chain in chains_to_end[end][:paths_left]:
            if chain in ends_by_chain or len(ends_by_chain) < operator.chains:
                ends_by_chain.setdefault(chain, []).append(end)
                paths_left -= 1
        if not paths_left:
            break
    return ends_by_chain


def _name_best_chains(ballots: Sequence[ChainBallot], chains: Sequence[BallotChain]) -> str:
    """Return a note on the first chains, in words and with their scores."""
    n_chains = sum(len(ballot.chains) for ballot in ballots)
    texts = [
        f"{ballots[index].texts[chain]} ({ballots[index].scores[chain]:.2f})"
        for index, chain in chains[:3]
    ]
    return f"Best of {n_chains:,} chains: {'; '.join(texts)}."


def _walk_to_ends(
    ballots: Sequence[ChainBallot],
    ballot_chain: BallotChain,
    ends: Sequence[int],
    votes: dict[int, float],
    ctx: Context,
    recorder: Recorder,
    operator: ChainVotes,
) -> dict[int, Path]:
    """Return the paths to these ends along one chain of an entity."""
    ballot, row = ballots[ballot_chain[0]], ballot_chain[1]
    front = walk_chain(ctx.graph, (ballot.seed,), ballot.chains[row], operator.direction, ctx.watch)
    reached = [end for end in ends if end in front.nodes] if front is not None else []
    paths = front.paths(reached) if front is not None and reached else []
    ranking = Ranking("path", tuple(paths), tuple(votes[end] for end in reached))
    recorder.frames.append(Frame(ballot.texts[row], ranking, len(ballot.ends[row])))
    return dict(zip(reached, paths, strict=True))
