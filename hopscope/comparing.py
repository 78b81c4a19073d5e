"""Comparison of several methods on one question."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from core.serving.calls import find_source, open_question
from hopscope.comparison import Comparison
from hopscope.method_values import MethodLike, to_methods
from hopscope.session import engine, wait_for_job


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
    source_question = open_question(
        engine(), source, question, tuple(entities), tuple(answers), tuple(gold), llm, seed
    )
    selected = to_methods(methods or source.default_methods, source)
    job = wait_for_job(engine().compare(source_question, selected), "Asking", progress)
    return Comparison(job.comparison)
