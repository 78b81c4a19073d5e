"""Where answers are lost, and what became of a path, on the five films nodes."""

import pytest

from core.diagnosis.funnel import funnel, right
from core.diagnosis.missed_answers import lost_paths
from core.diagnosis.path_outcome import fate, ordinal
from core.diagnosis.targets import Target
from core.operators import (
    Answer,
    BeamSearch,
    EgoNetwork,
    GraphReader,
    PersonalizedPageRank,
    Rank,
    ShortestPaths,
)
from core.sources import GraphSource

TRIPLES = GraphSource("")
ANN, DRAMA = "One -> directed_by -> Ann", "One -> has_genre -> Drama"
TWO = "One -> directed_by -> Ann -> directed_by_reverse -> Two"


def run(kit, *operators, start="One", **models):
    """The states after each operator."""
    state, states, context = kit.state(start), [], kit.context(**models)
    for operator in operators:
        state = operator(state, context)
        states.append(state)
    return states


def answers(*names):
    return [Target("answer", name) for name in names]


def alive(stages):
    return {stage.name: stage.alive for stage in stages}


@pytest.fixture
def one_shot(kit):
    model = kit.Table({ANN: 0.9, DRAMA: 0.5})
    chat = kit.Parrot("It is Drama")
    operators = (
        EgoNetwork(hops=2),
        ShortestPaths(parallel=False),
        Rank(keep=2),
        GraphReader(),
        Answer(paths=1),
    )
    return run(kit, *operators, encoder=model, chat=chat)


def test_funnel_names_the_answers_alive_at_each_stage(kit, one_shot):
    stages = funnel(TRIPLES, kit.graph, one_shot[-1], answers("Two", "Drama", "1999", "Nobody"))
    assert alive(stages) == {
        "graph": ("Two", "Drama", "1999"),  # Nobody is no entity
        "subgraph": ("Two", "Drama"),  # 1999 lies three hops away
        "paths": ("Drama",),  # Rank kept Ann and Drama
        "prompt": (),  # one path was shown, that to Ann
        "answer": ("Drama",),  # the model said it all the same
    }
    assert [stage.lost for stage in stages] == [
        ("Nobody",),
        ("1999",),
        ("Two",),
        (),  # Drama is alive in the answer
        (),
    ]


def test_without_a_model_the_reader_gives_the_answer_stage(kit, one_shot):
    assert alive(funnel(TRIPLES, kit.graph, one_shot[3], answers("Ann", "Drama")))["answer"] == (
        "Ann",
    )
    assert right(kit.graph, one_shot[3], ["Ann", "Drama"], reader=True) == 1
    assert right(kit.graph, one_shot[-1], ["Ann", "Drama"], reader=False) == 1


def test_no_known_answer_no_funnel(kit, one_shot):
    assert funnel(TRIPLES, kit.graph, one_shot[-1], ()) == ()
    assert right(kit.graph, one_shot[-1], [], reader=True) is None


def path(kit, states, text):
    return next(p for p in states[1].paths.items if kit.graph.text(p) == text)


def test_fate_of_found_and_dropped_paths(kit, one_shot):
    assert fate(kit.graph, one_shot, path(kit, one_shot, ANN)).text == "place 1"
    unseen = fate(kit.graph, one_shot, path(kit, one_shot, DRAMA))
    assert (unseen.kind, unseen.text) == ("dropped", "found too late: place 2, the model reads 1")
    dropped = fate(kit.graph, one_shot, path(kit, one_shot, TWO))
    assert (dropped.kind, dropped.text) == ("dropped", "found too late: place 3 of 3, 2 are kept")


def test_fate_of_a_path_a_language_model_did_not_choose(kit):
    states = run(
        kit,
        EgoNetwork(hops=2),
        ShortestPaths(parallel=False),
        Rank(model="choose"),
        choose=kit.Picker(DRAMA),
    )
    assert (
        fate(kit.graph, states, path(kit, states, ANN)).text
        == "dropped by rank: one of 3 not chosen"
    )


def test_fate_of_a_path_outside_the_subgraph(kit, one_shot):
    states = run(kit, PersonalizedPageRank(keep=3, damping=0.5), ShortestPaths(parallel=False))
    lost = fate(kit.graph, states, path(kit, one_shot, TWO))
    assert (lost.kind, lost.text) == (
        "never",
        "never reached: “Two” was left out by PageRank: place 4, 3 are kept",
    )


def test_fate_of_a_path_the_beam_left(kit, one_shot):
    states = run(
        kit, EgoNetwork(hops=2), BeamSearch(width=1, hops=2), encoder=kit.Table({DRAMA: 1.0})
    )
    lost = fate(kit.graph, states, path(kit, one_shot, TWO))
    assert (lost.kind, lost.text) == ("never", "never reached: left at hop 1, place 2 of 2, 1 kept")


def test_fate_of_a_path_too_long(kit, one_shot):
    states = run(kit, EgoNetwork(hops=2), ShortestPaths(hops=1, parallel=False))
    assert (
        fate(kit.graph, states, path(kit, one_shot, TWO)).text
        == "never reached: 2 hops away, 1 is searched"
    )


def test_lost_answers_come_with_a_path(kit, one_shot):
    narrow = run(
        kit, EgoNetwork(hops=2), BeamSearch(width=1, hops=1), encoder=kit.Table({ANN: 1.0})
    )
    lost = lost_paths(kit.graph, [one_shot, narrow], ["Two", "Ann", "1999"])
    told = [[(answer, kit.graph.text(p)) for answer, p in lane] for lane in lost]
    assert told == [
        [("Two", TWO)],
        [("Two", TWO)],
    ]  # Ann was shown by both, 1999 lies in no subgraph


def test_the_path_of_a_run_that_answers_goes_first(kit):
    """From Two, Ann lies at the end of both relations: the first run follows written_by to it, but only the second answers Ann."""
    directed, written = "Two -> directed_by -> Ann", "Two -> written_by -> Ann"
    one, other = (
        run(
            kit,
            EgoNetwork(hops=1),
            BeamSearch(width=2, hops=1),
            Rank(keep=2),
            GraphReader(),
            start="Two",
            encoder=kit.Table(scores),
        )
        for scores in ({"Two -> release_year -> 1999": 2.0, written: 1.0}, {directed: 1.0})
    )
    bare = run(kit, EgoNetwork(hops=0), ShortestPaths(parallel=False), start="Two")
    assert kit.graph.names(one[-1].reader) == ["1999"] and kit.graph.names(other[-1].reader) == [
        "Ann"
    ]
    assert [
        kit.graph.text(path) for _, path in lost_paths(kit.graph, [one, other, bare], ["Ann"])[2]
    ] == [directed]


@pytest.mark.parametrize(
    "number, text",
    [
        (1, "1st"),
        (2, "2nd"),
        (3, "3rd"),
        (4, "4th"),
        (11, "11th"),
        (21, "21st"),
        (112, "112th"),
        (1041, "1,041st"),
    ],
)
def test_ordinals(number, text):
    assert ordinal(number) == text
