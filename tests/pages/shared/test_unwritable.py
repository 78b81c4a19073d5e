"""In a home that cannot be written, every page of the app opens.

The sidebar says that nothing can be saved.
"""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from core.graph.building.build import build
from core.io.home import ROOT
from core.sources import GraphSource
from pages.parts.shared.session import store
from tests.unwritable import WAYS, home_on_a_disk

PAGES = (
    "main.py",
    *(f"pages/{name}.py" for name in ("build", "graphs", "indexes", "cases", "models", "texts")),
)


@pytest.fixture(params=WAYS)
def place(request, movies, tmp_path, monkeypatch):
    """A home with a graph, on a disk that cannot be written."""
    with home_on_a_disk(tmp_path / "disk") as found:
        build([("a", "r", "b"), ("b", "r", "c")], found.folder / "graphs" / "mine", "mine")
        monkeypatch.setenv("HOPSCOPE_HOME", str(found.folder))
        found.close(request.param)
        yield found


def test_every_page_opens(place):
    for name in PAGES:
        at = AppTest.from_file(str(ROOT / name), default_timeout=120)
        at.session_state.source = GraphSource("mine")
        at.run()
        assert not at.exception, name
        # the corpus that it opens first was never read here
        assert not at.error or name == "pages/texts.py", name
        if name == "main.py":
            assert "mine" in at.sidebar.selectbox[0].options
            assert "Nothing can be saved: " in at.sidebar.warning[0].value.replace("\\", "")


def test_evaluations_are_looked_for_and_opened_anew_with_room_again(place):
    assert store().runs() == [] and store() is store()
    before = store()
    place.open()
    assert store() is not before and store().runs() == []


@pytest.mark.parametrize("place", ["read-only"], indirect=True)
def test_a_home_that_cannot_be_made_is_a_sentence(place, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(place.folder / "new"))
    (at := AppTest.from_file(str(ROOT / "main.py"), default_timeout=120)).run()
    assert not at.exception and "Name another one in HOPSCOPE_HOME" in at.error[0].value.replace(
        "\\", ""
    )
