"""Formulas of the metrics of LEGO-GraphRAG: subgraphs, paths, answers and costs.

A formula takes the outcome of one method on one question, and a cut-off that most formulas ignore.
It returns None if the metric does not apply (`core.evaluation.metrics.metric.Metric`). The
catalogue names each formula and its convention.
"""

from __future__ import annotations

from collections.abc import Callable

from core.evaluation.metrics.outcome import GoldRanks, Outcome


def f1(precision: float | None, recall: float | None) -> float | None:
    """Return the harmonic mean 2PR / (P + R) of precision and recall.

    Parameters
    ----------
    precision, recall : shares from 0 to 1; None if the measure does not apply.

    Returns
    -------
    A share from 0 to 1: 0 if both are 0, None if one of them is None.

    Examples
    --------
    >>> from core.evaluation.metrics.formulas import f1
    >>> f1(0.5, 0.25), f1(0.0, 0.0), f1(None, 1.0)
    (0.333..., 0.0, None)
    """
    if precision is None or recall is None:
        return None
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def subgraph_precision(outcome: Outcome, _: int | None = None) -> float | None:
    """Return the number of known answers in the subgraph, over its number of nodes.

    It is 0 for an empty subgraph.

    Returns
    -------
    A share from 0 to 1. None without a subgraph or known answers.

    Notes
    -----
    LEGO-GraphRAG, both versions; utils/Evaluation.py of the published code.

    Examples
    --------
    >>> from core.evaluation.metrics.catalogue import metric
    >>> from core.evaluation.metrics.outcome import SubgraphSizes, Outcome
    >>> metric("subgraph_precision")(
    ...     Outcome(golds=2, extracted=SubgraphSizes(nodes=4, edges=3, found=1, components=1))
    ... )
    0.25
    """
    subgraph = outcome.extracted
    if subgraph is None or not outcome.golds:
        return None
    return subgraph.found / subgraph.nodes if subgraph.nodes else 0.0


def subgraph_recall(outcome: Outcome, _: int | None = None) -> float | None:
    """Return the share of the known answers that are nodes of the subgraph.

    Returns
    -------
    A share from 0 to 1. None without a subgraph or known answers.

    Notes
    -----
    LEGO-GraphRAG, both versions; utils/Evaluation.py of the published code.

    Examples
    --------
    >>> from core.evaluation.metrics.catalogue import metric
    >>> from core.evaluation.metrics.outcome import SubgraphSizes, Outcome
    >>> metric("subgraph_recall")(
    ...     Outcome(golds=2, extracted=SubgraphSizes(nodes=4, edges=3, found=1, components=1))
    ... )
    0.5
    """
    subgraph = outcome.extracted
    return subgraph.found / outcome.golds if subgraph and outcome.golds else None


def subgraph_f1(outcome: Outcome, _: int | None = None) -> float | None:
    """Return the harmonic mean of a question's subgraph precision and recall.

    Returns
    -------
    A share from 0 to 1. None without a subgraph or known answers.

    Notes
    -----
    LEGO-GraphRAG, both versions; utils/Evaluation.py of the published code.

    Examples
    --------
    >>> from core.evaluation.metrics.catalogue import metric
    >>> from core.evaluation.metrics.outcome import SubgraphSizes, Outcome
    >>> # of 1/4 and 1/2
    >>> metric("subgraph_f1")(
    ...     Outcome(golds=2, extracted=SubgraphSizes(nodes=4, edges=3, found=1, components=1))
    ... )
    0.333...
    """
    return f1(subgraph_precision(outcome), subgraph_recall(outcome))


