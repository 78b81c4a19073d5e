"""Choice of a build of a corpus on the page Texts.

A build is a line of operators that makes a graph of the documents. Builds of one kind of graph
differ in how entities are extracted, summaries written or documents linked, which is the
`extractor` of a `GraphBuild`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import partial
from itertools import chain

import streamlit as st

from core.builds import GraphBuild, build_for, build_status, is_being_built, own_builds
from core.builds.catalogue import MODEL_SEPARATOR
from core.builds.shipped_data import builds_of, find_shipped_build
from core.corpus import Corpus
from core.errors import BadParameter
from core.models.registry import ModelInfo
from pages.parts.shared.sentences import caption
from pages.parts.shared.session import engine
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr

OWN_KIND = "own"  # the kind of graphs by a user's own lines
DEFAULT_KIND = "tkg"  # the kind of graph that is built first
# Ways to build a graph, each a short list of builds.
FAST_WAY = tr("Fast, no AI")
AI_WAY = tr("With AI")
PAPER_WAY = tr("As a paper does")
# Kinds of graph that are offered without AI, and with it.
WAY_KINDS = (DEFAULT_KIND, "kg", "passage", "tree", "links")
AI_KINDS = (DEFAULT_KIND, "tree")
AI_EXTRACTORS = ("described", "llm")
N_RANKS = 4  # ranks of available builds

# Label and description of each kind of graph, in the order of the choice.
BUILD_KIND_WORDS = {
    "passage": (
        tr("Passage graph"),
        tr("The chunks themselves, linked where they share an entity."),
    ),
    "tree": (tr("Tree"), tr("Chunks at the bottom, summaries of similar ones above them.")),
    "tree-k": (
        tr("Tree by k-means"),
        tr("The same with groups of ten; faster on many texts (RAPTOR-K)."),
    ),
    "kg": (tr("Knowledge graph"), tr("Entities, and named relations between them.")),
    "kg-synonyms": (
        tr("Knowledge graph, similar names linked"),
        tr("The same with links between names that mean nearly the same (HippoRAG)."),
    ),
    "tkg": (
        tr("Entities with descriptions"),
        tr("Entities and relations, each described in words (textual knowledge graph)."),
    ),
    "tkg-synonyms": (
        tr("Entities with descriptions, similar ones linked"),
        tr("The same with “is” links between entities of nearly the same meaning (fast-graphrag)."),
    ),
    "rkg": (
        tr("Entities with descriptions and keywords"),
        tr("The same, and keywords for each relation (rich knowledge graph)."),
    ),
    "links": (
        tr("Linked documents"),
        tr("The documents themselves, joined by links (FastInsight's corpus graph)."),
    ),
    OWN_KIND: (
        tr("Own steps"),
        tr("Graphs by steps that you changed here or wrote on the command line."),
    ),
}
# Label and description of each extractor of entities, in the order of the choice.
EXTRACTOR_WORDS = {
    "opened": (
        tr("Another tool's index"),
        tr("As the tool built it. Its vectors are used if the encoder is the same."),
    ),
    "names": (
        tr("Fast, no AI (names and key terms)"),
        tr("Spellings of a name are merged, common phrases left out."),
    ),
    "noun-phrases": (
        tr("Fast, no AI (names and noun phrases)"),
        tr("As LazyGraphRAG does."),
    ),
    "described": (
        tr("Names found by rules, described by AI"),
        tr("One call of a language model per chunk."),
    ),
    "llm": (tr("By AI"), tr("A language model finds more, and takes far longer.")),
    "paper": (
        tr("By AI, as in the papers"),
        tr("Chunks of 1,200 tokens, read twice. Needs a model with a long context."),
    ),
}
# The same for the origin of the links between documents, which is the extractor of such a graph.
LINK_WORDS = {
    "given": (tr("Their own links"), tr("Links that the documents came with, such as references.")),
    "nearest": (
        tr("Similar meaning"),
        tr("Each document is linked to the most similar ones by the encoder."),
    ),
    "terms": (tr("Rare words in common"), tr("No model is needed.")),
    "cited": (
        tr("References in the text"),
        tr("For papers with titles and reference lists. No model is needed."),
    ),
    "cited-llm": (
        tr("References found by AI"),
        tr("One call of a language model per chunk of 4,096 characters."),
    ),
}
# The same for the writer of the summaries of a tree, which is the extractor of such a graph.
WRITER_WORDS = {
    "noun-phrases": (
        tr("Central sentences (no AI)"),
        tr("Quotes the sentences nearest to what all of them say."),
    ),
    "llm": (tr("By AI"), tr("A language model writes them, which takes far longer.")),
    "paper": (
        tr("By AI, as in the papers"),
        tr("Chunks of 1,200 tokens. Needs a model with a long context."),
    ),
}


def page_build(corpus: Corpus) -> GraphBuild:
    """Return the build whose graph is on the page.

    It is the one that was chosen for this corpus. Otherwise it is the first available one, the one
    that methods would use, or another one, of those that are built or can run.
    """
    builds = _all_builds(corpus)
    chosen_id = Session.texts_graph[corpus.name].value
    for build in builds:
        if build.id == chosen_id:
            return build
    usual = build_for(corpus, DEFAULT_KIND)
    candidates = (*available_builds(corpus), usual, *way_builds(corpus)[FAST_WAY], *builds)
    for build in candidates:
        is_there = build_status(corpus, build).can_be_opened or is_being_built(corpus, build)
        if is_there or can_run(corpus, build):
            return build
    return usual


def available_builds(corpus: Corpus) -> list[GraphBuild]:
    """Return the builds that have a graph, or will have one without further reading.

    The order is: built, being built, made elsewhere, built of earlier documents. Of several, the
    one that methods would use is first.
    """
    usual = build_for(corpus, DEFAULT_KIND)
    ranks = {build.id: _availability(corpus, build) for build in _all_builds(corpus)}
    builds = [build for build in _all_builds(corpus) if ranks[build.id] < N_RANKS]
    return sorted(builds, key=lambda build: (ranks[build.id], build != usual))


def _availability(corpus: Corpus, build: GraphBuild) -> int:
    """Return the rank of a build among the available ones, `N_RANKS` if it is not available."""
    status = build_status(corpus, build)
    is_ready_made = build.extractor == "opened" or find_shipped_build(corpus, build) is not None
    conditions = (
        status.is_current or status.has_renamed,  # even if names were merged since
        is_being_built(corpus, build),
        is_ready_made,
        status.is_built,
    )
    return next((rank for rank, holds in enumerate(conditions) if holds), N_RANKS)


def way_builds(corpus: Corpus) -> dict[str, list[GraphBuild]]:
    """Return the builds of each way to build a graph, in the order in which they are offered."""
    groups = _builds_by_kind(builds_of(corpus).values(), ())
    fast: list[GraphBuild] = []
    for kind in WAY_KINDS:
        fitting = [build for build in groups[kind] if _fits(corpus, build)]
        fast += list(filter(_is_fast, fitting))[:1]
    with_ai = list(chain.from_iterable(groups[kind] for kind in AI_KINDS))
    return {
        FAST_WAY: fast,
        AI_WAY: [build for build in with_ai if build.extractor in AI_EXTRACTORS],
        PAPER_WAY: list(filter(partial(_is_of_paper, corpus), chain(*groups.values()))),
    }


def _is_fast(build: GraphBuild) -> bool:
    """Return whether a build reads the documents without a language model."""
    return not build.line.uses_chat_model and build.extractor != "opened"


def _is_of_paper(corpus: Corpus, build: GraphBuild) -> bool:
    """Return whether a build makes the graph of a paper in the paper's way."""
    in_its_way = build.extractor == "paper" or build.graph == "links"
    return bool(build.paper) and in_its_way and _fits(corpus, build)


