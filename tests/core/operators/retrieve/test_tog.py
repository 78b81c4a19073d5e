"""Think-on-Graph on five nodes: requests, scores by hand, stopping, and unreadable replies."""

import json

import pytest

from core.diagnosis.path_outcome import path_fate
from core.environment import Environment
from core.graph.building.build import build
from core.operators import ThinkOnGraph
from core.operators.base import Context
from core.types import Question, State
from tests.core.operators.scripted import Script
from tests.notes import NoteWith

YES, NO = '{"sufficient": "yes"}', '{"sufficient": "no"}'


def ratings(*pairs):
    return json.dumps({"ratings": [{"number": n, "score": s} for n, s in pairs]})


def listed_relations(content):
    return [line.split(". ", 1)[1] for line in content.splitlines() if line[:1].isdigit()]


def test_two_hops_match_hand_computed_scores(kit):
    # One has directed_by and has_genre. At Ann the walk came by directed_by_reverse, so only
    # written_by_reverse is left; at Drama nothing is. Every relation leads to one entity, so a
    # chain has the score of its relation.
    chat = Script(ratings((1, 8), (2, 5)), NO, ratings((1, 10)), YES)
    after = ThinkOnGraph(width=2, depth=2)(kit.state("One"), kit.context(chat))
    assert listed_relations(chat.asked[0]) == ["directed_by", "has_genre"] and listed_relations(
        chat.asked[2]
    ) == ["written_by_reverse"]
    assert kit.texts(after) == [
        "One -> directed_by -> Ann -> written_by_reverse -> Two",
        "One -> directed_by -> Ann",
        "One -> has_genre -> Drama",
    ]
    assert after.paths.scores == (1.0, 0.8, 0.5)
    assert (
        sorted(kit.graph.names(after.subgraph.nodes)) == ["Ann", "Drama", "One", "Two"]
        and len(after.subgraph.edges) == 3
    )
    step = after.trace[-1]
    assert step.usage.calls == 4 and [frame.title for frame in step.frames] == ["hop 1", "hop 2"]
    assert step.notes == (
        NoteWith("Hop 1", "more paths"),
        NoteWith("Hop 2", "sufficient"),
    )


def test_chain_score_is_relation_times_entity(kit):
    # directed_by_reverse leads to One and Two: 0.6 * 0.5 = 0.3 for Two, and One is not rated.
    # written_by_reverse leads to Two alone: 0.4.
    chat = Script(ratings((1, 6), (2, 4)), ratings((2, 5)), YES)
    after = ThinkOnGraph(depth=1)(kit.state("Ann"), kit.context(chat))
    assert listed_relations(chat.asked[0]) == [
        "directed_by_reverse",
        "written_by_reverse",
    ] and listed_relations(chat.asked[1]) == ["One", "Two"]
    assert kit.texts(after) == [
        "Ann -> written_by_reverse -> Two",
        "Ann -> directed_by_reverse -> Two",
    ]
    assert after.paths.scores == (0.4, pytest.approx(0.3))


@pytest.mark.parametrize("exhausted, kept", [("alone", 0), ("facts", 2)])
def test_insufficient_paths_follow_the_setting(kit, exhausted, kept):
    chat = Script(ratings((1, 6), (2, 4)), ratings((2, 5)), NO)
    after = ThinkOnGraph(depth=1, exhausted=exhausted)(kit.state("Ann"), kit.context(chat))
    step = after.trace[-1]
    assert len(after.paths) == kept and any(
        "answers from what it knows" in note for note in step.notes
    ) == (kept == 0)
    if not kept:
        assert (
            path_fate(kit.graph, [after], step.before_cut.items[0]).text
            == "found, but think on graph handed nothing on"
        )


