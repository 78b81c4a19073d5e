"""Changes from one method to another: stages that lose questions.

A flow diagram (assets/flow) has the stages of the first method on the left and those of the second
on the right. A band connects the stages at which the two methods lose the same questions, or get
them right. A click on a band lists its questions.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from functools import lru_cache, partial
from typing import Any

import streamlit as st

from core.errors import HopscopeError
from core.evaluation.repairs.lost_questions import reopen_question
from core.evaluation.reports.flow import (
    PASSAGE_MEASURE,
    READER_MEASURE,
    Band,
    Flow,
    flow,
    flow_layout,
)
from core.evaluation.reports.method_names import method_titles
from core.evaluation.reports.summary import RunSummary
from core.evaluation.runs.store import Run
from pages.parts.evaluate.questions import draw_ask_link, open_question
from pages.parts.evaluate.recommendation import recommend
from pages.parts.evaluate.run_progress import job_of, summary
from pages.parts.shared.actions import button
from pages.parts.shared.scripts import component
from pages.parts.shared.sentences import caption
from pages.parts.shared.session import engine, store
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr

MAX_BAND_QUESTIONS = 20  # questions of a band that are listed until the user asks for all
MAX_EXPLAINED_QUESTIONS = 100  # questions of a band whose causes are determined
# By the stages before and after of a band: causes with their counts, the most frequent first.
BandCauses = dict[tuple[str, str], tuple[tuple[str, int], ...]]
RIGHT_RULES = {
    PASSAGE_MEASURE: tr(
        "A question counts as right if all its evidence is found, and in the prompt if one is "
        "written."
    ),
    READER_MEASURE: tr(
        "A question counts as right if the first answer read from the graph is correct."
    ),
}
ANSWER_RIGHT_RULE = tr("A question counts as right if the answer holds a correct answer.")


def draw_changes(results: RunSummary) -> None:
    """Draw the tab: the choice of two methods, the picture, and the questions of a band."""
    run = results.run
    names = method_titles(run)
    if len(names) < 2:
        caption("There is only one method; changes are drawn between two.")
        return
    a, b = _choose_methods(results, names)
    if a == b:
        caption("Choose two different methods.")
        return
    method_flow = flow(results, a, b)
    if method_flow is None:
        caption("No question that both were asked has a correct answer, so nothing can be drawn.")
        return
    job = job_of(run)
    causes: BandCauses = {}
    if job is None or job.has_ended:  # they take seconds, and change with each new answer
        causes = dict(_causes(run.id, run.created, run.done, run.failed, a, b))
    _draw_picture(run, method_flow, names, causes)
    _draw_band_questions(run, method_flow, names, causes)


def _choose_methods(results: RunSummary, names: dict[str, str]) -> tuple[str, str]:
    """Draw the choice of two methods, and return their ids.

    By default these are the first method and the recommended one, or the second.
    """
    advice = recommend(results.run)
    advised_method = advice.take if advice is not None and advice.take != results.methods[0] else ""
    options = list(names)
    with st.container(horizontal=True):
        field_options: dict[str, Any] = {
            "format_func": names.__getitem__,
            "width": 420,
            "persist_state": "session",
        }
        a = st.selectbox(tr("From"), options, 0, key=f"flow_from_{results.run.id}", **field_options)
        b = st.selectbox(
            tr("To"),
            options,
            options.index(advised_method) if advised_method else 1,
            key=f"flow_to_{results.run.id}",
            **field_options,
        )
    return a, b


def _draw_picture(run: Run, flow: Flow, names: dict[str, str], causes: BandCauses) -> None:
    """Draw the flow diagram, whose bands can be clicked."""
    key = (run.id, flow.a, flow.b)
    labels = {  # only of bands of questions that one of the methods got right
        (band.before, band.after): f"{len(band.questions):,} {band.label}"
        for band in flow.bands
        if band.kind in ("won", "lost")
    }
    layout = flow_layout(flow, labels)
    for band_data, band in zip(layout["bands"], flow.bands):
        reason = _reason(band, causes.get((band.before, band.after), ()))
        title = ": ".join(filter(None, (_band_title(band, flow, names), reason)))
        band_data["reason"] = reason
        band_data["title"] = tr("{band}. Press to list them.", band=title)
    flow_key, open_band = session.evaluate_band
    label = tr("From {a} to {b}", a=names[flow.a], b=names[flow.b])

    def open_pressed_band() -> None:
        stages = session.evaluate_flow.opened
        if stages is not None:
            session.evaluate_band = (key, (str(stages[0]), str(stages[1])))

    data = {**layout, "label": label, "chosen": ">".join(open_band) if flow_key == key else ""}
    note = ""
    if flow.left_out:
        note = tr(
            "{questions} left out: not asked of both, or without a correct answer.",
            questions=many(flow.left_out, "question"),
        )
    rule = RIGHT_RULES.get(flow.measure, ANSWER_RIGHT_RULE)
    legend = tr("Each band stands for questions (n = {n:,}); press one to list them.", n=flow.n)
    st.caption(plain(f"{legend} {rule} {note}"))
    component("flow")(key=Session.evaluate_flow.name, data=data, on_opened_change=open_pressed_band)


def _band_title(band: Band, flow: Flow, names: dict[str, str]) -> str:
    """Return the number of a band's questions and their stages, in words."""
    count = many(len(band.questions), "question")
    stage_before = flow.stage_label(band.before)
    stage_after = flow.stage_label(band.after)
    if stage_before == stage_after:
        return tr("{count}: {before} with both", count=count, before=stage_before)
    changed = f" {band.label}" if band.kind in ("won", "lost") else ""
    return tr(
        "{count}{changed}: {before} with {a}, {after} with {b}",
        count=count,
        changed=changed,
        before=stage_before,
        a=names[flow.a],
        after=stage_after,
        b=names[flow.b],
    )


