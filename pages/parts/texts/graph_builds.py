"""Builds of the graphs of a corpus: expected cost, progress, and result."""

from __future__ import annotations

import time
from typing import Any, Literal

import streamlit as st

from core.builds import GraphBuild, Status, build_status, run_build
from core.builds.cost import BuildCost, estimate_cost
from core.builds.report import UNREADABLE_COUNTS
from core.builds.run import build_folder
from core.builds.shipped_data import ModelsWithoutChat, ShippedBuild, find_shipped_build
from core.corpus import Corpus
from core.errors import split_command
from core.io.durations import duration_text
from core.io.plain_data import from_plain
from core.models.price import Cap
from core.runtime.jobs import JOB_CANCELLED, JOB_WAITING, Job
from pages.parts.shared.actions import button
from pages.parts.shared.job_progress import draw_job
from pages.parts.shared.sentences import caption, write
from pages.parts.shared.session import engine
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.spending import draw_spending_limit
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr
from pages.parts.texts.build_choice import absent_models, build_words

# Job keys of the builds that have ended. A build may make others cheaper, so that all costs are
# estimated again after each.
_ended_build_keys: list[str] = []
Colour = Literal["orange", "green", "blue", "gray"]
COST_WAIT_SECONDS = 1.0  # before the progress of an estimate is drawn
COST_VALID_SECONDS = 600.0  # seconds after which the cost of a build is estimated again


def draw_build_card(corpus: Corpus, build: GraphBuild, key: str = "build") -> bool:
    """Draw the state of a graph in a box.

    Return whether the graph is being built. A graph that is not built has its expected cost and a
    button that starts the build. `key` tells this box from others of the same graph.
    """
    status = build_status(corpus, build)
    job = build_job(corpus, build)
    is_running = job is not None and not job.has_ended
    with st.container(border=True, key=f"{key}-{status.folder.name}"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"**{plain(build_words(build))}**", width="content")
            draw_state_badge(corpus, status)
            if status.is_current and not is_running:
                draw_report(status)
        if not status.is_current:
            st.caption(plain(build.line.words()))
        draw_build_state(corpus, status, key)
    rerun_on_change(corpus, build)
    return is_running


def build_job(corpus: Corpus, build: GraphBuild) -> Job | None:
    """Return the job of a build, running or ended; None if there was none."""
    return engine().background_jobs.get(_job_key(corpus, build))


def draw_build_state(corpus: Corpus, status: Status, key: str) -> None:
    """Draw what a graph lacks, with a button that adds it, and the progress of its build.

    For a graph that is not built, these are the expected cost and the start button.
    """
    job = build_job(corpus, status.build)
    if status.uncovered:
        st.caption(f":material/info: {plain(status.uncovered)}")
    if job is None or job.has_ended:
        if status.is_current:
            _draw_missing_parts(corpus, status, key)
        else:
            _draw_start(corpus, status, key)
    if job is not None:
        end_text = ""
        if job.status == JOB_CANCELLED and not status.is_current:
            end_text = tr("Cancelled. What was read is saved; the next build goes on from there.")
        draw_job(job, f"{key}-{status.build.id}", end_text, share=True)


def _draw_missing_parts(corpus: Corpus, status: Status, key: str) -> None:
    """Draw which replies or vectors a built graph lacks, and a button that computes them."""
    if count_unreadable(status):
        _draw_missing_replies(corpus, status, key)
    elif not status.is_indexed:
        caption("Built by a question; vectors are added when needed.")
        _draw_build_button(corpus, status, tr("Compute all vectors now"), key=key)


def draw_state_badge(corpus: Corpus, status: Status) -> None:
    """Draw the state of a graph in two or three words."""
    words, color, icon = _state_badge(corpus, status)
    st.badge(words, color=color, icon=f":material/{icon}:" if icon else None)


def _state_badge(corpus: Corpus, status: Status) -> tuple[str, Colour, str]:
    """Return words, colour and icon of a graph's state."""
    job = build_job(corpus, status.build)
    if job is not None and not job.has_ended:
        words = tr("waiting") if job.status == JOB_WAITING else tr("being built")
        return words, "orange", "construction"
    if status.is_current and count_unreadable(status):
        return tr("built, incomplete"), "orange", "warning"
    if status.is_current:
        return tr("built"), "green", "check"
    if status.has_renamed:
        return tr("built, names marked since"), "orange", "healing"
    if find_shipped_build(corpus, status.build):
        return tr("comes with these texts"), "blue", "inventory_2"
    return tr("of earlier documents") if status.is_built else tr("not built"), "gray", ""


