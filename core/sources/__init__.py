"""Sources that questions are asked of: a graph of triples, or the documents of a corpus."""

from core.sources.kinds import CorpusSource, GraphSource, corpus_with, source_in, sources
from core.sources.source import Ask, Source

__all__ = ["Ask", "CorpusSource", "GraphSource", "Source", "corpus_with", "source_in", "sources"]
