"""Stages at which answers are lost, and the fate of a path, on the five films nodes."""

import pytest

from core.diagnosis.causes import Cause
from core.diagnosis.funnel import count_right_answers, funnel
from core.diagnosis.missed_answers import lost_paths
from core.diagnosis.path_outcome import ordinal, path_fate
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
    assert count_right_answers(kit.graph, one_shot[3], ["Ann", "Drama"], reader=True) == 1
    assert count_right_answers(kit.graph, one_shot[-1], ["Ann", "Drama"], reader=False) == 1


def test_no_known_answer_no_funnel(kit, one_shot):
    assert funnel(TRIPLES, kit.graph, one_shot[-1], ()) == ()
    assert count_right_answers(kit.graph, one_shot[-1], [], reader=True) is None


def path(kit, states, text):
    return next(p for p in states[1].paths.items if kit.graph.text(p) == text)


AROUND = (EgoNetwork(hops=2), ShortestPaths(parallel=False))


@pytest.mark.parametrize(
    "operators, text, cause, kind, figures, said",
    [
        ((), ANN, Cause.FOUND, "found", {"rank": 1, "n_candidates": 2}, "rank 1"),
        (
            (),
            DRAMA,
            Cause.NO_ROOM,
            "dropped",
            {"rank": 2, "n_candidates": 2, "n_retained": 1},
            "rank 2; the model reads only the top 1",
        ),
        (
            (),
            TWO,
            Cause.OUTRANKED,
            "dropped",
            {"rank": 3, "n_candidates": 3, "n_retained": 2},
            "rank 3 of 3; only the top 2 are kept",
        ),
        (
            (*AROUND, Rank(model="choose")),
            ANN,
            Cause.NOT_CHOSEN,
            "dropped",
            {"n_candidates": 3, "n_retained": 1},
            "dropped by rank: one of 3 not chosen",
        ),
        (
            (PersonalizedPageRank(keep=3, damping=0.5), ShortestPaths(parallel=False)),
            TWO,
            Cause.LEFT_OUT,
            "never",
            {"rank": 4, "n_retained": 3, "missing_name": "Two"},
            "never reached: “Two” was left out by PageRank: rank 4, top 3 kept",
        ),
        (
            (EgoNetwork(hops=2), BeamSearch(width=1, hops=2)),
            TWO,
            Cause.BEAM,
            "never",
            {"rank": 2, "n_candidates": 2, "n_retained": 1, "hop": 1},
            "dropped at hop 1: rank 2 of 2, top 1 kept",
        ),
        (
            (EgoNetwork(hops=2), ShortestPaths(hops=1, parallel=False)),
            TWO,
            Cause.TOO_FAR,
            "never",
            {"n_retained": 1},
            "never reached: 2 hops away, 1 is searched",
        ),
    ],
)
def test_each_fate_of_a_path(kit, one_shot, operators, text, cause, kind, figures, said):
    """Without operators of its own the run is `one_shot`."""
    models = {"encoder": kit.Table({DRAMA: 1.0}), "choose": kit.Picker(DRAMA)}
    states = run(kit, *operators, **models) if operators else one_shot
    found = path_fate(kit.graph, states, path(kit, one_shot, text))
    names = ("rank", "n_candidates", "n_retained", "hop", "missing_name")
    told = {name: getattr(found, name) for name in names if getattr(found, name)}
    assert (found.cause, found.kind, told, found.text) == (cause, kind, figures, said)


def test_lost_answers_come_with_a_path(kit, one_shot):
    narrow = run(
        kit, EgoNetwork(hops=2), BeamSearch(width=1, hops=1), encoder=kit.Table({ANN: 1.0})
    )
    lost = lost_paths(kit.graph, [one_shot, narrow], ["Two", "Ann", "1999"])
    told = [[(answer, kit.graph.text(p)) for answer, p in lane] for lane in lost]
    # Ann was shown by both, 1999 lies in no subgraph
    assert told == [[("Two", TWO)], [("Two", TWO)]]


def test_the_path_of_a_run_that_answers_goes_first(kit):
    """The lost path of the run that answers Ann comes first.

    From Two, Ann lies at the end of both relations. The first run follows written_by to Ann, but
    only the second run answers Ann.
    """
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
