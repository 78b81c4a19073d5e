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
    """A language model whose every reply is written down."""

    def __init__(self, named):
        super().__init__(model="written")
        self.named = named

    async def send_message(self, prompt, system_prompt=None, history_messages=None, response_model=None, **_):
        if response_model is TQueryEntities:
            return TQueryEntities(named=self.named, generic=[]), []
        if response_model is TGraph and not history_messages:
            return extracted(chunk(prompt)), [{"role": "user", "content": prompt}]
        assert response_model is TGraph, "nothing else is asked"
        return TGraph([], []), history_messages or []


def extracted(number: int) -> TGraph:
    """What a model finds in a chunk."""
    entities = [TEntity(name, kind, text) for name, (kind, text, where, _) in ENTITIES.items() if number in where]
    relations = [TRelation(*ends, text) for ends, (text, _, _, where, _) in RELATIONS.items() if number in where]
    return TGraph(entities, relations)


class Encoder(BaseEmbeddingService):
    """Vectors that are written down; an entity is read as “[TYPE] NAME” and its description."""

    def __init__(self):
        super().__init__(embedding_dim=SIZE)

    async def encode(self, texts, model=None):
        return np.array([vector(re.sub(r"^\[\w+\] ", "", text)) for text in texts], np.float32)


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


def outcome() -> dict:
    """Everything that is recorded."""
    with tempfile.TemporaryDirectory() as folder:
        config = GraphRAG.Config(llm_service=Model([]), embedding_service=Encoder())
        rag = GraphRAG(folder, domain="a story", example_queries="", entity_types=["PERSON"], config=config)
        rag.insert(list(CHUNKS), show_progress=False)
        told = {name: asked(rag, named) for name, named in NAMED.items()}
        return {"program": f"fast-graphrag {version('fast-graphrag')}", "graph": graph(rag), **told}


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(outcome(), indent=1, sort_keys=True) + "\n", "utf-8")
