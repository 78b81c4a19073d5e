"""Path retrieval in graphs with mediator nodes: relation chains vote for their ends."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.graph.algorithms.chains import Chain, chains_from, walk
from core.graph.algorithms.mediators import mediating, verbal_steps
from core.indexes.chains import token_vectors
from core.indexes.masking import masked
from core.indexes.mediated import mediated_text, plain_phrase
from core.indexes.verbalised import verbalised
from core.operators.base import DIRECTIONS, Context, Operator, Recorder
from core.operators.extract import DIRECTION_HELP
from core.operators.retrieve.chains import ENCODER_HELP, KEEP_HELP, LOOKED_AT, named, touched
from core.operators.retrieve.meeting import ChainIntersection
from core.parameters import param
from core.types import Frame, Path, Ranking, State, Usage

STEPS_HELP = "The longest chain in words: a passage through a node without a name is one step."
RELATIONS_HELP = (
    "The longest chain in relations, those into and out of nodes without a name counted."
)
WALKED_HELP = (
    "The ends of so many chains, an entity's each counted, have paths; the best are walked first."
)
PRICE_HELP = (
    "What a chain's score loses with each step, so that of chains as alike the shorter comes first."
)
CLOSE_HELP = (
    "Scores so far apart make votes 2.7 times apart: the smaller, the less do chains count that "
    "are not the best."
)
SHARE_HELP = "What all chains of an entity to an end count beside the best of them."


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

    >>> from core.graph.building.build import in_memory
    >>> triples = [("Ann", "job", "m.01"), ("m.01", "firm", "Ace"), ("m.01", "since", "1999")]
    >>> jobs = in_memory(triples, "jobs")
    >>> line, question = "ChainVotes(chains=1)", "the firm of the job of Ann"
    >>> answers(line, "Ann", graph=jobs, question=question, models=scores({}))
    ['Ann -> job -> m.01 -> firm -> Ace']
    """

    stage = "retrieve"
    title = "chain votes"
    plain = "lets chains of up to {steps} relations vote for where they end"
    reads, writes = ("seeds",), ("subgraph", "paths")

    steps: int = param(2, "Steps", STEPS_HELP, low=1, high=3)
    relations: int = param(4, "Relations", RELATIONS_HELP, low=1, high=6)
    chains: int = param(64, "Chains walked", WALKED_HELP, low=1, high=1000)
    price: float = param(0.04, "Price of a step", PRICE_HELP, low=0, high=1)
    close: float = param(0.05, "Close scores", CLOSE_HELP, low=0.001, high=10)
    share: float = param(0.01, "Share of further chains", SHARE_HELP, low=0, high=1)
    keep: int = param(1000, "Keep", KEEP_HELP, low=1, high=100_000)
    encoder: str = param("encoder", "Encoder", ENCODER_HELP, model=True)
    direction: str = param("graph", "Direction", DIRECTION_HELP, choices=DIRECTIONS)

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        into = mediating(ctx.graph)
        if not into.any():
            recorder.notes.append("No node is without a name; chain intersection decides.")
            return ChainIntersection(
                keep=self.keep, encoder=self.encoder, direction=self.direction
            ).apply(state, ctx, recorder)
        ballots = _ballots(state, ctx, recorder, self, into)
        paths = _paths(ballots, ctx, recorder, self)
        ranking = Ranking("path", tuple(paths), tuple(paths.values()))
        return state.replace(paths=ranking, subgraph=touched(state.seeds, ranking))

    def words(self) -> str:
        return f"chain votes, {self.steps} steps"


@dataclass(frozen=True, eq=False)
class Ballot:
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
        best: dict[int, int] = {}
        sums: dict[int, float] = defaultdict(float)
        for place in order:
            for end in self.ends[place].tolist():
                best.setdefault(end, place)
                sums[end] += float(weights[place])
        return {
            end: (float(weights[place]) + share * sums[end], place) for end, place in best.items()
        }


