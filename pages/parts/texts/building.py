"""The graphs that can be built of a corpus: which one, what it will cost, how far it is, and what came out."""

from __future__ import annotations

import time

import streamlit as st

from core.builds import Build, Status, build, catalogue, status
from core.builds.cost import cost
from core.builds.run import place
from core.corpus import Corpus
from core.errors import HopscopeError
from core.graph.store import Graph
from core.io.durations import span, with_time_left
from core.runtime.jobs import CANCELLED, WAITING, Job
from pages.parts.shared.session import engine
from pages.parts.shared.text import many, plain
from pages.parts.shared.working import working
from pages.parts.texts.graph_view import look

KINDS = {
    "passage": ("Passage graph", "The chunks themselves, joined where they share an entity."),
    "tree": ("Tree", "Chunks at the bottom, above them summaries of those that are alike."),
    "tree-k": ("Tree by k-means", "The same over groups of ten, quicker on many texts (RAPTOR-K)."),
    "kg": ("Knowledge graph", "Entities, and the relations between them by name."),
    "kg-synonyms": ("Knowledge graph, alike names", "The same with edges between entities whose names mean nearly the same (HippoRAG)."),
    "tkg": ("Textual knowledge graph", "Entities and relations, each with a description in words."),
    "rkg": ("Rich knowledge graph", "Entities and relations with descriptions, relations with keywords as well."),
}
READERS = {
    "noun-phrases": ("Names and noun phrases", "No language model is asked."),
    "described": ("Names by a parser, described by a language model", "One call for each chunk."),
    "llm": ("A language model", "Finds more, and takes far longer."),
}
WRITERS = {
    "noun-phrases": ("Central sentences", "No language model: the sentences nearest to what all of them say."),
    "llm": ("A language model", "Written anew, which takes far longer."),
}
HERE, KIND = "texts_build", "texts_kind"
_ended: list[str] = []  # the builds that have ended here, as each may have made others cheaper
COST_KEPT = 600.0  # seconds after which what a build will cost is counted anew


def builds(corpus: Corpus) -> None:
    """Draw the choice of a graph, its state, and the graph where it is built."""
    one = _chosen(corpus)
    now, job = status(corpus, one), engine().preparing.get(_key(corpus, one))
    with st.container(border=True, key="texts-build"):
        _card(corpus, now, job)
    _watch(corpus, one, job is not None and not job.ended)
    if now.serves:
        graph = _opened(corpus, one)
        if graph is not None:
            if not now.current:
                st.caption(
                    "Meanwhile, the graph of the documents as they were before. Questions are asked on it too, until the new one is whole."
                )
            look(graph)


def _chosen(corpus: Corpus) -> Build:
    """The choice of the kind of graph, and of who reads the chunks."""
    offered: dict[str, list[Build]] = {kind: [] for kind in KINDS}
    for one in catalogue().values():
        if one.graph in offered:
            offered[one.graph].append(one)
    built = [one for some in offered.values() for one in some if status(corpus, one).current]
    _begin(corpus, offered, built)
    kind = st.segmented_control(
        "Kind of graph",
        [kind for kind, some in offered.items() if some],
        key=KIND,
        required=True,
        persist_state="session",
        format_func=lambda kind: KINDS[kind][0],
    )
    some = sorted(offered[kind], key=lambda one: list(READERS).index(one.extractor) if one.extractor in READERS else len(READERS))
    key = f"{HERE}-{kind}"
    ids = [one.id for one in some]
    if st.session_state.get(key) not in ids:
        st.session_state[key] = next((one.id for one in some if one in built), ids[0])
    st.caption(f"{KINDS[kind][1]}{_ready(built, kind)}")
    chosen = ids[0]
    if len(ids) > 1:
        words = dict(zip(ids, _words(some)))
        chosen = st.radio(
            "Who writes the summaries" if kind.startswith("tree") else "Who reads the chunks",
            ids,
            key=key,
            persist_state="session",
            format_func=lambda id: words[id][0],
            captions=[words[id][1] for id in ids],
            horizontal=True,
        )
    return catalogue()[chosen]


def _begin(corpus: Corpus, offered: dict[str, list[Build]], built: list[Build]) -> None:
    """Where other texts were chosen, begin with a graph that is there."""
    state = st.session_state
    if state.get("texts_begun") == corpus.name and state.get(KIND) in offered:
        return
    state.texts_begun = corpus.name
    state[KIND] = built[0].graph if built and state.get(KIND) not in {one.graph for one in built} else state.get(KIND, "tkg")
    for kind, some in offered.items():
        ready = [one.id for one in some if one in built]
        if ready and state.get(f"{HERE}-{kind}") not in ready:
            state[f"{HERE}-{kind}"] = ready[0]


def _ready(built: list[Build], kind: str) -> str:
    names = list(dict.fromkeys(KINDS[one.graph][0].lower() for one in built if one.graph != kind))
    return f" Built of these texts as well: {', '.join(names)}." if names else ""


def _words(some: list[Build]) -> list[tuple[str, str]]:
    """How each build is called among others of its kind, and a line on it."""
    who = WRITERS if some[0].graph.startswith("tree") else READERS
    times = [one.extractor for one in some].count
    return [who[one.extractor] if one.extractor in who and times(one.extractor) == 1 else (one.title, one.notes) for one in some]


