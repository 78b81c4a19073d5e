"""Encoders and rerankers behind a server.

Encoders use /embeddings as in OpenAI, vLLM, Ollama and TEI, rerankers /rerank as in Cohere, vLLM,
Jina, TEI and llama.cpp.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

import numpy as np
from cachetools import LRUCache

from core.errors import ModelFailed, shorten
from core.models.base import Task
from core.models.chat.server import OpenAIServer, is_refusal
from core.models.number_checks import finite_number, finite_vector, read_json, whole_number
from core.models.reading_order import CandidateScores, format_count
from core.models.scorers import BaseScorer
from core.runtime.meter import ProgressEstimate, add_note, current_meter, use_meter
from core.runtime.turn import pass_turn_at_once
from core.watch import NO_WATCH, Watch

PART_CHECK_SECONDS = 0.1  # between two checks for cancellation
MAX_SERVED_VECTORS = 20_000  # texts whose vectors are cached
WRONG_ADDRESS_STATUSES = (404, 405)  # HTTP statuses of a wrong address or an unknown model
MAX_FAILED_TEXTS = 16  # texts of a call that may fail; with more, the whole call fails
Part = list[str]  # texts of one request
T = TypeVar("T")


class ServedModel(OpenAIServer):
    """Base class of the served encoder and reranker.

    Parameters
    ----------
    url : address of the server.
    model : the model's name at the server.
    name : the model's name here.
    key_variable : environment variable of the API key.
    timeout : seconds until a request fails.
    batch : texts in a request.
    max_concurrent : concurrent requests of all callers together.
    """

    def __init__(
        self,
        url: str,
        model: str,
        name: str,
        key_variable: str,
        timeout: float,
        batch: int,
        max_concurrent: int,
    ):
        super().__init__(url, model, name, key_variable, timeout)
        self.batch = batch
        self.max_concurrent = max_concurrent
        self._slots = threading.Semaphore(max_concurrent)

    def _request_parts(
        self, texts: Sequence[str], request: Callable[[Part], T], watch: Watch = NO_WATCH
    ) -> Iterator[tuple[Part, T]]:
        """Yield parts of the texts, each with the result of `request`.

        They come in the order of arrival. Raises the errors of `request` and `watch`. Parts that
        were not requested yet are then dropped. Running requests are not awaited; their threads end
        with the process at the latest.
        """
        pending: SimpleQueue[Part] = SimpleQueue()
        results: SimpleQueue[tuple[Part, T | None, BaseException | None]] = SimpleQueue()
        parts = [
            list(texts[start : start + self.batch]) for start in range(0, len(texts), self.batch)
        ]
        for part in parts:
            pending.put(part)
        meter = current_meter()
        is_stopped = threading.Event()

        def work() -> None:
            with use_meter(meter), suppress(Empty):
                while not is_stopped.is_set():
                    part = pending.get_nowait()
                    try:
                        with self._slots:
                            results.put((part, request(part), None))
                    except BaseException as error:  # raised below, in the waiting thread
                        results.put((part, None, error))

        for _ in range(min(self.max_concurrent, len(parts))):
            threading.Thread(target=work, name="served", daemon=True).start()
        try:
            for _ in parts:
                yield _next_part(results, watch)
        finally:
            is_stopped.set()

    def _post(self, path: str, body: dict[str, Any], watch: Watch = NO_WATCH) -> Any:
        """Post a request and return the answer.

        If the server is busy, the request is repeated after a pause. Raises ModelFailed,
        ModelUnavailable.
        """
        pauses = self.pauses()
        while True:
            try:
                return read_json(self.client().post(path, body=body, cast_to=bytes))
            except Exception as error:
                if self.wait_if_temporary(error, pauses, watch):
                    continue
                failure = self.to_model_failure(error)
                if failure is None:
                    raise
                raise failure from error

    def _answer_error(self, answer: str) -> ModelFailed:
        """Return the error for a wrong answer; `answer` describes it in words."""
        return ModelFailed(f"The server at {self.url} sent {answer}.")


def _next_part(
    results: SimpleQueue[tuple[Part, T | None, BaseException | None]], watch: Watch = NO_WATCH
) -> tuple[Part, T]:
    """Wait for the next part with its answer. Raises the error of its request or of `watch`."""
    with pass_turn_at_once():
        while True:
            watch.check()
            with suppress(Empty):
                part, answer, error = results.get(timeout=PART_CHECK_SECONDS)
                if error is not None:
                    raise error
                # Without an error there is an answer.
                return part, answer  # type: ignore[return-value]


class ServedEncoder(ServedModel):
    """An encoder over /embeddings of a server.

    Vectors are scaled to unit length. Those of the last 20,000 texts are cached. If the server
    fails for some texts only, or sends zeros or NaN for them, their vectors are zeros and the user
    gets a note. All vectors must have the same length, which is `dimension` if that is given.
    Otherwise ModelFailed is raised, since the server may have another model under the same name.

    Parameters
    ----------
    url : address of the server.
    model : the model's name at the server.
    name : the model's name here.
    key_variable : environment variable of the API key.
    question : prompt before questions.
    text : prompt before other texts.
    dimension : length of the vectors; 0 to take that of the first one.
    timeout : seconds until a request fails.
    batch : texts in a request.
    max_concurrent : concurrent requests.
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
        max_concurrent: int = 8,
    ):
        super().__init__(url, model, name, key_variable, timeout, batch, max_concurrent)
        self.question = question
        self.text = text
        self.dimension = dimension
        self._vectors: LRUCache[str, np.ndarray] = LRUCache(MAX_SERVED_VECTORS)
        self._guard = threading.Lock()

    @property
    def identity(self) -> str:
        """A text that identifies its vectors, at any address of the server."""
        return f"{self.model} {self.question!r} {self.text!r}"

    def forget(self) -> None:
        """Drop the cached vectors."""
        with self._guard:
            self._vectors.clear()

    def encode(self, texts: Sequence[str], watch: Watch = NO_WATCH) -> np.ndarray:
        """Return the vectors of texts, each after the prompt for texts.

        Parameters
        ----------
        texts : any number of texts, n.
        watch : checked meanwhile; may raise RunCancelled.

        Returns
        -------
        float32 [n, d] with unit rows, in the order of `texts`; zeros for texts that failed.

        Raises
        ------
        ModelFailed : the server fails for all texts.
        ModelUnavailable : the key is missing.
        """
        vectors, faults = self._encode([self.text + text for text in texts], watch)
        if faults:
            message = self._describe_faults(faults, self.text)
            if len(faults) == len(set(texts)):
                raise ModelFailed(message)
            add_note(message)
        return vectors

    def encode_questions(self, questions: Sequence[str], watch: Watch = NO_WATCH) -> np.ndarray:
        """Return the vectors of questions, each after the prompt for questions.

        Parameters
        ----------
        questions : any number of questions, n.
        watch : checked meanwhile; may raise RunCancelled.

        Returns
        -------
        float32 [n, d] with unit rows, in the order of `questions`.

        Raises
        ------
        ModelFailed : a question has no vector.
        ModelUnavailable : the key is missing.
        """
        vectors, faults = self._encode([self.question + question for question in questions], watch)
        if faults:
            raise ModelFailed(self._describe_faults(faults, self.question))
        return vectors

    def _describe_faults(self, faults: dict[str, str], prompt: str) -> str:
        """Return a sentence on the texts that have no vector.

        It gives the reason of the first.
        """
        (first_text, reason), *others = faults.items()
        texts = f"“{shorten(first_text.removeprefix(prompt))}”"
        if others:
            texts = f"{texts} and {format_count(len(others), 'text')} more"
        pronoun = "them" if others else "it"
        return (
            f"{self.name} has no vector for {texts}, so that nothing is similar to {pronoun}. "
            f"{reason}"
        )

    def _encode(
        self, texts: list[str], watch: Watch = NO_WATCH
    ) -> tuple[np.ndarray, dict[str, str]]:
        """Return the vectors of texts, and the reason for each missing one.

        The vectors are float32 [n, d].
        """
        unique = list(dict.fromkeys(texts))
        with self._guard:
            vectors_by_text = {
                text: self._vectors[text] for text in unique if text in self._vectors
            }
        new_texts = [text for text in unique if text not in vectors_by_text]
        advance = ProgressEstimate(
            f"Encoding {format_count(len(new_texts), 'text')}", len(new_texts)
        )
        encoded_count = 0
        faults: dict[str, str] = {}
        embed = partial(self._embed_in_halves, faults=faults, watch=watch)
        for part, vectors in self._request_parts(new_texts, embed, watch):
            for text, vector in zip(part, vectors, strict=True):
                if vector is not None:
                    vectors_by_text[text] = vector
            encoded_count += len(part)
            advance(encoded_count)
        with self._guard:
            for text in new_texts:
                if text in vectors_by_text:
                    self._vectors[text] = vectors_by_text[text]
        zero_vector = np.zeros(self.dimension, np.float32)
        rows = [vectors_by_text.get(text, zero_vector) for text in texts]
        ordered_faults = {text: faults[text] for text in unique if text in faults}
        matrix = np.stack(rows) if rows else np.zeros((0, self.dimension), np.float32)
        return matrix, ordered_faults

    def _embed_in_halves(
        self, part: Part, faults: dict[str, str], watch: Watch = NO_WATCH
    ) -> list[np.ndarray | None]:
        """Return the vectors of some texts, in several requests if the server fails.

        Each half is then requested alone, and so on. A single text for which the server fails gets
        the vector None, and is added to `faults` with the reason.
        """
        try:
            return self._embed(part, faults, watch)
        except ModelFailed as error:
            if not is_refusal(error, WRONG_ADDRESS_STATUSES):
                raise
            if len(part) == 1:
                faults[part[0]] = str(error)
                # Without any vector so far, two failures show that the fault is not in the texts.
                if len(faults) > (MAX_FAILED_TEXTS if self.dimension else 1):
                    raise
                return [None]
        middle = len(part) // 2
        first_half = self._embed_in_halves(part[:middle], faults, watch)
        return first_half + self._embed_in_halves(part[middle:], faults, watch)

    def _embed(
        self, part: Part, faults: dict[str, str], watch: Watch = NO_WATCH
    ) -> list[np.ndarray | None]:
        """Request the unit vectors of some texts.

        They are float32 [d], or None for each text with a fault.
        """
        body = {"model": self.model, "input": part, "encoding_format": "float"}
        answer = self._post("/embeddings", body, watch)
        rows = answer.get("data") if isinstance(answer, dict) else None
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise self._answer_error("what are no vectors")
        vectors: list[np.ndarray | None] = []
        for text, row in zip(part, self._sort_by_index(rows, len(part)), strict=True):
            vector = self._read_vector(row.get("embedding"))
            length = 0.0 if vector is None else float(np.linalg.norm(vector.astype(np.float64)))
            if vector is None or not length:
                fault = "what are no numbers" if vector is None else "a vector of zeros"
                faults[text] = str(self._answer_error(f"{fault} for it"))
                vectors.append(None)
            else:
                vectors.append((vector / max(length, 1e-12)).astype(np.float32))
        return vectors

    def _read_vector(self, numbers: Any) -> np.ndarray | None:
        """Return a vector, float32 [d], or None if some of its numbers are missing.

        Raises ModelFailed for anything that is no vector.
        """
        if isinstance(numbers, list) and any(map(_is_missing, numbers)):
            return None
        try:
            vector = finite_vector(numbers)
        except ValueError as error:
            raise self._answer_error(f"a vector with what is no number: {error}") from None
        with self._guard:
            self.dimension = self.dimension or len(vector)
        if len(vector) != self.dimension:
            raise self._answer_error(
                f"vectors of {len(vector)} numbers where {self.name} has {self.dimension}; is "
                "another model behind it"
            )
        return vector

    def _sort_by_index(self, rows: list[Any], number: int) -> list[Any]:
        """Return the rows sorted by their index. Raises ModelFailed if the indexes do not fit."""
        if len(rows) != number:
            raise self._answer_error(f"{len(rows)} vectors for {format_count(number, 'text')}")
        indexes = [row.get("index") for row in rows]
        if all(index is None for index in indexes):
            return rows
        rows_by_index: dict[int, Any] = {}
        with suppress(ValueError):
            for index, row in zip(indexes, rows):
                rows_by_index[whole_number(index, number)] = row
        if len(rows_by_index) < number:
            raise self._answer_error("vectors whose indexes are not those of the texts")
        return [rows_by_index[index] for index in range(number)]


