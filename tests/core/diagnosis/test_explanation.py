"""Why a run found or lost the known answers, in sentences, for every kind of loss on the five films nodes."""

from __future__ import annotations

import numpy as np
import pytest

from core.diagnosis.causes import Cause
from core.diagnosis.losses import LaneStages, losses
from core.diagnosis.path_outcome import fate
from core.diagnosis.repair.path_changes import _against
from core.diagnosis.verdict.explanation import explained
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
from core.types import Question, Subgraph
from core.watch import NO_WATCH

ANN, DRAMA = "One -> directed_by -> Ann", "One -> has_genre -> Drama"
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


def told(kit, states, *answers, beside=()):
    """(stage, head, text) of a run, with other runs beside it."""
    runs = [states, *beside]
    one = explained(kit.graph, runs, answers, [run[-1].answer is not None for run in runs])[0]
    return one.stage, one.head, one.text


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
    assert told(kit, ranked(kit, 1), "Drama") == (
        "paths",
        "Lost when ranking:",
        "Drama came 2nd of 3, only 1 is kept.",
    )
    assert told(kit, ranked(kit, 2), "Two") == (
        "paths",
        "Lost when ranking:",
        "Two came 3rd of 3, only 2 are kept.",
    )
    both = (
        "paths",
        "Lost when ranking:",
        "Drama came 2nd of 3, one more after it, only 1 is kept.",
    )
    assert told(kit, ranked(kit, 1), "Two", "Drama") == both


def test_lost_by_lot_and_by_choice(kit):
    states = run(kit, *AROUND, RandomSelect(keep=1), GraphReader())
    drawn = kit.graph.node_name(states[-1].paths.items[0].end)
    lost = "Drama" if drawn != "Drama" else "Two"
    assert told(kit, states, lost) == (
        "paths",
        "Lost by lot:",
        f"Of 3 paths 1 was drawn, and it does not lead to {lost}.",
    )
    states = run(kit, *AROUND, Rank(model="choose"), choose=kit.Picker(DRAMA))
    assert told(kit, states, "Ann") == (
        "paths",
        "Not chosen:",
        "Of 3 paths 1 was chosen, and it does not lead to Ann.",
    )
    states = run(kit, *AROUND, Rank(model="choose"), choose=kit.Picker(DRAMA, ANN))
    assert told(kit, states, "Two") == (
        "paths",
        "Not chosen:",
        "Of 3 paths 2 were chosen, and they do not lead to Two.",
    )


def test_found_too_late_for_the_prompt(kit):
    states = ranked(kit, 2, Answer(paths=1), chat=kit.Parrot("It is Ann"))
    assert told(kit, states, "Drama") == (
        "prompt",
        "Found too late:",
        "Drama came 2nd of 2, the model reads 1.",
    )


def test_the_model_did_not_say_it(kit):
    silent = ranked(kit, 2, Answer(), chat=kit.Parrot("I do not know"))
    assert told(kit, silent, "Drama") == (
        "answer",
        "Lost in the answer:",
        "The prompt held Drama (path 2 of 2), the model did not say it.",
    )
    assert told(kit, silent, "Drama", "Ann") == (
        "answer",
        "Lost in the answer:",
        "The prompt held Ann and Drama, the model did not say them.",
    )


def test_the_reader_read_another_relation(kit):
    expected = "Its answer follows “directed by”; “has genre”, place 2 of 2, leads to Drama."
    assert told(kit, ranked(kit, 2), "Drama") == ("answer", "Read another relation:", expected)
    passed = ranked(kit, 1, scores=[(TWO, 1.0)])
    assert told(kit, passed, "Ann") == (
        "answer",
        "Passed by:",
        "Ann lies on the way, and the reader names only the ends of paths.",
    )


def test_the_reader_names_too_few(kit):
    states = run(
        kit, *AROUND, GraphReader(keep=1), start="Ann"
    )  # One and Two, both directed by Ann
    lost = "Two" if kit.graph.names(states[-1].reader) == ["One"] else "One"
    text = f"{lost} is at the end of “directed”, but the reader stops at 1 name."
    assert told(kit, states, lost) == ("answer", "Not named:", text)


