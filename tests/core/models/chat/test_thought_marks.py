"""Thought marks other than `<think>`, and leaked special tokens, however the stream is split."""

from __future__ import annotations

import json

import pytest

from core.models.base import ChatReply
from core.models.chat.reply_collector import ReplyCollector, clean_reply
from core.models.chat.thoughts import ThoughtSeparator, separate_thought

SIZES = [1, 2, 3, 7, 1000]
HARMONY = (
    "<|channel|>analysis<|message|>Eve? No.<|end|><|start|>assistant<|channel|>final<|message|>"
)


def in_pieces(text: str, size: int, whole: bool = True) -> tuple[ThoughtSeparator, str]:
    """Separator and streamed text after `text` came in pieces of `size`."""
    thoughts = ThoughtSeparator()
    heard = [thoughts.add(text[at : at + size]) for at in range(0, len(text), size)]
    return thoughts, "".join([*heard, thoughts.end(whole)])


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("text", "thought"),
    [
        (HARMONY + "Bo bakes.<|return|>", "Eve? No."),
        ("<|start|>assistant" + HARMONY + "Bo bakes.", "Eve? No."),
        ("<|channel|>final<|message|>Bo bakes.<|return|>", ""),
        ("<|channel|>final <|constrain|>json<|message|>Bo bakes.", ""),
        ("Eve? No.<|end|><|start|>assistant<|channel|>final<|message|>Bo bakes.", "Eve? No."),
        (
            "<|channel|>analysis<|message|>Eve?<|end|><|start|>assistant<|channel|>commentary"
            "<|message|>Look.<|end|><|start|>assistant<|channel|>final<|message|>Bo bakes.",
            "Eve?\nLook.",
        ),
        ("<|channel|>analysis<|message|>Eve?<|end|><|start|>assistant<|message|>Bo bakes.", "Eve?"),
        ("analysisEve? No.assistantfinalBo bakes.", "Eve? No."),
        ("analysisEve?assistantcommentaryLook.assistantfinal Bo bakes.", None),
        ("analysis: Eve? No.assistantfinalBo bakes.", None),
        ("[THINK]Eve? No.[/THINK]Bo bakes.", "Eve? No."),
        ("Eve? No.[/THINK]\nBo bakes.</s>", "Eve? No."),
        ("◁think▷Eve? No.◁/think▷Bo bakes.", "Eve? No."),
        ("<seed:think>Eve? No.</seed:think>\n\nBo bakes.<seed:eos>", None),
        ("<deep_think>\nEve? No.\n</deep_think>\nBo bakes.", "Eve? No."),
        (
            "<|begin_of_thought|>\nEve? No.\n<|end_of_thought|>\n\n<|begin_of_solution|>\n"
            "Bo bakes.<|end_of_solution|>",
            "Eve? No.",
        ),
        ("<|channel>thought\nEve? No.<channel|>Bo bakes.<turn|>", "Eve? No."),
        (
            "<|START_THINKING|>Eve? No.<|END_THINKING|><|START_RESPONSE|>Bo bakes.<|END_RESPONSE|>"
            "<|END_OF_TURN_TOKEN|>",
            "Eve? No.",
        ),
        ("Here is my thought process: Eve? No. Here is my response: Bo bakes.", "Eve? No."),
        ("Here's my thought process:\nEve? No.\nHere's my response:\nBo bakes.", "Eve? No."),
        ('<think time="3">Eve? No.</think>Bo bakes.', "Eve? No."),
        (
            '<details type="reasoning" done="true"><summary>3 s</summary>Eve?</details>Bo bakes.',
            "<summary>3 s</summary>Eve?",
        ),
        ("Bo bakes.<|im_end|>", ""),
        ("Bo bakes.<|eot_id|>", ""),
        ("Bo bakes.<|endoftext|>", ""),
        ("Bo bakes.</s>", ""),
        ("Bo bakes.<end_of_turn>", ""),
        ("Bo bakes.<｜end▁of▁sentence｜>", ""),
        ("Bo bakes.<|im_end|>\n<|im_start|>user\nWho is Eve?<|im_end|>", None),
        ("Bo bakes.<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nEve?", ""),
        ("<|start_header_id|>assistant<|end_header_id|>\n\nBo bakes.<|eot_id|>", ""),
        ("Bo bakes.<|user|>Who is Eve?", ""),
    ],
)
def test_answer_is_separated_from_the_thought(text, thought, size):
    thoughts, heard = in_pieces(text, size)
    assert thoughts.answer.strip() == separate_thought(text)[1].strip() == "Bo bakes."
    # In one case no opening mark precedes the thought, so the listener heard it.
    assert heard.strip().removeprefix("Eve? No.") == "Bo bakes."
    assert "Eve" not in thoughts.answer
    if thought is not None:
        assert thoughts.thought.strip() == thought


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    "text",
    [
        "<|channel|>analysis<|message|>Eve",
        "<|channel|>analysis<|message|>Eve<|end|><|start|>assis",
        "<|channel|>analysis<|mess",
        "[THINK]Eve",
        "[THINK]Eve[/TH",
        "◁think▷Eve◁/th",
        "<seed:think>Eve</seed:th",
        "<|begin_of_thought|>Eve<|end_of",
        "<|channel>thought\nEve<chan",
        "<|START_THINKING|>Eve",
        "analysisEve? No.assistantfin",
        "Here is my thought process: Eve? Here is my resp",
        "<thi",
        "[THIN",
        "◁thi",
        "<|chan",
    ],
)
def test_text_cut_inside_a_thought_has_no_answer(text, size):
    thoughts, heard = in_pieces(text, size, whole=False)
    assert (thoughts.answer.strip(), heard.strip()) == ("", "")


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("cut", ["<|im_e", "<", "<|", "<|eot_id|>"])
def test_answer_cut_inside_a_special_token_keeps_its_words(cut, size):
    thoughts, _ = in_pieces(f"Bo bakes.{cut}", size, whole=False)
    assert thoughts.answer.rstrip("<") == "Bo bakes."


