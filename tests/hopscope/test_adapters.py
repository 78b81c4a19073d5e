"""Adapters for LangChain and LlamaIndex in both directions, on hand-made texts."""

from __future__ import annotations

import pytest

import hopscope as hs

TEXTS = {
    "ada": "Ada Lovelace wrote notes on the engine.",
    "charles": "Charles Babbage built an engine of brass.",
    "mary": "Mary wrote novels.",
}


@pytest.fixture(scope="module")
def letters():
    return hs.corpus("adapter-letters", TEXTS).name


def test_method_is_a_langchain_retriever(letters):
    pytest.importorskip("langchain_core", reason="langchain-core is not installed")
    found = hs.to_langchain("bm25", corpus=letters, items=1).invoke("Who built an engine of brass?")
    assert [(one.id, one.page_content) for one in found] == [("charles", TEXTS["charles"])]
    paths = hs.to_langchain("EgoNetwork(hops=1) >> ShortestPaths(hops=1)", items=2).invoke(
        "who directed Inception"
    )
    assert len(paths) == 2 and all(one.metadata["kind"] == "path" for one in paths)
    with pytest.raises(hs.HopscopeError):
        hs.to_langchain("bm2", corpus=letters).invoke("anything")


def test_langchain_retriever_is_a_method(letters):
    pytest.importorskip("langchain_core", reason="langchain-core is not installed")
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever

    class LangchainLetters(BaseRetriever):
        def _get_relevant_documents(self, query, *, run_manager):
            return [
                Document(TEXTS["mary"], metadata={"score": 2}),
                Document("elsewhere", id="ada"),
                Document("not in the corpus at all"),
            ]

    lane = hs.compare(
        "Who wrote novels?",
        hs.from_langchain(LangchainLetters(), "theirs"),
        corpus=letters,
        progress=False,
    )["theirs"]
    assert [hit["id"] for hit in lane.hits["chunk"]] == ["mary", "ada"]


def test_llama_index_adapters_work_both_ways(letters):
    pytest.importorskip(
        "llama_index.core",
        reason="llama-index-core is not installed; get it with: pip install llama-index-core",
    )
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, TextNode

    found = hs.to_llama_index("bm25", corpus=letters, items=1).retrieve(
        "Who built an engine of brass?"
    )
    assert [(one.node.node_id, one.node.get_content()) for one in found] == [
        ("charles", TEXTS["charles"])
    ]

    class LlamaIndexLetters(BaseRetriever):
        def _retrieve(self, query_bundle):
            return [NodeWithScore(node=TextNode(text=TEXTS["ada"]), score=0.5)]

    lane = hs.compare(
        "Who wrote notes?",
        hs.from_llama_index(LlamaIndexLetters(), "nodes"),
        corpus=letters,
        progress=False,
    )[0]
    assert [hit["id"] for hit in lane.hits["chunk"]] == ["ada"]
