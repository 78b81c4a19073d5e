"""Default metrics and methods of an evaluation.

They depend on the kind of source that is evaluated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.sources import AnswerSource, CorpusSource, GraphSource


@dataclass(frozen=True)
class EvaluationDefaults:
    """Default metrics and methods for one kind of source.

    A metric is given by its canonical name, such as `path_hit@32`.

    Attributes
    ----------
    table_metrics : columns of a run's table.
    answer_metrics : quality metrics of a language model's answers, the preferred one first.
    test_metrics : metrics of the paired tests between methods.
    front_metrics : pairs of a cost and a quality metric, each plotted with its Pareto front.
    question_metric : the metric shown for each question.
    quality_metrics : metrics that a search for a method may maximise, the default first.
    change_metrics : metrics that show the effect of a changed step.
    methods : ids of the methods that a new evaluation proposes.
    answer_source : source of the scored answers if no language model is asked.
    """

    table_metrics: tuple[str, ...]
    answer_metrics: tuple[str, ...]
    test_metrics: tuple[str, ...]
    front_metrics: tuple[tuple[str, str], ...]
    question_metric: str
    quality_metrics: tuple[str, ...]
    change_metrics: tuple[str, ...]
    methods: tuple[str, ...]
    answer_source: str


DEFAULTS_BY_KIND = {
    GraphSource.kind: EvaluationDefaults(
        table_metrics=(
            "subgraph_recall",
            "path_recall@32",
            "path_hit@32",
            "reader_hit@1",
            "hits@1",
            "f1",
            "seconds",
            "tokens",
        ),
        answer_metrics=("hits@1", "token_recall"),
        test_metrics=("path_hit@32", "reader_hit@1", "hits@1", "f1", "seconds"),
        front_metrics=(
            ("seconds", "hits@1"),
            ("tokens", "hits@1"),
            ("seconds", "reader_hit@1"),
            ("seconds", "path_hit@32"),
        ),
        question_metric="reader_hit@1",
        quality_metrics=(
            "reader_hit@1",
            "reader_f1",
            "reader_recall",
            "path_recall@32",
            "path_hit@32",
            "path_mrr",
        ),
        change_metrics=("path_recall", "reader_hit@1", "hits@1", "seconds", "tokens"),
        methods=("lego-1", "lego-12", "lego-14"),
        answer_source="graph reader",
    ),
    CorpusSource.kind: EvaluationDefaults(
        table_metrics=(
            "passage_recall@4",
            "passage_recall@10",
            "context_recall",
            "accuracy",
            "token_recall",
            "seconds",
            "tokens",
        ),
        answer_metrics=("accuracy", "token_recall"),
        test_metrics=(
            "passage_recall@4",
            "passage_recall@10",
            "context_recall",
            "accuracy",
            "token_recall",
            "tokens",
            "seconds",
        ),
        front_metrics=(
            ("tokens", "accuracy"),
            ("seconds", "accuracy"),
            ("seconds", "passage_recall@4"),
            ("seconds", "context_recall"),
            ("build_tokens", "accuracy"),
            ("build_seconds", "passage_recall@4"),
        ),
        question_metric="passage_recall@4",
        quality_metrics=(
            "passage_recall",
            "passage_recall@4",
            "passage_recall@10",
            "context_recall",
            "context_precision",
            "accuracy",
        ),
        change_metrics=("passage_recall", "accuracy", "seconds", "tokens"),
        methods=("vanilla-rag", "vgraphrag", "lgraphrag"),
        answer_source="nearest sentence",
    ),
}


def defaults_for(sources: AnswerSource | Sequence[AnswerSource]) -> EvaluationDefaults:
    """Return the defaults of one or several sources.

    Sources are graphs of triples or corpora of documents. A run may ask question sets of both
    kinds. The defaults of corpora apply if any source is a corpus.
    """
    all_sources = (sources,) if isinstance(sources, AnswerSource) else sources
    kind = next((source.kind for source in all_sources if source.is_corpus), GraphSource.kind)
    return DEFAULTS_BY_KIND[kind]
