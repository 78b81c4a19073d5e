"""Training of the triple scorer of SubgraphRAG (`core.models.triple_scorer`).

The right triples are those on shortest paths from a question's entities to its answers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from core.environment import Environment
from core.errors import BadInput
from core.evaluation.runs.plan import DrawnQuestion
from core.finetune.loop import Schedule, Training, TrainingState
from core.finetune.split import linked_questions
from core.graph.algorithms.directional import distance_width
from core.graph.names.lookup import name_lookup
from core.models.base import NoModels
from core.models.triple_scorer import TRIPLE_SCORER_FILE, TRIPLE_SCORER_WEIGHTS, hidden_layer
from core.operators.base import Context
from core.operators.extract import PersonalizedPageRank
from core.operators.retrieve.scored_triples import triple_features
from core.types import Question, State, Subgraph
from core.watch import Watch

if TYPE_CHECKING:
    from torch import Tensor

RECALL_TRIPLES = 100  # triples that recall counts, as many as SubgraphRAG keeps
MAX_PATH_ANSWERS = 50  # known answers of a question to which paths are computed


@dataclass(frozen=True)
class TripleSettings:
    """Settings of the triple scorer's training.

    Parameters
    ----------
    nodes : nodes of the PageRank subgraph whose triples are scored.
    hidden : units of the hidden layer.
    epochs : passes over the questions.
    rate : the learning rate.
    """

    nodes: int = 1000
    hidden: int = 128
    epochs: int = 8
    rate: float = 1e-3
    seed: int = 0


@dataclass(frozen=True, eq=False)
class ScoredQuestion:
    """The features of a question's triples, and the right triples.

    The right triples are a mask, bool [triples]. The features are the arguments of
    `TripleScorer.scores`.
    """

    features: tuple[Any, ...]
    right: np.ndarray


def subgraph_of(
    graph: Any, question: Question, seeds: tuple[int, ...], nodes: int, watch: Watch
) -> Subgraph:
    """Return the subgraph of the `nodes` nodes of highest PageRank, whose triples are scored.

    The method `subgraph-rag` scores the same triples.
    """
    context = Context(graph, Environment(NoModels()), watch=watch.without_reports)
    subgraph = PersonalizedPageRank(keep=nodes)(State(question, seeds), context).subgraph
    assert subgraph is not None  # written by PersonalizedPageRank
    return subgraph


def shortest_path_mask(
    heads: np.ndarray, tails: np.ndarray, starts: Sequence[int], ends: Sequence[int], n: int
) -> np.ndarray:
    """Return the mask of the triples on shortest paths, bool [triples].

    The paths lead from a start to an end. Edges are followed in both directions. A start that is an
    end adds no triple.

    Parameters
    ----------
    heads, tails : node indices of the triples, int [triples].
    starts, ends : node indices.
    n : the number of nodes; all indices are below it.

    >>> from core.finetune.triples import shortest_path_mask
    >>> shortest_path_mask(np.array([0, 1, 0, 2]), np.array([1, 3, 2, 2]), [0], [3],
    ...     4).tolist()  # the path 0, 1, 3
    [True, True, False, False]
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import dijkstra

    adjacency = coo_matrix((np.ones(len(heads)), (heads, tails)), (n, n)).tocsr()
    distances = dijkstra(adjacency, directed=False, unweighted=True, indices=[*starts, *ends])
    mask = np.zeros(len(heads), bool)
    for from_start in distances[: len(starts)]:
        for end, to_end in zip(ends, distances[len(starts) :]):
            if np.isfinite(from_start[end]):
                through_triple = np.minimum(
                    from_start[heads] + to_end[tails], from_start[tails] + to_end[heads]
                )
                # The shortest walk through a triple counts the triple itself as one more edge.
                mask |= through_triple + 1 == from_start[end]
    return mask


def scored_question(
    graph: Any,
    question: Question,
    seeds: tuple[int, ...],
    settings: TripleSettings,
    name_vectors: Any,
    watch: Watch,
) -> ScoredQuestion | None:
    """Return the triples of a question with the right ones marked.

    The result is None if no triple is right. `name_vectors` reads the vectors of the graph's names.
    """
    subgraph = subgraph_of(graph, question, seeds, settings.nodes, watch)
    answer_nodes = map(name_lookup(graph).find_exact, question.answers[:MAX_PATH_ANSWERS])
    answers = sorted(set[int]().union(*answer_nodes) - set(seeds))
    heads, _, tails = graph.triples(subgraph.edges)
    # Number the nodes of the subgraph from 0 on; `local` are the numbers of heads, tails and seeds.
    nodes, local = np.unique(
        np.concatenate([heads, tails, np.asarray(seeds, np.int64)]), return_inverse=True
    )
    starts = np.flatnonzero(np.isin(nodes, seeds)).tolist()
    ends = np.flatnonzero(np.isin(nodes, answers)).tolist()
    local_heads = local[: len(heads)]
    local_tails = local[len(heads) : 2 * len(heads)]
    right = shortest_path_mask(local_heads, local_tails, starts, ends, len(nodes))
    if not right.any():
        return None
    features = triple_features(graph, subgraph, seeds, question.text, name_vectors)
    return ScoredQuestion(features, right)