def _draw_start(corpus: Corpus, status: Status, key: str) -> None:
    """Draw the expected cost of a build, and the start button once the cost is known."""
    shipped = find_shipped_build(corpus, status.build)
    if shipped is not None:
        write(
            "{words}. Opening it computes vectors and needs no language model.",
            words=shipped.words(),
        )
        _draw_build_button(corpus, status, tr("Open"), key=key, type="primary")
        return
    if status.outdated:
        st.write(plain(status.outdated))
        if status.build.extractor == "opened":
            return
    cost_job = _cost_job(corpus, status.build)
    # The page is drawn again after a longer estimate, which takes the focus out of a dialog.
    if not cost_job.wait(COST_WAIT_SECONDS):
        draw_cost_progress(cost_job)
    elif cost_job.error:
        st.error(plain(cost_job.error))
    else:
        _draw_known_cost(corpus, status, cost_job.result, key)


def _draw_known_cost(corpus: Corpus, status: Status, cost: BuildCost, key: str) -> None:
    """Draw a known cost, and the start button unless a model is missing."""
    is_complete = bool(cost.chunks) and not cost.missing
    sentence = cost.words()
    if is_complete and _has_extraction(status.build):
        sentence = " ".join([tr("Nothing is read again."), *cost.further_sentences()])
    st.write(plain(sentence))
    for note in cost.language:
        st.caption(f":material/translate: {plain(note)}")
    missing_models = _missing_model_texts(status.build, is_complete)
    for text in missing_models:
        st.text(text)
    if missing_models:
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        cap, valid = (
            draw_spending_limit(f"{key}_cap-{status.folder.name}") if cost.calls else (None, True)
        )
        label = _start_label(corpus, status, cost)
        _draw_build_button(
            corpus, status, label, key=key, cap=cap, type="primary", disabled=not valid
        )


def _start_label(corpus: Corpus, status: Status, cost: BuildCost) -> str:
    """Return the label of the start button, with the time of a build without AI."""
    label = tr("Build a graph")
    if status.is_built:
        label = tr("Rebuild")
    elif build_job(corpus, status.build) is not None and cost.missing < cost.chunks:
        label = tr("Go on")
    if cost.calls:
        return label
    if cost.seconds is None:
        return tr("{action} (no AI)", action=label)
    time_text = duration_text(cost.seconds)
    return tr("{action} (about {time_text}, no AI)", action=label, time_text=time_text)


def _draw_missing_replies(corpus: Corpus, status: Status, key: str) -> None:
    """Draw the number of missing replies, and a button that asks for them again."""
    unreadable = count_unreadable(status)
    st.warning(
        tr(
            "{replies} of the language model could not be read. The graph lacks their entities "
            "and relations.",
            replies=many(unreadable, "reply", "replies"),
        )
    )
    label = tr("Build again")
    _draw_build_button(corpus, status, label, key=key, icon="refresh", type="primary")
    caption("Asks again for these replies only.")


def count_unreadable(status: Status) -> int:
    """Return how many unreadable replies a new build would ask for again.

    It is 0 for a shipped graph, and for one that is not built or is outdated.
    """
    if not status.is_current or status.report.get("shipped"):
        return 0
    return sum(status.report.get("counts", {}).get(name, 0) for name in UNREADABLE_COUNTS)


def _draw_build_button(
    corpus: Corpus,
    status: Status,
    label: str,
    *,
    key: str,
    icon: str = "play_arrow",
    cap: Cap | None = None,
    **options: Any,
) -> None:
    """Draw the button that starts a build and shows its graph on the page Texts.

    `options` are further arguments of `button`.
    """

    def start() -> None:
        start_build(corpus, status.build, cap)
        Session.texts_graph[corpus.name].value = status.build.id
        session.texts_ways = False

    if button(label, start, key=f"start-{key}-{status.folder.name}", icon=icon, **options):
        st.rerun()  # of the whole page, if the button is in a dialog


def _has_extraction(build: GraphBuild) -> bool:
    """Return whether a build extracts entities and relations from the passages."""
    return any(operator.stage == "extract" for operator in build.line)


