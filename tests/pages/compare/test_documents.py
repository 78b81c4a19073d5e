"""Compare on a corpus, through Streamlit's own test driver."""

from __future__ import annotations

import threading

import pytest
from streamlit.testing.v1 import AppTest

from core.builds import run_build
from core.cases import delete, get_case
from core.cases.examples import demo
from core.corpus import Document, open_corpus, remove_corpus, write_corpus
from core.corpus.catalogue import corpora_folder
from core.io.home import ROOT
from core.models.registry import Registry
from core.operators.texts.sparse import WordHits
from core.runtime.jobs import Job
from core.sources import CorpusSource
from pages.parts.board.payload import Board
from pages.parts.board.static_board import comparison_html
from pages.parts.shared.session import engine
from tests.pages.compare.test_compare import FAST, job, opened
from tests.pages.compare.three_documents import LINE, NAME, QUESTION, WIDE, made
from tests.pages.texts.texts_kit import until

OWN = {"llm": "0", "reader": "0"}


@pytest.fixture(autouse=True)
def corpus(movies):
    return made()


def test_a_link_asks_the_documents_and_brings_answers_and_gold_passages():
    at = opened(corpus=NAME, q=QUESTION, lane=[LINE, WIDE], **OWN)
    assert not at.exception and not at.error
    comparison = job(at).comparison
    assert comparison.ask.source.name == NAME and comparison.ask.question.gold == (
        "arthur",
        "women",
    )
    assert comparison.ask.question.answers == ("Arthur's Magazine",)
    assert [lane.status for lane in comparison.lanes] == ["done", "done"]
    assert NAME in at.query_params["corpus"] and "graph" not in at.query_params
    assert any("2 evidence passages" in caption.value for caption in at.caption)


def test_without_lanes_the_methods_are_those_on_documents():
    at = opened(corpus=NAME, **OWN)
    assert not at.exception and at.session_state["lanes"] == [
        "vanilla-rag",
        "vgraphrag",
        "lgraphrag",
    ]
    assert any(button.label.startswith("Which magazine") for button in at.button)


def test_comparisons_that_ship_stand_on_the_first_page_of_their_corpus_and_open_at_once():
    at = opened(corpus="hotpotqa", **OWN)
    first = demo(CorpusSource("hotpotqa"))[0]
    at.button(key=f"before-{first.id}").click().run()
    assert not at.exception and at.session_state["case"].id == first.id
    assert "job" not in at.session_state and at.session_state["lanes"] == list(first.link["lane"])


def test_a_build_that_is_not_there_is_said_on_its_lane():
    at = opened(corpus=NAME, q=QUESTION, lane=[LINE, LINE.replace("chunks", "tkg-llm")], **OWN)
    first, second = job(at).comparison.lanes
    assert first.status == "done" and second.status == "failed"
    assert "is not built yet" in second.error and "corpus build three" in second.error


def test_a_lane_that_searched_a_part_says_so_and_is_asked_again_alone(monkeypatch):
    found, parts = WordHits._search, ["31 % of the passages so far"]

    def partly(self, state, ctx, recorder, among):
        recorder.partly = parts.pop() if self.keep == 1 and parts else ""
        return found(self, state, ctx, recorder, among)

    monkeypatch.setattr(WordHits, "_search", partly)
    at = opened(corpus=NAME, q="Which station plays by night?", lane=[LINE, WIDE], **OWN)
    first = job(at)
    at = until(
        at,
        lambda: any(
            "searched 31 % of the passages so far." in caption.value for caption in at.caption
        ),
    )
    assert (
        Board(first.comparison).payload()["lanes"][0]["partly"]
        == "Searched 31 % of the passages so far"
    )
    at.button(key="search_again").click().run()
    at = until(at, lambda: job(at) is not first and job(at).has_ended)
    assert [(lane.state.partly, lane.is_taken_over) for lane in job(at).comparison.lanes] == [
        ("", False),
        ("", True),
    ]
    at = until(at, lambda: not any(button.key == "search_again" for button in at.button))
    assert not at.exception


