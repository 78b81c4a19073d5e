"""Backends of scorers and rerankers, from BM25 to cross-encoders."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from core.errors import with_command
from core.io.carried_weights import carried_weights, checked_weights, weights_of
from core.io.data_folders import absent_data_advice, data_folder
from core.models import cross, scorers, weights
from core.models.backends.base import (
    Backend,
    check_positive,
    fetch_advice,
    folder_or_name,
    missing_folder,
    missing_key,
    missing_library,
    missing_on_hub,
    missing_package,
)
from core.models.dpr import DPR, DPRPassageEncoder, DPRQuestionEncoder
from core.models.served_models import ServedReranker
from core.models.splade import Splade

if TYPE_CHECKING:
    from core.models.backends.base import Rows
    from core.models.declarations import ModelRow


@dataclass(frozen=True)
class LateInteraction(Backend):
    """Late interaction: MaxSim over the token vectors of a declared encoder."""

    kinds: ClassVar = ("reranker",)

    encoder: str = "minilm"

    @property
    def needed_models(self) -> tuple[str, ...]:
        return (self.encoder,)

    def missing_reason(self, row: ModelRow, rows: Rows) -> str:
        inner = rows.get(self.encoder)
        if inner:
            return inner.settings.missing_reason(inner, rows)
        return f"{row.name}: its encoder “{self.encoder}” is not declared."

    def make(self, row: ModelRow, rows: Rows, encoder: Callable[[str], Any]) -> Any:
        return scorers.LateInteractionScorer(encoder(self.encoder))

    def stamp(self, rows: Rows) -> str:
        inner = rows.get(self.encoder)
        return inner.settings.stamp(rows) if inner else ""


@dataclass(frozen=True)
class Cross(Backend):
    """A cross-encoder of FlagEmbedding or sentence-transformers, or a fine-tuned encoder.

    Either `weights` or both `package` and `change` are required.

    Parameters
    ----------
    weights : a local folder, or a name on the model hub.
    package : package of the encoder whose weights are changed.
    change : folder in data/models with the difference to the weights of that encoder.
    batch : pairs per batch on a processor.
    max_tokens : token limit of a pair; the rest is cut.
    get : command that makes the weights, which are then a folder inside the models folder.
    """

    kinds: ClassVar = ("reranker",)

    weights: str = ""
    package: str = ""
    change: str = ""
    batch: int = 64
    max_tokens: int = 512
    get: str = ""

    @property
    def missing_required_key(self) -> str:
        return "" if self.weights or (self.package and self.change) else "weights"

    @property
    def own_folder(self) -> str:
        return self.weights if self.get else ""

    def missing_reason(self, row: ModelRow, rows: Rows) -> str:
        if self.change:
            reason = missing_library(row, "sentence_transformers", "sentence-transformers")
            if reason:
                return reason
            if absent := absent_data_advice(f"models/{self.change}"):
                return f"{row.name}:{absent}"
            if weights_of(self.package):
                return ""
            return with_command(
                f"{row.name}: the weights that it changes are not on this computer yet.",
                "hopscope prepare",
            )
        model_class = self._class(row)
        if self.get and importlib.util.find_spec(model_class.package) is not None:
            return missing_folder(row, self.get, self.weights)
        return missing_on_hub(row, self.weights, model_class.package, model_class.install)

    def _difference(self) -> Path:
        return data_folder(f"models/{self.change}")

    def _class(self, row: ModelRow) -> type[cross.PairScorer]:
        return cross.FlagReranker if row.backend == "flag-reranker" else cross.CrossEncoder

    def make(self, row: ModelRow, rows: Rows, encoder: Callable[[str], Any]) -> Any:
        if self.change:
            base = str(checked_weights(self.package))
            difference = self._difference()
            return cross.DeltaCrossEncoder(base, row.name, self.batch, self.max_tokens, difference)
        folder = Path(self.weights).expanduser()
        if self.get:
            folder = weights.weights_folder(self.weights)
        name = str(folder) if folder.is_dir() else self.weights
        return self._class(row)(name, row.name, self.batch, self.max_tokens)

    def stamp(self, rows: Rows) -> str:
        return weights.weights_stamp(self.weights) if self.get else ""

    def figures(self) -> str:
        if self.change:
            return weights.training_figures(self._difference())
        return weights.training_figures(weights.weights_folder(self.weights)) if self.get else ""


@dataclass(frozen=True)
class ServerReranker(Backend):
    """A reranker behind a server.

    Parameters
    ----------
    url : address of the server; requests go to /rerank below it.
    model : the model's name at the server.
    key_variable : environment variable of the API key; empty without one.
    timeout : seconds until a request fails.
    batch : texts per request.
    at_once : number of concurrent requests.
    """

    kinds: ClassVar = ("reranker",)

    url: str
    model: str
    key_variable: str = ""
    timeout: float = 120.0
    batch: int = 64
    at_once: int = 8

    def __post_init__(self) -> None:
        check_positive(timeout=self.timeout, batch=self.batch, at_once=self.at_once)

    def missing_reason(self, row: ModelRow, rows: Rows) -> str:
        return missing_key(row, self.key_variable, self.url)

    def make(self, row: ModelRow, rows: Rows, encoder: Callable[[str], Any]) -> Any:
        return ServedReranker(
            self.url,
            self.model,
            row.name,
            self.key_variable,
            self.timeout,
            self.batch,
            self.at_once,
        )

    def device(self, model: Any) -> str:
        return self.url


@dataclass(frozen=True)
class SparseEncoder(Backend):
    """A sparse encoder over the vocabulary, such as SPLADE.

    Parameters
    ----------
    weights : a local folder, or a name on the model hub.
    package : package with the weights, which is not imported; empty to use `weights`.
    inside : key of older files, which is not used: the weights are in `model`.
    requirement : name for pip of a package whose digests are not listed.
    batch : texts per batch on a processor.
    max_tokens : tokens of each text that are read.
    """

    kinds: ClassVar = ("scorer",)

    weights: str = ""
    package: str = ""
    inside: str = ""
    requirement: str = ""
    batch: int = 32
    max_tokens: int = 256

    def missing_reason(self, row: ModelRow, rows: Rows) -> str:
        if not self.package:
            return missing_on_hub(row, self.weights, "transformers", "transformers")
        if weights_of(self.package):
            return ""
        if self.fetchable:
            return fetch_advice(row)
        arguments = self.requirement and f"--no-deps {self.requirement}"
        return missing_package(row, self.package, arguments)

    @property
    def fetchable(self) -> bool:
        return bool(carried_weights(self.package).title)

    def make(self, row: ModelRow, rows: Rows, encoder: Callable[[str], Any]) -> Any:
        if self.package:
            name = str(checked_weights(self.package))
        else:
            name = folder_or_name(self.weights)
        return Splade(name, row.name, self.batch, self.max_tokens)


@dataclass(frozen=True)
class DensePassages(Backend):
    """Dense passage retrieval (DPR), with separate encoders for passages and questions.

    Parameters
    ----------
    weights : passage encoder, a local folder or a name on the model hub.
    questions : question encoder, likewise.
    batch : texts per batch on a processor.
    max_tokens : tokens of each text that are read.
    """

    kinds: ClassVar = ("scorer",)

    weights: str
    questions: str
    batch: int = 32
    max_tokens: int = 256

    def missing_reason(self, row: ModelRow, rows: Rows) -> str:
        library = ("transformers", "torch transformers")
        return missing_on_hub(row, self.questions, *library) or missing_on_hub(
            row, self.weights, *library
        )

    def make(self, row: ModelRow, rows: Rows, encoder: Callable[[str], Any]) -> Any:
        settings = (row.name, self.batch, self.max_tokens)
        questions = DPRQuestionEncoder(folder_or_name(self.questions), *settings)
        return DPR(questions, DPRPassageEncoder(folder_or_name(self.weights), *settings))


@dataclass(frozen=True)
class BM25(Backend):
    """BM25 with its usual parameters of saturation (`k1`) and length normalisation (`b`)."""

    kinds: ClassVar = ("scorer",)

    k1: float = 1.5
    b: float = 0.75

    def make(self, row: ModelRow, rows: Rows, encoder: Callable[[str], Any]) -> Any:
        return scorers.BM25Scorer(self.k1, self.b)


@dataclass(frozen=True)
class NGram(Backend):
    """The question's likelihood under an n-gram language model of each candidate.

    `two` is the weight of word pairs, and `one` that of single words. The weight that remains to 1
    is that of the words of all candidates together.
    """

    kinds: ClassVar = ("scorer",)

    two: float = 0.1
    one: float = 0.5

    def make(self, row: ModelRow, rows: Rows, encoder: Callable[[str], Any]) -> Any:
        return scorers.NGramScorer(self.two, self.one)


@dataclass(frozen=True)
class Topics(Backend):
    """Latent semantic analysis (lsa) or Dirichlet allocation (lda), of at most `topics` topics."""

    kinds: ClassVar = ("scorer",)

    topics: int = 100

    def make(self, row: ModelRow, rows: Rows, encoder: Callable[[str], Any]) -> Any:
        return scorers.TopicScorer(row.backend == "lda", self.topics)


@dataclass(frozen=True)
class NoSettings(Backend):
    """TF-IDF or random scores, which have no settings."""

    kinds: ClassVar = ("scorer",)

    def make(self, row: ModelRow, rows: Rows, encoder: Callable[[str], Any]) -> Any:
        return scorers.TfIdfScorer() if row.backend == "tfidf" else scorers.RandomScorer()
