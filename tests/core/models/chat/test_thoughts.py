"""Separation of thoughts from replies, and the token budget for thoughts."""

from __future__ import annotations

import json

import pytest

from core.models.base import ChatReply
from core.models.chat.openai import OpenAIChat
from core.models.chat.reply_collector import clean_reply, strip_code_fence
from core.models.chat.saved_replies import SavedReplies
from core.models.chat.thoughts import ThoughtSeparator, separate_thought
from core.models.registry import Registry
from tests.core.models.chat_server import serving, stream
from tests.notes import NoteWith
from tests.timing import is_linear

ASK = [{"role": "user", "content": "Who cooks?"}]
SCHEMA = {
    "type": "object",
    "properties": {"names": {"type": "array", "items": {"type": "string"}}},
    "required": ["names"],
}


def sent(*deltas, finish="stop", usage=None) -> str:
    rows = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    rows += [
        {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]},
        {"choices": [], "usage": usage},
    ]
    head = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return "".join(f"data: {json.dumps(head | row)}\n\n" for row in rows) + "data: [DONE]\n\n"


def texts(text: str, size: int = 7) -> list[dict]:
    return [{"content": text[at : at + size]} for at in range(0, len(text), size)]


def reply_to(reply: str, **how) -> ChatReply:
    with serving(lambda handler, body: stream(handler, reply)) as (url, _):
        return OpenAIChat(url, "m", "m").reply(ASK, **how)


@pytest.mark.parametrize("size", [1, 2, 5, 1000])
@pytest.mark.parametrize(
    ("text", "thought", "answer"),
    [
        ("<think>Bob? No.</think> Ann cooks.", "Bob? No.", "Ann cooks."),
        ("<THINKING>\nBob?\n</THINKING>\n\nAnn", "Bob?", "Ann"),
        ("Bob? No.</think>Ann", "Bob? No.", "Ann"),
        ("<think>Bob, or", "Bob, or", ""),
        ("<think></think>Ann", "", "Ann"),
        ("Ann\n<think>or Bob</think>\nand Eve", "or Bob", "Ann\n\nand Eve"),
        ('{"names": ["a </think> b"]}', "", '{"names": ["a </think> b"]}'),
        (
            "Write <think> to begin, a < b, <b>bold</b>, <thi",
            "",
            "Write <think> to begin, a < b, <b>bold</b>, <thi",
        ),
    ],
)
def test_thought_is_separated_however_split(text, thought, answer, size):
    thoughts = ThoughtSeparator()
    for at in range(0, len(text), size):
        thoughts.add(text[at : at + size])
    thoughts.end()
    assert (
        (thoughts.thought.strip(), thoughts.answer)
        == (thought, answer)
        == separate_thought(text)[:2]
    )


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize(
    ("text", "whole", "thought", "answer", "begun"),
    [
        ("Bob? No.</think>Ann", True, "Bob? No.", "Ann", True),
        ("Bob? No.", False, "Bob? No.", "", None),
        ("Ann cooks.", True, "", "Ann cooks.", False),
        ("<think>Bob?</think>Ann", True, "Bob?", "Ann", False),
        (' {"names": ["</think>"]}', True, "", ' {"names": ["</think>"]}', None),
    ],
    ids=["closed", "cut", "no thought", "opened", "JSON"],
)
def test_text_begins_inside_a_thought(text, whole, thought, answer, begun, size):
    thoughts = ThoughtSeparator(starts_in_reasoning=True)
    grown = [thoughts.add(text[at : at + size]) for at in range(0, len(text), size)]
    grown.append(thoughts.end(whole))
    assert (thoughts.thought.strip(), thoughts.answer, thoughts.starts_in_reasoning) == (
        thought,
        answer,
        begun,
    )
    assert "".join(grown) == answer and thoughts.is_in_reasoning == (not whole)


def test_missing_opening_tag_is_learnt_from_the_first_thought():
    sent_texts = iter(
        [
            "Is it Bob? No.</think>Ann cooks.",
            "Or Eve? No.</think>Ann.",
            "Who might",
            "Ann cooks well.",
        ]
    )

    def answer(handler, body):
        text = next(sent_texts)
        stream(handler, sent(*texts(text), finish="length" if text == "Who might" else "stop"))

    with serving(answer) as (url, _):
        chat, heard = OpenAIChat(url, "m", "m"), []
        replies = []
        for seed in range(4):
            heard.append([])
            replies.append(chat.reply(ASK, seed=seed, on_text=heard[-1].append))
    assert [(reply.text, reply.thought, reply.finish) for reply in replies] == [
        ("Ann cooks.", "Is it Bob? No.", "stop"),
        ("Ann.", "Or Eve? No.", "stop"),
        ("", "Who might", "thinking"),
        ("Ann cooks well.", "", "stop"),
    ]
    assert ["".join(pieces) for pieces in heard[1:]] == ["Ann.", "", "Ann cooks well."]


