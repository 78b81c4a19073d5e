"""Trying a line on one question: run it as a job, watch it, read everything it did."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from core.datasets import datasets
from core.engine import Lane
from core.instances.catalogue import Instance, named
from core.operators import OPERATORS
from core.operators.base import Line
from core.results import paths_list, prompt_dict
from core.runtime.jobs import Job
from core.sources import GraphSource
from core.types import Question, Step
from pages.parts.build.bench import Bench
from pages.parts.build.component import bricks
from pages.parts.build.drawn import drawn
from pages.parts.build.outcomes import outcomes
from pages.parts.compare.asking import known_question
from pages.parts.compare.permalink import Link
from pages.parts.methods.advice import advice_data, tried
from pages.parts.methods.forms import check_expression
from pages.parts.shared.session import engine, give_up, graph, graph_name, last_graph, said, waiter
from pages.parts.shared.text import plain

BESIDE = "lego-12"  # the lane that Compare opens beside the own line


def asking(bench: Bench) -> bool:
    """Draw the question and Run; whether it was pressed."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        _question()
        st.toggle(
            "Ask the language model",
            key="try_model",
            persist_state="session",
            help="Off, only the prompt is written and the graph reader answers, which is quicker.",
        )
        return st.button("Run", type="primary", icon=":material/play_arrow:", key="try_run", disabled=bench.line is None)


def try_it(bench: Bench, known: Mapping[str, Instance], run: bool) -> None:
    """Draw the line, what came of each of its steps, and the results below."""
    if run and bench.line is not None:
        _start(named(bench.line, known))
    job = engine().jobs.get(st.session_state.get("try_job", ""))
    running = job is not None and not job.ended

    def draw() -> None:
        _line(bench, job)
        if job is None:
            return
        if running and not job.ended:
            with st.container(horizontal=True, vertical_alignment="center"):
                st.progress(min(1.0, job.fraction or 0.0), text=plain(job.text))
                st.button("Cancel", key="try_cancel", icon=":material/stop_circle:", on_click=give_up, args=(job, "build"))
        _lane(job, job.comparison.lanes[0], bench)
        if running and (job.ended or bench.changed):
            st.rerun()  # what is drawn above is of the line as well

    bench.changed = False
    st.fragment(draw, run_every=0.4)() if running else draw()


def _line(bench: Bench, job: Job | None) -> None:
    """The line of bricks, with what came of them where they were run on the question that is shown."""

    def take(message: dict[str, Any]) -> None:
        bench.changed |= bench.hear(message, check_expression)

    found, extra = outcomes(job.comparison, bench.draft) if job is not None and _same_question(job) else ({}, [])
    bricks(drawn(bench, found, extra, lambda operator: advice_data(operator, tried())), take)


def _same_question(job: Job) -> bool:
    asked = job.comparison.ask
    return " ".join(st.session_state.get("try_question", "").split()) == asked.question.text and asked.source.name == graph_name()


def compare_link(line: Line | None, known: Mapping[str, Instance]) -> None:
    """The way to Compare, with this line and one to hold against it."""
    lanes: tuple[str, ...] = ()
    if line is not None:
        spec = named(line, known).id
        lanes = (spec, BESIDE) if spec != BESIDE else (spec,)
    link = Link(
        question=st.session_state.get("try_question", ""),
        lanes=lanes or (BESIDE,),
        source=last_graph(),
        model=st.session_state.get("try_model", False),
    )
    st.link_button(
        "Compare",
        link.address("./"),
        icon=":material/view_column:",
        disabled=line is None,
        help="Opens this line beside No. 12 in a new tab; this screen stays as it is.",
    )


def _question() -> None:
    """The question's text; one of the graph's own set to begin with."""
    state = st.session_state
    dataset = datasets().get(graph_name())
    sets = list(dataset.sets) if dataset is not None else []
    if state.get("try_graph") != graph_name() or "try_question" not in state:
        state.try_graph, state.try_question = graph_name(), dataset.draw(sets[0], 0).text if sets else ""

    def draw() -> None:
        state.try_draws = state.get("try_draws", 0) + 1
        state.try_question = dataset.draw(sets[state.try_draws % len(sets)], state.try_draws).text

    st.text_input(
        "Question",
        key="try_question",
        persist_state="session",
        placeholder="Ask about an entity of the graph",
        label_visibility="collapsed",
    )
    if sets:
        st.button("Another", icon=":material/casino:", on_click=draw, key="try_draw", help="Draw another question of the set.")


