"""The graphs that can be built of a corpus: what each will cost, how far it is, and what came
out."""

from __future__ import annotations

import time
from functools import partial
from typing import Any, Literal

import streamlit as st

from core.builds import Build, Status, build, status
from core.builds.cost import cost
from core.builds.report import UNREADABLE
from core.builds.run import place
from core.builds.shipped import ShippedBuild, Unasked, ships
from core.corpus import Corpus
from core.io.durations import span
from core.io.plain import from_plain
from core.models.price import Cap
from core.runtime.jobs import CANCELLED, WAITING, Job
from pages.parts.shared.actions import button, result_of
from pages.parts.shared.sentences import caption, write
from pages.parts.shared.session import engine
from pages.parts.shared.spending import spend_at_most
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr
from pages.parts.shared.working import working
from pages.parts.texts.building_cost import building_cost
from pages.parts.texts.chosen import language_of
from pages.parts.texts.graph_view import look
from pages.parts.texts.kinds import absent_models, chosen_build
from pages.parts.texts.mending import mended
from pages.parts.texts.steps import ask_on, changed_build

_ended: list[str] = []  # the builds that have ended here, as each may have made others cheaper
Colour = Literal["orange", "green", "blue", "gray"]
COST_SECONDS = 600.0  # seconds after which what a build will cost is counted anew


def builds(corpus: Corpus) -> None:
    """Draw the choice of a graph, its state, and the graph where it is built."""
    one = changed_build(corpus, chosen_build(corpus))
    if one is None:
        return
    language_of(corpus)
    card(corpus, one)
    now = status(corpus, one)
    if one.own:
        ask_on(corpus, one)
    if now.serves:
        graph = result_of(lambda: engine().environment.built(corpus, one.id))
        # that nothing was found cannot be said of what was not read
        if graph is not None and (graph.n_nodes or not _unreadable(now)):
            if not now.current and not now.renamed:
                caption(
                    "Meanwhile, the graph of the documents as they were before. Questions are "
                    "asked on it too, until the new one is whole."
                )
            look(corpus, one, graph, mended(corpus, one, graph, start))


def card(corpus: Corpus, one: Build) -> bool:
    """Draw the state of a graph, with what it will cost and a button where it is to be built;
    whether it is being built."""
    now, job = status(corpus, one), engine().preparing.get(_key(corpus, one))
    at_work = job is not None and not job.ended
    with st.container(border=True, key=f"build-{now.folder.name}"):
        _drawn(corpus, now, job)
    _watch(corpus, one, at_work)
    return at_work


def _drawn(corpus: Corpus, now: Status, job: Job | None) -> None:
    at_work = job is not None and not job.ended
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{plain(now.build.title)}**", width="content")
        words, color, icon = _state(corpus, now, job)
        st.badge(words, color=color, icon=f":material/{icon}:" if icon else None)
        if now.current and not at_work:
            _facts(now)
    if now.uncovered:
        st.caption(f":material/info: {plain(now.uncovered)}")
    if not now.current or at_work:
        st.caption(plain(now.build.line.words()))
        if not at_work:
            _start(corpus, now, job)
    elif _unreadable(now):
        _gaps(corpus, now)
    elif not now.indexed:
        caption(
            "A question made it, without vectors: a method that searches by meaning makes those "
            "that it reads."
        )
        _build_button(corpus, now, tr("Make all vectors now"))
    if now.current and not at_work:
        building_cost(corpus, now)
    if job is not None:
        ended = ""
        if job.status == CANCELLED and not now.current:
            ended = tr("Cancelled. What was read is kept, and building goes on from there.")
        working(job, now.build.id, ended, share=True)


def _state(corpus: Corpus, now: Status, job: Job | None) -> tuple[str, Colour, str]:
    """The words, the colour and the symbol of the state of a graph."""
    if job is not None and not job.ended:
        words = tr("waiting") if job.status == WAITING else tr("being built")
        return words, "orange", "construction"
    if now.current and _unreadable(now):
        return tr("built with gaps"), "orange", "warning"
    if now.current:
        return tr("built"), "green", "check"
    if now.renamed:
        return tr("built, names marked since"), "orange", "healing"
    if ships(corpus, now.build):
        return tr("comes with these texts"), "blue", "inventory_2"
    return tr("of earlier documents") if now.built else tr("not built"), "gray", ""


def _start(corpus: Corpus, now: Status, before: Job | None) -> None:
    """What it will cost, and the button that starts it once that is known."""
    came = ships(corpus, now.build)
    if came is not None:
        write("{words}. Opening it makes vectors, and asks no language model.", words=came.words())
        _build_button(corpus, now, tr("Open"), type="primary")
        return
    if now.outdated:
        st.write(plain(now.outdated))
        if now.build.extractor == "opened":
            return
    counting = _counting(corpus, now.build)
    if counting.error:
        st.error(plain(counting.error))
        return
    if not counting.ended:
        counted(counting)
        return
    known = counting.result
    complete = bool(known.chunks) and not known.missing
    if complete and _reads(now.build):
        sentence = " ".join([tr("What the chunks tell is kept from before."), *known.after()])
    else:
        sentence = known.words()
    st.write(plain(sentence))
    for said in known.language:
        st.warning(plain(said), icon=":material/translate:")
    absent = _absent(now.build, complete)
    for how in absent:
        st.text(how)
    if absent:
        return
    if now.built:
        words = tr("Build anew")
    elif before is not None and known.missing < known.chunks:
        words = tr("Go on")
    else:
        words = tr("Build")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        cap, valid = spend_at_most(f"build_cap-{now.folder.name}") if known.calls else (None, True)
        _build_button(corpus, now, words, cap=cap, type="primary", disabled=not valid)


