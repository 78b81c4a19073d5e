"""Indexes of two short texts by LightRAG, nano-graphrag, fast-graphrag and HippoRAG.

    .venv-peers/bin/python tests/peers/indexes_peer.py lightrag FOLDER

Their folders are recorded in tests/core/corpus/indexes/recorded. The scripted language model finds
the entities and relations below whose words are in the chunk. Vectors are those of the comparisons.
Files of replies and the like are removed, and the clock is fixed.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
import time
from pathlib import Path
from unittest.mock import MagicMock

from encoder import SIZE, Encoder

TEXTS = {
    "harbour.txt": "Ann Lee built the harbour of Varna in 1902. The harbour lies on the Black Sea.",
    "ship.txt": (
        "The Marie is a ship. Ann Lee owns the Marie, and Bo Holm is its captain. Bo Holm was "
        "born in Varna."
    ),
}
ENTITIES = {  # Name: type, description.
    "Ann Lee": ("person", "An engineer who built a harbour & owns a ship."),
    "Varna": ("location", "A town with a harbour."),
    "Black Sea": ("location", "The sea at Varna."),
    "Marie": ("ship", "A ship <of Ann Lee>."),
    "Bo Holm": ("person", "The captain of the Marie."),
}
# Head, tail, name, description, keywords, weight, and the words of the text that state it.
RELATIONS = [
    (
        "Ann Lee",
        "Varna",
        "built the harbour of",
        "Ann Lee built the harbour of Varna.",
        "building, harbour",
        8,
        "built the harbour",
    ),
    (
        "Varna",
        "Black Sea",
        "lies on",
        "The harbour of Varna lies on the Black Sea.",
        "geography",
        5,
        "lies on",
    ),
    ("Ann Lee", "Marie", "owns", "Ann Lee owns the Marie.", "property", 7, "owns the Marie"),
    (
        "Bo Holm",
        "Marie",
        "is captain of",
        "Bo Holm is the captain of the Marie.",
        "command, ship",
        9,
        "captain",
    ),
    ("Bo Holm", "Varna", "was born in", "Bo Holm was born in Varna.", "birth", 4, "born in"),
]
ENCODER = Encoder(list(TEXTS.values()))


def found_in(text: str) -> tuple[list[str], list[tuple]]:
    """Entities and relations in a chunk, which is recognised in a prompt by its own words."""
    inside = " ".join(one for one in TEXTS.values() if one in text) or text
    return [name for name in ENTITIES if name in inside], [
        one for one in RELATIONS if one[6] in inside
    ]


def delimited(prompt: str, between: str, after: str, end: str, quote: str, keywords: bool) -> str:
    """Facts of a chunk in the format of LightRAG and nano-graphrag."""
    names, relations = found_in(prompt)
    rows = [("entity", name, *ENTITIES[name]) for name in names]
    told = lambda one: [one[4], one[3]] if keywords else [one[3], str(one[5])]
    rows += [
        ("relationship" if quote else "relation", one[0], one[1], *told(one)) for one in relations
    ]
    quoted = [
        between.join(value if value.isdigit() else f"{quote}{value}{quote}" for value in row)
        for row in rows
    ]
    return after.join(f"({row})" if quote else row for row in quoted) + end


class IndexTokenizer:
    """A tokenizer without downloads that splits texts into letters.

    It counts tokens by the rule of the comparisons.
    """

    def encode(self, text):
        return list(map(ord, text))

    def encode_batch(self, texts, **_):
        return [list(map(ord, text)) for text in texts]

    def decode(self, numbers):
        return "".join(map(chr, numbers))

    def decode_batch(self, several):
        return [self.decode(one) for one in several]


async def encode(texts):
    return ENCODER.encode(texts)


def lightrag(folder: str) -> None:
    """Make LightRAG's folder."""
    from lightrag import LightRAG
    from lightrag.prompt import PROMPTS
    from lightrag.utils import EmbeddingFunc, Tokenizer

    async def model(prompt, system_prompt=None, history_messages=(), **_):
        if history_messages:
            return PROMPTS["DEFAULT_COMPLETION_DELIMITER"]
        between, end = PROMPTS["DEFAULT_TUPLE_DELIMITER"], PROMPTS["DEFAULT_COMPLETION_DELIMITER"]
        return delimited(f"{system_prompt}\n{prompt}", between, "\n", f"\n{end}", "", True)

    async def made():
        rag = LightRAG(
            folder,
            llm_model_func=model,
            embedding_func=EmbeddingFunc(embedding_dim=SIZE, func=encode, max_token_size=8192),
            tokenizer=Tokenizer("letters", IndexTokenizer()),
            chunk_token_size=60,
            chunk_overlap_token_size=10,
            enable_llm_cache=False,
        )
        await rag.initialize_storages()
        await rag.ainsert(list(TEXTS.values()), file_paths=list(TEXTS))
        await rag.finalize_storages()

    asyncio.run(made())


