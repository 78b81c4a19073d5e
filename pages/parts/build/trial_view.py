"""Trial of a line on one question, on the page Build.

The run itself is in trials.py. This module draws the question, the line with the result of each
operator, the answers, the paths and the prompt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from core.cases.examples import demo
from core.diagnosis.curves import Curve, curves
from core.diagnosis.step_outcomes import StepOutcome, step_outcomes
from core.diagnosis.wording import capitalised
from core.engine import MethodLane
from core.errors import HopscopeError
from core.graph.texts import hit_titles
from core.methods.catalogue import Method, method_of_line
from core.operators import OPERATORS
from core.operators.base import Line
from core.results import paths_list, prompt_dict
from core.runtime.jobs import Job
from core.sources import AnswerSource, source_in
from core.types import Step
from pages.parts.build.bench import Bench
from pages.parts.build.change import change_data
from pages.parts.build.component import draw_bricks
from pages.parts.build.line_drawing import line_data
from pages.parts.build.outcomes import block_outcomes
from pages.parts.build.sample_effect import handle_sample_click, sample_data, sample_job
from pages.parts.build.trials import (
    draw_run_error,
    question_text,
    trial_job,
    trials,
    waiting_steps_text,
)
from pages.parts.methods.advice import advice_data, trial_question
from pages.parts.question.permalink import Permalink
from pages.parts.shared.actions import button
from pages.parts.shared.sentences import caption
from pages.parts.shared.session import cancel_or_leave, chosen_source
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.source_words import words_of
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr

MAX_LISTED_PATHS = 200


def draw_question_row(bench: Bench) -> bool:
    """Draw the question and the button Run, or during a run Cancel.

    Return whether Run was clicked.
    """
    job = trial_job()
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        _draw_question()
        st.toggle(
            tr("Ask the language model"),
            key=Session.try_model.name,
            persist_state="session",
            help=tr("Off: the prompt is written and the answer is read from the graph. Faster."),
        )
        if job is not None and not job.has_ended:
            button(
                tr("Cancel"),
                partial(cancel_or_leave, job, "build"),
                key="try_cancel",
                icon="stop_circle",
            )
            return False
        return button(
            tr("Run"), type="primary", icon="play_arrow", key="try_run", disabled=bench.line is None
        )


def draw_trial(bench: Bench) -> None:
    """Draw the line, its results and the answers.

    While the run advances, the page is run again.
    """
    job = trial_job()
    handle_sample_click(bench, job.comparison if job is not None else None)
    version = _version()
    _draw_line(bench, job)
    draw_run_error()
    if job is not None:
        _draw_lane(job, job.comparison.lanes[-1], bench)
    if version is not None:

        @st.fragment(run_every=0.4)
        def follow() -> None:
            """Draw nothing, and run the page again when the run has advanced.

            If the fragment drew the line, the browser would take it for another component and lose
            the focus.
            """
            if _version() != version:
                st.rerun()

        follow()


def _version() -> tuple[int | None, ...] | None:
    """Return a value that changes as the runs advance.

    The runs are that of the line, and that on more questions. None if neither is running.
    """
    jobs = (trial_job(), sample_job())
    versions = tuple(None if job is None or job.has_ended else job.version for job in jobs)
    return None if versions == (None, None) else versions


def _draw_line(bench: Bench, job: Job | None) -> None:
    """Draw the line with its results and the effect of the last change.

    Results of an earlier question are not drawn. `outcomes` and `extra` are those of
    `block_outcomes`; a block that waits or failed has no `counts`.
    """
    outcomes: dict[int, dict[str, Any]] = {}
    extra: list[dict[str, Any]] = []
    change = None
    if job is not None and _is_same_question():
        waiting = waiting_steps_text(bench.line, job) if bench.line is not None else ""
        lane = job.comparison.lanes[-1]
        outcomes, extra = block_outcomes(job.comparison, lane, bench.draft, _steps(job), waiting)
        change = _last_change_effect(job)

    def block_curves(key: int) -> Mapping[str, Curve]:
        has_run = job is not None and "counts" in outcomes.get(key, {})
        return _curves(job, bench, key) if job is not None and has_run else {}

    with st.container(key="build-line"):
        data = line_data(
            bench,
            outcomes,
            extra,
            advice=lambda operator: advice_data(operator, trial_question()),
            curves=block_curves,
            documents=chosen_source().is_corpus,
        )
        is_running = job is not None and not job.has_ended
        data.update(change=change, running=is_running, held=bench.holds_baseline)
        draw_bricks(bench, data)


def _steps(job: Job) -> Sequence[StepOutcome]:
    """Return the outcome of each step so far."""
    lane = job.comparison.lanes[-1]
    return Session.try_outcomes.get_or_compute(
        (job.key, len(lane.states), lane.status), lambda: step_outcomes(job.comparison, lane)
    )


def _curves(job: Job, bench: Bench, key: int) -> Mapping[str, Curve]:
    """Return the effect of a block's parameter values, by parameter.

    Empty during a run, and for a block inside another one, such as a loop.
    """
    keys = [brick.key for brick in bench.draft.bricks]
    if key not in keys or not job.has_ended:
        return {}
    index = keys.index(key)
    return Session.try_curves.get_or_compute(
        (job.key, index, job.status),
        lambda: curves(job.comparison, job.comparison.lanes[-1], index),
    )


def _last_change_effect(job: Job) -> dict[str, Any] | None:
    """Return the effect of the last change of the line.

    During a run it is the effect of the previous change. The effect on more questions is added as
    `over`, for the board.
    """
    if not job.has_ended:
        # Its value is the key and the effect (see `SessionKey.get_or_compute`).
        return session.change[1] if session.change is not None else None
    runs = trials()
    effect = Session.change.get_or_compute(
        (job.key, repr(runs.line_before), job.status),
        lambda: change_data(job.comparison, runs.line_before, runs.line),
    )
    return None if effect is None else {**effect, "over": sample_data(job.comparison)}


def _is_same_question() -> bool:
    """Return whether the run has the typed question and source."""
    started = trials().started_for
    present = (question_text(), chosen_source())
    return started is not None and (started.question, started.source) == present


def draw_compare_link(line: Line | None, catalogue: Mapping[str, Method]) -> None:
    """Draw the link that runs this line on Compare.

    The default method of the source is run too.
    """
    baseline = chosen_source().default_methods[0]
    spec = method_of_line(line, catalogue).id if line is not None else baseline
    link = Permalink(
        question=session.try_question,
        lanes=tuple(dict.fromkeys((spec, baseline))),
        source=chosen_source(),
        model=session.try_model,
        is_typed=True,
    )
    st.link_button(
        tr("Compare"),
        link.address("./"),
        icon=":material/view_column:",
        disabled=line is None,
        help=tr("Opens this method beside {name} in a new tab.", name=catalogue[baseline].name),
    )


def _draw_question() -> None:
    """Draw the text box of the question, and the button Another.

    For a newly chosen source, the box has its first question.
    """
    source = chosen_source()
    sets = list(source.sets)
    if session.try_source != source:
        session.try_source = source
        session.try_question = _start_question(source)

    def draw_another() -> None:
        session.try_draws += 1
        set_name = sets[session.try_draws % len(sets)]
        session.try_question = _draw_random_question(source, set_name, session.try_draws)

    st.text_input(
        tr("Question"),
        key=Session.try_question.name,
        persist_state="session",
        placeholder=words_of(source).question_placeholder,
        label_visibility="collapsed",
    )
    if sets:
        button(
            tr("Another"),
            draw_another,
            icon="casino",
            key="try_draw",
            help=tr("Draw another question of the set."),
        )


def _start_question(source: AnswerSource) -> str:
    """Return the question to begin with.

    It is that of the first shipped comparison on the source, in which methods lose answers. Without
    one it is a question of the first set. Empty if there is no set.
    """
    for case in demo(source):
        if source_in(case.link) == source:
            return case.question
    first_set = next(iter(source.sets), None)
    return "" if first_set is None else _draw_random_question(source, first_set, 0)


def _draw_random_question(source: AnswerSource, set_name: str, seed: int) -> str:
    """Return the text of a random question of a set.

    The same seed gives the same question. Empty if the set cannot be read; the choice of a set on
    Compare shows the error.
    """
    try:
        return source.draw_question(set_name, seed).text
    except HopscopeError:
        return ""


def _draw_lane(job: Job, lane: MethodLane, bench: Bench) -> None:
    """Draw all results of the line so far."""
    if error := lane.error or job.error:
        st.error(plain(error))
    if lane.status == "cancelled":
        st.info(tr("Cancelled. Results so far are below."), icon=":material/stop_circle:")
    graph, state = lane.graph, lane.state
    if state.partly:
        text = tr(
            "Searched {partly}. Run again to search what has been added.", partly=state.partly
        )
        st.caption(f":material/hourglass_top: {plain(text)}")
    _draw_answers(job, lane)
    if state.paths is not None:
        st.markdown(tr("**Paths** · {paths:,} kept", paths=len(state.paths)))
        _draw_paths(graph, state)
    if state.trace:
        st.markdown(tr("**What each step did**"))
        rows = list(map(_step_row, state.trace))
        st.dataframe(
            {  # without empty columns
                column: [row[column] for row in rows]
                for column in rows[0]
                if any(row[column] for row in rows)
            },
            hide_index=True,
        )
    prompt = prompt_dict(state)
    if prompt["messages"]:
        source = f" · {plain(prompt['prompt_source'])}" if prompt["prompt_source"] else ""
        with st.expander(
            tr(
                "Prompt · about {prompt_tokens:,} tokens{shown}{source}",
                prompt_tokens=prompt["prompt_tokens"],
                shown="".join(f" · {count_text}" for count_text in _prompt_counts(prompt)),
                source=source,
            )
        ):
            st.code(prompt["prompt"], language=None, wrap_lines=True)


def _prompt_counts(prompt: Mapping[str, Any]) -> list[str]:
    """Return how many paths and hits of each kind a prompt shows.

    Kinds without any are left out.
    """
    hits = prompt["prompt_hits"]
    counts = (
        many(prompt["prompt_paths"], "path"),
        many(hits.get("chunk", 0), "passage"),
        many(hits.get("node", 0), "entity", "entities"),
        many(hits.get("relation", 0), "relation"),
        many(hits.get("community", 0), "community", "communities"),
    )
    return [count_text for count_text in counts if not count_text.startswith("0 ")]


def _draw_answers(job: Job, lane: MethodLane) -> None:
    """Draw the answers of reader and model, and the known answers."""
    state = lane.state
    reader_text = None
    if state.reader is not None:
        reader_text = ", ".join(hit_titles(lane.graph, "node", state.reader)) or tr("no answer")
    for title, text in (
        (tr("Answer read from the graph"), reader_text),
        (tr("Nearest sentence"), None if state.excerpt is None else state.excerpt.text),
        (tr("Language model"), lane.answer or state.answer),
        (tr("Correct answers"), ", ".join(job.comparison.ask.question.answers)),
    ):
        if text:
            with st.container(horizontal=True, vertical_alignment="top", gap="small"):
                st.caption(title, width=130)
                st.text(text, width="stretch")


def _draw_paths(graph: Any, state: Any) -> None:
    shown_state = state.replace(paths=state.paths.head(MAX_LISTED_PATHS))
    rows = [
        {tr("Rank"): i, tr("Score"): path["score"], tr("Path"): path["text"]}
        for i, path in enumerate(paths_list(graph, shown_state), 1)
    ]
    if not rows:
        caption("No path was found. Try a larger part of the graph, or more hops.")
        return
    has_scores = any(row[tr("Score")] is not None for row in rows)
    st.dataframe(
        rows,
        hide_index=True,
        height=min(320, 38 + 35 * len(rows)),  # pixels of the head and of each row
        column_order=None if has_scores else [tr("Rank"), tr("Path")],
        column_config={
            tr("Rank"): st.column_config.NumberColumn(width=60),
            tr("Score"): st.column_config.NumberColumn(format="%.3f", width=70),
            tr("Path"): st.column_config.TextColumn(width=760),
        },
    )
    if len(state.paths) > len(rows):
        caption("The first {rows} of {paths:,} paths.", rows=len(rows), paths=len(state.paths))


def _step_row(step: Step) -> dict[str, Any]:
    """Return the cost and the output sizes of one operator."""
    usage = step.usage
    return {
        tr("Step"): capitalised(tr(OPERATORS[step.operator].title)),
        tr("Seconds"): f"{step.seconds:.3f}",
        tr("Result"): ", ".join(f"{count:,} {kind}" for kind, count in step.sizes.items()),
        tr("Texts scored"): _count_text(usage.texts),
        tr("Model calls"): _count_text(usage.calls),
        tr("Tokens read"): _count_text(usage.tokens_in),
        tr("Tokens written"): _count_text(usage.tokens_out),
        tr("Notes"): " ".join(step.notes),
    }


def _count_text(count: int) -> str:
    """Return a count as text; empty for 0."""
    return f"{count:,}" if count else ""
