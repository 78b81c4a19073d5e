"""A corpus of a few texts for the tests of builds."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from core.models.base import NoModels


@dataclass(frozen=True)
class Text:
    """A document without places."""

    id: str
    text: str
    title: str = ""

    def place_at(self, offset: int) -> str:
        return ""


class Texts:
    """A corpus in a folder of the test's own, of texts by id."""

    def __init__(self, folder: Path, **texts: str):
        self.name, self.folder, self.texts = "tests", folder, texts
        self.digest = hashlib.sha256(repr(sorted(texts.items())).encode()).hexdigest()

    def __iter__(self):
        return (Text(id, text) for id, text in sorted(self.texts.items()))

    def changed(self, **texts: str | None) -> Texts:
        """The corpus with some texts changed, added, or (None) taken away."""
        return Texts(self.folder, **{id: text for id, text in (self.texts | texts).items() if text is not None})


class Reading(NoModels):
    """Models whose encoder counts letters."""

    def encoder(self, name="encoder"):
        return self

    def encode(self, texts, check=None):
        vectors = np.array([[text.lower().count(letter) + 0.01 for letter in "abcdefghijklmnop"] for text in texts], np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
