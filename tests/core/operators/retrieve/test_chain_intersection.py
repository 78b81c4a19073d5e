"""Chain intersection on eight nodes.

Two chains meet at the answer, before it, or not at all.

    One --directed_by--> Ann   Two --directed_by--> Ann   Three --directed_by--> Bob
    One --starred_actors--> Cid   Three --starred_actors--> Cid
    One --has_genre--> Drama   Two --has_genre--> Comedy   Three --has_genre--> War
"""

import numpy as np
import pytest

from core.environment import Environment
from core.graph.building.build import build
from core.indexes.chains import TokenSimilarity
from core.operators import ChainIntersection, ChainRanking, GraphReader
from core.operators.base import Context
from core.types import Path, Question, State
from tests.films import Bag, Written
from tests.notes import NoteWith

TRIPLES = [
    ("One", "directed_by", "Ann"),
    ("Two", "directed_by", "Ann"),
    ("Three", "directed_by", "Bob"),
    ("One", "starred_actors", "Cid"),
    ("Three", "starred_actors", "Cid"),
    ("One", "has_genre", "Drama"),
    ("Two", "has_genre", "Comedy"),
    ("Three", "has_genre", "War"),
    ("Zoe", "knows", "Yan"),
]


@pytest.fixture
def ask(tmp_path):
    """A function `ask(operator, text, *entities)` that runs an operator.

    It returns the state, the paths as texts, and the answers of the graph reader.
    """
    graph = build(TRIPLES, tmp_path / "graph", "meeting", "both")
    ids = {graph.node_name(node): node for node in range(graph.n_nodes)}

    def asked(operator, text, *entities):
        context = Context(graph, Environment(Written(encoder=Bag())))
        after = operator(
            State(Question(text, entities=entities), tuple(ids[name] for name in entities)), context
        )
        return (
            after,
            [graph.text(path) for path in after.paths.items],
            graph.names(GraphReader()(after, context).reader),
        )

    return asked


def test_two_chains_meet_at_the_answer(ask):
    after, paths, answers = ask(
        ChainIntersection(chains=1),
        "the things directed by Ann with starred actors Cid",
        "Ann",
        "Cid",
    )
    assert answers == ["One"]  # Two lacks Cid, and Three lacks Ann.
    assert sorted(paths) == [
        "Ann -> directed_by_reverse -> One",
        "Cid -> starred_actors_reverse -> One",
    ]
    assert len(set(after.paths.scores)) == 1 and after.trace[-1].notes[0].startswith(
        "Chains that meet: "
    )
    assert set(after.subgraph.nodes.tolist()) == {
        node for path in after.paths.items for node in path.nodes
    }


def test_constraint_before_the_answer(ask):
    _, paths, answers = ask(
        ChainIntersection(chains=1),
        "the genre of the things directed by Ann with starred actors Cid",
        "Ann",
        "Cid",
    )
    # Only the genre of One satisfies both: Ann also has Comedy, and Cid also has War.
    assert answers == ["Drama"]
    assert sorted(paths) == [
        "Ann -> directed_by_reverse -> One -> has_genre -> Drama",
        "Cid -> starred_actors_reverse -> One -> has_genre -> Drama",
    ]


def test_longer_chain_meets_a_constraint(ask):
    _, paths, answers = ask(
        ChainIntersection(chains=1),
        "the things directed by the director of Two with starred actors Cid",
        "Two",
        "Cid",
    )
    assert answers == ["One"] and "Two -> directed_by -> Ann -> directed_by_reverse -> One" in paths


def test_entities_are_no_answers_in_any_order(ask):
    one, other = (
        ask(ChainIntersection(), "the things directed by Ann with starred actors Cid", *names)
        for names in (("Ann", "Cid"), ("Cid", "Ann"))
    )
    assert one[2] == other[2] == ["One"] and not {"Ann", "Cid"} & set(one[2])


def test_single_entity_uses_chain_ranking(ask):
    one = ask(ChainIntersection(), "the genre of the things directed by Ann", "Ann")
    other = ask(ChainRanking(), "the genre of the things directed by Ann", "Ann")
    assert one[1:] == other[1:] and one[0].paths.scores == other[0].paths.scores


def test_unconnected_entities_are_reported(ask):
    after, _, answers = ask(ChainIntersection(), "the things directed by Ann", "Ann", "Zoe")
    assert NoteWith("No chains", "chain ranking") in after.trace[-1].notes and answers[:2] == [
        "One",
        "Two",
    ]


def test_similarities_of_two_texts_are_joined():
    """Two texts of one and three tokens, compared with a question of two."""
    one = TokenSimilarity(np.array([1.0]), np.array([1]), np.array([[1.0, 0.0]]))
    other = TokenSimilarity(np.array([2.0]), np.array([3]), np.array([[0.5, 0.5]]))
    both = one.combine(other)
    # Precision is 3 of 4, recall (1 + .5) / 2.
    assert both.f1()[0] == pytest.approx(2 * 0.75 * 0.75 / 1.5)
    assert one.f1()[0] == pytest.approx(2 * 1 * 0.5 / 1.5)


def test_unnamed_node_is_no_answer(tmp_path):
    """Ann's sibling is connected through a node without a name."""
    graph = build(
        [("Ann", "sibling_s", "m.0abc"), ("m.0abc", "sibling", "Bob")],
        tmp_path / "kin",
        "kin",
        "out",
    )
    ids = {graph.node_name(node): node for node in range(graph.n_nodes)}
    context = Context(graph, Environment(Written(encoder=Bag())))
    asked = State(Question("the sibling s of Ann", entities=("Ann",)), (ids["Ann"],))
    ranked = ChainRanking()(asked, context)
    assert [path.end for path in ranked.paths.items] == [ids["Bob"]]
    way = Path((ids["Ann"], ids["m.0abc"]), (0,), (True,))
    both = ranked.replace(
        paths=ranked.paths.head(0).__class__("path", (way, *ranked.paths.items), None)
    )
    assert GraphReader()(both, context).reader == (ids["Bob"],)
