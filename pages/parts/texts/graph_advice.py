"""Advice on whether a corpus needs a graph.

Questions are made from the documents and answered by methods with and without a graph.
"""

from __future__ import annotations

import streamlit as st
from cachetools import LRUCache

from core.builds import build_for, build_status
from core.corpus import Corpus
from core.corpus.corpus import CORPUS_OWNED_KIND
from core.errors import HopscopeError
from core.evaluation.advice.advice_state import (
    QUESTIONS_BY_MODEL,
    QUESTIONS_BY_NAMES,
    Advice,
    load_advice,
)
from core.evaluation.advice.advisor import advice_job_key, start_advice
from core.evaluation.advice.answer import AdviceAnswer, answer
from core.evaluation.advice.plan import (
    ADVICE_WRITER_ROLE,
    default_writer,
    estimate_advice_cost,
    graph_kinds,
)
from core.evaluation.advice.roadmap import RoadmapQuestion, measured_sentence, next_roadmap_step
from core.evaluation.reports.summary import RunSummary
from core.io.durations import duration_text
from core.runtime.jobs import JOB_CANCELLED, Job
from pages.parts.shared.actions import button, shown_errors
from pages.parts.shared.job_progress import draw_job, rerun_when_started
from pages.parts.shared.people import visitor_refusal
from pages.parts.shared.sentences import caption, write
from pages.parts.shared.session import engine, store
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr
from pages.parts.texts.graph_builds import draw_cost_progress
from pages.parts.texts.text_trail import ADVICE_VIEW

ADVICE_TITLE = ADVICE_VIEW
ADVICE_CANCELLED_NOTE = tr("Cancelled. What was done is saved, and goes on from there.")
# Answers by their evaluation and its progress, since reading the rows of an evaluation takes time.
_answers: LRUCache[tuple, AdviceAnswer] = LRUCache(16)
QUESTION_MAKERS = {
    QUESTIONS_BY_MODEL: tr("a language model, checked"),
    QUESTIONS_BY_NAMES: tr("names in the texts"),
}


def draw_advice_card(corpus: Corpus) -> None:
    """Draw the answer in a sentence, or the progress, with a button to the details."""
    st.markdown(f"**{ADVICE_TITLE}**")
    job = _advice_job(corpus)
    record = _current_record(corpus)
    is_running = job is not None and not job.has_ended
    if job is not None and (is_running or job.error) and session.texts_view != ADVICE_VIEW:
        draw_job(job, f"advice-card-{corpus.name}", share=True)
    elif record is not None and record.done and record.headline:
        st.write(plain(record.headline))
        caption("By {questions} made from these texts.", questions=many(record.size, "question"))
    elif not is_running:
        caption("Not measured yet. Made questions are asked with and without a graph.")
    if not is_running:
        rerun_when_started(advice_job_key(corpus.name))
    label = tr("Details") if is_running or record is not None else tr("Find out…")
    button(label, lambda: Session.texts_view.put(ADVICE_VIEW), key=f"advice-open-{corpus.name}")


def draw_graph_advice(corpus: Corpus) -> None:
    """Draw the answer, the progress, or the form with the expected cost."""
    job = _advice_job(corpus)
    record = load_advice(corpus)
    current = _current_record(corpus)
    is_running = job is not None and not job.has_ended
    if current is not None and current.headline and not is_running:
        st.markdown(f"**{plain(current.headline)}**")
    if job is not None and (is_running or job.error or job.status == JOB_CANCELLED):
        draw_job(job, f"advice-{corpus.name}", ADVICE_CANCELLED_NOTE, share=True)
    if not is_running:
        _draw_answer_or_form(corpus, record, current is not None)


def _advice_job(corpus: Corpus) -> Job | None:
    return engine().evaluations.get(advice_job_key(corpus.name))


def _current_record(corpus: Corpus) -> Advice | None:
    """Return the saved advice, None if it is of earlier documents."""
    record = load_advice(corpus)
    return record if record is not None and record.corpus == corpus.digest else None


def _draw_answer_or_form(corpus: Corpus, record: Advice | None, is_current: bool) -> None:
    """Draw the answer if there is one, else the form."""
    if record is not None and record.done:
        _draw_answer(corpus, record, is_current)
    else:
        _draw_form(corpus, record if is_current else None)


def _draw_answer(corpus: Corpus, record: Advice, is_current: bool) -> None:
    """Draw the answer, its reasons, and the form for another one."""
    advice_answer = _answer(record)
    if advice_answer is None:
        caption("The figures of the last answer were deleted.")
        _draw_form(corpus, None)
        return
    if not is_current:
        caption("The documents have changed since. This was the answer before:")
        st.write(plain(advice_answer.headline))
    if advice_answer.kinds:
        _draw_kinds(advice_answer)
    st.caption(plain(" ".join(advice_answer.caveats)))
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.popover(tr("Which method, and why"), icon=":material/info:"):
            for sentence in advice_answer.details or (advice_answer.headline,):
                st.write(plain(sentence))
        with st.popover(tr("How the questions were made"), icon=":material/quiz:"):
            for sentence in advice_answer.made:
                st.write(plain(sentence))
        with st.popover(tr("What the paper recommends"), icon=":material/alt_route:"):
            _draw_roadmap(corpus, advice_answer)
        with st.popover(tr("Run again"), icon=":material/refresh:"):
            _draw_form(corpus, record)
        run_parameters = {"run": str(record.run)}
        st.page_link(
            "pages/evaluate.py",
            label=tr("All figures and questions"),
            icon=":material/bar_chart:",
            query_params=run_parameters,
        )
        caption("It took {span}.", span=duration_text(record.seconds))


