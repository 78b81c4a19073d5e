"""Changes of one step that may bring a lane on documents more of the passages that its answer rests on, by what lost them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.diagnosis.causes import Loss
from core.diagnosis.changes.trying import LineChange, new_ones, with_values
from core.diagnosis.passages import retained_by
from core.diagnosis.wording import counted
from core.operators import SparseChunks, VectorChunks
from core.operators.base import Line, Operator
from core.operators.branch import Branch
from core.operators.loop import Loop
from core.operators.nodes.adaptive import AdaptiveRerank
from core.operators.nodes.documents import DocumentsOfNodes
from core.parameters import values

MAX_KEEP = 40  # hits of a kind that a change keeps
WIDER = (2, 4)  # times as many
FURTHER = 3  # the most hops that a change takes
UNITS = {"chunks": "passage", "nodes": "entity", "relations": "relation", "communities": "report"}
PLURAL = {
    "passage": "passages",
    "entity": "entities",
    "relation": "relations",
    "report": "reports",
    "document": "documents",
}
READING = (Loop, AdaptiveRerank)  # operators whose budget is how many documents a re-ranker reads


def changes(line: Line, lost: Sequence[Loss]) -> Iterator[LineChange]:
    """What may help: as many hits as the places of the lost passages ask for, more room in the prompt, another way to look passages up,
    then wider searches. None for a line with branches.

    >>> from core.diagnosis.changes.passage_changes import changes
    >>> from core.operators.text import parse_line
    >>> line = parse_line("BuiltGraph() >> EmbedQuery() >> VectorChunks(keep=4) >> AnswerFromTables()")
    >>> [change.words for change in changes(line, ())]
    ['Look passages up by words', 'Keep 8 passages', 'Keep 16 passages']
    """
    if any(isinstance(operator, Branch) for operator in line):
        return
    yield from new_ones(
        line, (*_to_the_place(line, lost), *_roomier(line, lost), *_looked_up(line), *_wider(line))
    )


def _to_the_place(line: Line, lost: Sequence[Loss]) -> Iterator[LineChange]:
    """The step that cut passages keeps as many that the last of them comes in, or if that is too many the first."""
    for position, operator in enumerate(line):
        name = type(operator).__name__
        by_it = [
            loss
            for loss in lost
            if loss.step and loss.step.operator == name and retained_by(loss.step) is not None
        ]
        cut = [loss.place for loss in by_it if loss.place]
        for place in sorted({min(cut), max(cut)}, reverse=True) if cut else ():
            if values(operator).get("keep", place) < place <= MAX_KEEP:
                yield from with_values(
                    position, operator, f"Keep {_unit(line, operator, place)}", keep=place
                )


def _roomier(line: Line, lost: Sequence[Loss]) -> Iterator[LineChange]:
    """More tokens for passages, where some were found and had no room."""
    if not any(one.stage == "prompt" for one in lost):
        return
    for times in WIDER:
        for position, operator in enumerate(line):
            for name in (
                ("sources", "budget")
                if operator.stage == "refine" and not isinstance(operator, READING)
                else ()
            ):
                if tokens := values(operator).get(name, 0):
                    words = f"Give passages {times * tokens:,} tokens of room"
                    yield from with_values(position, operator, words, **{name: times * tokens})


def _looked_up(line: Line) -> Iterator[LineChange]:
    """Passages by words in the place of passages by meaning, and the other way round."""
    for position, operator in enumerate(line):
        if isinstance(operator, VectorChunks):
            yield LineChange(
                position, SparseChunks(keep=operator.keep), "Look passages up by words"
            )
        elif isinstance(operator, SparseChunks):
            yield LineChange(
                position, VectorChunks(keep=operator.keep), "Look passages up by meaning"
            )


def _wider(line: Line) -> Iterator[LineChange]:
    """More hits of each kind, those of passages first; one hop more."""
    searches = [
        (at, operator)
        for at, operator in enumerate(line)
        if operator.stage == "retrieve" or isinstance(operator, READING)
    ]
    for times in WIDER:
        for position, operator in sorted(searches, key=lambda one: "chunks" not in one[1].writes):
            known = values(operator)
            if (keep := times * known.get("keep", 0)) and keep <= MAX_KEEP:
                yield from with_values(
                    position, operator, f"Keep {_unit(line, operator, keep)}", keep=keep
                )
            elif budget := times * known.get("budget", 0):
                yield from with_values(
                    position, operator, _more(line, operator, budget), budget=budget
                )
            if times == WIDER[0] and 0 < (hops := known.get("hops", 0)) < FURTHER:
                yield from with_values(
                    position, operator, f"Take {counted(hops + 1, 'hop')} around", hops=hops + 1
                )


def _more(line: Line, operator: Operator, budget: int) -> str:
    """Read 200 documents, Take 8,000 tokens of relations."""
    if isinstance(operator, READING):
        return f"Read {counted(budget, 'document')}"
    return f"Take {budget:,} tokens of {PLURAL.get(_noun(line, operator), 'hits')}"


def _noun(line: Line, operator: Operator) -> str:
    """What the last of the kinds that an operator finds is called; nodes that are handed on as documents are these."""
    noun = next((UNITS[field] for field in reversed(operator.writes) if field in UNITS), "hit")
    if noun == "entity" and any(isinstance(one, DocumentsOfNodes) for one in line):
        return "document"
    return noun


def _unit(line: Line, operator: Operator, count: int) -> str:
    """6 passages, 1 entity."""
    noun = _noun(line, operator)
    return f"{count:,} entities" if noun == "entity" and count != 1 else counted(count, noun)
