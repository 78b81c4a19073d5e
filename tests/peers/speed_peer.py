"""Times of nano-graphrag and LightRAG for the passages of `tests.benchmarks.peers`.

They build, change and search. Each uses its own client of the OpenAI protocol, or a function where
no address is given. Their tokenizers would need a download and are replaced by a letter count,
which costs almost nothing. Each passage is one chunk, without gleaning, and everything else has its
default.
"""

from __future__ import annotations

import asyncio
import logging
import os
import tempfile
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from encoder import SIZE, Encoder, tokens
from instant import Instant
from speed import StepMeasurements, asked


class SpeedTokenizer:
    """A tokenizer without downloads that splits texts into letters.

    It counts tokens by the rule of the comparisons.
    """

    def encode(self, content):
        return [0] * tokens(content)

    def decode(self, tokens):
        return " " * len(tokens)

    def encode_batch(self, texts, **_):
        return [list(map(ord, text)) for text in texts]


def encoding(given: dict[str, Any], measured: StepMeasurements) -> Callable:
    """The encoder as both programs call it."""
    encoder = Encoder(text for _, text in given["base"])

    async def encode(texts):
        measured.encoded.extend(texts)
        return encoder.encode(texts)

    return encode


def answering(replies: Instant) -> Callable:
    """The language model as both programs call it, in this process."""

    async def reply(prompt, system_prompt=None, history_messages=(), **_):
        first = [{"content": system_prompt}] if system_prompt else []
        return replies([*first, *history_messages, {"content": prompt}])

    return reply


def nano_graphrag(
    given: dict[str, Any], replies: Instant | None, measured: StepMeasurements
) -> None:
    """Run nano-graphrag's steps; it cannot change or delete documents."""
    import nano_graphrag._op as op
    import nano_graphrag._utils as utils
    from nano_graphrag import GraphRAG, QueryParam
    from nano_graphrag._utils import wrap_embedding_func_with_attrs

    utils.ENCODER, op.tiktoken.encoding_for_model = SpeedTokenizer(), lambda name: SpeedTokenizer()

    def whole(tokens_list, doc_keys, **_):
        texts = ["".join(map(chr, one)) for one in tokens_list]
        return [
            {"tokens": tokens(text), "content": text, "chunk_order_index": 0, "full_doc_id": key}
            for text, key in zip(texts, doc_keys)
        ]

    encode = wrap_embedding_func_with_attrs(embedding_dim=SIZE, max_token_size=8192)(
        encoding(given, measured)
    )
    how: dict[str, Any] = {
        "chunk_func": whole,
        "embedding_func": encode,
        "entity_extract_max_gleaning": 0,
    }
    if replies is not None:
        how |= {"best_model_func": answering(replies), "cheap_model_func": answering(replies)}
    with tempfile.TemporaryDirectory() as folder:
        texts = lambda name: [text for _, text in given[name]]
        measured.step("start", lambda: GraphRAG(f"{folder}/start", **how).insert(texts("start")))
        rag = GraphRAG(f"{folder}/base", **how)
        measured.step("build", lambda: rag.insert(texts("base")))
        graph = rag.chunk_entity_relation_graph._graph
        measured.rows["build"] |= {
            "nodes": graph.number_of_nodes(),
            "edges": graph.number_of_edges(),
        }
        measured.step("add", lambda: rag.insert(texts("added")))
        context = QueryParam(mode="local", only_need_context=True)
        first, *rest = given["questions"]
        rag = measured.step(
            "open", lambda: _asked(GraphRAG(f"{folder}/base", **how), first, context)
        )
        measured.step("ask", lambda: [rag.query(one, context) for one in rest])


def _asked(rag: Any, question: str, context: Any) -> Any:
    rag.query(question, context)
    return rag


def lightrag(given: dict[str, Any], replies: Instant | None, measured: StepMeasurements) -> None:
    """Run LightRAG's steps.

    A change is a deletion and an insertion, and documents are deleted one by one, as in its server.
    """
    from lightrag import LightRAG, QueryParam
    from lightrag.llm.openai import openai_complete
    from lightrag.utils import EmbeddingFunc, Tokenizer

    def whole(tokenizer, content, *_, **__):
        return [{"tokens": tokens(content), "content": content, "chunk_order_index": 0}]

    async def opened(workspace: str) -> LightRAG:
        rag = LightRAG(
            folder,
            workspace=workspace,  # In-memory data is identified by the workspace alone.
            llm_model_func=openai_complete if replies is None else answering(replies),
            embedding_func=EmbeddingFunc(
                embedding_dim=SIZE, func=encoding(given, measured), max_token_size=8192
            ),
            tokenizer=Tokenizer("letters", SpeedTokenizer()),
            chunking_func=whole,
            entity_extract_max_gleaning=0,
        )
        await rag.initialize_storages()
        return rag

    loop = asyncio.new_event_loop()
    run = loop.run_until_complete

    async def put(rag, documents):
        ids, texts = zip(*documents)
        await rag.ainsert(list(texts), ids=list(ids), file_paths=[f"{id}.txt" for id in ids])

    async def started(workspace):
        rag = await opened(workspace)
        await put(rag, given["start"])
        await rag.finalize_storages()

    async def removed(rag, ids):
        for id in ids:
            done = await rag.adelete_by_doc_id(id)
            assert done.status == "success", done

    async def changed(rag, documents):
        await removed(rag, [id for id, _ in documents])
        await put(rag, documents)

    async def again(workspace):
        rag = await opened(workspace)
        await rag.aquery(first, context)
        return rag

    async def rest_of(rag):
        for one in rest:
            await rag.aquery(one, context)

    context = QueryParam(mode="mix", only_need_context=True, enable_rerank=False)
    first, *rest = given["questions"]
    with tempfile.TemporaryDirectory() as folder:
        measured.step("start", lambda: run(started("start")))
        rag = run(opened("base"))
        measured.step("build", lambda: run(put(rag, given["base"])))
        graph = run(rag.chunk_entity_relation_graph._get_graph())
        measured.rows["build"] |= {
            "nodes": graph.number_of_nodes(),
            "edges": graph.number_of_edges(),
        }
        measured.step("add", lambda: run(put(rag, given["added"])))
        measured.step("change", lambda: run(changed(rag, given["changed"])))
        measured.step("delete", lambda: run(removed(rag, given["removed"])))
        run(rag.finalize_storages())
        rag = measured.step("open", lambda: run(again("base")))
        measured.step("ask", lambda: run(rest_of(rag)))
        run(rag.finalize_storages())


def main() -> None:
    """Measure the requested program."""
    logging.disable(logging.ERROR)
    name, given, url, out = asked()
    measured, replies = StepMeasurements(), None if url else Instant(given["facts"])
    if url:
        os.environ |= {"OPENAI_BASE_URL": url, "OPENAI_API_BASE": url, "OPENAI_API_KEY": "none"}
    else:
        measured.calls = lambda: replies.calls
    {"nano-graphrag": nano_graphrag, "lightrag-hku": lightrag}[name](given, replies, measured)
    measured.write(out, version=version(name))


if __name__ == "__main__":
    main()