def _start(instance: Instance) -> None:
    """Link the question and start the job."""
    opened, text = graph(), st.session_state.try_question
    question = known_question(text) or Question(text)
    ask = said(lambda: engine().ask(GraphSource.of(opened), question, model=st.session_state.try_model))
    if ask is None:
        st.session_state.pop("try_job", None)
        return
    st.session_state.try_job = said(lambda: engine().compare(ask, [instance], waiter=waiter("build"))).key


def _lane(job: Job, lane: Lane, bench: Bench) -> None:
    """Everything the line did so far."""
    if repr(lane.instance.line) != bench.draft.text:
        st.info("The line has changed since this run. Press Run to see what it does now.", icon=":material/refresh:")
    if lane.error or job.error:
        st.error(plain(lane.error or job.error))
    if lane.status == "cancelled":
        st.info("Cancelled. What was done until then is below.", icon=":material/stop_circle:")
    opened, state = job.comparison.graph, lane.state
    _answers(job, lane)
    if state.paths is not None:
        st.markdown(f"**Paths** · {len(state.paths):,} kept")
        _paths(opened, state)
    if state.trace:
        st.markdown("**What each step did**")
        rows = [_row(step) for step in state.trace]
        st.dataframe({column: [row[column] for row in rows] for column in rows[0] if any(row[column] for row in rows)}, hide_index=True)
    prompt = prompt_dict(state)
    if prompt["messages"]:
        with st.expander(f"Prompt · about {prompt['prompt_tokens']:,} tokens · {prompt['prompt_paths']} paths"):
            st.code(prompt["prompt"], language=None, wrap_lines=True)


def _answers(job: Job, lane: Lane) -> None:
    """The graph reader's answer and the language model's, with the known answers where the set has some."""
    state, expected = lane.state, job.comparison.ask.question.answers
    for title, text in (
        ("Graph reader", None if state.reader is None else ", ".join(job.comparison.graph.names(state.reader)) or "no answer"),
        ("Language model", lane.answer or state.answer),
        ("Known answers", ", ".join(expected) or None),
    ):
        if text:
            with st.container(horizontal=True, vertical_alignment="top", gap="small"):
                st.caption(title, width=130)
                st.text(text, width="stretch")


def _paths(opened: Any, state: Any) -> None:
    shown = state.replace(paths=state.paths.head(200))
    rows = [{"Rank": i, "Score": path["score"], "Path": path["text"]} for i, path in enumerate(paths_list(opened, shown), 1)]
    if not rows:
        st.caption("No path was found. Try a larger part of the graph, or more hops.")
        return
    scored = any(row["Score"] is not None for row in rows)
    st.dataframe(
        rows,
        hide_index=True,
        height=min(320, 38 + 35 * len(rows)),
        column_order=None if scored else ["Rank", "Path"],
        column_config={
            "Rank": st.column_config.NumberColumn(width=60),
            "Score": st.column_config.NumberColumn(format="%.3f", width=70),
            "Path": st.column_config.TextColumn(width=760),
        },
    )
    if len(state.paths) > len(rows):
        st.caption(f"The first {len(rows)} of {len(state.paths):,} paths.")


def _row(step: Step) -> dict[str, Any]:
    """One operator's cost and what it left behind."""
    usage = step.usage
    title = OPERATORS[step.operator].title
    return {
        "Operator": title[:1].upper() + title[1:],
        "Seconds": f"{step.seconds:.3f}",
        "Left behind": ", ".join(f"{count:,} {what}" for what, count in step.sizes.items()),
        "Texts scored": _some(usage.texts),
        "Model calls": _some(usage.calls),
        "Tokens read": _some(usage.tokens_in),
        "Tokens written": _some(usage.tokens_out),
        "Notes": " ".join(step.notes),
    }


def _some(count: int) -> str:
    """A count, and nothing for none."""
    return f"{count:,}" if count else ""
