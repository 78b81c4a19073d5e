"""Path retrieval from solved questions, which vote for their relation chains.

A case is a solved question with the relation chains that lead to its answers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.environment import Environment
from core.errors import BadInput
from core.graph.algorithms.chains import Chain, chain_name, walk_chain
from core.indexes.cases import Cases, load_cases, own_stamp, text_key
from core.indexes.question_masks import mask_entities
from core.operators.base import DIRECTIONS, Context, Operator, Recorder
from core.operators.extract import DIRECTION_HELP
from core.operators.retrieve.chains import (
    CHAIN_PATHS_HELP,
    CHAIN_PRICE_HELP,
    CHAIN_STEPS_HELP,
    ENCODER_HELP,
    WALKED_CHAINS_HELP,
    ChainRanking,
    chains_in_words,
    score_chains,
    walk_chains,
)
from core.parameters import param
from core.types import State, Usage

# A neighbour is a case with a similar question. Its weight is its cosine to this power: 0.006 for a
# cosine of 0.9.
COSINE_EXPONENT = 48
# The weight of a chain is exp(factor * likeness), where likeness is its score in chain ranking. A
# likeness that is 0.1 higher makes the weight e³ = 20 times as large.
LIKENESS_FACTOR = 30
MIN_SOLUTION_F1 = 0.5  # a chain with a lower F1 is no solution
MIN_TWIN_COSINE = 0.99999  # two questions with a higher cosine differ only in the entity
TWIN_NOTE = (
    "The very same question was solved for another entity, as happens where a set is made from "
    "templates."
)
MAX_VOTERS_NOTED = 5  # neighbours named in the notes
SOURCE_HELP = (
    "Question sets or files with answers, and “own” for saved cases and thumbs up, with commas "
    "between."
)
SIZE_HELP = "Solved questions drawn from each set, the same every time."
ALIKE_HELP = "The least cosine of a neighbour's question, entities masked, that may vote."
RANKING_HELP = (
    "Chain ranking has a voice too: for every chain it counts like one solved question of this "
    "cosine. The higher, the more alike solved questions must be to outvote it; 0: they alone vote."
)
NEIGHBOURS_HELP = "The most similar solved questions vote, each the more the more similar it is."
METAQA_SOURCES = "metaqa-1hop-dev,metaqa-2hop-dev,metaqa-3hop-dev,own"
# position of a case, the cosine of its question, and its chains that start at the seeds
Voter = tuple[int, float, tuple[Chain, ...]]


def find_neighbours(
    state: State, ctx: Context, recorder: Recorder, operator: Any
) -> tuple[Cases, Iterator[tuple[int, float]]]:
    """Return the cases, and the position and cosine of those that may vote.

    The most similar cases come first. A case may vote if its question has a cosine of at least
    `operator.alike`, is not the question itself, and was solved by its chain. `operator` is a
    `CaseMemory` or a `PredictHops`.
    """
    encoder = ctx.models.encoder(operator.encoder)
    all_cases = load_cases(
        ctx.graph,
        encoder,
        operator.source,
        operator.size,
        operator.steps,
        operator.direction,
        ctx.watch,
        ctx.environment.solved_questions(ctx.graph.digest),
    )
    ctx.watch.report(f"Looking among {len(all_cases):,} solved questions")
    masked_question = mask_entities(ctx.graph, state.question.text, state.seeds)
    (vector,) = encoder.encode([masked_question], ctx.watch)
    recorder.usage += Usage(texts=1)
    question_key = text_key(state.question)
    neighbours = (
        (index, cosine)
        for index, cosine in all_cases.rank_cases(vector)
        if cosine >= operator.alike
        and all_cases.fits[index] >= MIN_SOLUTION_F1
        and not all_cases.keys[index].startswith(question_key)
    )
    return all_cases, neighbours


@dataclass(frozen=True, repr=False)
class CaseMemory(Operator):
    """Paths to the ends of the relation chains that solved the most similar questions.

    The ends of the best chain come first. Each solved question has the shortest chain whose ends
    best reproduce its answers (F1), or all such chains that tie. The `neighbours` most similar
    questions, with entities masked, vote for their chain if it starts at the seeds. The weight of a
    vote is cosine ^ 48 x F1 x exp(30 x likeness), where likeness is chain ranking's score of the
    chain.

    Chain ranking votes too, for every chain that starts at the seeds, with `ranking` as cosine and
    1 as F1. Less similar questions therefore cannot outvote it. If no solved question is similar
    enough, chain ranking decides alone. If the question itself is among the cases, it does not
    vote. BadInput is raised if no question is solved on the graph.

    This follows case-based reasoning over knowledge bases (CBR-KBQA, EMNLP 2021). The weights were
    chosen on development questions of MetaQA. `ranking` was chosen on half of the questions of all
    sets: the smallest value with which no set lost answers of chain ranking, beyond chance.

    >>> from core.io.home import home_folder
    >>> file = home_folder() / "solved.json"
    >>> _ = file.write_text(
    ...     '[{"question": "where does A lead", "entities": ["A"], "answers": ["D"]}]'
    ... )
    >>> line = f"CaseMemory(source='{file}', ranking=0.0, direction='out')"
    >>> answers(line, "A", question="where does A lead to", models=scores({}))
    ['A -> r1 -> C -> r4 -> D']
    """

    stage = "retrieve"
    title = "case memory"
    plain = "follows the relations that answered the most similar solved questions"
    reads, writes = ("seeds",), ("subgraph", "paths")

    source: str = param(METAQA_SOURCES, "Solved questions", SOURCE_HELP)
    size: int = param(1000, "Questions per set", SIZE_HELP, low=1, high=1_000_000)
    neighbours: int = param(10, "Neighbours", NEIGHBOURS_HELP, low=1, high=1000)
    alike: float = param(0.6, "Alike from", ALIKE_HELP, low=0.0, high=1.0)
    ranking: float = param(0.92, "Chain ranking counts as", RANKING_HELP, low=0.0, high=1.0)
    steps: int = param(3, "Steps", CHAIN_STEPS_HELP, low=1, high=4)
    chains: int = param(3, "Chains walked", WALKED_CHAINS_HELP, low=1, high=100)
    price: float = param(0.06, "Price of a step too many", CHAIN_PRICE_HELP, low=0, high=1)
    keep: int = param(1000, "Keep", CHAIN_PATHS_HELP, low=1, high=100_000)
    encoder: str = param("encoder", "Encoder", ENCODER_HELP, model=True)
    direction: str = param("graph", "Direction", DIRECTION_HELP, choices=DIRECTIONS)

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        cases, neighbours = find_neighbours(state, ctx, recorder, self)
        if not len(cases):
            raise BadInput(
                f"The case memory has no solved question on the graph “{ctx.graph.name}”: it looks "
                f"for questions of {self.source}, and none of them has its entities and an answer "
                "there. Name questions of this graph, as in CaseMemory(source='a-set')."
            )
        votes = _count_votes(state, ctx, recorder, cases, neighbours, self)
        if not votes:
            recorder.notes.append(
                f"None of {len(cases):,} solved questions is like this one; chain ranking decides."
            )
            return self._chain_ranking().apply(state, ctx, recorder)
        best_of_cases = _order_by_votes(votes)[0]  # before chain ranking votes
        for chain, vote in self._ranking_votes(state, ctx).items():
            votes[chain] = votes.get(chain, 0.0) + vote
        order = _order_by_votes(votes)
        if order[0] != best_of_cases:
            recorder.notes.append(
                "Not alike enough to outvote chain ranking: "
                f"{chain_name(ctx.graph, order[0])} comes before "
                f"{chain_name(ctx.graph, best_of_cases)}."
            )
        total = sum(votes.values())
        ranked = [(chain, votes[chain] / total, chain_name(ctx.graph, chain)) for chain in order]
        return walk_chains(state, ctx, recorder, ranked, self)

    def _chain_ranking(self) -> ChainRanking:
        return ChainRanking(
            self.steps, self.chains, self.price, self.keep, self.encoder, self.direction
        )

    def _ranking_votes(self, state: State, ctx: Context) -> dict[Chain, float]:
        """Return chain ranking's vote for each chain; empty if `ranking` is 0.

        The cost is not recorded, as the question's vectors are cached and no text is encoded again.
        """
        if not self.ranking:
            return {}
        return {
            chain: self.ranking**COSINE_EXPONENT * float(np.exp(LIKENESS_FACTOR * score))
            for chain, score, _ in self._chain_ranking().rank_chains(state, ctx, Recorder())
        }

    def stamp(self, graph, environment: Environment) -> str:
        return own_stamp(self.source, environment.solved_questions(graph.digest))

    def words(self) -> str:
        return f"case memory, {self.size:,} solved questions a set"


@dataclass(frozen=True, repr=False)
class PredictHops(Operator):
    """The number of steps to the answer, predicted by the most similar solved questions.

    The `neighbours` most similar questions vote as in the case memory, and the votes for chains of
    the same length are added. If none is similar enough, the length of the best chain by chain
    ranking is taken. The LEGO-GraphRAG report (B.8) leaves the prediction to a classifier such as
    FRAG, which is not published.

    >>> question = "the r4 of the r1 of A"
    >>> retrieve("PredictHops(source='own')", "A", question=question, models=scores({})).hops
    2
    """

    stage = "convert"
    title = "hop prediction"
    plain = "predicts the number of hops"
    reads, writes = ("seeds",), ("hops",)

    source: str = param(METAQA_SOURCES, "Solved questions", SOURCE_HELP)
    size: int = param(1000, "Questions per set", SIZE_HELP, low=1, high=1_000_000)
    neighbours: int = param(10, "Neighbours", NEIGHBOURS_HELP, low=1, high=1000)
    alike: float = param(0.6, "Alike from", ALIKE_HELP, low=0.0, high=1.0)
    steps: int = param(3, "Steps", CHAIN_STEPS_HELP, low=1, high=4)
    price: float = param(0.06, "Price of a step too many", CHAIN_PRICE_HELP, low=0, high=1)
    encoder: str = param("encoder", "Encoder", ENCODER_HELP, model=True)
    direction: str = param("graph", "Direction", DIRECTION_HELP, choices=DIRECTIONS)

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        cases, neighbours = find_neighbours(state, ctx, recorder, self)
        votes: dict[int, float] = {}  # by number of hops
        for chain, vote in _count_votes(state, ctx, recorder, cases, neighbours, self).items():
            votes[len(chain)] = votes.get(len(chain), 0.0) + vote
        if votes:
            return state.replace(hops=min(votes, key=lambda hops: (-votes[hops], hops)))
        ranked_chains = ChainRanking(
            self.steps, price=self.price, encoder=self.encoder, direction=self.direction
        ).rank_chains(state, ctx, recorder)
        reason = "There is no solved question on this graph"
        if len(cases):
            reason = f"None of {len(cases):,} solved questions is like this one"
        recorder.notes.append(f"{reason}; chain ranking decides.")
        return state.replace(hops=len(ranked_chains[0][0]) if ranked_chains else None)

    def stamp(self, graph, environment: Environment) -> str:
        return own_stamp(self.source, environment.solved_questions(graph.digest))

    def words(self) -> str:
        return "hops predicted"


def _count_votes(
    state: State,
    ctx: Context,
    recorder: Recorder,
    cases: Cases,
    neighbours: Iterator[tuple[int, float]],
    operator: Any,
) -> dict[Chain, float]:
    """Return the votes of the nearest cases for each chain.

    The chains start at the seeds. The result is empty if no case may vote. Notes name the voters.
    """
    voters = _choose_voters(state, ctx, cases, neighbours, operator)
    if not voters:
        return {}
    voted_chains: dict[Chain, None] = {}
    for _, _, chains in voters:
        voted_chains |= dict.fromkeys(chains)
    weights = _chain_weights(state, ctx, recorder, voted_chains, operator)
    votes: dict[Chain, float] = {}
    for case, cosine, chains in voters:
        for chain in chains:
            vote = cosine**COSINE_EXPONENT * cases.fits[case] * weights[chain]
            votes[chain] = votes.get(chain, 0.0) + vote
    recorder.notes.append(_name_voters(ctx, cases, voters))
    if voters[0][1] > MIN_TWIN_COSINE:
        recorder.notes.append(TWIN_NOTE)
    return votes


def _choose_voters(
    state: State, ctx: Context, cases: Cases, neighbours: Iterator[tuple[int, float]], operator: Any
) -> list[Voter]:
    """Return the nearest cases with a chain for the seeds.

    The chain leads from the seeds to another node.
    """
    leads_on: dict[Chain, bool] = {}  # cache, as many cases have the same chain
    voters: list[Voter] = []
    for case, cosine in neighbours:
        for chain in cases.chains[case]:
            if chain not in leads_on:
                leads_on[chain] = _leads_to_node(state, ctx, chain, operator.direction)
        chains = tuple(chain for chain in cases.chains[case] if leads_on[chain])
        if chains:
            voters.append((case, cosine, chains))
        if len(voters) == operator.neighbours:
            break
    return voters


def _name_voters(ctx: Context, cases: Cases, voters: Sequence[Voter]) -> str:
    """Return a note on the voters and the chains they voted for."""
    texts = []
    for case, cosine, chains in voters[:MAX_VOTERS_NOTED]:
        names = " or ".join(chain_name(ctx.graph, chain) for chain in chains)
        texts.append(f"“{cases.texts[case]}” ({cosine:.2f}) for {names}")
    return f"Of {len(cases):,} solved questions {len(voters)} voted: {'; '.join(texts)}."


def _order_by_votes(votes: dict[Chain, float]) -> list[Chain]:
    """Return the chains by (-votes, length, codes of their relations)."""
    return sorted(votes, key=lambda chain: (-votes[chain], len(chain), chain))


def _leads_to_node(state: State, ctx: Context, chain: Chain, direction: str) -> bool:
    """Return whether a chain leads from the seeds to another node."""
    front = walk_chain(ctx.graph, state.seeds, chain, direction, ctx.watch)
    return front is not None and len(front.ends(state.seeds)[0]) > 0


def _chain_weights(
    state: State, ctx: Context, recorder: Recorder, chains: Collection[Chain], operator: Any
) -> dict[Chain, float]:
    """Return exp(30 x likeness) for each chain, by its likeness to the question.

    A chain that is not in the index of chains gets the smallest likeness of the others.
    """
    index, question = chains_in_words(state, ctx, recorder, operator)
    indexed = [chain for chain in chains if chain in index.position_of]
    rows = [index.position_of[chain] for chain in indexed]
    scores = score_chains(state, ctx, index, question, rows, operator.price).tolist()
    score_by_chain = dict(zip(indexed, scores))
    lowest = min(scores, default=0.0)
    return {
        chain: float(np.exp(LIKENESS_FACTOR * score_by_chain.get(chain, lowest)))
        for chain in chains
    }