@pytest.mark.parametrize(
    ("text", "finish", "answer"),
    [
        ("```\nAnn cooks.\n```", "stop", "Ann cooks."),
        ("\n```markdown\nAnn cooks.\n\nEve eats.\n```\n", "stop", "Ann cooks.\n\nEve eats."),
        ("~~~\nAnn ``` cooks.\n~~~", "stop", "Ann ``` cooks."),
        ("```Ann cooks.```", "stop", "Ann cooks."),
        ("<think>Bob?</think>\n```text\nAnn\n```", "stop", "Ann"),
        ("```\nAnn co", "length", "Ann co"),
        ("So:\n```\nAnn\n```", "stop", "So:\n```\nAnn\n```"),
        ("```\nAnn\n```\nThat is all.", "stop", "```\nAnn\n```\nThat is all."),
        ("```\nAnn\n```\n```\nEve\n```", "stop", "```\nAnn\n```\n```\nEve\n```"),
        ("`Ann`", "stop", "`Ann`"),
    ],
)
def test_fence_around_the_answer_is_removed(text, finish, answer):
    reply = reply_to(sent(*texts(text), finish=finish))
    assert (reply.text, reply.finish) == (answer, finish)


def test_fence_is_parsed_in_linear_time():
    def strip(times):
        strip_code_fence("```" + "`~ " * times)
        strip_code_fence("`" * 2 * times + "x")
        strip_code_fence(" " * 2 * times + "x")
        strip_code_fence("```" + "a" * 2 * times + "\n`` x")

    assert is_linear(strip, 200_000)


def test_listener_hears_only_the_answer():
    heard: list[str] = []
    reply = reply_to(
        sent(*texts("<think>Is it Bob? No.</think>\n\nAnn cooks.")), on_text=heard.append
    )
    assert (reply.text, reply.thought, "".join(heard)) == (
        "Ann cooks.",
        "Is it Bob? No.",
        "Ann cooks.",
    )


@pytest.mark.parametrize("field", ["reasoning", "reasoning_content"])
def test_thought_field_is_separated(field):
    reply = reply_to(sent({"content": None, field: "Bob? "}, {field: "No."}, *texts("Ann cooks.")))
    assert (reply.text, reply.thought, reply.is_usable) == ("Ann cooks.", "Bob? No.", True)


def test_json_after_a_draft_in_a_thought():
    reply = reply_to(
        sent(*texts('<think>Maybe {"names": ["Bob"]}.</think>{"names": ["Ann"]}')), schema=SCHEMA
    )
    assert json.loads(reply.text) == {"names": ["Ann"]} and reply.is_usable


@pytest.mark.parametrize(
    "deltas",
    [[{"reasoning_content": '\n{"names": ["Ann"]}'}], texts('<think>\n{"names": ["Ann"]}')],
    ids=["in a field", "in a tag"],
)
def test_json_as_the_whole_thought_is_the_reply(deltas):
    """Some servers force the schema on a reply whose prompt has already begun a thought."""
    reply = reply_to(sent(*deltas), schema=SCHEMA)
    assert (json.loads(reply.text), reply.thought, reply.is_usable) == (
        {"names": ["Ann"]},
        "",
        True,
    )


@pytest.mark.parametrize(
    "thought", ['Maybe {"names": ["Bob"]}.', '["names"]', '{"others": []}', '{"names": ["Bo']
)
def test_thought_with_other_text_than_json_is_no_reply(thought):
    reply = reply_to(sent({"reasoning_content": thought}), schema=SCHEMA)
    assert (reply.text, reply.thought, reply.is_usable) == ("", thought, False)


@pytest.mark.parametrize(
    "deltas", [texts("<think>Who might it"), [{"content": "", "reasoning_content": "Who might it"}]]
)
def test_unfinished_thought_is_reported(deltas):
    with serving(lambda handler, body: stream(handler, sent(*deltas, finish="length"))) as (
        url,
        bodies,
    ):
        reply = OpenAIChat(url, "m", "m", context=2048).reply(ASK, max_tokens=20)
    room = bodies[1]["max_tokens"]
    assert bodies[0]["max_tokens"] == 20 and 20 + 1500 < room < 2048
    assert (reply.text, reply.finish, reply.is_usable) == ("", "thinking", False)
    assert reply.describe_fault() == NoteWith("still thinking", room, "tokens")


def test_thinking_model_gets_extra_tokens():
    def answer(handler, body):
        whole = "<think>Bob, no, Eve, no, it is Ann.</think>Ann cooks."
        stream(
            handler,
            sent(
                *texts(whole if body["max_tokens"] > 20 else whole[:20]),
                finish="stop" if body["max_tokens"] > 20 else "length",
            ),
        )

    with serving(answer) as (url, bodies):
        chat = OpenAIChat(url, "m", "m")
        heard: list[str] = []
        first = chat.reply(ASK, max_tokens=10, on_text=heard.append)
        assert (first.text, "".join(heard), len(bodies)) == ("Ann cooks.", "Ann cooks.", 2)
        assert chat.reply(ASK, max_tokens=10, seed=1).text == "Ann cooks." and len(bodies) == 3
    assert [body["max_tokens"] for body in bodies] == [10, 10 + 4096, 10 + 4096]


