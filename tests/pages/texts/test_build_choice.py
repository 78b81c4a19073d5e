"""Each kind of graph opens on the Texts screen.

A tree by a language model shows its summaries, what they sum up and where they end.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.builds import find_build, open_graph
from core.corpus import Document
from core.models.base import ChatReply
from pages.parts.shared.session import engine
from pages.parts.texts.build_choice import EXTRACTOR_WORDS, _labels
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
    at = opened(texts_kind_for="small", texts_kind=kind)
    until(
        at,
        lambda: (
            any(label.endswith("noun-phrases") or label == "Build" for label in labels(at))
            or at.radio
        ),
    )
    build = BUILT.get(kind, f"{kind}-noun-phrases")
    if at.radio and at.radio[0].value != build:
        at.radio[0].set_value(build).run()
    until(at, lambda: "Build" in labels(at))
    button(at, "Build").click().run()
    until(at, lambda: at.dataframe)
    graph = open_graph(small, build)
    assert (
        at.metric[0].label == KINDS[kind]
        and at.metric[0].value == str(graph.n_nodes)
        and len(at.dataframe[0].value) == graph.n_nodes
    )
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
    at = opened(**{"texts_kind_for": "small", "texts_kind": "tree", "texts_build-tree": "tree-llm"})
    until(at, lambda: "Build" in labels(at))
    button(at, "Build").click().run()
    until(at, lambda: at.dataframe)
    graph, table = open_graph(grouped, "tree-llm"), at.dataframe[0].value
    assert (
        table["Name"][0].startswith("Summary")
        and table["Type"][0] == "summary, level 1"
        and table["Type"].iloc[-1] == "chunk"
    )
    assert at.metric[0].label == "Chunks and summaries"
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
        and f"Rests on {resting} chunk" in texts(at)
        and resting >= len(ships) > 0
        and "spell the name differently" not in texts(at)
    )
    below = at.dataframe[0].value
    assert set(below["Relation"]) == {"sums up"} and set(below["Related to"]) >= {
        f"The ship {number}" for number in ships
    }
    assert sum("ship ship ship" in text for text in below["Text"]) == len(ships)

    at.session_state["texts_trails"] = {graph.digest: [summary, leaf]}
    at.run()
    above = at.dataframe[0].value
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
def test_texts_begin_with_a_build_that_can_run(small, kind):
    """Whatever was looked at of other texts, where a language model was at hand or its graph shipped."""
    before = f"{kind}-described"
    at = opened(texts_kind_for="others", texts_kind=kind, **{f"texts_build-{kind}": before})
    until(at, lambda: "Build" in labels(at))
    assert at.session_state["texts_kind"] == kind
    assert at.session_state[f"texts_build-{kind}"] != before


def test_a_kind_of_which_nothing_can_run_is_not_begun_with(small):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "pages.parts.texts.build_choice._can_run", lambda corpus, build: build.graph == "tkg"
        )
        at = opened(texts_kind_for="others", texts_kind="rkg")
    assert at.session_state["texts_kind"] == "tkg"
