"""A graph or corpus that an address names and that is not here."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect
from streamlit.testing.v1 import AppTest

from core.datasets import add_graph
from core.graph.building.build import build
from core.io.home import ROOT
from core.sources import GraphSource
from pages.parts.shared.session import engine
from pages.parts.shared.session_state import DEFAULT_SOURCE
from tests.server import open_page


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    build([("Ann", "owns", "The Tern")], tmp_path / "graphs" / "boats", "boats", "both")
    return tmp_path


def opened(**query: str) -> AppTest:
    at = AppTest.from_file(str(ROOT / "main.py"), default_timeout=120)
    for key, value in query.items():
        at.query_params[key] = value
    return at.run()


@pytest.mark.parametrize("kind", ["graph", "corpus"])
def test_missing_source_is_said_and_no_other_is_asked(monkeypatch, kind):
    asked = []
    monkeypatch.setattr(type(engine()), "compare", lambda *given, **_: asked.append(given))
    at = opened(**{kind: "elsewhere", "q": "who owns The Tern", "lane": "lego-1", "llm": "0"})
    assert not at.exception
    assert [("elsewhere" in warning.value) for warning in at.main.warning] == [True]
    assert at.sidebar.selectbox(key="source").value is None
    assert asked == []
    assert not at.error and len(at.main.info) == 1


def test_graph_is_removed_on_its_page(home):
    at = AppTest.from_file(str(ROOT / "pages" / "graphs.py"), default_timeout=120)
    at.session_state.source = GraphSource("boats")
    at.run()
    at.button(key="graph_remove").click().run()
    assert not at.exception
    assert not (home / "graphs" / "boats").exists()
    assert (
        at.session_state.source == DEFAULT_SOURCE
    )  # a value that is set, so that the browser shows it
    assert not [one for one in at.run().button if one.key == "graph_remove"]


def test_graph_opened_before_is_not_shown_after_one_of_its_name_is_added():
    at = AppTest.from_file(str(ROOT / "pages" / "graphs.py"), default_timeout=120)
    at.session_state.source = GraphSource("boats")
    at.run()
    at.button(key="graph_remove").click().run()
    add_graph([("Ann", "owns", "The Tern"), ("Ann", "owns", "The Heron")], "boats")
    at.session_state.source = GraphSource("boats")
    counts = "3 entities · 2 triples · 1 relation"
    assert counts in [caption.value for caption in at.run().caption]


@pytest.mark.usefixtures("browser")
def test_another_graph_is_chosen_in_the_place_of_a_missing_one(app):
    with open_page(f"{app}/?graph=elsewhere&q=who+directed+Inception&lane=lego-1&llm=0") as page:
        sidebar = page.get_by_test_id("stSidebar")
        expect(page.get_by_text("There is no graph “elsewhere” here")).to_be_visible()
        expect(page.locator(".lane")).to_have_count(0)
        sidebar.get_by_role("combobox").click()
        page.get_by_role("option", name="Nations (tiny)").click()
        expect(page.get_by_text("There is no graph")).to_have_count(0)
        expect(page.get_by_role("button", name="Ask", exact=True)).to_be_visible()


@pytest.mark.usefixtures("browser")
def test_a_missing_source_is_said_on_a_narrow_screen(app):
    with open_page(f"{app}/?graph=elsewhere", width=390) as page:
        expect(page.get_by_text("There is no graph “elsewhere” here")).to_be_in_viewport()
