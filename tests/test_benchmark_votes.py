"""The types of ends in the benchmark of chain votes, by hand on five nodes."""

import numpy as np
import pytest

from core.environment import Environment
from core.graph.building.build import build_in_memory
from core.indexes.chains import token_vectors
from core.operators import ChainVotes
from core.operators.base import Context
from core.types import Question, State
from tests.benchmarks.votes import TypedVotes, question_words, type_fit
from tests.films import Bag, Written

HOME = [  # a person and a town, each one step from Ann; Oxley's river heads no relation
    ("Ann", "people.person.home", "Oxley"),
    ("Ann", "people.person.home", "Bob"),
    ("Oxley", "location.town.river", "Thame"),
    ("Bob", "people.person.job_s", "m.0abc"),
]


@pytest.fixture
def graph():
    return build_in_memory(HOME, "home")


def test_the_fit_of_a_type(graph):
    (asked,) = token_vectors(Bag(), ["which person is"])
    nodes = np.array([graph.nodes_named(name)[0] for name in ("Ann", "Oxley", "Bob", "Thame")])
    # Ann and Bob are people, Oxley is a town; Thame has no type: the mean of 1, 0 and 1
    assert type_fit(graph, nodes, asked, Bag()).tolist() == pytest.approx([1, 0, 1, 2 / 3])
    assert type_fit(graph, nodes[3:], asked, Bag()).tolist() == [0]


@pytest.mark.parametrize(
    "types, question, first",
    [
        (0.0, "which town is home of Ann", "Bob"),  # one chain leads to both: by their ids
        (0.2, "which town is home of Ann", "Oxley"),
        (0.2, "which person is home of Ann", "Bob"),
        (0.2, "home in town of Ann", "Bob"),  # no question word: no type is asked for
    ],
)
def test_of_ends_of_one_chain_that_of_the_type_asked_for_comes_first(graph, types, question, first):
    state = State(Question(question), graph.nodes_named("Ann"))
    paths = TypedVotes(types=types)(
        state, Context(graph, Environment(Written(encoder=Bag())))
    ).paths
    assert graph.node_name(paths.items[0].end) == first and list(paths.scores) == sorted(
        paths.scores, reverse=True
    )
    if not types:  # then it is chain votes
        plain = ChainVotes()(state, Context(graph, Environment(Written(encoder=Bag())))).paths
        assert (plain.items, plain.scores) == (paths.items, paths.scores)


@pytest.mark.parametrize(
    "question, words",
    [
        ("Which COUNTRY’s capital is X?", "which countrys capital"),
        ("X lies in what", "what"),
        ("<script>", ""),
        ("", ""),
    ],
)
def test_the_words_that_ask(question, words):
    assert question_words(question) == words
