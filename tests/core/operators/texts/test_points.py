"""Map and reduce: groups of texts, scored points, and saved points where a model fails."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.comparison.lane_run import LaneListener, LaneRun, PrefixCache
from core.environment import Environment
from core.errors import ModelFailed
from core.operators.text import parse_line
from core.operators.texts.answer.points import AnswerFromPoints, diversify_points
from core.sources import GraphSource, SourceQuestion
from core.types import AnswerPoint, Question
from tests.core.operators.scripted import Script
from tests.films import Written
from tests.notes import NoteWith

TWO = "SparseChunks(keep=2)"  # “the clerk Cratchit” finds chunks 1 and 2.
LINE = f"{TWO} >> Points() >> AnswerFromPoints()"


def points(*scored):
    return json.dumps({"points": [{"description": text, "score": score} for text, score in scored]})


def state_after(told, line, *replies, context=4096, **more):
    script = Script(*replies)
    script.context = context
    return told.state(line, "the clerk Cratchit", models=Written(script), **more), script.asked


def test_points_of_chunks_give_an_answer(told):
    state, asked = state_after(
        told, LINE, points(("weak", 10), ("nothing", 0)), points(("strong", 90)), "The clerk."
    )
    assert (
        state.answer == "The clerk."
        and "- (90) strong\n- (10) weak" in asked[2]
        and "nothing" not in asked[2]
    )
    assert [(point.score, point.items) for point in state.points] == [(10, (1,)), (90, (2,))]
    assert [step.usage.calls for step in state.trace[1:]] == [2, 1] and dict(state.prompt.hits) == {
        "chunk": 2
    }


def test_packed_groups_take_as_many_as_fit(told):
    state, asked = state_after(
        told, f"{TWO} >> Points(per='packed') >> AnswerFromPoints()", points(("both", 50)), "So."
    )
    assert (
        len(asked) == 2
        and "carol#1" in asked[0]
        and "carol#2" in asked[0]
        and state.points[0].items == (1, 2)
    )


def test_too_large_group_is_split(told):
    line = f"{TWO} >> Points(per='packed')"
    needed = state_after(told, line, points())[0].trace[-1].usage.tokens_in
    _, asked = state_after(told, line, points(), points(), context=needed + 256 + 8 - 1)
    assert (
        len(asked) == 2
        and "carol#1" in asked[0]
        and "carol#1" not in asked[1]
        and "carol#2" in asked[1]
    )


def test_long_passage_is_cut(told):
    line = "SparseChunks(keep=1) >> Points()"
    state, (whole,) = state_after(told, line, points())
    _, (cut,) = state_after(
        told, line, points(), context=state.trace[-1].usage.tokens_in + 256 + 8 - 1
    )
    assert 'carol#1,"Fred' in cut and "merry Christmas" in whole and "merry Christmas" not in cut


@pytest.mark.parametrize("reply", ["no JSON", '{"points": 7}', "[]"])
def test_unreadable_reply_gives_no_point(told, reply):
    state, asked = state_after(told, LINE, reply, points(("strong", 90)), "The clerk.")
    assert [point.text for point in state.points] == ["strong"] and state.answer == "The clerk."
    assert state.trace[1].notes[0] == NoteWith(1, "2 parts", "could not be read")


def test_incomplete_points_are_kept_and_empty_ones_counted(told):
    half = (
        '```json\n[{"points": ["a", {"description": "x", "score": "many"}, {"description": null, '
        '"score": 5}]}]\n```'
    )
    state, _ = state_after(told, f"{TWO} >> Points()", half, points(("strong", 90)))
    assert [(point.text, point.score) for point in state.points] == [
        ("a", 1),
        ("x", 1),
        ("strong", 90),
    ]
    assert state.trace[1].notes[0] == NoteWith(1, "points", "no text")


def test_scores_are_clipped_to_the_scale(told):
    state, _ = state_after(
        told,
        f"{TWO} >> Points()",
        points(("loud", 1000), ("minus", -5)),
        '{"points": [{"description": "bare"}]}',
    )
    assert [(point.text, point.score) for point in state.points] == [("loud", 100), ("bare", 1)]


def test_no_points_are_reported_or_need_no_request(told):
    state, asked = state_after(told, LINE, points(), points(("none", 0)), "I do not know.")
    assert state.answer == "I do not know." and "(no point)" in asked[2]
    state, asked = state_after(
        told, LINE.replace("FromPoints()", "FromPoints(empty='nothing')"), points(), points()
    )
    assert state.answer == "" and len(asked) == 2 and "no answer" in state.trace[-1].notes[0]


def test_points_are_cut_at_their_budget(told):
    # 400 letters are 115 tokens, so the second does not fit.
    state, asked = state_after(
        told,
        f"{TWO} >> Points() >> AnswerFromPoints(room=200)",
        points(("a" * 400, 9)),
        points(("b" * 400, 8)),
        "So.",
    )
    assert "a" * 400 in asked[2] and "b" * 400 not in asked[2]


def test_community_without_report_is_read_by_its_members(told):
    from core.graph.building.text_graph import with_tables

    table = told.graph.columns.communities
    bare = with_tables(
        told.graph,
        communities=type(table).from_columns(
            title=["Firm"], level=[0], parent=[-1], members=[[2, 3]], report=[""], rating=[1.0]
        ),
    )
    state, asked = state_after(
        told, "CommunitiesAtLevel() >> Points(per='packed')", points(("partners", 5)), on=bare
    )
    assert "Marley, Scrooge" in asked[0] and state.points[0].kind == "community"


def test_prompt_without_a_model_is_the_first_part(told):
    state, asked = state_after(told, LINE, answering=False)
    assert (
        not asked
        and state.points is None
        and state.answer is None
        and "no point was noted" in state.trace[1].notes[0]
    )
    assert (
        "carol#1" in state.prompt.messages[1]["content"]
        and "carol#2" not in state.prompt.messages[1]["content"]
    )


class FailingScript(Script):
    """A model that fails once its replies are used up."""

    def reply(self, *args, **more):
        if not self.replies:
            raise ModelFailed("The language model stopped.")
        return super().reply(*args, **more)


def test_failure_between_map_and_reduce_keeps_the_points(told):
    models = Written(FailingScript(points(("weak", 10)), points(("strong", 90))))
    run = LaneRun(
        SourceQuestion(GraphSource.of(told.graph), Question("the clerk Cratchit"), ()),
        parse_line(LINE),
        Environment(models),
    )
    run.retrieve(LaneListener())
    with pytest.raises(ModelFailed):
        run.answer(LaneListener())
    assert [point.text for point in run.state.points] == [
        "weak",
        "strong",
    ] and run.state.chunks.items == (1, 2)


def test_failure_within_the_map_keeps_earlier_points(told):
    models = Written(FailingScript(points(("weak", 10))))
    run = LaneRun(
        SourceQuestion(GraphSource.of(told.graph), Question("the clerk Cratchit"), ()),
        parse_line(LINE),
        Environment(models),
    )
    with pytest.raises(ModelFailed):
        run.retrieve(LaneListener())
    assert [point.text for point in run.state.points] == ["weak"] and run.state.chunks.items == (
        1,
        2,
    )
    step = run.state.trace[-1]
    assert (
        step.operator,
        step.sizes["parts"],
        step.sizes["parts not reached"],
        step.usage.calls,
    ) == ("Points", 1, 1, 1)


def test_partial_points_are_not_reused_as_complete(told):
    prefixes, ask = (
        PrefixCache(),
        SourceQuestion(GraphSource.of(told.graph), Question("the clerk Cratchit"), ()),
    )
    with pytest.raises(ModelFailed):
        LaneRun(
            ask,
            parse_line(LINE),
            Environment(Written(FailingScript(points(("weak", 10))))),
            prefixes,
        ).retrieve(LaneListener())
    again = LaneRun(
        ask,
        parse_line(LINE),
        Environment(Written(FailingScript(points(("weak", 10)), points(("strong", 90))))),
        prefixes,
    )
    again.retrieve(LaneListener())
    assert [point.text for point in again.state.points] == ["weak", "strong"]


def test_worst_points_are_left_out_of_a_full_prompt(told):
    replies = points(("strong " * 200, 9), ("weak " * 200, 8)), points()
    whole, asked = state_after(told, LINE, *replies, "So.")
    needed = whole.trace[-1].usage.tokens_in
    state, asked = state_after(told, LINE, *replies, "So.", context=needed + 256 + 8 - 1)
    assert "strong" in asked[2] and "weak" not in asked[2]
    assert state.trace[-1].sizes["points"] == 1 and state.trace[-1].notes == (
        NoteWith("2 points", "best 1", "room"),
    )


def test_trace_counts_parts_points_and_unreadable_replies(told):
    state, _ = state_after(told, LINE, "no JSON", points(("strong", 90)), "The clerk.")
    assert state.trace[1].sizes == {"parts": 2, "unreadable parts": 1} and state.trace[2].sizes == {
        "points": 1
    }


TIM, AGAIN, FRED = (
    AnswerPoint(90, "Tim is lame", "chunk", (0,)),
    AnswerPoint(80, "tim is Lame", "chunk", (1,)),
    AnswerPoint(50, "Fred is merry", "chunk", (2,)),
)


def test_repeated_point_loses_rank():
    # Tim is picked first. d = 0.5: of the rest 0.40 - 0.5 * 1 = -0.10 and 0.25 - 0.5 * 1/5 = 0.15
    # (they share one word of five).
    assert diversify_points([AGAIN, FRED, TIM], 0.5) == (TIM, FRED, AGAIN)
    # d = 0.25: 0.60 - 0.25 = 0.35 and 0.375 - 0.05 = 0.325.
    assert diversify_points([AGAIN, FRED, TIM], 0.25) == (TIM, AGAIN, FRED)
    # d = 1: scores only decide ties, where the larger comes first.
    assert diversify_points([FRED, AGAIN, TIM], 1) == (TIM, FRED, AGAIN)


def test_zero_diversity_changes_nothing():
    same = [
        AnswerPoint(50, "a", "chunk", (0,)),
        AnswerPoint(90, "b", "chunk", (0,)),
        AnswerPoint(50, "", "chunk", (1,)),
    ]
    assert (
        diversify_points(same, 0) == (same[1], same[0], same[2])
        and diversify_points([], 0.5) == ()
        and diversify_points(same[:1], 0.5) == (same[0],)
    )
    # Empty descriptions share no words.
    assert (
        diversify_points(
            [AnswerPoint(7, "", "chunk", (0,)), AnswerPoint(9, "", "chunk", (1,))], 0.5
        )[0].score
        == 9
    )
    # The text is part of the cache key, so the default must not appear in it.
    assert repr(AnswerFromPoints(diversity=0.0)) == "AnswerFromPoints()"


@given(
    st.lists(st.tuples(st.integers(1, 100), st.text("ab ", max_size=6)), max_size=8),
    st.floats(0, 1),
)
def test_each_pick_is_the_best_remaining_point(scored, d):
    given_points = [
        AnswerPoint(score, text, "chunk", (place,)) for place, (score, text) in enumerate(scored)
    ]
    picked = diversify_points(given_points, d)
    assert sorted(picked, key=lambda one: one.items) == given_points

    def alike(one, other):
        a, b = set(one.text.split()), set(other.text.split())
        return len(a & b) / max(1, len(a | b))

    worth = lambda one, before: (
        (1 - d) * one.score / 100 - d * max((alike(one, other) for other in before), default=0)
    )
    for place in range(len(picked)):
        best = max(worth(one, picked[:place]) for one in picked[place:])
        assert worth(picked[place], picked[:place]) >= best - 1e-9


def test_different_points_precede_repeated_ones(told):
    replies = (
        points(("Tim is lame. " * 10, 90), ("Tim is lame. " * 9, 80)),
        points(("Fred is merry.", 50)),
    )
    line = LINE.replace("AnswerFromPoints()", "AnswerFromPoints(room=100, diversity=0.5)")
    state, asked = state_after(told, line, *replies, "So.")
    assert asked[2].index("(90)") < asked[2].index("(50)") and asked[2].count("lame") < 20
