"""Merges of duplicate entities, for all graphs of the documents, and the evaluation of their
effect.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from core.builds import GraphBuild, being_built, build_status
from core.builds.merge_suggestions import Suggestion, suggest_by_spelling, suggest_by_vectors
from core.builds.report import NameMerge, NameMerges, NearMerge, name_merges
from core.comparison.lane_run import build_of
from core.corpus import Corpus
from core.corpus.corpus import OWNED_KIND
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

FIRST_LISTED_ROWS = 8  # suggestions, and merges, that are listed at first
MAX_ROW_CANDIDATES = 3  # candidates of an ambiguous name for which a row has room
ROWS_PER_CLICK = 24  # rows that each click adds
MAX_COMPARED_ENTITIES = 100_000  # most entities whose names are compared while the page waits


@dataclass(frozen=True)
class MergeReview:
    """A graph of documents on the page, with the saved merges.

    Attributes
    ----------
    graph, now : the graph as built, and after the merges.
    why : the reason that nothing may be changed; empty if it may.
    """

    corpus: Corpus
    build: GraphBuild
    graph: Graph
    now: Graph
    mends: EntityMerges
    why: str

    @property
    def most(self) -> int:
        """Number of rows that each list shows."""
        return session.mend_shown or FIRST_LISTED_ROWS

    def button(
        self, label: str, change: Callable[[EntityMerges], EntityMerges], key: str, **look: Any
    ) -> None:
        """Draw a button that changes the saved merges."""
        button(
            label, partial(change_merges, self.corpus, change), key=key, why_not=self.why, **look
        )

    def more(self, rows: int, key: str) -> None:
        """Draw the button that lists more rows, if there are more."""
        if rows > self.most:
            label = tr("Show more · {rows:,} left", rows=rows - self.most)
            show_more = partial(Session.mend_shown.put, self.most + ROWS_PER_CLICK)
            button(label, show_more, type="tertiary", key=f"mend-more-{key}")


def draw_merges(
    corpus: Corpus, one: GraphBuild, graph: Graph, rebuild: Callable[[Corpus, GraphBuild], object]
) -> Graph:
    """Draw the suggestions and merges, and return the merged graph.

    A graph without entities is returned as it is. `rebuild` starts a new build of the graph.
    """
    table = graph.columns.nodes
    if table is None or table.has("level") or not graph.n_nodes:
        return graph
    try:
        mends = read_merges(corpus)
        merged_graph = edit_graph(graph, mends.edits)
    except HopscopeError as error:
        st.error(plain(str(error)))
        return graph
    why = visitor_refusal(OWNED_KIND, corpus.name) if corpus.own else ""
    review = MergeReview(corpus, one, graph, merged_graph, mends, why)
    with st.expander(tr("Duplicate names"), icon=":material/healing:", key="texts_mend"):
        caption(
            "A merge applies to all graphs of these texts, also when they are rebuilt. The "
            "documents do not change."
        )
        _draw_rebuild_button(review, partial(rebuild, corpus, one))
        merges = name_merges(build_status(corpus, one).report)
        if merges.made or merges.near:
            _draw_joined_names(review, merges)
            _draw_ambiguous_names(review, merges)
        _suggestions(review)
        _merges(review)
        _refusals(review, merges)
        _draw_evaluation(review)
    return merged_graph


def _draw_rebuild_button(review: MergeReview, rebuild: Callable[[], object]) -> None:
    """Draw the button that builds the graph again.

    It is drawn if names were marked since the build.
    """
    status = build_status(review.corpus, review.build)
    if status.renamed:
        wait = tr("It is being built.") if being_built(review.corpus, review.build) else ""
        with _row("mend-anew"):
            st.markdown(f":material/info: {plain(status.outdated)}", width="stretch")
            button(
                tr("Rebuild"),
                rebuild,
                key="split-again",
                icon="refresh",
                why_not=review.why or wait,
            )


def _draw_joined_names(on: MergeReview, merges: NameMerges) -> None:
    """Draw the names that the build merged.

    Each has a button that rejects the merge.
    """
    st.markdown(tr("**{names} merged by the build**", names=many(merges.made_in_all, "name")))
    for row_index, row in enumerate(merges.made[: on.most]):
        names = (row.name, row.into)
        label, change, arrow = tr("Different"), EntityMerges.refusing, "→"
        if ordered_pair(*names) in on.mends.refused:
            label, change, arrow = tr("Undo “different”"), EntityMerges.allowing, "≠"
        with _row(f"joined-row-{row_index}"):
            words = (
                f"**{isolated(row.name)}** {arrow} **{isolated(row.into)}** "
                f"({many(row.times, 'document')})"
            )
            st.markdown(words, width="stretch", help=_document_words(row))
            with _controls():
                st.badge(row.rule, color="gray")
                key = f"split-{row_index}-{row.name}-{row.into}"
                on.button(label, partial(change, names=[names]), key, type="tertiary")
    on.more(len(merges.made), "joined")
    if merges.made_in_all > len(merges.made):
        caption("Listed: the {made:,} that are in the most documents.", made=len(merges.made))


def _draw_ambiguous_names(on: MergeReview, merges: NameMerges) -> None:
    """Draw names that may be one of several others.

    The others are of the same document. There is a button for each.
    """
    candidates_here = lambda row: [
        into
        for into in row.candidates
        if on.now.nodes_named(into) and ordered_pair(row.name, into) not in on.mends.refused
    ]
    open_ones = [
        (row, fulls)
        for row in merges.near
        if on.now.nodes_named(row.name) and (fulls := candidates_here(row))
    ]
    if not open_ones:
        return
    st.markdown(
        tr("**{names} with several possible matches**", names=many(len(open_ones), "name")),
        help=tr("All in the same document, so none was chosen"),
    )
    for row_index, (row, fulls) in enumerate(open_ones[: on.most]):
        with _row(f"near-row-{row_index}"):
            words = f"**{isolated(row.name)}** ({many(row.times, 'document')})"
            st.markdown(words, width="stretch", help=_document_words(row))
            with _controls():
                for into in fulls[:MAX_ROW_CANDIDATES]:
                    accept = partial(EntityMerges.accepted, edits=[Edit("merge", (row.name, into))])
                    label = tr("Merge into {into}", into=plain(into))
                    on.button(label, accept, f"near-{row_index}-{row.name}-{into}")
                refuse = partial(
                    EntityMerges.refusing, names=[(row.name, one) for one in row.candidates]
                )
                on.button(
                    tr("None of them"), refuse, f"none-{row_index}-{row.name}", type="tertiary"
                )
    on.more(len(open_ones), "near")


def _row(key: str) -> Any:
    return st.container(horizontal=True, vertical_alignment="center", gap="small", key=key)


def _controls() -> Any:
    """Return the container of a row's buttons, which wrap together on a narrow screen."""
    return st.container(horizontal=True, vertical_alignment="center", gap="small", width="content")