def test_never_in_the_subgraph(kit):
    pagerank = run(kit, PersonalizedPageRank(keep=3, damping=0.5), ShortestPaths())
    one = "Two is not among the 3 nodes that PageRank keeps: it came 4th."
    assert told(kit, pagerank, "Two") == ("subgraph", "Never in the subgraph:", one)
    both = "Two and 1999 are not among the 3 nodes that PageRank keeps: Two came 4th."
    assert told(kit, pagerank, "1999", "Two") == ("subgraph", "Never in the subgraph:", both)
    near = run(kit, EgoNetwork(hops=1), ShortestPaths())
    assert told(kit, near, "Two") == ("subgraph", "Too far:", "Two is more than 1 hop away.")
    assert told(kit, near, "Two", "1999") == (
        "subgraph",
        "Too far:",
        "Two and 1999 are more than 1 hop away.",
    )
    capped = run(kit, EgoNetwork(hops=2, keep=3), ShortestPaths())
    text = "Two is not among the 3 nodes that neighbourhood keeps."
    assert told(kit, capped, "Two") == ("subgraph", "Never in the subgraph:", text)
    walks = run(kit, RandomWalks(walks=2, steps=1), ShortestPaths())
    assert told(kit, walks, "Two") == (
        "subgraph",
        "Never in the subgraph:",
        "2 random walks never came to Two.",
    )


def test_a_node_on_the_way_is_not_in_the_subgraph(kit):
    """Two stays in the subgraph, but Ann, over whom the only path leads, does not."""
    states = run(
        kit,
        EgoNetwork(hops=2),
        FilterSubgraph(unit="node", keep=1),
        ShortestPaths(),
        encoder=kit.Table({"Two": 1.0}),
    )
    text = "Ann, on the way to Two, is not among the 2 nodes that the filter keeps."
    assert told(kit, states, "Two") == ("paths", "Lost when filtering:", text)


def test_an_edge_on_the_way_is_left_out(kit):
    table = kit.Table({"written_by": 1.0, "has_genre": 0.9})
    states = run(kit, EgoNetwork(hops=2), FilterSubgraph(keep=2), ShortestPaths(), encoder=table)
    text = "The filter leaves out a “directed by” edge on the way to Two."
    assert told(kit, states, "Two") == ("paths", "Lost when filtering:", text)


def test_too_far_apart_and_one_way(kit):
    short = run(kit, EgoNetwork(hops=3), ShortestPaths(hops=1))
    assert told(kit, short, "Two") == ("paths", "Too far:", "Two is 2 hops away, 1 is searched.")
    middling = run(kit, EgoNetwork(hops=3), ShortestPaths(hops=2))
    assert told(kit, middling, "1999") == (
        "paths",
        "Too far:",
        "1999 is 3 hops away, 2 are searched.",
    )
    one_way = run(kit, EgoNetwork(hops=2), ShortestPaths(direction="out"))
    text = "Edges are followed one way only, and the way to Two needs the other."
    assert told(kit, one_way, "Two") == ("paths", "Against the arrows:", text)
    nodes = np.sort(np.array([kit.node("One"), kit.node("1999")], np.int64))
    pieces = ShortestPaths()(
        kit.state("One").replace(subgraph=Subgraph(nodes, np.array([], np.int64))), kit.context()
    )
    assert told(kit, [pieces], "1999") == (
        "paths",
        "No way there:",
        "No path inside the subgraph leads to 1999.",
    )


def test_lost_by_the_beam(kit):
    states = run(
        kit, EgoNetwork(hops=2), BeamSearch(width=1, hops=2), encoder=kit.Table({DRAMA: 1.0})
    )
    text = "“directed by” to Ann came 2nd of 2, the beam is 1 wide."
    assert told(kit, states, "Two") == ("paths", "Lost at hop 1:", text)
    mean = run(
        kit, EgoNetwork(hops=2), BeamSearch(prune="mean", hops=1), encoder=kit.Table({DRAMA: 1.0})
    )
    assert told(kit, mean, "Ann") == (
        "paths",
        "Lost at hop 1:",
        "“directed by” to Ann came 2nd of 2, only 1 is kept.",
    )
    picked = run(
        kit,
        EgoNetwork(hops=2),
        BeamSearch(model="choose", hops=1),
        choose=kit.Picker(DRAMA),
        encoder=kit.Table({}),
    )
    assert told(kit, picked, "Ann") == (
        "paths",
        "Lost at hop 1:",
        "The model did not choose “directed by” to Ann among 2 paths.",
    )
    far = run(kit, EgoNetwork(hops=3), BeamSearch(hops=2), encoder=kit.Table({}))
    assert told(kit, far, "1999") == ("paths", "Too far:", "1999 is 3 hops away, 2 are searched.")


