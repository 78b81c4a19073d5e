"""The Build screen through Streamlit's own test driver."""

from __future__ import annotations

import time

import pytest
from streamlit.testing.v1 import AppTest

from core.instances.catalogue import catalogue, faults, own_file
from core.io.home import ROOT
from core.operators import OPERATORS
from core.operators.base import unfit
from core.operators.text import parse_line
from core.sources import GraphSource
from pages.parts.build.draft import Card, Draft
from pages.parts.methods.forms import sentence_of

PAGE = str(ROOT / "pages" / "build.py")
TRIPLES = [("One", "directed_by", "Ann"), ("Two", "directed_by", "Ann"), ("Two", "has_genre", "Drama"), ("One", "has_genre", "Comedy")]


@pytest.fixture()
def own(monkeypatch, tmp_path):
    """A person's own empty folder."""
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    return tmp_path


def opened(**query: str) -> AppTest:
    at = AppTest.from_file(PAGE, default_timeout=60)
    for key, value in query.items():
        at.query_params[key] = value
    return at.run()


def draft(at: AppTest) -> Draft:
    return at.session_state["draft"]


def button(at: AppTest, key: str):
    return next(b for b in at.button if b.key == key)


def test_an_empty_line_says_what_to_do_and_cannot_be_run(own):
    at = opened()
    assert not at.exception
    assert "Choose a method above" in at.info[0].value
    assert button(at, "try_run").disabled


def test_the_operators_offered_are_those_that_fit(own):
    at = opened()
    for name, cls in OPERATORS.items():
        assert button(at, f"add-{name}").disabled == (unfit((), cls()) is not None), name
    button(at, "add-PersonalizedPageRank").click().run()
    before = draft(at).operators
    for name, cls in OPERATORS.items():
        assert button(at, f"add-{name}").disabled == (unfit(before, cls()) is not None), name
    assert any("nothing before it finds any" in caption.value for caption in at.caption)


def test_forms_come_from_the_fields_and_change_the_line(own):
    at = opened(**{"from": "lego-12"})
    assert not at.exception
    key = draft(at).cards[0].key
    number = next(n for n in at.number_input if n.key == f"{key}-keep")
    assert (number.value, number.min, number.max) == (1000, 1, 1_000_000)
    number.set_value(500).run()
    assert draft(at).operators[0].keep == 500
    assert "PersonalizedPageRank(keep=500)" in at.query_params["line"]
    rank = draft(at).cards[2].key
    model = next(s for s in at.selectbox if s.key == f"{rank}-model")
    model.set_value("…").run()
    next(t for t in at.text_input if t.key == f"{rank}-model-typed").set_value("prefilter(encoder, nobody, 3)").run()
    assert any("nobody" in error.value for error in at.error)
    assert button(at, "try_run").disabled
    next(t for t in at.text_input if t.key == f"{rank}-model-typed").set_value("prefilter(bm25, choose, 8)").run()
    assert draft(at).operators[2].model == "prefilter(bm25, choose, 8)"
    assert not button(at, "try_run").disabled


def test_a_broken_line_says_why_and_can_be_undone(own):
    at = opened(**{"from": "lego-12"})
    first = draft(at).cards[0].key
    button(at, f"{first}-remove").click().run()
    assert any("reads a subgraph, and nothing before it extracts one" in error.value for error in at.error)
    assert any("“Shortest paths”" in warning.value for warning in at.warning)
    assert button(at, "try_run").disabled
    button(at, "undo").click().run()
    assert repr(draft(at).line()) == repr(catalogue()["lego-12"].line)
    assert not at.error


def test_cards_move(own):
    at = opened(line="PersonalizedPageRank() >> ShortestPaths() >> Rank(keep=3)")
    cards = [card.key for card in draft(at).cards]
    button(at, f"{cards[2]}--1").click().run()
    assert [card.key for card in draft(at).cards] == [cards[0], cards[2], cards[1]]
    assert any("“Rank”" in error.value for error in at.error)
    assert draft(at).operators[1].keep == 3


def test_a_line_in_the_address_that_cannot_be_read_is_a_sentence(own):
    at = opened(line="Nonsense()")
    assert not at.exception
    assert "Nonsense" in at.error[0].value


