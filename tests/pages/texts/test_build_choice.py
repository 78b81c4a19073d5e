"""Each kind of graph opens on the Texts screen.

A tree by a language model shows its summaries, what they sum up and where they end.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.builds import find_build, open_graph, run_build
from core.corpus import Document
from core.models.base import ChatReply
from pages.parts.shared.session import engine
from pages.parts.shared.text import plain
from pages.parts.texts import graph_builds
from pages.parts.texts.build_choice import (
    AI_WAY,
    EXTRACTOR_WORDS,
    FAST_WAY,
    PAPER_WAY,
    _labels,
    build_words,
    can_run,
    way_builds,
    way_words,
)
from pages.parts.texts.other_ways import EXPERT_WAY
from tests.pages.texts.texts_kit import button, html, labels, opened, texts, until

KINDS = {
    "passage": "Chunks",
    "tree": "Chunks",
    "tree-k": "Chunks",
    "kg": "Entities",
    "kg-synonyms": "Entities",
    "tkg": "Entities",
    "tkg-synonyms": "Entities",
    "rkg": "Entities",
    "links": "Chunks",
}
BUILT = {"links": "links-nearest"}  # the others by noun phrases


class SummaryChat:
    """A language model with replies that were written down.

    It sums up texts, or summaries of them, by the first thing that they tell of.
    """

    context = 4096

    def reply(self, messages, **_):
        first = next(
            (word for word in ("ship", "mill", "king") if word in messages[-1]["content"]), "town"
        )
        return ChatReply(f"These passages tell of a {first}, <b>in {{braces}}</b>.", 10, 5)

    def count_tokens(self, messages):
        return 1


@pytest.fixture()
def grouped(small):
    """The corpus with eight documents more on each of three things."""
    said = [(word, number) for word in ("ship", "mill", "king") for number in range(8)]
    return small.update(
        [
            Document(
                f"{word}-{number}", f"{word} {word} {word} {word} {number}.", f"The {word} {number}"
            )
            for word, number in said
        ]
    )


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_graph_opens(small, kind):
    build = BUILT.get(kind, f"{kind}-noun-phrases")
    at = opened(**{"texts_graph-small": build})
    until(at, lambda: "Build a graph" in labels(at))
    button(at, "Build a graph").click().run()
    until(at, lambda: at.dataframe)
    graph = open_graph(small, build)
    noun = {"Chunks": "chunks", "Entities": "entities"}[KINDS[kind]]
    assert f"{graph.n_nodes} {noun}" in texts(at)
    assert len(at.dataframe[0].value) == graph.n_nodes
    at.session_state["texts_trails"] = {graph.digest: [0]}
    at.run()
    assert not at.exception and "Turku" in html(at) and "<b>ship" not in html(at)


def test_a_tree_shows_summaries_what_they_sum_up_and_where_they_end(grouped, monkeypatch):
    models = engine().models
    told, weights = models.info, models.weights
    monkeypatch.setattr(models, "info", lambda name: replace(told(name), present=True))
    monkeypatch.setattr(models, "chat", lambda name="answer": SummaryChat())
    monkeypatch.setattr(
        models, "weights", lambda name: "recorded" if name == "answer" else weights(name)
    )
    at = opened(**{"texts_graph-small": "tree-llm"})
    until(at, lambda: "Build a graph" in labels(at))
    button(at, "Build a graph").click().run()
    until(at, lambda: at.dataframe)
    graph, table = open_graph(grouped, "tree-llm"), at.dataframe[0].value
    assert (
        table["Name"][0].startswith("Summary")
        and table["Type"][0] == "summary, level 1"
        and table["Type"].iloc[-1] == "chunk"
    )
    assert f"{graph.n_nodes} chunks and summaries" in texts(at)
    at.selectbox(key="texts_type").set_value("summary, level 1").run()
    assert set(at.dataframe[0].value["Type"]) == {"summary, level 1"}

    leaf = graph.nodes_named("ship-3")[0]
    summary = graph.steps(leaf, "in")[0][0]
    ships = [
        int(name[-1])
        for name in graph.names(graph.steps(summary, "out")[0])
        if name.startswith("ship")
    ]
    at.session_state["texts_trails"] = {graph.digest: [summary]}
    at.run()
    resting = len(graph.columns.nodes.id_lists("chunks")[summary])
    assert (
        "<b>in {braces}</b>." in texts(at)
        and at.tabs[0].label.startswith(f"Rests on {resting} chunk")
        and resting >= len(ships) > 0
        and "spell the name differently" not in texts(at)
    )
    below = at.dataframe[1].value
    assert set(below["Relation"]) == {"sums up"} and set(below["Related to"]) >= {
        f"The ship {number}" for number in ships
    }
    assert sum("ship ship ship" in text for text in below["Text"]) == len(ships)

    at.session_state["texts_trails"] = {graph.digest: [summary, leaf]}
    at.run()
    above = at.dataframe[1].value
    assert (
        set(above["Relation"]) == {"is summed up in"}
        and "of a ship" in above["Text"][0]
        and "The ship 3" in texts(at)
    )


def test_a_build_by_another_model_is_called_like_its_kind_with_the_model():
    own, other = find_build("kg-described"), find_build("kg-described").with_model("qwen-0.5b")
    described = EXTRACTOR_WORDS["described"]
    assert _labels([own, other]) == [described, (f"{described[0]} (qwen-0.5b)", described[1])]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if not kind.startswith("tree")])
def test_the_expert_form_begins_with_a_build_that_can_run(small, kind):
    """Whatever was chosen for other texts, where a language model was at hand."""
    at = opened(
        texts_ways=True, texts_way=EXPERT_WAY, **{"texts_graph-others": f"{kind}-described"}
    )
    at.segmented_control(key="texts_kind").set_value(kind).run()
    chosen = at.session_state[f"texts_build-{kind}"]
    assert not at.exception and can_run(small, find_build(chosen))


def test_the_page_begins_with_a_build_that_needs_no_model(small):
    """Also after a corpus whose graph needs one, and with a way that cannot run chosen there."""
    at = opened(**{"texts_graph-others": "tkg-described"})
    until(at, lambda: "Build a graph" in labels(at))
    (start,) = (one for one in at.button if str(one.key).startswith("start-first"))
    assert start.label.endswith("no AI)") and page_label("tkg-names") in texts(at)


def test_the_page_begins_with_what_can_run_where_the_usual_build_cannot(small, monkeypatch):
    monkeypatch.setattr(
        "pages.parts.texts.build_choice.can_run", lambda corpus, build: build.graph == "passage"
    )
    assert "Passage graph · " in texts(opened())


def test_the_page_begins_with_a_graph_that_is_there(small):
    run_build(small, "kg-noun-phrases", engine().models)
    assert page_label("kg-noun-phrases") in texts(opened())


def page_label(id):
    """A build as the page names it."""
    return build_words(find_build(id)).replace("\\", "")


@pytest.mark.parametrize(
    "way, build, needs_model",
    [
        (FAST_WAY, "kg-names", False),
        (AI_WAY, "tkg-described", True),
        (PAPER_WAY, "tkg-paper", True),
        (PAPER_WAY, "links-nearest", False),
    ],
)
def test_each_way_starts_the_build_that_it_names(small, monkeypatch, way, build, needs_model):
    started = []
    monkeypatch.setattr(
        graph_builds, "start_build", lambda corpus, one, cap: started.append(one.id)
    )
    at = opened(texts_ways=True, texts_way=way)
    (choice,) = (one for one in at.radio if one.key == f"texts_way_build-{way}")
    label, description = way_words(way, find_build(build))
    option = choice.options.index(plain(label))
    choice.set_value(build).run()
    until(at, lambda: at.get("badge") or "not built" in texts(at))
    assert option == list(way_ids(small, way)).index(build)
    if needs_model:
        until(at, lambda: "of a language model" in texts(at))
        assert "Fetch it on the Models page" in texts(at) and "Not installed" in description
        assert not started and not starts(at)
        return
    until(at, lambda: starts(at))
    starts(at)[0].click().run()
    assert started == [build] and at.session_state["texts_graph-small"] == build


def test_a_way_without_its_model_has_nothing_chosen(small):
    at = opened(texts_ways=True, texts_way=AI_WAY)
    (choice,) = (one for one in at.radio if one.key == f"texts_way_build-{AI_WAY}")
    assert choice.value is None and not starts(at)


def way_ids(corpus, way):
    return [build.id for build in way_builds(corpus)[way]]


def starts(at):
    """The button of the dialog that starts the chosen build."""
    return [one for one in at.button if str(one.key).startswith("start-way")]
