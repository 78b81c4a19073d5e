"""Checks of how questions fit their graph, before any method runs.

A question that names entities or answers which the graph lacks is reported to the user.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from core.datasets.sets import QuestionSet
from core.errors import shorten
from core.graph.names.lookup import name_lookup
from core.graph.protocol import KnowledgeGraph
from core.languages.spelling import name_key
from core.types import Question

NameCheck = Callable[[str], bool]  # tells if a graph has an entity of a name
OWN_GRAPHS_WORDS = "graphs of their own"  # words for the graphs of questions' own rows


@dataclass(frozen=True)
class QuestionFit:
    """The mismatches between some questions and their graphs.

    Parameters
    ----------
    n_questions : number of questions.
    unknown_entities : for each question with an entity that is not in the graph, one such entity.
    unknown_answers : for each question with answers, but none in the graph, one answer.
    n_without_answer : number of questions without a known answer.
    n_without_graph : number of questions whose row should include a graph, but has none.
    """

    n_questions: int
    unknown_entities: tuple[str, ...] = ()
    unknown_answers: tuple[str, ...] = ()
    n_without_answer: int = 0
    n_without_graph: int = 0

    def words(self, graphs: str) -> str:
        """Return a sentence on the mismatches; empty if there are none.

        `graphs` names the graph or graphs, for example `OWN_GRAPHS_WORDS`.
        """
        clauses = [
            _count_clause(
                len(self.unknown_entities),
                "name",
                "names",
                "an entity that is not in the graph",
                self.unknown_entities,
            ),
            _count_clause(
                len(self.unknown_answers),
                "have",
                "has",
                "no answer that is in it",
                self.unknown_answers,
            ),
            _count_clause(self.n_without_answer, "tell", "tells", "no answer"),
            _count_clause(
                self.n_without_graph,
                "come without a graph of their",
                "comes without a graph of its",
                "own and cannot be asked",
            ),
        ]
        if not any(clauses):
            return ""
        beginning = f"Of {self.n_questions:,} question{'s' * (self.n_questions != 1)} on {graphs}, "
        return beginning + "; ".join(filter(None, clauses)) + "."


def measure_fit(graph: KnowledgeGraph, questions: Iterable[Question]) -> QuestionFit:
    """Check how questions fit one graph.

    Names are looked up as in a run, without regard to case. In a live database they are not looked
    up in advance.
    """
    if graph.live is not None:
        return _fit([(question, lambda name: True) for question in questions])
    graph_names = name_lookup(graph)

    def has_name(name: str) -> bool:
        return bool(graph_names.find_exact(name.strip()))

    return _fit([(question, has_name) for question in questions])


def rows_fit(questions: int, graphs: int) -> QuestionFit:
    """Return the fit of questions that are asked on their rows' graphs.

    It is computed from counts alone. `questions` is the number of questions and `graphs` the number
    of those with a graph.

    >>> from core.datasets.question_fit import OWN_GRAPHS_WORDS, rows_fit
    >>> rows_fit(3, 2).words(OWN_GRAPHS_WORDS)
    'Of 3 questions on graphs of their own, 1 comes without a graph of its own and cannot be asked.'
    """
    return QuestionFit(questions, n_without_graph=questions - graphs)


def measure_own_graphs_fit(question_set: QuestionSet, questions: Iterable[Question]) -> QuestionFit:
    """Check how questions of a set fit the graphs of their own rows.

    Raises BadInput for a graph that cannot be read.
    """
    questions_with_graph = []
    n_without_graph = 0
    for question in questions:
        triples = question_set.question_triples(question.id)
        if triples:
            graph_keys = {name_key(name) for head, _, tail in triples for name in (head, tail)}
            questions_with_graph.append(
                (question, lambda name, keys=graph_keys: name_key(name) in keys)
            )
        else:
            n_without_graph += 1
    return _fit(questions_with_graph, n_without_graph)


def _fit(pairs: Sequence[tuple[Question, NameCheck]], n_without_graph: int = 0) -> QuestionFit:
    """Return the fit of questions, each with the check of names in its graph.

    `n_without_graph` is the number of further questions, which have no graph.
    """
    unknown_entities: list[str] = []
    unknown_answers: list[str] = []
    for question, has_name in pairs:
        missing_entity = next((name for name in question.entities if not has_name(name)), "")
        if missing_entity:
            unknown_entities.append(missing_entity)
        if question.answers and not any(map(has_name, question.answers)):
            unknown_answers.append(question.answers[0])
    return QuestionFit(
        len(pairs) + n_without_graph,
        tuple(unknown_entities),
        tuple(unknown_answers),
        n_without_answer=sum(not question.answers for question, _ in pairs),
        n_without_graph=n_without_graph,
    )


def _count_clause(
    count: int, plural_verb: str, singular_verb: str, rest: str, examples: Sequence[str] = ()
) -> str:
    """Return a clause such as “2 name an entity, such as “Nine””.

    The clause is empty if the count is 0.
    """
    if not count:
        return ""
    example = f", such as “{shorten(examples[0], 40)}”" if examples else ""
    return f"{count:,} {singular_verb if count == 1 else plural_verb} {rest}{example}"
