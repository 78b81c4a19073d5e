"""How evaluations are saved with what they ask: a graph by its name, empty for those of the questions' own rows, and a corpus by its
name behind `corpus:`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.sources import CorpusSource, GraphSource, Source

CORPUS = "corpus:"


def written(source: Source) -> str:
    """The text that is saved of a source."""
    return f"{CORPUS}{source.name}" if source.is_corpus else source.name


def read_source(text: str) -> Source:
    """The source that `written` saved.

    >>> from core.evaluation.runs.written import read_source
    >>> read_source("corpus:letters"), read_source("towns")
    (CorpusSource(name='letters'), GraphSource(name='towns'))
    """
    return CorpusSource(text.removeprefix(CORPUS)) if text.startswith(CORPUS) else GraphSource(text)


def sources_of(spec: Mapping[str, Any]) -> list[Source]:
    """What the questions of a run are asked of, by its spec."""
    return [read_source(name) for name, _ in spec["graphs"]]
