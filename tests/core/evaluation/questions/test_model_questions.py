"""Questions by a language model with recorded replies: what passes, and each reason for which one is refused."""

from __future__ import annotations

import json
import re
import threading
import time

import pytest

from core.builds.facts import ChunkEntity, Facts
from core.corpus import Document, new_folder, write_corpus
from core.corpus.chunks import chunk_by_sentences, documents_as_chunks
from core.corpus.quotations import passage_name
from core.errors import RunCancelled
from core.evaluation.questions.model_questions import (
    ANSWER_IN_QUESTION,
    DUPLICATE_QUESTION,
    NO_NAME_IN_QUESTION,
    NOT_ANSWERED,
    NOT_IN_PASSAGE,
    OTHER_PASSAGE_ANSWERS,
    UNREADABLE_REPLY,
    ModelQuestionWriter,
)
from core.models.base import ChatReply
from core.models.chat.saved_replies import CachedChat, SavedReplies
from core.runtime.jobs import Job
from core.runtime.turn import pass_turn_at_once

LONG = (
    " The record goes on for a while and says nothing else that would be of any use to anybody who reads it."
    * 2
)
HARBOUR = f"Ann Lee built the harbour of Oban in 1881.{LONG}"
COPY = f"A plaque in Oban names Ann Lee as the one who built its harbour.{LONG}"
OTHER = f"Ann Lee kept bees in Ayr.{LONG}"
PLACE = re.compile(r"Oban (\d{1,2})")
ASKED = {"question": "Who built the harbour of Oban?", "answer": "Ann Lee"}


class PassageAuthor:
    """A language model that writes `written` of every passage.

    Asked to answer from a passage, it says what `answers` has for it, else that it is not answered.
    """

    context = 4096

    def __init__(self, written, answers=None):
        self.written, self.answers, self.asked = written, answers or {}, []

    def reply(self, messages, *, schema=None, **_):
        passage = messages[1]["content"].split("\n")[1]
        self.asked.append((bool(schema), passage))
        if schema:
            return ChatReply(
                self.written if isinstance(self.written, str) else json.dumps(self.written), 50, 20
            )
        return ChatReply(
            next(
                (said for start, said in self.answers.items() if passage.startswith(start)),
                "Not answered.",
            ),
            50,
            5,
        )


@pytest.fixture
def write_questions(tmp_path, monkeypatch):
    """`write_questions(author, texts, near)`: the questions made of texts, and the reasons.

    The reasons are those against all others. `near` are the rows found for every question.
    """
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    numbers = iter(range(100))

    def make(
        author,
        texts=(HARBOUR,),
        near=(),
        wanted=5,
        seconds=60.0,
        cut=0,
        least=0,
        job=None,
        clock=lambda: 0.0,
    ):
        number = next(numbers)
        corpus = write_corpus(
            new_folder(f"c{number}"), [Document(f"d{i}", text) for i, text in enumerate(texts)]
        )
        chunks = chunk_by_sentences(corpus, cut) if cut else documents_as_chunks(corpus)
        facts = [Facts((ChunkEntity("Ann Lee", "person"), ChunkEntity("Oban", "place")))] * len(
            chunks
        )
        chat = CachedChat(lambda: author, f"author {number}", SavedReplies())
        made = ModelQuestionWriter(
            corpus,
            chunks,
            facts,
            chat,
            lambda text: near,
            wanted,
            seconds,
            min_expected=least,
            clock=clock,
        )(job or Job("q"))
        return made.all_questions(), dict(made.rejections["written"])

    return make


def test_a_question_that_its_passage_alone_answers_is_kept(write_questions):
    author = PassageAuthor(ASKED, {"Ann Lee built": "It was Ann Lee."})
    (question,), left = write_questions(author)
    assert (question.text, question.answers, question.gold, question.hops) == (
        ASKED["question"],
        ("Ann Lee",),
        ("d0",),
        1,
    )
    assert question.id == "written-1" and left == {} and len(author.asked) == 2


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("I cannot.", UNREADABLE_REPLY),
        ({"question": "Name the builder of Oban", "answer": "Ann Lee"}, UNREADABLE_REPLY),
        ({"question": "Who built the harbour of Oban?", "answer": "Tom Reid"}, NOT_IN_PASSAGE),
        ({"question": "Who built the harbour of Oban?", "answer": HARBOUR}, NOT_IN_PASSAGE),
        (
            {"question": "Did Ann Lee build the harbour of Oban?", "answer": "Ann Lee"},
            ANSWER_IN_QUESTION,
        ),
        ({"question": "Who built it?", "answer": "Ann Lee"}, NO_NAME_IN_QUESTION),
        (
            {"question": "Who built the harbour of Oban in this passage?", "answer": "Ann Lee"},
            NO_NAME_IN_QUESTION,
        ),
    ],
)
def test_what_is_refused_without_asking_again(write_questions, written, reason):
    author = PassageAuthor(written, {"Ann Lee built": "Ann Lee"})
    assert write_questions(author) == ((), {reason: 1}) and len(author.asked) == 1


