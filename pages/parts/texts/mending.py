"""Mend: entities that are likely the same, merged one by one for all graphs of these texts, and what that changes, measured."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from core.builds import Build, being_built, status
from core.builds.mending import Suggestion, by_spelling, by_vectors
from core.builds.report import NameMerge, NameMerges, NearMerge, name_merges
from core.comparison.run import build_of
from core.corpus import Corpus
from core.corpus.corpus import OWNED_AS
from core.corpus.mends import Mends, mend, mends_of, pair
from core.errors import HopscopeError
from core.evaluation.runs.plan import make_plan
from core.evaluation.runs.starting import evaluate
from core.graph.edits import Edit, edited, unmatched
from core.graph.store import Graph
from core.instances.catalogue import Instance, as_built
from core.runtime.jobs import Job
from pages.parts.shared.people import barred, held
from pages.parts.shared.problems import noted_errors
from pages.parts.shared.session import engine, instances, store
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.text import isolated, many, plain
from pages.parts.shared.wording import noun, tr
from pages.parts.shared.working import working
from pages.parts.texts.beside import on_build

SHOWN = 8  # suggestions, and merges, until more are asked for
CANDIDATES = 3  # of a name that may be one of several, as many as have room
STEP = 24  # more of them at a time
COMPARED_HERE = 100_000  # entities whose names are compared while a person waits


def mended(
    corpus: Corpus, one: Build, graph: Graph, again: Callable[[Corpus, Build], object]
) -> Graph:
    """Draw the suggestions and the merges of a graph with entities; the graph after the merges. `again` builds it anew."""
    table = graph.columns.nodes
    if table is None or table.has("level") or not graph.n_nodes:
        return graph
    try:
        mends = mends_of(corpus)
        now = edited(graph, mends.edits)
    except HopscopeError as error:
        st.error(plain(str(error)))
        return graph
    with st.expander(
        tr("Mend: entities under several names"), icon=":material/healing:", key="texts_mend"
    ):
        st.caption(
            tr(
                "A merge is for all graphs of these texts, and is done again whenever one is built anew. The documents stay as they are."
            )
        )
        why = barred(OWNED_AS, corpus.name) if corpus.own else ""
        _joined(corpus, one, now, mends, why, again)
        _suggestions(corpus, graph, now, mends, why)
        _merges(corpus, graph, mends, why)
        _refusals(corpus, one, mends, why)
        _before_and_after(corpus, one, mends)
    return now


def _joined(
    corpus: Corpus,
    one: Build,
    now: Graph,
    mends: Mends,
    why: str,
    again: Callable[[Corpus, Build], object],
) -> None:
    """The names that the build joined, each with a button that refuses it, and those that may be one of several."""
    known = status(corpus, one)
    merges = name_merges(known.report)
    if known.renamed:
        wait = held(why or (tr("It is being built.") if being_built(corpus, one) else ""))
        with st.container(
            horizontal=True, vertical_alignment="center", gap="small", key="mend-anew"
        ):
            st.markdown(f":material/info: {plain(known.outdated)}", width="stretch")
            st.button(
                tr("Build anew"),
                key="split-again",
                icon=":material/refresh:",
                on_click=_again,
                args=(again, corpus, one),
                **wait,
            )
    if not merges.made and not merges.near:
        return
    shown = session.mend_shown or SHOWN
    st.markdown(tr("**{names} joined by the build**", names=many(merges.made_in_all, "name")))
    for place, row in enumerate(merges.made[:shown]):
        names = (row.name, row.into)
        refused = pair(*names) in mends.refused
        with st.container(
            horizontal=True, vertical_alignment="center", gap="small", key=f"joined-row-{place}"
        ):
            arrow = "≠" if refused else "→"
            words = f"**{isolated(row.name)}** {arrow} **{isolated(row.into)}** ({many(row.times, 'document')})"
            st.markdown(words, width="stretch", help=_where(row))
            change = (
                (lambda mends, names=names: mends.allowing([names]))
                if refused
                else (lambda mends, names=names: mends.refusing([names]))
            )
            label, key = (
                tr("The same after all") if refused else tr("Not the same"),
                f"split-{place}-{row.name}-{row.into}",
            )
            with _controls():
                st.badge(row.rule, color="gray")
                st.button(
                    label,
                    key=key,
                    type="tertiary",
                    on_click=_change,
                    args=(corpus, change),
                    **held(why),
                )
    _more(len(merges.made), "joined")
    if merges.made_in_all > len(merges.made):
        st.caption(
            tr(
                "Only {made:,} of them are listed, those of the most documents.",
                made=len(merges.made),
            )
        )
    _nearly(corpus, merges, now, mends, why)


def _nearly(corpus: Corpus, merges: NameMerges, now: Graph, mends: Mends, why: str) -> None:
    """Names that may be one of several in the same document, with a button for each."""
    here = lambda row: [
        into
        for into in row.candidates
        if now.nodes_named(into) and pair(row.name, into) not in mends.refused
    ]
    open_ones = [
        (row, fulls) for row in merges.near if now.nodes_named(row.name) and (fulls := here(row))
    ]
    if not open_ones:
        return
    st.markdown(
        tr("**{names} that may be one of several**", names=many(len(open_ones), "name")),
        help=tr("Of the same document, so that none was chosen"),
    )
    for place, (row, fulls) in enumerate(open_ones[: session.mend_shown or SHOWN]):
        with st.container(
            horizontal=True, vertical_alignment="center", gap="small", key=f"near-row-{place}"
        ):
            st.markdown(
                f"**{isolated(row.name)}** ({many(row.times, 'document')})",
                width="stretch",
                help=_where(row),
            )
            refuse = lambda mends, row=row: mends.refusing(
                [(row.name, one) for one in row.candidates]
            )
            with _controls():
                for into in fulls[:CANDIDATES]:
                    key, edit = f"near-{place}-{row.name}-{into}", Edit("merge", (row.name, into))
                    accept = lambda mends, edit=edit: mends.accepted([edit])
                    st.button(
                        tr("Merge into {into}", into=plain(into)),
                        key=key,
                        on_click=_change,
                        args=(corpus, accept),
                        **held(why),
                    )
                key = f"none-{place}-{row.name}"
                st.button(
                    tr("None of them"),
                    key=key,
                    type="tertiary",
                    on_click=_change,
                    args=(corpus, refuse),
                    **held(why),
                )
    _more(len(open_ones), "near")


def _controls() -> Any:
    """Where the buttons of a row are, which wrap together on a narrow screen."""
    return st.container(horizontal=True, vertical_alignment="center", gap="small", width="content")


def _where(row: NameMerge | NearMerge) -> str:
    """The documents of a row."""
    return plain(
        tr(
            "In {documents}{more}",
            documents=", ".join(row.documents),
            more=" …" if row.times > len(row.documents) else "",
        )
    )


def _more(rows: int, key: str) -> None:
    """The button that lists more, where not all rows are listed."""
    shown = session.mend_shown or SHOWN
    if rows > shown:
        more = Session.mend_shown.put
        st.button(
            tr("Show more · {rows:,} left", rows=rows - shown),
            type="tertiary",
            key=f"mend-more-{key}",
            on_click=more,
            args=(shown + STEP,),
        )


def _again(again: Callable[[Corpus, Build], object], corpus: Corpus, one: Build) -> None:
    """Build the graph anew, as the callback of a button."""
    again(corpus, one)


def _suggestions(corpus: Corpus, graph: Graph, now: Graph, mends: Mends, why: str) -> None:
    """What may be the same, each with a button that merges it and one that refuses it."""
    if graph.n_nodes > COMPARED_HERE:
        how = tr(
            "{compared_here:,} entities: python -m core corpus mend {corpus} lists what may be the same.",
            compared_here=COMPARED_HERE,
            corpus=corpus.name,
        )
        st.caption(plain(tr("This graph has more than {how}", how=how)))
        return
    job = engine().jobs.get(_alike_key(graph))
    found = list(_by_spelling(now.digest, mends.refused, now, mends))
    if job is not None and job.ended and not job.error:
        found += _left(job.result, now, mends)
    shown = session.mend_shown or SHOWN
    st.markdown(f"**{many(len(found), 'suggestion')}**")
    if not found:
        st.caption(
            tr("No two names differ in case, accents, apostrophes or plural alone.")
            if job is None or not job.ended
            else tr("None is left.")
        )
    for place, one in enumerate(found[:shown]):
        name, into = one.edit.names
        with st.container(
            horizontal=True, vertical_alignment="center", gap="small", key=f"mend-row-{place}"
        ):
            words = f"**{isolated(name)}** ({one.passages[0]:,}) → **{isolated(into)}** ({one.passages[1]:,})"
            st.markdown(
                words, width="stretch", help=tr("In brackets: of how many passages each comes")
            )
            accept = lambda mends, edit=one.edit: mends.accepted([edit])
            refuse = lambda mends, names=one.edit.names: mends.refusing([names])
            with _controls():
                st.badge(
                    one.reason
                    if one.cosine is None
                    else tr("alike, {cosine:.2f}", cosine=one.cosine),
                    color="gray",
                )
                st.button(
                    tr("Merge"),
                    key=f"mend-{name}-{into}",
                    on_click=_change,
                    args=(corpus, accept),
                    **held(why),
                )
                st.button(
                    tr("Not the same"),
                    key=f"refuse-{name}-{into}",
                    type="tertiary",
                    on_click=_change,
                    args=(corpus, refuse),
                    **held(why),
                )
    with st.container(horizontal=True, gap="small"):
        _more(len(found), "suggested")
        if job is None or (job.ended and job.error):
            st.button(
                tr("Look for alike names too"),
                key="mend-alike",
                icon=":material/search:",
                on_click=_look,
                args=(graph, mends),
            )
    if job is not None:
        working(job, "mend-alike", "")


@st.cache_data(max_entries=8, show_spinner=tr("Comparing names …"))
def _by_spelling(digest: str, refused: tuple, _graph: Graph, _mends: Mends) -> list[Suggestion]:
    return by_spelling(_graph, _mends)


def _left(found: list[Suggestion], now: Graph, mends: Mends) -> list[Suggestion]:
    """What was found by vectors, without those that were merged or refused since."""
    there = lambda one: all(now.nodes_named(name) for name in one.edit.names)
    return [one for one in found if there(one) and pair(*one.edit.names) not in mends.refused]


def _alike_key(graph: Graph) -> str:
    return f"mend-alike-{graph.digest}"


def _look(graph: Graph, mends: Mends) -> None:
    """Begin to compare the names' vectors."""
    key = _alike_key(graph)

    def work(job: Job) -> list[Suggestion]:
        job.report(tr("Comparing the vectors of names"))
        return by_vectors(graph, mends, engine().models.encoder(), watch=job)

    engine().jobs.start(key, lambda: Job(key, work))


