"""Encoders and re-rankers behind a server: /embeddings as OpenAI, vLLM, Ollama and TEI have it, /rerank as Cohere, vLLM, Jina, TEI and
llama.cpp do."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

import numpy as np
from cachetools import LRUCache

from core.errors import ModelFailed
from core.models.base import Task
from core.models.chat.server import OpenAIServer
from core.models.reading import Reading, counted
from core.models.scorers import Scoring
from core.runtime.meter import Advance, current, going_on
from core.runtime.turn import away

LOOK = 0.1  # seconds between two looks at whether somebody cancelled
REMEMBERED = 20_000  # texts whose vectors are remembered
Check = Callable[[], None]
Part = list[str]
T = TypeVar("T")


class Served(OpenAIServer):
    """What encoder and re-ranker share: texts are sent `batch` at a time, `at_once` requests side by side, whoever asks."""

    def __init__(
        self,
        url: str,
        model: str,
        name: str,
        key_variable: str,
        timeout: float,
        batch: int,
        at_once: int,
    ):
        super().__init__(url, model, name, key_variable, timeout)
        self.batch, self.at_once, self._places = batch, at_once, threading.Semaphore(at_once)

    def _parts(
        self, texts: Sequence[str], ask: Callable[[Part], T], check: Check | None
    ) -> Iterator[tuple[Part, T]]:
        """Parts of the texts with what `ask` gives for each, as they come. Raises what `ask` and `check` raise; what is not begun by then
        is not asked, and nobody waits for what is, not even the end of the process."""
        waiting: SimpleQueue[Part] = SimpleQueue()
        ended: SimpleQueue[tuple[Part, T | None, BaseException | None]] = SimpleQueue()
        parts = [list(texts[at : at + self.batch]) for at in range(0, len(texts), self.batch)]
        for part in parts:
            waiting.put(part)
        meter, left = current(), threading.Event()

        def work() -> None:
            with going_on(meter), suppress(Empty):
                while not left.is_set():
                    part = waiting.get_nowait()
                    try:
                        with self._places:
                            ended.put((part, ask(part), None))
                    except BaseException as error:  # raised below, in the thread that waits
                        ended.put((part, None, error))

        for _ in range(min(self.at_once, len(parts))):
            threading.Thread(target=work, name="served", daemon=True).start()
        try:
            for _ in parts:
                yield _next(ended, check)
        finally:
            left.set()

    def _answer(self, path: str, body: dict[str, Any], check: Check | None) -> Any:
        """What the server answers, asked again after a pause where it is busy. Raises ModelFailed, ModelUnavailable."""
        pauses = self.pauses()
        while True:
            try:
                return self.client().post(path, body=body, cast_to=object)
            except Exception as error:
                if self.waited(error, pauses, check):
                    continue
                failure = self.failure(error)
                if failure is None:
                    raise
                raise failure from error

    def _unreadable(self, what: str) -> ModelFailed:
        return ModelFailed(f"The server at {self.url} sent {what}.")


def _next(
    ended: SimpleQueue[tuple[Part, T | None, BaseException | None]], check: Check | None
) -> tuple[Part, T]:
    """The next part that was asked, with its answer. Raises what was raised there, and what `check` raises meanwhile."""
    with away():
        while True:
            if check:
                check()
            with suppress(Empty):
                part, answer, error = ended.get(timeout=LOOK)
                if error is not None:
                    raise error
                return part, answer  # type: ignore[return-value]  # there is one where nothing was raised


class ServedEncoder(Served):
    """An Encoder over /embeddings of a server; vectors are made unit here, and those of the last 20,000 texts are remembered.

    All vectors must be as long as the first one, and as `dimension` where that is given: ModelFailed says so, as when another model was
    put behind the same name.
    """

    def __init__(
        self,
        url: str,
        model: str,
        name: str,
        key_variable: str = "",
        question: str = "",
        text: str = "",
        dimension: int = 0,
        timeout: float = 120.0,
        batch: int = 64,
        at_once: int = 8,
    ):
        super().__init__(url, model, name, key_variable, timeout, batch, at_once)
        self.question, self.text, self.dimension = question, text, dimension
        self._vectors: LRUCache[str, np.ndarray] = LRUCache(REMEMBERED)
        self._guard = threading.Lock()

    @property
    def identity(self) -> str:
        """What tells its vectors from those of another encoder, wherever the server is."""
        return f"{self.model} {self.question!r} {self.text!r}"

    def forget(self) -> None:
        """Drop the vectors that are remembered."""
        with self._guard:
            self._vectors.clear()

    def encode(self, texts: Sequence[str], check: Check | None = None) -> np.ndarray:
        """float32 [n, d], unit rows in the order of `texts`. Raises ModelFailed, ModelUnavailable, and what `check` raises."""
        return self._encoded([self.text + text for text in texts], check)

    def encode_questions(self, questions: Sequence[str], check: Check | None = None) -> np.ndarray:
        """As `encode`, of questions, with the prompt for these."""
        return self._encoded([self.question + question for question in questions], check)

    def _encoded(self, texts: list[str], check: Check | None) -> np.ndarray:
        unique = list(dict.fromkeys(texts))
        with self._guard:
            found = {text: self._vectors[text] for text in unique if text in self._vectors}
        fresh = [text for text in unique if text not in found]
        advance, done = Advance(f"Encoding {counted(len(fresh), 'text')}", len(fresh)), 0
        for part, vectors in self._parts(fresh, lambda part: self._embedded(part, check), check):
            found.update(zip(part, vectors, strict=True))
            done += len(part)
            advance(done)
        with self._guard:
            self._vectors.update((text, found[text]) for text in fresh)
        return (
            np.stack([found[text] for text in texts])
            if texts
            else np.zeros((0, self.dimension), np.float32)
        )

    def _embedded(self, part: Part, check: Check | None) -> np.ndarray:
        """Unit float32 [n, d] of some texts, by one request."""
        answer = self._answer(
            "/embeddings", {"model": self.model, "input": part, "encoding_format": "float"}, check
        )
        try:
            rows = sorted(answer["data"], key=lambda row: row["index"])
            vectors = np.array([row["embedding"] for row in rows], np.float32)
        except (KeyError, TypeError, ValueError):
            raise self._unreadable("what are no vectors") from None
        if vectors.ndim != 2 or len(vectors) != len(part) or not np.isfinite(vectors).all():
            raise self._unreadable(
                f"{len(rows)} vectors for {counted(len(part), 'text')}, or some that are no numbers"
            )
        with self._guard:
            self.dimension = self.dimension or vectors.shape[1]
        if vectors.shape[1] != self.dimension:
            raise self._unreadable(
                f"vectors of {vectors.shape[1]} numbers where {self.name} has {self.dimension}; is another model behind it"
            )
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)


class ServedReranker(Served, Scoring):
    """A Scorer over /rerank of a server: the relevance that it gives to each text."""

    def __init__(
        self,
        url: str,
        model: str,
        name: str,
        key_variable: str = "",
        timeout: float = 120.0,
        batch: int = 64,
        at_once: int = 8,
    ):
        super().__init__(url, model, name, key_variable, timeout, batch, at_once)
        self._texts_key = "documents"  # as Cohere calls them; "texts" in TEI's own form

    def score(self, task: Task, texts: Sequence[str]) -> np.ndarray:
        """float64 [n]. Raises ModelFailed, ModelUnavailable, and what the task's check raises."""
        reading = Reading(task, texts)

        def read(some: list[str]) -> None:
            for part, numbers in self._parts(
                some, lambda part: self._ranked(task.query, part, task.check), task.check
            ):
                reading.received(part, np.array(numbers, np.float64))

        return reading.through(read, fixed=True)

    def _ranked(self, query: str, part: Part, check: Check | None) -> list[float]:
        """The relevance of some texts, by one request."""
        key = self._texts_key
        try:
            more = {"raw_scores": True} if key == "texts" else {}
            answer = self._answer(
                "/rerank", {"model": self.model, "query": query, key: part, **more}, check
            )
        except ModelFailed as error:
            if key == "texts" or "texts" not in str(error):
                raise
            answer = self._answer(
                "/rerank",
                {"model": self.model, "query": query, "texts": part, "raw_scores": True},
                check,
            )
            self._texts_key = "texts"
        rows: Any = (
            answer.get("results", answer.get("data")) if isinstance(answer, dict) else answer
        )
        try:
            numbers = {
                int(row["index"]): float(
                    row["relevance_score"] if "relevance_score" in row else row["score"]
                )
                for row in rows
            }
            return [numbers[place] for place in range(len(part))]
        except (KeyError, TypeError, ValueError):
            raise self._unreadable("no relevance for some texts") from None
