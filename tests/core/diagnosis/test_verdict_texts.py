"""The sentences of a comparison of documents, on lanes that are written down."""

from __future__ import annotations

import pytest

from core.comparison.lane import MethodComparison, MethodLane
from core.corpus import Document, write_corpus
from core.diagnosis.lost_passages import title_of_chunk
from core.diagnosis.verdict.verdict_texts import ADD_GOLD_HINT, ONLY_IN_DERIVED_TEXTS
from core.diagnosis.verdict.verdict_words import explain_comparison
from core.graph.building.text_graph import assemble
from core.graph.columns import Table
from core.methods.catalogue import Method
from core.operators.text import parse_line
from core.sources import CorpusSource, SourceQuestion
from core.types import Prompt, Question, Ranking, Repair, State, Step
from tests.core.operators.texts.kit import CHUNKS, plain, story


@pytest.fixture
def corpus(tmp_path):
    return write_corpus(
        tmp_path / "carols",
        [Document("carol", " ".join(CHUNKS[:3])), Document("turkey", CHUNKS[3])],
    )


def compared(corpus, question, *states, graph=None, repair=None):
    ask = SourceQuestion(CorpusSource("carols", graph or plain(), corpus), question, ())
    line, lanes = parse_line("SparseChunks() >> AnswerFromTables()"), []
    for name, state in zip("ABCD", states):
        one = (state.replace(question=question),)
        lanes.append(MethodLane(ask, Method(name, name, line), one, repair=repair))
    return explain_comparison(MethodComparison(ask, lanes))


def found(*rows, before=(), shown=None, answer=None, keep=0):
    cut = None
    if before:
        cut = Ranking("chunk", tuple(before), tuple(1 / i for i in range(1, len(before) + 1)))
    step = Step("SparseChunks", "retrieve", {"keep": keep} if keep else {}, 0.0, before_cut=cut)
    prompt = None if shown is None else Prompt((), 0, hits={"chunk": shown})
    return State(
        Question("q"), chunks=Ranking("chunk", rows), prompt=prompt, answer=answer, trace=(step,)
    )


BOTH = Question("q", gold=("carol", "turkey"))
NEVER = "Never read “The turkey”:"


@pytest.mark.parametrize(
    "state, stage, head, text",
    [
        (found(3, 0, shown=2), None, "Both passages with the evidence are in the prompt.", ""),
        (found(3, 0), None, "Both passages with the evidence are found.", ""),
        (
            found(0, before=(0, 1, 3), shown=1),
            "retrieved",
            NEVER,
            "it had rank 3 of 3 and was cut by chunks by words.",
        ),
        (
            found(0, before=(0, 1, 3), shown=1, keep=2),
            "retrieved",
            NEVER,
            "it had rank 3, and only the top 2 are kept.",
        ),
        (found(0, shown=1), "retrieved", NEVER, "no step found it."),
        (
            found(0, 3, shown=1),
            "prompt",
            NEVER,
            "it was found at rank 2, and the prompt had no room for it.",
        ),
        (
            found(1, 2, before=(1, 2, 3)),
            "retrieved",
            "Never found “The turkey”:",
            "it had rank 3 of 3 and was cut by chunks by words.",
        ),
    ],
)
def test_where_a_passage_was_lost(corpus, state, stage, head, text):
    (one,) = compared(corpus, BOTH, state).lanes
    assert (one.stage, one.head, one.text) == (stage, head, text)


def test_the_change_that_brings_it_in_is_part_of_the_sentence(corpus):
    brings = Repair(
        "SparseChunks(keep=3) >> AnswerFromTables()",
        "Keep 3 passages → 2 of 2 evidence passages",
        2,
        2,
    )
    cut = found(0, before=(0, 1, 3), shown=1, keep=2)
    (one,) = compared(corpus, BOTH, cut, repair=brings).lanes
    (plain,) = compared(corpus, BOTH, cut).lanes
    assert one.text == f"{plain.text[:-1]}; keep 3 passages to bring it in."
    assert [(loss.name, loss.rank) for loss in one.losses] == [("The turkey", 3)]


def test_more_than_one_lost_are_counted(corpus):
    (one,) = compared(corpus, BOTH, found(1, shown=0)).lanes
    assert len(one.losses) == 2 and one.text.endswith(" One more passage was missed.")


MARLEY = Question("q", answers=("Marley",))