def nano_graphrag(folder: str) -> None:
    """Make nano-graphrag's folder, with the given communities of two levels."""
    import nano_graphrag._op as op
    import nano_graphrag._utils as utils
    from nano_graphrag import GraphRAG
    from nano_graphrag._storage import NetworkXStorage
    from nano_graphrag._utils import wrap_embedding_func_with_attrs
    from nano_graphrag.prompt import PROMPTS

    utils.ENCODER, op.tiktoken.encoding_for_model = IndexTokenizer(), lambda name: IndexTokenizer()

    class FixedCommunities(NetworkXStorage):
        async def clustering(self, algorithm):
            groups = {
                "0": [*ENTITIES],
                "1": ["Ann Lee", "Marie", "Bo Holm"],
                "2": ["Varna", "Black Sea"],
            }
            of = lambda name: [
                {"level": int(key != "0"), "cluster": key}
                for key, names in groups.items()
                if name in names
            ]
            self._cluster_data_to_subgraphs({f'"{name.upper()}"': of(name) for name in ENTITIES})

    async def model(prompt, system_prompt=None, history_messages=(), **_):
        if prompt == PROMPTS["entiti_continue_extraction"]:
            return ""
        if (
            "-Tuple" in prompt
            or "entity_name" in prompt
            and "Real Data" in prompt
            and "tuple_delimiter" not in prompt
            and "Sources" not in prompt
        ):
            between, after = PROMPTS["DEFAULT_TUPLE_DELIMITER"], PROMPTS["DEFAULT_RECORD_DELIMITER"]
            return delimited(
                prompt.split("Real Data")[-1],
                between,
                after,
                PROMPTS["DEFAULT_COMPLETION_DELIMITER"],
                '"',
                False,
            )
        found = [
            {
                "summary": "A finding",
                "explanation": "Ann Lee owns the Marie [Data: Relationships (2)].",
            }
        ]
        report = {
            "title": "Harbour and ship",
            "summary": "Who built and owns what.",
            "rating": 6.5,
            "rating_explanation": "",
            "findings": found,
        }
        return json.dumps(report)

    @wrap_embedding_func_with_attrs(embedding_dim=SIZE, max_token_size=8192)
    async def embed(texts):
        return ENCODER.encode(texts)

    asks = {"best_model_func": model, "cheap_model_func": model, "enable_llm_cache": False}
    sizes = {"chunk_token_size": 60, "chunk_overlap_token_size": 10}
    GraphRAG(
        folder, embedding_func=embed, graph_storage_cls=FixedCommunities, **asks, **sizes
    ).insert(list(TEXTS.values()))


