"""A live database gives the same results as its copy.

It is used by the engine, by commands, in a saved case and in an evaluation.
"""

from __future__ import annotations

import json

import pytest

from core.cases.comparison_data import freeze, thaw
from core.cli import main
from core.databases.address import address_of
from core.databases.graph_copy import copy_graph
from core.databases.limits import CopyLimits
from core.databases.live_database import LiveSettings
from core.datasets import add_graph, datasets, open_graph
from core.datasets.own_graphs import add_live
from core.engine import Engine
from core.errors import BadInput, StoreError
from core.io.home import graphs_folder
from core.methods.catalogue import find_method
from core.sources import GraphSource, available_sources
from core.types import Question
from tests.core.databases.endpoint import endpoint
from tests.core.databases.test_live_database import FIVE
from tests.core.databases.test_sparql import PREFIXES


@pytest.fixture
def served(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    with endpoint() as one:
        yield one


def compare_lanes(engine, name, question, specs):
    ask = engine.prepare_question(GraphSource(name), question, uses_model=False)
    job = engine.compare(ask, [find_method(spec) for spec in specs])
    assert job.wait(120) and not job.error
    assert not [lane.error for lane in job.comparison.lanes if lane.error]
    return job.comparison


def path_texts_and_names(comparison):
    return [
        (lane.graph.texts(lane.state.paths.items), lane.graph.names(lane.state.reader or ()))
        for lane in comparison.lanes
    ]


def add_live_graph(served, **how):
    """Add a live graph to the home folder."""
    add_live(LiveSettings(served.url, hops=6, **how), "live")
    return served


def add_copy(served, folder, literals="triples"):
    return add_graph(
        copy_graph(address_of(served.url), folder, CopyLimits(), literals=literals), "copy"
    )


ROWS = (
    "lego-1",
    "EgoNetwork(hops=3) >> ShortestPaths(hops=3)",
    "EgoNetwork(hops=2) >> SimplePaths(hops=2)",
    "PersonalizedPageRank(keep=3)",
)
QUESTIONS = (
    Question("what does Bob know?"),
    Question("what?", entities=("Ann", "Eve")),
    Question("who knows [Cleo]?"),
)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda one: one.text)
def test_five_nodes_have_the_paths_and_answers_of_the_copy(served, tmp_path, question):
    served.load(FIVE)
    add_live_graph(served), add_copy(served, tmp_path)
    engine = Engine()
    near, copy = (compare_lanes(engine, name, question, ROWS[:3]) for name in ("live", "copy"))
    assert (
        path_texts_and_names(near) == path_texts_and_names(copy)
        and near.ask.question.entities == copy.ask.question.entities
    )
    assert all(paths for paths, _ in path_texts_and_names(near))
    assert near.lanes[0].state.trace[0].notes[0].startswith("Asked live: 4 triples within 6 hops")


def turtle_of(triples):
    """Triples of names as Turtle, with nodes and relations named by labels."""
    names = list(dict.fromkeys(name for head, _, tail in triples for name in (head, tail)))
    place = {name: at for at, name in enumerate(names)}
    labels = "".join(
        f":e{at} rdfs:label {json.dumps(name, ensure_ascii=False)} . " for name, at in place.items()
    )
    return (
        PREFIXES
        + labels
        + "".join(
            f":e{place[head]} :{relation} :e{place[tail]} . " for head, relation, tail in triples
        )
    )


def test_a_part_of_wikimovies_has_the_paths_and_answers_of_the_copy(served, tmp_path, movies):
    import numpy as np

    first = movies.steps(movies.nodes_named("Inception")[0])[0]
    edges = np.unique(np.concatenate([movies.steps(int(node))[1][:60] for node in first]))
    heads, relations, tails = movies.triples(edges)
    triples = list(
        zip(
            movies.names(heads),
            (movies.relation_names[one] for one in relations),
            movies.names(tails),
        )
    )
    served.load(turtle_of(triples))
    add_live_graph(served, each=1_000), add_copy(served, tmp_path)
    engine, question = Engine(), Question("who directed Inception", answers=("Christopher Nolan",))
    near, copy = (compare_lanes(engine, name, question, ROWS[:2]) for name in ("live", "copy"))
    assert near.graph.n_edges == len(set(triples)) > 300 and near.graph.digest == copy.graph.digest
    assert (
        path_texts_and_names(near) == path_texts_and_names(copy)
        and len(path_texts_and_names(near)[0][0]) > 100
    )