def subgraph_hit(outcome: Outcome, _: int | None = None) -> float | None:
    """Return 1 if any known answer is a node of the subgraph, else 0.

    Returns
    -------
    0 or 1. None without a subgraph or known answers.

    Notes
    -----
    LEGO-GraphRAG, both versions; utils/Evaluation.py of the published code.

    Examples
    --------
    >>> from core.evaluation.metrics.catalogue import metric
    >>> from core.evaluation.metrics.outcome import SubgraphSizes, Outcome
    >>> metric("subgraph_hit")(
    ...     Outcome(golds=2, extracted=SubgraphSizes(nodes=4, edges=3, found=1, components=1))
    ... )
    1.0
    """
    if outcome.extracted is None or not outcome.golds:
        return None
    return float(outcome.extracted.found > 0)


def subgraph_size(name: str) -> Callable[[Outcome, int | None], float | None]:
    """Return the formula of one size of the subgraph: its `nodes`, `edges` or `components`.

    >>> from core.evaluation.metrics.catalogue import metric
    >>> from core.evaluation.metrics.outcome import SubgraphSizes, Outcome
    >>> found = Outcome(golds=2, extracted=SubgraphSizes(nodes=5, edges=3, found=1, components=2))
    >>> (
    ...     metric("subgraph_nodes")(found),
    ...     metric("subgraph_edges")(found),
    ...     metric("components")(found),
    ... )
    (5.0, 3.0, 2.0)
    """
    return lambda outcome, _: (
        None if outcome.extracted is None else float(getattr(outcome.extracted, name))
    )


def precision(
    ranks: GoldRanks | None, golds: int, k: int | None, over_k: bool = False
) -> float | None:
    """Return the share of the first k items with a known answer.

    It is 0 without items.

    Parameters
    ----------
    ranks : ranks of the items with known answers; None if the method has no such ranking.
    golds : number of known answers or gold passages.
    k : cut-off; None takes all items.
    over_k : True to divide by k even if there are fewer items, as trec_eval does. False divides by
        the number of items considered.

    Returns
    -------
    A share from 0 to 1. None without a ranking or without `golds`.

    Examples
    --------
    >>> from core.evaluation.metrics.catalogue import metric
    >>> from core.evaluation.metrics.outcome import Outcome, GoldRanks
    >>> found = Outcome(golds=2, paths=GoldRanks(4, (2,), (2, None)), reader=GoldRanks(2, (1, 2), (1, 2)))
    >>> (
    ...     metric("path_precision")(found),
    ...     metric("path_precision@2")(found),
    ...     metric("reader_precision@3")(found),
    ... )
    (0.25, 0.5, 1.0)
    """
    if ranks is None or not golds:
        return None
    last = ranks.last_counted_rank(k)
    divisor = k if over_k and k else last
    return sum(rank <= last for rank in ranks.relevant) / divisor if divisor else 0.0


def recall(ranks: GoldRanks | None, golds: int, k: int | None) -> float | None:
    """Return the share of known answers that the first k items contain.

    For gold passages it is the share of those.

    Parameters
    ----------
    ranks : ranks of the items with known answers; None if the method has no such ranking.
    golds : number of known answers or gold passages.
    k : cut-off; None takes all items.

    Returns
    -------
    A share from 0 to 1. None without a ranking or without `golds`.

    Examples
    --------
    >>> from core.evaluation.metrics.catalogue import metric
    >>> from core.evaluation.metrics.outcome import Outcome, GoldRanks
    >>> found = Outcome(golds=2, paths=GoldRanks(4, (2,), (2, None)), reader=GoldRanks(2, (1, 2), (1, 2)))
    >>> metric("path_recall")(found), metric("path_recall@1")(found), metric("reader_recall")(found)
    (0.5, 0.0, 1.0)
    """
    if ranks is None or not golds:
        return None
    return ranks.count_found(k) / golds


