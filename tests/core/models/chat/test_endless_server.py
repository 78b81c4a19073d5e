"""Servers with endless streams, token counts that are not numbers, or content in parts."""

from __future__ import annotations

import itertools
import json
import threading

import pytest

from core.errors import ModelFailed, RunCancelled
from core.models.chat.openai import OpenAIChat
from core.models.chat.stream_piece import StreamPiece
from core.models.served_models import ServedEncoder
from core.runtime.meter import metered
from core.watch import Watch
from tests.core.models.chat_server import serving, stream

ASK = [{"role": "user", "content": "Who bakes?"}]


def event(content=None, finish=None, **more) -> str:
    choice = {"index": 0, "delta": {"content": content}, "finish_reason": finish}
    return f"data: {json.dumps({'choices': [choice], **more})}\n\n"


def endless_server(start: str, again: str):
    """A server that sends one text, then another repeatedly until the client disconnects."""

    def answer(handler, body):
        pause = threading.Event()
        try:
            stream(handler, start)
            for _ in itertools.repeat(None):
                handler.wfile.write(again.encode())
                handler.wfile.flush()
                pause.wait(0.02)
        except OSError:
            return

    return answer


@pytest.mark.parametrize(
    "again",
    [event(""), ": still here\n\n", ":", "event: ping\n", "\n", 'data: {"choices": []}\n\n'],
)
def test_silent_stream_ends_at_the_timeout(again):
    with serving(endless_server(event("Bo ba"), again)) as (url, _):
        with pytest.raises(ModelFailed) as told:
            OpenAIChat(url, "m", "m", timeout=0.5).reply(ASK)
    assert "within 0.5 seconds" in str(told.value) and "“Bo ba”" in str(told.value)


def send_endless_headers(handler, body):
    """Send headers byte by byte until the client disconnects."""
    pause = threading.Event()
    try:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Long: ")
        for _ in itertools.repeat(None):
            handler.wfile.write(b"x")
            handler.wfile.flush()
            pause.wait(0.02)
    except OSError:
        return


def test_endless_headers_are_given_up(monkeypatch):
    monkeypatch.setattr("core.models.chat.server.CONNECT_TIMEOUT_SECONDS", 0.2)
    asked = itertools.count()

    def answer(handler, body):
        if next(asked):
            stream(handler, event("Bo bakes.", "stop"))
        else:
            send_endless_headers(handler, body)

    with serving(answer) as (url, _):
        chat = OpenAIChat(url, "m", "m", timeout=0.5)
        with pytest.raises(ModelFailed, match="did not answer within"):
            chat.reply(ASK)
        chat.timeout = 60
        assert chat.reply(ASK).text == "Bo bakes."  # Each request opens a connection of its own.


def test_endless_headers_of_vectors_are_given_up(monkeypatch):
    monkeypatch.setattr("core.models.chat.server.CONNECT_TIMEOUT_SECONDS", 0.2)
    with (
        serving(send_endless_headers) as (url, _),
        pytest.raises(ModelFailed, match="did not answer within"),
    ):
        ServedEncoder(url, "m", "m", timeout=0.5).encode(["Bo"])


def test_silent_stream_can_be_cancelled():
    asked = itertools.count()

    def check():
        if next(asked) > 20:
            raise RunCancelled

    with serving(endless_server("", ": still here\n\n")) as (url, _), pytest.raises(RunCancelled):
        OpenAIChat(url, "m", "m", timeout=60).reply(ASK, watch=Watch(check))


def test_slow_reply_is_given_up(monkeypatch):
    monkeypatch.setattr("core.models.chat.stream_piece.MAX_MEAN_TOKEN_SECONDS", 0.01)
    with serving(endless_server("", event("b"))) as (url, _), pytest.raises(ModelFailed) as told:
        OpenAIChat(url, "m", "m", timeout=0.5).reply(ASK, max_tokens=20)
    assert "within 0.7 seconds" in str(told.value)


@pytest.mark.parametrize(
    "end",
    [
        event("", "stop"),
        event("", "stop") + "data: {broken\n\n",
        event("", "stop") + 'data: {"choices": 5}\n\n',
        event("", "stop").rstrip(),
        "data: [DONE]\n",
        event("", "stop") + event(""),
    ],
    ids=range(6),
)
def test_complete_reply_needs_no_closed_connection(end):
    gone = threading.Event()

    def answer(handler, body):
        stream(handler, event("Bo bakes.") + end + "\n")
        gone.wait(30)

    with serving(answer) as (url, _):
        reply = OpenAIChat(url, "m", "m", timeout=60).reply(ASK)
        assert (reply.text, reply.finish, gone.is_set()) == ("Bo bakes.", "stop", False)
        gone.set()