def choose_way_build(corpus: Corpus, way: str) -> GraphBuild | None:
    """Draw the builds of a way, and return the chosen one.

    The first that can run is chosen at first. It is None as long as none is chosen.
    """
    builds = {build.id: build for build in way_builds(corpus)[way]}
    choice = Session.texts_way_build[way]
    if choice.value not in builds:
        runnable = (id for id, build in builds.items() if can_run(corpus, build))
        choice.value = next(runnable, None)
    words = {id: way_words(way, build) for id, build in builds.items()}
    chosen_id = st.radio(
        tr("Graph"),
        list(builds),
        key=choice.name,
        persist_state="session",
        format_func=lambda id: plain(words[id][0]),
        captions=[plain(words[id][1]) for id in builds],
        label_visibility="collapsed",
    )
    if chosen_id is None:
        caption("Nothing here can run yet. Choose one to see what it costs and what is missing.")
        return None
    return builds[chosen_id]


def way_words(way: str, build: GraphBuild) -> tuple[str, str]:
    """Return the label and the description of a build of a way, with the models that it lacks.

    A build as in a paper is named by it.
    """
    label, description = BUILD_KIND_WORDS[build.graph]
    extractor_label, extractor_description = _labels([build])[0]
    if way == PAPER_WAY:
        if build.extractor != "paper":  # another way to link documents
            description = extractor_description
        label, description = re.split("[,:(]", build.paper)[0].strip(), f"{label}. {description}"
    elif way == AI_WAY:
        label, description = f"{label}: {extractor_label}", extractor_description
    absent = ", ".join(model.name for model in absent_models(build))
    missing_text = tr(" Not installed: {models}.", models=absent) if absent else ""
    return label, f"{description}{missing_text}"


def build_words(build: GraphBuild) -> str:
    """Return a build in a few words: the kind of graph, and how its entities are found."""
    if build.is_own or build.extractor == "opened":
        return build.title
    return f"{BUILD_KIND_WORDS[build.graph][0]} · {_labels([build])[0][0]}"


