"""Functions that add graphs and documents, build graphs, and import indexes of other tools."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from core.builds import choose_build, find_build
from core.builds import run_build as build_graph
from core.builds.catalogue import GRAPH_KIND_WORDS
from core.corpus import Document, import_documents, new_folder, open_corpus, write_corpus
from core.corpus.indexes.opened_indexes import open_index
from core.corpus.indexes.tools import tool_build
from core.datasets.graph_files import open_graph_files
from core.datasets.own_graphs import add_graph, free_graph_name
from core.datasets.own_sets import clean_name
from core.errors import BadInput
from hopscope.session import WorkProgress, engine, warn_user

if TYPE_CHECKING:
    from core.corpus import Corpus
    from core.graph.protocol import KnowledgeGraph

Triple = tuple[str, str, str]


def graph(
    triples: str | Path | Sequence[str | Path] | Iterable[Triple],
    name: str,
    *,
    progress: bool = True,
) -> KnowledgeGraph:
    """Save a graph of triples under a new name.

    Notes on rows of the files that were left out, and on guesses, are reported as Python warnings.

    Parameters
    ----------
    triples : iterable of (head, relation, tail), or path, or list of paths
        The triples themselves, or files in any format of docs/formats.md.
    name : str
        Name of the new graph.
    progress : bool
        Whether to draw a progress bar.

    Returns
    -------
    KnowledgeGraph
        The stored graph.

    Raises
    ------
    BadInput
        If the triples or files cannot be read, or the name is taken.

    Examples
    --------
    >>> import hopscope as hs
    >>> capitals = [("Bern", "capital_of", "Switzerland"), ("Paris", "capital_of", "France")]
    >>> towns = hs.graph(capitals, "towns", progress=False)
    >>> found = hs.compare("what is Bern the capital of", graph="towns", progress=False)
    >>> towns.n_nodes, found[0].answers[0]
    (4, 'Switzerland')
    """
    files = _paths(triples)
    with WorkProgress("Reading triples", progress) as watch:
        if files is None:
            return add_graph(list(triples), free_graph_name(name), watch=watch)  # type: ignore[arg-type]
        with tempfile.TemporaryDirectory() as folder:
            source = open_graph_files(files, Path(folder))
            result = add_graph(source, free_graph_name(name), watch=watch)
    warn_user(source.tally.sentences())
    return result


def _paths(value: object) -> list[Path] | None:
    """Return a path or a list of paths as a list of files. None for any other value."""
    if isinstance(value, str | Path):
        return [Path(value)]
    if isinstance(value, Sequence) and value:
        if all(isinstance(path, str | Path) for path in value):
            return list(map(Path, value))
    return None


def corpus(
    name: str,
    documents: str | Path | Sequence[str | Path] | Mapping[str, str] | None = None,
    *,
    title: str = "",
    progress: bool = True,
) -> Corpus:
    """Open a corpus, after adding documents to it if any are given.

    Files are added to the corpus, as `hopscope corpus add` does, which makes it if it does not
    exist. A dict of texts always makes a new corpus. Notes on the files are reported as Python
    warnings.

    Parameters
    ----------
    name : str
        Name of the corpus.
    documents : path, list of paths, dict or None
        Files, folders or zips in any format of docs/formats.md, or a dict of texts by document id.
        None only opens the corpus.
    title : str
        Title of a new corpus.
    progress : bool
        Whether to draw a progress bar.

    Returns
    -------
    Corpus
        The corpus with all its documents.

    Raises
    ------
    BadInput
        If the documents cannot be read.

    Examples
    --------
    >>> import hopscope as hs
    >>> texts = {"a": "Ada Lovelace wrote to Charles Babbage.", "b": "Babbage built an engine."}
    >>> notes = hs.corpus("notes", texts)
    >>> found = hs.compare("Who built an engine?", "bm25", corpus="notes", progress=False)
    >>> len(notes), found[0].hits["chunk"][0]["id"]
    (2, 'b')
    """
    if documents is None:
        return open_corpus(name)
    if isinstance(documents, Mapping):
        return write_corpus(
            new_folder(name), [Document(key, text) for key, text in documents.items()], title
        )
    files = _paths(documents)
    if files is None:
        raise BadInput("Documents are files, folders, or texts by id as a dict.")
    with WorkProgress("Reading documents", progress) as watch:
        result = import_documents(name, files, title, watch=watch)
    warn_user(result.notes)
    return result.corpus


def build(
    corpus: str, graph: str = "rkg", extractor: str = "names", *, progress: bool = True
) -> KnowledgeGraph:
    """Build a graph of a corpus, or open it if it is built already.

    A language model is asked only if `extractor` is "llm" or "described".

    Parameters
    ----------
    corpus : str
        Name of the corpus.
    graph : str
        A kind of graph of docs/building-graphs.md, the id of a build, or a line of building
        operators.
    extractor : str
        How entities and relations are extracted, for a kind of graph.
    progress : bool
        Whether to draw a progress bar.

    Returns
    -------
    KnowledgeGraph
        The graph of the corpus.

    Raises
    ------
    BadInput
        If there is no such corpus or build.
    ModelUnavailable
        If the build needs a model that is not installed.

    Examples
    --------
    >>> import hopscope as hs
    >>> first = "Ada Lovelace wrote to Charles Babbage."
    >>> _ = hs.corpus("letters", {"a": first, "b": "Charles Babbage met Ada Lovelace."})
    >>> sorted(hs.build("letters", progress=False).names([0, 1]))
    ['Ada Lovelace', 'Charles Babbage']
    """
    is_kind = graph in GRAPH_KIND_WORDS
    build_spec = choose_build(graph, extractor) if is_kind else find_build(graph)
    with WorkProgress("Building", progress) as watch:
        return build_graph(open_corpus(corpus), build_spec, engine().models, watch)


def open(path: str | Path, name: str = "", *, title: str = "", progress: bool = True) -> Corpus:
    """Make a corpus of the index of another tool, such as GraphRAG or LightRAG.

    The documents of the index become the corpus. Its graph and vectors become a graph of that
    corpus. Parts that were left out are reported as Python warnings. The tools are listed in
    docs/corpora.md.

    Parameters
    ----------
    path : str or Path
        Folder of the index.
    name : str
        Name of the new corpus. Default: that of the folder.
    title : str
        Title of the new corpus.
    progress : bool
        Whether to draw a progress bar.

    Returns
    -------
    Corpus
        The new corpus.

    Raises
    ------
    BadInput
        If the folder is not an index of a known tool.
    """
    name = name or clean_name(Path(path).resolve().stem)
    with WorkProgress("Reading the index", progress) as watch:
        corpus, index = open_index(path, name, title, watch)
        build_graph(corpus, find_build(tool_build(index.tool)), engine().models, watch)
    warn_user(index.sentences())
    return corpus
