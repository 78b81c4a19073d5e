"""Servers that send too much or malformed replies: the error is always a readable sentence."""

from __future__ import annotations

import gzip
import json

import pytest

from core.errors import ModelFailed
from core.models.chat.openai import OpenAIChat
from core.models.chat.reply_collector import ReplyCollector
from tests.core.models.chat_server import serving, stream

ASK = [{"role": "user", "content": "Which country is Paris in?"}]


def stream_piece(content: object = "a", **choice) -> str:
    told = {"index": 0, "delta": {"content": content}, "finish_reason": None, **choice}
    return f"data: {json.dumps({'id': '1', 'object': 'chat.completion.chunk', 'created': 1, 'model': 'm', 'choices': [told]})}\n\n"


END = stream_piece("", finish_reason="stop") + "data: [DONE]\n\n"


def error_message(sent) -> str:
    """Error message for a server that sends `sent`."""
    with serving(
        lambda handler, body: stream(handler, sent + END if isinstance(sent, str) else sent)
    ) as (url, _):
        with pytest.raises(ModelFailed) as told:
            OpenAIChat(url, "m", "hostile", timeout=10).reply(ASK, max_tokens=256)
    return str(told.value)


@pytest.mark.parametrize(
    "sent",
    [
        "data: {broken\n\n",
        b"data: \xff\xfe\n\n",
        "data: 17\n\n",
        "data: [1, 2]\n\n",
        "data: null\n\n",
        'data: {"choices": [null]}\n\n',
        'data: {"choices": 5}\n\n',
        'data: {"choices": [{"delta": [1]}]}\n\n',
        "data: " + "[" * 100_000 + "\n\n",
        b"nonsense\x00\n\n: \n\ndata\n\n",
        b"",
        stream_piece({"text": "a"}),
        stream_piece(5),
        stream_piece("a", finish_reason={"a": 1}),
        stream_piece("\ud800"),
        stream_piece("x" * 30_000),
    ],
    ids=range(16),
)
def test_malformed_reply_is_a_readable_error(sent):
    assert len(error_message(sent)) < 600


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirect_is_not_followed(status):
    def elsewhere(handler, body):
        handler.send_response(status)
        handler.send_header("Location", f"{inner}/chat/completions")
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    with (
        serving(lambda handler, body: stream(handler, stream_piece("secret") + END)) as (
            inner,
            asked,
        ),
        serving(elsewhere) as (url, _),
    ):
        with pytest.raises(
            ModelFailed,
            match=f"redirects to {inner}/chat/completions \\({status}\\), which was not followed",
        ):
            OpenAIChat(url, "m", "hostile", timeout=10).reply(ASK, max_tokens=256)
    assert asked == []


def test_truncated_character_is_reported():
    assert "half a letter" in error_message(stream_piece("Par\udcff"))


def test_excess_text_is_cut_off():
    assert "more text than 256 tokens can be" in error_message(stream_piece("x" * 30_000))


@pytest.mark.parametrize("kind", ["one line", "pieces", "thoughts", "refusal"])
def test_hundred_megabytes_are_cut_off(kind):
    sent = []

    def answer(handler, body):
        part = {
            "one line": "x" * 65536,
            "pieces": stream_piece("y z " * 4),
            "thoughts": stream_piece(None),
            "refusal": "x" * 65536,
        }[kind].encode()
        part *= max(1, 65536 // len(part))
        stream(handler, b"data: ") if kind != "refusal" else (
            handler.send_response(400),
            handler.end_headers(),
        )
        try:
            for _ in range(100 * 16):
                handler.wfile.write(part)
                sent.append(len(part))
        except OSError:
            return

    with serving(answer) as (url, _), pytest.raises(ModelFailed):
        OpenAIChat(url, "m", "endless").reply(ASK, max_tokens=256)
    assert sum(sent) < 20 << 20


def test_compressed_reply_is_bounded_while_unpacked():
    def answer(handler, body):
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Content-Encoding", "gzip")
        handler.end_headers()
        handler.wfile.write(gzip.compress(b": " + b"x" * (30 << 20)))

    with (
        serving(answer) as (url, _),
        pytest.raises(ModelFailed, match="3 MB for a reply of 256 tokens"),
    ):
        OpenAIChat(url, "m", "packed").reply(ASK, max_tokens=256)


def test_requested_long_reply_passes():
    text = " ".join(str(number) for number in range(2_000))
    with serving(
        lambda handler, body: stream(
            handler, "".join(stream_piece(f"{word} ") for word in text.split()) + END
        )
    ) as (url, _):
        assert OpenAIChat(url, "m", "long").reply(ASK, max_tokens=2_048).text.strip() == text


def test_embedded_model_has_the_same_limits():
    writing = ReplyCollector(256, None, None, None)
    with pytest.raises(ModelFailed, match="half a letter"):
        writing.add("\ud83d")
    with pytest.raises(ModelFailed, match="more text than 256 tokens can be"):
        writing.add("x" * 100_000_000)
    assert writing.text == ""
