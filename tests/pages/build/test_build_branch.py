"""A line with a branch on the Build screen: shown, told that it is no form, run and kept."""

import pytest
from streamlit.testing.v1 import AppTest

from core.instances.catalogue import catalogue
from core.io.home import ROOT
from core.operators.branch import Branch
from pages.parts.compare.lanes import _swaps


@pytest.fixture
def opened(monkeypatch, tmp_path):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    at = AppTest.from_file(str(ROOT / "pages" / "build.py"), default_timeout=60)
    at.query_params["from"] = "lego-14-by-hops"
    return at.run()


def test_a_branch_is_shown_and_left_as_it_is(opened):
    assert not opened.exception and not opened.error
    draft = opened.session_state["draft"]
    assert repr(draft.line()) == repr(catalogue()["lego-14-by-hops"].line)
    assert isinstance(draft.operators[2], Branch)
    told = [caption.value for caption in opened.caption]
    assert any("1 → beam above the mean" in text and "not in a form" in text for text in told)
    assert any(text.startswith("Operators that depend on the question") for text in told)


def test_the_rest_of_such_a_line_is_edited_as_ever(opened):
    draft = opened.session_state["draft"]
    number = next(n for n in opened.number_input if n.key == f"{draft.cards[1].key}-keep")
    number.set_value(500).run()
    assert not opened.exception and "PersonalizedPageRank(keep=500) >> Branch(on='hops'" in opened.query_params["line"]
    next(b for b in opened.button if b.key == f"{draft.cards[0].key}-remove").click().run()
    assert any("reads a number of hops, and nothing before it predicts one" in error.value for error in opened.error)


def test_what_may_stand_in_a_branch_s_place_finds_paths():
    names = _swaps(catalogue()["lego-14-by-hops"].line, 2)
    assert "BeamSearch" in names and "ChainRanking" in names and "Branch" not in names and "PredictHops" not in names