def test_a_live_graph_is_listed_and_its_failure_affects_no_other(served, tmp_path):
    served.load(FIVE)
    add_live_graph(served), add_copy(served, tmp_path)
    assert available_sources()[GraphSource("live")] == "live (live)" and datasets()["live"].is_live
    engine = Engine()
    assert engine.graph("live").n_nodes == 0 and engine.graph("live").live.words.startswith(
        "Asked live at 127"
    )
    served.instead = lambda query, number: (503, {"Retry-After": "0"}, b"")
    with pytest.raises(BadInput, match="is busy"):
        engine.prepare_question(GraphSource("live"), Question("who knows Ann?"), uses_model=False)
    assert compare_lanes(engine, "copy", Question("who knows Ann?"), ROWS[:1])


def test_a_saved_case_opens_without_the_database_and_holds_no_key(served, monkeypatch):
    served.load(FIVE)
    served.key = "ann:secret-word"
    monkeypatch.setenv("HOPSCOPE_KEY_MINE", f"{served.url} ann:secret-word")
    add_live_graph(served, key="HOPSCOPE_KEY_MINE")
    before = compare_lanes(Engine(), "live", QUESTIONS[0], ROWS[:2])
    saved = json.dumps(freeze(before))
    served.instead = lambda query, number: (500, {}, b"")
    after = thaw(json.loads(saved))
    assert "secret-word" not in saved and "HOPSCOPE_KEY" not in saved
    assert after.graph.name == "live" and after.lanes[0].state.trace[0].notes[0].startswith(
        "Asked live: 4 triples"
    )
    assert after.graph.texts(after.lanes[0].state.paths.items) == path_texts_and_names(before)[0][0]


def test_a_removed_entity_is_left_out_of_the_neighbourhood(served):
    from dataclasses import replace

    from core.graph.edits import Edit

    served.load(FIVE)
    add_live_graph(served)
    engine = Engine()
    source = replace(GraphSource("live"), edits=(Edit("node", ("Dan <b>",)),))
    ask = engine.prepare_question(source, QUESTIONS[0], uses_model=False)
    assert ask.source.graph.n_edges == 2 and ask.source.graph.fetched is not None


def test_commands_add_and_use_a_live_graph(served, capsys):
    served.load(FIVE)
    assert main(["build", f"sparql+{served.url}", "--live", "--name", "mine", "--hops", "1"]) == 0
    assert "The graph mine is ready. Asked live at 127" in capsys.readouterr().out
    assert (
        main(["ask", "what does Bob know", "--graph", "mine", "--no-llm", "--method", "lego-1"])
        == 0
    )
    said = capsys.readouterr().out
    assert (
        "starts from Bob" in said
        and "Asked live: 2 triples within 1 hop of Bob" in said
        and "Bob -> r_reverse -> Ann" in said
    )
    assert main(["build", f"sparql+{served.url}", "--live", "--name", "mine"]) != 0
    assert "There is already a graph “mine”" in capsys.readouterr().err


@pytest.mark.parametrize(
    "options, said",
    [
        ([], "--live --name"),
        (["--name", "x", "--out", "g"], "do not go with --live"),
        (["--name", "x", "--hops", "9"], "hops is a number from 1 to 6"),
        (["--name", "!"], "Give the graph a name"),
    ],
)
def test_unsuitable_options_give_an_error_sentence(served, capsys, options, said):
    assert main(["build", served.url, "--live", *options]) != 0
    assert said in capsys.readouterr().err and not graphs_folder().exists()


def test_a_database_without_a_reply_is_not_added(served, capsys):
    served.key = "ann:word"
    assert main(["build", served.url, "--live", "--name", "x"]) != 0
    assert "wants a name and password" in capsys.readouterr().err and "x" not in datasets()


def test_a_damaged_description_is_reported_on_opening(served):
    served.load(FIVE)
    add_live_graph(served)
    (graphs_folder() / "live" / "live.toml").write_text("hops = 2")
    assert (
        "live" not in datasets()
        and available_sources()[GraphSource("live")] == "live (cannot be opened)"
    )
    with pytest.raises(StoreError, match="live.toml cannot be read"):
        open_graph("live")


def test_a_live_graph_cannot_be_exported_or_indexed(served, capsys):
    served.load(FIVE)
    add_live_graph(served)
    assert (
        main(["graph", "export", "live"]) != 0 and "asked live; copy it" in capsys.readouterr().err
    )
    assert (
        main(["index", "vectors", "--graph", "live"]) != 0
        and "asked live" in capsys.readouterr().err
    )


def test_an_evaluation_runs_on_a_live_graph(served, tmp_path, capsys):
    served.load(FIVE)
    add_live_graph(served)
    file = tmp_path / "questions.csv"
    file.write_text(
        "question,answers,entities\nwho is known by Ann,Bob,Ann\nwho is known by Eve,"
        "Nobody,Eva\nwho is known by Cleo,Dan <b>,Cleo\n"
    )
    main(["evaluate", "--set", str(file), "--graph", "live", "--method", "lego-1", "--no-llm"])
    said = capsys.readouterr().out
    assert "lego-1: 2 of 3 answered, 1 failed: “Eva” was not found by its name" in said