def _merges(corpus: Corpus, graph: Graph, mends: Mends, why: str) -> None:
    """The merges that are saved, each with a button that undoes it; those that fit nothing in this graph say so."""
    if not mends.edits:
        return
    absent = set(unmatched(graph, mends.edits))
    st.markdown(f"**{many(len(mends.edits), 'merge')}**")
    if absent:
        fits = noun(len(absent), "fits", "fit")
        left = tr(
            "{merges} {fits} nothing in this graph, which has no such names, and stays saved for other graphs.",
            merges=many(len(absent), "merge"),
            fits=fits,
        )
        st.warning(plain(left))
    edits = sorted(mends.edits, key=lambda edit: edit not in absent)
    shown = session.mend_shown or SHOWN
    with st.container(horizontal=True, gap="small", key="mend-saved"):
        for edit in edits[:shown]:
            words = f"{isolated(edit.names[0])} → {isolated(edit.names[1])}{tr(' (not here)') if edit in absent else ''}"
            forget = lambda mends, edit=edit: mends.without([edit])
            how = held(why, tr("Undo this merge"))
            key = f"unmend-{edit.written()}"
            st.button(
                words,
                icon=":material/undo:",
                key=key,
                on_click=_change,
                args=(corpus, forget),
                **how,
            )
        if len(edits) > 1:
            nothing = lambda mends: mends.without(mends.edits)
            st.button(
                tr("Undo all"),
                key="unmend-all",
                type="tertiary",
                on_click=_change,
                args=(corpus, nothing),
                **held(why),
            )
    _more(len(edits), "saved")


