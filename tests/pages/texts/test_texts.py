"""The Texts screen: documents and chunks, a build as a job, and the graph that came out."""

from __future__ import annotations

import shutil
import threading

import pytest

from core.builds import build_status, find_build, open_graph, run_build
from core.builds.fact_store import FactStore
from core.builds.shipment import write_shipment
from core.builds.shipped_data import REPLIES_FILE
from core.corpus import Document, write_corpus
from core.corpus.catalogue import corpora_folder
from core.models.chat.saved_replies import SavedReplies
from core.sources import CorpusSource
from core.watch import Watch
from pages.parts.shared.session import engine
from pages.parts.texts import graph_builds
from pages.parts.texts.build_choice import AI_WAY
from pages.parts.texts.community_map import layout_tiles
from pages.parts.texts.passage import mark_names
from pages.parts.texts.text_trail import CHUNKS_VIEW
from tests.core.builds.test_language_model import ScriptedChat
from tests.model_server import model_server
from tests.pages.texts.texts_kit import HOSTILE, button, html, labels, opened, texts, until


def built(at):
    until(at, lambda: "Build a graph" in labels(at))
    button(at, "Build a graph").click().run()
    return until(at, lambda: at.dataframe)


def test_a_build_says_its_cost_first_and_shows_its_entities(small):
    at = opened()
    assert not at.exception and not at.error
    until(at, lambda: "Build a graph" in labels(at))
    assert "2 of 2 chunks" in texts(at) and "not built" in texts(at)
    built(at)
    assert build_status(small, "tkg-names").is_current
    table = at.dataframe[0].value
    assert {"Anna Berg", "Olof Lind", "Turku"} <= set(table["Name"])
    olof = table.set_index("Name").loc["Olof Lind"]
    assert olof["Type"] == "person" and olof["Chunks"] == 2
    graph = open_graph(small, "tkg-names")
    assert f"{graph.n_nodes} entities, {graph.n_edges} relations from 2 passages" in texts(at)


def test_what_building_cost_is_a_row_a_step(small):
    at = opened()
    until(at, lambda: "Build a graph" in labels(at))
    built(at)
    now = build_status(small, "tkg-names")
    at = opened(texts_view=CHUNKS_VIEW, **{f"building-cost-{now.folder.name}": True})
    table = at.table[0].value
    assert list(table.columns) == [
        "Step",
        "For",
        "Seconds",
        "Calls",
        "Prompt tokens",
        "Completion tokens",
    ]
    steps = [operator.words() for operator in now.build.line]
    assert [one.replace("\\", "") for one in table["Step"]] == steps and set(
        table["Prompt tokens"]
    ) == {"0"}
    assert list(table["For"]) == ["the graph"] * 4 + [
        "the index"
    ] * 5 and "No language model was asked." in texts(at)


def test_an_entity_shows_the_sentences_it_came_from(small):
    at = built(opened())
    graph = open_graph(small, "tkg-names")
    at.session_state["texts_trails"] = {graph.digest: list(graph.nodes_named("Anna Berg"))}
    at.run()
    shown = html(at)
    assert "Anna Berg" in texts(at) and shown.count("<mark") == 2 and "page 3" in shown
    assert "The &lt;b&gt;ship&lt;/b&gt;" in shown and "<b>ship" not in shown
    assert "Turku" in list(at.dataframe[1].value["Related to"])


def test_each_corpus_is_listed_from_its_first_page(small):
    many = tuple(Document(f"d{i:03}", f"Text {i} of Turku.") for i in range(120))
    for name in ("one", "other"):
        write_corpus(corpora_folder() / name, many, name)
    at = opened("one", texts_open="Documents")
    button(at, "Next").click().run()
    assert "Documents 51 to 100 of 120" in texts(at)
    at.session_state["source"] = CorpusSource("other")
    at.run()
    assert not at.exception and "Documents 1 to 50 of 120" in texts(at)


def test_documents_are_found_by_their_words_and_shown_as_text(small):
    at = opened(texts_open="Documents")
    assert list(at.dataframe[0].value["Title"]) == ["The <b>ship</b>", "The town"]
    at.text_input(key="texts_search").set_value("{braces} $x$").run()
    assert not at.exception and list(at.dataframe[0].value["Id"]) == ["town"]
    at.session_state["texts_document"] = ("small", "town")
    until(at, lambda: at.get("html"))
    assert "&lt;img src=x onerror=alert(1)&gt; **bold** {braces} $x$" in html(
        at
    ) and "<img" not in html(at)


