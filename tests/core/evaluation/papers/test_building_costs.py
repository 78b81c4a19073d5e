"""The cost of graphs by step.

It is counted by hand with a model that says what it is told to. It is drawn, and held against the
paper's sentences.
"""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from core.builds import build_status, run_build
from core.builds.catalogue import find_build
from core.builds.report import GRAPH_STEPS, INDEX_STEPS, StepCost
from core.cli import EXIT_OK, EXIT_WRONG_INPUT, main
from core.evaluation.papers.building_costs import (
    BuildingCosts,
    GraphCost,
    building_markdown,
    check_claims,
    cost_rows,
    graph_cost,
)
from core.evaluation.papers.experiments import cost_figures as known_costs
from core.evaluation.reports.build_plots import cost_page, seconds_plot, token_plot
from core.models.registry import Registry
from core.types import Usage
from tests.core.builds.kit import LetterModels, Texts
from tests.core.builds.test_language_model import ChatModels, entity, relation
from tests.notes import NoteWith

WANTED = BuildingCosts("id", "A paper", "Figure 1", "Costs", {}, {}, "", 0, ("Tree", "KG"), "KG", 1)
READ = StepCost("read", GRAPH_STEPS, 2.0, Usage(4, 400, 100))
REPORTS = StepCost("reports", INDEX_STEPS, 1.0, Usage(1, 200, 50))
MERGED = StepCost("merged <b>", GRAPH_STEPS, 0.5)


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))


@pytest.fixture
def corpus(tmp_path):
    return Texts(tmp_path / "corpus", one="Ann met Bob.", two="Bob met Cleo.")


def say(asked, number):
    """Two people that met; the report on them."""
    names = [name for name in ("Ann", "Bob", "Cleo") if name in asked] or asked.split()[1:3]
    if "report" in asked.lower():
        return {"title": "T", "summary": "S.", "findings": [], "rating": 5}
    return {"entities": [entity(name) for name in names], "relations": [relation(*names[:2])]}


LINE = "WholeDocuments() >> LanguageModelExtraction(gleaning=0) >> Merge() >> Vectors(of='nodes')"


def test_each_step_has_the_tokens_that_it_asked_for(corpus):
    run_build(corpus, LINE, ChatModels(say))
    cost = graph_cost("RKG", "x", build_status(corpus, LINE).report, True)
    # two chunks, one call each; the chat of the test reads 1,000 tokens and writes 50
    assert [(one.part, one.usage) for one in cost.steps] == [
        (GRAPH_STEPS, Usage()),
        (GRAPH_STEPS, Usage(2, 2000, 100)),
        (GRAPH_STEPS, Usage()),
        (INDEX_STEPS, Usage()),
    ]
    assert (
        cost.whole
        and cost.chunks == 2
        and cost.usage() == cost.usage(GRAPH_STEPS) == Usage(2, 2000, 100)
    )
    assert (
        cost.seconds() == pytest.approx(sum(one.seconds for one in cost.steps))
        and cost.usage(INDEX_STEPS) == Usage()
    )


def test_tokens_of_chunks_that_were_read_before_are_not_known(corpus):
    run_build(corpus, LINE, ChatModels(say))
    other = LINE.replace(" >> Vectors(of='nodes')", "")
    run_build(corpus, other, ChatModels(say))
    cost = graph_cost("RKG", "x", build_status(corpus, other).report, True)
    assert not cost.whole and cost.usage() == Usage()
    assert check_claims(WANTED, [cost])[0] == NoteWith("RKG", "tokens are not whole")


def test_without_a_language_model_there_are_no_tokens(corpus):
    run_build(corpus, "chunks", LetterModels())
    cost = graph_cost(
        "PG",
        "chunks",
        build_status(corpus, "chunks").report,
        find_build("chunks").line.uses_chat_model,
    )
    assert cost.whole and check_claims(WANTED, [cost]) == [NoteWith("PG", 0, "tokens")]
    assert (
        "No language model was asked" in token_plot({"PG": cost.steps}).layout.title.subtitle.text
    )


def test_reports_of_before_steps_were_counted_have_none():
    cost = graph_cost(
        "KG", "kg", {"seconds": {"Merge": 1.0}, "usage": {}, "counts": {"chunks": 3}}, True
    )
    assert (
        cost.steps == ()
        and not cost.whole
        and cost_rows([cost]) == [["KG", "", "together", "0.0", "0", "0", "0"]]
    )


