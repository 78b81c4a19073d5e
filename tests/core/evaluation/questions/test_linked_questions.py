"""Questions to two linked passages, by recorded replies.

The tests say which pairs are asked for, what is refused, and the set that comes of them.
"""

from __future__ import annotations

import json

import pytest

from core.builds import find_build, run_build
from core.cli import EXIT_OK, EXIT_WRONG_INPUT, main
from core.corpus import Document, new_folder, open_corpus, write_corpus
from core.corpus.links import DocumentLink
from core.engine import Engine
from core.errors import BadInput
from core.evaluation.questions.linked_questions import LinkedQuestionWriter, gold_name, linked_pairs
from core.models.base import ChatReply
from core.runtime.jobs import Job
from core.watch import NO_WATCH
from tests.core.operators.nodes.kit import corpus_graph
from tests.films import Parrot, Written
from tests.notes import NoteWith

GRAPH = corpus_graph()  # a-b, c-a, b-d, d-c, d-e; f and g alone


class ReplyAuthor(Parrot):
    """Gives the replies in their order, then a question to what it reads."""

    def __init__(self, *replies):
        super().__init__("")
        self.replies = list(replies)

    def reply(self, messages, *, schema=None, watch=NO_WATCH, **_):
        self.asked.append(messages[-1]["content"])
        said = self.replies.pop(0) if self.replies else f"What has number {len(self.asked)}?"
        return ChatReply(
            said if said.startswith("{") or "?" not in said else json.dumps({"question": said}),
            50,
            20,
        )


@pytest.fixture
def corpus(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    texts = {"a": "Apples and pears.", "b": "Pears and plums.", "c": "Cider of apples."}
    return write_corpus(
        new_folder("fruit"),
        [Document(id, text) for id, text in texts.items()],
        links=[DocumentLink("a", "b"), DocumentLink("c", "a")],
    )


def written(corpus, author, count=3):
    return LinkedQuestionWriter(corpus, GRAPH, Written(author), count)(
        Job("test", lambda job: None)
    )


def test_pairs_are_linked_passages_of_different_documents():
    names = [tuple(GRAPH.names(pair)) for pair in linked_pairs(GRAPH)]
    assert sorted(names) == [
        ("a", "b"),
        ("b", "d"),
        ("c", "a"),
        ("d", "c"),
        ("d", "e"),
    ] and linked_pairs(GRAPH) == linked_pairs(GRAPH)
    assert (
        linked_pairs(GRAPH, seed=1) != linked_pairs(GRAPH)
        and linked_pairs(corpus_graph(links=[])) == []
    )


def test_the_gold_of_a_question_is_both_passages(corpus):
    author = ReplyAuthor()
    found = written(corpus, author)
    assert [one.id for one in found.questions] == [
        "linked-1",
        "linked-2",
        "linked-3",
    ] and found.notes == ()
    assert [one.gold for one in found.questions] == [
        tuple(GRAPH.names(pair)) for pair in linked_pairs(GRAPH)[:3]
    ]
    assert len(author.asked) == 3 and all(one.abstract for one in found.questions)


def test_what_is_no_question_is_counted_and_the_next_pair_asked(corpus):
    found = written(
        corpus,
        ReplyAuthor(
            "I cannot", "Which fruit does the second passage name?", "What is it?", "What is it?"
        ),
    )
    assert [one.text for one in found.questions][:1] == ["What is it?"] and len(
        found.questions
    ) == 2
    assert NoteWith(1, "5 pairs", "no question") in found.notes
    assert any("speaks of a passage" in note for note in found.notes) and any(
        "made already" in note for note in found.notes
    )
    assert found.notes[-1] == NoteWith(2, 3, "questions")


def test_without_links_or_questions_it_is_a_sentence(corpus):
    with pytest.raises(BadInput, match="No question came of it"):
        written(corpus, ReplyAuthor(*["no"] * 9))
    with pytest.raises(BadInput, match="no links between passages"):
        LinkedQuestionWriter(corpus, corpus_graph(links=[]), Written(ReplyAuthor()), 1)(
            Job("test", lambda job: None)
        )
    with pytest.raises(BadInput, match="can be written, not 0"):
        LinkedQuestionWriter(corpus, GRAPH, Written(ReplyAuthor()), 0)


def test_a_passage_of_a_longer_document_is_named_by_a_sentence(corpus):
    chunks = type(GRAPH.columns.chunks).from_columns(
        id=["d#0"],
        document=["d"],
        title=[""],
        text=["Short. " + "A sentence that is long enough to name it."],
        tokens=[9],
    )
    assert (
        gold_name(chunks, 0) == "d\nA sentence that is long enough to name it."
        and gold_name(GRAPH.columns.chunks, 0) == "a"
    )


def test_the_command_saves_a_set(corpus, capsys):
    engine = Engine(Written(ReplyAuthor()))
    assert (
        main(["corpus", "write-questions", "fruit", "--linked", "2"], lambda: engine)
        == EXIT_WRONG_INPUT
        and "is not built yet" in capsys.readouterr().err
    )
    line = "WholeDocuments() >> GivenLinks()"
    run_build(corpus, find_build(line), engine.models)
    for _ in range(2):  # again: the set takes the place of the one before
        assert (
            main(
                ["corpus", "write-questions", "fruit", "--linked", "2", "--graph", line],
                lambda: engine,
            )
            == EXIT_OK
        )
    assert "2 questions of fruit are saved as fruit-linked" in capsys.readouterr().out
    one = open_corpus("fruit")
    assert "two linked passages" in one.sets["fruit-linked"] and {
        frozenset(q.gold) for q in one.questions("fruit-linked")
    } == {frozenset("ab"), frozenset("ac")}
    engine.jobs.stop()
