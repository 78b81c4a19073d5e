"""Plan of the work that answers “do I need a graph?”: methods, graphs, limits, expected cost."""

from __future__ import annotations

from dataclasses import dataclass, replace

from core.builds import build_for, build_status
from core.builds.cost import estimate_cost
from core.builds.shipped_data import find_shipped_build
from core.comparison.lane_run import build_of
from core.corpus import Corpus
from core.evaluation.advice.advice_state import QUESTIONS_BY_MODEL, QUESTIONS_BY_NAMES
from core.io.durations import duration_text, rough_range_text
from core.methods.catalogue import Method, catalogue
from core.models.base import Models
from core.models.chat.saved_replies import SavedReplies
from core.watch import NO_WATCH, Watch

# Search by words, by vectors and by both. The first two also find the passages near a question.
METHODS_WITHOUT_GRAPH = ("bm25-passages", "vanilla-rag", "hybrid")
METHODS_WITH_GRAPH = ("hipporag-2", "lgraphrag", "h-lightrag", "kgp")
"""Methods with a graph, one for each kind of graph.

Each retrieves passages without asking a language model: PageRank on a knowledge graph, local search
on a textual one, LightRAG on a rich one, and neighbours on a passage graph. VGraphRAG is left out,
because its passages are those of a vector search, and PathRAG, because its row ranks whole
documents.
"""
ADVICE_WRITER_ROLE = "answer"  # role of the language model that writes questions


@dataclass(frozen=True)
class AdviceDefaults:
    """Limits and time shares of the answer to “do I need a graph?”."""

    minutes: float = 10.0
    max_made_questions: int = 120
    max_model_questions: int = 40  # those of the made questions that a language model writes
    model_time_share: float = 0.4  # share of the time for questions by a language model
    max_replies_per_question: int = 5  # replies per question that passes the checks, for estimates
    tokens_read_per_reply: int = 400  # for estimates
    tokens_written_per_reply: int = 30  # for estimates
    min_questions: int = 24  # asked even if they exceed the time
    pilot_questions: int = 3  # asked first, to measure their time
    question_time_share: float = 0.85  # share of the remaining time that the questions may take
    graphs_done_share: float = 0.35  # position of the progress bar once the graphs are built
    questions_done_share: float = 0.65  # position once the questions are made


ADVICE_DEFAULTS = AdviceDefaults()


@dataclass(frozen=True)
class AdviceCostEstimate:
    """Expected cost of an answer.

    Parameters
    ----------
    builds : titles of the graphs to build.
    build_seconds : time to build them, None if it is unknown.
    writer : title of the language model that writes questions, empty if they are made from names.
    reply_seconds : time of one of its replies, None if it is unknown.
    minutes : limit of the whole work.
    """

    builds: tuple[str, ...]
    build_seconds: float | None
    writer: str = ""
    reply_seconds: float | None = None
    minutes: float = ADVICE_DEFAULTS.minutes

    def words(self) -> str:
        """Return the cost in sentences."""
        build_time = "; the time is known once one was built"
        if self.build_seconds:
            build_time = f", {rough_range_text(self.build_seconds)} here"
        graphs = "All graphs are there already."
        if self.builds:
            graphs = f"{len(self.builds)} of {len(METHODS_WITH_GRAPH) + 1} graphs are to be built{build_time}."
        if self.writer:
            limit = self.minutes * ADVICE_DEFAULTS.model_time_share
            replies = ADVICE_DEFAULTS.max_model_questions * ADVICE_DEFAULTS.max_replies_per_question
            tokens = (
                ADVICE_DEFAULTS.tokens_read_per_reply + ADVICE_DEFAULTS.tokens_written_per_reply
            )
            seconds = self.reply_seconds
            reply_time = f", each {duration_text(seconds)} here" if seconds else ""
            writer_sentence = (
                f"{self.writer} writes questions and checks them, for at most {limit:.0f} "
                f"minutes: up to {replies:,} replies of about {tokens:,} tokens{reply_time}; names in "
                "the texts give the others."
            )
        else:
            writer_sentence = (
                "Questions are made from names in the texts, and no language model is asked."
            )
        question_sentence = (
            f"How many of up to {ADVICE_DEFAULTS.max_made_questions} are asked is measured, so "
            f"that all of it takes about {self.minutes:.0f} minutes."
        )
        if self.build_seconds is not None and self.build_seconds > self.minutes * 60:
            question_sentence = (
                f"The graphs alone take longer than {self.minutes:.0f} minutes; then "
                f"{ADVICE_DEFAULTS.min_questions} questions are asked."
            )
        return f"{graphs} {writer_sentence} {question_sentence}"


def advice_methods() -> tuple[Method, ...]:
    """Return the methods to compare, those without a graph first."""
    methods = catalogue()
    return tuple(methods[id] for id in (*METHODS_WITHOUT_GRAPH, *METHODS_WITH_GRAPH))


def graph_kinds() -> list[str]:
    """Return the kinds of graphs that the methods run on.

    Each kind occurs once. The graph of chunks is first.
    """
    kinds = (build_of(method.line) for method in advice_methods())
    return list(dict.fromkeys(filter(None, kinds)))


def default_writer(models: Models) -> str:
    """Return the default source of questions.

    It is the language model of the role “answer” if it is available, else names.
    """
    return QUESTIONS_BY_MODEL if models.info(ADVICE_WRITER_ROLE).present else QUESTIONS_BY_NAMES


def estimate_advice_cost(
    corpus: Corpus,
    models: Models,
    by: str = "",
    minutes: float = ADVICE_DEFAULTS.minutes,
    watch: Watch = NO_WATCH,
) -> AdviceCostEstimate:
    """Return the expected cost of an answer.

    Only the cutting of documents into chunks is run.

    Parameters
    ----------
    corpus : the corpus.
    models : the registry, for the speeds and prices of models.
    by : source of the questions; empty for `default_writer`.
    minutes : limit of the whole work.
    watch : receives the progress and may raise RunCancelled.

    Returns
    -------
    The graphs to build with their time, and the language model with the time of a reply.

    Raises
    ------
    BadInput, StoreError : the corpus cannot be read.
    """
    titles = []
    build_seconds: list[float | None] = []
    for kind in graph_kinds():
        build = build_for(corpus, kind)
        if build_status(corpus, build).is_current:
            continue
        titles.append(build.title)
        if find_shipped_build(corpus, build):
            build_seconds.append(0.0)
        else:
            build_seconds.append(estimate_cost(corpus, build, models, watch).seconds)
    seconds = sum(filter(None, build_seconds)) if None not in build_seconds else None
    estimate = AdviceCostEstimate(tuple(titles), seconds, minutes=minutes)
    if (by or default_writer(models)) != QUESTIONS_BY_MODEL:
        return estimate
    reply_figures = SavedReplies().mean_cost(models.weights(ADVICE_WRITER_ROLE))
    reply_seconds = reply_figures[0] if reply_figures else None
    writer = models.title(ADVICE_WRITER_ROLE)
    return replace(estimate, writer=writer, reply_seconds=reply_seconds)