def test_a_question_that_its_passage_does_not_answer_is_refused(write_questions):
    assert write_questions(PassageAuthor(ASKED)) == ((), {NOT_ANSWERED: 1})


def test_a_question_that_another_passage_answers_too_is_refused(write_questions):
    """Both passages about the harbour answer the question, so that it is refused.

    The third passage has the name and no answer. The model is asked about it and says so.
    """
    both = PassageAuthor(ASKED, {"Ann Lee built": "Ann Lee", "A plaque": "Ann Lee"})
    assert write_questions(both, (HARBOUR, COPY), near=(0, 1)) == ((), {OTHER_PASSAGE_ANSWERS: 2})
    other = PassageAuthor(ASKED, {"Ann Lee built": "Ann Lee"})
    kept, left = write_questions(other, (HARBOUR, OTHER), near=(0, 1))
    assert (
        len(kept) == 1
        and left == {NOT_ANSWERED: 1}
        and (False, " ".join(OTHER.split())) in other.asked
    )


def test_a_passage_without_the_answers_words_is_not_read(write_questions):
    author = PassageAuthor(ASKED, {"Ann Lee built": "Ann Lee"})
    write_questions(author, (HARBOUR, f"Bees live in Oban.{LONG}"), near=(1,), wanted=1)
    assert not any(passage.startswith("Bees") for written, passage in author.asked if not written)


def test_the_same_question_counts_once(write_questions):
    author = PassageAuthor(ASKED, {"Ann Lee": "Ann Lee"})
    kept, left = write_questions(author, (HARBOUR, OTHER))
    assert len(kept) == 1 and left == {DUPLICATE_QUESTION: 1}


def test_the_gold_passage_of_a_long_document_is_the_sentence_with_the_answer(write_questions):
    first = "Nothing much was here before the year in which all of it began, " * 3
    author = PassageAuthor(
        {"question": "When was the harbour of Oban built?", "answer": "1881"},
        {"Ann": "In 1881.", "Nothing": "in 1881"},
    )
    kept, _ = write_questions(
        author, (f"{first}and so on. Ann Lee built Oban in 1881.{LONG}",), cut=70
    )
    assert kept[0].gold == (passage_name("d0", "Ann Lee built Oban in 1881."),)


def test_it_is_given_up_where_too_few_would_come(write_questions):
    """The writer gives up at 40 seconds, since too few questions would come.

    It asked at 10, 20 and 30 seconds. At 40 a third of the 99 seconds is over with no question, and
    none of the 8 wanted would come.
    """
    ticks = iter(range(0, 1000, 10))
    texts = [f"{HARBOUR} {i}" for i in range(9)]
    _, left = write_questions(
        PassageAuthor("I cannot."), texts, seconds=99, least=8, clock=lambda: next(ticks)
    )
    assert left == {UNREADABLE_REPLY: 3}


def test_it_ends_when_the_time_is_over_and_when_it_is_cancelled(write_questions):
    ticks = iter(range(0, 1000, 40))
    author = PassageAuthor("I cannot.")
    _, left = write_questions(
        author, [f"{HARBOUR} {i}" for i in range(9)], seconds=60, clock=lambda: next(ticks)
    )
    assert left == {UNREADABLE_REPLY: 1}  # begun at 0, asked at 40, over at 80
    job = Job("q")
    job.stop()
    with pytest.raises(RunCancelled):
        write_questions(author, job=job)


class Served(PassageAuthor):
    """An author that writes a question of two of three passages.

    The first passages are not the first whose replies come. `most` is the most passages that it had
    at a time.
    """

    def __init__(self, max_concurrent):
        super().__init__(ASKED)
        self.max_concurrent, self.now, self.most, self.lock = max_concurrent, 0, 0, threading.Lock()
        self.overlapping = threading.Event()

    def reply(self, messages, *, schema=None, **_):
        place = int(PLACE.search(messages[1]["content"].split("\n")[1])[1])
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
            if self.now == min(2, self.max_concurrent):
                self.overlapping.set()
        with pass_turn_at_once():  # as a client does that waits for a server
            self.overlapping.wait(60)
            time.sleep(0.01 * (place % 4))
        with self.lock:
            self.now -= 1
            self.asked.append(place)
        if schema is None:
            return ChatReply("Ann Lee.", 50, 5)
        said = {"question": f"Who built the harbour of Oban {place}?", "answer": "Ann Lee"}
        return ChatReply(json.dumps(said) if place % 3 else "I cannot.", 50, 20)


def test_a_server_is_asked_about_many_passages_at_a_time_and_gives_what_it_gives_one_by_one(
    write_questions,
):
    texts = [f"Ann Lee built the harbour of Oban {i} in 1881.{LONG}" for i in range(20)]
    one, many = Served(1), Served(4)
    found = [(*write_questions(author, texts), sorted(author.asked)) for author in (one, many)]
    # no passage is asked about that one by one would not come to
    assert found[0] == found[1] and len(found[0][0]) == 5
    assert one.most == 1 < many.most