def test_answer_after_a_thought_has_its_own_limit():
    words = " ".join(f"word{number}" for number in range(200))
    with serving(
        lambda handler, body: stream(
            handler, sent(*texts(f"<think>Hm.</think>{words}"), finish="length")
        )
    ) as (url, _):
        reply = OpenAIChat(url, "m", "m").reply(ASK, max_tokens=40)
    assert (reply.finish, reply.describe_fault("answer")) == (
        "length",
        NoteWith("cut", 40, "tokens"),
    ) and 130 < len(reply.text) < 160


def test_model_without_thoughts_gets_no_extra_tokens():
    with serving(
        lambda handler, body: stream(handler, sent(*texts("Ann co"), finish="length"))
    ) as (url, bodies):
        reply = OpenAIChat(url, "m", "m").reply(ASK, max_tokens=3)
    assert (reply.describe_fault("answer"), [body["max_tokens"] for body in bodies]) == (
        NoteWith("cut", 3, "tokens"),
        [3],
    )


def test_repeating_thought_is_stopped():
    reply = reply_to(sent(*texts("<think>" + "so it goes on and " * 50)))
    assert (reply.text, reply.finish) == (
        "",
        "repeat",
    ) and "repeated itself" in reply.describe_fault()


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (sent({"content": None}), "The model sent an empty reply."),
        (
            sent({"content": ""}, finish="content_filter"),
            "The server's content filter held the reply back.",
        ),
        (
            sent(
                {
                    "tool_calls": [
                        {
                            "index": 0,
                            "id": "c",
                            "type": "function",
                            "function": {"name": "find", "arguments": ""},
                        }
                    ]
                },
                finish="tool_calls",
            ),
            "The model asked for a tool “find” instead of replying.",
        ),
        (
            sent({"content": None, "refusal": "I may not."}),
            "The model refused to reply: “I may not.”.",
        ),
        (
            sent({"content": ""}, finish="length"),
            "The model wrote nothing before its 256 tokens were used up.",
        ),
        (
            sent(*texts("<think>Ann.</think>")),
            "The model only thought, and wrote nothing behind its thought.",
        ),
    ],
)
def test_blank_reply_explains_itself(reply, reason):
    found = reply_to(reply)
    assert (found.text, found.describe_fault(), found.is_usable) == ("", reason, False)


def test_invalid_json_is_unusable():
    found = reply_to(sent(*texts("I would rather not.")), schema=SCHEMA)
    assert (found.finish, found.is_usable, found.describe_fault()) == (
        "unreadable",
        False,
        NoteWith("reply", "JSON"),
    )


def test_unusable_reply_is_requested_again():
    replies = iter([sent({"content": None}), sent(*texts("Ann"))])
    with serving(lambda handler, body: stream(handler, next(replies))) as (url, bodies):
        chat = OpenAIChat(url, "m", "m")
        found = [chat.reply(ASK) for _ in range(3)]
    assert ([one.text for one in found], len(bodies), found[2].cached) == (
        ["", "Ann", "Ann"],
        2,
        True,
    )


def test_old_saved_replies_are_separated_too(tmp_path):
    kept = SavedReplies(tmp_path / "replies.sqlite")
    for key, reply in {
        "t": ChatReply("<think>Bob?</think>Ann"),
        "c": ChatReply("Ann co", finish="length"),
        "e": ChatReply(""),
        "j": ChatReply("No."),
    }.items():
        kept.save(key, "m", reply)
    found = kept.find_all(dict.fromkeys("tcej", 0), SCHEMA | {"properties": {}})
    assert {key: (reply.text, reply.thought) for key, reply in found.items()} == {
        "t": ("Ann", "Bob?"),
        "j": ("No.", ""),
    }
    assert kept.find("j", SCHEMA) is None and kept.find("c", usable=False).text == "Ann co"
    assert clean_reply(ChatReply("<think>Bob", finish="length"), None).finish == "thinking"


def test_declared_thought_budget_applies_at_once():
    with serving(lambda handler, body: stream(handler, sent(*texts("<think>Hm.</think>Ann.")))) as (
        url,
        bodies,
    ):
        chat = OpenAIChat(url, "m", "m", reasoning_tokens=900)
        assert chat.reply(ASK, max_tokens=10).text == "Ann."
        small = OpenAIChat(url, "m", "m", context=200, reasoning_tokens=900)
        assert small.reply(ASK, max_tokens=10).text == "Ann."
    # The budget never exceeds the context.
    assert bodies[0]["max_tokens"] == 10 + 900 and bodies[1]["max_tokens"] < 200


def test_thought_budget_changes_the_evaluation_key(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    found = []
    for more in ("", "at_once = 4\n", "thoughts = 900\n"):
        row = (
            f'[model.far]\nkind = "chat"\nbackend = "openai"\nurl = "http://localhost:1/v1"\n'
            f'model = "m"\n{more}'
        )
        (tmp_path / "models.toml").write_text(row, "utf-8")
        models = Registry()
        assert not models.faults()
        found.append((models.signature("far"), models.weights("far")))
    plain, at_once, thoughts = found
    assert plain == at_once and plain[1] == thoughts[1] and plain[0] != thoughts[0]
