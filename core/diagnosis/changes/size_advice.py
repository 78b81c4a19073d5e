"""Advice on the number of nodes of a question's subgraph, with reasons.

It follows LEGO-GraphRAG, technical report, section B.5. The report asks for a recall of at least 50
to 75 % of the answers. The aim is higher for complex questions (several entities, several answers,
nested). It is lower if the graph is dense around the entities, and higher if it is sparse. A log of
feedback adjusts it.

The report gives no size, so the estimate is ours. A walk of as many steps as the question needs
spreads over `spread` nodes, the exponential of the entropy of its position. The k nodes of the
largest PageRank are assumed to keep the share k / (k + spread) of the answers. An aim t then needs
t / (1 - t) times the spread. The estimate is careful: on MetaQA more answers are kept.

Two recommendations of the report are not followed. A language model should estimate how vague a
question is or how many hops it takes. Instead, the hops are those of the question set, else guessed
from the question's length, because such advice costs nothing and is reproducible. The aim should
also depend on the purpose of the answer (2): 60 to 75 % for critical tasks, 50 to 60 % for light
ones. No question tells its purpose; users who know it change `keep`.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.diagnosis.wording import count_noun, join_words
from core.graph.protocol import KnowledgeGraph
from core.languages.spelling import fold
from core.types import Question, Rating


@dataclass(frozen=True)
class SizeAdviceDefaults:
    """Bounds of the advised size of a subgraph."""

    nodes: int = 1000  # usual number of nodes to keep
    min_nodes: int = 50
    max_nodes: int = 20_000
    # words of a question, a name counting as one, from which three steps are likely: 93 % of
    # MetaQA's 3-hop questions are that long, and 28 % of its 2-hop ones
    three_step_words: int = 10
    answer_share: float = 0.60  # usual share of the answers to keep
    min_answer_share: float = 0.50
    max_answer_share: float = 0.75
    answer_share_step: float = 0.05  # change for one reason
    max_walk_edges: int = 500_000  # followed in one step of the walk
    min_shared_words: float = 0.5  # share of common words of similar questions, without names


SIZE_ADVICE = SizeAdviceDefaults()
NESTING_WORD = re.compile(r"\b(and|or|both|same|also|that|which|whose|whom)\b", re.IGNORECASE)


@dataclass(frozen=True)
class SizeAdvice:
    """The advised number of nodes, with the figures and sentences that lead to it.

    Parameters
    ----------
    keep : the number of nodes.
    aim : the share of the answers that should be kept.
    steps : the number of hops assumed.
    spread : the number of nodes over which a walk of that many steps spreads.
    reasons : sentences.
    """

    keep: int
    aim: float
    steps: int
    spread: float
    reasons: tuple[str, ...]


def advise_subgraph_size(
    graph: KnowledgeGraph, question: Question, seeds: Sequence[int], ratings: Sequence[Rating] = ()
) -> SizeAdvice:
    """Return the advised size of the subgraph for a question that starts from `seeds`.

    The advice is not applied; the caller shows it.

    Parameters
    ----------
    question : the number of steps is its `hops`, if these are known.
    seeds : ids of the question entities.
    ratings : the feedback log of the graph.
    """
    steps, why_steps = _count_steps(question)
    spread, edges = walk_spread(graph, seeds, steps)
    density, why_density = _compare_density(graph, spread, steps, edges)
    aim, why_aim = _choose_aim(question, seeds, steps, density)
    estimate = spread * aim / (1 - aim)
    keep, why_feedback = adjust_by_feedback(estimate, question, ratings)
    size = _round_size(min(max(keep, SIZE_ADVICE.min_nodes), SIZE_ADVICE.max_nodes, graph.n_nodes))
    usual = ", as is usual."
    if size != SIZE_ADVICE.nodes:
        usual = f", where {SIZE_ADVICE.nodes:,} are usual."
    sentences = (
        why_steps,
        why_density,
        why_aim,
        why_feedback,
        f"Together: about {size:,} nodes{usual}",
    )
    return SizeAdvice(size, aim, steps, spread, tuple(filter(None, sentences)))


def walk_spread(graph: KnowledgeGraph, seeds: Sequence[int], steps: int) -> tuple[float, int]:
    """Return a random walk's spread, and the number of edges at seeds.

    The spread is in nodes. The spread is exp(-sum p ln p), where p are the probabilities of the
    walk's position after the last step. The walk takes every edge at a node with the same
    probability. In a very large neighbourhood only the most likely nodes continue, so that at most
    `SIZE_ADVICE.max_walk_edges` edges are followed in a step. The rest keeps its position.
    """
    nodes, counts = np.unique(np.asarray(seeds, np.int64), return_counts=True)
    mass = counts / counts.sum()
    edges = int(graph.degrees(nodes, "graph").sum())
    for _ in range(steps):
        nodes, mass = _walk_step(graph, nodes, mass)
    return float(np.exp(-(mass * np.log(mass)).sum())), edges


def _walk_step(
    graph: KnowledgeGraph, nodes: np.ndarray, mass: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes (ascending) and probabilities after one step of the walk.

    A node without edges keeps its probability, and so do the least likely nodes beyond the limit of
    edges.
    """
    degrees = graph.degrees(nodes, "graph")
    order = np.lexsort((nodes, -mass))
    is_within_limit = np.cumsum(degrees[order]) <= SIZE_ADVICE.max_walk_edges
    going = order[is_within_limit & (degrees[order] > 0)]
    staying = np.setdiff1d(order, going)
    steps = graph.steps_from(nodes[going], "graph")
    reached, inverse = np.unique(np.concatenate([nodes[staying], steps.nodes]), return_inverse=True)
    mass_per_edge = mass[going] / degrees[going]
    moved_mass = np.concatenate([mass[staying], mass_per_edge[steps.rows]])
    return reached, np.bincount(inverse, moved_mass)


