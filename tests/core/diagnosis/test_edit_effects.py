"""Answers of lanes before and after something is taken away from their graph."""

from __future__ import annotations

import pytest

from core.comparison.lane_run import LaneListener, LaneRun, PrefixCache
from core.corpus import Document, write_corpus
from core.diagnosis.edit_effects import compare_edited, edit_summary
from core.engine import Engine, MethodComparison
from core.environment import Environment
from core.errors import BadInput
from core.graph.edits import Edit
from core.operators.text import parse_line
from core.runtime.jobs import JOB_RUNNING
from core.sources import CorpusSource, GraphSource
from core.types import Question
from tests.films import Bag, Written
from tests.lanes import lane_of

ALL = "EgoNetwork(hops=2) >> ShortestPaths()"  # every path of up to two hops from the entity
NEAR = "EgoNetwork(hops=1) >> ShortestPaths(hops=1)"


@pytest.fixture
def asked(kit):
    """`asked(edits, lines, question)`: the lanes of the graph of five films without what the edits take."""

    def make(edits=(), lines=(ALL, NEAR), entity="One", answers=("Drama",)):
        source = GraphSource("films", kit.graph, edits=tuple(edits)).open(None)
        ask = source.ask(
            Question(f"who directed {entity}", entities=(entity,), answers=answers),
            uses_model=False,
        )
        lanes = []
        for i, line in enumerate(lines):
            run = LaneRun(ask, parse_line(line), Environment(kit.Written(encoder=kit.Table({}))))
            run.retrieve(LaneListener())
            lanes.append(lane_of(run, f"l{i}", f"No. {i + 1}"))
        return MethodComparison(ask, lanes)

    return make


def node(name):
    return Edit("node", (name,))


def test_a_lane_that_stood_on_what_is_taken_away_says_something_else(asked):
    """Ann directed One; without her the genre is all that is left."""
    before, now = asked(lines=(NEAR,)), asked([node("Ann")], lines=(NEAR,))
    (one,) = compare_edited(before, now)
    assert (
        one.read
        and not one.is_unchanged
        and (one.lost, one.new, one.right) == (("Ann",), ("Drama",), (0, 1))
    )


def test_a_lane_whose_answer_did_not_rest_on_it_says_so(asked):
    """1999 is no step of One -> directed_by -> Ann, nor is Drama."""
    for name in ("1999", "Drama"):
        now = asked([node(name)])
        found = compare_edited(asked(), now)
        assert [(one.is_unchanged, one.read) for one in found] == 2 * [(True, False)]
        assert "; No. 1 and No. 2 " in edit_summary(now, found)


def test_a_lane_that_finds_another_way_names_it(asked):
    """Ann directed and wrote Two; without the first triple the second leads to her."""
    edit = Edit("edge", ("Two", "directed_by", "Ann"))
    now = asked([edit], entity="Two", lines=(NEAR,))
    (one,) = compare_edited(asked(entity="Two", lines=(NEAR,)), now)
    assert one.is_unchanged and one.read


def test_what_the_graph_has_not_changes_nothing(asked):
    (one, _) = compare_edited(asked(), asked([node("Nobody")]))
    assert one.is_unchanged and not one.read


@pytest.mark.parametrize(
    "edit, how, text, for_all",
    [
        (node("Ann"), {}, "No longer says Ann, now says Drama.", "No. 1 depended on it."),
        (
            node("1999"),
            {},
            "Same answer, which did not depend on it.",
            "No method depended on it; No. 1 had not used it.",
        ),
        (
            Edit("edge", ("Two", "directed_by", "Ann")),
            {"entity": "Two"},
            "Same answer by another path: Two -> written_by -> Ann.",
            "No method depended on it; No. 1 reached the same answer by another path.",
        ),
        (
            node("Nobody"),
            {},
            "Its graph has no “Nobody”, so nothing changed.",
            "No method depended on it; No. 1 had not used it.",
        ),
        (
            Edit("rename", ("Ann", "Anne")),
            {},
            "Same answer.",
            "No method gave another answer; No. 1 gave the same answer.",
        ),
        (node("Ann"), {"lines": ("EgoNetwork(hops=2)",)}, "No answer, before and now.", ""),
    ],
)
def test_each_outcome_is_said(asked, edit, how, text, for_all):
    how = {"lines": (NEAR,), **how}
    now = asked([edit], **how)
    (one,) = compare_edited(asked(**how), now)
    assert (one.text, edit_summary(now, [one])) == (text, for_all)


