"""Merges of duplicate entities in all graphs of a corpus.

A build joins names by rules. The user can reject what it joined, resolve names that fitted several
entities, and accept suggested pairs. The choices are saved with the corpus as `EntityMerges`: the
`edits` are merges, and the `refused` pairs are never merged.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from core.builds import GraphBuild, build_status, is_being_built
from core.builds.merge_suggestions import Suggestion, suggest_by_spelling, suggest_by_vectors
from core.builds.report import NameMerge, NameMerges, NearMerge, name_merges
from core.comparison.lane_run import build_of
from core.corpus import Corpus
from core.corpus.corpus import CORPUS_OWNED_KIND
from core.corpus.entity_merges import EntityMerges, change_merges, ordered_pair, read_merges
from core.errors import HopscopeError
from core.evaluation.runs.evaluation_jobs import evaluate
from core.evaluation.runs.plan import make_plan
from core.graph.edits import Edit, edit_graph, unmatched_edits
from core.graph.store import Graph
from core.methods.catalogue import Method, without_saved_merges
from core.runtime.jobs import Job
from pages.parts.shared.actions import button
from pages.parts.shared.job_progress import draw_job
from pages.parts.shared.people import visitor_refusal
from pages.parts.shared.sentences import caption
from pages.parts.shared.session import engine, methods, store
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.text import isolated, many, plain
from pages.parts.shared.wording import noun, tr
from pages.parts.texts.graph_comparison import method_on_build

FIRST_LISTED_ROWS = 8  # rows that each list shows at first
MAX_ROW_CANDIDATES = 3  # candidates of an ambiguous name that have a button
ROWS_PER_CLICK = 24  # rows that each click adds
MAX_COMPARED_ENTITIES = 100_000  # most entities whose names are compared while the page waits


@dataclass(frozen=True)
class MergeReview:
    """A graph of documents on the page, with the saved merges.

    Attributes
    ----------
    graph, merged_graph : the graph as built, and after the merges.
    merges : the saved merges and rejected pairs of the corpus.
    build_merges : the names that the build merged or nearly merged.
    refusal : the reason that this visitor may change nothing; empty if changes are allowed.
    """

    corpus: Corpus
    build: GraphBuild
    graph: Graph
    merged_graph: Graph
    merges: EntityMerges
    build_merges: NameMerges
    refusal: str

    @property
    def max_rows(self) -> int:
        """Number of rows that each list shows."""
        return session.mend_shown or FIRST_LISTED_ROWS

    def draw_button(
        self, label: str, change: Callable[[EntityMerges], EntityMerges], key: str, **options: Any
    ) -> None:
        """Draw a button that replaces the saved merges by `change` of them."""
        button(
            label,
            partial(change_merges, self.corpus, change),
            key=key,
            why_not=self.refusal,
            **options,
        )

    def draw_more_button(self, rows: int, key: str) -> None:
        """Draw the button that lists more rows, if there are more."""
        if rows > self.max_rows:
            label = tr("Show more · {rows:,} left", rows=rows - self.max_rows)
            show_more = partial(Session.mend_shown.put, self.max_rows + ROWS_PER_CLICK)
            button(label, show_more, type="tertiary", key=f"mend-more-{key}")


def review_merges(corpus: Corpus, build: GraphBuild, graph: Graph) -> MergeReview | None:
    """Return a graph of a build with the saved merges.

    It is None if the nodes are no entities, and if the merges cannot be read; the error is drawn.
    """
    table = graph.columns.nodes
    if table is None or table.has_column("level") or not graph.n_nodes:
        return None
    try:
        saved_merges = read_merges(corpus)
        merged_graph = edit_graph(graph, saved_merges.edits)
    except HopscopeError as error:
        st.error(plain(str(error)))
        return None
    refusal = visitor_refusal(CORPUS_OWNED_KIND, corpus.name) if corpus.own else ""
    merges = name_merges(build_status(corpus, build).report)
    return MergeReview(corpus, build, graph, merged_graph, saved_merges, merges, refusal)


def draw_merges(review: MergeReview, rebuild: Callable[[Corpus, GraphBuild], object]) -> None:
    """Draw the suggestions and merges of a graph. `rebuild` starts a new build of it."""
    caption(
        "A merge applies to all graphs of these texts, also when they are rebuilt. The "
        "documents do not change."
    )
    _draw_rebuild_button(review, partial(rebuild, review.corpus, review.build))
    _draw_suggestions(review)
    if review.build_merges.made or review.build_merges.near:
        _draw_ambiguous_names(review)
        _draw_joined_names(review)
    _draw_saved_merges(review)
    _draw_refusals(review)
    _draw_evaluation(review)


def count_undecided(review: MergeReview) -> int | None:
    """Return how many names may mean the same as others.

    It is None for a graph with too many entities to compare their names here.
    """
    if review.graph.n_nodes > MAX_COMPARED_ENTITIES:
        return None
    return len(_suggestions(review)) + len(_ambiguous_names(review))


def _draw_rebuild_button(review: MergeReview, rebuild: Callable[[], object]) -> None:
    """Draw the button that rebuilds the graph, if names were merged or rejected since."""
    status = build_status(review.corpus, review.build)
    if status.has_renamed:
        wait = tr("It is being built.") if is_being_built(review.corpus, review.build) else ""
        with _row_container("mend-anew"):
            st.markdown(f":material/info: {plain(status.outdated)}", width="stretch")
            button(
                tr("Rebuild"),
                rebuild,
                key="split-again",
                icon="refresh",
                why_not=review.refusal or wait,
            )


def _draw_joined_names(review: MergeReview) -> None:
    """Draw the names that the build merged, each with a button that rejects the merge."""
    merges = review.build_merges
    st.markdown(tr("**{names} merged by the build**", names=many(merges.made_in_all, "name")))
    for row_index, row in enumerate(merges.made[: review.max_rows]):
        names = (row.name, row.into)
        label, change, arrow = tr("Different"), EntityMerges.with_refusals, "→"
        if ordered_pair(*names) in review.merges.refused:
            label, change, arrow = tr("Undo “different”"), EntityMerges.without_refusals, "≠"
        with _row_container(f"joined-row-{row_index}"):
            words = (
                f"**{isolated(row.name)}** {arrow} **{isolated(row.into)}** "
                f"({many(row.times, 'document')})"
            )
            st.markdown(words, width="stretch", help=_document_words(row))
            with _button_container():
                st.badge(row.rule, color="gray")
                key = f"split-{row_index}-{row.name}-{row.into}"
                review.draw_button(label, partial(change, names=[names]), key, type="tertiary")
    review.draw_more_button(len(merges.made), "joined")
    if merges.made_in_all > len(merges.made):
        caption("Listed: the {made:,} that are in the most documents.", made=len(merges.made))


def _ambiguous_names(review: MergeReview) -> list[tuple[NearMerge, list[str]]]:
    """Return the names that fitted several entities, with their matches."""
    ambiguous = []
    for row in review.build_merges.near:
        candidates = [
            into
            for into in row.candidates
            if review.merged_graph.nodes_named(into)
            and ordered_pair(row.name, into) not in review.merges.refused
        ]
        if candidates and review.merged_graph.nodes_named(row.name):
            ambiguous.append((row, candidates))
    return ambiguous


def _draw_ambiguous_names(review: MergeReview) -> None:
    """Draw the names that fitted several entities, with their matches."""
    ambiguous = _ambiguous_names(review)
    if not ambiguous:
        return
    st.markdown(
        tr("**{names} with several possible matches**", names=many(len(ambiguous), "name")),
        help=tr("All in the same document, so none was chosen"),
    )
    for row_index, (row, candidates) in enumerate(ambiguous[: review.max_rows]):
        with _row_container(f"near-row-{row_index}"):
            words = f"**{isolated(row.name)}** ({many(row.times, 'document')})"
            st.markdown(words, width="stretch", help=_document_words(row))
            with _button_container():
                for into in candidates[:MAX_ROW_CANDIDATES]:
                    accept = partial(
                        EntityMerges.with_merges, edits=[Edit("merge", (row.name, into))]
                    )
                    label = tr("Merge into {into}", into=plain(into))
                    review.draw_button(label, accept, f"near-{row_index}-{row.name}-{into}")
                pairs = [(row.name, into) for into in row.candidates]
                refuse = partial(EntityMerges.with_refusals, names=pairs)
                review.draw_button(
                    tr("None of them"), refuse, f"none-{row_index}-{row.name}", type="tertiary"
                )
    review.draw_more_button(len(ambiguous), "near")


def _row_container(key: str) -> Any:
    return st.container(horizontal=True, vertical_alignment="center", gap="small", key=key)


def _button_container() -> Any:
    """Return the container of a row's buttons, which wrap together on a narrow screen."""
    return st.container(horizontal=True, vertical_alignment="center", gap="small", width="content")