def _is_missing(value: Any) -> bool:
    """Return whether a value is NaN, or None as some servers write it."""
    return value is None or (isinstance(value, float) and value != value)


class ServedReranker(ServedModel, BaseScorer):
    """A scorer whose scores are the relevances that a server's /rerank returns.

    Parameters
    ----------
    url : address of the server; requests go to /rerank below it.
    model : the model's name at the server.
    name : the model's name here.
    key_variable : environment variable of the API key.
    timeout : seconds until a request fails.
    batch : texts in a request.
    max_concurrent : concurrent requests of all callers together.
    """

    def __init__(
        self,
        url: str,
        model: str,
        name: str,
        key_variable: str = "",
        timeout: float = 120.0,
        batch: int = 64,
        max_concurrent: int = 8,
    ):
        super().__init__(url, model, name, key_variable, timeout, batch, max_concurrent)
        # Cohere's name of this key. TEI calls it "texts", which is tried if the server asks for it.
        self._texts_key = "documents"

    def score(self, task: Task, texts: Sequence[str]) -> np.ndarray:
        """Return the relevance of each text.

        Parameters
        ----------
        task : the question and limits on reading.
        texts : the candidates, n.

        Returns
        -------
        float64 [n]; larger is better. NaN marks texts that were not read.

        Raises
        ------
        ModelFailed : the server does not reply, or not as its protocol says.
        ModelUnavailable : the key is missing.
        """
        reading = CandidateScores(task, texts)

        rank = partial(self._rank, task.query, watch=task.watch)

        def read(distinct_texts: list[str]) -> None:
            for part, relevances in self._request_parts(distinct_texts, rank, task.watch):
                reading.record(part, np.array(relevances, np.float64))

        return reading.read_in_order(read, one_part=True)

    def _rank(self, query: str, part: Part, watch: Watch = NO_WATCH) -> list[float]:
        """Return the relevance of some texts by one request."""

        def request(texts_key: str) -> Any:
            body: dict[str, Any] = {"model": self.model, "query": query, texts_key: part}
            if texts_key == "texts":
                body["raw_scores"] = True
            return self._post("/rerank", body, watch)

        texts_key = self._texts_key
        try:
            answer = request(texts_key)
        except ModelFailed as error:
            if texts_key == "texts" or "texts" not in str(error):
                raise
            answer = request("texts")
            self._texts_key = "texts"
        rows = answer.get("results", answer.get("data")) if isinstance(answer, dict) else answer
        return self._read_relevances(rows, len(part))

    def _read_relevances(self, rows: Any, number: int) -> list[float]:
        """Return the relevance of each text.

        Raises ModelFailed if a text has none, two, or one that is no number.
        """
        relevances: dict[int, float] = {}
        for row in rows if isinstance(rows, list) else ():
            row = row if isinstance(row, dict) else {}
            try:
                index = whole_number(row.get("index"), number)
                relevance = finite_number(row.get("relevance_score", row.get("score")))
            except ValueError as error:
                raise self._answer_error(
                    f"a relevance that is no number, or of no text: {error}"
                ) from None
            if index in relevances:
                raise self._answer_error("two numbers for the relevance of one text")
            relevances[index] = relevance
        if len(relevances) < number:
            raise self._answer_error("no relevance for some texts")
        return [relevances[index] for index in range(number)]
