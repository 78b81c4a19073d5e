"""Catalogue of all metrics, each declared once with the convention that it follows.

This module declares the metrics of LEGO-GraphRAG (technical report and first version) and collects
those of the other modules. Reports and screens look metrics up by name with `metric`.
"""

from __future__ import annotations

from core.evaluation.metrics.catalogue_links import LINK_METRICS
from core.evaluation.metrics.catalogue_texts import (
    ANSWER_CONVENTION,
    ANSWER_METRICS,
    BUILD_METRICS,
    PASSAGE_METRICS,
    SUPPORT_METRICS,
)
from core.evaluation.metrics.formulas import (
    answer_f1,
    answer_f1_by_lines,
    answer_hit,
    answer_recall,
    hit_ratio,
    judge_accepts,
    path_count,
    precision,
    ranking_f1,
    recall,
    reciprocal_rank,
    subgraph_f1,
    subgraph_hit,
    subgraph_precision,
    subgraph_recall,
    subgraph_size,
    token_f1,
    token_recall,
    token_recall_joined,
    total_cost,
)
from core.evaluation.metrics.metric import Metric, find_metric
from core.evaluation.metrics.truthfulness import TRUTHFULNESS_METRICS

LEGO_SOURCE = "LEGO-GraphRAG, both versions; the published code's utils/Evaluation.py"
NAME_CONVENTION = (
    "An answer counts as found if a node of the subgraph bears its very name, or one that "
    "differs by case only. An empty subgraph scores 0; a question without correct answers, "
    "and a method that extracts no subgraph, are left out."
)
PATH_TEXT_CONVENTION = (
    "A path is one prediction: its text, as the language model reads it. It holds an answer "
    "if the answer, in lower case and without punctuation and articles, is a substring of it "
    "(one way only), so a short answer may be found inside a longer name. No path at all "
    "scores 0; a question without correct answers is left out. Without a cut-off all paths "
    "that the method hands on count."
)
READER_CONVENTION = (
    "The graph reader needs no language model: it names the ends of all paths that run along "
    "the best path's relations, in the order of the paths, at most 50; of walks, and of "
    "triples that need not begin at the question's entity, every node is such an end. A name "
    "counts as right if it is that of a correct answer, so nothing is matched by substring. "
    "No name at all scores 0; a question without correct answers is left out."
)
SUM_CONVENTION = (
    "Summed over the steps of the method, as each reports it; shared steps are charged to "
    "every method that uses them, and judging is not counted."
)
SECONDS_CONVENTION = (
    "Wall-clock seconds, summed over the steps of the method. A step that several methods "
    "share is run once a question and its seconds are charged to each of them. Models "
    "remember the vectors and replies of texts they have just seen, so a method that comes "
    "after a similar one on the same question is a little faster than it would be alone; the "
    "order of the methods therefore turns with every question. A run asked to be cold shares "
    "nothing and forgets before each method: then the seconds are those of the method alone. "
    "Opening the graph, finding the question's entities, loading models, judging and scoring "
    "are not counted."
)


# Modules of LEGO-GraphRAG: for each, words for its work, and the stages of its operators.
LEGO_MODULES = {
    "extract": ("extracting the subgraph", ("extract", "filter")),
    "retrieve": ("finding paths or passages", ("retrieve",)),
    "refine": ("choosing among what was found", ("refine",)),
}


def _ranking_metrics(
    part: str, title: str, items: str, convention: str, source: str
) -> list[Metric]:
    """Return the five metrics of one of an outcome's rankings.

    `part` is the field of the outcome: `paths`, or `reader` for the graph reader's names. `items`
    is the noun for them in definitions, and `title` begins the title of each metric.
    """

    def formula_of(score):
        return lambda outcome, k: score(getattr(outcome, part), outcome.golds, k)

    name, item = {"paths": ("path", "path"), "reader": ("reader", "answer")}[part]
    formulas = [
        (
            "precision",
            "precision",
            f"Share of the (first k) {items} that hold a correct answer, of those that there are.",
            precision,
        ),
        (
            "recall",
            "recall",
            f"Share of the correct answers that any of the (first k) {items} holds.",
            recall,
        ),
        (
            "f1",
            "F1",
            "Harmonic mean of a question's precision and recall; over a set, the mean of it.",
            ranking_f1,
        ),
        (
            "hit",
            "hit ratio",
            f"1 if any of the (first k) {items} holds a correct answer, else 0 (HR@k).",
            hit_ratio,
        ),
        (
            "mrr",
            "reciprocal rank",
            f"1 over the rank of the first of the {items} that holds a correct answer, else 0.",
            reciprocal_rank,
        ),
    ]
    return [
        Metric(
            f"{name}_{key}",
            f"{title} {words}",
            definition,
            convention,
            formula_of(score),
            source=source,
            cutoff=True,
            title_at_1=f"First {item} right" if key == "hit" else "",
        )
        for key, words, definition, score in formulas
    ]