def test_a_lane_that_searched_a_part_is_asked_again_by_itself_once_all_is_encoded(monkeypatch):
    found, parts, encoded = WordHits._search, ["31 % of the passages so far"], threading.Event()

    def partly(self, state, ctx, recorder, among):
        recorder.partly = parts.pop() if parts else ""
        return found(self, state, ctx, recorder, among)

    monkeypatch.setattr(WordHits, "_search", partly)
    at = opened(corpus=NAME, q="Which station plays music by night?", lane=[LINE], **OWN)
    first = job(at)
    key = f"index-{first.comparison.lanes[0].graph.digest}-vectors-chunks"
    engine().background_jobs.start(key, lambda: Job(key, lambda job: encoded.wait(60)), again=True)
    at = until(
        at,
        lambda: any(
            "Once all are encoded, the question is asked again" in caption.value
            for caption in at.caption
        ),
    )
    assert job(at) is first and first.comparison.lanes[0].state.partly
    encoded.set()
    at = until(at, lambda: job(at) is not first and job(at).has_ended)
    assert job(at).comparison.lanes[0].state.partly == ""
    at = until(at, lambda: not any(button.key == "search_again" for button in at.button))


def test_a_graph_that_is_not_built_is_built_on_the_spot_and_the_question_asked_again(monkeypatch):
    # no corpus is small enough to be read within a question
    monkeypatch.setattr("core.comparison.built_graphs.MAX_ON_DEMAND_CHARACTERS", 0)
    line = "BuiltGraph(build='links-terms') >> SparseNodes(keep=2) >> DocumentsOfNodes() >> AnswerFromTables()"
    at = opened(corpus=NAME, q=QUESTION, lane=[LINE, line], **OWN)
    first = job(at)
    assert [lane.status for lane in first.comparison.lanes] == ["done", "failed"]
    at = until(at, lambda: [one for one in at.button if one.label.startswith("Build a graph")])
    assert any("Once it is, they are asked again" in caption.value for caption in at.caption)
    next(one for one in at.button if one.label.startswith("Build a graph")).click().run()
    at = until(at, lambda: job(at) is not first and job(at).has_ended)
    assert [lane.status for lane in job(at).comparison.lanes] == ["done", "done"]
    assert (
        not any(one.label.startswith("Build a graph") for one in at.button)
        and "awaited_builds" not in at.session_state
    )


def test_a_graph_that_was_built_before_the_page_is_drawn_again_is_asked_as_well(monkeypatch):
    """The page never saw the build at work.

    It ended between the click and the drawing, or another tab made it.
    """
    monkeypatch.setattr("core.comparison.built_graphs.MAX_ON_DEMAND_CHARACTERS", 0)
    line = "BuiltGraph(build='links-nearest') >> SparseNodes(keep=2) >> DocumentsOfNodes() >> AnswerFromTables()"
    at = opened(corpus=NAME, q=QUESTION, lane=[LINE, line], **OWN)
    first = job(at)
    at = until(at, lambda: [one for one in at.button if one.label.startswith("Build a graph")])
    run_build(open_corpus(NAME), "links-nearest", Registry())
    at = until(at, lambda: job(at) is not first and job(at).has_ended)
    assert [lane.status for lane in job(at).comparison.lanes] == ["done", "done"]


def test_a_changed_answer_is_asked_with():
    at = opened(corpus=NAME, q=QUESTION, lane=[LINE], **OWN)
    at.text_area[0].set_value("1844\n\n 1989 ").run()
    assert job(at).comparison.ask.question.answers == ("1844", "1989")


def test_a_case_that_was_deleted_since_can_be_saved_again():
    at = opened(corpus=NAME, q=QUESTION, lane=[LINE], **OWN)
    job(at)
    at.run()
    at.button(key="save_case").click().run()
    first = at.session_state["saved_case"][1]
    delete(first)
    at.run().button(key="save_case").click().run()
    assert not at.error and at.session_state["saved_case"][1] != first
    delete(at.session_state["saved_case"][1])


