"""Checks of how questions fit their graph, before any method runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from core.datasets.sets import QuestionSet
from core.errors import shorten
from core.graph.names.lookup import names
from core.graph.protocol import KnowledgeGraph
from core.languages.spelling import name_key
from core.types import Question

OWN = "graphs of their own"  # wording for questions that are asked on their rows' graphs


@dataclass(frozen=True)
class Fit:
    """The mismatches between some questions and their graphs.

    Parameters
    ----------
    questions : the number of questions.
    astray : for each question with an entity that is not in the graph, one such entity.
    unanswerable : for each question with answers, but none in the graph, one answer.
    unanswered : the number of questions without a known answer.
    alone : the number of rows without a graph of their own.
    """

    questions: int
    astray: tuple[str, ...] = ()
    unanswerable: tuple[str, ...] = ()
    unanswered: int = 0
    alone: int = 0

    def words(self, where: str) -> str:
        """Return a sentence on the mismatches; empty where there are none.

        `where` names the graph or graphs.
        """
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
    """Check how questions fit one graph.

    Names are looked up as in a run, so case does not count. Names in a live database are not looked
    up in advance.
    """
    if graph.live is not None:
        return _fit([(question, lambda name: True) for question in questions])
    known = names(graph)
    return _fit(
        [(question, lambda name: bool(known.exact(name.strip()))) for question in questions]
    )


def rows_fit(questions: int, graphs: int) -> Fit:
    """Check questions that are asked on graphs of their own rows, of which `graphs` rows have one.

    The other questions cannot be asked.

    >>> from core.datasets.fit import OWN, rows_fit
    >>> rows_fit(3, 2).words(OWN)
    'Of 3 questions on graphs of their own, 1 comes without a graph of its own and cannot be asked.'
    """
    return Fit(questions, alone=questions - graphs)


def own_fit(known: QuestionSet, questions: Iterable[Question]) -> Fit:
    """Check how questions of a set fit the graphs of their own rows.

    Raises BadInput for a graph that cannot be read.
    """
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
    """Return a clause, as in: 2 name an entity, such as “Nine”. It is empty for none."""
    example = f", such as “{shorten(such[0], 40)}”" if such else ""
    return f"{count:,} {one if count == 1 else several} {what}{example}" if count else ""
