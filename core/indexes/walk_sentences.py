"""Walks worded as sentences by a language model, each once and saved on disk."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Sequence

from core.graph.store import Graph
from core.indexes.index_storage import index_folder
from core.indexes.path_sentences import word_paths
from core.io.rows import RowFile, Schema, select_by_keys
from core.models.base import Chat
from core.prompts import fill_template, load_prompts
from core.runtime.concurrent_work import map_concurrently
from core.types import Path, Usage
from core.watch import NO_WATCH, Watch

MAX_WALK_SENTENCE_TOKENS = 96
SENTENCES_SCHEMA = Schema(
    "the sentences",
    ("create table sentences (key text primary key, text text not null)",),
    is_recomputable=True,
)


class WalkSentences:
    """Sentences of a graph's walks by one language model.

    The key of a sentence consists of the text of the walk, the model's signature and the prompt.
    Walks that several graphs share are therefore worded once. If the reply has no complete
    sentence, the walk is worded by the template, and the model is asked again the next time.

    Parameters
    ----------
    graph : the graph.
    chat : returns the model; called only when a walk has to be worded.
    signature : text that changes with the model's replies.
    watch : receives the progress; what it raises stops the work.
    seed : seed of the sampling.

    Attributes
    ----------
    usage : calls and tokens of the model so far.
    n_failed : number of replies without a sentence.

    Notes
    -----
    This is the knowledge verbalisation of Walk&Retrieve, section 2.1.
    """

    def __init__(
        self,
        graph: Graph,
        chat: Callable[[], Chat],
        signature: str,
        watch: Watch = NO_WATCH,
        seed: int = 0,
    ):
        self.graph, self._chat, self._signature = graph, chat, signature
        self._watch, self._seed = watch, seed
        self._rows = RowFile(index_folder(graph).parent / "walk-sentences.sqlite", SENTENCES_SCHEMA)
        self.usage, self.n_failed, self._lock = Usage(), 0, threading.Lock()

    @property
    def wording(self) -> str:
        """Digest of the model, prompt and token limit, which identify the sentences."""
        identity = [self._signature, load_prompts("walks")["sentence"], MAX_WALK_SENTENCE_TOKENS]
        return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()

    def __call__(self, walks: Sequence[Path]) -> list[str]:
        """Return the sentence of each walk, writing those that are not saved yet.

        The model writes as many at a time as it accepts. Each is saved immediately. Raises
        StoreError, and the exceptions of the model.
        """
        texts = self.graph.texts(walks)
        walk_of_text = dict(zip(texts, walks))
        keys = {
            text: hashlib.sha256(f"{self.wording}\n{text}".encode()).hexdigest()
            for text in walk_of_text
        }
        with self._rows.open_for_reading() as database:
            sentence_of_key = dict(
                select_by_keys(database, "sentences", ("key", "text"), keys.values())
            )
        missing = [text for text, key in keys.items() if key not in sentence_of_key]

        def write_and_save(text: str, watch: Watch = NO_WATCH) -> str:
            sentence = self._write_sentence(text, watch)
            if sentence:
                self._rows.save("sentences", [(keys[text], sentence)])
            return sentence

        new_sentences = []
        if missing:
            new_sentences = map_concurrently(
                write_and_save,
                missing,
                lambda: getattr(self._chat(), "max_concurrent", 1),
                self._watch,
            )
        sentence_of_key |= {keys[text]: sentence for text, sentence in zip(missing, new_sentences)}
        return [
            sentence_of_key.get(keys[text]) or word_paths(self.graph, [walk_of_text[text]])[0]
            for text in texts
        ]

    def _write_sentence(self, text: str, watch: Watch = NO_WATCH) -> str:
        prompt = load_prompts("walks")["sentence"]
        user = fill_template(prompt["user"], walk=text)
        messages = (
            {"role": "system", "content": prompt["system"]},
            {"role": "user", "content": user},
        )
        reply = self._chat().reply(
            messages, max_tokens=MAX_WALK_SENTENCE_TOKENS, seed=self._seed, watch=watch
        )
        sentence = " ".join(reply.text.split()) if reply.is_usable else ""
        with self._lock:
            self.usage += Usage(1, reply.tokens_in, reply.tokens_out)
            self.n_failed += not sentence
        return sentence
