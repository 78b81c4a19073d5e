"""Reasons why a run found or lost the known answers.

Every kind of loss is there, on the five films nodes.
"""

from __future__ import annotations

import numpy as np
import pytest

from core.diagnosis.causes import CAUSE_WORDINGS, Cause, Loss
from core.diagnosis.changes.path_changes import _changes_by_cause
from core.diagnosis.losses import LaneStages, losses
from core.diagnosis.path_outcome import path_fate
from core.diagnosis.verdict.explanation import SENTENCES, _LossGroup, explain_lanes
from core.models.scorers import EncoderScorer
from core.operators import (
    Answer,
    BeamSearch,
    ChainRanking,
    EgoNetwork,
    FilterSubgraph,
    GraphReader,
    PersonalizedPageRank,
    RandomSelect,
    RandomWalks,
    Rank,
    ShortestPaths,
    ThinkOnGraph,
)
from core.operators.base import Line
from core.types import Question, Ranking, Step, Subgraph
from core.watch import NO_WATCH

ANN, DRAMA = "One -> directed_by -> Ann", "One -> has_genre -> Drama"
DIRECTED, GENRE = (("directed_by", True),), (("has_genre", True),)
TWO = "One -> directed_by -> Ann -> directed_by_reverse -> Two"
AROUND = (EgoNetwork(hops=2), ShortestPaths(parallel=False))  # Ann, Drama, and Two by way of Ann


def run(kit, *operators, start="One", text="a question", chat=None, **models):
    """The states after each operator."""
    state, states, context = kit.state(start), [], kit.context(chat, **models)
    state = state.replace(question=Question(text))
    for operator in operators:
        state = operator(state, context)
        states.append(state)
    return states


FIGURES = (
    "rank",
    "n_candidates",
    "n_retained",
    "hop",
    "missing_name",
    "start",
    "chain",
    "followed_chain",
)


def told(kit, states, *answers, beside=()):
    """Return the stage, the phrase, the names lost alike and the figures of the first loss.

    The loss is that of a run, which may have other runs beside it.
    """
    runs = [states, *beside]
    one = explain_lanes(kit.graph, runs, answers, [run[-1].answer is not None for run in runs])[0]
    if not one.losses:
        return one.stage, one.cause, one.n_right, one.n_extra_names
    first = one.losses[0]
    names = [loss.name for loss in one.losses if loss.cause is first.cause]
    figures = {name: getattr(first, name) for name in FIGURES if getattr(first, name)}
    if one.stage in ("subgraph", "paths") and first.step is not None:
        figures["by"] = first.step.operator
    return one.stage, one.cause, names, figures


def ranked(kit, keep, *more, chat=None, scores=((ANN, 0.9), (DRAMA, 0.5))):
    return run(
        kit,
        *AROUND,
        Rank(keep=keep),
        GraphReader(),
        *more,
        chat=chat,
        encoder=kit.Table(dict(scores)),
    )


def test_lost_when_ranking(kit):
    figures = {"rank": 2, "n_candidates": 3, "n_retained": 1, "by": "Rank"}
    lost = ("paths", Cause.OUTRANKED)
    assert told(kit, ranked(kit, 1), "Drama") == (*lost, ["Drama"], figures)
    assert told(kit, ranked(kit, 1), "Two", "Drama") == (*lost, ["Drama", "Two"], figures)
    figures = {"rank": 3, "n_candidates": 3, "n_retained": 2, "by": "Rank"}
    assert told(kit, ranked(kit, 2), "Two") == (*lost, ["Two"], figures)


def test_lost_by_lot_and_by_choice(kit):
    states = run(kit, *AROUND, RandomSelect(keep=1), GraphReader())
    drawn = kit.graph.node_name(states[-1].paths.items[0].end)
    lost = "Drama" if drawn != "Drama" else "Two"
    stage, cause, names, figures = told(kit, states, lost)
    assert (stage, cause, names) == ("paths", Cause.NOT_DRAWN, [lost])
    assert (figures["n_candidates"], figures["n_retained"], figures["by"]) == (3, 1, "RandomSelect")
    for lost, *chosen in (("Ann", DRAMA), ("Two", DRAMA, ANN)):
        states = run(kit, *AROUND, Rank(model="choose"), choose=kit.Picker(*chosen))
        figures = {"n_candidates": 3, "n_retained": len(chosen), "by": "Rank"}
        assert told(kit, states, lost) == ("paths", Cause.NOT_CHOSEN, [lost], figures)


