"""On which chunk a sentence of the answer rests, and the marked words, on the story."""

import pytest

from core.diagnosis.support import (
    find_supporting_sentences,
    find_supports,
    name_spans,
    support_level,
)
from core.types import Prompt, Question, Ranking, State
from tests.core.operators.texts.kit import plain
from tests.films import Bag


def told(answer, rows=(0, 1, 2, 3), shown=4):
    hits = Ranking("chunk", tuple(rows), tuple(1.0 for _ in rows))
    return State(
        Question("q"), chunks=hits, answer=answer, prompt=Prompt((), 0, hits={"chunk": shown})
    )


def test_each_sentence_rests_on_the_nearest_of_the_shown_chunks():
    answer = "The turkey was big. Scrooge was his partner."
    one, other = find_supports(plain(), told(answer), Bag())
    assert answer[one.start : one.end] == "The turkey was big." and one.chunk == 3
    assert (
        other.chunk == 0
        and plain().columns.chunks.text("text", 0)[slice(*other.chunk_span)]
        == "Scrooge was his partner."
    )
    assert other.score == pytest.approx(1.0)


def test_a_chunk_that_the_prompt_did_not_show_supports_nothing():
    (one,) = find_supports(plain(), told("The turkey was big.", rows=(0, 3), shown=1), Bag())
    assert one.chunk == 0


def test_without_an_answer_or_a_chunk_there_is_none():
    assert (
        find_supports(plain(), told(None), Bag())
        == find_supports(plain(), told("So.", rows=()), Bag())
        == ()
    )


@pytest.mark.parametrize(
    "text, names, held",
    [
        ("Scrooge's clerk", ["Scrooge"], ["Scrooge"]),
        ("Scroogelike", ["Scrooge"], []),
        ("史克鲁奇先生来了", ["史克鲁奇"], ["史克鲁奇"]),
        ("O'Brien met Mr. Wood, Jr.", ["o’brien", "Wood Jr"], ["O'Brien", "Wood, Jr"]),
        ("the Ghost of Christmas Past", ["ghost of christmas past"], ["Ghost of Christmas Past"]),
        ("<b>Tim</b> & Tim", ["tim"], ["Tim", "Tim"]),
        ("a b c", ["a", "the", "", "?!"], []),
        ("Tiny Tim", ["Tim", "Tiny Tim"], ["Tiny Tim"]),
    ],
)
def test_marked_words(text, names, held):
    assert [text[start:end] for start, end in name_spans(text, names)] == held


@pytest.mark.parametrize(
    "answer, chunk, sure",
    [
        (
            "Cratchit.",
            "carol#1",
            "words",
        ),  # with its stop it is like no word of a sentence; the first that holds it
        ("Marley", "carol#0", "words"),
        ("The turkey was as big.", "turkey", "words"),
        (
            "The turkey was big.",
            "turkey",
            "maybe",
        ),  # three words of its four, and “as” stands twice among ten: 3 / √(4 · 10) = 0.47
        ("Yes.", "carol#0", "none"),
        ("A king of France.", "carol#2", "none"),
    ],
)
def test_a_short_answer_rests_on_what_holds_its_words(answer, chunk, sure):
    (one,) = find_supporting_sentences(plain(), told(answer), Bag())
    assert (one.chunk, support_level(one)) == (chunk, sure)


@pytest.mark.parametrize(
    ("text", "name", "held"),
    [
        ("by Jo’Ann O’Neil, of", "Jo'Ann O'Neil", "Jo’Ann O’Neil"),
        ("a Kru\u0308ger there", "Krüger", "Kru\u0308ger"),
        ("the ｏﬃce\u00a0cat", "office cat", "ｏﬃce\u00a0cat"),
        ("in 10⁶ days", "106", ""),
    ],
)
def test_words_are_marked_in_other_typography(text, name, held):
    assert "".join(text[start:end] for start, end in name_spans(text, [name])) == held
