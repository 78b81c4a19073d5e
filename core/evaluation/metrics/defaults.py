"""What evaluations of triples and of documents begin with: their metrics, methods, and who answers where no language model does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.sources import CorpusSource, GraphSource, Source


@dataclass(frozen=True)
class Defaults:
    """Names of metrics, unless others are asked for, and of methods."""

    table: tuple[str, ...]  # columns of a run's table
    answers: tuple[str, ...]  # the quality to go by, first to last, where a language model answered
    tests: tuple[str, ...]  # metrics that methods are tested on, pair by pair
    fronts: tuple[tuple[str, str], ...]  # pairs of cost and quality
    question: str  # the metric shown of each question
    qualities: tuple[str, ...]  # what a search may go by, the usual one first
    changes: tuple[str, ...]  # metrics that show what a change of a line did
    methods: tuple[str, ...]  # instances that a new evaluation proposes
    reader: str  # whose answers are scored where no language model is asked


DEFAULTS = {
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


def defaults(asked: Source | Sequence[Source]) -> Defaults:
    """The defaults of a source; of several, as sets of both kinds may be asked in one run, those of documents where any has documents."""
    of = (asked,) if isinstance(asked, Source) else asked
    return DEFAULTS[next((one.kind for one in of if one.is_corpus), GraphSource.kind)]
