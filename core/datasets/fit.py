"""How questions fit the graph that they are to be asked on, looked at before anything is run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from core.datasets.sets import QuestionSet
from core.errors import shorten
from core.graph.names.lookup import names
from core.graph.protocol import KnowledgeGraph
from core.languages.spelling import name_key
from core.types import Question

OWN = "graphs of their own"  # where questions are asked on the graphs of their own rows


@dataclass(frozen=True)
class Fit:
    """What does not fit among so many questions: an entity of each that names one which is not in the graph, an answer of each that has
    answers and none of them in the graph, how many tell no answer, and how many rows lack the graph of their own."""

    questions: int
    astray: tuple[str, ...] = ()
    unanswerable: tuple[str, ...] = ()
    unanswered: int = 0
    alone: int = 0

    def words(self, where: str) -> str:
        """One sentence that says what does not fit `where` they are asked; empty where all fits."""
        clauses = [
            _counted(
                len(self.astray), "name", "names", "an entity that is not in the graph", self.astray
            ),
            _counted(
                len(self.unanswerable), "have", "has", "no answer that is in it", self.unanswerable
            ),
            _counted(self.unanswered, "tell", "tells", "no answer"),
            _counted(
                self.alone,
                "come without a graph of their",
                "comes without a graph of its",
                "own and cannot be asked",
            ),
        ]
        what = f"Of {self.questions:,} question{'s' * (self.questions != 1)} on {where}, "
        return what + "; ".join(filter(None, clauses)) + "." if any(clauses) else ""


def fit(graph: KnowledgeGraph, questions: Iterable[Question]) -> Fit:
    """How questions fit one graph. Names count as in it where they differ by case only, as they are looked up; those of a database that is
    asked live are not looked up before."""
    if graph.live is not None:
        return _fit([(question, lambda name: True) for question in questions])
    known = names(graph)
    return _fit(
        [(question, lambda name: bool(known.exact(name.strip()))) for question in questions]
    )


def rows_fit(questions: int, graphs: int) -> Fit:
    """How questions fit that are asked on graphs of their own rows, of which so many rows bring one: the others cannot be asked.

    >>> from core.datasets.fit import OWN, rows_fit
    >>> rows_fit(3, 2).words(OWN)
    'Of 3 questions on graphs of their own, 1 comes without a graph of its own and cannot be asked.'
    """
    return Fit(questions, alone=questions - graphs)


def own_fit(known: QuestionSet, questions: Iterable[Question]) -> Fit:
    """How questions of a set fit the graphs of their own rows. Raises BadInput for a graph that cannot be read."""
    placed, alone = [], 0
    for question in questions:
        triples = known.own_triples(question.id)
        if triples:
            here = {name_key(name) for head, _, tail in triples for name in (head, tail)}
            placed.append((question, lambda name, here=here: name_key(name) in here))
        else:
            alone += 1
    return _fit(placed, alone)


def _fit(placed: Sequence[tuple[Question, Callable[[str], bool]]], alone: int = 0) -> Fit:
    astray = [
        next((name for name in question.entities if not holds(name)), "")
        for question, holds in placed
    ]
    lost = [
        question.answers[0]
        for question, holds in placed
        if question.answers and not any(map(holds, question.answers))
    ]
    unanswered = sum(not question.answers for question, _ in placed)
    return Fit(len(placed) + alone, tuple(filter(None, astray)), tuple(lost), unanswered, alone)


def _counted(count: int, several: str, one: str, what: str, such: Sequence[str] = ()) -> str:
    """`2 name an entity, such as “Nine”`; empty for none."""
    example = f", such as “{shorten(such[0], 40)}”" if such else ""
    return f"{count:,} {one if count == 1 else several} {what}{example}" if count else ""
