"""fast-graphrag: it builds its graph by the recorded replies and tells what it retrieves, as JSON.

Services that it imports and does not ask are not installed: objects stand there of which any name can be read.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from unittest.mock import MagicMock

for absent in ("google", "google.genai", "instructor", "vertexai.preview.tokenization", "voyageai", "voyageai.object.embeddings"):
    sys.modules[absent] = MagicMock()

import numpy as np  # noqa: E402
from corpus import CHUNKS, ENTITIES, QUESTION, RELATIONS, SIZE, chunk, vector  # noqa: E402
from fast_graphrag import GraphRAG, QueryParam  # noqa: E402
from fast_graphrag._llm import BaseEmbeddingService, BaseLLMService  # noqa: E402
from fast_graphrag._models import TQueryEntities  # noqa: E402
from fast_graphrag._types import TEntity, TGraph, TRelation  # noqa: E402

NAMED = {"named": ["Tiny Tim"], "two": ["Tiny Tim", "Fred"], "nobody": []}


class Model(BaseLLMService):
    """A language model whose every reply is written down; `told` gives what it finds in a prompt's text."""

    def __init__(self, named, told):
        super().__init__(model="written")
        self.named, self.told = named, told

    async def send_message(self, prompt, system_prompt=None, history_messages=None, response_model=None, **_):
        if response_model is TQueryEntities:
            return TQueryEntities(named=self.named, generic=[]), []
        if response_model is TGraph and not history_messages:
            return self.told(prompt), [{"role": "user", "content": prompt}]
        assert response_model is TGraph, "nothing else is asked"
        return TGraph([], []), history_messages or []


def extracted(prompt: str) -> TGraph:
    """What a model finds in a chunk of the corpus."""
    number = chunk(prompt)
    entities = [TEntity(name, kind, text) for name, (kind, text, where, _) in ENTITIES.items() if number in where]
    relations = [TRelation(*ends, text) for ends, (text, _, _, where, _) in RELATIONS.items() if number in where]
    return TGraph(entities, relations)


class Encoder(BaseEmbeddingService):
    """Vectors that are written down; an entity is read as “[TYPE] NAME” and its description."""

    def __init__(self, size, vector_of):
        super().__init__(embedding_dim=size)
        self.vector_of = vector_of

    async def encode(self, texts, model=None):
        return np.array([self.vector_of(re.sub(r"^\[\w+\] ", "", text)) for text in texts], np.float32)


def graph(rag: GraphRAG) -> dict:
    """The graph that was built, an edge for each mention: what ours is given."""
    net, store = rag.state_manager.graph_storage._graph, rag.state_manager.chunk_storage
    places = {one.id: chunk(one.content) for one in store._data.values()}
    nodes = {one["name"]: [one["type"], ENTITIES[one["name"]][1], list(ENTITIES[one["name"]][2])] for one in net.vs}
    edges = [
        [
            *sorted((net.vs[one.source]["name"], net.vs[one.target]["name"])),
            one["description"],
            1.0,
            sorted(places[key] for key in one["chunks"]),
        ]
        for one in net.es
    ]
    return {"nodes": dict(sorted(nodes.items())), "edges": sorted(edges)}


def asked(rag: GraphRAG, named) -> dict:
    """What it retrieves, in its order, with scores."""
    rag.llm_service.named = named
    told = rag.query(
        QUESTION, QueryParam(only_context=True, entities_max_tokens=10**6, relations_max_tokens=10**6, chunks_max_tokens=10**6)
    )
    found = told.context
    return {
        "entities": [[one.name, round(float(score), 6)] for one, score in found.entities],
        "relations": [[sorted((one.source, one.target)), round(float(score), 6)] for one, score in found.relations],
        "chunks": [[chunk(one.content), round(float(score), 6)] for one, score in found.chunks],
    }


def built(folder: str, texts: list[str], told, size: int, vector_of) -> GraphRAG:
    """The program with the graph of some texts."""
    config = GraphRAG.Config(llm_service=Model([], told), embedding_service=Encoder(size, vector_of))
    rag = GraphRAG(folder, domain="a story", example_queries="", entity_types=["PERSON"], config=config)
    rag.insert(texts, show_progress=False)
    return rag


def alike(folder: str) -> dict:
    """The “is” edges among sixty entities of twelve texts, with vectors around fifteen places, some of which relations join."""
    chance = np.random.default_rng(5)
    vectors = np.repeat(chance.normal(size=(15, 8)), 4, axis=0) + chance.normal(size=(60, 8)) * 0.45
    vectors = np.round(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), 4)
    names = [f"N{number:02}" for number in range(len(vectors))]
    relations = [(names[first + a], names[first + b]) for first in range(0, 60, 5) for a, b in ((0, 1), (2, 4))]

    def told(prompt: str) -> TGraph:
        first = 5 * int(re.search(r"Text (\d+)\.", prompt)[1])
        return TGraph(
            [TEntity(name, "PERSON", "") for name in names[first : first + 5]],
            [TRelation(*ends, "They met.") for ends in relations if names.index(ends[0]) in range(first, first + 5)],
        )

    rag = built(folder, [f"Text {number}." for number in range(12)], told, 8, lambda text: vectors[names.index(text.split("\n")[0])])
    net = rag.state_manager.graph_storage._graph
    ends = [sorted((net.vs[one.source]["name"], net.vs[one.target]["name"])) for one in net.es if one["description"] == "is"]
    return {
        "names": names,
        "vectors": vectors.tolist(),
        "relations": relations,
        "is": sorted(ends),
        "order": [one["name"] for one in net.vs],
    }


def outcome() -> dict:
    """Everything that is recorded."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
        rag = built(folder, list(CHUNKS), extracted, SIZE, vector)
        told = {name: asked(rag, named) for name, named in NAMED.items()}
        return {"program": f"fast-graphrag {version('fast-graphrag')}", "graph": graph(rag), "alike": alike(other), **told}


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(outcome(), indent=1, sort_keys=True) + "\n", "utf-8")
