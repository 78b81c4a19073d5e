"""Builds of the graphs of a corpus: expected cost, progress, and result."""

from __future__ import annotations

import time
from functools import partial
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
from pages.parts.shared.actions import button, result_of
from pages.parts.shared.job_progress import draw_job
from pages.parts.shared.sentences import caption, write
from pages.parts.shared.session import engine
from pages.parts.shared.spending import spend_at_most
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr
from pages.parts.texts.build_choice import absent_models, choose_build
from pages.parts.texts.building_cost import building_cost
from pages.parts.texts.corpus_choice import draw_language
from pages.parts.texts.entity_merges import draw_merges
from pages.parts.texts.graph_view import draw_graph_view
from pages.parts.texts.steps import draw_build_steps, draw_compare_link

# Keys of the builds that have ended. Each may have made others cheaper, so costs are counted again.
_ended: list[str] = []
Colour = Literal["orange", "green", "blue", "gray"]
COST_VALID_SECONDS = 600.0  # seconds after which the cost of a build is estimated again


def builds(corpus: Corpus) -> None:
    """Draw the choice of a graph, its state, and the built graph."""
    build_spec = draw_build_steps(corpus, choose_build(corpus))
    if build_spec is None:
        return
    draw_language(corpus)
    card(corpus, build_spec)
    status = build_status(corpus, build_spec)
    if build_spec.own:
        draw_compare_link(corpus, build_spec)
    if status.serves:
        graph = result_of(lambda: engine().environment.built(corpus, build_spec.id))
        # An empty graph whose replies could not be read does not mean that nothing was found.
        if graph is not None and (graph.n_nodes or not _count_unreadable(status)):
            if not status.current and not status.renamed:
                caption(
                    "Below is the graph of the earlier documents. Questions use it until it is "
                    "rebuilt."
                )
            draw_graph_view(
                corpus, build_spec, graph, draw_merges(corpus, build_spec, graph, start_build)
            )


def card(corpus: Corpus, one: GraphBuild) -> bool:
    """Draw the state of a graph.

    A graph that is not built has its cost and a button.

    Returns whether the graph is being built.
    """
    status, job = build_status(corpus, one), engine().preparing.get(_key(corpus, one))
    is_running = job is not None and not job.ended
    with st.container(border=True, key=f"build-{status.folder.name}"):
        _draw_built(corpus, status, job)
    _watch(corpus, one, is_running)
    return is_running


def _draw_built(corpus: Corpus, now: Status, job: Job | None) -> None:
    is_running = job is not None and not job.ended
    is_ready = now.current and not is_running
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{plain(now.build.title)}**", width="content")
        words, color, icon = _state(corpus, now, job)
        st.badge(words, color=color, icon=f":material/{icon}:" if icon else None)
        if is_ready:
            _facts(now)
    if now.uncovered:
        st.caption(f":material/info: {plain(now.uncovered)}")
    if is_ready:
        _draw_missing_parts(corpus, now)
        building_cost(corpus, now)
    else:
        st.caption(plain(now.build.line.words()))
        if not is_running:
            _start(corpus, now, job)
    if job is not None:
        end_text = ""
        if job.status == JOB_CANCELLED and not now.current:
            end_text = tr("Cancelled. What was read is saved; the next build goes on from there.")
        draw_job(job, now.build.id, end_text, share=True)


def _draw_missing_parts(corpus: Corpus, now: Status) -> None:
    """Draw which replies or vectors a built graph lacks, and a button that gets them."""
    if _count_unreadable(now):
        _gaps(corpus, now)
    elif not now.indexed:
        caption("Built by a question; vectors are added when needed.")
        _build_button(corpus, now, tr("Compute all vectors now"))