def test_found_too_late_for_the_prompt(kit):
    states = ranked(kit, 2, Answer(paths=1), chat=kit.Parrot("It is Ann"))
    figures = {"rank": 2, "n_candidates": 2, "n_retained": 1}
    assert told(kit, states, "Drama") == ("prompt", Cause.NO_ROOM, ["Drama"], figures)


def test_the_model_did_not_say_it(kit):
    silent = ranked(kit, 2, Answer(), chat=kit.Parrot("I do not know"))
    lost = ("answer", Cause.NOT_SAID)
    assert told(kit, silent, "Drama") == (*lost, ["Drama"], {"rank": 2, "n_candidates": 2})
    assert told(kit, silent, "Drama", "Ann") == (
        *lost,
        ["Ann", "Drama"],
        {"rank": 1, "n_candidates": 2},
    )


def test_the_reader_read_another_relation(kit):
    figures = {
        "rank": 2,
        "n_candidates": 2,
        "n_retained": 1,
        "chain": GENRE,
        "followed_chain": DIRECTED,
    }
    lost = told(kit, ranked(kit, 2), "Drama")
    assert lost == ("answer", Cause.NOT_FOLLOWED, ["Drama"], figures)
    stage, cause, names, figures = told(kit, ranked(kit, 1, scores=[(TWO, 1.0)]), "Ann")
    assert (stage, cause, names, figures["rank"]) == ("answer", Cause.ON_THE_WAY, ["Ann"], 1)
    assert figures["followed_chain"] == (*DIRECTED, ("directed_by", False))


def test_the_reader_names_too_few(kit):
    # One and Two, both directed by Ann
    states = run(kit, *AROUND, GraphReader(keep=1), start="Ann")
    lost = "Two" if kit.graph.names(states[-1].reader) == ["One"] else "One"
    stage, cause, names, figures = told(kit, states, lost)
    assert (stage, cause, names, figures["n_retained"]) == ("answer", Cause.NOT_NAMED, [lost], 1)
    assert figures["chain"] == (("directed_by", False),)


def test_never_in_the_subgraph(kit):
    lost = ("subgraph", Cause.LEFT_OUT)
    pagerank = run(kit, PersonalizedPageRank(keep=3, damping=0.5), ShortestPaths())
    figures = {"rank": 4, "n_retained": 3, "missing_name": "Two", "by": "PersonalizedPageRank"}
    assert told(kit, pagerank, "Two") == (*lost, ["Two"], figures)
    assert told(kit, pagerank, "1999", "Two") == (*lost, ["Two", "1999"], figures)
    capped = run(kit, EgoNetwork(hops=2, keep=3), ShortestPaths())
    figures = {"n_retained": 3, "missing_name": "Two", "by": "EgoNetwork"}
    assert told(kit, capped, "Two") == (*lost, ["Two"], figures)
    walks = run(kit, RandomWalks(walks=2, steps=1), ShortestPaths())
    figures = {"n_retained": 2, "missing_name": "Two", "by": "RandomWalks"}
    assert told(kit, walks, "Two") == (*lost, ["Two"], figures)
    near = run(kit, EgoNetwork(hops=1), ShortestPaths())
    for names in (["Two"], ["Two", "1999"]):
        assert told(kit, near, *names)[:3] == ("subgraph", Cause.TOO_FAR, names)


def test_a_node_on_the_way_is_not_in_the_subgraph(kit):
    """Two stays in the subgraph, but Ann, over whom the only path leads, does not."""
    states = run(
        kit,
        EgoNetwork(hops=2),
        FilterSubgraph(unit="node", keep=1),
        ShortestPaths(),
        encoder=kit.Table({"Two": 1.0}),
    )
    figures = {"n_retained": 2, "missing_name": "Ann", "by": "FilterSubgraph"}
    assert told(kit, states, "Two") == ("paths", Cause.FILTERED, ["Two"], figures)


def test_an_edge_on_the_way_is_left_out(kit):
    table = kit.Table({"written_by": 1.0, "has_genre": 0.9})
    states = run(kit, EgoNetwork(hops=2), FilterSubgraph(keep=2), ShortestPaths(), encoder=table)
    figures = {"n_retained": 2, "missing_name": "directed_by", "by": "FilterSubgraph"}
    assert told(kit, states, "Two") == ("paths", Cause.FILTERED, ["Two"], figures)