def _document_words(row: NameMerge | NearMerge) -> str:
    """Return the documents of a name in words.

    An ellipsis means that not all are recorded.
    """
    more = " …" if row.times > len(row.documents) else ""
    return plain(tr("In {documents}{more}", documents=", ".join(row.documents), more=more))


def _draw_suggestions(review: MergeReview) -> None:
    """Draw pairs of names that may mean the same.

    Each has buttons to merge or reject it.
    """
    if review.graph.n_nodes > MAX_COMPARED_ENTITIES:
        caption(
            "This graph has more than {limit:,} entities. The command line lists which names may be "
            "the same:",
            limit=MAX_COMPARED_ENTITIES,
        )
        st.code(
            shlex.join(["hopscope", "corpus", "mend", review.corpus.name]),
            language=None,
        )
        return
    job = engine().jobs.get(_vector_job_key(review.graph))
    is_done = job is not None and job.has_ended
    suggestions = _suggestions(review)
    st.markdown(f"**{many(len(suggestions), 'suggestion')}**")
    if not suggestions and is_done:
        caption("None left.")
    elif not suggestions:
        caption("No names differ only in case, accents, apostrophes or plural.")
    for index, suggestion in enumerate(suggestions[: review.max_rows]):
        _draw_suggestion(review, index, suggestion)
    with st.container(horizontal=True, gap="small"):
        review.draw_more_button(len(suggestions), "suggested")
        if job is None or (job.has_ended and job.error):
            compare = partial(_compare_vectors, review)
            button(tr("Also find similar names"), compare, key="mend-alike", icon="search")
    if job is not None:
        draw_job(job, "mend-alike", "")