def ranking_f1(ranks: GoldRanks | None, golds: int, k: int | None) -> float | None:
    """Return the harmonic mean of precision and recall over the first k items.

    Parameters
    ----------
    ranks : ranks of the items with known answers; None if the method has no such ranking.
    golds : number of known answers or gold passages.
    k : cut-off; None takes all items.

    Returns
    -------
    A share from 0 to 1. None without a ranking or without `golds`.

    Examples
    --------
    >>> from core.evaluation.metrics.catalogue import metric
    >>> from core.evaluation.metrics.outcome import Outcome, GoldRanks
    >>> found = Outcome(golds=2, paths=GoldRanks(4, (2,), (2, None)), reader=GoldRanks(2, (1, 2), (1, 2)))
    >>> # of 1/4 and 1/2; 1/2 and 1/2; 1 and 1
    >>> metric("path_f1")(found), metric("path_f1@2")(found), metric("reader_f1")(found)
    (0.333..., 0.5, 1.0)
    """
    return f1(precision(ranks, golds, k), recall(ranks, golds, k))


def hit_ratio(ranks: GoldRanks | None, golds: int, k: int | None) -> float | None:
    """Return 1 if the first k items contain a known answer.

    Otherwise return 0. This is HR@k.

    Parameters
    ----------
    ranks : ranks of the items with known answers; None if the method has no such ranking.
    golds : number of known answers or gold passages.
    k : cut-off; None takes all items.

    Returns
    -------
    0 or 1. None without a ranking or without `golds`.

    Examples
    --------
    >>> from core.evaluation.metrics.catalogue import metric
    >>> from core.evaluation.metrics.outcome import Outcome, GoldRanks
    >>> found = Outcome(golds=2, paths=GoldRanks(4, (2,), (2, None)), reader=GoldRanks(2, (1, 2), (1, 2)))
    >>> metric("path_hit@1")(found), metric("path_hit@2")(found), metric("reader_hit@1")(found)
    (0.0, 1.0, 1.0)
    """
    if ranks is None or not golds:
        return None
    # The ranks ascend, so the first one decides.
    return float(any(k is None or rank <= k for rank in ranks.relevant[:1]))


def reciprocal_rank(ranks: GoldRanks | None, golds: int, k: int | None) -> float | None:
    """Return 1 over the rank of the first item that contains a known answer.

    It is 0 if none of the first k items does.

    Parameters
    ----------
    ranks : ranks of the items with known answers; None if the method has no such ranking.
    golds : number of known answers or gold passages.
    k : cut-off; None takes all items.

    Returns
    -------
    A share from 0 to 1. None without a ranking or without `golds`.

    Examples
    --------
    >>> from core.evaluation.metrics.catalogue import metric
    >>> from core.evaluation.metrics.outcome import Outcome, GoldRanks
    >>> found = Outcome(golds=2, paths=GoldRanks(4, (2,), (2, None)), reader=GoldRanks(2, (1, 2), (1, 2)))
    >>> metric("path_mrr")(found), metric("path_mrr@1")(found), metric("reader_mrr")(found)
    (0.5, 0.0, 1.0)
    """
    if ranks is None or not golds:
        return None
    best = min(ranks.relevant, default=None)
    return 1 / best if best is not None and (k is None or best <= k) else 0.0


def path_count(outcome: Outcome, _: int | None = None) -> float | None:
    """Return the number of paths that the method returns.

    Returns
    -------
    A count. None if the method retrieves no paths.

    Examples
    --------
    >>> from core.evaluation.metrics.catalogue import metric
    >>> from core.evaluation.metrics.outcome import Outcome, GoldRanks
    >>> metric("path_count")(Outcome(golds=1, paths=GoldRanks(count=4, relevant=(), first=(None,))))
    4.0
    """
    return None if outcome.paths is None else float(outcome.paths.count)


def token_recall(outcome: Outcome, _: int | None = None) -> float | None:
    """Return the share of the known answers' words that the answer's text contains.

    Returns
    -------
    A share from 0 to 1. None without an answer or known answers.

    Notes
    -----
    In-depth Analysis of Graph-based RAG (Recall); token recall of SQuAD.

    Examples
    --------
    >>> from core.evaluation.metrics.catalogue import metric
    >>> from core.evaluation.metrics.outcome import ScoredAnswer, Outcome
    >>> metric("token_recall")(
    ...     Outcome(
    ...         golds=1,
    ...         answer=ScoredAnswer("the clerk Bob", "language model", found=0, lines=1, tokens=0.5),
    ...     )
    ... )
    0.5
    """
    return outcome.answer.tokens if outcome.answer and outcome.golds else None


