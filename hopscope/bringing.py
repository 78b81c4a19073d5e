"""Graphs and documents of one's own: brought, built, opened."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from core.builds import build as build_graph
from core.builds import chosen, find
from core.builds.catalogue import KINDS
from core.corpus import Document, bring, new_folder, open_corpus, write
from core.corpus.indexes.opening import open_index
from core.corpus.indexes.tools import build_of
from core.datasets.graph_files import graph_files
from core.datasets.own_graphs import add_graph, free_name
from core.errors import BadInput
from hopscope.session import Bar, engine

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
    """A graph of triples, or of one or more files in any format of docs/formats.md, saved under a name to be asked by. What of the files
    was left out or guessed is in warnings. Raises BadInput, also for a name that is taken.

    >>> import hopscope as hs
    >>> towns = hs.graph([("Bern", "capital_of", "Switzerland"), ("Paris", "capital_of", "France")], "towns", progress=False)
    >>> towns.n_nodes, hs.compare("what is Bern the capital of", graph="towns", progress=False)[0].answers[0]
    (4, 'Switzerland')
    """
    files = _paths(triples)
    with Bar("Reading triples", progress) as watch:
        if files is None:
            return add_graph(list(triples), free_name(name), watch=watch)  # type: ignore[arg-type]
        with tempfile.TemporaryDirectory() as folder:
            source = graph_files(files, Path(folder))
            made = add_graph(source, free_name(name), watch=watch)
    _warn(source.tally.sentences())
    return made


def _paths(given: object) -> list[Path] | None:
    """The files that are given; None where it is something else."""
    if isinstance(given, str | Path):
        return [Path(given)]
    if isinstance(given, Sequence) and given and all(isinstance(one, str | Path) for one in given):
        return [Path(one) for one in given]
    return None


def corpus(
    name: str,
    documents: str | Path | Sequence[str | Path] | Mapping[str, str] | None = None,
    *,
    title: str = "",
    progress: bool = True,
) -> Corpus:
    """The corpus of that name; with `documents` those are brought first: files, folders or zips in any format of docs/formats.md, or texts
    by id. Files go into a corpus that is there, as with `corpus add`; texts make a new one. Raises BadInput.

    >>> import hopscope as hs
    >>> notes = hs.corpus("notes", {"a": "Ada Lovelace wrote to Charles Babbage.", "b": "Babbage built an engine."})
    >>> len(notes), hs.compare("Who built an engine?", "bm25", corpus="notes", progress=False)[0].hits["chunk"][0]["id"]
    (2, 'b')
    """
    if documents is None:
        return open_corpus(name)
    if isinstance(documents, Mapping):
        return write(
            new_folder(name), [Document(key, text) for key, text in documents.items()], title
        )
    files = _paths(documents)
    if files is None:
        raise BadInput("Documents are files, folders, or texts by id as a dict.")
    with Bar("Reading documents", progress) as watch:
        brought = bring(name, files, title, watch=watch)
    _warn(brought.notes)
    return brought.corpus


def build(
    corpus: str, graph: str = "rkg", extractor: str = "names", *, progress: bool = True
) -> KnowledgeGraph:
    """A graph of a corpus: one of the kinds of docs/building-graphs.md, a build by its id, or a line of building operators. A language
    model is asked only where `extractor` is "llm" or "described". Raises BadInput, ModelUnavailable.

    >>> import hopscope as hs
    >>> _ = hs.corpus("letters", {"a": "Ada Lovelace wrote to Charles Babbage.", "b": "Charles Babbage met Ada Lovelace."})
    >>> sorted(hs.build("letters", progress=False).names([0, 1]))
    ['Ada Lovelace', 'Charles Babbage']
    """
    one = chosen(graph, extractor) if graph in KINDS else find(graph)
    with Bar("Building", progress) as watch:
        return build_graph(open_corpus(corpus), one, engine().models, watch)


def open(path: str | Path, name: str, *, title: str = "", progress: bool = True) -> Corpus:
    """A corpus made of the index of another tool (GraphRAG, LightRAG, ...; docs/corpora.md): its documents, and its graph with vectors.
    What was left out is in warnings. Raises BadInput for a folder that is no such index."""
    with Bar("Reading the index", progress) as watch:
        opened, taken = open_index(path, name, title, watch)
        build_graph(opened, find(build_of(taken.tool)), engine().models, watch)
    _warn(taken.sentences())
    return opened


def _warn(sentences: Iterable[str]) -> None:
    import warnings

    for sentence in sentences:
        warnings.warn(sentence, stacklevel=3)
