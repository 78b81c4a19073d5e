"""Choice of a graph of a corpus: its kind, and who extracts or writes the summaries."""

from __future__ import annotations

import streamlit as st

from core.builds import GraphBuild, being_built, build_status, own_builds
from core.builds.catalogue import MODEL_SEPARATOR
from core.builds.shipped_data import builds_of, find_shipped_build
from core.corpus import Corpus
from core.errors import BadParameter
from core.models.registry import ModelInfo
from pages.parts.shared.session import engine
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr

OWN_KIND = "own"  # the kind of graphs by a user's own lines
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
READER_WORDS = {
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
        tr("Names found by a parser, described by AI"),
        tr("One call of a language model per chunk."),
    ),
    "llm": (tr("By AI"), tr("A language model finds more, and takes far longer.")),
    "paper": (
        tr("By AI, as in the papers"),
        tr("Chunks of 1,200 tokens, read twice. Needs a model with a long context."),
    ),
}
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


def choose_build(corpus: Corpus) -> GraphBuild:
    """Draw and return the choice of the kind of graph and of the build."""
    offered: dict[str, list[GraphBuild]] = {kind: [] for kind in BUILD_KIND_WORDS}
    builds_by_id, own = builds_of(corpus), own_builds(corpus)
    for build_spec in sorted(
        builds_by_id.values(),
        key=lambda one: (
            list(READER_WORDS).index(one.extractor)
            if one.extractor in READER_WORDS
            else len(READER_WORDS)
        ),
    ):
        if build_spec.graph in offered:
            offered[build_spec.graph].append(build_spec)
    offered[OWN_KIND] = list(own.values())
    built = [
        one
        for some in offered.values()
        for one in some
        if (now := build_status(corpus, one)).current or now.renamed
    ]
    came = (
        one
        for some in offered.values()
        for one in some
        if one.extractor == "opened" or find_shipped_build(corpus, one)
    )
    builds_offered = [*built, *(one for one in came if one not in built)]
    _select_first(corpus, offered, builds_offered)
    kind = st.segmented_control(
        tr("Kind of graph"),
        [kind for kind, some in offered.items() if some],
        key=Session.texts_kind.name,
        required=True,
        persist_state="session",
        format_func=lambda kind: BUILD_KIND_WORDS[kind][0],
    )
    assert kind is not None  # one is required
    kind_builds = offered[kind]
    chosen_key = Session.texts_build[kind]
    ids = [one.id for one in kind_builds]
    if chosen_key.value not in ids:
        chosen_key.value = next(
            (one for one in kind_builds if one in builds_offered),
            _first_runnable(corpus, kind_builds),
        ).id
    st.caption(
        f"""{BUILD_KIND_WORDS[kind][1]}{
            _runnable_kinds(
                [
                    other
                    for other, some in offered.items()
                    if other != kind and any(one in built for one in some)
                ]
            )
        }"""
    )
    chosen = ids[0]
    if len(ids) > 1:
        words = dict(zip(ids, _words(kind_builds)))
        chosen = st.radio(
            _choice_label(kind),
            ids,
            key=chosen_key.name,
            persist_state="session",
            format_func=lambda id: plain(words[id][0]),
            captions=[plain(words[id][1]) for id in ids],
            horizontal=True,
        )
    return (builds_by_id | own)[chosen]


def _choice_label(kind: str) -> str:
    """Return the label of the choice among the builds of a kind."""
    if kind == OWN_KIND:
        return tr("Which steps")
    if kind == "links":
        return tr("How documents are linked")
    if kind.startswith("tree"):
        return tr("How summaries are written")
    return tr("How entities are found")


def _select_first(
    corpus: Corpus, offered: dict[str, list[GraphBuild]], built: list[GraphBuild]
) -> None:
    """Select the first graph if another corpus was chosen or the page was reloaded.

    It is a graph that is being built, else the first available one. Graphs built on this computer
    come before shipped ones.
    """
    if session.texts_begun == corpus.name and offered.get(session.texts_kind):
        return
    session.texts_begun = corpus.name
    kinds = {one.id: kind for kind, some in offered.items() for one in some}
    built_kinds = [kinds[one.id] for one in built]
    kind_before = session.texts_kind if offered.get(session.texts_kind) else ""
    if not any(_can_run(corpus, one) for one in offered.get(kind_before, ())):
        kind_before = ""
    session.texts_kind = (
        built_kinds[0] if built_kinds and kind_before not in built_kinds else kind_before or "tkg"
    )
    for kind, kind_builds in offered.items():
        if not kind_builds:
            continue
        ready = [one for one in built if one in kind_builds]
        keep = ready or [one for one in kind_builds if _can_run(corpus, one)]
        if Session.texts_build[kind].value not in [one.id for one in keep]:
            Session.texts_build[kind].value = (ready or [_first_runnable(corpus, kind_builds)])[
                0
            ].id
    for build_spec in (
        one for some in offered.values() for one in some if being_built(corpus, one)
    ):
        session.texts_kind = kinds[build_spec.id]
        Session.texts_build[kinds[build_spec.id]].value = build_spec.id


def absent_models(build: GraphBuild) -> list[ModelInfo]:
    """Return the models that a build needs and that are not installed."""
    models = [engine().models.info(name) for name in build.line.models()]
    return [model for model in models if not model.present]


def _can_run(corpus: Corpus, build: GraphBuild) -> bool:
    """Return whether a build of a corpus has all that it needs."""
    if any(operator.lacks(corpus) for operator in build.line):
        return False
    try:
        return not absent_models(build)
    except BadParameter:  # A user's own line may name a model that was removed.
        return False


def _first_runnable(corpus: Corpus, builds: list[GraphBuild]) -> GraphBuild:
    """Return the first of some builds that can run, else the first of all."""
    return next((build for build in builds if _can_run(corpus, build)), builds[0])


def _runnable_kinds(kinds: list[str]) -> str:
    names = [BUILD_KIND_WORDS[kind][0].lower() for kind in kinds]
    return tr(" Also built: {names}.", names=", ".join(names)) if names else ""


def _words(some: list[GraphBuild]) -> list[tuple[str, str]]:
    """Return the label of each build and a line on it.

    Labels tell builds of one kind apart.
    """
    if some[0].graph.startswith("tree"):
        writer_words = WRITER_WORDS
    elif some[0].graph == "links":
        writer_words = LINK_WORDS
    else:
        writer_words = READER_WORDS
    times = [one.extractor for one in some if MODEL_SEPARATOR not in one.id].count
    return [
        _build_label(one, *writer_words[one.extractor])
        if one.extractor in writer_words and times(one.extractor) < 2
        else (one.title, one.notes)
        for one in some
    ]


def _build_label(one: GraphBuild, words: str, line: str) -> tuple[str, str]:
    """Return the label and the line of a build.

    The model is added if it is not the build's own.
    """
    model = one.id.partition(MODEL_SEPARATOR)[2]
    return (f"{words} ({model})", line) if model else (words, line)