def test_not_tried_by_the_beam(kit):
    states = run(kit, EgoNetwork(hops=2), BeamSearch(hops=1, fanout=1), encoder=kit.Table({}))
    tried = kit.graph.node_name(states[-1].paths.items[0].end)
    lost, way = ("Drama", "has genre") if tried == "Ann" else ("Ann", "directed by")
    text = f"From One the first 1 step is tried, without “{way}” to {lost}."
    assert told(kit, states, lost) == ("paths", "Not tried at hop 1:", text)


class Plain:
    """An encoder that gives every text the same vector."""

    def encode(self, texts, watch=NO_WATCH):
        return np.tile(np.array([1.0, 0.0], np.float32), (len(texts), 1))


def test_not_read_when_ranking(kit):
    # Three paths of three chains: with all scores equal the first of the list is read.
    states = run(kit, *AROUND, Rank(read=1), GraphReader(), encoder=EncoderScorer(Plain()))
    assert (
        states[-2].trace[-1].notes == ("1 of 3 paths were read, the likeliest first.",)
        and len(states[-1].paths) == 1
    )
    seen = kit.graph.node_name(states[-1].paths.items[0].end)
    lost = "Drama" if seen != "Drama" else "Ann"
    text = f"Of 3 paths 1 was read, and it does not lead to {lost}."
    assert told(kit, states, lost) == ("paths", "Not read when ranking:", text)
    path = next(path for path in states[1].paths.items if kit.graph.node_name(path.end) == lost)
    end = fate(kit.graph, states, path)
    assert (end.cause, end.kind, end.text) == (
        Cause.NOT_READ,
        "dropped",
        "not read by rank, which read 1 of 3",
    )
    losing = losses(LaneStages(kit.graph, states, False), [lost], {lost: path})
    line = Line((*AROUND, Rank(read=1), GraphReader()))
    assert [change.operator for change in _against(line, losing)] == [Rank(read=0)]
    expecting = Line((*AROUND, Rank(read=1, recall=0.9), GraphReader()))
    assert [change.operator for change in _against(expecting, losing)] == [Rank()]


def test_not_read_by_the_beam(kit):
    states = run(
        kit,
        EgoNetwork(hops=2),
        BeamSearch(hops=1, read=1, rank="steps"),
        encoder=EncoderScorer(Plain()),
    )
    seen = kit.graph.node_name(states[-1].paths.items[0].end)
    lost, way = ("Drama", "has genre") if seen == "Ann" else ("Ann", "directed by")
    text = f"Of 2 candidates the model read 1 at most, without “{way}” to {lost}."
    assert told(kit, states, lost) == ("paths", "Not tried at hop 1:", text)


def test_other_relations_were_followed(kit):
    chains = run(kit, ChainRanking(steps=2, chains=1), text="what is the genre of One")
    assert kit.texts(chains[-1]) == [DRAMA]
    whole = run(kit, *AROUND)
    expected = "It walked “has genre”; the way to Ann is “directed by”."
    assert told(kit, chains, "Ann", beside=[whole]) == (
        "subgraph",
        "Followed other relations:",
        expected,
    )
    alone = "It walked “has genre”, which does not lead to Ann."
    assert told(kit, chains, "Ann") == ("subgraph", "Followed other relations:", alone)


def test_not_handed_on(kit):
    from tests.core.operators.retrieve.test_tog import NO, Script, ratings

    chat = Script(ratings((1, 6), (2, 4)), ratings((2, 5)), NO)
    states = run(kit, ThinkOnGraph(depth=1), start="Ann", chat=chat)
    text = "A path to Two was seen, but think on graph handed nothing on."
    assert told(kit, states, "Two") == ("paths", "Not handed on:", text)


