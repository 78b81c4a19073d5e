"""fast-graphrag: it builds its graph from recorded replies and retrieves for each question.

Its “is” edges and its results are recorded. Services that it imports but does not use are not
installed and are replaced by mock objects. It receives passages in their order, and the entities of
a passage by name, so that its order is reproducible.
"""

from __future__ import annotations

import asyncio
import re
import sys
import tempfile
from unittest.mock import MagicMock

for absent in (
    "google",
    "google.genai",
    "instructor",
    "vertexai.preview.tokenization",
    "voyageai",
    "voyageai.object.embeddings",
):
    sys.modules[absent] = MagicMock()
# Otherwise the passages are read in a random order.
asyncio.as_completed = lambda tasks: tasks  # type: ignore[assignment]

from encoder import SIZE  # noqa: E402
from fast_graphrag import GraphRAG, QueryParam  # noqa: E402
from fast_graphrag._llm import BaseEmbeddingService, BaseLLMService  # noqa: E402
from fast_graphrag._models import TEditRelationList, TEntityDescription, TQueryEntities  # noqa: E402
from fast_graphrag._storage import DefaultVectorStorage, DefaultVectorStorageConfig  # noqa: E402
from fast_graphrag._types import TEntity, TGraph, TRelation  # noqa: E402
from programs import ProgramInputs, record  # noqa: E402

WIDE = {"entities_max_tokens": 10**7, "relations_max_tokens": 10**7, "chunks_max_tokens": 10**7}


class FactsModel(BaseLLMService):
    """A language model that returns the given facts and merges nothing."""

    def __init__(self, given: ProgramInputs):
        super().__init__(model="written")
        self.given, self.named = given, list[str]()
        self.places = sorted(given.passage.items(), key=lambda one: -len(one[0]))

    async def send_message(
        self, prompt, system_prompt=None, history_messages=None, response_model=None, **_
    ):
        if response_model is TQueryEntities:
            return TQueryEntities(named=self.named, generic=[]), []
        if response_model is TEditRelationList:
            return TEditRelationList(grouped_facts=[]), []
        if response_model is TEntityDescription:  # The description of a long one stays as it is.
            return TEntityDescription(
                description=next(
                    text
                    for text, _ in self.given.entities.values()
                    if len(text) > 400 and text in prompt
                )
            ), []
        if history_messages:
            return TGraph([], []), history_messages
        return self.extracted(self.passage(prompt)), [{"role": "user", "content": prompt}]

    def passage(self, text: str) -> int:
        """The number of the passage that a text contains."""
        return next(place for passage, place in self.places if passage in text)

    def extracted(self, place: int) -> TGraph:
        """The facts of a passage; an entity's description comes with its first mention."""
        named, told = self.given.facts[place]
        names = sorted({name for name, _ in named} | {end for one in told for end in one[:2]})
        first = lambda name: self.given.entities[name][1][0] == place
        entities = [
            TEntity(name, "", self.given.entities[name][0] if first(name) else "") for name in names
        ]
        return TGraph(entities, [TRelation(one, other, text) for one, other, text, *_ in told])


class EntityTextEncoder(BaseEmbeddingService):
    """The encoder of the comparisons, which reads an entity as name and description.

    The marks before both are removed.
    """

    def __init__(self, given: ProgramInputs):
        super().__init__(embedding_dim=SIZE)
        self.encoder = given.encoder

    async def encode(self, texts, model=None):
        return self.encoder.encode(
            [re.sub(r"^\[\w*\] |\[DESCRIPTION\] ", "", text) for text in texts]
        )


class ExhaustiveStorage(DefaultVectorStorage):
    """Its vector store with an exhaustive search.

    By default it visits some twenty vectors, and misses a few of the nearest.
    """

    async def score_all(self, embeddings, top_k=1, threshold=None):
        self._index.set_ef(self.size)
        return await super().score_all(embeddings, top_k, threshold)


def asked(rag: GraphRAG, given: ProgramInputs, question: dict) -> dict:
    """Hits for a question in its order; each mention of a relation as the numbers of its ends."""
    rag.llm_service.named = [name.upper() for name in question["low"]]
    found = rag.query(question["text"], QueryParam(only_context=True, **WIDE)).context
    ends = lambda one: sorted((given.entity[one.source], given.entity[one.target]))
    return {
        "entities": [given.entity[one.name] for one, _ in found.entities],
        "relations": [ends(one) for one, _ in found.relations],
        "chunks": [rag.llm_service.passage(one.content) for one, _ in found.chunks],
        "scores": [round(float(score), 6) for _, score in found.entities],
    }


def outcome(given: ProgramInputs) -> dict:
    """All recorded results."""
    with tempfile.TemporaryDirectory() as folder:
        nearest = ExhaustiveStorage(DefaultVectorStorageConfig())
        config = GraphRAG.Config(
            llm_service=FactsModel(given),
            embedding_service=EntityTextEncoder(given),
            entity_storage=nearest,
        )
        rag = GraphRAG(
            folder,
            domain="an encyclopedia",
            example_queries="",
            entity_types=["THING"],
            config=config,
        )
        rag.insert(given.passages, show_progress=False)
        net = rag.state_manager.graph_storage._graph
        number = lambda node: given.entity[net.vs[node]["name"]]
        same = sorted(
            sorted((number(one.source), number(one.target)))
            for one in net.es
            if one["description"] == "is"
        )
        return {"is": same, "asked": [asked(rag, given, one) for one in given.questions]}


if __name__ == "__main__":
    record("fast-graphrag", outcome)
