"""Backends: the programs and libraries that run models.

Each backend is a dataclass of the settings that a row of models.toml may have for it, and makes the
model from them. `MODEL_BACKENDS` has the backends by the names that models.toml uses.
"""

from __future__ import annotations

from core.models.backends.base import Backend
from core.models.backends.chats import VLLM, Absent, Llama, OpenAI
from core.models.backends.encoders import (
    LlamaEmbeddings,
    MiniLM,
    Pooled,
    Sentence,
    ServerEmbeddings,
)
from core.models.backends.scorers import (
    BM25,
    Cross,
    DensePassages,
    LateInteraction,
    NGram,
    NoSettings,
    ServerReranker,
    SparseEncoder,
    Topics,
)

__all__ = ["MODEL_BACKENDS", "Backend", "Llama", "MiniLM", "OpenAI", "SparseEncoder"]

MODEL_BACKENDS: dict[str, type[Backend]] = {
    "minilm": MiniLM,
    "late-interaction": LateInteraction,
    "flag-reranker": Cross,
    "cross-encoder": Cross,
    "mean-pooling": Pooled,
    "sentence-transformers": Sentence,
    "splade": SparseEncoder,
    "dpr": DensePassages,
    "bm25": BM25,
    "n-gram": NGram,
    "lsa": Topics,
    "lda": Topics,
    "tfidf": NoSettings,
    "random": NoSettings,
    "llama": Llama,
    "llama-embeddings": LlamaEmbeddings,
    "openai": OpenAI,
    "openai-embeddings": ServerEmbeddings,
    "rerank": ServerReranker,
    "vllm": VLLM,
    "absent": Absent,
}
