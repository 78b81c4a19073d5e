"""Parsing of a language model's picks, from recorded replies."""

from __future__ import annotations

import pytest

from core.models.base import Task
from core.models.llm_chooser import LLMChooser, choosing_messages, parse_numbers, reply_schema
from tests.notes import NoteWith

TEXTS = ["A -> r -> B", "A -> r -> BB", "A -> s -> C", "D"]


@pytest.mark.parametrize(
    "reply, numbers",
    [
        ('{"choices": [3, 1]}', [3, 1]),
        ('```json\n{"choices": ["2", 4]}\n```', [2, 4]),
        ('Sure! {"choices": []}', []),
        ("[2, 1]", [2, 1]),
        ("The useful ones are 2 and 4.", [2, 4]),
        ("2. A -> r -> BB\n1. A -> r -> B", [2, 1]),
        ("- A -> s -> C", [3]),
        ("A -> r -> B", [1]),  # The second candidate is not picked: only whole lines match.
        ('{"choices": [1, 2', [1, 2]),
        ("", None),
        ("none of these, v1.5 or Qwen2", None),
    ],
)
def test_reply_is_parsed(reply, numbers):
    assert parse_numbers(reply, TEXTS)[0] == numbers


def test_picks_keep_the_models_order(recorded):
    choice = LLMChooser(recorded('{"choices": [3, 1]}')).choose(Task("q"), TEXTS, 2)
    assert (
        choice.positions == (2, 0)
        and choice.scores is None
        and choice.order is None
        and choice.notes == ()
    )
    assert (choice.usage.calls, choice.usage.tokens_in, choice.usage.tokens_out) == (1, 10, 5)


def test_empty_list_stays_empty(recorded):
    assert LLMChooser(recorded('{"choices": []}')).choose(Task("q"), TEXTS, 2).positions == ()


def test_wrong_numbers_are_dropped_with_notes(recorded):
    choice = LLMChooser(recorded('{"choices": [9, 2, 2, 0, 4, 1]}')).choose(Task("q"), TEXTS, 2)
    assert choice.positions == (1, 3)
    assert [note.split()[0] for note in choice.notes] == ["2", "1", "The"]
    assert (
        "not in the list" in choice.notes[0]
        and "repeated" in choice.notes[1]
        and "first 2" in choice.notes[2]
    )


def test_only_wrong_numbers_pick_nothing(recorded):
    choice = LLMChooser(recorded('{"choices": [77]}')).choose(Task("q"), TEXTS, 2)
    assert choice.positions == () and "not in the list" in choice.notes[0]


def test_unreadable_reply_falls_back_to_the_first_texts(recorded):
    choice = LLMChooser(recorded("I cannot say.")).choose(Task("q"), TEXTS, 2)
    assert choice.positions == (0, 1)
    assert choice.notes == (NoteWith("“I cannot say.”", "first 2"),)


def test_no_texts_need_no_request(recorded):
    chat = recorded()
    assert LLMChooser(chat).choose(Task("q"), [], 2).positions == () and not chat.asked


def test_model_is_asked_for_at_most_k_numbers(recorded):
    chat = recorded('{"choices": [1]}', '{"choices": [1]}')
    LLMChooser(chat).choose(Task("q"), TEXTS, 9)
    assert chat.asked[0][1] == reply_schema(4, 4)
    LLMChooser(chat).choose(Task("q"), TEXTS, 0)
    assert chat.asked[1][1] == reply_schema(4, 4)


def test_long_list_is_cut_with_a_note(recorded):
    texts = [f"t{i} " + "w " * 20 for i in range(100)]
    chat = recorded('{"choices": [2]}', context=600)
    choice = LLMChooser(chat).choose(Task("q"), texts, 5)
    messages, schema, _ = chat.asked[0]
    shown = schema["properties"]["choices"]["items"]["maximum"]
    assert (
        chat.count_tokens(messages)
        <= 300
        < chat.count_tokens(choosing_messages(Task("q"), texts[: shown + 1], 5))
    )
    assert choice.notes == (NoteWith(f"first {shown}", "100 candidates", "context"),)


def test_short_texts_without_numbers_are_shown_as_far_as_they_fit(recorded):
    texts = [f"t{i} u" for i in range(1400)]  # two tokens each, in half of 6,000
    chat = recorded("t7 u", context=6000)
    choice = LLMChooser(chat, "lego-graphrag").choose(Task("q"), texts, 5)
    assert choice.positions == (7,) and choice.notes == ()


def test_at_least_one_text_is_shown(recorded):
    chat = recorded('{"choices": [1]}', context=10)
    assert LLMChooser(chat).choose(Task("q"), TEXTS, 5).positions == (0,)


@pytest.mark.parametrize(
    "unit, word",
    [("relation", "relations"), ("triple", "triples"), ("node", "entities"), ("path", "paths")],
)
def test_prompt_names_the_unit_and_keeps_lines_whole(unit, word):
    system, user = choosing_messages(Task("who?", unit), ["a\nb", "c"], 1)
    assert (
        word in system["content"]
        and "1. a b\n2. c" in user["content"]
        and "who?" in user["content"]
    )


def test_real_model_picks_from_a_list(qwen):
    texts = ["Alien -> in_language -> English", "Alien -> directed_by -> Ridley Scott"]
    first = LLMChooser(qwen).choose(Task("who directed Alien?"), texts, 1)
    assert len(first.positions) <= 1 and first.usage.tokens_in > 50 and not first.notes