def fast_graphrag(folder: str) -> None:
    """Make fast-graphrag's folder."""
    for absent in (
        "google",
        "google.genai",
        "instructor",
        "vertexai.preview.tokenization",
        "voyageai",
        "voyageai.object.embeddings",
    ):
        sys.modules[absent] = MagicMock()
    from fast_graphrag import GraphRAG
    from fast_graphrag._llm import BaseEmbeddingService, BaseLLMService
    from fast_graphrag._models import TEditRelationList
    from fast_graphrag._types import TEntity, TGraph, TRelation

    class FastGraphModel(BaseLLMService):
        async def send_message(
            self, prompt, system_prompt=None, history_messages=None, response_model=None, **_
        ):
            if response_model is TEditRelationList:
                return TEditRelationList(grouped_facts=[]), []
            if history_messages:
                return TGraph([], []), history_messages
            names, relations = found_in(prompt)
            entities = [
                TEntity(name.upper(), ENTITIES[name][0].upper(), ENTITIES[name][1])
                for name in names
            ]
            told = [TRelation(one[0].upper(), one[1].upper(), one[3]) for one in relations]
            return TGraph(entities, told), [{"role": "user", "content": prompt}]

    class FastGraphVectors(BaseEmbeddingService):
        async def encode(self, texts, model=None):
            return ENCODER.encode(texts)

    config = GraphRAG.Config(
        llm_service=FastGraphModel(model="written"),
        embedding_service=FastGraphVectors(embedding_dim=SIZE),
    )
    rag = GraphRAG(
        folder,
        domain="harbours",
        example_queries="",
        entity_types=["PERSON", "LOCATION", "SHIP"],
        config=config,
    )
    rag.insert(
        list(TEXTS.values()), metadata=[{"file": name} for name in TEXTS], show_progress=False
    )


def hipporag(folder: str) -> None:
    """Make HippoRAG's folder."""
    absent = (
        "torch",
        "torch.cuda",
        "transformers",
        "gritlm",
        "boto3",
        "botocore",
        "botocore.exceptions",
        "litellm",
        "vllm",
    )
    sys.modules.update({name: MagicMock() for name in absent})
    from hipporag import HippoRAG as module

    program = sys.modules["hipporag.HippoRAG"]

    class HippoVectors:
        def __init__(self, **_):
            pass

        def batch_encode(self, texts, **_):
            return ENCODER.encode([texts] if isinstance(texts, str) else texts)

    class HippoReplies:
        def infer(self, messages, **_):
            shown = messages[-1]["content"]
            names, relations = found_in(shown)
            triples = [[head, name, tail] for head, tail, name, *_ in relations]
            text = json.dumps(
                {"triples": triples} if "named_entities" in shown else {"named_entities": names}
            )
            return (
                text,
                {"finish_reason": "stop", "prompt_tokens": 0, "completion_tokens": 0},
                False,
            )

    program._get_llm_class = lambda config: HippoReplies()
    program._get_embedding_model_class = lambda embedding_model_name: HippoVectors
    program.retrieve_knn = lambda query_ids, *_, **__: {name: ([], []) for name in query_ids}
    module(
        global_config=program.BaseConfig(
            save_dir=folder, llm_name="replies", embedding_model_name="vectors"
        )
    ).index(list(TEXTS.values()))


TOOLS = {  # The function that makes the folder, and the recorded files of it.
    "lightrag": (
        lightrag,
        "graph_*.graphml",
        "kv_store_text_chunks.json",
        "kv_store_full_docs.json",
        "kv_store_*_chunks.json",
        "vdb_*.json",
    ),
    "nano-graphrag": (
        nano_graphrag,
        "graph_*.graphml",
        "kv_store_text_chunks.json",
        "kv_store_full_docs.json",
        "kv_store_community_*.json",
        "vdb_entities.json",
    ),
    "fast-graphrag": (
        fast_graphrag,
        "chunks_kv_data.pkl",
        "graph_igraph_data.pklz",
        "entities_hnsw_index_*.bin",
    ),
    "hipporag": (hipporag, "openie_*.json", "*/entity_embeddings/vdb_entity.parquet"),
}


def main(tool: str, folder: Path) -> None:
    """Make a tool's folder anew."""
    make, *patterns = TOOLS[tool]
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    time.time = lambda: 1.7e9
    make(str(folder))
    recorded = {file for pattern in patterns for file in folder.glob(pattern)}
    for file in sorted(folder.rglob("*"), reverse=True):
        if file.is_dir():
            if not any(file.iterdir()):
                file.rmdir()
        elif file not in recorded:
            file.unlink()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
