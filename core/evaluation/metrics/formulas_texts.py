"""Formulas of the metrics of passages, prompts, text answers and graph building.

Most follow the In-depth Analysis of Graph-based RAG.
"""

from __future__ import annotations

from collections.abc import Callable

from core.evaluation.metrics.formulas import precision, recall
from core.evaluation.metrics.outcome import Outcome


def passage_recall(outcome: Outcome, k: int | None = None) -> float | None:
    """Return the share of gold passages found among the first k chunks.

    A gold passage is found if one of its chunks is among them. Without k, all chunks count.

    Returns
    -------
    A share from 0 to 1. None without ranked chunks or gold passages.

    Notes
    -----
    Recall at k of BEIR.

    Examples
    --------
    >>> from core.evaluation.metrics.catalogue import metric
    >>> from core.evaluation.metrics.outcome import Outcome, GoldRanks
    >>> # the second gold passage is beyond the four chunks that were selected
    >>> found = Outcome(golds=1, passages=GoldRanks(count=4, relevant=(2, 7), first=(2, 7)))
    >>> (
    ...     metric("passage_recall")(found),
    ...     metric("passage_recall@1")(found),
    ...     metric("passage_recall@10")(found),
    ... )
    (0.5, 0.0, 0.5)
    """
    return recall(outcome.passages, _count_gold_passages(outcome), k)


def passage_precision(outcome: Outcome, k: int | None = None) -> float | None:
    """Return the share of the first k chunks that come from gold passages.

    Without k, all chunks count. As in trec_eval, the divisor is k even if there are fewer chunks.

    Returns
    -------
    A share from 0 to 1. None without ranked chunks or gold passages.

    Examples
    --------
    >>> from core.evaluation.metrics.catalogue import metric
    >>> from core.evaluation.metrics.outcome import Outcome, GoldRanks
    >>> found = Outcome(golds=1, passages=GoldRanks(count=4, relevant=(2, 7), first=(2, 7)))
    >>> (
    ...     metric("passage_precision")(found),
    ...     metric("passage_precision@2")(found),
    ...     metric("passage_precision@8")(found),
    ... )
    (0.25, 0.5, 0.125)
    """
    return precision(outcome.passages, _count_gold_passages(outcome), k, over_k=True)


def _count_gold_passages(outcome: Outcome) -> int:
    return len(outcome.passages.first) if outcome.passages is not None else 0


def context_precision(outcome: Outcome, _: int | None = None) -> float | None:
    """Return the share of the prompt's chunks that come from gold passages.

    It is 0 if the prompt shows no chunks.

    Returns
    -------
    A share from 0 to 1. None without gold passages or a prompt of chunks.

    Notes
    -----
    Context precision, with known passages in place of a judging model.

    Examples
    --------
    >>> from core.evaluation.metrics.catalogue import metric
    >>> from core.evaluation.metrics.outcome import Outcome
    >>> from core.evaluation.metrics.passages import PassageSurvival
    >>> metric("context_precision")(
    ...     Outcome(golds=1, fates=PassageSurvival(golds=2, alive={"prompt": 1}, shown=4, right=1))
    ... )
    0.25
    """
    survival = outcome.fates
    if survival is None or survival.shown is None or survival.right is None:
        return None
    return survival.right / survival.shown if survival.shown else 0.0


def context_recall(outcome: Outcome, _: int | None = None) -> float | None:
    """Return the share of the known answers whose words occur in the prompt.

    Returns
    -------
    A share from 0 to 1. None without a prompt or known answers.

    Examples
    --------
    >>> from core.evaluation.metrics.catalogue import metric
    >>> from core.evaluation.metrics.outcome import Outcome
    >>> metric("context_recall")(Outcome(golds=2, alive={"graph": 2, "prompt": 1}))
    0.5
    """
    if outcome.alive and "prompt" in outcome.alive and outcome.golds:
        return outcome.alive["prompt"] / outcome.golds
    return None


def part_recall(outcome: Outcome, _: int | None = None) -> float | None:
    """Return the share of the answer's parts that the text mentions by any name.

    A part is a group of aliases, or an answer without aliases.

    Returns
    -------
    A share from 0 to 1. None without an answer or known answers.

    Notes
    -----
    In-depth Analysis of Graph-based RAG (STRREC); ALCE. The published code calls it str_em.

    Examples
    --------
    >>> from core.evaluation.metrics.catalogue import metric
    >>> from core.evaluation.metrics.outcome import ScoredAnswer, Outcome
    >>> text = "Ali Daei and Josef Bican"
    >>> answer = ScoredAnswer(text, "language model", found=2, lines=1, parts=1.0)
    >>> (
    ...     metric("str_rec")(Outcome(golds=2, answer=answer)),
    ...     metric("str_em")(Outcome(golds=2, answer=answer)),
    ... )
    (1.0, 1.0)
    """
    if outcome.answer is None or not outcome.golds:
        return None
    if outcome.answer.parts is None:
        return outcome.answer.found / outcome.golds
    return outcome.answer.parts


def all_parts_named(outcome: Outcome, _: int | None = None) -> float | None:
    """Return 1 if the text names every part of the known answer, else 0.

    Returns
    -------
    0 or 1. None without an answer or known answers.

    Notes
    -----
    In-depth Analysis of Graph-based RAG (STREM); ALCE. The published code calls it str_hit.

    Examples
    --------
    >>> from core.evaluation.metrics.catalogue import metric
    >>> from core.evaluation.metrics.outcome import ScoredAnswer, Outcome
    >>> found = Outcome(golds=2, answer=ScoredAnswer("Drama, 1999", "language model", found=1, lines=1))
    >>> (
    ...     metric("str_rec")(found),
    ...     metric("str_em")(found),
    ...     metric("str_hit")(found),
    ...     metric("accuracy")(found),
    ... )
    (0.5, 0.0, 1.0, 1.0)
    """
    recall_of_parts = part_recall(outcome)
    return None if recall_of_parts is None else float(recall_of_parts == 1)