def test_what_no_method_can_find(kit):
    states = ranked(kit, 1)
    assert told(kit, states, "Nobody") == (
        "graph",
        "Not in the graph:",
        "No entity is called “Nobody”.",
    )
    text = "No entity is called “Nobody” or “Nothing”."
    assert told(kit, states, "Nobody", "Nothing", "Ann") == ("graph", "Not in the graph:", text)


def test_nothing_was_shown(kit):
    states = run(kit, Answer(prompt="question-only"), chat=kit.Parrot("Bob"))
    assert told(kit, states, "Ann") == (
        "answer",
        "Not known:",
        "The model was shown no facts and did not name Ann.",
    )
    states = run(kit, Answer(prompt="question-only"), chat=kit.Parrot("Ann"))
    assert told(kit, states, "Ann") == (None, "Found:", "The model named it without any facts.")


def test_found(kit):
    assert told(kit, ranked(kit, 1), "Ann") == (
        None,
        "Found:",
        "Ann is at the end of the only path.",
    )
    assert told(kit, ranked(kit, 3), "Ann") == (None, "Found:", "Ann came 1st of 3 paths.")
    fans = run(kit, *AROUND, GraphReader(), start="Ann")  # One, Two; then Drama and 1999
    assert told(kit, fans, "One", "Two") == (
        None,
        "Both found:",
        "The first 2 of 4 paths lead to both.",
    )
    assert told(kit, fans, "One") == (
        None,
        "Found:",
        "One came 1st of 4 paths. Beside it, 1 other name is given.",
    )
    said = ranked(kit, 1, Answer(), chat=kit.Parrot("Ann, and Drama"))
    assert told(kit, said, "Ann", "Drama") == (
        None,
        "Both found:",
        "The model named them, though not every path to them was kept.",
    )
    chains = run(kit, ChainRanking(steps=2), GraphReader(), text="what is the genre of One")
    of = chains[-1].trace[0].sizes["chains"]
    assert of > 1 and told(kit, chains, "Drama")[1:] == (
        "Found:",
        f"“has genre” was the best of {of} chains.",
    )


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
    one = explained(kit.graph, [states], ["Ann", "Drama", "Two", "1999"], [False])[0]
    assert (one.right, one.of, one.text) == (1, 4, "Two and 1999 are more than 1 hop away.")
    assert [loss.name for loss in one.losses] == ["Two", "1999", "Drama"]


def test_an_answer_is_found_and_lost_by_any_of_its_names(kit):
    """Known as Anna, with the alias Ann that the graph has: found where the reader names Ann, ranked too low where Drama is kept."""
    asked = Question("who directed One", answers=("Anna",), aliases=(("Anna", "Ann"),))
    named = lambda states: [state.replace(question=asked) for state in states]
    assert told(kit, named(ranked(kit, 1)), "Anna")[:2] == (None, "Found:")
    lost = named(ranked(kit, 1, scores=((DRAMA, 0.9), (ANN, 0.5))))
    assert told(kit, lost, "Anna") == (
        "paths",
        "Lost when ranking:",
        "Anna came 2nd of 3, only 1 is kept.",
    )


def test_without_known_answers(kit):
    assert told(kit, ranked(kit, 2)) == (None, "", "Its answer is at the end of “directed by”.")
    nothing = run(kit, EgoNetwork(hops=0), ShortestPaths(), GraphReader())
    assert told(kit, nothing) == (None, "", "No path was found.")


def test_a_run_without_states_has_no_sentence(kit):
    assert explained(kit.graph, [[]], ["Ann"], [False]) == [None]


@pytest.mark.parametrize("answers", [("Ann",), ("Ann", "Two", "Drama", "1999", "Nobody")])
def test_every_sentence_is_one(kit, answers):
    """Begins with a capital and ends with a full stop, whatever is lost."""
    for states in (
        ranked(kit, 1),
        run(kit, *AROUND),
        run(kit, EgoNetwork(hops=0)),
        run(kit, PersonalizedPageRank(keep=1), ShortestPaths()),
    ):
        one = explained(kit.graph, [states], answers, [False])[0]
        assert (
            one.text[0].isupper()
            and one.text.endswith(".")
            and one.head.endswith(":")
            and "  " not in one.text
        )