@pytest.mark.parametrize(
    "search, lost, figures",
    [
        (ShortestPaths(hops=1), "Two", {"n_retained": 1, "hop": 2}),
        (ShortestPaths(hops=2), "1999", {"n_retained": 2, "hop": 3}),
        (BeamSearch(hops=2), "1999", {"n_retained": 2, "hop": 3}),
    ],
)
def test_too_far_apart(kit, search, lost, figures):
    states = run(kit, EgoNetwork(hops=3), search, encoder=kit.Table({}))
    figures["by"] = type(search).__name__
    assert told(kit, states, lost) == ("paths", Cause.TOO_FAR, [lost], figures)


def test_one_way_and_no_way(kit):
    one_way = run(kit, EgoNetwork(hops=2), ShortestPaths(direction="out"))
    assert told(kit, one_way, "Two")[:3] == ("paths", Cause.ONE_WAY, ["Two"])
    nodes = np.sort(np.array([kit.node("One"), kit.node("1999")], np.int64))
    pieces = ShortestPaths()(
        kit.state("One").replace(subgraph=Subgraph(nodes, np.array([], np.int64))), kit.context()
    )
    assert told(kit, [pieces], "1999")[:3] == ("paths", Cause.NO_WAY, ["1999"])


@pytest.mark.parametrize(
    "beam, lost, place",
    [
        (BeamSearch(width=1, hops=2), "Two", {"rank": 2}),
        (BeamSearch(prune="mean", hops=1), "Ann", {"rank": 2}),
        (BeamSearch(model="choose", hops=1), "Ann", {}),
    ],
)
def test_lost_by_the_beam(kit, beam, lost, place):
    models = {"encoder": kit.Table({DRAMA: 1.0}), "choose": kit.Picker(DRAMA)}
    states = run(kit, EgoNetwork(hops=2), beam, **models)
    where = {
        "n_candidates": 2,
        "n_retained": 1,
        "hop": 1,
        "missing_name": "Ann",
        "start": "One",
        "chain": DIRECTED,
    }
    figures = {**where, **place, "by": "BeamSearch"}
    assert told(kit, states, lost) == ("paths", Cause.BEAM, [lost], figures)


class Plain:
    """An encoder that gives every text the same vector."""

    def encode(self, texts, watch=NO_WATCH):
        return np.tile(np.array([1.0, 0.0], np.float32), (len(texts), 1))


@pytest.mark.parametrize(
    "beam, of", [(BeamSearch(hops=1, fanout=1), 1), (BeamSearch(hops=1, read=1, rank="steps"), 2)]
)
def test_not_tried_by_the_beam(kit, beam, of):
    """The fan-out gives one candidate; of two, the model reads one."""
    states = run(kit, EgoNetwork(hops=2), beam, encoder=EncoderScorer(Plain()))
    tried = kit.graph.node_name(states[-1].paths.items[0].end)
    lost, chain = ("Drama", GENRE) if tried == "Ann" else ("Ann", DIRECTED)
    figures = {
        "n_candidates": of,
        "n_retained": 1,
        "hop": 1,
        "missing_name": lost,
        "start": "One",
        "chain": chain,
    }
    figures["by"] = "BeamSearch"
    assert told(kit, states, lost) == ("paths", Cause.NOT_TRIED, [lost], figures)


def test_not_read_when_ranking(kit):
    # Three paths of three chains: with all scores equal the first of the list is read.
    states = run(kit, *AROUND, Rank(read=1), GraphReader(), encoder=EncoderScorer(Plain()))
    (note,) = states[-2].trace[-1].notes
    assert note.startswith("1 of 3 paths") and len(states[-1].paths) == 1
    seen = kit.graph.node_name(states[-1].paths.items[0].end)
    lost = "Drama" if seen != "Drama" else "Ann"
    figures = {"n_candidates": 3, "n_retained": 1, "by": "Rank"}
    assert told(kit, states, lost) == ("paths", Cause.NOT_READ, [lost], figures)
    path = next(path for path in states[1].paths.items if kit.graph.node_name(path.end) == lost)
    end = path_fate(kit.graph, states, path)
    assert (end.cause, end.kind, end.n_candidates, end.n_retained) == (
        Cause.NOT_READ,
        "dropped",
        3,
        1,
    )
    losing = losses(LaneStages(kit.graph, states, False), [lost], {lost: path})
    line = Line((*AROUND, Rank(read=1), GraphReader()))
    assert [change.operator for change in _changes_by_cause(line, losing)] == [Rank(read=0)]
    expecting = Line((*AROUND, Rank(read=1, recall=0.9), GraphReader()))
    assert [change.operator for change in _changes_by_cause(expecting, losing)] == [Rank()]


