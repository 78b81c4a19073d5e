"""LightRAG's local, global, hybrid and mixed search on a given graph, for each question."""

from __future__ import annotations

import asyncio
import tempfile

from encoder import SIZE, tokens
from lightrag import LightRAG, QueryParam
from lightrag.utils import EmbeddingFunc, Tokenizer, compute_mdhash_id
from programs import ProgramInputs, record

MODES = ("local", "global", "hybrid", "mix")
WIDE = {"max_entity_tokens": 10**7, "max_relation_tokens": 10**7, "max_total_tokens": 10**8}
SEPARATOR = "<SEP>"


class LightragTokenizer:
    """A tokenizer without downloads that counts tokens by the rule of the comparisons."""

    def encode(self, content):
        return [0] * tokens(content)

    def decode(self, tokens):
        return " " * len(tokens)


async def fail_if_asked(*_, **__):
    """Fail on any request: keywords come with the question, so no language model is needed."""
    raise AssertionError("nothing is asked")


async def filled_program(folder: str, given: ProgramInputs) -> LightRAG:
    """A program with the given graph."""

    async def encode(texts):
        return given.encoder.encode(texts)

    rag = LightRAG(
        folder,
        llm_model_func=fail_if_asked,
        embedding_func=EmbeddingFunc(embedding_dim=SIZE, func=encode, max_token_size=8192),
        tokenizer=Tokenizer("letters", LightragTokenizer()),
        enable_llm_cache=False,
    )
    await rag.initialize_storages()
    chunks = [
        {"content": text, "source_id": str(place), "file_path": f"{place}.txt"}
        for place, text in enumerate(given.passages)
    ]
    entities = [
        {"entity_name": name, "entity_type": "", "description": text, "source_id": str(where[0])}
        for name, (text, where) in given.entities.items()
    ]
    relations = [
        {
            "src_id": one,
            "tgt_id": other,
            "description": text,
            "keywords": words,
            "weight": weight,
            "source_id": str(where[0]),
        }
        for one, other, text, words, weight, where in given.relations
    ]
    await rag.ainsert_custom_kg(
        {"chunks": chunks, "entities": entities, "relationships": relations}
    )
    await link_all_passages(rag, given)
    return rag


async def link_all_passages(rag: LightRAG, given: ProgramInputs) -> None:
    """Link every fact to all of its passages; manual insertion allows only one."""
    ids = [compute_mdhash_id(text, prefix="chunk-") for text in given.passages]
    graph = rag.chunk_entity_relation_graph
    source = lambda where: SEPARATOR.join(ids[place] for place in where)
    for name, (_, where) in given.entities.items():
        await graph.upsert_node(name, {**await graph.get_node(name), "source_id": source(where)})
    for one, other, _, _, weight, where in given.relations:
        await graph.upsert_edge(
            one,
            other,
            {**await graph.get_edge(one, other), "source_id": source(where), "weight": weight},
        )


async def asked(rag: LightRAG, given: ProgramInputs, question: dict, mode: str, **values) -> dict:
    """Hits for a question in its order."""
    words = {"ll_keywords": question["low"], "hl_keywords": question["high"]}
    told = await rag.aquery_data(
        question["text"], QueryParam(mode=mode, enable_rerank=False, **words, **values)
    )
    # The reply has no data where nothing is found.
    data = {"entities": [], "relationships": [], "chunks": [], **told.get("data", {})}
    return {
        "entities": [given.entity[one["entity_name"]] for one in data["entities"]],
        "relations": [given.between(one["src_id"], one["tgt_id"]) for one in data["relationships"]],
        "chunks": [given.passage[one["content"]] for one in data["chunks"]],
    }


async def told(given: ProgramInputs) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        rag = await filled_program(folder, given)
        found = {
            mode: [await asked(rag, given, one, mode, **WIDE) for one in given.questions]
            for mode in MODES
        }
        found["as it is"] = [await asked(rag, given, one, "mix") for one in given.questions]
        await rag.finalize_storages()
    return found


if __name__ == "__main__":
    record("lightrag-hku", lambda given: asyncio.run(told(given)))
