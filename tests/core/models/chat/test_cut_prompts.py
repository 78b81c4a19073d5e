"""Detection of servers that silently truncate prompts."""

from __future__ import annotations

import re
from itertools import count as count_up

import pytest

from core.errors import ModelFailed, RunCancelled
from core.models.base import ChatReply
from core.models.chat.client import ChatRequest
from core.models.chat.openai import OpenAIChat
from core.models.chat.saved_replies import CachedChat, SavedReplies
from core.watch import Watch
from tests.core.models.chat.test_thoughts import sent, texts
from tests.core.models.chat_server import serving, stream

CONTEXT = 2048
FACTS = "Ann -> cooks_for -> Bob. "  # 10 tokens, of which 4 are words
QUESTION = "Who is it that cooks for Bob when Ann is out of town?"
MORE = count_up(step=50)


def tokens(messages) -> int:
    return sum(
        len(re.findall(r"[a-zA-Z]+|[^\sa-zA-Z]", message["content"])) for message in messages
    )


def prompt(length: int, unit: str = FACTS) -> list[dict[str, str]]:
    """Messages of about `length` tokens."""
    count = (length - tokens([{"content": QUESTION}])) // tokens([{"content": unit}])
    return [
        {"role": "system", "content": "Answer."},
        {"role": "user", "content": f"{unit * count}\n{QUESTION}"},
    ]


def keep_end(messages, context: int = CONTEXT) -> int:
    """Prompt tokens of a server that cuts the beginning of a prompt to fit its context."""
    return min(context, tokens(messages))


def keep_half(messages, context: int = CONTEXT) -> int:
    """Prompt tokens of a server that cuts a long prompt until half of its context is free."""
    return tokens(messages) if tokens(messages) <= context else context // 2 + 2


def keep_last_messages(messages, context: int = CONTEXT) -> int:
    """Prompt tokens of a server that drops the oldest messages but the system's until all fits."""
    while tokens(messages) > context and len(messages) > 2:
        messages = [messages[0], *messages[2:]]
    return keep_end(messages)


def counting_server(count=keep_end):
    """A server that reports the number of prompt tokens that `count` computes."""

    def answer(handler, body):
        read = count(body["messages"])
        stream(
            handler,
            sent(
                *texts("Ann"),
                usage={"prompt_tokens": read, "completion_tokens": 1, "total_tokens": read + 1},
            ),
        )

    return serving(answer)


def prompt_with_example(length: int) -> list[dict[str, str]]:
    """Messages of about `length` tokens, half of them in a solved example."""
    system, user = prompt(length // 2)
    return [system, user, {"role": "assistant", "content": "Eve."}, user]


@pytest.mark.parametrize("length", [CONTEXT + 30, 3 * CONTEXT], ids=["by little", "by much"])
@pytest.mark.parametrize(
    ("count", "asked", "read"),
    [
        (keep_end, prompt, "2,048"),
        (keep_half, prompt, "1,026"),
        (keep_last_messages, prompt_with_example, ""),
    ],
    ids=["the end", "half", "the last messages"],
)
def test_cut_prompt_fails_with_advice(count, asked, read, length):
    with counting_server(count) as (url, _), pytest.raises(ModelFailed) as raised:
        OpenAIChat(url, "m", "m").reply(asked(length))
    assert f"read {read}" in str(raised.value) and "num_ctx" in str(raised.value)


@pytest.mark.parametrize("count", [keep_end, keep_half])
def test_cut_prompt_fails_after_whole_ones(count):
    with counting_server(count) as (url, bodies):
        chat = OpenAIChat(url, "m", "m")
        assert [chat.reply(prompt(length)).text for length in (900, 1500, 1400, 1900)] == [
            "Ann"
        ] * 4
        # One extra token is requested for each prompt that is the longest so far.
        assert [body["max_tokens"] for body in bodies] == [256, 256, 1, 256, 256, 1]
        with pytest.raises(ModelFailed):
            chat.reply(prompt(CONTEXT + 30))


@pytest.mark.parametrize("length", [CONTEXT, 3000, 4096])
@pytest.mark.parametrize(
    "count",
    [
        tokens,
        lambda messages: sum(-(-len(message["content"]) // 4) for message in messages),
        lambda messages: sum(len(message["content"].encode()) for message in messages),
        lambda messages: 5000,
        lambda messages: CONTEXT,
        lambda messages: tokens(messages) + next(MORE),
    ],
    ids=["words", "fours", "bytes", "a constant", "a round constant", "more than is sent"],
)
def test_whole_prompt_never_fails(count, length):
    with counting_server(count) as (url, _):
        chat = OpenAIChat(url, "m", "m")
        assert [chat.reply(asked(length)).text for asked in (prompt, prompt_with_example)] == [
            "Ann",
            "Ann",
        ]


@pytest.mark.parametrize("how", ["refuses", "counts nothing", "counts what is new"])
def test_server_without_token_counts_is_trusted(how):
    def answer(handler, body):
        if body["max_tokens"] == 1 and how == "refuses":
            handler.send_error(400)
            return
        if body["max_tokens"] == 1 and how == "counts nothing":
            read = 0
        elif body["max_tokens"] == 1:
            read = 3
        else:
            read = CONTEXT
        stream(
            handler,
            sent(
                *texts("Ann"),
                usage={"prompt_tokens": read, "completion_tokens": 1, "total_tokens": read + 1},
            ),
        )

    with serving(answer) as (url, _):
        assert OpenAIChat(url, "m", "m").reply(prompt(CONTEXT)).text == "Ann"


def test_token_count_request_can_be_cancelled():
    def check():
        if len(bodies) > 1:
            raise RunCancelled

    with counting_server() as (url, bodies), pytest.raises(RunCancelled):
        OpenAIChat(url, "m", "m").reply(prompt(CONTEXT + 30), watch=Watch(check))


@pytest.fixture
def saved(tmp_path):
    """Old saved replies: one to a cut prompt of 100 tokens, one to a whole prompt."""
    kept, (cut, whole) = SavedReplies(tmp_path / "replies.sqlite"), (prompt(1500), prompt(900))
    for messages, read in ((cut, 100), (whole, 900)):
        key = ChatRequest(tuple(messages), None, 256, 0, 0.0).key("weights")
        kept.save(key, "weights", ChatReply("an old reply", tokens_in=read))
    return kept, cut, whole


@pytest.mark.parametrize("build", [False, True], ids=["a question", "a build"])
def test_saved_reply_to_a_cut_prompt_is_requested_again(saved, build):
    kept, cut, whole = saved
    with counting_server() as (url, bodies):
        chat = OpenAIChat(url, "m", "m")
        if build:
            asking = CachedChat(lambda: chat, "weights", kept)
        else:
            chat.save_replies_to(kept, "weights")
            asking = chat
        assert [asking.reply(messages).text for messages in (cut, whole)] == ["Ann", "an old reply"]
        asked = len(bodies)
        assert asking.reply(cut).text == "Ann" and len(bodies) == asked


def test_unusable_saved_reply_counts_as_missing(saved):
    kept, cut, whole = saved
    found = CachedChat(lambda: pytest.fail("nobody is asked"), "weights", kept).find_saved(
        [whole, cut, whole]
    )
    assert [reply and reply.text for reply in found] == ["an old reply", None, "an old reply"]
