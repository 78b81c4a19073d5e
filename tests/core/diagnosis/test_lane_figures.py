"""A line before a change and after it, on the films graph, by hand."""

from __future__ import annotations

import pytest

from core.comparison.lane import MethodComparison
from core.comparison.lane_run import LaneListener, LaneRun
from core.diagnosis.lane_figures import lane_figures
from core.environment import Environment
from core.operators.text import parse_line
from core.sources import GraphSource
from core.types import Question
from tests.lanes import lane_of

ANN, DRAMA = "One -> directed_by -> Ann", "One -> has_genre -> Drama"
LINE = "EgoNetwork(hops=1) >> ShortestPaths() >> Rank(keep={}) >> Answer()"


@pytest.fixture
def asked(kit):
    """`asked(*lines, answers, model)`: the figures of lines on a question that starts at One.

    The paths of the question are Ann's and Drama's, in this order.
    """

    def make(*lines, answers=("Drama",), model=None):
        ask = GraphSource.of(kit.graph).ask(
            Question("what is One", entities=("One",), answers=answers),
            uses_model=model is not None,
        )
        environment, lanes = (
            Environment(kit.Written(encoder=kit.Table({ANN: 0.9, DRAMA: 0.5}), chat=model)),
            [],
        )
        for line in lines:
            run = LaneRun(ask, parse_line(line), environment)
            run.retrieve(LaneListener())
            run.answer(LaneListener())
            lanes.append(lane_of(run, line, line))
        return [lane_figures(MethodComparison(ask, lanes), lane) for lane in lanes]

    return make


def test_one_path_more_keeps_the_answer_though_it_is_not_the_first(asked):
    """Two paths: Ann's is the better by the table, Drama's is the known answer. The graph reader names the ends of like paths."""
    few, many = asked(LINE.format(1), LINE.format(2))
    assert (few.alive, few.n_targets, few.n_right, few.is_first_right) == ((), 1, 0, False)
    assert (many.alive, many.n_targets, many.is_first_right) == (("Drama",), 1, False)
    # of the prompt, which has a line more
    assert not few.asked_model and few.tokens and many.tokens > few.tokens


def test_the_first_answer_is_right(asked):
    (one,) = asked(LINE.format(1), answers=("Ann",))
    assert (one.alive, one.n_right, one.is_first_right) == (("Ann",), 1, True)


def test_tokens_are_those_of_the_language_model_where_one_answers(asked, kit):
    from tests.films import Parrot

    (one,) = asked(LINE.format(2), model=Parrot("Drama it is"))
    # three words written, and the prompt read
    assert one.asked_model and one.n_right == 1 and one.is_first_right and one.tokens > 3


def test_nothing_is_said_of_answers_where_none_is_known(asked):
    (one,) = asked(LINE.format(1), answers=())
    assert (one.alive, one.n_targets, one.n_right, one.is_first_right) == (None, 0, None, None)


def test_without_a_prompt_there_are_no_tokens(asked):
    assert asked("EgoNetwork(hops=1) >> ShortestPaths()")[0].tokens is None