def test_the_same_build_asked_for_twice_is_one_job(small, monkeypatch):
    going = threading.Event()
    calls = []

    def slow(corpus, one, models, watch, cap):
        calls.append(one.id)
        watch.report("Reading chunks: 1 of 2", 0.5)
        while not going.wait(0.02):
            watch.check()

    monkeypatch.setattr(graph_builds, "run_build", slow)
    at, other = opened(), opened()
    until(at, lambda: "Build a graph" in labels(at))
    until(other, lambda: "Build a graph" in labels(other))
    first, second = button(at, "Build a graph"), button(other, "Build a graph")
    first.click().run()
    second.click().run()
    until(other, lambda: "Cancel" in labels(other))
    assert calls == ["tkg-names"] and "being built" in texts(other)
    other.session_state["texts_open"] = "Documents"
    other.run()
    other.button(key="texts_remove").click().run()
    assert "cancel that first" in texts(other) and small.folder.is_dir()
    other.session_state["texts_open"] = "Graph"
    other.run()
    button(other, "Cancel").click().run()
    until(at, lambda: "Build a graph" in labels(at))
    assert "Cancelled." in texts(at)


def test_the_graph_before_is_looked_at_while_the_next_is_built(small, monkeypatch):
    going, real = threading.Event(), graph_builds.run_build

    def held(corpus, one, models, watch, cap):
        def told(text, share):
            watch.report(text, share)
            while "Encoding" in text and not going.wait(0.02):
                watch.check()

        return real(corpus, one, models, Watch(watch.check, told), cap=cap)

    at = built(opened())
    monkeypatch.setattr(graph_builds, "run_build", held)
    small.update([Document("ship", "Eva Holm sails to Turku.")])
    until(at, lambda: "Rebuild" in labels(at))
    assert "have changed since" in texts(at) and not at.dataframe
    button(at, "Rebuild").click().run()
    until(at, lambda: at.dataframe)
    assert (
        "being built" in texts(at)
        and "graph of the earlier documents" in texts(at)
        and "Anna Berg" in set(at.dataframe[0].value["Name"])
    )
    going.set()
    until(at, lambda: at.dataframe and "Eva Holm" in set(at.dataframe[0].value["Name"]))
    assert "graph of the earlier documents" not in texts(at)


def test_a_failing_build_is_a_sentence(small, monkeypatch):
    def broken(*_, **how):
        raise MemoryError("no room")

    monkeypatch.setattr(graph_builds, "run_build", broken)
    at = opened()
    until(at, lambda: "Build a graph" in labels(at))
    button(at, "Build a graph").click().run()
    until(at, lambda: at.error)
    assert "MemoryError" in at.error[0].value and "Build a graph" in labels(at)


def test_a_language_model_that_is_not_here_is_told_before_anything_starts(small):
    at = opened(**WITH_AI)
    until(at, lambda: "calls of a language model" in texts(at))
    assert "Fetch it on the Models page" in texts(at)
    assert not any(str(one.key).startswith("start-way") for one in at.button)


WITH_AI = {
    "texts_ways": True,
    "texts_way": AI_WAY,
    f"texts_way_build-{AI_WAY}": "tkg-llm",
}
MODELS = """
[model.far]
kind = "chat"
backend = "openai"
url = "{url}"
model = "far"
price_in = 2000
price_out = 10000
currency = "EUR"

[roles]
answer = "far"
"""


def started_by_ai(at):
    """The button of the dialog that starts the chosen build."""
    return [one for one in at.button if str(one.key).startswith("start-way")]


def test_a_build_that_costs_money_says_how_much_and_stops_before_a_limit(small, tmp_path):
    with model_server(0.02) as server:
        (tmp_path / "models.toml").write_text(MODELS.format(url=server.url), "utf-8")
        engine().models.reload()
        try:
            at = opened(**WITH_AI)
            until(at, lambda: started_by_ai(at))
            assert (
                " EUR" in texts(at)
                and "Reports on communities are added" in texts(at)
                and "In all: about" in texts(at)
            )
            limit = next(one for one in at.text_input if one.label == "Spend at most")
            limit.set_value("<script>alert(1)</script>").run()
            assert (
                "“<script>alert(1)</script>” is no cap" in texts(at)
                and started_by_ai(at)[0].disabled
            )
            next(one for one in at.text_input if one.label == "Spend at most").set_value(
                "1 tokens"
            ).run()
            started_by_ai(at)[0].click().run()
            assert not at.session_state["texts_ways"]
            until(at, lambda: at.error)
            assert "Stopped before the cap" in at.error[
                0
            ].value and "1 tokens are spent" in at.error[0].value.replace("\\", "")
            until(at, lambda: "Spent on it so far" in texts(at))
        finally:
            (tmp_path / "models.toml").unlink()
            engine().models.reload()


