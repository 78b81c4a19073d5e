"""Retrieved chunks and chunks in the prompt, compared with gold passages.

A gold passage of a question is a document, or a quotation from one, that contains evidence for the
answer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from core.diagnosis.funnel import funnel
from core.diagnosis.passages import chunk_order, chunk_rows, gold_rows, shown_chunks
from core.diagnosis.targets import passages_of
from core.evaluation.metrics.ranking import GoldRanks, gold_ranks
from core.sources import AnswerSource
from core.types import State


@dataclass(frozen=True)
class PassageSurvival:
    """Survival of the gold passages of a question.

    `golds` is the number of gold passages. `alive` gives, for each stage from the corpus to the
    prompt, the number of gold passages that are still present. `shown` is the number of chunks in
    the prompt, and `right` the number of them that come from gold passages. Both are None if there
    is no prompt or if the method retrieves no chunks. The field names are those of saved runs.
    """

    golds: int
    alive: dict[str, int]
    shown: int | None = None
    right: int | None = None


def passage_survival(source: AnswerSource, graph, state: State) -> PassageSurvival | None:
    """Return the survival of a question's gold passages along a method.

    Parameters
    ----------
    source : the source of the question.
    graph : the graph that the state refers to.
    state : the last state of a method.

    Returns
    -------
    The number of gold passages alive at each stage; None if the question has no gold passages.

    Examples
    --------
    >>> from core.evaluation.metrics.passages import passage_survival
    >>> from core.sources import CorpusSource
    >>> from core.types import Question
    >>> state = retrieve(
    ...     "SparseChunks(keep=2) >> AnswerFromTables()",
    ...     graph=story,
    ...     question="clerk Cratchit",
    ...     models=says("He."),
    ... )
    >>> passage_survival(
    ...     CorpusSource("story"),
    ...     story,
    ...     state.replace(question=Question("?", gold=("carol", "turkey"))),
    ... )
    PassageSurvival(golds=2, alive={'corpus': 0, 'graph': 1, 'retrieved': 1, 'prompt': 1}, shown=2,
    right=2)
    """
    gold = tuple(dict.fromkeys(state.question.gold))
    if not gold:
        return None
    alive = {
        stage.name: len(stage.alive)
        for stage in funnel(source, graph, state, passages_of(state.question))
    }
    shown_rows = shown_chunks(graph, state) if _retrieves_chunks(graph, state) else None
    if shown_rows is None:
        return PassageSurvival(len(gold), alive)
    right_rows = shown_rows & gold_rows(graph, gold)
    return PassageSurvival(len(gold), alive, len(shown_rows), len(right_rows))


def ranked_passages(graph, state: State) -> GoldRanks | None:
    """Return the ranks of the gold passages among the retrieved chunks.

    `count` is the number of chunks that the method selected. If the trace also has the order of the
    chunks that were not selected, their ranks follow.

    Parameters
    ----------
    graph : the graph that the state refers to.
    state : the last state of a method.

    Returns
    -------
    Ranks from 1. None if no chunks were retrieved or no gold passages are known.

    Examples
    --------
    >>> from core.evaluation.metrics.passages import ranked_passages
    >>> from core.types import Question
    >>> # carol#1 is selected, and carol#2 follows it beyond the cut
    >>> state = retrieve("SparseChunks(keep=1)", graph=story, question="clerk Cratchit")
    >>> ranked_passages(story, state.replace(question=Question("?", gold=("carol", "turkey"))))
    GoldRanks(count=1, relevant=(1, 2), first=(1, None))
    """
    gold = tuple(dict.fromkeys(state.question.gold))
    order = chunk_order(graph, state)
    if order is None or not gold or not _retrieves_chunks(graph, state):
        return None
    selected_rows, all_rows = order
    rows_by_passage = [chunk_rows(graph, document) for document in gold]
    passages_by_rank = (
        [passage for passage, rows in enumerate(rows_by_passage) if row in rows] for row in all_rows
    )
    return replace(gold_ranks(passages_by_rank, len(gold)), count=len(selected_rows))


@dataclass(frozen=True)
class TreeNodeCounts:
    """Number of retrieved nodes of a summary tree, and number of summaries among them."""

    nodes: int
    summaries: int


def tree_node_counts(graph, state: State) -> TreeNodeCounts | None:
    """Return the numbers of nodes and summaries retrieved from a tree of summaries.

    Parameters
    ----------
    graph : the graph that the state refers to.
    state : the last state of a method.

    Returns
    -------
    The counts. None for other graphs and if no nodes were retrieved.

    Examples
    --------
    >>> from core.evaluation.metrics.passages import tree_node_counts
    >>> tree_node_counts(toy, retrieve("EgoNetwork()", "A")) is None
    True
    """
    table = graph.columns.nodes
    if state.nodes is None or table is None or not table.has_column("level"):
        return None
    levels = table.numbers("level")
    if not levels.any():
        return None
    summaries = sum(bool(levels[node]) for node in state.nodes.items)
    return TreeNodeCounts(len(state.nodes), summaries)


def _retrieves_chunks(graph, state: State) -> bool:
    """Return whether a method retrieves chunks.

    They may be retrieved as nodes of a tree or a passage graph, some of whose nodes are chunks.
    """
    table = graph.columns.nodes
    return state.chunks is not None or (
        state.nodes is not None and table is not None and table.has_column("level")
    )
