"""Items that answers rest on, found by leaving out what the answers were made from.

The tests use the five films and three documents.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as some

from core.cases.comparison_data import freeze, thaw
from core.comparison.lane_run import LaneListener, LaneRun, PrefixCache
from core.corpus import Document, write_corpus
from core.diagnosis.influence import (
    answer_distance,
    gold_items,
    influence_cost,
    influence_fault,
    influence_text,
    measure_influence,
    smallest_set,
    with_influence,
)
from core.diagnosis.prompt_items import items_of, only_shown_items, without_items
from core.engine import Engine, MethodComparison
from core.environment import Environment
from core.errors import BadInput
from core.operators.text import parse_line
from core.results import influence_dict
from core.sources import CorpusSource, GraphSource
from core.types import AnswerPoint, Influence, ItemInfluence, Path, Question, Ranking, WrittenReport
from tests.films import Bag, Parrot, Written
from tests.lanes import lane_of

NEAR = "EgoNetwork(hops=1) >> ShortestPaths(hops=1)"


class Reads(Parrot):
    """A language model that answers with those of its names that its last message holds.

    Each path of a name therefore weighs what that name does.
    """

    def __init__(self, *names: str):
        super().__init__("", 4096)
        self.names = names

    def reply(self, messages, **how):
        self.text = (
            ", ".join(
                name for name in self.names if name in messages[-1]["content"].split("Question")[0]
            )
            or "nothing"
        )
        return super().reply(messages, **how)


@pytest.fixture
def asked(kit):
    """`asked(entity, line, chat)`: a lane that has answered on the graph of five films.

    A language model is asked where there is a chat.
    """

    def make(entity, line=NEAR, chat=None, answers=()):
        source = GraphSource("films", kit.graph)
        ask = source.ask(
            Question(f"who directed {entity}", entities=(entity,), answers=answers),
            uses_model=chat is not None,
        )
        make.environment = Environment(Written(chat, encoder=kit.Table({})))
        run = LaneRun(ask, parse_line(line), make.environment)
        run.retrieve(LaneListener())
        run.answer(LaneListener())
        return lane_of(run, "a", "A")

    return make


def ending(lane, **fields):
    """The same lane with another last state."""
    return replace(lane, states=(*lane.states[:-1], lane.state.replace(**fields)))


def ends(lane, one):
    """The ends of the paths that are in the smallest set."""
    return [
        lane.graph.node_name(lane.state.paths.items[one.weights[at].place].end)
        for at in one.smallest
    ]


def test_the_graph_reader_rests_on_the_path_to_what_it_names(asked):
    """Without the path that names Ann, the graph reader answers Drama.

    One -> directed_by -> Ann is read, and One -> has_genre -> Drama is not.
    """
    lane = asked("One")
    one = measure_influence(lane, asked.environment, by_model=False)
    assert (
        lane.graph.names(lane.state.reader) == ["Ann"]
        and ends(lane, one) == ["Ann"]
        and (one.exact, one.lost) == (True, "Ann")
    )
    assert sorted((weight.influence, weight.changes) for weight in one.weights) == [
        (0.0, False),
        (1.0, True),
    ]


def test_two_ways_to_the_same_answer_are_found_together(asked):
    """Ann directed Two and wrote it: each path alone may go, not both."""
    lane = asked("Two")
    one = measure_influence(lane, asked.environment, by_model=False)
    assert (
        ends(lane, one) == ["Ann", "Ann"]
        and one.exact
        and not any(weight.influence for weight in one.weights)
    )
    assert (len(one.weights), one.lost) == (3, "Ann")


def test_of_a_language_model_only_what_its_prompt_shows_is_left_out(asked):
    """Leaving out either of the two paths in the prompt does not change the answer.

    Of three paths two are shown, to Ann and to 1999. Without either, one word of the two is left.
    F1 is then 2/3, which counts as not changed.
    """
    lane = asked("Two", f"{NEAR} >> Answer(paths=2)", Reads("Ann", "1999"))
    one = measure_influence(lane, asked.environment, by_model=True)
    assert lane.state.answer == "Ann, 1999" and len(lane.state.paths) == 3
    assert items_of(lane.state, by_model=True) == [("path", 0), ("path", 1)] and one.by_model
    assert one.weights == (
        ItemInfluence("path", 0, 0.333333),
        ItemInfluence("path", 1, 0.333333),
    ) and one.smallest == (0, 1)
    assert one.exact and one.lost == ""


def test_a_model_that_says_the_same_without_anything_rests_on_nothing(asked):
    lane = asked("One", f"{NEAR} >> Answer()", Parrot("Ann"))
    one = measure_influence(lane, asked.environment, by_model=True)
    assert one.smallest == () and len(one.weights) == 2


def test_a_known_answer_that_is_lost_changes_a_long_text_of_which_most_is_left(asked):
    class Long(Reads):
        def reply(self, messages, **how):
            named = super().reply(messages, **how)
            text = (
                f"The films of the question were directed by {named.text} as far as the paths say"
            )
            return type(named)(text, named.tokens_in, named.tokens_out)

    lane = asked("One", f"{NEAR} >> Answer()", Long("Ann"), answers=("Ann",))
    one = measure_influence(lane, asked.environment, by_model=True)
    assert one.lost == "Ann" and len(one.smallest) == 1
    (weight,) = (one.weights[at] for at in one.smallest)
    assert 0 < weight.influence < 0.5 and weight.changes


def test_what_it_costs_is_said_before_and_held(asked):
    chat = Reads("Ann")
    lane = asked("One", f"{NEAR} >> Answer()", chat)
    cost, before = influence_cost(lane), len(chat.asked)
    measure_influence(lane, asked.environment, by_model=True)
    # of two paths: both, and each
    assert cost.calls == 3 and len(chat.asked) - before <= cost.calls
    assert cost.tokens == 3 * lane.state.prompt.tokens and cost.description.startswith(
        "up to 3 calls, about "
    )


def test_what_cannot_be_measured_says_why(asked, kit):
    assert influence_fault(asked("One"), by_model=False) == ""
    assert influence_fault(asked("One"), by_model=True) == "It gave no answer."
    alone = asked("One", "Answer(prompt='question-only')", Parrot("Ann"))
    assert "its prompt shows no path" in influence_fault(alone, by_model=True)
    lane = asked("One", f"{NEAR} >> Answer()", Parrot("Ann"))
    lane = ending(lane, points=(AnswerPoint(9, "Ann", "node", (0,)),))
    assert "noted points" in influence_fault(lane, by_model=True)
    lane = asked("One")
    # as of a retriever that brought its own answers
    lane = ending(lane, reader=(kit.node("Drama"),))
    with pytest.raises(BadInput, match="the retriever's own"):
        measure_influence(lane, asked.environment, by_model=False)


def test_reports_that_tell_of_one_path_each_go_with_it(asked):
    lane = asked("One", f"{NEAR} >> Answer(prompt='walks')", Parrot("Ann"))
    operator = lane.method.line.operators[-1]
    state = lane.state.replace(reports=(WrittenReport("", "first"), WrittenReport("", "second")))
    less = without_items(only_shown_items(state, operator), [("path", 0)], operator)
    assert [report.text for report in less.reports] == [
        "second"
    ] and less.paths.items == state.paths.items[1:]
    alone = only_shown_items(state.replace(reports=(WrittenReport("", "of all"),)), operator)
    assert len(without_items(alone, [("path", 0)], operator).reports) == 1


def test_the_distance_of_two_answers():
    # two of three each
    assert answer_distance((), ()) == 0 and answer_distance(
        ("a", "a", "b"), ("a", "b", "b")
    ) == pytest.approx(1 / 3)


@given(
    some.sets(some.frozensets(some.integers(0, 5), min_size=1), min_size=1, max_size=5),
    some.integers(0, 60),
    some.permutations(range(6)),
)
def test_the_smallest_set_changes_it_and_is_the_smallest_where_it_says_so(needed, sets, order):
    """Nothing in the set that is found can be spared.

    The answer changes where all items of at least one of the drawn sets are left out. This is as
    where an answer has several ways.
    """
    changes = lambda left_out: any(one <= left_out for one in needed)
    found, exact = smallest_set(order, changes, sets)
    assert changes(frozenset(found)) and not any(changes(frozenset(found) - {one}) for one in found)
    least = next(
        size
        for size in range(1, 7)
        if any(changes(frozenset(one)) for one in combinations(range(6), size))
    )
    assert len(found) == least if exact else len(found) >= least


def test_nothing_is_needed_where_nothing_changes_it():
    assert smallest_set((0, 1), lambda left_out: False, 10) == ((), True) and smallest_set(
        (), lambda left_out: True, 10
    ) == ((), True)


PATH, PATH_CHANGES = ItemInfluence("path", 0, 0.0), ItemInfluence("path", 0, 1.0, True)


@pytest.mark.parametrize(
    ("one", "text"),
    [
        (
            Influence(False, (PATH_CHANGES, PATH), (0,), lost="Ann"),
            "Depends on one path of 2: without it the answer no longer says “Ann”.",
        ),
        (
            Influence(False, (PATH, PATH, PATH), (0, 1), lost="Ann"),
            "Depends on 2 paths of 3 together: without these, and no fewer, "
            "the answer no longer says “Ann”.",
        ),
        (
            Influence(True, (PATH, PATH), (0, 1)),
            "Depends on 2 paths of 2 together: without these, and no fewer, "
            "the answer says something else.",
        ),
        (
            Influence(True, (PATH, PATH), ()),
            "Same answer without any of 2 paths: it depends on none.",
        ),
        (
            Influence(False, (PATH_CHANGES, PATH_CHANGES), (0,), lost="Ann"),
            "Depends on each of 2 paths of 2",
        ),
        (
            Influence(True, (ItemInfluence("chunk", 0, 0.0),), ()),
            "Same answer without its one passage: it depends on none.",
        ),
        (
            Influence(False, (ItemInfluence("path", 0, 0.0),), (), others=7),
            "Same answer without the first 1 of 8 paths: it does not depend on these",
        ),
        (
            Influence(True, (ItemInfluence("node", 0, 0.0),) * 9, (0, 3, 5), False),
            "Without 3 of 9 entities together the answer says something else; fewer",
        ),
        (
            Influence(
                True,
                (ItemInfluence("chunk", 0, 1.0, True), ItemInfluence("node", 0, 0.0)),
                (0,),
                others=1,
            ),
            "1 item more was never left out.",
        ),
        (
            Influence(True, (ItemInfluence("chunk", 0, 1.0, True),), (0,), unusable=2),
            "2 replies were blank or cut.",
        ),
    ],
)
def test_the_sentence(one, text):
    assert text in influence_text(one)


def test_it_is_saved_with_the_lane_and_printed(asked):
    lane = asked("Two")
    found = measure_influence(lane, asked.environment, by_model=False)
    lane = replace(lane, influences=with_influence((), found))
    saved = thaw(freeze(MethodComparison(lane.ask, [lane])))
    assert saved.lanes[0].influences == lane.influences
    told = influence_dict(saved.lanes[0], saved.lanes[0].influences[0])
    assert [item["name"] for item in told["items"] if item["smallest"]] == [
        "Two -> directed_by -> Ann",
        "Two -> written_by -> Ann",
    ]


def test_of_two_measured_that_of_the_reader_is_first_and_the_newer_stays():
    reader, old, new = (SimpleNamespace(by_model=by_model) for by_model in (False, True, True))
    assert with_influence((old,), reader) == (reader, old) and with_influence(
        (reader, old), new
    ) == (reader, new)


def test_an_excerpt_rests_on_its_passage_and_whether_that_is_marked_is_known(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    documents = (
        Document("a", "red fox den", "A"),
        Document("b", "red fox owl", "B"),
        Document("c", "elk owl bat", "C"),
    )
    engine = Engine(Written(encoder=Bag()))
    source = CorpusSource("animals", corpus=write_corpus(tmp_path / "animals", documents))
    ask = engine.prepare_question(source, Question("red fox den", gold=("a",)), uses_model=False)
    run = LaneRun(
        ask,
        parse_line("BuiltGraph() >> EmbedQuery() >> VectorChunks(keep=2) >> AnswerFromTables()"),
        engine.environment,
        PrefixCache(),
    )
    run.retrieve(LaneListener())
    lane = lane_of(run, "v", "V")
    one = measure_influence(lane, engine.environment, by_model=False)
    # red fox stays
    assert [(weight.kind, weight.influence) for weight in one.weights] == [
        ("chunk", 0.333333),
        ("chunk", 0.0),
    ]
    assert (
        one.smallest == (0, 1)
        and gold_items(lane, one, ("a",)) == {0}
        and gold_items(lane, one, ()) is None
    )
    engine.jobs.stop()


def test_a_path_of_another_kind_of_item_is_left_in_place(asked):
    state = asked("One").state.replace(
        nodes=Ranking("node", (1, 2), (0.5, 0.2)), paths=Ranking("path", (Path((0,)),))
    )
    operator = parse_line("Answer(prompt='question-only')").operators[0]
    less = without_items(state, [("node", 0)], operator)
    assert less.nodes.items == (2,) and less.nodes.scores == (0.2,) and less.paths is state.paths
