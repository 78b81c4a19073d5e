"""The suggested size of a subgraph, with numbers by hand on five nodes.

Each reason is told, feedback is weighed, and there is a check on MetaQA.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from core.diagnosis.changes.size_advice import (
    SizeAdviceDefaults,
    adjust_by_feedback,
    advise_subgraph_size,
    question_form,
    walk_spread,
)
from core.types import Question, Rating
from tests.films import films, kit

__all__ = ["films", "kit"]


def rated(size, up, question="genre of Two", entities=("Two",)):
    return Rating(question, "d", "L()", "a", up, entities, size=size)


def test_the_spread_of_a_walk_by_hand(kit):
    """From One: Ann or Drama, each 1/2. Then Drama goes back, Ann by three edges to One, Two, Two: One 1/2 + 1/6, Two 1/3."""
    one = kit.node("One")
    assert walk_spread(kit.graph, (one,), 0) == (1.0, 2)
    assert walk_spread(kit.graph, (one,), 1)[0] == pytest.approx(2.0)
    entropy = -(2 / 3 * math.log(2 / 3) + 1 / 3 * math.log(1 / 3))
    assert walk_spread(kit.graph, (one,), 2)[0] == pytest.approx(math.exp(entropy))
    # two edges at One, three at Two
    assert walk_spread(kit.graph, (one, kit.node("Two")), 0) == (2.0, 5)


def test_a_walk_out_of_a_graph_stays_at_its_last_node(tmp_path):
    """A -> B -> C, outward only: after three steps it is at C."""
    from core.graph.building.build import build

    chain = build([("A", "r", "B"), ("B", "r", "C")], tmp_path / "chain", "chain", "out")
    assert walk_spread(chain, (0,), 3)[0] == pytest.approx(1.0)


def test_a_great_neighbourhood_is_looked_at_in_part(kit, monkeypatch):
    """With room for two edges, only Drama goes on beyond the first step.

    One goes on to Ann and Drama. Drama has one edge and goes on; Ann has three and does not.
    """
    monkeypatch.setattr(
        "core.diagnosis.changes.size_advice.SIZE_ADVICE", SizeAdviceDefaults(max_walk_edges=2)
    )
    # Ann 1/2, One 1/2
    assert walk_spread(kit.graph, (kit.node("One"),), 2)[0] == pytest.approx(2.0)


def test_the_size_follows_aim_and_spread(kit, monkeypatch):
    """Two steps from one entity spread over 1.89 nodes, and the aim is 60 %.

    The mean degree is 2 and the growth sqrt(1.89) = 1.37. The graph is so neither dense nor sparse,
    and the size is 1.5 x 1.89.
    """
    monkeypatch.setattr(
        "core.diagnosis.changes.size_advice.SIZE_ADVICE", SizeAdviceDefaults(min_nodes=1)
    )
    told = advise_subgraph_size(
        kit.graph, Question("genre of One", entities=("One",)), (kit.node("One"),)
    )
    assert (told.keep, told.aim, told.steps) == (2, 0.60, 2) and told.spread == pytest.approx(
        1.8899, abs=1e-4
    )
    assert len(told.reasons) == 4 and all(reason.endswith(".") for reason in told.reasons)
    assert (
        "1.9 nodes" in told.reasons[1]
        and "60%" in told.reasons[2]
        and "about 2 nodes, where 1,000 are usual" in told.reasons[3]
    )


@pytest.mark.parametrize(
    ("question", "seeds", "steps", "aim"),
    [
        (Question("genre of One", entities=("One",), hops=1), ("One",), 1, 0.55),
        (Question("genre of One", entities=("One",)), ("One",), 2, 0.60),
        (Question("genre of One and Two", entities=("One", "Two")), ("One", "Two"), 2, 0.65),
        (
            Question("who is the writer that made the films that One shares", entities=("One",)),
            ("One",),
            3,
            0.70,
        ),
        (
            Question(
                "which films and people that both One and Two share with one another",
                entities=("One", "Two"),
            ),
            ("One", "Two"),
            3,
            0.75,
        ),
    ],
)
def test_the_aim_rises_with_complexity(kit, question, seeds, steps, aim):
    told = advise_subgraph_size(kit.graph, question, tuple(map(kit.node, seeds)))
    assert (told.steps, told.aim) == (steps, aim), told.reasons


def test_dense_and_sparse_regions_move_the_aim(tmp_path):
    """A hub of forty leaves in a long chain: mean degree about 2. The hub grows 40-fold a step, a chain's end 1-fold."""
    from core.graph.building.build import build

    triples = [("hub", "r", f"leaf {i}") for i in range(40)] + [
        (f"link {i}", "r", f"link {i + 1}") for i in range(60)
    ]
    graph = build(triples, tmp_path / "hub", "hub", "both")
    from core.graph.names.lookup import name_lookup

    at = lambda name: (name_lookup(graph).find(name),)
    dense = advise_subgraph_size(
        graph, Question("what is near the hub", entities=("hub",), hops=1), at("hub")
    )
    assert dense.aim == 0.50 and "dense" in dense.reasons[1] and dense.keep == 50
    end = advise_subgraph_size(
        graph, Question("what is near it", entities=("link 0",)), at("link 0")
    )
    # one step back or one on: growth 1.41 of a mean of 2
    assert end.aim == 0.60 and end.spread == pytest.approx(2.0)