def _ballots(
    state: State, ctx: Context, recorder: Recorder, by: ChainVotes, into: np.ndarray
) -> list[Ballot]:
    """Return the ballots of the entities that have chains."""
    encoder = ctx.models.encoder(by.encoder)
    (question,) = token_vectors(
        encoder, [masked(ctx.graph, state.question.text, state.seeds)], ctx.watch
    )
    phrases = [plain_phrase(name) for name in ctx.graph.relation_names]
    short = lambda chain: verbal_steps(chain, into) <= by.steps
    found = []
    for seed in dict.fromkeys(state.seeds):
        ctx.watch.report("Ranking relation chains")
        listed = chains_from(
            ctx.graph, (seed,), by.relations, by.direction, LOOKED_AT, short, ctx.watch
        )
        here = [
            (chain, _answers(ctx.graph, ends, state.seeds))
            for chain, ends in listed
            if not into[chain[-1]]
        ]
        here = [(chain, ends) for chain, ends in here if len(ends)]
        if here:
            chains, ends = map(list, zip(*here))
            texts = [mediated_text(chain, phrases, into) for chain in chains]
            index = verbalised(encoder, chains, texts, ctx.watch)
            steps = np.array([verbal_steps(chain, into) for chain in chains])
            found.append(
                Ballot(
                    seed,
                    chains,
                    ends,
                    texts,
                    np.round(index.scores(question, range(len(index))) - by.price * steps, 9),
                )
            )
    recorder.usage += Usage(texts=1 + sum(len(ballot.chains) for ballot in found))
    recorder.sizes["chains"] = sum(len(ballot.chains) for ballot in found)
    return found


def _answers(graph, ends: np.ndarray, seeds: Sequence[int]) -> np.ndarray:
    return named(graph, ends[~np.isin(ends, seeds)])


def _paths(
    ballots: Sequence[Ballot], ctx: Context, recorder: Recorder, by: ChainVotes
) -> dict[Path, float]:
    """Return the paths with their votes, by (-votes of their end, end).

    Of one end, the path along the best chain comes first.
    """
    top = max((float(ballot.scores.max()) for ballot in ballots), default=0.0)
    votes: dict[int, float] = defaultdict(float)
    ways: dict[int, list[tuple[float, int, int]]] = defaultdict(list)
    for place, ballot in enumerate(ballots):
        for end, (weight, chain) in ballot.votes(top, by.close, by.share).items():
            votes[end] += weight
            ways[end].append((-float(ballot.scores[chain]), place, chain))
    # for each chain of an entity, the ends to which it is walked
    wanted: dict[tuple[int, int], list[int]] = {}
    order = sorted(votes, key=lambda end: (-round(votes[end], 9), end))
    left = by.keep
    for end in order:
        for _, place, chain in sorted(ways[end])[:left]:
            if (place, chain) in wanted or len(wanted) < by.chains:
                wanted.setdefault((place, chain), []).append(end)
                left -= 1
        if not left:
            break
    led = {
        way: _walked(ballots[way[0]], way[1], ends, votes, ctx, recorder, by)
        for way, ends in wanted.items()
    }
    if wanted:
        best = [
            f"{ballots[place].texts[chain]} ({ballots[place].scores[chain]:.2f})"
            for place, chain in list(wanted)[:3]
        ]
        recorder.notes.append(
            f"Best of {sum(len(ballot.chains) for ballot in ballots):,} chains: {'; '.join(best)}."
        )
    here = [
        (end, led[place, chain])
        for end in order
        for _, place, chain in sorted(ways[end])
        if (place, chain) in led
    ]
    return {found[end]: votes[end] for end, found in here if end in found}


def _walked(
    ballot: Ballot,
    place: int,
    ends: Sequence[int],
    votes: dict[int, float],
    ctx: Context,
    recorder: Recorder,
    by: ChainVotes,
) -> dict[int, Path]:
    """Return the paths to these ends along one chain of an entity."""
    front = walk(ctx.graph, (ballot.seed,), ballot.chains[place], by.direction, ctx.watch)
    reached = [end for end in ends if end in front.now] if front is not None else []
    paths = front.paths(reached) if front is not None and reached else []
    ranking = Ranking("path", tuple(paths), tuple(votes[end] for end in reached))
    recorder.frames.append(Frame(ballot.texts[place], ranking, len(ballot.ends[place])))
    return dict(zip(reached, paths, strict=True))