def _document_words(row: NameMerge | NearMerge) -> str:
    """Return the documents of a row in words."""
    more = " …" if row.times > len(row.documents) else ""
    return plain(tr("In {documents}{more}", documents=", ".join(row.documents), more=more))


def _suggestions(review: MergeReview) -> None:
    """Draw pairs that may be the same.

    Each has buttons to merge or reject it.
    """
    if review.graph.n_nodes > MAX_COMPARED_ENTITIES:
        caption(
            "This graph has more than {limit:,} entities. The command line lists which names may be "
            "the same:",
            limit=MAX_COMPARED_ENTITIES,
        )
        st.code(
            shlex.join(["python", "-m", "core", "corpus", "mend", review.corpus.name]),
            language=None,
        )
        return
    job = engine().jobs.get(_alike_key(review.graph))
    is_done = job is not None and job.ended
    pairs_found = list(
        _pairs_by_spelling(review.now.digest, review.mends.refused, review.now, review.mends)
    )
    if job is not None and is_done and not job.error:
        pairs_found += _open_pairs(job.result, review)
    st.markdown(f"**{many(len(pairs_found), 'suggestion')}**")
    if not pairs_found and is_done:
        caption("None left.")
    elif not pairs_found:
        caption("No names differ only in case, accents, apostrophes or plural.")
    for index, one in enumerate(pairs_found[: review.most]):
        _suggestion(review, index, one)
    with st.container(horizontal=True, gap="small"):
        review.more(len(pairs_found), "suggested")
        if job is None or (job.ended and job.error):
            compare = partial(_compare_vectors, review)
            button(tr("Also find similar names"), compare, key="mend-alike", icon="search")
    if job is not None:
        draw_job(job, "mend-alike", "")


def _suggestion(review: MergeReview, index: int, one: Suggestion) -> None:
    name, into = one.edit.names
    reason = one.reason if one.cosine is None else tr("similar, {cosine:.2f}", cosine=one.cosine)
    with _row(f"mend-row-{index}"):
        words = (
            f"**{isolated(name)}** ({one.passages[0]:,}) → **{isolated(into)}** "
            f"({one.passages[1]:,})"
        )
        st.markdown(words, width="stretch", help=tr("In brackets: how many chunks mention it"))
        with _controls():
            st.badge(reason, color="gray")
            accept = partial(EntityMerges.accepted, edits=[one.edit])
            review.button(tr("Merge"), accept, f"mend-{name}-{into}")
            refuse = partial(EntityMerges.refusing, names=[one.edit.names])
            review.button(tr("Different"), refuse, f"refuse-{name}-{into}", type="tertiary")


