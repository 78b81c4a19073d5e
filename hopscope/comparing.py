"""Comparison of several methods on one question: `compare` and its results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

from core.errors import BadInput, HopscopeError
from core.io.json_text import json_text
from core.languages.spelling import contains_words
from core.methods.catalogue import (
    Method,
    catalogue,
    find_method,
    method_for_source,
    method_id,
    method_of_line,
)
from core.operators import OPERATORS
from core.operators.base import Line, Operator
from core.operators.generate import Answer
from core.operators.retrieve.own_retriever import OwnDocuments, OwnRetriever
from core.operators.texts.answer.own_answer import OwnAnswer
from core.results import comparison_dict
from core.retrievers.declarations import declare_function
from core.serving.calls import find_source, open_question
from core.sources import AnswerSource
from hopscope.picture import html
from hopscope.session import engine, wait_for_job

if TYPE_CHECKING:
    import pandas
    import pyarrow

__all__ = ["Comparison", "HopscopeError", "Lane", "compare", "methods"]
# A method by its id or text, as an object, as one operator, or as a function of the user.
MethodLike = str | Method | Line | Operator | Callable[[dict], Any]
RESULT_COLUMNS = ("method", "kind", "rank", "id", "text", "score")  # of `Comparison.rows`


class Lane:
    """Result of one method for the question.

    It gives access to a part of `Comparison.data`.

    Attributes
    ----------
    data : dict
        The lane as `hopscope ask --json` prints it.
    """

    def __init__(self, data: dict[str, Any]):
        self.data = data

    @property
    def method(self) -> str:
        """The id of the method."""
        return self.data["instance"]

    @property
    def answers(self) -> list[str]:
        """Answers of the method, best first.

        They are the language model's answer if one was asked. Otherwise they are the names that the
        graph reader returns, or on documents the excerpt that answers. Empty without any of these.
        """
        if self.data["answer"]:
            return [self.data["answer"]]
        if self.data["reader_answers"] is None and self.data["excerpt"]:
            return [self.data["excerpt"]["text"]]
        return list(self.data["reader_answers"] or [])

    @property
    def paths(self) -> list[str]:
        """Reasoning paths as texts, best first."""
        return [path["text"] for path in self.data["paths"]]

    @property
    def hits(self) -> dict[str, list[dict[str, Any]]]:
        """Retrieved items that are no paths, by kind: chunk, node, relation, community.

        The items of a kind are dicts with `id`, `score`, `text` and `source`, best first.
        """
        return self.data["hits"]

    @property
    def prompt(self) -> str | None:
        """The prompt as one text; None for a method without one."""
        return self.data["prompt"]

    @property
    def seconds(self) -> float:
        """Run time of the operators, without waiting and work that later questions reuse."""
        return sum(step["seconds"] for step in self.data["operators"])

    @property
    def error(self) -> str:
        """A sentence on why the method failed. Empty if it did not fail."""
        return self.data["error"] or ""

    def __repr__(self) -> str:
        return f"<{self.method}: {self.error or ', '.join(self.answers[:3]) or 'no answer'}>"


class Comparison:
    """Results of several methods for one question.

    In a notebook it draws itself. A lane is accessed by its index or by a name of its method.

    Attributes
    ----------
    data : dict
        The object that `hopscope ask --json` prints.
    lanes : list of Lane
        One lane per method, in the order of the call.
    """

    def __init__(self, data: dict[str, Any]):
        self.data = data
        self.lanes = [Lane(lane) for lane in data["lanes"]]

    def __getitem__(self, which: int | str) -> Lane:
        if isinstance(which, int):
            return self.lanes[which]
        ids = (which, method_id(which))
        matching_lane = next((lane for lane in self.lanes if lane.method in ids), None)
        if matching_lane is None:
            raise KeyError(
                f"There is no method “{which}”; "
                f"there are {', '.join(lane.method for lane in self.lanes)}."
            )
        return matching_lane

    def __iter__(self) -> Iterator[Lane]:
        return iter(self.lanes)

    def __len__(self) -> int:
        return len(self.lanes)

    def __repr__(self) -> str:
        return "\n".join([self.data["question"], *(f"  {lane!r}" for lane in self.lanes)])

    def _repr_html_(self) -> str:
        return html(self.data)

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per path and hit of each lane, best first.

        Returns
        -------
        list of dict
            Each with `method`, `kind`, `rank` (from 1, for each kind), `id`, `text` and `score`. A
            path has an empty id. The score is None if the method ranks without scores.
        """
        rows = []
        for lane in self.lanes:
            for kind, items in {"path": lane.data["paths"], **lane.hits}.items():
                for rank, item in enumerate(items, 1):
                    key = item.get("id", "")
                    values = (lane.method, kind, rank, key, item["text"], item["score"])
                    rows.append(dict(zip(RESULT_COLUMNS, values)))
        return rows

    def to_pandas(self) -> pandas.DataFrame:
        """Return `rows` as a data frame.

        Returns
        -------
        pandas.DataFrame
            Columns method, kind, rank, id, text and score.
        """
        import pandas

        return pandas.DataFrame(self.rows(), columns=list(RESULT_COLUMNS))

    def to_arrow(self) -> pyarrow.Table:
        """Return `rows` as an Arrow table.

        Returns
        -------
        pyarrow.Table
            Columns as those of `to_pandas`; rank is int64, score is float64, the others are
            strings.
        """
        import pyarrow

        types = {"rank": pyarrow.int64(), "score": pyarrow.float64()}
        columns = [(name, types.get(name, pyarrow.string())) for name in RESULT_COLUMNS]
        return pyarrow.Table.from_pylist(self.rows(), pyarrow.schema(columns))

    def to_run(self, kind: str = "chunk", question: str = "q") -> str:
        """Return the hits of one kind as a run in the format of TREC.

        A line has question id, Q0, item, rank, score and method. The score of an item without one
        is the reciprocal of its rank. An item without an id is named by its text.

        Parameters
        ----------
        kind : str
            The kind of items: path, chunk, node, relation or community.
        question : str
            The question id of the run.

        Returns
        -------
        str
            One line per item, separated by spaces.
        """
        lines = []
        for row in self.rows():
            if row["kind"] != kind:
                continue
            score = 1 / row["rank"] if row["score"] is None else row["score"]
            item = "_".join((row["id"] or row["text"]).split())
            lines.append(
                f"{question} Q0 {item} {row['rank']} {score:.6f} {'_'.join(row['method'].split())}"
            )
        return "".join(f"{line}\n" for line in lines)

    def to_json(self) -> str:
        """Return `data` as JSON.

        Returns
        -------
        str
            Indented JSON, as `hopscope ask --json` prints it.
        """
        return json_text(self.data, indent=2)