@pytest.mark.parametrize("again", [event(""), ": still here\n\n"])
def test_data_after_a_complete_reply_is_ignored(again):
    with serving(endless_server(event("Bo bakes.", "stop"), again)) as (url, _):
        assert OpenAIChat(url, "m", "m", timeout=60).reply(ASK).text == "Bo bakes."


def test_text_after_a_finish_reason_is_read():
    """Some servers name a finish reason in every piece."""
    pieces = "".join(event(text, "stop") for text in ("Bo ", "bakes", "."))
    with serving(lambda handler, body: stream(handler, pieces)) as (url, _):
        assert OpenAIChat(url, "m", "m").reply(ASK).text == "Bo bakes."


def test_complete_reply_is_returned_at_once():
    gone = threading.Event()

    def answer(handler, body):
        choice = {"message": {"content": "Bo {bakes}"}, "finish_reason": "stop"}
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.end_headers()
        handler.wfile.write(json.dumps({"choices": [choice]}).encode())
        handler.wfile.flush()
        gone.wait(30)

    with serving(answer) as (url, _):
        assert OpenAIChat(url, "m", "m", timeout=60).reply(ASK).text == "Bo {bakes}"
        gone.set()


ODD_COUNTS = [
    {"prompt_tokens": 2**63, "completion_tokens": 3},
    {"prompt_tokens": 9, "completion_tokens": 10**25},
    {"prompt_tokens": 9, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 2**70}},
    {"prompt_tokens": -9, "completion_tokens": 3},
    {"prompt_tokens": 9.5, "completion_tokens": 3},
    {"prompt_tokens": "9", "completion_tokens": "x"},
    {"prompt_tokens": True, "completion_tokens": 3},
    {"prompt_tokens": float("nan"), "completion_tokens": float("inf")},
    {"prompt_tokens": [9], "completion_tokens": {"a": 1}},
    [9, 3],
    "many",
    7,
]


@pytest.mark.parametrize("usage", ODD_COUNTS, ids=range(len(ODD_COUNTS)))
@pytest.mark.parametrize("together", [True, False])
def test_answer_survives_invalid_token_counts(usage, together):
    last = event("", "stop", usage=usage) if together else event("", "stop")
    more = "" if together else f"data: {json.dumps({'choices': [], 'usage': usage})}\n\n"
    sent = event("Bo bakes.") + last + more + "data: [DONE]\n\n"
    with serving(lambda handler, body: stream(handler, sent)) as (url, _), metered() as meter:
        reply = OpenAIChat(url, "m", "far").reply(ASK)
    assert reply.text == "Bo bakes." and 0 < reply.tokens_in < 100 and 0 < reply.tokens_out < 100
    (note,) = meter.notes
    assert "far" in note and "estimates" in note


def test_answer_survives_a_huge_token_count():
    last = event("", "stop", usage={"prompt_tokens": "N"}).replace('"N"', "1" + "0" * 5000)
    sent = event("Bo bakes.") + last
    with serving(lambda handler, body: stream(handler, sent)) as (url, _), metered() as meter:
        assert OpenAIChat(url, "m", "far").reply(ASK).text == "Bo bakes."
    assert len(meter.notes) == 1


PARTS = [
    [{"type": "thinking", "thinking": [{"type": "text", "text": "Eve? "}]}],
    [{"type": "reasoning", "text": "No."}],
    [{"type": "text", "text": "Bo "}, {"type": "reference", "reference_ids": [1]}],
    "bakes",
    [{"type": "output_text", "text": "."}, ""],
]


def test_content_parts_become_text_and_thought():
    sent = "".join(map(event, PARTS)) + event("", "stop")
    whole = [part for parts in PARTS for part in ([parts] if isinstance(parts, str) else parts)]

    def at_once(handler, body):
        choice = {"message": {"role": "assistant", "content": whole}, "finish_reason": "stop"}
        text = json.dumps({"choices": [choice]}).encode()
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(text)))
        handler.end_headers()
        handler.wfile.write(text)

    for answer in (lambda handler, body: stream(handler, sent), at_once):
        with serving(answer) as (url, _):
            reply = OpenAIChat(url, "m", "m").reply(ASK)
        assert (reply.text, reply.thought) == ("Bo bakes.", "Eve? No.")


@pytest.mark.parametrize("content", [[5], [None], [["a"]], {"type": "text", "text": "a"}, True])
def test_content_without_text_is_refused(content):
    with pytest.raises(ValueError):
        StreamPiece.from_chunk({"choices": [{"delta": {"content": content}}]})


@pytest.mark.parametrize("packing", ["br", "zstd", "gzip, gzip", "compress"])
def test_unrequested_compression_is_refused(packing):
    def answer(handler, body):
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Content-Encoding", packing)
        handler.end_headers()

    with serving(answer) as (url, _), pytest.raises(ModelFailed, match="packed in a way"):
        OpenAIChat(url, "m", "m").reply(ASK)
