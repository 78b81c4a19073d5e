"""Answers from passages: the prompt, the parsed reply, and passages that do not fit."""

import pytest

from core.errors import BadInput
from core.graph.building.text_graph import assemble
from core.types import Question, Ranking, State
from tests.core.operators.texts.kit import chunk_table
from tests.films import Parrot, Written

FOUND = State(Question("Who is the clerk?"), chunks=Ranking("chunk", (1, 3), (0.9, 0.5)))


def shown(after):
    return after.prompt.messages[1]["content"]


def test_passages_have_numbers_and_titles(told):
    after = told.one("AnswerFromPassages", FOUND, models=Written(Parrot(" Cratchit ")))
    assert (
        after.answer == "Cratchit"
        and after.prompt.hits == {"chunk": 2}
        and after.trace[0].usage.calls == 1
    )
    assert "[1] Fred, the nephew" in shown(
        after
    ) and "[2] The turkey\nThe turkey was as big" in shown(after)


def test_context_has_no_numbers(told):
    assert "[1]" not in shown(told.one("AnswerFromPassages", FOUND, form="context", passages=1))


def test_only_the_best_passages_are_shown(told):
    after = told.one("AnswerFromPassages", FOUND, passages=1)
    assert after.prompt.hits == {"chunk": 1} and "turkey" not in shown(after)


@pytest.mark.parametrize(
    "reply, answer, note",
    [
        ("Thought: the clerk\nis he. Answer: Cratchit", "Cratchit", "Thought: the clerk is he."),
        ("Answer: Cratchit", "Cratchit", ""),
        ("Cratchit", "Cratchit", "has no “Answer:”"),
        ("", "", "has no “Answer:”"),
        ("Answer: no. Answer: Cratchit", "Cratchit", "Thought:"),
    ],
)
def test_answer_follows_the_last_answer_mark(told, reply, answer, note):
    after = told.one("AnswerFromPassages", FOUND, form="thought", models=Written(Parrot(reply)))
    assert after.answer == answer and note in " ".join(after.trace[0].notes)


def test_last_passages_are_left_out_of_a_full_prompt(told):
    alone = Parrot("").count_tokens(
        told.one("AnswerFromPassages", FOUND, passages=1).prompt.messages
    )
    after = told.one(
        "AnswerFromPassages",
        FOUND,
        max_tokens=10,
        models=Written(Parrot("x", context=alone + 10 + 8)),
    )
    assert (
        after.prompt.hits == {"chunk": 1} and "Only 1 of 2 passages fit" in after.trace[0].notes[0]
    )


def test_question_that_does_not_fit_is_refused(told):
    with pytest.raises(BadInput, match="The question alone needs"):
        told.one("AnswerFromPassages", FOUND, models=Written(Parrot("x", context=270)))


def test_missing_passages_are_reported(told):
    after = told.one("AnswerFromPassages", State(Question("q"), chunks=Ranking("chunk", (), ())))
    assert "(nothing was found)" in shown(after) and after.prompt.hits == {}


def test_tree_nodes_are_shown_as_texts(told):
    """Nodes: a summary (0.9) over the first two chunks, and these chunks (carol#1 0.4)."""
    ids = ["carol#0", "carol#1", "Summary 1.1"]
    columns = {
        "description": ["", "", "Marley, Scrooge and Fred."],
        "level": [0, 0, 1],
        "chunks": [[0], [1], [0, 1]],
    }
    tree = assemble(
        "tree", ids, [("Summary 1.1", "summarises", "carol#0")], columns, {}, chunk_table()
    )
    (summary,), (fred,) = tree.nodes_named("Summary 1.1"), tree.nodes_named("carol#1")
    start = State(Question("Who is Fred?"), nodes=Ranking("node", (summary, fred), (0.9, 0.4)))
    after = told.one("AnswerFromPassages", start, form="context", on=tree)
    assert "Marley, Scrooge and Fred.\n\nFred, the nephew of Scrooge" in shown(
        after
    ) and after.prompt.hits == {"node": 2}
    told_to_all = told.one("NearestSentence", start, on=tree)
    assert told_to_all.excerpt.chunk == 1 and told_to_all.excerpt.text.startswith("Fred")


def test_prompt_is_written_without_a_model(told):
    after = told.one("AnswerFromPassages", FOUND, answering=False)
    assert after.answer is None and after.prompt.hits == {"chunk": 2}


def test_names_without_a_model_come_from_the_graph(told):
    after = told.state("NamesInQuestion(by='answer')", "Is Tim lame?", answering=False)
    assert (
        after.names == ("Tim",)
        and after.trace[0].usage.calls == 0
        and "No language model is asked" in after.trace[0].notes[0]
    )
