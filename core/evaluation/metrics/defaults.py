"""Defaults of evaluations on triples and on documents.

They name metrics, methods, and the source of an answer if no language model is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.sources import AnswerSource, CorpusSource, GraphSource


@dataclass(frozen=True)
class Defaults:
    """Names of default metrics and methods."""

    table: tuple[str, ...]  # columns of a run's table
    # Quality metrics of a language model's answers, the preferred one first.
    answers: tuple[str, ...]
    tests: tuple[str, ...]  # metrics of the paired tests between methods
    fronts: tuple[tuple[str, str], ...]  # pairs of a cost and a quality metric
    question: str  # the metric shown for each question
    qualities: tuple[str, ...]  # metrics that a search may maximise, the default first
    changes: tuple[str, ...]  # metrics that show the effect of a changed step
    methods: tuple[str, ...]  # methods that a new evaluation proposes
    reader: str  # source of the scored answers if no language model is asked


DEFAULTS_BY_KIND = {
    GraphSource.kind: Defaults(
        table=(
            "subgraph_recall",
            "path_recall@32",
            "path_hit@32",
            "reader_hit@1",
            "hits@1",
            "f1",
            "seconds",
            "tokens",
        ),
        answers=("hits@1", "token_recall"),
        tests=("path_hit@32", "reader_hit@1", "hits@1", "f1", "seconds"),
        fronts=(
            ("seconds", "hits@1"),
            ("tokens", "hits@1"),
            ("seconds", "reader_hit@1"),
            ("seconds", "path_hit@32"),
        ),
        question="reader_hit@1",
        qualities=(
            "reader_hit@1",
            "reader_f1",
            "reader_recall",
            "path_recall@32",
            "path_hit@32",
            "path_mrr",
        ),
        changes=("path_recall", "reader_hit@1", "hits@1", "seconds", "tokens"),
        methods=("lego-1", "lego-12", "lego-14"),
        reader="graph reader's",
    ),
    CorpusSource.kind: Defaults(
        table=(
            "passage_recall@4",
            "passage_recall@10",
            "context_recall",
            "accuracy",
            "token_recall",
            "seconds",
            "tokens",
        ),
        answers=("accuracy", "token_recall"),
        tests=(
            "passage_recall@4",
            "passage_recall@10",
            "context_recall",
            "accuracy",
            "token_recall",
            "tokens",
            "seconds",
        ),
        fronts=(
            ("tokens", "accuracy"),
            ("seconds", "accuracy"),
            ("seconds", "passage_recall@4"),
            ("seconds", "context_recall"),
            ("build_tokens", "accuracy"),
            ("build_seconds", "passage_recall@4"),
        ),
        question="passage_recall@4",
        qualities=(
            "passage_recall",
            "passage_recall@4",
            "passage_recall@10",
            "context_recall",
            "context_precision",
            "accuracy",
        ),
        changes=("passage_recall", "accuracy", "seconds", "tokens"),
        methods=("vanilla-rag", "vgraphrag", "lgraphrag"),
        reader="nearest sentence's",
    ),
}


def defaults(sources: AnswerSource | Sequence[AnswerSource]) -> Defaults:
    """Return the defaults of one or several sources.

    A run may ask question sets of both kinds. The defaults of documents apply if any source is a
    corpus.
    """
    all_sources = (sources,) if isinstance(sources, AnswerSource) else sources
    kind = next((source.kind for source in all_sources if source.is_corpus), GraphSource.kind)
    return DEFAULTS_BY_KIND[kind]
