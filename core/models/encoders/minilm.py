"""The default sentence encoder, a MiniLM that is fast on a processor.

Concurrent callers share its batches (`joint_reader`), and vectors are cached in memory and on disk
(`saved_vectors`). The bytes of a text's vector do not depend on the other texts, so that rankings
can be repeated exactly.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from pathlib import Path

import numpy as np
from cachetools import LRUCache

from core.errors import ModelUnavailable
from core.models.chat.cancellable_work import run_cancellable, run_in_slot
from core.models.encoders.bert import ForwardPass
from core.models.encoders.compute_modes import ComputeMode, choose_mode
from core.models.encoders.joint_reader import JointReader
from core.models.encoders.saved_vectors import (
    SavedVectors,
    VectorFile,
    to_half_precision,
    to_unit_vectors,
)
from core.models.encoders.static_vectors import SHIPPED_STATIC_VECTORS, StaticVectors
from core.models.reading_order import TextEstimates
from core.models.weights import weights_digest
from core.runtime.meter import count_time, first_requests, record_saved_time
from core.runtime.slots import Slots
from core.watch import NO_WATCH, Watch

Received = Callable[[list[str], np.ndarray], None]  # called with texts and their vectors
TOKEN_ROUND_BATCHES = 4  # of token vectors, after which another caller gets its turn
MAX_TEXT_TOKENS = 256  # of a text that are read; the rest is cut
INPUT_VECTOR_NUMBERS = 96  # length of a text's input vector
MAX_MINILM_VECTORS = 100_000  # in memory


class MiniLMEncoder:
    """A MiniLM sentence encoder, whose vectors are normalised means of token vectors.

    It is loaded at the first use, and reads at most `MAX_TEXT_TOKENS` of a text. It is safe to use
    from several threads, whose texts share batches.

    Parameters
    ----------
    folder : folder of the weights.
    backend : program that computes it, as in `choose_mode`.
    precision : its precision, as in `choose_mode`.
    max_cached_texts : number of texts whose vectors are cached in memory, in half precision.
    vector_file : file that saves vectors on disk; None to save none.
    """

    received = True  # true as `encode` has a parameter `received` (core.models.scorers)
    max_tokens = MAX_TEXT_TOKENS  # of each text

    def __init__(
        self,
        folder: Path,
        backend: str = "auto",
        precision: str | None = None,
        max_cached_texts: int = MAX_MINILM_VECTORS,
        vector_file: VectorFile | None = None,
    ):
        self.folder = Path(folder)
        self.backend = backend
        self.precision = precision
        self._forward: ForwardPass | None = None
        self._vector_file = vector_file
        self._saved_vectors: SavedVectors | None = None
        self._load_lock = threading.Lock()
        self._slots = Slots()
        self._cache_lock = threading.Lock()
        self._vectors: LRUCache[str, np.ndarray] = LRUCache(max_cached_texts)
        self.computed_count = 0  # texts whose vectors were computed, not found in memory or on disk
        # Seconds that vectors took, now or when they were saved, and the length of their texts.
        self._total_seconds = 0.0
        self._total_characters = 0
        self._reader = JointReader(self._slots)

    @property
    def loaded(self) -> bool:
        return self._forward is not None

    @property
    def device(self) -> str:
        """Device, program and precision once it is loaded; else empty."""
        return self._forward.device if self._forward else ""

    @cached_property
    def mode(self) -> ComputeMode:
        """Program and precision of the computation. Raises ModelUnavailable."""
        return choose_mode(self.backend, self.precision)

    def load(self) -> None:
        """Load the weights. Raises ModelUnavailable if they or the program are missing."""
        if self._forward is not None:
            return
        with count_time("preparation", "Loading the encoder"), self._load_lock:
            if self._forward is not None:
                return
            for name in ("model.safetensors", "tokenizer.json", "config.json"):
                if not (self.folder / name).exists():
                    raise ModelUnavailable(
                        f"{self.folder} holds no {name}, so it is not a folder of an encoder."
                    )
            from tokenizers import Tokenizer

            tokenizer = Tokenizer.from_file(str(self.folder / "tokenizer.json"))
            tokenizer.no_padding()
            tokenizer.enable_truncation(MAX_TEXT_TOKENS)
            self._tokenizer = tokenizer
            self._forward = self.mode.forward(self.folder)

    def encode(
        self, texts: Sequence[str], watch: Watch = NO_WATCH, received: Received | None = None
    ) -> np.ndarray:
        """Return the vectors of texts.

        Vectors that were computed before a cancellation are cached.

        Parameters
        ----------
        texts : the texts.
        watch : checked while vectors are computed; it may raise RunCancelled.
        received : called with distinct texts and their vectors, first the cached ones and then the
            others as they are computed.

        Returns
        -------
        float32 [n, d] with unit rows, in the order of `texts`.
        """
        unique = list(dict.fromkeys(texts))
        vectors_by_text = self._find_cached(unique)
        if received and vectors_by_text:
            cached_vectors = np.stack(list(vectors_by_text.values()))
            received(list(vectors_by_text), to_unit_vectors(cached_vectors))
        missing = [text for text in unique if text not in vectors_by_text]
        computed: dict[str, np.ndarray] = {}
        try:
            for part, vectors in self._compute(missing, watch):
                computed |= zip(part, vectors, strict=True)
                if received:
                    received(part, to_unit_vectors(vectors))
        finally:
            saved_vectors = self.open_saved_vectors() if computed else None
            if saved_vectors is not None:
                saved_vectors.save(computed, self._estimate_seconds(computed))
        vectors_by_text |= computed
        if unique:
            return to_unit_vectors(np.stack([vectors_by_text[text] for text in texts]))
        return np.zeros((0, self.dimension), np.float32)

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return int(json.loads((self.folder / "config.json").read_text("utf-8"))["hidden_size"])

    def encode_tokens(
        self, texts: Sequence[str], watch: Watch = NO_WATCH
    ) -> Iterator[tuple[list[int], np.ndarray]]:
        """Yield the token vectors of each distinct text, with its positions in `texts`.

        The shortest texts come first, and nothing is cached.

        Parameters
        ----------
        texts : any number of texts; equal texts are encoded once.
        watch : checked between batches; may raise RunCancelled.

        Yields
        ------
        The positions of a distinct text, and float32 [tokens, d] with unit rows.
        """
        positions: dict[str, list[int]] = {}
        for position, text in enumerate(texts):
            positions.setdefault(text, []).append(position)
        for rows, tokens in self._token_batches(list(positions), watch):
            for text, vectors in zip(rows, tokens, strict=True):
                yield positions[text], vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)

    def input_vectors(self, texts: Sequence[str]) -> np.ndarray:
        """Return the mean of each text's input embeddings, projected to float32 [n, 96].

        Input embeddings are the vectors of tokens before the first layer. The projection is that of
        the static vectors, or random for weights without them. This is hundreds of times cheaper
        than `encode`. The vectors show which texts are alike.
        """
        return self.token_means(texts, self._input_table)

    def token_means(self, texts: Sequence[str], table: np.ndarray) -> np.ndarray:
        """Return the mean row of each text's tokens in a table of the vocabulary.

        `table` is float [vocabulary, d], and the result float [n, d].
        """
        if not self.loaded:
            self.load()
        ids = self._tokenize(texts)
        if not ids:
            return table[:0]
        lengths = np.array([len(text_ids) for text_ids in ids])
        starts = np.cumsum([0, *lengths[:-1]])
        return np.add.reduceat(table[np.concatenate(ids)], starts) / lengths[:, None]

    def estimate_texts(self, texts: Sequence[str], query: np.ndarray) -> TextEstimates:
        """Return cheap vectors of texts and, with static vectors, their cosines with a query.

        `query` is the query's unit vector, float [d].
        """
        vectors = self.input_vectors(texts)
        if self._static_vectors is None:
            return TextEstimates(vectors)
        return TextEstimates(vectors, self._static_vectors.cosines(vectors, query))

    @cached_property
    def _static_vectors(self) -> StaticVectors | None:
        """The shipped static vectors; None if they were fitted to other weights."""
        return StaticVectors.open(SHIPPED_STATIC_VECTORS, weights_digest(self.folder))

    def input_embeddings(self) -> np.ndarray:
        """Return centred unit embeddings of the whole vocabulary, float32 [vocabulary, d]."""
        from safetensors import safe_open

        with safe_open(str(self.folder / "model.safetensors"), "numpy") as weights:
            words = weights.get_tensor("embeddings.word_embeddings.weight").astype(np.float32)
        words -= words.mean(axis=0)
        words /= np.maximum(np.linalg.norm(words, axis=1, keepdims=True), 1e-6)
        return words

    @cached_property
    def _input_table(self) -> np.ndarray:
        """The projected input embeddings of the whole vocabulary, float32 [vocabulary, 96]."""
        words = self.input_embeddings()
        if self._static_vectors is not None:
            return words @ self._static_vectors.projection
        projection_shape = (words.shape[1], INPUT_VECTOR_NUMBERS)
        return words @ np.random.default_rng(0).standard_normal(projection_shape, np.float32)

    def forget(self) -> None:
        """Drop the vectors cached in memory."""
        with self._cache_lock:
            self._vectors.clear()

    def _find_cached(self, texts: Sequence[str]) -> dict[str, np.ndarray]:
        """Return the vectors of those texts that are in memory or on disk, float16 [d] by text.

        The time saved by them is recorded.
        """
        with self._cache_lock:
            vectors = {text: self._vectors[text] for text in texts if text in self._vectors}
        missing = [text for text in texts if text not in vectors]
        saved_vectors = self.open_saved_vectors() if missing else None
        if saved_vectors is not None:
            saved_rows = saved_vectors.find(missing)
            found_vectors = {text: vector for text, (vector, _) in saved_rows.items()}
            self._cache(found_vectors, sum(seconds for _, seconds in saved_rows.values()))
            vectors |= found_vectors
        new_texts = first_requests(texts)
        saved_seconds = self._estimate_seconds([text for text in new_texts if text in vectors])
        record_saved_time(saved_seconds)
        return vectors

    def _cache(self, vectors: dict[str, np.ndarray], seconds: float) -> None:
        """Cache vectors in memory; `seconds` is the time that computing them took."""
        with self._cache_lock:
            self._total_seconds += seconds
            self._total_characters += sum(map(len, vectors))
            if self._vectors.maxsize:
                self._vectors.update(vectors)

    def _estimate_seconds(self, texts: Iterable[str]) -> float:
        """Estimate the time that computing the vectors of texts took, by their length."""
        return self._total_seconds / max(1, self._total_characters) * sum(map(len, texts))

    def open_saved_vectors(self) -> SavedVectors | None:
        """Return the vectors of this encoder on disk; None if it saves none."""
        if self._vector_file is not None and self._saved_vectors is None:
            identity = f"{weights_digest(self.folder)} {MAX_TEXT_TOKENS} {self.mode.identity}"
            self._saved_vectors = SavedVectors(self._vector_file, identity)
        return self._saved_vectors

    def _compute(
        self, texts: list[str], watch: Watch = NO_WATCH
    ) -> Iterator[tuple[list[str], np.ndarray]]:
        """Compute the vectors of texts in batches shared with other callers.

        Yields some texts with their vectors, float16 [n, d].
        """
        if not texts:
            return
        if not self.loaded:
            run_cancellable(self.load, watch)
        yield from self._reader.read(
            dict(zip(texts, self._tokenize(texts))),
            watch,
            forward=self._forward_pass,
            finish=self._finish_batch,
        )

    def _finish_batch(self, texts: list[str], means: np.ndarray, seconds: float) -> np.ndarray:
        """Normalise, round and cache the vectors of a batch, and return them, float16 [n, d]."""
        vectors = to_half_precision(means)
        self.computed_count += len(texts)
        self._cache(dict(zip(texts, vectors)), seconds)
        return vectors

    def _tokenize(self, texts: Sequence[str]) -> list[list[int]]:
        return [code.ids for code in self._tokenizer.encode_batch(list(texts))]

    def _forward_pass(self) -> ForwardPass:
        assert self._forward is not None  # loaded before anything is encoded
        return self._forward

    def _token_batches(
        self, texts: list[str], watch: Watch = NO_WATCH
    ) -> Iterator[tuple[list[str], np.ndarray]]:
        """Yield batches of texts of equal token length with their token vectors [n, tokens, d].

        The shortest texts come first.
        """
        if not texts:
            return
        if not self.loaded:
            run_cancellable(self.load, watch)
        ids = self._tokenize(texts)
        rows_by_length: dict[int, list[int]] = {}
        for row, text_ids in enumerate(ids):
            rows_by_length.setdefault(len(text_ids), []).append(row)
        size = self._forward_pass().max_batch_texts
        batches: list[list[int]] = []
        for _, rows in sorted(rows_by_length.items()):
            batches += [rows[start : start + size] for start in range(0, len(rows), size)]
        for start in range(0, len(batches), TOKEN_ROUND_BATCHES):
            round_batches = batches[start : start + TOKEN_ROUND_BATCHES]
            arrays = [np.array([ids[row] for row in rows], np.int64) for rows in round_batches]
            work = partial(self._compute_tokens, arrays, watch)
            results = run_in_slot(self._slots, work, watch)
            for rows, tokens in zip(round_batches, results, strict=True):
                yield [texts[row] for row in rows], tokens

    def _compute_tokens(
        self, batches: list[np.ndarray], watch: Watch = NO_WATCH
    ) -> list[np.ndarray]:
        """Return the token vectors of batches of ids int64 [b, l], float [b, l, d] for each."""
        results: list[np.ndarray] = []

        def on_batch(index: int, means: np.ndarray, tokens: np.ndarray | None) -> None:
            assert tokens is not None  # guaranteed by `with_tokens`
            results.append(tokens.copy())

        self._forward_pass().run(enumerate(batches), on_batch, watch, True)
        self.computed_count += sum(map(len, batches))
        return results
