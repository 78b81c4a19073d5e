"""The sentences of a whole comparison: names of lanes, and when something can be said."""

from __future__ import annotations

import pytest

from core.comparison.run import Ask, LaneRun, Progress
from core.diagnosis.verdict_words import explain, lane_names
from core.engine import Comparison, Lane
from core.environment import Environment
from core.instances.catalogue import Instance
from core.operators.text import parse_line
from core.runtime.jobs import DONE, FAILED, RUNNING
from core.types import Question

DRAMA = "One -> has_genre -> Drama"


@pytest.fixture
def asked(kit):
    """`asked(lines, answers)`: a comparison whose lanes have run."""

    def make(lines, answers=("Drama",), methods=()):
        models = kit.Written(encoder=kit.Table({DRAMA: 1.0}))
        question = Question("genre of One", answers=tuple(answers))
        ask = Ask(kit.graph, question, (kit.node("One"),), model=False)
        lanes = []
        for i, line in enumerate(lines):
            instance = Instance(f"l{i}", f"No. {i + 1}", parse_line(line), method=methods[i] if methods else "")
            run = LaneRun(ask, instance.line, Environment(models))
            run.retrieve(Progress())
            lanes.append(Lane(instance, run, DONE, "", retrieved=True))
        return Comparison(ask, lanes)

    return make


LINES = ("EgoNetwork(hops=2) >> ShortestPaths() >> Rank(keep=1)", "EgoNetwork(hops=2) >> ShortestPaths()")


def test_the_sentences_of_two_lanes(asked):
    """Ranked by the table, Drama is best; unranked, Ann (directed by) comes first."""
    told = explain(asked(LINES, methods=("Rank by meaning", "Shortest paths")))
    assert told.text == "Only “Rank by meaning” finds Drama. “Shortest paths” reads another relation."
    assert [(one.head, one.right) for one in told.lanes] == [("Found:", 1), ("Read another relation:", 0)]


def test_nothing_is_said_for_all_until_every_lane_has_retrieved(asked):
    compared = asked(LINES)
    compared.lanes[1].retrieved, compared.lanes[1].status = False, RUNNING
    told = explain(compared)
    assert told.text == "" and told.lanes[0].head == "Found:" and told.lanes[1] is None
    compared.lanes[1].status, compared.lanes[1].error = FAILED, "No model."
    assert explain(compared).text == "No. 1 finds Drama. No. 2 failed."


def test_without_known_answers_the_lanes_are_held_against_each_other(asked):
    text = "They differ: No. 1 says Drama; No. 2 says Ann. Add the right answer to see where it is lost."
    assert explain(asked(LINES, answers=())).text == text


def test_lanes_are_told_apart_by_name(asked):
    plain = asked(LINES, methods=("Beam search", "Beam search, 8 wide"))
    assert lane_names(plain) == ["“Beam search”", "Beam search, 8 wide"]
    assert lane_names(asked(LINES, methods=("Beam search", "Beam search"))) == ["No. 1", "No. 2"]
    alike = asked(LINES[:1] * 2, methods=("Beam search", "Beam search"))
    for lane in alike.lanes:
        object.__setattr__(lane.instance, "short", "No. 14")
    assert lane_names(alike) == ["lane 1", "lane 2"]