def choose_corpus_build(corpus: Corpus) -> GraphBuild:
    """Draw the choices of kind and build, and return the build."""
    groups = _builds_by_kind(builds_of(corpus).values(), own_builds(corpus).values())
    if session.texts_kind_for != corpus.name or not groups.get(session.texts_kind):
        first = page_build(corpus)
        session.texts_kind_for = corpus.name
        session.texts_kind = OWN_KIND if first.is_own else first.graph
        Session.texts_build[session.texts_kind].value = first.id
    kind = st.segmented_control(
        tr("Kind of graph"),
        [kind for kind, builds in groups.items() if builds],
        key=Session.texts_kind.name,
        required=True,
        persist_state="session",
        format_func=lambda kind: BUILD_KIND_WORDS[kind][0],
    )
    assert kind is not None  # one is required
    builds = {build.id: build for build in groups[kind]}
    choice = Session.texts_build[kind]
    if choice.value not in builds:
        runnable = (id for id, build in builds.items() if can_run(corpus, build))
        choice.value = next(runnable, next(iter(builds)))
    st.caption(BUILD_KIND_WORDS[kind][1])
    return builds[_draw_builds(kind, groups[kind])]


def _all_builds(corpus: Corpus) -> list[GraphBuild]:
    """Return the builds that are offered for a corpus."""
    groups = _builds_by_kind(builds_of(corpus).values(), own_builds(corpus).values())
    return list(chain.from_iterable(groups.values()))


def _builds_by_kind(
    catalogue: Iterable[GraphBuild], user_builds: Iterable[GraphBuild]
) -> dict[str, list[GraphBuild]]:
    """Return the builds that are offered, by kind of graph.

    The builds of a kind are in the order of `EXTRACTOR_WORDS`.
    """
    groups: dict[str, list[GraphBuild]] = {kind: [] for kind in BUILD_KIND_WORDS}
    for build in sorted(catalogue, key=_extractor_rank):
        if build.graph in groups:
            groups[build.graph].append(build)
    groups[OWN_KIND] = list(user_builds)
    return groups


def _extractor_rank(build: GraphBuild) -> int:
    """Return the rank of a build's extractor in `EXTRACTOR_WORDS`.

    Other extractors come last.
    """
    if build.extractor not in EXTRACTOR_WORDS:
        return len(EXTRACTOR_WORDS)
    return list(EXTRACTOR_WORDS).index(build.extractor)


def _draw_builds(kind: str, builds: list[GraphBuild]) -> str:
    """Draw the choice among builds of a kind and return its id.

    One build is returned without a choice.
    """
    ids = [build.id for build in builds]
    if len(ids) == 1:
        return ids[0]
    words = dict(zip(ids, _labels(builds)))
    return st.radio(
        _choice_label(kind),
        ids,
        key=Session.texts_build[kind].name,
        persist_state="session",
        format_func=lambda id: plain(words[id][0]),
        captions=[plain(words[id][1]) for id in ids],
        horizontal=True,
    )


def _choice_label(kind: str) -> str:
    """Return the label of the choice among the builds of a kind."""
    if kind == OWN_KIND:
        return tr("Which steps")
    if kind == "links":
        return tr("How documents are linked")
    if kind.startswith("tree"):
        return tr("How summaries are written")
    return tr("How entities are found")


def absent_models(build: GraphBuild) -> list[ModelInfo]:
    """Return the models that a build needs and that are not installed."""
    models = [engine().models.info(name) for name in build.line.models()]
    return [model for model in models if not model.present]


def can_run(corpus: Corpus, build: GraphBuild) -> bool:
    """Return whether a build of a corpus has all that it needs."""
    if not _fits(corpus, build):
        return False
    try:
        absent = absent_models(build)
    except BadParameter:  # A user's own line may name a model that was removed.
        return False
    # A graph that comes with the documents brings the replies of its language models.
    if find_shipped_build(corpus, build) is not None:
        absent = [model for model in absent if model.kind != "chat"]
    return not absent


def _fits(corpus: Corpus, build: GraphBuild) -> bool:
    """Return whether a corpus has all that a build reads, such as links."""
    return not any(operator.missing_requirement(corpus) for operator in build.line)


def _labels(builds: list[GraphBuild]) -> list[tuple[str, str]]:
    """Return a label and a description of each build of one kind.

    A build whose extractor occurs once is labelled by its extractor. Builds that share an extractor
    have their own titles, so that no two labels are equal.
    """
    if builds[0].graph.startswith("tree"):
        words = WRITER_WORDS
    elif builds[0].graph == "links":
        words = LINK_WORDS
    else:
        words = EXTRACTOR_WORDS
    counts = Counter(build.extractor for build in builds if MODEL_SEPARATOR not in build.id)
    labels = []
    for build in builds:
        label, description = build.title, build.notes
        if build.extractor in words and counts[build.extractor] < 2:
            label, description = words[build.extractor]
            # The id names a model that is not the build's own.
            model = build.id.partition(MODEL_SEPARATOR)[2]
            if model:
                label = f"{label} ({model})"
        labels.append((label, description))
    return labels
