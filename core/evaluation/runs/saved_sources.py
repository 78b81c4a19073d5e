"""Sources (graphs and corpora) in the specifications of saved evaluations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.sources import AnswerSource, CorpusSource, GraphSource


def read_source(text: str) -> AnswerSource:
    """Return the source that a saved text stands for.

    A graph is saved by its name, a corpus by its name after `corpus:`.

    >>> from core.evaluation.runs.saved_sources import read_source
    >>> read_source("corpus:letters"), read_source("towns")
    (CorpusSource(name='letters'), GraphSource(name='towns'))
    """
    corpus = text.removeprefix(CorpusSource.saved_prefix)
    return GraphSource(text) if corpus == text else CorpusSource(corpus)


def sources_of(spec: Mapping[str, Any]) -> list[AnswerSource]:
    """Return the sources of a run's questions, from its specification."""
    return [read_source(name) for name, _ in spec["graphs"]]


def set_titles(spec: Mapping[str, Any]) -> str:
    """Return the quoted titles of a run's question sets, from its specification.

    A set that its source no longer has is given by its name.
    """
    titles: dict[str, str] = {}
    for source in sources_of(spec):
        titles |= source.sets
    names = (name.strip() for name in spec["set"].split(","))
    return ", ".join(f"“{titles.get(name, name)}”" for name in names)
