"""Plan of an evaluation: methods, questions drawn with a seed, and settings.

All evaluations start from a `Plan`, which `make_plan` builds from the names of question sets.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from core.datasets import dataset_of_set, full_set_name, graph_for, question_set
from core.datasets.question_fit import measure_fit, measure_own_graphs_fit
from core.errors import BadInput
from core.methods.catalogue import RUN_PREFIX, Method
from core.models.combine import model_names
from core.operators.base import Operator
from core.parameters import parameter_values, parameters
from core.retrievers.runs.saved_runs import find_run
from core.sources import AnswerSource, GraphSource, corpus_of_set
from core.types import Question

OWN_GRAPHS = "a graph for each question"  # name, in a plan, of the graphs of such a question set
# Name, questions and source of a question set, the source's digest, and a note on the set.
OpenedSet = tuple[str, Sequence[Question], AnswerSource, str, str]
# Models that can measure the support of an answer, as `Plan.support` names them.
SUPPORT_BY_ENCODER = "encoder"
SUPPORT_BY_MODEL = "model"


@dataclass(frozen=True)
class DrawnQuestion:
    """A question of the sample, with its question set and source.

    The set is given by its name or file. The source is the graph or corpus that is asked. A source
    without a name stands for the graph in the question's own row of the file.
    """

    question: Question
    set: str
    source: AnswerSource

    @property
    def address(self) -> AnswerSource:
        """The source with a name of its own.

        An address (URL) can refer to it by that name.
        """
        return self.source if self.source.name else GraphSource(f"{self.set}:{self.question.id}")

    def open(self, engine: Any) -> AnswerSource:
        """Return the opened source.

        Raises BadInput and StoreError.
        """
        if self.source.name:
            return self.source.open(engine)
        return GraphSource.of(graph_for(self.set, self.question))


@dataclass(frozen=True, eq=False)
class Plan:
    """Methods over drawn questions, with the settings of the evaluation.

    Parameters
    ----------
    methods : the methods.
    drawn : the questions of the sample, in the order in which they are asked.
    set : names of the question sets, separated by commas.
    of : number of all questions of these sets.
    graphs : name and digest of each source.
    seed : seed of the sample and of the methods.
    model : True if language models are asked for answers.
    judge : True if a language model judges the answers.
    second_judge : role or name of a second judge, empty for none.
    cold : True if methods share nothing and models forget their caches. The seconds are then those
        of each method alone.
    support : models that check if the text in the prompt supports the answer's sentences:
        `SUPPORT_BY_ENCODER`, `SUPPORT_BY_MODEL`, or both.
    notes : sentences on rows that were skipped in the question files.
    repeats : runs of each method with chance, the first included
        (`core.evaluation.runs.repeats.with_repeats`).
    varied : ids of the methods that are repeated, each with what varies in words.
    rebuilt : methods whose graphs are built again for each repeat: id, line of the build, and names
        of the operators that get another seed, separated by commas.
    """

    methods: tuple[Method, ...]
    drawn: tuple[DrawnQuestion, ...]
    set: str = ""
    of: int = 0
    graphs: tuple[tuple[str, str], ...] = ()
    seed: int = 0
    model: bool = True
    judge: bool = False
    cold: bool = False
    support: tuple[str, ...] = ()
    second_judge: str = ""
    notes: tuple[str, ...] = ()
    repeats: int = 1
    varied: tuple[tuple[str, str], ...] = ()
    rebuilt: tuple[tuple[str, str, str], ...] = ()

    def __post_init__(self) -> None:
        if not self.methods:
            raise BadInput("Choose at least one method.")
        if not self.drawn:
            raise BadInput("There is no question to evaluate.")
        if (self.judge or self.support) and not self.model:
            raise BadInput(
                "Without a language model nothing can be judged; leave out one of the two."
            )
        if self.second_judge and not self.judge:
            raise BadInput("A second judge needs a first one.")
        for name in self.support:
            if name not in (SUPPORT_BY_ENCODER, SUPPORT_BY_MODEL):
                raise BadInput(
                    f"Support is judged by {SUPPORT_BY_ENCODER} or {SUPPORT_BY_MODEL}, not by “{name}”."
                )
        if len({method.id for method in self.methods}) < len(self.methods):
            raise BadInput("A method was named twice.")
        if len({drawn.question.id for drawn in self.drawn}) < len(self.drawn):
            raise BadInput("A question set was named twice, or two questions share an id.")

    def rotated_methods(self, index: int) -> list[Method]:
        """Return the methods in the order in which they are asked a question.

        The order rotates with the question's index, so that no method always comes first.
        """
        start = index % len(self.methods)
        return [*self.methods[start:], *self.methods[:start]]

    @property
    def models(self) -> tuple[str, ...]:
        """Models and roles that the evaluation uses.

        They are those of the operators (answering ones only if answers are requested), of the
        judges, and of the measurement of support.
        """
        names: list[str] = []
        for operator in self._operators():
            if self.model or operator.stage != "generate":
                names += models_used(operator)
        names += self._judging_chats()
        if SUPPORT_BY_ENCODER in self.support:
            names.append("encoder")
        return tuple(dict.fromkeys(names))

    @property
    def chats(self) -> frozenset[str]:
        """Names in `models` that can only be language models: those that judge, answer or write.

        A model that ranks may be a language model or another scorer, so it is not included.
        """
        names = self._judging_chats()
        for operator in self._operators():
            values = parameter_values(operator)
            names += [values[each.name] for each in parameters(type(operator)) if each.chat]
        return frozenset(names)

    @property
    def judges(self) -> list[str]:
        """Roles or names of the models that judge answers."""
        return [name for name in ("judge" if self.judge else "", self.second_judge) if name]

    def _judging_chats(self) -> list[str]:
        """Return the language models that judge answers or their support."""
        return [*self.judges, *(["judge"] if SUPPORT_BY_MODEL in self.support else [])]

    def _operators(self) -> Iterator[Operator]:
        for method in self.methods:
            yield from method.line.parts()

    def spec(self, models: str) -> dict[str, Any]:
        """Return everything that the results depend on, as values for JSON.

        `models` is the text of `core.evaluation.runs.evaluation_jobs.dependency_text`: the
        signatures of the models and everything else that the operators depend on. Questions and
        models enter by their digests.
        """
        return {
            "instances": [
                {"id": each.id, "name": each.name, "title": each.title, "line": repr(each.line)}
                for each in self.methods
            ],
            "graphs": [list(graph) for graph in self.graphs],
            "set": self.set,
            "of": self.of,
            "sample": len(self.drawn),
            "questions": question_digest(drawn.question for drawn in self.drawn),
            "seed": self.seed,
            "model": self.model,
            "judge": self.judge,
            "cold": self.cold,
            "models": _digest(models),
            # Only if set, so that the keys of runs saved without these settings stay the same.
            **({"support": list(self.support)} if self.support else {}),
            **({"second_judge": self.second_judge} if self.second_judge else {}),
            **(self._repeat_spec() if self.repeats > 1 else {}),
        }

    def _repeat_spec(self) -> dict[str, Any]:
        rebuilt = {"rebuilt": [list(each) for each in self.rebuilt]} if self.rebuilt else {}
        varied = [list(pair) for pair in self.varied]
        return {"repeats": self.repeats, "varied": varied, **rebuilt}


def shared_graph(drawn: Iterable[DrawnQuestion]) -> str:
    """Return the graph on which all questions are asked, empty if there are several or none."""
    names = {each.source.graph_name for each in drawn}
    return names.pop() if len(names) == 1 else ""


def question_digest(questions: Iterable[Question]) -> str:
    """Return the digest of questions with what is known of them."""
    return _digest([_question_key(question) for question in questions])


def _question_key(question: Question) -> list[Any]:
    """Return the part of a run's key that depends on a question.

    Gold passages, options, aliases and abstractness are included only if the question has them, so
    that the keys of runs saved without these fields stay the same.
    """
    parts = [question.id, question.text, question.entities, question.answers, question.hops]
    optional = (question.gold, question.options, question.aliases, question.abstract)
    return [*parts, *filter(None, optional)]


def evaluation_key(spec: dict[str, Any]) -> str:
    """Return the key of a run from its specification.

    Runs with equal methods, questions, graphs, models and settings have equal keys.
    """
    return _digest(spec)[:16]


def make_plan(
    methods: Sequence[Method],
    sets: str | OpenedSet,
    size: int | None,
    open_graph: Callable[[str], Any],
    *,
    graph: str = "",
    seed: int = 0,
    columns: str = "",
    abstract: bool = False,
    only: str = "",
    **options: Any,
) -> Plan:
    """Return a plan over a sample of questions from one or several question sets.

    A set is a name (`metaqa-2hop-dev`, or `metaqa-2hop` for its test part) or a file of questions.
    The set of a corpus is asked on the corpus. `run-NAME` stands for the questions of a finished
    run, on the source of that run.

    Parameters
    ----------
    methods : methods of the plan.
    sets : names of the sets, separated by commas; or one set that is opened already.
    size : sample size for each set; None takes all questions.
    open_graph : opens a graph by its name.
    graph : name of the graph to ask. By default it is the set's own: one for all questions, or one
        per question if any row of the file has a graph. A row without a graph then fails. A file
        without any graph is asked on `metaqa`.
    seed : seed of the sample and of the methods.
    columns : names of the columns, for question files in the form of tables.
    abstract : True to ask all questions as abstract questions, whatever their set says.
    only : a field that must be true in the rows of the file that are used; empty uses all rows.
    options : the plan's `model`, `judge`, `second_judge`, `cold` and `support`.

    Returns
    -------
    The plan, with the drawn questions.

    Raises
    ------
    BadInput : a set or graph is missing, or does not fit; or a setting is not valid.
    StoreError : a graph or the store of runs is damaged.
    """
    drawn_questions: list[DrawnQuestion] = []
    set_names: list[str] = []
    graphs: dict[str, str] = {}
    notes: list[str] = []
    question_count = 0
    opened_sets = (
        [sets]
        if not isinstance(sets, str)
        else [
            open_set(text, open_graph, graph, columns=columns, only=only)
            for text in filter(None, map(str.strip, sets.split(",")))
        ]
    )
    for name, questions, source, digest, note in opened_sets:
        for question in draw_sample(questions, size, seed):
            drawn = replace(question, abstract=question.abstract or abstract)
            drawn_questions.append(DrawnQuestion(drawn, name, source))
        graphs[source.saved_name or f"{name}: {OWN_GRAPHS}"] = digest
        set_names.append(name)
        notes.append(note)
        question_count += len(questions)
    return Plan(
        tuple(methods),
        tuple(drawn_questions),
        set=", ".join(set_names),
        of=question_count,
        graphs=tuple(graphs.items()),
        seed=seed,
        notes=tuple(filter(None, notes)),
        **options,
    )


def open_set(
    name: str,
    open_graph: Callable[[str], Any],
    graph: str = "",
    *,
    columns: str = "",
    only: str = "",
) -> OpenedSet:
    """Open one question set: of a finished run, a corpus or a graph, or a file.

    The parameters are those of `make_plan`. Raises BadInput, StoreError.
    """
    return (
        _open_run(name, open_graph)
        or _open_corpus_set(name, open_graph)
        or _open_set(name, graph, open_graph, columns, only)
    )


def source_of(sets: str) -> AnswerSource:
    """Return the source of the first of some comma-separated sets: its corpus, or a graph.

    The graph has no name, because only its kind is of interest.
    """
    first = sets.split(",")[0].strip()
    if first.startswith(RUN_PREFIX):
        return find_run(first.removeprefix(RUN_PREFIX)).source
    return corpus_of_set(first) or GraphSource("")


def misfits(questions: Iterable[DrawnQuestion], open_graph: Callable[[str], Any]) -> list[str]:
    """Return a sentence for each set that does not fit its graph.

    A sentence counts the questions whose entities or answers the graph lacks, or that have none.

    Parameters
    ----------
    questions : the drawn questions.
    open_graph : opens a graph by its name.

    Returns
    -------
    Sentences; empty if all sets fit.
    """
    questions_by_source: dict[tuple[str, str], list[Question]] = {}
    for drawn in questions:
        if not drawn.source.is_corpus:
            key = (drawn.set, drawn.source.name)
            questions_by_source.setdefault(key, []).append(drawn.question)
    sentences = []
    for (name, graph), group in questions_by_source.items():
        if graph:
            fit = measure_fit(open_graph(graph), group)
        else:
            fit = measure_own_graphs_fit(question_set(name), group)
        sentences.append(fit.words(graph or "graphs of their own"))
    return list(filter(None, sentences))


def draw_sample(questions: Sequence[Question], size: int | None, seed: int) -> tuple[Question, ...]:
    """Draw a sample of questions.

    The order depends on the seed and the number of questions alone, so a smaller sample is the
    beginning of a larger one.

    Parameters
    ----------
    questions : the questions.
    size : number of questions; None for all.
    seed : seed of the order.

    Returns
    -------
    The sample, without repeats.

    Raises
    ------
    BadInput : the size is below 1, or the seed below 0.
    """
    if seed < 0:
        raise BadInput("A seed is 0 or more.")
    if size is not None and size < 1:
        raise BadInput("A sample needs at least one question.")
    order = np.random.default_rng(seed).permutation(len(questions))
    return tuple(questions[int(i)] for i in order[:size])


def models_used(operator: Operator) -> list[str]:
    """Return the models and roles that an operator's parameters name."""
    names: list[str] = []
    for parameter, value in zip(
        parameters(type(operator)), parameter_values(operator).values(), strict=True
    ):
        if value in parameter.also:  # a special value that is no model's name
            continue
        if parameter.chat:
            names.append(value)
        elif parameter.model:
            names += model_names(value)
    return names