def test_save_and_delete(own):
    at = opened(line="EgoNetwork(hops=1) >> SimplePaths(hops=2)")
    at.text_input(key="keep_name").set_value("My *own* line")
    next(b for b in at.button if b.label == "Save").click().run()
    saved = catalogue()["own-my-own-line"]
    assert (saved.title, repr(saved.line)) == ("My *own* line", repr(parse_line("EgoNetwork(hops=1) >> SimplePaths(hops=2)")))
    assert any(label.startswith("My *own* line") for label in at.selectbox(key="build_start").options)  # without another visit
    at.text_input(key="keep_name").set_value("My own line")
    next(b for b in at.button if b.label == "Save").click().run()
    assert "already an instance" in at.error[0].value
    button(at, "delete-own-my-own-line").click().run()
    assert "own-my-own-line" not in catalogue()


def test_an_unknown_key_in_the_persons_file_costs_that_row_alone(own):
    own_file().write_text('["own-x"]\ntitle = "x"\nlin = []\nline = []\n', "utf-8")
    at = opened()
    assert not at.exception and not at.error
    assert "instances.toml" in faults()[0] and "“lin”" in faults()[0]


def test_a_retriever_of_ones_own_is_chosen_by_its_name(own):
    (own_file().parent / "retrievers.toml").write_text(
        '[mine]\nurl = "http://127.0.0.1:9/"\n[other]\nurl = "http://127.0.0.1:9/"\n', "utf-8"
    )
    at = opened(line="OwnRetriever(name='other') >> Answer()")
    assert not at.exception and not at.error
    chosen = next(s for s in at.selectbox if s.label == "Retriever")
    assert (chosen.value, sorted(chosen.options)) == ("other", ["mine", "other"])


def test_a_line_is_tried_on_a_question(own):
    from core.graph.building.build import build

    build(TRIPLES, own / "graphs" / "trying", "trying", "both")
    at = AppTest.from_file(PAGE, default_timeout=60)
    at.session_state.source = GraphSource("trying")
    at.query_params["line"] = "EgoNetwork(hops=2) >> SimplePaths(hops=2) >> Rank(model='bm25', keep=5) >> Answer()"
    at.run()
    assert not at.exception
    at.text_input(key="try_question").set_value("who directed [One]").run()
    button(at, "try_run").click().run()
    for _ in range(100):
        at.run()
        if any("What each step did" in markdown.value for markdown in at.markdown):
            break
        time.sleep(0.1)
    assert not at.exception and not at.error
    assert any("One -> directed_by -> Ann" in str(frame.value) for frame in at.dataframe)
    assert at.expander[-1].label.startswith("Prompt")
    at.text_input(key="try_question").set_value("who directed [Nobody at all]").run()
    button(at, "try_run").click().run()
    assert "Did you mean" in at.error[0].value


def test_adding_says_what_would_break_after_it():
    draft = Draft([Card(OPERATORS["EgoNetwork"]()), Card(OPERATORS["Answer"](prompt="question-only"))])
    assert draft.usual_place() == 1
    assert draft.cannot_add(0, OPERATORS["Answer"](prompt="question-only")) is not None
    assert draft.cannot_add(1, OPERATORS["ShortestPaths"]()) is None


@pytest.mark.parametrize("cls", OPERATORS.values())
def test_the_sentence_of_an_operator_holds_no_mark_of_code(cls):
    assert "`" not in sentence_of(cls())


def test_the_sentence_of_an_operator_names_its_values():
    assert sentence_of(OPERATORS["Rank"](keep=1234)).startswith("The best 1,234 paths by a model")


def test_leaving_and_coming_back_keeps_the_line(own):
    at = opened(line="EgoNetwork(hops=1) >> SimplePaths(hops=2)")
    key = draft(at).cards[1].key
    next(n for n in at.number_input if n.key == f"{key}-hops").set_value(3).run()
    again = AppTest.from_file(PAGE, default_timeout=60)
    again.session_state["draft"] = draft(at)
    again.session_state["try_graph"] = "metaqa"  # what is left of a widget's state after other screens
    again.run()
    assert not again.exception
    assert repr(draft(again).line()) == "EgoNetwork(hops=1) >> SimplePaths()"
    assert next(n for n in again.number_input if n.key == f"{key}-hops").value == 3


def test_every_operator_has_a_form(movies):
    def forms():
        from core.operators import OPERATORS
        from pages.parts.methods.forms import operator_form

        for name, cls in OPERATORS.items():
            operator_form(cls(), name)

    drawn = AppTest.from_function(forms, default_timeout=60).run()
    assert not drawn.exception
    assert len(drawn.error) <= 1  # no retriever of one's own is declared