def _refusals(corpus: Corpus, one: Build, mends: Mends, why: str) -> None:
    """The pairs that are marked as not the same, each with a button that takes it back, but for those of the list of what was joined."""
    listed = {
        pair(row.name, row.into)
        for row in name_merges(status(corpus, one).report).made[: session.mend_shown or SHOWN]
    }
    refused = [names for names in mends.refused if names not in listed]
    if not refused:
        return
    st.markdown(tr("**{pairs} marked as not the same**", pairs=many(len(refused), "pair")))
    with st.container(horizontal=True, gap="small", key="mend-refused"):
        for names in refused[: session.mend_shown or SHOWN]:
            allow = lambda mends, names=names: mends.allowing([names])
            how = held(why, tr("The same after all: they may be suggested and joined again"))
            key = f"allow-{names[0]}-{names[1]}"
            st.button(
                " ≠ ".join(map(isolated, names)),
                icon=":material/undo:",
                key=key,
                on_click=_change,
                args=(corpus, allow),
                **how,
            )
    _more(len(refused), "refused")


def _before_and_after(corpus: Corpus, one: Build, mends: Mends) -> None:
    """A question set asked on the graph as it was built and on the mended one, in the background, paired."""
    if not mends.edits:
        return
    lines = _lines(one)
    st.markdown(tr("**Before and after**"))
    if not corpus.sets or not lines:
        st.caption(
            tr("These texts have no question set.")
            if not corpus.sets
            else tr("No method of the catalogue stands on this kind of graph.")
        )
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        chosen = st.selectbox(
            tr("Question set"),
            list(corpus.sets),
            key="mend_set",
            format_func=lambda name: plain(corpus.sets[name]),
            width=320,
        )
        line = st.selectbox(
            tr("Method"),
            list(lines),
            key="mend_line",
            format_func=lambda id: plain(tr(lines[id].label)),
            width=320,
        )
        st.button(
            tr("Evaluate"),
            key="mend-evaluate",
            icon=":material/leaderboard:",
            on_click=_evaluate,
            args=(corpus.name, chosen, lines[line], session.mend_model),
        )
        st.toggle(
            tr("With a language model"),
            key=Session.mend_model.name,
            help=tr("Let a language model answer; else retrieval alone is measured."),
        )
    number = Session.mend_run[corpus.name].value
    if number:
        job = engine().evaluations.get(f"evaluation-{number}")
        if job is not None:
            working(job, f"mend-run-{number}", tr("It has ended."), share=True)
        words = tr("See both on Evaluate, with the difference on the same questions")
        st.page_link(
            "pages/evaluate.py",
            label=words,
            icon=":material/leaderboard:",
            query_params={"run": str(number)},
        )


def _lines(one: Build) -> dict[str, Instance]:
    """The instances on this kind of graph; where it is by a line of a person's own, on this graph itself."""
    found = {
        key: line for key, line in instances().items() if build_of(line.line) in (one.graph, one.id)
    }
    return found if not one.own else {key: on_build(line, one) for key, line in found.items()}


def _evaluate(name: str, set_name: str, after: Instance, model: bool) -> None:
    """Begin the evaluation, or find the one that has been done."""
    with noted_errors():
        plan = make_plan((as_built(after), after), set_name, None, engine().graph, model=model)
        Session.mend_run[name].value = evaluate(engine(), store(), plan).number


def _change(corpus: Corpus, change: Callable[[Mends], Mends]) -> None:
    """Change what is saved, as the callback of a button."""
    with noted_errors():
        mend(corpus, change)
