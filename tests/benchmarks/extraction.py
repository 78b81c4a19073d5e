"""Extraction by a language model, compared with the time of the engine alone.

Both read the same prompts of a few HotpotQA chunks and write as many tokens, equally many in
parallel. Alone, the engine is called by its own interface without a schema. Hopscope's building
operator constrains replies to their schema, parses them and saves them. No earlier replies are
reused.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from core.builds import find_build
from core.builds.base import DEFAULT_PARALLEL_REQUESTS, BuildContext, BuildState
from core.builds.extract.described_names import DESCRIPTION_LIMITS, DescribedNames
from core.builds.extract.noun_phrases import NounPhrases
from core.builds.run import build_context
from core.corpus import open_corpus
from core.graph.columns import Table
from core.io.home import models_folder
from core.models.base import ChatReply, Messages
from core.models.chat.lanes import LANES_BATCH_TOKENS
from core.models.chat.llama import open_engine
from core.models.registry import Registry

CORPUS, MODEL = "hotpotqa", "qwen-0.5b"
CHUNKS = int(os.environ.get("HOPSCOPE_BENCHMARK_CHUNKS", "8"))
ROUNDS = 3
MAX_TIME_RATIO = 1.2  # Times the seconds of the engine alone.
WARM = [{"role": "user", "content": "Ready?"}]


def run() -> list[dict]:
    """Median ratio of extraction time to the engine's own time, with the seconds of both."""
    ours, alone, prompts = [], [], []
    models = Registry()
    for _ in range(ROUNDS):
        seconds, prompts = time_extraction(models)
        ours.append(seconds)
        alone.append(time_engine(models, prompts))
    share = statistics.median(a / b for a, b in zip(ours, alone))
    read, written = (
        sum(getattr(reply, name) for _, reply in prompts) for name in ("tokens_in", "tokens_out")
    )
    spread = ", ".join(f"{a:.1f} and {b:.1f}" for a, b in zip(ours, alone))
    note = f"limit {MAX_TIME_RATIO}; seconds of ours and of the engine: {spread}; "
    note += (
        f"{len(prompts)} prompts of {read:,} tokens, {written:,} written, {DEFAULT_PARALLEL_REQUESTS} "
        f"at a time"
    )
    return [{"name": "extraction", "value": share, "unit": "of alone", "note": note}]


def time_extraction(models: Registry) -> tuple[float, list[tuple[Messages, ChatReply]]]:
    """Seconds of extraction without loading and parsing, and each prompt with its reply."""
    with own_home():
        ctx = build_context(open_corpus(CORPUS), models, lanes=DEFAULT_PARALLEL_REQUESTS)
        chunks, operator = some_chunks(), DescribedNames(model=MODEL)
        named = NounPhrases().find_facts(chunks.texts("text"), ctx)
        ctx.chat(MODEL).reply(WARM, max_tokens=1)
        start = time.perf_counter()
        operator.apply(BuildState(open_corpus(CORPUS), chunks), ctx)
        seconds = time.perf_counter() - start
        asked = [operator._request(text, facts) for text, facts in zip(chunks.texts("text"), named)]
        prompts = [
            (messages, _reply(ctx, operator, names, messages))
            for _, names, messages in asked
            if names
        ]
        ctx.close()
        return seconds, prompts


def _reply(
    ctx: BuildContext, operator: DescribedNames, names: list[str], messages: Messages
) -> ChatReply:
    found = ctx.replies.find(
        ctx.chat(MODEL).key(
            messages, schema=operator._schema(names), max_tokens=DESCRIPTION_LIMITS.max_reply_tokens
        )
    )
    assert found is not None  # The reply was requested just before.
    return found


def time_engine(models: Registry, prompts: Sequence[tuple[Messages, ChatReply]]) -> float:
    """Seconds of the engine alone to read these prompts and write as many tokens as the replies."""
    chat: Any = models.chat(MODEL)
    engine = open_engine(
        chat.path,
        chat.name,
        chat.context,
        LANES_BATCH_TOKENS,
        max_requests=DEFAULT_PARALLEL_REQUESTS,
        cache_prompt=True,
    )

    def asked(messages: Messages, tokens: int) -> int:
        how = {
            "max_tokens": tokens,
            "temperature": 0.0,
            "seed": 0,
            "ignore_eos": True,
            "cache_prompt": True,
        }
        return engine.handle_chat_completions({"messages": [dict(m) for m in messages], **how})[
            "usage"
        ]["completion_tokens"]

    asked(WARM, 1)
    with ThreadPoolExecutor(DEFAULT_PARALLEL_REQUESTS) as pool:
        start = time.perf_counter()
        written = list(pool.map(lambda one: asked(one[0], one[1].tokens_out), prompts))
        seconds = time.perf_counter() - start
    assert written == [reply.tokens_out for _, reply in prompts], (
        "the engine wrote another number of tokens"
    )
    return seconds


def some_chunks() -> Table:
    """The chunks of the first documents."""
    corpus = open_corpus(CORPUS)
    chunker: Any = find_build("rkg-described").line.operators[0]
    return chunker.table([corpus.document_at(row) for row in range(CHUNKS)])


@contextmanager
def own_home() -> Iterator[None]:
    """A user folder without earlier results."""
    before = {name: os.environ.get(name) for name in ("HOPSCOPE_HOME", "HOPSCOPE_MODELS")}
    os.environ["HOPSCOPE_MODELS"] = str(models_folder())
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HOPSCOPE_HOME"] = folder
        try:
            yield
        finally:
            for name, value in before.items():
                os.environ.pop(name, None) if value is None else os.environ.__setitem__(name, value)