def _card(corpus: Corpus, now: Status, job: Job | None) -> None:
    at_work = job is not None and not job.ended
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{plain(now.build.title)}**", width="content")
        if at_work:
            st.badge("waiting" if job.status == WAITING else "being built", color="orange", icon=":material/construction:")
        elif now.current:
            st.badge("built", color="green", icon=":material/check:")
        else:
            st.badge("of earlier documents" if now.built else "not built", color="gray")
        if now.current and not at_work:
            _told(now)
    if not now.current or at_work:
        st.caption(plain(now.build.line.words()))
        if not at_work:
            _start(corpus, now, job)
    if job is not None:
        ended = "Cancelled. What was read is kept, and building goes on from there." if job.status == CANCELLED and not now.current else ""
        working(job, now.build.id, ended, share=True)


def _start(corpus: Corpus, now: Status, before: Job | None) -> None:
    """What it will cost, and the button that starts it once that is known."""
    if now.built:
        st.write("The documents have changed since it was built. Only what depends on the changes is made anew.")
    counting = _counting(corpus, now.build)
    if counting.error:
        st.error(plain(counting.error))
        return
    if not counting.ended:
        _counted(counting)
        return
    known = counting.result
    kept = bool(known.chunks) and not known.missing
    told = (
        " ".join(["What the chunks tell is kept from before.", *known.later, *known.time()])
        if kept and _reads(now.build)
        else known.words()
    )
    st.write(plain(told))
    absent = _absent(now.build, kept)
    for how in absent:
        st.text(how)
    if not absent:
        words = "Build anew" if now.built else "Go on" if before is not None and 0 < known.missing < known.chunks else "Build"
        st.button(words, key="texts-start", type="primary", icon=":material/play_arrow:", on_click=start, args=(corpus, now.build))


def _reads(one: Build) -> bool:
    """Whether the chunks are read for this build."""
    return any(operator.stage == "extract" for operator in one.line)


def _absent(one: Build, kept: bool) -> list[str]:
    """How to get the models that it asks and that are not here; language models only where not all they would tell is `kept`."""
    models = [engine().models.info(name) for name in one.line.models()]
    return [model.how_to_get for model in models if not model.present and not (kept and model.kind == "chat")]


def _counting(corpus: Corpus, one: Build) -> Job:
    """The job that counts what a build will cost, anew where a build has ended since."""
    key = f"cost-{corpus.digest}-{one.id}-{len(_ended)}-{time.time() // COST_KEPT:.0f}"
    return engine().jobs.start(key, lambda: Job(key, lambda job: cost(corpus, one, engine().models, job.check)))


@st.fragment(run_every=0.4)
def _counted(job: Job) -> None:
    """The page is drawn anew once it has ended."""
    if job.ended or job.wait(0.3):
        st.rerun()
    st.caption(":material/hourglass_empty: Counting what is to be read …")


def start(corpus: Corpus, one: Build) -> Job:
    """The job that builds: the one at work where somebody began it before."""
    key = _key(corpus, one)

    def work(job: Job) -> None:
        job.tell("Cutting the documents into chunks")
        try:
            build(corpus, one, engine().models, with_time_left(job.tell), job.check)
        finally:
            _ended.append(key)

    return engine().preparing.start(key, lambda: Job(key, work), again=True)


def at_work(corpus: Corpus) -> bool:
    """Whether a graph of the corpus is being built."""
    jobs = [engine().preparing.get(_key(corpus, one)) for one in catalogue().values()]
    return any(job is not None and not job.ended for job in jobs)


def _key(corpus: Corpus, one: Build) -> str:
    return f"build-{corpus.name}-{place(corpus, one).name}"


@st.fragment(run_every=2.0)
def _watch(corpus: Corpus, one: Build, shown: bool) -> None:
    """Draws the page anew when this build was begun or ended elsewhere, as in another tab."""
    job = engine().preparing.get(_key(corpus, one))
    if (job is not None and not job.ended) != shown:
        st.rerun()


def _told(now: Status) -> None:
    """What the build told of itself: time, language model, and what could not be read."""
    counts, used = now.report.get("counts", {}), now.report.get("usage", {})
    took = sum(now.report.get("seconds", {}).values())
    parts = [many(counts.get("chunks", 0), "chunk"), f"built in {span(took)}"]
    if used.get("calls"):
        parts.append(f"{many(used['calls'], 'call')} of a language model, {used['tokens_in'] + used['tokens_out']:,} tokens")
    parts += [f"{many(counts['replies kept'], 'reply', 'replies')} kept from before"] if counts.get("replies kept") else []
    st.caption(plain("  ·  ".join(parts)), width="content")
    problems = [f"{many(counts['unread'], 'reply', 'replies')} could not be read"] if counts.get("unread") else []
    problems += [f"{many(counts['dropped'], 'fact')} named what is nowhere and fell away"] if counts.get("dropped") else []
    notes = [*problems, *now.report.get("notes", ())]
    if notes:
        with st.popover("What was left out or cut", icon=":material/info:", type="tertiary"):
            for text in notes:
                st.text(text)


def _opened(corpus: Corpus, one: Build) -> Graph | None:
    try:
        return engine().environment.built(corpus, one.id)
    except HopscopeError as error:
        st.error(plain(str(error)))
        return None
