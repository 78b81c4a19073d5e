"""Plan of the answer to “do I need a graph?”: methods, graphs, limits and expected cost."""

from __future__ import annotations

from dataclasses import dataclass

from core.builds import build_for, status
from core.builds.cost import cost
from core.builds.shipped import ships
from core.comparison.run import build_of
from core.corpus import Corpus
from core.evaluation.advice.saved import BY_MODEL, BY_NAMES
from core.instances.catalogue import Instance, catalogue
from core.io.durations import roughly, span
from core.models.base import Models
from core.models.chat.saved_replies import SavedReplies
from core.watch import NO_WATCH, Watch

PLAIN = ("bm25-passages", "vanilla-rag", "hybrid")
GRAPHS = ("hipporag-2", "lgraphrag", "h-lightrag", "kgp")
"""Methods with a graph, one for each kind of graph.

Each retrieves passages without asking a language model: PageRank on a knowledge graph, local search
on a textual one, LightRAG on a rich one, and neighbours on a passage graph. VGraphRAG is left out,
because its passages are those of a vector search, and PathRAG, because its row ranks whole
documents.
"""
ROLE = "answer"  # role of the language model that writes questions
MINUTES = 10.0
MOST_QUESTIONS = 120
# Maximum questions by a language model, and the share of the time that they may take.
BY_MODEL_AT_MOST, MODEL_SHARE = (40, 0.4)
# Maximum replies per accepted question, and tokens read and written per reply.
CALLS_EACH, READ_EACH, WRITTEN_EACH = (5, 400, 30)
LEAST = 24  # questions that are asked even if they exceed the time
PILOT = 3  # questions that are asked first, to measure their time
SPARE = 0.85  # share of the remaining time that the questions may take
# Positions of the progress bar when the graphs and the questions are done.
GRAPH_PART, QUESTION_PART = 0.35, 0.65


@dataclass(frozen=True)
class Estimate:
    """Expected cost of an answer.

    `builds` are the titles of the graphs to build, and `seconds` their time, None if it is unknown.
    `writer` is the language model that writes questions, and `reply` the seconds of one of its
    replies, if they are known.
    """

    builds: tuple[str, ...]
    seconds: float | None
    writer: str = ""
    reply: float | None = None
    minutes: float = MINUTES

    def words(self) -> str:
        """Return the cost in sentences."""
        known = "; how long that takes here is known once one was built"
        if self.seconds:
            known = f", {roughly(self.seconds)} here"
        graphs = "All graphs are there already."
        if self.builds:
            graphs = f"{len(self.builds)} of {len(GRAPHS) + 1} graphs are to be built{known}."
        if self.writer:
            limit = self.minutes * MODEL_SHARE
            took = f", each {span(self.reply)} here" if self.reply else ""
            asked = (
                f"{self.writer} writes questions and checks them, for at most {limit:.0f} "
                f"minutes: up to {BY_MODEL_AT_MOST * CALLS_EACH:,} replies of about "
                f"{READ_EACH + WRITTEN_EACH:,} tokens{took}; names in the texts give the others."
            )
        else:
            asked = "Questions are made from names in the texts, and no language model is asked."
        asking = (
            f"How many of up to {MOST_QUESTIONS} are asked is measured, so that all of it takes "
            f"about {self.minutes:.0f} minutes."
        )
        if self.seconds is not None and self.seconds > self.minutes * 60:
            asking = (
                f"The graphs alone take longer than {self.minutes:.0f} minutes; then {LEAST} "
                "questions are asked."
            )
        return f"{graphs} {asked} {asking}"


def instances() -> tuple[Instance, ...]:
    """Return the methods to compare, those without a graph first."""
    known = catalogue()
    return tuple(known[id] for id in (*PLAIN, *GRAPHS))


def kinds() -> list[str]:
    """Return the kinds of graphs that the methods run on, chunks first."""
    return list(
        dict.fromkeys(kind for instance in instances() if (kind := build_of(instance.line)))
    )


def usual_writer(models: Models) -> str:
    """Return the default writer of the questions.

    It is the language model of the role “answer” if that is available, else names.
    """
    return BY_MODEL if models.info(ROLE).present else BY_NAMES


def estimate(
    corpus: Corpus,
    models: Models,
    by: str = "",
    minutes: float = MINUTES,
    watch: Watch = NO_WATCH,
) -> Estimate:
    """Return the expected cost of an answer.

    The documents are cut into chunks for that, and nothing else is run. Raises BadInput,
    StoreError, and the errors of `watch`.
    """
    wanted = [build_for(corpus, kind) for kind in kinds()]
    absent = [one for one in wanted if not status(corpus, one).current]
    asked = [
        0.0 if ships(corpus, one) else cost(corpus, one, models, watch).seconds for one in absent
    ]
    seconds = sum(filter(None, asked)) if None not in asked else None
    if (by or usual_writer(models)) != BY_MODEL:
        return Estimate(tuple(one.title for one in absent), seconds, minutes=minutes)
    known = SavedReplies().measured(models.weights(ROLE))
    return Estimate(
        tuple(one.title for one in absent),
        seconds,
        models.title(ROLE),
        known[0] if known else None,
        minutes,
    )
