"""vLLM itself: `make test-vllm`, on processors. Started, asked, cancelled, killed and back, with the weights of the 0.5 B model.

On a graphics card: HOPSCOPE_VLLM_CARDS=0 names it, HOPSCOPE_VLLM vLLM's program, HOPSCOPE_VLLM_WEIGHTS a folder; HOPSCOPE_VLLM_RANDOM=1
says that its weights are random ones, which know no capitals.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import psutil
import pytest
from openai import OpenAI

from core.errors import ModelFailed, RunCancelled
from core.models.chat import vllm
from core.models.declarations import make_row
from core.watch import Watch

WEIGHTS = Path(os.environ["HOPSCOPE_VLLM_WEIGHTS"])
CARDS, RANDOM = (
    os.environ.get("HOPSCOPE_VLLM_CARDS", ""),
    os.environ.get("HOPSCOPE_VLLM_RANDOM") == "1",
)
EAGER = "--dtype bfloat16 --enforce-eager --max-num-seqs 16"  # without eager it compiles, which takes minutes on a few cores
COMPACT = """--structured-outputs-config '{"backend": "xgrammar", "disable_any_whitespace": true}'"""  # random ones never end it
OPTIONS = " ".join([*([] if CARDS else [EAGER]), *([COMPACT] if RANDOM else [])])
COUNTRY = {"type": "string", "enum": ["France", "Germany", "Spain"]}
SCHEMA = {
    "type": "object",
    "properties": {"country": COUNTRY},
    "required": ["country"],
    "additionalProperties": False,
}
pytestmark = pytest.mark.timeout(900)


def adapter(folder: Path, size: float) -> Path:
    """A LoRA adapter over all layers' query projections, with random weights of that size."""
    from safetensors.numpy import save_file

    config = json.loads((WEIGHTS / "config.json").read_text())
    hidden, draw = config["hidden_size"], np.random.default_rng(0)
    told = {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "r": 8,
        "lora_alpha": 16,
        "lora_dropout": 0.0,
        "bias": "none",
    }
    folder.mkdir()
    (folder / vllm.ADAPTER_CONFIG_FILE).write_text(
        json.dumps({**told, "target_modules": ["q_proj"], "base_model_name_or_path": str(WEIGHTS)})
    )
    weights = {}
    for layer in range(config["num_hidden_layers"]):
        name = f"base_model.model.model.layers.{layer}.self_attn.q_proj"
        weights[f"{name}.lora_A.weight"] = draw.normal(size=(8, hidden)).astype(np.float32) * 0.1
        weights[f"{name}.lora_B.weight"] = draw.normal(size=(hidden, 8)).astype(np.float32) * size
    save_file(weights, folder / "adapter_model.safetensors")
    return folder


