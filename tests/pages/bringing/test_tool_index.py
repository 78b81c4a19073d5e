"""The index of another tool is opened on Texts.

It is looked at and opened, and its graph stands beside one that is built here.
"""

from __future__ import annotations

import io
import zipfile

import pytest

from core.builds import build_status, run_build
from core.corpus import Document, corpora, open_corpus
from core.corpus.indexes.opened_indexes import open_index
from core.errors import BadInput
from core.graph.difference import unite_graphs
from core.methods.catalogue import find_method
from core.sources import CorpusSource
from core.types import Question
from pages.parts.board.text_picture import TextPicture
from pages.parts.bringing.uploads import save_folder
from pages.parts.shared.session import engine
from pages.parts.texts.graph_comparison import layout_figure
from pages.parts.texts.text_trail import COMPARISON_VIEW
from tests.core.corpus.indexes.kit import RECORDED
from tests.core.operators.texts.kit import story
from tests.pages.bringing.test_documents import ADD
from tests.pages.bringing.zone_kit import drop, name_it
from tests.pages.texts.texts_kit import button, labels, opened, texts, until


class Upload(io.BytesIO):
    """A file as the browser sends it."""

    def __init__(self, name: str, content: bytes):
        super().__init__(content)
        self.name = name


def looked(path):
    at = name_it(opened(texts_open=ADD), str(path))
    return until(at, lambda: "Open it" in labels(at) or at.error)


def test_an_index_is_looked_at_by_its_path_opened_and_its_vectors_made(small):
    at = looked(str(RECORDED / "graphrag"))
    assert "Microsoft GraphRAG, version 3: 1 document, 2 chunks, 8 entities, 12 relations" in texts(
        at
    )
    assert "claims (covariates): 2" in texts(at) and "It has no readable vectors" in texts(at)
    assert "microsoft-graphrag" not in corpora()  # looking keeps nothing
    button(at, "Open it").click().run()
    until(at, lambda: at.success)
    assert (
        "1 document, 2 chunks, 8 entities, 12 relations, 4 communities, 3 reports, opened from an index of"
        in texts(at)
    )
    corpus = open_corpus("microsoft-graphrag")
    until(at, lambda: build_status(corpus, "opened-graphrag").is_current)
    button(at, "Continue to its graph").click().run()
    assert not at.exception and at.session_state["source_wanted"].name == "microsoft-graphrag"
    # the graph that it came with is the one that is shown
    at = opened("microsoft-graphrag")
    assert not at.exception and "Opened from Microsoft GraphRAG" in texts(at)


def test_a_title_that_is_taken_has_a_number(small):
    assert "lightrag" not in corpora()
    for title in ("LightRAG", "LightRAG 2"):
        at = looked(str(RECORDED / "lightrag"))
        assert [one.value for one in at.text_input if one.label == "Title"] == [title]
        button(at, "Open it").click().run()
        until(at, lambda at=at: at.success)
    assert {"lightrag", "lightrag-2"} <= set(corpora())


def test_an_index_of_texts_that_are_here_becomes_another_graph_of_them(small):
    open_index(RECORDED / "lightrag", "harbour", "<b>Harbour</b>")
    at = looked(str(RECORDED / "fast-graphrag"))
    (choice,) = [one for one in at.selectbox if one.label == "Open it as"]
    assert choice.options[0] == "new texts" and "a graph of <b>Harbour</b>" in choice.options
    choice.set_value("harbour").run()
    assert not [one for one in at.text_input if one.label == "Title"]
    button(at, "Open it").click().run()
    until(at, lambda: at.success)
    corpus = open_corpus("harbour")
    until(at, lambda: build_status(corpus, "opened-fast-graphrag").is_current)
    corpus.add([Document("more", "Ann lives in Rome.")])
    at = opened("harbour", **{"texts_graph-harbour": "opened-fast-graphrag"})
    assert "the corpus has 1 more, which is not in this graph" in texts(at)


@pytest.mark.parametrize(
    "path", ["/no/such/folder", "~nobody/x", "\0", "<img src=x onerror=alert(1)>"]
)
def test_a_path_of_nothing_is_a_sentence(small, path):
    at = looked(path)
    assert "There is no file" in texts(at) and "Open it" not in labels(at)