def test_a_saved_case_opens_as_it_was_once_the_corpus_is_gone():
    at = opened(corpus=NAME, q=QUESTION, lane=[LINE, WIDE], **OWN)
    job(at)
    at.run()
    at.button(key="save_case").click().run()
    key = at.session_state["saved_case"][1]
    assert not any(one.key == "save_case" for one in at.button)
    remove_corpus(NAME)
    try:
        saved = AppTest.from_file(str(ROOT / "pages" / "cases.py"), default_timeout=120)
        saved.query_params["case"] = key
        saved.run()
        assert not saved.exception and not saved.error
        shown = saved.session_state["finished_drawing"][1].payload()
        (lost,) = shown["lanes"][0]["hits"][0]["lost"]
        assert (
            lost["fate"] == "rank 2; only the top 1 is kept"
            and len(shown["lanes"][1]["hits"][0]["rows"]) == 3
        )
        assert shown["lanes"][0]["funnel"][0] == {
            "stage": "corpus",
            "alive": 2,
            "of": 2,
            "lost": [],
            "held": {"alive": 1, "of": 1},
        }
        assert get_case(key).link["corpus"] == NAME
    finally:
        delete(key)


def test_the_report_is_one_page_that_carries_the_hits_as_text():
    at = opened(corpus=NAME, q=QUESTION, lane=[LINE, WIDE], **OWN)
    comparison = job(at).comparison
    page = comparison_html(comparison, Board(comparison))
    assert (
        "Three documents" in page
        and f"<dd>{NAME}</dd>" not in page
        and "rank 2; only the top 1 is kept" in page
    )
    assert "<script>document.title" not in page and "\\u003cscript\\u003edocument.title" in page


def test_an_unknown_corpus_is_a_sentence():
    at = opened(corpus="nowhere", q=QUESTION, lane=[LINE], **OWN)
    assert not at.exception and "job" not in at.session_state
    assert len(at.info) == 1 and not at.warning


def test_a_method_that_is_there_for_both_stands_on_the_documents():
    at = opened(corpus=NAME, q=QUESTION, lane=["tog"], **OWN)
    assert not at.exception and [lane.method.id for lane in job(at).comparison.lanes] == [
        "tog-documents"
    ]


def test_a_line_on_triples_fails_on_its_lane_alone():
    at = opened(corpus=NAME, q=QUESTION, lane=[LINE, FAST], **OWN)
    assert not at.exception and job(at).comparison.lanes[0].status == "done"


def test_where_no_lane_fits_the_language_a_search_by_words_is_offered_and_named():
    write_corpus(
        corpora_folder() / "bahn",
        [Document("a", "Klara Stettner entwarf die Silbertalbahn, die nach Bergheim führt.")],
        "Die Bahn",
    )
    meaning = "BuiltGraph() >> EmbedQuery() >> VectorChunks(keep=2)"
    at = opened(corpus="bahn", q="Wer entwarf die Silbertalbahn?", lane=[meaning], **OWN)
    assert (
        any(
            "trained on English alone, and the question and the texts are in German" in one.value
            for one in at.warning
        )
        and not at.info
    )
    assert Board(job(at).comparison).payload()["marks"]["words"] == ["entwarf", "silbertalbahn"]
    at.button(key="by_words").click().run()
    until(at, lambda: job(at).has_ended)
    assert at.session_state["lanes"] == [meaning, "bm25-passages"] and "by_words" not in {
        one.key for one in at.button
    }
    assert not at.warning and "Passages by words does not depend on it." in at.info[
        0
    ].value.replace("\\", "")
    # which shares no word with the texts either
    at = opened(corpus="bahn", q="Кто основал железную дорогу?", lane=[meaning], **OWN)
    assert at.warning and "by_words" not in {one.key for one in at.button}
