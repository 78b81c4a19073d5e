"""Tree search of LEGO-GraphRAG v1 on five nodes, by the paper's definition and by its code."""

import pytest

from core.environment import Environment
from core.errors import BadParameter
from core.graph.building.build import build
from core.graph.names.lookup import name_lookup
from core.operators import EgoNetwork, PersonalizedPageRank, SimplePaths, TreePaths
from core.operators.base import Context
from core.types import Question, State

DRAMA, ANN = "One, has_genre, Drama", "One, directed_by, Ann"
BY, FROM = "Two, directed_by, Ann", "Two, written_by, Ann"
YEAR = "One -> directed_by -> Ann -> {}_reverse -> Two -> release_year -> 1999"


@pytest.fixture
def whole(kit):
    return EgoNetwork(hops=4)(kit.state("One"), kit.context())


def grow_tree(kit, state, model, **parameters):
    return TreePaths(**parameters)(state, kit.context(encoder=model))


def test_newest_triples_are_scored_and_branches_returned(kit, whole):
    # Hop 1: Ann and Drama. Hop 2: Drama has no further step; two triples lead to Two, and
    # written_by is better. Hop 3: 1999 from both.
    model = kit.Table({FROM: 0.8, ANN: 0.4})
    after = grow_tree(kit, whole, model, hops=3)
    assert kit.texts(after) == [
        "One -> has_genre -> Drama",
        YEAR.format("written_by"),
        YEAR.format("directed_by"),
    ]
    assert model.seen == [[ANN, DRAMA], [BY, FROM], ["Two, release_year, 1999"] * 2]
    frames = after.trace[-1].frames
    assert [(f.title, f.considered, len(f.ranking), len(f.before_cut)) for f in frames] == [
        ("hop 1", 2, 2, 2),
        ("hop 2", 2, 2, 2),
        ("hop 3", 2, 2, 2),
    ]
    assert frames[1].ranking.scores == (0.8, 0.0)
    # One > Ann > Two > 1999 is the best at each hop.
    assert kit.texts(grow_tree(kit, whole, model, hops=3, width=1)) == [YEAR.format("written_by")]


def test_beam_width_counts_triples_in_the_paper(kit, tmp_path):
    """In the paper's reading a beam of two keeps the best two triples, even to one node.

    A > C has the scores .9 (r1) and .8 (r2), and A > D has .7 (r3).
    """
    graph = build(
        [("A", "r1", "C"), ("A", "r2", "C"), ("A", "r3", "D")], tmp_path / "three", "three"
    )
    table = {"A, r1, C": 0.9, "A, r2, C": 0.8, "A, r3, D": 0.7}
    context = Context(graph, Environment(kit.Written(encoder=kit.Table(table))))
    state = EgoNetwork(hops=2, direction="out")(
        State(Question("q"), (name_lookup(graph).find("A"),)), context
    )

    def found(width, reading):
        paths = TreePaths(width=width, hops=1, direction="out", reading=reading)(
            state, context
        ).paths.items
        return [graph.triple_texts(path.edges)[0] for path in paths]

    assert found(2, "paper") == ["A -> r1 -> C", "A -> r2 -> C"]
    assert found(3, "paper") == ["A -> r1 -> C", "A -> r2 -> C", "A -> r3 -> D"]
    # The code keeps each node once, and does not score so narrow a frontier.
    assert found(2, "code") == ["A -> r1 -> C", "A -> r3 -> D"]


def test_code_keeps_the_first_triple_per_node(kit, whole):
    model = kit.Table({FROM: 0.8, ANN: 0.4})
    # Drama is missing.
    assert kit.texts(grow_tree(kit, whole, model, hops=3, reading="code")) == [
        YEAR.format("directed_by")
    ]
    assert model.seen == []  # No frontier is larger than the width, so the model is never asked.
    # The frontier is empty after 1999.
    assert kit.texts(grow_tree(kit, whole, model, hops=4, reading="code")) == []
    assert kit.texts(grow_tree(kit, whole, model, hops=4)) == [
        "One -> has_genre -> Drama",
        YEAR.format("written_by"),
        YEAR.format("directed_by"),
    ]


def test_node_without_steps_ends_a_branch(kit, whole):
    for reading in ("paper", "code"):
        after = grow_tree(kit, whole, kit.Table({}), direction="out", reading=reading)
        assert kit.texts(after) == ["One -> directed_by -> Ann", "One -> has_genre -> Drama"]


def toy_paths(toy, kit, **parameters):
    """From A, one triple kept at each hop, A > B first.

    The graph is A>B A>C B>C C>A C>D E>A D>D.
    """
    context = Context(toy, Environment(kit.Written(encoder=kit.Table({"A, r0, B": 1.0}))))
    state = EgoNetwork(hops=4, direction="out")(State(Question("q"), (0,)), context)
    after = TreePaths(width=1, direction="out", **parameters)(state, context)
    return [toy.text(path) for path in after.paths.items]