def test_feedback_on_alike_questions_counts_the_more_of_it_there_is():
    """Each thumb up at 80 nodes moves the size from 10 nodes towards 80.

    One thumb up moves it to 10^(2/3) x 80^(1/3) = 20. Two move it to 10^(1/2) x 80^(1/2) = 28.3.
    """
    question = Question("genre of One", entities=("One",))
    after = lambda *log: adjust_by_feedback(10.0, question, log)[0]
    assert (
        after() == 10.0
        and after(rated(80, True)) == pytest.approx(20.0)
        and after(*[rated(80, True)] * 2) == pytest.approx(28.284, abs=1e-3)
    )
    assert after(rated(80, True, "who directed the film Two", ("Two",))) == 10.0  # not alike
    assert after(rated(80, True, "genre of One and Two", ("One", "Two"))) == 10.0  # more entities
    assert after(rated(None, True)) == 10.0  # a method without a subgraph
    # the smallest that worked
    assert after(rated(80, True), rated(160, True)) == pytest.approx(28.284, abs=1e-3)
    # one failed: the middle
    assert after(rated(80, True), rated(320, True), rated(90, False)) == pytest.approx(
        (10 * 200) ** 0.5
    )
    assert after(rated(50, False)) == 15.0 and after(rated(5, False)) == 10.0
    assert (
        "2 answers from 80 nodes had a thumb up"
        in adjust_by_feedback(10.0, question, [rated(80, True)] * 2)[1]
    )
    assert "thumb down at 50 nodes" in adjust_by_feedback(10.0, question, [rated(50, False)])[1]


def test_the_form_of_a_question_leaves_names_out():
    assert (
        question_form(Question("Who directed Some Mother's Son?", entities=("Some Mother's Son",)))
        == "who directed x"
    )


def test_on_metaqa_most_answers_stay_in_a_much_smaller_subgraph(movies):
    """Ten development questions a hop count, hops known: of what 1,000 nodes keep, hardly anything is lost."""
    from core.datasets import datasets
    from core.graph.names.lookup import name_lookup
    from core.graph.pagerank.top_nodes import top_pagerank

    kept, usual, sizes = [], [], []
    for hops in (1, 2, 3):
        questions = datasets()["metaqa"].questions(f"metaqa-{hops}hop-dev")
        for at in np.random.default_rng(5).choice(len(questions), 10, replace=False):
            question = questions[int(at)]
            seeds = tuple(name_lookup(movies).find(entity) for entity in question.entities)
            ranks = {
                int(node): rank for rank, node in enumerate(top_pagerank(movies, seeds, 1000)[0])
            }
            places = [
                min(
                    (ranks.get(node, 1000) for node in name_lookup(movies).find_exact(answer)),
                    default=1000,
                )
                for answer in question.answers
            ]
            keep = advise_subgraph_size(movies, question, seeds).keep
            sizes.append(keep)
            kept.append(np.mean([place < min(keep, 1000) for place in places]))
            usual.append(np.mean([place < 1000 for place in places]))
    assert np.mean(usual) - np.mean(kept) < 0.03 and np.mean(sizes) < 400