def _missing_model_texts(build: GraphBuild, is_complete: bool) -> list[str]:
    """Return how to get each missing model of a build.

    If all replies are saved (`is_complete`), language models are not needed.
    """
    return [
        split_command(model.how_to_get)[0]
        for model in absent_models(build)
        if not (is_complete and model.kind == "chat")
    ]


def _cost_job(corpus: Corpus, build: GraphBuild) -> Job:
    """Return the job that estimates the cost of a build.

    A new job is started after each build of any graph, and after `COST_VALID_SECONDS`.
    """
    period = int(time.time() // COST_VALID_SECONDS)
    key = f"cost-{corpus.digest}-{build.id}-{len(_ended_build_keys)}-{period}"
    return engine().jobs.run(key, lambda job: estimate_cost(corpus, build, engine().models, job))


@st.fragment(run_every=0.4)
def draw_cost_progress(job: Job) -> None:
    """Draw the progress of a cost estimate, and draw the page again at its end."""
    if job.has_ended or job.wait(0.3):
        st.rerun()
    caption(":material/hourglass_empty: Estimating the cost …")


def start_build(corpus: Corpus, build: GraphBuild, cap: Cap | None = None) -> Job:
    """Start to build a graph, unless it runs, and return the job.

    The job stops before its cost would exceed the cap.
    """
    key = _job_key(corpus, build)
    models = engine().models
    # A shipped graph brings the replies of its language model, so none is asked.
    if find_shipped_build(corpus, build):
        models = ModelsWithoutChat(models)

    def work(job: Job) -> None:
        job.report(tr("Cutting the documents into chunks"))
        try:
            run_build(corpus, build, models, job, cap=cap)
        finally:
            _ended_build_keys.append(key)

    return engine().background_jobs.run(key, work, again=True)


def is_building(corpus: Corpus) -> bool:
    """Return whether any graph of the corpus is being built."""
    return any(
        not job.has_ended for job in engine().background_jobs.with_key_prefix(_job_key(corpus))
    )


def _job_key(corpus: Corpus, build: GraphBuild | None = None) -> str:
    """Return the key of the job of a build.

    Without a build, return the prefix of the keys of all builds of the corpus.
    """
    return f"build-{corpus.name}/{'' if build is None else build_folder(corpus, build).name}"


def rerun_on_change(corpus: Corpus, build: GraphBuild) -> None:
    """Draw the page again when this build was started or ended elsewhere, as in another tab."""

    def is_running() -> bool:
        job = build_job(corpus, build)
        return job is not None and not job.has_ended

    was_running = is_running()

    @st.fragment(run_every=2.0)
    def compare() -> None:
        if is_running() != was_running:
            st.rerun()

    compare()


def draw_report(status: Status) -> None:
    """Draw the time and the models of a build, and what was left out."""
    counts = status.report.get("counts", {})
    used = status.report.get("usage", {})
    shipped = status.report.get("shipped")
    span = duration_text(sum(status.report.get("seconds", {}).values()))
    parts = [many(counts.get("chunks", 0), "chunk")]
    if shipped:
        parts.append(tr("opened in {span}", span=span))
    else:
        parts += [tr("built in {span}", span=span), *status.report.get("models", [])]
    if used.get("calls"):
        parts.append(
            tr(
                "{calls} of a language model, {tokens:,} tokens",
                calls=many(used["calls"], "call"),
                tokens=used["tokens_in"] + used["tokens_out"],
            )
        )
    if counts.get("replies kept") and not shipped:
        reused = many(counts["replies kept"], "reply", "replies")
        parts.append(tr("{replies} reused", replies=reused))
    st.caption(plain("  ·  ".join(parts)), width="content")
    if shipped:
        origin = from_plain(ShippedBuild, shipped).words()
        caption("It came with these texts. {words}.", words=origin)
    unreadable = sum(counts.get(name, 0) for name in UNREADABLE_COUNTS)
    problems = []
    if unreadable and shipped:
        problems = [tr("{replies} could not be read", replies=many(unreadable, "reply", "replies"))]
    if counts.get("dropped"):
        facts = many(counts["dropped"], "fact")
        problems.append(
            tr("{facts} left out: no name, or a name that is not in the chunk", facts=facts)
        )
    notes = [*problems, *status.report.get("notes", ())]
    if notes:
        with st.popover(tr("Left out or cut"), icon=":material/info:", type="tertiary"):
            for text in notes:
                st.text(text)