def test_other_relations_were_followed(kit):
    chains = run(kit, ChainRanking(steps=2, chains=1), text="what is the genre of One")
    assert kit.texts(chains[-1]) == [DRAMA]
    walked = {"followed_chain": GENRE, "by": "ChainRanking"}
    lost = ("subgraph", Cause.OTHER_RELATIONS, ["Ann"])
    assert told(kit, chains, "Ann") == (*lost, walked)
    whole = run(kit, *AROUND)
    assert told(kit, chains, "Ann", beside=[whole]) == (*lost, {"chain": DIRECTED, **walked})


def test_not_handed_on(kit):
    from tests.core.operators.retrieve.test_tog import NO, Script, ratings

    chat = Script(ratings((1, 6), (2, 4)), ratings((2, 5)), NO)
    states = run(kit, ThinkOnGraph(depth=1), start="Ann", chat=chat)
    figures = {"n_candidates": 2, "by": "ThinkOnGraph"}
    assert told(kit, states, "Two") == ("paths", Cause.NOT_HANDED_ON, ["Two"], figures)


def test_what_no_method_can_find(kit):
    states, lost = ranked(kit, 1), ("graph", Cause.NOT_IN_GRAPH)
    assert told(kit, states, "Nobody") == (*lost, ["Nobody"], {})
    assert told(kit, states, "Nobody", "Nothing", "Ann") == (*lost, ["Nobody", "Nothing"], {})


def test_nothing_was_shown(kit):
    states = run(kit, Answer(prompt="question-only"), chat=kit.Parrot("Bob"))
    assert told(kit, states, "Ann") == ("answer", Cause.NOT_SHOWN, ["Ann"], {})


def test_what_was_found_is_told_by_what_led_to_it(kit):
    """The cases of a success: each is said once."""
    unshown = run(kit, Answer(prompt="question-only"), chat=kit.Parrot("Ann"))
    fans = run(kit, *AROUND, GraphReader(), start="Ann")  # One, Two; then Drama and 1999
    named = ranked(kit, 1, Answer(), chat=kit.Parrot("Ann, and Drama"))
    chains = run(kit, ChainRanking(steps=2), GraphReader(), text="what is the genre of One")
    of = chains[-1].trace[0].sizes["chains"]
    assert of > 1
    for states, answers, extra, text in (
        (unshown, ["Ann"], 0, "The model named it without any facts."),
        (ranked(kit, 1), ["Ann"], 0, "Ann is at the end of the only path."),
        (ranked(kit, 3), ["Ann"], 0, "Ann ranked 1st of 3 paths."),
        (fans, ["One", "Two"], 0, "The first 2 of 4 paths lead to both."),
        (fans, ["One"], 1, "One ranked 1st of 4 paths. Beside it, 1 other name is given."),
        (
            named,
            ["Ann", "Drama"],
            0,
            "The model named them, though not every path to them was kept.",
        ),
        (chains, ["Drama"], 0, f"“has genre” ranked first of {of} relation sequences."),
    ):
        by_model = states[-1].answer is not None
        one = explain_lanes(kit.graph, [states], answers, [by_model])[0]
        head = "Found:" if len(answers) == 1 else "Both found:"
        assert told(kit, states, *answers) == (None, Cause.FOUND, len(answers), extra)
        assert (one.head, one.text) == (head, text)


def test_the_commonest_loss_is_said_and_counts_are_kept(kit):
    """Two and 1999 lie outside, Drama is ranked too low, Ann is found."""
    states = run(
        kit,
        EgoNetwork(hops=1),
        ShortestPaths(),
        Rank(keep=1),
        GraphReader(),
        encoder=kit.Table({ANN: 0.9}),
    )
    one = explain_lanes(kit.graph, [states], ["Ann", "Drama", "Two", "1999"], [False])[0]
    assert (one.n_right, one.n_answers, one.cause) == (1, 4, Cause.TOO_FAR)
    assert [loss.name for loss in one.losses] == ["Two", "1999", "Drama"]


def test_an_answer_is_found_and_lost_by_any_of_its_names(kit):
    """An answer known as Anna is found by Ann, the alias that the graph has.

    It is found where the reader names Ann, and ranked too low where Drama is kept.
    """
    asked = Question("who directed One", answers=("Anna",), aliases=(("Anna", "Ann"),))
    named = lambda states: [state.replace(question=asked) for state in states]
    assert told(kit, named(ranked(kit, 1)), "Anna")[:2] == (None, Cause.FOUND)
    lost = named(ranked(kit, 1, scores=((DRAMA, 0.9), (ANN, 0.5))))
    figures = {"rank": 2, "n_candidates": 3, "n_retained": 1, "by": "Rank"}
    assert told(kit, lost, "Anna") == ("paths", Cause.OUTRANKED, ["Anna"], figures)


