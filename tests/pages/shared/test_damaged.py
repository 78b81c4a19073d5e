"""A damaged graph or corpus is listed as damaged, with what to do.

Whatever else is there works as before.
"""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from core.corpus import Document, write_corpus
from core.graph.building.build import build
from core.io.home import ROOT
from core.sources import GraphSource


@pytest.fixture
def damaged(movies, tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    for name in ("good", "bad"):
        build([("a", "r", "b"), ("b", "r", "c")], tmp_path / "graphs" / name, name)
        write_corpus(tmp_path / "corpora" / f"{name}-texts", [Document("d", "Ann knows Bo.")])
    for pattern in ("graphs/bad/data-*/offsets.npy", "corpora/bad-texts/data-*/documents.arrow"):
        (file,) = tmp_path.glob(pattern)
        data = bytearray(file.read_bytes())
        data[-9] ^= 64
        file.write_bytes(data)


def page(name: str, graph: str) -> AppTest:
    at = AppTest.from_file(str(ROOT / name), default_timeout=120)
    at.session_state.source = GraphSource(graph)
    return at.run()


def test_the_sidebar_says_what_is_damaged(damaged):
    at = page("main.py", "good")
    assert not at.exception and not at.error
    assert (
        "bad (cannot be opened)" in at.sidebar.selectbox[0].options
        and "good" in at.sidebar.selectbox[0].options
    )
    (said,) = (one.value.replace("\\", "") for one in at.sidebar.warning)
    assert (
        "bad-texts is damaged (documents.arrow is not as it was written); remove it and add its documents again"
        in said
    )


@pytest.mark.parametrize("name", ["main.py", "pages/graphs.py", "pages/indexes.py"])
def test_a_damaged_graph_ends_its_own_page_with_what_to_do(damaged, name):
    at = page(name, "bad")
    if name == "main.py":  # which opens a graph once it is asked
        at.session_state.question, at.session_state.submitted = "what of [a]?", True
        at.run()
    assert not at.exception
    assert "damaged (offsets.npy is not as it was written); build it again" in at.error[
        0
    ].value.replace("\\", "")
    assert not page(name, "good").error