def scored_questions(
    sample: Sequence[DrawnQuestion],
    engine,
    settings: TripleSettings,
    name_vectors: Callable[[Any], Any],
    watch: Watch,
) -> list[ScoredQuestion]:
    """Return the triples of all questions that have right ones, in their order.

    `name_vectors(graph)` returns the reader of the vectors of a graph's names.
    """
    scored = []
    for graph, question, seeds in linked_questions(sample, engine, "triples", watch):
        row = scored_question(graph, question, seeds, settings, name_vectors(graph), watch)
        if row:
            scored.append(row)
    return scored


def train_scorer(
    questions: Sequence[ScoredQuestion],
    validation: Sequence[ScoredQuestion],
    settings: TripleSettings,
    folder: Path,
    key: str,
    watch: Watch,
) -> tuple[dict[str, Tensor], TrainingState]:
    """Train the scorer, and return its weights and its training state.

    A step is one question, with binary cross-entropy over all its triples. Training stops early by
    the recall of right triples among the first `RECALL_TRIPLES` of the `validation` questions.
    Raises BadInput, RunCancelled, StoreError.
    """
    import torch

    if not questions or not validation:
        raise BadInput(
            "No question has a correct answer among the triples around its entities, so there is "
            "nothing to train on."
        )
    weights = initial_weights(len(questions[0].features[0]), settings)

    def step(number: int) -> float:
        epoch, index = divmod(number, len(questions))
        order = np.random.default_rng([settings.seed, epoch]).permutation(len(questions))
        question = questions[int(order[index])]
        loss = torch.nn.functional.binary_cross_entropy_with_logits(
            triple_logits(weights, question), torch.from_numpy(question.right.astype(np.float32))
        )
        loss.backward()
        return float(loss.detach())

    def measure() -> float:
        with torch.no_grad():
            logits = [triple_logits(weights, question).numpy() for question in validation]
        recalls = [_recall(scores, question.right) for scores, question in zip(logits, validation)]
        return float(np.mean(recalls))

    steps = settings.epochs * len(questions)
    schedule = Schedule(steps, settings.rate, measure_steps=max(1, len(questions) // 2), patience=6)
    state = Training(weights, schedule, step, measure, folder, key, watch).run(settings.seed)
    return {name: weight.detach() for name, weight in weights.items()}, state


def initial_weights(dimension: int, settings: TripleSettings) -> dict[str, Tensor]:
    """Return random weights by name, scaled by the number of inputs of their layer."""
    import torch

    generator = torch.Generator().manual_seed(settings.seed)
    input_sizes = {
        "question": dimension,
        "head": dimension,
        "relation": dimension,
        "tail": dimension,
        "head_place": distance_width(),
        "tail_place": distance_width(),
    }
    scale = (2 / sum(input_sizes.values())) ** 0.5
    weights = {
        name: torch.randn(rows, settings.hidden, generator=generator) * scale
        for name, rows in input_sizes.items()
    }
    weights |= {"bias": torch.zeros(settings.hidden), "out_bias": torch.zeros(1)}
    out_scale = (2 / settings.hidden) ** 0.5
    weights["out"] = torch.randn(settings.hidden, generator=generator) * out_scale
    assert set(weights) == set(TRIPLE_SCORER_WEIGHTS)
    return {name: weight.requires_grad_() for name, weight in weights.items()}


def triple_logits(weights: dict[str, Tensor], scored: ScoredQuestion) -> Tensor:
    """Return the logits of `TripleScorer.scores`, as a tensor with gradients."""
    import torch

    *arrays, triples = scored.features
    tensors = [torch.from_numpy(np.asarray(array, np.float32)) for array in arrays]
    hidden = hidden_layer(weights, (*tensors, triples))
    return torch.relu(hidden) @ weights["out"] + weights["out_bias"][0]


def save_weights(weights: dict[str, Tensor], folder: Path) -> None:
    """Write the weights as half-precision safetensors."""
    import torch
    from safetensors.torch import save_file

    save_file(
        {name: weight.to(torch.float16).contiguous() for name, weight in weights.items()},
        folder / TRIPLE_SCORER_FILE,
    )


def _recall(scores: np.ndarray, right: np.ndarray) -> float:
    """Return the recall of right triples among the highest scores.

    It is the share of the right triples that are among the `RECALL_TRIPLES` of highest score. If
    more triples are right, it is the share of right ones among these. Ties are ordered by index.
    """
    first = np.lexsort((np.arange(len(scores)), -scores))[:RECALL_TRIPLES]
    return float(right[first].sum() / min(RECALL_TRIPLES, right.sum()))