def _count_steps(question: Question) -> tuple[int, str]:
    """Return how many hops a question needs, and the reason.

    The number is known, or guessed from the length of the question.
    """
    if question.hops:
        return (
            question.hops,
            f"The question set says that it needs {count_noun(question.hops, 'hop')}.",
        )
    words = len(question_form(question).split())
    if words >= SIZE_ADVICE.three_step_words:
        return (
            3,
            f"The question has {words} words, a name counted as one: such long ones mostly need "
            "three hops.",
        )
    return 2, f"The question has {words} words, a name counted as one: two hops are allowed for."


def question_form(question: Question) -> str:
    """Return the question in lower case, without punctuation, with X for its entities."""
    text = question.text
    for name in sorted(question.entities, key=lambda name: (-len(name), name)):
        text = re.sub(re.escape(name), "X", text, flags=re.IGNORECASE) if name else text
    return " ".join(re.findall(r"[\w']+", fold(text)))


def _compare_density(
    graph: KnowledgeGraph, spread: float, steps: int, edges: int
) -> tuple[int, str]:
    """Compare the growth of neighbourhoods with the graph's mean degree.

    The result is 1 if they grow more than twice as fast, -1 if less than half as fast, else 0, with
    a sentence. `edges` is the number of edges at the seeds.
    """
    mean = (1 if graph.direction != "both" else 2) * graph.n_edges / max(1, graph.n_nodes)
    growth = spread ** (1 / steps)
    density = int(growth > 2 * mean) - int(growth < mean / 2)
    how_dense = {1: "dense", -1: "sparse", 0: "as elsewhere in the graph"}[density]
    about = f"{spread:,.0f}" if spread >= 10 else f"{spread:.1f}"
    return density, (
        f"The entities have {count_noun(edges, 'edge')}, and a walk of {count_noun(steps, 'hop')} "
        f"spreads over about {about} nodes, "
        f"{growth:.1f} times as many each hop: {how_dense} (mean degree {mean:.1f})."
    )


def _choose_aim(
    question: Question, seeds: Sequence[int], steps: int, density: int
) -> tuple[float, str]:
    """Return the share of answers to keep, and a sentence with reasons.

    `density` is the result of `_compare_density`.
    """
    entities = len(set(seeds))
    reasons: list[str] = []
    aim = SIZE_ADVICE.answer_share
    if entities > 1:
        aim += SIZE_ADVICE.answer_share_step
        reasons.append(f"it names {entities} entities")
    if steps >= 3:
        aim += SIZE_ADVICE.answer_share_step
        reasons.append("it needs several hops")
    # The first word is a question word such as which, and does not nest.
    if len(NESTING_WORD.findall(question_form(question).partition(" ")[2])) > 1:
        aim += SIZE_ADVICE.answer_share_step
        reasons.append("it is nested")
    if steps <= 1 and not reasons:
        aim -= SIZE_ADVICE.answer_share_step
        reasons.append("it is simple")
    if density:
        aim -= density * SIZE_ADVICE.answer_share_step
        reasons.append(f"the graph is {'dense' if density > 0 else 'sparse'} there")
    aim = round(min(SIZE_ADVICE.max_answer_share, max(SIZE_ADVICE.min_answer_share, aim)), 2)
    return (
        aim,
        f"At least {aim:.0%} of the answers should be "
        f"kept{f', as {join_words(reasons)}' if reasons else ', the usual aim'}.",
    )


def adjust_by_feedback(
    estimate: float, question: Question, ratings: Sequence[Rating]
) -> tuple[float, str]:
    """Return the estimate adjusted by feedback on similar questions, and a sentence on it.

    Answers rated up move the estimate towards the size that worked. With n such answers, the weight
    of that size is n / (n + 2), on a logarithmic scale. It is the smallest size rated up, or the
    median of the sizes rated up if an answer from at least as many nodes was rated down. If answers
    were only rated down, and one came from about as many nodes as the estimate or more, the
    estimate grows by half. Without such feedback the estimate stays and the sentence is empty.
    """
    similar_ratings = [rating for rating in ratings if _is_similar(question, rating)]
    good = [rating.size for rating in similar_ratings if rating.size and rating.up]
    bad = [rating.size for rating in similar_ratings if rating.size and not rating.up]
    if good:
        best = statistics.median(good) if any(size >= min(good) for size in bad) else min(good)
        weight = len(good) / (len(good) + 2)
        return (
            estimate ** (1 - weight) * best**weight,
            f"Of similar questions, {count_noun(len(good), 'answer')} from {best:,.0f} nodes had a "
            "thumb up.",
        )
    if any(size >= 0.8 * estimate for size in bad):
        return (
            1.5 * estimate,
            f"Similar questions had a thumb down at {max(bad):,} nodes, so half as many again.",
        )
    return estimate, ""


def _is_similar(question: Question, rating: Rating) -> bool:
    """Return whether two questions have similar words and as many entities."""
    question_words = set(question_form(question).split())
    rated_words = set(question_form(Question(rating.question, entities=rating.entities)).split())
    return len(question.entities) == len(rating.entities) and len(
        question_words & rated_words
    ) >= SIZE_ADVICE.min_shared_words * len(question_words | rated_words)


def _round_size(size: float) -> int:
    """Round to two significant digits: 324 becomes 320."""
    return int(float(f"{size:.2g}"))