def _gaps(corpus: Corpus, now: Status) -> None:
    """How many replies the graph lacks, and the button that asks for them again."""
    unreadable = _unreadable(now)
    st.warning(
        tr(
            "{replies} of the language model could not be read; the graph lacks what they would "
            "have added.",
            replies=many(unreadable, "reply", "replies"),
        )
    )
    _build_button(corpus, now, tr("Build again"), icon="refresh", type="primary")
    caption("Only these replies are asked for again.")


def _unreadable(now: Status) -> int:
    """How many replies the build that is there could not read, and would ask for again; none where
    it came with the texts."""
    if not now.current or now.report.get("shipped"):
        return 0
    return sum(now.report.get("counts", {}).get(what, 0) for what in UNREADABLE)


def _build_button(
    corpus: Corpus,
    now: Status,
    label: str,
    icon: str = "play_arrow",
    cap: Cap | None = None,
    **look: Any,
) -> None:
    """Draw the button that begins to build; `look` is what else it takes."""
    begin = partial(start, corpus, now.build, cap)
    button(label, begin, key=f"start-{now.folder.name}", icon=icon, **look)


def _reads(one: Build) -> bool:
    """Whether the chunks are read for this build."""
    return any(operator.stage == "extract" for operator in one.line)


def _absent(one: Build, complete: bool) -> list[str]:
    """How to get the models that it asks and that are not here; language models only where not all
    they would tell is `complete`."""
    return [
        model.how_to_get for model in absent_models(one) if not (complete and model.kind == "chat")
    ]


def _counting(corpus: Corpus, one: Build) -> Job:
    """The job that counts what a build will cost, anew where a build has ended since."""
    key = f"cost-{corpus.digest}-{one.id}-{len(_ended)}-{time.time() // COST_SECONDS:.0f}"
    return engine().jobs.run(key, lambda job: cost(corpus, one, engine().models, job))


@st.fragment(run_every=0.4)
def counted(job: Job) -> None:
    """How far a job is that counts what something will cost; the page is drawn anew once it has
    ended."""
    if job.ended or job.wait(0.3):
        st.rerun()
    caption(":material/hourglass_empty: Counting what is to be read …")


def start(corpus: Corpus, one: Build, cap: Cap | None = None) -> Job:
    """The job that builds: the one at work where somebody began it before. It stops before it would
    go over the cap."""
    key = _key(corpus, one)
    models = Unasked(engine().models) if ships(corpus, one) else engine().models

    def work(job: Job) -> None:
        job.report(tr("Cutting the documents into chunks"))
        try:
            build(corpus, one, models, job, cap=cap)
        finally:
            _ended.append(key)

    return engine().preparing.run(key, work, again=True)


def at_work(corpus: Corpus) -> bool:
    """Whether a graph of the corpus is being built, be it by a line of a person's own."""
    return any(not job.ended for job in engine().preparing.of(_key(corpus)))


def _key(corpus: Corpus, one: Build | None = None) -> str:
    """The key of the job that makes a build; without one what all of the corpus begin with."""
    return f"build-{corpus.name}/{'' if one is None else place(corpus, one).name}"


@st.fragment(run_every=2.0)
def _watch(corpus: Corpus, one: Build, shown: bool) -> None:
    """Draws the page anew when this build was begun or ended elsewhere, as in another tab."""
    job = engine().preparing.get(_key(corpus, one))
    if (job is not None and not job.ended) != shown:
        st.rerun()


def _facts(now: Status) -> None:
    """What the build told of itself: time, language model, and what could not be read."""
    counts, used = now.report.get("counts", {}), now.report.get("usage", {})
    took, came = sum(now.report.get("seconds", {}).values()), now.report.get("shipped")
    parts = [
        many(counts.get("chunks", 0), "chunk"),
        tr("opened in {span}", span=span(took)) if came else tr("built in {span}", span=span(took)),
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
                "{replies} kept from before",
                replies=many(counts["replies kept"], "reply", "replies"),
            )
        )
    st.caption(plain("  ·  ".join(parts)), width="content")
    if came:
        caption("It came with these texts. {words}.", words=from_plain(ShippedBuild, came).words())
    unreadable = sum(counts.get(what, 0) for what in UNREADABLE)
    problems = []
    if unreadable and came:
        problems = [tr("{replies} could not be read", replies=many(unreadable, "reply", "replies"))]
    if counts.get("dropped"):
        problems.append(
            tr(
                "{facts} left out: without a name, or with one that is not in the chunk",
                facts=many(counts["dropped"], "fact"),
            )
        )
    notes = [*problems, *now.report.get("notes", ())]
    if notes:
        with st.popover(tr("What was left out or cut"), icon=":material/info:", type="tertiary"):
            for text in notes:
                st.text(text)