@pytest.fixture(scope="module")
def chats(tmp_path_factory):
    """The clients of the base and of two adapters over it, one of which changes nothing."""
    folder = tmp_path_factory.mktemp("vllm")
    given = {
        "base": {
            "weights": str(WEIGHTS),
            "context": 2048,
            "options": OPTIONS,
            "at_once": 64,
            **({"cards": CARDS} if CARDS else {}),
        },
        "same": {"weights": str(adapter(folder / "same", 0.0)), "base": "base"},
        "other": {"weights": str(adapter(folder / "other", 1.0)), "base": "base"},
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOPSCOPE_HOME", str(folder))
        if CARDS:
            patch.setenv("CUDA_VISIBLE_DEVICES", CARDS)  # which the tests' settings hide
        else:
            patch.setenv("HOPSCOPE_VLLM_CPU", "1")
        rows = {
            name: make_row(name, {"kind": "chat", "backend": "vllm", **values}, "models.toml")
            for name, values in given.items()
        }
        assert [one.settings.missing_reason(one, rows) for one in rows.values()] == ["", "", ""]
        made = {name: one.settings.make(one, rows, None) for name, one in rows.items()}
        began = time.perf_counter()
        made["base"].load()
        print(f"\nready after {time.perf_counter() - began:.0f} s")
        yield made
        made["base"].close()


def asked(chat, text, **more):
    return chat.reply([{"role": "user", "content": text}], **more)


def test_a_chat_streams(chats):
    pieces, question = list[str](), "What is the capital of France? Answer with a whole sentence."
    reply = asked(chats["base"], question, max_tokens=16, on_text=pieces.append)
    assert ("Paris" in reply.text or RANDOM) and "".join(pieces) == reply.text and len(pieces) > 3
    assert reply.tokens_in == chats["base"].count_tokens([{"role": "user", "content": question}])


def test_a_schema_holds(chats):
    reply = asked(chats["base"], "Where is Berlin? Reply in JSON.", schema=SCHEMA, max_tokens=32)
    assert list(json.loads(reply.text)) == ["country"]


def test_log_probabilities_come(chats):
    chat = chats["base"]
    client = OpenAI(base_url=chat.url, api_key=chat._key)
    answer = client.chat.completions.create(
        model="base",
        messages=[{"role": "user", "content": "Is Paris in France? Yes or No."}],
        max_tokens=1,
        logprobs=True,
        top_logprobs=5,
        temperature=0,
    )
    best = answer.choices[0].logprobs.content[0].top_logprobs
    assert len(best) == 5 and all(one.logprob <= 0 for one in best)


@pytest.mark.parametrize("at_once", [8, 64] if CARDS else [8])
def test_many_at_once_are_faster_than_one_after_another(chats, at_once):
    chat, questions = (
        chats["base"],
        [
            f"Write four sentences about the number {number} of {at_once}."
            for number in range(at_once)
        ],
    )

    def speed(work, count):
        began = time.perf_counter()
        tokens = sum(reply.tokens_out for reply in work(questions[:count]))
        return tokens / (time.perf_counter() - began)

    one = speed(lambda some: [asked(chat, question, max_tokens=48) for question in some], 8)
    chat.forget()
    with ThreadPoolExecutor(at_once) as pool:
        many = speed(
            lambda some: list(
                pool.map(lambda question: asked(chat, question, max_tokens=48), some)
            ),
            at_once,
        )
    print(
        f"\n{one:.1f} tokens a second one after another, {many:.1f} with {at_once} at once: {many / one:.1f} times as many"
    )
    assert many > 1.2 * one


def test_cancel_ends_the_work_in_the_server(chats):
    chat, received = chats["base"], threading.Event()

    def check():
        if received.is_set():
            raise RunCancelled

    with pytest.raises(RunCancelled):
        asked(
            chat,
            "Count from 1 to 500.",
            max_tokens=1500,
            on_text=lambda text: received.set(),
            watch=Watch(check),
        )
    until = time.monotonic() + 30
    while running(chat) and time.monotonic() < until:
        time.sleep(0.2)
    assert running(chat) == 0


def running(chat) -> float:
    """Requests that the server works on, by its own count."""
    import urllib.request

    with urllib.request.urlopen(chat.url.removesuffix("/v1") + "/metrics") as answer:
        lines = answer.read().decode().splitlines()
    return sum(
        float(line.rpartition(" ")[2])
        for line in lines
        if line.startswith("vllm:num_requests_running")
    )


def test_adapters_answer_from_the_same_server(chats):
    question = "Name the planets of the solar system."
    base, same, other = (
        asked(chats[name], question, max_tokens=24).text for name in ("base", "same", "other")
    )
    assert base == same != other and chats["base"].url == chats["other"].url


@pytest.mark.parametrize("whose", ["server", "engine"])
def test_kill_9_and_back(chats, whose):
    chat = chats["base"]
    asked(chat, "Hello.", max_tokens=4)
    port = int(chat.url.split(":")[2].split("/")[0])
    [server] = [
        process
        for process in psutil.process_iter()
        if any(one.laddr.port == port for one in listening(process))
    ]
    engines = [child for child in server.children(recursive=True) if "EngineCore" in child.name()]
    killed, received = server if whose == "server" else engines[0], threading.Event()
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(
            asked,
            chat,
            "Count from 1 to 400.",
            max_tokens=1400,
            on_text=lambda text: received.set(),
        )
        assert received.wait(120)
        os.kill(killed.pid, signal.SIGKILL)
        with pytest.raises(
            ModelFailed, match="base: vLLM .*The reply is lost; the next question starts it anew"
        ) as lost:
            slow.result()
    print(f"\n{whose}: {lost.value}")
    _, alive = psutil.wait_procs([server, *engines], timeout=30)
    assert not alive
    assert asked(chat, "What is 2 + 2? Answer with a number.", max_tokens=8).text


def listening(process) -> list:
    try:
        return [one for one in process.net_connections("tcp") if one.status == psutil.CONN_LISTEN]
    except psutil.Error:
        return []
