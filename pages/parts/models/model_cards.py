"""Cards of the models: facts, state, and buttons to fetch, unload, measure or remove each."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.models.registry import ModelInfo
from core.runtime.jobs import JOB_DONE, Job
from core.sharing import current_person
from pages.parts.models.server_abilities import draw_abilities, draw_measure_button
from pages.parts.shared.actions import button, draw_advice
from pages.parts.shared.job_progress import draw_job
from pages.parts.shared.session import engine
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr

MODEL_KIND_HEADINGS = {
    "chat": tr("Language models"),
    "encoder": tr("Encoders"),
    "reranker": tr("Re-rankers"),
    "scorer": tr("Scorers"),
}


SERVER_BACKENDS = ("openai", "openai-embeddings", "rerank")


def draw_model_cards() -> None:
    """Draw every declared model, folded: those on servers, those here, and those not installed.

    What is not installed is open while a model is fetched.
    """
    infos = engine().models.list_models()
    servers = [info for info in infos if info.backend in SERVER_BACKENDS]
    here = [info for info in infos if info.present and info not in servers]
    absent = [info for info in infos if not info.present and info not in servers]
    is_fetching = any(not job.has_ended for job in map(_fetch_job, absent) if job is not None)
    _draw_folded(tr("On this computer"), here)
    _draw_folded(tr("Not installed"), absent, is_fetching)
    _draw_folded(tr("Servers"), servers, bool(servers))


def _draw_folded(title: str, infos: list[ModelInfo], is_open: bool = False) -> None:
    """Draw the cards of some models by kind in an expander; nothing without models."""
    if not infos:
        return
    with st.expander(f"{title} ({len(infos)})", expanded=is_open):
        for model_kind, heading in MODEL_KIND_HEADINGS.items():
            kind_models = [info for info in infos if info.kind == model_kind]
            if kind_models:
                st.markdown(f"**{heading}**")
            for info in kind_models:
                _draw_card(info)


def _fetch_job(info: ModelInfo) -> Job | None:
    """Return the job that downloads a model, if one was started."""
    return engine().jobs.get(f"fetch-{info.name}")


def _draw_card(info: ModelInfo) -> None:
    with st.container(border=True, key=f"model-{info.name}"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"**{plain(tr(info.title))}**", width="content")
            _draw_state(info)
            with st.container(horizontal=True, horizontal_alignment="right", width="stretch"):
                _draw_buttons(info)
        st.caption(plain("  ·  ".join(_facts(info))))
        if not info.present:
            draw_advice(info.how_to_get)
        if info.kind == "chat" and info.backend == "openai":
            draw_abilities(info)
        job = _fetch_job(info)
        if job is not None:
            _draw_download(info, job)


def _draw_state(info: ModelInfo) -> None:
    """Draw a badge: in memory, on a server, installed, or not installed."""
    if info.loaded and info.present:
        st.badge(tr("loaded"), color="green", icon=":material/check:")
    elif info.backend in SERVER_BACKENDS and info.present:
        st.badge(tr("server"), color="blue", icon=":material/dns:")
    elif info.present:
        st.badge(tr("here"), color="blue")
    else:
        st.badge(tr("not installed"), color="gray")


def _facts(info: ModelInfo) -> list[str]:
    """Return the known facts of a model, such as its memory."""
    device = info.device
    if info.backend != "openai" and len(device) == 3:  # an abbreviation, such as cpu
        device = device.upper()
    facts = [info.name, tr("runs on {device}", device=device)]
    if info.memory_bytes:
        facts.append(tr("about {gigabytes:.1f} GB of memory", gigabytes=info.memory_bytes / 1e9))
    if info.licence:
        facts.append(tr("licence {licence}", licence=info.licence))
    if info.upstream:
        facts.append(tr("from {upstream}", upstream=info.upstream))
    if info.roles:
        facts.append(tr("role: {roles}", roles=", ".join(info.roles)))
    if info.refuses:
        facts.append(tr("asked without {refuses} (not accepted)", refuses=", ".join(info.refuses)))
    price = engine().models.price(info.name)
    if price is not None and price[1].is_known:
        words = tr(
            "{read:g} and {written:g} {currency} a million tokens in and out", **vars(price[1])
        )
        facts.append(words)
    if info.figures:
        facts.append(info.figures)
    return facts


def _draw_buttons(info: ModelInfo) -> None:
    """Draw the buttons that apply to a model, for the administrator only."""
    if not current_person().administrator:
        return
    job = _fetch_job(info)
    if info.fetchable and not info.present and (job is None or job.has_ended):
        button(tr("Fetch"), partial(_fetch, info.name), key=f"fetch-{info.name}", icon="download")
    if info.loaded and info.memory_bytes:
        button(
            tr("Unload"),
            partial(engine().models.unload, info.name),
            key=f"unload-{info.name}",
            icon="eject",
            type="tertiary",
            help=tr("Frees its memory. The next use loads it again."),
        )
    if info.kind == "chat" and info.backend == "openai" and info.present:
        draw_measure_button(info)
    if info.own:
        button(
            tr("Remove"),
            lambda: engine().models.remove(info.name),
            key=f"remove-{info.name}",
            icon="delete",
            type="tertiary",
            help=tr("Removes it from your own models."),
        )


def _fetch(name: str) -> None:
    registry = engine().models
    engine().jobs.run(f"fetch-{name}", lambda job: registry.fetch(name, job), again=True)


def _draw_download(info: ModelInfo, job: Job) -> None:
    """Draw the progress of a download, and a note if it did not finish."""
    note = tr("Cancelled. What was fetched is saved; “Fetch” goes on from there.")
    draw_job(job, info.name, note if job.status != JOB_DONE and not info.present else "")
