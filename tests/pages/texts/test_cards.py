"""The cards beside the graph say what the corpus and its graph hold, and lead to the rest."""

from __future__ import annotations

import pytest
import streamlit as st

from core.builds import open_graph, run_build
from core.corpus.corpus import Corpus
from core.types import Question
from pages.parts.shared.session import engine
from pages.parts.texts import graph_page, graph_view
from pages.parts.texts.text_trail import (
    ADVICE_VIEW,
    CHUNKS_VIEW,
    COMMUNITIES_VIEW,
    COMPARISON_VIEW,
    ENTITIES_VIEW,
    MAP_VIEW,
    MERGES_VIEW,
)
from tests.pages.texts.test_entity_merges import joined, made
from tests.pages.texts.texts_kit import button, html, labels, opened, texts, until

QUESTIONS = tuple(
    Question(id=f"q{number}", text=f"Who sails {number}?", answers=("Anna Berg",), gold=gold)
    for number, gold in enumerate((("ship",), ("town",), ()))
)


def asked(corpus: Corpus) -> Corpus:
    """The corpus with three questions of a person's own and one that was made."""
    sets = {"mine": ("Mine", QUESTIONS), f"{corpus.name}-made": ("Made", QUESTIONS[:1])}
    return corpus.with_questions(sets)


def test_without_a_graph_its_place_has_one_way_to_build_it_and_one_to_ask_without(small):
    at = opened()
    until(at, lambda: "Build a graph" in labels(at))
    assert "or ask without a graph" in labels(at) and "How it was built" not in labels(at)
    assert not at.dataframe and "Review names" not in labels(at)


def test_the_graph_card_has_the_figures_of_the_graph(small):
    run_build(small, "tkg-names", engine().models)
    graph = open_graph(small, "tkg-names")
    assert f"{graph.n_nodes} entities, {graph.n_edges} relations from 2 passages" in texts(opened())


@pytest.mark.parametrize("corpus, number", [(made, 1), (joined, 1)])
def test_the_check_card_counts_the_names_that_may_be_the_same(small, corpus, number):
    """One pair by its spelling, or one name that is part of two others."""
    at = opened(corpus().name)
    until(at, lambda: "Review names" in labels(at))
    assert f"{number} name may be the same" in texts(at)
    button(at, "Review names").click().run()
    assert (
        at.session_state["texts_view"] == MERGES_VIEW
        and "1 suggestion" in texts(at)
        or ("1 name with several possible matches" in texts(at))
    )


def test_the_questions_card_counts_ones_own_and_leads_to_evaluate_with_them(small, monkeypatch):
    asked(small)
    gone = []
    monkeypatch.setattr(graph_page.st, "switch_page", lambda page, query_params: gone.append(page))
    at = opened()
    assert "3 questions of your own, 2 with their evidence" in texts(at)
    assert "2 documents, 4 questions" in texts(at)
    small.with_questions({"mine": ("Mine", QUESTIONS[2:])})
    assert "1 question of your own\n" in texts(at.run()) + "\n"
    button(at, "Which method is best on them?").click().run()
    assert gone == ["pages/evaluate.py"] and at.session_state["evaluate_sets"] == ["mine"]
    assert at.session_state["source"].name == "small"


def test_the_questions_card_follows_the_answers_and_lists_what_is_lost(small):
    unknown = Question(id="q9", text="Who flies?", answers=("Nobody Known",))
    small.with_questions({"mine": ("Mine", (*QUESTIONS, unknown))})
    run_build(small, "tkg-names", engine().models)
    at = opened()
    until(at, lambda: "Of 2 answers" in texts(at))
    assert "Of 2 answers: 1 in the documents, 1 in chunks, 1 in the graph" in texts(at)
    assert "Not in the documents: 1" in texts(at) and "Nobody Known: Who flies?" in texts(at)


def test_a_corpus_without_questions_leads_to_add_some(small):
    at = opened()
    assert "Which method is best on them?" not in labels(at) and "None of your own" in texts(at)
    at.button(key="texts-add-questions").click().run()
    assert not at.exception and at.session_state["texts_open"] == "Add"


def test_each_card_opens_its_view_and_there_is_a_way_back(small):
    for build in ("tkg-names", "kg-noun-phrases"):
        run_build(small, build, engine().models)
    at = opened()
    for label, view in (
        ("How it was built", CHUNKS_VIEW),
        ("Compare graphs", COMPARISON_VIEW),
        ("Review names", MERGES_VIEW),
    ):
        button(at, label).click().run()
        assert not at.exception and at.session_state["texts_view"] == view
        button(at, "Back to the graph").click().run()
        assert at.session_state["texts_view"] == MAP_VIEW
    at.button(key="advice-open-small").click().run()
    assert at.session_state["texts_view"] == ADVICE_VIEW
    button(at, "Back to the graph").click().run()
    views = at.segmented_control(key="texts_view").options
    assert views == [MAP_VIEW, ENTITIES_VIEW, COMMUNITIES_VIEW]


def test_another_graph_that_is_there_is_chosen_on_the_card(small):
    for build in ("tkg-names", "passage-names"):
        run_build(small, build, engine().models)
    at = opened()
    (choice,) = (one for one in at.selectbox if one.key == "texts_graph-small")
    assert choice.value == "tkg-names" and len(choice.options) == 2
    choice.set_value("passage-names").run()
    assert not at.exception and "2 chunks, " in texts(at)


def test_notes_on_files_lead_to_the_documents(small, monkeypatch):
    origin = type("Origin", (), {"notes": ("x.pdf: page 3 has no text.",)})
    monkeypatch.setattr(Corpus, "origins", {"x.pdf": origin})
    at = opened()
    assert "1 note from reading the files" in texts(at)
    button(at, "Read the notes").click().run()
    assert at.session_state["texts_open"] == "Documents"


def test_a_click_in_the_picture_opens_the_entity_with_its_passages(small, monkeypatch):
    run_build(small, "tkg-names", engine().models)
    (turku,) = open_graph(small, "tkg-names").nodes_named("Turku")
    marked = []

    def draw(graph, key, height, highlights, on_click):
        marked[:] = [(name, nodes) for name, _, nodes in highlights]
        st.button("the node", on_click=on_click, args=(turku,))

    monkeypatch.setattr(graph_view, "draw_graph_map", draw)
    at = opened(texts_view=MAP_VIEW)
    assert not marked and "Review names" in labels(at)
    button(at, "the node").click().run()
    assert [one.value for one in at.subheader] == ["Turku"] and html(at).count("<mark") == 2
    assert marked == [("Turku", [turku])] and "Review names" not in labels(at)
    button(at, "Close").click().run()
    assert not marked and "Review names" in labels(at)
