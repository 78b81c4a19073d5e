"""Walks worded as sentences by a language model, each once and saved on disk."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Sequence

from core.graph.store import Graph
from core.indexes.place import index_folder
from core.indexes.sentences import sentences
from core.io.rows import RowFile, Schema, by_key
from core.models.base import Chat
from core.prompts import filled, prompts
from core.runtime.flight import together
from core.types import Path, Usage
from core.watch import NO_WATCH, Watch

MAX_TOKENS = 96
SCHEMA = Schema(
    "the sentences",
    ("create table sentences (key text primary key, text text not null)",),
    again=True,
)


class VerbalisedWalks:
    """Sentences of a graph's walks by one language model.

    This is the knowledge verbalisation of Walk&Retrieve, section 2.1.

    The key of a sentence consists of the text of the walk, the model's `signature` and the prompt.
    Walks that several graphs share are therefore worded once. `chat` is called for the model only
    when a walk has to be worded. If the reply has no complete sentence, the walk is worded by the
    template, and the model is asked again the next time. `usage` is what the model has used,
    `silent` the number of replies without a sentence.
    """

    def __init__(
        self,
        graph: Graph,
        chat: Callable[[], Chat],
        signature: str,
        watch: Watch = NO_WATCH,
        seed: int = 0,
    ):
        self.graph, self._chat, self._signature, self._watch, self._seed = (
            graph,
            chat,
            signature,
            watch,
            seed,
        )
        self._rows = RowFile(index_folder(graph).parent / "walk-sentences.sqlite", SCHEMA)
        self.usage, self.silent, self._lock = Usage(), 0, threading.Lock()

    @property
    def wording(self) -> str:
        """Digest of the model, prompt and token limit; it differs whenever sentences may differ."""
        return hashlib.sha256(
            json.dumps(
                [self._signature, prompts("walks")["sentence"], MAX_TOKENS], sort_keys=True
            ).encode()
        ).hexdigest()

    def __call__(self, walks: Sequence[Path]) -> list[str]:
        """Return the sentence of each walk, writing those that are not saved yet.

        As many are written at a time as the model accepts. Each is saved at once. Raises
        StoreError, and what the model raises.
        """
        texts = self.graph.texts(walks)
        different = dict(zip(texts, walks))
        keys = {
            text: hashlib.sha256(f"{self.wording}\n{text}".encode()).hexdigest()
            for text in different
        }
        with self._rows.reading() as base:
            known = dict(by_key(base, "sentences", ("key", "text"), keys.values()))
        missing = [text for text, key in keys.items() if key not in known]

        def written(text: str, watch: Watch = NO_WATCH) -> str:
            said = self._written(text, watch)
            if said:
                self._rows.save("sentences", [(keys[text], said)])
            return said

        said = []
        if missing:
            said = together(
                written, missing, lambda: getattr(self._chat(), "at_once", 1), self._watch
            )
        known |= {keys[text]: sentence for text, sentence in zip(missing, said)}
        return [
            known.get(keys[text]) or sentences(self.graph, [different[text]])[0] for text in texts
        ]

    def _written(self, text: str, watch: Watch = NO_WATCH) -> str:
        prompt = prompts("walks")["sentence"]
        user = filled(prompt["user"], walk=text)
        messages = (
            {"role": "system", "content": prompt["system"]},
            {"role": "user", "content": user},
        )
        reply = self._chat().reply(messages, max_tokens=MAX_TOKENS, seed=self._seed, watch=watch)
        found = " ".join(reply.text.split()) if reply.usable else ""
        with self._lock:
            self.usage += Usage(1, reply.tokens_in, reply.tokens_out)
            self.silent += not found
        return found