def token_recall_joined(outcome: Outcome, _: int | None = None) -> float | None:
    """Return the share of the known answers' words that the text contains.

    The words are those of all names of the answers, aliases included.

    Returns
    -------
    A share from 0 to 1. None without an answer or known answers.

    Notes
    -----
    In-depth Analysis of Graph-based RAG (Recall on PopQA and PopAll), as its code computes it.

    Examples
    --------
    >>> from core.evaluation.metrics.catalogue import metric
    >>> from core.evaluation.metrics.outcome import ScoredAnswer, Outcome
    >>> given = ScoredAnswer("Bob", "language model", found=1, lines=1, tokens=1.0, joined_tokens=0.25)
    >>> metric("token_recall_joined")(Outcome(golds=1, answer=given))
    0.25
    """
    return outcome.answer.joined_tokens if outcome.answer and outcome.golds else None


def token_f1(outcome: Outcome, _: int | None = None) -> float | None:
    """Return the harmonic mean of token recall and token precision of the answer's text.

    Token precision is the share of the text's words that occur in the known answers.

    Returns
    -------
    A share from 0 to 1. None without an answer or known answers.

    Notes
    -----
    F1 of SQuAD.

    Examples
    --------
    >>> from core.evaluation.metrics.catalogue import metric
    >>> from core.evaluation.metrics.outcome import ScoredAnswer, Outcome
    >>> given = ScoredAnswer(
    ...     "Bob, poor clerk Bob", "language model", found=0, lines=1, tokens=0.5, own_tokens=0.25
    ... )
    >>> round(metric("token_f1")(Outcome(golds=1, answer=given)), 3)
    0.333
    """
    answer = outcome.answer
    return f1(answer.own_tokens, answer.tokens) if answer and outcome.golds else None


def answer_recall(outcome: Outcome, _: int | None = None) -> float | None:
    """Return the share of the known answers that the answer's text contains.

    Returns
    -------
    A share from 0 to 1. None without an answer or known answers.

    Notes
    -----
    LEGO-GraphRAG, both versions; utils/Evaluation.py of the published code.

    Examples
    --------
    >>> from core.evaluation.metrics.catalogue import metric
    >>> from core.evaluation.metrics.outcome import ScoredAnswer, Outcome
    >>> metric("recall")(
    ...     Outcome(golds=4, answer=ScoredAnswer("Drama, 1999", "language model", found=1, lines=1))
    ... )
    0.25
    """
    return outcome.answer.found / outcome.golds if outcome.answer and outcome.golds else None


def answer_hit(outcome: Outcome, _: int | None = None) -> float | None:
    """Return 1 if the answer's text contains any known answer, else 0.

    Returns
    -------
    0 or 1. None without an answer or known answers.

    Notes
    -----
    LEGO-GraphRAG, both versions; eval_hit in utils/Evaluation.py of the published code.

    Examples
    --------
    >>> from core.evaluation.metrics.catalogue import metric
    >>> from core.evaluation.metrics.outcome import ScoredAnswer, Outcome
    >>> metric("hits@1")(
    ...     Outcome(golds=4, answer=ScoredAnswer("Drama, 1999", "language model", found=1, lines=1))
    ... )
    1.0
    """
    return float(outcome.answer.found > 0) if outcome.answer and outcome.golds else None


def answer_f1(outcome: Outcome, _: int | None = None) -> float | None:
    """Return F1 with the whole text as one prediction.

    It is 2R / (1 + R) if the text contains any known answer, else 0.

    Returns
    -------
    A share from 0 to 1. None without an answer or known answers.

    Notes
    -----
    LEGO-GraphRAG, both versions; utils/Evaluation.py and Generate.py of the published code.

    Examples
    --------
    >>> from core.evaluation.metrics.catalogue import metric
    >>> from core.evaluation.metrics.outcome import ScoredAnswer, Outcome
    >>> # 2 (1/4) / (5/4)
    >>> metric("f1")(
    ...     Outcome(golds=4, answer=ScoredAnswer("Drama, 1999", "language model", found=1, lines=1))
    ... )
    0.4
    """
    return f1(answer_hit(outcome), answer_recall(outcome))


