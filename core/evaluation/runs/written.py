"""The sources of saved evaluations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.sources import CorpusSource, GraphSource, Source


def read_source(text: str) -> Source:
    """The source that is saved by a text: a graph by its name, a corpus by its name behind `corpus:`.

    >>> from core.evaluation.runs.written import read_source
    >>> read_source("corpus:letters"), read_source("towns")
    (CorpusSource(name='letters'), GraphSource(name='towns'))
    """
    corpus = text.removeprefix(CorpusSource.marks)
    return GraphSource(text) if corpus == text else CorpusSource(corpus)


def sources_of(spec: Mapping[str, Any]) -> list[Source]:
    """What the questions of a run are asked of, by its spec."""
    return [read_source(name) for name, _ in spec["graphs"]]