def test_thought_alone_is_no_answer():
    for text in ("analysisEve bakes.", "<|channel|>analysis<|message|>Eve bakes.<|end|>"):
        thoughts, heard = in_pieces(text, 3)
        assert (thoughts.thought.strip(), heard) == ("Eve bakes.", "")


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    "text",
    [
        "analysis of the river shows Bo.",
        "analysis",
        "Here is my reasoning process: Bo bakes, so it is Bo.",
        "Here is my response: Bo.",
        "See [1], [THE MILL] and [ORD_2]; a < b, x <y, <b>Bo</b> and <a href='m'>m</a>.",
        "An assistantfinal word, and the <think> tag.",
        "<s>Eve</s>",
        "[1] Bo bakes.",
        '{"names": ["<|im_end|>", "[/THINK]", "</think>", "<|channel|>final<|message|>"]}',
    ],
)
def test_text_similar_to_a_mark_is_kept(text, size):
    thoughts, heard = in_pieces(text, size)
    assert thoughts.answer == heard == text and not thoughts.thought


def test_json_between_thought_and_special_token():
    schema = {"properties": {"names": {"type": "array"}}}
    for text in (
        HARMONY + '{"names": ["Bo"]}<|return|>',
        '[THINK]Maybe {"names": ["Eve"]}.[/THINK]{"names": ["Bo"]}',
        'analysisMaybe {"names": ["Eve"]}.assistantfinal{"names": ["Bo"]}',
    ):
        writing = ReplyCollector(256, None, schema, None)
        for at in range(0, len(text), 5):
            writing.add(text[at : at + 5])
        writing.finish = "stop"
        reply = writing.make_reply(0.0)
        assert json.loads(reply.text) == {"names": ["Bo"]} and reply.is_usable and reply.thought


def test_saved_replies_follow_the_same_rule():
    old = clean_reply(ChatReply("[THINK]Eve?[/THINK]Bo bakes.<|im_end|>"), None)
    assert (old.text, old.thought) == ("Bo bakes.", "Eve?")
    cut = clean_reply(ChatReply("analysis: Eve", finish="length"), None)
    assert (cut.text, cut.finish) == ("", "thinking")


def test_many_marks_are_parsed_in_linear_time():
    text = "<|a|>" * 20_000 + "< " * 20_000 + "[" * 20_000 + "<think " * 5_000
    assert separate_thought(text)[1].startswith("< ")
