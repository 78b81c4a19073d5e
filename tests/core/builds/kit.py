"""Helpers for the tests of builds: a corpus of a few texts, and models with a simple encoder."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

from core.corpus import Document
from core.corpus.corpus_storage import document_table
from core.languages import detect_language
from core.models.base import NoModels
from core.watch import NO_WATCH


class Texts:
    """A corpus of texts by id, in a folder of the test."""

    def __init__(self, folder: Path, **texts: str):
        self.name, self.folder, self.texts = "tests", folder, texts
        self.digest = hashlib.sha256(repr(sorted(texts.items())).encode()).hexdigest()
        self.language = self.detected_language = detect_language(list(texts.values()))
        self.documents = [Document(id, text) for id, text in sorted(texts.items())]
        self.table, self.ids = document_table(self.documents), tuple(sorted(texts))

    def __len__(self):
        return len(self.documents)

    def __iter__(self):
        return iter(self.documents)

    def document_at(self, row: int) -> Document:
        return self.documents[row]

    def changed(self, **texts: str | None) -> Texts:
        """Return the corpus with texts changed, added, or removed where the new text is None."""
        return Texts(
            self.folder,
            **{id: text for id, text in (self.texts | texts).items() if text is not None},
        )


class LetterModels(NoModels):
    """Models whose encoder counts letters."""

    def encoder(self, name="encoder"):
        return self

    def encode(self, texts, watch=NO_WATCH):
        vectors = np.array(
            [
                [text.lower().count(letter) + 0.01 for letter in "abcdefghijklmnop"]
                for text in texts
            ],
            np.float32,
        )
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
