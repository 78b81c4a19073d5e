"""Known answers of a corpus, followed from its documents to a method's answer, in a line."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import streamlit as st

from core.evaluation.reports import answer_trail
from core.sources import CorpusSource
from core.types import Question
from pages.parts.shared.job_progress import draw_job
from pages.parts.shared.session import engine, store
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr
from pages.parts.texts.graph_view import PageGraph

MAX_LISTED_LOSSES = 30  # most answers or questions that are listed for a stage
STAGE_PHRASES = {
    "corpus": tr("in the documents"),
    "chunks": tr("in chunks"),
    "graph": tr("in the graph"),
    "retrieved": tr("found"),
    "prompt": tr("in the prompt"),
    "answer": tr("in the answer"),
}


def draw_answer_trail(page: PageGraph, questions: Sequence[Question]) -> None:
    """Draw how many known answers reach each stage, with what is lost behind it."""
    corpus, graph = page.corpus, page.graph
    version = f"{corpus.digest}-{graph.digest if graph else ''}-{hash(tuple(questions))}"
    job = engine().background_jobs.run(
        f"answer-trail-{version}",
        lambda job: answer_trail.trace_in_corpus(corpus, graph, questions, job),
    )
    if not job.wait(0.3):
        draw_job(job, f"trail-{corpus.name}")
    if job.result is None or not job.result.n_answers:
        return
    evaluated = answer_trail.trace_in_evaluation(store(), CorpusSource(corpus.name))
    trails = list(filter(None, (job.result, evaluated)))
    for trail in trails:
        st.caption(plain(_trail_words(trail)))
    entries = chain.from_iterable(trail.lost.items() for trail in trails)
    losses = {STAGE_PHRASES[stage]: texts for stage, texts in entries if texts}
    if not losses:
        return
    with st.popover(tr("Where they are lost")):
        for stage, texts in losses.items():
            title = tr("Not {stage}: {n:,}", stage=stage, n=len(texts))
            st.markdown(f"**{plain(title)}**")
            st.caption("  \n".join(map(plain, texts[:MAX_LISTED_LOSSES])))


def _trail_words(trail: answer_trail.AnswerTrail) -> str:
    """Return the numbers of a trail as a sentence."""
    stages = ", ".join(f"{count:,} {STAGE_PHRASES[stage]}" for stage, count in trail.alive.items())
    answers = many(trail.n_answers, "answer")
    if trail.method:
        return tr(
            "By {method}, of {answers}: {stages}",
            method=trail.method,
            answers=answers,
            stages=stages,
        )
    return tr("Of {answers}: {stages}", answers=answers, stages=stages)
