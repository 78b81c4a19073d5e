"""Sources of answers: a graph of triples, or a corpus of documents, that questions are asked of."""

from core.sources.kinds import (
    CorpusSource,
    GraphSource,
    available_sources,
    corpus_of_set,
    source_in,
)
from core.sources.source import AnswerSource, SourceQuestion

__all__ = [
    "SourceQuestion",
    "CorpusSource",
    "GraphSource",
    "AnswerSource",
    "corpus_of_set",
    "source_in",
    "available_sources",
]
