"""vLLM as a managed server: start, monitoring, requests and stop.

The script small_vllm.py takes the place of vLLM.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from core.errors import BadParameter, ModelFailed, ModelUnavailable, RunCancelled
from core.io.home import ROOT
from core.models.chat import vllm
from core.models.declarations import make_row
from core.runtime import child_guard
from core.watch import Watch
from tests.core.models import small_vllm

SMALL = Path(small_vllm.__file__)


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """The substitute as the vLLM program, with no server running before or after."""
    place = tmp_path / "vllm"
    place.write_text(f'#!/bin/sh\nexec {sys.executable} {SMALL} "$@"\n')
    place.chmod(0o755)
    monkeypatch.setenv(vllm.VLLM_PROGRAM_VARIABLE, str(place))
    monkeypatch.setenv("HOPSCOPE_VLLM_CPU", "1")
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    monkeypatch.setattr(vllm, "_servers", {})
    yield place
    for server in vllm._servers.values():
        server.stop()


def declared_models(**more):
    """Model declarations by name, one for each keyword."""
    return {
        name: make_row(name, {"kind": "chat", "backend": "vllm", **values}, "models.toml")
        for name, values in more.items()
    }


def chat_of(rows, name):
    """The chat model that the registry makes of a declaration."""
    assert rows[name].settings.missing_reason(rows[name], rows) == ""
    return rows[name].settings.make(rows[name], rows, None)


def ask_model(chat, text, **more):
    return chat.reply([{"role": "user", "content": text}], **more)


def test_server_starts_at_the_first_request(stand_in):
    chat = chat_of(declared_models(seven={"weights": "some/7B", "context": 2048}), "seven")
    assert not chat.loaded and chat.device == ""
    with ThreadPoolExecutor(8) as pool:
        replies = [
            json.loads(reply.text)
            for reply in pool.map(lambda n: ask_model(chat, f"question {n}"), range(8))
        ]
    assert [reply["said"] for reply in replies] == [f"question {n}" for n in range(8)]
    assert len({reply["pid"] for reply in replies}) == 1 and chat.loaded and chat.url in chat.device
    arguments = replies[0]["arguments"]
    assert (
        arguments[:4] == ["serve", "some/7B", "--served-model-name", "seven"]
        and "--enable-prefix-caching" in arguments
    )
    assert (
        arguments[arguments.index("--max-model-len") + 1] == "2048"
        and arguments[arguments.index("--host") + 1] == "127.0.0.1"
    )
    assert chat._key not in " ".join(arguments)
    assert chat.count_tokens([{"role": "user", "content": "one two three"}]) == 3
    chat.close()
    assert not psutil.pid_exists(replies[0]["pid"]) and not chat.loaded


def test_server_requires_its_key(stand_in):
    from core.models.chat.openai import OpenAIChat

    chat = chat_of(declared_models(seven={"weights": "some/7B"}), "seven")
    ask_model(chat, "hello")
    with pytest.raises(ModelFailed, match="refused the key"):
        ask_model(OpenAIChat(chat.url, "seven", "stranger", key="guessed"), "hello")


def test_crash_costs_only_the_running_replies(stand_in):
    chat = chat_of(declared_models(seven={"weights": "some/7B"}), "seven")
    pid, received = json.loads(ask_model(chat, "hello").text)["pid"], threading.Event()
    with ThreadPoolExecutor(2) as pool:
        slow = pool.submit(ask_model, chat, "slow", on_text=lambda text: received.set())
        assert received.wait(10)
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(ModelFailed) as lost:
            slow.result()
    said = "seven: vLLM was ended from outside (SIGKILL): cards all. The reply is lost; the next question starts it anew."
    assert str(lost.value) == said
    again = json.loads(ask_model(chat, "hello again").text)
    assert again["said"] == "hello again" and again["pid"] != pid


def test_last_output_of_the_server_is_shown(stand_in):
    chat = chat_of(declared_models(seven={"weights": "some/7B"}), "seven")
    with pytest.raises(
        ModelFailed,
        match=r"\(SIGKILL\): ValueError: the last words of a small server\. The reply is lost",
    ):
        ask_model(chat, "die")
    assert not chat.loaded


def test_dead_engine_counts_as_a_crash(stand_in, monkeypatch):
    monkeypatch.setattr("core.runtime.server_process.MAX_UNHEALTHY_SECONDS", 0.2)
    chat = chat_of(declared_models(seven={"weights": "some/7B"}), "seven")
    with pytest.raises(ModelFailed, match="vLLM no longer answered. The reply is lost"):
        ask_model(chat, "engine")
    assert not chat.loaded and json.loads(ask_model(chat, "well?").text)["said"] == "well?"


def test_refused_request_is_no_crash(stand_in):
    rows = declared_models(seven={"weights": "some/7B"})
    chat = chat_of(rows, "seven")
    pid = json.loads(ask_model(chat, "hello").text)["pid"]
    other = vllm.VLLMChat(vllm.shared_server("seven"), "eight", 2048)
    with pytest.raises(ModelFailed, match="does not know the model “eight”"):
        ask_model(other, "hello")
    assert json.loads(ask_model(chat, "still there").text)["pid"] == pid


def test_start_and_reply_can_be_cancelled(stand_in):
    chat, calls = chat_of(declared_models(seven={"weights": "some/7B"}), "seven"), []

    def cancel():
        calls.append(1)
        if len(calls) > 2:
            raise RunCancelled

    with pytest.raises(RunCancelled):
        ask_model(chat, "hello", watch=Watch(cancel))
    received = threading.Event()

    def later():
        if received.is_set():
            raise RunCancelled

    with pytest.raises(RunCancelled):
        ask_model(chat, "slow", on_text=lambda text: received.set(), watch=Watch(later))
    assert json.loads(ask_model(chat, "and on").text)["said"] == "and on"


def test_failed_start_is_explained(stand_in, monkeypatch):
    chat = chat_of(declared_models(seven={"weights": "some/broken"}), "seven")
    fault = "ended by itself (exit code 1): ValueError: No available memory for the cache blocks. Its output is in"
    with pytest.raises(ModelFailed) as raised:
        ask_model(chat, "hello")
    assert fault in str(raised.value)
    monkeypatch.setenv(vllm.VLLM_PROGRAM_VARIABLE, "/no/such/program")
    with pytest.raises(
        ModelUnavailable,
        match="seven cannot run here. HOPSCOPE_VLLM names /no/such/program",
    ):
        ask_model(chat, "hello")


def adapter(folder: Path, rank: int) -> Path:
    """A folder that looks like a LoRA adapter of this rank."""
    folder.mkdir()
    (folder / vllm.ADAPTER_CONFIG_FILE).write_text(json.dumps({"r": rank}))
    return folder


def test_adapters_of_one_base_share_its_server(stand_in, tmp_path):
    first, second = adapter(tmp_path / "first", 8), adapter(tmp_path / "second", 12)
    rows = declared_models(
        seven={"weights": "some/7B", "context": 4096},
        one={"weights": str(first), "base": "seven"},
        two={"weights": str(second), "base": "seven"},
    )
    chats = [chat_of(rows, name) for name in rows]
    replies = [json.loads(ask_model(chat, "hello").text) for chat in chats]
    assert [reply["model"] for reply in replies] == ["seven", "one", "two"] and len(
        {reply["pid"] for reply in replies}
    ) == 1
    arguments = replies[0]["arguments"]
    at = arguments.index("--lora-modules")
    assert arguments[at - 5 : at] == ["--enable-lora", "--max-loras", "2", "--max-lora-rank", "16"]
    assert [json.loads(one) for one in arguments[at + 1 : at + 3]] == [
        {"name": "one", "path": str(first)},
        {"name": "two", "path": str(second)},
    ]
    assert {chat.context for chat in chats} == {4096}


def test_new_adapter_restarts_the_server(stand_in, tmp_path):
    base = chat_of(declared_models(seven={"weights": "some/7B"}), "seven")
    pid = json.loads(ask_model(base, "hello").text)["pid"]
    rows = declared_models(
        seven={"weights": "some/7B"},
        one={"weights": str(adapter(tmp_path / "first", 8)), "base": "seven"},
    )
    later = json.loads(ask_model(chat_of(rows, "one"), "hello").text)
    assert later["pid"] != pid and not psutil.pid_exists(pid)
    assert json.loads(ask_model(base, "hello again").text)["pid"] == later["pid"]


def test_settings_become_server_arguments(stand_in):
    more = {
        "quantization": "fp8",
        "reasoning": "qwen3",
        "gpu_share": 0.5,
        "options": "--dtype 'half'",
    }
    rows = declared_models(big={"weights": "some/70B", "cards": "2,3", **more})
    launch = rows["big"].settings.launch(rows["big"], rows)
    assert launch.environment == (("CUDA_VISIBLE_DEVICES", "2,3"),)
    text = " ".join(launch.arguments)
    for part in (
        "--tensor-parallel-size 2",
        "--quantization fp8",
        "--reasoning-parser qwen3",
        "--gpu-memory-utilization 0.5",
        "--dtype half",
    ):
        assert part in text
    ask_model(chat_of(rows, "big"), "hello")
    assert "cards 2,3" in (Path(os.environ["HOPSCOPE_HOME"]) / "logs" / "vllm-big.log").read_text()
    four = declared_models(four={"weights": "some/70B", "cards": 4})
    assert "--tensor-parallel-size 4" in " ".join(
        four["four"].settings.launch(four["four"], four).arguments
    )


@pytest.mark.parametrize("cards", [0, "", "first", "0,", -1])
def test_invalid_cards_are_refused(cards):
    with pytest.raises(
        BadParameter,
        match=r'models.toml: \[model.x\]: "cards" is a number of graphics cards, or says which ones',
    ):
        declared_models(x={"weights": "some/7B", "cards": cards})


def test_invalid_base_and_adapter_folder_are_refused(stand_in, tmp_path):
    rows = declared_models(one={"weights": str(tmp_path), "base": "seven"})
    assert "its base “seven” is not declared as a model of vLLM" in rows[
        "one"
    ].settings.missing_reason(rows["one"], rows)
    rows |= declared_models(seven={"weights": "some/7B"})
    assert "holds no adapter_config.json" in rows["one"].settings.missing_reason(rows["one"], rows)


ASKING = """
import os, sys, time
from core.models.chat import vllm
from core.models.declarations import make_row
one = make_row("seven", {"kind": "chat", "backend": "vllm", "weights": sys.argv[1]}, "models.toml")
print(one.settings.make(one, {"seven": one}, None).reply([{"role": "user", "content": "hello"}]).text, flush=True)
if sys.argv[2] == "wait":
    time.sleep(60)
"""


@pytest.mark.parametrize(
    ("how", "weights"), [("exit", "some/7B"), ("wait", "some/7B"), ("wait", "some/stubborn")]
)
def test_server_ends_with_its_starting_process(stand_in, how, weights, monkeypatch, tmp_path):
    guard = tmp_path / "guard.py"  # A child guard with a shorter grace period.
    guard.write_text(
        Path(child_guard.__file__)
        .read_text("utf-8")
        .replace("GRACE_SECONDS = 10.0", "GRACE_SECONDS = 0.3")
    )
    code = f"import core.runtime.child_guard as guard\nguard.__file__ = {str(guard)!r}\n{ASKING}"
    with subprocess.Popen(
        [sys.executable, "-c", code, weights, how], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as asking:
        assert asking.stdout is not None
        pid = json.loads(asking.stdout.readline())["pid"]
        if how == "wait":
            assert psutil.pid_exists(pid)
            asking.kill()
    until = time.monotonic() + 10
    while psutil.pid_exists(pid) and time.monotonic() < until:
        time.sleep(0.05)
    assert not psutil.pid_exists(pid)
