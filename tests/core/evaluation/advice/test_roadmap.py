"""The paper's roadmap as data, with every leaf by its answers.

The leaves are typed from the figure and its tables. What was measured stands beside them.
"""

from __future__ import annotations

import itertools

import pytest

from core.errors import BadInput
from core.evaluation.advice.roadmap import (
    Leaf,
    RoadmapQuestion,
    measured_sentence,
    next_roadmap_step,
    read_answers,
    roadmap_leaves,
    roadmap_questions,
)
from core.methods.catalogue import published_methods
from tests.notes import NoteWith

LEAVES = [  # Figure 13
    ("specific,simple,human", "VanillaRAG"),
    ("specific,simple,tokens", "RAPTOR"),
    ("specific,complex,high", "LGraphRAG"),
    ("specific,complex,low,more", "LGraphRAG"),
    ("specific,complex,low,less", "RAPTOR"),
    ("abstract,low", "RAPTOR"),
    ("abstract,medium", "HLightRAG"),
    ("abstract,high", "GGraphRAG"),
]


@pytest.mark.parametrize(("text", "name"), LEAVES)
def test_each_leaf(text, name):
    leaf = next_roadmap_step(read_answers(text))
    assert isinstance(leaf, Leaf) and leaf.name == name
    assert leaf.words()[0].startswith(
        f"The paper recommends {name} here (In-depth Analysis of Graph-based RAG, Figure 13)"
    )
    assert leaf.place in leaf.words()[0]


def test_the_leaves_are_all_there_is():
    assert len(roadmap_leaves()) == len(LEAVES)
    known = roadmap_questions()
    # whatever is answered, the way goes on to a question that is left, or ends
    for count in range(len(known) + 1):
        for keys in itertools.combinations(known, count):
            for values in itertools.product(*(known[key].options for key in keys)):
                answers = dict(zip(keys, values))
                found = next_roadmap_step(answers)
                assert isinstance(found, Leaf) or found.key not in answers
    asked = {key for leaf in roadmap_leaves() for key in leaf.when}
    assert asked == set(known)


def test_methods_are_methods_of_this_paper():
    for leaf in roadmap_leaves():
        for id, name in ((leaf.method, leaf.name), (leaf.also, "")):
            assert not id or "In-depth Analysis" in published_methods()[id].paper
            assert not name or published_methods()[id].short == name
        assert bool(leaf.also) == bool(leaf.also_said)


def test_what_the_figure_leaves_open_is_said():
    open = [leaf for leaf in roadmap_leaves() if leaf.inferred]
    assert [leaf.when.get("steps") for leaf in open] == ["more", "less"] and all(
        leaf.inferred in leaf.words() for leaf in open
    )


def test_the_first_question_and_the_next():
    assert next_roadmap_step({}) == roadmap_questions()["kind"] and isinstance(
        next_roadmap_step({"kind": "specific", "depth": "complex"}), RoadmapQuestion
    )
    assert next_roadmap_step({"kind": "specific", "depth": "complex"}).key == "tokens"
    # what is not on the way is passed over
    assert next_roadmap_step({"kind": "abstract", "chunks": "human"}).key == "overview"


@pytest.mark.parametrize(
    "text",
    ["specifik", "specific,complex,medium", "abstract,low,more", "specific,simple,human,human"],
)
def test_answers_that_are_none_are_sentences(text):
    with pytest.raises(BadInput, match="“"):
        read_answers(text)


def test_unknown_keys_are_refused():
    with pytest.raises(BadInput, match="Did you mean “depth”"):
        next_roadmap_step({"dept": "simple"})
    with pytest.raises(BadInput, match="no answer to"):
        next_roadmap_step({"kind": "both"})


def test_beside_what_was_measured():
    shares, names = (
        {"vanilla-rag": 0.8, "lgraphrag": 0.3},
        {"vanilla-rag": "Vectors", "lgraphrag": "Local search"},
    )
    first, tokens, high = roadmap_leaves()[:3]
    best = measured_sentence(first, shares, names, 50)
    assert "Vectors .80 " in best and best.endswith("the best of all.")
    assert measured_sentence(high, shares, names, 50).endswith(" Vectors with .80.")
    assert measured_sentence(tokens, shares, names, 50).startswith(
        "RAPTOR was not among the methods"
    )
    assert measured_sentence(first, {}, {}, 0) == NoteWith("Nothing was measured")
    assert measured_sentence(roadmap_leaves()[-1], shares, names, 50).startswith(
        "Overviews were not compared"
    )
