"""Adapters between methods and the retrievers of LangChain and LlamaIndex, in both directions.

    retriever = hs.to_langchain("hipporag", corpus="mine")            # a method as a retriever
    hs.compare("Who ...?", [hs.from_langchain(mine), "vanilla-rag"], corpus="mine")

Each library is imported only when its adapter is used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import starmap
from typing import Any

from core.errors import HopscopeError
from core.serving.calls import SERVING
from hopscope.comparing import compare
from hopscope.method_values import MethodLike

# For each item: id (empty for a path), text, score (None without one) and metadata.
RetrievedItems = list[tuple[str, str, float | None, dict[str, Any]]]


def retrieve_items(
    question: str, method: MethodLike, graph: str = "", corpus: str = "", items: int = 10
) -> RetrievedItems:
    """Return the items that one method retrieves for a question, best first.

    The items are passages if the method finds any, else paths, else hits of another kind.

    Parameters
    ----------
    question : str
        The question in words.
    method : MethodLike
        Any method that `compare` accepts.
    graph, corpus : str
        Name of the graph or of the corpus to search; at most one of them. Default: the graph of
        MetaQA.
    items : int
        Most items to return, 1 to 50; other numbers are clipped to this range.

    Returns
    -------
    list of tuple
        `(id, text, score, metadata)` per item. A path has an empty id. The score is None if the
        method ranks without scores.

    Raises
    ------
    HopscopeError
        If the question cannot be asked, or the method fails.

    Examples
    --------
    >>> from hopscope.adapters import retrieve_items
    >>> line = "EgoNetwork(hops=1) >> ShortestPaths(hops=1)"
    >>> [text for _, text, _, _ in retrieve_items("who directed Inception", line, items=1)]
    ['Inception -> release_year -> 2010']
    """
    lane = compare(question, method, graph=graph, corpus=corpus, progress=False)[0]
    if lane.error:
        raise HopscopeError(lane.error)
    hits, paths = lane.hits, lane.data["paths"]
    limit = max(1, min(items, SERVING.max_lane_items))
    if not hits.get("chunk") and paths:
        return [
            ("", path["text"], path["score"], {"kind": "path", "nodes": path["nodes"]})
            for path in paths[:limit]
        ]
    for kind in ("chunk", *hits):
        if hits.get(kind):
            return [
                (hit["id"], hit["text"], hit["score"], {"kind": kind, "source": hit["source"]})
                for hit in hits[kind][:limit]
            ]
    return []


def to_langchain(method: MethodLike, *, graph: str = "", corpus: str = "", items: int = 10) -> Any:
    """Return a LangChain retriever that retrieves by a method of Hopscope.

    Parameters
    ----------
    method : MethodLike
        Any method that `compare` accepts.
    graph, corpus : str
        Name of the graph or of the corpus to search; at most one of them. Default: the graph of
        MetaQA.
    items : int
        Most documents per question, 1 to 50.

    Returns
    -------
    BaseRetriever
        Its documents have the ids of the passages, and their scores as `score` in the metadata.

    Raises
    ------
    ImportError
        If langchain-core is not installed.
    """
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever

    class HopscopeRetriever(BaseRetriever):
        """A LangChain retriever over a method of Hopscope."""

        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
            retrieved_items = retrieve_items(query, method, graph, corpus, items)
            return [
                Document(text, id=key or None, metadata={**metadata, "score": score})
                for key, text, score, metadata in retrieved_items
            ]

    return HopscopeRetriever()


def to_llama_index(
    method: MethodLike, *, graph: str = "", corpus: str = "", items: int = 10
) -> Any:
    """Return a LlamaIndex retriever that retrieves by a method of Hopscope.

    Parameters
    ----------
    method : MethodLike
        Any method that `compare` accepts.
    graph, corpus : str
        Name of the graph or of the corpus to search; at most one of them. Default: the graph of
        MetaQA.
    items : int
        Most nodes per question, 1 to 50.

    Returns
    -------
    BaseRetriever
        Its nodes have the ids and scores of the passages.

    Raises
    ------
    ImportError
        If llama-index-core is not installed.
    """
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

    class HopscopeRetriever(BaseRetriever):
        """A LlamaIndex retriever over a method of Hopscope."""

        def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            retrieved_items = retrieve_items(query_bundle.query_str, method, graph, corpus, items)
            nodes = []
            for key, text, score, metadata in retrieved_items:
                id_field = {"id_": key} if key else {}  # without one, the library makes an id
                node = TextNode(text=text, metadata=metadata, **id_field)
                nodes.append(NodeWithScore(node=node, score=score))
            return nodes

    return HopscopeRetriever()


def from_langchain(
    retriever: Any, name: str = "langchain"
) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """Return a method on documents that asks a LangChain retriever.

    Parameters
    ----------
    retriever : BaseRetriever
        Its documents are looked up in the corpus by their ids, else by their texts.
    name : str
        Name of the method in tables and lanes.

    Returns
    -------
    callable
        A method for `compare` and `evaluate`.
    """

    def fetch(question: str) -> list[tuple[str | None, str, Any]]:
        documents = retriever.invoke(question)
        return [(one.id, one.page_content, one.metadata.get("score")) for one in documents]

    return _method_of(fetch, name)


def from_llama_index(
    retriever: Any, name: str = "llama_index"
) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """Return a method on documents that asks a LlamaIndex retriever.

    Parameters
    ----------
    retriever : BaseRetriever
        Its nodes are looked up in the corpus by the ids of their documents, else by their texts.
    name : str
        Name of the method in tables and lanes.

    Returns
    -------
    callable
        A method for `compare` and `evaluate`.
    """

    def fetch(question: str) -> list[tuple[str | None, str, Any]]:
        nodes = retriever.retrieve(question)
        return [(one.node.ref_doc_id, one.node.get_content(), one.score) for one in nodes]

    return _method_of(fetch, name)


def _method_of(
    fetch: Callable[[str], list[tuple[str | None, str, Any]]], name: str
) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """Return a method on documents that fetches their ids, texts and scores."""

    def ask(request: Mapping[str, Any]) -> dict[str, Any]:
        found = fetch(request["question"])[: request["keep"]]
        return {"documents": list(starmap(_document_dict, found))}

    ask.__name__ = name
    return ask


def _document_dict(key: str | None, text: str, score: Any) -> dict[str, Any]:
    """Return a document of a retriever's reply, with its id and score if it has them."""
    document: dict[str, Any] = {"text": text}
    if key:
        document["id"] = key
    if isinstance(score, int | float):
        document["score"] = float(score)
    return document
