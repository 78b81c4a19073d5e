"""Proposals that may make a line retrieve more gold passages.

Each changes one operator of a line. They are for lines on a corpus, and depend on how the passages
were lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.diagnosis.causes import Loss
from core.diagnosis.changes.trials import LineChange, change_values, distinct_changes
from core.diagnosis.passages import retained_by
from core.diagnosis.wording import count_noun, plural
from core.operators import SparseChunks, VectorChunks
from core.operators.base import Line, Operator
from core.operators.branch import Branch
from core.operators.loop import Loop
from core.operators.nodes.adaptive_reranking import AdaptiveRerank
from core.operators.nodes.documents import DocumentsOfNodes
from core.parameters import parameter_values

MAX_RETAINED_HITS = 40  # the most hits of a kind that a change keeps
SEARCH_FACTORS = (2, 4)  # factors by which a budget or a search is enlarged, one after the other
MAX_PASSAGE_HOPS = 3  # the most hops that a change takes
HIT_NOUNS = {
    "chunks": "passage",
    "nodes": "entity",
    "relations": "relation",
    "communities": "report",
}
# Operators whose budget is the number of documents that a re-ranker reads.
READING_OPERATORS = (Loop, AdaptiveRerank)


def changes(line: Line, lost: Sequence[Loss]) -> Iterator[LineChange]:
    """Yield changes that may help, in the order in which they should be tried.

    First come cuts that keep the lost passages, then larger budgets of the prompt, then another
    search for passages, then wider searches. A line with branches has no changes.

    Parameters
    ----------
    line : the line of the lane.
    lost : the gold passages that the lane lost.

    >>> from core.diagnosis.changes.passage_changes import changes
    >>> from core.operators.text import parse_line
    >>> line = parse_line("BuiltGraph() >> EmbedQuery() >> VectorChunks(keep=4)"
    ...     " >> AnswerFromTables()")
    >>> [change.description for change in changes(line, ())]
    ['Look passages up by words', 'Keep 8 passages', 'Keep 16 passages']
    """
    if any(isinstance(operator, Branch) for operator in line):
        return
    yield from distinct_changes(
        line,
        (
            *_enlarge_cuts(line, lost),
            *_enlarge_budgets(line, lost),
            *_swap_search(line),
            *_widen_searches(line),
        ),
    )


def _enlarge_cuts(line: Line, lost: Sequence[Loss]) -> Iterator[LineChange]:
    """Yield larger values of `keep`: first for all lost passages, then for the best ranked one."""
    for position, operator in enumerate(line):
        name = type(operator).__name__
        cut_steps = [(loss.step, loss.rank) for loss in lost if loss.step and loss.rank]
        ranks = [
            rank
            for step, rank in cut_steps
            if step.operator == name and retained_by(step) is not None
        ]
        if not ranks:
            continue
        for rank in sorted({min(ranks), max(ranks)}, reverse=True):
            if parameter_values(operator).get("keep", rank) < rank <= MAX_RETAINED_HITS:
                yield from change_values(
                    position, operator, f"Keep {_count_hits(line, operator, rank)}", keep=rank
                )


def _enlarge_budgets(line: Line, lost: Sequence[Loss]) -> Iterator[LineChange]:
    """Yield larger token budgets, if found passages had no room."""
    if not any(loss.stage == "prompt" for loss in lost):
        return
    for times in SEARCH_FACTORS:
        for position, operator in enumerate(line):
            if operator.stage != "refine" or isinstance(operator, READING_OPERATORS):
                continue
            for name in ("sources", "budget"):  # parameters that hold a number of tokens
                tokens = times * parameter_values(operator).get(name, 0)
                if tokens:
                    words = f"Give passages {tokens:,} tokens of room"
                    yield from change_values(position, operator, words, **{name: tokens})


def _swap_search(line: Line) -> Iterator[LineChange]:
    """Yield a search by words instead of by meaning, and the reverse."""
    for position, operator in enumerate(line):
        if isinstance(operator, VectorChunks):
            yield LineChange(
                position, SparseChunks(keep=operator.keep), "Look passages up by words"
            )
        elif isinstance(operator, SparseChunks):
            yield LineChange(
                position, VectorChunks(keep=operator.keep), "Look passages up by meaning"
            )


def _widen_searches(line: Line) -> Iterator[LineChange]:
    """Yield more hits of each kind, passages first, and one hop more."""
    searches = [
        (index, operator)
        for index, operator in enumerate(line)
        if operator.stage == "retrieve" or isinstance(operator, READING_OPERATORS)
    ]
    for times in SEARCH_FACTORS:
        # searches for passages first
        for position, operator in sorted(searches, key=lambda pair: "chunks" not in pair[1].writes):
            parameters = parameter_values(operator)
            keep = times * parameters.get("keep", 0)
            budget = times * parameters.get("budget", 0)
            hops = parameters.get("hops", 0)
            if keep and keep <= MAX_RETAINED_HITS:
                yield from change_values(
                    position, operator, f"Keep {_count_hits(line, operator, keep)}", keep=keep
                )
            elif budget:
                yield from change_values(
                    position, operator, _budget_words(line, operator, budget), budget=budget
                )
            # one hop more does not depend on the factor, and is proposed once
            if times == SEARCH_FACTORS[0] and 0 < hops < MAX_PASSAGE_HOPS:
                yield from change_values(
                    position, operator, f"Take {count_noun(hops + 1, 'hop')} around", hops=hops + 1
                )


def _budget_words(line: Line, operator: Operator, budget: int) -> str:
    """Return the words of a larger budget, as in: Read 200 documents."""
    if isinstance(operator, READING_OPERATORS):
        return f"Read {count_noun(budget, 'document')}"
    return f"Take {budget:,} tokens of {plural(_hit_noun(line, operator))}"


def _hit_noun(line: Line, operator: Operator) -> str:
    """Return the noun for the last kind of hit that an operator finds.

    Nodes that are passed on as documents are called documents.
    """
    noun = next(
        (HIT_NOUNS[field] for field in reversed(operator.writes) if field in HIT_NOUNS), "hit"
    )
    if noun == "entity" and any(isinstance(step, DocumentsOfNodes) for step in line):
        return "document"
    return noun


def _count_hits(line: Line, operator: Operator, count: int) -> str:
    """Return a count with its noun, as in: 6 passages, 1 entity."""
    return count_noun(count, _hit_noun(line, operator))