ALL_METRICS = (
    Metric(
        "subgraph_precision",
        "Subgraph precision",
        "Correct answers found in the subgraph, over its number of nodes.",
        NAME_CONVENTION
        + " Small by nature: a subgraph of 1,000 nodes that holds the one answer scores 0.001.",
        subgraph_precision,
        source=f"{LEGO_SOURCE}, eval_cover",
    ),
    Metric(
        "subgraph_recall",
        "Subgraph recall",
        "Share of the correct answers that are nodes of the extracted subgraph.",
        NAME_CONVENTION,
        subgraph_recall,
        source=f"{LEGO_SOURCE}, eval_cover",
    ),
    Metric(
        "subgraph_f1",
        "Subgraph F1",
        "Harmonic mean of a question's subgraph precision and recall; over a set, the mean of it.",
        NAME_CONVENTION,
        subgraph_f1,
        source=LEGO_SOURCE,
    ),
    Metric(
        "subgraph_hit",
        "Subgraph hit ratio",
        "1 if any correct answer is a node of the extracted subgraph, else 0.",
        NAME_CONVENTION,
        subgraph_hit,
        source=LEGO_SOURCE,
    ),
    Metric(
        "components",
        "Weakly connected components",
        "The number of parts of the subgraph that no triple joins, whichever way it runs.",
        "Of the subgraph as the last step leaves it, single nodes included; an empty one has none.",
        subgraph_size("components"),
        "count",
        "lower",
        "LEGO-GraphRAG, technical report, Table 6",
    ),
    Metric(
        "subgraph_nodes",
        "Subgraph nodes",
        "The number of nodes of the subgraph.",
        "Of its last form.",
        subgraph_size("nodes"),
        "count",
        "neither",
    ),
    Metric(
        "subgraph_edges",
        "Subgraph triples",
        "The number of triples in the subgraph.",
        "Of its last form.",
        subgraph_size("edges"),
        "count",
        "neither",
    ),
    *_ranking_metrics("paths", "Path", "paths", PATH_TEXT_CONVENTION, LEGO_SOURCE),
    *_ranking_metrics(
        "reader",
        "Graph reader's",
        "names",
        READER_CONVENTION,
        "Hopscope's own, from the answers' names in the graph",
    ),
    Metric(
        "path_count",
        "Paths",
        "The number of paths that the method hands on.",
        "Before the prompt is cut.",
        path_count,
        "count",
        "neither",
    ),
    *PASSAGE_METRICS,
    *LINK_METRICS,
    Metric(
        "hits@1",
        "Text holds a correct answer (Hits@1)",
        "1 if the one generated text holds any correct answer, else 0.",
        ANSWER_CONVENTION
        + " It is no rank metric. The first version's words, exact match accuracy, are not what "
        "its code does.",
        answer_hit,
        source=f"{LEGO_SOURCE}, eval_hit",
    ),
    *ANSWER_METRICS,
    Metric(
        "recall",
        "Answer recall",
        "Share of the correct answers that the generated text holds.",
        ANSWER_CONVENTION,
        answer_recall,
        source=LEGO_SOURCE,
    ),
    Metric(
        "token_recall",
        "Answer token recall",
        "Share of the words of the correct answers, all taken together, that the generated "
        "text has.",
        "Of an answer with aliases the name with most words in common counts. In lower case "
        "and without articles and punctuation of any script, each word as often as both have "
        "it; in a script without blanks each letter is a word, as in the scorers of DRCD and "
        "CMRC. Ways to write the same count as one. Where one of both is yes, no or noanswer "
        "and they differ, 0. Where no language model is asked the text is the reader's. A "
        "question without correct answers is left out.",
        token_recall,
        source="In-depth Analysis of Graph-based RAG (Recall); SQuAD",
    ),
    Metric(
        "token_recall_joined",
        "Answer token recall, all names",
        "Share of the words of all names of the correct answers, taken together, that the "
        "generated text has.",
        "As answer token recall, which takes of each answer the one name that has most words in "
        "common with the text. Here aliases are joined, as by the published code, so that a "
        "correct answer in other words than most of its aliases scores little.",
        token_recall_joined,
        source="In-depth Analysis of Graph-based RAG (Recall on PopQA and PopAll); its code",
    ),
    Metric(
        "token_f1",
        "Answer token F1",
        "Harmonic mean of answer token recall and of the share of the generated text's words "
        "that the correct answers have.",
        "Words are counted as for answer token recall. A long text loses what it gains there, "
        "so that answers of different lengths, or to questions whose correct answers are "
        "sentences, can be compared.",
        token_f1,
        source="SQuAD",
    ),
    Metric(
        "f1",
        "Answer F1, whole text",
        "F1 with the whole text as the one prediction: its precision is 1 if it holds any "
        "correct answer; over a set, the mean of it.",
        ANSWER_CONVENTION
        + " So it is 2R / (1 + R) where anything is found. The first version's words define the "
        "F1 of the mean precision and recall; the summary shows that one beside it.",
        answer_f1,
        source=f"{LEGO_SOURCE}, and Generate.py",
    ),
    Metric(
        "f1_lines",
        "Answer F1, by lines",
        "F1 with every line of the text as a prediction: precision is found answers over lines "
        "that are not empty.",
        ANSWER_CONVENTION
        + " Several answers on one line are one prediction, and precision is never taken above 1.",
        answer_f1_by_lines,
        source="RoG and G-Retriever, as used by LEGO-GraphRAG's comparisons",
    ),
    Metric(
        "judge@1",
        "Judge@1",
        "1 if a language model judges the answer to be right, else 0.",
        "The model of the role judge sees question, correct answers and the answer, and "
        "replies under a schema. A reply that cannot be used is recorded and left out. The "
        "report used Qwen2-72B with a prompt that it does not print; this one is Hopscope's "
        "own.",
        judge_accepts,
        source="LEGO-GraphRAG, technical report, B.4",
    ),
    *SUPPORT_METRICS,
    *TRUTHFULNESS_METRICS,
    Metric(
        "seconds",
        "Seconds",
        "How long a question takes.",
        SECONDS_CONVENTION,
        total_cost("seconds"),
        "seconds",
        "lower",
        LEGO_SOURCE,
    ),
    *(
        Metric(
            f"{name}_seconds",
            f"Seconds of {work}",
            f"The part of a question's seconds that goes into {work}.",
            "Counted as all of the seconds are, over the steps of these stages: "
            + f"{' and '.join(stages)}. A method without any has no figure.",
            total_cost("seconds", stages=stages),
            "seconds",
            "lower",
            "LEGO-GraphRAG, first version, Table 6",
        )
        for name, (work, stages) in LEGO_MODULES.items()
    ),
    Metric(
        "calls",
        "Model calls",
        "How often a language model is asked.",
        SUM_CONVENTION,
        total_cost("calls"),
        "count",
        "lower",
        LEGO_SOURCE,
    ),
    Metric(
        "tokens_in",
        "Tokens in",
        "Tokens that language models read.",
        SUM_CONVENTION,
        total_cost("tokens_in"),
        "tokens",
        "lower",
        LEGO_SOURCE,
    ),
    Metric(
        "tokens_out",
        "Tokens out",
        "Tokens that language models write.",
        SUM_CONVENTION,
        total_cost("tokens_out"),
        "tokens",
        "lower",
        LEGO_SOURCE,
    ),
    Metric(
        "tokens",
        "Tokens",
        "Tokens read and written.",
        SUM_CONVENTION,
        total_cost("tokens_in", "tokens_out"),
        "tokens",
        "lower",
        LEGO_SOURCE,
    ),
    Metric(
        "texts",
        "Texts scored",
        "Texts that encoders and re-rankers were given.",
        SUM_CONVENTION,
        total_cost("texts"),
        "count",
        "lower",
    ),
    *BUILD_METRICS,
)
METRICS: dict[str, Metric] = {metric.base: metric for metric in ALL_METRICS}
"""All metrics, by their names without a cut-off."""

REPORTED_METRICS = (
    "subgraph_precision subgraph_recall subgraph_f1 subgraph_hit components subgraph_nodes "
    "path_count path_precision@32 path_recall@32 path_f1@32 path_hit@32 path_hit@10 path_hit@1 "
    "path_mrr reader_hit@1 reader_recall reader_f1 passage_recall@4 passage_recall@10 "
    "passage_precision@4 capped_recall@10 ndcg@10 topological_recall@10 miss_tr@10 context_recall "
    "context_precision hits@1 accuracy recall token_recall token_f1 str_em option f1 f1_lines "
    "judge@1 accurate missing hallucination truthfulness nearness supported seconds calls "
    "tokens_in tokens_out tokens texts build_seconds build_calls build_tokens"
).split()
"""Names of the metrics that a summary reports by default."""


def metric(name: str) -> Metric:
    """Return the metric with a canonical name, such as `path_hit@32`.

    Raises BadParameter for an unknown name; its message suggests the nearest valid one.

    >>> from core.evaluation.metrics.catalogue import metric
    >>> metric("path_hit@32").name, metric("path_hit@32").k, metric("seconds").better
    ('path_hit@32', 32, 'lower')
    """
    return find_metric(name, METRICS)