def test_a_lane_that_has_not_answered_yet_or_is_new_says_nothing(asked):
    before, now = asked(lines=(ALL,)), asked([node("Ann")])
    now.change_lane(0, retrieved=False, status=JOB_RUNNING)
    assert compare_edited(before, now) == [None, None] and edit_summary(now, [None, None]) == ""


def test_a_lane_that_says_nothing_before_and_now_stood_on_nothing(asked):
    now = asked([node("Ann")], lines=("EgoNetwork(hops=2)",))
    (one,) = compare_edited(asked(lines=("EgoNetwork(hops=2)",)), now)
    assert one.silent and one.is_unchanged and edit_summary(now, [one]) == ""


def test_the_entity_that_a_question_starts_from_can_be_renamed_and_not_taken_away(asked):
    assert asked([Edit("rename", ("One", "Uno"))]).ask.question.entities == ("Uno",)
    with pytest.raises(BadInput, match="was removed"):
        asked([node("One")])


@pytest.fixture
def engine(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    engine = Engine(Written(encoder=Bag()))
    yield engine
    engine.jobs.stop()


def test_without_a_passage_the_next_one_is_found_and_nothing_is_encoded_or_saved(engine, tmp_path):
    documents = (
        Document("a", "red fox den", "A"),
        Document("b", "red fox owl", "B"),
        Document("c", "elk owl bat", "C"),
    )
    corpus, line = (
        write_corpus(tmp_path / "animals", documents),
        "BuiltGraph() >> EmbedQuery() >> VectorChunks(keep=1) >> AnswerFromTables()",
    )

    def run(*edits):
        source = CorpusSource("animals", corpus=corpus, edits=edits)
        ask = engine.prepare_question(
            source, Question("red fox den", gold=("a", "b")), uses_model=False
        )
        lane = LaneRun(ask, parse_line(line), engine.environment, PrefixCache())
        lane.retrieve(LaneListener())
        return MethodComparison(ask, [lane_of(lane, "v", "V")])

    named = lambda one: one.lanes[0].graph.columns.chunks.texts(
        "document", one.lanes[0].state.chunks.items
    )
    before = run()
    files = sorted(path for path in tmp_path.rglob("*"))
    now = run(Edit("passage", ("a",)))
    assert (named(before), named(now)) == (["a"], ["b"]) and sorted(
        path for path in tmp_path.rglob("*")
    ) == files
    assert "a" not in now.ask.source and "a" in before.ask.source
    (one,) = compare_edited(before, now)
    assert one.read and one.lost == ("red fox den",) and one.new == ("red fox owl",)


def test_a_renamed_answer_is_the_same_answer_and_a_known_one_follows(asked):
    """One -> directed_by -> Ann: the reader says her new name, and it is right where hers was."""
    now = asked([Edit("rename", ("Ann", "Anne"))], lines=(NEAR,), answers=("Ann",))
    (one,) = compare_edited(asked(lines=(NEAR,), answers=("Ann",)), now)
    assert now.graph.names(now.lanes[0].state.reader) == ["Anne"] and now.ask.question.answers == (
        "Anne",
    )
    assert one.is_unchanged and one.read and one.right == (1, 1)


def test_a_merge_brings_two_directors_together(asked):
    """Merging Two into One changes nothing of One's answer.

    One is then of 1999. Its answer had not read Two before either.
    """
    now = asked([Edit("merge", ("Two", "One"))], lines=(NEAR,))
    (one,) = compare_edited(asked(lines=(NEAR,)), now)
    assert one.is_unchanged and not one.read


def test_a_text_that_stays_the_same_has_found_no_way(engine, tmp_path):
    """Both passages are read, and the answer is a sentence of the one that stays."""
    documents = (Document("a", "red fox den", "A"), Document("b", "red owl", "B"))
    corpus = write_corpus(tmp_path / "animals", documents)
    line = "BuiltGraph() >> EmbedQuery() >> VectorChunks(keep=2) >> AnswerFromTables()"

    def run(*edits):
        source = CorpusSource("animals", corpus=corpus, edits=edits)
        ask = engine.prepare_question(
            source, Question("red fox den", answers=("bat",)), uses_model=False
        )
        lane = LaneRun(ask, parse_line(line), engine.environment, PrefixCache())
        lane.retrieve(LaneListener())
        return MethodComparison(ask, [lane_of(lane, "v", "V")])

    now = run(Edit("passage", ("b",)))
    (one,) = compare_edited(run(), now)
    assert one.is_unchanged and one.read
    assert "another way" not in edit_summary(now, [one]) + one.text
