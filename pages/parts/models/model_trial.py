"""Trial of one model: a language model on a prompt, an encoder or scorer on a few lines."""

from __future__ import annotations

import time
from typing import Any
from uuid import uuid4

import streamlit as st

from core.errors import BadInput
from core.models.base import ChatReply, Task
from core.models.registry import ModelInfo
from core.runtime.jobs import JOB_DONE, Job
from pages.parts.shared.actions import button
from pages.parts.shared.sentences import caption
from pages.parts.shared.session import engine
from pages.parts.shared.session_state import Session
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr

EXAMPLE_PROMPT = tr("In one sentence: what is a knowledge graph?")
EXAMPLE_QUERY = "who directed the film"
EXAMPLE_LINES = (
    "Inception -> directed_by -> Christopher Nolan\nInception -> release_year -> 2010\nInception "
    "-> starred_actors -> Leonardo DiCaprio"
)
MAX_RANKED_LINES = 200
MAX_TRIAL_TOKENS = 256  # most tokens of a reply


def draw_model_trial() -> None:
    """Draw the choice of a model and the form that fits it."""
    infos = {info.name: info for info in engine().models.list_models()}
    present_models = [name for name, info in infos.items() if info.present]
    if not present_models:
        st.info(
            tr("No model is installed. Fetch one under “Models”, or add a server under “Add one”.")
        )
        return
    default = engine().models.roles["answer"]
    name = st.selectbox(
        tr("Model"),
        present_models,
        index=present_models.index(default) if default in present_models else 0,
        key="try_model_name",
        persist_state="session",
        format_func=lambda name: infos[name].title,
        width=460,
    )
    if infos[name].kind == "chat":
        _draw_chat_form(infos[name])
    else:
        _draw_scorer_form(infos[name])


def _draw_chat_form(info: ModelInfo) -> None:
    with st.container(key="try-chat-box"):
        prompt = st.text_area(
            tr("Prompt"), EXAMPLE_PROMPT, key="try_prompt", persist_state="session", height=100
        )
        pressed = button(tr("Send"), key="try-chat-go", type="primary", icon="send")
    if pressed:
        _start(f"chat-{info.name}", lambda job: _ask_model(job, info.name, prompt))
    _draw_trial_job(f"chat-{info.name}", _draw_outcome)


def _ask_model(job: Job, name: str, prompt: str) -> tuple[Any, float | None]:
    """Return the model's reply, and the seconds of its streaming.

    The seconds are None if nothing was streamed.
    """
    if not prompt.strip():
        raise BadInput(tr("Type a prompt first."))
    started_at: float | None = None

    def add_piece(piece: str) -> None:
        nonlocal started_at
        if started_at is None:
            started_at = time.perf_counter()
        job.reply_text += piece
        job.touch()

    job.report(tr("Waiting for the model; the first time, it is loaded"))
    messages = [{"role": "user", "content": prompt}]
    chat = engine().models.chat(name)
    reply = chat.reply(messages, max_tokens=MAX_TRIAL_TOKENS, on_text=add_piece, watch=job)
    return reply, None if started_at is None else time.perf_counter() - started_at


def _draw_outcome(job: Job) -> None:
    """Draw the reply so far, and its cost."""
    is_done = job.status == JOB_DONE
    # Text that was streamed as the reply may turn out to be a thought, which the result leaves out.
    reply_text = job.result[0].text if is_done else job.reply_text
    if reply_text.strip():
        with st.container(border=True):
            st.text(reply_text)
    if is_done:
        _draw_reply_facts(*job.result)