def _draw_kinds(advice_answer: AdviceAnswer) -> None:
    """Draw the kinds of questions as a table."""
    caption(
        "Share of the passages that answer a question among the first four, of the best method of "
        "either side"
    )
    st.table(
        [
            {
                tr("Questions"): plain(f"{kind.name} ({kind.number:,})"),
                tr("Without a graph"): f"{plain(kind.plain)}: {kind.plain_share:.2f}",
                tr("With a graph"): f"{plain(kind.graph)}: {kind.graph_share:.2f}",
                tr("Test result"): plain(kind.difference),
                tr("What they favour"): plain(kind.favours),
            }
            for kind in advice_answer.kinds
        ],
        hide_index=True,
    )


def _draw_roadmap(corpus: Corpus, advice_answer: AdviceAnswer) -> None:
    """Draw the paper's roadmap, whose questions lead to a method, with figures measured here."""
    caption(
        "The roadmap of the In-depth Analysis of Graph-based RAG (Figure 13): from what is asked "
        "to the method that it recommends."
    )
    answers: dict[str, str] = {}
    while isinstance(step := next_roadmap_step(answers), RoadmapQuestion):
        options = step.options
        step_choice = st.radio(
            step.title,
            list(options),
            None,
            key=f"roadmap-{corpus.name}-{step.key}",
            format_func=options.__getitem__,
            horizontal=True,
        )
        if step_choice is None:
            return
        answers[step.key] = step_choice
    st.markdown(f"**{plain(step.name)}**")
    measured = measured_sentence(
        step, advice_answer.shares, advice_answer.names, advice_answer.asked
    )
    for sentence in (*step.words(), measured):
        st.write(plain(sentence))


def _answer(record: Advice) -> AdviceAnswer | None:
    """Return the answer from the saved rows of the evaluation.

    It is None if they were deleted.
    """
    try:
        run = store().run(record.run)
    except HopscopeError:
        return None
    key = (run.id, run.created, run.done, record.seconds)
    if key not in _answers:
        _answers[key] = answer(RunSummary(run, store().rows(run.id)), record)
    return _answers[key]


def _draw_form(corpus: Corpus, record: Advice | None) -> None:
    """Draw the choice of the questions' maker, the expected cost, and the start button."""
    is_done = record is not None and record.done
    if not is_done:
        write(
            "Questions are made from these texts, each with the passages that answer it. They are "
            "asked of search by words, by vectors and by both, and of four methods on graphs. The "
            "answer is a sentence."
        )
    maker = _choose_question_maker(corpus, record)
    cost_job = _cost_job(corpus, maker)
    if not cost_job.has_ended:
        draw_cost_progress(cost_job)
        return
    if cost_job.error or cost_job.result is None:
        st.error(plain(cost_job.error or tr("Counting was cancelled.")))
        return
    sentence = cost_job.result.words()
    label = tr("Find out")
    if record is not None:
        label = tr("Start") if is_done else tr("Go on")
    if is_done:
        sentence = f"{tr('Other questions are drawn.')} {sentence}"
    st.caption(plain(sentence))
    pressed = button(
        label,
        key=f"advise-{corpus.name}",
        type="secondary" if is_done else "primary",
        icon="play_arrow",
        why_not=visitor_refusal(CORPUS_OWNED_KIND, corpus.name) if corpus.own else "",
    )
    if not is_done:
        with st.popover(tr("What the paper recommends"), icon=":material/alt_route:"):
            _draw_roadmap(corpus, AdviceAnswer("", ""))
    if pressed:
        # A repeated run draws other questions, so it has the next seed.
        seed = record.seed + is_done if record is not None else 0
        with shown_errors():
            start_advice(engine(), store(), corpus, by=maker, seed=seed)
            st.rerun()


def _choose_question_maker(corpus: Corpus, record: Advice | None) -> str:
    """Draw the choice of the questions' maker.

    Return its key in `QUESTION_MAKERS`. Without a language model there is no choice: the questions
    are made from names. The maker of `record` is selected at first.
    """
    if default_writer(engine().models) != QUESTIONS_BY_MODEL:
        return QUESTIONS_BY_NAMES
    return st.radio(
        tr("The questions are made by"),
        list(QUESTION_MAKERS),
        list(QUESTION_MAKERS).index(record.by) if record is not None else 0,
        key=f"advice_writer_{corpus.name}",
        format_func=lambda by: (
            f"{QUESTION_MAKERS[by]} ({engine().models.title(ADVICE_WRITER_ROLE)})"
            if by == QUESTIONS_BY_MODEL
            else QUESTION_MAKERS[by]
        ),
        horizontal=True,
        persist_state="session",
    )


def _cost_job(corpus: Corpus, maker: str) -> Job:
    """Return the job that estimates the cost.

    A new job is started when a graph was built or became outdated.
    """
    is_built = [build_status(corpus, build_for(corpus, kind)).is_current for kind in graph_kinds()]
    key = f"cost-advice-{corpus.digest}-{maker}-{is_built}"
    return engine().jobs.run(
        key, lambda job: estimate_advice_cost(corpus, engine().models, maker, watch=job)
    )
