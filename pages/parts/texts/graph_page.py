"""Graph of a corpus on the page Texts, with cards or an entity at its right."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.builds import build_status, is_being_built
from core.builds.shipped_data import find_shipped_build
from core.corpus import Corpus
from core.evaluation.questions.name_questions import MADE_SET_SUFFIX
from core.graph.texts import n_chunks
from core.io.durations import duration_text
from pages.parts.shared.actions import button, result_of
from pages.parts.shared.sentences import caption, write
from pages.parts.shared.session import engine
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr
from pages.parts.texts.answer_trail import draw_answer_trail
from pages.parts.texts.build_choice import available_builds, build_words, page_build
from pages.parts.texts.corpus_choice import ADD_PART, DOCUMENTS_PART, draw_ask_button
from pages.parts.texts.entity import draw_entity
from pages.parts.texts.entity_merges import count_undecided, review_merges
from pages.parts.texts.graph_advice import draw_advice_card, draw_graph_advice
from pages.parts.texts.graph_builds import (
    count_unreadable,
    draw_build_state,
    draw_state_badge,
    rerun_on_change,
)
from pages.parts.texts.graph_view import PageGraph, draw_graph_view, draw_way_back
from pages.parts.texts.other_ways import draw_other_ways
from pages.parts.texts.steps import draw_compare_link
from pages.parts.texts.text_trail import (
    ADVICE_VIEW,
    CHUNKS_VIEW,
    COMPARISON_VIEW,
    MERGES_VIEW,
    has_passage_nodes,
    node_noun,
    visited_entities,
)


def draw_graph_page(corpus: Corpus) -> None:
    """Draw the graph of a corpus, or the button that builds one, and the cards."""
    page = _open_page_graph(corpus)
    graph = page.graph
    entities = [] if graph is None else visited_entities(graph)
    with st.container(key="texts-room"):
        left, right = st.columns([1, 1] if entities else [2, 1], gap="medium")
    with left, st.container(key="texts-view"):
        if session.texts_view == ADVICE_VIEW:
            draw_way_back()
            draw_graph_advice(corpus)
        elif graph is None:
            _draw_first_build(page)
        else:
            draw_graph_view(page)
    with right:
        if graph is not None and entities:
            with st.container(border=True):
                draw_entity(graph, entities[-1])
        else:
            _draw_cards(page)
    rerun_on_change(corpus, page.status.build)
    draw_other_ways(corpus)


def _open_page_graph(corpus: Corpus) -> PageGraph:
    """Open the graph that the page shows, if it can be opened."""
    build = page_build(corpus)
    status = build_status(corpus, build)
    if not status.can_be_opened:
        return PageGraph(corpus, status)
    built_graph = result_of(lambda: engine().environment.open_build(corpus, build.id))
    # An empty graph whose replies could not be read does not mean that nothing was found.
    if built_graph is None or not (built_graph.n_nodes or not count_unreadable(status)):
        return PageGraph(corpus, status)
    return PageGraph(corpus, status, built_graph, review_merges(corpus, build, built_graph))


def _draw_first_build(page: PageGraph) -> None:
    """Draw the button that builds the graph, in the place of its picture."""
    with st.container(border=True, key="texts-first"):
        title = tr("No graph yet")
        if is_being_built(page.corpus, page.status.build):
            title = tr("The graph is being built")
        elif page.status.is_built:
            title = tr("The graph is of earlier documents")
        elif find_shipped_build(page.corpus, page.status.build) is not None:
            title = tr("A graph comes with these texts")
        st.subheader(title, anchor=False)
        write(
            "A graph links the names in these texts, so that a question can follow them from one "
            "document to another."
        )
        draw_build_state(page.corpus, page.status, "first")
        st.caption(plain(build_words(page.status.build)))
        label = tr("or ask without a graph")
        draw_ask_button(page.corpus.name, label, key="texts-ask-plain", type="tertiary")


def _draw_cards(page: PageGraph) -> None:
    """Draw all cards."""
    card = partial(st.container, border=True, gap="xsmall")
    with card(key="card-graph"):
        _draw_graph_card(page)
    notes = [note for origin in page.corpus.origins.values() for note in origin.notes]
    if page.review is not None or notes:
        with card(key="card-check"):
            _draw_check_card(page, len(notes))
    with card(key="card-advice"):
        draw_advice_card(page.corpus)
    with card(key="card-questions"):
        _draw_questions_card(page)


def _view_button(label: str, view: str) -> None:
    """Draw a button that opens a view in the place of the picture."""
    button(label, partial(Session.texts_view.put, view), key=f"texts-open-{view}")


def _draw_graph_card(page: PageGraph) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(tr("**Graph**"), width="content")
        draw_state_badge(page.corpus, page.status)
    has_others = _choose_graph(page)
    graph = page.graph
    if graph is not None:
        span = duration_text(sum(page.status.report.get("seconds", {}).values()))
        caption("{title} · built in {span}", title=build_words(page.status.build), span=span)
        st.caption(_figures(page))
        if not page.status.is_current and not page.status.has_renamed:
            caption("The graph of the earlier documents is used until it is rebuilt.")
        draw_build_state(page.corpus, page.status, "card")
    with st.container(horizontal=True, gap="small"):
        open_ways = partial(Session.texts_ways.put, True)
        button(tr("Other ways to build…"), open_ways, key="texts-other-ways")
        if graph is not None:
            _view_button(tr("How it was built"), CHUNKS_VIEW)
        if graph is not None and has_others:
            _view_button(tr("Compare graphs"), COMPARISON_VIEW)
    if graph is not None and page.status.build.is_own:
        draw_compare_link(page.corpus, page.status.build)


def _choose_graph(page: PageGraph) -> bool:
    """Draw the choice among the graphs that are there, and return whether there are several."""
    builds = {build.id: build for build in available_builds(page.corpus)}
    builds.setdefault(page.status.build.id, page.status.build)
    if len(builds) < 2:
        return False
    choice = Session.texts_graph[page.corpus.name]
    choice.value = page.status.build.id
    st.selectbox(
        tr("Graph"),
        list(builds),
        key=choice.name,
        persist_state="session",
        format_func=lambda id: plain(build_words(builds[id])) if id in builds else id,
        label_visibility="collapsed",
    )
    return True


def _figures(page: PageGraph) -> str:
    """Return the size of the graph in words."""
    graph = page.graph
    assert graph is not None
    if has_passage_nodes(graph):
        return f"{graph.n_nodes:,} {node_noun(graph).lower()}, {many(graph.n_edges, 'relation')}"
    return tr(
        "{entities}, {relations} from {passages}",
        entities=many(graph.n_nodes, "entity", "entities"),
        relations=many(graph.n_edges, "relation"),
        passages=many(n_chunks(graph), "passage"),
    )


def _draw_check_card(page: PageGraph, n_notes: int) -> None:
    """Draw the numbers of undecided names and of notes on reading the files."""
    st.markdown(tr("**Check**"))
    with st.container(horizontal=True, gap="small"):
        if page.review is not None:
            number = count_undecided(page.review)
            if number is None:
                caption("Too many entities to compare their names here.")
            elif number:
                st.badge(tr("{names} may be the same", names=many(number, "name")), color="orange")
            else:
                caption("No two names look the same.")
        if n_notes:
            caption("{notes} from reading the files", notes=many(n_notes, "note"))
    with st.container(horizontal=True, gap="small"):
        if page.review is not None:
            _view_button(tr("Review names"), MERGES_VIEW)
        if n_notes:
            show_documents = partial(Session.texts_open.put, DOCUMENTS_PART)
            button(tr("Read the notes"), show_documents, key="texts-notes")


def _draw_questions_card(page: PageGraph) -> None:
    """Draw the number of questions, where answers are lost, and the way to Evaluate."""
    corpus = page.corpus
    st.markdown(tr("**Questions**"))
    sets = [name for name in corpus.sets if not name.endswith(MADE_SET_SUFFIX)]
    questions = [question for name in sets for question in corpus.questions(name)]
    if questions:
        n_gold = sum(bool(question.gold) for question in questions)
        words = many(len(questions), "question")
        if corpus.own:
            words = tr("{questions} of your own", questions=words)
        if n_gold:
            words = tr("{questions}, {gold:,} with their evidence", questions=words, gold=n_gold)
        st.caption(plain(words))
        draw_answer_trail(page, questions)
    else:
        caption("None of your own yet. Scores and comparisons need some.")
    with st.container(horizontal=True, gap="small"):
        button(tr("Add"), partial(Session.texts_open.put, ADD_PART), key="texts-add-questions")
        choose = partial(Session.evaluate_sets.put, sets)
        label = tr("Which method is best on them?")
        if questions and button(label, choose, key="texts-evaluate"):
            st.switch_page("pages/evaluate.py", query_params={"corpus": corpus.name})