def test_the_papers_sentences_beside_what_was_measured():
    tree = GraphCost("Tree", "t", 4, (StepCost("tree", GRAPH_STEPS, 1.0, Usage(1, 40, 10)),))
    kg = GraphCost("KG", "k", 4, (READ, REPORTS))
    said = check_claims(WANTED, [tree, kg])
    assert said[0] == NoteWith("Tree 50, KG 500", "Tree, KG", "as here")
    assert said[1] == NoteWith("KG", "10.0", "tokens of Tree", 40)
    assert said[2] == NoteWith("Prompts have more tokens", 2, 2)
    assert said[3] == NoteWith("index of KG", "0.50", "graph")
    more = GraphCost("Tree", "t", 4, (StepCost("tree", GRAPH_STEPS, 1.0, Usage(9, 10, 990)),))
    said = check_claims(WANTED, [more, kg])
    assert "another order than here" in said[0] and "in 1 of 2" in said[2]


def test_pictures_have_every_number_and_are_escaped():
    costs = {"KG": (READ, MERGED, REPORTS), "<script>": (MERGED,)}
    drawn = {bar.name: list(bar.y) for bar in token_plot(costs).data}
    assert drawn == {
        "graph, prompt": [400, 0],
        "graph, completion": [100, 0],
        "index, prompt": [200, 0],
        "index, completion": [50, 0],
    }
    assert {bar.name: list(bar.y) for bar in seconds_plot(costs).data} == {
        "graph": [2.5, 0.5],
        "index": [1.0, 0.0],
    }
    html = cost_page(costs, "<b>", ["a < b"])
    assert (
        "&lt;b&gt;" in html
        and "a &lt; b" in html
        and "<script>" not in list(seconds_plot(costs).data[0].x)[1]
    )


def test_the_table_as_markdown():
    text = building_markdown(WANTED, "A corpus.", [GraphCost("KG | x", "k", 4, (READ,))], ["Said."])
    assert "| KG \\| x | graph | read | 2.0 | 4 | 400 | 100 |" in text and text.endswith(
        "- Said.\n"
    )


def test_the_figure_names_builds_that_are_here():
    wanted = known_costs()["analysis-figures-4-5"]
    for builds in (wanted.builds, wanted.small_builds):
        assert set(wanted.levels) < set(builds) and wanted.index in builds
        kinds = {name: find_build(spec).graph for name, spec in builds.items()}
        assert kinds == {"PG": "passage", "Tree": "tree", "KG": "kg", "TKG": "tkg", "RKG": "rkg"}
        assert not find_build(builds["PG"]).line.uses_chat_model  # in the paper it takes no tokens


def test_the_command_counts_each_graph(tmp_path, monkeypatch, capsys):
    chat = ChatModels(say)
    monkeypatch.setattr(Registry, "chat", lambda self, role="answer": chat.writer)
    builds = {"PG": "chunks", "KG": LINE}
    wanted = known_costs()["analysis-figures-4-5"]
    small = replace(wanted, small_builds=builds, documents=3, levels=("KG",), index="KG")
    monkeypatch.setattr("core.commands.reproduce.cost_figures", lambda: {small.id: small})
    assert (
        main(["reproduce", small.id, "--small", "--json", "--out", str(tmp_path / "costs.md")])
        == EXIT_OK
    )
    found = json.loads(capsys.readouterr().out)
    assert [graph["name"] for graph in found["graphs"]] == ["PG", "KG"] and found["graphs"][1][
        "chunks"
    ] == 3
    assert (
        sum(step["usage"]["calls"] for step in found["graphs"][1]["steps"]) == 3
        and found["graphs"][1]["whole"]
    )
    assert "| KG | graph |" in (tmp_path / "costs.md").read_text("utf-8") and "plotly" in (
        tmp_path / "costs.html"
    ).read_text("utf-8")
    assert not (tmp_path / "home" / "facts.sqlite").exists()  # it was measured in an empty home
    assert (
        main(["reproduce", small.id]) == EXIT_WRONG_INPUT
        and "--data NAME" in capsys.readouterr().err
    )
    assert main(["reproduce", small.id, "--small", "--sample", "some"]) == EXIT_WRONG_INPUT