def _suggestions(review: MergeReview) -> list[Suggestion]:
    """Return the undecided pairs of similar spelling, and of similar vectors once compared."""
    suggestions = list(
        _pairs_by_spelling(
            review.merged_graph.digest, review.merges.refused, review.merged_graph, review.merges
        )
    )
    job = engine().jobs.get(_vector_job_key(review.graph))
    if job is not None and job.has_ended and not job.error:
        suggestions += _undecided_pairs(job.result, review)
    return suggestions


def _draw_suggestion(review: MergeReview, index: int, suggestion: Suggestion) -> None:
    name, into = suggestion.edit.names
    reason = (
        suggestion.reason
        if suggestion.cosine is None
        else tr("similar, {cosine:.2f}", cosine=suggestion.cosine)
    )
    with _row_container(f"mend-row-{index}"):
        words = (
            f"**{isolated(name)}** ({suggestion.passages[0]:,}) → **{isolated(into)}** "
            f"({suggestion.passages[1]:,})"
        )
        st.markdown(words, width="stretch", help=tr("In brackets: how many chunks mention it"))
        with _button_container():
            st.badge(reason, color="gray")
            accept = partial(EntityMerges.with_merges, edits=[suggestion.edit])
            review.draw_button(tr("Merge"), accept, f"mend-{name}-{into}")
            turned = Edit("merge", (into, name))
            turn = partial(EntityMerges.with_merges, edits=[turned])
            review.draw_button(
                tr("Merge the other way"),
                turn,
                f"turn-{name}-{into}",
                icon="swap_horiz",
                type="tertiary",
                help=tr("Keeps the name “{name}”", name=name),
            )
            refuse = partial(EntityMerges.with_refusals, names=[suggestion.edit.names])
            review.draw_button(tr("Different"), refuse, f"refuse-{name}-{into}", type="tertiary")


@st.cache_data(max_entries=8, show_spinner=tr("Comparing names …"))
def _pairs_by_spelling(
    digest: str, refused: tuple, _graph: Graph, _merges: EntityMerges
) -> list[Suggestion]:
    """Return the pairs of similar spelling.

    `digest` and `refused` are the key of the cache.
    """
    return suggest_by_spelling(_graph, _merges)


def _undecided_pairs(pairs: list[Suggestion], review: MergeReview) -> list[Suggestion]:
    """Return the pairs found by vectors, without those that were merged or rejected since."""
    undecided_pairs = []
    for pair in pairs:
        names = pair.edit.names
        is_refused = ordered_pair(*names) in review.merges.refused
        if not is_refused and all(map(review.merged_graph.nodes_named, names)):
            undecided_pairs.append(pair)
    return undecided_pairs


def _vector_job_key(graph: Graph) -> str:
    return f"mend-alike-{graph.digest}"


def _compare_vectors(review: MergeReview) -> None:
    """Start the job that finds pairs of names with similar vectors."""

    def work(job: Job) -> list[Suggestion]:
        job.report(tr("Comparing the vectors of names"))
        return suggest_by_vectors(review.graph, review.merges, engine().models.encoder(), watch=job)

    engine().jobs.run(_vector_job_key(review.graph), work)