def _reason(band: Band, causes: tuple[tuple[str, int], ...]) -> str:
    """Return the most frequent cause of a band's change.

    For won questions it is the opposite of the cause why the first method lost them. Empty for
    bands without a change.
    """
    if not causes or band.kind not in ("won", "lost"):
        return ""
    words, count = causes[0]
    share = f" ({count:,})" if count < len(band.questions) else ""
    return (words if band.kind == "lost" else opposite_cause(words)) + share


def opposite_cause(words: str) -> str:
    """Return the opposite of a cause of loss.

    >>> from pages.parts.evaluate.method_changes import opposite_cause
    >>> opposite_cause("not in the prompt"), opposite_cause("never reached"), opposite_cause("ranked too low")
    ('now in the prompt', 'now reached', 'no longer ranked too low')
    """
    first, _, rest = words.partition(" ")
    if first in ("not", "never"):
        return tr("now {rest}", rest=rest)
    return tr("no longer {words}", words=words)


@lru_cache(maxsize=32)
def _causes(run_id: int, created: float, done: int, failed: int, a: str, b: str) -> tuple:
    """Return the causes of the losses, as items of `BandCauses`.

    The losing method is the first one (`a`) for questions that the second one (`b`) wins, otherwise
    the second one. Bands of failed questions, and of questions without a change, are left out. For
    a question that cannot be opened any more, the stage is the cause. The numbers of rows, `done`
    and `failed`, are part of the cache's key: a run that advances has its causes computed again.
    """
    results = summary(run_id)
    method_flow = flow(results, a, b)
    if method_flow is None:
        return ()
    drawn_by_question = {drawn.question.id: drawn for drawn in store().drawn_questions(run_id)}
    specs = {spec["id"]: spec for spec in results.run.spec["instances"]}
    causes = []
    for band in method_flow.bands:
        method, stage = (a, band.before) if band.kind == "won" else (b, band.after)
        if band.kind not in ("won", "lost") or stage == "failed":
            continue
        words: Counter[str] = Counter()
        for question in band.questions[:MAX_EXPLAINED_QUESTIONS]:
            lost = None
            with suppress(HopscopeError):
                lost = reopen_question(
                    engine(), store(), results.run, specs[method], drawn_by_question[question]
                )
            words[method_flow.stage_label(stage) if lost is None else lost.words(stage)] += 1
        causes.append(((band.before, band.after), tuple(words.most_common())))
    return tuple(causes)


def _draw_band_questions(run: Run, flow: Flow, names: dict[str, str], causes: BandCauses) -> None:
    """Draw the questions of the open band, with buttons that open them or ask them again."""
    key, stages = session.evaluate_band
    bands = {(band.before, band.after): band for band in flow.bands}
    if stages not in bands or key != (run.id, flow.a, flow.b):
        return
    band = bands[stages]
    st.markdown(f"**{plain(_band_title(band, flow, names))}**")
    if reasons := causes.get(stages):
        method_name = names[flow.a if band.kind == "won" else flow.b]
        caption(
            "Why {who} loses them: {reasons}.",
            who=method_name,
            reasons=", ".join(f"{words} {count:,}" for words, count in reasons),
        )
    drawn_by_question = {drawn.question.id: drawn for drawn in store().drawn_questions(run.id)}
    questions = band.questions
    if len(questions) > MAX_BAND_QUESTIONS and not st.toggle(
        tr("Show all {shown:,}", shown=len(questions)), key=f"flow_all_{run.id}"
    ):
        questions = questions[:MAX_BAND_QUESTIONS]
    with st.container(border=True, gap="small", key="flow-questions"):
        for question in questions:
            with st.container(horizontal=True, vertical_alignment="center"):
                st.text(drawn_by_question[question].question.text, width="stretch")
                button(
                    tr("Open"),
                    partial(open_question, question),
                    key=f"flow-open-{question}",
                    help=tr("As this evaluation ran it."),
                )
                draw_ask_link(run, drawn_by_question[question], (flow.a, flow.b))