def test_unreadable_entity_ratings_are_equal(kit):
    chat = Script(ratings((1, 6)), "I cannot say.", YES)
    after = ThinkOnGraph(depth=1)(kit.state("Ann"), kit.context(chat))
    assert kit.texts(after) == [
        "Ann -> directed_by_reverse -> One",
        "Ann -> directed_by_reverse -> Two",
    ]
    assert (
        after.paths.scores == (0.3, 0.3)
        and "holds no ratings of entities" in after.trace[-1].notes[0]
    )


def test_unreadable_relation_ratings_end_the_walk(kit):
    chat = Script(ratings((1, 8)), NO, "?")
    after = ThinkOnGraph(depth=3)(kit.state("One"), kit.context(chat))
    assert (
        kit.texts(after) == ["One -> directed_by -> Ann"]
        and "holds no ratings of relations" in after.trace[-1].notes[-1]
    )
    nothing = ThinkOnGraph()(kit.state("One"), kit.context(Script("?")))
    assert nothing.paths.items == () and nothing.answer is None


def test_plain_text_ratings_are_parsed(kit):
    after = ThinkOnGraph(depth=1)(
        kit.state("One"), kit.context(Script("1. (score 3)\n2: 9\n7: 8", YES))
    )
    assert after.paths.scores == (0.9, 0.3) and "not in the list" in after.trace[-1].notes[0]


def test_empty_rating_means_nothing_helps(kit):
    after = ThinkOnGraph()(kit.state("One"), kit.context(Script(ratings())))
    assert after.paths.items == () and after.trace[-1].notes == ()


def test_scorer_without_scores_keeps_candidates_equal(kit):
    table = kit.Table({"directed_by": 2.0, "has_genre": 0.0})
    after = ThinkOnGraph(model="bm25", depth=1)(
        kit.state("One"), kit.context(Script(YES), bm25=table)
    )
    assert kit.texts(after) == ["One -> directed_by -> Ann"] and after.paths.scores == (2.0,)
    blind = ThinkOnGraph(model="bm25", depth=1)(
        kit.state("One"), kit.context(Script(YES), bm25=kit.Table({}))
    )
    assert blind.paths.scores == (0.5, 0.5)


def test_entities_are_sampled_and_unnamed_ids_skipped(tmp_path):
    hub = build([("hub", "r", f"leaf {i:02}") for i in range(20)], tmp_path / "hub", "hub", "both")
    told = []
    for _ in range(2):
        chat = Script(ratings((1, 10)), ratings((1, 10), (5, 5)), YES)
        state = State(Question("q"), (0,))
        after = ThinkOnGraph(depth=1)(state, Context(hub, Environment(_OnlyRelations(chat))))
        told.append((listed_relations(chat.asked[1]), after.paths.items))
    assert told[0] == told[1] and len(told[0][0]) == 5 and len(after.subgraph.nodes) == 21
    bare = build(
        [("hub", "r", "m.0abc1"), ("hub", "r", "g.1xyz"), ("hub", "type.object.name", "x")],
        tmp_path / "bare",
        "bare",
        "both",
    )
    # Unnamed nodes (m.0abc1, g.1xyz) and Freebase's internal relation are not rated.
    chat = Script(ratings((1, 10)), YES)
    after = ThinkOnGraph(depth=1)(
        State(Question("q"), bare.nodes_named("hub")),
        Context(bare, Environment(_OnlyRelations(chat))),
    )
    assert listed_relations(chat.asked[0]) == ["r"] and after.paths.scores == (0.5, 0.5)


def test_two_seeds_have_separate_frames(kit):
    # The ratings are for has_genre of One, and for the first relation of Two.
    chat = Script(ratings((2, 9)), ratings((1, 4)), YES)
    after = ThinkOnGraph(depth=1)(kit.state("One", "Two"), kit.context(chat))
    assert [frame.title for frame in after.trace[-1].frames] == ["hop 1 from One", "hop 1 from Two"]
    assert kit.texts(after) == ["One -> has_genre -> Drama", "Two -> directed_by -> Ann"]


class _OnlyRelations:
    def __init__(self, chat):
        self._chat = chat

    def chat(self, role):
        return self._chat