def _state(corpus: Corpus, now: Status, job: Job | None) -> tuple[str, Colour, str]:
    """Return the words, the colour and the icon of a graph's state."""
    if job is not None and not job.ended:
        words = tr("waiting") if job.status == JOB_WAITING else tr("being built")
        return words, "orange", "construction"
    if now.current and _count_unreadable(now):
        return tr("built, incomplete"), "orange", "warning"
    if now.current:
        return tr("built"), "green", "check"
    if now.renamed:
        return tr("built, names marked since"), "orange", "healing"
    if find_shipped_build(corpus, now.build):
        return tr("comes with these texts"), "blue", "inventory_2"
    return tr("of earlier documents") if now.built else tr("not built"), "gray", ""


def _start(corpus: Corpus, now: Status, old_job: Job | None) -> None:
    """Draw the expected cost of a build, and the start button.

    The button is drawn once the cost is known.
    """
    came = find_shipped_build(corpus, now.build)
    if came is not None:
        write(
            "{words}. Opening it computes vectors and needs no language model.", words=came.words()
        )
        _build_button(corpus, now, tr("Open"), type="primary")
        return
    if now.outdated:
        st.write(plain(now.outdated))
        if now.build.extractor == "opened":
            return
    counting = _cost_job(corpus, now.build)
    if counting.error:
        st.error(plain(counting.error))
    elif not counting.ended:
        draw_cost_progress(counting)
    else:
        _draw_known_cost(corpus, now, old_job, counting.result)


def _draw_known_cost(corpus: Corpus, now: Status, old_job: Job | None, cost: BuildCost) -> None:
    """Draw a known cost, and the start button unless a model is missing."""
    is_complete = bool(cost.chunks) and not cost.missing
    sentence = cost.words()
    if is_complete and _extracts(now.build):
        sentence = " ".join([tr("Nothing is read again."), *cost.after()])
    st.write(plain(sentence))
    for note in cost.language:
        st.warning(plain(note), icon=":material/translate:")
    missing_models = _missing_models_text(now.build, is_complete)
    for text in missing_models:
        st.text(text)
    if missing_models:
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        cap, valid = spend_at_most(f"build_cap-{now.folder.name}") if cost.calls else (None, True)
        label = _start_label(now, old_job, cost)
        _build_button(corpus, now, label, cap=cap, type="primary", disabled=not valid)


def _start_label(now: Status, old_job: Job | None, cost: BuildCost) -> str:
    """Return the label of the start button."""
    if now.built:
        return tr("Rebuild")
    if old_job is not None and cost.missing < cost.chunks:
        return tr("Go on")
    return tr("Build")


def _gaps(corpus: Corpus, now: Status) -> None:
    """Draw the number of missing replies, and a button.

    The button asks for them again.
    """
    unreadable = _count_unreadable(now)
    st.warning(
        tr(
            "{replies} of the language model could not be read. The graph lacks their entities "
            "and relations.",
            replies=many(unreadable, "reply", "replies"),
        )
    )
    _build_button(corpus, now, tr("Build again"), icon="refresh", type="primary")
    caption("Asks again for these replies only.")


def _count_unreadable(now: Status) -> int:
    """Return how many unreadable replies a new build would ask for again.

    It is 0 for a graph that came with the documents.
    """
    if not now.current or now.report.get("shipped"):
        return 0
    return sum(now.report.get("counts", {}).get(what, 0) for what in UNREADABLE_COUNTS)


def _build_button(
    corpus: Corpus,
    now: Status,
    label: str,
    icon: str = "play_arrow",
    cap: Cap | None = None,
    **look: Any,
) -> None:
    """Draw the button that starts a build; `draw_graph_view` has its further arguments."""
    begin = partial(start_build, corpus, now.build, cap)
    button(label, begin, key=f"start-{now.folder.name}", icon=icon, **look)


def _extracts(one: GraphBuild) -> bool:
    """Return whether a build extracts from the passages."""
    return any(operator.stage == "extract" for operator in one.line)


def _missing_models_text(one: GraphBuild, complete: bool) -> list[str]:
    """Return how to get the missing models of a build.

    Language models are not needed if all their replies are `complete`.
    """
    return [
        split_command(model.how_to_get)[0]
        for model in absent_models(one)
        if not (complete and model.kind == "chat")
    ]


