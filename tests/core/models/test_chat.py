"""Chat models: the real embedded one, its OpenAI-compatible port, and servers that fail."""

from __future__ import annotations

import json
import socket
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from core.errors import BadInput, ModelFailed, ModelUnavailable, RunCancelled
from core.models.base import ChatReply
from core.models.chat.lanes import make_concurrent_chat
from core.models.chat.llama import LlamaChat
from core.models.chat.openai import OpenAIChat
from core.models.chat.reply_cache import ReplyCache
from core.models.chat.token_estimates import estimate_text_tokens, estimate_tokens
from core.models.chat.vllm import unavailable_reason
from core.models.registry import Registry
from core.watch import Watch
from tests.core.models.chat_server import serving, stream

ASK = [{"role": "user", "content": "Which country is Paris in? One word."}]
SCHEMA = {
    "type": "object",
    "properties": {"country": {"type": "string", "maxLength": 12}},
    "required": ["country"],
    "additionalProperties": False,
}


def test_embedded_model_streams_counts_and_caches(qwen):
    pieces: list[str] = []
    first = qwen.reply(ASK, max_tokens=8, on_text=pieces.append)
    assert "France" in first.text and "".join(pieces) == first.text and not first.cached
    assert first.tokens_in == qwen.count_tokens(ASK) and 0 < first.tokens_out <= 8
    again: list[str] = []
    second = qwen.reply(ASK, max_tokens=8, on_text=again.append)
    assert second.cached and second.text == first.text and again == [first.text]


def test_embedded_model_reports_a_cut_reply(tiny):
    assert (
        tiny.reply([{"role": "user", "content": "Count from 1 to 50."}], max_tokens=4).finish
        == "length"
    )


def test_embedded_model_follows_a_schema(tiny):
    reply = json.loads(tiny.reply(ASK, schema=SCHEMA, max_tokens=80).text)
    assert list(reply) == ["country"] and isinstance(reply["country"], str)


def test_embedded_model_answers_in_parallel(tiny):
    lanes = make_concurrent_chat(tiny, 2)
    try:
        with ThreadPoolExecutor(2) as pool:
            asked = [
                [{"role": "user", "content": f"Which country is {city} in? One word."}]
                for city in ("Paris", "Tokyo", "Oslo")
            ]
            replies = list(pool.map(lambda one: lanes.reply(one, max_tokens=8).text, asked))
        tiny.forget()
        assert replies == [tiny.reply(one, max_tokens=8).text for one in asked]
    finally:
        lanes.close()
    assert not lanes.loaded


def test_cancelling_stops_the_request(tiny):
    """Without the stop, the next token would wait for 400 others."""
    pieces: list[str] = []

    def seconds_of_a_token(text):
        start = time.process_time()
        tiny.reply([{"role": "user", "content": text}], max_tokens=1)
        return time.process_time() - start

    alone = seconds_of_a_token("Say b.")

    def check():
        if len(pieces) >= 2:
            raise RunCancelled

    with pytest.raises(RunCancelled):
        tiny.reply(
            [{"role": "user", "content": "Tell a long story."}],
            max_tokens=400,
            on_text=pieces.append,
            watch=Watch(check),
        )
    assert len(pieces) == 2
    assert seconds_of_a_token("Say a.") < 50 * alone


def test_waiting_request_can_be_cancelled(tiny):
    def cancel():
        raise RunCancelled

    with tiny._slots, pytest.raises(RunCancelled):
        tiny.reply([{"role": "user", "content": "never asked"}], watch=Watch(cancel))


def test_error_of_a_listener_is_passed_on(tiny):
    def fail(text):
        raise KeyError(text)

    with pytest.raises(KeyError):
        tiny.reply([{"role": "user", "content": "Say b."}], max_tokens=2, on_text=fail)


def test_reply_does_not_depend_on_earlier_requests(tiny):
    ask = [{"role": "user", "content": "Name three fruits."}]
    first = tiny.reply(ask, max_tokens=12).text
    tiny.reply([{"role": "user", "content": "Name three animals."}], max_tokens=4)
    tiny._replies = ReplyCache()
    assert tiny.reply(ask, max_tokens=12).text == first


def test_prompt_longer_than_the_context_is_refused(tiny):
    with pytest.raises(BadInput, match="reads at most 1024"):
        tiny.reply([{"role": "user", "content": "x " * 900}])


def test_missing_file_explains_how_to_get_it(tmp_path):
    with pytest.raises(ModelUnavailable, match="make models"):
        LlamaChat(tmp_path / "none.gguf", "none").reply(ASK)