def _draw_reply_facts(reply: ChatReply, seconds: float | None) -> None:
    """Draw why a reply is empty or cut, its thought, and its cost.

    A thought is text of the model before its reply, which is no part of the reply.
    """
    if fault := reply.describe_fault():
        st.text(fault)
    if reply.thought:
        with st.expander(tr("Thought (not part of the reply)")):
            st.text(reply.thought)
    # The time starts at the first piece of the reply. A thought comes before it and is not timed.
    # In less than 0.05 seconds, no speed can be measured.
    has_time = seconds is not None and seconds > 0.05 and not reply.cached and not reply.thought
    speed = ""
    if has_time and seconds and reply.tokens_out > 1:
        speed = tr(" · {rate:.1f} tokens a second", rate=(reply.tokens_out - 1) / seconds)
    cache_text = tr(" · from the cache") if reply.cached else ""
    caption(
        "{tokens_in:,} tokens in, {tokens_out:,} out{speed}{remembered}",
        tokens_in=reply.tokens_in,
        tokens_out=reply.tokens_out,
        speed=speed,
        remembered=cache_text,
    )


def _draw_scorer_form(info: ModelInfo) -> None:
    with st.container(key="try-scorer-box"):
        query = st.text_input(
            tr("Question"), EXAMPLE_QUERY, key="try_query", persist_state="session"
        )
        lines = st.text_area(
            tr("Lines to rank"), EXAMPLE_LINES, key="try_lines", persist_state="session", height=130
        )
        pressed = button(tr("Rank"), key="try-scorer-go", type="primary", icon="sort")
    if pressed:
        _start(f"rank-{info.name}", lambda job: _rank_lines(job, info.name, query, lines))
    _draw_trial_job(f"rank-{info.name}", _draw_ranking)


def _rank_lines(job: Job, name: str, query: str, lines: str) -> list[dict[str, Any]]:
    """Return the lines with their scores, best first."""
    texts = [line.strip() for line in lines.splitlines() if line.strip()]
    if not query.strip() or not texts:
        raise BadInput(tr("Type a question and at least one line."))
    if len(texts) > MAX_RANKED_LINES:
        raise BadInput(tr("At most {most_lines} lines.", most_lines=MAX_RANKED_LINES))
    job.report(tr("Scoring; the first time, the model is loaded"))
    choice = engine().models.scorer(name).choose(Task(query, watch=job), texts, 0)
    return [
        {tr("Rank"): i + 1, tr("Score"): choice.scores[i], tr("Line"): texts[position]}
        for i, position in enumerate(choice.positions)
    ]


def _draw_ranking(job: Job) -> None:
    """Draw the ranked lines once they are all scored."""
    if job.status == JOB_DONE:
        st.dataframe(
            job.result,
            hide_index=True,
            column_config={
                tr("Rank"): st.column_config.NumberColumn(width=60),
                tr("Score"): st.column_config.NumberColumn(format="%.4f", width=90),
            },
        )


def _start(key: str, work) -> None:
    """Start a job of this session that calls `work`.

    `key` names the trial.
    """
    job_key = f"{key}-{uuid4().hex}"  # a new one, because each click asks again

    def make() -> Job:
        job = Job(job_key, work)
        job.reply_text = ""
        return job

    Session.try_jobs[key].value = engine().jobs.start(job_key, make).key


def _draw_trial_job(key: str, draw_result) -> None:
    """Draw the job of a trial while it runs and afterwards.

    `draw_result` draws the results so far. It is called with the job.
    """
    job = engine().jobs.get(Session.try_jobs[key].value)
    if job is None:
        return
    was_running = not job.has_ended

    @st.fragment(run_every=0.3 if was_running else None)
    def draw() -> None:
        if was_running and job.has_ended:
            st.rerun()
        draw_result(job)
        if not job.has_ended:
            with st.container(horizontal=True, vertical_alignment="center"):
                st.caption(tr("Writing …") if job.reply_text else plain(job.text), width="content")
                button(tr("Cancel"), job.cancel, key=f"stop-{key}", icon="stop_circle")
        elif job.error:
            st.error(plain(job.error))
        elif job.status != JOB_DONE:
            caption("Cancelled.")

    draw()
