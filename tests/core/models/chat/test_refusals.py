"""Servers that refuse part of a request, answer in another format, or are unavailable."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import pytest

from core.errors import ModelFailed, RunCancelled
from core.models.chat import pauses
from core.models.chat.openai import OpenAIChat
from core.models.chat.refusals import Refusals, SavedRefusals
from core.models.registry import Registry
from core.runtime.meter import metered
from core.watch import Watch
from tests.core.models.chat_server import serving, stream

ASK = [{"role": "system", "content": "Answer."}, {"role": "user", "content": "Who painted it?"}]
SCHEMA = {
    "type": "object",
    "properties": {"who": {"type": "string"}},
    "required": ["who"],
    "additionalProperties": False,
}


def event(text, finish=None) -> str:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": finish}
    return f"data: {json.dumps({'id': '1', 'object': 'chat.completion.chunk', 'created': 1, 'model': 'm', 'choices': [choice]})}\n\n"


WELL = event("Ann.") + event("", "stop") + "data: [DONE]\n\n"


def as_json(handler, status: int, answer, headers=(), kind="application/json") -> None:
    """Send a single answer that is not streamed."""
    text = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
    handler.send_response(status)
    for key, value in {
        "Content-Type": kind,
        "Content-Length": str(len(text)),
        **dict(headers),
    }.items():
        handler.send_header(key, value)
    handler.end_headers()
    handler.wfile.write(text)


def refusing(status: int, message, where):
    """A server that refuses bodies for which `where(body)` is true, and answers all others."""

    def answer(handler, body):
        as_json(handler, status, message) if where(body) else stream(handler, WELL)

    return answer


def error_body(message: str, **more) -> dict:
    return {"error": {"message": message, **more}}


REFUSED = [
    (
        400,
        error_body("Unknown parameter: stream_options"),
        lambda body: "stream_options" in body,
        "stream_options",
    ),
    (
        422,
        {
            "detail": [
                {"loc": ["body", "seed"], "msg": "Extra inputs are not permitted", "input": 0}
            ]
        },
        lambda body: "seed" in body,
        "seed",
    ),
    (
        400,
        error_body("Unsupported value", param="temperature"),
        lambda body: body.get("temperature", 1) != 1,
        "temperature",
    ),
    (
        500,
        error_body("System role not supported"),
        lambda body: body["messages"][0]["role"] == "system",
        "system role",
    ),
    (
        404,
        error_body("No endpoints found that support json_schema"),
        lambda body: "response_format" in body,
        "response_format",
    ),
    (
        500,
        error_body("Unexpected field response_format"),
        lambda body: "response_format" in body,
        "response_format",
    ),
    (
        400,
        error_body("Use 'max_completion_tokens': 'max_tokens' is not supported with this model."),
        lambda body: "max_tokens" in body,
        "max_tokens",
    ),
]


@pytest.mark.parametrize(
    ("status", "message", "where", "name"), REFUSED, ids=[f"{one[3]}-{one[0]}" for one in REFUSED]
)
def test_refused_parameter_is_left_out_afterwards(status, message, where, name):
    with serving(refusing(status, message, where)) as (url, bodies):
        chat = OpenAIChat(url, "m", "server")
        assert chat.reply(ASK, schema=SCHEMA, max_tokens=32).text == "Ann."
        assert chat.reply(ASK, schema=SCHEMA, max_tokens=32, seed=7).text == "Ann."
    assert chat.refuses == (name,) and [where(body) for body in bodies] == [True, False, False]
    if name == "max_tokens":
        assert bodies[1]["max_completion_tokens"] == 32
    if name == "system role":
        assert bodies[1]["messages"] == [{"role": "user", "content": "Answer.\n\nWho painted it?"}]


def test_several_refusals_are_found_in_turn():
    def answer(handler, body):
        for key in ("stream_options", "seed", "temperature"):
            if key in body:
                return as_json(
                    handler, 400, error_body(f"Unrecognized request argument supplied: {key}")
                )
        return stream(handler, WELL)

    with serving(answer) as (url, bodies):
        chat = OpenAIChat(url, "m", "server")
        assert (
            chat.reply(ASK).text == "Ann."
            and chat.refuses == ("stream_options", "seed", "temperature")
            and len(bodies) == 4
        )


def test_long_prompt_is_no_refused_parameter():
    message = (
        "'max_tokens' is not supported at 9000: this model's maximum context length is 4096 tokens."
    )
    with serving(lambda handler, body: as_json(handler, 400, error_body(message))) as (url, bodies):
        chat = OpenAIChat(url, "m", "server")
        with pytest.raises(ModelFailed, match="maximum context length is 4096"):
            chat.reply(ASK, schema=SCHEMA)
    assert chat.refuses == () and len(bodies) == 1


def test_unrelated_parameter_is_not_left_out():
    with serving(
        lambda handler, body: as_json(handler, 400, error_body("Something is wrong."))
    ) as (
        url,
        bodies,
    ):
        chat = OpenAIChat(url, "m", "server")
        with pytest.raises(ModelFailed, match="Something is wrong"):
            chat.reply(ASK, schema=SCHEMA)
    assert chat.refuses == () and len(bodies) == 2  # The second request left out the schema.


def test_parallel_requests_find_the_same_refusal():
    refusals, body = Refusals(), {"messages": [], "seed": 1}
    assert [refusals.learn(400, "seed is not supported", body) for _ in range(2)] == [
        "seed",
        "seed",
    ] and refusals.names == ("seed",)


def reply_object(text, finish="stop"):
    message = {"role": "assistant", "content": text, "reasoning_content": "Ann or Bob?"}
    usage = {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15}
    return {
        "id": "1",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": usage,
    }


def test_server_without_streaming_is_supported():
    pieces: list[str] = []
    with serving(lambda handler, body: as_json(handler, 200, reply_object("Ann."))) as (url, _):
        reply = OpenAIChat(url, "m", "server").reply(ASK, on_text=pieces.append)
    assert (reply.text, reply.thought, reply.tokens_in, reply.tokens_out, reply.finish) == (
        "Ann.",
        "Ann or Bob?",
        12,
        3,
        "stop",
    )
    assert pieces == ["Ann."]


@pytest.mark.parametrize(
    ("answer", "kind", "sentence"),
    [
        (
            error_body("quota exceeded for free tier", code=429),
            "application/json",
            "it says: quota exceeded for free tier",
        ),
        ({"anything": 1}, "application/json", "it sent an object that is no reply"),
        (
            b"<!DOCTYPE html><html><body>Sign in</body></html>",
            "text/html; charset=utf-8",
            "it sent a web page; is the address right",
        ),
    ],
)
def test_invalid_answer_is_reported(answer, kind, sentence):
    with (
        serving(lambda handler, body: as_json(handler, 200, answer, kind=kind)) as (url, _),
        pytest.raises(ModelFailed, match=sentence),
    ):
        OpenAIChat(url, "m", "server").reply(ASK)


def test_stream_is_complete_only_with_its_end_mark():
    with serving(lambda handler, body: stream(handler, event("Ann.") + "data: [DONE]\n\n")) as (
        url,
        _,
    ):
        reply = OpenAIChat(url, "m", "server").reply(ASK)
        assert (reply.text, reply.finish) == ("Ann.", "stop")
    with (
        serving(lambda handler, body: stream(handler, event("Ann."))) as (url, _),
        pytest.raises(ModelFailed, match="ended before the reply"),
    ):
        OpenAIChat(url, "m", "server").reply(ASK)


def test_unknown_model_error_quotes_the_server():
    with serving(
        lambda handler, body: as_json(handler, 404, error_body("The model `m` was retired."))
    ) as (url, _):
        with pytest.raises(
            ModelFailed,
            match="“m” .*: The model `m` was retired",
        ):
            OpenAIChat(url, "m", "server").reply(ASK)


@pytest.mark.parametrize("status", [429, 503])
def test_busy_server_is_retried_after_its_delay(status):
    def answer(handler, body):
        as_json(handler, status, error_body("Please try again."), {"Retry-After": "0.3"}) if len(
            bodies
        ) < 3 else stream(handler, WELL)

    told: list[str] = []
    with serving(answer) as (url, bodies), metered(report=lambda far: told.append(far.text)):
        began = time.monotonic()
        assert OpenAIChat(url, "m", "server").reply(ASK).text == "Ann." and len(bodies) == 3
        assert (
            time.monotonic() - began > 0.55
            and told[0] == f"The server at {url} is busy ({status}); asking again in 1 second"
        )


def test_busy_server_is_given_up_in_the_end(monkeypatch):
    monkeypatch.setattr(
        pauses, "PAUSE_DEFAULTS", replace(pauses.PAUSE_DEFAULTS, first_seconds=0.001)
    )
    with serving(lambda handler, body: as_json(handler, 429, error_body("Slow down."))) as (
        url,
        bodies,
    ):
        with pytest.raises(ModelFailed, match="Slow down"):
            OpenAIChat(url, "m", "server").reply(ASK)
        assert len(bodies) == 1 + pauses.PAUSE_DEFAULTS.max_busy_pauses
    with serving(
        lambda handler, body: as_json(
            handler, 429, error_body("Tomorrow."), {"Retry-After": "86400"}
        )
    ) as (url, bodies):
        with pytest.raises(ModelFailed, match="Tomorrow"):
            OpenAIChat(url, "m", "server").reply(ASK)
        assert len(bodies) == 1
    with serving(
        lambda handler, body: as_json(
            handler, 429, error_body("You exceeded your quota.", code="insufficient_quota")
        )
    ) as (url, bodies):
        with pytest.raises(ModelFailed, match="your quota"):
            OpenAIChat(url, "m", "server").reply(ASK)
        assert len(bodies) == 1


def test_wait_for_a_busy_server_can_be_cancelled():
    def check():
        if bodies:
            raise RunCancelled

    with serving(
        lambda handler, body: as_json(handler, 429, error_body("Later."), {"Retry-After": "60"})
    ) as (url, bodies):
        with pytest.raises(RunCancelled):
            OpenAIChat(url, "m", "server").reply(ASK, watch=Watch(check))


def test_early_dropped_connection_is_retried(monkeypatch):
    monkeypatch.setattr(
        pauses, "PAUSE_DEFAULTS", replace(pauses.PAUSE_DEFAULTS, first_seconds=0.01)
    )

    def answer(handler, body):
        if len(bodies) < 2:
            handler.close_connection = True
            handler.wfile.close()
            return
        stream(handler, WELL)

    with serving(answer) as (url, bodies):
        assert OpenAIChat(url, "m", "server").reply(ASK).text == "Ann." and len(bodies) == 2


def declared(url: str, **more) -> str:
    lines = "\n".join(f"{key} = {json.dumps(value)}" for key, value in more.items())
    return f'[model.far]\nkind = "chat"\nbackend = "openai"\nurl = "{url}"\nmodel = "m"\n{lines}\n'


def test_refusals_are_saved_until_the_row_changes(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    with serving(
        refusing(400, error_body("Unknown parameter: seed"), lambda body: "seed" in body)
    ) as (
        url,
        bodies,
    ):
        for number, (row, requests, refuses) in enumerate(
            [
                (declared(url), 2, ()),
                # The last process reads what was refused from the file alone.
                (declared(url), 1, ("seed",)),
                (declared(url, context=4096), 2, ()),
                (declared(url, context=4096), 1, ("seed",)),
            ]
        ):
            (tmp_path / "models.toml").write_text(row, "utf-8")
            chat, before = Registry().chat("far"), len(bodies)
            assert chat.refuses == refuses
            assert chat.reply(ASK, seed=number).text == "Ann." and len(bodies) == before + requests
            assert chat.refuses == ("seed",)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[1]",
        '{"far": 3}',
        '{"far": {"row": 1, "refuses": "seed"}}',
        '{"far": {"refuses": [1]}}',
    ],
)
def test_unreadable_file_of_refusals_is_ignored(tmp_path, content):
    file = tmp_path / "refusals.json"
    file.write_text(content, "utf-8")
    saved = SavedRefusals(file, "far", "row")
    assert saved.names() == ()
    saved.save(["seed"])
    assert saved.names() == ("seed",) and SavedRefusals(file, "near", "row").names() == ()


def test_wrong_refusal_is_removed_from_disk(tmp_path):
    saved, refusals = SavedRefusals(tmp_path / "refusals.json", "far", "row"), Refusals()
    refusals.save_to(saved)
    refusals.learn(422, "Extra inputs are not permitted: seed", {"messages": [], "seed": 0})
    assert saved.names() == ("seed",)
    refusals.forget({"seed"})
    assert saved.names() == ()


def test_unwritable_folder_costs_no_reply(tmp_path, caplog):
    (tmp_path / "file").write_text("no folder", "utf-8")
    SavedRefusals(tmp_path / "file" / "refusals.json", "far", "row").save(["seed"])
    assert "was not saved" in caplog.text
