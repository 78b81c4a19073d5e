"""One choice of a graph or documents, which all pages read."""

from __future__ import annotations

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from core.graph.building.build import build
from core.sources import CorpusSource, GraphSource
from pages.parts.shared.session import DEFAULT_CORPUS
from pages.parts.shared.session_state import DEFAULT_SOURCE
from tests.pages.texts.texts_kit import make

PAGES = ("compare", "build", "texts", "graphs", "indexes", "evaluate", "cases", "models")
TOWNS = GraphSource("towns")
BOATS = GraphSource("boats")
SMALL = CorpusSource("small")


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    monkeypatch.setattr(st, "page_link", lambda *_, **__: None)  # There is no other page here.
    for name in ("boats", "towns"):
        build([("Ann", "owns", "The Tern")], tmp_path / "graphs" / name, name, "both")
    make("small")
    return tmp_path


def opened(page: str = "compare", **query: str) -> AppTest:
    """A page of the app: Compare at once, another one from Compare with a graph of towns."""
    at = AppTest.from_function(draw_chosen_page, default_timeout=120)
    at.session_state["page_on_screen"] = "compare"
    at.query_params.update(query if page == "compare" and query else TOWNS.parameters)
    at.run()
    return at if page == "compare" else go(at, page, **query)


def draw_chosen_page() -> None:
    """Draw the sidebar and a page as main.py does, whose navigation the driver does not follow."""
    import runpy

    import streamlit as st

    from core.io.home import ROOT
    from pages.parts.shared import sidebar
    from pages.parts.shared.session import record_page

    record_page(st.session_state["page_on_screen"])
    sidebar.sidebar()
    runpy.run_path(str(ROOT / "pages" / f"{st.session_state['page_on_screen']}.py"))


def go(at: AppTest, page: str, **query: str) -> AppTest:
    at.query_params.clear()
    at.query_params.update(query)
    at.session_state["page_on_screen"] = page
    at.run()
    assert not at.exception, page
    return at


def picks(at: AppTest) -> list[str]:
    return [one.key for one in at.button if (one.key or "").startswith("pick-")]


def chosen(at: AppTest):
    box = at.sidebar.selectbox(key="source")
    assert box.value == at.session_state["source"]
    return box.value


@pytest.mark.parametrize("source", [BOATS, SMALL])
def test_a_source_chosen_once_is_read_on_all_pages(source):
    at = opened("models")
    at.sidebar.selectbox(key="source").set_value(source).run()
    for page in PAGES:
        at = go(at, page)
        assert chosen(at) == source, page
        assert [box.key for box in at.selectbox if box.label == "Graph or documents"] == ["source"]
        shows_other_kind = page in (("graphs", "indexes") if source.is_corpus else ("texts",))
        assert bool(picks(at)) == shows_other_kind, page


def test_documents_picked_on_texts_are_those_of_all_pages():
    at = go(opened("compare"), "texts")
    assert chosen(at) == TOWNS  # a look at Texts changes no choice
    assert "“towns”" in at.main.info[0].value
    at.button(key="pick-small").click().run()
    assert chosen(at) == SMALL and not picks(at)
    for page in ("compare", "evaluate", "build", "texts"):
        assert chosen(go(at, page)) == SMALL
    at = go(at, "graphs")
    at.button(key="pick-boats").click().run()
    assert chosen(at) == BOATS
    assert "2 entities · 1 triple · 1 relation" in [caption.value for caption in at.main.caption]


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("source", [BOATS, SMALL])
def test_an_address_names_the_source_of_any_page(page, source):
    assert chosen(opened(page, **source.parameters)) == source


@pytest.mark.parametrize("page", ["texts", "graphs", "indexes", "compare"])
def test_a_source_that_is_not_here_is_said(page):
    kind = "corpus" if page == "texts" else "graph"
    at = opened(page, **{kind: "elsewhere"})
    assert [("elsewhere" in warning.value) for warning in at.main.warning] == [True]
    assert at.sidebar.selectbox(key="source").value is None


def test_a_session_that_begins_on_texts_begins_with_documents():
    def choice() -> None:
        import streamlit as st

        from pages.parts.shared.session import chosen_source

        st.session_state["chosen"] = chosen_source()

    for page, source in (("texts", DEFAULT_CORPUS), ("compare", DEFAULT_SOURCE)):
        at = AppTest.from_function(choice)
        at.session_state["page"] = page
        assert at.run().session_state["chosen"] == source
