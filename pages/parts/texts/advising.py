"""Advice whether the documents need a graph.

Questions are made of the documents and asked by methods with and without a graph.
"""

from __future__ import annotations

import streamlit as st
from cachetools import LRUCache

from core.builds import build_for, status
from core.corpus import Corpus
from core.corpus.corpus import OWNED_AS
from core.errors import HopscopeError
from core.evaluation.advice.advising import job_key, start
from core.evaluation.advice.answer import Answer, answer
from core.evaluation.advice.plan import ROLE, estimate, kinds, usual_writer
from core.evaluation.advice.roadmap import Asked, advised, measured
from core.evaluation.advice.saved import BY_MODEL, BY_NAMES, Advice, saved_advice
from core.evaluation.reports.summary import Summary
from core.io.durations import span
from core.runtime.jobs import CANCELLED, Job
from pages.parts.shared.actions import button, shown_errors
from pages.parts.shared.people import barred
from pages.parts.shared.sentences import caption, write
from pages.parts.shared.session import engine, store
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr
from pages.parts.shared.working import begun_elsewhere, working
from pages.parts.texts.building import counted

TITLE = tr("Do I need a graph at all?")
STOPPED = tr("Cancelled. What was done is saved, and goes on from there.")
_answers: LRUCache[tuple, Answer] = LRUCache(16)  # by evaluation and its progress
WRITERS = {BY_MODEL: tr("a language model, checked"), BY_NAMES: tr("names in the texts")}


def advice(corpus: Corpus) -> None:
    """Draw the answer, the progress, or the form.

    The form has the expected cost and the start button.
    """
    job, before = engine().evaluations.get(job_key(corpus.name)), saved_advice(corpus)
    at_work = job is not None and not job.ended
    current = before is not None and before.corpus == corpus.digest
    answered = before is not None and before.done and current and not at_work
    label = TITLE
    if before is not None and answered and before.headline:
        label = f"{TITLE} **{plain(before.headline)}**"
    box = st.expander(
        label,
        job is not None,
        key=f"advice-{corpus.name}",
        icon=":material/balance:",
        on_change="rerun",
    )
    if not at_work:
        begun_elsewhere(job_key(corpus.name))
    if not box.open and not at_work:
        return
    with box:
        if job is not None and (at_work or job.error or job.status == CANCELLED):
            working(job, f"advice-{corpus.name}", STOPPED, share=True)
        if not at_work:
            if before is not None and before.done:
                _answered(corpus, before, current)
            else:
                _form(corpus, before if current else None)


def _answered(corpus: Corpus, before: Advice, current: bool) -> None:
    """Draw the answer, its reasons, and the form for another one."""
    found = _answer(before)
    if found is None:
        caption("The figures of the last answer were deleted.")
        _form(corpus, None)
        return
    if not current:
        caption("The documents have changed since. This was the answer before:")
        st.write(plain(found.headline))
    if found.kinds:
        _kinds(found)
    st.caption(plain(" ".join(found.caveats)))
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.popover(tr("Which method, and why"), icon=":material/info:"):
            for sentence in found.details or (found.headline,):
                st.write(plain(sentence))
        with st.popover(tr("How the questions were made"), icon=":material/quiz:"):
            for sentence in found.made:
                st.write(plain(sentence))
        with st.popover(tr("What the paper recommends"), icon=":material/alt_route:"):
            _roadmap(corpus, found)
        with st.popover(tr("Ask anew"), icon=":material/refresh:"):
            _form(corpus, before)
        figures = {"run": str(before.run)}
        st.page_link(
            "pages/evaluate.py",
            label=tr("All figures and questions"),
            icon=":material/bar_chart:",
            query_params=figures,
        )
        caption("It took {span}.", span=span(before.seconds))


