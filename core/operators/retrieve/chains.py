"""Path retrieval by relation chains that are similar to the question.

A chain is a sequence of relations with directions. The question, with its entity masked, is
compared with all chains that start at the seeds. The functions are shared with the other chain
operators.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.graph.algorithms.chains import Chain, chains_from, ranked_ends, walk_chain
from core.graph.identifier_names import is_unnamed
from core.indexes.chains import ChainIndex, chain_index, token_vectors
from core.indexes.question_masks import mask_entities
from core.operators.base import DIRECTIONS, Context, Operator, Recorder
from core.operators.extract import DIRECTION_HELP
from core.parameters import param
from core.types import Frame, Path, Ranking, State, Subgraph, Usage

# A chain is continued from at most so many pairs of start and end node, when the chains at seeds
# are listed.
MAX_PAIRS_CONTINUED = 256
WORDS_PER_STEP = 3  # for each three words of the question, a chain has one step without a price
# An apostrophe counts as a word: “Ann's films” are “the films of Ann”.
_WORD_PATTERN = re.compile(r"\w+|['’]")
CHAIN_STEPS_HELP = "The longest chain. Each step more is many chains more to choose from."
WALKED_CHAINS_HELP = (
    "The best chains are walked from the seeds; the graph reader answers the ends of the first."
)
CHAIN_PRICE_HELP = (
    "What a chain's score loses for each step that the question has no room for: three words make "
    "room for a step, so that a short question is not answered by a long chain that says its "
    "words twice. 0: any chain may be as long as it likes."
)
ENCODER_HELP = "The sentence encoder that reads the question and the chains."
CHAIN_PATHS_HELP = (
    "How many paths stay: for each end of a walked chain one, the chains one after the other."
)


@dataclass(frozen=True, repr=False)
class ChainRanking(Operator):
    """Paths to the ends of the `chains` relation chains most similar to the question in words.

    The ends of the best chain come first. A chain is a sequence of relations with directions. In
    words, from its last step to its first, it reads `the genre of the films directed by X`. All
    chains of the graph are encoded once and stored. The question, with X for its entity, costs one
    encoder call.

    Chains that start at the seeds are scored by late interaction in both directions (F1 of the
    tokens' best cosines). A chain may have one step for each three words of the masked question.
    Each further step lowers its score by `price`, and a third of a step by a third of that. The
    best chains are walked and give one path for each end; ends that more walks reach come first.

    No solved question and no training is needed. This is Hopscope's own. The price and the third
    were chosen on questions of MetaQA, PathQuestion, WebQSP and CWQ whose text has an even MD5.

    >>> answers("ChainRanking(chains=1)", "A", question="the r4 of the r1 of A", models=scores({}))
    ['A -> r1 -> C -> r4 -> D']
    """

    stage = "retrieve"
    title = "chain ranking"
    plain = "picks sequences of up to {steps} relations that best match the question"
    reads, writes = ("seeds",), ("subgraph", "paths")

    steps: int = param(3, "Steps", CHAIN_STEPS_HELP, low=1, high=4)
    chains: int = param(3, "Chains walked", WALKED_CHAINS_HELP, low=1, high=100)
    price: float = param(0.06, "Price of a step too many", CHAIN_PRICE_HELP, low=0, high=1)
    keep: int = param(1000, "Keep", CHAIN_PATHS_HELP, low=1, high=100_000)
    encoder: str = param("encoder", "Encoder", ENCODER_HELP, model=True)
    direction: str = param("graph", "Direction", DIRECTION_HELP, choices=DIRECTIONS)

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        chosen_chains = self.rank_chains(state, ctx, recorder)
        if chosen_chains:
            best = "; ".join(
                f"{words} ({score:.2f})" for _, score, words in chosen_chains[: self.chains]
            )
            recorder.notes.append(f"Best of {len(chosen_chains):,} chains: {best}.")
            recorder.sizes["chains"] = len(chosen_chains)
        return walk_chains(state, ctx, recorder, chosen_chains, self)

    def rank_chains(
        self, state: State, ctx: Context, recorder: Recorder
    ) -> list[tuple[Chain, float, str]]:
        """Return the chains at the seeds as (chain, score, words), best first."""
        index, question = chains_in_words(state, ctx, recorder, self)
        ctx.watch.report("Ranking relation chains")
        rows = rows_of_chains(ctx, index, state.seeds, self)
        scores = score_chains(state, ctx, index, question, rows, self.price)
        ranked_chains = []
        for i in np.argsort(-scores, kind="stable").tolist():
            ranked_chains.append((index.chains[rows[i]], float(scores[i]), index.texts[rows[i]]))
        return ranked_chains

    def words(self) -> str:
        return f"chain ranking, {self.steps} steps"


def chains_in_words(
    state: State, ctx: Context, recorder: Recorder, operator: Any
) -> tuple[ChainIndex, np.ndarray]:
    """Return the index of the graph's chains in words, and the question's token vectors.

    The entities of the question are masked. `operator` is any chain operator; its fields `steps`,
    `direction` and `encoder` are used.
    """
    encoder = ctx.models.encoder(operator.encoder)
    index = chain_index(ctx.graph, encoder, operator.steps, operator.direction, ctx.watch)
    if index.n_found > len(index):
        recorder.notes.append(
            f"Only the {len(index):,} shortest and commonest of {index.n_found:,} chains are known."
        )
    recorder.usage += Usage(texts=1)
    masked_question = mask_entities(ctx.graph, state.question.text, state.seeds)
    (question,) = token_vectors(encoder, [masked_question], ctx.watch)
    return index, question


def rows_of_chains(
    ctx: Context, index: ChainIndex, seeds: Sequence[int], operator: Any
) -> list[int]:
    """Return the rows in the index of the chains that start at some seeds.

    `operator` is any chain operator; its fields `steps` and `direction` are used.
    """
    seed_chains = chains_from(
        ctx.graph,
        seeds,
        operator.steps,
        operator.direction,
        MAX_PAIRS_CONTINUED,
        index.prefixes.__contains__,
        ctx.watch,
    )
    return [index.position_of[chain] for chain, _ in seed_chains if chain in index.position_of]


def score_chains(
    state: State,
    ctx: Context,
    index: ChainIndex,
    question: np.ndarray,
    rows: Sequence[int],
    price: float,
) -> np.ndarray:
    """Return the similarity of the question and some chains.

    The price of their length is subtracted.

    Parameters
    ----------
    question : token vectors of the question.
    rows : positions of the chains in the index.
    price : reduction of the score for each step beyond those that the question's length allows.

    Returns
    -------
    float64, aligned with `rows`.
    """
    masked_question = mask_entities(ctx.graph, state.question.text, state.seeds)
    free_steps = len(_WORD_PATTERN.findall(masked_question)) / WORDS_PER_STEP
    steps = np.array([len(index.chains[row]) for row in rows], np.int64)
    penalties = price * np.maximum(0, steps - free_steps)
    return np.round(index.scores(question, rows) - penalties, 9)


def walk_chains(
    state: State,
    ctx: Context,
    recorder: Recorder,
    ranked_chains: Sequence[tuple[Chain, float, str]],
    operator: Any,
) -> State:
    """Return the state with the paths along the best chains, and with their subgraph.

    `ranked_chains` holds (chain, score, words), best first. The first `operator.chains` chains with
    an end are walked. There are at most `operator.keep` paths, one for each end with a name. The
    ends of a chain are ordered by (-number of walks to them, id). A path's score is that of its
    chain. The step has a frame for each chain.
    """
    paths: dict[Path, float] = {}
    n_followed = 0
    for chain, score, words in ranked_chains:
        if n_followed == operator.chains or len(paths) == operator.keep:
            break
        front = walk_chain(ctx.graph, state.seeds, chain, operator.direction, ctx.watch)
        if front is None:
            continue
        end_nodes = named_nodes(ctx.graph, ranked_ends(front, state.seeds))
        new_paths = front.paths(end_nodes[: operator.keep - len(paths)])
        paths |= dict.fromkeys(new_paths, score)
        if front.is_cut:
            recorder.notes.append(
                f"{words}: more walks than can be followed; the ends are those of the first."
            )
        if new_paths:
            n_followed += 1
            frame_paths = Ranking("path", tuple(new_paths), (score,) * len(new_paths))
            recorder.frames.append(Frame(words, frame_paths, len(end_nodes)))
    ranking = Ranking("path", tuple(paths), tuple(paths.values()))
    return state.replace(paths=ranking, subgraph=subgraph_of_paths(state.seeds, ranking))


def named_nodes(graph, nodes: np.ndarray) -> np.ndarray:
    """Return the nodes that have a name, in their order."""
    if len(nodes):
        return nodes[[not is_unnamed(graph.node_name(node)) for node in nodes.tolist()]]
    return nodes


def subgraph_of_paths(seeds: Sequence[int], paths: Ranking) -> Subgraph:
    """Return the seeds with the nodes and edges of the paths."""
    nodes = set(seeds)
    edges: set[int] = set()
    for path in paths.items:
        nodes.update(path.nodes)
        edges.update(path.edges)
    return Subgraph(np.array(sorted(nodes), np.int64), np.array(sorted(edges), np.int64))
