"""Walk&Retrieve on a graph of six triples: nodes first, then walks, with scores by hand."""

from __future__ import annotations

import pytest

from core.environment import Environment
from core.errors import BadParameter
from core.graph.building.build import build_in_memory
from core.models.base import ChatReply
from core.operators import Answer, DrawnTriples, NearestTriples, NodesThenWalks
from core.operators.base import Context
from core.types import Question, State
from tests.films import Bag, Written
from tests.notes import NoteWith

TRIPLES = [
    ("One", "directed_by", "Ann"),
    ("One", "has_genre", "Drama"),
    ("Two", "directed_by", "Ann"),
    ("Two", "has_genre", "Noir"),
    ("Three", "directed_by", "Bob"),
    ("Three", "has_genre", "Noir"),
]


class WordCountModels(Written):
    """Models whose encoders all count words."""

    def encoder(self, name="encoder"):
        return Bag()


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    graph = build_in_memory(TRIPLES, "films")

    def after(operator, question, *entities):
        seeds = tuple(graph.nodes_named(name)[0] for name in entities)
        return operator(
            State(Question(question), seeds),
            Context(graph, Environment(WordCountModels(None)), seed=1),
        )

    after.graph = graph
    return after


def test_nodes_are_ranked_before_their_walks(run):
    # The text of One is “One directed by Ann; One has genre Drama”. “noir” occurs once in the
    # equally long texts of Two and Three; “two” occurs twice in Two's.
    state = run(
        NodesThenWalks(strategy="breadth-first", length=1, nodes=2, keep=1, direction="out"),
        "two noir",
    )
    assert (
        run.graph.names(state.nodes.items) == ["Two", "Three"]
        and state.nodes.scores[0] > state.nodes.scores[1]
    )
    assert run.graph.texts(state.paths.items) == [
        "Two -> has_genre -> Noir",
        "Three -> has_genre -> Noir",
    ]
    # “Two has genre Noir” has four words, two of which are in the question: 2 / sqrt(4 * 2).
    assert state.paths.scores == pytest.approx((2 / 8**0.5, 1 / 8**0.5), abs=1e-6)
    assert set(run.graph.names(state.subgraph.nodes)) == {"Two", "Three", "Noir"}
    # Persons and genres have no outgoing triples.
    assert NoteWith(3, "nodes with walks", "Two, Three") in state.trace[-1].notes


def test_all_nodes_are_ranked_as_in_the_code(run):
    operator = NodesThenWalks(
        strategy="breadth-first", length=1, nodes=2, keep=1, per="all", direction="out"
    )
    assert run.graph.texts(run(operator, "two noir").paths.items) == ["Two -> has_genre -> Noir"]


def test_both_directions_give_persons_walks(run):
    state = run(
        NodesThenWalks(strategy="breadth-first", length=1, nodes=1, keep=9, direction="both"),
        "ann directed",
    )
    assert run.graph.names(state.nodes.items) == ["Ann"]
    assert sorted(run.graph.texts(state.paths.items)) == [
        "Ann -> directed_by_reverse -> One",
        "Ann -> directed_by_reverse -> Two",
    ]


def test_duplicate_walks_are_shown_once(run):
    # Walks of one step from One lead to Ann or Drama. Of 20 sampled walks the 5 nearest to “drama”
    # are equal.
    state = run(NodesThenWalks(walks=20, length=1, nodes=1, keep=5, direction="out"), "one drama")
    assert run.graph.texts(state.paths.items) == ["One -> has_genre -> Drama"]
    assert NoteWith("5 walks", 4, "copies") in state.trace[-1].notes
    once = run(
        NodesThenWalks(walks=20, length=1, nodes=1, keep=5, direction="out", unique=True),
        "one drama",
    )
    assert run.graph.texts(once.paths.items) == [
        "One -> has_genre -> Drama",
        "One -> directed_by -> Ann",
    ]


def test_unmatched_question_gets_walks_in_a_fixed_order(run):
    operator = NodesThenWalks(strategy="breadth-first", length=1, nodes=2, keep=1, direction="out")
    states = [run(operator, "xyzzy") for _ in range(2)]
    assert states[0].paths.items == states[1].paths.items and len(states[0].paths.items) == 2


def test_zero_random_walks_are_refused(run):
    with pytest.raises(BadParameter, match="at least one"):
        run(NodesThenWalks(walks=0), "one")


def test_sampled_triples_touch_the_entities(run):
    state = run(DrawnTriples(keep=9), "a question", "Ann")
    assert sorted(run.graph.texts(state.paths.items)) == [
        "Ann -> directed_by_reverse -> One",
        "Ann -> directed_by_reverse -> Two",
    ]
    assert len(run(DrawnTriples(keep=1), "a question", "Ann").paths.items) == 1
    assert run(DrawnTriples(direction="out"), "a question", "Ann").paths.items == ()
    assert (
        run(DrawnTriples(keep=1), "a question", "Ann").paths.items
        == run(DrawnTriples(keep=1), "a question", "Ann").paths.items
    )


def test_sampled_triples_are_uniform(run):
    drawn = [
        run(DrawnTriples(keep=1), f"question {i}", "Noir").paths.items[0].nodes[1]
        for i in range(200)
    ]
    assert 70 <= drawn.count(run.graph.nodes_named("Two")[0]) <= 130


def test_nearest_triples_come_from_the_whole_graph(run):
    state = run(NearestTriples(keep=2), "Three has_genre Noir", "Ann")
    assert (
        run.graph.texts(state.paths.items)[0] == "Three -> has_genre -> Noir"
        and len(state.paths.items) == 2
    )


def test_walks_described_by_a_model_are_searched(run):
    # Each film has two walks. The model describes every walk of Two with words that no name of
    # the graph contains.

    class WalkDescriber:
        context, asked = 4096, []

        def count_tokens(self, messages):
            return 10

        def reply(self, messages, **_):
            told = messages[-1]["content"]
            self.asked.append(told)
            if "Context:" in told:
                return ChatReply("Noir", 9, 1)
            return ChatReply("a tale of trains" if "Walk: Two" in told else "a tale of boats", 9, 4)

    class WalkDescriberModels(WordCountModels):
        def chat(self, role="answer"):
            return teller

        def signature(self, role):
            return "teller"

    teller = WalkDescriber()
    operator = NodesThenWalks(
        strategy="breadth-first", length=1, nodes=1, keep=1, direction="out", verbaliser="answer"
    )
    context = Context(run.graph, Environment(WalkDescriberModels(None)), seed=1)
    after = operator(State(Question("tale of trains")), context)
    assert (
        run.graph.names(after.nodes.items) == ["Two"]
        and after.reports[0].text == "a tale of trains"
    )
    assert after.trace[-1].usage.calls == 6 == len(teller.asked)
    answered = Answer(prompt="walks")(after, context)
    assert "Context: a tale of trains\n" in teller.asked[-1] and answered.prompt.paths == 1
    # All descriptions are cached.
    assert operator(State(Question("tale of trains")), context).trace[-1].usage.calls == 0
