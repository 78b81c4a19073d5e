"""Choice of a build of a corpus on the page Texts.

A build is a line of operators that makes a graph of the documents. The user first chooses the kind
of graph, then one of its builds. These differ in how entities are extracted, summaries written or
documents linked, which is the `extractor` of a `GraphBuild`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import chain

import streamlit as st

from core.builds import GraphBuild, build_status, is_being_built, own_builds
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
        tr("Names found by a parser, described by AI"),
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


def choose_corpus_build(corpus: Corpus) -> GraphBuild:
    """Draw the choices of kind and build, and return the build."""
    builds_by_id = builds_of(corpus)
    user_builds = own_builds(corpus)
    groups = _builds_by_kind(builds_by_id.values(), user_builds.values())
    offered = list(chain.from_iterable(groups.values()))
    built = [build for build in offered if _is_built(corpus, build)]
    ready_made = [build for build in offered if _is_ready_made(corpus, build)]
    # Built here first, so that a fresh page shows these rather than graphs of other tools.
    available = [*built, *(build for build in ready_made if build not in built)]
    _select_first(corpus, groups, available)
    kind = st.segmented_control(
        tr("Kind of graph"),
        [kind for kind, builds in groups.items() if builds],
        key=Session.texts_kind.name,
        required=True,
        persist_state="session",
        format_func=lambda kind: BUILD_KIND_WORDS[kind][0],
    )
    assert kind is not None  # one is required
    _keep_or_select(corpus, kind, groups[kind], available)
    other_kinds = [
        other
        for other, builds in groups.items()
        if other != kind and any(build in built for build in builds)
    ]
    st.caption(f"{BUILD_KIND_WORDS[kind][1]}{_also_built_text(other_kinds)}")
    return (builds_by_id | user_builds)[_draw_builds(kind, groups[kind])]


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


def _is_built(corpus: Corpus, build: GraphBuild) -> bool:
    """Return whether a graph is built, even if names were merged since."""
    status = build_status(corpus, build)
    return status.is_current or status.has_renamed


def _is_ready_made(corpus: Corpus, build: GraphBuild) -> bool:
    """Return whether a graph was built elsewhere.

    It was built by another tool, or comes with the documents.
    """
    return build.extractor == "opened" or find_shipped_build(corpus, build) is not None


def _keep_or_select(
    corpus: Corpus, kind: str, builds: list[GraphBuild], available: list[GraphBuild]
) -> None:
    """Keep the selected build of a kind if it is offered, else select another one.

    The first available build is selected, else the first that can run.
    """
    chosen_key = Session.texts_build[kind]
    if chosen_key.value not in [build.id for build in builds]:
        ready = [build for build in builds if build in available]
        chosen_key.value = (ready[0] if ready else _first_runnable(corpus, builds)).id


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


def _select_first(
    corpus: Corpus, groups: dict[str, list[GraphBuild]], available: list[GraphBuild]
) -> None:
    """Select a graph on a new corpus or a reloaded page.

    A graph that is being built is selected, else the first available one. `available` has graphs
    built on this computer before ready-made ones.
    """
    if session.texts_kind_for == corpus.name and groups.get(session.texts_kind):
        return
    session.texts_kind_for = corpus.name
    kinds: dict[str, str] = {}
    for kind, builds in groups.items():
        kinds |= dict.fromkeys((build.id for build in builds), kind)
    session.texts_kind = _first_kind(corpus, groups, [kinds[build.id] for build in available])
    for kind, builds in groups.items():
        if builds:
            _select_first_of_kind(corpus, kind, builds, available)
    for build in chain.from_iterable(groups.values()):
        if is_being_built(corpus, build):
            session.texts_kind = kinds[build.id]
            Session.texts_build[kinds[build.id]].value = build.id


def _first_kind(
    corpus: Corpus, groups: dict[str, list[GraphBuild]], available_kinds: list[str]
) -> str:
    """Return the kind of graph to select for a new corpus.

    The kind of the previous corpus stays if one of its builds can run, unless only other kinds are
    available. Otherwise it is the first available kind, or the default kind if none is.
    """
    old_kind = session.texts_kind
    if not any(_can_run(corpus, build) for build in groups.get(old_kind, ())):
        old_kind = ""
    if available_kinds and old_kind not in available_kinds:
        return available_kinds[0]
    return old_kind or "tkg"


def _select_first_of_kind(
    corpus: Corpus, kind: str, builds: list[GraphBuild], available: list[GraphBuild]
) -> None:
    """Select the first available build of a kind, unless an available one is selected.

    If none is available, the same is done with the builds that can run.
    """
    ready = [build for build in available if build in builds]
    selectable = ready or [build for build in builds if _can_run(corpus, build)]
    chosen_key = Session.texts_build[kind]
    if chosen_key.value not in [build.id for build in selectable]:
        first = ready[0] if ready else _first_runnable(corpus, builds)
        chosen_key.value = first.id


def absent_models(build: GraphBuild) -> list[ModelInfo]:
    """Return the models that a build needs and that are not installed."""
    models = [engine().models.info(name) for name in build.line.models()]
    return [model for model in models if not model.present]


def _can_run(corpus: Corpus, build: GraphBuild) -> bool:
    """Return whether a build of a corpus has all that it needs."""
    if any(operator.missing_requirement(corpus) for operator in build.line):
        return False
    try:
        return not absent_models(build)
    except BadParameter:  # A user's own line may name a model that was removed.
        return False


def _first_runnable(corpus: Corpus, builds: list[GraphBuild]) -> GraphBuild:
    """Return the first build that can run.

    If none can, return the first of all.
    """
    return next((build for build in builds if _can_run(corpus, build)), builds[0])


def _also_built_text(kinds: list[str]) -> str:
    names = [BUILD_KIND_WORDS[kind][0].lower() for kind in kinds]
    return tr(" Also built: {names}.", names=", ".join(names)) if names else ""


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
