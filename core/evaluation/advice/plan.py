"""Plan of the answer to “do I need a graph?”: methods, graphs, limits and expected cost."""

from __future__ import annotations

from dataclasses import dataclass

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

METHODS_WITHOUT_GRAPH = ("bm25-passages", "vanilla-rag", "hybrid")
METHODS_WITH_GRAPH = ("hipporag-2", "lgraphrag", "h-lightrag", "kgp")
"""Methods with a graph, one for each kind of graph.

Each retrieves passages without asking a language model: PageRank on a knowledge graph, local search
on a textual one, LightRAG on a rich one, and neighbours on a passage graph. VGraphRAG is left out,
because its passages are those of a vector search, and PathRAG, because its row ranks whole
documents.
"""
ADVICE_WRITER_ROLE = "answer"  # role of the language model that writes questions
DEFAULT_ADVICE_MINUTES = 10.0
MAX_MADE_QUESTIONS = 120
# Maximum questions by a language model, and the share of the time that they may take.
MAX_MODEL_QUESTIONS, MODEL_TIME_SHARE = (40, 0.4)
# Maximum replies per accepted question, and tokens read and written per reply.
MAX_REPLIES_PER_QUESTION, TOKENS_READ_PER_REPLY, TOKENS_WRITTEN_PER_REPLY = (5, 400, 30)
MIN_ADVICE_QUESTIONS = 24  # questions that are asked even if they exceed the time
PILOT_QUESTIONS = 3  # questions that are asked first, to measure their time
QUESTION_TIME_SHARE = 0.85  # share of the remaining time that the questions may take
# Positions of the progress bar when the graphs and the questions are done.
GRAPHS_DONE_SHARE, QUESTIONS_DONE_SHARE = 0.35, 0.65


@dataclass(frozen=True)
class AdviceCostEstimate:
    """Expected cost of an answer.

    `builds` are the titles of the graphs to build, and `seconds` their time, None if it is unknown.
    `writer` is the language model that writes questions, and `reply` the seconds of one of its
    replies, if they are known.
    """

    builds: tuple[str, ...]
    seconds: float | None
    writer: str = ""
    reply: float | None = None
    minutes: float = DEFAULT_ADVICE_MINUTES

    def words(self) -> str:
        """Return the cost in sentences."""
        build_time = "; the time is known once one was built"
        if self.seconds:
            build_time = f", {rough_range_text(self.seconds)} here"
        graphs = "All graphs are there already."
        if self.builds:
            graphs = f"{len(self.builds)} of {len(METHODS_WITH_GRAPH) + 1} graphs are to be built{build_time}."
        if self.writer:
            limit = self.minutes * MODEL_TIME_SHARE
            took = f", each {duration_text(self.reply)} here" if self.reply else ""
            writer_sentence = (
                f"{self.writer} writes questions and checks them, for at most {limit:.0f} "
                f"minutes: up to {MAX_MODEL_QUESTIONS * MAX_REPLIES_PER_QUESTION:,} replies of about "
                f"{TOKENS_READ_PER_REPLY + TOKENS_WRITTEN_PER_REPLY:,} tokens{took}; names in the texts give the others."
            )
        else:
            writer_sentence = (
                "Questions are made from names in the texts, and no language model is asked."
            )
        question_sentence = (
            f"How many of up to {MAX_MADE_QUESTIONS} are asked is measured, so that all of it takes "
            f"about {self.minutes:.0f} minutes."
        )
        if self.seconds is not None and self.seconds > self.minutes * 60:
            question_sentence = (
                f"The graphs alone take longer than {self.minutes:.0f} minutes; then {MIN_ADVICE_QUESTIONS} "
                "questions are asked."
            )
        return f"{graphs} {writer_sentence} {question_sentence}"


def advice_methods() -> tuple[Method, ...]:
    """Return the methods to compare, those without a graph first."""
    known = catalogue()
    return tuple(known[id] for id in (*METHODS_WITHOUT_GRAPH, *METHODS_WITH_GRAPH))


def graph_kinds() -> list[str]:
    """Return the kinds of graphs that the methods run on, chunks first."""
    return list(
        dict.fromkeys(kind for method in advice_methods() if (kind := build_of(method.line)))
    )


def default_writer(models: Models) -> str:
    """Return the default writer of the questions.

    It is the language model of the role “answer” if that is available, else names.
    """
    return QUESTIONS_BY_MODEL if models.info(ADVICE_WRITER_ROLE).present else QUESTIONS_BY_NAMES


def estimate_advice_cost(
    corpus: Corpus,
    models: Models,
    by: str = "",
    minutes: float = DEFAULT_ADVICE_MINUTES,
    watch: Watch = NO_WATCH,
) -> AdviceCostEstimate:
    """Return the expected cost of an answer.

    The documents are cut into chunks for that, and nothing else is run.

    Parameters
    ----------
    corpus : the corpus.
    models : the registry, for the speeds and prices of models.
    by : who writes the questions; empty for the default.
    minutes : limit of the evaluation.
    watch : receives the progress; what it raises stops the work.

    Returns
    -------
    The graphs to build, their seconds, and the language model with its tokens.

    Raises
    ------
    BadInput, StoreError : the corpus cannot be read.
    """
    build_specs = [build_for(corpus, kind) for kind in graph_kinds()]
    missing_builds = [one for one in build_specs if not build_status(corpus, one).current]
    build_seconds = [
        0.0
        if find_shipped_build(corpus, one)
        else estimate_cost(corpus, one, models, watch).seconds
        for one in missing_builds
    ]
    seconds = sum(filter(None, build_seconds)) if None not in build_seconds else None
    if (by or default_writer(models)) != QUESTIONS_BY_MODEL:
        return AdviceCostEstimate(
            tuple(one.title for one in missing_builds), seconds, minutes=minutes
        )
    reply_figures = SavedReplies().measured(models.weights(ADVICE_WRITER_ROLE))
    return AdviceCostEstimate(
        tuple(one.title for one in missing_builds),
        seconds,
        models.title(ADVICE_WRITER_ROLE),
        reply_figures[0] if reply_figures else None,
        minutes,
    )