def _kinds(found: Answer) -> None:
    """Draw the kinds of questions as a table."""
    share = lambda name, value: f"{plain(name)}: {value:.2f}"
    caption(
        "Share of the passages that answer a question among the first four, of the best method of "
        "either side"
    )
    st.table(
        [
            {
                tr("Questions"): plain(f"{kind.name} ({kind.number:,})"),
                tr("Without a graph"): share(kind.plain, kind.plain_share),
                tr("With a graph"): share(kind.graph, kind.graph_share),
                tr("Tested"): plain(kind.difference),
                tr("What they favour"): plain(kind.favours),
            }
            for kind in found.kinds
        ],
        hide_index=True,
    )


def _roadmap(corpus: Corpus, found: Answer) -> None:
    """Draw the paper's roadmap.

    Its questions lead to a method. The figures measured on these documents are added.
    """
    caption(
        "The roadmap of the In-depth Analysis of Graph-based RAG (Figure 13): from what is asked "
        "to the method that it recommends."
    )
    answers: dict[str, str] = {}
    while isinstance(step := advised(answers), Asked):
        options = step.options
        given = st.radio(
            step.title,
            list(options),
            None,
            key=f"roadmap-{corpus.name}-{step.key}",
            format_func=options.__getitem__,
            horizontal=True,
        )
        if given is None:
            return
        answers[step.key] = given
    st.markdown(f"**{plain(step.name)}**")
    for sentence in (*step.words(), measured(step, found.shares, found.names, found.asked)):
        st.write(plain(sentence))


def _answer(before: Advice) -> Answer | None:
    """Return the answer from the saved rows; None if they were deleted."""
    try:
        run = store().run(before.run)
    except HopscopeError:
        return None
    key = (run.id, run.created, run.done, before.seconds)
    if key not in _answers:
        _answers[key] = answer(Summary(run, store().rows(run.id)), before)
    return _answers[key]


def _form(corpus: Corpus, before: Advice | None) -> None:
    """Draw who makes the questions, the expected cost, and the start button."""
    done, begun = before is not None and before.done, before is not None and not before.done
    if not done:
        write(
            "Questions are made from these texts, each with the passages that answer it. They are "
            "asked of search by words, by vectors and by both, and of four methods on graphs. The "
            "answer is a sentence."
        )
    by = _writer(corpus, before)
    expected = _expected(corpus, by)
    if not expected.ended:
        counted(expected)
        return
    if expected.error or expected.result is None:
        st.error(plain(expected.error or tr("Counting was cancelled.")))
        return
    st.caption(
        plain(" ".join([tr("Other questions are drawn.")] * done + [expected.result.words()]))
    )
    words = tr("Go on") if begun else tr("Start") if done else tr("Find out")
    pressed = button(
        words,
        key=f"advise-{corpus.name}",
        type="secondary" if done else "primary",
        icon="play_arrow",
        why_not=barred(OWNED_AS, corpus.name) if corpus.own else "",
    )
    if not done:
        with st.popover(tr("What the paper recommends"), icon=":material/alt_route:"):
            _roadmap(corpus, Answer("", ""))
    if pressed:
        seed = before.seed + done if before is not None else 0
        with shown_errors():
            start(engine(), store(), corpus, by=by, seed=seed)
            st.rerun()


def _writer(corpus: Corpus, before: Advice | None) -> str:
    """Draw and return who makes the questions.

    Without a language model, names in the texts are used. The earlier choice is selected at first.
    """
    if usual_writer(engine().models) != BY_MODEL:
        return BY_NAMES
    return st.radio(
        tr("The questions are made by"),
        list(WRITERS),
        list(WRITERS).index(before.by) if before is not None else 0,
        key=f"advice_writer_{corpus.name}",
        format_func=lambda by: (
            f"{WRITERS[by]} ({engine().models.title(ROLE)})" if by == BY_MODEL else WRITERS[by]
        ),
        horizontal=True,
        persist_state="session",
    )


def _expected(corpus: Corpus, by: str) -> Job:
    """Return the job that estimates the cost."""
    there = [status(corpus, build_for(corpus, kind)).current for kind in kinds()]
    key = f"cost-advice-{corpus.digest}-{by}-{there}"
    return engine().jobs.run(key, lambda job: estimate(corpus, engine().models, by, watch=job))
