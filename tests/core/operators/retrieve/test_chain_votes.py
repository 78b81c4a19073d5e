"""Chain votes on five nodes with one mediator, and on entities whose chains agree.

Ann --people.person.sibling_s--> m.0abc --people.sibling_relationship.sibling--> Bob
Ann --people.person.profession--> Actor        Bob --people.person.profession--> Judge
"""

import pytest

from core.environment import Environment
from core.graph.building.build import build
from core.operators import ChainIntersection, ChainVotes, GraphReader
from core.operators.base import Context
from core.types import Question, State
from tests.films import Bag, Written

SIBLING, PROFESSION, OTHER = (
    "people.person.sibling_s",
    "people.person.profession",
    "people.sibling_relationship.sibling",
)
KIN = [
    ("Ann", SIBLING, "m.0abc"),
    ("m.0abc", OTHER, "Bob"),
    ("Ann", PROFESSION, "Actor"),
    ("Bob", PROFESSION, "Judge"),
]
FILMS = [  # Ann directed One and Two; Cid stars in One and Three.
    ("One", "film.film.directed_by", "Ann"),
    ("Two", "film.film.directed_by", "Ann"),
    ("m.01", "film.performance.film", "One"),
    ("m.01", "film.performance.actor", "Cid"),
    ("m.03", "film.performance.film", "Three"),
    ("m.03", "film.performance.actor", "Cid"),
]


@pytest.fixture
def ask(tmp_path):
    """A function `ask(triples, operator, text, *entities)` that runs an operator.

    It returns the state, the paths as texts, and the answers of the graph reader.
    """

    def asked(triples, operator, text, *entities):
        graph = build(triples, tmp_path / str(len(triples)), "votes", "both")
        ids = {graph.node_name(node): node for node in range(graph.n_nodes)}
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


def test_mediator_is_passed_but_never_answered(ask):
    after, paths, answers = ask(KIN, ChainVotes(), "the sibling of the person Ann", "Ann")
    assert answers == ["Bob"] and paths[0] == f"Ann -> {SIBLING} -> m.0abc -> {OTHER} -> Bob"
    # The best chain has weight 1, and so do all chains that end there: 1 + 0.01 x 1.
    assert after.paths.scores[0] == pytest.approx(1.01)
    _, _, answers = ask(KIN, ChainVotes(), "the profession of the sibling of the person Ann", "Ann")
    assert answers == ["Judge"]  # Two steps pass three relations.
    _, _, none = ask(
        KIN, ChainVotes(steps=1), "the profession of the sibling of the person Ann", "Ann"
    )
    assert none != ["Judge"]


def test_common_end_of_both_entities_is_first(ask):
    after, paths, answers = ask(
        FILMS, ChainVotes(), "the film in the performance of Cid directed by Ann", "Ann", "Cid"
    )
    assert answers[0] == "One"
    assert set(paths[:2]) == {
        "Ann -> film.film.directed_by_reverse -> One",
        "Cid -> film.performance.actor_reverse -> m.01 -> film.performance.film -> One",
    }
    assert list(after.paths.scores) == sorted(after.paths.scores, reverse=True)
    turned = ask(
        FILMS, ChainVotes(), "the film in the performance of Cid directed by Ann", "Cid", "Ann"
    )
    assert set(turned[1][:2]) == set(paths[:2])
    assert not {"Ann", "Cid"} & set(answers)


def test_paths_and_chains_are_bounded(ask):
    after, paths, _ = ask(FILMS, ChainVotes(keep=1), "the films directed by Ann", "Ann")
    assert (
        paths == ["Ann -> film.film.directed_by_reverse -> One"]
        and len(after.trace[-1].frames) == 1
    )
    after, paths, _ = ask(FILMS, ChainVotes(chains=1), "the films directed by Ann", "Ann")
    assert {path.split(" -> ")[1] for path in paths} == {"film.film.directed_by_reverse"}


def test_graph_without_mediators_uses_chain_intersection(ask):
    plain = [triple for triple in FILMS if not triple[0].startswith("m.")]
    one = ask(plain, ChainVotes(), "the films directed by Ann", "Ann")
    other = ask(plain, ChainIntersection(), "the films directed by Ann", "Ann")
    assert one[1:] == other[1:] and one[0].paths.scores == other[0].paths.scores
    assert "chain intersection decides" in one[0].trace[-1].notes[0]


def test_seed_without_chains_has_no_paths(ask):
    after, paths, answers = ask(KIN, ChainVotes(direction="out"), "what is Judge", "Judge")
    assert not paths and not answers and len(after.subgraph.nodes) == 1
