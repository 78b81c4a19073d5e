"""Builds of each kind of graph that a paper's rows use.

A build is a way to make a graph of a corpus. Its kind says what the graph is, such as a tree or a
knowledge graph, and its extractor says which model finds entities and relations in the texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from core.builds import build_for, find_build
from core.builds.catalogue import EXTRACTORS, GRAPH_KIND_WORDS, builds_of_kind, catalogue
from core.corpus import Corpus
from core.errors import BadInput, BadParameter
from core.evaluation.reports.sensitivity import variant
from core.methods.catalogue import Method
from core.operators.texts.built_graph import BuiltGraph


def kind_of_graph(method: Method) -> str:
    """Return the kind of graph that a method's line names.

    The text is empty if the line names none.
    """
    for operator in method.line.parts():
        if isinstance(operator, BuiltGraph):
            is_kind = operator.build in GRAPH_KIND_WORDS
            return operator.build if is_kind else find_build(operator.build).graph
    return ""


def replace_build(method: Method, builds: Sequence[str]) -> Method:
    """Return the method on the requested build of its kind of graph.

    If no requested build has that kind, the method stays the same.

    Parameters
    ----------
    method : a method.
    builds : builds (ids or lines) and extractors; the last that matches is used. An extractor
        stands for its build of each kind. For a kind that needs no extractor, such as plain chunks,
        it stands for the build without an extractor.

    Returns
    -------
    The method itself, or its variant on that build.

    Examples
    --------
    >>> from core.evaluation.papers.graphs import replace_build
    >>> from core.methods.catalogue import published_methods
    >>> wanted = ("paper", "kg-names")
    >>> [
    ...     repr(replace_build(published_methods()[id], wanted).line.operators[0])
    ...     for id in ("dalk", "vanilla-rag")
    ... ]
    ["BuiltGraph(build='kg-names')", "BuiltGraph(build='chunks-paper')"]
    """
    kind = kind_of_graph(method)
    for name in reversed(builds if kind else ()):
        build = _build_of_extractor(kind, name) if name in EXTRACTORS else name
        if build and find_build(build).graph == kind:
            return variant(method, BuiltGraph, "build", build)
    return method


def _build_of_extractor(kind: str, extractor: str) -> str:
    """Return the id of a kind's build with an extractor.

    If there is none, return the id of the kind's build without an extractor. The id is empty if the
    kind has neither.
    """
    ids_by_extractor = {build.extractor: build.id for build in builds_of_kind(kind)}
    return ids_by_extractor.get(extractor) or ids_by_extractor.get("", "")


def check_builds(builds: Iterable[str], kinds: Iterable[str]) -> None:
    """Check that each name is an extractor or a build.

    A build must be of one of these kinds.

    Parameters
    ----------
    builds : names of extractors or builds.
    kinds : kinds of graph that the rows use.

    Raises
    ------
    BadInput : a name is neither an extractor nor a build, or it is a build of another kind.
    """
    graph_kinds = set(kinds)
    for name in builds:
        if name in EXTRACTORS:
            continue
        if name in GRAPH_KIND_WORDS and name not in catalogue():
            ids = ", ".join(build.id for build in builds_of_kind(name))
            raise BadInput(f"“{name}” is a kind of graph; name one of its builds: {ids}.")
        try:
            kind = find_build(name).graph
        except BadParameter as error:
            raise BadInput(str(error)) from None
        if kind not in graph_kinds:
            raise BadInput(f"No row stands on a graph of the kind of “{name}”.")


def graphs_sentence(corpus: Corpus, methods: Sequence[Method], names: Mapping[str, str]) -> str:
    """Return a sentence on the build of each row's graph.

    Parameters
    ----------
    corpus : the corpus of the graphs.
    methods : the methods.
    names : the paper's row names by method id; methods without a row name are left out.

    Returns
    -------
    A sentence; empty if no row names a graph.
    """
    rows_by_build: dict[str, list[str]] = {}
    for method in methods:
        for operator in method.line.parts():
            if isinstance(operator, BuiltGraph) and method.id in names:
                build = build_for(corpus, operator.build).id
                rows_by_build.setdefault(build, []).append(names[method.id])
    text = "; ".join(f"{build} for {', '.join(rows)}" for build, rows in rows_by_build.items())
    return f"Graphs: {text}." if text else ""
