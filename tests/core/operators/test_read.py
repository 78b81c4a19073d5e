"""The graph reader on walks, where an answer may be any node."""

from core.operators.base import Context
from core.operators.read import GraphReader, paths_along_walk
from core.types import Path, Question, Ranking, State

WALK = Path((4, 0, 1, 2), (10, 11, 12), (True, False, True))


def parts(walk, *seeds):
    return [(part.nodes, part.forward) for part in paths_along_walk(walk, frozenset(seeds))]


def test_nodes_are_reached_from_the_nearest_question_entity():
    assert parts(WALK, 4) == [
        ((4, 0, 1, 2), (True, False, True)),
        ((4, 0), (True,)),
        ((4, 0, 1), (True, False)),
    ]
    assert parts(WALK, 1) == [((1, 2), (True,)), ((1, 0), (True,)), ((1, 0, 4), (True, False))]
    assert parts(WALK, 4, 2) == [((4, 0), (True,)), ((2, 1), (False,))]


def test_walk_without_question_entity_is_read_from_its_start():
    assert parts(WALK) == [
        ((4, 0, 1, 2), (True, False, True)),
        ((0, 4), (False,)),
        ((4, 0), (True,)),
        ((4, 0, 1), (True, False)),
    ]
    assert parts(Path((3,))) == [] and parts(Path((3,)), 3) == []


def test_repeated_node_is_reached_once():
    assert parts(Path((0, 1, 2, 1), (1, 2, 2), (True, True, False)), 0) == [
        ((0, 1, 2, 1), (True, True, False)),
        ((0, 1, 2), (True, True)),
    ]


def reader_answers(kit, question, seeds, names, steps, **values):
    """The reader's answers for one walk past these names.

    `steps` says for each step whether it follows the triple's direction.
    """
    nodes, graph = [kit.node(name) for name in names], kit.graph
    edges = []
    for one, other, along in zip(nodes, nodes[1:], steps):
        heads, _, tails = graph.triples(list(range(graph.n_edges)))
        ends = (one, other) if along else (other, one)
        edges.append(
            next(
                edge
                for edge, pair in enumerate(zip(heads.tolist(), tails.tolist()))
                if pair == ends
            )
        )
    walk = Path(tuple(nodes), tuple(edges), tuple(steps))
    state = State(
        Question(question), tuple(kit.node(name) for name in seeds), paths=Ranking("path", (walk,))
    )
    return graph.names(
        GraphReader(**values)(state, Context(graph, kit.context().environment)).reader
    )


def test_answer_in_the_middle_of_a_walk(kit):
    # Ann directed One and Two, and Two has release year 1999.
    walk = ("One", "Ann", "Two", "1999"), (True, False, True)
    assert reader_answers(kit, "who directed One", ("One",), *walk, anywhere=True) == ["Ann"]
    assert reader_answers(
        kit, "which films have the director of One", ("One",), *walk, anywhere=True
    ) == ["Two"]
    assert reader_answers(kit, "when did Two come out", ("Two",), *walk, anywhere=True) == ["1999"]
    # Without `anywhere` the answer is the end of a path.
    assert reader_answers(kit, "who directed One", ("One",), *walk) == ["1999"]


def test_answer_at_the_start_of_a_walk(kit):
    walk = ("Two", "Ann"), (True,)  # The walk ends at the question's entity.
    assert reader_answers(kit, "which films did Ann direct", ("Ann",), *walk, anywhere=True) == [
        "Two"
    ]
    assert reader_answers(kit, "which films did Ann direct", ("Ann",), *walk) == []
    assert reader_answers(kit, "which films are there", (), *walk, anywhere=True) == ["Two"]
    # The expected type of answer is unknown, so the end is used.
    assert reader_answers(kit, "name one", (), *walk, anywhere=True) == ["Ann"]