def joined_answer_match(outcome: Outcome, _: int | None = None) -> float | None:
    """Return 1 if the text contains the known answers as one string.

    The string joins all known answers in their order. The result is 0 otherwise.

    Returns
    -------
    0 or 1. None without an answer or known answers.

    Notes
    -----
    Accuracy as the code of the In-depth Analysis of Graph-based RAG computes it.

    Examples
    --------
    >>> from core.evaluation.metrics.catalogue import metric
    >>> from core.evaluation.metrics.outcome import ScoredAnswer, Outcome
    >>> metric("accuracy_joined")(
    ...     Outcome(
    ...         golds=2,
    ...         answer=ScoredAnswer("Ann and Bob", "language model", found=2, lines=1, joined=False),
    ...     )
    ... )
    0.0
    """
    if outcome.answer is None or outcome.answer.joined is None:
        return None
    return float(outcome.answer.joined)


def option_accuracy(outcome: Outcome, _: int | None = None) -> float | None:
    """Return 1 if the answer's option is the correct one, else 0.

    The option is read from the answer.

    Returns
    -------
    0 or 1. None for a question without options or without a known correct one.

    Notes
    -----
    In-depth Analysis of Graph-based RAG; QuALITY. The paper lets a language model read the letter.

    Examples
    --------
    >>> from core.evaluation.metrics.catalogue import metric
    >>> from core.evaluation.metrics.outcome import ScoredAnswer, Outcome
    >>> metric("option")(
    ...     Outcome(
    ...         golds=1, answer=ScoredAnswer("(B)", "language model", found=0, lines=1, option=True)
    ...     )
    ... )
    1.0
    """
    if outcome.answer is None or outcome.answer.option is None:
        return None
    return float(outcome.answer.option)


def summary_share(outcome: Outcome, _: int | None = None) -> float | None:
    """Return the share of summaries among the nodes retrieved from a tree.

    Returns
    -------
    A share from 0 to 1. None if no nodes of a tree were retrieved.

    Notes
    -----
    In-depth Analysis of Graph-based RAG, Exp. 4.

    Examples
    --------
    >>> from core.evaluation.metrics.catalogue import metric
    >>> from core.evaluation.metrics.outcome import Outcome
    >>> from core.evaluation.metrics.passages import TreeNodeCounts
    >>> metric("summaries")(Outcome(golds=1, tree=TreeNodeCounts(nodes=4, summaries=1)))
    0.25
    """
    tree = outcome.tree
    return tree.summaries / tree.nodes if tree and tree.nodes else None


def mean_nearest_cosine(outcome: Outcome, _: int | None = None) -> float | None:
    """Return the mean nearest cosine of the answer's sentences.

    It is the cosine of each answer sentence with its nearest sentence in the prompt. Only sentences
    of chunks are compared. Negative cosines count as 0.

    Returns
    -------
    A mean from 0 to 1. None if no sentences were compared.

    Examples
    --------
    >>> from core.evaluation.metrics.catalogue import metric
    >>> from core.evaluation.metrics.outcome import Outcome
    >>> from core.evaluation.metrics.answer_support import AnswerSupport
    >>> metric("nearness")(Outcome(golds=1, supported=AnswerSupport(cosines=(1.0, 0.5))))
    0.75
    """
    cosines = outcome.supported.cosines if outcome.supported else None
    return sum(cosines) / len(cosines) if cosines else None


def supported_share(outcome: Outcome, _: int | None = None) -> float | None:
    """Return the share of the answer's sentences that a language model calls supported.

    Sentences without a readable verdict do not count.

    Returns
    -------
    A share from 0 to 1. None without a readable verdict.

    Notes
    -----
    Faithfulness as in RAGAS; the prompt is Hopscope's own.

    Examples
    --------
    >>> from core.evaluation.metrics.catalogue import metric
    >>> from core.evaluation.metrics.outcome import Outcome
    >>> from core.evaluation.metrics.answer_support import AnswerSupport
    >>> metric("supported")(Outcome(golds=1, supported=AnswerSupport(verdicts=(True, False, None))))
    0.5
    """
    if outcome.supported is None:
        return None
    all_verdicts = outcome.supported.verdicts or ()
    verdicts = [verdict for verdict in all_verdicts if verdict is not None]
    return sum(verdicts) / len(verdicts) if verdicts else None


def build_cost(name: str) -> Callable[[Outcome, int | None], float | None]:
    """Return the formula of a build cost of the method's graph: `seconds`, `calls` or `tokens`.

    >>> from core.evaluation.metrics.build_cost import ReportedBuildCost
    >>> from core.evaluation.metrics.catalogue import metric
    >>> from core.evaluation.metrics.outcome import Outcome
    >>> found = Outcome(golds=1, built=ReportedBuildCost(seconds=None, calls=562, tokens=400_000))
    >>> metric("build_seconds")(found), metric("build_calls")(found), metric("build_tokens")(found)
    (None, 562.0, 400000.0)
    """

    def cost_figure(outcome: Outcome, _: int | None = None) -> float | None:
        if outcome.built is None:
            return None
        figure = getattr(outcome.built, name)
        return None if figure is None else float(figure)

    return cost_figure