def test_without_known_answers(kit):
    nothing = run(kit, EgoNetwork(hops=0), ShortestPaths(), GraphReader())
    for states, follows in ((ranked(kit, 2), "“directed by”"), (nothing, "No path")):
        one = explain_lanes(kit.graph, [states], [], [False])[0]
        assert (one.stage, one.head, one.n_right) == (None, "", None) and follows in one.text


SCORED_PATHS = Ranking("path", (), ())


def lost(cause, *names, by="", parameters=None, cut=SCORED_PATHS, stage="paths", text, **figures):
    """A row of the table below: the losses of one cause, and their sentence."""
    step = Step(by, stage, parameters or {}, 0.0, before_cut=cut) if by else None
    group = [Loss(name, stage, cause, step=step, **figures) for name in names]
    return pytest.param(group, text, id=f"{cause.value}-{text[:20]}")


OF = {"rank": 2, "n_candidates": 3, "n_retained": 1}
DECIDING_STEP = {"hop": 1, "missing_name": "Ann", "start": "One", "chain": DIRECTED}
SAID_LOSSES = [
    lost(Cause.NOT_IN_GRAPH, "A", text="no entity is called “A”."),
    lost(Cause.NOT_IN_GRAPH, "A", "B", text="no entity is called “A” or “B”."),
    lost(Cause.NOT_IN_GRAPH, *"ABC", text="no entity is called “A” or “B” or one more."),
    lost(Cause.NOT_SHOWN, "A", text="the model was shown no facts and did not name A."),
    lost(
        Cause.LEFT_OUT,
        "A",
        by="PersonalizedPageRank",
        missing_name="A",
        n_retained=3,
        rank=4,
        text="A is not among the 3 nodes that PageRank keeps: it ranked 4th.",
    ),
    lost(
        Cause.LEFT_OUT,
        *"AB",
        by="PersonalizedPageRank",
        missing_name="A",
        n_retained=3,
        rank=4,
        text="A and B are not among the 3 nodes that PageRank keeps: A ranked 4th.",
    ),
    lost(
        Cause.LEFT_OUT,
        "A",
        by="FilterSubgraph",
        stage="filter",
        missing_name="Ann",
        n_retained=2,
        text="Ann, on the way to A, is not among the 2 nodes that the filter keeps.",
    ),
    lost(
        Cause.LEFT_OUT,
        "A",
        by="RandomWalks",
        parameters={"walks": 2},
        missing_name="A",
        text="2 random walks never came to A.",
    ),
    lost(
        Cause.LEFT_OUT,
        *"AB",
        by="EgoNetwork",
        parameters={"hops": 1, "keep": 9},
        missing_name="A",
        n_retained=3,
        text="A and B are more than 1 hop away.",
    ),
    lost(
        Cause.EDGE_LEFT_OUT,
        "A",
        by="FilterSubgraph",
        stage="filter",
        missing_name="directed_by",
        text="the filter leaves out a “directed by” edge on the way to A.",
    ),
    lost(Cause.TOO_FAR, "A", hop=2, n_retained=1, text="A is 2 hops away, 1 is searched."),
    lost(Cause.TOO_FAR, "A", hop=3, n_retained=2, text="A is 3 hops away, 2 are searched."),
    lost(Cause.NO_WAY, "A", text="no path inside the subgraph leads to A."),
    lost(
        Cause.ONE_WAY,
        "A",
        text="edges are followed one way only, and the way to A needs the other.",
    ),
    lost(
        Cause.BEAM,
        "A",
        by="BeamSearch",
        parameters={"width": 1, "prune": "top"},
        **OF,
        **DECIDING_STEP,
        text="“directed by” to Ann ranked 2nd of 3; only 1 is kept.",
    ),
    lost(
        Cause.BEAM,
        "A",
        by="BeamSearch",
        parameters={"width": 1, "prune": "mean"},
        **OF,
        **DECIDING_STEP,
        text="“directed by” to Ann ranked 2nd of 3; only 1 is kept.",
    ),
    lost(
        Cause.BEAM,
        "A",
        n_candidates=2,
        **DECIDING_STEP,
        text="the model did not choose “directed by” to Ann among 2 paths.",
    ),
    lost(
        Cause.NOT_TRIED,
        "A",
        by="BeamSearch",
        parameters={"fanout": 1},
        **DECIDING_STEP,
        text="from One only the first 1 hop is tried, not “directed by” to Ann.",
    ),
    lost(
        Cause.NOT_TRIED,
        "A",
        by="BeamSearch",
        parameters={"read": 1},
        n_candidates=2,
        **DECIDING_STEP,
        text="the model read at most 1 of 2 candidates, not “directed by” to Ann.",
    ),
    lost(
        Cause.OTHER_RELATIONS,
        "A",
        chain=DIRECTED,
        followed_chain=GENRE,
        text="it walked “has genre”; the way to A is “directed by”.",
    ),
    lost(
        Cause.OTHER_RELATIONS,
        "A",
        followed_chain=GENRE,
        text="it walked “has genre”, which does not lead to A.",
    ),
    lost(
        Cause.NOT_READ,
        "A",
        n_candidates=3,
        n_retained=1,
        text="of 3 paths 1 was read, and it does not lead to A.",
    ),
    lost(Cause.OUTRANKED, "A", by="Rank", **OF, text="A ranked 2nd of 3; only 1 is kept."),
    lost(
        Cause.OUTRANKED,
        *"AB",
        by="Rank",
        **OF,
        text="A ranked 2nd of 3, one more after it; only 1 is kept.",
    ),
    lost(
        Cause.OUTRANKED,
        "A",
        by="RandomSelect",
        cut=Ranking("path", ()),
        **OF,
        text="of 3 paths 1 was drawn, and it does not lead to A.",
    ),
    lost(
        Cause.NOT_CHOSEN,
        "A",
        n_candidates=3,
        n_retained=2,
        text="of 3 paths 2 were chosen, and they do not lead to A.",
    ),
    lost(
        Cause.NOT_HANDED_ON,
        "A",
        by="ThinkOnGraph",
        text="a path to A was seen, but think on graph handed nothing on.",
    ),
    lost(Cause.NO_ROOM, "A", **OF, text="A ranked 2nd of 3; the model reads only the top 1."),
    lost(
        Cause.NOT_FOLLOWED,
        "A",
        **OF,
        chain=GENRE,
        followed_chain=DIRECTED,
        text="its answer follows “directed by”; “has genre”, rank 2 of 3, leads to A.",
    ),
    lost(
        Cause.NOT_NAMED,
        "A",
        n_retained=1,
        chain=GENRE,
        text="A is at the end of “has genre”, but the reader stops at 1 name.",
    ),
    lost(Cause.ON_THE_WAY, "A", text="A is on a path but not at its end."),
    lost(
        Cause.NOT_SAID,
        "A",
        rank=2,
        n_candidates=3,
        text="A was in the prompt (path 2 of 3), but the model did not name it.",
    ),
    lost(
        Cause.NOT_SAID,
        *"AB",
        rank=2,
        n_candidates=3,
        text="A and B were in the prompt, but the model did not name them.",
    ),
    lost(Cause.NOT_REACHED, "A", text="the search did not reach A."),
]