def test_where_others_reach_the_page_no_path_is_asked_for(small, monkeypatch):
    monkeypatch.setattr(
        "streamlit.get_option", lambda name: "0.0.0.0" if name == "server.address" else None
    )
    from pages.parts.bringing.drop_zone import is_local_visit

    assert not is_local_visit()
    monkeypatch.setattr("streamlit.get_option", lambda name: "127.0.0.1")
    assert is_local_visit()
    monkeypatch.setenv("HOPSCOPE_SHARED", "1")
    assert not is_local_visit()


def test_a_zip_is_opened(small):
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for file in (RECORDED / "nano-graphrag").iterdir():
            archive.write(file, f"cache/{file.name}")
    at = drop(opened(texts_open=ADD), ("cache.zip", held.getvalue()))
    until(at, lambda: "Open it" in labels(at))
    assert (
        "nano-graphrag: 2 documents, 4 chunks, 5 entities, 5 relations, 3 communities, 3 reports"
        in texts(at)
    )


def test_uploads_stay_in_their_folder(tmp_path):
    inside = tmp_path / "inside"
    names = [
        "index/graphs/a_new.json",
        "../../out.json",
        "/etc/passwd.json",
        "C:\\x\\y.json",
        "..",
        "a/\0/<b>.json",
        "d/" * 300 + "deep.json",
    ]
    save_folder([Upload(name, b"{}") for name in names], inside)
    assert [
        path for path in tmp_path.rglob("*") if path.is_file() and inside not in path.parents
    ] == []
    assert (inside / "index" / "graphs" / "a_new.json").is_file() and len(
        list(inside.rglob("*.json"))
    ) == len(names) - 1
    with pytest.raises(BadInput, match="cannot be written"):
        save_folder([Upload("index", b"")], inside)


def test_the_opened_graph_is_on_one_layout_with_ours(small):
    at = looked(str(RECORDED / "graphrag"))
    button(at, "Open it").click().run()
    until(at, lambda: at.success)
    corpus = open_corpus("microsoft-graphrag")
    until(at, lambda: build_status(corpus, "opened-graphrag").is_current)
    run_build(corpus, "tkg-noun-phrases", engine().models)
    at = opened("microsoft-graphrag", texts_view=COMPARISON_VIEW)
    until(at, lambda: "In both" in texts(at))
    assert "at the same position in both pictures" in texts(at) and len(at.get("plotly_chart")) == 2


def test_what_only_one_graph_has_is_orange_there_and_a_ring_in_the_other():
    first, second = story(), story()
    both = unite_graphs(first, second, 3)
    # a graph and itself: all is shared
    assert both.names[0] == both.names[1] and both.pairs[0] == both.pairs[1]
    names = (["Scrooge", "Tim", ""], ["SCROOGE", "", "<Fred>"])
    pairs = ({(0, 1)}, {(0, 2)})
    places = {0: (0.5, 0.5), 1: (0.1, 0.9), 2: (0.9, 0.1)}
    left = layout_figure(type(both)(names, pairs), 0, places).data
    # its lines, shared ones, rings, its points
    assert [list(trace.x) for trace in left] == [[0.5, 0.1, None], [], [0.9], [0.5, 0.1]]
    assert list(left[3].marker.color) == ["#2f6f9f", "#d9822b"]
    right = layout_figure(type(both)(names, pairs), 1, places).data
    assert list(right[3].hovertext) == ["SCROOGE", "&lt;Fred>"]  # tags are not read


def test_a_comparison_of_the_opened_graph_with_ours_draws_an_entity_of_both_at_one_place(small):
    corpus, _ = open_index(RECORDED / "lightrag", "harbours")
    builds = ("opened-lightrag", "rkg-noun-phrases")
    for one in builds:
        run_build(corpus, one, engine().models)
    lines = [f"BuiltGraph(build='{one}') >> EmbedQuery() >> VectorNodes(keep=9)" for one in builds]
    job = engine().compare(
        engine().prepare_question(
            CorpusSource.of(corpus), Question("Who is Ann Lee?"), uses_model=False
        ),
        [find_method(line) for line in lines],
    )
    assert job.wait(60)
    theirs, ours = job.comparison.lanes
    assert (theirs.error, ours.error) == (None, None) and theirs.graph.digest != ours.graph.digest
    picture = TextPicture().draw([theirs, ours], {}, {}, [(), ()])
    drawn = [node["name"] for node in picture["layout"]["nodes"]]
    assert drawn.count("Ann Lee") == 1 and all(
        "node Ann Lee" in share["nodes"] for share in picture["kept"]
    )
    assert "node Black Sea" in picture["kept"][0]["nodes"]  # LightRAG's own
