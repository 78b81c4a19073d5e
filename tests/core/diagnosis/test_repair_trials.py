"""Changes of one step that are tried on the five films nodes.

The tests say which ones are tried, and that only what was seen to help is offered.
"""

from __future__ import annotations

import pytest

from core.comparison.lane_run import LaneListener, LaneRun, LayeredPrefixCache, PrefixCache
from core.diagnosis.changes.path_changes import changes
from core.diagnosis.repair.repair_trials import find_repair
from core.diagnosis.verdict.explanation import explain_lanes
from core.environment import Environment
from core.errors import RunCancelled
from core.indexes import chains
from core.operators.text import parse_line
from core.sources import GraphSource, SourceQuestion
from core.types import Question, Repair
from core.watch import NO_WATCH, Watch

ANN, DRAMA = "One -> directed_by -> Ann", "One -> has_genre -> Drama"
TWO = "One -> directed_by -> Ann -> directed_by_reverse -> Two"


@pytest.fixture(autouse=True)
def home(kit, tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("core.indexes.chains.index_folder", lambda graph: tmp_path)
    chains.forget_chains(kit.graph)  # what other tests prepared


@pytest.fixture
def tried(kit):
    """`tried(text, answers, scores, start)`: the repair of the lane of a line.

    With it come the words of what may be tried, and the prefixes that the repair read.
    """

    def make(text, answers, scores, start="One", watch=NO_WATCH, seconds=60.0, model=False):
        models, prefixes = kit.Written(encoder=kit.Table(scores)), PrefixCache()
        ask = SourceQuestion(
            GraphSource.of(kit.graph),
            Question("a question", answers=tuple(answers)),
            (kit.node(start),),
            uses_model=model,
        )
        run = LaneRun(ask, parse_line(text), Environment(models), prefixes)
        run.retrieve(LaneListener())
        told = explain_lanes(kit.graph, [run.states], answers, [False])[0]
        words = []
        if told.losses:
            words = [change.description for change in changes(ask, run.line, told.losses, models)]
        found = find_repair(run, told.losses, watch=watch, seconds=seconds)
        return found, words, prefixes

    return make


def test_a_larger_keep_at_ranking(tried):
    """From Ann two films are directed by her; only the first of them is kept."""
    one, two = "Ann -> directed_by_reverse -> One", "Ann -> directed_by_reverse -> Two"
    line = "EgoNetwork() >> ShortestPaths(parallel=False) >> Rank(keep=1) >> Answer()"
    found, words, _ = tried(line, ["One", "Two"], {one: 0.9, two: 0.8}, "Ann")
    spec = "EgoNetwork() >> ShortestPaths(parallel=False) >> Rank(keep=64) >> Answer()"
    assert found == Repair(spec, "Keep 64 paths → 2 of 2", 2, 2) and words == ["Keep 64 paths"]


def test_more_hops(tried):
    line = "EgoNetwork(hops=3) >> ShortestPaths(hops=1, parallel=False) >> Rank()"
    found, words, _ = tried(line, ["Two"], {TWO: 1.0})
    assert found == Repair(
        "EgoNetwork(hops=3) >> ShortestPaths(hops=2, parallel=False) >> Rank()",
        "Search 2 hops → 1 of 1",
        1,
        1,
    )
    assert words == ["Search 2 hops"]


def test_what_counts_is_said_where_a_model_answers_as_well(tried):
    line = "EgoNetwork(hops=3) >> ShortestPaths(hops=1, parallel=False) >> Rank()"
    assert (
        tried(line, ["Two"], {TWO: 1.0}, model=True)[0].label
        == "Search 2 hops → 1 of 1 by the graph reader"
    )


def test_where_the_models_answers_count_a_change_promises_what_its_prompt_shows(kit):
    """A change that only keeps more paths helps nobody where the prompt has no room for them.

    The prompt has room for the first path alone, so that Two is kept and not read.
    """
    one, two = "Ann -> directed_by_reverse -> One", "Ann -> directed_by_reverse -> Two"
    models = kit.Written(kit.Parrot("One"), encoder=kit.Table({one: 0.9, two: 0.8}))
    ask = SourceQuestion(
        GraphSource.of(kit.graph),
        Question("films of Ann", answers=("One", "Two")),
        (kit.node("Ann"),),
    )

    def repaired(text):
        run = LaneRun(ask, parse_line(text), Environment(models), PrefixCache())
        run.retrieve(LaneListener())
        run.answer(LaneListener())
        told = explain_lanes(kit.graph, [run.states], ask.question.answers, [True])[0]
        assert told.n_right == 1
        return find_repair(run, told.losses, by_model=True, seconds=60.0)

    narrow = "EgoNetwork() >> ShortestPaths(parallel=False) >> Rank(keep=1) >> Answer({})"
    assert repaired(narrow.format("")).label == "Keep 64 paths → 2 of 2 in the prompt"
    assert repaired(narrow.format("paths=1")) is None


def test_both_directions(tried):
    line = "EgoNetwork() >> ShortestPaths(direction='out') >> Rank()"
    assert tried(line, ["Two"], {TWO: 1.0})[0].label == "Follow edges both ways → 1 of 1"


def test_a_larger_subgraph(tried):
    found, words, _ = tried(
        "EgoNetwork(hops=1) >> ShortestPaths(parallel=False) >> Rank()", ["Two"], {TWO: 1.0}
    )
    assert found.label == "Take 2 hops around → 1 of 1" and words == ["Take 2 hops around"]
    found, words, _ = tried(
        "PersonalizedPageRank(keep=2) >> ShortestPaths(parallel=False) >> Rank()",
        ["Two"],
        {TWO: 1.0},
    )
    assert found.label == "Keep 4 nodes → 1 of 1"
    # the last as the adviser says: the whole graph
    assert words == ["Keep 4 nodes", "Keep 10 nodes", "Keep 5 nodes"]


def test_a_wider_beam(tried):
    found, words, _ = tried(
        "EgoNetwork() >> BeamSearch(width=1, hops=2)", ["Two"], {DRAMA: 0.5, TWO: 1.0}
    )
    assert found.label == "Widen the beam to 2 → 1 of 1" and words == [
        "Widen the beam to 2",
        "Widen the beam to 4",
    ]


def test_a_filter_that_keeps_more(tried):
    line = "EgoNetwork() >> FilterSubgraph(unit='node', keep=1) >> ShortestPaths(parallel=False) >> Rank()"
    assert (
        tried(line, ["Two"], {"Two": 1.0, "Ann": 0.5, TWO: 1.0})[0].label == "Keep 2 nodes → 1 of 1"
    )


def test_what_does_not_help_is_not_offered(tried):
    """The reader follows directed_by, whatever is kept; nothing that may be tried changes that."""
    found, words, _ = tried(
        "EgoNetwork() >> ShortestPaths(parallel=False) >> Rank(keep=1)",
        ["Drama"],
        {ANN: 0.9, DRAMA: 0.5},
    )
    assert found is None and words == ["Keep 64 paths"]
    found, words, _ = tried(
        "EgoNetwork() >> ShortestPaths(parallel=False) >> Rank()", ["Nobody"], {}
    )
    assert found is None and words == []


def test_nothing_is_tried_where_all_is_found_or_nothing_known(tried, kit):
    assert (
        tried("EgoNetwork() >> ShortestPaths(parallel=False) >> Rank()", ["Ann"], {ANN: 1.0})[0]
        is None
    )
    ask = SourceQuestion(GraphSource.of(kit.graph), Question("q"), (kit.node("One"),))
    run = LaneRun(ask, parse_line("EgoNetwork() >> ShortestPaths()"), Environment(kit.Written()))
    run.retrieve(LaneListener())
    told = explain_lanes(kit.graph, [run.states], (), [False])[0]
    assert find_repair(run, told.losses) is None


def test_relation_chains_instead_where_they_are_prepared(tried, kit):
    line = "EgoNetwork() >> ShortestPaths(parallel=False)"
    assert tried(line, ["Drama"], {})[1] == []
    asked = SourceQuestion(
        GraphSource.of(kit.graph), Question("the genre of One"), (kit.node("One"),)
    )
    # which prepares them
    LaneRun(asked, parse_line("ChainRanking()"), Environment(kit.Written())).retrieve(
        LaneListener()
    )
    assert tried(line, ["Drama"], {})[1] == ["Follow relation chains"]


def test_branches_are_left_alone(tried):
    line = (
        "PredictHops() >> Branch(on='hops', arms={1: EgoNetwork(hops=1)}, otherwise=EgoNetwork(hops=1))"
        " >> ShortestPaths(parallel=False) >> Rank(keep=1)"
    )
    ask = SourceQuestion(GraphSource(""), Question("q"), ())
    assert list(changes(ask, parse_line(line), (), None)) == []


def test_trying_ends_when_the_time_is_over_or_it_is_cancelled(tried):
    line = "EgoNetwork(hops=1) >> ShortestPaths(parallel=False) >> Rank()"
    assert tried(line, ["Two"], {TWO: 1.0}, seconds=0.0)[0] is None

    def cancel():
        raise RunCancelled()

    with pytest.raises(RunCancelled):
        tried(line, ["Two"], {TWO: 1.0}, watch=Watch(cancel))


def test_what_is_tried_takes_no_room_from_what_was_asked(kit):
    below = PrefixCache(size=1)
    below.put(("a",), "kept")
    above = LayeredPrefixCache(below)
    above.put(("b",), "own")
    assert (above.get(("a",)), above.get(("b",)), below.get(("a",)), below.get(("b",))) == (
        "kept",
        "own",
        "kept",
        None,
    )