@pytest.mark.parametrize("group, text", SAID_LOSSES)
def test_each_loss_is_said(kit, group, text):
    run = LaneStages(kit.graph, [], True)
    phrase, said = SENTENCES[group[0].cause](_LossGroup(run, group))
    assert said == text and phrase in CAUSE_WORDINGS


def test_every_cause_of_a_loss_is_in_the_table():
    assert {row.values[0][0].cause for row in SAID_LOSSES} == set(SENTENCES)


def test_a_run_without_states_has_no_sentence(kit):
    assert explain_lanes(kit.graph, [[]], ["Ann"], [False]) == [None]


@pytest.mark.parametrize("answers", [("Ann",), ("Ann", "Two", "Drama", "1999", "Nobody")])
def test_every_sentence_is_one(kit, answers):
    """Begins with a capital and ends with a full stop, whatever is lost."""
    for states in (
        ranked(kit, 1),
        run(kit, *AROUND),
        run(kit, EgoNetwork(hops=0)),
        run(kit, PersonalizedPageRank(keep=1), ShortestPaths()),
    ):
        one = explain_lanes(kit.graph, [states], answers, [False])[0]
        assert (
            one.text[0].isupper()
            and one.text.endswith(".")
            and one.head.endswith(":")
            and "  " not in one.text
        )
