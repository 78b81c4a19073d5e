"""Declarations of the metrics of answers, of documents and of graph building.

Each metric is declared once, with the convention that it follows.
"""

from __future__ import annotations

from core.evaluation.metrics.formulas import answer_hit
from core.evaluation.metrics.formulas_texts import (
    all_parts_named,
    build_cost,
    context_precision,
    context_recall,
    joined_answer_match,
    mean_nearest_cosine,
    option_accuracy,
    part_recall,
    passage_precision,
    passage_recall,
    summary_share,
    supported_share,
)
from core.evaluation.metrics.metric import Metric

ANSWER_CONVENTION = (
    "An answer counts as found if, in lower case and without punctuation and articles, it is "
    "a substring of the text (one way only); one that is nothing but these is found only "
    "where the texts are the same. Ways to write the same, as other quotation marks, dashes, "
    "full-width or decomposed letters, count as one; a number is not found within another "
    "one. Where the set has aliases of an answer, any of them counts. Where no language model "
    "is asked, the text is the graph reader's names, one a line, or on documents the nearest "
    "sentence, and the table says so. A text that repeats the question counts as right where "
    "an answer is part of it. A question without correct answers is left out."
)
IN_DEPTH_SOURCE = "In-depth Analysis of Graph-based RAG"
IN_DEPTH_CONVENTION = " The text need not be the answer alone."
ALCE_CONVENTION = (
    " A part is a group of aliases where the set has such groups (ALCE's short_answers), of "
    "which one is enough, else a correct answer."
)
BUILD_CONVENTION = (
    "Of the method's own graph, as the last run of its build reports; the same for every "
    "question. Left out where that run took up what an earlier one had read, as the whole is "
    "not known then. Replies that were kept count with the tokens that they had cost. Vectors "
    "that were kept are not made again."
)