def _open_run(name: str, open_graph: Callable[[str], Any]) -> OpenedSet | None:
    """Return the questions of a finished run as `_open_set` does.

    None if the name is no run's.
    """
    if not name.startswith(RUN_PREFIX):
        return None
    run = find_run(name.removeprefix(RUN_PREFIX))
    run_questions = run.list_questions()
    if not run_questions:
        raise BadInput(
            f"The finished run “{run.title}” has no question whose text is known; bring its "
            f"questions to “{run.source_name}”."
        )
    return name, run_questions, run.source, run.source.digest(open_graph), ""


def _open_corpus_set(name: str, open_graph: Callable[[str], Any]) -> OpenedSet | None:
    """Return a set of a corpus as `_open_set` does.

    None if no corpus has that set.
    """
    source = corpus_of_set(name)
    if source is None:
        return None
    return name, source.questions(name), source, source.digest(open_graph), ""


def _open_set(name: str, graph: str, open_graph, columns: str, only: str) -> OpenedSet:
    """Open a question set by its name or file.

    The source has no name if each question has its own graph.
    """
    opened_set = question_set(name, columns)
    note = opened_set.note()
    is_file = FilePath(name).is_file() and opened_set.file == FilePath(name).absolute()
    if only and is_file:
        opened_set = replace(opened_set, only=only)
    full_name = str(opened_set.file) if is_file else full_set_name(name)
    if not graph and (
        opened_set.graph_scope == "question" or (is_file and opened_set.has_graphs())
    ):
        with opened_set.file.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        return full_name, opened_set.questions(), GraphSource(""), digest, note
    graph_name = graph or ("metaqa" if is_file else dataset_of_set(name).name)
    source = GraphSource(graph_name)
    return full_name, opened_set.questions(), source, source.digest(open_graph), note


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
