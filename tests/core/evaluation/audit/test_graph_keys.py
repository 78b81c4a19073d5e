"""Keys of a graph's questions against the chains of like questions, by hand on three films."""

from __future__ import annotations

import numpy as np
import pytest

from core.evaluation.audit.audit import audit_questions
from core.evaluation.audit.graph_keys import GraphKeys, template_of
from core.evaluation.audit.relation_chains import compare_answers, find_chains, follow_chain
from core.graph.building.build import build_in_memory
from core.sources import GraphSource
from core.types import Question

FILMS = {
    "Alpha": ("Ann", "1990", ("Xu", "Yi")),
    "Beta": ("Bob", "1991", ("Yi", "Zed")),
    "Gamma": ("Cy", "1992", ("Xu", "Zed")),
    "Delta": ("Dee", "1993", ("Xu", "Yi", "Zed")),
}
TRIPLES = [
    triple
    for film, (director, year, actors) in FILMS.items()
    for triple in (
        (film, "directed_by", director),
        (film, "released", year),
        *((film, "starred", actor) for actor in actors),
    )
]


@pytest.fixture(scope="module")
def graph():
    return build_in_memory(TRIPLES, "films")


def asked(template: str, key: int, **changed) -> list[Question]:
    """One question for each film, with the changed keys."""
    questions = []
    for film, values in FILMS.items():
        answers = values[key] if isinstance(values[key], tuple) else (values[key],)
        answers = changed.get(film, answers)
        text = template.format(film)
        questions.append(Question(text, f"{key}-{film}", (film,), answers, hops=1))
    return questions


def found(graph, questions, kind):
    audit = audit_questions(questions, GraphSource("films", graph))
    return [(one.question, one.names, one.expected) for one in audit.findings if one.kind == kind]


def test_a_chain_leads_to_its_answers_and_never_back_to_the_entity(graph):
    (start,), (xu,) = graph.nodes_named("Alpha"), graph.nodes_named("Xu")
    starred = graph.relation_names.index("starred")
    reached = follow_chain(graph, start, ((starred, True), (starred, False)))
    assert sorted(graph.names(reached)) == ["Beta", "Delta", "Gamma"]
    matches = find_chains(graph, start, np.array([xu]), 1)
    assert {chain: match.f1 for chain, match in matches.items()} == {
        ((starred, True),): pytest.approx(2 / 3)  # Xu is one of two actors
    }


def test_agreement_is_measured_on_both_sides():
    match = compare_answers(np.array([1, 2]), np.array([2, 3, 4, 5]))
    assert (match.precision, match.recall, match.f1) == (0.25, 0.5, pytest.approx(1 / 3))


def test_templates_differ_by_words_and_not_by_entities():
    one = template_of("Who directed [Alpha]?", ("Alpha",))
    assert one == template_of("who directed beta", ("Beta",))
    assert one != template_of("who produced beta", ("Beta",))


def test_keys_that_the_graph_confirms_are_not_flagged(graph):
    questions = asked("who directed {}", 0) + asked("when was {} released", 1)
    audit = audit_questions(questions, GraphSource("films", graph))
    assert audit.suspect == () and audit.counts == {}


def test_another_director_contradicts_the_chain_of_like_questions(graph):
    questions = asked("who directed {}", 0, Beta=("Ann",))
    assert found(graph, questions, "contradicted") == [("0-Beta", ("Ann",), ("Bob",))]


def test_another_director_is_seen_where_no_question_has_the_same_words(graph):
    texts = ("who directed {}", "{} was directed by who", "{} has which director")
    questions = [
        *(Question(t.format(f), f"{t}{f}", (f,), (FILMS[f][0],), 1) for t in texts for f in FILMS),
        Question("name the one who directed Delta", "odd", ("Delta",), ("Cy",), 1),
    ]
    assert found(graph, questions, "contradicted") == [("odd", ("Cy",), ("Dee",))]


def test_a_part_of_a_list_is_completed_by_the_graph(graph):
    questions = asked("who starred in {}", 2, Delta=("Xu", "Zed"))
    assert found(graph, questions, "incomplete") == [("2-Delta", ("Yi",), ("Xu", "Yi", "Zed"))]


def test_a_name_that_the_graph_lacks_is_missing_and_nothing_more(graph):
    questions = asked("who directed {}", 0, Beta=("Bobb",))
    assert found(graph, questions, "missing_answer") == [("0-Beta", ("Bobb",), ())]
    assert found(graph, questions, "contradicted") == []


def test_entities_that_are_missing_or_share_a_name_are_named(graph):
    twins = build_in_memory([("a", "is", "b"), ("A", "is", "c")], "twins")
    questions = [
        Question("what is Nine", "1", ("Nine",), ("b",)),
        Question("what is it", "2", ("ａ",), ("b",)),  # in full width, as neither a nor A is
        Question("what is a", "3", ("a",), ("b",)),
    ]
    assert found(twins, questions, "missing_entity") == [("1", ("Nine",), ())]
    assert found(twins, questions, "ambiguous_name") == [("2", ("ａ",), ())]


def test_without_like_questions_nothing_is_claimed(graph):
    question = Question("what about Alpha", "1", ("Alpha",), ("1990",), hops=1)
    assert list(GraphKeys(graph, [question]).findings()) == []
