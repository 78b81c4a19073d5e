"""Measured profiles of servers: simulated ones whose tokens are words, and llama.cpp's own."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

import pytest

from core.errors import BadParameter, ModelFailed, RunCancelled
from core.io.home import models_folder
from core.models import api_keys
from core.models.chat import pauses
from core.models.chat.openai import OpenAIChat
from core.models.chat.profile import (
    SECRET,
    ChatProfileDefaults,
    ServerProfile,
    measure_server,
    save_profile,
    saved_profile,
)
from core.models.declarations import own_file
from core.models.registry import Registry
from core.watch import Watch
from tests.core.models.chat.test_refusals import as_json, event
from tests.core.models.chat_server import serving, stream


@dataclass
class WordServer:
    """A simulated server whose tokens are words.

    It reads up to `reads` words. A longer prompt is refused, or its oldest words are cut.
    """

    reads: int = 100_000
    cuts: bool = False
    streams: bool = True
    schema: bool = True
    logs: bool = True
    system: bool = True
    repeats: bool = True
    thinks: bool = False
    counts: bool = True
    recalls: bool = True
    refuses: str = ""
    asked: int = 0
    longest: int = 0

    def __call__(self, handler, body) -> None:
        self.asked += 1
        if self.refuses and self.refuses in body:
            as_json(handler, 400, {"error": {"message": f"Unknown parameter: {self.refuses}"}})
            return
        shown = [m["content"] for m in body["messages"] if self.system or m["role"] != "system"]
        words = " ".join(shown).split()
        if len(words) > self.reads and not self.cuts:
            as_json(
                handler,
                400,
                {
                    "error": {
                        "message": f"The prompt is longer than the context length of {self.reads}."
                    }
                },
            )
            return
        words = words[-self.reads :]
        self.longest = max(self.longest, len(words))
        text = self._reply(body, words)
        if self.thinks:
            text = f"<think>Hm.</think>{text}"
        usage = {
            "prompt_tokens": len(words),
            "completion_tokens": len(text.split()),
            "total_tokens": 0,
        }
        if not body.get("stream") or not self.streams:
            choice = {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": text},
            }
            choice |= (
                {"logprobs": {"content": [{"token": "a", "logprob": -0.1, "top_logprobs": []}]}}
                if self.logs
                else {}
            )
            whole = {
                "id": "1",
                "object": "chat.completion",
                "created": 1,
                "model": "m",
                "choices": [choice],
            }
            as_json(handler, 200, whole | ({"usage": usage} if self.counts else {}))
            return
        pieces = "".join(event(piece) for piece in text.replace(" ", " \0").split("\0")) + event(
            "", "stop"
        )
        last = {
            "id": "1",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "m",
            "choices": [],
            "usage": usage,
        }
        stream(
            handler,
            pieces + (f"data: {json.dumps(last)}\n\n" if self.counts else "") + "data: [DONE]\n\n",
        )

    def _reply(self, body, words: list[str]) -> str:
        if "response_format" in body and self.schema:
            return json.dumps({"colour": SECRET, "count": 2})
        if "password" in words[-8:] or "password?" in words:
            return (
                f"It is {SECRET}." if f"{SECRET}." in words and self.recalls else "I do not know."
            )
        if body.get("temperature"):
            return "Aba by the sea." if self.repeats else f"Town {self.asked} by the sea."
        return "one, two, three, four, five"


def measured(server: WordServer, **how) -> ServerProfile:
    with serving(server) as (url, _):
        return measure_server(OpenAIChat(url, "m", "mine"), **how)


def test_full_featured_server_is_measured():
    server = WordServer()
    profile = measured(server, max_tokens=2048)
    assert (
        1_400 <= server.longest <= 2_048
        and profile.reads == server.longest
        and profile.longer == ""
    )
    assert (
        profile.streams,
        profile.schema,
        profile.log_probabilities,
        profile.system_role,
        profile.counts,
    ) == (True,) * 5
    assert (profile.seed, profile.thinks, profile.refuses) == ("repeats", False, ())
    assert f"reads prompts of {profile.reads:,} tokens at least" in profile.sentences()


def test_limited_server_is_measured():
    server = WordServer(
        streams=False, schema=False, logs=False, repeats=False, thinks=True, refuses="seed"
    )
    profile = measured(server, max_tokens=1024)
    assert (
        profile.streams,
        profile.schema,
        profile.log_probabilities,
        profile.seed,
        profile.thinks,
    ) == (
        False,
        False,
        False,
        "refused",
        True,
    )
    assert set(profile.refuses) == {"seed", "response_format"}
    assert "does not keep to a schema: JSON is asked for in words" in profile.sentences()
    assert measured(WordServer(repeats=False), max_tokens=512).seed == "varies"


def test_dropped_system_message_is_detected_by_token_count():
    assert not measured(WordServer(system=False), max_tokens=512).system_role


@pytest.mark.parametrize("counts", [True, False])
@pytest.mark.parametrize(("cuts", "longer"), [(False, "refused"), (True, "cut")])
def test_longest_whole_prompt_is_measured(cuts, longer, counts):
    """A limit of 1,500 words is found from below, within an eighth of the range 1,024 to 2,048."""
    profile = measured(WordServer(reads=1500, cuts=cuts, counts=counts), max_tokens=8192)
    assert profile.longer == (longer if counts or not cuts else "unclear")
    if counts:
        assert 1_250 <= profile.reads <= 1_500
        assert profile.is_limited


def test_weak_model_is_measured_by_token_counts():
    assert measured(WordServer(recalls=False), max_tokens=2048).reads > 1_400
    profile = measured(WordServer(recalls=False, counts=False), max_tokens=2048)
    assert (profile.reads, profile.longer) == (0, "unclear")
    assert "how long a prompt it reads could not be found out" in profile.sentences()


def test_unavailable_server_has_no_profile(monkeypatch):
    monkeypatch.setattr(
        pauses, "PAUSE_DEFAULTS", replace(pauses.PAUSE_DEFAULTS, first_seconds=0.01)
    )
    with serving(lambda handler, body: as_json(handler, 401, {"error": {"message": "no key"}})) as (
        url,
        _,
    ):
        with pytest.raises(ModelFailed, match="asks for a key"):
            measure_server(OpenAIChat(url, "m", "mine"))
        with pytest.raises(ModelFailed, match="refused the key"):
            measure_server(OpenAIChat(url, "m", "mine", key="wrong"))
    with pytest.raises(ModelFailed, match="cannot be reached"):
        measure_server(OpenAIChat(url, "m", "mine"))
    server = WordServer()

    def dying(handler, body):
        server(handler, body) if server.asked < 6 else handler.connection.close()

    with serving(dying) as (url, _), pytest.raises(ModelFailed):
        measure_server(OpenAIChat(url, "m", "mine"))


def test_measurement_is_cancelled_between_prompts():
    def stop(text, part):
        if "tokens" in text:
            raise RunCancelled()

    with pytest.raises(RunCancelled):
        measured(WordServer(), watch=Watch(report=stop))


def test_profile_is_saved_per_address_and_model(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    profile = ServerProfile(
        "2026-01-02", 900, "cut", True, refuses=("seed",), seed="varies", tokens_a_second=3.5
    )
    save_profile("mine", "http://x/v1", "m", profile)
    assert saved_profile("mine", "http://x/v1", "m") == profile
    assert (
        saved_profile("mine", "http://x/v1", "other") is None
        and saved_profile("none", "http://x/v1", "m") is None
    )
    (tmp_path / "servers" / "mine.json").write_text("{")
    assert saved_profile("mine", "http://x/v1", "m") is None


def test_requests_respect_the_profile(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_MODELS", str(models_folder()))
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    with serving(WordServer(reads=1500, cuts=True, schema=False)) as (url, bodies):
        Registry().add(
            "mine", "chat", "openai", serves=["answer", "judge"], key="k-1", url=url, model="m"
        )
        registry = Registry()
        assert (registry.roles["answer"], registry.roles["judge"]) == ("mine", "mine")
        registry.measure("mine")
        info = registry.info("mine")
        assert (
            info.profile is not None
            and info.profile.is_limited
            and registry.chat("mine").context == info.profile.reads <= 1500
        )
        assert f"context = {info.profile.reads}" in own_file().read_text()
        bodies.clear()
        Registry().chat("mine").reply(
            [{"role": "user", "content": "Say it."}], schema={"type": "object"}
        )
        assert "response_format" not in bodies[0]
        with pytest.raises(BadParameter, match="nothing to measure"):
            registry.measure("minilm")
    assert "k-1" not in own_file().read_text()
    assert api_keys.saved_key(url) == "k-1" and api_keys.keys_file().stat().st_mode & 0o777 == 0o600


def test_llama_cpp_server_is_measured(tiny, monkeypatch):
    """A context of 1,024 tokens, which are bytes, limits the prompts that the server accepts."""
    monkeypatch.setattr(
        "core.models.chat.profile.CHAT_PROFILE",
        ChatProfileDefaults(min_prompt_tokens=96, probe_reply_tokens=300),
    )
    server = OpenAIChat(tiny.url, "measured", "mine", key=tiny.key)
    profile = measure_server(server, max_tokens=2048, max_seconds=600)
    assert profile.longer == "refused" and 680 <= profile.reads <= 1024
    assert (
        profile.streams
        and profile.schema
        and profile.system_role
        and profile.counts
        and not profile.thinks
    )
    assert profile.log_probabilities and profile.seed == "repeats" and profile.tokens_a_second > 0