@pytest.mark.parametrize(
    "question, state, graph, stage, head, text",
    [
        (
            Question("q", answers=("Marley",), gold=("carol",)),
            found(0, shown=1, answer="Fred"),
            None,
            "answer",
            "The passage with the evidence is in the prompt.",
            "Yet the answer does not contain the correct answer.",
        ),
        (
            Question("q", gold=("gone",)),
            found(0),
            None,
            "corpus",
            "Never found “gone”:",
            "it is not among the documents.",
        ),
        (
            Question("q", gold=("turkey",)),
            found(0),
            story,
            "graph",
            "Never found “The turkey”:",
            "nothing of it is in the graph.",
        ),
        (
            MARLEY,
            found(3, shown=1, answer="Fred"),
            None,
            "retrieved",
            "Correct answer not in the answer:",
            "“Marley” is in nothing that was found.",
        ),
        (
            MARLEY,
            found(0, answer="It was Marley."),
            None,
            None,
            "Correct answer in the answer:",
            "“Marley”.",
        ),
        (Question("q"), found(1, 3), None, None, "", "First of 2 passages: “carol #1”."),
        (Question("q"), found(3), None, None, "", "First of 1 passage: “The turkey”."),
    ],
)
def test_each_outcome_of_a_lane_is_said(corpus, question, state, graph, stage, head, text):
    (one,) = compared(corpus, question, state, graph=graph and graph()).lanes
    assert (one.stage, one.head, one.text) == (stage, head, text)
    if question.answers:
        assert (one.n_right, one.n_answers) == (int(stage is None), 1)


BEST, WORSE = found(0, 3, shown=2), found(0, shown=1)


@pytest.mark.parametrize(
    "question, states, text",
    [
        (BOTH, (BEST, WORSE), "Passages with the evidence in the prompt: “A” 2 of 2; “B” 1 of 2."),
        (BOTH, (BEST, BEST), "Every prompt shows both passages with the evidence."),
        (
            MARLEY,
            (found(0, answer="Marley"), found(0, answer="Fred")),
            "Only “A” found the correct answer.",
        ),
    ],
)
def test_a_sentence_for_all(corpus, question, states, text):
    assert compared(corpus, question, *states).text == text


def test_where_no_answer_is_known_one_is_asked_for(corpus):
    assert compared(corpus, Question("q"), BEST).text == ADD_GOLD_HINT


def test_a_lane_without_documents_is_left_out(corpus):
    bare = State(Question("q"), answer="So.", trace=(Step("Answer", "generate", {}, 0.0),))
    told = compared(corpus, BOTH, BEST, bare)
    assert "“A” 2 of 2" in told.text and "“B”" not in told.text
    assert told.lanes[1].losses == () and "without documents" in told.lanes[1].text


def test_a_title_that_ends_with_a_full_stop_has_none_inside_a_sentence():
    chunks = Table.from_columns(
        id=["a", "b"],
        document=["a", "b"],
        title=["On turkeys.", " ."],
        text=["One.", "Two."],
        tokens=[1, 1],
    )
    graph = assemble("chunks", [], [], {}, {}, chunks)
    assert [title_of_chunk(graph, row) for row in (0, 1)] == ["On turkeys", "b"]


def told_after_cancel(corpus, *states, reader=True):
    """The verdict on lanes of which those that say nothing were cancelled once they had retrieved."""
    question = Question("q", answers=("turkey",))
    ask = SourceQuestion(CorpusSource("carols", plain(), corpus), question, (), uses_reader=reader)
    line, lanes = parse_line("SparseChunks() >> AnswerFromTables()"), []
    for name, state in zip("ABCD", states):
        one = (state.replace(question=question),)
        status = "cancelled" if state.answer is None else "done"
        lanes.append(MethodLane(ask, Method(name, name, line), one, status=status))
    return explain_comparison(MethodComparison(ask, lanes))


SILENT = found(3)


@pytest.mark.parametrize(
    "states, verdict",
    [
        (
            (found(3, answer="no"), found(3, answer="none"), SILENT, SILENT),
            "None of the two methods that answered found the correct answer."
            " “C” and “D” were cancelled before answering.",
        ),
        (
            (found(3, answer="no"), SILENT),
            "The one method that answered did not find the correct answer."
            " “B” was cancelled before answering.",
        ),
        (
            (found(3, answer="a turkey"), found(3, answer="no"), SILENT),
            "Only “A” found the correct answer. “C” was cancelled before answering.",
        ),
    ],
)
def test_a_lane_that_was_cancelled_before_it_answered_is_not_counted(corpus, states, verdict):
    found_out = told_after_cancel(corpus, *states)
    assert found_out.text == verdict
    silent = [one for one, state in zip(found_out.lanes, states) if state.answer is None]
    assert all(one.stage == "answer" and one.n_right is None for one in silent)


def test_the_sentence_on_words_that_outlive_their_document_contradicts_no_bar(tmp_path):
    corpus = write_corpus(tmp_path / "turkeys", [Document("turkey", CHUNKS[3])])
    question = Question("q", answers=("Cratchit",))
    prompt = Prompt(({"role": "user", "content": "Cratchit: a poor clerk."},), 0)
    state = found(1, answer="nobody").replace(prompt=prompt)
    (one,) = compared(corpus, question, state, graph=story()).lanes
    assert one.stage == "answer"
    assert ONLY_IN_DERIVED_TEXTS in one.text