def _draw_saved_merges(review: MergeReview) -> None:
    """Draw the saved merges, each with a button that undoes it.

    Merges whose names are not in the graph are marked and come last.
    """
    saved_edits = review.merges.edits
    if not saved_edits:
        return
    absent = set(unmatched_edits(review.graph, saved_edits))
    st.markdown(f"**{many(len(saved_edits), 'merge')}**")
    if absent:
        unused_text = tr(
            "{merges} {fits} no names in this graph. Saved for other graphs.",
            merges=many(len(absent), "merge"),
            fits=noun(len(absent), "fits", "fit"),
        )
        st.caption(plain(unused_text))
    edits = sorted(saved_edits, key=lambda edit: edit not in absent)
    with st.container(horizontal=True, gap="small", key="mend-saved"):
        for edit in edits[: review.max_rows]:
            words = (
                f"{isolated(edit.names[0])} → "
                f"{isolated(edit.names[1])}{tr(' (not here)') if edit in absent else ''}"
            )
            forget = partial(EntityMerges.without_merges, edits=[edit])
            key = f"unmend-{edit.to_text()}"
            review.draw_button(words, forget, key, icon="undo", help=tr("Undo this merge"))
        if len(edits) > 1:
            review.draw_button(
                tr("Undo all"),
                lambda merges: merges.without_merges(merges.edits),
                "unmend-all",
                type="tertiary",
            )
    review.draw_more_button(len(edits), "saved")


def _draw_refusals(review: MergeReview) -> None:
    """Draw the pairs marked as different, each with a button that undoes the mark.

    Pairs in the list of the build's merges are left out.
    """
    made = review.build_merges.made[: review.max_rows]
    listed_pairs = {ordered_pair(row.name, row.into) for row in made}
    pairs = [names for names in review.merges.refused if names not in listed_pairs]
    if not pairs:
        return
    st.markdown(tr("**{pairs} marked as different**", pairs=many(len(pairs), "pair")))
    help = tr("Undo “different”: they may be suggested and merged again")
    with st.container(horizontal=True, gap="small", key="mend-refused"):
        for names in pairs[: review.max_rows]:
            allow = partial(EntityMerges.without_refusals, names=[names])
            key = f"allow-{names[0]}-{names[1]}"
            review.draw_button(" ≠ ".join(map(isolated, names)), allow, key, icon="undo", help=help)
    review.draw_more_button(len(pairs), "refused")


def _draw_evaluation(review: MergeReview) -> None:
    """Draw the form that evaluates the graph before and after the merges."""
    if not review.merges.edits:
        return
    build_methods = _methods_on(review.build)
    sets = review.corpus.sets
    st.markdown(tr("**Before and after**"))
    if not sets:
        caption("These texts have no question set.")
        return
    if not build_methods:
        caption("No method of the catalogue uses this kind of graph.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        set_name = st.selectbox(
            tr("Question set"),
            list(sets),
            key="mend_set",
            format_func=lambda name: plain(sets[name]),
            width=320,
        )
        method_id = st.selectbox(
            tr("Method"),
            list(build_methods),
            key="mend_line",
            format_func=lambda id: plain(tr(build_methods[id].label)),
            width=320,
        )
        method = build_methods[method_id]
        button(
            tr("Evaluate"),
            partial(_evaluate, review.corpus.name, set_name, method, session.mend_model),
            key="mend-evaluate",
            icon="leaderboard",
        )
        st.toggle(
            tr("With a language model"),
            key=Session.mend_model.name,
            help=tr("A language model answers; otherwise only retrieval is measured."),
        )
    number = Session.mend_run[review.corpus.name].value
    if number:
        job = engine().evaluations.get(f"evaluation-{number}")
        if job is not None:
            draw_job(job, f"mend-run-{number}", tr("It has ended."), share=True)
        words = tr("See both on Evaluate, compared on the same questions")
        st.page_link(
            "pages/evaluate.py",
            label=words,
            icon=":material/leaderboard:",
            query_params={"run": str(number)},
        )


def _methods_on(build: GraphBuild) -> dict[str, Method]:
    """Return the methods for the kind of graph of a build.

    They are by id. If the build is a user's own line, the methods use this build.
    """
    build_methods = {}
    for id, method in methods().items():
        if build_of(method.line) in (build.graph, build.id):
            build_methods[id] = method_on_build(method, build) if build.is_own else method
    return build_methods


def _evaluate(corpus_name: str, set_name: str, method: Method, model: bool) -> None:
    """Start the evaluation of a method without and with the saved merges.

    An equal evaluation that exists already is shown instead.
    """
    plan = make_plan(
        (without_saved_merges(method), method), set_name, None, engine().graph, model=model
    )
    Session.mend_run[corpus_name].value = evaluate(engine(), store(), plan).number