@st.cache_data(max_entries=8, show_spinner=tr("Comparing names …"))
def _pairs_by_spelling(
    digest: str, refused: tuple, _graph: Graph, _mends: EntityMerges
) -> list[Suggestion]:
    return suggest_by_spelling(_graph, _mends)


def _open_pairs(pairs: list[Suggestion], review: MergeReview) -> list[Suggestion]:
    """Return the pairs found by vectors, without those that were merged or rejected since."""
    exists = lambda one: all(review.now.nodes_named(name) for name in one.edit.names)
    return [
        one
        for one in pairs
        if exists(one) and ordered_pair(*one.edit.names) not in review.mends.refused
    ]


def _alike_key(graph: Graph) -> str:
    return f"mend-alike-{graph.digest}"


def _compare_vectors(on: MergeReview) -> None:
    """Start to compare the vectors of names."""

    def work(job: Job) -> list[Suggestion]:
        job.report(tr("Comparing the vectors of names"))
        return suggest_by_vectors(on.graph, on.mends, engine().models.encoder(), watch=job)

    engine().jobs.run(_alike_key(on.graph), work)


def _merges(review: MergeReview) -> None:
    """Draw the saved merges, each with a button that undoes it.

    Merges whose names the graph does not have are marked.
    """
    saved_edits = review.mends.edits
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
        st.warning(plain(unused_text))
    edits = sorted(saved_edits, key=lambda edit: edit not in absent)
    with st.container(horizontal=True, gap="small", key="mend-saved"):
        for edit in edits[: review.most]:
            words = (
                f"{isolated(edit.names[0])} → "
                f"{isolated(edit.names[1])}{tr(' (not here)') if edit in absent else ''}"
            )
            forget = partial(EntityMerges.without, edits=[edit])
            key = f"unmend-{edit.written()}"
            review.button(words, forget, key, icon="undo", help=tr("Undo this merge"))
        if len(edits) > 1:
            nothing = lambda mends: mends.without(mends.edits)
            review.button(tr("Undo all"), nothing, "unmend-all", type="tertiary")
    review.more(len(edits), "saved")


def _refusals(review: MergeReview, merges: NameMerges) -> None:
    """Draw the pairs marked as not the same.

    Each has a button that undoes the mark. Pairs in the list of the build's merges are left out.
    """
    listed_pairs = {ordered_pair(row.name, row.into) for row in merges.made[: review.most]}
    pairs = [names for names in review.mends.refused if names not in listed_pairs]
    if not pairs:
        return
    st.markdown(tr("**{pairs} marked as different**", pairs=many(len(pairs), "pair")))
    about = tr("Undo “different”: they may be suggested and merged again")
    with st.container(horizontal=True, gap="small", key="mend-refused"):
        for names in pairs[: review.most]:
            allow = partial(EntityMerges.allowing, names=[names])
            key = f"allow-{names[0]}-{names[1]}"
            review.button(" ≠ ".join(map(isolated, names)), allow, key, icon="undo", help=about)
    review.more(len(pairs), "refused")


def _draw_evaluation(review: MergeReview) -> None:
    """Draw the form that evaluates the merges.

    A question set is asked on the graph before and after them.
    """
    if not review.mends.edits:
        return
    lines, sets = _lines(review.build), review.corpus.sets
    st.markdown(tr("**Before and after**"))
    if not sets:
        caption("These texts have no question set.")
        return
    if not lines:
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
        line = st.selectbox(
            tr("Method"),
            list(lines),
            key="mend_line",
            format_func=lambda id: plain(tr(lines[id].label)),
            width=320,
        )
        button(
            tr("Evaluate"),
            partial(_evaluate, review.corpus.name, set_name, lines[line], session.mend_model),
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


def _lines(one: GraphBuild) -> dict[str, Method]:
    """Return the methods on this kind of graph.

    For a user's own line, they are put on this very graph.
    """
    methods_found = {
        key: line for key, line in methods().items() if build_of(line.line) in (one.graph, one.id)
    }
    return (
        methods_found
        if not one.own
        else {key: method_on_build(line, one) for key, line in methods_found.items()}
    )


def _evaluate(name: str, set_name: str, method: Method, model: bool) -> None:
    """Start the evaluation, or find the one that was done."""
    plan = make_plan(
        (without_saved_merges(method), method), set_name, None, engine().graph, model=model
    )
    Session.mend_run[name].value = evaluate(engine(), store(), plan).number