def test_marks_are_put_around_whole_names_and_nothing_is_markup():
    assert mark_names("Ann met Anna.", "ann").count("<mark") == 1
    assert "Li\u2028" not in mark_names("x", "y") and mark_names("李白乘舟", "李白").startswith(
        "<mark"
    )
    shown = mark_names(f"Anna\nBerg saw. {HOSTILE} {{a}}", "Anna Berg")
    assert shown.count("<mark") == 1 and "<img" not in shown and "{a}" in shown
    assert "&lt;i&gt;" in mark_names("a <i> b. c.", "<i>") and "<i>" not in mark_names(
        "a <i> b. c.", "<i>"
    )


def test_communities_open_level_by_level(small):
    at = built(opened())
    at.segmented_control(key="texts_view").set_value("Communities").run()
    assert not at.exception and "A tile is a community" in texts(at)
    graph = open_graph(small, "tkg-names")
    table = graph.columns.communities
    at.session_state["texts_communities"] = {graph.digest: [0]}
    at.run()
    assert not at.exception and table.text("title", 0) in [
        one.value.replace("\\", "") for one in at.subheader
    ]
    assert table.text("report", 0) in [one.value for one in at.text]
    assert sorted(at.dataframe[0].value["Name"]) == sorted(
        graph.names(table.id_lists("members")[0])
    )
    button(at, "All communities").click().run()
    assert "A tile is a community" in texts(at)


@pytest.mark.parametrize("sizes", [[6, 6, 4, 3, 2, 2, 1], [1], [100, 1, 1], [1] * 40])
def test_tiles_fill_the_map_and_are_as_large_as_their_sizes(sizes):
    tiles = layout_tiles(sizes)
    for (left, top, width, height), size in zip(tiles, sizes):
        assert width * height == pytest.approx(10_000 * size / sum(sizes))
        assert (
            left >= -1e-9
            and top >= -1e-9
            and left + width <= 100 + 1e-9
            and top + height <= 100 + 1e-9
        )
    for number, (left, top, width, height) in enumerate(tiles):
        for x, y, w, h in tiles[:number]:
            assert (
                min(left + width, x + w) - max(left, x) < 1e-6
                or min(top + height, y + h) - max(top, y) < 1e-6
            )


def test_a_graph_that_comes_with_the_texts_opens_with_a_click_and_says_who_made_it(
    small, monkeypatch, tmp_path
):
    models, file = engine().models, tmp_path / "data" / "small" / REPLIES_FILE
    file.parent.mkdir(parents=True)
    monkeypatch.setattr("core.builds.shipped_data.data_folder", (tmp_path / "data").joinpath)
    said = ScriptedChat(lambda *_: {"about": {"Anna Berg": "She sails to Turku."}, "links": []})
    monkeypatch.setattr(models, "chat", lambda role="answer": said)
    run_build(small, "kg-described", models, lanes=1)
    write_shipment(small, [find_build("kg-described")], models, file)
    shutil.rmtree(small.folder / "graphs")
    for base in (SavedReplies().file, FactStore().file):
        base.unlink()
    at = opened()
    until(at, lambda: "Open" in labels(at))
    made = "Made by Qwen2.5-Coder-1.5B-Instruct of 2 chunks: 2 calls, 2,100 tokens, 4 seconds; all of its replies could be read."
    assert made in texts(at) and "comes with these texts" in texts(at)
    button(at, "Open").click().run()
    # the job ends after its graph is there
    until(at, lambda: at.dataframe and "built" in texts(at))
    button(at, "How it was built").click().run()
    assert (
        "It came with these texts. " + made in texts(at)
        and len(said.asked) == 2
        and build_status(small, "kg-described").is_current
    )
    at = opened(texts_open="Documents")
    assert made in texts(at)


def test_a_page_that_is_loaded_anew_begins_with_the_graph_that_is_being_built(small, monkeypatch):
    monkeypatch.setattr(
        "pages.parts.texts.build_choice.is_being_built",
        lambda corpus, one: one.id == "rkg-described",
    )
    at = opened()
    assert "Entities with descriptions and keywords · Names found by rules" in texts(at)