def _cost_job(corpus: Corpus, one: GraphBuild) -> Job:
    """Return the job that estimates the cost of a build.

    It is a new job if a build has ended since.
    """
    key = f"cost-{corpus.digest}-{one.id}-{len(_ended)}-{time.time() // COST_VALID_SECONDS:.0f}"
    return engine().jobs.run(key, lambda job: estimate_cost(corpus, one, engine().models, job))


@st.fragment(run_every=0.4)
def draw_cost_progress(job: Job) -> None:
    """Draw the progress of a cost estimate.

    The page is drawn again at its end.
    """
    if job.ended or job.wait(0.3):
        st.rerun()
    caption(":material/hourglass_empty: Estimating the cost …")


def start_build(corpus: Corpus, one: GraphBuild, cap: Cap | None = None) -> Job:
    """Return the job that builds a graph; if somebody started it already, that job.

    It stops before its cost would exceed the cap.
    """
    key = _key(corpus, one)
    models = (
        ModelsWithoutChat(engine().models) if find_shipped_build(corpus, one) else engine().models
    )

    def work(job: Job) -> None:
        job.report(tr("Cutting the documents into chunks"))
        try:
            run_build(corpus, one, models, job, cap=cap)
        finally:
            _ended.append(key)

    return engine().preparing.run(key, work, again=True)


def is_building(corpus: Corpus) -> bool:
    """Return whether a graph of the corpus is being built.

    A build by a user's own line counts.
    """
    return any(not job.ended for job in engine().preparing.of(_key(corpus)))


def _key(corpus: Corpus, one: GraphBuild | None = None) -> str:
    """Return the key of the job of a build.

    Without a build it is the common prefix of all keys of the corpus.
    """
    return f"build-{corpus.name}/{'' if one is None else build_folder(corpus, one).name}"


@st.fragment(run_every=2.0)
def _watch(corpus: Corpus, one: GraphBuild, was_running: bool) -> None:
    """Draw the page again when this build was started or ended elsewhere.

    That may be in another tab.
    """
    job = engine().preparing.get(_key(corpus, one))
    if (job is not None and not job.ended) != was_running:
        st.rerun()


def _facts(now: Status) -> None:
    """Draw the report of a build.

    It has the time, the language model, and what could not be read.
    """
    counts, used = now.report.get("counts", {}), now.report.get("usage", {})
    took, came = sum(now.report.get("seconds", {}).values()), now.report.get("shipped")
    parts = [
        many(counts.get("chunks", 0), "chunk"),
        tr("opened in {span}", span=duration_text(took))
        if came
        else tr("built in {span}", span=duration_text(took)),
    ]
    parts += [] if came else now.report.get("models", [])
    if used.get("calls"):
        parts.append(
            tr(
                "{calls} of a language model, {tokens:,} tokens",
                calls=many(used["calls"], "call"),
                tokens=used["tokens_in"] + used["tokens_out"],
            )
        )
    if counts.get("replies kept") and not came:
        parts.append(
            tr(
                "{replies} reused",
                replies=many(counts["replies kept"], "reply", "replies"),
            )
        )
    st.caption(plain("  ·  ".join(parts)), width="content")
    if came:
        caption("It came with these texts. {words}.", words=from_plain(ShippedBuild, came).words())
    unreadable = sum(counts.get(what, 0) for what in UNREADABLE_COUNTS)
    problems = []
    if unreadable and came:
        problems = [tr("{replies} could not be read", replies=many(unreadable, "reply", "replies"))]
    if counts.get("dropped"):
        problems.append(
            tr(
                "{facts} left out: no name, or a name that is not in the chunk",
                facts=many(counts["dropped"], "fact"),
            )
        )
    notes = [*problems, *now.report.get("notes", ())]
    if notes:
        with st.popover(tr("Left out or cut"), icon=":material/info:", type="tertiary"):
            for text in notes:
                st.text(text)
