"""Walks put into sentences by a language model, each once and kept on disk."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing

from core.errors import StoreError
from core.graph.store import Graph
from core.indexes.place import index_folder
from core.indexes.sentences import sentences
from core.io.sqlite import Database, opened, with_table
from core.models.base import Chat
from core.prompts import filled, prompts
from core.types import Path, Usage

MAX_TOKENS = 96
TABLE = "create table if not exists sentences (key text primary key, text text not null)"


class ToldWalks:
    """The sentences of a graph's walks by one model (Walk&Retrieve, section 2.1, knowledge verbalisation).

    A sentence is known by what the walk says, the model's `signature` and the prompt, so that walks that graphs have in common are told
    once. `chat` is called for the model only when a walk must be told. A walk of which no whole sentence came is said by the template,
    and the model asked again the next time. `usage` is what was spent, `silent` how often that was.
    """

    def __init__(self, graph: Graph, chat: Callable[[], Chat], signature: str, check: Callable[[], None] = lambda: None, seed: int = 0):
        self.graph, self._chat, self._signature, self._check, self._seed = graph, chat, signature, check, seed
        self._file = index_folder(graph).parent / "walk-sentences.sqlite"
        self.usage, self.silent = Usage(), 0

    @property
    def wording(self) -> str:
        """What tells these sentences from others."""
        return hashlib.sha256(json.dumps([self._signature, prompts("walks")["sentence"], MAX_TOKENS], sort_keys=True).encode()).hexdigest()

    def __call__(self, walks: Sequence[Path]) -> list[str]:
        """The sentence of each walk, those that are not kept written now, each kept at once. Raises StoreError, and what the model
        raises."""
        texts = self.graph.texts(walks)
        different = dict(zip(texts, walks))
        with closing(self._opened()) as base:
            told = {text: self._told(base, text, walk) for text, walk in different.items()}
        return [told[text] for text in texts]

    def _told(self, base: Database, text: str, walk: Path) -> str:
        key = hashlib.sha256(f"{self.wording}\n{text}".encode()).hexdigest()
        try:
            kept = base.execute("select text from sentences where key = ?", (key,)).fetchone()
            if kept is None:
                written = self._written(text)
                if not written:
                    return sentences(self.graph, [walk])[0]
                kept = (written,)
                if base.saves:
                    with base:
                        base.execute("insert or replace into sentences values (?, ?)", (key, *kept))
        except sqlite3.Error as error:
            raise self._unusable(error) from None
        return kept[0]

    def _written(self, text: str) -> str:
        self._check()
        prompt = prompts("walks")["sentence"]
        user = filled(prompt["user"], walk=text)
        messages = ({"role": "system", "content": prompt["system"]}, {"role": "user", "content": user})
        reply = self._chat().reply(messages, max_tokens=MAX_TOKENS, seed=self._seed, check=self._check)
        self.usage += Usage(1, reply.tokens_in, reply.tokens_out)
        found = " ".join(reply.text.split()) if reply.usable else ""
        self.silent += not found
        return found

    def _opened(self) -> Database:
        try:
            return opened(self._file, with_table(TABLE), timeout=30)
        except sqlite3.Error as error:
            raise self._unusable(error) from None

    def _unusable(self, error: Exception) -> StoreError:
        return StoreError(f"The sentences in {self._file} cannot be used ({error}); remove that file to start anew.")
