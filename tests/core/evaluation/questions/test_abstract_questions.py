"""Abstract questions written by recorded replies.

The tests are on the recipe, what cannot be read, what is kept, and the set that comes of it.
"""

import json
from dataclasses import replace

import pytest

from core.cli import EXIT_OK, EXIT_WRONG_INPUT, main
from core.corpus import Document, corpora, new_folder, open_corpus, write_corpus
from core.corpus import catalogue as shipping
from core.engine import Engine
from core.errors import BadInput, RunCancelled
from core.evaluation.questions.abstract_questions import (
    AbstractQuestionWriter,
    Recipe,
    complete_sentences,
    parse_lines,
    sample_passages,
)
from core.evaluation.questions.question_sets import check_set_name, save_question_set
from core.models.base import ChatReply
from core.prompts import load_prompts
from core.runtime.jobs import Job
from core.types import Question
from core.watch import NO_WATCH
from tests.films import Parrot, Written
from tests.notes import NoteWith

DOCUMENTS = (
    Document(
        "carol", "Marley was dead, to begin with. Scrooge was his partner.", "A Christmas Carol"
    ),
    Document(
        "fred", "Fred, the nephew of {Scrooge}, wished his uncle a merry Christmas.", "The nephew"
    ),
)
SMALL = Recipe(2, 1, 2)


class ListAuthor(Parrot):
    """Writes lists as long as they are asked for; `spoil(prompt, number)` may give another reply."""

    def __init__(self, spoil=lambda name, number: None):
        super().__init__("")
        self.spoil, self.names = spoil, []

    def reply(self, messages, *, schema=None, watch=NO_WATCH, **_):
        watch.check()
        name = next(iter(schema["properties"])) if schema else "about"
        self.names.append(name)
        self.asked.append(messages)
        return ChatReply(self.spoil(name, len(self.names)) or self._list(name, schema), 50, 20)

    def _list(self, name, schema):
        if name == "about":
            return "It is about\na miser."
        count = schema["properties"][name]["minItems"]
        lines = [f"{name} {len(self.names)}.{i}{'?' * (name == 'questions')}" for i in range(count)]
        return json.dumps(
            {
                name: [{"name": line, "about": "wants it"} for line in lines]
                if name == "users"
                else lines
            }
        )