PASSAGE_METRICS = (
    Metric(
        "passage_recall",
        "Evidence retrieved",
        "Share of the passages that the answer rests on of which a chunk is among the (first k) "
        "chunks found.",
        "By the documents of the chunks that the method kept: over the first k of them, over "
        "all of them where it keeps fewer than k or there is no cut-off; a run gives a method "
        "that never keeps k no figure at k. A node of a tree or a passage graph that is a "
        "chunk counts as one. A question whose evidence is not known, and a method that seeks "
        "no chunks, are left out.",
        passage_recall,
        required_field="gold",
        source="recall at k of passages; BEIR",
        cutoff=True,
        over_passages=True,
    ),
    Metric(
        "context_recall",
        "Answers in the prompt",
        "Share of the correct answers whose words the prompt shows.",
        "On documents by the text of the tables, the question aside, as whole words (in scripts "
        "without spaces, Arabic, Hebrew and Korean also within one); on triples by the nodes of the paths shown. Yes and no are left out. A "
        "question without correct answers is left out.",
        context_recall,
    ),
    Metric(
        "passage_precision",
        "Evidence among the chunks",
        "Share of the (first k) chunks found that are of a passage that the answer rests on.",
        "By the documents of the chunks that the method kept; without a cut-off over all of "
        "them, with one over k, as trec_eval counts, where the method keeps fewer than k too. "
        "A question whose evidence is not known, and a method that seeks no chunks, are left "
        "out.",
        passage_precision,
        required_field="gold",
        source="precision at k of passages; trec_eval",
        cutoff=True,
        over_passages=True,
    ),
    Metric(
        "context_precision",
        "Evidence among the chunks in the prompt",
        "Share of the chunks that the prompt shows that are of a passage that the answer rests on.",
        "Unranked; rows of entities, relations and reports are not counted. A prompt without "
        "a chunk scores 0; a question whose evidence is not known is left out.",
        context_precision,
        required_field="gold",
        source="context precision, by known passages instead of a judging model",
    ),
    Metric(
        "summaries",
        "Summaries among what was found",
        "Share of the nodes found in a tree that are summaries, not chunks.",
        "Of all that the method found, whether the prompt has room for it or not. Neither "
        "more nor less is better. Left out on graphs that are no tree of summaries.",
        summary_share,
        better="neither",
        source=f"{IN_DEPTH_SOURCE}, Exp. 4",
    ),
)
"""Metrics of the evidence and of the prompt."""
ANSWER_METRICS = (
    Metric(
        "accuracy",
        "Accuracy",
        "1 if the generated text holds a correct answer, else 0.",
        ANSWER_CONVENTION
        + IN_DEPTH_CONVENTION
        + " With one correct answer this is the paper's accuracy to the letter. Of several its "
        "code asks for all of them as one string, in their order, which lists of aliases "
        "never are; that reading is accuracy_joined. Yes and no count as words of their own, "
        "not as the no of know.",
        answer_hit,
        source=IN_DEPTH_SOURCE,
    ),
    Metric(
        "accuracy_joined",
        "Accuracy, as published code",
        "1 if the generated text holds the correct answers as one string, in their order, else 0.",
        ANSWER_CONVENTION + IN_DEPTH_CONVENTION,
        joined_answer_match,
        source=f"{IN_DEPTH_SOURCE}; its code",
    ),
    Metric(
        "str_rec",
        "String recall (STRREC)",
        "Share of the parts of the correct answer that the generated text holds.",
        ANSWER_CONVENTION + ALCE_CONVENTION + " The published code calls this str_em.",
        part_recall,
        source=f"{IN_DEPTH_SOURCE}; ALCE",
    ),
    Metric(
        "str_em",
        "String exact match (STREM)",
        "1 if the generated text holds every part of the correct answer, else 0.",
        ANSWER_CONVENTION + ALCE_CONVENTION + " The published code calls this str_hit.",
        all_parts_named,
        source=f"{IN_DEPTH_SOURCE}; ALCE",
    ),
    Metric(
        "str_hit",
        "String hit (STRHIT)",
        "1 if the generated text holds any part of the correct answer, else 0.",
        ANSWER_CONVENTION + ALCE_CONVENTION + " The published code has nothing of that kind.",
        answer_hit,
        source=f"{IN_DEPTH_SOURCE}; ALCE",
    ),
    Metric(
        "option",
        "Right option",
        "1 if the option that the generated text chooses is the right one, else 0.",
        "A letter alone; else the last one said to be the answer; else letters in brackets or at "
        "the beginning, where they are one; else the one option whose words the text has. A text "
        "that chooses none or several scores 0. The paper lets a language model read the letter. "
        "A question without options, or of which the right one is not known, is left out.",
        option_accuracy,
        source=f"{IN_DEPTH_SOURCE}; QuALITY",
    ),
)
"""Metrics of the answer's words, as the in-depth analysis scores them."""
SUPPORT_METRICS = (
    Metric(
        "nearness",
        "Nearness of the answer to its context",
        "Mean over the answer's sentences of the cosine with the nearest sentence of the chunks "
        "that the prompt showed.",
        "By the encoder, where it was asked for; below 0 counts as 0. It shows what is alike, not "
        "what is true or what the model used: a sentence that denies another one is near to it. "
        "Of a language model's answers alone; chunks alone are compared.",
        mean_nearest_cosine,
        source="Hopscope's own",
    ),
    Metric(
        "supported",
        "Sentences supported, by a language model",
        "Share of the answer's sentences of which a language model says that what the prompt "
        "showed supports them.",
        "The model of the role judge sees what the prompt showed and one sentence at a time, the "
        "first 20 of an answer. Sentences of which its reply could not be read are left out. It "
        "is that model's opinion, no measurement.",
        supported_share,
        source="faithfulness, as RAGAS asks it; the prompt is Hopscope's own",
    ),
)
"""Metrics of the support of an answer by its context."""
BUILD_METRICS = (
    Metric(
        "build_seconds",
        "Seconds of building",
        "Wall-clock seconds in which the graph was built.",
        BUILD_CONVENTION,
        build_cost("seconds"),
        "seconds",
        "lower",
    ),
    Metric(
        "build_calls",
        "Calls of building",
        "How often a language model was asked to build the graph.",
        BUILD_CONVENTION,
        build_cost("calls"),
        "count",
        "lower",
    ),
    Metric(
        "build_tokens",
        "Tokens of building",
        "Tokens read and written to build the graph.",
        BUILD_CONVENTION,
        build_cost("tokens"),
        "tokens",
        "lower",
    ),
)
"""Metrics of the cost of building a graph."""
