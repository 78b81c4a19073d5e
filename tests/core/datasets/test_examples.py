"""Example questions of shipped data sets are answered correctly by a default lane of Compare."""

from __future__ import annotations

import pytest

from core.cases.examples import demo
from core.comparison.lane_run import LaneListener, LaneRun, PrefixCache
from core.datasets import datasets
from core.diagnosis.funnel import count_right_answers
from core.environment import Environment
from core.methods.catalogue import find_method
from core.sources import GraphSource, SourceQuestion
from core.types import Question
from pages.parts.question.permalink import DEFAULT_LANES
from tests.real_models import registry

# This example is in no question set.
UNLISTED = {"who directed Inception": (("Inception",), ("Christopher Nolan",))}
SMALL = ("metaqa", "case-study", "pathquestion-2hop", "pathquestion-3hop")
CHAINS_FIRST = sorted(DEFAULT_LANES, key=lambda key: key != "chain-ranking")
# The case study has 10,000 chains to encode before its first question; other data sets have few.
CHEAP_FIRST = {"case-study": DEFAULT_LANES}


def test_questions_of_the_first_page_have_a_written_form():
    metaqa = datasets()["metaqa"]
    shown = {*metaqa.examples, *(case.question for case in demo())}
    assert shown == set(metaqa.written)
    assert all(text[0].isupper() and text.endswith("?") for text in metaqa.written.values())
    source = GraphSource("metaqa")
    assert source.written_form("who directed Inception") == "Who directed Inception?"
    assert source.written_form("who directed Alien") == ""


def example_question(dataset, text: str) -> Question:
    """The example question with its entities and answers."""
    if text in UNLISTED:
        return Question(text, "", *UNLISTED[text])
    return next(
        found for known in dataset.sets.values() if (found := known.find_question(text)) is not None
    )


def answers_all(ask: SourceQuestion, key: str, prefixes: PrefixCache) -> bool:
    """Return whether the graph reader of a lane gives all known answers."""
    run = LaneRun(ask, find_method(key).line, Environment(registry()), prefixes)
    run.retrieve(LaneListener())
    return count_right_answers(
        ask.source.graph, run.state, ask.question.answers, reader=True
    ) == len(set(ask.question.answers))


@pytest.mark.parametrize("name", SMALL)
def test_every_example_is_answered_by_a_lane(movies, name):
    if not registry().info("encoder").present:
        pytest.skip("the encoder is not installed")
    dataset, prefixes = datasets()[name], PrefixCache()
    graph = movies if name == "metaqa" else dataset.open()
    from core.graph.names.lookup import name_lookup

    for text in dataset.examples:
        question = example_question(dataset, text)
        ask = SourceQuestion(
            GraphSource.of(graph),
            question,
            tuple(name_lookup(graph).find(entity) for entity in question.entities),
            uses_model=False,
        )
        assert any(
            answers_all(ask, key, prefixes) for key in CHEAP_FIRST.get(name, CHAINS_FIRST)
        ), text


def test_every_set_with_a_graph_and_questions_has_examples():
    shipped = [
        dataset for dataset in datasets().values() if dataset.triples is not None and dataset.sets
    ]
    assert all(dataset.examples for dataset in shipped if dataset.name in SMALL)