def test_damaged_file_is_a_failure(tmp_path):
    (tmp_path / "bad.gguf").write_bytes(b"not a model")
    with pytest.raises(ModelFailed, match="could not be loaded"):
        LlamaChat(tmp_path / "bad.gguf", "bad").reply(ASK)


def test_real_server_answers_like_the_embedded_model(tiny):
    server = OpenAIChat(tiny.url, "any", "loopback", key=tiny.key)
    pieces: list[str] = []
    reply = server.reply(ASK, max_tokens=8, on_text=pieces.append)
    assert reply.text == tiny.reply(ASK, max_tokens=8).text == "".join(pieces)
    assert reply.tokens_in == tiny.count_tokens(ASK) and reply.tokens_out > 0
    assert list(json.loads(server.reply(ASK, schema=SCHEMA, max_tokens=80).text)) == ["country"]
    assert server.reply(ASK, schema=SCHEMA, max_tokens=80).cached


def test_wrong_key_is_a_readable_failure(tiny):
    with pytest.raises(ModelFailed, match="refused the key"):
        OpenAIChat(tiny.url, "any", "loopback", key="wrong").reply(ASK)


def test_dead_server_fails_at_once_and_is_named():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    with pytest.raises(ModelFailed, match=f"{url} cannot be reached"):
        OpenAIChat(url, "m", "dead").reply(ASK)


def test_missing_key_is_reported(monkeypatch):
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    with pytest.raises(ModelUnavailable, match="NO_SUCH_KEY"):
        OpenAIChat("http://127.0.0.1:9/v1", "m", "keyed", "NO_SUCH_KEY").reply(ASK)


PIECE = (
    'data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"Hel"},'
    '"finish_reason":null}]}\n\n'
)
LAST = PIECE.replace('"Hel"', '"lo"').replace("null", '"stop"') + "data: [DONE]\n\n"


@pytest.mark.parametrize("length", [None, 5000])
def test_server_that_dies_during_a_stream_fails(length):
    with serving(lambda handler, body: stream(handler, PIECE, length)) as (url, bodies):
        with pytest.raises(ModelFailed, match="What came so far: “Hel”"):
            OpenAIChat(url, "m", "dying").reply(ASK)
        assert len(bodies) == 1


def test_server_without_schemas_is_asked_without_one():
    def answer(handler, body):
        if "response_format" in body:
            handler.send_error(400)
        else:
            stream(handler, PIECE + LAST)

    with serving(answer) as (url, bodies):
        chat = OpenAIChat(url, "m", "plain")
        reply = chat.reply(ASK, schema=SCHEMA)
        assert (
            reply.text == "Hello" and reply.tokens_in == estimate_tokens(ASK) and len(bodies) == 2
        )
        chat.reply(ASK, schema=SCHEMA, seed=1)
        assert len(bodies) == 3 and chat.refuses == ("response_format",)


def test_failing_server_is_not_retried():
    with serving(lambda handler, body: handler.send_error(500)) as (url, bodies):
        with pytest.raises(ModelFailed, match="failed"):
            OpenAIChat(url, "m", "broken").reply(ASK, schema=SCHEMA)
        assert len(bodies) == 1


def test_slow_server_is_given_up():
    with (
        serving(lambda handler, body: time.sleep(1.5)) as (url, _),
        pytest.raises(ModelFailed, match="did not answer within 0.3"),
    ):
        OpenAIChat(url, "m", "slow", timeout=0.3).reply(ASK)


def test_cancelling_stops_reading_from_a_server():
    def check():
        if pieces:
            raise RunCancelled

    pieces: list[str] = []
    with (
        serving(lambda handler, body: stream(handler, PIECE * 3 + LAST)) as (url, _),
        pytest.raises(RunCancelled),
    ):
        OpenAIChat(url, "m", "long").reply(ASK, on_text=pieces.append, watch=Watch(check))
    assert pieces == ["Hel"]


def test_replies_are_bounded():
    replies = ReplyCache(max_replies=2)
    for number in range(4):
        replies.save(str(number), ChatReply(str(number)))
    assert len(replies) == 2


def test_missing_vllm_explains_how_to_get_it():
    if unavailable_reason() is None:
        pytest.skip("vLLM is installed here; make test-vllm runs it")
    with pytest.raises(ModelUnavailable, match="pip install -r requirements-gpu.txt"):
        Registry().chat("qwen-7b-vllm").reply(ASK)


def test_a_token_is_about_three_and_a_half_bytes():
    assert (
        estimate_text_tokens(""),
        estimate_text_tokens("a" * 7),
        estimate_text_tokens("a" * 8),
        estimate_text_tokens("中文"),
    ) == (0, 2, 3, 2)
