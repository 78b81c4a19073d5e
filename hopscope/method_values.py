"""Values that stand for a method: ids, lines of operators, operators and functions of the user."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

from core.errors import BadInput
from core.languages.spelling import contains_words
from core.methods.catalogue import (
    Method,
    catalogue,
    find_method,
    method_for_source,
    method_of_line,
)
from core.operators import OPERATORS
from core.operators.base import Line, Operator
from core.operators.generate import Answer
from core.operators.retrieve.own_retriever import OwnDocuments, OwnRetriever
from core.operators.texts.answer.own_answer import OwnAnswer
from core.retrievers.declarations import declare_function
from core.sources import AnswerSource

# A method by its id or text, as an object, as one operator, or as a function of the user.
MethodLike = str | Method | Line | Operator | Callable[[dict], Any]


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


def is_method(value: Any) -> bool:
    """Return whether a value is one method, and not a list of methods."""
    return isinstance(value, str | Method | Line | Operator) or callable(value)


def to_methods(methods: Any, source: AnswerSource) -> list[Method]:
    """Return the methods of a value: one method, or a sequence of methods.

    Raises what `to_method` raises.
    """
    return [to_method(one, source) for one in ([methods] if is_method(methods) else methods)]


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
