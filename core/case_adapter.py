"""A comparison of the engine as a finished one that needs neither engine nor models, and back; the rating of a lane."""

from __future__ import annotations

from dataclasses import dataclass, replace

from core.cases.feedback import Rating
from core.cases.finished import Finished, FinishedLane
from core.comparison.build_title import build_title
from core.comparison.run import LaneRun
from core.corpus import Corpus
from core.diagnosis.funnel import saved_alive
from core.diagnosis.matching import match
from core.engine import Comparison, Lane
from core.environment import Environment
from core.graph.edits import Edit
from core.models.base import NoModels
from core.runtime.jobs import CANCELLED, DONE, FAILED
from core.sources import Ask, CorpusSource, GraphSource


@dataclass(frozen=True)
class Titles(NoModels):
    """In the place of the models of a finished lane: the title of the one that answered."""

    model: str | None = None

    def title(self, name: str) -> str:
        """The answering model's title as it was."""
        return self.model or name

    def signature(self, name: str | None = None) -> str:
        """No model is here."""
        return "finished"


def finished(comparison: Comparison) -> Finished:
    """A comparison as it is now; lanes that have not ended count as cancelled."""
    ask = comparison.ask
    lanes = tuple(_lane(comparison, lane) for lane in comparison.lanes)
    corpus = ask.source.name if ask.source.documents else ""
    edits = tuple(edit.written() for edit in ask.source.edits)
    return Finished(
        ask.source.graph,
        ask.question,
        ask.seeds,
        lanes,
        ask.seed,
        ask.reader,
        ask.model,
        corpus,
        edits,
    )


def comparison(finished: Finished, corpus: Corpus | None = None) -> Comparison:
    """A comparison that screens, reports and exports take like one that has just ended; `corpus` is the one asked, where it is here."""
    graph = finished.graph
    source = (
        CorpusSource(finished.corpus, graph, corpus) if finished.corpus else GraphSource.of(graph)
    )
    source = replace(source, edits=tuple(map(Edit.read, finished.edits)))
    ask = Ask(
        source, finished.question, finished.seeds, finished.seed, finished.reader, finished.model
    )
    lanes = []
    for lane in finished.lanes:
        run = LaneRun(
            ask,
            lane.instance.line,
            Environment(Titles(lane.model)),
            states=list(lane.states),
            own_graph=lane.graph,
        )
        text = "Cancelled" if lane.status == CANCELLED else ""
        ended = Lane(lane.instance, run, lane.status, text, lane.error, lane.answer, lane.retrieved)
        ended.repair, ended.rests, ended.build_title, ended.saved_alive = (
            lane.repair,
            lane.rests,
            lane.build_title,
            lane.saved_alive,
        )
        ended.influences, ended.beside = lane.influences, lane.beside
        ended.tried = True
        lanes.append(ended)
    return Comparison(ask, lanes)


def rating(comparison: Comparison, lane: Lane, up: bool) -> Rating:
    """The rating of a lane's answer: of the model's, or of a reader's where no model answered.

    Where no answers are known, those of the reader count that the model's answer names.
    """
    graph, question, state = lane.graph, comparison.ask.question, lane.state
    given = answer(comparison, lane)
    named = [
        name
        for name in graph.names(state.reader or ())
        if state.answer is None or match(given, name)
    ]
    sizes = next((step.sizes["nodes"] for step in state.trace if "nodes" in step.sizes), None)
    return Rating(
        question.text,
        getattr(graph, "origin", graph.digest),
        repr(lane.instance.line),
        given,
        up,
        question.entities,
        graph.name,
        lane.instance.name,
        question.answers or tuple(dict.fromkeys(named)),
        sizes,
        question.hops,
    )


def answer(comparison: Comparison, lane: Lane) -> str:
    """What a lane answers, as one text; empty where it gave no answer."""
    state = lane.state
    if state.answer is None and state.excerpt is not None:
        return state.excerpt.text
    return (
        state.answer
        if state.answer is not None
        else ", ".join(lane.graph.names(state.reader or ()))
    )


def _lane(comparison: Comparison, lane: Lane) -> FinishedLane:
    role = next(
        (operator.role for operator in lane.instance.line if operator.stage == "generate"), None
    )
    return FinishedLane(
        lane.instance,
        lane.states,
        lane.status if lane.status in (DONE, FAILED) else CANCELLED,
        lane.error,
        lane.answer,
        lane.retrieved,
        lane.run.environment.models.title(role) if role and comparison.ask.model else None,
        lane.repair,
        lane.rests,
        lane.influences,
        lane.beside,
        lane.run.own_graph,
        build_title(comparison, lane),
        saved_alive(comparison, lane),
    )