def test_dropped_node_may_be_reached_later_in_the_paper(toy, kit):
    assert toy_paths(toy, kit) == ["A -> r0 -> B -> r2 -> C -> r4 -> D"]
    # C was visited together with B, so B has no further step and is no sink either.
    assert toy_paths(toy, kit, reading="code") == []


def test_branch_without_kept_extension_is_dropped(kit, whole):
    model = kit.Table({ANN: 0.9, DRAMA: 0.1})
    assert kit.texts(grow_tree(kit, whole, model, width=1, hops=2)) == [
        "One -> directed_by -> Ann -> directed_by_reverse -> Two"
    ]


def test_empty_pick_ends_the_tree_in_the_paper(kit, whole):
    after = grow_tree(kit, whole, kit.Picker(ANN, DRAMA), hops=3)
    assert kit.texts(after) == ["One -> has_genre -> Drama", "One -> directed_by -> Ann"]
    assert after.trace[-1].usage.calls == 2 and kit.texts(grow_tree(kit, whole, kit.Picker())) == []


def test_code_fills_in_frontier_order_and_samples(kit, whole):
    few = grow_tree(kit, whole, kit.Picker(), width=1, hops=1, reading="code")
    assert kit.texts(few) == ["One -> directed_by -> Ann"]
    draw = lambda seed: kit.texts(
        TreePaths(width=1, hops=1, reading="code")(
            whole, kit.context(seed=seed, encoder=kit.Picker(DRAMA, ANN))
        )
    )
    assert draw(1) == draw(1) and {tuple(draw(seed)) for seed in range(9)} == {
        ("One -> directed_by -> Ann",),
        ("One -> has_genre -> Drama",),
    }
    best = grow_tree(kit, whole, kit.Table({DRAMA: 1.0}), width=1, hops=1, reading="code")
    assert kit.texts(best) == ["One -> has_genre -> Drama"] and best.trace[-1].frames[
        0
    ].ranking.scores == (1.0,)


def test_two_seeds_grow_two_trees(kit):
    state = EgoNetwork(hops=4)(kit.state("Drama", "1999"), kit.context())
    after = grow_tree(kit, state, kit.Table({}), hops=2)
    assert {kit.graph.node_name(path.start) for path in after.paths.items} == {"Drama", "1999"}
    assert [f.title for f in after.trace[-1].frames] == [
        "hop 1 from Drama",
        "hop 2 from Drama",
        "hop 1 from 1999",
        "hop 2 from 1999",
    ]


def test_supplement_is_refused_in_the_code_reading():
    with pytest.raises(BadParameter, match="without supplement"):
        TreePaths(model="supplement(choose, encoder)", reading="code")


def test_wide_tree_reaches_the_nodes_of_igraph(movies, kit):
    """Without a width limit, the branches of three hops end exactly three hops away.

    In the code's reading each node occurs once. In the paper's they are all simple paths.
    """
    igraph = pytest.importorskip("igraph")
    context = Context(movies, Environment(kit.Written(encoder=kit.Table({}))))
    state = PersonalizedPageRank(keep=300)(
        State(Question("q"), (name_lookup(movies).find("Inception"),)), context
    )
    nodes = state.subgraph.nodes.tolist()
    place = {node: i for i, node in enumerate(nodes)}
    links = [
        (place[int(movies.heads[e])], place[int(movies.tails[e])]) for e in state.subgraph.edges
    ]
    distances = igraph.Graph(len(nodes), links).distances(place[state.seeds[0]])[0]
    code, paper = (
        TreePaths(width=10_000, reading=reading)(state, context).paths.items
        for reading in ("code", "paper")
    )
    ends = sorted(path.end for path in code if len(path) == 3)
    assert (
        ends == sorted(node for node, far in zip(nodes, distances) if far == 3) and len(ends) > 20
    )
    assert all(distances[place[path.end]] == len(path) for path in code)
    every = {path for path in SimplePaths(hops=3)(state, context).paths.items if len(path) == 3}
    assert (
        {path for path in paper if len(path) == 3} == every
        and set(ends) <= {path.end for path in every}
        and len(every) > 1_000
    )


def test_fate_of_a_branch_is_reported(kit, whole):
    from core.diagnosis.path_outcome import path_fate

    after = grow_tree(kit, whole, kit.Table({ANN: 0.9, FROM: 0.8}), width=1)
    step = after.trace[-1].frames
    beginning, dropped = step[0].ranking.items[0], step[1].before_cut.items[1]
    assert (
        path_fate(kit.graph, [whole, after], beginning).text
        == "never reached by itself: only longer paths that begin with it were kept"
    )
    assert (
        path_fate(kit.graph, [whole, after], dropped).text
        == "dropped at hop 2: rank 2 of 2, top 1 kept"
    )