def compare(
    question: str,
    methods: MethodLike | Sequence[MethodLike] = (),
    *,
    graph: str = "",
    corpus: str = "",
    entities: Iterable[str] = (),
    answers: Iterable[str] = (),
    gold: Iterable[str] = (),
    llm: bool = False,
    seed: int = 0,
    progress: bool = True,
) -> Comparison:
    """Ask one question by several methods and return their results as lanes.

    A method that fails says why in the `error` of its lane.

    Parameters
    ----------
    question : str
        The question in words.
    methods : MethodLike or list of MethodLike
        The id of a method, a line of operators as text or as objects, an operator, or a function of
        your own. The function gets the request of docs/own-retriever.md as a dict and returns its
        reply. Default: the usual methods of the source.
    graph, corpus : str
        Name of the graph or of the corpus to ask; at most one of them. Default: the graph of
        MetaQA.
    entities : iterable of str
        Entities at which the search starts. Default: those that the question names.
    answers, gold : iterable of str
        The known answers, and on documents the ids of the documents that hold the evidence.
    llm : bool
        Whether a language model answers.
    seed : int
        Seed of all random choices.
    progress : bool
        Whether to draw a progress bar.

    Returns
    -------
    Comparison
        One lane per method.

    Raises
    ------
    HopscopeError
        If the question, a method or the source cannot be used.

    Examples
    --------
    >>> import hopscope as hs
    >>> line = hs.EgoNetwork(hops=1) >> hs.ShortestPaths(hops=1)
    >>> found = hs.compare("who directed Inception", line, progress=False)
    >>> found[0].answers[0], found[0].paths[0]
    ('Christopher Nolan', 'Inception -> release_year -> 2010')
    """
    source = find_source(graph, corpus)
    method_list = (
        [methods]
        if isinstance(methods, str | Method | Line | Operator) or callable(methods)
        else list(methods)
    )
    selected = [to_method(method, source) for method in method_list or source.default_methods]
    source_question = open_question(
        engine(), source, question, tuple(entities), tuple(answers), tuple(gold), llm, seed
    )
    job = wait_for_job(engine().compare(source_question, selected), "Asking", progress)
    return Comparison(comparison_dict(job.comparison))


def methods(words: str = "") -> dict[str, str]:
    """Return the ids and titles of the methods.

    With `words`, only matching methods are returned.

    Parameters
    ----------
    words : str
        Words that each must occur in the id or the title.

    Returns
    -------
    dict
        Titles by id.

    Examples
    --------
    >>> import hopscope as hs
    >>> list(hs.methods("hipporag 2 filter"))[:1]
    ['hipporag-2-filter-corpus-graph']
    """
    return {
        key: method.title
        for key, method in catalogue().items()
        if contains_words(f"{key} {method.alias} {method.title}", words)
    }


def to_method(method: MethodLike, source: AnswerSource) -> Method:
    """Return the `Method` that a value accepted by `compare` stands for.

    Parameters
    ----------
    method : MethodLike
        Any method that `compare` accepts.
    source : AnswerSource
        The graph or corpus that is asked. On a corpus, a function is a method on documents.

    Returns
    -------
    Method
        A method of the catalogue, or a new one.

    Raises
    ------
    BadInput
        If the method is of no accepted type, or no such method is known.
    BadParameter
        If an operator of a line has a wrong parameter.
    """
    methods_by_id = catalogue()
    if isinstance(method, Method):
        return method
    if isinstance(method, str):
        return method_for_source(find_method(method, methods_by_id), source, methods_by_id)
    if isinstance(method, Operator):
        method = Line((method,))
    if isinstance(method, Line):
        # Classes that are not in the registry are the user's own.
        for operator_class in {type(part) for part in method.parts()} - set(OPERATORS.values()):
            _disable_cache(operator_class)
        return method_of_line(method, methods_by_id, ())
    if callable(method):
        name = declare_function(method).name
        steps = (
            (OwnDocuments(name), OwnAnswer())
            if source.is_corpus
            else (OwnRetriever(name), Answer())
        )
        return Method(name, name, Line(steps))
    raise BadInput(
        f"A method is an id, a line of operators or a function, not {type(method).__name__}."
    )


_run_numbers = count(1)


def _disable_cache(operator_class: type[Operator]) -> None:
    """Make operators of a user's class run again in each comparison.

    The class may have been redefined under its name since the last comparison, and so may the
    functions that it calls. A new stamp makes cached results invalid.
    """
    run_label = f"run {next(_run_numbers)}"

    def stamp(self: Operator, graph: Any, environment: Any) -> str:
        return run_label

    operator_class.is_reusable = False
    operator_class.stamp = stamp  # type: ignore[method-assign]
