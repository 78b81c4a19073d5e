"""LightRAG's model calls and reparsed cached extractions for changed documents.

    python -m tests.benchmarks updates --given given.json
    .venv-peers/bin/python tests/peers/updates_peer.py given.json FILE

FILE is tests/peers/recorded/lightrag-updates.json. Documents are added, changed and removed. They,
the changes and the facts of each text are those of the benchmark. The language model is scripted,
and tokens are counted as elsewhere in these comparisons. LightRAG cannot change a document: the old
one is deleted and the new one inserted. Documents are deleted one by one, as in its server
(HKUDS/LightRAG issue 2795).
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import tempfile
import time
from pathlib import Path

import lightrag.operate as operate
from encoder import SIZE, Encoder, tokens
from lightrag import LightRAG
from lightrag.prompt import PROMPTS
from lightrag.utils import EmbeddingFunc, Tokenizer

BETWEEN, END = PROMPTS["DEFAULT_TUPLE_DELIMITER"], PROMPTS["DEFAULT_COMPLETION_DELIMITER"]


EACH = 3.5  # Letters of a token, as elsewhere in these comparisons.


class UpdateTokenizer:
    """A tokenizer without downloads, in which LightRAG's token limits are limits in letters."""

    def encode(self, content):
        return list(map(ord, content))

    def decode(self, tokens):
        return "".join(map(chr, tokens))


class ModelCallCounts:
    """Counts since the last reset."""

    def __init__(self):
        self.reset()

    def reset(self):
        """Reset all counts."""
        self.extracted = self.gleaned = self.summaries = self.tokens = self.parses = 0

    def row(self, kind: str, documents: int, of: int, seconds: float) -> dict:
        """The counts as a row."""
        calls = self.extracted + self.gleaned + self.summaries
        counted = {
            name: getattr(self, name)
            for name in ("extracted", "gleaned", "summaries", "parses", "tokens")
        }
        return {
            "kind": kind,
            "documents": documents,
            "of": of,
            "seconds": round(seconds, 1),
            "calls": calls,
            **counted,
        }


def main(given: dict) -> list[dict]:
    """A row for the first index and each change."""
    counts = ModelCallCounts()
    parse = operate._rebuild_from_extraction_result

    async def counted(*arguments, **how):
        counts.parses += 1
        return await parse(*arguments, **how)

    operate._rebuild_from_extraction_result = counted
    found = given["facts"]

    async def model(prompt, system_prompt=None, history_messages=(), **_):
        asked = f"{system_prompt or ''}\n{prompt}"
        if history_messages:
            counts.gleaned += 1
            reply = END
        elif (
            text := next((text for text in found if text in asked), None)
        ) is not None and BETWEEN in asked:
            counts.extracted += 1
            entities, relations = found[text]
            rows = [("entity", *row) for row in entities] + [
                ("relation", *row) for row in relations
            ]
            reply = "\n".join([*(BETWEEN.join(row) for row in rows), END])
        else:
            counts.summaries += 1
            reply = "What is said of it in short. " * 5
        counts.tokens += tokens(asked + "".join(str(one) for one in history_messages)) + tokens(
            reply
        )
        return reply

    encoder = Encoder(list(found))

    async def encode(texts):
        return encoder.encode(texts)

    async def index(folder: str) -> LightRAG:
        rag = LightRAG(
            folder,
            llm_model_func=model,
            embedding_func=EmbeddingFunc(embedding_dim=SIZE, func=encode, max_token_size=8192),
            tokenizer=Tokenizer("letters", UpdateTokenizer()),
            chunk_token_size=100_000,
            chunk_overlap_token_size=0,
            summary_max_tokens=round(1200 * EACH),
            summary_context_size=round(12_000 * EACH),
            summary_length_recommended=round(600 * EACH),
            enable_llm_cache=False,
            enable_llm_cache_for_entity_extract=True,
        )
        await rag.initialize_storages()
        return rag

    async def put(rag, documents):
        if documents:
            await rag.ainsert(
                [text for _, text in documents],
                ids=[id for id, _ in documents],
                file_paths=[f"{id}.txt" for id, _ in documents],
            )

    async def run() -> list[dict]:
        rows, now = [], dict(given["base"])
        with tempfile.TemporaryDirectory() as folder:
            rag, begin = await index(folder), time.process_time()
            await put(rag, given["base"])
            rows.append(counts.row("built", len(now), len(now), time.process_time() - begin))
            for kind, documents, removed in given["steps"]:
                counts.reset()
                begin = time.process_time()
                for id in [*removed, *(id for id, _ in documents if kind == "changed")]:
                    done = await rag.adelete_by_doc_id(id)
                    assert done.status == "success", done
                await put(rag, documents)
                now = {id: text for id, text in now.items() if id not in removed} | dict(documents)
                rows.append(
                    counts.row(
                        kind, len(documents) or len(removed), len(now), time.process_time() - begin
                    )
                )
                print(rows[-1], flush=True)
            await rag.finalize_storages()
        return rows

    return asyncio.run(run())


if __name__ == "__main__":
    logging.disable(logging.ERROR)
    rows = main(json.loads(Path(sys.argv[1]).read_text("utf-8")))
    Path(sys.argv[2]).write_text(json.dumps(rows, indent=1), "utf-8")