@pytest.fixture
def corpus(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    return write_corpus(
        new_folder("carols"),
        DOCUMENTS,
        sets={"carols": ("Carols", (Question("Who?", "q", answers=("Fred",)),))},
    )


def writing(corpus, author, recipe=SMALL, **how):
    return AbstractQuestionWriter(corpus, Written(author), recipe, **how)


def test_every_user_has_tasks_and_every_task_has_questions(corpus):
    author = ListAuthor()
    found = writing(corpus, author)(Job("q"))
    assert [one.id for one in found.questions] == ["u1-t1-q1", "u1-t1-q2", "u2-t1-q1", "u2-t1-q2"]
    assert (
        author.names == ["about", "users", "tasks", "questions", "tasks", "questions"]
        and SMALL.replies == 6
    )
    assert found.about == "It is about a miser." and found.notes == ()
    asked = [one[1]["content"] for one in author.asked]
    assert "{Scrooge}" in asked[0] and "The nephew: Fred" in asked[0]
    assert (
        "It is about a miser." in asked[3]
        and "users 2.0: wants it" in asked[3]
        and "tasks 3.0" in asked[3]
    )


def test_the_papers_recipe_makes_125():
    assert (Recipe().total, Recipe().replies, Recipe().words()) == (
        125,
        32,
        "5 users x 5 tasks x 5 questions",
    )
    with pytest.raises(BadInput, match="1 to 20"):
        Recipe(users=0)


def test_replies_that_cannot_be_read_are_told_and_cost_their_own_questions(corpus):
    found = writing(corpus, ListAuthor(lambda name, number: "no idea" if number == 4 else None))(
        Job("q")
    )
    assert [one.id for one in found.questions] == ["u2-t1-q1", "u2-t1-q2"]
    assert found.notes == (NoteWith(1, 6, "replies", "“no idea”"), NoteWith(2, 4, "questions"))


def test_questions_that_are_asked_twice_are_kept_once(corpus):
    twice = lambda name, number: (
        json.dumps({"questions": ["What of it?", "What OF it?"]}) if name == "questions" else None
    )
    found = writing(corpus, ListAuthor(twice))(Job("q"))
    assert [one.text for one in found.questions] == ["What of it?"]
    assert found.notes == (NoteWith(1, "twice"), NoteWith(1, 4, "questions"))


def test_questions_that_ask_for_one_fact_are_told(corpus):
    """Two of three replies of Qwen2.5-Coder-0.5B on A Christmas Carol, which was asked for overviews."""
    lines = ["Who is Bob Cratchit's son?", "How many ghosts come?", "How does the miser change?"]
    small = ListAuthor(
        lambda name, number: json.dumps({"questions": lines}) if name == "questions" else None
    )
    found = writing(corpus, small, Recipe(1, 1, 3))(Job("q"))
    (told,) = found.notes
    assert len(found.questions) == 3 and told.startswith(
        "2 of 3 questions begin with who, when, where or how many"
    )


def test_what_is_no_question_is_left_out(corpus):
    """A reply of Qwen2.5-Coder-0.5B, which gave the user's description for a question."""
    lines = [
        "Alice is a clerk to a merchant and is a son of Bob Cratchit.",
        "What is Bob Cratchit's role as a clerk?",
    ]
    small = ListAuthor(
        lambda name, number: json.dumps({"questions": lines}) if name == "questions" else None
    )
    found = writing(corpus, small, Recipe(1, 1, 2))(Job("q"))
    assert [one.text for one in found.questions] == lines[1:]
    assert found.notes == (NoteWith("1 line", "no question"), NoteWith(1, 2, "questions"))


@pytest.mark.parametrize("finish", ["length", "repeat"])
def test_what_it_is_about_ends_with_a_whole_sentence(corpus, finish):
    cut = "It is about a miser. He learns to give, as the nephew of the prec"
    author = ListAuthor(lambda name, number: cut if name == "about" else None)
    reply = author.reply
    author.reply = lambda *given, **how: replace(reply(*given, **how), finish=finish)
    assert writing(corpus, author)(Job("q")).about == "It is about a miser."
    assert complete_sentences("no end of a sen") == "no end of a sen"


def test_where_nothing_can_be_read_there_is_no_set(corpus):
    with pytest.raises(BadInput, match="No question came of it. 1 of 2 replies could not be read"):
        writing(corpus, ListAuthor(lambda name, number: "no" if name == "users" else None))(
            Job("q")
        )


def test_what_it_is_about_may_be_told_and_writing_goes_on_where_it_stopped(corpus):
    job, author = Job("q"), ListAuthor()
    author.spoil = lambda name, number: job.cancel() if number == 3 else None
    with pytest.raises(RunCancelled):
        writing(corpus, author, about="Ghosts\nand money.")(job)
    later = ListAuthor()
    found = writing(corpus, later, about="Ghosts\nand money.")(Job("q"))
    assert (
        len(later.names) == 2 and len(found.questions) == 4 and found.about == "Ghosts and money."
    )
    assert "about" not in author.names


def test_no_prompt_shows_a_list_that_a_small_model_could_copy():
    """Qwen2.5-Coder-0.5B, shown `{"tasks": ["one sentence each"]}` as the form of a reply, replied with that very line."""
    for name in ("users", "tasks", "questions"):
        assert "[" not in load_prompts("questions")[name]["system"]
    assert (
        parse_lines("tasks", '{"tasks": ["...", "Read it"]}') == ("Read it",)
        and parse_lines("tasks", '{"tasks": ["..."]}') is None
    )


@pytest.mark.parametrize(
    "reply", ["", "[]", '{"tasks": 3}', '{"tasks": [1, null]}', '{"users": ["a"]}', "[" * 9999]
)
def test_what_is_no_list_is_none(reply):
    assert parse_lines("tasks", reply) is None


def test_passages_come_from_all_over(corpus, tmp_path):
    many = write_corpus(
        tmp_path / "many",
        [Document(f"d{i:02}", f"Text {i}. More.", f"Title {i}") for i in range(50)],
    )
    lines = sample_passages(many, 5).splitlines()
    assert [line[2:10] for line in lines] == [
        "Title 0:",
        "Title 10",
        "Title 20",
        "Title 30",
        "Title 40",
    ]
    book = write_corpus(
        tmp_path / "book", [Document("book", " ".join(f"Sentence number {i}." for i in range(400)))]
    )
    told = sample_passages(book, 4).splitlines()
    assert len(told) == 4 and told[0].startswith("- Sentence number 0.") and "number 2" in told[2]


def test_they_become_a_set_of_the_corpus_even_of_one_that_ships(corpus, monkeypatch):
    found = writing(corpus, ListAuthor())(Job("q"))
    assert all(question.abstract for question in found.questions)
    assert (
        save_question_set(corpus, found, "carols-abstract", "Parrot").questions("carols-abstract")
        == found.questions
    )
    assert "written by Parrot" in corpora()["carols"].sets["carols-abstract"]
    monkeypatch.setattr(shipping, "READING_VERSION", 7)
    book = open_corpus("christmas-carol")
    save_question_set(book, found, "book-abstract", "Parrot")
    monkeypatch.setattr(shipping, "READING_VERSION", 8)  # as a new version that reads it anew
    assert open_corpus("christmas-carol").questions("book-abstract") == found.questions
    assert (
        "book-abstract" in corpora()["christmas-carol"].sets
        and book.digest == open_corpus("christmas-carol").digest
    )


def test_names_that_cannot_be(corpus):
    for name, sentence in (
        ("No Name", "such as carols-abstract"),
        ("carols", "has correct answers"),
        ("hotpotqa", "has a question set"),
    ):
        with pytest.raises(BadInput, match=sentence):
            check_set_name(corpus, name)


def test_on_the_command_line(corpus, capsys):
    engine = Engine(Written(ListAuthor()))
    told = [
        "corpus",
        "write-questions",
        "carols",
        "--users",
        "2",
        "--tasks",
        "1",
        "--questions",
        "2",
    ]
    assert main(told, lambda: engine) == EXIT_OK
    out = capsys.readouterr().out
    assert (
        "4 questions of carols are saved as carols-abstract" in out
        and "About: It is about a miser." in out
    )
    assert main(["corpus", "write-questions", "nowhere"], lambda: engine) == EXIT_WRONG_INPUT
    line = "BuiltGraph() >> SparseChunks(keep=1) >> AnswerFromTables()"
    assert (
        main(
            ["evaluate", "--set", "carols-abstract", "--methods", line, "--no-llm"], lambda: engine
        )
        == EXIT_OK
    )