def answer_f1_by_lines(outcome: Outcome, _: int | None = None) -> float | None:
    """Return F1 with each non-empty line of the text as one prediction.

    Precision is the number of answers found over the number of lines, at most 1.

    Returns
    -------
    A share from 0 to 1. None without an answer or known answers.

    Notes
    -----
    RoG and G-Retriever, as used by LEGO-GraphRAG's comparisons.

    Examples
    --------
    >>> from core.evaluation.metrics.catalogue import metric
    >>> from core.evaluation.metrics.outcome import ScoredAnswer, Outcome
    >>> text = "Drama\\n1999\\nAnn\\nTwo"
    >>> # of 1/4 and 1/2
    >>> metric("f1_lines")(
    ...     Outcome(golds=2, answer=ScoredAnswer(text, "language model", found=1, lines=4))
    ... )
    0.333...
    """
    if not (outcome.answer and outcome.golds):
        return None
    lines = outcome.answer.lines
    line_precision = min(1.0, outcome.answer.found / lines) if lines else 0.0
    return f1(line_precision, answer_recall(outcome))


def judge_accepts(outcome: Outcome, _: int | None = None) -> float | None:
    """Return 1 if the judging model accepts the answer, else 0.

    Returns
    -------
    0 or 1. None if no model judged or its reply could not be used.

    Notes
    -----
    LEGO-GraphRAG, technical report, B.4.

    Examples
    --------
    >>> from core.evaluation.metrics.catalogue import metric
    >>> from core.evaluation.metrics.outcome import JudgeVerdict, Outcome
    >>> (
    ...     metric("judge@1")(Outcome(golds=1, judged=JudgeVerdict(True))),
    ...     metric("judge@1")(Outcome(golds=1, judged=JudgeVerdict(None))),
    ... )
    (1.0, None)
    """
    if outcome.judged is None or outcome.judged.right is None:
        return None
    return float(outcome.judged.right)


def total_cost(
    *fields: str, stages: tuple[str, ...] = ()
) -> Callable[[Outcome, int | None], float | None]:
    """Return a formula that sums fields of `OperatorCost` over a method's operators.

    Parameters
    ----------
    *fields : fields of `OperatorCost`, which are added up.
    stages : stages of the operators that count; empty for all.

    Returns
    -------
    The formula. Its value is None if the method has none of the stages, or if its results were read
        from a file, because their original cost is unknown.

    Examples
    --------
    >>> from core.evaluation.metrics.catalogue import metric
    >>> from core.evaluation.metrics.outcome import OperatorCost, Outcome
    >>> costs = (
    ...     OperatorCost("Rank", "refine", 0.5, texts=40),
    ...     OperatorCost("Answer", "generate", 1.0, calls=1, tokens_in=90, tokens_out=10),
    ... )
    >>> [
    ...     metric(name)(Outcome(1, costs=costs))
    ...     for name in ("seconds", "calls", "tokens_in", "tokens_out", "tokens", "texts")
    ... ]
    [1.5, 1.0, 90.0, 10.0, 100.0, 40.0]
    >>> [
    ...     metric(name)(Outcome(1, costs=costs))
    ...     for name in ("extract_seconds", "retrieve_seconds", "refine_seconds")
    ... ]
    [None, None, 0.5]
    """

    def sum_fields(outcome: Outcome, _: int | None) -> float | None:
        costs = [cost for cost in outcome.costs if not stages or cost.stage in stages]
        if outcome.is_from_file or (stages and not costs):
            return None
        return float(sum(getattr(cost, name) for cost in costs for name in fields))

    return sum_fields
