"""LightRAG, local, global and hybrid search: it is given the graph of the corpus and tells what it retrieves, as JSON."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import numpy as np
from corpus import CHUNKS, ENTITIES, QUESTION, RELATIONS, SIZE, chunk, tokens, vector
from lightrag import LightRAG, QueryParam
from lightrag.utils import EmbeddingFunc, Tokenizer, compute_mdhash_id

KEYWORDS = {
    "both": (["Tiny Tim"], ["family"]),
    "low": (["Tiny Tim"], []),
    "high": ([], ["family"]),
    "none": ([], []),
}
SEPARATOR = "<SEP>"


class Letters:
    """A tokenizer that needs no download: letters, and their number by the rule of the corpus."""

    def encode(self, content):
        return [0] * tokens(content)

    def decode(self, tokens):
        return " " * len(tokens)


async def encode(texts):
    return np.array([vector(text) for text in texts])


def replying(low, high):
    """A language model that finds these keywords, and answers everything else alike."""

    async def reply(prompt, system_prompt=None, **_):
        return "the answer" if system_prompt else json.dumps({"low_level_keywords": low, "high_level_keywords": high})

    return reply


async def filled(folder: str, low, high) -> LightRAG:
    """A program that holds the graph of the corpus."""
    rag = LightRAG(
        folder,
        llm_model_func=replying(low, high),
        embedding_func=EmbeddingFunc(embedding_dim=SIZE, func=encode, max_token_size=8192),
        tokenizer=Tokenizer("letters", Letters()),
        enable_llm_cache=False,
    )
    await rag.initialize_storages()
    chunks = [{"content": text, "source_id": str(place), "file_path": f"{place}.txt"} for place, text in enumerate(CHUNKS)]
    entities = [
        {"entity_name": name, "entity_type": kind, "description": text, "source_id": str(where[0])}
        for name, (kind, text, where, _) in ENTITIES.items()
    ]
    relations = [
        {"src_id": one, "tgt_id": other, "description": text, "keywords": words, "weight": weight, "source_id": str(where[0])}
        for (one, other), (text, words, weight, where, _) in RELATIONS.items()
    ]
    await rag.ainsert_custom_kg({"chunks": chunks, "entities": entities, "relationships": relations})
    await whole(rag)
    return rag


async def whole(rag: LightRAG) -> None:
    """Every chunk that tells of a thing, of which what is inserted by hand may have one, and the weight of all of them."""
    ids = [compute_mdhash_id(text, prefix="chunk-") for text in CHUNKS]
    graph = rag.chunk_entity_relation_graph
    for name, told in ENTITIES.items():
        await graph.upsert_node(name, {**await graph.get_node(name), "source_id": SEPARATOR.join(ids[place] for place in told[2])})
    for ends, (_, _, weight, where, _) in RELATIONS.items():
        source = SEPARATOR.join(ids[place] for place in where)
        await graph.upsert_edge(*ends, {**await graph.get_edge(*ends), "source_id": source, "weight": float(weight * len(where))})


async def asked(rag: LightRAG, **values) -> dict:
    """What it retrieves for the question, in its order; null where it says that it has nothing."""
    told = await rag.aquery_data(QUESTION, QueryParam(enable_rerank=False, **values))
    data = told.get("data") or {}
    return {
        "entities": [one["entity_name"] for one in data.get("entities", [])],
        "relations": [sorted((one["src_id"], one["tgt_id"])) for one in data.get("relationships", [])],
        "chunks": [chunk(one["content"]) for one in data.get("chunks", [])],
    }


async def graph_of(rag: LightRAG) -> dict:
    """The graph that it holds: what ours is given."""
    places = {compute_mdhash_id(text, prefix="chunk-"): place for place, text in enumerate(CHUNKS)}
    source = lambda told: sorted(places[one] for one in told["source_id"].split(SEPARATOR))
    graph, nodes, edges = rag.chunk_entity_relation_graph, {}, []
    for name in sorted(ENTITIES):
        told = await graph.get_node(name)
        nodes[name] = [told["entity_type"], told["description"], source(told)]
    for ends in sorted(RELATIONS):
        told = await graph.get_edge(*ends)
        edges.append([*ends, told["description"], told["weight"], source(told)])
    return {"nodes": nodes, "edges": edges}


async def outcome() -> dict:
    """Everything that is recorded."""
    found: dict = {"program": f"lightrag-hku {version('lightrag-hku')}"}
    for name, (low, high) in KEYWORDS.items():
        with tempfile.TemporaryDirectory() as folder:
            rag = await filled(folder, low, high)
            if name == "both":
                found["graph"] = await graph_of(rag)
                found["tight"] = await asked(rag, mode="hybrid", top_k=2)
            found[name] = {mode: await asked(rag, mode=mode) for mode in ("local", "global", "hybrid")}
            await rag.finalize_storages()
    return found


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(asyncio.run(outcome()), indent=1, sort_keys=True) + "\n", "utf-8")
