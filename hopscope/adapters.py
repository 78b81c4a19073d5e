"""Methods as retrievers of LangChain and LlamaIndex, and their retrievers as methods.

    retriever = hs.to_langchain("hipporag", corpus="mine")            # the winner, in a chain of one's own
    hs.compare("Who ...?", [hs.from_langchain(mine), "vanilla-rag"], corpus="mine")

Neither library is needed unless it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from core.errors import HopscopeError
from core.results import comparison_dict
from core.serving.calls import MAX_ITEMS, asked, source_of
from hopscope.comparing import Method, instance_of
from hopscope.session import engine, finished

Found = list[
    tuple[str, str, float | None, dict[str, Any]]
]  # id, text, score, and what else is known


def retrieved(
    question: str, method: Method, graph: str = "", corpus: str = "", items: int = 10
) -> Found:
    """What a method retrieves for a question, best first: `(id, text, score, metadata)`. Chunks where it finds any, else paths, else its
    other hits. Raises HopscopeError where it fails.

    >>> from hopscope.adapters import retrieved
    >>> [text for _, text, _, _ in retrieved("who directed Inception", "EgoNetwork(hops=1) >> ShortestPaths(hops=1)", items=1)]
    ['Inception -> release_year -> 2010']
    """
    source = source_of(graph, corpus)
    job = engine().compare(asked(engine(), source, question), [instance_of(method, source)])
    finished(job, "Asking", progress=False)
    (lane,) = comparison_dict(job.comparison)["lanes"]
    if lane["error"]:
        raise HopscopeError(lane["error"])
    hits, most = lane["hits"], max(1, min(items, MAX_ITEMS))
    if not hits.get("chunk") and lane["paths"]:
        return [
            ("", path["text"], path["score"], {"kind": "path", "nodes": path["nodes"]})
            for path in lane["paths"][:most]
        ]
    kind = (
        "chunk"
        if hits.get("chunk")
        else next((kind for kind, ones in hits.items() if ones), "chunk")
    )
    return [
        (hit["id"], hit["text"], hit["score"], {"kind": kind, "source": hit["source"]})
        for hit in hits.get(kind, [])[:most]
    ]


def to_langchain(method: Method, *, graph: str = "", corpus: str = "", items: int = 10) -> Any:
    """A retriever of LangChain that retrieves by any method of `compare`: documents with their ids and scores. Raises ImportError where
    langchain-core is not installed."""
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever

    class HopscopeRetriever(BaseRetriever):
        """Retrieves by a method of Hopscope."""

        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
            found = retrieved(query, method, graph, corpus, items)
            return [
                Document(text, id=key or None, metadata={**more, "score": score})
                for key, text, score, more in found
            ]

    return HopscopeRetriever()


def to_llama_index(method: Method, *, graph: str = "", corpus: str = "", items: int = 10) -> Any:
    """A retriever of LlamaIndex that retrieves by any method of `compare`. Raises ImportError where llama-index-core is not installed."""
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

    class HopscopeRetriever(BaseRetriever):
        """Retrieves by a method of Hopscope."""

        def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            found = retrieved(query_bundle.query_str, method, graph, corpus, items)
            named = [
                (TextNode(text=text, metadata=more, **({"id_": key} if key else {})), score)
                for key, text, score, more in found
            ]
            return [NodeWithScore(node=node, score=score) for node, score in named]

    return HopscopeRetriever()


def from_langchain(
    retriever: Any, name: str = "langchain"
) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """A retriever of LangChain as a method on documents: its documents are found in the corpus by their ids, else by their texts."""

    def ask(request: Mapping[str, Any]) -> dict[str, Any]:
        found = retriever.invoke(request["question"])[: request["keep"]]
        return {
            "documents": [
                _document(one.id, one.page_content, one.metadata.get("score")) for one in found
            ]
        }

    return _named(ask, name)


def from_llama_index(
    retriever: Any, name: str = "llama_index"
) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """A retriever of LlamaIndex as a method on documents: its nodes are found in the corpus by the ids of their documents, else by their
    texts."""

    def ask(request: Mapping[str, Any]) -> dict[str, Any]:
        found = retriever.retrieve(request["question"])[: request["keep"]]
        return {
            "documents": [
                _document(one.node.ref_doc_id, one.node.get_content(), one.score) for one in found
            ]
        }

    return _named(ask, name)


def _document(key: str | None, text: str, score: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"text": text}
    if key:
        found["id"] = key
    if isinstance(score, int | float):
        found["score"] = float(score)
    return found


def _named(ask: Callable, name: str) -> Callable:
    ask.__name__ = name
    return ask
